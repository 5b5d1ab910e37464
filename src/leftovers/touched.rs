//! The words that a run reads or writes.

use pendula_isa::inst::{Inst, Kind};
use pendula_isa::operand::Operand;
use pendula_isa::table::Row;
use pendula_isa::types::Reg;
use rustc_hash::FxHashSet;

use super::Word;

/// A set of addresses, most of which are small.
#[derive(Default)]
struct Addresses {
    /// A bit for each address below the size of the memory.
    low: Vec<u64>,
    /// The others: cells of the profile `pisa`.
    high: FxHashSet<u64>,
}

impl Addresses {
    fn new(memory: usize) -> Addresses {
        Addresses { low: vec![0; memory.div_ceil(64)], high: FxHashSet::default() }
    }

    fn add(&mut self, at: u64) {
        match usize::try_from(at / 64).ok().and_then(|n| self.low.get_mut(n)) {
            Some(bits) => *bits |= 1 << (at % 64),
            None => _ = self.high.insert(at),
        }
    }

    fn remove(&mut self, at: u64) {
        match usize::try_from(at / 64).ok().and_then(|n| self.low.get_mut(n)) {
            Some(bits) => *bits &= !(1 << (at % 64)),
            None => _ = self.high.remove(&at),
        }
    }

    fn count(&self) -> u64 {
        self.low.iter().map(|bits| u64::from(bits.count_ones())).sum::<u64>() + self.high.len() as u64
    }
}

/// The words that a run has read or written so far.
pub(crate) struct Touched {
    memory: Addresses,
    written: Addresses,
    /// A bit for each register that was written.
    registers: u64,
}

impl Touched {
    /// For a memory of this many words.
    pub(crate) fn new(memory: usize) -> Touched {
        Touched { memory: Addresses::new(memory), written: Addresses::new(memory), registers: 0 }
    }

    /// The number of words of memory that were read or written.
    pub(crate) fn memory(&self) -> u64 {
        self.memory.count()
    }

    /// The numbers of registers and of words of memory that were written, and not left out since.
    pub(super) fn written(&self) -> (u64, u64) {
        (u64::from(self.registers.count_ones()), self.written.count())
    }

    /// Counts words as touched.
    pub(crate) fn add(&mut self, addresses: impl Iterator<Item = u64>) {
        addresses.for_each(|at| self.memory.add(at));
    }

    /// Counts a word as not written.
    pub(super) fn leave_out(&mut self, word: Word) {
        match word {
            Word::Reg(r) => self.registers &= !(1 << r),
            Word::Mem(at) => self.written.remove(at),
        }
    }

    /// An instruction has run, with these registers before and after it.
    pub(crate) fn ran(&mut self, inst: &Inst, before: &[u64; Reg::COUNT], after: &[u64; Reg::COUNT]) {
        for (slot, operand) in inst.operands() {
            match operand {
                Operand::Mem { base, index, offset } => {
                    let base = before[base.index()].wrapping_add(before[index.index()]);
                    let at = base.wrapping_add(offset.cast_unsigned());
                    self.memory.add(at);
                    if slot.is_written() {
                        self.written.add(at);
                    }
                }
                Operand::Reg(r) if r != Reg::ZERO && r != Reg::SP && slot.is_written() => {
                    self.registers |= 1 << r.index();
                }
                Operand::Reg(_)
                | Operand::Imm(..)
                | Operand::Small(_)
                | Operand::Factor(_)
                | Operand::Label(_)
                | Operand::Text(_) => {}
            }
        }
        match inst.kind {
            // A cell by the address in a register.
            Kind::Row { row: Row::Exch32, .. } => {
                let address = inst.operands().nth(1);
                if let Some((_, Operand::Reg(r))) = address {
                    let at = u64::from(before[r.index()] as u32);
                    self.memory.add(at);
                    self.written.add(at);
                }
            }
            // The slot of the stack that is filled or emptied.
            Kind::Row { row, .. } if row.info().moves_sp => {
                let (before, after) = (before[Reg::SP.index()], after[Reg::SP.index()]);
                if before != after {
                    self.memory.add(before.min(after));
                    self.written.add(before.min(after));
                }
            }
            Kind::Row { .. } | Kind::Accumulate { .. } | Kind::Extension { .. } => {}
        }
    }
}
