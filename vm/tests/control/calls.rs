//! Procedures called in every way, links, and traps of calls and returns.

use pendula_isa::Fault;
use pendula_isa::counts::Direction;
use pendula_isa::inst::Inst;
use pendula_isa::operand::Operand;
use pendula_isa::types::Reg;
use pendula_vm::{AdMode, Machine, Outcome, Program};

use super::{run, traps_again};
use crate::common::{State, imm, inst, machine, mem, module, program, r, reg};

const CALLS: [&str; 4] = ["call", "uncall", "callr", "uncallr"];
/// Those of a procedure by name.
pub(super) const BY_NAME: [&str; 4] = ["call", "uncall", "gcall", "guncall"];
const EVERY_CALL: [&str; 6] = ["call", "uncall", "callr", "uncallr", "gcall", "guncall"];

/// Whether the procedure runs in the other direction.
pub(super) fn flips(call: &str) -> bool {
    call.contains("un")
}

/// Three procedures, each calling the one before twice, and a main region that calls the last.
/// `r20`…`r22` hold the addresses of the procedures.
pub(super) fn tower(calls: [&str; 5]) -> Program {
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

/// The effect of the tower, computed in Rust.
pub(super) fn climb(calls: [&str; 5], level: usize, back: bool, regs: &mut [u64; 4]) {
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
pub(super) fn with_body(body: Vec<Inst>, call: &str) -> Program {
    let len = body.len() as i64;
    let mut code = vec![inst("proc", &[Operand::Label(len + 1)])];
    code.extend(body);
    code.push(inst("ret", &[Operand::Label(-len - 1)]));
    code.push(inst("start", &[]));
    let now = code.len() as i64;
    code.push(if call.ends_with('r') { inst(call, &[reg(5)]) } else { inst(call, &[Operand::Label(-now)]) });
    code.push(inst("finish", &[]));
    // A second procedure, only reachable by its link.
    code.push(inst("proc", &[Operand::Label(2)]));
    code.push(inst("call", &[Operand::Label(-1)]));
    code.push(inst("ret", &[Operand::Label(-2)]));
    program(module(code))
}

/// Runs in both directions and expects the fault at the end of the procedure, with the state as the body left it.
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
        // A stack pointer outside the memory is a bad address, not a bad link.
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
        // A temporary change does no harm.
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

/// After a return, control may fall into a half jump, whose check then applies.
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
