//! The tests of the assembler, one binary: `cargo test -p pendula-asm --test suite errors` runs those of a file.

mod common;

mod errors;
mod includes;
mod language;
mod objects;
mod reasons;
mod robustness;
