//! Conversion of `.q`, `.l` and `.f` words to decimal text and back.
//!
//! The text of every word reads back as the same word. A number is an
//! optional sign, digits with an optional point (at least one digit in all) and
//! an optional exponent: `1`, `-0.25`, `.5`, `6.02e23`. `.f` has `inf`, `-inf`
//! and `nan` as well. A word without such a text (the `.l` word that is
//! not a number, a NaN with a sign or a payload) is written in hexadecimal, as
//! `0x…w`, which all parsers here accept.
//!
//! Type suffixes (`1.5q`), digit separators and integers in other bases belong
//! to the assembler; conversions between types are in [`convert`](super::convert).

mod fixed;

use std::fmt::Write as _;

pub use fixed::{format_q, parse_q};
use thiserror::Error;

use super::wide::{exp2, log2, mul_high};
use super::{float, log};

/// Why a text cannot be read as a word of the requested type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NumberError {
    /// The text is not a number.
    #[error("not a number: digits with optional sign, point and exponent, such as `-1.5e3`")]
    Syntax,
    /// The number lies outside the type; the field names the type and its range.
    #[error("the number does not fit {0}")]
    OutOfRange(&'static str),
}

/// A number as it is written.
struct Decimal<'a> {
    negative: bool,
    integer: &'a str,
    fraction: &'a str,
    /// Power of ten, clamped to ±2^48, far more than any text has digits.
    exponent: i64,
}

impl<'a> Decimal<'a> {
    fn scan(text: &'a str) -> Result<Self, NumberError> {
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, Self::exponent(power)?),
            None => (rest, 0),
        };
        let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if integer.len() + fraction.len() == 0 || !digits(integer) || !digits(fraction) {
            return Err(NumberError::Syntax);
        }
        Ok(Decimal { negative, integer, fraction, exponent })
    }

    fn exponent(text: &str) -> Result<i64, NumberError> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(NumberError::Syntax);
        }
        let clamped = digits.bytes().fold(0i64, |n, digit| (n * 10 + i64::from(digit - b'0')).min(1 << 48));
        Ok(if negative { -clamped } else { clamped })
    }

    fn digits(&self) -> impl Iterator<Item = u8> + '_ {
        self.integer.bytes().chain(self.fraction.bytes()).map(|b| b - b'0')
    }

    /// The power of ten of the first digit that is not 0; `None` for zero.
    fn magnitude(&self) -> Option<i64> {
        let first = self.digits().position(|digit| digit != 0)?;
        Some(self.integer.len() as i64 - 1 - first as i64 + self.exponent)
    }
}

/// The word of `0x…w`, if the text has that form.
fn parse_raw(text: &str) -> Option<Result<u64, NumberError>> {
    let digits = text.strip_prefix("0x")?.strip_suffix('w')?;
    let valid = (1..=16).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let word = valid.then(|| u64::from_str_radix(digits, 16).ok()).flatten();
    Some(word.ok_or(NumberError::Syntax))
}

fn format_raw(word: u64) -> String {
    format!("0x{word:016x}w")
}

/// The double nearest to the number, ties to even; below the subnormals, zero of its sign.
///
/// # Errors
/// [`NumberError::Syntax`]; [`NumberError::OutOfRange`] when it rounds to more than
/// the greatest double.
pub fn parse_f(text: &str) -> Result<u64, NumberError> {
    if let Some(word) = parse_raw(text) {
        return word;
    }
    match text {
        "inf" | "+inf" => return Ok(f64::INFINITY.to_bits()),
        "-inf" => return Ok(f64::NEG_INFINITY.to_bits()),
        "nan" => return Ok(float::NAN),
        _ => {}
    }
    Decimal::scan(text)?;
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number.to_bits()),
        Ok(_) => Err(NumberError::OutOfRange("a double (magnitudes up to 1.7976931348623157e308)")),
        Err(_) => Err(NumberError::Syntax),
    }
}

/// The shortest decimal that [`parse_f`] reads as this word, with a point or an
/// exponent: `2.0`, `-0.0`, `1e100`; `inf`, `-inf`, `nan`; another NaN as `0x…w`.
pub fn format_f(word: u64) -> String {
    let mut out = String::new();
    push_f(&mut out, word);
    out
}

