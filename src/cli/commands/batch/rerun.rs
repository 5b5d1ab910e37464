//! Runs stopped items again, each by itself, so that a stop of a program in Nil or Janus is explained as for a single
//! run.

use std::time::{Duration, Instant};

use pendula::diagnosis::AGAIN;
use pendula::isa::types::Reg;
use pendula::stop_report::StopReport;
use pendula::vm::{Machine, Outcome, Program};
use serde_json::{Map, Value};

use super::item_inputs::ItemInputs;
use super::report::{self, Failure};
use crate::cli::args::Conditions;
use crate::cli::interrupt;
use crate::cli::program;
use crate::cli::report::outcome::put_stop;
use crate::cli::report::state::{State, StateOptions};
use crate::cli::report::stop_state::{at_stop, put_state};
use crate::cli::rerun::{Directions, in_source_from};
use crate::cli::session::{self, part};

/// The program and the settings for such runs.
pub(crate) struct ItemRerun<'a> {
    pub(crate) loaded: &'a program::Program,
    pub(crate) program: &'a Program,
    pub(crate) conditions: &'a Conditions,
    /// The time left for such runs, for all items together.
    left: Duration,
}

/// An item that runs again.
pub(crate) struct Run<'m, 'p> {
    /// The machine, in the item's initial state.
    pub(crate) machine: &'m mut Machine<'p>,
    pub(crate) steps: Option<u64>,
    pub(crate) until: Instant,
}

/// Continues a machine for this many steps; `None` if that takes too long.
pub(crate) fn go(machine: &mut Machine<'_>, steps: &mut Option<u64>, until: Instant) -> Option<Outcome> {
    loop {
        let outcome = part(machine, steps);
        if outcome != Outcome::Limit || *steps == Some(0) {
            return Some(outcome);
        }
        if Instant::now() > until || interrupt::is_requested() {
            return None;
        }
    }
}

/// The explanation of a stop in terms of the source, and the state there for JSON.
pub(crate) type Found = (StopReport, Option<State>);

impl<'a> ItemRerun<'a> {
    pub(crate) fn new(loaded: &'a program::Program, program: &'a Program, conditions: &'a Conditions) -> ItemRerun<'a> {
        ItemRerun { loaded, program, conditions, left: AGAIN }
    }

    /// Explains why an item stopped. `run` runs the item up to its stop, and returns the directions of its runs and, if
    /// the last run had gradients, the gradient words with which it began.
    pub(crate) fn tell(
        &mut self,
        (given, item): (&ItemInputs, usize),
        run: impl FnOnce(&mut Run<'_, '_>) -> Option<(Outcome, Directions)>,
        wanted: &StateOptions<'_>,
    ) -> Option<Found> {
        if self.loaded.compiled.is_none() || interrupt::is_requested() || self.left.is_zero() {
            return None;
        }
        let begun = Instant::now();
        let found = self.within(self.left, (given, item), run, wanted);
        self.left = self.left.saturating_sub(begun.elapsed());
        found
    }

    fn within(
        &self,
        time: Duration,
        (given, item): (&ItemInputs, usize),
        run: impl FnOnce(&mut Run<'_, '_>) -> Option<(Outcome, Directions)>,
        wanted: &StateOptions<'_>,
    ) -> Option<Found> {
        let ItemRerun { loaded, conditions, .. } = *self;
        let until = Instant::now() + time;
        let mut machine = session::machine(self.program, conditions, loaded.variables()).ok()?;
        given.set(&mut machine, item);
        let data = machine.memory().get(..loaded.module.data.len())?.to_vec();
        let before: [u64; Reg::COUNT] = *machine.registers();
        // The explanation requires that steps are counted.
        machine.allow_whole(false);
        let (outcome, directions) = run(&mut Run { machine: &mut machine, steps: conditions.max_steps, until })?;
        let time = until.saturating_duration_since(Instant::now());
        let reported = in_source_from(&outcome, &machine, loaded, (data, &directions), time)?;
        let state = at_stop(&outcome, &machine, loaded, conditions, (&before, wanted, Some(&reported))).ok()?;
        Some((reported, state))
    }
}

/// The parts of the JSON of a failed item: its entries if it stopped, and whether it has results.
pub(crate) struct Unfinished<'j> {
    pub(crate) json: &'j mut String,
    pub(crate) stopped: Map<String, Value>,
    pub(crate) results: bool,
}

/// Records that an item failed. `why` explains a stop further: in the item's JSON if JSON is requested, else in the
/// report.
pub(crate) fn failed(
    reported: &mut report::BatchReport,
    (item, failure): (usize, &mut Failure),
    json: Option<Unfinished<'_>>,
    why: impl FnOnce() -> Option<Found>,
) {
    let Some(Unfinished { json, stopped, results }) = json else {
        return reported.failure(item, failure, || why().map(|(why, _)| why));
    };
    if !stopped.is_empty() {
        *json = completed(stopped, why(), results);
    }
    reported.failure(item, failure, || None);
}

/// The JSON of an item that stopped, with the explanation of the stop.
fn completed(mut object: Map<String, Value>, found: Option<Found>, results: bool) -> String {
    if let Some((reported, state)) = found {
        if let Some(outcome) = object.get_mut("outcome") {
            put_stop(outcome, &reported);
        }
        if let Some(state) = state {
            put_state(&mut object, state.json, Some(&reported), results);
        }
    }
    Value::Object(object).to_string()
}
