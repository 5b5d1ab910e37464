//! Logarithmic numbers in doubles: `ULogarithmic{Float64}` and `Logarithmic{Float64}`. One word is the natural
//! logarithm of the magnitude. The signed type has a second word, which is 1 if the number is negative. 0 cannot be
//! represented.

use pendula_isa::table::{TableFn, f_fn};
use pendula_isa::{Cond, Ty};

use super::body::Body;
use super::emit::{product, sum};
use super::expr::{neg, not};
use super::value::{Literal, ScalarExpr, Value};
use super::{Done, Stop};
use crate::nil::ast::{self, AssignOp, Binary, Span};
use crate::nil::codes;
use crate::nil::types::{Type, log_number, number_name};

/// A logarithm, and whether the number is negative, if it can be.
type Parts = (ScalarExpr, Option<Box<ScalarExpr>>);

/// For differences of logarithms between this number and 0, the difference of the numbers is computed by a hyperbolic
/// sine.
const NEAR: f64 = -1.0;

impl Body<'_, '_> {
    /// If the target is such a number: whether it has a sign.
    pub(super) fn expected_log_sign(&self) -> Option<bool> {
        self.expected_log.filter(|_| self.expected_type == Some(Ty::F))
    }

    /// The type that a conversion by a type name without arguments gives for these values: it depends on the type of
    /// the number.
    pub(super) fn log_named(&self, name: &str, args: &[Value]) -> Option<Type> {
        if let Some(t) = log_number(name) {
            return Some(t);
        }
        let signed = match name {
            "ULogarithmic" => false,
            "Logarithmic" => true,
            _ => return None,
        };
        let in_doubles = match args {
            [Value::Num(_, Some(Ty::F)) | Value::Log(..)] => self.expected_type != Some(Ty::L) && !self.words,
            _ => self.expected_log_sign().is_some(),
        };
        in_doubles.then_some(Type::Log { signed })
    }

    /// `x *= y` and `x /= y`.
    pub(super) fn assign_log(
        &mut self,
        op: AssignOp,
        log: ScalarExpr,
        sign: Option<Box<ScalarExpr>>,
        from: Value,
        (value, span): (&Span, &Span),
    ) -> Done<()> {
        let to = match op {
            AssignOp::Mul => AssignOp::Add,
            AssignOp::Div => AssignOp::Sub,
            AssignOp::Add | AssignOp::Sub | AssignOp::Xor => {
                let ty = Type::Log { signed: sign.is_some() };
                let message = format!("`{}` forgets on {ty}", op.text());
                let help = match op {
                    AssignOp::Xor => "`⊻=` is for Int and Bool",
                    _ => "logarithmic numbers take `*=` and `/=`; sums of them go into an expression: `y *= a + b`",
                };
                return self.fail(span, codes::FORGETS, message, help);
            }
        };
        let from = match from {
            Value::Num(x, Some(ty @ Ty::Q)) => self.log_of(Value::Num(x, Some(ty)), sign.is_some(), value)?,
            other => self.log_beside(other, sign.is_some(), value)?,
        };
        let Value::Log(y, s) = from else { return Err(Stop) };
        if let (Some(to), Some(s)) = (sign, s) {
            self.assign_number(AssignOp::Xor, *to, Ty::Int, *s, span)?;
        }
        self.assign_number(to, log, Ty::F, y, span)
    }

    /// An explicit conversion of a number of any type to a logarithmic number.
    pub(super) fn log_of(&mut self, v: Value, signed: bool, span: &Span) -> Done<Value> {
        let x = match v {
            Value::Num(x, Some(ty @ (Ty::Q | Ty::L))) => self.convert(x, ty, Ty::F, span)?,
            Value::Tropical(x, ty) => self.convert(x, ty, Ty::F, span)?,
            other => return self.log_beside(other, signed, span),
        };
        let (log, sign) = self.log_of_double(x, signed)?;
        Ok(Value::Log(log, sign))
    }

