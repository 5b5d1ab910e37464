//! Functional programs of any notation: what a command line does with them.

use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::{Diagnostic, Sources};

use crate::ad::ladder::{self, Gradient, Stage};
use crate::arguments::{self, Literal};
use crate::core::{Builder, GroupId, Item, Program, Rhs, Store, Value};
use crate::errors::{ARGUMENT, Failure, INCLUDE, LADDER, helped};
use crate::eval::{Counts, Limits, Machine, Outcome};
use crate::expect::Checked;
use crate::fut::{self, ValueType};
use crate::value::Env;
use crate::vlad;
use crate::word::{View, Word};

/// A notation of functional programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// VLAD.
    Vlad,
    /// Futhark.
    Futhark,
}

/// How a function is differentiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// By the reverse transformation of the core, which nests.
    Transform,
    /// By a stage of the ladder.
    Ladder(Stage),
}

/// Finds a file that a program includes, by the name of the file that includes it and the name that is written; gives the name of the file that
/// was found, and its text.
pub type Load<'l> = dyn FnMut(&str, &str) -> Result<(String, String), String> + 'l;

/// A program that was read.
#[derive(Debug)]
pub enum Source {
    /// One in VLAD.
    Vlad(vlad::Reading),
    /// One in Futhark.
    Futhark(fut::Module),
}

/// Reads a program.
///
/// # Errors
/// If the program is wrong.
pub fn read(
    notation: Notation,
    (name, text): (&str, &str),
    sources: &mut Sources,
    load: &mut Load<'_>,
    budget: &Budget,
) -> Result<Source, Vec<Diagnostic>> {
    match notation {
        Notation::Vlad => {
            let reading = reading((name, text), sources, load, budget)?;
            if reading.mistakes.is_empty() { Ok(Source::Vlad(reading)) } else { Err(all_helped(reading.mistakes)) }
        }
        Notation::Futhark => Ok(Source::Futhark(futhark((name, text), sources, load, budget)?)),
    }
}

fn all_helped(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.into_iter().map(helped).collect()
}

fn reading(
    (name, text): (&str, &str),
    sources: &mut Sources,
    load: &mut Load<'_>,
    budget: &Budget,
) -> Result<vlad::Reading, Vec<Diagnostic>> {
    let many = || vec![Diagnostic::error(INCLUDE, "there are more than 65536 files").help("include fewer files")];
    let file = sources.add(name, text).ok_or_else(many)?;
    vlad::read_all(sources, file, budget, load).map_err(|d| all_helped(vec![*d]))
}

fn futhark(
    (name, text): (&str, &str),
    sources: &mut Sources,
    load: &mut Load<'_>,
    budget: &Budget,
) -> Result<fut::Module, Vec<Diagnostic>> {
    let mut import = |path: &str| load(name, &format!("{path}.fut")).map(|(_, text)| text);
    fut::read(name, text, sources, &mut import, *budget).map_err(all_helped)
}

/// Checks the expectations of a program.
///
/// # Errors
/// If the text cannot be read so far that they can be told.
pub fn expectations(
    notation: Notation,
    file: (&str, &str),
    sources: &mut Sources,
    load: &mut Load<'_>,
    (budget, limits): (&Budget, &Limits),
) -> Result<Vec<Checked>, Vec<Diagnostic>> {
    match notation {
        Notation::Vlad => Ok(crate::expect::vlad(&reading(file, sources, load, budget)?, limits)),
        Notation::Futhark => {
            let module = match futhark(file, sources, load, budget) {
                Ok(module) => module,
                Err(mistakes) => return crate::expect::refused(file.1).map_or(Err(mistakes), |met| Ok(vec![met])),
            };
            let mut data = |name: &str| load(file.0, name).map(|(_, text)| text);
            Ok(crate::expect::futhark(&module, file.1, (budget, limits), &mut data))
        }
    }
}

/// A function with its argument, ready to be applied.
#[derive(Debug)]
pub struct Call<'s> {
    /// The machine that has evaluated what the function needs.
    pub machine: Machine,
    /// The function, of one argument.
    pub function: Value,
    /// All arguments as one.
    pub argument: Value,
    types: Option<Types<'s>>,
    budget: &'s Budget,
}

