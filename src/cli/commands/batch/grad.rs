//! `pendula grad --batch`.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use pendula::arrays::Texts;
use pendula::batch::{Batch, MemoryBudget};
use pendula::grad::{GradError, Options, Report, Request, differentiate, grad, places, uses_doubles};
use pendula::hw_model::Technology;
use pendula::isa::Env;
use pendula::isa::text::number;
use pendula::layout::Layouts;
use pendula::report::{Reporter, print, print_exact};
use pendula::vm::{Config, Machine, Outcome};
use serde_json::{Map, Value, json};

use super::close::{Close, Collected, Interrupted, collect, run_unless_interrupted};
use super::inputs::load;
use super::item_inputs::ItemInputs;
use super::quick::{Numbers, Quick};
use super::report::{Failure, Noticed, rests_of};
use super::rerun::{self, ItemRerun, Unfinished};
use super::save::{Files, SaveOptions, Words, gradient_results, gradient_words};
use super::{Progress, Steps, Totals, ended};
use crate::cli::args::Grad;
use crate::cli::commands::RunConditions;
use crate::cli::commands::grad::{
    ELEMENTS, Seen, Stop, blocked, ended_json, file_room, gradient_text, message, options, seen_flags, set_memory,
    state_text, stopped, text, to_object,
};
use crate::cli::interrupt::{self, InterruptGuard};
use crate::cli::output::as_json;
use crate::cli::report::answer;
use crate::cli::report::drift::drift;
use crate::cli::report::outcome::{outcome_json, ran_by, stopped_by};
use crate::cli::report::state::{State, StateOptions};
use crate::cli::rerun::there;
use crate::cli::session;
use crate::cli::status::Status;

/// The results of one item.
#[derive(Default)]
struct Item {
    /// An error in the request, which would occur for every item.
    error: Option<GradError<Stop>>,
    failure: Option<Failure>,
    /// The names of the loss and of the derivatives; `cells` are their values.
    names: Vec<String>,
    cells: Texts,
    /// The output for the item alone, if it needs more than a line.
    block: String,
    notes: Vec<String>,
    noticed: Noticed,
    wrong: bool,
    json: String,
    /// The JSON of a program that stopped. The reason is added later, in the order of items.
    stopped: Map<String, Value>,
    words: Words,
}

/// What an item came to: numbers alone, or all that there is to tell.
enum Found {
    Numbers(Numbers),
    Item(Box<Item>),
}

impl Found {
    fn item(&self) -> Option<&Item> {
        match self {
            Found::Numbers(_) => None,
            Found::Item(item) => Some(item),
        }
    }

    /// The words that are saved, or why there are none.
    fn words(&self) -> Result<&Words, String> {
        match self {
            Found::Numbers(numbers) => Ok(&numbers.words),
            Found::Item(item) => item.failure.as_ref().map_or(Ok(&item.words), |failure| Err(failure.title())),
        }
    }

    fn has_cells(&self) -> bool {
        match self {
            Found::Numbers(numbers) => !numbers.cells.is_empty(),
            Found::Item(item) => !item.cells.is_empty(),
        }
    }
}

/// The settings that all items share.
struct Common<'a> {
    args: &'a Grad,
    options: Options,
    request: Request,
    /// The same, if it can be done quickly.
    quick: Option<Quick>,
    layouts: Layouts,
    files: Files,
    floats: bool,
    /// True if the program is in Nil or Janus.
    compiled: bool,
    /// True if an item needs more than a line.
    blocks: bool,
    totals: Mutex<Totals>,
}

