//! Powers, as 2^(b log2 a) to about 120 bits: the error of the logarithm must stay invisible
//! even for a large exponent, which matters more here than speed.

use super::Fixed;
use super::rounding::encode;
use crate::fault::Fault;
use crate::num::wide;

/// The word nearest to ±magnitude^b; magnitude > 0 in units of 2^-frac, b in units of 2^-exponent_frac.
///
/// The result's logarithm is off by |b| · 2^-122 + 2^-120, and that is its
/// relative error. It counts where the result has many bits; there |b| is below
/// (63 - frac) / log2(1 + 2^-frac). So a `powi` has 2^-70 at most (frac = 48),
/// and a `pow`, whose b is below 2^(63 - frac) besides, 2^-88.
fn power(t: Fixed, negative: bool, magnitude: u64, b: i64, exponent_frac: u32) -> Result<i64, Fault> {
    let zeros = magnitude.leading_zeros();
    let exponent = 63 - zeros as i32 - t.frac as i32;
    let fraction = wide::log2(u128::from(magnitude << zeros) << 64);
    // The logarithm as ±(whole + part), part in units of 2^-127 and at most 1.
    let (below_one, whole, part) = match exponent {
        0.. => (false, exponent.unsigned_abs(), fraction),
        _ => (true, exponent.unsigned_abs() - 1, (1 << 127) - fraction),
    };
    let result_below_one = below_one != (b < 0);
    let b = u128::from(b.unsigned_abs());
    // b · whole in units of 2^-exponent_frac; b · part, 192 bits: `top` in units of 2^-(63 + exponent_frac).
    let units = b * u128::from(whole);
    let low = b * (part & u128::from(u64::MAX));
    let top = b * (part >> 64) + (low >> 64);
    if units >> exponent_frac >= 64 || top >> (63 + exponent_frac) >= 64 {
        return if result_below_one { Ok(0) } else { Err(Fault::Range) };
    }
    // The result's logarithm in units of 2^-120, below 2^127.
    let down = 7 + exponent_frac;
    let y = (units << (120 - exponent_frac)) + (top << (64 - down)) + u128::from(low as u64 >> down);
    let y = if result_below_one { -y.cast_signed() } else { y.cast_signed() };
    let m = wide::exp2(y.cast_unsigned() << 8);
    encode(t, negative, m, (y >> 120) as i32 - 127)
}

/// a^b. For a negative a, b must be whole. 0^0 is 1.
///
/// # Errors
/// [`Fault::Domain`] for a negative base and an exponent that is not whole;
/// [`Fault::DivideByZero`] for 0 to a negative exponent; [`Fault::Range`].
#[inline(never)]
pub fn pow(t: Fixed, a: i64, b: i64) -> Result<i64, Fault> {
    if a == 0 {
        return power_of_zero(t, b);
    }
    if a < 0 && b & (t.one() - 1) != 0 {
        return Err(Fault::Domain);
    }
    let negative = a < 0 && b & t.one() != 0;
    power(t, negative, a.unsigned_abs(), b, t.frac)
}

/// a^n for an integer n, not a fixed-point number. 0^0 is 1.
///
/// # Errors
/// [`Fault::DivideByZero`] for 0 to a negative exponent; [`Fault::Range`].
#[inline(never)]
pub fn powi(t: Fixed, a: i64, n: i64) -> Result<i64, Fault> {
    if a == 0 {
        return power_of_zero(t, n);
    }
    power(t, a < 0 && n & 1 != 0, a.unsigned_abs(), n, 0)
}

fn power_of_zero(t: Fixed, b: i64) -> Result<i64, Fault> {
    match b {
        1.. => Ok(0),
        0 => Ok(t.one()),
        _ => Err(Fault::DivideByZero),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::sample::{Random, edges};

    #[test]
    fn special_values() {
        for frac in [1, 32, 43, 48] {
            let t = Fixed { width: 64, frac };
            let one = t.one();
            assert_eq!(pow(t, 0, 0), Ok(one));
            assert_eq!(pow(t, 0, 1), Ok(0));
            assert_eq!(pow(t, 0, -1), Err(Fault::DivideByZero));
            assert_eq!(powi(t, 0, 0), Ok(one));
            assert_eq!(powi(t, 0, i64::MAX), Ok(0));
            assert_eq!(powi(t, 0, -1), Err(Fault::DivideByZero));
            assert_eq!(pow(t, -one, 1), Err(Fault::Domain));
            assert_eq!(pow(t, -2 * one, 3 * one), Ok(-8 * one));
            assert_eq!(pow(t, -2 * one, 4 * one), Ok(16 * one));
            assert_eq!(pow(t, 4 * one, one / 2), Ok(2 * one));
            assert_eq!(pow(t, 9 * one, -one / 2), Ok((one + 1) / 3));
            for b in [i64::MAX, i64::MIN, 7, -7] {
                assert_eq!(pow(t, one, b), Ok(one));
                assert_eq!(powi(t, one, b), Ok(one));
                assert_eq!(powi(t, -one, b), Ok(if b & 1 == 0 { one } else { -one }));
                let (great, small) = if b > 0 { (Err(Fault::Range), Ok(0)) } else { (Ok(0), Err(Fault::Range)) };
                if b.abs_diff(0) > 7 {
                    assert_eq!(powi(t, 2 * one, b), great);
                    assert_eq!(powi(t, one / 2, b), small);
                    assert_eq!(pow(t, 2 * one, b), great);
                }
            }
        }
    }

    #[test]
    fn first_power_and_reciprocal() {
        let mut random = Random(5);
        let words: Vec<u64> = edges().into_iter().chain((0..2000).map(|_| random.sized())).collect();
        for frac in [1, 32, 43, 48] {
            let t = Fixed { width: 64, frac };
            for a in words.iter().map(|&w| w.cast_signed()).filter(|&a| a != 0) {
                assert_eq!(powi(t, a, 1), Ok(a));
                assert_eq!(powi(t, a, 0), Ok(t.one()));
                assert_eq!(pow(t, a, t.one()), Ok(a));
                let exact = 1i128 << (2 * frac);
                let nearest = (2 * exact + i128::from(a).abs()).div_euclid(2 * i128::from(a));
                if let Ok(inverse) = powi(t, a, -1) {
                    assert!((i128::from(inverse) - nearest).abs() <= 1, "{a}: {inverse} {nearest}");
                } else {
                    assert!(nearest.abs() > i128::from(i64::MAX));
                }
            }
        }
    }

    #[test]
    fn squares() {
        let mut random = Random(6);
        for frac in [1, 32, 43, 48] {
            let t = Fixed { width: 64, frac };
            for _ in 0..5000 {
                let a = random.sized().cast_signed();
                let square = (i128::from(a) * i128::from(a) + (1 << (frac - 1))) >> frac;
                match powi(t, a, 2) {
                    // A tie may go either way.
                    Ok(word) => assert!((i128::from(word) - square).abs() <= 1, "{a}"),
                    Err(_) => assert!(square > i128::from(i64::MAX)),
                }
            }
        }
    }
}
