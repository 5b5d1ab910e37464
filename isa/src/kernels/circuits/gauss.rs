//! Logarithmic numbers: sums by Gaussian logarithms, powers, conversions.

use crate::num::elementary::Fixed;
use crate::num::gauss::Logarithmic;

use super::Outcome;
use super::arithmetic::{above, bits_for, part};
use super::float::{Float, integer};
use super::tables::LN_2;
use crate::circuit::Builder;
use crate::circuit::{Bit, Word};

/// A word taken apart.
struct Number {
    negative: Bit,
    /// Signed.
    logarithm: Word,
    zero: Bit,
    /// It is no number: zero's logarithm with a sign.
    bad: Bit,
}

fn unpack(b: &mut Builder, a: &Word) -> Number {
    let logarithm = Word::from(&a[..a.len() - 1]);
    let least = b.equal(&logarithm, &Word::constant(1 << (logarithm.len() - 1), logarithm.len()));
    Number { negative: a.sign(), zero: b.without(least, a.sign()), bad: b.and(least, a.sign()), logarithm }
}

/// The word of ±2^logarithm, and whether the logarithm is out of range, that of zero included.
fn pack(b: &mut Builder, t: Logarithmic, negative: Bit, logarithm: &Word) -> Outcome {
    let bits = t.width as usize - 1;
    let (word, beyond) = b.fit(logarithm, bits);
    let least = b.equal(&word, &Word::constant(1 << (bits - 1), bits));
    Outcome::infallible(word.then(&[negative])).or(beyond).or(least)
}

/// The outcome, or another word where a condition holds; that is no fault.
fn unless(b: &mut Builder, condition: Bit, word: &Word, outcome: Outcome) -> Outcome {
    let chosen = b.select(condition, word, &outcome.word);
    let fault = b.any(&outcome.faults);
    Outcome::infallible(chosen).or(b.without(fault, condition))
}

fn zero(t: Logarithmic) -> Word {
    Word::constant(1 << (t.width - 2), t.width as usize)
}

/// a + c, or a − c.
pub(in crate::kernels) fn sum(b: &mut Builder, t: Logarithmic, minus: bool, a: &Word, c: &Word) -> Outcome {
    let frac = t.frac as usize;
    let bits = t.width as usize - 1;
    let (x, z) = (unpack(b, a), unpack(b, c));
    let bad = b.either(x.bad, z.bad);
    // Zero has no other sign.
    let flip = if minus { b.inverse_of(z.zero) } else { Bit::ZERO };
    let z_negative = b.differ(z.negative, flip);
    let c = part(c, 0..bits).then(&[z_negative]);
    let exchange = b.less_signed(&x.logarithm, &z.logarithm);
    let greater = b.select(exchange, &z.logarithm, &x.logarithm);
    let less = b.select(exchange, &x.logarithm, &z.logarithm);
    let negative = b.select(exchange, &[z_negative], &[x.negative])[0];
    let apart = b.differ(x.negative, z_negative);
    // In magnitude it is 2^greater · (1 ± 2^-distance).
    let distance = b.difference_signed(&greater, &less, bits);
    let alike = b.is_zero(&distance);
    let whole = above(&distance, frac);
    let near = b.less(&whole, &Word::constant(frac as u128 + 2, whole.len().max(bits_for(frac + 2))));
    let fraction = b.copy(&distance[..frac]);
    b.negate(&fraction);
    let between = b.any(&fraction);
    let ratio = b.exp2(&fraction.shifted_left(128 - frac));
    let down = b.copy(&whole.unsigned(bits_for(frac + 2)));
    b.increment_if(between, &down);
    let ratio = part(&b.shift_right(&ratio, &down), (1 << down.len()) - 1..(1 << down.len()) + 127);
    // 1 ± 2^-distance in units of 2^-127, normalized.
    b.negate_if(apart, &ratio);
    let m = b.sum(&ratio, &Word::constant(1 << 127, 128), 128);
    let (m, zeros) = b.normalize(&m);
    let logarithm = b.log2(&m);
    let up = b.nearest_even(&logarithm, 127 - frac);
    let up = b.copy(&up.unsigned(frac + 2 + zeros.len()));
    b.subtract(&zeros, &up[frac..]);
    let up = b.mask(near, &up);
    // Of equal numbers, which log2 does not know: 1 more.
    let up = b.select_signed(alike, &Word::constant(1 << frac, frac + 2), &up);
    let logarithm = b.sum_signed(&greater, &up, bits.max(up.len()) + 1);
    let sum = pack(b, t, negative, &logarithm);
    let cancelled = b.and(alike, apart);
    let sum = unless(b, cancelled, &zero(t), sum);
    let sum = unless(b, z.zero, a, sum);
    unless(b, x.zero, &c, sum).or(bad)
}

