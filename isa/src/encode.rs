//! Instructions as 64-bit little-endian words.
//!
//! | bits | field |
//! |---|---|
//! | 0 | partner: set in the inverse of an instruction that has one |
//! | 1–2 | accumulator (0 `add`, 1 `xor`, 2 `mul`), or 3 for any other instruction |
//! | 3–4 | number type |
//! | 5–10 | function, or row |
//! | 11–15 | accumulates: pooled bit, then shape; others: form bit, then condition |
//! | 16–35 | four register fields of 5 bits; the upper three hold the small constant of a `jmp`, `from` |
//! | 36–63 | immediate: constant, memory or code offset, constant-pool index, text index, or two factors |
//!
//! A constant that fits 28 signed bits is stored in the word. Any other constant is in the constant pool, and so is every typed constant of
//! an instruction other than an accumulate. Unused bits are zero.
//!
//! Extensions have the rows 62 and 63. The bits 3–4 and 11–15 and the last bit of the row are their number in the object, which carries their
//! definitions. One with more than four registers has eight register fields, in the bits 16–55, and no immediate.

use std::collections::HashMap;

use bitvec::field::BitField;
use bitvec::order::Lsb0;
use bitvec::view::BitView;

use crate::extension::Extension;
use crate::inst::{Inst, Kind, OFFSET_MAX, OFFSET_MIN};
use crate::operand::{OPERANDS, OperandError, OperandKind, Shape, Slot};
use crate::table::{Row, TableFn, Test};
use crate::types::{Acc, Cond, Profile, Reg, Ty};

const ROW_FAMILY: u16 = 3;

/// The rows of the encoding that stand for extensions. They are no rows of the table.
const EXTENSION_ROWS: std::ops::Range<u16> = 62..64;

/// The constant pool: distinct words in the order of their first use. And the extensions, likewise.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    words: Vec<u64>,
    index: HashMap<u64, u32>,
    extensions: Vec<Extension>,
}

impl Pool {
    /// The words.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The extensions, by their numbers in instruction words.
    pub fn extensions(&self) -> &[Extension] {
        &self.extensions
    }

    /// The number of an extension, which is added if it is new.
    fn number(&mut self, extension: Extension) -> u16 {
        let known = self.extensions.iter().position(|e| *e == extension);
        known.unwrap_or_else(|| {
            self.extensions.push(extension);
            self.extensions.len() - 1
        }) as u16
    }

    /// The index of a word, which is added if it is new.
    fn intern(&mut self, word: u64) -> u32 {
        let next = self.words.len() as u32;
        *self.index.entry(word).or_insert_with(|| {
            self.words.push(word);
            next
        })
    }
}

/// Why a word cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// No row of the table has this opcode.
    #[error("no instruction has the opcode {0:#06x}")]
    Opcode(u16),
    /// The number of an extension that the object does not define.
    #[error("no extension has the number {0}")]
    Extension(u16),
    /// A constant-pool index past the end.
    #[error("the constant pool has no entry {0}")]
    Pool(u64),
    /// The operands are invalid.
    #[error("{0}")]
    Operand(#[from] OperandError),
    /// Unused bits that are not zero, or a constant in the wrong place.
    #[error("an assembler would have written {expected:#018x}")]
    NotCanonical {
        /// The word for the same instruction.
        expected: u64,
    },
}

/// The opcode field; `pooled` tells whether the constant is in the pool, and `number` the numbers of extensions.
fn opcode_in(kind: Kind, pooled: bool, number: impl FnOnce(Extension) -> u16) -> u16 {
    match kind {
        Kind::Accumulate { acc, inverse, func, shape } => {
            let f = func.info();
            u16::from(inverse)
                | (acc as u16) << 1
                | (f.ty as u16) << 3
                | u16::from(f.id) << 5
                | u16::from(pooled) << 11
                | (shape as u16) << 12
        }
        Kind::Row { row, inverse, ty, cond, form } => {
            u16::from(inverse)
                | ROW_FAMILY << 1
                | (ty as u16) << 3
                | u16::from(row.info().id) << 5
                | u16::from(form) << 11
                | (cond as u16) << 12
        }
        Kind::Extension { extension, inverse } => {
            let number = number(extension);
            u16::from(inverse)
                | ROW_FAMILY << 1
                | (number & 3) << 3
                | (EXTENSION_ROWS.start + (number >> 7)) << 5
                | (number >> 2 & 31) << 11
        }
    }
}

