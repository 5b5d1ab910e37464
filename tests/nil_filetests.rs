//! Runs the programs under `tests/filetests/nil`. Each holds its expectations in comments, on lines of their own but for the first:
//!
//! - `#! P0437 text @ source`: a diagnostic or trap with this code whose message contains the text, at this line. Its caret must
//!   stand under exactly this source, where one is given; of several lines, the first one counts. `#!100 P0410` stands for a hundred of them.
//! - `#? text`, at the end of such a line: the help says this.
//! - `#= y! = 17 =#`: after the run, this data symbol has this value, as `pendula run` prints it.
//! - `#args: 2,[1,2]`, `#types: Fixed,Int`, `#entry: f`, `#format: Q16.48`, `#set: x=3`: what the program is given.
//! - `#shown: 5, "text"`: what is shown and printed in the run; nothing unless said.
//! - `#drift`: floating-point words of the start come back rounded.
//! - `#backward`: in `trap`, the run begins at the end.
//! - `#grad: y! x=0.5 a[1]=2`: derivatives of the first symbol with respect to the others.
//!
//! Programs in `run` are compiled at every optimisation level. Each is run forward, and back to its start; then backward from the
//! results alone, as `--reverse` does; and evaluated by `ir::eval` before it becomes instructions, which must give the same words.
//! Programs in `trap` stop with exactly the traps that they expect, in the evaluator at the same line. Programs in `error` have
//! exactly the diagnostics that they expect, notes and warnings included.

use crate::common::{self, compiled};

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use pendula::arguments;
use pendula::asm::assemble;
use pendula::compiler::compile::Options;
use pendula::compiler::ir::eval::Shown;
use pendula::compiler::nil::codes;
use pendula::compiler::passes::Switches;
use pendula::grad::{self, grad};
use pendula::isa::counts::Direction;
use pendula::isa::module::SymbolKind;
use pendula::isa::text::{number, quote};
use pendula::isa::{Format, Module, Ty};
use pendula::load::{Loaded, load};
use pendula::values;
use pendula::vm::{Config, Event, Machine, Outcome, Program};

use common::{Problem, compare};
use compiled::{STEPS, all, diagnostics, evaluate, evaluator_stops, helps, levels, told_by_run, trap, verdict};

/// Codes that no file can show, and why not.
const EXEMPT: &[(&str, &str)] =
    &[("P0454", "needs a function of more than 2^22 operations, or as much of something else")];

/// Traps that a program in Nil can raise.
const TRAPS: &[&str] = &["P0101", "P0102", "P0103", "P0109", "P0113", "P0114", "P0115", "P0118", "P0119"];

/// Comments with a value.
const OPTIONS: &[&str] = &["args", "types", "entry", "format", "set", "shown", "grad"];

/// The comments of one file.
#[derive(Default)]
struct Expected {
    problems: Vec<Problem>,
    /// What the help of a line's problem says.
    helps: Vec<(usize, String)>,
    values: Vec<(String, String)>,
    options: Vec<(String, String)>,
    drift: bool,
    backward: bool,
}

impl Expected {
    fn of(text: &str) -> Result<Expected, String> {
        let mut e = Expected::default();
        for (n, line) in text.lines().enumerate() {
            let n = n + 1;
            let (line, help) = line.split_once("#? ").map_or((line, None), |(line, help)| (line, Some(help)));
            e.helps.extend(help.map(|help| (n, help.trim().to_string())));
            let own = line.trim();
            if let Some((_, problems)) = line.split_once("#!") {
                for part in problems.split("#!") {
                    let (count, part) = part.split_once(' ').ok_or_else(|| format!("line {n}: `#!` without a code"))?;
                    let count = if count.is_empty() { Ok(1) } else { count.parse() };
                    let count: usize = count.map_err(|_| format!("line {n}: `#!{part}` says nothing"))?;
                    e.problems.extend((0..count).map(|_| Problem::of(n, part)));
                }
            } else if let Some(value) = own.strip_prefix("#= ").and_then(|v| v.strip_suffix(" =#")) {
                let (name, value) = value.split_once(" = ").ok_or_else(|| format!("line {n}: no value"))?;
                e.values.push((name.trim().to_string(), value.trim().to_string()));
            } else if own == "#drift" {
                e.drift = true;
            } else if own == "#backward" {
                e.backward = true;
            } else if let Some(option) = own.strip_prefix('#').filter(|o| !o.is_empty() && !o.starts_with([' ', '='])) {
                let (name, value) = option.split_once(':').unwrap_or((option, ""));
                if !OPTIONS.contains(&name) {
                    return Err(format!("line {n}: `{own}` says nothing"));
                }
                e.options.push((name.to_string(), value.trim().to_string()));
            }
        }
        Ok(e)
    }

    fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.options.iter().filter(move |(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    fn compiler(&self, level: u8) -> Result<Options, String> {
        let text = |e: arguments::ArgumentError| e.to_string();
        let arguments = self.option("args").map_or(Ok(Vec::new()), arguments::parse).map_err(text)?;
        let types = match self.option("types") {
            Some(types) => arguments::split(types, ',').map_err(text)?.iter().map(|t| t.trim().to_string()).collect(),
            None => Vec::new(),
        };
        let format = self.option("format").map(|name| Format::ALL.into_iter().find(|f| f.name() == name));
        let format = format.map(|f| f.ok_or("no such format".to_string())).transpose()?;
        let entry = self.option("entry").map(str::to_string);
        Ok(Options { entry, arguments, types, format, switches: Switches::level(level), ..Options::default() })
    }

    /// The comments of `--args` and the like, for the command line.
    fn command_line(&self) -> Vec<String> {
        let given = ["args", "types", "entry", "format", "set"];
        let of = |(name, value): &(String, String)| given.contains(&name.as_str()).then(|| format!("--{name}={value}"));
        self.options.iter().filter_map(of).chain(self.backward.then(|| "--reverse".to_string())).collect()
    }
}

fn files(kind: &str) -> Vec<PathBuf> {
    compiled::files(&format!("nil/{kind}"), &["nil", "jl"])
}

/// What a run showed.
type Events = Arc<Mutex<Vec<String>>>;

fn machine<'p>(program: &'p Program, expected: &Expected) -> Result<(Machine<'p>, Events), String> {
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

/// Whether words are the same, those of floating-point numbers up to rounding.
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

/// A file compiled at a level.
struct Compiled {
    text: String,
    expected: Expected,
    loaded: Loaded,
}

fn compile(path: &Path, level: u8) -> Result<Compiled, String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let expected = Expected::of(&text)?;
    let path = path.to_str().ok_or("no UTF-8")?;
    let options = expected.compiler(level)?;
    let loaded = load(path, &assemble::Options::default(), &options).map_err(|e| e.to_string())?;
    Ok(Compiled { text, expected, loaded })
}

fn run_file(path: &Path, level: u8) -> Result<(), String> {
    let Compiled { text, expected, loaded } = compile(path, level)?;
    let mut complaints = String::new();
    let mut found = diagnostics(&text, &loaded, &mut complaints);
    let mut nothing = |m: &Machine<'_>, outcome: Outcome, when: &str, complaints: &mut String| {
        let Some(problem) = trap(m, &outcome, &text) else { return true };
        let _ = writeln!(complaints, "stopped {when}:");
        found.push(problem);
        false
    };
    let (Some(module), Some(nil)) = (loaded.module, loaded.compiled) else {
        compare(&expected.problems, found, &mut complaints);
        return Err(complaints);
    };
    let types = data_types(&module);
    let program = Program::new(module, true).map_err(|e| format!("{} {e}", e.code()))?;
    let module = program.module();
    let (mut m, shown) = machine(&program, &expected)?;
    let before = m.memory()[..types.len()].to_vec();
    let digest = m.digest();
    m.begin(Direction::Forward);
    let outcome = m.run(Some(STEPS));
    let after = m.memory()[..types.len()].to_vec();
    if nothing(&m, outcome, "on the way", &mut complaints) {
        for (name, value) in &expected.values {
            let place = values::find(module, name).map_err(|e| e.to_string())?;
            let is = values::text(&m, &place, false, usize::MAX);
            if is != *value {
                let _ = writeln!(complaints, "{name} is {is}, expected {value}");
            }
        }
        let shown = shown.lock().expect("no panic").clone();
        if shown.join(", ") != expected.option("shown").unwrap_or("") {
            let _ = writeln!(complaints, "shown {}", shown.join(", "));
        }
        let lost = m.counts().lost_bits();
        if lost > 0 && !expected.drift {
            let _ = writeln!(complaints, "{lost} bits lost");
        }
        // Back to the start.
        m.begin(Direction::Backward);
        let outcome = m.run(Some(STEPS));
        if nothing(&m, outcome, "on the way back", &mut complaints) {
            let restored = m.digest() == digest || expected.drift && close(&types, &before, m.memory());
            if !restored {
                complaints.push_str("the run back does not restore the start\n");
            }
            if expected.drift && m.digest() == digest && lost == 0 {
                complaints.push_str("says `#drift`, but nothing is rounded\n");
            }
        }
        // From the results alone.
        let (mut m, _) = machine(&program, &expected)?;
        m.memory_mut()[..types.len()].copy_from_slice(&after);
        m.begin(Direction::Backward);
        let outcome = m.run(Some(STEPS));
        if nothing(&m, outcome, "backward from the results", &mut complaints) && !close(&types, &before, m.memory()) {
            complaints.push_str("the run backward does not come to the start\n");
        }
        match evaluate(&nil, module, &before, Direction::Forward)? {
            Err(error) => drop(writeln!(complaints, "the evaluator stops: {error} {:?}", error.loc())),
            Ok((data, out)) => {
                if data != after {
                    let _ = writeln!(complaints, "the evaluator has {data:x?}, the machine {after:x?}");
                }
                let texts = nil.program.as_ref().map(|p| shown_texts(p, &out.shown)).unwrap_or_default();
                if texts != shown {
                    let _ = writeln!(complaints, "the evaluator shows {texts:?}");
                }
                if let Some(at) = out.unchecked.or(out.undropped) {
                    let _ = writeln!(complaints, "the evaluator finds a word left behind at {at:?}");
                }
            }
        }
        match evaluate(&nil, module, &after, Direction::Backward)? {
            Err(error) => drop(writeln!(complaints, "the evaluator stops backward: {error} {:?}", error.loc())),
            Ok((data, _)) if !close(&types, &before, &data) => {
                complaints.push_str("the evaluator's run backward does not come to the start\n");
            }
            Ok(_) => {}
        }
        for wanted in expected.all("grad") {
            gradient(&program, &expected, wanted, &mut complaints)?;
        }
    }
    compare(&expected.problems, found, &mut complaints);
    if complaints.is_empty() { Ok(()) } else { Err(complaints) }
}

