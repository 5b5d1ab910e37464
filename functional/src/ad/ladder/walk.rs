//! Walks through values: numbers become dual numbers, and dual numbers become numbers.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::state::{Dual, State, dual};
use crate::errors::{ARGUMENT, Failure, LADDER};
use crate::value::{Array, Env, Value};

/// What a walk does with numbers and functions.
pub(super) trait Walk {
    /// A number.
    fn number(&mut self, x: f64) -> Result<Value, Failure>;

    /// A dual number. It is an error where there can be none.
    fn dual(&mut self, dual: Dual) -> Result<Value, Failure>;

    /// A function.
    fn closure(&mut self, value: &Value) -> Result<Value, Failure>;

    /// Any other value without parts.
    fn flat(&mut self, value: &Value) -> Result<Value, Failure> {
        Ok(value.clone())
    }

    /// A structure that was walked through before.
    fn known(&self, _: usize) -> Option<Value> {
        None
    }

    /// Notes a structure that was walked through.
    fn learn(&mut self, _: usize, _: &Value) {}
}

/// The room that must be left on the host's stack, and the size of its next piece.
const ROOM: usize = 64 << 10;
const PIECE: usize = 1 << 20;

/// The value that a walk makes of another.
pub(super) fn walk(value: &Value, with: &mut dyn Walk) -> Result<Value, Failure> {
    stacker::maybe_grow(ROOM, PIECE, || step(value, with))
}

/// The address of a structure, by which it is known again.
fn address(value: &Value) -> Option<usize> {
    match value {
        Value::Pair(_, p) => Some(Rc::as_ptr(p).cast::<u8>() as usize),
        Value::Tuple(_, p) => Some(Rc::as_ptr(p).cast::<u8>() as usize),
        Value::Sum(_, p) => Some(Rc::as_ptr(p).cast::<u8>() as usize),
        Value::Array(_, p) => Some(Rc::as_ptr(p).cast::<u8>() as usize),
        Value::Unit(_) | Value::Bool(..) | Value::Int(..) | Value::Real(..) | Value::Symbol(..) => None,
        Value::Closure(..) | Value::Bundle(..) => None,
    }
}

fn step(value: &Value, with: &mut dyn Walk) -> Result<Value, Failure> {
    let structure = matches!(value, Value::Pair(..) | Value::Tuple(..) | Value::Sum(..) | Value::Array(..));
    if structure && !value.word().is_none() {
        // Views of a structure are views of its parts.
        return walk(&value.clone().settle()?, with);
    }
    if !value.word().is_none() || matches!(value, Value::Bundle(..)) {
        return Err(Failure::new(LADDER, "a value has layers of derivatives of the program's own")
            .with(value)
            .help("differentiate it by `--method transform`, which nests"));
    }
    if let Some(known) = address(value).and_then(|at| with.known(at)) {
        return Ok(known);
    }
    let made = match value {
        Value::Real(_, x) => return with.number(*x),
        Value::Unit(_) | Value::Bool(..) | Value::Int(..) | Value::Symbol(..) | Value::Bundle(..) => {
            return with.flat(value);
        }
        Value::Closure(..) => return with.closure(value),
        Value::Pair(..) => spine(value, with)?,
        Value::Tuple(_, tuple) => match dual(value) {
            Some(dual) => with.dual(dual)?,
            None => Value::tuple(tuple.0.iter().map(|part| walk(part, with)).collect::<Result<_, _>>()?),
        },
        Value::Sum(_, sum) => Value::sum(sum.0, walk(&sum.1, with)?),
        Value::Array(_, array) => elements(array, with)?,
    };
    if let Some(at) = address(value) {
        with.learn(at, &made);
    }
    Ok(made)
}

/// Pairs along their second parts, as in lists.
fn spine(value: &Value, with: &mut dyn Walk) -> Result<Value, Failure> {
    let mut firsts: Vec<(usize, Value)> = Vec::new();
    let mut at = value;
    let rest = loop {
        match at {
            Value::Pair(word, pair) if word.is_none() => {
                let place = Rc::as_ptr(pair).cast::<u8>() as usize;
                if let Some(known) = with.known(place) {
                    break known;
                }
                firsts.push((place, walk(&pair.0, with)?));
                at = &pair.1;
            }
            other => break walk(other, with)?,
        }
    };
    let mut out = rest;
    for (place, first) in firsts.into_iter().rev() {
        out = Value::pair(first, out);
        with.learn(place, &out);
    }
    Ok(out)
}