    /// The implicit conversion of an operand to a logarithmic number: of a double, an integer, a literal, or an
    /// unsigned logarithmic number.
    pub(super) fn log_beside(&mut self, v: Value, signed: bool, span: &Span) -> Done<Value> {
        let (log, sign) = match v {
            Value::Log(log, sign) if sign.is_some() == signed => (log, sign),
            Value::Log(log, None) => (log, Some(Box::new(ScalarExpr::Const(0)))),
            Value::Log(_, Some(_)) => {
                let message = "a number that may be negative is used where a nonnegative one is expected";
                return self.fail(span, codes::TYPE, message, "take `abs(x)`, or a `Logarithmic{Float64}`");
            }
            Value::Num(ScalarExpr::Lit(literal), None) => self.log_of_literal(&literal, signed, span)?,
            Value::Num(x, Some(Ty::F)) => self.log_of_double(x, signed)?,
            Value::Num(x, Some(Ty::Int)) | Value::Bool(x) => {
                let x = self.convert(x, Ty::Int, Ty::F, span)?;
                self.log_of_double(x, signed)?
            }
            other => {
                self.mixed |= is_words(&other);
                let ty = Type::Log { signed };
                let message = format!("{ty} and {} cannot go together", other.describe());
                return self.fail(span, codes::TYPE, message, format!("convert one of them: `{ty}(x)`"));
            }
        };
        Ok(Value::Log(log, sign))
    }

    fn log_of_literal(&mut self, literal: &Literal, signed: bool, span: &Span) -> Done<Parts> {
        let word = self.word(literal, Ty::F, span)?;
        let x = f64::from_bits(word);
        let log = self.fold(log_of(ScalarExpr::Const(x.abs().to_bits())));
        if !matches!(log, ScalarExpr::Const(_)) || (x < 0.0 && !signed) {
            let ty = Type::Log { signed };
            let help = if signed {
                "it has no zero"
            } else {
                "it has positive numbers only; `Logarithmic{Float64}` has a sign"
            };
            return self.fail(span, codes::LITERAL, format!("{x} is no {ty} number"), help);
        }
        Ok((log, signed.then(|| Box::new(ScalarExpr::Const(u64::from(x < 0.0))))))
    }

    /// The conversion of a double. The factors of a product or quotient are converted separately, as far as their signs
    /// are known or kept, so that nothing overflows in between.
    fn log_of_double(&mut self, x: ScalarExpr, signed: bool) -> Done<Parts> {
        let positive = || signed.then(|| Box::new(ScalarExpr::Const(0)));
        match x {
            ScalarExpr::Apply(f, mut args) if f == TableFn::F(f_fn::Name::Exp) && args.len() == 1 => {
                Ok((args.pop().ok_or(Stop)?, positive()))
            }
            ScalarExpr::Neg(a) if signed => {
                let (log, sign) = self.log_of_double(*a, true)?;
                Ok((log, sign.map(|s| Box::new(not(*s)))))
            }
            ScalarExpr::Apply(f, args)
                if matches!(f.info().name, "mul" | "div")
                    && f.info().ty == Ty::F
                    && (signed || args.iter().any(is_positive)) =>
            {
                let minus = f.info().name == "div";
                let mut parts = args.into_iter().map(|a| self.log_of_double(a, signed)).collect::<Done<Vec<_>>>()?;
                let (b, a) = (parts.pop().ok_or(Stop)?, parts.pop().ok_or(Stop)?);
                Ok(self.log_product(a, b, minus))
            }
            x if signed => {
                let x: ScalarExpr = self.put(Ty::F, x)?.into();
                let negative = ScalarExpr::cmp(Cond::Lt, Ty::F, x.clone(), ScalarExpr::Const(0));
                let size = self.fold(ScalarExpr::Apply(TableFn::F(f_fn::Name::Abs), vec![x]));
                Ok((self.fold(log_of(size)), Some(Box::new(negative))))
            }
            x => Ok((self.fold(log_of(x)), None)),
        }
    }

    /// The product or the quotient.
    fn log_product(&self, (a, s): Parts, (b, t): Parts, minus: bool) -> Parts {
        let sign = match (s, t) {
            (Some(s), Some(t)) => Some(Box::new(exclusive(*s, *t))),
            (s, t) => s.or(t),
        };
        (self.fold(ScalarExpr::Apply(sum(Ty::F, minus), vec![a, b])), sign)
    }

