//! Floating point, `.f`: a word is the bits of an IEEE 754 double.
//!
//! These are the kernels of the basic operations and of comparison, rounded to
//! nearest, ties to even. Unless [`Env::ieee`] is set, infinities and NaN trap,
//! as operands and as results. With it they are allowed, and a result that is NaN is
//! always [`NAN`], because the NaN that hardware returns differs between machines.
//! Elementary functions, re-exported here, follow the same rule. Conversions are
//! elsewhere ([`convert`](super::convert)), and so is text
//! ([`decimal`](super::decimal)).

use std::cmp::Ordering;

use super::{Env, Word};
use crate::fault::Fault;

mod elementary;

pub use elementary::{
    abs, acos, acosh, asin, asinh, atan, atan2, atanh, cbrt, cos, cosh, digamma, erf, erfc, exp, exp2, expm1, floor,
    hypot, lgamma, log, log1p, log2, max, min, muladd, polygamma, pow, powi, relu, sign, sin, sinh, sqrt, tan, tanh,
};

/// The one NaN that operations make: positive, quiet, without payload.
pub const NAN: u64 = 0x7ff8_0000_0000_0000;

/// The bits of the exponent; all of them are set in infinities and NaN.
const EXPONENT: u64 = 0x7ff0_0000_0000_0000;

/// Whether the word is a number: neither infinite nor NaN.
#[inline]
pub fn is_finite(a: u64) -> bool {
    a & EXPONENT != EXPONENT
}

/// The word of a result, NaN made the same everywhere.
///
/// # Errors
/// [`Fault::NotFinite`] when the result is not finite and `env.ieee` is not set.
#[inline]
pub fn finite(env: Env, result: f64) -> Word {
    if result.is_finite() {
        Ok(result.to_bits())
    } else if !env.ieee {
        Err(Fault::NotFinite)
    } else if result.is_nan() {
        Ok(NAN)
    } else {
        Ok(result.to_bits())
    }
}

/// The operands, if the environment allows them.
#[inline]
fn operands(env: Env, a: u64, b: u64) -> Result<(f64, f64), Fault> {
    if env.ieee || (is_finite(a) && is_finite(b)) {
        Ok((f64::from_bits(a), f64::from_bits(b)))
    } else {
        Err(Fault::NotFinite)
    }
}

/// The double nearest to a · 2^-frac for a signed integer a, ties to even; `frac` is at most 63.
#[inline]
pub fn from_scaled(a: u64, frac: u32) -> u64 {
    // Scaling by a power of two is exact.
    (a.cast_signed() as f64 * (1.0 / (1u64 << frac) as f64)).to_bits()
}

/// a + b.
///
/// # Errors
/// [`Fault::NotFinite`] when an operand or the sum is not finite, unless `env.ieee`.
#[inline]
pub fn add(env: Env, a: u64, b: u64) -> Word {
    let (x, y) = operands(env, a, b)?;
    finite(env, x + y)
}

/// a − b.
///
/// # Errors
/// [`Fault::NotFinite`] when an operand or the difference is not finite, unless `env.ieee`.
#[inline]
pub fn sub(env: Env, a: u64, b: u64) -> Word {
    let (x, y) = operands(env, a, b)?;
    finite(env, x - y)
}

/// a · b.
///
/// # Errors
/// [`Fault::NotFinite`] when an operand or the product is not finite, unless `env.ieee`.
#[inline]
pub fn mul(env: Env, a: u64, b: u64) -> Word {
    let (x, y) = operands(env, a, b)?;
    finite(env, x * y)
}

/// a / b.
///
/// # Errors
/// Unless `env.ieee`: [`Fault::NotFinite`] when an operand or the quotient is not
/// finite; [`Fault::DivideByZero`] when a finite number, zero included, is divided by ±0.
#[inline]
pub fn div(env: Env, a: u64, b: u64) -> Word {
    let (x, y) = operands(env, a, b)?;
    if y == 0.0 && !env.ieee {
        return Err(Fault::DivideByZero);
    }
    finite(env, x / y)
}

