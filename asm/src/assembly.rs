//! The result of reading a source file.

use pendula_isa::Module;

use crate::diagnostic::{Diagnostic, Sources};

/// The result of assembling a source file.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// The program; `None` if there is any error.
    pub module: Option<Module>,
    /// The diagnostics, in the order of their places.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts of the root file and of the files that it includes.
    pub sources: Sources,
    /// The operands that are written with the name of a data object, in the order of the instructions.
    pub named: Vec<NamedOperand>,
}

/// An operand that is written with the name of a data object: a word of memory, or a constant that is an address. The
/// module holds only the sum of the operand's parts: it shows neither that an object at address 0 was named, nor that a
/// constant is an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedOperand {
    /// The instruction.
    pub at: u32,
    /// The index of the operand, counted from 0.
    pub operand: u8,
    /// The object's address.
    pub object: u64,
}
