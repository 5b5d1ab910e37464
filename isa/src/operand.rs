//! Operands: their kinds, their location in an instruction word, and the errors for operands that do not fit.

mod error;

pub use error::OperandError;

use crate::types::{Reg, Ty};

/// The operand kinds that rows of the table name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandKind {
    /// A register that is read and written.
    Target,
    /// A register that is read.
    Source,
    /// A memory word that is read and written.
    Memory,
    /// A register or a memory word, read and written.
    TargetOrMemory,
    /// A rotation amount: a register, or a constant from 0 to 63.
    Amount,
    /// A register or a constant of the instruction's type.
    Value,
    /// A constant of the instruction's type.
    Constant,
    /// A register or a whole number from −16384 to 16383, read as a number of the instruction's type.
    Small,
    /// A constant of the instruction's type, 0 when left out.
    Tolerance,
    /// A factor of `rmul`/`rdiv`: registers, or constants from 1 to 16383.
    Factor,
    /// The label or procedure that control goes to.
    Label,
    /// A text.
    Text,
}

impl OperandKind {
    /// The description of the operand in the reference manual.
    pub const fn doc(self) -> &'static str {
        match self {
            OperandKind::Target => "register, written",
            OperandKind::Source => "register",
            OperandKind::Memory => "memory, written",
            OperandKind::TargetOrMemory => "register or memory, written",
            OperandKind::Amount => "register, or constant 0 to 63",
            OperandKind::Value => "register or constant",
            OperandKind::Constant => "constant",
            OperandKind::Small => "register, or whole number -16384 to 16383",
            OperandKind::Tolerance => "constant, 0 if left out",
            OperandKind::Factor => "register, or constant 1 to 16383 (both factors alike)",
            OperandKind::Label => "label",
            OperandKind::Text => "text in quotes",
        }
    }

    /// Whether the operand has a second form, chosen by the form bit of the opcode.
    pub const fn has_alternative(self) -> bool {
        matches!(
            self,
            OperandKind::TargetOrMemory
                | OperandKind::Amount
                | OperandKind::Value
                | OperandKind::Small
                | OperandKind::Tolerance
                | OperandKind::Factor
        )
    }
}

/// The location of an operand in an instruction: one of the register fields, or the immediate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// No operand.
    None,
    /// Register field `.0`, read only.
    Reg(u8),
    /// Register field `.0`, read and written.
    Target(u8),
    /// Memory word addressed by register fields `.0` and `.0 + 1` and the immediate, read only.
    Mem(u8),
    /// The same, read and written.
    TargetMem(u8),
    /// Memory word addressed by two register fields only: the immediate is another operand.
    MemPlain(u8),
    /// The same, read and written.
    TargetMemPlain(u8),
    /// The 64-bit immediate.
    Imm,
    /// The 15-bit immediate.
    Small,
    /// The first 14-bit factor.
    FactorNum,
    /// The second 14-bit factor.
    FactorDen,
    /// A code offset.
    Label,
    /// An index into the module's texts.
    Text,
}

/// The locations of an instruction's operands, in the order they are written.
pub type Layout = [Slot; OPERANDS];

/// The most operands of an instruction, and the most registers that it names. Those of the table have at most four.
pub const OPERANDS: usize = 8;

impl Slot {
    /// The register fields that the operand takes.
    pub const fn register_fields(self) -> std::ops::Range<u8> {
        match self {
            Slot::Reg(f) | Slot::Target(f) => f..f + 1,
            Slot::Mem(f) | Slot::TargetMem(f) | Slot::MemPlain(f) | Slot::TargetMemPlain(f) => f..f + 2,
            Slot::None | Slot::Imm | Slot::Small | Slot::FactorNum | Slot::FactorDen | Slot::Label | Slot::Text => 0..0,
        }
    }

    /// The number of register fields that the operand takes.
    pub const fn fields(self) -> u8 {
        let fields = self.register_fields();
        fields.end - fields.start
    }

    /// Whether the operand is a memory word.
    pub const fn is_memory(self) -> bool {
        self.fields() == 2
    }

    /// Whether the instruction writes the operand.
    pub const fn is_written(self) -> bool {
        matches!(self, Slot::Target(_) | Slot::TargetMem(_) | Slot::TargetMemPlain(_))
    }

    /// Whether the operand takes the instruction's immediate field.
    pub const fn uses_imm(self) -> bool {
        !matches!(
            self,
            Slot::None | Slot::Reg(_) | Slot::Target(_) | Slot::MemPlain(_) | Slot::TargetMemPlain(_) | Slot::Small
        )
    }
}

