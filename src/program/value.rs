//! Values of programs: numbers, arrays and structs.

use std::fmt;

use pendula_compiler::nil::sema::{Argument, Number as Given};
use pendula_isa::num::convert::to_f64;
use pendula_isa::num::{Env, Format};
use pendula_isa::text::number;
use pendula_isa::types::Ty;

use crate::state::arrays;

use super::Error;

/// A number of a program: an integer, a fixed-point, floating-point or logarithmic number. It is displayed exactly, in
/// the notation of the program's language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    word: u64,
    ty: Ty,
    format: Format,
}

impl Number {
    /// A word that is interpreted as a number of a type.
    pub fn new(word: u64, ty: Ty, format: Format) -> Number {
        Number { word, ty, format }
    }

    /// The type of its word.
    pub fn ty(self) -> Ty {
        self.ty
    }

    /// The word.
    pub fn word(self) -> u64 {
        self.word
    }

    /// As a double, rounded if it has more digits.
    pub fn to_f64(self) -> f64 {
        to_f64(Env { format: self.format, ..Env::default() }, self.ty, self.word)
    }

    /// As an integer, if it is one.
    pub fn to_i64(self) -> Option<i64> {
        (self.ty == Ty::Int).then_some(self.word.cast_signed())
    }

    fn given(self) -> Given {
        match self.ty {
            Ty::Int => Given::Int(self.word.cast_signed()),
            Ty::F => Given::Float(f64::from_bits(self.word)),
            Ty::Q | Ty::L => Given::Text(self.to_string()),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&number(self.word, self.ty, self.format))
    }
}

impl From<i64> for Number {
    fn from(k: i64) -> Number {
        Number::new(k.cast_unsigned(), Ty::Int, Format::default())
    }
}

impl From<f64> for Number {
    fn from(x: f64) -> Number {
        Number::new(x.to_bits(), Ty::F, Format::default())
    }
}

/// An array of one to three dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    shape: Vec<usize>,
    elements: Vec<Value>,
}

impl Array {
    /// An array of these lengths with its elements in row-major order; `None` if the number of elements does not match.
    pub fn new(shape: Vec<usize>, elements: Vec<Value>) -> Option<Array> {
        (shape.iter().product::<usize>() == elements.len()).then_some(Array { shape, elements })
    }

    /// The lengths of its dimensions.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Its elements in row-major order.
    pub fn elements(&self) -> &[Value] {
        &self.elements
    }

    /// The element at these indices, counted from 0: `a.get(&[i, j])`.
    pub fn get(&self, indices: &[usize]) -> Option<&Value> {
        let inside = indices.len() == self.shape.len() && indices.iter().zip(&self.shape).all(|(i, n)| i < n);
        let at = indices.iter().zip(&self.shape).fold(0, |at, (i, n)| at * n + i);
        self.elements.get(at).filter(|_| inside)
    }

    /// The rows of a matrix. For an array of one dimension, each row is one element.
    pub fn rows(&self) -> impl Iterator<Item = &[Value]> {
        let size = self.shape.iter().skip(1).product::<usize>();
        let rows = self.shape.first().copied().unwrap_or(0);
        (0..rows).map(move |n| self.elements.get(n * size..(n + 1) * size).unwrap_or(&[]))
    }

    /// An array of the elements. If these are arrays of one shape, they become the rows of an array with one more
    /// dimension.
    fn of(elements: Vec<Value>) -> Array {
        let inner = |v: &Value| match v {
            Value::Array(a) => Some(a.shape.clone()),
            _ => None,
        };
        let shape = match elements.first().and_then(inner) {
            Some(shape) if elements.iter().all(|v| inner(v).as_ref() == Some(&shape)) => shape,
            Some(_) | None => return Array { shape: vec![elements.len()], elements },
        };
        let shape = std::iter::once(elements.len()).chain(shape).collect();
        let parts = elements.into_iter().flat_map(|v| match v {
            Value::Array(a) => a.elements,
            other => vec![other],
        });
        Array { shape, elements: parts.collect() }
    }

    /// The elements in column-major order.
    fn by_column(&self) -> impl Iterator<Item = &Value> {
        let strides = arrays::strides(&self.shape, false);
        let places = arrays::places(&self.shape, &strides, true);
        places.into_iter().filter_map(|at| self.elements.get(at))
    }
}

/// A value of a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A complex number: real and imaginary part.
    Complex(Number, Number),
    /// A number given by the natural logarithm of its magnitude, a double.
    Logarithm {
        /// The logarithm.
        log: f64,
        /// True if the number is negative.
        negative: bool,
    },
    /// An array.
    Array(Array),
    /// A struct: its name and its fields.
    Struct(String, Vec<(String, Value)>),
    /// Several values.
    Tuple(Vec<Value>),
}

impl Array {
    /// Whether its elements are arrays of one shape, or structs and tuples with arrays in them.
    fn is_stacked(&self) -> bool {
        let shape = |v: &Value| v.as_array().map(|a| a.shape.clone());
        let first = self.elements.first().and_then(shape);
        let arrays = first.is_some() && self.elements.iter().all(|v| shape(v) == first);
        arrays || first.is_none() && self.elements.iter().any(Value::holds_arrays)
    }
}

