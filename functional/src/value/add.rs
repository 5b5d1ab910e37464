//! The sum of values of one shape.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::{Array, Env, Value, View, Word, apart};
use crate::errors::Failure;

/// What is left to do.
enum Task {
    Add(Value, Value),
    /// Makes a structure like this from the last sums; the second is remembered as the sum of these two.
    Make(Value, usize, Option<Key>),
    /// Puts layers around the last sum.
    Layer(Word),
}

type Key = (usize, u32, usize, u32);

/// After so many structures, sums of shared structures are remembered.
const SHARED: usize = 32;

impl Value {
    /// Whether all numbers in it are zero because of how it is seen or kept.
    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Value::Array(word, array) => word.has(View::Zero) || matches!(**array, Array::Zeros(..)),
            Value::Bundle(word, parts) => word.has(View::Zero) || parts.0.is_zero() && parts.1.is_zero(),
            _ => !self.is_flat() && self.word().has(View::Zero),
        }
    }

    /// Whether something else has it, too.
    fn is_shared(&self) -> bool {
        match self {
            Value::Pair(_, p) => Rc::strong_count(p) > 1,
            Value::Tuple(_, p) => Rc::strong_count(p) > 1,
            Value::Sum(_, p) => Rc::strong_count(p) > 1,
            Value::Array(_, p) => Rc::strong_count(p) > 1,
            Value::Closure(_, _, p) => Rc::strong_count(p) > 1,
            Value::Bundle(_, p) => Rc::strong_count(p) > 1,
            Value::Unit(_) | Value::Bool(..) | Value::Int(..) | Value::Real(..) | Value::Symbol(..) => false,
        }
    }

    fn address(&self) -> usize {
        match self {
            Value::Pair(_, p) => Rc::as_ptr(p).addr(),
            Value::Tuple(_, p) => Rc::as_ptr(p).addr(),
            Value::Sum(_, p) => Rc::as_ptr(p).addr(),
            Value::Array(_, p) => Rc::as_ptr(p).addr(),
            Value::Closure(_, _, p) => Rc::as_ptr(p).addr(),
            Value::Bundle(_, p) => Rc::as_ptr(p).addr(),
            Value::Unit(_) | Value::Bool(..) | Value::Int(..) | Value::Real(..) | Value::Symbol(..) => 0,
        }
    }

    /// The sum of two values of one shape, and how many numbers were added. A part that both share is added once.
    ///
    /// # Errors
    /// If the shapes differ.
    pub fn plus(a: Value, b: Value) -> Result<(Value, u64), Failure> {
        if let (Value::Real(v, x), Value::Real(w, y)) = (&a, &b)
            && v == w
        {
            return Ok((Value::Real(*v, x + y), 1));
        }
        let (mut added, mut visited) = (0, 0_usize);
        let mut known: FxHashMap<Key, Value> = FxHashMap::default();
        let mut done: Vec<Value> = Vec::new();
        let mut tasks = vec![Task::Add(a, b)];
        // Structures stay alive while their addresses are keys.
        let mut keep: Vec<(Value, Value)> = Vec::new();
        while let Some(task) = tasks.pop() {
            match task {
                Task::Layer(word) => {
                    let sum = done.pop().unwrap_or_default();
                    done.push(sum.through(word)?);
                }
                Task::Make(like, parts, key) => {
                    let rest = done.split_off(done.len() - parts);
                    let sum = make(&like, rest)?;
                    if let Some(key) = key {
                        known.insert(key, sum.clone());
                    }
                    done.push(sum);
                }
                Task::Add(a, b) => {
                    if a.is_zero() {
                        done.push(b);
                        continue;
                    }
                    if b.is_zero() {
                        done.push(a);
                        continue;
                    }
                    let outside = match (&a, &b) {
                        (Value::Bundle(word, _), _) | (_, Value::Bundle(word, _)) => *word,
                        _ => Word::NONE,
                    };
                    if !outside.is_none() {
                        let Some(off) = outside.inverse() else {
                            return Err(apart(&a, &b));
                        };
                        tasks.push(Task::Layer(outside));
                        tasks.push(Task::Add(a.through(off)?, b.through(off)?));
                        continue;
                    }
                    if let Some(sum) = flat(&a, &b, &mut added)? {
                        done.push(sum);
                        continue;
                    }
                    let (mut a, mut b) = match sparse(a, b, &mut added)? {
                        Ok(sum) => {
                            done.push(sum);
                            continue;
                        }
                        Err(both) => both,
                    };
                    visited += 1;
                    let mut key = None;
                    // What nobody else has is not met again.
                    if visited > SHARED && a.is_shared() && b.is_shared() {
                        let k = (a.address(), a.word().bits(), b.address(), b.word().bits());
                        if let Some(sum) = known.get(&k) {
                            done.push(sum.clone());
                            continue;
                        }
                        key = Some(k);
                        keep.push((a.clone(), b.clone()));
                    }
                    // A bundle of structures may meet a structure of bundles.
                    let bundles = (matches!(a, Value::Bundle(..)), matches!(b, Value::Bundle(..)));
                    if !alike(&a, &b) || count(&a, bundles) != count(&b, bundles) {
                        return Err(apart(&a, &b));
                    }
                    let (ps, qs) = match bundles {
                        (false, false) => (split(&mut a)?, split(&mut b)?),
                        _ => (halves(&a)?, halves(&b)?),
                    };
                    tasks.push(Task::Make(if bundles == (false, true) { b } else { a }, ps.len(), key));
                    tasks.extend(ps.into_iter().zip(qs).map(|(p, q)| Task::Add(p, q)).rev());
                }
            }
        }
        Ok((done.pop().unwrap_or_default(), added))
    }
}

