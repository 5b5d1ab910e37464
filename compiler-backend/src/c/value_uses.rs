//! What a statement's operations are needed for: how often values are used, and which checks are made elsewhere.

use pendula_codegen::ops::{Bin, Float, Op, V};
use pendula_isa::types::Cond;

use super::body::Printer;

impl Printer<'_> {
    /// Which checks for being finite are shown to hold by a later one: sums and products of what is not finite are not.
    pub(super) fn implied_checks(&self) -> Vec<bool> {
        let mut implied_checks = vec![false; self.body.ops.len()];
        let mut redundant = vec![false; self.body.ops.len()];
        let mut depth = 0;
        for (n, op) in self.body.ops.iter().enumerate().rev() {
            match *op {
                // What is checked in a conditional is so there only.
                Op::End => depth += 1,
                Op::If(_) => depth -= 1,
                Op::Finite(v) if depth == 0 => {
                    redundant[n] = std::mem::replace(&mut implied_checks[v.0 as usize], true)
                }
                Op::Float(Float::Add | Float::Sub | Float::Mul, a, b) if implied_checks[n] => {
                    implied_checks[a.0 as usize] = true;
                    implied_checks[b.0 as usize] = true;
                }
                Op::Float(Float::Div, a, _) | Op::Sqrt(a) | Op::Abs(a) if implied_checks[n] => {
                    implied_checks[a.0 as usize] = true
                }
                _ => {}
            }
        }
        redundant
    }

    /// Finds checks of sums and products, as they are recorded, that the C compiler has builtins for.
    pub(super) fn find_checked(&mut self) {
        let ops = &self.body.ops;
        let op = |v: V| ops[v.0 as usize];
        for (n, check) in ops.iter().enumerate() {
            let Op::Overflow(v) = *check else { continue };
            let found = match op(v) {
                Op::Compare(Cond::Lt, signs, zero) if op(zero) == Op::Const(0) => match op(signs) {
                    Op::Bin(Bin::And, first, second) => match (op(first), op(second)) {
                        (Op::Bin(Bin::Xor, a, sum), Op::Bin(Bin::Xor, b, other)) => match op(sum) {
                            Op::Bin(Bin::Add, x, y) if (x, y) == (a, b) && other == sum => Some((sum, "add")),
                            Op::Bin(Bin::Sub, x, y) if (x, y) == (a, b) && other == a => Some((sum, "sub")),
                            // A constant is added with the other sign.
                            Op::Bin(Bin::Add, x, y) if x == a && other == a => match (op(y), op(b)) {
                                (Op::Const(y), Op::Const(b)) if y == b.wrapping_neg() && b != 1 << 63 => {
                                    Some((sum, "add"))
                                }
                                _ => None,
                            },
                            _ => None,
                        },
                        _ => None,
                    },
                    _ => None,
                },
                Op::Compare(Cond::Ne, high, sign) => match (op(high), op(sign)) {
                    (Op::Bin(Bin::MulHigh, a, b), Op::Bin(Bin::Sar, low, _)) if op(low) == Op::Bin(Bin::Mul, a, b) => {
                        Some((low, "mul"))
                    }
                    _ => None,
                },
                _ => None,
            };
            if let Some((sum, name)) = found {
                self.checked[sum.0 as usize] = Some(name);
                self.check_merged[n] = true;
            }
        }
    }

    /// How often each value is used by something that is needed.
    pub(super) fn count(&mut self, result: Option<V>) {
        if let Some(v) = result {
            self.uses[v.0 as usize] += 1;
        }
        for (n, op) in self.body.ops.iter().enumerate().rev() {
            let lost = match *op {
                Op::Set(lane, reg, _) => self.spot(lane, reg).is_none(),
                Op::Finite(_) => !self.finite || self.redundant[n],
                Op::Ordered(..) => !self.finite,
                Op::Overflow(_) => self.check_merged[n],
                _ => false,
            };
            if self.checked[n].is_some() {
                self.uses[n] += 1;
            }
            if lost || (op.is_idle() && self.uses[n] == 0) {
                continue;
            }
            for v in op.uses() {
                self.uses[v.0 as usize] += 1;
            }
            if let Op::Kernel(k, args) = op {
                // Unused places repeat the first argument.
                let arity = self.arity(*k);
                for v in &args[arity..] {
                    self.uses[v.0 as usize] -= 1;
                }
            }
        }
    }

    /// Whether a value is only asked whether it is zero.
    pub(super) fn is_condition(&self, n: usize) -> bool {
        let v = V(n as u32);
        self.body.ops.iter().all(|op| match *op {
            Op::If(_) => true,
            Op::Select(_, a, b) => a != v && b != v,
            op => op.uses().all(|u| u != v),
        })
    }
}
