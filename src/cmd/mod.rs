//! The subcommands, one a file, and what they share.

pub(crate) mod asm;
pub(crate) mod batch;
pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod compile;
pub(crate) mod completions;
pub(crate) mod disasm;
pub(crate) mod energy;
pub(crate) mod fmt;
pub(crate) mod grad;
pub(crate) mod import;
pub(crate) mod invert;
pub(crate) mod isa;
pub(crate) mod level;
pub(crate) mod man;
pub(crate) mod run;

use anyhow::Context;
use pendula::asm::assemble::Options;
use pendula::asm::diagnostic::{Diagnostic, Severity, Sources};
use pendula::asm::pisa;
use pendula::compiler::janus::store::Variable;
use pendula::compiler::{self, lower::Erase};
use pendula::isa::Module;
use pendula::isa::counts::Direction;
use pendula::load::{self, LoadError, Loaded};
use pendula::uncompute::cheaper_to_erase;
use pendula::vm::{self, Machine, Outcome};

use crate::Status;
use crate::cli::{Alias, Conditions, Engine, Reading, Source, Switch, Uncompute};
use crate::report::{Reporter, print, print_json, to_json};
use crate::session::{self, Session};

/// A program that was loaded without errors.
pub(crate) struct Program {
    pub(crate) module: Module,
    pub(crate) sources: Sources,
    pub(crate) warnings: Vec<Diagnostic>,
    /// What else there is of a program in Nil.
    pub(crate) nil: Option<load::Nil>,
}

impl Program {
    /// The variables of a program in Janus.
    pub(crate) fn variables(&self) -> Option<&[Variable]> {
        self.nil.as_ref().and_then(load::Nil::variables)
    }
}

/// The assembler's options from the command line's.
pub(crate) fn options(source: &Source, max_data: Option<u64>) -> Options {
    let mut options = Options {
        include_outside: source.options.include_outside,
        max_source: source.options.max_source,
        ..Options::default()
    };
    options.pisa = reading(&source.options.pisa.reading);
    if let Some(words) = max_data {
        options.max_data = words;
    }
    options
}

/// How programs in PISA are read, from the command line's options.
fn reading(given: &Reading) -> pisa::Options {
    pisa::Options {
        pendvm_bugs: given.pendvm_bugs,
        strict: given.strict,
        alias: match given.alias {
            Alias::Error => pisa::Alias::Refuse,
            Alias::Noop => pisa::Alias::Nothing,
        },
    }
}

/// How a program will be run: `--uncompute auto` measures under the same circumstances.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Intended<'a> {
    pub(crate) given: &'a Conditions,
    /// The input tape.
    pub(crate) input: Option<&'a str>,
}

/// Loads a program; `run` tells how it will be run, if it will. Its errors are reported here, as text or as JSON; then the result is the status
/// to end with.
pub(crate) fn load(
    source: &Source,
    run: Option<Intended<'_>>,
    json: bool,
    reporter: &Reporter,
) -> anyhow::Result<Result<Program, Status>> {
    let native = run.is_some_and(|r| r.given.engine == Engine::Native);
    load_for(source, run, native, json, reporter)
}

/// The same; `native` asks for a program in Nil in the form that C is written of, too.
pub(crate) fn load_for(
    source: &Source,
    run: Option<Intended<'_>>,
    native: bool,
    json: bool,
    reporter: &Reporter,
) -> anyhow::Result<Result<Program, Status>> {
    let mut nil_options = compile::options(&source.options.nil)?;
    // C undoes what instructions undo.
    nil_options.native = native && source.options.nil.uncompute == Uncompute::Always;
    settle(load_with(source, &nil_options, run)?, json, reporter)
}

/// Loads a program with these options of the compiler, which are not taken from the command line.
fn load_with(
    source: &Source,
    nil_options: &compiler::compile::Options,
    run: Option<Intended<'_>>,
) -> anyhow::Result<Result<Loaded, LoadError>> {
    source.check()?;
    let max_data = run.and_then(|r| r.given.mem);
    let loaded = load::load(&source.file, &options(source, max_data), nil_options);
    Ok(match (loaded, source.options.nil.uncompute) {
        (Ok(Loaded { module: Some(module), nil: Some(nil), .. }), Uncompute::Auto) => {
            let options =
                compiler::compile::Options { erase: chosen(source, module, &nil, run)?, ..nil_options.clone() };
            load::load(&source.file, &self::options(source, max_data), &options)
        }
        (loaded, _) => loaded,
    })
}

