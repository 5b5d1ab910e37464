//! Fixed-point products and quotients, and the shears of rotations.

use super::Value;
use crate::circuit::word::Bit;
use crate::circuit::{Builder, Role, Word};

/// a · b, rounded down and wrapped. 4W² Toffoli, 4W² + W CNOT, and the same again to undo it.
pub(super) fn product(b: &mut Builder, a: &Word, c: &Word, frac: usize) -> Word {
    let product = b.mul_signed(a, c);
    Word::from(&product[frac..frac + a.len()])
}

/// a / d, rounded toward zero.
pub(super) fn quotient(b: &mut Builder, a: &Word, d: &Word, frac: usize) -> Value {
    let dividend = b.magnitude(a);
    rounded(b, &dividend.shifted_left(frac), a.sign(), d)
}

/// 1 / a, rounded toward zero.
pub(super) fn inverse(b: &mut Builder, a: &Word, frac: usize) -> Value {
    rounded(b, &Word::constant(1, 1).shifted_left(2 * frac), Bit::ZERO, a)
}

/// ±magnitude / d, rounded toward zero, with as many bits as d.
fn rounded(b: &mut Builder, magnitude: &Word, sign: Bit, d: &Word) -> Value {
    let width = d.len();
    let zero = b.is_zero(d);
    let negative = b.bit();
    b.cnot(sign, negative);
    b.cnot(d.sign(), negative);
    let divisor = b.magnitude(d);
    let (quotient, _) = b.div_rem(magnitude, &divisor);
    let quotient = quotient.unsigned(width.max(quotient.len()));
    let (word, above) = quotient.split_at(width);
    let (word, above) = (Word::from(word), Word::from(above));
    // Too large: a bit above the word is 1, or its sign, unless it is the least word.
    let least = b.is_zero(&word[..width - 1]);
    let least = b.and(least, negative);
    let most = b.inverse_of(least);
    let top = b.and(word.sign(), most);
    let range = b.any(&above.then(&[top]));
    let result = b.copy(&word);
    b.negate_if(negative, &result);
    Value { word: result, traps: vec![("trap_zero_divisor", zero), ("trap_range", range)] }
}

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

/// A rotation from its coefficients: (x, y) is rotated by a number of quarter turns (a → −b, b → a), then x += p·y, y
/// += q·x, x += p·y, where p and q are magnitudes in units of 2^-width, each with a sign.
pub(super) fn shears(b: &mut Builder, width: usize) {
    let x = b.register("x", Role::Target, width);
    let y = b.register("y", Role::Target, width);
    let p = b.register("p", Role::Operand, width);
    let q = b.register("q", Role::Operand, width);
    let signs = b.register("signs", Role::Operand, 2);
    let quarters = b.register("quarters", Role::Operand, 2);
    b.swap_if(quarters[0], &x, &y);
    b.with(
        |b| {
            let one_or_two = b.copy(&quarters[1..]);
            b.cnot(quarters[0], one_or_two[0]);
            one_or_two[0]
        },
        |b, one_or_two| b.negate_if(*one_or_two, &x),
    );
    b.negate_if(quarters[1], &y);
    b.shear(signs[0], &p, &y, &x);
    b.shear(signs[1], &q, &x, &y);
    b.shear(signs[0], &p, &y, &x);
}
