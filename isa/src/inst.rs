//! One instruction with its operands resolved, its inverse, and its operands
//! as a person writes them.

use crate::calculus::Constant;
use crate::class::GateClass;
use crate::num::Env;
use crate::operand::{Layout, Operand, OperandError, OperandKind, Shape, Slot, layout};
use crate::scalar;
use crate::table::{ARITY, Flow, Row, TableFn, Variant, accumulator_class};
use crate::types::{Acc, Cond, Profile, Reg, Ty};

/// What an instruction is, apart from its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `y ⊕= f(x…)`.
    Accumulate {
        /// ⊕.
        acc: Acc,
        /// Whether it is the accumulator's partner.
        inverse: bool,
        /// f.
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

    /// Where the operands lie.
    pub const fn layout(self) -> Layout {
        match self {
            Kind::Accumulate { shape, .. } => shape.layout(),
            // A jump without a condition compares nothing: it takes a label only.
            Kind::Row { row: Row::Jmp | Row::Bra, cond: Cond::Always, .. } => {
                [Slot::Label, Slot::None, Slot::None, Slot::None]
            }
            Kind::Row { row, form, .. } => layout(row.info().operands, form),
        }
    }

    /// How control goes on.
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
                let own = if f.from != f.ty && f.ty == Ty::Int { Ty::Int.source_suffix() } else { f.ty.suffix() };
                format!("{}{}{own}{source}", acc.name(inverse), f.name)
            }
            Kind::Row { row, inverse, ty, cond, .. } => {
                let r = row.info();
                let name = if inverse { r.partner.unwrap_or(r.mnemonic) } else { r.mnemonic };
                let dot = if cond == Cond::Always { "" } else { "." };
                format!("{name}{dot}{}{}", cond.name(), ty.suffix())
            }
        }
    }

    /// Whether code of this profile may have the instruction. Where words have fewer bits it has neither addresses nor sums of whole words.
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

    /// Whether the instruction forgets: it has no inverse.
    pub const fn is_irreversible(self) -> bool {
        matches!(self, Kind::Row { row: Row::Erase, .. })
    }

    /// What operand number `n` of this family is, whatever its shape; `None` past the last.
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

    /// The type by which a constant is read that stands for operand number `n`.
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

