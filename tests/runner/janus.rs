//! Tests programs in Janus.
//!
//! Programs in `run` are compiled at every optimisation level and run by every engine: forward, and back to the start; then backward from
//! the results alone, as `--reverse` does; and evaluated by `ir::eval` before they become instructions, which must give the same words. Their
//! inverses, written as programs, run from the results to the start. Programs
//! in `trap` stop with exactly the traps that they expect, in the evaluator at the same line. Programs in `error` have exactly the
//! diagnostics that they expect, warnings included.

use std::path::Path;
use std::sync::{Arc, Mutex};

use pendula::asm::assemble;
use pendula::compiler::compile::{Options, compile_janus};
use pendula::compiler::ir::eval::Shown;
use pendula::compiler::janus;
use pendula::compiler::passes::Switches;
use pendula::isa::counts::Direction;
use pendula::isa::module::SymbolKind;
use pendula::isa::{Module, Ty};
use pendula::load::{Loaded, load};
use pendula::native::{NativeProgram, When};
use pendula::vm::{Config, Engine, Event, Machine, Outcome, Program};
use pendula::{store, values};
use pendula_codegen::cc::Rounding;

use libtest_mimic::Failed;

use crate::compiled::{
    STEPS, diagnostics, each_level, evaluate, evaluator_stops, printed_by_run, some_problems, trap as trap_problem,
};
use crate::expectations::{Expectations, Problem};
use crate::report::{Report, TestFile};

/// How a file asks to be compiled.
fn settings(expected: &Expectations) -> Result<janus::Settings, String> {
    let mut settings = janus::Settings::default();
    if expected.has("classic") {
        (settings.classic, settings.int32) = (true, true);
    }
    if let Some(bits) = expected.number("int")? {
        settings.int32 = bits == 32;
    }
    if let Some(stack) = expected.number("stack")? {
        settings.stack = stack;
    }
    settings.entry = expected.option("entry").map(str::to_string);
    Ok(settings)
}

/// The same for the command line.
fn command_line(expected: &Expectations) -> Vec<String> {
    let mut out = expected.command_line(&["set", "int", "classic", "stack"]);
    out.extend(expected.has("backward").then(|| "--reverse".to_string()));
    out
}

/// The output of a run.
type Output = Arc<Mutex<String>>;

fn machine<'p>(
    program: &'p Program,
    loaded: &Loaded,
    expected: &Expectations,
    engine: Engine,
) -> Result<(Machine<'p>, Output), String> {
    let config = Config { engine, ..Config::default() };
    let mut machine = Machine::new(program, &config).map_err(|e| e.to_string())?;
    let variables = loaded.compiled.as_ref().and_then(|nil| nil.variables());
    for assignment in expected.all("set") {
        store::set(&mut machine, variables, assignment).map_err(|e| e.to_string())?;
    }
    machine.allow_whole(engine == Engine::Native);
    let shown = Output::default();
    let (texts, sink) = (program.module().texts.clone(), Arc::clone(&shown));
    machine.on_event(move |event| {
        let text = match event {
            Event::Show(_, word) => word.cast_signed().to_string(),
            Event::Print(n) => texts[n as usize].clone(),
            Event::Emit(word) => word.cast_signed().to_string(),
        };
        sink.lock().expect("no panic").push_str(&text);
    });
    Ok((machine, shown))
}

/// The number of words of data.
fn data_len(module: &Module) -> usize {
    let end = |s: &pendula::isa::module::Symbol| match s.kind {
        SymbolKind::Data { len, .. } => (s.value + len) as usize,
        SymbolKind::Label | SymbolKind::Proc => 0,
    };
    module.symbols.iter().map(end).max().unwrap_or(0)
}

/// Compiles a file at a level.
fn compile(file: &TestFile, level: u8) -> Result<Loaded, String> {
    let path = file.path.to_str().ok_or("no UTF-8")?;
    let options = Options { switches: Switches::level(level), janus: settings(&file.expected)?, ..Options::default() };
    load(path, &assemble::Options::default(), &options).map_err(|e| e.to_string())
}

/// The program, ready to be run by every engine.
fn program(loaded: &Loaded) -> Result<Option<Program>, String> {
    let (Some(module), Some(nil)) = (&loaded.module, &loaded.compiled) else { return Ok(None) };
    let mut program = Program::new(module.clone(), true).map_err(|e| format!("{} {e}", e.code()))?;
    if let Some(ir) = &nil.source
        && let Ok(native) =
            NativeProgram::new(ir.clone(), nil.arguments.clone(), Rounding::Strict, nil.switches, When::AtOnce)
    {
        program.set_whole(Arc::new(native));
    }
    Ok(Some(program))
}

