//! Checks of addresses that are made when a block begins: which can be, and
//! which are one check.

use pendula_codegen::ops::{Bin, Body, Op, V};

/// Addresses that differ by constants, checked together: the least is below the memory's length by more than `spread`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    base: Option<V>,
    /// The least address.
    pub(crate) at: V,
    low: u64,
    high: u64,
}

impl Group {
    /// How far the greatest address lies behind the least: less than the data has words.
    pub(crate) fn spread(&self) -> u64 {
        self.high - self.low
    }
}

/// The checks of addresses that can be made at the beginning of the block, as far as they are known there, by their places; and the
/// groups that they come to. An address that is outside the memory is so before as after what comes first, and the block traps anyway. The
/// memory has `data` words at least.
pub(crate) fn groups(body: &Body, data: u64) -> (Vec<usize>, Vec<Group>) {
    let early = early(body);
    let mut places = Vec::new();
    // By what they are counted from, the least and the greatest constant.
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

/// An address as a value and a constant.
pub(crate) fn split(body: &Body, at: V) -> (Option<V>, u64) {
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
