//! The partial derivatives of the operators on reals, as code of the core.

use crate::core::{Binary, Body, Builder, Compare, Op, Rhs, Unary, Var};
use crate::errors::{Failure, NO_DERIVATIVE};

/// A partial derivative.
#[derive(Clone, Copy, Debug)]
pub(super) enum Partial {
    /// Nought everywhere: the result does not depend on the operand, as far as derivatives know.
    Zero,
    /// One.
    One,
    /// Minus one.
    MinusOne,
    /// The value of a variable.
    Is(Var),
}

impl Partial {
    /// The derivative times a number; `None` if it is nought.
    pub(super) fn times(self, b: &mut Builder<'_>, z: Var) -> Option<Var> {
        match self {
            Partial::Zero => None,
            Partial::One => Some(z),
            Partial::MinusOne => Some(unary(b, Unary::Neg, z)),
            Partial::Is(p) => Some(binary(b, Binary::Mul, p, z)),
        }
    }

    /// The derivative itself; `None` if it is nought.
    pub(super) fn number(self, b: &mut Builder<'_>) -> Option<Var> {
        match self {
            Partial::Zero => None,
            Partial::One => Some(b.real(1.0)),
            Partial::MinusOne => Some(b.real(-1.0)),
            Partial::Is(p) => Some(p),
        }
    }
}

fn unary(b: &mut Builder<'_>, op: Unary, x: Var) -> Var {
    b.op(Op::Unary(op), &[x])
}

fn binary(b: &mut Builder<'_>, op: Binary, x: Var, y: Var) -> Var {
    b.op(Op::Binary(op), &[x, y])
}

/// A number of a sum or product with a constant.
fn with(b: &mut Builder<'_>, op: Binary, constant: f64, x: Var) -> Var {
    let c = b.real(constant);
    binary(b, op, c, x)
}

fn square(b: &mut Builder<'_>, x: Var) -> Var {
    binary(b, Binary::Mul, x, x)
}

/// One over a number.
fn inverse(b: &mut Builder<'_>, x: Var) -> Var {
    with(b, Binary::Div, 1.0, x)
}

/// One over the square root of `a + s x²`.
fn inverse_root(b: &mut Builder<'_>, constant: f64, op: Binary, x: Var) -> Var {
    let s = square(b, x);
    let sum = with(b, op, constant, s);
    let root = unary(b, Unary::Sqrt, sum);
    inverse(b, root)
}

