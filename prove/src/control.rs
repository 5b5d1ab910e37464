//! Control: what a step does to the place where a machine is and to the way in which it runs. It is written over [`Arith`], so that a test runs it beside the
//! machine, and a solver sees it as terms.
//!
//! A place is a boundary between instructions: a step forward from boundary `p` does instruction `p`, and a step backward undoes instruction `p` − 1. To
//! turn around is to run on from the same boundary the other way. The claim is that whoever takes a step, turns around, takes a step and turns around is
//! where they were, and that none of these steps traps unless the first one does.

use std::time::Instant;

use easy_smt::SExpr;
use pendula_isa::arith::Arith;
use pendula_isa::fault::Fault;

use crate::solver::SolverError;
use crate::state::Named;
use crate::terms::Terms;
use crate::{Claim, Failure, Finding, Prover};

pub use crate::state::Memory;

/// The memory that links are pushed to.
pub trait Links<A: Arith> {
    /// The word at an address.
    fn load(&self, k: &mut A, at: A::V) -> A::V;
    /// Writes a word.
    fn store(&mut self, k: &mut A, at: A::V, word: A::V);
}

impl Links<Terms> for Memory {
    fn load(&self, t: &mut Terms, at: SExpr) -> SExpr {
        Memory::load(self, t, at)
    }
    fn store(&mut self, _: &mut Terms, at: SExpr, word: SExpr) {
        Memory::store(self, at, word);
    }
}

/// A machine, as far as control sees it.
#[derive(Clone, Debug)]
pub struct State<V, M> {
    /// The boundary at which it is.
    pub place: V,
    /// 1 if it runs forward, else 0.
    pub forward: V,
    /// The stack pointer.
    pub sp: V,
    /// The gradient level.
    pub level: V,
    /// The memory.
    pub memory: M,
}

/// Instructions that direct control together.
#[derive(Clone, Copy, Debug)]
pub enum Pair<V> {
    /// `jmp` and the `from` that it names.
    Jump {
        /// Where they are.
        at: [V; 2],
        /// For each, 1 if its condition holds.
        holds: [V; 2],
        /// For each, 1 if the words that it compares can be compared.
        comparable: [V; 2],
    },
    /// A procedure, and two calls of it.
    Procedure {
        /// Where its `proc` and its `ret` are.
        bounds: [V; 2],
        /// The calls.
        calls: [Call<V>; 2],
    },
}

/// A call.
#[derive(Clone, Copy, Debug)]
pub struct Call<V> {
    /// Where it is.
    pub at: V,
    /// 1 if it is an `uncall`, in the other direction.
    pub flip: V,
    /// 1 if the procedure runs one gradient level higher.
    pub lift: V,
    /// 1 if the procedure's address is in a register.
    pub by_register: V,
    /// What that register holds.
    pub register: V,
}

/// The highest gradient level.
pub const LEVELS: u64 = 2;

/// Traps if a condition holds without another.
fn demand<A: Arith>(k: &mut A, when: A::V, holds: A::V, fault: Fault) -> Result<(), A::Stop> {
    let idle = negated(k, when);
    let fine = k.or(idle, holds);
    k.require(fine, fault)
}

/// 1 for 0, and 0 for 1.
fn negated<A: Arith>(k: &mut A, a: A::V) -> A::V {
    let zero = k.word(0);
    k.eq(a, zero)
}

/// The boundary after a step over the instruction at an address.
fn passed<A: Arith>(k: &mut A, at: A::V, forward: A::V) -> A::V {
    let one = k.word(1);
    let after = k.add(at, one);
    k.select(forward, after, at)
}

