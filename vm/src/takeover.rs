//! Code for whole runs that comes while a run is under way: the run then begins again with that code, from what it began with.
//!
//! Code that takes long to make is made beside runs ([`WholeProgram::may_come`]). A run that begins before keeps a copy of what it
//! began with, and looks from time to time whether the code is there. What it did until then is thrown away.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use pendula_isa::adjoint::{ActiveArguments, AdMode, LANES};
use pendula_isa::counts::Direction;
use pendula_isa::types::Reg;
use pendula_isa::words::clear;

use crate::event::RoundingResidues;
use crate::machine::{EngineCounts, Machine, Outcome, Position};
use crate::run::set_ad_mode;
use crate::whole::RunKind;

/// The number of instructions before the first look. Shorter runs do without.
const FIRST: u64 = 100_000;

/// The time between two looks.
const INTERVAL: Duration = Duration::from_millis(5);

/// What a run that may begin again began with. Registers and the memory behind the data were zero.
pub(crate) struct Start {
    kind: RunKind,
    data: Vec<u64>,
    lanes: [Vec<u64>; LANES - 1],
    ad_mode: AdMode,
    position: Position,
    forward: bool,
    halted: bool,
    begun: Direction,
    rests: RoundingResidues,
    /// Where the overflow of a derivative and a rounding residue were first noted.
    noted: (usize, usize),
    lost: Vec<u64>,
    counts: [Vec<u64>; AdMode::ALL.len()],
    singles: BTreeMap<(AdMode, bool, u32), u64>,
    executed: u64,
    engine_counts: EngineCounts,
    /// Whether the run has stopped early so that it can begin again.
    stopped: bool,
}

