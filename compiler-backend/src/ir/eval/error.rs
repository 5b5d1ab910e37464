//! Why an evaluation stopped.

use pendula_isa::Fault;
use pendula_isa::diagnostic::plural;
use thiserror::Error;

use crate::ir::{AssertKind, Loc};

/// Why an evaluation stopped.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EvalError {
    /// A function has no value, an address is out of range, or the like.
    #[error("{fault}")]
    Fault {
        /// Where.
        loc: Loc,
        /// What.
        fault: Fault,
    },
    /// A word that should be zero where its life ends is not.
    #[error("`{name}` is not zero where it ends: {word:#x}")]
    NotZero {
        /// Where.
        loc: Loc,
        /// The variable's name, or the array's.
        name: String,
        /// The word.
        word: u64,
        /// The index of the word in an array.
        index: Option<u64>,
    },
    /// An assertion does not hold.
    #[error("assertion failed ({why:?}): {a:#x} and {b:#x}")]
    Assert {
        /// Where.
        loc: Loc,
        /// Why it is asserted.
        why: AssertKind,
        /// The message: an index into [`Program::reasons`](crate::ir::Program::reasons).
        reason: Option<u32>,
        /// The left side.
        a: u64,
        /// The right side.
        b: u64,
    },
    /// The run has reached the point where it was to stop.
    #[error("stopped where it should stop")]
    Visited {
        /// Where.
        loc: Loc,
    },
    /// A statement has run more often than it does until the point where the run was to stop.
    #[error("a statement ran more often than before the moment to stop at")]
    Otherwise {
        /// Where.
        loc: Loc,
    },
    /// The condition after an `if` disagrees with the one before it.
    #[error("the condition after the branch does not agree with the one before it")]
    Branch {
        /// Where.
        loc: Loc,
        /// True if the first branch has run.
        first: bool,
    },
    /// The second condition of a `while` holds before the first iteration, or does not hold after an iteration.
    #[error("the condition at the top of a loop holds before the first iteration, or fails after one")]
    Loop {
        /// Where.
        loc: Loc,
        /// True before the first iteration.
        entered: bool,
    },
    /// The steps of a `for` do not reach its last value, or are zero.
    #[error("the steps from {first} to {last} by {step} do not meet the last value")]
    Range {
        /// Where.
        loc: Loc,
        /// The first value.
        first: i64,
        /// The last value.
        last: i64,
        /// The step.
        step: i64,
    },
    /// Something has changed that must not: a loop's variable or bounds, or an unwritten parameter.
    #[error("`{name}` was changed")]
    Changed {
        /// Where.
        loc: Loc,
        /// What.
        name: String,
    },
    /// Two operands are the same word, and at least one is written.
    #[error("a word that is written is passed twice")]
    Alias {
        /// Where.
        loc: Loc,
    },
    /// An array of a negative length.
    #[error("an array of {}", plural(*len, "word"))]
    Length {
        /// Where.
        loc: Loc,
        /// The length.
        len: i64,
    },
    /// An array that ends is not the one that was allocated last.
    #[error("the array that ends is not the last one")]
    Order {
        /// Where.
        loc: Loc,
    },
    /// A variable outlives its function, or begins while it lives.
    #[error("`{name}` lives where it should not")]
    Leak {
        /// Where.
        loc: Loc,
        /// The variable.
        name: String,
    },
    /// Calls nested too deep.
    #[error("calls are nested too deep")]
    Depth {
        /// Where.
        loc: Loc,
    },
    /// Too many steps.
    #[error("the limit of steps is reached")]
    Steps {
        /// Where.
        loc: Loc,
    },
    /// The program breaks the rules of the IR.
    #[error("malformed: {what}")]
    Malformed {
        /// Where.
        loc: Loc,
        /// What.
        what: &'static str,
    },
}

impl EvalError {
    /// Where it happened.
    pub fn loc(&self) -> Loc {
        match self {
            EvalError::Fault { loc, .. }
            | EvalError::NotZero { loc, .. }
            | EvalError::Assert { loc, .. }
            | EvalError::Branch { loc, .. }
            | EvalError::Loop { loc, .. }
            | EvalError::Range { loc, .. }
            | EvalError::Changed { loc, .. }
            | EvalError::Alias { loc }
            | EvalError::Length { loc, .. }
            | EvalError::Order { loc }
            | EvalError::Leak { loc, .. }
            | EvalError::Depth { loc }
            | EvalError::Steps { loc }
            | EvalError::Visited { loc }
            | EvalError::Otherwise { loc }
            | EvalError::Malformed { loc, .. } => *loc,
        }
    }
}
