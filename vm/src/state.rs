//! The state that instructions work on: registers, memory, tapes, lanes, and the flags of a run. The position is in `machine`.

use pendula_isa::adjoint::{AdMode, LANES};
use pendula_isa::num::Word;
use pendula_isa::types::Reg;
use pendula_isa::{Env, Fault};

use crate::cells::Cells;
use crate::decode::Op;
use crate::event::{Flags, Listener, RoundingResidues};
use crate::extension::Shared;
use crate::lanes::{Dropped, Lane};
use crate::orders::Orders;

/// Registers, memory, tapes.
pub(crate) struct Core {
    /// Those of programs, then the local ones of extensions, which are zero between instructions.
    pub(crate) regs: [u64; Reg::PLACES],
    /// The uses of extensions in the program, for the AD mode.
    pub(crate) extensions: Shared,
    /// The note of the extension that runs, by which its steps are noted; 0 for none.
    pub(crate) within: usize,
    /// The gradient words that the extension that runs has dropped or restored so far, each with its lane.
    pub(crate) drops: Vec<(usize, u64)>,
    /// After a fault in an extension: the number of the step, and the local registers.
    pub(crate) failed_step: Option<usize>,
    pub(crate) failed_words: [u64; Reg::PLACES - Reg::COUNT],
    pub(crate) mem: Vec<u64>,
    /// Lanes 1 to 3.
    pub(crate) lanes: [Lane; LANES - 1],
    /// Lanes 4 and on: the coefficients of jets from the second on. Empty unless words carry jets.
    pub(crate) more: Vec<Lane>,
    /// What words carry beside tangents, if anything.
    pub(crate) orders: Option<Box<Orders>>,
    pub(crate) ad_mode: AdMode,
    pub(crate) dropped: Dropped,
    pub(crate) env: Env,
    pub(crate) output: Vec<u64>,
    pub(crate) input: Vec<u64>,
    /// The number of words of the input tape that have been read.
    pub(crate) read: usize,
    /// The branch register: the distance to the next instruction; 0 for the one that follows.
    pub(crate) br: i32,
    /// The cells beyond the memory, and which cells hold instructions.
    pub(crate) cells: Cells,
    pub(crate) forward: bool,
    /// Whether `show` also shows in a backward run.
    pub(crate) shows_back: bool,
    pub(crate) checks: bool,
    pub(crate) trap_overflow: bool,
    /// The first decoded instruction at which a fixed-point number wrapped: its offset in bytes plus 1; 0 for none.
    pub(crate) overflow_op: usize,
    /// The same for a gradient word or tangent that wrapped.
    pub(crate) carried_op: usize,
    /// The same for a `zero.f` that cleared a number other than +0.0.
    pub(crate) inexact_op: usize,
    pub(crate) rests: RoundingResidues,
    /// The bits destroyed by each instruction; empty while there are none.
    pub(crate) lost: Vec<u64>,
    /// The host address of the first decoded instruction, the base of the offsets above.
    pub(crate) base: usize,
    pub(crate) instructions: u32,
    /// After a fault: the number of instructions of the slice that have not run.
    pub(crate) pending: usize,
    pub(crate) listener: Option<Listener>,
}

impl Core {
    #[inline(always)]
    pub(crate) fn reg(&self, number: u8) -> u64 {
        self.regs[usize::from(number) % Reg::PLACES]
    }

    #[inline(always)]
    pub(crate) fn load(&self, address: u64) -> Word {
        match usize::try_from(address).ok().and_then(|a| self.mem.get(a)) {
            Some(&w) => Ok(w),
            None => Err(Fault::Memory),
        }
    }

    #[inline(always)]
    pub(crate) fn store(&mut self, address: u64, word: u64) -> Result<(), Fault> {
        match usize::try_from(address).ok().and_then(|a| self.mem.get_mut(a)) {
            Some(w) => {
                *w = word;
                Ok(())
            }
            None => Err(Fault::Memory),
        }
    }

    /// The word in the cell at an address modulo 2^32.
    #[inline(always)]
    pub(crate) fn cell(&self, address: u64) -> Word {
        let at = address as u32;
        if self.cells.is_code(at) {
            return Err(Fault::ExchangesCode);
        }
        Ok(self.mem.get(at as usize).copied().unwrap_or_else(|| self.cells.get(at)))
    }

