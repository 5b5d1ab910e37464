//! Literals, arithmetic, comparisons, conversions.

use pendula_isa::diagnostic::Diagnostic;

use super::{Elaborator, Made};
use crate::core::{Binary, Compare, IntBinary, IntType, IntUnary, Op, Rhs, Test, Unary, Value, Var};
use crate::errors;
use crate::fut::syntax::Lit;
use crate::fut::types::{Prim, Type, text};

/// The core's type of an integer type.
pub(in crate::fut) const fn int_type(prim: Prim) -> Option<IntType> {
    match prim {
        Prim::Int(int) => Some(int),
        Prim::F32 | Prim::F64 | Prim::Bool => None,
    }
}

impl Elaborator<'_> {
    /// The primitive type that decides what an operator does.
    pub(super) fn prim(&self, ty: &Type) -> Made<Prim> {
        match self.unifier.head(ty) {
            Type::Prim(prim) => Ok(prim),
            other => {
                let shown = text(self.unifier, &other);
                let mut error = Diagnostic::error(
                    errors::FUT_TYPE,
                    format!("an operator on numbers is used at the type `{shown}`, which may be any"),
                )
                .help("write the type of the operands");
                if let Some(place) = &self.place {
                    error = error.at(place.clone(), "this operator");
                }
                Err(Box::new(error))
            }
        }
    }

    pub(super) fn literal(&self, lit: &Lit, negative: bool, ty: &Type) -> Made<Value> {
        let prim = self.prim(ty)?;
        Ok(match lit {
            Lit::Bool(b) => Value::bool(*b),
            Lit::Float(x, _) => Value::real(if negative { -x } else { *x }),
            Lit::Int(n, _) => match int_type(prim) {
                None => Value::real(if negative { -(*n as f64) } else { *n as f64 }),
                Some(int) => {
                    let bits = int.bits() - u32::from(int.signed());
                    let largest = (1_u128 << bits) - u128::from(!(negative && int.signed()));
                    if *n > largest {
                        let mut error =
                            Diagnostic::error(errors::FUT_TYPE, format!("{n} does not fit into {}", prim.name()))
                                .help("use a larger type, or write it with a decimal point");
                        if let Some(place) = &self.place {
                            error = error.at(place.clone(), "too large");
                        }
                        return Err(Box::new(error));
                    }
                    let value = *n as i64;
                    Value::int(int, if negative { value.wrapping_neg() } else { value })
                }
            },
        })
    }

    /// The operand types of an operator.
    pub(super) fn operand(&self, ty: &Type) -> Type {
        match self.unifier.head(ty) {
            Type::Fun(_, parts) => parts.0.clone(),
            other => other,
        }
    }

    /// A number of a type.
    pub(super) fn number(&self, prim: Prim, n: i64) -> Value {
        match int_type(prim) {
            Some(int) => Value::int(int, n),
            None if prim == Prim::Bool => Value::bool(n != 0),
            None => Value::real(n as f64),
        }
    }

    pub(super) fn extreme(&self, prim: Prim, highest: bool) -> Value {
        match int_type(prim) {
            None => Value::real(if highest { f64::INFINITY } else { f64::NEG_INFINITY }),
            Some(int) => {
                let bits = int.bits();
                let value = match (int.signed(), highest) {
                    (true, true) => (u64::MAX >> (65 - bits)) as i64,
                    (true, false) => !((u64::MAX >> (65 - bits)) as i64),
                    (false, true) => (u64::MAX >> (64 - bits)) as i64,
                    (false, false) => 0,
                };
                Value::int(int, value)
            }
        }
    }

    /// An operator of two operands of one type, if the name is one.
    pub(super) fn arithmetic(&mut self, name: &str, prim: Prim, a: Var, b: Var) -> Option<Var> {
        let op = match (name, prim.is_float()) {
            ("add", true) => Op::Binary(Binary::Add),
            ("sub", true) => Op::Binary(Binary::Sub),
            ("mul", true) => Op::Binary(Binary::Mul),
            ("div", true) => Op::Binary(Binary::Div),
            ("mod", true) => Op::Binary(Binary::Rem),
            ("pow", true) => Op::Binary(Binary::Pow),
            ("max", true) => Op::Binary(Binary::Max),
            ("min", true) => Op::Binary(Binary::Min),
            ("add", false) => Op::IntBinary(IntBinary::Add),
            ("sub", false) => Op::IntBinary(IntBinary::Sub),
            ("mul", false) => Op::IntBinary(IntBinary::Mul),
            ("div", false) => Op::IntBinary(IntBinary::Div),
            ("mod", false) => Op::IntBinary(IntBinary::Mod),
            ("quot", false) => Op::IntBinary(IntBinary::Quot),
            ("rem", false) => Op::IntBinary(IntBinary::Rem),
            ("pow", false) => {
                let zero = self.constant(self.number(prim, 0));
                let fits = self.op(Op::Compare(Compare::Ge), &[b, zero]);
                let text = "an integer with a negative exponent";
                let b = self.bind("n", Rhs::Op(Op::Check(text.into()), vec![fits, b]));
                return Some(self.int_op(IntBinary::Pow, a, b));
            }
            ("max", false) => Op::IntBinary(IntBinary::Max),
            ("min", false) => Op::IntBinary(IntBinary::Min),
            ("band", false) => Op::IntBinary(IntBinary::And),
            ("bor", false) => Op::IntBinary(IntBinary::Or),
            ("bxor", false) => Op::IntBinary(IntBinary::Xor),
            ("shl", false) => Op::IntBinary(IntBinary::Shl),
            ("shr", false) => Op::IntBinary(IntBinary::Shr),
            ("lshr", false) => Op::IntBinary(IntBinary::Lshr),
            _ => return None,
        };
        Some(self.op(op, &[a, b]))
    }

    /// An operator of two truth values, if the name is one.
    pub(super) fn logical(&mut self, name: &str, a: Var, b: Var) -> Made<Option<Var>> {
        Ok(Some(match name {
            "band" => self.choose(a, |_| Ok(b), |this| Ok(this.constant(Value::bool(false))))?,
            "bor" => self.choose(a, |this| Ok(this.constant(Value::bool(true))), |_| Ok(b))?,
            "bxor" => self.op(Op::Compare(Compare::Ne), &[a, b]),
            _ => return Ok(None),
        }))
    }

    /// A function of one float, if the name is one.
    pub(super) fn elementary(&mut self, name: &str, a: Var) -> Option<Var> {
        let op = match name {
            "sqrt" => Unary::Sqrt,
            "cbrt" => Unary::Cbrt,
            "exp" => Unary::Exp,
            "log" => Unary::Log,
            "log2" => Unary::Log2,
            "log1p" => Unary::Log1p,
            "sin" => Unary::Sin,
            "cos" => Unary::Cos,
            "tan" => Unary::Tan,
            "asin" => Unary::Asin,
            "acos" => Unary::Acos,
            "atan" => Unary::Atan,
            "sinh" => Unary::Sinh,
            "cosh" => Unary::Cosh,
            "tanh" => Unary::Tanh,
            "asinh" => Unary::Asinh,
            "acosh" => Unary::Acosh,
            "atanh" => Unary::Atanh,
            "erf" => Unary::Erf,
            "erfc" => Unary::Erfc,
            "lgamma" => Unary::Lgamma,
            "ceil" => Unary::Ceil,
            "floor" => Unary::Floor,
            "trunc" => Unary::Trunc,
            "round" => Unary::Round,
            _ => return None,
        };
        Some(self.op(Op::Unary(op), &[a]))
    }

    pub(super) fn convert(&mut self, from: Prim, to: Prim, a: Var) -> Made<Var> {
        if from == to || (from.is_float() && to.is_float()) {
            return Ok(a);
        }
        if to == Prim::Bool {
            let zero = self.constant(self.number(from, 0));
            return Ok(self.op(Op::Compare(Compare::Ne), &[a, zero]));
        }
        // A truth value chooses, so that the number has no derivative.
        if from == Prim::Bool {
            let (one, zero) = (self.number(to, 1), self.number(to, 0));
            return self.choose(a, |this| Ok(this.constant(one)), |this| Ok(this.constant(zero)));
        }
        // To a wider unsigned type, the bits stay and zeros come before them.
        if let (Some(of), Some(int)) = (int_type(from), int_type(to))
            && of.signed()
            && !int.signed()
            && of.bits() < int.bits()
        {
            let same = match of {
                IntType::I8 => IntType::U8,
                IntType::I16 => IntType::U16,
                _ => IntType::U32,
            };
            let bits = self.op(Op::ToInt(same), &[a]);
            return Ok(self.op(Op::ToInt(int), &[bits]));
        }
        Ok(match int_type(to) {
            Some(int) => self.op(Op::ToInt(int), &[a]),
            None => self.op(Op::ToReal, &[a]),
        })
    }

    pub(super) fn comparison(name: &str) -> Option<Compare> {
        Some(match name {
            "lt" => Compare::Lt,
            "le" => Compare::Le,
            "gt" => Compare::Gt,
            "ge" => Compare::Ge,
            _ => return None,
        })
    }

    pub(super) fn unary_int(&mut self, op: IntUnary, a: Var) -> Var {
        self.op(Op::IntUnary(op), &[a])
    }

    pub(super) fn test(&mut self, test: Test, a: Var) -> Var {
        self.op(Op::Test(test), &[a])
    }

    /// Whether two values of a type are equal.
    pub(super) fn equal(&mut self, ty: &Type, a: Var, b: Var) -> Made<Var> {
        match self.unifier.head(ty) {
            Type::Prim(_) => Ok(self.op(Op::Compare(Compare::Eq), &[a, b])),
            Type::Record(fields) => {
                let mut all = self.constant(Value::bool(true));
                for (n, (_, t)) in fields.iter().enumerate().rev() {
                    let (x, y) = (self.part(a, n, fields.len()), self.part(b, n, fields.len()));
                    let rest = all;
                    let same = self.equal(t, x, y)?;
                    all = self.choose(same, |_| Ok(rest), |this| Ok(this.constant(Value::bool(false))))?;
                }
                Ok(all)
            }
            Type::Array(_, of) => {
                let (n, m) = (self.length(a), self.length(b));
                let same = self.op(Op::Compare(Compare::Eq), &[n, m]);
                self.choose(
                    same,
                    |this| {
                        let pairs = this.op(Op::Zip, &[a, b]);
                        let step = this.lambda("equal", |this, x| {
                            let (state, pair) = (this.part(x, 0, 2), this.part(x, 1, 2));
                            let (p, q) = (this.part(pair, 0, 2), this.part(pair, 1, 2));
                            let same = this.equal(&of, p, q)?;
                            let no = |this: &mut Self| Ok(this.constant(Value::bool(false)));
                            let next = this.choose(state, |_| Ok(same), no)?;
                            let unit = this.constant(Value::UNIT);
                            Ok(this.tuple(&[next, unit]))
                        })?;
                        let first = this.constant(Value::bool(true));
                        let done = this.op(Op::Scan, &[step, first, pairs]);
                        Ok(this.part(done, 0, 2))
                    },
                    |this| Ok(this.constant(Value::bool(false))),
                )
            }
            Type::Sum(constrs) => {
                let mut arms = Vec::new();
                for (n, (_, args)) in constrs.iter().enumerate() {
                    let x = self.var("payload");
                    let inner = self.block(|this| {
                        let mut arms = Vec::new();
                        for m in 0..constrs.len() {
                            let y = this.var("payload");
                            let body = this.block(|this| {
                                if n != m {
                                    return Ok(this.constant(Value::bool(false)));
                                }
                                let ty = match args.as_slice() {
                                    [only] => only.clone(),
                                    all => Type::tuple(all.to_vec()),
                                };
                                this.equal(&ty, x, y)
                            })?;
                            arms.push((m as u32, y, body));
                        }
                        Ok(this.bind("same", Rhs::Case(b, arms)))
                    })?;
                    arms.push((n as u32, x, inner));
                }
                Ok(self.bind("same", Rhs::Case(a, arms)))
            }
            Type::Var(_) | Type::Rigid(..) | Type::Gen(_) | Type::Fun(..) => {
                Err(self.unread("comparisons of values of any type", "compare values of a type that is known"))
            }
        }
    }
}
