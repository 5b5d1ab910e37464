//! Addresses: their computation and early checks.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};

use super::super::bounds::{groups, split};
use super::emit::UnitEmitter;
use pendula_codegen::ops::{Body, ValueId};

impl UnitEmitter<'_, '_> {
    /// Checks addresses at the beginning of the block, if they can be computed there.
    pub(super) fn hoist(&mut self, body: &Body) {
        let (places, groups) = groups(body, self.job.module.data.len() as u64);
        places.into_iter().for_each(|n| self.written[n] = true);
        for group in groups {
            self.demand(body, group.at);
            let at = self.int(group.at);
            let spread = group.spread();
            // The memory has more words than that, because the data segment has.
            let len = self.length();
            let limit = if spread == 0 { len } else { self.b.ins().iadd_imm_s(len, -spread.cast_signed()) };
            let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, at, limit);
            // A comparison and a branch are one operation of the processor, which several truth values in one word are not.
            self.need(inside);
        }
    }

    /// Emits a value with everything that it needs.
    pub(super) fn demand(&mut self, body: &Body, v: ValueId) {
        if !self.written[v.0 as usize] {
            for used in body.ops[v.0 as usize].uses() {
                self.demand(body, used);
            }
            self.op(v.0 as usize);
        }
    }

    /// The address of a memory word in a lane, as a value and an offset in bytes.
    pub(super) fn address(&mut self, body: &Body, lane: usize, at: ValueId) -> (Value, i32) {
        let base = self.memory(lane);
        let (v, words) = split(body, at);
        let offset = words.cast_signed().checked_mul(8).and_then(|bytes| i32::try_from(bytes).ok());
        let (v, offset) = match (v, offset) {
            (None, Some(offset)) => return (base, offset),
            (Some(v), Some(offset)) => (v, offset),
            (_, None) => (at, 0),
        };
        // The operands of the sum may not have been emitted yet.
        self.demand(body, v);
        let bytes = match self.view(v).bytes {
            Some(bytes) => bytes,
            None => {
                let word = self.int(v);
                let bytes = self.b.ins().ishl_imm_s(word, 3);
                self.form(v, |view| view.bytes = Some(bytes));
                bytes
            }
        };
        (self.b.ins().iadd(base, bytes), offset)
    }
}
