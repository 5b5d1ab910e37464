//! Square roots, correctly rounded: Newton's method gives an estimate, and the exact remainder
//! decides the last bit.

use super::Fixed;
use super::rounding::{fit_magnitude, high};
use crate::fault::Fault;

/// 1/sqrt(x) at the middle of an interval, x = (i + 256.5)/1024, in units of 2^-31.
static ESTIMATES: [u32; 768] = estimates();

const fn estimates() -> [u32; 768] {
    let mut table = [0; 768];
    let mut i = 0;
    while i < 768 {
        // (2^31 / sqrt(x))² = 2^73 / (2i + 513).
        table[i] = ((1u128 << 73) / (2 * i as u128 + 513)).isqrt() as u32;
        i += 1;
    }
    table
}

/// The integer nearest to the root of n < 2^127; it is never a tie.
#[inline]
pub(super) fn root(n: u128) -> u64 {
    debug_assert!(n >> 127 == 0);
    if n == 0 {
        return 0;
    }
    // x = n · 4^half / 2^128, at least 1/4 and below 1.
    let half = n.leading_zeros() / 2;
    let scaled = n << (2 * half);
    let x = (scaled >> 64) as u64;
    // y = 1/sqrt(x) to 2^-10, 2^-19 and 2^-37, in units of 2^-31; below 2, as Newton's steps end below the root.
    let step = |y: u64| {
        let defect = (1i64 << 62).wrapping_sub_unsigned(high(x, y * y));
        (y.cast_signed() * (defect >> 23)) >> 8
    };
    let y = u64::from(ESTIMATES[(x >> 54) as usize - 256]);
    let y = y.wrapping_add_signed(step(y) >> 32);
    // Now all bits of the step, in units of 2^-63.
    let y = (y << 32).wrapping_add_signed(step(y));
    // The root in units of 2^-64, its low end cut off rather than let it reach 1, and a last step on it.
    let s = high(x, y).min((1 << 63) - 1) << 1;
    let rest = scaled.wrapping_sub(u128::from(s) * u128::from(s)).cast_signed();
    let step = (i128::from((rest >> 32) as i64) * i128::from((y >> 1).cast_signed())) >> 95;
    let s = s.saturating_add_signed(step as i64);
    let r = if half == 0 { s } else { (s >> half) + ((s >> (half - 1)) & 1) };
    // r is the nearest if r² - r < n ≤ r² + r; it is at most one off.
    let rest = n.wrapping_sub(u128::from(r) * u128::from(r)).cast_signed();
    let r_wide = i128::from(r);
    r + u64::from(rest > r_wide) - u64::from(rest <= -r_wide)
}

/// Square root, correctly rounded.
///
/// # Errors
/// [`Fault::Domain`] for a < 0.
#[inline(never)]
pub fn sqrt(t: Fixed, a: i64) -> Result<i64, Fault> {
    if a < 0 {
        return Err(Fault::Domain);
    }
    Ok(root(u128::from(a.cast_unsigned()) << t.frac) as i64)
}

/// sqrt(a² + b²), correctly rounded.
///
/// # Errors
/// [`Fault::Range`].
#[inline(never)]
pub fn hypot(t: Fixed, a: i64, b: i64) -> Result<i64, Fault> {
    let square = |n: i64| u128::from(n.unsigned_abs()) * u128::from(n.unsigned_abs());
    let sum = square(a) + square(b);
    // Only of twice the least word of 64 bits.
    if sum >> 127 != 0 {
        return Err(Fault::Range);
    }
    fit_magnitude(t, false, root(sum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::sample::{Random, edges};

    fn check(n: u128) {
        let down = n.isqrt();
        let nearest = down + u128::from(n - down * down > down);
        assert_eq!(u128::from(root(n)), nearest, "{n:#x}");
    }

    #[test]
    fn roots_are_the_nearest_integers() {
        for n in 0..100_000 {
            check(n);
        }
        let mut random = Random(4);
        for _ in 0..200_000 {
            check((u128::from(random.word()) << 64 | u128::from(random.word())) >> (1 + random.word() % 126));
        }
        // Where the answer changes, and squares.
        let roots = edges().into_iter().map(|r| r >> 1).chain((0..50_000).map(|_| (random.sized() << 1) >> 1));
        for r in roots.map(u128::from).filter(|&r| r > 0 && r * r + r + 1 < 1 << 127) {
            for n in [r * r - r, r * r - r + 1, r * r - 1, r * r, r * r + 1, r * r + r, r * r + r + 1] {
                check(n);
            }
        }
        // Where table entries meet.
        for i in 256..1024u128 {
            for shift in [0, 1, 17, 64] {
                let n = (i << 118) >> (shift + 1);
                check(n);
                check(n - 1);
            }
        }
        check((1 << 127) - 1);
    }

    #[test]
    fn special_values() {
        let t = Fixed { width: 64, frac: 32 };
        let one = t.one();
        assert_eq!(sqrt(t, 0), Ok(0));
        assert_eq!(sqrt(t, -1), Err(Fault::Domain));
        assert_eq!(sqrt(t, 9 * one), Ok(3 * one));
        assert_eq!(sqrt(t, 1), Ok(1 << 16));
        assert_eq!(hypot(t, -3 * one, 4 * one), Ok(5 * one));
        assert_eq!(hypot(t, 0, 0), Ok(0));
        assert_eq!(hypot(t, 0, i64::MAX), Ok(i64::MAX));
        assert_eq!(hypot(t, i64::MIN, 0), Err(Fault::Range));
        assert_eq!(hypot(t, i64::MIN, i64::MIN), Err(Fault::Range));
        assert_eq!(hypot(t, i64::MAX, 1 << 32), Err(Fault::Range), "the root is 2^63 - 1/2");
    }
}