/// An instruction whose operands are resolved: no label, symbol or pool index is left in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inst {
    /// What it is.
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

    /// What the instruction's body may know beside the operands.
    pub fn variant(&self) -> Variant {
        match self.kind {
            Kind::Accumulate { func, .. } => Variant { ty: func.info().ty, cond: Cond::Always, form: false },
            Kind::Row { ty, cond, form, .. } => Variant { ty, cond, form },
        }
    }

    /// The operands in the order they are written in.
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

    /// The instruction that `kind`'s family makes of these operands: chooses the shape or form.
    ///
    /// Errors: operands of the wrong number or kind, and everything [`Inst::validate`] rejects.
    pub fn build(family: Kind, operands: &[Operand]) -> Result<Inst, OperandError> {
        let profile = if family.belongs_to(Profile::Native) { Profile::Native } else { Profile::Pisa };
        Inst::build_in(profile, family, operands)
    }

    /// As [`Inst::build`], for code of a profile.
    pub fn build_in(profile: Profile, family: Kind, operands: &[Operand]) -> Result<Inst, OperandError> {
        let kind = choose(family, operands)?;
        let layout = kind.layout();
        let mut inst = Inst { kind, regs: [Reg::ZERO; 4], imm: 0, small: 0 };
        for (n, (slot, operand)) in layout.into_iter().zip(operands).enumerate() {
            match (slot, *operand) {
                (Slot::Reg(f) | Slot::Target(f), Operand::Reg(r)) => inst.regs[f as usize] = r,
                (
                    Slot::Mem(f) | Slot::TargetMem(f) | Slot::MemPlain(f) | Slot::TargetMemPlain(f),
                    Operand::Mem { base, index, offset },
                ) => {
                    // One spelling of an address: an index without a base is a base.
                    let (base, index) = if base == Reg::ZERO { (index, base) } else { (base, index) };
                    inst.regs[f as usize] = base;
                    inst.regs[f as usize + 1] = index;
                    if matches!(slot, Slot::Mem(_) | Slot::TargetMem(_)) {
                        inst.imm = offset;
                    } else if offset != 0 {
                        return Err(OperandError::TwoImmediates { position: n + 1 });
                    }
                }
                (Slot::Imm, Operand::Imm(word, _)) => inst.imm = word.cast_signed(),
                (Slot::Small, Operand::Small(k)) => inst.small = k,
                (Slot::Small, Operand::Imm(w, _)) => {
                    inst.small = in_range(n + 1, "this constant", w, SMALL_MIN, SMALL_MAX)? as i16;
                }
                (Slot::FactorNum, Operand::Factor(k)) => inst.imm |= i64::from(k),
                (Slot::FactorDen, Operand::Factor(k)) => inst.imm |= i64::from(k) << 14,
                (Slot::FactorNum, Operand::Imm(w, _)) => {
                    inst.imm |= in_range(n + 1, "a constant factor", w, 1, FACTOR_MAX)?;
                }
                (Slot::FactorDen, Operand::Imm(w, _)) => {
                    inst.imm |= in_range(n + 1, "a constant factor", w, 1, FACTOR_MAX)? << 14;
                }
                (Slot::Label, Operand::Label(offset)) => inst.imm = offset,
                (Slot::Text, Operand::Text(index)) => inst.imm = i64::from(index),
                (slot, operand) => {
                    return Err(OperandError::Kind { position: n + 1, wanted: slot.noun(), found: operand.noun() });
                }
            }
        }
        inst.validate(profile)?;
        Ok(inst)
    }

    /// Checks what the fields alone can tell: no write to `r0` where it always reads 0, no register written and used elsewhere, numbers in range.
    pub fn validate(&self, profile: Profile) -> Result<(), OperandError> {
        let range = |position, what, found: i64, min, max| {
            in_range(position, what, found.cast_unsigned(), min, max).map(|_| ())
        };
        let moves_sp = match self.kind {
            Kind::Accumulate { .. } => false,
            Kind::Row { row, .. } => row.info().moves_sp,
        };
        let layout = self.kind.layout();
        for (n, slot) in layout.into_iter().enumerate() {
            let position = n + 1;
            match slot {
                Slot::Target(f) => {
                    let reg = self.regs[f as usize];
                    if reg == Reg::ZERO && profile == Profile::Native {
                        return Err(OperandError::WritesZero { position });
                    }
                    self.reject_alias(&layout, f, reg)?;
                }
                Slot::Mem(_) | Slot::TargetMem(_) => {
                    range(position, "a memory offset", self.imm, OFFSET_MIN, OFFSET_MAX)?;
                }
                Slot::Imm => match self.kind {
                    Kind::Row { row: Row::Rol | Row::Rol32, .. } => {
                        range(position, "a rotation amount", self.imm, 0, 63)?
                    }
                    Kind::Accumulate { acc: Acc::Mul, func, .. } if zero_factor(func, n, self.imm) => {
                        return Err(OperandError::ZeroFactor { position });
                    }
                    Kind::Accumulate { .. } | Kind::Row { .. } => {}
                },
                Slot::Small => range(position, "this constant", i64::from(self.small), SMALL_MIN, SMALL_MAX)?,
                Slot::FactorNum => range(position, "a constant factor", self.imm & FACTOR_MAX, 1, FACTOR_MAX)?,
                Slot::FactorDen => range(position, "a constant factor", self.imm >> 14, 1, FACTOR_MAX)?,
                Slot::Label => range(position, "the distance to the label", self.imm, OFFSET_MIN, OFFSET_MAX)?,
                Slot::Text => range(position, "a text's index", self.imm, 0, OFFSET_MAX)?,
                Slot::Reg(_) | Slot::MemPlain(_) | Slot::TargetMemPlain(_) | Slot::None => {}
            }
            if moves_sp && matches!(slot, Slot::Reg(f) | Slot::Target(f) if self.regs[f as usize] == Reg::SP) {
                return Err(OperandError::StackPointer { position });
            }
        }
        Ok(())
    }

    /// Rejects a second occurrence of `reg`, which field `target` writes.
    fn reject_alias(&self, layout: &Layout, target: u8, reg: Reg) -> Result<(), OperandError> {
        for (n, slot) in layout.iter().enumerate() {
            let first = match *slot {
                Slot::Reg(f)
                | Slot::Target(f)
                | Slot::Mem(f)
                | Slot::TargetMem(f)
                | Slot::MemPlain(f)
                | Slot::TargetMemPlain(f) => f,
                Slot::None | Slot::Imm | Slot::Small | Slot::FactorNum | Slot::FactorDen | Slot::Label | Slot::Text => {
                    continue;
                }
            };
            if (first..first + slot.fields()).any(|f| f != target && self.regs[f as usize] == reg) {
                return Err(OperandError::Aliased { reg, position: n + 1 });
            }
        }
        Ok(())
    }
}

