//! Options of `prove`.

use clap::{Args, ValueEnum};
use pendula_prove::Claim;
use pendula_prove::solver::Solver;

use crate::cli::definitions::IsaFiles;

/// Options of `prove`.
#[derive(Args, Debug)]
pub(crate) struct Prove {
    /// Instructions, of which each stands for its partner, too [default: all, or those of --isa].
    #[arg(value_name = "MNEMONIC")]
    pub(crate) mnemonic: Vec<String>,
    #[command(flatten)]
    pub(crate) isa: IsaFiles,
    /// What is proved (repeatable).
    #[arg(long, value_enum, value_name = "CLAIM", default_value = "undone")]
    pub(crate) claim: Vec<ClaimName>,
    /// Bits of a word, 8 to 64.
    #[arg(long, value_name = "BITS", default_value_t = 64, value_parser = clap::value_parser!(u32).range(8..=64))]
    pub(crate) width: u32,
    /// Ask this solver (repeatable: each is asked what those before it have not decided) [default: those that are installed].
    #[arg(long, value_enum, value_name = "SOLVER")]
    pub(crate) solver: Vec<SolverName>,
    /// How long a solver may take for a claim.
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) timeout: u64,
    /// Write what the solvers are asked to files in this folder, one for each claim, in SMT-LIB.
    #[arg(long, value_name = "DIR")]
    pub(crate) smt2: Option<String>,
    /// Print the table of the book, in Markdown.
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is proved of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClaimName {
    /// The inverse undoes it, and it undoes its inverse; where one does not trap, the other does not. So are steps of control.
    Undone,
    /// Its circuit does what it does, signals where it traps, and leaves its ancillas clear.
    Circuit,
}

impl ClaimName {
    pub(crate) fn claim(self) -> Claim {
        match self {
            ClaimName::Undone => Claim::Undone,
            ClaimName::Circuit => Claim::Circuit,
        }
    }
}

/// A solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SolverName {
    /// Z3.
    Z3,
    /// cvc5.
    Cvc5,
    /// Bitwuzla.
    Bitwuzla,
}

impl SolverName {
    pub(crate) fn solver(self) -> Solver {
        match self {
            SolverName::Z3 => Solver::Z3,
            SolverName::Cvc5 => Solver::Cvc5,
            SolverName::Bitwuzla => Solver::Bitwuzla,
        }
    }
}
