//! The loop of the machine.

use std::rc::Rc;

use super::code::{Code, Instr, Src};
use super::{Frame, Machine, PERIOD, Waiting};
use crate::core::{Binary, Compare};
use crate::errors::{Failure, LEVEL, OPERAND, PATTERN, SENSITIVITY};
use crate::value::{Env, Kept, Value, View, Word};

/// What comes after an instruction.
pub(super) enum Flow {
    /// The next instruction.
    Next,
    /// Another frame; this one waits.
    Call(Frame),
    /// Another frame for a loop that this one waits for.
    Loop(Frame, Waiting),
    /// Another frame instead of this one.
    Enter(Frame),
    /// The result of the frame.
    Return(Value),
}

impl Machine {
    /// Runs a frame until as many frames wait as before it.
    pub(super) fn execute(&mut self, mut frame: Frame, below: usize) -> Result<Value, Failure> {
        loop {
            let code = Rc::clone(&frame.code);
            let flow = match self.run_frame(&code, &mut frame) {
                Ok(flow) => flow,
                Err(failure) => {
                    let place = if code.has_places { code.place_before(frame.next) } else { self.tail_call.as_ref() };
                    return Err(self.placed(failure.at(place)));
                }
            };
            match flow {
                Flow::Next => {}
                Flow::Enter(callee) => {
                    if !callee.code.has_places && code.has_places {
                        self.tail_call = code.place_before(frame.next).cloned();
                    }
                    frame = callee;
                }
                Flow::Call(callee) => {
                    if !callee.code.has_places {
                        self.tail_call = None;
                    }
                    self.waiting.push(Waiting::Call(std::mem::replace(&mut frame, callee)));
                }
                Flow::Loop(callee, loops) => {
                    self.waiting.push(Waiting::Call(std::mem::replace(&mut frame, callee)));
                    self.waiting.push(loops);
                }
                Flow::Return(value) => {
                    self.stack.truncate(frame.base as usize);
                    match self.resume(value, below)? {
                        Ok(next) => frame = next,
                        Err(value) => return Ok(value),
                    }
                }
            }
        }
    }

    /// A failure in code without places gets the place of the nearest call that has one.
    fn placed(&self, failure: Failure) -> Failure {
        if failure.place.is_some() {
            return failure;
        }
        let place = self.waiting.iter().rev().take(1000).find_map(|w| match w {
            Waiting::Call(frame) => frame.code.place_before(frame.next).cloned(),
            Waiting::Loop(_) => None,
        });
        failure.at(place.as_ref())
    }

    /// Gives a result to what waits for it; `Err` with the result if nothing above `below` waits.
    fn resume(&mut self, value: Value, below: usize) -> Result<Result<Frame, Value>, Failure> {
        let mut value = value;
        loop {
            if self.waiting.len() <= below {
                return Ok(Err(value));
            }
            match self.waiting.pop() {
                None => return Ok(Err(value)),
                Some(Waiting::Call(frame)) => {
                    let slot = (frame.base + frame.dst) as usize;
                    self.stack[slot] = value;
                    return Ok(Ok(frame));
                }
                Some(Waiting::Loop(mut loops)) => {
                    loops.take(value)?;
                    match self.turn(loops).map_err(|f| self.placed(f))? {
                        Ok(frame) => return Ok(Ok(frame)),
                        Err(result) => value = result,
                    }
                }
            }
        }
    }

    #[inline]
    pub(super) fn get(&mut self, frame: &Frame, src: Src) -> Result<Value, Failure> {
        match src {
            Src::Local(slot) => Ok(self.stack[(frame.base + slot) as usize].clone()),
            Src::Last(slot) => Ok(self.stack[(frame.base + slot) as usize].take()),
            Src::Env(index) => frame.env.values[index as usize].clone().through(frame.word),
        }
    }

    #[inline]
    fn set(&mut self, frame: &Frame, dst: u32, value: Value) {
        self.stack[(frame.base + dst) as usize] = value;
    }

    /// A real operand with the layers of a level.
    #[inline]
    pub(super) fn number(&mut self, frame: &Frame, src: Src, level: Word, name: &str) -> Result<f64, Failure> {
        let value = match src {
            Src::Local(slot) | Src::Last(slot) => &self.stack[(frame.base + slot) as usize],
            Src::Env(index) => &frame.env.values[index as usize],
        };
        match value {
            Value::Real(word, x) if *word == level && (frame.word.is_none() || !matches!(src, Src::Env(_))) => Ok(*x),
            _ => {
                let value = self.get(frame, src)?;
                match &value {
                    Value::Real(word, x) if *word == level => Ok(*x),
                    _ => Err(wrong(name, &value, level)),
                }
            }
        }
    }

