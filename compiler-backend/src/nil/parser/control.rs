//! Reads control flow and the statements that begin with a macro.

use super::super::ast::{Binary, TypeExpr};
use super::super::ast::{Condition, Expr, ExprKind, Mark, Name, Safe, Stmt, StmtKind, TextPart, Unary};
use super::super::codes;
use super::super::token::{Kw, Tok, Token};
use super::{Failed, Parsed, Parser};

impl Parser<'_> {
    /// `if … elseif … else … end`
    pub(super) fn if_stmt(&mut self) -> Parsed<StmtKind> {
        let opener = self.token();
        let mut branches = Vec::new();
        let mut otherwise = Vec::new();
        loop {
            self.bump();
            let mut condition = self.condition_or_none();
            // `(pre, ~)`: the condition holds afterwards exactly when it held before.
            if std::mem::take(&mut self.repeated) || self.host && condition.post.is_none() {
                condition.post = Some(condition.pre.clone());
            }
            let body = self.block();
            branches.push((condition, body));
            match self.kind() {
                Tok::Kw(Kw::Elseif) => {}
                Tok::Kw(Kw::Else) => {
                    let word = self.bump();
                    if self.at(Tok::Kw(Kw::If)) && !self.new_line() {
                        self.else_if.get_or_insert(word.start..self.token().end);
                    }
                    otherwise = self.block();
                    break;
                }
                _ => break,
            }
        }
        self.block_end(opener, opener.start);
        Ok(StmtKind::If { branches, otherwise })
    }

    /// `while … end`; `post` is the condition of a preceding `@from`.
    pub(super) fn while_stmt(&mut self, opener: Token, post: Option<Expr>) -> Parsed<StmtKind> {
        self.bump();
        let mut condition = self.condition_or_none();
        if let Some(post) = post {
            if let Some(second) = &condition.post {
                let span = second.span.clone();
                let help = "after `@from condition`, write `while pre`";
                self.error(codes::CONDITIONS, span, "the postcondition is given twice", help);
            }
            condition.post = Some(post);
        }
        let body = self.block();
        self.block_end(opener, opener.start);
        Ok(StmtKind::While { condition, body })
    }

    /// The condition of a block. A condition with a syntax error is reported, and the block is still read.
    fn condition_or_none(&mut self) -> Condition {
        self.repeated = false;
        let (start, brackets) = (self.token().start, self.brackets);
        let condition = match self.condition() {
            Ok(condition) => return condition,
            Err(Failed) => Expr { kind: ExprKind::Bool(true), span: start..start },
        };
        let open = self.brackets.saturating_sub(brackets);
        self.brackets = brackets;
        self.tilde = None;
        self.recover(open);
        Condition { pre: condition, post: None }
    }

    /// `pre`, `(pre, post)`, `(pre, ~)`
    fn condition(&mut self) -> Parsed<Condition> {
        let first = self.token();
        if self.new_line() {
            return Err(self.unexpected("a condition"));
        }
        self.tilde = (first.kind == Tok::LParen).then_some(first.start);
        let expr = self.expr();
        self.tilde = None;
        let expr = expr?;
        let span = expr.span.clone();
        let help = "write `(pre, post)`, or `(pre, ~)` if the body does not change the condition";
        match expr.kind {
            ExprKind::Tuple(mut parts) if parts.len() == 2 => {
                let post = parts.pop().filter(|p| p.kind != ExprKind::Name("~".to_owned()));
                self.repeated = post.is_none();
                match parts.pop() {
                    Some(pre) => Ok(Condition { pre, post }),
                    None => Err(Failed),
                }
            }
            ExprKind::Tuple(parts) => {
                let message = format!("a pair of conditions has two parts, not {}", parts.len());
                Err(self.error(codes::CONDITIONS, span, message, help))
            }
            kind => {
                // `(a, ~) && b`: the pair is part of a larger expression.
                let token = first.start..self.last_end;
                if first.kind == Tok::LParen && span.start == first.start && holds_pair(&kind) {
                    return Err(self.error(
                        codes::CONDITIONS,
                        token,
                        "a pair of conditions cannot be a part of a condition",
                        help,
                    ));
                }
                Ok(Condition { pre: Expr { kind, span }, post: None })
            }
        }
    }

    /// `for i = a:b, j in c … end`
    pub(super) fn for_stmt(&mut self) -> Parsed<Stmt> {
        let opener = self.bump();
        let brackets = self.brackets;
        let mut loops: Vec<(Name, Expr)> = Vec::new();
        let depth = self.depth;
        let heads = loop {
            match self.loop_head() {
                Ok(head) => loops.push(head),
                Err(failed) => break Err(failed),
            }
            if self.is_deepest(loops.len()) {
                break Err(self.too_deep());
            }
            if !self.goes_on(Tok::Comma) {
                break Ok(());
            }
            self.bump();
        };
        if heads.is_err() {
            // `for (i, j) in …`: the names are unknown, and their uses are not reported.
            if self.at(Tok::LParen) {
                let mut ahead = self.cursor;
                while matches!(ahead.second().kind, Tok::Ident | Tok::Comma) {
                    ahead.bump();
                    if ahead.token.kind == Tok::Ident {
                        let name = self.text_of(ahead.token).to_owned();
                        self.tree.faulty.push(name);
                    }
                }
            }
            let open = self.brackets.saturating_sub(brackets);
            self.brackets = brackets;
            self.recover(open);
        }
        self.depth += loops.len().saturating_sub(1);
        let body = self.block();
        self.depth = depth;
        self.block_end(opener, opener.start);
        let end = self.last_end;
        let mut body = Some(body);
        let mut inner: Option<Stmt> = None;
        while let Some((var, range)) = loops.pop() {
            let start = if loops.is_empty() { opener.start } else { var.span.start };
            let body = inner.take().map(|stmt| vec![stmt]).or_else(|| body.take()).unwrap_or_default();
            inner = Some(Stmt { kind: StmtKind::For { var, range, body }, span: start..end });
        }
        let whole = opener.start..end;
        Ok(inner.unwrap_or_else(|| Stmt { kind: StmtKind::Block(body.unwrap_or_default()), span: whole }))
    }

    fn loop_head(&mut self) -> Parsed<(Name, Expr)> {
        let var = self.name("a loop variable")?;
        if !matches!(self.kind(), Tok::Equals | Tok::Elem | Tok::Kw(Kw::In)) {
            return Err(self.unexpected("`=` or `in`"));
        }
        self.bump();
        Ok((var, self.expr()?))
    }

    /// A statement that begins with a macro.
    pub(super) fn macro_stmt(&mut self, token: Token) -> Parsed<StmtKind> {
        let name = self.text_of(token);
        if self.starts_item() {
            return Err(self.function_inside());
        }
        let mark = match name {
            "@routine" => return self.routine(),
            "@safe" => return self.safe(),
            "@zeros" | "@ones" => return self.zeros(false),
            "@anc" | "@deanc" => return self.ancilla(name == "@deanc"),
            "@from" => return self.from(),
            "@invcheckoff" => Mark::InvCheckOff,
            "@inbounds" => Mark::Inbounds,
            "@inline" => Mark::Inline,
            "@simd" => Mark::Simd,
            // Expressions within expressions are computed in any case.
            "@threads" | "@avx" | "@turbo" | "@instr" | "@auto_expand" => Mark::Hint,
            _ => {
                let message = format!("the macro `{name}` is not known");
                let help = match name {
                    "@assert" | "@show" => "put `@safe` before it: it belongs to the host language",
                    _ => "remove it, or put `@safe` before the statement if it belongs to the host language",
                };
                return Err(self.error(codes::MACRO, token.start..token.end, message, help));
            }
        };
        self.bump();
        if self.new_line() {
            return Err(self.unexpected("a statement"));
        }
        Ok(StmtKind::Marked(mark, Box::new(self.stmt()?)))
    }

    /// Reports a function inside of a function, and skips it.
    fn function_inside(&mut self) -> Failed {
        while self.at(Tok::Macro) {
            self.bump();
        }
        let token = self.token();
        let help = "define it outside of this function";
        let message = "a function cannot be defined inside of a function";
        let failed = self.error(codes::CONTROL, token.start..token.end, message, help);
        if matches!(token.kind, Tok::Kw(Kw::Function | Kw::Struct)) {
            self.bump();
            self.skip_block(&(token.start..token.end));
        }
        failed
    }

    /// `@routine [name] stmt`; `@routine name` without a statement repeats the routine.
    fn routine(&mut self) -> Parsed<StmtKind> {
        let start = self.bump().start;
        let next = self.cursor.second();
        let mut name = None;
        if self.goes_on(Tok::Ident) {
            let named = match next.kind {
                _ if next.line_before => true,
                Tok::Ident => self.text_of(next) != "xor",
                Tok::Kw(_) | Tok::Macro | Tok::Tilde | Tok::Semi | Tok::Eof => true,
                Tok::LParen => next.space_before,
                _ => false,
            };
            if named {
                name = Some(self.name("a name")?);
                if self.new_line()
                    || matches!(self.kind(), Tok::Semi | Tok::Eof | Tok::Kw(Kw::End | Kw::Else | Kw::Elseif))
                {
                    let undo = Stmt { kind: StmtKind::Unroutine { name }, span: start..self.last_end };
                    return Ok(StmtKind::Inverse(Box::new(undo)));
                }
            }
        }
        if self.new_line() {
            return Err(self.unexpected("a statement"));
        }
        let stmt = self.stmt()?;
        let body = match stmt.kind {
            StmtKind::Block(body) => body,
            kind => vec![Stmt { kind, span: stmt.span }],
        };
        Ok(StmtKind::Routine { name, body })
    }

    /// `@zeros T a b`
    pub(super) fn zeros(&mut self, free: bool) -> Parsed<StmtKind> {
        let token = self.bump();
        let ones = self.text_of(token) == "@ones";
        if self.new_line() {
            return Err(self.unexpected("a type"));
        }
        let ty: TypeExpr = self.type_expr()?;
        let mut names = Vec::new();
        while self.goes_on(Tok::Ident) {
            names.push(self.name("a variable")?);
            // `@zeros T a, b`
            if self.goes_on(Tok::Comma) && self.cursor.second().kind == Tok::Ident {
                self.bump();
            }
        }
        if names.is_empty() {
            return Err(self.unexpected("a variable"));
        }
        Ok(StmtKind::Zeros { ones, ty, names, free })
    }

    /// `@anc x = e`, `@deanc x = e`
    fn ancilla(&mut self, free: bool) -> Parsed<StmtKind> {
        self.bump();
        let target = self.binary(super::expr::TARGET)?;
        self.expect(Tok::Equals, "`=`")?;
        let value = self.expr()?;
        Ok(StmtKind::Alloc { target, value, free })
    }

    /// `@from entry while pre … end`: the postcondition is that `entry` does not hold.
    fn from(&mut self) -> Parsed<StmtKind> {
        self.bump();
        let entry = self.expr()?;
        let span = entry.span.clone();
        let post = Expr { kind: ExprKind::Unary(Unary::Not, Box::new(entry)), span };
        let opener = self.token();
        if opener.kind != Tok::Kw(Kw::While) {
            return Err(self.unexpected("`while`"));
        }
        self.while_stmt(opener, Some(post))
    }

    /// `@safe …`
    fn safe(&mut self) -> Parsed<StmtKind> {
        self.bump();
        let known = self.attempt(|p| {
            let safe = p.known_safe()?;
            p.statement_end()?;
            Ok(safe)
        });
        if let Some(safe) = known {
            return Ok(StmtKind::Safe(safe));
        }
        if self.new_line() {
            return Err(self.unexpected("a statement of the host language"));
        }
        let before = self.diagnostics.len();
        let span = self.skip_safe();
        let text = self.trimmed(span.clone());
        self.notes.verbatim.push(span);
        if self.diagnostics.len() > before {
            return Err(Failed);
        }
        Ok(StmtKind::Safe(Safe::Other(text)))
    }

    /// The host statements that have a meaning here.
    fn known_safe(&mut self) -> Parsed<Safe> {
        let token = self.token();
        match (token.kind, self.text_of(token)) {
            (Tok::Macro, "@assert") => {
                self.bump();
                let condition = self.expr()?;
                let (condition, message) = match condition.kind {
                    ExprKind::Tuple(mut parts) if parts.len() == 2 => {
                        let message = parts.pop();
                        (parts.pop().ok_or(Failed)?, message)
                    }
                    _ if self.safe_ends() => (condition, None),
                    _ => (condition, Some(self.expr()?)),
                };
                Ok(Safe::Assert { condition, message })
            }
            // `if e throw(…) end`
            (Tok::Kw(Kw::If), _) => {
                self.bump();
                let condition = self.expr()?;
                let thrown = self.expr()?;
                self.expect(Tok::Kw(Kw::End), "`end`")?;
                let message = raised(thrown).ok_or(Failed)?;
                let span = condition.span.clone();
                let condition = Expr { kind: ExprKind::Unary(Unary::Not, Box::new(condition)), span };
                Ok(Safe::Assert { condition, message })
            }
            (Tok::Macro, "@show") => {
                self.bump();
                let mut shown = Vec::new();
                while !self.safe_ends() {
                    shown.push(self.expr()?);
                    self.eat(Tok::Comma);
                }
                Ok(Safe::Show(shown))
            }
            _ => {
                let expr = self.expr()?;
                if self.at(Tok::Equals) || self.text_of(self.token()) == ".=" {
                    self.bump();
                    let value = self.expr()?;
                    return if is_zero(&value) { Ok(Safe::Clear(expr)) } else { Err(Failed) };
                }
                classify(expr).ok_or(Failed)
            }
        }
    }

    fn safe_ends(&self) -> bool {
        let token = self.token();
        token.line_before
            || matches!(token.kind, Tok::Semi | Tok::Eof | Tok::RParen | Tok::Kw(Kw::End | Kw::Else | Kw::Elseif))
    }
}

