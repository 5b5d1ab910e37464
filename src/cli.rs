//! The command line's types. No behaviour: each subcommand's is in `cmd`.

mod source;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::memory::parse_size;

pub(crate) use source::{Alias, Nil, Options, Reading, Source, Uncompute};

/// A reversible virtual machine and assembler toolchain.
#[derive(Parser, Debug)]
#[command(
    name = "pendula",
    version,
    about,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Log more: -v information, -vv debugging (also RUST_LOG).
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub(crate) verbose: u8,
    /// When to colour diagnostics; NO_COLOR is respected.
    #[arg(long, value_enum, default_value_t = Colour::Auto, global = true, value_name = "WHEN")]
    pub(crate) color: Colour,
    /// End with an error when the process takes more memory: 512M, 4G [default: half of what the host has].
    #[arg(long, value_parser = parse_size, global = true, value_name = "SIZE")]
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
    Run(Run),
    /// Differentiate a program: run it forward, then backward with gradients.
    Grad(Grad),
    /// Run a program and tell what it would cost in energy.
    Energy(Box<Energy>),
    /// Run a program and tell how much of it is uncomputing.
    Level(Level),
    /// Assemble a program into an object.
    Asm(Asm),
    /// Show an object as assembly.
    Disasm(Disasm),
    /// Compile a program in Nil or Janus.
    Compile(Compile),
    /// Tell what is wrong with a program without running it.
    Check(Check),
    /// Write the inverse program.
    Invert(Invert),
    /// Translate a program in PISA into native assembly.
    Import(Import),
    /// Lay out a source file canonically.
    Fmt(Fmt),
    /// Show the instruction set, from the table that defines it.
    Isa(Isa),
    /// Time the workloads beside the same in C, and check their results.
    Bench(Bench),
    /// Write a completion script for a shell.
    Completions(Completions),
    /// Write the manual page.
    Man(Man),
}

/// Options of runs over many inputs.
#[derive(Args, Debug)]
#[command(next_help_heading = "Many inputs")]
pub(crate) struct Batch {
    /// Run once for each item of an array file, `.npy` or `.csv`, on all cores (repeatable).
    #[arg(
        long,
        value_name = "[NAME=]FILE",
        long_help = "Run once for each item of an array file, on all cores (repeatable).\n\nThe first axis of a `.npy` file, or the rows of a `.csv` file, are the \
        items. NAME is what an item is the value of: an argument of a program in Nil, or what --set sets. Without it, items go where --args has a `_`, else to the first \
        argument or the first imported data symbol; of several numbers, each takes one column. A `.csv` file may name its columns."
    )]
    pub(crate) batch: Vec<String>,
    /// Write a result as `.npy`, of many inputs with the items along the first axis, or results as `.csv` (repeatable), `-` for standard output. What is saved
    /// is not printed, too.
    #[arg(short = 'o', long, value_name = "[NAME=]FILE")]
    pub(crate) save: Vec<String>,
    /// How many items run at a time [default: one on each core].
    #[arg(short, long, value_name = "N", requires = "batch")]
    pub(crate) jobs: Option<std::num::NonZeroUsize>,
}

