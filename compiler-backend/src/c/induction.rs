//! How integers go from turn to turn of a loop: from a value by a step, both sums of
//! products of words that stay the same.

use std::collections::BTreeMap;

use super::text::Ex;

/// A sum of products: the factors of each in C, and how often it is taken; the constant is that of no factors.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sum(BTreeMap<Vec<String>, i64>);

/// Sums of more products are not looked at.
const MOST: usize = 8;

impl Sum {
    pub(super) fn constant(k: i64) -> Sum {
        Sum(if k == 0 { BTreeMap::new() } else { BTreeMap::from([(Vec::new(), k)]) })
    }

    pub(super) fn word(ex: &Ex) -> Sum {
        match ex.text.parse() {
            Ok(k) => Sum::constant(k),
            Err(_) => Sum(BTreeMap::from([(vec![ex.text.clone()], 1)])),
        }
    }

    /// The sum of this and so many times another.
    pub(super) fn plus(&self, other: &Sum, times: i64) -> Option<Sum> {
        let mut out = self.0.clone();
        for (factors, n) in &other.0 {
            let now = out.entry(factors.clone()).or_default();
            *now = now.checked_add(n.checked_mul(times)?)?;
        }
        out.retain(|_, n| *n != 0);
        (out.len() <= MOST).then_some(Sum(out))
    }

    fn times(&self, other: &Sum) -> Option<Sum> {
        let mut out = Sum::default();
        for (a, n) in &self.0 {
            for (b, m) in &other.0 {
                let mut factors: Vec<String> = a.iter().chain(b).cloned().collect();
                factors.sort();
                out = out.plus(&Sum(BTreeMap::from([(factors, n.checked_mul(*m)?)])), 1)?;
            }
        }
        Some(out)
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The number that it is, if it has no factors.
    pub(super) fn as_constant(&self) -> Option<i64> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// The constant, and the rest.
    pub(super) fn split(&self) -> (i64, Sum) {
        let mut rest = self.0.clone();
        let k = rest.remove(&Vec::new()).unwrap_or(0);
        (k, Sum(rest))
    }

    /// In C.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        // The constant last.
        for (factors, n) in
            self.0.iter().filter(|(f, _)| !f.is_empty()).chain(self.0.iter().filter(|(f, _)| f.is_empty()))
        {
            let (sign, n) = (if *n < 0 { "-" } else { "+" }, n.unsigned_abs());
            let product = match (factors.is_empty(), n) {
                (true, _) => n.to_string(),
                (false, 1) => factors.join(" * "),
                (false, _) => format!("{n} * {}", factors.join(" * ")),
            };
            match (out.is_empty(), sign) {
                (true, "+") => out = product,
                (true, _) => out = format!("-{product}"),
                (false, _) => out.push_str(&format!(" {sign} {product}")),
            }
        }
        if out.is_empty() { "0".to_string() } else { out }
    }
}

/// An integer in each turn: what it is in the first, and by what it goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Induction {
    pub(super) first: Sum,
    pub(super) step: Sum,
}

impl Induction {
    /// What stays the same.
    pub(super) fn invariant(first: Sum) -> Induction {
        Induction { first, step: Sum::default() }
    }

    pub(super) fn plus(&self, other: &Induction, times: i64) -> Option<Induction> {
        Some(Induction { first: self.first.plus(&other.first, times)?, step: self.step.plus(&other.step, times)? })
    }

    pub(super) fn times(&self, other: &Induction) -> Option<Induction> {
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
    use super::super::text::Prec;
    use super::*;

    fn name(text: &str) -> Sum {
        Sum::word(&Ex::new(text.to_string(), Prec::Atom, false))
    }

    #[test]
    fn sums_are_written_in_one_way() {
        let sum = name("a").times(&name("b")).unwrap().plus(&name("b").times(&name("a")).unwrap(), 2).unwrap();
        assert_eq!(sum.text(), "3 * a * b");
        assert_eq!(sum.plus(&sum, -1), Some(Sum::default()));
        assert_eq!(name("x").plus(&Sum::constant(-2), 1).unwrap().text(), "x - 2");
        assert_eq!(Sum::constant(0).plus(&name("x"), -1).unwrap().text(), "-x");
        assert_eq!(Sum::default().text(), "0");
        assert_eq!(name("x").plus(&name("x"), i64::MAX), None, "too often");
    }

    #[test]
    fn what_goes_on_is_multiplied_by_what_stays() {
        let count = Induction { first: name("first"), step: Sum::constant(-1) };
        let address = Induction::invariant(name("base"))
            .plus(&count.times(&Induction::invariant(name("len"))).unwrap(), 1)
            .unwrap();
        assert_eq!((address.first.text(), address.step.text()), ("base + first * len".into(), "-len".into()));
        assert_eq!(count.times(&count), None);
        assert_eq!(address.first.split(), (0, address.first.clone()));
    }
}
