//! Expressions: from syntax to values.

use pendula_isa::Ty;
use pendula_isa::table::TableFn;

use super::body::Body;
use super::emit::{function, sum};
use super::scope::Kind;
use super::value::{Literal, ScalarExpr, Value};
use super::{Done, Stop};
use crate::nil::ast::{self, Binary, ExprKind, Span, Unary};
use crate::nil::codes;
use crate::nil::types::{Type, number_name};

impl Body<'_, '_> {
    /// The value of an expression.
    pub(super) fn eval(&mut self, e: &ast::Expr) -> Done<Value> {
        match &e.kind {
            ExprKind::Call { .. } | ExprKind::Binary { .. } | ExprKind::Choice(..) => self.eval_converting(e),
            _ => self.eval_plain(e),
        }
    }

    /// The value of an expression, in the context of a conversion `ULogarithmic(x)`.
    pub(super) fn eval_plain(&mut self, e: &ast::Expr) -> Done<Value> {
        match &e.kind {
            ExprKind::Int(text) => {
                let digits = text.replace('_', "");
                let parsed = match digits.strip_prefix("0x") {
                    Some(hex) => u64::from_str_radix(hex, 16).map(i128::from).ok(),
                    None => match digits.strip_prefix("0b") {
                        Some(bits) => u64::from_str_radix(bits, 2).map(i128::from).ok(),
                        None => digits.parse().ok(),
                    },
                };
                match parsed {
                    Some(n) => Ok(Value::Num(ScalarExpr::Lit(Literal::Int(n)), None)),
                    None => self.fail(
                        &e.span,
                        codes::LITERAL,
                        "this number does not fit 64 bits",
                        "write it with a fraction, as `1e30`",
                    ),
                }
            }
            ExprKind::Real(text) => Ok(Value::Num(ScalarExpr::Lit(Literal::Real(text.replace('_', ""))), None)),
            ExprKind::Bool(b) => Ok(Value::Bool(ScalarExpr::Const(u64::from(*b)))),
            ExprKind::Text(_) => self.fail(
                &e.span,
                codes::TYPE,
                "a text has no value here",
                "texts are for `@safe @assert`, `error` and `@safe println`",
            ),
            ExprKind::Name(name) => self.name(name, &e.span),
            ExprKind::Call { callee, dot, args, keywords } => self.call_value(e, callee, *dot, args, keywords),
            ExprKind::Type(t) => self.type_expr(t).map(Value::Type),
            ExprKind::Unary(op, a) => self.unary(*op, a, &e.span),
            ExprKind::Binary { op: op @ (Binary::LogicalAnd | Binary::LogicalOr), dot, left, right } => {
                let a = self.eval_point(left, *dot)?;
                let b = self.later(|s| s.eval_point(right, *dot))?;
                self.binary(*op, a, b, &e.span)
            }
            ExprKind::Binary { op, dot, left, right } => {
                let (a, b);
                if matches!(left.kind, ExprKind::Choice(..)) {
                    b = self.eval_point(right, *dot)?;
                    a = self.eval_beside(left, *dot, &b)?;
                } else {
                    a = self.eval_point(left, *dot)?;
                    b = self.eval_beside(right, *dot, &a)?;
                }
                self.binary(*op, a, b, &e.span)
            }
            ExprKind::Choice(c, a, b) => {
                let c = self.truth(c)?;
                let (a, b) = (self.later(|s| s.eval(a))?, self.later(|s| s.eval(b))?);
                self.choice(c, a, b, &e.span)
            }
            ExprKind::Index(base, indices) => self.index(base, indices, &e.span),
            ExprKind::Field(base, name) => self.field(base, name, &e.span),
            ExprKind::Adjoint(a) => match self.eval(a)? {
                Value::Complex(re, im, ty) => Ok(Value::Complex(re, ScalarExpr::Neg(Box::new(im)), ty)),
                v @ Value::Num(..) => Ok(v),
                Value::Array(mut view) if view.dims.len() == 2 && !matches!(view.element, Type::Complex(_)) => {
                    view.dims.swap(0, 1);
                    Ok(Value::Array(view))
                }
                other => {
                    let message = format!("{} has no adjoint", other.describe());
                    self.fail(&e.span, codes::TYPE, message, "numbers and matrices of real numbers have one")
                }
            },
            ExprKind::Pipe(a, view) => self.pipe(a, view, &e.span),
            ExprKind::Range { first, step, last } => {
                let one = |s: &mut Self, e: &ast::Expr| {
                    let v = s.eval(e)?;
                    s.integer(v, &e.span)
                };
                let first = one(self, first)?;
                let step = match step {
                    Some(step) => one(self, step)?,
                    None => ScalarExpr::int(1),
                };
                let last = one(self, last)?;
                Ok(Value::Range(Box::new(first), Box::new(step), Box::new(last)))
            }
            ExprKind::Colon => {
                self.fail(&e.span, codes::TYPE, "`:` stands for an index only", "write it in brackets: `A[:, j]`")
            }
            ExprKind::Tuple(parts) => Ok(Value::Tuple(parts.iter().map(|p| self.eval(p)).collect::<Done<_>>()?)),
            ExprKind::Array(parts) => Ok(Value::Elements(parts.iter().map(|p| self.eval(p)).collect::<Done<_>>()?)),
            ExprKind::Const(a) | ExprKind::Skip(a) => self.eval(a),
            ExprKind::Typed(a, ty) => {
                let value = self.eval(a)?;
                self.has_type(value, ty, &a.span)
            }
            ExprKind::Fields(a) => {
                let value = self.eval(a)?;
                self.fields_of(value, &a.span)
            }
            ExprKind::Splat(_) => {
                let help = "`...` gives the parts of a tuple as arguments of a call";
                self.fail(&e.span, codes::SPLAT, "`...` has no meaning here", help)
            }
        }
    }

