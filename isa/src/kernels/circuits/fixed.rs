//! Quotients of fixed-point numbers.

use super::Outcome;
use crate::circuit::{Bit, Builder, Word};

/// a / d, rounded toward zero.
pub(in crate::kernels) fn quotient(b: &mut Builder, a: &Word, d: &Word, frac: usize) -> Outcome {
    let dividend = b.magnitude(a);
    rounded(b, &dividend.shifted_left(frac), a.sign(), d)
}

/// 1 / a, rounded toward zero.
pub(in crate::kernels) fn inverse(b: &mut Builder, a: &Word, frac: usize) -> Outcome {
    rounded(b, &Word::constant(1, 1).shifted_left(2 * frac), Bit::ZERO, a)
}

/// ±magnitude / d, rounded toward zero, with as many bits as d.
fn rounded(b: &mut Builder, magnitude: &Word, sign: Bit, d: &Word) -> Outcome {
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
    Outcome::infallible(result).or(zero).or(range)
}
