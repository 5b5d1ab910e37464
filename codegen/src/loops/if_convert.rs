//! Short conditionals without branches: what is only computed, and cheaply, is
//! computed in any case, and chosen afterwards; what comes to nothing where the
//! condition does not hold needs no condition.

use crate::ops::{BinaryOp, Float, Op, ValueId};

/// The operations without the conditionals that need not be, and what each value is called then.
pub(super) fn flat(ops: &[Op]) -> (Vec<Op>, Vec<ValueId>) {
    let mut out = Flat { ops: Vec::with_capacity(ops.len()), to: Vec::with_capacity(ops.len()) };
    let mut how: Vec<How> = Vec::new();
    let mut ended = How::Branch;
    for (n, op) in ops.iter().enumerate() {
        let op = out.renamed(*op);
        let v = match op {
            Op::If(c) => {
                let outer_is_flat = how.iter().all(|h| !matches!(h, How::Branch));
                let now = if outer_is_flat { classify(ops, n, c, &out) } else { How::Branch };
                how.push(now);
                match now {
                    How::Branch => out.push(op),
                    How::Always | How::Choose(_) => c,
                }
            }
            Op::End => {
                ended = how.pop().unwrap_or(How::Branch);
                match ended {
                    How::Branch => out.push(op),
                    How::Always | How::Choose(_) => ValueId(0),
                }
            }
            Op::Phi(a, b) => match ended {
                How::Branch => out.push(op),
                How::Always => a,
                How::Choose(c) => out.push(Op::Select(c, a, b)),
            },
            Op::Finite(v) => {
                let mut v = v;
                for h in how.iter().rev() {
                    if let How::Choose(c) = *h {
                        let zero = out.push(Op::Const(0));
                        v = out.push(Op::Select(c, v, zero));
                    }
                }
                out.push(Op::Finite(v))
            }
            _ => out.push(op),
        };
        out.to.push(v);
    }
    (out.ops, out.to)
}

/// What becomes of a conditional.
#[derive(Clone, Copy)]
enum How {
    /// It stays.
    Branch,
    /// It is done in any case.
    Always,
    /// It is done in any case, and its values are chosen by this condition.
    Choose(ValueId),
}

struct Flat {
    ops: Vec<Op>,
    /// What each value of the old operations is called in the new.
    to: Vec<ValueId>,
}

impl Flat {
    fn push(&mut self, op: Op) -> ValueId {
        self.ops.push(op);
        ValueId(self.ops.len() as u32 - 1)
    }

    fn renamed(&self, op: Op) -> Op {
        op.map(|v| self.to[v.0 as usize])
    }
}

/// Whether a word is zero only if a double, or two, are zero: then so are their products.
fn is_factor(ops: &[Op], c: ValueId) -> bool {
    matches!(ops[c.0 as usize], Op::BinaryOp(BinaryOp::Shl, _, by) if ops[by.0 as usize] == Op::Const(1))
}

/// What becomes of the conditional at `at`, of which the condition is called `c` now.
fn classify(ops: &[Op], at: usize, c: ValueId, out: &Flat) -> How {
    let mut depth = 0;
    let within = ops[at + 1..].iter().take_while(|op| {
        depth += i32::from(matches!(op, Op::If(_))) - i32::from(matches!(op, Op::End));
        depth >= 0
    });
    let (mut cheap, mut linear) = (true, is_factor(&out.ops, c));
    for op in within {
        match *op {
            Op::Const(_)
            | Op::Get(..)
            | Op::Finite(_)
            | Op::Float(Float::Add | Float::Sub | Float::Mul, ..)
            | Op::End
            | Op::Phi(..) => {}
            // Whether a double is zero.
            Op::BinaryOp(BinaryOp::Shl, _, by) if ops[by.0 as usize] == Op::Const(1) => {}
            Op::BinaryOp(BinaryOp::Or, ..) => {}
            Op::If(c) => linear &= is_factor(ops, c),
            Op::Float(Float::Div, ..)
            | Op::Sqrt(_)
            | Op::Abs(_)
            | Op::Select(..)
            | Op::CompareFloat(..)
            | Op::FromInt(_) => linear = false,
            _ => cheap = false,
        }
    }
    match (cheap, linear) {
        (false, _) => How::Branch,
        (true, true) => How::Always,
        (true, false) => How::Choose(c),
    }
}