    /// `c ? a : b`
    pub(super) fn choice(&mut self, c: ScalarExpr, a: Value, b: Value, span: &Span) -> Done<Value> {
        match (a, b) {
            (Value::Bool(a), Value::Bool(b)) => Ok(Value::Bool(ScalarExpr::choice(c, a, b))),
            (a @ Value::Log(..), b) | (a, b @ Value::Log(..)) => self.log_choice(c, a, b, span),
            (a, b) => {
                let whole = |v: &Value| matches!(v, Value::Num(ScalarExpr::Lit(Literal::Int(_)), None));
                // Integer literals stay integers.
                let (a, b) = if whole(&a) && whole(&b) {
                    let mut int = |v| Ok(Value::Num(self.number_as(v, Ty::Int, span)?, Some(Ty::Int)));
                    (int(a)?, int(b)?)
                } else {
                    (a, b)
                };
                let (a, b, ty) = self.numbers(a, b, span)?;
                let (a, b, ty) = self.typed_pair(a, b, ty, span)?;
                Ok(Value::Num(ScalarExpr::choice(c, a, b), Some(ty)))
            }
        }
    }

    /// A value that may not be used: its computation is done only where it is used.
    fn later(&mut self, f: impl FnOnce(&mut Self) -> Done<Value>) -> Done<Value> {
        let (compute, value) = self.computed(f);
        let value = value?;
        if compute.is_empty() {
            return Ok(value);
        }
        Ok(match value {
            Value::Num(x, ty) => Value::Num(ScalarExpr::Within(compute, Box::new(x)), ty),
            Value::Bool(x) => Value::Bool(ScalarExpr::Within(compute, Box::new(x))),
            Value::Log(log, None) => Value::Log(ScalarExpr::Within(compute, Box::new(log)), None),
            // Values of several parts are computed in any case.
            other => {
                self.now.pre.extend(compute);
                other
            }
        })
    }

