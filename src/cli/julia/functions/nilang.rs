//! Functions of NiLang about reversible functions.

use super::super::eval::{Evaluated, Machine, Stop, thrown, unknown};
use super::super::reversible::CHANGES;
use super::super::value::{Func, Value};
use super::{index, items};

impl Machine<'_> {
    /// Functions of NiLang.
    pub(super) fn of_reversible(
        &mut self,
        name: &str,
        args: &[Value],
        keywords: &[(String, Value)],
    ) -> Option<Evaluated<Value>> {
        if CHANGES.contains(&name) {
            let [f] = args else { return Some(unknown(format!("`{name}` takes a function"))) };
            return Some(Ok(Value::Function(Func::Reversible(format!("{name}({f})"), false))));
        }
        let keyword = |wanted: &str| keywords.iter().find(|(name, _)| name == wanted).map(|(_, v)| v.clone());
        let rest = || -> Vec<(String, Value)> {
            let known = ["verbose", "atol", "iloss", "seed"];
            keywords.iter().filter(|(name, _)| !known.contains(&name.as_str())).cloned().collect()
        };
        let absolute = keyword("atol").and_then(|v| v.real()).unwrap_or(1e-8);
        let loss = keyword("iloss").and_then(|v| if let Value::Int(k) = v { usize::try_from(k).ok() } else { None });
        Some(match (name, args) {
            ("check_inv", [f @ Value::Function(Func::Reversible(..)), Value::Tuple(args)]) => {
                self.check_inv(f, args, &rest(), absolute)
            }
            ("check_grad", [f @ Value::Function(Func::Reversible(..)), Value::Tuple(args)]) => match loss {
                Some(loss) => self.check_grad(f, args, &rest(), loss),
                None => unknown("`check_grad` without `iloss`"),
            },
            ("gradient", [f, Value::Tuple(args)]) => match loss {
                Some(loss) => self.gradients(f, args, &rest(), loss).map(Value::Tuple),
                None => unknown("`gradient` without `iloss`"),
            },
            // The number of the loss as a type.
            ("Val", [Value::Int(k)]) => {
                Ok(Value::Struct("Val".to_string(), vec![("number".to_string(), Value::Int(*k))]))
            }
            ("gradient", [Value::Struct(val, parts), f, Value::Tuple(args)]) if val == "Val" => match &parts[..] {
                [(_, Value::Int(k))] => {
                    let loss = usize::try_from(*k).unwrap_or(0);
                    self.gradients(f, args, &rest(), loss).map(Value::Tuple)
                }
                _ => unknown("`gradient`"),
            },
            ("gradient", [Value::Function(Func::Builtin(_)), ..]) | ("Val", _) => unknown(format!("`{name}`")),
            ("macroexpand", [_, Value::Code(text)]) => {
                self.reversible.expand(&self.at, text).map(|()| Value::Symbol("expanded".to_string()))
            }
            ("Grad", _) => unknown("`Grad(f)` gives numbers that carry gradients"),
            ("almost_same", [a, b]) => Ok(Value::Bool(a.near_in_parts(b, 0.0, absolute))),
            ("all_isapprox" | "almost_equal", [a, b]) => Ok(Value::Bool(a.near_in_parts(b, 0.0, absolute))),
            _ => return None,
        })
    }

    /// Whether a function brings its arguments back.
    fn check_inv(
        &mut self,
        f: &Value,
        args: &[Value],
        keywords: &[(String, Value)],
        absolute: f64,
    ) -> Evaluated<Value> {
        let start: Vec<Value> = args.iter().map(Value::copied).collect();
        let inverse = match f {
            Value::Function(Func::Reversible(name, inverse)) => {
                Value::Function(Func::Reversible(name.clone(), !inverse))
            }
            _ => return unknown("the inverse of a function"),
        };
        let whole = |v: Value, one: bool| if one { Value::Tuple(vec![v]) } else { v };
        let one = args.len() == 1;
        let copies = start.iter().map(Value::copied).collect();
        let there = whole(self.apply(f, copies, keywords, false)?, one);
        let back = whole(self.apply(&inverse, items(&there)?, keywords, false)?, one);
        if !back.near_in_parts(&Value::Tuple(start.clone()), 0.0, absolute) {
            return Ok(Value::Bool(false));
        }
        // And the other way round, from where it has begun.
        let copies = start.iter().map(Value::copied).collect();
        let Ok(before) = self.apply(&inverse, copies, keywords, false) else { return Ok(Value::Bool(true)) };
        let again = whole(self.apply(f, items(&whole(before, one))?, keywords, false)?, one);
        Ok(Value::Bool(again.near_in_parts(&Value::Tuple(start), 0.0, absolute)))
    }

    /// The derivatives of an argument after a call by all before it.
    fn gradients(
        &mut self,
        f: &Value,
        args: &[Value],
        keywords: &[(String, Value)],
        loss: usize,
    ) -> Evaluated<Vec<Value>> {
        let Value::Function(Func::Reversible(name, inverse)) = f else {
            return unknown("the gradient of a function of the host");
        };
        let call = if *inverse { format!("(~{name})") } else { name.clone() };
        self.note_constants();
        let found = self.reversible.gradient(&self.at.clone(), &call, args, (keywords, loss))?;
        let zero = |v: &Value| match v {
            Value::Float(_) | Value::Fixed(_) => Value::Float(0.0),
            Value::Int(_) => Value::Int(0),
            other => other.clone(),
        };
        Ok(args.iter().zip(found).map(|(arg, g)| g.unwrap_or_else(|| zero(arg))).collect())
    }

    /// Whether a function's gradient agrees with differences of its values.
    fn check_grad(&mut self, f: &Value, args: &[Value], keywords: &[(String, Value)], loss: usize) -> Evaluated<Value> {
        let gradients = self.gradients(f, args, keywords, loss)?;
        let value = |machine: &mut Self, args: Vec<Value>| -> Evaluated<f64> {
            let after = machine.apply(f, args, keywords, false)?;
            let after = if loss == 1 && !matches!(after, Value::Tuple(_)) {
                after
            } else {
                index(&after, &[Some(Value::Int(loss as i64))])?
            };
            after.real().ok_or_else(|| Stop::Unknown("a loss that is no number".into()))
        };
        for (n, (arg, gradient)) in args.iter().zip(&gradients).enumerate() {
            for (k, x) in items(arg).unwrap_or_default().iter().enumerate() {
                let (Value::Float(x) | Value::Fixed(x)) = x else { continue };
                let Some(found) = items(gradient)?.get(k).and_then(Value::real) else {
                    return unknown("the gradient of a part");
                };
                let step = 1e-5 * x.abs().max(1.0);
                let mut beside = |by: f64| {
                    let mut copies: Vec<Value> = args.iter().map(Value::copied).collect();
                    let moved = |v: &Value, x: f64| {
                        if matches!(v, Value::Fixed(_)) { Value::Fixed(x) } else { Value::Float(x) }
                    };
                    match &copies[n] {
                        Value::Array(a) => {
                            let mut a = a.borrow_mut();
                            a.items[k] = moved(&a.items[k], x + by);
                        }
                        Value::Tuple(_) => return unknown("the gradient of a tuple"),
                        other => copies[n] = moved(other, x + by),
                    }
                    value(self, copies)
                };
                let difference = (beside(step)? - beside(-step)?) / (2.0 * step);
                if (difference - found).abs() > 1e-5 * (1.0 + difference.abs().max(found.abs())) {
                    return thrown(format!(
                        "the derivative by number {} of argument {} is {found:?}, and differences give {difference:?}",
                        k + 1,
                        n + 1
                    ));
                }
            }
        }
        Ok(Value::Bool(true))
    }
}
