//! The tests of the compilers, one binary: `cargo test -p pendula-testing --test compiler c` runs those of a file.

mod common;

mod c;
mod ir;
mod ir_eval;
mod ir_passes;
mod ir_text;
mod loop_form;
mod lower;
mod nil_fmt;
mod nil_parser;
mod nil_plain;
mod nil_random;
mod nil_sema;
mod nil_types;
mod passes;
