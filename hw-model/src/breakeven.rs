//! Uncomputing or erasing: what it costs to undo each routine of a program, what it would cost to erase its ancillas
//! instead, and from which frequency on erasing is cheaper.

use std::collections::BTreeSet;

use pendula_isa::counts::{Counts, Direction, Mode};
use pendula_isa::inst::Inst;
use pendula_isa::module::{Module, Span};
use pendula_isa::operand::Slot;
use pendula_isa::table::{Flow, Row};
use pendula_isa::types::Reg;
use pendula_isa::verify::{is_row, target};

use crate::call_costs::{CalleeCosts, WorkDone};
use crate::physics::minimum;
use crate::price::{Conditions, Device, Dirty, Totals};
use crate::work::share;

/// A routine that is undone.
#[derive(Clone, Debug, PartialEq)]
pub struct Undoing {
    /// The routine's name.
    pub name: String,
    /// The first instruction of the routine.
    pub routine: u32,
    /// The first instruction of the code that undoes it.
    pub undoing: u32,
    /// The number of times that it was undone.
    pub times: u64,
    /// The total work of undoing it, with the fetches of its instructions and their accesses to registers, without the procedures that
    /// were called.
    pub work: Totals,
    /// The work of the procedures that were called while undoing it: for each call, the mean over all calls of the
    /// procedure in the same direction.
    pub called: Totals,
    /// The number of words that would have to be erased each time, on average, rounded up: those that the routine
    /// leaves neither zero nor unchanged, in registers and in memory, in the routine and in the procedures that it
    /// calls.
    pub words: u64,
    /// The total work of erasing them, by an instruction for each word, and the bits that this loses.
    pub erasing: Totals,
    /// The total number of these words.
    pub erased: u64,
    /// Whether the routine calls procedures.
    pub calls: bool,
    /// Whether the routine calls procedures by an address in a register. The figures do not include such procedures.
    pub unknown: bool,
}

/// The cheaper choice for an [`Undoing`] on a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The cost of undoing, including callees, in joules.
    pub uncompute: f64,
    /// The same without callees.
    pub own: f64,
    /// The cost of erasing, in joules.
    pub erase: f64,
    /// The frequencies in hertz between which undoing is cheaper. Below the first, leakage is too high; above the
    /// second, the circuit is driven too fast. The first is 0 if nothing leaks; the second is infinite if it would lie
    /// above the frequency at which a ramp lasts one time constant. `None` if erasing is cheaper at any frequency, or
    /// if costs do not depend on it.
    pub between: Option<(f64, f64)>,
}

/// The observed effects of a span, over all times that it ran forward in a run or in the beginning of one. Plain data,
/// made by the caller that runs programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpanEffects {
    /// The number of entries that were followed by an exit.
    pub entries: u64,
    /// The number of executions of its first instruction.
    pub first: u64,
    /// The number of executions of its last instruction.
    pub last: u64,
    /// The number of registers that were left neither zero nor unchanged, as far as is known whatever they hold, summed
    /// over all entries.
    pub registers: u64,
    /// The same for words of memory.
    pub memory: u64,
}

/// The routines of a program that were undone in a forward run. `leaves` holds the effects of each of the module's
/// spans, if they are known. Otherwise a span counts as entered whenever its first and its last instruction ran, and
/// all words that it may write count as left.
pub fn undoings(module: &Module, counts: &Counts, leaves: &[SpanEffects]) -> Vec<Undoing> {
    let called = CalleeCosts::new(module, counts);
    let forward = |mode: &Mode| mode.direction == Direction::Forward && mode.level == 0;
    let executed: Vec<u64> = (0..module.code.len() as u32)
        .map(|at| called.executed(at).filter(|(mode, _)| forward(mode)).map(|(_, n)| n).sum())
        .collect();
    let bits = u64::from(module.flags.profile.width());
    let leaves = |s: &Span| {
        let at = module.spans.iter().position(|o| std::ptr::eq(o, s));
        at.and_then(|n| leaves.get(n)).copied().unwrap_or_default()
    };
    // The execution counts of instructions tell how often control came to the span, unless jumps on both sides of it
    // lead past each other. Then the ratio of entries to executions of its ends is that of the observed run.
    let entered = |s: &Span| {
        let last = s.end.saturating_sub(1).max(s.start);
        let at = |n: u32| executed.get(n as usize).copied().unwrap_or(0);
        let (both, followed) = (at(s.start).min(at(last)), leaves(s));
        match (entries(&module.code, &executed, s), followed.first.min(followed.last)) {
            (Some(entries), _) => entries,
            (None, 0) => both,
            (None, all) => share(both, followed.entries, all),
        }
    };
    // The work of the span itself, and of its callees.
    let measured = |s: &Span| {
        let (mut own, mut others) = (WorkDone::default(), WorkDone::default());
        for at in s.start..s.end.min(module.code.len() as u32) {
            let inst = &module.code[at as usize];
            own.add(inst, Mode::default(), executed[at as usize], bits);
            for (mode, times) in called.executed(at).filter(|(mode, n)| forward(mode) && *n > 0) {
                called.add(module, (at, mode), times, &mut others);
            }
        }
        (own, others)
    };
    let mut out = Vec::new();
    let inner = |s: &Span| module.spans.iter().any(|o| o.undo && o != s && o.start <= s.start && s.end <= o.end);
    // Undoing that is nested in another undoing is part of that.
    for undo in module.spans.iter().filter(|s| s.undo && s.start < s.end && !inner(s)) {
        let times = entered(undo);
        let before = module.spans.iter().filter(|s| !s.undo && s.name == undo.name && s.end <= undo.start);
        let Some(routine) = before.max_by_key(|s| s.start) else { continue };
        if times == 0 {
            continue;
        }
        let (own, others) = measured(undo);
        let (done, there) = measured(routine);
        let code = module.code.get(routine.start as usize..routine.end as usize).unwrap_or_default();
        let followed = leaves(routine);
        let (registers, memory) = if followed.entries > 0 {
            let all = |n: u64| share(times, n, followed.entries);
            (all(followed.registers), all(followed.memory))
        } else {
            let memory = done.memory.saturating_add(there.memory);
            let each = memory.div_ceil(entered(routine).max(1));
            (registers_written(code).saturating_mul(times), each.saturating_mul(times))
        };
        let erased = registers.saturating_add(memory);
        out.push(Undoing {
            name: undo.name.clone(),
            routine: routine.start,
            undoing: undo.start,
            times,
            words: erased.div_ceil(times),
            erasing: Totals::erasing(Dirty { registers, memory }, bits),
            erased,
            calls: code.iter().any(is_call),
            unknown: [&own, &others, &done, &there].iter().any(|d| d.unknown),
            work: own.work,
            called: others.work,
        });
    }
    out
}

