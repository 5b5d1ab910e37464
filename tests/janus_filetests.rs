//! Runs the programs under `tests/filetests/janus`. Each holds its expectations in comments:
//!
//! - `//! P0515 text @ source`: a diagnostic or trap with this code whose message contains the text, at this line. Its caret must
//!   stand under exactly this source, where one is given; of several lines, the first one counts.
//! - `//? text`, at the end of such a line: the help says this.
//! - `//= a[2] = {1, 2}`: after the run, this variable has this value, as `pendula run` prints it.
//! - `//set: x=3`, `//int: 32`, `//stack: 10`: what the program is given, as by the command line.
//! - `//shown: text`: a line that is shown, in order; nothing unless said.
//! - `//classic`, `//entry: p`: it is one of the first language, and begins there.
//! - `//backward`: in `trap`, the run begins at the end.
//!
//! Programs in `run` are compiled at every optimisation level and run by every engine: forward, and back to the start; then backward from
//! the results alone, as `--reverse` does; and evaluated by `ir::eval` before they become instructions, which must give the same words. Their
//! inverses, written as programs, run from the results to the start. Programs
//! in `trap` stop with exactly the traps that they expect, in the evaluator at the same line. Programs in `error` have exactly the
//! diagnostics that they expect, warnings included.

use crate::common::{self, compiled};

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use pendula::asm::assemble;
use pendula::compiler::compile::{Options, compile_janus};
use pendula::compiler::ir::eval::Shown;
use pendula::compiler::janus::{self, codes};
use pendula::compiler::passes::Switches;
use pendula::isa::counts::Direction;
use pendula::isa::module::SymbolKind;
use pendula::isa::{Module, Ty};
use pendula::load::{Loaded, load};
use pendula::native::NativeProgram;
use pendula::vm::{Config, Engine, Event, Machine, Outcome, Program};
use pendula::{store, values};
use pendula_codegen::cc::Rounding;

use common::{Problem, compare};
use compiled::{STEPS, all, diagnostics, evaluate, evaluator_stops, helps, levels, told_by_run, trap, verdict};

/// Codes that no file can show, and why not.
const EXEMPT: &[(&str, &str)] = &[("P0522", "needs a procedure of more than 1000 instances, or of 2^22 operations")];

/// Traps that a program in Janus can raise.
const TRAPS: &[&str] = &["P0101", "P0102", "P0103", "P0109", "P0113"];

/// The comments of one file.
#[derive(Default)]
struct Expected {
    problems: Vec<Problem>,
    /// What the help of a line's problem says.
    helps: Vec<(usize, String)>,
    values: Vec<(String, String)>,
    set: Vec<String>,
    shown: String,
    settings: janus::Settings,
    backward: bool,
}

impl Expected {
    fn of(text: &str) -> Result<Expected, String> {
        let mut e = Expected::default();
        for (n, line) in text.lines().enumerate() {
            let n = n + 1;
            // A help may speak of comments.
            let (line, help) = line.split_once("//? ").map_or((line, None), |(line, help)| (line, Some(help)));
            e.helps.extend(help.map(|help| (n, help.trim().to_string())));
            for part in line.split("//").skip(1) {
                if let Some(problem) = part.strip_prefix("! ") {
                    e.problems.push(Problem::of(n, problem));
                } else if let Some(value) = part.strip_prefix("= ") {
                    let (name, value) = value.split_once(" = ").ok_or_else(|| format!("line {n}: no value"))?;
                    e.values.push((name.trim().to_string(), value.trim().to_string()));
                } else if part.trim() == "backward" {
                    e.backward = true;
                } else if part.trim() == "classic" {
                    (e.settings.classic, e.settings.int32) = (true, true);
                } else if let Some((name @ ("set" | "int" | "stack" | "shown" | "entry"), value)) = part.split_once(':')
                {
                    let value = value.trim();
                    let number = || value.parse::<u64>().map_err(|_| format!("line {n}: `{value}` is no number"));
                    match name {
                        "set" => e.set.push(value.to_string()),
                        "int" => e.settings.int32 = number()? == 32,
                        "entry" => e.settings.entry = Some(value.to_string()),
                        "stack" => e.settings.stack = number()?,
                        _ => e.shown += &format!("{value}\n"),
                    }
                } else if !part.starts_with(' ') && !part.is_empty() {
                    return Err(format!("line {n}: `//{part}` says nothing"));
                }
            }
        }
        Ok(e)
    }

