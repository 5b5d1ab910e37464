//! The circuits of instructions, which determine costs.
//!
//! [`generate`] makes the circuit of a [`Part`] of an instruction for words of any width. The tests simulate the parts
//! of the instruction set and compare them with the semantics of the instructions. Circuits, and how they are built, are
//! in [`pendula_isa::circuit`]; those of kernels are columns of the kernels.

pub(crate) mod lifted;
mod lookup;
pub mod part;
mod row;
mod synthesis;

pub(crate) use lookup::ONLY as WITH_TABLES;
pub use lookup::{Algorithm, TABLE_BITS};
pub use part::{Accumulator, Choice, CircuitFn, Half, Part, PartError, generate, generate_with};
pub use pendula_isa::circuit::*;
pub use pendula_isa::kernels::circuits as kernels;
