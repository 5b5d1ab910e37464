//! The words that the evaluator works on, and [`OperandDomain`], the [`Domain`] and [`Carrier`] of an instruction's operands.

use pendula_isa::adjoint::{Carrier, GRADIENT, VALUE};
use pendula_isa::arith::Arith;
use pendula_isa::domain::Domain;
use pendula_isa::num::Word;
use pendula_isa::table::{Instruction, Variant};
use pendula_isa::{Env, Fault};

/// Where a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// A constant, which is nowhere.
    Const(u64),
    /// A variable's word, among those of all frames.
    Slot(usize),
    /// A word of memory; the address lies within.
    Word(usize),
}

/// Words and, if they carry any, their gradient words.
#[derive(Debug, Default)]
pub(super) struct Words {
    pub(super) values: Vec<u64>,
    /// As many as the values, or empty.
    pub(super) gradients: Vec<u64>,
}

impl Words {
    pub(super) fn resize(&mut self, len: usize, gradients: bool) {
        self.values.resize(len, 0);
        if gradients {
            self.gradients.resize(len, 0);
        }
    }
}

/// All words.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) slots: Words,
    pub(super) memory: Words,
    pub(super) env: Env,
    /// Whether words carry gradient words.
    pub(super) has_gradients: bool,
    /// Whether a fixed-point number has wrapped since this was cleared.
    pub(super) overflowed: bool,
    /// The locations that were written, each with its old value, if a trace records them.
    pub(super) written: Option<Vec<(Location, u64)>>,
}

impl State {
    pub(super) fn value(&self, at: Location) -> u64 {
        match at {
            Location::Const(k) => k,
            Location::Slot(n) => self.slots.values.get(n).copied().unwrap_or(0),
            Location::Word(n) => self.memory.values.get(n).copied().unwrap_or(0),
        }
    }

    pub(super) fn set_value(&mut self, at: Location, v: u64) {
        let word = match at {
            Location::Const(_) => None,
            Location::Slot(n) => self.slots.values.get_mut(n),
            Location::Word(n) => self.memory.values.get_mut(n),
        };
        if let Some(word) = word {
            if let Some(written) = &mut self.written {
                written.push((at, *word));
            }
            *word = v;
        }
    }

    pub(super) fn gradient(&self, at: Location) -> u64 {
        match at {
            Location::Const(_) => 0,
            Location::Slot(n) => self.slots.gradients.get(n).copied().unwrap_or(0),
            Location::Word(n) => self.memory.gradients.get(n).copied().unwrap_or(0),
        }
    }

    pub(super) fn set_gradient(&mut self, at: Location, v: u64) {
        let word = match at {
            Location::Const(_) => None,
            Location::Slot(n) => self.slots.gradients.get_mut(n),
            Location::Word(n) => self.memory.gradients.get_mut(n),
        };
        if let Some(word) = word {
            *word = v;
        }
    }
}

/// An instruction's operands, and the lane that they are taken from.
pub(super) struct OperandDomain<'a> {
    pub(super) state: &'a mut State,
    pub(super) at: [Location; 4],
    pub(super) lane: usize,
}

impl<'a> OperandDomain<'a> {
    pub(super) fn new(state: &'a mut State, at: [Location; 4]) -> OperandDomain<'a> {
        OperandDomain { state, at, lane: VALUE }
    }

    fn place(&self, n: usize) -> Location {
        self.at.get(n).copied().unwrap_or(Location::Const(0))
    }
}

impl Arith for OperandDomain<'_> {
    type V = u64;
    type Stop = Fault;

    pendula_isa::plain_arithmetic!();

    fn env(&self) -> Env {
        self.state.env
    }
    fn overflow(&mut self, wrapped: u64) -> Result<(), Fault> {
        self.state.overflowed |= wrapped != 0;
        Ok(())
    }
    fn require(&mut self, ok: u64, fault: Fault) -> Result<(), Fault> {
        self.check(ok, fault)
    }
}

impl Domain for OperandDomain<'_> {
    pendula_isa::plain_guard!();

    fn operand(&mut self, n: usize) -> Word {
        let at = self.place(n);
        Ok(match (at, self.lane) {
            (Location::Const(k), _) => k,
            (at, VALUE) => self.state.value(at),
            (at, _) => self.state.gradient(at),
        })
    }
    fn set(&mut self, n: usize, v: u64) -> Result<(), Fault> {
        let at = self.place(n);
        if self.lane == VALUE {
            self.state.set_value(at, v)
        } else {
            self.state.set_gradient(at, v)
        }
        Ok(())
    }
    // The instructions of the representation reach memory by their operands only.
    fn missing(&mut self, fault: Fault) -> Fault {
        fault
    }
    fn sp(&mut self) -> u64 {
        0
    }
    fn set_sp(&mut self, _: u64) {}
    fn check(&mut self, ok: u64, fault: Fault) -> Result<(), Fault> {
        if ok == 0 && self.lane == VALUE { Err(fault) } else { Ok(()) }
    }
}

impl Carrier for OperandDomain<'_> {
    fn carries(&self, n: usize) -> bool {
        !matches!(self.place(n), Location::Const(_))
    }
    fn same(&self, n: usize, m: usize) -> bool {
        self.carries(n) && self.place(n) == self.place(m)
    }
    fn lane(&mut self, lane: usize, n: usize) -> u64 {
        if lane == GRADIENT { self.state.gradient(self.place(n)) } else { 0 }
    }
    fn set_lane(&mut self, lane: usize, n: usize, v: u64) {
        if lane == GRADIENT {
            self.state.set_gradient(self.place(n), v);
        }
    }
    fn when(&mut self, c: u64, f: impl FnOnce(&mut Self) -> Result<(), Fault>) -> Result<(), Fault> {
        if c == 0 { Ok(()) } else { f(self) }
    }
    fn run_lane<I: Instruction>(&mut self, lane: usize, back: bool, v: Variant, _: u64) -> Result<(), Fault> {
        let mut operands = OperandDomain { state: self.state, at: self.at, lane };
        if back { I::undo(&mut operands, v) } else { I::run(&mut operands, v) }
    }
    fn drop_lanes(&mut self, n: usize) {
        self.state.set_gradient(self.place(n), 0);
    }
}
