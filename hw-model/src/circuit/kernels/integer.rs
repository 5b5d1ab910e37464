//! Circuits of integers: unsigned division, powers.

use super::Outcome;
use crate::circuit::builder::Builder;
use crate::circuit::word::Word;

/// Quotient or remainder of unsigned integers. Fails if the divisor is zero.
pub(super) fn divided(b: &mut Builder, x: &Word, divisor: &Word, remainder: bool) -> Outcome {
    let zero = b.is_zero(divisor);
    let (quotient, rest) = b.div_rem(x, divisor);
    Outcome::infallible(if remainder { rest } else { quotient }).or(zero)
}

/// x to the power of an unsigned integer, modulo a power of two: squares, of which those are multiplied whose bit of the exponent is set.
pub(super) fn power(b: &mut Builder, x: &Word, exponent: &Word) -> Outcome {
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