/// A choice between two numbers.
fn choice(
    b: &mut Builder<'_>,
    (compare, x, y): (Compare, Var, Var),
    yes: impl FnOnce(&mut Builder<'_>) -> Var,
    no: impl FnOnce(&mut Builder<'_>) -> Var,
) -> Var {
    let c = b.op(Op::Compare(compare), &[x, y]);
    let (yes, no): (Body, Body) = (b.block(yes), b.block(no));
    b.bind("p", Rhs::If(c, Box::new(yes), Box::new(no)))
}

/// The derivative of a function of one number with the operand `x` and the result `y`.
pub(super) fn of_unary(b: &mut Builder<'_>, op: Unary, x: Var, y: Var) -> Result<Partial, Failure> {
    let p = match op {
        Unary::Neg => return Ok(Partial::MinusOne),
        Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Round | Unary::Trunc => return Ok(Partial::Zero),
        Unary::Abs => unary(b, Unary::Sign, x),
        Unary::Sqrt => {
            let twice = binary(b, Binary::Add, y, y);
            inverse(b, twice)
        }
        Unary::Cbrt => {
            let s = square(b, y);
            let s = with(b, Binary::Mul, 3.0, s);
            inverse(b, s)
        }
        Unary::Exp => y,
        Unary::Exp2 => with(b, Binary::Mul, std::f64::consts::LN_2, y),
        Unary::Expm1 => with(b, Binary::Add, 1.0, y),
        Unary::Log => inverse(b, x),
        Unary::Log2 => {
            let t = with(b, Binary::Mul, std::f64::consts::LN_2, x);
            inverse(b, t)
        }
        Unary::Log1p => {
            let t = with(b, Binary::Add, 1.0, x);
            inverse(b, t)
        }
        Unary::Sin => unary(b, Unary::Cos, x),
        Unary::Cos => {
            let s = unary(b, Unary::Sin, x);
            unary(b, Unary::Neg, s)
        }
        Unary::Tan => {
            let s = square(b, y);
            with(b, Binary::Add, 1.0, s)
        }
        Unary::Asin => inverse_root(b, 1.0, Binary::Sub, x),
        Unary::Acos => {
            let r = inverse_root(b, 1.0, Binary::Sub, x);
            unary(b, Unary::Neg, r)
        }
        Unary::Atan => {
            let s = square(b, x);
            let t = with(b, Binary::Add, 1.0, s);
            inverse(b, t)
        }
        Unary::Sinh => unary(b, Unary::Cosh, x),
        Unary::Cosh => unary(b, Unary::Sinh, x),
        Unary::Tanh => {
            let s = square(b, y);
            with(b, Binary::Sub, 1.0, s)
        }
        Unary::Asinh => inverse_root(b, 1.0, Binary::Add, x),
        Unary::Acosh => inverse_root(b, -1.0, Binary::Add, x),
        Unary::Atanh => {
            let s = square(b, x);
            let t = with(b, Binary::Sub, 1.0, s);
            inverse(b, t)
        }
        Unary::Erf => bell(b, std::f64::consts::FRAC_2_SQRT_PI, x),
        Unary::Erfc => bell(b, -std::f64::consts::FRAC_2_SQRT_PI, x),
        Unary::Lgamma => unary(b, Unary::Digamma, x),
        Unary::Digamma => unary(b, Unary::Trigamma, x),
        Unary::Trigamma => {
            return Err(Failure::new(NO_DERIVATIVE, "the derivative of `trigamma` is not there")
                .help("leave `trigamma` out of what is differentiated"));
        }
    };
    Ok(Partial::Is(p))
}

/// A constant times exp(−x²).
fn bell(b: &mut Builder<'_>, constant: f64, x: Var) -> Var {
    let s = square(b, x);
    let s = unary(b, Unary::Neg, s);
    let e = unary(b, Unary::Exp, s);
    with(b, Binary::Mul, constant, e)
}

/// The derivatives of a function of two numbers with the operands `v`, `w` and the result `y`.
pub(super) fn of_binary(b: &mut Builder<'_>, op: Binary, [v, w]: [Var; 2], y: Var) -> [Partial; 2] {
    match op {
        Binary::Add => [Partial::One, Partial::One],
        Binary::Sub => [Partial::One, Partial::MinusOne],
        Binary::Mul => [Partial::Is(w), Partial::Is(v)],
        Binary::Div => {
            let first = inverse(b, w);
            let second = binary(b, Binary::Div, y, w);
            [Partial::Is(first), Partial::Is(unary(b, Unary::Neg, second))]
        }
        Binary::Atan2 => {
            let (s, t) = (square(b, v), square(b, w));
            let sum = binary(b, Binary::Add, s, t);
            let first = binary(b, Binary::Div, w, sum);
            let second = binary(b, Binary::Div, v, sum);
            [Partial::Is(first), Partial::Is(unary(b, Unary::Neg, second))]
        }
        Binary::Pow => {
            let one = b.real(1.0);
            let less = binary(b, Binary::Sub, w, one);
            let power = binary(b, Binary::Pow, v, less);
            let first = binary(b, Binary::Mul, w, power);
            let nought = b.real(0.0);
            // The power of nought is constant nearby.
            let second = choice(
                b,
                (Compare::Eq, v, nought),
                |_| nought,
                |b| {
                    let log = unary(b, Unary::Log, v);
                    binary(b, Binary::Mul, log, y)
                },
            );
            [Partial::Is(first), Partial::Is(second)]
        }
        // Of two equal numbers, the first one is the result.
        Binary::Min => chosen(b, Compare::Lt, v, w),
        Binary::Max => chosen(b, Compare::Gt, v, w),
        Binary::Hypot => {
            let (first, second) = (binary(b, Binary::Div, v, y), binary(b, Binary::Div, w, y));
            [Partial::Is(first), Partial::Is(second)]
        }
        Binary::Rem => {
            let quotient = binary(b, Binary::Div, v, w);
            let whole = unary(b, Unary::Trunc, quotient);
            [Partial::One, Partial::Is(unary(b, Unary::Neg, whole))]
        }
    }
}

/// The derivatives of a choice: the second operand is the result if it compares so with the first.
fn chosen(b: &mut Builder<'_>, compare: Compare, v: Var, w: Var) -> [Partial; 2] {
    let first = choice(b, (compare, w, v), |b| b.real(0.0), |b| b.real(1.0));
    let second = choice(b, (compare, w, v), |b| b.real(1.0), |b| b.real(0.0));
    [Partial::Is(first), Partial::Is(second)]
}
