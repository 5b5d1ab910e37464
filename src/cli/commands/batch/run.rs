//! `pendula run --batch`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use pendula::arrays::Texts;
use pendula::asm::diagnostic::plural;
use pendula::batch::{Batch, MemoryBudget};
use pendula::compiler::janus::store::Variable;
use pendula::hw_model::Technology;
use pendula::isa::counts::Direction;
use pendula::isa::inst::Kind;
use pendula::isa::module::Module;
use pendula::isa::table::Row;
use pendula::isa::types::Reg;
use pendula::language;
use pendula::layout::Layouts;
use pendula::report::{Reporter, print, print_exact};
use pendula::values::{self, Place};
use pendula::visible::visible;
use pendula::vm::{Config, Flags, Machine, Outcome};
use serde_json::{Map, Value, json};

use super::close::{Close, Collected, Interrupted, collect, run_unless_interrupted};
use super::inputs::load;
use super::item_inputs::ItemInputs;
use super::report::{Failure, of_values};
use super::rerun::{self, ItemRerun, Unfinished};
use super::save::{Files, SaveOptions, Saved, Words};
use super::{Progress, Steps, Totals, ended};
use crate::cli::args::Run;
use crate::cli::commands::RunConditions;
use crate::cli::commands::run::{self, results, shown};
use crate::cli::interrupt::{self, InterruptGuard};
use crate::cli::output::as_json;
use crate::cli::report::answer;
use crate::cli::report::drift::drift;
use crate::cli::report::outcome::{flags_json, outcome_json, ran_by, stopped_by};
use crate::cli::report::state::{ELEMENTS, State, StateOptions};
use crate::cli::report::stop_state::put_state;
use crate::cli::session::{self, EVENTS, event_text};
use crate::cli::status::Status;

/// The results of one item.
#[derive(Default)]
struct Item {
    failure: Option<Failure>,
    /// True if the run forward finished, so that there are results.
    ended: bool,
    cells: Texts,
    changed: Vec<(Reg, u64)>,
    output: Vec<u64>,
    notes: Vec<String>,
    events: Vec<String>,
    wrong: bool,
    flags: Flags,
    json: String,
    /// The JSON of a compiled program that stopped. The reason is added later, in the order of items.
    stopped: Map<String, Value>,
    words: Words,
}

/// The settings that all items share.
struct Common<'a> {
    args: &'a Run,
    /// The variables of a Janus program, and the array layouts of a Nil program.
    program: (Option<&'a [Variable]>, Layouts),
    /// True if the program is in one of these languages.
    compiled: bool,
    /// The number of items.
    count: usize,
    places: Vec<Place>,
    /// The indices of the results that are printed.
    printed: Vec<usize>,
    files: Files,
    /// The module's texts, if the program shows anything.
    texts: Option<Arc<[String]>>,
    totals: Mutex<Totals>,
}

