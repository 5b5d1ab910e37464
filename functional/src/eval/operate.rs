//! Operators that are not arithmetic on reals.

use std::rc::Rc;

use super::code::Src;
use super::step::{Flow, wrong};
use super::{Frame, Loop, LoopKind, Machine, Waiting};
use crate::core::{Binary, IntBinary, IntUnary, Op, Test};
use crate::errors::{DIVISION, Failure, INDEX, INPUT, OPERAND, PATTERN, SHAPE};
use crate::value::{Array, IntType, Value, View, Word};

impl Machine {
    pub(super) fn operator(
        &mut self,
        op: &Op,
        level: Word,
        dst: u32,
        args: &[Src],
        frame: &mut Frame,
    ) -> Result<Flow, Failure> {
        let args = self.all(frame, args)?;
        if *op == Op::Custom {
            let mut args = args.into_iter();
            let (function, argument) = (args.next().unwrap_or_default(), args.nth(1).unwrap_or_default());
            let callee = self.enter(function, argument)?;
            frame.dst = dst;
            return Ok(Flow::Call(callee));
        }
        let kind = match op {
            Op::Map => LoopKind::Map,
            Op::Scan => LoopKind::Scan,
            Op::ScanBack => LoopKind::ScanBack,
            op => {
                let value = self.calculate(op, level, args)?;
                self.stack[(frame.base + dst) as usize] = value;
                return Ok(Flow::Next);
            }
        };
        let mut args = args.into_iter();
        let function = args.next().unwrap_or_default();
        let state = if kind == LoopKind::Map { None } else { args.next() };
        let (array, word) = elements(op, args.next().unwrap_or_default())?;
        frame.dst = dst;
        let results = Vec::with_capacity(array.len().min(1 << 20));
        let loops = Box::new(Loop { kind, function, word, array, next: 0, results, state, known: None });
        match self.turn(loops)? {
            // The frame waits for the loop, and the loop for the function.
            Ok(callee) => match self.waiting.pop() {
                Some(loops) => Ok(Flow::Loop(callee, loops)),
                None => Ok(Flow::Call(callee)),
            },
            Err(value) => {
                self.stack[(frame.base + dst) as usize] = value;
                Ok(Flow::Next)
            }
        }
    }

    /// Calls the function of a loop for the next element; `Err` with the result at the end.
    pub(super) fn turn(&mut self, mut loops: Box<Loop>) -> Result<Result<Frame, Value>, Failure> {
        let n = loops.next;
        if n == loops.array.len() {
            let mut results = std::mem::take(&mut loops.results);
            if loops.kind == LoopKind::ScanBack {
                results.reverse();
            }
            let array = Value::array_of(results);
            return Ok(Err(match loops.state.take() {
                None => array,
                Some(state) => Value::pair(state, array),
            }));
        }
        loops.next += 1;
        let at = if loops.kind == LoopKind::ScanBack { loops.array.len() - 1 - n } else { n };
        let element = loops.array.get(at).unwrap_or_default().through(loops.word)?;
        let argument = match loops.state.take() {
            None => element,
            Some(state) => Value::pair(state, element),
        };
        let frame = match &loops.known {
            Some((code, env, word)) => {
                code.calls.set(code.calls.get() + 1);
                let (code, env, word) = (Rc::clone(code), Rc::clone(env), *word);
                self.frame(code, env, word, argument)
            }
            None => {
                let frame = self.enter(loops.function.clone(), argument)?;
                loops.known = Some((Rc::clone(&frame.code), Rc::clone(&frame.env), frame.word));
                frame
            }
        };
        self.waiting.push(Waiting::Loop(loops));
        Ok(Ok(frame))
    }

