//! Values of functional programs as JSON.

use pendula_functional::core::Value as Functional;
use serde_json::{Value, json};

/// What is nested deeper is shown as text.
const DEEPEST: u32 = 100;

/// A value as JSON: numbers and truth values as such; lists, tuples and arrays as arrays, with the last part of pairs that are no list at the
/// end; anything else as text.
pub(crate) fn to_json(value: &Functional) -> Value {
    nested(value, DEEPEST)
}

fn nested(value: &Functional, depth: u32) -> Value {
    let deeper = depth.checked_sub(1);
    match (value, deeper) {
        (Functional::Bool(word, truth), _) if word.is_none() => json!(truth),
        (Functional::Real(word, x), _) if word.is_none() => real(*x),
        (Functional::Int(pendula_functional::core::IntType::U64, word, x), _) if word.is_none() => {
            json!(x.cast_unsigned())
        }
        (Functional::Int(_, word, x), _) if word.is_none() => json!(x),
        (Functional::Unit(word), _) if word.is_none() => json!([]),
        (Functional::Pair(..), Some(depth)) => spine(value, depth),
        (Functional::Tuple(..), Some(depth)) => {
            let parts = (0..value.arity().unwrap_or(0)).filter_map(|n| value.part(n).ok().flatten());
            parts.map(|part| nested(&part, depth)).collect()
        }
        (Functional::Array(word, array), Some(depth)) => {
            let element = |v: Functional| v.through(*word).map_or(Value::Null, |v| nested(&v, depth));
            array.iter().map(element).collect()
        }
        _ => json!(value.show()),
    }
}

fn spine(value: &Functional, depth: u32) -> Value {
    let mut out = Vec::new();
    let mut at = value.clone();
    while let Functional::Pair(..) = at {
        let (Ok(Some(first)), Ok(Some(rest))) = (at.part(0), at.part(1)) else { break };
        out.push(nested(&first, depth));
        at = rest;
    }
    if !matches!(&at, Functional::Unit(word) if word.is_none()) {
        out.push(nested(&at, depth));
    }
    Value::Array(out)
}

fn real(x: f64) -> Value {
    match x {
        _ if x.is_nan() => json!("nan"),
        f64::INFINITY => json!("inf"),
        f64::NEG_INFINITY => json!("-inf"),
        _ => json!(x),
    }
}
