//! The functions that parts compute.

use pendula_isa::table::TableFn;

use crate::circuit::kernels::ValueCircuit;

/// A function of one or more words. Those of fixed point are for numbers with `frac` fraction bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CircuitFn {
    /// The operand itself.
    Wire,
    /// A function of the table, by the operations of its body. Kernels for which others stand ([`stand_ins`](super::stand_ins)) have a
    /// meaningless value in its circuit.
    Table {
        /// The function.
        func: TableFn,
        /// Fraction bits of fixed-point numbers; the other formats are those of the width.
        frac: usize,
    },
    /// A circuit of a kernel or of an operation on doubles.
    Kernel {
        /// The circuit.
        kernel: ValueCircuit,
        /// Fraction bits, as above.
        frac: usize,
    },
}

impl CircuitFn {
    /// The number of operands.
    pub fn arity(self) -> usize {
        match self {
            CircuitFn::Wire => 1,
            CircuitFn::Table { func, .. } => func.info().args.len(),
            CircuitFn::Kernel { kernel, .. } => kernel.arity,
        }
    }
}
