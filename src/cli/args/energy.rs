//! Options of `energy`.

use clap::{Args, ValueEnum};

use super::{Conditions, Options, Source};

/// Options of `energy`.
#[derive(Args, Debug)]
pub(crate) struct Energy {
    /// `.rasm` files, assembled objects, `.nil`, `.ja` (`.janus`) or `.pisa` (`.pal`) files; `-` is standard input.
    #[arg(value_name = "FILE", required_unless_present = "list_tech")]
    pub(crate) files: Vec<String>,
    /// Technologies: names (see --list-tech) or TOML files [default: landauer,cmos45,acmos22-fdsoi,aqfp].
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) tech: Vec<String>,
    /// List the technologies that ship with Pendula, with every figure, its range, how it is known, and its source; with --tech, these only.
    #[arg(long)]
    pub(crate) list_tech: bool,
    /// Cycles of the clock per second [default: for each technology, where it costs least].
    #[arg(long, value_name = "HZ", allow_negative_numbers = true)]
    pub(crate) frequency: Option<f64>,
    /// Supply voltage of adiabatic technologies.
    #[arg(long, value_name = "V", allow_negative_numbers = true)]
    pub(crate) voltage: Option<f64>,
    /// Temperature in kelvin, where a technology says how it depends on it.
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    pub(crate) temperature: Option<f64>,
    /// What becomes of words that the run leaves neither zero nor as they were.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = End::Erase, conflicts_with_all = ["grad", "round_trip"])]
    pub(crate) end: End,
    /// Price the run back to the start, too: the same as --end return.
    #[arg(long, conflicts_with = "grad")]
    pub(crate) round_trip: bool,
    /// Words of memory that are billed [default: the next power of two of the words that the program touches].
    #[arg(long, value_name = "WORDS", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub(crate) billed_memory: Option<u64>,
    /// Compare the technologies with this one at its throughput, by independent copies of the program, with its link.
    #[arg(long, value_name = "TECH", conflicts_with_all = ["csv", "folded", "sweep"])]
    pub(crate) against: Option<String>,
    /// Print the figures that change the costs most, with the costs at both ends of their ranges.
    #[arg(long, conflicts_with_all = ["csv", "folded"])]
    pub(crate) tornado: bool,
    /// Price a gradient: run forward, copy the results, run backward with gradients, copy the gradients.
    #[arg(long)]
    pub(crate) grad: bool,
    /// With --grad: the number to differentiate.
    #[arg(long, value_name = "NAME", requires = "grad")]
    pub(crate) loss: Option<String>,
    /// With --grad: the inputs to differentiate with respect to.
    #[arg(long, value_name = "NAMES", requires = "grad")]
    pub(crate) wrt: Vec<String>,
    /// Break the costs down by these [default: all for one technology, phase for several].
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) by: Vec<Breakdown>,
    /// Print the costs over a range: `frequency=1e5..1e9:41`, `voltage=0.4..1:13`.
    #[arg(long, value_name = "RANGE")]
    pub(crate) sweep: Option<String>,
    /// Treat the program as one of this many steps, and compare ways to run them reversibly.
    #[arg(long, value_name = "STEPS", num_args = 0..=1, default_missing_value = "256", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    pub(crate) schedule: Option<u64>,
    /// Print every item of the costs as comma-separated values.
    #[arg(long, conflicts_with_all = ["json", "folded", "by", "sweep", "schedule"])]
    pub(crate) csv: bool,
    /// Print folded stacks in attojoules, for flame graphs (one technology only).
    #[arg(long, conflicts_with_all = ["json", "by", "sweep", "schedule"])]
    pub(crate) folded: bool,
    /// Write plots into this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) svg: Option<String>,
    /// Write tables for Accelergy into this folder (one technology only).
    #[arg(long, value_name = "DIR")]
    pub(crate) accelergy: Option<String>,
    /// Write everything that the bills are computed from into this file, as JSON: figures, counts, netlists.
    #[arg(long, value_name = "FILE")]
    pub(crate) netlists: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Words for the input tape, which `read` takes: `1,2,3` or `@file`.
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) input: Option<String>,
    /// The conditions of the run.
    #[command(flatten)]
    pub(crate) given: Conditions,
    /// How the programs are read.
    #[command(flatten)]
    pub(crate) options: Options,
}

impl Energy {
    /// The programs, each with the options for reading it.
    pub(crate) fn each(&self) -> impl Iterator<Item = Source> {
        // What is chosen for the costs of a technology is chosen for that which is priced.
        let mut options = self.options.clone();
        if let ([tech], None) = (&self.tech[..], &options.compiler.auto_tech) {
            options.compiler.auto_tech = Some(tech.clone());
        }
        self.files.iter().map(move |file| Source { file: file.clone(), options: options.clone() })
    }
}

/// What becomes of words that a run leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum End {
    /// They are erased.
    Erase,
    /// The program runs back to its start.
    Return,
    /// They are kept, and only counted.
    Keep,
}

/// What costs are broken down by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Breakdown {
    /// Phase: forward, copies, backward, end.
    Phase,
    /// Cause: ramps, switching, leakage, clock, link, erasure.
    Cause,
    /// Kind of circuit, fetching, registers, traffic.
    Class,
    /// Procedure.
    Function,
    /// Source line; only those that cost most are listed.
    Line,
    /// Routine that is undone: the cost of uncomputing it, and of erasing instead.
    Routine,
}
