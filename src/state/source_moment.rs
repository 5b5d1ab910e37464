//! Determines which statements of the source a machine has run, and how often. With these counts, the evaluator can
//! stop a second run of the program at the same moment.
//!
//! Only some statements are counted: those that became straight-line code of their own and that, in the optimised
//! program, are in the same loops and branches as in the source, and as often. Statements that passes have merged,
//! moved or removed say nothing. If inlining copied a statement, all its copies count. If uncounted statements are the
//! next to run, it is unknown which of them the machine has run, and there is no answer; nor is there one if the second
//! run does not reach a moment with these counts.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use pendula_compiler::ir::eval::StopPoint;
use pendula_compiler::ir::statements::Statements;
use pendula_compiler::ir::{self, Loc};
use pendula_isa::counts::Direction;
use pendula_isa::inst::Kind;
use pendula_isa::module::Module;
use pendula_isa::table::Flow;
use pendula_vm::Machine;

/// The statements of a program whose execution counts follow from a machine's counts.
#[derive(Debug)]
pub(crate) struct Counted {
    /// These statements, and their code.
    runs: Vec<(Loc, Range<usize>)>,
    /// Other statements that have an effect.
    unknown: Vec<Loc>,
}

impl Counted {
    /// Finds these statements from the source's IR, the optimised IR made from it, and the code made from that.
    pub(crate) fn of(module: &Module, source: &ir::Program, optimized: &ir::Program) -> Counted {
        let statements = Statements::of(source);
        let mut runs = straight(module, source);
        let preserved = statements.preserved(source, optimized);
        runs.retain(|(loc, _)| preserved.contains(loc));
        let known: HashSet<Loc> = runs.iter().map(|(loc, _)| *loc).collect();
        let unknown = statements.steps().filter(|loc| !known.contains(loc)).collect();
        Counted { runs, unknown }
    }

    /// The moment of the source at which a machine stopped.
    pub(crate) fn moment(&self, machine: &Machine<'_>) -> StopPoint {
        let Counted { runs, unknown } = self;
        let mut times: HashMap<Loc, u64> = runs.iter().map(|(loc, _)| (*loc, 0)).collect();
        let counts = machine.counts();
        for mode in &counts.modes {
            let each = counts.per_instruction(mode, machine.program().module().code.len());
            for (loc, at) in runs {
                // Counts the statements that have run to their end. If the machine is within a statement, the moment is
                // that statement's beginning.
                let last = if mode.mode.direction == Direction::Forward { at.end - 1 } else { at.start };
                *times.entry(*loc).or_default() += each[last];
            }
        }
        let here = machine.pc().map(|pc| pc as usize);
        let now = here.and_then(|pc| runs.iter().find(|(_, at)| at.contains(&pc))).map(|(loc, _)| *loc);
        StopPoint::new(times, unknown.iter().copied(), now)
    }
}

/// The statements that became straight-line code, and where.
fn straight(module: &Module, source: &ir::Program) -> Vec<(Loc, Range<usize>)> {
    let loc = |at: usize| {
        let loc = module.loc(at)?.1;
        Some(source.statement_at(Loc { file: loc.file, column: loc.column, line: loc.line }))
    };
    let mut runs = Vec::new();
    let mut at = 0;
    while at < module.code.len() {
        let start = at;
        let own = loc(start);
        while at < module.code.len() && loc(at) == own {
            at += 1;
        }
        runs.extend(own.map(|own| (own, start..at)));
    }
    let jumps = |at: &Range<usize>| module.code[at.clone()].iter().any(|inst| !is_straight(inst.kind));
    let broken: HashSet<Loc> = runs.iter().filter(|(_, at)| jumps(at)).map(|(loc, _)| *loc).collect();
    runs.retain(|(loc, _)| !broken.contains(loc));
    runs
}

fn is_straight(kind: Kind) -> bool {
    match kind {
        Kind::Accumulate { .. } | Kind::Extension { .. } => true,
        Kind::Row { row, .. } => row.info().flow == Flow::Straight,
    }
}
