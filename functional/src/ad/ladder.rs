//! Smeding and Vákár's ladder from naive dual numbers to a tape: five transformations of the core, and what each of them costs.
//!
//! In each stage a number of the program becomes a *dual number*: the number, an ID, and a *backpropagator*, a linear function from the
//! derivative of the result with respect to this number to the derivatives with respect to the inputs. Constants and operators on numbers
//! change; everything else stays as it is, so that recursion, functions as values, tuples, sums and arrays need no case of their own.
//!
//! - **D1**: backpropagators call each other. One that is used twice is called twice, so that calls may double with each operation.
//! - **D2**: backpropagators return a gradient and a map from IDs to calls that are put off. Two calls of one backpropagator become one (linear
//!   factoring); the highest ID is called first, and so each backpropagator is called once.
//! - **D3**: backpropagators return functions that add to what is staged (Cayley's representation of a monoid), and the gradient is a map from
//!   inputs to numbers: no gradient of the whole input is made on the way.
//! - **D4**: both maps are arrays that change in place.
//! - **D5**: no backpropagators are left, but their operands and partial derivatives: a tape.

mod map;
mod state;
mod tape;
mod transform;
mod walk;

use rustc_hash::FxHashMap;

use crate::core::{GroupId, Store, Value, Word};
use crate::errors::{ARGUMENT, Failure};
use crate::eval::{Counts, Machine};
use crate::value::{Array, Env};

pub use map::MapWork;
pub use state::{LadderCounts, LadderOp};
pub use tape::Tape;

pub(crate) use state::State;
use state::{Arrays, Collected, Dual, Staged};
use transform::Ladder;
use walk::{Deinterleave, Interleave, Lift, Numbers, Rebuild, walk};

/// A stage of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Naive dual numbers.
    D1,
    /// Staged calls.
    D2,
    /// Cayley-transformed.
    D3,
    /// Mutable arrays.
    D4,
    /// A tape.
    D5,
}

impl Stage {
    /// All stages.
    pub const ALL: [Stage; 5] = [Stage::D1, Stage::D2, Stage::D3, Stage::D4, Stage::D5];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::D1 => "d1",
            Stage::D2 => "d2",
            Stage::D3 => "d3",
            Stage::D4 => "d4",
            Stage::D5 => "d5",
        }
    }
}

/// What the derivative of a function gives.
#[derive(Debug)]
pub struct Gradient {
    /// The function's value.
    pub value: Value,
    /// The derivatives, in the form of the argument.
    pub gradient: Value,
    /// What the function took with its dual numbers, and what the way back took.
    pub passes: [Counts; 2],
    /// What the stage cost besides.
    pub counts: LadderCounts,
    /// The tape of D5.
    pub tape: Option<Tape>,
}

/// The value of a function, and its derivatives by a stage. The seed has the form of the result; without one, all its numbers are 1.
///
/// # Errors
/// If the evaluation fails, or something cannot be differentiated by the ladder.
pub fn gradient(
    machine: &mut Machine,
    stage: Stage,
    function: &Value,
    argument: &Value,
    seed: Option<&Value>,
) -> Result<Gradient, Failure> {
    let inputs = walk::inputs(argument)?;
    let start = machine.counts();
    machine.ladder = Some(State::new(stage, inputs));
    let done = differentiate(machine, (function, argument, seed), &start);
    let state = machine.ladder.take();
    let (value, gradient, passes) = done?;
    let (counts, tape) = state.map(|s| (s.counts, s.tape)).unwrap_or_default();
    Ok(Gradient { value, gradient, passes, counts, tape: (stage == Stage::D5).then_some(tape) })
}

/// A sensitivity of a value's form, with the numbers of a seed, or ones.
///
/// # Errors
/// If the value holds a function or layers of derivatives, or the seed has another number of numbers.
pub fn seeded(value: &Value, seed: Option<&Value>) -> Result<Value, Failure> {
    let numbers = seeds(value, seed, walk::inputs(value)?)?;
    walk(value, &mut Rebuild { numbers: numbers.iter() })
}

/// A function after the transformation of a stage, as the store's group of it.
///
/// # Errors
/// If something cannot be differentiated by the ladder.
pub fn transformed(store: &mut Store, stage: Stage, group: GroupId) -> Result<GroupId, Failure> {
    Ladder::new(stage, store).group(store, group)
}

/// The state of the stage at work.
fn state(machine: &mut Machine) -> Result<&mut State, Failure> {
    machine.ladder.as_mut().ok_or_else(|| Failure::new(ARGUMENT, "internal error: no stage is at work"))
}

type Done = (Value, Value, [Counts; 2]);

