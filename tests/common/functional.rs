//! What functional programs of tests report and show.

use std::path::Path;

use pendula::asm::diagnostic::{Diagnostic, Sources};
use pendula_functional::ad::ladder::Stage;
use pendula_functional::errors::Failure;
use pendula_functional::eval::Limits;
use pendula_functional::source::{Method, Notation, Source, read};
use pendula_isa::budget::Budget;

use super::expectations::Expectations;

/// Steps that a program may take if it says nothing else.
const STEPS: u64 = 20_000_000;

/// The diagnostics of a program, and the values that it shows.
pub(crate) fn outcome(path: &Path, text: &str, expected: &Expectations) -> (Vec<Diagnostic>, Vec<String>) {
    let (budget, mut sources) = (Budget::default(), Sources::default());
    let program = match program(path, text, &mut sources, &budget) {
        Ok(program) => program,
        Err(diagnostics) => return (diagnostics, Vec::new()),
    };
    let (stopped, shown) = evaluated(&program, &budget, expected);
    ([program.warnings(), stopped].concat(), shown)
}

fn program(path: &Path, text: &str, sources: &mut Sources, budget: &Budget) -> Result<Source, Vec<Diagnostic>> {
    let notation = if path.extension().is_some_and(|e| e == "fut") { Notation::Futhark } else { Notation::Vlad };
    let name = path.file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned());
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut load = |_: &str, name: &str| {
        let text =
            std::fs::read_to_string(folder.join(name)).map_err(|error| format!("cannot read {name}: {error}"))?;
        Ok((name.to_string(), text))
    };
    read(notation, (&name, text), sources, &mut load, budget)
}

fn evaluated(program: &Source, budget: &Budget, expected: &Expectations) -> (Vec<Diagnostic>, Vec<String>) {
    let steps = expected.number("max-steps").expect("a number").unwrap_or(STEPS);
    let limits = Limits { steps, ..Limits::default() };
    let (entry, arguments) = (expected.option("entry"), expected.option("args"));
    let failed = |failure: &Failure| vec![failure.diagnostic()];
    if entry.is_none() && arguments.is_none() {
        return match program.run(limits) {
            Ok(outcome) => {
                let values = outcome.values.into_iter().map(|shown| shown.value);
                let (mut diagnostics, mut texts) = (Vec::new(), Vec::new());
                for value in values {
                    match value {
                        Ok(value) => texts.push(value.show()),
                        Err(failure) => diagnostics.push(failure.diagnostic()),
                    }
                }
                (diagnostics, texts)
            }
            Err(failure) => (failed(&failure), Vec::new()),
        };
    }
    let mut call = match program.call(entry, arguments.unwrap_or_default(), limits, budget) {
        Ok(call) => call,
        Err(failure) => return (failed(&failure), Vec::new()),
    };
    let stage = expected.option("stage").map(|name| {
        let stage = Stage::ALL.into_iter().find(|stage| stage.name() == name);
        stage.map_or(Method::Transform, Method::Ladder)
    });
    let texts = match stage {
        None => call.value().map(|value| vec![call.show(&value)]),
        Some(method) => call
            .gradient(expected.option("seed"), method)
            .map(|g| vec![call.show(&g.value), call.show_gradient(&g.gradient)]),
    };
    match texts {
        Ok(texts) => (Vec::new(), texts),
        Err(failure) => (failed(&failure), Vec::new()),
    }
}
