//! Values of functional programs.
//!
//! A value is 16 bytes. Every value carries a [`Word`]: the layers of a number, or the views through which the parts of a structure are
//! seen. So a transform of a structure takes one step, and its parts are transformed when somebody looks.

use std::cell::{Cell, RefCell};
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use crate::core::GroupId;
use crate::errors::{CONFORM, Failure, NESTING, TANGENT};
pub use crate::word::{View, Word};

mod add;
mod array;
mod parts;
mod see;
mod show;

pub use array::Array;

/// The type of an integer: its width in bits and whether it is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    /// All of them.
    pub const ALL: [IntType; 8] =
        [IntType::I8, IntType::I16, IntType::I32, IntType::I64, IntType::U8, IntType::U16, IntType::U32, IntType::U64];

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

fn release_two(first: &mut Value, second: &mut Value) {
    let_go(PAIR);
    if !first.is_flat() || !second.is_flat() {
        release(&mut [first.take(), second.take()]);
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        release_two(&mut self.0, &mut self.1);
    }
}

impl Drop for Bundle {
    fn drop(&mut self) {
        release_two(&mut self.0, &mut self.1);
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
