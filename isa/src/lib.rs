//! The instruction set of Pendula.
//!
//! One table ([`table`]) declares every instruction. Mnemonics, encoding, inverses, gate classes, the reference manual and the
//! interpreter's dispatch are derived from it. This crate depends on no other crate of the workspace: it handles neither source text
//! beyond a single instruction nor machine state.

pub mod adjoint;
pub mod arith;
pub mod budget;
pub mod calculus;
pub mod circuit;
pub mod class;
pub mod counts;
pub mod diagnostic;
pub mod domain;
pub mod encode;
pub mod extension;
pub mod fault;
pub mod inst;
pub mod kernels;
pub mod manual;
pub mod mnemonic;
pub mod module;
pub mod num;
pub mod operand;
#[cfg(feature = "sample")]
pub mod sample;
pub mod scalar;
pub mod series;
pub mod table;
pub mod text;
pub mod types;
pub mod verify;
pub mod words;

pub use class::GateClass;
pub use extension::Extension;
pub use fault::Fault;
pub use inst::{Inst, Kind};
pub use module::Module;
pub use num::{Env, Format};
pub use operand::{Operand, OperandError};
pub use types::{Acc, Cond, Profile, Reg, Ty};
