//! Floating point as IEEE 754 has it: round to nearest, ties to even, with subnormal numbers and signed zeros. Infinities and NaN are traps,
//! as operands and as results.

use super::Outcome;
use super::arithmetic::{bits_for, part};
use crate::circuit::Builder;
use crate::circuit::{Bit, Word};

/// A binary floating-point format: a sign, an exponent, a mantissa without its leading bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Float {
    /// Bits of the exponent, at least 2.
    pub exponent: usize,
    /// Bits of the mantissa that are stored, at least 1.
    pub mantissa: usize,
}

impl Float {
    /// Bits of a word.
    pub const fn width(self) -> usize {
        1 + self.exponent + self.mantissa
    }

    /// What is added to exponents.
    pub(in crate::kernels) const fn bias(self) -> i64 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The exponent of the last place of subnormal numbers.
    pub(in crate::kernels) const fn least(self) -> i64 {
        1 - self.bias() - self.mantissa as i64
    }
}

/// A number taken apart: ±significand · 2^(exponent − 1 + least).
pub(in crate::kernels) struct Parts {
    pub(in crate::kernels) negative: Bit,
    /// The exponent's field, but 1 for a subnormal number.
    pub(in crate::kernels) exponent: Word,
    pub(in crate::kernels) significand: Word,
    /// Infinite or NaN.
    pub(in crate::kernels) special: Bit,
}

/// A signed constant in as few bits as will do.
pub(in crate::kernels) fn integer(n: i64) -> Word {
    let bits = 65 - if n < 0 { n.leading_ones() } else { n.leading_zeros() } as usize;
    Word::constant(i128::from(n) as u128, bits)
}

impl Builder {
    /// Takes a word apart.
    pub(in crate::kernels) fn unpack(&mut self, t: Float, a: &[Bit]) -> Parts {
        let field = part(a, t.mantissa..t.mantissa + t.exponent);
        let normal = self.any(&field);
        let special = self.all(&field);
        let exponent = self.copy(&field);
        self.cnot(normal, exponent[0]);
        self.not(exponent[0]);
        let significand = part(a, 0..t.mantissa).then(&[normal]);
        Parts { negative: a[t.mantissa + t.exponent], exponent, significand, special }
    }

    /// The low bits of the sum of signed words that is as long as it can be.
    fn grown(&mut self, x: &[Bit], z: &[Bit]) -> Word {
        self.sum_signed(x, z, x.len().max(z.len()) + 1)
    }

    /// The difference of signed words.
    fn shrunk(&mut self, x: &[Bit], z: &[Bit]) -> Word {
        self.difference_signed(x, z, x.len().max(z.len()) + 1)
    }

    /// The number nearest to ±x · 2^exponent, ties to even, for a signed exponent; +0 or −0 for x = 0. The fault: it is beyond the greatest.
    pub(in crate::kernels) fn round_float(&mut self, t: Float, negative: Bit, x: &[Bit], exponent: &[Bit]) -> Outcome {
        // Shorter, there would be nothing to round off.
        let padding = (t.mantissa + 2).saturating_sub(x.len());
        let x = Word::from(x).shifted_left(padding);
        let n = x.len();
        let (x, up) = self.normalize(&x);
        // The field of the exponent, if the number is normal, less 1: the leading bit adds that again.
        let bias = integer(n as i64 - 1 - padding as i64 + t.bias() - 1);
        let lowest = self.grown(exponent, &bias);
        let base = self.shrunk(&lowest, &up.then(&[Bit::ZERO]));
        let subnormal = base.sign();
        let deficit = self.complement_of(&base[..base.len() - 1]);
        self.increment_if(Bit::ONE, &deficit);
        // At mantissa + 2 places down, nothing is left.
        let down = self.saturated(&deficit, bits_for(t.mantissa + 2));
        let down = self.mask(subnormal, &down);
        let shifted = self.shift_right(&x, &down);
        let magnitude = self.nearest_even(&shifted, n - t.mantissa - 1 + (1 << down.len()) - 1);
        // The top bit of zero is clear: nothing is added then, nor to a subnormal number.
        let normal = self.without(x[n - 1], subnormal);
        let field = self.mask(normal, &base[..base.len() - 1]);
        let room = self.word(field.len().max(t.exponent) - 1);
        let word = magnitude.then(&room);
        self.add(&field, &word[t.mantissa..]);
        let (field, beyond) = word[t.mantissa..].split_at(t.exponent);
        let faults = vec![self.all(field), self.any(beyond)];
        Outcome { word: part(&word, 0..t.mantissa + t.exponent).then(&[negative]), faults }
    }
}