    fn calculate(&mut self, op: &Op, level: Word, args: Vec<Value>) -> Result<Value, Failure> {
        let mut args = args.into_iter();
        let mut next = || args.next().unwrap_or_default();
        match op {
            Op::Ladder(op) => {
                let args: Vec<Value> = args.collect();
                self.ladder_operator(*op, &args)
            }
            Op::Unary(_) | Op::Binary(_) | Op::Compare(_) | Op::Map | Op::Scan | Op::ScanBack | Op::Custom => {
                Err(Failure::new(OPERAND, format!("`{}` has the wrong number of operands", op.name())))
            }
            Op::IntUnary(f) => {
                let (ty, x) = int(op, &next(), level)?;
                Ok(Value::Int(ty, level, ty.wrap(f.of(ty, x))))
            }
            Op::IntBinary(f) => {
                let (a, b) = (next(), next());
                let ((ty, x), (other, y)) = (int(op, &a, level)?, int(op, &b, level)?);
                if ty != other {
                    return Err(wrong(op.name(), &b, level));
                }
                let value = f.of(ty, x, y);
                let value =
                    value.ok_or_else(|| Failure::new(DIVISION, "an integer is divided by zero").with(&a).with(&b))?;
                Ok(Value::Int(ty, level, ty.wrap(value)))
            }
            Op::Not => match next() {
                Value::Bool(word, b) if word == level => Ok(Value::Bool(level, !b)),
                other => Err(wrong(op.name(), &other, level)),
            },
            Op::Test(test) => {
                let off = level.inverse().unwrap_or_default();
                let value = next();
                Ok(Value::Bool(level, value.through(off)?.passes(*test)))
            }
            Op::AsReal => match next() {
                Value::Real(word, x) if word == level => Ok(Value::Real(word, x)),
                other => Err(wrong(op.name(), &other, level)),
            },
            Op::ToReal | Op::ToInt(_) | Op::ToBits(_) | Op::FromBits(_) | Op::Like => {
                let x = next();
                convert(op, level, x, next())
            }
            Op::Write => {
                let value = next();
                let off = level.inverse().unwrap_or_default();
                self.output.push_str(&value.clone().through(off)?.show());
                self.output.push('\n');
                Ok(value)
            }
            Op::Read => match self.input.pop_front() {
                Some(x) => Ok(Value::Real(level, x)),
                None => Err(Failure::new(INPUT, "there is no more input to read")),
            },
            Op::Check(message) => {
                let (condition, value) = (next(), next());
                match condition {
                    Value::Bool(word, true) if word == level => Ok(value),
                    Value::Bool(word, false) if word == level => {
                        let failure = Failure::new(SHAPE, message.to_string());
                        Err(args.fold(failure, |failure, value| failure.with(&value)))
                    }
                    other => Err(wrong(op.name(), &other, level)),
                }
            }
            Op::Array | Op::Zip => {
                let all: Vec<Value> = args.collect();
                if *op == Op::Zip { zip(all) } else { Ok(Value::array_of(all)) }
            }
            Op::Iota(_) | Op::Replicate | Op::Length | Op::Index | Op::Update | Op::Concat | Op::Slice | Op::Flip => {
                let all = args.collect();
                self.array(op, level, all)
            }
            Op::Unzip(..) | Op::Flatten | Op::Unflatten | Op::Transpose | Op::Gather => {
                let all = args.collect();
                self.array(op, level, all)
            }
            Op::Scatter | Op::ScatterAdd | Op::Sum | Op::Bump => {
                let all = args.collect();
                self.change(op, level, all)
            }
        }
    }

    /// Operators on arrays.
    fn array(&mut self, op: &Op, level: Word, args: Vec<Value>) -> Result<Value, Failure> {
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
                Ok(Value::array_of(a.into_iter().chain(b).collect()))
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
    fn change(&mut self, op: &Op, level: Word, args: Vec<Value>) -> Result<Value, Failure> {
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
                let old = xs.element(at)?.unwrap_or_default();
                let sum = self.plus(old, v)?;
                if xs.is_zero()
                    && matches!(xs, Value::Array(..))
                    && let Some(few) = Array::sparse(xs.clone(), at, sum.clone())
                {
                    return Ok(Value::array(few));
                }
                replace(op, xs, at, sum)
            }
            Op::Scatter | Op::ScatterAdd => {
                let mut xs = list(op, next())?;
                let (is, vs) = (list(op, next())?, list(op, next())?);
                if is.len() != vs.len() {
                    return Err(Failure::new(SHAPE, format!("{} indices and {} values", is.len(), vs.len())));
                }
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

    /// The sum of two values of one shape.
    pub(super) fn plus(&mut self, a: Value, b: Value) -> Result<Value, Failure> {
        let (sum, added) = Value::plus(a, b)?;
        self.counts.binary[Binary::Add as usize] += added;
        Ok(sum)
    }

    fn size(&self, n: i64) -> Result<usize, Failure> {
        let size = usize::try_from(n).map_err(|_| Failure::new(SHAPE, format!("an array of {n} elements")))?;
        self.room((size as u64).saturating_mul(16))?;
        Ok(size)
    }
}

fn outside(at: i64, n: usize) -> Failure {
    Failure::new(INDEX, format!("the index {at} is outside an array of {n} elements"))
}

fn replace(op: &Op, xs: Value, at: usize, v: Value) -> Result<Value, Failure> {
    let (array, word) = elements(op, xs)?;
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
        Array::Boxed(_) | Array::Sparse(..) => return None,
    };
    Some(Value::Array(*word, Rc::new(some)))
}

/// An array of one value, again and again.
fn repeated(n: usize, value: Value) -> Value {
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
        Array::Int(..) | Array::Bool(_) | Array::Boxed(_) | Array::Sparse(..) => None,
    }
}

