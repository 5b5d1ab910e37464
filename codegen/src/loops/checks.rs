//! Checks within operations that others make needless.

use std::collections::HashSet;
use std::ops::Range;

use crate::ops::{BinaryOp, Float, Op, ValueId};
use pendula_isa::types::Cond;

/// Adds the values to those that are shown to be finite of which a value is made that is, outside of conditionals.
pub(super) fn spread(ops: &[Op], shown: &mut [bool]) {
    let mut depth = 0;
    for (n, op) in ops.iter().enumerate().rev() {
        match *op {
            Op::End => depth += 1,
            Op::If(_) => depth -= 1,
            _ if depth == 0 && shown[n] => {
                implied(ops, n).into_iter().flatten().for_each(|v| shown[v.0 as usize] = true)
            }
            _ => {}
        }
    }
}

/// The arguments of an operation that are finite if its value is.
fn implied(ops: &[Op], n: usize) -> [Option<ValueId>; 2] {
    match ops[n] {
        Op::Float(Float::Div, a, b) if is_not_infinite(ops, b) => [Some(a), Some(b)],
        Op::Float(Float::Add | Float::Sub | Float::Mul, a, b) => [Some(a), Some(b)],
        Op::Float(Float::Div, a, _) | Op::Sqrt(a) | Op::Abs(a) => [Some(a), None],
        _ => [None, None],
    }
}

/// Whether a value is a number or NaN. Words of values are finite, or have been noted.
fn is_not_infinite(ops: &[Op], v: ValueId) -> bool {
    match ops[v.0 as usize] {
        Op::Sqrt(a) => matches!(ops[a.0 as usize], Op::Get(0, _)),
        Op::Select(_, a, b) => is_not_infinite(ops, a) && is_not_infinite(ops, b),
        Op::Const(k) => f64::from_bits(k).is_finite(),
        _ => false,
    }
}

/// Removes checks for being finite that a later check in the range implies: sums, products and roots of values that are not finite are not
/// finite, and neither are quotients with such a numerator. `shown` says which values have been checked.
pub fn remove_implied_checks(ops: &mut [Op], range: Range<usize>, shown: &mut [bool]) {
    let mut depth = 0;
    for n in range.rev() {
        match ops[n] {
            // A check within a conditional only holds there.
            Op::End => depth += 1,
            Op::If(_) => depth -= 1,
            Op::Finite(v) if depth == 0 && std::mem::replace(&mut shown[v.0 as usize], true) => ops[n] = Op::Const(0),
            _ if shown[n] => implied(ops, n).into_iter().flatten().for_each(|v| shown[v.0 as usize] = true),
            _ => {}
        }
    }
}

/// Removes checks of values that are chosen by a condition, where a choice by the same condition that is shown to be finite implies them.
pub(super) fn remove_checks_of_chosen(ops: &mut [Op], shown: &[bool]) {
    // Values that are finite where a condition holds.
    let mut finite: HashSet<(ValueId, ValueId)> = HashSet::new();
    for (op, _) in ops.iter().zip(shown).filter(|(_, shown)| **shown) {
        if let Op::Select(c, a, _) = *op {
            finite.insert((c, a));
        }
    }
    let conditions: HashSet<ValueId> = finite.iter().map(|(c, _)| *c).collect();
    for n in (0..ops.len()).rev() {
        let here = ValueId(n as u32);
        let of: Vec<ValueId> = conditions.iter().copied().filter(|c| finite.contains(&(*c, here))).collect();
        match ops[n] {
            Op::Finite(v) => {
                if let Op::Select(c, a, zero) = ops[v.0 as usize]
                    && ops[zero.0 as usize] == Op::Const(0)
                    && finite.contains(&(c, a))
                {
                    ops[n] = Op::Const(0);
                }
            }
            _ => {
                let implied = implied(ops, n);
                of.into_iter().for_each(|c| finite.extend(implied.into_iter().flatten().map(|v| (c, v))));
            }
        }
    }
}

/// Finds checks of sums and products, as they are recorded, that hosts can make with the operation, and removes them. Gives which
/// operations are to be checked.
pub(super) fn merge_wrap_checks(ops: &mut [Op]) -> Vec<bool> {
    let mut wraps = vec![false; ops.len()];
    for n in 0..ops.len() {
        if let Op::Overflow(v) = ops[n]
            && let Some(sum) = checked_operation(ops, v)
        {
            wraps[sum.0 as usize] = true;
            ops[n] = Op::Const(0);
        }
    }
    wraps
}

/// The sum or product of which `v` says whether it wraps.
fn checked_operation(ops: &[Op], v: ValueId) -> Option<ValueId> {
    let op = |v: ValueId| ops[v.0 as usize];
    match op(v) {
        Op::Compare(Cond::Lt, signs, zero) if op(zero) == Op::Const(0) => {
            let Op::BinaryOp(BinaryOp::And, first, second) = op(signs) else { return None };
            let (Op::BinaryOp(BinaryOp::Xor, a, sum), Op::BinaryOp(BinaryOp::Xor, b, other)) = (op(first), op(second))
            else {
                return None;
            };
            match op(sum) {
                Op::BinaryOp(BinaryOp::Add, x, y) if (x, y) == (a, b) && other == sum => Some(sum),
                Op::BinaryOp(BinaryOp::Sub, x, y) if (x, y) == (a, b) && other == a => Some(sum),
                // A constant is added with the other sign.
                Op::BinaryOp(BinaryOp::Add, x, y) if x == a && other == a => match (op(y), op(b)) {
                    (Op::Const(y), Op::Const(b)) if y == b.wrapping_neg() && b != 1 << 63 => Some(sum),
                    _ => None,
                },
                _ => None,
            }
        }
        Op::Compare(Cond::Ne, high, sign) => match (op(high), op(sign)) {
            (Op::BinaryOp(BinaryOp::MulHigh, a, b), Op::BinaryOp(BinaryOp::Sar, low, _))
                if op(low) == Op::BinaryOp(BinaryOp::Mul, a, b) =>
            {
                Some(low)
            }
            _ => None,
        },
        _ => None,
    }
}
