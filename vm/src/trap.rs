//! Traps: the description of an instruction that could not run.

use pendula_isa::adjoint::AdMode;
use pendula_isa::counts::Direction;
use pendula_isa::inst::Kind;
use pendula_isa::operand::{Operand, Slot};
use pendula_isa::types::Reg;
use pendula_isa::{Fault, Inst};

use crate::extension::FailedStep;
use crate::extension::failed_step;
use crate::machine::{Machine, Position};

/// A run that stopped at an instruction that could not run. The state is the one before the instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// The cause.
    pub fault: Fault,
    /// The address of the instruction.
    pub at: u32,
    /// The instruction as written in the code.
    pub inst: Inst,
    /// Another instruction involved: the other half of a jump.
    pub other: Option<(u32, Inst)>,
    /// The direction of the run.
    pub direction: Direction,
    /// The AD mode.
    pub ad_mode: AdMode,
    /// The values of the operands; those of the other instruction come last.
    pub values: Vec<TrapValue>,
    /// Whether the stack had grown beyond the memory: compiled code finds that out when it uses a word there.
    pub beyond: bool,
    /// In an extension: the step that could not run.
    pub step: Option<FailedStep>,
}

impl Trap {
    /// The temporary of an extension that is not zero at its end, if that is what happened.
    pub fn left_temporary(&self) -> Option<Reg> {
        self.step.as_ref().and_then(FailedStep::temporary)
    }
}

/// An operand and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrapValue {
    /// The operand as written.
    pub operand: Operand,
    /// The address of a memory operand.
    pub address: Option<u64>,
    /// The word; `None` if the address is outside the memory.
    pub word: Option<u64>,
    /// Whether the operand belongs to the other instruction.
    pub of_other: bool,
}

impl Machine<'_> {
    /// Stops between two blocks, the second of which may not be entered.
    pub(crate) fn refuse_entry(&mut self, from: u32, to: u32, fault: Fault) -> Box<Trap> {
        self.position = Position { block: from, k: self.code(from).len };
        Box::new(self.trap(fault, to, 0, None))
    }

    /// Describes a fault.
    pub(crate) fn trap(&self, fault: Fault, block: u32, k: u32, other: Option<u32>) -> Trap {
        let d = &self.program.decoded;
        let code = &self.program.module().code;
        let k = k.min(self.code(block).len.saturating_sub(1));
        let at = d.address(block, k);
        let inst = code[at as usize];
        // A half jump that control fell into wrongly is reported with its partner.
        let wrong_entry = matches!(fault, Fault::WrongEntry | Fault::WrongEntryBack);
        let other = other.or_else(|| wrong_entry.then(|| (i64::from(at) + inst.imm) as u32));
        let other = other.and_then(|n| Some((n, *code.get(n as usize)?)));
        let mut values = self.values(&inst, false);
        values.extend(self.stack_values(&inst, fault));
        if let Some((_, partner)) = &other {
            values.extend(self.values(partner, true));
        }
        let beyond = self.core.regs[Reg::SP.index()] > self.core.mem.len() as u64;
        let (direction, ad_mode) = (self.direction(), self.core.ad_mode);
        let step = failed_step(&self.core, &inst, direction == Direction::Backward);
        Trap { fault, at, inst, other, direction, ad_mode, values, beyond, step }
    }

    /// For an instruction that moves the stack pointer: the stack pointer, and the word that caused the fault.
    fn stack_values(&self, inst: &Inst, fault: Fault) -> Vec<TrapValue> {
        if !matches!(inst.kind, Kind::Row { row, .. } if row.info().moves_sp) {
            return Vec::new();
        }
        let sp = self.core.regs[Reg::SP.index()];
        let mut out =
            vec![TrapValue { operand: Operand::Reg(Reg::SP), address: None, word: Some(sp), of_other: false }];
        let offset = match fault {
            Fault::PushOnto => 0,
            Fault::BadLink => -1,
            _ => return out,
        };
        let address = sp.wrapping_add_signed(offset);
        let operand = Operand::Mem { base: Reg::SP, index: Reg::ZERO, offset };
        out.push(TrapValue { operand, address: Some(address), word: self.core.load(address).ok(), of_other: false });
        out
    }

    fn values(&self, inst: &Inst, of_other: bool) -> Vec<TrapValue> {
        inst.operands()
            .filter_map(|(slot, operand)| {
                let (address, word) = match (slot, operand) {
                    (Slot::Reg(_) | Slot::Target(_), Operand::Reg(r)) => (None, Some(self.core.regs[r.index()])),
                    (_, Operand::Mem { base, index, offset }) => {
                        let address = self.core.regs[base.index()]
                            .wrapping_add(self.core.regs[index.index()])
                            .wrapping_add(offset.cast_unsigned());
                        (Some(address), self.core.load(address).ok())
                    }
                    (_, Operand::Reg(_) | Operand::Imm(..) | Operand::Small(_) | Operand::Factor(_)) => return None,
                    (_, Operand::Label(_) | Operand::Text(_)) => return None,
                };
                Some(TrapValue { operand, address, word, of_other })
            })
            .collect()
    }
}
