//! Runs the programs under `tests/filetests`. Each holds its expectations in
//! comments, on the very line where there is one:
//!
//! - `;! P0007 text @ source`: a diagnostic or trap with this code whose message contains the text, at this line.
//!   A diagnostic's caret must stand under exactly this source, where one is given.
//!   A file without any must assemble and run to its end.
//! - `;!^ P0005 text`: the same of the line above, on which no comment can stand.
//! - `;help: text`: the help of what the line above expects contains the text.
//! - `;= r1 = 5`: after the run, this register or data symbol has this value (one a line, in any order).
//! - `;set: n=4`, `;input: 1,2`, `;output: 3`, `;mem: 100`, `;steps: 1000`: what the run is given.
//! - `;backward`: run from `finish` to `start`. `;checks: off`, `;ieee`, `;trap-overflow`: how to run.
//! - `;drift`: do not expect the round trip to restore the state.
//! - `;check`: do not run; the expectations are those of the checker.
//! - `;emitted: 1, 2`: the output tape after the run.
//! - `;shown: 5, "text"`: what `show` and `print` show in the run and the run back; nothing unless said.
//! - `;lost: 64`: bits lost in the run; none unless said.
//! - `;flag: overflow` or `;flag: inexact`, on the line that raises it first.
//!
//! Other comments have a blank after their semicolon.
//!
//! A program that runs to its end is also run back, and must restore its state bit for bit.

use crate::common;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use pendula::asm::assemble::{Options, assemble};
use pendula::asm::check::{At, check};
use pendula::asm::diagnostic::{Label, Severity};
use pendula::isa::counts::Direction;
use pendula::isa::text::{number, quote};
use pendula::isa::{Fault, Module};
use pendula::trap_text::told;
use pendula::values;
use pendula::vm::{Config, Event, Machine, Outcome, Program};

use common::{Problem, compare};

/// Codes that no file can show, and why not.
const EXEMPT: &[(&str, &str)] = &[
    ("P0045", "is a note without a place, after a thousand errors"),
    ("P0202", "is about definitions on the command line"),
    ("P0110", "is a fault that verified code cannot raise"),
    ("P0229", "is about objects: in source, a `.mem` too small for the data is P0023"),
];

/// The comments that say how to run, or what comes of it.
const OPTIONS: &[&str] = &[
    "backward",
    "check",
    "checks",
    "drift",
    "emitted",
    "ieee",
    "input",
    "lost",
    "mem",
    "output",
    "shown",
    "steps",
    "trap-overflow",
];

/// What follows the first semicolon outside quotes and other comments, or, where a quote is not closed, the first.
fn comment(line: &str) -> Option<&str> {
    let mut quote = None;
    let mut chars = line.char_indices();
    while let Some((at, c)) = chars.next() {
        match (c, quote) {
            (';', None) => return Some(&line[at + 1..]),
            ('#', None) => return None,
            ('"' | '\'', None) => quote = Some(c),
            ('\\', Some(_)) => _ = chars.next(),
            (c, Some(q)) if c == q => quote = None,
            _ => {}
        }
    }
    quote.and_then(|_| Some(line.split_once(';')?.1))
}

/// The comments of one file.
#[derive(Default)]
struct Expected {
    problems: Vec<Problem>,
    /// What help lines contain, by the line of the problem.
    helps: Vec<(usize, String)>,
    values: Vec<(String, String)>,
    set: Vec<String>,
    flags: Vec<(usize, String)>,
    options: Vec<(String, String)>,
}

impl Expected {
    fn of(text: &str) -> Expected {
        let mut e = Expected::default();
        for (n, line) in text.lines().enumerate() {
            let Some(comment) = comment(line) else { continue };
            if let Some(problem) = comment.strip_prefix("!^") {
                e.problems.push(Problem::of(n, problem));
            } else if let Some(problem) = comment.strip_prefix('!') {
                // One line may expect several: `;! P0001 a ;! P0002 b`.
                e.problems.extend(problem.split(";!").map(|part| Problem::of(n + 1, part)));
            } else if let Some(value) = comment.strip_prefix('=') {
                let (name, value) = value.split_once('=').expect(";= name = value");
                e.values.push((name.trim().to_string(), value.trim().to_string()));
            } else if let Some(help) = comment.strip_prefix("help:") {
                let line = e.problems.last().expect("a problem above").line;
                e.helps.push((line, help.trim().to_string()));
            } else if let Some(set) = comment.strip_prefix("set:") {
                e.set.push(set.trim().to_string());
            } else if let Some(flag) = comment.strip_prefix("flag:") {
                e.flags.push((n + 1, flag.trim().to_string()));
            } else {
                let (name, value) = comment.split_once(':').unwrap_or((comment, ""));
                if !name.is_empty() && !name.starts_with([' ', ';']) {
                    assert!(OPTIONS.contains(&name.trim_end()), "line {}: `;{comment}` says nothing", n + 1);
                    e.options.push((name.trim().to_string(), value.trim().to_string()));
                }
            }
        }
        e
    }

    fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.option(name).map(|v| v.parse().expect("a number"))
    }
}

fn files() -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rasm") {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text[..offset.min(text.len())].matches('\n').count()
}

/// Runs one file and says what differs from its expectations.
fn run(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let expected = Expected::of(&text);
    let name = path.display().to_string();
    let assembly = assemble(&name, text.clone(), &Options::default());
    let mut found: Vec<Problem> = assembly
        .diagnostics
        .iter()
        .map(|d| {
            // A problem in an included file is expected at the line that includes it, which is told beside it.
            let own = d.primary.iter().chain(&d.secondary).find(|l| l.place.file == 0);
            let line = own.map_or(0, |l| line_of(&text, l.place.span.start));
            let own = d.primary.iter().find(|l| l.place.file == 0);
            let source = own.and_then(|l| text.get(l.place.span.clone())).map(str::to_string);
            Problem { line, code: d.code.to_string(), message: d.message.clone(), source }
        })
        .collect();
    for d in assembly.diagnostics.iter().filter(|d| d.severity == Severity::Error) {
        if d.help.as_ref().is_none_or(|h| h.is_empty()) {
            return Err(format!("{} {} has no help", d.code, d.message));
        }
        // An empty place says that something is missing, behind what there is on a line.
        let missing = |l: &Label| {
            let (before, after) = assembly.sources.text(l.place.file).split_at(l.place.span.start);
            let end = after
                .trim_start_matches([' ', '\t'])
                .chars()
                .next()
                .is_none_or(|c| matches!(c, ';' | '#' | '\r' | '\n'));
            end && before.ends_with(|c: char| !c.is_whitespace())
        };
        if d.primary.as_ref().is_none_or(|l| l.place.span.is_empty() && !missing(l)) {
            return Err(format!("{} {} has no place", d.code, d.message));
        }
    }
    let mut complaints = String::new();
    let mut helps: Vec<(usize, String)> =
        assembly.diagnostics.iter().zip(&found).map(|(d, p)| (p.line, d.help.clone().unwrap_or_default())).collect();
    if let Some(module) = assembly.module {
        if expected.option("check").is_some() {
            found.extend(check(&module).into_iter().map(|f| {
                let line = match f.at {
                    At::Inst(at) => module.locs[at as usize].line as usize,
                    At::Symbol(name) => {
                        text.lines().position(|l| l.starts_with(&format!("{name}:"))).map_or(0, |n| n + 1)
                    }
                    At::Module => 0,
                };
                helps.push((line, f.help.to_string()));
                Problem { line, code: f.code.to_string(), message: f.message, source: None }
            }));
        } else {
            execute(module, &expected, &mut found, &mut helps, &mut complaints)?;
        }
    } else if !expected.values.is_empty() {
        complaints.push_str("does not assemble\n");
    }
    compare(&expected.problems, found, &mut complaints);
    for (line, text) in &expected.helps {
        let said: Vec<&str> = helps.iter().filter(|(l, _)| l == line).map(|(_, help)| help.as_str()).collect();
        if !said.iter().any(|help| help.contains(text.as_str())) {
            let _ = writeln!(complaints, "at line {line}: help {said:?}, expected {text}");
        }
    }
    if complaints.is_empty() { Ok(()) } else { Err(complaints) }
}

