//! The types of the command line. They have no behaviour; that of each subcommand is in `cmd`.

mod bench;
pub(crate) mod chrome_trace;
mod conditions;
mod energy;
mod examples;
mod numbers;
mod source;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::memory::parse_size;
use numbers::{cells, count, size};

pub(crate) use bench::{Bench, BenchChild};
pub(crate) use conditions::{Conditions, Engine, Switch, TrapOn};
pub(crate) use energy::{Breakdown, Energy};
pub(crate) use source::{
    Alias, Limit, OfAssembly, OfChecked, OfCompiled, OfInverted, OfNumbers, Options, Reading, Source, SourceOf,
    SourcesOf, Uncompute,
};

/// Headings of the help.
const GENERAL: &str = "General";
const RUNNING: &str = "How it runs";
const MANY: &str = "Many inputs";

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
    /// Log more: -v information, -vv debugging, with the times of what was done (also RUST_LOG).
    #[arg(short, long, help_heading = GENERAL, action = clap::ArgAction::Count, global = true)]
    pub(crate) verbose: u8,
    /// When to colour diagnostics; NO_COLOR is respected.
    #[arg(
        long,
        help_heading = GENERAL,
        value_enum,
        default_value_t = Colour::Auto,
        global = true,
        value_name = "WHEN"
    )]
    pub(crate) color: Colour,
    /// Write what was done and when as a file of Chrome trace events, for Perfetto or chrome://tracing.
    #[arg(long, help_heading = GENERAL, global = true, value_name = "FILE")]
    pub(crate) trace_json: Option<String>,
    /// End with an error when the process takes more memory: 512M, 4G [default: half of what the host has].
    #[arg(long, help_heading = GENERAL, value_parser = parse_size, global = true, value_name = "SIZE")]
    pub(crate) memory_limit: Option<u64>,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal.
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
    Grad(Grad),
    /// Run a program and tell what it would cost in energy.
    #[command(after_help = examples::ENERGY)]
    Energy(Box<Energy>),
    /// Run a program and tell how much of it is uncomputing.
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
    /// Tell what is wrong with a program without running it.
    #[command(after_help = examples::CHECK)]
    Check(Check),
    /// Write the inverse program.
    #[command(after_help = examples::INVERT)]
    Invert(Invert),
    /// Translate a program in PISA into native assembly.
    #[command(after_help = examples::IMPORT)]
    Import(Import),
    /// Lay out a source file canonically.
    #[command(after_help = examples::FMT)]
    Fmt(Fmt),
    /// Explain an error by its code.
    #[command(after_help = examples::EXPLAIN)]
    Explain(Explain),
    /// Show the instruction set, from the table that defines it.
    #[command(after_help = examples::ISA)]
    Isa(Isa),
    /// Time the workloads beside the same in C, and check their results.
    #[command(after_help = examples::BENCH)]
    Bench(Bench),
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
    /// The first axis of a `.npy` file, or the rows of a `.csv` file, are the items. NAME is what an item is the value of: an argument of a program in Nil,
    /// or what --set sets. Without it, items go where --args has a `_`, else to the first argument or the first imported data symbol; of several numbers,
    /// each takes one column. A `.csv` file may name its columns.
    #[arg(long, help_heading = MANY, value_name = "[NAME=]FILE")]
    pub(crate) batch: Vec<String>,
    /// Write a result as `.npy`, or results as `.csv`, instead of printing it (repeatable).
    ///
    /// Of many inputs, a `.npy` file has the items along its first axis; a `.csv` file may hold several results. `-` is standard output.
    #[arg(short = 'o', long, value_name = "[NAME=]FILE")]
    pub(crate) save: Vec<String>,
    /// How many items run at a time [default: one on each core].
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
    /// A register's number is an integer unless a suffix says otherwise: `.q`, `.l` or `.f`.
    #[arg(long, value_name = "NAMES")]
    pub(crate) show: Vec<String>,
    /// Print how many instructions and cycles the run took, and what it lost.
    #[arg(long)]
    pub(crate) stats: bool,
    /// Print what runs and what that changes, to standard error.
    ///
    /// Of programs in Nil and Janus that is each line of the source; of others, and with `asm`, each instruction.
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
    /// How many words of the input tape are read already: all of them with --reverse, else none.
    #[arg(long, value_name = "N", requires = "input")]
    pub(crate) read: Option<usize>,
    /// With --reverse: the words that the forward run emitted, in order: `1,2,3` or `@file`.
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) output: Option<String>,
    /// With --round-trip: tell what differs and by how much.
    ///
    /// A copy of the state is kept, and the rests of rounding that `zero.f` cleared are summed up. Floating-point numbers that are added and taken away
    /// again may leave such rests.
    #[arg(long, requires = "round_trip")]
    pub(crate) drift: bool,
    /// With --round-trip: keep the gradient words that `zero` drops, and bring them back.
    ///
    /// That is for programs that run parts of themselves at a gradient level.
    #[arg(long, requires = "round_trip")]
    pub(crate) keep_dropped: bool,
    /// With --stats: the technology file that gives the latencies.
    #[arg(long, value_name = "FILE", requires = "stats")]
    pub(crate) tech: Option<String>,
    /// The circumstances.
    #[command(flatten)]
    pub(crate) given: Conditions,
    /// Many inputs.
    #[command(flatten)]
    pub(crate) many: Batch,
    /// The program.
    #[command(flatten)]
    pub(crate) source: Source,
    /// Print what `SHOW` shows as plain numbers.
    ///
    /// Programs from before 2001 have no headers that say how a number is to be shown.
    #[arg(long, help_heading = "Programs in PISA")]
    pub(crate) show_raw: bool,
}

