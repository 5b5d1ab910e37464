//! Whole runs by code that knows nothing of blocks and counts: from one end of the
//! program to the other, or not at all.

use std::ops::Range;

use pendula_isa::adjoint::{Carriage, LANES};
use pendula_isa::counts::Direction;
use pendula_isa::types::Reg;

use crate::core::Dropped;
use crate::machine::{Machine, Position};

/// Code that runs a program from `start` to `finish`, or back.
///
/// Between the two nothing lives but the words of the data segment: registers are zero, the stack pointer aside, and so is the memory
/// behind the data.
pub trait Whole: Send + Sync {
    /// Whether there is code for runs like this one.
    fn has(&self, direction: Direction, carriage: Carriage) -> bool;

    /// The data that a run without what words carry may change, while it runs or in the end.
    fn changes(&self) -> &[Range<usize>];

    /// Runs. Gives whether it came to the end; if not, anything may be in the memory and the lanes, and the machine brings them back and
    /// runs the program to where it traps. `top` is where the memory behind the data begins; lanes are those of the carriage, in
    /// the order of [`Carriage::lanes`].
    fn run(
        &self,
        direction: Direction,
        carriage: Carriage,
        memory: &mut [u64],
        lanes: &mut [&mut [u64]],
        top: usize,
    ) -> bool;
}

/// What a machine keeps for whole runs.
#[derive(Default)]
pub(crate) struct Saved {
    data: Vec<u64>,
    lanes: Vec<Vec<u64>>,
}

impl Machine<'_> {
    /// Lets whole runs be made by the program's code for them ([`crate::Program::set_whole`]), where it has any. Such runs count nothing, and
    /// do not note where [`crate::Flags::inexact`] was raised.
    pub fn allow_whole(&mut self, allow: bool) {
        self.whole = allow;
    }

    /// Whether it may be.
    pub fn allows_whole(&self) -> bool {
        self.whole
    }

    /// Runs the program to its end by code for whole runs, if that can be; else nothing has changed.
    pub(crate) fn run_whole(&mut self) -> bool {
        let Some(whole) = self.program.whole() else { return false };
        let (direction, carriage) = (self.direction(), self.core.carriage);
        if !self.is_plain_start() || !whole.has(direction, carriage) {
            return false;
        }
        let top = self.program.module().data.len();
        self.core.allocate(carriage);
        let core = &mut self.core;
        let saved = &mut self.saved;
        let changes: Vec<Range<usize>> =
            if carriage == Carriage::Plain { whole.changes().to_vec() } else { std::iter::once(0..top).collect() };
        saved.data.clear();
        changes.iter().for_each(|r| saved.data.extend_from_slice(&core.mem[r.clone()]));
        saved.lanes.resize(carriage.lanes().len(), Vec::new());
        let mut given: [Option<&mut [u64]>; LANES] = [const { None }; LANES];
        for (n, lane) in core.lanes.iter_mut().enumerate() {
            given[n + 1] = Some(&mut lane.mem);
        }
        let mut lanes: Vec<&mut [u64]> = Vec::new();
        for (lane, saved) in carriage.lanes().iter().zip(&mut saved.lanes) {
            let Some(lane) = given[*lane].take() else { return false };
            saved.clear();
            saved.extend_from_slice(&lane[..top]);
            lanes.push(lane);
        }
        if whole.run(direction, carriage, &mut core.mem, &mut lanes, top) {
            let [forward, backward] = self.program.decoded.entry.unwrap_or([0, 0]);
            let half = self.program.decoded.blocks.len() as u32;
            // The end of a run is where one the other way begins.
            let block = if direction == Direction::Forward { backward - half } else { forward + half };
            self.position = Position { block, k: self.code(block).len };
            self.halted = true;
            return true;
        }
        for (lane, saved) in lanes.into_iter().zip(&saved.lanes) {
            lane[..top].copy_from_slice(saved);
            lane[top..].fill(0);
        }
        let mut from = saved.data.as_slice();
        for range in changes {
            let (now, rest) = from.split_at(range.len());
            core.mem[range].copy_from_slice(now);
            from = rest;
        }
        core.mem[top..].fill(0);
        false
    }

    /// Whether the machine stands at an end of the program, with nothing living but data.
    fn is_plain_start(&mut self) -> bool {
        let entry = self.program.decoded.entry.unwrap_or([0, 0]);
        let core = &self.core;
        let top = self.program.module().data.len();
        let at_end = self.position == Position { block: entry[usize::from(!core.forward)], k: 0 } && !self.halted;
        let usual = core.checks
            && !core.env.ieee
            && core.overflow_op == 0
            && matches!(core.dropped, Dropped::Lost)
            && core.mem.len() >= top;
        let registers = core.regs.iter().enumerate();
        let clear = registers.into_iter().all(|(n, w)| *w == if n == Reg::SP.index() { top as u64 } else { 0 });
        let carried = core.lanes.iter().all(|l| {
            l.regs.iter().all(|w| *w == 0) && l.mem.get(top..).is_none_or(|rest| rest.iter().all(|w| *w == 0))
        });
        at_end && usual && clear && carried && core.mem[top..].iter().all(|w| *w == 0)
    }
}
