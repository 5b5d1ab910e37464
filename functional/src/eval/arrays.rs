//! Operators on arrays.

use std::rc::Rc;

use super::Machine;
use super::operate::{int, list};
use super::step::wrong;
use crate::core::{Binary, Op};
use crate::errors::{Failure, INDEX, OPERAND, PATTERN, SHAPE};
use crate::value::{Array, IntType, Value, Word};

/// Which part of an array may be changed element by element; where it is more, all elements are taken out and put back.
const SHARE: usize = 8;

impl Machine {
    /// Operators on arrays.
    pub(super) fn array(&mut self, op: &Op, level: Word, args: Vec<Value>) -> Result<Value, Failure> {
        let mut args = args.into_iter();
        let mut next = || args.next().unwrap_or_default();
        match op {
            Op::Iota(ty) => {
                let (_, n) = int(op, &next(), level)?;
                let n = self.size(n)?;
                Value::array(Array::ints(*ty, (0..n as i64).collect())).through(level)
            }
            Op::Replicate => {
                let (_, n) = int(op, &next(), level)?;
                let n = self.size(n)?;
                Ok(repeated(n, next()))
            }
            Op::Length => {
                let value = next();
                let n = value.length().ok_or_else(|| wrong(op.name(), &value, level))?;
                Ok(Value::Int(IntType::I64, level, n as i64))
            }
            Op::Index => {
                let (xs, i) = (next(), next());
                let (_, at) = int(op, &i, level)?;
                let n = xs.length().ok_or_else(|| wrong(op.name(), &xs, level))?;
                let element = usize::try_from(at).ok().map(|at| xs.element(at)).transpose()?.flatten();
                element.ok_or_else(|| outside(at, n))
            }
            Op::Update => {
                let (xs, i, v) = (next(), next(), next());
                let (_, at) = int(op, &i, level)?;
                let n = xs.length().ok_or_else(|| wrong(op.name(), &xs, level))?;
                match usize::try_from(at) {
                    Ok(at) if at < n => replace(op, xs, at, v),
                    _ => Err(outside(at, n)),
                }
            }
            Op::Concat => {
                let (a, b) = (list(op, next())?, list(op, next())?);
                self.room((a.len() + b.len()) as u64 * 16)?;
                regular(a.into_iter().chain(b).collect())
            }
            Op::Slice => {
                let xs = next();
                let (_, from) = int(op, &next(), level)?;
                let (_, to) = int(op, &next(), level)?;
                let (_, step) = int(op, &next(), level)?;
                slice(op, xs, from, to, step)
            }
            Op::Flip => Ok(Value::array_of(list(op, next())?.into_iter().rev().collect())),
            Op::Unzip(index, of) => {
                let xs = list(op, next())?;
                let mut all = Vec::with_capacity(xs.len());
                for x in xs {
                    match x.part(*index as usize)?.filter(|_| x.arity() == Some(*of as usize)) {
                        Some(part) => all.push(part),
                        None => return Err(Failure::new(PATTERN, format!("an array of tuples of {of}")).with(&x)),
                    }
                }
                Ok(Value::array_of(all))
            }
            Op::Flatten => {
                let mut all = Vec::new();
                for row in list(op, next())? {
                    all.append(&mut list(op, row)?);
                }
                Ok(Value::array_of(all))
            }
            Op::Unflatten => {
                let ((_, n), (_, m)) = (int(op, &next(), level)?, int(op, &next(), level)?);
                let xs = list(op, next())?;
                if n < 0 || m < 0 || n.checked_mul(m) != Some(xs.len() as i64) {
                    return Err(Failure::new(SHAPE, format!("{} elements are not {n} times {m}", xs.len())));
                }
                let (n, m) = (n as usize, m as usize);
                Ok(Value::array_of((0..n).map(|i| Value::array_of(xs[i * m..(i + 1) * m].to_vec())).collect()))
            }
            Op::Transpose => {
                let rows = list(op, next())?.into_iter().map(|row| list(op, row)).collect::<Result<Vec<_>, _>>()?;
                let (_, m) = int(op, &next(), level)?;
                if let Some(row) = rows.iter().find(|row| row.len() as i64 != m) {
                    return Err(Failure::new(SHAPE, format!("rows of {} and {m} elements", row.len())));
                }
                let columns =
                    (0..m.max(0) as usize).map(|j| Value::array_of(rows.iter().map(|row| row[j].clone()).collect()));
                Ok(Value::array_of(columns.collect()))
            }
            Op::Gather => {
                let (xs, is) = (next(), list(op, next())?);
                let n = xs.length().ok_or_else(|| wrong(op.name(), &xs, level))?;
                let mut all = Vec::with_capacity(is.len());
                for i in is {
                    let (_, at) = int(op, &i, level)?;
                    let element = usize::try_from(at).ok().map(|at| xs.element(at)).transpose()?.flatten();
                    all.push(element.ok_or_else(|| outside(at, n))?);
                }
                Ok(Value::array_of(all))
            }
            _ => Err(Failure::new(OPERAND, format!("internal error: `{}` is no operator on arrays", op.name()))),
        }
    }

