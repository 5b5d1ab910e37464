//! The types of the command line. They have no behaviour; that of each subcommand is in `commands`.

mod bench;
mod cache;
mod circuit;
mod conditions;
mod dap;
mod debug;
mod energy;
mod examples;
mod functional;
mod grad;
mod lab;
mod level;
mod numbers;
mod prove;
mod source;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::cli::memory::parse_size;
use numbers::{cells, count, size};

pub(crate) use bench::{Bench, BenchChild};
pub(crate) use cache::{Cache, CacheAction};
pub(crate) use circuit::{
    Algorithm as CircuitAlgorithm, Circuit, Direction as CircuitDirection, Format as CircuitFormat,
};
pub(crate) use conditions::{Conditions, Engine, Switch, TrapOn};
pub(crate) use dap::Dap;
pub(crate) use debug::Debug;
pub(crate) use energy::{Breakdown, End, Energy};
pub(crate) use functional::{Method, Stage};
pub(crate) use grad::{Grad, Hessian};
pub(crate) use lab::{Lab, LabCommand, LabDiscover, LabPrograms, LabSweep, LabTry, Saves};
pub(crate) use level::Level;
pub(crate) use prove::{ClaimName, Prove};
pub(crate) use source::{
    Alias, Limit, OfAssembly, OfChecked, OfCompiled, OfInverted, OfNumbers, Options, Reading, Source, SourceOf,
    SourcesOf, Strictness, Uncompute,
};

/// Headings of the help.
const GENERAL: &str = "General";
const RUNNING: &str = "How it runs";
const MANY: &str = "Many inputs";
const FUNCTIONAL: &str = "Functional programs";

/// A reversible virtual machine and assembler toolchain.
#[derive(Parser, Debug)]
#[command(
    name = "pendula",
    version,
    about,
    max_term_width = 80,
    after_help = examples::ALL,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Log more: -v for information, -vv for debugging, both with durations (see also RUST_LOG).
    #[arg(short, long, help_heading = GENERAL, action = clap::ArgAction::Count, global = true)]
    pub(crate) verbose: u8,
    /// When to colour diagnostics. The environment variable NO_COLOR is respected.
    #[arg(
        long,
        help_heading = GENERAL,
        value_enum,
        default_value_t = Colour::Auto,
        global = true,
        value_name = "WHEN"
    )]
    pub(crate) color: Colour,
    /// Write a timeline of this command as Chrome trace events, for Perfetto or chrome://tracing.
    #[arg(long, help_heading = GENERAL, global = true, value_name = "FILE")]
    pub(crate) trace_json: Option<String>,
    /// Fail when the process uses more memory than this: 512M, 4G [default: half of the host's memory].
    #[arg(long, help_heading = GENERAL, value_parser = parse_size, global = true, value_name = "SIZE")]
    pub(crate) memory_limit: Option<u64>,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// If the output goes to a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Run a program, forward or backward.
    #[command(after_help = examples::RUN)]
    Run(Run),
    /// Differentiate a program: run it forward, then backward with gradients.
    #[command(after_help = examples::GRAD)]
    Grad(Box<Grad>),
    /// Go through a run, forward and backward, and look at it.
    #[command(after_help = examples::DEBUG)]
    Debug(Box<Debug>),
    /// Let an editor go through runs, by the Debug Adapter Protocol.
    #[command(after_help = examples::DAP)]
    Dap(Dap),
    /// Run a program and estimate its energy cost.
    #[command(after_help = examples::ENERGY)]
    Energy(Box<Energy>),
    /// Run a program and measure how much of it is uncomputing.
    #[command(after_help = examples::LEVEL)]
    Level(Level),
    /// Assemble a program into an object.
    #[command(after_help = examples::ASM)]
    Asm(Asm),
    /// Show an object as assembly.
    #[command(after_help = examples::DISASM)]
    Disasm(Disasm),
    /// Compile a program in Nil or Janus.
    #[command(after_help = examples::COMPILE)]
    Compile(Compile),
    /// Check a program for errors without running it.
    #[command(after_help = examples::CHECK)]
    Check(Check),
    /// Write the inverse program.
    #[command(after_help = examples::INVERT)]
    Invert(Invert),
    /// Translate a program in PISA into native assembly.
    #[command(after_help = examples::IMPORT)]
    Import(Import),
    /// Format source files.
    #[command(after_help = examples::FMT)]
    Fmt(Fmt),
    /// Explain an error by its code.
    #[command(after_help = examples::EXPLAIN)]
    Explain(Explain),
    /// Show the instruction set.
    #[command(after_help = examples::ISA)]
    Isa(Isa),
    /// Show the circuit of an instruction: what it takes, its netlist, and whether it is right.
    #[command(after_help = examples::CIRCUIT)]
    Circuit(Circuit),
    /// Prove that instructions are undone by their inverses, with an SMT solver.
    #[command(after_help = examples::PROVE)]
    Prove(Prove),
    /// Invent instructions: try definitions on programs, or have some proposed.
    #[command(after_help = examples::LAB)]
    Lab(Lab),
    /// Time the workloads against the same programs in C, and check their results.
    #[command(after_help = examples::BENCH)]
    Bench(Bench),
    /// Show or clear the cache of compiled code.
    #[command(after_help = examples::CACHE)]
    Cache(Cache),
    /// Write a completion script for a shell.
    #[command(after_help = examples::COMPLETIONS)]
    Completions(Completions),
    /// Write the manual page.
    #[command(after_help = examples::MAN)]
    Man(Man),
}