pub(crate) fn run(args: &Grad, reporter: &Reporter) -> anyhow::Result<Status> {
    let given = &args.given;
    let intended = RunConditions { given, input: args.input.as_deref() };
    let source = args.source.in_full();
    let (loaded, inputs) = load(&args.many.batch, &source, intended, false, (args.json, reporter))?;
    let mut warnings = loaded.warnings.clone();
    warnings.extend(blocked(&loaded));
    if !args.json {
        reporter.diagnostics(&warnings, &loaded.sources);
    }
    let program = session::program(&loaded, &source, given, true, args.json, reporter)?;
    let module = program.module();
    let config = Config { count: args.stats, ..session::config(given) };
    let batch = Batch::new(&program, &config, |machine| {
        session::set(machine, given, loaded.variables())?;
        set_memory(machine, args);
        args.input.as_ref().map_or(Ok(()), |tape| session::input(machine, tape, None, false))
    })?;
    let refused = |error| {
        let machine = session::machine(&program, given, loaded.variables())?;
        stopped(error, args, &loaded, (&machine, &Seen::default()), reporter)
    };
    let options = options(args, &loaded)?;
    let layouts = Layouts::of(loaded.compiled.as_ref());
    let (loss, wrt) = match places(module, &options) {
        Ok(places) => places,
        Err(error) => return refused(error),
    };
    let results = match file_room(&options, &wrt) {
        Err(error) if !args.many.save.is_empty() => return refused(error),
        Ok(()) | Err(_) => gradient_results(&loss, &wrt, &options, &layouts),
    };
    let env = Env { format: module.flags.format, ieee: given.ieee };
    let request = match Request::new(module, env, &options) {
        Ok(request) => request,
        Err(error) => return refused(error),
    };
    let asked = SaveOptions::of_grad(args, module, &inputs.files, Some(inputs.count));
    let (files, writers) = Files::new(&asked, results)?;
    let blocks = args.hessian.is_some() || args.jacobian || args.check || args.keep_dropped || args.drift;
    let floats = uses_doubles(module);
    let count = inputs.count;
    let compiled = loaded.compiled.is_some();
    let quick = Quick::new(args, &options, (&loss, &wrt), &files).filter(|_| program.has_whole());
    let common =
        Common { args, options, request, quick, layouts, files, floats, compiled, blocks, totals: Mutex::default() };
    let first = [
        ("schema", answer::schema(reporter)),
        ("numerics", answer::numerics()),
        ("diagnostics", as_json(&warnings, &loaded.sources)),
    ];
    let mut output = Output {
        common: &common,
        alone: ItemRerun::new(&loaded, &program, given),
        collected: Collected::new(count, writers),
    };
    let guard = InterruptGuard::begin(reporter);
    let progress = Progress::new(count);
    let streamed = batch.stream(
        (count, inputs.part_size(common.files.words())),
        args.many.jobs,
        |items| Ok(inputs.part(items)?),
        |machine, room, given: &ItemInputs, item| {
            run_unless_interrupted(&progress, room, |room| common.item(machine, room, given, item))
        },
        |items, given, found| collect(items.start, found, |begin, found| output.part(begin, given, found, &first)),
    );
    drop(guard);
    let elapsed = progress.finish();
    let cut = match streamed {
        Ok(()) => false,
        Err(Ended::Refused(error)) => return refused(error),
        Err(Ended::Trouble(error)) if error.is::<Interrupted>() => true,
        Err(Ended::Trouble(error)) => return Err(ended(&mut output.collected.json, error)),
    };
    let close = Close {
        collected: output.collected,
        files: &common.files,
        first: args.json.then_some(&first),
        totals: &common.totals,
        stats: args.stats.then(Technology::default_technology),
        drift: args.drift,
        cut,
        elapsed,
        engine: config.engine.resolved(),
    };
    close.finish((module, &loaded.sources), given.max_steps, reporter)
}

/// Why a batch ended early.
enum Ended {
    /// The request is wrong for every item.
    Refused(GradError<Stop>),
    Trouble(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Ended {
    fn from(error: E) -> Ended {
        Ended::Trouble(error.into())
    }
}

/// Prints and saves the results of items.
struct Output<'a> {
    common: &'a Common<'a>,
    alone: ItemRerun<'a>,
    collected: Collected,
}

impl Output<'_> {
    /// Prints and saves the results of the items from number `begin` on; a JSON object begins with `first`.
    fn part(
        &mut self,
        begin: usize,
        given: &ItemInputs,
        mut items: Vec<Found>,
        first: &[(&str, Value)],
    ) -> Result<(), Ended> {
        let Common { args, files, blocks, .. } = self.common;
        for (n, item) in items.iter_mut().enumerate() {
            let Found::Item(item) = item else {
                self.collected.done += 1;
                continue;
            };
            if let Some(error) = item.error.take() {
                return Err(Ended::Refused(error));
            }
            self.collected.report.failed |= item.wrong;
            self.collected.done += usize::from(!item.failure.as_ref().is_some_and(Failure::is_interrupted));
            if let Some(failure) = &mut item.failure {
                let stopped = std::mem::take(&mut item.stopped);
                let json = args.json.then_some(Unfinished { json: &mut item.json, stopped, results: false });
                let why = || self.common.why(&mut self.alone, (given, begin + n));
                rerun::failed(&mut self.collected.report, (begin + n, failure), json, why);
            }
            self.collected.report.noticed(begin + n, item.noticed);
        }
        if !files.is_empty() && !interrupt::is_requested() {
            let saved = items.iter().map(Found::words).collect::<Vec<_>>();
            self.collected.writers.part(files, begin, &saved)?;
        }
        if args.json {
            let json = items.iter_mut().filter_map(|found| match found {
                Found::Numbers(_) => None,
                Found::Item(item) => Some(std::mem::take(&mut item.json)),
            });
            return Ok(self.collected.json.part(first, json)?);
        }
        if *blocks {
            print(&blocks_text(begin, &items))?;
        } else {
            print_exact(&self.lines_text(begin, items))?;
        }
        if self.collected.notes.are_many() {
            print(&self.collected.notes.take(self.collected.count))?;
        }
        Ok(())
    }

