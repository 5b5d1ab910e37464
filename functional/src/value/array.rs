//! Arrays: numbers and truth values side by side, other elements boxed.

use super::{IntType, Value, View, Word, hold, let_go, release};
use crate::errors::Failure;

/// An array of one dimension. Arrays of arrays have elements that are arrays.
#[derive(Debug)]
pub enum Array {
    /// Real numbers.
    Real(Vec<f64>),
    /// Integers of one type.
    Int(IntType, Vec<i64>),
    /// Truth values.
    Bool(Vec<bool>),
    /// Other elements.
    Boxed(Vec<Value>),
}

impl Array {
    fn bytes(&self) -> usize {
        match self {
            Array::Real(v) => v.capacity() * 8 + 56,
            Array::Int(_, v) => v.capacity() * 8 + 56,
            Array::Bool(v) => v.capacity() + 56,
            Array::Boxed(v) => v.capacity() * size_of::<Value>() + 56,
        }
    }

    fn counted(self) -> Array {
        hold(self.bytes());
        self
    }

    /// Real numbers.
    pub fn reals(values: Vec<f64>) -> Array {
        Array::Real(values).counted()
    }

    /// Integers.
    pub fn ints(ty: IntType, values: Vec<i64>) -> Array {
        Array::Int(ty, values).counted()
    }

    /// Truth values.
    pub fn bools(values: Vec<bool>) -> Array {
        Array::Bool(values).counted()
    }

    /// Values, side by side if they are numbers or truth values without layers.
    pub fn of(values: Vec<Value>) -> Array {
        match values.first() {
            Some(Value::Real(w, _)) if w.is_none() => {
                let all: Option<Vec<f64>> = values.iter().map(|v| v.plain_real()).collect();
                if let Some(all) = all {
                    return Array::reals(all);
                }
            }
            Some(Value::Int(ty, w, _)) if w.is_none() => {
                let ty = *ty;
                let all: Option<Vec<i64>> = values.iter().map(|v| v.plain_int(ty)).collect();
                if let Some(all) = all {
                    return Array::ints(ty, all);
                }
            }
            Some(Value::Bool(w, _)) if w.is_none() => {
                let all: Option<Vec<bool>> = values.iter().map(|v| v.plain_bool()).collect();
                if let Some(all) = all {
                    return Array::bools(all);
                }
            }
            _ => {}
        }
        Array::Boxed(values).counted()
    }

    pub(crate) fn boxed(values: Vec<Value>) -> Array {
        Array::Boxed(values).counted()
    }