    /// The same for the command line.
    fn command_line(&self) -> Vec<String> {
        let mut out: Vec<String> = self.set.iter().map(|s| format!("--set={s}")).collect();
        out.extend(self.settings.int32.then(|| "--int=32".to_string()));
        out.extend(self.settings.classic.then(|| "--classic".to_string()));
        out.push(format!("--stack={}", self.settings.stack));
        out.extend(self.backward.then(|| "--reverse".to_string()));
        out
    }
}

fn files(kind: &str) -> Vec<PathBuf> {
    compiled::files(&format!("janus/{kind}"), &["ja", "janus"])
}

/// What a run showed.
type Output = Arc<Mutex<String>>;

fn machine<'p>(
    program: &'p Program,
    loaded: &Loaded,
    expected: &Expected,
    engine: Engine,
) -> Result<(Machine<'p>, Output), String> {
    let config = Config { engine, ..Config::default() };
    let mut machine = Machine::new(program, &config).map_err(|e| e.to_string())?;
    let variables = loaded.compiled.as_ref().and_then(|nil| nil.variables());
    for assignment in &expected.set {
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

/// How many words of data there are.
fn data_len(module: &Module) -> usize {
    let end = |s: &pendula::isa::module::Symbol| match s.kind {
        SymbolKind::Data { len, .. } => (s.value + len) as usize,
        SymbolKind::Label | SymbolKind::Proc => 0,
    };
    module.symbols.iter().map(end).max().unwrap_or(0)
}

struct Compiled {
    text: String,
    expected: Expected,
    loaded: Loaded,
}

fn compile(path: &Path, level: u8) -> Result<Compiled, String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let expected = Expected::of(&text)?;
    let path = path.to_str().ok_or("no UTF-8")?;
    let options = Options {
        switches: Switches::level(level),
        janus: expected.settings.clone(),
        native: true,
        ..Options::default()
    };
    let loaded = load(path, &assemble::Options::default(), &options).map_err(|e| e.to_string())?;
    Ok(Compiled { text, expected, loaded })
}

/// The program, ready to be run by every engine.
fn program(loaded: &Loaded) -> Result<Option<Program>, String> {
    let (Some(module), Some(nil)) = (&loaded.module, &loaded.compiled) else { return Ok(None) };
    let mut program = Program::new(module.clone(), true).map_err(|e| format!("{} {e}", e.code()))?;
    if let Some(ir) = &nil.native
        && let Ok(native) = NativeProgram::new(ir.clone(), nil.arguments.clone(), Rounding::Strict, nil.switches)
    {
        program.set_whole(Arc::new(native));
    }
    Ok(Some(program))
}

fn engines(level: u8) -> &'static [Engine] {
    if level == 2 { &[Engine::Interpreter, Engine::Jit, Engine::Native] } else { &[Engine::Interpreter] }
}

