//! Parses statements: from the tokens of a line to the [`Ast`](crate::ast::Ast).
//!
//! This module reads labels, instructions and most directives. Those that change the text that is read (macros,
//! includes) are handled by [`expand`](crate::expand). Expressions are in [`expr`](crate::expr). An error is reported
//! where it is found, and the rest of the line is skipped.

mod directives;

use pendula_isa::budget::Budget;
use pendula_isa::table::Row;
use pendula_isa::{Kind, Reg, mnemonic};

use crate::ast::{Arg, ArgKind, Binary, Op, Span, Via};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::expand::Origin;
use crate::head::{DIRECTIVES, Directive, Head};
use crate::intern::Sym;
use crate::object::NAME_LIMIT;
use crate::session::{Parsed, Reported, Session};
use crate::token::{Tok, Token};

/// A line that is being read.
pub(crate) struct Parser<'a> {
    pub(crate) s: &'a mut Session,
    pub(crate) tokens: &'a [Token],
    pub(crate) origin: &'a Origin,
    pub(crate) via: Via,
    pub(crate) budget: &'a Budget,
    /// Whether the line's comment has the form `#5`, which other assemblers take for a constant.
    pub(crate) hash: bool,
    at: usize,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(
        s: &'a mut Session,
        tokens: &'a [Token],
        origin: &'a Origin,
        via: Via,
        budget: &'a Budget,
    ) -> Parser<'a> {
        Parser { s, tokens, origin, via, budget, hash: false, at: 0 }
    }

    /// The current token. The last one is [`Tok::End`].
    pub(crate) fn tok(&self) -> Tok {
        self.tokens.get(self.at).map_or(Tok::End, |t| t.tok)
    }

    /// The previous token.
    pub(crate) fn last(&self) -> Tok {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(Tok::End, |t| t.tok)
    }

    pub(crate) fn peek(&self, n: usize) -> Tok {
        self.tokens.get(self.at + n).map_or(Tok::End, |t| t.tok)
    }

    pub(crate) fn advance(&mut self) {
        self.at += 1;
    }

    /// Passes over tokens that have been read.
    pub(crate) fn skip(&mut self, tokens: usize) {
        self.at += tokens;
    }

    /// Reads the operands of a step of a definition.
    pub(crate) fn arguments(&mut self) -> Parsed<Vec<Arg>> {
        let first = self.s.ast.args.len();
        let read = self.args();
        let args = self.s.ast.args.split_off(first.min(self.s.ast.args.len()));
        read.map(|()| args)
    }

    /// The place of the current token.
    pub(crate) fn span(&self) -> Span {
        self.span_at(self.at)
    }

    pub(crate) fn last_span(&self) -> Span {
        self.span_at(self.at.saturating_sub(1))
    }

    fn span_at(&self, at: usize) -> Span {
        self.tokens.get(at).or(self.tokens.last()).map_or(Span::default(), |t| self.origin.span(t.start, t.len))
    }

    /// The number of tokens that have been read.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// The register at this place, if there is one.
    pub(crate) fn register(&self) -> Option<Reg> {
        match self.tok() {
            Tok::Name(name) => self.s.names.register(name),
            _ => None,
        }
    }

    pub(crate) fn fail(&mut self, code: &'static str, message: impl Into<String>, span: Span, help: &str) -> Reported {
        self.s.fail(code, message, span, self.via, help)
    }

    /// The current token, for messages.
    pub(crate) fn describe(&self) -> String {
        match self.tok() {
            Tok::End => "the end of the line".to_string(),
            Tok::Name(name) => format!("`{}`", self.s.names.text(name)),
            Tok::Int(_) | Tok::Real(..) | Tok::Raw(_) => "a number".to_string(),
            Tok::Text(_) => "a text".to_string(),
            Tok::Colon => "`:`".to_string(),
            Tok::Comma => "`,`".to_string(),
            Tok::Open => "`[`".to_string(),
            Tok::Close => "`]`".to_string(),
            Tok::OpenParen => "`(`".to_string(),
            Tok::CloseParen => "`)`".to_string(),
            Tok::Equals => "`=`".to_string(),
            Tok::Tilde => "`~`".to_string(),
            Tok::Operator(op) => format!("`{}`", op.sign()),
            Tok::Parameter | Tok::Error => "something else".to_string(),
        }
    }

    /// Reports that something else is expected here.
    pub(crate) fn expected(&mut self, what: &str, help: &str) -> Reported {
        let span = self.span();
        let code = if self.tok() == Tok::End { codes::MISSING } else { codes::SYNTAX };
        match self.tok() {
            Tok::Error => Reported,
            Tok::Parameter => {
                let help = "a backslash and a name stand for a parameter in the body of a `.macro` that has it";
                self.fail(codes::CHARACTER, "this is not a parameter of a macro here", span, help)
            }
            _ => {
                let message = format!("{what} was expected here, found {}", self.describe());
                self.fail(code, message, span, help)
            }
        }
    }

    /// Reads the labels of a line, then its first word. Returns the word's meaning, name and place; `None` if nothing
    /// follows, or nothing that can be read.
    pub(crate) fn head(&mut self) -> Option<(Head, Sym, Span)> {
        while let Tok::Name(name) = self.tok() {
            if self.peek(1) != Tok::Colon {
                return Some(self.word(name));
            }
            self.label(name);
        }
        if self.tok() != Tok::End {
            let help = match self.tok() {
                Tok::Int(_) | Tok::Real(..) => "a label does not begin with a digit",
                Tok::Operator(Binary::Div | Binary::Mul) => COMMENT,
                _ => "a line has labels with colons, then an instruction or a directive",
            };
            let span = self.span();
            self.expected("an instruction", help);
            self.s.ast.push(Op::Bad, span, self.via, usize::MAX);
        }
        None
    }

    fn label(&mut self, name: Sym) {
        let span = self.span();
        self.advance();
        self.advance();
        if self.definable(name, span, "a label").is_ok() {
            self.s.ast.push(Op::Label(name), span, self.via, usize::MAX);
        }
    }

    /// Checks that a name may be defined.
    fn definable(&mut self, name: Sym, span: Span, what: &str) -> Parsed<()> {
        let len = self.s.names.text(name).len();
        if len > NAME_LIMIT {
            let message = format!("{what} of {len} bytes: names have {NAME_LIMIT} at most");
            return Err(self.fail(codes::RESERVED, message, span, "choose a shorter name"));
        }
        match self.s.names.register(name) {
            None => Ok(()),
            Some(reg) => {
                let message = format!("{what} cannot have the name of a register, {reg}");
                Err(self.fail(codes::RESERVED, message, span, "choose a name that is not a register"))
            }
        }
    }

    fn word(&mut self, name: Sym) -> (Head, Sym, Span) {
        let mut span = self.span();
        self.advance();
        let head = head_of(self.s, name);
        // The only directive with a sign in its name.
        if let (Head::UnknownDirective, Tok::Operator(Binary::Sub), Tok::Name(doc)) = (head, self.tok(), self.peek(1)) {
            let is = |sym, text: &str| self.s.names.text(sym).eq_ignore_ascii_case(text);
            if is(name, ".proc") && is(doc, "doc") {
                span = span.to(self.span_at(self.at + 1));
                self.at += 2;
                return (Head::Directive(Directive::ProcDoc), name, span);
            }
        }
        (head, name, span)
    }

    /// Reads the operands of an instruction.
    pub(crate) fn instruction(&mut self, kind: Kind, span: Span) {
        let first = self.s.ast.args.len();
        let op = match self.args() {
            Ok(()) => Op::Inst(kind),
            // A procedure has its name even so, for its callers.
            Err(Reported) if is_proc(kind) && self.s.ast.args.len() > first => Op::Inst(kind),
            Err(Reported) => {
                self.s.ast.args.truncate(first);
                Op::Bad
            }
        };
        self.s.ast.push(op, span, self.via, first);
    }

    /// Reads arguments separated by commas, up to the end of the line.
    fn args(&mut self) -> Parsed<()> {
        if self.tok() == Tok::End {
            return Ok(());
        }
        loop {
            let arg = self.arg()?;
            self.s.ast.args.push(arg);
            match self.tok() {
                Tok::Comma => self.advance(),
                Tok::End => return Ok(()),
                _ => return Err(self.after()),
            }
        }
    }

    /// Reports text after an operand where a comma is expected.
    fn after(&mut self) -> Reported {
        let behind_name = matches!(self.last(), Tok::Name(name) if self.s.names.register(name).is_none());
        let help = match self.tok() {
            Tok::Open if behind_name => "a word of an array is written `[a+r1]`",
            Tok::OpenParen if behind_name => {
                "a call names the procedure alone, `call NAME`; a word of an array is written `[a+r1]`"
            }
            Tok::OpenParen => "a word of memory is written in brackets, all that its address is made of: `[r1+4]`",
            Tok::Colon => "a label is at the beginning of a line; references to it have no colon",
            _ => "operands are separated by commas; a comment begins with `;`",
        };
        self.expected("a comma or the end of the line", help)
    }

    fn arg(&mut self) -> Parsed<Arg> {
        let span = self.span();
        let alone = |tok| matches!(tok, Tok::Comma | Tok::End | Tok::Colon);
        let kind = match (self.tok(), self.peek(1)) {
            (Tok::Name(name), next) if alone(next) => {
                self.advance();
                match self.s.names.register(name) {
                    Some(reg) => ArgKind::Reg(reg),
                    None => ArgKind::Name(name),
                }
            }
            // If an operator follows, the register is taken for part of a constant, which is an error.
            (Tok::Name(name), next) if self.s.names.register(name).is_some() && !matches!(next, Tok::Operator(_)) => {
                self.advance();
                return Err(self.after());
            }
            (Tok::Int(magnitude), next) if alone(next) => {
                self.advance();
                ArgKind::Int { negative: false, magnitude }
            }
            (Tok::Operator(Binary::Sub), Tok::Int(magnitude)) if alone(self.peek(2)) => {
                self.at += 2;
                ArgKind::Int { negative: true, magnitude }
            }
            (Tok::Text(text), _) => {
                self.advance();
                ArgKind::Text(text)
            }
            (Tok::Open, _) => self.address()?,
            (Tok::Comma | Tok::End, _) => {
                let help = if self.hash && self.tok() == Tok::End {
                    "`#` begins a comment: constants are written without it, `5`"
                } else {
                    "write an operand, or remove the comma"
                };
                return Err(self.expected("an operand", help));
            }
            _ => {
                let (expr, span) = self.expression()?;
                return Ok(Arg { span, kind: ArgKind::Expr(expr) });
            }
        };
        Ok(Arg { span: span.to(self.last_span()), kind })
    }

    /// Checks that the line ends here.
    pub(crate) fn end(&mut self) -> Parsed<()> {
        if self.tok() == Tok::End {
            return Ok(());
        }
        Err(self.expected("the end of the line", "one statement stands on a line; a comment begins with `;`"))
    }

    /// A name that is not a register.
    pub(crate) fn name(&mut self, what: &str) -> Parsed<(Sym, Span)> {
        let span = self.span();
        let Tok::Name(name) = self.tok() else {
            return Err(
                self.expected(&format!("the name of {what}"), "names consist of letters, digits, `_`, `.` and `$`")
            );
        };
        self.definable(name, span, what)?;
        self.advance();
        Ok((name, span))
    }

    /// A text in quotes.
    pub(crate) fn text(&mut self, what: &str) -> Parsed<(Sym, Span)> {
        let span = self.span();
        let Tok::Text(text) = self.tok() else {
            return Err(self.expected(what, "texts are in double quotes"));
        };
        self.advance();
        Ok((text, span))
    }
}

