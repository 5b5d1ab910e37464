//! The program that a command takes, and the options of each language for reading it. A command has only the options that concern it.

use std::ffi::OsStr;

use anyhow::bail;
use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, ValueEnum};
use pendula::compiler::janus::STACK;
use pendula::compiler::passes::Pass;
use pendula::load::{FileKind, display_name, kind_at};

use super::{GENERAL, size};

/// Headings of the help.
const NIL: &str = "Programs in Nil";
const COMPILED: &str = "Compiled programs";
const JANUS: &str = "Programs in Janus";
const ASSEMBLY: &str = "Programs in assembly";
const PISA: &str = "Programs in PISA";

/// The default limits on the source and on the expansion of macros, in bytes.
const MAX_SOURCE: usize = 1 << 28;
const MAX_EXPANSION: usize = 1 << 24;

/// The default optimisation level, and the default technology of `--uncompute auto`.
const LEVEL: u8 = 2;
const AUTO_TECH: &str = "acmos22-fdsoi";

/// The options for reading programs, and the kinds of files that they apply to.
pub(crate) trait How: Args + Clone + Into<Options> {
    /// The kinds of files, for the help.
    const FILES: &'static str;
}

/// A program, and the options with which it is read.
#[derive(Args, Clone, Debug)]
pub(crate) struct SourceOf<T: How> {
    #[arg(value_name = "FILE", help = T::FILES)]
    pub(crate) file: String,
    /// How it is read.
    #[command(flatten)]
    pub(crate) options: T,
}

/// Several programs, and the options with which each is read.
#[derive(Args, Clone, Debug)]
pub(crate) struct SourcesOf<T: How> {
    #[arg(value_name = "FILE", required = true, help = T::FILES)]
    pub(crate) files: Vec<String>,
    /// How they are read.
    #[command(flatten)]
    pub(crate) options: T,
}

/// A program and how it is read.
pub(crate) type Source = SourceOf<Options>;

/// How a program is read.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Options {
    /// What concerns Nil.
    #[command(flatten)]
    pub(crate) nil: Nil,
    /// What becomes of programs that are compiled.
    #[command(flatten)]
    pub(crate) compiler: Compiler,
    /// What concerns Janus.
    #[command(flatten)]
    pub(crate) janus: Janus,
    /// What programs in Janus have when they run.
    #[command(flatten)]
    pub(crate) room: StackOptions,
    /// What concerns assembly.
    #[command(flatten)]
    pub(crate) assembly: Assembly,
    /// What concerns PISA.
    #[command(flatten)]
    pub(crate) pisa: Reading,
    /// How much is read.
    #[command(flatten)]
    pub(crate) limit: Limit,
}

/// How a program is read that computes with numbers that have derivatives: Janus and PISA have none.
#[derive(Args, Clone, Debug)]
pub(crate) struct OfNumbers {
    /// What concerns Nil.
    #[command(flatten)]
    nil: Nil,
    /// What becomes of programs that are compiled.
    #[command(flatten)]
    compiler: Compiler,
    /// What concerns assembly.
    #[command(flatten)]
    assembly: Assembly,
    /// How much is read.
    #[command(flatten)]
    limit: Limit,
}

/// How a program is read that is not run.
#[derive(Args, Clone, Debug)]
pub(crate) struct OfChecked {
    /// What concerns Nil.
    #[command(flatten)]
    nil: Nil,
    /// What concerns Janus.
    #[command(flatten)]
    janus: Janus,
    /// What concerns assembly.
    #[command(flatten)]
    assembly: Assembly,
    /// What concerns PISA.
    #[command(flatten)]
    pisa: Reading,
    /// How much is read.
    #[command(flatten)]
    limit: Limit,
}

/// How a program is read that is compiled.
#[derive(Args, Clone, Debug)]
pub(crate) struct OfCompiled {
    /// What concerns Nil.
    #[command(flatten)]
    nil: Nil,
    /// What becomes of it.
    #[command(flatten)]
    compiler: Compiler,
    /// What concerns Janus.
    #[command(flatten)]
    janus: Janus,
    /// What programs in Janus have when they run.
    #[command(flatten)]
    room: StackOptions,
    /// How much is read.
    #[command(flatten)]
    limit: Limit,
}

