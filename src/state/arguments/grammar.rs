//! The parts of the grammar of arguments: blanks, symbols, words, and text whose brackets match.

use nom::bytes::complete::take_while;
use nom::character::complete::char;
use nom::combinator::verify;
use nom::error::{ErrorKind, ParseError};
use nom::sequence::{delimited, preceded};
use nom::{Err, IResult, Parser};

use super::ArgumentError;

/// The result of a parser: the remaining text, and the parsed value.
pub(super) type Parsed<'t, T> = IResult<&'t str, T, ArgumentError>;

/// The message for text where no argument begins, or where none can end.
pub(super) const NO_ARGUMENT: &str = "it is not a number, array `[1,2]` or tuple `(1,2)`";

impl ParseError<&str> for ArgumentError {
    fn from_error_kind(text: &str, _: ErrorKind) -> ArgumentError {
        ArgumentError::new(piece(text, &[',']).0.trim(), NO_ARGUMENT)
    }

    fn append(_: &str, _: ErrorKind, other: ArgumentError) -> ArgumentError {
        other
    }
}

/// Continues after the parsed text with a computed value, or ends parsing with its error.
pub(super) fn decided<T>(rest: &str, made: Result<T, ArgumentError>) -> Parsed<'_, T> {
    made.map(|made| (rest, made)).map_err(Err::Failure)
}

/// Ends parsing with an error about a text.
pub(super) fn fail<T>(text: &str, why: impl Into<String>) -> Parsed<'_, T> {
    Err(Err::Failure(ArgumentError::new(text, why)))
}

/// The error of a parser that was given the complete text.
pub(super) fn error(e: Err<ArgumentError>) -> ArgumentError {
    match e {
        Err::Error(e) | Err::Failure(e) => e,
        Err::Incomplete(_) => ArgumentError::new("", NO_ARGUMENT),
    }
}

/// Optional blanks.
pub(super) fn blank(text: &str) -> Parsed<'_, &str> {
    take_while(char::is_whitespace).parse(text)
}

/// A character after optional blanks.
pub(super) fn symbol<'t>(c: char) -> impl Parser<&'t str, Output = char, Error = ArgumentError> {
    preceded(blank, char(c))
}

/// The next character after blanks.
pub(super) fn next(text: &str) -> Option<char> {
    text.trim_start().chars().next()
}

/// A word: text up to a blank, a bracket, a quote or punctuation.
pub(super) fn word(text: &str) -> Parsed<'_, &str> {
    take_while(|c: char| !(c.is_whitespace() || is_bracket(c) || matches!(c, ',' | ';' | ':' | '"'))).parse(text)
}

/// The name of a function or of a field.
pub(super) fn name(text: &str) -> Parsed<'_, &str> {
    verify(take_while(|c: char| c.is_alphanumeric() || c == '_'), |name: &str| name.starts_with(char::is_alphabetic))
        .parse(text)
}

/// A quoted text, without the quotes.
pub(super) fn quoted(text: &str) -> Parsed<'_, &str> {
    delimited(char('"'), take_while(|c| c != '"'), char('"')).parse(text)
}

/// The text within matching parentheses.
pub(super) fn parenthesized(text: &str) -> Parsed<'_, &str> {
    let (inner, _) = char('(').parse(text)?;
    let (found, _) = piece(inner, &[]);
    let (rest, _) = close(text, &inner[found.len()..], ')', "")?;
    Ok((rest, found))
}

/// The bracket that closes the one at the start of `text`; `or` says what else may be there.
pub(super) fn close<'t>(text: &'t str, rest: &'t str, bracket: char, or: &str) -> Parsed<'t, char> {
    match next(rest) {
        Some(c) if c == bracket => symbol(bracket).parse(rest),
        Some(_) => expected(text, rest, &format!("{or}`{bracket}`")),
        None => fail(text, format!("a bracket is not closed: {or}`{bracket}` is expected at its end")),
    }
}

/// The error for a text in which `what` is expected instead of `rest`.
pub(super) fn expected<'t, T>(text: &'t str, rest: &'t str, what: &str) -> Parsed<'t, T> {
    let (own, _) = piece(text, &[',']);
    match rest.trim_start() {
        "" => fail(own.trim(), format!("{what} is expected at its end")),
        rest if own.len() < text.len() - rest.len() => fail(text, format!("{what} is expected before `{rest}`")),
        rest if rest.starts_with([')', ']', '}']) => fail(text, "a bracket is closed that was not opened"),
        rest => fail(own.trim(), format!("{what} is expected before `{}`", piece(rest, &[',']).0.trim_end())),
    }
}

/// The beginning of a text up to one of these characters or to a bracket that it does not open, and the number of
/// brackets that it leaves open. Text within its own brackets is not searched.
pub(super) fn piece<'t>(text: &'t str, ends: &[char]) -> (&'t str, usize) {
    let mut depth = 0_usize;
    let is_end = |c: char| match c {
        '(' | '[' | '{' => {
            depth += 1;
            false
        }
        ')' | ']' | '}' if depth > 0 => {
            depth -= 1;
            false
        }
        ')' | ']' | '}' => true,
        c => depth == 0 && ends.contains(&c),
    };
    let end = text.find(is_end).unwrap_or(text.len());
    (&text[..end], depth)
}

fn is_bracket(c: char) -> bool {
    matches!(c, '(' | ')' | '[' | ']' | '{' | '}')
}
