//! Options of `lab`.

use clap::{Args, Subcommand, ValueEnum};

use super::source::{OfLab, SourcesOf};
use super::{Conditions, examples};
use crate::cli::definitions::IsaFiles;

/// Options of `lab`.
#[derive(Args, Debug)]
pub(crate) struct Lab {
    /// What to do.
    #[command(subcommand)]
    pub(crate) what: LabCommand,
}

/// What the lab does.
#[derive(Subcommand, Debug)]
pub(crate) enum LabCommand {
    /// Try instructions of a file on programs: rewrite these, run both, compare every bit, and price both.
    #[command(after_help = examples::LAB_TRY)]
    Try(LabTry),
    /// Propose instructions for programs, try each, and write the best to a file.
    #[command(after_help = examples::LAB_DISCOVER)]
    Discover(LabDiscover),
    /// Show how what instructions save depends on a technology's clock or voltage, or on the size of words.
    #[command(after_help = examples::LAB_SWEEP)]
    Sweep(LabSweep),
}

/// The programs of the lab.
#[derive(Args, Debug)]
pub(crate) struct LabPrograms {
    /// Take workloads of `pendula bench` with their inputs, too: these, or `all`.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) suite: Vec<String>,
    /// Price by these technologies: names or TOML files [default: acmos22-fdsoi, cmos45, aqfp, landauer].
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) tech: Vec<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// The conditions of the runs.
    #[command(flatten)]
    pub(crate) given: Conditions,
}

/// Options of `lab try`.
#[derive(Args, Debug)]
pub(crate) struct LabTry {
    /// The programs.
    #[command(flatten)]
    pub(crate) sources: SourcesOf<OfLab>,
    #[command(flatten)]
    pub(crate) isa: IsaFiles,
    /// Which programs, and how they run.
    #[command(flatten)]
    pub(crate) programs: LabPrograms,
    /// Write each rewritten program into this folder, as assembly.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<String>,
}

/// Options of `lab discover`.
#[derive(Args, Debug)]
pub(crate) struct LabDiscover {
    /// The programs.
    #[command(flatten)]
    pub(crate) sources: SourcesOf<OfLab>,
    /// Which programs, and how they run.
    #[command(flatten)]
    pub(crate) programs: LabPrograms,
    /// The most registers that an instruction reads without changing them.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(0..=7))]
    pub(crate) inputs: u8,
    /// The most registers that an instruction changes.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=8))]
    pub(crate) outputs: u8,
    /// The most steps of an instruction.
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u8).range(2..=16))]
    pub(crate) steps: u8,
    /// How many instructions to find.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=50))]
    pub(crate) count: u8,
    /// What an instruction should save; energy is that of the first technology at the plug.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Saves::Energy)]
    pub(crate) by: Saves,
    /// Where the definitions go [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<String>,
}

/// Options of `lab sweep`.
#[derive(Args, Debug)]
pub(crate) struct LabSweep {
    /// The programs.
    #[command(flatten)]
    pub(crate) sources: SourcesOf<OfLab>,
    #[command(flatten)]
    pub(crate) isa: IsaFiles,
    /// Which programs, and how they run.
    #[command(flatten)]
    pub(crate) programs: LabPrograms,
    /// What varies, from where to where, and at how many points: `frequency=1e5..1e9:9`, `voltage=0.4..1:7`, `width=16..64:4`, `frac=8..32:4`.
    #[arg(long, value_name = "RANGE")]
    pub(crate) over: String,
    /// Print comma-separated values.
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Write a plot to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<String>,
}

/// What an instruction saves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Saves {
    /// Energy.
    Energy,
    /// Cycles of the first technology's clock; instructions, if it has none.
    Cycles,
    /// Instructions of the program as it is stored.
    Size,
}
