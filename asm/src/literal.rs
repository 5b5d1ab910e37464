//! Numbers, characters and quoted texts.
//!
//! Real numbers are only checked for their form and kept as text. Which word they become depends on the expected type
//! and on the module's format, which [`symbols`](crate::symbols) knows. The [`lexer`](crate::lexer) makes tokens of
//! them.

use std::borrow::Cow;
use std::ops::Range;

use pendula_isa::Ty;

use crate::codes;
use crate::intern::Interner;
use crate::token::{LexError, Tok, name_end};

/// The end of the number that begins at `start`. Everything that looks like part of it belongs to it, so that a
/// misspelt number is one token.
pub(crate) fn number_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    // Most numbers end here.
    match bytes.get(at) {
        Some(b) if b.is_ascii_alphabetic() || matches!(b, b'.' | b'_' | b'$' | 0x80..) => {}
        _ => return at,
    }
    let mut end = name_end(text, at);
    let signed = matches!(bytes.get(end), Some(b'+' | b'-')) && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
    let exponent = end > start && matches!(bytes.get(end - 1), Some(b'e' | b'E'));
    let decimal = |part: &[u8]| part.iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'_'));
    if signed && exponent && bytes.get(start..end - 1).is_some_and(decimal) {
        end = name_end(text, end + 1);
    }
    end
}

/// Reads a number.
pub(crate) fn number(text: &str, range: Range<usize>, names: &mut Interner, errors: &mut Vec<LexError>) -> Tok {
    let written = text.get(range.clone()).unwrap_or("");
    match read(written, names) {
        Ok(tok) => tok,
        Err((code, help)) => {
            let message = match code {
                codes::OVERFLOW => format!("`{written}` does not fit 64 bits"),
                _ => format!("`{written}` is not a number"),
            };
            errors.push(LexError { range, code, message, help });
            Tok::Error
        }
    }
}

const FORMS: &str = "numbers are written `12`, `1_000`, `0xff`, `0b101`, `0o17`, `1.5`, `1e-3`; \
                     with a type `1.5q`, `2.0l`, `0.1f`; as a raw word `0xffw`";

fn read(written: &str, names: &mut Interner) -> Result<Tok, (&'static str, &'static str)> {
    let bad = (codes::NUMBER, FORMS);
    let digits: Cow<'_, str> =
        if written.contains('_') { written.replace('_', "").into() } else { Cow::Borrowed(written) };
    let bytes = digits.as_bytes();
    let radix = match bytes {
        [b'0', b'x' | b'X', ..] => 16,
        [b'0', b'b' | b'B', ..] => 2,
        [b'0', b'o' | b'O', ..] => 8,
        _ => 10,
    };
    if radix != 10 {
        let (body, raw) = split_suffix(digits.get(2..).unwrap_or(""), b"wW");
        let value = integer(body, radix).ok_or(bad)?.ok_or((codes::OVERFLOW, "write at most 64 bits"))?;
        return Ok(if raw.is_some() { Tok::Raw(value) } else { Tok::Int(value) });
    }
    let (body, suffix) = split_suffix(&digits, b"qQlLfFwW");
    let ty = suffix.map(|b| b.to_ascii_lowercase() as char).and_then(Ty::from_letter);
    if body.bytes().all(|b| b.is_ascii_digit()) && ty.is_none() {
        let help =
            "an integer is below 2^64; larger numbers exist in the types `l` and `f` only: write a point or exponent";
        let value = integer(body, 10).ok_or(bad)?.ok_or((codes::OVERFLOW, help))?;
        return Ok(if suffix.is_some() { Tok::Raw(value) } else { Tok::Int(value) });
    }
    if suffix.is_some() && ty.is_none() {
        return Err((codes::NUMBER, "a raw word is an integer, such as `0xffw`"));
    }
    if is_decimal(body) { Ok(Tok::Real(names.intern(body), ty)) } else { Err(bad) }
}

