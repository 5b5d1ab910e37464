//! Functions and operators of Julia on values.

use super::eval::{Evaluated, Machine, Stop, thrown, unknown};
use super::reversible::{CHANGES, mismatch};
use super::syntax::Binary;
use super::value::{Func, Value};

/// Numbers in an array, at most.
const LARGEST: usize = 10_000_000;

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

pub(super) fn range(from: &Value, step: &Value, to: &Value) -> Evaluated<Value> {
    match (from, step, to) {
        (Value::Int(a), Value::Int(s), Value::Int(b)) => {
            if *s == 0 {
                return thrown("a range's step is not 0");
            }
            let count = ((*b as i128 - *a as i128) / *s as i128 + 1).max(0) as usize;
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
pub(super) fn length_of(value: &Value, dimension: Option<usize>) -> Evaluated<usize> {
    match value {
        Value::Array(a) => {
            let a = a.borrow();
            Ok(dimension.map_or(a.items.len(), |n| a.shape.get(n).copied().unwrap_or(1)))
        }
        other => items(other).map(|items| items.len()),
    }
}

/// The places in one dimension that an index selects, from 0, and whether it is one.
fn places(index: Option<&Value>, len: usize) -> Evaluated<(Vec<usize>, bool)> {
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
fn selected(shape: &[usize], indices: &[Option<Value>]) -> Evaluated<(Vec<usize>, Vec<usize>)> {
    let flat = [shape.iter().product::<usize>()];
    let lens: &[usize] = if indices.len() == 1 { &flat } else { shape };
    if indices.len() != lens.len() {
        return unknown("as many indices as dimensions, or one");
    }
    let (mut at, mut out, mut stride) = (vec![0], Vec::new(), 1);
    for (index, len) in indices.iter().zip(lens) {
        let (own, one) = places(index.as_ref(), *len)?;
        at = own.iter().flat_map(|n| at.iter().map(move |at| at + n * stride)).collect();
        if !one {
            out.push(own.len());
        }
        stride *= len;
    }
    Ok((at, out))
}

pub(super) fn index(value: &Value, indices: &[Option<Value>]) -> Evaluated<Value> {
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

pub(super) fn store(value: &Value, indices: &[Option<Value>], new: Value) -> Evaluated<()> {
    let Value::Array(a) = value else { return unknown("only arrays' elements are assigned") };
    let (at, shape) = selected(&a.borrow().shape, indices)?;
    let mut a = a.borrow_mut();
    if shape.is_empty() {
        a.items[at[0]] = new;
        return Ok(());
    }
    let all = items(&new)?;
    if all.len() != at.len() {
        return mismatch("as many numbers as places");
    }
    at.into_iter().zip(all).for_each(|(n, v)| a.items[n] = v);
    Ok(())
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

pub(super) fn transpose(value: &Value) -> Evaluated<Value> {
    let Value::Array(a) = value else { return Ok(value.clone()) };
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
pub(super) fn broadcast(args: &[Value], f: &mut dyn FnMut(Vec<Value>) -> Evaluated<Value>) -> Evaluated<Value> {
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
    if tuples.iter().any(|n| *n != whole[0]) {
        return mismatch("tuples of different lengths");
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
pub(super) fn in_place(before: &Value, after: Value) -> Value {
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

pub(super) fn binary(op: Binary, dotted: bool, a: &Value, b: &Value) -> Evaluated<Value> {
    let is_array = |v: &Value| matches!(v, Value::Array(_) | Value::Tuple(_));
    if dotted && (is_array(a) || is_array(b)) {
        return broadcast(&[a.clone(), b.clone()], &mut |parts| binary(op, false, &parts[0], &parts[1]));
    }
    let of_functions = [a, b].into_iter().any(|v| matches!(v, Value::Function(_)));
    if of_functions && matches!(op, Binary::Equal | Binary::Different | Binary::Same | Binary::NotSame) {
        return unknown("functions are not compared");
    }
    let near = |a: &Value, b: &Value| a.near(b, f64::EPSILON.sqrt(), 0.0);
    match op {
        Binary::Equal | Binary::Same => return Ok(Value::Bool(a.equals(b))),
        Binary::Different | Binary::NotSame => return Ok(Value::Bool(!a.equals(b))),
        Binary::Near => return Ok(Value::Bool(near(a, b))),
        Binary::NotNear => return Ok(Value::Bool(!near(a, b))),
        Binary::In => return Ok(Value::Bool(items(b)?.iter().any(|item| item.equals(a)))),
        Binary::Pair => return unknown("a pair"),
        _ => {}
    }
    match (a, b, op) {
        (Value::Array(x), Value::Array(y), Binary::Add | Binary::Sub) => {
            if x.borrow().shape != y.borrow().shape {
                return mismatch("arrays of different shapes");
            }
            broadcast(&[a.clone(), b.clone()], &mut |parts| number(op, &parts[0], &parts[1]))
        }
        (Value::Array(_), Value::Array(_), Binary::Mul) => product(a, b),
        (Value::Array(_), _, Binary::Mul | Binary::Div) | (_, Value::Array(_), Binary::Mul) => {
            broadcast(&[a.clone(), b.clone()], &mut |parts| number(op, &parts[0], &parts[1]))
        }
        _ => number(op, a, b),
    }
}

/// The product of matrices and vectors.
fn product(a: &Value, b: &Value) -> Evaluated<Value> {
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
        ([1, _], [_]) => items.swap_remove(0),
        (_, [_]) => Value::vector(items),
        _ => Value::array(vec![rows, columns], items),
    })
}

fn number(op: Binary, a: &Value, b: &Value) -> Evaluated<Value> {
    if let (Value::Bool(x), Value::Bool(y)) = (a, b) {
        match op {
            Binary::Xor => return Ok(Value::Bool(x ^ y)),
            Binary::BitAnd => return Ok(Value::Bool(x & y)),
            Binary::BitOr => return Ok(Value::Bool(x | y)),
            _ => {}
        }
    }
    let int = |v: &Value| match v {
        Value::Int(k) => Some(*k),
        Value::Bool(b) => Some(i64::from(*b)),
        _ => None,
    };
    if let (Some(x), Some(y)) = (int(a), int(b)) {
        let zero = || thrown("DivideError: integer division error");
        return Ok(match op {
            Binary::Add => Value::Int(x.wrapping_add(y)),
            Binary::Sub => Value::Int(x.wrapping_sub(y)),
            Binary::Mul => Value::Int(x.wrapping_mul(y)),
            Binary::Div => Value::Float(x as f64 / y as f64),
            Binary::Pow if y >= 0 => Value::Int(x.wrapping_pow(y.min(i64::from(u32::MAX)) as u32)),
            Binary::Pow => return thrown("DomainError: a negative power of an integer"),
            Binary::Quotient if y == 0 => return zero(),
            Binary::Rest if y == 0 => return zero(),
            Binary::Quotient => Value::Int(x.wrapping_div(y)),
            Binary::Rest => Value::Int(x.wrapping_rem(y)),
            Binary::Xor => Value::Int(x ^ y),
            Binary::BitAnd => Value::Int(x & y),
            Binary::BitOr => Value::Int(x | y),
            _ => compare(op, x as f64, y as f64)?,
        });
    }
    if let (Some(x), Some(y)) = (a.real(), b.real()) {
        let fixed = matches!(a, Value::Fixed(_)) || matches!(b, Value::Fixed(_));
        if fixed && matches!(op, Binary::Mul | Binary::Div | Binary::Pow) {
            return unknown("products of fixed-point numbers");
        }
        let real = |x| if fixed { Value::Fixed(x) } else { Value::Float(x) };
        return Ok(match op {
            Binary::Add => real(x + y),
            Binary::Sub => real(x - y),
            Binary::Mul => real(x * y),
            Binary::Div => real(x / y),
            Binary::Pow => match b {
                Value::Int(k) if i32::try_from(*k).is_ok() => real(x.powi(*k as i32)),
                _ => real(x.powf(y)),
            },
            Binary::Rest => real(x % y),
            Binary::Quotient => real((x / y).trunc()),
            _ => compare(op, x, y)?,
        });
    }
    let (Some((a, b)), Some((c, d))) = (a.complex(), b.complex()) else {
        return unknown(format!("an operator on {a} and {b}"));
    };
    Ok(match op {
        Binary::Add => Value::Complex(a + c, b + d),
        Binary::Sub => Value::Complex(a - c, b - d),
        Binary::Mul => Value::Complex(a * c - b * d, a * d + b * c),
        Binary::Div => {
            let n = c * c + d * d;
            Value::Complex((a * c + b * d) / n, (b * c - a * d) / n)
        }
        _ => return unknown("an operator on complex numbers"),
    })
}

fn compare(op: Binary, x: f64, y: f64) -> Evaluated<Value> {
    Ok(Value::Bool(match op {
        Binary::Less => x < y,
        Binary::LessEqual => x <= y,
        Binary::Greater => x > y,
        Binary::GreaterEqual => x >= y,
        _ => return unknown("an operator on numbers"),
    }))
}

/// `Int(x)`, `Float64(x)`.
pub(super) fn convert(name: &str, args: &[Value]) -> Evaluated<Value> {
    let [arg] = args else { return unknown(format!("`{name}` of several values")) };
    match (name, arg) {
        ("Any", _) => Ok(arg.clone()),
        (n, Value::Int(k)) if n.starts_with("Int") || n.starts_with("UInt") => Ok(Value::Int(*k)),
        (n, Value::Float(x)) if n.starts_with("Int") && x.fract() == 0.0 => Ok(Value::Int(*x as i64)),
        (n, _) if n.starts_with("Int") && arg.real().is_some() => {
            thrown(format!("InexactError: {arg} is no whole number"))
        }
        (n, _) if n.starts_with("Float") => match arg.real() {
            Some(x) => Ok(Value::Float(x)),
            None => unknown(format!("`{name}` of {arg}")),
        },
        _ => unknown(format!("`{name}` of {arg}")),
    }
}

/// A function of one real number.
fn real_function(name: &str) -> Option<fn(f64) -> f64> {
    Some(match name {
        "exp" => f64::exp,
        "log" => f64::ln,
        "log2" => f64::log2,
        "log10" => f64::log10,
        "log1p" => f64::ln_1p,
        "expm1" => f64::exp_m1,
        "sqrt" => f64::sqrt,
        "sin" => f64::sin,
        "cos" => f64::cos,
        "tan" => f64::tan,
        "asin" => f64::asin,
        "acos" => f64::acos,
        "atan" => f64::atan,
        "sinh" => f64::sinh,
        "cosh" => f64::cosh,
        "tanh" => f64::tanh,
        "floor" => f64::floor,
        "ceil" => f64::ceil,
        "round" => f64::round_ties_even,
        "inv" => f64::recip,
        _ => return None,
    })
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
        if let (Some(f), [x]) = (real_function(name), &args[..])
            && let Some(x) = x.real()
        {
            if x < 0.0 && (name == "sqrt" || name.starts_with("log")) {
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

    /// Functions of NiLang.
    fn of_reversible(&mut self, name: &str, args: &[Value], keywords: &[(String, Value)]) -> Option<Evaluated<Value>> {
        if CHANGES.contains(&name) {
            let [f] = args else { return Some(unknown(format!("`{name}` takes a function"))) };
            return Some(Ok(Value::Function(Func::Reversible(format!("{name}({f})"), false))));
        }
        let keyword = |wanted: &str| keywords.iter().find(|(name, _)| name == wanted).map(|(_, v)| v.clone());
        let rest = || -> Vec<(String, Value)> {
            let known = ["verbose", "atol", "iloss", "seed"];
            keywords.iter().filter(|(name, _)| !known.contains(&name.as_str())).cloned().collect()
        };
        let absolute = keyword("atol").and_then(|v| v.real()).unwrap_or(1e-8);
        let loss = keyword("iloss").and_then(|v| if let Value::Int(k) = v { usize::try_from(k).ok() } else { None });
        Some(match (name, args) {
            ("check_inv", [f @ Value::Function(Func::Reversible(..)), Value::Tuple(args)]) => {
                self.check_inv(f, args, &rest(), absolute)
            }
            ("check_grad", [f @ Value::Function(Func::Reversible(..)), Value::Tuple(args)]) => match loss {
                Some(loss) => self.check_grad(f, args, &rest(), loss),
                None => unknown("`check_grad` without `iloss`"),
            },
            ("gradient", [f, Value::Tuple(args)]) => match loss {
                Some(loss) => self.gradients(f, args, &rest(), loss).map(Value::Tuple),
                None => unknown("`gradient` without `iloss`"),
            },
            ("gradient", [Value::Function(Func::Builtin(_)), ..]) | ("Val", _) => unknown(format!("`{name}`")),
            ("Grad", [f]) => Ok(Value::Function(Func::Gradient(std::rc::Rc::new(f.clone())))),
            ("almost_same", [a, b]) => Ok(Value::Bool(a.near_in_parts(b, 0.0, absolute))),
            ("all_isapprox" | "almost_equal", [a, b]) => Ok(Value::Bool(a.near_in_parts(b, 0.0, absolute))),
            _ => return None,
        })
    }

    /// Whether a function brings its arguments back.
    fn check_inv(
        &mut self,
        f: &Value,
        args: &[Value],
        keywords: &[(String, Value)],
        absolute: f64,
    ) -> Evaluated<Value> {
        let start: Vec<Value> = args.iter().map(Value::copied).collect();
        let inverse = match f {
            Value::Function(Func::Reversible(name, inverse)) => {
                Value::Function(Func::Reversible(name.clone(), !inverse))
            }
            _ => return unknown("the inverse of a function"),
        };
        let whole = |v: Value, one: bool| if one { Value::Tuple(vec![v]) } else { v };
        let one = args.len() == 1;
        let copies = start.iter().map(Value::copied).collect();
        let there = whole(self.apply(f, copies, keywords, false)?, one);
        let back = whole(self.apply(&inverse, items(&there)?, keywords, false)?, one);
        if !back.near_in_parts(&Value::Tuple(start.clone()), 0.0, absolute) {
            return Ok(Value::Bool(false));
        }
        // And the other way round, from where it has begun.
        let copies = start.iter().map(Value::copied).collect();
        let Ok(before) = self.apply(&inverse, copies, keywords, false) else { return Ok(Value::Bool(true)) };
        let again = whole(self.apply(f, items(&whole(before, one))?, keywords, false)?, one);
        Ok(Value::Bool(again.near_in_parts(&Value::Tuple(start), 0.0, absolute)))
    }

    /// The derivatives of an argument after a call by all before it.
    fn gradients(
        &mut self,
        f: &Value,
        args: &[Value],
        keywords: &[(String, Value)],
        loss: usize,
    ) -> Evaluated<Vec<Value>> {
        let Value::Function(Func::Reversible(name, inverse)) = f else {
            return unknown("the gradient of a function of the host");
        };
        let call = if *inverse { format!("(~{name})") } else { name.clone() };
        let found = self.reversible.gradient(&self.at.clone(), &call, args, (keywords, loss))?;
        let zero = |v: &Value| match v {
            Value::Float(_) | Value::Fixed(_) => Value::Float(0.0),
            Value::Int(_) => Value::Int(0),
            other => other.clone(),
        };
        Ok(args.iter().zip(found).map(|(arg, g)| g.unwrap_or_else(|| zero(arg))).collect())
    }

    /// Whether a function's gradient agrees with differences of its values.
    fn check_grad(&mut self, f: &Value, args: &[Value], keywords: &[(String, Value)], loss: usize) -> Evaluated<Value> {
        let gradients = self.gradients(f, args, keywords, loss)?;
        let value = |machine: &mut Self, args: Vec<Value>| -> Evaluated<f64> {
            let after = machine.apply(f, args, keywords, false)?;
            let after = if loss == 1 && !matches!(after, Value::Tuple(_)) {
                after
            } else {
                index(&after, &[Some(Value::Int(loss as i64))])?
            };
            after.real().ok_or_else(|| Stop::Unknown("a loss that is no number".into()))
        };
        for (n, (arg, gradient)) in args.iter().zip(&gradients).enumerate() {
            for (k, x) in items(arg).unwrap_or_default().iter().enumerate() {
                let (Value::Float(x) | Value::Fixed(x)) = x else { continue };
                let Some(found) = items(gradient)?.get(k).and_then(Value::real) else {
                    return unknown("the gradient of a part");
                };
                let step = 1e-5 * x.abs().max(1.0);
                let mut beside = |by: f64| {
                    let mut copies: Vec<Value> = args.iter().map(Value::copied).collect();
                    let moved = |v: &Value, x: f64| {
                        if matches!(v, Value::Fixed(_)) { Value::Fixed(x) } else { Value::Float(x) }
                    };
                    match &copies[n] {
                        Value::Array(a) => {
                            let mut a = a.borrow_mut();
                            a.items[k] = moved(&a.items[k], x + by);
                        }
                        Value::Tuple(_) => return unknown("the gradient of a tuple"),
                        other => copies[n] = moved(other, x + by),
                    }
                    value(self, copies)
                };
                let difference = (beside(step)? - beside(-step)?) / (2.0 * step);
                if (difference - found).abs() > 1e-5 * (1.0 + difference.abs().max(found.abs())) {
                    return thrown(format!(
                        "the derivative by number {} of argument {} is {found:?}, and differences give {difference:?}",
                        k + 1,
                        n + 1
                    ));
                }
            }
        }
        Ok(Value::Bool(true))
    }

    /// `Grad(f)(…)`: numbers with gradients, which there are none of here.
    pub(super) fn gradient_values(&mut self, _: &Value, _: Vec<Value>, _: &[(String, Value)]) -> Evaluated<Value> {
        unknown("`Grad(f)` gives numbers that carry gradients")
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

/// The operator of a name, as in `reduce(+, x)`.
fn operator(name: &str) -> Option<Binary> {
    Some(match name {
        "+" => Binary::Add,
        "-" => Binary::Sub,
        "*" => Binary::Mul,
        "/" => Binary::Div,
        "^" => Binary::Pow,
        "⊻" | "xor" => Binary::Xor,
        "÷" | "div" => Binary::Quotient,
        "%" | "rem" => Binary::Rest,
        "==" => Binary::Equal,
        "<" => Binary::Less,
        ">" => Binary::Greater,
        "≈" => Binary::Near,
        _ => return None,
    })
}

/// Functions of numbers.
fn of_numbers(name: &str, args: &[Value]) -> Option<Evaluated<Value>> {
    Some(Ok(match (name, args) {
        (
            "identity" | "copy" | "deepcopy" | "collect" | "Array" | "Vector" | "Matrix" | "float" | "Ref" | "value",
            [v],
        ) => match (name, v) {
            ("float", Value::Int(k)) => Value::Float(*k as f64),
            ("collect", Value::Tuple(parts)) => numbers_alike(parts.clone()),
            (_, v) => v.copied(),
        },
        ("abs", [Value::Int(k)]) => Value::Int(k.wrapping_abs()),
        ("abs", [Value::Float(x)]) => Value::Float(x.abs()),
        ("abs", [Value::Complex(re, im)]) => Value::Float(re.hypot(*im)),
        ("abs2", [v]) => match v.complex() {
            Some((re, im)) => Value::Float(re * re + im * im),
            None => return None,
        },
        ("angle", [Value::Complex(re, im)]) => Value::Float(im.atan2(*re)),
        ("conj", [Value::Complex(re, im)]) => Value::Complex(*re, -im),
        ("real", [Value::Complex(re, _)]) => Value::Float(*re),
        ("imag", [Value::Complex(_, im)]) => Value::Float(*im),
        ("real", [v]) if v.real().is_some() => v.clone(),
        ("exp", [Value::Complex(re, im)]) => Value::Complex(re.exp() * im.cos(), re.exp() * im.sin()),
        ("log", [Value::Complex(re, im)]) => Value::Complex(re.hypot(*im).ln(), im.atan2(*re)),
        ("Complex" | "complex", [a, b]) => match (a.real(), b.real()) {
            (Some(a), Some(b)) => Value::Complex(a, b),
            _ => return None,
        },
        ("Complex" | "complex" | "ComplexF64", [a]) => match a.complex() {
            Some((a, b)) => Value::Complex(a, b),
            None => return None,
        },
        ("Fixed43" | "Fixed", [a]) => match a.real() {
            Some(x) => Value::Fixed(x),
            None => return None,
        },
        ("ULogarithmic", [a]) => match a.real() {
            Some(x) if x > 0.0 => Value::Logarithm(x.ln()),
            _ => return None,
        },
        ("atan", [a, b]) => match (a.real(), b.real()) {
            (Some(a), Some(b)) => Value::Float(a.atan2(b)),
            _ => return None,
        },
        ("mod", [Value::Int(a), Value::Int(b)]) if *b != 0 => {
            Value::Int(a.wrapping_rem(*b).wrapping_add(*b).wrapping_rem(*b))
        }
        ("min" | "max", [a, b]) => match (a.real(), b.real()) {
            (Some(x), Some(y)) => {
                if (x < y) == (name == "min") {
                    a.clone()
                } else {
                    b.clone()
                }
            }
            _ => return None,
        },
        ("zero", [v]) => match v {
            Value::Int(_) => Value::Int(0),
            Value::Float(_) => Value::Float(0.0),
            Value::Complex(..) => Value::Complex(0.0, 0.0),
            Value::Array(a) => {
                let a = a.borrow();
                let zero = |v: &Value| if matches!(v, Value::Int(_)) { Value::Int(0) } else { Value::Float(0.0) };
                Value::array(a.shape.clone(), a.items.iter().map(zero).collect())
            }
            _ => return None,
        },
        ("one", [Value::Int(_)]) => Value::Int(1),
        ("one", [Value::Float(_)]) => Value::Float(1.0),
        ("factorial", [Value::Int(k)]) if (0..=20).contains(k) => Value::Int((1..=*k).product()),
        ("sign", [Value::Float(x)]) => Value::Float(if *x == 0.0 { 0.0 } else { x.signum() }),
        ("isnan", [Value::Float(x)]) => Value::Bool(x.is_nan()),
        ("iszero", [v]) if v.complex().is_some() => Value::Bool(v.complex() == Some((0.0, 0.0))),
        ("tuple", _) => Value::Tuple(args.to_vec()),
        ("println" | "print" | "display" | "show" | "seed!", _) => Value::Nothing,
        _ => return None,
    }))
}

/// Functions of arrays.
fn of_arrays(name: &str, args: &[Value], keywords: &[(String, Value)]) -> Option<Evaluated<Value>> {
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
