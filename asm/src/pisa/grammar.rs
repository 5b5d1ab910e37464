//! The grammar of PISA: lines with labels, mnemonics and operands; words as registers and numbers.

use nom::branch::alt;
use nom::bytes::complete::{take_while, take_while1};
use nom::character::complete::{anychar, char, digit1, hex_digit0, oct_digit0, one_of, u64};
use nom::combinator::{all_consuming, eof, map, map_opt, opt, peek, recognize, verify};
use nom::multi::many0;
use nom::sequence::{preceded, terminated};
use nom::{IResult, Input, Offset, Parser};

use crate::diagnostic::Place;

/// The result of a parser, with the rest of the input. Errors carry nothing: the reader words them itself.
type Parsed<'a, T> = IResult<&'a str, T, ()>;

/// A stretch of text between blanks.
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
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Where it begins in the file, in bytes.
    pub(super) start: usize,
    /// The name of the label, and the word with the colon.
    pub(super) label: Option<(&'a str, Word<'a>)>,
    /// The mnemonic or directive.
    pub(super) mnemonic: Option<Word<'a>>,
    pub(super) operands: Vec<Word<'a>>,
}

/// Commas separate operands as blanks do.
fn is_blank(c: char) -> bool {
    c != '\n' && (c.is_whitespace() || c == ',')
}

fn blank(input: &str) -> Parsed<'_, &str> {
    take_while(is_blank).parse(input)
}

/// A comment, up to the end of the line. A search for one byte is faster than a parser of characters.
fn comment(input: &str) -> Parsed<'_, &str> {
    let (rest, _) = char(';').parse(input)?;
    Ok(rest.take_split(rest.find('\n').unwrap_or(rest.len())))
}

/// A word. `text` is the whole file, of which the input is the rest.
fn word<'a>(text: &'a str) -> impl Fn(&'a str) -> Parsed<'a, Word<'a>> {
    move |input| {
        let word = take_while1(|c| c != '\n' && c != ';' && !is_blank(c));
        map(word, |word: &str| Word { text: word, at: text.offset(word) }).parse(input)
    }
}

/// The line that the input begins with, including its end. `text` is the whole file, of which the input is the rest.
/// The parser never fails.
///
/// ```text
/// line      = blank [label blank] [statement] blank [";" comment] ["\n"]
/// label     = word that ends in ":"
/// statement = word {blank word}
/// ```
pub(super) fn line<'a>(text: &'a str, input: &'a str) -> Parsed<'a, Line<'a>> {
    let label = map_opt(word(text), |word| Some((word.text.strip_suffix(':')?, word)));
    let statement = (word(text), many0(preceded(blank, word(text))));
    let (rest, (label, statement)) = preceded(blank, (opt(terminated(label, blank)), opt(statement))).parse(input)?;
    let (rest, _) = (blank, opt(comment), opt(char('\n'))).parse(rest)?;
    let (mnemonic, operands) = statement.map_or((None, Vec::new()), |(word, operands)| (Some(word), operands));
    Ok((rest, Line { start: text.offset(input), label, mnemonic, operands }))
}

/// The number of a register, `$0` to `$31`; `None` if the word is not one.
pub(super) fn register(word: &str) -> Option<u64> {
    let number = verify(preceded(char('$'), u64), |number| *number < 32);
    let result: Parsed<'_, u64> = all_consuming(number).parse(word);
    result.ok().map(|(_, number)| number)
}

/// Why a word is not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberError {
    /// It may be a name.
    Name,
    /// It begins as a number does.
    Malformed,
    /// It has more than 32 bits.
    TooWide,
}

/// The radix and the digits of a number as C writes it. `0x` may have no digits.
fn digits(input: &str) -> Parsed<'_, (u32, &str)> {
    let hexadecimal = map(preceded((char('0'), one_of("xX")), hex_digit0), |digits| (16, digits));
    let octal = map(preceded((char('0'), peek(anychar)), oct_digit0), |digits| (8, digits));
    let decimal = map(digit1, |digits| (10, digits));
    alt((hexadecimal, octal, decimal)).parse(input)
}