    fn is_int(&self, frame: &Frame, src: Src) -> bool {
        let value = match src {
            Src::Local(slot) | Src::Last(slot) => &self.stack[(frame.base + slot) as usize],
            Src::Env(index) => &frame.env.values[index as usize],
        };
        matches!(value, Value::Int(..))
    }

    /// The product of two integers of one type with their layers.
    fn int_product(&mut self, frame: &Frame, levels: &(Word, Word, Word), a: Src, b: Src) -> Result<Value, Failure> {
        let (a, b) = (self.get(frame, a)?, self.get(frame, b)?);
        match (&a, &b) {
            (Value::Int(s, v, x), Value::Int(t, w, y)) if s == t && *v == levels.0 && *w == levels.1 => {
                Ok(Value::Int(*s, levels.2, s.wrap(x.wrapping_mul(*y))))
            }
            (Value::Int(_, v, _), _) if *v != levels.0 => Err(wrong("*", &a, levels.0)),
            _ => Err(wrong("*", &b, levels.1)),
        }
    }

    /// A part of a slot's or environment's value, without making another reference to the whole.
    #[inline]
    fn part(&mut self, frame: &Frame, a: Src, index: u32, of: u32) -> Result<Value, Failure> {
        if let Src::Local(slot) | Src::Last(slot) = a
            && let Value::Pair(word, parts) = &self.stack[(frame.base + slot) as usize]
            && of == 2
        {
            let part = if index == 0 { parts.0.clone() } else { parts.1.clone() };
            let part = part.through(*word)?;
            if matches!(a, Src::Last(_)) {
                self.stack[(frame.base + slot) as usize] = Value::UNIT;
            }
            return Ok(part);
        }
        if let (Src::Env(n), true, 2) = (a, frame.word.is_none(), of)
            && let Value::Pair(word, parts) = &frame.env.values[n as usize]
        {
            let part = if index == 0 { parts.0.clone() } else { parts.1.clone() };
            return part.through(*word);
        }
        let whole = self.get(frame, a)?;
        if whole.arity() == Some(of as usize)
            && let Some(part) = whole.part(index as usize)?
        {
            return Ok(part);
        }
        Err(Failure::new(PATTERN, format!("{} does not have the shape of {}", whole.kind(), shape(of))).with(&whole))
    }

    fn run_frame(&mut self, code: &Code, frame: &mut Frame) -> Result<Flow, Failure> {
        loop {
            let instr = &code.instrs[frame.next as usize];
            frame.next += 1;
            self.counts.steps += 1;
            if self.counts.steps.is_multiple_of(PERIOD) {
                self.check()?;
            }
            match instr {
                Instr::Const { dst, value } => self.set(frame, *dst, value.clone()),
                Instr::Move { dst, a } => {
                    let value = self.get(frame, *a)?;
                    self.set(frame, *dst, value);
                }
                Instr::Unary { op, level, dst, a } => {
                    let x = self.number(frame, *a, *level, op.name())?;
                    self.counts.unary[*op as usize] += 1;
                    self.set(frame, *dst, Value::Real(*level, op.of(x)));
                }
                Instr::Binary { op, level, dst, a, b } => {
                    let x = self.number(frame, *a, *level, op.name())?;
                    let y = self.number(frame, *b, *level, op.name())?;
                    self.counts.binary[*op as usize] += 1;
                    self.set(frame, *dst, Value::Real(*level, op.of(x, y)));
                }
                Instr::Product { levels, dst, a, b } if self.is_int(frame, *a) => {
                    let product = self.int_product(frame, levels, *a, *b)?;
                    self.set(frame, *dst, product);
                }
                Instr::Product { levels, dst, a, b } => {
                    let x = self.number(frame, *a, levels.0, "*")?;
                    let y = self.number(frame, *b, levels.1, "*")?;
                    self.counts.binary[Binary::Mul as usize] += 1;
                    self.set(frame, *dst, Value::Real(levels.2, x * y));
                }
                Instr::Part { dst, a, index, of } => {
                    let part = self.part(frame, *a, *index, *of)?;
                    self.set(frame, *dst, part);
                }
                Instr::Pair { dst, a, b } => {
                    let (a, b) = (self.get(frame, *a)?, self.get(frame, *b)?);
                    self.set(frame, *dst, Value::pair(a, b));
                }
                Instr::If { level, a, no } => {
                    if !self.truth(frame, *a, *level)? {
                        frame.next = *no;
                    }
                }
                Instr::Jump { to } => frame.next = *to,
                Instr::Forget { slots } => {
                    for slot in slots {
                        self.stack[(frame.base + slot) as usize] = Value::UNIT;
                    }
                }
                Instr::Return { a } => return Ok(Flow::Return(self.get(frame, *a)?)),
                other => match self.step(other, frame)? {
                    Flow::Next => {}
                    flow => return Ok(flow),
                },
            }
        }
    }

