//! Many gradients of one program: what is looked at for a run forward and back is looked at once for all.

use std::ops::Range;

use pendula_isa::adjoint::GRADIENT;
use pendula_isa::words::clear;

use crate::machine::{Machine, Position};
use crate::whole::{WholeCode, WholeEnd, are_finite, copy, restore};

/// A machine that makes runs forward and back with the same gradient words in between, by code for whole runs. Between them, the data may be
/// given other values. When this is dropped, the machine is as after the last run that succeeded ([`Machine::run_forward_and_back`]).
pub struct RepeatedGradient<'m, 'p> {
    machine: &'m mut Machine<'p>,
    code: &'p dyn WholeCode,
    carried: &'p [Range<usize>],
    changes: &'p [Range<usize>],
    unchecked: &'p [Range<usize>],
    seeds: Vec<(usize, u64)>,
    /// The end of the data.
    top: usize,
    runs: u64,
    before: (Position, bool, bool),
}

impl<'p> Machine<'p> {
    /// Begins many runs forward and back from the program's start. `seeds` are the gradient words after the forward run, by address; all
    /// others are zero. `None` if there is no code for such runs, or it is not allowed: nothing has changed then.
    pub fn repeat_forward_and_back(&mut self, seeds: &[(usize, u64)]) -> Option<RepeatedGradient<'_, 'p>> {
        let before = (self.position, self.core.forward, self.halted);
        let found = self.begin_forward_and_back(seeds).and_then(|(whole, kind)| Some((whole, whole.code(kind)?, kind)));
        let Some((whole, code, kind)) = found else {
            (self.position, self.core.forward, self.halted) = before;
            return None;
        };
        // Runs of another kind may have left gradient words elsewhere.
        self.clear_gradients();
        let top = self.program.module().data.len();
        Some(RepeatedGradient {
            machine: self,
            code,
            carried: whole.carries_in(kind),
            changes: whole.changes(),
            unchecked: whole.unchecked(),
            seeds: seeds.to_vec(),
            top,
            runs: 0,
            before,
        })
    }
}

impl RepeatedGradient<'_, '_> {
    /// Runs forward and back; the data is as before. Returns false if the code gave up; gradient words are zero then.
    /// [`Machine::run_forward_and_back`] may have other code for such a run.
    pub fn run(&mut self) -> bool {
        let (core, saved) = (&mut self.machine.core, &mut self.machine.saved);
        let gradients = &mut core.lanes[GRADIENT - 1].mem;
        self.carried.iter().for_each(|at| gradients[at.clone()].fill(0));
        self.seeds.iter().for_each(|(at, word)| gradients[*at] = *word);
        copy(self.changes, &core.mem, &mut saved.data);
        let lanes = core.lanes.each_mut().map(|lane| lane.mem.as_mut_slice());
        let end = self.code.run(&mut core.mem, lanes, self.top, &mut saved.midpoint);
        let by = if let WholeEnd::Reached(by) = end { Some(by) } else { None };
        let by = by.filter(|_| [&saved.midpoint, &core.mem].iter().all(|words| are_finite(self.unchecked, words)));
        let ran = by.is_some();
        if !ran {
            clear(&mut core.lanes[GRADIENT - 1].mem);
            clear(&mut core.mem[self.top..]);
        }
        restore(self.changes, &saved.data, &mut core.mem);
        self.runs += u64::from(ran);
        by.into_iter().for_each(|by| self.machine.engine_counts.count_whole(by));
        ran
    }

    /// Gives words of the data other values. Those outside of it are ignored.
    pub fn set_words(&mut self, address: usize, words: &[u64]) {
        let end = address.saturating_add(words.len()).min(self.top);
        if let Some(target) = self.machine.core.mem.get_mut(address..end) {
            target.copy_from_slice(&words[..target.len()]);
        }
    }

    /// The gradient words of a stretch of the data after the last run.
    pub fn gradient_words(&self, at: Range<usize>) -> &[u64] {
        self.machine.gradient_words(at)
    }

    /// The data word at an address between the halves of the last run.
    pub fn midpoint_word(&self, address: usize) -> u64 {
        self.machine.midpoint_word(address)
    }

    /// How many runs have been made.
    pub fn runs(&self) -> u64 {
        self.runs
    }
}

impl Drop for RepeatedGradient<'_, '_> {
    fn drop(&mut self) {
        let machine = &mut *self.machine;
        if self.runs > 0 {
            machine.end_forward_and_back(self.carried);
        } else {
            (machine.position, machine.core.forward, machine.halted) = self.before;
            machine.saved.gradients = None;
        }
    }
}