    /// Operators that replace or add.
    pub(super) fn change(&mut self, op: &Op, level: Word, args: Vec<Value>) -> Result<Value, Failure> {
        let mut args = args.into_iter();
        let mut next = || args.next().unwrap_or_default();
        match op {
            Op::Sum => {
                let zero = next();
                if let Some((sum, added)) = args.as_slice().first().and_then(total) {
                    self.counts.binary[Binary::Add as usize] += added;
                    return Ok(sum);
                }
                let mut next = || args.next().unwrap_or_default();
                let mut sum: Option<Value> = None;
                for x in list(op, next())? {
                    sum = Some(match sum {
                        None => x,
                        Some(sum) => self.plus(sum, x)?,
                    });
                }
                Ok(sum.unwrap_or(zero))
            }
            Op::Bump => {
                let (xs, i, v) = (next(), next(), next());
                let (_, at) = int(op, &i, level)?;
                let n = xs.length().ok_or_else(|| wrong(op.name(), &xs, level))?;
                let at = usize::try_from(at).ok().filter(|at| *at < n).ok_or_else(|| outside(at, n))?;
                self.bump(op, xs, at, v)
            }
            Op::Scatter | Op::ScatterAdd => {
                let mut xs = next();
                let (is, vs) = (list(op, next())?, list(op, next())?);
                if is.len() != vs.len() {
                    return Err(Failure::new(SHAPE, format!("{} indices and {} values", is.len(), vs.len())));
                }
                let n = xs.length().ok_or_else(|| wrong(op.name(), &xs, level))?;
                if is.len() < n / SHARE {
                    for (i, v) in is.into_iter().zip(vs) {
                        let (_, at) = int(op, &i, level)?;
                        let Some(at) = usize::try_from(at).ok().filter(|at| *at < n) else { continue };
                        xs = if *op == Op::Scatter { replace(op, xs, at, v)? } else { self.bump(op, xs, at, v)? };
                    }
                    return Ok(xs);
                }
                let mut xs = list(op, xs)?;
                for (i, v) in is.into_iter().zip(vs) {
                    let (_, at) = int(op, &i, level)?;
                    let Some(place) = usize::try_from(at).ok().and_then(|at| xs.get_mut(at)) else { continue };
                    *place = if *op == Op::Scatter { v } else { self.plus(place.take(), v)? };
                }
                Ok(Value::array_of(xs))
            }
            _ => Err(Failure::new(OPERAND, format!("internal error: `{}` changes nothing", op.name()))),
        }
    }

    /// Adds to an element that is there.
    fn bump(&mut self, op: &Op, xs: Value, at: usize, v: Value) -> Result<Value, Failure> {
        let old = xs.element(at)?.unwrap_or_default();
        let sum = self.plus(old, v)?;
        if xs.is_zero()
            && let Some(few) = Array::sparse(xs.clone(), at, sum.clone())
        {
            return Ok(Value::array(few));
        }
        replace(op, xs, at, sum)
    }

    fn size(&self, n: i64) -> Result<usize, Failure> {
        let size = usize::try_from(n).map_err(|_| Failure::new(SHAPE, format!("an array of {n} elements")))?;
        self.room((size as u64).saturating_mul(16))?;
        Ok(size)
    }
}

/// The length of an array, that of its first element, and so on.
fn sizes(value: &Value) -> Result<Vec<usize>, Failure> {
    let mut sizes = Vec::new();
    let mut inside = Some(value.clone());
    while let Some(length) = inside.as_ref().and_then(Value::length) {
        sizes.push(length);
        inside = inside.map(|array| array.element(0)).transpose()?.flatten();
    }
    Ok(sizes)
}

/// Whether two arrays have the same sizes; so do two values that are no arrays. An array may be one of bundles, or a bundle of two.
fn alike(a: &Value, b: &Value) -> Result<bool, Failure> {
    let (mut a, mut b) = (Some(a.clone()), Some(b.clone()));
    loop {
        let length = |x: &Option<Value>| x.as_ref().and_then(Value::length);
        match (length(&a), length(&b)) {
            (None, None) => return Ok(true),
            (n, m) if n != m => return Ok(false),
            _ => {
                a = a.map(|x| x.element(0)).transpose()?.flatten();
                b = b.map(|x| x.element(0)).transpose()?.flatten();
            }
        }
    }
}

/// An array of these elements. Those that are arrays must have the same sizes.
pub(super) fn regular(elements: Vec<Value>) -> Result<Value, Failure> {
    if let Some(first @ Value::Array(..)) = elements.first() {
        for (n, element) in elements.iter().enumerate().skip(1) {
            if !alike(first, element)? {
                let (wanted, found) = (sizes(first)?, sizes(element)?);
                let message =
                    format!("the elements 0 and {n} of an array have different sizes, {wanted:?} and {found:?}");
                return Err(Failure::new(SHAPE, message).with(first).with(element));
            }
        }
    }
    Ok(Value::array_of(elements))
}

