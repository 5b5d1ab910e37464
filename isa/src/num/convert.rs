//! Conversions between the four readings of a word: integer (`int`), fixed
//! point (`q`), logarithmic (`l`), floating point (`f`).
//!
//! All conversions use integer arithmetic, for doubles too, so results are the same on every machine.
//! How they round:
//!
//! | to | from | rounding |
//! |---|---|---|
//! | int | q, f | floor |
//! | int | l | nearest, ties to even ([`l_to_int`] says why) |
//! | q, l, f | any | nearest, ties to even |
//!
//! The conversions that need no logarithm are correctly rounded. Those from and
//! to `l` compute to 2^-122 before they round: they are within 1/2 + 2^-58 units
//! in the last place, and no case is known in which the result is not the
//! correctly rounded one. A unit of `l` is 2^-52 of log₂.
//!
//! Zero goes to zero (a double's to +0), −0.0 too. What the target cannot hold
//! is [`Fault::Range`]; a number too small for `q` or `f` rounds to zero or to a
//! subnormal, but `l` has neither: a double not above 2^-1024 in magnitude, or
//! that rounds to that, is out of range. Infinities and NaN have no counterpart
//! and are [`Fault::NotFinite`], `--ieee` or not. Text is not here:
//! [`decimal`](super::decimal).

use super::wide::{exp2, log2, shift_nearest};
use super::{Env, Word, float, log};
use crate::fault::Fault;
use crate::types::Ty;

/// The integer's `.q` word, exact.
///
/// # Errors
/// [`Fault::Range`] when the format has too few integer bits.
#[inline]
pub fn int_to_q(env: Env, a: u64) -> Word {
    let scaled = i128::from(a as i64) << env.format.frac();
    i64::try_from(scaled).map(|word| word as u64).map_err(|_| Fault::Range)
}

/// The integer's `.l` word, nearest. Exact for ±2^k and 0. Never fails.
#[inline]
pub fn int_to_l(_env: Env, a: u64) -> Word {
    let (negative, magnitude) = split(a);
    encode_log(negative, magnitude, 0)
}

/// The integer's double, nearest, ties to even. Exact up to ±2^53. Never fails.
#[inline]
pub fn int_to_f(_env: Env, a: u64) -> Word {
    Ok(float::from_scaled(a, 0))
}

/// The greatest integer not above the fixed-point number. Never fails.
#[inline]
pub fn q_to_int(env: Env, a: u64) -> Word {
    Ok(((a as i64) >> env.format.frac()) as u64)
}

/// The fixed-point number's `.l` word, nearest. Exact for ±2^k and 0. Never fails.
#[inline]
pub fn q_to_l(env: Env, a: u64) -> Word {
    let (negative, magnitude) = split(a);
    encode_log(negative, magnitude, -(env.format.frac() as i32))
}

/// The fixed-point number's double, nearest, ties to even. Never fails.
#[inline]
pub fn q_to_f(env: Env, a: u64) -> Word {
    Ok(float::from_scaled(a, env.format.frac()))
}

/// The integer nearest to the logarithmic number, ties to even (only ±2^-1 is a
/// tie, and gives 0). Exact for ±2^k with k ≥ 0.
///
/// It rounds to nearest, unlike the other conversions to integers, which round down: no logarithmic
/// number equals 3, and [`int_to_l`]\(3) is slightly less, so its floor would be 2. With rounding to nearest,
/// every integer of magnitude up to 2^52 survives [`int_to_l`] and back; beyond that, logarithms lie further
/// apart than integers.
///
/// # Errors
/// [`Fault::Range`] outside the integers; [`Fault::BadLog`].
#[inline]
pub fn l_to_int(_env: Env, a: u64) -> Word {
    log_to_fixed(a, 0)
}

/// The fixed-point number nearest to the logarithmic one, ties to even.
/// Magnitudes of at most half a unit give 0.
///
/// # Errors
/// [`Fault::Range`] outside the format; [`Fault::BadLog`].
#[inline]
pub fn l_to_q(env: Env, a: u64) -> Word {
    log_to_fixed(a, env.format.frac() as i32)
}

/// The double nearest to the logarithmic number, ties to even; subnormal below
/// 2^-1022. Never out of range.
///
/// # Errors
/// [`Fault::BadLog`].
#[inline]
pub fn l_to_f(_env: Env, a: u64) -> Word {
    match decode_log(a)? {
        None => Ok(0),
        Some((mantissa, exponent)) => encode_float(log::is_negative(a), mantissa, exponent - 127),
    }
}

/// The greatest integer not above the double.
///
/// # Errors
/// [`Fault::Range`] outside the integers; [`Fault::NotFinite`].
#[inline]
pub fn f_to_int(_env: Env, a: u64) -> Word {
    let (negative, mantissa, exponent) = decode_float(a)?;
    let mantissa = u128::from(mantissa);
    let magnitude = match exponent {
        // The mantissa has 53 bits: below 2^64 it fits after shifting, above it is out of range.
        0.. => shift_left(mantissa, exponent)?,
        -63..0 => {
            let down = mantissa >> -exponent;
            down + u128::from(negative && down << -exponent != mantissa)
        }
        _ => u128::from(negative && mantissa != 0),
    };
    signed(negative, magnitude)
}

/// The fixed-point number nearest to the double, ties to even.
///
/// # Errors
/// [`Fault::Range`] outside the format; [`Fault::NotFinite`].
#[inline]
pub fn f_to_q(env: Env, a: u64) -> Word {
    let (negative, mantissa, exponent) = decode_float(a)?;
    let exponent = exponent + env.format.frac() as i32;
    let magnitude = if exponent >= 0 {
        shift_left(mantissa.into(), exponent)?
    } else {
        shift_nearest(mantissa.into(), exponent.unsigned_abs())
    };
    signed(negative, magnitude)
}

