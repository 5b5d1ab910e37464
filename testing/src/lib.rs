//! What tests of the machine share: small modules, and engines in lock-step. The package also builds the test programs of other crates, whose
//! libraries are optimised for speed: tests are compiled without.

pub mod lockstep;

use pendula_isa::inst::{Inst, Kind};
use pendula_isa::mnemonic::lookup;
use pendula_isa::module::Module;
use pendula_isa::operand::Operand;
use pendula_isa::types::{Reg, Ty};
use pendula_vm::{Config, Machine, Program};

/// A register by number.
///
/// # Panics
/// As all of these do, if there is none of the kind.
pub fn r(number: u8) -> Reg {
    Reg::new(number).expect("a register's number")
}

/// A register as an operand.
pub fn reg(number: u8) -> Operand {
    Operand::Reg(r(number))
}

/// A constant.
pub fn imm(word: i64) -> Operand {
    Operand::Imm(word.cast_unsigned(), Ty::Int)
}

/// A word of memory: two registers and an offset.
pub fn mem(base: u8, index: u8, offset: i64) -> Operand {
    Operand::Mem { base: r(base), index: r(index), offset }
}

/// The family of a mnemonic.
pub fn kind(mnemonic: &str) -> Kind {
    lookup(mnemonic).unwrap_or_else(|| panic!("no instruction `{mnemonic}`"))
}

/// An instruction from its mnemonic and operands.
pub fn inst(mnemonic: &str, operands: &[Operand]) -> Inst {
    Inst::build(kind(mnemonic), operands).unwrap_or_else(|e| panic!("{mnemonic} {operands:?}: {e}"))
}

/// A module of this code, between `start` and `finish`.
pub fn between(code: impl IntoIterator<Item = Inst>) -> Module {
    let mut all = vec![inst("start", &[])];
    all.extend(code);
    all.push(inst("finish", &[]));
    Module { code: all, ..Module::default() }
}

/// A module of the code as it stands.
pub fn module(code: impl IntoIterator<Item = Inst>) -> Module {
    Module { code: code.into_iter().collect(), ..Module::default() }
}

/// A program of a module without mistakes.
pub fn program(module: Module) -> Program {
    Program::new(module, true).unwrap_or_else(|e| panic!("{e}"))
}

/// A machine with so many words of memory.
pub fn machine(program: &Program, words: u64) -> Machine<'_> {
    Machine::new(program, &Config { mem: Some(words), ..Config::default() }).expect("a small memory")
}

/// The state that a run may change, for a word by word comparison if a digest differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The registers.
    pub regs: [u64; Reg::COUNT],
    /// The memory.
    pub mem: Vec<u64>,
    /// What was emitted.
    pub output: Vec<u64>,
    /// How many words of the input were read.
    pub read: usize,
}

impl State {
    /// The state of a machine.
    pub fn of(m: &Machine<'_>) -> State {
        State { regs: *m.registers(), mem: m.memory().to_vec(), output: m.output().to_vec(), read: m.words_read() }
    }

    /// Where two states differ: `r5`, `[12]`.
    pub fn differences(&self, other: &State) -> Vec<String> {
        let mut out = Vec::new();
        for (n, (a, b)) in self.regs.iter().zip(&other.regs).enumerate() {
            if a != b {
                out.push(format!("r{n}: {a:#x} / {b:#x}"));
            }
        }
        for (n, (a, b)) in self.mem.iter().zip(&other.mem).enumerate() {
            if a != b {
                out.push(format!("[{n}]: {a:#x} / {b:#x}"));
            }
        }
        if self.output != other.output {
            out.push(format!("output: {:x?} / {:x?}", self.output, other.output));
        }
        if self.read != other.read {
            out.push(format!("read: {} / {}", self.read, other.read));
        }
        out
    }
}
