//! Values of functional programs.
//!
//! A value is 16 bytes. Every value carries a [`Word`]: the layers of a number, or the views through which the parts of a structure are
//! seen. So a transform of a structure takes one step, and its parts are transformed when somebody looks.

use std::cell::{Cell, RefCell};
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use crate::core::GroupId;
use crate::errors::{CONFORM, Failure, LEVEL, NESTING, TANGENT};
pub use crate::word::{View, Word};

mod add;
mod array;
mod show;

pub use array::Array;

/// The type of an integer: its width in bits and whether it is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntType {
    /// 8 bits, signed.
    I8,
    /// 16 bits, signed.
    I16,
    /// 32 bits, signed.
    I32,
    /// 64 bits, signed.
    I64,
    /// 8 bits, unsigned.
    U8,
    /// 16 bits, unsigned.
    U16,
    /// 32 bits, unsigned.
    U32,
    /// 64 bits, unsigned.
    U64,
}

impl IntType {
    /// The type's name.
    pub const fn name(self) -> &'static str {
        match self {
            IntType::I8 => "i8",
            IntType::I16 => "i16",
            IntType::I32 => "i32",
            IntType::I64 => "i64",
            IntType::U8 => "u8",
            IntType::U16 => "u16",
            IntType::U32 => "u32",
            IntType::U64 => "u64",
        }
    }

    /// Whether it is signed.
    pub const fn signed(self) -> bool {
        matches!(self, IntType::I8 | IntType::I16 | IntType::I32 | IntType::I64)
    }

    /// Its width in bits.
    pub const fn bits(self) -> u32 {
        match self {
            IntType::I8 | IntType::U8 => 8,
            IntType::I16 | IntType::U16 => 16,
            IntType::I32 | IntType::U32 => 32,
            IntType::I64 | IntType::U64 => 64,
        }
    }

    /// A number, wrapped to the type. A `u64` is kept in the bits of an `i64`.
    pub const fn wrap(self, value: i64) -> i64 {
        match self {
            IntType::I8 => value as i8 as i64,
            IntType::I16 => value as i16 as i64,
            IntType::I32 => value as i32 as i64,
            IntType::I64 | IntType::U64 => value,
            IntType::U8 => value as u8 as i64,
            IntType::U16 => value as u16 as i64,
            IntType::U32 => value as u32 as i64,
        }
    }
}

/// A value.
#[derive(Clone, Debug)]
pub enum Value {
    /// `()`, the empty list and the empty tuple.
    Unit(Word),
    /// A truth value.
    Bool(Word, bool),
    /// An integer.
    Int(IntType, Word, i64),
    /// A real number.
    Real(Word, f64),
    /// A symbol of a quoted constant.
    Symbol(Word, Rc<String>),
    /// A tuple of two.
    Pair(Word, Rc<Pair>),
    /// A tuple of another number of parts, not zero.
    Tuple(Word, Rc<Tuple>),
    /// A constructor with its payload.
    Sum(Word, Rc<Sum>),
    /// An array.
    Array(Word, Rc<Array>),
    /// A member of a group of functions, with the values of the group's free variables.
    Closure(u16, Word, Rc<Env>),
    /// A value with its tangent. Only for reals and for structures that nobody looked into yet.
    Bundle(Word, Rc<Bundle>),
}

/// The parts of a pair.
#[derive(Debug)]
pub struct Pair(pub Value, pub Value);

/// The parts of a tuple.
#[derive(Debug)]
pub struct Tuple(pub Box<[Value]>);

/// A constructor's number and payload.
#[derive(Debug)]
pub struct Sum(pub u32, pub Value);

/// A group of functions with the values of its free variables.
#[derive(Debug)]
pub struct Env {
    /// The group.
    pub group: GroupId,
    /// The values, in the order of the group's free variables.
    pub values: Kept,
}

/// A few values in place, or more elsewhere.
#[derive(Debug)]
pub enum Kept {
    /// One value.
    One([Value; 1]),
    /// Two values.
    Two([Value; 2]),
    /// Three values.
    Three([Value; 3]),
    /// None, or more.
    Many(Box<[Value]>),
}

impl Deref for Kept {
    type Target = [Value];

    #[inline]
    fn deref(&self) -> &[Value] {
        match self {
            Kept::One(all) => all,
            Kept::Two(all) => all,
            Kept::Three(all) => all,
            Kept::Many(all) => all,
        }
    }
}

impl DerefMut for Kept {
    fn deref_mut(&mut self) -> &mut [Value] {
        match self {
            Kept::One(all) => all,
            Kept::Two(all) => all,
            Kept::Three(all) => all,
            Kept::Many(all) => all,
        }
    }
}

/// A value and its tangent.
#[derive(Debug)]
pub struct Bundle(pub Value, pub Value);

