//! Options of `circuit`.

use clap::{Args, ValueEnum};

use crate::cli::definitions::IsaFiles;

use pendula::hw_model::circuit;
use pendula::hw_model::mapping::Mapping;
use pendula::isa::circuit::Adder;

/// Options of `circuit`.
#[derive(Args, Debug)]
pub(crate) struct Circuit {
    /// An instruction: `add`, `addmul.q`, `jmp.ne`.
    #[arg(value_name = "MNEMONIC")]
    pub(crate) mnemonic: String,
    #[command(flatten)]
    pub(crate) isa: IsaFiles,
    /// Bits of a word, 2 to 64.
    #[arg(long, value_name = "BITS", default_value_t = 64)]
    pub(crate) width: usize,
    /// Fraction bits of fixed-point numbers [default: half of the word].
    #[arg(long, value_name = "BITS")]
    pub(crate) frac: Option<usize>,
    /// Words of memory, for an instruction that accesses it.
    #[arg(long, value_name = "WORDS", default_value_t = 8, value_parser = words)]
    pub(crate) memory: usize,
    /// Which way the circuit goes. With `both`, an input `backward` decides.
    #[arg(long, value_enum, value_name = "WAY", default_value_t = Direction::Forward)]
    pub(crate) direction: Direction,
    /// How words are added.
    #[arg(long, value_enum, value_name = "ADDER", default_value_t = AdderName::Ripple)]
    pub(crate) adder: AdderName,
    /// Which circuit of a function [default: the one with the fewest Toffoli gates].
    #[arg(long, value_enum, value_name = "ALGORITHM")]
    pub(crate) algorithm: Option<Algorithm>,
    /// What the netlist is built of.
    #[arg(long, value_enum, value_name = "MAPPING", default_value_t = Build::Reversible)]
    pub(crate) mapping: Build,
    /// Write the netlist in this format.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// With --format qasm: OpenQASM 2.0 instead of 3.
    #[arg(long)]
    pub(crate) qasm2: bool,
    /// With --format verilog: add a testbench that checks the netlist with vectors of the instruction's kernels.
    #[arg(long)]
    pub(crate) testbench: bool,
    /// Print what the circuit takes: gates, depths, T gates, and cells of each mapping [default without --format and --verify].
    #[arg(long)]
    pub(crate) stats: bool,
    /// Run the circuit beside the instruction: all states up to 2^22, else a million random ones.
    #[arg(long)]
    pub(crate) verify: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Where the netlist goes [default: standard output].
    #[arg(short, long, value_name = "FILE", requires = "format")]
    pub(crate) output: Option<String>,
}

/// The most words of memory that are laid out.
const MEMORY: usize = 4096;

fn words(text: &str) -> Result<usize, String> {
    let count: usize = text.parse().map_err(|_| "a number of words is expected".to_string())?;
    if (1..=MEMORY).contains(&count) { Ok(count) } else { Err(format!("1 to {MEMORY} words can be laid out")) }
}

/// Which way a circuit goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Direction {
    /// It does what the instruction does.
    Forward,
    /// It undoes it.
    Backward,
    /// It does or undoes it, as an input says.
    Both,
}

/// How words are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AdderName {
    /// The carry goes from place to place: the fewest gates.
    Ripple,
    /// Carries by a tree, as Draper et al. have it: few levels.
    Lookahead,
    /// The tree of Brent and Kung, with a wire for each node.
    BrentKung,
    /// The graph of Kogge and Stone: the fewest levels.
    KoggeStone,
}

impl AdderName {
    /// The adder.
    pub(crate) const fn adder(self) -> Adder {
        match self {
            AdderName::Ripple => Adder::Ripple,
            AdderName::Lookahead => Adder::Lookahead,
            AdderName::BrentKung => Adder::BrentKung,
            AdderName::KoggeStone => Adder::KoggeStone,
        }
    }
}

/// Which circuit of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Algorithm {
    /// That of the function's operations and kernels.
    Machine,
    /// A table of all values, for a function of one word of at most 12 bits.
    Table,
}

impl Algorithm {
    /// The algorithm.
    pub(crate) const fn algorithm(self) -> circuit::Algorithm {
        match self {
            Algorithm::Machine => circuit::Algorithm::Machine,
            Algorithm::Table => circuit::Algorithm::Table,
        }
    }
}

/// What a netlist is built of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Build {
    /// Reversible gates.
    Reversible,
    /// Conventional logic, without the way back.
    Cascade,
    /// The same with buffers, so that all ways are equally long.
    Balanced,
    /// Majority cells, buffers and splitters of quantum-flux parametrons.
    Aqfp,
    /// Reversible gates by the levels of reversible quantum-flux parametrons.
    Rqfp,
}

impl Build {
    /// The mapping.
    pub(crate) const fn mapping(self) -> Mapping {
        match self {
            Build::Reversible => Mapping::Reversible,
            Build::Cascade => Mapping::Cascade,
            Build::Balanced => Mapping::Balanced,
            Build::Aqfp => Mapping::Aqfp,
            Build::Rqfp => Mapping::Rqfp,
        }
    }
}

/// A format of netlists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Verilog.
    Verilog,
    /// BLIF, for ABC.
    Blif,
    /// OpenQASM 3.
    Qasm,
    /// RevLib's format.
    Real,
    /// A graph, for Graphviz.
    Dot,
    /// JSON: registers, gates or cells with their levels, and what they are charged for.
    Json,
    /// A circuit diagram.
    Svg,
}