/// Options of runs over many inputs, and where results go.
#[derive(Args, Debug)]
pub(crate) struct Batch {
    /// Run once for each item of an array file, `.npy` or `.csv`, on all cores (repeatable).
    ///
    /// The items are the slices of a `.npy` file along its first axis, or the rows of a `.csv` file. NAME is the input that an item sets: an argument of a
    /// program in Nil, or anything that --set can set. Without NAME, items set the argument for which --args has a `_`, else the first argument, or in
    /// assembly the imported data symbols: if these are several numbers, each takes one column. A `.csv` file may name its columns.
    #[arg(long, help_heading = MANY, value_name = "[NAME=]FILE")]
    pub(crate) batch: Vec<String>,
    /// Write one result as `.npy`, or several as `.csv`, instead of printing them (repeatable).
    ///
    /// With --batch, the first axis of a `.npy` file counts the items. `-` is standard output, for `.csv` only.
    #[arg(short = 'o', long, value_name = "[NAME=]FILE")]
    pub(crate) save: Vec<String>,
    /// How many items run at the same time [default: one per core].
    #[arg(short, long, help_heading = MANY, value_name = "N", requires = "batch")]
    pub(crate) jobs: Option<std::num::NonZeroUsize>,
}

/// Options of `run`.
#[derive(Args, Debug)]
pub(crate) struct Run {
    /// Run backward, from `finish` to `start`.
    #[arg(long, conflicts_with = "round_trip")]
    pub(crate) reverse: bool,
    /// Run forward and back; fail unless the state is restored bit for bit.
    #[arg(long)]
    pub(crate) round_trip: bool,
    /// Print these instead of the exported data and the changed registers: `a,b[2],r3,r4.q`.
    ///
    /// A register is read as an integer unless a suffix gives another type: `.q`, `.l` or `.f`.
    #[arg(long, value_name = "NAMES")]
    pub(crate) show: Vec<String>,
    /// Print how many instructions and cycles the run took, and how many bits it lost.
    #[arg(long)]
    pub(crate) stats: bool,
    /// Print each step of the run and what it changes, to standard error.
    ///
    /// In programs in Nil and Janus, a step is a line of the source. In other programs, and with `asm`, it is an instruction.
    #[arg(
        long,
        value_enum,
        value_name = "source|asm",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "source",
        conflicts_with = "batch"
    )]
    pub(crate) trace: Option<Trace>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print raw words in hexadecimal.
    #[arg(long)]
    pub(crate) hex: bool,
    /// Words for the input tape, which `read` takes: `1,2,3` or `@file`.
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) input: Option<String>,
    /// How many words of the input tape count as read [default: all with --reverse, else none].
    #[arg(long, value_name = "N", requires = "input")]
    pub(crate) read: Option<usize>,
    /// With --reverse: the words that the forward run emitted, in order: `1,2,3` or `@file`.
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) output: Option<String>,
    /// With --round-trip: report which words differ, and by how much.
    ///
    /// This keeps a copy of the state, and adds up the rounding errors that `zero.f` cleared. Adding a floating-point number and subtracting it again may
    /// leave such an error.
    #[arg(long, requires = "round_trip")]
    pub(crate) drift: bool,
    /// With --round-trip: keep the gradient words that `zero` drops, and restore them.
    ///
    /// This is for programs that run parts of themselves with gradients.
    #[arg(long, requires = "round_trip")]
    pub(crate) keep_dropped: bool,
    /// With --stats: the technology that gives the cycles: a name (see `energy --list-tech`) or a TOML file.
    #[arg(long, value_name = "NAME", requires = "stats")]
    pub(crate) tech: Option<String>,
    /// Go back and look where the program stops at a trap: continue as `debug` does at the end of the run.
    #[arg(long, conflicts_with_all = ["batch", "expect", "json"])]
    pub(crate) debug_on_trap: bool,
    /// The conditions of the run.
    #[command(flatten)]
    pub(crate) given: Conditions,
    /// Many inputs.
    #[command(flatten)]
    pub(crate) many: Batch,
    /// The program.
    #[command(flatten)]
    pub(crate) source: Source,
    /// Print each word that `SHOW` shows as a plain number.
    ///
    /// This is for programs from before 2001, which have no headers that say how to print a number.
    #[arg(long, help_heading = "Programs in PISA")]
    pub(crate) show_raw: bool,
    /// Check the values that comments expect, `===>` in VLAD, `-- ==` in Futhark, and the tests of a file in Julia.
    ///
    /// It takes several files, counts what is as expected, and fails if anything is not. Numbers agree if they differ by at most 1e-9 of the expected one
    /// or 1e-10, in Futhark by at most 1e-5 of it or, where it has 4 to 12 decimals, by one in the last. In Julia, these are `@test` and
    /// `@test_throws` of what reversible functions give; what cannot be evaluated without Julia is counted, and `-v` lists it.
    #[arg(long, visible_alias = "expect-julia", help_heading = FUNCTIONAL)]
    pub(crate) expect: bool,
    /// More programs, with --expect.
    #[arg(value_name = "FILES", requires = "expect")]
    pub(crate) others: Vec<String>,
}