fn run_file(path: &Path, level: u8) -> Result<(), String> {
    let Compiled { text, expected, loaded } = compile(path, level)?;
    let mut complaints = String::new();
    let mut found = diagnostics(&text, &loaded, &mut complaints);
    let Some(program) = program(&loaded)? else {
        compare(&expected.problems, found, &mut complaints);
        return Err(complaints);
    };
    let (module, nil) = (program.module(), loaded.compiled.as_ref().ok_or("not compiled")?);
    let words = data_len(module);
    let mut first: Option<Vec<u64>> = None;
    for engine in engines(level) {
        let name = engine.name();
        let mut stopped = |m: &Machine<'_>, outcome: Outcome, when: &str, complaints: &mut String| {
            let Some(problem) = trap(m, &outcome, &text) else { return false };
            let _ = writeln!(complaints, "{name} stopped {when}:");
            found.push(problem);
            true
        };
        let (mut m, shown) = machine(&program, &loaded, &expected, *engine)?;
        let before = m.memory()[..words].to_vec();
        let digest = m.digest();
        m.begin(Direction::Forward);
        let outcome = m.run(Some(STEPS));
        if stopped(&m, outcome, "on the way", &mut complaints) {
            continue;
        }
        let after = m.memory()[..words].to_vec();
        let places = store::places(program.module(), nil.variables().expect("a program in Janus"));
        let lines: Vec<(String, String)> =
            places.iter().map(|p| (p.head(), values::text(&m, p, false, usize::MAX))).collect();
        for (name, value) in &expected.values {
            match lines.iter().find(|(n, _)| n == name) {
                Some((_, is)) if is == value => {}
                found => drop(writeln!(complaints, "{name} is {found:?}, expected {value}")),
            }
        }
        let told = shown.lock().expect("no panic").clone();
        if told != expected.shown {
            let _ = writeln!(complaints, "shown {told:?}");
        }
        m.begin(Direction::Backward);
        let outcome = m.run(Some(STEPS));
        if !stopped(&m, outcome, "on the way back", &mut complaints) && m.digest() != digest {
            let _ = writeln!(complaints, "{name}: the run back does not restore the start");
        }
        let (mut m, _) = machine(&program, &loaded, &expected, *engine)?;
        m.memory_mut()[..words].copy_from_slice(&after);
        m.begin(Direction::Backward);
        let outcome = m.run(Some(STEPS));
        if !stopped(&m, outcome, "backward from the results", &mut complaints) && m.memory()[..words] != before {
            let _ = writeln!(complaints, "{name}: the run backward does not come to the start");
        }
        if first.get_or_insert_with(|| after.clone()) != &after {
            let _ = writeln!(complaints, "{name} differs from the interpreter");
        }
        if *engine != Engine::Interpreter {
            continue;
        }
        if !expected.settings.classic
            && let Err(why) = turned(&loaded, &expected, &before, &after)
        {
            let _ = writeln!(complaints, "{why}");
        }
        match evaluate(nil, module, &before, Direction::Forward)? {
            Err(error) => drop(writeln!(complaints, "the evaluator stops: {error} {:?}", error.loc())),
            Ok((data, out)) => {
                if data != after {
                    let _ = writeln!(complaints, "the evaluator has {data:x?}, the machine {after:x?}");
                }
                let texts = &nil.program.as_ref().ok_or("no program")?.texts;
                let one = |s: &Shown| match s {
                    Shown::Number(Ty::Int, word) => word.cast_signed().to_string(),
                    Shown::Number(..) => "no integer".to_string(),
                    Shown::Text(n) => texts[*n as usize].clone(),
                };
                let told: String = out.shown.iter().map(one).collect();
                if told != expected.shown {
                    let _ = writeln!(complaints, "the evaluator shows {told:?}");
                }
                if let Some(at) = out.unchecked {
                    let _ = writeln!(complaints, "the evaluator finds a word left behind at {at:?}");
                }
            }
        }
        match evaluate(nil, module, &after, Direction::Backward)? {
            Err(error) => drop(writeln!(complaints, "the evaluator stops backward: {error} {:?}", error.loc())),
            Ok((data, _)) if data != before => {
                complaints.push_str("the evaluator's run backward does not come to the start\n");
            }
            Ok(_) => {}
        }
    }
    compare(&expected.problems, found, &mut complaints);
    if complaints.is_empty() { Ok(()) } else { Err(complaints) }
}

/// Writes a program and its inverse as text: the one must be read as the same program, the other come from the results to the start.
fn turned(loaded: &Loaded, expected: &Expected, before: &[u64], after: &[u64]) -> Result<(), String> {
    let tree = &loaded.compiled.as_ref().and_then(|nil| nil.janus.as_ref()).ok_or("not compiled")?.tree;
    let text = janus::print::print(tree);
    let (again, found) = janus::parser::parse(0, &text);
    if !found.is_empty() || janus::print::print(&again) != text {
        return Err(format!("is written as another program:\n{text}{found:?}"));
    }
    let inverse = janus::print::print(&janus::invert::program(tree));
    let options = Options { janus: expected.settings.clone(), ..Options::default() };
    let compiled = compile_janus("inverse.ja", &inverse, &options);
    let module = compiled.module.ok_or_else(|| format!("the inverse is none:\n{inverse}{:?}", compiled.diagnostics))?;
    let program = Program::new(module, true).map_err(|e| e.to_string())?;
    let mut m = Machine::new(&program, &Config::default()).map_err(|e| e.to_string())?;
    m.memory_mut()[..after.len()].copy_from_slice(after);
    m.begin(Direction::Forward);
    let outcome = m.run(Some(STEPS));
    if outcome != Outcome::Finished || m.memory()[..before.len()] != *before {
        return Err(format!("the inverse does not come to the start: {outcome:?}\n{inverse}"));
    }
    Ok(())
}