fn zip(all: Vec<Value>) -> Result<Value, Failure> {
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
fn elements(op: &Op, value: Value) -> Result<(Rc<Array>, Word), Failure> {
    match value {
        Value::Array(word, array) => Ok((array, word)),
        Value::Bundle(..) if value.length().is_some() => {
            let all = (0..value.length().unwrap_or(0)).map(|n| Ok(value.element(n)?.unwrap_or_default()));
            Ok((Rc::new(Array::of(all.collect::<Result<_, Failure>>()?)), Word::NONE))
        }
        other => Err(wrong(op.name(), &other, Word::NONE)),
    }
}

fn list(op: &Op, value: Value) -> Result<Vec<Value>, Failure> {
    let (array, word) = elements(op, value)?;
    array.iter().map(|x| x.through(word)).collect()
}

fn int(op: &Op, value: &Value, level: Word) -> Result<(IntType, i64), Failure> {
    match value {
        Value::Int(ty, word, x) if *word == level => Ok((*ty, *x)),
        // What counts, compares or finds an element does not look at the tangent.
        Value::Bundle(_, parts) => counted(&parts.0).ok_or_else(|| wrong(op.name(), value, level)),
        other => Err(wrong(op.name(), other, level)),
    }
}

/// A number as one of another kind; `y` is the second operand, if there is one.
fn convert(op: &Op, level: Word, x: Value, y: Value) -> Result<Value, Failure> {
    match op {
        Op::ToReal => match x {
            Value::Int(IntType::U64, word, x) if word == level => Ok(Value::Real(level, x as u64 as f64)),
            Value::Int(_, word, x) if word == level => Ok(Value::Real(level, x as f64)),
            Value::Bool(word, x) if word == level => Ok(Value::Real(level, f64::from(u8::from(x)))),
            other => Err(wrong(op.name(), &other, level)),
        },
        Op::ToInt(ty) => match x {
            Value::Int(_, word, x) if word == level => Ok(Value::Int(*ty, level, ty.wrap(x))),
            Value::Bool(word, x) if word == level => Ok(Value::Int(*ty, level, i64::from(x))),
            Value::Real(word, x) if word == level => Ok(Value::Int(*ty, level, truncate(*ty, x))),
            other => Err(wrong(op.name(), &other, level)),
        },
        Op::ToBits(width) => match x {
            Value::Real(word, x) if word == level => Ok(if *width == 32 {
                Value::Int(IntType::U32, level, i64::from((x as f32).to_bits()))
            } else {
                Value::Int(IntType::U64, level, x.to_bits() as i64)
            }),
            other => Err(wrong(op.name(), &other, level)),
        },
        Op::FromBits(width) => {
            let (_, bits) = int(op, &x, level)?;
            let x = if *width == 32 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits as u64) };
            Ok(Value::Real(level, x))
        }
        Op::Like => match (&x, y) {
            (Value::Int(ty, word, _), Value::Real(w, x)) if *word == level && w == level => {
                Ok(Value::Int(*ty, level, truncate(*ty, x)))
            }
            (Value::Int(ty, word, _), Value::Int(_, w, x)) if *word == level && w == level => {
                Ok(Value::Int(*ty, level, ty.wrap(x)))
            }
            (Value::Real(word, _), Value::Int(IntType::U64, w, x)) if *word == level && w == level => {
                Ok(Value::Real(level, x as u64 as f64))
            }
            (Value::Real(word, _), Value::Int(_, w, x)) if *word == level && w == level => {
                Ok(Value::Real(level, x as f64))
            }
            (Value::Real(word, _), Value::Real(w, x)) if *word == level && w == level => Ok(Value::Real(w, x)),
            (_, other) => Err(wrong(op.name(), &other, level)),
        },
        _ => Err(wrong(op.name(), &x, level)),
    }
}

/// The integer inside bundles.
fn counted(value: &Value) -> Option<(IntType, i64)> {
    match value {
        Value::Int(ty, _, x) => Some((*ty, *x)),
        Value::Bundle(_, parts) => counted(&parts.0),
        Value::Unit(_) | Value::Bool(..) | Value::Real(..) | Value::Symbol(..) | Value::Closure(..) => None,
        Value::Pair(..) | Value::Tuple(..) | Value::Sum(..) | Value::Array(..) => None,
    }
}

/// A real towards zero; what does not fit becomes the nearest that does, and what is no number becomes 0.
fn truncate(ty: IntType, x: f64) -> i64 {
    match ty {
        IntType::I8 => i64::from(x as i8),
        IntType::I16 => i64::from(x as i16),
        IntType::I32 => i64::from(x as i32),
        IntType::I64 => x as i64,
        IntType::U8 => i64::from(x as u8),
        IntType::U16 => i64::from(x as u16),
        IntType::U32 => i64::from(x as u32),
        IntType::U64 => x as u64 as i64,
    }
}

