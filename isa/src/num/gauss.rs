//! Gaussian logarithms: the operations on signed logarithmic numbers that are not exact,
//! in particular sums and powers.
//!
//! With |a| ≥ |b| and d = log₂|a| − log₂|b|, the logarithm of |a ± b| is
//! log₂|a| + log₂(1 ± 2^-d). Word and difference are exact, so the sum of two
//! words is a definite real number, and the result is the word nearest
//! to its logarithm, also under cancellation: near d = 0 the difference loses
//! all but the last bits of 2^-d, which is why it is computed to 128 bits.
//!
//! | operation | error, in units of the result |
//! |---|---|
//! | sum, difference | 1/2 + 2^-16, in units of the logarithm; exact where the result is 0 or an operand is |
//! | power | 1/2, ties to even |
//! | inverse | 0 |
//! | natural logarithm | 1/2 + 2^-60 |
//!
//! The operations are methods of [`Logarithmic`], a type of any width, so that
//! all pairs of words of 8 bits can test the code that computes with 64. The
//! functions are those of the machine's words. The exact operations are in
//! [`log`]; everything is integer arithmetic, the same bits everywhere.

use std::ops::Neg;

use super::wide::{exp2, log2, mul_high, shift_nearest};
use super::{Env, Word, log};
use crate::fault::Fault;

/// ln 2, in units of 2^-128.
const LN_2: u128 = 0xb172_17f7_d1cf_79ab_c9e3_b398_03f2_f6af;

/// A logarithmic type: 1 sign bit, then a two's-complement logarithm of
/// `width - 1` bits in units of 2^-frac, the most negative one reserved for zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Logarithmic {
    /// Bits of a word, 8 to 64.
    pub width: u32,
    /// Fraction bits of the logarithm, 0 to 52: with more, the bounds on the errors do not hold.
    pub frac: u32,
}

/// A signed logarithmic number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// Whether it is less than zero.
    pub negative: bool,
    /// The logarithm to base 2 of its magnitude, in units of 2^-frac of its type; `None` for zero.
    pub logarithm: Option<i64>,
}

impl Number {
    /// Zero, of every type.
    pub const ZERO: Number = Number { negative: false, logarithm: None };
    /// One, of every type.
    pub const ONE: Number = Number { negative: false, logarithm: Some(0) };
}

impl Neg for Number {
    type Output = Number;

    /// The number of the other sign; zero stays zero.
    #[inline]
    fn neg(self) -> Number {
        Number { negative: !self.negative && self.logarithm.is_some(), ..self }
    }
}

impl Logarithmic {
    /// The machine's words.
    pub const WORD: Logarithmic = Logarithmic { width: 64, frac: log::FRAC };

    /// The greatest logarithm. The least is its negative.
    #[inline]
    pub const fn max_log(self) -> i64 {
        (1 << (self.width - 2)) - 1
    }

    /// The number of a word; bits above `width` are ignored.
    ///
    /// # Errors
    /// [`Fault::BadLog`] when it is none: sign 1 with the logarithm of zero.
    #[inline]
    pub fn number(self, word: u64) -> Result<Number, Fault> {
        let negative = word >> (self.width - 1) & 1 == 1;
        let logarithm = ((word << (65 - self.width)) as i64) >> (65 - self.width);
        match (negative, logarithm >= -self.max_log()) {
            (_, true) => Ok(Number { negative, logarithm: Some(logarithm) }),
            (false, false) => Ok(Number::ZERO),
            (true, false) => Err(Fault::BadLog),
        }
    }

    /// The word of a number of this type.
    #[inline]
    pub fn word(self, number: Number) -> u64 {
        let logarithm = number.logarithm.unwrap_or(-self.max_log() - 1);
        (logarithm as u64) & ((1 << (self.width - 1)) - 1) | u64::from(number.negative) << (self.width - 1)
    }

