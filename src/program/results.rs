//! The results of runs and gradients, by name.

use std::ops::Index;

use pendula_compiler::nil::sema::{Argument, argument_data};
use pendula_compiler::nil::types::Type;
use pendula_isa::Env;
use pendula_isa::diagnostic::plural;
use pendula_isa::module::Module;
use pendula_isa::num::Format;
use pendula_isa::types::Ty;
use pendula_vm::Machine;
use pendula_vm::gradient::gradient_to_f64;

use crate::grad::{Gradient, Report};
use crate::state::compiled::CompiledSource;
use crate::state::language;
use crate::state::layout::Layouts;
use crate::state::values::{self, Place};

use super::{Array, Error, ErrorKind, Number, Value};

/// The results of a run. `run["y!"]` is a value; it panics if there is no value of that name, as a map does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    pub(super) values: Vec<(String, Value)>,
    pub(super) output: Vec<i64>,
    pub(super) shown: Vec<String>,
    pub(super) restored: Option<bool>,
    pub(super) instructions: u64,
}

/// Finds a result by its name.
fn find<'v>(values: &'v [(String, Value)], name: &str) -> Result<&'v Value, Error> {
    let found = values.iter().find(|(own, _)| own == name).map(|(_, value)| value);
    found.ok_or_else(|| {
        let known: Vec<&str> = values.iter().map(|(own, _)| own.as_str()).collect();
        Error::value(format!("there is no result `{name}`; there are {}", known.join(", ")))
    })
}

impl Run {
    /// The values by name: the arguments of a Nil program, the variables of `main` of a Janus program, otherwise the
    /// exported data; and the values that [`Program::show`](super::Program::show) names.
    pub fn values(&self) -> &[(String, Value)] {
        &self.values
    }

    /// A value as a Rust type: `run.get::<Vec<f64>>("x")`.
    ///
    /// # Errors
    /// There is no such value, or it has another type.
    pub fn get<'v, T: TryFrom<&'v Value, Error = Error>>(&'v self, name: &str) -> Result<T, Error> {
        find(&self.values, name).and_then(T::try_from)
    }

    /// The words of the output tape.
    pub fn output(&self) -> &[i64] {
        &self.output
    }

    /// The lines that the program showed during the run.
    pub fn shown(&self) -> &[String] {
        &self.shown
    }

    /// True if a run forward and backward restored every bit; `None` for a run in one direction.
    pub fn restored(&self) -> Option<bool> {
        self.restored
    }

    /// The number of instructions executed.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }
}

impl Index<&str> for Run {
    type Output = Value;

    fn index(&self, name: &str) -> &Value {
        find(&self.values, name).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// A gradient: the value of the loss, and its derivatives with respect to each input, in the input's shape.
/// `gradient["x"]` is one of them; it panics if there is none of that name, as a map does.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradients {
    name: String,
    loss: Value,
    values: Vec<(String, Value)>,
    rest: Vec<Gradients>,
    report: Option<Box<Report>>,
}

impl Gradients {
    /// The loss's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The loss's value.
    pub fn loss(&self) -> &Value {
        &self.loss
    }

    /// The derivatives by name; for the parts of a struct, in a struct. Derivatives that do not exist are NaN.
    pub fn values(&self) -> &[(String, Value)] {
        &self.values
    }

    /// A derivative as a Rust type: `gradient.get::<f64>("x")`.
    ///
    /// # Errors
    /// There is no such derivative, or it has another type.
    pub fn get<'v, T: TryFrom<&'v Value, Error = Error>>(&'v self, name: &str) -> Result<T, Error> {
        find(&self.values, name).and_then(T::try_from)
    }

    /// For a Jacobian, the gradients of the loss's other elements.
    pub fn rest(&self) -> &[Gradients] {
        &self.rest
    }

    /// The second derivatives, if requested, with respect to all input words in their order. Those that do not exist
    /// are NaN.
    pub fn hessian(&self) -> Option<Vec<Vec<f64>>> {
        let rows = self.report.as_ref()?.dense_hessian()?;
        Some(rows.iter().map(|row| row.iter().map(|x| x.unwrap_or(f64::NAN)).collect()).collect())
    }

    /// The full report, in terms of the machine's words.
    pub fn report(&self) -> Option<&Report> {
        self.report.as_deref()
    }
}

impl Index<&str> for Gradients {
    type Output = Value;

