//! What the evaluator keeps for a stage of the ladder, and the operators that transformed programs use it by.

use std::rc::Rc;

use super::Stage;
use super::map::{Map, MapWork};
use super::tape::Tape;
use crate::core::{IntType, Value};
use crate::errors::{Failure, LADDER};
use crate::value::Array;

/// The type of IDs.
pub(super) const ID: IntType = IntType::I64;

/// An operator of programs that a stage of the ladder has transformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LadderOp {
    /// Whether a value is a dual number.
    IsDual,
    /// The number of a dual number; another value as it is.
    Primal,
    /// A value with numbers in place of dual numbers.
    Lower,
    /// A value that is no structure of dual numbers, as it is: sums of such are not taken apart.
    Whole,
    /// A constant with dual numbers in place of numbers; the operands are the constant and a backpropagator (or `()` in stages that have none).
    Lift,
    /// The next ID.
    Fresh,
    /// A gradient of noughts.
    Zero,
    /// Operands i, z: a gradient that is z at the input i and nought elsewhere.
    OneHot,
    /// The sum of two gradients.
    Add,
    /// Nothing is staged.
    StagedZero,
    /// Operands i, z: a staged gradient that is z at the input i.
    StagedInput,
    /// Operands i, f, z: a staged call of the backpropagator f, whose ID is i, with z.
    StagedCall,
    /// The union of what is staged.
    StagedAdd,
    /// Operands i, z, s: z is added to the input i of what is staged.
    Input,
    /// Operands i, f, z, s: a call of the backpropagator f, whose ID is i, with z is added to what is staged.
    Call,
    /// A node of the tape; the operands are partial derivatives, each followed by the ID that it leads to. Gives the node's ID.
    Node,
}

impl LadderOp {
    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            LadderOp::IsDual => "dual?",
            LadderOp::Primal => "number-of",
            LadderOp::Lower => "numbers-of",
            LadderOp::Whole => "whole",
            LadderOp::Lift => "dual-constant",
            LadderOp::Fresh => "fresh-id",
            LadderOp::Zero => "zero-gradient",
            LadderOp::OneHot => "one-hot",
            LadderOp::Add => "add-gradients",
            LadderOp::StagedZero => "staged-zero",
            LadderOp::StagedInput => "staged-input",
            LadderOp::StagedCall => "staged-call",
            LadderOp::StagedAdd => "staged-add",
            LadderOp::Input => "add-input",
            LadderOp::Call => "add-call",
            LadderOp::Node => "tape-node",
        }
    }
}

/// What a stage has cost, beside arithmetic and calls of functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LadderCounts {
    /// Calls of backpropagators.
    pub backpropagators: u64,
    /// Numbers written into gradients of the whole input: noughts, single numbers among noughts, and sums.
    pub gradient_numbers: u64,
    /// What the maps cost: that of staged calls, and in D3 also that of the inputs.
    pub maps: MapWork,
    /// Elements of arrays that were written.
    pub array_writes: u64,
    /// IDs that were given out: one for each input, constant and operation.
    pub ids: u64,
    /// Nodes of the tape.
    pub nodes: u64,
    /// Edges of the tape.
    pub edges: u64,
}

/// A staged call: the backpropagator, and the sum of what it will be called with.
#[derive(Clone, Debug)]
pub(super) struct Staged {
    pub(super) function: Value,
    pub(super) argument: f64,
}

/// What is staged, as values that do not change.
#[derive(Clone, Debug, Default)]
pub(super) struct Collected {
    /// In D2: the gradient of all inputs.
    dense: Option<Rc<Vec<f64>>>,
    /// In D3: the gradient of those inputs that were reached.
    sparse: Map<f64>,
    pub(super) calls: Map<Staged>,
}

/// What is staged, in place.
#[derive(Debug, Default)]
pub(super) struct Arrays {
    pub(super) gradient: Vec<f64>,
    pub(super) calls: Vec<Option<Staged>>,
}

/// What the evaluator keeps for a stage.
#[derive(Debug)]
pub(crate) struct State {
    pub(super) stage: Stage,
    pub(super) inputs: usize,
    pub(super) next: u64,
    /// What is staged in D2 and D3. A handle is an index.
    pub(super) collected: Vec<Collected>,
    /// What is staged in D4.
    pub(super) arrays: Arrays,
    pub(super) tape: Tape,
    pub(super) counts: LadderCounts,
}

fn broken(op: LadderOp) -> Failure {
    Failure::new(LADDER, format!("`{}` stands outside of what a stage of the ladder transforms", op.name()))
        .help("use it by `pendula grad --stage`")
}

