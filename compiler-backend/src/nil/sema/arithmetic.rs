//! Operators on numbers, Booleans, complex and tropical numbers.

use pendula_isa::diagnostic::plural;
use pendula_isa::{Cond, Ty};

use super::body::Body;
use super::emit::{function, product, sum};
use super::expr::{neg, not};
use super::scope::Kind;
use super::value::{Literal, ScalarExpr, Value};
use super::{Done, Stop};
use crate::ir::Place;
use crate::nil::ast::{self, Binary, ExprKind, Span};
use crate::nil::codes;
use crate::nil::types::number_name;

impl Body<'_, '_> {
    pub(super) fn negate(&mut self, value: Value, span: &Span) -> Done<Value> {
        Ok(match value {
            Value::Num(ScalarExpr::Lit(literal), None) => Value::Num(ScalarExpr::Lit(negative(literal)), None),
            Value::Num(x, ty) => Value::Num(neg(x), ty),
            Value::Bool(x) => Value::Num(neg(x), Some(Ty::Int)),
            Value::Complex(a, b, ty) => Value::Complex(negated_part(a), negated_part(b), ty),
            Value::Struct(s, parts) => {
                let parts = parts.into_iter().map(|p| self.negate(p, span)).collect::<Done<_>>()?;
                Value::Struct(s, parts)
            }
            Value::Log(log, sign) => {
                Value::Log(log, Some(Box::new(sign.map_or(ScalarExpr::Const(1), |sign| not(*sign)))))
            }
            other => {
                let message = format!("{} has no negative", other.describe());
                return self.fail(span, codes::TYPE, message, "numbers have one, and structs of numbers");
            }
        })
    }

    /// `a op b`.
    pub(super) fn binary(&mut self, op: Binary, a: Value, b: Value, span: &Span) -> Done<Value> {
        match op {
            Binary::LogicalAnd | Binary::LogicalOr => {
                let (Value::Bool(a), Value::Bool(b)) = (&a, &b) else {
                    let message = format!("conditions are expected here, found {} and {}", a.describe(), b.describe());
                    return self.fail(span, codes::TYPE, message, "compare: `x != 0`");
                };
                let (a, b) = (Box::new(a.clone()), Box::new(b.clone()));
                Ok(Value::Bool(if op == Binary::LogicalAnd { ScalarExpr::And(a, b) } else { ScalarExpr::Or(a, b) }))
            }
            Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge => self.compare(op, a, b, span),
            _ => self.arithmetic(op, a, b, span),
        }
    }

    fn compare(&mut self, op: Binary, a: Value, b: Value, span: &Span) -> Done<Value> {
        let cond = match op {
            Binary::Eq => Cond::Eq,
            Binary::Ne => Cond::Ne,
            Binary::Lt => Cond::Lt,
            Binary::Le => Cond::Le,
            Binary::Gt => Cond::Gt,
            _ => Cond::Ge,
        };
        if let (Value::Function(_), _) | (_, Value::Function(_)) = (&a, &b)
            && let Cond::Eq | Cond::Ne = cond
            && (super::singles::is_single_value(&a) || super::singles::is_single_value(&b))
        {
            return Ok(Value::Bool(ScalarExpr::Const(u64::from((a == b) == (cond == Cond::Eq)))));
        }
        match (a, b) {
            (Value::Tuple(a), Value::Tuple(b)) if a.len() == b.len() && matches!(cond, Cond::Eq | Cond::Ne) => {
                let mut all: Option<ScalarExpr> = None;
                for (a, b) in a.into_iter().zip(b) {
                    let Value::Bool(one) = self.compare(Binary::Eq, a, b, span)? else { return Err(Stop) };
                    all = Some(match all {
                        None => one,
                        Some(all) => ScalarExpr::And(Box::new(all), Box::new(one)),
                    });
                }
                let all = all.unwrap_or(ScalarExpr::Const(1));
                Ok(Value::Bool(if cond == Cond::Eq { all } else { not(all) }))
            }
            (Value::Complex(a, b, s), Value::Complex(c, d, t)) if matches!(cond, Cond::Eq | Cond::Ne) => {
                let Value::Bool(re) = self.compare(Binary::Eq, Value::Num(a, s), Value::Num(c, t), span)? else {
                    return Err(Stop);
                };
                let Value::Bool(im) = self.compare(Binary::Eq, Value::Num(b, s), Value::Num(d, t), span)? else {
                    return Err(Stop);
                };
                let both = ScalarExpr::And(Box::new(re), Box::new(im));
                Ok(Value::Bool(if cond == Cond::Eq { both } else { not(both) }))
            }
            (Value::Tropical(a, s), Value::Tropical(b, t)) if s == t => Ok(Value::Bool(ScalarExpr::cmp(cond, s, a, b))),
            (a @ Value::Log(..), b) | (a, b @ Value::Log(..)) => self.log_compare(cond, a, b, span),
            (a, b) => {
                let expected_type = self.expected_type.take();
                let (a, b, ty) = self.numbers(a, b, span)?;
                let typed = self.typed_pair(a, b, ty, span);
                self.expected_type = expected_type;
                let (a, b, ty) = typed?;
                Ok(Value::Bool(ScalarExpr::cmp(cond, ty, a, b)))
            }
        }
    }

