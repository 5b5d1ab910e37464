//! Sets of variables or regions.

use crate::ir::Var;

/// A set of indices of variables or regions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set(pub(super) Vec<u32>);

impl Set {
    /// Whether the set has this index.
    pub fn contains(&self, index: u32) -> bool {
        self.0.binary_search(&index).is_ok()
    }

    /// Whether the set has this variable.
    pub fn has(&self, var: Var) -> bool {
        self.contains(var.0)
    }

    /// Whether the two sets have a common element.
    pub fn intersects(&self, other: &Set) -> bool {
        let (few, many) = if self.0.len() < other.0.len() { (self, other) } else { (other, self) };
        few.0.iter().any(|i| many.contains(*i))
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The indices in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().copied()
    }

    /// Restores the order of the indices after some were pushed.
    pub(super) fn seal(&mut self) {
        self.0.sort_unstable();
        self.0.dedup();
    }
}

impl FromIterator<u32> for Set {
    fn from_iter<T: IntoIterator<Item = u32>>(iter: T) -> Set {
        let mut set = Set(iter.into_iter().collect());
        set.seal();
        set
    }
}
