//! Runs that stop before given instructions.
//!
//! The blocks that such instructions are in are longer than any budget for a machine with stops: neither the interpreter's loop nor compiled
//! code enters them, and they are run one instruction at a time. All other blocks run at full speed.

use crate::decode::Code;
#[cfg(feature = "jit")]
use crate::engine::EngineCode;
use crate::machine::{Machine, Outcome, StepOutcome};

/// The greatest number of instructions of one run by the engine: less than the length that blocks with stops pretend to have.
const PART: u64 = u32::MAX as u64 - 1;

/// The instructions at which a machine stops.
pub(crate) struct Stops {
    /// By address: those before which it stops, and those after which it does.
    before: Vec<bool>,
    after: Vec<bool>,
    /// The blocks of the program; those with stops are too long for any budget.
    pub(crate) code: Vec<Code>,
    /// Whether each block has a stop.
    blocks: Vec<bool>,
    /// Code that leaves before those blocks.
    #[cfg(feature = "jit")]
    pub(crate) engine_code: EngineCode,
}

impl Stops {
    /// Whether a block has a stop.
    pub(crate) fn has(&self, block: u32) -> bool {
        self.blocks.get(block as usize) == Some(&true)
    }
}

/// How a run with stops ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Before or after an instruction of [`Machine::set_stops`].
    Stop {
        /// The address of the instruction that ran last; `None` if its block has no stops.
        after: Option<u32>,
    },
    /// As a run without stops.
    Run(Outcome),
}

impl Machine<'_> {
    /// Sets the instructions before which, and those after which [`Machine::run_to_stop`] stops, by their addresses, whatever the direction.
    pub fn set_stops(&mut self, before: &[u32], after: &[u32]) {
        let d = &self.program.decoded;
        let marked = |addresses: &[u32]| {
            let mut at = vec![false; self.program.module().code.len()];
            for address in addresses {
                if let Some(stop) = at.get_mut(*address as usize) {
                    *stop = true;
                }
            }
            at
        };
        if before.is_empty() && after.is_empty() && self.stops.is_none() {
            return;
        }
        let [before, after] = [marked(before), marked(after)];
        if self.stops.as_ref().is_some_and(|stops| stops.before == before && stops.after == after) {
            return;
        }
        #[cfg(feature = "jit")]
        self.forget_code();
        let stops = |at: usize| [&before, &after].iter().any(|stops| stops.get(at) == Some(&true));
        if !(0..before.len()).any(stops) {
            self.stops = None;
            return;
        }
        let stops = |(n, code): (usize, &Code)| (0..code.len).any(|k| stops(d.address(n as u32, k) as usize));
        let blocks: Vec<bool> = d.code.iter().enumerate().map(stops).collect();
        let mut code = d.code.clone();
        for (code, stops) in code.iter_mut().zip(&blocks) {
            if *stops {
                code.len = u32::MAX;
            }
        }
        #[cfg(feature = "jit")]
        let engine_code = EngineCode::leaving_before(blocks.clone());
        self.stops = Some(Box::new(Stops {
            before,
            after,
            code,
            blocks,
            #[cfg(feature = "jit")]
            engine_code,
        }));
    }

    /// Whether the machine is at the beginning of a block with stops, which the engine must not run.
    pub(crate) fn is_before_stops(&self) -> bool {
        self.position.k == 0 && self.stops.as_ref().is_some_and(|stops| stops.has(self.position.block))
    }

    /// Whether the next instruction is one to stop before.
    pub fn is_at_stop(&self) -> bool {
        let Some(stops) = &self.stops else { return false };
        self.pc().is_some_and(|pc| stops.before.get(pc as usize) == Some(&true))
    }

    /// Runs until the next instruction is one to stop before, or one to stop after has run; also to the end, to a trap, or until `limit` instructions have run. At least one
    /// instruction runs before a stop.
    pub fn run_to_stop(&mut self, limit: u64) -> Stopped {
        let mut left = limit;
        let (mut moved, mut after) = (false, None);
        loop {
            if moved && self.is_at_stop() {
                return Stopped::Stop { after };
            }
            if left == 0 {
                return Stopped::Run(if self.halted { Outcome::Finished } else { Outcome::Limit });
            }
            if self.position.k != 0 || self.is_before_stops() {
                match self.step() {
                    StepOutcome::Executed(at) => {
                        (left, moved, after) = (left - 1, true, Some(at));
                        if self.stops.as_ref().is_some_and(|stops| stops.after.get(at as usize) == Some(&true)) {
                            return Stopped::Stop { after };
                        }
                    }
                    StepOutcome::Finished => return Stopped::Run(Outcome::Finished),
                    StepOutcome::Trap(trap) => return Stopped::Run(Outcome::Trap(trap)),
                }
                continue;
            }
            let before = self.executed;
            let outcome = self.run_by_engine(Some(left.min(PART)));
            let ran = self.executed - before;
            left -= ran;
            if ran > 0 {
                (moved, after) = (true, None);
            }
            if outcome != Outcome::Limit {
                return Stopped::Run(outcome);
            }
        }
    }
}
