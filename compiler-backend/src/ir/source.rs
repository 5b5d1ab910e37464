//! Debug information: the source's variables by name, and its conditions as they are written.
//!
//! Front ends record it. Passes do not update it, and only [`super::eval`] reads it, to tell where a run stopped and with
//! what values.

use pendula_isa::Ty;

use super::{Loc, Mem, Operand, Var};

/// A variable of the source, of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedOperand {
    /// The name.
    pub name: String,
    /// The words that it consists of.
    pub shape: Shape,
}

/// The words that a variable of the source consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A number.
    Number(Number, Place),
    /// An array.
    Array {
        /// The words of an element.
        element: Vec<Number>,
        /// The first word of the first element.
        start: Mem,
        /// The number of elements along each dimension.
        dims: Vec<Operand>,
        /// True for column-major order: the first index varies fastest.
        by_column: bool,
    },
    /// A stack: the count of its numbers, followed by the numbers, the top one last.
    Stack {
        /// The word with the count.
        start: Mem,
    },
    /// Parts with names of their own.
    Parts(Vec<NamedOperand>),
}

/// How a word is interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// By the machine's type.
    Plain(Ty),
    /// As an unsigned integer.
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
    /// Nowhere: the value is known.
    Const(u64),
}

/// A condition as the source has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// The keyword before it: `if`, `fi`, `from` or `until`; empty if it stands beside another condition.
    pub keyword: &'static str,
    /// Its text.
    pub text: String,
    /// Where the text begins.
    pub loc: Loc,
    /// True if it is the negation of the IR's condition.
    pub negated: bool,
    /// The variables that it names.
    pub names: Vec<String>,
}

/// The conditions of a branch or a loop, for forward and backward runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clauses {
    /// The condition that decides in a forward run.
    pub pre: Clause,
    /// The condition that decides in a backward run.
    pub post: Clause,
}