    #[inline]
    fn ranged(self, negative: bool, logarithm: i128) -> Result<Number, Fault> {
        match i64::try_from(logarithm) {
            Ok(logarithm) if logarithm.unsigned_abs() <= self.max_log() as u64 => {
                Ok(Number { negative, logarithm: Some(logarithm) })
            }
            _ => Err(Fault::Range),
        }
    }

    /// a + b, its logarithm rounded to nearest; exact when an operand or the sum is zero.
    ///
    /// # Errors
    /// [`Fault::Range`] when the logarithm overflows, either way.
    #[inline]
    pub fn plus(self, a: Number, b: Number) -> Result<Number, Fault> {
        let (Some(log_a), Some(log_b)) = (a.logarithm, b.logarithm) else {
            return Ok(if a.logarithm.is_none() { b } else { a });
        };
        let (negative, greater) = if log_a >= log_b { (a.negative, log_a) } else { (b.negative, log_b) };
        let difference = log_a.abs_diff(log_b);
        if a.negative == b.negative {
            self.ranged(negative, i128::from(greater) + i128::from(log_of_sum(self.frac, difference)))
        } else if difference == 0 {
            Ok(Number::ZERO)
        } else {
            self.ranged(negative, i128::from(greater) - i128::from(log_of_difference(self.frac, difference)))
        }
    }

    /// a − b, as [`plus`](Logarithmic::plus).
    ///
    /// # Errors
    /// As [`plus`](Logarithmic::plus).
    #[inline]
    pub fn minus(self, a: Number, b: Number) -> Result<Number, Fault> {
        self.plus(a, -b)
    }

    /// a^p for p in units of 2^-pfrac (`pfrac` at most 63), its logarithm rounded
    /// to nearest, ties to even. a^0 is 1 for every a.
    ///
    /// # Errors
    /// [`Fault::Domain`] when a is negative and p not whole; [`Fault::DivideByZero`]
    /// for zero with p < 0; [`Fault::Range`] when the logarithm overflows.
    #[inline]
    pub fn pow(self, a: Number, p: i64, pfrac: u32) -> Result<Number, Fault> {
        let Some(logarithm) = a.logarithm else {
            return match p {
                1.. => Ok(Number::ZERO),
                0 => Ok(Number::ONE),
                ..0 => Err(Fault::DivideByZero),
            };
        };
        let whole = p >> pfrac;
        if a.negative && whole << pfrac != p {
            return Err(Fault::Domain);
        }
        // At most 62 + 63 bits.
        let product = i128::from(logarithm) * i128::from(p);
        let magnitude = shift_nearest(product.unsigned_abs(), pfrac) as i128;
        self.ranged(a.negative && whole & 1 == 1, if product < 0 { -magnitude } else { magnitude })
    }

    /// 1/a, exact.
    ///
    /// # Errors
    /// [`Fault::DivideByZero`].
    #[inline]
    pub fn inv(self, a: Number) -> Result<Number, Fault> {
        match a.logarithm {
            Some(logarithm) => Ok(Number { logarithm: Some(-logarithm), ..a }),
            None => Err(Fault::DivideByZero),
        }
    }

    /// The natural logarithm of |a|, in units of 2^-qfrac (`qfrac` at most 63), rounded to nearest.
    ///
    /// # Errors
    /// [`Fault::Domain`] for zero; [`Fault::Range`] when it does not fit, which
    /// that of a machine's word always does in its three formats.
    #[inline]
    pub fn ln(self, a: Number, qfrac: u32) -> Result<i64, Fault> {
        let logarithm = a.logarithm.ok_or(Fault::Domain)?;
        // The product in units of 2^-(frac + 64): at most 62 + 64 bits.
        let product = mul_high(u128::from(logarithm.unsigned_abs()) << 64, LN_2);
        let magnitude = shift_nearest(product, self.frac + 64 - qfrac) as i128;
        let rounded = if logarithm < 0 { -magnitude } else { magnitude };
        i64::try_from(rounded).map_err(|_| Fault::Range)
    }
}