/// The beginning of a word that resembles a number more than a name, although it is neither.
fn like_number(input: &str) -> Parsed<'_, &str> {
    preceded(opt(one_of("+-")), alt((eof, recognize(one_of("+-$."))))).parse(input)
}

/// A number as C writes it, as a sign-extended word of 32 bits. With `lenient`, anything may follow the digits.
pub(super) fn number(word: &str, lenient: bool) -> Result<i64, NumberError> {
    let literal: Parsed<'_, (Option<char>, (u32, &str))> = (opt(one_of("+-")), digits).parse(word);
    let Ok((rest, (sign, (radix, digits)))) = literal else {
        let malformed = !lenient && like_number(word).is_ok();
        return Err(if malformed { NumberError::Malformed } else { NumberError::Name });
    };
    if !lenient && (!rest.is_empty() || digits.is_empty()) {
        return Err(NumberError::Malformed);
    }
    let magnitude = match digits {
        "" => 0,
        _ => i64::from_str_radix(digits, radix).map_err(|_| NumberError::TooWide)?,
    };
    let value = if sign == Some('-') { -magnitude } else { magnitude };
    if !(i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(&value) {
        return Err(NumberError::TooWide);
    }
    Ok(i64::from(value as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The label, the mnemonic and the operands of a line, as they are written.
    fn parts(line: &Line<'_>) -> Vec<String> {
        let label = line.label.map(|(name, _)| format!("label {name}"));
        let words = line.mnemonic.iter().chain(&line.operands).map(|word| word.text.to_string());
        label.into_iter().chain(words).collect()
    }

    #[test]
    fn lines_and_their_places() {
        let text = "top: ADDI $1,-5 ; one; two\r\n\n\u{a0}é:\n ; none\nSUB $1\t, $2;x\nEXCH a: b";
        let expected: [(usize, &[&str]); 6] = [
            (0, &["label top", "ADDI", "$1", "-5"]),
            (28, &[]),
            (29, &["label é"]),
            (35, &[]),
            (43, &["SUB", "$1", "$2"]),
            (57, &["EXCH", "a:", "b"]),
        ];
        let mut rest = text;
        for (start, words) in expected {
            let (next, line) = line(text, rest).unwrap();
            assert_eq!((line.start, parts(&line)), (start, words.iter().map(|w| (*w).to_string()).collect()));
            for word in line.mnemonic.iter().chain(&line.operands).chain(line.label.iter().map(|(_, word)| word)) {
                assert_eq!(&text[word.at..word.at + word.text.len()], word.text);
            }
            rest = next;
        }
        assert_eq!(rest, "");
    }

    #[test]
    fn numbers_as_in_c() {
        for (word, value) in [
            ("0", Ok(0)),
            ("-10", Ok(-10)),
            ("+010", Ok(8)),
            ("0xFf", Ok(255)),
            ("4294967295", Ok(-1)),
            ("-2147483648", Ok(-2_147_483_648)),
            ("4294967296", Err(NumberError::TooWide)),
            ("99999999999999999999", Err(NumberError::TooWide)),
            ("08", Err(NumberError::Malformed)),
            ("0x", Err(NumberError::Malformed)),
            ("1é", Err(NumberError::Malformed)),
            ("--1", Err(NumberError::Malformed)),
            ("-", Err(NumberError::Malformed)),
            ("$1", Err(NumberError::Malformed)),
            ("-x", Err(NumberError::Name)),
            ("x1", Err(NumberError::Name)),
        ] {
            assert_eq!(number(word, false), value, "{word}");
        }
        for (word, value) in [("0x", 0), ("08", 0), ("12px", 12), ("-0x1g", -1)] {
            assert_eq!(number(word, true), Ok(value), "{word}");
        }
        assert_eq!(number("$1", true), Err(NumberError::Name));
    }

    #[test]
    fn registers() {
        for (word, number) in
            [("$0", Some(0)), ("$031", Some(31)), ("$32", None), ("$", None), ("$-1", None), ("$1x", None)]
        {
            assert_eq!(register(word), number, "{word}");
        }
    }
}
