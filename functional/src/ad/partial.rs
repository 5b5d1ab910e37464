//! The partial derivatives of functions of reals, as code.

use crate::core::{Binary, Builder, Compare, Op, Rhs, Unary, Var};
use crate::errors::{Failure, NO_DERIVATIVE};

/// A partial derivative.
#[derive(Clone, Copy, Debug)]
pub(super) enum Partial {
    Zero,
    One,
    Minus,
    Is(Var),
}

fn unary(b: &mut Builder<'_>, op: Unary, x: Var) -> Var {
    b.op(Op::Unary(op), &[x])
}

fn binary(b: &mut Builder<'_>, op: Binary, x: Var, y: Var) -> Var {
    b.op(Op::Binary(op), &[x, y])
}

/// c / x
fn over(b: &mut Builder<'_>, c: f64, x: Var) -> Var {
    let c = b.real(c);
    binary(b, Binary::Div, c, x)
}

/// c + s·x², for s = ±1
fn square(b: &mut Builder<'_>, c: f64, plus: bool, x: Var) -> Var {
    let c = b.real(c);
    let square = binary(b, Binary::Mul, x, x);
    binary(b, if plus { Binary::Add } else { Binary::Sub }, c, square)
}

/// The derivative of z = op(x), in terms of x and z.
pub(super) fn of_unary(b: &mut Builder<'_>, op: Unary, x: Var, z: Var) -> Result<Partial, Failure> {
    let derivative = match op {
        Unary::Neg => return Ok(Partial::Minus),
        Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Round | Unary::Trunc => return Ok(Partial::Zero),
        Unary::Abs => unary(b, Unary::Sign, x),
        Unary::Sqrt => over(b, 0.5, z),
        Unary::Cbrt => {
            let square = binary(b, Binary::Mul, z, z);
            over(b, 1.0 / 3.0, square)
        }
        Unary::Exp => z,
        Unary::Exp2 => {
            let c = b.real(std::f64::consts::LN_2);
            binary(b, Binary::Mul, c, z)
        }
        Unary::Expm1 => {
            let c = b.real(1.0);
            binary(b, Binary::Add, c, z)
        }
        Unary::Log => over(b, 1.0, x),
        Unary::Log2 => over(b, std::f64::consts::LOG2_E, x),
        Unary::Log1p => {
            let one = b.real(1.0);
            let sum = binary(b, Binary::Add, one, x);
            over(b, 1.0, sum)
        }
        Unary::Sin => unary(b, Unary::Cos, x),
        Unary::Cos => {
            let sin = unary(b, Unary::Sin, x);
            unary(b, Unary::Neg, sin)
        }
        Unary::Tan => square(b, 1.0, true, z),
        Unary::Asin | Unary::Acos => {
            let inside = square(b, 1.0, false, x);
            let root = unary(b, Unary::Sqrt, inside);
            over(b, if op == Unary::Asin { 1.0 } else { -1.0 }, root)
        }
        Unary::Atan => {
            let sum = square(b, 1.0, true, x);
            over(b, 1.0, sum)
        }
        Unary::Sinh => unary(b, Unary::Cosh, x),
        Unary::Cosh => unary(b, Unary::Sinh, x),
        Unary::Tanh => square(b, 1.0, false, z),
        Unary::Asinh | Unary::Acosh => {
            let inside = square(b, if op == Unary::Asinh { 1.0 } else { -1.0 }, true, x);
            let root = unary(b, Unary::Sqrt, inside);
            over(b, 1.0, root)
        }
        Unary::Atanh => {
            let inside = square(b, 1.0, false, x);
            over(b, 1.0, inside)
        }
        Unary::Erf | Unary::Erfc => {
            let inside = square(b, 0.0, false, x);
            let bell = unary(b, Unary::Exp, inside);
            let c = b.real(if op == Unary::Erf { 1.0 } else { -1.0 } * std::f64::consts::FRAC_2_SQRT_PI);
            binary(b, Binary::Mul, c, bell)
        }
        Unary::Lgamma => unary(b, Unary::Digamma, x),
        Unary::Digamma => unary(b, Unary::Trigamma, x),
        Unary::Trigamma => {
            return Err(Failure::new(NO_DERIVATIVE, "the third derivative of `lgamma` is not supported")
                .help("differentiate `lgamma` at most twice"));
        }
    };
    Ok(Partial::Is(derivative))
}

