//! Runs a machine with compiled code: compiled code where it can be entered, alternating with the interpreter for the rest of a block
//! after a side exit.

use pendula_isa::adjoint::AdMode;

use super::frame::{SideExit, Surroundings, enter};
use super::plan::{NONE, Plan, Tally, Unit};
use super::{Mode, Table};
use crate::config::Config;
use crate::machine::{Machine, Outcome, Position, StepOutcome};
use crate::run::{After, Stop, finish_block};
use pendula_codegen::lift::LiftConfig;

/// The state of a machine for running compiled code.
pub(crate) struct Local {
    /// For each AD mode: the counters of edges.
    counters: [Vec<u64>; AdMode::ALL.len()],
    /// The code tables in use, without and with a budget, by AD mode.
    tables: [[Option<Table>; AdMode::ALL.len()]; 2],
    given_up: Vec<u32>,
    /// How often code has been left within a block.
    side_exits: u64,
    /// For each unit, how many more times baseline code may be entered and reach its heads before the unit is optimized; negative after that.
    heat: Vec<i64>,
    tier_up: u64,
    /// The number of instructions that the interpreter still runs before anything is compiled.
    cold: u64,
    /// Reused buffers for summing counts: for short runs, allocating them would cost more than the sums.
    tally: Tally,
}

impl Local {
    pub(crate) fn new(config: &Config) -> Local {
        Local {
            counters: Default::default(),
            tables: Default::default(),
            given_up: Vec::new(),
            side_exits: 0,
            heat: Vec::new(),
            tier_up: config.tier_up,
            cold: config.warm_up,
            tally: Tally::default(),
        }
    }
}

