//! A named part of the state, and how its words are read.

use pendula_compiler::janus::store::{Shape, Variable};
use pendula_isa::module;
use pendula_isa::types::{Reg, Ty};

/// A named part of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name, as the user wrote it.
    pub name: String,
    /// How the words are read.
    pub ty: Ty,
    /// Where they are.
    pub at: Location,
    /// The least and the greatest integer that it takes.
    pub range: (i128, i128),
    /// The variable of a program in Janus whose words they are: it says what they mean.
    pub variable: Option<Box<Variable>>,
    /// What the words are in a source that counts elements from 1; `None` of a single word.
    pub source: Option<Box<module::Variable>>,
}

impl Place {
    /// Words of 64 bits.
    pub fn new(name: impl Into<String>, ty: Ty, at: Location) -> Place {
        Place { name: name.into(), ty, at, range: WORDS, variable: None, source: None }
    }

    /// Words of the profile `pisa`.
    pub fn narrow(name: impl Into<String>, at: Location) -> Place {
        Place { range: NARROW, ..Place::new(name, Ty::Int, at) }
    }

    /// The name as it stands before the value: with the sizes of an array of Janus.
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

    /// Whether word number `n`, counted from 0, is true or false.
    pub fn is_truth(&self, n: usize) -> bool {
        self.ty == Ty::Int && self.source.as_ref().is_some_and(|v| v.is_truth(n as u64))
    }

    /// Whether it is a stack of Janus.
    pub fn is_stack(&self) -> bool {
        self.variable.as_ref().is_some_and(|v| v.shape == Shape::Stack)
    }

    /// How many words it has.
    pub fn count(&self) -> u64 {
        match self.at {
            Location::Register(_) | Location::Cell(_) => 1,
            Location::Memory { len, .. } => len,
        }
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
        /// How many words.
        len: u64,
        /// Whether it is an array, or one element of it or a single word.
        array: bool,
    },
}

/// What integers lie between where words have 64 bits: they may be meant with or without a sign.
pub(super) const WORDS: (i128, i128) = (i64::MIN as i128, u64::MAX as i128);

/// The same where they have 32.
pub(super) const NARROW: (i128, i128) = (i32::MIN as i128, u32::MAX as i128);

/// The words of true and false.
pub(super) const TRUTH: (i128, i128) = (0, 1);
