//! Whole runs by code without blocks and counts: from one end of the program to the other, or forward and back in one call. Such code
//! either runs to the end or has no effect.

use std::ops::Range;
use std::time::Duration;

use pendula_isa::adjoint::{ActiveArguments, AdMode, GRADIENT, LANES};
use pendula_isa::counts::Direction;
use pendula_isa::types::Reg;
use pendula_isa::words::{clear, is_zero};

use crate::hessian_rows::RowLanes;
use crate::lanes::{Dropped, Lane};
use crate::machine::{Machine, Position};

/// The kind of a whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunKind {
    /// From one end to the other.
    Run(Direction, AdMode),
    /// Forward without derivatives, and back with gradient words: only those of independent variables are wanted, and only those of
    /// dependent ones are given.
    ForwardAndBack(ActiveArguments),
    /// The same over dual numbers with [`TANGENTS`](pendula_isa::adjoint::TANGENTS) tangents at once, for rows of the Hessian.
    HessianRows(ActiveArguments),
}

impl RunKind {
    /// The AD mode at the end of the run.
    pub const fn ad_mode(self) -> AdMode {
        match self {
            RunKind::Run(_, ad_mode) => ad_mode,
            RunKind::ForwardAndBack(_) => AdMode::Gradient,
            RunKind::HessianRows(_) => AdMode::GradientTangent,
        }
    }
}

/// What made a whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WholeBy {
    /// C code.
    C,
    /// Code by Cranelift.
    Cranelift,
}

/// How a whole run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WholeEnd {
    /// At the end of the program.
    Reached(WholeBy),
    /// The code gave up.
    GaveUp,
    /// It was left, because there is better code for the same run.
    Again,
}

/// Code for one kind of run.
pub trait WholeCode {
    /// Runs the program as [`WholeProgram::run`] does, in the first way.
    fn run(&self, memory: &mut [u64], lanes: [&mut [u64]; LANES - 1], top: usize, midpoint: &mut [u64]) -> WholeEnd;
}

/// Code that runs a program from `start` to `finish`, or back.
///
/// Before and after such a run, only the data segment is live: registers other than the stack pointer are zero, and so is the memory
/// behind the data.
pub trait WholeProgram: Send + Sync {
    /// Whether there is code for runs of this kind.
    fn has(&self, kind: RunKind) -> bool;

    /// The code with which runs of this kind begin, for many of them one after the other; `None` if there is none.
    fn code(&self, _kind: RunKind) -> Option<&dyn WholeCode> {
        None
    }

    /// Whether code for runs of this kind may come while the program runs by other code, if that takes long enough; see
    /// [`WholeProgram::spent`].
    fn may_come(&self, _kind: RunKind) -> bool {
        false
    }

    /// Makes code for runs of this kind that may come, and waits for it.
    fn make(&self, _kind: RunKind) {}

    /// Tells how long a run of this kind, or a part of one, took by other code.
    fn spent(&self, _kind: RunKind, _time: Duration) {}

    /// The data whose values a run may change, temporarily or permanently.
    fn changes(&self) -> &[Range<usize>];

    /// The data whose lanes a run may change: all data that may carry anything.
    fn carries(&self) -> &[Range<usize>];

    /// The data of which runs of this kind may change what the words carry.
    fn carries_in(&self, kind: RunKind) -> &[Range<usize>];

    /// Where in the data the words of each argument are, as [`ActiveArguments`] counts them.
    fn arguments(&self) -> &[Range<usize>];

    /// Whether the code with which runs of this kind begin keeps values for the way back. It then wants room beyond that for logs.
    fn keeps(&self, _kind: RunKind) -> bool {
        false
    }

    /// Whether calls by the code with which runs of this kind begin are so deep that it has a large stack.
    fn is_deep(&self, _kind: RunKind) -> bool {
        false
    }

    /// Tells that there is not enough memory for the values that code for runs of this kind keeps: they are to begin with code that keeps none.
    fn stop_keeping(&self, _kind: RunKind) {}

    /// Doubles among the changed data that runs do not check: a run that leaves one of them infinite or NaN, where it turns round or in the end, counts as failed.
    fn unchecked(&self) -> &[Range<usize>];

    /// How many ways there are to run the program, from the fastest to the one that reaches the end whenever a machine does, if it can be told.
    fn attempts(&self, kind: RunKind) -> usize;

