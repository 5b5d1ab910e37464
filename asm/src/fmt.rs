//! Source files in the canonical layout: `pendula fmt`.
//!
//! Only white space changes, between tokens and lines; words, numbers and
//! comments stay as they are written. The formatter looks at tokens
//! (`lexer`) and does not parse: a file with an unknown
//! instruction is laid out all the same. Text from modules is
//! [`disasm`](crate::disasm)'s.

use std::ops::Range;

use crate::ast::{Binary, Span, Via};
use crate::diagnostic::Diagnostic;
use crate::intern::Interner;
use crate::lexer::{self, LexError, Tok, Token, line_end};
use crate::session::Session;

/// Where mnemonics, operands and comments begin, counted in characters from 0.
const MNEMONIC: usize = 8;
const OPERANDS: usize = 16;
const COMMENT: usize = 36;
/// How many blank lines stay in a row.
const MAX_BLANK: usize = 2;

/// The text in the canonical layout: labels in column 0, mnemonics in column 8, operands in column 16,
/// comments in column 36 or two blanks after the statement, comments alone on their line in column 0 or 8.
///
/// It assembles to the same module, but for the line table, and formatting it again changes nothing.
///
/// # Errors
/// What is no token: a text that does not end, a number that cannot be read, a stray character.
pub fn format_source(_name: &str, text: &str) -> Result<String, Vec<Diagnostic>> {
    let mut names = Interner::new();
    let mut tokens = Vec::new();
    let mut errors = Vec::new();
    let mut faults = Vec::new();
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let (mut at, mut blank, mut macros) = (0, 0, 0usize);
    while at < text.len() {
        let start = at;
        let line = lexer::line(text, at, &mut names, &mut tokens, &mut errors);
        at = line.next;
        let comment = line.comment.and_then(|c| text.get(c)).unwrap_or("").trim_end();
        tokens.pop();
        if tokens.is_empty() && comment.is_empty() {
            blank += 1;
            continue;
        }
        if !out.is_empty() {
            out.extend(std::iter::repeat_n('\n', blank.min(MAX_BLANK)));
        }
        blank = 0;
        let word = tokens.iter().find(|t| !matches!(t.tok, Tok::Colon)).and_then(|t| text.get(t.range())).unwrap_or("");
        if word.eq_ignore_ascii_case(".macro") {
            macros += 1;
        } else if word.eq_ignore_ascii_case(".endm") {
            macros = macros.saturating_sub(1);
        }
        if tokens.is_empty() {
            let alone = text.get(start..).is_some_and(|t| t.trim_start_matches('\u{feff}').starts_with([';', '#']));
            put(&mut out, if alone { 0 } else { MNEMONIC }, "", comment);
        } else if errors.is_empty() {
            let statement = statement(text, &tokens);
            put(&mut out, 0, &statement, comment);
        } else if macros > 0 {
            // What is no token before a macro's arguments stand in it, such as `0x\digits`.
            out.push_str(text.get(start..line_end(text, start)).unwrap_or("").trim_end());
        } else {
            faults.append(&mut errors);
        }
        errors.clear();
        out.push('\n');
    }
    if faults.is_empty() { Ok(out) } else { Err(report(text, faults)) }
}

fn report(text: &str, faults: Vec<LexError>) -> Vec<Diagnostic> {
    let mut s = Session::new();
    s.add_file(text.len());
    for fault in faults {
        let span = Span { start: fault.range.start as u32, len: fault.range.len() as u32 };
        s.fail(fault.code, fault.message, span, Via::default(), fault.help);
    }
    s.finish()
}

/// Adds a line without its end.
fn put(out: &mut String, indent: usize, statement: &str, comment: &str) {
    out.extend(std::iter::repeat_n(' ', indent));
    out.push_str(statement);
    if comment.is_empty() {
        return;
    }
    if !statement.is_empty() {
        let width = statement.chars().count();
        let gap = if width + 2 <= COMMENT { COMMENT - width } else { 2 };
        out.extend(std::iter::repeat_n(' ', gap));
    }
    out.push_str(comment);
}

/// Lays out labels, mnemonic and operands.
fn statement(text: &str, tokens: &[Token]) -> String {
    let mut out = String::new();
    let mut rest = tokens;
    // Labels: a word, perhaps put together with parameters of a macro, and a colon.
    loop {
        let len = word_len(rest);
        match rest.get(len) {
            Some(Token { tok: Tok::Colon, .. }) if len > 0 => {
                if !out.is_empty() {
                    out.push(' ');
                }
                push(&mut out, text, &rest[..len]);
                out.push(':');
                rest = &rest[len + 1..];
            }
            _ => break,
        }
    }
    if rest.is_empty() {
        return out;
    }
    pad(&mut out, MNEMONIC);
    let len = mnemonic_len(text, rest);
    push(&mut out, text, &rest[..len]);
    let operands = &rest[len..];
    if operands.is_empty() {
        return out;
    }
    // A stray sign after the mnemonic stays apart from it, as an operand does.
    pad(&mut out, OPERANDS);
    for (n, token) in operands.iter().enumerate() {
        if let Some(before) = n.checked_sub(1).and_then(|n| operands.get(n))
            && gap(before, token)
        {
            out.push(' ');
        }
        out.push_str(slice(text, token.range()));
    }
    out
}