/// How a program is read that is turned around.
#[derive(Args, Clone, Debug)]
pub(crate) struct OfInverted {
    /// What concerns Janus.
    #[command(flatten)]
    janus: Janus,
    /// What concerns assembly.
    #[command(flatten)]
    assembly: Assembly,
    /// How much is read.
    #[command(flatten)]
    limit: Limit,
}

/// How a program is read that is assembly, or becomes assembly.
#[derive(Args, Clone, Debug)]
pub(crate) struct OfAssembly {
    /// What concerns assembly.
    #[command(flatten)]
    assembly: Assembly,
    /// What concerns PISA.
    #[command(flatten)]
    pisa: Reading,
    /// How much is read.
    #[command(flatten)]
    limit: Limit,
}

/// The options of all languages, of which some are left as they are when nothing is said; and what files are read with them.
macro_rules! some_options {
    ($($name:ident $files:literal: $($field:ident),+;)+) => {
        $(impl From<$name> for Options {
            fn from(some: $name) -> Options {
                let $name { $($field),+ } = some;
                Options { $($field,)+ ..Options::default() }
            }
        }

        impl How for $name {
            const FILES: &'static str = $files;
        })+
    };
}

some_options! {
    OfNumbers "A `.rasm` file, an assembled object or a `.nil` file; `-` is standard input": nil, compiler, assembly, limit;
    OfChecked "`.rasm` files, assembled objects, `.nil`, `.ja` (`.janus`) or `.pisa` (`.pal`) files; `-` is standard input": nil, janus, assembly, pisa, limit;
    OfCompiled "A `.nil` or `.ja` (`.janus`) file": nil, compiler, janus, room, limit;
    OfInverted "A `.rasm` file, an assembled object or a `.ja` (`.janus`) file; `-` is standard input": janus, assembly, limit;
    OfAssembly "A `.rasm` file, an assembled object or a `.pisa` (`.pal`) file; `-` is standard input": assembly, pisa, limit;
}

impl How for Options {
    const FILES: &'static str = "A `.rasm` file, an assembled object, a `.nil`, `.ja` (`.janus`) or `.pisa` (`.pal`) file; `-` is standard input";
}

impl<T: How> SourceOf<T> {
    /// The program with the options of all languages.
    pub(crate) fn in_full(&self) -> Source {
        Source { file: self.file.clone(), options: self.options.clone().into() }
    }
}

impl<T: How> SourcesOf<T> {
    /// The programs, each with the options of all languages.
    pub(crate) fn each(&self) -> impl Iterator<Item = Source> {
        self.files.iter().map(|file| Source { file: file.clone(), options: self.options.clone().into() })
    }
}

impl Source {
    /// Refuses options that have no meaning for this kind of file.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let Some(kind) = kind_at(&self.file) else { return Ok(()) };
        let Options { nil, compiler, janus, room, assembly, pisa, .. } = &self.options;
        let is = |kinds: &[FileKind]| kinds.contains(&kind);
        let compiled = is(&[FileKind::Nil, FileKind::Janus]);
        // The option, whether it is given, the languages that it is for, and whether the file is in one of these.
        let options = [
            ("--args", nil.args.is_some(), "Nil", is(&[FileKind::Nil])),
            ("--types", nil.types.is_some(), "Nil", is(&[FileKind::Nil])),
            ("--format", nil.format.is_some(), "Nil", is(&[FileKind::Nil])),
            ("--fast-float", compiler.fast_float, "Nil", is(&[FileKind::Nil])),
            ("--entry", nil.entry.is_some() && !janus.classic, "Nil", is(&[FileKind::Nil])),
            ("-O", compiler.optimise != LEVEL, "Nil and Janus", compiled),
            ("--passes", !compiler.passes.is_empty(), "Nil and Janus", compiled),
            ("--uncompute", compiler.uncompute != Uncompute::Always, "Nil and Janus", compiled),
            ("--int", janus.int.is_some(), "Janus", is(&[FileKind::Janus])),
            ("--classic", janus.classic, "Janus", is(&[FileKind::Janus])),
            ("--stack", room.stack != STACK, "Janus", is(&[FileKind::Janus])),
            ("--define", !assembly.define.is_empty(), "assembly", is(&[FileKind::Assembly])),
            ("--pendvm-bugs", pisa.pendvm_bugs, "PISA", is(&[FileKind::Pisa])),
            ("--alias", pisa.alias != Alias::Error, "PISA", is(&[FileKind::Pisa])),
            ("--strict", pisa.strict, "PISA", is(&[FileKind::Pisa])),
        ];
        if let Some((option, _, language, _)) = options.iter().find(|(_, given, _, fits)| *given && !fits) {
            bail!("{option} is for programs in {language}, and {} is {}", display_name(&self.file), kind.name());
        }
        Ok(())
    }
}

