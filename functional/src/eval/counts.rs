//! What an evaluation computed.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::core::{Binary, Unary};

/// Counts of an evaluation.
#[derive(Clone, Debug)]
pub struct Counts {
    /// Instructions.
    pub steps: u64,
    /// Arithmetic on reals, by function of one number.
    pub unary: [u64; Unary::ALL.len()],
    /// Arithmetic on reals, by function of two numbers.
    pub binary: [u64; Binary::ALL.len()],
    /// Structures made: tuples, closures, sums, arrays, bundles.
    pub nodes: u64,
    /// Calls by the function's name.
    pub calls: BTreeMap<Rc<str>, u64>,
}

impl Default for Counts {
    fn default() -> Counts {
        Counts {
            steps: 0,
            unary: [0; Unary::ALL.len()],
            binary: [0; Binary::ALL.len()],
            nodes: 0,
            calls: BTreeMap::new(),
        }
    }
}

impl Counts {
    /// All arithmetic on reals. Comparisons are not counted.
    pub fn arithmetic(&self) -> u64 {
        self.unary.iter().chain(&self.binary).sum()
    }

    /// What was computed since an earlier moment of the same evaluation.
    #[must_use]
    pub fn since(&self, before: &Counts) -> Counts {
        let mut out = self.clone();
        out.steps -= before.steps;
        out.nodes = out.nodes.wrapping_sub(before.nodes);
        let pairs = out.unary.iter_mut().zip(&before.unary).chain(out.binary.iter_mut().zip(&before.binary));
        pairs.for_each(|(now, then)| *now -= then);
        for (name, then) in &before.calls {
            if let Some(now) = out.calls.get_mut(name) {
                *now -= then;
            }
        }
        out.calls.retain(|_, n| *n > 0);
        out
    }

    /// All calls.
    pub fn all_calls(&self) -> u64 {
        self.calls.values().sum()
    }
}
