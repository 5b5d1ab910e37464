//! `pendula run`.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::Context;
use pendula::asm::diagnostic::{Diagnostic, Sources};
use pendula::hw_model::Technology;
use pendula::isa::counts::Direction;
use pendula::isa::module::{Module, SymbolKind};
use pendula::isa::text::{display, number};
use pendula::isa::types::{Reg, Ty};
use pendula::values::{self, Location, Place};
use pendula::vm::{Config, Event, Machine, Outcome, Program, Stepped, Trap};
use serde_json::{Map, Value, json};

use crate::Status;
use crate::cli::{Run, Switch, TrapOn};
use crate::cmd::{load, report};
use crate::report::{Reporter, print, print_json, to_json};
use crate::trapped::{self, ModuleNames, line_of};

/// How many elements of an array are printed unasked.
const ELEMENTS: usize = 64;

/// How many events `--json` collects; later ones are left out.
const EVENTS: usize = 1_000_000;

/// Instructions between looks at the clock.
const CHUNK: u64 = 20_000_000;

pub(crate) fn run(args: &Run, reporter: &Reporter) -> anyhow::Result<Status> {
    let loaded = match load(&args.source, args.mem, args.json, reporter)? {
        Ok(program) => program,
        Err(status) => return Ok(status),
    };
    let technology = args.tech.as_deref().map(technology).transpose()?;
    if !args.json {
        reporter.diagnostics(&loaded.warnings, &loaded.sources);
    }
    let backward = args.reverse || args.round_trip;
    if backward && loaded.module.flags.irreversible {
        let d =
            Diagnostic::error("P0143", format!("{} says `.irreversible`: it cannot run backward", args.source.file))
                .help("run it forward, or uncompute instead of erasing");
        report(&[d], &loaded.sources, args.json, reporter)?;
        return Ok(Status::Fault);
    }
    let program = match Program::new(loaded.module, args.checks == Switch::On) {
        Ok(program) => program,
        Err(error) => {
            let d = Diagnostic::error(error.code(), format!("{}: {error}", args.source.file)).help(error.help());
            report(&[d], &loaded.sources, args.json, reporter)?;
            return Ok(Status::Fault);
        }
    };
    let config =
        Config { mem: args.mem, ieee: args.ieee, trap_overflow: args.trap.contains(&TrapOn::Overflow), count: true };
    let mut machine = Machine::new(&program, &config)?;
    set_up(&mut machine, args)?;
    let shown: Vec<Place> =
        args.show.iter().map(|name| values::find(program.module(), name.trim())).collect::<Result<_, _>>()?;
    let events = listen(&mut machine, args.json);

    let mut session = Session { args, machine, left: args.max_steps, started: Instant::now(), bar: None };
    let before = *session.machine.registers();
    let direction = if args.reverse { Direction::Backward } else { Direction::Forward };
    let start = args.round_trip.then(|| session.machine.digest());
    let copy = (args.round_trip && args.drift).then(|| (before, session.machine.memory().to_vec()));
    session.machine.begin(direction);
    let mut outcome = session.go()?;
    let finished = outcome == Outcome::Finished;
    let state = State::of(&session.machine, &before, &shown, args);
    let mut restored = None;
    if let (Some(start), true) = (start, finished) {
        session.machine.begin(Direction::Backward);
        outcome = session.go()?;
        if outcome == Outcome::Finished {
            restored = Some(session.machine.digest() == start);
        }
    }
    let elapsed = session.started.elapsed();
    let machine = session.machine;
    let drift = copy.filter(|_| restored.is_some()).map(|copy| drift(&machine, &copy));
    let failed =
        outcome != Outcome::Finished || (restored == Some(false) && drift.as_ref().is_none_or(|d| !d.only_rounding));

    let technology = technology.unwrap_or_else(Technology::default_technology);
    if args.json {
        let mut object = Map::new();
        object.insert("schema".into(), json!(1));
        object.insert("outcome".into(), outcome_json(&outcome, &machine, args));
        object.insert("flags".into(), flags_json(&machine));
        let warnings: Vec<Value> = loaded.warnings.iter().map(|d| to_json(d, &loaded.sources)).collect();
        object.insert("diagnostics".into(), Value::Array(warnings));
        if finished {
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
        if finished {
            print(&state.text)?;
        }
        if let Some(restored) = restored {
            print(&round_trip_text(restored, &machine, drift.as_ref().map(|d| d.only_rounding)))?;
        }
        if let Some(drift) = &drift {
            print(&drift.text)?;
        }
        if args.stats {
            print(&stats_text(&machine, &technology, elapsed))?;
        }
        explain(&outcome, &machine, &loaded.sources, reporter, args);
    }
    Ok(if failed { Status::Fault } else { Status::Done })
}

fn technology(path: &str) -> anyhow::Result<Technology> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    Technology::parse(&text).map_err(|e| {
        let line = e.span.map_or(String::new(), |s| format!(":{}", crate::report::line_and_column(&text, s.start).0));
        anyhow::anyhow!("{path}{line}: {}", e.message)
    })
}