/// What a run is traced by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Trace {
    /// The lines of a program in Nil or Janus; otherwise, the instructions.
    Source,
    /// Instructions, also of a program in Nil or Janus.
    Asm,
}

/// Options of `import`.
#[derive(Args, Debug)]
pub(crate) struct Import {
    /// A `.pisa` or `.pal` file; `-` reads from standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// Where to write the assembly [default: standard output].
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<String>,
    /// The number of cells from address 0 up, including those of the program.
    #[arg(long, value_name = "N", default_value_t = 1 << 16, value_parser = cells)]
    pub(crate) cells: u32,
    /// The number of cells below address 0, from 0xFFFFFFFF down.
    #[arg(long, value_name = "N", default_value_t = 1 << 16, value_parser = cells)]
    pub(crate) below: u32,
    /// The limit on the size of sources.
    #[command(flatten)]
    pub(crate) limit: Limit,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// The options for PISA.
    #[command(flatten)]
    pub(crate) pisa: Reading,
    /// What is refused.
    #[command(flatten)]
    pub(crate) strictness: Strictness,
}

/// Options of `asm`.
#[derive(Args, Debug)]
pub(crate) struct Asm {
    /// Where to write the object; `-` is standard output [default: the source's name with `.o`].
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<String>,
    /// Print addresses, words and source side by side; write no object unless -o is given.
    #[arg(long)]
    pub(crate) listing: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// The program.
    #[command(flatten)]
    pub(crate) source: SourceOf<OfAssembly>,
}

