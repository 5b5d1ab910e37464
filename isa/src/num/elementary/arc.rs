//! Inverse trigonometric functions: all are angles of a pair of numbers.

use super::Fixed;
use super::root::root;
use super::rounding::{fit, high_signed, nearest_signed};
use crate::fault::Fault;

/// π in units of 2^-64.
const PI: i128 = 0x3_243f_6a88_85a3_08d3;

/// atan(i/128), in units of 2^-64.
static ANGLES: [u64; 129] = angles();

const fn angles() -> [u64; 129] {
    let mut table = [0; 129];
    // In units of 2^-127. atan((i+1)/128) - atan(i/128) = atan(128 / (128² + i (i+1))).
    let mut sum = 0u128;
    let mut i = 0;
    while i < 128 {
        let d = 128 * 128 + (i * (i + 1)) as u128;
        let step = (1 << 127) / d * 128;
        let (mut power, mut atan, mut n) = (step, 0u128, 1);
        while power > 0 {
            if n % 4 == 1 {
                atan += power / n;
            } else {
                atan -= power / n;
            }
            power = power / d * 128 / d * 128;
            n += 2;
        }
        sum += atan;
        i += 1;
        table[i] = ((sum + (1 << 62)) >> 63) as u64;
    }
    table
}

/// The angle of the point (v, u), 0 ≤ u ≤ v, v ≥ 2^63, in units of 2^-64; within 4 units.
#[inline]
fn eighth(u: u64, v: u64) -> u64 {
    const fn over(n: i64) -> i64 {
        i64::MAX / n
    }
    // The multiple of 1/128 nearest to u/v, or nearly.
    let index = (((u >> 32) << 7) + (v >> 33)) / (v >> 32);
    // atan(u/v) - atan(i/128) = atan((128 u - i v) / (128 v + i u)) = atan w, |w| ≤ 2^-8.
    let above = (i128::from(u) << 7) - i128::from(index) * i128::from(v);
    let radius = ((u128::from(v) << 7) + u128::from(index) * u128::from(u)) >> 8;
    // In units of 2^-68.
    let w = ((above.unsigned_abs() << 60) / radius) as i64;
    // atan w = w - w³/3 + w⁵/5 - w⁷/7, the next term below 2^-75. w² in units of 2^-72, the sums in units of 2^-63.
    let square = high_signed(w, w);
    let times_square = |sum: i64| high_signed(square, sum) >> 8;
    let sum = times_square(over(3) - times_square(over(5) - times_square(over(7))));
    let rest = (w - (high_signed(w, sum) << 1) + 8) >> 4;
    ANGLES[index as usize].wrapping_add_signed(if above < 0 { -rest } else { rest })
}

/// The angle of the point (x, y), in units of 2^-64.
#[inline]
fn angle(y: i64, x: i64) -> i128 {
    let (height, width) = (y.unsigned_abs(), x.unsigned_abs());
    let (less, greater) = (height.min(width), height.max(width));
    if greater == 0 {
        return 0;
    }
    let zeros = greater.leading_zeros();
    let mut angle = i128::from(eighth(less << zeros, greater << zeros));
    if height > width {
        angle = PI / 2 - angle;
    }
    if x < 0 {
        angle = PI - angle;
    }
    if y < 0 { -angle } else { angle }
}

#[inline]
fn encode(t: Fixed, angle: i128) -> Result<i64, Fault> {
    fit(t, nearest_signed(angle, 64 - t.frac))
}

/// sqrt(1 - a²) and a, in units of 2^-62.
///
/// # Errors
/// [`Fault::Domain`] for |a| > 1.
#[inline]
fn unit(t: Fixed, a: i64) -> Result<(i64, i64), Fault> {
    if a.unsigned_abs() > 1 << t.frac {
        return Err(Fault::Domain);
    }
    let a = a << (62 - t.frac);
    let square = u128::from(a.unsigned_abs()) * u128::from(a.unsigned_abs());
    Ok((root((1 << 124) - square) as i64, a))
}

