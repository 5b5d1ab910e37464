//! `pendula run`.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Context;
use pendula::asm::diagnostic::{Diagnostic, plural};
use pendula::compiler::janus::store::{Shape, Variable};
use pendula::hw_model::Technology;
use pendula::isa::Inst;
use pendula::isa::counts::{Counts, Direction};
use pendula::isa::module::Module;
use pendula::isa::table::Row;
use pendula::isa::text::number;
use pendula::isa::types::{Reg, Ty};
use pendula::isa::verify::is_row;
use pendula::pisa;
use pendula::store;
use pendula::values::{self, Location, Place};
use pendula::vm::{Engine, Machine, Outcome, Ran};
use serde_json::{Map, Value, json};

use crate::Status;
use crate::cli::Run;
use crate::cmd::{Intended, Program, load};
use crate::drift::drift;
use crate::outcome::{code_name, explain, flags_json, in_source, outcome_json, ran_by, rests};
use crate::report::{Reporter, print, print_json, to_json};
use crate::session::{self, Session};
use crate::trapped;

/// How many elements of an array are printed unasked.
pub(crate) const ELEMENTS: usize = 64;

pub(crate) fn run(args: &Run, reporter: &Reporter) -> anyhow::Result<Status> {
    if !args.many.batch.is_empty() {
        return super::batch::run::run(args, reporter);
    }
    let given = &args.given;
    let run = Intended { given, input: args.input.as_deref() };
    let loaded = match load(&args.source, Some(run), args.json, reporter)? {
        Ok(program) => program,
        Err(status) => return Ok(status),
    };
    let technology = args.tech.as_deref().map(session::technology).transpose()?;
    let warnings = warnings(&loaded, args);
    if !args.json {
        reporter.diagnostics(&warnings, &loaded.sources);
    }
    let backward = args.reverse || args.round_trip;
    let program = match session::program(&loaded, &args.source, given, backward, args.json, reporter)? {
        Ok(program) => program,
        Err(status) => return Ok(status),
    };
    let mut machine = session::machine(&program, given, loaded.variables())?;
    if let Some(tape) = &args.input {
        session::input(&mut machine, tape, args.read, args.reverse)?;
    }
    if let Some(output) = &args.output {
        machine.set_output(values::tape(program.module(), output).with_context(|| format!("--output {output}"))?);
    }
    let store = loaded.variables();
    let shown: Vec<Place> =
        args.show.iter().map(|name| store::find(program.module(), store, name)).collect::<Result<_, _>>()?;
    let events = session::listen(&mut machine, &args.source, args.json, store.is_some());

    session::allow_whole(&mut machine, given, args.stats || args.trace || args.keep_dropped);
    let mut session = Session::new(given, args.trace).of(&loaded);
    let before = *machine.registers();
    let direction = if args.reverse { Direction::Backward } else { Direction::Forward };
    let start = args.round_trip.then(|| machine.digest());
    let copy = (args.round_trip && args.drift).then(|| machine.snapshot());
    if args.keep_dropped {
        machine.keep_dropped();
    }
    machine.begin(direction);
    let mut outcome = session.go(&mut machine)?;
    let finished = outcome == Outcome::Finished;
    let state = State::of(&machine, &before, &shown, store, args);
    // Compiled code may hold words elsewhere meanwhile than where they are at the end.
    let at_stop = !finished && loaded.nil.is_none();
    let mut restored = None;
    if let (Some(start), true) = (start, finished) {
        machine.turn_dropped();
        session.turned(&machine);
        machine.begin(Direction::Backward);
        outcome = session.go(&mut machine)?;
        if outcome == Outcome::Finished {
            restored = Some(machine.digest() == start);
        }
    }
    let elapsed = session.started.elapsed();
    let copy = copy.filter(|_| restored.is_some());
    let drift = copy.map(|copy| drift(program.module(), &copy, &machine.snapshot()));
    let failed =
        outcome != Outcome::Finished || (restored == Some(false) && drift.as_ref().is_none_or(|d| !d.only_rounding));

    let technology = technology.unwrap_or_else(Technology::default_technology);
    let there = [direction, Direction::Backward];
    let ways = if args.round_trip && finished { &there[..] } else { &there[..1] };
    let told = in_source(&outcome, &machine, &loaded, given, ways);
    if args.json {
        let mut object = Map::new();
        object.insert("schema".into(), json!(1));
        object.insert("outcome".into(), outcome_json(&outcome, &machine, (given.max_steps, told.as_ref())));
        object.insert("flags".into(), flags_json(&machine));
        object.insert("ran_by".into(), json!(ran_by(&machine)));
        let warnings: Vec<Value> = warnings.iter().map(|d| to_json(d, &loaded.sources)).collect();
        object.insert("diagnostics".into(), Value::Array(warnings));
        if finished || at_stop {
            object.extend(state.json);
        }
        object.insert("events".into(), events.lock().map(|e| Value::Array(e.clone())).unwrap_or_default());
        if let Some(restored) = restored {
            object.insert("restored".into(), json!(restored));
        }
        if let Some(drift) = &drift {
            object.insert("drift".into(), drift.json.clone());
        }
        if args.stats {
            object.insert("stats".into(), stats_json(&machine, &technology, elapsed));
        }
        print_json(&Value::Object(object))?;
    } else {
        session::end_line()?;
        if finished {
            print(&state.text)?;
        }
        if let Some(restored) = restored {
            print(&round_trip_text(restored, &machine, drift.as_ref().map(|d| d.only_rounding)))?;
        }
        if let Some(drift) = &drift {
            print(&drift.text)?;
        }
        print(&rests(program.module(), machine.flags(), args.drift))?;
        if args.stats {
            print(&stats_text(&machine, &technology, elapsed))?;
        }
        explain(&outcome, &machine, &loaded.sources, reporter, (given.max_steps, told.as_ref()));
        if at_stop && !state.text.is_empty() {
            print(&format!("{}\n{}", stopped_text(&machine), state.text))?;
        }
    }
    Ok(if failed { Status::Fault } else { Status::Done })
}

