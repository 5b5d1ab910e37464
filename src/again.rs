//! Programs in Nil and Janus run once more, as they were before they became instructions, to tell where they stopped and with what variables.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use pendula::compiler::ir::effects::walk;
use pendula::compiler::ir::{self, eval};
use pendula::compiler::replay::replay;
use pendula::isa::counts::Direction;
use pendula::stop::{Reached, Told, tell};
use pendula::stopped::{self, evaluated, language};
use pendula::vm::{Machine, Outcome};

use crate::cli::Conditions;
use crate::cmd;
use crate::interrupt;
use crate::session;

/// How long a program is run once more where somebody waits for the end.
const SOON: Duration = Duration::from_secs(2);

/// The directions of a run so far that began forward.
pub(crate) fn there(machine: &Machine<'_>) -> Vec<Direction> {
    match machine.direction() {
        Direction::Forward => vec![Direction::Forward],
        Direction::Backward => vec![Direction::Forward, Direction::Backward],
    }
}

/// Why or where a program in Nil or Janus stopped, in its own terms: it is run once more in these directions. `None` if it did not stop, is in another
/// language, or that would take too long.
pub(crate) fn in_source(
    outcome: &Outcome,
    machine: &Machine<'_>,
    loaded: &cmd::Program,
    conditions: &Conditions,
    ways: &[Direction],
) -> Option<Told> {
    let nil = loaded.nil.as_ref()?;
    if matches!(outcome, Outcome::Finished | Outcome::NoCode(_)) {
        return None;
    }
    let begun = session::machine(machine.program(), conditions, loaded.variables()).ok()?;
    let data = begun.memory().get(..loaded.module.data.len())?.to_vec();
    drop(begun);
    let time = if interrupt::came() { SOON } else { stopped::AGAIN };
    if let Outcome::Trap(trap) = outcome {
        return stopped::in_source(trap, machine, nil, &loaded.sources, data, ways, time);
    }
    let source = nil.source.as_ref()?;
    let visit = reached(machine, source, ways.len() > 1)?;
    let config = eval::Config {
        memory: machine.memory().len().min(data.len() + stopped::ROOM),
        max_steps: stopped::STATEMENTS,
        until: Some(Instant::now() + time),
        ieee: conditions.ieee,
        visit: Some(visit),
    };
    let stop = replay(source, &nil.arguments, &evaluated(ways), data, &config)?;
    if matches!(stop.error, eval::EvalError::Depth { .. }) {
        // The machine has come deeper down.
        return None;
    }
    let mut told = tell(&stop, source, &loaded.sources, language(nil));
    told.reached = Some(Reached {
        file: loaded.sources.name(visit.loc.file).to_string(),
        line: visit.loc.line,
        before: visit.count.saturating_sub(1 + stop.left),
        of: (stop.left > 0).then_some(visit.count - 1),
    });
    Some(told)
}

/// Where in its source a program has come to that may be about to run any instruction: the statement of that instruction, or of the next that was made of one,
/// and how often it has been run.
///
/// Improved code may run a statement oftener or less often than the source does, or in several copies. So the moment is told by the
/// statement and the number, both of which are those of the source. Where the run has `turned`, the number is of the run back.
fn reached(machine: &Machine<'_>, source: &ir::Program, turned: bool) -> Option<eval::Visit> {
    let module = machine.program().module();
    let mut statements = HashSet::new();
    for function in &source.functions {
        walk(&function.body, &mut |s| {
            statements.insert(s.loc);
        });
    }
    let from = machine.pc()? as usize;
    let back = machine.direction() == Direction::Backward;
    let ahead: Box<dyn Iterator<Item = usize>> =
        if back { Box::new((0..=from).rev()) } else { Box::new(from..module.code.len()) };
    let loc = |at: usize| {
        let loc = module.loc(at)?.1;
        Some(ir::Loc { file: loc.file, column: loc.column, line: loc.line })
    };
    let (at, loc) = ahead.filter_map(|at| Some((at, loc(at)?))).find(|(_, loc)| statements.contains(loc))?;
    let counts = machine.counts();
    let modes = counts.modes.iter().filter(|m| !turned || m.mode.direction == Direction::Backward);
    let times = modes.map(|mode| counts.per_instruction(mode, module.code.len())[at]).sum::<u64>();
    Some(eval::Visit { loc, count: times + 1 })
}
