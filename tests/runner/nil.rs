//! Tests programs in Nil.
//!
//! Programs in `run` are compiled at every optimisation level. Each is run forward, and back to its start; then backward from the
//! results alone, as `--reverse` does; and evaluated by `ir::eval` before it becomes instructions, which must give the same words.
//! Programs in `trap` stop with exactly the traps that they expect, in the evaluator at the same line. Programs in `error` have
//! exactly the diagnostics that they expect, notes and warnings included.

use std::path::Path;
use std::sync::{Arc, Mutex};

use pendula::arguments;
use pendula::asm::assemble;
use pendula::compiler::compile::Options;
use pendula::compiler::ir::eval::Shown;
use pendula::compiler::passes::Switches;
use pendula::grad::{self, grad};
use pendula::isa::counts::Direction;
use pendula::isa::module::SymbolKind;
use pendula::isa::text::{number, quote};
use pendula::isa::{Format, Module, Ty};
use pendula::load::{CompiledSource, Loaded, load};
use pendula::values;
use pendula::vm::{Config, Event, Machine, Outcome, Program};

use libtest_mimic::Failed;

use crate::compiled::{
    STEPS, diagnostics, each_level, evaluate, evaluator_stops, printed_by_run, some_problems, trap as trap_problem,
};
use crate::expectations::{Expectations, Problem};
use crate::report::{Report, TestFile};

/// The options of the compiler that a file asks for.
fn options(expected: &Expectations, level: u8) -> Result<Options, String> {
    let text = |e: arguments::ArgumentError| e.to_string();
    let arguments = expected.option("args").map_or(Ok(Vec::new()), arguments::parse).map_err(text)?;
    let types = match expected.option("types") {
        Some(types) => arguments::split(types, ',').map_err(text)?.iter().map(|t| t.trim().to_string()).collect(),
        None => Vec::new(),
    };
    let format = expected.option("format").map(|name| Format::ALL.into_iter().find(|f| f.name() == name));
    let format = format.map(|f| f.ok_or("no such format".to_string())).transpose()?;
    let entry = expected.option("entry").map(str::to_string);
    Ok(Options { entry, arguments, types, format, switches: Switches::level(level), ..Options::default() })
}

/// The same for the command line.
fn command_line(expected: &Expectations) -> Vec<String> {
    let mut out = expected.command_line(&["args", "types", "entry", "format", "set"]);
    out.extend(expected.has("backward").then(|| "--reverse".to_string()));
    out
}

/// The output of a run.
type Events = Arc<Mutex<Vec<String>>>;

fn machine<'p>(program: &'p Program, expected: &Expectations) -> Result<(Machine<'p>, Events), String> {
    let mut machine = Machine::new(program, &Config { count: true, ..Config::default() }).map_err(|e| e.to_string())?;
    for assignment in expected.all("set") {
        values::set(&mut machine, assignment).map_err(|e| e.to_string())?;
    }
    let shown = Events::default();
    let module = program.module();
    let (texts, format, sink) = (module.texts.clone(), module.flags.format, Arc::clone(&shown));
    machine.on_event(move |event| {
        let text = match event {
            Event::Show(ty, word) => number(word, ty, format),
            Event::Print(n) => quote(&texts[n as usize]),
            Event::Emit(word) => format!("emitted {}", word.cast_signed()),
        };
        sink.lock().expect("no panic").push(text);
    });
    Ok((machine, shown))
}

/// The words of data, and their types.
fn data_types(module: &Module) -> Vec<Ty> {
    let mut out = Vec::new();
    for symbol in &module.symbols {
        if let SymbolKind::Data { ty, len, .. } = symbol.kind {
            let (start, end) = (symbol.value as usize, (symbol.value + len) as usize);
            out.resize(out.len().max(end), Ty::Int);
            out[start..end].fill(ty);
        }
    }
    out
}

/// True if words are the same, those of floating-point numbers up to rounding.
fn close(types: &[Ty], a: &[u64], b: &[u64]) -> bool {
    let near = |a: f64, b: f64| a == b || (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()));
    types.iter().zip(a).zip(b).all(|((ty, a), b)| match ty {
        Ty::F => near(f64::from_bits(*a), f64::from_bits(*b)),
        Ty::Int | Ty::Q | Ty::L => a == b,
    })
}

fn shown_texts(program: &pendula::compiler::ir::Program, shown: &[Shown]) -> Vec<String> {
    let one = |s: &Shown| match s {
        Shown::Number(ty, word) => number(*word, *ty, program.format),
        Shown::Text(n) => quote(&program.texts[*n as usize]),
    };
    shown.iter().map(one).collect()
}

