//! Words that carry nothing in a lane: what they carry is zero, and nothing is computed where that is a condition.

use crate::ops::{BinaryOp, Op, ValueId};

/// The operations where operands have no words in some lanes, and what each value is called then.
pub(super) fn without(ops: &[Op], has_lane: &dyn Fn(u8, u8) -> bool) -> (Vec<Op>, Vec<ValueId>) {
    let mut out: Vec<Op> = Vec::with_capacity(ops.len());
    let mut names: Vec<ValueId> = Vec::with_capacity(ops.len());
    // For each open conditional whether it is run never; and whether the one that ended last is.
    let (mut open, mut ended): (Vec<bool>, bool) = (Vec::new(), false);
    for op in ops {
        if open.contains(&true) {
            match op {
                Op::If(_) => open.push(true),
                Op::End => ended = open.pop().unwrap_or(false),
                _ => {}
            }
            // Nobody uses it.
            names.push(ValueId(0));
            continue;
        }
        let op = op.map(|v| names[v.0 as usize]);
        let is_zero = |v: ValueId| out[v.0 as usize] == Op::Const(0);
        let known = match op {
            Op::BinaryOp(BinaryOp::Shl, a, _) if is_zero(a) => Some(a),
            Op::BinaryOp(BinaryOp::Or, a, b) if is_zero(a) => Some(b),
            Op::BinaryOp(BinaryOp::Or, a, b) if is_zero(b) => Some(a),
            Op::Select(c, _, other) if is_zero(c) => Some(other),
            Op::Phi(_, other) if ended => Some(other),
            Op::If(c) if is_zero(c) => Some(c),
            _ => None,
        };
        match op {
            Op::If(_) => open.push(known.is_some()),
            Op::End => ended = open.pop().unwrap_or(false),
            _ => {}
        }
        names.push(known.unwrap_or_else(|| {
            out.push(match op {
                Op::Get(lane, reg) if !has_lane(lane, reg) => Op::Const(0),
                op => op,
            });
            ValueId(out.len() as u32 - 1)
        }));
    }
    (out, names)
}
