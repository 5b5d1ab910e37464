//! Calls of a file's reversible functions.
//!
//! A call is compiled as the body of a function that is written in the place of the statement that calls, so that it means the functions
//! that this statement sees.

use std::ops::Range;

use pendula::asm::diagnostic::Severity;
use pendula::program::ErrorKind;
use pendula::{Error, Program};
use pendula_compiler::nil;
use pendula_compiler::nil::ast::Item;
use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::Sources;

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

/// The errors of the machine about numbers.
const NUMBERS: [&str; 8] = ["P0113", "P0114", "P0115", "P0116", "P0117", "P0118", "P0119", "P0120"];

/// The reversible functions of a file.
pub(super) struct Reversible<'t> {
    name: &'t str,
    text: &'t str,
    functions: Vec<String>,
    /// The numbers of the host's variables, which functions may name.
    pub(super) constants: Vec<(String, String)>,
}

impl<'t> Reversible<'t> {
    pub(super) fn new(name: &'t str, text: &'t str, functions: Vec<String>) -> Reversible<'t> {
        Reversible { name, text, functions, constants: Vec::new() }
    }

    /// Whether there is a reversible function of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        INSTRUCTIONS.contains(&name) || self.functions.iter().any(|f| f == name)
    }

    /// The file with a function in the place of a statement.
    fn program(&self, at: &Range<usize>, parameters: &[String], (body, constants): (&str, &str)) -> Program {
        let (before, after) =
            (self.text.get(..at.start).unwrap_or_default(), self.text.get(at.end..).unwrap_or_default());
        let own = format!("@i function {CALL}({}) {body} end", parameters.join(", "));
        // Lines stay where they are.
        let lines = "\n".repeat(self.text.get(at.clone()).unwrap_or_default().matches('\n').count());
        pendula::text(self.name, format!("{constants}{before}{own}{lines}{after}")).entry(CALL).max_steps(STEPS)
    }

    /// The arguments after a call of `f`.
    pub(super) fn call(
        &self,
        at: &Range<usize>,
        f: &str,
        args: &[Value],
        keywords: &[(String, Value)],
    ) -> Evaluated<Vec<Value>> {
        let call = Call::new(f, args, keywords);
        let mut after = self.statement(at, &call.body, &call.names, &call.values)?.into_iter();
        Ok(args
            .iter()
            .map(|arg| if arg.as_code().is_some() { Some(arg.clone()) } else { after.next() })
            .map_while(|v| v)
            .collect())
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
        let program = |constants: &str| self.program(at, &parameters, (statement, constants));
        let run =
            self.with_constants(|constants| program(constants).run(arguments.clone())).map_err(|stop| match stop {
                // Where a number has no value or is not finite, the host goes on.
                Stop::Thrown(why) if NUMBERS.iter().any(|code| why.starts_with(&format!("error[{code}]"))) => {
                    Stop::Unknown(why)
                }
                other => other,
            })?;
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
        let call = Call::new(f, args, keywords);
        let (parameters, arguments) = typed(&call.names, &call.values)?;
        let real = |v: &Value| v.is_real();
        let inputs = call.names.iter().zip(&call.values).filter(|(_, v)| real(v)).map(|(name, _)| name.as_str());
        let program = |constants: &str| {
            self.program(at, &parameters, (&call.body, constants)).loss(&format!("pendula_{loss}")).wrt(inputs.clone())
        };
        let gradients = self.with_constants(|constants| program(constants).grad(arguments.clone()))?;
        let of = |n: usize| {
            let name = format!("pendula_{n}");
            gradients.values().iter().find(|(own, _)| *own == name).map(|(_, v)| Value::result(v))
        };
        Ok((1..=args.len()).map(of).collect())
    }

    /// Does something with a program, in which the numbers of the host's variables are constants where functions of the file name them.
    fn with_constants<T>(&self, run: impl Fn(&str) -> Result<T, Error>) -> Evaluated<T> {
        let mut constants = String::new();
        loop {
            let error = match run(&constants) {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            let stop = stop(&error);
            let Stop::Unknown(why) = &stop else { return Err(stop) };
            // `error[P0430]: there is no `k` here`
            let name = why.strip_prefix("error[P0430]: there is no `").and_then(|rest| rest.split('`').next());
            let value = name.and_then(|name| self.constants.iter().find(|(own, _)| own == name));
            match value {
                Some((name, value)) if !constants.contains(&format!("const {name} =")) => {
                    constants.push_str(&format!("const {name} = {value}; "));
                }
                _ => return Err(stop),
            }
        }
    }

    /// What NiLang does with a function that is only read: it may refuse it. Parameters without types take doubles.
    pub(super) fn expand(&self, at: &Range<usize>, function: &str) -> Evaluated<()> {
        let mut sources = Sources::default();
        let (inputs, _) = nil::read(&mut sources, "quoted.nil", function.to_string(), &Budget::default(), true);
        let Some(Item::Function(f)) = inputs.first().and_then(|input| input.tree.items.first()) else {
            return unknown("this quoted code is not a reversible function");
        };
        let mut arguments = Vec::new();
        for param in &f.params {
            arguments.push(match param.ty.as_ref().map(|ty| ty.name.text.as_str()) {
                None | Some("Real" | "Number" | "Float64") => pendula::Value::from(0.5),
                Some("Int" | "Integer") => pendula::Value::from(1),
                Some(other) => return unknown(format!("a parameter of the type {other}")),
            });
        }
        let (before, after) =
            (self.text.get(..at.start).unwrap_or_default(), self.text.get(at.end..).unwrap_or_default());
        let text = format!("{before}{function}{after}");
        let entry = format!("{}@{}", f.name.text, 1 + before.matches('\n').count());
        match pendula::text(self.name, text).entry(&entry).check(arguments) {
            Ok(_) => Ok(()),
            Err(error) => Err(stop(&error)),
        }
    }
}

/// A call as the body of a function: its parameters, and their values. Functions stand in it by their names.
struct Call {
    body: String,
    names: Vec<String>,
    values: Vec<Value>,
}

impl Call {
    fn new(f: &str, args: &[Value], keywords: &[(String, Value)]) -> Call {
        let (mut names, mut values, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        let all = args.iter().map(|v| (None, v)).chain(keywords.iter().map(|(name, v)| (Some(name), v)));
        let mut semicolon = false;
        for (n, (keyword, value)) in all.enumerate() {
            let text = value.as_code().unwrap_or_else(|| {
                names.push(format!("pendula_{}", n + 1));
                values.push(value.clone());
                format!("pendula_{}", n + 1)
            });
            let separator = match (n, keyword) {
                (_, Some(_)) if !std::mem::replace(&mut semicolon, true) => "; ",
                (0, _) => "",
                _ => ", ",
            };
            texts.push(keyword.map_or(format!("{separator}{text}"), |name| format!("{separator}{name}={text}")));
        }
        Call { body: format!("{f}({})", texts.concat()), names, values }
    }
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
fn stop(error: &Error) -> Stop {
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
        ErrorKind::Program if irreversible => Stop::Refused(first),
        _ => Stop::Unknown(first),
    }
}

/// An error as one that Julia would throw.
pub(super) fn mismatch<T>(what: &str) -> Evaluated<T> {
    thrown(format!("DimensionMismatch: {what}"))
}