fn differentiate(
    machine: &mut Machine,
    (function, argument, seed): (&Value, &Value, Option<&Value>),
    start: &Counts,
) -> Result<Done, Failure> {
    let stage = state(machine)?.stage;
    let mut ladder = Ladder::new(stage, machine.store_mut());
    let (x, ids) = interleaved(machine, &ladder, argument)?;
    let f = lifted(machine, &mut ladder, function)?;
    let result = machine.apply(f, x)?;
    let mut outputs = Deinterleave::default();
    let value = walk(&result, &mut outputs)?;
    drop(result);
    let seeds = seeds(&value, seed, outputs.duals.len())?;
    let middle = machine.counts();
    let calls = calls_of(machine, &ladder);
    let numbers = backward(machine, stage, &outputs.duals, &seeds, &ids)?;
    if stage == Stage::D1 {
        let calls = calls_of(machine, &ladder) - calls;
        state(machine)?.counts.backpropagators += calls;
    }
    let gradient = walk(argument, &mut Rebuild { numbers: numbers.iter() })?;
    let passes = [middle.since(start), machine.counts().since(&middle)];
    Ok((value, gradient, passes))
}

/// How often backpropagators were called.
fn calls_of(machine: &Machine, ladder: &Ladder) -> u64 {
    ladder.backs.iter().map(|group| machine.calls_of(*group)).sum()
}

/// The argument with dual numbers, and the IDs of its numbers.
fn interleaved(machine: &mut Machine, ladder: &Ladder, argument: &Value) -> Result<(Value, Vec<u64>), Failure> {
    let input = ladder.input;
    let back = |n: usize| match input {
        Some(group) => Value::Closure(0, Word::NONE, Env::new(group, Box::new([Value::int(state::ID, n as i64)]))),
        None => Value::UNIT,
    };
    let mut interleave = Interleave { state: state(machine)?, back: &back, next: 0, ids: Vec::new() };
    let x = walk(argument, &mut interleave)?;
    Ok((x, interleave.ids))
}

/// The transformed function, with its captured numbers as constants.
fn lifted(machine: &mut Machine, ladder: &mut Ladder, function: &Value) -> Result<Value, Failure> {
    let back = match ladder.constant {
        Some(group) => Value::Closure(0, Word::NONE, Env::new(group, Box::new([]))),
        None => Value::UNIT,
    };
    let (store, state) = machine.store_and_ladder();
    let Some(state) = state else { return Ok(function.clone()) };
    let mut group = |id| ladder.group(store, id);
    let mut lift =
        Lift { state, back, group: &mut group, known: FxHashMap::default(), environments: FxHashMap::default() };
    walk(function, &mut lift)
}

/// The numbers of a seed for a result with so many numbers.
fn seeds(value: &Value, seed: Option<&Value>, count: usize) -> Result<Vec<f64>, Failure> {
    let Some(seed) = seed else { return Ok(vec![1.0; count]) };
    let mut numbers = Numbers::default();
    walk(seed, &mut numbers)?;
    if numbers.0.len() == count {
        return Ok(numbers.0);
    }
    let (has, wants) = (numbers.0.len(), count);
    Err(Failure::new(ARGUMENT, format!("the seed has {has} numbers, and the result has {wants}"))
        .with(seed)
        .with(value)
        .help("give a seed of the form of the result"))
}

/// The derivatives with respect to the inputs, from the numbers of the result and their seeds.
fn backward(
    machine: &mut Machine,
    stage: Stage,
    outputs: &[Dual],
    seeds: &[f64],
    ids: &[u64],
) -> Result<Vec<f64>, Failure> {
    match stage {
        Stage::D1 => naive(machine, outputs, seeds),
        Stage::D2 | Stage::D3 => staged(machine, stage, outputs, seeds, &mut None),
        Stage::D4 => in_place(machine, outputs, seeds),
        Stage::D5 => {
            let room = state(machine)?.tape.len() as u64 * 8;
            machine.look(room)?;
            let state = state(machine)?;
            let seeds: Vec<(usize, f64)> =
                outputs.iter().zip(seeds).map(|(o, s)| (o.id.unwrap_or_default() as usize, *s)).collect();
            let (adjoints, products) = state.tape.sweep(&seeds);
            state.counts.array_writes += products + seeds.len() as u64;
            machine.count_products(products);
            Ok(ids.iter().map(|id| adjoints[*id as usize]).collect())
        }
    }
}

/// D1: the backpropagators of the result are called, and the gradients added.
fn naive(machine: &mut Machine, outputs: &[Dual], seeds: &[f64]) -> Result<Vec<f64>, Failure> {
    let mut sum = state(machine)?.operate(LadderOp::Zero, &[])?;
    for (n, (output, seed)) in outputs.iter().zip(seeds).enumerate() {
        let one = machine.apply(output.back.clone(), Value::real(*seed))?;
        sum = if n == 0 { one } else { state(machine)?.operate(LadderOp::Add, &[sum, one])? };
    }
    match &sum {
        Value::Array(_, array) => match &**array {
            Array::Real(numbers) => Ok(numbers.clone()),
            Array::Int(..) | Array::Bool(_) | Array::Boxed(_) | Array::Zeros(..) | Array::Sparse(..) => Ok(Vec::new()),
        },
        _ => Ok(Vec::new()),
    }
}