/// Compiles a file at a level.
fn compile(file: &TestFile, level: u8) -> Result<Loaded, String> {
    let path = file.path.to_str().ok_or("no UTF-8")?;
    load(path, &assemble::Options::default(), &options(&file.expected, level)?).map_err(|e| e.to_string())
}

/// Tests a program that runs to its end, both ways.
pub(crate) fn run(path: &Path) -> Result<(), Failed> {
    let file = TestFile::read(path)?;
    let mut report = Report::new(path);
    each_level(&mut report, |level, report| {
        let loaded = compile(&file, level)?;
        let mut found = diagnostics(&file, &loaded, report);
        let result = run_compiled(&file, loaded, &mut found, report);
        report.compare(&file.expected.problems, found);
        result
    });
    report.finish()
}

/// True if a run came to its end; otherwise reports when it stopped, and adds the trap to the problems.
fn finished(
    (m, outcome, when): (&Machine<'_>, Outcome, &str),
    file: &TestFile,
    found: &mut Vec<Problem>,
    report: &mut Report,
) -> bool {
    let Some(problem) = trap_problem(m, &outcome, file) else { return true };
    report.at(problem.line, format_args!("stopped {when}"));
    found.push(problem);
    false
}

fn run_compiled(file: &TestFile, loaded: Loaded, found: &mut Vec<Problem>, report: &mut Report) -> Result<(), String> {
    let expected = &file.expected;
    let (Some(module), Some(nil)) = (loaded.module, loaded.compiled) else {
        return Err("does not compile".to_string());
    };
    let types = data_types(&module);
    let program = Program::new(module, true).map_err(|e| format!("{} {e}", e.code()))?;
    let module = program.module();
    let (mut m, shown) = machine(&program, expected)?;
    let before = m.memory()[..types.len()].to_vec();
    let digest = m.digest();
    m.begin(Direction::Forward);
    let outcome = m.run(Some(STEPS));
    let after = m.memory()[..types.len()].to_vec();
    if !finished((&m, outcome, "on the way"), file, found, report) {
        return Ok(());
    }
    for (line, name, value) in expected.values()? {
        let place = values::find(module, name).map_err(|e| e.to_string())?;
        let is = values::text(&m, &place, false, usize::MAX);
        if is != value {
            report.at(line, format_args!("expected {name} = {value}, found {is}"));
        }
    }
    let shown = shown.lock().expect("no panic").clone();
    report.compare_shown(expected, &shown);
    let (lost, drift) = (m.counts().lost_bits(), expected.has("drift"));
    if lost > 0 && !drift {
        report.add(format_args!("expected to lose no bits, found {lost}"));
    }
    // Back to the start.
    m.begin(Direction::Backward);
    let outcome = m.run(Some(STEPS));
    if finished((&m, outcome, "on the way back"), file, found, report) {
        if m.digest() != digest && !(drift && close(&types, &before, m.memory())) {
            report.add("the run back does not restore the start");
        }
        if drift && m.digest() == digest && lost == 0 {
            report.add("has `drift`, but nothing is rounded");
        }
    }
    // From the results alone.
    let (mut m, _) = machine(&program, expected)?;
    m.memory_mut()[..types.len()].copy_from_slice(&after);
    m.begin(Direction::Backward);
    let outcome = m.run(Some(STEPS));
    let finished = finished((&m, outcome, "backward from the results"), file, found, report);
    if finished && !close(&types, &before, m.memory()) {
        report.add("the run backward does not come to the start");
    }
    compare_evaluator(&nil, module, (&types, &before, &after), &shown, report)?;
    for (line, wanted) in expected.placed("grad") {
        gradient(&program, expected, (line, wanted), report)?;
    }
    Ok(())
}

/// Compares the evaluator's runs, forward from the words before and backward from those after, with the machine's.
fn compare_evaluator(
    nil: &CompiledSource,
    module: &Module,
    (types, before, after): (&[Ty], &[u64], &[u64]),
    shown: &[String],
    report: &mut Report,
) -> Result<(), String> {
    match evaluate(nil, module, before, Direction::Forward)? {
        Err(error) => report.add(format_args!("the evaluator stops: {error} {:?}", error.loc())),
        Ok((data, out)) => {
            if data != after {
                report.add(format_args!("the evaluator has {data:x?}, the machine {after:x?}"));
            }
            let texts = nil.program.as_ref().map(|p| shown_texts(p, &out.shown)).unwrap_or_default();
            if texts != shown {
                report.add(format_args!("the evaluator shows {texts:?}, the machine {shown:?}"));
            }
            if let Some(at) = out.unchecked.or(out.undropped) {
                report.add(format_args!("the evaluator finds a word left behind at {at:?}"));
            }
        }
    }
    match evaluate(nil, module, after, Direction::Backward)? {
        Err(error) => report.add(format_args!("the evaluator stops backward: {error} {:?}", error.loc())),
        Ok((data, _)) if !close(types, before, &data) => {
            report.add("the evaluator's run backward does not come to the start");
        }
        Ok(_) => {}
    }
    Ok(())
}

/// Compares derivatives with what a file expects, and with finite differences.
fn gradient(
    program: &Program,
    expected: &Expectations,
    (line, wanted): (usize, &str),
    report: &mut Report,
) -> Result<(), String> {
    let mut parts = wanted.split_whitespace();
    let loss = parts.next().ok_or("`grad` without a loss")?;
    let mut derivatives = Vec::new();
    for part in parts {
        let (name, value) = part.split_once('=').ok_or("`grad: loss x=derivative`")?;
        derivatives.push((name.to_string(), value.parse::<f64>().map_err(|e| format!("{value}: {e}"))?));
    }
    let wrt = derivatives.iter().map(|(name, _)| name.clone()).collect();
    let options = grad::Options { loss: Some(loss.to_string()), wrt, check: true, ..grad::Options::default() };
    let (mut m, _) = machine(program, expected)?;
    let found = match grad(&mut m, &options, grad::to_end) {
        Ok(found) => found,
        Err(error) => {
            report.at(line, format_args!("no gradient of {loss}: {error}"));
            return Ok(());
        }
    };
    for ((name, value), found) in derivatives.iter().zip(found.losses.iter().flat_map(|l| &l.gradients)) {
        let is = found.number();
        if is.is_none_or(|is| (is - value).abs() > 1e-6 * (1.0 + value.abs())) {
            report.at(line, format_args!("expected ∂{loss}/∂{name} = {value}, found {is:?}"));
        }
    }
    if !found.agrees() {
        report.at(line, format_args!("the gradient of {loss} differs from finite differences: {:?}", found.checks));
    }
    Ok(())
}

/// Tests a program that does not compile.
pub(crate) fn error(path: &Path) -> Result<(), Failed> {
    let file = TestFile::read(path)?;
    let mut report = Report::new(path);
    let loaded = compile(&file, 2)?;
    let found = diagnostics(&file, &loaded, &mut report);
    some_problems(&file.expected, &mut report);
    report.compare(&file.expected.problems, found);
    report.finish()
}

/// Tests a program that traps.
pub(crate) fn trap(path: &Path) -> Result<(), Failed> {
    let file = TestFile::read(path)?;
    let mut report = Report::new(path);
    some_problems(&file.expected, &mut report);
    each_level(&mut report, |level, report| {
        let loaded = compile(&file, level)?;
        let mut found = diagnostics(&file, &loaded, report);
        let result = trap_compiled(&file, (level, loaded), &mut found, report);
        report.compare(&file.expected.problems, found);
        result
    });
    report.finish()
}

fn trap_compiled(
    file: &TestFile,
    (level, loaded): (u8, Loaded),
    found: &mut Vec<Problem>,
    report: &mut Report,
) -> Result<(), String> {
    let expected = &file.expected;
    let (Some(module), Some(nil)) = (loaded.module, loaded.compiled) else { return Ok(()) };
    let direction = if expected.has("backward") { Direction::Backward } else { Direction::Forward };
    let words = data_types(&module).len();
    let program = Program::new(module, true).map_err(|e| format!("{} {e}", e.code()))?;
    let (mut m, _) = machine(&program, expected)?;
    let before = m.memory()[..words].to_vec();
    m.begin(direction);
    let outcome = m.run(Some(STEPS));
    let problem = trap_problem(&m, &outcome, file);
    let line = problem.as_ref().map(|p| p.line);
    found.extend(problem.clone());
    evaluator_stops(&nil, program.module(), (&before, direction), line, report)?;
    // What the command line prints.
    if let (2, Some(problem)) = (level, problem) {
        printed_by_run(file, command_line(expected), (problem.line, &problem.code), report)?;
    }
    Ok(())
}
