//! Lifts extensions: their steps, on local registers. The operands are brought there before, and back after all steps, so that no step exits
//! after something has changed.

use pendula_isa::adjoint::VALUE;
use pendula_isa::arith::Arith;
use pendula_isa::extension::temporary_register;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::types::Reg;

use super::{Lifter, Unsupported};

impl Lifter<'_> {
    /// Lifts an extension whose operands are set up, or with `back` its inverse.
    pub(super) fn extension(&mut self, inst: &Inst, back: bool) -> Result<(), Unsupported> {
        let Kind::Extension { extension, .. } = inst.kind else { return Err(Unsupported) };
        let definition = &extension.info().definition;
        let (layout, operands) = (self.layout, definition.operands());
        let (fields, imm) = (self.fields, self.imm);
        let carrying = self.setting.ad_mode.lanes();
        let lanes = || std::iter::once(VALUE).chain(carrying.iter().copied());
        let home = |n: usize| usize::from(inst.local_of(&layout, n).number());
        // The words of operands, before the steps.
        let mut before = Vec::with_capacity(operands * (carrying.len() + 1));
        for (n, slot) in layout.iter().enumerate().take(operands) {
            let carries = self.constants[n].is_none() && !slot.register_fields().is_empty();
            for lane in lanes() {
                let word = if lane == VALUE || carries { self.operand_in(lane, n) } else { self.word(0) };
                before.push(word);
                self.regs[lane][home(n)] = Some(word);
            }
        }
        let address = self.address;
        let zero = self.word(0);
        for lane in lanes() {
            for n in 0..definition.temporaries.len() {
                self.regs[lane][usize::from(temporary_register(n).number())] = Some(zero);
            }
        }
        let constants = std::mem::take(&mut self.constants);
        for step in inst.steps(back) {
            self.effect(&step, false)?;
        }
        (self.layout, self.fields, self.imm, self.address, self.constants) = (layout, fields, imm, address, constants);
        for (n, slot) in layout.iter().enumerate().take(operands) {
            let first = n == 0 || (0..n).all(|m| home(m) != home(n));
            let carries = self.constants[n].is_none() && !slot.register_fields().is_empty();
            for (at, lane) in lanes().enumerate() {
                let (old, new) = (before[n * (carrying.len() + 1) + at], self.regs[lane][home(n)]);
                let changes = if lane == VALUE { slot.is_written() } else { carries && first };
                if let Some(new) = new.filter(|new| changes && *new != old) {
                    self.set_operand_in(lane, n, new);
                }
            }
        }
        for lane in lanes() {
            self.regs[lane][Reg::COUNT..].fill(None);
        }
        Ok(())
    }
}
