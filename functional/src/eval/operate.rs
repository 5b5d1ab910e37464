//! Operators that are not arithmetic on reals.

use super::arrays::{elements, regular, zip};
use super::code::Src;
use super::integers::truncate;
use super::step::{Flow, wrong};
use super::{Frame, Loop, LoopKind, Machine};
use crate::core::{Binary, Op, Test};
use crate::errors::{DIVISION, Failure, INPUT, OPERAND, SHAPE};
use crate::value::{IntType, Value, View, Word};

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
                if *op == Op::Zip { zip(all) } else { regular(all) }
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

    /// The sum of two values of one shape.
    pub(super) fn plus(&mut self, a: Value, b: Value) -> Result<Value, Failure> {
        let (sum, added) = Value::plus(a, b)?;
        self.counts.binary[Binary::Add as usize] += added;
        Ok(sum)
    }
}

pub(super) fn list(op: &Op, value: Value) -> Result<Vec<Value>, Failure> {
    let (array, word) = elements(op, value)?;
    array.iter().map(|x| x.through(word)).collect()
}

pub(super) fn int(op: &Op, value: &Value, level: Word) -> Result<(IntType, i64), Failure> {
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