/// Whether an expression begins with a pair.
fn holds_pair(kind: &ExprKind) -> bool {
    match kind {
        ExprKind::Tuple(_) => true,
        ExprKind::Binary { left, .. } => holds_pair(&left.kind),
        ExprKind::Choice(first, ..) | ExprKind::Pipe(first, _) | ExprKind::Range { first, .. } => {
            holds_pair(&first.kind)
        }
        _ => false,
    }
}

/// The kind of a host expression, if it has a meaning here.
fn classify(expr: Expr) -> Option<Safe> {
    match expr.kind {
        ExprKind::Binary { op: Binary::LogicalOr, dot: false, left, right } => {
            Some(Safe::Assert { condition: *left, message: raised(*right)? })
        }
        ExprKind::Binary { op: Binary::LogicalAnd, dot: false, left, right } => {
            let message = raised(*right)?;
            let span = left.span.clone();
            Some(Safe::Assert { condition: Expr { kind: ExprKind::Unary(Unary::Not, left), span }, message })
        }
        kind => match called(&kind) {
            Some("error" | "throw") => raised(Expr { kind, span: expr.span }).map(Safe::Error),
            Some("print" | "println") => match kind {
                ExprKind::Call { args, .. } => Some(Safe::Show(args)),
                _ => None,
            },
            _ => None,
        },
    }
}

