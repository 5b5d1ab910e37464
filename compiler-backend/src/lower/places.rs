//! Where variables are while code runs.
//!
//! Between two statements, each variable that is alive is in one place: that of its virtual register. Within a statement, words may be elsewhere for a moment, or half
//! changed, so nothing is said there.

use pendula_isa::Reg;

use super::alloc::Location;
use super::emit::{FRAME, reg};
use crate::ir::Var;

/// Where the variables of a program are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    functions: Vec<FunctionPlaces>,
}

/// Where the variables of a function are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FunctionPlaces {
    /// The function's number; `None` for the one that passes the arguments to the entry.
    pub(super) function: Option<u32>,
    /// Its first and its last instruction.
    pub(super) range: (u32, u32),
    /// The instructions with which statements begin, each with the first operation of the last statement that begins there.
    pub(super) begins: Vec<(u32, u32)>,
    /// The parts of the lives of variables.
    pub(super) parts: Vec<Part>,
}

/// A part of the life of a variable, during which it is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) var: u32,
    /// The first operation before which it is alive, and the last one.
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) at: WordPlace,
}

/// Where a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordPlace {
    /// In a register.
    Register(Reg),
    /// In memory, so many words from where a register points.
    Memory(Reg, i64),
}

impl WordPlace {
    /// The place of a location in the frame. The stack pointer is at the end of the frame, the frame pointer at its beginning.
    pub(super) fn of(location: Location, slots: i64, moves_sp: bool) -> WordPlace {
        match location {
            Location::Reg(r) => WordPlace::Register(reg(r)),
            Location::Slot(slot) if moves_sp => WordPlace::Memory(reg(FRAME), slot),
            Location::Slot(slot) => WordPlace::Memory(Reg::SP, slot - slots),
        }
    }
}

/// The variables of a function, at a place in its code.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    of: &'a FunctionPlaces,
    operation: u32,
}

impl Places {
    pub(super) fn add(&mut self, places: FunctionPlaces) {
        self.functions.push(places);
    }

    /// The number of the program's function that an instruction belongs to; `None` for the one that passes the arguments to the entry.
    pub fn function(&self, at: u32) -> Option<u32> {
        self.of(at)?.function
    }

    fn of(&self, at: u32) -> Option<&FunctionPlaces> {
        self.functions.iter().find(|f| (f.range.0..=f.range.1).contains(&at))
    }

    /// The variables before the instruction at an address; `None` within a statement, and where no function of the program is.
    pub fn before(&self, at: u32) -> Option<Scope<'_>> {
        let of = self.of(at)?;
        let n = of.begins.binary_search_by_key(&at, |(at, _)| *at).ok()?;
        Some(Scope { of, operation: of.begins.get(n)?.1 })
    }
}

impl Scope<'_> {
    /// Where a variable is, if it is alive.
    pub fn place(&self, var: Var) -> Option<WordPlace> {
        let alive = |part: &&Part| part.var == var.0 && (part.first..=part.last).contains(&self.operation);
        self.of.parts.iter().find(alive).map(|part| part.at)
    }
}
