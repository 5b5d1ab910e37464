//! Calls that raise the gradient level: the level is that of the stack at every step, and has counts of its own.

use std::collections::{BTreeMap, BTreeSet};

use pendula_isa::Fault;
use pendula_isa::counts::{Counts, Direction};
use pendula_isa::operand::Operand;
use pendula_isa::table::Flow;
use pendula_isa::types::Reg;
use pendula_vm::{AdMode, Machine, Outcome, StepOutcome};

use super::calls::{BY_NAME, climb, flips, tower, with_body};
use super::{run, traps_again};
use crate::common::{imm, inst, machine, mem, module, program, r, reg};

/// The gradient level according to the stack: the number of links of a `gcall` or `guncall` on it.
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

/// Runs by single steps; before each one, the level must be that of the stack. Returns the counts by mode.
fn watched(m: &mut Machine) -> (Outcome, Modes) {
    let mut modes = Modes::new();
    loop {
        let level = level_of_the_stack(m);
        assert_eq!(m.ad_mode(), AdMode::new(level, false).unwrap());
        let direction = m.direction();
        let outcome = match m.step() {
            StepOutcome::Executed(at) => {
                let len = m.program().module().code.len();
                modes.entry((direction, level)).or_insert_with(|| vec![0; len])[at as usize] += 1;
                continue;
            }
            StepOutcome::Finished => Outcome::Finished,
            StepOutcome::Trap(trap) => Outcome::Trap(trap),
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

/// Like `procedures_nest_in_every_combination_of_calls`: `gcall` differs from `call` in the level only, which is that of the stack at every
/// step in both directions, and has its own counts.
#[test]
fn gradient_calls_nest_in_every_combination() {
    let mut reached = [0; 3];
    let mut trapped = 0;
    for n in 0..4usize.pow(5) {
        let calls: [&str; 5] = std::array::from_fn(|k| BY_NAME[n / 4usize.pow(k as u32) % 4]);
        let lifts = |k: usize| u8::from(calls[k].starts_with('g'));
        // The higher of the two calls in each procedure.
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
                m.set_ad_mode(ad_mode);
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

                // A trap within leaves position, state and level unchanged; after its cause is fixed, the run continues to its end.
                let mut m = machine(&program, 16);
                m.set_ad_mode(ad_mode);
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

/// The link decides whether the level falls at the return; the run back, which meets the calls in reverse order, agrees.
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
    // The callee of the `gcall` returns to the `call`: the level stays.
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
    // The callee of the `call` returns to the `gcall`: there is no level to fall by, and the run back would raise it.
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
