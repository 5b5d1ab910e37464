//! The words that a machine carries beside its values: the lanes, access to them from outside, and the record of gradient
//! words that `zero` drops.

use pendula_isa::adjoint::{AdMode, LANES, VALUE};
use pendula_isa::types::Reg;

use crate::machine::Machine;
use crate::run::carry;

/// The words that registers, memory and output tape carry in one lane beside their values.
pub(crate) struct Lane {
    pub(crate) regs: [u64; Reg::COUNT],
    /// As long as the memory once a run or a `gswap` has asked for the lane; before that empty, and all its words zero.
    pub(crate) mem: Vec<u64>,
    pub(crate) output: Vec<u64>,
}

impl Lane {
    pub(crate) const EMPTY: Lane = Lane { regs: [0; Reg::COUNT], mem: Vec::new(), output: Vec::new() };

    /// Whether every word is zero.
    pub(crate) fn is_clear(&self) -> bool {
        self.regs == [0; Reg::COUNT] && self.mem.iter().chain(&self.output).all(|w| *w == 0)
    }

    /// Makes room for a memory of this many words.
    pub(crate) fn allocate(&mut self, words: usize) {
        if self.mem.len() != words {
            self.mem = vec![0; words];
        }
    }
}

/// What becomes of the gradient words that `zero` drops.
#[derive(Clone, Debug, Default)]
pub(crate) enum Dropped {
    /// They are lost.
    #[default]
    Discarded,
    /// They are kept.
    Recorded(Records),
    /// They come back from where they were kept.
    Replayed(Records),
}

/// What was dropped from each lane. A stack of its own for each: a run at level 2 back over one at level 1 takes the gradient words
/// that were kept, and finds nothing kept of the lanes that the run at level 1 had not.
pub(crate) type Records = [Record; LANES - 1];

/// A stack of words most of which are zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    /// Words that are not zero, with the number of zeros before each.
    words: Vec<(u64, u64)>,
    /// Zeros after the last of them.
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

    /// How many words it holds that are not zero.
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }
}

impl Machine<'_> {
    /// Chooses what words carry in the run that begins next: gradient words of level 1 or 2, tangents. The words carried so far stay.
    pub fn carry(&mut self, ad_mode: AdMode) {
        carry(&mut self.core, self.program, ad_mode);
    }

    /// What words carry.
    pub fn ad_mode(&self) -> AdMode {
        self.core.ad_mode
    }

    /// What a register carries in a lane (0 to 3, see [`pendula_isa::adjoint`]); in lane 0 its value.
    pub fn lane_register(&self, lane: usize, reg: Reg) -> u64 {
        match lane.checked_sub(1) {
            None => self.core.regs[reg.index()],
            Some(n) => self.core.lanes[n].regs[reg.index()],
        }
    }

    /// Writes it; `r0` carries nothing.
    pub fn set_lane_register(&mut self, lane: usize, reg: Reg, word: u64) {
        self.saved.only_data = false;
        match lane.checked_sub(1) {
            _ if reg == Reg::ZERO => {}
            None => self.core.regs[reg.index()] = word,
            Some(n) => self.core.lanes[n].regs[reg.index()] = word,
        }
    }

    /// What the memory word at an address carries in a lane, 0 if nothing yet; in lane 0 its value.
    pub fn lane_word(&self, lane: usize, address: usize) -> u64 {
        let mem = if lane == VALUE { &self.core.mem } else { &self.core.lanes[lane - 1].mem };
        mem.get(address).copied().unwrap_or(0)
    }

    /// Writes it. An address outside the memory is left alone.
    pub fn set_lane_word(&mut self, lane: usize, address: usize, word: u64) {
        let words = self.core.mem.len();
        self.saved.only_data &= address < self.program.module().data.len();
        self.saved.gradients_confined = false;
        if let Some(n) = lane.checked_sub(1) {
            self.core.lanes[n].allocate(words);
        }
        let mem = if lane == VALUE { &mut self.core.mem } else { &mut self.core.lanes[lane - 1].mem };
        if let Some(w) = mem.get_mut(address) {
            *w = word;
        }
    }

    /// Forgets everything that is carried in a lane (1 to 3) and gives its memory back.
    pub fn clear_lane(&mut self, lane: usize) {
        self.core.lanes[lane - 1] = Lane::EMPTY;
        self.core.allocate(self.core.ad_mode);
    }

    /// Exchanges two lanes (1 to 3).
    pub fn exchange_lanes(&mut self, a: usize, b: usize) {
        self.saved.gradients_confined = false;
        self.core.lanes.swap(a - 1, b - 1);
        self.core.allocate(self.core.ad_mode);
    }

    /// Keeps the gradient words that `zero` drops from now on, so that running the other way brings them back.
    pub fn keep_dropped(&mut self) {
        self.core.dropped = Dropped::Recorded(Records::default());
    }

    /// Turns from keeping to bringing back (and the other way): the run that follows goes back over the one before.
    pub fn turn_dropped(&mut self) {
        self.core.dropped = match std::mem::take(&mut self.core.dropped) {
            Dropped::Discarded => Dropped::Discarded,
            Dropped::Recorded(records) => Dropped::Replayed(records),
            Dropped::Replayed(records) => Dropped::Recorded(records),
        };
    }

    /// Stops keeping dropped gradient words, and forgets those kept.
    pub fn lose_dropped(&mut self) {
        self.core.dropped = Dropped::Discarded;
    }

    /// How many gradient words other than zero are kept.
    pub fn dropped_words(&self) -> usize {
        match &self.core.dropped {
            Dropped::Discarded => 0,
            Dropped::Recorded(records) | Dropped::Replayed(records) => records.iter().map(Record::len).sum(),
        }
    }

    /// Whether what is carried in a lane (1 to 3) is zero everywhere.
    pub fn is_lane_clear(&self, lane: usize) -> bool {
        self.core.lanes[lane - 1].is_clear()
    }
}