/// How much is read.
#[derive(Args, Clone, Debug)]
pub(crate) struct Limit {
    /// Refuse sources of more bytes in all [default: 2^28].
    #[arg(
        long,
        help_heading = GENERAL,
        value_name = "BYTES",
        default_value_t = MAX_SOURCE,
        hide_default_value = true,
        value_parser = size
    )]
    pub(crate) max_source: usize,
}

impl Default for Limit {
    fn default() -> Limit {
        Limit { max_source: MAX_SOURCE }
    }
}

/// Options of programs in assembly.
#[derive(Args, Clone, Debug)]
pub(crate) struct Assembly {
    /// Define a constant, as `.equ NAME, VALUE` would (repeatable).
    ///
    /// The definition stands before the program. An `.equ` of the program for the same name is passed over: it gives the value where the command line gives
    /// none.
    #[arg(short = 'D', long, help_heading = ASSEMBLY, value_name = "NAME=VALUE", value_parser = definition)]
    pub(crate) define: Vec<(String, String)>,
    /// Let `.include` read files outside the source's folder.
    #[arg(long, help_heading = ASSEMBLY)]
    pub(crate) include_outside: bool,
    /// Refuse macros that expand to more bytes in all [default: 2^24].
    #[arg(
        long,
        help_heading = ASSEMBLY,
        value_name = "BYTES",
        default_value_t = MAX_EXPANSION,
        hide_default_value = true,
        value_parser = size
    )]
    pub(crate) max_expansion: usize,
}

impl Default for Assembly {
    fn default() -> Assembly {
        Assembly { define: Vec::new(), include_outside: false, max_expansion: MAX_EXPANSION }
    }
}

/// How programs in PISA are read.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Reading {
    /// Do as PendVM does where it differs from PISA as documented.
    ///
    /// `ORIX` takes the number of a register for its immediate, `SLTIX` compares as unsigned, `SRLX` and `SRLVX` copy the sign; labels that are missing
    /// are 0, and of two the second counts; what follows a number's digits is passed over; a run may end at a `FINISH` that a branch lands on; and `SHOW`
    /// prints in both directions, so also what an `RBRA` undoes.
    #[arg(long, help_heading = PISA)]
    pub(crate) pendvm_bugs: bool,
    /// What becomes of instructions that write a register and read it again, such as `ADD $1 $1`.
    #[arg(long, help_heading = PISA, value_enum, default_value_t, value_name = "error|noop")]
    pub(crate) alias: Alias,
    /// Refuse immediates beyond 16 bits, and branches farther than 16 bits (`BRA`, `RBRA`: 26) reach.
    #[arg(long, help_heading = PISA)]
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

/// Options of programs in Nil.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Nil {
    /// The arguments: numbers, `[1,2,3]`, `[1 2; 3 4]`, `(re,im)`, `zeros(2,3)`, `1:10`, `@file.npy`.
    #[arg(long, help_heading = NIL, value_name = "VALUES", allow_hyphen_values = true)]
    pub(crate) args: Option<String>,
    /// The function where a run begins [default: the last one].
    ///
    /// Of a program in Janus only with --classic: the procedure.
    #[arg(long, help_heading = NIL, value_name = "FUNCTION")]
    pub(crate) entry: Option<String>,
    /// The types of the parameters, where they are not to be guessed: `Fixed,Int`.
    #[arg(long, help_heading = NIL, value_name = "TYPES")]
    pub(crate) types: Option<String>,
    /// Fixed-point format [default: Q32.32, or Q21.43 if the program names Fixed43].
    #[arg(long, help_heading = NIL, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
}

