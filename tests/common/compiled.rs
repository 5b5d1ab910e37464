//! What the harnesses of compiled languages share: what a compilation and a run said, and the evaluator.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use pendula::asm::diagnostic::{Diagnostic, Severity};
use pendula::compiler::ir::eval::{self, Evaluation};
use pendula::compiler::lower::{Argument, ArgumentKind};
use pendula::isa::Module;
use pendula::isa::counts::Direction;
use pendula::load::{CompiledSource, Loaded};
use pendula::trap_text::told;
use pendula::values::{self, Location};
use pendula::vm::{Machine, Outcome};

use crate::common::Problem;

/// Instructions, and statements of the evaluator, that a run may take.
pub(crate) const STEPS: u64 = 20_000_000;

fn line_of(text: &str, offset: usize) -> usize {
    1 + text[..offset.min(text.len())].matches('\n').count()
}

/// The first line of a source, without the expectations that it bears.
pub(crate) fn first_line(source: &str) -> String {
    let line = source.lines().next().unwrap_or("");
    let line = ["#!", "//!"].iter().fold(line, |line, mark| line.split(mark).next().unwrap_or(""));
    line.trim_end().to_string()
}

/// What a compilation said, and what is wrong with how it did.
pub(crate) fn diagnostics(text: &str, loaded: &Loaded, complaints: &mut String) -> Vec<Problem> {
    let mut found = Vec::new();
    for d in &loaded.diagnostics {
        let place = d.primary.as_ref().map(|l| &l.place);
        // The file as a whole is at fault, or who asked.
        let whole = place.is_none() && matches!(d.code, "P0452" | "P0510");
        let missing = |at: usize| {
            let line = text[at..].lines().next().unwrap_or("").trim_start();
            (line.is_empty() || line.starts_with(['#', '/'])) && !text[..at].ends_with('\n')
        };
        if d.severity == Severity::Error && d.help.as_ref().is_none_or(String::is_empty) {
            let _ = writeln!(complaints, "{} {} has no help", d.code, d.message);
        }
        if !whole && place.is_none_or(|p| p.file != 0 || p.span.is_empty() && !missing(p.span.start)) {
            let _ = writeln!(complaints, "{} {} has no place in the program", d.code, d.message);
        }
        let line = place.map_or(usize::from(whole), |p| line_of(text, p.span.start));
        let source = place.and_then(|p| text.get(p.span.clone())).map(first_line);
        found.push(Problem { line, code: d.code.to_string(), message: d.message.clone(), source });
    }
    found
}

/// A trap as a problem: at the line of the instruction.
pub(crate) fn trap(machine: &Machine<'_>, outcome: &Outcome, text: &str) -> Option<Problem> {
    let (at, code, message) = match outcome {
        Outcome::Finished => return None,
        Outcome::Limit => (machine.pc()?, "P0130", "the run did not end"),
        Outcome::NoCode(message) => panic!("the engine makes no code: {message}"),
        Outcome::Trap(trap) => {
            let told = told(trap, machine.program().module());
            (trap.at, told.code, told.reason.unwrap_or(told.title))
        }
    };
    let (_, loc) = machine.program().module().loc(at as usize)?;
    let line = text.lines().nth((loc.line as usize).saturating_sub(1)).unwrap_or("");
    let source: String = line.chars().skip(usize::from(loc.column).saturating_sub(1)).collect();
    let line = if loc.file == 0 { loc.line as usize } else { 0 };
    Some(Problem { line, code: code.to_string(), message: message.to_string(), source: Some(first_line(&source)) })
}

/// The start of the data symbol of an argument.
pub(crate) fn start(module: &Module, name: &str) -> Result<usize, String> {
    match values::find(module, name).map_err(|e| e.to_string())?.at {
        Location::Memory { start, .. } => Ok(start as usize),
        Location::Register(_) | Location::Cell(_) => Err(format!("{name} is not in the data")),
    }
}

/// Evaluates the intermediate representation on words of data; gives those after it.
pub(crate) fn evaluate(
    nil: &CompiledSource,
    module: &Module,
    data: &[u64],
    direction: Direction,
) -> Result<Result<(Vec<u64>, Evaluation), eval::EvalError>, String> {
    let program = nil.program.as_ref().ok_or("no program")?;
    let entry = program.entry.ok_or("no entry point")?;
    let mut params = Vec::new();
    let mut places = Vec::new();
    for Argument { name, kind } in &nil.arguments {
        match kind {
            ArgumentKind::Word { .. } => {
                let at = start(module, name)?;
                places.push((params.len(), at));
                params.push(data[at]);
            }
            ArgumentKind::Array { lens, .. } => {
                params.push(start(module, name)? as u64);
                params.extend(lens.iter().map(|n| n.cast_unsigned()));
            }
            ArgumentKind::Constant(word) => params.push(*word),
        }
    }
    let config = eval::Config { memory: data.len() + (1 << 16), max_steps: STEPS, ..eval::Config::default() };
    let direction = match direction {
        Direction::Forward => eval::Direction::Forward,
        Direction::Backward => eval::Direction::Backward,
    };
    Ok(eval::run(program, entry, direction, params, data.to_vec(), None, &config).map(|out| {
        let mut data = out.memory.clone();
        for (param, at) in places {
            data[at] = out.params[param];
        }
        (data, out)
    }))
}

