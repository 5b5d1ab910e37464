//! What is known when an instruction could not run.

use pendula_isa::adjoint::AdMode;
use pendula_isa::counts::Direction;
use pendula_isa::operand::Operand;
use pendula_isa::{Fault, Inst};

/// A run that stopped at an instruction which could not run. The state is that of before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// Why.
    pub fault: Fault,
    /// The address of the instruction.
    pub at: u32,
    /// The instruction, as it stands in the code.
    pub inst: Inst,
    /// Another instruction concerned: the other half of a jump.
    pub other: Option<(u32, Inst)>,
    /// Which way the machine was running.
    pub direction: Direction,
    /// What words carried.
    pub ad_mode: AdMode,
    /// The operands' values, those of the other instruction last.
    pub values: Vec<TrapValue>,
}

/// An operand and what it was worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrapValue {
    /// The operand, as it is written.
    pub operand: Operand,
    /// For a memory operand, the address.
    pub address: Option<u64>,
    /// The word; `None` if the address is outside the memory.
    pub word: Option<u64>,
    /// Whether the operand belongs to the other instruction.
    pub of_other: bool,
}
