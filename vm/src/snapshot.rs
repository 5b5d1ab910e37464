//! Copies of a machine's values, and a machine made as new from one.

use pendula_isa::adjoint::AdMode;
use pendula_isa::counts::Direction;
use pendula_isa::types::Reg;
use pendula_isa::words::{SparseWords, clear};

use crate::cells::Cells;
use crate::config::ConfigError;
use crate::event::Rests;
use crate::lanes::{Dropped, Lane};
use crate::machine::{Machine, Ran};
use crate::run::carry;

/// Words from which on a memory is allocated anew, not cleared: the system gives so many as pages that are zero until they are used.
const LARGE: usize = 1 << 22;

/// A copy of a machine's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The registers.
    pub regs: [u64; Reg::COUNT],
    /// The memory.
    pub mem: SparseWords,
    output: Vec<u64>,
    input: Vec<u64>,
    read: usize,
    cells: Cells,
}

impl Snapshot {
    /// How many registers, words of memory and cells differ in two copies of a machine's values.
    pub fn difference(&self, other: &Snapshot) -> u64 {
        let registers = self.regs.iter().zip(&other.regs).filter(|(a, b)| a != b).count() as u64;
        registers + self.mem.differences(&other.mem).count() as u64 + self.cells.difference(&other.cells)
    }
}

impl Machine<'_> {
    /// A copy of the values: registers, memory and tapes, not what they carry.
    pub fn snapshot(&self) -> Snapshot {
        let core = &self.core;
        let (output, input) = (core.output.clone(), core.input.clone());
        Snapshot {
            regs: core.regs,
            mem: SparseWords::from(&core.mem[..]),
            output,
            input,
            read: core.read,
            cells: core.cells.clone(),
        }
    }

    /// Brings a copy of the values back. What words carry stays.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        let old = &mut self.core.mem;
        old.resize(snapshot.mem.len(), 0);
        snapshot.mem.copy_to(old);
        self.restore_state(snapshot);
    }

    fn restore_state(&mut self, snapshot: &Snapshot) {
        self.saved.only_data = false;
        self.core.regs = snapshot.regs;
        self.core.output.clone_from(&snapshot.output);
        self.core.input.clone_from(&snapshot.input);
        self.core.read = snapshot.read;
        self.core.cells.clone_from(&snapshot.cells);
    }

    /// Makes the machine as a new one is, about to run forward, but with these values and with `words` words of memory: those of the
    /// snapshot (which must not have more), then zeros. Nothing is left of earlier runs: words carry nothing, no gradient words are kept, flags and counts
    /// are clear, and nobody listens. Only code that an engine has made stays, which no run can tell.
    ///
    /// Takes time in proportion to the memory, which is why [`Config::mem`](crate::Config::mem) is worth a thought where runs are short and many.
    ///
    /// # Errors
    /// A memory that the host has not, or that has no room for the snapshot's; then the machine is as it was.
    pub fn reset(&mut self, start: &Snapshot, words: usize) -> Result<(), ConfigError> {
        let (data, mem) = (start.mem.len() as u64, words as u64);
        let more = words.checked_sub(start.mem.len()).ok_or(ConfigError::TooSmall { data, mem })?;
        let old = &mut self.core.mem;
        if words >= LARGE && more > 0 {
            // Asks first, because the allocation would abort.
            Vec::<u64>::new().try_reserve_exact(words).map_err(|_| ConfigError::Allocate(mem))?;
            *old = Vec::new();
            *old = vec![0; words];
            start.mem.copy_to(&mut old[..start.mem.len()]);
        } else {
            old.try_reserve_exact(words.saturating_sub(old.len())).map_err(|_| ConfigError::Allocate(mem))?;
            old.resize(words, 0);
            let (copied, rest) = old.split_at_mut(start.mem.len());
            start.mem.copy_to(copied);
            clear(rest);
        }
        self.restore_state(start);
        let core = &mut self.core;
        core.lanes.fill_with(|| Lane::EMPTY);
        core.dropped = Dropped::Discarded;
        core.overflow_op = 0;
        core.carried_op = 0;
        core.inexact_op = 0;
        core.rests = Rests::default();
        core.lost.clear();
        core.pending = 0;
        core.listener = None;
        carry(core, self.program, AdMode::Plain);
        if self.counting {
            self.counts.iter_mut().for_each(Vec::clear);
        }
        self.singles.clear();
        self.executed = 0;
        self.ran = Ran::default();
        self.halted = false;
        self.begin(Direction::Forward);
        Ok(())
    }
}
