//! Words of wires and constants.

use std::ops::Deref;

use super::Wire;

/// A bit of a word: a wire, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bit {
    /// Known when the circuit is built.
    Const(bool),
    /// A wire.
    Wire(Wire),
}

impl Bit {
    /// The constant 0.
    pub const ZERO: Bit = Bit::Const(false);
    /// The constant 1.
    pub const ONE: Bit = Bit::Const(true);

    /// The wire, if it is one.
    pub const fn wire(self) -> Option<Wire> {
        match self {
            Bit::Const(_) => None,
            Bit::Wire(w) => Some(w),
        }
    }
}

/// Bits, the least significant first. As a slice it can be indexed, cut and iterated over, without any gates.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Word(Vec<Bit>);

impl Word {
    /// The low `bits` bits of `value`.
    pub fn constant(value: u128, bits: usize) -> Word {
        (0..bits).map(|i| Bit::Const(i < 128 && value >> i & 1 == 1)).collect()
    }

    /// The word with `by` zeros below.
    pub fn shifted_left(&self, by: usize) -> Word {
        Word::constant(0, by).then(self)
    }

    /// The word with `high` above it.
    pub fn then(&self, high: &[Bit]) -> Word {
        self.iter().chain(high).copied().collect()
    }

    /// The low `bits` bits; extended with zeros if there are fewer.
    pub fn unsigned(&self, bits: usize) -> Word {
        extended(self, bits, Bit::ZERO)
    }

    /// The low `bits` bits; extended with the sign if there are fewer.
    pub fn signed(&self, bits: usize) -> Word {
        extended(self, bits, self.sign())
    }

    /// The most significant bit, zero if there is none.
    pub fn sign(&self) -> Bit {
        self.last().copied().unwrap_or(Bit::ZERO)
    }

    /// The bits rotated by `by` places toward the more significant ones: a rotation by a constant is wiring.
    pub fn rotated_left(&self, by: usize) -> Word {
        let mut bits = self.0.clone();
        let n = bits.len().max(1);
        bits.rotate_right(by % n);
        Word(bits)
    }
}

/// `bits` bits of a word, extended with `fill`.
pub(super) fn extended(word: &[Bit], bits: usize, fill: Bit) -> Word {
    (0..bits).map(|i| word.get(i).copied().unwrap_or(fill)).collect()
}

impl Deref for Word {
    type Target = [Bit];
    fn deref(&self) -> &[Bit] {
        &self.0
    }
}

impl FromIterator<Bit> for Word {
    fn from_iter<I: IntoIterator<Item = Bit>>(bits: I) -> Word {
        Word(bits.into_iter().collect())
    }
}

impl From<&[Bit]> for Word {
    fn from(bits: &[Bit]) -> Word {
        Word(bits.to_vec())
    }
}

impl From<Bit> for Word {
    fn from(bit: Bit) -> Word {
        Word(vec![bit])
    }
}
