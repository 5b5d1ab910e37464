//! Reads statements.

use pendula_isa::diagnostic::{Diagnostic, Place, plural};

use super::{Parsed, Parser, SOFT, Stop};
use crate::janus::ast::{AssignOp, Decl, DeclTy, Expr, IntTy, Stmt, StmtKind};
use crate::janus::codes;
use crate::janus::lexer::Tok;

const STATEMENTS: &str = "statements are `x += e`, `x <=> y`, `if … fi`, `from … until`, `push`, `pop`, `local … delocal`, `call`, \
     `uncall`, `iterate … end`, `assert`, `print`, `printf`, `show`, `error`, `skip`";

/// Words that begin statements in other languages, with the help texts.
const FOREIGN: &[(&str, &str)] = &[
    ("while", "a loop is `from x = 0 loop … until x = 10`: the first condition holds at the beginning only"),
    ("for", "a loop is `iterate int i = 0 to 9 … end`, or `from x = 0 loop … until x = 10`"),
    ("repeat", "a loop is `from x = 0 do … until x = 10`: the first condition holds at the beginning only"),
    ("return", "a procedure gives back what it did to its parameters: change one of them"),
    ("break", "a loop ends when the condition after `until` holds"),
    ("continue", "put the rest of the iteration into `if … then … fi …`"),
    ("let", "a variable is declared by `local int x = 0 … delocal int x = 0`"),
    ("var", "a variable is declared by `local int x = 0 … delocal int x = 0`"),
    ("const", "a variable is declared by `local int x = 0 … delocal int x = 0`"),
    ("swap", "two variables are exchanged by `x <=> y`"),
    ("elif", "write `else if … then … fi …`, and the `fi` of the branch around it"),
    ("elsif", "write `else if … then … fi …`, and the `fi` of the branch around it"),
    ("elseif", "write `else if … then … fi …`, and the `fi` of the branch around it"),
    ("endif", "a branch ends with `fi` and a condition, which holds exactly when the first branch was taken"),
];

