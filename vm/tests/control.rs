//! Control in small modules, in both directions: pairs of jumps with every
//! condition and type, procedures called every way, and what stops them.
//! Whatever traps leaves the state as it was and traps again.

use crate::common;

use std::collections::{BTreeMap, BTreeSet};

use common::{State, between, imm, inst, kind, machine, mem, module, program, r, reg};
use pendula_isa::Fault;
use pendula_isa::counts::{Counts, Direction};
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::mnemonic::families;
use pendula_isa::num::{Env, convert};
use pendula_isa::operand::Operand;
use pendula_isa::sample::{Source, number, word};
use pendula_isa::table::{Flow, Row};
use pendula_isa::types::{Cond, Profile, Reg, Ty};
use pendula_vm::{AdMode, LoadError, Machine, Outcome, Program, Stepped};

/// Whether a condition holds, or why it cannot be told: written down a second time.
fn holds(cond: Cond, ty: Ty, a: u64, b: u64) -> Result<bool, Fault> {
    use std::cmp::Ordering;
    const INVALID: u64 = 0xc000_0000_0000_0000;
    const ZERO: u64 = 0x4000_0000_0000_0000;
    // Where a logarithmic number lies: its sign, and the logarithm counted away from zero.
    let place = |w: u64| match w {
        ZERO => (0, 0),
        w if w >> 63 == 0 => (1, (w << 1).cast_signed()),
        w => (-1, -(w << 1).cast_signed()),
    };
    let order = match ty {
        Ty::Int if matches!(cond, Cond::Ltu | Cond::Geu) => a.cmp(&b),
        Ty::Int | Ty::Q => a.cast_signed().cmp(&b.cast_signed()),
        Ty::L if a == INVALID || b == INVALID => return Err(Fault::BadLog),
        Ty::L => place(a).cmp(&place(b)),
        Ty::F => f64::from_bits(a).partial_cmp(&f64::from_bits(b)).ok_or(Fault::NotFinite)?,
    };
    Ok(match cond {
        Cond::Always => true,
        Cond::Eq => order == Ordering::Equal,
        Cond::Ne => order != Ordering::Equal,
        Cond::Lt | Cond::Ltu => order == Ordering::Less,
        Cond::Le => order != Ordering::Greater,
        Cond::Gt => order == Ordering::Greater,
        Cond::Ge | Cond::Geu => order != Ordering::Less,
    })
}

/// A half jump as a family, with its operands: two registers, or one and a small number.
struct Half {
    family: Kind,
    a: u8,
    b: u8,
    small: Option<i16>,
}

impl Half {
    fn parts(&self) -> (Cond, Ty) {
        match self.family {
            Kind::Row { cond, ty, .. } => (cond, ty),
            Kind::Accumulate { .. } => panic!("no jump"),
        }
    }

    fn build(&self, offset: i64) -> Inst {
        let second = self.small.map_or(reg(self.b), Operand::Small);
        let operands = match self.parts().0 {
            Cond::Always => vec![Operand::Label(offset)],
            _ => vec![reg(self.a), second, Operand::Label(offset)],
        };
        Inst::build(self.family, &operands).unwrap_or_else(|e| panic!("{e}"))
    }

    fn holds(&self, regs: &[u64; Reg::COUNT]) -> Result<bool, Fault> {
        let (cond, ty) = self.parts();
        if cond == Cond::Always {
            return Ok(true);
        }
        let b = match self.small {
            None => regs[self.b as usize],
            Some(k) => small_word(k, ty),
        };
        holds(cond, ty, regs[self.a as usize], b)
    }
}

fn small_word(k: i16, ty: Ty) -> u64 {
    let k = i64::from(k);
    match ty {
        Ty::Int => k.cast_unsigned(),
        Ty::Q => (k << 32).cast_unsigned(),
        Ty::L => convert::int_to_l(Env::default(), k.cast_unsigned()).unwrap(),
        Ty::F => (k as f64).to_bits(),
    }
}

fn halves(landing: bool) -> Vec<Kind> {
    families().filter(|k| matches!(k, Kind::Row { row: Row::Jmp, inverse, .. } if *inverse == landing)).collect()
}

/// What should happen, with the address of the trap and of the other instruction it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// The body was jumped over.
    Jumped,
    /// The body was run.
    Fell,
    Trap {
        fault: Fault,
        at: u32,
        other: Option<u32>,
        fell: bool,
    },
}

/// A pair in which `leave` is met first; `wrong` is the fault of falling into `land`.
fn expect(leave: &Half, land: &Half, at: [u32; 2], wrong: Fault, regs: &[u64; Reg::COUNT]) -> Expected {
    match (leave.holds(regs), land.holds(regs)) {
        (Err(fault), _) => Expected::Trap { fault, at: at[0], other: None, fell: false },
        (Ok(true), Ok(true)) => Expected::Jumped,
        (Ok(true), Ok(false)) => {
            Expected::Trap { fault: Fault::WrongLanding, at: at[0], other: Some(at[1]), fell: false }
        }
        (Ok(true), Err(fault)) => Expected::Trap { fault, at: at[0], other: Some(at[1]), fell: false },
        (Ok(false), Ok(false)) => Expected::Fell,
        (Ok(false), Ok(true)) => Expected::Trap { fault: wrong, at: at[1], other: Some(at[0]), fell: true },
        (Ok(false), Err(fault)) => Expected::Trap { fault, at: at[1], other: None, fell: true },
    }
}