fn split_suffix<'a>(text: &'a str, letters: &[u8]) -> (&'a str, Option<u8>) {
    match text.as_bytes() {
        [.., last] if letters.contains(last) => (text.get(..text.len() - 1).unwrap_or(""), Some(*last)),
        _ => (text, None),
    }
}

/// The integer; `Some(None)` if it is too large, `None` if the digits are not an integer.
fn integer(digits: &str, radix: u32) -> Option<Option<u64>> {
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let next = |n: u64, b: u8| {
        let digit = (b as char).to_digit(radix)?;
        n.checked_mul(u64::from(radix))?.checked_add(u64::from(digit))
    };
    Some(digits.bytes().try_fold(0, next))
}

/// Whether the text is digits with an optional point and exponent.
fn is_decimal(text: &str) -> bool {
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let (mantissa, power) = match text.split_once(['e', 'E']) {
        Some((mantissa, power)) => (mantissa, Some(power.strip_prefix(['+', '-']).unwrap_or(power))),
        None => (text, None),
    };
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = power.is_none_or(|p| !p.is_empty() && digits(p));
    exponent && integer.len() + fraction.len() > 0 && digits(integer) && digits(fraction)
}

/// The end of the quoted text that begins at `start`, or of the line; and whether the quotes are closed.
pub(crate) fn quote_end(text: &str, start: usize) -> (usize, bool) {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    while let Some(&b) = bytes.get(at) {
        match b {
            b'\n' => return (at, false),
            b'\\' if bytes.get(at + 1).is_some_and(|b| *b != b'\n') => at += 2,
            _ if Some(&b) == bytes.get(start) => return (at + 1, true),
            _ => at += 1,
        }
    }
    (bytes.len(), false)
}