impl State {
    pub(super) fn new(stage: Stage, inputs: usize) -> State {
        State {
            stage,
            inputs,
            next: 0,
            collected: Vec::new(),
            arrays: Arrays::default(),
            tape: Tape::default(),
            counts: LadderCounts::default(),
        }
    }

    /// The next ID. In D5, it is that of an empty node.
    pub(super) fn fresh(&mut self) -> u64 {
        let id = self.next;
        self.next += 1;
        self.counts.ids += 1;
        if self.stage == Stage::D5 {
            self.tape.node(&[]);
            self.counts.nodes += 1;
        }
        id
    }

    /// A dual number with a new ID.
    pub(super) fn dual(&mut self, number: f64, back: Value) -> Value {
        let id = if self.stage == Stage::D1 { Value::UNIT } else { Value::int(ID, self.fresh() as i64) };
        Value::tuple(vec![Value::real(number), id, back])
    }

    /// What an operator gives.
    ///
    /// # Errors
    /// If an operand does not fit.
    pub(crate) fn operate(&mut self, op: LadderOp, args: &[Value]) -> Result<Value, Failure> {
        match (op, args) {
            (LadderOp::IsDual, [a]) => Ok(Value::bool(dual(a).is_some())),
            (LadderOp::Primal, [a]) => Ok(dual(a).map_or_else(|| a.clone(), |d| Value::real(d.number))),
            (LadderOp::Lower, [a]) => super::walk::lowered(a),
            (LadderOp::Whole, [a]) => {
                let scalar = matches!(a, Value::Unit(_) | Value::Bool(..) | Value::Int(..) | Value::Symbol(..));
                if scalar {
                    return Ok(a.clone());
                }
                Err(Failure::new(
                    LADDER,
                    format!("{} is added by parts, which the ladder does not differentiate", a.kind()),
                )
                .with(&super::walk::lowered(a)?)
                .help("add the numbers themselves, or use `--method transform`"))
            }
            (LadderOp::Lift, [a, back]) => super::walk::constant(self, a, back),
            (LadderOp::Fresh, []) => Ok(Value::int(ID, self.fresh() as i64)),
            (LadderOp::Zero, []) => Ok(self.gradient(None)),
            (LadderOp::OneHot, [i, z]) => {
                let one = (index(op, i)?, number(op, z)?);
                Ok(self.gradient(Some(one)))
            }
            (LadderOp::Add, [Value::Array(_, a), Value::Array(_, b)]) => match (&**a, &**b) {
                (Array::Real(a), Array::Real(b)) => {
                    self.counts.gradient_numbers += self.inputs as u64;
                    Ok(Value::array(Array::reals(a.iter().zip(b).map(|(x, y)| x + y).collect())))
                }
                _ => Err(broken(op)),
            },
            (LadderOp::StagedZero, []) => {
                let dense = self.dense(None);
                Ok(self.staged(Collected { dense: Some(dense), ..Collected::default() }))
            }
            (LadderOp::StagedInput, [i, z]) => {
                let dense = self.dense(Some((index(op, i)?, number(op, z)?)));
                Ok(self.staged(Collected { dense: Some(dense), ..Collected::default() }))
            }
            (LadderOp::StagedCall, [i, f, z]) => {
                let staged = Staged { function: f.clone(), argument: number(op, z)? };
                let calls = Map::default().inserted(index(op, i)? as u64, staged, &both, &mut self.counts.maps);
                let dense = self.dense(None);
                Ok(self.staged(Collected { dense: Some(dense), calls, ..Collected::default() }))
            }
            (LadderOp::StagedAdd, [a, b]) => {
                let (a, b) = (self.at(op, a)?, self.at(op, b)?);
                let sum = self.sum(&a, &b);
                Ok(self.staged(sum))
            }
            (LadderOp::Input, [i, z, s]) => self.input(index(op, i)?, number(op, z)?, s),
            (LadderOp::Call, [i, f, z, s]) => self.call(index(op, i)?, f, number(op, z)?, s),
            (LadderOp::Node, edges) => self.node(op, edges),
            _ => Err(broken(op)),
        }
    }

    /// A gradient of the whole input, which is nought but for one number.
    fn gradient(&mut self, one: Option<(usize, f64)>) -> Value {
        let numbers = Rc::unwrap_or_clone(self.dense(one));
        Value::array(Array::reals(numbers))
    }

    fn dense(&mut self, one: Option<(usize, f64)>) -> Rc<Vec<f64>> {
        self.counts.gradient_numbers += self.inputs as u64;
        let mut numbers = vec![0.0; self.inputs];
        if let Some((i, z)) = one
            && let Some(number) = numbers.get_mut(i)
        {
            *number = z;
        }
        Rc::new(numbers)
    }

