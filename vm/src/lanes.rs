//! The words that a machine carries beside its values: the lanes, access to them from outside, and the record of gradient
//! words that `zero` drops.

use std::ops::Range;

use pendula_isa::adjoint::{AdMode, GRADIENT, LANES, VALUE};
use pendula_isa::types::Reg;

use crate::machine::Machine;
use crate::run::set_ad_mode;

/// One lane: the words that registers, memory and output tape carry beside their values.
pub(crate) struct Lane {
    pub(crate) regs: [u64; Reg::PLACES],
    /// As long as the memory once a run or a `gswap` has used the lane. Before that it is empty and stands for zeros.
    pub(crate) mem: Vec<u64>,
    pub(crate) output: Vec<u64>,
}

impl Lane {
    pub(crate) const EMPTY: Lane = Lane { regs: [0; Reg::PLACES], mem: Vec::new(), output: Vec::new() };

    /// Whether every word is zero.
    pub(crate) fn is_clear(&self) -> bool {
        self.regs == [0; Reg::PLACES] && self.mem.iter().chain(&self.output).all(|w| *w == 0)
    }

    /// Allocates the lane for a memory of this many words.
    pub(crate) fn allocate(&mut self, words: usize) {
        if self.mem.len() != words {
            self.mem = vec![0; words];
        }
    }
}

/// What happens to the gradient words that `zero` drops.
#[derive(Clone, Debug, Default)]
pub(crate) enum Dropped {
    /// They are discarded.
    #[default]
    Discarded,
    /// They are recorded.
    Recorded(Records),
    /// Recorded words are restored.
    Replayed(Records),
}

impl Dropped {
    /// Takes back what was recorded, or restored, last: these words, each with its lane.
    pub(crate) fn take_back(&mut self, words: Vec<(usize, u64)>) {
        for (lane, word) in words.into_iter().rev() {
            match self {
                Dropped::Discarded => {}
                Dropped::Recorded(records) => _ = records[lane - 1].pop(),
                Dropped::Replayed(records) => records[lane - 1].push(word),
            }
        }
    }
}

/// The dropped words of each lane, in one stack per lane: a level 2 run back over a level 1 run takes the recorded gradient words, and
/// the stacks of the lanes that level 1 does not use are empty.
pub(crate) type Records = [Record; LANES - 1];

/// A stack of words, compact for runs of zeros.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    /// The words that are not zero, each with the number of zeros before it.
    words: Vec<(u64, u64)>,
    /// The number of zeros after the last of them.
    zeros: u64,
}

impl Record {
    pub(crate) fn push(&mut self, word: u64) {
        if word == 0 {
            self.zeros += 1;
        } else {
            self.words.push((self.zeros, word));
            self.zeros = 0;
        }
    }

    pub(crate) fn pop(&mut self) -> u64 {
        if let Some(zeros) = self.zeros.checked_sub(1) {
            self.zeros = zeros;
            return 0;
        }
        let Some((zeros, word)) = self.words.pop() else { return 0 };
        self.zeros = zeros;
        word
    }

    /// The number of words that are not zero.
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }
}

impl Machine<'_> {
    /// Chooses the AD mode of the next run: gradient words of level 1 or 2, tangents. The contents of the lanes stay.
    pub fn set_ad_mode(&mut self, ad_mode: AdMode) {
        self.drop_planned_run();
        set_ad_mode(&mut self.core, self.program, ad_mode);
    }

    /// The AD mode: what words carry.
    pub fn ad_mode(&self) -> AdMode {
        self.core.ad_mode
    }

    /// The word of a register in a lane (0 to 3, see [`pendula_isa::adjoint`]; from 4 on, coefficients of jets); lane 0 is the value.
    pub fn lane_register(&self, lane: usize, reg: Reg) -> u64 {
        match lane.checked_sub(1) {
            None => self.core.regs[reg.index()],
            Some(_) => self.core.lane(lane).regs[reg.index()],
        }
    }

    /// Writes the word of a register in a lane. Writes to `r0` have no effect.
    pub fn set_lane_register(&mut self, lane: usize, reg: Reg, word: u64) {
        self.saved.only_data = false;
        self.drop_planned_run();
        match lane.checked_sub(1) {
            _ if reg == Reg::ZERO => {}
            None => self.core.regs[reg.index()] = word,
            Some(_) => self.core.lane_mut(lane).regs[reg.index()] = word,
        }
    }

    /// The word at an address in a lane; lane 0 is the memory itself. 0 if the lane is not allocated.
    pub fn lane_word(&self, lane: usize, address: usize) -> u64 {
        let mem = if lane == VALUE { &self.core.mem } else { &self.core.lane(lane).mem };
        mem.get(address).copied().unwrap_or(0)
    }

    /// The gradient words of a stretch of memory; empty where no run or write has made any.
    pub fn gradient_words(&self, at: Range<usize>) -> &[u64] {
        self.core.lanes[GRADIENT - 1].mem.get(at).unwrap_or(&[])
    }

    /// Writes the word at an address in a lane. An address outside the memory is ignored.
    pub fn set_lane_word(&mut self, lane: usize, address: usize, word: u64) {
        let words = self.core.mem.len();
        self.saved.only_data &= address < self.program.module().data.len();
        self.saved.gradients = None;
        self.drop_planned_run();
        if lane != VALUE {
            self.core.lane_mut(lane).allocate(words);
        }
        let mem = if lane == VALUE { &mut self.core.mem } else { &mut self.core.lane_mut(lane).mem };
        if let Some(w) = mem.get_mut(address) {
            *w = word;
        }
    }

    /// Clears a lane (1 to 3) and frees its memory.
    pub fn clear_lane(&mut self, lane: usize) {
        self.drop_planned_run();
        self.core.lanes[lane - 1] = Lane::EMPTY;
        self.core.allocate(self.core.ad_mode);
    }

    /// Exchanges two lanes (1 to 3).
    pub fn exchange_lanes(&mut self, a: usize, b: usize) {
        self.drop_planned_run();
        self.saved.gradients = None;
        self.core.lanes.swap(a - 1, b - 1);
        self.core.allocate(self.core.ad_mode);
    }

    /// Records the gradient words that `zero` drops from now on, so that a run in the other direction can restore them.
    pub fn keep_dropped(&mut self) {
        self.core.dropped = Dropped::Recorded(Records::default());
    }

    /// Switches between recording and restoring: the next run goes back over the previous one.
    pub fn reverse_dropped(&mut self) {
        self.core.dropped = match std::mem::take(&mut self.core.dropped) {
            Dropped::Discarded => Dropped::Discarded,
            Dropped::Recorded(records) => Dropped::Replayed(records),
            Dropped::Replayed(records) => Dropped::Recorded(records),
        };
    }

    /// Stops recording dropped gradient words and discards the record.
    pub fn discard_dropped(&mut self) {
        self.core.dropped = Dropped::Discarded;
    }

    /// The number of recorded gradient words other than zero.
    pub fn dropped_words(&self) -> usize {
        match &self.core.dropped {
            Dropped::Discarded => 0,
            Dropped::Recorded(records) | Dropped::Replayed(records) => records.iter().map(Record::len).sum(),
        }
    }

    /// Whether a lane (1 to 3) is zero everywhere.
    pub fn is_lane_clear(&self, lane: usize) -> bool {
        self.core.lanes[lane - 1].is_clear()
    }
}