    /// The output with a line for each item, as it is printed.
    fn lines_text(&mut self, begin: usize, items: Vec<Found>) -> String {
        let names = items.iter().find_map(|found| match found {
            Found::Numbers(_) => self.common.quick.as_ref().map(Quick::names),
            Found::Item(item) => item.failure.is_none().then_some(&item.names[..]),
        });
        let names = names.map(<[String]>::to_vec);
        // If everything is saved, nothing is left to print, and the files also say why items failed.
        let none = !self.common.files.is_empty() && !items.iter().any(Found::has_cells);
        let mut rows: Vec<Result<Texts, String>> = Vec::with_capacity(items.len());
        for (n, found) in items.into_iter().enumerate() {
            let item = match found {
                Found::Numbers(numbers) => {
                    rows.push(Ok(numbers.cells));
                    continue;
                }
                Found::Item(item) => *item,
            };
            for note in item.notes {
                self.collected.notes.add(begin + n, note);
            }
            rows.push(item.failure.map_or(Ok(item.cells), |failure| Err(failure.title())));
        }
        if none { String::new() } else { self.collected.table.part(begin, names, rows) }
    }
}

/// The output with a block for each item, as it would be printed for the item alone.
fn blocks_text(begin: usize, items: &[Found]) -> String {
    let mut out = String::new();
    for (n, item) in (begin..).zip(items).filter_map(|(n, found)| Some((n, found.item()?))) {
        let gap = if n > 0 { "\n" } else { "" };
        let _ = writeln!(out, "{gap}item {n}");
        match &item.failure {
            Some(failure) => {
                let _ = writeln!(out, "{}", failure.title());
            }
            None => out.push_str(&item.block),
        }
    }
    out
}

