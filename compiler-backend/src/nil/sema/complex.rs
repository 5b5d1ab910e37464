//! Complex numbers: their operators and functions.

use pendula_isa::Ty;

use super::body::Body;
use super::emit::{product, sum};
use super::value::{Literal, ScalarExpr, Value};
use super::{Done, Stop};
use crate::nil::ast::{Binary, Span};
use crate::nil::codes;

/// The greatest exponent of a complex number.
const MOST_POWER: u128 = 64;

impl Body<'_, '_> {
    pub(super) fn complex_function(
        &mut self,
        name: &str,
        re: ScalarExpr,
        im: ScalarExpr,
        ty: Option<Ty>,
        count: usize,
        span: &Span,
    ) -> Done<Value> {
        let ty = ty.unwrap_or(Ty::F);
        let re = self.typed(re, ty, span)?;
        let im = self.typed(im, ty, span)?;
        let num = |x: ScalarExpr| Value::Num(x, Some(ty));
        if count != 1 {
            return self.fail(
                span,
                codes::ARGUMENTS,
                format!("`{name}` of complex numbers takes one"),
                "give one argument",
            );
        }
        let f = |s: &mut Self, name: &str, args: Vec<ScalarExpr>| s.named(name, ty, args, span).map(|(x, _)| x);
        Ok(match name {
            "real" => num(re),
            "imag" => num(im),
            "conj" => Value::Complex(re, ScalarExpr::Neg(Box::new(im)), Some(ty)),
            "abs" => num(f(self, "hypot", vec![re, im])?),
            "angle" => num(f(self, "atan2", vec![im, re])?),
            "abs2" => {
                let (re, im): (ScalarExpr, ScalarExpr) = (self.put(ty, re)?.into(), self.put(ty, im)?.into());
                let square = |x: ScalarExpr| ScalarExpr::Apply(product(ty), vec![x.clone(), x]);
                num(ScalarExpr::Apply(sum(ty, false), vec![square(re), square(im)]))
            }
            "exp" => {
                let (re, im): (ScalarExpr, ScalarExpr) = (self.put(ty, re)?.into(), self.put(ty, im)?.into());
                let r = f(self, "exp", vec![re])?;
                let r: ScalarExpr = self.put(ty, r)?.into();
                let (c, s) = (f(self, "cos", vec![im.clone()])?, f(self, "sin", vec![im])?);
                Value::Complex(
                    ScalarExpr::Apply(product(ty), vec![r.clone(), c]),
                    ScalarExpr::Apply(product(ty), vec![r, s]),
                    Some(ty),
                )
            }
            "sin" | "cos" | "sinh" | "cosh" => {
                let (re, im): (ScalarExpr, ScalarExpr) = (self.put(ty, re)?.into(), self.put(ty, im)?.into());
                // sin(x + iy) = sin x cosh y + i cos x sinh y; sinh(x + iy) = sinh x cos y + i cosh x sin y
                let [a, b, c, d] = match name {
                    "sin" => ["sin", "cosh", "cos", "sinh"],
                    "cos" => ["cos", "cosh", "sin", "sinh"],
                    "sinh" => ["sinh", "cos", "cosh", "sin"],
                    _ => ["cosh", "cos", "sinh", "sin"],
                };
                let mut part = |of: &str, by: &str| -> Done<ScalarExpr> {
                    let (x, y) = (f(self, of, vec![re.clone()])?, f(self, by, vec![im.clone()])?);
                    Ok(ScalarExpr::Apply(product(ty), vec![x, y]))
                };
                let (real, imaginary) = (part(a, b)?, part(c, d)?);
                let imaginary = if name == "cos" { ScalarExpr::Neg(Box::new(imaginary)) } else { imaginary };
                Value::Complex(real, imaginary, Some(ty))
            }
            "log" => {
                let (re, im): (ScalarExpr, ScalarExpr) = (self.put(ty, re)?.into(), self.put(ty, im)?.into());
                let r = f(self, "hypot", vec![re.clone(), im.clone()])?;
                Value::Complex(f(self, "log", vec![r])?, f(self, "atan2", vec![im, re])?, Some(ty))
            }
            "inv" => {
                let one = Value::Num(ScalarExpr::Lit(Literal::Int(1)), None);
                return self.arithmetic(Binary::Div, one, Value::Complex(re, im, Some(ty)), span);
            }
            _ => {
                let help = "of complex numbers there are abs, abs2, angle, real, imag, conj, exp, log, sin, cos, sinh, cosh and inv";
                return self.fail(span, codes::FUNCTION, format!("`{name}` is not for complex numbers"), help);
            }
        })
    }
}

