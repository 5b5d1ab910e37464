//! To uncompute or to erase: what undoing each routine of a program costs, what
//! erasing its ancillas instead would, and from which frequency on that is
//! cheaper.

use pendula_isa::counts::{Counts, Direction};
use pendula_isa::module::{Module, Span};
use pendula_isa::operand::Slot;
use pendula_isa::table::Flow;
use pendula_isa::types::Reg;

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
    /// What undoing it exercised, in all.
    pub work: Work,
    /// Words that would have to be erased each time: the registers that the routine writes, and for each word of memory that it writes one.
    pub words: u64,
    /// Whether the routine calls procedures: what those do is in none of the figures.
    pub calls: bool,
}

/// What is cheaper for an [`Undoing`] on a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Undoing, in joules.
    pub uncompute: f64,
    /// Erasing, in joules.
    pub erase: f64,
    /// The frequencies in hertz between which undoing is cheaper: below the first it leaks too much, above the second it is driven too fast. The
    /// first is 0 where nothing leaks, the second infinite where it would lie beyond the frequency at which a ramp lasts one time constant.
    /// `None` where erasing is cheaper at any frequency, or where costs do not depend on it.
    pub between: Option<(f64, f64)>,
}

/// The routines of a program that were undone in a run forward.
pub fn undoings(module: &Module, counts: &Counts) -> Vec<Undoing> {
    let mut executed = vec![0u64; module.code.len()];
    for mode in counts.modes.iter().filter(|m| m.mode.direction == Direction::Forward && m.mode.level == 0) {
        for (sum, n) in executed.iter_mut().zip(counts.per_instruction(mode, module.code.len())) {
            *sum += n;
        }
    }
    // A span whose first instruction is a loop's is entered as often as its last instruction is left, and the other way round.
    let entered = |s: &Span| {
        let last = s.end.saturating_sub(1).max(s.start);
        let at = |n: u32| executed.get(n as usize).copied().unwrap_or(0);
        at(s.start).min(at(last))
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
        let mut work = Work::default();
        for at in undo.start..undo.end {
            let Some(inst) = module.code.get(at as usize) else { continue };
            let mode = pendula_isa::counts::Mode::default();
            work.add_times(&Work::of(inst, mode), executed[at as usize]);
        }
        let mut written = [false; Reg::COUNT];
        let mut memory = 0u64;
        for at in routine.start..routine.end {
            let Some(inst) = module.code.get(at as usize) else { continue };
            for slot in inst.kind.layout() {
                match slot {
                    Slot::Target(f) => written[inst.regs[f as usize].index()] = true,
                    Slot::TargetMem(_) | Slot::TargetMemPlain(_) => memory += executed[at as usize],
                    Slot::Reg(_) | Slot::Mem(_) | Slot::MemPlain(_) | Slot::Imm | Slot::Small | Slot::None => {}
                    Slot::FactorNum | Slot::FactorDen | Slot::Label | Slot::Text => {}
                }
            }
        }
        written[0] = false;
        let registers = written.iter().filter(|w| **w).count() as u64;
        let words = registers + memory.div_ceil(entered(routine).max(1));
        let code = module.code.get(routine.start as usize..routine.end as usize).unwrap_or_default();
        let calls = code.iter().any(|i| matches!(i.kind.flow(), Flow::Call | Flow::CallRegister | Flow::GradientCall));
        out.push(Undoing {
            calls,
            name: undo.name.clone(),
            routine: routine.start,
            undoing: undo.start,
            times,
            work,
            words,
        });
    }
    out
}

impl Undoing {
    /// Prices both ways.
    pub fn choice(&self, device: &Device<'_>) -> Choice {
        let erase = device.bits_lost(self.times * self.words * u64::from(WORD)).total();
        let uncompute = device.work(&self.work).total();
        Choice { uncompute, erase, between: self.break_even(device, erase) }
    }

    /// Where the price of undoing, which has one minimum over frequency, passes that of erasing, which has no frequency.
    fn break_even(&self, device: &Device<'_>, erase: f64) -> Option<(f64, f64)> {
        let technology = device.technology();
        let price = |hertz: f64| {
            let conditions = Conditions { hertz: Some(hertz), ..device.conditions() };
            Device::new(technology, conditions).map_or(f64::NAN, |d| d.work(&self.work).total())
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