/// The sum of arrays of which one is zero but for few elements; in place if nobody else has the other. `Err` with both if there is none.
fn sparse(a: Value, b: Value, added: &mut u64) -> Result<Result<Value, (Value, Value)>, Failure> {
    let is_sparse = |v: &Value| matches!(v, Value::Array(_, array) if matches!(**array, Array::Sparse(..)));
    let (few, rest) = match (is_sparse(&a), is_sparse(&b)) {
        (_, true) => (b, a),
        (true, false) => (a, b),
        (false, false) => return Ok(Err((a, b))),
    };
    match (few, rest) {
        (Value::Array(view, few), Value::Array(word, array)) if few.len() == array.len() => {
            let mut sum = Value::Array(word, array);
            if let Array::Sparse(_, changed) = &*few {
                for (at, value) in changed {
                    let old = sum.element(*at)?.unwrap_or_default();
                    let (new, numbers) = Value::plus(old, value.clone().through(view)?)?;
                    *added += numbers;
                    if let Value::Array(word, array) = sum {
                        sum = Value::with_element(array, word, *at, new)?;
                    }
                }
            }
            Ok(Ok(sum))
        }
        both => Ok(Err(both)),
    }
}

/// The sum of numbers and of what has no derivative.
fn flat(a: &Value, b: &Value, added: &mut u64) -> Result<Option<Value>, Failure> {
    match (a, b) {
        (Value::Real(v, x), Value::Real(w, y)) if v == w => {
            *added += 1;
            Ok(Some(Value::Real(*v, x + y)))
        }
        (Value::Unit(v), Value::Unit(w)) | (Value::Bool(v, _), Value::Bool(w, _)) if v == w => Ok(Some(a.clone())),
        (Value::Symbol(v, _), Value::Symbol(w, _)) if v == w => Ok(Some(a.clone())),
        (Value::Int(t, v, x), Value::Int(u, w, y)) if t == u && v == w => {
            Ok(Some(Value::Int(*t, *v, t.wrap(x.wrapping_add(*y)))))
        }
        // A bundle whose tangent is zero.
        (Value::Real(v, _), Value::Bundle(..)) if v.top() == Some(View::Forward) => Ok(None),
        (Value::Bundle(..), Value::Real(w, _)) if w.top() == Some(View::Forward) => Ok(None),
        (Value::Int(_, v, _), Value::Bundle(..)) if v.top() == Some(View::Forward) => Ok(None),
        (Value::Bundle(..), Value::Int(_, w, _)) if w.top() == Some(View::Forward) => Ok(None),
        (x, y) if x.is_flat() || y.is_flat() => Err(apart(a, b)),
        _ => Ok(None),
    }
}

