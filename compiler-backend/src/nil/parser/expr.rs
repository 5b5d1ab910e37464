//! Reads expressions: the operators between operands.
//!
//! One loop with an explicit stack handles operators of all precedences, so that the call depth grows with brackets
//! only.

use super::super::ast::{Binary, Expr, ExprKind, Span, Unary};
use super::super::codes;
use super::super::token::{Kw, Tok};
use super::{Failed, Parsed, Parser};

/// An operator between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Infix {
    Op(Binary, bool),
    Pipe,
    Range,
}

/// The lowest precedence in the target of a statement: comparisons bind more loosely.
pub(super) const TARGET: u8 = 4;

impl Infix {
    fn precedence(self) -> u8 {
        match self {
            Infix::Pipe => 4,
            Infix::Range => 5,
            Infix::Op(op, _) => match op {
                Binary::LogicalOr => 1,
                Binary::LogicalAnd => 2,
                Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge => 3,
                Binary::Add | Binary::Sub | Binary::Or | Binary::Xor => 6,
                Binary::Mul | Binary::Div | Binary::Quot | Binary::Rem | Binary::And => 7,
                Binary::Shl | Binary::Sar | Binary::Shr => 8,
                Binary::Pow => 9,
            },
        }
    }
}

/// An operand that has been read, and how it may continue.
struct Operand {
    expr: Expr,
    height: usize,
    /// Whether it is a comparison or a range that may be continued.
    open: bool,
    /// Whether it, or the last part of a comparison, contains a chain of comparisons.
    chained: bool,
}

