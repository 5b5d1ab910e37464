//! Arrays: ranges, indices, broadcasting, products.

use super::super::eval::{Evaluated, Stop, thrown, unknown};
use super::super::reversible::mismatch;
use super::super::syntax::Binary;
use super::super::value::Value;
use super::numbers::{binary, number};
use super::{LARGEST, PRODUCTS, items, numbers_alike};

pub(in crate::cli::julia) fn range(from: &Value, step: &Value, to: &Value) -> Evaluated<Value> {
    match (from, step, to) {
        (Value::Int(a), Value::Int(s), Value::Int(b)) => {
            if *s == 0 {
                return thrown("a range's step is not 0");
            }
            let (apart, step) = (*b as i128 - *a as i128, *s as i128);
            let count = if apart.signum() * step.signum() < 0 { 0 } else { (apart / step + 1) as usize };
            if count > LARGEST {
                return unknown("the range is too long");
            }
            Ok(Value::vector((0..count).map(|n| Value::Int(a.wrapping_add(s.wrapping_mul(n as i64)))).collect()))
        }
        _ => {
            let (Some(a), Some(s), Some(b)) = (from.real(), step.real(), to.real()) else {
                return unknown("a range of other than numbers");
            };
            let count = ((b - a) / s + 1e-9).floor() + 1.0;
            if !(0.0..LARGEST as f64).contains(&count.max(0.0)) {
                return unknown("the range is too long");
            }
            Ok(Value::vector((0..count.max(0.0) as usize).map(|n| Value::Float(a + s * n as f64)).collect()))
        }
    }
}

/// The length of an array or tuple, or of one of its dimensions.
pub(in crate::cli::julia) fn length_of(value: &Value, dimension: Option<usize>) -> Evaluated<usize> {
    match value {
        Value::Array(a) => {
            let a = a.borrow();
            Ok(dimension.map_or(a.items.len(), |n| a.shape.get(n).copied().unwrap_or(1)))
        }
        other => items(other).map(|items| items.len()),
    }
}

/// The places in one dimension that an index selects, from 0, and whether it is one.
pub(in crate::cli::julia) fn places(index: Option<&Value>, len: usize) -> Evaluated<(Vec<usize>, bool)> {
    let one = |v: &Value| match v {
        Value::Int(k) if *k >= 1 && *k as usize <= len => Ok(*k as usize - 1),
        Value::Int(k) => thrown(format!("BoundsError: index {k} of {len}")),
        _ => unknown("an index that is no whole number"),
    };
    match index {
        None => Ok(((0..len).collect(), false)),
        Some(Value::Array(a)) => Ok((a.borrow().items.iter().map(one).collect::<Evaluated<_>>()?, false)),
        Some(v) => Ok((vec![one(v)?], true)),
    }
}

/// The places of elements, and the shape that they have.
pub(in crate::cli::julia) fn selected(
    shape: &[usize],
    indices: &[Option<Value>],
) -> Evaluated<(Vec<usize>, Vec<usize>)> {
    let flat = [shape.iter().product::<usize>()];
    let lens: &[usize] = if indices.len() == 1 { &flat } else { shape };
    if indices.len() != lens.len() {
        return unknown("as many indices as dimensions, or one");
    }
    let (mut at, mut out, mut stride) = (vec![0], Vec::new(), 1);
    for (index, len) in indices.iter().zip(lens) {
        let (own, one) = places(index.as_ref(), *len)?;
        if at.len().saturating_mul(own.len()) > LARGEST {
            return unknown("the array is too large");
        }
        at = own.iter().flat_map(|n| at.iter().map(move |at| at + n * stride)).collect();
        if !one {
            out.push(own.len());
        }
        stride *= len;
    }
    Ok((at, out))
}