/// Says at which optimisation level something is wrong.
pub(crate) fn levels(one: impl Fn(u8) -> Result<(), String>) -> Result<(), String> {
    let told: String = (0..=2).filter_map(|level| Some(format!("-O{level}: {}", one(level).err()?))).collect();
    if told.is_empty() { Ok(()) } else { Err(told) }
}

/// The programs of a folder of `tests/filetests`, in order.
pub(crate) fn files(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests").join(folder);
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut out: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    out.retain(|p| p.extension().is_some_and(|e| extensions.iter().any(|x| e == *x)));
    out.sort();
    out
}

/// Does something with each file, of which there must be so many, and tells what is wrong with any.
pub(crate) fn all(files: &[PathBuf], least: usize, one: impl Fn(&Path) -> Result<(), String>) {
    assert!(files.len() >= least, "only {} files", files.len());
    let mut failed = String::new();
    for path in files {
        if let Err(complaints) = one(path) {
            let _ = writeln!(failed, "{}:\n{complaints}", path.display());
        }
    }
    assert!(failed.is_empty(), "\n{failed}");
}

/// What is to be said of a file that expects problems.
pub(crate) fn verdict(expected: &[Problem], mut complaints: String) -> Result<(), String> {
    if expected.is_empty() {
        complaints.push_str("expects nothing\n");
    }
    if complaints.is_empty() { Ok(()) } else { Err(complaints) }
}

/// Sees that the evaluator stops where the machine did.
pub(crate) fn evaluator_stops(
    nil: &CompiledSource,
    module: &Module,
    (data, direction): (&[u64], Direction),
    line: Option<usize>,
    complaints: &mut String,
) -> Result<(), String> {
    match evaluate(nil, module, data, direction)? {
        Ok(_) => complaints.push_str("the evaluator does not stop\n"),
        Err(error) if line != Some(error.loc().line as usize) => {
            let _ = writeln!(complaints, "the evaluator stops at line {}: {error}", error.loc().line);
        }
        Err(_) => {}
    }
    Ok(())
}

/// What `pendula run` tells of a program that traps; it must name the line, or show it beside another of the same statement, and say the message.
pub(crate) fn told_by_run(
    path: &Path,
    options: Vec<String>,
    (line, message): (usize, &str),
    complaints: &mut String,
) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pendula"));
    command.arg("run").arg(path).args(options).env_remove("RUST_LOG").env("NO_COLOR", "1");
    let output = command.output().map_err(|e| e.to_string())?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let name = path.file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned());
    let shown =
        |told: &str| told.lines().any(|l| l.split_once(" |").is_some_and(|(n, _)| n.trim() == line.to_string()));
    if !(told.contains(&format!("{name}:{line}:")) || shown(&told)) || !told.contains(message) {
        let _ = writeln!(complaints, "the command line does not say so at line {line}:\n{told}");
    }
    Ok(told)
}

/// Sees that each code has a file that expects it, but for those of which it is said why they have none.
pub(crate) fn every_code_has_a_file<'c>(
    files: impl Iterator<Item = PathBuf>,
    problems: impl Fn(&str) -> Result<Vec<Problem>, String>,
    codes: impl Iterator<Item = &'c str>,
    exempt: &[(&str, &str)],
) {
    let mut seen = BTreeSet::new();
    for path in files {
        let text = std::fs::read_to_string(&path).expect("text");
        let found = problems(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        seen.extend(found.into_iter().map(|p| p.code));
    }
    let is_exempt = |code: &str| exempt.iter().any(|(exempt, _)| *exempt == code);
    let missing: Vec<&str> = codes.filter(|code| !seen.contains(*code) && !is_exempt(code)).collect();
    assert!(missing.is_empty(), "no file expects {}", missing.join(", "));
    for (code, why) in exempt {
        assert!(!seen.contains(*code), "{code} has a file, although it {why}");
    }
}

/// Whether the help of diagnostics says what it should, by line.
pub(crate) fn helps(text: &str, diagnostics: &[Diagnostic], expected: &[(usize, String)], complaints: &mut String) {
    for (line, help) in expected {
        let here = |d: &&Diagnostic| d.primary.as_ref().map_or(1, |l| line_of(text, l.place.span.start)) == *line;
        let said = diagnostics.iter().filter(here).filter_map(|d| d.help.as_ref());
        if !said.clone().any(|said| said.contains(help)) {
            let said: Vec<&String> = said.collect();
            let _ = writeln!(complaints, "the help at line {line} does not say `{help}`, but {said:?}");
        }
    }
}
