//! Options of `bench`.

use clap::{Args, ValueEnum};

use pendula_bench::memory::Child;

use super::Engine;

/// Options of `bench`.
#[derive(Args, Debug)]
pub(crate) struct Bench {
    /// The workloads, or single cases of them [default: all].
    #[arg(value_name = "WORKLOAD")]
    pub(crate) workloads: Vec<String>,
    /// The engines to measure [default: auto].
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAMES")]
    pub(crate) engine: Vec<Engine>,
    /// Take less time: fewer rounds, shorter samples, smaller inputs of some workloads.
    #[arg(long)]
    pub(crate) quick: bool,
    /// The number of rounds; figures are their medians [default: 11, with --quick 5].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) repeat: Option<u64>,
    /// Allow other rounding of floating-point sums, and skip undoing that would only leave rounding errors.
    #[arg(long)]
    pub(crate) fast_float: bool,
    /// Run programs as `--engine auto` does where there is no C compiler: by Cranelift. What they are compared with is C nevertheless.
    #[arg(long, conflicts_with = "fast_float")]
    pub(crate) no_cc: bool,
    /// Measure the time per element at 1, 4 and 16 times the size instead.
    #[arg(long)]
    pub(crate) scale: bool,
    /// List the workloads.
    #[arg(long, conflicts_with_all = ["scale", "markdown"])]
    pub(crate) list: bool,
    /// Print Markdown tables.
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Run once and print the peak memory. The command starts itself with this option to measure memory in a fresh process.
    #[arg(long, value_enum, hide = true, requires = "engine")]
    pub(crate) child: Option<BenchChild>,
}

/// What the process runs whose memory is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BenchChild {
    /// Nothing.
    Empty,
    /// A run forward.
    Forward,
    /// A gradient.
    Gradient,
}

impl From<BenchChild> for Child {
    fn from(child: BenchChild) -> Child {
        match child {
            BenchChild::Empty => Child::Empty,
            BenchChild::Forward => Child::Forward,
            BenchChild::Gradient => Child::Gradient,
        }
    }
}

impl From<Child> for BenchChild {
    fn from(child: Child) -> BenchChild {
        match child {
            Child::Empty => BenchChild::Empty,
            Child::Forward => BenchChild::Forward,
            Child::Gradient => BenchChild::Gradient,
        }
    }
}