    /// The value of an operand of a broadcast operator: for an array, the current element.
    pub(super) fn eval_point(&mut self, e: &ast::Expr, dot: bool) -> Done<Value> {
        let value = self.eval(e)?;
        if let (Value::Tuple(parts), Some((n, of)), true) = (&value, self.part, dot) {
            let part = parts.get(n).filter(|_| parts.len() == of).cloned();
            return part.map_or_else(|| self.other_lengths([of, parts.len()], &e.span), Ok);
        }
        match (&value, dot.then(|| self.points.clone()).flatten()) {
            (Value::Array(view), Some(indices)) => self.at(&view.clone(), &indices, &e.span),
            _ => Ok(value),
        }
    }

    /// An operand of an operator whose other operand is known: its type decides the type of literals in a choice.
    fn eval_beside(&mut self, e: &ast::Expr, dot: bool, other: &Value) -> Done<Value> {
        let beside = super::assign::scalar_type(other).filter(|t| *t != Ty::Int);
        match (&e.kind, beside) {
            (ExprKind::Choice(..), Some(ty)) => {
                let expected_type = self.expected_type.replace(ty);
                let value = self.eval_point(e, dot);
                self.expected_type = expected_type;
                value
            }
            _ => self.eval_point(e, dot),
        }
    }

    pub(super) fn field(&mut self, base: &ast::Expr, name: &ast::Name, span: &Span) -> Done<Value> {
        let value = self.eval(base)?;
        match (value, name.text.as_str()) {
            (Value::Complex(re, _, ty), "re") => Ok(Value::Num(re, ty)),
            (Value::Complex(_, im, ty), "im") => Ok(Value::Num(im, ty)),
            (Value::Tropical(x, ty), "n") => Ok(Value::Num(x, Some(ty))),
            (Value::Log(log, _), "log") => Ok(Value::Num(log, Some(Ty::F))),
            (Value::Log(_, Some(sign)), "signbit") => Ok(Value::Bool(*sign)),
            (Value::Num(x, Some(Ty::L)), "log") => Ok(Value::Num(
                ScalarExpr::Apply(TableFn::Q(pendula_isa::table::q_fn::Name::LogL), vec![x]),
                Some(Ty::Q),
            )),
            (Value::Tuple(parts), number) if number.parse::<usize>().is_ok_and(|n| (1..=parts.len()).contains(&n)) => {
                let n: usize = number.parse().map_err(|_| Stop)?;
                parts.get(n - 1).cloned().ok_or(Stop)
            }
            (Value::Struct(s, fields), name_text) => match s.fields.iter().position(|(f, _)| f == name_text) {
                Some(n) => fields.get(n).cloned().ok_or(Stop),
                None => {
                    let have: Vec<&str> = s.fields.iter().map(|(f, _)| f.as_str()).collect();
                    let help = format!("its fields are {}", have.join(", "));
                    self.fail(&name.span, codes::UNKNOWN, format!("`{}` has no field `{name_text}`", s.name), help)
                }
            },
            (other, name_text) => {
                let message = format!("{} has no field `{name_text}`", other.describe());
                let help = match (&other, name_text) {
                    (Value::Array(_), "length" | "len" | "size" | "shape") => {
                        format!("`length({0})` counts its elements, `size({0}, 1)` its rows", self.source(&base.span))
                    }
                    _ => "complex numbers have `re` and `im`; structs have the fields that they declare".to_string(),
                };
                self.fail(span, codes::UNKNOWN, message, help)
            }
        }
    }

    fn unary(&mut self, op: Unary, a: &ast::Expr, span: &Span) -> Done<Value> {
        // `+(a, b, c)`, `-(a, b)`: the operator as a function.
        if let (Unary::Plus | Unary::Minus, ExprKind::Tuple(parts)) = (op, &a.kind)
            && !parts.is_empty()
        {
            let values = parts.iter().map(|p| self.eval(p)).collect::<Done<_>>()?;
            return self.apply(op.text(), values, span);
        }
        let value = self.eval(a)?;
        match op {
            Unary::Plus => Ok(value),
            Unary::Minus => self.negate(value, span),
            Unary::Not => match value {
                Value::Bool(x) => Ok(Value::Bool(not(x))),
                other => {
                    let message = format!("`!` wants a truth value, found {}", other.describe());
                    self.fail(span, codes::TYPE, message, "compare numbers: `x == 0`")
                }
            },
            Unary::Tilde => {
                // The inverse of a function, as an argument.
                if let Value::Function(name) = value {
                    return Ok(Value::Function(match name.strip_prefix('~') {
                        Some(name) => name.to_string(),
                        None => format!("~{name}"),
                    }));
                }
                let x = self.integer(value, span)?;
                Ok(Value::Num(ScalarExpr::Apply(sum(Ty::Int, true), vec![ScalarExpr::int(-1), x]), Some(Ty::Int)))
            }
            Unary::Root => self.apply("sqrt", vec![value], span),
        }
    }

