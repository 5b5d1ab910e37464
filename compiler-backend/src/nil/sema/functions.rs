//! Functions that are not in the instruction table, computed with functions that are.

use pendula_isa::table::{TableFn, q_fn};
use pendula_isa::{Cond, Ty};

use super::body::Body;
use super::emit::function;
use super::value::{Literal, ScalarExpr, Value};
use super::{Done, Stop};
use crate::nil::ast::{Binary, Span};
use crate::nil::types::Type;

/// The common logarithm of e as the sum of two doubles.
const LOG10_E: [f64; 2] = [std::f64::consts::LOG10_E, 1.098_319_650_216_765e-17];

impl Body<'_, '_> {
    /// The value of a function of this module; gives the arguments back if no function has this name.
    pub(super) fn composed(
        &mut self,
        name: &str,
        mut args: Vec<Value>,
        span: &Span,
    ) -> Done<Result<Value, Vec<Value>>> {
        let real = |s: &str| Value::Num(ScalarExpr::Lit(Literal::Real(s.into())), None);
        let value = match (name, args.as_slice()) {
            ("+" | "*" | "min" | "max", [_, _, _, ..]) => {
                let mut args = args.into_iter();
                let mut all = args.next().ok_or(Stop)?;
                for arg in args {
                    all = self.apply(name, vec![all, arg], span)?;
                }
                all
            }
            ("+", [_]) => args.remove(0),
            ("ifelse", [_, _, _]) => {
                let (b, a) = (args.pop().ok_or(Stop)?, args.pop().ok_or(Stop)?);
                let c = self.condition_of(args.remove(0), span)?;
                self.choice(c, a, b, span)?
            }
            ("clamp", [_, _, _]) => {
                let high = args.pop().ok_or(Stop)?;
                let low = self.apply("max", args, span)?;
                self.apply("min", vec![low, high], span)?
            }
            ("cld", [_, _]) => self.quotient_up(args, span)?,
            ("muladd" | "fma", [_, _, c]) => {
                let rounded = |v: &Value| matches!(v, Value::Num(_, Some(Ty::Q | Ty::F)));
                let literal = |v: &Value| matches!(v, Value::Num(ScalarExpr::Lit(_), None));
                if args.iter().any(rounded)
                    || (args.iter().all(literal) && self.expected_type.is_none_or(|t| t != Ty::Int))
                {
                    self.table_function("muladd", args, span)?
                } else {
                    let c = c.clone();
                    args.truncate(2);
                    let product = self.apply("*", args, span)?;
                    self.arithmetic(Binary::Add, product, c, span)?
                }
            }
            ("exp2", [x]) if self.is_double(x) => self.table_function("exp2", args, span)?,
            ("exp2", [_]) => self.arithmetic(Binary::Pow, real("2.0"), args.remove(0), span)?,
            ("exp10", [_]) => self.arithmetic(Binary::Pow, real("10.0"), args.remove(0), span)?,
            ("log10", [Value::Num(..) | Value::Bool(_)]) => self.log10(args, span)?,
            ("cbrt", [Value::Num(..) | Value::Bool(_)]) => {
                let x = self.number_as(args.remove(0), Ty::F, span)?;
                Value::Num(self.named("cbrt", Ty::F, vec![x], span)?.0, Some(Ty::F))
            }
            // As in Julia: the order comes first.
            ("polygamma", [_, _]) => {
                let x = self.number_as(args.pop().ok_or(Stop)?, Ty::F, span)?;
                let n = self.integer(args.remove(0), span)?;
                Value::Num(self.named("polygamma", Ty::F, vec![x, n], span)?.0, Some(Ty::F))
            }
            ("trigamma", [_]) => {
                let x = self.number_as(args.remove(0), Ty::F, span)?;
                Value::Num(self.named("polygamma", Ty::F, vec![x, ScalarExpr::Const(1)], span)?.0, Some(Ty::F))
            }
            ("floor" | "ceil" | "trunc" | "round", [Value::Type(Type::Num(Ty::Int)), _]) => {
                let rounded = self.apply(name, args.split_off(1), span)?;
                self.construct_of(Type::Num(Ty::Int), vec![rounded], span)?
            }
            ("floor" | "ceil" | "trunc" | "round", [Value::Num(_, Some(Ty::Int)) | Value::Bool(_)]) => args.remove(0),
            ("ceil", [Value::Num(..)]) => {
                let a = self.negate(args.remove(0), span)?;
                let floor = self.table_function("floor", vec![a], span)?;
                self.negate(floor, span)?
            }
            ("trunc", [Value::Num(..)]) => {
                let a = self.shared(args.remove(0))?;
                let floor = self.apply("floor", vec![a.clone()], span)?;
                let ceil = self.apply("ceil", vec![a.clone()], span)?;
                let less = self.binary(Binary::Lt, a, Value::Num(ScalarExpr::Lit(Literal::Int(0)), None), span)?;
                let less = self.condition_of(less, span)?;
                self.choice(less, ceil, floor, span)?
            }
            ("round", [Value::Num(..)]) => self.round(args.remove(0), span)?,
            ("float", [Value::Num(x, Some(Ty::Int))]) => {
                let to = self.expected_type.filter(|t| *t != Ty::Int).unwrap_or(Ty::F);
                Value::Num(self.convert(x.clone(), Ty::Int, to, span)?, Some(to))
            }
            ("float", [Value::Num(..)]) => args.remove(0),
            _ => return self.host_library(name, args, span),
        };
        Ok(Ok(value))
    }

