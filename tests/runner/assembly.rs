//! Tests programs in assembly: each is assembled, and run forward and back, which must restore its state bit for bit. With `check` it is not
//! run, but given to the checker.

use std::path::Path;
use std::sync::{Arc, Mutex};

use pendula::asm::assemble::{Assembly, Options, assemble};
use pendula::asm::check::{Finding, Subject, check as check_module};
use pendula::asm::diagnostic::{Label, Severity};
use pendula::isa::Module;
use pendula::isa::counts::Direction;
use pendula::isa::text::{number, quote};
use pendula::trap_text::trap_text;
use pendula::values;
use pendula::vm::{Config, Event, Machine, Outcome, Program};

use libtest_mimic::Failed;

use crate::expectations::{Expectations, Problem};
use crate::report::{Report, TestFile, line_of};

/// The diagnostics of an assembly as problems.
fn diagnostics(assembly: &Assembly, text: &str, report: &mut Report) -> Vec<Problem> {
    let mut found = Vec::new();
    for d in &assembly.diagnostics {
        // A problem in an included file is expected at the line that includes it, which is told beside it.
        let in_file = d.primary.iter().chain(&d.secondary).find(|l| l.place.file == 0);
        let line = in_file.map_or(1, |l| line_of(text, l.place.span.start));
        let primary = d.primary.iter().find(|l| l.place.file == 0);
        let source = primary.and_then(|l| text.get(l.place.span.clone())).map(str::to_string);
        let help = vec![d.help.clone().unwrap_or_default()];
        found.push(Problem { line, code: d.code.to_string(), message: d.message.clone(), source, help });
        if d.severity != Severity::Error {
            continue;
        }
        if d.help.as_ref().is_none_or(|h| h.is_empty()) {
            report.at(line, format_args!("{} {} has no help", d.code, d.message));
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
            report.at(line, format_args!("{} {} has no place", d.code, d.message));
        }
    }
    found
}

/// The findings of the checker, as problems.
fn findings(module: &Module, text: &str) -> Vec<Problem> {
    let problem = |f: Finding| {
        let line = match f.at {
            Subject::Inst(at) => module.locs[at as usize].line as usize,
            Subject::Symbol(name) => text.lines().position(|l| l.starts_with(&format!("{name}:"))).map_or(1, |n| n + 1),
            Subject::Module => 1,
        };
        let help = vec![f.help.to_string()];
        Problem { line, code: f.code.to_string(), message: f.message, source: None, help }
    };
    check_module(module).into_iter().map(problem).collect()
}

/// Tests one file.
pub(crate) fn check(path: &Path) -> Result<(), Failed> {
    let TestFile { text, expected, .. } = TestFile::read(path)?;
    let mut report = Report::new(path);
    let assembly = assemble(&path.display().to_string(), text.clone(), &Options::default());
    let mut found = diagnostics(&assembly, &text, &mut report);
    match assembly.module {
        Some(module) if expected.has("check") => found.extend(findings(&module, &text)),
        Some(module) => report.attempt(|report| execute(module, &expected, &mut found, report)),
        None if expected.values()?.is_empty() => {}
        None => report.add("expects values, but does not assemble"),
    }
    report.compare(&expected.problems, found);
    report.finish()
}

fn execute(
    module: Module,
    expected: &Expectations,
    found: &mut Vec<Problem>,
    report: &mut Report,
) -> Result<(), String> {
    let checks = !expected.has("unchecked");
    let irreversible = module.flags.irreversible;
    let program = Program::new(module, checks).map_err(|e| format!("{} {e}", e.code()))?;
    let module = program.module();
    let line = |at: u32| module.locs[at as usize].line as usize;
    let config = Config {
        mem: expected.number("mem")?,
        ieee: expected.has("ieee"),
        trap_overflow: expected.has("trap-overflow"),
        ..Config::default()
    };
    let mut machine = Machine::new(&program, &config).map_err(|e| e.to_string())?;
    for assignment in expected.all("set") {
        values::set(&mut machine, assignment).map_err(|e| e.to_string())?;
    }
    let backward = expected.has("backward");
    if let Some(input) = expected.option("input") {
        let words = values::tape(module, input).map_err(|e| e.to_string())?;
        let read = if backward { words.len() } else { 0 };
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
    let limit = expected.number("max-steps")?.unwrap_or(1_000_000);
    let (first, second) =
        if backward { (Direction::Backward, Direction::Forward) } else { (Direction::Forward, Direction::Backward) };
    let start = machine.digest();
    machine.begin(first);
    let finish = |machine: &mut Machine<'_>, found: &mut Vec<Problem>| {
        let problem = |line, code: &str, message: &str, help: &str| {
            let (code, message, help) = (code.to_string(), message.to_string(), vec![help.to_string()]);
            Problem { line, code, message, source: None, help }
        };
        found.push(match machine.run(Some(limit)) {
            Outcome::Finished => return true,
            Outcome::Limit => problem(machine.pc().map_or(1, line), "P0130", "the run did not end", ""),
            Outcome::Trap(trap) => {
                let text = trap_text(&trap, module);
                problem(line(trap.at), text.code, text.title, text.help)
            }
        });
        false
    };
    let finished = finish(&mut machine, found);
    for (line, name, value) in expected.values()? {
        let place = values::find(module, name).map_err(|e| e.to_string())?;
        let is = values::text(&machine, &place, false, usize::MAX);
        if is != value {
            report.at(line, format_args!("expected {name} = {value}, found {is}"));
        }
    }
    if let Some((line, emitted)) = expected.placed("emitted").next() {
        let words = values::tape(module, emitted).map_err(|e| e.to_string())?;
        if machine.output() != words {
            report.at(line, format_args!("expected to emit {words:?}, found {:?}", machine.output()));
        }
    }
    compare_flags(&machine, expected, line, report);
    let (lost, wanted) = (machine.counts().lost_bits(), expected.number("lost")?.unwrap_or(0));
    if lost != wanted {
        report.add(format_args!("expected to lose {wanted} bits, found {lost}"));
    }
    if finished && !irreversible {
        machine.begin(second);
        if finish(&mut machine, found) && !expected.has("drift") && machine.digest() != start {
            report.add("the run back does not restore the state");
        }
    }
    report.compare_shown(expected, &shown.lock().expect("no panic"));
    Ok(())
}

/// Compares the lines that raised a flag first.
fn compare_flags(machine: &Machine<'_>, expected: &Expectations, line: impl Fn(u32) -> usize, report: &mut Report) {
    let flags = machine.flags();
    let raised = [(flags.overflow, "overflow"), (flags.inexact, "inexact")];
    let mut raised: Vec<(usize, &str)> = raised.into_iter().filter_map(|(at, name)| Some((line(at?), name))).collect();
    raised.sort_unstable();
    let wanted: Vec<(usize, &str)> = expected.placed("flag").collect();
    for (line, flag) in wanted.iter().filter(|flag| !raised.contains(flag)) {
        report.at(*line, format_args!("expected to raise the flag {flag}"));
    }
    for (line, flag) in raised.iter().filter(|flag| !wanted.contains(flag)) {
        report.at(*line, format_args!("raises the flag {flag}, which is not expected"));
    }
}