/// The opcode field of an instruction of the table; `pooled` tells whether the constant is in the pool.
pub fn opcode(kind: Kind, pooled: bool) -> u16 {
    opcode_in(kind, pooled, |_| 0)
}

/// The number of the extension in an opcode, if it is that of an extension.
fn extension_number(code: u16) -> Option<u16> {
    let row = code >> 5 & 63;
    let is = code >> 1 & 3 == ROW_FAMILY && EXTENSION_ROWS.contains(&row);
    is.then(|| (row - EXTENSION_ROWS.start) << 7 | (code >> 11 & 31) << 2 | (code >> 3 & 3))
}

/// The kind with this opcode, and whether its constant is in the pool.
pub fn from_opcode(code: u16) -> Option<(Kind, bool)> {
    let inverse = code & 1 == 1;
    let ty = Ty::from_bits(code >> 3);
    let id = (code >> 5) & 63;
    let bit = (code >> 11) & 1 == 1;
    let family = (code >> 1) & 3;
    if family == ROW_FAMILY {
        let row = Row::from_id(id)?;
        let cond = Cond::from_bits(code >> 12)?;
        let info = row.info();
        let test = match info.test {
            Test::None => cond == Cond::Always,
            Test::Optional => cond != Cond::Always || (ty == Ty::Int && !bit),
            Test::Required => cond != Cond::Always,
        };
        let form = !bit || info.operands.iter().any(|k| k.has_alternative());
        let ok = test && form && info.types.contains(&ty) && cond.accepts(ty) && (!inverse || info.partner.is_some());
        ok.then_some((Kind::Row { row, inverse, ty, cond, form: bit }, false))
    } else {
        let acc = *Acc::ALL.get(family as usize)?;
        let func = TableFn::from_id(ty, id)?;
        let shape = Shape::from_bits(code >> 12)?;
        let ok = acc.accepts(ty)
            && shape.arity() == func.info().args.len()
            && (!inverse || !acc.self_inverse())
            && (!bit || shape.has_imm());
        ok.then_some((Kind::Accumulate { acc, inverse, func, shape }, bit))
    }
}

/// Whether a constant of this kind is always in the pool.
fn always_pooled(kind: Kind) -> bool {
    match kind {
        Kind::Accumulate { .. } => false,
        Kind::Extension { extension, .. } => extension.info().layout.contains(&Slot::Imm),
        Kind::Row { row, form, .. } => {
            let pooled = |k: &OperandKind| match k {
                OperandKind::Value | OperandKind::Tolerance => form,
                OperandKind::Constant => true,
                OperandKind::Target
                | OperandKind::Source
                | OperandKind::Memory
                | OperandKind::TargetOrMemory
                | OperandKind::Amount
                | OperandKind::Small
                | OperandKind::Factor
                | OperandKind::Label
                | OperandKind::Text => false,
            };
            row.info().operands.iter().any(pooled)
        }
    }
}

/// Encodes an instruction; a constant that does not fit goes to the pool.
pub fn encode(inst: &Inst, pool: &mut Pool) -> u64 {
    let has_imm = inst.kind.layout().contains(&Slot::Imm);
    let wide = has_imm && !(OFFSET_MIN..=OFFSET_MAX).contains(&inst.imm);
    let pooled = always_pooled(inst.kind) || wide;
    let field = if pooled { i64::from(pool.intern(inst.imm.cast_unsigned())) } else { inst.imm };
    let accumulate = matches!(inst.kind, Kind::Accumulate { .. });
    let mut word = 0u64;
    let bits = word.view_bits_mut::<Lsb0>();
    bits[0..16].store_le(opcode_in(inst.kind, accumulate && pooled, |extension| pool.number(extension)));
    let fields = register_fields(inst.kind);
    for (n, reg) in inst.regs.iter().enumerate().take(fields) {
        bits[16 + 5 * n..21 + 5 * n].store_le(reg.number());
    }
    if fields > 4 {
        return word;
    }
    if inst.small != 0 {
        bits[21..36].store_le(inst.small.cast_unsigned() & 0x7fff);
    }
    bits[36..64].store_le((field.cast_unsigned() & 0x0fff_ffff) as u32);
    word
}