/// Builds a layout from operand kinds; `form` is the opcode's form bit.
pub const fn layout(kinds: &[OperandKind], form: bool) -> Layout {
    let mut out = [Slot::None; OPERANDS];
    let mut field = 0;
    let mut i = 0;
    let mut factors = 0;
    while i < kinds.len() {
        out[i] = match kinds[i] {
            OperandKind::Target => Slot::Target(field),
            OperandKind::Source => Slot::Reg(field),
            OperandKind::Memory => Slot::TargetMem(field),
            OperandKind::TargetOrMemory => {
                if form {
                    Slot::TargetMem(field)
                } else {
                    Slot::Target(field)
                }
            }
            OperandKind::Amount | OperandKind::Value => {
                if form {
                    Slot::Imm
                } else {
                    Slot::Reg(field)
                }
            }
            OperandKind::Small => {
                if form {
                    Slot::Small
                } else {
                    Slot::Reg(field)
                }
            }
            OperandKind::Tolerance => {
                if form {
                    Slot::Imm
                } else {
                    Slot::None
                }
            }
            OperandKind::Factor => {
                if !form {
                    Slot::Reg(field)
                } else if factors == 0 {
                    Slot::FactorNum
                } else {
                    Slot::FactorDen
                }
            }
            OperandKind::Constant => Slot::Imm,
            OperandKind::Label => Slot::Label,
            OperandKind::Text => Slot::Text,
        };
        if matches!(kinds[i], OperandKind::Factor) {
            factors += 1;
        }
        field += out[i].fields();
        i += 1;
    }
    out
}

/// Operand shapes of accumulate instructions: destination, then sources.
/// `R` register, `I` immediate, `M` memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Shape {
    RR = 0,
    RI = 1,
    RM = 2,
    MR = 3,
    MI = 4,
    RRR = 5,
    RRI = 6,
    RIR = 7,
    RRM = 8,
    RMR = 9,
    RIM = 10,
    RMI = 11,
    MRR = 12,
    MRI = 13,
    MIR = 14,
    RRRR = 15,
}

impl Shape {
    /// Every shape.
    pub const ALL: [Shape; 16] = [
        Shape::RR,
        Shape::RI,
        Shape::RM,
        Shape::MR,
        Shape::MI,
        Shape::RRR,
        Shape::RRI,
        Shape::RIR,
        Shape::RRM,
        Shape::RMR,
        Shape::RIM,
        Shape::RMI,
        Shape::MRR,
        Shape::MRI,
        Shape::MIR,
        Shape::RRRR,
    ];

    /// The shape with this encoding.
    pub fn from_bits(bits: u16) -> Option<Shape> {
        Shape::ALL.get(bits as usize).copied()
    }

    /// The number of sources.
    pub const fn arity(self) -> usize {
        if (self as u8) < Shape::RRR as u8 {
            1
        } else if (self as u8) < Shape::RRRR as u8 {
            2
        } else {
            3
        }
    }

    /// The shape with registers only.
    pub const fn of_registers(arity: usize) -> Shape {
        match arity {
            0 | 1 => Shape::RR,
            2 => Shape::RRR,
            _ => Shape::RRRR,
        }
    }

    /// Whether all operands are registers.
    pub const fn is_of_registers(self) -> bool {
        matches!(self, Shape::RR | Shape::RRR | Shape::RRRR)
    }

    /// The locations of the operands.
    pub const fn layout(self) -> Layout {
        use Slot::{Imm, Mem, MemPlain, None, Reg, Target, TargetMem, TargetMemPlain};
        let [a, b, c, d] = match self {
            Shape::RR => [Target(0), Reg(1), None, None],
            Shape::RI => [Target(0), Imm, None, None],
            Shape::RM => [Target(0), Mem(1), None, None],
            Shape::MR => [TargetMem(0), Reg(2), None, None],
            Shape::MI => [TargetMemPlain(0), Imm, None, None],
            Shape::RRR => [Target(0), Reg(1), Reg(2), None],
            Shape::RRI => [Target(0), Reg(1), Imm, None],
            Shape::RIR => [Target(0), Imm, Reg(1), None],
            Shape::RRM => [Target(0), Reg(1), Mem(2), None],
            Shape::RMR => [Target(0), Mem(1), Reg(3), None],
            Shape::RIM => [Target(0), Imm, MemPlain(1), None],
            Shape::RMI => [Target(0), MemPlain(1), Imm, None],
            Shape::MRR => [TargetMem(0), Reg(2), Reg(3), None],
            Shape::MRI => [TargetMemPlain(0), Reg(2), Imm, None],
            Shape::MIR => [TargetMemPlain(0), Imm, Reg(2), None],
            Shape::RRRR => [Target(0), Reg(1), Reg(2), Reg(3)],
        };
        [a, b, c, d, None, None, None, None]
    }

    /// Whether an immediate is an operand.
    pub const fn has_imm(self) -> bool {
        let l = self.layout();
        matches!(l[1], Slot::Imm) || matches!(l[2], Slot::Imm)
    }
}

/// One operand of one instruction, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// A memory word at `base + index + offset`.
    Mem {
        /// Base register; `r0` for none.
        base: Reg,
        /// Index register; `r0` for none.
        index: Reg,
        /// Offset in words.
        offset: i64,
    },
    /// A constant, read as a number of type `.1`.
    Imm(u64, Ty),
    /// A small whole number.
    Small(i16),
    /// A constant factor.
    Factor(u16),
    /// An offset in instructions from this instruction.
    Label(i64),
    /// An index into the module's texts.
    Text(u32),
}
