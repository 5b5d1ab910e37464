//! Elementary functions of doubles: those of [`raw`], and what the machine demands of operands and results.
//!
//! The standard library calls the system's functions, whose results differ between
//! machines. So it is used only for operations that IEEE 754 defines to the bit
//! (`sqrt`, `floor`, `abs`, `mul_add`). Others are not inlined: otherwise
//! each of the interpreter's thousands of handlers would have a copy.

use super::{Env, Word, finite, is_finite, operands};
use crate::fault::Fault;
use crate::num::raw::{self, domain};

/// The operand, if the environment allows it.
#[inline]
fn operand(env: Env, a: u64) -> Result<f64, Fault> {
    if env.ieee || is_finite(a) { Ok(f64::from_bits(a)) } else { Err(Fault::NotFinite) }
}

/// A fault if the condition does not hold, unless `env.ieee`: IEEE 754 defines a value everywhere.
#[inline]
fn require(env: Env, condition: bool, fault: Fault) -> Result<(), Fault> {
    if condition || env.ieee { Ok(()) } else { Err(fault) }
}

/// Functions of one number that have a value everywhere.
macro_rules! total {
    ($( $(#[doc = $doc:literal])+ $name:ident; )*) => { $(
        $(#[doc = $doc])+
        ///
        /// # Errors
        /// [`Fault::NotFinite`] when the operand or the result is not finite, unless `env.ieee`.
        #[inline(never)]
        pub fn $name(env: Env, a: u64) -> Word {
            finite(env, raw::call::$name(operand(env, a)?))
        }
    )* };
}

total! {
    /// e^a.
    exp;
    /// The sine of a, in radians.
    sin;
    /// The cosine of a, in radians.
    cos;
    /// The tangent of a, in radians.
    tan;
    /// The arc tangent of a, from −π/2 to π/2.
    atan;
    /// The hyperbolic sine of a.
    sinh;
    /// The hyperbolic cosine of a.
    cosh;
    /// The hyperbolic tangent of a.
    tanh;
    /// 2^a.
    exp2;
    /// e^a − 1, without cancellation.
    expm1;
    /// The inverse of the hyperbolic sine.
    asinh;
    /// The cube root of a.
    cbrt;
    /// The error function of a.
    erf;
    /// 1 − erf a, without cancellation.
    erfc;
}

/// Functions of one number that have a value only where a condition holds.
macro_rules! partial {
    ($( $(#[doc = $doc:literal])+ $name:ident if |$x:ident| $condition:expr; )*) => { $(
        $(#[doc = $doc])+
        ///
        /// # Errors
        /// Unless `env.ieee`: [`Fault::NotFinite`] when the operand is not finite;
        /// [`Fault::Domain`] where there is no value.
        #[inline(never)]
        pub fn $name(env: Env, a: u64) -> Word {
            let $x = operand(env, a)?;
            require(env, $condition, Fault::Domain)?;
            finite(env, raw::call::$name($x))
        }
    )* };
}

partial! {
    /// The natural logarithm of a > 0.
    log if |x| domain::positive(x);
    /// The logarithm of a > 0 to base 2.
    log2 if |x| domain::positive(x);
    /// The arc sine of a, −1 ≤ a ≤ 1, from −π/2 to π/2.
    asin if |x| domain::within_one(x);
    /// The arc cosine of a, −1 ≤ a ≤ 1, from 0 to π.
    acos if |x| domain::within_one(x);
    /// ln(1 + a), a > −1, without cancellation.
    log1p if |x| domain::above_minus_one(x);
    /// The inverse of the hyperbolic cosine, a ≥ 1, not negative.
    acosh if |x| domain::at_least_one(x);
    /// The inverse of the hyperbolic tangent, −1 < a < 1.
    atanh if |x| domain::inside_one(x);
    /// The natural logarithm of |Γ(a)|. There is none where Γ has poles, at zero and negative whole numbers.
    lgamma if |x| !raw::is_pole(x);
    /// The derivative of the logarithm of the gamma function. There is none at zero and negative whole numbers.
    digamma if |x| !raw::is_pole(x);
}

/// The square root of a ≥ 0, rounded to nearest; that of −0 is −0.
///
/// # Errors
/// Unless `env.ieee`: [`Fault::NotFinite`] when the operand is not finite;
/// [`Fault::Domain`] when it is less than zero.
#[inline]
pub fn sqrt(env: Env, a: u64) -> Word {
    let x = operand(env, a)?;
    require(env, x >= 0.0, Fault::Domain)?;
    finite(env, x.sqrt())
}

/// |a|.
///
/// # Errors
/// [`Fault::NotFinite`] when the operand is not finite, unless `env.ieee`.
#[inline]
pub fn abs(env: Env, a: u64) -> Word {
    finite(env, operand(env, a)?.abs())
}

/// −1, 0 or 1, as the number is less than, equal to or greater than zero; +0 for −0.
///
/// # Errors
/// [`Fault::NotFinite`] when the operand is not finite, unless `env.ieee`.
#[inline]
pub fn sign(env: Env, a: u64) -> Word {
    let x = operand(env, a)?;
    // The standard signum has no zero: it gives ±1 for ±0.
    finite(env, if x == 0.0 { 0.0 } else { x.signum() })
}

/// a where it is greater than zero, else +0: also for a NaN, which `env.ieee` allows.
///
/// # Errors
/// [`Fault::NotFinite`] when the operand is not finite, unless `env.ieee`.
#[inline]
pub fn relu(env: Env, a: u64) -> Word {
    let x = operand(env, a)?;
    finite(env, if x > 0.0 { x } else { 0.0 })
}

/// The greatest whole number not above a; −0 stays −0.
///
/// # Errors
/// [`Fault::NotFinite`] when the operand is not finite, unless `env.ieee`.
#[inline]
pub fn floor(env: Env, a: u64) -> Word {
    finite(env, operand(env, a)?.floor())
}

/// The lesser of two numbers, −0 less than +0; NaN when one is NaN.
///
/// # Errors
/// [`Fault::NotFinite`] when an operand is not finite, unless `env.ieee`.
#[inline]
pub fn min(env: Env, a: u64, b: u64) -> Word {
    let (x, y) = operands(env, a, b)?;
    // The standard min leaves open which zero it gives, and drops a NaN.
    let first = x.is_nan() || x < y || (x == y && x.is_sign_negative());
    finite(env, if first { x } else { y })
}

/// The greater of two numbers, +0 greater than −0; NaN when one is NaN.
///
/// # Errors
/// [`Fault::NotFinite`] when an operand is not finite, unless `env.ieee`.
#[inline]
pub fn max(env: Env, a: u64, b: u64) -> Word {
    let (x, y) = operands(env, a, b)?;
    let first = x.is_nan() || x > y || (x == y && x.is_sign_positive());
    finite(env, if first { x } else { y })
}

/// a^b. 0^0 is 1; a negative base needs a whole exponent, and every double of
/// magnitude 2^53 or more is whole and even.
///
/// # Errors
/// Unless `env.ieee`: [`Fault::NotFinite`] when an operand or the power is not
/// finite; [`Fault::DivideByZero`] for zero with a negative exponent;
/// [`Fault::Domain`] for a negative base with an exponent that is not whole.
#[inline(never)]
pub fn pow(env: Env, a: u64, b: u64) -> Word {
    let (x, y) = operands(env, a, b)?;
    require(env, domain::has_inverse(x, y), Fault::DivideByZero)?;
    require(env, domain::has_sign(x, y), Fault::Domain)?;
    finite(env, raw::call::pow(x, y))
}

/// a^n for a whole n, a 64-bit signed integer. 0^0 is 1.
///
/// The sign is exact for every n. For |n| > 2^53 the magnitude is that for the
/// double nearest to n.
///
/// # Errors
/// Unless `env.ieee`: [`Fault::NotFinite`] when the operand or the power is not
/// finite; [`Fault::DivideByZero`] for zero with a negative exponent.
#[inline(never)]
pub fn powi(env: Env, a: u64, n: u64) -> Word {
    let x = operand(env, a)?;
    let n = n as i64;
    require(env, domain::has_inverse(x, n as f64), Fault::DivideByZero)?;
    finite(env, raw::powi(x, n))
}

/// The n-th derivative of the digamma function at a, n a 64-bit signed integer; for n = 0, the function itself.
///
/// # Errors
/// Unless `env.ieee`: [`Fault::NotFinite`] when the operand or the result is not finite;
/// [`Fault::Domain`] at zero and negative whole numbers, and for n below 0 or above [`raw::GREATEST_ORDER`].
#[inline(never)]
pub fn polygamma(env: Env, a: u64, n: u64) -> Word {
    let x = operand(env, a)?;
    let n = n as i64;
    require(env, !raw::is_pole(x) && (0..=raw::GREATEST_ORDER).contains(&n), Fault::Domain)?;
    finite(env, raw::polygamma(x, n))
}

/// The angle of the point (b, a), from −π to π: the arc tangent of a/b, in its quadrant.
/// A value for (0, 0) too, 0 or π with the sign of a, as IEEE 754 has it.
///
/// # Errors
/// [`Fault::NotFinite`] when an operand is not finite, unless `env.ieee`.
#[inline(never)]
pub fn atan2(env: Env, a: u64, b: u64) -> Word {
    let (y, x) = operands(env, a, b)?;
    finite(env, raw::call::atan2(y, x))
}

/// √(a² + b²), without intermediate overflow.
///
/// # Errors
/// [`Fault::NotFinite`] when an operand or the result is not finite, unless `env.ieee`.
#[inline(never)]
pub fn hypot(env: Env, a: u64, b: u64) -> Word {
    let (x, y) = operands(env, a, b)?;
    finite(env, raw::call::hypot(x, y))
}

/// a · b + c, rounded once.
///
/// # Errors
/// [`Fault::NotFinite`] when an operand or the result is not finite, unless `env.ieee`.
#[inline(never)]
pub fn muladd(env: Env, a: u64, b: u64, c: u64) -> Word {
    let (x, y) = operands(env, a, b)?;
    finite(env, raw::call::fma(x, y, operand(env, c)?))
}

#[cfg(test)]
mod tests;