    pub(super) fn arithmetic(&mut self, op: Binary, a: Value, b: Value, span: &Span) -> Done<Value> {
        match (a, b) {
            (Value::Bool(a), Value::Bool(b)) if matches!(op, Binary::And | Binary::Or | Binary::Xor) => {
                Ok(Value::Bool(match op {
                    Binary::And => ScalarExpr::And(Box::new(a), Box::new(b)),
                    Binary::Or => ScalarExpr::Or(Box::new(a), Box::new(b)),
                    _ => ScalarExpr::cmp(Cond::Ne, Ty::Int, a, b),
                }))
            }
            (Value::Tropical(a, s), Value::Tropical(b, t)) if s == t => self.tropical(op, a, b, s, span),
            (a @ Value::Log(..), b) | (a, b @ Value::Log(..)) => self.log_arithmetic(op, a, b, span),
            (a @ Value::Complex(..), b) | (a, b @ Value::Complex(..)) => self.complex(op, a, b, span),
            (Value::Struct(s, a), Value::Struct(t, b)) if s == t && matches!(op, Binary::Add | Binary::Sub) => {
                let parts = a.into_iter().zip(b).map(|(a, b)| self.arithmetic(op, a, b, span)).collect::<Done<_>>()?;
                Ok(Value::Struct(s, parts))
            }
            (Value::Struct(s, parts), k @ Value::Num(..)) if matches!(op, Binary::Mul | Binary::Div) => {
                let k = self.shared(k)?;
                let parts = parts.into_iter().map(|p| self.arithmetic(op, p, k.clone(), span)).collect::<Done<_>>()?;
                Ok(Value::Struct(s, parts))
            }
            (k @ Value::Num(..), Value::Struct(s, parts)) if op == Binary::Mul => {
                let k = self.shared(k)?;
                let parts = parts.into_iter().map(|p| self.arithmetic(op, k.clone(), p, span)).collect::<Done<_>>()?;
                Ok(Value::Struct(s, parts))
            }
            (a, b) => {
                if let (Value::Array(_), _) | (_, Value::Array(_)) = (&a, &b) {
                    let message = format!("arithmetic on {} and {}", a.describe(), b.describe());
                    let are_matrices = |v: &Value| matches!(v, Value::Array(view) if view.dims.len() == 2);
                    let help = match op {
                        Binary::Mul if are_matrices(&a) || are_matrices(&b) => {
                            "with `using matrices`, `matmul!(y, a, b)` and `matvec!(y, a, x)` add products of matrices; points before operators, \
                             `y .+= a .* b`, those of elements"
                        }
                        _ => {
                            "put points before the operators of a statement, `y .+= a .* b`; without an array for the result, `dot(a, b)` and \
                             `sum(f, a)` add up; or write a loop"
                        }
                    };
                    return self.fail(span, codes::TYPE, message, help);
                }
                let (a, b, ty) =
                    if op == Binary::Pow { self.power_operands(a, b, span)? } else { self.numbers(a, b, span)? };
                match ty {
                    None => self.literals(op, a, b, span),
                    Some(ty) => self.scalar(op, a, b, ty, span).map(|(x, ty)| Value::Num(x, Some(ty))),
                }
            }
        }
    }

