//! Shared helpers for tests of the machine: small modules and random states.

#![allow(dead_code, reason = "each test file uses a part of it")]

pub(crate) mod lockstep;

use pendula_isa::inst::{Inst, Kind};
use pendula_isa::mnemonic::lookup;
use pendula_isa::module::Module;
use pendula_isa::operand::Operand;
use pendula_isa::types::{Reg, Ty};
use pendula_vm::{Config, Machine, Program};

/// A register by number.
pub(crate) fn r(number: u8) -> Reg {
    Reg::new(number).expect("a register's number")
}

pub(crate) fn reg(number: u8) -> Operand {
    Operand::Reg(r(number))
}

pub(crate) fn imm(word: i64) -> Operand {
    Operand::Imm(word.cast_unsigned(), Ty::Int)
}

pub(crate) fn mem(base: u8, index: u8, offset: i64) -> Operand {
    Operand::Mem { base: r(base), index: r(index), offset }
}

/// The family of a mnemonic.
pub(crate) fn kind(mnemonic: &str) -> Kind {
    lookup(mnemonic).unwrap_or_else(|| panic!("no instruction `{mnemonic}`"))
}

/// An instruction from its mnemonic and operands.
pub(crate) fn inst(mnemonic: &str, operands: &[Operand]) -> Inst {
    Inst::build(kind(mnemonic), operands).unwrap_or_else(|e| panic!("{mnemonic} {operands:?}: {e}"))
}

/// A module of this code, between `start` and `finish`.
pub(crate) fn between(code: impl IntoIterator<Item = Inst>) -> Module {
    let mut all = vec![inst("start", &[])];
    all.extend(code);
    all.push(inst("finish", &[]));
    Module { code: all, ..Module::default() }
}

/// A module of the code as it stands.
pub(crate) fn module(code: impl IntoIterator<Item = Inst>) -> Module {
    Module { code: code.into_iter().collect(), ..Module::default() }
}

pub(crate) fn program(module: Module) -> Program {
    Program::new(module, true).unwrap_or_else(|e| panic!("{e}"))
}

/// A machine with so many words of memory.
pub(crate) fn machine(program: &Program, words: u64) -> Machine<'_> {
    Machine::new(program, &Config { mem: Some(words), ..Config::default() }).expect("a small memory")
}

/// The state that a run may change, for a word by word comparison if a digest differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) regs: [u64; Reg::COUNT],
    pub(crate) mem: Vec<u64>,
    pub(crate) output: Vec<u64>,
    pub(crate) read: usize,
}

impl State {
    pub(crate) fn of(m: &Machine) -> State {
        State { regs: *m.registers(), mem: m.memory().to_vec(), output: m.output().to_vec(), read: m.words_read() }
    }

    /// Where two states differ: `r5`, `[12]`.
    pub(crate) fn differences(&self, other: &State) -> Vec<String> {
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
