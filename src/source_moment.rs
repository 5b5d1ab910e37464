//! Which statements of the source a machine has run, and how often. By these counts a second run of the program, by the evaluator, is stopped at the same moment.
//!
//! Only those statements are counted that have become straight code of their own, and that the improved program has in the same loops and branches as the source
//! has, as often: what passes have shared, moved or left out tells nothing. A statement may have been copied, as its function was inlined: all copies count. Where
//! statements that do not count are about to run, it is not known which of them the machine has run, and nothing is told; nor where the program run once more
//! does not come by a moment with these numbers.

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

/// The statements of a program of which a machine's counts say how often they have run.
#[derive(Debug)]
pub(crate) struct Counted {
    /// These, and where they are.
    runs: Vec<(Loc, Range<usize>)>,
    /// Other statements that do something.
    unknown: Vec<Loc>,
}

impl Counted {
    /// Those of a source, of which this improved program was made, and of that this code.
    pub(crate) fn of(module: &Module, source: &ir::Program, improved: &ir::Program) -> Counted {
        let statements = Statements::of(source);
        let mut runs = straight(module, source);
        let kept = statements.kept(source, improved);
        runs.retain(|(loc, _)| kept.contains(loc));
        let known: HashSet<Loc> = runs.iter().map(|(loc, _)| *loc).collect();
        let unknown = statements.steps().filter(|loc| !known.contains(loc)).collect();
        Counted { runs, unknown }
    }

    /// The moment of its source at which a machine has stopped.
    pub(crate) fn moment(&self, machine: &Machine<'_>) -> StopPoint {
        let Counted { runs, unknown } = self;
        let mut times: HashMap<Loc, u64> = runs.iter().map(|(loc, _)| (*loc, 0)).collect();
        let counts = machine.counts();
        for mode in &counts.modes {
            let each = counts.per_instruction(mode, machine.program().module().code.len());
            for (loc, at) in runs {
                // What has run to its end: of a statement that the machine is in the midst of, its beginning is the moment.
                let last = if mode.mode.direction == Direction::Forward { at.end - 1 } else { at.start };
                *times.entry(*loc).or_default() += each[last];
            }
        }
        let here = machine.pc().map(|pc| pc as usize);
        let now = here.and_then(|pc| runs.iter().find(|(_, at)| at.contains(&pc))).map(|(loc, _)| *loc);
        StopPoint::new(times, unknown.iter().copied(), now)
    }
}

/// The statements that have become straight code, and where.
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
        Kind::Accumulate { .. } => true,
        Kind::Row { row, .. } => row.info().flow == Flow::Straight,
    }
}
