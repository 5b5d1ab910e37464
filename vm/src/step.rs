//! Runs and single steps of a machine. The interpreter's loop over whole blocks is in `run`.

use pendula_isa::Fault;
use pendula_isa::adjoint::AdMode;

use crate::decode::{Code, Exit};
use crate::machine::{Machine, Outcome, Position, StepOutcome};
use crate::run::{ExitFault, Stop, fall_through, run_blocks, take_exit};

impl<'p> Machine<'p> {
    /// Runs to the end, to a trap, or until `limit` instructions have run.
    ///
    /// Without a limit, and if the machine allows whole runs, the program's code for these runs it if there is any, or as soon as there
    /// is. Within [`crate::gradient::run_forward_and_back`], the run may then stop before its end.
    pub fn run(&mut self, limit: Option<u64>) -> Outcome {
        if limit.is_none() && self.allows_whole() && self.program.whole().is_some() && self.core.orders.is_none() {
            return self.run_or_begin_again(None);
        }
        self.run_by_engine(limit)
    }

    /// Runs by the machine's engine.
    pub(crate) fn run_by_engine(&mut self, limit: Option<u64>) -> Outcome {
        // Short runs take less than a microsecond, so the span is made only for a listener.
        let _span = tracing::enabled!(tracing::Level::DEBUG).then(|| {
            let (direction, ad_mode, engine) = (self.direction(), self.core.ad_mode, self.engine);
            tracing::debug_span!("run", ?direction, ?ad_mode, ?engine).entered()
        });
        self.disturb();
        match self.engine {
            #[cfg(feature = "jit")]
            crate::Engine::Jit
                if self.program.module().flags.profile == pendula_isa::Profile::Native
                    && self.core.orders.is_none() =>
            {
                self.run_compiled(limit)
            }
            _ => self.interpret(limit),
        }
    }

    /// Invalidates what is known about the state for whole runs.
    pub(crate) fn disturb(&mut self) {
        (self.saved.only_data, self.saved.gradients) = (false, None);
    }

    pub(crate) fn interpret(&mut self, limit: Option<u64>) -> Outcome {
        let mut budget = limit.unwrap_or(u64::MAX);
        loop {
            if self.halted {
                return Outcome::Finished;
            }
            if self.position.k == 0 {
                let before = budget;
                let stop =
                    if self.counting { self.blocks::<true>(&mut budget) } else { self.blocks::<false>(&mut budget) };
                self.executed += before - budget;
                match stop {
                    Stop::Halted(block) => {
                        self.position = Position { block, k: self.code(block).len };
                        self.halted = true;
                        return Outcome::Finished;
                    }
                    Stop::Switch(block) => {
                        self.position = Position { block, k: 0 };
                        continue;
                    }
                    Stop::Budget(block) => self.position = Position { block, k: 0 },
                    Stop::Fault { block, k, fault, other } => {
                        self.count_partial(block, k);
                        self.position = Position { block, k };
                        return Outcome::Trap(Box::new(self.trap(fault, block, k, other)));
                    }
                    Stop::Refused { from, to, fault } => return Outcome::Trap(self.refuse_entry(from, to, fault)),
                }
            }
            if budget == 0 || self.is_before_stops() {
                return Outcome::Limit;
            }
            match self.step() {
                StepOutcome::Executed(_) => budget -= 1,
                StepOutcome::Finished => return Outcome::Finished,
                StepOutcome::Trap(trap) => return Outcome::Trap(trap),
            }
        }
    }

