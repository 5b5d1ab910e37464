//! Applications, atoms and what follows them.

use super::expressions::Step;
use super::{Parsed, Parser};
use crate::core::IntType;
use crate::fut::lex::Tok;
use crate::fut::syntax::{Exp, ExpId, Function, Ident, Lit, Pat, Span};
use crate::fut::types::Prim;

impl Parser<'_> {
    /// A function with its arguments; the last may be a lambda without parentheses.
    pub(super) fn application(&mut self) -> Parsed<ExpId> {
        let from = self.span();
        if self.eat_word("assert") {
            let condition = self.postfix()?;
            let exp = self.postfix()?;
            return Ok(self.add(Exp::Assert(condition, exp), from));
        }
        let constr = if matches!(self.peek(), Tok::Constr(_)) { Some(self.constr_name()?) } else { None };
        let head = if constr.is_none() { Some(self.postfix()?) } else { None };
        let mut args = Vec::new();
        loop {
            if self.is_mark("\\") {
                args.push(self.nested(Self::lambda)?);
                break;
            }
            if !self.begins_atom() {
                break;
            }
            args.push(self.postfix()?);
        }
        match (head, constr) {
            (Some(head), _) if args.is_empty() => Ok(head),
            (Some(head), _) => Ok(self.add(Exp::Apply(head, args), from)),
            (None, Some(name)) => Ok(self.add(Exp::Constr(name, args), from)),
            (None, None) => Err(self.unexpected("an expression")),
        }
    }

    fn begins_atom(&self) -> bool {
        match self.peek() {
            Tok::Name(_) => self.qualified_symbol().is_none(),
            Tok::Int(..) | Tok::Float(..) | Tok::Constr(_) | Tok::Word("true" | "false" | "_") => true,
            Tok::Mark("(" | "[" | "{" | "???") => true,
            Tok::Text(_) => true,
            Tok::Word(_) | Tok::Op(_) | Tok::Mark(_) | Tok::Dot | Tok::End => false,
        }
    }

    /// An atom with its fields and indices.
    fn postfix(&mut self) -> Parsed<ExpId> {
        let from = self.span();
        let mut exp = self.atom()?;
        loop {
            if matches!(self.peek(), Tok::Dot) {
                self.advance();
                let field = self.field()?;
                exp = self.add(Exp::Field(exp, field), from);
            } else if self.is_mark("[") && self.close() {
                let indices = self.nested(Self::indices)?;
                exp = self.add(Exp::Index(exp, indices), from);
            } else {
                return Ok(exp);
            }
        }
    }

    fn atom(&mut self) -> Parsed<ExpId> {
        let from = self.span();
        match self.peek() {
            Tok::Int(..) | Tok::Float(..) | Tok::Word("true" | "false") => {
                let lit = self.literal()?;
                Ok(self.add(Exp::Lit(lit), from))
            }
            Tok::Name(_) => {
                let path = self.path("an expression")?;
                if matches!(self.peek(), Tok::Dot) && matches!(self.peek_at(1), Tok::Mark("(")) && self.close_at(1) {
                    self.advance();
                    let inner = self.nested(Self::parenthesised)?;
                    return Ok(self.add(Exp::Open(path, inner), from));
                }
                Ok(self.add(Exp::Path(path), from))
            }
            Tok::Constr(_) => {
                let name = self.constr_name()?;
                Ok(self.add(Exp::Constr(name, Vec::new()), from))
            }
            Tok::Mark("(") => self.nested(Self::parenthesised),
            Tok::Mark("[") => {
                self.advance();
                let parts = self.separated("]", Self::exp)?;
                Ok(self.add(Exp::Array(parts), from))
            }
            Tok::Mark("{") => {
                self.advance();
                let fields = self.separated("}", |p| {
                    let name = p.field()?;
                    if p.eat_op("=") {
                        return Ok((name, p.exp()?));
                    }
                    let exp = p.add(Exp::Path(vec![name.clone()]), name.span);
                    Ok((name, exp))
                })?;
                Ok(self.add(Exp::Record(fields), from))
            }
            Tok::Mark("???") => Err(self.unread(from, "holes", "write the expression")),
            // A text is the array of its bytes.
            Tok::Text(text) => {
                let bytes = text.clone();
                self.advance();
                let parts = bytes
                    .bytes()
                    .map(|b| self.add(Exp::Lit(Lit::Int(b.into(), Some(Prim::Int(IntType::U8)))), from))
                    .collect();
                Ok(self.add(Exp::Array(parts), from))
            }
            _ => Err(self.unexpected("an expression")),
        }
    }

    /// What stands in parentheses: an expression, a tuple, or part of an operator.
    fn parenthesised(&mut self) -> Parsed<ExpId> {
        let from = self.span();
        self.mark("(")?;
        if self.eat_mark(")") {
            return Ok(self.add(Exp::Tuple(Vec::new()), from));
        }
        if matches!(self.peek(), Tok::Dot | Tok::Mark(".")) {
            return self.field_section(from);
        }
        let signed = (self.is_op("-") || self.is_op("!")) && !matches!(self.peek_at(1), Tok::Mark(")"));
        if !signed && let Some(operator) = self.operator()? {
            if self.eat_mark(")") {
                return Ok(self.add(Exp::Section(operator), from));
            }
            let exp = self.exp()?;
            self.mark(")")?;
            return Ok(self.add(Exp::RightSection(operator, exp), from));
        }
        let first = self.exp()?;
        if self.eat_mark(")") {
            return Ok(first);
        }
        if self.eat_mark(",") {
            let mut parts = vec![first];
            parts.extend(self.separated(")", Self::exp)?);
            return Ok(self.add(Exp::Tuple(parts), from));
        }
        match self.operator()? {
            Some(operator) if self.eat_mark(")") => Ok(self.add(Exp::LeftSection(first, operator), from)),
            _ => Err(self.unexpected("`)`")),
        }
    }

    /// `(.a.b)`, `(.[i])` or a mixture, behind the parenthesis.
    fn field_section(&mut self, from: Span) -> Parsed<ExpId> {
        self.advance();
        let steps = self.steps()?;
        self.mark(")")?;
        match steps.as_slice() {
            [Step::Fields(fields)] => Ok(self.add(Exp::FieldSection(fields.clone()), from)),
            [Step::Index(indices)] => Ok(self.add(Exp::IndexSection(indices.clone()), from)),
            _ => {
                let param = Ident { name: "the value".into(), span: from };
                let mut body = self.add(Exp::Path(vec![param.clone()]), from);
                for step in &steps {
                    body = self.reached(from, body, step);
                }
                let params = vec![Pat::Name(param)];
                Ok(self.add(Exp::Lambda(Function { type_params: Vec::new(), params, result: None, body }), from))
            }
        }
    }
}
