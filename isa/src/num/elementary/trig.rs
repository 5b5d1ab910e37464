//! Sine, cosine, tangent: the argument is divided by π/2 with enough precision for the
//! whole range of a word; then a table and short series follow.

use super::Fixed;
use super::rounding::{alternating, encode, high, nearest, quotient, with_sign};
use crate::fault::Fault;
use crate::num::wide::{mul_high, mul_high_nearest};

/// 2/π in units of 2^-192, the high limb first.
const TWO_OVER_PI: [u64; 3] = [0xa2f9_836e_4e44_1529, 0xfc27_57d1_f534_ddc0, 0xdb62_9599_3c43_9042];
/// π/4 in units of 2^-128.
const PI_OVER_4: u128 = 0xc90f_daa2_2168_c234_c4c6_628b_80dc_1cd1;

/// 1/(2n+1)! and 1/(2n)! at n, in units of 2^-127. Of arguments to π/4 the first omitted terms are below 2^-90.
const SINE_SERIES: [u128; 13] = factorials(1);
const COSINE_SERIES: [u128; 13] = factorials(0);

const fn factorials(odd: u128) -> [u128; 13] {
    let mut series = [1 << 127; 13];
    let mut n = 1;
    while n < 13 {
        let k = 2 * n as u128 + odd;
        series[n] = (series[n - 1] + k * (k - 1) / 2) / (k * (k - 1));
        n += 1;
    }
    series
}

/// sin θ and 1 - cos θ at θ = i π/1024, up to π/4, in units of 2^-64.
static NODES: [(u64, u64); 257] = nodes();

const fn nodes() -> [(u64, u64); 257] {
    let mut table = [(0, 0); 257];
    let mut i = 1;
    while i <= 256 {
        let angle = (PI_OVER_4 >> 8) * i as u128;
        let square = mul_high_nearest(angle, angle);
        let sine = mul_high_nearest(angle, alternating(&SINE_SERIES, square));
        let versine = mul_high_nearest(square, alternating(COSINE_SERIES.split_at(1).1, square));
        table[i] = (round(sine), round(versine));
        i += 1;
    }
    table
}

/// From units of 2^-127 to units of 2^-64.
const fn round(n: u128) -> u64 {
    ((n + (1 << 62)) >> 63) as u64
}

/// |x| = quadrants · π/2 ± rest · π/2 with rest ≤ 1/2.
pub(super) struct Reduced {
    /// Modulo 2^16 at least.
    pub(super) quadrants: u32,
    /// The rest is to be subtracted.
    pub(super) back: bool,
    /// In units of 2^-128, off by at most one unit.
    pub(super) rest: u128,
}

/// Divides by π/2. With x below 2^(64 - frac) and 192 bits of 2/π, the error is
/// below 2^-(128 + frac) before it is cut off at 2^-128.
#[inline]
pub(super) fn reduce(x: u64, frac: u32) -> Reduced {
    let x = u128::from(x);
    let low = x * u128::from(TWO_OVER_PI[2]);
    let middle = x * u128::from(TWO_OVER_PI[1]) + (low >> 64);
    let top = x * u128::from(TWO_OVER_PI[0]) + (middle >> 64);
    // `top` is in units of 2^-(64 + frac); 64 bits more come from below it.
    let fraction = (top << (64 - frac)) | u128::from(middle as u64 >> frac);
    let quadrants = (top >> (64 + frac)) as u32;
    let back = fraction >> 127 == 1;
    let rest = if back { fraction.wrapping_neg() } else { fraction };
    Reduced { quadrants: quadrants.wrapping_add(u32::from(back)), back, rest }
}

