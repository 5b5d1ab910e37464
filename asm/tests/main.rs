//! The tests of the assembler, in one binary: `cargo test --test asm errors` runs those of one file.

mod common;

mod definitions;
mod errors;
mod includes;
mod language;
mod objects;
mod reasons;
mod robustness;