fn error_file(path: &Path) -> Result<(), String> {
    let Compiled { text, expected, loaded } = compile(path, 2)?;
    let mut complaints = String::new();
    let found = diagnostics(&text, &loaded, &mut complaints);
    helps(&text, &loaded.diagnostics, &expected.helps, &mut complaints);
    compare(&expected.problems, found, &mut complaints);
    verdict(&expected.problems, complaints)
}

fn trap_file(path: &Path, level: u8) -> Result<(), String> {
    let Compiled { text, expected, loaded } = compile(path, level)?;
    let mut complaints = String::new();
    let told = diagnostics(&text, &loaded, &mut complaints);
    let Some(program) = program(&loaded)? else {
        compare(&expected.problems, told, &mut complaints);
        return Err(complaints);
    };
    let nil = loaded.compiled.as_ref().ok_or("not compiled")?;
    let words = data_len(program.module());
    let direction = if expected.backward { Direction::Backward } else { Direction::Forward };
    for engine in engines(level) {
        let mut found: Vec<Problem> = Vec::new();
        let (mut m, _) = machine(&program, &loaded, &expected, *engine)?;
        let before = m.memory()[..words].to_vec();
        m.begin(direction);
        let outcome = m.run(Some(STEPS));
        let line = trap(&m, &outcome, &text).map(|problem| {
            let line = problem.line;
            found.push(problem);
            line
        });
        compare(&expected.problems, found, &mut complaints);
        if *engine != Engine::Interpreter {
            continue;
        }
        evaluator_stops(nil, program.module(), (&before, direction), line, &mut complaints)?;
    }
    // What the command line tells.
    if let ([problem], 2) = (expected.problems.as_slice(), level) {
        let told = told_by_run(path, expected.command_line(), (problem.line, &problem.message), &mut complaints)?;
        // Who wrote Janus knows no registers, addresses or instructions.
        let mut words = told.split(|c: char| !c.is_alphanumeric() && c != '.');
        let register = |w: &str| w.strip_prefix('r').is_some_and(|n| n.parse::<u8>().is_ok());
        if let Some(word) = words.find(|w| register(w) || w.starts_with("jmp") || ["sp", ".mem"].contains(w)) {
            let _ = writeln!(complaints, "`{word}` is told:\n{told}");
        }
    }
    verdict(&expected.problems, complaints)
}

#[test]
fn programs_run_both_ways() {
    all(&files("run"), 20, |path| levels(|level| run_file(path, level)));
}

#[test]
fn programs_that_trap_say_where() {
    all(&files("trap"), 20, |path| levels(|level| trap_file(path, level)));
}

#[test]
fn programs_in_error_say_why() {
    all(&files("error"), 15, error_file);
}

#[test]
fn every_code_has_a_file() {
    let codes = codes::codes().map(|(code, _)| code).chain(TRAPS.iter().copied());
    let problems = |text: &str| Expected::of(text).map(|e| e.problems);
    compiled::every_code_has_a_file(["run", "error", "trap"].into_iter().flat_map(files), problems, codes, EXEMPT);
}

/// The codes of what a compilation says.
fn said(text: &str) -> Vec<String> {
    let compiled = compile_janus("many.ja", text, &Options::default());
    compiled.diagnostics.iter().map(|d| format!("{} {}", d.code, d.message)).collect()
}

#[test]
fn there_may_be_many_procedures() {
    let mut text = String::new();
    let mut calls = String::new();
    for n in 0..20_000 {
        let _ = writeln!(text, "procedure p{n}(int x) x += {n}");
        let _ = writeln!(calls, "    call p{n}(x)");
    }
    let _ = writeln!(text, "procedure main()\n    int x\n{calls}");
    assert_eq!(said(&text), Vec::<String>::new());
}

#[test]
fn a_procedure_may_not_be_called_in_too_many_ways() {
    let program = |ways: usize| {
        let arrays: String = (1..=ways).map(|n| format!("    int a{n}[{n}]\n")).collect();
        let calls: String = (1..=ways).map(|n| format!("    call f(a{n})\n")).collect();
        format!("procedure f(int a[]) a[0] += 1\nprocedure main()\n{arrays}{calls}")
    };
    assert_eq!(said(&program(1000)), Vec::<String>::new());
    // One complaint, not one for each call.
    assert_eq!(said(&program(1010)), ["P0522 `f` is called in more than 1000 ways"]);
}

