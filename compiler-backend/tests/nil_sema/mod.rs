//! Tests of the checker: small programs, and what the evaluator or the diagnostics say of them.

mod allocation;
mod arguments;
mod constants;
mod overloads;

use pendula_isa::Ty;
use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::Sources;

use pendula_compiler::ir::eval::{self, Config, EvalError};
use pendula_compiler::nil::read;
use pendula_compiler::nil::sema::{Analysis, Argument, Number, Settings, analyse};

/// The codes of the errors that these tests expect.
mod code {
    pub(super) const UNKNOWN: &str = "P0430";
    pub(super) const METHOD: &str = "P0434";
    pub(super) const ARGUMENTS: &str = "P0435";
    pub(super) const LITERAL: &str = "P0436";
    pub(super) const ENDED: &str = "P0438";
    pub(super) const REDEFINED: &str = "P0439";
    pub(super) const BRANCHES: &str = "P0444";
    pub(super) const ENTRY: &str = "P0452";
    pub(super) const TWICE: &str = "P0453";
    pub(super) const AMBIGUOUS: &str = "P0455";
    pub(super) const FORGOTTEN: &str = "P0460";
}

/// Analyses a program whose entry point has parameters of these types.
fn analysed(text: &str, types: &[&str]) -> Analysis {
    let (inputs, found) = read(&mut Sources::default(), "test.nil", text.to_string(), &Budget::default(), false);
    assert!(found.is_empty(), "{found:?}");
    let types = types.iter().map(ToString::to_string).collect();
    analyse(&inputs, &Settings { types, ..Settings::default() })
}

/// The words of the entry point's parameters after a run forward on these.
fn run(text: &str, types: &[&str], params: &[u64]) -> Result<Vec<u64>, EvalError> {
    let analysis = analysed(text, types);
    let program = analysis.program.unwrap_or_else(|| panic!("{text}: {:?}", analysis.diagnostics));
    let entry = program.entry.expect("the program has an entry");
    let config = Config { memory: 1000, max_steps: 10_000, until: None, ieee: false, trap_overflow: false };
    let forward = eval::Direction::Forward;
    eval::run(&program, entry, forward, params.to_vec(), Vec::new(), None, &config).map(|done| done.params)
}

/// What `y! += e` adds to an integer that is 0, with the integer `x`.
fn integer(e: &str, x: i64) -> i64 {
    let text = format!("@i function f(y!::Int, x::Int)\n    y! += {e}\nend\n");
    let done = run(&text, &["Int", "Int"], &[0, x.cast_unsigned()]).unwrap_or_else(|error| panic!("{e}: {error}"));
    assert_eq!(done[1], x.cast_unsigned(), "{e} changes x");
    done[0].cast_signed()
}

/// The codes of what there is to say about a program.
fn codes(text: &str, types: &[&str]) -> Vec<&'static str> {
    analysed(text, types).diagnostics.iter().map(|d| d.code).collect()
}