impl Loop {
    /// Takes the result for one element.
    pub(super) fn take(&mut self, value: Value) -> Result<(), Failure> {
        if self.kind == LoopKind::Map {
            self.results.push(value);
            return Ok(());
        }
        match (value.part(0)?, value.part(1)?) {
            (Some(state), Some(y)) if value.arity() == Some(2) => {
                self.state = Some(state);
                self.results.push(y);
                Ok(())
            }
            _ => Err(Failure::new(PATTERN, "the function of a scan gives no pair").with(&value)),
        }
    }
}

impl Value {
    pub(super) fn passes(&self, test: Test) -> bool {
        let layer = |view: View| self.layer() == Some(view);
        match test {
            Test::Unit => matches!(self, Value::Unit(w) if w.is_none()),
            Test::Bool => matches!(self, Value::Bool(w, _) if w.is_none()),
            Test::Real => matches!(self, Value::Real(w, _) if w.is_none()),
            Test::Pair => {
                matches!(self, Value::Pair(..)) || matches!(self, Value::Bundle(..)) && self.arity() == Some(2)
            }
            Test::Function => self.is_function(),
            Test::Perturbation => layer(View::Perturb),
            Test::Forward => layer(View::Forward),
            Test::Sensitivity => layer(View::Sense),
            Test::Reverse => layer(View::Reverse),
            Test::Nan => matches!(self, Value::Real(_, x) if x.is_nan()),
            Test::Infinite => matches!(self, Value::Real(_, x) if x.is_infinite()),
        }
    }
}

impl IntUnary {
    fn of(self, ty: IntType, x: i64) -> i64 {
        let bits = x as u64 & (u64::MAX >> (64 - ty.bits()));
        match self {
            IntUnary::Neg => x.wrapping_neg(),
            IntUnary::Not => !x,
            IntUnary::Less => x.wrapping_sub(1),
            IntUnary::Abs if ty.signed() => x.wrapping_abs(),
            IntUnary::Abs => x,
            IntUnary::Sign if ty.signed() => x.signum(),
            IntUnary::Sign => i64::from(x != 0),
            IntUnary::Ones => i64::from(bits.count_ones()),
            IntUnary::LeadingZeros => i64::from(bits.leading_zeros() - (64 - ty.bits())),
            IntUnary::TrailingZeros => i64::from(bits.trailing_zeros().min(ty.bits())),
        }
    }
}

impl IntBinary {
    /// `None` for a division by zero.
    fn of(self, ty: IntType, x: i64, y: i64) -> Option<i64> {
        let (signed, u, v) = (ty.signed(), x as u64, y as u64);
        let count = (v & u64::from(ty.bits() - 1)) as u32;
        if y == 0 && matches!(self, IntBinary::Div | IntBinary::Mod | IntBinary::Quot | IntBinary::Rem) {
            return None;
        }
        Some(match self {
            IntBinary::Add => x.wrapping_add(y),
            IntBinary::Sub => x.wrapping_sub(y),
            IntBinary::Mul => x.wrapping_mul(y),
            IntBinary::Div if signed => {
                let q = x.wrapping_div(y);
                if x.wrapping_rem(y) != 0 && (x < 0) != (y < 0) { q - 1 } else { q }
            }
            IntBinary::Mod if signed => {
                let r = x.wrapping_rem(y);
                if r != 0 && (r < 0) != (y < 0) { r + y } else { r }
            }
            IntBinary::Quot if signed => x.wrapping_div(y),
            IntBinary::Rem if signed => x.wrapping_rem(y),
            IntBinary::Div | IntBinary::Quot => (u / v) as i64,
            IntBinary::Mod | IntBinary::Rem => (u % v) as i64,
            IntBinary::Pow => power(x, y),
            IntBinary::Min if signed => x.min(y),
            IntBinary::Max if signed => x.max(y),
            IntBinary::Min => u.min(v) as i64,
            IntBinary::Max => u.max(v) as i64,
            IntBinary::And => x & y,
            IntBinary::Or => x | y,
            IntBinary::Xor => x ^ y,
            IntBinary::Shl => x << count,
            IntBinary::Shr if signed => x >> count,
            IntBinary::Shr => (u >> count) as i64,
            IntBinary::Lshr => ((u & (u64::MAX >> (64 - ty.bits()))) >> count) as i64,
        })
    }
}

/// A wrapping power; of a negative exponent 0.
fn power(x: i64, y: i64) -> i64 {
    let (mut result, mut base, mut n) = (1_i64, x, y);
    if n < 0 {
        return 0;
    }
    while n > 0 {
        if n & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        n >>= 1;
    }
    result
}
