//! The state of a run that stopped: how far it came, and its values.

use pendula::asm::diagnostic::plural;
use pendula::isa::counts::Direction;
use pendula::isa::types::Reg;
use pendula::stop_report::StopReport;
use pendula::vm::{Machine, Outcome};
use serde_json::{Map, Value};

use crate::cli::Conditions;
use crate::cmd::Program;
use crate::cmd::run::{State, StateOptions};
use crate::session;

/// The state where a run stopped; none at a run's end, and none where it is not known.
pub(crate) fn at_stop(
    outcome: &Outcome,
    machine: &Machine<'_>,
    loaded: &Program,
    given: &Conditions,
    (before, wanted, told): (&[u64; Reg::COUNT], &StateOptions<'_>, Option<&StopReport>),
) -> anyhow::Result<Option<State>> {
    if *outcome == Outcome::Finished {
        return Ok(None);
    }
    // Before the first instruction, what was given is there.
    if loaded.compiled.is_none() || machine.executed() == 0 {
        return Ok(Some(State::of(machine, before, wanted)));
    }
    // Compiled code may hold words elsewhere meanwhile than where they are at the end; and where the run went on deeper than could be told, the state is not its.
    let Some(told) = told.filter(|told| !told.deeper) else { return Ok(None) };
    let mut held = session::machine(machine.program(), given, loaded.variables())?;
    for (word, now) in held.memory_mut().iter_mut().zip(&told.data) {
        *word = *now;
    }
    Ok(Some(State::of(&held, before, wanted)))
}

/// Puts the state where a run stopped into its JSON; `results` says whether those of a run forward are there, and this is where the run back stopped.
pub(crate) fn put_state(
    object: &mut Map<String, Value>,
    at_stop: Map<String, Value>,
    told: Option<&StopReport>,
    results: bool,
) {
    let under = match (told.is_some_and(StopReport::is_earlier), results) {
        (true, _) => "earlier",
        (false, true) => "at_stop",
        (false, false) => return object.extend(at_stop),
    };
    object.insert(under.into(), Value::Object(at_stop));
}

/// How far a run has come that stopped, and its values there; none if there are none to tell.
pub(crate) fn stopped_text(
    outcome: &Outcome,
    machine: &Machine<'_>,
    state: Option<&State>,
    told: Option<&StopReport>,
) -> String {
    let reached = told.and_then(|told| told.reached.as_ref());
    // The way of the run: the machine may undo a part of it, or do one that is being undone.
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
