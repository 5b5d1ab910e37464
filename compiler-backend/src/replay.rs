//! Runs a program once more, as it was before passes and instructions, to tell where and with what variables it stops.

use crate::ir::eval::{self, Config, Direction, EvalError, Listener, Stop};
use crate::ir::{Fun, Program};
use crate::lower::{self, Argument};

/// Runs a program on the words of its data, in each of these directions, one after the other; a moment to stop at is one of the last of these runs. What
/// comes before or after the entry's own call is left out.
///
/// `None`: the run does not stop, or not within the limits of steps and time. One whose calls are nested deeper than the evaluator takes
/// stops with [`EvalError::Depth`], which says nothing of how a machine would go on.
pub fn replay(
    program: &Program,
    arguments: &[Argument],
    directions: &[Direction],
    data: Vec<u64>,
    config: &Config,
) -> Option<Stop> {
    let main = lower::main(program, arguments, program.entry?).ok()?;
    let mut program = program.clone();
    let func = Fun(u32::try_from(program.functions.len()).ok()?);
    program.functions.push(main);
    let mut memory = data;
    for (n, direction) in directions.iter().enumerate() {
        let last = n + 1 == directions.len();
        let config = Config { visit: config.visit.filter(|_| last), ..*config };
        match eval::run_to_stop(&program, func, *direction, Vec::new(), memory, None, &config) {
            Ok(evaluation) => memory = evaluation.memory,
            Err(mut stop) => {
                let limit = matches!(stop.error, eval::EvalError::Steps { .. } | eval::EvalError::Malformed { .. });
                // The last is the one that lends the data.
                stop.calls.pop();
                return (!limit && !stop.calls.is_empty()).then_some(stop);
            }
        }
    }
    None
}

/// The same, telling a listener of each statement of the source that runs. Gives why that came to its end before the run did, if so.
pub fn trace(
    program: &Program,
    arguments: &[Argument],
    directions: &[Direction],
    data: Vec<u64>,
    listener: Listener<'_>,
    config: &Config,
) -> Option<EvalError> {
    let main = lower::main(program, arguments, program.entry?).ok()?;
    let mut program = program.clone();
    let func = Fun(u32::try_from(program.functions.len()).ok()?);
    program.functions.push(main);
    let mut memory = data;
    for direction in directions {
        match eval::run_traced(&program, func, *direction, memory, listener, config) {
            Ok(evaluation) => memory = evaluation.memory,
            Err(stop) => return Some(stop.error),
        }
    }
    None
}