    /// A number that is used several times: a computed number is put in an ancilla.
    pub(super) fn shared(&mut self, v: Value) -> Done<Value> {
        Ok(match v {
            Value::Num(x, Some(ty)) if x.leaf().is_none() && !matches!(x, ScalarExpr::Lit(_)) => {
                Value::Num(self.put(ty, x)?.into(), Some(ty))
            }
            Value::Complex(a, b, ty) => {
                let Value::Num(a, _) = self.shared(Value::Num(a, ty))? else { return Err(Stop) };
                let Value::Num(b, _) = self.shared(Value::Num(b, ty))? else { return Err(Stop) };
                Value::Complex(a, b, ty)
            }
            other => other,
        })
    }

    fn literals(&mut self, op: Binary, a: ScalarExpr, b: ScalarExpr, span: &Span) -> Done<Value> {
        let (ScalarExpr::Lit(a), ScalarExpr::Lit(b)) = (a, b) else { return Err(Stop) };
        if let (Literal::Int(a), Literal::Int(b)) = (&a, &b) {
            let (a, b) = (*a, *b);
            let n = match op {
                Binary::Add => a.checked_add(b),
                Binary::Sub => a.checked_sub(b),
                Binary::Mul => a.checked_mul(b),
                Binary::Pow => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
                Binary::Quot => a.checked_div(b),
                Binary::Rem => a.checked_rem(b),
                Binary::Div if a.checked_rem(b) == Some(0) => a.checked_div(b),
                Binary::And => Some(a & b),
                Binary::Or => Some(a | b),
                Binary::Xor => Some(a ^ b),
                Binary::Shl => u32::try_from(b).ok().filter(|b| *b < 64).map(|b| a << b),
                Binary::Sar | Binary::Shr if a >= 0 => u32::try_from(b).ok().filter(|b| *b < 64).map(|b| a >> b),
                _ => None,
            };
            if let Some(n) = n {
                return Ok(Value::Num(ScalarExpr::Lit(Literal::Int(n)), None));
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
                let (a, b, ty) = self.typed_pair(ScalarExpr::Lit(a), ScalarExpr::Lit(b), None, span)?;
                return self.scalar(op, a, b, ty, span).map(|(x, ty)| Value::Num(x, Some(ty)));
            }
        };
        Ok(Value::Num(ScalarExpr::Lit(Literal::Float(z)), None))
    }

    /// Base and exponent: an integer exponent stays an integer.
    fn power_operands(&mut self, a: Value, b: Value, span: &Span) -> Done<(ScalarExpr, ScalarExpr, Option<Ty>)> {
        let (a, ta) = self.number(a, span)?;
        let (b, tb) = self.number(b, span)?;
        match (ta, tb) {
            (None, None) => Ok((a, b, None)),
            (Some(t), None) => Ok((a, b, Some(t))),
            (Some(t), Some(Ty::Int)) => Ok((a, b, Some(t))),
            (None, Some(Ty::Int)) => {
                let whole = matches!(a, ScalarExpr::Lit(Literal::Int(_)));
                let ty = if whole { Ty::Int } else { self.expected_type.filter(|t| *t != Ty::Int).unwrap_or(Ty::F) };
                Ok((self.number_as(Value::Num(a, None), ty, span)?, b, Some(ty)))
            }
            _ => self.numbers(Value::Num(a, ta), Value::Num(b, tb), span),
        }
    }

