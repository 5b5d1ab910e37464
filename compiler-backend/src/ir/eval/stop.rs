//! The state in which a run stopped: the calls under way and the variables of the source.

use super::machine::{EndedCall, Machine};
use super::state::Location;
use super::{Direction, EvalError};
use crate::ir::source::{NamedOperand, Number, Place, Shape};
use crate::ir::{Loc, Mem, Operand, Program, Var};

/// The most numbers of an array or a stack that are recorded.
const MAX_RECORDED: u64 = 64;

/// Why a run stopped, and in what state.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    /// Why it stopped.
    pub error: EvalError,
    /// The calls under way, the innermost first.
    pub calls: Vec<Call>,
    /// The words of memory that were passed in, with their values at the stop.
    pub memory: Vec<u64>,
}

impl Stop {
    /// A stop before anything has run.
    pub(super) fn at_once(error: EvalError) -> Stop {
        Stop { error, calls: Vec::new(), memory: Vec::new() }
    }
}

/// A call under way.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The function's name.
    pub name: String,
    /// Where the function is in the source.
    pub written: Loc,
    /// The direction in which it runs.
    pub direction: Direction,
    /// The place of the call.
    pub called: Loc,
    /// The variables in scope.
    pub variables: Vec<Value>,
}

/// A variable of the source with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The name.
    pub name: String,
    /// The value.
    pub held: HeldValue,
    /// The first of its words. Variables with the same first word share it.
    at: Option<Location>,
}

impl Value {
    /// Whether two variables begin with the same word.
    pub fn is(&self, other: &Value) -> bool {
        self.at.is_some() && self.at == other.at
    }
}

/// The value of a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum HeldValue {
    /// A number.
    Number(Number, u64),
    /// An array's first elements, in the order of memory.
    Array {
        /// The words of an element.
        element: Vec<Number>,
        /// The number of elements along each dimension.
        dims: Vec<u64>,
        /// True for column-major order: the first index varies fastest.
        by_column: bool,
        /// The first words, at most 64.
        words: Vec<u64>,
    },
    /// A stack.
    Stack {
        /// The number of its numbers.
        count: u64,
        /// The top numbers, at most 64, the top one first.
        words: Vec<u64>,
    },
    /// Parts with names of their own.
    Parts(Vec<Value>),
}

/// The calls that were under way when a run stopped.
pub(super) fn calls(program: &Program, machine: &Machine<'_>) -> Vec<Call> {
    let call = |ended: &EndedCall| {
        let function = program.functions.get(ended.func.0 as usize)?;
        let view = View { machine, ended };
        let direction = if ended.back { Direction::Backward } else { Direction::Forward };
        Some(Call {
            name: function.name.clone(),
            written: function.loc,
            direction,
            called: ended.called,
            variables: function.names.iter().filter_map(|named| view.value(named)).collect(),
        })
    };
    machine.ended.iter().filter_map(call).collect()
}

/// A frame and the words of its variables.
struct View<'m, 'a> {
    machine: &'m Machine<'a>,
    ended: &'m EndedCall,
}

impl View<'_, '_> {
    fn place(&self, v: Var) -> Option<Location> {
        let lives = self.ended.alive.get(v.0 as usize).copied().unwrap_or(false);
        self.ended.places.get(v.0 as usize).copied().filter(|_| lives)
    }

    fn memory(&self, mem: Mem) -> Option<Location> {
        let address = usize::try_from(address(self, mem)?).ok()?;
        (address < self.machine.state.memory.values.len()).then_some(Location::Word(address))
    }

    /// The first word of a variable, if it is in one.
    fn first(&self, shape: &Shape) -> Option<Location> {
        match shape {
            Shape::Number(_, Place::Var(v)) => self.place(*v),
            Shape::Number(_, Place::Mem(m)) => self.memory(*m),
            Shape::Array { start, dims, .. } => {
                let empty = dims.iter().any(|d| operand(self, *d) == Some(0));
                if empty { None } else { self.memory(*start) }
            }
            Shape::Stack { start } => self.memory(*start),
            Shape::Number(_, Place::Const(_)) | Shape::Parts(_) => None,
        }
    }

    /// The value of a variable that is alive.
    fn value(&self, named: &NamedOperand) -> Option<Value> {
        Some(Value { name: named.name.clone(), held: held(self, &named.shape)?, at: self.first(&named.shape) })
    }
}

impl Words for View<'_, '_> {
    fn variable(&self, var: Var) -> Option<u64> {
        Some(self.machine.state.value(self.place(var)?))
    }

    fn word(&self, address: u64) -> Option<u64> {
        self.machine.state.memory.values.get(usize::try_from(address).ok()?).copied()
    }
}

/// The words of a function's variables, and of memory.
pub trait Words {
    /// The word of a variable, if it is alive and known.
    fn variable(&self, var: Var) -> Option<u64>;
    /// A word of memory.
    fn word(&self, address: u64) -> Option<u64>;
}

fn address<W: Words>(words: &W, mem: Mem) -> Option<u64> {
    let mut address = mem.offset.cast_unsigned();
    for var in mem.vars() {
        address = address.wrapping_add(words.variable(var)?);
    }
    Some(address)
}

fn operand<W: Words>(words: &W, operand: Operand) -> Option<u64> {
    match operand {
        Operand::Const(k) => Some(k),
        Operand::Var(v) => words.variable(v),
        Operand::Mem(m) => words.word(address(words, m)?),
    }
}

/// A number of words from number `from` after this one on, but at most as many as are recorded.
fn some_words<W: Words>(words: &W, start: Mem, from: u64, count: u64) -> Option<Vec<u64>> {
    let start = address(words, start)?.checked_add(from)?;
    (0..count.min(MAX_RECORDED)).map(|n| words.word(start.checked_add(n)?)).collect()
}

/// What a variable of the source holds; `None` if not all of it is alive and known.
pub fn held<W: Words>(words: &W, shape: &Shape) -> Option<HeldValue> {
    Some(match shape {
        Shape::Number(number, place) => {
            let word = match place {
                Place::Var(v) => words.variable(*v)?,
                Place::Mem(m) => words.word(address(words, *m)?)?,
                Place::Const(k) => *k,
            };
            HeldValue::Number(*number, word)
        }
        Shape::Array { element, start, dims, by_column } => {
            let dims = dims.iter().map(|d| operand(words, *d)).collect::<Option<Vec<u64>>>()?;
            let count = dims.iter().try_fold(element.len() as u64, |n, d| n.checked_mul(*d))?;
            let own = if count == 0 { Vec::new() } else { some_words(words, *start, 0, count)? };
            HeldValue::Array { element: element.clone(), dims, by_column: *by_column, words: own }
        }
        Shape::Stack { start } => {
            let count = *some_words(words, *start, 0, 1)?.first()?;
            let kept = count.min(MAX_RECORDED);
            let mut own = some_words(words, *start, count.checked_sub(kept)?.checked_add(1)?, kept)?;
            own.reverse();
            HeldValue::Stack { count, words: own }
        }
        Shape::Parts(parts) => {
            let part = |p: &NamedOperand| Some(Value { name: p.name.clone(), held: held(words, &p.shape)?, at: None });
            let own: Vec<Value> = parts.iter().filter_map(part).collect();
            if own.is_empty() && !parts.is_empty() {
                return None;
            }
            HeldValue::Parts(own)
        }
    })
}