/// Fills up to a column, with at least one blank after what is there.
fn pad(out: &mut String, column: usize) {
    let width = out.chars().count();
    let blanks = if width < column { column - width } else { 1 };
    out.extend(std::iter::repeat_n(' ', blanks));
}

fn slice(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or("")
}

fn push(out: &mut String, text: &str, tokens: &[Token]) {
    for token in tokens {
        out.push_str(slice(text, token.range()));
    }
}

/// Whether a token is part of a word, as far as one can tell before macros are expanded.
fn is_word(tok: Tok) -> bool {
    matches!(tok, Tok::Name(_) | Tok::Int(_) | Tok::Real(..) | Tok::Raw(_) | Tok::Parameter)
}

/// How many tokens the word at the beginning takes: one, or several that touch, parameters among them.
fn word_len(tokens: &[Token]) -> usize {
    let mut len = 0;
    while let Some(token) = tokens.get(len) {
        let joined = match len.checked_sub(1).and_then(|n| tokens.get(n)) {
            None => true,
            Some(before) => {
                before.end() == token.start && (before.tok == Tok::Parameter || token.tok == Tok::Parameter)
            }
        };
        if !joined || !is_word(token.tok) {
            break;
        }
        len += 1;
    }
    len
}

/// The same for a mnemonic, which `.proc-doc` is too.
fn mnemonic_len(text: &str, tokens: &[Token]) -> usize {
    if let [word, minus, doc, ..] = tokens
        && minus.tok == Tok::Operator(Binary::Sub)
        && slice(text, word.range()).eq_ignore_ascii_case(".proc")
        && slice(text, doc.range()).eq_ignore_ascii_case("doc")
    {
        return 3;
    }
    word_len(tokens).max(1).min(tokens.len())
}

/// Whether a blank stands between two tokens of an operand list.
fn gap(before: &Token, after: &Token) -> bool {
    if before.tok == Tok::Comma {
        return true;
    }
    let tight = |tok| {
        matches!(
            tok,
            Tok::Comma
                | Tok::Open
                | Tok::Close
                | Tok::OpenParen
                | Tok::CloseParen
                | Tok::Equals
                | Tok::Tilde
                | Tok::Operator(_)
        )
    };
    before.end() != after.start && !tight(before.tok) && !tight(after.tok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, wanted: &str) {
        let once = format_source("x", text).expect("tokens");
        assert_eq!(once, wanted);
        assert_eq!(format_source("x", &once).as_deref(), Ok(wanted), "not idempotent");
    }

    #[test]
    fn columns() {
        check(
            "\u{feff}\n\n a:b :add.q r1,[ r2 + x ]  ;c\r\nlonglabel: inc r1\nassert.ge r1 , - 1 # two\n\n\n\n\nx:\n  ; in\n; out\nadd [r1+r2],0x1234567890abcdef  , 1 ;far\n\n",
            "a: b:   add.q   r1, [r2+x]          ;c
longlabel: inc  r1
        assert.ge r1, -1            # two


x:
        ; in
; out
        add     [r1+r2], 0x1234567890abcdef, 1  ;far
",
        );
    }

    #[test]
    fn directives_and_macros() {
        check(
            ".equ N , 3 * ( 4+1 )\n.proc-doc   \"a ; b\"\n .macro f a , b = 1 , c\nl\\@_x : \\a.q r1 , \\b + 1 ; d\n.word 0x\\c  \n.endm\n f  add r1 , 2\nprint \"x\"",
            "        .equ    N, 3*(4+1)
        .proc-doc \"a ; b\"
        .macro  f a, b=1, c
l\\@_x:  \\a.q    r1, \\b+1            ; d
.word 0x\\c
        .endm
        f       add r1, 2
        print   \"x\"
",
        );
    }

    #[test]
    fn what_is_no_token_is_an_error() {
        let found = format_source("x", "add r1, 12x\n print \"a\n inc r1").unwrap_err();
        let codes: Vec<_> = found.iter().map(|d| d.code).collect();
        assert_eq!(codes, [crate::codes::NUMBER, crate::codes::QUOTES]);
        assert_eq!(format_source("x", "\n \n"), Ok(String::new()));
    }
}