    /// Runs the program in one of these ways, of which 0 is the first. If it does not reach the end, the contents of the memory and the lanes are unspecified, and the
    /// machine restores them and runs the program to where it traps. `top` is the address after the data. `lanes` are lanes 1 to 3, of which no gradient word is -0;
    /// those that the kind of run does not use are not touched. For [`RunKind::HessianRows`], lanes 2 and 3 have [`TANGENTS`](pendula_isa::adjoint::TANGENTS) words for
    /// each word of the memory. A forward and back run stores the changed data as it is after the
    /// forward run in `midpoint`, whose words from `top` on are for logs, and may leave other values in it; the machine restores them. The last word is zero, or tells how many words there must be before it.
    fn run(
        &self,
        kind: RunKind,
        attempt: usize,
        memory: &mut [u64],
        lanes: [&mut [u64]; LANES - 1],
        top: usize,
        midpoint: &mut [u64],
    ) -> WholeEnd;
}

/// The state of a machine for whole runs.
#[derive(Default)]
pub(crate) struct Saved {
    pub(crate) data: Vec<u64>,
    lanes: [Vec<u64>; LANES - 1],
    /// The changed data after the forward half of the last forward and back run.
    pub(crate) midpoint: Vec<u64>,
    /// Whether only the data is known to be live.
    pub(crate) only_data: bool,
    /// Where gradient words may not be zero, if that is known.
    pub(crate) gradients: Option<Vec<Range<usize>>>,
    /// The lanes of runs for rows of the Hessian, as long as no such run has failed.
    pub(crate) rows: Option<Box<RowLanes>>,
    /// How many words values that are kept for the way back may take, if that has been set.
    kept: Option<usize>,
    /// The arguments of which gradient words are wanted; `None` if all are.
    pub(crate) independent: Option<u64>,
    /// Whether the last run stopped at a trap on the way back with gradient words.
    pub(crate) trapped_back: bool,
    /// What the run under way began with, if it may begin again with code for whole runs.
    pub(crate) start: Option<Box<crate::takeover::Start>>,
}

impl<'p> Machine<'p> {
    /// Allows the program's code for whole runs ([`crate::Program::set_whole`]). Such runs count nothing and do not set
    /// [`crate::Flags::inexact`] and [`crate::Flags::rests`].
    pub fn allow_whole(&mut self, allow: bool) {
        self.whole = allow;
    }

    /// Whether code for whole runs is allowed.
    pub fn allows_whole(&self) -> bool {
        self.whole && self.core.orders.is_none()
    }

    /// Which gradient words [`Machine::run_forward_and_back`] makes: those of words in these ranges of the data. Others may be zero
    /// afterwards. Without ranges, it makes all.
    pub fn set_independent(&mut self, words: Option<&[Range<usize>]>) {
        let arguments = self.program.whole().map_or(&[][..], |w| w.arguments());
        self.saved.independent = words.map(|words| mask(arguments, words));
    }

    /// How many words [`Machine::run_forward_and_back`] may take for values that it keeps for the way back, where that takes less time than to compute
    /// them again. The default is 2^19, or 2^22 where calls are thousands deep, and one for each five words of data: with as many gradient words as data, a gradient then takes at most 2.2 times the
    /// memory of a run forward, if that takes some megabytes for the program itself.
    pub fn set_kept_words(&mut self, words: usize) {
        self.saved.kept = Some(words);
    }

    /// The kind of a run forward and back with gradient words at these addresses.
    pub(crate) fn forward_and_back(&self, seeds: impl Iterator<Item = usize>) -> RunKind {
        RunKind::ForwardAndBack(self.active_arguments(seeds))
    }

    /// The arguments that matter where gradient words at these addresses are given.
    pub(crate) fn active_arguments(&self, seeds: impl Iterator<Item = usize>) -> ActiveArguments {
        let Some(independent) = self.saved.independent else { return ActiveArguments::ALL };
        let arguments = self.program.whole().map_or(&[][..], |w| w.arguments());
        let (mut dependent, mut last) = (0, 0..0);
        for at in seeds {
            // Most have their neighbour's argument.
            if !last.contains(&at)
                && let Some((n, words)) = arguments.iter().enumerate().find(|(_, words)| words.contains(&at))
            {
                dependent |= ActiveArguments::bit(n);
                last = words.clone();
            }
        }
        ActiveArguments { independent, dependent }
    }

