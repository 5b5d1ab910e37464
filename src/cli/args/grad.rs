//! Options of `grad`.

use clap::{Args, ValueEnum};

use super::{Batch, Conditions, FUNCTIONAL, Method, OfNumbers, SourceOf, Stage};
use crate::cli::memory::parse_size_or_zero;

/// Options of `grad`.
#[derive(Args, Debug)]
pub(crate) struct Grad {
    /// The inputs to differentiate with respect to: `a,b[2],r3.f` [default: all imported numbers].
    #[arg(long, value_name = "NAMES")]
    pub(crate) wrt: Vec<String>,
    /// The number to differentiate [default: the only exported number].
    ///
    /// It is a data symbol, an element (`y[2]`), or a register with its type (`r3.q`).
    #[arg(long, value_name = "NAME")]
    pub(crate) loss: Option<String>,
    /// Compare with dual numbers and finite differences; fail if they disagree.
    ///
    /// Second derivatives are compared with those of reverse mode over reverse mode. A gradient word that overflows is a failure, too.
    #[arg(long)]
    pub(crate) check: bool,
    /// Compute second derivatives, too.
    ///
    /// `forward` runs forward and back once for each input, with tangents. `sweep` computes all of them in one run back, and prints those that are not zero.
    #[arg(
        long,
        value_enum,
        value_name = "forward|sweep",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "forward"
    )]
    pub(crate) hessian: Option<Hessian>,
    /// Compute Taylor series of the results up to order N, along a direction of the inputs, instead of a gradient.
    ///
    /// Without --loss, these are the series of all exported numbers.
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u8).range(1..=64),
        conflicts_with_all = ["hessian", "jacobian", "check", "seed", "hex", "keep_dropped", "batch", "save"]
    )]
    pub(crate) taylor: Option<u8>,
    /// With --taylor: how the inputs move, as `x=1`, `w[2]=-0.5` or `w=[1, 0, 2]` (repeatable) [default: 1 for the only input].
    #[arg(long, value_name = "NAME=X", requires = "taylor")]
    pub(crate) direction: Vec<String>,
    /// Compute the gradient of every element of the loss, which may then be an array.
    #[arg(long, conflicts_with = "hessian")]
    pub(crate) jacobian: bool,
    /// Multiply all derivatives by this number, which has the type of the loss [default: 1].
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub(crate) seed: Option<String>,
    /// Print how many instructions and cycles the runs took, and how many bits they lost.
    #[arg(long)]
    pub(crate) stats: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print values and gradient words as raw words in hexadecimal.
    #[arg(long)]
    pub(crate) hex: bool,
    /// Words for the input tape, which `read` takes: `1,2,3` or `@file`.
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) input: Option<String>,
    /// Report which words the run forward and back changed, and by how much.
    ///
    /// This also adds up the rounding errors that `zero.f` cleared.
    #[arg(long)]
    pub(crate) drift: bool,
    /// Keep the gradient words that `zero` drops, and fail unless a run forward restores everything.
    ///
    /// The program is run forward again with gradients. In a program that computes with floating-point numbers, rounding errors may remain and are no failure.
    #[arg(long)]
    pub(crate) keep_dropped: bool,
    /// How much memory to take for values that are kept for the way back, as `64M` or `1G`; 0 keeps none [default: 4M and a fifth of the data].
    ///
    /// Code for whole runs keeps values of elementary functions, which take longer to compute again than to write and read. Where they would take more,
    /// all are computed again. Each thread of a batch takes as much.
    #[arg(long, value_parser = parse_size_or_zero, value_name = "SIZE")]
    pub(crate) grad_mem: Option<u64>,
    /// How to differentiate [default: transform].
    #[arg(long, help_heading = FUNCTIONAL, value_enum, value_name = "NAME", conflicts_with = "stage")]
    pub(crate) method: Option<Method>,
    /// Differentiate by this stage of the ladder from naive dual numbers to a tape: d1 to d5.
    ///
    /// Several, as in `d2,d3`, give a table of what each of them counts.
    #[arg(long, help_heading = FUNCTIONAL, value_enum, value_name = "STAGE", value_delimiter = ',')]
    pub(crate) stage: Vec<Stage>,
    /// The conditions of the run.
    #[command(flatten)]
    pub(crate) given: Conditions,
    /// Many inputs.
    #[command(flatten)]
    pub(crate) many: Batch,
    /// The program.
    #[command(flatten)]
    pub(crate) source: SourceOf<OfNumbers>,
}

/// How second derivatives are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Hessian {
    /// Forward over reverse, once for each input.
    Forward,
    /// All in one run back.
    Sweep,
}
