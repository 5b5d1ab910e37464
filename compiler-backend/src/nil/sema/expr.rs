//! Expressions: from syntax to values.

use pendula_isa::table::Func;
use pendula_isa::{Cond, Ty};

use super::body::Body;
use super::emit::{function, product, sum};
use super::scope::Kind;
use super::value::{Literal, V, X};
use super::{Done, Stop};
use crate::nil::ast::{self, Binary, ExprKind, Span, Unary};
use crate::nil::codes;
use crate::nil::types::{Type, number, number_name};

/// Names of numbers.
fn named_number(name: &str) -> Option<Literal> {
    Some(match name {
        "π" | "pi" => Literal::Float(std::f64::consts::PI),
        "ℯ" => Literal::Float(std::f64::consts::E),
        "Inf" => Literal::Float(f64::INFINITY),
        "NaN" => Literal::Float(f64::NAN),
        _ => return None,
    })
}

impl Body<'_, '_> {
    /// What an expression means.
    pub(super) fn eval(&mut self, e: &ast::Expr) -> Done<V> {
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
                    Some(n) => Ok(V::Num(X::Lit(Literal::Int(n)), None)),
                    None => self.fail(
                        &e.span,
                        codes::LITERAL,
                        "this number does not fit 64 bits",
                        "write it with a fraction, as `1e30`",
                    ),
                }
            }
            ExprKind::Real(text) => Ok(V::Num(X::Lit(Literal::Real(text.replace('_', ""))), None)),
            ExprKind::Bool(b) => Ok(V::Bool(X::Const(u64::from(*b)))),
            ExprKind::Text(_) => self.fail(
                &e.span,
                codes::TYPE,
                "a text has no value here",
                "texts are for `@safe @assert`, `error` and `println`",
            ),
            ExprKind::Name(name) => self.name(name, &e.span),
            ExprKind::Call { callee, dot, args, keywords } => self.call_value(e, callee, *dot, args, keywords),
            ExprKind::Type(t) => self.type_expr(t).map(V::Type),
            ExprKind::Unary(op, a) => self.unary(*op, a, &e.span),
            ExprKind::Binary { op: op @ (Binary::Both | Binary::Either), dot, left, right } => {
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
                V::Complex(re, im, ty) => Ok(V::Complex(re, X::Neg(Box::new(im)), ty)),
                v @ V::Num(..) => Ok(v),
                V::Array(mut view) if view.dims.len() == 2 && !matches!(view.element, Type::Complex(_)) => {
                    view.dims.swap(0, 1);
                    Ok(V::Array(view))
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
                    None => X::int(1),
                };
                let last = one(self, last)?;
                Ok(V::Range(Box::new(first), Box::new(step), Box::new(last)))
            }
            ExprKind::Colon => {
                self.fail(&e.span, codes::TYPE, "`:` stands for an index only", "write it in brackets: `A[:, j]`")
            }
            ExprKind::Tuple(parts) => Ok(V::Tuple(parts.iter().map(|p| self.eval(p)).collect::<Done<_>>()?)),
            ExprKind::Array(parts) => Ok(V::Elements(parts.iter().map(|p| self.eval(p)).collect::<Done<_>>()?)),
            ExprKind::Const(a) | ExprKind::Skip(a) => self.eval(a),
        }
    }

    /// `c ? a : b`
    pub(super) fn choice(&mut self, c: X, a: V, b: V, span: &Span) -> Done<V> {
        match (a, b) {
            (V::Bool(a), V::Bool(b)) => Ok(V::Bool(X::Choice(Box::new(c), Box::new(a), Box::new(b)))),
            (a, b) => {
                let whole = |v: &V| matches!(v, V::Num(X::Lit(Literal::Int(_)), None));
                // Whole numbers are integers wherever they stand.
                let (a, b) = if whole(&a) && whole(&b) {
                    let mut int = |v| Ok(V::Num(self.number_as(v, Ty::Int, span)?, Some(Ty::Int)));
                    (int(a)?, int(b)?)
                } else {
                    (a, b)
                };
                let (a, b, ty) = self.numbers(a, b, span)?;
                let (a, b, ty) = self.typed_pair(a, b, ty, span)?;
                Ok(V::Num(X::Choice(Box::new(c), Box::new(a), Box::new(b)), Some(ty)))
            }
        }
    }

    /// A value that may not be asked for: what it needs is computed where it is.
    fn later(&mut self, f: impl FnOnce(&mut Self) -> Done<V>) -> Done<V> {
        let (compute, value) = self.computed(f);
        let value = value?;
        if compute.is_empty() {
            return Ok(value);
        }
        Ok(match value {
            V::Num(x, ty) => V::Num(X::Within(compute, Box::new(x)), ty),
            V::Bool(x) => V::Bool(X::Within(compute, Box::new(x))),
            // What has several parts is computed in any case.
            other => {
                self.pre.extend(compute);
                other
            }
        })
    }

    /// What an expression means under an operator with a point: of an array, the element that is at hand.
    pub(super) fn eval_point(&mut self, e: &ast::Expr, dot: bool) -> Done<V> {
        let value = self.eval(e)?;
        match (&value, dot.then(|| self.points.clone()).flatten()) {
            (V::Array(view), Some(indices)) => self.at(&view.clone(), &indices, &e.span),
            _ => Ok(value),
        }
    }

    /// An operand of an operator whose other one is known: by its type go the numbers among which a choice is made.
    fn eval_beside(&mut self, e: &ast::Expr, dot: bool, other: &V) -> Done<V> {
        let beside = super::assign::scalar_type(other).filter(|t| *t != Ty::Int);
        match (&e.kind, beside) {
            (ExprKind::Choice(..), Some(ty)) => {
                let want = self.want.replace(ty);
                let value = self.eval_point(e, dot);
                self.want = want;
                value
            }
            _ => self.eval_point(e, dot),
        }
    }

    fn name(&mut self, name: &str, span: &Span) -> Done<V> {
        if let Some(n) = self.scopes.find(name)
            && let Some(b) = self.scopes.get(n)
        {
            let (value, ended) = (b.value.clone(), b.ended.clone());
            if let Some(at) = ended {
                let file = self.file;
                let d = self.error(span, codes::ENDED, format!("`{name}` was deallocated before"));
                d.secondary.push(pendula_isa::diagnostic::Label {
                    place: pendula_isa::diagnostic::Place { file, span: at },
                    text: "here".into(),
                });
                d.help = Some("use it before, or deallocate it later".into());
                return Err(Stop);
            }
            return Ok(value);
        }
        if let Some(literal) = named_number(name) {
            return Ok(V::Num(X::Lit(literal), None));
        }
        if name == "im" {
            return Ok(V::Complex(X::Lit(Literal::Int(0)), X::Lit(Literal::Int(1)), None));
        }
        if let Some(t) = self.types.get(name) {
            return Ok(V::Type(t.clone()));
        }
        if let Some(&(file, value)) = self.s.constants.get(name) {
            let own = std::mem::replace(&mut self.file, file);
            let value = self.eval(value);
            self.file = own;
            return value;
        }
        if let Some(ty) = number(name) {
            return Ok(V::Type(Type::Num(ty)));
        }
        if name == "Bool" {
            return Ok(V::Type(Type::Bool));
        }
        if self.s.by_name.contains_key(name) {
            return Ok(V::Function(name.to_string()));
        }
        if self.s.structs.contains_key(name) {
            let e = ast::TypeExpr {
                name: ast::Name { text: name.to_string(), span: span.clone() },
                args: Vec::new(),
                span: span.clone(),
            };
            return self.type_expr(&e).map(V::Type);
        }
        if Func::ALL.iter().any(|f| f.info().name == name) {
            return Ok(V::Function(name.to_string()));
        }
        // Its allocation was in error, which has been said.
        if self.failed.contains(name) {
            return Err(Stop);
        }
        let help = match self.similar(name) {
            Some(other) => format!("did you mean `{other}`?"),
            None => "allocate it first: `x ← 0`; or give it as an argument".to_string(),
        };
        self.fail(span, codes::UNKNOWN, format!("there is no `{name}` here"), help)
    }

    /// A name in scope that differs little.
    fn similar(&self, name: &str) -> Option<String> {
        let strip = |t: &str| t.trim_end_matches('!').to_lowercase();
        (0..self.scopes.len())
            .filter_map(|n| self.scopes.get(n))
            .find(|b| b.ended.is_none() && strip(&b.name) == strip(name))
            .map(|b| b.name.clone())
    }

    pub(super) fn type_expr(&mut self, t: &ast::TypeExpr) -> Done<Type> {
        let resolved = super::names(&self.s.structs, &self.types).resolve(t);
        resolved.map_err(|problem| {
            let file = self.file;
            self.s.type_problem(file, t, problem)
        })
    }

    pub(super) fn field(&mut self, base: &ast::Expr, name: &ast::Name, span: &Span) -> Done<V> {
        let value = self.eval(base)?;
        match (value, name.text.as_str()) {
            (V::Complex(re, _, ty), "re") => Ok(V::Num(re, ty)),
            (V::Complex(_, im, ty), "im") => Ok(V::Num(im, ty)),
            (V::Tropical(x, ty), "n") => Ok(V::Num(x, Some(ty))),
            (V::Num(x, Some(Ty::L)), "log") => {
                Ok(V::Num(X::Fun(Func::Q(pendula_isa::table::q_fn::Fn::LogL), vec![x]), Some(Ty::Q)))
            }
            (V::Struct(s, fields), name_text) => match s.fields.iter().position(|(f, _)| f == name_text) {
                Some(n) => fields.get(n).cloned().ok_or(Stop),
                None => {
                    let have: Vec<&str> = s.fields.iter().map(|(f, _)| f.as_str()).collect();
                    let help = format!("its fields are {}", have.join(", "));
                    self.fail(&name.span, codes::UNKNOWN, format!("`{}` has no field `{name_text}`", s.name), help)
                }
            },
            (other, name_text) => {
                let message = format!("{} has no field `{name_text}`", other.describe());
                self.fail(
                    span,
                    codes::UNKNOWN,
                    message,
                    "complex numbers have `re` and `im`; structs have the fields that they declare",
                )
            }
        }
    }

    fn unary(&mut self, op: Unary, a: &ast::Expr, span: &Span) -> Done<V> {
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
                V::Bool(x) => Ok(V::Bool(not(x))),
                other => {
                    let message = format!("`!` wants a truth value, found {}", other.describe());
                    self.fail(span, codes::TYPE, message, "compare numbers: `x == 0`")
                }
            },
            Unary::Tilde => {
                // The inverse of a function, as an argument.
                if let V::Function(name) = value {
                    return Ok(V::Function(match name.strip_prefix('~') {
                        Some(name) => name.to_string(),
                        None => format!("~{name}"),
                    }));
                }
                let x = self.integer(value, span)?;
                Ok(V::Num(X::Fun(sum(Ty::Int, true), vec![X::int(-1), x]), Some(Ty::Int)))
            }
            Unary::Root => self.apply("sqrt", vec![value], span),
        }
    }

    pub(super) fn negate(&mut self, value: V, span: &Span) -> Done<V> {
        Ok(match value {
            V::Num(X::Lit(literal), None) => V::Num(X::Lit(negative(literal)), None),
            V::Num(x, ty) => V::Num(neg(x), ty),
            V::Bool(x) => V::Num(neg(x), Some(Ty::Int)),
            V::Complex(a, b, ty) => V::Complex(negated_part(a), negated_part(b), ty),
            V::Struct(s, parts) => {
                let parts = parts.into_iter().map(|p| self.negate(p, span)).collect::<Done<_>>()?;
                V::Struct(s, parts)
            }
            other => {
                let message = format!("{} has no negative", other.describe());
                return self.fail(span, codes::TYPE, message, "numbers have one, and structs of numbers");
            }
        })
    }

    /// A truth value.
    pub(super) fn truth(&mut self, e: &ast::Expr) -> Done<X> {
        let value = self.eval(e)?;
        self.condition_of(value, &e.span)
    }

    /// A value that is a truth value.
    pub(super) fn condition_of(&mut self, value: V, span: &Span) -> Done<X> {
        match value {
            V::Bool(x) => Ok(x),
            other => {
                let message = format!("a condition is wanted, found {}", other.describe());
                self.fail(span, codes::TYPE, message, "compare: `x != 0`")
            }
        }
    }

    /// An integer.
    pub(super) fn integer(&mut self, v: V, span: &Span) -> Done<X> {
        self.number_as(v, Ty::Int, span)
    }

    /// A number as one of a type, without loss: literals, integers and truth values convert by themselves.
    pub(super) fn number_as(&mut self, v: V, ty: Ty, span: &Span) -> Done<X> {
        match v {
            V::Num(X::Lit(literal), None) => self.word(&literal, ty, span).map(X::Const),
            V::Num(x, Some(from)) if from == ty => Ok(x),
            V::Num(X::Neg(x), None) => Ok(neg(self.number_as(V::Num(*x, None), ty, span)?)),
            V::Bool(x) if ty == Ty::Int => Ok(x),
            V::Num(x, Some(Ty::Int)) | V::Bool(x) => self.convert(x, Ty::Int, ty, span),
            other => {
                let message = format!("{} is wanted here, found {}", number_name(ty), other.describe());
                let help = match other {
                    V::Array(_) | V::Elements(_) => {
                        "use its elements; or put points before operators: `y .+= x`".into()
                    }
                    V::Complex(..) => "use its parts: `x.re`, `x.im`".into(),
                    V::Tropical(..) => "use the number itself: `x.n`".into(),
                    V::Struct(..) => "use its fields".into(),
                    V::Tuple(_) => "use its parts: `x[1]`".into(),
                    V::Num(..) | V::Bool(_) => format!("convert it: `{}(x)`", number_name(ty)),
                    V::Function(_) | V::Type(_) | V::Range(..) => "give a number".to_string(),
                };
                self.fail(span, codes::TYPE, message, help)
            }
        }
    }

    /// A number of one type as one of another, by the table's conversion.
    pub(super) fn convert(&mut self, x: X, from: Ty, to: Ty, span: &Span) -> Done<X> {
        if from == to {
            return Ok(x);
        }
        match function(to, from, "cvt", 1) {
            Some(f) => Ok(match x {
                // Of constants one is chosen: they convert by themselves.
                X::Choice(c, a, b) if matches!((&*a, &*b), (X::Const(_), X::Const(_))) => {
                    let one = |x: X| Box::new(self.fold(X::Fun(f, vec![x])));
                    X::Choice(c, one(*a), one(*b))
                }
                x => self.fold(X::Fun(f, vec![x])),
            }),
            None => self.fail(span, codes::TYPE, "there is no such conversion", "convert by way of Float64"),
        }
    }

    /// Two numbers and the type in which they meet; `None` where both are literals.
    pub(super) fn numbers(&mut self, a: V, b: V, span: &Span) -> Done<(X, X, Option<Ty>)> {
        let (a, ta) = self.number(a, span)?;
        let (b, tb) = self.number(b, span)?;
        let real = |x: &X| matches!(x, X::Lit(Literal::Real(_) | Literal::Float(_)));
        let want = self.want.filter(|t| *t != Ty::Int).unwrap_or(Ty::F);
        let ty = match (ta, tb) {
            (None, None) => return Ok((a, b, None)),
            (Some(Ty::Int), None) if real(&b) => want,
            (None, Some(Ty::Int)) if real(&a) => want,
            (Some(t), None) | (None, Some(t)) => t,
            (Some(s), Some(t)) if s == t => t,
            (Some(Ty::Int), Some(t)) | (Some(t), Some(Ty::Int)) => t,
            // What a logarithmic number is multiplied by becomes one.
            (Some(s), Some(Ty::L)) if self.want == Some(Ty::L) => {
                return Ok((self.logarithmic(a, s, span)?, b, Some(Ty::L)));
            }
            (Some(Ty::L), Some(t)) if self.want == Some(Ty::L) => {
                return Ok((a, self.logarithmic(b, t, span)?, Some(Ty::L)));
            }
            (Some(s), Some(t)) => {
                let message = format!("{} and {} cannot go together", number_name(s), number_name(t));
                return self.fail(span, codes::TYPE, message, format!("convert one of them: `{}(x)`", number_name(s)));
            }
        };
        let a = self.number_as(V::Num(a, ta), ty, span)?;
        let b = self.number_as(V::Num(b, tb), ty, span)?;
        Ok((a, b, Some(ty)))
    }

    /// The same with a type: literals take the one that is wanted.
    pub(super) fn typed_pair(&mut self, a: X, b: X, ty: Option<Ty>, span: &Span) -> Done<(X, X, Ty)> {
        match ty {
            Some(ty) => Ok((a, b, ty)),
            None => {
                let whole = |x: &X| matches!(x, X::Lit(Literal::Int(_)));
                let ty = match self.want {
                    Some(ty) => ty,
                    None if whole(&a) && whole(&b) => Ty::Int,
                    None => Ty::F,
                };
                let ty = if ty == Ty::Int && !(whole(&a) && whole(&b)) { Ty::F } else { ty };
                Ok((self.number_as(V::Num(a, None), ty, span)?, self.number_as(V::Num(b, None), ty, span)?, ty))
            }
        }
    }

    fn number(&mut self, v: V, span: &Span) -> Done<(X, Option<Ty>)> {
        match v {
            V::Num(x, ty) => Ok((x, ty)),
            V::Bool(x) => Ok((x, Some(Ty::Int))),
            other => {
                let message = format!("a number is wanted here, found {}", other.describe());
                self.fail(span, codes::TYPE, message, "use its elements or fields")
            }
        }
    }

    /// `a op b`.
    pub(super) fn binary(&mut self, op: Binary, a: V, b: V, span: &Span) -> Done<V> {
        match op {
            Binary::Both | Binary::Either => {
                let (V::Bool(a), V::Bool(b)) = (&a, &b) else {
                    let message = format!("conditions are wanted here, found {} and {}", a.describe(), b.describe());
                    return self.fail(span, codes::TYPE, message, "compare: `x != 0`");
                };
                let (a, b) = (Box::new(a.clone()), Box::new(b.clone()));
                Ok(V::Bool(if op == Binary::Both { X::Both(a, b) } else { X::Either(a, b) }))
            }
            Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge => self.compare(op, a, b, span),
            _ => self.arithmetic(op, a, b, span),
        }
    }

    fn compare(&mut self, op: Binary, a: V, b: V, span: &Span) -> Done<V> {
        let cond = match op {
            Binary::Eq => Cond::Eq,
            Binary::Ne => Cond::Ne,
            Binary::Lt => Cond::Lt,
            Binary::Le => Cond::Le,
            Binary::Gt => Cond::Gt,
            _ => Cond::Ge,
        };
        match (a, b) {
            (V::Tuple(a), V::Tuple(b)) if a.len() == b.len() && matches!(cond, Cond::Eq | Cond::Ne) => {
                let mut all: Option<X> = None;
                for (a, b) in a.into_iter().zip(b) {
                    let V::Bool(one) = self.compare(Binary::Eq, a, b, span)? else { return Err(Stop) };
                    all = Some(match all {
                        None => one,
                        Some(all) => X::Both(Box::new(all), Box::new(one)),
                    });
                }
                let all = all.unwrap_or(X::Const(1));
                Ok(V::Bool(if cond == Cond::Eq { all } else { not(all) }))
            }
            (V::Complex(a, b, s), V::Complex(c, d, t)) if matches!(cond, Cond::Eq | Cond::Ne) => {
                let V::Bool(re) = self.compare(Binary::Eq, V::Num(a, s), V::Num(c, t), span)? else { return Err(Stop) };
                let V::Bool(im) = self.compare(Binary::Eq, V::Num(b, s), V::Num(d, t), span)? else { return Err(Stop) };
                let both = X::Both(Box::new(re), Box::new(im));
                Ok(V::Bool(if cond == Cond::Eq { both } else { not(both) }))
            }
            (V::Tropical(a, s), V::Tropical(b, t)) if s == t => Ok(V::Bool(X::Cmp(cond, s, Box::new(a), Box::new(b)))),
            (a, b) => {
                let want = self.want.take();
                let (a, b, ty) = self.numbers(a, b, span)?;
                let typed = self.typed_pair(a, b, ty, span);
                self.want = want;
                let (a, b, ty) = typed?;
                Ok(V::Bool(X::Cmp(cond, ty, Box::new(a), Box::new(b))))
            }
        }
    }

    pub(super) fn arithmetic(&mut self, op: Binary, a: V, b: V, span: &Span) -> Done<V> {
        match (a, b) {
            (V::Bool(a), V::Bool(b)) if matches!(op, Binary::And | Binary::Or | Binary::Xor) => Ok(V::Bool(match op {
                Binary::And => X::Both(Box::new(a), Box::new(b)),
                Binary::Or => X::Either(Box::new(a), Box::new(b)),
                _ => X::Cmp(Cond::Ne, Ty::Int, Box::new(a), Box::new(b)),
            })),
            (V::Tropical(a, s), V::Tropical(b, t)) if s == t => self.tropical(op, a, b, s, span),
            (a @ V::Complex(..), b) | (a, b @ V::Complex(..)) => self.complex(op, a, b, span),
            (V::Struct(s, a), V::Struct(t, b)) if s == t && matches!(op, Binary::Add | Binary::Sub) => {
                let parts = a.into_iter().zip(b).map(|(a, b)| self.arithmetic(op, a, b, span)).collect::<Done<_>>()?;
                Ok(V::Struct(s, parts))
            }
            (V::Struct(s, parts), k @ V::Num(..)) if matches!(op, Binary::Mul | Binary::Div) => {
                let k = self.shared(k)?;
                let parts = parts.into_iter().map(|p| self.arithmetic(op, p, k.clone(), span)).collect::<Done<_>>()?;
                Ok(V::Struct(s, parts))
            }
            (k @ V::Num(..), V::Struct(s, parts)) if op == Binary::Mul => {
                let k = self.shared(k)?;
                let parts = parts.into_iter().map(|p| self.arithmetic(op, k.clone(), p, span)).collect::<Done<_>>()?;
                Ok(V::Struct(s, parts))
            }
            (a, b) => {
                if let (V::Array(_), _) | (_, V::Array(_)) = (&a, &b) {
                    let message = format!("arithmetic on {} and {}", a.describe(), b.describe());
                    return self.fail(
                        span,
                        codes::TYPE,
                        message,
                        "put points before the operators, `y .+= a .* b`, or write a loop",
                    );
                }
                let (a, b, ty) =
                    if op == Binary::Pow { self.power_operands(a, b, span)? } else { self.numbers(a, b, span)? };
                match ty {
                    None => self.literals(op, a, b, span),
                    Some(ty) => self.scalar(op, a, b, ty, span).map(|(x, ty)| V::Num(x, Some(ty))),
                }
            }
        }
    }

    /// A number that is used several times: put in an ancilla, if it has to be computed.
    pub(super) fn shared(&mut self, v: V) -> Done<V> {
        Ok(match v {
            V::Num(x, Some(ty)) if x.leaf().is_none() && !matches!(x, X::Lit(_)) => {
                V::Num(self.put(ty, x)?.into(), Some(ty))
            }
            V::Complex(a, b, ty) => {
                let V::Num(a, _) = self.shared(V::Num(a, ty))? else { return Err(Stop) };
                let V::Num(b, _) = self.shared(V::Num(b, ty))? else { return Err(Stop) };
                V::Complex(a, b, ty)
            }
            other => other,
        })
    }

    fn literals(&mut self, op: Binary, a: X, b: X, span: &Span) -> Done<V> {
        let (X::Lit(a), X::Lit(b)) = (a, b) else { return Err(Stop) };
        if let (Literal::Int(a), Literal::Int(b)) = (&a, &b) {
            let (a, b) = (*a, *b);
            let n = match op {
                Binary::Add => a.checked_add(b),
                Binary::Sub => a.checked_sub(b),
                Binary::Mul => a.checked_mul(b),
                Binary::Pow => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
                Binary::Quot => a.checked_div(b),
                Binary::Rem => a.checked_rem(b),
                Binary::Div if b != 0 && a % b == 0 => Some(a / b),
                Binary::And => Some(a & b),
                Binary::Or => Some(a | b),
                Binary::Xor => Some(a ^ b),
                Binary::Shl => u32::try_from(b).ok().filter(|b| *b < 64).map(|b| a << b),
                Binary::Sar | Binary::Shr if a >= 0 => u32::try_from(b).ok().filter(|b| *b < 64).map(|b| a >> b),
                _ => None,
            };
            if let Some(n) = n {
                return Ok(V::Num(X::Lit(Literal::Int(n)), None));
            }
        }
        let number = |l: &Literal| match l {
            Literal::Int(n) => *n as f64,
            Literal::Real(t) => t.parse().unwrap_or(f64::NAN),
            Literal::Float(x) => *x,
        };
        let (x, y) = (number(&a), number(&b));
        let z = match op {
            Binary::Add => x + y,
            Binary::Sub => x - y,
            Binary::Mul => x * y,
            Binary::Div => x / y,
            Binary::Pow => x.powf(y),
            _ => {
                let (a, b, ty) = self.typed_pair(X::Lit(a), X::Lit(b), None, span)?;
                return self.scalar(op, a, b, ty, span).map(|(x, ty)| V::Num(x, Some(ty)));
            }
        };
        Ok(V::Num(X::Lit(Literal::Float(z)), None))
    }

    /// Base and exponent: an integer exponent stays one.
    fn power_operands(&mut self, a: V, b: V, span: &Span) -> Done<(X, X, Option<Ty>)> {
        let (a, ta) = self.number(a, span)?;
        let (b, tb) = self.number(b, span)?;
        match (ta, tb) {
            (None, None) => Ok((a, b, None)),
            (Some(t), None) => Ok((a, b, Some(t))),
            (Some(t), Some(Ty::Int)) => Ok((a, b, Some(t))),
            (None, Some(Ty::Int)) => {
                let whole = matches!(a, X::Lit(Literal::Int(_)));
                let ty = if whole { Ty::Int } else { self.want.filter(|t| *t != Ty::Int).unwrap_or(Ty::F) };
                Ok((self.number_as(V::Num(a, None), ty, span)?, b, Some(ty)))
            }
            _ => self.numbers(V::Num(a, ta), V::Num(b, tb), span),
        }
    }

    /// `a op b` of one type, and the type of the result.
    fn scalar(&mut self, op: Binary, a: X, b: X, ty: Ty, span: &Span) -> Done<(X, Ty)> {
        let integer = |name: &'static str| function(Ty::Int, Ty::Int, name, 2);
        let func = match (op, ty) {
            (Binary::Add, _) => Some(sum(ty, false)),
            (Binary::Sub, _) => Some(sum(ty, true)),
            (Binary::Mul, _) => Some(product(ty)),
            (Binary::Div, Ty::Int) if self.want == Some(Ty::Int) => {
                let (a, b) = (self.put(ty, a)?, self.put(ty, b)?);
                if self.checks {
                    let rem = integer("rem").ok_or(Stop)?;
                    let r = self.put(ty, X::Fun(rem, vec![a.into(), b.into()]))?;
                    let test = crate::ir::Test { cond: Cond::Eq, ty, a: r, b: crate::ir::Operand::Const(0) };
                    let says =
                        self.said(format!("the division of integers `{}` leaves a remainder", self.source(span)));
                    self.asserts.push(crate::ir::Stmt::Assert { test, why: crate::ir::Why::User, says });
                }
                let quot = integer("quot").ok_or(Stop)?;
                return Ok((X::Fun(quot, vec![a.into(), b.into()]), ty));
            }
            (Binary::Div, Ty::Int) => {
                let to = self.want.unwrap_or(Ty::F);
                let (a, b) = (self.convert(a, ty, to, span)?, self.convert(b, ty, to, span)?);
                return self.scalar(op, a, b, to, span);
            }
            (Binary::Div, _) => function(ty, ty, "div", 2),
            (Binary::Quot, Ty::Int) => integer("quot"),
            (Binary::Rem, Ty::Int) => integer("rem"),
            (Binary::And, Ty::Int) => integer("and"),
            (Binary::Or, Ty::Int) => integer("or"),
            (Binary::Xor, Ty::Int) => {
                // a ⊻ b = (a | b) − (a & b)
                let (or, and) = (integer("or").ok_or(Stop)?, integer("and").ok_or(Stop)?);
                let (a, b): (X, X) = (self.put(ty, a)?.into(), self.put(ty, b)?.into());
                let parts = vec![X::Fun(or, vec![a.clone(), b.clone()]), X::Fun(and, vec![a, b])];
                return Ok((X::Fun(sum(ty, true), parts), ty));
            }
            (Binary::Shl | Binary::Sar | Binary::Shr, Ty::Int) => return Ok((self.shift(op, a, b)?, ty)),
            (Binary::Pow, _) => return self.power(a, b, ty, span),
            _ => None,
        };
        match func {
            Some(f) => Ok((self.fold(X::Fun(f, vec![a, b])), ty)),
            None => {
                let message = format!("this operator is not for {}", number_name(ty));
                self.fail(span, codes::TYPE, message, "it is for integers; or use `floor`, `rem` of integers")
            }
        }
    }

    /// A shift by any amount: by 64 or more, nothing is left but signs; by a negative one, it goes the other way. The instructions take amounts
    /// modulo 64.
    fn shift(&mut self, op: Binary, a: X, b: X) -> Done<X> {
        let other = if op == Binary::Shl { Binary::Sar } else { Binary::Shl };
        let name = |op: Binary| match op {
            Binary::Shl => "shl",
            Binary::Sar => "sar",
            _ => "shr",
        };
        let by = |s: &Self, op: Binary, a: &X, n: X| -> Done<X> {
            let f = function(Ty::Int, Ty::Int, name(op), 2).ok_or(Stop)?;
            Ok(s.fold(X::Fun(f, vec![a.clone(), n])))
        };
        let far = |s: &Self, op: Binary, a: &X| match op {
            Binary::Sar => by(s, op, a, X::int(63)),
            _ => Ok(X::int(0)),
        };
        if let X::Const(n) = b {
            let n = n.cast_signed();
            let (op, n) = if n < 0 { (other, n.unsigned_abs()) } else { (op, n.unsigned_abs()) };
            return if n < 64 { by(self, op, &a, X::Const(n)) } else { far(self, op, &a) };
        }
        let (a, b): (X, X) = (self.put(Ty::Int, a)?.into(), self.put(Ty::Int, b)?.into());
        let back = X::Fun(sum(Ty::Int, true), vec![X::int(0), b.clone()]);
        let within = |n: &X| Box::new(X::Cmp(Cond::Ltu, Ty::Int, Box::new(n.clone()), Box::new(X::int(64))));
        let choice = |c: Box<X>, x: X, y: X| X::Choice(c, Box::new(x), Box::new(y));
        let (there, beyond) = (by(self, op, &a, b.clone())?, far(self, op, &a)?);
        let reverse = choice(within(&back), by(self, other, &a, back.clone())?, far(self, other, &a)?);
        let negative = Box::new(X::Cmp(Cond::Lt, Ty::Int, Box::new(b.clone()), Box::new(X::int(0))));
        Ok(choice(within(&b), there, choice(negative, reverse, beyond)))
    }

    fn power(&mut self, a: X, b: X, ty: Ty, span: &Span) -> Done<(X, Ty)> {
        let whole = match &b {
            X::Lit(Literal::Int(n)) => Some(*n),
            X::Const(w) if ty == Ty::Int => Some(i128::from(w.cast_signed())),
            _ => None,
        };
        let mul = |a: X, b: X| X::Fun(product(ty), vec![a, b]);
        match (ty, whole, &b) {
            (Ty::Int | Ty::Q | Ty::F, Some(1), _) => Ok((a, ty)),
            (Ty::Int | Ty::Q | Ty::F, Some(n @ 2..=3), _) => {
                let a: X = self.put(ty, a)?.into();
                let square = mul(a.clone(), a.clone());
                Ok((if n == 2 { square } else { mul(square, a) }, ty))
            }
            (Ty::Int, Some(n @ 4..=64), _) => {
                let a: X = self.put(ty, a)?.into();
                let power = (1..n).fold(a.clone(), |p, _| mul(p, a.clone()));
                Ok((power, ty))
            }
            (Ty::Int, _, _) => {
                let help = "convert the base: `Float64(x) ^ n`; or multiply in a loop";
                self.fail(span, codes::TYPE, "integers have powers with constant exponents from 1 to 64 only", help)
            }
            (Ty::Q | Ty::F, _, X::Lit(Literal::Real(t))) if t.parse() == Ok(0.5) => {
                self.named("sqrt", ty, vec![a], span)
            }
            (Ty::Q | Ty::F, Some(n), _) => {
                let n = i64::try_from(n).map(X::int).map_err(|_| Stop)?;
                self.named("powi", ty, vec![a, n], span)
            }
            (Ty::Q | Ty::F, None, X::Lit(l)) => {
                let b = X::Const(self.word(&l.clone(), ty, span)?);
                self.named("pow", ty, vec![a, b], span)
            }
            (Ty::Q | Ty::F, None, _) => {
                let name = if self.is_integer(&b) { "powi" } else { "pow" };
                self.named(name, ty, vec![a, b], span)
            }
            (Ty::L, _, X::Lit(l)) => {
                let b = X::Const(self.word(&l.clone(), Ty::Q, span)?);
                self.named("pow", ty, vec![a, b], span)
            }
            (Ty::L, _, _) => {
                let b = if self.is_integer(&b) {
                    self.convert(b, Ty::Int, Ty::Q, span)?
                } else {
                    self.convert(b, Ty::L, Ty::Q, span)?
                };
                self.named("pow", ty, vec![a, b], span)
            }
        }
    }

    /// Whether a scalar is an integer, by what it is made of.
    fn is_integer(&self, x: &X) -> bool {
        match x {
            X::Lit(Literal::Int(_)) | X::Cmp(..) | X::Both(..) | X::Either(..) | X::Not(_) => true,
            X::Lit(_) | X::Const(_) => false,
            X::Within(_, a) | X::Seen(_, a) => self.is_integer(a),
            X::At(crate::ir::Place::Var(v)) => self.f.ty(*v) == Ty::Int,
            X::At(crate::ir::Place::Mem(m)) => self.f.regions.get(m.region.0 as usize).is_some_and(|r| r.ty == Ty::Int),
            X::Neg(a) | X::Choice(_, a, _) => self.is_integer(a),
            X::Fun(f, _) => f.info().ty == Ty::Int,
        }
    }

    /// A function of the table by name, on numbers of its type.
    pub(super) fn named(&mut self, name: &str, ty: Ty, args: Vec<X>, span: &Span) -> Done<(X, Ty)> {
        match function(ty, ty, name, args.len()) {
            Some(f) => Ok((self.fold(X::Fun(f, args)), ty)),
            None => {
                let message = format!("`{name}` is not for {}", number_name(ty));
                self.fail(span, codes::TYPE, message, "convert its argument, as `Float64(x)`")
            }
        }
    }

    fn tropical(&mut self, op: Binary, a: X, b: X, ty: Ty, span: &Span) -> Done<V> {
        let x = match op {
            Binary::Mul => X::Fun(sum(ty, false), vec![a, b]),
            Binary::Div => X::Fun(sum(ty, true), vec![a, b]),
            Binary::Add => self.named("max", ty, vec![a, b], span)?.0,
            _ => {
                return self.fail(
                    span,
                    codes::TYPE,
                    "tropical numbers have +, * and / only",
                    "use these, or the number itself: `x.n`",
                );
            }
        };
        Ok(V::Tropical(x, ty))
    }

    fn complex(&mut self, op: Binary, a: V, b: V, span: &Span) -> Done<V> {
        if op == Binary::Pow {
            if let V::Num(X::Lit(Literal::Int(2)), None) = b {
                let a = self.shared(a)?;
                return self.complex(Binary::Mul, a.clone(), a, span);
            }
            return self.fail(
                span,
                codes::TYPE,
                "complex numbers are raised to the power 2 only",
                "multiply, or use `exp` and `log`",
            );
        }
        let (a, b) = if matches!(op, Binary::Mul | Binary::Div) { (self.shared(a)?, self.shared(b)?) } else { (a, b) };
        let (Some((ar, ai)), Some((br, bi))) = (parts(a), parts(b)) else {
            return self.fail(
                span,
                codes::TYPE,
                "complex numbers go together with numbers only",
                "use its parts, `x.re` and `x.im`",
            );
        };
        let mut f = |op, a: &V, b: &V| self.arithmetic(op, a.clone(), b.clone(), span);
        let (re, im) = match (op, &ai, &bi) {
            (Binary::Add | Binary::Sub, Some(ai), Some(bi)) => (f(op, &ar, &br)?, f(op, ai, bi)?),
            (Binary::Add | Binary::Sub, Some(ai), None) => (f(op, &ar, &br)?, ai.clone()),
            (Binary::Add, None, Some(bi)) => (f(op, &ar, &br)?, bi.clone()),
            (Binary::Sub, None, Some(bi)) => {
                let re = f(op, &ar, &br)?;
                (re, self.negate(bi.clone(), span)?)
            }
            (Binary::Mul, Some(ai), Some(bi)) => {
                let (rr, ii, ri, ir) = (f(op, &ar, &br)?, f(op, ai, bi)?, f(op, &ar, bi)?, f(op, ai, &br)?);
                (f(Binary::Sub, &rr, &ii)?, f(Binary::Add, &ri, &ir)?)
            }
            (Binary::Mul | Binary::Div, Some(ai), None) => (f(op, &ar, &br)?, f(op, ai, &br)?),
            (Binary::Mul, None, Some(bi)) => (f(op, &ar, &br)?, f(op, &ar, bi)?),
            (Binary::Div, ai, Some(bi)) => {
                // a·b̄ / |b|²
                let (rr, ii) = (f(Binary::Mul, &br, &br)?, f(Binary::Mul, bi, bi)?);
                let square = f(Binary::Add, &rr, &ii)?;
                let square = self.shared(square)?;
                let mut f = |op, a: &V, b: &V| self.arithmetic(op, a.clone(), b.clone(), span);
                let (mut re, ri) = (f(Binary::Mul, &ar, &br)?, f(Binary::Mul, &ar, bi)?);
                let im = match ai {
                    Some(ai) => {
                        let (ii, ir) = (f(Binary::Mul, ai, bi)?, f(Binary::Mul, ai, &br)?);
                        re = f(Binary::Add, &re, &ii)?;
                        f(Binary::Sub, &ir, &ri)?
                    }
                    None => self.negate(ri, span)?,
                };
                let mut f = |a: &V| self.arithmetic(Binary::Div, a.clone(), square.clone(), span);
                (f(&re)?, f(&im)?)
            }
            _ => {
                return self.fail(
                    span,
                    codes::TYPE,
                    "this operator is not for complex numbers",
                    "use its parts, `x.re` and `x.im`",
                );
            }
        };
        match (re, im) {
            (V::Num(re, s), V::Num(im, t)) => {
                let ty = s.or(t);
                let re = self.typed_part(re, s, ty, span)?;
                let im = self.typed_part(im, t, ty, span)?;
                Ok(V::Complex(re, im, ty))
            }
            _ => Err(Stop),
        }
    }

    fn typed_part(&mut self, x: X, own: Option<Ty>, ty: Option<Ty>, span: &Span) -> Done<X> {
        match ty {
            Some(ty) => self.number_as(V::Num(x, own), ty, span),
            None => Ok(x),
        }
    }

    /// Gives a name to something.
    pub(super) fn alias(&mut self, name: &ast::Name, value: V) {
        self.scopes.add(&name.text, value, Kind::Alias, &name.span);
    }
}

/// The parts of a number as numbers; a real one has no imaginary part.
fn parts(v: V) -> Option<(V, Option<V>)> {
    match v {
        V::Complex(re, im, ty) => Some((V::Num(re, ty), Some(V::Num(im, ty)))),
        v @ V::Num(..) => Some((v, None)),
        _ => None,
    }
}

pub(super) fn neg(x: X) -> X {
    match x {
        X::Neg(a) => *a,
        other => X::Neg(Box::new(other)),
    }
}

fn negated_part(x: X) -> X {
    match x {
        X::Lit(l) => X::Lit(negative(l)),
        other => neg(other),
    }
}

fn negative(l: Literal) -> Literal {
    match l {
        Literal::Int(n) => Literal::Int(n.wrapping_neg()),
        Literal::Real(t) => Literal::Real(match t.strip_prefix('-') {
            Some(t) => t.to_string(),
            None => format!("-{t}"),
        }),
        Literal::Float(x) => Literal::Float(-x),
    }
}

pub(super) fn not(x: X) -> X {
    match x {
        X::Not(a) => *a,
        X::Cmp(c, ty, a, b) => X::Cmp(c.negated(), ty, a, b),
        other => X::Not(Box::new(other)),
    }
}