/// Help for a comment that is written as in other languages.
pub(crate) const COMMENT: &str = "a comment begins with `;` or `#`, and goes to the end of the line";

/// Whether an instruction begins a procedure.
fn is_proc(kind: Kind) -> bool {
    matches!(kind, Kind::Row { row: Row::Proc, inverse: false, .. })
}

/// The meaning of a word at the start of a statement.
pub(crate) fn head_of(s: &mut Session, name: Sym) -> Head {
    s.names.head(name).unwrap_or_else(|| {
        let word = s.names.text(name).to_ascii_lowercase();
        let head = s.extension(&word).map_or_else(|| classify(&word), Head::Inst);
        s.names.set_head(name, head);
        head
    })
}

fn classify(word: &str) -> Head {
    if let Some(kind) = mnemonic::lookup(word) {
        return Head::Inst(kind);
    }
    match DIRECTIVES.iter().find(|(name, _)| *name == word) {
        Some((_, directive)) => Head::Directive(*directive),
        None if word.starts_with('.') => Head::UnknownDirective,
        None => Head::UnknownMnemonic,
    }
}

/// Whether two words differ by one letter that is added, removed, changed or exchanged with its neighbour.
pub(crate) fn near(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[same..], &b[same..]);
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    match (&a[..a.len() - tail], &b[..b.len() - tail]) {
        ([] | [_], [] | [_]) => true,
        ([x, y], [z, w]) => x == w && y == z,
        _ => false,
    }
}

/// An error for a name that is taken.
pub(crate) fn duplicate(s: &Session, name: Sym, what: &str, span: Span, first: Span) -> Diagnostic {
    let message = format!("{what} `{}` is defined twice", s.names.text(name));
    s.error(codes::DUPLICATE, message, span)
        .also(s.place(first), "first defined here")
        .help("give one of them another name")
}
