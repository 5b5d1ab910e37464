//! A second definition of the functions' mathematics: smooth points, closed forms of derivatives, bounds on errors.

use pendula_isa::sample::Source;
use pendula_isa::table::TableFn;
use pendula_isa::types::Ty;

use super::{signed, uniform};

/// Numbers at which the function is smooth and of moderate size.
pub(super) fn point(func: TableFn, s: &mut Source) -> [f64; 3] {
    let info = func.info();
    let mut any = || signed(s, 0.0, 4.0);
    let x = [any(), any(), any()];
    match (info.ty, info.name) {
        (_, "cvt") | (_, "inv") => [signed(s, 0.25, 4.0), 0.0, 0.0],
        (Ty::Q, "log") if info.from == Ty::L => [signed(s, 0.25, 4.0), 0.0, 0.0],
        (Ty::L, "plus" | "minus") => loop {
            let [a, b] = [signed(s, 0.125, 8.0), signed(s, 0.125, 8.0)];
            let y = if info.name == "plus" { a + b } else { a - b };
            if y.abs() > 0.25 {
                return [a, b, 0.0];
            }
        },
        (_, "pow") if s.once_in(8) => [-uniform(s, 0.5, 3.0), s.between(-3, 3) as f64, 0.0],
        (_, "pow") => [uniform(s, 0.25, 4.0), x[1] * 0.75, 0.0],
        (Ty::L, _) => [signed(s, 0.125, 8.0), signed(s, 0.125, 8.0), 0.0],
        (_, "div") => [x[0], signed(s, 0.25, 4.0), 0.0],
        (_, "powi") => [signed(s, 0.25, 3.0), s.between(-5, 5) as f64, 0.0],
        (_, "log" | "log2" | "sqrt") => [uniform(s, 0.25, 16.0), 0.0, 0.0],
        (_, "log1p" | "asinh") => [signed(s, 0.0, 0.9), 0.0, 0.0],
        (_, "acosh") => [uniform(s, 1.25, 8.0), 0.0, 0.0],
        (_, "atanh") => [x[0] * 0.2375, 0.0, 0.0],
        (_, "cbrt") => [signed(s, 0.25, 4.0), 0.0, 0.0],
        (_, "lgamma" | "digamma") => [uniform(s, 0.5, 8.0), 0.0, 0.0],
        (_, "polygamma") => [uniform(s, 0.5, 8.0), s.between(0, 4) as f64, 0.0],
        (_, "tan") => [x[0] * 0.35, 0.0, 0.0],
        (_, "asin" | "acos") => [x[0] * 0.2375, 0.0, 0.0],
        (_, "hypot" | "atan2") => [signed(s, 0.25, 4.0), signed(s, 0.25, 4.0), 0.0],
        _ => x,
    }
}

