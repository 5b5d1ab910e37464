//! The parts of values, and what layers they have.

use super::{Value, View};
use crate::errors::Failure;

impl Value {
    /// How many parts a tuple has; of a bundle, its primal's. `None` if it is none.
    pub fn arity(&self) -> Option<usize> {
        match self {
            Value::Unit(_) => Some(0),
            Value::Pair(..) => Some(2),
            Value::Tuple(_, parts) => Some(parts.0.len()),
            Value::Bundle(_, parts) => parts.0.arity(),
            Value::Bool(..) | Value::Int(..) | Value::Real(..) | Value::Symbol(..) => None,
            Value::Sum(..) | Value::Array(..) | Value::Closure(..) => None,
        }
    }

    /// A part of a tuple, seen through its views; `None` if there is none.
    ///
    /// # Errors
    /// If the part does not have the layers that a view takes off.
    pub fn part(&self, index: usize) -> Result<Option<Value>, Failure> {
        Ok(Some(match self {
            Value::Pair(word, parts) => match index {
                0 => parts.0.clone().through(*word)?,
                1 => parts.1.clone().through(*word)?,
                _ => return Ok(None),
            },
            Value::Tuple(word, parts) => match parts.0.get(index) {
                Some(part) => part.clone().through(*word)?,
                None => return Ok(None),
            },
            Value::Bundle(word, parts) => match (parts.0.part(index)?, parts.1.part(index)?) {
                (Some(p), Some(t)) => Value::bundle(p, t)?.through(*word)?,
                (None, None) => return Ok(None),
                (Some(_), None) | (None, Some(_)) => return Err(Value::unlike(&parts.0, &parts.1)),
            },
            Value::Unit(_) | Value::Bool(..) | Value::Int(..) | Value::Real(..) | Value::Symbol(..) => return Ok(None),
            Value::Sum(..) | Value::Array(..) | Value::Closure(..) => return Ok(None),
        }))
    }

    /// A part of the sensitivity of a function, which is a tuple or a function that stands for one.
    ///
    /// # Errors
    /// If the part does not have the layers that a view takes off.
    pub fn captured(&self, index: usize, of: usize) -> Result<Option<Value>, Failure> {
        match self {
            Value::Closure(_, word, env) if env.values.len() == of => match env.values.get(index) {
                Some(value) => Ok(Some(value.clone().through(*word)?)),
                None => Ok(None),
            },
            Value::Bundle(word, parts) if parts.0.stands_for_function() => {
                match (parts.0.captured(index, of)?, parts.1.captured(index, of)?) {
                    (Some(p), Some(t)) => Ok(Some(Value::bundle(p, t)?.through(*word)?)),
                    _ => Ok(None),
                }
            }
            other if other.arity() == Some(of) => other.part(index),
            _ => Ok(None),
        }
    }

    /// Whether it is a number, maybe with a tangent.
    pub(crate) fn is_number(&self) -> bool {
        match self {
            Value::Int(..) | Value::Real(..) => true,
            Value::Bundle(_, parts) => parts.0.is_number(),
            Value::Unit(_) | Value::Bool(..) | Value::Symbol(..) | Value::Closure(..) => false,
            Value::Pair(..) | Value::Tuple(..) | Value::Array(..) | Value::Sum(..) => false,
        }
    }

    fn stands_for_function(&self) -> bool {
        match self {
            Value::Closure(..) => true,
            Value::Bundle(_, parts) => parts.0.stands_for_function(),
            Value::Unit(_) | Value::Bool(..) | Value::Int(..) | Value::Real(..) | Value::Symbol(..) => false,
            Value::Pair(..) | Value::Tuple(..) | Value::Array(..) | Value::Sum(..) => false,
        }
    }

    /// A sum's constructor and payload; `None` if it is no sum.
    ///
    /// # Errors
    /// If the payload does not have the layers that a view takes off, or a tangent has another constructor.
    pub fn case(&self) -> Result<Option<(u32, Value)>, Failure> {
        match self {
            Value::Sum(word, sum) => Ok(Some((sum.0, sum.1.clone().through(*word)?))),
            Value::Bundle(word, parts) => match (parts.0.case()?, parts.1.case()?) {
                (Some((m, p)), Some((n, t))) if m == n => Ok(Some((m, Value::bundle(p, t)?.through(*word)?))),
                _ => Err(Value::unlike(&parts.0, &parts.1)),
            },
            Value::Unit(_) | Value::Bool(..) | Value::Int(..) | Value::Real(..) | Value::Symbol(..) => Ok(None),
            Value::Pair(..) | Value::Tuple(..) | Value::Array(..) | Value::Closure(..) => Ok(None),
        }
    }

    /// Whether it can be applied.
    pub fn is_function(&self) -> bool {
        match self {
            Value::Closure(_, word, _) => {
                !word.views().any(|v| matches!(v, View::Sense | View::Perturb | View::Tangent))
            }
            Value::Bundle(word, parts) => word.is_none() && parts.0.is_function(),
            Value::Unit(_) | Value::Bool(..) | Value::Int(..) | Value::Real(..) | Value::Symbol(..) => false,
            Value::Pair(..) | Value::Tuple(..) | Value::Array(..) | Value::Sum(..) => false,
        }
    }

    /// The outermost layer: of a structure built from parts with layers, that of its first number.
    pub fn layer(&self) -> Option<View> {
        let mut value = self.clone();
        loop {
            match value.word().top() {
                Some(View::Close) => return Some(View::Forward),
                Some(view @ (View::Reverse | View::Sense | View::Perturb | View::Forward)) => return Some(view),
                _ => {}
            }
            value = match &value {
                Value::Bundle(..) => return Some(View::Forward),
                Value::Pair(..) | Value::Tuple(..) => value.part(0).ok()??,
                Value::Array(..) => value.element(0).ok()??,
                Value::Sum(..) => value.case().ok()??.1,
                Value::Unit(_) | Value::Bool(..) | Value::Int(..) | Value::Real(..) | Value::Symbol(..) => return None,
                Value::Closure(..) => return None,
            };
        }
    }

    /// The layer that all numbers of a structure have outside; `None` if they have none, differ, or are very many.
    pub(crate) fn common_layer(&self) -> Option<View> {
        let layer = self.layer()?;
        let mut waiting = vec![self.clone()];
        for _ in 0..100_000 {
            let Some(value) = waiting.pop() else { return Some(layer) };
            if value.word().top() == Some(layer) {
                continue;
            }
            match &value {
                Value::Pair(..) | Value::Tuple(..) => {
                    for n in 0..value.arity()? {
                        waiting.push(value.part(n).ok()??);
                    }
                }
                Value::Array(..) => {
                    for n in 0..value.length()? {
                        waiting.push(value.element(n).ok()??);
                    }
                }
                Value::Sum(..) => waiting.push(value.case().ok()??.1),
                Value::Unit(_) | Value::Bool(..) | Value::Int(..) | Value::Real(..) | Value::Symbol(..) => return None,
                Value::Closure(..) | Value::Bundle(..) => return None,
            }
        }
        None
    }
}
