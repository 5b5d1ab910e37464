//! A line of PISA as words, and words as numbers.

use crate::diagnostic::Place;

/// What stands between blanks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    /// Where it begins in the file, in bytes.
    pub(super) at: usize,
}

impl Word<'_> {
    pub(super) fn place(&self, file: u16) -> Place {
        Place { file, span: self.at..self.at + self.text.len() }
    }
}

/// A line without its comment.
pub(super) struct Line<'a> {
    pub(super) words: Vec<Word<'a>>,
}

impl<'a> Line<'a> {
    /// The words of a line that begins at this byte of the file. Commas separate operands as blanks do.
    pub(super) fn of(text: &'a str, begin: usize) -> Line<'a> {
        let text = text.split(';').next().unwrap_or("");
        let mut words = Vec::new();
        let mut rest = text;
        while let Some(start) = rest.find(|c: char| !is_blank(c)) {
            let from = &rest[start..];
            let end = from.find(is_blank).unwrap_or(from.len());
            let word = &from[..end];
            words.push(Word { text: word, at: begin + (text.len() - from.len()) });
            rest = &from[end..];
        }
        Line { words }
    }
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == ','
}

/// Why a word is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoNumber {
    /// It may be a name.
    Name,
    /// It begins as a number does.
    Malformed,
    /// It has more than 32 bits.
    Wide,
}

/// A number as C writes it, as a sign-extended word of 32 bits; with `lenient`, what follows the digits is passed over.
pub(super) fn number(text: &str, lenient: bool) -> Result<i64, NoNumber> {
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        let like_one = digits.is_empty() || digits.starts_with(['+', '-', '$', '.']);
        return Err(if like_one && !lenient { NoNumber::Malformed } else { NoNumber::Name });
    }
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    // `0x` alone is a 0 followed by an `x`.
    let (valid, rest) = digits.split_at(end);
    if !lenient && (!rest.is_empty() || valid.is_empty()) {
        return Err(NoNumber::Malformed);
    }
    let mut value: i64 = 0;
    for digit in valid.chars().filter_map(|c| c.to_digit(radix)) {
        value = value.saturating_mul(i64::from(radix)).saturating_add(i64::from(digit));
    }
    let value = if negative { -value } else { value };
    if !(i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(&value) {
        return Err(NoNumber::Wide);
    }
    Ok(i64::from(value as i32))
}
