//! What the harnesses of compiled languages share: what a compilation and a run said, and the evaluator.

use std::fmt::Write as _;

use pendula::asm::diagnostic::Severity;
use pendula::compiler::ir::eval::{self, Evaluation};
use pendula::compiler::lower::{Argument, ArgumentKind};
use pendula::isa::Module;
use pendula::isa::counts::Direction;
use pendula::load::{Loaded, Nil};
use pendula::values::{self, Location};
use pendula::vm::{Machine, Outcome};

use crate::common::Problem;

/// Instructions, and statements of the evaluator, that a run may take.
pub(crate) const STEPS: u64 = 20_000_000;

pub(crate) fn line_of(text: &str, offset: usize) -> usize {
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
            let module = machine.program().module();
            let other = || trap.other.as_ref().and_then(|(at, _)| module.reason(*at));
            let reason = module.reason(trap.at).or_else(other);
            (trap.at, trap.fault.code(), reason.unwrap_or(trap.fault.title()))
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
        Location::Register(_) => Err(format!("{name} is a register")),
    }
}

/// Evaluates the intermediate representation on words of data; gives those after it.
pub(crate) fn evaluate(
    nil: &Nil,
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
