//! What the tests of programs in Nil and Janus share: diagnostics and traps as problems, the evaluator, and the command line.

use std::process::Command;

use pendula::asm::diagnostic::Severity;
use pendula::compiler::ir::eval::{self, Evaluation};
use pendula::compiler::lower::{Argument, ArgumentKind};
use pendula::isa::Module;
use pendula::isa::counts::Direction;
use pendula::load::{CompiledSource, Loaded};
use pendula::trap_text::trap_text;
use pendula::values::{self, Location};
use pendula::vm::{Machine, Outcome};
use pendula_isa::sample;

use crate::expectations::{Expectations, Language, Problem};
use crate::report::{Report, TestFile, line_of};

/// Instructions, and statements of the evaluator, that a run may take.
pub(crate) const STEPS: u64 = 20_000_000;

/// The first line of a source, without the expectations that it bears.
fn first_line(language: Language, source: &str) -> String {
    language.code(source.lines().next().unwrap_or("")).to_string()
}

/// The diagnostics of a compilation as problems. Reports those without a help or a place.
pub(crate) fn diagnostics(file: &TestFile, loaded: &Loaded, report: &mut Report) -> Vec<Problem> {
    let (language, text) = (language(file), &file.text);
    let mut found = Vec::new();
    for d in &loaded.diagnostics {
        let place = d.primary.as_ref().map(|l| &l.place);
        // The file as a whole is at fault, or the command line.
        let is_general = place.is_none() && matches!(d.code, "P0452" | "P0510");
        let missing = |at: usize| {
            let line = text[at..].lines().next().unwrap_or("").trim_start();
            (line.is_empty() || line.starts_with(['#', '/'])) && !text[..at].ends_with('\n')
        };
        let line = place.map_or(1, |p| line_of(text, p.span.start));
        if d.severity == Severity::Error && d.help.as_ref().is_none_or(String::is_empty) {
            report.at(line, format_args!("{} {} has no help", d.code, d.message));
        }
        if !is_general && place.is_none_or(|p| p.file != 0 || p.span.is_empty() && !missing(p.span.start)) {
            report.at(line, format_args!("{} {} has no place in the program", d.code, d.message));
        }
        let source = place.and_then(|p| text.get(p.span.clone())).map(|source| first_line(language, source));
        let help = vec![d.help.clone().unwrap_or_default()];
        found.push(Problem { line, code: d.code.to_string(), message: d.message.clone(), source, help });
    }
    found
}

fn language(file: &TestFile) -> Language {
    Language::of(&file.path).expect("a language: the file was read")
}

/// A trap as a problem, at the line of the instruction. Its help is not compared here, but with what the command line says.
pub(crate) fn trap(machine: &Machine<'_>, outcome: &Outcome, file: &TestFile) -> Option<Problem> {
    let (at, code, message) = match outcome {
        Outcome::Finished => return None,
        Outcome::Limit => (machine.pc()?, "P0130", "the run did not end"),
        Outcome::Trap(trap) => {
            let text = trap_text(trap, machine.program().module());
            (trap.at, text.code, text.reason.unwrap_or(text.title))
        }
    };
    let (_, loc) = machine.program().module().loc(at as usize)?;
    let line = file.text.lines().nth((loc.line as usize).saturating_sub(1)).unwrap_or("");
    let source: String = line.chars().skip(usize::from(loc.column).saturating_sub(1)).collect();
    let line = if loc.file == 0 { loc.line as usize } else { 0 };
    let source = Some(first_line(language(file), &source));
    Some(Problem { line, code: code.to_string(), message: message.to_string(), source, help: Vec::new() })
}

/// The problems of a file that must expect some.
pub(crate) fn some_problems(expected: &Expectations, report: &mut Report) {
    if expected.problems.is_empty() {
        report.add("expects no problem");
    }
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

/// Runs a part of a test at each optimisation level, or at the first and the last unless all are to be tried.
pub(crate) fn each_level(report: &mut Report, part: impl Fn(u8, &mut Report) -> Result<(), String>) {
    for level in [0, 1, 2].into_iter().filter(|level| *level != 1 || sample::all()) {
        report.context = format!("-O{level}");
        report.attempt(|report| part(level, report));
    }
    report.context.clear();
}

/// Checks that the evaluator stops where the machine did.
pub(crate) fn evaluator_stops(
    nil: &CompiledSource,
    module: &Module,
    (data, direction): (&[u64], Direction),
    line: Option<usize>,
    report: &mut Report,
) -> Result<(), String> {
    match evaluate(nil, module, data, direction)? {
        Ok(_) => report.at(line.unwrap_or(1), "the evaluator does not stop"),
        Err(error) if line != Some(error.loc().line as usize) => {
            report.at(error.loc().line as usize, format_args!("the evaluator stops here: {error}"));
        }
        Err(_) => {}
    }
    Ok(())
}

/// What `pendula run` prints of a program that traps, without the lines of source, which bear the expectations. It must have the code of the
/// problem, name its line, or show it beside another of the same statement, and contain the helps that the file expects.
pub(crate) fn printed_by_run(
    file: &TestFile,
    options: Vec<String>,
    (line, code): (usize, &str),
    report: &mut Report,
) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pendula"));
    command.arg("run").arg(&file.path).args(options).env_remove("RUST_LOG").env("NO_COLOR", "1");
    let output = command.output().map_err(|e| e.to_string())?;
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    let source_line = |l: &str| l.split_once(" |").and_then(|(number, _)| number.trim().parse::<usize>().ok());
    let shown = printed.lines().any(|l| source_line(l) == Some(line));
    let named = printed.contains(&format!("{}:{line}:", file.file_name()));
    let rest: String = printed.lines().filter(|l| source_line(l).is_none()).map(|l| format!("{l}\n")).collect();
    if !(named || shown) || !rest.contains(&format!("error[{code}]")) {
        report.at(line, format_args!("expected the command line to report {code} at this line, found\n{printed}"));
    }
    for problem in &file.expected.problems {
        for help in problem.help.iter().filter(|help| !rest.contains(*help)) {
            report.at(problem.line, format_args!("expected the command line to say `{help}`, found\n{printed}"));
        }
    }
    Ok(rest)
}
