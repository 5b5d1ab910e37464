//! Shifts and rotations by a variable amount, and normalization: stages of controlled swaps, one for each bit of the amount.

use super::builder::Builder;
use super::word::{Bit, Word};

impl Builder {
    /// Moves the bits of `y` up by `by` places if c is 1, in place. The `by` bits at the top, often known to be zero,
    /// move to the bottom. n − by controlled swaps.
    pub fn move_up_if(&mut self, c: Bit, by: usize, y: &[Bit]) {
        for i in (by..y.len()).rev() {
            self.cswap(c, y[i], y[i - by]);
        }
    }

    /// The inverse of [`Builder::move_up_if`].
    pub fn move_down_if(&mut self, c: Bit, by: usize, y: &[Bit]) {
        for i in by..y.len() {
            self.cswap(c, y[i], y[i - by]);
        }
    }

    /// Rotates `y`, of W = 2^k bits, to the left by the low k bits of `amount`, in place.
    ///
    /// A rotation by s is three reversals, of the whole word, of its low s bits and of the others: two layers of swaps
    /// of distinct bits. For s = 2, 4, 8 … these are W/2 + s/2 + (W − s)/2 = W swaps, all controlled by one bit of the
    /// amount; for s = 1 one less, since neither a single bit nor the middle one of W − 1 is swapped. In total W·log₂W
    /// − 1.
    ///
    /// # Panics
    /// If the length is not a power of two, or the amount has too few bits.
    pub fn rotate_left(&mut self, amount: &[Bit], y: &[Bit]) {
        assert!(y.len().is_power_of_two(), "a rotated word's width is a power of two");
        for (k, &c) in amount[..y.len().ilog2() as usize].iter().enumerate() {
            let (low, high) = y.split_at(1 << k);
            for part in [y, low, high] {
                let half = part.len() / 2;
                let (below, above) = part.split_at(half);
                for (&below, &above) in below.iter().zip(above.iter().rev()) {
                    self.cswap(c, below, above);
                }
            }
        }
    }

    /// x · 2^amount, as a value: `x.len()` bits, plus the maximum amount.
    pub fn shift_left(&mut self, x: &[Bit], amount: &[Bit]) -> Word {
        let y = self.word(x.len() + (1 << amount.len()) - 1);
        self.xor(x, &y);
        for (k, &c) in amount.iter().enumerate() {
            self.move_up_if(c, 1 << k, &y[..x.len() + (2 << k) - 1]);
        }
        y
    }

    /// x / 2^amount with its whole fraction, as a value: as many fraction bits as the maximum amount, then `x.len()`
    /// bits.
    pub fn shift_right(&mut self, x: &[Bit], amount: &[Bit]) -> Word {
        let fraction = (1 << amount.len()) - 1;
        let y = self.word(fraction + x.len());
        self.xor(x, &y[fraction..]);
        for (k, &c) in amount.iter().enumerate() {
            self.move_down_if(c, 1 << k, &y[fraction + 1 - (2 << k)..]);
        }
        y
    }

    /// As [`Builder::shift_right`], for a signed word, which is extended with its sign.
    pub fn shift_right_signed(&mut self, x: &[Bit], amount: &[Bit]) -> Word {
        let fraction = (1 << amount.len()) - 1;
        let y = self.word(fraction + x.len());
        self.xor(x, &y[fraction..]);
        let sign = Word::from(x).sign();
        for (k, &c) in amount.iter().enumerate() {
            self.move_down_if(c, 1 << k, &y[fraction + 1 - (2 << k)..]);
            // Zeros were shifted in.
            for &bit in &y[y.len() - (1 << k)..] {
                self.toffoli(c, sign, bit);
            }
        }
        y
    }

    /// The word moved up until its top bit is 1, and the distance, as values. The amount has as few bits as possible;
    /// for zero it is the greatest number that they can represent, or less, and the top bit is 0.
    pub fn normalize(&mut self, x: &[Bit]) -> (Word, Word) {
        let n = x.len();
        let y = self.copy(x);
        let stages = n.next_power_of_two().ilog2() as usize;
        let mut amount = Vec::with_capacity(stages);
        for by in (0..stages).rev().map(|k| 1 << k) {
            let clear = self.is_zero(&y[n - by..]);
            self.move_up_if(clear, by, &y);
            amount.push(clear);
        }
        (y, amount.into_iter().rev().collect())
    }

    /// The number of zeros above the topmost 1 (all bits if there is none), as a value.
    pub fn leading_zeros(&mut self, x: &[Bit]) -> Word {
        let n = x.len();
        let count = self.word(n.ilog2() as usize + 1);
        self.with(
            |b| {
                let (y, amount) = b.normalize(x);
                let zero = b.inverse_of(y.sign());
                (amount, zero)
            },
            |b, (amount, zero)| {
                // For zero, the amount may be anything up to n − 1. It is replaced.
                let full = Word::constant(n as u128, count.len());
                b.xor_select(*zero, &full, &amount.unsigned(count.len()), &count);
            },
        );
        count
    }
}
