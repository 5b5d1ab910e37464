//! Hyperbolic functions, from powers of e that have more than 64 bits, so that
//! a difference keeps more than a word's fraction despite cancellation.

use super::Fixed;
use super::exp::{Beyond, argument, power_of_e};
use super::rounding::{encode, with_sign};
use crate::fault::Fault;
use crate::num::wide::shift_nearest;

/// e^|a| and e^-|a|, both in units of 2^(exponent - 126).
#[inline]
fn both_powers(t: Fixed, a: i64) -> Result<(u128, u128, i32), Fault> {
    let magnitude = a.checked_abs().ok_or(Fault::Range)?;
    let Ok(x) = argument(t, magnitude) else { return Err(Fault::Range) };
    let (great, exponent) = power_of_e(x);
    let (small, small_exponent) = power_of_e(-x);
    let down = (exponent - small_exponent).unsigned_abs();
    Ok((great, small.checked_shr(down).unwrap_or(0), exponent))
}

/// Hyperbolic sine, (e^a − e^-a) / 2.
///
/// # Errors
/// [`Fault::Range`].
#[inline(never)]
pub fn sinh(t: Fixed, a: i64) -> Result<i64, Fault> {
    let (great, small, exponent) = both_powers(t, a)?;
    // Near 0, rounding must not make e^-x larger than e^x.
    encode(t, a < 0, great.saturating_sub(small), exponent - 127)
}

/// Hyperbolic cosine, (e^a + e^-a) / 2.
///
/// # Errors
/// [`Fault::Range`].
#[inline(never)]
pub fn cosh(t: Fixed, a: i64) -> Result<i64, Fault> {
    let (great, small, exponent) = both_powers(t, a)?;
    encode(t, false, great + small, exponent - 127)
}

/// Hyperbolic tangent. Never fails.
#[inline(never)]
pub fn tanh(t: Fixed, a: i64) -> Result<i64, Fault> {
    // From 32 on it equals 1 to 90 bits, so no power of e is needed.
    let argument = match a.checked_abs().map(|magnitude| argument(t, magnitude)) {
        Some(Ok(x)) if x >> (super::exp::ARGUMENT_FRAC + 5) == 0 => x,
        Some(Ok(_) | Err(Beyond::Above | Beyond::Below)) | None => return Ok(with_sign(a < 0, 1 << t.frac)),
    };
    // (1 - e^-2x) / (1 + e^-2x), the power in units of 2^-63.
    let (m, exponent) = power_of_e(-2 * argument);
    let power = m.checked_shr((63 - exponent).unsigned_abs()).unwrap_or(0);
    let one = 1u128 << 63;
    let ratio = (one.saturating_sub(power) << 64) / (one + power);
    Ok(with_sign(a < 0, shift_nearest(ratio, 64 - t.frac) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_values() {
        for frac in [1, 32, 43, 48] {
            let t = Fixed { width: 64, frac };
            assert_eq!(sinh(t, 0), Ok(0));
            assert_eq!(cosh(t, 0), Ok(t.one()));
            assert_eq!(tanh(t, 0), Ok(0));
            for a in [i64::MIN, i64::MAX, 64 << frac, -64 << frac] {
                assert_eq!(sinh(t, a), Err(Fault::Range));
                assert_eq!(cosh(t, a), Err(Fault::Range));
                assert_eq!(tanh(t, a), Ok(a.signum() << frac));
            }
        }
    }

    #[test]
    fn nearly_as_in_floating_point() {
        let t = Fixed { width: 64, frac: 32 };
        const ONE: f64 = 4294967296.0;
        let mut a = -22i64 << 32;
        while a < 22 << 32 {
            let x = a as f64 / ONE;
            for (word, number) in
                [(sinh(t, a), libm::sinh(x)), (cosh(t, a), libm::cosh(x)), (tanh(t, a), libm::tanh(x))]
            {
                let number = number * ONE;
                match word {
                    Ok(word) => assert!((word as f64 - number).abs() <= 1.0 + number.abs() * 1e-15, "{x}: {word}"),
                    Err(fault) => assert!(fault == Fault::Range && number.abs() > 9.22e18),
                }
            }
            a += 123_456_789;
        }
    }
}