/// sin and 1 - cos of rest · π/2, rest ≤ 1/2 in units of 2^-128; the results in
/// units of 2^-64, within 1.1 units.
#[inline]
pub(super) fn sine_versine(rest: u128) -> (u64, u64) {
    const THIRD: u64 = u64::MAX / 3;
    const SIXTH: u64 = u64::MAX / 6;
    let (sine, versine) = NODES[(rest >> 119) as usize];
    // The angle above the node, below 2^-8, in units of 2^-72; its square in units of 2^-80.
    let angle = high((rest >> 55) as u64, (PI_OVER_4 >> 64) as u64);
    let square = high(angle, angle);
    // sin a = a - a³/6 + a⁵/120, the next term below 2^-70; 1 - cos a = a²/2 - a⁴/24 + a⁶/720, below 2^-82.
    let cubic = high(square, SIXTH - (high(square, u64::MAX / 120) >> 16));
    let sine_above = angle - (high(angle, cubic) >> 16);
    let quartic = high(square, THIRD / 8 - (high(square, u64::MAX / 720) >> 16));
    let versine_above = high(square, (1 << 63) - (quartic >> 16));
    // sin(n + a) = sin n + cos n sin a - sin n (1 - cos a), and as much for 1 - cos, all in units of 2^-72.
    let up = sine_above - high(versine, sine_above) - (high(sine, versine_above) >> 8);
    let up_versine = (versine_above >> 8) - (high(versine, versine_above) >> 8) + high(sine, sine_above);
    (sine + nearest(up, 8), versine + nearest(up_versine, 8))
}

/// The sine of the reduced angle, or minus that.
#[inline]
fn sine(t: Fixed, negative: bool, Reduced { quadrants, back, rest }: Reduced) -> i64 {
    let (sine, versine) = sine_versine(rest);
    let sine = nearest(sine, 64 - t.frac);
    let cosine = (1 << t.frac) - nearest(versine, 64 - t.frac);
    let odd = quadrants & 1 != 0;
    let magnitude = if odd { cosine } else { sine };
    with_sign(negative ^ (quadrants & 2 != 0) ^ (back & !odd), magnitude)
}

/// Sine. Never fails.
#[inline(never)]
pub fn sin(t: Fixed, a: i64) -> Result<i64, Fault> {
    Ok(sine(t, a < 0, reduce(a.unsigned_abs(), t.frac)))
}

/// Cosine. Never fails.
#[inline(never)]
pub fn cos(t: Fixed, a: i64) -> Result<i64, Fault> {
    let reduced = reduce(a.unsigned_abs(), t.frac);
    Ok(sine(t, false, Reduced { quadrants: reduced.quadrants.wrapping_add(1), ..reduced }))
}