/// One step. What is at no address of the pair is passed.
///
/// # Errors
/// It traps.
pub fn step<A: Arith, M: Links<A> + Clone>(
    k: &mut A,
    s: &State<A::V, M>,
    pair: &Pair<A::V>,
) -> Result<State<A::V, M>, A::Stop> {
    let one = k.word(1);
    let before = k.sub(s.place, one);
    let at = k.select(s.forward, s.place, before);
    match *pair {
        Pair::Jump { at: [jump, from], holds: [jumps, lands], comparable } => {
            let (on_jump, on_from) = (k.eq(at, jump), k.eq(at, from));
            // Forward the `jmp` jumps, backward the `from`; the other half confirms it, or is passed.
            let mut either = |a: A::V, b: A::V| k.select(s.forward, a, b);
            let (leaves, enters) = (either(on_jump, on_from), either(on_from, on_jump));
            let (takes, confirms) = (either(jumps, lands), either(lands, jumps));
            let [own, other] = [either(comparable[0], comparable[1]), either(comparable[1], comparable[0])];
            let target = either(from, jump);
            demand(k, leaves, own, Fault::BadLog)?;
            demand(k, enters, other, Fault::BadLog)?;
            let taken = k.and(leaves, takes);
            demand(k, taken, other, Fault::BadLog)?;
            demand(k, taken, confirms, Fault::WrongLanding)?;
            let falls = negated(k, confirms);
            demand(k, enters, falls, Fault::WrongEntry)?;
            let at = k.select(taken, target, at);
            let place = passed(k, at, s.forward);
            Ok(State { place, ..s.clone() })
        }
        Pair::Procedure { bounds: [first, last], calls } => {
            let (on_first, on_last) = (k.eq(at, first), k.eq(at, last));
            // Where the procedure ends in this direction, and where nothing may fall in.
            let ends = k.select(s.forward, on_last, on_first);
            let falls_in = k.select(s.forward, on_first, on_last);
            let never = k.word(0);
            demand(k, falls_in, never, Fault::WrongEntry)?;
            let mut out = State { place: passed(k, at, s.forward), ..s.clone() };
            let down = k.sub(s.sp, one);
            let (above, below) = (s.memory.load(k, s.sp), s.memory.load(k, down));
            let (mut onto, mut under, mut known) = (above, below, never);
            for Call { at: call, flip, lift, by_register, register } in calls {
                let turned = k.xor(s.forward, flip);
                // A register names the procedure whose address it holds.
                let (holds, by_name) = (k.eq(register, first), negated(k, by_register));
                let names = k.or(holds, by_name);
                let here = k.eq(at, call);
                demand(k, here, names, Fault::NotProcedure)?;
                let free = negated(k, above);
                demand(k, here, free, Fault::PushOnto)?;
                let lifted = k.and(here, lift);
                let top = k.word(LEVELS);
                let room = k.ltu(s.level, top);
                demand(k, lifted, room, Fault::GradientLevel)?;
                let link = k.add(call, one);
                let inside = k.select(turned, first, last);
                let inside = passed(k, inside, turned);
                let (up, higher) = (k.add(s.sp, one), k.add(s.level, lift));
                // The link names the call that the procedure returns to.
                let named = k.eq(below, link);
                let named = k.and(named, names);
                let (lower, level) = (k.sub(s.level, lift), negated(k, s.level));
                let too_low = k.and(lift, level);
                let deep = negated(k, too_low);
                let named = k.and(named, deep);
                known = k.or(known, named);
                let returns = k.and(ends, named);
                let back = passed(k, call, turned);
                let mut choose = |now: A::V, called: A::V, returned: A::V| {
                    let now = k.select(here, called, now);
                    k.select(returns, returned, now)
                };
                out.place = choose(out.place, inside, back);
                out.forward = choose(out.forward, turned, turned);
                out.sp = choose(out.sp, up, down);
                out.level = choose(out.level, higher, lower);
                onto = choose(onto, link, onto);
                under = choose(under, under, never);
            }
            demand(k, ends, known, Fault::BadLink)?;
            out.memory.store(k, s.sp, onto);
            out.memory.store(k, down, under);
            Ok(out)
        }
    }
}

/// A step on terms.
pub type Step = fn(&mut Terms, &State<SExpr, Memory>, &Pair<SExpr>) -> Result<State<SExpr, Memory>, Fault>;

impl Prover {
    /// Proves that steps over instructions that direct control can be taken back: those of jumps, and those of calls and procedures.
    ///
    /// # Errors
    /// The solver does not work.
    pub fn control(&mut self, procedures: bool) -> Result<Finding, SolverError> {
        self.control_by(procedures, step)
    }

