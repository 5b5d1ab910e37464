//! The parts that all code generators of Pendula share: instructions lifted to operations ([`lift`], [`ops`]), facts that bodies
//! tell ([`properties`]), what generators implement for each operation ([`emit`]), kernels that compiled code calls ([`kernel`]),
//! whole programs as functions with loops ([`loops`]) and printed as C ([`c`]), the system's C compiler ([`cc`]), and whole runs
//! in C ([`whole`]).
//!
//! Nothing here knows what an instruction does: the lifter runs the table's bodies on a domain that records operations. The
//! machine's engines generate code from the operations; the compiler builds the loop form.

pub mod c;
mod cache;
pub mod cc;
mod child;
pub mod emit;
pub mod kernel;
pub mod lift;
pub mod loops;
pub mod ops;
pub mod properties;
pub mod stack;
pub mod whole;
