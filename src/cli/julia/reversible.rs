//! Calls of a file's reversible functions.
//!
//! A call is compiled as the body of a function that is written in the place of the statement that calls, so that it means the functions
//! that this statement sees.

use std::ops::Range;

use pendula::asm::diagnostic::Severity;
use pendula::program::ErrorKind;
use pendula::{Error, Program};

use super::eval::{Evaluated, Stop, thrown, unknown};
use super::value::Value;

/// The function that stands for a call.
const CALL: &str = "pendula_call";

/// Instructions by the names of NiLang.
const INSTRUCTIONS: [&str; 13] =
    ["SWAP", "NEG", "INC", "DEC", "ROT", "IROT", "HADAMARD", "INV", "FLIP", "CONJ", "PUSH!", "POP!", "XOR"];

/// Instructions that take a function: `PlusEq(sin)`.
pub(super) const CHANGES: [&str; 7] = ["PlusEq", "MinusEq", "MulEq", "DivEq", "XorEq", "AddConst", "SubConst"];

/// Steps of a run, at most.
const STEPS: u64 = 200_000_000;

/// The errors of a program by which NiLang throws, too, when it reads or runs a function.
const IRREVERSIBLE: [&str; 12] =
    ["P0437", "P0438", "P0439", "P0440", "P0441", "P0442", "P0443", "P0444", "P0445", "P0447", "P0448", "P0449"];

/// The reversible functions of a file.
pub(super) struct Reversible<'t> {
    name: &'t str,
    text: &'t str,
    functions: Vec<String>,
}

impl<'t> Reversible<'t> {
    pub(super) fn new(name: &'t str, text: &'t str, functions: Vec<String>) -> Reversible<'t> {
        Reversible { name, text, functions }
    }

    /// Whether there is a reversible function of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        INSTRUCTIONS.contains(&name) || self.functions.iter().any(|f| f == name)
    }

    /// The file with a function in the place of a statement.
    fn program(&self, at: &Range<usize>, parameters: &[String], body: &str) -> Program {
        let (before, after) =
            (self.text.get(..at.start).unwrap_or_default(), self.text.get(at.end..).unwrap_or_default());
        let own = format!("@i function {CALL}({}) {body} end", parameters.join(", "));
        // Lines stay where they are.
        let lines = "\n".repeat(self.text.get(at.clone()).unwrap_or_default().matches('\n').count());
        pendula::text(self.name, format!("{before}{own}{lines}{after}")).entry(CALL).max_steps(STEPS)
    }

    /// The arguments after a call of `f`.
    pub(super) fn call(
        &self,
        at: &Range<usize>,
        f: &str,
        args: &[Value],
        keywords: &[(String, Value)],
    ) -> Evaluated<Vec<Value>> {
        let names: Vec<String> = (1..=args.len() + keywords.len()).map(|n| format!("pendula_{n}")).collect();
        let body = body(f, &names, args.len(), keywords);
        let values: Vec<Value> = args.iter().chain(keywords.iter().map(|(_, v)| v)).cloned().collect();
        let mut after = self.statement(at, &body, &names, &values)?;
        after.truncate(args.len());
        Ok(after)
    }

    /// The values of variables after a statement.
    pub(super) fn statement(
        &self,
        at: &Range<usize>,
        statement: &str,
        names: &[String],
        values: &[Value],
    ) -> Evaluated<Vec<Value>> {
        let (parameters, arguments) = typed(names, values)?;
        let run = self.program(at, &parameters, statement).run(arguments).map_err(stop)?;
        let result = |name: &String| run.values().iter().find(|(own, _)| own == name).map(|(_, v)| Value::result(v));
        names
            .iter()
            .map(|name| result(name).ok_or_else(|| Stop::Unknown(format!("`{name}` has no value afterwards"))))
            .collect()
    }

    /// The derivatives of an argument after a call by the arguments before it.
    pub(super) fn gradient(
        &self,
        at: &Range<usize>,
        f: &str,
        args: &[Value],
        (keywords, loss): (&[(String, Value)], usize),
    ) -> Evaluated<Vec<Option<Value>>> {
        let names: Vec<String> = (1..=args.len() + keywords.len()).map(|n| format!("pendula_{n}")).collect();
        let body = body(f, &names, args.len(), keywords);
        let values: Vec<Value> = args.iter().chain(keywords.iter().map(|(_, v)| v)).cloned().collect();
        let (parameters, arguments) = typed(&names, &values)?;
        let real = |v: &Value| v.is_real();
        let inputs = names.iter().zip(&values).filter(|(_, v)| real(v)).map(|(name, _)| name.as_str());
        let program = self.program(at, &parameters, &body).loss(&format!("pendula_{loss}")).wrt(inputs);
        let gradients = program.grad(arguments).map_err(stop)?;
        let of = |name: &String| gradients.values().iter().find(|(own, _)| own == name).map(|(_, v)| Value::result(v));
        Ok(names[..args.len()].iter().map(of).collect())
    }
}

/// A call with the names of arguments and keywords.
fn body(f: &str, names: &[String], positional: usize, keywords: &[(String, Value)]) -> String {
    let (args, rest) = names.split_at(positional);
    let keywords: Vec<String> = keywords.iter().zip(rest).map(|((name, _), own)| format!("{name}={own}")).collect();
    let semicolon = if keywords.is_empty() { "" } else { "; " };
    format!("{f}({}{semicolon}{})", args.join(", "), keywords.join(", "))
}

/// Parameters with the types of values, and the values as arguments.
fn typed(names: &[String], values: &[Value]) -> Evaluated<(Vec<String>, Vec<pendula::Value>)> {
    let mut parameters = Vec::new();
    let mut arguments = Vec::new();
    for (name, value) in names.iter().zip(values) {
        let (Some(ty), Some(argument)) = (value.parameter_type(), value.argument()) else {
            return unknown(format!("a reversible function cannot take {value}"));
        };
        parameters.push(format!("{name}::{ty}"));
        arguments.push(argument);
    }
    Ok((parameters, arguments))
}

/// What an error of a program is here: one that Julia would throw, or something that cannot be evaluated.
fn stop(error: Error) -> Stop {
    let text = error.to_string();
    // Notes and warnings come before and behind.
    let first =
        text.lines().find(|line| line.starts_with("error")).or(text.lines().next()).unwrap_or_default().to_string();
    let mut errors = error.diagnostics().iter().filter(|d| d.severity == Severity::Error);
    let irreversible = errors.next().is_some_and(|d| IRREVERSIBLE.contains(&&*d.code.to_string()));
    match error.kind() {
        // What a function leaves on the global stack is for a later call to take, and each call is a run of its own here.
        ErrorKind::Trap if first.contains("the stack is empty") => Stop::Unknown(first),
        ErrorKind::Trap => Stop::Thrown(first),
        ErrorKind::Program if irreversible => Stop::Thrown(first),
        _ => Stop::Unknown(first),
    }
}

/// An error as one that Julia would throw.
pub(super) fn mismatch<T>(what: &str) -> Evaluated<T> {
    thrown(format!("DimensionMismatch: {what}"))
}