/// Adds a double to a text, as [`format_f`] writes it.
pub fn push_f(out: &mut String, word: u64) {
    let number = f64::from_bits(word);
    if !number.is_nan() {
        // Texts take all that they are given.
        let _ = write!(out, "{number:?}");
    } else if word == float::NAN {
        out.push_str("nan");
    } else {
        out.push_str(&format_raw(word));
    }
}

/// log2 10, in units of 2^-116.
const LOG2_10: i128 = 0x0035_269e_12f3_46e2_bf92_4afd_bfd3_6bf7;
/// The number of digits that distinguishes any two logarithmic numbers: their relative spacing is 1.5·10^-16.
const LOG_DIGITS: usize = 17;

/// The `.l` word nearest to the number, zero for zero of either sign. Correctly
/// rounded except for the error of the logarithm, which is below 2^-50 of a unit.
///
/// # Errors
/// [`NumberError::Syntax`]; [`NumberError::OutOfRange`] when the magnitude rounds to
/// 2^1024 or more or, zero apart, to 2^-1024 or less.
pub fn parse_l(text: &str) -> Result<u64, NumberError> {
    if let Some(word) = parse_raw(text) {
        return word;
    }
    let number = Decimal::scan(text)?;
    let Some(magnitude) = number.magnitude() else {
        return Ok(log::ZERO);
    };
    const RANGE: NumberError = NumberError::OutOfRange("`.l` (zero, and magnitudes between 5.6e-309 and 1.79e308)");
    if magnitude.abs() > 320 {
        return Err(RANGE);
    }
    // 38 digits fit 128 bits; further ones are less than the logarithm's error.
    let (mut digits, mut count) = (0u128, 0);
    for digit in number.digits().skip_while(|&digit| digit == 0).take(38) {
        digits = digits * 10 + u128::from(digit);
        count += 1;
    }
    let logarithm = nearest_log(digits, (magnitude + 1 - count) as i32).ok_or(RANGE)?;
    log::from_parts(number.negative, logarithm).map_err(|_| RANGE)
}

/// log2(digits · 10^power) in units of 2^-52, to nearest; `None` when far out of
/// range. `digits` is not zero.
fn nearest_log(digits: u128, power: i32) -> Option<i64> {
    let zeros = digits.leading_zeros();
    let fraction = (log2(digits << zeros) >> 11) as i128;
    let whole = i128::from(127 - zeros) << 116;
    // |power| < 400: below 2^127 all of it.
    let exact = whole.checked_add(fraction)?.checked_add(LOG2_10.checked_mul(power.into())?)?;
    i64::try_from(exact.checked_add(1 << 63)? >> 64).ok()
}

/// The shortest decimal that [`parse_l`] reads as this word, with a point or an
/// exponent: `2.0`, `-0.1`, `1.2345e-200`; zero is `0.0`, and the word that is not
/// a number `0x…w`.
pub fn format_l(word: u64) -> String {
    if !log::valid(word) {
        return format_raw(word);
    }
    if word == log::ZERO {
        return "0.0".to_owned();
    }
    let logarithm = log::logarithm(word);
    let (digits, power) = twenty_five_digits(logarithm);
    // `power` is that of the first digit. 17 digits always suffice, so the default is not taken.
    let (digits, power) = (1..=LOG_DIGITS)
        .map(|count| round_digits(digits, power, count))
        .find(|&(digits, power)| nearest_log(digits, power - digits.ilog10() as i32) == Some(logarithm))
        .unwrap_or((digits, power));
    let sign = if log::is_negative(word) { "-" } else { "" };
    format!("{sign}{}", layout(&digits.to_string(), power))
}

/// 2^logarithm (units of 2^-52) as 25 decimal digits (26 if rounding carries) and
/// the first one's power of ten, within some units of the last digit.
fn twenty_five_digits(logarithm: i64) -> (u128, i32) {
    const SCALE: u128 = 10u128.pow(24);
    let logarithm = i128::from(logarithm) << 64;
    let power = logarithm.div_euclid(LOG2_10);
    // The logarithm of the number's significand, from 1 to below 10.
    let rest = logarithm.rem_euclid(LOG2_10);
    let significand = exp2((rest as u128) << 12);
    // From 10^24 to below 10^25, but rounding may cross either end.
    let digits = mul_high(significand, SCALE << ((rest >> 116) + 1)).max(SCALE);
    (digits, power as i32 + digits.ilog10() as i32 - 24)
}