/// What a run is traced by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Trace {
    /// What was written: lines of Nil and Janus, instructions of assembly.
    Source,
    /// Instructions, whatever they were made of.
    Asm,
}

/// Options of `grad`.
#[derive(Args, Debug)]
pub(crate) struct Grad {
    /// The numbers with respect to which to differentiate: `a,b[2],r3.f` [default: all imported numbers].
    #[arg(long, value_name = "NAMES")]
    pub(crate) wrt: Vec<String>,
    /// The number to differentiate [default: the only exported number].
    ///
    /// It is a data symbol, an element (`y[2]`), or a register with its type (`r3.q`).
    #[arg(long, value_name = "NAME")]
    pub(crate) loss: Option<String>,
    /// Compare with dual numbers and finite differences; fail if they disagree.
    ///
    /// Second derivatives are compared with those of reversing twice. A gradient word that overflows is a failure, too.
    #[arg(long)]
    pub(crate) check: bool,
    /// Compute second derivatives, too.
    #[arg(long)]
    pub(crate) hessian: bool,
    /// Compute the gradient of every element of the loss, which may then be an array.
    #[arg(long, conflicts_with = "hessian")]
    pub(crate) jacobian: bool,
    /// Multiply all derivatives by this number, which is read as the loss is [default: 1].
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub(crate) seed: Option<String>,
    /// Print how many instructions and cycles the runs took, and what they lost.
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
    /// Tell what the run there and back left different, and by how much.
    ///
    /// The rests of rounding that `zero.f` cleared are summed up, too.
    #[arg(long)]
    pub(crate) drift: bool,
    /// Keep the gradient words that `zero` drops, and fail unless everything comes back.
    ///
    /// The program is run forward again with gradients. Of a program that computes with floating-point numbers everything comes back but for rounding.
    #[arg(long)]
    pub(crate) keep_dropped: bool,
    /// The circumstances.
    #[command(flatten)]
    pub(crate) given: Conditions,
    /// Many inputs.
    #[command(flatten)]
    pub(crate) many: Batch,
    /// The program.
    #[command(flatten)]
    pub(crate) source: SourceOf<OfNumbers>,
}

/// Options of `level`.
#[derive(Args, Debug)]
pub(crate) struct Level {
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Words for the input tape, which `read` takes: `1,2,3` or `@file`.
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) input: Option<String>,
    /// The circumstances.
    #[command(flatten)]
    pub(crate) given: Conditions,
    /// The programs.
    #[command(flatten)]
    pub(crate) sources: SourcesOf<Options>,
}

/// Options of `import`.
#[derive(Args, Debug)]
pub(crate) struct Import {
    /// A `.pisa` or `.pal` file; `-` reads from standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// Where to write the assembly; to standard output if left out.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<String>,
    /// How many cells there are from address 0 on, those of the program included.
    #[arg(long, value_name = "N", default_value_t = 1 << 16, value_parser = cells)]
    pub(crate) cells: u32,
    /// How many cells there are before address 0, from 0xFFFFFFFF down.
    #[arg(long, value_name = "N", default_value_t = 1 << 16, value_parser = cells)]
    pub(crate) below: u32,
    /// How much is read.
    #[command(flatten)]
    pub(crate) limit: Limit,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// What concerns PISA.
    #[command(flatten)]
    pub(crate) pisa: Reading,
}

/// Options of `asm`.
#[derive(Args, Debug)]
pub(crate) struct Asm {
    /// Where to write the object, `-` for standard output; the source's name with `.o` if left out.
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
    /// Where to write it [default: standard output; an object to the source's name with `.o`].
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
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
}

/// Options of `disasm`.
#[derive(Args, Debug)]
pub(crate) struct Disasm {
    /// Where to write the text; standard output if left out.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<String>,
    /// Print addresses and words beside the text.
    #[arg(long)]
    pub(crate) listing: bool,
    /// Write a program of the profile `pisa` as PISA, which PendVM reads.
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
    /// Where to write the text; standard output if left out.
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
    /// Change nothing; fail if a file is not laid out canonically.
    #[arg(long)]
    pub(crate) check: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `explain`.
#[derive(Args, Debug)]
pub(crate) struct Explain {
    /// The code, such as `P0107`; without one, list all.
    #[arg(value_name = "CODE")]
    pub(crate) code: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `isa`.
#[derive(Args, Debug)]
pub(crate) struct Isa {
    /// Show one instruction, by its mnemonic, or look for words in names and documentation.
    #[arg(value_name = "MNEMONIC")]
    pub(crate) mnemonic: Vec<String>,
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
