//! The canonical layout of Nil programs.
//!
//! It works on the tokens and not on the syntax tree, so that comments, line breaks and the spelling of numbers are
//! kept. Only white space changes: four spaces for each block or bracket that was opened on an earlier line, one space
//! around binary operators and assignments (none around `^` and the `:` of ranges), one after commas, at most one blank
//! line in a row. `<-`, `->` and `xor=` become `←`, `→` and `⊻=`. Skipped host code is left alone.

use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::Diagnostic;

use super::ast::{AssignOp, Binary, Span};
use super::lexer::{Lexer, comment_end};
use super::parser::{Notes, parse_with_notes};
use super::token::{Kw, Tok, Token};

/// Formats a program. Gives the diagnostics instead if the program has errors.
pub fn format_source(text: &str) -> Result<String, Vec<Diagnostic>> {
    let (_, diagnostics, notes) = parse_with_notes(0, text, &Budget::default(), false);
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let mut layout = Layout {
        text,
        out: String::with_capacity(text.len() + text.len() / 8),
        stack: Vec::new(),
        line: 0,
        breaks: 0,
        last: Last::Nothing,
        questions: 0,
    };
    layout.run(&notes);
    Ok(layout.out)
}

/// An open block or bracket.
struct Open {
    /// What kind it is.
    kind: OpenKind,
    /// The line of the output in which it was opened.
    line: usize,
    /// How many `?` were open around it.
    questions: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenKind {
    /// `(` or `{`
    Paren,
    /// `[`
    Bracket,
    /// A block.
    Block,
    /// `module`, whose contents are not indented.
    Module,
}

/// The last thing that was written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Nothing yet.
    Nothing,
    /// A comment, or host code.
    Other,
    /// A token, and how it binds to what follows.
    Token(Tok, Binds),
}

/// How a token binds to its neighbours.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Binds {
    /// An operator between operands, with space.
    Loose,
    /// An operator between operands, without space.
    Tight,
    /// A sign before an operand.
    Sign,
    /// A number such as `1.`, to which little may be joined.
    Point,
    /// Any other token.
    Plain,
}

struct Layout<'a> {
    text: &'a str,
    out: String,
    stack: Vec<Open>,
    line: usize,
    /// The number of line ends since the last thing that was written.
    breaks: usize,
    last: Last,
    /// How many `?` in these brackets have no `:` yet.
    questions: usize,
}

impl<'a> Layout<'a> {
    fn run(&mut self, notes: &Notes) {
        let mut lexer = Lexer::new(self.text, 0, self.text.len());
        let mut verbatim = notes.verbatim.iter().peekable();
        let mut spellings = notes.spellings.iter().copied().peekable();
        let mut pos = 0;
        loop {
            let token = lexer.token();
            while verbatim.next_if(|span| span.end <= pos).is_some() {}
            if let Some(span) = verbatim.next_if(|span| span.start <= token.start) {
                self.gap(pos, span.start);
                self.host(span);
                pos = span.end;
                lexer = Lexer::new(self.text, pos, self.text.len());
                continue;
            }
            self.gap(pos, token.start);
            if token.kind == Tok::Eof {
                break;
            }
            pos = token.end;
            if spellings.next_if_eq(&token.start).is_some() {
                let (kind, text) = match token.kind {
                    Tok::Arrow => (Tok::Free, "→"),
                    Tok::Ident => (Tok::Assign(AssignOp::Xor, false), "⊻="),
                    _ => (Tok::Alloc, "←"),
                };
                if token.kind != Tok::Arrow {
                    pos = lexer.token().end;
                }
                self.token(Token { kind, ..token }, text, false);
                continue;
            }
            let text = match token.kind {
                Tok::Assign(AssignOp::Xor, false) => "⊻=",
                Tok::Assign(AssignOp::Xor, true) => ".⊻=",
                _ => self.slice(token.start..token.end),
            };
            let mut ahead = lexer;
            let spaced = token.kind == Tok::Colon && (token.space_before || ahead.token().space_before);
            self.token(token, text, spaced);
        }
        if !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    fn slice(&self, span: Span) -> &'a str {
        self.text.get(span).unwrap_or("")
    }

