//! Roots and powers of fixed-point numbers.

use crate::num::elementary::Fixed;

use super::Outcome;
use super::arithmetic::{above, part};
use super::float::integer;
use crate::circuit::Builder;
use crate::circuit::{Bit, Word};

/// The integer nearest to the root, which is never a tie.
pub(in crate::kernels) fn nearest_root(b: &mut Builder, n: &[Bit]) -> Word {
    let (root, remainder) = b.square_root(n);
    let up = b.less(&root, &remainder);
    let rounded = b.copy(&root.then(&[Bit::ZERO]));
    b.increment_if(up, &rounded);
    rounded
}

/// Square root.
pub(in crate::kernels) fn sqrt(b: &mut Builder, t: Fixed, a: &Word) -> Outcome {
    let root = nearest_root(b, &Word::from(&a[..a.len() - 1]).shifted_left(t.frac as usize));
    Outcome::infallible(root.unsigned(t.width as usize)).or(a.sign())
}

/// sqrt(a² + c²).
pub(in crate::kernels) fn hypot(b: &mut Builder, t: Fixed, a: &Word, c: &Word) -> Outcome {
    let (a, c) = (b.magnitude(a), b.magnitude(c));
    let sum = b.times(&a, &a);
    let square = b.times(&c, &c);
    b.add(&square, &sum);
    let root = nearest_root(b, &sum);
    Outcome::of(b.fit_magnitude(Bit::ZERO, &root, t.width as usize))
}

/// ±|a|^c; c in units of 2^-exponent_frac.
fn power(b: &mut Builder, t: Fixed, negative: Bit, a: &Word, c: &Word, exponent_frac: usize) -> (Word, Bit) {
    let width = t.width as usize;
    let magnitude = b.magnitude(a);
    let (m, up) = b.normalize(&magnitude);
    let exponent = b.difference_signed(&integer(i64::from(t.width) - 1 - i64::from(t.frac)), &up.then(&[Bit::ZERO]), 8);
    let fraction = b.log2(&m.shifted_left(128 - width));
    // The logarithm as ±(whole + part), part in units of 2^-127 and at most 1.
    let below_one = exponent.sign();
    let whole = b.copy(&exponent[..7]);
    b.complement_if(below_one, &whole);
    let part_below = b.difference(&Word::constant(1 << 127, 128), &fraction, 128);
    let part_of_log = b.select(below_one, &part_below, &fraction);
    let result_below_one = b.differ(below_one, c.sign());
    let c = b.magnitude(c);
    let units = b.times(&c, &whole);
    let product = b.times(&c, &part_of_log);
    // Beyond 64 in magnitude, in the parts or in the sum.
    let great = b.any(&units[(exponent_frac + 6).min(units.len())..]);
    let great_part = b.any(&product[(127 + exponent_frac + 6).min(product.len())..]);
    let great = b.either(great, great_part);
    // The result's logarithm in units of 2^-120.
    let units = if exponent_frac <= 120 { units.shifted_left(120 - exponent_frac) } else { units };
    let y = b.sum(&units.unsigned(128), &above(&product, 7 + exponent_frac).unsigned(128), 128);
    b.negate_if(result_below_one, &y);
    let m = b.exp2(&part(&y, 0..120).shifted_left(8));
    // To the right by 127 − frac − exponent, for an exponent of 8 bits: 127 − exponent after frac places to the left.
    let amount = b.copy(&y[120..]);
    b.complement(&amount[..7]);
    let rounded = b.shift_nearest(&m.shifted_left(t.frac as usize), &amount);
    let (word, beyond) = b.fit_magnitude(negative, &rounded, width);
    let inside = b.inverse_of(great);
    let above = b.without(great, result_below_one);
    let beyond = b.and(beyond, inside);
    (b.mask(inside, &word), b.either(beyond, above))
}

/// The value of a power whose base may be zero.
fn or_power_of_zero(b: &mut Builder, t: Fixed, a: &Word, c: &Word, (word, beyond): (Word, Bit)) -> Outcome {
    let width = t.width as usize;
    let (zero, no_exponent) = (b.is_zero(a), b.is_zero(c));
    let one = b.mask(no_exponent, &Word::constant(1 << t.frac, width));
    let word = b.select(zero, &one, &word);
    let beyond = b.without(beyond, zero);
    let by_zero = b.and(zero, c.sign());
    Outcome::infallible(word).or(beyond).or(by_zero)
}

/// a^c. For a negative a, c must be whole. 0^0 is 1.
pub(in crate::kernels) fn pow(b: &mut Builder, t: Fixed, a: &Word, c: &Word) -> Outcome {
    let frac = t.frac as usize;
    let negative = b.and(a.sign(), c[frac]);
    let power = power(b, t, negative, a, c, frac);
    let fraction = b.any(&c[..frac]);
    let domain = b.and(a.sign(), fraction);
    or_power_of_zero(b, t, a, c, power).or(domain)
}

/// a^n for an integer n. 0^0 is 1.
pub(in crate::kernels) fn powi(b: &mut Builder, t: Fixed, a: &Word, n: &Word) -> Outcome {
    let negative = b.and(a.sign(), n[0]);
    let power = power(b, t, negative, a, n, 0);
    or_power_of_zero(b, t, a, n, power)
}