/// Options of `run`.
#[derive(Args, Debug)]
pub(crate) struct Run {
    /// The program.
    #[command(flatten)]
    pub(crate) source: Source,
    /// The circumstances.
    #[command(flatten)]
    pub(crate) given: Conditions,
    /// Many inputs.
    #[command(flatten)]
    pub(crate) many: Batch,
    /// Run backward, from `finish` to `start`.
    #[arg(long, conflicts_with = "round_trip")]
    pub(crate) reverse: bool,
    /// Run forward and back; fail unless the state is restored bit for bit.
    #[arg(long)]
    pub(crate) round_trip: bool,
    /// With --round-trip: keep a copy of the state and tell what differs and by how much, and sum up the rests of rounding that
    /// `zero.f` cleared.
    #[arg(long, requires = "round_trip")]
    pub(crate) drift: bool,
    /// With --round-trip: keep the gradient words that `zero` drops at a gradient level, and bring them back.
    #[arg(long, requires = "round_trip")]
    pub(crate) keep_dropped: bool,
    /// Words for the input tape, which `read` takes: `1,2,3` or `@file`.
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) input: Option<String>,
    /// How many words of the input tape are read already: all of them with --reverse, else none.
    #[arg(long, value_name = "N", requires = "input")]
    pub(crate) read: Option<usize>,
    /// With --reverse: the words that the forward run emitted, in order: `1,2,3` or `@file`.
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) output: Option<String>,
    /// Print these instead of the exported data and the changed registers: `a,b[2],r3,r4.q`.
    #[arg(long, value_name = "NAMES")]
    pub(crate) show: Vec<String>,
    /// Print raw words in hexadecimal.
    #[arg(long)]
    pub(crate) hex: bool,
    /// Print how many instructions and cycles the run took, and what it lost.
    #[arg(long)]
    pub(crate) stats: bool,
    /// The technology file that gives the latencies for --stats.
    #[arg(long, value_name = "FILE", requires = "stats")]
    pub(crate) tech: Option<String>,
    /// Print what runs and what that changes, to standard error: of Nil and Janus each line of the source, else (and with `asm`) each instruction.
    #[arg(long, value_enum, value_name = "source|asm", num_args = 0..=1, require_equals = true, default_missing_value = "source", conflicts_with = "batch")]
    pub(crate) trace: Option<Trace>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a run is traced by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Trace {
    /// What was written: lines of Nil and Janus, instructions of assembly.
    Source,
    /// Instructions, whatever they were made of.
    Asm,
}

/// The circumstances of a run.
#[derive(Args, Debug)]
pub(crate) struct Conditions {
    /// Set a data symbol or a register first: a number, a list, or a file (repeatable).
    #[arg(
        long,
        value_name = "NAME=VALUE",
        long_help = "Set a data symbol or a register before the run (repeatable).\n\nVALUE is a number (`5`, `-0.25`, `0xff`, a raw word `0x…w`), a list (`[1,2,3]`), or a file (`@x.csv`, `@x.npy`). \
        NAME is a data symbol, an element (`a[3]`), or a register; a register's number is an integer unless a suffix says otherwise (`r3.q=1.5`)."
    )]
    pub(crate) set: Vec<String>,
    /// What runs the program.
    #[arg(long, value_enum, default_value_t = Engine::default())]
    pub(crate) engine: Engine,
    /// Whether `assert`, `zero`, `push`, `pop` and the landing places of jumps are verified.
    #[arg(long, value_enum, default_value_t = Switch::On, value_name = "on|off")]
    pub(crate) checks: Switch,
    /// Trap at events that otherwise only raise a flag (repeatable).
    #[arg(long, value_enum, value_name = "EVENT")]
    pub(crate) trap: Vec<TrapOn>,
    /// Let infinities and NaN of floating-point words through.
    #[arg(long)]
    pub(crate) ieee: bool,
    /// Stop with an error after this many instructions, forward and backward counted together.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) max_steps: Option<u64>,
    /// Memory size in words.
    #[arg(long, value_name = "WORDS", value_parser = count)]
    pub(crate) mem: Option<u64>,
}