/// a^p for a fixed-point p. a^0 is 1.
pub(in crate::kernels) fn pow(b: &mut Builder, t: Logarithmic, q: Fixed, a: &Word, p: &Word) -> Outcome {
    let frac = q.frac as usize;
    let x = unpack(b, a);
    let (logarithm, exponent) = (b.magnitude(&x.logarithm), b.magnitude(p));
    let product = b.times(&logarithm, &exponent);
    let rounded = b.nearest_even(&product, frac).then(&[Bit::ZERO]);
    let minus = b.differ(x.logarithm.sign(), p.sign());
    let rounded = b.negated_if(minus, &rounded);
    let odd = b.and(x.negative, p[frac]);
    let fraction = b.any(&p[..frac]);
    let domain = b.and(x.negative, fraction);
    let power = pack(b, t, odd, &rounded).or(domain);
    // Zero to a power is zero, or one: the word 0.
    let exponent_zero = b.is_zero(p);
    let positive = b.inverse_of(exponent_zero);
    let of_zero = b.mask(positive, &zero(t));
    let by_zero = b.and(x.zero, p.sign());
    unless(b, x.zero, &of_zero, power).or(by_zero).or(x.bad)
}

/// The natural logarithm of |a|, a fixed-point number.
pub(in crate::kernels) fn ln(b: &mut Builder, t: Logarithmic, q: Fixed, a: &Word) -> Outcome {
    let x = unpack(b, a);
    let magnitude = b.magnitude(&x.logarithm);
    // In units of 2^-(frac + 64).
    let product = b.high(&magnitude, &Word::constant(LN_2, 128), 64);
    let rounded = b.nearest_even(&product, (t.frac + 64 - q.frac) as usize).then(&[Bit::ZERO]);
    let signed = b.negated_if(x.logarithm.sign(), &rounded);
    Outcome::of(b.fit(&signed, q.width as usize)).or(x.zero).or(x.bad)
}

/// The logarithmic number nearest to ±m · 2^exponent, for a signed exponent.
fn encode(b: &mut Builder, t: Logarithmic, negative: Bit, m: &Word, exponent: &Word) -> Outcome {
    let frac = t.frac as usize;
    let none = b.is_zero(m);
    let (y, up) = b.normalize(m);
    let fraction = b.log2(&y.shifted_left(128 - y.len()));
    let fraction = b.nearest_even(&fraction, 127 - frac);
    let bits = exponent.len().max(8) + 2;
    let whole = b.sum_signed(exponent, &integer(m.len() as i64 - 1), bits);
    let whole = b.difference_signed(&whole, &up.then(&[Bit::ZERO]), bits);
    let logarithm = b.sum_signed(&whole.shifted_left(frac), &fraction.then(&[Bit::ZERO]), bits + frac);
    let number = pack(b, t, negative, &logarithm);
    unless(b, none, &zero(t), number)
}

/// The integer in units of 2^-frac as a logarithmic number.
pub(in crate::kernels) fn from_fixed(b: &mut Builder, t: Logarithmic, frac: u32, a: &Word) -> Outcome {
    let magnitude = b.magnitude(a);
    encode(b, t, a.sign(), &magnitude, &integer(-i64::from(frac)))
}

/// The floating-point number as a logarithmic number.
pub(in crate::kernels) fn from_float(b: &mut Builder, t: Logarithmic, f: Float, a: &Word) -> Outcome {
    let x = b.unpack(f, a);
    let exponent = x.exponent.then(&[Bit::ZERO]);
    let exponent = b.sum_signed(&exponent, &integer(f.least() - 1), f.exponent + 2);
    encode(b, t, x.negative, &x.significand, &exponent).or(x.special)
}

/// The magnitude as m · 2^(exponent − 127): m of 128 bits, 0 for zero, and the signed exponent.
fn decode(b: &mut Builder, t: Logarithmic, x: &Number) -> (Word, Word) {
    let frac = t.frac as usize;
    let m = b.exp2(&x.logarithm.unsigned(frac).shifted_left(128 - frac));
    let something = b.inverse_of(x.zero);
    (b.mask(something, &m), above(&x.logarithm, frac))
}

/// The integer of `width` bits nearest to the logarithmic number in units of 2^-frac.
pub(in crate::kernels) fn to_fixed(b: &mut Builder, t: Logarithmic, width: usize, frac: u32, a: &Word) -> Outcome {
    let x = unpack(b, a);
    let (m, exponent) = decode(b, t, &x);
    // To the right by 127 − frac − exponent, that is, by 127 − width and as much as the exponent is below the limit, from which on the
    // word overflows.
    let limit = width as i64 - i64::from(frac);
    let bits = exponent.len().max(8) + 1;
    let below = b.difference_signed(&integer(limit), &exponent, bits);
    let something = b.inverse_of(x.zero);
    let great = b.and(below.sign(), something);
    let amount = b.saturated(&below[..bits - 1], bits_for(width + 2));
    let shifted = b.shift_right(&m, &amount);
    let rounded = b.nearest_even(&shifted, (1 << amount.len()) - 1 + 127 - width);
    Outcome::of(b.fit_magnitude(x.negative, &rounded, width)).or(great).or(x.bad)
}

/// The floating-point number nearest to the logarithmic one.
pub(in crate::kernels) fn to_float(b: &mut Builder, t: Logarithmic, f: Float, a: &Word) -> Outcome {
    let x = unpack(b, a);
    let (m, exponent) = decode(b, t, &x);
    let exponent = b.sum_signed(&exponent, &integer(-127), exponent.len().max(8) + 1);
    b.round_float(f, x.negative, &m, &exponent).or(x.bad)
}
