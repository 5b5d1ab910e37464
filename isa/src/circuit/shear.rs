//! Shears of the plane.

use super::builder::Builder;
use super::word::{Bit, Word};

impl Builder {
    /// `y += ±c·x / 2^n` for a signed x and an unsigned coefficient c of n bits, with minus if `negative`. The product
    /// is rounded to the nearest integer, ties up. This is a shear of the plane, which the inverse code undoes in spite
    /// of the rounding.
    ///
    /// # Panics
    /// If the coefficient has no bits.
    pub fn shear(&mut self, negative: Bit, c: &[Bit], x: &[Bit], y: &[Bit]) {
        self.with(
            |b| {
                let product = b.mul_signed_unsigned(x, c);
                let (low, high) = product.split_at(c.len());
                let (&half, below) = low.split_last().expect("a coefficient has bits");
                // The negative of a tie is rounded up, too: there half a unit is not added to the magnitude.
                let plus = b.inverse_of(negative);
                let more = b.any(&Word::from(below).then(&[plus]));
                let up = b.and(half, more);
                (Word::from(high).signed(y.len()), up)
            },
            |b, (whole, up)| {
                b.complement_if(negative, y);
                b.add_carry(whole, y, *up, None);
                b.complement_if(negative, y);
            },
        );
    }
}