/// The word as a signed integer, if it lies between `min` and `max`.
fn in_range(position: usize, what: &'static str, word: u64, min: i64, max: i64) -> Result<i64, OperandError> {
    let found = word.cast_signed();
    if (min..=max).contains(&found) {
        Ok(found)
    } else {
        Err(OperandError::OutOfRange { position, what, min, max, found: i128::from(found) })
    }
}

/// Whether the constant operand number `n`, being zero, makes a multiplicative accumulate forget its destination, or always trap:
/// the others do not matter then, and are taken to be one.
fn zero_factor(func: TableFn, n: usize, imm: i64) -> bool {
    use crate::num::log::{ONE, ZERO};
    let f = func.info();
    let zero = match n.checked_sub(1).and_then(|n| f.args.get(n)).map_or(f.from, |a| a.ty) {
        Ty::L => imm.cast_unsigned() == ZERO,
        Ty::Int | Ty::Q => imm == 0,
        Ty::F => imm.cast_unsigned() << 1 == 0,
    };
    let Some(n) = n.checked_sub(1).filter(|n| zero && *n < ARITY) else { return false };
    let env = Env::default();
    let mut x = [ONE; ARITY];
    for (x, arg) in x.iter_mut().zip(f.args) {
        *x = Constant::ONE.word(env, arg.ty);
    }
    x[n] = imm.cast_unsigned();
    !scalar::value(env, func, x).is_ok_and(|y| y != ZERO)
}

impl Slot {
    /// What the slot wants, for messages.
    const fn noun(self) -> &'static str {
        match self {
            Slot::None => "nothing",
            Slot::Reg(_) | Slot::Target(_) => "register",
            Slot::Mem(_) | Slot::TargetMem(_) | Slot::MemPlain(_) | Slot::TargetMemPlain(_) => "memory operand",
            Slot::Imm | Slot::Small | Slot::FactorNum | Slot::FactorDen => "constant",
            Slot::Label => "label",
            Slot::Text => "text",
        }
    }
}

impl Operand {
    /// What the operand is, for messages.
    pub const fn noun(&self) -> &'static str {
        match self {
            Operand::Reg(_) => "register",
            Operand::Mem { .. } => "memory operand",
            Operand::Imm(..) | Operand::Small(_) | Operand::Factor(_) => "constant",
            Operand::Label(_) => "label",
            Operand::Text(_) => "text",
        }
    }
}