/// −a: the sign bit flipped, whatever the word.
#[inline]
pub fn neg(a: u64) -> u64 {
    a ^ (1 << 63)
}

/// The order of the numbers, −0 equal to +0; `None` when one is NaN.
///
/// # Errors
/// [`Fault::NotFinite`] when one is NaN, unless `env.ieee`. Infinities compare either way.
#[inline]
pub fn compare(env: Env, a: u64, b: u64) -> Result<Option<Ordering>, Fault> {
    match f64::from_bits(a).partial_cmp(&f64::from_bits(b)) {
        None if !env.ieee => Err(Fault::NotFinite),
        order => Ok(order),
    }
}

/// 1 if |x| ≤ tol, else 0; a NaN on either side gives 0.
#[inline]
pub fn within(_: Env, x: u64, tol: u64) -> Word {
    Ok(u64::from(f64::from_bits(x).abs() <= f64::from_bits(tol)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::sample::Random;

    const TRAPPING: Env = Env { format: crate::num::Format::Q32_32, ieee: false };
    const IEEE: Env = Env { format: crate::num::Format::Q32_32, ieee: true };
    type Kernel = fn(Env, u64, u64) -> Word;
    type HostFn = fn(f64, f64) -> f64;
    const PAIRS: [(Kernel, HostFn); 4] =
        [(add, |x, y| x + y), (sub, |x, y| x - y), (mul, |x, y| x * y), (div, |x, y| x / y)];

    fn words() -> Vec<u64> {
        let mut words: Vec<u64> = [
            0.0,
            1.0,
            1.5,
            f64::EPSILON,
            f64::MIN_POSITIVE,
            f64::from_bits(1),
            f64::MAX,
            f64::INFINITY,
            f64::NAN,
            f64::from_bits(0x7ff0_0000_0000_0001),
            f64::from_bits(0x7fff_ffff_ffff_ffff),
        ]
        .into_iter()
        .flat_map(|x: f64| [x.to_bits(), neg(x.to_bits())])
        .collect();
        let mut random = Random(2);
        words.extend((0..200).map(|_| random.word()));
        words
    }

    #[test]
    fn only_finite_numbers_without_ieee() {
        for a in words() {
            for b in words() {
                let (x, y) = (f64::from_bits(a), f64::from_bits(b));
                for (index, (kernel, native)) in PAIRS.into_iter().enumerate() {
                    let expected = if !x.is_finite() || !y.is_finite() {
                        Err(Fault::NotFinite)
                    } else if index == 3 && y == 0.0 {
                        Err(Fault::DivideByZero)
                    } else if native(x, y).is_finite() {
                        Ok(native(x, y).to_bits())
                    } else {
                        Err(Fault::NotFinite)
                    };
                    assert_eq!(kernel(TRAPPING, a, b), expected, "{index}: {x} {y}");
                    let native = native(x, y);
                    let expected = if native.is_nan() { NAN } else { native.to_bits() };
                    assert_eq!(kernel(IEEE, a, b), Ok(expected), "{index}: {x} {y}");
                }
            }
        }
    }

    #[test]
    fn comparison() {
        let order = |x: f64, y: f64| compare(TRAPPING, x.to_bits(), y.to_bits());
        assert_eq!(order(-0.0, 0.0), Ok(Some(Ordering::Equal)));
        assert_eq!(order(-1.0, f64::INFINITY), Ok(Some(Ordering::Less)));
        assert_eq!(order(1.0, f64::NAN), Err(Fault::NotFinite));
        assert_eq!(compare(IEEE, f64::NAN.to_bits(), 0), Ok(None));
    }

    #[test]
    fn negation_flips_one_bit() {
        for a in words() {
            assert_eq!(neg(neg(a)), a);
            assert_eq!(neg(a) ^ a, 1 << 63);
        }
    }
}