    fn index(&self, name: &str) -> &Value {
        find(&self.values, name).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Sets an argument of a Nil program.
///
/// # Errors
/// The value is not of the parameter's type.
pub(super) fn put_argument(
    machine: &mut Machine<'_>,
    nil: &CompiledSource,
    n: usize,
    value: &Argument,
) -> Result<(), Error> {
    let (Some(symbols), Some(ty)) = (nil.parameters.get(n), nil.types.get(n)) else { return Ok(()) };
    let module = machine.program().module();
    let data = argument_data(&base(symbols), ty, Some(value), module.flags.format);
    let data = data.map_err(|why| Error::argument(&why))?;
    for (symbol, data) in symbols.iter().zip(&data) {
        let place = values::find(module, symbol).map_err(|e| Error::failed(ErrorKind::Argument, e))?;
        if place.most() as usize != data.words().len() {
            return Err(Error::argument(&format!("`{symbol}` has {}", plural(place.count(), "word"))));
        }
        values::put(machine, &place, data.words());
    }
    Ok(())
}

/// The name of the parameter that consists of these symbols.
fn base(symbols: &[String]) -> String {
    let first = symbols.first().map_or("", String::as_str);
    first.split('.').next().unwrap_or(first).trim_end_matches('$').to_string()
}

/// The names and the types of a program's results.
pub(super) struct Names<'p> {
    module: &'p Module,
    compiled: Option<&'p CompiledSource>,
    layouts: Layouts,
}

/// A function that returns the numbers of a data symbol.
type Numbers<'a> = &'a dyn Fn(&str) -> Option<Vec<Number>>;

impl<'p> Names<'p> {
    pub(super) fn of(module: &'p Module, nil: Option<&'p CompiledSource>) -> Names<'p> {
        Names { module, compiled: nil, layouts: Layouts::of(nil) }
    }

    fn format(&self) -> Format {
        self.module.flags.format
    }

    /// The results that a machine holds.
    pub(super) fn values(&self, machine: &Machine<'_>, shown: &[Place], reverse: bool) -> Vec<(String, Value)> {
        let numbers = |name: &str| {
            let place = values::find(self.module, name).ok()?;
            let words = values::words(machine, &place);
            Some(words.iter().map(|word| Number::new(*word, place.ty, self.format())).collect())
        };
        let mut out = self.parameters(&numbers, false);
        let one = |place: &Place| (place.name.clone(), self.place(machine, place));
        let names = (self.module, self.compiled.and_then(CompiledSource::variables));
        // The results of a program with parameters are these.
        if self.compiled.is_none() || names.1.is_some() {
            out.extend(language::of(names).results(names, reverse).iter().map(one));
        }
        for place in shown {
            out.retain(|(name, _)| *name != place.name);
            out.push(one(place));
        }
        out
    }

    /// The arguments of a Nil program.
    fn parameters(&self, numbers: Numbers<'_>, derivative: bool) -> Vec<(String, Value)> {
        let Some(nil) = self.compiled else { return Vec::new() };
        let named = nil.parameters.iter().zip(&nil.types).filter_map(|(symbols, ty)| {
            let name = base(symbols);
            Some((name.clone(), self.value(ty, &name, numbers, derivative)?))
        });
        named.collect()
    }

    /// The value of a type and a name; the compiler derives the names of the parts from it.
    fn value(&self, ty: &Type, name: &str, numbers: Numbers<'_>, derivative: bool) -> Option<Value> {
        // The compiler appends `$` to the data symbols whose names would be those of registers.
        let get = |name: &str| numbers(&format!("{name}$")).or_else(|| numbers(name));
        let word = |name: &str| get(name).and_then(|list| list.first().copied());
        match ty {
            Type::Num(_) | Type::Tropical(_) => word(name).map(Value::Number),
            Type::Bool => word(name).map(|n| Value::Bool(n.word() != 0)),
            Type::Complex(_) => Some(Value::Complex(word(&format!("{name}.re"))?, word(&format!("{name}.im"))?)),
            Type::Log { .. } if derivative => word(&format!("{name}.log")).map(Value::Number),
            Type::Log { .. } => {
                let negative = word(&format!("{name}.signbit")).is_some_and(|n| n.word() != 0);
                Some(Value::Logarithm { log: word(&format!("{name}.log"))?.to_f64(), negative })
            }
            Type::Array { element, .. } if element.words().is_none() => {
                let leaves = element.stacked(name)?;
                let place = values::find(self.module, &leaves.first()?.0).ok()?;
                let count = self.layouts.get(&place)?.lens.first().copied()?;
                let one = |n: usize| {
                    let own = |name: &str| {
                        let all = numbers(name)?;
                        let size = all.len().checked_div(count)?;
                        all.get(n * size..(n + 1) * size).map(<[Number]>::to_vec)
                    };
                    self.value(element, name, &own, derivative)
                };
                Array::new(vec![count], (0..count).map(one).collect::<Option<_>>()?).map(Value::Array)
            }
            Type::Array { element, .. } => {
                let in_logs = matches!(**element, Type::Log { .. });
                let symbol = if in_logs { format!("{name}.log") } else { name.to_string() };
                let list = get(&symbol)?;
                let find = |symbol: &str| values::find(self.module, symbol).ok();
                let place = find(&format!("{symbol}$")).or_else(|| find(&symbol))?;
                let layout = self.layouts.get(&place)?;
                let resized = match layout.stacked {
                    true => Some(layout.inner()),
                    false => place.growing.map(|_| layout.with_words(list.len())),
                };
                let layout = resized.as_ref().unwrap_or(layout);
                let in_order: Vec<Number> = layout.order.iter().filter_map(|at| list.get(*at).copied()).collect();
                let element = |parts: &[Number]| match (parts, &**element) {
                    ([one], Type::Log { .. }) if !derivative => {
                        Some(Value::Logarithm { log: one.to_f64(), negative: false })
                    }
                    ([one], Type::Bool) => Some(Value::Bool(one.word() != 0)),
                    ([re, im], Type::Complex(_)) => Some(Value::Complex(*re, *im)),
                    ([one], _) => Some(Value::Number(*one)),
                    (parts, _) => Some(Value::Tuple(parts.iter().map(|n| Value::Number(*n)).collect())),
                };
                let elements = in_order.chunks(layout.per.max(1)).map(element).collect::<Option<Vec<_>>>()?;
                Array::new(layout.lens.clone(), elements).map(Value::Array)
            }
            Type::Struct(s) => {
                let field = |(field, ty): &(String, Type)| {
                    Some((field.clone(), self.value(ty, &format!("{name}.{field}"), numbers, derivative)?))
                };
                // In a derivative, only the fields that have one.
                let fields: Vec<(String, Value)> = s.fields.iter().filter_map(field).collect();
                (!fields.is_empty()).then(|| Value::Struct(s.name.clone(), fields))
            }
            Type::Tuple(parts) => {
                let part = |(n, ty): (usize, &Type)| self.value(ty, &format!("{name}.{n}"), numbers, derivative);
                let parts: Vec<Value> = (1..).zip(parts).filter_map(part).collect();
                (!parts.is_empty()).then_some(Value::Tuple(parts))
            }
            Type::Function(_) => None,
        }
    }