/// The exponent of a significand's last place.
fn place(b: &mut Builder, t: Float, exponent: &[Bit], more: i64) -> Word {
    b.grown(&Word::from(exponent).then(&[Bit::ZERO]), &integer(t.least() - 1 + more))
}

/// The sum of ±x · 2^exponent and ±z · 2^(exponent - distance), x the greater in magnitude, as a number to be rounded at some place of x or
/// above: what of z is more than three places below x is only told from zero.
fn aligned_sum(b: &mut Builder, signs: [Bit; 2], x: &[Bit], z: &[Bit], distance: &[Bit]) -> (Bit, Word) {
    let n = x.len();
    let amount = b.saturated(distance, bits_for(n + 3));
    let shifted = b.shift_right(&Word::from(z).shifted_left(3), &amount);
    let (below, whole) = shifted.split_at((1 << amount.len()) - 1);
    let rest = b.any(below);
    let lowest = b.either(whole[0], rest);
    let z = Word::from(lowest).then(&whole[1..]);
    let sum = b.copy(&Word::from(x).shifted_left(3).unsigned(n + 4));
    let subtract = b.differ(signs[0], signs[1]);
    b.add_or_subtract(subtract, &z, &sum);
    // A sum of zero is negative only if both terms are.
    let zero = b.is_zero(&sum);
    let plus_zero = b.without(zero, signs[1]);
    (b.without(signs[0], plus_zero), sum)
}

/// x + z.
pub(in crate::kernels) fn add(b: &mut Builder, t: Float, x: &Word, z: &Word) -> Outcome {
    let magnitude = t.width() - 1;
    let exchange = b.less(&x[..magnitude], &z[..magnitude]);
    let (greater, less) = (b.select(exchange, z, x), b.select(exchange, x, z));
    let (greater, less) = (b.unpack(t, &greater), b.unpack(t, &less));
    let distance = b.difference(&greater.exponent, &less.exponent, t.exponent);
    let signs = [greater.negative, less.negative];
    let (negative, sum) = aligned_sum(b, signs, &greater.significand, &less.significand, &distance);
    let exponent = place(b, t, &greater.exponent, -3);
    // What is not finite is the greater.
    b.round_float(t, negative, &sum, &exponent).or(greater.special)
}

/// x · z.
pub(in crate::kernels) fn multiply(b: &mut Builder, t: Float, x: &Word, z: &Word) -> Outcome {
    let (x, z) = (b.unpack(t, x), b.unpack(t, z));
    let product = b.mul(&x.significand, &z.significand);
    let exponent = b.sum(&x.exponent, &z.exponent, t.exponent + 1);
    let exponent = place(b, t, &exponent, t.least() - 1);
    let negative = b.differ(x.negative, z.negative);
    b.round_float(t, negative, &product, &exponent).or(x.special).or(z.special)
}

/// x / z. Division by zero is a trap.
pub(in crate::kernels) fn divide(b: &mut Builder, t: Float, x: &Word, z: &Word) -> Outcome {
    let (x, z) = (b.unpack(t, x), b.unpack(t, z));
    let zero = b.is_zero(&z.significand);
    let ((n, n_up), (d, d_up)) = (b.normalize(&x.significand), b.normalize(&z.significand));
    let low = Word::from(n[0]).shifted_left(t.mantissa + 2);
    let (quotient, remainder) = b.divide(&n[1..], &low, &d);
    let rest = b.any(&remainder);
    let n_exponent = b.shrunk(&x.exponent.then(&[Bit::ZERO]), &n_up.then(&[Bit::ZERO]));
    let d_exponent = b.shrunk(&z.exponent.then(&[Bit::ZERO]), &d_up.then(&[Bit::ZERO]));
    let exponent = b.shrunk(&n_exponent, &d_exponent);
    let exponent = b.grown(&exponent, &integer(-(t.mantissa as i64) - 3));
    let negative = b.differ(x.negative, z.negative);
    b.round_float(t, negative, &Word::from(rest).then(&quotient), &exponent).or(x.special).or(z.special).or(zero)
}

