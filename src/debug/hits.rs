//! Where a run comes to breakpoints, and where what is watched changes.

use pendula_compiler::janus::store::Variable;
use pendula_isa::types::Reg;
use pendula_vm::Machine;

use super::breakpoints::Breakpoint;
use super::code::Code;
use super::expr::Value;
use super::is_backward;
use super::locals::Locals;
use super::timeline::Look;
use super::view::View;
use crate::state::values::{self, Place};

/// Breakpoints that are looked for moment by moment.
pub(super) struct Hits<'s> {
    names: Names<'s>,
    breakpoints: &'s [Breakpoint],
    /// Whether those in the code count.
    code: bool,
    watching: Watching,
}

/// The places that are watched, with the numbers of their breakpoints, and what they held when they were looked at last.
pub(super) struct Watching {
    watched: Vec<(u32, Place)>,
    held: Vec<Vec<u64>>,
}

impl Watching {
    pub(super) fn new(breakpoints: &[Breakpoint]) -> Watching {
        let watch = |b: &Breakpoint| Some((b.number, b.watched()?.clone()));
        Watching { watched: breakpoints.iter().filter(|b| b.enabled).filter_map(watch).collect(), held: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.watched.is_empty()
    }

    /// Looks at what the places hold now.
    pub(super) fn look(&mut self, machine: &Machine<'_>) {
        self.held = self.watched.iter().map(|(_, place)| values::words(machine, place).into_owned()).collect();
    }

    /// The places that have changed since they were looked at last.
    pub(super) fn changed(&mut self, machine: &Machine<'_>) -> Vec<Found> {
        let mut found = Vec::new();
        for ((number, place), held) in self.watched.iter().zip(&mut self.held) {
            let now = values::words(machine, place);
            if *now != **held {
                let before = std::mem::replace(held, now.into_owned());
                found.push(Found::Change { number: *number, words: [before, held.clone()] });
            }
        }
        found
    }
}

/// What names mean.
pub(super) struct Names<'s> {
    pub(super) code: &'s Code<'s>,
    pub(super) store: Option<&'s [Variable]>,
    pub(super) locals: Option<&'s Locals<'s>>,
}

impl<'s> Hits<'s> {
    /// Looks for these breakpoints.
    pub(super) fn new(names: Names<'s>, breakpoints: &'s [Breakpoint]) -> Hits<'s> {
        Hits { names, breakpoints, code: true, watching: Watching::new(breakpoints) }
    }

    /// Looks for those of watched places only.
    pub(super) fn of_watched(names: Names<'s>, breakpoints: &'s [Breakpoint]) -> Hits<'s> {
        Hits { code: false, ..Hits::new(names, breakpoints) }
    }

    /// The breakpoint at a moment, with the moment to which it leads: that before a change. Those that are passed over so many times do not count.
    pub(super) fn at(&mut self, machine: &Machine<'_>, look: Look) -> Option<(u64, Found)> {
        if self.watching.is_empty() && !(self.code && self.breakpoints.iter().any(|b| b.enabled)) {
            return None;
        }
        let Names { code, store, locals } = self.names;
        let view = View { machine, code, store, locals };
        if look.first {
            self.watching.look(machine);
        }
        let mut found = self.watching.changed(machine);
        if self.code && !look.last {
            found.extend(hits(self.breakpoints, view, look.after));
        }
        let passed = |f: &Found| self.breakpoints.iter().any(|b| b.number == f.number() && b.ignore > 0);
        let found = found.into_iter().find(|f| !passed(f) && holds(self.breakpoints, view, f.number()))?;
        let before = u64::from(matches!(found, Found::Change { .. }));
        Some((look.now.saturating_sub(before), found))
    }
}

/// What a movement came to.
#[derive(Clone)]
pub(super) enum Found {
    /// A breakpoint in the code.
    Code(u32),
    /// A place that has changed: the breakpoint's number, and the words before and after.
    Change { number: u32, words: [Vec<u64>; 2] },
}

impl Found {
    pub(super) fn number(&self) -> u32 {
        match self {
            Found::Code(number) | Found::Change { number, .. } => *number,
        }
    }
}

/// The breakpoints in the code at which a machine is.
pub(super) fn hits(breakpoints: &[Breakpoint], view: View<'_>, after: Option<u32>) -> impl Iterator<Item = Found> {
    let (at, back) = (view.machine.pc(), is_backward(view.machine));
    let is = move |b: &&Breakpoint| b.enabled && at.is_some_and(|at| b.is_at(view.code, after, at, back));
    breakpoints.iter().filter(is).map(|b| Found::Code(b.number))
}

/// Whether a breakpoint stops here by its condition. One that cannot be evaluated does not hide that the run came here.
pub(super) fn holds(breakpoints: &[Breakpoint], view: View<'_>, number: u32) -> bool {
    let condition = breakpoints.iter().find(|b| b.number == number).and_then(|b| b.condition.as_ref());
    condition.is_none_or(|condition| view.evaluate(condition).map_or(true, Value::is_true))
}

/// Where a run over a call goes: an instruction with the stack pointer and the direction of the caller.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    pub(super) at: u32,
    pub(super) sp: u64,
    pub(super) back: bool,
}

impl Goal {
    pub(super) fn is_reached(self, machine: &Machine<'_>) -> bool {
        machine.pc() == Some(self.at)
            && machine.registers()[Reg::SP.index()] == self.sp
            && is_backward(machine) == self.back
    }
}