/// Applies `--set`, `--input`, `--read` and `--output`.
fn set_up(machine: &mut Machine<'_>, args: &Run) -> anyhow::Result<()> {
    for assignment in &args.set {
        values::set(machine, assignment).with_context(|| format!("--set {assignment}"))?;
    }
    if let Some(input) = &args.input {
        let words = values::tape(input).with_context(|| format!("--input {input}"))?;
        let read = args.read.unwrap_or(if args.reverse { words.len() } else { 0 });
        anyhow::ensure!(read <= words.len(), "--read {read}: the input tape has {} words", words.len());
        machine.set_input(words, read);
    }
    if let Some(output) = &args.output {
        machine.set_output(values::tape(output).with_context(|| format!("--output {output}"))?);
    }
    Ok(())
}

/// Has what the program shows printed at once, or with `--json` collected.
fn listen(machine: &mut Machine<'_>, collect: bool) -> Arc<Mutex<Vec<Value>>> {
    let events = Arc::new(Mutex::new(Vec::new()));
    let format = machine.program().module().flags.format;
    let texts = machine.program().module().texts.clone();
    let list = Arc::clone(&events);
    machine.on_event(move |event| {
        let text = match event {
            Event::Show(ty, word) => number(word, ty, format),
            Event::Print(n) => texts.get(n as usize).cloned().unwrap_or_default(),
        };
        if !collect {
            if print(&(text + "\n")).is_err() {
                // Nobody listens any more: that is no error, but there is nothing left to run for.
                std::process::exit(0);
            }
        } else if let Ok(mut list) = list.lock()
            && list.len() < EVENTS
        {
            list.push(Value::String(text));
        }
    });
    events
}

/// A machine on its way, with the step limit and the progress bar.
struct Session<'a, 'p> {
    args: &'a Run,
    machine: Machine<'p>,
    left: Option<u64>,
    started: Instant,
    bar: Option<indicatif::ProgressBar>,
}

impl Session<'_, '_> {
    /// Runs until the end, a trap or the step limit.
    fn go(&mut self) -> anyhow::Result<Outcome> {
        if self.args.trace {
            return self.trace();
        }
        let terminal = std::io::stderr().is_terminal();
        let outcome = loop {
            let chunk = self.left.unwrap_or(CHUNK).min(CHUNK);
            let before = self.machine.executed();
            let outcome = self.machine.run(Some(chunk));
            if let Some(left) = &mut self.left {
                *left -= (self.machine.executed() - before).min(*left);
            }
            if outcome != Outcome::Limit || self.left == Some(0) {
                break outcome;
            }
            if terminal && self.started.elapsed() > Duration::from_secs(1) {
                let bar = self.bar.get_or_insert_with(indicatif::ProgressBar::new_spinner);
                let n = self.machine.executed();
                let rate = n as f64 / self.started.elapsed().as_secs_f64() / 1e6;
                bar.set_message(format!("{} million instructions, {rate:.0} million a second", n / 1_000_000));
                bar.tick();
            }
        };
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        Ok(outcome)
    }

