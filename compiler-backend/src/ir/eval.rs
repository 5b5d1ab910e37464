//! A direct evaluator of the IR. It defines what a program means, and tests check compiled code against it.
//!
//! The instruction table defines updates and permutations, and [`pendula_isa::adjoint`] what they do to gradient words.
//! The evaluator follows the structure in either direction without inverting statements beforehand. Arguments are passed
//! by reference. An unwritten parameter that the function changes temporarily is a copy; at the end its gradient word is
//! added to the argument's.
//!
//! The evaluator checks the IR's contracts where that costs little: ancillas are zero where they begin and end, a loop
//! does not change its bounds, and words that one statement writes are different words.

mod control;
mod error;
mod instructions;
mod lifetimes;
mod machine;
mod state;
mod stop;
mod trace;

use std::time::Instant;

use pendula_isa::{Env, Ty};
use rustc_hash::{FxHashMap, FxHashSet};

pub use error::EvalError;
pub use stop::{Call, HeldValue, Stop, Value, Words, held};
pub use trace::{Change, Element, Listener, TraceEntry};

use super::{FunctionId, Loc, Program};
use crate::passes::blocks::expand;
use machine::Machine;
use state::State;
use trace::Tracer;

/// The limits and settings of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The number of words of memory, including those that are passed in.
    pub memory: usize,
    /// The most statements that may run. Each iteration of a loop counts as one more.
    pub max_steps: u64,
    /// When the run gives up, if there is a limit.
    pub until: Option<Instant>,
    /// True if floating-point infinities and NaN do not trap.
    pub ieee: bool,
    /// True if the overflow of a fixed-point number, or of an integer of Janus, stops the run.
    pub trap_overflow: bool,
}

/// A point at which a run stops: each of these statements of the source has run a given number of times, in either
/// direction. The run stops before the next of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StopPoint {
    /// How often each statement is to run in all.
    runs: FxHashMap<Loc, u64>,
    /// How often each statement is still to run.
    left: FxHashMap<Loc, u64>,
    /// The value of `left` when the present run began.
    begun: FxHashMap<Loc, u64>,
    /// The number of runs that have begun.
    ways: usize,
    /// The sum of `left`.
    sum: u64,
    /// Statements with an unknown number of runs. After the last run of the others, none of these may come before the stop.
    unknown: FxHashSet<Loc>,
    /// The statement before which a run stops that takes too long; any statement if `None`.
    late: Option<Loc>,
}

impl StopPoint {
    /// The point at which each statement has run so often.
    pub fn new(
        runs: impl IntoIterator<Item = (Loc, u64)>,
        unknown: impl IntoIterator<Item = Loc>,
        late: Option<Loc>,
    ) -> StopPoint {
        let runs: FxHashMap<Loc, u64> = runs.into_iter().collect();
        let (sum, unknown) = (runs.values().sum(), unknown.into_iter().collect());
        StopPoint { begun: runs.clone(), left: runs.clone(), runs, ways: 0, sum, unknown, late }
    }

    /// The same point, to be reached by another run.
    #[must_use]
    pub fn again(&self) -> StopPoint {
        let StopPoint { runs, unknown, late, .. } = self;
        StopPoint::new(runs.clone(), unknown.iter().copied(), *late)
    }

    /// How often a statement has run since the last run began, and how often it will have run at the stop. `None` if the
    /// statement is not counted.
    pub fn ran(&self, loc: Loc) -> Option<(u64, u64)> {
        let (begun, left) = (*self.begun.get(&loc)?, *self.left.get(&loc)?);
        Some((begun - left, begun))
    }

    /// Whether everything has run that is to run before the stop.
    pub fn is_now(&self) -> bool {
        self.sum == 0
    }

    /// The number of successive runs that have begun.
    pub fn directions(&self) -> usize {
        self.ways
    }

    /// Notes that a run begins.
    fn begin(&mut self) {
        self.ways += 1;
        self.begun.clone_from(&self.left);
    }

