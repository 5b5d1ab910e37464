//! Copies of a machine's values, and resetting a machine to one.

use pendula_isa::adjoint::AdMode;
use pendula_isa::counts::Direction;
use pendula_isa::types::Reg;
use pendula_isa::words::{SparseWords, clear};

use crate::cells::Cells;
use crate::config::ConfigError;
use crate::event::RoundingResidues;
use crate::lanes::{Dropped, Lane};
use crate::machine::{EngineCounts, Machine};
use crate::run::set_ad_mode;

/// The number of words from which on a memory is reallocated instead of cleared: the system provides zero pages on demand.
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
    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        8 * (self.mem.stored() + self.output.len() + self.input.len() + self.cells.stored())
    }

    /// The number of registers, words of memory and cells that differ between two snapshots.
    pub fn difference(&self, other: &Snapshot) -> u64 {
        let registers = self.regs.iter().zip(&other.regs).filter(|(a, b)| a != b).count() as u64;
        registers + self.mem.differences(&other.mem).count() as u64 + self.cells.difference(&other.cells)
    }
}

impl Machine<'_> {
    /// A copy of the values: registers, memory and tapes, without lanes.
    pub fn snapshot(&self) -> Snapshot {
        let core = &self.core;
        let (output, input) = (core.output.clone(), core.input.clone());
        Snapshot {
            regs: core.regs.first_chunk().copied().unwrap_or_default(),
            mem: SparseWords::from(&core.mem[..]),
            output,
            input,
            read: core.read,
            cells: core.cells.clone(),
        }
    }

    /// Whether the values are those of a snapshot.
    pub fn has_values(&self, snapshot: &Snapshot) -> bool {
        let core = &self.core;
        core.regs[..Reg::COUNT] == snapshot.regs
            && snapshot.mem.is_equal(&core.mem)
            && core.output == snapshot.output
            && core.input == snapshot.input
            && core.read == snapshot.read
            && core.cells == snapshot.cells
    }

    /// Restores the values of a snapshot. Lanes stay as they are.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        let old = &mut self.core.mem;
        old.resize(snapshot.mem.len(), 0);
        snapshot.mem.copy_to(old);
        self.restore_state(snapshot);
    }

    fn restore_state(&mut self, snapshot: &Snapshot) {
        self.drop_planned_run();
        let top = self.program.module().data.len();
        let plain =
            snapshot.regs.iter().enumerate().all(|(n, w)| *w == if n == Reg::SP.index() { top as u64 } else { 0 });
        self.saved.only_data &= plain && snapshot.mem.trimmed_len() <= top;
        self.core.regs[..Reg::COUNT].copy_from_slice(&snapshot.regs);
        self.core.output.clone_from(&snapshot.output);
        self.core.input.clone_from(&snapshot.input);
        self.core.read = snapshot.read;
        self.core.cells.clone_from(&snapshot.cells);
    }

    /// Resets the machine to a new one that is about to run forward, with these values and `words` words of memory: those of the snapshot
    /// (which must not have more), then zeros. Lanes, the record of dropped gradient words, flags, counts and the event callback are
    /// cleared. Only generated code stays, which does not affect runs.
    ///
    /// The time is proportional to the memory, so a small [`Config::mem`](crate::Config::mem) pays off for many short runs.
    ///
    /// # Errors
    /// If the host cannot allocate the memory, or the snapshot does not fit. The machine is unchanged then.
    pub fn reset(&mut self, start: &Snapshot, words: usize) -> Result<(), ConfigError> {
        let (data, mem) = (start.mem.len() as u64, words as u64);
        let more = words.checked_sub(start.mem.len()).ok_or(ConfigError::TooSmall { data, mem })?;
        let old = &mut self.core.mem;
        if words >= LARGE && more > 0 {
            // Test first, because a failure of the allocation would abort.
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
        // Nothing is left of what the machine had.
        self.saved.only_data = true;
        self.restore_state(start);
        let core = &mut self.core;
        for lane in &mut core.lanes {
            // What has the size that is needed is likely to be needed again.
            if lane.mem.len() == words && words < LARGE {
                lane.regs = Lane::EMPTY.regs;
                clear(&mut lane.mem);
                lane.output.clear();
            } else {
                *lane = Lane::EMPTY;
            }
        }
        core.more.clear();
        core.orders = None;
        core.dropped = Dropped::Discarded;
        core.overflow_op = 0;
        core.carried_op = 0;
        core.inexact_op = 0;
        core.rests = RoundingResidues::default();
        core.lost.clear();
        core.pending = 0;
        core.listener = None;
        set_ad_mode(core, self.program, AdMode::Plain);
        if self.counting {
            self.counts.iter_mut().for_each(Vec::clear);
        }
        self.singles.clear();
        self.executed = 0;
        self.engine_counts = EngineCounts::default();
        self.halted = false;
        self.begin(Direction::Forward);
        Ok(())
    }
}
