//! Reads types and type parameters.

use super::super::ast::{Expr, ExprKind, Name, TypeArg, TypeExpr, TypeParam};
use super::super::codes;
use super::super::token::{Kw, Tok};
use super::{Parsed, Parser};

impl Parser<'_> {
    /// A type: `T`, `Base.Real`, `Complex{T}`, `<:Real`.
    pub(super) fn type_expr(&mut self) -> Parsed<TypeExpr> {
        self.deeper(|p| {
            let start = p.token().start;
            p.eat(Tok::Subtype);
            let mut name = p.name("a type")?;
            while p.at(Tok::Dot) && p.adjacent() {
                p.bump();
                name = p.name("a type")?;
            }
            p.type_rest(start, name)
        })
    }

    /// The arguments of a type, if it has any, after its name.
    pub(super) fn type_rest(&mut self, start: usize, name: Name) -> Parsed<TypeExpr> {
        if name.text == "typeof" && self.at(Tok::LParen) && self.adjacent() {
            let of = self.bracketed(false, |p| {
                p.bump();
                let of = p.expr()?;
                p.expect(Tok::RParen, "`)`")?;
                Ok(of)
            })?;
            return Ok(TypeExpr { name, args: vec![TypeArg::Of(Box::new(of))], span: start..self.last_end });
        }
        let args = if self.at(Tok::LBrace) && self.adjacent() { self.type_args()? } else { Vec::new() };
        Ok(TypeExpr { name, args, span: start..self.last_end })
    }

    fn type_args(&mut self) -> Parsed<Vec<TypeArg>> {
        self.bracketed(false, |p| {
            p.bump();
            let mut args = Vec::new();
            while !p.at(Tok::RBrace) {
                args.push(p.type_arg()?);
                if !p.eat(Tok::Comma) {
                    break;
                }
            }
            p.expect(Tok::RBrace, "`,` or `}`")?;
            Ok(args)
        })
    }

    fn type_arg(&mut self) -> Parsed<TypeArg> {
        let token = self.token();
        // A value: `Val{:name}`, `Val{true}`.
        let next = self.cursor.second();
        let name = match token.kind {
            Tok::Colon if next.kind == Tok::Ident && self.slice(0..token.start).ends_with("Val{") => {
                format!(":{}", self.text_of(next))
            }
            Tok::Kw(Kw::True | Kw::False) => self.text_of(token).to_string(),
            _ => String::new(),
        };
        if !name.is_empty() {
            self.bump();
            if token.kind == Tok::Colon {
                self.bump();
            }
            let span = token.start..self.last_end;
            let name = Name { text: name, span: span.clone() };
            return Ok(TypeArg::Type(TypeExpr { name, args: Vec::new(), span }));
        }
        if token.kind != Tok::Int {
            return Ok(TypeArg::Type(self.type_expr()?));
        }
        self.bump();
        let span = token.start..token.end;
        match self.text_of(token).replace('_', "").parse() {
            Ok(number) => Ok(TypeArg::Number(number, span)),
            Err(_) => {
                Err(self.error(codes::NUMBER, span, "this number is too large for a type", "write a smaller one"))
            }
        }
    }

    /// `where T`, `where {T, S <: Real}`, several times. May stand on the next line.
    pub(super) fn where_clauses(&mut self, into: &mut Vec<TypeParam>) -> Parsed<()> {
        while self.eat(Tok::Kw(Kw::Where)) {
            if self.at(Tok::LBrace) {
                self.type_params(into)?;
            } else {
                into.push(self.type_param()?);
            }
        }
        Ok(())
    }

    /// `{T, S <: Real}`
    pub(super) fn type_params(&mut self, into: &mut Vec<TypeParam>) -> Parsed<()> {
        self.bracketed(false, |p| {
            p.bump();
            while !p.at(Tok::RBrace) {
                let param = p.type_param()?;
                into.push(param);
                if !p.eat(Tok::Comma) {
                    break;
                }
            }
            p.expect(Tok::RBrace, "`,` or `}`")?;
            Ok(())
        })
    }

    fn type_param(&mut self) -> Parsed<TypeParam> {
        let name = self.name("a type parameter")?;
        let bound = if self.goes_on(Tok::Subtype) { Some(self.type_expr()?) } else { None };
        Ok(TypeParam { name, bound })
    }

    /// Reads an expression as a type, as in `(T1 => T2)(x)`.
    pub(super) fn as_type(&mut self, expr: Expr) -> Parsed<TypeExpr> {
        let span = expr.span;
        match expr.kind {
            ExprKind::Name(text) => Ok(TypeExpr { name: Name { text, span: span.clone() }, args: Vec::new(), span }),
            ExprKind::Field(_, name) => Ok(TypeExpr { name, args: Vec::new(), span }),
            ExprKind::Type(ty) => Ok(ty),
            _ => {
                let help = "`(T1 => T2)(x)` changes the type of x from T1 to T2";
                Err(self.error(codes::SYNTAX, span, "expected a type, found an expression", help))
            }
        }
    }
}
