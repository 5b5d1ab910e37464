//! The tiers of compiled code: baseline code if the host has it, and code by Cranelift once that has run long enough.

use pendula_isa::adjoint::AdMode;
use pendula_isa::inst::Inst;
use pendula_isa::mnemonic::lookup;
use pendula_isa::module::Module;
use pendula_isa::operand::Operand;
use pendula_isa::types::Reg;

use pendula_vm::{Config, Engine, Machine, Outcome, Program};

/// Whether the host has a baseline compiler.
const HAS_BASELINE: bool = cfg!(all(target_arch = "x86_64", unix));

fn reg(n: u8) -> Operand {
    Operand::Reg(Reg::new(n).expect("a register's number"))
}

fn inst(mnemonic: &str, operands: &[Operand]) -> Inst {
    let kind = lookup(mnemonic).unwrap_or_else(|| panic!("no instruction `{mnemonic}`"));
    Inst::build(kind, operands).unwrap_or_else(|e| panic!("{mnemonic}: {e}"))
}

fn module(code: Vec<Inst>) -> Module {
    Module { code, ..Module::default() }
}

/// Counts `r1` from 0 up to `r2`.
fn counting() -> Program {
    let module = module(vec![
        inst("start", &[]),
        inst("from.ne", &[reg(1), reg(0), Operand::Label(2)]),
        inst("inc", &[reg(1)]),
        inst("jmp.ne", &[reg(1), reg(2), Operand::Label(-2)]),
        inst("finish", &[]),
    ]);
    Program::new(module, true).expect("a sound program")
}

/// The number of units with baseline code, and with optimized code.
fn made(program: &Program) -> (usize, usize) {
    let units = program.compiled_units();
    (units.drafts, units.finished)
}

fn run<'p>(program: &'p Program, tier_up: u64, turns: u64) -> Machine<'p> {
    let config = Config { engine: Engine::Jit, warm_up: 0, tier_up, mem: Some(64), ..Config::default() };
    let mut m = Machine::new(program, &config).expect("a small memory");
    go(&mut m, turns);
    m
}

fn go(m: &mut Machine<'_>, turns: u64) {
    m.set_register(Reg::new(1).expect("a register"), 0);
    m.set_register(Reg::new(2).expect("a register"), turns);
    m.begin(pendula_isa::counts::Direction::Forward);
    assert_eq!(m.run(None), Outcome::Finished);
    assert_eq!(m.registers()[1], turns);
}

#[test]
fn what_runs_seldom_stays_baseline() {
    let program = counting();
    let mut m = run(&program, 100, 50);
    assert_eq!(made(&program), if HAS_BASELINE { (1, 0) } else { (0, 1) });
    // Its hundred iterations are used up, so it is optimized.
    go(&mut m, 60);
    assert_eq!(made(&program), (0, 1));
    // A machine for which baseline code would do finds the optimized code.
    run(&program, 100, 50);
    assert_eq!(made(&program), (0, 1));
}

#[test]
fn without_tiers_there_is_no_baseline_code() {
    let program = counting();
    run(&program, 0, 50);
    assert_eq!(made(&program), (0, 1));
}

#[test]
fn baseline_code_may_be_kept_for_ever() {
    let program = counting();
    run(&program, u64::MAX, 100_000);
    assert_eq!(made(&program), if HAS_BASELINE { (1, 0) } else { (0, 1) });
}

/// A loop that is longer than a unit is entered from outside in each iteration, which counts, too.
#[test]
fn loops_of_several_units_become_hot() {
    let half = 250;
    let mut code = vec![inst("start", &[])];
    let len = 2 * half + 4;
    code.push(inst("from.ne", &[reg(1), reg(0), Operand::Label(len)]));
    code.extend((0..half).map(|_| inst("inc", &[reg(3)])));
    // A second block, so that the loop can be divided.
    code.push(inst("jmp.eq", &[reg(0), reg(2), Operand::Label(2)]));
    code.push(inst("inc", &[reg(5)]));
    code.push(inst("from.eq", &[reg(0), reg(2), Operand::Label(-2)]));
    code.extend((0..half - 1).map(|_| inst("inc", &[reg(4)])));
    code.push(inst("inc", &[reg(1)]));
    code.push(inst("jmp.ne", &[reg(1), reg(2), Operand::Label(-len)]));
    code.push(inst("finish", &[]));
    let program = Program::new(module(code), true).expect("a sound program");
    run(&program, 10, 1000);
    let (_, finished) = made(&program);
    assert!(finished >= 2, "{:?}", made(&program));
}

/// A procedure that only compiled code calls is optimized, too, with its first call after its baseline code is used up.
#[test]
fn called_procedures_become_hot() {
    let program = Program::new(
        module(vec![
            inst("proc", &[Operand::Label(2)]),
            inst("inc", &[reg(3)]),
            inst("ret", &[Operand::Label(-2)]),
            inst("start", &[]),
            inst("from.ne", &[reg(1), reg(0), Operand::Label(3)]),
            inst("call", &[Operand::Label(-5)]),
            inst("inc", &[reg(1)]),
            inst("jmp.ne", &[reg(1), reg(2), Operand::Label(-3)]),
            inst("finish", &[]),
        ]),
        true,
    );
    let program = program.expect("a sound program");
    let m = run(&program, 100, 1000);
    assert_eq!(m.registers()[3], 1000);
    assert_eq!(made(&program), (0, 2));
}

/// A unit that would need much of the host's stack gets no baseline code.
#[test]
fn baseline_code_takes_little_of_the_stack() {
    // Loaded words of memory stay live for the second half.
    let mut code = vec![inst("start", &[])];
    for to in [1, 2] {
        let word = |n: i64| Operand::Mem { base: Reg::ZERO, index: Reg::ZERO, offset: n };
        code.extend((0..140).map(|n| inst("add.f", &[reg(to), word(n)])));
    }
    code.push(inst("finish", &[]));
    let program = Program::new(module(code), true).expect("a sound program");
    for (ad_mode, expected) in [(AdMode::Plain, (1, 0)), (AdMode::SecondGradient, (1, 1))] {
        let config = Config { engine: Engine::Jit, warm_up: 0, tier_up: u64::MAX, mem: Some(256), ..Config::default() };
        let mut m = Machine::new(&program, &config).expect("a small memory");
        m.memory_mut()[..140].fill(1.5f64.to_bits());
        m.set_ad_mode(ad_mode);
        assert_eq!(m.run(None), Outcome::Finished);
        assert_eq!(m.registers()[1..3], [210f64.to_bits(); 2]);
        if HAS_BASELINE {
            assert_eq!(made(&program), expected, "{ad_mode:?}");
        }
    }
}