fn outside(at: i64, n: usize) -> Failure {
    Failure::new(INDEX, format!("the index {at} is outside an array of {n} elements"))
}

fn replace(op: &Op, xs: Value, at: usize, v: Value) -> Result<Value, Failure> {
    let (array, word) = elements(op, xs)?;
    if v.length().is_some()
        && let Some(old) = array.get(at)
        && !alike(&old, &v)?
    {
        let (old, new) = (sizes(&old)?, sizes(&v)?);
        let message = format!("the new element {at} of an array has other sizes than the old, {new:?} and {old:?}");
        return Err(Failure::new(SHAPE, message).with(&v));
    }
    Value::with_element(array, word, at, v)
}

fn slice(op: &Op, xs: Value, from: i64, to: i64, step: i64) -> Result<Value, Failure> {
    let n = xs.length().ok_or_else(|| wrong(op.name(), &xs, Word::NONE))? as i64;
    let forward = step > 0 && 0 <= from && from <= to && to <= n;
    let backward = step < 0 && -1 <= to && to <= from && from < n;
    if !forward && !backward {
        let message = format!("the slice from {from} to {to} by {step} is outside an array of {n} elements");
        return Err(Failure::new(INDEX, message));
    }
    let (distance, stride) = ((to - from).unsigned_abs(), step.unsigned_abs());
    let count = distance.div_ceil(stride) as usize;
    if let Some(some) = picked(&xs, count, |k| (from + k as i64 * step) as usize) {
        return Ok(some);
    }
    let all = list(op, xs)?;
    Ok(Value::array_of((0..count).map(|k| all[(from + k as i64 * step) as usize].clone()).collect()))
}

/// Elements of an array of numbers or truth values, chosen by index; `None` for other arrays.
fn picked(xs: &Value, count: usize, at: impl Fn(usize) -> usize) -> Option<Value> {
    let Value::Array(word, array) = xs else { return None };
    let some = match &**array {
        Array::Real(v) => Array::reals((0..count).map(|k| v[at(k)]).collect()),
        Array::Int(ty, v) => Array::ints(*ty, (0..count).map(|k| v[at(k)]).collect()),
        Array::Bool(v) => Array::bools((0..count).map(|k| v[at(k)]).collect()),
        Array::Boxed(_) | Array::Zeros(..) | Array::Sparse(..) => return None,
    };
    Some(Value::Array(*word, Rc::new(some)))
}

/// An array of one value, again and again.
pub(super) fn repeated(n: usize, value: Value) -> Value {
    let array = match &value {
        Value::Real(_, x) => Array::reals(vec![*x; n]),
        Value::Int(ty, _, x) => Array::ints(*ty, vec![*x; n]),
        Value::Bool(_, b) => Array::bools(vec![*b; n]),
        _ => return Value::array_of(vec![value; n]),
    };
    Value::Array(value.word(), Rc::new(array))
}

/// The sum of an array of numbers, and how many additions that takes; `None` for other arrays and for none.
fn total(xs: &Value) -> Option<(Value, u64)> {
    let Value::Array(word, array) = xs else { return None };
    match &**array {
        Array::Real(v) => {
            let (first, rest) = v.split_first()?;
            Some((Value::Real(*word, rest.iter().fold(*first, |s, x| s + x)), rest.len() as u64))
        }
        Array::Int(ty, v) if !v.is_empty() => {
            let sum = v.iter().fold(0_i64, |s, x| s.wrapping_add(*x));
            Some((Value::Int(*ty, *word, ty.wrap(sum)), v.len() as u64 - 1))
        }
        Array::Int(..) | Array::Bool(_) | Array::Boxed(_) | Array::Zeros(..) | Array::Sparse(..) => None,
    }
}

pub(super) fn zip(all: Vec<Value>) -> Result<Value, Failure> {
    let columns = all.into_iter().map(|xs| list(&Op::Zip, xs)).collect::<Result<Vec<_>, _>>()?;
    let n = columns.first().map_or(0, Vec::len);
    if let Some(other) = columns.iter().find(|c| c.len() != n) {
        return Err(Failure::new(SHAPE, format!("arrays of {n} and {} elements", other.len())));
    }
    let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
    let tuples = (0..n).map(|_| Value::tuple(columns.iter_mut().filter_map(Iterator::next).collect()));
    Ok(Value::array_of(tuples.collect()))
}

/// An array and the views of its elements.
pub(super) fn elements(op: &Op, value: Value) -> Result<(Rc<Array>, Word), Failure> {
    match value {
        Value::Array(word, array) => Ok((array, word)),
        Value::Bundle(..) if value.length().is_some() => {
            let all = (0..value.length().unwrap_or(0)).map(|n| Ok(value.element(n)?.unwrap_or_default()));
            Ok((Rc::new(Array::of(all.collect::<Result<_, Failure>>()?)), Word::NONE))
        }
        other => Err(wrong(op.name(), &other, Word::NONE)),
    }
}
