//! Whether registers are zero where extensions have temporaries in their place: a program that runs as the original does and counts.

use std::collections::HashSet;

use pendula_isa::OperandError;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::module::Module;
use pendula_isa::operand::{Operand, Shape};
use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::types::{Acc, Reg};

use crate::effects::effects;
use crate::matching::Site;
use crate::rewrite::Moved;

/// A program that does what a program does, and counts for each of these places how often a register in the place of a temporary is not zero,
/// before or after the instructions that use it: in the word of memory at `cells` for the first place, and so on. The original does not use these
/// words.
///
/// # Errors
/// The address is none that an instruction can name.
pub fn counting(module: &Module, sites: &[Site], cells: u64) -> Result<Module, OperandError> {
    let old = &module.code;
    let mut before: Vec<Vec<Inst>> = vec![Vec::new(); old.len()];
    let mut after = before.clone();
    for (n, site) in sites.iter().enumerate() {
        for register in &site.temporaries {
            let count = count(*register, cells + n as u64)?;
            let uses = |at: &&usize| effects(&old[**at]).names(*register);
            if let (Some(first), Some(last)) = (site.matched.iter().find(uses), site.matched.iter().rfind(uses)) {
                before[*first].push(count);
                after[*last].push(count);
            }
        }
    }
    let mut moved = Moved::of(old.len());
    for at in 0..old.len() {
        before[at].iter().for_each(|inst| moved.add(*inst, at));
        moved.keep(old, at);
        after[at].iter().for_each(|inst| moved.add(*inst, at));
    }
    Ok(moved.module(module, &HashSet::new()))
}

/// Adds 1 to a word of memory if a register is not zero, so that 0 is less than its word.
fn count(register: Reg, cell: u64) -> Result<Inst, OperandError> {
    let func = TableFn::Int(int_fn::Name::Ltu);
    let family = Kind::Accumulate { acc: Acc::Add, inverse: false, func, shape: Shape::MRR };
    let cell = Operand::Mem { base: Reg::ZERO, index: Reg::ZERO, offset: cell.cast_signed() };
    Inst::build(family, &[cell, Operand::Reg(Reg::ZERO), Operand::Reg(register)])
}
