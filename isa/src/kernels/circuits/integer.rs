//! Circuits of integers: division, powers.

use super::Outcome;
use crate::circuit::{Bit, Builder, Word};

/// Quotient or remainder of unsigned integers. Fails if the divisor is zero.
pub(in crate::kernels) fn divided(b: &mut Builder, x: &Word, divisor: &Word, remainder: bool) -> Outcome {
    let zero = b.is_zero(divisor);
    let (quotient, rest) = b.div_rem(x, divisor);
    Outcome::infallible(if remainder { rest } else { quotient }).or(zero)
}

/// x to the power of an unsigned integer, modulo a power of two: squares, of which those are multiplied whose bit of the exponent is set.
pub(in crate::kernels) fn power(b: &mut Builder, x: &Word, exponent: &Word) -> Outcome {
    let width = x.len();
    let mut square = x.clone();
    let mut power = Word::constant(1, width);
    for k in 0..width {
        let product = b.word(width);
        b.multiply_add(&power, &square, &product);
        power = b.select(exponent[k], &product, &power);
        if k + 1 < width {
            let next = b.word(width);
            b.multiply_add(&square, &square, &next);
            square = next;
        }
    }
    Outcome::infallible(power)
}

/// The quotient, rounded toward zero.
pub(in crate::kernels) fn quotient(b: &mut Builder, a: &Word, d: &Word) -> Outcome {
    divided_signed(b, a, d, |b, d| {
        b.negate_if(d.signs_differ, &d.quotient);
        d.quotient
    })
}

/// The remainder with the sign of the dividend.
pub(in crate::kernels) fn remainder(b: &mut Builder, a: &Word, d: &Word) -> Outcome {
    divided_signed(b, a, d, |b, d| {
        b.negate_if(a.sign(), &d.remainder);
        d.remainder
    })
}

/// The quotient, rounded down.
pub(in crate::kernels) fn quotient_down(b: &mut Builder, a: &Word, d: &Word) -> Outcome {
    divided_signed(b, a, d, round_down)
}

/// The remainder with the sign of the divisor.
pub(in crate::kernels) fn modulo(b: &mut Builder, a: &Word, d: &Word) -> Outcome {
    divided_signed(b, a, d, |b, division| with_divisor_sign(b, division, d.sign()))
}

/// A division of magnitudes.
struct Division {
    quotient: Word,
    remainder: Word,
    divisor: Word,
    signs_differ: Bit,
}

/// Divides the magnitudes. `finish` gives the result its sign.
fn divided_signed(b: &mut Builder, a: &Word, d: &Word, finish: impl FnOnce(&mut Builder, Division) -> Word) -> Outcome {
    let zero = b.is_zero(d);
    let signs_differ = b.bit();
    b.cnot(a.sign(), signs_differ);
    b.cnot(d.sign(), signs_differ);
    let (dividend, divisor) = (b.magnitude(a), b.magnitude(d));
    let zeros = b.word(divisor.len());
    let (quotient, remainder) = b.divide_in_place(&dividend, &zeros, &divisor);
    let word = finish(b, Division { quotient, remainder, divisor, signs_differ });
    Outcome::infallible(word).or(zero)
}

/// The quotient rounded down: where the signs differ, −q if the division is exact, else −q − 1 = ¬q.
fn round_down(b: &mut Builder, d: Division) -> Word {
    let exact = b.is_zero(&d.remainder);
    let up = b.and(exact, d.signs_differ);
    b.complement_if(d.signs_differ, &d.quotient);
    b.increment_if(up, &d.quotient);
    d.quotient
}

/// The remainder with the sign of the divisor b: if the signs differ and r is not zero, |b| − r = ¬r + |b| + 1.
fn with_divisor_sign(b: &mut Builder, d: Division, divisor_sign: Bit) -> Word {
    let inexact = b.any(&d.remainder);
    let other = b.and(inexact, d.signs_differ);
    b.complement_if(other, &d.remainder);
    let divisor = b.mask(other, &d.divisor);
    b.add_carry(&divisor, &d.remainder, other, None);
    b.negate_if(divisor_sign, &d.remainder);
    d.remainder
}