impl Machine<'_> {
    /// Like [`Machine::run`] without a limit; stops after about this many instructions if they do not suffice.
    pub fn run_part(&mut self, steps: u64) -> Outcome {
        self.run_or_begin_again(Some(steps))
    }

    /// Runs to the end by code for whole runs if there is any, and otherwise by the engine, unless code comes. The run stops after
    /// about `steps` instructions.
    pub(crate) fn run_or_begin_again(&mut self, steps: Option<u64>) -> Outcome {
        if self.run_as_whole() {
            return Outcome::Finished;
        }
        self.plan_run();
        let mut left = steps.unwrap_or(u64::MAX);
        let mut chunk = FIRST;
        loop {
            let Some(kind) = self.planned() else { return self.run_by_engine(steps.map(|_| left)) };
            let now = chunk.min(left);
            let begun = Instant::now();
            let outcome = self.run_by_engine(Some(now));
            let took = begun.elapsed();
            let Some(whole) = self.program.whole() else { return outcome };
            whole.spent(kind, took);
            if outcome != Outcome::Limit {
                self.saved.trapped_back =
                    matches!(outcome, Outcome::Trap(_)) && !self.core.forward && self.core.ad_mode == AdMode::Gradient;
                self.drop_planned_run();
                return outcome;
            }
            left -= now;
            if whole.has(kind) {
                tracing::info!("code for the whole run has come: the run begins again with it");
                if matches!(kind, RunKind::ForwardAndBack(_)) {
                    // Whoever runs forward and back begins again.
                    self.saved.start.iter_mut().for_each(|start| start.stopped = true);
                    return Outcome::Finished;
                }
                self.return_to_start();
                if self.run_as_whole() {
                    return Outcome::Finished;
                }
                // It gave up, and other code may follow.
                self.plan_run();
                continue;
            }
            if !whole.may_come(kind) {
                self.saved.start = None;
            }
            if left == 0 {
                return Outcome::Limit;
            }
            // As many instructions as take the interval, if they take as long as the last ones.
            let scale = INTERVAL.as_secs_f64() / took.as_secs_f64().max(1e-6);
            chunk = (now as f64 * scale.clamp(0.25, 16.0)) as u64;
            chunk = chunk.max(FIRST);
        }
    }

    /// The kind of run that may begin again.
    fn planned(&self) -> Option<RunKind> {
        self.saved.start.as_ref().map(|start| start.kind)
    }

    /// Keeps what a run begins with, if code for it may come. Does nothing in the middle of a run, or within a run forward and back.
    fn plan_run(&mut self) {
        if !matches!(self.planned(), Some(RunKind::ForwardAndBack(_))) {
            let kind = RunKind::Run(self.direction(), self.core.ad_mode);
            self.plan(kind);
        }
    }

    /// Keeps what the machine has now, about to begin a run of this kind, if code for it may come.
    fn plan(&mut self, kind: RunKind) {
        let may_come = self.allows_whole() && self.program.whole().is_some_and(|w| w.may_come(kind));
        if !may_come {
            self.saved.start = None;
            return;
        }
        if !self.is_plain_start() {
            return;
        }
        let top = self.program.module().data.len();
        let core = &self.core;
        let mut lanes: [Vec<u64>; LANES - 1] = Default::default();
        for lane in core.ad_mode.lanes() {
            let mem = &core.lanes[*lane - 1].mem;
            lanes[*lane - 1].extend_from_slice(mem.get(..top).unwrap_or_default());
        }
        self.saved.start = Some(Box::new(Start {
            kind,
            data: core.mem[..top].to_vec(),
            lanes,
            ad_mode: core.ad_mode,
            position: self.position,
            forward: core.forward,
            halted: self.halted,
            begun: self.begun,
            rests: core.rests,
            noted: (core.carried_op, core.inexact_op),
            lost: core.lost.clone(),
            counts: self.counts.clone(),
            singles: self.singles.clone(),
            executed: self.executed,
            engine_counts: self.engine_counts,
            stopped: false,
        }));
    }

    /// Forgets what a run from one end to the other began with: the machine has ended it, or changes.
    pub(crate) fn drop_planned_run(&mut self) {
        if self.saved.start.as_ref().is_some_and(|start| matches!(start.kind, RunKind::Run(..))) {
            self.saved.start = None;
        }
    }

    /// Announces a run forward from the start and back with gradient words, of which the one at this address is not zero, which begins again if code for it comes.
    pub(crate) fn plan_forward_and_back(&mut self, seed: usize) {
        self.saved.start = None;
        self.set_ad_mode(AdMode::Plain);
        self.begin(Direction::Forward);
        self.plan(self.forward_and_back(std::iter::once(seed)));
    }

    /// Whether a run that is announced may begin again.
    pub(crate) fn is_planned(&self) -> bool {
        self.saved.start.is_some()
    }

    /// Whether such a run has stopped so that it can begin again.
    pub(crate) fn is_stopped(&self) -> bool {
        self.saved.start.as_ref().is_some_and(|start| start.stopped)
    }

    /// After such a run has stopped at a trap on the way back: makes the code that may come, and begins again with it. It makes no gradient words
    /// that nobody asks for, so that one of them that has no value does not stop it. Whether that counts must not depend on when the code comes.
    pub(crate) fn begins_again_after_trap(&mut self) -> bool {
        let trapped = std::mem::take(&mut self.saved.trapped_back);
        let Some(kind @ RunKind::ForwardAndBack(active)) = self.planned().filter(|_| trapped) else { return false };
        let Some(whole) = self.program.whole() else { return false };
        let carries = |words: &Range<usize>| whole.carries().iter().any(|r| r.start < words.end && words.start < r.end);
        let is_asked_for = |(n, words): (usize, &Range<usize>)| {
            ActiveArguments::bit(n) & (active.independent | active.dependent) != 0 || !carries(words)
        };
        if whole.arguments().iter().enumerate().all(is_asked_for) {
            return false;
        }
        whole.make(kind);
        if !whole.has(kind) {
            return false;
        }
        tracing::info!("the run stopped on the way back: it is made again with code for the whole run");
        self.return_to_start();
        true
    }

    /// Ends such a run. Returns true if it has stopped so that it can begin again; the machine is then at its start.
    pub(crate) fn begins_again(&mut self) -> bool {
        let stopped = self.is_stopped();
        if stopped {
            self.return_to_start();
        }
        self.saved.start = None;
        stopped
    }

    /// Restores what the planned run began with; it is planned no more.
    fn return_to_start(&mut self) {
        let Some(start) = self.saved.start.take() else { return };
        let top = self.program.module().data.len();
        let core = &mut self.core;
        core.regs = [0; Reg::PLACES];
        core.regs[Reg::SP.index()] = top as u64;
        core.mem[..top].copy_from_slice(&start.data);
        clear(&mut core.mem[top..]);
        for (lane, words) in core.lanes.iter_mut().zip(&start.lanes) {
            lane.regs = [0; Reg::PLACES];
            clear(&mut lane.mem);
            if let Some(mem) = lane.mem.get_mut(..words.len()) {
                mem.copy_from_slice(words);
            }
        }
        core.rests = start.rests;
        (core.carried_op, core.inexact_op) = start.noted;
        core.overflow_op = 0;
        core.lost = start.lost;
        core.pending = 0;
        set_ad_mode(core, self.program, start.ad_mode);
        self.core.allocate(start.ad_mode);
        self.core.forward = start.forward;
        (self.position, self.halted, self.begun) = (start.position, start.halted, start.begun);
        (self.counts, self.singles) = (start.counts, start.singles);
        (self.executed, self.engine_counts) = (start.executed, start.engine_counts);
        (self.saved.only_data, self.saved.gradients) = (true, None);
    }
}