    /// The conversion to a number of another type.
    pub(super) fn log_to(
        &mut self,
        log: ScalarExpr,
        sign: Option<Box<ScalarExpr>>,
        to: Ty,
        span: &Span,
    ) -> Done<ScalarExpr> {
        if to == Ty::Int {
            let message =
                format!("{} is expected here, found {}", number_name(to), Type::Log { signed: sign.is_some() });
            return self.fail(span, codes::TYPE, message, "say how it is rounded: `round(Int, Float64(x))`");
        }
        let size = self.fold(ScalarExpr::Apply(TableFn::F(f_fn::Name::Exp), vec![log]));
        let x = match sign {
            None => size,
            Some(sign) => {
                let (minus, one) = ((-1.0_f64).to_bits(), 1.0_f64.to_bits());
                let factor = match *sign {
                    ScalarExpr::Const(s) => ScalarExpr::Const(if s == 0 { one } else { minus }),
                    sign => ScalarExpr::choice(sign, ScalarExpr::Const(minus), ScalarExpr::Const(one)),
                };
                let factor: ScalarExpr = self.put(Ty::F, factor)?.into();
                self.fold(ScalarExpr::Apply(product(Ty::F), vec![factor, size]))
            }
        };
        self.convert(x, Ty::F, to, span)
    }

    /// Evaluates an expression in which `ULogarithmic(x)` converts doubles. If such a number is combined with a number
    /// of type `.l`, all these conversions in the expression have type `.l`.
    pub(super) fn eval_converting(&mut self, e: &ast::Expr) -> Done<Value> {
        let text = self.s.inputs.get(self.file as usize).and_then(|i| i.text.get(e.span.clone()));
        if self.words || !text.is_some_and(|t| t.contains("Logarithmic(")) {
            return self.eval_plain(e);
        }
        let reported = self.s.diagnostics.len();
        let (pre, asserts) = (self.now.pre.len(), self.now.asserts.clone());
        let (reads, regions, addresses) =
            (self.now.reads.len(), self.now.regions_read.len(), self.now.addresses.clone());
        let outer = std::mem::replace(&mut self.mixed, false);
        let mut value = self.eval_plain(e);
        if value.is_err() && self.mixed {
            // The first evaluation is discarded.
            self.s.diagnostics.truncate(reported);
            self.now.pre.truncate(pre);
            self.now.reads.truncate(reads);
            self.now.regions_read.truncate(regions);
            (self.now.asserts, self.now.addresses, self.words) = (asserts, addresses, true);
            value = self.eval_plain(e);
            self.words = false;
        }
        self.mixed = outer;
        value
    }

    /// `a op b`, if one operand is such a number.
    pub(super) fn log_arithmetic(&mut self, op: Binary, a: Value, b: Value, span: &Span) -> Done<Value> {
        if op == Binary::Pow {
            return self.log_power(a, b, span);
        }
        let signed = [&a, &b].into_iter().any(|v| matches!(v, Value::Log(_, Some(_))));
        let mut parts = |v: Value| match self.log_beside(v, signed, span)? {
            Value::Log(log, sign) => Ok((log, sign)),
            _ => Err(Stop),
        };
        let (a, b) = (parts(a)?, parts(b)?);
        let (log, sign) = match op {
            Binary::Mul => self.log_product(a, b, false),
            Binary::Div => self.log_product(a, b, true),
            Binary::Add => self.log_sum(a, b)?,
            Binary::Sub => match b {
                (b, None) => {
                    let (a, b) = (self.put(Ty::F, a.0)?.into(), self.put(Ty::F, b)?.into());
                    (log_less(a, b), None)
                }
                (b, Some(sign)) => self.log_sum(a, (b, Some(Box::new(not(*sign)))))?,
            },
            _ => {
                let message = format!("this operator is not for {}", Type::Log { signed });
                return self.fail(span, codes::TYPE, message, "convert it: `Float64(x)`");
            }
        };
        Ok(Value::Log(log, sign))
    }

    fn log_power(&mut self, a: Value, b: Value, span: &Span) -> Done<Value> {
        let (Value::Log(log, sign), Value::Num(..) | Value::Bool(_)) = (a, &b) else {
            let help = "an exponent is converted: `x ^ Float64(y)`";
            return self.fail(span, codes::TYPE, "a logarithmic number is not an exponent", help);
        };
        let odd = match (&b, sign) {
            (_, None) => None,
            (Value::Num(ScalarExpr::Lit(Literal::Int(n)), _), Some(sign)) => {
                Some(if n.rem_euclid(2) == 1 { sign } else { Box::new(ScalarExpr::Const(0)) })
            }
            (Value::Num(n, Some(Ty::Int)), Some(sign)) => {
                let n: ScalarExpr = self.put(Ty::Int, n.clone())?.into();
                let odd =
                    ScalarExpr::Apply(TableFn::Int(pendula_isa::table::int_fn::Name::And), vec![n, ScalarExpr::int(1)]);
                let odd = ScalarExpr::cmp(Cond::Ne, Ty::Int, odd, ScalarExpr::Const(0));
                Some(Box::new(ScalarExpr::And(sign, Box::new(odd))))
            }
            (_, Some(_)) => {
                let message = "a number that may be negative has powers with integers only";
                return self.fail(span, codes::TYPE, message, "take `abs(x)`");
            }
        };
        let b = self.number_as(b, Ty::F, span)?;
        Ok(Value::Log(self.fold(ScalarExpr::Apply(product(Ty::F), vec![log, b])), odd))
    }