/// 2^-d in units of 2^-127 within 2^-122, d > 0 in units of 2^-frac; `None`
/// where it is so small that 1 + 2^-d and 1 − 2^-d have the logarithm of 1: at
/// 2^-(frac + 2), log₂(1 ± 2^-d) is less than half a unit for every frac.
#[inline]
fn ratio(frac: u32, d: u64) -> Option<u128> {
    let whole = d >> frac;
    if whole >= u64::from(frac) + 2 {
        return None;
    }
    // ⌈d⌉ - d in units of 2^-128: modulo 2^128, the whole part is shifted out.
    // Two shifts, because frac may be 0 and a shift by 128 is not allowed.
    let fraction = (u128::from(d) << (127 - frac) << 1).wrapping_neg();
    Some(exp2(fraction) >> (whole as u32 + u32::from(fraction != 0)))
}

/// log₂(1 + 2^-d) to nearest, both in units of 2^-frac.
#[inline(never)]
fn log_of_sum(frac: u32, d: u64) -> i64 {
    if d == 0 {
        // 2 is not among the arguments of `wide::log2`.
        return 1 << frac;
    }
    ratio(frac, d).map_or(0, |ratio| shift_nearest(log2((1 << 127) + ratio), 127 - frac) as i64)
}

/// −log₂(1 − 2^-d) to nearest, both in units of 2^-frac; d > 0.
///
/// At d = 2^-52, 1 − 2^-d has 53 leading zeros: the error of 2^-122 is
/// then less than 2^-68 of the difference.
#[inline(never)]
fn log_of_difference(frac: u32, d: u64) -> i64 {
    ratio(frac, d).map_or(0, |ratio| {
        let difference = (1 << 127) - ratio;
        let zeros = difference.leading_zeros();
        (i64::from(zeros) << frac) - shift_nearest(log2(difference << zeros), 127 - frac) as i64
    })
}

/// a + b, its logarithm rounded to nearest; exact when an operand or the sum is zero.
///
/// # Errors
/// [`Fault::BadLog`] for a word that is not a number; [`Fault::Range`] when the logarithm overflows, either way.
#[inline(never)]
pub fn plus(_env: Env, a: u64, b: u64) -> Word {
    let (a, b) = (Logarithmic::WORD.number(a)?, Logarithmic::WORD.number(b)?);
    Logarithmic::WORD.plus(a, b).map(|sum| Logarithmic::WORD.word(sum))
}

/// a − b, as [`plus`].
///
/// # Errors
/// As [`plus`].
#[inline]
pub fn minus(env: Env, a: u64, b: u64) -> Word {
    plus(env, a, log::neg(b)?)
}

/// a^b for a `.q` word b, its logarithm rounded to nearest, ties to even. a^0 is 1 for every a.
///
/// # Errors
/// [`Fault::BadLog`] for an a that is not a number; [`Fault::Domain`] when a is
/// negative and b not whole; [`Fault::DivideByZero`] for zero with b < 0;
/// [`Fault::Range`] when the logarithm overflows.
#[inline(never)]
pub fn pow(env: Env, a: u64, b: u64) -> Word {
    let power = Logarithmic::WORD.pow(Logarithmic::WORD.number(a)?, b as i64, env.format.frac());
    power.map(|power| Logarithmic::WORD.word(power))
}

/// 1/a, exact.
///
/// # Errors
/// [`Fault::BadLog`] for a word that is not a number; [`Fault::DivideByZero`].
#[inline]
pub fn inv(_env: Env, a: u64) -> Word {
    Logarithmic::WORD.inv(Logarithmic::WORD.number(a)?).map(|inverse| Logarithmic::WORD.word(inverse))
}

/// The natural logarithm of |a|, a `.q` word, rounded to nearest.
///
/// # Errors
/// [`Fault::BadLog`] for a word that is not a number; [`Fault::Domain`] for zero.
#[inline]
pub fn ln(env: Env, a: u64) -> Word {
    Logarithmic::WORD.ln(Logarithmic::WORD.number(a)?, env.format.frac()).map(|word| word as u64)
}

#[cfg(test)]
mod tests;
