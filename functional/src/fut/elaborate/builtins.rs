//! What the core provides to the prelude.

use super::{Arg, Callee, Elaborator, Made};
use crate::core::{Binary, Compare, IntBinary, IntType, IntUnary, Op, Rhs, Test, Unary, Value, Var};
use crate::fut::types::{Prim, Type};
use crate::value::View;

/// How many arguments something takes.
pub(super) fn arity(name: &str) -> usize {
    match name {
        "highest" | "lowest" | "one" | "zero" | "inf" | "nan" => 0,
        "neg" | "not" | "abs" | "sgn" | "convert" | "popc" | "clz" | "ctz" | "sqrt" | "cbrt" | "exp" | "log"
        | "log2" | "log10" | "log1p" | "sin" | "cos" | "tan" | "asin" | "acos" | "atan" | "sinh" | "cosh" | "tanh"
        | "asinh" | "acosh" | "atanh" | "gamma" | "lgamma" | "erf" | "erfc" | "ceil" | "floor" | "trunc" | "round"
        | "isinf" | "isnan" | "f32_to_bits" | "f32_from_bits" | "f64_to_bits" | "f64_from_bits" | "length"
        | "unzip" | "iota" | "reverse" | "transpose" | "flatten" => 1,
        "map2" | "unflatten" | "reduce" | "scan" | "scatter" | "scatter_2d" | "scatter_3d" | "jvp2" | "vjp2"
        | "jmp2" | "mjp2" | "jvp" | "vjp" | "jmp" | "mjp" | "with_vjp" => 3,
        "map3" => 4,
        "map4" | "hist" => 5,
        "map5" => 6,
        _ => 2,
    }
}

