//! Parses constant expressions and addresses: from tokens to postfix steps.
//!
//! Nothing is evaluated here; that is the task of [`symbols`](crate::symbols). [`parser`](crate::parser) reads the rest
//! of a statement.

use pendula_isa::Reg;

use crate::ast::{ArgKind, Binary, ExprRef, Node, NodeKind, Span};
use crate::codes;
use crate::parser::{COMMENT, Parser};
use crate::session::Parsed;
use crate::token::Tok;

impl Parser<'_> {
    /// Reads an expression and returns its steps and place.
    pub(crate) fn expression(&mut self) -> Parsed<(ExprRef, Span)> {
        let first = self.s.ast.nodes.len();
        let start = self.span();
        self.binary(1, 0)?;
        Ok((self.expr_from(first), start.to(self.last_span())))
    }

    fn expr_from(&self, first: usize) -> ExprRef {
        ExprRef { first: first as u32, count: (self.s.ast.nodes.len() - first) as u32 }
    }

    fn node(&mut self, kind: NodeKind, span: Span) {
        self.s.ast.nodes.push(Node { span, kind });
    }

    /// Operators that bind at least as tightly as `least`.
    fn binary(&mut self, least: u8, depth: u32) -> Parsed<()> {
        self.unary(depth)?;
        while let Tok::Operator(op) = self.tok() {
            if op.precedence() < least {
                break;
            }
            let span = self.span();
            self.advance();
            self.binary(op.precedence() + 1, depth)?;
            self.node(NodeKind::Binary(op), span);
        }
        Ok(())
    }

    fn unary(&mut self, depth: u32) -> Parsed<()> {
        let span = self.span();
        if let Err(exceeded) = self.budget.nested(depth, || "this expression".to_string()) {
            let exceeded = exceeded.instead("name a part of the expression with `.equ`");
            return Err(self.s.exceeded(&exceeded, span, self.via));
        }
        match self.tok() {
            Tok::Operator(Binary::Sub) => {
                self.advance();
                self.unary(depth + 1)?;
                self.node(NodeKind::Neg, span);
            }
            Tok::Tilde => {
                self.advance();
                self.unary(depth + 1)?;
                self.node(NodeKind::Not, span);
            }
            Tok::OpenParen => {
                self.advance();
                self.binary(1, depth + 1)?;
                self.close(Tok::CloseParen, ")", span)?;
            }
            Tok::Int(n) => self.push_node(NodeKind::Int(n), span),
            Tok::Raw(n) => self.push_node(NodeKind::Raw(n), span),
            Tok::Real(text, ty) => self.push_node(NodeKind::Real(text, ty), span),
            Tok::Name(name) => {
                if let Some(reg) = self.s.names.register(name) {
                    let message = format!("the register {reg} cannot be part of a constant");
                    let help = match self.last() {
                        Tok::Operator(Binary::Sub) => "an operand has no sign: `sub r1, r2` takes r2 away from r1",
                        _ => "only addresses add registers: `[r1+4]`; otherwise compute with instructions",
                    };
                    return Err(self.fail(codes::ADDRESS, message, span, help));
                }
                self.push_node(NodeKind::Name(name), span);
            }
            _ => {
                let help = match self.tok() {
                    Tok::Operator(Binary::Div | Binary::Mul) => COMMENT,
                    Tok::Operator(Binary::Add) => "a number has no `+` before it",
                    Tok::End if self.hash => "`#` begins a comment: constants are written without it, `5`",
                    _ => "a constant is a number, a name, or an expression of these",
                };
                return Err(self.expected("a number or a name", help));
            }
        }
        Ok(())
    }

    fn push_node(&mut self, kind: NodeKind, span: Span) {
        self.advance();
        self.node(kind, span);
    }

    /// Reads the closing bracket that belongs to the one at `open`.
    fn close(&mut self, bracket: Tok, sign: &str, open: Span) -> Parsed<()> {
        if self.tok() == bracket {
            self.advance();
            return Ok(());
        }
        if self.tok() == Tok::Error {
            return Err(crate::session::Reported);
        }
        let message = format!("`{sign}` was expected here, found {}", self.describe());
        let place = self.s.place(open);
        let diagnostic = self.s.error(codes::SYNTAX, message, self.span()).also(place, "this is still open");
        Err(self.s.report(diagnostic.help(format!("close it with `{sign}`")), self.via))
    }

    /// Reads `[…]`: up to two registers, and constants, in any order.
    pub(crate) fn address(&mut self) -> Parsed<ArgKind> {
        let open = self.span();
        self.advance();
        let mut regs = [None; 2];
        let first = self.s.ast.nodes.len();
        let mut constants = 0;
        // The sign of the next term, and its place.
        let mut sign = None;
        loop {
            let span = self.span();
            let negative = matches!(sign, Some((Binary::Sub, _)));
            match self.register() {
                Some(_) if negative => {
                    let help = "negate the register before, and add it; or subtract a constant: `[r1-4]`";
                    return Err(self.fail(codes::ADDRESS, "an address cannot subtract a register", span, help));
                }
                Some(reg) => {
                    self.advance();
                    match regs {
                        [None, _] => regs[0] = Some(reg),
                        [_, None] => regs[1] = Some(reg),
                        _ => {
                            let message = "an address has at most two registers";
                            let help =
                                "add two of them into another register first, and take the sum out again afterwards";
                            return Err(self.fail(codes::ADDRESS, message, span, help));
                        }
                    }
                }
                None if self.tok() == Tok::Close => {
                    let help = "write `[r1]`, `[r1+4]`, `[r1+r2]`, `[name]` or `[name+r1]`";
                    return Err(self.expected("a register or a constant", help));
                }
                None => {
                    self.binary(Binary::Mul.precedence(), 0)?;
                    match sign {
                        Some((op, span)) if constants > 0 => self.node(NodeKind::Binary(op), span),
                        Some((Binary::Sub, span)) => self.node(NodeKind::Neg, span),
                        _ => {}
                    }
                    constants += 1;
                }
            }
            match self.tok() {
                Tok::Operator(op @ (Binary::Add | Binary::Sub)) => {
                    sign = Some((op, self.span()));
                    self.advance();
                }
                Tok::Operator(op) => {
                    let message = format!("`{}` cannot stand between the terms of an address", op.sign());
                    let help = match self.last() {
                        Tok::Name(name) if self.s.names.register(name).is_some() => {
                            "addresses count words, not bytes: a register needs no factor, `[a+r1]`"
                        }
                        _ => "terms are added or subtracted; put other constant expressions in parentheses",
                    };
                    let span = self.span();
                    return Err(self.fail(codes::SYNTAX, message, span, help));
                }
                _ => break,
            }
        }
        self.close(Tok::Close, "]", open)?;
        let [base, index] = regs.map(|r| r.unwrap_or(Reg::ZERO));
        Ok(ArgKind::Mem { base, index, offset: self.expr_from(first) })
    }
}
