//! Nil: the high-level reversible language.

pub mod ast;
