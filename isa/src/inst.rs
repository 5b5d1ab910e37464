//! An instruction with resolved operands, its inverse, and its operands in written form.

mod build;

use crate::class::GateClass;
use crate::extension::Extension;
use crate::operand::{Layout, OPERANDS, Operand, OperandKind, Shape, Slot, layout};
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
    /// An instruction that is not the table's.
    Extension {
        /// Which.
        extension: Extension,
        /// Whether it is the partner.
        inverse: bool,
    },
}

impl Kind {
    /// The kind of the inverse instruction: same operands, partner operation.
    pub fn inverse(self) -> Kind {
        match self {
            Kind::Accumulate { acc, inverse, func, shape } => {
                Kind::Accumulate { acc, inverse: !inverse && !acc.self_inverse(), func, shape }
            }
            Kind::Row { row, inverse, ty, cond, form } => {
                Kind::Row { row, inverse: !inverse && row.info().partner.is_some(), ty, cond, form }
            }
            Kind::Extension { extension, inverse } => {
                Kind::Extension { extension, inverse: !inverse && extension.info().partner.is_some() }
            }
        }
    }

    /// The locations of the operands.
    pub fn layout(self) -> Layout {
        match self {
            Kind::Accumulate { shape, .. } => shape.layout(),
            // A jump without a condition takes a label only.
            Kind::Row { row: Row::Jmp | Row::Bra, cond: Cond::Always, .. } => layout(&[OperandKind::Label], false),
            Kind::Row { row, form, .. } => layout(row.info().operands, form),
            Kind::Extension { extension, .. } => extension.info().layout,
        }
    }

    /// The effect on control flow.
    pub const fn flow(self) -> Flow {
        match self {
            Kind::Accumulate { .. } | Kind::Extension { .. } => Flow::Straight,
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
            Kind::Extension { extension, inverse } => {
                let info = extension.info();
                let name = if inverse { info.partner.as_ref() } else { None };
                name.unwrap_or(&info.mnemonic).clone()
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
            Kind::Extension { .. } => native,
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
            Kind::Extension { extension, .. } => extension.info().operand_kind(n),
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
            Kind::Extension { extension, .. } => extension.info().definition.operand_type(n),
        }
    }
}

/// An instruction with resolved operands: it contains no label, symbol or pool index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inst {
    /// The kind.
    pub kind: Kind,
    /// The register fields; the unused ones are `r0`.
    pub regs: [Reg; OPERANDS],
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
    /// Register fields of which these are the first.
    pub const fn registers(first: &[Reg]) -> [Reg; OPERANDS] {
        let mut regs = [Reg::ZERO; OPERANDS];
        let mut n = 0;
        while n < first.len() && n < OPERANDS {
            regs[n] = first[n];
            n += 1;
        }
        regs
    }

    /// The inverse instruction: same operands, partner operation. A jump's label becomes that of its `from`, in place.
    pub fn inverse(self) -> Inst {
        Inst { kind: self.kind.inverse(), ..self }
    }

    /// The parameters of the instruction's body beside the operands.
    pub fn variant(&self) -> Variant {
        match self.kind {
            Kind::Accumulate { func, .. } => Variant { ty: func.info().ty, cond: Cond::Always, form: false },
            Kind::Row { ty, cond, form, .. } => Variant { ty, cond, form },
            // Its steps have their own.
            Kind::Extension { .. } => Variant { ty: Ty::Int, cond: Cond::Always, form: false },
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
        let memory = self.kind.layout().into_iter().any(Slot::is_memory)
            || matches!(
                self.kind,
                Kind::Row { row: Row::Push | Row::Callr | Row::Call | Row::Gcall | Row::Exch32, .. }
            );
        let steps = match self.kind {
            Kind::Extension { extension, .. } => &extension.info().steps[0][..],
            Kind::Accumulate { .. } | Kind::Row { .. } => &[],
        };
        let own = steps.is_empty().then_some(self).into_iter().chain(steps).flat_map(Inst::own_classes);
        own.chain(memory.then_some(GateClass::Memory))
    }

    /// The gate classes of the table's own instructions, without that of memory.
    fn own_classes(&self) -> impl Iterator<Item = GateClass> + use<> {
        let (first, second) = match self.kind {
            Kind::Accumulate { acc, func, .. } => {
                let f = func.info();
                (f.class, Some(accumulator_class(acc, f.ty)))
            }
            Kind::Row { row, .. } => (row.info().class, None),
            // Definitions are made of the table's instructions, so this is not a step.
            Kind::Extension { .. } => (GateClass::Wire, None),
        };
        [Some(first), second].into_iter().flatten()
    }
}