pub(crate) fn run(args: &Run, reporter: &Reporter) -> anyhow::Result<Status> {
    let given = &args.given;
    let intended = RunConditions { given, input: args.input.as_deref() };
    let (loaded, inputs) = load(&args.many.batch, &args.source, intended, args.reverse, (args.json, reporter))?;
    let technology = args.tech.as_deref().map(session::technology).transpose()?;
    let warnings = run::warnings(&loaded, args);
    if !args.json {
        reporter.diagnostics(&warnings, &loaded.sources);
    }
    let backward = args.reverse || args.round_trip;
    let program = session::program(&loaded, &args.source, given, backward, args.json, reporter)?;
    let module = program.module();
    let config = Config { count: args.stats, ..session::config(given) };
    let batch = Batch::new(&program, &config, |machine| {
        session::set(machine, given, loaded.variables())?;
        if let Some(tape) = &args.input {
            session::input(machine, tape, args.read, args.reverse)?;
        }
        if let Some(output) = &args.output {
            machine.set_output(values::tape(module, output).with_context(|| format!("--output {output}"))?);
        }
        Ok::<(), anyhow::Error>(())
    })?;
    let store = loaded.variables();
    let places = results(args, &shown(args, module, store)?, module, store);
    let layouts = Layouts::of(loaded.compiled.as_ref());
    let asked = SaveOptions::of_run(args, module, &inputs.files, Some(inputs.count));
    let (files, writers) = Files::new(&asked, places.iter().map(|place| Saved::of(place, &layouts)).collect())?;
    // Saved results are not printed.
    let printed = (0..places.len()).filter(|n| !files.has(*n)).collect();
    let texts = shows(module).then(|| module.texts.clone().into());
    let count = inputs.count;
    let compiled = loaded.compiled.is_some();
    let common = Common {
        args,
        program: (store, layouts),
        compiled,
        count,
        places,
        printed,
        files,
        texts,
        totals: Mutex::default(),
    };
    let first = [
        ("schema", answer::schema(reporter)),
        ("numerics", answer::numerics()),
        ("diagnostics", as_json(&warnings, &loaded.sources)),
    ];
    let mut output = Output {
        common: &common,
        alone: ItemRerun::new(&loaded, &program, given),
        start: batch.start().regs,
        module,
        collected: Collected::new(count, writers),
    };
    let guard = InterruptGuard::begin(reporter);
    let progress = Progress::new(count);
    let results: usize = common.places.iter().map(|p| p.count() as usize).sum();
    let streamed = batch.stream(
        (count, inputs.part_size(results)),
        args.many.jobs,
        |items| inputs.part(items),
        |machine, room, given: &ItemInputs, item| {
            run_unless_interrupted(&progress, room, |room| common.item(machine, room, given, item))
        },
        |items, given, found| collect(items.start, found, |begin, found| output.part(begin, given, found, &first)),
    );
    drop(guard);
    let elapsed = progress.finish();
    let cut = match streamed {
        Ok(()) => false,
        Err(error) if error.is::<Interrupted>() => true,
        Err(error) => return Err(ended(&mut output.collected.json, error)),
    };
    let close = Close {
        collected: output.collected,
        files: &common.files,
        first: args.json.then_some(&first),
        totals: &common.totals,
        stats: args.stats.then(|| technology.unwrap_or_else(Technology::default_technology)),
        drift: args.drift,
        cut,
        elapsed,
        engine: config.engine.resolved(),
    };
    close.finish((module, &loaded.sources), given.max_steps, reporter)
}

/// True if a program may show anything.
fn shows(module: &Module) -> bool {
    let is = |kind: Kind| matches!(kind, Kind::Row { row: Row::Show | Row::Print, .. });
    module.code.iter().any(|i| is(i.kind))
}

/// The output that a program has shown.
#[derive(Default)]
struct CapturedEvents {
    events: Vec<String>,
    /// The number of lines that were left out.
    more: usize,
}

/// Collects what the program shows, up to `most` lines.
fn listen(machine: &mut Machine<'_>, texts: &Arc<[String]>, most: usize) -> Arc<Mutex<CapturedEvents>> {
    let heard = Arc::new(Mutex::new(CapturedEvents::default()));
    let (list, texts) = (Arc::clone(&heard), Arc::clone(texts));
    let format = machine.program().module().flags.format;
    machine.on_event(move |event| {
        let Ok(mut heard) = list.lock() else { return };
        if heard.events.len() < most {
            heard.events.push(event_text(event, format, &texts));
        } else {
            heard.more += 1;
        }
    });
    heard
}

/// Prints and saves the results of items.
struct Output<'a> {
    common: &'a Common<'a>,
    alone: ItemRerun<'a>,
    /// The initial registers of every run.
    start: [u64; Reg::COUNT],
    module: &'a Module,
    collected: Collected,
}