/// Whether two structures of as many parts have one kind. A function stands for the tuple of what it captured.
fn alike(a: &Value, b: &Value) -> bool {
    let tuple = |v: &Value| matches!(v, Value::Pair(..) | Value::Tuple(..) | Value::Closure(..) | Value::Unit(_));
    match (a, b) {
        (Value::Sum(_, x), Value::Sum(_, y)) => x.0 == y.0,
        (Value::Array(..), Value::Array(..)) => true,
        (Value::Bundle(..), _) | (_, Value::Bundle(..)) => true,
        _ => tuple(a) && tuple(b),
    }
}

/// The primal and the tangent.
fn halves(value: &Value) -> Result<Vec<Value>, Failure> {
    let (p, t) = (Word::one(View::Primal), Word::one(View::Tangent));
    Ok(vec![value.clone().through(p)?, value.clone().through(t)?])
}

/// How many parts a structure has, or how many halves.
fn count(value: &Value, bundles: (bool, bool)) -> usize {
    if bundles != (false, false) {
        return 2;
    }
    match value {
        Value::Pair(..) => 2,
        Value::Tuple(_, parts) => parts.0.len(),
        Value::Sum(..) => 1,
        Value::Array(_, array) => array.len(),
        Value::Closure(_, _, env) => env.values.len(),
        Value::Bundle(..) | Value::Real(..) | Value::Int(..) => 2,
        Value::Unit(_) | Value::Bool(..) | Value::Symbol(..) => 0,
    }
}

/// The parts of a structure, which are taken out if nobody else has it, so that arrays among them can be added in place.
fn split(value: &mut Value) -> Result<Vec<Value>, Failure> {
    Ok(match value {
        Value::Pair(word, parts) if Rc::strong_count(parts) == 1 => match Rc::get_mut(parts) {
            Some(parts) => vec![parts.0.take().through(*word)?, parts.1.take().through(*word)?],
            None => vec![],
        },
        Value::Tuple(word, parts) if Rc::strong_count(parts) == 1 => match Rc::get_mut(parts) {
            Some(parts) => parts.0.iter_mut().map(|x| x.take().through(*word)).collect::<Result<_, _>>()?,
            None => vec![],
        },
        Value::Pair(..) | Value::Tuple(..) => (0..value.arity().unwrap_or(0))
            .map(|n| Ok(value.part(n)?.unwrap_or_default()))
            .collect::<Result<_, Failure>>()?,
        Value::Sum(word, sum) => vec![sum.1.clone().through(*word)?],
        Value::Array(word, array) => array.iter().map(|x| x.through(*word)).collect::<Result<_, _>>()?,
        Value::Closure(_, word, env) => {
            env.values.iter().map(|x| x.clone().through(*word)).collect::<Result<_, _>>()?
        }
        Value::Bundle(..) | Value::Real(..) | Value::Int(..) => halves(value)?,
        Value::Unit(_) | Value::Bool(..) | Value::Symbol(..) => vec![],
    })
}

fn make(like: &Value, mut parts: Vec<Value>) -> Result<Value, Failure> {
    Ok(match like {
        Value::Pair(..) | Value::Tuple(..) => Value::tuple(parts),
        Value::Sum(_, sum) => Value::sum(sum.0, parts.pop().unwrap_or_default()),
        Value::Array(..) => Value::array_of(parts),
        // What it captured, through no views: a sensitivity or tangent, never called.
        Value::Closure(member, word, env) => {
            let values: Vec<Value> = parts;
            if word.is_none() {
                Value::Closure(*member, *word, Env::new(env.group, values.into_boxed_slice()))
            } else {
                Value::tuple(values)
            }
        }
        Value::Bundle(..) | Value::Real(..) | Value::Int(..) => {
            let tangent = parts.pop().unwrap_or_default();
            Value::bundle(parts.pop().unwrap_or_default(), tangent)?
        }
        Value::Unit(_) | Value::Bool(..) | Value::Symbol(..) => like.clone(),
    })
}
