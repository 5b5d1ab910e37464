//! Builds instructions from operands: selects the shape or form, and validates the result.

use super::{FACTOR_MAX, Inst, Kind, OFFSET_MAX, OFFSET_MIN, SMALL_MAX, SMALL_MIN};
use crate::calculus::Constant;
use crate::extension::{Extension, ExtensionInfo, Form};
use crate::num::Env;
use crate::operand::{Layout, Operand, OperandError, OperandKind, Shape, Slot};
use crate::scalar;
use crate::table::{ARITY, Row, TableFn};
use crate::types::{Acc, Cond, Profile, Reg, Ty};

/// How many registers an extension may name beside a constant: the others' fields hold the constant.
const FIELDS_BESIDE_CONSTANT: usize = 4;

impl Inst {
    /// Builds the instruction of a family with these operands, which select the shape or form.
    ///
    /// Errors: operands of the wrong number or kind, and everything [`Inst::validate`] rejects.
    pub fn build(family: Kind, operands: &[Operand]) -> Result<Inst, OperandError> {
        let profile = if family.belongs_to(Profile::Native) { Profile::Native } else { Profile::Pisa };
        Inst::build_in(profile, family, operands)
    }

    /// Like [`Inst::build`], for code of a profile.
    pub fn build_in(profile: Profile, family: Kind, operands: &[Operand]) -> Result<Inst, OperandError> {
        let kind = choose(family, operands)?;
        let layout = kind.layout();
        let mut inst = Inst { kind, regs: Inst::registers(&[]), imm: 0, small: 0 };
        for (n, (slot, operand)) in layout.into_iter().zip(operands).enumerate() {
            match (slot, *operand) {
                (Slot::Reg(f) | Slot::Target(f), Operand::Reg(r)) => inst.regs[f as usize] = r,
                (
                    Slot::Mem(f) | Slot::TargetMem(f) | Slot::MemPlain(f) | Slot::TargetMemPlain(f),
                    Operand::Mem { base, index, offset },
                ) => {
                    // Addresses have one spelling: an index without a base is a base.
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

    /// Checks the fields by themselves: no write to `r0` in the native profile, no written register used elsewhere, numbers in range.
    pub fn validate(&self, profile: Profile) -> Result<(), OperandError> {
        let range = |position, what, found: i64, min, max| {
            in_range(position, what, found.cast_unsigned(), min, max).map(|_| ())
        };
        let moves_sp = match self.kind {
            Kind::Accumulate { .. } | Kind::Extension { .. } => false,
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
                    Kind::Accumulate { .. } | Kind::Row { .. } | Kind::Extension { .. } => {}
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

/// Whether a zero as constant operand number `n` makes a multiplicative accumulate destroy its destination or always trap. The other
/// operands do not matter then; they are taken to be one.
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
    /// The noun for the operand that the slot takes, for messages.
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
    /// The noun for the operand, for messages.
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

/// Selects the shape of an accumulate's operands.
fn choose_shape(family: Kind, arity: usize, operands: &[Operand]) -> Result<Shape, OperandError> {
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
    // Every combination has a shape, except that with three sources all operands must be registers.
    let shape = Shape::ALL.into_iter().find(|s| s.letters() == letters);
    let odd = letters.iter().position(|l| *l != b'R').unwrap_or(0);
    shape.ok_or(OperandError::Kind { position: odd + 1, wanted: "register", found: operands[odd].noun() })
}

/// Selects which operand of an extension is a constant.
fn choose_constant(family: Kind, info: &ExtensionInfo, operands: &[Operand]) -> Result<Option<u8>, OperandError> {
    let count = info.definition.operands();
    if operands.len() != count {
        let wanted = if count == 1 { "one operand".to_string() } else { format!("{count} operands") };
        return Err(OperandError::Count { mnemonic: family.mnemonic(), wanted, found: operands.len() });
    }
    let mut constant = None;
    for (n, operand) in operands.iter().enumerate() {
        match operand {
            Operand::Imm(..) if info.operand_kind(n) == Some(OperandKind::Value) => {
                if constant.is_some() {
                    return Err(OperandError::TwoImmediates { position: n + 1 });
                }
                constant = Some(n as u8);
            }
            // Others are compared with the layout.
            Operand::Reg(_)
            | Operand::Mem { .. }
            | Operand::Imm(..)
            | Operand::Small(_)
            | Operand::Factor(_)
            | Operand::Label(_)
            | Operand::Text(_) => {}
        }
    }
    if let Some(n) = constant
        && count > FIELDS_BESIDE_CONSTANT + 1
    {
        return Err(OperandError::NoRoom { position: usize::from(n) + 1 });
    }
    Ok(constant)
}

/// Selects the shape (accumulates), the form bit (rows) or the form (extensions) for the operands.
fn choose(family: Kind, operands: &[Operand]) -> Result<Kind, OperandError> {
    match family {
        Kind::Accumulate { acc, inverse, func, .. } => {
            let shape = choose_shape(family, func.info().args.len(), operands)?;
            Ok(Kind::Accumulate { acc, inverse, func, shape })
        }
        Kind::Extension { extension, inverse } => {
            let info = extension.info();
            let form = match info.form {
                Form::Function { acc, .. } => {
                    Form::Function { acc, shape: choose_shape(family, info.definition.parameters.len(), operands)? }
                }
                Form::Instruction { .. } => Form::Instruction { constant: choose_constant(family, info, operands)? },
            };
            let made = Extension::new(&info.definition, form);
            made.map(|extension| Kind::Extension { extension, inverse }).map_err(|_| OperandError::TooManyExtensions)
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