/// The types of a function in Futhark.
#[derive(Debug)]
struct Types<'s> {
    argument: ValueType,
    result: &'s ValueType,
}

impl Source {
    /// What its user should know before its results are read.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        match self {
            Source::Vlad(_) => Vec::new(),
            Source::Futhark(module) => module.warnings(),
        }
    }

    /// Whether the program is a value of Futhark: an entry point without parameters, which [`Source::call`] gives without a name.
    pub fn is_value(&self) -> bool {
        match self {
            Source::Vlad(_) => false,
            Source::Futhark(module) => entry_point(module, None).is_ok_and(|entry| entry.params.is_empty()),
        }
    }

    /// Evaluates the expressions at the top of a program.
    ///
    /// # Errors
    /// If a definition fails, or the program has entry points instead.
    pub fn run(&self, limits: Limits) -> Result<Outcome, Failure> {
        match self {
            Source::Vlad(reading) => crate::eval::run(&reading.program, limits),
            Source::Futhark(module) => {
                let names: Vec<&str> = module.entries.iter().map(|entry| entry.name.as_str()).collect();
                if names.is_empty() {
                    return Err(Failure::new(ARGUMENT, "the program has no entry point")
                        .help("define `main`, or write `entry` in the place of a `def`"));
                }
                Err(Failure::new(ARGUMENT, "a program in Futhark is run by one of its entry points")
                    .help(format!("choose with `--entry`: {}", names.join(", "))))
            }
        }
    }

    /// A function with its arguments: the one with this name, or the last one; in Futhark `main`, or the only entry point.
    ///
    /// # Errors
    /// If there is none, the arguments do not fit, or a definition fails.
    pub fn call<'s>(
        &'s self,
        entry: Option<&str>,
        arguments: &str,
        limits: Limits,
        budget: &'s Budget,
    ) -> Result<Call<'s>, Failure> {
        match self {
            Source::Vlad(reading) => {
                let (machine, function) = vlad_function(reading, entry, limits)?;
                let argument = untyped(arguments, budget)?;
                Ok(Call { machine, function, argument, types: None, budget })
            }
            Source::Futhark(module) => {
                let entry = entry_point(module, entry)?;
                let params: Vec<&ValueType> = entry.params.iter().map(|(_, ty)| ty).collect();
                let given = fut::value::parse_all(arguments, &params, *budget);
                let mut given =
                    given.map_err(|wrong| of_diagnostic(&wrong.diagnostic(arguments), "the arguments: "))?;
                let argument =
                    if given.len() == 1 { given.pop().unwrap_or_default() } else { Value::tuple(given.clone()) };
                let (mut machine, function) = module.start(entry, limits)?;
                let function = of_one_argument(&mut machine, function, (entry.params.len(), entry.tupled()));
                let types = Some(Types { argument: tuple_type(&params), result: &entry.result });
                Ok(Call { machine, function, argument, types, budget })
            }
        }
    }

    /// The code of the program, and of a function if one is named: its group.
    ///
    /// # Errors
    /// If there is no such function.
    pub fn code(&self, entry: Option<&str>, limits: Limits) -> Result<(Program, Option<GroupId>), Failure> {
        let program = match self {
            Source::Vlad(reading) => reading.program.clone(),
            Source::Futhark(module) => Program { store: module.store.clone(), items: module.items.clone() },
        };
        if entry.is_none() {
            return Ok((program, None));
        }
        let (machine, function) = match self {
            Source::Vlad(reading) => vlad_function(reading, entry, limits)?,
            Source::Futhark(module) => module.start(entry_point(module, entry)?, limits)?,
        };
        match &function {
            Value::Closure(_, _, env) => {
                let program = Program { store: machine.store().clone(), items: program.items };
                Ok((program, Some(env.group)))
            }
            other => Err(Failure::new(ARGUMENT, "the name is not that of a function").with(other)),
        }
    }
}