/// x · z + w, rounded once.
pub(in crate::kernels) fn multiply_add(b: &mut Builder, t: Float, x: &Word, z: &Word, w: &Word) -> Outcome {
    let (x, z, w) = (b.unpack(t, x), b.unpack(t, z), b.unpack(t, w));
    let special = b.any(&[x.special, z.special, w.special]);
    let product = b.mul(&x.significand, &z.significand);
    let n = product.len();
    let exponent = b.sum(&x.exponent, &z.exponent, t.exponent + 1);
    let exponent = place(b, t, &exponent, t.least() - 1);
    let sign = b.differ(x.negative, z.negative);
    // Both normalized to the length of the product, with a signed exponent: then they are in the order of the exponent and the significand, but
    // for zero, which gets the least exponent of all.
    let padding = n - w.significand.len();
    let w_exponent = place(b, t, &w.exponent, -(padding as i64));
    let bits = exponent.len().max(w_exponent.len()) + 2;
    let mut term = |x: &[Bit], exponent: &Word| {
        let (x, up) = b.normalize(x);
        let exponent = b.difference_signed(exponent, &up.then(&[Bit::ZERO]), bits - 1);
        let least = integer(-(1 << (bits - 1))).signed(bits);
        let exponent = b.select(x[n - 1], &exponent.signed(bits), &least);
        (x, exponent)
    };
    let (product, product_exponent) = term(&product, &exponent);
    let (addend, addend_exponent) = term(&w.significand.shifted_left(padding), &w_exponent);
    // In offset binary, signed exponents are in the order of unsigned numbers.
    let mut key = |x: &Word, exponent: &Word| {
        let top = b.inverse_of(exponent.sign());
        x.then(&exponent[..bits - 1]).then(&[top])
    };
    let (product, addend) =
        (key(&product, &product_exponent).then(&[sign]), key(&addend, &addend_exponent).then(&[w.negative]));
    let exchange = b.less(&product[..n + bits], &addend[..n + bits]);
    let (greater, less) = (b.select(exchange, &addend, &product), b.select(exchange, &product, &addend));
    let distance = b.difference(&greater[n..n + bits], &less[n..n + bits], bits);
    let signs = [greater[n + bits], less[n + bits]];
    let (negative, sum) = aligned_sum(b, signs, &greater[..n], &less[..n], &distance);
    let top = b.inverse_of(greater[n + bits - 1]);
    let exponent = part(&greater, n..n + bits - 1).then(&[top]);
    let exponent = b.grown(&exponent, &integer(-3));
    b.round_float(t, negative, &sum, &exponent).or(special)
}

/// The square root; that of −0 is −0, of another negative number a trap.
pub(in crate::kernels) fn square_root(b: &mut Builder, t: Float, x: &Word) -> Outcome {
    let x = b.unpack(t, x);
    let nonzero = b.any(&x.significand);
    let domain = b.and(x.negative, nonzero);
    let (y, up) = b.normalize(&x.significand);
    // As y · 2^padding · 2^even, with a root of two places more than the mantissa has.
    let padding = t.mantissa + 4;
    let exponent = place(b, t, &x.exponent, -(padding as i64));
    let exponent = b.shrunk(&exponent, &up.then(&[Bit::ZERO]));
    let square = b.copy(&y.shifted_left(padding).unsigned(y.len() + padding + 1));
    b.move_up_if(exponent[0], 1, &square);
    let (root, remainder) = b.square_root(&square);
    let rest = b.any(&remainder);
    let exponent = b.shrunk(&exponent[1..], &integer(1));
    b.round_float(t, x.negative, &Word::from(rest).then(&root), &exponent).or(x.special).or(domain)
}