#[test]
fn what_lacks_its_end_is_shown_where_it_began() {
    let text = "procedure main()\n    int x\n    if x = 0 then\n        x += 1\n\nprocedure p(int y)\n    y += 1\n";
    let compiled = compile_janus("open.ja", text, &Options::default());
    let [d] = compiled.diagnostics.as_slice() else { panic!("{:?}", compiled.diagnostics) };
    let at = |l: &pendula::isa::diagnostic::Label| (text[l.place.span.clone()].to_string(), l.text.clone());
    let here = d.primary.as_ref().map(at);
    assert_eq!(here, Some(("procedure".to_string(), "`fi` was expected here, found `procedure`".to_string())));
    let began: Vec<_> = d.secondary.iter().map(at).collect();
    assert_eq!(began, [("if".to_string(), "this `if` is open".to_string())]);

    let text = "procedure main()\n    local int a = 1\n        skip\n    delocal int b = 1\n";
    let compiled = compile_janus("delocal.ja", text, &Options::default());
    let [d] = compiled.diagnostics.as_slice() else { panic!("{:?}", compiled.diagnostics) };
    let began: Vec<_> = d.secondary.iter().map(|l| text[l.place.span.clone()].to_string()).collect();
    assert_eq!((d.code, began), ("P0517", vec!["local int a = 1".to_string()]));
}

/// The help line of the first message.
fn help(text: &str) -> String {
    let compiled = compile_janus("help.ja", text, &Options::default());
    compiled.diagnostics.first().and_then(|d| d.help.clone()).unwrap_or_default()
}

#[test]
fn what_beginners_write_gets_the_words_to_write_instead() {
    for (body, wanted) in [
        ("if x == 0 then skip fi x = 0", "`x = 0`"),
        ("while x < 3 x += 1", "`from x = 0 loop … until x = 10`"),
        ("for i = 0 x += 1", "`iterate int i = 0 to 9 … end`"),
        ("x += 1 return x", "its parameters"),
        ("x += 1 int t = 3", "before the first statement of `main`; or `local int x = 0 … delocal int x = 0`"),
        ("if x = 0 then int t = 3 fi x = 0", "write `local int x = 0 … delocal int x = 0`"),
        ("x = 3", "`x += e`, `x -= e` or `x ^= e`"),
        ("x := 3", "`x += e`, `x -= e` or `x ^= e`"),
        ("if x = 0 & x < 3 then skip fi x = 0", "`a && b`"),
        ("if x = 0 | x < 3 then skip fi x = 0", "`a || b`"),
        ("if x = 0 x += 1 fi x = 1", "`if e then … else … fi e`"),
        ("if x = 0 { x += 1 }", "words stand where other languages have braces"),
        ("{ x += 1 }", "no braces around statements"),
    ] {
        let help = help(&format!("procedure main()\n    int x\n    {body}\n"));
        assert!(help.contains(wanted), "{body}: {help}");
    }
    let right = "procedure main()\n    int x\n    if x != 0 then skip fi x != 0\n";
    assert_eq!(said(right), Vec::<String>::new());
}

#[test]
fn what_no_run_reaches_is_warned_of() {
    use pendula::isa::diagnostic::Severity::{Error, Warning};
    let severities = |text: &str| {
        let compiled = compile_janus("reached.ja", text, &Options::default());
        let found: Vec<_> = compiled.diagnostics.iter().map(|d| d.severity).collect();
        (found, compiled.module.is_some())
    };
    let wrong = "procedure wrong(int x)\n    x += y\nprocedure over(int x)\n    uncall wrong(x)\n";
    let with = |main: &str| severities(&format!("{wrong}{main}"));
    assert_eq!(with("procedure main()\n    int x\n    x += 1\n"), (vec![Warning], true));
    assert_eq!(with("procedure main()\n    int x\n    call over(x)\n"), (vec![Error], false));
    // An argument too many: what is called is reached all the same.
    assert_eq!(with("procedure main()\n    int x\n    call over(x, x)\n"), (vec![Error, Error], false));
    // Nothing is reached where there is no `main`, and then all of it is looked at.
    assert_eq!(with("").0, [Error, Error]);
    // What is reached is an error once, and no warning, too.
    let twice = "procedure p(int x, int y)\n    x += z\nprocedure q(int x)\n    call p(x, x)\nprocedure main()\n    int x\n    int y\n    call p(x, y)\n";
    assert_eq!(severities(twice), (vec![Error], false));
}
