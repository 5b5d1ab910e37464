//! Sine, cosine, tangent, and the rotation by shears.

use crate::num::elementary::Fixed;

use super::Outcome;
use super::arithmetic::{above, part};
use super::tables::{self, PI_OVER_4, TWO_OVER_PI};
use crate::circuit::Builder;
use crate::circuit::{Bit, Word};

/// |x| = quadrants · π/2 ± rest · π/2 with rest ≤ 1/2.
struct Reduced {
    /// Modulo 4.
    quadrants: Word,
    /// The rest is to be subtracted.
    back: Bit,
    /// In units of 2^-128.
    rest: Word,
}

/// 2/π in units of 2^-192.
pub(in crate::kernels) fn two_over_pi() -> Word {
    let [high, middle, low] = TWO_OVER_PI.map(u128::from);
    Word::constant(middle << 64 | low, 128).then(&Word::constant(high, 64))
}

/// Divides by π/2.
fn reduce(b: &mut Builder, magnitude: &Word, frac: usize) -> Reduced {
    let quotient = b.times(magnitude, &two_over_pi()).unsigned(64 + frac + 130);
    let fraction = part(&quotient, 64 + frac..64 + frac + 128);
    let back = fraction.sign();
    let rest = b.negated_if(back, &fraction);
    let quadrants = b.copy(&quotient[64 + frac + 128..]);
    b.increment_if(back, &quadrants);
    Reduced { quadrants, back, rest }
}

/// sin and 1 − cos of rest · π/2, in units of 2^-64.
fn sine_versine(b: &mut Builder, rest: &Word) -> (Word, Word) {
    let over = |n: u64| Word::constant(u128::from(u64::MAX / n), 64);
    let node = b.entry(&rest[119..], &tables::nodes(), 128);
    let (sine, versine) = (part(&node, 0..64), part(&node, 64..128));
    // The angle above the node in units of 2^-72; its square in units of 2^-80.
    let angle = b.high(&rest[55..119], &Word::constant(PI_OVER_4 >> 64, 64), 64);
    let square = b.high(&angle, &angle, 64);
    // c − x · square, of which the last places do not count.
    let less = |b: &mut Builder, c: Word, x: &Word| {
        let product = b.high(&square, x, 64);
        b.difference(&c, &above(&product, 16), 64)
    };
    let cubic = less(b, over(6), &over(120));
    let cubic = b.high(&square, &cubic, 64);
    let product = b.high(&angle, &cubic, 64);
    let sine_above = b.difference(&angle, &above(&product, 16), 64);
    let quartic = less(b, Word::constant(u128::from(u64::MAX / 3 / 8), 64), &over(720));
    let quartic = b.high(&square, &quartic, 64);
    let half = b.difference(&Word::constant(1 << 63, 64), &above(&quartic, 16), 64);
    let versine_above = b.high(&square, &half, 64);
    // sin(n + a) = sin n + cos n sin a − sin n (1 − cos a), and as much for 1 − cos, in units of 2^-72.
    let first = b.high(&versine, &sine_above, 64);
    let second = b.high(&sine, &versine_above, 64);
    let up = b.difference(&sine_above, &first, 64);
    b.subtract(&above(&second, 8), &up);
    let first = b.high(&versine, &versine_above, 64);
    let second = b.high(&sine, &sine_above, 64);
    let up_versine = b.difference(&above(&versine_above, 8), &above(&first, 8), 64);
    b.add(&second, &up_versine);
    let (up, up_versine) = (b.nearest_up(&up, 8), b.nearest_up(&up_versine, 8));
    (b.sum(&sine, &up, 64), b.sum(&versine, &up_versine, 64))
}

/// The sine of the reduced angle, or minus that.
fn sine(b: &mut Builder, t: Fixed, negative: Bit, reduced: &Reduced) -> Outcome {
    let (width, frac) = (t.width as usize, t.frac as usize);
    let (sine, versine) = sine_versine(b, &reduced.rest);
    let sine = b.nearest_up(&sine, 64 - frac);
    let versine = b.nearest_up(&versine, 64 - frac);
    let cosine = b.difference(&Word::constant(1 << frac, frac + 1), &versine, frac + 1);
    let odd = reduced.quadrants[0];
    let magnitude = b.select(odd, &cosine, &sine);
    let back = b.without(reduced.back, odd);
    let sign = b.differ(negative, reduced.quadrants[1]);
    b.cnot(back, sign);
    Outcome::infallible(b.negated_if(sign, &magnitude.unsigned(width)))
}

/// Sine.
pub(in crate::kernels) fn sin(b: &mut Builder, t: Fixed, a: &Word) -> Outcome {
    let magnitude = b.magnitude(a);
    let reduced = reduce(b, &magnitude, t.frac as usize);
    sine(b, t, a.sign(), &reduced)
}

/// Cosine: a quarter turn more.
pub(in crate::kernels) fn cos(b: &mut Builder, t: Fixed, a: &Word) -> Outcome {
    let magnitude = b.magnitude(a);
    let reduced = reduce(b, &magnitude, t.frac as usize);
    b.increment_if(Bit::ONE, &reduced.quadrants);
    sine(b, t, Bit::ZERO, &reduced)
}

