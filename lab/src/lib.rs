//! The instruction lab: what an instruction that a definition adds is worth on programs.
//!
//! [`rewrite`] puts extensions in the place of instructions that do the same, [`compare`] runs both programs and compares every bit, and
//! [`discover`] proposes extensions from the instructions that programs run most.

pub mod clear;
pub mod compare;
pub mod discover;
mod effects;
mod matching;
pub mod rewrite;
