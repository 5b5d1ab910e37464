//! The subcommands, each in a file of its own, and their shared parts.

pub(crate) mod asm;
pub(crate) mod batch;
pub(crate) mod bench;
pub(crate) mod cache;
pub(crate) mod check;
pub(crate) mod circuit;
pub(crate) mod compile;
pub(crate) mod completions;
pub(crate) mod dap;
pub(crate) mod debug;
pub(crate) mod disasm;
pub(crate) mod energy;
pub(crate) mod expect;
pub(crate) mod explain;
pub(crate) mod fmt;
pub(crate) mod functional;
pub(crate) mod grad;
pub(crate) mod import;
pub(crate) mod invert;
pub(crate) mod isa;
pub(crate) mod lab;
pub(crate) mod level;
pub(crate) mod man;
pub(crate) mod prove;
pub(crate) mod run;
mod usage;

use anyhow::Context;
use pendula::arguments;
use pendula::asm::assemble::Options;
use pendula::asm::diagnostic::{Diagnostic, Sources};
use pendula::asm::pisa;
use pendula::compiler::janus::store::Variable;
use pendula::compiler::{self, lower::Erase};
use pendula::isa::Module;
use pendula::isa::budget::Budget;
use pendula::isa::counts::Direction;
use pendula::load::{self, LoadError, Loaded};
use pendula::report::{Reporter, kept, print};
use pendula::uncompute;
use pendula::vm::{self, Machine, Outcome, Snapshot};
use serde_json::{Map, Value};

use crate::cli::args::{Alias, Conditions, Options as SourceOptions, Reading, Source, Strictness, Switch, Uncompute};
use crate::cli::output::{as_json, report};
use crate::cli::program::Program;
use crate::cli::report::answer;
use crate::cli::report::outcome::{explain, outcome_json};
use crate::cli::rerun::{in_source, there};
use crate::cli::session::{self, Session};
use crate::cli::status::{Reported, Status, settled};

/// The assembler's options from the command line's.
pub(crate) fn options(source: &Source, mem: Option<u64>) -> Options {
    let mut budget = budget(&source.options);
    budget.words = mem.unwrap_or(budget.words);
    let pisa = pisa::Options { budget, ..reading(&source.options.pisa, &source.options.strictness) };
    let assembly = &source.options.assembly;
    let defines = assembly.define.clone();
    let extensions = source.options.definitions.isa.clone();
    Options { include_outside: assembly.include_outside, defines, extensions, budget, loader: None, pisa }
}

/// The budget for reading a program.
pub(crate) fn budget(given: &SourceOptions) -> Budget {
    let (bytes, expansion) = (given.limit.max_source as u64, given.assembly.max_expansion as u64);
    Budget { bytes, expansion, ..Budget::default() }
}

/// The options for reading PISA, from the command line's.
fn reading(given: &Reading, strictness: &Strictness) -> pisa::Options {
    pisa::Options {
        pendvm_bugs: given.pendvm_bugs,
        strict: strictness.strict,
        alias: match given.alias {
            Alias::Error => pisa::Alias::Refuse,
            Alias::Noop => pisa::Alias::Nothing,
        },
        budget: Budget::default(),
    }
}

/// The conditions under which a program will run; `--uncompute auto` measures under the same conditions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunConditions<'a> {
    pub(crate) given: &'a Conditions,
    /// The input tape.
    pub(crate) input: Option<&'a str>,
}

/// Loads a program; `run` says how it will run, if it will. Errors are reported here, as text or as JSON.
///
/// # Errors
/// [`Reported`] for such an error.
pub(crate) fn load(
    source: &Source,
    run: Option<RunConditions<'_>>,
    json: bool,
    reporter: &Reporter,
) -> anyhow::Result<Program> {
    let options = compile::options(&source.options)?;
    let loaded = load_with(source, &options, run)?;
    check_inputs(loaded, (source, &options, run.is_some()), json, reporter)
}

/// Returns the program if it has what it needs to be compiled or, with `run`, to be run; otherwise, reports the error.
fn check_inputs(
    loaded: Result<Loaded, LoadError>,
    (source, options, run): (&Source, &compiler::compile::Options, bool),
    json: bool,
    reporter: &Reporter,
) -> anyhow::Result<Program> {
    if let Ok(loaded) = &loaded
        && let Some(missing) = usage::missing(source, loaded, options, run)
    {
        report(&[missing], &loaded.sources, json, reporter)?;
        return Err(Reported(Status::Fault).into());
    }
    checked(loaded, json, reporter)
}