impl Body<'_, '_> {
    pub(super) fn complex(&mut self, op: Binary, a: Value, b: Value, span: &Span) -> Done<Value> {
        if op == Binary::Pow {
            if let Value::Num(ScalarExpr::Lit(Literal::Int(n)), None) = b
                && n.unsigned_abs() <= MOST_POWER
            {
                return self.complex_power(a, n, span);
            }
            return self.complex_root(a, b, span);
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
        let mut f = |op, a: &Value, b: &Value| self.arithmetic(op, a.clone(), b.clone(), span);
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
                let mut f = |op, a: &Value, b: &Value| self.arithmetic(op, a.clone(), b.clone(), span);
                let (mut re, ri) = (f(Binary::Mul, &ar, &br)?, f(Binary::Mul, &ar, bi)?);
                let im = match ai {
                    Some(ai) => {
                        let (ii, ir) = (f(Binary::Mul, ai, bi)?, f(Binary::Mul, ai, &br)?);
                        re = f(Binary::Add, &re, &ii)?;
                        f(Binary::Sub, &ir, &ri)?
                    }
                    None => self.negate(ri, span)?,
                };
                let mut f = |a: &Value| self.arithmetic(Binary::Div, a.clone(), square.clone(), span);
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
            (Value::Num(re, s), Value::Num(im, t)) => {
                let ty = s.or(t);
                let re = self.typed_part(re, s, ty, span)?;
                let im = self.typed_part(im, t, ty, span)?;
                Ok(Value::Complex(re, im, ty))
            }
            _ => Err(Stop),
        }
    }

    /// A complex number to the power of a whole number, by squares.
    fn complex_power(&mut self, a: Value, n: i128, span: &Span) -> Done<Value> {
        let mut square = self.shared(a)?;
        let mut found: Option<Value> = None;
        let mut rest = n.unsigned_abs();
        while rest > 0 {
            if rest % 2 == 1 {
                let next = match found.take() {
                    Some(v) => self.complex(Binary::Mul, v, square.clone(), span)?,
                    None => square.clone(),
                };
                found = Some(self.shared(next)?);
            }
            rest /= 2;
            if rest > 0 {
                let next = self.complex(Binary::Mul, square.clone(), square, span)?;
                square = self.shared(next)?;
            }
        }
        let one = Value::Num(ScalarExpr::Lit(Literal::Int(1)), None);
        match found {
            None => {
                let zero = ScalarExpr::Lit(Literal::Int(0));
                Ok(Value::Complex(ScalarExpr::Lit(Literal::Int(1)), zero, None))
            }
            Some(v) if n < 0 => self.arithmetic(Binary::Div, one, v, span),
            Some(v) => Ok(v),
        }
    }

    /// A number to any power, one of both complex: by the magnitude r and the angle φ of the first.
    /// (r e^(iφ))^(c + id) = r^c e^(-dφ) e^(i(d ln r + cφ))
    fn complex_root(&mut self, a: Value, b: Value, span: &Span) -> Done<Value> {
        let (a, b) = (self.shared(a)?, self.shared(b)?);
        let r = self.apply("abs", vec![a.clone()], span)?;
        let r = self.shared(r)?;
        let angle = match a {
            Value::Complex(..) => self.apply("angle", vec![a], span)?,
            a => {
                let zero = Value::Num(ScalarExpr::Lit(Literal::Real("0.0".into())), None);
                self.apply("atan", vec![zero, a], span)?
            }
        };
        let angle = self.shared(angle)?;
        let Some((c, d)) = parts(b) else {
            return self.fail(span, codes::TYPE, "a power of a complex number is a number", "give a number");
        };
        let mut size = self.arithmetic(Binary::Pow, r.clone(), c.clone(), span)?;
        let mut turn = self.arithmetic(Binary::Mul, angle.clone(), c, span)?;
        if let Some(d) = d {
            let less = self.arithmetic(Binary::Mul, angle, d.clone(), span)?;
            let less = self.negate(less, span)?;
            let less = self.apply("exp", vec![less], span)?;
            size = self.arithmetic(Binary::Mul, size, less, span)?;
            let log = self.apply("log", vec![r], span)?;
            let more = self.arithmetic(Binary::Mul, log, d, span)?;
            turn = self.arithmetic(Binary::Add, turn, more, span)?;
        }
        let (size, turn) = (self.shared(size)?, self.shared(turn)?);
        let mut part = |of: &str| {
            let x = self.apply(of, vec![turn.clone()], span)?;
            self.arithmetic(Binary::Mul, size.clone(), x, span)
        };
        match (part("cos")?, part("sin")?) {
            (Value::Num(re, ty), Value::Num(im, _)) => Ok(Value::Complex(re, im, ty)),
            _ => Err(Stop),
        }
    }

    fn typed_part(&mut self, x: ScalarExpr, own: Option<Ty>, ty: Option<Ty>, span: &Span) -> Done<ScalarExpr> {
        match ty {
            Some(ty) => self.number_as(Value::Num(x, own), ty, span),
            None => Ok(x),
        }
    }
}

/// The real and imaginary parts of a number; a real number has no imaginary part.
fn parts(v: Value) -> Option<(Value, Option<Value>)> {
    match v {
        Value::Complex(re, im, ty) => Some((Value::Num(re, ty), Some(Value::Num(im, ty)))),
        v @ Value::Num(..) => Some((v, None)),
        _ => None,
    }
}
