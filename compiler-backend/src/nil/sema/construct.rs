//! Values of a given type: zeros and ones, conversions, and structs from their fields.

use std::collections::HashMap;

use pendula_isa::Ty;

use super::Done;
use super::body::Body;
use super::value::{Literal, ScalarExpr, Value};
use crate::nil::ast::{self, Span};
use crate::nil::codes;
use crate::nil::types::Type;

impl Body<'_, '_> {
    /// The zero or the one of a type; `None` if it has none.
    pub(super) fn unit(&mut self, ty: &Type, one: bool) -> Option<Value> {
        let format = self.s.program.format;
        let word = |ty: Ty| -> ScalarExpr {
            let constant =
                if one { pendula_isa::calculus::Constant::ONE } else { pendula_isa::calculus::Constant::ZERO };
            let env = pendula_isa::Env { format, ..pendula_isa::Env::default() };
            ScalarExpr::Const(constant.word(env, ty))
        };
        Some(match ty {
            Type::Num(ty) => Value::Num(word(*ty), Some(*ty)),
            Type::Bool => Value::Bool(ScalarExpr::Const(u64::from(one))),
            Type::Complex(ty) => {
                let zero = self.unit(&Type::Num(*ty), false)?;
                let Value::Num(zero, _) = zero else { return None };
                let re = word(*ty);
                Value::Complex(re, zero, Some(*ty))
            }
            // The one of (max, +) is the number 0; its zero would be minus infinity.
            Type::Tropical(ty) if one => match self.unit(&Type::Num(*ty), false)? {
                Value::Num(x, _) => Value::Tropical(x, *ty),
                _ => return None,
            },
            // Minus infinity, which the least number is in formats without it.
            Type::Tropical(Ty::F) => Value::Tropical(ScalarExpr::float(f64::NEG_INFINITY), Ty::F),
            Type::Struct(s) => {
                let fields: Option<Vec<Value>> = s.fields.iter().map(|(_, t)| self.unit(t, one)).collect();
                Value::Struct(std::rc::Rc::clone(s), fields?)
            }
            Type::Tuple(parts) => Value::Tuple(parts.iter().map(|t| self.unit(t, one)).collect::<Option<_>>()?),
            Type::Log { signed } if one => {
                Value::Log(ScalarExpr::Const(0), signed.then(|| Box::new(ScalarExpr::Const(0))))
            }
            Type::Tropical(_) | Type::Log { .. } | Type::Array { .. } | Type::Function(_) => return None,
        })
    }

    /// `T(args…)`: a conversion, or a struct.
    pub(super) fn construct(&mut self, ty: Type, args: &[ast::Expr], span: &Span) -> Done<Value> {
        let mut values = Vec::new();
        for arg in args {
            values.push(self.eval(arg)?);
        }
        self.construct_of(ty, values, span)
    }

    pub(super) fn construct_of(&mut self, ty: Type, mut values: Vec<Value>, span: &Span) -> Done<Value> {
        let expected = match &ty {
            Type::Complex(_) => 1..=2,
            Type::Struct(s) => s.fields.len()..=s.fields.len(),
            _ => 1..=1,
        };
        if !expected.contains(&values.len()) {
            let expected = pendula_isa::diagnostic::plural(*expected.end(), "value");
            let message = format!("{ty} is made of {expected}, found {}", values.len());
            return self.fail(span, codes::ARGUMENTS, message, "give one for each part");
        }
        match ty {
            Type::Log { signed } => self.log_of(values.remove(0), signed, span),
            Type::Num(to) => match values.remove(0) {
                Value::Log(log, sign) => Ok(Value::Num(self.log_to(log, sign, to, span)?, Some(to))),
                Value::Num(x, Some(from)) => Ok(Value::Num(self.convert(x, from, to, span)?, Some(to))),
                Value::Tropical(x, from) => Ok(Value::Num(self.convert(x, from, to, span)?, Some(to))),
                other => Ok(Value::Num(self.number_as(other, to, span)?, Some(to))),
            },
            Type::Bool => match values.remove(0) {
                Value::Bool(x) => Ok(Value::Bool(x)),
                other => {
                    let x = self.integer(other, span)?;
                    let zero = Box::new(ScalarExpr::Const(0));
                    Ok(Value::Bool(ScalarExpr::Cmp(pendula_isa::Cond::Ne, Ty::Int, Box::new(x), zero)))
                }
            },
            Type::Tropical(to) => Ok(Value::Tropical(self.number_as(values.remove(0), to, span)?, to)),
            Type::Complex(to) => {
                let first = values.remove(0);
                if let Value::Complex(re, im, from) = first {
                    let one = |s: &mut Self, x: ScalarExpr| match from {
                        Some(from) => s.convert(x, from, to, span),
                        None => s.number_as(Value::Num(x, None), to, span),
                    };
                    return Ok(Value::Complex(one(self, re)?, one(self, im)?, Some(to)));
                }
                let re = self.number_as(first, to, span)?;
                let im = match values.pop() {
                    Some(v) => self.number_as(v, to, span)?,
                    None => self.number_as(Value::Num(ScalarExpr::Lit(Literal::Int(0)), None), to, span)?,
                };
                Ok(Value::Complex(re, im, Some(to)))
            }
            Type::Struct(s) => {
                let mut fields = Vec::new();
                for ((_, t), v) in s.fields.iter().zip(values) {
                    let v = match (t, v) {
                        (Type::Array { .. }, v) => v,
                        (t, v) => self.value_as(v, t, span)?,
                    };
                    fields.push(v);
                }
                Ok(Value::Struct(std::rc::Rc::clone(&s), fields))
            }
            other @ (Type::Tuple(_) | Type::Array { .. } | Type::Function(_)) => {
                let message = format!("{other} is not made this way");
                self.fail(span, codes::TYPE, message, "allocate arrays with `zeros(T, n)`")
            }
        }
    }