fn engines(level: u8) -> &'static [Engine] {
    if level == 2 { &[Engine::Interpreter, Engine::Jit, Engine::Native] } else { &[Engine::Interpreter] }
}

/// Tests a program that runs to its end, both ways.
pub(crate) fn run(path: &Path) -> Result<(), Failed> {
    let file = TestFile::read(path)?;
    let mut report = Report::new(path);
    each_level(&mut report, |level, report| {
        let loaded = compile(&file, level)?;
        let mut found = diagnostics(&file, &loaded, report);
        let result = run_compiled(&file, (level, &loaded), &mut found, report);
        report.compare(&file.expected.problems, found);
        result
    });
    report.finish()
}

/// Words of data at the start and at the end of a run, and what it showed.
struct Ran {
    before: Vec<u64>,
    after: Vec<u64>,
    shown: String,
}

fn run_compiled(
    file: &TestFile,
    (level, loaded): (u8, &Loaded),
    found: &mut Vec<Problem>,
    report: &mut Report,
) -> Result<(), String> {
    let program = program(loaded)?.ok_or("does not compile")?;
    let mut first: Option<Vec<u64>> = None;
    for engine in engines(level) {
        report.context = format!("-O{level}, {}", engine.name());
        let Some(ran) = run_engine(file, (&program, loaded, *engine), found, report)? else { continue };
        if first.get_or_insert_with(|| ran.after.clone()) != &ran.after {
            report.add("differs from the interpreter");
        }
        if *engine != Engine::Interpreter {
            continue;
        }
        if !file.expected.has("classic") {
            report.attempt(|_| check_inverse(loaded, &file.expected, &ran));
        }
        compare_evaluator(loaded, program.module(), &ran, report)?;
    }
    report.context = format!("-O{level}");
    Ok(())
}

/// Runs a program with one engine: forward and back, and backward from the results alone. Nothing if it stopped on the way forward.
fn run_engine(
    file: &TestFile,
    (program, loaded, engine): (&Program, &Loaded, Engine),
    found: &mut Vec<Problem>,
    report: &mut Report,
) -> Result<Option<Ran>, String> {
    let expected = &file.expected;
    let nil = loaded.compiled.as_ref().ok_or("not compiled")?;
    let words = data_len(program.module());
    let mut stopped = |m: &Machine<'_>, outcome: Outcome, when: &str, report: &mut Report| {
        let Some(problem) = trap_problem(m, &outcome, file) else { return false };
        report.at(problem.line, format_args!("stopped {when}"));
        found.push(problem);
        true
    };
    let (mut m, shown) = machine(program, loaded, expected, engine)?;
    let before = m.memory()[..words].to_vec();
    let digest = m.digest();
    m.begin(Direction::Forward);
    let outcome = m.run(Some(STEPS));
    if stopped(&m, outcome, "on the way", report) {
        return Ok(None);
    }
    let after = m.memory()[..words].to_vec();
    let places = store::places(program.module(), nil.variables().expect("a program in Janus"));
    let values: Vec<(String, String)> =
        places.iter().map(|p| (p.head(), values::text(&m, p, false, usize::MAX))).collect();
    for (line, name, value) in expected.values()? {
        let is = values.iter().find(|(n, _)| n == name).map(|(_, is)| is.as_str());
        if is != Some(value) {
            report.at(line, format_args!("expected {name} = {value}, found {}", is.unwrap_or("no such variable")));
        }
    }
    let shown = shown.lock().expect("no panic").clone();
    let wanted: String = expected.shown().iter().map(|line| format!("{line}\n")).collect();
    if shown != wanted {
        report.add(format_args!("expected to show {wanted:?}, found {shown:?}"));
    }
    m.begin(Direction::Backward);
    let outcome = m.run(Some(STEPS));
    if !stopped(&m, outcome, "on the way back", report) && m.digest() != digest {
        report.add("the run back does not restore the start");
    }
    let (mut m, _) = machine(program, loaded, expected, engine)?;
    m.memory_mut()[..words].copy_from_slice(&after);
    m.begin(Direction::Backward);
    let outcome = m.run(Some(STEPS));
    if !stopped(&m, outcome, "backward from the results", report) && m.memory()[..words] != before {
        report.add("the run backward does not come to the start");
    }
    Ok(Some(Ran { before, after, shown }))
}