/// Loads a program that is only inspected. If a Nil program cannot be compiled without arguments, it gets example
/// arguments, which are also returned.
pub(crate) fn load_to_check(
    source: &Source,
    json: bool,
    reporter: &Reporter,
) -> anyhow::Result<(Program, Option<String>)> {
    let options = compile::options(&source.options)?;
    let loaded = load_with(source, &options, None)?;
    let arguments = loaded.as_ref().ok().and_then(|loaded| usage::example_arguments(source, loaded, &options));
    if arguments.is_none() {
        return Ok((check_inputs(loaded, (source, &options, false), json, reporter)?, None));
    }
    let text = loaded.ok().and_then(|loaded| Some(loaded.compiled?.inputs.into_iter().next()?.text));
    let mut with = source.clone();
    with.options.nil.args.clone_from(&arguments);
    let options = compile::options(&with.options)?;
    let loaded = load::load_bytes(&source.file, text.unwrap_or_default().into(), &self::options(&with, None), &options);
    let program = checked(loaded, json, reporter);
    if let (Err(error), Some(text), false) = (&program, &arguments, json)
        && error.is::<Reported>()
    {
        print(&format!("{}: compiled with --args {}\n", load::display_name(&source.file), usage::quoted(text)))?;
    }
    Ok((program?, arguments))
}

/// Loads a program with these compiler options instead of the command line's.
fn load_with(
    source: &Source,
    nil_options: &compiler::compile::Options,
    run: Option<RunConditions<'_>>,
) -> anyhow::Result<Result<Loaded, LoadError>> {
    source.check()?;
    let mem = run.and_then(|r| r.given.mem);
    let how = self::options(source, mem);
    // Standard input can be read only once.
    let bytes = match load::read_source(&source.file, &how.budget) {
        Ok(bytes) => bytes,
        Err(error) => return Ok(Err(error)),
    };
    let load = |options: &compiler::compile::Options| load::load_bytes(&source.file, bytes.clone(), &how, options);
    match (load(nil_options), source.options.compiler.uncompute) {
        (Ok(loaded), Uncompute::Auto) => {
            let with = |erase| load(&compiler::compile::Options { erase, ..nil_options.clone() });
            Ok(Ok(cheapest(source, loaded, run, with)?))
        }
        (loaded, _) => Ok(loaded),
    }
}

/// Returns the loaded program; otherwise, reports the error.
fn checked(loaded: Result<Loaded, LoadError>, json: bool, reporter: &Reporter) -> anyhow::Result<Program> {
    let Loaded { module, diagnostics, sources, named, compiled } = match loaded {
        Ok(loaded) => loaded,
        Err(LoadError::Object { path, error }) => {
            // A damaged object is the user's fault and is reported like an assembly error.
            let d = Diagnostic::error(error.code(), format!("{path}: {error}")).help(error.help());
            report(std::slice::from_ref(&d), &Sources::default(), json, reporter)?;
            return Err(Reported(Status::Fault).into());
        }
        Err(error) => return Err(error.into()),
    };
    match module {
        Some(module) => Ok(Program { module, sources, warnings: diagnostics, named, compiled }),
        None => {
            report(&diagnostics, &sources, json, reporter)?;
            Err(Reported(Status::Fault).into())
        }
    }
}

/// Applies `--uncompute auto` to a program that was compiled to undo everything. The candidates are this program, one
/// that erases what is cheaper to erase, and one that erases as much as possible; the result is the one with the least
/// cost when it runs.
fn cheapest(
    source: &Source,
    undone: Loaded,
    run: Option<RunConditions<'_>>,
    with: impl Fn(Erase) -> Result<Loaded, LoadError>,
) -> anyhow::Result<Loaded> {
    let Loaded { module: Some(module), compiled: Some(nil), .. } = &undone else { return Ok(undone) };
    let Some(ir) = &nil.program else { return Ok(undone) };
    if run.is_some() && nil.wants_arguments {
        // It cannot run without arguments, which is reported elsewhere.
        return Ok(undone);
    }
    anyhow::ensure!(
        ir.entry.is_some(),
        "--uncompute auto runs the program to measure it: give it arguments with --args"
    );
    let technology = session::technology(source.options.compiler.auto_tech().trim())?;
    let shared = uncompute::places(module, nil.variables());
    let (mut least, names) = measured(module.clone(), nil.variables(), run, |machine, start| {
        let counts = machine.counts();
        let (joules, found) = uncompute::price(machine, start, &shared, &technology)?;
        Ok((joules, uncompute::cheaper_to_erase(module, &counts, &found, ir, &technology)?))
    })
    .context("--uncompute auto")?;
    let mut out = undone;
    let some = (!names.is_empty()).then_some(Erase::Some(names));
    for erase in some.into_iter().chain([Erase::Always]) {
        let reported = format!("{erase:?}");
        let Loaded { module: Some(module), diagnostics, sources, named, compiled } = with(erase)? else { continue };
        let variables = compiled.as_ref().and_then(|n| n.variables());
        let shared = uncompute::places(&module, variables);
        let price = measured(module.clone(), variables, run, |machine, start| {
            Ok(uncompute::price(machine, start, &shared, &technology)?)
        });
        match price {
            Ok((joules, _)) => {
                tracing::info!(target: "pendula::cmd", "erased: {reported}: {joules:e} J; the least so far: {least:e} J");
                if joules < least {
                    least = joules;
                    out = Loaded { module: Some(module), diagnostics, sources, named, compiled };
                }
            }
            // A program that does not end is not a candidate.
            Err(error) => tracing::info!(target: "pendula::cmd", "erased: {reported}: {error:#}"),
        }
    }
    Ok(out)
}

