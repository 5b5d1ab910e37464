//! Splits the text of a Nil file into tokens by the host language's lexical rules, one at a time, without a list of
//! them.
//!
//! The lexer reports no errors: text that it cannot read becomes a token of its own, and the parser decides whether it
//! matters (in host code it does not). Comments and white space are not tokens; each token knows whether white space or
//! a line end stands before it.

use super::ast::{AssignOp, Binary};
use super::token::{Tok, Token, keyword};

/// A position in the text: everything before it has been read. A copy continues from the same position.
#[derive(Clone, Copy, Default)]
pub(crate) struct Lexer<'a> {
    text: &'a str,
    pos: usize,
    limit: usize,
    line_start: usize,
    /// Whether the previous token ended an operand.
    operand: bool,
    /// Where the previous token ended, if it was a name.
    name_end: Option<usize>,
    /// Whether a text without an end has been found. Later texts then end at the end of their line at the latest, so
    /// that the rest of the file is not searched repeatedly.
    open_text: bool,
    /// What stands for `$name` here.
    given: [Option<Given>; MOST_GIVEN],
}

/// The greatest number of names that loops around `@eval` give a meaning at a place.
pub(crate) const MOST_GIVEN: usize = 4;

/// A name of a loop around `@eval`, and its value in this turn: both as the places where they are written.
#[derive(Clone, Copy)]
pub(crate) struct Given {
    pub(crate) name: (usize, usize),
    pub(crate) value: (usize, usize),
}

/// Whether a name can begin with this character.
pub(crate) fn starts_name(c: char) -> bool {
    c == '_' || c.is_alphabetic() || matches!(c, '∂' | '∇' | '∞')
}

/// Whether a name can continue with this character. For `!`, the next character decides.
pub(crate) fn continues_name(c: char) -> bool {
    starts_name(c) || pendula_isa::text::in_names(c)
}

impl<'a> Lexer<'a> {
    /// Reads `text` from `pos` up to `limit`. On the first line, columns count from `pos`.
    pub(crate) fn new(text: &'a str, pos: usize, limit: usize) -> Lexer<'a> {
        let limit = limit.min(text.len());
        Lexer { text, pos, limit, line_start: pos, ..Lexer::default() }
    }

    /// The same, from the token at `start` on. `column` is its column.
    pub(crate) fn again(self, start: usize, column: usize) -> Lexer<'a> {
        Lexer { pos: start, line_start: start - column, operand: false, name_end: None, ..self }
    }

