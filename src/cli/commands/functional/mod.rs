//! Functional programs: they are evaluated, and have no code for the machine.

pub(crate) mod check;
pub(crate) mod compile;
pub(crate) mod grad;
pub(crate) mod run;
mod stats;
mod value;

use std::path::{Path, PathBuf};

use pendula::asm::diagnostic::{Diagnostic, Sources};
use pendula::isa::budget::Budget;
use pendula::load::{self, FileKind};
use pendula::report::Reporter;
use pendula_functional::ad::ladder;
use pendula_functional::errors::Failure;
use pendula_functional::eval::Limits;
use pendula_functional::source::{self, Notation, read};
use serde_json::{Map, Value, json};

use crate::cli::args::{Conditions, Source, Stage};
use crate::cli::commands::budget;
use crate::cli::interrupt;
use crate::cli::memory;
use crate::cli::output::{as_json, report};
use crate::cli::report::answer;
use crate::cli::status::{Reported, Status};

/// True if a file holds a functional program.
pub(crate) fn is_functional(file: &str) -> bool {
    load::kind_at(file).is_some_and(FileKind::is_functional)
}

/// A program that has been read.
pub(crate) struct Loaded {
    pub(crate) program: source::Source,
    pub(crate) sources: Sources,
    pub(crate) budget: Budget,
    pub(crate) warnings: Vec<Diagnostic>,
}

/// The text of a program, and its notation.
pub(crate) fn text(file: &str, budget: &Budget) -> anyhow::Result<(String, Notation)> {
    let bytes = load::read_source(file, budget)?;
    let kind = load::kind_of(file, &bytes);
    let notation = match kind {
        FileKind::Futhark => Notation::Futhark,
        FileKind::Vlad => Notation::Vlad,
        FileKind::Assembly | FileKind::Object | FileKind::Nil | FileKind::Janus | FileKind::Pisa => {
            anyhow::bail!("{} is {}, and not a functional program", load::display_name(file), kind.name())
        }
    };
    Ok((load::text_of(file, bytes)?, notation))
}

/// Finds a file that a program includes, in the folder of the file that includes it. The extension of that file may be left out.
pub(crate) fn found(budget: &Budget) -> impl FnMut(&str, &str) -> Result<(String, String), String> + '_ {
    move |from: &str, name: &str| {
        let from = Path::new(from);
        let mut path = from.parent().map_or_else(PathBuf::new, Path::to_path_buf).join(name);
        if let (None, Some(extension)) = (path.extension(), from.extension()) {
            path.set_extension(extension);
        }
        let shown = path.display().to_string();
        let bytes = load::read_bytes(&shown, budget).map_err(|error| error.to_string())?;
        let text = load::text_of(&shown, bytes).map_err(|error| error.to_string())?;
        Ok((shown, text))
    }
}

/// Reads a program. Errors in it are reported here, as text or as JSON.
///
/// # Errors
/// [`Reported`] for such an error.
pub(crate) fn loaded(source: &Source, json: bool, reporter: &Reporter) -> anyhow::Result<Loaded> {
    source.check()?;
    let budget = budget(&source.options);
    let (text, notation) = text(&source.file, &budget)?;
    let mut sources = Sources::default();
    let name = load::display_name(&source.file);
    match read(notation, (name, &text), &mut sources, &mut found(&budget), &budget) {
        Ok(program) => {
            let warnings = program.warnings();
            if !json {
                reporter.diagnostics(&warnings, &sources);
            }
            Ok(Loaded { program, sources, budget, warnings })
        }
        Err(diagnostics) => {
            report(&diagnostics, &sources, json, reporter)?;
            Err(Reported(Status::Fault).into())
        }
    }
}

/// The limits of an evaluation.
pub(crate) fn limits(given: &Conditions) -> Limits {
    Limits {
        memory: memory::limit().unwrap_or(u64::MAX),
        steps: given.max_steps.unwrap_or(u64::MAX),
        interrupt: Some(interrupt::flag()),
        input: Vec::new(),
    }
}

/// Refuses options that have no meaning for functional programs.
pub(crate) fn refuse(file: &str, options: &[(&str, bool)]) -> anyhow::Result<()> {
    match options.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => {
            let name = load::display_name(file);
            anyhow::bail!(
                "{option} is for programs of the machine, and {name} is a functional program, which is evaluated"
            )
        }
    }
}

/// Refuses conditions of a run that have no meaning for functional programs.
pub(crate) fn refuse_conditions(file: &str, given: &Conditions) -> anyhow::Result<()> {
    let Conditions { set, engine, no_cc, mem, checks, trap, ieee, max_steps: _ } = given;
    refuse(
        file,
        &[
            ("--set", !set.is_empty()),
            ("--engine", *engine != crate::cli::args::Engine::Auto),
            ("--no-cc", *no_cc),
            ("--mem", mem.is_some()),
            ("--checks", *checks != crate::cli::args::Switch::On),
            ("--trap", !trap.is_empty()),
            ("--ieee", *ieee),
        ],
    )
}

/// Reports why an evaluation stopped.
pub(crate) fn stopped(
    failure: &Failure,
    loaded: &Loaded,
    (given, json): (&Conditions, bool),
    rest: Map<String, Value>,
    reporter: &Reporter,
) -> anyhow::Result<Status> {
    let d = diagnostic(failure);
    let (outcome, status) = if failure.is_interrupted() {
        (json!({ "kind": "interrupted", "code": failure.code, "message": failure.message }), Status::Interrupted)
    } else if failure.is_step_limit() {
        (json!({ "kind": "limit", "code": failure.code, "max_steps": given.max_steps }), Status::Fault)
    } else {
        (json!({ "kind": "rejected" }), Status::Fault)
    };
    if json {
        let mut rest = rest;
        rest.insert("diagnostics".into(), as_json(&[&loaded.warnings[..], &[d]].concat(), &loaded.sources));
        answer::answer(reporter, false, outcome, rest)?;
    } else {
        reporter.diagnostic(&d, &loaded.sources);
    }
    Ok(status)
}

/// A failure as a diagnostic, with help that names options.
pub(crate) fn diagnostic(failure: &Failure) -> Diagnostic {
    let d = failure.diagnostic();
    if failure.is_step_limit() {
        d.help("allow more with `--max-steps`")
    } else if failure.is_memory_limit() {
        let help = failure.help.clone().unwrap_or_default();
        d.help(format!("{help}; `--memory-limit` allows more"))
    } else {
        d
    }
}

impl From<Stage> for ladder::Stage {
    fn from(stage: Stage) -> ladder::Stage {
        match stage {
            Stage::D1 => ladder::Stage::D1,
            Stage::D2 => ladder::Stage::D2,
            Stage::D3 => ladder::Stage::D3,
            Stage::D4 => ladder::Stage::D4,
            Stage::D5 => ladder::Stage::D5,
        }
    }
}
