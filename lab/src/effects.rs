//! What instructions read and write, and which of them may change places.

use pendula_isa::GateClass;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::operand::{Operand, Slot};
use pendula_isa::table::{Adjoint, Flow, Row};
use pendula_isa::types::{Acc, Reg, Ty};

/// The word of memory that an instruction names.
type Address = (Reg, Reg, i64);

/// What an instruction reads and writes. Registers are bits of a set, local ones among them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Effects {
    read: u64,
    pub(crate) written: u64,
    memory: Option<(Address, bool)>,
    /// Whether it works on memory that it does not name, or on tapes.
    elsewhere: bool,
    /// The target that it adds to, exactly, so that it may change places with others that add to it.
    sum: Option<(Reg, Acc)>,
    /// What it reads as doubles: gradient words of these are sums whose order matters.
    doubles: u64,
}

fn bit(register: Reg) -> u64 {
    if register == Reg::ZERO { 0 } else { 1 << (register.number() % 64) }
}

/// The effects of a straight-line instruction.
pub(crate) fn effects(inst: &Inst) -> Effects {
    let mut out = Effects::default();
    let mut target = None;
    for (n, (slot, operand)) in inst.operands().enumerate() {
        match operand {
            Operand::Reg(r) if slot.is_written() => {
                out.written |= bit(r);
                if n == 0 {
                    target = Some(r);
                }
            }
            Operand::Reg(r) => {
                out.read |= bit(r);
                if inst.kind.constant_type(n) == Ty::F {
                    out.doubles |= bit(r);
                }
            }
            Operand::Mem { base, index, offset } => {
                out.read |= bit(base) | bit(index);
                out.memory = Some(((base, index, offset), slot.is_written()));
            }
            Operand::Imm(..) | Operand::Small(_) | Operand::Factor(_) | Operand::Label(_) | Operand::Text(_) => {}
        }
    }
    match inst.kind {
        Kind::Accumulate { acc, func, .. } => {
            let exact = acc == Acc::Xor || func.info().ty != Ty::F;
            out.sum = target.filter(|_| exact).map(|target| (target, acc));
        }
        Kind::Row { row, .. } => {
            let info = row.info();
            out.elsewhere =
                info.moves_sp || matches!(info.class, GateClass::Host | GateClass::Erase) || row == Row::Gswap;
            if info.moves_sp {
                out.written |= bit(Reg::SP);
            }
        }
        Kind::Extension { .. } => {}
    }
    out
}

impl Effects {
    /// Whether the instruction reads or writes a register.
    pub(crate) fn names(&self, register: Reg) -> bool {
        (self.read | self.written) & bit(register) != 0
    }

    /// Whether the order of the two matters.
    pub(crate) fn conflict(&self, other: &Effects) -> bool {
        if let (Some((a, acc)), Some((b, also))) = (self.sum, other.sum)
            && a == b
            && acc == also
        {
            // Sums into the same word, of what the other does not change.
            let reads = self.read & other.written != 0 || other.read & self.written != 0;
            return reads || self.memory_conflict(other);
        }
        let registers = self.written & (other.read | other.written) != 0 || other.written & self.read != 0;
        registers
            || self.doubles & other.doubles != 0
            || self.elsewhere && other.elsewhere
            || self.memory_conflict(other)
    }

    fn memory_conflict(&self, other: &Effects) -> bool {
        match (self.memory, other.memory) {
            (Some(((base, index, offset), writes)), Some(((base2, index2, offset2), writes2))) => {
                let apart = (base, index) == (base2, index2) && offset != offset2;
                (writes || writes2) && !apart
            }
            (Some(_), None) => other.elsewhere,
            (None, Some(_)) => self.elsewhere,
            (None, None) => false,
        }
    }
}

/// The stretches of straight-line instructions of a program, as ranges of addresses. `breaks` are addresses before which one ends.
pub(crate) fn stretches(code: &[Inst], breaks: &[u32]) -> Vec<std::ops::Range<usize>> {
    let mut out = Vec::new();
    let mut first = 0;
    for (at, inst) in code.iter().enumerate() {
        let straight = inst.kind.flow() == Flow::Straight;
        if !straight || breaks.contains(&(at as u32)) {
            if first < at {
                out.push(first..at);
            }
            first = if straight { at } else { at + 1 };
        }
    }
    if first < code.len() {
        out.push(first..code.len());
    }
    out
}

/// Whether an instruction only checks: it changes nothing.
pub(crate) fn is_check(inst: &Inst) -> bool {
    matches!(inst.kind, Kind::Row { row, .. } if row.info().class == GateClass::Check && row.info().adjoint != Adjoint::Moves)
}

/// Whether all operands are registers and constants.
pub(crate) fn in_registers(inst: &Inst) -> bool {
    inst.kind.layout().iter().all(|slot| !slot.is_memory() && !matches!(slot, Slot::Text | Slot::Label))
}
