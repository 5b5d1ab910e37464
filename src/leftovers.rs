//! Finds what a program and its routines leave behind: which words each one writes, and which of these it leaves neither
//! zero nor unchanged; and the words that the program touches at all.
//!
//! The program runs once more, one instruction at a time, and each word's contents get a name. Two words have the same
//! name only if they have the same contents for all inputs that lead the program along this path. Contents that are
//! equal by chance do not count.
//!
//! The same run shows which instructions undo others or clear words, for the uncomputing level.

mod footprint;
mod names;
mod observer;
mod touched;

use pendula_hw_model::breakeven::SpanEffects;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::module::Module;
use pendula_isa::operand::{OPERANDS, Operand};
use pendula_isa::table::{Flow, Row};
use pendula_isa::types::{Cond, Reg, Ty};
use pendula_vm::{ConfigError, Machine, Snapshot};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::state::values::{self, Place};
pub(crate) use footprint::memory_of;
pub use footprint::{Footprint, footprint};
use footprint::{count, words_of};
use names::{Name, Names, SlotNames};
use observer::Observer;
pub(crate) use touched::Touched;

/// The maximum number of instructions whose contents are followed; later behaviour is assumed to be similar.
const STEPS: u64 = 1 << 22;
/// The maximum number of instructions whose addresses are.
pub(crate) const ADDRESSES: u64 = 1 << 26;
/// The maximum number of names within a routine; it bounds the memory.
const NAMES: usize = 1 << 21;
/// Above this number of names, they are discarded when no routine is open. What the whole program leaves is not known then.
const MANY: usize = 1 << 20;
/// The span that is the whole program.
const PROGRAM: u32 = u32::MAX;

/// A word of a machine's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Word {
    Reg(usize),
    Mem(u64),
}

/// Finds what every span of the module leaves in a run forward with these values. The machine stays where that run
/// ends.
///
/// # Errors
/// The host does not have enough memory.
pub fn leaves(machine: &mut Machine<'_>, start: &Snapshot) -> Result<Vec<SpanEffects>, ConfigError> {
    let module = machine.program().module();
    let inputs = values::marked_symbols(module, |import, _| import);
    Ok(footprint(machine, start, module, (&inputs, &[]))?.seen.spans)
}

/// A span that has been entered and not yet left.
struct Open {
    span: u32,
    /// The contents of each written word when the span was entered.
    before: FxHashMap<Word, Name>,
}

/// A procedure that has been entered and not yet left.
struct Frame {
    /// The number of spans that were open before.
    outer: usize,
    /// The gradient level at which it runs.
    level: u8,
}

struct Follower<'m> {
    module: &'m Module,
    start: &'m Snapshot,
    inputs: FxHashSet<Word>,
    /// The spans that contain each instruction, the outermost first.
    within: Vec<Vec<u32>>,
    names: Names,
    regs: [Option<Name>; Reg::COUNT],
    memory: FxHashMap<u64, Name>,
    open: Vec<Open>,
    frames: Vec<Frame>,
    observer: Observer,
    out: Vec<SpanEffects>,
    /// Whether what the whole program leaves is still known.
    whole: bool,
}

