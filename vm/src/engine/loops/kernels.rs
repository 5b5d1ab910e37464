//! Calls of kernels, and those that need not be made in every turn of a loop.

use std::collections::HashMap;

use cranelift_codegen::ir::{InstBuilder, Value as IrValue, types};
use pendula_codegen::kernel::pack;
use pendula_codegen::loops::{Block, Local, Place, Slot, Stmt, Word, values_changed_in};
use pendula_codegen::ops::{Op, ValueId};
use pendula_isa::adjoint::VALUE;

use super::block::BlockEmitter;
use super::function::FunctionEmitter;

/// The results of kernels that do not change in a loop: for each, the operation by the address of its block, and the value.
pub(super) type Hoisted = HashMap<(*const Block, ValueId), IrValue>;

/// The calls of kernels in the turns of a loop, each of which is made in every turn, and always with the same arguments.
pub(super) fn steady_kernels(body: &[Stmt], counter: Local) -> Vec<(&Block, ValueId)> {
    let mut blocks = Vec::new();
    top_blocks(body, &mut blocks);
    let is_kernel = |op: &Op| matches!(op, Op::Kernel(..));
    if !blocks.iter().any(|block| block.ops.iter().any(is_kernel)) {
        return Vec::new();
    }
    let Some(mut changed) = values_changed_in(body) else { return Vec::new() };
    changed.insert(counter);
    let mut out = Vec::new();
    for block in blocks {
        let mut is_steady = vec![false; block.ops.len()];
        let mut depth = 0;
        for (n, op) in block.ops.iter().enumerate() {
            let all = |op: &Op| op.uses().all(|v| is_steady[v.0 as usize]);
            let steady = match op {
                Op::Get(0, reg) => match block.slots.get(usize::from(*reg)).copied().flatten() {
                    Some(
                        Slot::Place(Place::Local(local), _)
                        | Slot::Word(Word { place: Place::Local(local), lane: VALUE, .. }),
                    ) => !changed.contains(&local),
                    _ => false,
                },
                op if op.is_pure() => !block.wraps[n] && all(op),
                Op::Kernel(..) => depth == 0 && all(op),
                Op::If(_) => {
                    depth += 1;
                    false
                }
                Op::End => {
                    depth -= 1;
                    false
                }
                _ => false,
            };
            is_steady[n] = steady;
            // Second results are read where they are made.
            if steady && is_kernel(op) && !block.ops.contains(&Op::Second(ValueId(n as u32))) {
                out.push((block, ValueId(n as u32)));
            }
        }
    }
    out
}

/// The blocks among statements that run whenever these do.
fn top_blocks<'s>(body: &'s [Stmt], out: &mut Vec<&'s Block>) {
    for s in body {
        match s {
            Stmt::Block(block) => out.push(block),
            Stmt::InMode(_, inner) => top_blocks(inner, out),
            _ => {}
        }
    }
}

impl FunctionEmitter<'_, '_> {
    /// Calls kernels before a loop, so that its turns need not.
    pub(super) fn hoist(&mut self, kernels: &[(&Block, ValueId)]) {
        for (block, v) in kernels {
            let mut e = self.block_emitter(block);
            e.demand(*v);
            let value = e.int(*v);
            self.hoisted.insert((std::ptr::from_ref(*block), *v), value);
        }
    }

    /// Forgets their results after the loop.
    pub(super) fn forget_hoisted(&mut self, kernels: &[(&Block, ValueId)]) {
        kernels.iter().for_each(|(block, v)| _ = self.hoisted.remove(&(std::ptr::from_ref(*block), *v)));
    }
}

impl BlockEmitter<'_, '_, '_, '_> {
    pub(super) fn call_kernel(&mut self, v: ValueId, kernel: u32, args: [ValueId; 4]) {
        if let Some(value) = self.f.hoisted.get(&(std::ptr::from_ref(self.block), v)).copied() {
            return self.set_word(v, value);
        }
        let kernel = self.f.shared.program.kernels[kernel as usize];
        let out = self.f.out();
        let env = self.f.word(pack(self.f.shared.program.env));
        let out_at = self.f.b.ins().stack_addr(types::I64, out, 0);
        let mut values = vec![env, out_at];
        for a in &args[..kernel.arity] {
            values.push(self.int(*a));
        }
        let status = self.f.call_at(kernel.address, &values);
        // Nothing was written then, and what is there might be the bound of a loop.
        self.f.give_up_if(status);
        let value = self.f.b.ins().stack_load(types::I64, types::I64, out, 0);
        self.set_word(v, value);
    }
}