    /// Replaces an element that is there.
    pub(crate) fn set(&mut self, index: usize, value: Value) {
        match (&mut *self, &value) {
            (Array::Real(v), Value::Real(w, x)) if w.is_none() => v[index] = *x,
            (Array::Int(ty, v), Value::Int(other, w, x)) if w.is_none() && ty == other => v[index] = *x,
            (Array::Bool(v), Value::Bool(w, x)) if w.is_none() => v[index] = *x,
            (Array::Boxed(v), _) => v[index] = value,
            (Array::Real(_) | Array::Int(..) | Array::Bool(_), _) => {
                let mut all: Vec<Value> = self.iter().collect();
                all[index] = value;
                *self = Array::boxed(all);
            }
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            Array::Real(v) => v.len(),
            Array::Int(_, v) => v.len(),
            Array::Bool(v) => v.len(),
            Array::Boxed(v) => v.len(),
        }
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An element.
    pub fn get(&self, index: usize) -> Option<Value> {
        match self {
            Array::Real(v) => v.get(index).map(|x| Value::real(*x)),
            Array::Int(ty, v) => v.get(index).map(|x| Value::int(*ty, *x)),
            Array::Bool(v) => v.get(index).map(|x| Value::bool(*x)),
            Array::Boxed(v) => v.get(index).cloned(),
        }
    }

    /// The elements.
    pub fn iter(&self) -> impl Iterator<Item = Value> {
        (0..self.len()).filter_map(|n| self.get(n))
    }

    /// The elements through some views.
    ///
    /// # Errors
    /// If an element does not have the layers that a view takes off.
    pub fn through(&self, word: Word) -> Result<Array, Failure> {
        Ok(Array::of(self.iter().map(|v| v.through(word)).collect::<Result<_, _>>()?))
    }
}

impl Clone for Array {
    fn clone(&self) -> Array {
        match self {
            Array::Real(v) => Array::Real(v.clone()),
            Array::Int(ty, v) => Array::Int(*ty, v.clone()),
            Array::Bool(v) => Array::Bool(v.clone()),
            Array::Boxed(v) => Array::Boxed(v.clone()),
        }
        .counted()
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        let_go(self.bytes());
        if let Array::Boxed(values) = self {
            release(values);
        }
    }
}

impl Value {
    /// An array of values. Layers that all numbers have become the array's.
    pub fn array_of(values: Vec<Value>) -> Value {
        let word = match values.first() {
            Some(Value::Real(w, _) | Value::Int(_, w, _) | Value::Bool(w, _)) => *w,
            _ => Word::NONE,
        };
        if word.is_none() || !values.iter().all(|v| v.is_flat() && v.word() == word) {
            return Value::array(Array::of(values));
        }
        let plain = values.into_iter().map(|v| v.with_word(Word::NONE)).collect();
        Value::Array(word, std::rc::Rc::new(Array::of(plain)))
    }

    /// The number of elements of an array; of a bundle, its primal's. `None` if it is none.
    pub fn length(&self) -> Option<usize> {
        match self {
            Value::Array(_, array) => Some(array.len()),
            Value::Bundle(_, parts) => parts.0.length(),
            Value::Unit(_) | Value::Bool(..) | Value::Int(..) | Value::Real(..) | Value::Symbol(..) => None,
            Value::Pair(..) | Value::Tuple(..) | Value::Sum(..) | Value::Closure(..) => None,
        }
    }

    /// An element of an array, seen through its views; `None` if there is none.
    ///
    /// # Errors
    /// If the element does not have the layers that a view takes off.
    pub fn element(&self, index: usize) -> Result<Option<Value>, Failure> {
        match self {
            Value::Array(word, array) => array.get(index).map(|x| x.through(*word)).transpose(),
            Value::Bundle(word, parts) => match (parts.0.element(index)?, parts.1.element(index)?) {
                (Some(p), Some(t)) => Ok(Some(Value::bundle(p, t)?.through(*word)?)),
                _ => Ok(None),
            },
            Value::Unit(_) | Value::Bool(..) | Value::Int(..) | Value::Real(..) | Value::Symbol(..) => Ok(None),
            Value::Pair(..) | Value::Tuple(..) | Value::Sum(..) | Value::Closure(..) => Ok(None),
        }
    }

    /// Whether a value has at least these layers outside.
    pub(crate) fn layered(&self, word: Word) -> bool {
        let (mut own, mut wanted) = (self.word(), word);
        while let Some(view) = wanted.top() {
            if own.top() != Some(view) || !matches!(view, View::Reverse | View::Sense | View::Perturb | View::Forward) {
                return false;
            }
            (own, wanted) = (own.pop(), wanted.pop());
        }
        true
    }

    /// A number without layers.
    pub fn plain_real(&self) -> Option<f64> {
        match self {
            Value::Real(w, x) if w.is_none() => Some(*x),
            _ => None,
        }
    }

    /// An integer of a type, without layers.
    pub fn plain_int(&self, wanted: IntType) -> Option<i64> {
        match self {
            Value::Int(ty, w, x) if w.is_none() && *ty == wanted => Some(*x),
            _ => None,
        }
    }

    /// A truth value without layers.
    pub fn plain_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(w, x) if w.is_none() => Some(*x),
            _ => None,
        }
    }
}