    /// The same with a value for `$name`; `None` if there are too many.
    pub(crate) fn with(mut self, given: Given) -> Option<Lexer<'a>> {
        let free = self.given.iter_mut().find(|g| g.is_none())?;
        *free = Some(given);
        Some(self)
    }

    /// Where the value of `$name` is written, if the loops around this place give one.
    pub(crate) fn given(&self, name: &str) -> Option<(usize, usize)> {
        let is = |g: &&Given| self.text.get(g.name.0..g.name.1) == Some(name);
        self.given.iter().rev().flatten().find(is).map(|g| g.value)
    }

    /// The text that is read.
    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    fn byte(&self, at: usize) -> u8 {
        if at < self.limit { self.text.as_bytes().get(at).copied().unwrap_or(0) } else { 0 }
    }

    fn char(&self, at: usize) -> Option<char> {
        if at < self.limit { self.text.get(at..)?.chars().next() } else { None }
    }

    /// The next token; [`Tok::Eof`] at the end, however often it is called.
    pub(crate) fn token(&mut self) -> Token {
        let before = self.pos;
        let (line_before, open_comment) = self.trivia();
        let start = self.pos;
        let space_before = start > before;
        let column = start - self.line_start;
        let kind = match open_comment {
            Some(_) => {
                self.pos = self.limit;
                Tok::OpenComment
            }
            None => self.read(start, self.operand && !space_before),
        };
        let end = if kind == Tok::OpenComment { start + 2 } else { self.pos };
        self.operand = kind.ends_operand();
        self.name_end = (kind == Tok::Ident).then_some(end);
        Token { kind, start, end, column, line_before, space_before }
    }

    /// Skips white space and comments. Gives whether a line ended, and `Some` if a comment has no end: the lexer then
    /// stops at its beginning.
    fn trivia(&mut self) -> (bool, Option<()>) {
        let mut line = false;
        loop {
            match self.byte(self.pos) {
                b' ' | b'\t' | b'\r' => self.pos += 1,
                b'\n' => {
                    self.pos += 1;
                    self.line_start = self.pos;
                    line = true;
                }
                b'#' if self.byte(self.pos + 1) == b'=' => match comment_end(self.text, self.pos, self.limit) {
                    Some(end) => {
                        // A comment over several lines does not end a statement, but columns count from its last line.
                        if let Some(n) = self.text.get(self.pos..end).and_then(|t| t.rfind('\n')) {
                            self.line_start = self.pos + n + 1;
                        }
                        self.pos = end;
                    }
                    None => return (line, Some(())),
                },
                b'#' => {
                    let rest = self.text.as_bytes().get(self.pos..self.limit).unwrap_or(&[]);
                    self.pos += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
                }
                b if b < 0x80 => return (line, None),
                _ => match self.char(self.pos) {
                    Some(c) if c.is_whitespace() || c == '\u{feff}' => self.pos += c.len_utf8(),
                    _ => return (line, None),
                },
            }
        }
    }

    /// Reads the token at `start`; `after` tells whether it directly follows an operand.
    fn read(&mut self, start: usize, after: bool) -> Tok {
        if start >= self.limit {
            return Tok::Eof;
        }
        match self.byte(start) {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                self.pos = self.name(start);
                let text = self.text.get(start..self.pos).unwrap_or("");
                keyword(text).map_or(Tok::Ident, Tok::Kw)
            }
            b'0'..=b'9' => self.number(start),
            b'.' if self.byte(start + 1).is_ascii_digit() && !after => self.number(start),
            b'"' => self.string(start),
            b'`' => {
                self.pos = start + 1;
                self.close_text(b'`', 1, false).map_or(Tok::OpenText, |()| Tok::HostText)
            }
            b'\'' if after => self.take(start, 1, Tok::Prime),
            b'\'' => self.character(start),
            b'@' => {
                if self.char(start + 1).is_some_and(starts_name) {
                    self.pos = self.name(start + 1);
                    Tok::Macro
                } else {
                    self.take(start, 1, Tok::Unknown)
                }
            }
            b'$' if self.byte(start + 1) != b'=' && self.given.iter().any(Option::is_some) => self.value(start),
            b if b < 0x80 => {
                let (kind, len) = self.operator(start);
                self.take(start, len, kind)
            }
            _ => match self.char(start) {
                Some(c) if starts_name(c) => {
                    self.pos = self.name(start);
                    Tok::Ident
                }
                _ => {
                    let (kind, len) = self.operator(start);
                    self.take(start, len, kind)
                }
            },
        }
    }

    /// `$name`: the token that is its value.
    fn value(&mut self, start: usize) -> Tok {
        let end = self.name(start + 1);
        let value = self.text.get(start + 1..end).and_then(|name| self.given(name));
        let Some((from, to)) = value else { return self.take(start, 1, Tok::Unknown) };
        let token = Lexer::new(self.text, from, to).token();
        self.pos = end;
        if token.start == from && token.end == to { token.kind } else { Tok::Unknown }
    }

    fn take(&mut self, start: usize, len: usize, kind: Tok) -> Tok {
        self.pos = (start + len).min(self.limit);
        kind
    }

    /// The end of the name that begins at `pos`.
    fn name(&self, mut pos: usize) -> usize {
        loop {
            match self.byte(pos) {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => pos += 1,
                // `x!=y` compares.
                b'!' if self.byte(pos + 1) != b'=' => pos += 1,
                b if b < 0x80 => return pos,
                _ => match self.char(pos) {
                    Some(c) if continues_name(c) => pos += c.len_utf8(),
                    _ => return pos,
                },
            }
        }
    }

    fn number(&mut self, start: usize) -> Tok {
        let radix: fn(u8) -> bool = match (self.byte(start), self.byte(start + 1)) {
            (b'0', b'x') => |b| b.is_ascii_hexdigit(),
            (b'0', b'o') => |b| (b'0'..=b'7').contains(&b),
            (b'0', b'b') => |b| matches!(b, b'0' | b'1'),
            _ => return self.decimal(start),
        };
        let (digits, mut valid) = self.digits(start + 2, radix);
        valid &= digits > start + 2;
        self.pos = self.name(digits);
        if valid && self.pos == digits { Tok::Int } else { Tok::BadNumber }
    }

    /// The end of the digits from `pos` on, and whether every separator stands between digits.
    fn digits(&self, mut pos: usize, digit: fn(u8) -> bool) -> (usize, bool) {
        let (mut valid, mut last) = (true, b'_');
        loop {
            match self.byte(pos) {
                b'_' => valid &= last != b'_',
                b if digit(b) => {}
                _ => return (pos, valid && last != b'_'),
            }
            last = self.byte(pos);
            pos += 1;
        }
    }

    fn decimal(&mut self, start: usize) -> Tok {
        let digit: fn(u8) -> bool = |b| b.is_ascii_digit();
        let (mut kind, mut valid) = (Tok::Int, true);
        let mut pos = start;
        if self.byte(pos) != b'.' {
            (pos, valid) = self.digits(pos, digit);
        }
        if self.byte(pos) == b'.' {
            let next = self.byte(pos + 1);
            if next.is_ascii_digit() {
                let (end, fraction) = self.digits(pos + 1, digit);
                (kind, pos, valid) = (Tok::Real, end, valid && fraction);
            } else if matches!(next, 0 | b' ' | b'\t' | b'\r' | b'\n' | b',' | b';' | b')' | b']' | b'}' | b'#') {
                (kind, pos) = (Tok::Real, pos + 1);
            }
        }
        if matches!(self.byte(pos), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(pos + 1), b'+' | b'-'));
            if self.byte(pos + 1 + sign).is_ascii_digit() {
                let (end, exponent) = self.digits(pos + 1 + sign, digit);
                (kind, pos, valid) = (Tok::Real, end, valid && exponent);
            }
        }
        if self.byte(pos) == b'.' && self.byte(pos + 1).is_ascii_digit() {
            // `1.2.3`
            while self.byte(pos) == b'.' || self.byte(pos).is_ascii_digit() {
                pos += 1;
            }
            valid = false;
        }
        self.pos = pos;
        if valid { kind } else { Tok::BadNumber }
    }

    fn string(&mut self, start: usize) -> Tok {
        let raw = self.name_end == Some(start);
        let triple = self.byte(start + 1) == b'"' && self.byte(start + 2) == b'"';
        let quotes = if triple { 3 } else { 1 };
        self.pos = start + quotes;
        match self.close_text(b'"', quotes, raw) {
            None => Tok::OpenText,
            Some(()) if raw => Tok::HostText,
            Some(()) => Tok::Str { triple },
        }
    }

    /// Continues after the opening quotes of a text. Without closing quotes, goes to the end of the line and gives
    /// `None`.
    fn close_text(&mut self, quote: u8, quotes: usize, raw: bool) -> Option<()> {
        let start = self.pos;
        let line = |lexer: &Lexer<'_>| {
            let rest = lexer.text.as_bytes().get(start..lexer.limit).unwrap_or(&[]);
            start + rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len())
        };
        let limit = if self.open_text { line(self) } else { self.limit };
        let bytes = self.text.as_bytes().get(..limit).unwrap_or(&[]);
        if let Some(end) = text_end(bytes, start, quote, quotes, raw) {
            if let Some(n) = self.text.get(start..end).and_then(|t| t.rfind('\n')) {
                self.line_start = start + n + 1;
            }
            self.pos = end;
            return Some(());
        }
        self.open_text = true;
        self.pos = line(self);
        None
    }

    /// A character in quotes, or a single quote without a meaning.
    fn character(&mut self, start: usize) -> Tok {
        let mut pos = start + 1;
        if self.byte(pos) == b'\\' {
            pos += 2;
            while self.byte(pos).is_ascii_hexdigit() && pos < start + 11 {
                pos += 1;
            }
        } else {
            pos += self.char(pos).map_or(0, char::len_utf8);
        }
        if pos > start + 1 && self.byte(pos) == b'\'' {
            self.take(start, pos + 1 - start, Tok::Char)
        } else {
            self.take(start, 1, Tok::Unknown)
        }
    }

    /// The operator or bracket at `at`, and its length.
    fn operator(&self, at: usize) -> (Tok, usize) {
        let (b, c, d) = (self.byte(at), self.byte(at + 1), self.byte(at + 2));
        match b {
            b'(' => (Tok::LParen, 1),
            b')' => (Tok::RParen, 1),
            b'[' => (Tok::LBrack, 1),
            b']' => (Tok::RBrack, 1),
            b'{' => (Tok::LBrace, 1),
            b'}' => (Tok::RBrace, 1),
            b',' => (Tok::Comma, 1),
            b';' => (Tok::Semi, 1),
            b'?' => (Tok::Question, 1),
            b'~' => (Tok::Tilde, 1),
            b':' if c == b':' => (Tok::Typed, 2),
            b':' if c == b'=' && d != b'=' => (Tok::BadAssign, 2),
            b':' => (Tok::Colon, 1),
            b'.' if c == b'.' && d == b'.' => (Tok::Splat, 3),
            b'.' => match self.plain_operator(at + 1) {
                Some((Tok::Op(op, _), len)) => (Tok::Op(op, true), len + 1),
                Some((Tok::Assign(op, _), len)) => (Tok::Assign(op, true), len + 1),
                Some((Tok::Equals | Tok::BadAssign, len)) => (Tok::BadAssign, len + 1),
                Some((_, len)) => (Tok::HostOp, len + 1),
                None => (Tok::Dot, 1),
            },
            _ => self.plain_operator(at).unwrap_or_else(|| (Tok::Unknown, self.char(at).map_or(1, char::len_utf8))),
        }
    }

    /// The operator at `at`, without a dot before it, and its length.
    fn plain_operator(&self, at: usize) -> Option<(Tok, usize)> {
        let (b, c, d, e) = (self.byte(at), self.byte(at + 1), self.byte(at + 2), self.byte(at + 3));
        let op = |op| Tok::Op(op, false);
        let assign = |op| Tok::Assign(op, false);
        Some(match (b, c, d) {
            (b'+', b'=', _) => (assign(AssignOp::Add), 2),
            (b'+', ..) => (op(Binary::Add), 1),
            (b'-', b'=', _) => (assign(AssignOp::Sub), 2),
            (b'-', b'>', _) => (Tok::Arrow, 2),
            (b'-', ..) => (op(Binary::Sub), 1),
            (b'*', b'=', _) => (assign(AssignOp::Mul), 2),
            (b'*', ..) => (op(Binary::Mul), 1),
            (b'/', b'/', b'=') => (Tok::BadAssign, 3),
            (b'/', b'/', _) => (Tok::HostOp, 2),
            (b'/', b'=', _) => (assign(AssignOp::Div), 2),
            (b'/', ..) => (op(Binary::Div), 1),
            (b'%' | b'^' | b'&' | b'\\', b'=', _) => (Tok::BadAssign, 2),
            (b'%', ..) => (op(Binary::Rem), 1),
            (b'^', ..) => (op(Binary::Pow), 1),
            (b'&', b'&', _) => (op(Binary::LogicalAnd), 2),
            (b'&', ..) => (op(Binary::And), 1),
            (b'\\', ..) => (Tok::HostOp, 1),
            (b'|', b'|', _) => (op(Binary::LogicalOr), 2),
            (b'|', b'>', _) => (Tok::Pipe, 2),
            (b'|', b'=', _) => (Tok::BadAssign, 2),
            (b'|', ..) => (op(Binary::Or), 1),
            (b'$', b'=', _) if e != b'=' => (assign(AssignOp::Xor), 2),
            (b'=', b'=', b'=') => (op(Binary::Eq), 3),
            (b'=', b'=', _) => (op(Binary::Eq), 2),
            (b'=', b'>', _) => (Tok::Pair, 2),
            (b'=', ..) => (Tok::Equals, 1),
            (b'!', b'=', b'=') => (op(Binary::Ne), 3),
            (b'!', b'=', _) => (op(Binary::Ne), 2),
            (b'!', ..) => (Tok::Not, 1),
            (b'<', b'<', b'=') => (Tok::BadAssign, 3),
            (b'<', b'<', _) => (op(Binary::Shl), 2),
            (b'<', b'=', _) => (op(Binary::Le), 2),
            (b'<', b':', _) => (Tok::Subtype, 2),
            (b'<', b'|', _) => (Tok::HostOp, 2),
            (b'<', ..) => (op(Binary::Lt), 1),
            (b'>', b'>', b'>') if e == b'=' => (Tok::BadAssign, 4),
            (b'>', b'>', b'>') => (op(Binary::Shr), 3),
            (b'>', b'>', b'=') => (Tok::BadAssign, 3),
            (b'>', b'>', _) => (op(Binary::Sar), 2),
            (b'>', b'=', _) => (op(Binary::Ge), 2),
            (b'>', b':', _) => (Tok::HostOp, 2),
            (b'>', ..) => (op(Binary::Gt), 1),
            _ => {
                let symbol = self.char(at)?;
                let len = symbol.len_utf8();
                let assigned = self.byte(at + len) == b'=' && self.byte(at + len + 1) != b'=';
                match symbol {
                    '⊻' | '∨' if assigned => (assign(AssignOp::Xor), len + 1),
                    '÷' if assigned => (Tok::BadAssign, len + 1),
                    '⊻' => (op(Binary::Xor), len),
                    '÷' => (op(Binary::Quot), len),
                    '≠' | '≢' => (op(Binary::Ne), len),
                    '≡' => (op(Binary::Eq), len),
                    '≤' => (op(Binary::Le), len),
                    '≥' => (op(Binary::Ge), len),
                    '←' => (Tok::Alloc, len),
                    '→' => (Tok::Free, len),
                    '∈' => (Tok::Elem, len),
                    '√' => (Tok::Root, len),
                    '↔' => (Tok::Exchange, len),
                    '∅' => (Tok::Empty, len),
                    _ => return None,
                }
            }
        })
    }
}

