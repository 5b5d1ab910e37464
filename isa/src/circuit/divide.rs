//! Quotients and square roots by restoring recurrences, in place and without garbage.

use super::builder::Builder;
use super::word::{Bit, Word};

impl Builder {
    /// Divides in place, unsigned: `dividend` (n bits, wires) and as many zeros as the divisor d has bits become
    /// quotient (n bits) and remainder. The wires do not move; the return value says which ones hold the words. If d is
    /// zero the results are meaningless.
    ///
    /// In each step, d is subtracted from the remainder with a bit of the dividend appended; if the result is negative,
    /// d is added back. The sign bit remains as the complement of a bit of the quotient. For n and W bits: n(6W − 2)
    /// Toffoli.
    ///
    /// # Panics
    /// If the number of zeros is not that of the divisor's bits.
    pub fn divide_in_place(&mut self, dividend: &[Bit], zeros: &[Bit], divisor: &[Bit]) -> (Word, Word) {
        assert_eq!(zeros.len(), divisor.len(), "the remainder is as long as the divisor");
        let n = dividend.len();
        let mut remainder = Word::from(zeros);
        let mut quotient = Vec::with_capacity(n);
        for &bit in dividend.iter().rev() {
            let window = Word::from(bit).then(&remainder);
            let top = window.sign();
            self.subtract(divisor, &window);
            remainder = Word::from(&window[..divisor.len()]);
            self.add_if(top, divisor, &remainder);
            self.not(top);
            quotient.push(top);
        }
        (quotient.into_iter().rev().collect(), remainder)
    }

    /// The inverse of [`Builder::divide_in_place`]: quotient (n wires) and remainder (W wires, less than the divisor)
    /// become quotient · divisor + remainder and W zeros. Returns the wires of the product, and the zeros.
    ///
    /// # Panics
    /// If the remainder does not have as many bits as the divisor.
    pub fn multiply_in_place(&mut self, quotient: &[Bit], remainder: &[Bit], divisor: &[Bit]) -> (Word, Word) {
        assert_eq!(remainder.len(), divisor.len(), "the remainder is as long as the divisor");
        let mut remainder = Word::from(remainder);
        let mut dividend = Vec::with_capacity(quotient.len());
        for &top in quotient {
            let window = remainder.then(&[top]);
            self.not(top);
            self.subtract_if(top, divisor, &remainder);
            self.add(divisor, &window);
            dividend.push(window[0]);
            remainder = Word::from(&window[1..]);
        }
        (dividend.into_iter().collect(), remainder)
    }

    /// Quotient and remainder, unsigned, as values without garbage.
    pub fn div_rem(&mut self, dividend: &[Bit], divisor: &[Bit]) -> (Word, Word) {
        let copy = self.copy(dividend);
        let zeros = self.word(divisor.len());
        self.divide_in_place(&copy, &zeros, divisor)
    }

    /// The square root rounded down, and the remainder (a bit longer than the root), as values without garbage. The
    /// root has half as many bits as the argument, rounded up.
    ///
    /// For each bit of the root, from the top: 4·root + 1 is subtracted from the remainder with two bits of the
    /// argument appended, and added back if the difference is negative. The sign of the difference is the complement of
    /// the root's next bit.
    pub fn square_root(&mut self, x: &[Bit]) -> (Word, Word) {
        let half = x.len().div_ceil(2);
        let argument = self.word(2 * half);
        self.xor(x, &argument);
        let mut remainder = Word::from(self.bit());
        // The lowest bit first.
        let mut root = Word::default();
        for i in (0..half).rev() {
            let window = Word::from(&argument[2 * i..2 * i + 2]).then(&remainder);
            let less = Word::constant(1, 2).then(&root);
            let top = window.sign();
            self.subtract(&less, &window);
            remainder = Word::from(&window[..window.len() - 1]);
            self.add_if(top, &less, &remainder);
            self.not(top);
            root = Word::from(top).then(&root);
        }
        (root, remainder)
    }
}
