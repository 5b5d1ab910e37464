//! Compilers to the instruction set.
//!
//! Front ends read a language into the reversible intermediate representation
//! [`ir`]: [`nil`] is the language of the NiLang papers, [`janus`] that of Lutz and Derby. `passes` improve it, and
//! `lower` makes a [`Module`](pendula_isa::Module) of it. Nothing here runs a program,
//! but for [`ir::eval`]: the rest is checked against it, and [`replay`] tells by it where a program stopped.

pub mod c;
pub mod compile;
pub mod ir;
pub mod janus;
pub mod lower;
pub mod nil;
pub mod passes;
pub mod replay;
pub mod syntax;
#[cfg(test)]
mod testing;