pub(in crate::cli::julia) fn index(value: &Value, indices: &[Option<Value>]) -> Evaluated<Value> {
    match value {
        Value::Array(a) => {
            let a = a.borrow();
            // `r[]` of one number.
            if indices.is_empty() {
                return a.items.first().cloned().ok_or_else(|| Stop::Thrown("BoundsError".into()));
            }
            let (at, shape) = selected(&a.shape, indices)?;
            let items: Vec<Value> = at.into_iter().map(|n| a.items[n].clone()).collect();
            Ok(if shape.is_empty() { items[0].clone() } else { Value::array(shape, items) })
        }
        Value::Tuple(parts) => {
            let [index] = indices else { return unknown("one index of a tuple") };
            let (at, one) = places(index.as_ref(), parts.len())?;
            let items: Vec<Value> = at.into_iter().map(|n| parts[n].clone()).collect();
            Ok(if one { items[0].clone() } else { Value::Tuple(items) })
        }
        // `x[]` of a number, or of a reference to one.
        other if indices.is_empty() => Ok(other.clone()),
        other => unknown(format!("{other} has no elements")),
    }
}

pub(in crate::cli::julia) fn store(value: &Value, indices: &[Option<Value>], new: Value) -> Evaluated<()> {
    let Value::Array(a) = value else { return unknown("only arrays' elements are assigned") };
    let (at, shape) = selected(&a.borrow().shape, indices)?;
    let all = if shape.is_empty() { vec![new] } else { items(&new)? };
    if all.len() != at.len() {
        return mismatch("as many numbers as places");
    }
    if all.iter().any(|v| matches!(v, Value::Array(_) | Value::Tuple(_))) {
        return unknown("arrays are not stored in arrays");
    }
    let float = |v: &Value| matches!(v, Value::Float(_));
    if all.iter().any(float) != a.borrow().items.iter().any(float) {
        return unknown("a number of another type is stored in an array");
    }
    let mut a = a.borrow_mut();
    at.into_iter().zip(all).for_each(|(n, v)| a.items[n] = v);
    Ok(())
}

pub(in crate::cli::julia) fn transpose(value: &Value) -> Evaluated<Value> {
    let Value::Array(a) = value else {
        return Ok(if let Value::Complex(re, im) = value { Value::Complex(*re, -im) } else { value.clone() });
    };
    let a = a.borrow();
    let [rows, columns] = match a.shape[..] {
        [n] => [n, 1],
        [n, m] => [n, m],
        _ => return unknown("a matrix is transposed"),
    };
    let conjugate = |v: &Value| if let Value::Complex(re, im) = v { Value::Complex(*re, -im) } else { v.clone() };
    let items =
        (0..rows).flat_map(|r| (0..columns).map(move |c| c * rows + r)).map(|n| conjugate(&a.items[n])).collect();
    Ok(Value::array(vec![columns, rows], items))
}

/// Applies a function to the elements of arrays and tuples; what is neither is the same for all.
pub(in crate::cli::julia) fn broadcast(
    args: &[Value],
    f: &mut dyn FnMut(Vec<Value>) -> Evaluated<Value>,
) -> Evaluated<Value> {
    let arrays: Vec<Vec<usize>> = args
        .iter()
        .filter_map(|v| if let Value::Array(a) = v { Some(a.borrow().shape.clone()) } else { None })
        .collect();
    let tuples: Vec<usize> =
        args.iter().filter_map(|v| if let Value::Tuple(t) = v { Some(t.len()) } else { None }).collect();
    let Some(shape) = arrays.iter().max_by_key(|s| s.len()).cloned().or_else(|| tuples.first().map(|n| vec![*n]))
    else {
        return f(args.to_vec());
    };
    // A dimension of one element is repeated.
    let mut whole = shape;
    for own in &arrays {
        for (n, len) in own.iter().enumerate() {
            if whole[n] == 1 {
                whole[n] = *len;
            } else if *len != 1 && *len != whole[n] {
                return mismatch("arrays of different lengths");
            }
        }
    }
    if !tuples.is_empty() && whole.len() > 1 {
        return unknown("a tuple beside a matrix");
    }
    if tuples.iter().any(|n| *n != whole[0]) {
        return mismatch("tuples of different lengths");
    }
    if whole.iter().fold(1usize, |n, len| n.saturating_mul(*len)) > LARGEST {
        return unknown("the array is too large");
    }
    let count: usize = whole.iter().product();
    let mut out = Vec::with_capacity(count);
    for n in 0..count {
        let pick = |v: &Value| match v {
            Value::Array(a) => {
                let a = a.borrow();
                let (mut rest, mut at, mut stride) = (n, 0, 1);
                for (d, len) in whole.iter().enumerate() {
                    let own = a.shape.get(d).copied().unwrap_or(1);
                    at += if own == 1 { 0 } else { rest % len * stride };
                    stride *= own;
                    rest /= len;
                }
                a.items[at].clone()
            }
            Value::Tuple(parts) => parts[n].clone(),
            other => other.clone(),
        };
        out.push(f(args.iter().map(pick).collect())?);
    }
    if arrays.is_empty() {
        return Ok(Value::Tuple(out));
    }
    let Value::Array(array) = numbers_alike(out) else { return unknown("an array") };
    array.borrow_mut().shape = whole;
    Ok(Value::Array(array))
}

