//! A direct evaluator: what a program means, by which the compiled code is checked.
//!
//! What an update or a permutation does comes from the instruction table, and what it does to
//! gradient words from [`pendula_isa::adjoint`]; structure is followed here, in either direction,
//! without inverting anything beforehand. An argument is taken by reference; a parameter that the
//! function changes for a time only is a copy of its own, whose gradient word is added to the argument's
//! at the end.
//!
//! Contracts of the representation are checked where that costs little: that ancillas are zero where they
//! begin and end, that a loop does not change its bounds, that words written at once are different ones.

mod bench;
mod control;
mod error;
mod instructions;
mod lifetimes;
mod machine;
mod stop;
mod trace;

use std::time::Instant;

use pendula_isa::{Env, Ty};
use rustc_hash::{FxHashMap, FxHashSet};

pub use error::EvalError;
pub use stop::{Call, Held, Stop, Value};
pub use trace::{Change, Element, Listener, Ran};

use super::{FunctionId, Loc, Program};
use bench::State;
use machine::Machine;
use trace::Tracer;

/// What a run may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Words of memory, those given included.
    pub memory: usize,
    /// How many statements may run; each turn of a loop counts as one more.
    pub max_steps: u64,
    /// When the run is given up, if it is.
    pub until: Option<Instant>,
    /// Let infinities and NaN of floating-point numbers through.
    pub ieee: bool,
    /// Stop where a fixed-point number, or an integer of Janus, has no room.
    pub trap_overflow: bool,
}

/// A moment of a run: where these statements of the source have run so often, in either direction. The run stops before the next of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// How often each is to run in all.
    runs: FxHashMap<Loc, u64>,
    /// How often each is still to run.
    left: FxHashMap<Loc, u64>,
    /// How often it was when the run began that is under way.
    begun: FxHashMap<Loc, u64>,
    /// How many runs have begun.
    ways: usize,
    /// The sum of these.
    sum: u64,
    /// Statements of which it is not known how often they are to run: behind the last of the others none may come before the moment.
    unknown: FxHashSet<Loc>,
    /// Before which statement the run stops where it takes too long until then; before any of them, if none is named.
    late: Option<Loc>,
}

impl Moment {
    /// The moment where each statement has run so often.
    pub fn new(
        runs: impl IntoIterator<Item = (Loc, u64)>,
        unknown: impl IntoIterator<Item = Loc>,
        late: Option<Loc>,
    ) -> Moment {
        let runs: FxHashMap<Loc, u64> = runs.into_iter().collect();
        let (sum, unknown) = (runs.values().sum(), unknown.into_iter().collect());
        Moment { begun: runs.clone(), left: runs.clone(), runs, ways: 0, sum, unknown, late }
    }

    /// The same moment, to be come to once more.
    #[must_use]
    pub fn again(&self) -> Moment {
        let Moment { runs, unknown, late, .. } = self;
        Moment::new(runs.clone(), unknown.iter().copied(), *late)
    }

    /// How often a statement has run since the last run began, and how often it will have at the moment. `None` of a statement that is not counted.
    pub fn ran(&self, loc: Loc) -> Option<(u64, u64)> {
        let (begun, left) = (*self.begun.get(&loc)?, *self.left.get(&loc)?);
        Some((begun - left, begun))
    }

    /// Whether all has run that is to run until the moment.
    pub fn is_now(&self) -> bool {
        self.sum == 0
    }

    /// How many runs, one after the other, have begun.
    pub fn ways(&self) -> usize {
        self.ways
    }

    /// A run begins.
    fn begin(&mut self) {
        self.ways += 1;
        self.begun.clone_from(&self.left);
    }

    /// A statement is come to. `too_late`: whether the run takes too long.
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

/// Which way a function is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// As it stands.
    Forward,
    /// Undone.
    Backward,
}

/// Something shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// A number, and how it is read.
    Number(Ty, u64),
    /// A text: an index into [`Program::texts`].
    Text(u32),
}