fn elements(array: &Array, with: &mut dyn Walk) -> Result<Value, Failure> {
    Ok(match array {
        Array::Int(..) | Array::Bool(_) => Value::array(array.clone()),
        Array::Real(numbers) => {
            Value::array(Array::of(numbers.iter().map(|x| with.number(*x)).collect::<Result<_, _>>()?))
        }
        Array::Boxed(values) => {
            Value::array(Array::of(values.iter().map(|v| walk(v, with)).collect::<Result<_, _>>()?))
        }
        Array::Zeros(..) | Array::Sparse(..) => {
            Value::array(Array::of(array.iter().map(|v| walk(&v, with)).collect::<Result<_, _>>()?))
        }
    })
}

fn misplaced(dual: &Dual) -> Failure {
    Failure::new(LADDER, format!("{} is a dual number already", dual.number))
}

/// Numbers in place of dual numbers.
struct Lowered;

impl Walk for Lowered {
    fn number(&mut self, x: f64) -> Result<Value, Failure> {
        Ok(Value::real(x))
    }

    fn dual(&mut self, dual: Dual) -> Result<Value, Failure> {
        Ok(Value::real(dual.number))
    }

    fn closure(&mut self, value: &Value) -> Result<Value, Failure> {
        Ok(value.clone())
    }
}

/// A value with numbers in place of dual numbers.
pub(super) fn lowered(value: &Value) -> Result<Value, Failure> {
    walk(value, &mut Lowered)
}

/// Dual numbers with a backpropagator in place of the numbers of a constant.
struct Constant<'a> {
    state: &'a mut State,
    back: &'a Value,
}

impl Walk for Constant<'_> {
    fn number(&mut self, x: f64) -> Result<Value, Failure> {
        Ok(self.state.dual(x, self.back.clone()))
    }

    fn dual(&mut self, dual: Dual) -> Result<Value, Failure> {
        Err(misplaced(&dual))
    }

    fn closure(&mut self, value: &Value) -> Result<Value, Failure> {
        Err(Failure::new(LADDER, "a function stands in a constant").with(value))
    }
}

/// A constant with dual numbers in place of numbers.
pub(super) fn constant(state: &mut State, value: &Value, back: &Value) -> Result<Value, Failure> {
    walk(value, &mut Constant { state, back })
}

/// Counts numbers.
struct Count(usize);

impl Walk for Count {
    fn number(&mut self, x: f64) -> Result<Value, Failure> {
        self.0 += 1;
        Ok(Value::real(x))
    }

    fn dual(&mut self, dual: Dual) -> Result<Value, Failure> {
        Err(misplaced(&dual))
    }

    fn closure(&mut self, value: &Value) -> Result<Value, Failure> {
        Err(Failure::new(ARGUMENT, "an argument holds a function, which has no gradient")
            .with(value)
            .help("let a function without arguments of this kind call this one, or use `--method transform`"))
    }
}

/// How many numbers an argument has.
pub(super) fn inputs(value: &Value) -> Result<usize, Failure> {
    let mut count = Count(0);
    walk(value, &mut count)?;
    Ok(count.0)
}

/// Dual numbers in place of an argument's numbers; `back` gives the backpropagator of each.
pub(super) struct Interleave<'a> {
    pub(super) state: &'a mut State,
    pub(super) back: &'a dyn Fn(usize) -> Value,
    pub(super) next: usize,
    /// The IDs, in the order of the numbers.
    pub(super) ids: Vec<u64>,
}

impl Walk for Interleave<'_> {
    fn number(&mut self, x: f64) -> Result<Value, Failure> {
        let back = (self.back)(self.next);
        self.next += 1;
        self.ids.push(self.state.next);
        Ok(self.state.dual(x, back))
    }

    fn dual(&mut self, dual: Dual) -> Result<Value, Failure> {
        Err(misplaced(&dual))
    }

    fn closure(&mut self, value: &Value) -> Result<Value, Failure> {
        Ok(value.clone())
    }
}

