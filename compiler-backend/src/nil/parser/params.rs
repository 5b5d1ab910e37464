//! Reads the parameters of functions.

use super::super::ast::{Name, Param, TypeArg, TypeExpr};
use super::super::codes;
use super::super::token::Tok;
use super::{Parsed, Parser};

impl Parser<'_> {
    /// The parameters and the keyword parameters, to the closing parenthesis.
    pub(super) fn params(&mut self) -> Parsed<(Vec<Param>, Vec<Param>)> {
        self.bump();
        let (mut params, mut keywords) = (Vec::new(), Vec::new());
        let mut after = false;
        loop {
            if self.eat(Tok::RParen) {
                return Ok((params, keywords));
            }
            if self.at(Tok::Semi) && !after {
                self.bump();
                after = true;
                continue;
            }
            let param = self.param()?;
            let last = matches!(self.kind(), Tok::RParen | Tok::Semi);
            if param.rest && !last {
                let help = "it takes all further arguments, so it is the last before keywords";
                let message = format!("`{}...` cannot stand here", param.name.text);
                return Err(self.error(codes::SPLAT, param.name.span, message, help));
            }
            if after { &mut keywords } else { &mut params }.push(param);
            if !matches!(self.kind(), Tok::RParen | Tok::Semi) {
                self.expect(Tok::Comma, "`,` or `)`")?;
            }
        }
    }

    /// A parameter.
    pub(super) fn param(&mut self) -> Parsed<Param> {
        let token = self.token();
        let name = match token.kind {
            // A parameter without a name is not used, but has one in results.
            Tok::Typed => Name { text: format!("_{}", token.start), span: token.start..token.end },
            _ => self.name("a parameter")?,
        };
        let ty = if self.eat(Tok::Typed) { Some(self.type_expr()?) } else { None };
        let rest = self.eat(Tok::Splat);
        let default = if self.eat(Tok::Equals) { Some(self.expr()?) } else { None };
        // `x::Vararg{T,2}` is `x::T...` with two of them.
        if let Some(TypeExpr { name: Name { text, .. }, args, .. }) = &ty
            && text == "Vararg"
        {
            let (ty, count) = match args.as_slice() {
                [TypeArg::Type(t)] => (Some(t.clone()), None),
                [TypeArg::Type(t), TypeArg::Number(n, _)] => (Some(t.clone()), usize::try_from(*n).ok()),
                _ => (None, None),
            };
            if ty.is_some() || args.is_empty() {
                return Ok(Param { name, ty, default, rest: true, count });
            }
        }
        Ok(Param { name, ty, default, rest, count: None })
    }
}