/// What the values at a stop are headed by.
fn stopped_text(machine: &Machine<'_>) -> String {
    let way = if machine.direction() == Direction::Forward { "forward" } else { "backward" };
    let count = plural(machine.executed(), "instruction");
    format!("stopped after {count}, on the way {way}, with:")
}

/// What there is to say of a program before it runs.
pub(crate) fn warnings(loaded: &Program, args: &Run) -> Vec<Diagnostic> {
    let mut warnings = loaded.warnings.clone();
    let code = loaded.module.code.iter().enumerate();
    let mut ends = code.rev().filter(|(_, inst)| is_row(inst, Row::Start, true)).map(|(at, _)| at as u32);
    if let (true, Some(last), Some(other)) = (args.reverse, ends.next(), ends.next()) {
        let message = "the program has several `FINISH`: the run back begins at the last";
        let mut warning = Diagnostic::warning("P0145", message)
            .help("if the run forward ends at another one, let a branch lead from there to the last");
        for (n, at) in [last, other].into_iter().enumerate() {
            if let Some(place) = trapped::place(&loaded.module, &loaded.sources, at) {
                warning = if n == 0 { warning.at(place, "") } else { warning.also(place, "another one") };
            }
        }
        warnings.push(warning);
    }
    warnings
}

/// The results of a run, before anything else happens to the machine.
pub(crate) struct State {
    text: String,
    pub(crate) json: Map<String, Value>,
}