impl Call<'_> {
    /// The value of the function at the argument.
    ///
    /// # Errors
    /// If the evaluation fails.
    pub fn value(&mut self) -> Result<Value, Failure> {
        self.machine.apply(self.function.clone(), self.argument.clone())
    }

    /// The value, and its derivatives with respect to the argument. The seed has the form of the result.
    ///
    /// # Errors
    /// If the evaluation fails, or something cannot be differentiated.
    pub fn gradient(&mut self, seed: Option<&str>, method: Method) -> Result<Gradient, Failure> {
        let seed = match (seed, &self.types) {
            (None, _) => None,
            (Some(text), None) => Some(untyped(text, self.budget)?),
            (Some(text), Some(types)) => {
                let seed = fut::value::parse(text, types.result, *self.budget);
                Some(seed.map_err(|wrong| of_diagnostic(&wrong.diagnostic(text), "the seed: "))?)
            }
        };
        match method {
            Method::Ladder(stage) => {
                ladder::gradient(&mut self.machine, stage, &self.function, &self.argument, seed.as_ref())
            }
            Method::Transform => transform(&mut self.machine, self.function.clone(), self.argument.clone(), seed),
        }
    }

    /// A result as text.
    pub fn show(&self, result: &Value) -> String {
        match &self.types {
            None => result.show(),
            Some(types) => fut::value::print(result, types.result),
        }
    }

    /// Derivatives as text, in the form of the argument.
    pub fn show_gradient(&self, gradient: &Value) -> String {
        match &self.types {
            None => gradient.show(),
            Some(types) => fut::value::print(gradient, &types.argument),
        }
    }
}

fn of_diagnostic(diagnostic: &Diagnostic, what: &str) -> Failure {
    let mut failure = Failure::new(diagnostic.code, format!("{what}{}", diagnostic.message));
    failure.help.clone_from(&diagnostic.help);
    failure
}

/// The error for a name that is not among some.
fn no_such<'n>(name: Option<&str>, names: impl DoubleEndedIterator<Item = &'n str>) -> Failure {
    const MOST: usize = 8;
    let message = match name {
        Some(name) => format!("the program defines no `{name}`"),
        None => "the program defines no function, or several without a `main`".to_string(),
    };
    let mut names: Vec<&str> = names.rev().take(MOST + 1).collect();
    let more = if names.len() > MOST { " and others" } else { "" };
    names.truncate(MOST);
    let failure = Failure::new(ARGUMENT, message);
    if names.is_empty() { failure } else { failure.help(format!("`--entry` takes {}{more}", names.join(", "))) }
}

/// A machine that has evaluated a program's definitions, and the value of one of them.
fn vlad_function(reading: &vlad::Reading, entry: Option<&str>, limits: Limits) -> Result<(Machine, Value), Failure> {
    let names = || reading.definitions.iter().map(|(name, _)| &**name);
    let found = match entry {
        Some(wanted) => reading.definitions.iter().rev().find(|(name, _)| &**name == wanted),
        None => reading.definitions.last(),
    };
    let Some((_, definition)) = found else { return Err(no_such(entry, names())) };
    let mut machine = Machine::new(reading.program.store.clone(), limits);
    let wanted = match definition {
        vlad::Definition::Function(group) => {
            evaluate(&mut machine, &reading.program.items, None)?;
            return Ok((machine, Value::Closure(0, Word::NONE, Env::new(*group, Box::new([])))));
        }
        vlad::Definition::Variable(var) => *var,
    };
    evaluate(&mut machine, &reading.program.items, Some(wanted))?;
    let value = machine.global(wanted).cloned().unwrap_or_default();
    Ok((machine, value))
}

/// Evaluates definitions, up to one if one is wanted.
fn evaluate(machine: &mut Machine, items: &[Item], wanted: Option<crate::core::Var>) -> Result<(), Failure> {
    for item in items {
        let Some(var) = item.defines else { continue };
        let value = machine.item(item).map_err(|failure| failure.at(item.place.as_ref()))?;
        machine.define(var, value);
        if wanted == Some(var) {
            break;
        }
    }
    Ok(())
}

fn entry_point<'m>(module: &'m fut::Module, name: Option<&str>) -> Result<&'m fut::Entry, Failure> {
    let found = match (name, &module.entries[..]) {
        (Some(name), _) => module.entry(name),
        (None, [only]) => Some(only),
        (None, _) => module.entry("main"),
    };
    found.ok_or_else(|| no_such(name, module.entries.iter().map(|entry| entry.name.as_str())))
}

