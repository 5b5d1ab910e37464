//! Whole runs by code that knows nothing of blocks and counts: from one end of the
//! program to the other, or forward and back at once, or not at all.

use std::ops::Range;

use pendula_isa::adjoint::{AdMode, GRADIENT, LANES};
use pendula_isa::counts::Direction;
use pendula_isa::types::Reg;
use pendula_isa::words::clear;

use crate::core::{Dropped, Lane};
use crate::machine::{Machine, Position};

/// What a whole run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunKind {
    /// From one end to the other.
    Run(Direction, AdMode),
    /// Forward, values alone, and back with gradient words.
    ThereAndBack,
}

impl RunKind {
    /// What words carry, at the end if that changes on the way.
    pub const fn ad_mode(self) -> AdMode {
        match self {
            RunKind::Run(_, ad_mode) => ad_mode,
            RunKind::ThereAndBack => AdMode::Gradient,
        }
    }
}

/// Code that runs a program from `start` to `finish`, or back.
///
/// Between the two nothing lives but the words of the data segment: registers are zero, the stack pointer aside, and so is the memory
/// behind the data.
pub trait WholeProgram: Send + Sync {
    /// Whether there is code for runs like this one.
    fn has(&self, course: RunKind) -> bool;

    /// The data of which a run may change the values, while it runs or in the end.
    fn changes(&self) -> &[Range<usize>];

    /// The data of which a run may change what words carry: all that may carry anything.
    fn carries(&self) -> &[Range<usize>];

    /// Doubles among the data that changes that runs may leave infinite or NaN, because they do not look: such runs have not come to the end.
    fn unchecked(&self) -> &[Range<usize>];

    /// Whether runs there and back may leave anything in the data that changes: the machine then brings it back.
    fn leaves_values(&self) -> bool;

    /// Runs. Gives whether it came to the end; if not, anything may be in the memory and the lanes, and the machine brings them back and
    /// runs the program to where it traps. `top` is where the memory behind the data begins. Of the lanes, the first is that after the
    /// values; those that the course does not carry are not touched. On the way there and back, `turned` gets the data that changes as it
    /// is in between.
    fn run(
        &self,
        course: RunKind,
        memory: &mut [u64],
        lanes: [&mut [u64]; LANES - 1],
        top: usize,
        turned: &mut [u64],
    ) -> bool;
}

/// What a machine keeps for whole runs.
#[derive(Default)]
pub(crate) struct Saved {
    data: Vec<u64>,
    lanes: [Vec<u64>; LANES - 1],
    /// The data as it was where the last run there and back turned round; of what changes only.
    turned: Vec<u64>,
    /// Whether it is known that nothing lives but data.
    pub(crate) rest: bool,
    /// Whether it is known that of the gradient words only those are not zero that whole runs may change.
    pub(crate) few: bool,
}

