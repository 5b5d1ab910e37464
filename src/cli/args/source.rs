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
use crate::cli::definitions::IsaFiles;

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
    /// Whether a command that takes several needs one.
    const REQUIRED: bool = true;
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
    #[arg(value_name = "FILE", required = T::REQUIRED, help = T::FILES)]
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
    /// The options for Nil.
    #[command(flatten)]
    pub(crate) nil: Nil,
    /// How a program is compiled.
    #[command(flatten)]
    pub(crate) compiler: Compiler,
    /// The options for Janus.
    #[command(flatten)]
    pub(crate) janus: Janus,
    /// The stacks of programs in Janus.
    #[command(flatten)]
    pub(crate) room: StackOptions,
    /// The options for assembly.
    #[command(flatten)]
    pub(crate) assembly: Assembly,
    /// The definitions that it uses.
    #[command(flatten)]
    pub(crate) definitions: IsaFiles,
    /// The options for PISA.
    #[command(flatten)]
    pub(crate) pisa: Reading,
    /// What is refused.
    #[command(flatten)]
    pub(crate) strictness: Strictness,
    /// The limit on the size of sources.
    #[command(flatten)]
    pub(crate) limit: Limit,
}

/// Declares the options of commands that have only some: the kinds of files that a command reads, and the options that concern it. The others have
/// their defaults.
macro_rules! some_options {
    ($($(#[$doc:meta])+ $name:ident $files:literal: $($field:ident $Type:ident),+;)+) => {
        $($(#[$doc])+
        #[derive(Args, Clone, Debug)]
        pub(crate) struct $name {
            $(#[command(flatten)]
            $field: $Type,)+
        }

        impl From<$name> for Options {
            fn from(some: $name) -> Options {
                let $name { $($field),+ } = some;
                Options { $($field,)+ ..Options::default() }
            }
        }

        impl How for $name {
            const FILES: &'static str = $files;
            const REQUIRED: bool = !matches!(stringify!($name).as_bytes(), b"OfLab");
        })+
    };
}

some_options! {
    /// How a program for gradients is read: Janus and PISA have no numbers with derivatives.
    OfNumbers "A `.rasm` file, an assembled object, a `.nil`, `.vlad` or `.fut` file; `-` is standard input": nil Nil, compiler Compiler, assembly Assembly, definitions IsaFiles, strictness Strictness, limit Limit;
    /// How a program of the lab is read.
    OfLab "`.rasm` files, assembled objects, `.nil` or `.ja` (`.janus`) files": nil Nil, compiler Compiler, janus Janus, room StackOptions, strictness Strictness, limit Limit;
    /// How a program is read that is not run.
    OfChecked "`.rasm` files, assembled objects, `.nil`, `.ja` (`.janus`), `.pisa` (`.pal`), `.vlad` or `.fut` files; `-` is standard input": nil Nil, janus Janus, assembly Assembly, definitions IsaFiles, pisa Reading, strictness Strictness, limit Limit;
    /// How a program is read that is compiled.
    OfCompiled "A `.nil`, `.ja` (`.janus`), `.vlad` or `.fut` file": nil Nil, compiler Compiler, janus Janus, room StackOptions, definitions IsaFiles, strictness Strictness, limit Limit;
    /// How a program is read that is inverted.
    OfInverted "A `.rasm` file, an assembled object or a `.ja` (`.janus`) file; `-` is standard input": janus Janus, assembly Assembly, definitions IsaFiles, limit Limit;
    /// How a program is read that is assembly, or becomes assembly.
    OfAssembly "A `.rasm` file, an assembled object or a `.pisa` (`.pal`) file; `-` is standard input": assembly Assembly, definitions IsaFiles, pisa Reading, strictness Strictness, limit Limit;
}

impl How for Options {
    const FILES: &'static str = "A `.rasm` file, an assembled object, a `.nil`, `.ja` (`.janus`), `.pisa` (`.pal`), `.vlad` or `.fut` file; `-` is standard input";
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
        let Options { nil, compiler, janus, room, assembly, definitions, pisa, strictness, .. } = &self.options;
        let is = |kinds: &[FileKind]| kinds.contains(&kind);
        let compiled = is(&[FileKind::Nil, FileKind::Janus]);
        let called = is(&[FileKind::Nil, FileKind::Vlad, FileKind::Futhark]);
        // The option, whether it is given, the languages that it is for, and whether the file is in one of these.
        let options = [
            ("--args", nil.args.is_some(), "Nil, VLAD and Futhark", called),
            ("--types", nil.types.is_some(), "Nil", is(&[FileKind::Nil])),
            ("--format", nil.format.is_some(), "Nil", is(&[FileKind::Nil])),
            ("--fast-float", compiler.fast_float, "Nil", is(&[FileKind::Nil])),
            ("--strict-derivatives", compiler.strict_derivatives, "Nil", is(&[FileKind::Nil])),
            ("--entry", nil.entry.is_some() && !janus.classic, "Nil, VLAD and Futhark", called),
            ("-O", compiler.optimise != LEVEL, "Nil and Janus", compiled),
            ("--passes", !compiler.passes.is_empty(), "Nil and Janus", compiled),
            ("--uncompute", compiler.uncompute != Uncompute::Always, "Nil and Janus", compiled),
            ("--int", janus.int.is_some(), "Janus", is(&[FileKind::Janus])),
            ("--classic", janus.classic, "Janus", is(&[FileKind::Janus])),
            ("--stack", room.stack != STACK, "Janus", is(&[FileKind::Janus])),
            ("--isa", !definitions.isa.is_empty(), "assembly and Nil", is(&[FileKind::Assembly, FileKind::Nil])),
            ("--define", !assembly.define.is_empty(), "assembly", is(&[FileKind::Assembly])),
            ("--pendvm-bugs", pisa.pendvm_bugs, "PISA", is(&[FileKind::Pisa])),
            ("--alias", pisa.alias != Alias::Error, "PISA", is(&[FileKind::Pisa])),
            ("--strict", strictness.strict, "PISA and Nil", is(&[FileKind::Pisa, FileKind::Nil])),
        ];
        if let Some((option, _, language, _)) = options.iter().find(|(_, given, _, fits)| *given && !fits) {
            bail!("{option} is for programs in {language}, and {} is {}", display_name(&self.file), kind.name());
        }
        Ok(())
    }
}

/// The limit on the size of sources.
#[derive(Args, Clone, Debug)]
pub(crate) struct Limit {
    /// Refuse sources of more than this many bytes in all [default: 2^28].
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
    /// The definition precedes the program. If the program has an `.equ` for the same name, this definition overrides it.
    #[arg(short = 'D', long, help_heading = ASSEMBLY, value_name = "NAME=VALUE", value_parser = definition)]
    pub(crate) define: Vec<(String, String)>,
    /// Let `.include` read files outside the source's folder.
    #[arg(long, help_heading = ASSEMBLY)]
    pub(crate) include_outside: bool,
    /// Refuse macros that expand to more than this many bytes in all [default: 2^24].
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
    /// Behave like PendVM where it differs from the documentation of PISA.
    ///
    /// `ORIX` takes the number of a register as its immediate, `SLTIX` compares as unsigned, `SRLX` and `SRLVX` copy the sign. Missing labels are 0, and
    /// of two labels with the same name the second counts. Characters after the digits of a number are ignored. A run may end at a `FINISH` that a branch
    /// lands on. `SHOW` prints in both directions, so it also prints what an `RBRA` undoes.
    #[arg(long, help_heading = PISA)]
    pub(crate) pendvm_bugs: bool,
    /// How to treat instructions that write a register they also read, such as `ADD $1 $1`.
    #[arg(long, help_heading = PISA, value_enum, default_value_t, value_name = "error|noop")]
    pub(crate) alias: Alias,
}

/// Whether a program is refused that could be read with something left out or extended.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Strictness {
    /// Refuse `.jl` files with a function that cannot be read, and PISA that needs wide immediates.
    ///
    /// Without it, such functions are left out, with a warning. In PISA, immediates and branch distances may then need at most 16 bits, and 26 those of
    /// `BRA` and `RBRA`.
    #[arg(long, help_heading = GENERAL)]
    pub(crate) strict: bool,
}

/// How instructions of PISA are treated that could not be undone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Alias {
    /// Report an error.
    #[default]
    Error,
    /// Let them do nothing.
    Noop,
}

