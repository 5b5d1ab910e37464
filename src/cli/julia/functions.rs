//! Functions and operators of Julia on values.

mod arrays;
mod nilang;
mod numbers;

pub(super) use arrays::{broadcast, in_place, index, length_of, range, store, transpose};
pub(super) use numbers::{binary, convert};

use arrays::of_arrays;
use numbers::{of_numbers, operator, real_function};

use super::eval::{Evaluated, Machine, thrown, unknown};
use super::syntax::Binary;
use super::value::Value;

/// Numbers in an array, at most.
pub(super) const LARGEST: usize = 1_000_000;

/// Products in a product of matrices, at most.
const PRODUCTS: usize = 100_000_000;

/// Names with a value.
pub(super) fn constant(name: &str) -> Option<Value> {
    Some(match name {
        "π" | "pi" => Value::Float(std::f64::consts::PI),
        "ℯ" => Value::Float(std::f64::consts::E),
        "Inf" => Value::Float(f64::INFINITY),
        "NaN" => Value::Float(f64::NAN),
        "im" => Value::Complex(0.0, 1.0),
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "nothing" => Value::Nothing,
        _ => return None,
    })
}

/// The elements of an array, the parts of a tuple, or a number by itself.
pub(super) fn items(value: &Value) -> Evaluated<Vec<Value>> {
    match value {
        Value::Array(a) => Ok(a.borrow().items.clone()),
        Value::Tuple(parts) => Ok(parts.clone()),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Complex(..) | Value::Fixed(_) => {
            Ok(vec![value.clone()])
        }
        _ => unknown(format!("{value} has no elements")),
    }
}

/// An array whose numbers are of one type, as Julia makes it.
pub(super) fn numbers_alike(items: Vec<Value>) -> Value {
    let has = |is: fn(&Value) -> bool| items.iter().any(is);
    let (complex, float) = (has(|v| matches!(v, Value::Complex(..))), has(|v| matches!(v, Value::Float(_))));
    let convert = |v: Value| match v {
        Value::Int(k) if complex => Value::Complex(k as f64, 0.0),
        Value::Float(x) if complex => Value::Complex(x, 0.0),
        Value::Int(k) if float => Value::Float(k as f64),
        other => other,
    };
    Value::vector(items.into_iter().map(convert).collect())
}

pub(super) fn field(value: &Value, name: &str) -> Evaluated<Value> {
    match (value, name) {
        (Value::Complex(re, _), "re") => Ok(Value::Float(*re)),
        (Value::Complex(_, im), "im") => Ok(Value::Float(*im)),
        (Value::Logarithm(x), "log") => Ok(Value::Float(*x)),
        (Value::Struct(_, fields), _) => match fields.iter().find(|(own, _)| own == name) {
            Some((_, v)) => Ok(v.clone()),
            None => unknown(format!("there is no field `{name}`")),
        },
        _ => unknown(format!("{value} has no field `{name}`")),
    }
}

impl Machine<'_> {
    /// A function of Julia.
    pub(super) fn builtin(&mut self, name: &str, args: Vec<Value>, keywords: &[(String, Value)]) -> Evaluated<Value> {
        if let Some(op) = operator(name)
            && let [a, b] = &args[..]
        {
            return binary(op, false, a, b);
        }
        if let ("-", [a]) = (name, &args[..]) {
            return binary(Binary::Mul, false, &Value::Int(-1), a);
        }
        if let (Some(f), [x], true) = (real_function(name), &args[..], keywords.is_empty())
            && let Some(x) = x.real()
        {
            if x < 0.0 && ["sqrt", "log", "log2", "log10"].contains(&name)
                || name == "log1p" && x < -1.0
                || ["asin", "acos"].contains(&name) && x.abs() > 1.0
            {
                return thrown(format!("DomainError: {name}({x})"));
            }
            return Ok(Value::Float(f(x)));
        }
        if let Some(out) = self.of_reversible(name, &args, keywords) {
            return out;
        }
        if let Some(out) = self.made(name, &args) {
            return out;
        }
        of_arrays(name, &args, keywords)
            .unwrap_or_else(|| of_numbers(name, &args).unwrap_or_else(|| unknown(format!("`{name}` is not evaluated"))))
    }

    /// Functions that make arrays.
    fn made(&mut self, name: &str, args: &[Value]) -> Option<Evaluated<Value>> {
        if !["zeros", "ones", "fill", "rand", "randn"].contains(&name) {
            return None;
        }
        let (mut args, mut ty) = (args, None);
        if let Some(Value::Type(name)) = args.first() {
            (ty, args) = (Some(name.clone()), &args[1..]);
        }
        let mut fill = None;
        if name == "fill" {
            let [value, ..] = args else { return Some(unknown("`fill` takes a value")) };
            (fill, args) = (Some(value.clone()), &args[1..]);
        }
        let lens: Vec<Value> = match args {
            [Value::Tuple(parts)] => parts.clone(),
            other => other.to_vec(),
        };
        let lens: Option<Vec<usize>> =
            lens.iter().map(|v| if let Value::Int(k) = v { usize::try_from(*k).ok() } else { None }).collect();
        let Some(lens) = lens else { return Some(unknown(format!("`{name}` takes lengths here"))) };
        let count = lens.iter().fold(1usize, |n, len| n.saturating_mul(*len));
        if count > LARGEST {
            return Some(unknown("the array is too large"));
        }
        let whole = ty.as_deref().is_some_and(|t| t.starts_with("Int"));
        if ty.as_deref().is_some_and(|t| t.starts_with("Complex") || t == "Bool") || whole && name.starts_with("rand") {
            return Some(unknown(format!("`{name}` of this type")));
        }
        let item = |machine: &mut Self| match name {
            "zeros" if whole => Value::Int(0),
            "ones" if whole => Value::Int(1),
            "zeros" => Value::Float(0.0),
            "ones" => Value::Float(1.0),
            "rand" => Value::Float(machine.uniform()),
            "randn" => Value::Float(machine.normal()),
            _ => fill.clone().unwrap_or(Value::Nothing),
        };
        if lens.is_empty() {
            return Some(Ok(item(self)));
        }
        let items = (0..count).map(|_| item(self)).collect();
        Some(Ok(Value::array(lens, items)))
    }
}
