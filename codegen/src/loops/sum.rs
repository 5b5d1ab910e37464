//! How integers go from turn to turn of a loop: from a value by a step, both sums of
//! products of words that stay the same.

use std::collections::BTreeMap;

use super::Value;

/// A sum of products: the factors of each, and how often it is taken; the constant is that of no factors.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sum(BTreeMap<Vec<Value>, i64>);

/// Sums of more products are not looked at.
const MOST: usize = 8;

impl Sum {
    /// A constant.
    pub fn constant(k: i64) -> Sum {
        Sum(if k == 0 { BTreeMap::new() } else { BTreeMap::from([(Vec::new(), k)]) })
    }

    /// A value.
    pub fn value(value: Value) -> Sum {
        match value {
            // Its negation would be no constant.
            Value::Const(k) if k.cast_signed() != i64::MIN => Sum::constant(k.cast_signed()),
            _ => Sum(BTreeMap::from([(vec![value], 1)])),
        }
    }

    /// The products: their factors, and how often each is taken.
    pub fn products(&self) -> impl Iterator<Item = (&[Value], i64)> {
        self.0.iter().map(|(factors, n)| (factors.as_slice(), *n))
    }

    /// This and a constant, which is small.
    #[must_use]
    pub fn offset(&self, k: i64) -> Sum {
        let mut out = self.0.clone();
        *out.entry(Vec::new()).or_default() += k;
        out.retain(|_, n| *n != 0);
        Sum(out)
    }

    /// The sum of this and so many times another.
    pub fn plus(&self, other: &Sum, times: i64) -> Option<Sum> {
        let mut out = self.0.clone();
        for (factors, n) in &other.0 {
            let now = out.entry(factors.clone()).or_default();
            *now = now.checked_add(n.checked_mul(times)?)?;
        }
        out.retain(|_, n| *n != 0);
        (out.len() <= MOST).then_some(Sum(out))
    }

    /// The product, if it has few products.
    pub fn times(&self, other: &Sum) -> Option<Sum> {
        let mut out = Sum::default();
        for (a, n) in &self.0 {
            for (b, m) in &other.0 {
                let mut factors: Vec<Value> = a.iter().chain(b).copied().collect();
                factors.sort();
                out = out.plus(&Sum(BTreeMap::from([(factors, n.checked_mul(*m)?)])), 1)?;
            }
        }
        Some(out)
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The number that it is, if it has no factors.
    pub fn as_constant(&self) -> Option<i64> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// What a value is multiplied by, and the products without it; `None` where it is multiplied by itself.
    pub fn linear_in(&self, value: Value) -> Option<(Sum, Sum)> {
        let (mut factor, mut rest) = (BTreeMap::new(), BTreeMap::new());
        for (factors, n) in &self.0 {
            match factors.iter().filter(|f| **f == value).count() {
                0 => _ = rest.insert(factors.clone(), *n),
                1 => _ = factor.insert(factors.iter().copied().filter(|f| *f != value).collect(), *n),
                _ => return None,
            }
        }
        Some((Sum(factor), Sum(rest)))
    }

    /// The constant, and the rest.
    pub fn split(&self) -> (i64, Sum) {
        let mut rest = self.0.clone();
        let k = rest.remove(&Vec::new()).unwrap_or(0);
        (k, Sum(rest))
    }
}

/// An integer in each turn: what it is in the first, and by what it goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Induction {
    /// What it is in the first turn.
    pub first: Sum,
    /// By what it goes on.
    pub step: Sum,
}

impl Induction {
    /// What stays the same.
    pub fn invariant(first: Sum) -> Induction {
        Induction { first, step: Sum::default() }
    }

    /// The sum of this and so many times another.
    pub fn plus(&self, other: &Induction, times: i64) -> Option<Induction> {
        Some(Induction { first: self.first.plus(&other.first, times)?, step: self.step.plus(&other.step, times)? })
    }

    /// The product, if one of the two stays the same and it has few products.
    pub fn times(&self, other: &Induction) -> Option<Induction> {
        // Not squares of what goes on.
        let (invariant, goes) = if self.step.is_zero() { (self, other) } else { (other, self) };
        if !invariant.step.is_zero() {
            return None;
        }
        Some(Induction { first: invariant.first.times(&goes.first)?, step: invariant.first.times(&goes.step)? })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Local, Place};
    use super::*;

    fn local(n: u32) -> Sum {
        Sum::value(Value::Place(Place::Local(Local(n))))
    }

    #[test]
    fn sums_have_one_form() {
        let (a, b) = (local(1), local(2));
        let sum = a.times(&b).unwrap().plus(&b.times(&a).unwrap(), 2).unwrap();
        assert_eq!(sum.products().map(|(factors, n)| (factors.len(), n)).collect::<Vec<_>>(), [(2, 3)]);
        assert_eq!(sum.plus(&sum, -1), Some(Sum::default()));
        assert_eq!(a.plus(&Sum::constant(-2), 1).unwrap().split(), (-2, a.clone()));
        assert_eq!(a.offset(-2).offset(2), a);
        assert_eq!(Sum::value(Value::Const(5)).as_constant(), Some(5));
        assert_eq!(a.plus(&a, i64::MAX), None, "too often");
    }

    #[test]
    fn sums_are_linear_in_values_that_are_factors_once() {
        let (a, b) = (local(1), local(2));
        let sum = a.times(&b).unwrap().plus(&a, 3).unwrap().plus(&b, 1).unwrap().offset(7);
        let value = Value::Place(Place::Local(Local(1)));
        assert_eq!(sum.linear_in(value), Some((b.offset(3), b.offset(7))));
        assert_eq!(a.times(&a).unwrap().linear_in(value), None);
    }

    #[test]
    fn what_goes_on_is_multiplied_by_what_stays() {
        let (base, first, len) = (local(0), local(1), local(2));
        let count = Induction { first: first.clone(), step: Sum::constant(-1) };
        let rows = count.times(&Induction::invariant(len.clone())).unwrap();
        let address = Induction::invariant(base.clone()).plus(&rows, 1).unwrap();
        assert_eq!(address.first, base.plus(&first.times(&len).unwrap(), 1).unwrap());
        assert_eq!(address.step, Sum::default().plus(&len, -1).unwrap());
        assert_eq!(count.times(&count), None);
        assert_eq!(address.first.split(), (0, address.first.clone()));
    }
}
