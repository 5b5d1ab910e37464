//! Values seen through views.

use std::rc::Rc;

use super::{Value, View, Word, nesting, word_of};
use crate::errors::{Failure, LEVEL};

/// How deep in each other tuples may be whose arrays are looked for.
const DEEPEST: u32 = 4;

impl Value {
    /// The value through some views.
    ///
    /// # Errors
    /// If the value does not have the layers that a view takes off.
    #[inline]
    pub fn through(self, word: Word) -> Result<Value, Failure> {
        if word.is_none() { Ok(self) } else { self.see(word) }
    }

    fn see(self, word: Word) -> Result<Value, Failure> {
        match self {
            Value::Pair(..) | Value::Tuple(..) | Value::Sum(..) | Value::Array(..) | Value::Closure(..) => {
                if word.has(View::Zero)
                    && let Some(zero) = self.zeros(word)?
                {
                    return Ok(zero);
                }
                match self.word().then(word) {
                    Some(whole) => Ok(self.with_word(whole)),
                    None => Ok(self.settle()?.with_word(word)),
                }
            }
            Value::Unit(_) | Value::Bool(..) | Value::Int(..) | Value::Real(..) | Value::Symbol(..) => {
                match word.single() {
                    Some(view) => self.see_flat(view),
                    None => word.views().try_fold(self, Value::see_flat),
                }
            }
            Value::Bundle(..) => match self.see_part(word) {
                Some(part) => Ok(part),
                None => self.see_bundle(word),
            },
        }
    }

    /// Through views of which one is zero, what holds none of the arrays in it; `None` if there is nothing of that kind.
    fn zeros(&self, word: Word) -> Result<Option<Value>, Failure> {
        match self {
            // The other views change layers only, in whatever order.
            Value::Array(own, array) => Ok(own.then(word.without(View::Zero)).and_then(|whole| {
                let zeros = array.zeros()?;
                Some(Value::Array(whole, Rc::new(zeros)))
            })),
            Value::Pair(..) | Value::Tuple(..) if self.has_array(DEEPEST) => match self.word().then(word) {
                Some(whole) => Ok(Some(self.clone().with_word(whole).settle()?)),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// Whether an array is among the parts of a tuple, or of a tuple in it.
    fn has_array(&self, depth: u32) -> bool {
        let inside = |part: &Value| match part {
            Value::Array(..) => true,
            Value::Pair(..) | Value::Tuple(..) => depth > 0 && part.has_array(depth - 1),
            _ => false,
        };
        match self {
            Value::Pair(_, parts) => inside(&parts.0) || inside(&parts.1),
            Value::Tuple(_, parts) => parts.0.iter().any(inside),
            _ => false,
        }
    }

    fn layers(&self, view: View) -> Result<Word, Failure> {
        let word = self.word();
        let wanted = match view {
            View::Reverse | View::Sense | View::Perturb | View::Forward => return word.push(view).ok_or_else(nesting),
            View::Close => return word.push(View::Forward).ok_or_else(nesting),
            View::Unreverse => View::Reverse,
            View::Unsense => View::Sense,
            View::Unperturb => View::Perturb,
            View::Primal | View::Tangent | View::Open => View::Forward,
            View::Zero => return Ok(word),
        };
        if word.top() == Some(wanted) {
            return Ok(word.pop());
        }
        Err(Failure::new(LEVEL, format!("`{}` needs a {} value", view.name(), wanted.name())).with(self))
    }

    fn see_flat(self, view: View) -> Result<Value, Failure> {
        let word = self.layers(view)?;
        Ok(match (self, view) {
            (Value::Real(..), View::Zero | View::Tangent) => Value::Real(word, 0.0),
            (Value::Int(ty, ..), View::Zero | View::Tangent) => Value::Int(ty, word, 0),
            (value, _) => value.with_word(word),
        })
    }

    /// The common views of a bundle that nobody looks at through others.
    #[inline]
    fn see_part(&self, word: Word) -> Option<Value> {
        match (self, word.single()) {
            (Value::Bundle(own, parts), Some(View::Primal)) if own.is_none() => Some(parts.0.clone()),
            (Value::Bundle(own, parts), Some(View::Tangent)) if own.is_none() => Some(parts.1.clone()),
            _ => None,
        }
    }

    fn see_bundle(self, word: Word) -> Result<Value, Failure> {
        let mut value = self;
        let views: Vec<View> = word.views().collect();
        let mut n = 0;
        while n < views.len() {
            let view = views[n];
            n += 1;
            let Value::Bundle(own, parts) = &value else {
                let rest = word_of(&views[n - 1..])?;
                return value.through(rest);
            };
            value = match view {
                View::Primal if own.is_none() => parts.0.clone(),
                View::Tangent if own.is_none() => parts.1.clone(),
                View::Open if own.is_none() => {
                    let mut depth = 1;
                    let start = n;
                    while n < views.len() {
                        match views[n] {
                            View::Open => depth += 1,
                            View::Close => depth -= 1,
                            _ => {}
                        }
                        if depth == 0 {
                            break;
                        }
                        n += 1;
                    }
                    let inside = word_of(&views[start..n])?;
                    n += 1;
                    Value::bundle(parts.0.clone().through(inside)?, parts.1.clone().through(inside)?)?
                }
                View::Zero => {
                    let zero = Word::one(View::Zero);
                    let (p, t) = (parts.0.clone().through(zero)?, parts.1.clone().through(zero)?);
                    Value::bundle(p, t)?.with_word(*own)
                }
                View::Tangent if own.top() == Some(View::Forward) => {
                    let inner = own.pop();
                    value.with_word(inner).through(Word::one(View::Zero))?
                }
                _ => {
                    let layers = value.layers(view)?;
                    value.with_word(layers)
                }
            };
        }
        Ok(value)
    }

    /// A structure whose parts have been seen through its views; it has none left.
    ///
    /// # Errors
    /// If a part does not have the layers that a view takes off.
    pub fn settle(self) -> Result<Value, Failure> {
        let word = self.word();
        if word.is_none() {
            return Ok(self);
        }
        Ok(match self {
            Value::Unit(_)
            | Value::Bool(..)
            | Value::Int(..)
            | Value::Real(..)
            | Value::Symbol(..)
            | Value::Bundle(..) => self,
            Value::Pair(_, parts) => Value::pair(parts.0.clone().through(word)?, parts.1.clone().through(word)?),
            Value::Tuple(_, parts) => {
                Value::tuple(parts.0.iter().map(|v| v.clone().through(word)).collect::<Result<_, _>>()?)
            }
            Value::Sum(_, sum) => Value::sum(sum.0, sum.1.clone().through(word)?),
            Value::Array(_, array) => Value::array(array.through(word)?),
            // The functions of a group are found through the views.
            Value::Closure(..) => return Err(nesting()),
        })
    }
}
