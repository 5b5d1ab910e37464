//! The tests of the whole program as one test program: `cargo test --test suite batch::` runs the tests of a file.

use pendula_testing as machine;

mod common;
#[path = "../benches/workloads/inputs.rs"]
mod inputs;

mod batch;
mod bench;
mod breakeven;
mod budgets;
mod cache;
mod cli;
mod comparisons;
mod contributing;
mod control_model;
mod debug;
mod docs;
mod energy;
mod engines;
mod examples;
mod extensions;
mod grad_cli;
mod gradient_programs;
mod gradients;
mod janus;
mod janus_random;
mod janus_types;
mod library;
mod limits;
mod logarithms;
mod mistakes;
mod native;
mod nil_checks;
mod nil_examples;
mod nil_levels;
mod nil_quality;
mod nil_workloads;
mod nilang;
mod output;
mod pisa;
mod pisa_import;
mod plain_form;
mod programs;
mod recompute;
mod small_stack;
mod state;
mod stops;
