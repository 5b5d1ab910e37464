//! An instruction with resolved operands, its inverse, and its operands in written form.

mod build;

use crate::class::GateClass;
use crate::operand::{Layout, Operand, OperandKind, Shape, Slot, layout};
use crate::table::{Flow, Row, TableFn, Variant, accumulator_class};
use crate::types::{Acc, Cond, Profile, Reg, Ty};

/// The kind of an instruction: everything except its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `y ⊕= f(x…)`.
    Accumulate {
        /// The accumulator ⊕.
        acc: Acc,
        /// Whether it is the accumulator's partner.
        inverse: bool,
        /// The function f.
        func: TableFn,
        /// The operands' shape.
        shape: Shape,
    },
    /// Any other instruction.
    Row {
        /// The row of the table.
        row: Row,
        /// Whether it is the row's partner.
        inverse: bool,
        /// The number type.
        ty: Ty,
        /// The condition.
        cond: Cond,
        /// The form bit: which alternative of its operands it takes.
        form: bool,
    },
}

impl Kind {
    /// The kind of the inverse instruction: same operands, partner operation.
    pub const fn inverse(self) -> Kind {
        match self {
            Kind::Accumulate { acc, inverse, func, shape } => {
                Kind::Accumulate { acc, inverse: !inverse && !acc.self_inverse(), func, shape }
            }
            Kind::Row { row, inverse, ty, cond, form } => {
                Kind::Row { row, inverse: !inverse && row.info().partner.is_some(), ty, cond, form }
            }
        }
    }

    /// The locations of the operands.
    pub const fn layout(self) -> Layout {
        match self {
            Kind::Accumulate { shape, .. } => shape.layout(),
            // A jump without a condition takes a label only.
            Kind::Row { row: Row::Jmp | Row::Bra, cond: Cond::Always, .. } => {
                [Slot::Label, Slot::None, Slot::None, Slot::None]
            }
            Kind::Row { row, form, .. } => layout(row.info().operands, form),
        }
    }

    /// The effect on control flow.
    pub const fn flow(self) -> Flow {
        match self {
            Kind::Accumulate { .. } => Flow::Straight,
            Kind::Row { row, .. } => row.info().flow,
        }
    }

    /// The mnemonic with its suffixes.
    pub fn mnemonic(self) -> String {
        match self {
            Kind::Accumulate { acc, inverse, func, .. } => {
                let f = func.info();
                let source = if f.from == f.ty { "" } else { f.from.source_suffix() };
                let suffix = if f.from != f.ty && f.ty == Ty::Int { Ty::Int.source_suffix() } else { f.ty.suffix() };
                format!("{}{}{suffix}{source}", acc.name(inverse), f.name)
            }
            Kind::Row { row, inverse, ty, cond, .. } => {
                let r = row.info();
                let name = if inverse { r.partner.unwrap_or(r.mnemonic) } else { r.mnemonic };
                let dot = if cond == Cond::Always { "" } else { "." };
                format!("{name}{dot}{}{}", cond.name(), ty.suffix())
            }
        }
    }

    /// Whether code of this profile may contain the instruction. In the profile `pisa`, whose words are shorter, accumulates only use `xor`
    /// on registers, and typed rows only integers.
    pub fn belongs_to(self, profile: Profile) -> bool {
        let native = profile == Profile::Native;
        match self {
            Kind::Accumulate { acc, func, shape, .. } => {
                let registers = || acc == Acc::Xor && !shape.layout().into_iter().any(Slot::is_memory);
                func.info().profiles.has(profile) && (native || registers())
            }
            Kind::Row { row, ty, .. } => row.info().profiles.has(profile) && (native || ty == Ty::Int),
        }
    }

    /// Whether the instruction destroys information and has no inverse.
    pub const fn is_irreversible(self) -> bool {
        matches!(self, Kind::Row { row: Row::Erase, .. })
    }

    /// The kind of operand number `n` of this family, for any shape; `None` past the last operand.
    pub fn operand_kind(self, n: usize) -> Option<OperandKind> {
        match self {
            Kind::Accumulate { func, .. } => match n {
                0 => Some(OperandKind::TargetOrMemory),
                n if n <= func.info().args.len() => Some(OperandKind::Value),
                _ => None,
            },
            Kind::Row { row: Row::Jmp | Row::Bra, cond: Cond::Always, .. } => (n == 0).then_some(OperandKind::Label),
            Kind::Row { row, .. } => row.info().operands.get(n).copied(),
        }
    }