    /// The sum. With different signs, the sum has the sign of the operand with the greater magnitude; a sum of 0 cannot
    /// be represented, and traps.
    fn log_sum(&mut self, (a, s): Parts, (b, t): Parts) -> Done<Parts> {
        let (a, b): (ScalarExpr, ScalarExpr) = (self.put(Ty::F, a)?.into(), self.put(Ty::F, b)?.into());
        let greater = |cond| Box::new(ScalarExpr::cmp(cond, Ty::F, a.clone(), b.clone()));
        // In each case the exponential is at most 1, and so is each partial derivative.
        let more = |a: &ScalarExpr, b: &ScalarExpr| {
            let ratio = ScalarExpr::Apply(TableFn::F(f_fn::Name::Exp), vec![difference(b, a)]);
            let both = ScalarExpr::Apply(sum(Ty::F, false), vec![ScalarExpr::float(1.0), ratio]);
            Box::new(ScalarExpr::Apply(sum(Ty::F, false), vec![a.clone(), log_of(both)]))
        };
        let added = ScalarExpr::Choice(greater(Cond::Ge), more(&a, &b), more(&b, &a));
        let (Some(s), Some(t)) = (s, t) else { return Ok((added, None)) };
        let s: ScalarExpr = self.put(Ty::Int, *s)?.into();
        let t: ScalarExpr = self.put(Ty::Int, *t)?.into();
        let (less, other) = (log_less(a.clone(), b.clone()), log_less(b.clone(), a.clone()));
        let taken = ScalarExpr::Choice(greater(Cond::Ge), Box::new(less), Box::new(other));
        let same = ScalarExpr::cmp(Cond::Eq, Ty::Int, s.clone(), t.clone());
        let log = ScalarExpr::choice(same, added, taken);
        let sign = ScalarExpr::Choice(greater(Cond::Ge), Box::new(s), Box::new(t));
        Ok((log, Some(Box::new(sign))))
    }

    /// `a cond b`, if one operand is such a number.
    pub(super) fn log_compare(&mut self, cond: Cond, a: Value, b: Value, span: &Span) -> Done<Value> {
        let (log, sign, other, cond) = match (a, b) {
            (Value::Log(a, s), b) => (a, s, b, cond),
            (b, Value::Log(a, s)) => (a, s, b, cond.exchanged().ok_or(Stop)?),
            _ => return Err(Stop),
        };
        let left: Parts = (self.put(Ty::F, log)?.into(), sign);
        let (x, zero) = match other {
            Value::Log(b, t) => return self.log_order(cond, left, (b, t)).map(Value::Bool),
            Value::Num(ScalarExpr::Lit(literal), None) => {
                let word = self.word(&literal, Ty::F, span)?;
                let x = f64::from_bits(word);
                if x == 0.0 {
                    return Ok(Value::Bool(beside_zero(cond, left.1)));
                }
                if x < 0.0 && left.1.is_none() {
                    return Ok(Value::Bool(beside_zero(cond, None)));
                }
                let other = self.log_of_literal(&literal, x < 0.0, span)?;
                return self.log_order(cond, left, other).map(Value::Bool);
            }
            Value::Num(x, Some(ty @ (Ty::F | Ty::Int))) => {
                let x = self.convert(x, ty, Ty::F, span)?;
                let x: ScalarExpr = self.put(Ty::F, x)?.into();
                let zero = |cond| ScalarExpr::cmp(cond, Ty::F, x.clone(), ScalarExpr::Const(0));
                let none = if left.1.is_some() { zero(Cond::Eq) } else { zero(Cond::Le) };
                (x, none)
            }
            other => {
                self.mixed |= is_words(&other);
                let ty = Type::Log { signed: left.1.is_some() };
                let message = format!("{ty} and {} cannot be compared", other.describe());
                return self.fail(span, codes::TYPE, message, format!("convert one of them: `{ty}(x)`"));
            }
        };
        // A double that has no logarithm is compared directly.
        let without = beside_zero(cond, left.1.clone());
        let negative = ScalarExpr::cmp(Cond::Lt, Ty::F, x.clone(), ScalarExpr::Const(0));
        let size = if left.1.is_some() { ScalarExpr::Apply(TableFn::F(f_fn::Name::Abs), vec![x]) } else { x };
        let sign = left.1.is_some().then(|| Box::new(negative));
        let with = self.log_order(cond, left, (log_of(size), sign))?;
        Ok(Value::Bool(ScalarExpr::choice(zero, without, with)))
    }