    /// Writes the comments between two tokens, and counts the line ends.
    fn gap(&mut self, start: usize, end: usize) {
        let mut pos = start;
        while let Some(rest) = self.text.get(pos..end)
            && let Some(c) = rest.chars().next()
        {
            if c == '\n' {
                self.breaks += 1;
                pos += 1;
            } else if c == '#' {
                let len = match rest.as_bytes().get(1) {
                    Some(b'=') => comment_end(self.text, pos, end).map_or(rest.len(), |e| e - pos),
                    _ => rest.find('\n').unwrap_or(rest.len()),
                };
                self.comment(rest.get(..len).unwrap_or(""));
                pos += len;
            } else {
                pos += c.len_utf8();
            }
        }
    }

    fn comment(&mut self, text: &str) {
        if self.breaks > 0 || self.last == Last::Nothing {
            let more = self.continued();
            self.new_line(None, more);
        } else {
            self.out.push(' ');
        }
        self.out.push_str(text.trim_end());
        // The token before the comment still decides whether the next line continues its statement.
        if self.last == Last::Nothing {
            self.last = Last::Other;
        }
        self.breaks = 0;
        self.after_comment();
    }

    /// The next token on the same line keeps its distance from a comment.
    fn after_comment(&mut self) {
        if let Last::Token(kind, Binds::Sign | Binds::Tight | Binds::Point) = self.last {
            self.last = Last::Token(kind, Binds::Loose);
        }
    }

    /// Writes host code unchanged.
    fn host(&mut self, span: &Span) {
        let text = self.slice(span.clone());
        let using = text.starts_with("using") || text.starts_with("import");
        if self.breaks == 0 && self.last != Last::Nothing {
            self.out.push(' ');
        } else if using {
            self.new_line(None, false);
        } else {
            // Its first line keeps its indentation, as its other lines do.
            let before = self.slice(0..span.start);
            let blank = before.len() - before.trim_end_matches([' ', '\t']).len();
            let indent = before.get(before.len() - blank..).unwrap_or("");
            self.end_line();
            self.out.push_str(indent);
        }
        self.out.push_str(text);
        self.breaks = 0;
        self.last = Last::Other;
    }

    fn end_line(&mut self) {
        if self.last != Last::Nothing {
            self.out.push('\n');
            if self.breaks > 1 {
                self.out.push('\n');
            }
        }
        self.line += 1;
    }

    /// Begins a line. `closed` is the line of the opener that the line's first token closes; `more` tells whether the
    /// line continues a statement.
    fn new_line(&mut self, closed: Option<usize>, more: bool) {
        self.end_line();
        let mut indent = usize::from(more);
        let mut before = closed;
        for open in self.stack.iter().rev() {
            if open.kind != OpenKind::Module && before != Some(open.line) {
                indent += 1;
                before = Some(open.line);
            }
        }
        for _ in 0..indent {
            self.out.push_str("    ");
        }
    }

    fn in_brackets(&self) -> bool {
        self.stack.last().is_some_and(|o| matches!(o.kind, OpenKind::Paren | OpenKind::Bracket))
    }

    /// Whether the next line continues the statement of this line, outside of brackets.
    fn continued(&self) -> bool {
        match self.last {
            Last::Token(Tok::Comma, _) | Last::Token(_, Binds::Loose | Binds::Tight | Binds::Sign) => {
                !self.in_brackets()
            }
            Last::Token(..) | Last::Other | Last::Nothing => false,
        }
    }

    /// Writes a token. `spaced` tells whether white space stands beside a `:`.
    fn token(&mut self, token: Token, text: &str, spaced: bool) {
        let starts_line = self.breaks > 0 || self.last == Last::Nothing;
        let more = self.continued() || (token.kind == Tok::Kw(Kw::Where) && !self.in_brackets());
        let starts_statement = starts_line && !more && !self.in_brackets();
        let operand = !starts_statement && self.after_operand();
        let binds = self.binding(token.kind, operand, spaced, text);
        let mut closed = None;
        match token.kind {
            Tok::RParen | Tok::RBrack | Tok::RBrace => closed = self.close(),
            Tok::Kw(Kw::End) if !self.indexes() => {
                while self.in_brackets() {
                    self.close();
                }
                closed = self.close();
            }
            Tok::Kw(Kw::Else | Kw::Elseif) => closed = self.close(),
            _ => {}
        }
        if starts_line {
            self.new_line(closed, more);
        } else if self.space(token, binds) {
            self.out.push(' ');
        }
        self.out.push_str(text);
        match token.kind {
            Tok::LParen | Tok::LBrace => self.open(OpenKind::Paren),
            Tok::LBrack => self.open(OpenKind::Bracket),
            Tok::Kw(Kw::Module | Kw::Baremodule) => self.open(OpenKind::Module),
            Tok::Kw(Kw::Begin) if self.indexes() => {}
            Tok::Kw(Kw::Function | Kw::Struct | Kw::If | Kw::Elseif | Kw::Else | Kw::While | Kw::For | Kw::Begin) => {
                self.open(OpenKind::Block);
            }
            Tok::Question => self.questions += 1,
            Tok::Colon if binds == Binds::Loose => self.questions = self.questions.saturating_sub(1),
            _ => {}
        }
        self.breaks = 0;
        self.last = Last::Token(token.kind, binds);
    }

