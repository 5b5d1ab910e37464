//! Reads statements that begin with `~` or a parenthesis: inverted calls, blocks and conversions.

use super::super::ast::{AssignOp, Expr, ExprKind, Span, Stmt, StmtKind, Unary};
use super::super::codes;
use super::super::token::{Kw, Tok, Token};
use super::expr::TARGET;
use super::stmt::Part;
use super::{Parsed, Parser};

impl Parser<'_> {
    /// `~` and what follows it.
    pub(super) fn inverse(&mut self, tilde: Token) -> Parsed<Part> {
        let next = self.cursor.second();
        let start = tilde.start;
        let inner = match next.kind {
            Tok::Macro => {
                self.bump();
                match self.text_of(next) {
                    "@routine" => {
                        self.bump();
                        let name = if self.goes_on(Tok::Ident) { Some(self.name("a name")?) } else { None };
                        return Ok(Part::Stmt(self.stmt_from(StmtKind::Unroutine { name }, start)));
                    }
                    "@zeros" | "@ones" => {
                        let kind = self.zeros(true)?;
                        return Ok(Part::Stmt(self.stmt_from(kind, start)));
                    }
                    _ => self.deeper(Self::part)?,
                }
            }
            Tok::Tilde | Tok::Kw(Kw::If | Kw::While | Kw::For | Kw::Begin) => {
                self.bump();
                self.deeper(Self::part)?
            }
            Tok::LParen => {
                self.bump();
                let inner = self.stmt_parens()?;
                match inner {
                    Part::Stmt(stmt) => Part::Stmt(stmt),
                    Part::Expr(expr) => {
                        let expr = self.postfix(expr)?;
                        let expr = self.power_from(expr)?;
                        let span = start..expr.span.end;
                        let whole = self.build(ExprKind::Unary(Unary::Tilde, Box::new(expr)), span, self.height)?;
                        let target = self.binary_from(whole, false, TARGET)?;
                        return self.after_target(target);
                    }
                }
            }
            _ => {
                let target = self.binary(TARGET)?;
                return self.after_target(target);
            }
        };
        match inner {
            Part::Stmt(stmt) => Ok(Part::Stmt(self.stmt_from(StmtKind::Inverse(Box::new(stmt)), start))),
            Part::Expr(expr) => {
                let span = start..expr.span.end;
                let whole = self.build(ExprKind::Unary(Unary::Tilde, Box::new(expr)), span, self.height)?;
                Ok(Part::Expr(whole))
            }
        }
    }

    /// `(…)` at the beginning of a statement: an operand, a tuple, a conversion, or statements.
    pub(super) fn stmt_parens(&mut self) -> Parsed<Part> {
        self.deeper(|p| {
            let open = p.token();
            let part = p.bracketed(false, |p| p.stmt_parens_inside(open))?;
            Ok(match part {
                Part::Stmt(stmt) => Part::Stmt(stmt),
                Part::Expr(expr) => Part::Expr(Expr { kind: expr.kind, span: open.start..p.last_end }),
            })
        })
    }

    fn stmt_parens_inside(&mut self, open: Token) -> Parsed<Part> {
        self.bump();
        if self.eat(Tok::RParen) {
            let tuple = self.build(ExprKind::Tuple(Vec::new()), open.start..self.last_end, 0)?;
            return Ok(Part::Expr(tuple));
        }
        let first = self.part()?;
        match (self.kind(), first) {
            (Tok::RParen, first) => {
                self.bump();
                Ok(first)
            }
            (Tok::Comma, Part::Expr(first)) => {
                let mut items = self.tuple_rest(open.start)?;
                items.insert(0, first);
                let tuple = self.build(ExprKind::Tuple(items), open.start..self.last_end, self.height)?;
                Ok(Part::Expr(tuple))
            }
            (Tok::Pair, Part::Expr(from)) => self.convert(open.start, from),
            (Tok::Semi, first) => {
                let mut stmts = vec![self.as_stmt(first)?];
                while !self.eat(Tok::RParen) {
                    if self.eat(Tok::Semi) {
                        continue;
                    }
                    if self.block_ends() {
                        let help = "close it where the statements end: `~(a; b)`";
                        return Err(self.error(codes::SYNTAX, open.start..open.end, "this `(` is not closed", help));
                    }
                    stmts.push(self.stmt()?);
                    self.statement_end()?;
                }
                Ok(Part::Stmt(self.stmt_from(StmtKind::Block(stmts), open.start)))
            }
            (_, Part::Stmt(_)) => Err(self.unexpected("`;` or `)`")),
            (_, Part::Expr(_)) => Err(self.unexpected("`)`")),
        }
    }

    /// `(T1 => T2)(x)` from `=>` on.
    fn convert(&mut self, start: usize, from: Expr) -> Parsed<Part> {
        self.bump();
        let from = self.as_type(from)?;
        let to = self.expr()?;
        let to = self.as_type(to)?;
        self.expect(Tok::RParen, "`)`")?;
        if !(self.at(Tok::LParen) && self.adjacent()) {
            return Err(self.unexpected("`(` and what is to be converted"));
        }
        self.bump();
        let target = self.expr()?;
        self.expect(Tok::RParen, "`)`")?;
        Ok(Part::Stmt(self.stmt_from(StmtKind::Convert { from, to, target }, start)))
    }
}

/// Whether it is a call with only `~` before it.
pub(super) fn inverted_call(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call { .. } => true,
        ExprKind::Unary(Unary::Tilde, inner) => inverted_call(inner),
        _ => false,
    }
}

/// The operator and f of `PlusEq(f)` and the like, which the papers write for `+=`; for `~PlusEq(f)` the operator that
/// undoes it.
fn accumulator(callee: &Expr) -> Option<(AssignOp, &Expr)> {
    match &callee.kind {
        ExprKind::Unary(Unary::Tilde, inner) => accumulator(inner).map(|(op, f)| (op.partner(), f)),
        ExprKind::Call { callee, dot: false, args, keywords } => {
            let ExprKind::Name(name) = &callee.kind else { return None };
            let op = AssignOp::of_type(name)?;
            match args.as_slice() {
                [f] if keywords.is_empty() => Some((op, f)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A call as a statement. `(~f)(x)` is an inverse call, and `PlusEq(f)(y, x)` means `y += f(x)`.
pub(super) fn call(
    callee: Expr,
    inverse: bool,
    dot: bool,
    args: Vec<Expr>,
    keywords: Vec<(super::super::ast::Name, Expr)>,
    span: Span,
) -> Stmt {
    if let Some((op, f)) = accumulator(&callee)
        && keywords.is_empty()
        && let Some((target, rest)) = args.split_first()
        && !rest.is_empty()
    {
        let op = if inverse { op.partner() } else { op };
        let kind = ExprKind::Call { callee: Box::new(f.clone()), dot, args: rest.to_vec(), keywords };
        let value = Expr { kind, span: span.clone() };
        return Stmt { kind: StmtKind::Assign { op, dot, target: target.clone(), value }, span };
    }
    let kind = match callee {
        Expr { kind: ExprKind::Unary(Unary::Tilde, f), .. } => {
            StmtKind::Call { callee: *f, inverse: !inverse, dot, args, keywords }
        }
        callee => StmtKind::Call { callee, inverse, dot, args, keywords },
    };
    Stmt { kind, span }
}
