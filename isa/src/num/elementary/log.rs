//! Logarithms: a table of reciprocals and a short series.

use super::Fixed;
use super::rounding::{fit, high_signed, nearest_signed};
use crate::fault::Fault;
use crate::num::wide::{LN_2, LOG2_E, mul_high_nearest};

/// Units of 2^-70, for the sums.
const SUM_FRAC: u32 = 70;

/// Constants for the mantissas in one interval of length 2^-8.
#[derive(Clone, Copy)]
struct Interval {
    /// A number near the reciprocals, in units of 2^-10.
    reciprocal: u64,
    /// Its negative logarithm to base e, in units of 2^-70.
    log: i128,
    /// To base 2.
    log2: i128,
}

static INTERVALS: [Interval; 256] = intervals();

const fn intervals() -> [Interval; 256] {
    // ln(1024/k) at k - 512, in units of 2^-127: summed down from k = 1024 by ln((k+1)/k) = 2 atanh(1/(2k+1)).
    let mut logs = [0u128; 513];
    let mut k = 1024;
    while k > 512 {
        k -= 1;
        let d = 2 * k as u128 + 1;
        let mut power = (1 << 127) / d;
        let (mut atanh, mut n) = (0, 1);
        while power > 0 {
            atanh += power / n;
            power /= d * d;
            n += 2;
        }
        logs[k - 512] = logs[k - 511] + 2 * atanh;
    }
    let mut table = [Interval { reciprocal: 1024, log: 0, log2: 0 }; 256];
    // The first stays 1, so that powers of two have exact logarithms.
    let mut i = 1;
    while i < 256 {
        // Nearest to 1024 / (1 + (i + 1/2)/256).
        let middle = 513 + 2 * i;
        let reciprocal = (2 * 1024 * 512 + middle) / (2 * middle);
        let log = logs[reciprocal - 512];
        // log2: units 2^-127 · 2^-127 / 2^-128.
        let log2 = mul_high_nearest(log, LOG2_E);
        table[i] = Interval {
            reciprocal: reciprocal as u64,
            log: ((log + (1 << 56)) >> 57) as i128,
            log2: ((log2 + (1 << 55)) >> 56) as i128,
        };
        i += 1;
    }
    table
}

/// a = 2^exponent / reciprocal · e^rest.
struct Split {
    exponent: i32,
    interval: &'static Interval,
    /// In units of 2^-70.
    rest: i64,
}

#[inline]
fn split(t: Fixed, a: i64) -> Result<Split, Fault> {
    /// 1/n in units of 2^-63.
    const fn over(n: i64) -> i64 {
        i64::MAX / n
    }
    if a <= 0 {
        return Err(Fault::Domain);
    }
    let zeros = a.leading_zeros();
    // From 1 up to 2 in units of 2^-62.
    let m = a << (zeros - 1);
    let interval = &INTERVALS[(m >> 54) as usize & 255];
    // The product is 1 + z; |z| < 2^-8: in units of 2^-72, then 2^-70.
    let product = i128::from(m) * i128::from(interval.reciprocal.cast_signed());
    let z = ((product - (1 << 72)) >> 2) as i64;
    // ln(1+z) = z - z²/2 + … + z⁷/7, the next term below 2^-67. z² in units of 2^-76, the sums in units of 2^-63.
    let z2 = high_signed(z, z);
    let times_z = |sum: i64| high_signed(z, sum) >> 6;
    let times_z2 = |sum: i64| high_signed(z2, sum) >> 12;
    let (first, second, third) = (over(2) - times_z(over(3)), over(4) - times_z(over(5)), over(6) - times_z(over(7)));
    let sum = first + times_z2(second + times_z2(third));
    let rest = z - (high_signed(z2, sum) >> 5);
    Ok(Split { exponent: 63 - zeros as i32 - t.frac as i32, interval, rest })
}

/// Natural logarithm.
///
/// # Errors
/// [`Fault::Domain`] for a ≤ 0; [`Fault::Range`] in narrow types.
#[inline(never)]
pub fn log(t: Fixed, a: i64) -> Result<i64, Fault> {
    const LN_2_SUM: i128 = (LN_2 >> (128 - SUM_FRAC - 8)) as i128;
    let Split { exponent, interval, rest } = split(t, a)?;
    // Eight more bits for ln 2, which is multiplied by up to 63.
    let whole = (i128::from(exponent) * LN_2_SUM) >> 8;
    fit(t, nearest_signed(whole + interval.log + i128::from(rest), SUM_FRAC - t.frac))
}

/// Logarithm to base 2; exact for powers of two.
///
/// # Errors
/// [`Fault::Domain`] for a ≤ 0; [`Fault::Range`] in narrow types.
#[inline(never)]
pub fn log2(t: Fixed, a: i64) -> Result<i64, Fault> {
    const LOG2_E_62: i64 = (LOG2_E >> 65) as i64;
    let Split { exponent, interval, rest } = split(t, a)?;
    let rest = (i128::from(rest) * i128::from(LOG2_E_62)) >> 62;
    fit(t, nearest_signed((i128::from(exponent) << SUM_FRAC) + interval.log2 + rest, SUM_FRAC - t.frac))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_values() {
        for frac in [1, 32, 43, 48] {
            let t = Fixed { width: 64, frac };
            assert_eq!(log(t, t.one()), Ok(0));
            for a in [0, -1, i64::MIN] {
                assert_eq!(log(t, a), Err(Fault::Domain));
                assert_eq!(log2(t, a), Err(Fault::Domain));
            }
            for bit in 0..63 {
                let exponent = bit - i64::from(frac);
                assert_eq!(log2(t, 1 << bit), Ok(exponent << frac));
            }
        }
    }

    #[test]
    fn nearly_as_in_floating_point() {
        for frac in [32, 43] {
            let t = Fixed { width: 64, frac };
            let one = t.one() as f64;
            let mut a = 1i64;
            while a < i64::MAX / 2 {
                let x = a as f64 / one;
                assert!((log(t, a).unwrap() as f64 - libm::log(x) * one).abs() < 1.1, "{a}");
                assert!((log2(t, a).unwrap() as f64 - libm::log2(x) * one).abs() < 1.1, "{a}");
                a += 1 + a / 321;
            }
        }
    }
}
