//! Control in small modules, in both directions: pairs of jumps with every condition and type, procedures called in every way, and traps.
//! A trap leaves the state unchanged and occurs again when the run continues.

mod calls;
mod gradient_calls;
mod pairs;

use pendula_isa::Fault;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::mnemonic::families;
use pendula_isa::operand::Operand;
use pendula_isa::table::{Flow, Row};
use pendula_isa::types::Profile;
use pendula_vm::{LoadError, Machine, Outcome, Program, StepOutcome};

use crate::common::{between, inst, kind, machine, module, r, reg};

/// Runs to the end by blocks, by steps, or by blocks with limits in between.
fn run(m: &mut Machine, how: u64) -> Outcome {
    for _ in 0..100_000 {
        match how {
            0 => return m.run(None),
            1 => match m.step() {
                StepOutcome::Executed(_) => {}
                StepOutcome::Finished => return Outcome::Finished,
                StepOutcome::Trap(trap) => return Outcome::Trap(trap),
            },
            n => match m.run(Some(n - 1)) {
                Outcome::Limit => {}
                outcome => return outcome,
            },
        }
    }
    panic!("the run does not end");
}

/// Checks that a trap occurs again, however the run is continued, and changes nothing.
fn traps_again(m: &mut Machine, outcome: &Outcome) {
    let (digest, executed, counts) = (m.digest(), m.executed(), m.counts());
    for how in [0, 1, 2, 0] {
        assert_eq!(&run(m, how), outcome, "continued, the run went another way");
        assert_eq!((m.digest(), m.executed()), (digest, executed));
        assert_eq!(m.counts(), counts);
    }
}

/// Code that would have to trap later is rejected at once.
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
    bad.code.insert(1, Inst { kind: kind("add"), regs: Inst::registers(&[]), imm: 0, small: 0 });
    assert!(matches!(Program::new(bad, true), Err(LoadError::Operand { at: 1, .. })));
}

/// Without checks, violations of checks do not stop the run; other faults still do.
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

#[test]
fn no_control_row_is_left_out() {
    let here = [Row::Start, Row::Jmp, Row::Proc, Row::Call, Row::Callr, Row::Gcall];
    for family in families().filter(|k| k.flow() != Flow::Straight && k.belongs_to(Profile::Native)) {
        let Kind::Row { row, .. } = family else { panic!("{family:?}") };
        assert!(here.contains(&row), "{} is not tested here", family.mnemonic());
    }
}