impl<'m> Follower<'m> {
    fn new(module: &'m Module, start: &'m Snapshot, inputs: &[Place]) -> Follower<'m> {
        let mut within = vec![Vec::new(); module.code.len()];
        let mut order: Vec<u32> = (0..module.spans.len() as u32).collect();
        // An outer span comes before those inside it.
        order.sort_by_key(|n| {
            let span = &module.spans[*n as usize];
            (span.start, u32::MAX - span.end)
        });
        for n in order {
            let span = &module.spans[n as usize];
            within[span.start as usize..(span.end as usize).min(module.code.len())].iter_mut().for_each(|w| w.push(n));
        }
        Follower {
            module,
            start,
            inputs: inputs.iter().flat_map(words_of).collect(),
            within,
            names: Names::default(),
            regs: [None; Reg::COUNT],
            memory: FxHashMap::default(),
            open: vec![Open { span: PROGRAM, before: FxHashMap::default() }],
            frames: vec![Frame { outer: 1, level: 0 }],
            observer: Observer::new(module.code.len()),
            out: vec![SpanEffects::default(); module.spans.len()],
            whole: true,
        }
    }

    fn name(&mut self, word: Word) -> Name {
        if word == Word::Reg(0) {
            return Name::ZERO;
        }
        // Words that are no inputs begin with what the module says, which is zero as a rule.
        let clean = self.whole && !self.inputs.contains(&word) && self.begins_clear(word);
        let first = || if clean { Name::ZERO } else { self.names.unknown() };
        match word {
            Word::Reg(r) => *self.regs[r].get_or_insert_with(first),
            Word::Mem(at) => *self.memory.entry(at).or_insert_with(first),
        }
    }

    fn begins_clear(&self, word: Word) -> bool {
        match word {
            Word::Reg(r) => self.start.regs.get(r) == Some(&0),
            Word::Mem(at) => usize::try_from(at).is_ok_and(|at| self.start.mem.get(at) == Some(0)),
        }
    }

    /// Records the contents of a word, without counting it as written.
    fn hold(&mut self, word: Word, name: Name) {
        match word {
            Word::Reg(r) => self.regs[r] = Some(name),
            Word::Mem(at) => _ = self.memory.insert(at, name),
        }
    }

    fn write(&mut self, word: Word, name: Name) {
        if word == Word::Reg(0) {
            return;
        }
        let old = self.name(word);
        // The stack pointer says where words are; it is not itself data.
        if let Some(open) = self.open.last_mut().filter(|_| word != Word::Reg(Reg::SP.index())) {
            open.before.entry(word).or_insert(old);
        }
        self.hold(word, name);
    }

    /// Records the effect of an executed instruction; `before` are the registers before it, and `machine` is after it.
    fn ran(&mut self, at: u32, inst: &Inst, forward: bool, (before, machine): (&[u64; Reg::COUNT], &Machine<'_>)) {
        self.enter(at, forward);
        let inst = if forward { *inst } else { inst.inverse() };
        let (words, held) = self.operands(&inst, before);
        if self.frames.last().is_some_and(|f| f.level == 0) {
            let place = forward.then_some(at);
            let filled = self.names.canonical(held[0]) != Name::ZERO;
            self.observer.ran(place, &inst, (&words, filled), before, machine);
        }
        let undid = match inst.kind {
            Kind::Accumulate { acc, inverse, func, .. } => {
                let [old, a, b, c, ..] = held;
                let x = [a, b, c];
                let (new, undid) = self.names.accumulated(old, acc, inverse, func, x);
                words[0].into_iter().for_each(|target| self.write(target, new));
                Some(undid)
            }
            Kind::Row { row, inverse, ty, cond, .. } => self.row(&inst, row, inverse, (ty, cond), before),
            Kind::Extension { .. } => self.changed(&inst, held, &words),
        };
        if undid.is_some() && held.iter().all(|name| self.names.is_constant(*name)) {
            self.fold(&inst, &words, machine);
        }
        if let (Some(undid), true) = (undid, forward) {
            self.observer.traced(at, undid);
        }
        match inst.kind.flow() {
            Flow::Call | Flow::CallRegister => self.call(0),
            Flow::GradientCall => self.call(1),
            Flow::Procedure if matches!(inst.kind, Kind::Row { inverse: true, .. }) => {
                if self.frames.len() > 1
                    && let Some(frame) = self.frames.pop()
                {
                    self.close(frame.outer);
                }
            }
            Flow::Straight | Flow::Jump | Flow::Procedure | Flow::Run | Flow::Branch(_) | Flow::Cell => {}
        }
    }

    /// An instruction has worked on words that are the same for all inputs. So are its results.
    fn fold(&mut self, inst: &Inst, words: &[Option<Word>; OPERANDS], machine: &Machine<'_>) {
        for ((slot, _), word) in inst.operands().zip(words) {
            let Some(word) = word.filter(|_| slot.is_written()) else { continue };
            let now = match word {
                Word::Reg(r) => machine.registers().get(r).copied(),
                Word::Mem(at) => machine.memory().get(at as usize).copied(),
            };
            if let Some(now) = now {
                let (name, constant) = (self.name(word), self.names.constant(now));
                self.names.equal(name, constant);
            }
        }
    }

    fn call(&mut self, up: u8) {
        let level = self.frames.last().map_or(0, |f| f.level).saturating_add(up);
        self.frames.push(Frame { outer: self.open.len(), level });
    }

    /// Leaves the spans that do not contain the next instruction, and enters those that do.
    fn enter(&mut self, at: u32, forward: bool) {
        let Some(frame) = self.frames.last() else { return };
        // Code that runs backward is undoing other code, and gradients do not matter for the choice.
        let (outer, counted) = (frame.outer, frame.level == 0 && forward);
        let spans = std::mem::take(&mut self.within[at as usize]);
        let wanted: &[u32] = if counted { &spans } else { &[] };
        let same = self.open[outer..].iter().zip(wanted).take_while(|(open, span)| open.span == **span).count();
        self.close(outer + same);
        for &span in &wanted[same..] {
            if self.open.iter().all(|open| open.span == PROGRAM) && self.names.count() > MANY {
                // Earlier knowledge about words is not worth the memory for its names.
                self.whole = false;
                self.names = Names::default();
                self.observer.forget();
                self.regs = [None; Reg::COUNT];
                self.memory.clear();
            }
            self.open.push(Open { span, before: FxHashMap::default() });
        }
        for &span in wanted {
            let Some(of) = self.module.spans.get(span as usize) else { continue };
            let leaves = &mut self.out[span as usize];
            leaves.first += u64::from(at == of.start);
            leaves.last += u64::from(at + 1 == of.end);
        }
        self.within[at as usize] = spans;
    }

    /// Leaves all spans except the outermost `left`, of which the program is one.
    fn close(&mut self, left: usize) {
        while self.open.len() > left.max(1) {
            let Some(Open { span, before }) = self.open.pop() else { return };
            let left = count(self.left(&before));
            let leaves = &mut self.out[span as usize];
            leaves.entries += 1;
            leaves.registers += left.registers;
            leaves.memory += left.memory;
            let Some(outer) = self.open.last_mut() else { continue };
            // Merges the smaller map into the larger one; the outer span's entries are older and take precedence.
            if outer.before.is_empty() {
                outer.before = before;
            } else {
                before.into_iter().for_each(|(word, was)| _ = outer.before.entry(word).or_insert(was));
            }
        }
    }

    /// The words that are neither zero nor as they were before.
    fn left(&self, before: &FxHashMap<Word, Name>) -> impl Iterator<Item = Word> {
        before.iter().filter_map(|(word, was)| {
            let is = match word {
                Word::Reg(r) => self.regs[*r],
                Word::Mem(at) => self.memory.get(at).copied(),
            };
            let (is, was) = (is.map(|name| self.names.canonical(name)), self.names.canonical(*was));
            (is != Some(was) && is != Some(Name::ZERO)).then_some(*word)
        })
    }

    /// Leaves all spans: those that are still open have left what they have so far. Returns what the program has left, if that is known.
    fn finish(&mut self) -> Option<Vec<Word>> {
        self.close(0);
        let program = self.open.first().filter(|_| self.whole)?;
        Some(self.left(&program.before).collect())
    }

    /// The operands: their words, if they are part of the state, and their contents.
    fn operands(&mut self, inst: &Inst, before: &[u64; Reg::COUNT]) -> ([Option<Word>; OPERANDS], SlotNames) {
        let (mut words, mut held) = ([None; OPERANDS], [Name::ZERO; OPERANDS]);
        for (n, (_, operand)) in inst.operands().enumerate() {
            match operand {
                Operand::Reg(r) => words[n] = Some(Word::Reg(r.index())),
                Operand::Mem { base, index, offset } => {
                    let base = before[base.index()].wrapping_add(before[index.index()]);
                    words[n] = Some(Word::Mem(base.wrapping_add(offset.cast_unsigned())));
                }
                Operand::Imm(word, _) => held[n] = self.names.constant(word),
                Operand::Small(k) => held[n] = self.names.constant(i64::from(k).cast_unsigned()),
                Operand::Factor(k) => held[n] = self.names.constant(k.into()),
                Operand::Label(_) | Operand::Text(_) => {}
            }
            if let Some(word) = words[n] {
                held[n] = self.name(word);
            }
        }
        (words, held)
    }

    /// Records the effect of an instruction that does not accumulate; returns whether it undoes an earlier one, if names tell.
    fn row(
        &mut self,
        inst: &Inst,
        row: Row,
        inverse: bool,
        (ty, cond): (Ty, Cond),
        before: &[u64; Reg::COUNT],
    ) -> Option<bool> {
        let (words, held) = self.operands(inst, before);
        match row {
            Row::Swap | Row::Exch => {
                if let (Some(a), Some(b)) = (words[0], words[1]) {
                    self.write(a, held[1]);
                    self.write(b, held[0]);
                }
            }
            // The slot that a push fills, or the register that a pop fills, was checked to be zero.
            Row::Push => {
                let sp = before[Reg::SP.index()];
                let slot = Word::Mem(if inverse { sp.wrapping_sub(1) } else { sp });
                if let Some(reg) = words[0] {
                    let top = self.name(slot);
                    let (to_reg, to_slot) = if inverse { (top, Name::ZERO) } else { (Name::ZERO, held[0]) };
                    self.write(slot, to_slot);
                    self.write(reg, to_reg);
                }
            }
            // The word is checked, not written.
            Row::Zero => {
                if let Some(word) = words[0] {
                    self.names.equal(held[0], Name::ZERO);
                    self.hold(word, Name::ZERO);
                }
            }
            Row::ZeroWithin | Row::Erase => words[0].into_iter().for_each(|word| self.write(word, Name::ZERO)),
            Row::Emit if !inverse => words[0].into_iter().for_each(|word| self.write(word, Name::ZERO)),
            // The contents of tapes and cells are unknown.
            Row::Emit | Row::Read | Row::Exch32 | Row::Swapbr => {
                if let Some(word) = words[0] {
                    let new = self.names.unknown();
                    self.write(word, new);
                }
            }
            Row::Assert | Row::Jmp | Row::Bra => self.compared(inst, (ty, cond), before),
            // Gradient words are not followed.
            Row::Gswap => {}
            // Any other row changes the operands that it writes; a link is popped as it was pushed.
            _ => {
                return self.changed(inst, held, &words);
            }
        }
        None
    }

    /// Records the effect of an instruction on the operands that it writes; returns whether it undoes an earlier one, if it writes any.
    fn changed(&mut self, inst: &Inst, held: SlotNames, words: &[Option<Word>; OPERANDS]) -> Option<bool> {
        let mut written = [false; OPERANDS];
        inst.operands().zip(&mut written).for_each(|((slot, _), w)| *w = slot.is_written());
        if !written.contains(&true) {
            return None;
        }
        let (new, undid) = self.names.changed(inst.kind, held, written);
        for ((word, new), _) in words.iter().zip(new).zip(written).filter(|(_, w)| *w) {
            word.iter().for_each(|word| self.write(*word, new));
        }
        Some(undid)
    }

    /// Records a comparison that found two words equal.
    fn compared(&mut self, inst: &Inst, (ty, cond): (Ty, Cond), before: &[u64; Reg::COUNT]) {
        // Equal doubles need not be the same word.
        if !matches!(cond, Cond::Eq | Cond::Ne) || !matches!(ty, Ty::Int | Ty::Q) {
            return;
        }
        let word = |operand: Operand| match operand {
            Operand::Reg(r) => Some(before[r.index()]),
            Operand::Imm(word, _) => Some(word),
            Operand::Small(k) => Some(match ty {
                Ty::Q => i64::from(k).cast_unsigned() << self.module.flags.format.frac(),
                Ty::Int | Ty::L | Ty::F => i64::from(k).cast_unsigned(),
            }),
            Operand::Mem { .. } | Operand::Factor(_) | Operand::Label(_) | Operand::Text(_) => None,
        };
        let compared: Vec<Operand> = inst.operands().map(|(_, operand)| operand).take(2).collect();
        let [a, b] = compared[..] else { return };
        let (Some(first), Some(second)) = (word(a), word(b)) else { return };
        if first != second {
            return;
        }
        let mut known = |operand: Operand, word: u64| match operand {
            Operand::Reg(r) => self.name(Word::Reg(r.index())),
            Operand::Imm(..)
            | Operand::Small(_)
            | Operand::Mem { .. }
            | Operand::Factor(_)
            | Operand::Label(_)
            | Operand::Text(_) => self.names.constant(word),
        };
        let (of_a, of_b) = (known(a, first), known(b, second));
        self.names.equal(of_a, of_b);
    }
}