/// The IDs and arguments of staged calls, before each call.
pub type Staging = Vec<Vec<(u64, f64)>>;

type Trace = Option<Staging>;

/// D2 and D3: the calls are staged, and the one with the highest ID is made until none is left.
fn staged(
    machine: &mut Machine,
    stage: Stage,
    outputs: &[Dual],
    seeds: &[f64],
    trace: &mut Trace,
) -> Result<Vec<f64>, Failure> {
    let mut all = if stage == Stage::D2 {
        let zero = state(machine)?.operate(LadderOp::StagedZero, &[])?;
        state(machine)?.at(LadderOp::StagedZero, &zero)?
    } else {
        Collected::default()
    };
    for (output, seed) in outputs.iter().zip(seeds) {
        let (id, f, z) = (output.id.unwrap_or_default(), output.back.clone(), Value::real(*seed));
        let id = Value::int(state::ID, id as i64);
        let state = state(machine)?;
        all = if stage == Stage::D2 {
            let call = state.operate(LadderOp::StagedCall, &[id, f, z])?;
            let call = state.at(LadderOp::StagedCall, &call)?;
            state.sum(&all, &call)
        } else {
            let handle = state.staged(all);
            let handle = state.operate(LadderOp::Call, &[id, f, z, handle])?;
            state.at(LadderOp::Call, &handle)?
        };
        state.collected.clear();
    }
    loop {
        if let Some(trace) = trace {
            trace.push(all.calls.entries().into_iter().map(|(id, call)| (id, call.argument)).collect());
        }
        let current = state(machine)?;
        if all.calls.len() == 0 {
            return Ok(current.gradient_of(&all));
        }
        let Some((_, Staged { function, argument }, rest)) = all.calls.without_last(&mut current.counts.maps) else {
            return Ok(current.gradient_of(&all));
        };
        current.counts.backpropagators += 1;
        let looks = current.counts.backpropagators.is_multiple_of(PERIOD as u64);
        all.calls = rest;
        if looks {
            machine.look(0)?;
        }
        let made = machine.apply(function, Value::real(argument))?;
        all = if stage == Stage::D2 {
            let state = state(machine)?;
            let made = state.at(LadderOp::StagedAdd, &made)?;
            state.sum(&made, &all)
        } else {
            let handle = state(machine)?.staged(all);
            let handle = machine.apply(made, handle)?;
            state(machine)?.at(LadderOp::Call, &handle)?
        };
        state(machine)?.collected.clear();
    }
}

/// How many calls lie between two looks at the limits.
const PERIOD: usize = 256;

/// D4: the same with arrays, from the last ID to the first.
fn in_place(machine: &mut Machine, outputs: &[Dual], seeds: &[f64]) -> Result<Vec<f64>, Failure> {
    let room = state(machine)?.next.saturating_mul(size_of::<Option<Staged>>() as u64);
    machine.look(room)?;
    let current = state(machine)?;
    let (inputs, all) = (current.inputs, current.next as usize);
    current.arrays = Arrays { gradient: vec![0.0; inputs], calls: vec![None; all] };
    for (output, seed) in outputs.iter().zip(seeds) {
        let id = Value::int(state::ID, output.id.unwrap_or_default() as i64);
        current.operate(LadderOp::Call, &[id, output.back.clone(), Value::real(*seed), Value::UNIT])?;
    }
    for id in (0..all).rev() {
        if id.is_multiple_of(PERIOD) {
            machine.look(0)?;
        }
        let current = state(machine)?;
        let Some(Staged { function, argument }) = current.arrays.calls[id].take() else { continue };
        current.counts.backpropagators += 1;
        let made = machine.apply(function, Value::real(argument))?;
        machine.apply(made, Value::UNIT)?;
    }
    Ok(std::mem::take(&mut state(machine)?.arrays.gradient))
}

/// Calls a backpropagator whose ID is given with a number by stage D2, and tells what is staged before each call: IDs and arguments.
///
/// # Errors
/// If the evaluation fails.
pub fn staging(
    machine: &mut Machine,
    inputs: usize,
    back: &Value,
    id: u64,
    z: f64,
) -> Result<(Vec<f64>, Staging), Failure> {
    machine.ladder = Some(State::new(Stage::D2, inputs));
    let output = Dual { number: 0.0, id: Some(id), back: back.clone() };
    let mut trace = Some(Vec::new());
    let done = staged(machine, Stage::D2, &[output], &[z], &mut trace);
    machine.ladder = None;
    Ok((done?, trace.unwrap_or_default()))
}