/// What becomes of programs in Nil and Janus.
#[derive(Args, Clone, Debug)]
pub(crate) struct Compiler {
    /// Let floating-point sums be rounded in other places than they are written in.
    ///
    /// `--engine native` also forgets what undoing them leaves, and looks for infinite numbers only in results.
    #[arg(long, help_heading = NIL)]
    pub(crate) fast_float: bool,
    /// How much to optimise: 0 to 2.
    #[arg(short = 'O', help_heading = COMPILED, value_name = "LEVEL", default_value_t = LEVEL, value_parser = clap::value_parser!(u8).range(0..=2))]
    pub(crate) optimise: u8,
    /// Whether to undo what routines compute, or to erase it, which makes the program irreversible.
    #[arg(long, help_heading = COMPILED, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) uncompute: Uncompute,
    /// The technology, a name or a TOML file, by whose prices `--uncompute auto` chooses.
    #[arg(long, help_heading = COMPILED, value_name = "NAME", default_value = AUTO_TECH)]
    pub(crate) auto_tech: String,
    /// Run these passes, too, or with a minus not: `hoist,-inline`; `list` lists them.
    #[arg(long, help_heading = COMPILED, value_name = "NAMES", value_delimiter = ',', allow_hyphen_values = true, value_parser = PassNames)]
    pub(crate) passes: Vec<String>,
}

/// Reads the name of a pass, or tells them all.
#[derive(Clone, Debug)]
struct PassNames;

impl TypedValueParser for PassNames {
    type Value = String;

    fn parse_ref(&self, _: &Command, _: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        let name = value.to_string_lossy().trim().to_string();
        let list = || Pass::ALL.iter().map(|p| format!("  {:<10} {}\n", p.name(), p.doc())).collect::<String>();
        if name == "list" {
            return Err(clap::Error::raw(ErrorKind::DisplayHelp, list()));
        }
        if Pass::from_name(name.strip_prefix('-').unwrap_or(&name)).is_none() {
            let message = format!("--passes: there is no pass `{name}`; the passes are\n{}", list());
            return Err(clap::Error::raw(ErrorKind::InvalidValue, message));
        }
        Ok(name)
    }
}

impl Default for Compiler {
    fn default() -> Compiler {
        Compiler {
            fast_float: false,
            optimise: LEVEL,
            uncompute: Uncompute::default(),
            auto_tech: AUTO_TECH.to_string(),
            passes: Vec::new(),
        }
    }
}

/// Options of programs in Janus.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Janus {
    /// How many bits `int` has, 32 or 64 [default: 64, with --classic 32].
    ///
    /// Integers of 32 bits wrap without notice, those of 64 raise the overflow flag.
    #[arg(long, help_heading = JANUS, value_name = "BITS", value_parser = int_bits)]
    pub(crate) int: Option<u8>,
    /// Read the language of 1982 to 2007.
    ///
    /// It has global variables, integers as conditions and words of 32 bits.
    #[arg(long, help_heading = JANUS)]
    pub(crate) classic: bool,
}

/// What programs in Janus have when they run.
#[derive(Args, Clone, Debug)]
pub(crate) struct StackOptions {
    /// How many numbers each stack has room for.
    #[arg(
        long,
        help_heading = JANUS,
        value_name = "N",
        default_value_t = STACK,
        value_parser = clap::value_parser!(u64).range(1..=1 << 26)
    )]
    pub(crate) stack: u64,
}

impl Default for StackOptions {
    fn default() -> StackOptions {
        StackOptions { stack: STACK }
    }
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

/// Parses a constant and its value: `NAME=VALUE`.
fn definition(text: &str) -> Result<(String, String), String> {
    let Some((name, value)) = text.split_once('=') else {
        return Err(format!("a value is missing: `{text}=VALUE`"));
    };
    if text.contains(['\n', '\r']) {
        return Err("a definition is of one line".to_string());
    }
    Ok((name.trim().to_string(), value.trim().to_string()))
}

/// Parses the number of bits of a Janus program's `int`.
fn int_bits(text: &str) -> Result<u8, String> {
    match text {
        "32" => Ok(32),
        "64" => Ok(64),
        _ => Err("an `int` has 32 or 64 bits".to_string()),
    }
}
