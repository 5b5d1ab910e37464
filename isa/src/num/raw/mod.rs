//! The elementary functions of doubles, each written once.
//!
//! A body is written over [`Double`]. On `f64` it is what the interpreter and the jit run; recorded, it is printed as C, where it is inlined and
//! vectorised. Both give the same bits, on every host: a body has only operations that IEEE 754 defines, in one order. It has no branches
//! and no tables. Every function is at most 1 ulp from the true value; `accuracy/` measures it.
//!
//! Bodies hold for finite arguments where the function has a value, sine, cosine and tangent for |x| ≤ [`LIMIT`]. [`call`] adds the
//! rest: what IEEE 754 says of infinities and NaN, and larger angles.
//!
//! Methods: exponentials reduce by multiples of ln 2, logarithms by powers of two to √½ … √2 and expand by (x − 1)/(x + 1), angles reduce by
//! multiples of π/2 in three parts (Cody and Waite) or by the bits of 2/π that matter (Payne and Hanek), erfc by the variable (x − 4)/(x + 4)
//! (Shepherd and Laframboise, 1981), ln Γ by Stirling's series. Where the last bit needs more than 53, sums of two doubles carry it (Dekker,
//! Knuth). `coefficients.rs` has the polynomials.

#![expect(unsafe_code, reason = "calls of functions compiled for fused multiply-adds, on processors that have them")]

mod arc;
mod bodies;
mod coefficients;
pub mod domain;
mod double;
mod error;
mod exponential;
mod gamma;
mod logarithm;
mod root;
mod simple;
mod trigonometric;

pub use bodies::{Facts, body, facts, holds};
pub use double::{Bits, Double};
pub use gamma::{GREATEST_ORDER, is_pole};
pub use trigonometric::LIMIT;

/// The version of the numerics. It is raised when a function of `.f` gives another bit for any argument. Compiled code, objects and JSON
/// answers record it. Version 1 was the crate `libm`.
pub const VERSION: u32 = 2;

/// Functions of doubles: [`call`] has them compiled for this processor.
macro_rules! functions {
    ($( $name:ident($($x:ident),+) |$($a:ident),+| $body:expr; )*) => {
        /// The functions on doubles, with values for all arguments.
        pub mod call {
            $(
                /// The function of this name.
                #[inline(never)]
                pub fn $name($($x: f64),+) -> f64 {
                    #[cfg(all(target_arch = "x86_64", not(target_feature = "fma")))]
                    {
                        #[target_feature(enable = "fma")]
                        fn fused($($x: f64),+) -> f64 {
                            super::whole::$name($($x),+)
                        }
                        if std::arch::is_x86_feature_detected!("fma") {
                            // SAFETY: the processor has what the function is compiled for.
                            return unsafe { fused($($x),+) };
                        }
                    }
                    // Without the instruction, the standard library's function rounds once, too, but slowly.
                    super::whole::$name($($x),+)
                }
            )*
        }

        /// The same, to be compiled twice.
        mod whole {
            use super::*;
            $(
                #[inline(always)]
                pub(super) fn $name($($a: f64),+) -> f64 {
                    $body
                }
            )*
        }
    };
}

/// A function of finite numbers, and its limits at −∞ and ∞.
macro_rules! finite {
    ($body:expr, $x:ident, $below:expr, $above:expr) => {
        if $x.is_finite() {
            $body
        } else if $x.is_nan() {
            f64::NAN
        } else if $x > 0.0 {
            $above
        } else {
            $below
        }
    };
}

/// A function of angles: none is infinite.
macro_rules! angle {
    ($name:ident, $far:ident, $x:ident) => {
        match $x.abs() {
            a if a <= LIMIT => trigonometric::$name($x),
            a if a.is_finite() => trigonometric::$far($x),
            _ => f64::NAN,
        }
    };
}

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// A logarithm: −∞ of zero, none of negative numbers.
macro_rules! logarithm {
    ($body:expr, $x:ident) => {
        if $x > 0.0 && $x < INF {
            $body
        } else if $x == 0.0 {
            -INF
        } else if $x > 0.0 {
            INF
        } else {
            NAN
        }
    };
}