/// The partial derivatives of z = op(x, y), each made only if it is wanted.
pub(super) fn of_binary(
    b: &mut Builder<'_>,
    op: Binary,
    (x, y, z): (Var, Var, Var),
    wanted: [bool; 2],
) -> [Partial; 2] {
    let mut when = |index: usize, make: &mut dyn FnMut(&mut Builder<'_>) -> Partial| {
        if wanted[index] { make(b) } else { Partial::Zero }
    };
    let is = Partial::Is;
    match op {
        Binary::Add => [Partial::One, Partial::One],
        Binary::Sub => [Partial::One, Partial::Minus],
        Binary::Mul => [is(y), is(x)],
        Binary::Div => [
            when(0, &mut |b| is(over(b, 1.0, y))),
            when(1, &mut |b| {
                let ratio = binary(b, Binary::Div, z, y);
                is(unary(b, Unary::Neg, ratio))
            }),
        ],
        Binary::Atan2 => [
            when(0, &mut |b| {
                let norm = norm(b, x, y);
                is(binary(b, Binary::Div, y, norm))
            }),
            when(1, &mut |b| {
                let norm = norm(b, x, y);
                let ratio = binary(b, Binary::Div, x, norm);
                is(unary(b, Unary::Neg, ratio))
            }),
        ],
        Binary::Pow => [
            // x⁰ is 1 everywhere, at 0, too.
            when(0, &mut |b| {
                let zero = b.real(0.0);
                let flat = b.op(Op::Compare(Compare::Eq), &[y, zero]);
                let yes = b.block(|b| b.real(0.0));
                let no = b.block(|b| {
                    let one = b.real(1.0);
                    let less = binary(b, Binary::Sub, y, one);
                    let power = binary(b, Binary::Pow, x, less);
                    binary(b, Binary::Mul, y, power)
                });
                is(b.bind("d", Rhs::If(flat, Box::new(yes), Box::new(no))))
            }),
            // A power of a negative number is one at whole exponents only, and that of 0 is 0: both count as constant in the exponent.
            when(1, &mut |b| {
                let zero = b.real(0.0);
                let positive = b.op(Op::Compare(Compare::Gt), &[x, zero]);
                let yes = b.block(|b| {
                    let log = unary(b, Unary::Log, x);
                    binary(b, Binary::Mul, log, z)
                });
                let no = b.block(|b| b.real(0.0));
                is(b.bind("d", Rhs::If(positive, Box::new(yes), Box::new(no))))
            }),
        ],
        Binary::Min => [when(0, &mut |b| chosen(b, Compare::Le, x, y)), when(1, &mut |b| chosen(b, Compare::Gt, x, y))],
        Binary::Max => [when(0, &mut |b| chosen(b, Compare::Ge, x, y)), when(1, &mut |b| chosen(b, Compare::Lt, x, y))],
        Binary::Hypot => {
            [when(0, &mut |b| is(binary(b, Binary::Div, x, z))), when(1, &mut |b| is(binary(b, Binary::Div, y, z)))]
        }
        Binary::Rem => [
            Partial::One,
            when(1, &mut |b| {
                let ratio = binary(b, Binary::Div, x, y);
                let whole = unary(b, Unary::Trunc, ratio);
                is(unary(b, Unary::Neg, whole))
            }),
        ],
    }
}

fn norm(b: &mut Builder<'_>, x: Var, y: Var) -> Var {
    let xx = binary(b, Binary::Mul, x, x);
    let yy = binary(b, Binary::Mul, y, y);
    binary(b, Binary::Add, xx, yy)
}

/// 1 if the comparison holds, 0 otherwise.
fn chosen(b: &mut Builder<'_>, compare: Compare, x: Var, y: Var) -> Partial {
    let holds = b.op(Op::Compare(compare), &[x, y]);
    let yes = b.block(|b| b.real(1.0));
    let no = b.block(|b| b.real(0.0));
    Partial::Is(b.bind("d", Rhs::If(holds, Box::new(yes), Box::new(no))))
}