/// Reads a text in `"` or a character in `'`. Returns the token and its end.
pub(crate) fn quoted(text: &str, start: usize, names: &mut Interner, errors: &mut Vec<LexError>) -> (Tok, usize) {
    let (end, closed) = quote_end(text, start);
    let character = text.as_bytes().get(start) == Some(&b'\'');
    let before = errors.len();
    let mut error = |range: Range<usize>, message: String, help| {
        errors.push(LexError { range, code: codes::QUOTES, message, help });
    };
    if !closed {
        let range = start..start + text.get(start..end).unwrap_or("").trim_end().len();
        if character {
            let help = "a character is written `'a'`; texts are in double quotes";
            error(range, "this character has no closing quote".to_string(), help);
        } else {
            let help = "end it with `\"` on the same line; a line break is `\\n`";
            error(range, "this text has no closing quote".to_string(), help);
        }
        return (Tok::Error, end);
    }
    let inside = text.get(start + 1..end - 1).unwrap_or("");
    let mut content = String::new();
    let mut chars = inside.char_indices();
    while let Some((at, c)) = chars.next() {
        if c != '\\' {
            content.push(c);
        } else if let Some(c) = escape(&mut chars) {
            content.push(c);
        } else {
            let range = start + 1 + at..end - 1 - chars.as_str().len();
            // The backslash remains single.
            let rest = text.get(range.start + 1..range.end).unwrap_or("").escape_debug();
            let message = format!("`\\{rest}` is not an escape");
            error(range, message, r#"the escapes are \n \t \r \0 \\ \' \" \x41 \u{1F980}"#);
        }
    }
    let mut chars = content.chars();
    let one = chars.next().filter(|_| chars.next().is_none());
    if character && one.is_none() && errors.len() == before {
        let message = "one character stands between single quotes".to_string();
        errors.push(LexError { range: start..end, code: codes::QUOTES, message, help: "texts are in double quotes" });
    }
    let tok = match one {
        _ if errors.len() > before => Tok::Error,
        Some(c) if character => Tok::Int(u64::from(u32::from(c))),
        _ => Tok::Text(names.intern(&content)),
    };
    (tok, end)
}

/// The character that an escape sequence stands for; `None` if it is not one.
fn escape(chars: &mut std::str::CharIndices<'_>) -> Option<char> {
    Some(match chars.next()?.1 {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        '0' => '\0',
        '\\' => '\\',
        '\'' => '\'',
        '"' => '"',
        'x' => {
            let mut code = 0;
            for _ in 0..2 {
                code = code * 16 + chars.next()?.1.to_digit(16)?;
            }
            char::from_u32(code)?
        }
        'u' => {
            if chars.next()?.1 != '{' {
                return None;
            }
            let mut code = None;
            loop {
                match chars.next()?.1 {
                    '}' => break,
                    c => {
                        let next = code.unwrap_or(0u32).checked_mul(16)?.checked_add(c.to_digit(16)?)?;
                        code = Some(next);
                    }
                }
            }
            char::from_u32(code?)?
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer;

    fn one(text: &str) -> (Tok, Interner, Vec<LexError>) {
        let (mut names, mut out, mut errors) = (Interner::new(), Vec::new(), Vec::new());
        lexer::line(text, 0, &mut names, &mut out, &mut errors);
        assert_eq!(out.len(), 2, "{text} {out:?}");
        (out[0].tok, names, errors)
    }

    #[test]
    fn integers() {
        for (text, value) in [
            ("0", 0),
            ("18446744073709551615", u64::MAX),
            ("0xFFFF_FFFF_FFFF_FFFF", u64::MAX),
            ("0x1e", 30),
            ("0b101", 5),
            ("0o17", 15),
            ("0123", 123),
            ("'a'", 97),
            ("'\\n'", 10),
            ("'\\''", 39),
            ("'\\x41'", 65),
            ("'\\u{1F980}'", 0x1f980),
            ("'ß'", 0xdf),
        ] {
            assert_eq!(one(text).0, Tok::Int(value), "{text}");
        }
        assert_eq!(one("0x7ff8000000000001w").0, Tok::Raw(0x7ff8_0000_0000_0001));
        assert_eq!(one("7w").0, Tok::Raw(7));
    }

    #[test]
    fn reals() {
        for (text, digits, ty) in [
            ("1.5", "1.5", None),
            ("1e-3", "1e-3", None),
            ("1_0.2_5E+2q", "10.25E+2", Some(Ty::Q)),
            ("2l", "2", Some(Ty::L)),
            (".5f", ".5", Some(Ty::F)),
            ("1.", "1.", None),
        ] {
            let (tok, names, _) = one(text);
            assert_eq!(tok, Tok::Real(names.find(digits).unwrap(), ty), "{text}");
        }
    }

    #[test]
    fn what_is_no_literal() {
        for (text, code) in [
            ("12ab", codes::NUMBER),
            ("0x", codes::NUMBER),
            ("0b12", codes::NUMBER),
            ("1.2.3", codes::NUMBER),
            ("1e", codes::NUMBER),
            ("1.5w", codes::NUMBER),
            ("18446744073709551616", codes::OVERFLOW),
            ("0x10000000000000000w", codes::OVERFLOW),
            ("\"abc", codes::QUOTES),
            ("'a", codes::QUOTES),
            ("''", codes::QUOTES),
            ("'ab'", codes::QUOTES),
            ("\"\\q\"", codes::QUOTES),
            ("\"\\u{110000}\"", codes::QUOTES),
            ("\"\\u{}\"", codes::QUOTES),
            ("\"\\", codes::QUOTES),
        ] {
            let (tok, _, errors) = one(text);
            assert_eq!(tok, Tok::Error, "{text}");
            assert_eq!(errors[0].code, code, "{text}");
        }
    }

    #[test]
    fn texts() {
        let (tok, names, _) = one(r#""a; b # \"c\" \u{e9}""#);
        assert_eq!(tok, Tok::Text(names.find("a; b # \"c\" é").unwrap()));
    }
}
