//! Parsers of tokens. Each skips the whitespace and comments before its token.

use nom::branch::alt;
use nom::bytes::complete::{is_not, tag, take_till, take_while, take_while1};
use nom::character::complete::{char, one_of, satisfy};
use nom::combinator::{cut, map, map_opt, opt, recognize, value, verify};
use nom::error::{ErrorKind, ParseError};
use nom::multi::{fold_many0, many0_count};
use nom::sequence::{delimited, preceded};
use nom::{Err, IResult, Parser};
use pendula_isa::budget::Exceeded;

use super::{TextError, WORDS};

/// The result of a parser.
pub(super) type Parsed<'t, T> = IResult<&'t str, T, Failure<'t>>;

/// The reason why a parser rejects a text.
#[derive(Debug)]
pub(super) struct Failure<'t> {
    /// The text from the error on.
    at: &'t str,
    reason: Reason,
}

#[derive(Debug)]
enum Reason {
    /// Something is expected that is not there.
    Expected(&'static str),
    /// This punctuation or word of the grammar is expected.
    ExpectedToken(&'static str),
    /// Another message.
    Message(String),
    /// The budget is spent.
    Exceeded(Box<Exceeded>),
}

impl<'t> Failure<'t> {
    /// Something is expected here that is not here. Other alternatives may be tried.
    pub(super) fn expected(at: &'t str, what: &'static str) -> Err<Failure<'t>> {
        Err::Error(Failure { at, reason: Reason::Expected(what) })
    }

    /// The text here is wrong. No other alternatives are tried.
    pub(super) fn message(at: &'t str, message: impl Into<String>) -> Err<Failure<'t>> {
        Err::Failure(Failure { at, reason: Reason::Message(message.into()) })
    }

    /// The budget is spent here. No other alternatives are tried.
    pub(super) fn exceeded(at: &'t str, exceeded: Exceeded) -> Err<Failure<'t>> {
        Err::Failure(Failure { at, reason: Reason::Exceeded(Box::new(exceeded)) })
    }

    /// The error, with its line and column in the whole text.
    pub(super) fn in_text(self, text: &str) -> TextError {
        let before = &text[..text.len() - self.at.len()];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = u32::try_from(before.matches('\n').count()).unwrap_or(u32::MAX).saturating_add(1);
        let column = u32::try_from(before[line_start..].chars().count()).unwrap_or(u32::MAX).saturating_add(1);
        let (message, exceeded) = match self.reason {
            Reason::Expected(what) => (format!("{what} is expected here"), None),
            Reason::ExpectedToken(token) => (format!("`{token}` is expected here"), None),
            Reason::Message(message) => (message, None),
            Reason::Exceeded(exceeded) => (exceeded.to_string(), Some(exceeded)),
        };
        TextError { line, column, message, exceeded }
    }
}

impl<'t> ParseError<&'t str> for Failure<'t> {
    /// An error of a parser of nom itself. Parsers of tokens replace it by what they expect.
    fn from_error_kind(at: &'t str, _: ErrorKind) -> Failure<'t> {
        Failure { at, reason: Reason::Expected("something else") }
    }

    fn append(_: &'t str, _: ErrorKind, other: Failure<'t>) -> Failure<'t> {
        other
    }

    /// Of two alternatives, the one that got further determines the error.
    fn or(self, other: Failure<'t>) -> Failure<'t> {
        if self.at.len() < other.at.len() { self } else { other }
    }
}

/// Whitespace and comments.
pub(super) fn skip(input: &str) -> Parsed<'_, ()> {
    let comment = recognize((char(';'), take_till(|c| c == '\n')));
    value((), many0_count(alt((take_while1(char::is_whitespace), comment)))).parse(input)
}

/// A token after whitespace and comments. If it does not match, `reason` is the error.
fn token<'t, T>(
    mut parser: impl Parser<&'t str, Output = T, Error = Failure<'t>>,
    reason: Reason,
    input: &'t str,
) -> Parsed<'t, T> {
    let (at, ()) = skip(input)?;
    parser.parse(at).map_err(|error| match error {
        Err::Error(_) => Err::Error(Failure { at, reason }),
        Err::Failure(_) | Err::Incomplete(_) => error,
    })
}

/// Punctuation.
pub(super) fn symbol<'t>(text: &'static str) -> impl Parser<&'t str, Output = (), Error = Failure<'t>> {
    move |input| token(value((), tag(text)), Reason::ExpectedToken(text), input)
}

/// One of several kinds of punctuation, each with its meaning; the first that matches counts.
pub(super) fn one_of_symbols<'t, T: Copy>(
    symbols: &'static [(&'static str, T)],
    what: &'static str,
) -> impl Parser<&'t str, Output = T, Error = Failure<'t>> {
    move |input| {
        let (at, ()) = skip(input)?;
        let found = symbols.iter().find_map(|(text, meaning)| Some((at.strip_prefix(*text)?, *meaning)));
        found.ok_or_else(|| Failure::expected(at, what))
    }
}

