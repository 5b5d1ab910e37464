//! Reads statements: assignments, allocations and calls.

use super::super::ast::{AssignOp, Binary, Expr, ExprKind, Side, Span, Stmt, StmtKind, Unary};
use super::super::codes;
use super::super::token::{Kw, Tok, Token};
use super::expr::TARGET;
use super::inverse::{call, inverted_call};
use super::{Failed, Parsed, Parser};

/// A statement, or an expression that may become one: a call, or the first operand of a statement.
pub(super) enum Part {
    /// A statement.
    Stmt(Stmt),
    /// An expression.
    Expr(Expr),
}

impl Parser<'_> {
    /// The statements up to the end of a block, which is not taken.
    pub(super) fn block(&mut self) -> Vec<Stmt> {
        let flags = (self.lines, self.in_index, self.in_choice);
        (self.lines, self.in_index, self.in_choice) = (true, false, false);
        let mut stmts = Vec::new();
        while !self.block_ends() {
            if self.eat(Tok::Semi) {
                continue;
            }
            let (start, brackets) = (self.token().start, self.brackets);
            self.stmt_start = start;
            (self.broken, self.too_long) = (None, false);
            if let Ok(stmt) = self.stmt() {
                if self.goes_on_too_far() {
                    continue;
                }
                // A statement that continues after its expected end may mean something else.
                if self.statement_end().is_ok() {
                    stmts.push(stmt);
                    self.counted();
                    continue;
                }
            }
            let open = self.brackets.saturating_sub(brackets);
            self.brackets = brackets;
            (self.lines, self.in_index, self.in_choice, self.tilde) = (true, false, false, None);
            self.recover_from(open, self.token().start == start);
            if self.token().start == start && !self.at(Tok::Eof) {
                self.bump();
            }
        }
        (self.lines, self.in_index, self.in_choice) = flags;
        stmts
    }

    pub(super) fn block_ends(&mut self) -> bool {
        match self.kind() {
            Tok::Eof | Tok::Kw(Kw::End | Kw::Else | Kw::Elseif) => true,
            Tok::Macro => self.starts_item() && self.token().column <= self.item_column,
            _ => false,
        }
    }

    /// Whether the line after a trailing operator is a statement of its own. Then reports the operator, and goes back
    /// to that line.
    fn goes_on_too_far(&mut self) -> bool {
        let token = self.token();
        let assigns =
            matches!(token.kind, Tok::Assign(..) | Tok::BadAssign | Tok::Equals | Tok::Alloc | Tok::Free | Tok::Arrow);
        let Some((cursor, end)) = self.broken.take() else { return false };
        if !assigns || token.line_before || self.muted > 0 {
            return false;
        }
        let help = "complete the line, or remove the operator: the next line is a statement of its own";
        self.error(codes::SYNTAX, end..end, "expected an expression, found the end of the line", help);
        if !self.stopped {
            (self.cursor, self.last_end) = (cursor, end);
        }
        true
    }

    /// Checks that the statement ends here.
    pub(super) fn statement_end(&mut self) -> Parsed<()> {
        let token = self.token();
        match token.kind {
            Tok::Semi | Tok::Eof | Tok::Kw(Kw::End | Kw::Else | Kw::Elseif) => Ok(()),
            Tok::RParen if !self.lines => Ok(()),
            _ if token.line_before => Ok(()),
            _ => Err(self.unexpected("the end of the statement")),
        }
    }

    /// Takes the `end` of a block whose first token is `opener` and whose statement began at `start`.
    pub(super) fn block_end(&mut self, opener: Token, start: usize) {
        let token = self.token();
        let span = opener.start..opener.end;
        match token.kind {
            Tok::Kw(Kw::End) => {
                let begins_line = opener.line_before && start == opener.start;
                let column = if begins_line { Some(opener.column) } else { self.routine_column(&span) };
                if token.line_before && column.is_some_and(|column| token.column < column) {
                    self.suspect.get_or_insert(span);
                }
                self.bump();
            }
            _ if self.end_missing => {}
            Tok::Kw(Kw::Else | Kw::Elseif) => {
                let text = self.text_of(token);
                let message = format!("this `{text}` belongs to no `if`");
                self.error(codes::STRAY, token.start..token.end, message, "remove it, or write the `if`");
                self.bump();
                self.recover(0);
                // The statements that follow belong to the same block.
                self.block();
                self.block_end(opener, start);
            }
            _ => {
                let span = self.suspect.take().unwrap_or(span);
                self.block_without_end(span);
                self.end_missing = true;
            }
        }
    }

    /// The column of the line that contains a `@routine begin`.
    fn routine_column(&self, opener: &Span) -> Option<usize> {
        let line = self.slice(0..opener.start).rsplit('\n').next()?;
        let rest = line.trim_start();
        let is = rest.starts_with("@routine") && self.slice(opener.clone()) == "begin";
        is.then(|| line.chars().count() - rest.chars().count())
    }

    /// A statement.
    pub(super) fn stmt(&mut self) -> Parsed<Stmt> {
        self.deeper(|p| {
            let part = p.part()?;
            p.as_stmt(part)
        })
    }

    pub(super) fn stmt_from(&self, kind: StmtKind, start: usize) -> Stmt {
        Stmt { kind, span: start..self.last_end }
    }

    /// A statement or an expression.
    pub(super) fn part(&mut self) -> Parsed<Part> {
        // `Threads.@threads`: a macro by the name of its module.
        let before = (self.cursor, self.last_end, self.last_kind);
        while self.at(Tok::Ident) && self.cursor.second().kind == Tok::Dot {
            self.bump();
            self.bump();
        }
        if !self.at(Tok::Macro) {
            (self.cursor, self.last_end, self.last_kind) = before;
        }
        let token = self.token();
        let kind = match token.kind {
            Tok::Kw(Kw::If) => self.if_stmt()?,
            Tok::Kw(Kw::While) => self.while_stmt(token, None)?,
            Tok::Kw(Kw::For) => return Ok(Part::Stmt(self.for_stmt()?)),
            Tok::Kw(Kw::Begin) => {
                self.bump();
                let body = self.block();
                self.block_end(token, token.start);
                StmtKind::Block(body)
            }
            Tok::Macro if !matches!(self.text_of(token), "@const" | "@skip!" | "@fields") => self.macro_stmt(token)?,
            Tok::Tilde => return self.inverse(token),
            Tok::LParen => {
                return match self.stmt_parens()? {
                    Part::Stmt(stmt) => Ok(Part::Stmt(stmt)),
                    Part::Expr(first) => {
                        let first = self.postfix(first)?;
                        let first = self.power_from(first)?;
                        let target = self.binary_from(first, false, TARGET)?;
                        self.after_target(target)
                    }
                };
            }
            Tok::Kw(Kw::True | Kw::False) => {
                let target = self.binary(TARGET)?;
                return self.after_target(target);
            }
            Tok::Kw(kw) => return Err(self.host_stmt(token, kw)),
            _ => {
                let target = self.binary(TARGET)?;
                return self.after_target(target);
            }
        };
        Ok(Part::Stmt(self.stmt_from(kind, token.start)))
    }

    /// Reports a host statement, and skips it if it is a block.
    fn host_stmt(&mut self, token: Token, kw: Kw) -> Failed {
        let text = self.text_of(token);
        let message = format!("`{text}` is not allowed in a reversible function");
        let help = match kw {
            Kw::Break | Kw::Continue => "let the conditions of `while (pre, post)` say when the loop ends",
            Kw::Return => "a reversible function gives back its arguments: add the result to one of them",
            Kw::Function | Kw::Macro | Kw::Struct => "define it outside of this function",
            Kw::Local | Kw::Global | Kw::Const => "allocate a variable with `x ← e`",
            Kw::Using | Kw::Import | Kw::Export | Kw::Module => "write it outside of functions",
            Kw::Let => "allocate with `x ← e` and write `begin … end`",
            _ => "write it outside of this function, or put `@safe` before it",
        };
        let failed = self.error(codes::CONTROL, token.start..token.end, message, help);
        match kw {
            Kw::Let | Kw::Try | Kw::Function | Kw::Macro | Kw::Struct | Kw::Quote | Kw::Do | Kw::Module => {
                self.bump();
                self.skip_block(&(token.start..token.end));
            }
            _ => {}
        }
        failed
    }

    /// The part of a statement after its target.
    pub(super) fn after_target(&mut self, target: Expr) -> Parsed<Part> {
        if self.new_line() {
            return Ok(Part::Expr(target));
        }
        let token = self.token();
        let start = target.span.start;
        let kind = match token.kind {
            Tok::Assign(op, dot) => {
                self.operator();
                StmtKind::Assign { op, dot, target, value: self.expr()? }
            }
            Tok::Ident if self.text_of(token) == "xor" && self.cursor.second().kind == Tok::Equals => {
                self.notes.spellings.push(token.start);
                self.bump();
                self.operator();
                StmtKind::Assign { op: AssignOp::Xor, dot: false, target, value: self.expr()? }
            }
            Tok::Alloc | Tok::Free | Tok::Arrow => {
                if token.kind == Tok::Arrow {
                    self.notes.spellings.push(token.start);
                }
                self.operator();
                StmtKind::Alloc { target, value: self.expr()?, free: token.kind != Tok::Alloc }
            }
            Tok::Op(Binary::Lt, false) if self.ascii_alloc() => {
                self.notes.spellings.push(token.start);
                self.bump();
                self.operator();
                StmtKind::Alloc { target, value: self.expr()?, free: false }
            }
            Tok::Exchange => self.exchange(target, false)?,
            Tok::Typed if self.cursor.second().kind == Tok::Empty => {
                self.bump();
                self.bump();
                self.exchange(target, true)?
            }
            Tok::Comma if self.lists_names() => {
                let mut names = vec![target];
                while self.eat(Tok::Comma) {
                    names.push(self.binary(TARGET)?);
                }
                let (span, height) = (start..self.last_end, self.height);
                let target = self.build(ExprKind::Tuple(names), span, height)?;
                return self.after_target(target);
            }
            Tok::Equals | Tok::BadAssign => {
                let text = self.text_of(token);
                let own = match &target.kind {
                    ExprKind::Name(name) => name.as_str(),
                    _ => "x",
                };
                let help = match text {
                    "=" | ":=" => format!(
                        "add with `{own} += e`; a new variable is allocated with `{own} ← e`, and two are exchanged with `SWAP(x, y)`"
                    ),
                    ".=" => "add with `x .+= e` to an array that is zero".to_string(),
                    _ => {
                        "compute into an ancilla: `a ← 0`, `a += …`; reversible are `+=`, `-=`, `⊻=`, and `*=`, `/=` of some types".to_string()
                    }
                };
                let message = format!("`{text}` forgets what was there before");
                if text == "=" {
                    self.faulty_name(&target);
                }
                return Err(self.error(codes::IRREVERSIBLE, token.start..token.end, message, &help));
            }
            Tok::Op(op, _) => {
                // An operator of low precedence: the whole expression is read and reported.
                let whole = self.binary_from(target, true, 0)?;
                let help = match op {
                    Binary::LogicalOr | Binary::LogicalAnd => "put `@safe` before it if it is a check",
                    _ => "a statement changes a variable: `y += e`; to check something write `@safe @assert e`",
                };
                return Err(self.error(codes::STATEMENT, whole.span, "this is an expression, not a statement", help));
            }
            Tok::Comma if self.lines => {
                let help = "several variables stand in parentheses: `(a, b) ← (1, 2)`";
                let span = token.start..token.end;
                self.faulty_name(&target);
                let failed = self.error(codes::SYNTAX, span, "expected the end of the statement, found `,`", help);
                while self.at(Tok::Comma) && self.cursor.second().kind == Tok::Ident {
                    self.bump();
                    let name = self.text_of(self.token()).to_owned();
                    self.tree.faulty.push(name);
                    self.bump();
                }
                return Err(failed);
            }
            Tok::Unknown | Tok::BadNumber | Tok::OpenText | Tok::OpenComment => {
                return Err(self.unexpected("the end of the statement"));
            }
            _ => return Ok(Part::Expr(target)),
        };
        Ok(Part::Stmt(self.stmt_from(kind, start)))
    }

    /// `x ↔ y` from `↔` on; `empty` tells whether `::∅` stands after x.
    fn exchange(&mut self, place: Expr, empty: bool) -> Parsed<StmtKind> {
        self.expect(Tok::Exchange, "`↔`")?;
        let left = Side { place, empty };
        let place = self.binary(TARGET)?;
        let empty = self.goes_on(Tok::Typed) && self.cursor.second().kind == Tok::Empty;
        if empty {
            self.bump();
            self.bump();
        }
        Ok(StmtKind::Exchange { left, right: Side { place, empty } })
    }

    /// Whether a comma continues the names of an allocation: `m, n ← size(x)`.
    fn lists_names(&self) -> bool {
        let mut ahead = self.cursor;
        while matches!(ahead.token.kind, Tok::Comma | Tok::Ident) && !(ahead.token.line_before && self.lines) {
            ahead.bump();
        }
        self.lines && matches!(ahead.token.kind, Tok::Alloc | Tok::Free)
    }

    /// Records a name that this faulty statement would have declared, so that its uses are not reported.
    fn faulty_name(&mut self, target: &Expr) {
        if let ExprKind::Name(name) = &target.kind {
            self.tree.faulty.push(name.clone());
        }
    }

    /// Whether the next tokens are `<-`.
    fn ascii_alloc(&mut self) -> bool {
        let next = self.cursor.second();
        next.kind == Tok::Op(Binary::Sub, false) && !next.space_before
    }

    /// Turns an expression into a statement: it must be a call.
    pub(super) fn as_stmt(&mut self, part: Part) -> Parsed<Stmt> {
        let expr = match part {
            Part::Stmt(stmt) => return Ok(stmt),
            Part::Expr(expr) => expr,
        };
        let span = expr.span;
        match expr.kind {
            ExprKind::Call { callee, dot, args, keywords } => Ok(call(*callee, false, dot, args, keywords, span)),
            ExprKind::Unary(Unary::Tilde, inner) if inverted_call(&inner) => {
                let (mut inner, mut inverse) = (inner, true);
                while let ExprKind::Unary(_, next) = inner.kind {
                    inner = next;
                    inverse = !inverse;
                }
                match inner.kind {
                    ExprKind::Call { callee, dot, args, keywords } => {
                        Ok(call(*callee, inverse, dot, args, keywords, span))
                    }
                    _ => Err(Failed),
                }
            }
            // A statement that does nothing.
            ExprKind::Name(name) if name == "nothing" => Ok(Stmt { kind: StmtKind::Block(Vec::new()), span }),
            kind => {
                let help = match kind {
                    ExprKind::Unary(Unary::Tilde, _) => "`~` inverts a statement or a call: `~f(x)`, `~(y += x)`",
                    ExprKind::Name(name) if matches!(name.as_str(), "elsif" | "elif") => "did you mean `elseif`?",
                    ExprKind::Name(name) if name == "then" => "leave it out: a condition ends with its line",
                    ExprKind::Name(_) => "a call has parentheses: `f(x)`",
                    _ => "a statement changes a variable, `y += e`, or calls a function, `f(x)`",
                };
                Err(self.error(codes::STATEMENT, span, "this is an expression, not a statement", help))
            }
        }
    }
}
