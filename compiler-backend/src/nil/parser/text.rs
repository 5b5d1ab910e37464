//! Reads texts: escapes, interpolated values, documentation.

use super::super::ast::{Expr, ExprKind, TextPart};
use super::super::codes;
use super::super::lexer::{Lexer, continues_name, starts_name};
use super::super::token::{Tok, Token};
use super::{Cursor, Parsed, Parser};

impl Parser<'_> {
    /// A text as an expression; its token has been taken.
    pub(super) fn text_expr(&mut self, token: Token, triple: bool) -> Parsed<Expr> {
        let quotes = if triple { 3 } else { 1 };
        let (mut pos, end) = (token.start + quotes, token.end.saturating_sub(quotes));
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut height = 0;
        while pos < end {
            let rest = self.slice(pos..end);
            let stop = rest.find(['\\', '$']).unwrap_or(rest.len());
            plain.push_str(rest.get(..stop).unwrap_or(""));
            pos += stop;
            let rest = rest.get(stop..).unwrap_or("");
            let mut chars = rest.chars();
            match (chars.next(), chars.next()) {
                (None, _) => break,
                (Some('\\'), _) => pos += self.escape(rest, pos, &mut plain),
                (_, Some('(')) => {
                    flush(&mut plain, &mut parts);
                    let (value, after) = self.interpolated(pos + 2, end)?;
                    height = height.max(self.height);
                    parts.push(TextPart::Value(value));
                    pos = after;
                }
                (_, Some(c)) if starts_name(c) => {
                    flush(&mut plain, &mut parts);
                    let name = rest.get(1..).unwrap_or("");
                    let len = name.find(|c| !(continues_name(c) || c == '!')).unwrap_or(name.len());
                    let name = name.get(..len).unwrap_or("").to_owned();
                    parts.push(TextPart::Value(Expr { kind: ExprKind::Name(name), span: pos + 1..pos + 1 + len }));
                    pos += 1 + len;
                }
                _ => {
                    self.error(
                        codes::TEXT,
                        pos..pos + 1,
                        "nothing to insert follows this `$`",
                        "write `\\$` for a `$`",
                    );
                    pos += 1;
                }
            }
        }
        flush(&mut plain, &mut parts);
        self.build(ExprKind::Text(parts), token.start..token.end, height)
    }

    /// The expression of `$(…)` whose contents begin at `start`, and the position of the `)`.
    fn interpolated(&mut self, start: usize, end: usize) -> Parsed<(Expr, usize)> {
        let inner = Cursor::new(Lexer::new(self.cursor.lexer.text(), start, end));
        let outer = std::mem::replace(&mut self.cursor, inner);
        let last_end = self.last_end;
        let result = self.bracketed(false, |p| {
            let value = p.expr()?;
            let close = p.expect(Tok::RParen, "`)`")?;
            Ok((value, close.end))
        });
        if !self.stopped {
            self.cursor = outer;
            self.last_end = last_end;
        }
        result
    }

    /// Reads the escape at the beginning of `rest`, which stands at `at`; gives its length.
    fn escape(&mut self, rest: &str, at: usize, into: &mut String) -> usize {
        let Some(letter) = rest.chars().nth(1) else { return rest.len() };
        let simple = match letter {
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' => Some('\r'),
            '0' => Some('\0'),
            'a' => Some('\x07'),
            'b' => Some('\x08'),
            'e' => Some('\x1b'),
            'f' => Some('\x0c'),
            'v' => Some('\x0b'),
            '\\' | '"' | '\'' | '$' => Some(letter),
            _ => None,
        };
        if let Some(c) = simple {
            into.push(c);
            return 2;
        }
        let most = match letter {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        let digits = rest.bytes().skip(2).take(most).take_while(u8::is_ascii_hexdigit).count();
        let len = 1 + letter.len_utf8() + digits;
        let value = rest.get(2..2 + digits).and_then(|d| u32::from_str_radix(d, 16).ok()).and_then(char::from_u32);
        match value {
            Some(c) => into.push(c),
            None => {
                let help =
                    "the escapes are \\n, \\t, \\r, \\\\, \\\", \\$, \\0, \\xhh and \\uhhhh; write `\\\\` for a `\\`";
                let message = format!("`\\{letter}` is not an escape");
                self.error(codes::TEXT, at..at + len, message, help);
            }
        }
        len
    }
}

fn flush(plain: &mut String, parts: &mut Vec<TextPart>) {
    if !plain.is_empty() {
        parts.push(TextPart::Plain(std::mem::take(plain)));
    }
}

/// A documentation text without its quotes, and without the common indentation of its lines.
pub(crate) fn documentation(text: &str) -> String {
    let quotes = if text.starts_with("\"\"\"") { 3 } else { 1 };
    let inner = text.get(quotes..text.len().saturating_sub(quotes)).unwrap_or("");
    let blank = |line: &&str| line.trim().is_empty();
    let indent = inner.lines().skip(1).filter(|l| !blank(l)).map(|l| l.len() - l.trim_start_matches([' ', '\t']).len());
    let indent = indent.min().unwrap_or(0);
    let cut = |(n, line): (usize, &str)| {
        let line = if n == 0 { line } else { line.get(indent..).unwrap_or("") };
        line.trim_end().to_owned()
    };
    let lines: Vec<String> = inner.lines().enumerate().map(cut).collect();
    lines.join("\n").trim_matches('\n').trim_start_matches(' ').to_owned()
}