    fn truth(&mut self, frame: &Frame, a: Src, level: Word) -> Result<bool, Failure> {
        match self.get(frame, a)? {
            Value::Bool(word, b) if word == level => Ok(b),
            // Everything but `#f` is true in VLAD.
            other => {
                if matches!(other, Value::Bool(..)) {
                    Err(wrong("if", &other, level))
                } else {
                    Ok(true)
                }
            }
        }
    }

    fn step(&mut self, instr: &Instr, frame: &mut Frame) -> Result<Flow, Failure> {
        match instr {
            Instr::Apply { dst, f, x } => {
                let (f, x) = (self.get(frame, *f)?, self.get(frame, *x)?);
                let callee = self.enter(f, x)?;
                frame.dst = *dst;
                return Ok(Flow::Call(callee));
            }
            Instr::TailApply { f, x } => {
                let (f, x) = (self.get(frame, *f)?, self.get(frame, *x)?);
                self.stack.truncate(frame.base as usize);
                let callee = self.enter(f, x)?;
                return Ok(Flow::Enter(callee));
            }
            Instr::Compare { op, level, dst, a, b } => {
                let value = self.compare(*op, *level, frame, *a, *b)?;
                self.set(frame, *dst, Value::Bool(*level, value));
            }
            Instr::Plus { dst, a, b } => {
                let (a, b) = (self.get(frame, *a)?, self.get(frame, *b)?);
                let sum = self.plus(a, b)?;
                self.set(frame, *dst, sum);
            }
            Instr::View { word, dst, a } => {
                let value = self.get(frame, *a)?.through(*word)?;
                self.set(frame, *dst, value);
            }
            Instr::Bundle { level, dst, a, b } => {
                let (a, b) = (self.get(frame, *a)?, self.get(frame, *b)?);
                let bundle = bundle_at(*level, a, b)?;
                self.set(frame, *dst, bundle);
            }
            Instr::Tuple { dst, args } => {
                let parts = self.all(frame, args)?;
                self.set(frame, *dst, Value::tuple(parts));
            }
            Instr::Captured { dst, a, index, of } => {
                let whole = self.get(frame, *a)?;
                let Some(part) = whole.captured(*index as usize, *of as usize)? else {
                    let message = format!("{} is not the sensitivity of a function", whole.kind());
                    return Err(Failure::new(SENSITIVITY, message).with(&whole));
                };
                self.set(frame, *dst, part);
            }
            Instr::Inject { dst, constructor, a } => {
                let payload = self.get(frame, *a)?;
                self.set(frame, *dst, Value::sum(*constructor, payload));
            }
            Instr::Case { a, arms } => {
                let value = self.get(frame, *a)?;
                let Some((constructor, payload)) = value.case()? else {
                    return Err(Failure::new(PATTERN, format!("{} has no constructor", value.kind())).with(&value));
                };
                let Some((_, to, slot)) = arms.iter().find(|arm| arm.0 == constructor) else {
                    return Err(Failure::new(PATTERN, "no case for this constructor").with(&value));
                };
                frame.next = *to;
                self.set(frame, *slot, payload);
            }
            Instr::Closure { dst, group, member, args } => {
                let values = match **args {
                    [a] => Kept::One([self.get(frame, a)?]),
                    [a, b] => Kept::Two([self.get(frame, a)?, self.get(frame, b)?]),
                    [a, b, c] => Kept::Three([self.get(frame, a)?, self.get(frame, b)?, self.get(frame, c)?]),
                    _ => Kept::Many(self.all(frame, args)?.into_boxed_slice()),
                };
                let env = Env::keep(*group, values);
                self.set(frame, *dst, Value::Closure(*member, Word::NONE, env));
            }
            Instr::Sibling { dst, member } => {
                let value = Value::Closure(*member, frame.word, Rc::clone(&frame.env));
                self.set(frame, *dst, value);
            }
            Instr::Test { test, level, dst, a } => {
                let off = level.inverse().unwrap_or_default();
                let value = self.get(frame, *a)?.through(off)?;
                self.set(frame, *dst, Value::Bool(*level, value.passes(*test)));
            }
            Instr::AsReal { level, dst, a } => {
                let x = self.number(frame, *a, *level, "real")?;
                self.set(frame, *dst, Value::Real(*level, x));
            }
            Instr::Op { op, level, dst, args } => return self.operator(op, *level, *dst, args, frame),
            Instr::Const { .. } | Instr::Move { .. } | Instr::Unary { .. } | Instr::Binary { .. } => {}
            Instr::Product { .. } | Instr::Part { .. } | Instr::Pair { .. } | Instr::If { .. } => {}
            Instr::Jump { .. } | Instr::Forget { .. } | Instr::Return { .. } => {}
        }
        Ok(Flow::Next)
    }