    pub(super) fn staged(&mut self, collected: Collected) -> Value {
        self.collected.push(collected);
        Value::int(ID, self.collected.len() as i64 - 1)
    }

    pub(super) fn at(&self, op: LadderOp, handle: &Value) -> Result<Collected, Failure> {
        self.collected.get(index(op, handle)?).cloned().ok_or_else(|| broken(op))
    }

    /// The sum of gradients and the union of staged calls.
    pub(super) fn sum(&mut self, a: &Collected, b: &Collected) -> Collected {
        let dense = match (&a.dense, &b.dense) {
            (Some(x), Some(y)) => {
                self.counts.gradient_numbers += self.inputs as u64;
                Some(Rc::new(x.iter().zip(y.iter()).map(|(x, y)| x + y).collect()))
            }
            (x, y) => x.clone().or_else(|| y.clone()),
        };
        let calls = a.calls.union(&b.calls, &both, &mut self.counts.maps);
        Collected { dense, sparse: a.sparse.clone(), calls }
    }

    fn input(&mut self, i: usize, z: f64, s: &Value) -> Result<Value, Failure> {
        if self.stage == Stage::D4 {
            let Some(number) = self.arrays.gradient.get_mut(i) else { return Err(broken(LadderOp::Input)) };
            *number += z;
            self.counts.array_writes += 1;
            return Ok(s.clone());
        }
        let mut collected = self.at(LadderOp::Input, s)?;
        collected.sparse = collected.sparse.inserted(i as u64, z, &|x, y| x + y, &mut self.counts.maps);
        Ok(self.staged(collected))
    }

    fn call(&mut self, i: usize, f: &Value, z: f64, s: &Value) -> Result<Value, Failure> {
        if self.stage == Stage::D4 {
            let Some(call) = self.arrays.calls.get_mut(i) else { return Err(broken(LadderOp::Call)) };
            match call {
                Some(staged) => staged.argument += z,
                None => *call = Some(Staged { function: f.clone(), argument: z }),
            }
            self.counts.array_writes += 1;
            return Ok(s.clone());
        }
        let mut collected = self.at(LadderOp::Call, s)?;
        let staged = Staged { function: f.clone(), argument: z };
        collected.calls = collected.calls.inserted(i as u64, staged, &both, &mut self.counts.maps);
        Ok(self.staged(collected))
    }

    fn node(&mut self, op: LadderOp, args: &[Value]) -> Result<Value, Failure> {
        let mut edges = Vec::with_capacity(args.len() / 2);
        for edge in args.chunks(2) {
            let [partial, id] = edge else { return Err(broken(op)) };
            edges.push((index(op, id)?, number(op, partial)?));
        }
        let id = self.next;
        self.next += 1;
        self.counts.ids += 1;
        self.counts.nodes += 1;
        self.counts.edges += edges.len() as u64;
        self.tape.node(&edges);
        Ok(Value::int(ID, id as i64))
    }

    /// The gradient that was collected, one number for each input.
    pub(super) fn gradient_of(&self, collected: &Collected) -> Vec<f64> {
        match &collected.dense {
            Some(dense) => dense.to_vec(),
            None => (0..self.inputs as u64).map(|i| collected.sparse.get(i).copied().unwrap_or(0.0)).collect(),
        }
    }
}

/// Linear factoring: two calls of one backpropagator become one, with the sum of their arguments.
fn both(a: &Staged, b: &Staged) -> Staged {
    Staged { function: a.function.clone(), argument: a.argument + b.argument }
}

fn number(op: LadderOp, value: &Value) -> Result<f64, Failure> {
    value.plain_real().ok_or_else(|| broken(op))
}

fn index(op: LadderOp, value: &Value) -> Result<usize, Failure> {
    value.plain_int(ID).and_then(|i| usize::try_from(i).ok()).ok_or_else(|| broken(op))
}

/// A dual number.
#[derive(Clone, Debug)]
pub(super) struct Dual {
    pub(super) number: f64,
    /// Its ID, in the stages that have IDs.
    pub(super) id: Option<u64>,
    pub(super) back: Value,
}

/// A value as a dual number, if it is one: a tuple of a number, an ID or `()`, and a backpropagator or `()`. No other tuple of a transformed
/// program has a number as a part.
pub(super) fn dual(value: &Value) -> Option<Dual> {
    let Value::Tuple(word, tuple) = value else { return None };
    let [number, id, back] = &*tuple.0 else { return None };
    let number = number.plain_real().filter(|_| word.is_none())?;
    Some(Dual { number, id: id.plain_int(ID).and_then(|id| u64::try_from(id).ok()), back: back.clone() })
}