/// Whether an expression is 0: a number, or `zero(T)`.
fn is_zero(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Int(text) | ExprKind::Real(text) => text.parse() == Ok(0.0),
        kind => called(kind) == Some("zero"),
    }
}

/// The name of the called function, if it is a plain call without keywords.
fn called(kind: &ExprKind) -> Option<&str> {
    match kind {
        ExprKind::Call { callee, dot: false, keywords, .. } if keywords.is_empty() => match &callee.kind {
            ExprKind::Name(name) => Some(name),
            _ => None,
        },
        _ => None,
    }
}

/// The message of `error(…)` or `throw(…)`; `None` if it is neither.
fn raised(expr: Expr) -> Option<Option<Expr>> {
    let thrown = match called(&expr.kind)? {
        "error" => false,
        "throw" => true,
        _ => return None,
    };
    let ExprKind::Call { args, .. } = expr.kind else { return None };
    if !thrown {
        return Some(joined(args));
    }
    let mut args = args.into_iter();
    let (Some(exception), None) = (args.next(), args.next()) else { return None };
    let span = exception.span.clone();
    let Some(name) = called(&exception.kind).map(str::to_owned) else { return Some(Some(exception)) };
    let ExprKind::Call { args, .. } = exception.kind else { return None };
    // `throw(Name("text"))` gives `Name: text`.
    let mut parts = Vec::new();
    let message = joined(args);
    if name != "ErrorException" || message.is_none() {
        let colon = if message.is_some() { ": " } else { "" };
        parts.push(TextPart::Plain(format!("{name}{colon}")));
    }
    if let Some(message) = message {
        append(&mut parts, message);
    }
    Some(Some(Expr { kind: ExprKind::Text(parts), span }))
}

/// Joins several texts and values into one.
fn joined(args: Vec<Expr>) -> Option<Expr> {
    let span = args.first()?.span.start..args.last()?.span.end;
    let mut args = args;
    if args.len() == 1 {
        return args.pop();
    }
    let mut parts = Vec::new();
    for arg in args {
        append(&mut parts, arg);
    }
    Some(Expr { kind: ExprKind::Text(parts), span })
}

fn append(parts: &mut Vec<TextPart>, expr: Expr) {
    match expr.kind {
        ExprKind::Text(inner) => parts.extend(inner),
        kind => parts.push(TextPart::Value(Expr { kind, span: expr.span })),
    }
}