    fn log_order(&mut self, cond: Cond, (a, s): Parts, (b, t): Parts) -> Done<ScalarExpr> {
        let exchanged = cond.exchanged().ok_or(Stop)?;
        let logs = |cond| Box::new(ScalarExpr::cmp(cond, Ty::F, a.clone(), b.clone()));
        if s.is_none() && t.is_none() {
            return Ok(*logs(cond));
        }
        let sign = |s: Option<Box<ScalarExpr>>| s.map_or(ScalarExpr::Const(0), |s| *s);
        let s: ScalarExpr = self.put(Ty::Int, sign(s))?.into();
        let t: ScalarExpr = self.put(Ty::Int, sign(t))?.into();
        let signs = |cond| Box::new(ScalarExpr::cmp(cond, Ty::Int, s.clone(), t.clone()));
        let negative = Box::new(ScalarExpr::cmp(Cond::Ne, Ty::Int, s.clone(), ScalarExpr::Const(0)));
        let same = ScalarExpr::Choice(negative, logs(exchanged), logs(cond));
        // With different signs, the negative number is the smaller one.
        Ok(ScalarExpr::Choice(signs(Cond::Eq), Box::new(same), signs(exchanged)))
    }

    /// `c ? a : b`.
    pub(super) fn log_choice(&mut self, c: ScalarExpr, a: Value, b: Value, span: &Span) -> Done<Value> {
        let signed = [&a, &b].into_iter().any(|v| matches!(v, Value::Log(_, Some(_))));
        let (a, b) = (self.log_beside(a, signed, span)?, self.log_beside(b, signed, span)?);
        let (Value::Log(a, s), Value::Log(b, t)) = (a, b) else { return Err(Stop) };
        let one = |a: ScalarExpr, b: ScalarExpr| ScalarExpr::choice(c.clone(), a, b);
        let sign = s.zip(t).map(|(s, t)| Box::new(one(*s, *t)));
        Ok(Value::Log(one(a, b), sign))
    }

    /// A function of such numbers by name.
    pub(super) fn log_function(&mut self, name: &str, args: Vec<Value>, span: &Span) -> Done<Value> {
        let number = |x: ScalarExpr| Value::Num(x, Some(Ty::F));
        match (name, args.as_slice()) {
            // The function is computed from the logarithm.
            ("exp", [Value::Type(Type::Log { signed }), _]) => {
                let (signed, v) = (*signed, args.into_iter().nth(1).ok_or(Stop)?);
                let log = self.number_as(v, Ty::F, span)?;
                Ok(Value::Log(log, signed.then(|| Box::new(ScalarExpr::Const(0)))))
            }
            ("iszero", [Value::Log(log, _)]) => {
                let none = ScalarExpr::float(f64::NEG_INFINITY);
                Ok(Value::Bool(ScalarExpr::cmp(pendula_isa::Cond::Eq, Ty::F, log.clone(), none)))
            }
            ("log", [Value::Log(log, None)]) => Ok(number(log.clone())),
            ("sqrt", [Value::Log(log, None)]) => {
                let half = ScalarExpr::float(0.5);
                Ok(Value::Log(self.fold(ScalarExpr::Apply(product(Ty::F), vec![log.clone(), half])), None))
            }
            ("inv", [Value::Log(log, sign)]) => Ok(Value::Log(neg(log.clone()), sign.clone())),
            ("abs", [Value::Log(log, _)]) => Ok(Value::Log(log.clone(), None)),
            ("float" | "real" | "conj", [v @ Value::Log(..)]) => Ok(v.clone()),
            ("min" | "max", [Value::Log(_, None), Value::Log(_, None)]) => {
                let logs: Vec<ScalarExpr> =
                    args.into_iter().filter_map(|v| if let Value::Log(x, _) = v { Some(x) } else { None }).collect();
                Ok(Value::Log(self.named(name, Ty::F, logs, span)?.0, None))
            }
            _ => {
                self.mixed |= args.iter().any(is_words);
                let what = args
                    .iter()
                    .find(|v| matches!(v, Value::Log(..) | Value::Type(_)))
                    .map_or("it".into(), Value::describe);
                let message = format!("`{name}` is not for {what}");
                let help = "convert the number, `Float64(x)`, or take its logarithm, `x.log`";
                self.fail(span, codes::TYPE, message, help)
            }
        }
    }
}