/// What a run leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evaluation {
    /// The parameters.
    pub params: Vec<u64>,
    /// The words of memory that were given. Where the program has a stack of its own and less was given, zeros to its end.
    pub memory: Vec<u64>,
    /// Their gradient words, if the run carried any: the parameters' and the memory's.
    pub gradients: Option<(Vec<u64>, Vec<u64>)>,
    /// What was shown.
    pub shown: Vec<Shown>,
    /// How many statements ran, and turns of loops.
    pub steps: u64,
    /// Bits forgotten: 64 for each word other than zero, or gradient word, that was cleared where a life ended.
    pub lost_bits: u64,
    /// How many of them were gradient words.
    pub dropped: u64,
    /// Where a word that was not to be checked ended its life first other than zero. Compiled code would leave it as it is.
    pub unchecked: Option<Loc>,
    /// Where a gradient word that was not to be dropped was first left behind. Compiled code would leave it as it is.
    pub undropped: Option<Loc>,
    /// Where a fixed-point number wrapped first.
    pub overflow: Option<Loc>,
}

/// How deep calls may be nested.
pub const MAX_CALLS: usize = 100_000;

/// Memory for the host's stack to begin with, in bytes; it grows with what is nested.
const STACK: usize = 8 << 20;

/// Runs a function on parameters, one word for each, and memory from address 0 on, behind which the arrays are allocated.
/// With `gradients`, of the parameters and of the memory, words carry gradient words.
///
/// # Errors
/// Where the program traps, or breaks a contract of the representation.
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

/// The same; where the program stops, with the calls under way and their variables.
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
    on_a_stack(|| evaluate(program, begin, (None, None), config))
}

/// The same on memory alone, up to a moment. What is left of it, where the run comes to its end before, is kept.
///
/// # Errors
/// Those of [`run`], [`EvalError::Visited`] at the moment, and [`EvalError::Otherwise`] where a statement runs oftener than until then.
pub fn run_to_moment(
    program: &Program,
    func: FunctionId,
    direction: Direction,
    memory: Vec<u64>,
    gradients: Option<(Vec<u64>, Vec<u64>)>,
    moment: &mut Moment,
    config: &Config,
) -> Result<Evaluation, Stop> {
    let begin = Begin { func, direction, params: Vec::new(), memory, gradients };
    moment.begin();
    on_a_stack(|| evaluate(program, begin, (None, Some(moment)), config))
}

/// The same on memory alone, up to a moment if there is one, telling a listener of each statement of the source that runs.
///
/// # Errors
/// Those of [`run`].
pub fn run_traced(
    program: &Program,
    func: FunctionId,
    direction: Direction,
    memory: Vec<u64>,
    listener: Listener<'_>,
    (moment, config): (Option<&mut Moment>, &Config),
) -> Result<Evaluation, Stop> {
    let begin = Begin { func, direction, params: Vec::new(), memory, gradients: None };
    on_a_stack(|| evaluate(program, begin, (Some(Tracer::new(listener)), moment), config))
}

/// In a thread of its own, which outlives a panic.
fn on_a_stack(run: impl FnOnce() -> Result<Evaluation, Stop> + Send) -> Result<Evaluation, Stop> {
    std::thread::scope(|scope| match std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run) {
        Ok(thread) => {
            let panic = EvalError::Malformed { loc: Loc::default(), what: "panic" };
            thread.join().unwrap_or_else(|_| Err(Stop::at_once(panic)))
        }
        Err(_) => Err(Stop::at_once(EvalError::Depth { loc: Loc::default() })),
    })
}

/// What a run begins with.
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
    (tracer, moment): (Option<Tracer<'a>>, Option<&'a mut Moment>),
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
        level: gradients.is_some(),
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
    state.slots.resize(count, state.level);
    state.memory.resize(config.memory, state.level);
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
    out.gradients = state.level.then_some((state.slots.gradients, state.memory.gradients));
    Ok(out)
}