    /// The value of a named part of the state.
    fn place(&self, machine: &Machine<'_>, place: &Place) -> Value {
        let words = values::words(machine, place);
        let words = place.variable.as_ref().map_or_else(|| words.to_vec(), |v| v.words(&words));
        let numbers = words.iter().map(|word| Number::new(*word, place.ty, self.format())).collect();
        shaped(place, numbers)
    }

    /// The derivatives by name.
    pub(super) fn gradients(&self, report: Report, env: Env) -> Gradients {
        let one = |name: String, loss: Value, values| Gradients { name, loss, values, rest: Vec::new(), report: None };
        let mut all = report.losses.iter().map(|loss| {
            let value = Number::new(loss.value, loss.variable.ty, self.format());
            one(loss.name.clone(), Value::Number(value), self.derivatives(&loss.gradients, env))
        });
        let first = all.next().unwrap_or_else(|| one(String::new(), Value::Tuple(Vec::new()), Vec::new()));
        let rest = all.collect();
        Gradients { rest, report: Some(Box::new(report)), ..first }
    }

    fn derivatives(&self, gradients: &[Gradient], env: Env) -> Vec<(String, Value)> {
        let of = |g: &Gradient| -> Vec<Number> {
            let one = |d: &Option<(u64, Ty)>| match d {
                Some((word, ty @ (Ty::F | Ty::Q))) => Number::new(*word, *ty, self.format()),
                Some((word, ty)) => Number::from(gradient_to_f64(env, *ty, *word)),
                None => Number::from(f64::NAN),
            };
            g.derivatives.iter().map(one).collect()
        };
        let numbers = |name: &str| gradients.iter().find(|g| g.input.name == name).map(of);
        let mut out = self.parameters(&numbers, true);
        // Inputs that are not whole parameters: elements, registers, data of other languages.
        let whole = |g: &&Gradient| {
            !self.compiled.is_some_and(|nil| nil.parameters.iter().flatten().any(|s| *s == g.input.name))
        };
        out.extend(gradients.iter().filter(whole).map(|g| (g.input.name.clone(), shaped(&g.input, of(g)))));
        out
    }
}

/// The numbers of a place as a value: a number, or an array in the shape that it has in Janus.
fn shaped(place: &Place, numbers: Vec<Number>) -> Value {
    use crate::state::values::Location;
    use pendula_compiler::janus::store::Shape;
    let count = numbers.len();
    let shape = match (&place.variable, place.at) {
        (Some(v), _) => match &v.shape {
            Shape::Int(_) => None,
            Shape::Array(_, dims) => Some(dims.iter().map(|n| usize::try_from(*n).unwrap_or(0)).collect()),
            Shape::Stack => Some(vec![count]),
        },
        (None, Location::Memory { array: true, .. }) => Some(vec![count]),
        (None, Location::Memory { .. } | Location::Register(_) | Location::Cell(_)) => None,
    };
    let mut values: Vec<Value> = numbers.into_iter().map(Value::Number).collect();
    match shape {
        Some(shape) => Array::new(shape, values).map_or(Value::Tuple(Vec::new()), Value::Array),
        None => values.pop().unwrap_or(Value::Tuple(Vec::new())),
    }
}
