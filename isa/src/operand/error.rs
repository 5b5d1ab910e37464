//! Why operands are refused.

use crate::types::Reg;

/// Why operands do not make an instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OperandError {
    /// Too few or too many.
    #[error("`{mnemonic}` takes {wanted}, found {found}")]
    Count {
        /// The mnemonic.
        mnemonic: String,
        /// What it takes.
        wanted: String,
        /// How many there are.
        found: usize,
    },
    /// Of the wrong kind.
    #[error("operand {position} must be a {wanted}, found a {found}")]
    Kind {
        /// 1 for the first.
        position: usize,
        /// What it must be.
        wanted: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// A register written and used elsewhere in the same instruction.
    #[error("{reg} is written by this instruction and may not occur in it again")]
    Aliased {
        /// The register.
        reg: Reg,
        /// Which operand repeats it, 1 for the first.
        position: usize,
    },
    /// A write to `r0`.
    #[error("r0 always reads 0 and cannot be written")]
    WritesZero {
        /// Which operand, 1 for the first.
        position: usize,
    },
    /// The stack pointer where the instruction moves it itself.
    #[error("sp is moved by this instruction and may not be its operand")]
    StackPointer {
        /// Which operand, 1 for the first.
        position: usize,
    },
    /// Memory on both sides.
    #[error("an instruction takes at most one memory operand")]
    TwoMemory {
        /// Which operand is the second, 1 for the first.
        position: usize,
    },
    /// A constant and a memory offset, or two constants.
    #[error("an instruction takes at most one constant or memory offset")]
    TwoImmediates {
        /// Which operand is the second, 1 for the first.
        position: usize,
    },
    /// A constant where the result would be forgotten.
    #[error("multiplying or dividing by zero forgets the number")]
    ZeroFactor {
        /// Which operand, 1 for the first.
        position: usize,
    },
    /// A number outside the field's range.
    #[error("{what} must lie between {min} and {max}, found {found}")]
    OutOfRange {
        /// Which operand, 1 for the first.
        position: usize,
        /// What the number is.
        what: &'static str,
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
        /// The number.
        found: i128,
    },
    /// One factor a register, the other a constant.
    #[error("the two factors must both be registers or both constants")]
    MixedFactors {
        /// Which operand, 1 for the first.
        position: usize,
    },
    /// A constant beside so many registers that the instruction word has no room for it.
    #[error("a constant leaves room for four registers, and this instruction has more")]
    NoRoom {
        /// Which operand is the constant, 1 for the first.
        position: usize,
    },
    /// The process has had too many different extensions.
    #[error("{}", crate::extension::TooMany)]
    TooManyExtensions,
}

impl OperandError {
    /// Which operand the error is about (1 for the first), or 0 for the whole instruction.
    pub fn position(&self) -> usize {
        match *self {
            OperandError::Count { .. } | OperandError::TooManyExtensions => 0,
            OperandError::NoRoom { position }
            | OperandError::Kind { position, .. }
            | OperandError::Aliased { position, .. }
            | OperandError::WritesZero { position }
            | OperandError::StackPointer { position }
            | OperandError::TwoMemory { position }
            | OperandError::TwoImmediates { position }
            | OperandError::ZeroFactor { position }
            | OperandError::OutOfRange { position, .. }
            | OperandError::MixedFactors { position } => position,
        }
    }

    /// The code that messages and test files name.
    pub fn code(&self) -> &'static str {
        match self {
            OperandError::Count { .. } => "P0030",
            OperandError::Kind { .. } => "P0031",
            OperandError::Aliased { .. } => "P0032",
            OperandError::WritesZero { .. } => "P0033",
            OperandError::StackPointer { .. } => "P0034",
            OperandError::TwoMemory { .. } => "P0035",
            OperandError::TwoImmediates { .. } => "P0036",
            OperandError::ZeroFactor { .. } => "P0037",
            OperandError::OutOfRange { .. } => "P0038",
            OperandError::MixedFactors { .. } => "P0039",
            OperandError::NoRoom { .. } => "P0060",
            OperandError::TooManyExtensions => "P0061",
        }
    }

    /// What to write instead.
    pub fn help(&self) -> &'static str {
        match self {
            OperandError::Count { .. } => "`pendula isa MNEMONIC` shows an instruction's operands",
            OperandError::Kind { .. } => "`pendula isa MNEMONIC` shows an instruction's operands",
            OperandError::Aliased { .. } => {
                "the instruction could not be undone; copy the register to a cleared one first (`add r9, r1`) and use the copy"
            }
            OperandError::WritesZero { .. } => "r0 always reads 0: use another register",
            OperandError::StackPointer { .. } => "copy sp to another register and use the copy",
            OperandError::TwoMemory { .. } => {
                "bring one of them into a register: `exch r9, [a]` before and after, or `add r9, [a]` … `sub r9, [a]`"
            }
            OperandError::TwoImmediates { .. } => "put one of them into a register",
            OperandError::ZeroFactor { .. } => {
                "to have 0 in the word, undo what computed it, or exchange it with a clear word (`swap`, `exch`)"
            }
            OperandError::OutOfRange { min: 1, found: ..=0, .. } => "both factors must be greater than zero",
            OperandError::OutOfRange { .. } => "put the number into a register",
            OperandError::MixedFactors { .. } | OperandError::NoRoom { .. } => "put the constant into a register",
            OperandError::TooManyExtensions => "assemble fewer programs in one process",
        }
    }
}
