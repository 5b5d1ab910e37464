//! `pendula run`.

use std::time::Duration;

use anyhow::Context;
use pendula::asm::diagnostic::{Diagnostic, Sources};
use pendula::compiler::janus::store::Variable;
use pendula::hw_model::Technology;
use pendula::isa::counts::Direction;
use pendula::isa::module::Module;
use pendula::isa::table::Row;
use pendula::isa::types::Reg;
use pendula::isa::verify::is_row;
use pendula::language;
use pendula::layout::Layouts;
use pendula::load::display_name;
use pendula::report::{Reporter, print};
use pendula::stop_report::StopReport;
use pendula::store;
use pendula::trap_report;
use pendula::values::{self, Place};
use pendula::vm::{self, Machine, Outcome};
use serde_json::{Map, Value, json};

use crate::cli::args::{Run, Trace};
use crate::cli::commands::batch::save::{Files, SaveOptions, Saved, Words, Writers};
use crate::cli::commands::{self, RunConditions, debug, load};
use crate::cli::interrupt::InterruptGuard;
use crate::cli::output::as_json;
use crate::cli::program::Program;
use crate::cli::progress::WholeProgress;
use crate::cli::report::answer::answer;
use crate::cli::report::drift::{Drift, drift};
use crate::cli::report::outcome::{explain, flags_json, outcome_json, ran_by, rests, status, trace};
use crate::cli::report::state::{State, StateOptions};
use crate::cli::report::stats::{stats_json, stats_text};
use crate::cli::report::stop_state::{at_stop, put_state, stopped_text};
use crate::cli::rerun::in_source;
use crate::cli::session::{self, Session};
use crate::cli::status::Status;

pub(crate) fn run(args: &Run, reporter: &Reporter) -> anyhow::Result<Status> {
    let given = &args.given;
    let run = RunConditions { given, input: args.input.as_deref() };
    let loaded = load(&args.source, Some(run), args.json, reporter)?;
    let technology = args.tech.as_deref().map(session::technology).transpose()?;
    let warnings = warnings(&loaded, args);
    if !args.json {
        reporter.diagnostics(&warnings, &loaded.sources);
    }
    let backward = args.reverse || args.round_trip;
    let program = session::program(&loaded, &args.source, given, backward, args.json, reporter)?;
    let mut machine = session::machine(&program, given, loaded.variables())?;
    if let Some(tape) = &args.input {
        session::input(&mut machine, tape, args.read, args.reverse)?;
    }
    if let Some(output) = &args.output {
        machine.set_output(values::tape(program.module(), output).with_context(|| format!("--output {output}"))?);
    }
    let store = loaded.variables();
    let shown = shown(args, program.module(), store)?;
    let layouts = Layouts::of(loaded.compiled.as_ref());
    let saving = Saving::new(args, &shown, (&program, store), &layouts)?;
    anyhow::ensure!(
        !args.show_raw || language::of((program.module(), store)).shows_headers(),
        "--show-raw is for programs in PISA, and {} is none",
        display_name(&args.source.file)
    );
    let events = session::listen(&mut machine, (args.json, store.is_some(), args.show_raw));

    let by_source = args.trace == Some(Trace::Source) && loaded.compiled.is_some();
    let by_instruction = args.trace.is_some() && !by_source;
    session::allow_whole(&mut machine, given, args.stats || by_instruction || args.keep_dropped || args.drift);
    let mut session = Session::new(given, by_instruction);
    let before = *machine.registers();
    let direction = if args.reverse { Direction::Backward } else { Direction::Forward };
    let start = args.round_trip.then(|| machine.digest());
    let copy = (args.round_trip && args.drift).then(|| machine.snapshot());
    if args.keep_dropped {
        machine.keep_dropped();
    }
    if by_source {
        let both = [direction, Direction::Backward];
        trace(&machine, &loaded, given, if args.round_trip { &both } else { &both[..1] })?;
    }
    machine.begin(direction);
    let guard = (InterruptGuard::begin(reporter), WholeProgress::begin());
    let mut outcome = session.go(&mut machine)?;
    let finished = outcome == Outcome::Finished;
    let printed = saving.as_ref().map(Saving::printed);
    let wanted =
        StateOptions { shown: &shown, store, layouts: &layouts, printed: None, hex: args.hex, reverse: args.reverse };
    let state = finished.then(|| State::of(&machine, &before, &StateOptions { printed, ..wanted }));
    let words = saving.as_ref().filter(|_| finished).map(|saving| saving.words(&machine));
    let mut restored = None;
    if let (Some(start), true) = (start, finished) {
        machine.reverse_dropped();
        session.turned(&machine);
        machine.begin(Direction::Backward);
        outcome = session.go(&mut machine)?;
        if outcome == Outcome::Finished {
            restored = Some(machine.digest() == start);
        }
    }
    drop(guard);
    let elapsed = session.started.elapsed();
    let copy = copy.filter(|_| restored.is_some());
    let drift = copy.map(|copy| drift(program.module(), &copy, &machine.snapshot()));
    if let (Some(saving), Some(words)) = (saving, words) {
        saving.finish(&words)?;
    }
    let there = [direction, Direction::Backward];
    let directions = if args.round_trip && finished { &there[..] } else { &there[..1] };
    let stop_report = in_source(&outcome, &machine, &loaded, given, (directions, &[]));
    let at_stop = at_stop(&outcome, &machine, &loaded, given, (&before, &wanted, stop_report.as_ref()))?;
    let events = events.lock().map(|e| Value::Array(e.clone())).unwrap_or_default();
    let technology = technology.unwrap_or_else(Technology::default_technology);
    let ended = Ended { outcome, state, at_stop, stop_report, restored, drift, events, elapsed, technology };
    if args.json {
        let mut object = ended.object(args, &machine);
        object.insert("diagnostics".into(), as_json(&warnings, &loaded.sources));
        let outcome = outcome_json(&ended.outcome, &machine, (given.max_steps, ended.stop_report.as_ref()));
        answer(reporter, ended.status() == Status::Done, outcome, object)?;
    } else {
        session::end_line()?;
        ended.print(args, &machine, &loaded.sources, reporter)?;
        if args.debug_on_trap && matches!(ended.outcome, Outcome::Trap(_)) {
            debug::at_trap(args, reporter)?;
        }
    }
    Ok(ended.status())
}

