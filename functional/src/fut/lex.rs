//! Tokens of Futhark's notation, read with `nom`.

use std::rc::Rc;

use nom::Parser as _;
use nom::branch::alt;
use nom::bytes::complete::{tag, take_while, take_while1};
use nom::character::complete::{char, one_of, satisfy};
use nom::combinator::{not, opt, recognize};
use nom::sequence::{delimited, pair, preceded};

use pendula_isa::diagnostic::{Diagnostic, Place};

use super::types::Prim;
use crate::errors;

/// A name, shared.
pub(super) type Name = Rc<str>;

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tok {
    /// A name, or `_`.
    Name(Name),
    /// A word with a meaning of its own.
    Word(&'static str),
    /// A whole number, with its type's name if that is written.
    Int(u128, Option<Prim>),
    /// A number with a fraction or an exponent.
    Float(f64, Option<Prim>),
    /// A run of operator characters.
    Op(Name),
    /// `#name`.
    Constr(Name),
    /// `"text"`, as the name of a file.
    Text(Name),
    /// Brackets, commas and the like.
    Mark(&'static str),
    /// A dot right behind what it belongs to: a field, a member of a module, a local opening.
    Dot,
    /// The end.
    End,
}

/// A token with its place.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) tok: Tok,
    /// Offsets into the text.
    pub(super) from: usize,
    pub(super) to: usize,
    /// Whether it stands right behind the token before it.
    pub(super) close: bool,
}

/// Words that cannot be names.
const WORDS: [&str; 25] = [
    "true", "false", "if", "then", "else", "def", "let", "loop", "in", "val", "for", "do", "with", "local", "open",
    "include", "import", "type", "entry", "module", "while", "assert", "match", "case", "_",
];

/// Marks, longer ones first.
const MARKS: [&str; 22] = [
    "???", "...", "..<", "..>", "..", "#[", ":>", "(", ")", "[", "]", "{", "}", ",", ":", "\\", "`", "'", "?", "~",
    ";", "@",
];

type Parsed<'t, T> = nom::IResult<&'t str, T>;

fn is_operator(c: char) -> bool {
    "+-*/%=!><|&^".contains(c)
}

fn is_inside_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '\''
}

/// A name: a letter or `_` first.
fn name(text: &str) -> Parsed<'_, &str> {
    recognize(pair(satisfy(|c| c.is_ascii_alphabetic() || c == '_'), take_while(is_inside_name))).parse(text)
}

/// A run of digits, with `_` between them.
fn digits(text: &str) -> Parsed<'_, &str> {
    recognize(pair(satisfy(|c| c.is_ascii_digit()), take_while(|c: char| c.is_ascii_digit() || c == '_'))).parse(text)
}

fn exponent(text: &str) -> Parsed<'_, &str> {
    recognize((one_of("eE"), opt(one_of("+-")), digits)).parse(text)
}

/// `1.5`, `1e3`, `1.5e-3`; not `1..` and not `x.0`.
fn decimal_fraction(text: &str) -> Parsed<'_, &str> {
    alt((recognize((digits, char('.'), digits, opt(exponent))), recognize((digits, exponent)))).parse(text)
}

fn suffix(text: &str) -> Parsed<'_, Option<Prim>> {
    opt(nom::combinator::map_opt(
        nom::sequence::terminated(
            recognize(pair(one_of("iuf"), take_while1(|c: char| c.is_ascii_digit()))),
            not(satisfy(is_inside_name)),
        ),
        Prim::named,
    ))
    .parse(text)
}

/// `0x1.fp3`.
fn hexadecimal_fraction(text: &str) -> Parsed<'_, f64> {
    let hex = |c: char| c.is_ascii_hexdigit() || c == '_';
    let (rest, _) = alt((tag("0x"), tag("0X"))).parse(text)?;
    let (rest, (whole, part)) = (take_while1(hex), opt(preceded(char('.'), take_while1(hex)))).parse(rest)?;
    let (rest, (_, sign, power)) = (one_of("pP"), opt(one_of("+-")), digits).parse(rest)?;
    let mut value = 0.0;
    for c in whole.chars().filter(|c| *c != '_') {
        value = value * 16.0 + f64::from(c.to_digit(16).unwrap_or(0));
    }
    let mut scale = 1.0 / 16.0;
    for c in part.unwrap_or("").chars().filter(|c| *c != '_') {
        value += scale * f64::from(c.to_digit(16).unwrap_or(0));
        scale /= 16.0;
    }
    let power = power.replace('_', "").parse::<i32>().unwrap_or(i32::MAX).min(5000);
    let power = if sign == Some('-') { -power } else { power };
    Ok((rest, value * 2f64.powi(power)))
}

/// A whole number in base 2, 10 or 16; too large ones become the largest.
fn whole(text: &str) -> Parsed<'_, u128> {
    let based = |prefix: [&'static str; 2], base: u32| {
        nom::combinator::map(
            preceded(alt((tag(prefix[0]), tag(prefix[1]))), take_while1(move |c: char| c.is_digit(base) || c == '_')),
            move |d: &str| value_of(d, base),
        )
    };
    alt((based(["0x", "0X"], 16), based(["0b", "0B"], 2), nom::combinator::map(digits, |d| value_of(d, 10))))
        .parse(text)
}