impl Common<'_> {
    /// Differentiates for one item, as if it were alone.
    fn item(&self, machine: &mut Machine<'_>, room: &mut MemoryBudget, given: &ItemInputs, item: usize) -> Found {
        if let Some(quick) = self.quick.as_ref().filter(|_| !room.is_repeated()) {
            session::allow_whole(machine, &self.args.given, false);
            if let Some(numbers) = quick.item(machine, room, (given, item), !self.files.is_empty()) {
                return Found::Numbers(numbers);
            }
            room.run_again();
            return Found::Item(Box::default());
        }
        Found::Item(Box::new(self.whole_item(machine, room, given, item)))
    }

    /// The same, with all that there is to tell.
    fn whole_item(&self, machine: &mut Machine<'_>, room: &mut MemoryBudget, given: &ItemInputs, item: usize) -> Item {
        let args = self.args;
        given.set(machine, item);
        let before = *machine.registers();
        session::allow_whole(machine, &args.given, args.stats || args.keep_dropped || args.drift);
        let mut steps = Steps::new(args.given.max_steps);
        let mut seen = Seen::default();
        let found = differentiate(machine, &self.request, |m| {
            let ad_mode = m.ad_mode();
            let outcome = steps.go(m, room);
            seen.ended(outcome, ad_mode, m)
        });
        if room.is_discarded() {
            return Item::default();
        }
        if args.stats {
            self.totals.lock().unwrap_or_else(PoisonError::into_inner).add(machine);
        }
        // A comparison that ran out of steps proves nothing.
        let stop = match found {
            Ok(_) if seen.limit => Outcome::Limit,
            Ok(found) => return self.results(machine, &found, item),
            Err(GradError::Overflow(_)) if seen.limit => Outcome::Limit,
            Err(GradError::Overflow(found)) => return self.results(machine, &found, item),
            Err(GradError::Stopped(Stop::Outcome(outcome))) => outcome,
            Err(error @ GradError::TooGreat { .. }) => {
                let why = message(error);
                let outcome = json!({ "kind": "refused", "message": why });
                let json = Value::Object(self.failed(machine, &seen, item, outcome)).to_string();
                return Item { failure: Some(Failure::Refused(why)), json, ..Item::default() };
            }
            // An error in the request concerns every item.
            Err(error) => return Item { error: Some(error), ..Item::default() },
        };
        // In compiled code, words may temporarily be elsewhere than at the end.
        let state = (args.json && !self.compiled).then(|| State::of(machine, &before, &self.wanted()));
        let outcome = outcome_json(&stop, machine, (args.given.max_steps, None));
        let mut object = self.failed(machine, &seen, item, outcome);
        object.extend(state.map(|state| state.json).unwrap_or_default());
        Item {
            failure: stopped_by(&stop, machine).map(|stopped| Failure::Stopped(stopped, None)),
            noticed: (seen.overflow, rests_of(machine.flags())),
            stopped: object,
            ..Item::default()
        }
    }

    fn wanted(&self) -> StateOptions<'_> {
        let hex = self.args.hex;
        StateOptions { shown: &[], store: None, layouts: &self.layouts, printed: None, hex, reverse: false }
    }

    /// Why an item stopped, in terms of the source, and its state there, if known.
    fn why(&self, alone: &mut ItemRerun<'_>, item: (&ItemInputs, usize)) -> Option<rerun::Found> {
        let loaded = alone.loaded;
        let run = |run: &mut rerun::Run<'_, '_>| {
            let (mut seen, mut last) = (Seen::default(), None);
            let (steps, until) = (&mut run.steps, run.until);
            let _: Result<_, GradError<Stop>> = grad(run.machine, &self.options, |m| {
                seen.begins(m, loaded);
                last = rerun::go(m, steps, until).map(|outcome| (outcome, there(m)));
                let outcome = last.as_ref().map_or(Outcome::Limit, |(outcome, _)| outcome.clone());
                seen.ended(outcome, m.ad_mode(), m)
            });
            let (outcome, directions) = last?;
            Some((outcome, (directions, seen.seeds)))
        };
        alone.tell(item, run, &self.wanted())
    }

    /// The JSON of an item that has no results.
    fn failed(&self, machine: &Machine<'_>, seen: &Seen, item: usize, outcome: Value) -> Map<String, Value> {
        let mut object = Map::new();
        if !self.args.json {
            return object;
        }
        object.insert("item".into(), json!(item));
        object.insert("ok".into(), json!(false));
        object.insert("outcome".into(), outcome);
        object.insert("flags".into(), seen_flags(machine, seen.overflow));
        object
    }

    fn results(&self, machine: &Machine<'_>, found: &Report, item: usize) -> Item {
        let args = self.args;
        let module = machine.program().module();
        let format = module.flags.format;
        // What floating-point sums leave is reported only if it is asked for.
        let told = args.drift || !self.floats;
        let drift = found.drift.as_ref().filter(|_| told).map(|(a, b)| drift(module, a, b));
        // Fixed-point and logarithmic numbers and integers are restored exactly; only rounding may remain.
        let broken = drift.as_ref().is_some_and(|d| !d.only_rounding && !self.floats);
        let kept = found.kept.is_none_or(|(_, back)| back || self.floats);
        let failure = found.wrong.map(Failure::Wrong);
        let mut out = Item { wrong: broken || !kept || !found.agrees(), failure, ..Item::default() };
        if !self.files.is_empty() {
            out.words = gradient_words(found, args.hex);
        }
        if args.json {
            let mut object = to_object(found, format, &self.layouts, args.hex);
            object.insert("item".into(), json!(item));
            object.insert("ok".into(), json!(!out.wrong && out.failure.is_none()));
            object.insert("outcome".into(), ended_json(found));
            object.insert("flags".into(), seen_flags(machine, found.overflow));
            object.insert("ran_by".into(), json!(ran_by(machine)));
            if let Some(drift) = drift.filter(|_| args.drift) {
                object.insert("drift".into(), drift.json);
            }
            out.json = Value::Object(object).to_string();
            return out;
        }
        let elements = if args.wrt.is_empty() && !args.jacobian { ELEMENTS } else { usize::MAX };
        let state = state_text(found, drift.as_ref(), args.drift, broken, self.floats);
        if self.blocks {
            out.block = text(found, format, args.hex, elements, &|n| !self.files.has(n)) + &state;
        } else {
            out.notes.extend((!state.is_empty()).then(|| state.trim_end().to_string()));
            for loss in &found.losses {
                let raw = || format!("{:#018x}", loss.value);
                if !self.files.has(0) {
                    out.names.push(loss.name.clone());
                    out.cells.push(&if args.hex { raw() } else { number(loss.value, loss.variable.ty, format) });
                }
                // Saved results are not printed.
                let printed = (1..).zip(&loss.gradients).filter(|(n, _)| !self.files.has(*n));
                for (_, g) in printed {
                    out.names.push(format!("∂/∂{}", g.input.name));
                    out.cells.push(&gradient_text(g, format, args.hex, elements));
                }
            }
        }
        out.noticed = (found.overflow, rests_of(machine.flags()));
        out
    }
}
