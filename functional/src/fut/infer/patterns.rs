//! Patterns.

use super::{Infer, Inferred};
use crate::fut::code::Pattern;
use crate::fut::lex::Name;
use crate::fut::syntax::{Ast, Lit, Pat};
use crate::fut::types::{FLOATS, NUMBERS, Type, field_order};

impl Infer {
    /// The type of a literal.
    pub(super) fn literal(&mut self, lit: &Lit) -> Type {
        match lit {
            Lit::Int(_, Some(prim)) | Lit::Float(_, Some(prim)) => Type::Prim(*prim),
            Lit::Int(_, None) => self.unifier.of_class(NUMBERS),
            Lit::Float(_, None) => self.unifier.of_class(FLOATS),
            Lit::Bool(_) => Type::BOOL,
        }
    }

    /// A pattern; what it binds comes into scope.
    pub(super) fn pattern(&mut self, ast: &Ast, pat: &Pat) -> Inferred<(Pattern, Type)> {
        match pat {
            Pat::Wild(_) => Ok((Pattern::Wild, self.unifier.fresh())),
            Pat::Name(ident) => {
                let ty = self.unifier.fresh();
                Ok((Pattern::Var(self.local(ident, &ty)), ty))
            }
            Pat::Tuple(parts, _) => {
                let found = parts.iter().map(|p| self.pattern(ast, p)).collect::<Inferred<Vec<_>>>()?;
                let (patterns, types) = found.into_iter().unzip();
                Ok((Pattern::Tuple(patterns), Type::tuple(types)))
            }
            Pat::Record(fields, _) => {
                let mut found: Vec<(Name, Pattern, Type)> = Vec::new();
                for (name, p) in fields {
                    if found.iter().any(|(n, ..)| *n == name.name) {
                        return Err(Self::twice(name, "field"));
                    }
                    let (pattern, ty) = self.pattern(ast, p)?;
                    found.push((name.name.clone(), pattern, ty));
                }
                found.sort_by(|a, b| field_order(&a.0, &b.0));
                let (patterns, types): (Vec<_>, Vec<_>) = found.into_iter().map(|(n, p, t)| (p, (n, t))).unzip();
                Ok((Pattern::Tuple(patterns), Type::Record(types.into())))
            }
            Pat::Lit(lit, negative, _) => {
                let ty = self.literal(lit);
                Ok((Pattern::Lit(lit.clone(), *negative, ty.clone()), ty))
            }
            Pat::Constr(name, args) => {
                let found = args.iter().map(|p| self.pattern(ast, p)).collect::<Inferred<Vec<_>>>()?;
                let (patterns, types): (Vec<_>, Vec<_>) = found.into_iter().unzip();
                let ty = self.unifier.fresh();
                let demanded = self.unifier.has_constr(&ty, &name.name, &types);
                demanded.map_err(|m| self.mismatch(&m, &ty, &ty, name.span))?;
                Ok((Pattern::Constr(ty.clone(), name.name.clone(), patterns), ty))
            }
            Pat::Ascribe(inner, is) => {
                let is = self.type_exp(ast, is)?;
                let (pattern, ty) = self.pattern(ast, inner)?;
                self.unify_at(&is, &ty, inner.span())?;
                Ok((pattern, is))
            }
        }
    }
}