/// Puts the result of a function where an array is that it has changed; other values are new.
pub(in crate::cli::julia) fn in_place(before: &Value, after: Value) -> Value {
    match (before, &after) {
        (Value::Array(old), Value::Array(new)) => {
            let new = new.borrow().clone();
            let mut old_array = old.borrow_mut();
            (old_array.shape, old_array.items) = (new.shape, new.items);
            drop(old_array);
            Value::Array(std::rc::Rc::clone(old))
        }
        (Value::Tuple(old), Value::Tuple(new)) if old.len() == new.len() => {
            Value::Tuple(old.iter().zip(new).map(|(a, b)| in_place(a, b.clone())).collect())
        }
        _ => after,
    }
}

/// The product of matrices and vectors.
pub(in crate::cli::julia) fn product(a: &Value, b: &Value) -> Evaluated<Value> {
    let (Value::Array(x), Value::Array(y)) = (a, b) else { return unknown("a product of arrays") };
    let (x, y) = (x.borrow(), y.borrow());
    let [rows, inner] = match x.shape[..] {
        [n] => [n, 1],
        [n, m] => [n, m],
        _ => return unknown("a product of arrays of more dimensions"),
    };
    let [other, columns] = match y.shape[..] {
        [n] => [n, 1],
        [n, m] => [n, m],
        _ => return unknown("a product of arrays of more dimensions"),
    };
    if inner != other {
        return mismatch("the product of matrices that do not fit");
    }
    if rows.saturating_mul(columns).saturating_mul(inner) > PRODUCTS {
        return unknown("the product is too large");
    }
    let mut items = Vec::with_capacity(rows * columns);
    for c in 0..columns {
        for r in 0..rows {
            let mut sum = None;
            for k in 0..inner {
                let one = number(Binary::Mul, &x.items[k * rows + r], &y.items[c * other + k])?;
                sum = Some(match sum {
                    None => one,
                    Some(before) => number(Binary::Add, &before, &one)?,
                });
            }
            items.push(sum.unwrap_or(Value::Float(0.0)));
        }
    }
    // A row by a column is a number, a matrix by a vector a vector.
    Ok(match (&x.shape[..], &y.shape[..]) {
        // Of a transposed vector it is a number, of a matrix with one row a vector.
        ([1, _], [_]) => return unknown("the product of a row and a vector"),
        ([_], _) => return unknown("the product of a vector and an array"),
        (_, [_]) => Value::vector(items),
        _ => Value::array(vec![rows, columns], items),
    })
}

