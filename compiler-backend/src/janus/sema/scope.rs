//! What names stand for.

use crate::ir::{Operand, Region, Var};
use crate::janus::ast::{IntTy, Name};

/// A size of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dim {
    /// One that is known.
    Known(u64),
    /// One that a variable holds.
    Var(Var),
}

impl Dim {
    /// As an operand.
    pub(super) fn operand(self) -> Operand {
        match self {
            Dim::Known(n) => Operand::Const(n),
            Dim::Var(v) => Operand::Var(v),
        }
    }

    /// If it is known.
    pub(super) fn known(self) -> Option<u64> {
        match self {
            Dim::Known(n) => Some(n),
            Dim::Var(_) => None,
        }
    }
}

/// What a variable is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An integer.
    Scalar(IntTy),
    /// An array.
    Array(IntTy, Vec<Dim>),
    /// A stack.
    Stack,
}

impl Kind {
    /// In words, for messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Kind::Scalar(ty) => format!("an `{}`", ty.name()),
            Kind::Array(ty, dims) => format!("an array `{}{}`", ty.name(), "[]".repeat(dims.len())),
            Kind::Stack => "a stack".to_string(),
        }
    }
}

/// Where a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In a variable of the representation.
    Word(Var),
    /// In the word of memory at this address.
    Ref {
        /// The address.
        address: Var,
        /// What it lies in.
        region: Region,
    },
    /// In memory from this address on.
    Memory {
        /// The address.
        base: Var,
        /// What it lies in.
        region: Region,
    },
}

impl Place {
    /// Whether two variables may have words in common.
    pub(super) fn meets(self, other: Place) -> bool {
        match (self, other) {
            (Place::Word(a), Place::Word(b)) => a == b,
            (
                Place::Ref { region: a, .. } | Place::Memory { region: a, .. },
                Place::Ref { region: b, .. } | Place::Memory { region: b, .. },
            ) => a == b,
            (Place::Word(_), Place::Ref { .. } | Place::Memory { .. })
            | (Place::Ref { .. } | Place::Memory { .. }, Place::Word(_)) => false,
        }
    }
}

/// A name and what it stands for.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    pub(super) name: Name,
    pub(super) kind: Kind,
    pub(super) home: Place,
    /// Whether it may not be changed.
    pub(super) constant: bool,
}