fn execute(
    module: Module,
    expected: &Expected,
    found: &mut Vec<Problem>,
    helps: &mut Vec<(usize, String)>,
    complaints: &mut String,
) -> Result<(), String> {
    let checks = expected.option("checks") != Some("off");
    let irreversible = module.flags.irreversible;
    let program = Program::new(module, checks).map_err(|e| format!("{} {e}", e.code()))?;
    let module = program.module();
    let line = |at: u32| module.locs[at as usize].line as usize;
    let config = Config {
        mem: expected.number("mem"),
        ieee: expected.option("ieee").is_some(),
        trap_overflow: expected.option("trap-overflow").is_some(),
        ..Config::default()
    };
    let mut machine = Machine::new(&program, &config).map_err(|e| e.to_string())?;
    for assignment in &expected.set {
        values::set(&mut machine, assignment).map_err(|e| e.to_string())?;
    }
    let back = expected.option("backward").is_some();
    if let Some(input) = expected.option("input") {
        let words = values::tape(module, input).map_err(|e| e.to_string())?;
        let read = if back { words.len() } else { 0 };
        machine.set_input(words, read);
    }
    if let Some(output) = expected.option("output") {
        machine.set_output(values::tape(module, output).map_err(|e| e.to_string())?);
    }
    let shown = Arc::new(Mutex::new(Vec::new()));
    let (texts, format, sink) = (module.texts.clone(), module.flags.format, Arc::clone(&shown));
    machine.on_event(move |event| {
        let text = match event {
            Event::Show(ty, word) => number(word, ty, format),
            Event::Print(n) => quote(&texts[n as usize]),
            Event::Emit(word) => format!("emitted {}", word.cast_signed()),
        };
        sink.lock().expect("no panic").push(text);
    });
    let limit = expected.number("steps").unwrap_or(1_000_000);
    let (first, second) =
        if back { (Direction::Backward, Direction::Forward) } else { (Direction::Forward, Direction::Backward) };
    let start = machine.digest();
    machine.begin(first);
    let mut finish = |machine: &mut Machine<'_>, found: &mut Vec<Problem>| {
        let (line, code, message) = match machine.run(Some(limit)) {
            Outcome::Finished => return true,
            Outcome::NoCode(message) => panic!("the engine makes no code: {message}"),
            Outcome::Limit => (machine.pc().map_or(0, line), "P0130", "the run did not end"),
            Outcome::Trap(trap) => {
                let told = told(&trap, module);
                helps.push((line(trap.at), told.help.to_string()));
                (line(trap.at), told.code, told.title)
            }
        };
        found.push(Problem { line, code: code.to_string(), message: message.to_string(), source: None });
        false
    };
    let finished = finish(&mut machine, found);
    for (name, value) in &expected.values {
        let place = values::find(module, name).map_err(|e| e.to_string())?;
        let is = values::text(&machine, &place, false, usize::MAX);
        if is != *value {
            let _ = writeln!(complaints, "{name} is {is}, expected {value}");
        }
    }
    if let Some(emitted) = expected.option("emitted") {
        let words = values::tape(module, emitted).map_err(|e| e.to_string())?;
        if machine.output() != words {
            let _ = writeln!(complaints, "emitted {:?}, expected {words:?}", machine.output());
        }
    }
    let flags = machine.flags();
    let mut raised = vec![(flags.overflow, "overflow"), (flags.inexact, "inexact")];
    raised.retain(|(at, _)| at.is_some());
    let mut raised: Vec<(usize, String)> =
        raised.into_iter().map(|(at, n)| (at.map_or(0, line), n.to_string())).collect();
    raised.sort_unstable();
    if raised != expected.flags {
        let _ = writeln!(complaints, "flags {raised:?}, expected {:?}", expected.flags);
    }
    let lost = machine.counts().lost_bits();
    if lost != expected.number("lost").unwrap_or(0) {
        let _ = writeln!(complaints, "{lost} bits lost");
    }
    if finished && !irreversible {
        machine.begin(second);
        if finish(&mut machine, found) && expected.option("drift").is_none() && machine.digest() != start {
            complaints.push_str("the run back does not restore the state\n");
        }
    }
    let shown = shown.lock().expect("no panic").join(", ");
    if shown != expected.option("shown").unwrap_or("") {
        let _ = writeln!(complaints, "shown {shown}");
    }
    Ok(())
}

#[test]
fn every_file_meets_its_expectations() {
    let mut failed = String::new();
    let files = files();
    assert!(files.len() > 50, "only {} files", files.len());
    for path in &files {
        if let Err(complaints) = run(path) {
            let _ = writeln!(failed, "{}:\n{complaints}", path.display());
        }
    }
    assert!(failed.is_empty(), "\n{failed}");
}

#[test]
fn every_error_has_a_file() {
    let mut seen = BTreeSet::new();
    for path in files() {
        let text = std::fs::read_to_string(path).expect("text");
        seen.extend(Expected::of(&text).problems.into_iter().map(|p| p.code));
    }
    let assembler = pendula::asm::codes::codes().map(|(code, title)| (code.to_string(), title.to_string()));
    let checker = pendula::asm::check::codes().map(|(code, title)| (code.to_string(), title.to_string()));
    let machine = Fault::ALL.iter().map(|f| (f.code().to_string(), f.title().to_string()));
    let missing: Vec<String> = assembler
        .chain(checker)
        .chain(machine)
        .filter(|(code, _)| !seen.contains(code) && !EXEMPT.iter().any(|(exempt, _)| exempt == code))
        .map(|(code, title)| format!("{code} {title}"))
        .collect();
    assert!(missing.is_empty(), "no file expects:\n{}", missing.join("\n"));
    for (code, why) in EXEMPT {
        assert!(!seen.contains(*code), "{code} has a file, although it {why}");
    }
}