functions! {
    fma(a, b, c) |a, b, c| a.mul_add(b, c);
    exp(x) |x| finite!(exponential::exp(x), x, 0.0, INF);
    exp2(x) |x| finite!(exponential::exp2(x), x, 0.0, INF);
    expm1(x) |x| finite!(exponential::expm1(x), x, -1.0, INF);
    sinh(x) |x| finite!(exponential::sinh(x), x, -INF, INF);
    cosh(x) |x| finite!(exponential::cosh(x), x, INF, INF);
    tanh(x) |x| finite!(exponential::tanh(x), x, -1.0, 1.0);
    log(x) |x| logarithm!(logarithm::log(x), x);
    log2(x) |x| logarithm!(logarithm::log2(x), x);
    log1p(x) |x| {
        if x > -1.0 && x < INF {
            logarithm::log1p(x)
        } else if x == -1.0 {
            -INF
        } else if x > 0.0 {
            INF
        } else {
            NAN
        }
    };
    asinh(x) |x| finite!(logarithm::asinh(x), x, -INF, INF);
    acosh(x) |x| if x >= 1.0 { finite!(logarithm::acosh(x), x, NAN, INF) } else { NAN };
    atanh(x) |x| {
        if x.abs() < 1.0 {
            logarithm::atanh(x)
        } else if x.abs() == 1.0 {
            INF.copysign(x)
        } else {
            NAN
        }
    };
    sin(x) |x| angle!(sin, sin_far, x);
    cos(x) |x| angle!(cos, cos_far, x);
    tan(x) |x| angle!(tan, tan_far, x);
    asin(x) |x| if x.abs() <= 1.0 { arc::asin(x) } else { NAN };
    acos(x) |x| if x.abs() <= 1.0 { arc::acos(x) } else { NAN };
    atan(x) |x| finite!(arc::atan(x), x, -std::f64::consts::FRAC_PI_2, std::f64::consts::FRAC_PI_2);
    atan2(y, x) |y, x| if x.is_finite() && y.is_finite() { arc::atan2(y, x) } else { atan2_at_infinity(y, x) };
    cbrt(x) |x| finite!(root::cbrt(x), x, -INF, INF);
    hypot(x, y) |x, y| {
        if x.is_finite() && y.is_finite() {
            root::hypot(x, y)
        } else if x.is_infinite() || y.is_infinite() {
            INF
        } else {
            NAN
        }
    };
    pow(a, b) |a, b| if has_power(a, b) { logarithm::pow(a, b) } else { power_at_edge(a, b) };
    erf(x) |x| finite!(error::erf(x), x, -1.0, 1.0);
    erfc(x) |x| finite!(error::erfc(x), x, 2.0, 0.0);
    lgamma(x) |x| finite!(gamma::lgamma(x), x, INF, INF);
    digamma(x) |x| finite!(gamma::digamma(x), x, NAN, INF);
}

/// The n-th derivative of [`call::digamma`], NaN for orders that are negative or above [`GREATEST_ORDER`].
pub fn polygamma(x: f64, n: i64) -> f64 {
    finite!(gamma::polygamma(x, n), x, NAN, if n == 0 { INF } else { 0.0 })
}

/// a^n. The sign is exact for every n, the magnitude is that for the double nearest to n.
pub fn powi(a: f64, n: i64) -> f64 {
    let magnitude = call::pow(a.abs(), n as f64);
    if a.is_sign_negative() && n & 1 == 1 { -magnitude } else { magnitude }
}

/// Whether [`logarithm::pow`] is for these.
#[inline(always)]
fn has_power(a: f64, b: f64) -> bool {
    a.is_finite() && b.is_finite() && (a > 0.0 || (a == 0.0 && b >= 0.0) || (a < 0.0 && b.round_ties_even() == b))
}

/// Powers that are infinite, or of what is, or of nothing, as IEEE 754 has them.
#[cold]
fn power_at_edge(a: f64, b: f64) -> f64 {
    if b == 0.0 || a == 1.0 {
        return 1.0;
    }
    if a.is_nan() || b.is_nan() {
        return NAN;
    }
    if b.is_infinite() {
        return match a.abs() {
            1.0 => 1.0,
            size if (size > 1.0) == (b > 0.0) => INF,
            _ => 0.0,
        };
    }
    if a != 0.0 && a.is_finite() {
        return NAN;
    }
    let odd = b.round_ties_even() == b && (b * 0.5).round_ties_even() != b * 0.5;
    let size = if a.is_infinite() == (b > 0.0) { INF } else { 0.0 };
    if odd { size.copysign(a) } else { size }
}

/// The angle of a point infinitely far away, as IEEE 754 has it.
#[cold]
fn atan2_at_infinity(y: f64, x: f64) -> f64 {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};
    if x.is_nan() || y.is_nan() {
        return NAN;
    }
    let size = match (y.is_infinite(), x.is_infinite()) {
        (true, true) if x > 0.0 => FRAC_PI_4,
        (true, true) => 3.0 * FRAC_PI_4,
        (true, false) => FRAC_PI_2,
        (false, _) if x > 0.0 => 0.0,
        (false, _) => PI,
    };
    size.copysign(y)
}

#[cfg(test)]
mod tests;