/// The end of the `#=` comment at `start`. Such comments nest.
pub(crate) fn comment_end(text: &str, start: usize, limit: usize) -> Option<usize> {
    let bytes = text.as_bytes().get(..limit)?;
    let (mut pos, mut depth) = (start, 0usize);
    loop {
        match (*bytes.get(pos)?, bytes.get(pos + 1)) {
            (b'#', Some(b'=')) => {
                depth += 1;
                pos += 2;
            }
            (b'=', Some(b'#')) => {
                depth -= 1;
                pos += 2;
                if depth == 0 {
                    return Some(pos);
                }
            }
            _ => pos += 1,
        }
    }
}

/// The end of the text whose first byte after the quotes is at `pos`. An interpolated `$(…)` may contain other texts.
fn text_end(bytes: &[u8], mut pos: usize, quote: u8, quotes: usize, raw: bool) -> Option<usize> {
    enum Inside {
        Text(u8, usize),
        Parens(usize),
    }
    let mut stack = vec![Inside::Text(quote, quotes)];
    loop {
        let (b, next) = (*bytes.get(pos)?, bytes.get(pos + 1).copied().unwrap_or(0));
        match stack.last_mut()? {
            Inside::Text(quote, quotes) => match b {
                b'\\' => pos += 2,
                b if b == *quote && (*quotes == 1 || (next == b && bytes.get(pos + 2) == Some(&b))) => {
                    pos += *quotes;
                    stack.pop();
                    if stack.is_empty() {
                        return Some(pos);
                    }
                }
                b'$' if next == b'(' && !raw => {
                    pos += 2;
                    stack.push(Inside::Parens(1));
                }
                _ => pos += 1,
            },
            Inside::Parens(depth) => {
                pos += 1;
                match b {
                    b'(' => *depth += 1,
                    b')' if *depth == 1 => {
                        stack.pop();
                    }
                    b')' => *depth -= 1,
                    // A character literal that is a quotation mark.
                    b'\'' if next == b'"' && bytes.get(pos + 1) == Some(&b'\'') => pos += 2,
                    b'"' if next == b'"' && bytes.get(pos + 1) == Some(&b'"') => {
                        pos += 2;
                        stack.push(Inside::Text(b'"', 3));
                    }
                    b'"' => stack.push(Inside::Text(b'"', 1)),
                    _ => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
