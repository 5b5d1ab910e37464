//! What the kernels' programs are written in: integer arithmetic on values that knows constants, roundings, and checks of the range.
//!
//! Everything here returns values and leaves garbage: it belongs inside [`Builder::with`].

use crate::circuit::Builder;
use crate::circuit::{Bit, Word};

/// How many bits a number has.
pub(in crate::kernels) fn bits_of(n: u128) -> usize {
    128 - n.leading_zeros() as usize
}

/// The fewest bits in which every number up to `n` can be said.
pub(in crate::kernels) fn bits_for(n: usize) -> usize {
    bits_of(n as u128)
}

/// A slice as a word of its own.
pub(in crate::kernels) fn part(x: &[Bit], range: std::ops::Range<usize>) -> Word {
    Word::from(&x[range])
}

/// The bits from a place on.
pub(in crate::kernels) fn above(x: &[Bit], from: usize) -> Word {
    Word::from(&x[from.min(x.len())..])
}

/// How many bits at the low end are known to be zero.
fn known_zeros(x: &[Bit]) -> usize {
    x.iter().take_while(|b| **b == Bit::ZERO).count()
}

/// The word without the zeros that are known at its high end.
fn trimmed(x: &[Bit]) -> &[Bit] {
    let zeros = x.iter().rev().take_while(|b| **b == Bit::ZERO).count();
    &x[..x.len() - zeros]
}

impl Builder {
    /// x · z, unsigned, with as many bits as both. What is known to be zero takes no gates.
    pub(in crate::kernels) fn times(&mut self, x: &[Bit], z: &[Bit]) -> Word {
        let (low, bits) = (known_zeros(x) + known_zeros(z), x.len() + z.len());
        let (x, z) = (trimmed(&x[known_zeros(x)..]), trimmed(&z[known_zeros(z)..]));
        if x.is_empty() || z.is_empty() {
            return Word::constant(0, bits);
        }
        self.mul(x, z).shifted_left(low).unsigned(bits)
    }

    /// x · z for a signed x and an unsigned z, with as many bits as both.
    pub(in crate::kernels) fn times_signed(&mut self, x: &[Bit], z: &[Bit]) -> Word {
        let (low, bits) = (known_zeros(x) + known_zeros(z), x.len() + z.len());
        let (x, z) = (&x[known_zeros(x)..], trimmed(&z[known_zeros(z)..]));
        if x.is_empty() || z.is_empty() {
            return Word::constant(0, bits);
        }
        self.mul_signed_unsigned(x, z).shifted_left(low).signed(bits)
    }

    /// x · z / 2^down for unsigned words, rounded down.
    pub(in crate::kernels) fn high(&mut self, x: &[Bit], z: &[Bit], down: usize) -> Word {
        above(&self.times(x, z), down)
    }

    /// The low `bits` bits of the sum of signed words.
    pub(in crate::kernels) fn sum_signed(&mut self, x: &[Bit], z: &[Bit], bits: usize) -> Word {
        self.sum(&Word::from(x).signed(bits), &Word::from(z).signed(bits), bits)
    }

    /// The low `bits` bits of the difference of signed words.
    pub(in crate::kernels) fn difference_signed(&mut self, x: &[Bit], z: &[Bit], bits: usize) -> Word {
        self.difference(&Word::from(x).signed(bits), &Word::from(z).signed(bits), bits)
    }

    /// c ? x : z for signed words.
    pub(in crate::kernels) fn select_signed(&mut self, c: Bit, x: &[Bit], z: &[Bit]) -> Word {
        let n = x.len().max(z.len());
        self.select(c, &Word::from(x).signed(n), &Word::from(z).signed(n))
    }

    /// The complement of a word.
    pub(in crate::kernels) fn complement_of(&mut self, x: &[Bit]) -> Word {
        let y = self.copy(x);
        self.complement(&y);
        y
    }

    /// x | z.
    pub(in crate::kernels) fn either(&mut self, x: Bit, z: Bit) -> Bit {
        self.any(&[x, z])
    }

    /// x ^ z.
    pub(in crate::kernels) fn differ(&mut self, x: Bit, z: Bit) -> Bit {
        let y = self.bit();
        self.cnot(x, y);
        self.cnot(z, y);
        y
    }

    /// x & !z.
    pub(in crate::kernels) fn without(&mut self, x: Bit, z: Bit) -> Bit {
        let y = self.bit();
        self.cnot(x, y);
        self.toffoli(x, z, y);
        y
    }

    /// x / 2^shift and one more if `up`: a bit longer than what is left of x.
    fn rounded(&mut self, whole: &Word, up: Bit) -> Word {
        let y = self.copy(whole);
        if up != Bit::ZERO {
            self.increment_if(up, &y);
        }
        y
    }

    /// x / 2^shift to the nearest integer, ties up; unsigned, shift ≥ 1.
    pub(in crate::kernels) fn nearest_up(&mut self, x: &[Bit], shift: usize) -> Word {
        self.rounded(&above(x, shift).then(&[Bit::ZERO]), x[shift - 1])
    }

