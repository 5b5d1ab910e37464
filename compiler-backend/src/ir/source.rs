//! What a program is in the source: variables by name, and conditions as they are written. A front end notes it; passes leave it behind, and only
//! [`super::eval`] looks at it, to tell where and with what a run stopped.

use pendula_isa::Ty;

use super::{Loc, Mem, Operand, Var};

/// A variable of the source, in the function whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// What it is.
    pub shape: Shape,
}

/// What a variable of the source is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A number.
    Number(Number, Place),
    /// An array.
    Array {
        /// The words of an element.
        element: Vec<Number>,
        /// The first word of the first.
        start: Mem,
        /// How many there are along each dimension.
        dims: Vec<Operand>,
        /// Whether the first index runs fastest.
        by_column: bool,
    },
    /// A stack: how many numbers are on it, and these, the top last.
    Stack {
        /// Where the count is.
        start: Mem,
    },
    /// Parts with names of their own.
    Parts(Vec<Named>),
}

/// How words are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// As the machine's type says.
    Plain(Ty),
    /// As an integer without sign.
    Unsigned,
    /// As true or false.
    Truth,
}

/// Where a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a variable.
    Var(Var),
    /// In memory.
    Mem(Mem),
    /// Nowhere: it is known.
    Const(u64),
}

/// A condition as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// What stands before it: `if`, `fi`, `from`, `until`; nothing where it stands beside another.
    pub keyword: &'static str,
    /// Its text.
    pub text: String,
    /// Where that begins.
    pub loc: Loc,
    /// Whether it holds where the one of the representation does not.
    pub negated: bool,
    /// The variables that it names.
    pub names: Vec<String>,
}

/// The conditions of a branch or a loop: that of the way forward, and that of the way back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clauses {
    /// Decides, forward.
    pub pre: Clause,
    /// Decides, backward.
    pub post: Clause,
}
