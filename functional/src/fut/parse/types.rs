//! Types.

use super::{Parsed, Parser};
use crate::fut::lex::Tok;
use crate::fut::syntax::{SizeExp, TypeArg, TypeExp};

impl Parser<'_> {
    /// Any type.
    pub(super) fn type_exp(&mut self) -> Parsed<TypeExp> {
        self.nested(|p| {
            if matches!(p.peek(), Tok::Constr(_)) {
                return p.sum_type();
            }
            p.eat_op("|");
            if matches!(p.peek(), Tok::Constr(_)) {
                return p.sum_type();
            }
            // `(x: t) -> t`.
            if p.is_mark("(") && matches!(p.peek_at(1), Tok::Name(_)) && matches!(p.peek_at(2), Tok::Mark(":")) {
                p.advance();
                let name = p.ident("a parameter")?;
                p.mark(":")?;
                let from = p.type_exp()?;
                p.mark(")")?;
                p.op("->")?;
                return Ok(TypeExp::Fun(Some(name), Box::new(from), Box::new(p.type_exp()?)));
            }
            let from = p.type_term()?;
            if p.eat_op("->") {
                return Ok(TypeExp::Fun(None, Box::new(from), Box::new(p.type_exp()?)));
            }
            Ok(from)
        })
    }

    fn sum_type(&mut self) -> Parsed<TypeExp> {
        let mut constrs = Vec::new();
        loop {
            let name = self.constr_name()?;
            let mut args = Vec::new();
            while self.begins_type_atom() {
                args.push(self.type_atom()?);
            }
            constrs.push((name, args));
            if !self.eat_op("|") {
                return Ok(TypeExp::Sum(constrs));
            }
        }
    }

    /// A type without arrows outside parentheses.
    pub(super) fn type_term(&mut self) -> Parsed<TypeExp> {
        if let Tok::Name(_) = self.peek() {
            let path = self.path("a type")?;
            let mut args = Vec::new();
            loop {
                if self.is_mark("[") {
                    args.push(TypeArg::Size(self.size()?));
                } else if self.begins_type_atom() {
                    args.push(TypeArg::Type(self.type_atom()?));
                } else {
                    break;
                }
            }
            return Ok(if args.is_empty() { TypeExp::Name(path) } else { TypeExp::Apply(path, args) });
        }
        self.nested(Self::prefixed_type)
    }

    fn prefixed_type(&mut self) -> Parsed<TypeExp> {
        if self.eat_op("*") {
            return Ok(TypeExp::Unique(Box::new(self.type_term()?)));
        }
        if self.is_mark("[") {
            let size = self.size()?;
            return Ok(TypeExp::Array(size, Box::new(self.type_term()?)));
        }
        if self.eat_mark("?") {
            let mut sizes = Vec::new();
            while self.eat_mark("[") {
                sizes.push(self.ident("a size")?);
                self.mark("]")?;
            }
            if !matches!(self.peek(), Tok::Dot | Tok::Mark(".")) {
                return Err(self.unexpected("`.`"));
            }
            self.advance();
            return Ok(TypeExp::Exists(sizes, Box::new(self.type_exp()?)));
        }
        self.type_atom()
    }

    fn begins_type_atom(&self) -> bool {
        matches!(self.peek(), Tok::Name(_) | Tok::Mark("(" | "{" | "["))
    }

    /// A type that needs no parentheses around it.
    fn type_atom(&mut self) -> Parsed<TypeExp> {
        match self.peek() {
            Tok::Name(_) => Ok(TypeExp::Name(self.path("a type")?)),
            Tok::Mark("[") => {
                let size = self.size()?;
                Ok(TypeExp::Array(size, Box::new(self.nested(Self::type_atom)?)))
            }
            Tok::Mark("(") => {
                self.advance();
                let mut parts = self.separated(")", Self::type_exp)?;
                match parts.pop() {
                    Some(only) if parts.is_empty() => Ok(only),
                    last => {
                        parts.extend(last);
                        Ok(TypeExp::Tuple(parts))
                    }
                }
            }
            Tok::Mark("{") => {
                self.advance();
                Ok(TypeExp::Record(self.separated("}", |p| {
                    let name = p.field()?;
                    p.mark(":")?;
                    Ok((name, p.type_exp()?))
                })?))
            }
            _ => Err(self.unexpected("a type")),
        }
    }

    /// `[]`, `[n]`, `[n + 1]`.
    fn size(&mut self) -> Parsed<SizeExp> {
        self.mark("[")?;
        if self.eat_mark("]") {
            return Ok(SizeExp::Any);
        }
        let size = self.exp()?;
        self.mark("]")?;
        Ok(SizeExp::Is(size))
    }
}