/// The `count` leading digits, rounded, without zeros at their end, and the
/// power of ten of the first of them.
fn round_digits(digits: u128, power: i32, count: usize) -> (u128, i32) {
    let length = digits.ilog10();
    let unit = 10u128.pow(length + 1 - count as u32);
    let mut rounded = (digits + unit / 2) / unit;
    let carried = rounded.ilog10() as usize == count;
    while rounded.is_multiple_of(10) {
        rounded /= 10;
    }
    (rounded, power + i32::from(carried))
}

/// Digits with the first one at 10^power, as Rust lays out doubles.
fn layout(digits: &str, power: i32) -> String {
    let (first, others) = digits.split_at(1);
    match power {
        -4..=-1 => format!("0.{}{digits}", "0".repeat((-1 - power) as usize)),
        0..16 => {
            let point = power as usize + 1;
            match digits.split_at_checked(point) {
                Some((integer, fraction)) if !fraction.is_empty() => {
                    format!("{integer}.{fraction}")
                }
                _ => format!("{digits}{}.0", "0".repeat(point - digits.len())),
            }
        }
        _ if others.is_empty() => format!("{first}e{power}"),
        _ => format!("{first}.{others}e{power}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::sample::{Random, edges};
    use crate::num::{Env, Format, convert};

    pub(super) fn words(count: usize) -> Vec<u64> {
        let mut random = Random(9);
        let mut words = edges();
        words.extend((0..count).map(|_| random.sized()));
        words.extend((0..count).map(|_| random.word()));
        words
    }

    /// Texts of few digits, with the point at any place.
    pub(super) fn short_decimals(count: usize) -> impl Iterator<Item = String> {
        let mut random = Random(17);
        (0..count).map(move |_| {
            let digits = random.word() % 10u64.pow(1 + (random.word() % 17) as u32);
            let sign = if random.word() & 1 == 0 { "" } else { "-" };
            let power = match random.word() % 4 {
                0 => (random.word() % 600) as i32 - 320,
                _ => -((random.word() % 18) as i32),
            };
            format!("{sign}{digits}e{power}")
        })
    }

    /// The words around a short decimal have the most similar texts, and random words never hit them.
    #[test]
    fn words_near_short_decimals_read_back() {
        let q = Format::ALL.map(|format| Box::new(move |t: &str| parse_q(t, format)) as Box<Reads>);
        let q = q.into_iter().zip(Format::ALL.map(|format| Box::new(move |w| format_q(w, format)) as Box<Writes>));
        let f: (Box<Reads>, Box<Writes>) = (Box::new(parse_f), Box::new(format_f));
        let l: (Box<Reads>, Box<Writes>) = (Box::new(parse_l), Box::new(format_l));
        let texts: Vec<String> = short_decimals(if cfg!(debug_assertions) { 10_000 } else { 100_000 }).collect();
        for (read, write) in q.chain([f, l]) {
            for word in texts.iter().filter_map(|text| read(text).ok()) {
                for near in (-3..=3).map(|d| word.wrapping_add_signed(d)) {
                    let text = write(near);
                    assert_eq!(read(&text), Ok(near), "{text} {near:#x}");
                }
            }
        }
    }

    type Reads = dyn Fn(&str) -> Result<u64, NumberError>;
    type Writes = dyn Fn(u64) -> String;

    #[test]
    fn what_is_no_number() {
        let texts = [
            "",
            "+",
            "-",
            ".",
            "-.",
            "e1",
            ".e1",
            "1e",
            "1e+",
            "1e1.5",
            "1e1e1",
            "1.2.3",
            "--1",
            "+-1",
            " 1",
            "1 ",
            "1_000",
            "0x10",
            "0x10g",
            "0xw",
            "0x11112222333344445w",
            "0x+1w",
            "1@2",
            "infinity",
            "NaN",
            "-nan",
            "1q",
            "١",
            "1.٥",
            "é",
        ];
        for text in texts {
            assert_eq!(parse_q(text, Format::Q21_43), Err(NumberError::Syntax), "{text}");
            assert_eq!(parse_l(text), Err(NumberError::Syntax), "{text}");
            assert_eq!(parse_f(text), Err(NumberError::Syntax), "{text}");
        }
        assert_eq!(parse_q("inf", Format::Q21_43), Err(NumberError::Syntax));
        assert_eq!(parse_l("nan"), Err(NumberError::Syntax));
    }

    #[test]
    fn doubles_read_back() {
        for word in words(100_000) {
            let text = format_f(word);
            assert_eq!(parse_f(&text), Ok(word), "{text}");
        }
        for (word, text) in [
            (0, "0.0"),
            (1 << 63, "-0.0"),
            (2f64.to_bits(), "2.0"),
            (1e100f64.to_bits(), "1e100"),
            (f64::INFINITY.to_bits(), "inf"),
            (f64::NEG_INFINITY.to_bits(), "-inf"),
            (float::NAN, "nan"),
            (float::NAN | 1, "0x7ff8000000000001w"),
            (float::NAN | 1 << 63, "0xfff8000000000000w"),
        ] {
            assert_eq!(format_f(word), text);
            assert_eq!(parse_f(text), Ok(word));
        }
        assert!(matches!(parse_f("1e309"), Err(NumberError::OutOfRange(_))));
        assert!(matches!(parse_f("-1e99999999999999999999"), Err(NumberError::OutOfRange(_))));
        assert_eq!(parse_f("-1e-400"), Ok(1 << 63));
    }

    #[test]
    fn logarithms_read_back() {
        let near = |centre: u64| (-2000i64..2000).map(move |d| centre.wrapping_add_signed(d));
        let centres = [0, 1 << 52, 1 << 62, 1 << 63, 3 << 62];
        for word in words(20_000).into_iter().chain(centres.into_iter().flat_map(near)) {
            let text = format_l(word);
            assert_eq!(parse_l(&text), Ok(word), "{text}");
            let digits = text.split('e').next().unwrap().bytes().filter(u8::is_ascii_digit).count();
            assert!(!log::valid(word) || digits <= LOG_DIGITS + 4, "{text}");
        }
    }

    #[test]
    fn logarithm_texts() {
        let env = Env::default();
        for n in (0..3000).chain((1 << 52) - 100..1 << 52) {
            let word = convert::int_to_l(env, n).unwrap();
            assert_eq!(parse_l(&n.to_string()), Ok(word));
            if n <= 1 << 50 {
                assert_eq!(format_l(word), format!("{n}.0"));
            }
        }
        for (text, exact) in [
            ("1.0", 0),
            ("0.5", -1 << 52),
            ("1048576.0", 20 << 52),
            ("0.0009765625", -10 << 52),
            ("7.62939453125e-6", -17 << 52),
        ] {
            assert_eq!(parse_l(text), log::from_parts(false, exact).map_err(|_| NumberError::Syntax));
        }
        for text in ["0.1", "-0.1", "1.2345e-200", "-3.0", "1e16", "1000000000000000.0", "0.0001", "1e-5"] {
            assert_eq!(format_l(parse_l(text).unwrap()), text);
        }
        for zero in ["0", "-0.0", "0e500", "0.0e-999999999999999999999"] {
            assert_eq!(parse_l(zero), Ok(log::ZERO));
        }
        assert_eq!(format_l(log::ZERO), "0.0");
        assert_eq!(format_l(3 << 62), "0xc000000000000000w");
        for text in ["1e309", "1.8e308", "5.5e-309", "1e-320", "-1e400", "1e-99999999999999999999"] {
            assert!(matches!(parse_l(text), Err(NumberError::OutOfRange(_))), "{text}");
        }
        assert!(parse_l("1.797e308").is_ok() && parse_l("5.57e-309").is_ok());
        // Digits beyond what an integer holds, and points far from the first digit.
        let long = format!("0.{}{}e400", "0".repeat(400), "3".repeat(500));
        assert_eq!(parse_l(&long), parse_l("0.33333333333333333333333333333333333333"));
    }

    #[test]
    fn messages() {
        let error = parse_q("40000", Format::Q16_48).unwrap_err();
        assert_eq!(error.to_string(), "the number does not fit Q16.48 (from -32768 to just below 32768)");
    }
}
