//! Expectations: values that a program's text says its expressions have, and whether they have them.

use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::Place;

use crate::core::Value;
use crate::errors::{Failure, INTERRUPTED};
use crate::eval::{Limits, Machine};
use crate::fut;
use crate::fut::blocks::{Case, Test};
use crate::vlad::{Form, Reading, Sexp};

/// The greatest difference of two numbers that agree, absolute and as a part of the expected one.
pub const TOLERANCE: (f64, f64) = (1e-10, 1e-9);

/// What became of an expectation.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// It is met.
    Met,
    /// The value is another one: what was expected, and what was found.
    Differs(String, String),
    /// There is no value.
    Failed(Box<Failure>),
    /// It is not met: why.
    Wrong(String),
    /// It cannot be checked: why.
    Skipped(String),
}

/// An expectation that was checked.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Where the expression is written.
    pub place: Option<Place>,
    /// What became of it.
    pub verdict: Verdict,
}

/// Checks the expectations of a program in VLAD. An evaluation that is interrupted ends them.
pub(crate) fn vlad(reading: &Reading, limits: &Limits) -> Vec<Checked> {
    let mut machine = Machine::new(reading.program.store.clone(), limits.clone());
    let mut expected = reading.expected.iter();
    let mut out = Vec::new();
    for item in &reading.program.items {
        let wanted = if item.shown { expected.next().and_then(Option::as_ref) } else { None };
        let (inputs, wanted) = wanted.map_or((Vec::new(), None), |wanted| with_inputs(wanted));
        machine.feed_only(inputs);
        let value = machine.item(item);
        let output = machine.output();
        if let (Some(var), Ok(value)) = (item.defines, &value) {
            machine.define(var, value.clone());
        }
        let Some(wanted) = wanted else { continue };
        if let Err(failure) = &value
            && failure.code == INTERRUPTED
        {
            break;
        }
        let verdict = verdict(wanted, value.map_err(|f| f.at(item.place.as_ref())), &output);
        out.push(Checked { place: item.place.clone(), verdict });
    }
    out
}

/// Checks the cases that a program in Futhark has in comments. `data` gives the texts of files that they name.
pub(crate) fn futhark(
    module: &fut::Module,
    text: &str,
    (budget, limits): (&Budget, &Limits),
    data: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Vec<Checked> {
    let mut run = |case: &Case| match fut::check::run(module, case, limits.clone(), *budget, data) {
        fut::check::Verdict::Right => Verdict::Met,
        fut::check::Verdict::Wrong(why) => Verdict::Wrong(why),
        fut::check::Verdict::Skipped(why) => Verdict::Skipped(why),
    };
    let checked = |test: Test| {
        let (span, verdict) = match test {
            Test::Case(case) => (case.span.clone(), run(&case)),
            Test::Refused(span) => (span, Verdict::Wrong("the program has no error".to_string())),
            Test::Unread(span, why) => (span, Verdict::Wrong(why)),
        };
        Checked { place: Some(Place { file: module.main, span }), verdict }
    };
    fut::blocks::tests(text).into_iter().map(checked).collect()
}

/// What is expected of a program in Futhark that is refused: that it is, if one of its tests says so.
pub(crate) fn refused(text: &str) -> Option<Checked> {
    let expected = fut::blocks::tests(text).into_iter().any(|test| matches!(test, Test::Refused(_)));
    expected.then_some(Checked { place: None, verdict: Verdict::Met })
}

/// The numbers that an expectation gives to read, and the rest of it.
fn with_inputs(wanted: &Sexp) -> (Vec<f64>, Option<&Sexp>) {
    let Some([inputs, wanted]) = wanted.headed("with-inputs") else { return (Vec::new(), Some(wanted)) };
    let numbers = inputs.list().unwrap_or_default().iter().filter_map(|input| match input.form {
        Form::Number(x) => Some(x),
        Form::Symbol(_) | Form::Bool(_) | Form::Text(_) | Form::List(..) => None,
    });
    (numbers.collect(), Some(wanted))
}

/// Whether a value, with what was written before it, is as expected.
fn verdict(wanted: &Sexp, value: Result<Value, Failure>, output: &str) -> Verdict {
    if let Some(choices) = wanted.headed("or") {
        let mut last = None;
        for choice in choices {
            match verdict(choice, value.clone(), output) {
                Verdict::Met => return Verdict::Met,
                other => last = last.or(Some(other)),
            }
        }
        return last.unwrap_or(Verdict::Met);
    }
    if wanted.headed("error").is_some() {
        return match value {
            Err(_) => Verdict::Met,
            Ok(value) => Verdict::Differs("an error".into(), value.brief()),
        };
    }
    let value = match value {
        Ok(value) => value,
        Err(failure) => return Verdict::Failed(Box::new(failure)),
    };
    let found = format!("{output} {}", value.show());
    let budget = Budget { depth: u32::MAX, ..Budget::default() };
    let forms = crate::vlad::forms(&found, u16::MAX, &budget).unwrap_or_default();
    let met = match wanted.headed("multiform") {
        Some(all) => all.len() == forms.len() && all.iter().zip(&forms).all(|(wanted, found)| same(wanted, found)),
        // What was written before counts only in a `multiform`.
        None => forms.last().is_some_and(|found| same(wanted, found)),
    };
    if met { Verdict::Met } else { Verdict::Differs(text(wanted), found.trim().to_string()) }
}

/// A form as text.
fn text(form: &Sexp) -> String {
    let several = |all: &[Sexp]| all.iter().map(text).collect::<Vec<_>>().join(" ");
    match &form.form {
        Form::Symbol(name) => name.to_string(),
        Form::Number(x) => Value::real(*x).show(),
        Form::Bool(truth) => if *truth { "#t" } else { "#f" }.into(),
        Form::Text(text) => format!("{text:?}"),
        Form::List(all, None) => format!("({})", several(all)),
        Form::List(all, Some(last)) => format!("({} . {})", several(all), text(last)),
    }
}

/// Whether two numbers agree.
pub fn agree(expected: f64, found: f64) -> bool {
    let (absolute, relative) = TOLERANCE;
    expected == found
        || (expected.is_finite() && (expected - found).abs() <= absolute + relative * expected.abs())
        || (expected.is_nan() && found.is_nan())
}

/// Whether a form is another one, but for the tolerance of numbers.
pub(crate) fn same(expected: &Sexp, found: &Sexp) -> bool {
    let mut pairs = vec![(expected, found)];
    while let Some((expected, found)) = pairs.pop() {
        match (&expected.form, &found.form) {
            (Form::Number(a), Form::Number(b)) if agree(*a, *b) => {}
            (Form::Symbol(a), Form::Symbol(b)) if a == b => {}
            (Form::Bool(a), Form::Bool(b)) if a == b => {}
            (Form::Text(a), Form::Text(b)) if a == b => {}
            (Form::List(a, p), Form::List(b, q)) if a.len() == b.len() && p.is_some() == q.is_some() => {
                pairs.extend(a.iter().zip(b));
                pairs.extend(p.iter().zip(q).map(|(p, q)| (&**p, &**q)));
            }
            (Form::Number(_) | Form::Symbol(_) | Form::Bool(_) | Form::Text(_) | Form::List(..), _) => return false,
        }
    }
    true
}
