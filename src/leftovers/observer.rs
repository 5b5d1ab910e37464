//! What the instructions of a run do to words: which ones clear a word that nothing reads before it is written anew.

use std::ops::Range;

use pendula_hw_model::level::Observed;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::module::{Module, SymbolKind};
use pendula_isa::operand::{OPERANDS, Operand};
use pendula_isa::table::Row;
use pendula_isa::types::Reg;
use pendula_vm::Machine;
use rustc_hash::FxHashMap;

use super::Word;

/// The last instruction that wrote a word, if nothing has read the word since.
#[derive(Clone, Copy)]
struct Written {
    at: u32,
    /// Whether the word is zero, or was found to be within what a check allows.
    zero: bool,
}

/// Watches a run, instruction by instruction.
pub(super) struct Observer {
    of: Vec<Observed>,
    unread: FxHashMap<Word, Written>,
    /// Whether words still have the names that they had from the start.
    knows: bool,
}

impl Observer {
    pub(super) fn new(instructions: usize) -> Observer {
        Observer { of: vec![Observed::default(); instructions], unread: FxHashMap::default(), knows: true }
    }

    /// Names have been discarded: later instructions may undo earlier ones though it is not seen.
    pub(super) fn forget(&mut self) {
        self.knows = false;
    }

    /// An instruction did or did not undo an earlier one.
    pub(super) fn traced(&mut self, at: u32, undid: bool) {
        if let Some(of) = self.of.get_mut(at as usize).filter(|_| self.knows) {
            of.traced += 1;
            of.undid += u64::from(undid);
        }
    }

    /// An instruction ran at no gradient level, at a place of the code if it ran forward. `words` are its operands, `filled` whether its first
    /// one may have been other than zero in memory; `before` are the registers before it, and `machine` is after it.
    pub(super) fn ran(
        &mut self,
        at: Option<u32>,
        inst: &Inst,
        (words, filled): (&[Option<Word>; OPERANDS], bool),
        before: &[u64; Reg::COUNT],
        machine: &Machine<'_>,
    ) {
        let now = |word: Word| match word {
            Word::Reg(r) => machine.registers()[r],
            Word::Mem(at) => machine.memory().get(at as usize).copied().unwrap_or(0),
        };
        if let Some(of) = at.and_then(|at| self.of.get_mut(at as usize)) {
            of.times += 1;
        }
        if let Kind::Row { row, inverse, .. } = inst.kind {
            match row {
                // A check reads nothing that an irreversible program needs.
                Row::Assert => return,
                Row::Jmp if inverse => return,
                Row::Zero | Row::ZeroWithin => {
                    if let Some(written) = words[0].and_then(|word| self.unread.get_mut(&word)) {
                        written.zero = true;
                    }
                    return;
                }
                Row::Swap | Row::Exch => {
                    self.exchanged(at, words, before);
                    return;
                }
                _ => {}
            }
        }
        let mut written = None;
        for (n, (slot, operand)) in inst.operands().enumerate() {
            if let Operand::Mem { base, index, .. } = operand {
                self.read(Word::Reg(base.index()));
                self.read(Word::Reg(index.index()));
            }
            let Some(word) = words[n] else { continue };
            if !slot.is_written() || takes_all(inst) {
                self.read(word);
            } else {
                // What was zero is written anew.
                if let Some(Written { at, zero: true }) = self.unread.remove(&word) {
                    self.cleared(at);
                }
                written = Some(word);
            }
        }
        let targets = inst.kind.layout().into_iter().filter(|s| s.is_written()).count();
        let (Some(word), Some(at), 1, false) = (written, at, targets, takes_all(inst)) else { return };
        if let Some(of) = self.of.get_mut(at as usize) {
            of.filled += u64::from(match word {
                Word::Reg(r) => before[r] != 0,
                Word::Mem(_) => filled,
            });
        }
        self.unread.insert(word, Written { at, zero: now(word) == 0 });
    }

    /// Two words were exchanged; each takes along what is known of it.
    fn exchanged(&mut self, at: Option<u32>, words: &[Option<Word>; OPERANDS], before: &[u64; Reg::COUNT]) {
        let [Some(a), Some(b), ..] = *words else { return };
        let (of_a, of_b) = (self.unread.remove(&a), self.unread.remove(&b));
        for (word, written) in [(a, of_b), (b, of_a)] {
            written.into_iter().for_each(|written| _ = self.unread.insert(word, written));
        }
        if let (Word::Reg(a), Word::Reg(b), Some(at)) = (a, b, at)
            && (before[a] == 0 || before[b] == 0)
            && let Some(of) = self.of.get_mut(at as usize)
        {
            of.moved += 1;
        }
    }

    fn read(&mut self, word: Word) {
        self.unread.remove(&word);
    }

    fn cleared(&mut self, at: u32) {
        if let Some(of) = self.of.get_mut(at as usize) {
            of.cleared += 1;
        }
    }

    /// The run has ended. What it leaves in registers or in data that is not exported is read by no one.
    pub(super) fn finish(mut self, module: &Module) -> Vec<Observed> {
        let exported: Vec<Range<u64>> = module
            .symbols
            .iter()
            .filter_map(|s| match s.kind {
                SymbolKind::Data { len, export: true, .. } => Some(s.value..s.value.saturating_add(len)),
                SymbolKind::Data { .. } | SymbolKind::Label | SymbolKind::Proc => None,
            })
            .collect();
        let is_result = |word: &Word| match word {
            Word::Reg(_) => false,
            Word::Mem(at) => exported.iter().any(|data| data.contains(at)),
        };
        let left = std::mem::take(&mut self.unread);
        for (_, written) in left.iter().filter(|(word, written)| written.zero && !is_result(word)) {
            self.cleared(written.at);
        }
        self.of
    }
}

/// Whether an instruction takes what its target holds: it moves it to the stack or to the host.
fn takes_all(inst: &Inst) -> bool {
    matches!(inst.kind, Kind::Row { row: Row::Push | Row::Emit | Row::Read | Row::Erase, .. })
}
