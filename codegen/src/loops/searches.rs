//! Searches: loops whose turns do nothing unless a condition holds, and change what the condition depends on where it does, as one that looks for the
//! greatest element of an array. Their turns depend on one another, but as long as none finds anything they are all alike: whether any of the next
//! eight does is looked at first, by vectors. The last turn is always made, so that variables of turns are what they would be.

use std::collections::HashSet;

use super::jam::word_of;
use super::mentions::{Events, begun, mention_alone, values_changed_in};
use super::watch::{is_short, turns};
use super::{
    Address, BLOCK, Block, Count, Function, Local, Place, Program, Scope, Slot, Step, Stmt, Test, Value, Word,
};
use crate::ops::{Float, Op};
use pendula_isa::adjoint::VALUE;

/// The least number of turns, where it is known.
const MANY: u64 = 4 * BLOCK.unsigned_abs();

/// How turns of a search are looked at before they are made.
#[derive(Clone, Debug)]
pub struct Search {
    /// What must lie in the memory.
    pub inside: Vec<Address>,
    /// What a turn does that finds nothing. It changes no word that another turn reads. If it notes anything or gives up, or a condition holds, turns are to
    /// be made one by one.
    pub body: Vec<Stmt>,
    /// The conditions, which it defines.
    pub found: Vec<Local>,
    /// The local variables that it reads but for the one that counts, and those that it begins anew and does not define.
    pub locals: [Vec<Local>; 2],
}

/// Finds loops that are searches. What they compute stays the same, whichever way their turns are made.
pub fn find_searches(program: &mut Program) {
    if program.has_vector_tangents {
        return;
    }
    // Where rounding is free, a sum of products may come out otherwise in another place, and a condition on it, too.
    let has_sums = program.checks_finite;
    program.functions.iter_mut().for_each(|f| f.change_body(|f, body| list(f, has_sums, body)));
}

fn list(f: &Function, has_sums: bool, statements: &mut [Stmt]) {
    for s in statements {
        if let Stmt::Count(count) = s {
            count.search = search(f, has_sums, count);
            if let Some(jammed) = &mut count.jammed {
                list(f, has_sums, &mut jammed.body);
            }
        }
        s.lists().into_iter().for_each(|inner| list(f, has_sums, inner));
    }
}

/// A loop as a search, if it is one. `has_sums` tells whether conditions may compute with doubles.
fn search(f: &Function, has_sums: bool, count: &Count) -> Option<Search> {
    let is_plain = matches!(count.step, Step::Const(1 | -1)) && f.local(count.var).scope == Scope::Stmt;
    let is_whole =
        count.blocks.is_none() && count.jammed.is_none() && count.strips.is_none() && count.products.is_none();
    let is_long = turns(count).is_none_or(|n| n >= MANY);
    if !is_plain || !is_whole || !is_long || count.independent || !count.body.iter().all(is_short) {
        return None;
    }
    let mut turn = Turn { f, has_sums, inside: Vec::new(), found: Vec::new(), changed: HashSet::new() };
    let body = turn.that_finds_nothing(&count.body)?;
    let (mut events, mut addresses) = (Events::new(), turn.inside.clone());
    turn.inside.iter().for_each(|at| mention_alone(&Stmt::Inside(*at), &mut events));
    body.iter().for_each(|s| look_at(s, &mut events, &mut addresses));
    let begun = begun(&events);
    let is_written = |local: &Local| events.iter().any(|(l, begins, writes)| l == local && (*begins || *writes));
    // Nothing goes from one of these turns to the next.
    let goes_on = begun.iter().any(|(local, begins)| !begins && is_written(local));
    // Those that have the counter in them are checked before the loop.
    let are_known = addresses.iter().all(|at| !at.locals.iter().flatten().any(is_written));
    let stay = turn.inside.iter().all(|at| !at.locals.contains(&Some(count.var)));
    let depends = begun.keys().any(|local| turn.changed.contains(local) && !is_written(local));
    if goes_on || !are_known || !stay || !depends || turn.changed.contains(&count.var) {
        return None;
    }
    let (writes, reads): (Vec<Local>, Vec<Local>) = begun.into_keys().partition(is_written);
    let mut defined = Vec::new();
    definitions(&body, &mut defined);
    let mut locals = [reads, writes];
    locals[0].retain(|local| *local != count.var);
    locals[1].retain(|local| !defined.contains(local));
    locals.iter_mut().for_each(|all| all.sort());
    Some(Search { inside: turn.inside, body, found: turn.found, locals })
}

/// The local variables that statements define.
fn definitions(statements: &[Stmt], out: &mut Vec<Local>) {
    for s in statements {
        match s {
            Stmt::Flag(local, _) | Stmt::Define(local, _) => out.push(*local),
            s => s.inner().into_iter().for_each(|inner| definitions(inner, out)),
        }
    }
}