    /// A value converted to a type, if nothing is lost.
    pub(super) fn value_as(&mut self, v: Value, ty: &Type, span: &Span) -> Done<Value> {
        match (ty, v) {
            (Type::Num(ty), v) => Ok(Value::Num(self.number_as(v, *ty, span)?, Some(*ty))),
            (Type::Complex(to), v @ Value::Num(..)) => {
                let re = self.number_as(v, *to, span)?;
                let im = self.number_as(Value::Num(ScalarExpr::Lit(Literal::Int(0)), None), *to, span)?;
                Ok(Value::Complex(re, im, Some(*to)))
            }
            (Type::Complex(to), Value::Complex(re, im, from)) => {
                let re = self.number_as(Value::Num(re, from), *to, span)?;
                let im = self.number_as(Value::Num(im, from), *to, span)?;
                Ok(Value::Complex(re, im, Some(*to)))
            }
            (Type::Bool, v @ Value::Bool(_)) => Ok(v),
            (Type::Log { signed }, v @ (Value::Log(..) | Value::Num(ScalarExpr::Lit(_), None))) => {
                self.log_beside(v, *signed, span)
            }
            (Type::Struct(s), Value::Struct(t, fields)) if *s == t => Ok(Value::Struct(t, fields)),
            (Type::Tropical(s), Value::Tropical(x, t)) if *s == t => Ok(Value::Tropical(x, t)),
            (Type::Tuple(expected), Value::Tuple(parts)) if expected.len() == parts.len() => {
                let parts =
                    parts.into_iter().zip(expected).map(|(v, t)| self.value_as(v, t, span)).collect::<Done<_>>()?;
                Ok(Value::Tuple(parts))
            }
            (ty, v) => {
                let message = format!("{ty} is expected here, found {}", v.describe());
                self.fail(span, codes::TYPE, message, "convert it, or give another value")
            }
        }
    }

    /// A struct from its fields. Its type argument is the type of a field.
    pub(super) fn struct_of(&mut self, s: &ast::Struct, args: Vec<Value>, span: &Span) -> Done<Value> {
        if s.constructor.is_some() {
            let message = format!("`{}` has a constructor of its own, which belongs to the host", s.name.text);
            let help = format!("write the fields themselves, as in `x ← zero({})` and `x.a += …`", s.name.text);
            return self.fail(span, codes::UNSUPPORTED, message, help);
        }
        let mut names = super::names(&self.s.structs, &HashMap::new());
        for ((_, written), value) in s.fields.iter().zip(&args) {
            if let (Some(written), Some(t)) = (written, value.type_of()) {
                names.accepts(written, &t, &s.type_params);
            }
        }
        let mut bound = self.types.clone();
        bound.extend(names.bound);
        let name = |text: &str| ast::Name { text: text.into(), span: span.clone() };
        let type_args = s
            .type_params
            .iter()
            .map(|p| {
                ast::TypeArg::Type(ast::TypeExpr { name: name(&p.name.text), args: Vec::new(), span: span.clone() })
            })
            .collect();
        let e = ast::TypeExpr { name: name(&s.name.text), args: type_args, span: span.clone() };
        let outer = std::mem::replace(&mut self.types, bound);
        let ty = self.type_expr(&e);
        self.types = outer;
        self.construct_of(ty?, args, span)
    }
}
