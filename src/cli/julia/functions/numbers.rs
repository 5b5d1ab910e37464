//! Operators and functions of numbers.

use super::super::eval::{Evaluated, thrown, unknown};
use super::super::reversible::mismatch;
use super::super::syntax::Binary;
use super::super::value::Value;
use super::arrays::{broadcast, product};
use super::{items, numbers_alike};

pub(in crate::cli::julia) fn binary(op: Binary, dotted: bool, a: &Value, b: &Value) -> Evaluated<Value> {
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
        Binary::Same | Binary::NotSame
            if !matches!(
                (a, b),
                (Value::Int(_), Value::Int(_)) | (Value::Bool(_), Value::Bool(_)) | (Value::Text(_), Value::Text(_))
            ) =>
        {
            let (Value::Float(x), Value::Float(y)) = (a, b) else { return unknown("`===` of these values") };
            return Ok(Value::Bool((x.to_bits() == y.to_bits()) == (op == Binary::Same)));
        }
        Binary::Equal | Binary::Same => return Ok(Value::Bool(a.equals(b))),
        Binary::Different | Binary::NotSame => return Ok(Value::Bool(!a.equals(b))),
        Binary::Near | Binary::NotNear if [a, b].into_iter().any(|v| matches!(v, Value::Tuple(_))) => {
            return unknown("`≈` of tuples");
        }
        Binary::Near => return Ok(Value::Bool(near(a, b))),
        Binary::NotNear => return Ok(Value::Bool(!near(a, b))),
        Binary::In => return Ok(Value::Bool(items(b)?.iter().any(|item| item.equals(a)))),
        Binary::Pair => return unknown("a pair"),
        Binary::Isa => return unknown("`isa` is not evaluated here"),
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

pub(in crate::cli::julia) fn number(op: Binary, a: &Value, b: &Value) -> Evaluated<Value> {
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
            Binary::Pow => return unknown("a negative power of a whole number"),
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

pub(in crate::cli::julia) fn compare(op: Binary, x: f64, y: f64) -> Evaluated<Value> {
    Ok(Value::Bool(match op {
        Binary::Less => x < y,
        Binary::LessEqual => x <= y,
        Binary::Greater => x > y,
        Binary::GreaterEqual => x >= y,
        _ => return unknown("an operator on numbers"),
    }))
}

/// `Int(x)`, `Float64(x)`.
pub(in crate::cli::julia) fn convert(name: &str, args: &[Value]) -> Evaluated<Value> {
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
pub(in crate::cli::julia) fn real_function(name: &str) -> Option<fn(f64) -> f64> {
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

/// The operator of a name, as in `reduce(+, x)`.
pub(in crate::cli::julia) fn operator(name: &str) -> Option<Binary> {
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
pub(in crate::cli::julia) fn of_numbers(name: &str, args: &[Value]) -> Option<Evaluated<Value>> {
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
