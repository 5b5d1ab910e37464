//! Options of functional programs.

use clap::ValueEnum;

/// A stage of the ladder from naive dual numbers to a tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stage {
    /// Dual numbers with backpropagators, which call each other.
    D1,
    /// Calls of backpropagators are staged, so that each is called once.
    D2,
    /// Backpropagators return functions that add to what is staged.
    D3,
    /// What is staged is in mutable arrays.
    D4,
    /// A tape of partial derivatives.
    D5,
}

/// How a functional program is differentiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    /// By the transformation that `*j` applies inside of programs, which nests.
    Transform,
    /// By a tape: the stage `d5`.
    Tape,
}