impl Value {
    /// The value as a double, if it is a number.
    pub fn to_f64(&self) -> Option<f64> {
        match self {
            Value::Number(n) => Some(n.to_f64()),
            Value::Logarithm { log, negative } => Some(if *negative { -log.exp() } else { log.exp() }),
            Value::Bool(_) | Value::Complex(..) | Value::Array(_) | Value::Struct(..) | Value::Tuple(_) => None,
        }
    }

    /// The value as an integer, if it is one.
    pub fn to_i64(&self) -> Option<i64> {
        if let Value::Number(n) = self { n.to_i64() } else { None }
    }

    /// The array, if it is one.
    pub fn as_array(&self) -> Option<&Array> {
        if let Value::Array(a) = self { Some(a) } else { None }
    }

    /// A field of a struct; `re` or `im` of a complex number; a part of a tuple by its number, from 1.
    pub fn field(&self, name: &str) -> Option<Value> {
        match self {
            Value::Struct(_, fields) => fields.iter().find(|(field, _)| field == name).map(|(_, v)| v.clone()),
            Value::Complex(re, im) => match name {
                "re" => Some(Value::Number(*re)),
                "im" => Some(Value::Number(*im)),
                _ => None,
            },
            Value::Tuple(parts) => name.parse::<usize>().ok()?.checked_sub(1).and_then(|n| parts.get(n)).cloned(),
            Value::Bool(_) | Value::Number(_) | Value::Logarithm { .. } | Value::Array(_) => None,
        }
    }

    /// The kind of value, for messages.
    fn kind(&self) -> &'static str {
        match self {
            Value::Bool(_) => "a truth value",
            Value::Number(_) => "a number",
            Value::Complex(..) => "a complex number",
            Value::Logarithm { .. } => "a logarithmic number",
            Value::Array(_) => "an array",
            Value::Struct(..) => "a struct",
            Value::Tuple(_) => "a tuple",
        }
    }

    /// Whether it is, or contains, an array.
    fn holds_arrays(&self) -> bool {
        match self {
            Value::Array(_) => true,
            Value::Struct(_, fields) => fields.iter().any(|(_, v)| v.holds_arrays()),
            Value::Tuple(parts) => parts.iter().any(Value::holds_arrays),
            Value::Bool(_) | Value::Number(_) | Value::Complex(..) | Value::Logarithm { .. } => false,
        }
    }

    /// Converts it to an argument of a Nil program.
    pub(super) fn argument(&self) -> Result<Argument, Error> {
        Ok(match self {
            Value::Array(a) if a.is_stacked() => {
                Argument::List(a.elements.iter().map(Value::argument).collect::<Result<_, _>>()?)
            }
            Value::Array(a) => {
                let mut numbers = Vec::with_capacity(a.elements.len());
                a.by_column().try_for_each(|v| v.parts(&mut numbers))?;
                Argument::Array(a.shape.clone(), numbers)
            }
            Value::Complex(re, im) => Argument::Tuple(vec![Argument::Number(re.given()), Argument::Number(im.given())]),
            Value::Struct(_, fields) => {
                Argument::Tuple(fields.iter().map(|(_, v)| v.argument()).collect::<Result<_, _>>()?)
            }
            Value::Tuple(parts) => Argument::Tuple(parts.iter().map(Value::argument).collect::<Result<_, _>>()?),
            Value::Bool(_) | Value::Number(_) | Value::Logarithm { .. } => {
                let mut one = Vec::new();
                self.parts(&mut one)?;
                one.pop().map_or(Argument::Tuple(Vec::new()), Argument::Number)
            }
        })
    }

    /// Appends the numbers of an array's element.
    fn parts(&self, out: &mut Vec<Given>) -> Result<(), Error> {
        match self {
            Value::Bool(b) => out.push(Given::Text(b.to_string())),
            Value::Number(n) => out.push(n.given()),
            Value::Complex(re, im) => out.extend([re.given(), im.given()]),
            Value::Logarithm { log, negative } => {
                out.push(Given::Text(format!("{}exp({log:?})", if *negative { "-" } else { "" })));
            }
            Value::Struct(_, fields) => fields.iter().try_for_each(|(_, v)| v.parts(out))?,
            Value::Tuple(parts) => parts.iter().try_for_each(|v| v.parts(out))?,
            Value::Array(_) => return Err(Error::argument("an array's elements are numbers, or arrays of one shape")),
        }
        Ok(())
    }

    /// Its numbers in row-major order, for data of programs in other languages than Nil.
    pub(super) fn numbers(&self) -> Result<Vec<arrays::Number>, Error> {
        let mut parts = Vec::new();
        match self {
            Value::Array(a) => a.elements.iter().try_for_each(|v| v.parts(&mut parts))?,
            other => other.parts(&mut parts)?,
        }
        let number = |n| match n {
            Given::Text(t) if t == "true" || t == "false" => arrays::Number::Int(i128::from(t == "true")),
            Given::Text(t) => arrays::Number::Text(t),
            Given::Int(k) => arrays::Number::Int(k.into()),
            Given::Float(x) => arrays::Number::Float(x),
        };
        Ok(parts.into_iter().map(number).collect())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, values: &[&Value]| {
            values.iter().enumerate().try_for_each(|(n, v)| write!(f, "{}{v}", if n > 0 { ", " } else { "" }))
        };
        match self {
            Value::Bool(b) => write!(f, "{b}"),
            Value::Number(n) => write!(f, "{n}"),
            Value::Complex(re, im) => write!(f, "({re}, {im})"),
            Value::Logarithm { log, negative } => write!(f, "{}exp({log:?})", if *negative { "-" } else { "" }),
            Value::Array(a) => a.show(f, &a.shape, &a.elements),
            Value::Struct(_, fields) => {
                f.write_str("(")?;
                list(f, &fields.iter().map(|(_, v)| v).collect::<Vec<_>>())?;
                f.write_str(")")
            }
            Value::Tuple(parts) => {
                f.write_str("(")?;
                list(f, &parts.iter().collect::<Vec<_>>())?;
                f.write_str(")")
            }
        }
    }
}