impl State {
    /// The results; of a program in Janus the variables of `main`, which `store` describes.
    pub(crate) fn of(
        machine: &Machine<'_>,
        before: &[u64; Reg::COUNT],
        shown: &[Place],
        store: Option<&[Variable]>,
        args: &Run,
    ) -> State {
        let mut text = String::new();
        let mut json = Map::new();
        let mut cells = Vec::new();
        let module = machine.program().module();
        let places: Vec<Place> = if !shown.is_empty() {
            shown.to_vec()
        } else if let Some(store) = store {
            store::places(module, store)
        } else if pisa::is_pisa(module) {
            let used = (0..Reg::COUNT as u8).filter_map(Reg::new).filter(|r| machine.registers()[r.index()] != 0);
            let place = |r| Place::narrow(pisa::register(r), Location::Register(r));
            let (places, others) = pisa::changed(machine);
            cells = others;
            used.map(place).chain(places).collect()
        } else {
            let mut places = imports_or_exports(module, args.reverse);
            let changed = (0..Reg::COUNT as u8)
                .filter_map(Reg::new)
                .filter(|r| machine.registers()[r.index()] != before[r.index()]);
            places.extend(changed.map(|r| Place::new(r.to_string(), Ty::Int, Location::Register(r))));
            places
        };
        let limit = if shown.is_empty() { ELEMENTS } else { usize::MAX };
        let mut values = Map::new();
        for place in &places {
            let _ = writeln!(text, "{} = {}", place.head(), values::text(machine, place, args.hex, limit));
            values.insert(place.name.clone(), place_json(machine, place, args.hex));
        }
        for (n, (at, _)) in cells.iter().enumerate() {
            let place = Place::narrow(format!("[{at}]"), Location::Cell(*at));
            values.insert(place.name.clone(), place_json(machine, &place, args.hex));
            if n < ELEMENTS {
                let _ = writeln!(text, "{} = {}", place.name, values::text(machine, &place, args.hex, limit));
            } else if n == ELEMENTS {
                let _ = writeln!(text, "… {} cells in all", cells.len());
            }
        }
        let output = machine.output();
        if !output.is_empty() {
            let words: Vec<String> = output.iter().map(|w| w.cast_signed().to_string()).collect();
            let _ = writeln!(text, "output = [{}]", words.join(", "));
        }
        if pisa::is_pisa(module) {
            let bits = 32 * output.len();
            json.insert("emitted_bits".into(), json!(bits));
            if bits > 0 {
                let _ = writeln!(text, "{bits} bits emitted");
            }
        }
        let (read, given) = (machine.words_read(), machine.input().len());
        if given > 0 && read != if args.reverse { 0 } else { given } {
            let _ = writeln!(text, "input: {read} of {given} words read");
        }
        json.insert("input_read".into(), json!(read));
        json.insert("values".into(), Value::Object(values));
        json.insert("output".into(), json!(output.iter().map(|w| w.cast_signed()).collect::<Vec<i64>>()));
        State { text, json }
    }
}

/// What a run hands back: the exports; a backward run the imports, too.
pub(crate) fn imports_or_exports(module: &Module, reverse: bool) -> Vec<Place> {
    values::marked(module, |import, export| export || (reverse && import))
}

/// A place as JSON: integers and floats as numbers, fixed-point and logarithmic numbers as decimal strings, which are exact.
fn place_json(machine: &Machine<'_>, place: &Place, hex: bool) -> Value {
    let format = machine.program().module().flags.format;
    let one = |w: u64| match (place.ty, &place.variable) {
        _ if hex => json!(format!("{w:#018x}")),
        (Ty::Int, Some(v)) if v.range().0 == 0 => json!(w),
        (Ty::Int, _) => json!(w.cast_signed()),
        (Ty::F, _) if f64::from_bits(w).is_finite() => json!(f64::from_bits(w)),
        (Ty::F | Ty::Q | Ty::L, _) => json!(number(w, place.ty, format)),
    };
    let words = values::words(machine, place);
    if let Some(v) = &place.variable {
        let mut list: Vec<Value> = v.words(&words).into_iter().map(one).collect();
        return match &v.shape {
            Shape::Int(_) => list.pop().unwrap_or_default(),
            Shape::Stack => Value::Array(list),
            Shape::Array(_, dims) => nested(dims, &list),
        };
    }
    match place.at {
        Location::Memory { array: true, .. } => Value::Array(words.iter().copied().map(one).collect()),
        Location::Memory { .. } | Location::Register(_) | Location::Cell(_) => {
            words.first().copied().map_or(Value::Null, one)
        }
    }
}

/// The elements of an array with these sizes, as arrays of arrays.
fn nested(dims: &[u64], list: &[Value]) -> Value {
    let size = dims.iter().skip(1).product::<u64>().max(1) as usize;
    match dims {
        [_, rest @ ..] if !rest.is_empty() => list.chunks(size).map(|part| nested(rest, part)).collect(),
        _ => Value::Array(list.to_vec()),
    }
}

fn round_trip_text(restored: bool, machine: &Machine<'_>, told: Option<bool>) -> String {
    let words = machine.memory().len() + Reg::COUNT - 1 + machine.output().len();
    if restored {
        format!("round trip: the state was restored, all {words} words bit for bit\n")
    } else if told == Some(true) {
        "round trip: the state was restored but for the rounding of floating-point numbers\n".to_string()
    } else if told.is_some() {
        "round trip: the state was NOT restored\n".to_string()
    } else {
        "round trip: the state was NOT restored; `--drift` tells what differs\n".to_string()
    }
}