/// Functions of arrays.
pub(in crate::cli::julia) fn of_arrays(
    name: &str,
    args: &[Value],
    keywords: &[(String, Value)],
) -> Option<Evaluated<Value>> {
    if name == "isapprox" {
        let [a, b] = args else { return None };
        let keyword = |wanted: &str| keywords.iter().find(|(name, _)| name == wanted).and_then(|(_, v)| v.real());
        let absolute = keyword("atol").unwrap_or(0.0);
        let relative = keyword("rtol").unwrap_or(if absolute > 0.0 { 0.0 } else { f64::EPSILON.sqrt() });
        return Some(Ok(Value::Bool(a.near(b, relative, absolute))));
    }
    if !keywords.is_empty() {
        return None;
    }
    let fold = |op: Binary, items: Vec<Value>| {
        let mut items = items.into_iter();
        let Some(first) = items.next() else { return unknown(format!("`{name}` of nothing")) };
        items.try_fold(first, |a, b| binary(op, false, &a, &b))
    };
    let extreme = |largest: bool, items: &[Value]| {
        let better = |a: f64, b: f64| if largest { a > b } else { a < b };
        let mut best: Option<(usize, f64)> = None;
        for (n, v) in items.iter().enumerate() {
            let x = v.real()?;
            if best.is_none_or(|(_, b)| better(x, b)) {
                best = Some((n, x));
            }
        }
        best.map(|(n, _)| n)
    };
    Some(match (name, args) {
        ("length", [v]) => length_of(v, None).map(|n| Value::Int(n as i64)),
        ("size", [Value::Array(a)]) => {
            Ok(Value::Tuple(a.borrow().shape.iter().map(|n| Value::Int(*n as i64)).collect()))
        }
        ("size", [v @ Value::Array(_), Value::Int(d)]) if *d > 0 => {
            length_of(v, Some(*d as usize - 1)).map(|n| Value::Int(n as i64))
        }
        ("sum", [v]) => items(v).and_then(|items| fold(Binary::Add, items)),
        ("prod", [v]) => items(v).and_then(|items| fold(Binary::Mul, items)),
        ("dot", [Value::Array(a), Value::Array(b)]) => {
            let (a, b) = (a.borrow(), b.borrow());
            if a.items.len() != b.items.len() {
                return Some(mismatch("`dot` of different lengths"));
            }
            let conjugate = |v: &Value| match v {
                Value::Complex(re, im) => Value::Complex(*re, -im),
                other => other.clone(),
            };
            let products: Evaluated<Vec<Value>> =
                a.items.iter().zip(&b.items).map(|(a, b)| binary(Binary::Mul, false, &conjugate(a), b)).collect();
            products.and_then(|all| fold(Binary::Add, all))
        }
        ("norm", [Value::Array(a)]) => {
            let squares: f64 = a.borrow().items.iter().filter_map(Value::complex).map(|(x, y)| x * x + y * y).sum();
            Ok(Value::Float(squares.sqrt()))
        }
        ("maximum" | "minimum" | "argmax" | "argmin", [v]) => {
            let items = items(v).ok()?;
            let n = extreme(name == "maximum" || name == "argmax", &items)?;
            Ok(if name.starts_with("arg") { Value::Int(n as i64 + 1) } else { items[n].clone() })
        }
        ("vec", [Value::Array(a)]) => Ok(Value::vector(a.borrow().items.clone())),
        ("reshape", [Value::Array(a), rest @ ..]) => {
            let lens: Option<Vec<usize>> =
                rest.iter().map(|v| if let Value::Int(k) = v { usize::try_from(*k).ok() } else { None }).collect();
            let (a, lens) = (a.borrow(), lens?);
            if lens.iter().product::<usize>() != a.items.len() {
                return Some(mismatch("`reshape` to another number of elements"));
            }
            Ok(Value::array(lens, a.items.clone()))
        }
        ("hcat" | "vcat", _) if args.iter().all(|v| v.real().is_some()) && name == "vcat" => {
            Ok(numbers_alike(args.to_vec()))
        }
        ("cumsum", [Value::Array(a)]) => {
            let mut sum = None;
            let mut out = Vec::new();
            for v in &a.borrow().items {
                let next = match sum {
                    None => v.clone(),
                    Some(before) => match binary(Binary::Add, false, &before, v) {
                        Ok(next) => next,
                        Err(stop) => return Some(Err(stop)),
                    },
                };
                out.push(next.clone());
                sum = Some(next);
            }
            Ok(Value::vector(out))
        }
        ("sort", [Value::Array(a)]) => {
            let mut items = a.borrow().items.clone();
            items.sort_by(|a, b| a.real().unwrap_or(0.0).total_cmp(&b.real().unwrap_or(0.0)));
            Ok(Value::vector(items))
        }
        ("isempty", [v]) => items(v).map(|items| Value::Bool(items.is_empty())),
        ("all", [v]) => items(v).map(|items| Value::Bool(items.iter().all(|v| matches!(v, Value::Bool(true))))),
        ("any", [v]) => items(v).map(|items| Value::Bool(items.iter().any(|v| matches!(v, Value::Bool(true))))),
        _ => return None,
    })
}