/// Picks the shape (accumulates) or the form bit (rows) that operands call for.
fn choose(family: Kind, operands: &[Operand]) -> Result<Kind, OperandError> {
    match family {
        Kind::Accumulate { acc, inverse, func, .. } => {
            let arity = func.info().args.len();
            if operands.len() != arity + 1 {
                let sources = ["one source", "two sources", "three sources"][arity.clamp(1, 3) - 1];
                let wanted = format!("a destination and {sources}");
                return Err(OperandError::Count { mnemonic: family.mnemonic(), wanted, found: operands.len() });
            }
            let mut letters = [b' '; 4];
            let (mut memory, mut imm) = (false, false);
            for (n, operand) in operands.iter().enumerate() {
                letters[n] = match operand {
                    Operand::Reg(_) => b'R',
                    Operand::Mem { .. } if memory => return Err(OperandError::TwoMemory { position: n + 1 }),
                    Operand::Mem { .. } => {
                        memory = true;
                        b'M'
                    }
                    Operand::Imm(..) if n == 0 => {
                        return Err(OperandError::Kind {
                            position: 1,
                            wanted: "register or memory operand",
                            found: "constant",
                        });
                    }
                    Operand::Imm(..) if imm => return Err(OperandError::TwoImmediates { position: n + 1 }),
                    Operand::Imm(..) => {
                        imm = true;
                        b'I'
                    }
                    Operand::Small(_) | Operand::Factor(_) | Operand::Label(_) | Operand::Text(_) => {
                        return Err(OperandError::Kind {
                            position: n + 1,
                            wanted: "register, constant or memory operand",
                            found: operand.noun(),
                        });
                    }
                };
            }
            let letters = &letters[..=arity];
            // Every combination has a shape, but that three sources are registers, and so is then the destination.
            let shape = Shape::ALL.into_iter().find(|s| s.letters() == letters);
            let odd = letters.iter().position(|l| *l != b'R').unwrap_or(0);
            let shape = shape.ok_or(OperandError::Kind {
                position: odd + 1,
                wanted: "register",
                found: operands[odd].noun(),
            })?;
            Ok(Kind::Accumulate { acc, inverse, func, shape })
        }
        Kind::Row { row, inverse, ty, cond, .. } => {
            let info = row.info();
            let kinds: &[OperandKind] = if matches!(row, Row::Jmp | Row::Bra) && cond == Cond::Always {
                &[OperandKind::Label]
            } else {
                info.operands
            };
            let optional = kinds.iter().filter(|k| **k == OperandKind::Tolerance).count();
            if operands.len() > kinds.len() || operands.len() + optional < kinds.len() {
                let wanted = match kinds.len() {
                    0 => "no operands".to_string(),
                    1 => "one operand".to_string(),
                    n if optional > 0 => format!("{} or {n} operands", n - optional),
                    n => format!("{n} operands"),
                };
                return Err(OperandError::Count { mnemonic: family.mnemonic(), wanted, found: operands.len() });
            }
            let mut form = false;
            let mut factors = None;
            for (n, (kind, operand)) in kinds.iter().zip(operands).enumerate() {
                let constant = matches!(operand, Operand::Imm(..) | Operand::Small(_) | Operand::Factor(_));
                match kind {
                    OperandKind::TargetOrMemory => form = matches!(operand, Operand::Mem { .. }),
                    OperandKind::Amount | OperandKind::Value | OperandKind::Small | OperandKind::Tolerance => {
                        form = constant
                    }
                    OperandKind::Factor => {
                        if factors.is_some_and(|f| f != constant) {
                            return Err(OperandError::MixedFactors { position: n + 1 });
                        }
                        factors = Some(constant);
                        form = constant;
                    }
                    OperandKind::Target
                    | OperandKind::Source
                    | OperandKind::Memory
                    | OperandKind::Constant
                    | OperandKind::Label
                    | OperandKind::Text => {}
                }
            }
            Ok(Kind::Row { row, inverse, ty, cond, form })
        }
    }
}

impl Shape {
    /// The shape's name as letters: destination, then sources.
    fn letters(self) -> &'static [u8] {
        match self {
            Shape::RR => b"RR",
            Shape::RI => b"RI",
            Shape::RM => b"RM",
            Shape::MR => b"MR",
            Shape::MI => b"MI",
            Shape::RRR => b"RRR",
            Shape::RRI => b"RRI",
            Shape::RIR => b"RIR",
            Shape::RRM => b"RRM",
            Shape::RMR => b"RMR",
            Shape::RIM => b"RIM",
            Shape::RMI => b"RMI",
            Shape::MRR => b"MRR",
            Shape::MRI => b"MRI",
            Shape::MIR => b"MIR",
            Shape::RRRR => b"RRRR",
        }
    }
}