/// Runs a program forward to measure it, and calls a function with the machine and its initial state.
fn measured<T>(
    module: Module,
    variables: Option<&[Variable]>,
    run: Option<RunConditions<'_>>,
    ask: impl FnOnce(&mut Machine<'_>, &Snapshot) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let program = vm::Program::new(module, run.is_none_or(|r| r.given.checks == Switch::On))?;
    let mut machine = match run {
        Some(run) => session::machine(&program, run.given, variables)?,
        None => Machine::new(&program, &vm::Config { count: true, ..Default::default() })?,
    };
    if let Some(tape) = run.and_then(|r| r.input) {
        session::input(&mut machine, tape, None, false)?;
    }
    let start = machine.snapshot();
    machine.begin(Direction::Forward);
    let limit = run.and_then(|r| r.given.max_steps);
    match Session::limited(limit).go(&mut machine)? {
        Outcome::Finished => ask(&mut machine, &start),
        Outcome::Limit => {
            let most = limit.map_or(String::new(), |n| format!(" {n}"));
            anyhow::bail!("the run that measures what undoing costs takes more instructions than --max-steps{most}")
        }
        Outcome::Trap(trap) => {
            anyhow::bail!("the run that measures what undoing costs did not end: {}", trap.fault.title())
        }
    }
}

/// Reports that a run stopped before its end.
pub(crate) fn stopped(
    outcome: &Outcome,
    (given, json): (&Conditions, bool),
    machine: &Machine<'_>,
    loaded: &Program,
    reporter: &Reporter,
) -> anyhow::Result<Status> {
    let stop_report = in_source(outcome, machine, loaded, given, (&there(machine), &[]));
    let limits = (given.max_steps, stop_report.as_ref());
    if json {
        answer::answer(reporter, false, outcome_json(outcome, machine, limits), warnings(loaded, &[]))?;
    } else {
        explain(outcome, machine, &loaded.sources, reporter, limits);
    }
    Ok(Status::Fault)
}

/// The warnings from loading a program, and those in `besides`, for JSON.
pub(crate) fn warnings(loaded: &Program, besides: &[Diagnostic]) -> Map<String, Value> {
    let all = [&loaded.warnings, besides].concat();
    Map::from_iter([("diagnostics".to_string(), as_json(&all, &loaded.sources))])
}

/// Loads a program for a run, reports its warnings as text, and prepares it.
pub(crate) fn prepared(
    source: &Source,
    run: RunConditions<'_>,
    backward: bool,
    json: bool,
    reporter: &Reporter,
) -> anyhow::Result<(Program, vm::Program)> {
    let loaded = load(source, Some(run), json, reporter)?;
    if !json {
        reporter.diagnostics(&loaded.warnings, &loaded.sources);
    }
    let program = session::program(&loaded, source, run.given, backward, json, reporter)?;
    Ok((loaded, program))
}

/// Calls `one` for each program, continues after errors, and returns the worst status. If there are several programs
/// and `headed` is set, each text report begins with the file name. In JSON, one object holds all reports.
pub(crate) fn each(
    sources: impl Iterator<Item = Source>,
    (headed, json): (bool, bool),
    reporter: &Reporter,
    mut one: impl FnMut(&Source) -> anyhow::Result<Status>,
) -> anyhow::Result<Status> {
    let sources: Vec<Source> = sources.collect();
    let mut one = |source: &Source| settled(one(source));
    if let [source] = &sources[..] {
        return one(source);
    }
    let mut worst = Status::Done;
    let mut files = Vec::new();
    for (n, source) in sources.iter().enumerate() {
        let name = load::display_name(&source.file);
        if headed && !json {
            print(&format!("{}==> {name} <==\n", if n > 0 { "\n" } else { "" }))?;
        }
        let (done, said) = if json { kept(|| one(source)) } else { (one(source), None) };
        let mut object = said.map(answer::fields).unwrap_or_default();
        let status = match done {
            Ok(status) => status,
            Err(error) if crate::cli::status::broken_pipe(&error) => return Err(error),
            Err(error) => {
                if json {
                    object = answer::object(reporter, false, answer::failed(&error), Map::new());
                } else {
                    reporter.failure(&error);
                }
                Status::Usage
            }
        };
        worst = worst.max(status);
        object.insert("file".into(), name.into());
        // The enclosing object has the schema.
        object.remove("schema");
        object.remove("numerics");
        files.push(Value::Object(object));
    }
    if json {
        let rest = Map::from_iter([("files".to_string(), Value::Array(files))]);
        answer::answer(reporter, worst == Status::Done, answer::finished(), rest)?;
    }
    Ok(worst)
}

/// The names in lists such as `a,b[2]`; commas in brackets belong to a name, as in `A[2,1]`.
pub(crate) fn names(lists: &[String]) -> Vec<String> {
    let split = |list: &String| match arguments::split(list, ',') {
        Ok(names) => names.into_iter().map(str::to_string).collect(),
        // The lookup of the name reports the error.
        Err(_) => vec![list.clone()],
    };
    lists.iter().flat_map(split).collect()
}