impl Output<'_> {
    /// Prints and saves the results of the items from number `begin` on; a JSON object begins with `first`.
    fn part(
        &mut self,
        begin: usize,
        given: &ItemInputs,
        mut items: Vec<Item>,
        first: &[(&str, Value)],
    ) -> anyhow::Result<()> {
        let Common { args, files, count, .. } = self.common;
        for (n, item) in items.iter_mut().enumerate() {
            self.collected.report.failed |= item.wrong;
            self.collected.done += usize::from(!item.failure.as_ref().is_some_and(Failure::is_interrupted));
            if let Some(failure) = &mut item.failure {
                let (stopped, results) = (std::mem::take(&mut item.stopped), item.ended);
                let json = args.json.then_some(Unfinished { json: &mut item.json, stopped, results });
                let why = || self.common.why(&mut self.alone, (given, begin + n), results);
                rerun::failed(&mut self.collected.report, (begin + n, failure), json, why);
            }
            self.collected.report.noticed(begin + n, of_values(item.flags));
        }
        if !files.is_empty() && !interrupt::is_requested() {
            let saved: Vec<Result<&Words, String>> = items
                .iter()
                .map(|item| match &item.failure {
                    Some(failure) if !item.ended => Err(failure.title()),
                    _ => Ok(&item.words),
                })
                .collect();
            self.collected.writers.part(files, begin, &saved)?;
        }
        if args.json {
            return Ok(self.collected.json.part(first, items.into_iter().map(|item| item.json))?);
        }
        print_exact(&self.text(begin, given, items))?;
        if self.collected.notes.are_many() {
            print(&self.collected.notes.take(*count))?;
        }
        Ok(())
    }

    /// The shown output, and the table of results, as they are printed.
    fn text(&mut self, begin: usize, given: &ItemInputs, items: Vec<Item>) -> String {
        let Common { args, places, printed, files, .. } = self.common;
        let mut out = String::new();
        for (n, item) in items.iter().enumerate() {
            for event in &item.events {
                let _ = writeln!(out, "item {}: {event}", begin + n);
            }
        }
        let mut out = visible(&out).into_owned();
        let changed: BTreeSet<Reg> = items.iter().flat_map(|item| item.changed.iter().map(|(r, _)| *r)).collect();
        let outputs = items.iter().any(|item| !item.output.is_empty());
        let mut names: Vec<String> = printed.iter().map(|n| places[*n].head()).collect();
        let language = language::of((self.module, None));
        names.extend(changed.iter().map(|reg| language.register(*reg)));
        names.extend(outputs.then(|| "output".to_string()));
        let (hex, start) = (args.hex, &self.start);
        let mut rows: Vec<Result<Texts, String>> = Vec::with_capacity(items.len());
        for (n, item) in items.into_iter().enumerate() {
            for note in item.notes {
                self.collected.notes.add(begin + n, note);
            }
            if let (Some(failure), false) = (&item.failure, item.ended) {
                rows.push(Err(failure.title()));
                continue;
            }
            let mut cells = item.cells;
            for reg in &changed {
                let new = item.changed.iter().find(|(r, _)| r == reg).map(|(_, word)| *word);
                let word = new.or_else(|| given.register(begin + n, *reg)).unwrap_or(start[reg.index()]);
                cells.push(&if hex { format!("{word:#018x}") } else { word.cast_signed().to_string() });
            }
            if outputs {
                let words: Vec<String> = item.output.iter().map(|w| w.cast_signed().to_string()).collect();
                cells.push(&format!("[{}]", words.join(", ")));
            }
            rows.push(Ok(cells));
        }
        // If there are files, they also say why items failed.
        if !names.is_empty() || (files.is_empty() && rows.iter().any(Result::is_err)) {
            out.push_str(&self.collected.table.part(begin, Some(names), rows));
        }
        out
    }
}