    /// Runs one instruction at a time and prints each with what it changed.
    fn trace(&mut self) -> anyhow::Result<Outcome> {
        let mut out = std::io::BufWriter::new(std::io::stderr().lock());
        let program = self.machine.program();
        loop {
            if self.left == Some(0) && self.machine.pc().is_some() {
                out.flush()?;
                return Ok(Outcome::Limit);
            }
            let before = *self.machine.registers();
            let memory = self.machine.pc().and_then(|pc| memory_operand(&self.machine, pc));
            match self.machine.step() {
                Stepped::Ran(at) => {
                    let module = program.module();
                    let arrow = if self.machine.direction() == Direction::Forward { ' ' } else { '<' };
                    let text = display(&module.code[at as usize], u64::from(at), &ModuleNames(module));
                    let mut line = format!("{at:>6}{arrow} {text:<40}");
                    for (n, (old, new)) in before.iter().zip(self.machine.registers()).enumerate() {
                        if old != new {
                            let reg = Reg::new(n as u8).unwrap_or_default();
                            let _ = write!(line, " {reg} = {}", new.cast_signed());
                        }
                    }
                    if let Some((address, old)) = memory
                        && let Some(new) = self.machine.memory().get(address as usize).filter(|w| **w != old)
                    {
                        let _ = write!(line, " [{address}] = {}", new.cast_signed());
                    }
                    writeln!(out, "{}", line.trim_end())?;
                    if let Some(left) = &mut self.left {
                        *left -= 1;
                    }
                }
                Stepped::Finished => {
                    out.flush()?;
                    return Ok(Outcome::Finished);
                }
                Stepped::Trap(trap) => {
                    out.flush()?;
                    return Ok(Outcome::Trap(trap));
                }
            }
        }
    }
}

/// The address that the instruction at `pc` may write, and the word there.
fn memory_operand(machine: &Machine<'_>, pc: u32) -> Option<(u64, u64)> {
    use pendula::isa::operand::Operand;
    let inst = machine.program().module().code.get(pc as usize)?;
    let regs = machine.registers();
    inst.operands().find_map(|(_, operand)| match operand {
        Operand::Mem { base, index, offset } => {
            let address = regs[base.index()].wrapping_add(regs[index.index()]).wrapping_add(offset.cast_unsigned());
            Some((address, *machine.memory().get(usize::try_from(address).ok()?)?))
        }
        _ => None,
    })
}

/// The results of a run, before anything else happens to the machine.
struct State {
    text: String,
    json: Map<String, Value>,
}

