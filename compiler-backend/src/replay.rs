//! Runs the unoptimized IR of a program again, to tell where it stops and with what variables.

use crate::ir::effects::{Effects, Summaries, blocks_mut};
use crate::ir::eval::{self, Config, Direction, EvalError, Listener, Stop, StopPoint};
use crate::ir::{Block, FunctionId, Loc, LocatedStmt, Program, Stmt};
use crate::lower::{self, Argument};

/// Runs a program on the words of its data, in each of these directions, one after the other, up to a moment if there is
/// one. The last of these runs carries gradient words if there are `seeds`: addresses in the data, each with its initial
/// gradient word. Code before or after the entry's own call does not run.
///
/// Returns `None` if the run does not stop, or not within the limits of steps and time. A moment after the last statement
/// is [`EvalError::Visited`] without calls; a run that does not reach the moment stops with [`EvalError::Otherwise`]. A run
/// whose calls are nested too deep for the evaluator stops with [`EvalError::Depth`], which does not tell how a machine
/// would go on.
pub fn replay(
    program: &Program,
    arguments: &[Argument],
    directions: &[Direction],
    data: Vec<u64>,
    seeds: &[(usize, u64)],
    (moment, config): (Option<&mut StopPoint>, &Config),
) -> Option<Stop> {
    let (mut program, func) = with_main(program, arguments)?;
    if moment.is_some() {
        program.place_by_statement();
    } else {
        check_both_ways(&mut program);
    }
    let (mut memory, mut moment) = (data, moment);
    for (n, direction) in directions.iter().enumerate() {
        let last = n + 1 == directions.len();
        let gradients = (last && !seeds.is_empty()).then(|| (Vec::new(), seeded(memory.len(), seeds)));
        let ended = match &mut moment {
            Some(moment) => eval::run_to_moment(&program, func, *direction, memory, gradients, moment, config),
            None => eval::run_to_stop(&program, func, *direction, Vec::new(), memory, gradients, config),
        };
        match ended {
            Ok(evaluation) => memory = evaluation.memory,
            Err(mut stop) => {
                let unknown = matches!(stop.error, EvalError::Steps { .. } | EvalError::Malformed { .. });
                // The last call is the one that passes the data.
                stop.calls.pop();
                return (!unknown && !stop.calls.is_empty()).then_some(stop);
            }
        }
    }
    let now = moment.is_some_and(|moment| moment.is_now());
    now.then(|| Stop { error: EvalError::Visited { loc: Loc::default() }, calls: Vec::new(), memory })
}

/// The program with the function that calls its entry.
fn with_main(program: &Program, arguments: &[Argument]) -> Option<(Program, FunctionId)> {
    let main = lower::main(program, arguments, program.entry?).ok()?;
    let mut program = program.clone();
    program.functions.push(main);
    let func = FunctionId(u32::try_from(program.functions.len() - 1).ok()?);
    Some((program, func))
}

/// Repeats the checks before a statement of the source after it, if the statement does not change what they compare. In a
/// backward run, a program with an index outside its array then stops before it has written there, with the values that
/// led to it.
fn check_both_ways(program: &mut Program) {
    let summaries = Summaries::new(program);
    for function in &mut program.functions {
        check_block(&mut function.body, &summaries);
    }
}

fn check_block(block: &mut Block, summaries: &Summaries) {
    for s in block.iter_mut() {
        for inner in blocks_mut(&mut s.stmt) {
            check_block(inner, summaries);
        }
    }
    let checks = |s: &LocatedStmt| matches!(s.stmt, Stmt::Assert { .. });
    if !block.iter().any(checks) {
        return;
    }
    let own = std::mem::take(block);
    for statement in own.chunk_by(|a, b| a.loc == b.loc) {
        block.extend_from_slice(statement);
        for (n, s) in statement.iter().enumerate() {
            let Stmt::Assert { test, .. } = &s.stmt else { continue };
            let after = &statement[n + 1..];
            let effects = Effects::of_block(summaries, after);
            if !after.iter().all(checks) && ![test.a, test.b].into_iter().any(|o| effects.changes(o)) {
                block.push(s.clone());
            }
        }
    }
}

/// The gradient words of a number of words.
fn seeded(len: usize, seeds: &[(usize, u64)]) -> Vec<u64> {
    let mut out = vec![0; len];
    for (at, word) in seeds {
        if let Some(own) = out.get_mut(*at) {
            *own = *word;
        }
    }
    out
}

/// Like [`replay`], and calls a listener for each statement of the source that runs. Returns the error if the trace ended
/// before the run did.
pub fn trace(
    program: &Program,
    arguments: &[Argument],
    directions: &[Direction],
    data: Vec<u64>,
    listener: Listener<'_>,
    (moment, config): (Option<&mut StopPoint>, &Config),
) -> Option<EvalError> {
    let (mut program, func) = with_main(program, arguments)?;
    program.place_by_statement();
    let (mut memory, mut moment) = (data, moment);
    for direction in directions {
        match eval::run_traced(&program, func, *direction, memory, listener, (moment.as_deref_mut(), config)) {
            Ok(evaluation) => memory = evaluation.memory,
            Err(stop) => return Some(stop.error),
        }
    }
    None
}
