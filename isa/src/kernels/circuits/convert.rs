//! Conversions between integers, fixed point and floating point.

use crate::num::elementary::Fixed;

use super::Outcome;
use super::arithmetic::{above, bits_for};
use super::float::{Float, Parts, integer};
use crate::circuit::Builder;
use crate::circuit::{Bit, Word};

/// The integer as a fixed-point number, exact.
pub(in crate::kernels) fn int_to_fixed(b: &mut Builder, t: Fixed, a: &Word) -> Outcome {
    Outcome::of(b.fit(&a.shifted_left(t.frac as usize), t.width as usize))
}

/// The integer in units of 2^-frac as a floating-point number, to nearest, ties to even.
pub(in crate::kernels) fn to_float(b: &mut Builder, t: Float, frac: u32, a: &Word) -> Outcome {
    let magnitude = b.magnitude(a);
    b.round_float(t, a.sign(), &magnitude, &integer(-i64::from(frac)))
}

/// The magnitude of a floating-point number in units of 2^-frac as an integer, rounded toward −∞ or to nearest, ties to even. It has more than
/// `width` bits: one above is 1 if the magnitude has more.
pub(in crate::kernels) fn magnitude(b: &mut Builder, t: Float, width: usize, frac: u32, down: bool, x: &Parts) -> Word {
    // The significand goes above so many places of fraction that the rest is nothing but the sign of something.
    let fraction = t.mantissa + 2;
    let offset = integer(t.least() - 1 + i64::from(frac) + fraction as i64);
    let exponent = x.exponent.then(&[Bit::ZERO]);
    let up = b.sum_signed(&exponent, &offset, exponent.len().max(offset.len()) + 1);
    let (sign, up) = (up.sign(), Word::from(&up[..up.len() - 1]));
    let up = b.saturated(&up, bits_for(fraction + width));
    let not_less = b.inverse_of(sign);
    let up = b.mask(not_less, &up);
    let shifted = b.shift_left(&x.significand, &up);
    if !down {
        return b.nearest_even(&shifted, fraction);
    }
    let rest = b.any(&shifted[..fraction]);
    let more = b.and(x.negative, rest);
    let magnitude = b.copy(&above(&shifted, fraction).then(&[Bit::ZERO]));
    b.increment_if(more, &magnitude);
    magnitude
}

/// The floating-point number in units of 2^-frac as an integer of so many bits: rounded down, or to nearest, ties to even.
pub(in crate::kernels) fn from_float(
    b: &mut Builder,
    t: Float,
    width: usize,
    frac: u32,
    down: bool,
    a: &Word,
) -> Outcome {
    let x = b.unpack(t, a);
    let magnitude = magnitude(b, t, width, frac, down, &x);
    Outcome::of(b.fit_magnitude(x.negative, &magnitude, width)).or(x.special)
}