fn value_of(digits: &str, base: u32) -> u128 {
    u128::from_str_radix(&digits.replace('_', ""), base).unwrap_or(u128::MAX)
}

fn number(text: &str) -> Parsed<'_, Tok> {
    if let Ok((rest, value)) = hexadecimal_fraction(text) {
        let (rest, suffix) = suffix(rest)?;
        return Ok((rest, Tok::Float(value, suffix)));
    }
    if let Ok((rest, found)) = decimal_fraction(text) {
        let (rest, suffix) = suffix(rest)?;
        return Ok((rest, Tok::Float(found.replace('_', "").parse().unwrap_or(f64::INFINITY), suffix)));
    }
    let (rest, value) = whole(text)?;
    let (rest, suffix) = suffix(rest)?;
    Ok((rest, Tok::Int(value, suffix)))
}

/// The next token; `close` tells whether one stands right before it.
fn token(text: &str, close: bool, after_dot: bool) -> Parsed<'_, Tok> {
    if after_dot && let Ok((rest, field)) = take_while1::<_, _, ()>(|c: char| c.is_ascii_digit())(text) {
        return Ok((rest, Tok::Int(value_of(field, 10), None)));
    }
    if let Ok((rest, word)) = name(text) {
        let tok = match WORDS.iter().find(|w| **w == word) {
            Some(word) => Tok::Word(word),
            None => Tok::Name(word.into()),
        };
        return Ok((rest, tok));
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return number(text);
    }
    if let Ok((rest, (_, name))) = (char::<_, ()>('#'), |t| name(t).map_err(|_| nom::Err::Error(()))).parse(text) {
        return Ok((rest, Tok::Constr(name.into())));
    }
    if let Ok((rest, text)) =
        delimited::<_, _, (), _, _, _>(char('"'), take_while(|c| c != '"' && c != '\n'), char('"')).parse(text)
    {
        return Ok((rest, Tok::Text(text.into())));
    }
    // `'c'`: the number of a character.
    if let Ok((rest, c)) =
        delimited::<_, _, (), _, _, _>(char('\''), satisfy(|c| !c.is_control()), char('\'')).parse(text)
    {
        return Ok((rest, Tok::Int(u128::from(u32::from(c)), None)));
    }
    if let Some(mark) = MARKS.iter().find(|m| text.starts_with(**m)) {
        return Ok((&text[mark.len()..], Tok::Mark(mark)));
    }
    if let Some(rest) = text.strip_prefix('.') {
        return Ok((rest, if close { Tok::Dot } else { Tok::Mark(".") }));
    }
    let (rest, run) = recognize(pair(satisfy(is_operator), take_while(|c| is_operator(c) || c == '.'))).parse(text)?;
    // `a..b` never begins with an operator, but `-1...` may end one: dots of a range stay out of the operator.
    let kept = run.trim_end_matches('.').len();
    let run = if run.len() - kept >= 2 { &run[..kept] } else { run };
    Ok((if run.len() == kept { &text[kept..] } else { rest }, Tok::Op(run.into())))
}

/// Skips blanks and comments.
fn blank(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(comment) = rest.strip_prefix("--") {
        rest = comment.find('\n').map_or("", |end| &comment[end..]).trim_start();
    }
    rest
}

/// Where a text first names a type of numbers, or gives a number that type.
pub(super) fn first_of(prim: Prim, tokens: &[Token]) -> Option<&Token> {
    let names = |tok: &Tok| match tok {
        Tok::Name(name) => **name == *prim.name(),
        Tok::Int(_, given) | Tok::Float(_, given) => *given == Some(prim),
        Tok::Word(_) | Tok::Op(_) | Tok::Constr(_) | Tok::Text(_) | Tok::Mark(_) | Tok::Dot | Tok::End => false,
    };
    tokens.iter().find(|token| names(&token.tok))
}

/// Reads the tokens of a file; the last is [`Tok::End`].
pub(super) fn tokens(file: u16, text: &str) -> Result<Vec<Token>, Box<Diagnostic>> {
    let (mut found, mut rest) = (Vec::new(), text);
    let (mut last, mut after_dot) = (0, false);
    loop {
        rest = blank(rest);
        let from = text.len() - rest.len();
        if rest.is_empty() {
            found.push(Token { tok: Tok::End, from, to: from, close: false });
            return Ok(found);
        }
        let close = from == last && from > 0;
        let (after, tok) = token(rest, close, after_dot && close).map_err(|_| {
            let c = rest.chars().next().unwrap_or(' ');
            Box::new(
                Diagnostic::error(errors::FUT_SYNTAX, format!("`{}` begins nothing in Futhark", c.escape_default()))
                    .at(Place { file, span: from..from + c.len_utf8() }, "not a token")
                    .help("remove it"),
            )
        })?;
        last = text.len() - after.len();
        after_dot = matches!(tok, Tok::Dot | Tok::Mark("."));
        found.push(Token { tok, from, to: last, close });
        rest = after;
    }
}