/// The type of several arguments as one.
fn tuple_type(params: &[&ValueType]) -> ValueType {
    match params {
        [one] => (*one).clone(),
        several => {
            ValueType::Record(several.iter().enumerate().map(|(n, ty)| (n.to_string(), (*ty).clone())).collect())
        }
    }
}

/// A function that takes some of its arguments as a tuple and the others one by one, as a function of all in a tuple.
fn of_one_argument(machine: &mut Machine, function: Value, (all, tupled): (usize, usize)) -> Value {
    if all > 0 && (all == tupled || all == 1) {
        return function;
    }
    let store: &mut Store = machine.store_mut();
    let f = store.var("f", None);
    let mut b = Builder::new(store);
    let of = u32::try_from(all).unwrap_or(u32::MAX);
    b.lambda("all-arguments", |b, whole| {
        let parts: Vec<_> = (0..of).map(|n| b.part(whole, n, of)).collect();
        let (first, rest) = parts.split_at(tupled.min(parts.len()));
        let mut value = match first {
            // A definition without parameters is its value.
            [] => f,
            [one] => b.apply(f, *one),
            several => {
                let tuple = b.tuple(several);
                b.apply(f, tuple)
            }
        };
        for part in rest {
            value = b.apply(value, *part);
        }
        value
    });
    match b.binds.last().map(|bind| bind.rhs.clone()) {
        Some(Rhs::Closure(group, member)) => Value::Closure(member, Word::NONE, Env::new(group, Box::new([function]))),
        _ => function,
    }
}

/// Arguments in VLAD as one value: several are pairs whose second parts are pairs.
fn untyped(text: &str, budget: &Budget) -> Result<Value, Failure> {
    let literals = arguments::parse(text, budget).map_err(|error| {
        Failure::new(ARGUMENT, error.to_string())
            .help("write numbers, `true`, `[1, 2]` or `(1, 2)`, with commas between them")
    })?;
    Ok(tuple(&literals))
}

fn tuple(literals: &[Literal]) -> Value {
    let mut values: Vec<Value> = literals.iter().map(of_literal).collect();
    let Some(last) = values.pop() else { return Value::UNIT };
    values.into_iter().rfold(last, |rest, value| Value::pair(value, rest))
}

/// A literal as a value of VLAD: lists of pairs, and all numbers reals.
fn of_literal(literal: &Literal) -> Value {
    match literal {
        Literal::Integer(number, _) => Value::real(*number as f64),
        Literal::Real(number, _) => Value::real(*number),
        Literal::Boolean(truth) => Value::bool(*truth),
        Literal::List(parts) => Value::list(parts.iter().map(of_literal).collect()),
        Literal::Tuple(parts) => tuple(parts),
    }
}

/// The derivatives by the reverse transformation.
fn transform(
    machine: &mut Machine,
    function: Value,
    argument: Value,
    seed: Option<Value>,
) -> Result<Gradient, Failure> {
    let start = machine.counts();
    let reverse = Word::one(View::Reverse);
    let pair = machine.apply(function.through(reverse)?, argument.through(reverse)?)?;
    let (Some(value), Some(back)) = (pair.part(0)?, pair.part(1)?) else {
        return Err(Failure::new(ARGUMENT, "internal error: a transformed function gives no pair"));
    };
    let value = value.through(Word::one(View::Unreverse))?;
    let middle = machine.counts();
    let seed = ladder::seeded(&value, seed.as_ref()).map_err(|failure| match failure.code {
        LADDER => Failure::new(LADDER, "the result holds a function, and a gradient is that of numbers")
            .with(&value)
            .help("apply it: let the function that is differentiated take its argument, too"),
        _ => failure,
    })?;
    let both = machine.apply(back, seed.through(Word::one(View::Sense))?)?.through(Word::one(View::Unsense))?;
    let gradient = both.part(1)?.unwrap_or_default();
    let passes: [Counts; 2] = [middle.since(&start), machine.counts().since(&middle)];
    Ok(Gradient { value, gradient, passes, counts: ladder::LadderCounts::default(), tape: None })
}
