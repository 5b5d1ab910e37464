//! The assembler and its companions: from text to [`Module`](pendula_isa::Module) and back.
//!
//! Source text is parsed, expanded (macros, includes, inverse spans), resolved and checked. The result is a module.
//! Modules are written to and read from ELF objects, disassembled, inverted and checked. This crate neither runs
//! programs nor prints: problems are returned as [`diagnostic::Diagnostic`]s.

pub mod assemble;
mod assembly;
mod ast;
pub mod check;
pub mod codes;
pub mod definitions;
pub mod disasm;
mod exact;
mod expand;
mod expr;
mod files;
pub mod fmt;
mod foreign;
mod head;
mod intern;
pub mod invert;
mod layout;
mod lexer;
mod literal;
pub mod object;
mod operands;
mod options;
mod origin;
mod pairs;
mod parser;
pub mod pisa;
mod resolve;
mod routine;
mod session;
mod symbols;
mod token;
mod unknown;
mod value;

pub use pendula_isa::diagnostic;