    /// Runs the program forward from its start and back with gradient words, by code for whole runs. `seeds` are the gradient words
    /// after the forward run, by address; all others are zero. Returns false if there is no such code or it failed; nothing has changed
    /// then. Afterwards the machine is as after the two runs, but for what rounding leaves of undone sums in the data: the data is as before them.
    /// [`Machine::midpoint_word`] returns the data between them.
    pub fn run_forward_and_back(&mut self, seeds: &[(usize, u64)]) -> bool {
        let before = (self.position, self.core.forward, self.halted);
        let Some((whole, kind)) = self.begin_forward_and_back(seeds) else {
            (self.position, self.core.forward, self.halted) = before;
            return false;
        };
        self.clear_gradients();
        let _span = span(kind);
        let top = self.program.module().data.len();
        let core = &mut self.core;
        let saved = &mut self.saved;
        let changes = whole.changes();
        copy(changes, &core.mem, &mut saved.data);
        let mut attempt = 0;
        loop {
            for (at, word) in seeds {
                core.lanes[GRADIENT - 1].mem[*at] = *word;
            }
            let lanes = core.lanes.each_mut().map(|l| l.mem.as_mut_slice());
            let end = whole.run(kind, attempt, &mut core.mem, lanes, top, &mut saved.midpoint);
            if let WholeEnd::Reached(by) = end
                && [&saved.midpoint, &core.mem].iter().all(|words| are_finite(whole.unchecked(), words))
            {
                restore(changes, &saved.data, &mut core.mem);
                self.end_forward_and_back(whole.carries_in(kind));
                self.engine_counts.count_whole(by);
                return true;
            }
            clear(&mut core.lanes[GRADIENT - 1].mem);
            restore(changes, &saved.data, &mut core.mem);
            clear(&mut core.mem[top..]);
            if end == WholeEnd::Again {
                continue;
            }
            if whole.keeps(kind) && saved.midpoint.last().is_some_and(|need| *need > 0) {
                let usual = if whole.is_deep(kind) { DEEP_KEPT_WORDS } else { KEPT_WORDS };
                let most = saved.kept.unwrap_or(usual + top / 5).saturating_add(top);
                if !make_room_up_to(&mut saved.midpoint, most) {
                    whole.stop_keeping(kind);
                    tracing::info!("the values for the way back take too much memory: they are computed again");
                }
                continue;
            }
            if make_room(&mut saved.midpoint) {
                continue;
            }
            attempt += 1;
            if tell_failure(attempt, whole.attempts(kind)) {
                break;
            }
        }
        (self.position, self.core.forward, self.halted) = before;
        false
    }

    /// Begins a run forward and back from the start, if there is code for it, and allocates the gradient words. Otherwise only the
    /// position may be another one.
    pub(crate) fn begin_forward_and_back(&mut self, seeds: &[(usize, u64)]) -> Option<(&'p dyn WholeProgram, RunKind)> {
        let whole = self.program.whole()?;
        let kind = self.forward_and_back(seeds.iter().map(|(at, _)| *at));
        if self.saved.kept == Some(0) {
            whole.stop_keeping(kind);
        }
        if !self.whole || !whole.has(kind) {
            return None;
        }
        let is_usable =
            |(at, word): &(usize, u64)| *word != NEGATIVE_ZERO && whole.carries().iter().any(|r| r.contains(at));
        if !seeds.iter().all(is_usable) {
            return None;
        }
        self.begin(Direction::Forward);
        if !self.is_plain_start() {
            return None;
        }
        let words = self.core.mem.len();
        for (n, lane) in self.core.lanes.iter_mut().enumerate() {
            let needs = if n + 1 == GRADIENT { words } else { 0 };
            if lane.mem.len() != needs {
                *lane = Lane::EMPTY;
                lane.allocate(needs);
                if n + 1 == GRADIENT {
                    self.saved.gradients = Some(Vec::new());
                }
            }
        }
        let data = whole.changes().last().map_or(0, |r| r.end) + 1;
        let midpoint = &mut self.saved.midpoint;
        midpoint.resize(midpoint.len().max(data), 0);
        Some((whole, kind))
    }