    /// Writes a cell, after [`Core::cell`] has checked it.
    #[inline(always)]
    pub(crate) fn set_cell(&mut self, address: u64, word: u64) {
        let at = address as u32;
        match self.mem.get_mut(at as usize) {
            Some(w) => *w = word,
            None => self.cells.set(at, word),
        }
    }

    /// A lane other than the value's.
    #[inline(always)]
    pub(crate) fn lane(&self, lane: usize) -> &Lane {
        if lane < LANES { &self.lanes[lane - 1] } else { &self.more[lane - LANES] }
    }

    #[inline(always)]
    pub(crate) fn lane_mut(&mut self, lane: usize) -> &mut Lane {
        if lane < LANES { &mut self.lanes[lane - 1] } else { &mut self.more[lane - LANES] }
    }

    /// The word at an address in a lane other than the value's; zero if the lane has none.
    #[inline(always)]
    pub(crate) fn lane_load(&self, lane: usize, address: u64) -> u64 {
        usize::try_from(address).ok().and_then(|a| self.lane(lane).mem.get(a)).copied().unwrap_or(0)
    }

    #[inline(always)]
    pub(crate) fn lane_store(&mut self, lane: usize, address: u64, word: u64) {
        if let Some(w) = usize::try_from(address).ok().and_then(|a| self.lane_mut(lane).mem.get_mut(a)) {
            *w = word;
        }
    }

    /// Allocates the lanes of the AD mode.
    pub(crate) fn allocate(&mut self, ad_mode: AdMode) {
        for &lane in ad_mode.lanes() {
            self.lanes[lane - 1].allocate(self.mem.len());
        }
        self.more.iter_mut().for_each(|lane| lane.allocate(self.mem.len()));
    }

    /// The address of the instruction with the noted offset `op`.
    pub(crate) fn place(&self, op: usize) -> u32 {
        let offset = (op - 1) / size_of::<Op>();
        let n = self.instructions as usize;
        // The second half of the decoded program is the code in reverse order.
        (if offset < n { offset } else { 2 * n - 1 - offset }) as u32
    }

    /// The flags of the run.
    pub(crate) fn flags(&self) -> Flags {
        let first = |op: usize| (op != 0).then(|| self.place(op));
        Flags {
            overflow: first(self.overflow_op),
            carried: first(self.carried_op),
            inexact: first(self.inexact_op),
            rests: self.rests,
        }
    }

    /// The offset by which an instruction is noted.
    #[inline(always)]
    pub(crate) fn note(&self, op: &Op) -> usize {
        if self.within != 0 {
            return self.within;
        }
        std::ptr::from_ref(op).addr().wrapping_sub(self.base) + 1
    }

    /// Counts a word destroyed at `op`.
    #[cold]
    #[inline(never)]
    pub(crate) fn lose(&mut self, op: &Op) {
        let at = self.place(self.note(op)) as usize;
        self.lost.resize(self.instructions as usize, 0);
        if let Some(bits) = self.lost.get_mut(at) {
            *bits += 64;
        }
    }

    /// Notes that `zero.f` clears this number at `op`. Not inlined, so that the handlers save no registers for it.
    #[inline(never)]
    pub(crate) fn clear_residue(&mut self, op: &Op, v: u64) {
        self.lose(op);
        self.rests.add(v);
        if self.inexact_op == 0 {
            self.inexact_op = self.note(op);
        }
    }

    /// Notes that a fixed-point number wrapped at `op`; `carried` if it is a gradient word or tangent. It must not call anything, because
    /// handlers would have to save registers for a call.
    #[inline(always)]
    pub(crate) fn overflowed(&mut self, op: &Op, carried: bool) -> Result<(), Fault> {
        if self.trap_overflow {
            return Err(Fault::FixedOverflow);
        }
        if self.checks && self.overflow_op == 0 {
            self.overflow_op = self.note(op);
        }
        if carried && self.checks && self.carried_op == 0 {
            self.carried_op = self.note(op);
        }
        Ok(())
    }

    /// Whether another fixed-point number that wraps neither needs noting nor traps.
    #[cfg(feature = "jit")]
    pub(crate) fn is_quiet(&self) -> bool {
        let noted = self.overflow_op != 0 && (self.ad_mode == AdMode::Plain || self.carried_op != 0);
        !self.trap_overflow && (!self.checks || noted)
    }
}
