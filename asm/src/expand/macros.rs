//! Macros: definitions, arguments of uses, and expansions.

use std::ops::Range;

use crate::ast::Span;
use crate::codes;
use crate::intern::Sym;
use crate::lexer::line_end;
use crate::literal::quote_end;
use crate::origin::{Origin, Piece, add_other};
use crate::parser::Parser;
use crate::session::Parsed;
use crate::token::{Tok, Token, name_end};

use super::Input;

/// The maximum number of parameters of a macro.
const MAX_PARAMS: usize = 64;

/// A macro.
#[derive(Debug)]
pub(super) struct Macro {
    pub(super) span: Span,
    pub(super) params: Vec<Param>,
    pub(super) body: Fragment,
}

#[derive(Debug)]
pub(super) struct Param {
    pub(super) name: String,
    pub(super) default: Option<Fragment>,
}

/// A text, and where it was written.
#[derive(Debug)]
pub(super) struct Fragment {
    pub(super) text: String,
    pub(super) origin: Origin,
}

impl Fragment {
    pub(super) fn new(text: &str, range: Range<usize>, origin: &Origin) -> Fragment {
        let mut pieces = Vec::new();
        origin.copy(range.clone(), 0, &mut pieces);
        Fragment { text: text.get(range).unwrap_or("").to_string(), origin: Origin::Pieces(pieces) }
    }
}

/// Reads `NAME a, b=default`.
pub(super) fn macro_header(p: &mut Parser<'_>, text: &str) -> Parsed<(Sym, Span, Vec<Param>)> {
    let (name, span) = p.name("a macro")?;
    let mut params: Vec<Param> = Vec::new();
    while p.tok() != Tok::End {
        if !params.is_empty() {
            if p.tok() != Tok::Comma {
                return Err(p.expected("a comma", "parameters are separated by commas"));
            }
            p.advance();
        }
        let span = p.span();
        let Tok::Name(param) = p.tok() else {
            return Err(p.expected("the name of a parameter", "write `.macro NAME a, b=default`"));
        };
        let param = p.s.names.text(param).to_string();
        if params.iter().any(|other| other.name == param) {
            let message = format!("the parameter `{param}` is there twice");
            return Err(p.fail(codes::MACRO, message, span, "give one of them another name"));
        }
        if params.len() >= MAX_PARAMS {
            let message = format!("a macro has at most {MAX_PARAMS} parameters");
            return Err(p.fail(codes::MACRO, message, span, "divide the macro"));
        }
        p.advance();
        let mut default = None;
        if p.tok() == Tok::Equals {
            p.advance();
            let range = argument(&p.tokens[p.position().min(p.tokens.len())..], &mut 0);
            default = Some(Fragment::new(text, range.clone(), p.origin));
            while p.tok() != Tok::End && p.tokens.get(p.position()).is_some_and(|t| t.range().start < range.end) {
                p.advance();
            }
        }
        params.push(Param { name: param, default });
    }
    Ok((name, span, params))
}

/// The body that begins at `from`, and the start of the line after its `.endm`; `None` without `.endm`.
pub(super) fn macro_body(text: &str, from: usize) -> Option<(Range<usize>, usize)> {
    let mut at = from;
    let mut inner = 0usize;
    while at < text.len() {
        let end = line_end(text, at);
        let line = text.get(at..end)?.trim_start();
        let word = line.get(..name_end(line, 0))?;
        if word.eq_ignore_ascii_case(".macro") {
            inner += 1;
        } else if word.eq_ignore_ascii_case(".endm") {
            match inner.checked_sub(1) {
                Some(less) => inner = less,
                None => return Some((from..at, end + 1)),
            }
        }
        at = end + 1;
    }
    None
}

/// The range of the tokens up to a comma outside brackets. `at` moves to that comma or the end.
fn argument(tokens: &[Token], at: &mut usize) -> Range<usize> {
    let first = *at;
    let mut depth = 0usize;
    while let Some(token) = tokens.get(*at) {
        match token.tok {
            Tok::End => break,
            Tok::Comma if depth == 0 => break,
            Tok::Open | Tok::OpenParen => depth += 1,
            Tok::Close | Tok::CloseParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        *at += 1;
    }
    let start = tokens.get(first).map_or(0, |t| t.start as usize);
    let end = at.checked_sub(1).filter(|last| *last >= first).and_then(|last| tokens.get(last));
    start..end.map_or(start, |t| t.end() as usize)
}

/// The ranges of the arguments of a macro use.
pub(super) fn split_args(tokens: &[Token]) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut at = 0;
    if matches!(tokens.first(), None | Some(Token { tok: Tok::End, .. })) {
        return out;
    }
    loop {
        out.push(argument(tokens, &mut at));
        match tokens.get(at) {
            Some(Token { tok: Tok::Comma, .. }) => at += 1,
            _ => return out,
        }
    }
}

/// An expansion under construction.
struct Writer {
    text: String,
    pieces: Vec<Piece>,
    room: usize,
}

impl Writer {
    /// Appends a range of a text; `None` if the expansion becomes too long.
    fn copy(&mut self, text: &str, range: Range<usize>, origin: &Origin) -> Option<()> {
        let part = text.get(range.clone())?;
        self.room = self.room.checked_sub(part.len())?;
        origin.copy(range, self.text.len(), &mut self.pieces);
        self.text.push_str(part);
        Some(())
    }
}

/// The body of a macro with its parameters replaced; `None` if it is longer than `room`.
pub(super) fn substitute(
    definition: &Macro,
    input: &Input<'_>,
    args: &[Range<usize>],
    unique: u64,
    room: usize,
) -> Option<Fragment> {
    let Fragment { text: body, origin } = &definition.body;
    let bytes = body.as_bytes();
    let mut out = Writer { text: String::new(), pieces: Vec::new(), room };
    // Text from `from` on has not been copied. Quotes and comments are copied as they are.
    let (mut from, mut at) = (0, 0);
    while let Some(&b) = bytes.get(at) {
        match b {
            b'"' | b'\'' => at = quote_end(body, at).0,
            b';' | b'#' => at = line_end(body, at),
            b'\\' => {
                let end = name_end(body, at + 1);
                let number = bytes.get(at + 1) == Some(&b'@');
                let name = body.get(at + 1..end).unwrap_or("");
                // The longest parameter that the name begins with, so that `\op.q` is possible.
                let param = definition.params.iter().enumerate().filter(|(_, p)| name.starts_with(p.name.as_str()));
                let param = param.max_by_key(|(_, p)| p.name.len());
                if !number && param.is_none() {
                    at += 1;
                    continue;
                }
                out.copy(body, from..at, origin)?;
                if let Some((n, param)) = param {
                    match (args.get(n), &param.default) {
                        // An empty argument stands for the default.
                        (Some(range), default) if !range.is_empty() || default.is_none() => {
                            out.copy(input.text, range.clone(), input.origin)?;
                        }
                        (_, Some(default)) => out.copy(&default.text, 0..default.text.len(), &default.origin)?,
                        (_, None) => {}
                    }
                    at += 1 + param.name.len();
                } else {
                    let digits = unique.to_string();
                    out.room = out.room.checked_sub(digits.len())?;
                    add_other(&mut out.pieces, out.text.len(), digits.len(), origin.span(at as u32, 2));
                    out.text.push_str(&digits);
                    at += 2;
                }
                from = at;
            }
            _ => at += 1,
        }
    }
    out.copy(body, from..body.len(), origin)?;
    Some(Fragment { text: out.text, origin: Origin::Pieces(out.pieces) })
}