    /// The same for another way to take steps.
    ///
    /// # Errors
    /// The solver does not work.
    pub fn control_by(&mut self, procedures: bool, step: Step) -> Result<Finding, SolverError> {
        let begun = Instant::now();
        let name = if procedures { "call/proc/ret" } else { "jmp/from" };
        let width = self.settings().width;
        let t = self.begin(&format!("{name}-control-{width}"))?;
        let (pair, known, mut named) = unknown_pair(t, procedures);
        let forward = t.unknown("forward");
        let level = t.unknown("level");
        let start = State {
            place: t.unknown("place"),
            forward,
            sp: t.unknown("sp"),
            level,
            memory: Memory::unknown("memory", width),
        };
        let (one, top) = (t.number(width, 1), t.number(width, LEVELS));
        let c = t.build();
        let known = c.and_many([known, c.bvule(forward, one), c.bvule(level, top)]);
        named.extend(
            [("place", start.place), ("forward", forward), ("sp", start.sp), ("level", level)]
                .map(|(n, w)| (n.to_string(), w)),
        );
        let turned = |t: &mut Terms, mut s: State<SExpr, Memory>| {
            s.forward = t.xor(s.forward, one);
            s
        };
        // A step on terms notes where it traps, and goes on.
        let run = |t: &mut Terms, s: &State<SExpr, Memory>| {
            t.restart();
            let after = step(t, s, &pair).unwrap_or_else(|_| {
                // What there is no model of is not claimed of any state, and so refuted.
                let never = t.build().false_();
                t.demand(never);
                s.clone()
            });
            (after, t.ok())
        };
        let (first, ok) = run(t, &start);
        let first = turned(t, first);
        let (second, again) = run(t, &first);
        let second = turned(t, second);
        let same = second.memory.is(t, &start.memory);
        let c = t.build();
        let words = [
            (second.place, start.place),
            (second.forward, start.forward),
            (second.sp, start.sp),
            (second.level, start.level),
        ];
        let same = words.into_iter().fold(same, |all, (a, b)| c.and(all, c.eq(a, b)));
        let runs = c.and(known, ok);
        let failure = |condition, what| Failure { inst: None, condition, of: runs, before: named.clone(), what };
        let failures = vec![
            failure(c.and(runs, c.not(again)), "the step cannot be taken back"),
            failure(c.and_many([runs, again, c.not(same)]), "the step taken back leads elsewhere"),
        ];
        let found = self.decide(vec![failures])?;
        Ok(self.finding(name, Claim::Control, (1, begun), found))
    }
}

/// A pair of which nothing is known but what code that is verified has, and the names of its words.
fn unknown_pair(t: &mut Terms, procedures: bool) -> (Pair<SExpr>, SExpr, Named) {
    let mut named = Named::new();
    let mut word = |t: &mut Terms, name: &str| {
        let word = t.unknown(name);
        named.push((name.to_string(), word));
        word
    };
    let (mut bits, mut places) = (Vec::new(), Vec::new());
    let pair = if procedures {
        let bounds = [word(t, "proc"), word(t, "ret")];
        places.extend(bounds);
        let calls = [1, 2].map(|n| {
            let mut part = |name: &str| word(t, &format!("{name}_{n}"));
            let call = Call {
                at: part("call"),
                flip: part("flip"),
                lift: part("lift"),
                by_register: part("by_register"),
                register: part("register"),
            };
            places.push(call.at);
            bits.extend([call.flip, call.lift, call.by_register]);
            call
        });
        Pair::Procedure { bounds, calls }
    } else {
        let at = [word(t, "jmp"), word(t, "from")];
        let holds = [word(t, "jmp_holds"), word(t, "from_holds")];
        let comparable = [word(t, "jmp_comparable"), word(t, "from_comparable")];
        places.extend(at);
        bits.extend(holds.into_iter().chain(comparable));
        Pair::Jump { at, holds, comparable }
    };
    let one = t.number(t.bits(), 1);
    let c = t.build();
    let mut known = c.true_();
    for bit in bits {
        known = c.and(known, c.bvule(bit, one));
    }
    for (n, place) in places.iter().enumerate() {
        for other in &places[..n] {
            known = c.and(known, c.not(c.eq(*place, *other)));
        }
    }
    (pair, known, named)
}
