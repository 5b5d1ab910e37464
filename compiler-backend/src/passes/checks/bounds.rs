//! Facts about integers: sums of a value and a constant, and their bounds.
//!
//! Bounds are mathematical integers: a variable's word, read as a signed integer, plus a constant.

use pendula_isa::num::compare;
use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::{Acc, Cond, Env, Ty};

use super::asserts::{Facts, UndoEntry, Value};
use crate::ir::{Operand, Test, Var};

/// A mathematical integer: a variable's value, if there is one, plus a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) root: Option<Value>,
    pub(super) add: i64,
}

/// The most lower bounds of a value that are kept, and the most upper ones.
const BOUNDS: usize = 6;

#[derive(Clone, Debug, Default)]
pub(super) struct Bounds {
    pub(super) low: Vec<Sum>,
    pub(super) high: Vec<Sum>,
}

impl Facts<'_> {
    pub(super) fn sum(&self, o: Operand) -> Option<Sum> {
        match o {
            Operand::Const(k) => Some(Sum { root: None, add: k.cast_signed() }),
            Operand::Var(v) => Some(self.sum_of(self.value(v))),
            Operand::Mem(_) => None,
        }
    }

    pub(super) fn sum_of(&self, value: Value) -> Sum {
        self.sums.get(&value).copied().unwrap_or(Sum { root: Some(value), add: 0 })
    }

    /// The value of a variable after an update, if it is known.
    pub(super) fn updated(&self, acc: Acc, inverse: bool, func: TableFn, v: Var, args: &[Operand]) -> Option<Sum> {
        let (Acc::Add, TableFn::Int(int_fn::Name::Id), [arg]) = (acc, func, args) else { return None };
        let (old, arg) = (self.sum_of(self.value(v)), self.sum(*arg)?);
        let add = if inverse { old.add.checked_sub(arg.add)? } else { old.add.checked_add(arg.add)? };
        match (old.root, arg.root) {
            (root, None) => Some(Sum { root, add }),
            (None, root) if !inverse => Some(Sum { root, add }),
            (Some(a), Some(b)) if inverse && a == b => Some(Sum { root: None, add }),
            (None | Some(_), Some(_)) => None,
        }
    }

    /// The upper bound of a zero to which an update adds the bits under a mask.
    pub(super) fn masked(&self, acc: Acc, inverse: bool, func: TableFn, v: Var, args: &[Operand]) -> Option<i64> {
        let zero = self.sums.get(&self.value(v)) == Some(&Sum { root: None, add: 0 });
        let masks =
            matches!(func, TableFn::Int(int_fn::Name::And)) && (acc == Acc::Xor || (acc == Acc::Add && !inverse));
        let [a, b] = args else { return None };
        let mask = match (a, b) {
            (Operand::Const(k), _) | (_, Operand::Const(k)) => k.cast_signed(),
            (Operand::Var(_) | Operand::Mem(_), _) => return None,
        };
        (zero && masks && mask >= 0).then_some(mask)
    }

    pub(super) fn bound(&mut self, value: Value, high: bool, bound: Sum) {
        let bounds = self.bounds.entry(value).or_default();
        let list = if high { &mut bounds.high } else { &mut bounds.low };
        if list.len() < BOUNDS && !list.contains(&bound) {
            list.push(bound);
            self.undo_log.push(UndoEntry::Bound(value, high));
        }
    }

    /// Adds a bound of a loop's variable, if the bound does not wrap.
    pub(super) fn loop_bound(&mut self, value: Value, high: bool, bound: Option<Sum>) {
        if let Some(sum) = bound
            && self.is_exact(sum)
        {
            self.bound(value, high, sum);
        }
    }

    /// Whether a sum does not wrap.
    fn is_exact(&self, sum: Sum) -> bool {
        let Some(root) = sum.root else { return true };
        let Some(bounds) = self.bounds.get(&root) else { return sum.add == 0 };
        let constant = |list: &[Sum], fits: &dyn Fn(i64) -> bool| list.iter().any(|b| b.root.is_none() && fits(b.add));
        match sum.add {
            0 => true,
            k if k < 0 => constant(&bounds.low, &|low| low.checked_add(k).is_some()),
            // A value that is less than a word by some amount can be raised by that amount.
            k => {
                constant(&bounds.high, &|high| high.checked_add(k).is_some())
                    || bounds
                        .high
                        .iter()
                        .any(|b| b.root.is_some() && b.add <= 0 && b.add.checked_add(k).is_some_and(|k| k <= 0))
            }
        }
    }

    /// Upper bounds (if `high`) or lower bounds of a sum that does not wrap.
    fn around(&self, sum: Sum, high: bool) -> Vec<Sum> {
        let mut out = vec![sum];
        if let Some(bounds) = sum.root.and_then(|r| self.bounds.get(&r)) {
            let list = if high { &bounds.high } else { &bounds.low };
            for b in list {
                if let Some(add) = b.add.checked_add(sum.add) {
                    out.push(Sum { root: b.root, add });
                }
            }
        }
        out
    }

    /// Whether a + `by` ≤ b, as signed integers.
    fn below(&self, a: Operand, b: Operand, by: i64) -> bool {
        let (Some(a), Some(b)) = (self.sum(a), self.sum(b)) else { return false };
        if !self.is_exact(a) || !self.is_exact(b) {
            return false;
        }
        let (high, low) = (self.around(a, true), self.around(b, false));
        high.iter()
            .any(|h| low.iter().any(|l| h.root == l.root && h.add.checked_add(by).is_some_and(|sum| sum <= l.add)))
    }

    fn is_seen(&self, test: &Test) -> bool {
        let (a, b) = (self.side(test.a), self.side(test.b));
        let seen = |cond| {
            self.seen.contains(&(cond, test.ty, a, b))
                || cond.exchanged().is_some_and(|c: Cond| self.seen.contains(&(c, test.ty, b, a)))
        };
        let stronger: &[Cond] = match test.cond {
            Cond::Le => &[Cond::Lt, Cond::Eq],
            Cond::Ge => &[Cond::Gt, Cond::Eq],
            Cond::Ne => &[Cond::Lt, Cond::Gt],
            Cond::Always | Cond::Eq | Cond::Lt | Cond::Gt | Cond::Ltu | Cond::Geu => &[],
        };
        seen(test.cond) || stronger.iter().any(|c| seen(*c))
    }

    /// Whether a comparison certainly holds here.
    pub(super) fn holds(&self, test: &Test) -> bool {
        let Test { cond, ty, a, b } = *test;
        if self.is_seen(test) {
            return true;
        }
        if ty != Ty::Int {
            return false;
        }
        if let (Some(Sum { root: None, add: a }), Some(Sum { root: None, add: b })) = (self.sum(a), self.sum(b)) {
            let (a, b) = (a.cast_unsigned(), b.cast_unsigned());
            return compare(Env::default(), cond, ty, a, b) == Ok(true);
        }
        let zero = Operand::Const(0);
        match cond {
            Cond::Always => true,
            Cond::Eq => matches!((self.sum(a), self.sum(b)), (Some(a), Some(b)) if a == b),
            Cond::Ne => self.below(a, b, 1) || self.below(b, a, 1),
            Cond::Lt => self.below(a, b, 1),
            Cond::Le => self.below(a, b, 0),
            Cond::Gt => self.below(b, a, 1),
            Cond::Ge => self.below(b, a, 0),
            Cond::Ltu => self.below(zero, a, 0) && self.below(a, b, 1),
            Cond::Geu => self.below(zero, b, 0) && self.below(b, a, 0),
        }
    }

    /// Records that a comparison holds from here on.
    pub(super) fn learn(&mut self, test: &Test) {
        let fact = (test.cond, test.ty, self.side(test.a), self.side(test.b));
        if self.seen.insert(fact) {
            self.undo_log.push(UndoEntry::Seen(fact));
        }
        if test.ty != Ty::Int {
            return;
        }
        let (a, b) = (self.sum(test.a), self.sum(test.b));
        let mut at_most = |a: Option<Sum>, b: Option<Sum>, by: i64| {
            let (Some(a), Some(b)) = (a, b) else { return };
            // Only sums that are words themselves get bounds; others might wrap.
            if let (Sum { root: Some(root), add: 0 }, true) = (a, self.is_exact(b))
                && let Some(add) = b.add.checked_sub(by)
                && b.root != Some(root)
            {
                self.bound(root, true, Sum { root: b.root, add });
            }
            if let (Sum { root: Some(root), add: 0 }, true) = (b, self.is_exact(a))
                && let Some(add) = a.add.checked_add(by)
                && a.root != Some(root)
            {
                self.bound(root, false, Sum { root: a.root, add });
            }
        };
        match test.cond {
            Cond::Lt => at_most(a, b, 1),
            Cond::Le => at_most(a, b, 0),
            Cond::Gt => at_most(b, a, 1),
            Cond::Ge => at_most(b, a, 0),
            Cond::Eq => {
                at_most(a, b, 0);
                at_most(b, a, 0);
            }
            Cond::Ltu => {
                // Below a number that is not negative.
                if let Some(Sum { root: None, add }) = b
                    && add >= 0
                {
                    at_most(Some(Sum { root: None, add: 0 }), a, 0);
                    at_most(a, b, 1);
                }
            }
            Cond::Always | Cond::Ne | Cond::Geu => {}
        }
    }
}
