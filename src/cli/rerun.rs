//! Runs a program in Nil or Janus again with the evaluator of the intermediate representation, to find where it stopped
//! and with which variables.

use std::time::{Duration, Instant};

use pendula::diagnosis::{self, Rerun};
use pendula::isa::counts::Direction;
use pendula::stop_report::StopReport;
use pendula::vm::{Machine, Outcome};

use crate::cli::args::Conditions;
use crate::cli::interrupt;
use crate::cli::program;
use crate::cli::session;

/// The time limit for such a run while a user waits for it.
const SOON: Duration = Duration::from_secs(2);

/// The directions so far of a run that began forward.
pub(crate) fn there(machine: &Machine<'_>) -> Vec<Direction> {
    match machine.begun() {
        Direction::Forward => vec![Direction::Forward],
        Direction::Backward => vec![Direction::Forward, Direction::Backward],
    }
}

/// The directions of a run, and the gradient words with which the last one began, if it had gradients.
pub(crate) type Directions = (Vec<Direction>, Vec<(usize, u64)>);

/// Why or where a program in Nil or Janus stopped, in terms of its source. For this, the program runs again in these
/// directions. `None` if it did not stop, is in another language, or would take too long. The last of these runs has
/// gradients if there are `seeds`.
pub(crate) fn in_source(
    outcome: &Outcome,
    machine: &Machine<'_>,
    loaded: &program::Program,
    conditions: &Conditions,
    (directions, seeds): (&[Direction], &[(usize, u64)]),
) -> Option<StopReport> {
    if loaded.compiled.is_none() || matches!(outcome, Outcome::Finished) {
        return None;
    }
    let begun = session::machine(machine.program(), conditions, loaded.variables()).ok()?;
    let data = begun.memory().get(..loaded.module.data.len())?.to_vec();
    drop(begun);
    let time = if interrupt::is_requested() { SOON } else { diagnosis::AGAIN };
    in_source_from(outcome, machine, loaded, (data, &(directions.to_vec(), seeds.to_vec())), time)
}

/// The same, beginning with this data and within this time.
pub(crate) fn in_source_from(
    outcome: &Outcome,
    machine: &Machine<'_>,
    loaded: &program::Program,
    (data, (directions, seeds)): (Vec<u64>, &Directions),
    time: Duration,
) -> Option<StopReport> {
    let nil = loaded.compiled.as_ref()?;
    diagnosis::in_source(
        outcome,
        machine,
        nil,
        &loaded.sources,
        Rerun { data, directions, seeds, until: Instant::now() + time },
    )
}