/// What a statement of a turn that finds nothing does to local variables, and the addresses that it reads.
fn look_at(s: &Stmt, events: &mut Events, addresses: &mut Vec<Address>) {
    mention_alone(s, events);
    if let Stmt::Agree(_, flag) = s {
        events.push((*flag, false, false));
    }
    let mut read = |place: Place| match place {
        Place::Local(_) => {}
        Place::Memory(at) | Place::Log(at) => addresses.push(at),
    };
    let mut of_block = |block: &Block| {
        for slot in block.slots.iter().flatten() {
            match slot {
                Slot::Place(place, _) => read(*place),
                Slot::Word(word) => read(word.place),
                Slot::Passed(..) => {}
            }
        }
    };
    match s {
        Stmt::Block(block) => of_block(block),
        Stmt::Flag(_, test) | Stmt::Agree(test, _) | Stmt::GiveUp { test, .. } => match test {
            Test::Flag(_) => {}
            Test::Integers(_, a, b) => {
                for value in [a, b] {
                    if let Value::Place(place) = value {
                        read(*place);
                    }
                }
            }
            Test::Block(block, _) => of_block(block),
        },
        Stmt::Define(_, word) => word.iter().for_each(|word| read(word.place)),
        Stmt::InMode(_, inner) => inner.iter().for_each(|s| look_at(s, events, addresses)),
        // `that_finds_nothing` gives no others, and these read no memory.
        _ => {}
    }
}

/// Whether statements leave the loop that they are in.
fn leaves(statements: &[Stmt]) -> bool {
    statements.iter().any(|s| match s {
        Stmt::Leave { .. } => true,
        Stmt::Loop(..) => false,
        s => s.inner().into_iter().any(|inner| leaves(inner)),
    })
}

/// A turn that finds nothing.
struct Turn<'f> {
    f: &'f Function,
    has_sums: bool,
    /// What must lie in the memory.
    inside: Vec<Address>,
    /// The conditions.
    found: Vec<Local>,
    /// The local variables that a turn changes which finds something.
    changed: HashSet<Local>,
}

impl Turn<'_> {
    /// What statements do where no condition holds; `None` if that is more than comparing.
    fn that_finds_nothing(&mut self, statements: &[Stmt]) -> Option<Vec<Stmt>> {
        let mut out = Vec::new();
        for s in statements {
            match s {
                Stmt::Inside(at) if self.inside.contains(at) => {}
                Stmt::Inside(at) => self.inside.push(*at),
                Stmt::If { test, flag, then, otherwise } if otherwise.is_empty() && !leaves(then) => {
                    self.is_cheap_test(test).then_some(())?;
                    self.changed.extend(values_changed_in(then)?);
                    self.found.push(*flag);
                    out.push(Stmt::Flag(*flag, test.clone()));
                }
                Stmt::Block(block) => {
                    self.is_cheap(block).then_some(())?;
                    out.push(s.clone());
                }
                Stmt::Flag(_, test) | Stmt::Agree(test, _) | Stmt::GiveUp { test, .. } => {
                    self.is_cheap_test(test).then_some(())?;
                    out.push(s.clone());
                }
                Stmt::InMode(ad_mode, inner) => out.push(Stmt::InMode(*ad_mode, self.that_finds_nothing(inner)?)),
                Stmt::Define(_, Some(Word { place, lane, .. })) if *lane != VALUE || matches!(place, Place::Log(_)) => {
                    return None;
                }
                Stmt::Clear(_) | Stmt::Define(..) => out.push(s.clone()),
                _ => return None,
            }
        }
        Some(out)
    }

    fn is_cheap_test(&self, test: &Test) -> bool {
        match test {
            Test::Flag(_) | Test::Integers(..) => true,
            Test::Block(block, _) => self.is_cheap(block),
        }
    }

    /// Whether a block computes little, without branches, of values alone, and writes nothing but local variables.
    fn is_cheap(&self, block: &Block) -> bool {
        let is_value = |slot: &Slot| match slot {
            Slot::Place(place, _) => !matches!(place, Place::Log(_)),
            Slot::Word(word) => word.lane == VALUE && !matches!(word.place, Place::Log(_)),
            Slot::Passed(..) => false,
        };
        let is_cheap = |op: &Op| match *op {
            Op::Get(lane, reg) => usize::from(lane) == VALUE || word_of(self.f, block, lane, reg).is_none(),
            Op::Set(lane, reg, _) => match word_of(self.f, block, lane, reg) {
                Some(word) => word.lane == VALUE && matches!(word.place, Place::Local(_)),
                None => true,
            },
            Op::Finite(_) | Op::Ordered(..) => true,
            Op::Sqrt(_) | Op::Float(Float::Div, ..) => false,
            Op::Float(..) => self.has_sums,
            op => op.is_pure(),
        };
        let gives_up = block.wraps.contains(&true) || block.limit.is_some();
        !gives_up && block.slots.iter().flatten().all(is_value) && block.ops.iter().all(is_cheap)
    }
}
