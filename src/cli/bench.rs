//! Options of `bench`.

use clap::{Args, ValueEnum};

use super::Engine;

/// Options of `bench`.
#[derive(Args, Debug)]
pub(crate) struct Bench {
    /// The workloads, or single cases of them [default: all].
    #[arg(value_name = "WORKLOAD")]
    pub(crate) workloads: Vec<String>,
    /// The execution engines [default: the fastest there is].
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAMES")]
    pub(crate) engine: Vec<Engine>,
    /// Take less time: few rounds, short samples, fewer steps of leapfrog.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Rounds, of which medians are taken [default: 11, with --quick 5].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) repeat: Option<u64>,
    /// Let floating-point numbers be rounded otherwise than written: undoing is left out where only roundings tell.
    #[arg(long)]
    pub(crate) fast_float: bool,
    /// Time per element at 1, 4 and 16 times the size instead.
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
    /// Run once and print the peak of memory: what the command asks processes of its own to do.
    #[arg(long, value_enum, hide = true, requires = "engine")]
    pub(crate) child: Option<BenchChild>,
}

/// What a process runs whose memory is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BenchChild {
    /// Nothing.
    Empty,
    /// A run forward.
    Forward,
    /// A gradient.
    Gradient,
}