    /// Clears the gradient words of the data.
    pub(crate) fn clear_gradients(&mut self) {
        let top = self.program.module().data.len();
        let gradients = &mut self.core.lanes[GRADIENT - 1].mem;
        match &self.saved.gradients {
            Some(ranges) => ranges.iter().for_each(|r| gradients[r.clone()].fill(0)),
            None => clear(&mut gradients[..top]),
        }
    }

    /// Moves the machine to the end of runs forward and back, which may have left gradient words in these ranges.
    pub(crate) fn end_forward_and_back(&mut self, carried: &[Range<usize>]) {
        self.set_ad_mode(AdMode::Gradient);
        self.core.forward = false;
        self.stop_at_end();
        match &mut self.saved.gradients {
            Some(gradients) if gradients == carried => {}
            gradients => *gradients = Some(carried.to_vec()),
        }
    }

    /// The data word at an address after the forward half of the last [`Machine::run_forward_and_back`].
    pub fn midpoint_word(&self, address: usize) -> u64 {
        let changes = self.program.whole().map_or(&[][..], |w| w.changes());
        let words = if changes.iter().any(|r| r.contains(&address)) { &self.saved.midpoint } else { &self.core.mem };
        words.get(address).copied().unwrap_or(0)
    }

    /// Runs the program to its end by code for whole runs. Returns false, with nothing changed, if that is not allowed or possible;
    /// [`Machine::run`] can then run it.
    pub fn run_as_whole(&mut self) -> bool {
        self.whole && self.run_whole()
    }

    fn run_whole(&mut self) -> bool {
        let Some(whole) = self.program.whole() else { return false };
        let ad_mode = self.core.ad_mode;
        let kind = RunKind::Run(self.direction(), ad_mode);
        if !self.is_plain_start() || !whole.has(kind) {
            return false;
        }
        let top = self.program.module().data.len();
        self.core.allocate(ad_mode);
        let _span = span(kind);
        let core = &mut self.core;
        let saved = &mut self.saved;
        copy(whole.changes(), &core.mem, &mut saved.data);
        for lane in ad_mode.lanes() {
            copy(whole.carries(), &core.lanes[*lane - 1].mem, &mut saved.lanes[*lane - 1]);
        }
        if ad_mode.lanes().contains(&GRADIENT) && saved.lanes[GRADIENT - 1].contains(&NEGATIVE_ZERO) {
            return false;
        }
        let mut attempt = 0;
        loop {
            let lanes = core.lanes.each_mut().map(|l| l.mem.as_mut_slice());
            let end = whole.run(kind, attempt, &mut core.mem, lanes, top, &mut []);
            if let WholeEnd::Reached(by) = end
                && are_finite(whole.unchecked(), &core.mem)
            {
                self.stop_at_end();
                self.engine_counts.count_whole(by);
                return true;
            }
            restore(whole.changes(), &saved.data, &mut core.mem);
            clear(&mut core.mem[top..]);
            for lane in ad_mode.lanes() {
                let mem = &mut core.lanes[*lane - 1].mem;
                restore(whole.carries(), &saved.lanes[*lane - 1], mem);
                clear(&mut mem[top..]);
            }
            if end == WholeEnd::Again {
                continue;
            }
            attempt += 1;
            if tell_failure(attempt, whole.attempts(kind)) {
                return false;
            }
        }
    }

    /// Moves the machine to the end of a run in its direction.
    fn stop_at_end(&mut self) {
        let [forward, backward] = self.program.decoded.entry.unwrap_or([0, 0]);
        let half = self.program.decoded.blocks.len() as u32;
        // A run ends where a run in the other direction begins.
        let block = if self.core.forward { backward - half } else { forward + half };
        self.position = Position { block, k: self.code(block).len };
        self.halted = true;
    }

