//! Statements: from the tokens of a line to the [`Ast`](crate::ast::Ast).
//!
//! Labels, instructions and directives that stand for themselves are read
//! here; what changes the text that is read (macros, includes) is
//! [`expand`](crate::expand)'s. Expressions are in [`expr`](crate::expr).
//! An error is reported where it is found and ends its line.

use pendula_isa::budget::Budget;
use pendula_isa::{Acc, Kind, Reg, Ty, mnemonic};

use crate::ast::{Arg, ArgKind, Binary, DIRECTIVES, Directive, Head, Mark, Op, Span, Via};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::expand::Origin;
use crate::intern::Sym;
use crate::lexer::{Tok, Token};
use crate::session::{Parsed, Reported, Session};

/// A line being read.
pub(crate) struct Parser<'a> {
    pub(crate) s: &'a mut Session,
    pub(crate) tokens: &'a [Token],
    pub(crate) origin: &'a Origin,
    pub(crate) via: Via,
    pub(crate) budget: &'a Budget,
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
        Parser { s, tokens, origin, via, budget, at: 0 }
    }

    /// The token here; the last one is [`Tok::End`].
    pub(crate) fn tok(&self) -> Tok {
        self.tokens.get(self.at).map_or(Tok::End, |t| t.tok)
    }

    fn ahead(&self, n: usize) -> Tok {
        self.tokens.get(self.at + n).map_or(Tok::End, |t| t.tok)
    }

    pub(crate) fn advance(&mut self) {
        self.at += 1;
    }

    /// The token's place.
    pub(crate) fn span(&self) -> Span {
        self.span_at(self.at)
    }

    pub(crate) fn last_span(&self) -> Span {
        self.span_at(self.at.saturating_sub(1))
    }

    fn span_at(&self, at: usize) -> Span {
        self.tokens.get(at).or(self.tokens.last()).map_or(Span::default(), |t| self.origin.span(t.start, t.len))
    }

    /// How many tokens have been read.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// The register here, if there is one.
    pub(crate) fn register(&self) -> Option<Reg> {
        match self.tok() {
            Tok::Name(name) => self.s.names.register(name),
            _ => None,
        }
    }

    pub(crate) fn fail(&mut self, code: &'static str, message: impl Into<String>, span: Span, help: &str) -> Reported {
        self.s.fail(code, message, span, self.via, help)
    }

    /// The token here, for messages.
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

    /// Reports that something else stands here.
    pub(crate) fn expected(&mut self, what: &str, help: &str) -> Reported {
        let span = self.span();
        let code = if self.tok() == Tok::End { codes::MISSING } else { codes::SYNTAX };
        match self.tok() {
            Tok::Error => Reported,
            Tok::Parameter => {
                let help = "a backslash and a name stand for a parameter in the body of a `.macro` that has it";
                self.fail(codes::CHARACTER, "this is no parameter of a macro here", span, help)
            }
            _ => {
                let message = format!("{what} was expected here, found {}", self.describe());
                self.fail(code, message, span, help)
            }
        }
    }

    /// Reads the labels of a line, then its first word: what it means, and its place. `None` where nothing
    /// follows, or nothing that can be read.
    pub(crate) fn head(&mut self) -> Option<(Head, Sym, Span)> {
        while let Tok::Name(name) = self.tok() {
            if self.ahead(1) != Tok::Colon {
                return Some(self.word(name));
            }
            self.label(name);
        }
        if self.tok() != Tok::End {
            let help = match self.tok() {
                Tok::Int(_) | Tok::Real(..) => "a label does not begin with a digit",
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

    /// Checks that a name may be given to something.
    fn definable(&mut self, name: Sym, span: Span, what: &str) -> Parsed<()> {
        match self.s.names.register(name) {
            None => Ok(()),
            Some(reg) => {
                let message = format!("{what} cannot have the name of a register, {reg}");
                Err(self.fail(codes::RESERVED, message, span, "choose a name that is no register"))
            }
        }
    }

    fn word(&mut self, name: Sym) -> (Head, Sym, Span) {
        let mut span = self.span();
        self.advance();
        let head = head_of(self.s, name);
        // The one directive with a sign in its name.
        if let (Head::UnknownDirective, Tok::Operator(Binary::Sub), Tok::Name(doc)) = (head, self.tok(), self.ahead(1))
        {
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
            Err(Reported) => {
                self.s.ast.args.truncate(first);
                Op::Bad
            }
        };
        self.s.ast.push(op, span, self.via, first);
    }

    /// Reports a first word that means nothing.
    pub(crate) fn unknown(&mut self, head: Head, name: Sym, span: Span) {
        let word = self.s.names.text(name).to_string();
        let lower = word.to_ascii_lowercase();
        let (code, message, near) = if head == Head::UnknownDirective {
            let near = DIRECTIVES
                .iter()
                .map(|(n, _)| *n)
                .filter(|n| near(n, &lower))
                .min_by_key(|n| n.len().abs_diff(lower.len()));
            (codes::DIRECTIVE, format!("there is no directive `{word}`"), near)
        } else {
            (codes::MNEMONIC, format!("there is no instruction `{word}`"), mnemonic::suggest(&lower))
        };
        let accumulates = other_accumulators(&lower);
        let help = match near {
            _ if !accumulates.is_empty() => {
                format!("there are {}; the others would lose bits, or have no meaning", accumulates.join(", "))
            }
            Some(near) => format!("did you mean `{near}`?"),
            None if self.tok() == Tok::Equals => "a constant is defined by `.equ NAME, value`".to_string(),
            None if head == Head::UnknownDirective => {
                "the manual's chapter on the assembler lists the directives".to_string()
            }
            None => {
                "`pendula isa` lists the instructions; a label ends with a colon, and a macro is defined before its use"
                    .to_string()
            }
        };
        self.s.fail(code, message, span, self.via, help);
        self.s.ast.push(Op::Bad, span, self.via, usize::MAX);
    }

    /// Reads arguments with commas between them, up to the end of the line.
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
                _ => return Err(self.expected(AFTER, AFTER_HELP)),
            }
        }
    }

    fn arg(&mut self) -> Parsed<Arg> {
        let span = self.span();
        let alone = |tok| matches!(tok, Tok::Comma | Tok::End);
        let kind = match (self.tok(), self.ahead(1)) {
            (Tok::Name(name), next) if alone(next) => {
                self.advance();
                match self.s.names.register(name) {
                    Some(reg) => ArgKind::Reg(reg),
                    None => ArgKind::Name(name),
                }
            }
            // With an operator behind it the register is taken for part of a constant, which it cannot be.
            (Tok::Name(name), next) if self.s.names.register(name).is_some() && !matches!(next, Tok::Operator(_)) => {
                self.advance();
                return Err(self.expected(AFTER, AFTER_HELP));
            }
            (Tok::Int(magnitude), next) if alone(next) => {
                self.advance();
                ArgKind::Int { negative: false, magnitude }
            }
            (Tok::Operator(Binary::Sub), Tok::Int(magnitude)) if alone(self.ahead(2)) => {
                self.at += 2;
                ArgKind::Int { negative: true, magnitude }
            }
            (Tok::Text(text), _) => {
                self.advance();
                ArgKind::Text(text)
            }
            (Tok::Open, _) => self.address()?,
            (Tok::Comma | Tok::End, _) => {
                return Err(self.expected("an operand", "write an operand, or take away the comma"));
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

    /// A name that is no register.
    pub(crate) fn name(&mut self, what: &str) -> Parsed<(Sym, Span)> {
        let span = self.span();
        let Tok::Name(name) = self.tok() else {
            return Err(self.expected(&format!("the name of {what}"), "names are of letters, digits, `_`, `.` and `$`"));
        };
        self.definable(name, span, what)?;
        self.advance();
        Ok((name, span))
    }

    /// A text in quotes.
    pub(crate) fn text(&mut self, what: &str) -> Parsed<(Sym, Span)> {
        let span = self.span();
        let Tok::Text(text) = self.tok() else {
            return Err(self.expected(what, "texts stand in double quotes"));
        };
        self.advance();
        Ok((text, span))
    }

    /// Reads a directive that stands for itself.
    pub(crate) fn directive(&mut self, directive: Directive, span: Span) {
        let first = self.s.ast.args.len();
        let op = match self.directive_op(directive, span) {
            Ok(op) => op,
            Err(Reported) => {
                self.s.ast.args.truncate(first);
                // What follows is in the section all the same.
                match directive {
                    Directive::Text => Op::Text,
                    Directive::Data => Op::Data,
                    _ => return,
                }
            }
        };
        self.s.ast.push(op, span, self.via, first);
    }

    fn directive_op(&mut self, directive: Directive, span: Span) -> Parsed<Op> {
        let op = match directive {
            Directive::Text => Op::Text,
            Directive::Data => Op::Data,
            Directive::Irreversible => Op::Irreversible,
            Directive::LandsAnywhere => Op::LandsAnywhere,
            Directive::Words(ty) => {
                self.some_args("a number")?;
                Op::Words(ty)
            }
            Directive::Space => return self.space(),
            Directive::Import | Directive::Export | Directive::Global => {
                loop {
                    let (name, span) = self.name("a symbol")?;
                    self.s.ast.args.push(Arg { span, kind: ArgKind::Name(name) });
                    if self.tok() != Tok::Comma {
                        break;
                    }
                    self.advance();
                }
                match directive {
                    Directive::Import => Op::Import,
                    Directive::Export => Op::Export,
                    _ => Op::Global,
                }
            }
            Directive::Mem => {
                self.constant()?;
                Op::Mem
            }
            Directive::Format => {
                let (name, span) = self.name("a fixed-point format")?;
                self.s.ast.args.push(Arg { span, kind: ArgKind::Name(name) });
                Op::Format
            }
            Directive::Profile => {
                let (name, span) = self.name("a profile")?;
                self.s.ast.args.push(Arg { span, kind: ArgKind::Name(name) });
                Op::Profile
            }
            Directive::Start => {
                let (name, span) = self.name("a label")?;
                self.s.ast.args.push(Arg { span, kind: ArgKind::Name(name) });
                Op::Start
            }
            Directive::Equ => {
                let (name, _) = self.name("a constant")?;
                if self.tok() == Tok::Comma || self.tok() == Tok::Equals {
                    self.advance();
                } else {
                    return Err(self.expected("a comma", "write `.equ NAME, value`"));
                }
                self.constant()?;
                Op::Equ(name)
            }
            Directive::Routine | Directive::Unroutine => {
                let (name, _) = self.name("a routine")?;
                Op::Mark(Mark::Begin { name, undo: directive == Directive::Unroutine })
            }
            Directive::EndRoutine | Directive::EndUnroutine => {
                let name = if self.tok() == Tok::End { None } else { Some(self.name("a routine")?.0) };
                Op::Mark(Mark::End { name, undo: directive == Directive::EndUnroutine })
            }
            Directive::ProcDoc => Op::ProcDoc(self.text("a text")?.0),
            Directive::Why => Op::Why(self.text("a text")?.0),
            Directive::Endm => {
                let help = "take it away, or begin the macro with `.macro NAME`";
                return Err(self.fail(codes::MACRO, "this `.endm` ends no macro", span, help));
            }
            // Read by `expand`, which does not hand them on.
            Directive::Include | Directive::Macro => return Err(Reported),
        };
        self.end()?;
        Ok(op)
    }

    fn some_args(&mut self, what: &str) -> Parsed<()> {
        if self.tok() == Tok::End {
            return Err(self.expected(what, "write one or more, separated by commas"));
        }
        self.args()
    }

    fn constant(&mut self) -> Parsed<()> {
        let (expr, span) = self.expression()?;
        self.s.ast.args.push(Arg { span, kind: ArgKind::Expr(expr) });
        Ok(())
    }

    /// `.space n[, type]`
    fn space(&mut self) -> Parsed<Op> {
        self.constant()?;
        let mut ty = None;
        if self.tok() == Tok::Comma {
            self.advance();
            let letter = match self.tok() {
                Tok::Name(name) => self.s.names.text(name).to_ascii_lowercase(),
                _ => String::new(),
            };
            let mut chars = letter.chars();
            ty = match (chars.next().and_then(Ty::from_letter), chars.next()) {
                (Some(ty), None) => Some(ty),
                _ => return Err(self.expected("a number type", "the types are `i`, `q`, `l` and `f`: `.space 16, q`")),
            };
            self.advance();
        }
        self.end()?;
        Ok(Op::Space(ty))
    }
}

/// What follows an operand.
const AFTER: &str = "a comma or the end of the line";
const AFTER_HELP: &str = "operands are separated by commas; a comment begins with `;`";

/// What a word means at the start of a statement.
pub(crate) fn head_of(s: &mut Session, name: Sym) -> Head {
    s.names.head(name).unwrap_or_else(|| {
        let head = classify(&s.names.text(name).to_ascii_lowercase());
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

/// The accumulate instructions that differ from a word in the accumulator only, in backquotes.
fn other_accumulators(word: &str) -> Vec<String> {
    let names = Acc::ALL.iter().flat_map(|acc| [acc.name(false), acc.name(true)]);
    let known = |rest: &str| {
        let mut out: Vec<String> =
            names.clone().map(|name| format!("{name}{rest}")).filter(|w| mnemonic::lookup(w).is_some()).collect();
        out.dedup();
        out.iter().map(|w| format!("`{w}`")).collect()
    };
    let rest = names.clone().find_map(|name| word.strip_prefix(name));
    rest.map_or_else(Vec::new, known)
}

/// Whether two words differ by one letter more, less, changed or exchanged with its neighbour.
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

/// A note that a name is taken.
pub(crate) fn duplicate(s: &Session, name: Sym, what: &str, span: Span, first: Span) -> Diagnostic {
    let message = format!("{what} `{}` is defined twice", s.names.text(name));
    s.error(codes::DUPLICATE, message, span)
        .also(s.place(first), "first defined here")
        .help("give one of them another name")
}