/// Runs to the end by blocks, by steps, or by blocks with limits in between.
fn run(m: &mut Machine, how: u64) -> Outcome {
    for _ in 0..100_000 {
        match how {
            0 => return m.run(None),
            1 => match m.step() {
                Stepped::Ran(_) => {}
                Stepped::Finished => return Outcome::Finished,
                Stepped::Trap(trap) => return Outcome::Trap(trap),
            },
            n => match m.run(Some(n - 1)) {
                Outcome::Limit | Outcome::NoCode(_) => {}
                outcome => return outcome,
            },
        }
    }
    panic!("the run does not end");
}

/// A trap comes again, whichever way the run is continued, and changes nothing.
fn traps_again(m: &mut Machine, outcome: &Outcome) {
    let (digest, executed, counts) = (m.digest(), m.executed(), m.counts());
    for how in [0, 1, 2, 0] {
        assert_eq!(&run(m, how), outcome, "continued, the run went another way");
        assert_eq!((m.digest(), m.executed()), (digest, executed));
        assert_eq!(m.counts(), counts);
    }
}

fn check_pair(jmp: &Half, from: &Half, body: usize, s: &mut Source, seen: &mut [usize; 4]) {
    let landing = body as u32 + 2;
    let mut code = vec![jmp.build(body as i64 + 1)];
    code.extend(std::iter::repeat_n(inst("inc", &[reg(9)]), body));
    code.push(from.build(-(body as i64) - 1));
    let program = program(between(code));
    let mut m = machine(&program, 4);
    for _ in 0..24 {
        let types = [jmp.parts().1, from.parts().1];
        for n in 1..10 {
            let w = match s.below(4) {
                0 => word(s),
                1 => number(types[n % 2], Default::default(), s),
                2 => small_word([jmp.small, from.small][n % 2].unwrap_or(1), types[n % 2]),
                _ => m.registers()[1],
            };
            m.set_register(r(n as u8), w);
        }
        let direction = s.pick(&[Direction::Forward, Direction::Backward]);
        let how = s.below(5);
        let before = State::of(&m);
        let executed = m.executed();
        m.begin(direction);
        let outcome = run(&mut m, how);
        let forward = direction == Direction::Forward;
        let (expected, step) = if forward {
            (expect(jmp, from, [1, landing], Fault::WrongEntry, &before.regs), 1)
        } else {
            (expect(from, jmp, [landing, 1], Fault::WrongEntryBack, &before.regs), u64::MAX)
        };
        let fell = matches!(expected, Expected::Fell | Expected::Trap { fell: true, .. });
        let mut after = before.clone();
        if fell {
            after.regs[9] = after.regs[9].wrapping_add(step.wrapping_mul(body as u64));
        }
        assert_eq!(State::of(&m), after, "{expected:?} {outcome:?}");
        let ran = u64::from(fell) * body as u64;
        match expected {
            Expected::Jumped | Expected::Fell => {
                assert_eq!(outcome, Outcome::Finished, "{before:?}");
                assert_eq!(m.executed() - executed, 4 + ran);
                // And the other way.
                m.begin(direction.flip());
                assert_eq!(run(&mut m, how), Outcome::Finished);
                assert_eq!(State::of(&m), before);
                assert_eq!(m.executed() - executed, 8 + 2 * ran);
                seen[usize::from(fell)] += 1;
            }
            Expected::Trap { fault, at, other, .. } => {
                let Outcome::Trap(trap) = &outcome else { panic!("{outcome:?} instead of {expected:?}") };
                assert_eq!((trap.fault, trap.at, trap.other.map(|o| o.0)), (fault, at, other), "{how}");
                assert_eq!((trap.direction, m.pc()), (direction, Some(at)));
                assert_eq!(m.executed() - executed, if fell { 2 + ran } else { 1 });
                traps_again(&mut m, &outcome);
                seen[2 + usize::from(fell)] += 1;
            }
        }
    }
}

#[test]
fn pairs_of_every_condition_and_type() {
    let (jumps, landings) = (halves(false), halves(true));
    assert_eq!(jumps.len(), 27);
    let mut s = Source::seeded(3);
    for (n, &jmp) in jumps.iter().enumerate() {
        let mut seen = [0; 4];
        for (k, &from) in landings.iter().enumerate() {
            for form in 0..4 {
                let mut small = |on: bool| on.then(|| s.pick(&[0, 1, -1, 7, -16384, 16383]));
                let (x, y) = (small(form & 1 == 1), small(form & 2 == 2));
                let jmp = Half { family: jmp, a: 1, b: 2, small: x };
                let from = Half { family: from, a: 3, b: if (n + k) % 5 == 0 { 1 } else { 4 }, small: y };
                check_pair(&jmp, &from, (n + k) % 4, &mut s, &mut seen);
            }
        }
        assert!(seen[0] > 100 && seen[2] > 100, "{jmp:?}: {seen:?}");
        let always = matches!(jmp, Kind::Row { cond: Cond::Always, .. });
        assert!(always || (seen[1] > 100 && seen[3] > 100), "{jmp:?}: {seen:?}");
    }
}