/// The result of a run.
struct Ended {
    outcome: Outcome,
    /// The results, if the run forward finished.
    state: Option<State>,
    /// The state where the run stopped, as far as it is known.
    at_stop: Option<State>,
    stop_report: Option<StopReport>,
    restored: Option<bool>,
    drift: Option<Drift>,
    /// What the program showed.
    events: Value,
    elapsed: Duration,
    technology: Technology,
}

impl Ended {
    fn status(&self) -> Status {
        let differs = self.restored == Some(false) && self.drift.as_ref().is_none_or(|d| !d.only_rounding);
        match status(&self.outcome) {
            Status::Done if differs => Status::Fault,
            status => status,
        }
    }

    fn print(&self, args: &Run, machine: &Machine<'_>, sources: &Sources, reporter: &Reporter) -> std::io::Result<()> {
        let stop_report = self.stop_report.as_ref();
        print(self.state.as_ref().map_or("", |state| &state.text))?;
        if let Some(restored) = self.restored {
            print(&round_trip_text(restored, machine, self.drift.as_ref().map(|d| d.only_rounding)))?;
        }
        if let Some(drift) = &self.drift {
            print(&drift.text)?;
        }
        print(&rests(machine.program().module(), machine.flags(), args.drift))?;
        if args.stats {
            print(&stats_text(machine, &self.technology, self.elapsed))?;
        }
        explain(&self.outcome, machine, sources, reporter, (args.given.max_steps, stop_report));
        if self.outcome != Outcome::Finished {
            print(&stopped_text(&self.outcome, machine, self.at_stop.as_ref(), stop_report))?;
        }
        Ok(())
    }