pub(crate) fn stats_text(machine: &Machine<'_>, technology: &Technology, elapsed: Duration) -> String {
    let ran = (machine.engine(), machine.ran());
    counts_text(&machine.counts(), &machine.program().module().code, technology, elapsed, ran)
}

/// What was counted, as text.
pub(crate) fn counts_text(
    counts: &Counts,
    code: &[Inst],
    technology: &Technology,
    elapsed: Duration,
    (engine, ran): (Engine, Ran),
) -> String {
    let mut out = String::new();
    let total = counts.instructions();
    let _ = writeln!(out, "instructions  {:>16}", grouped(total));
    for mode in &counts.modes {
        let n = counts.instructions_in(mode);
        if counts.modes.len() > 1 {
            let name = match (mode.mode.level, mode.mode.tangents) {
                (0, false) => String::new(),
                (0, true) => " (tangents)".to_string(),
                (level, tangents) => format!(" (level {level}{})", if tangents { ", tangents" } else { "" }),
            };
            let _ = writeln!(out, "  {:<29} {:>16}", format!("{}{name}", mode.mode.direction.name()), grouped(n));
        }
    }
    let _ = writeln!(
        out,
        "cycles        {:>16}   (technology {})",
        grouped(technology.cycles(counts, code)),
        technology.name()
    );
    let seconds = elapsed.as_secs_f64();
    let rate = total as f64 / seconds.max(1e-9) / 1e6;
    let _ = writeln!(out, "time          {seconds:>16.6} s, {rate:.0} million instructions a second");
    let by = [(ran.compiled, code_name(engine)), (ran.interpreted, "the interpreter")];
    let by = by.into_iter().filter(|(n, _)| *n > 0).map(|(n, name)| format!("{} by {name}", grouped(n)));
    let _ = writeln!(out, "engine        {:>16}   ({})", engine.name(), by.collect::<Vec<_>>().join(", "));
    let _ = writeln!(out, "bits lost     {:>16}", grouped(counts.lost_bits()));
    let mut classes: Vec<(&str, u64)> = Vec::new();
    for mode in &counts.modes {
        for (class, n) in counts.classes(mode, code) {
            match classes.iter_mut().find(|(k, _)| *k == class.key()) {
                Some((_, sum)) => *sum += n,
                None => classes.push((class.key(), n)),
            }
        }
    }
    let _ = writeln!(out, "gates used");
    for (class, n) in classes.iter().filter(|(_, n)| *n > 0) {
        let _ = writeln!(out, "  {class:<15} {:>12}", grouped(*n));
    }
    out
}

pub(crate) fn stats_json(machine: &Machine<'_>, technology: &Technology, elapsed: Duration) -> Value {
    let ran = (machine.engine(), machine.ran());
    let mut stats = counts_json(&machine.counts(), &machine.program().module().code, technology, elapsed, ran);
    let flags = machine.flags();
    stats["overflow_at"] = json!(flags.overflow);
    stats["inexact_at"] = json!(flags.inexact);
    stats
}

/// What was counted, as JSON.
pub(crate) fn counts_json(
    counts: &Counts,
    code: &[Inst],
    technology: &Technology,
    elapsed: Duration,
    (engine, ran): (Engine, Ran),
) -> Value {
    let modes: Vec<Value> = counts
        .modes
        .iter()
        .map(|m| {
            let classes: Map<String, Value> = counts
                .classes(m, code)
                .into_iter()
                .filter(|(_, n)| *n > 0)
                .map(|(c, n)| (c.key().to_string(), json!(n)))
                .collect();
            json!({
                "direction": m.mode.direction.name(),
                "level": m.mode.level,
                "tangents": m.mode.tangents,
                "instructions": counts.instructions_in(m),
                "cycles": technology.cycles_in(counts, m, code),
                "gates": classes,
            })
        })
        .collect();
    json!({
        "instructions": counts.instructions(),
        "cycles": technology.cycles(counts, code),
        "technology": technology.name(),
        "seconds": elapsed.as_secs_f64(),
        "engine": { "name": engine.name(), "compiled": ran.compiled, "interpreted": ran.interpreted },
        "lost_bits": counts.lost_bits(),
        "modes": modes,
    })
}

/// A number with its digits in groups of three.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(c);
    }
    out
}