/// Options of `grad`.
#[derive(Args, Debug)]
pub(crate) struct Grad {
    /// The program.
    #[command(flatten)]
    pub(crate) source: Source,
    /// The circumstances.
    #[command(flatten)]
    pub(crate) given: Conditions,
    /// Many inputs.
    #[command(flatten)]
    pub(crate) many: Batch,
    /// The number to differentiate: a data symbol, an element (`y[2]`) or a register with its type (`r3.q`) [default: the only exported number].
    #[arg(long, value_name = "NAME")]
    pub(crate) loss: Option<String>,
    /// The numbers with respect to which to differentiate: `a,b[2],r3.f` [default: all imported numbers].
    #[arg(long, value_name = "NAMES")]
    pub(crate) wrt: Vec<String>,
    /// Multiply all derivatives by this number, which is read as the loss is [default: 1].
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub(crate) seed: Option<String>,
    /// Compute second derivatives, too.
    #[arg(long)]
    pub(crate) hessian: bool,
    /// Compute the gradient of every element of the loss, which may then be an array.
    #[arg(long, conflicts_with = "hessian")]
    pub(crate) jacobian: bool,
    /// Compare with dual numbers and finite differences, and second derivatives with those of reversing twice; fail if they disagree,
    /// or if a gradient word overflows.
    #[arg(long)]
    pub(crate) check: bool,
    /// Keep the gradient words that `zero` drops, run forward again with gradients, and fail unless everything comes back; but for
    /// rounding, if the program computes with floating-point numbers.
    #[arg(long)]
    pub(crate) keep_dropped: bool,
    /// Tell what the run there and back left different, and by how much, and sum up the rests of rounding that `zero.f` cleared.
    #[arg(long)]
    pub(crate) drift: bool,
    /// Words for the input tape, which `read` takes: `1,2,3` or `@file`.
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) input: Option<String>,
    /// Print values and gradient words as raw words in hexadecimal.
    #[arg(long)]
    pub(crate) hex: bool,
    /// Print how many instructions and cycles the runs took, and what they lost.
    #[arg(long)]
    pub(crate) stats: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `energy`.
#[derive(Args, Debug)]
pub(crate) struct Energy {
    /// A `.rasm` file, an assembled object, a `.nil`, `.ja` (`.janus`) or `.pisa` (`.pal`) file; `-` reads assembly from standard input.
    #[arg(value_name = "FILE", required_unless_present = "list_tech")]
    pub(crate) file: Option<String>,
    /// How it is read.
    #[command(flatten)]
    pub(crate) options: Options,
    /// The circumstances.
    #[command(flatten)]
    pub(crate) given: Conditions,
    /// Words for the input tape, which `read` takes: `1,2,3` or `@file`.
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) input: Option<String>,
    /// Technologies: names (see --list-tech) or TOML files.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "landauer,cmos45,acmos22-fdsoi,aqfp")]
    pub(crate) tech: Vec<String>,
    /// List the technologies that ship with Pendula, with their sources.
    #[arg(long)]
    pub(crate) list_tech: bool,
    /// Operations a second; where each technology costs least if left out.
    #[arg(long, value_name = "HZ", allow_negative_numbers = true)]
    pub(crate) frequency: Option<f64>,
    /// Supply voltage of adiabatic technologies.
    #[arg(long, value_name = "V", allow_negative_numbers = true)]
    pub(crate) voltage: Option<f64>,
    /// Price the run back to the start, too.
    #[arg(long, conflicts_with = "grad")]
    pub(crate) round_trip: bool,
    /// Price a gradient: forward, results copied out, backward with gradients, gradients copied out.
    #[arg(long)]
    pub(crate) grad: bool,
    /// With --grad: what to differentiate.
    #[arg(long, value_name = "NAME", requires = "grad")]
    pub(crate) loss: Option<String>,
    /// With --grad: with respect to what.
    #[arg(long, value_name = "NAMES", requires = "grad")]
    pub(crate) wrt: Vec<String>,
    /// Break the costs down by these; of one technology by all, of several by cause and phase.
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) by: Vec<Breakdown>,
    /// Prices over a range: `frequency=1e5..1e9:41`, `voltage=0.4..1:13`.
    #[arg(long, value_name = "RANGE")]
    pub(crate) sweep: Option<String>,
    /// Take the program for one step of so many, and compare ways to run them reversibly.
    #[arg(long, value_name = "STEPS", num_args = 0..=1, default_missing_value = "256", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    pub(crate) schedule: Option<u64>,
    /// Print every item as a table of comma-separated values.
    #[arg(long, conflicts_with_all = ["json", "folded", "by", "sweep", "schedule"])]
    pub(crate) csv: bool,
    /// Print folded stacks in attojoules, for flame graphs; one technology only.
    #[arg(long, conflicts_with_all = ["json", "by", "sweep", "schedule"])]
    pub(crate) folded: bool,
    /// Write plots into this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) svg: Option<String>,
    /// Write the tables that Accelergy reads into this folder; one technology only.
    #[arg(long, value_name = "DIR")]
    pub(crate) accelergy: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What costs are broken down by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Breakdown {
    /// Phase: forward, copies, backward.
    Phase,
    /// Kind of circuit.
    Class,
    /// Procedure.
    Function,
    /// Source line: those that cost most.
    Line,
    /// Routine that is undone: what uncomputing costs, and what erasing would.
    Routine,
}

