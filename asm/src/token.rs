//! Tokens, and the characters that they begin with.

use std::ops::Range;

use pendula_isa::Ty;
use pendula_isa::text::in_names;

use crate::ast::Binary;
use crate::intern::Sym;

/// The kind and value of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tok {
    Name(Sym),
    Int(u64),
    /// A number with a fraction, an exponent or a type: its digits without separators and suffix.
    Real(Sym, Option<Ty>),
    /// `0x…w`
    Raw(u64),
    Text(Sym),
    Colon,
    Comma,
    Open,
    Close,
    OpenParen,
    CloseParen,
    Equals,
    Tilde,
    Operator(Binary),
    /// `\name` or `\@`, which is replaced in macros and has no meaning elsewhere.
    Parameter,
    /// Text for which an error was added to the list.
    Error,
    /// The end of the line, after the last token.
    End,
}

/// A token and its place in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) start: u32,
    pub(crate) len: u32,
    pub(crate) tok: Tok,
}

impl Token {
    pub(crate) fn range(&self) -> Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }

    pub(crate) fn end(&self) -> u32 {
        self.start + self.len
    }
}

/// Text that is not a token.
#[derive(Clone, Debug)]
pub(crate) struct LexError {
    pub(crate) range: Range<usize>,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) help: &'static str,
}

/// What a byte can begin.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Other,
    Space,
    Newline,
    Comment,
    Word,
    Dot,
    Digit,
    Punctuation,
    Quote,
    Backslash,
    Wide,
}

const fn classes() -> [Class; 256] {
    let mut table = [Class::Other; 256];
    let mut b = 0;
    while b < 256 {
        table[b] = match b as u8 {
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => Class::Space,
            b'\n' => Class::Newline,
            b';' | b'#' => Class::Comment,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => Class::Word,
            b'.' => Class::Dot,
            b'0'..=b'9' => Class::Digit,
            b':' | b',' | b'[' | b']' | b'(' | b')' | b'=' | b'~' => Class::Punctuation,
            b'*' | b'/' | b'%' | b'+' | b'-' | b'<' | b'>' | b'&' | b'^' | b'|' => Class::Punctuation,
            b'"' | b'\'' => Class::Quote,
            b'\\' => Class::Backslash,
            0x80.. => Class::Wide,
            _ => Class::Other,
        };
        b += 1;
    }
    table
}

/// What each byte can begin.
pub(crate) static CLASS: [Class; 256] = classes();

/// The end of the name that begins at `at`.
pub(crate) fn name_end(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    while let Some(&b) = bytes.get(at) {
        match CLASS[b as usize] {
            Class::Word | Class::Dot | Class::Digit => at += 1,
            // As in names of what a function changes: `y!`.
            Class::Other if b == b'!' => at += 1,
            Class::Wide => match text.get(at..).and_then(|rest| rest.chars().next()) {
                Some(c) if in_names(c) => at += c.len_utf8(),
                _ => break,
            },
            _ => break,
        }
    }
    at
}
