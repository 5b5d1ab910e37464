//! Arrays: numbers and truth values side by side, other elements boxed.

use std::rc::Rc;

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
    /// Zeros of one shape, so many.
    Zeros(usize, Value),
    /// An array of zeros in which few elements differ. The way back makes one for each element that a program takes out of an array.
    Sparse(Value, Vec<(usize, Value)>),
}

/// How many elements of a sparse array may differ, and how long an array must be to be sparse.
const FEW: usize = 8;

impl Array {
    fn bytes(&self) -> usize {
        match self {
            Array::Real(v) => v.capacity() * 8 + 56,
            Array::Int(_, v) => v.capacity() * 8 + 56,
            Array::Bool(v) => v.capacity() + 56,
            Array::Boxed(v) => v.capacity() * size_of::<Value>() + 56,
            Array::Zeros(..) => 56,
            Array::Sparse(_, v) => v.capacity() * size_of::<(usize, Value)>() + 72,
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

    /// An array of zeros with one element that differs, or nothing if it is too short for that.
    pub(crate) fn sparse(zeros: Value, index: usize, value: Value) -> Option<Array> {
        if zeros.length()? <= FEW {
            return None;
        }
        Some(Array::Sparse(zeros, vec![(index, value)]).counted())
    }

    /// The zeros of an array's numbers, which hold nothing of it; `None` where elements may differ in shape.
    pub(crate) fn zeros(&self) -> Option<Array> {
        let zero = match self {
            Array::Real(_) => Value::real(0.0),
            Array::Int(ty, _) => Value::int(*ty, 0),
            Array::Bool(_) => Value::bool(false),
            Array::Zeros(_, zero) => zero.clone(),
            // The arrays in an array have the same sizes, and its numbers the same layers.
            Array::Boxed(v) => match v.first()? {
                Value::Array(word, inside) => Value::Array(*word, Rc::new(inside.zeros()?)),
                number if number.is_number() => number.clone().through(Word::one(View::Zero)).ok()?,
                _ => return None,
            },
            Array::Sparse(..) => return None,
        };
        Some(Array::Zeros(self.len(), zero).counted())
    }

    /// Whether it is sparse, and has no room for an element of its own at an index.
    fn is_full_at(&self, index: usize) -> bool {
        match self {
            Array::Sparse(_, few) => few.len() >= FEW && few.iter().all(|(at, _)| *at != index),
            Array::Real(_) | Array::Int(..) | Array::Bool(_) | Array::Boxed(_) | Array::Zeros(..) => false,
        }
    }

    /// Replaces an element that is there.
    pub(crate) fn set(&mut self, index: usize, value: Value) {
        match (&mut *self, &value) {
            (Array::Real(v), Value::Real(w, x)) if w.is_none() => v[index] = *x,
            (Array::Int(ty, v), Value::Int(other, w, x)) if w.is_none() && ty == other => v[index] = *x,
            (Array::Bool(v), Value::Bool(w, x)) if w.is_none() => v[index] = *x,
            (Array::Boxed(v), _) => v[index] = value,
            (Array::Sparse(_, few), _) => match few.iter_mut().find(|(at, _)| *at == index) {
                Some((_, old)) => *old = value,
                None => {
                    let before = few.capacity();
                    few.push((index, value));
                    let grown = few.capacity() - before;
                    if grown > 0 {
                        hold(grown * size_of::<(usize, Value)>());
                    }
                }
            },
            (Array::Real(_) | Array::Int(..) | Array::Bool(_) | Array::Zeros(..), _) => {
                let mut all: Vec<Value> = self.iter().collect();
                all[index] = value;
                *self = Array::of(all);
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
            Array::Zeros(n, _) => *n,
            Array::Sparse(zeros, _) => zeros.length().unwrap_or(0),
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
            Array::Zeros(n, zero) => (index < *n).then(|| zero.clone()),
            Array::Sparse(zeros, few) => match few.iter().find(|(at, _)| *at == index) {
                Some((_, value)) => Some(value.clone()),
                None => zeros.element(index).ok().flatten(),
            },
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
        if let Array::Zeros(n, zero) = self {
            return Ok(Array::Zeros(*n, zero.clone().through(word)?).counted());
        }
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
            Array::Zeros(n, zero) => Array::Zeros(*n, zero.clone()),
            Array::Sparse(zeros, few) => Array::Sparse(zeros.clone(), few.clone()),
        }
        .counted()
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        let_go(self.bytes());
        match self {
            Array::Boxed(values) => release(values),
            Array::Zeros(_, zero) => release(std::slice::from_mut(zero)),
            Array::Sparse(zeros, few) => {
                release(std::slice::from_mut(zeros));
                release(&mut few.iter_mut().map(|(_, value)| value.take()).collect::<Vec<_>>());
            }
            Array::Real(_) | Array::Int(..) | Array::Bool(_) => {}
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
        Value::Array(word, Rc::new(Array::of(plain)))
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

    /// An array with another element, in place if nobody else has it; the array is long enough.
    ///
    /// # Errors
    /// If an element does not have the layers that a view takes off.
    pub(crate) fn with_element(array: Rc<Array>, word: Word, index: usize, value: Value) -> Result<Value, Failure> {
        let (mut array, mut word) = (array, word);
        if array.is_full_at(index) {
            let all = array.iter().map(|x| x.through(word)).collect::<Result<Vec<_>, _>>()?;
            if let Value::Array(w, dense) = Value::array_of(all) {
                (array, word) = (dense, w);
            }
        }
        let value = match word.inverse() {
            Some(off) if value.layered(word) => value.through(off)?,
            _ => {
                let all: Vec<Value> = array.iter().map(|x| x.through(word)).collect::<Result<_, _>>()?;
                array = Rc::new(Array::boxed(all));
                word = Word::NONE;
                value
            }
        };
        Rc::make_mut(&mut array).set(index, value);
        Ok(Value::Array(word, array))
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
