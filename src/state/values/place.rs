//! A named part of the state, and how its words are read.

use pendula_compiler::janus::store::{Shape, Variable};
use pendula_isa::module;
use pendula_isa::types::{Reg, Ty};

/// A named part of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name, as the user wrote it.
    pub name: String,
    /// The type of the words.
    pub ty: Ty,
    /// Their location.
    pub at: Location,
    /// The least and the greatest integer that it can hold.
    pub range: (i128, i128),
    /// The variable of a Janus program that these words hold; it determines their meaning.
    pub variable: Option<Box<Variable>>,
    /// The variable that the words hold in a source that counts elements from 1; `None` for a single word.
    pub source: Option<Box<module::Variable>>,
    /// For a whole vector that grows: where its length is, and its room. `at` is what it has in the data before a run.
    pub growing: Option<Growing>,
}

/// What a vector that grows has beside its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growing {
    /// The address of the number of elements.
    pub length: u64,
    /// The number of words of an element.
    pub width: u64,
    /// The greatest number of words.
    pub room: u64,
}

impl Place {
    /// A place of 64-bit words.
    pub fn new(name: impl Into<String>, ty: Ty, at: Location) -> Place {
        Place { name: name.into(), ty, at, range: WORDS, variable: None, source: None, growing: None }
    }

    /// A place of words of the profile `pisa`.
    pub fn narrow(name: impl Into<String>, at: Location) -> Place {
        Place { range: NARROW, ..Place::new(name, Ty::Int, at) }
    }

    /// The name as printed before the value: with the sizes if it is an array of Janus.
    pub fn head(&self) -> String {
        self.variable.as_ref().map_or_else(|| self.name.clone(), |v| v.head())
    }

    /// The names of its words: `x[0]`, `x[1]` in assembly, `x[1]`, `x[2]` or `z[1].re`, `z[1].im` in Nil.
    pub fn words(&self) -> Vec<String> {
        match (&self.source, self.at) {
            (Some(v), Location::Memory { array: true, len, .. }) => (0..len).map(|n| v.word(n)).collect(),
            (None, Location::Memory { array: true, len, .. }) => {
                (0..len).map(|n| format!("{}[{n}]", self.name)).collect()
            }
            (_, Location::Memory { .. } | Location::Register(_) | Location::Cell(_)) => vec![self.name.clone()],
        }
    }

    /// True if word number `n`, counted from 0, is a truth value.
    pub fn is_truth(&self, n: usize) -> bool {
        self.ty == Ty::Int && self.source.as_ref().is_some_and(|v| v.is_truth(n as u64))
    }

    /// True if it is a stack of Janus.
    pub fn is_stack(&self) -> bool {
        self.variable.as_ref().is_some_and(|v| v.shape == Shape::Stack)
    }

    /// The greatest number of words that it can have.
    pub fn most(&self) -> u64 {
        self.growing.map_or_else(|| self.count(), |g| g.room)
    }

    /// The number of its words; of a vector that grows, before a run.
    pub fn count(&self) -> u64 {
        match self.at {
            Location::Register(_) | Location::Cell(_) => 1,
            Location::Memory { len, .. } => len,
        }
    }
}

impl Growing {
    /// The number of words of so many elements.
    pub fn words(&self, elements: u64) -> u64 {
        elements.saturating_mul(self.width).min(self.room)
    }
}

/// Where a named part of the state is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// In a register.
    Register(Reg),
    /// In a cell of the profile `pisa`.
    Cell(u32),
    /// In memory.
    Memory {
        /// The first address.
        start: u64,
        /// The number of words.
        len: u64,
        /// True for an array, false for a single word or one element.
        array: bool,
    },
}

/// The range of integers in 64-bit words, which may be meant with or without a sign.
pub(in crate::state) const WORDS: (i128, i128) = (i64::MIN as i128, u64::MAX as i128);

/// The range of integers in 32-bit words.
pub(in crate::state) const NARROW: (i128, i128) = (i32::MIN as i128, u32::MAX as i128);

/// The range of truth values.
pub(in crate::state) const TRUTH: (i128, i128) = (0, 1);
