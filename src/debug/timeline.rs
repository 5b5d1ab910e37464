//! A run as a line of moments, each the number of instructions that have run, and a machine that can be moved to any of them.
//!
//! Going back never shows rounding errors of an undone sum: the machine continues from the nearest checkpoint before the moment, so that
//! what is seen is what a run straight to that moment shows, to the bit. Checkpoints lie close together near the present moment and far apart elsewhere, so
//! that going back by few instructions repeats few.

use std::sync::{Arc, Mutex, PoisonError};

use pendula_isa::counts::Counts;
use pendula_vm::{Checkpoint, Event, Machine, Outcome, StepOutcome, Stopped, Trap};

/// The greatest number of checkpoints, and of bytes that they may take together.
const MOST: usize = 64;
const MOST_BYTES: usize = 1 << 28;

/// The number of instructions between two looks at whether to pause.
const PART: u64 = 4_000_000;

/// The number of instructions before a moment in which no checkpoints are made on the way there.
const NEAR: u64 = 1 << 12;

/// The same for single steps.
const LOOK: u64 = 1 << 20;

/// The greatest number of events that are kept.
pub const EVENTS: usize = 100_000;

/// What ended a movement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The moment that was asked for.
    There,
    /// An instruction to stop before.
    Stop,
    /// The beginning of the run.
    Start,
    /// The end of the run.
    End,
    /// Before an instruction that cannot run.
    Trap(Box<Trap>),
    /// It was asked to pause.
    Paused,
    /// As far as the run may go.
    Limit,
}

/// A moment that is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// The instruction that ran last.
    pub after: Option<u32>,
    /// The moment.
    pub now: u64,
    /// Whether it is the first moment of a part.
    pub first: bool,
    /// Whether it is the last, which has been looked at before, or from which the search began.
    pub last: bool,
}

/// A run that can be moved through.
pub struct Timeline<'p> {
    machine: Machine<'p>,
    /// The number of instructions that have run.
    now: u64,
    /// In their order; the first is the beginning of the run.
    checkpoints: Vec<(u64, Saved)>,
    /// What the program has shown up to now.
    shown: Arc<Mutex<Vec<Event>>>,
    /// How the run ends, and when, once it has been there.
    end: Option<(u64, Option<Box<Trap>>)>,
    /// What happens where the first half of a run there and back ends, and whether it has happened.
    turn: Option<Turn<'p>>,
    turned: bool,
    /// The moment of it, once the run has been there.
    turns: Option<u64>,
    /// The furthest moment that the run has been at.
    furthest: u64,
    /// How far the run may go.
    limit: u64,
    /// How many bytes the checkpoints may take.
    most_bytes: usize,
    /// Whether to pause; it is told the moment.
    pause: Box<dyn Fn(u64) -> bool + 'p>,
}

/// Prepares a machine for the way back.
type Turn<'p> = Box<dyn Fn(&mut Machine<'p>) + 'p>;

struct Saved {
    /// Whether the run was changed at this moment: it goes on from here and not from how it came here.
    changed: bool,
    machine: Checkpoint,
    turned: bool,
    shown: usize,
    bytes: usize,
}