/// Numbers in place of a result's dual numbers, which are collected.
#[derive(Default)]
pub(super) struct Deinterleave {
    pub(super) duals: Vec<Dual>,
}

impl Walk for Deinterleave {
    fn number(&mut self, x: f64) -> Result<Value, Failure> {
        Ok(Value::real(x))
    }

    fn dual(&mut self, dual: Dual) -> Result<Value, Failure> {
        let number = Value::real(dual.number);
        self.duals.push(dual);
        Ok(number)
    }

    fn closure(&mut self, value: &Value) -> Result<Value, Failure> {
        Err(Failure::new(LADDER, "a function stands in the result, which the ladder cannot differentiate")
            .with(value)
            .help("apply it first, or use `--method transform`"))
    }
}

/// Other numbers in place of a value's, in their order. Integers become 0: they have no derivatives.
pub(super) struct Rebuild<'a> {
    pub(super) numbers: std::slice::Iter<'a, f64>,
}

impl Walk for Rebuild<'_> {
    fn number(&mut self, _: f64) -> Result<Value, Failure> {
        Ok(Value::real(self.numbers.next().copied().unwrap_or(0.0)))
    }

    fn dual(&mut self, dual: Dual) -> Result<Value, Failure> {
        Err(misplaced(&dual))
    }

    fn closure(&mut self, value: &Value) -> Result<Value, Failure> {
        Ok(value.clone())
    }

    fn flat(&mut self, value: &Value) -> Result<Value, Failure> {
        Ok(match value {
            Value::Int(ty, ..) => Value::int(*ty, 0),
            other => other.clone(),
        })
    }
}

/// The numbers of a value, in the order of walks.
#[derive(Default)]
pub(super) struct Numbers(pub(super) Vec<f64>);

impl Walk for Numbers {
    fn number(&mut self, x: f64) -> Result<Value, Failure> {
        self.0.push(x);
        Ok(Value::real(x))
    }

    fn dual(&mut self, dual: Dual) -> Result<Value, Failure> {
        Err(misplaced(&dual))
    }

    fn closure(&mut self, value: &Value) -> Result<Value, Failure> {
        Ok(value.clone())
    }
}

/// Lifts what a function has captured: its functions are transformed, its numbers become constants. What is shared stays shared.
pub(super) struct Lift<'a> {
    pub(super) state: &'a mut State,
    pub(super) back: Value,
    /// The transformed functions of a group.
    pub(super) group: &'a mut dyn FnMut(crate::core::GroupId) -> Result<crate::core::GroupId, Failure>,
    pub(super) known: FxHashMap<usize, Value>,
    pub(super) environments: FxHashMap<usize, Rc<Env>>,
}

impl Walk for Lift<'_> {
    fn number(&mut self, x: f64) -> Result<Value, Failure> {
        Ok(self.state.dual(x, self.back.clone()))
    }

    fn dual(&mut self, dual: Dual) -> Result<Value, Failure> {
        Err(misplaced(&dual))
    }

    fn closure(&mut self, value: &Value) -> Result<Value, Failure> {
        let Value::Closure(member, word, env) = value else { return Ok(value.clone()) };
        let at = Rc::as_ptr(env) as usize;
        let lifted = match self.environments.get(&at) {
            Some(env) => Rc::clone(env),
            None => {
                let group = (self.group)(env.group)?;
                let values: Vec<Value> = env.values.iter().map(|v| walk(v, self)).collect::<Result<_, _>>()?;
                let lifted = Env::new(group, values.into_boxed_slice());
                self.environments.insert(at, Rc::clone(&lifted));
                lifted
            }
        };
        Ok(Value::Closure(*member, *word, lifted))
    }

    fn known(&self, at: usize) -> Option<Value> {
        self.known.get(&at).cloned()
    }

    fn learn(&mut self, at: usize, value: &Value) {
        self.known.insert(at, value.clone());
    }
}
