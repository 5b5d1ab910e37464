//! Gaussian logarithms: what is not exact in signed logarithmic numbers, sums
//! and powers above all.
//!
//! With |a| ≥ |b| and d = log₂|a| − log₂|b|, the logarithm of |a ± b| is
//! log₂|a| + log₂(1 ± 2^-d). Word and difference are exact, so the sum of two
//! words is a definite real number, and what is asked for is the logarithm
//! nearest to its own, cancellation included: near d = 0 the difference loses
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
    // Two shifts, because frac may be 0 and a shift by 128 is none.
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
/// At d = 2^-52, 1 − 2^-d has 53 leading zeros: what remains of 2^-122 is an
/// error of less than 2^-68 of the difference.
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
/// [`Fault::BadLog`] for a word that is no number; [`Fault::Range`] when the logarithm overflows, either way.
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
/// [`Fault::BadLog`] for an a that is no number; [`Fault::Domain`] when a is
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
/// [`Fault::BadLog`] for a word that is no number; [`Fault::DivideByZero`].
#[inline]
pub fn inv(_env: Env, a: u64) -> Word {
    Logarithmic::WORD.inv(Logarithmic::WORD.number(a)?).map(|inverse| Logarithmic::WORD.word(inverse))
}

/// The natural logarithm of |a|, a `.q` word, rounded to nearest.
///
/// # Errors
/// [`Fault::BadLog`] for a word that is no number; [`Fault::Domain`] for zero.
#[inline]
pub fn ln(env: Env, a: u64) -> Word {
    Logarithmic::WORD.ln(Logarithmic::WORD.number(a)?, env.format.frac()).map(|word| word as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::Format;
    use crate::num::sample::{Random, edges};

    const ENV: Env = Env { format: Format::Q32_32, ieee: false };
    const BAD: u64 = 3 << 62;
    const SIGN: u64 = 1 << 63;
    const WORD: Logarithmic = Logarithmic::WORD;

    fn words() -> Vec<u64> {
        let mut random = Random(21);
        let mut words = edges();
        words.extend([log::ZERO, BAD, log::ZERO + 1, BAD + 1, log::ZERO - 1, BAD - 1]);
        words.extend((0..300).map(|_| random.sized()));
        words
    }

    fn l(negative: bool, logarithm: i64) -> u64 {
        log::from_parts(negative, logarithm).unwrap()
    }

    /// Numbers of a small type and their values.
    fn small(ty: Logarithmic) -> Vec<(Number, f64)> {
        let value = |n: Number| {
            let magnitude = n.logarithm.map_or(0.0, |k| (k as f64 / (1u64 << ty.frac) as f64).exp2());
            if n.negative { -magnitude } else { magnitude }
        };
        (0..1u64 << ty.width).filter_map(|word| ty.number(word).ok()).map(|n| (n, value(n))).collect()
    }

    /// Doubles are good to 2^-40 units here: the nearest is known but for ties, and there are none.
    fn nearest(ty: Logarithmic, value: f64, got: Result<Number, Fault>, what: &str) {
        let unit = (1u64 << ty.frac) as f64;
        let exact = value.abs().log2() * unit;
        match got {
            Ok(Number { negative, logarithm: Some(logarithm) }) => {
                assert!(logarithm.abs() <= ty.max_log(), "{what}");
                assert_eq!(negative, value < 0.0, "{what}");
                assert!((logarithm as f64 - exact).abs() < 0.5 + 1e-9, "{what}: {logarithm} {exact}");
            }
            Ok(_) => panic!("{what}: zero for {value}"),
            Err(fault) => {
                assert_eq!(fault, Fault::Range, "{what}");
                assert!(exact.abs() > ty.max_log() as f64 + 0.5 - 1e-9, "{what}: {exact}");
            }
        }
    }

    #[test]
    fn sums_of_all_small_numbers() {
        for (width, frac) in [(8, 0), (8, 1), (8, 3), (8, 4), (9, 5), (9, 6), (10, 5)] {
            let ty = Logarithmic { width, frac };
            let numbers = small(ty);
            assert_eq!(numbers.len(), (1 << width) - 1);
            for &(a, x) in &numbers {
                for &(b, y) in &numbers {
                    for (value, got) in [(x + y, ty.plus(a, b)), (x - y, ty.minus(a, b))] {
                        let what = format!("{width}/{frac}: {a:?} {b:?}");
                        if a == Number::ZERO {
                            assert_eq!(got, Ok(if value == y { b } else { -b }), "{what}");
                        } else if b == Number::ZERO {
                            assert_eq!(got, Ok(a), "{what}");
                        } else if value == 0.0 {
                            assert_eq!(got, Ok(Number::ZERO), "{what}");
                        } else {
                            nearest(ty, value, got, &what);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn powers_and_logarithms_of_all_small_numbers() {
        for (width, frac) in [(8, 3), (9, 6), (10, 5)] {
            let ty = Logarithmic { width, frac };
            for (a, x) in small(ty) {
                let Some(k) = a.logarithm else { continue };
                for pfrac in [0, 2, 5] {
                    for p in -70..=70 {
                        let exact = (k * p) as f64 / (1 << pfrac) as f64;
                        let rounded = exact.round_ties_even() as i64;
                        let negative = a.negative && p >> pfrac & 1 == 1;
                        let expected = if a.negative && p % (1 << pfrac) != 0 {
                            Err(Fault::Domain)
                        } else if rounded.abs() > ty.max_log() {
                            Err(Fault::Range)
                        } else {
                            Ok(Number { negative, logarithm: Some(rounded) })
                        };
                        assert_eq!(ty.pow(a, p, pfrac), expected, "{a:?}^{p}/2^{pfrac}");
                    }
                }
                for qfrac in [0, 3, 20] {
                    let expected = (x.abs().ln() * (1 << qfrac) as f64).round() as i64;
                    assert_eq!(ty.ln(a, qfrac), Ok(expected), "ln {a:?}");
                }
                let inverse = ty.inv(a).unwrap();
                assert_eq!(inverse, Number { logarithm: Some(-k), ..a });
            }
            assert_eq!(ty.ln(Number { negative: false, logarithm: Some(ty.max_log()) }, 63), Err(Fault::Range));
        }
    }

    #[test]
    fn words_and_numbers() {
        for (width, frac) in [(8, 3), (10, 5), (16, 8)] {
            let ty = Logarithmic { width, frac };
            for word in 0..1u64 << width {
                match ty.number(word) {
                    Ok(number) => assert_eq!(ty.word(number), word),
                    Err(fault) => assert_eq!((fault, word), (Fault::BadLog, 3 << (width - 2))),
                }
            }
        }
        for word in words() {
            assert_eq!(WORD.number(word).is_ok(), log::valid(word));
            if let Ok(number @ Number { negative, logarithm }) = WORD.number(word) {
                assert_eq!(WORD.word(number), word);
                assert_eq!(logarithm, (word != log::ZERO).then_some(log::logarithm(word)));
                assert_eq!(negative, log::is_negative(word));
                assert_eq!(Ok(WORD.word(-number)), log::neg(word));
            }
        }
    }

    #[test]
    fn special_values() {
        let one = 1i64 << 52;
        for (a, b, sum) in [
            (log::ONE, log::ONE, l(false, one)),
            (l(true, 5), l(true, 5), l(true, one + 5)),
            (log::ONE, l(true, 0), log::ZERO),
            (log::ONE, l(true, -one), l(false, -one)),
            (log::ONE, l(true, one), l(true, 0)),
            (log::ZERO, log::ZERO, log::ZERO),
            (log::ZERO, l(true, 3), l(true, 3)),
            (l(false, log::MIN_LOG), log::ZERO, l(false, log::MIN_LOG)),
            // log2(1 ± 2^-53) is 0.72 units, log2(1 ± 2^-54) 0.36.
            (log::ONE, l(false, -53 * one), l(false, 1)),
            (log::ONE, l(true, -53 * one), l(false, -1)),
            (log::ONE, l(false, -54 * one), log::ONE),
            (log::ONE, l(true, -54 * one), log::ONE),
            (l(false, log::MAX_LOG), l(true, log::MIN_LOG), l(false, log::MAX_LOG)),
            (l(true, log::MIN_LOG), l(false, log::MAX_LOG), l(false, log::MAX_LOG)),
        ] {
            assert_eq!(plus(ENV, a, b), Ok(sum), "{a:#x} {b:#x}");
            assert_eq!(plus(ENV, b, a), Ok(sum), "{b:#x} {a:#x}");
        }
        // log2(1 - 2^-d) is log2(d ln 2) for small d: -52.53 here.
        let least_difference = -52 * one + (std::f64::consts::LN_2.log2() * one as f64) as i64;
        assert_near(minus(ENV, log::ONE, l(false, -1)), l(false, least_difference), 1);
        let greatest = l(false, log::MAX_LOG);
        let least = l(false, log::MIN_LOG);
        assert_eq!(plus(ENV, greatest, greatest), Err(Fault::Range));
        assert_eq!(minus(ENV, least, least + 1), Err(Fault::Range));
        assert_eq!(minus(ENV, greatest, greatest), Ok(log::ZERO));
        assert_eq!(plus(ENV, least, least), Ok(l(false, log::MIN_LOG + one)));
        // The last sum that does not overflow: greatest plus what rounds away.
        assert_eq!(plus(ENV, greatest, l(false, log::MAX_LOG - 54 * one)), Ok(greatest));
        assert_eq!(plus(ENV, greatest, l(false, log::MAX_LOG - 53 * one)), Err(Fault::Range));
    }

    fn assert_near(got: Word, expected: u64, units: u64) {
        let got = got.unwrap();
        assert!(got.abs_diff(expected) <= units, "{got:#x} {expected:#x}");
    }

    #[test]
    fn powers_of_words() {
        let one = 1i64 << 52;
        let q = |format: Format, halves: i64| (halves << (format.frac() - 1)) as u64;
        for format in Format::ALL {
            let env = Env { format, ieee: false };
            assert_eq!(pow(env, l(true, one), q(format, 6)), Ok(l(true, 3 * one)));
            assert_eq!(pow(env, l(true, one), q(format, -4)), Ok(l(false, -2 * one)));
            assert_eq!(pow(env, l(true, one), q(format, 1)), Err(Fault::Domain));
            assert_eq!(pow(env, l(true, one), q(format, 0)), Ok(log::ONE));
            assert_eq!(pow(env, l(false, one), q(format, 1)), Ok(l(false, one / 2)));
            // Ties.
            assert_eq!(pow(env, l(false, 1), q(format, 1)), Ok(log::ONE));
            assert_eq!(pow(env, l(false, 3), q(format, 1)), Ok(l(false, 2)));
            assert_eq!(pow(env, l(false, -3), q(format, 1)), Ok(l(false, -2)));
            assert_eq!(pow(env, log::ZERO, 1), Ok(log::ZERO));
            assert_eq!(pow(env, log::ZERO, 0), Ok(log::ONE));
            assert_eq!(pow(env, log::ZERO, u64::MAX), Err(Fault::DivideByZero));
            assert_eq!(pow(env, l(false, log::MAX_LOG), q(format, 4)), Err(Fault::Range));
            assert_eq!(pow(env, l(false, log::MAX_LOG), q(format, -2)), Ok(l(false, log::MIN_LOG)));
            assert_eq!(pow(env, l(false, log::MAX_LOG), SIGN), Err(Fault::Range));
            assert_eq!(pow(env, BAD, 0), Err(Fault::BadLog));
            assert_eq!(pow(env, log::ONE, SIGN), Ok(log::ONE));
            assert_eq!(ln(env, log::ONE), Ok(0));
            assert_eq!(ln(env, log::ZERO), Err(Fault::Domain));
            assert_eq!(ln(env, BAD), Err(Fault::BadLog));
            for k in [log::MIN_LOG, -3 * one, -1, 1, one, 12345 << 40, log::MAX_LOG] {
                let expected = k as f64 / one as f64 * std::f64::consts::LN_2 * (1u64 << format.frac()) as f64;
                let got = ln(env, l(k & 1 == 1, k)).unwrap() as i64;
                assert!((got as f64 - expected).abs() <= 0.5 + expected.abs() * 1e-15, "{k} {got} {expected}");
            }
        }
        assert_eq!(inv(ENV, log::ZERO), Err(Fault::DivideByZero));
        assert_eq!(inv(ENV, BAD), Err(Fault::BadLog));
        assert_eq!(inv(ENV, l(true, log::MIN_LOG)), Ok(l(true, log::MAX_LOG)));
    }

    #[test]
    fn symmetries() {
        let words = words();
        for &a in &words {
            for &b in &words {
                let sum = plus(ENV, a, b);
                if !log::valid(a) || !log::valid(b) {
                    assert_eq!(sum, Err(Fault::BadLog));
                    assert_eq!(minus(ENV, a, b), Err(Fault::BadLog));
                    continue;
                }
                let neg = |a: u64| log::neg(a).unwrap();
                assert_eq!(sum, plus(ENV, b, a), "{a:#x} {b:#x}");
                assert_eq!(sum.map(neg), plus(ENV, neg(a), neg(b)), "{a:#x} {b:#x}");
                assert_eq!(sum, minus(ENV, a, neg(b)), "{a:#x} {b:#x}");
                assert_eq!(minus(ENV, a, b).map(neg), minus(ENV, b, a), "{a:#x} {b:#x}");
            }
        }
        // A common factor of both is one of the sum: only the differences of logarithms count.
        let mut random = Random(22);
        for _ in 0..20_000 {
            let (a, b, factor) = (random.word(), random.word(), random.sized());
            let scaled = (log::mul(a, factor), log::mul(b, factor));
            if let ((Ok(x), Ok(y)), Ok(sum)) = (scaled, plus(ENV, a, b)) {
                assert_eq!(plus(ENV, x, y), log::mul(sum, factor));
            }
        }
    }

    #[test]
    fn near_to_doubles() {
        let mut random = Random(23);
        for _ in 0..200_000 {
            // Magnitudes from 2^-8 to 2^8.
            let mut number = || l(random.word() & 1 == 1, random.word() as i64 >> 8);
            let (a, b) = (number(), number());
            let value = |a: u64| {
                let magnitude = (log::logarithm(a) as f64 / 2f64.powi(52)).exp2();
                if log::is_negative(a) { -magnitude } else { magnitude }
            };
            for (sum, got) in [(value(a) + value(b), plus(ENV, a, b)), (value(a) - value(b), minus(ENV, a, b))] {
                let got = value(got.unwrap());
                let tolerance = 1e-14 * (value(a).abs() + value(b).abs());
                assert!((got - sum).abs() < tolerance, "{a:#x} {b:#x}: {got} {sum}");
            }
        }
    }

    #[test]
    fn back_again() {
        let mut random = Random(24);
        let mut tested = 0;
        for _ in 0..200_000 {
            let a = l(random.word() & 1 == 1, random.word() as i64 >> 8);
            let b = l(random.word() & 1 == 1, log::logarithm(a) + (random.sized() as i64 >> 6));
            let Ok(sum) = plus(ENV, a, b) else { continue };
            // Half a unit of the sum is |sum/a| half units of a.
            if sum != log::ZERO && log::logarithm(sum) <= log::logarithm(a) + (4 << 52) {
                assert_near(minus(ENV, sum, b), a, 9);
                tested += 1;
            }
        }
        assert!(tested > 100_000);
    }

    #[test]
    fn monotone() {
        let mut random = Random(25);
        let mut starts: Vec<u64> = (0..60 << 1).map(|half| half << 51).collect();
        starts.extend((0..2000).map(|_| random.word() >> (6 + random.word() % 58)));
        for start in starts {
            let run = || start.saturating_sub(30).max(1)..start + 30;
            assert!(run().map(|d| log_of_sum(52, d)).is_sorted_by(|a, b| a >= b), "{start:#x}");
            assert!(run().map(|d| log_of_difference(52, d)).is_sorted_by(|a, b| a >= b), "{start:#x}");
        }
    }
}
