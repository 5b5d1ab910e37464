//! Runs steps of definitions on words, without a machine.

use super::{Definition, operand_register, temporary_register};
use crate::fault::Fault;
use crate::inst::{Inst, Kind};
use crate::num::Env;
use crate::operand::{OPERANDS, Operand};
use crate::scalar::ScalarDomain;
use crate::table::{self, Function, FunctionVisitor, Instruction, InstructionVisitor};
use crate::types::{Acc, Reg};

/// Runs a step on words: those of all registers, local ones included.
///
/// # Errors
/// The step traps.
pub fn run_step(env: Env, step: &Inst, words: &mut [u64; Reg::PLACES]) -> Result<(), Fault> {
    struct Accumulate<'a>(&'a mut ScalarDomain, Acc, bool);
    impl FunctionVisitor for Accumulate<'_> {
        type Out = Result<(), Fault>;
        fn visit<F: Function>(self) -> Self::Out {
            table::run_accumulate::<_, F>(self.0, self.1, self.2)
        }
    }
    struct Run<'a>(&'a mut ScalarDomain, bool, table::Variant);
    impl InstructionVisitor for Run<'_> {
        type Out = Result<(), Fault>;
        fn visit<I: Instruction>(self) -> Self::Out {
            if self.1 { I::undo(self.0, self.2) } else { I::run(self.0, self.2) }
        }
    }
    let mut d = ScalarDomain::new(env);
    let word = |words: &[u64; Reg::PLACES], r: Reg| words[usize::from(r.number()) % Reg::PLACES];
    for ((_, operand), place) in step.operands().zip(&mut d.operands) {
        *place = match operand {
            Operand::Reg(r) => word(words, r),
            Operand::Imm(w, _) => w,
            Operand::Factor(k) => u64::from(k),
            Operand::Small(k) => i64::from(k).cast_unsigned(),
            Operand::Mem { .. } | Operand::Label(_) | Operand::Text(_) => return Err(Fault::Memory),
        };
    }
    match step.kind {
        Kind::Accumulate { acc, inverse, func, .. } => func.visit(Accumulate(&mut d, acc, inverse))?,
        Kind::Row { row, inverse, .. } => {
            row.visit(Run(&mut d, inverse, step.variant())).unwrap_or(Err(Fault::OffCode))?;
        }
        Kind::Extension { .. } => return Err(Fault::OffCode),
    }
    for ((slot, operand), word) in step.operands().zip(d.operands) {
        if let (true, Operand::Reg(r)) = (slot.is_written(), operand) {
            words[usize::from(r.number()) % Reg::PLACES] = word;
        }
    }
    Ok(())
}

impl Definition {
    /// Runs the definition's steps on words for its operands, or with `back` the inverse's; temporaries begin as zero. The words afterwards, of
    /// operands and temporaries.
    ///
    /// # Errors
    /// A step traps.
    pub fn run(&self, env: Env, operands: &[u64], back: bool) -> Result<Vec<u64>, Fault> {
        let mut words = [0; Reg::PLACES];
        for (n, word) in operands.iter().enumerate().take(OPERANDS) {
            words[usize::from(operand_register(n).number())] = *word;
        }
        let inverse = |step: &Inst| step.inverse();
        let steps: Vec<Inst> = if back { self.steps.iter().rev().map(inverse).collect() } else { self.steps.clone() };
        for step in &steps {
            run_step(env, step, &mut words)?;
        }
        let temporaries = usize::from(temporary_register(0).number());
        let operands = usize::from(operand_register(0).number());
        let mut out = words[operands..operands + self.operands()].to_vec();
        out.extend_from_slice(&words[temporaries..temporaries + self.temporaries.len()]);
        Ok(out)
    }
}