/// Arc sine, from −π/2 to π/2.
///
/// # Errors
/// [`Fault::Domain`] for |a| > 1; [`Fault::Range`] in narrow types.
#[inline(never)]
pub fn asin(t: Fixed, a: i64) -> Result<i64, Fault> {
    let (other, a) = unit(t, a)?;
    encode(t, angle(a, other))
}

/// Arc cosine, from 0 to π.
///
/// # Errors
/// [`Fault::Domain`] for |a| > 1; [`Fault::Range`] in narrow types.
#[inline(never)]
pub fn acos(t: Fixed, a: i64) -> Result<i64, Fault> {
    let (other, a) = unit(t, a)?;
    encode(t, angle(other, a))
}

/// Arc tangent, from −π/2 to π/2. Never fails: if |a| is large enough for a
/// result near π/2, the type can hold that result.
#[inline(never)]
pub fn atan(t: Fixed, a: i64) -> Result<i64, Fault> {
    encode(t, angle(a, t.one()))
}

/// The angle of the point (x, y), from −π to π; 0 for (0, 0), π for y = 0 and x < 0.
///
/// # Errors
/// [`Fault::Range`] in narrow types.
#[inline(never)]
pub fn atan2(t: Fixed, y: i64, x: i64) -> Result<i64, Fault> {
    encode(t, angle(y, x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::sample::Random;

    const T: Fixed = Fixed { width: 64, frac: 32 };
    const HALF_PI: i64 = 6_746_518_852;
    const PI_WORD: i64 = 13_493_037_705;

    #[test]
    fn special_values() {
        let one = T.one();
        assert_eq!(atan2(T, 0, 0), Ok(0));
        assert_eq!(atan2(T, 0, 5), Ok(0));
        assert_eq!(atan2(T, 0, -5), Ok(PI_WORD));
        assert_eq!(atan2(T, 7, 0), Ok(HALF_PI));
        assert_eq!(atan2(T, -7, 0), Ok(-HALF_PI));
        assert_eq!(atan2(T, i64::MIN, i64::MIN), Ok(-3 * HALF_PI / 2));
        assert_eq!(atan(T, one), Ok(HALF_PI / 2));
        assert_eq!(atan(T, i64::MAX), Ok(HALF_PI - 2));
        assert_eq!(asin(T, one), Ok(HALF_PI));
        assert_eq!(asin(T, -one), Ok(-HALF_PI));
        assert_eq!(asin(T, 0), Ok(0));
        assert_eq!(acos(T, one), Ok(0));
        assert_eq!(acos(T, 0), Ok(HALF_PI));
        assert_eq!(acos(T, -one), Ok(PI_WORD));
        for a in [one + 1, -one - 1, i64::MIN, i64::MAX] {
            assert_eq!(asin(T, a), Err(Fault::Domain));
            assert_eq!(acos(T, a), Err(Fault::Domain));
        }
    }

    #[test]
    fn nearly_as_in_floating_point() {
        let mut random = Random(11);
        for frac in [32, 43] {
            let t = Fixed { width: 64, frac };
            let one = t.one() as f64;
            let close = |word: Result<i64, Fault>, x: f64| (word.unwrap() as f64 - x * one).abs() < 1.1;
            for _ in 0..50_000 {
                let (a, b) = (random.sized().cast_signed(), random.sized().cast_signed());
                let (x, y) = (a as f64 / one, b as f64 / one);
                assert!(close(atan(t, a), libm::atan(x)), "{x}");
                assert!(close(atan2(t, b, a), libm::atan2(y, x)), "{y} {x}");
                let a = a % (t.one() + 1);
                let x = a as f64 / one;
                assert!(close(asin(t, a), libm::asin(x)), "{x}");
                assert!(close(acos(t, a), libm::acos(x)), "{x}");
            }
        }
    }
}