/// The logarithmic number nearest to the double. Exact for ±2^k and 0.
///
/// # Errors
/// [`Fault::Range`] when the magnitude is not zero and its logarithm rounds to
/// −1024 or less (most subnormals); [`Fault::NotFinite`].
#[inline]
pub fn f_to_l(_env: Env, a: u64) -> Word {
    let (negative, mantissa, exponent) = decode_float(a)?;
    encode_log(negative, mantissa, exponent)
}

/// Sign and magnitude of a two's-complement word.
#[inline]
fn split(a: u64) -> (bool, u64) {
    ((a as i64) < 0, (a as i64).unsigned_abs())
}

/// The two's-complement word of a sign and a magnitude.
#[inline]
fn signed(negative: bool, magnitude: u128) -> Word {
    match u64::try_from(magnitude) {
        Ok(m) if negative && m <= 1 << 63 => Ok(m.wrapping_neg()),
        Ok(m) if !negative && m < 1 << 63 => Ok(m),
        _ => Err(Fault::Range),
    }
}

/// mantissa · 2^exponent for a mantissa of 53 bits and exponent ≥ 0, if a
/// `u128` certainly holds it; a mantissa that it rejects is zero, or the number far above 2^64.
#[inline]
fn shift_left(mantissa: u128, exponent: i32) -> Result<u128, Fault> {
    match exponent {
        _ if mantissa == 0 => Ok(0),
        ..=64 => Ok(mantissa << exponent),
        _ => Err(Fault::Range),
    }
}

/// Sign, mantissa m < 2^53 and exponent e of the finite double ±m·2^e.
#[inline]
fn decode_float(a: u64) -> Result<(bool, u64, i32), Fault> {
    if !float::is_finite(a) {
        return Err(Fault::NotFinite);
    }
    let exponent = (a >> 52) as i32 & 0x7ff;
    let fraction = a & ((1 << 52) - 1);
    let negative = a >> 63 == 1;
    Ok(if exponent == 0 { (negative, fraction, -1074) } else { (negative, fraction | (1 << 52), exponent - 1075) })
}

/// The double nearest to ±m·2^e, ties to even; +0 for m = 0.
///
/// # Errors
/// [`Fault::Range`] above the greatest double.
#[inline]
fn encode_float(negative: bool, m: u128, e: i32) -> Word {
    if m == 0 {
        return Ok(0);
    }
    let zeros = m.leading_zeros();
    let m = m << zeros;
    // The magnitude is m/2^127 · 2^exponent.
    let exponent = e + 127 - zeros as i32;
    // Below 2^-1022 the last place stays that of 2^-1022.
    let (place, down) = (exponent.max(-1022), (-1022 - exponent).max(0));
    let rounded = shift_nearest(m, 75 + down.unsigned_abs()) as u64;
    // A normal number's leading bit adds one to the exponent field, and so does a carry.
    let field = (place + 1022) as u64;
    if field > 2045 || (field == 2045 && rounded >> 53 == 1) {
        return Err(Fault::Range);
    }
    Ok(((field << 52) + rounded) | (u64::from(negative) << 63))
}

/// The logarithmic number nearest to ±m·2^e; [`log::ZERO`] for m = 0.
/// Never a tie: a logarithm that is not an integer is irrational.
#[inline]
fn encode_log(negative: bool, m: u64, e: i32) -> Word {
    if m == 0 {
        return Ok(log::ZERO);
    }
    let zeros = m.leading_zeros();
    let fraction = log2(u128::from(m << zeros) << 64);
    let whole = i64::from(e + 63 - zeros as i32);
    log::from_parts(negative, (whole << log::FRAC) + shift_nearest(fraction, 75) as i64)
}

/// The magnitude of a logarithmic number as m/2^127 · 2^e with m ≥ 2^127; `None` for zero.
#[inline]
fn decode_log(a: u64) -> Result<Option<(u128, i32)>, Fault> {
    if !log::valid(a) {
        return Err(Fault::BadLog);
    }
    if a == log::ZERO {
        return Ok(None);
    }
    let logarithm = log::logarithm(a);
    let fraction = (logarithm as u64) << (64 - log::FRAC);
    Ok(Some((exp2(u128::from(fraction) << 64), (logarithm >> log::FRAC) as i32)))
}

/// The integer nearest to a·2^frac, ties to even.
#[inline]
fn log_to_fixed(a: u64, frac: i32) -> Word {
    let Some((mantissa, exponent)) = decode_log(a)? else {
        return Ok(0);
    };
    match 127 - exponent - frac {
        // 2^64 and above.
        ..=63 => Err(Fault::Range),
        shift => signed(log::is_negative(a), shift_nearest(mantissa, shift.unsigned_abs())),
    }
}

/// The number that a word of any type stands for, as the nearest double; NaN for a word of `.l` that is not a number.
pub fn to_f64(env: Env, ty: Ty, word: u64) -> f64 {
    let bits = match ty {
        Ty::Int => return word.cast_signed() as f64,
        Ty::Q => q_to_f(env, word),
        Ty::L => l_to_f(env, word),
        Ty::F => Ok(word),
    };
    bits.map_or(f64::NAN, f64::from_bits)
}

/// The word of a type that is nearest to a double; an integer's is rounded toward zero and saturates.
///
/// # Errors
/// The number does not fit in the type.
pub fn from_f64(env: Env, ty: Ty, x: f64) -> Word {
    match ty {
        Ty::Int => Ok((x as i64).cast_unsigned()),
        Ty::Q => f_to_q(env, x.to_bits()),
        Ty::L => f_to_l(env, x.to_bits()),
        Ty::F => Ok(x.to_bits()),
    }
}

#[cfg(test)]
mod tests;
