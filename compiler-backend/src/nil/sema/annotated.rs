//! Types in expressions: what they name, values that must have them, and the fields of values.

use pendula_isa::Ty;

use super::Done;
use super::body::Body;
use super::value::{ScalarExpr, Value};
use crate::nil::ast::{self, Span};
use crate::nil::codes;
use crate::nil::types::Type;

impl Body<'_, '_> {
    /// The types that `typeof(x)` in a type stands for take the place of it, under names of their own.
    fn without_typeof(&mut self, t: &ast::TypeExpr) -> Done<ast::TypeExpr> {
        if let [ast::TypeArg::Of(e)] = t.args.as_slice() {
            let (_, value) = self.computed(|s| s.eval(e));
            let value = value?;
            let Some(ty) = value.type_of() else {
                let message = format!("{} has no type here", value.describe());
                return self.fail(&e.span, codes::TYPE, message, "give a variable");
            };
            let name = format!("typeof({})", self.source(&e.span));
            self.types.insert(name.clone(), ty);
            let name = ast::Name { text: name, span: t.span.clone() };
            return Ok(ast::TypeExpr { name, args: Vec::new(), span: t.span.clone() });
        }
        let mut t = t.clone();
        for arg in &mut t.args {
            if let ast::TypeArg::Type(inner) = arg {
                *inner = self.without_typeof(inner)?;
            }
        }
        Ok(t)
    }

    /// A value that must have a type.
    pub(super) fn has_type(&mut self, value: Value, ty: &ast::TypeExpr, span: &Span) -> Done<Value> {
        let ty = &self.without_typeof(ty)?;
        if let Value::Num(ScalarExpr::Lit(_), None) = value {
            let wanted = self.type_expr(ty)?;
            return self.value_as(value, &wanted, span);
        }
        let mut names = super::names(&self.s.structs, &self.types);
        match value.type_of() {
            Some(found) if names.accepts(ty, &found, &[]).is_none() => {
                let message = format!("{} is expected here, found {found}", super::call::type_text(ty));
                self.fail(span, codes::TYPE, message, "convert it, or leave the type out")
            }
            _ => Ok(value),
        }
    }

    /// The fields of a value, as a tuple.
    pub(super) fn fields_of(&mut self, value: Value, span: &Span) -> Done<Value> {
        match value {
            Value::Complex(re, im, ty) => Ok(Value::Tuple(vec![Value::Num(re, ty), Value::Num(im, ty)])),
            Value::Struct(_, parts) | Value::Tuple(parts) => Ok(Value::Tuple(parts)),
            Value::Tropical(x, ty) => Ok(Value::Tuple(vec![Value::Num(x, Some(ty))])),
            Value::Log(log, None) => Ok(Value::Tuple(vec![Value::Num(log, Some(Ty::F))])),
            Value::Log(log, Some(sign)) => Ok(Value::Tuple(vec![Value::Num(log, Some(Ty::F)), Value::Bool(*sign)])),
            other => {
                let message = format!("{} has no fields", other.describe());
                self.fail(span, codes::TYPE, message, "structs, complex numbers and tuples have fields")
            }
        }
    }

    pub(super) fn type_expr(&mut self, t: &ast::TypeExpr) -> Done<Type> {
        let t = &self.without_typeof(t)?;
        let resolved = super::names(&self.s.structs, &self.types).resolve(t);
        resolved.map_err(|problem| {
            let file = self.file;
            self.s.type_problem(file, t, problem)
        })
    }
}
