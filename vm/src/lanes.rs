//! What words carry beside their values: access to the lanes of a machine, and
//! the record of gradient words that `zero` drops.

use pendula_isa::adjoint::{AdMode, VALUE};
use pendula_isa::types::Reg;

use crate::core::{Dropped, Lane, Record, Records};
use crate::machine::Machine;
use crate::run::carry;

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
        self.saved.rest = false;
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
        self.saved.rest &= address < self.program.module().data.len();
        self.saved.few = false;
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
        self.saved.few = false;
        self.core.lanes.swap(a - 1, b - 1);
        self.core.allocate(self.core.ad_mode);
    }

    /// Keeps the gradient words that `zero` drops from now on, so that running the other way brings them back.
    pub fn keep_dropped(&mut self) {
        self.core.dropped = Dropped::Kept(Records::default());
    }

    /// Turns from keeping to bringing back (and the other way): the run that follows goes back over the one before.
    pub fn turn_dropped(&mut self) {
        self.core.dropped = match std::mem::take(&mut self.core.dropped) {
            Dropped::Lost => Dropped::Lost,
            Dropped::Kept(records) => Dropped::Returned(records),
            Dropped::Returned(records) => Dropped::Kept(records),
        };
    }

    /// Stops keeping dropped gradient words, and forgets those kept.
    pub fn lose_dropped(&mut self) {
        self.core.dropped = Dropped::Lost;
    }

    /// How many gradient words other than zero are kept.
    pub fn dropped_words(&self) -> usize {
        match &self.core.dropped {
            Dropped::Lost => 0,
            Dropped::Kept(records) | Dropped::Returned(records) => records.iter().map(Record::len).sum(),
        }
    }

    /// Whether what is carried in a lane (1 to 3) is zero everywhere.
    pub fn is_lane_clear(&self, lane: usize) -> bool {
        self.core.lanes[lane - 1].is_clear()
    }
}
