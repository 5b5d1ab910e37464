//! Which program a command takes, and how it is read: options of the languages.

use anyhow::bail;
use clap::{Args, ValueEnum};
use pendula::compiler::janus::STACK;
use pendula::load::{FileKind, display_name, kind_at};

use super::size;

/// A program to read.
#[derive(Args, Debug)]
pub(crate) struct Source {
    /// A `.rasm` file, an assembled object, a `.nil`, `.ja` (`.janus`) or `.pisa` (`.pal`) file; `-` reads assembly from standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// How it is read.
    #[command(flatten)]
    pub(crate) options: Options,
}

/// How a program is read.
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// Let `.include` read files outside the source's folder.
    #[arg(long)]
    pub(crate) include_outside: bool,
    /// Refuse sources of more bytes in all.
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 28, value_parser = size)]
    pub(crate) max_source: usize,
    /// Refuse macros that expand to more bytes in all.
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 24, value_parser = size)]
    pub(crate) max_expansion: usize,
    /// What concerns Nil.
    #[command(flatten)]
    pub(crate) nil: Nil,
    /// What concerns PISA.
    #[command(flatten)]
    pub(crate) pisa: Pisa,
}

impl Source {
    /// Refuses options that mean nothing for such a file.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let Some(kind) = kind_at(&self.file) else { return Ok(()) };
        let Options { nil, pisa, .. } = &self.options;
        let reading = &pisa.reading;
        let is = |kinds: &[FileKind]| kinds.contains(&kind);
        let compiled = is(&[FileKind::Nil, FileKind::Janus]);
        // Whether it is given, what it is for, and whether the file is that.
        let options = [
            ("--args", nil.args.is_some(), "Nil", is(&[FileKind::Nil])),
            ("--types", nil.types.is_some(), "Nil", is(&[FileKind::Nil])),
            ("--format", nil.format.is_some(), "Nil", is(&[FileKind::Nil])),
            ("--fast-float", nil.fast_float, "Nil", is(&[FileKind::Nil])),
            ("--entry", nil.entry.is_some() && !nil.classic, "Nil", is(&[FileKind::Nil])),
            ("-O", nil.optimise != 2, "Nil and Janus", compiled),
            ("--passes", !nil.passes.is_empty(), "Nil and Janus", compiled),
            ("--uncompute", nil.uncompute != Uncompute::Always, "Nil and Janus", compiled),
            ("--int", nil.int.is_some(), "Janus", is(&[FileKind::Janus])),
            ("--classic", nil.classic, "Janus", is(&[FileKind::Janus])),
            ("--stack", nil.stack != STACK, "Janus", is(&[FileKind::Janus])),
            ("--pendvm-bugs", reading.pendvm_bugs, "PISA", is(&[FileKind::Pisa])),
            ("--alias", reading.alias != Alias::Error, "PISA", is(&[FileKind::Pisa])),
            ("--strict", reading.strict, "PISA", is(&[FileKind::Pisa])),
            ("--show-raw", pisa.show_raw, "PISA", !compiled),
        ];
        if let Some((option, _, language, _)) = options.iter().find(|(_, given, _, fits)| *given && !fits) {
            bail!("{option} is for programs in {language}, and {} is {}", display_name(&self.file), kind.name());
        }
        Ok(())
    }
}

/// Options of programs in PISA.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Programs in PISA")]
pub(crate) struct Pisa {
    /// How they are read.
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Print what `SHOW` shows as plain numbers: programs from before 2001 have no headers.
    #[arg(long)]
    pub(crate) show_raw: bool,
}

/// How programs in PISA are read.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Programs in PISA")]
pub(crate) struct Reading {
    /// Do as PendVM does where it differs from PISA as documented.
    #[arg(
        long,
        long_help = "Do as PendVM does where it differs from PISA as documented.\n\n`ORIX` takes the number of a register for its immediate, `SLTIX` compares as unsigned, \
        `SRLX` and `SRLVX` copy the sign; labels that are missing are 0, and of two the second counts; what follows a number's digits is passed over; a run may end at a `FINISH` \
        that a branch lands on; and `SHOW` prints in both directions, so also what an `RBRA` undoes."
    )]
    pub(crate) pendvm_bugs: bool,
    /// What becomes of instructions that write a register and read it again, such as `ADD $1 $1`.
    #[arg(long, value_enum, default_value_t, value_name = "error|noop")]
    pub(crate) alias: Alias,
    /// Refuse immediates beyond 16 bits, and branches farther than 16 bits (`BRA`, `RBRA`: 26) reach.
    #[arg(long)]
    pub(crate) strict: bool,
}

/// What becomes of instructions of PISA that could not be undone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Alias {
    /// They are errors.
    #[default]
    Error,
    /// They do nothing.
    Noop,
}

/// Options of programs in Nil and Janus.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Programs in Nil and Janus")]
pub(crate) struct Nil {
    /// The function where a run begins [default: the last one]. Of a program in Janus only with --classic.
    #[arg(long, value_name = "FUNCTION")]
    pub(crate) entry: Option<String>,
    /// Its arguments, in order: numbers, `[1,2,3]`, `[1 2; 3 4]`, `(re,im)`, `zeros(2,3)`, `1:10`, `@file.npy`.
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    pub(crate) args: Option<String>,
    /// The types of its parameters, where they are not to be guessed: `Fixed,Int`.
    #[arg(long, value_name = "TYPES")]
    pub(crate) types: Option<String>,
    /// Fixed-point format [default: Q32.32, or Q21.43 if the program names Fixed43].
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// How much to optimise: 0 to 2.
    #[arg(short = 'O', value_name = "LEVEL", default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=2))]
    pub(crate) optimise: u8,
    /// Run these passes, too, or with a minus not: `hoist,-inline`; `list` lists them.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) passes: Vec<String>,
    /// Whether to undo what routines compute, or to erase it, which makes the program irreversible.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) uncompute: Uncompute,
    /// The technology, a name or a TOML file, by whose prices `--uncompute auto` chooses.
    #[arg(long, value_name = "NAME", default_value = "acmos22-fdsoi")]
    pub(crate) auto_tech: String,
    /// Let floating-point sums be rounded in other places than they are written in; `--engine native` also forgets
    /// what undoing them leaves, and looks for infinite numbers only in results.
    #[arg(long)]
    pub(crate) fast_float: bool,
    /// Janus: how many bits `int` has, 32 or 64 [default: 64, with --classic 32]; 32 wrap without notice, 64 raise the overflow flag.
    #[arg(long, value_name = "BITS", value_parser = int_bits)]
    pub(crate) int: Option<u8>,
    /// Janus: read the language of 1982 to 2007, with global variables, integers as conditions and words of 32 bits.
    #[arg(long)]
    pub(crate) classic: bool,
    /// Janus: how many numbers each stack has room for.
    #[arg(long, value_name = "N", default_value_t = STACK, value_parser = clap::value_parser!(u64).range(1..=1 << 26))]
    pub(crate) stack: u64,
}

/// What becomes of what routines have computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Uncompute {
    /// It is undone.
    #[default]
    Always,
    /// It is erased.
    Never,
    /// Each routine as the energy model finds cheaper, for these arguments.
    Auto,
}

/// How many bits a Janus program's `int` has.
fn int_bits(text: &str) -> Result<u8, String> {
    match text {
        "32" => Ok(32),
        "64" => Ok(64),
        _ => Err("an `int` has 32 or 64 bits".to_string()),
    }
}