    /// A Boolean expression.
    pub(super) fn truth(&mut self, e: &ast::Expr) -> Done<ScalarExpr> {
        let value = self.eval(e)?;
        self.condition_of(value, &e.span)
    }

    /// A value that must be a Boolean.
    pub(super) fn condition_of(&mut self, value: Value, span: &Span) -> Done<ScalarExpr> {
        match value {
            Value::Bool(x) => Ok(x),
            other => {
                let message = format!("a condition is expected, found {}", other.describe());
                self.fail(span, codes::TYPE, message, "compare: `x != 0`")
            }
        }
    }

    /// A value that must be an integer.
    pub(super) fn integer(&mut self, v: Value, span: &Span) -> Done<ScalarExpr> {
        self.number_as(v, Ty::Int, span)
    }

    /// A number converted to a type without loss: literals, integers and Booleans convert implicitly.
    pub(super) fn number_as(&mut self, v: Value, ty: Ty, span: &Span) -> Done<ScalarExpr> {
        match v {
            Value::Num(ScalarExpr::Lit(literal), None) => self.word(&literal, ty, span).map(ScalarExpr::Const),
            Value::Num(x, Some(from)) if from == ty => Ok(x),
            Value::Num(ScalarExpr::Neg(x), None) => Ok(neg(self.number_as(Value::Num(*x, None), ty, span)?)),
            Value::Bool(x) if ty == Ty::Int => Ok(x),
            Value::Num(x, Some(Ty::Int)) | Value::Bool(x) => self.convert(x, Ty::Int, ty, span),
            other => {
                let message = format!("{} is expected here, found {}", number_name(ty), other.describe());
                let help = match other {
                    Value::Array(_) | Value::Stacked(..) | Value::Elements(_) => {
                        "use its elements; or put points before operators: `y .+= x`".into()
                    }
                    Value::Complex(..) => "use its parts: `x.re`, `x.im`".into(),
                    Value::Tropical(..) => "use the number itself: `x.n`".into(),
                    Value::Struct(..) => "use its fields".into(),
                    Value::Tuple(_) => "use its parts: `x[1]`".into(),
                    Value::Num(..) | Value::Bool(_) | Value::Log(..) => format!("convert it: `{}(x)`", number_name(ty)),
                    Value::Function(_) | Value::Type(_) | Value::Range(..) => "give a number".to_string(),
                };
                self.fail(span, codes::TYPE, message, help)
            }
        }
    }

    /// Converts a number from one type to another with the table's conversion.
    pub(super) fn convert(&mut self, x: ScalarExpr, from: Ty, to: Ty, span: &Span) -> Done<ScalarExpr> {
        if from == to {
            return Ok(x);
        }
        match function(to, from, "cvt", 1) {
            Some(f) => Ok(match x {
                // A choice between constants: each constant converts.
                ScalarExpr::Choice(c, a, b) if matches!((&*a, &*b), (ScalarExpr::Const(_), ScalarExpr::Const(_))) => {
                    let one = |x: ScalarExpr| Box::new(self.fold(ScalarExpr::Apply(f, vec![x])));
                    ScalarExpr::Choice(c, one(*a), one(*b))
                }
                x => self.fold(ScalarExpr::Apply(f, vec![x])),
            }),
            None => self.fail(span, codes::TYPE, "there is no such conversion", "convert by way of Float64"),
        }
    }