/// The landing place before the jump: with conditions that do not change, every way through is a trap or a fall.
#[test]
fn loops_of_every_condition_and_type() {
    let mut s = Source::seeded(4);
    for &from in &halves(true) {
        for &jmp in &halves(false) {
            let body = s.below(3) as usize;
            let from = Half { family: from, a: 1, b: 2, small: s.once_in(2).then_some(0) };
            let jmp = Half { family: jmp, a: 3, b: 4, small: s.once_in(2).then_some(1) };
            let bottom = body as u32 + 2;
            let mut code = vec![from.build(body as i64 + 1)];
            code.extend(std::iter::repeat_n(inst("inc", &[reg(9)]), body));
            code.push(jmp.build(-(body as i64) - 1));
            let program = program(between(code));
            let mut m = machine(&program, 4);
            for _ in 0..20 {
                for n in 1..10 {
                    let ty = [from.parts().1, jmp.parts().1][s.below(2) as usize];
                    let w = if s.once_in(3) { word(&mut s) } else { number(ty, Default::default(), &mut s) };
                    m.set_register(r(n), w);
                }
                let before = State::of(&m);
                let forward = s.once_in(2);
                let (first, second, at, wrong, step) = if forward {
                    (&from, &jmp, [1, bottom], Fault::WrongEntry, 1)
                } else {
                    (&jmp, &from, [bottom, 1], Fault::WrongEntryBack, u64::MAX)
                };
                m.begin(if forward { Direction::Forward } else { Direction::Backward });
                let outcome = run(&mut m, s.below(4));
                let mut after = before.clone();
                let fell = first.holds(&before.regs) == Ok(false);
                if fell {
                    after.regs[9] = after.regs[9].wrapping_add(step.wrapping_mul(body as u64));
                }
                assert_eq!(State::of(&m), after);
                let expected = match (first.holds(&before.regs), second.holds(&before.regs)) {
                    (Err(fault), _) => Some((fault, at[0], None)),
                    (Ok(true), _) => Some((wrong, at[0], Some(at[1]))),
                    (Ok(false), Err(fault)) => Some((fault, at[1], None)),
                    (Ok(false), Ok(true)) => Some((Fault::WrongLanding, at[1], Some(at[0]))),
                    (Ok(false), Ok(false)) => None,
                };
                match (&outcome, expected) {
                    (Outcome::Finished, None) => {}
                    (Outcome::Trap(t), Some(e)) => {
                        assert_eq!((t.fault, t.at, t.other.map(|o| o.0)), e);
                        traps_again(&mut m, &outcome);
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
    }
}

/// The example of the design document: Fibonacci numbers.
#[test]
fn a_loop_runs_as_often_as_it_says() {
    let code = [
        inst("add", &[reg(3), imm(18)]),
        inst("inc", &[reg(2)]),
        inst("from.ne", &[reg(4), reg(0), Operand::Label(4)]),
        inst("add", &[reg(1), reg(2)]),
        inst("swap", &[reg(1), reg(2)]),
        inst("inc", &[reg(4)]),
        inst("jmp.ne", &[reg(4), reg(3), Operand::Label(-4)]),
        inst("sub", &[reg(3), imm(18)]),
    ];
    let program = program(between(code));
    for how in 0..8 {
        let mut m = machine(&program, 4);
        let before = m.digest();
        assert_eq!(run(&mut m, how), Outcome::Finished);
        assert_eq!(m.registers()[1..5], [2584, 4181, 0, 18]);
        assert_eq!(m.executed(), 5 + 18 * 5);
        m.begin(Direction::Backward);
        assert_eq!(run(&mut m, how), Outcome::Finished);
        assert_eq!(m.digest(), before);
        assert_eq!(m.executed(), 2 * (5 + 18 * 5));
    }
}

const CALLS: [&str; 4] = ["call", "uncall", "callr", "uncallr"];
/// Those of a procedure by name.
const BY_NAME: [&str; 4] = ["call", "uncall", "gcall", "guncall"];
const EVERY_CALL: [&str; 6] = ["call", "uncall", "callr", "uncallr", "gcall", "guncall"];

/// Whether the procedure runs in the other direction.
fn flips(call: &str) -> bool {
    call.contains("un")
}

/// Three procedures, each calling the one before twice, and a main region that calls the last.
/// In `r20`…`r22` are the addresses of the procedures.
fn tower(calls: [&str; 5]) -> Program {
    let mut code = Vec::new();
    let mut at = [0i64; 3];
    let call = |name: &str, to: i64, callee: usize, now: usize| {
        if name.ends_with('r') {
            inst(name, &[reg(20 + callee as u8)])
        } else {
            inst(name, &[Operand::Label(to - now as i64)])
        }
    };
    for level in 0..3 {
        at[level] = code.len() as i64;
        let len = if level == 0 { 4 } else { 6 };
        code.push(inst("proc", &[Operand::Label(len - 1)]));
        if level == 0 {
            code.push(inst("inc", &[reg(1)]));
            code.push(inst("rol", &[reg(2), imm(1)]));
        } else {
            let (below, first) = (at[level - 1], 2 * level - 2);
            code.push(call(calls[first], below, level - 1, code.len()));
            code.push(inst("add", &[reg(1), imm(10 * level as i64)]));
            code.push(call(calls[first + 1], below, level - 1, code.len()));
            code.push(inst("xor", &[reg(3), reg(1)]));
        }
        code.push(inst("ret", &[Operand::Label(-(len - 1))]));
    }
    code.push(inst("start", &[]));
    code.push(call(calls[4], at[2], 2, code.len()));
    code.push(inst("finish", &[]));
    program(module(code))
}

/// What the tower does, as a program of this language.
fn climb(calls: [&str; 5], level: usize, back: bool, regs: &mut [u64; 4]) {
    let sign = if back { u64::MAX } else { 1 };
    if level == 0 {
        regs[1] = regs[1].wrapping_add(sign);
        regs[2] = if back { regs[2].rotate_right(1) } else { regs[2].rotate_left(1) };
        return;
    }
    let inner = |n: usize| flips(calls[2 * level - 2 + n]) != back;
    if back {
        regs[3] ^= regs[1];
        climb(calls, level - 1, inner(1), regs);
        regs[1] = regs[1].wrapping_sub(10 * level as u64);
        climb(calls, level - 1, inner(0), regs);
    } else {
        climb(calls, level - 1, inner(0), regs);
        regs[1] = regs[1].wrapping_add(10 * level as u64);
        climb(calls, level - 1, inner(1), regs);
        regs[3] ^= regs[1];
    }
}

#[test]
fn procedures_nest_in_every_combination_of_calls() {
    for n in 0..4usize.pow(5) {
        let calls: [&str; 5] = std::array::from_fn(|k| CALLS[n / 4usize.pow(k as u32) % 4]);
        let program = tower(calls);
        let mut m = machine(&program, 16);
        let start = [0, 5 + n as u64, 0x8000_0000_0000_0001, 77];
        for k in 1..4 {
            m.set_register(r(k), start[k as usize]);
        }
        for (k, at) in [(20, 0), (21, 4), (22, 10)] {
            m.set_register(r(k), at);
        }
        let (before, state) = (m.digest(), State::of(&m));
        for direction in [Direction::Forward, Direction::Backward] {
            let back = direction == Direction::Backward;
            let mut expected = start;
            climb(calls, 2, flips(calls[4]) != back, &mut expected);
            m.begin(direction);
            assert_eq!(run(&mut m, n as u64 % 5), Outcome::Finished, "{calls:?}");
            assert_eq!(m.registers()[..4], expected, "{calls:?} {direction:?}");
            assert_eq!(m.direction(), direction);
            // The stack is clear again.
            assert_eq!((&State::of(&m).mem, m.registers()[31]), (&state.mem, 0), "{calls:?}");
            m.begin(direction.flip());
            assert_eq!(run(&mut m, n as u64 % 3), Outcome::Finished, "{calls:?}");
            assert_eq!(m.digest(), before, "{calls:?}");
        }
    }
}

/// r1 += depth², by recursion; the depth is in r2.
fn recursive(inner: &str) -> Program {
    program(module([
        inst("proc", &[Operand::Label(9)]),
        inst("jmp.eq", &[reg(2), reg(0), Operand::Label(6)]),
        inst("dec", &[reg(2)]),
        inst(inner, &[Operand::Label(-3)]),
        inst("inc", &[reg(2)]),
        inst("add", &[reg(1), reg(2)]),
        inst("jmp", &[Operand::Label(2)]),
        inst("from", &[Operand::Label(-6)]),
        inst("from.ne", &[reg(2), reg(0), Operand::Label(-2)]),
        inst("ret", &[Operand::Label(-9)]),
        inst("start", &[]),
        inst("call", &[Operand::Label(-11)]),
        inst("finish", &[]),
    ]))
}

#[test]
fn recursion_both_ways_and_as_deep_as_the_stack() {
    for (inner, alternating) in [("call", false), ("uncall", true)] {
        let program = recursive(inner);
        for depth in 0..40u64 {
            let mut m = machine(&program, 64);
            m.set_register(r(2), depth);
            let before = m.digest();
            let sum: i64 =
                (1..=depth as i64).map(|k| if alternating && (depth as i64 - k) % 2 == 1 { -k } else { k }).sum();
            assert_eq!(m.run(None), Outcome::Finished);
            assert_eq!(m.registers()[1].cast_signed(), sum, "{inner} {depth}");
            m.begin(Direction::Backward);
            assert_eq!(m.run(None), Outcome::Finished);
            assert_eq!(m.digest(), before);
        }
        // One word more than the stack has.
        let mut m = machine(&program, 64);
        m.set_register(r(2), 64);
        let outcome = m.run(None);
        let Outcome::Trap(trap) = &outcome else { panic!("{outcome:?}") };
        assert_eq!((trap.fault, trap.at), (Fault::Memory, 3));
        assert_eq!(m.registers()[31], 64);
        traps_again(&mut m, &outcome);
    }
}

/// A procedure with this body, and a main region that calls it by name with `call` or by the register r5.
fn with_body(body: Vec<Inst>, call: &str) -> Program {
    let len = body.len() as i64;
    let mut code = vec![inst("proc", &[Operand::Label(len + 1)])];
    code.extend(body);
    code.push(inst("ret", &[Operand::Label(-len - 1)]));
    code.push(inst("start", &[]));
    let now = code.len() as i64;
    code.push(if call.ends_with('r') { inst(call, &[reg(5)]) } else { inst(call, &[Operand::Label(-now)]) });
    code.push(inst("finish", &[]));
    // A second procedure that no one calls but by the link.
    code.push(inst("proc", &[Operand::Label(2)]));
    code.push(inst("call", &[Operand::Label(-1)]));
    code.push(inst("ret", &[Operand::Label(-2)]));
    program(module(code))
}

/// Runs in both directions and expects the fault at the procedure's end that the run meets, with the state as the body left it.
fn expect_bad_link(body: Vec<Inst>, call: &str, setup: impl Fn(&mut Machine)) {
    let last = body.len() as u32 + 1;
    let program = with_body(body, call);
    for direction in [Direction::Forward, Direction::Backward] {
        for how in 0..4 {
            let mut m = machine(&program, 16);
            m.set_register(Reg::SP, 8);
            setup(&mut m);
            m.begin(direction);
            let outcome = run(&mut m, how);
            let Outcome::Trap(trap) = &outcome else { panic!("{call}: {outcome:?}") };
            let back = (direction == Direction::Backward) != flips(call);
            assert_eq!((trap.fault, trap.at), (Fault::BadLink, if back { 0 } else { last }), "{call} {direction:?}");
            assert_eq!(m.pc(), Some(trap.at));
            traps_again(&mut m, &outcome);
        }
    }
}

#[test]
fn links_that_do_not_belong() {
    for call in EVERY_CALL {
        // The stack pointer moved, over clear words and over others.
        expect_bad_link(vec![inst("inc", &[reg(31)])], call, |_| {});
        expect_bad_link(vec![inst("dec", &[reg(31)])], call, |_| {});
        expect_bad_link(vec![inst("add", &[reg(31), reg(7)])], call, |m| {
            m.set_register(r(7), 3);
            m.memory_mut().fill(u64::MAX);
            m.memory_mut()[8] = 0;
        });
        // The link changed: into an address without a call, one outside the code, and a call of another procedure.
        for k in [1, -1, 1000, i64::MIN, 5] {
            expect_bad_link(vec![inst("add", &[mem(31, 0, -1), reg(7)])], call, |m| m.set_register(r(7), k as u64));
        }
        // The stack pointer out of the memory is no bad link but a bad address.
        let program = with_body(vec![inst("add", &[reg(31), reg(7)])], call);
        let mut m = machine(&program, 16);
        m.set_register(r(7), 100);
        let outcome = m.run(None);
        assert!(matches!(&outcome, Outcome::Trap(t) if t.fault == Fault::Memory), "{outcome:?}");
        traps_again(&mut m, &outcome);
    }
}

#[test]
fn a_call_by_register_needs_it_again_at_the_return() {
    for call in ["callr", "uncallr"] {
        expect_bad_link(vec![inst("inc", &[reg(5)])], call, |_| {});
        expect_bad_link(vec![inst("add", &[reg(5), imm(6)])], call, |_| {});
        // Changed in between and brought back, it does no harm.
        let program = with_body(vec![inst("inc", &[reg(5)]), inst("inc", &[reg(1)]), inst("dec", &[reg(5)])], call);
        let mut m = machine(&program, 16);
        assert_eq!(m.run(None), Outcome::Finished);
        assert_eq!(m.registers()[1], if call == "callr" { 1 } else { u64::MAX });
    }
}

#[test]
fn a_register_without_a_procedure() {
    for call in ["callr", "uncallr"] {
        let program = with_body(vec![inst("inc", &[reg(1)])], call);
        for direction in [Direction::Forward, Direction::Backward] {
            for target in [1, 2, 3, 4, 5, 7, 8, 9, 1 << 32, u64::MAX, 1 << 63] {
                let mut m = machine(&program, 16);
                m.set_register(r(5), target);
                let before = m.digest();
                m.begin(direction);
                let outcome = m.run(None);
                let Outcome::Trap(trap) = &outcome else { panic!("{target}: {outcome:?}") };
                assert_eq!((trap.fault, trap.at, m.digest()), (Fault::NotProcedure, 4, before), "{target}");
                traps_again(&mut m, &outcome);
            }
        }
    }
}

#[test]
fn a_call_onto_a_word_in_use_or_outside_the_memory() {
    for call in EVERY_CALL {
        let program = with_body(vec![inst("inc", &[reg(1)])], call);
        for direction in [Direction::Forward, Direction::Backward] {
            for (sp, fault) in [(3, Fault::PushOnto), (16, Fault::Memory), (u64::MAX, Fault::Memory)] {
                let mut m = machine(&program, 16);
                m.memory_mut()[3] = 1;
                m.set_register(Reg::SP, sp);
                let before = m.digest();
                m.begin(direction);
                let outcome = m.run(None);
                let Outcome::Trap(trap) = &outcome else { panic!("{outcome:?}") };
                assert_eq!((trap.fault, trap.at, m.digest()), (fault, 4, before), "{call} {sp}");
                traps_again(&mut m, &outcome);
            }
        }
    }
}

/// After a return control may meet a half jump, whose check belongs to it.
#[test]
fn a_return_into_a_landing_place() {
    for call in BY_NAME {
        let program = program(module([
            inst("proc", &[Operand::Label(2)]),
            inst("inc", &[reg(1)]),
            inst("ret", &[Operand::Label(-2)]),
            inst("start", &[]),
            inst("jmp.eq", &[reg(2), imm(7), Operand::Label(2)]),
            inst(call, &[Operand::Label(-5)]),
            inst("from.eq", &[reg(3), imm(7), Operand::Label(-2)]),
            inst("finish", &[]),
        ]));
        for how in 0..4 {
            for (r2, r3, fault) in [(0, 0, None), (7, 7, None), (0, 7, Some((6, 4))), (7, 0, Some((4, 1)))] {
                let mut m = machine(&program, 16);
                m.set_register(r(2), r2);
                m.set_register(r(3), r3);
                let before = m.digest();
                let outcome = run(&mut m, how);
                match fault {
                    None => {
                        assert_eq!(outcome, Outcome::Finished);
                        m.begin(Direction::Backward);
                        assert_eq!(run(&mut m, how), Outcome::Finished);
                        assert_eq!(m.digest(), before);
                    }
                    Some((at, _)) => {
                        let Outcome::Trap(trap) = &outcome else { panic!("{outcome:?}") };
                        let wanted = if r2 == 0 { Fault::WrongEntry } else { Fault::WrongLanding };
                        assert_eq!((trap.fault, trap.at), (wanted, at));
                        assert_eq!(m.registers()[31], 0, "the return itself has run");
                        assert_eq!(m.ad_mode(), AdMode::Plain);
                        traps_again(&mut m, &outcome);
                    }
                }
            }
            // Backward the roles change.
            for (r2, r3, fault, at) in [(7, 0, Fault::WrongEntryBack, 4), (0, 7, Fault::WrongLanding, 6)] {
                let mut m = machine(&program, 16);
                m.set_register(r(2), r2);
                m.set_register(r(3), r3);
                m.begin(Direction::Backward);
                let outcome = run(&mut m, how);
                let Outcome::Trap(trap) = &outcome else { panic!("{outcome:?}") };
                assert_eq!((trap.fault, trap.at), (fault, at));
                traps_again(&mut m, &outcome);
            }
        }
    }
}

/// What the machine would have to trap on later is refused at once.
#[test]
fn code_that_could_fall_into_a_procedure_is_refused() {
    let proc = || [inst("proc", &[Operand::Label(1)]), inst("ret", &[Operand::Label(-1)])];
    let jump = |name, offset| inst(name, &[Operand::Label(offset)]);
    let cases: Vec<(&str, Vec<Inst>)> = vec![
        ("P0054", [vec![inst("start", &[])], proc().to_vec(), vec![inst("finish", &[])]].concat()),
        ("P0052", vec![inst("start", &[]), inst("finish", &[]), jump("proc", -1)]),
        ("P0054", vec![jump("proc", 2), inst("start", &[]), inst("finish", &[])]),
        ("P0055", vec![inst("start", &[]), inst("inc", &[reg(1)])]),
        ("P0056", vec![inst("inc", &[reg(1)]), inst("finish", &[])]),
        ("P0053", vec![jump("ret", -1), inst("start", &[]), inst("finish", &[])]),
        ("P0057", vec![inst("start", &[]), inst("finish", &[]), inst("start", &[]), inst("finish", &[])]),
        ("P0050", vec![inst("start", &[]), jump("jmp", 1), inst("finish", &[])]),
        ("P0050", vec![inst("start", &[]), jump("jmp", 100), inst("finish", &[])]),
        ("P0050", vec![inst("start", &[]), jump("from", -100), inst("finish", &[])]),
        (
            "P0051",
            vec![
                jump("proc", 2),
                jump("from", 3),
                jump("ret", -2),
                inst("start", &[]),
                jump("jmp", -3),
                inst("finish", &[]),
            ],
        ),
        ("P0058", vec![inst("start", &[]), jump("call", 1), inst("finish", &[])]),
        ("P0058", vec![inst("start", &[]), jump("call", 9), inst("finish", &[])]),
        ("P0058", [proc().to_vec(), vec![inst("start", &[]), jump("call", -2), inst("finish", &[])]].concat()),
        ("P0141", proc().to_vec()),
        ("P0141", vec![]),
    ];
    for (code, instructions) in cases {
        let Err(error) = Program::new(module(instructions.clone()), true) else {
            panic!("{instructions:?} was accepted instead of {code}")
        };
        assert_eq!(error.code(), code, "{error}: {instructions:?}");
    }
    let mut bad = between([]);
    bad.code.insert(1, Inst { kind: kind("add"), regs: [Reg::ZERO; 4], imm: 0, small: 0 });
    assert!(matches!(Program::new(bad, true), Err(LoadError::Operand { at: 1, .. })));
}

/// Without checks, what they would stop goes on; what always stops does so still.
#[test]
fn checks_can_be_switched_off() {
    let code = || {
        between([
            inst("assert.eq", &[reg(1), reg(2)]),
            inst("zero", &[reg(1)]),
            inst("jmp.eq", &[reg(1), reg(2), Operand::Label(2)]),
            inst("inc", &[reg(9)]),
            inst("from.ne", &[reg(1), reg(2), Operand::Label(-2)]),
        ])
    };
    for (checks, finished) in [(true, false), (false, true)] {
        let program = Program::new(code(), checks).unwrap();
        let mut m = machine(&program, 8);
        m.set_register(r(1), 1);
        assert_eq!(m.run(None) == Outcome::Finished, finished);
        assert_eq!(m.registers()[9], u64::from(!checks));
    }
    let program = Program::new(between([inst("addquot", &[reg(1), reg(2), reg(3)])]), false).unwrap();
    assert!(matches!(machine(&program, 8).run(None), Outcome::Trap(t) if t.fault == Fault::DivideByZero));
}

/// The gradient level as the stack tells it: how many links on it are of a `gcall` or `guncall`.
fn level_of_the_stack(m: &Machine) -> u8 {
    let code = &m.program().module().code;
    let sp = m.registers()[Reg::SP.index()] as usize;
    let links = m.memory()[..sp].iter().filter_map(|link| code.get(link.wrapping_sub(1) as usize));
    links.filter(|inst| inst.kind.flow() == Flow::GradientCall).count() as u8
}

/// How often each instruction ran in each mode.
type Modes = BTreeMap<(Direction, u8), Vec<u64>>;

fn modes_of(counts: &Counts, len: usize) -> Modes {
    counts.modes.iter().map(|m| ((m.mode.direction, m.mode.level), counts.per_instruction(m, len))).collect()
}

/// By single steps; before each one, the level must be that of the stack. What was counted is told by mode.
fn watched(m: &mut Machine) -> (Outcome, Modes) {
    let mut modes = Modes::new();
    loop {
        let level = level_of_the_stack(m);
        assert_eq!(m.ad_mode(), AdMode::new(level, false).unwrap());
        let direction = m.direction();
        let outcome = match m.step() {
            Stepped::Ran(at) => {
                let len = m.program().module().code.len();
                modes.entry((direction, level)).or_insert_with(|| vec![0; len])[at as usize] += 1;
                continue;
            }
            Stepped::Finished => Outcome::Finished,
            Stepped::Trap(trap) => Outcome::Trap(trap),
        };
        return (outcome, modes);
    }
}

fn sum(a: &Modes, b: &Modes) -> Modes {
    let mut out = a.clone();
    for (mode, counts) in b {
        let all = out.entry(*mode).or_insert_with(|| vec![0; counts.len()]);
        all.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
    }
    out
}

/// As `procedures_nest_in_every_combination_of_calls`: `gcall` is a `call` but for the level, which is that of the stack at
/// every step and in both directions, and has counts of its own.
#[test]
fn gradient_calls_nest_in_every_combination() {
    let mut reached = [0; 3];
    let mut trapped = 0;
    for n in 0..4usize.pow(5) {
        let calls: [&str; 5] = std::array::from_fn(|k| BY_NAME[n / 4usize.pow(k as u32) % 4]);
        let lifts = |k: usize| u8::from(calls[k].starts_with('g'));
        // Of the two calls in each procedure the one that lifts higher.
        let height = lifts(4) + lifts(2).max(lifts(3)) + lifts(0).max(lifts(1));
        let program = tower(calls);
        let len = program.module().code.len();
        let start = [0, 5 + n as u64, 0x8000_0000_0000_0001, 77];
        for direction in [Direction::Forward, Direction::Backward] {
            let [mut m, mut steps] = [0, 1].map(|_| {
                let mut m = machine(&program, 16);
                (1..4).for_each(|k| m.set_register(r(k), start[k as usize]));
                m.begin(direction);
                m
            });
            let before = m.digest();
            let outcome = run(&mut m, n as u64 % 5);
            let (watched_outcome, there) = watched(&mut steps);
            assert_eq!(outcome, watched_outcome, "{calls:?}");
            assert_eq!((m.digest(), m.executed(), m.pc()), (steps.digest(), steps.executed(), steps.pc()));
            assert_eq!((modes_of(&m.counts(), len), modes_of(&steps.counts(), len)), (there.clone(), there.clone()));
            if height == 3 {
                let Outcome::Trap(trap) = &outcome else { panic!("{calls:?}: {outcome:?}") };
                assert_eq!((trap.fault, trap.ad_mode), (Fault::GradientLevel, AdMode::SecondGradient), "{calls:?}");
                assert_eq!(trap.inst.kind.flow(), Flow::GradientCall);
                traps_again(&mut m, &outcome);
                trapped += 1;
                continue;
            }
            assert_eq!(outcome, Outcome::Finished, "{calls:?}");
            let mut expected = start;
            climb(calls, 2, flips(calls[4]) != (direction == Direction::Backward), &mut expected);
            assert_eq!(m.registers()[..4], expected, "{calls:?} {direction:?}");
            assert_eq!((m.direction(), m.ad_mode(), m.registers()[31]), (direction, AdMode::Plain, 0), "{calls:?}");
            assert_eq!(there.keys().map(|(_, level)| *level).max(), Some(height));
            reached[height as usize] += 1;
            // And the other way.
            m.begin(direction.flip());
            steps.begin(direction.flip());
            assert_eq!(run(&mut m, n as u64 % 3), Outcome::Finished, "{calls:?}");
            let (outcome, back) = watched(&mut steps);
            assert_eq!((outcome, m.digest(), steps.digest()), (Outcome::Finished, before, before), "{calls:?}");
            assert_eq!(modes_of(&m.counts(), len), sum(&there, &back), "{calls:?}");
            assert_eq!(m.ad_mode(), AdMode::Plain);
        }
    }
    assert!(reached.iter().all(|n| *n >= 64) && trapped > 100, "{reached:?} {trapped}");
}

/// A run may begin at any level, and with tangents, which have no level 2.
#[test]
fn a_gradient_call_from_every_carriage() {
    let body = || vec![inst("inc", &[reg(1)]), inst("assert.ne", &[reg(2), imm(7)]), inst("inc", &[reg(3)])];
    for call in ["gcall", "guncall"] {
        let program = with_body(body(), call);
        let (step, at) = if call == "gcall" { (1, 6) } else { (u64::MAX, 6u32) };
        for ad_mode in AdMode::ALL {
            for (direction, how) in
                [Direction::Forward, Direction::Backward].into_iter().flat_map(|d| (0..4).map(move |h| (d, h)))
            {
                let mut m = machine(&program, 16);
                m.carry(ad_mode);
                m.begin(direction);
                let before = m.digest();
                let outcome = run(&mut m, how);
                assert_eq!(m.ad_mode(), ad_mode, "{call} {ad_mode:?}");
                let Some(higher) = AdMode::new(ad_mode.level() + 1, ad_mode.has_tangents()) else {
                    let Outcome::Trap(trap) = &outcome else { panic!("{outcome:?}") };
                    assert_eq!((trap.fault, trap.at, trap.ad_mode), (Fault::GradientLevel, at, ad_mode));
                    assert_eq!((m.digest(), m.pc()), (before, Some(at)));
                    traps_again(&mut m, &outcome);
                    continue;
                };
                assert_eq!(outcome, Outcome::Finished, "{call} {ad_mode:?}");
                let step = if direction == Direction::Backward { step.wrapping_neg() } else { step };
                assert_eq!((m.registers()[1], m.registers()[3], m.registers()[31]), (step, step, 0));
                let modes = |m: &Machine| -> Vec<(u8, bool)> {
                    m.counts().modes.iter().map(|c| (c.mode.level, c.mode.tangents)).collect()
                };
                let both = [ad_mode, higher].map(|c| (c.level(), c.has_tangents()));
                assert_eq!(BTreeSet::from_iter(modes(&m)), BTreeSet::from(both));

                // A trap within leaves place, state and level as they were; what it wanted mended, the run goes on to its end.
                let mut m = machine(&program, 16);
                m.carry(ad_mode);
                m.set_register(r(2), 7);
                m.begin(direction);
                let outcome = run(&mut m, how);
                let Outcome::Trap(trap) = &outcome else { panic!("{outcome:?}") };
                assert_eq!((trap.fault, trap.at, trap.ad_mode), (Fault::Assert, 2, higher), "{call}");
                assert_eq!((m.pc(), m.ad_mode(), m.direction()), (Some(2), higher, trap.direction));
                let back = (direction == Direction::Backward) != flips(call);
                assert_eq!(m.direction(), if back { Direction::Backward } else { Direction::Forward });
                let half = if back { [0, u64::MAX] } else { [1, 0] };
                assert_eq!([m.registers()[1], m.registers()[3]], half);
                assert_eq!((m.memory()[0], m.registers()[31]), (u64::from(at) + 1, 1), "the link");
                traps_again(&mut m, &outcome);
                m.set_register(r(2), 0);
                assert_eq!(run(&mut m, how), Outcome::Finished);
                assert_eq!((m.registers()[1], m.registers()[3], m.registers()[31]), (step, step, 0));
                assert_eq!((m.ad_mode(), m.direction()), (ad_mode, direction));
            }
        }
    }
}

/// The link decides whether the level falls at the return, and the way back, which meets the calls in the other order, agrees.
#[test]
fn a_link_exchanged_for_that_of_another_kind_of_call() {
    // 0 proc, 1 add [sp-1], r7, 2 ret; 3 start, 4 and 5 the calls, 6 finish.
    let program = |calls: [&str; 2]| {
        program(module([
            inst("proc", &[Operand::Label(2)]),
            inst("add", &[mem(31, 0, -1), reg(7)]),
            inst("ret", &[Operand::Label(-2)]),
            inst("start", &[]),
            inst(calls[0], &[Operand::Label(-4)]),
            inst(calls[1], &[Operand::Label(-5)]),
            inst("finish", &[]),
        ]))
    };
    // From the `gcall` back to behind the `call`: the level stays.
    let lifted = program(["gcall", "call"]);
    for how in 0..4 {
        let mut m = machine(&lifted, 16);
        m.set_register(r(7), 1);
        let before = m.digest();
        assert_eq!(run(&mut m, how), Outcome::Finished);
        assert_eq!((m.ad_mode(), m.executed()), (AdMode::Gradient, 6));
        m.begin(Direction::Backward);
        assert_eq!(run(&mut m, how), Outcome::Finished);
        assert_eq!((m.ad_mode(), m.digest()), (AdMode::Plain, before));
    }
    // From the `call` back to behind the `gcall`, there is no level to fall by: on the way back, it would rise.
    let fallen = program(["call", "gcall"]);
    for how in 0..4 {
        let mut m = machine(&fallen, 16);
        m.set_register(r(7), 1);
        let outcome = run(&mut m, how);
        let Outcome::Trap(trap) = &outcome else { panic!("{outcome:?}") };
        assert_eq!((trap.fault, trap.at, m.ad_mode()), (Fault::BadLink, 2, AdMode::Plain));
        assert_eq!((m.memory()[0], m.registers()[31]), (6, 1));
        traps_again(&mut m, &outcome);
    }
}

#[test]
fn no_control_row_is_left_out() {
    let here = [Row::Start, Row::Jmp, Row::Proc, Row::Call, Row::Callr, Row::Gcall];
    for family in families().filter(|k| k.flow() != Flow::Straight && k.belongs_to(Profile::Native)) {
        let Kind::Row { row, .. } = family else { panic!("{family:?}") };
        assert!(here.contains(&row), "{} is not tested here", family.mnemonic());
    }
}