    /// The value of a function of the host's libraries; gives the arguments back if none has this name.
    fn host_library(&mut self, name: &str, mut args: Vec<Value>, span: &Span) -> Done<Result<Value, Vec<Value>>> {
        let value = match (name, args.as_slice()) {
            ("iszero" | "isone", [Value::Num(..) | Value::Bool(_)]) => {
                let of = i128::from(name == "isone");
                let of = Value::Num(ScalarExpr::Lit(Literal::Int(of)), None);
                self.binary(Binary::Eq, args.remove(0), of, span)?
            }
            // The remainder from 1 to n.
            ("mod1", [_, _]) => {
                let one = || Value::Num(ScalarExpr::Lit(Literal::Int(1)), None);
                let n = args.pop().ok_or(Stop)?;
                let before = self.arithmetic(Binary::Sub, args.remove(0), one(), span)?;
                let rest = self.apply("mod", vec![before, n], span)?;
                self.arithmetic(Binary::Add, rest, one(), span)?
            }
            // The logarithm of 1 + exp(x), and of 1 - exp(x).
            ("gaussian_log" | "gaussian_nlog", [_]) => {
                let exp = self.apply("exp", args, span)?;
                let exp = if name == "gaussian_log" { exp } else { self.negate(exp, span)? };
                self.apply("log1p", vec![exp], span)?
            }
            ("content", [Value::Tropical(x, ty)]) => Value::Num(x.clone(), Some(*ty)),
            ("content", [Value::Log(log, _)]) => Value::Num(log.clone(), Some(Ty::F)),
            ("content", [Value::Num(x, Some(Ty::L))]) => {
                let log = TableFn::Q(q_fn::Name::LogL);
                Value::Num(ScalarExpr::Apply(log, vec![x.clone()]), Some(Ty::Q))
            }
            _ => return self.nilang_function(name, args, span),
        };
        Ok(Ok(value))
    }

    /// The quotient of integers, rounded up.
    fn quotient_up(&mut self, args: Vec<Value>, span: &Span) -> Done<Value> {
        let mut xs = Vec::new();
        for v in args {
            let x = self.integer(v, span)?;
            xs.push(ScalarExpr::from(self.put(Ty::Int, x)?));
        }
        let of = |name| function(Ty::Int, Ty::Int, name, 2).ok_or(Stop);
        let quotient = ScalarExpr::from(self.put(Ty::Int, ScalarExpr::Apply(of("div")?, xs.clone()))?);
        let divisor = xs.pop().ok_or(Stop)?;
        let back = ScalarExpr::Apply(of("mul")?, vec![quotient.clone(), divisor]);
        let rest = ScalarExpr::cmp(Cond::Ne, Ty::Int, back, xs.pop().ok_or(Stop)?);
        Ok(Value::Num(ScalarExpr::Apply(of("plus")?, vec![quotient, rest]), Some(Ty::Int)))
    }

    /// The logarithm to base 10. For `Float64` the factor has more digits than a double.
    fn log10(&mut self, args: Vec<Value>, span: &Span) -> Done<Value> {
        let log = self.table_function("log", args, span)?;
        let float = |x: f64| Value::Num(ScalarExpr::Lit(Literal::Float(x)), None);
        let Value::Num(x, Some(Ty::F)) = log else {
            return self.arithmetic(Binary::Div, log, float(std::f64::consts::LN_10), span);
        };
        let log = Value::Num(ScalarExpr::from(self.put(Ty::F, x)?), Some(Ty::F));
        let product = self.arithmetic(Binary::Mul, log.clone(), float(LOG10_E[0]), span)?;
        let product = self.shared(product)?;
        let minus = self.negate(product.clone(), span)?;
        let rest = self.table_function("muladd", vec![log.clone(), float(LOG10_E[0]), minus], span)?;
        let rest = self.table_function("muladd", vec![log, float(LOG10_E[1]), rest], span)?;
        self.arithmetic(Binary::Add, product, rest, span)
    }

    /// Whether a function of this number is to be one of `Float64`.
    fn is_double(&self, x: &Value) -> bool {
        match x {
            Value::Num(_, Some(Ty::Q | Ty::L)) => false,
            Value::Num(_, Some(Ty::F)) => true,
            Value::Num(..) | Value::Bool(_) => !matches!(self.expected_type, Some(Ty::Q | Ty::L)),
            _ => false,
        }
    }

    /// The nearest integer; of two, the even one.
    fn round(&mut self, a: Value, span: &Span) -> Done<Value> {
        let a = self.shared(a)?;
        let floor = self.apply("floor", vec![a.clone()], span)?;
        let floor = self.shared(floor)?;
        let above =
            self.arithmetic(Binary::Add, floor.clone(), Value::Num(ScalarExpr::Lit(Literal::Int(1)), None), span)?;
        let rest = self.arithmetic(Binary::Sub, a, floor.clone(), span)?;
        let rest = self.shared(rest)?;
        let half = || Value::Num(ScalarExpr::Lit(Literal::Real("0.5".into())), None);
        // An integer is even if its half is an integer.
        let halved = self.arithmetic(Binary::Mul, floor.clone(), half(), span)?;
        let halved = self.shared(halved)?;
        let whole = self.apply("floor", vec![halved.clone()], span)?;
        let mut test = |op, a: Value, b: Value| {
            let v = self.binary(op, a, b, span)?;
            self.condition_of(v, span)
        };
        let even = test(Binary::Eq, whole, halved)?;
        let near = test(Binary::Lt, rest.clone(), half())?;
        let tie = test(Binary::Eq, rest, half())?;
        let down = ScalarExpr::Or(Box::new(near), Box::new(ScalarExpr::And(Box::new(tie), Box::new(even))));
        self.choice(down, floor, above, span)
    }
}
