//! Removes checks and assertions that always hold, and drops of gradient words that are always zero.

mod asserts;
mod bounds;
mod drops;
mod lives;

use crate::ir::Program;
use crate::ir::effects::Summaries;

/// Runs the pass on the whole program.
pub(super) fn run(program: &mut Program, summaries: &Summaries) {
    for function in &mut program.functions {
        lives::run(function, summaries);
        asserts::run(function, summaries);
    }
    drops::run(program, summaries);
}