impl Machine<'_> {
    /// Lets whole runs be made by the program's code for them ([`crate::Program::set_whole`]), where it has any. Such runs count nothing, and
    /// do not note where [`crate::Flags::inexact`] was raised, nor [`crate::Flags::rests`].
    pub fn allow_whole(&mut self, allow: bool) {
        self.whole = allow;
    }

    /// Whether it may be.
    pub fn allows_whole(&self) -> bool {
        self.whole
    }

    /// Runs the program forward from its start, and back with gradient words, these being the ones in between, by address; all others are
    /// zero. Gives whether that could be done, by code for whole runs; if not, nothing has changed. Afterwards the machine is as after the two
    /// runs, and [`Machine::turned_word`] has what was in between.
    pub fn there_and_back(&mut self, seeds: &[(usize, u64)]) -> bool {
        let Some(whole) = self.program.whole() else { return false };
        let course = RunKind::ThereAndBack;
        let top = self.program.module().data.len();
        let known = seeds.iter().all(|(at, _)| whole.carries().iter().any(|r| r.contains(at)));
        if !self.whole || !known || !whole.has(course) {
            return false;
        }
        let before = (self.position, self.core.forward, self.halted);
        self.begin(Direction::Forward);
        if !self.is_plain_start() {
            (self.position, self.core.forward, self.halted) = before;
            return false;
        }
        for (n, lane) in self.core.lanes.iter_mut().enumerate() {
            if n + 1 != GRADIENT || lane.mem.len() != self.core.mem.len() {
                *lane = Lane::EMPTY;
                lane.allocate(if n + 1 == GRADIENT { self.core.mem.len() } else { 0 });
            } else if self.saved.few {
                whole.carries().iter().for_each(|r| lane.mem[r.clone()].fill(0));
            } else {
                clear(&mut lane.mem[..top]);
            }
        }
        let core = &mut self.core;
        for (at, word) in seeds {
            core.lanes[GRADIENT - 1].mem[*at] = *word;
        }
        let saved = &mut self.saved;
        let changes = whole.changes();
        copy(changes, &core.mem, &mut saved.data);
        saved.turned.resize(changes.last().map_or(0, |r| r.end), 0);
        let lanes = core.lanes.each_mut().map(|l| l.mem.as_mut_slice());
        if whole.run(course, &mut core.mem, lanes, top, &mut saved.turned)
            && are_finite(whole.unchecked(), &saved.turned)
        {
            if whole.leaves_values() {
                restore(changes, &saved.data, &mut core.mem);
            }
            self.carry(AdMode::Gradient);
            self.core.forward = false;
            self.stop_at_end();
            self.ran.whole += 1;
            self.saved.few = true;
            return true;
        }
        clear(&mut core.lanes[GRADIENT - 1].mem);
        restore(changes, &saved.data, &mut core.mem);
        clear(&mut core.mem[top..]);
        (self.position, self.core.forward, self.halted) = before;
        false
    }

    /// The data word at an address as it was where the last run by [`Machine::there_and_back`] turned round.
    pub fn turned_word(&self, address: usize) -> u64 {
        let changes = self.program.whole().map_or(&[][..], |w| w.changes());
        let words = if changes.iter().any(|r| r.contains(&address)) { &self.saved.turned } else { &self.core.mem };
        words.get(address).copied().unwrap_or(0)
    }

    /// Runs the program to its end by code for whole runs, where that is allowed and can be; else nothing has changed, and [`Machine::run`]
    /// runs it with a limit or without.
    pub fn run_as_whole(&mut self) -> bool {
        self.whole && self.run_whole()
    }

    fn run_whole(&mut self) -> bool {
        let Some(whole) = self.program.whole() else { return false };
        let ad_mode = self.core.ad_mode;
        let course = RunKind::Run(self.direction(), ad_mode);
        if !self.is_plain_start() || !whole.has(course) {
            return false;
        }
        let top = self.program.module().data.len();
        self.core.allocate(ad_mode);
        let core = &mut self.core;
        let saved = &mut self.saved;
        copy(whole.changes(), &core.mem, &mut saved.data);
        for lane in ad_mode.lanes() {
            copy(whole.carries(), &core.lanes[*lane - 1].mem, &mut saved.lanes[*lane - 1]);
        }
        let lanes = core.lanes.each_mut().map(|l| l.mem.as_mut_slice());
        if whole.run(course, &mut core.mem, lanes, top, &mut []) && are_finite(whole.unchecked(), &core.mem) {
            self.stop_at_end();
            self.ran.whole += 1;
            return true;
        }
        restore(whole.changes(), &saved.data, &mut core.mem);
        clear(&mut core.mem[top..]);
        for lane in ad_mode.lanes() {
            let mem = &mut core.lanes[*lane - 1].mem;
            restore(whole.carries(), &saved.lanes[*lane - 1], mem);
            clear(&mut mem[top..]);
        }
        false
    }

    /// Puts the machine where a run in its direction has ended.
    fn stop_at_end(&mut self) {
        let [forward, backward] = self.program.decoded.entry.unwrap_or([0, 0]);
        let half = self.program.decoded.blocks.len() as u32;
        // The end of a run is where one the other way begins.
        let block = if self.core.forward { backward - half } else { forward + half };
        self.position = Position { block, k: self.code(block).len };
        self.halted = true;
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
        if !at_end || !usual {
            return false;
        }
        if !self.saved.rest {
            let registers = core.regs.iter().enumerate();
            let clear = registers.into_iter().all(|(n, w)| *w == if n == Reg::SP.index() { top as u64 } else { 0 });
            let carried = core.lanes.iter().all(|l| {
                l.regs.iter().all(|w| *w == 0) && l.mem.get(top..).is_none_or(|rest| rest.iter().all(|w| *w == 0))
            });
            self.saved.rest = clear && carried && core.mem[top..].iter().all(|w| *w == 0);
        }
        self.saved.rest
    }
}

fn are_finite(ranges: &[Range<usize>], words: &[u64]) -> bool {
    ranges.iter().all(|r| words[r.clone()].iter().all(|w| f64::from_bits(*w).is_finite()))
}

fn copy(ranges: &[Range<usize>], from: &[u64], to: &mut Vec<u64>) {
    to.clear();
    ranges.iter().for_each(|r| to.extend_from_slice(&from[r.clone()]));
}

fn restore(ranges: &[Range<usize>], mut from: &[u64], to: &mut [u64]) {
    for range in ranges {
        let (now, rest) = from.split_at(range.len());
        to[range.clone()].copy_from_slice(now);
        from = rest;
    }
}