    /// Whether the machine is at an end of the program and only the data is live.
    pub(crate) fn is_plain_start(&mut self) -> bool {
        let entry = self.program.decoded.entry.unwrap_or([0, 0]);
        let core = &self.core;
        let top = self.program.module().data.len();
        let at_end = self.position == Position { block: entry[usize::from(!core.forward)], k: 0 } && !self.halted;
        let usual = core.checks
            && !core.env.ieee
            && core.overflow_op == 0
            && matches!(core.dropped, Dropped::Discarded)
            && core.mem.len() >= top;
        if !at_end || !usual {
            return false;
        }
        if !self.saved.only_data {
            let registers = core.regs.iter().enumerate();
            let clear = registers.into_iter().all(|(n, w)| *w == if n == Reg::SP.index() { top as u64 } else { 0 });
            let carried =
                core.lanes.iter().all(|l| l.regs.iter().all(|w| *w == 0) && l.mem.get(top..).is_none_or(is_zero));
            self.saved.only_data = clear && carried && is_zero(&core.mem[top..]);
        }
        self.saved.only_data
    }
}

/// What no gradient word is that code for whole runs is given: they begin as zero, and sums that begin so are never -0.
pub(crate) const NEGATIVE_ZERO: u64 = (-0.0f64).to_bits();

/// The bits of the arguments that have words in some of these ranges.
fn mask(arguments: &[Range<usize>], words: &[Range<usize>]) -> u64 {
    let has = |at: &Range<usize>| words.iter().any(|r| r.start < at.end && at.start < r.end);
    let bits = arguments.iter().enumerate().filter(|(_, at)| has(at)).map(|(n, _)| ActiveArguments::bit(n));
    bits.fold(0, |a, b| a | b)
}

/// How many words values that are kept for the way back may take, and one for each five words of data.
const KEPT_WORDS: usize = 1 << 19;

/// The same where calls are so deep that they have a large stack, in which a run forward takes more for each call.
const DEEP_KEPT_WORDS: usize = 1 << 22;

/// More words than any host has.
const MOST_WORDS: usize = isize::MAX as usize / 16;

/// Makes room for values that are kept for the way back, up to so many words, if code asked for no more ([`WholeProgram::run`]), and if there is memory.
/// Memory that is not used is not taken. Where the host does not reserve so much, it is half of that, and so on.
fn make_room_up_to(midpoint: &mut Vec<u64>, words: usize) -> bool {
    let need = midpoint.last().map_or(0, |need| *need as usize);
    let mut most = words.min(MOST_WORDS);
    while need <= most && most >= midpoint.len() {
        let mut room: Vec<u64> = Vec::new();
        if room.try_reserve_exact(most + 1).is_ok() {
            drop(room);
            *midpoint = vec![0; most + 1];
            return true;
        }
        most /= 2;
    }
    false
}

/// Makes the room for which code asked when it gave up, if it did ([`WholeProgram::run`]) and if there is memory. Whether there is more now.
pub(crate) fn make_room(midpoint: &mut Vec<u64>) -> bool {
    let need = midpoint.last().map_or(0, |need| *need as usize);
    let more = need.saturating_add(1).saturating_sub(midpoint.len());
    let made = need > 0 && more > 0 && midpoint.try_reserve_exact(more).is_ok();
    if made {
        midpoint.resize(need + 1, 0);
    }
    made
}

/// Logs that code for a whole run gave up so many times. Returns whether all its ways have been tried.
pub(crate) fn tell_failure(attempt: usize, attempts: usize) -> bool {
    let last = attempt >= attempts;
    let next = if last { "other code runs the program" } else { "the run is made again, with more sums undone" };
    tracing::info!(
        "code for the whole run gave up, because a check failed, partial sums are large, or calls are too deep: {next}"
    );
    last
}

/// A span for a listener, if there is one: short runs take less than a microsecond.
pub(crate) fn span(kind: RunKind) -> Option<tracing::span::EnteredSpan> {
    tracing::enabled!(tracing::Level::DEBUG).then(|| tracing::debug_span!("run as a whole", ?kind).entered())
}

pub(crate) fn are_finite(ranges: &[Range<usize>], words: &[u64]) -> bool {
    ranges.iter().all(|r| words[r.clone()].iter().all(|w| f64::from_bits(*w).is_finite()))
}

pub(crate) fn copy(ranges: &[Range<usize>], from: &[u64], to: &mut Vec<u64>) {
    to.clear();
    ranges.iter().for_each(|r| to.extend_from_slice(&from[r.clone()]));
}

pub(crate) fn restore(ranges: &[Range<usize>], mut from: &[u64], to: &mut [u64]) {
    for range in ranges {
        let (now, rest) = from.split_at(range.len());
        to[range.clone()].copy_from_slice(now);
        from = rest;
    }
}
