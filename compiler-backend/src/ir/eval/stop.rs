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

    fn operand(&self, operand: Operand) -> Option<u64> {
        match operand {
            Operand::Const(k) => Some(k),
            Operand::Var(v) => Some(self.machine.state.value(self.place(v)?)),
            Operand::Mem(m) => Some(self.machine.state.value(self.memory(m)?)),
        }
    }

    fn memory(&self, mem: Mem) -> Option<Location> {
        let mut address = mem.offset.cast_unsigned();
        for var in mem.vars() {
            address = address.wrapping_add(self.machine.state.value(self.place(var)?));
        }
        let address = usize::try_from(address).ok()?;
        (address < self.machine.state.memory.values.len()).then_some(Location::Word(address))
    }

    /// A number of words from this one on, but at most as many as are recorded.
    fn words(&self, start: Mem, from: u64, count: u64) -> Option<Vec<u64>> {
        let Location::Word(start) = self.memory(start)? else { return None };
        let start = start.checked_add(usize::try_from(from).ok()?)?;
        let end = start.checked_add(usize::try_from(count.min(MAX_RECORDED)).ok()?)?;
        self.machine.state.memory.values.get(start..end).map(<[u64]>::to_vec)
    }

    /// The value of a variable that is alive.
    fn value(&self, named: &NamedOperand) -> Option<Value> {
        let (held, at) = match &named.shape {
            Shape::Number(number, place) => {
                let at = match place {
                    Place::Var(v) => self.place(*v)?,
                    Place::Mem(m) => self.memory(*m)?,
                    Place::Const(k) => Location::Const(*k),
                };
                (HeldValue::Number(*number, self.machine.state.value(at)), Some(at))
            }
            Shape::Array { element, start, dims, by_column } => {
                let dims = dims.iter().map(|d| self.operand(*d)).collect::<Option<Vec<u64>>>()?;
                let count = dims.iter().try_fold(element.len() as u64, |n, d| n.checked_mul(*d))?;
                let words = if count == 0 { Vec::new() } else { self.words(*start, 0, count)? };
                let at = if count == 0 { None } else { self.memory(*start) };
                (HeldValue::Array { element: element.clone(), dims, by_column: *by_column, words }, at)
            }
            Shape::Stack { start } => {
                let count = *self.words(*start, 0, 1)?.first()?;
                let kept = count.min(MAX_RECORDED);
                let mut words = self.words(*start, count.checked_sub(kept)?.checked_add(1)?, kept)?;
                words.reverse();
                (HeldValue::Stack { count, words }, self.memory(*start))
            }
            Shape::Parts(parts) => (HeldValue::Parts(parts.iter().filter_map(|p| self.value(p)).collect()), None),
        };
        let at = at.filter(|at| !matches!(at, Location::Const(_)));
        Some(Value { name: named.name.clone(), held, at })
    }
}