/// Tangent.
///
/// Close to a pole the result has many bits, and the distance to the pole few:
/// there it is computed with 128 bits, and relative to the distance.
///
/// # Errors
/// [`Fault::Range`] close to a pole.
#[inline(never)]
pub fn tan(t: Fixed, a: i64) -> Result<i64, Fault> {
    let Reduced { quadrants, back, rest } = reduce(a.unsigned_abs(), t.frac);
    let odd = quadrants & 1 != 0;
    let negative = (a < 0) ^ back ^ odd;
    // Up to 5.1, the tangent at 7/8 of a right angle, 64 bits are enough: the error is below 2^-58.
    if !odd || rest >> 125 != 0 {
        let (sine, versine) = sine_versine(rest);
        let cosine = versine.max(1).wrapping_neg();
        let (n, d) = if odd { (cosine, sine) } else { (sine, cosine) };
        return encode(t, negative, ((u128::from(n) << 60) + u128::from(d >> 1)) / u128::from(d), -60);
    }
    if rest == 0 {
        return Err(Fault::Range);
    }
    // The distance is `scaled` in units of 2^-(127 + zeros), and zeros ≥ 3.
    let zeros = rest.leading_zeros();
    let scaled = mul_high(rest << zeros, PI_OVER_4);
    let angle = scaled >> (zeros - 1);
    let square = mul_high(angle, angle);
    // The sine in units of 2^-(126 + zeros).
    let sine = mul_high(scaled, alternating(&SINE_SERIES, square));
    let cosine = alternating(&COSINE_SERIES, square);
    let (m, exponent) = quotient(cosine, sine);
    encode(t, negative, m, exponent + zeros as i32 - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::sample::{Random, edges};

    /// A number from 0 up to below 4 by its 320 bits, the first limb in units of 2^-62.
    type Long = [u64; 5];

    fn divided(n: Long, by: u64) -> Long {
        let mut rest = 0;
        n.map(|limb| {
            let limb = rest << 64 | u128::from(limb);
            rest = limb % u128::from(by);
            (limb / u128::from(by)) as u64
        })
    }

    fn plus(a: Long, b: Long, minus: bool) -> Long {
        let mut carry = minus;
        let mut sum = [0; 5];
        for i in (0..5).rev() {
            let digit = if minus { !b[i] } else { b[i] };
            let limb = u128::from(a[i]) + u128::from(digit) + u128::from(carry);
            sum[i] = limb as u64;
            carry = limb >> 64 != 0;
        }
        sum
    }

    /// multiple · atan(1/n)
    fn arc(multiple: u64, n: u64) -> Long {
        let mut power = divided([multiple << 62, 0, 0, 0, 0], n);
        let mut sum = power;
        let mut k = 3;
        while power != [0; 5] {
            power = divided(power, n * n);
            sum = plus(sum, divided(power, k), k % 4 == 3);
            k += 2;
        }
        sum
    }

    #[test]
    fn constants() {
        // Machin's formula: π = 16 atan(1/5) - 4 atan(1/239), here π/8.
        let half = |n| divided(n, 2);
        let pi_over_8 = plus(arc(2, 5), half(arc(1, 239)), true);
        let bits = |at: usize| u128::from(pi_over_8[at]) << 64 | u128::from(pi_over_8[at + 1]);
        // π/8 in units of 2^-126; π/4 in units of 2^-128 is eight times that.
        assert_eq!(PI_OVER_4, (bits(0) << 3) | u128::from(pi_over_8[2] >> 61));
        // (2/π) (π/8) = 1/4 but for half a unit of 2/π, 2^-193, times π/8: less than 2^60 in units of 2^-254.
        let mut product = [0; 5];
        for (at, &limb) in TWO_OVER_PI.iter().enumerate() {
            let mut carry = 0;
            for i in (0..5).rev() {
                let p = u128::from(limb) * u128::from(pi_over_8[i]) + carry;
                if i + at + 1 < 5 {
                    let mut shifted = [0; 5];
                    shifted[i + at + 1] = p as u64;
                    product = plus(product, shifted, false);
                }
                carry = p >> 64;
            }
            let mut shifted = [0; 5];
            shifted[at] = carry as u64;
            product = plus(product, shifted, false);
        }
        let missing = plus([1 << 60, 0, 0, 0, 0], product, true);
        let missing = plus(missing, [0, 0, 0, 1 << 60, 0], false);
        assert!(missing[..3] == [0; 3] && missing[3] < 1 << 61, "{missing:x?}");
    }

    #[test]
    fn special_values() {
        for frac in [1, 32, 43, 48] {
            let t = Fixed { width: 64, frac };
            assert_eq!(sin(t, 0), Ok(0));
            assert_eq!(cos(t, 0), Ok(t.one()));
            assert_eq!(tan(t, 0), Ok(0));
        }
    }

    #[test]
    fn symmetric() {
        let mut random = Random(9);
        let words: Vec<u64> = edges().into_iter().chain((0..10_000).map(|_| random.sized())).collect();
        for frac in [1, 32, 43, 48] {
            let t = Fixed { width: 64, frac };
            for a in words.iter().map(|&w| w.cast_signed()).filter(|&a| a != i64::MIN) {
                assert_eq!(sin(t, a), sin(t, -a).map(|s| -s));
                assert_eq!(cos(t, a), cos(t, -a));
                assert_eq!(tan(t, a), tan(t, -a).map(|s| -s));
            }
        }
    }

    #[test]
    fn nearly_as_in_floating_point() {
        let mut random = Random(10);
        for frac in [32, 43, 48] {
            let t = Fixed { width: 64, frac };
            let one = t.one() as f64;
            for _ in 0..50_000 {
                let a = random.sized().cast_signed();
                // The argument's rounding to a double moves the result as much.
                let slack = (a as f64 / one).abs() * 1.2e-16 * one + 1.0;
                let x = a as f64 / one;
                assert!((sin(t, a).unwrap() as f64 - libm::sin(x) * one).abs() <= slack, "{x}");
                assert!((cos(t, a).unwrap() as f64 - libm::cos(x) * one).abs() <= slack, "{x}");
                let tangent = libm::tan(x);
                if tangent.abs() < 1000.0 {
                    let slack = slack * (1.0 + tangent * tangent) * 1.01;
                    assert!((tan(t, a).unwrap() as f64 - tangent * one).abs() <= slack, "{x}");
                }
            }
        }
    }
}