impl Parser<'_> {
    /// One or more statements, up to one of these words.
    pub(super) fn statements(&mut self, what: &str, until: &[&str]) -> Parsed<Vec<Stmt>> {
        let mut out = Vec::new();
        while !self.is_end() && !self.is_procedure() {
            let word = if self.is_target() { "" } else { self.word_of(self.token()) };
            if until.contains(&word) {
                break;
            }
            match Self::belongs(word) {
                // The open construct ends without a word of its own.
                Some(opener) if self.is_open(opener) => return Ok(out),
                Some(opener) => return self.stray(opener),
                None => {}
            }
            self.counted()?;
            out.push(self.nested(Self::statement)?);
        }
        if out.is_empty() && (self.open.is_empty() || !(self.is_end() || self.is_procedure())) {
            return self.expected(what, "a part without statements says `skip`");
        }
        Ok(out)
    }

    fn is_procedure(&self) -> bool {
        self.is_word("procedure")
    }

    /// Whether a word that may be a name is the target of a statement here.
    fn is_target(&self) -> bool {
        let soft = SOFT.contains(&self.word_of(self.token()));
        let changes = ["+=", "-=", "^=", "*=", "/=", "<=>", "["];
        soft && matches!(self.ahead(1).tok, Tok::Sign(s) if changes.contains(&s))
    }

    /// The help text for a statement of another language that begins with this word, unless it is a variable.
    fn foreign(&self, word: &str) -> Option<&'static str> {
        let (_, help) = FOREIGN.iter().find(|(w, _)| *w == word)?;
        let changes = ["+=", "-=", "^=", "*=", "/=", "<=>", "[", "="];
        (!matches!(self.ahead(1).tok, Tok::Sign(s) if changes.contains(&s))).then_some(help)
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        let start = self.start();
        let word = if self.is_target() { "" } else { self.word_of(self.token()) };
        let kind = match word {
            "if" => self.construct("if", Self::branch)?,
            "from" => self.construct("from", Self::loop_stmt)?,
            "push" | "pop" => {
                self.at += 1;
                self.sign("(", "what is pushed and the stack stand in parentheses: `push(x, s)`")?;
                let value = self.expr()?;
                self.sign(",", "what is pushed and the stack stand in parentheses: `push(x, s)`")?;
                let stack = self.name("the name of a stack")?;
                self.sign(")", "what is pushed and the stack stand in parentheses: `push(x, s)`")?;
                StmtKind::Push { pop: word == "pop", value, stack }
            }
            "local" => self.construct("local", |p| p.local(start))?,
            "call" | "uncall" => {
                self.at += 1;
                let name = self.callee(word)?;
                let args = self.list(Self::expr)?;
                StmtKind::Call { inverse: word == "uncall", name, args }
            }
            "iterate" => self.construct("iterate", Self::iterate)?,
            "assert" => {
                self.at += 1;
                StmtKind::Assert(self.expr()?)
            }
            "error" | "print" => {
                self.at += 1;
                self.sign("(", "a text is in parentheses: `print(\"…\")`")?;
                let text = self.text()?;
                self.sign(")", "a text is in parentheses: `print(\"…\")`")?;
                if word == "error" { StmtKind::Error(text) } else { StmtKind::Print(text) }
            }
            "printf" => {
                self.at += 1;
                self.sign("(", "a text and variables stand in parentheses: `printf(\"%d\", x)`")?;
                let text = self.text()?;
                let mut args = Vec::new();
                while self.eat_sign(",") {
                    args.push(self.lval()?);
                }
                self.sign(")", "a text and variables stand in parentheses: `printf(\"%d\", x)`")?;
                StmtKind::Printf(text, args)
            }
            "show" => {
                self.at += 1;
                let args = self.list(Self::lval)?;
                if args.is_empty() {
                    self.at -= 1;
                    return self.expected("a variable", "`show` shows variables: `show(x, y)`");
                }
                StmtKind::Show(args)
            }
            "skip" => {
                self.at += 1;
                StmtKind::Skip
            }
            "read" | "write" if self.is_name(self.ahead(1)) => {
                let word = self.name("`read` or `write`")?;
                StmtKind::Terminal { word, name: self.name("a variable")? }
            }
            _ if let Some(help) = self.foreign(word) => {
                let span = self.token().span.clone();
                return self.fail(codes::SYNTAX, span, format!("Janus has no `{word}`"), help);
            }
            _ if self.is_name(self.token()) && self.declares().is_none() => self.change()?,
            _ if self.declares().is_some() => {
                let help = if self.open.is_empty() && self.in_main {
                    "write it before the first statement of `main`; or `local int x = 0 … delocal int x = 0` around the statements that use it"
                } else {
                    "write `local int x = 0 … delocal int x = 0` around the statements that use it"
                };
                let span = self.token().span.clone();
                return self.fail(codes::SYNTAX, span, "a declaration stands among the statements".to_string(), help);
            }
            _ if self.is_sign("{") || self.is_sign("}") => {
                let help = "there are no braces around statements: a part begins and ends with words, `if … then … else … fi …`, `from … loop … until …`";
                return self.expected("a statement", help);
            }
            _ => return self.expected("a statement", STATEMENTS),
        };
        Ok(Stmt { kind, span: self.since(start) })
    }

    fn text(&mut self) -> Parsed<String> {
        match &self.token().tok {
            Tok::Text(text) => {
                let text = text.clone();
                self.at += 1;
                Ok(text)
            }
            _ => self.expected("a text", "a text is in double quotes"),
        }
    }

    /// `x += e` or `x <=> y`.
    fn change(&mut self) -> Parsed<StmtKind> {
        let target = self.lval()?;
        let ops = [AssignOp::Add, AssignOp::Sub, AssignOp::Xor, AssignOp::Mul, AssignOp::Div];
        if let Some(op) = ops.into_iter().find(|op| self.is_sign(op.text())) {
            self.at += 1;
            return Ok(StmtKind::Update { op, target, value: self.expr()? });
        }
        if self.eat_sign("<=>") {
            return Ok(StmtKind::Swap(target, self.lval()?));
        }
        if self.is_sign("=") {
            let help = "an assignment would forget what was there before: write `x += e`, `x -= e` or `x ^= e`";
            return self.expected("`+=`, `-=`, `^=` or `<=>`", help);
        }
        let help = match &self.token().tok {
            Tok::Sign("+" | "-") => "a variable is changed by `x += 1` and `x -= 1`",
            Tok::Sign("(") => "a procedure is called by `call f(x)`, and undone by `uncall f(x)`",
            Tok::Sign("<") => "two variables are exchanged by `x <=> y`",
            _ => STATEMENTS,
        };
        self.expected("`+=`, `-=`, `^=` or `<=>`", help)
    }

    fn branch(&mut self) -> Parsed<StmtKind> {
        const HELP: &str = "a branch is `if e then … else … fi e`";
        let pre = self.expr()?;
        self.part_word("then", HELP)?;
        let then = self.statements("a statement", &["else", "fi"])?;
        let after = self.eat_word("else").then_some(self.at);
        let otherwise = if after.is_some() { self.statements("a statement", &["fi"])? } else { Vec::new() };
        if !self.eat_word("fi") {
            let help = self.else_if(after);
            return self.lacks("`fi`", help.as_deref().unwrap_or(HELP));
        }
        Ok(StmtKind::If { pre, then, otherwise, post: self.expr()? })
    }

    fn loop_stmt(&mut self) -> Parsed<StmtKind> {
        const HELP: &str = "a loop is `from e do … loop … until e`, of which `do` or `loop` may be left out";
        let pre = self.expr()?;
        if !["do", "loop", "until"].iter().any(|w| self.is_word(w)) {
            return self.lacks("`do` or `loop`", HELP);
        }
        let first = if self.eat_word("do") { self.statements("a statement", &["loop", "until"])? } else { Vec::new() };
        let body = if self.eat_word("loop") { self.statements("a statement", &["until"])? } else { Vec::new() };
        self.part_word("until", HELP)?;
        Ok(StmtKind::From { pre, first, body, post: self.expr()? })
    }

    /// The declarations of a `local` or `delocal`.
    fn decls(&mut self) -> Parsed<Vec<Decl>> {
        let mut out = vec![self.decl()?];
        while self.eat_sign(",") {
            out.push(self.decl()?);
        }
        Ok(out)
    }

    /// The statement after the word `local` at `start`.
    fn local(&mut self, start: usize) -> Parsed<StmtKind> {
        let begin = self.decls()?;
        let at = self.at;
        // A wrong order is reported before an empty body.
        let empty = self.is_word("delocal");
        let body = if empty { Vec::new() } else { self.statements("a statement", &["delocal"])? };
        self.part_word("delocal", "what begins with `local` ends with `delocal`")?;
        let end = self.decls()?;
        self.alike(start, &begin, &end)?;
        if empty {
            self.at = at;
            return self.expected("a statement", "a part without statements says `skip`");
        }
        Ok(StmtKind::Local { begin, body, end })
    }

    /// Checks that the `delocal` ends the variables of the `local` at `start`.
    fn alike(&mut self, start: usize, begin: &[Decl], end: &[Decl]) -> Parsed<()> {
        let line = self.line(&(start..start));
        if begin.len() != end.len() {
            let (begins, ends) =
                (if begin.len() == 1 { "begins" } else { "begin" }, if end.len() == 1 { "ends" } else { "end" });
            let begun = plural(begin.len(), "variable");
            let message = format!("{begun} {begins} in line {line}, and {} {ends} here", end.len());
            return self.unlike(start, begin.last(), end.last(), message);
        }
        for (b, e) in begin.iter().zip(end) {
            if (b.ty, &b.name.text, b.dims.len()) != (e.ty, &e.name.text, e.dims.len()) {
                let message = format!("`{}` ends here, but `{}` began in line {line}", describe(e), describe(b));
                return self.unlike(start, Some(b), Some(e), message);
            }
        }
        Ok(())
    }

    /// Reports a `delocal` that does not match the `local` at `start`.
    fn unlike<T>(&mut self, start: usize, begun: Option<&Decl>, ends: Option<&Decl>, message: String) -> Parsed<T> {
        let file = self.file;
        let place = Place { file, span: ends.map_or(0..0, |d| d.span.clone()) };
        let other = Place { file, span: start..begun.map_or(start, |d| d.span.end) };
        let help = "`delocal` names the same variables as the last open `local`, in the same order: what begins last ends first";
        let d = Diagnostic::error(codes::DELOCAL, message).at(place, "ends here");
        self.found.push(d.also(other, "this `local` ends there").help(help));
        Err(Stop)
    }

    fn iterate(&mut self) -> Parsed<StmtKind> {
        const HELP: &str = "an iteration is `iterate int i = a by c to b … end`, of which `by c` may be left out";
        let Some(ty) = IntTy::named(self.word_of(self.token())) else { return self.expected("a type", HELP) };
        self.at += 1;
        let name = self.name("the name of a variable")?;
        self.sign("=", HELP)?;
        let from = self.expr()?;
        let by: Option<Expr> = if self.eat_word("by") { Some(self.expr()?) } else { None };
        self.part_word("to", HELP)?;
        let to = self.expr()?;
        let body = self.statements("a statement", &["end"])?;
        self.part_word("end", HELP)?;
        Ok(StmtKind::Iterate { ty, name, from, by, to, body })
    }
}

fn describe(d: &Decl) -> String {
    let ty = match d.ty {
        DeclTy::Stack => "stack",
        DeclTy::Int(ty) => ty.name(),
    };
    format!("{ty} {}{}", d.name.text, "[]".repeat(d.dims.len()))
}