    /// As [`Builder::nearest_up`], of a signed word.
    pub(in crate::kernels) fn nearest_up_signed(&mut self, x: &[Bit], shift: usize) -> Word {
        let whole = above(x, shift);
        self.rounded(&whole.signed(whole.len() + 1), x[shift - 1])
    }

    /// x / 2^shift to the nearest integer, ties to even; unsigned, any shift.
    pub(in crate::kernels) fn nearest_even(&mut self, x: &[Bit], shift: usize) -> Word {
        let Some(half) = shift.checked_sub(1) else { return Word::from(x) };
        let x = Word::from(x).unsigned(x.len().max(shift + 1));
        let below = self.any(&x[..half]);
        let not_even = self.either(below, x[shift]);
        let up = self.and(x[half], not_even);
        self.rounded(&above(&x, shift).then(&[Bit::ZERO]), up)
    }

    /// x / 2^amount to the nearest integer, ties to even; unsigned.
    pub(in crate::kernels) fn shift_nearest(&mut self, x: &[Bit], amount: &[Bit]) -> Word {
        let shifted = self.shift_right(x, amount);
        self.nearest_even(&shifted, (1 << amount.len()) - 1)
    }

    /// Quotient and remainder of (high · 2^low.len() + low) / divisor, where high is less than the divisor: the quotient has as many bits as low.
    pub(in crate::kernels) fn divide(&mut self, high: &[Bit], low: &[Bit], divisor: &[Bit]) -> (Word, Word) {
        if trimmed(high).is_empty() && trimmed(low).is_empty() {
            return (Word::constant(0, low.len()), Word::constant(0, divisor.len()));
        }
        let remainder = self.copy(&Word::from(high).unsigned(divisor.len()));
        let dividend = self.copy(low);
        self.divide_in_place(&dividend, &remainder, divisor)
    }

    /// The entry of a table. Bits that all entries have in common are constants, and so are those of the index free.
    pub(in crate::kernels) fn entry(&mut self, index: &[Bit], table: &[u128], bits: usize) -> Word {
        let known =
            |i: usize| index.iter().enumerate().all(|(k, b)| *b == Bit::Const(i >> k & 1 == 1) || b.wire().is_some());
        let (mut all, mut none) = (u128::MAX, u128::MAX);
        let mut entries = Vec::new();
        for (i, &entry) in table.iter().enumerate() {
            if known(i) {
                all &= entry;
                none &= !entry;
                entries.push(entry);
            }
        }
        let index: Word = index.iter().copied().filter(|b| b.wire().is_some()).collect();
        let varying =
            (0..bits).filter(|i| *i < 128 && (all | none) >> i & 1 == 0).map(|_| self.bit()).collect::<Vec<_>>();
        let mut wires = varying.into_iter();
        let mut next = |i: usize| match (i < 128 && all >> i & 1 == 1, i >= 128 || none >> i & 1 == 1) {
            (true, _) => Bit::ONE,
            (_, true) => Bit::ZERO,
            _ => wires.next().unwrap_or(Bit::ZERO),
        };
        let word: Word = (0..bits).map(&mut next).collect();
        self.for_each_index(Bit::ONE, &index, entries.len(), &mut |b, i, here| {
            for (bit, &target) in word.iter().enumerate() {
                if target.wire().is_some() && entries[i] >> bit & 1 == 1 {
                    b.cnot(here, target);
                }
            }
        });
        word
    }

    /// The word of `width` bits of a signed number, and whether it does not fit.
    pub(in crate::kernels) fn fit(&mut self, x: &Word, width: usize) -> (Word, Bit) {
        if x.len() <= width {
            return (x.signed(width), Bit::ZERO);
        }
        let above = self.copy(&x[width - 1..x.len() - 1]);
        self.complement_if(x.sign(), &above);
        (part(x, 0..width), self.any(&above))
    }

    /// The two's-complement word of ±m, and whether it does not fit.
    pub(in crate::kernels) fn fit_magnitude(&mut self, negative: Bit, m: &Word, width: usize) -> (Word, Bit) {
        let word = self.negated_if(negative, &m.unsigned(width));
        if m.len() < width {
            return (word, Bit::ZERO);
        }
        let zero = self.is_zero(&m[..width - 1]);
        let least = self.and(negative, zero);
        let beyond = self.without(m[width - 1], least);
        let above = self.any(&m[width..]);
        (word, self.either(beyond, above))
    }

    /// An amount, or the greatest that `bits` bits can say if it is greater.
    pub(in crate::kernels) fn saturated(&mut self, amount: &[Bit], bits: usize) -> Word {
        let low = Word::from(amount).unsigned(bits);
        if amount.len() <= bits {
            return low;
        }
        let beyond = self.any(&amount[bits..]);
        low.iter().map(|&bit| self.either(bit, beyond)).collect()
    }
}