    /// Notes that the run has reached a statement. `too_late` is true if the run takes too long.
    fn visit(&mut self, loc: Loc, too_late: bool) -> Result<(), EvalError> {
        let Some(left) = self.left.get_mut(&loc) else {
            let lost = self.sum == 0 && self.unknown.contains(&loc);
            return if lost { Err(EvalError::Otherwise { loc }) } else { Ok(()) };
        };
        if self.sum == 0 || too_late && self.late.is_none_or(|late| late == loc) {
            return Err(EvalError::Visited { loc });
        }
        if *left == 0 {
            return Err(EvalError::Otherwise { loc });
        }
        *left -= 1;
        self.sum -= 1;
        Ok(())
    }
}

impl Default for Config {
    fn default() -> Config {
        Config { memory: 1 << 16, max_steps: 10_000_000, until: None, ieee: false, trap_overflow: false }
    }
}

/// The direction in which a function runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the first statement to the last.
    Forward,
    /// Undone, from the last statement to the first.
    Backward,
}

/// Something that the program has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// A number and its type.
    Number(Ty, u64),
    /// A text: an index into [`Program::texts`].
    Text(u32),
}

/// The results of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evaluation {
    /// The words of the parameters.
    pub params: Vec<u64>,
    /// The words of memory that were passed in. If the program has a stack and fewer words were passed in, zeros follow up
    /// to the stack's end.
    pub memory: Vec<u64>,
    /// The gradient words of the parameters and of the memory, if the run carried any.
    pub gradients: Option<(Vec<u64>, Vec<u64>)>,
    /// What the program has shown.
    pub shown: Vec<Shown>,
    /// The number of statements and loop iterations that ran.
    pub steps: u64,
    /// The bits that were lost: 64 for each nonzero word or gradient word that was cleared where a life ended.
    pub lost_bits: u64,
    /// The number of gradient words among them.
    pub dropped: u64,
    /// The first place where an unchecked word ended its life with a value other than zero. Compiled code would leave the
    /// value there.
    pub unchecked: Option<Loc>,
    /// The first place where a gradient word was left behind without being dropped. Compiled code would leave it there.
    pub undropped: Option<Loc>,
    /// The first place where a fixed-point number wrapped.
    pub overflow: Option<Loc>,
}

/// The greatest nesting depth of calls.
pub const MAX_CALLS: usize = 100_000;

/// The initial size of the host's stack in bytes. It grows with the nesting depth.
const INITIAL_STACK: usize = 8 << 20;

/// Runs a function on `params`, one word for each parameter, and on `memory`, which begins at address 0. Arrays are
/// allocated after it. With `gradients`, the gradient words of the parameters and of the memory, words carry gradient words.
///
/// # Errors
/// The program traps, or breaks a contract of the IR.
pub fn run(
    program: &Program,
    func: FunctionId,
    direction: Direction,
    params: Vec<u64>,
    memory: Vec<u64>,
    gradients: Option<(Vec<u64>, Vec<u64>)>,
    config: &Config,
) -> Result<Evaluation, EvalError> {
    run_to_stop(program, func, direction, params, memory, gradients, config).map_err(|stop| stop.error)
}

/// Like [`run`], but an error has the calls under way and their variables.
///
/// # Errors
/// Those of [`run`].
pub fn run_to_stop(
    program: &Program,
    func: FunctionId,
    direction: Direction,
    params: Vec<u64>,
    memory: Vec<u64>,
    gradients: Option<(Vec<u64>, Vec<u64>)>,
    config: &Config,
) -> Result<Evaluation, Stop> {
    let begin = Begin { func, direction, params, memory, gradients };
    on_a_stack(|| evaluate(&expand(program), begin, (None, None), config))
}