/// Options of programs in Nil.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Nil {
    /// The arguments: numbers, `[1,2,3]`, `[1 2; 3 4]`, `(re,im)`, `zeros(2,3)`, `1:10`, `@file.npy`; keywords `n=3`.
    #[arg(long, help_heading = NIL, value_name = "VALUES", allow_hyphen_values = true)]
    pub(crate) args: Option<String>,
    /// The function where a run begins [default: the last one].
    ///
    /// With --classic, the procedure of a program in Janus.
    #[arg(long, help_heading = NIL, value_name = "FUNCTION")]
    pub(crate) entry: Option<String>,
    /// The types of the parameters, if they should not be inferred from the arguments: `Fixed,Int`.
    #[arg(long, help_heading = NIL, value_name = "TYPES")]
    pub(crate) types: Option<String>,
    /// The fixed-point format [default: Q32.32, or Q21.43 if the program names Fixed43].
    #[arg(long, help_heading = NIL, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
}

/// How programs in Nil and Janus are compiled.
#[derive(Args, Clone, Debug)]
pub(crate) struct Compiler {
    /// Allow other rounding of floating-point sums than the program prescribes.
    ///
    /// `--engine native` then also ignores the rounding errors that undoing leaves, and checks only results for infinities.
    #[arg(long, help_heading = NIL)]
    pub(crate) fast_float: bool,
    /// Stop where a function has no derivative: a square root at 0, or a distance from the origin (`hypot`, `abs` of a complex number) there.
    ///
    /// Without it, the derivative is taken as 0 there.
    #[arg(long, help_heading = NIL)]
    pub(crate) strict_derivatives: bool,
    /// The optimisation level, 0 to 2.
    #[arg(short = 'O', help_heading = COMPILED, value_name = "LEVEL", default_value_t = LEVEL, value_parser = clap::value_parser!(u8).range(0..=2))]
    pub(crate) optimise: u8,
    /// Whether to undo what routines compute, or to erase it; erasing makes the program irreversible.
    #[arg(long, help_heading = COMPILED, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) uncompute: Uncompute,
    /// The technology by whose costs `--uncompute auto` chooses: a name or a TOML file [default: the one of --tech if there is one, else
    /// acmos22-fdsoi].
    #[arg(long, help_heading = COMPILED, value_name = "NAME")]
    pub(crate) auto_tech: Option<String>,
    /// Turn passes on, or with a minus off: `hoist,-inline`. `list` lists all passes.
    #[arg(long, help_heading = COMPILED, value_name = "NAMES", value_delimiter = ',', allow_hyphen_values = true, value_parser = PassNames)]
    pub(crate) passes: Vec<String>,
}

