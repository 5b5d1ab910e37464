//! Tests of the reader of Nil programs.

mod errors;
mod robust;
mod shape;
mod statements;
