//! What makes native code of Pendula's programs: instructions written down as
//! operations ([`lift`], [`ops`]), the kernels of the number types for code to
//! call ([`kernel`]), the system's C compiler ([`cc`]), and whole runs in C ([`whole`]).
//!
//! Nothing here knows what an instruction does: the recorder runs the table's
//! bodies on a domain that writes operations down. Neighbours: the machine's
//! engines make code of operations; the compiler writes programs out as C.

mod cache;
pub mod cc;
mod child;
pub mod kernel;
pub mod lift;
pub mod ops;
pub mod stack;
pub mod whole;