impl Common<'_> {
    /// Runs one item, as if it were alone.
    fn item(&self, machine: &mut Machine<'_>, room: &mut MemoryBudget, given: &ItemInputs, item: usize) -> Item {
        let args = self.args;
        given.set(machine, item);
        session::allow_whole(machine, &args.given, args.stats || args.keep_dropped || args.drift);
        let heard = self.texts.as_ref().map(|texts| listen(machine, texts, (EVENTS / self.count).max(100)));
        let before = *machine.registers();
        let start = args.round_trip.then(|| machine.digest());
        let copy = (args.round_trip && args.drift).then(|| machine.snapshot());
        if args.keep_dropped {
            machine.keep_dropped();
        }
        machine.begin(if args.reverse { Direction::Backward } else { Direction::Forward });
        let mut steps = Steps::new(args.given.max_steps);
        let mut outcome = steps.go(machine, room);
        let mut out = Item { ended: outcome == Outcome::Finished, ..Item::default() };
        let mut json = Map::new();
        if out.ended && !room.is_discarded() {
            self.results(machine, &before, &mut out, &mut json);
        }
        let mut restored = None;
        if let (Some(start), true) = (start, out.ended) {
            machine.reverse_dropped();
            machine.begin(Direction::Backward);
            outcome = steps.go(machine, room);
            restored = (outcome == Outcome::Finished).then(|| machine.digest() == start);
        }
        if room.is_discarded() {
            return out;
        }
        let module = machine.program().module();
        let copy = copy.filter(|_| restored.is_some());
        let drift = copy.map(|copy| drift(module, &copy, &machine.snapshot()));
        out.wrong = restored == Some(false) && drift.as_ref().is_none_or(|d| !d.only_rounding);
        out.flags = machine.flags();
        // In compiled code, words may temporarily be elsewhere than at the end.
        if outcome != Outcome::Finished && args.json && !self.compiled {
            put_state(&mut json, self.state(machine, &before).json, None, out.ended);
        }
        out.failure = stopped_by(&outcome, machine).map(|stopped| Failure::Stopped(stopped, None));
        let heard = heard.and_then(|heard| heard.lock().ok().map(|mut heard| std::mem::take(&mut *heard)));
        let CapturedEvents { events, more } = heard.unwrap_or_default();
        if args.stats {
            self.totals.lock().unwrap_or_else(PoisonError::into_inner).add(machine);
        }
        if args.json {
            json.insert("item".into(), json!(item));
            json.insert("ok".into(), json!(!out.wrong && out.failure.is_none()));
            json.insert("outcome".into(), outcome_json(&outcome, machine, (args.given.max_steps, None)));
            json.insert("flags".into(), flags_json(machine));
            json.insert("ran_by".into(), json!(ran_by(machine)));
            json.insert("events".into(), json!(events));
            if let Some(restored) = restored {
                json.insert("restored".into(), json!(restored));
            }
            if let Some(drift) = drift {
                json.insert("drift".into(), drift.json);
            }
            if out.failure.is_some() && self.compiled {
                out.stopped = json;
            } else {
                out.json = Value::Object(json).to_string();
            }
            return out;
        }
        out.events = events;
        if more > 0 {
            out.notes.push(format!("{} that the program shows left out", plural(more, "line")));
        }
        if let Some(restored) = restored {
            let what = match (restored, drift.as_ref().map(|d| d.only_rounding)) {
                (true, _) => "round trip: the state was restored bit for bit",
                (false, Some(true)) => {
                    "round trip: the state was restored but for the rounding of floating-point numbers"
                }
                (false, Some(false)) => "round trip: the state was NOT restored",
                (false, None) => "round trip: the state was NOT restored; `--drift` reports the differences",
            };
            out.notes.push(what.to_string());
        }
        out.notes.extend(drift.map(|d| d.text.trim_end().to_string()));
        out
    }

    /// Why an item stopped, in terms of the source, and its state there, if known.
    fn why(&self, alone: &mut ItemRerun<'_>, item: (&ItemInputs, usize), turned: bool) -> Option<rerun::Found> {
        let first = if self.args.reverse { Direction::Backward } else { Direction::Forward };
        let run = |run: &mut rerun::Run<'_, '_>| {
            let (mut directions, mut outcome) = (vec![first], Outcome::Finished);
            directions.extend(turned.then_some(Direction::Backward));
            for way in &directions {
                run.machine.begin(*way);
                outcome = rerun::go(run.machine, &mut run.steps, run.until)?;
            }
            Some((outcome, (directions, Vec::new())))
        };
        alone.tell(item, run, &self.wanted())
    }

    /// The current results.
    fn state(&self, machine: &Machine<'_>, before: &[u64; Reg::COUNT]) -> State {
        State::of(machine, before, &self.wanted())
    }

    fn wanted(&self) -> StateOptions<'_> {
        let shown: &[Place] = if self.args.show.is_empty() { &[] } else { &self.places };
        let (store, layouts) = &self.program;
        let (hex, reverse) = (self.args.hex, self.args.reverse);
        StateOptions { shown, store: *store, layouts, printed: None, hex, reverse }
    }

    /// Records the results of a run.
    fn results(
        &self,
        machine: &Machine<'_>,
        before: &[u64; Reg::COUNT],
        out: &mut Item,
        json: &mut Map<String, Value>,
    ) {
        let args = self.args;
        if !self.files.is_empty() {
            out.words = self.places.iter().map(|place| values::words(machine, place).into_owned()).collect();
        }
        if args.json {
            json.extend(self.state(machine, before).json);
            return;
        }
        let limit = if args.show.is_empty() { ELEMENTS } else { usize::MAX };
        let text = |n: &usize| values::text(machine, &self.places[*n], args.hex, limit);
        out.cells = self.printed.iter().map(text).collect();
        if args.show.is_empty() && self.files.is_empty() {
            let registers = (0..Reg::COUNT as u8).filter_map(Reg::new).zip(machine.registers().iter().zip(before));
            out.changed = registers.filter(|(_, (new, old))| new != old).map(|(r, (new, _))| (r, *new)).collect();
        }
        out.output = machine.output().to_vec();
        let (read, given) = (machine.words_read(), machine.input().len());
        if given > 0 && read != if args.reverse { 0 } else { given } {
            out.notes.push(format!("input: {read} of {} read", plural(given, "word")));
        }
    }
}
