//! To uncompute or to erase: what undoing each routine of a program costs, what
//! erasing its ancillas instead would, and from which frequency on that is
//! cheaper.

use pendula_isa::counts::{Counts, Direction, Mode};
use pendula_isa::inst::Inst;
use pendula_isa::module::{Module, Span};
use pendula_isa::operand::Slot;
use pendula_isa::table::Flow;
use pendula_isa::types::Reg;

use crate::called::{Called, Done};
use crate::price::{Conditions, Device, WORD};
use crate::technology::Logic;
use crate::work::Work;

/// A routine that is undone.
#[derive(Clone, Debug, PartialEq)]
pub struct Undoing {
    /// The routine's name.
    pub name: String,
    /// The first instruction of the routine.
    pub routine: u32,
    /// The first instruction of what undoes it.
    pub undoing: u32,
    /// How often it was undone.
    pub times: u64,
    /// What undoing it exercised, in all, without what it called.
    pub work: Work,
    /// What the procedures did that undoing it called: of each its mean over all calls in the same direction.
    pub called: Work,
    /// Words that would have to be erased each time: the registers that the routine writes, and for each word of memory that it writes one, there and
    /// in the procedures that it calls.
    pub words: u64,
    /// Whether the routine calls procedures.
    pub calls: bool,
    /// Whether it calls some by an address in a register: what those do is in none of the figures.
    pub unknown: bool,
}

/// What is cheaper for an [`Undoing`] on a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Undoing, with what it calls, in joules.
    pub uncompute: f64,
    /// The same without what it calls.
    pub own: f64,
    /// Erasing, in joules.
    pub erase: f64,
    /// The frequencies in hertz between which undoing is cheaper: below the first it leaks too much, above the second it is driven too fast. The
    /// first is 0 where nothing leaks, the second infinite where it would lie beyond the frequency at which a ramp lasts one time constant.
    /// `None` where erasing is cheaper at any frequency, or where costs do not depend on it.
    pub between: Option<(f64, f64)>,
}

/// The routines of a program that were undone in a run forward.
pub fn undoings(module: &Module, counts: &Counts) -> Vec<Undoing> {
    let called = Called::new(module, counts);
    let forward = |mode: &Mode| mode.direction == Direction::Forward && mode.level == 0;
    let executed: Vec<u64> = (0..module.code.len() as u32)
        .map(|at| called.executed(at).filter(|(mode, _)| forward(mode)).map(|(_, n)| n).sum())
        .collect();
    // A span whose first instruction is a loop's is entered as often as its last instruction is left, and the other way round.
    let entered = |s: &Span| {
        let last = s.end.saturating_sub(1).max(s.start);
        let at = |n: u32| executed.get(n as usize).copied().unwrap_or(0);
        at(s.start).min(at(last))
    };
    // What a span did itself, and what it called.
    let measured = |s: &Span| {
        let (mut own, mut others) = (Done::default(), Done::default());
        for at in s.start..s.end.min(module.code.len() as u32) {
            let inst = &module.code[at as usize];
            own.add(inst, Mode::default(), executed[at as usize]);
            for (mode, times) in called.executed(at).filter(|(mode, n)| forward(mode) && *n > 0) {
                called.add(module, (at, mode), times, &mut others);
            }
        }
        (own, others)
    };
    let mut out = Vec::new();
    let inner = |s: &Span| module.spans.iter().any(|o| o.undo && o != s && o.start <= s.start && s.end <= o.end);
    // What is undone within an undoing is part of that.
    for undo in module.spans.iter().filter(|s| s.undo && s.start < s.end && !inner(s)) {
        let times = entered(undo);
        let before = module.spans.iter().filter(|s| !s.undo && s.name == undo.name && s.end <= undo.start);
        let Some(routine) = before.max_by_key(|s| s.start) else { continue };
        if times == 0 {
            continue;
        }
        let (own, others) = measured(undo);
        let (done, there) = measured(routine);
        let mut written = [false; Reg::COUNT];
        let code = module.code.get(routine.start as usize..routine.end as usize).unwrap_or_default();
        for inst in code {
            for slot in inst.kind.layout() {
                if let Slot::Target(f) = slot {
                    written[inst.regs[f as usize].index()] = true;
                }
            }
        }
        written[0] = false;
        let registers = written.iter().filter(|w| **w).count() as u64;
        let memory = done.memory.saturating_add(there.memory);
        out.push(Undoing {
            name: undo.name.clone(),
            routine: routine.start,
            undoing: undo.start,
            times,
            words: registers + memory.div_ceil(entered(routine).max(1)),
            calls: code.iter().any(is_call),
            unknown: [&own, &others, &done, &there].iter().any(|d| d.unknown),
            work: own.work,
            called: others.work,
        });
    }
    out
}

fn is_call(inst: &Inst) -> bool {
    matches!(inst.kind.flow(), Flow::Call | Flow::CallRegister | Flow::GradientCall)
}

impl Undoing {
    /// Prices both ways.
    pub fn choice(&self, device: &Device<'_>) -> Choice {
        let erase = device.bits_lost(self.times * self.words * u64::from(WORD)).total();
        let own = device.work(&self.work).total();
        let uncompute = device.work(&self.whole()).total();
        Choice { uncompute, own, erase, between: self.break_even(device, erase) }
    }

    /// What undoing it exercised, with what it called.
    fn whole(&self) -> Work {
        let mut out = self.work.clone();
        out.add_times(&self.called, 1);
        out
    }

    /// Where the price of undoing, which has one minimum over frequency, passes that of erasing, which has no frequency.
    fn break_even(&self, device: &Device<'_>, erase: f64) -> Option<(f64, f64)> {
        let technology = device.technology();
        let whole = self.whole();
        let price = |hertz: f64| {
            let conditions = Conditions { hertz: Some(hertz), ..device.conditions() };
            Device::new(technology, conditions).map_or(f64::NAN, |d| d.work(&whole).total())
        };
        let (lowest, best, highest) = match &device.energy().logic {
            Logic::Ideal | Logic::Irreversible(_) => return None,
            Logic::Adiabatic { physics, .. } => {
                let physics = device.physics().unwrap_or(*physics);
                let best = physics.numeric_best().0;
                (1e-3, best, (1.0 / (physics.ticks * physics.time_constant)).max(best))
            }
            Logic::Superconducting { .. } => (1e-3, 1e-3, 1e12),
        };
        if price(best) >= erase {
            return None;
        }
        // Between a frequency where undoing is cheaper and one where it is not.
        let crossing = |mut cheap: f64, mut dear: f64| {
            while (cheap / dear - 1.0).abs() > 1e-9 {
                let middle = (cheap * dear).sqrt();
                if price(middle) < erase { cheap = middle } else { dear = middle }
            }
            cheap
        };
        let low = if price(lowest) < erase { 0.0 } else { crossing(best, lowest) };
        let high = if price(highest) < erase { f64::INFINITY } else { crossing(best, highest) };
        Some((low, high))
    }
}