    /// Two numbers and their common type; `None` if both are literals.
    pub(super) fn numbers(&mut self, a: Value, b: Value, span: &Span) -> Done<(ScalarExpr, ScalarExpr, Option<Ty>)> {
        let (a, ta) = self.number(a, span)?;
        let (b, tb) = self.number(b, span)?;
        let real = |x: &ScalarExpr| matches!(x, ScalarExpr::Lit(Literal::Real(_) | Literal::Float(_)));
        let expected_type = self.expected_type.filter(|t| *t != Ty::Int).unwrap_or(Ty::F);
        let ty = match (ta, tb) {
            (None, None) => return Ok((a, b, None)),
            (Some(Ty::Int), None) if real(&b) => expected_type,
            (None, Some(Ty::Int)) if real(&a) => expected_type,
            (Some(t), None) | (None, Some(t)) => t,
            (Some(s), Some(t)) if s == t => t,
            (Some(Ty::Int), Some(t)) | (Some(t), Some(Ty::Int)) => t,
            // The other operand of a logarithmic number is converted.
            (Some(s), Some(Ty::L)) if self.expected_type == Some(Ty::L) => {
                return Ok((self.logarithmic(a, s, span)?, b, Some(Ty::L)));
            }
            (Some(Ty::L), Some(t)) if self.expected_type == Some(Ty::L) => {
                return Ok((a, self.logarithmic(b, t, span)?, Some(Ty::L)));
            }
            (Some(s), Some(t)) => {
                let message = format!("{} and {} cannot go together", number_name(s), number_name(t));
                return self.fail(span, codes::TYPE, message, format!("convert one of them: `{}(x)`", number_name(s)));
            }
        };
        let a = self.number_as(Value::Num(a, ta), ty, span)?;
        let b = self.number_as(Value::Num(b, tb), ty, span)?;
        Ok((a, b, Some(ty)))
    }

    /// The same with a type: literals take the expected type.
    pub(super) fn typed_pair(
        &mut self,
        a: ScalarExpr,
        b: ScalarExpr,
        ty: Option<Ty>,
        span: &Span,
    ) -> Done<(ScalarExpr, ScalarExpr, Ty)> {
        match ty {
            Some(ty) => Ok((a, b, ty)),
            None => {
                let whole = |x: &ScalarExpr| matches!(x, ScalarExpr::Lit(Literal::Int(_)));
                let ty = match self.expected_type {
                    Some(ty) => ty,
                    None if whole(&a) && whole(&b) => Ty::Int,
                    None => Ty::F,
                };
                let ty = if ty == Ty::Int && !(whole(&a) && whole(&b)) { Ty::F } else { ty };
                Ok((self.number_as(Value::Num(a, None), ty, span)?, self.number_as(Value::Num(b, None), ty, span)?, ty))
            }
        }
    }

    pub(super) fn number(&mut self, v: Value, span: &Span) -> Done<(ScalarExpr, Option<Ty>)> {
        match v {
            Value::Num(x, ty) => Ok((x, ty)),
            Value::Bool(x) => Ok((x, Some(Ty::Int))),
            other => {
                let message = format!("a number is expected here, found {}", other.describe());
                self.fail(span, codes::TYPE, message, "use its elements or fields")
            }
        }
    }

    /// Introduces another name for a value.
    pub(super) fn alias(&mut self, name: &ast::Name, value: Value) {
        self.scopes.add(&name.text, value, Kind::Alias, &name.span);
    }
}

pub(super) fn neg(x: ScalarExpr) -> ScalarExpr {
    match x {
        ScalarExpr::Neg(a) => *a,
        other => ScalarExpr::Neg(Box::new(other)),
    }
}

pub(super) fn not(x: ScalarExpr) -> ScalarExpr {
    match x {
        ScalarExpr::Not(a) => *a,
        ScalarExpr::Cmp(c, ty, a, b) => ScalarExpr::Cmp(c.negated(), ty, a, b),
        other => ScalarExpr::Not(Box::new(other)),
    }
}
