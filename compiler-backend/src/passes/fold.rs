//! Computes with constants, takes addresses apart into base, index and offset, and removes what has no effect.

mod address;
mod constants;
mod dead;
mod floats;
mod simplify;

use crate::ir::Program;
use crate::ir::effects::Summaries;

/// The most rounds of all steps; each step may leave work for the others.
const ROUNDS: usize = 2;

/// Runs the pass on the whole program.
pub(super) fn run(program: &mut Program, summaries: &Summaries) {
    let format = program.format;
    for function in &mut program.functions {
        for _ in 0..ROUNDS {
            let mut changed = constants::run(function, format, summaries);
            changed |= simplify::run(function, format, summaries);
            changed |= address::run(function, summaries);
            changed |= dead::run(function, format, summaries);
            if !changed {
                break;
            }
        }
        simplify::run(function, format, summaries);
    }
}