/// The partial derivatives: of ln|y| for a logarithmic value, and with respect to ln|x| for a logarithmic argument.
pub(super) fn closed(func: TableFn, [a, b, _]: [f64; 3], y: f64) -> [f64; 3] {
    let info = func.info();
    let one = |p: f64| [p, 0.0, 0.0];
    let below = if a <= b { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let above = if a >= b { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    match (info.ty, info.from, info.name) {
        (Ty::Q | Ty::F, Ty::L, "cvt") => one(y),
        (Ty::Q, Ty::L, "log") => one(1.0),
        (Ty::L, Ty::Q | Ty::F, "cvt") => one(1.0 / a),
        (_, _, "cvt") => one(1.0),
        (Ty::L, _, "mul") => [1.0, 1.0, 0.0],
        (Ty::L, _, "div") => [1.0, -1.0, 0.0],
        (Ty::L, _, "inv") => one(-1.0),
        (Ty::L, _, "pow") => [b, a.abs().ln(), 0.0],
        (Ty::L, _, "plus") => [a / (a + b), b / (a + b), 0.0],
        (Ty::L, _, "minus") => [a / (a - b), -b / (a - b), 0.0],
        (_, _, "") => one(1.0),
        (_, _, "mul") => [b, a, 0.0],
        (_, _, "div") => [1.0 / b, -a / (b * b), 0.0],
        (_, _, "muladd") => [b, a, 1.0],
        (_, _, "plus") => [1.0, 1.0, 0.0],
        (_, _, "minus") => [1.0, -1.0, 0.0],
        (_, _, "inv") => one(-1.0 / (a * a)),
        (_, _, "pow") if a <= 0.0 => [b * a.powi(b as i32 - 1), 0.0, 0.0],
        (_, _, "pow") => [b * a.powf(b - 1.0), a.powf(b) * a.ln(), 0.0],
        (_, _, "powi") => one(b * a.powi(b as i32 - 1)),
        (_, _, "exp") => one(a.exp()),
        (_, _, "log") => one(1.0 / a),
        (_, _, "log2") => one(1.0 / (a * std::f64::consts::LN_2)),
        (_, _, "expm1") => one(a.exp()),
        (_, _, "log1p") => one(1.0 / (1.0 + a)),
        (_, _, "exp2") => one(a.exp2() * std::f64::consts::LN_2),
        (_, _, "asinh") => one(1.0 / (a * a + 1.0).sqrt()),
        (_, _, "acosh") => one(1.0 / (a * a - 1.0).sqrt()),
        (_, _, "atanh") => one(1.0 / (1.0 - a * a)),
        (_, _, "cbrt") => one(a.abs().powf(-2.0 / 3.0) / 3.0),
        (_, _, "erf") => one(2.0 / std::f64::consts::PI.sqrt() * (-a * a).exp()),
        (_, _, "erfc") => one(-2.0 / std::f64::consts::PI.sqrt() * (-a * a).exp()),
        (_, _, "lgamma") => one(polygamma(0, a)),
        (_, _, "digamma") => one(polygamma(1, a)),
        (_, _, "polygamma") => one(polygamma(b as i32 + 1, a)),
        (_, _, "sqrt") => one(0.5 / a.sqrt()),
        (_, _, "sin") => one(a.cos()),
        (_, _, "cos") => one(-a.sin()),
        (_, _, "tan") => one(1.0 / (a.cos() * a.cos())),
        (_, _, "asin") => one(1.0 / (1.0 - a * a).sqrt()),
        (_, _, "acos") => one(-1.0 / (1.0 - a * a).sqrt()),
        (_, _, "atan") => one(1.0 / (1.0 + a * a)),
        (_, _, "atan2") => [b / (a * a + b * b), -a / (a * a + b * b), 0.0],
        (_, _, "sinh") => one((a.exp() + (-a).exp()) / 2.0),
        (_, _, "cosh") => one((a.exp() - (-a).exp()) / 2.0),
        (_, _, "tanh") => one(4.0 / (a.exp() + (-a).exp()).powi(2)),
        (_, _, "abs") => one(if a > 0.0 { 1.0 } else { -1.0 }),
        (_, _, "min") => below,
        (_, _, "max") => above,
        (_, _, "relu") => one(f64::from(a > 0.0)),
        (_, _, "hypot") => [a / (a * a + b * b).sqrt(), b / (a * a + b * b).sqrt(), 0.0],
        (ty, _, name) => panic!("no closed form of the derivative of {name}{}", ty.suffix()),
    }
}

/// The n-th derivative of the digamma function by its series Σ 1/(x + k)ⁿ⁺¹, and the Euler–Maclaurin formula for the rest of it.
fn polygamma(n: i32, x: f64) -> f64 {
    const FAR: i32 = 2000;
    let factorial: f64 = (1..=n).map(f64::from).product();
    let y = x + f64::from(FAR);
    let sum: f64 = (0..FAR).rev().map(|k| (x + f64::from(k)).powi(-n - 1)).sum();
    let m = f64::from(n);
    let integral = if n == 0 { -y.ln() } else { y.powi(-n) / m };
    let all = sum + integral + y.powi(-n - 1) / 2.0 + (m + 1.0) * y.powi(-n - 2) / 12.0;
    if n % 2 == 0 { -factorial * all } else { factorial * all }
}

/// How far a partial derivative computed in fixed point may be from its closed form, in units of 2^-frac.
///
/// Every operation of the format is off by at most one unit (docs, "Numbers"), sums and products with ±1 by none; an error e in the
/// operand of g becomes |g′|·e. So 1/b is off by 1; y/b, where y is off by 1, by 1/|b| + 1; and so on. Twice the bound, for what
/// is of second order in the errors.
pub(super) fn units(func: TableFn, [a, b, _]: [f64; 3], y: f64) -> [f64; 3] {
    let info = func.info();
    let h = a.hypot(b);
    let bound = match (info.ty, info.from, info.name) {
        // One rounding of y.
        (Ty::Q, Ty::L, "cvt") => [1.0, 0.0, 0.0],
        (Ty::L, Ty::Q, "cvt") => [1.0, 0.0, 0.0],
        // A logarithm of 52 bits: below a unit of any format. The conversion rounds once.
        (Ty::L, _, "plus" | "minus") => [1.0; 3],
        (Ty::L, _, "pow") => [0.0, 1.0, 0.0],
        (Ty::L, ..) => [0.0; 3],
        (_, _, "" | "cvt" | "mul" | "muladd" | "plus" | "minus" | "abs" | "min" | "max" | "relu") => [0.0; 3],
        (Ty::Q, Ty::L, "log") => [0.0; 3],
        (_, _, "div") => [1.0, 1.0 / b.abs() + 1.0, 0.0],
        (_, _, "inv") => [2.0 * y.abs() + 1.0, 0.0, 0.0],
        (_, _, "pow") => [b.abs() + 1.0, y.abs() + a.abs().ln().abs() + 1.0, 0.0],
        (_, _, "powi") => [b.abs() + 1.0, 0.0, 0.0],
        (_, _, "exp" | "log" | "sin" | "cos" | "sinh" | "cosh") => [1.0, 0.0, 0.0],
        (_, _, "log2") => [0.5 / a + 1.0, 0.0, 0.0],
        (_, _, "sqrt") => [0.5 / (y * y) + 1.0, 0.0, 0.0],
        (_, _, "tan") => [2.0 * y.abs() + 1.0, 0.0, 0.0],
        (_, _, "asin" | "acos") => {
            let s = 1.0 - a * a;
            [(0.5 / s.sqrt() + 1.0) / s + 1.0, 0.0, 0.0]
        }
        (_, _, "atan") => {
            let h = a.hypot(1.0);
            [2.0 / h * (1.0 / (h * h) + 1.0) + 1.0, 0.0, 0.0]
        }
        (_, _, "atan2") => {
            let of = |x: f64| (x.abs() / (h * h) + 1.0) / h + x.abs() / (h * h) + 1.0;
            [of(b), of(a), 0.0]
        }
        (_, _, "tanh") => [3.0, 0.0, 0.0],
        (_, _, "hypot") => [a.abs() / (h * h) + 1.0, b.abs() / (h * h) + 1.0, 0.0],
        (ty, _, name) => panic!("no bound for {name}{}", ty.suffix()),
    };
    bound.map(|units| 2.0 * units)
}
