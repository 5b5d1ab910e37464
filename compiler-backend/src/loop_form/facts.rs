//! What is known of integers where a computation stands: sums of products that are not negative. Tests that were passed and the bounds of
//! loops tell. Sums are those of numbers, not of words: what arrays are made of is small enough.

use pendula_codegen::loops::{Sum, Value};
use pendula_isa::types::Cond;

/// More are not looked at.
const MOST: usize = 48;

/// Sums that are not negative.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts(Vec<Sum>);

impl Facts {
    /// Adds sums that are not negative, as far as they are known.
    pub(super) fn add(&mut self, sums: impl IntoIterator<Item = Option<Sum>>) {
        let new = sums.into_iter().flatten().filter(|sum| sum.as_constant().is_none());
        for sum in new {
            if self.0.len() < MOST && !self.0.contains(&sum) {
                self.0.push(sum);
            }
        }
    }

    /// How many there are, to go back to.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Forgets all but the first.
    pub(super) fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// Whether a sum is certainly not less than this.
    pub(super) fn is_at_least(&self, sum: &Sum, least: i64) -> bool {
        if let Some(k) = sum.as_constant() {
            return k >= least;
        }
        if self.is_bounded(sum, least, None) {
            return true;
        }
        // One value is what another fact says of it, and a rest that is not negative.
        self.0.iter().any(|fact| {
            let singles = fact.products().filter_map(|(factors, n)| match factors {
                [value] if n.abs() == 1 => Some((*value, n)),
                _ => None,
            });
            singles.into_iter().any(|(value, n)| {
                let replaced = || {
                    let (_, rest) = fact.linear_in(value)?;
                    let is = Sum::default().plus(&Sum::value(value), n)?.plus(&rest, -n)?;
                    let (factor, others) = sum.linear_in(value)?;
                    others.plus(&factor.times(&is)?, 1)
                };
                replaced().is_some_and(|sum| self.is_bounded(&sum, least, Some(value)))
            })
        })
    }

    /// Whether bounds of single values tell that a sum is not less than this; one value may be known not to be negative, and no more.
    fn is_bounded(&self, sum: &Sum, least: i64, rest: Option<Value>) -> bool {
        let shifted = || {
            let mut out = Sum::default();
            for (factors, n) in sum.products() {
                let mut product = Sum::constant(n);
                for value in factors {
                    let bound = if rest == Some(*value) { 0 } else { self.bound(*value)? };
                    product = product.times(&Sum::value(*value).plus(&Sum::constant(bound), 1)?)?;
                }
                out = out.plus(&product, 1)?;
            }
            Some(out)
        };
        shifted().is_some_and(|sum| {
            sum.split().0 >= least && sum.products().all(|(factors, n)| factors.is_empty() || n >= 0)
        })
    }

    /// The greatest number that a value is known not to be less than.
    fn bound(&self, value: Value) -> Option<i64> {
        let of = |fact: &Sum| {
            let (factor, rest) = fact.linear_in(value)?;
            (factor.as_constant()? == 1).then_some(())?;
            rest.as_constant()?.checked_neg()
        };
        self.0.iter().filter_map(of).max()
    }
}

/// What a comparison tells if it holds, and if it does not: sums that are not negative, if they are known.
pub(super) type Told = [Vec<Option<Sum>>; 2];

/// What a comparison of integers tells.
pub(super) fn implied(cond: Cond, a: &Sum, b: &Sum) -> Told {
    let minus = |a: &Sum, b: &Sum, k: i64| a.plus(b, -1)?.plus(&Sum::constant(k), 1);
    match cond {
        Cond::Le => [vec![minus(b, a, 0)], vec![minus(a, b, -1)]],
        Cond::Lt => [vec![minus(b, a, -1)], vec![minus(a, b, 0)]],
        Cond::Ge => [vec![minus(a, b, 0)], vec![minus(b, a, -1)]],
        Cond::Gt => [vec![minus(a, b, -1)], vec![minus(b, a, 0)]],
        Cond::Eq => [vec![minus(a, b, 0), minus(b, a, 0)], Vec::new()],
        Cond::Ne => [Vec::new(), vec![minus(a, b, 0), minus(b, a, 0)]],
        Cond::Ltu if b.as_constant().is_some_and(|k| k >= 0) => [vec![Some(a.clone()), minus(b, a, -1)], Vec::new()],
        Cond::Geu if b.as_constant().is_some_and(|k| k >= 0) => [Vec::new(), vec![Some(a.clone()), minus(b, a, -1)]],
        Cond::Ltu | Cond::Geu | Cond::Always => [Vec::new(), Vec::new()],
    }
}

#[cfg(test)]
mod tests {
    use pendula_codegen::loops::{Local, Place};

    use super::*;

    fn local(n: u32) -> Sum {
        Sum::value(Value::Place(Place::Local(Local(n))))
    }

    /// a + k b.
    fn sum(a: &Sum, b: &Sum, k: i64) -> Option<Sum> {
        a.plus(b, k)
    }

    #[test]
    fn bounds_tell_of_sums_and_products() {
        let (rows, layers, k) = (local(1), local(2), local(3));
        let product = rows.times(&layers).unwrap();
        let apart = sum(&product, &rows, -1).unwrap().offset(1);
        let mut facts = Facts::default();
        assert!(!facts.is_at_least(&apart, 1));
        facts.add([Some(rows.clone())]);
        assert!(!facts.is_at_least(&apart, 1), "no layers");
        facts.add([Some(layers.offset(-1))]);
        assert!(facts.is_at_least(&apart, 1));
        assert!(!facts.is_at_least(&apart, 2), "no rows");
        // k is not greater than the number of layers.
        let rest = sum(&product, &rows.times(&k).unwrap(), -1).unwrap();
        assert!(!facts.is_at_least(&rest, 0));
        facts.add([sum(&layers, &k, -1)]);
        assert!(facts.is_at_least(&rest, 0));
        assert!(!facts.is_at_least(&rest, 1));
        assert!(!facts.is_at_least(&Sum::default().plus(&rest, -1).unwrap(), 0));
    }

    /// All comparisons of small numbers.
    #[test]
    fn comparisons_tell_what_holds() {
        for cond in Cond::TESTS {
            for (a, b) in (-3..4).flat_map(|a| (-3..4).map(move |b| (a, b))) {
                let holds = match cond {
                    Cond::Eq => a == b,
                    Cond::Ne => a != b,
                    Cond::Lt => a < b,
                    Cond::Le => a <= b,
                    Cond::Gt => a > b,
                    Cond::Ge => a >= b,
                    Cond::Ltu => (a as u64) < b as u64,
                    Cond::Geu => a as u64 >= b as u64,
                    Cond::Always => continue,
                };
                for told in &implied(cond, &Sum::constant(a), &Sum::constant(b))[usize::from(!holds)] {
                    let told = told.as_ref().and_then(Sum::as_constant).unwrap();
                    assert!(told >= 0, "{a} {cond:?} {b}");
                }
            }
        }
    }
}
