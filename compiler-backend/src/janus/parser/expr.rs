//! Reads expressions by the precedence of operators.

use super::{Parsed, Parser};
use crate::janus::ast::{BinOp, Expr, ExprKind, IntTy, Lval, UnOp};
use crate::janus::codes;
use crate::janus::lexer::Tok;

/// The operators.
const OPERATORS: &[BinOp] = &[
    BinOp::Pow,
    BinOp::Mul,
    BinOp::Div,
    BinOp::Mod,
    BinOp::Add,
    BinOp::Sub,
    BinOp::Shl,
    BinOp::Shr,
    BinOp::Le,
    BinOp::Lt,
    BinOp::Ge,
    BinOp::Gt,
    BinOp::Eq,
    BinOp::Ne,
    BinOp::And,
    BinOp::Or,
    BinOp::Xor,
    BinOp::LogicalAnd,
    BinOp::LogicalOr,
];

/// The level of the operators that bind most loosely.
const LOOSEST: u8 = 7;

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        let e = self.nested(|p| p.level(LOOSEST))?;
        self.no_operator(false)?;
        Ok(e)
    }

    /// The operators of one level, which associate to the left.
    fn level(&mut self, level: u8) -> Parsed<Expr> {
        if level == 0 {
            return self.unary();
        }
        let start = self.start();
        let mut left = self.level(level - 1)?;
        while let Some(op) = self.operator(level) {
            let height = self.height;
            self.no_pair()?;
            self.at += 1;
            let right = self.level(level - 1)?;
            self.high(height.max(self.height) + 1)?;
            let kind = ExprKind::Binary(op, Box::new(left), Box::new(right));
            left = Expr { kind, span: self.since(start), closed: false };
        }
        Ok(left)
    }

    fn operator(&self, level: u8) -> Option<BinOp> {
        let Tok::Sign(sign) = self.token().tok else { return None };
        OPERATORS.iter().copied().find(|op| op.spelling() == (sign, level))
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.start();
        self.no_not(false)?;
        let op = match self.token().tok {
            Tok::Sign("!") => Some(UnOp::Not),
            Tok::Sign("~") => Some(UnOp::Complement),
            // Before a number, the sign is part of the number.
            Tok::Sign("-") if !matches!(self.ahead(1).tok, Tok::Number(_)) => Some(UnOp::Minus),
            _ => None,
        };
        if let Some(op) = op {
            self.at += 1;
            let of = self.nested(Self::unary)?;
            self.high(self.height + 1)?;
            return Ok(Expr { kind: ExprKind::Unary(op, Box::new(of)), span: self.since(start), closed: false });
        }
        let cast = IntTy::named(self.word_of(self.ahead(1)));
        if let (true, Some(ty), Tok::Sign(")")) = (self.is_sign("("), cast, &self.ahead(2).tok) {
            self.at += 3;
            let of = self.nested(Self::unary)?;
            self.high(self.height + 1)?;
            return Ok(Expr { kind: ExprKind::Cast(ty, Box::new(of)), span: self.since(start), closed: false });
        }
        self.term()
    }

    fn term(&mut self) -> Parsed<Expr> {
        const HELP: &str =
            "an expression is made of numbers, variables, `(…)`, `empty(s)`, `top(s)`, `size(s)` and operators";
        let start = self.start();
        self.height = 1;
        let kind = match self.token().tok.clone() {
            Tok::Sign("(") => {
                self.at += 1;
                let mut inner = self.expr()?;
                self.sign(")", "a parenthesis is not closed")?;
                inner.closed = true;
                inner.span = self.since(start);
                return Ok(inner);
            }
            Tok::Number(n) => {
                self.at += 1;
                ExprKind::Num(n)
            }
            // The sign is part of the number.
            Tok::Sign(sign @ ("-" | "+")) => match self.ahead(1).tok {
                Tok::Number(n) => {
                    self.at += 2;
                    if sign == "-" && n > 1 << 63 {
                        let help = "the least number is -9223372036854775808";
                        let message = format!("-{n} does not fit in 64 bits");
                        return self.fail(codes::NUMBER, self.since(start), message, help);
                    }
                    ExprKind::Num(if sign == "-" { -n } else { n })
                }
                _ => return self.expected("an expression", "leave the `+` out"),
            },
            Tok::Word => match self.word_of(self.token()) {
                "true" | "false" => {
                    let is = self.is_word("true");
                    self.at += 1;
                    ExprKind::Bool(is)
                }
                "nil" => {
                    self.at += 1;
                    ExprKind::Nil
                }
                word @ ("empty" | "top" | "size") => {
                    self.at += 1;
                    self.sign("(", "the stack is in parentheses")?;
                    let name = self.name("the name of a stack")?;
                    self.sign(")", "the stack is in parentheses")?;
                    match word {
                        "empty" => ExprKind::Empty(name),
                        "top" => ExprKind::Top(name),
                        _ => ExprKind::Size(name),
                    }
                }
                _ if self.is_name(self.token()) => {
                    self.no_function(false)?;
                    ExprKind::Place(self.lval()?)
                }
                _ => return self.expected("an expression", HELP),
            },
            Tok::Sign(_) | Tok::Text(_) | Tok::End => return self.expected("an expression", HELP),
        };
        Ok(Expr { kind, span: self.since(start), closed: false })
    }

    /// A variable or a part of an array.
    pub(super) fn lval(&mut self) -> Parsed<Lval> {
        let start = self.start();
        let name = self.name("a variable")?;
        let mut indices = Vec::new();
        let mut height = 0;
        while self.eat_sign("[") {
            indices.push(self.expr()?);
            height = height.max(self.height);
            self.sign("]", "an index is in brackets: `a[i]`")?;
        }
        self.high(height + 1)?;
        Ok(Lval { name, indices, span: self.since(start) })
    }
}