impl Array {
    fn show(&self, f: &mut fmt::Formatter<'_>, lens: &[usize], elements: &[Value]) -> fmt::Result {
        let Some((n, rest)) = lens.split_first() else {
            return elements.first().map_or(Ok(()), |v| write!(f, "{v}"));
        };
        let size: usize = rest.iter().product();
        f.write_str("[")?;
        for i in 0..*n {
            f.write_str(if i > 0 { ", " } else { "" })?;
            self.show(f, rest, elements.get(i * size..(i + 1) * size).unwrap_or(&[]))?;
        }
        f.write_str("]")
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Value {
        Value::Bool(b)
    }
}

impl From<i64> for Value {
    fn from(k: i64) -> Value {
        Value::Number(k.into())
    }
}

impl From<i32> for Value {
    fn from(k: i32) -> Value {
        Value::from(i64::from(k))
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Value {
        Value::Number(x.into())
    }
}

impl From<&Value> for Value {
    fn from(v: &Value) -> Value {
        v.clone()
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(elements: Vec<T>) -> Value {
        Value::Array(Array::of(elements.into_iter().map(Into::into).collect()))
    }
}

impl<T: Into<Value> + Clone> From<&[T]> for Value {
    fn from(elements: &[T]) -> Value {
        Value::from(elements.to_vec())
    }
}

impl<T: Into<Value>, const N: usize> From<[T; N]> for Value {
    fn from(elements: [T; N]) -> Value {
        Value::from(Vec::from(elements))
    }
}

impl<A: Into<Value>, B: Into<Value>> From<(A, B)> for Value {
    fn from((a, b): (A, B)) -> Value {
        Value::Tuple(vec![a.into(), b.into()])
    }
}

/// The error for a value of another type than expected.
fn other(v: &Value, wanted: &str) -> Error {
    Error::value(format!("{} is expected, and this is {}: {v}", wanted, v.kind()))
}

impl TryFrom<&Value> for f64 {
    type Error = Error;

    fn try_from(v: &Value) -> Result<f64, Error> {
        v.to_f64().ok_or_else(|| other(v, "a number"))
    }
}

impl TryFrom<&Value> for i64 {
    type Error = Error;

    fn try_from(v: &Value) -> Result<i64, Error> {
        v.to_i64().ok_or_else(|| other(v, "an integer"))
    }
}

impl TryFrom<&Value> for bool {
    type Error = Error;

    fn try_from(v: &Value) -> Result<bool, Error> {
        if let Value::Bool(b) = v { Ok(*b) } else { Err(other(v, "a truth value")) }
    }
}

/// The elements of an array in row-major order.
fn vector<'v, T: TryFrom<&'v Value, Error = Error>>(v: &'v Value) -> Result<Vec<T>, Error> {
    let array = v.as_array().ok_or_else(|| other(v, "an array"))?;
    array.elements.iter().map(T::try_from).collect()
}

impl TryFrom<&Value> for Vec<f64> {
    type Error = Error;

    fn try_from(v: &Value) -> Result<Vec<f64>, Error> {
        vector(v)
    }
}

impl TryFrom<&Value> for Vec<i64> {
    type Error = Error;

    fn try_from(v: &Value) -> Result<Vec<i64>, Error> {
        vector(v)
    }
}

impl TryFrom<&Value> for Vec<Vec<f64>> {
    type Error = Error;

    fn try_from(v: &Value) -> Result<Vec<Vec<f64>>, Error> {
        let array = v.as_array().filter(|a| a.shape.len() == 2).ok_or_else(|| other(v, "a matrix"))?;
        array.rows().map(|row| row.iter().map(f64::try_from).collect()).collect()
    }
}
