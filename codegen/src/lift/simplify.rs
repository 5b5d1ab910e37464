//! Simplifications that undo what reversible code computes and uncomputes: `(a + b) − b` is `a`, and a word that was made of shifts of
//! another one can be cleared by shifts, too.
//!
//! Only code for the machine's words is simplified. Circuits are made of what a body says.

use rustc_hash::FxHashMap;

use super::Lifter;
use crate::ops::{BinaryOp, Op, ValueId};
use pendula_isa::adjoint::VALUE;
use pendula_isa::arith::Arith;
use pendula_isa::types::Cond;

/// A value, shifted left by so many bits, or right if the number is negative.
type Shifted = (ValueId, i8);

/// Values as exclusive ors of shifted values, which are all different. A value that is not listed is only itself.
#[derive(Default)]
pub(super) struct Sums(FxHashMap<ValueId, Vec<Shifted>>);

/// The maximum number of shifted values in a sum.
const TERMS: usize = 6;

impl Sums {
    /// Forgets the values from this one on.
    pub(super) fn forget_from(&mut self, first: usize) {
        self.0.retain(|v, _| (v.0 as usize) < first);
    }

    /// The ways to write a value: its sum, and itself unless it is only one shifted value.
    fn forms(&self, v: ValueId) -> impl Iterator<Item = Vec<Shifted>> {
        let sum = self.0.get(&v).cloned();
        let itself = sum.as_ref().is_none_or(|sum| sum.len() > 1).then(|| vec![(v, 0)]);
        [sum, itself].into_iter().flatten()
    }
}

/// A sum shifted once more; `None` if bits that were shifted out would have to come back as zeros.
fn shift(sum: &[Shifted], by: i8) -> Option<Vec<Shifted>> {
    let mut out = Vec::with_capacity(sum.len());
    for &(v, before) in sum {
        if i32::from(before) * i32::from(by) < 0 {
            return None;
        }
        let all = i32::from(before) + i32::from(by);
        if all.abs() < 64 {
            out.push((v, all as i8));
        }
    }
    Some(out)
}

/// The exclusive or of two sums.
fn sum(a: &[Shifted], b: &[Shifted]) -> Vec<Shifted> {
    let only = |x: &[Shifted], y: &[Shifted]| x.iter().filter(|s| !y.contains(s)).copied().collect::<Vec<_>>();
    let mut all = only(a, b);
    all.extend(only(b, a));
    all
}