impl Parser<'_> {
    /// An expression.
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.deeper(|p| {
            let condition = p.binary(0)?;
            p.choice(condition)
        })
    }

    /// Reads `? a : b` after a condition, if it follows.
    fn choice(&mut self, condition: Expr) -> Parsed<Expr> {
        if self.goes_on(Tok::Question) {
            let mut height = self.height;
            self.bump();
            let outer = std::mem::replace(&mut self.in_choice, true);
            let then = self.expr();
            self.in_choice = outer;
            let then = then?;
            height = height.max(self.height);
            self.expect(Tok::Colon, "`:` and what holds otherwise")?;
            let otherwise = self.expr()?;
            let span = condition.span.start..otherwise.span.end;
            height = height.max(self.height);
            return self.build(
                ExprKind::Choice(Box::new(condition), Box::new(then), Box::new(otherwise)),
                span,
                height,
            );
        }
        let token = self.token();
        if matches!(token.kind, Tok::Arrow | Tok::Pair | Tok::HostOp | Tok::Kw(Kw::In | Kw::Isa) | Tok::Elem)
            && !self.new_line()
            && !(self.in_dict && token.kind == Tok::Pair)
        {
            let what = match token.kind {
                Tok::Arrow => "a function without a name".to_owned(),
                _ => format!("`{}`", self.text_of(token)),
            };
            return Err(self.host_expression(token.start..token.end, &what));
        }
        Ok(condition)
    }

    /// Operands joined by operators of precedence `min` or higher.
    pub(super) fn binary(&mut self, min: u8) -> Parsed<Expr> {
        let chains = self.chains;
        let first = self.unary()?;
        let chained = self.chains != chains;
        self.binary_from(first, chained, min)
    }

    /// Continues an expression after its first operand.
    pub(super) fn binary_from(&mut self, first: Expr, chained: bool, min: u8) -> Parsed<Expr> {
        let Some(mut infix) = self.infix(min) else { return Ok(first) };
        let mut operands = vec![Operand { expr: first, height: self.height, open: false, chained }];
        let mut operators: Vec<Infix> = Vec::new();
        loop {
            while let Some(top) = operators.last().copied()
                && top.precedence() >= infix.precedence()
            {
                operators.pop();
                self.reduce(&mut operands, top)?;
            }
            operators.push(infix);
            self.operator();
            let chains = self.chains;
            let expr = self.unary()?;
            operands.push(Operand { expr, height: self.height, open: false, chained: self.chains != chains });
            match self.infix(min) {
                Some(next) => infix = next,
                None => break,
            }
        }
        while let Some(top) = operators.pop() {
            self.reduce(&mut operands, top)?;
        }
        let last = operands.pop().ok_or(Failed)?;
        self.height = last.height;
        Ok(last.expr)
    }

    /// The next operator, if its precedence is `min` or higher.
    fn infix(&mut self, min: u8) -> Option<Infix> {
        if self.new_line() {
            return None;
        }
        let token = self.token();
        let infix = match token.kind {
            Tok::Op(op, dot) => Infix::Op(op, dot),
            Tok::Pipe => Infix::Pipe,
            Tok::Colon => {
                let ends_choice = self.in_choice && (token.space_before || self.cursor.second().space_before);
                if ends_choice {
                    return None;
                }
                Infix::Range
            }
            Tok::Ident if self.text_of(token) == "xor" => {
                let next = self.cursor.second();
                if matches!(next.kind, Tok::LParen | Tok::Equals) && !next.space_before {
                    return None;
                }
                Infix::Op(Binary::Xor, false)
            }
            _ => return None,
        };
        // `x <-` at the beginning of a statement means `x ←`; the precedence of `<` is too low there anyway.
        (infix.precedence() >= min).then_some(infix)
    }

    /// Joins the last two operands.
    fn reduce(&mut self, operands: &mut Vec<Operand>, infix: Infix) -> Parsed<()> {
        let (Some(right), Some(left)) = (operands.pop(), operands.pop()) else { return Err(Failed) };
        let span = left.expr.span.start..right.expr.span.end;
        let height = left.height.max(right.height);
        let chained = left.chained || right.chained;
        let joined = match infix {
            Infix::Op(op, dot) if infix.precedence() == 3 => return self.compare(operands, left, op, dot, right),
            Infix::Op(op, dot) => {
                let (left, right) = (Box::new(left.expr), Box::new(right.expr));
                Operand {
                    expr: self.build(ExprKind::Binary { op, dot, left, right }, span, height)?,
                    height: self.height,
                    open: false,
                    chained,
                }
            }
            Infix::Pipe => Operand {
                expr: self.build(ExprKind::Pipe(Box::new(left.expr), Box::new(right.expr)), span, height)?,
                height: self.height,
                open: false,
                chained,
            },
            Infix::Range => Operand { open: true, chained, ..self.range(left, right, span, height)? },
        };
        operands.push(joined);
        Ok(())
    }

    /// `a:b`; or `a:s:b`, of which `a:s` has been read as a range.
    fn range(&mut self, left: Operand, right: Operand, span: Span, height: usize) -> Parsed<Operand> {
        let last = Box::new(right.expr);
        let kind = match (left.open, left.expr) {
            (true, Expr { kind: ExprKind::Range { first, step: None, last: step }, .. }) => {
                ExprKind::Range { first, step: Some(step), last }
            }
            (true, Expr { kind: ExprKind::Range { .. }, .. }) => {
                let help = "a range is `first:last` or `first:step:last`";
                return Err(self.error(codes::SYNTAX, last.span.clone(), "a range has at most three parts", help));
            }
            (_, first) => ExprKind::Range { first: Box::new(first), step: None, last },
        };
        let expr = self.build(kind, span, height)?;
        Ok(Operand { expr, height: self.height, open: true, chained: false })
    }

    /// `a < b`; or `a < b < c`, of which `a < b` has been read as a comparison.
    fn compare(
        &mut self,
        operands: &mut Vec<Operand>,
        left: Operand,
        op: Binary,
        dot: bool,
        right: Operand,
    ) -> Parsed<()> {
        let whole = left.expr.span.start..right.expr.span.end;
        let height = left.height.max(right.height);
        let middle = if left.open { last_compared(&left.expr).cloned() } else { None };
        let chained = right.chained;
        let expr = match middle {
            Some(middle) => {
                if left.chained {
                    let help = "write both comparisons, with `&&` between them";
                    let message = "a chain of comparisons is inside another";
                    return Err(self.error(codes::CHAIN, middle.span, message, help));
                }
                self.chains += 1;
                let span = middle.span.start..right.expr.span.end;
                let (first, second) = (Box::new(middle), Box::new(right.expr));
                let next = self.build(ExprKind::Binary { op, dot, left: first, right: second }, span, height)?;
                let (first, second) = (Box::new(left.expr), Box::new(next));
                let both = ExprKind::Binary { op: Binary::LogicalAnd, dot: false, left: first, right: second };
                self.build(both, whole, height + 1)?
            }
            None => {
                let (left, right) = (Box::new(left.expr), Box::new(right.expr));
                self.build(ExprKind::Binary { op, dot, left, right }, whole, height)?
            }
        };
        operands.push(Operand { expr, height: self.height, open: true, chained });
        Ok(())
    }

    /// An operand with its prefix operators.
    pub(super) fn unary(&mut self) -> Parsed<Expr> {
        let token = self.token();
        let op = match token.kind {
            _ if self.operator_alone() => return self.power(),
            Tok::Op(Binary::Sub, false) => Unary::Minus,
            Tok::Op(Binary::Add, false) => Unary::Plus,
            Tok::Not => Unary::Not,
            Tok::Tilde => Unary::Tilde,
            Tok::Root => Unary::Root,
            _ => return self.power(),
        };
        let called = self.operator_call();
        self.bump();
        let inner = self.deeper(Self::unary)?;
        let span = token.start..inner.span.end;
        // `+(a, b)`
        if let (true, Tok::Op(op, dot), ExprKind::Tuple(parts)) = (called, token.kind, &inner.kind)
            && let [left, right] = &parts[..]
        {
            let (left, right) = (Box::new(left.clone()), Box::new(right.clone()));
            return self.build(ExprKind::Binary { op, dot, left, right }, span, self.height);
        }
        self.build(ExprKind::Unary(op, Box::new(inner)), span, self.height)
    }

    /// `a^b`, and a number directly before a factor, as in `2x`.
    fn power(&mut self) -> Parsed<Expr> {
        let token = self.token();
        let base = self.operand()?;
        let number = matches!(token.kind, Tok::Int | Tok::Real) && self.last_end == token.end;
        if number && self.adjacent() && matches!(self.kind(), Tok::Ident | Tok::LParen | Tok::Root) {
            let factor = self.deeper(|p| if p.at(Tok::Root) { p.unary() } else { p.power() })?;
            let span = base.span.start..factor.span.end;
            let (left, right) = (Box::new(base), Box::new(factor));
            return self.build(ExprKind::Binary { op: Binary::Mul, dot: false, left, right }, span, self.height);
        }
        self.power_from(base)
    }

    /// Continues after the base of a power.
    pub(super) fn power_from(&mut self, base: Expr) -> Parsed<Expr> {
        let Tok::Op(Binary::Pow, dot) = self.kind() else { return Ok(base) };
        if self.new_line() {
            return Ok(base);
        }
        let height = self.height;
        self.bump();
        let exponent = self.deeper(Self::unary)?;
        let span = base.span.start..exponent.span.end;
        let height = height.max(self.height);
        let (left, right) = (Box::new(base), Box::new(exponent));
        self.build(ExprKind::Binary { op: Binary::Pow, dot, left, right }, span, height)
    }
}

/// The right operand of a comparison, or of the last comparison of a chain.
fn last_compared(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Binary { op: Binary::LogicalAnd, right, .. } => last_compared(right),
        ExprKind::Binary { right, .. } => Some(right),
        _ => None,
    }
}
