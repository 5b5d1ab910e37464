//! Skips host code, and the rest of a statement after an error.
//!
//! It recognises brackets and blocks only, as far as needed to find the end of a statement.

use pendula_isa::diagnostic::Diagnostic;

use super::super::ast::Span;
use super::super::codes;
use super::super::token::{Kw, Tok, Token};
use super::{Cursor, Parser};

/// The kinds of open blocks and brackets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Paren(usize),
    Bracket(usize),
    Block(usize, usize),
}

/// The number of lines that are searched for the bracket that an erroneous line left open.
const LINES_AFTER_ERROR: usize = 10;

impl Parser<'_> {
    /// Skips one statement of the host with the blocks in it: at least one token, if there is one.
    pub(super) fn skip_statement(&mut self) -> Span {
        let start = self.token().start;
        self.skip(Vec::new(), false);
        start..self.last_end
    }

    /// Skips one statement of the host outside of functions. In a file of the host, reversible functions inside of its
    /// blocks are read.
    pub(super) fn skip_top_statement(&mut self) -> Span {
        let (start, before) = (self.token().start, self.assignments.len());
        self.skip(Vec::new(), self.host);
        let span = start..self.last_end;
        self.assignments.iter_mut().skip(before).for_each(|a| a.within = span.clone());
        span
    }

    /// Skips the statement after `@safe` up to its end, also inside of `( …; … )`.
    pub(super) fn skip_safe(&mut self) -> Span {
        let start = self.token().start;
        if self.lines {
            self.skip(Vec::new(), false);
        } else {
            self.recover_in_brackets();
        }
        start..self.last_end.max(start)
    }

    /// Skips the rest of a block that was opened at `opener`, and its `end`.
    pub(super) fn skip_block(&mut self, opener: &Span) {
        self.skip(vec![Open::Block(opener.start, opener.end)], false);
    }

    /// Skips host code after these open blocks; `inside` tells whether reversible functions in it are read.
    fn skip(&mut self, mut stack: Vec<Open>, inside: bool) {
        // Where to continue if the blocks have no end: the first reversible function at the beginning of a line.
        let mut resume: Option<(Cursor<'_>, usize)> = None;
        let in_block = !stack.is_empty();
        let mut last = Tok::Semi;
        let mut first = true;
        loop {
            let token = self.token();
            let ended = stack.is_empty() && !first && token.line_before && !wants_more(last);
            if ended || (stack.is_empty() && (token.kind == Tok::Semi || (in_block && !first))) {
                break;
            }
            if inside
                && token.kind == Tok::Macro
                && self.starts_item()
                && let Some(scope) = self.host_scopes(&stack)
            {
                self.inner_item(scope);
                (last, first) = (Tok::Kw(Kw::End), false);
                continue;
            }
            if inside
                && token.kind == Tok::Ident
                && (token.line_before || last == Tok::Semi)
                && !stack.is_empty()
                && let Some(scope) = self.host_scopes(&stack).and_then(|scopes| scopes.last().copied())
            {
                self.note_assignments(scope);
            }
            let structure = token.kind == Tok::Kw(Kw::Struct)
                || self.text_of(token) == "mutable" && self.cursor.second().kind == Tok::Kw(Kw::Struct);
            if inside && structure && !stack.is_empty() && self.host_scopes(&stack).is_some() {
                self.inner_struct();
                (last, first) = (Tok::Kw(Kw::End), false);
                continue;
            }
            match token.kind {
                Tok::Eof => break,
                Tok::OpenText | Tok::OpenComment => {
                    self.open_text(token);
                    // The skipped text may contain the closing brackets.
                    let outer = stack.iter().rposition(|o| matches!(o, Open::Block(..))).map_or(0, |n| n + 1);
                    stack.truncate(outer);
                }
                Tok::Macro if !first && token.column == 0 && token.line_before && self.text_of(token) == "@i" => {
                    if self.unbalanced {
                        break;
                    }
                    if resume.is_none() {
                        resume = Some((self.cursor, self.last_end));
                    }
                }
                Tok::LParen | Tok::LBrace => stack.push(Open::Paren(token.start)),
                Tok::LBrack => stack.push(Open::Bracket(token.start)),
                Tok::RParen | Tok::RBrace => {
                    if matches!(stack.last(), Some(Open::Paren(_))) {
                        stack.pop();
                    }
                }
                Tok::RBrack => {
                    if matches!(stack.last(), Some(Open::Bracket(_))) {
                        stack.pop();
                    }
                }
                Tok::Kw(kw) if !self.quoted(token, last) => match kw {
                    Kw::End if indexes(&stack) => {}
                    Kw::End => match stack.iter().rposition(|o| matches!(o, Open::Block(..))) {
                        Some(block) => stack.truncate(block),
                        None => break,
                    },
                    Kw::Else | Kw::Elseif if stack.is_empty() && !first => break,
                    _ if opens(kw, &stack, last) => stack.push(Open::Block(token.start, token.end)),
                    _ => {}
                },
                Tok::Ident if matches!(self.text_of(token), "abstract" | "primitive") => {
                    let next = self.cursor.second();
                    if next.kind == Tok::Ident && self.text_of(next) == "type" {
                        stack.push(Open::Block(token.start, token.end));
                    }
                }
                _ => {}
            }
            last = token.kind;
            first = false;
            self.bump();
        }
        match stack.first() {
            None => return,
            Some(Open::Block(start, end)) => self.block_without_end(*start..*end),
            Some(Open::Paren(start) | Open::Bracket(start)) => {
                self.error(codes::SYNTAX, *start..*start + 1, "this bracket is not closed", "close it where it ends");
            }
        }
        if self.at(Tok::Eof) && !self.stopped && !self.unbalanced {
            if let Some((cursor, last_end)) = resume {
                (self.cursor, self.last_end) = (cursor, last_end);
            }
            self.unbalanced = true;
        }
    }

    /// The scopes of the host that these blocks make; `None` if functions in them are none of the program, because they
    /// are quoted or made by macros.
    fn host_scopes(&self, stack: &[Open]) -> Option<Vec<usize>> {
        let mut scopes = Vec::new();
        for open in stack {
            let Open::Block(start, end) = open else { return None };
            match self.slice(*start..*end) {
                "quote" | "macro" | "struct" => return None,
                "if" | "module" | "baremodule" => {}
                // `@testset "name" begin … end`, as opposed to a plain `begin`
                "begin" => {
                    let line = self.slice(0..*start).rsplit('\n').next().unwrap_or("");
                    if line.trim_start().starts_with("@testset") {
                        scopes.push(*start);
                    }
                }
                _ => scopes.push(*start),
            }
        }
        Some(scopes)
    }

    /// Whether a reserved word is only quoted: `:end`, `x.end`.
    fn quoted(&self, token: Token, last: Tok) -> bool {
        !token.space_before && matches!(last, Tok::Colon | Tok::Dot)
    }

    /// Reports a block without an end.
    pub(super) fn block_without_end(&mut self, opener: Span) {
        let here = self.token();
        let text = self.slice(0..opener.start);
        let line = 1 + text.matches('\n').count();
        let word = self.slice(opener.clone());
        // `@routine begin`, `@routine name begin`
        let before = text.rsplit('\n').next().unwrap_or("").trim_start();
        let routine = word == "begin" && before.starts_with("@routine");
        let what = if routine { format!("{before}{word}") } else { word.to_owned() };
        let (place, until) = (self.place(opener), self.place(here.start..here.end));
        let diagnostic = Diagnostic::error(codes::NO_END, format!("`{what}` in line {line} has no `end`"))
            .at(place, "")
            .also(until, "it is still open here");
        let diagnostic = match self.else_if.take() {
            Some(span) => diagnostic
                .also(self.place(span), "this `if` takes an `end` of its own")
                .help("write `elseif`, as one word; or `end` where the block ends"),
            None => diagnostic.help("write `end` where the block ends"),
        };
        self.report(diagnostic);
    }

    /// Goes to the next statement after an error. `open` is the number of brackets that were opened and not closed.
    pub(super) fn recover(&mut self, open: usize) {
        self.recover_from(open, false);
    }

    /// Goes to the next statement after an error; `whole` tells that no token of the faulty statement has been taken.
    pub(super) fn recover_from(&mut self, open: usize, whole: bool) {
        if !self.lines {
            // Inside of `( …; … )` a line end does not end a statement.
            return self.recover_in_brackets();
        }
        let mut first = whole;
        let mut depth = open;
        let too_long = std::mem::take(&mut self.too_long);
        let mut stay: Option<(Cursor<'_>, usize)> = None;
        let mut lines = 0;
        loop {
            let token = self.token();
            if token.line_before && !std::mem::take(&mut first) {
                if depth == 0 && !(too_long && wants_more(self.last_kind)) {
                    return;
                }
                let fresh = matches!(token.kind, Tok::Kw(_) | Tok::Macro | Tok::Tilde | Tok::Eof);
                if self.stopped {
                    return;
                }
                if fresh || lines >= LINES_AFTER_ERROR {
                    (self.cursor, self.last_end) = stay.unwrap_or((self.cursor, self.last_end));
                    return;
                }
                stay = stay.or(Some((self.cursor, self.last_end)));
                lines += 1;
            }
            match token.kind {
                Tok::Eof => {
                    if let Some((cursor, last_end)) = stay
                        && !self.stopped
                    {
                        (self.cursor, self.last_end) = (cursor, last_end);
                    }
                    return;
                }
                Tok::Semi if depth == 0 => return,
                Tok::LParen | Tok::LBrack | Tok::LBrace => depth += 1,
                Tok::RParen | Tok::RBrack | Tok::RBrace => depth = depth.saturating_sub(1),
                Tok::Kw(Kw::End | Kw::Else | Kw::Elseif) if depth == 0 => return,
                Tok::Kw(kw) if depth == 0 && opens(kw, &[], Tok::Semi) => {
                    // A block that began in the erroneous line is skipped with its contents.
                    self.bump();
                    self.skip_block(&(token.start..token.end));
                    continue;
                }
                _ => {}
            }
            self.bump();
        }
    }

    /// Goes to the next `;` or `)` of the open brackets.
    fn recover_in_brackets(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.kind() {
                Tok::Eof | Tok::Kw(Kw::End | Kw::Else | Kw::Elseif) => return,
                Tok::Semi if depth == 0 => return,
                Tok::RParen if depth == 0 => return,
                Tok::LParen | Tok::LBrack | Tok::LBrace => depth += 1,
                Tok::RParen | Tok::RBrack | Tok::RBrace => depth = depth.saturating_sub(1),
                Tok::Macro if self.starts_item() => return,
                _ => {}
            }
            self.bump();
        }
    }
}