    /// The type of a constant in the place of operand number `n`.
    pub fn constant_type(self, n: usize) -> Ty {
        match self {
            Kind::Accumulate { func, .. } => {
                let f = func.info();
                n.checked_sub(1).and_then(|n| f.args.get(n)).map_or(f.from, |a| a.ty)
            }
            Kind::Row { row: Row::Rol, .. } => Ty::Int,
            Kind::Row { ty, .. } => ty,
        }
    }
}

/// An instruction with resolved operands: it contains no label, symbol or pool index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inst {
    /// The kind.
    pub kind: Kind,
    /// The register fields; the unused ones are `r0`.
    pub regs: [Reg; 4],
    /// The constant (a word), memory offset, code offset from this instruction, text index, or the two
    /// factors (num + den·2^14); 0 if there is none.
    pub imm: i64,
    /// The small constant of a `jmp`, `from`; 0 if there is none.
    pub small: i16,
}

/// The range of memory and code offsets: 28 bits, signed.
pub const OFFSET_MIN: i64 = -(1 << 27);
/// The largest offset.
pub const OFFSET_MAX: i64 = (1 << 27) - 1;
/// The range of small constants: 15 bits, signed.
pub const SMALL_MIN: i64 = -(1 << 14);
/// The largest small constant.
pub const SMALL_MAX: i64 = (1 << 14) - 1;
/// The largest constant factor of `rmul`.
pub const FACTOR_MAX: i64 = (1 << 14) - 1;

impl Inst {
    /// The inverse instruction: same operands, partner operation. A jump's label becomes that of its `from`, in place.
    pub const fn inverse(self) -> Inst {
        Inst { kind: self.kind.inverse(), ..self }
    }

    /// The parameters of the instruction's body beside the operands.
    pub fn variant(&self) -> Variant {
        match self.kind {
            Kind::Accumulate { func, .. } => Variant { ty: func.info().ty, cond: Cond::Always, form: false },
            Kind::Row { ty, cond, form, .. } => Variant { ty, cond, form },
        }
    }

    /// The operands in the order they are written.
    pub fn operands(&self) -> impl Iterator<Item = (Slot, Operand)> + '_ {
        self.kind.layout().into_iter().enumerate().filter(|(_, s)| *s != Slot::None).map(move |(n, slot)| {
            let ty = self.kind.constant_type(n);
            let mem = |field: u8, offset: i64| Operand::Mem {
                base: self.regs[field as usize],
                index: self.regs[field as usize + 1],
                offset,
            };
            let operand = match slot {
                Slot::Reg(f) | Slot::Target(f) => Operand::Reg(self.regs[f as usize]),
                Slot::Mem(f) | Slot::TargetMem(f) => mem(f, self.imm),
                Slot::MemPlain(f) | Slot::TargetMemPlain(f) => mem(f, 0),
                Slot::Imm => Operand::Imm(self.imm.cast_unsigned(), ty),
                Slot::Small => Operand::Small(self.small),
                Slot::FactorNum => Operand::Factor((self.imm & FACTOR_MAX) as u16),
                Slot::FactorDen => Operand::Factor(((self.imm >> 14) & FACTOR_MAX) as u16),
                Slot::Label => Operand::Label(self.imm),
                Slot::Text | Slot::None => Operand::Text(self.imm as u32),
            };
            (slot, operand)
        })
    }

    /// The gate classes that one execution exercises: the function, the accumulator, and a memory access where there is one.
    pub fn classes(&self) -> impl Iterator<Item = GateClass> {
        let (first, second) = match self.kind {
            Kind::Accumulate { acc, func, .. } => {
                let f = func.info();
                (f.class, Some(accumulator_class(acc, f.ty)))
            }
            Kind::Row { row, .. } => (row.info().class, None),
        };
        let memory = self.kind.layout().into_iter().any(Slot::is_memory)
            || matches!(
                self.kind,
                Kind::Row { row: Row::Push | Row::Callr | Row::Call | Row::Gcall | Row::Exch32, .. }
            );
        [Some(first), second, memory.then_some(GateClass::Memory)].into_iter().flatten()
    }
}
