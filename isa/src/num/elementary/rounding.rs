//! Common parts of the elementary functions: products, quotients, rounding and the
//! range check.

use super::Fixed;
use crate::fault::Fault;
use crate::num::wide::{mul_high, shift_nearest};

/// a · b / 2^64, rounded down.
#[inline]
pub(super) const fn high(a: u64, b: u64) -> u64 {
    ((a as u128 * b as u128) >> 64) as u64
}

/// a · b / 2^64, rounded toward −∞.
#[inline]
pub(super) const fn high_signed(a: i64, b: i64) -> i64 {
    ((a as i128 * b as i128) >> 64) as i64
}

/// n / 2^shift to the nearest integer, ties up; 1 ≤ shift ≤ 63.
#[inline]
pub(super) const fn nearest(n: u64, shift: u32) -> u64 {
    (n >> shift) + ((n >> (shift - 1)) & 1)
}

/// n / 2^shift to the nearest integer, ties up; 1 ≤ shift ≤ 126 and |n| < 2^126.
#[inline]
pub(super) const fn nearest_signed(n: i128, shift: u32) -> i128 {
    (n + (1 << (shift - 1))) >> shift
}

/// The word, if the type holds the number.
#[inline]
pub(super) fn fit(t: Fixed, n: i128) -> Result<i64, Fault> {
    let max = i128::from(t.max());
    if (!max..=max).contains(&n) { Ok(n as i64) } else { Err(Fault::Range) }
}

/// The word of ±m, if the type holds it.
#[inline]
pub(super) fn fit_magnitude(t: Fixed, negative: bool, m: u64) -> Result<i64, Fault> {
    let max = t.max().cast_unsigned();
    if m <= max || (negative && m == max + 1) { Ok(with_sign(negative, m)) } else { Err(Fault::Range) }
}

/// ±m; m at most 2^63 if negative, less if not.
#[inline]
pub(super) fn with_sign(negative: bool, m: u64) -> i64 {
    // Without a branch, because signs are unpredictable.
    let mask = -i64::from(negative);
    (m.cast_signed() ^ mask).wrapping_sub(mask)
}

/// The word nearest to ±m · 2^exponent, rounded before the range is checked.
#[inline]
pub(super) fn encode(t: Fixed, negative: bool, m: u128, exponent: i32) -> Result<i64, Fault> {
    let shift = -(exponent + t.frac as i32);
    if m == 0 {
        return Ok(0);
    }
    // Below, the product would have more than 64 bits, or the shift be to the left.
    if shift < 0 || i64::from(m.leading_zeros()) + i64::from(shift) < 63 {
        return Err(Fault::Range);
    }
    let rounded = shift_nearest(m, shift.unsigned_abs());
    match u64::try_from(rounded) {
        Ok(rounded) => fit_magnitude(t, negative, rounded),
        Err(_) => Err(Fault::Range),
    }
}

/// 2^254 / d to within 2^6 for d ≥ 2^127.
fn reciprocal(d: u128) -> u128 {
    debug_assert!(d >> 127 == 1);
    // Too small by a factor of 1 - 2^-62 at most; Newton's step squares that.
    let estimate = (u128::MAX / ((d >> 64) + 1)) << 62;
    let defect = (1 << 126) - mul_high(d, estimate);
    estimate + mul_high(estimate, defect << 2)
}

/// n / d for n, d > 0 as m · 2^exponent, with 125 bits or more in m.
pub(super) fn quotient(n: u128, d: u128) -> (u128, i32) {
    let (n_zeros, d_zeros) = (n.leading_zeros(), d.leading_zeros());
    let m = mul_high(n << n_zeros, reciprocal(d << d_zeros));
    (m, d_zeros as i32 - n_zeros as i32 - 126)
}

/// c0 − u (c1 − u (c2 − …)), the coefficients in units of 2^-127 and u in units of 2^-128.
#[inline]
pub(super) const fn alternating(coefficients: &[u128], u: u128) -> u128 {
    let mut n = coefficients.len() - 1;
    let mut sum = coefficients[n];
    while n > 0 {
        n -= 1;
        sum = coefficients[n] - mul_high(u, sum);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::sample::Random;

    #[test]
    fn quotients() {
        let mut random = Random(3);
        for _ in 0..20_000 {
            let mut next = || u128::from(random.sized()) << 64 | u128::from(random.word()) | 1;
            let (n, d) = (next(), next());
            let (m, exponent) = quotient(n, d);
            assert!(m >> 124 != 0);
            // n = m · 2^exponent · d to 120 bits: checked by a product.
            let back = mul_high(m, d << d.leading_zeros());
            let expected = (n << n.leading_zeros()) >> 2;
            assert!(back.abs_diff(expected) < 1 << 6, "{n:#x} / {d:#x}: {back:#x} {expected:#x}");
            assert_eq!(exponent, d.leading_zeros() as i32 - n.leading_zeros() as i32 - 126);
        }
    }

    #[test]
    fn encoding() {
        let t = Fixed { width: 64, frac: 32 };
        assert_eq!(encode(t, false, 1 << 127, -127), Ok(1 << 32));
        assert_eq!(encode(t, true, 1 << 127, -96), Ok(i64::MIN));
        assert_eq!(encode(t, false, 1 << 127, -96), Err(Fault::Range));
        assert_eq!(encode(t, false, u128::MAX, -97), Err(Fault::Range), "rounds up to 2^31");
        assert_eq!(encode(t, false, 1, 0), Err(Fault::Range));
        assert_eq!(encode(t, false, (1 << 127) + 1, -160), Ok(1));
        assert_eq!(encode(t, false, 1 << 127, -161), Ok(0));
        assert_eq!(encode(t, false, u128::MAX, -400), Ok(0));
        assert_eq!(encode(t, true, u128::MAX, 100), Err(Fault::Range));
    }
}