/// The number of register fields of an instruction word: four, or of an extension with more registers, eight, and no immediate.
fn register_fields(kind: Kind) -> usize {
    let taken: u8 = kind.layout().into_iter().map(Slot::fields).sum();
    if taken > 4 { OPERANDS } else { 4 }
}

/// Decodes a word of code of a profile, with the object's pool of constants and its extensions.
///
/// Errors: a word that [`encode`] cannot have written.
pub fn decode(word: u64, pool: &[u64], extensions: &[Extension], profile: Profile) -> Result<Inst, DecodeError> {
    let bits = word.view_bits::<Lsb0>();
    let code: u16 = bits[0..16].load_le();
    let inverse = code & 1 == 1;
    let (kind, pooled) = match extension_number(code) {
        None => from_opcode(code).ok_or(DecodeError::Opcode(code))?,
        Some(number) => {
            let known = extensions.get(usize::from(number)).filter(|e| !inverse || e.info().partner.is_some());
            let &extension = known.ok_or(DecodeError::Extension(number))?;
            (Kind::Extension { extension, inverse }, false)
        }
    };
    let field: u32 = bits[36..64].load_le();
    let signed = i64::from((field << 4).cast_signed() >> 4);
    let layout = kind.layout();
    // Unused fields stay zero here; the comparison with the encoding below detects bits in them.
    let mut regs = Inst::registers(&[]);
    for field in layout.into_iter().flat_map(Slot::register_fields) {
        regs[field as usize] = reg_at(word, field as usize);
    }
    let mut small = 0;
    if layout.contains(&Slot::Small) {
        let raw: u16 = bits[21..36].load_le();
        small = (raw << 1).cast_signed() >> 1;
    }
    let pooled_constant = pooled || always_pooled(kind);
    let unsigned = pooled_constant || layout.contains(&Slot::Text) || layout.contains(&Slot::FactorNum);
    let imm = match (pooled_constant, unsigned) {
        _ if !layout.into_iter().any(Slot::uses_imm) => 0,
        (true, _) => pool.get(field as usize).ok_or(DecodeError::Pool(u64::from(field)))?.cast_signed(),
        (false, true) => i64::from(field),
        (false, false) => signed,
    };
    let inst = Inst { kind, regs, imm, small };
    inst.validate(profile)?;
    // Encoding again detects every bit that should be zero, and constants in the wrong place.
    let expected = {
        let mut scratch = Pool { extensions: extensions.to_vec(), ..Pool::default() };
        let again = encode(&inst, &mut scratch);
        if scratch.words.is_empty() { again } else { again | u64::from(field) << 36 }
    };
    let canonical_address = canonical_address(&inst);
    if expected != word || !canonical_address {
        return Err(DecodeError::NotCanonical { expected });
    }
    Ok(inst)
}

fn reg_at(word: u64, n: usize) -> Reg {
    let number: u8 = word.view_bits::<Lsb0>()[16 + 5 * n..21 + 5 * n].load_le();
    Reg::new(number).unwrap_or_default()
}

/// Whether addresses are canonical: an index register without a base would be a second encoding of the same address.
fn canonical_address(inst: &Inst) -> bool {
    inst.kind.layout().into_iter().all(|slot| match slot {
        Slot::Mem(f) | Slot::TargetMem(f) | Slot::MemPlain(f) | Slot::TargetMemPlain(f) => {
            inst.regs[f as usize] != Reg::ZERO || inst.regs[f as usize + 1] == Reg::ZERO
        }
        Slot::None
        | Slot::Reg(_)
        | Slot::Target(_)
        | Slot::Imm
        | Slot::Small
        | Slot::FactorNum
        | Slot::FactorDen
        | Slot::Label
        | Slot::Text => true,
    })
}

/// Words as little-endian bytes.
pub fn to_bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Little-endian bytes as words; `None` if the length is not a multiple of 8.
pub fn from_bytes(bytes: &[u8]) -> Option<Vec<u64>> {
    let (words, rest) = bytes.as_chunks::<8>();
    rest.is_empty().then(|| words.iter().map(|&word| u64::from_le_bytes(word)).collect())
}