impl Lifter<'_> {
    /// Simplifies operations from now on.
    pub fn simplify(&mut self) {
        self.sums = Some(Sums::default());
    }

    /// Takes registers to be zero at the beginning of the block.
    pub fn assume_zero(&mut self, registers: u32) {
        for reg in super::bits(registers) {
            let zero = self.word(0);
            self.regs[VALUE][usize::from(reg)] = Some(zero);
        }
    }

    /// The registers of a set that are known to be zero now.
    pub fn known_zero(&self, registers: u32) -> u32 {
        let zero = |reg: &u8| self.regs[VALUE][usize::from(*reg)].is_some_and(|v| self.constant(v) == Some(0));
        super::bits(registers).filter(zero).fold(0, |set, reg| set | 1 << reg)
    }

    fn operation(&self, v: ValueId) -> Option<(BinaryOp, ValueId, ValueId)> {
        match self.ops[v.0 as usize] {
            Op::BinaryOp(op, a, b) => Some((op, a, b)),
            _ => None,
        }
    }

    /// A value that an operation gives without being computed.
    pub(super) fn simplified(&mut self, op: BinaryOp, a: ValueId, b: ValueId) -> Option<ValueId> {
        self.sums.as_ref()?;
        let (left, right) = (self.operation(a), self.operation(b));
        match (op, left, right) {
            (BinaryOp::Sub, _, _) if a == b => Some(self.word(0)),
            (BinaryOp::Sub, Some((BinaryOp::Add, x, y)), _) if y == b => Some(x),
            (BinaryOp::Sub, Some((BinaryOp::Add, x, y)), _) if x == b => Some(y),
            (BinaryOp::Add, Some((BinaryOp::Sub, x, y)), _) if y == b => Some(x),
            (BinaryOp::Add, _, Some((BinaryOp::Sub, x, y))) if y == a => Some(x),
            // The sign is that of the second word.
            (BinaryOp::Sar, Some((BinaryOp::Or, x, y)), _) if self.constant(b) == Some(63) => match self.operation(x) {
                Some((BinaryOp::Shr, _, by)) if self.constant(by).is_some_and(|by| by & 63 != 0) => {
                    Some(self.bin(BinaryOp::Sar, y, b))
                }
                _ => None,
            },
            (BinaryOp::Shl | BinaryOp::Shr, ..) => self.simplified_shift(op, a, b),
            (BinaryOp::Xor, ..) => self.simplified_sum(a, b),
            _ => None,
        }
    }

    /// Notes what a shift of a sum by a constant is.
    fn simplified_shift(&mut self, op: BinaryOp, a: ValueId, b: ValueId) -> Option<ValueId> {
        let by = (self.constant(b)? & 63) as i8;
        if by == 0 {
            return None;
        }
        let by = if op == BinaryOp::Shl { by } else { -by };
        let known = self.sums.as_ref()?.0.get(&a);
        let sum = known.and_then(|sum| shift(sum, by)).unwrap_or_else(|| vec![(a, by)]);
        match sum[..] {
            [] => Some(self.word(0)),
            [(v, all)] if v != a => Some(self.shifted(v, all)),
            _ => {
                let v = self.pure(Op::BinaryOp(op, a, b));
                self.sums.as_mut()?.0.insert(v, sum);
                Some(v)
            }
        }
    }

    /// The exclusive or, if it is only one shifted value; else notes what it is.
    fn simplified_sum(&mut self, a: ValueId, b: ValueId) -> Option<ValueId> {
        let sums = self.sums.as_ref()?;
        let compact = |v: ValueId| match self.operation(v) {
            Some((op @ (BinaryOp::Shl | BinaryOp::Shr), x, by)) => {
                let by = (self.constant(by)? & 63) as i8;
                Some(vec![(x, if op == BinaryOp::Shl { by } else { -by })])
            }
            _ => None,
        };
        let (left, right) = (sums.forms(a).chain(compact(a)), sums.forms(b).chain(compact(b)));
        let right: Vec<_> = right.collect();
        let all = left.flat_map(|x| right.iter().map(move |y| sum(&x, y)).collect::<Vec<_>>());
        let best = all.min_by_key(Vec::len)?;
        match best[..] {
            [] => Some(self.word(0)),
            [(v, by)] => Some(self.shifted(v, by)),
            _ => {
                let v = self.pure(Op::BinaryOp(BinaryOp::Xor, a, b));
                if best.len() <= TERMS {
                    self.sums.as_mut()?.0.insert(v, best);
                }
                Some(v)
            }
        }
    }

    fn shifted(&mut self, v: ValueId, by: i8) -> ValueId {
        let places = self.word(u64::from(by.unsigned_abs()));
        let op = if by < 0 { BinaryOp::Shr } else { BinaryOp::Shl };
        if by == 0 { v } else { self.pure(Op::BinaryOp(op, v, places)) }
    }

    /// The same comparison of other values, which cost less.
    pub(super) fn simplified_comparison(&mut self, c: Cond, a: ValueId, b: ValueId) -> Option<[ValueId; 2]> {
        self.sums.as_ref()?;
        if !matches!(c, Cond::Eq | Cond::Ne) {
            return None;
        }
        // A word whose upper bits are all copies of the sign of its lower ones is those lower bits, extended. That is how a product of
        // fixed-point numbers is found to fit.
        let upper = |v: ValueId| match self.operation(v)? {
            (BinaryOp::Sar, x, by) => Some((x, self.constant(by)?)),
            _ => None,
        };
        let sign = |v: ValueId| match upper(v)? {
            (x, 63) => match self.operation(x)? {
                (BinaryOp::Shl, y, by) => Some((y, by, self.constant(by)?)),
                _ => None,
            },
            _ => None,
        };
        let ((x, right), (y, places, left)) = upper(a).zip(sign(b)).or_else(|| upper(b).zip(sign(a)))?;
        if x != y || right == 0 || left == 0 || right + left != 64 {
            return None;
        }
        let lower = self.bin(BinaryOp::Shl, x, places);
        Some([x, self.bin(BinaryOp::Sar, lower, places)])
    }
}
