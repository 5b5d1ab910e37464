//! Rows of the Hessian, several in one run forward and back by code for whole runs: with tangents along several directions at once.

use std::time::Duration;

use pendula_isa::adjoint::{GRADIENT, LANES, MIXED, SECOND, TANGENTS};
use pendula_isa::counts::Direction;
use pendula_isa::words::clear;

use crate::machine::Machine;
use crate::whole::{NEGATIVE_ZERO, RunKind, WholeEnd, are_finite, copy, make_room, restore, span, tell_failure};

/// The largest memory, in words, with which there are such runs: their lanes take 17 times as much.
const LARGEST: usize = 1 << 23;

/// About how long a C compiler takes.
const WORTH_WAITING: Duration = Duration::from_secs(1);

/// The lanes of such runs. Between them, all words are zero.
pub(crate) struct RowLanes {
    /// The number of words of the memory.
    len: usize,
    /// The words, with room to begin where a vector does.
    lanes: [Vec<u64>; LANES - 1],
}

impl RowLanes {
    fn new(len: usize) -> RowLanes {
        // Words that are not used take no memory.
        RowLanes { len, lanes: [GRADIENT, SECOND, MIXED].map(|lane| vec![0; len * parts(lane) + TANGENTS]) }
    }

    /// The words of lanes 1 to 3.
    fn words(&mut self) -> [&mut [u64]; LANES - 1] {
        let mut lane = GRADIENT;
        self.lanes.each_mut().map(|words| {
            let size = self.len * parts(lane);
            lane += 1;
            let begin = words.as_ptr().align_offset(TANGENTS * size_of::<u64>()).min(TANGENTS);
            &mut words[begin..begin + size]
        })
    }
}

/// The number of words that a lane has for each word of the memory.
const fn parts(lane: usize) -> usize {
    if lane == GRADIENT { 1 } else { TANGENTS }
}

impl Machine<'_> {
    /// The kind of the runs that give rows of the Hessian of the word at an address.
    fn hessian_rows_kind(&self, of: usize) -> RunKind {
        RunKind::HessianRows(self.active_arguments(std::iter::once(of)))
    }

    /// Tells that a row of the Hessian of the word at an address took so long by other code, and that so many are left. Where the code for
    /// [`Machine::hessian_rows`] may come and the rest would take long, makes it and waits for it.
    pub fn spent_on_hessian_row(&self, of: usize, time: Duration, left: usize) {
        let kind = self.hessian_rows_kind(of);
        if let Some(whole) = self.program.whole().filter(|whole| self.allows_whole() && whole.may_come(kind)) {
            if time.saturating_mul(u32::try_from(left).unwrap_or(u32::MAX)) > WORTH_WAITING {
                whole.make(kind);
            } else {
                whole.spent(kind, time);
            }
        }
    }

    /// Whether there is code for [`Machine::hessian_rows`] of the word at an address.
    pub fn has_hessian_rows(&self, of: usize) -> bool {
        let kind = self.hessian_rows_kind(of);
        self.program.whole().is_some_and(|whole| self.allows_whole() && whole.has(kind))
    }

    /// Makes the code for [`Machine::hessian_rows`] of the word at an address if it may come, and waits for it. Whether it is new.
    pub fn make_hessian_rows(&self, of: usize) -> bool {
        let kind = self.hessian_rows_kind(of);
        let whole = self.program.whole().filter(|whole| self.allows_whole() && whole.may_come(kind));
        whole.is_some_and(|whole| {
            whole.make(kind);
            whole.has(kind)
        })
    }

    /// Rows of the Hessian of a word, of which the address is given, and what is in its gradient word after the run forward: those with
    /// respect to at most [`TANGENTS`] words, as entries for `columns`. All are doubles in the data, and all but the first are independent
    /// ([`Machine::set_independent`]). The machine is at an end of the program. `None` if there is no code for whole runs that gives them, or
    /// if it failed. The machine is as it was in any case.
    pub fn hessian_rows(&mut self, loss: (usize, u64), rows: &[usize], columns: &[usize]) -> Option<Vec<Vec<f64>>> {
        let whole = self.program.whole()?;
        let kind = self.hessian_rows_kind(loss.0);
        let (top, len) = (self.program.module().data.len(), self.core.mem.len());
        let carries = |at: &usize| whole.carries().iter().any(|r| r.contains(at));
        let given = std::iter::once(&loss.0).chain(rows).chain(columns);
        let fits = rows.len() <= TANGENTS && len <= LARGEST && loss.1 != NEGATIVE_ZERO;
        if !self.allows_whole() || !fits || !given.into_iter().all(carries) || !whole.has(kind) {
            return None;
        }
        let before = (self.position, self.core.forward, self.halted);
        self.begin(Direction::Forward);
        let plain = self.is_plain_start();
        (self.position, self.core.forward, self.halted) = before;
        if !plain {
            return None;
        }
        let _span = span(kind);
        let kept = self.saved.rows.take().filter(|lanes| lanes.len == len);
        let mut lanes = kept.unwrap_or_else(|| Box::new(RowLanes::new(len)));
        let (core, saved, changes) = (&mut self.core, &mut self.saved, whole.changes());
        copy(changes, &core.mem, &mut saved.data);
        let data = changes.last().map_or(0, |r| r.end) + 1;
        saved.midpoint.resize(saved.midpoint.len().max(data), 0);
        let mut attempt = 0;
        loop {
            let [gradient, tangents, _] = lanes.words();
            gradient[loss.0] = loss.1;
            rows.iter().enumerate().for_each(|(n, at)| tangents[at * TANGENTS + n] = 1f64.to_bits());
            let end = whole.run(kind, attempt, &mut core.mem, lanes.words(), top, &mut saved.midpoint);
            let by = if let WholeEnd::Reached(by) = end { Some(by) } else { None };
            let finite = || [&saved.midpoint, &core.mem].iter().all(|words| are_finite(whole.unchecked(), words));
            let ended = by.is_some() && finite();
            restore(changes, &saved.data, &mut core.mem);
            let [.., mixed] = lanes.words();
            let row =
                |n: usize| columns.iter().map(|at| f64::from_bits(mixed[at * TANGENTS + n])).collect::<Vec<f64>>();
            let found: Vec<Vec<f64>> = (0..rows.len()).map(row).collect();
            if let Some(by) = by.filter(|_| ended)
                && found.iter().flatten().all(|x| x.is_finite())
            {
                let given = std::iter::once(&loss.0).chain(rows).map(|at| *at..*at + 1);
                let carried: Vec<_> = given.chain(whole.carries_in(kind).iter().cloned()).collect();
                for (words, lane) in lanes.words().into_iter().zip(GRADIENT..) {
                    carried.iter().for_each(|r| words[r.start * parts(lane)..r.end * parts(lane)].fill(0));
                }
                saved.rows = Some(lanes);
                self.engine_counts.count_whole(by);
                return Some(found);
            }
            *lanes = RowLanes::new(len);
            clear(&mut core.mem[top..]);
            if !ended && (end == WholeEnd::Again || make_room(&mut saved.midpoint)) {
                continue;
            }
            attempt += 1;
            if ended || tell_failure(attempt, whole.attempts(kind)) {
                return None;
            }
        }
    }
}
