//! Compilers to the instruction set.
//!
//! Front ends translate a language into the reversible intermediate representation [`ir`]: [`nil`] is the language of the
//! NiLang papers, [`janus`] that of Lutz and Derby. [`passes`] optimize the IR, [`lower`](mod@lower) makes a
//! [`Module`](pendula_isa::Module) of it, and [`c`] makes C of it. Only [`ir::eval`] runs programs: tests check compiled
//! code against it, and [`replay`] uses it to tell where a program stopped.

pub mod c;
pub mod compile;
pub mod ir;
pub mod janus;
pub mod loop_form;
pub mod lower;
pub mod nil;
pub mod passes;
#[cfg(feature = "eval")]
pub mod replay;
pub mod syntax;