/// Tangent, with 128 bits and relative to the distance where a pole is near.
pub(in crate::kernels) fn tan(b: &mut Builder, t: Fixed, a: &Word) -> Outcome {
    let frac = t.frac as usize;
    let magnitude = b.magnitude(a);
    let Reduced { quadrants, back, rest } = reduce(b, &magnitude, frac);
    let odd = quadrants[0];
    let negative = b.differ(a.sign(), back);
    b.cnot(odd, negative);
    // Far from a pole, up to 5.1: (n · 2^60 + d / 2) / d.
    let (sine, versine) = sine_versine(b, &rest);
    let no_versine = b.is_zero(&versine);
    let cosine = b.copy(&versine);
    b.cnot(no_versine, cosine[0]);
    b.negate(&cosine);
    let (n, d) = (b.select(odd, &cosine, &sine), b.select(odd, &sine, &cosine));
    let dividend = b.sum(&n.shifted_left(60), &above(&d, 1), 125);
    let (far, _) = b.divide(&dividend[63..], &dividend[..63], &d);
    // Near to one: the distance in units of 2^-(127 + zeros).
    let (scaled, zeros) = b.normalize(&rest);
    let scaled = b.high(&scaled, &Word::constant(PI_OVER_4, 128), 128);
    // To the right by zeros − 1, after a place to the left.
    let angle = part(&b.shift_right(&scaled.shifted_left(1), &zeros), 127..127 + 128);
    let square = b.high(&angle, &angle, 128);
    let sines = b.series(true, &tables::factorials(1), &square);
    let near_sine = b.high(&scaled, &sines, 128).unsigned(128);
    let near_cosine = b.series(true, &tables::factorials(0), &square);
    let (near, exponent) = b.quotient(&near_cosine, &near_sine);
    // far · 2^-60, or near · 2^(zeros − 127 − exponent): to the right by 127 + exponent − zeros, which is not negative where that counts.
    let close = b.is_zero(&rest[125..]);
    let close = b.and(close, odd);
    let down = b.difference_signed(&exponent, &zeros.then(&[Bit::ZERO]), 10);
    b.add(&Word::constant(127, 10), &down);
    let no_distance = b.is_zero(&rest);
    let down = b.select(close, &down[..8], &Word::constant(60, 8));
    let m = b.select(close, &near, &far);
    let rounded = b.shift_nearest(&m.shifted_left(frac), &down);
    let pole = b.and(no_distance, close);
    Outcome::of(b.fit_magnitude(negative, &rounded, t.width as usize)).or(pole)
}

/// Turns the point (x, z) by an angle: quarter turns, then three shears, everything modulo 2^width.
pub(in crate::kernels) fn rotate(b: &mut Builder, t: Fixed, x: &Word, z: &Word, angle: &Word) {
    b.with(
        |b| turn(b, t, angle),
        |b, turn| {
            b.swap_if(turn.quarters[0], x, z);
            // (−z, x), (−x, −z), (z, −x).
            b.with(|b| b.differ(turn.quarters[0], turn.quarters[1]), |b, negate_x| b.negate_if(*negate_x, x));
            b.negate_if(turn.quarters[1], z);
            b.with(
                |b| b.inverse_of(turn.negative),
                |b, positive| {
                    shear(b, *positive, &turn.tangent, z, x);
                    shear(b, turn.negative, &turn.sine, x, z);
                    shear(b, *positive, &turn.tangent, z, x);
                },
            );
        },
    );
}

/// A rotation as it is carried out.
struct Turn {
    quarters: Word,
    /// −tan(t/2) and sin t have the signs of −t and t.
    negative: Bit,
    /// |tan(t/2)| and |sin t| in units of 2^-64.
    tangent: Word,
    sine: Word,
}

fn turn(b: &mut Builder, t: Fixed, angle: &Word) -> Turn {
    let magnitude = b.magnitude(angle);
    let Reduced { quadrants, back, rest } = reduce(b, &magnitude, t.frac as usize);
    let (sine, versine) = sine_versine(b, &rest);
    // tan(t/2) = (sin t / 2) / (1 − versine/2).
    let half = b.copy(&above(&versine, 1).unsigned(64));
    let whole = b.is_zero(&half);
    b.negate(&half);
    let dividend = b.sum(&sine.shifted_left(63), &above(&half, 1), 128);
    let (quotient, _) = b.divide(&dividend[64..], &dividend[..64], &half);
    let tangent = b.select(whole, &above(&sine, 1), &quotient);
    b.negate_if(angle.sign(), &quadrants);
    let negative = b.differ(angle.sign(), back);
    Turn { quarters: quadrants, negative, tangent, sine }
}

/// `target += ±coefficient · x`, to the nearest integer.
fn shear(b: &mut Builder, negative: Bit, coefficient: &Word, x: &Word, target: &Word) {
    b.with(
        |b| {
            let product = b.times_signed(x, coefficient);
            b.negate_if(negative, &product);
            product
        },
        |b, product| b.add_carry(&product.signed(64 + target.len())[64..], target, product[63], None),
    );
}