thread_local! {
    static HELD: Cell<u64> = const { Cell::new(0) };
    static MADE: Cell<u64> = const { Cell::new(0) };
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static LATER: RefCell<Vec<Value>> = const { RefCell::new(Vec::new()) };
}

/// The bytes that all values of this thread hold.
pub fn held() -> u64 {
    HELD.with(Cell::get)
}

/// How many structures this thread has made.
pub fn made() -> u64 {
    MADE.with(Cell::get)
}

pub(crate) fn hold(bytes: usize) {
    let _ = HELD.try_with(|held| held.set(held.get().wrapping_add(bytes as u64)));
    let _ = MADE.try_with(|made| made.set(made.get().wrapping_add(1)));
}

pub(crate) fn let_go(bytes: usize) {
    let _ = HELD.try_with(|held| held.set(held.get().wrapping_sub(bytes as u64)));
}

/// How deep destructors may call each other; what lies deeper waits in a list.
const DEEPEST: u32 = 100;

/// Drops the parts of a structure without deep recursion.
fn release(parts: &mut [Value]) {
    if parts.iter().all(Value::is_flat) {
        return;
    }
    let depth = DEPTH.try_with(Cell::get).unwrap_or(0);
    if depth >= DEEPEST {
        let _ = LATER.try_with(|later| {
            if let Ok(mut later) = later.try_borrow_mut() {
                later.extend(parts.iter_mut().filter(|p| !p.is_flat()).map(Value::take));
            }
        });
        return;
    }
    let _ = DEPTH.try_with(|d| d.set(depth + 1));
    for part in parts.iter_mut() {
        drop(part.take());
    }
    if depth == 0 {
        while let Some(value) =
            LATER.try_with(|later| later.try_borrow_mut().ok().and_then(|mut l| l.pop())).ok().flatten()
        {
            drop(value);
        }
    }
    let _ = DEPTH.try_with(|d| d.set(depth));
}

const PAIR: usize = size_of::<Pair>() + 16;

impl Drop for Pair {
    fn drop(&mut self) {
        let_go(PAIR);
        if self.0.is_flat() && self.1.is_flat() {
            return;
        }
        release(&mut [self.0.take(), self.1.take()]);
    }
}

impl Drop for Bundle {
    fn drop(&mut self) {
        let_go(PAIR);
        if self.0.is_flat() && self.1.is_flat() {
            return;
        }
        release(&mut [self.0.take(), self.1.take()]);
    }
}

impl Drop for Sum {
    fn drop(&mut self) {
        let_go(PAIR);
        release(&mut [self.1.take()]);
    }
}

fn many(n: usize) -> usize {
    n * size_of::<Value>() + 40
}

impl Drop for Tuple {
    fn drop(&mut self) {
        let_go(many(self.0.len()));
        release(&mut self.0);
    }
}

impl Drop for Env {
    fn drop(&mut self) {
        let_go(many(self.values.len()));
        release(&mut self.values);
    }
}

impl Env {
    /// An environment.
    pub fn new(group: GroupId, values: Box<[Value]>) -> Rc<Env> {
        Env::keep(group, Kept::Many(values))
    }

    pub(crate) fn keep(group: GroupId, values: Kept) -> Rc<Env> {
        hold(many(values.len()));
        Rc::new(Env { group, values })
    }
}

impl Default for Value {
    fn default() -> Value {
        Value::UNIT
    }
}

fn nesting() -> Failure {
    Failure::new(NESTING, "derivatives are nested too deep").help("nest fewer derivatives inside each other")
}

impl Value {
    /// `()`.
    pub const UNIT: Value = Value::Unit(Word::NONE);

    /// A real number.
    pub const fn real(value: f64) -> Value {
        Value::Real(Word::NONE, value)
    }

    /// A truth value.
    pub const fn bool(value: bool) -> Value {
        Value::Bool(Word::NONE, value)
    }

    /// An integer of a type; it wraps.
    pub const fn int(ty: IntType, value: i64) -> Value {
        Value::Int(ty, Word::NONE, ty.wrap(value))
    }

    /// A symbol.
    pub fn symbol(name: impl Into<String>) -> Value {
        Value::Symbol(Word::NONE, Rc::new(name.into()))
    }

    /// A pair.
    pub fn pair(a: Value, b: Value) -> Value {
        hold(PAIR);
        Value::Pair(Word::NONE, Rc::new(Pair(a, b)))
    }

    /// A tuple; one of no parts is `()`.
    pub fn tuple(parts: Vec<Value>) -> Value {
        match <[Value; 2]>::try_from(parts) {
            Ok([a, b]) => Value::pair(a, b),
            Err(parts) if parts.is_empty() => Value::UNIT,
            Err(parts) => {
                hold(many(parts.len()));
                Value::Tuple(Word::NONE, Rc::new(Tuple(parts.into_boxed_slice())))
            }
        }
    }

    /// A list: pairs, and `()` at the end.
    pub fn list(parts: Vec<Value>) -> Value {
        parts.into_iter().rfold(Value::UNIT, |rest, part| Value::pair(part, rest))
    }

