//! Functions of NiLang's own library, and reductions of tuples.

use pendula_isa::Ty;

use super::body::Body;
use super::value::{Literal, ScalarExpr, Value};
use super::{Done, Stop};
use crate::nil::ast::{Binary, Span};

impl Body<'_, '_> {
    /// The value of a function of this module; gives the arguments back if none has this name.
    pub(super) fn nilang_function(
        &mut self,
        name: &str,
        mut args: Vec<Value>,
        span: &Span,
    ) -> Done<Result<Value, Vec<Value>>> {
        let of = match name {
            "prod" => "*",
            "maximum" => "max",
            "minimum" => "min",
            _ => "",
        };
        Ok(match (name, args.as_mut_slice()) {
            ("prod" | "maximum" | "minimum", [Value::Tuple(parts) | Value::Elements(parts)]) if !parts.is_empty() => {
                let mut parts = std::mem::take(parts);
                Ok(if parts.len() == 1 { parts.remove(0) } else { self.apply(of, parts, span)? })
            }
            ("plshift" | "prshift" | "arshift", [Value::Num(_, Some(Ty::Int)), _]) => {
                let n = args.pop().ok_or(Stop)?;
                Ok(self.shifted(name, args.remove(0), n, span)?)
            }
            ("isnothing", [v]) => {
                let is = *v == Value::Function("nothing".to_string());
                Ok(Value::Bool(ScalarExpr::Const(u64::from(is))))
            }
            // A point that is turned by an angle.
            ("rot", [_, _, _]) => {
                let Value::Tuple(mut turns) = self.apply("sincos", vec![args.pop().ok_or(Stop)?], span)? else {
                    return Err(Stop);
                };
                let (b, a) = (args.pop().ok_or(Stop)?, args.remove(0));
                let (cos, sin) = (turns.pop().ok_or(Stop)?, turns.pop().ok_or(Stop)?);
                let [a, b, cos, sin] = [self.shared(a)?, self.shared(b)?, self.shared(cos)?, self.shared(sin)?];
                let mut times = |x: &Value, y: &Value| self.arithmetic(Binary::Mul, x.clone(), y.clone(), span);
                let (ac, bs, on, bc) = (times(&a, &cos)?, times(&b, &sin)?, times(&a, &sin)?, times(&b, &cos)?);
                let first = self.arithmetic(Binary::Sub, ac, bs, span)?;
                Ok(Value::Tuple(vec![first, self.arithmetic(Binary::Add, on, bc, span)?]))
            }
            _ => Err(args),
        })
    }

    /// The shifts of NiLang: `plshift` and `prshift` bring the bits that leave at one end in at the other, as long as the
    /// integer is not negative; `arshift` keeps the sign.
    fn shifted(&mut self, name: &str, x: Value, n: Value, span: &Span) -> Done<Value> {
        const BITS: i128 = 64;
        let x = self.shared(x)?;
        let n = self.integer(n, span)?;
        let n: ScalarExpr = self.put(Ty::Int, n)?.into();
        let n = Value::Num(n, Some(Ty::Int));
        let literal = |n: i128| Value::Num(ScalarExpr::Lit(Literal::Int(n)), None);
        let (to, back) = if name == "plshift" { (Binary::Shl, Binary::Sar) } else { (Binary::Sar, Binary::Shl) };
        let one = self.arithmetic(to, x.clone(), n.clone(), span)?;
        let other = if name == "arshift" {
            self.arithmetic(Binary::And, x, literal(i64::MIN.into()), span)?
        } else {
            let rest = self.arithmetic(Binary::Sub, literal(BITS), n, span)?;
            self.arithmetic(back, x, rest, span)?
        };
        self.arithmetic(Binary::Or, one, other, span)
    }
}
