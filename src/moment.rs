//! Which statements of the source a machine has run, and how often: by that the program, run once more as it was before it became instructions, is stopped at the
//! same moment.
//!
//! Of improved code only statements are counted that have become straight code of their own. A statement may have been copied, as its function was inlined: all
//! copies count. Whether one has been left out, shared or moved is not seen here; then the program run once more comes by no moment with these numbers. A few
//! statements are then left out of account; where that is not enough, nothing is told.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use pendula_compiler::ir::eval::{EvalError, Moment, Stop};
use pendula_compiler::ir::statements::Statements;
use pendula_compiler::ir::{self, Loc};
use pendula_isa::counts::Direction;
use pendula_isa::inst::Kind;
use pendula_isa::module::Module;
use pendula_isa::table::Flow;
use pendula_vm::Machine;

/// How far a machine has come in its source.
pub(crate) struct Progress {
    /// How often each statement has run.
    times: HashMap<Loc, u64>,
    /// Which is under way.
    now: Option<Loc>,
}

/// Of how many statements that have run one may be left out of account.
const FEW: usize = 4;

/// How many statements may be.
const MOST: usize = 4;

impl Progress {
    /// That of a machine.
    pub(crate) fn of(machine: &Machine<'_>, source: &ir::Program) -> Progress {
        let module = machine.program().module();
        let runs = straight(module, source);
        let mut times: HashMap<Loc, u64> = runs.iter().map(|(loc, _)| (*loc, 0)).collect();
        let counts = machine.counts();
        for mode in &counts.modes {
            let each = counts.per_instruction(mode, module.code.len());
            for (loc, at) in &runs {
                // What has run to its end: of a statement that the machine is in the midst of, its beginning is the moment.
                let last = if mode.mode.direction == Direction::Forward { at.end - 1 } else { at.start };
                *times.entry(*loc).or_default() += each[last];
            }
        }
        let here = machine.pc().map(|pc| pc as usize);
        let now = here.and_then(|pc| runs.iter().find(|(_, at)| at.contains(&pc))).map(|(loc, _)| *loc);
        Progress { times, now }
    }

    /// Runs the source to the moment, by what stops there; and how often the statement that comes next has run, and will have.
    ///
    /// Where the source comes by no moment with these numbers, improved code has run a statement less often, or oftener, than the source does. As few as possible
    /// are left out of account, such that it does; `None` where it then may stop at several moments, or too many would have to be.
    pub(crate) fn replayed(&self, mut replay: impl FnMut(&mut Moment) -> Option<Stop>) -> Option<(Stop, Moment)> {
        let few = (self.times.values().filter(|n| **n > 0).count() / FEW).min(MOST);
        let mut without: BTreeSet<BTreeSet<Loc>> = BTreeSet::from([BTreeSet::new()]);
        for _ in 0..=few {
            let (mut found, mut next) = (None, BTreeSet::new());
            for left_out in without {
                let times = self.times.iter().filter(|(loc, _)| !left_out.contains(loc));
                let mut moment = Moment::new(times.map(|(loc, n)| (*loc, *n)), self.now);
                let stop = replay(&mut moment);
                let less = match stop {
                    Some(Stop { error: EvalError::Otherwise { loc }, .. }) => Some(loc),
                    Some(stop) => {
                        match &found {
                            Some((other, _)) if *other != stop => return None,
                            _ => found = Some((stop, moment)),
                        }
                        continue;
                    }
                    None => None,
                };
                // Either this one has run less often, or those that are still to run oftener.
                let oftener = moment.to_run().take(few + 1).collect::<Vec<_>>();
                let oftener = oftener.into_iter().filter(|_| moment.to_run().count() <= few);
                next.extend(oftener.chain(less).map(|loc| left_out.iter().copied().chain([loc]).collect()));
            }
            if found.is_some() {
                return found;
            }
            without = next;
        }
        None
    }
}

/// The statements that have become straight code, and where.
fn straight(module: &Module, source: &ir::Program) -> Vec<(Loc, Range<usize>)> {
    let statements = Statements::of(source);
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
        if let Some(own) = own.filter(|own| statements.is_simple(*own)) {
            runs.push((own, start..at));
        }
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