    pub(super) fn all(&mut self, frame: &Frame, args: &[Src]) -> Result<Vec<Value>, Failure> {
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(self.get(frame, *arg)?);
        }
        Ok(values)
    }

    fn compare(&mut self, op: Compare, level: Word, frame: &Frame, a: Src, b: Src) -> Result<bool, Failure> {
        let (a, b) = (self.get(frame, a)?, self.get(frame, b)?);
        match (&a, &b) {
            (Value::Real(v, x), Value::Real(w, y)) if *v == level && *w == level => Ok(op.ordered(*x, *y)),
            (Value::Int(t, v, x), Value::Int(u, w, y)) if t == u && *v == level && *w == level => {
                Ok(op.ints(*t, *x, *y))
            }
            (Value::Bool(v, x), Value::Bool(w, y)) if *v == level && *w == level => Ok(op.ordered(*x, *y)),
            (Value::Real(v, _), other) | (other, Value::Real(v, _)) if *v == level => {
                Err(wrong(op.name(), other, level))
            }
            (a, _) => Err(wrong(op.name(), a, level)),
        }
    }
}

/// A value with its tangent, under the layers of a level. Under a layer of bundles, both parts of the result are bundles.
fn bundle_at(level: Word, a: Value, b: Value) -> Result<Value, Failure> {
    match level.top() {
        None => Value::bundle(a, b),
        Some(View::Forward) => {
            let (primal, tangent) = (Word::one(View::Primal), Word::one(View::Tangent));
            let first = bundle_at(level.pop(), a.clone().through(primal)?, b.clone().through(primal)?)?;
            let second = bundle_at(level.pop(), a.through(tangent)?, b.through(tangent)?)?;
            Value::bundle(first, second)
        }
        Some(layer) => {
            let on = Word::one(layer);
            let off = on.inverse().ok_or_else(|| Failure::new(LEVEL, "internal error: the level of a bundle"))?;
            bundle_at(level.pop(), a.through(off)?, b.through(off)?)?.through(on)
        }
    }
}

/// A value that an operator does not take.
pub(super) fn wrong(name: &str, value: &Value, level: Word) -> Failure {
    if level.top() == Some(View::Sense) {
        let message = format!("the sensitivity does not match the result of `{name}`");
        return Failure::new(SENSITIVITY, message)
            .with(value)
            .help("a sensitivity has the shape of the result, made by `sensitize`");
    }
    if matches!(value, Value::Real(..) | Value::Bundle(..) | Value::Bool(..)) && value.word() != level {
        let expected = if level.is_none() { "plain numbers".into() } else { format!("{level} numbers") };
        let message = format!("`{name}` takes {expected} here");
        return Failure::new(LEVEL, message).with(value).help("take the layers off, or transform the function too");
    }
    let failure = Failure::new(OPERAND, format!("`{name}` does not take {}", value.kind())).with(value);
    if matches!(name, "+" | "-" | "*" | "/") && matches!(value, Value::Pair(..)) {
        let help = format!("`{name}` takes two numbers, and in `({name} x y z)` the second is the pair of y and z");
        return failure.help(format!("{help}: write `({name} ({name} x y) z)`"));
    }
    failure
}

fn shape(of: u32) -> String {
    match of {
        0 => "the empty list".into(),
        2 => "a pair".into(),
        n => format!("a tuple of {n}"),
    }
}