impl<'p> Timeline<'p> {
    /// The run of a machine that is at its beginning. During long movements, `pause` is told the moment and says whether to stop there.
    pub fn new(mut machine: Machine<'p>, pause: impl Fn(u64) -> bool + 'p) -> Timeline<'p> {
        let shown = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&shown);
        machine.on_event(move |event| {
            let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
            if list.len() < EVENTS {
                list.push(event);
            }
        });
        let (turn, turned, pause) = (None, false, Box::new(pause));
        let mut line = Timeline {
            machine,
            now: 0,
            checkpoints: Vec::new(),
            shown,
            end: None,
            turn,
            turned,
            turns: None,
            furthest: 0,
            limit: u64::MAX,
            most_bytes: MOST_BYTES,
            pause,
        };
        line.save();
        line
    }

    /// Lets the run go on where it ends: `turn` prepares the machine for the way back.
    #[must_use]
    pub fn there_and_back(self, turn: impl Fn(&mut Machine<'p>) + 'p) -> Timeline<'p> {
        Timeline { turn: Some(Box::new(turn)), ..self }
    }

    /// Lets the run go no further than so many instructions.
    #[must_use]
    pub fn at_most(self, instructions: u64) -> Timeline<'p> {
        Timeline { limit: instructions, ..self }
    }

    /// Lets the checkpoints take no more than so many bytes together, if that is less than what they take by default.
    #[must_use]
    pub fn within(self, bytes: usize) -> Timeline<'p> {
        Timeline { most_bytes: self.most_bytes.min(bytes), ..self }
    }

    /// Whether the run has turned.
    pub fn has_turned(&self) -> bool {
        self.turned
    }

    /// The moment at which the run turns, if it has been there.
    pub fn turns(&self) -> Option<u64> {
        self.turns
    }

    /// The furthest moment that the run has been at.
    pub fn furthest(&self) -> u64 {
        self.furthest.max(self.now)
    }

    /// The machine at the present moment.
    pub fn machine(&self) -> &Machine<'p> {
        &self.machine
    }

    /// The present moment: the number of instructions that have run.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// When the run ends, if it has been there.
    pub fn end(&self) -> Option<u64> {
        self.end.as_ref().map(|(end, _)| *end)
    }

    /// The trap at which the run ends, if the present moment is before it.
    pub fn trap(&self) -> Option<&Trap> {
        self.end.as_ref().filter(|(end, _)| *end == self.now)?.1.as_deref()
    }

    /// Whether the run has been at its end, and cannot go on there.
    pub fn ends_in_trap(&self) -> bool {
        self.end.as_ref().is_some_and(|(_, trap)| trap.is_some())
    }

    /// What the program has shown so far; at most [`EVENTS`].
    pub fn shown(&self) -> Vec<Event> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the run has been changed before the present moment.
    pub fn is_changed(&self) -> bool {
        self.checkpoints.iter().any(|(at, saved)| saved.changed && *at <= self.now)
    }

    /// The moments of the checkpoints.
    pub fn checkpoints(&self) -> impl Iterator<Item = u64> + '_ {
        self.checkpoints.iter().map(|(at, _)| *at)
    }

    /// Changes the machine. What came later is forgotten; what came before stays what it was, and a run from there comes to the change again.
    ///
    /// # Errors
    /// Those of the change, which has then changed nothing.
    pub fn change<E>(&mut self, change: impl FnOnce(&mut Machine<'p>) -> Result<(), E>) -> Result<(), E> {
        change(&mut self.machine)?;
        self.checkpoints.retain(|(at, _)| *at < self.now);
        (self.end, self.furthest) = (None, self.now);
        self.turns = self.turns.filter(|at| *at <= self.now);
        self.save();
        if let Some((_, saved)) = self.checkpoints.last_mut() {
            saved.changed = true;
        }
        Ok(())
    }

    /// Sets the instructions before and after which [`Timeline::on`] and [`Timeline::back`] stop.
    pub fn set_stops(&mut self, before: &[u32], after: &[u32]) {
        self.machine.set_stops(before, after);
    }

    /// Runs one instruction, and gives its address.
    pub fn step(&mut self) -> Result<u32, Arrival> {
        if self.now >= self.limit && self.machine.pc().is_some() {
            return Err(Arrival::Limit);
        }
        match self.machine.step() {
            StepOutcome::Executed(at) => {
                self.now += 1;
                self.change_again();
                if self.now.is_multiple_of(LOOK) {
                    self.save();
                }
                if !self.turn_at_end() && self.machine.pc().is_none() {
                    self.end = Some((self.now, None));
                }
                Ok(at)
            }
            StepOutcome::Finished => Err(self.ended(None)),
            StepOutcome::Trap(trap) => Err(self.ended(Some(trap))),
        }
    }

    /// The next moment at which the run was changed.
    fn next_change(&self) -> u64 {
        self.checkpoints.iter().find(|(at, saved)| saved.changed && *at > self.now).map_or(u64::MAX, |(at, _)| *at)
    }

    /// Makes the change of this moment, if there is one.
    fn change_again(&mut self) {
        let now = self.now;
        if self.checkpoints.iter().any(|(at, saved)| *at == now && saved.changed) {
            self.resume(now);
        }
    }

    /// Turns where the way there has ended.
    fn turn_at_end(&mut self) -> bool {
        let Some(turn) = self.turn.as_ref().filter(|_| !self.turned && self.machine.pc().is_none()) else {
            return false;
        };
        turn(&mut self.machine);
        (self.turned, self.turns) = (true, Some(self.now));
        true
    }

    fn ended(&mut self, trap: Option<Box<Trap>>) -> Arrival {
        self.end = Some((self.now, trap.clone()));
        trap.map_or(Arrival::End, Arrival::Trap)
    }

    /// Counts what a run straight to this moment executes, by running it once more; `None` if it is asked to pause.
    pub fn counts(&mut self) -> Option<Counts> {
        let now = self.now;
        self.machine.set_stops(&[], &[]);
        self.resume(0);
        self.machine.clear_counts();
        while self.now < now {
            if (self.pause)(self.now) {
                self.resume(now);
                self.return_to(now);
                return None;
            }
            self.turn_at_end();
            let before = self.machine.executed();
            let until = now.min(self.next_change());
            let outcome = self.machine.run(Some(PART.min(until - self.now)));
            self.now += self.machine.executed() - before;
            self.change_again();
            if outcome != Outcome::Limit && !self.turn_at_end() && self.now < now {
                break;
            }
        }
        self.turn_at_end();
        Some(self.machine.counts())
    }

    /// Runs to a moment without looking at whether to pause.
    fn forward_to(&mut self, moment: u64) {
        while self.now < moment {
            self.turn_at_end();
            let before = self.machine.executed();
            let outcome = self.machine.run(Some(PART.min(moment.min(self.next_change()) - self.now)));
            self.now += self.machine.executed() - before;
            self.change_again();
            if outcome != Outcome::Limit && !self.turn_at_end() && self.now < moment {
                return;
            }
        }
        self.turn_at_end();
    }

    /// Moves to a moment at which the run has been, whatever is asked meanwhile.
    pub(super) fn return_to(&mut self, moment: u64) {
        self.machine.set_stops(&[], &[]);
        if moment < self.now {
            self.resume(moment);
        }
        self.forward_to(moment);
    }

    /// Whether it is asked to pause.
    pub fn is_paused(&self) -> bool {
        (self.pause)(self.now)
    }

    /// Moves to a moment.
    pub fn go_to(&mut self, moment: u64) -> Arrival {
        if moment < self.now {
            self.resume(moment);
        }
        self.forward(moment, true, &mut |_, _, _| false)
    }

    /// Runs on to a stop which `accepts` takes; it is told the instruction that ran last, if its block has stops, and the moment.
    pub fn on(&mut self, accepts: &mut dyn FnMut(&Machine<'p>, Option<u32>, u64) -> bool) -> Arrival {
        self.forward(u64::MAX, true, accepts)
    }

    /// Runs forward to a moment, or until an accepted stop; with checkpoints on the way, if the run is to stay near where it goes.
    fn forward(
        &mut self,
        moment: u64,
        save: bool,
        accepts: &mut dyn FnMut(&Machine<'p>, Option<u32>, u64) -> bool,
    ) -> Arrival {
        let (asked, moment) = (moment, moment.min(self.limit));
        let mut next = if save { self.next_save(moment) } else { u64::MAX };
        while self.now < moment {
            if (self.pause)(self.now) {
                return Arrival::Paused;
            }
            if self.now >= next {
                self.save();
                next = self.next_save(moment);
            }
            let before = self.machine.executed();
            self.turn_at_end();
            let until = moment.min(next.max(self.now + 1)).min(self.next_change());
            let stopped = self.machine.run_to_stop(PART.min(until - self.now));
            self.now += self.machine.executed() - before;
            self.change_again();
            match stopped {
                Stopped::Stop { after } if accepts(&self.machine, after, self.now) => return Arrival::Stop,
                Stopped::Stop { .. } | Stopped::Run(Outcome::Limit) => {}
                Stopped::Run(Outcome::Finished) if self.turn_at_end() => {}
                Stopped::Run(Outcome::Finished) => return self.ended(None),
                Stopped::Run(Outcome::Trap(trap)) => return self.ended(Some(trap)),
            }
        }
        if self.now == moment && self.machine.pc().is_none() && !self.turn_at_end() {
            self.end = Some((self.now, None));
        }
        if asked > moment && self.machine.pc().is_some() { Arrival::Limit } else { Arrival::There }
    }

    /// The moment of the next checkpoint on the way to `moment`: half of the way is left from there. When the end is not known, checkpoints
    /// lie so far apart that they cost little.
    fn next_save(&self, moment: u64) -> u64 {
        if moment == u64::MAX {
            return self.now + (1 << 20).max(self.now / 16);
        }
        let left = moment - self.now.min(moment);
        if left < 2 * NEAR { u64::MAX } else { self.now + left / 2 }
    }

    /// Goes back to the last stop that `accepts` takes, which may be that of the present moment. The run up to now is looked at in parts, the last one first: before
    /// each, `begins` is told where it begins.
    pub fn back(
        &mut self,
        begins: &mut dyn FnMut(&Machine<'p>),
        accepts: &mut dyn FnMut(&Machine<'p>, Option<u32>, u64) -> bool,
    ) -> Arrival {
        let mut goal = self.now;
        loop {
            self.resume(goal);
            if self.now == goal && goal > 0 {
                // A moment at which a checkpoint is belongs to the part before it.
                self.resume(goal - 1);
            }
            let start = self.now;
            let mut last = None;
            begins(&self.machine);
            while self.now < goal {
                match self.forward(goal, false, accepts) {
                    Arrival::Stop => last = Some(self.now),
                    Arrival::Paused => return Arrival::Paused,
                    Arrival::There | Arrival::Start | Arrival::End | Arrival::Limit | Arrival::Trap(_) => break,
                }
            }
            if let Some(last) = last {
                self.go_to(last);
                return Arrival::Stop;
            }
            if start == 0 {
                self.go_to(0);
                return Arrival::Start;
            }
            goal = start;
        }
    }

    /// Goes back over parts of the run, the last one first, and looks at each of their moments in order. After each part, `pick` says to which moment to go, if
    /// one of the part is the right one.
    pub fn search_back(
        &mut self,
        visit: &mut dyn FnMut(&Machine<'p>, Look),
        pick: &mut dyn FnMut() -> Option<u64>,
    ) -> Arrival {
        let (mut until, mut width) = (self.now, 256);
        loop {
            let start = until.saturating_sub(width);
            // The instruction before the first moment is looked at, too.
            if self.go_to(start.saturating_sub(1)) == Arrival::Paused {
                return Arrival::Paused;
            }
            let mut after = if start > 0 { self.step().ok() } else { None };
            visit(&self.machine, Look { after, now: self.now, first: true, last: self.now == until });
            while self.now < until {
                if self.now.is_multiple_of(LOOK) && (self.pause)(self.now) {
                    return Arrival::Paused;
                }
                match self.step() {
                    Ok(at) => after = Some(at),
                    Err(_) => break,
                }
                visit(&self.machine, Look { after, now: self.now, first: false, last: self.now == until });
            }
            if let Some(moment) = pick() {
                self.go_to(moment);
                return Arrival::Stop;
            }
            if start == 0 {
                self.go_to(0);
                return Arrival::Start;
            }
            (until, width) = (start, width * 4);
        }
    }

    /// Continues from the last checkpoint at or before a moment.
    fn resume(&mut self, moment: u64) {
        self.furthest = self.furthest();
        let n = self.checkpoints.partition_point(|(at, _)| *at <= moment).saturating_sub(1);
        let Some((at, saved)) = self.checkpoints.get(n) else { return };
        self.machine.resume(&saved.machine);
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).truncate(saved.shown);
        (self.now, self.turned) = (*at, saved.turned);
    }

    /// Makes a checkpoint of the present moment.
    fn save(&mut self) {
        let n = self.checkpoints.partition_point(|(at, _)| *at < self.now);
        if self.checkpoints.get(n).is_some_and(|(at, _)| *at == self.now) {
            return;
        }
        let machine = self.machine.checkpoint();
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner).len();
        let bytes = machine.bytes();
        self.checkpoints.insert(n, (self.now, Saved { changed: false, machine, turned: self.turned, shown, bytes }));
        self.thin();
    }

    /// Leaves out the checkpoints that are missed least: those whose neighbours are close together, measured by their distance from now.
    fn thin(&mut self) {
        loop {
            let bytes: usize = self.checkpoints.iter().map(|(_, saved)| saved.bytes).sum();
            if self.checkpoints.len() <= 2 || self.checkpoints.len() <= MOST && bytes <= self.most_bytes {
                return;
            }
            let moments: Vec<u64> = self.checkpoints().collect();
            let missed = |n: &usize| {
                let next = moments.get(n + 1).copied().unwrap_or(self.now.max(moments[*n]));
                let gap = (next - moments[n - 1]) as f64;
                gap / (1.0 + moments[*n].abs_diff(self.now) as f64)
            };
            let spared = |n: &usize| self.checkpoints.get(*n).is_none_or(|(_, saved)| !saved.changed);
            let least = (1..moments.len()).filter(spared).min_by(|a, b| missed(a).total_cmp(&missed(b)));
            let Some(least) = least else { return };
            self.checkpoints.remove(least);
        }
    }
}