    fn open(&mut self, kind: OpenKind) {
        self.stack.push(Open { kind, line: self.line, questions: self.questions });
        self.questions = 0;
    }

    fn close(&mut self) -> Option<usize> {
        let open = self.stack.pop()?;
        self.questions = open.questions;
        (open.kind != OpenKind::Module).then_some(open.line)
    }

    /// Whether `end` is an index here.
    fn indexes(&self) -> bool {
        let brackets = |o: &&Open| matches!(o.kind, OpenKind::Paren | OpenKind::Bracket);
        self.stack.iter().rev().take_while(brackets).any(|o| o.kind == OpenKind::Bracket)
    }

    fn after_operand(&self) -> bool {
        match self.last {
            Last::Nothing => false,
            Last::Other => true,
            Last::Token(Tok::Kw(Kw::Begin), _) => self.indexes(),
            Last::Token(kind, binds) => kind.ends_operand() || (kind == Tok::Colon && binds == Binds::Plain),
        }
    }

    /// How a token binds at this point.
    fn binding(&self, kind: Tok, operand: bool, spaced: bool, text: &str) -> Binds {
        match kind {
            Tok::Op(Binary::Add | Binary::Sub, false) | Tok::Subtype if !operand => Binds::Sign,
            Tok::Kw(Kw::Begin) if self.indexes() => Binds::Plain,
            Tok::Not | Tok::Tilde | Tok::Root => Binds::Sign,
            // The name of an operator: `(:+=)(*)`, `:(+=)(f)`.
            Tok::Op(..) | Tok::Assign(..) if !operand => Binds::Plain,
            Tok::Op(Binary::Pow, _) => Binds::Tight,
            Tok::Op(..) | Tok::Assign(..) | Tok::Equals | Tok::Alloc | Tok::Free | Tok::Pipe | Tok::Pair => {
                Binds::Loose
            }
            Tok::Question | Tok::Elem | Tok::Exchange | Tok::Subtype | Tok::Kw(Kw::In | Kw::Where) => Binds::Loose,
            Tok::Colon if !operand => Binds::Plain,
            Tok::Colon if self.questions > 0 && spaced => Binds::Loose,
            Tok::Colon => Binds::Tight,
            Tok::Real if text.ends_with('.') => Binds::Point,
            _ => Binds::Plain,
        }
    }

    /// Whether a space stands between the last token and this one.
    fn space(&self, token: Token, binds: Binds) -> bool {
        let Last::Token(last, last_binds) = self.last else { return self.last == Last::Other };
        let closes = matches!(token.kind, Tok::Comma | Tok::Semi | Tok::RParen | Tok::RBrack | Tok::RBrace);
        if self.out.ends_with("=#") {
            // A comment stands between them.
            return true;
        }
        if last_binds == Binds::Point && !closes {
            return true;
        }
        if matches!((last, token.kind), (Tok::Colon, Tok::Colon | Tok::Typed) | (Tok::Typed, Tok::Colon)) {
            // Without a space they would be read as `::`, or more.
            return true;
        }
        if last_binds == Binds::Sign || closes || matches!(token.kind, Tok::Prime | Tok::Typed | Tok::Dot | Tok::Splat)
        {
            return false;
        }
        match last {
            Tok::LParen | Tok::LBrack | Tok::LBrace | Tok::Dot | Tok::Typed => return false,
            // The `:` of `(:+=)`.
            Tok::Colon if last_binds == Binds::Plain => return false,
            Tok::Comma | Tok::Semi => return true,
            _ => {}
        }
        if binds == Binds::Loose || last_binds == Binds::Loose {
            return true;
        }
        if binds == Binds::Tight || last_binds == Binds::Tight {
            return false;
        }
        match token.kind {
            Tok::LParen | Tok::LBrack | Tok::LBrace => {
                token.space_before || matches!(last, Tok::Kw(kw) if kw != Kw::End)
            }
            _ => token.space_before || matches!(last, Tok::Kw(_) | Tok::Macro) || matches!(token.kind, Tok::Kw(_)),
        }
    }
}