    /// `a op b` for operands of one type, and the type of the result.
    fn scalar(&mut self, op: Binary, a: ScalarExpr, b: ScalarExpr, ty: Ty, span: &Span) -> Done<(ScalarExpr, Ty)> {
        let integer = |name: &'static str| function(Ty::Int, Ty::Int, name, 2);
        let func = match (op, ty) {
            (Binary::Add, _) => Some(sum(ty, false)),
            (Binary::Sub, _) => Some(sum(ty, true)),
            (Binary::Mul, _) => Some(product(ty)),
            (Binary::Div, Ty::Int) if self.expected_type == Some(Ty::Int) => {
                let (a, b) = (self.put(ty, a)?, self.put(ty, b)?);
                if self.checks {
                    let rem = integer("rem").ok_or(Stop)?;
                    let r = self.put(ty, ScalarExpr::Apply(rem, vec![a.into(), b.into()]))?;
                    let test = crate::ir::Test { cond: Cond::Eq, ty, a: r, b: crate::ir::Operand::Const(0) };
                    let reason =
                        self.reason(format!("the division of integers `{}` leaves a remainder", self.source(span)));
                    self.now.asserts.push(crate::ir::Stmt::Assert { test, why: crate::ir::AssertKind::User, reason });
                }
                let quot = integer("quot").ok_or(Stop)?;
                return Ok((ScalarExpr::Apply(quot, vec![a.into(), b.into()]), ty));
            }
            (Binary::Div, Ty::Int) => {
                let to = self.expected_type.unwrap_or(Ty::F);
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
                let (a, b): (ScalarExpr, ScalarExpr) = (self.put(ty, a)?.into(), self.put(ty, b)?.into());
                let parts = vec![ScalarExpr::Apply(or, vec![a.clone(), b.clone()]), ScalarExpr::Apply(and, vec![a, b])];
                return Ok((ScalarExpr::Apply(sum(ty, true), parts), ty));
            }
            (Binary::Shl | Binary::Sar | Binary::Shr, Ty::Int) => return Ok((self.shift(op, a, b)?, ty)),
            (Binary::Pow, _) => return self.power(a, b, ty, span),
            _ => None,
        };
        match func {
            Some(f) => Ok((self.fold(ScalarExpr::Apply(f, vec![a, b])), ty)),
            None => {
                let message = format!("this operator is not for {}", number_name(ty));
                self.fail(span, codes::TYPE, message, "it is for integers; or use `floor`, `rem` of integers")
            }
        }
    }

    /// A shift by any amount. By 64 or more, only sign bits are left; a negative amount shifts the other way. The
    /// instructions themselves take amounts modulo 64.
    fn shift(&mut self, op: Binary, a: ScalarExpr, b: ScalarExpr) -> Done<ScalarExpr> {
        let other = if op == Binary::Shl { Binary::Sar } else { Binary::Shl };
        let name = |op: Binary| match op {
            Binary::Shl => "shl",
            Binary::Sar => "sar",
            _ => "shr",
        };
        let by = |s: &Self, op: Binary, a: &ScalarExpr, n: ScalarExpr| -> Done<ScalarExpr> {
            let f = function(Ty::Int, Ty::Int, name(op), 2).ok_or(Stop)?;
            Ok(s.fold(ScalarExpr::Apply(f, vec![a.clone(), n])))
        };
        let far = |s: &Self, op: Binary, a: &ScalarExpr| match op {
            Binary::Sar => by(s, op, a, ScalarExpr::int(63)),
            _ => Ok(ScalarExpr::int(0)),
        };
        if let ScalarExpr::Const(n) = b {
            let n = n.cast_signed();
            let (op, n) = if n < 0 { (other, n.unsigned_abs()) } else { (op, n.unsigned_abs()) };
            return if n < 64 { by(self, op, &a, ScalarExpr::Const(n)) } else { far(self, op, &a) };
        }
        let (a, b): (ScalarExpr, ScalarExpr) = (self.put(Ty::Int, a)?.into(), self.put(Ty::Int, b)?.into());
        let back = ScalarExpr::Apply(sum(Ty::Int, true), vec![ScalarExpr::int(0), b.clone()]);
        let within = |n: &ScalarExpr| Box::new(ScalarExpr::cmp(Cond::Ltu, Ty::Int, n.clone(), ScalarExpr::int(64)));
        let choice = |c: Box<ScalarExpr>, x: ScalarExpr, y: ScalarExpr| ScalarExpr::Choice(c, Box::new(x), Box::new(y));
        let (there, beyond) = (by(self, op, &a, b.clone())?, far(self, op, &a)?);
        let reverse = choice(within(&back), by(self, other, &a, back.clone())?, far(self, other, &a)?);
        let negative = Box::new(ScalarExpr::cmp(Cond::Lt, Ty::Int, b.clone(), ScalarExpr::int(0)));
        Ok(choice(within(&b), there, choice(negative, reverse, beyond)))
    }

