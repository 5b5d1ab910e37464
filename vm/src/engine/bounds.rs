//! Address checks at the beginning of a block: which checks can be moved there, and which can be combined.

use pendula_codegen::ops::{BinaryOp, Body, Op, ValueId};

/// Addresses that differ by constants and are checked together: the least one plus `spread` must be below the memory's length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    base: Option<ValueId>,
    /// The least address.
    pub(crate) at: ValueId,
    low: u64,
    high: u64,
}

impl Group {
    /// The difference of the greatest and the least address: less than the number of words of data.
    pub(crate) fn spread(&self) -> u64 {
        self.high - self.low
    }
}

/// The indices of the address checks that can be made at the beginning of the block, and the groups that they form. Checking early is
/// sound: an address outside the memory stays outside, and the block traps anyway. The memory has at least `data` words.
pub(crate) fn groups(body: &Body, data: u64) -> (Vec<usize>, Vec<Group>) {
    let early = early(body);
    let mut places = Vec::new();
    // Groups by base, with the least and the greatest constant.
    let mut groups: Vec<Group> = Vec::new();
    for (n, op) in body.ops.iter().enumerate() {
        let &Op::Bound(at) = op else { continue };
        if !early[n] {
            continue;
        }
        places.push(n);
        let (base, offset) = split(body, at);
        let found = groups.iter_mut().find(|g| {
            g.base == base
                && offset.max(g.high).wrapping_sub(offset.min(g.low)) < data
                && offset.max(g.low) - offset.min(g.low) < data
        });
        match found {
            Some(group) if offset < group.low => (group.at, group.low) = (at, offset),
            Some(group) => group.high = group.high.max(offset),
            None => groups.push(Group { base, at, low: offset, high: offset }),
        }
    }
    (places, groups)
}

/// Splits an address into a value and a constant.
pub(crate) fn split(body: &Body, at: ValueId) -> (Option<ValueId>, u64) {
    match body.ops[at.0 as usize] {
        Op::Const(k) => (None, k),
        Op::BinaryOp(BinaryOp::Add, a, b) => match body.ops[b.0 as usize] {
            Op::Const(k) => (Some(a), k),
            _ => (Some(at), 0),
        },
        _ => (Some(at), 0),
    }
}

/// The operations, including address checks, that can be executed at the beginning of the block: those that only depend on the registers
/// then.
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
        let simple = matches!(op, Op::Const(_) | Op::Get(..) | Op::BinaryOp(..) | Op::Bound(_));
        early[n] = depth == 0 && simple && op.uses().all(|v| early[v.0 as usize]);
    }
    early
}