/// Parses the name of a pass; `list` lists all passes.
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

impl Compiler {
    /// The technology by whose costs `--uncompute auto` chooses.
    pub(crate) fn auto_tech(&self) -> &str {
        self.auto_tech.as_deref().unwrap_or(AUTO_TECH)
    }
}

impl Default for Compiler {
    fn default() -> Compiler {
        Compiler {
            fast_float: false,
            strict_derivatives: false,
            optimise: LEVEL,
            uncompute: Uncompute::default(),
            auto_tech: None,
            passes: Vec::new(),
        }
    }
}

/// Options of programs in Janus.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Janus {
    /// How many bits `int` has, 32 or 64 [default: 64, with --classic 32].
    ///
    /// Integers of 32 bits wrap silently; those of 64 bits raise the overflow flag.
    #[arg(long, help_heading = JANUS, value_name = "BITS", value_parser = int_bits)]
    pub(crate) int: Option<u8>,
    /// Read the language of 1982 to 2007.
    ///
    /// It has global variables, integers as conditions and words of 32 bits.
    #[arg(long, help_heading = JANUS)]
    pub(crate) classic: bool,
}

/// The stacks of programs in Janus.
#[derive(Args, Clone, Debug)]
pub(crate) struct StackOptions {
    /// The maximum number of values on each stack.
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

/// How the intermediate results of routines are removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Uncompute {
    /// Undo them.
    #[default]
    Always,
    /// Erase them.
    Never,
    /// For each routine, whichever the energy model finds cheaper with these arguments.
    Auto,
}

/// Parses a constant and its value: `NAME=VALUE`.
fn definition(text: &str) -> Result<(String, String), String> {
    let Some((name, value)) = text.split_once('=') else {
        return Err(format!("a value is missing: `{text}=VALUE`"));
    };
    if text.contains(['\n', '\r']) {
        return Err("a definition must fit on one line".to_string());
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
