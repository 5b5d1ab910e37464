//! VLAD programs and their derivatives.

use pendula_functional::errors::Failure;
use pendula_functional::eval::{Counts, Limits, Machine};
use pendula_functional::value::Value;
use pendula_functional::vlad;
use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::{Diagnostic, Sources};

mod closures;
mod counts;
mod derivatives;
mod limits;
mod messages;
mod print;
mod programs;
mod random;
mod reading;

/// Derivatives in both modes, as a user writes them.
const MODES: &str = "
(define (dt f) (lambda (x) (unperturb (tangent ((bundle f (perturb (zero f))) (bundle x (perturb 1)))))))
(define (ds f) (lambda (x) (cdr (unsensitize ((cdr ((*j f) (*j x))) (sensitize 1))))))
";

/// Both names of a mode in a program: `{1}` stands for the outer derivative, `{2}` for the inner one.
fn mixes(program: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for outer in ["dt", "ds"] {
        for inner in ["dt", "ds"] {
            let text = program.replace("{1}", outer).replace("{2}", inner);
            all.push((format!("{outer} of {inner}"), format!("{MODES}{text}")));
        }
    }
    all
}

/// What a program gives.
struct Ran {
    values: Vec<Result<Value, Failure>>,
    counts: Counts,
}

fn reading(text: &str) -> vlad::Reading {
    let mut sources = Sources::default();
    let file = sources.add("test.vlad", text).expect("one file");
    let mut include = |_: &str, name: &str| Err(format!("no file `{name}`"));
    vlad::read_all(&mut sources, file, &Budget::default(), &mut include).expect("the text is made of forms")
}

fn mistakes(text: &str) -> Vec<Diagnostic> {
    let mut sources = Sources::default();
    let file = sources.add("test.vlad", text).expect("one file");
    let mut include = |_: &str, name: &str| Err(format!("no file `{name}`"));
    match vlad::read(&mut sources, file, &Budget::default(), &mut include) {
        Ok(_) => Vec::new(),
        Err(all) => all,
    }
}

fn run_with(text: &str, limits: Limits) -> Ran {
    let reading = reading(text);
    assert!(reading.mistakes.is_empty(), "{:?}", reading.mistakes);
    let mut machine = Machine::new(reading.program.store.clone(), limits);
    let outcome = machine.run(&reading.program).expect("all definitions have values");
    Ran { values: outcome.values.into_iter().map(|v| v.value).collect(), counts: outcome.counts }
}

fn run(text: &str) -> Ran {
    run_with(text, Limits::default())
}

/// The last value as text.
fn last(text: &str) -> String {
    let ran = run(text);
    match ran.values.last().expect("an expression") {
        Ok(value) => value.show(),
        Err(failure) => panic!("{failure:?}"),
    }
}

/// The last value, a number.
fn number(text: &str) -> f64 {
    match run(text).values.last().expect("an expression") {
        Ok(value) => value.plain_real().unwrap_or_else(|| panic!("a number, not {}", value.show())),
        Err(failure) => panic!("{failure:?}"),
    }
}

/// The last failure.
fn failure(text: &str) -> Failure {
    match run(text).values.pop().expect("an expression") {
        Ok(value) => panic!("a failure, not {}", value.show()),
        Err(failure) => failure,
    }
}

fn near(found: f64, expected: f64) {
    let close = (found - expected).abs() <= 1e-12 * expected.abs().max(1e-3);
    assert!(close, "{found} instead of {expected}");
}