/// Like [`run_to_stop`], on memory alone and up to a moment. If the run ends before, `moment` holds what is still to run.
///
/// # Errors
/// Those of [`run`], [`EvalError::Visited`] at the moment, and [`EvalError::Otherwise`] if a statement runs more often.
pub fn run_to_moment(
    program: &Program,
    func: FunctionId,
    direction: Direction,
    memory: Vec<u64>,
    gradients: Option<(Vec<u64>, Vec<u64>)>,
    moment: &mut StopPoint,
    config: &Config,
) -> Result<Evaluation, Stop> {
    let begin = Begin { func, direction, params: Vec::new(), memory, gradients };
    moment.begin();
    on_a_stack(|| evaluate(&expand(program), begin, (None, Some(moment)), config))
}

/// Like [`run_to_moment`], with an optional moment. The listener is called for each statement of the source that runs.
///
/// # Errors
/// Those of [`run`].
pub fn run_traced(
    program: &Program,
    func: FunctionId,
    direction: Direction,
    memory: Vec<u64>,
    listener: Listener<'_>,
    (moment, config): (Option<&mut StopPoint>, &Config),
) -> Result<Evaluation, Stop> {
    let begin = Begin { func, direction, params: Vec::new(), memory, gradients: None };
    on_a_stack(|| evaluate(&expand(program), begin, (Some(Tracer::new(listener)), moment), config))
}

/// Runs in a thread of its own, so that a panic becomes an error.
fn on_a_stack(run: impl FnOnce() -> Result<Evaluation, Stop> + Send) -> Result<Evaluation, Stop> {
    std::thread::scope(|scope| match std::thread::Builder::new().stack_size(INITIAL_STACK).spawn_scoped(scope, run) {
        Ok(thread) => {
            let panic = EvalError::Malformed { loc: Loc::default(), what: "panic" };
            thread.join().unwrap_or_else(|_| Err(Stop::at_once(panic)))
        }
        Err(_) => Err(Stop::at_once(EvalError::Depth { loc: Loc::default() })),
    })
}

/// What a run starts from.
struct Begin {
    func: FunctionId,
    direction: Direction,
    params: Vec<u64>,
    memory: Vec<u64>,
    gradients: Option<(Vec<u64>, Vec<u64>)>,
}

fn evaluate<'a>(
    program: &'a Program,
    begin: Begin,
    (tracer, moment): (Option<Tracer<'a>>, Option<&'a mut StopPoint>),
    config: &Config,
) -> Result<Evaluation, Stop> {
    let Begin { func, direction, params, mut memory, gradients } = begin;
    let stack = usize::try_from(program.stack).unwrap_or(usize::MAX);
    let given = memory.len().max(stack);
    let loc = program.functions.get(func.0 as usize).map_or(Loc::default(), |f| f.loc);
    if given > config.memory {
        let error = EvalError::Fault { loc, fault: pendula_isa::Fault::Memory };
        return Err(Stop::at_once(error));
    }
    let mut state = State {
        env: Env { format: program.format, ieee: config.ieee },
        has_gradients: gradients.is_some(),
        ..State::default()
    };
    memory.resize(config.memory, 0);
    state.memory.values = memory;
    let count = params.len();
    state.slots.values = params;
    if let Some((of_params, of_memory)) = gradients {
        state.slots.gradients = of_params;
        state.memory.gradients = of_memory;
    }
    state.slots.resize(count, state.has_gradients);
    state.memory.resize(config.memory, state.has_gradients);
    state.written = tracer.is_some().then(Vec::new);
    let mut machine = Machine::new(program, state, given, config);
    (machine.tracer, machine.moment) = (tracer, moment);
    if let Err(error) = machine.enter(func, direction == Direction::Backward, loc) {
        let calls = stop::calls(program, &machine);
        let mut memory = machine.state.memory.values;
        memory.truncate(given);
        return Err(Stop { error, calls, memory });
    }
    let Machine { mut state, mut out, .. } = machine;
    state.memory.values.truncate(given);
    state.memory.gradients.truncate(given);
    out.params = state.slots.values;
    out.memory = state.memory.values;
    out.gradients = state.has_gradients.then_some((state.slots.gradients, state.memory.gradients));
    Ok(out)
}