impl State {
    fn of(machine: &Machine<'_>, before: &[u64; Reg::COUNT], shown: &[Place], args: &Run) -> State {
        let mut text = String::new();
        let mut json = Map::new();
        let places: Vec<Place> = if shown.is_empty() {
            let mut places = imports_or_exports(machine.program().module(), args.reverse);
            let changed = (0..Reg::COUNT as u8)
                .filter_map(Reg::new)
                .filter(|r| machine.registers()[r.index()] != before[r.index()]);
            places.extend(changed.map(|r| Place { name: r.to_string(), ty: Ty::Int, at: Location::Register(r) }));
            places
        } else {
            shown.to_vec()
        };
        let limit = if shown.is_empty() { ELEMENTS } else { usize::MAX };
        let mut values = Map::new();
        for place in &places {
            let _ = writeln!(text, "{} = {}", place.name, values::text(machine, place, args.hex, limit));
            values.insert(place.name.clone(), place_json(machine, place, args.hex));
        }
        let output = machine.output();
        if !output.is_empty() {
            let words: Vec<String> = output.iter().map(|w| w.cast_signed().to_string()).collect();
            let _ = writeln!(text, "output = [{}]", words.join(", "));
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
fn imports_or_exports(module: &Module, reverse: bool) -> Vec<Place> {
    values::marked(module, |import, export| export || (reverse && import))
}

/// A place as JSON: integers and floats as numbers, fixed-point and logarithmic numbers as decimal strings, which are exact.
fn place_json(machine: &Machine<'_>, place: &Place, hex: bool) -> Value {
    let format = machine.program().module().flags.format;
    let one = |w: &u64| match place.ty {
        _ if hex => json!(format!("{w:#018x}")),
        Ty::Int => json!(w.cast_signed()),
        Ty::F if f64::from_bits(*w).is_finite() => json!(f64::from_bits(*w)),
        Ty::F | Ty::Q | Ty::L => json!(number(*w, place.ty, format)),
    };
    let words = values::words(machine, place);
    match place.at {
        Location::Memory { array: true, .. } => Value::Array(words.iter().map(one).collect()),
        Location::Memory { .. } | Location::Register(_) => words.first().map_or(Value::Null, one),
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

/// What a round trip left different.
struct Drift {
    text: String,
    json: Value,
    /// Whether everything that differs is floating point.
    only_rounding: bool,
}

fn drift(machine: &Machine<'_>, (regs, memory): &([u64; Reg::COUNT], Vec<u64>)) -> Drift {
    let module = machine.program().module();
    let mut largest: Option<(f64, String)> = None;
    let mut float_words = 0u64;
    let mut others: Vec<String> = Vec::new();
    let mut other_words = 0u64;
    let mut note = |name: String, ty: Ty, old: u64, new: u64| {
        if old == new {
            return;
        }
        if ty == Ty::F {
            float_words += 1;
            let difference = (f64::from_bits(new) - f64::from_bits(old)).abs();
            if largest.as_ref().is_none_or(|(d, _)| difference.total_cmp(d).is_gt()) {
                largest = Some((difference, name));
            }
        } else {
            other_words += 1;
            if others.len() < 10 {
                let format = module.flags.format;
                others.push(format!("{name}: {} became {}", number(old, ty, format), number(new, ty, format)));
            }
        }
    };
    for (n, (old, new)) in regs.iter().zip(machine.registers()).enumerate() {
        note(format!("r{n}"), Ty::Int, *old, *new);
    }
    let mut types: Vec<(u64, u64, Ty, &str)> = module
        .symbols
        .iter()
        .filter_map(|s| match s.kind {
            SymbolKind::Data { ty, len, .. } => Some((s.value, len, ty, s.name.as_str())),
            SymbolKind::Label | SymbolKind::Proc => None,
        })
        .collect();
    types.sort_by_key(|t| t.0);
    for (at, (old, new)) in memory.iter().zip(machine.memory()).enumerate() {
        if old == new {
            continue;
        }
        let at = at as u64;
        let owner = types.partition_point(|t| t.0 <= at).checked_sub(1).map(|n| types[n]).filter(|t| at < t.0 + t.1);
        match owner {
            Some((start, 1, ty, name)) if start == at => note(name.to_string(), ty, *old, *new),
            Some((start, _, ty, name)) => note(format!("{name}[{}]", at - start), ty, *old, *new),
            None => note(format!("memory word {at}"), Ty::Int, *old, *new),
        }
    }
    let mut text = String::new();
    let (difference, place) = largest.clone().unwrap_or((0.0, String::new()));
    if float_words > 0 {
        let words = if float_words == 1 { "word differs" } else { "words differ" };
        let _ = writeln!(text, "drift: {float_words} floating-point {words}, most in {place}: by {difference:e}");
    }
    if other_words > 0 {
        let words = if other_words == 1 { "word differs" } else { "words differ" };
        let _ = writeln!(text, "drift: {other_words} other {words}:");
        for line in &others {
            let _ = writeln!(text, "  {line}");
        }
    }
    if text.is_empty() {
        text.push_str("drift: none, every bit is as it was\n");
    }
    let json = json!({
        "float_words": float_words, "largest": difference, "place": place, "other_words": other_words, "others": others,
    });
    Drift { text, json, only_rounding: other_words == 0 && float_words > 0 }
}

/// Where each flag was raised first; `null` where it was not.
fn flags_json(machine: &Machine<'_>) -> Value {
    let module = machine.program().module();
    let place = |at: Option<u32>| at.map(|at| trapped::address_json(at, module));
    let flags = machine.flags();
    json!({ "overflow": place(flags.overflow), "inexact": place(flags.inexact) })
}

fn outcome_json(outcome: &Outcome, machine: &Machine<'_>, args: &Run) -> Value {
    let module = machine.program().module();
    match outcome {
        Outcome::Finished => json!({ "kind": "finished" }),
        Outcome::Limit => json!({
            "kind": "limit",
            "code": "P0130",
            "max_steps": args.max_steps,
            "next": machine.pc().map(|at| trapped::address_json(at, module)),
        }),
        Outcome::Trap(trap) => json!({ "kind": "trap", "trap": trapped::to_json(trap, module) }),
    }
}

fn explain(outcome: &Outcome, machine: &Machine<'_>, sources: &Sources, reporter: &Reporter, args: &Run) {
    let module = machine.program().module();
    match outcome {
        Outcome::Finished => {}
        Outcome::Trap(trap) => trap_report(trap, module, sources, reporter),
        Outcome::Limit => {
            let n = args.max_steps.unwrap_or_default();
            let mut d = Diagnostic::error("P0130", format!("the run did not end within {n} instructions"))
                .help("raise the limit with `--max-steps`, or look where it is with `--trace`");
            if let Some(at) = machine.pc().and_then(|pc| trapped::place(module, sources, pc)) {
                d = d.at(at, "the next instruction");
            }
            reporter.diagnostic(&d, sources);
        }
    }
    let flags = machine.flags();
    if let Some(at) = flags.overflow {
        flag(
            module,
            sources,
            reporter,
            at,
            "P0131",
            "a fixed-point number overflowed and wrapped",
            "first here",
            "scale the values or choose a `.format` with more integer bits; `--trap overflow` stops here",
        );
    }
    if let Some(at) = flags.inexact {
        flag(
            module,
            sources,
            reporter,
            at,
            "P0132",
            "`zero.f` cleared a number that was not zero",
            "first here",
            "a run back does not restore it; 64 bits are counted as lost each time",
        );
    }
}

fn trap_report(trap: &Trap, module: &Module, sources: &Sources, reporter: &Reporter) {
    trapped::report(trap, module, sources, reporter);
}

#[expect(clippy::too_many_arguments, reason = "one call for two flags")]
fn flag(
    module: &Module,
    sources: &Sources,
    reporter: &Reporter,
    at: u32,
    code: &'static str,
    message: &str,
    label: &str,
    help: &str,
) {
    let mut d = Diagnostic::warning(code, message).help(help);
    match trapped::place(module, sources, at) {
        Some(place) => d = d.at(place, label),
        None => d.message = format!("{}: {message}", line_of(module, at)),
    }
    reporter.diagnostic(&d, sources);
}

fn stats_text(machine: &Machine<'_>, technology: &Technology, elapsed: Duration) -> String {
    let counts = machine.counts();
    let code = &machine.program().module().code;
    let mut out = String::new();
    let total = counts.instructions();
    let _ = writeln!(out, "instructions  {:>16}", grouped(total));
    for mode in &counts.modes {
        let n = counts.instructions_in(mode);
        if counts.modes.len() > 1 {
            let _ = writeln!(out, "  {:<11} {:>16}", mode.mode.direction.name(), grouped(n));
        }
    }
    let _ = writeln!(
        out,
        "cycles        {:>16}   (technology {})",
        grouped(technology.cycles(&counts, code)),
        technology.name()
    );
    let seconds = elapsed.as_secs_f64();
    let rate = total as f64 / seconds.max(1e-9) / 1e6;
    let _ = writeln!(out, "time          {seconds:>16.6} s, {rate:.0} million instructions a second");
    let _ = writeln!(out, "bits lost     {:>16}", grouped(counts.lost_bits));
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

fn stats_json(machine: &Machine<'_>, technology: &Technology, elapsed: Duration) -> Value {
    let counts = machine.counts();
    let code = &machine.program().module().code;
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
                "instructions": counts.instructions_in(m),
                "cycles": technology.cycles_in(&counts, m, code),
                "gates": classes,
            })
        })
        .collect();
    let flags = machine.flags();
    json!({
        "instructions": counts.instructions(),
        "cycles": technology.cycles(&counts, code),
        "technology": technology.name(),
        "seconds": elapsed.as_secs_f64(),
        "lost_bits": counts.lost_bits,
        "overflow_at": flags.overflow,
        "inexact_at": flags.inexact,
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
