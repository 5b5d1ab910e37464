//! The set of wires in use, with 64 wires per word. It is compared and copied at every [`with`](super::Builder::with).

use super::Wire;

/// A set of wires.
#[derive(Clone, Debug, Default)]
pub(super) struct Live(Vec<u64>);

impl Live {
    /// Adds or removes a wire.
    pub(super) fn set(&mut self, wire: Wire, live: bool) {
        let (word, bit) = (wire as usize / 64, 1 << (wire % 64));
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] = self.0[word] & !bit | if live { bit } else { 0 };
    }

    /// Whether a wire is in the set.
    pub(super) fn contains(&self, wire: Wire) -> bool {
        self.0.get(wire as usize / 64).is_some_and(|word| word >> (wire % 64) & 1 == 1)
    }

    /// The wires that are in this set but not in another, in ascending order.
    pub(super) fn without(&self, other: &Live) -> impl Iterator<Item = Wire> {
        let words = self.0.iter().enumerate();
        let rest = words.map(|(i, word)| (i, word & !other.0.get(i).copied().unwrap_or(0)));
        rest.filter(|(_, rest)| *rest != 0).flat_map(|(i, rest)| {
            let first = i as Wire * 64;
            (0..64).filter(move |bit| rest >> bit & 1 == 1).map(move |bit| first + bit)
        })
    }

    /// Whether the set is a subset of another.
    pub(super) fn is_within(&self, other: &Live) -> bool {
        self.without(other).next().is_none()
    }
}