/// Compares the evaluator's runs, forward and backward, with the machine's.
fn compare_evaluator(loaded: &Loaded, module: &Module, ran: &Ran, report: &mut Report) -> Result<(), String> {
    let nil = loaded.compiled.as_ref().ok_or("not compiled")?;
    match evaluate(nil, module, &ran.before, Direction::Forward)? {
        Err(error) => report.add(format_args!("the evaluator stops: {error} {:?}", error.loc())),
        Ok((data, out)) => {
            if data != ran.after {
                report.add(format_args!("the evaluator has {data:x?}, the machine {:x?}", ran.after));
            }
            let texts = &nil.program.as_ref().ok_or("no program")?.texts;
            let one = |s: &Shown| match s {
                Shown::Number(Ty::Int, word) => word.cast_signed().to_string(),
                Shown::Number(..) => "no integer".to_string(),
                Shown::Text(n) => texts[*n as usize].clone(),
            };
            let shown: String = out.shown.iter().map(one).collect();
            if shown != ran.shown {
                report.add(format_args!("the evaluator shows {shown:?}, the machine {:?}", ran.shown));
            }
            if let Some(at) = out.unchecked {
                report.add(format_args!("the evaluator finds a word left behind at {at:?}"));
            }
        }
    }
    match evaluate(nil, module, &ran.after, Direction::Backward)? {
        Err(error) => report.add(format_args!("the evaluator stops backward: {error} {:?}", error.loc())),
        Ok((data, _)) if data != ran.before => {
            report.add("the evaluator's run backward does not come to the start");
        }
        Ok(_) => {}
    }
    Ok(())
}

/// Writes a program and its inverse as text: the program must be read as the same program, and the inverse must come from the results to
/// the start.
fn check_inverse(loaded: &Loaded, expected: &Expectations, ran: &Ran) -> Result<(), String> {
    let tree = &loaded.compiled.as_ref().and_then(|nil| nil.janus.as_ref()).ok_or("not compiled")?.tree;
    let text = janus::print::print(tree);
    let (again, found) = janus::parser::parse(0, &text);
    if !found.is_empty() || janus::print::print(&again) != text {
        return Err(format!("is written as another program:\n{text}{found:?}"));
    }
    let inverse = janus::print::print(&janus::invert::program(tree));
    let options = Options { janus: settings(expected)?, ..Options::default() };
    let compiled = compile_janus("inverse.ja", &inverse, &options);
    let module = compiled.module.ok_or_else(|| format!("the inverse is none:\n{inverse}{:?}", compiled.diagnostics))?;
    let program = Program::new(module, true).map_err(|e| e.to_string())?;
    let mut m = Machine::new(&program, &Config::default()).map_err(|e| e.to_string())?;
    m.memory_mut()[..ran.after.len()].copy_from_slice(&ran.after);
    m.begin(Direction::Forward);
    let outcome = m.run(Some(STEPS));
    if outcome != Outcome::Finished || m.memory()[..ran.before.len()] != ran.before {
        return Err(format!("the inverse does not come to the start: {outcome:?}\n{inverse}"));
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
        let found = diagnostics(&file, &loaded, report);
        let Some(program) = program(&loaded)? else {
            report.compare(&file.expected.problems, found);
            return Err("does not compile".to_string());
        };
        trap_compiled(&file, (level, &loaded, &program), report)
    });
    report.finish()
}

fn trap_compiled(
    file: &TestFile,
    (level, loaded, program): (u8, &Loaded, &Program),
    report: &mut Report,
) -> Result<(), String> {
    let expected = &file.expected;
    let nil = loaded.compiled.as_ref().ok_or("not compiled")?;
    let words = data_len(program.module());
    let direction = if expected.has("backward") { Direction::Backward } else { Direction::Forward };
    for engine in engines(level) {
        report.context = format!("-O{level}, {}", engine.name());
        let (mut m, _) = machine(program, loaded, expected, *engine)?;
        let before = m.memory()[..words].to_vec();
        m.begin(direction);
        let outcome = m.run(Some(STEPS));
        let problem = trap_problem(&m, &outcome, file);
        let line = problem.as_ref().map(|p| p.line);
        report.compare(&expected.problems, problem.into_iter().collect());
        if *engine == Engine::Interpreter {
            evaluator_stops(nil, program.module(), (&before, direction), line, report)?;
        }
    }
    report.context = format!("-O{level}");
    // What the command line prints.
    if let ([problem], 2) = (expected.problems.as_slice(), level) {
        let printed = printed_by_run(file, command_line(expected), (problem.line, &problem.code), report)?;
        // The author of a program in Janus knows no registers, addresses or instructions.
        let mut words = printed.split(|c: char| !c.is_alphanumeric() && c != '.');
        let register = |w: &str| w.strip_prefix('r').is_some_and(|n| n.parse::<u8>().is_ok());
        if let Some(word) = words.find(|w| register(w) || w.starts_with("jmp") || ["sp", ".mem"].contains(w)) {
            report.at(problem.line, format_args!("the command line says `{word}`, which is internal:\n{printed}"));
        }
    }
    Ok(())
}
