//! Converts the text, integer or double that a user gives to a word of the required type.

use pendula_isa::num::{Env, Format, convert, decimal};
use pendula_isa::types::Ty;

use super::error::{ValueError, bad};
use super::place::{TRUTH, WORDS};
use crate::state::arrays::Number;

/// Converts a number to a word of a type; an integer must lie in a range. The error is the number as text, and the
/// reason.
pub(super) fn word(n: &Number, ty: Ty, format: Format, range: (i128, i128)) -> Result<u64, (String, String)> {
    let env = Env { format, ieee: false };
    let no = |text: String, why: &str| (text, if why.is_empty() { String::new() } else { format!(": {why}") });
    match n {
        Number::Text(text) => parse(text, ty, format, range).map_err(|why| no(text.clone(), &why)),
        Number::Int(k) => match ty {
            Ty::Int => in_range(*k, range).map_err(|why| no(k.to_string(), &why)),
            Ty::Q | Ty::L | Ty::F => parse(&k.to_string(), ty, format, range).map_err(|why| no(k.to_string(), &why)),
        },
        Number::Float(x) => match ty {
            Ty::F => Ok(x.to_bits()),
            Ty::Q => convert::f_to_q(env, x.to_bits()).map_err(|e| no(x.to_string(), e.title())),
            Ty::L => convert::f_to_l(env, x.to_bits()).map_err(|e| no(x.to_string(), e.title())),
            Ty::Int if x.fract() == 0.0 => {
                let word = convert::f_to_int(env, x.to_bits()).map_err(|e| no(x.to_string(), e.title()))?;
                in_range(word.cast_signed().into(), range).map_err(|why| no(x.to_string(), &why))
            }
            Ty::Int => Err(no(x.to_string(), "it is not whole")),
        },
    }
}

/// Converts an integer to a word if it lies in a range.
fn in_range(k: i128, (least, greatest): (i128, i128)) -> Result<u64, String> {
    if k < least || k > greatest {
        if (least, greatest) == TRUTH {
            return Err("true or false is expected, or 1 or 0".to_string());
        }
        let power = |k: i128| match k {
            -0x8000_0000_0000_0000 => "-2^63".to_string(),
            0xffff_ffff_ffff_ffff => "2^64-1".to_string(),
            0x7fff_ffff_ffff_ffff => "2^63-1".to_string(),
            k => k.to_string(),
        };
        return Err(format!("integers lie between {} and {}", power(least), power(greatest)));
    }
    Ok(k as u64)
}

/// Like [`in_range`] for the bits of a word: if the range has negative numbers, their unsigned bit patterns are
/// accepted, too.
fn word_in_range(k: i128, range: (i128, i128)) -> Result<u64, String> {
    let signed = u64::try_from(k).ok().map(|word| i128::from(word.cast_signed()));
    in_range(k, range).or_else(|why| in_range(signed.ok_or_else(|| why.clone())?, range).map_err(|_| why))
}

/// Parses a number as a word of a type. Integers may be decimal, hexadecimal, octal or binary; `0x…w` is a raw word of
/// any type.
fn parse(text: &str, ty: Ty, format: Format, range: (i128, i128)) -> Result<u64, String> {
    let range = if ty == Ty::Int { range } else { WORDS };
    if let Some(raw) = text.strip_suffix('w') {
        let k = integer(raw).ok_or_else(|| "a raw word is an integer followed by `w`".to_string())?;
        return word_in_range(k, range);
    }
    match ty {
        // Bit patterns, as `--hex` prints them, are accepted here, too.
        Ty::Int if text.starts_with("0x") => word_in_range(integer(text).ok_or_else(String::new)?, range),
        Ty::Int => in_range(integer(text).ok_or_else(String::new)?, range),
        Ty::Q => decimal::parse_q(text, format).map_err(|e| e.to_string()),
        Ty::L => decimal::parse_l(text).map_err(|e| e.to_string()),
        Ty::F => decimal::parse_f(text).map_err(|e| e.to_string()),
    }
}

/// The value of an integer's text. If it has too many digits, the result is a value beyond all words.
fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase().replace('_', "");
    let (radix, digits) = [("0x", 16), ("0o", 8), ("0b", 2)]
        .into_iter()
        .find_map(|(p, r)| lower.strip_prefix(p).map(|d| (r, d)))
        .unwrap_or((10, lower.as_str()));
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let magnitude = i128::from_str_radix(digits, radix).unwrap_or(i128::MAX);
    Some(if negative { -magnitude } else { magnitude })
}

/// Parses a number as a word of a type; errors refer to it as `name`.
///
/// # Errors
/// The text is not a number of the type.
pub fn parse_number(name: &str, text: &str, ty: Ty, format: Format) -> Result<u64, ValueError> {
    let no = |why: String| bad(name, text.to_string(), ty, if why.is_empty() { why } else { format!(": {why}") });
    parse(text.trim(), ty, format, WORDS).map_err(no)
}