/// Whether a statement cannot end with this token.
fn wants_more(last: Tok) -> bool {
    matches!(
        last,
        Tok::Op(..)
            | Tok::Assign(..)
            | Tok::BadAssign
            | Tok::Equals
            | Tok::Comma
            | Tok::Pair
            | Tok::Pipe
            | Tok::HostOp
            | Tok::Alloc
            | Tok::Free
            | Tok::Question
            | Tok::Arrow
            | Tok::Subtype
            | Tok::Typed
            | Tok::Elem
            | Tok::Exchange
            | Tok::Kw(Kw::In | Kw::Isa | Kw::Where)
    )
}

/// Whether `end` is an index here, as in `x[end]`.
fn indexes(stack: &[Open]) -> bool {
    let mut inner = stack.iter().rev().take_while(|o| !matches!(o, Open::Block(..)));
    inner.any(|o| matches!(o, Open::Bracket(_)))
}

/// Whether a reserved word opens a block here. Inside of brackets, `for` and `if` may belong to a comprehension.
fn opens(kw: Kw, stack: &[Open], last: Tok) -> bool {
    match kw {
        Kw::For | Kw::If => match stack.last() {
            None | Some(Open::Block(..)) => true,
            Some(Open::Paren(_) | Open::Bracket(_)) => !last.ends_operand(),
        },
        Kw::Begin => !matches!(stack.last(), Some(Open::Bracket(_))),
        Kw::Function
        | Kw::While
        | Kw::Let
        | Kw::Struct
        | Kw::Module
        | Kw::Baremodule
        | Kw::Do
        | Kw::Try
        | Kw::Quote
        | Kw::Macro => true,
        _ => false,
    }
}