/// A program that could be loaded; else reports what is wrong, and gives the status to end with.
fn settle(
    loaded: Result<Loaded, LoadError>,
    json: bool,
    reporter: &Reporter,
) -> anyhow::Result<Result<Program, Status>> {
    let Loaded { module, diagnostics, sources, nil } = match loaded {
        Ok(loaded) => loaded,
        Err(LoadError::Object { path, error }) => {
            // A damaged object is the user's program at fault, told like an assembly error.
            let d = Diagnostic::error(error.code(), format!("{path}: {error}")).help(error.help());
            report(std::slice::from_ref(&d), &Sources::default(), json, reporter)?;
            return Ok(Err(Status::Fault));
        }
        Err(error) => return Err(error.into()),
    };
    match module {
        Some(module) => Ok(Ok(Program { module, sources, warnings: diagnostics, nil })),
        None => {
            report(&diagnostics, &sources, json, reporter)?;
            Ok(Err(Status::Fault))
        }
    }
}

/// What `--uncompute auto` erases.
fn chosen(source: &Source, module: Module, nil: &load::Nil, run: Option<Intended<'_>>) -> anyhow::Result<Erase> {
    let Some(ir) = &nil.program else { return Ok(Erase::Never) };
    anyhow::ensure!(
        ir.entry.is_some(),
        "--uncompute auto runs the program to measure it: give it arguments with --args"
    );
    let technology = energy::technology(source.options.nil.auto_tech.trim())?;
    let names = measured(module, nil.variables(), run, |machine| Ok(cheaper_to_erase(machine, ir, &technology)?));
    let names = names.context("--uncompute auto")?;
    tracing::info!("erased: {names:?}");
    Ok(Erase::Some(names))
}

/// Runs a program forward to measure it, and asks something of the machine that has.
fn measured<T>(
    module: Module,
    variables: Option<&[Variable]>,
    run: Option<Intended<'_>>,
    ask: impl FnOnce(&Machine<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let program = vm::Program::new(module, run.is_none_or(|r| r.given.checks == Switch::On))?;
    let mut machine = match run {
        Some(run) => session::machine(&program, run.given, variables)?,
        None => Machine::new(&program, &vm::Config { count: true, ..Default::default() })?,
    };
    if let Some(tape) = run.and_then(|r| r.input) {
        session::input(&mut machine, tape, None, false)?;
    }
    machine.begin(Direction::Forward);
    let limit = run.and_then(|r| r.given.max_steps);
    match Session::limited(limit).go(&mut machine)? {
        Outcome::Finished => ask(&machine),
        Outcome::Limit => {
            let most = limit.map_or(String::new(), |n| format!(" {n}"));
            anyhow::bail!("the run that measures what undoing costs takes more instructions than --max-steps{most}")
        }
        Outcome::NoCode(message) => anyhow::bail!("{message}"),
        Outcome::Trap(trap) => {
            anyhow::bail!("the run that measures what undoing costs did not end: {}", trap.fault.title())
        }
    }
}

/// Reports diagnostics: as text on standard error, or as one JSON object on standard output.
pub(crate) fn report(
    diagnostics: &[Diagnostic],
    sources: &Sources,
    json: bool,
    reporter: &Reporter,
) -> anyhow::Result<()> {
    if json {
        let list: Vec<_> = diagnostics.iter().map(|d| to_json(d, sources)).collect();
        let failed = diagnostics.iter().any(|d| d.severity == Severity::Error);
        print_json(&serde_json::json!({ "schema": 1, "ok": !failed, "diagnostics": list }))?;
    } else {
        reporter.diagnostics(diagnostics, sources);
    }
    Ok(())
}

/// Writes a result to a file, or to standard output.
pub(crate) fn write(source: &str, output: Option<&str>, text: &str) -> anyhow::Result<()> {
    match output {
        None | Some("-") => Ok(print(text)?),
        Some(path) => {
            keep_source(source, path)?;
            std::fs::write(path, text).with_context(|| format!("cannot write {path}"))
        }
    }
}

/// Refuses to write a result over its own source.
pub(crate) fn keep_source(source: &str, output: &str) -> anyhow::Result<()> {
    let same = match (std::fs::canonicalize(source), std::fs::canonicalize(output)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    };
    anyhow::ensure!(!same, "{output} is the source itself, which would be lost; give another file");
    Ok(())
}
