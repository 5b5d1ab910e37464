//! Floating-point numbers of few bits, by doubles.
//!
//! A double holds products of two numbers of 25 bits exactly, and their sums, quotients and roots so closely that rounding once more gives what rounding
//! once would (Figueroa, When is double rounding innocuous?, SIGNUM Newsletter 30(3), 1995: 53 ≥ 2·25 + 2).

use std::cmp::Ordering;

use pendula_isa::Fault;
use pendula_isa::kernels::circuits::Float;

/// The most bits of a significand, with the one that is not stored, for which doubles serve.
pub(super) const SIGNIFICAND: usize = 25;

const fn low(bits: usize) -> u64 {
    (1 << bits) - 1
}

const fn bias(t: Float) -> i32 {
    (1 << (t.exponent - 1)) - 1
}

/// Sign, significand and exponent of a finite number: ± significand · 2^exponent.
fn parts(t: Float, word: u64) -> Option<(bool, u64, i32)> {
    let (field, fraction) = (word >> t.mantissa & low(t.exponent), word & low(t.mantissa));
    if field == low(t.exponent) {
        return None;
    }
    let (significand, exponent) = if field == 0 { (fraction, 1) } else { (fraction | 1 << t.mantissa, field as i32) };
    Some((word >> (t.mantissa + t.exponent) & 1 == 1, significand, exponent - bias(t) - t.mantissa as i32))
}

/// The number of a word, if it is finite.
pub(super) fn finite(t: Float, word: u64) -> Result<f64, Fault> {
    let (negative, significand, exponent) = parts(t, word).ok_or(Fault::NotFinite)?;
    let magnitude = significand as f64 * 2f64.powi(exponent);
    Ok(if negative { -magnitude } else { magnitude })
}

/// The number of a word, also an infinite one or a NaN.
fn any(t: Float, word: u64) -> f64 {
    let sign = if word >> (t.mantissa + t.exponent) & 1 == 1 { -1.0 } else { 1.0 };
    match finite(t, word) {
        Ok(x) => x,
        Err(_) if word & low(t.mantissa) == 0 => sign * f64::INFINITY,
        Err(_) => f64::NAN,
    }
}

/// The word of the number nearest to a double, ties to even, if it is finite.
pub(super) fn rounded(t: Float, x: f64) -> Result<u64, Fault> {
    if !x.is_finite() {
        return Err(Fault::NotFinite);
    }
    let least = 1 - bias(t);
    let exponent = if x == 0.0 { least } else { exponent_of(x).max(least) };
    let places = (x.abs() / 2f64.powi(exponent - t.mantissa as i32)).round_ties_even() as u64;
    word(t, x.is_sign_negative(), exponent, places)
}

/// ⌊log₂|x|⌋ of a number that is not zero.
fn exponent_of(x: f64) -> i32 {
    let mut exponent = x.abs().log2().floor() as i32;
    // The logarithm is rounded.
    while 2f64.powi(exponent) > x.abs() {
        exponent -= 1;
    }
    while x.abs() >= 2f64.powi(exponent + 1) {
        exponent += 1;
    }
    exponent
}

/// The word of ± places · 2^(exponent − mantissa); a carry out of the places is one of the exponent.
fn word(t: Float, negative: bool, exponent: i32, places: u64) -> Result<u64, Fault> {
    let magnitude = (((exponent + bias(t) - 1) as u64) << t.mantissa) + places;
    let sign = u64::from(negative) << (t.mantissa + t.exponent);
    if magnitude >> t.mantissa < low(t.exponent) { Ok(magnitude | sign) } else { Err(Fault::NotFinite) }
}

/// The order of two numbers.
pub(super) fn compare(t: Float, a: u64, b: u64) -> Result<Ordering, Fault> {
    any(t, a).partial_cmp(&any(t, b)).ok_or(Fault::NotFinite)
}

/// Whether |x| ≤ tolerance; false for a NaN.
pub(super) fn within(t: Float, x: u64, tolerance: u64) -> bool {
    any(t, x).abs() <= any(t, tolerance)
}

/// a·b + c, rounded once; `None` where no exact sum has at most 127 bits.
pub(super) fn muladd(t: Float, x: [u64; 3]) -> Option<Result<u64, Fault>> {
    let [Some(a), Some(b), Some(c)] = x.map(|x| parts(t, x)) else { return Some(Err(Fault::NotFinite)) };
    if t.exponent == 8 && t.mantissa == 23 {
        let [a, b, c] = x.map(|x| f32::from_bits(x as u32));
        let y = a.mul_add(b, c);
        return Some(if y.is_finite() { Ok(y.to_bits().into()) } else { Err(Fault::NotFinite) });
    }
    if t.exponent > 5 {
        return None;
    }
    // In units of the least product.
    let unit = 2 * (1 - bias(t) - t.mantissa as i32);
    let scaled = |negative: bool, significand: i128, exponent: i32| {
        let magnitude = significand << (exponent - unit);
        if negative { -magnitude } else { magnitude }
    };
    let product = scaled(a.0 != b.0, i128::from(a.1) * i128::from(b.1), a.2 + b.2);
    let sum = product + scaled(c.0, c.1.into(), c.2);
    // A sum that is zero has the operands' sign if they agree in it.
    let zero_is_negative = (a.0 != b.0) && c.0;
    let negative = if sum == 0 { zero_is_negative } else { sum < 0 };
    let magnitude = sum.unsigned_abs();
    let top = 127 - magnitude.leading_zeros().min(127) as i32 + unit;
    let exponent = top.max(1 - bias(t));
    let down = (exponent - t.mantissa as i32 - unit) as u32;
    let (whole, rest) = (magnitude >> down, magnitude & ((1 << down) - 1));
    let half = 1u128 << down >> 1;
    let up = down > 0 && (rest > half || rest == half && whole & 1 == 1);
    Some(word(t, negative, exponent, whole as u64 + u64::from(up)))
}