/// How often a span was entered, if the executions of its neighbours tell.
fn entries(code: &[Inst], executed: &[u64], span: &Span) -> Option<u64> {
    let ran = |at: u32| executed.get(at as usize).copied();
    let first = code.get(span.start as usize)?;
    let within = |to: u32| (span.start..span.end).contains(&to);
    let loops =
        matches!(first.kind.flow(), Flow::Jump) && target(code, span.start, first).is_some_and(|(to, _)| within(to));
    if !loops {
        return ran(span.start);
    }
    fallthroughs(code, executed, span.start.checked_sub(1)?).filter(|n| Some(*n) <= ran(span.start))
}

/// The number of times that control fell through from an instruction to the next one: its executions, minus its jumps
/// if it is a jump. It has jumped as often as its target was executed without being fallen into.
fn fallthroughs(code: &[Inst], executed: &[u64], mut at: u32) -> Option<u64> {
    let mut seen = BTreeSet::new();
    let mut sum = i128::from(*executed.get(at as usize)?);
    // Each jump leads to the same question about another instruction, until one was asked before.
    loop {
        let inst = code.get(at as usize)?;
        if !is_row(inst, Row::Jmp, false) {
            return u64::try_from(sum).ok();
        }
        if !seen.insert(at) {
            return None;
        }
        let (lands, _) = target(code, at, inst)?;
        // fallthroughs(at) = ran(at) − ran(lands) + fallthroughs(lands − 1).
        sum -= i128::from(*executed.get(lands as usize)?);
        at = lands.checked_sub(1)?;
        sum += i128::from(*executed.get(at as usize)?);
    }
}

/// The number of registers that some code may write.
fn registers_written(code: &[Inst]) -> u64 {
    let mut written = [false; Reg::COUNT];
    for inst in code {
        for slot in inst.kind.layout() {
            if let Slot::Target(f) = slot {
                written[inst.regs[f as usize].index()] = true;
            }
        }
    }
    written[0] = false;
    written.iter().filter(|w| **w).count() as u64
}

fn is_call(inst: &Inst) -> bool {
    matches!(inst.kind.flow(), Flow::Call | Flow::CallRegister | Flow::GradientCall)
}

impl Undoing {
    /// Prices both alternatives.
    pub fn choice(&self, device: &Device<'_>) -> Choice {
        let erase = device.total(&self.erasing).total();
        let own = device.total(&self.work).total();
        let uncompute = device.total(&self.work_with_callees()).total();
        Choice { uncompute, own, erase, between: self.break_even(device) }
    }

    /// The work of undoing, including callees.
    fn work_with_callees(&self) -> Totals {
        let mut out = self.work.clone();
        out.add_share(&self.called, 1, 1);
        out
    }

    /// The frequencies between which undoing is cheaper than erasing. The cost of undoing has a single minimum over the
    /// frequency.
    fn break_even(&self, device: &Device<'_>) -> Option<(f64, f64)> {
        let technology = device.technology();
        let work_with_callees = self.work_with_callees();
        // What undoing takes above erasing.
        let price = |hertz: f64| {
            let conditions = Conditions { hertz: Some(hertz), ..device.conditions() };
            let price = |d: Device<'_>| d.total(&work_with_callees).total() - d.total(&self.erasing).total();
            Device::new(technology, conditions).map_or(f64::NAN, price)
        };
        let (lowest, highest) = device.frequencies()?;
        let (best, _) = minimum(|log| price(log.exp()), lowest.ln(), highest.ln());
        let best = best.exp();
        if price(best) >= 0.0 {
            return None;
        }
        // Between a frequency at which undoing is cheaper and one at which it is not.
        let crossing = |mut cheap: f64, mut dear: f64| {
            while (cheap / dear - 1.0).abs() > 1e-9 {
                let middle = (cheap * dear).sqrt();
                if price(middle) < 0.0 { cheap = middle } else { dear = middle }
            }
            cheap
        };
        let low = if price(lowest) < 0.0 { 0.0 } else { crossing(best, lowest) };
        let high = if price(highest) < 0.0 { f64::INFINITY } else { crossing(best, highest) };
        Some((low, high))
    }
}
