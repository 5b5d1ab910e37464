//! Elementary functions of floating-point numbers: to fixed point with guard bits, by the kernels of fixed point, and back.
//!
//! The result is rounded once, after an error of less than 2^-5 units of its last place.

use super::Outcome;
use super::arithmetic::part;
use super::convert::{from_float, magnitude};
use super::exponential::{ARGUMENT_FRAC, power_of_e};
use super::float::{Float, Parts, integer};
use super::tables::{self, LN_2, PI_OVER_4};
use super::trigonometric::two_over_pi;
use crate::circuit::Builder;
use crate::circuit::{Bit, Word};

/// e^a. The argument is rounded to 2^-58, which is the result's relative error.
pub(in crate::kernels) fn exp(b: &mut Builder, t: Float, a: &Word) -> Outcome {
    // A magnitude of 2^exponent or more is beyond what has a power of e in the format.
    let Outcome { word, faults } = from_float(b, t, ARGUMENT_FRAC + t.exponent + 1, ARGUMENT_FRAC as u32, false, a);
    let [beyond, special] = faults[..] else { panic!("a conversion has two ways to fail") };
    let (m, exponent) = power_of_e(b, &word);
    let exponent = b.sum_signed(&exponent, &integer(-126), exponent.len().max(8) + 1);
    let power = b.round_float(t, Bit::ZERO, &m, &exponent);
    let inside = b.inverse_of(beyond);
    let above = b.without(beyond, a.sign());
    let great = b.any(&power.faults);
    let great = b.and(great, inside);
    Outcome::infallible(b.mask(inside, &power.word)).or(great).or(above).or(special)
}

/// Natural logarithm: that to base 2 with 127 bits of fraction, times ln 2. Nothing is lost near 1: the exponent and the logarithm of the significand
/// cancel exactly.
pub(in crate::kernels) fn log(b: &mut Builder, t: Float, a: &Word) -> Outcome {
    let x = b.unpack(t, a);
    let zero = b.is_zero(&x.significand);
    let (m, up) = b.normalize(&x.significand);
    let bits = t.exponent + 2;
    let whole = b.sum_signed(&x.exponent.then(&[Bit::ZERO]), &integer(-t.bias()), bits);
    let whole = b.difference_signed(&whole, &up.then(&[Bit::ZERO]), bits);
    let fraction = b.log2(&m.shifted_left(128 - m.len()));
    let sum = b.sum_signed(&whole.shifted_left(127), &fraction.then(&[Bit::ZERO]), bits + 127);
    let binary = b.magnitude(&sum);
    // In units of 2^-255. The least has its top bit at 2^-54: 100 bits less still leave 100.
    let product = b.high(&binary, &Word::constant(LN_2, 128), 100);
    b.round_float(t, sum.sign(), &product, &integer(-155)).or(x.special).or(x.negative).or(zero)
}

/// Quadrants modulo 4, and the sine and cosine of what is left: sine · 2^-(126 + zeros) and cosine · 2^-127.
struct QuadrantReduction {
    quadrants: Word,
    back: Bit,
    sine: Word,
    zeros: Word,
    cosine: Word,
    /// The argument is too great.
    great: Bit,
}

/// The greatest arguments are below 2^20.
const REACH: usize = 20;

/// Half as many places below 1 as the mantissa has, and one more: of numbers below, the sine is the number.
fn small(t: Float) -> usize {
    t.mantissa / 2 + 1
}

fn reduced(b: &mut Builder, t: Float, x: &Parts) -> QuadrantReduction {
    // Exact, but for small numbers.
    let frac = small(t) + t.mantissa;
    let magnitude = magnitude(b, t, REACH + frac, frac as u32, false, x);
    let (low, high) = magnitude.split_at(magnitude.len().min(REACH + frac));
    let great = b.any(high);
    let quotient = b.times(low, &two_over_pi());
    let quotient = quotient.unsigned(frac + 194);
    // 192 bits: what a multiple of π/2 leaves may begin 80 places below the point.
    let fraction = part(&quotient, frac..frac + 192);
    let back = fraction.sign();
    let quadrants = b.copy(&quotient[frac + 192..]);
    b.increment_if(back, &quadrants);
    let rest = b.negated_if(back, &fraction);
    let (scaled, zeros) = b.normalize(&rest);
    let scaled = b.high(&scaled[64..], &Word::constant(PI_OVER_4, 128), 128);
    let angle = part(&b.shift_right(&scaled.shifted_left(1), &zeros), 255..255 + 128);
    let square = b.high(&angle, &angle, 128);
    let sines = b.series(true, &tables::factorials(1), &square);
    let sine = b.high(&scaled, &sines, 128);
    let cosine = b.series(true, &tables::factorials(0), &square);
    QuadrantReduction { quadrants, back, sine, zeros, cosine, great }
}

/// The sine after so many quadrants, or minus that.
fn sine(b: &mut Builder, t: Float, negative: Bit, reduced: &QuadrantReduction) -> Outcome {
    let odd = reduced.quadrants[0];
    let m = b.select(odd, &reduced.cosine, &reduced.sine);
    let exponent = b.difference_signed(&integer(-126), &reduced.zeros.then(&[Bit::ZERO]), 10);
    let exponent = b.select(odd, &integer(-127).signed(10), &exponent);
    let back = b.without(reduced.back, odd);
    let sign = b.differ(negative, reduced.quadrants[1]);
    b.cnot(back, sign);
    b.round_float(t, sign, &m, &exponent).or(reduced.great)
}

/// Sine.
pub(in crate::kernels) fn sin(b: &mut Builder, t: Float, a: &Word) -> Outcome {
    let x = b.unpack(t, a);
    let reduced = reduced(b, t, &x);
    let sine = sine(b, t, x.negative, &reduced);
    let limit = Word::constant((t.bias() - small(t) as i64).max(1) as u128, t.exponent);
    let small = b.less(&x.exponent, &limit);
    let fault = b.any(&sine.faults);
    let word = b.select(small, a, &sine.word);
    Outcome::infallible(word).or(b.without(fault, small)).or(x.special)
}

/// Cosine: a quarter turn more.
pub(in crate::kernels) fn cos(b: &mut Builder, t: Float, a: &Word) -> Outcome {
    let x = b.unpack(t, a);
    let reduced = reduced(b, t, &x);
    b.increment_if(Bit::ONE, &reduced.quadrants);
    sine(b, t, Bit::ZERO, &reduced).or(x.special)
}