    /// Runs one instruction.
    pub fn step(&mut self) -> StepOutcome {
        self.disturb();
        if self.halted {
            return StepOutcome::Finished;
        }
        if self.position.k == self.code(self.position.block).len
            && let Err(stepped) = self.fall()
        {
            return stepped;
        }
        let d = &self.program.decoded;
        let Position { block, k } = self.position;
        let code = *self.code(block);
        let at = d.address(block, k);
        // Calls and returns count in the AD mode in which they begin.
        let ad_mode = self.core.ad_mode;
        let straight = k.wrapping_sub(code.head);
        if k < code.head {
            self.position.k = 1;
        } else if straight < code.last - code.first {
            let at = (code.first + straight) as usize;
            let ops = &self.program.ops(self.core.ad_mode)[at..=at];
            if let Err(fault) = (ops[0].run)(&mut self.core, ops) {
                return StepOutcome::Trap(Box::new(self.trap(fault, block, k, None)));
            }
            self.position.k += 1;
        } else {
            match take_exit(&mut self.core, self.program, block, &code.exit) {
                Ok(Some(next)) => self.position = Position { block: next, k: 0 },
                Ok(None) => {
                    self.position.k += 1;
                    self.halted = true;
                    if matches!(code.exit, Exit::End) {
                        return StepOutcome::Finished;
                    }
                }
                Err(ExitFault::Tail(fault, other)) => {
                    return StepOutcome::Trap(Box::new(self.trap(fault, block, k, other)));
                }
                // The instruction runs; the next step traps because control cannot continue.
                Err(ExitFault::Head { from, .. }) => self.position = Position { block: from, k: self.code(from).len },
            }
        }
        self.count_single(ad_mode, block, at);
        StepOutcome::Executed(at)
    }

    /// Falls from the end of a block into the next one, or traps if that cannot be entered.
    pub(crate) fn fall(&mut self) -> Result<(), StepOutcome> {
        let d = &self.program.decoded;
        let Position { block, k } = self.position;
        let next = match &self.code(block).exit {
            Exit::Branch(branch) => fall_through(&self.core, block, &branch.fall),
            Exit::Fall(next) => Ok(*next),
            // The call has returned, to a place where control could not continue.
            Exit::Call { .. } | Exit::CallRegister { .. } => match &d.calls[d.address(block, k - 1) as usize] {
                Some(site) => fall_through(&self.core, block, site.after(&self.core)),
                None => return Err(StepOutcome::Finished),
            },
            Exit::OffCode => Err(ExitFault::Head { from: block, to: block, fault: Fault::OffCode }),
            Exit::Return { .. } | Exit::Halt | Exit::PisaBranch(_) | Exit::End | Exit::Stop(_) => {
                return Err(StepOutcome::Finished);
            }
        };
        match next {
            Ok(block) => {
                self.position = Position { block, k: 0 };
                Ok(())
            }
            Err(ExitFault::Head { from, to, fault }) => Err(StepOutcome::Trap(self.refuse_entry(from, to, fault))),
            Err(ExitFault::Tail(fault, other)) => {
                Err(StepOutcome::Trap(Box::new(self.trap(fault, block, k - 1, other))))
            }
        }
    }

    pub(crate) fn code(&self, block: u32) -> &'p Code {
        &self.program.decoded.code[block as usize]
    }

    fn count_single(&mut self, ad_mode: AdMode, block: u32, at: u32) {
        self.executed += 1;
        if self.counting {
            *self.singles.entry((ad_mode, !self.program.decoded.is_forward(block), at)).or_insert(0) += 1;
        }
    }

    /// Counts the first `k` instructions of a block that did not run to its end.
    pub(crate) fn count_partial(&mut self, block: u32, k: u32) {
        for n in 0..k {
            self.count_single(self.core.ad_mode, block, self.program.decoded.address(block, n));
        }
    }

    pub(crate) fn blocks<const COUNT: bool>(&mut self, budget: &mut u64) -> Stop {
        let counts = &mut self.counts[self.core.ad_mode as usize];
        if counts.is_empty() {
            *counts = vec![0; self.program.decoded.code.len()];
        }
        let code = self.stops.as_ref().map_or(&self.program.decoded.code, |stops| &stops.code);
        run_blocks::<COUNT>(&mut self.core, self.program, code, counts, self.position.block, budget)
    }
}