impl Elaborator<'_> {
    /// The result type of a function of so many arguments.
    pub(super) fn result(&self, ty: &Type, args: usize) -> Type {
        let mut ty = self.unifier.head(ty);
        for _ in 0..args {
            if let Type::Fun(_, parts) = &ty {
                let to = self.unifier.head(&parts.1);
                ty = to;
            }
        }
        ty
    }

    /// The application of what the core provides to all its arguments.
    pub(super) fn builtin(&mut self, name: &str, ty: &Type, args: Vec<Arg>) -> Made<Var> {
        match (name, arity(name)) {
            (_, 0) => self.named_constant(name, ty),
            ("map" | "map2" | "map3" | "map4" | "map5", _) => self.map(args),
            ("reduce", _) => self.reduce(ty, args),
            ("scan", _) => self.scan(args),
            ("hist", _) => self.hist(ty, args),
            ("tabulate", _) => self.tabulate(args),
            ("jvp2" | "vjp2" | "jmp2" | "mjp2", _) => self.derivative(name, ty, args),
            ("jvp" | "vjp" | "jmp" | "mjp", _) => {
                let both = self.derivative(name, ty, args)?;
                Ok(self.part(both, 1, 2))
            }
            (_, 1) => {
                let arg = match args.into_iter().next() {
                    Some(arg) => self.value(arg)?,
                    None => self.constant(Value::UNIT),
                };
                self.of_one(name, ty, arg)
            }
            _ => {
                let args = args.into_iter().map(|arg| self.value(arg)).collect::<Made<Vec<_>>>()?;
                self.of_many(name, ty, &args)
            }
        }
    }

    fn named_constant(&mut self, name: &str, ty: &Type) -> Made<Var> {
        let prim = self.prim(ty)?;
        let value = match name {
            "highest" => self.extreme(prim, true),
            "lowest" => self.extreme(prim, false),
            "one" => self.number(prim, 1),
            "zero" => self.number(prim, 0),
            "inf" => Value::real(f64::INFINITY),
            _ => Value::real(f64::NAN),
        };
        Ok(self.constant(value))
    }

    /// A function of one argument.
    fn of_one(&mut self, name: &str, ty: &Type, a: Var) -> Made<Var> {
        match name {
            "length" => return Ok(self.length(a)),
            "reverse" => return Ok(self.op(Op::Flip, &[a])),
            "flatten" => return Ok(self.op(Op::Flatten, &[a])),
            "iota" => return Ok(self.op(Op::Iota(IntType::I64), &[a])),
            "unzip" => {
                let parts = [self.op(Op::Unzip(0, 2), &[a]), self.op(Op::Unzip(1, 2), &[a])];
                return Ok(self.tuple(&parts));
            }
            "transpose" => {
                let width = self.measured(a, &[super::Into::Element])?;
                return Ok(self.op(Op::Transpose, &[a, width]));
            }
            "f32_to_bits" => return Ok(self.op(Op::ToBits(32), &[a])),
            "f64_to_bits" => return Ok(self.op(Op::ToBits(64), &[a])),
            "f32_from_bits" => return Ok(self.op(Op::FromBits(32), &[a])),
            "f64_from_bits" => return Ok(self.op(Op::FromBits(64), &[a])),
            _ => {}
        }
        let prim = self.prim(&self.operand(ty))?;
        let float = prim.is_float();
        match name {
            "convert" => {
                let to = self.prim(&self.result(ty, 1))?;
                self.convert(prim, to, a)
            }
            "neg" if float => Ok(self.op(Op::Unary(Unary::Neg), &[a])),
            "abs" if float => Ok(self.op(Op::Unary(Unary::Abs), &[a])),
            "sgn" if float => Ok(self.op(Op::Unary(Unary::Sign), &[a])),
            "neg" => Ok(self.unary_int(IntUnary::Neg, a)),
            "abs" => Ok(self.unary_int(IntUnary::Abs, a)),
            "sgn" => Ok(self.unary_int(IntUnary::Sign, a)),
            "not" if prim == Prim::Bool => Ok(self.op(Op::Not, &[a])),
            "not" => Ok(self.unary_int(IntUnary::Not, a)),
            "popc" | "clz" | "ctz" => {
                let op = match name {
                    "popc" => IntUnary::Ones,
                    "clz" => IntUnary::LeadingZeros,
                    _ => IntUnary::TrailingZeros,
                };
                let count = self.unary_int(op, a);
                self.convert(prim, Prim::Int(IntType::I32), count)
            }
            "isnan" => Ok(self.test(Test::Nan, a)),
            "isinf" => Ok(self.test(Test::Infinite, a)),
            "log10" => {
                let log = self.op(Op::Unary(Unary::Log), &[a]);
                let base = self.constant(Value::real(std::f64::consts::LN_10));
                Ok(self.op(Op::Binary(Binary::Div), &[log, base]))
            }
            "gamma" => {
                let log = self.op(Op::Unary(Unary::Lgamma), &[a]);
                Ok(self.op(Op::Unary(Unary::Exp), &[log]))
            }
            _ => match self.elementary(name, a) {
                Some(found) => Ok(found),
                None => Err(self.unread(&format!("uses of `{name}`"), "leave it out")),
            },
        }
    }

    /// A function of several arguments, none of which is called.
    fn of_many(&mut self, name: &str, ty: &Type, args: &[Var]) -> Made<Var> {
        let operand = self.operand(ty);
        match (name, args) {
            ("eq", [a, b]) => self.equal(&operand, *a, *b),
            ("ne", [a, b]) => {
                let same = self.equal(&operand, *a, *b)?;
                Ok(self.op(Op::Not, &[same]))
            }
            ("lt" | "le" | "gt" | "ge", [a, b]) => {
                self.prim(&operand)?;
                let op = Self::comparison(name).unwrap_or(Compare::Lt);
                Ok(self.op(Op::Compare(op), &[*a, *b]))
            }
            ("zip", [a, b]) => Ok(self.op(Op::Zip, &[*a, *b])),
            ("concat", [a, b]) => Ok(self.op(Op::Concat, &[*a, *b])),
            ("replicate", [n, x]) => Ok(self.op(Op::Replicate, &[*n, *x])),
            ("rotate", [r, xs]) => self.rotate(*r, *xs),
            ("unflatten", [n, m, xs]) => self.unflatten(*n, *m, *xs),
            ("gather", [xs, is]) => Ok(self.op(Op::Gather, &[*xs, *is])),
            ("scatter", [xs, is, vs]) => Ok(self.op(Op::Scatter, &[*xs, *is, *vs])),
            ("scatter_2d", [xs, is, vs]) => self.scatter_flat(*xs, *is, *vs, 2),
            ("scatter_3d", [xs, is, vs]) => self.scatter_flat(*xs, *is, *vs, 3),
            ("with_vjp", [f, g, x]) => Ok(self.op(Op::Custom, &[*f, *g, *x])),
            (_, [a, b]) => {
                let prim = self.prim(&operand)?;
                let op = match name {
                    "atan2" => Some(Binary::Atan2),
                    "hypot" => Some(Binary::Hypot),
                    _ => None,
                };
                if let Some(op) = op {
                    return Ok(self.op(Op::Binary(op), &[*a, *b]));
                }
                if name == "copysign" {
                    return self.copysign(*a, *b);
                }
                if prim == Prim::Bool
                    && let Some(found) = self.logical(name, *a, *b)?
                {
                    return Ok(found);
                }
                if name == "mul_hi" {
                    return self.mul_hi(prim, *a, *b);
                }
                match self.arithmetic(name, prim, *a, *b) {
                    Some(found) => Ok(found),
                    None => Err(self.unread(&format!("uses of `{name}`"), "leave it out")),
                }
            }
            _ => Err(self.unread(&format!("uses of `{name}`"), "leave it out")),
        }
    }

    fn copysign(&mut self, a: Var, b: Var) -> Made<Var> {
        let a = self.op(Op::Unary(Unary::Abs), &[a]);
        // The sign of a zero is a sign, too.
        let bits = self.op(Op::ToBits(64), &[b]);
        let (last, zero) = (self.constant(Value::int(IntType::U64, 63)), self.constant(Value::int(IntType::U64, 0)));
        let sign = self.int_op(IntBinary::Shr, bits, last);
        let negative = self.op(Op::Compare(Compare::Ne), &[sign, zero]);
        self.choose(negative, |this| Ok(this.op(Op::Unary(Unary::Neg), &[a])), |_| Ok(a))
    }

    /// The upper half of a product, of integers of at most 32 bits.
    fn mul_hi(&mut self, prim: Prim, a: Var, b: Var) -> Made<Var> {
        let bits = match prim {
            Prim::Int(int) if int.bits() < 64 => int.bits().into(),
            Prim::Int(_) | Prim::F32 | Prim::F64 | Prim::Bool => {
                return Err(self.unread("upper halves of products of 64 bits", "use numbers of 32 bits"));
            }
        };
        let (a, b) = (self.convert(prim, Prim::I64, a)?, self.convert(prim, Prim::I64, b)?);
        let product = self.int_op(IntBinary::Mul, a, b);
        let shift = self.int64(bits);
        let upper = self.int_op(IntBinary::Shr, product, shift);
        self.convert(Prim::I64, prim, upper)
    }

    /// Derivatives of functions. `jvp2 f x dx`, `vjp2 f x dy`; the other two for an array of directions.
    fn derivative(&mut self, name: &str, ty: &Type, args: Vec<Arg>) -> Made<Var> {
        let both = self.derivatives(name, args)?;
        let derivative = match (name.len() == 3, self.result(ty, 3)) {
            (true, ty) => ty,
            (false, Type::Record(fields)) if fields.len() == 2 => fields[1].1.clone(),
            (false, _) => return Ok(both),
        };
        if !self.has_bool(&derivative) {
            return Ok(both);
        }
        let (value, found) = (self.part(both, 0, 2), self.part(both, 1, 2));
        let found = self.without_bools(&derivative, found)?;
        Ok(self.tuple(&[value, found]))
    }

    /// Whether values of a type hold truth values outside sums and functions.
    fn has_bool(&self, ty: &Type) -> bool {
        match self.unifier.head(ty) {
            Type::Prim(prim) => prim == Prim::Bool,
            Type::Array(_, of) => self.has_bool(&of),
            Type::Record(fields) => fields.iter().any(|(_, t)| self.has_bool(t)),
            Type::Sum(_) | Type::Fun(..) | Type::Var(_) | Type::Rigid(..) | Type::Gen(_) => false,
        }
    }

    /// A derivative whose truth values are false: they have none.
    fn without_bools(&mut self, ty: &Type, value: Var) -> Made<Var> {
        if !self.has_bool(ty) {
            return Ok(value);
        }
        match self.unifier.head(ty) {
            Type::Array(_, of) => {
                let each = self.lambda("none", |this, x| this.without_bools(&of, x))?;
                Ok(self.op(Op::Map, &[each, value]))
            }
            Type::Record(fields) => {
                let mut parts = Vec::new();
                for (n, (_, t)) in fields.iter().enumerate() {
                    let part = self.part(value, n, fields.len());
                    parts.push(self.without_bools(t, part)?);
                }
                Ok(self.tuple(&parts))
            }
            _ => Ok(self.constant(Value::bool(false))),
        }
    }

    fn derivatives(&mut self, name: &str, args: Vec<Arg>) -> Made<Var> {
        let mut args = args.into_iter().map(|arg| self.value(arg)).collect::<Made<Vec<_>>>()?.into_iter();
        let (Some(f), Some(x), Some(direction)) = (args.next(), args.next(), args.next()) else {
            return Err(self.unread("derivatives of nothing", "give the function, its argument and a direction"));
        };
        match name {
            "jvp2" | "jvp" => self.forward(f, x, direction),
            "jmp2" | "jmp" => {
                let value = self.bind("r", Rhs::Apply(f, x));
                let each = self.lambda("direction", |this, dx| {
                    let both = this.forward(f, x, dx)?;
                    Ok(this.part(both, 1, 2))
                })?;
                let all = self.op(Op::Map, &[each, direction]);
                Ok(self.tuple(&[value, all]))
            }
            _ => {
                let (f, x) =
                    (self.bind("jf", Rhs::View(View::Reverse, f)), self.bind("jx", Rhs::View(View::Reverse, x)));
                let both = self.bind("jy", Rhs::Apply(f, x));
                let (y, back) = (self.part(both, 0, 2), self.part(both, 1, 2));
                let y = self.bind("y", Rhs::View(View::Unreverse, y));
                let result = if name.starts_with("vjp") {
                    self.backward(back, direction)
                } else {
                    let each = self.lambda("direction", |this, dy| Ok(this.backward(back, dy)))?;
                    self.op(Op::Map, &[each, direction])
                };
                Ok(self.tuple(&[y, result]))
            }
        }
    }

    fn forward(&mut self, f: Var, x: Var, dx: Var) -> Made<Var> {
        let f = self.bind("ff", Rhs::View(View::Forward, f));
        let x = self.bind("fx", Rhs::Bundle(x, dx));
        let y = self.bind("fy", Rhs::Apply(f, x));
        let parts = [self.bind("y", Rhs::View(View::Primal, y)), self.bind("dy", Rhs::View(View::Tangent, y))];
        Ok(self.tuple(&parts))
    }

    fn backward(&mut self, back: Var, dy: Var) -> Var {
        let dy = self.bind("sy", Rhs::View(View::Sense, dy));
        let both = self.bind("sfx", Rhs::Apply(back, dy));
        let dx = self.part(both, 1, 2);
        self.bind("dx", Rhs::View(View::Unsense, dx))
    }

    /// Functions as arguments, and arrays.
    pub(super) fn split_args(&mut self, args: Vec<Arg>) -> Made<(Callee, Vec<Var>)> {
        let mut args = args.into_iter();
        let function = match args.next() {
            Some(arg) => Self::function(arg),
            None => return Err(self.unread("calls without arguments", "give the arguments")),
        };
        let rest = args.map(|arg| self.value(arg)).collect::<Made<Vec<_>>>()?;
        Ok((function, rest))
    }
}
