//! The arguments of the entry point, by parameter.

use super::Sema;
use super::argument::{Argument, Number, literal};
use super::value::{Literal, ScalarExpr, Value};
use crate::nil::ast;
use crate::nil::types::{Type, same_shape};

impl Sema<'_> {
    /// What is given for parameter number `k`: the last one may take all further arguments.
    pub(super) fn given_to(&self, param: &ast::Param, k: usize) -> Option<Argument> {
        match param.rest {
            true => Some(Argument::Tuple(self.settings.arguments.get(k..).unwrap_or(&[]).to_vec())),
            // A default that is a number stands for an argument that is missing.
            false => self.settings.arguments.get(k).cloned().or_else(|| {
                let text = match literal(param.default.as_ref()?)? {
                    Value::Num(ScalarExpr::Lit(Literal::Int(n)), _) => n.to_string(),
                    Value::Num(ScalarExpr::Lit(Literal::Real(text)), _) => text,
                    _ => return None,
                };
                Some(Argument::Number(Number::Text(text))).filter(|_| !self.settings.arguments.is_empty())
            }),
        }
    }

    /// The type of `x...` from parameter number `k` on: a tuple.
    pub(super) fn rest_type(&self, f: &ast::Function, k: usize) -> Option<Type> {
        let one = |v: &Argument| {
            let mut likely = Vec::new();
            self.guess(&f.scope, v, &mut likely);
            likely.into_iter().next()
        };
        self.settings.arguments.get(k..).unwrap_or(&[]).iter().map(one).collect::<Option<_>>().map(Type::Tuple)
    }

    /// How unlikely a type is for argument number `k`; 0 is the most likely. An integer literal is more likely an `Int`
    /// than a `Float64`.
    pub(super) fn distances(&self, k: usize, ty: &Type) -> usize {
        let typed = self.settings.types.get(k).is_some_and(|t| !t.trim().is_empty());
        match self.settings.arguments.get(k) {
            Some(v @ (Argument::Number(_) | Argument::Array(..))) if !typed => {
                let mut likely = Vec::new();
                self.guess(&[], v, &mut likely);
                likely.iter().position(|t| same_shape(t, ty)).unwrap_or(likely.len())
            }
            Some(_) | None => 0,
        }
    }
}