/// Options of `compile`.
#[derive(Args, Debug)]
pub(crate) struct Compile {
    /// What to write.
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub(crate) emit: Emit,
    /// Where to write it [default: standard output; for an object, the source's name with `.o`].
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// With --emit core: the function that --entry names as this stage of the ladder transforms it.
    #[arg(long, help_heading = FUNCTIONAL, value_enum, value_name = "STAGE")]
    pub(crate) stage: Option<Stage>,
    /// The program.
    #[command(flatten)]
    pub(crate) source: SourceOf<OfCompiled>,
}

/// What a compilation writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Emit {
    /// The syntax tree.
    Ast,
    /// The reversible intermediate representation.
    Ir,
    /// Assembly.
    #[default]
    Rasm,
    /// An object.
    Obj,
    /// C.
    C,
    /// The core of a functional program; with --stage, after that transformation.
    Core,
    /// The tape of a function of a functional program at --args.
    Tape,
}

/// Options of `disasm`.
#[derive(Args, Debug)]
pub(crate) struct Disasm {
    /// Where to write the text [default: standard output].
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<String>,
    /// Print addresses and words beside the text.
    #[arg(long)]
    pub(crate) listing: bool,
    /// Write a program of the profile `pisa` in PISA, so that PendVM can read it.
    #[arg(long, conflicts_with = "listing")]
    pub(crate) pisa: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// The program.
    #[command(flatten)]
    pub(crate) source: SourceOf<OfAssembly>,
}

/// Options of `check`.
#[derive(Args, Debug)]
pub(crate) struct Check {
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// The programs.
    #[command(flatten)]
    pub(crate) sources: SourcesOf<OfChecked>,
}

/// Options of `invert`.
#[derive(Args, Debug)]
pub(crate) struct Invert {
    /// Where to write the text [default: standard output].
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// The program.
    #[command(flatten)]
    pub(crate) source: SourceOf<OfInverted>,
}

/// Options of `fmt`.
#[derive(Args, Debug)]
pub(crate) struct Fmt {
    /// The source files; `-` is standard input.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
    /// Change the files instead of printing to standard output.
    #[arg(short, long, conflicts_with = "check")]
    pub(crate) write: bool,
    /// Change nothing; fail if a file is not formatted.
    #[arg(long)]
    pub(crate) check: bool,
    /// Write files of Julia (`.jl`) as programs in Nil that mean the same, without the host; with `--write`, each beside its file.
    #[arg(long, value_enum, value_name = "LANGUAGE", conflicts_with = "check")]
    pub(crate) to: Option<PlainLanguage>,
    /// With `--to`, a function that must be left out is an error.
    #[arg(long, requires = "to")]
    pub(crate) strict: bool,
    /// With `--to` and `--write`, replace files that exist and differ.
    #[arg(long, requires = "to", requires = "write")]
    pub(crate) force: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A language that needs no host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PlainLanguage {
    /// Nil, in `.nil` files.
    Nil,
}

/// Options of `explain`.
#[derive(Args, Debug)]
pub(crate) struct Explain {
    /// The code, such as `P0107`; without it, all codes are listed.
    #[arg(value_name = "CODE")]
    pub(crate) code: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `isa`.
#[derive(Args, Debug)]
pub(crate) struct Isa {
    /// A mnemonic, or words to search for in names and documentation.
    #[arg(value_name = "MNEMONIC")]
    pub(crate) mnemonic: Vec<String>,
    #[command(flatten)]
    pub(crate) isa: super::definitions::IsaFiles,
    /// Print the whole manual as Markdown.
    #[arg(long, conflicts_with_all = ["json", "mnemonic"])]
    pub(crate) markdown: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `completions`.
#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// Options of `man`.
#[derive(Args, Debug)]
pub(crate) struct Man {
    /// Write the pages of all subcommands into a folder instead of printing the main one.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) dir: Option<String>,
}
