//! Operands that are written as different words of memory, and may be one.

use pendula_codegen::loops::{self, LocalInfo, Scope, Slot, Stmt as Out, Word};
use pendula_isa::Ty;
use pendula_isa::adjoint::VALUE;

use super::Refused;
use super::function::FunctionBuilder;
use crate::ir::{LocatedStmt, Mem, Operand};

impl FunctionBuilder<'_, '_> {
    /// Pairs of memory words that are written as different ones and may be the same.
    pub(super) fn possible_aliases(&mut self, s: &LocatedStmt, operands: &[(Operand, Ty)]) -> Vec<(Mem, Mem)> {
        let active = operands.iter().filter(|(o, _)| !self.is_inactive(*o));
        let words: Vec<Mem> =
            active.filter_map(|(o, _)| if let Operand::Mem(m) = o { Some(*m) } else { None }).collect();
        let pairs = words.iter().enumerate().flat_map(|(n, a)| words[n + 1..].iter().map(move |b| (*a, *b)));
        let mut pairs: Vec<(Mem, Mem)> = pairs.filter(|(a, b)| a != b && !differ(*a, *b)).collect();
        if !pairs.is_empty() {
            let apart = self.w.drops.words_apart(self.f);
            pairs.retain(|(a, b)| !apart.operands.contains(&(std::ptr::from_ref(s), *a, *b)));
        }
        pairs
    }

    /// Adds operations, of which this word, the first of two names of one, is an operand as a copy. The machine copies operands, and undoes the copies from
    /// the last to the first: what flows to the first comes last.
    pub(super) fn with_copy(
        &mut self,
        mem: Mem,
        operations: impl FnOnce(&mut Self) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        let ty = self.f.regions.get(mem.region.0 as usize).map_or(Ty::F, |region| region.ty);
        let own = self.memory_place(mem);
        let copy = self.local(LocalInfo { name: "copy".into(), ty, lane: VALUE, scope: Scope::Function });
        let word = |place, lane| Word { place, ty, lane };
        let (own, at) = (|lane| word(own, lane), |lane| word(loops::Place::Local(copy), lane));
        self.push(Out::Clear(copy));
        for lane in [VALUE].into_iter().chain(self.lanes_of(ty).iter().copied()) {
            if lane == VALUE || loops::flows_forward(self.ad_mode, lane) {
                let value = self.fresh_for("value", lane, ty);
                self.push(Out::Define(value, Some(own(lane))));
                self.push(Out::Write(at(lane), value));
            }
        }
        let outer = self.kept.insert(mem, copy);
        let done = operations(self);
        match outer {
            Some(outer) => self.kept.insert(mem, outer),
            None => self.kept.remove(&mem),
        };
        done?;
        for &lane in self.lanes_of(ty) {
            if !loops::flows_forward(self.ad_mode, lane) {
                let sum = self.sum(lane, ty, [Slot::Word(own(lane)), Slot::Word(at(lane))])?;
                self.push(Out::Block(sum));
            }
        }
        self.push(Out::Clear(copy));
        Ok(())
    }
}

/// Whether two words are different ones for certain.
pub(super) fn differ(a: Mem, b: Mem) -> bool {
    let alike = (a.base, a.index) == (b.base, b.index) || (a.base, a.index) == (b.index, b.base);
    a.region != b.region || (alike && a.offset != b.offset)
}