    fn object(&self, args: &Run, machine: &Machine<'_>) -> Map<String, Value> {
        let mut object = Map::new();
        object.insert("events".into(), self.events.clone());
        object.insert("flags".into(), flags_json(machine));
        object.insert("ran_by".into(), json!(ran_by(machine)));
        object.extend(self.state.iter().flat_map(|state| state.json.clone()));
        if let Some(at_stop) = &self.at_stop {
            put_state(&mut object, at_stop.json.clone(), self.stop_report.as_ref(), self.state.is_some());
        }
        if let Some(restored) = self.restored {
            object.insert("restored".into(), json!(restored));
        }
        if let Some(drift) = &self.drift {
            object.insert("drift".into(), drift.json.clone());
        }
        if args.stats {
            object.insert("stats".into(), stats_json(machine, &self.technology, self.elapsed));
        }
        object
    }
}

/// The places that `--show` names.
pub(crate) fn shown(args: &Run, module: &Module, store: Option<&[Variable]>) -> anyhow::Result<Vec<Place>> {
    Ok(commands::names(&args.show).iter().map(|name| store::find(module, store, name)).collect::<Result<_, _>>()?)
}

/// The results of a run that can be saved and have columns in a batch: those that `--show` names, else those that the
/// program returns.
pub(crate) fn results(args: &Run, shown: &[Place], module: &Module, store: Option<&[Variable]>) -> Vec<Place> {
    if shown.is_empty() { language::of((module, store)).results((module, store), args.reverse) } else { shown.to_vec() }
}

/// The files of `--save`.
struct Saving {
    places: Vec<Place>,
    files: Files,
    writers: Writers,
    /// The results that are printed nevertheless.
    printed: Vec<Place>,
}

impl Saving {
    fn new(
        args: &Run,
        shown: &[Place],
        (program, store): (&vm::Program, Option<&[Variable]>),
        layouts: &Layouts,
    ) -> anyhow::Result<Option<Saving>> {
        if args.many.save.is_empty() {
            return Ok(None);
        }
        let module = program.module();
        let places = results(args, shown, module, store);
        let asked = SaveOptions::of_run(args, module, std::slice::from_ref(&args.source.file), None);
        let (files, writers) = Files::new(&asked, places.iter().map(|place| Saved::of(place, layouts)).collect())?;
        let printed = places.iter().enumerate().filter(|(n, _)| !files.has(*n)).map(|(_, p)| p.clone()).collect();
        Ok(Some(Saving { places, files, writers, printed }))
    }

    fn printed(&self) -> &[Place] {
        &self.printed
    }

    fn words(&self, machine: &Machine<'_>) -> Words {
        self.places.iter().map(|place| values::words(machine, place).into_owned()).collect()
    }

    fn finish(self, words: &Words) -> anyhow::Result<()> {
        let Saving { files, mut writers, .. } = self;
        writers.part(&files, 0, &[Ok(words)])?;
        writers.finish(&files)
    }
}

/// Warnings about a program, before it runs.
pub(crate) fn warnings(loaded: &Program, args: &Run) -> Vec<Diagnostic> {
    let mut warnings = loaded.warnings.clone();
    let code = loaded.module.code.iter().enumerate();
    let mut ends = code.rev().filter(|(_, inst)| is_row(inst, Row::Start, true)).map(|(at, _)| at as u32);
    if let (true, Some(last), Some(other)) = (args.reverse, ends.next(), ends.next()) {
        let message = "the program has several `FINISH`: the run back begins at the last";
        let mut warning = Diagnostic::warning("P0145", message)
            .help("if the run forward ends at another one, let a branch lead from there to the last");
        for (n, at) in [last, other].into_iter().enumerate() {
            if let Some(place) = trap_report::place(&loaded.module, &loaded.sources, at) {
                warning = if n == 0 { warning.at(place, "") } else { warning.also(place, "another one") };
            }
        }
        warnings.push(warning);
    }
    warnings
}

fn round_trip_text(restored: bool, machine: &Machine<'_>, rounding_only: Option<bool>) -> String {
    let words = machine.memory().len() + Reg::COUNT - 1 + machine.output().len();
    if restored {
        format!("round trip: the state was restored, all {words} words bit for bit\n")
    } else if rounding_only == Some(true) {
        "round trip: the state was restored but for the rounding of floating-point numbers\n".to_string()
    } else if rounding_only.is_some() {
        "round trip: the state was NOT restored\n".to_string()
    } else {
        "round trip: the state was NOT restored; `--drift` reports the differences\n".to_string()
    }
}
