//! Tests of the checker: small programs, and what the evaluator or the diagnostics say of them.

mod constants;
mod places;

use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::Sources;

use crate::ir::eval::{self, Config, EvalError};
use crate::janus::{Read, Settings, read};

fn analysed(text: &str) -> Read {
    read(&mut Sources::default(), "test.ja", text, &Settings::default(), &Budget::default())
}

/// The codes of what there is to say about a program.
fn codes(text: &str) -> Vec<&'static str> {
    analysed(text).diagnostics.iter().map(|d| d.code).collect()
}

/// Runs a program whose `main` has only integers, and gives those.
fn run(text: &str) -> Result<Vec<i64>, EvalError> {
    let found = analysed(text);
    let program = found.program.unwrap_or_else(|| panic!("{text}: {:?}", found.diagnostics));
    let entry = program.entry.expect("the program has a main procedure");
    let params = found.arguments.iter().flat_map(|a| a.words().to_vec()).collect();
    let config = Config { memory: 1000, max_steps: 10_000, until: None, ieee: false, trap_overflow: true };
    let done = eval::run(&program, entry, eval::Direction::Forward, params, Vec::new(), None, &config)?;
    Ok(done.params.into_iter().map(u64::cast_signed).collect())
}
