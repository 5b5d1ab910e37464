//! Patterns.

use super::{Parsed, Parser};
use crate::fut::lex::Tok;
use crate::fut::syntax::{Ident, Lit, Pat};

impl Parser<'_> {
    /// Whether a pattern comes that can stand among parameters.
    pub(super) fn begins_pattern(&self) -> bool {
        matches!(self.peek(), Tok::Name(_) | Tok::Word("_") | Tok::Mark("(" | "{"))
    }

    /// A pattern with an optional type: of `let`, `case`, in parentheses.
    pub(super) fn pattern(&mut self) -> Parsed<Pat> {
        self.nested(|p| {
            p.attributes()?;
            let pat = match p.peek() {
                Tok::Constr(_) => {
                    let constr = p.constr_name()?;
                    let mut args = Vec::new();
                    while p.begins_pattern() || p.begins_constant() {
                        args.push(p.simple_pattern()?);
                    }
                    Pat::Constr(constr, args)
                }
                _ => p.simple_pattern()?,
            };
            if p.eat_mark(":") { Ok(Pat::Ascribe(Box::new(pat), p.type_exp()?)) } else { Ok(pat) }
        })
    }

    /// Whether a literal or a constructor comes.
    fn begins_constant(&self) -> bool {
        matches!(self.peek(), Tok::Int(..) | Tok::Float(..) | Tok::Word("true" | "false") | Tok::Constr(_))
            || (self.is_op("-") && matches!(self.peek_at(1), Tok::Int(..) | Tok::Float(..)))
    }

    pub(super) fn constr_name(&mut self) -> Parsed<Ident> {
        let Tok::Constr(name) = self.peek() else { return Err(self.unexpected("a constructor")) };
        let ident = Ident { name: name.clone(), span: self.span() };
        self.advance();
        Ok(ident)
    }

    /// A pattern without a type, unless that stands in parentheses.
    pub(super) fn simple_pattern(&mut self) -> Parsed<Pat> {
        let from = self.span();
        match self.peek().clone() {
            Tok::Name(name) => {
                self.advance();
                Ok(Pat::Name(Ident { name, span: from }))
            }
            Tok::Word("_") => {
                self.advance();
                Ok(Pat::Wild(from))
            }
            Tok::Mark("(") => {
                self.advance();
                // `(+)` and `((+): t)` name an operator.
                if let Tok::Op(op) = self.peek().clone()
                    && matches!(self.peek_at(1), Tok::Mark(")"))
                {
                    self.advance();
                    self.advance();
                    return Ok(Pat::Name(Ident { name: op, span: from.to(self.last_span()) }));
                }
                let mut parts = self.separated(")", Self::pattern)?;
                let trailing = self.at >= 2 && matches!(self.tokens[self.at - 2].tok, Tok::Mark(","));
                match parts.pop() {
                    Some(only) if parts.is_empty() && !trailing => Ok(only),
                    last => {
                        parts.extend(last);
                        Ok(Pat::Tuple(parts, from.to(self.last_span())))
                    }
                }
            }
            Tok::Mark("{") => {
                self.advance();
                let fields = self.separated("}", |p| {
                    let name = p.field()?;
                    if p.eat_op("=") {
                        let pat = p.pattern()?;
                        return Ok((name, pat));
                    }
                    let mut pat = Pat::Name(name.clone());
                    if p.eat_mark(":") {
                        pat = Pat::Ascribe(Box::new(pat), p.type_exp()?);
                    }
                    Ok((name, pat))
                })?;
                Ok(Pat::Record(fields, from.to(self.last_span())))
            }
            Tok::Constr(_) => Ok(Pat::Constr(self.constr_name()?, Vec::new())),
            Tok::Op(op) if &*op == "-" => {
                self.advance();
                let lit = self.literal()?;
                Ok(Pat::Lit(lit, true, from.to(self.last_span())))
            }
            Tok::Int(..) | Tok::Float(..) | Tok::Word("true" | "false") => {
                let lit = self.literal()?;
                Ok(Pat::Lit(lit, false, from))
            }
            _ => Err(self.unexpected("a pattern")),
        }
    }

    pub(super) fn literal(&mut self) -> Parsed<Lit> {
        let lit = match self.peek() {
            Tok::Int(value, prim) => Lit::Int(*value, *prim),
            Tok::Float(value, prim) => Lit::Float(*value, *prim),
            Tok::Word("true") => Lit::Bool(true),
            Tok::Word("false") => Lit::Bool(false),
            _ => return Err(self.unexpected("a literal")),
        };
        self.advance();
        Ok(lit)
    }
}
