//! Logarithm and power of two, series and quotients, in 128-bit integers.

use super::arithmetic::{above, bits_of, part};
use super::tables;
use crate::circuit::Builder;
use crate::circuit::{Bit, Word};

/// How many bits at most a word has that are not known to be zero.
fn length(x: &[Bit]) -> usize {
    x.iter().rposition(|b| *b != Bit::ZERO).map_or(0, |i| i + 1)
}

impl Builder {
    /// c0 ± x (c1 ± x (c2 ± …)), always plus or always minus; x of 128 bits in units of 2^-128.
    pub(in crate::kernels) fn series(&mut self, minus: bool, coefficients: &[u128], x: &[Bit]) -> Word {
        let Some((&last, first)) = coefficients.split_last() else { return Word::default() };
        let mut sum = Word::constant(last, bits_of(last));
        let mut bound = last;
        for &c in first.iter().rev() {
            let product = above(&self.times(x, &sum), x.len());
            if minus {
                // The product is less than the coefficient.
                sum = self.difference(&Word::constant(c, bits_of(c)), &product, bits_of(c));
            } else {
                bound = c + bound.checked_shr((x.len() - length(x)) as u32).unwrap_or(0) + 1;
                sum = self.sum(&product, &Word::constant(c, bits_of(bound)), bits_of(bound));
            }
        }
        sum
    }

    /// log2(m) for 1 ≤ m < 2, both in units of 2^-127: the result has 128 bits, and may be 2^127.
    pub(in crate::kernels) fn log2(&mut self, m: &Word) -> Word {
        let index = part(m, 120..127);
        // m = (1 + index/128) (1 + z): z in units of 2^-128.
        let rest = part(m, 0..120).shifted_left(8);
        let (z, _) = self.divide(&rest[121..], &rest[..121], &index.then(&[Bit::ONE]));
        let z = z.unsigned(128);
        let sum = self.series(true, &tables::log_series(), &z);
        let above = above(&self.times(&z, &sum), 128);
        let node = self.entry(&index, &tables::log_table(), 128);
        self.sum(&node, &above, 128)
    }

    /// 2^fraction, from 1 up to below 2, in units of 2^-127; the fraction in units of 2^-128.
    pub(in crate::kernels) fn exp2(&mut self, fraction: &Word) -> Word {
        let base = self.entry(&fraction[121..], &tables::powers_of_two(128, 121), 128);
        let h = part(fraction, 0..121).unsigned(128);
        let sum = self.series(false, &tables::exp_series(15)[1..], &h);
        let part = self.times(&h, &sum)[128..].iter().copied().collect::<Word>().shifted_left(1).unsigned(128);
        let above = self.high(&base, &part, 128);
        let sum = self.sum(&base, &above, 129);
        // What would reach 2 stays below.
        sum[..128].iter().map(|bit| self.either(*bit, sum[128])).collect()
    }

    /// n / d as m · 2^-(126 + exponent): m of 128 bits, the exponent signed. For n, d > 0 of 128 bits.
    pub(in crate::kernels) fn quotient(&mut self, n: &Word, d: &Word) -> (Word, Word) {
        let ((n, n_zeros), (d, d_zeros)) = (self.normalize(n), self.normalize(d));
        let reciprocal = self.reciprocal(&d);
        let m = self.high(&n, &reciprocal, 128);
        let exponent = self.difference(&n_zeros, &d_zeros, n_zeros.len() + 1);
        (m, exponent)
    }

    /// 2^254 / d for d ≥ 2^127.
    fn reciprocal(&mut self, d: &Word) -> Word {
        let divisor = self.copy(&above(d, 64).then(&[Bit::ZERO]));
        self.increment_if(Bit::ONE, &divisor);
        // The quotient of 2^128 - 1 has 66 bits, as the divisor is 2^63 at least.
        let (estimate, _) = self.divide(&Word::constant(u128::MAX, 62), &Word::constant(u128::MAX, 66), &divisor);
        let estimate = estimate.shifted_left(62);
        let product = self.high(d, &estimate, 128);
        let defect = self.difference(&Word::constant(1 << 126, 128), &product, 128);
        let correction = self.high(&estimate, &defect.shifted_left(2)[..128], 128);
        self.sum(&estimate, &correction, 128)
    }
}