/// Compares derivatives with what a file expects, and with finite differences.
fn gradient(program: &Program, expected: &Expected, wanted: &str, complaints: &mut String) -> Result<(), String> {
    let mut parts = wanted.split_whitespace();
    let loss = parts.next().ok_or("`#grad` without a loss")?;
    let mut derivatives = Vec::new();
    for part in parts {
        let (name, value) = part.split_once('=').ok_or("`#grad: loss x=derivative`")?;
        derivatives.push((name.to_string(), value.parse::<f64>().map_err(|e| format!("{value}: {e}"))?));
    }
    let wrt = derivatives.iter().map(|(name, _)| name.clone()).collect();
    let options = grad::Options { loss: Some(loss.to_string()), wrt, check: true, ..grad::Options::default() };
    let (mut m, _) = machine(program, expected)?;
    let report = match grad(&mut m, &options, grad::to_end) {
        Ok(report) => report,
        Err(error) => {
            let _ = writeln!(complaints, "no gradient of {loss}: {error}");
            return Ok(());
        }
    };
    for ((name, value), found) in derivatives.iter().zip(report.losses.iter().flat_map(|l| &l.gradients)) {
        let is = found.number();
        if is.is_none_or(|is| (is - value).abs() > 1e-6 * (1.0 + value.abs())) {
            let _ = writeln!(complaints, "∂{loss}/∂{name} is {is:?}, expected {value}");
        }
    }
    if !report.agrees() {
        let _ = writeln!(complaints, "the gradient of {loss} differs from finite differences: {:?}", report.checks);
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
    let mut found = diagnostics(&text, &loaded, &mut complaints);
    let direction = if expected.backward { Direction::Backward } else { Direction::Forward };
    if let (Some(module), Some(nil)) = (loaded.module, loaded.compiled) {
        let words = data_types(&module).len();
        let program = Program::new(module, true).map_err(|e| format!("{} {e}", e.code()))?;
        let (mut m, _) = machine(&program, &expected)?;
        let before = m.memory()[..words].to_vec();
        m.begin(direction);
        let outcome = m.run(Some(STEPS));
        let line = trap(&m, &outcome, &text).map(|problem| {
            let line = problem.line;
            found.push(problem);
            line
        });
        evaluator_stops(&nil, program.module(), (&before, direction), line, &mut complaints)?;
        // What the command line tells.
        if level == 2
            && let Some(line) = line
        {
            let told = told_by_run(path, expected.command_line(), (line, ""), &mut complaints)?;
            for (_, help) in expected.helps.iter().filter(|(_, help)| !told.contains(help)) {
                let _ = writeln!(complaints, "the command line does not say `{help}`:\n{told}");
            }
        }
    }
    compare(&expected.problems, found, &mut complaints);
    verdict(&expected.problems, complaints)
}

#[test]
fn programs_run_both_ways() {
    all(&files("run"), 60, |path| levels(|level| run_file(path, level)));
}

#[test]
fn programs_that_trap_say_where() {
    all(&files("trap"), 10, |path| levels(|level| trap_file(path, level)));
}

#[test]
fn programs_in_error_say_why() {
    all(&files("error"), 40, error_file);
}

#[test]
fn every_code_has_a_file() {
    let codes = codes::codes().map(|(code, _)| code).chain(TRAPS.iter().copied());
    let problems = |text: &str| Expected::of(text).map(|e| e.problems);
    compiled::every_code_has_a_file(["run", "error", "trap"].into_iter().flat_map(files), problems, codes, EXEMPT);
}
