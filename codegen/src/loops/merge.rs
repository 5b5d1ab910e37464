//! Values that are computed twice, once the conditionals between are gone.

use std::collections::HashMap;

use crate::ops::{Op, ValueId};

/// The operations without those that compute what is known, and what each value is called then.
pub(super) fn merged(ops: &[Op]) -> (Vec<Op>, Vec<ValueId>) {
    let mut out: Vec<Op> = Vec::with_capacity(ops.len());
    let mut names: Vec<ValueId> = Vec::with_capacity(ops.len());
    let mut known: HashMap<Op, ValueId> = HashMap::new();
    // For each open conditional what was known before it.
    let mut open: Vec<HashMap<Op, ValueId>> = Vec::new();
    for op in ops {
        let op = op.map(|v| names[v.0 as usize]);
        let next = ValueId(out.len() as u32);
        let name = match op {
            op if op.is_pure() || matches!(op, Op::Get(..)) => *known.entry(op).or_insert(next),
            _ => next,
        };
        match op {
            Op::If(_) => open.push(known.clone()),
            // Only there are the values of a conditional computed.
            Op::End => known = open.pop().unwrap_or_default(),
            Op::Set(lane, reg, _) => _ = known.remove(&Op::Get(lane, reg)),
            _ => {}
        }
        if name == next {
            out.push(op);
        }
        names.push(name);
    }
    (out, names)
}