    fn power(&mut self, a: ScalarExpr, b: ScalarExpr, ty: Ty, span: &Span) -> Done<(ScalarExpr, Ty)> {
        let whole = match &b {
            ScalarExpr::Lit(Literal::Int(n)) => Some(*n),
            ScalarExpr::Const(w) if ty == Ty::Int => Some(i128::from(w.cast_signed())),
            _ => None,
        };
        let mul = |a: ScalarExpr, b: ScalarExpr| ScalarExpr::Apply(product(ty), vec![a, b]);
        match (ty, whole, &b) {
            (Ty::Int | Ty::Q | Ty::F, Some(1), _) => Ok((a, ty)),
            (Ty::Int | Ty::Q | Ty::F, Some(n @ 2..=3), _) => {
                let a: ScalarExpr = self.put(ty, a)?.into();
                let square = mul(a.clone(), a.clone());
                Ok((if n == 2 { square } else { mul(square, a) }, ty))
            }
            (Ty::Int, Some(n @ 4..=64), _) => {
                let a: ScalarExpr = self.put(ty, a)?.into();
                let power = (1..n).fold(a.clone(), |p, _| mul(p, a.clone()));
                Ok((power, ty))
            }
            (Ty::Int, _, _) => {
                let help = "convert the base: `Float64(x) ^ n`; or multiply in a loop";
                self.fail(span, codes::TYPE, "integers have powers with constant exponents from 1 to 64 only", help)
            }
            (Ty::Q | Ty::F, _, ScalarExpr::Lit(Literal::Real(t))) if t.parse() == Ok(0.5) => {
                self.named("sqrt", ty, vec![a], span)
            }
            (Ty::Q | Ty::F, Some(n), _) => {
                let n = i64::try_from(n).map(ScalarExpr::int).map_err(|_| Stop)?;
                self.named("powi", ty, vec![a, n], span)
            }
            (Ty::Q | Ty::F, None, ScalarExpr::Lit(l)) => {
                let b = ScalarExpr::Const(self.word(&l.clone(), ty, span)?);
                self.named("pow", ty, vec![a, b], span)
            }
            (Ty::Q | Ty::F, None, _) => {
                let name = if self.is_integer(&b) { "powi" } else { "pow" };
                self.named(name, ty, vec![a, b], span)
            }
            (Ty::L, _, ScalarExpr::Lit(l)) => {
                let b = ScalarExpr::Const(self.word(&l.clone(), Ty::Q, span)?);
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

    /// Whether a scalar expression is an integer.
    fn is_integer(&self, x: &ScalarExpr) -> bool {
        match x {
            ScalarExpr::Lit(Literal::Int(_))
            | ScalarExpr::Cmp(..)
            | ScalarExpr::And(..)
            | ScalarExpr::Or(..)
            | ScalarExpr::Not(_) => true,
            ScalarExpr::Lit(_) | ScalarExpr::Const(_) => false,
            ScalarExpr::Within(_, a) | ScalarExpr::Viewed(_, a) => self.is_integer(a),
            ScalarExpr::Place(crate::ir::Place::Var(v)) => self.f.ty(*v) == Ty::Int,
            ScalarExpr::Place(crate::ir::Place::Mem(m)) => {
                self.f.regions.get(m.region.0 as usize).is_some_and(|r| r.ty == Ty::Int)
            }
            ScalarExpr::Neg(a) | ScalarExpr::Choice(_, a, _) => self.is_integer(a),
            ScalarExpr::Apply(f, _) => f.info().ty == Ty::Int,
            ScalarExpr::Defined(definition, _) => definition.operand_type(0) == Ty::Int,
        }
    }

    /// A function of the instruction table by name, applied to numbers of one type.
    pub(super) fn named(&mut self, name: &str, ty: Ty, args: Vec<ScalarExpr>, span: &Span) -> Done<(ScalarExpr, Ty)> {
        match function(ty, ty, name, args.len()) {
            Some(f) => Ok((self.fold(ScalarExpr::Apply(f, args)), ty)),
            None => {
                let message = format!("`{name}` is not for {}", number_name(ty));
                let fit: Vec<&str> = [Ty::Int, Ty::F, Ty::Q, Ty::L]
                    .into_iter()
                    .filter(|ty| function(*ty, *ty, name, args.len()).is_some())
                    .map(number_name)
                    .collect();
                let help = match fit[..] {
                    [] => format!("no numbers have it with {}", plural(args.len(), "argument")),
                    _ if fit.contains(&"Float64") => "convert its argument, as `Float64(x)`".to_string(),
                    _ => format!("it is for {}", fit.join(", ")),
                };
                self.fail(span, codes::TYPE, message, help)
            }
        }
    }

    fn tropical(&mut self, op: Binary, a: ScalarExpr, b: ScalarExpr, ty: Ty, span: &Span) -> Done<Value> {
        let zero = |x: &ScalarExpr| *x == ScalarExpr::float(f64::NEG_INFINITY) && ty == Ty::F;
        let x = match op {
            // The zero is not computed with.
            Binary::Add if zero(&b) => a,
            Binary::Add if zero(&a) => b,
            Binary::Mul if zero(&a) || zero(&b) => ScalarExpr::float(f64::NEG_INFINITY),
            Binary::Div if zero(&a) && !zero(&b) => a,
            Binary::Mul => ScalarExpr::Apply(sum(ty, false), vec![a, b]),
            Binary::Div => ScalarExpr::Apply(sum(ty, true), vec![a, b]),
            // Functions of the machine stop at an infinity, and comparisons do not.
            Binary::Add if ty == Ty::F && (self.began_with_zero(&a) || self.began_with_zero(&b)) => {
                let less = ScalarExpr::cmp(Cond::Lt, ty, a.clone(), b.clone());
                ScalarExpr::choice(less, b, a)
            }
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
        Ok(Value::Tropical(x, ty))
    }
}

impl Body<'_, '_> {
    /// Whether a number under (max, +) is that of a variable that began with zero, which is minus infinity.
    fn began_with_zero(&self, x: &ScalarExpr) -> bool {
        let zero = |e: &ast::Expr| match &e.kind {
            ExprKind::Call { callee, .. } => matches!(&callee.kind, ExprKind::Name(name) if name == "zero"),
            _ => false,
        };
        matches!(x, ScalarExpr::Place(Place::Var(_)))
            && (0..self.scopes.len()).filter_map(|n| self.scopes.get(n)).any(
                |b| matches!((&b.value, &b.kind), (Value::Tropical(own, _), Kind::Local(e)) if own == x && zero(e)),
            )
    }
}

fn negated_part(x: ScalarExpr) -> ScalarExpr {
    match x {
        ScalarExpr::Lit(l) => ScalarExpr::Lit(negative(l)),
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