    /// A constructor with its payload.
    pub fn sum(constructor: u32, payload: Value) -> Value {
        hold(PAIR);
        Value::Sum(Word::NONE, Rc::new(Sum(constructor, payload)))
    }

    /// An array.
    pub fn array(array: Array) -> Value {
        Value::Array(Word::NONE, Rc::new(array))
    }

    /// A value with its tangent.
    ///
    /// # Errors
    /// If the tangent cannot be one of the value.
    pub fn bundle(primal: Value, tangent: Value) -> Result<Value, Failure> {
        let fits = match (&primal, &tangent) {
            // A tangent that is zero is not kept.
            (Value::Int(s, a, _), Value::Int(t, b, dx)) if s == t && a == b && *dx == 0 => {
                let layers = primal.word().push(View::Forward).ok_or_else(nesting)?;
                return Ok(primal.with_word(layers));
            }
            (Value::Int(s, a, _), Value::Int(t, b, _)) => s == t && a == b,
            (Value::Int(..), Value::Bundle(..)) | (Value::Bundle(..), Value::Int(..)) => true,
            (Value::Unit(_) | Value::Bool(..) | Value::Symbol(..), _) => {
                let layers = primal.word().push(View::Forward).ok_or_else(nesting)?;
                return if std::mem::discriminant(&primal) == std::mem::discriminant(&tangent) {
                    Ok(primal.with_word(layers))
                } else {
                    Err(Value::unlike(&primal, &tangent))
                };
            }
            (Value::Real(a, _), Value::Real(b, _)) => a == b,
            (Value::Real(..), Value::Bundle(..)) | (Value::Bundle(..), Value::Real(..)) => true,
            (Value::Bundle(..), _) | (_, Value::Bundle(..)) => true,
            // What a function captured may stand for its tangent.
            (Value::Closure(_, _, env), other) if other.arity() == Some(env.values.len()) => true,
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        };
        if !fits {
            return Err(Value::unlike(&primal, &tangent));
        }
        hold(PAIR);
        Ok(Value::Bundle(Word::NONE, Rc::new(Bundle(primal, tangent))))
    }

    fn unlike(primal: &Value, tangent: &Value) -> Failure {
        Failure::new(TANGENT, "the tangent does not match the value")
            .with(primal)
            .with(tangent)
            .help("a tangent has the shape of its value, and the same layers")
    }

    /// Whether it holds no other value.
    #[inline]
    pub fn is_flat(&self) -> bool {
        matches!(self, Value::Unit(_) | Value::Bool(..) | Value::Int(..) | Value::Real(..) | Value::Symbol(..))
    }

    /// Moves the value out.
    #[inline]
    pub fn take(&mut self) -> Value {
        std::mem::take(self)
    }

    /// The layers of a number, or the views of a structure.
    #[inline]
    pub fn word(&self) -> Word {
        match self {
            Value::Unit(w) | Value::Bool(w, _) | Value::Int(_, w, _) | Value::Real(w, _) | Value::Symbol(w, _) => *w,
            Value::Pair(w, _) | Value::Tuple(w, _) | Value::Sum(w, _) | Value::Array(w, _) => *w,
            Value::Closure(_, w, _) | Value::Bundle(w, _) => *w,
        }
    }

    pub(crate) fn with_word(mut self, word: Word) -> Value {
        match &mut self {
            Value::Unit(w) | Value::Bool(w, _) | Value::Int(_, w, _) | Value::Real(w, _) | Value::Symbol(w, _) => {
                *w = word
            }
            Value::Pair(w, _) | Value::Tuple(w, _) | Value::Sum(w, _) | Value::Array(w, _) => *w = word,
            Value::Closure(_, w, _) | Value::Bundle(w, _) => *w = word,
        }
        self
    }

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

    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Unit(_) => "the empty list",
            Value::Bool(..) => "a truth value",
            Value::Int(..) => "an integer",
            Value::Real(..) => "a number",
            Value::Symbol(..) => "a symbol",
            Value::Pair(..) => "a pair",
            Value::Tuple(..) => "a tuple",
            Value::Sum(..) => "a constructor",
            Value::Array(..) => "an array",
            Value::Closure(..) => "a function",
            Value::Bundle(..) => "a forward value",
        }
    }
}

fn word_of(views: &[View]) -> Result<Word, Failure> {
    views.iter().try_fold(Word::NONE, |word, view| word.push(*view)).ok_or_else(nesting)
}

/// Two values that cannot be added.
pub(crate) fn apart(a: &Value, b: &Value) -> Failure {
    Failure::new(CONFORM, "values of different shapes are added").with(a).with(b)
}

const _: () = assert!(size_of::<Value>() == 16, "values stay small");
const _: () = assert!(size_of::<Result<Value, Failure>>() == 16, "results, too");
