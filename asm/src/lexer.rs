//! Splits source text into tokens, line by line.
//!
//! The lexer knows neither instructions nor directives. [`literal`] reads numbers and quoted texts. Errors are returned
//! as a list, so that the caller can say where the text came from.

use std::ops::Range;

use pendula_isa::text::in_names;

use crate::ast::Binary;
use crate::codes;
use crate::intern::Interner;
use crate::literal;
use crate::token::{CLASS, Class, LexError, Tok, Token, name_end};

/// The result of reading a line.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// The start of the next line; the length of the text or more after the last.
    pub(crate) next: usize,
    /// The comment, including its sign.
    pub(crate) comment: Option<Range<usize>>,
}

impl Line {
    /// Whether the comment has the form `#5` or `#-5`, which is a constant in other assemblers.
    pub(crate) fn hides_constant(&self, text: &str) -> bool {
        let comment = self.comment.clone().and_then(|range| text.get(range)).unwrap_or("");
        let constant = comment.strip_prefix('#').map_or("", |rest| rest.strip_prefix('-').unwrap_or(rest));
        constant.starts_with(|c: char| c.is_ascii_alphanumeric())
    }
}

/// The end of the line that contains `at`: its newline, or the end of the text.
pub(crate) fn line_end(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or(&[]);
    at + rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len())
}

/// Reads the line that begins at `at`. Its tokens, followed by an [`Tok::End`], replace those in `out`.
pub(crate) fn line(
    text: &str,
    at: usize,
    names: &mut Interner,
    out: &mut Vec<Token>,
    errors: &mut Vec<LexError>,
) -> Line {
    let bytes = text.as_bytes();
    let mut at = at;
    let mut comment = None;
    out.clear();
    let next = loop {
        let Some(&b) = bytes.get(at) else { break at };
        let start = at;
        let tok = match CLASS[b as usize] {
            Class::Space => {
                at += 1;
                continue;
            }
            Class::Newline => break at + 1,
            Class::Comment => {
                at = line_end(text, at);
                comment = Some(start..at);
                continue;
            }
            Class::Word => {
                at = name_end(text, at + 1);
                Tok::Name(names.intern(text.get(start..at).unwrap_or("")))
            }
            Class::Dot if !bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                at = name_end(text, at + 1);
                Tok::Name(names.intern(text.get(start..at).unwrap_or("")))
            }
            Class::Digit | Class::Dot => {
                at = literal::number_end(text, at);
                literal::number(text, start..at, names, errors)
            }
            Class::Punctuation => {
                let double = bytes.get(at + 1) == Some(&b);
                at += if double && matches!(b, b'<' | b'>') { 2 } else { 1 };
                match punctuation(b, double) {
                    Some(tok) => tok,
                    None => {
                        let help = "shifts are `<<` and `>>`; conditions are part of the mnemonic, as in `jmp.lt`";
                        unexpected(text, start..at, help, errors)
                    }
                }
            }
            Class::Quote => {
                let (tok, end) = literal::quoted(text, at, names, errors);
                at = end;
                tok
            }
            Class::Backslash => {
                at = if bytes.get(at + 1) == Some(&b'@') { at + 2 } else { name_end(text, at + 1) };
                Tok::Parameter
            }
            Class::Wide | Class::Other => match text.get(at..).and_then(|rest| rest.chars().next()) {
                Some(c) if in_names(c) => {
                    at = name_end(text, at);
                    Tok::Name(names.intern(text.get(start..at).unwrap_or("")))
                }
                // The byte order mark that some editors write.
                Some('\u{feff}') if at == 0 => {
                    at += '\u{feff}'.len_utf8();
                    continue;
                }
                c => {
                    at += c.map_or(1, char::len_utf8);
                    let help = "names consist of letters, digits, `_`, `.` and `$`; comments begin with `;`";
                    unexpected(text, start..at, help, errors)
                }
            },
        };
        out.push(Token { start: start as u32, len: (at - start) as u32, tok });
    };
    let end = out.last().map_or(comment.as_ref().map_or(at, |c| c.start) as u32, Token::end);
    out.push(Token { start: end, len: 0, tok: Tok::End });
    Line { next, comment }
}

fn punctuation(b: u8, double: bool) -> Option<Tok> {
    Some(match b {
        b':' => Tok::Colon,
        b',' => Tok::Comma,
        b'[' => Tok::Open,
        b']' => Tok::Close,
        b'(' => Tok::OpenParen,
        b')' => Tok::CloseParen,
        b'=' => Tok::Equals,
        b'~' => Tok::Tilde,
        b'*' => Tok::Operator(Binary::Mul),
        b'/' => Tok::Operator(Binary::Div),
        b'%' => Tok::Operator(Binary::Rem),
        b'+' => Tok::Operator(Binary::Add),
        b'-' => Tok::Operator(Binary::Sub),
        b'&' => Tok::Operator(Binary::And),
        b'^' => Tok::Operator(Binary::Xor),
        b'|' => Tok::Operator(Binary::Or),
        b'<' if double => Tok::Operator(Binary::Shl),
        b'>' if double => Tok::Operator(Binary::Shr),
        _ => return None,
    })
}

fn unexpected(text: &str, range: Range<usize>, help: &'static str, errors: &mut Vec<LexError>) -> Tok {
    let shown = text.get(range.clone()).unwrap_or("").escape_debug();
    let message = format!("`{shown}` means nothing here");
    errors.push(LexError { range, code: codes::CHARACTER, message, help });
    Tok::Error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toks(text: &str) -> (Vec<Tok>, Interner, Vec<LexError>) {
        let (mut names, mut out, mut errors) = (Interner::new(), Vec::new(), Vec::new());
        line(text, 0, &mut names, &mut out, &mut errors);
        (out.iter().map(|t| t.tok).collect(), names, errors)
    }

    #[test]
    fn a_line_of_everything() {
        let (toks, names, errors) = toks("größe.1: add.q [r1+x$-0x1F], 1_000 << 'a' ; rest ' \"\nnext");
        assert!(errors.is_empty());
        let name = |s: &str| Tok::Name(names.find(s).unwrap());
        let expected = [
            name("größe.1"),
            Tok::Colon,
            name("add.q"),
            Tok::Open,
            name("r1"),
            Tok::Operator(Binary::Add),
            name("x$"),
            Tok::Operator(Binary::Sub),
            Tok::Int(31),
            Tok::Close,
            Tok::Comma,
            Tok::Int(1000),
            Tok::Operator(Binary::Shl),
            Tok::Int(97),
            Tok::End,
        ];
        assert_eq!(toks, expected);
    }

    #[test]
    fn what_is_no_token() {
        for text in ["\u{1}", "a ? b", "x < y", "\u{a0}", "🦀", "@"] {
            let (toks, _, errors) = toks(text);
            assert_eq!(errors.len(), 1, "{text}");
            assert_eq!(errors[0].code, codes::CHARACTER);
            assert!(toks.contains(&Tok::Error));
        }
    }
}