impl Machine<'_> {
    /// Forgets which code is in use.
    pub(crate) fn forget_code(&mut self) {
        let local = &mut self.local;
        (local.tables, local.given_up, local.heat) = (Default::default(), Vec::new(), Vec::new());
    }

    fn mode(&self, metered: bool) -> Mode {
        let core = &self.core;
        let setting = LiftConfig {
            ad_mode: core.ad_mode,
            checks: core.checks,
            trap_overflow: core.trap_overflow,
            ieee: core.env.ieee,
            narrow: None,
        };
        Mode { setting, metered }
    }

    /// Like [`Machine::run`], with compiled code where there is any.
    pub(crate) fn run_compiled(&mut self, limit: Option<u64>) -> Outcome {
        if self.core.mem.len() < self.program.module.data.len() {
            // A snapshot with less memory was restored, but compiled code assumes that the memory holds the data.
            return self.interpret(limit);
        }
        if pendula_codegen::stack::room(usize::MAX).is_none() {
            // The thread's stack is too small to compile or to run code.
            return self.interpret(limit);
        }
        let mut budget = limit.unwrap_or(u64::MAX);
        if let Some(outcome) = self.warm_up(&mut budget) {
            return outcome;
        }
        let plan = self.program.engine_code.plan(self.program);
        if self.local.heat.is_empty() {
            let code = &self.program.decoded.code;
            let heat = |unit: &Unit| unit.heat(code, self.local.tier_up);
            self.local.heat = plan.units.iter().map(heat).collect();
        }
        let before = self.local.side_exits;
        let outcome = self.alternate(plan, limit.is_some(), budget);
        tracing::debug!(side_exits = self.local.side_exits - before, "compiled code was run");
        self.add_counts(plan);
        outcome
    }

    /// Interprets whole blocks until compiling is worthwhile. Returns the outcome if the run ends before.
    fn warm_up(&mut self, budget: &mut u64) -> Option<Outcome> {
        while self.local.cold > 0 && self.position.k == 0 && !self.halted {
            let mut left = self.local.cold.min(*budget);
            let before = left;
            let stop = if self.counting { self.blocks::<true>(&mut left) } else { self.blocks::<false>(&mut left) };
            let ran = before - left;
            self.executed += ran;
            self.local.cold -= ran;
            *budget -= ran;
            let enough = matches!(stop, Stop::Budget(_));
            if let Some(outcome) = self.stopped(stop) {
                return Some(outcome);
            }
            if enough {
                // The rest of the warm-up is shorter than the next block.
                if left < *budget && !self.is_before_stops() {
                    self.local.cold = 0;
                }
                break;
            }
        }
        None
    }

    fn alternate(&mut self, plan: &Plan, metered: bool, mut budget: u64) -> Outcome {
        loop {
            if self.halted {
                return Outcome::Finished;
            }
            if self.is_before_stops() {
                return Outcome::Limit;
            }
            let Position { block, k } = self.position;
            if k != 0 || budget < u64::from(self.code(block).len) {
                // Within a block, or close to the limit: single steps, as in the interpreter.
                if budget == 0 {
                    return Outcome::Limit;
                }
                match self.step() {
                    StepOutcome::Executed(_) => budget -= 1,
                    StepOutcome::Finished => return Outcome::Finished,
                    StepOutcome::Trap(trap) => return Outcome::Trap(trap),
                }
                continue;
            }
            let mut at = (block, 0);
            if let Some((code, entry)) = self.entry(plan, block, metered) {
                self.tally(&plan.enter, block);
                match self.enter(code, entry, metered, &mut budget) {
                    SideExit::Before(next) => {
                        self.position = Position { block: next, k: 0 };
                        self.core.forward = self.program.decoded.is_forward(next);
                        continue;
                    }
                    SideExit::At { block, k } => {
                        self.local.side_exits += 1;
                        self.tally(&plan.partial, block);
                        if metered {
                            // The code has subtracted the whole block.
                            budget = budget.wrapping_add(u64::from(self.code(block).len));
                        }
                        self.core.forward = self.program.decoded.is_forward(block);
                        let due = k == 0 && self.is_due(plan, block, metered);
                        let stops = self.stops.as_ref().is_some_and(|stops| k == 0 && stops.has(block));
                        if due || stops || budget < u64::from(self.code(block).len) {
                            self.position = Position { block, k: 0 };
                            continue;
                        }
                        at = (block, k);
                    }
                }
            }
            if let Some(outcome) = self.interpret_block(at, &mut budget) {
                return outcome;
            }
        }
    }

    /// Whether a unit has used up its iterations of baseline code, so that its next entry compiles it with optimization.
    ///
    /// Its block is then entered at once. Interpreting it would not do: a procedure that only compiled code calls is entered nowhere else,
    /// and each of its calls would take this side exit again.
    fn is_due(&self, plan: &Plan, block: u32, metered: bool) -> bool {
        let unit = plan.unit_of[block as usize];
        let hot = self.local.heat.get(unit as usize).is_some_and(|heat| *heat < 0);
        let table = self.local.tables[usize::from(metered)][self.core.ad_mode as usize].as_ref();
        hot && table.is_some_and(|table| table.made(unit, true).is_none())
    }

    /// Counts an edge that compiled code does not count.
    fn tally(&mut self, edges: &[u32], block: u32) {
        if let Some(n) = self.local.counters[self.core.ad_mode as usize].get_mut(edges[block as usize] as usize) {
            *n += 1;
        }
    }

    /// The code to enter at a block, and the number of the entry.
    fn entry(&mut self, plan: &Plan, block: u32, metered: bool) -> Option<(usize, u64)> {
        let (unit, entry) = (plan.unit_of[block as usize], plan.entry_of[block as usize]);
        if unit == NONE || entry == NONE {
            return None;
        }
        let mode = self.mode(metered);
        let engine_code = self.stops.as_ref().map_or(&self.program.engine_code, |stops| &stops.engine_code);
        let ad_mode = self.core.ad_mode as usize;
        let table = &mut self.local.tables[usize::from(metered)][ad_mode];
        let table = table.get_or_insert_with(|| engine_code.table(mode, plan.units.len()));
        self.local.counters[ad_mode].resize(plan.counters, 0);
        let heat = &mut self.local.heat[unit as usize];
        // Entries count, too, because a loop may be longer than a unit.
        *heat = heat.saturating_sub(1);
        let code = engine_code.code(self.program, mode, table, &mut self.local.given_up, unit, heat);
        code.map(|code| (code, u64::from(entry)))
    }

    #[expect(unsafe_code, reason = "the entry of compiled code")]
    fn enter(&mut self, code: usize, entry: u64, metered: bool, budget: &mut u64) -> SideExit {
        let ad_mode = self.core.ad_mode as usize;
        let counters = &mut self.local.counters[ad_mode];
        let table = self.local.tables[usize::from(metered)][ad_mode].as_ref().map_or(&[][..], |t| &t.code);
        let heat = &mut self.local.heat;
        let ops = self.program.ops(self.core.ad_mode);
        self.core.allocate(self.core.ad_mode);
        let surroundings = Surroundings { counters, table, ops, budget, heat };
        // SAFETY: the code and the table were made for this program, which owns the code, and for the mode of the machine. The memory
        // has at least as many words as the data (`run_compiled` checks that, and the size does not change during a run). The lanes of
        // the AD mode are allocated; there is a counter for each of the plan, and a heat for each unit.
        unsafe { enter(&mut self.core, surroundings, code, entry) }
    }

    /// Interprets the rest of a block of which some instructions have run. Returns the outcome if the run ends.
    fn interpret_block(&mut self, (block, k): (u32, u32), budget: &mut u64) -> Option<Outcome> {
        let len = self.code(block).len;
        let ad_mode = self.core.ad_mode as usize;
        if self.counts[ad_mode].is_empty() {
            self.counts[ad_mode] = vec![0; self.program.decoded.code.len()];
        }
        let counts = &mut self.counts[ad_mode];
        if k == len {
            // The whole block has run, but the next one refuses entry. This traps even if the budget is exhausted.
            counts[block as usize] += u64::from(self.counting);
            self.executed += u64::from(len);
            *budget -= u64::from(len);
            self.position = Position { block, k };
            return match self.fall() {
                Err(StepOutcome::Trap(trap)) => Some(Outcome::Trap(trap)),
                Ok(()) | Err(StepOutcome::Executed(_) | StepOutcome::Finished) => None,
            };
        }
        let before = *budget;
        let after = finish_block(&mut self.core, self.program, counts, self.counting, (block, k), budget);
        self.executed += before - *budget;
        match after {
            After::Next(block) => {
                self.position = Position { block, k: 0 };
                None
            }
            After::Stop(stop) => self.stopped(stop),
        }
    }

    /// Adds the counts of compiled code to the executions of blocks.
    fn add_counts(&mut self, plan: &Plan) {
        for (ad_mode, counters) in self.local.counters.iter_mut().enumerate() {
            if counters.is_empty() {
                continue;
            }
            let tally = &mut self.local.tally;
            tally.executions.clear();
            tally.executions.resize(self.program.decoded.code.len(), 0);
            for unit in &plan.units {
                unit.add_block_executions(counters, tally);
            }
            let counts = &tally.executions;
            let lens = self.program.decoded.code.iter().map(|c| u64::from(c.len));
            let compiled = counts.iter().zip(lens).map(|(n, len)| n * len).sum::<u64>();
            self.executed += compiled;
            self.engine_counts.compiled += compiled;
            if !self.counting {
                continue;
            }
            let totals = &mut self.counts[ad_mode];
            totals.resize(counts.len(), 0);
            for (total, n) in totals.iter_mut().zip(&tally.executions) {
                *total += n;
            }
        }
    }

    /// Handles the end of the interpreter's loop; returns the outcome if the run ends.
    pub(crate) fn stopped(&mut self, stop: Stop) -> Option<Outcome> {
        match stop {
            Stop::Halted(block) => {
                self.position = Position { block, k: self.code(block).len };
                self.halted = true;
                Some(Outcome::Finished)
            }
            Stop::Switch(block) | Stop::Budget(block) => {
                self.position = Position { block, k: 0 };
                None
            }
            Stop::Fault { block, k, fault, other } => {
                self.count_partial(block, k);
                self.position = Position { block, k };
                Some(Outcome::Trap(Box::new(self.trap(fault, block, k, other))))
            }
            Stop::Refused { from, to, fault } => Some(Outcome::Trap(self.refuse_entry(from, to, fault))),
        }
    }
}