fn bare_word(input: &str) -> Parsed<'_, &str> {
    let first = satisfy(|c| c.is_alphabetic() || c == '_');
    recognize((first, take_while(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.')))).parse(input)
}

/// A word: one of the grammar, a name, or the name of a function or comparison.
pub(super) fn word<'t>(what: &'static str) -> impl Parser<&'t str, Output = &'t str, Error = Failure<'t>> {
    move |input| token(bare_word, Reason::Expected(what), input)
}

/// A word of the grammar.
pub(super) fn keyword<'t>(text: &'static str) -> impl Parser<&'t str, Output = (), Error = Failure<'t>> {
    move |input| token(value((), verify(bare_word, |word: &str| word == text)), Reason::ExpectedToken(text), input)
}

/// Accepts an optional word of the grammar. Returns whether it is there.
pub(super) fn flag<'t>(text: &'static str) -> impl Parser<&'t str, Output = bool, Error = Failure<'t>> {
    map(opt(keyword(text)), |found| found.is_some())
}

/// Accepts optional punctuation. Returns whether it is there.
pub(super) fn symbol_flag<'t>(text: &'static str) -> impl Parser<&'t str, Output = bool, Error = Failure<'t>> {
    map(opt(symbol(text)), |found| found.is_some())
}

/// A name: a word that is not one of the grammar's, or any text in quotes.
pub(super) fn name(input: &str) -> Parsed<'_, String> {
    let plain = map(verify(bare_word, |word: &str| !WORDS.contains(&word)), str::to_owned);
    token(alt((plain, in_quotes)), Reason::Expected("a name"), input)
}

/// A text in quotes.
pub(super) fn quoted(input: &str) -> Parsed<'_, String> {
    token(in_quotes, Reason::Expected("a text in quotes"), input)
}

fn in_quotes(input: &str) -> Parsed<'_, String> {
    enum Part<'t> {
        Plain(&'t str),
        Escaped(char),
    }
    let part = alt((map(is_not("\"\\"), Part::Plain), map(preceded(char('\\'), escape), Part::Escaped)));
    let (input, _) = char('"').parse(input)?;
    let (input, text) = fold_many0(part, String::new, |mut text, part| {
        match part {
            Part::Plain(plain) => text.push_str(plain),
            Part::Escaped(c) => text.push(c),
        }
        text
    })
    .parse(input)?;
    let (input, _) =
        char('"').parse(input).map_err(|_: Err<Failure<'_>>| Failure::message(input, "a text that does not end"))?;
    Ok((input, text))
}

/// The part of an escape after the backslash.
fn escape(input: &str) -> Parsed<'_, char> {
    let code = map_opt(take_till(|c| c == '}'), |digits| char::from_u32(u32::from_str_radix(digits, 16).ok()?));
    let unicode = preceded(char('u'), cut(delimited(char('{'), code, char('}'))));
    let simple = map_opt(satisfy(|_| true), |c| {
        Some(match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '0' => '\0',
            '"' | '\\' => c,
            _ => return None,
        })
    });
    let found: Parsed<'_, char> = alt((unicode, simple)).parse(input);
    found.map_err(|error| match error {
        Err::Error(_) => Failure::message(input, "no such escape"),
        Err::Failure(_) | Err::Incomplete(_) => Failure::message(input, "no such character"),
    })
}

/// The text of a number of any type, which begins with a digit or a minus sign.
pub(super) fn number<'t>(what: &'static str) -> impl Parser<&'t str, Output = &'t str, Error = Failure<'t>> {
    fn is_part(c: char) -> bool {
        c.is_ascii_alphanumeric() || c == '.'
    }
    move |input| {
        let raw = recognize((tag("0x"), take_while(is_part)));
        let exponent = recognize((one_of("eE"), one_of("+-")));
        let part = alt((exponent, recognize(satisfy(is_part))));
        let decimal = recognize((opt(char('-')), satisfy(|c| c.is_ascii_digit()), many0_count(part)));
        token(alt((raw, decimal)), Reason::Expected(what), input)
    }
}

/// A whole number in the range of its type.
pub(super) fn integer<T: std::str::FromStr>(input: &str) -> Parsed<'_, T> {
    let (rest, digits) = number("a number").parse(input)?;
    let n = digits.parse().map_err(|_| Failure::message(here(input), "a whole number in range is expected here"))?;
    Ok((rest, n))
}

/// The text from its next token on.
pub(super) fn here(input: &str) -> &str {
    skip(input).map_or(input, |(at, ())| at)
}
