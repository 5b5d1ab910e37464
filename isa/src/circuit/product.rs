//! Products: rows of masked additions, as in schoolbook multiplication.

use super::builder::Builder;
use super::word::{Bit, Word};

impl Builder {
    /// `y += x · z` modulo a power of two, in place: for each bit of z, a controlled addition of x to the bits of y
    /// from that place on. Of W wires each: 2W² Toffoli, 2W² CNOT, W + 1 ancillas.
    pub fn multiply_add(&mut self, x: &[Bit], z: &[Bit], y: &[Bit]) {
        for (i, &z) in z.iter().enumerate().take(y.len()) {
            self.add_if(z, x, &y[i..]);
        }
    }

    /// x · z, unsigned, with as many bits as both factors together, as a value without garbage. Of n and m wires: 4nm
    /// Toffoli, (4n + 1)m CNOT, n + 1 ancillas beside the result. A constant factor needs additions only for its ones.
    pub fn mul(&mut self, x: &[Bit], z: &[Bit]) -> Word {
        self.product(x, false, z, false)
    }

    /// As [`Builder::mul`], for signed words, with the same number of Toffoli and CNOT gates.
    pub fn mul_signed(&mut self, x: &[Bit], z: &[Bit]) -> Word {
        self.product(x, true, z, true)
    }

    /// As [`Builder::mul_signed`], for a signed and an unsigned word.
    pub fn mul_signed_unsigned(&mut self, signed: &[Bit], unsigned: &[Bit]) -> Word {
        self.product(signed, true, unsigned, false)
    }

    /// The product, with a row for each bit of z.
    ///
    /// Signed sums are formed in offset binary, with the sign complemented. Then the carry out of an unsigned adder is
    /// the sign of the longer sum, and the signs of both factors cost only NOT gates. The row of z's sign is
    /// subtracted.
    fn product(&mut self, x: &[Bit], x_signed: bool, z: &[Bit], z_signed: bool) -> Word {
        let constant = |w: &[Bit]| w.iter().all(|b| b.wire().is_none());
        if constant(x) && !constant(z) {
            return self.product(z, z_signed, x, x_signed);
        }
        let (n, m) = (x.len(), z.len());
        if n == 0 || m == 0 {
            return self.word(n + m);
        }
        if z_signed && !x_signed {
            // As a signed word x is one bit longer, and the product has its sign twice.
            let y = self.product(&Word::from(x).unsigned(n + 1), true, z, true);
            self.cnot(y[n + m - 1], y[n + m]);
            self.release(&y[n + m..]);
            return Word::from(&y[..n + m]);
        }
        let y = self.word(n + m);
        if x_signed {
            self.not(y[n - 1]);
        }
        for (i, &bit) in z.iter().enumerate() {
            let (sum, carry) = (&y[i..i + n], y[i + n]);
            match (bit, x_signed) {
                (Bit::Const(false), false) => {}
                // Adds the offset of a sum that is one bit longer.
                (Bit::Const(false), true) => {
                    self.cnot(sum[n - 1], carry);
                    self.not(sum[n - 1]);
                }
                (bit, _) => {
                    let subtract = z_signed && i + 1 == m;
                    self.with(
                        |b| b.row(bit, x, x_signed, subtract),
                        |b, (row, first)| b.add_carry(row, sum, *first, Some(carry)),
                    );
                }
            }
        }
        if x_signed {
            self.not(y[n + m - 1]);
        }
        y
    }

    /// The term of a row: the masked word, in offset binary if it is signed; its complement and a carry if it is
    /// subtracted.
    fn row(&mut self, bit: Bit, x: &[Bit], signed: bool, subtract: bool) -> (Word, Bit) {
        let masked = if bit == Bit::ONE { self.copy(x) } else { self.mask(bit, x) };
        let complement = |(i, x): (usize, &Bit)| match (subtract != (signed && i + 1 == masked.len()), x) {
            (false, x) => *x,
            (true, Bit::Const(k)) => Bit::Const(!k),
            (true, x) => {
                self.not(*x);
                *x
            }
        };
        let row = masked.iter().enumerate().map(complement).collect();
        let first = if subtract { self.bit() } else { Bit::ZERO };
        if subtract {
            self.not(first);
        }
        (row, first)
    }
}
