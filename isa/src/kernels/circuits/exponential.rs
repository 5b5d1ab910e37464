//! e^x and the hyperbolic functions.

use crate::num::elementary::Fixed;

use super::Outcome;
use super::arithmetic::{above, part};
use super::tables::{self, LN_2, LOG2_E};
use crate::circuit::Builder;
use crate::circuit::{Bit, Word};

/// Fraction bits of the argument of [`power_of_e`].
pub(in crate::kernels) const ARGUMENT_FRAC: usize = 57;

/// e^x as m · 2^(exponent − 126): m of 128 bits, a signed exponent; x signed, in units of 2^-57.
pub(in crate::kernels) fn power_of_e(b: &mut Builder, x: &Word) -> (Word, Word) {
    let third = u128::from(u64::MAX / 3);
    let twelfth = u128::from(u64::MAX / 12);
    // log2(e^x) in units of 2^-119.
    let high = b.times_signed(x, &Word::constant(LOG2_E >> 65, 63));
    let low = b.times_signed(x, &Word::constant((LOG2_E >> 2) & u128::from(u64::MAX >> 1), 63));
    let y = b.sum_signed(&high, &above(&low, 63), x.len() + 63);
    let coarse = b.entry(&y[111..119], &tables::powers_of_two(256, 120), 128);
    let fine = b.entry(&y[103..111], &tables::powers_of_two(256, 112), 128);
    // The rest of y times ln 2, in units of 2^-80; squares in units of 2^-96.
    let z = b.high(&y[39..103], &Word::constant(LN_2 >> 64, 64), 64);
    let square = b.high(&z, &z, 64);
    let first = b.high(&z, &Word::constant(third, 64), 64);
    let second = b.high(&square, &Word::constant(twelfth, 64), 64);
    let w = b.sum(&first, &above(&second, 16), 64);
    let product = b.high(&square, &w, 64);
    let half = b.sum(&square, &above(&product, 16), 64);
    let p = b.sum(&z, &above(&half, 17), 64);
    // In units of 2^-126.
    let base = b.high(&coarse, &fine, 128);
    let more = b.high(&base[64..], &p, 16);
    let m = b.sum(&base, &more, 128);
    (m, above(&y, 119))
}

/// The argument within ±64 in units of 2^-57, and whether it is without.
fn argument(b: &mut Builder, t: Fixed, a: &Word) -> (Word, Bit) {
    let frac = t.frac as usize;
    let (inside, outside) = b.fit(a, frac + 7);
    (inside.shifted_left(ARGUMENT_FRAC - frac), outside)
}

/// The word nearest to ±m · 2^(exponent − down), for an exponent of 8 bits.
fn encode(b: &mut Builder, t: Fixed, negative: Bit, m: &Word, exponent: &Word, down: usize) -> (Word, Bit) {
    // To the right by down − exponent − frac, that is, by 127 − exponent, after what is missing to the left.
    let padding = 127 + t.frac as usize - down;
    let amount = exponent_complement(b, exponent);
    let rounded = b.shift_nearest(&m.shifted_left(padding), &amount);
    b.fit_magnitude(negative, &rounded, t.width as usize)
}

/// 127 − exponent for a signed exponent of 8 bits.
fn exponent_complement(b: &mut Builder, exponent: &Word) -> Word {
    let amount = b.copy(exponent);
    b.complement(&amount[..7]);
    amount
}

/// e^a.
pub(in crate::kernels) fn exp(b: &mut Builder, t: Fixed, a: &Word) -> Outcome {
    let (x, outside) = argument(b, t, a);
    let (m, exponent) = power_of_e(b, &x);
    let (word, beyond) = encode(b, t, Bit::ZERO, &m, &exponent.signed(8), 126);
    let below = b.and(outside, a.sign());
    let beyond = b.without(beyond, outside);
    let above = b.without(outside, a.sign());
    let inside = b.inverse_of(below);
    Outcome::of((b.mask(inside, &word), beyond)).or(above)
}

/// −x for an x with so many zeros at its end.
fn negative(b: &mut Builder, x: &Word, zeros: usize) -> Word {
    b.negated_if(Bit::ONE, &x[zeros..]).shifted_left(zeros)
}

/// e^|a| and e^−|a|, both in units of 2^(exponent − 126); the exponent; whether |a| is too great.
fn both_powers(b: &mut Builder, t: Fixed, a: &Word) -> (Word, Word, Word, Bit) {
    let magnitude = b.magnitude(a).then(&[Bit::ZERO]);
    let (x, outside) = argument(b, t, &magnitude);
    let (great, exponent) = power_of_e(b, &x);
    let minus = negative(b, &x, ARGUMENT_FRAC - t.frac as usize);
    let (small, small_exponent) = power_of_e(b, &minus);
    let down = b.difference(&exponent.signed(8), &small_exponent.signed(8), 8);
    let small = part(&b.shift_right(&small, &down), 255..255 + 128);
    (great, small, exponent.signed(8), outside)
}

/// Hyperbolic sine.
pub(in crate::kernels) fn sinh(b: &mut Builder, t: Fixed, a: &Word) -> Outcome {
    let (great, small, exponent, outside) = both_powers(b, t, a);
    let m = saturating_difference(b, &great, &small);
    Outcome::of(encode(b, t, a.sign(), &m, &exponent, 127)).or(outside)
}

/// x − z, or zero if that is less.
fn saturating_difference(b: &mut Builder, x: &[Bit], z: &[Bit]) -> Word {
    let n = x.len().max(z.len());
    let difference = b.difference(x, z, n + 1);
    let fits = b.inverse_of(difference.sign());
    b.mask(fits, &difference[..n])
}

/// Hyperbolic cosine.
pub(in crate::kernels) fn cosh(b: &mut Builder, t: Fixed, a: &Word) -> Outcome {
    let (great, small, exponent, outside) = both_powers(b, t, a);
    let m = b.sum(&great, &small, 128);
    Outcome::of(encode(b, t, Bit::ZERO, &m, &exponent, 127)).or(outside)
}

/// Hyperbolic tangent: (1 − e^−2x) / (1 + e^−2x) for x = |a|.
pub(in crate::kernels) fn tanh(b: &mut Builder, t: Fixed, a: &Word) -> Outcome {
    let (width, frac) = (t.width as usize, t.frac as usize);
    let magnitude = b.magnitude(a);
    let (low, high) = magnitude.split_at((frac + 5).min(width));
    let outside = b.any(high);
    let twice = Word::from(low).unsigned(frac + 5).shifted_left(1 + ARGUMENT_FRAC - frac);
    let x = negative(b, &twice.unsigned(ARGUMENT_FRAC + 7), 1 + ARGUMENT_FRAC - frac);
    let (m, exponent) = power_of_e(b, &x);
    // In units of 2^-63: to the right by 63 − exponent = 127 − exponent after 64 places to the left.
    let amount = exponent_complement(b, &exponent.signed(8));
    let power = part(&b.shift_right(&m.shifted_left(64), &amount), 255..255 + 128 + 64);
    let one = Word::constant(1 << 63, 64);
    let n = saturating_difference(b, &one, &power[..66]);
    let d = b.sum(&one, &power, 65);
    let (ratio, _) = b.divide(&n[1..65], &Word::from(n[0]).shifted_left(64), &d);
    let rounded = b.nearest_even(&ratio, 64 - frac).unsigned(width);
    let rounded = b.select(outside, &Word::constant(1 << frac, width), &rounded);
    Outcome::infallible(b.negated_if(a.sign(), &rounded))
}