fn is_words(v: &Value) -> bool {
    matches!(v, Value::Num(_, Some(Ty::L)))
}

/// Whether a double is known to be greater than 0.
fn is_positive(x: &ScalarExpr) -> bool {
    match x {
        ScalarExpr::Const(w) => f64::from_bits(*w) > 0.0,
        ScalarExpr::Apply(f, args) if f.info().ty == Ty::F && f.info().from == Ty::F => match f.info().name {
            "exp" => true,
            "mul" | "div" => args.iter().all(is_positive),
            _ => false,
        },
        _ => false,
    }
}

/// The result of comparing a number with 0, by its sign.
fn beside_zero(cond: Cond, sign: Option<Box<ScalarExpr>>) -> ScalarExpr {
    match (cond, sign) {
        (Cond::Eq, _) => ScalarExpr::Const(0),
        (Cond::Ne, _) => ScalarExpr::Const(1),
        (Cond::Lt | Cond::Le, None) => ScalarExpr::Const(0),
        (_, None) => ScalarExpr::Const(1),
        (Cond::Lt | Cond::Le, Some(sign)) => *sign,
        (_, Some(sign)) => not(*sign),
    }
}

/// Whether exactly one of them holds.
fn exclusive(a: ScalarExpr, b: ScalarExpr) -> ScalarExpr {
    match (a, b) {
        (ScalarExpr::Const(0), x) | (x, ScalarExpr::Const(0)) => x,
        (ScalarExpr::Const(_), x) | (x, ScalarExpr::Const(_)) => not(x),
        (a, b) => ScalarExpr::cmp(Cond::Ne, Ty::Int, a, b),
    }
}

fn log_of(x: ScalarExpr) -> ScalarExpr {
    ScalarExpr::Apply(TableFn::F(f_fn::Name::Log), vec![x])
}

fn difference(a: &ScalarExpr, b: &ScalarExpr) -> ScalarExpr {
    ScalarExpr::Apply(sum(Ty::F, true), vec![a.clone(), b.clone()])
}

/// The difference of a number and a smaller one; it traps if it is not positive. With d = b − a, it is a + log(1 − exp
/// d). There 1 − exp d is 2 exp(d/2) sinh(−d/2), which avoids cancellation if d is small.
fn log_less(a: ScalarExpr, b: ScalarExpr) -> ScalarExpr {
    let d = |a: &ScalarExpr, b: &ScalarExpr| difference(b, a);
    let (half, two) = (ScalarExpr::float(0.5), ScalarExpr::float(2.0));
    let halved = |x: ScalarExpr| ScalarExpr::Apply(product(Ty::F), vec![x, half.clone()]);
    let sinh = ScalarExpr::Apply(TableFn::F(f_fn::Name::Sinh), vec![halved(difference(&a, &b))]);
    let near = ScalarExpr::Apply(
        sum(Ty::F, false),
        vec![halved(d(&a, &b)), log_of(ScalarExpr::Apply(product(Ty::F), vec![two, sinh]))],
    );
    let ratio = ScalarExpr::Apply(TableFn::F(f_fn::Name::Exp), vec![d(&a, &b)]);
    let distant = log_of(ScalarExpr::Apply(sum(Ty::F, true), vec![ScalarExpr::float(1.0), ratio]));
    let test = ScalarExpr::cmp(Cond::Gt, Ty::F, d(&a, &b), ScalarExpr::float(NEAR));
    let otherwise = ScalarExpr::choice(test, near, distant);
    ScalarExpr::Apply(sum(Ty::F, false), vec![a, otherwise])
}
