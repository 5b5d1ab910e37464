//! Functional programs.

use pendula_functional::ad::ladder::Stage;
use pendula_functional::eval::Limits;
use pendula_functional::print;
use pendula_functional::source::{Method, Notation, Source, read};
use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::Sources;

/// A program that is read without files, within a small budget.
fn program(notation: Notation, text: &str) -> Option<Source> {
    let budget = Budget { bytes: 1 << 16, statements: 1 << 14, ..Budget::default() };
    let mut none = |_: &str, _: &str| Err("no files".to_string());
    read(notation, ("fuzz", text), &mut Sources::default(), &mut none, &budget).ok()
}

/// What an evaluation may take.
fn limits() -> Limits {
    Limits { memory: 1 << 26, steps: 20_000, input: vec![1.5, -2.0], ..Limits::default() }
}

/// The value of a function at an argument by the stages that have an array or a tape must be the same, where both have one.
fn stages(program: &Source, arguments: &str) {
    let budget = Budget::default();
    let by = |stage| {
        let mut call = program.call(None, arguments, limits(), &budget).ok()?;
        call.gradient(None, Method::Ladder(stage)).ok().map(|gradient| gradient.value.show())
    };
    if let (Some(arrays), Some(tape)) = (by(Stage::D4), by(Stage::D5)) {
        assert_eq!(arrays, tape);
    }
    if let Ok(mut call) = program.call(None, arguments, limits(), &budget) {
        let _ = call.gradient(None, Method::Transform);
    }
}

/// A program in VLAD: what is read is evaluated within limits, printed, and its last function differentiated.
pub fn vlad(text: &str) {
    let Some(program) = program(Notation::Vlad, text) else { return };
    if let Ok((core, _)) = program.code(None, limits()) {
        let _ = print::program(&core);
    }
    let _ = program.run(limits());
    stages(&program, "1.5");
}

/// A program in Futhark: the same, with its only entry point or `main`.
pub fn futhark(text: &str) {
    let Some(program) = program(Notation::Futhark, text) else { return };
    if let Ok((core, _)) = program.code(None, limits()) {
        let _ = print::program(&core);
    }
    for arguments in ["", "1.5", "[1.5, 2.5]", "3"] {
        stages(&program, arguments);
    }
}
