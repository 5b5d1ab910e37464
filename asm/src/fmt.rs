//! Source files in the canonical layout: `pendula fmt`.
//!
//! Only white space between tokens and lines changes; words, numbers and comments stay as they are written. The
//! formatter looks at tokens (`lexer`) and does not parse, so that a file with an unknown instruction is formatted,
//! too. [`disasm`](crate::disasm) prints modules as text.

use std::ops::Range;

use crate::ast::{Binary, Span, Via};
use crate::diagnostic::Diagnostic;
use crate::intern::Interner;
use crate::lexer::{self, line_end};
use crate::session::Session;
use crate::token::{LexError, Tok, Token};

/// The columns of mnemonics, operands and comments, counted in characters from 0.
const MNEMONIC: usize = 8;
const OPERANDS: usize = 16;
const COMMENT: usize = 36;
/// The maximum number of consecutive blank lines.
const MAX_BLANK: usize = 2;

/// The text in the canonical layout: labels in column 0, mnemonics in column 8, operands in column 16, comments in
/// column 36 or two blanks after the statement; comments that stand alone on their line in column 0 or 8.
///
/// The result assembles to the same module, except for the line table. Formatting it again changes nothing.
///
/// # Errors
/// Text that is not a token: a string that does not end, a number that cannot be read, a stray character.
pub fn format_source(_name: &str, text: &str) -> Result<String, Vec<Diagnostic>> {
    let mut names = Interner::new();
    let mut tokens = Vec::new();
    let mut errors = Vec::new();
    let mut faults = Vec::new();
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let (mut at, mut blank, mut macros) = (0, 0, 0usize);
    // Whether the line is part of the expression of a function, which stays as it is.
    let mut expression = false;
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
        let is = |one: &str| word.eq_ignore_ascii_case(one);
        let ends = is(".endfunction") || is(".endinstr");
        if errors.is_empty() && !tokens.is_empty() && (is(".instr") || is(".function") || ends || expression) {
            let own = text.get(start..line_end(text, start)).unwrap_or("").trim_end();
            let own = own.trim_start_matches('\u{feff}');
            // A definition begins and ends at the margin.
            out.push_str(if expression && !ends { own } else { own.trim_start() });
            out.push('\n');
            expression = is(".function") || expression && !ends;
            continue;
        }
        if tokens.is_empty() {
            let alone = text.get(start..).is_some_and(|t| t.trim_start_matches('\u{feff}').starts_with([';', '#']));
            put(&mut out, if alone { 0 } else { MNEMONIC }, "", comment);
        } else if errors.is_empty() {
            let statement = statement(text, &tokens);
            put(&mut out, 0, &statement, comment);
        } else if macros > 0 {
            // Text that becomes a token only when a macro's arguments are inserted, such as `0x\digits`.
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

/// Adds a line without its line ending.
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

/// Formats labels, mnemonic and operands.
fn statement(text: &str, tokens: &[Token]) -> String {
    let mut out = String::new();
    let mut rest = tokens;
    // A label: a word, perhaps joined with macro parameters, and a colon.
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
    // A stray sign after the mnemonic stays separate from it, like an operand.
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

/// Pads to a column, with at least one blank after the text.
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

/// Whether a token is part of a word, as far as that is known before macros are expanded.
fn is_word(tok: Tok) -> bool {
    matches!(tok, Tok::Name(_) | Tok::Int(_) | Tok::Real(..) | Tok::Raw(_) | Tok::Parameter)
}

/// The number of tokens of the word at the beginning: one, or several that touch each other, including parameters.
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

/// The same for a mnemonic, which may also be `.proc-doc`.
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

/// Whether a blank separates two tokens of an operand list.
fn gap(before: &Token, after: &Token) -> bool {
    if before.tok == Tok::Comma {
        return true;
    }
    let touches = |tok| {
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
    before.end() != after.start && !touches(before.tok) && !touches(after.tok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let once = format_source("x", text).expect("tokens");
        assert_eq!(once, expected);
        assert_eq!(format_source("x", &once).as_deref(), Ok(expected), "not idempotent");
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
