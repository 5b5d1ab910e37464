//! Addresses: how they are computed, and checked early.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};

use super::emit::Emit;
use pendula_native::ops::{Bin, Body, Op, V};

impl Emit<'_, '_> {
    /// Checks addresses at the beginning of the block, as far as they are known there: one that is outside the memory is so before as after
    /// what comes first, and the block traps anyway.
    pub(super) fn hoist(&mut self, body: &Body) {
        let early = early(body);
        let bounds = || (0..body.ops.len()).filter(|n| early[*n] && matches!(body.ops[*n], Op::Bound(_)));
        // By what they are counted from, the least and the greatest constant.
        let mut groups: Vec<(Option<V>, V, u64, u64)> = Vec::new();
        let data = self.job.module.data.len() as u64;
        for n in bounds() {
            let Op::Bound(at) = body.ops[n] else { continue };
            self.written[n] = true;
            let (base, offset) = split(body, at);
            let found = groups.iter_mut().find(|(b, _, low, high)| {
                *b == base
                    && offset.max(*high).wrapping_sub(offset.min(*low)) < data
                    && offset.max(*low) - offset.min(*low) < data
            });
            match found {
                Some(group) if offset < group.2 => (group.1, group.2) = (at, offset),
                Some(group) => group.3 = group.3.max(offset),
                None => groups.push((base, at, offset, offset)),
            }
        }
        let mut all = None;
        for (_, at, low, high) in groups {
            self.demand(body, at);
            let at = self.int(at);
            let spread = high - low;
            // The memory has more words than that, because the data has.
            let limit = if spread == 0 { self.len } else { self.b.ins().iadd_imm_s(self.len, -spread.cast_signed()) };
            let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, at, limit);
            all = Some(match all {
                None => inside,
                Some(all) => self.b.ins().band(all, inside),
            });
        }
        if let Some(all) = all {
            self.need(all);
        }
    }

    /// Writes what a value needs, and the value.
    pub(super) fn demand(&mut self, body: &Body, v: V) {
        if !self.written[v.0 as usize] {
            for used in body.ops[v.0 as usize].uses() {
                self.demand(body, used);
            }
            self.op(body, v.0 as usize);
        }
    }

    /// The address of a memory word in a lane, as a value and an offset in bytes.
    pub(super) fn address(&mut self, body: &Body, lane: usize, at: V) -> (Value, i32) {
        let base = self.mem[lane].unwrap_or(self.frame);
        let (v, words) = split(body, at);
        let offset = words.cast_signed().checked_mul(8).and_then(|bytes| i32::try_from(bytes).ok());
        let (v, offset) = match (v, offset) {
            (None, Some(offset)) => return (base, offset),
            (Some(v), Some(offset)) => (v, offset),
            (_, None) => (at, 0),
        };
        // What the sum is of may not have been asked for by itself.
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

/// An address as a value and a constant.
fn split(body: &Body, at: V) -> (Option<V>, u64) {
    match body.ops[at.0 as usize] {
        Op::Const(k) => (None, k),
        Op::Bin(Bin::Add, a, b) => match body.ops[b.0 as usize] {
            Op::Const(k) => (Some(a), k),
            _ => (Some(at), 0),
        },
        _ => (Some(at), 0),
    }
}

/// The operations that can be carried out when the block begins: those of registers as they are then. Checks of addresses are among them.
fn early(body: &Body) -> Vec<bool> {
    let mut early = vec![false; body.ops.len()];
    let mut depth = 0;
    for (n, op) in body.ops.iter().enumerate() {
        match op {
            Op::If(_) => depth += 1,
            Op::End => depth -= 1,
            Op::Interpret => break,
            _ => {}
        }
        let simple = matches!(op, Op::Const(_) | Op::Get(..) | Op::Bin(..) | Op::Bound(_));
        early[n] = depth == 0 && simple && op.uses().all(|v| early[v.0 as usize]);
    }
    early
}
