//! The state of a stopped run: its progress and its values.

use pendula::asm::diagnostic::plural;
use pendula::isa::counts::Direction;
use pendula::isa::types::Reg;
use pendula::stop_report::StopReport;
use pendula::vm::{Machine, Outcome};
use serde_json::{Map, Value};

use crate::cli::args::Conditions;
use crate::cli::program::Program;
use crate::cli::report::state::{State, StateOptions};
use crate::cli::session;

/// The state where a run stopped; none at a run's end, or if the state is unknown.
pub(crate) fn at_stop(
    outcome: &Outcome,
    machine: &Machine<'_>,
    loaded: &Program,
    given: &Conditions,
    (before, wanted, stop_report): (&[u64; Reg::COUNT], &StateOptions<'_>, Option<&StopReport>),
) -> anyhow::Result<Option<State>> {
    if *outcome == Outcome::Finished {
        return Ok(None);
    }
    // Before the first instruction, the inputs are in their places.
    if loaded.compiled.is_none() || machine.executed() == 0 {
        return Ok(Some(State::of(machine, before, wanted)));
    }
    // In compiled code, words may temporarily be elsewhere than at the end. And if the run went deeper than the report,
    // the report's state is not the one at the stop.
    let Some(stop_report) = stop_report.filter(|stop_report| !stop_report.deeper) else { return Ok(None) };
    let mut held = session::machine(machine.program(), given, loaded.variables())?;
    for (word, now) in held.memory_mut().iter_mut().zip(&stop_report.data) {
        *word = *now;
    }
    Ok(Some(State::of(&held, before, wanted)))
}

/// Adds the state where a run stopped to its JSON; `results` says whether the results of a run forward are already
/// there, so that this state is that of the run backward.
pub(crate) fn put_state(
    object: &mut Map<String, Value>,
    at_stop: Map<String, Value>,
    stop_report: Option<&StopReport>,
    results: bool,
) {
    let under = match (stop_report.is_some_and(StopReport::is_earlier), results) {
        (true, _) => "earlier",
        (false, true) => "at_stop",
        (false, false) => return object.extend(at_stop),
    };
    object.insert(under.into(), Value::Object(at_stop));
}

/// The progress of a stopped run, and its values there; empty if there are none to show.
pub(crate) fn stopped_text(
    outcome: &Outcome,
    machine: &Machine<'_>,
    state: Option<&State>,
    stop_report: Option<&StopReport>,
) -> String {
    let reached = stop_report.and_then(|stop_report| stop_report.reached.as_ref());
    // The direction of the source's run: the machine may be undoing a part of it, or running forward something that is
    // being undone.
    let forward = reached.map_or(machine.begun() == Direction::Forward, |r| !r.back && !r.way_forward);
    let way = if forward { "forward" } else { "backward" };
    let count = plural(machine.executed(), "instruction");
    let at = reached.map_or(String::new(), |r| {
        let Some((file, line)) = &r.place.as_ref().map(|(file, line)| (file, r.line_text(*line))) else {
            return if r.back { ", back at its beginning" } else { ", at the end of the program" }.to_string();
        };
        let turned = if r.turned { " since it turned" } else { "" };
        let times = match r.before {
            None => return format!(", at {file}:{line}"),
            Some(0) => "not run yet".to_string(),
            Some(1) => "run once".to_string(),
            Some(n) => format!("run {n} times"),
        };
        match r.of {
            None => format!(", before {file}:{line}, which has {times}{turned}"),
            Some(_) if r.way_forward => {
                format!(
                    "; run once more, for some seconds, it came to {file}:{line} on the way forward, which had {times}"
                )
            }
            Some(of) => format!(
                ", before {file}:{line}, which has run {}{turned}; run once more, for some seconds, it had {times}",
                plural(of, "time")
            ),
        }
    });
    match state {
        Some(state) if state.text.is_empty() && at.is_empty() => String::new(),
        Some(state) if state.text.is_empty() => format!("stopped after {count}, on the way {way}{at}\n"),
        Some(state) => format!("stopped after {count}, on the way {way}{at}, with:\n{}", state.text),
        None if *outcome != Outcome::Limit => String::new(),
        None => format!(
            "stopped after {count}, on the way {way}; with what values is not known: optimised code has changed the statements \
             here, where `-O0` keeps each, or it takes too long to run the program once more up to there\n"
        ),
    }
}
