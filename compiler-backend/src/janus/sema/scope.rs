//! The meanings of names.

use crate::ir::{Operand, Region, Var};
use crate::janus::ast::{IntTy, Name};

/// A size of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dim {
    /// A known size.
    Known(u64),
    /// The size in a variable.
    Var(Var),
}

impl Dim {
    /// The size as an operand.
    pub(super) fn operand(self) -> Operand {
        match self {
            Dim::Known(n) => Operand::Const(n),
            Dim::Var(v) => Operand::Var(v),
        }
    }

    /// The size, if it is known.
    pub(super) fn known(self) -> Option<u64> {
        match self {
            Dim::Known(n) => Some(n),
            Dim::Var(_) => None,
        }
    }
}

/// The kind of a variable.
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
    /// A description for messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Kind::Scalar(ty) => format!("an `{}`", ty.name()),
            Kind::Array(ty, dims) => format!("an array `{}{}`", ty.name(), "[]".repeat(dims.len())),
            Kind::Stack => "a stack".to_string(),
        }
    }
}

/// The location of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// A variable of the representation.
    Word(Var),
    /// The word of memory at this address.
    Ref {
        /// The address.
        address: Var,
        /// The region of the address.
        region: Region,
    },
    /// Memory from this address on.
    Memory {
        /// The address.
        base: Var,
        /// The region of the address.
        region: Region,
    },
}

impl Location {
    /// Whether two variables may share words.
    pub(super) fn meets(self, other: Location) -> bool {
        match (self, other) {
            (Location::Word(a), Location::Word(b)) => a == b,
            (
                Location::Ref { region: a, .. } | Location::Memory { region: a, .. },
                Location::Ref { region: b, .. } | Location::Memory { region: b, .. },
            ) => a == b,
            (Location::Word(_), Location::Ref { .. } | Location::Memory { .. })
            | (Location::Ref { .. } | Location::Memory { .. }, Location::Word(_)) => false,
        }
    }
}

/// A name and its meaning.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    pub(super) name: Name,
    pub(super) kind: Kind,
    pub(super) location: Location,
    /// Whether it is constant.
    pub(super) constant: bool,
}