/// Options of `level`.
#[derive(Args, Debug)]
pub(crate) struct Level {
    /// The program.
    #[command(flatten)]
    pub(crate) source: Source,
    /// The circumstances.
    #[command(flatten)]
    pub(crate) given: Conditions,
    /// Words for the input tape, which `read` takes: `1,2,3` or `@file`.
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) input: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// The interpreter.
    Interp,
    /// Code for the host, made by Cranelift once a run is long enough to be worth it; same results, traps and counts.
    Jit,
    /// The same by the system's C compiler, which takes longer and makes faster code; it is kept for later runs.
    Native,
}

impl Default for Engine {
    fn default() -> Engine {
        match pendula::vm::Engine::default() {
            pendula::vm::Engine::Interpreter => Engine::Interp,
            pendula::vm::Engine::Jit => Engine::Jit,
            pendula::vm::Engine::Native => Engine::Native,
        }
    }
}

impl From<Engine> for pendula::vm::Engine {
    fn from(engine: Engine) -> pendula::vm::Engine {
        match engine {
            Engine::Interp => pendula::vm::Engine::Interpreter,
            Engine::Jit => pendula::vm::Engine::Jit,
            Engine::Native => pendula::vm::Engine::Native,
        }
    }
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

/// Events that can be made traps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrapOn {
    /// A fixed-point number overflows.
    Overflow,
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
    /// Refuse sources of more bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 28, value_parser = size)]
    pub(crate) max_source: usize,
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
    /// The program.
    #[command(flatten)]
    pub(crate) source: Source,
    /// Where to write the object, `-` for standard output; the source's name with `.o` if left out.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<String>,
    /// Print addresses, words and source side by side; write no object unless -o is given.
    #[arg(long)]
    pub(crate) listing: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `compile`.
#[derive(Args, Debug)]
pub(crate) struct Compile {
    /// The program.
    #[command(flatten)]
    pub(crate) source: Source,
    /// What to write.
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub(crate) emit: Emit,
    /// Where to write it [default: standard output; an object to the source's name with `.o`].
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
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
    /// The program.
    #[command(flatten)]
    pub(crate) source: Source,
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
}

/// Options of `check`.
#[derive(Args, Debug)]
pub(crate) struct Check {
    /// The program.
    #[command(flatten)]
    pub(crate) source: Source,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `invert`.
#[derive(Args, Debug)]
pub(crate) struct Invert {
    /// The program.
    #[command(flatten)]
    pub(crate) source: Source,
    /// Where to write the text; standard output if left out.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
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

/// Options of `isa`.
#[derive(Args, Debug)]
pub(crate) struct Isa {
    /// Show one instruction, by its mnemonic.
    #[arg(value_name = "MNEMONIC")]
    pub(crate) mnemonic: Option<String>,
    /// Print the whole manual as Markdown.
    #[arg(long, conflicts_with_all = ["json", "mnemonic"])]
    pub(crate) markdown: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

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

/// A number of instructions or words: decimal, with `_`, or like `1e6`.
fn count(text: &str) -> Result<u64, String> {
    let plain = text.replace('_', "");
    if let Ok(n) = plain.parse() {
        return Ok(n);
    }
    let (digits, exponent) = plain.split_once(['e', 'E']).ok_or("not a whole number")?;
    let (digits, exponent): (u64, u32) =
        (digits.parse().map_err(|_| "not a whole number")?, exponent.parse().map_err(|_| "not a whole number")?);
    10u64.checked_pow(exponent).and_then(|p| p.checked_mul(digits)).ok_or_else(|| "too large".to_string())
}

fn size(text: &str) -> Result<usize, String> {
    usize::try_from(count(text)?).map_err(|_| "too large".to_string())
}

fn cells(text: &str) -> Result<u32, String> {
    u32::try_from(count(text)?).map_err(|_| "too large".to_string())
}
