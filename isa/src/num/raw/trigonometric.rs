//! Sine, cosine and tangent.

use super::coefficients::{COS, HALF_PI, SIN, TWO_OVER_PI};
use super::double::{Bits, Double, Pair, SIGN, nearest, polynomial};

/// Up to this magnitude, `reduce` is exact enough. The functions over [`Double`] hold up to it.
pub const LIMIT: f64 = 1_099_511_627_776.0;

/// x = n·π/2 + r, |r| at most π/4 and a little.
#[derive(Clone, Copy)]
struct Reduced<D: Double> {
    /// A word whose lowest two bits are those of n.
    n: D::Bits,
    r: Pair<D>,
}

/// Splits 0 ≤ x ≤ [`LIMIT`].
#[inline(always)]
fn reduce<D: Double>(x: D) -> Reduced<D> {
    let (n, bits) = nearest(x, std::f64::consts::FRAC_2_PI);
    // Exact: both the number and the product are multiples of 2^-52 where x ≥ 1, and their difference is below 2.
    let first = (-n).fma(D::of(HALF_PI[0]), x);
    let second = Pair::product(-n, D::of(HALF_PI[1]));
    let sum = Pair::sum(first, second.high);
    let low = sum.low + (-n).fma(D::of(HALF_PI[2]), second.low);
    Reduced { n: bits, r: Pair::quick(sum.high, low) }
}

/// Sine and cosine of a small r. The low part of the cosine may be as great as 2^-6.
#[inline(always)]
fn sine_and_cosine<D: Double>(r: Pair<D>) -> [Pair<D>; 2] {
    let x = r.high;
    let square = Pair::product(x, x);
    let z = square.high;
    let half = z * 0.5;
    // sin(x + low) = sin x + low·cos x, of which cos x is 1 − z/2 here.
    let sine = Pair::quick(x, (z * x).fma(polynomial(z, &SIN), (-r.low).fma(half, r.low)));
    let cosine = Pair::quick(D::of(1.0), -half);
    let rest = (z * z).fma(polynomial(z, &COS), (-x).fma(r.low, square.low * -0.5));
    [sine, Pair { high: cosine.high, low: cosine.low + rest }]
}

/// The sine of n quarter turns and r, with the sign bit of `sign` as well.
#[inline(always)]
fn sine<D: Double>(Reduced { n, r }: Reduced<D>, sign: D::Bits) -> D {
    let [sine, cosine] = sine_and_cosine(r);
    let whole = D::is_zero(n & D::word(1));
    let value = Pair::select(whole, sine, cosine).rounded();
    D::from_bits(value.bits() ^ D::shl(n & D::word(2), 62) ^ (sign & D::word(SIGN)))
}

/// The tangent, with the sign bit of `sign` as well.
#[inline(always)]
fn tangent<D: Double>(Reduced { n, r }: Reduced<D>, sign: D::Bits) -> D {
    let [sine, cosine] = sine_and_cosine(r);
    let cosine = Pair::quick(cosine.high, cosine.low);
    let odd = n & D::word(1);
    let whole = D::is_zero(odd);
    let value = Pair::select(whole, sine, cosine).over(Pair::select(whole, cosine, sine)).rounded();
    D::from_bits(value.bits() ^ D::shl(odd, 63) ^ (sign & D::word(SIGN)))
}

/// The value, or x itself, where x is so small that it is.
#[inline(always)]
fn or_itself<D: Double>(x: D, value: D) -> D {
    D::select(x.abs().lt(D::of(1e-150)), x, value)
}

/// The sine.
#[inline(always)]
pub(super) fn sin<D: Double>(x: D) -> D {
    or_itself(x, sine(reduce(x.abs()), x.bits()))
}

/// The cosine.
#[inline(always)]
pub(super) fn cos<D: Double>(x: D) -> D {
    let Reduced { n, r } = reduce(x.abs());
    sine(Reduced { n: n + D::word(1), r }, D::word(0))
}

/// The tangent.
#[inline(always)]
pub(super) fn tan<D: Double>(x: D) -> D {
    or_itself(x, tangent(reduce(x.abs()), x.bits()))
}

/// Splits any number above 2^39, by as many bits of 2/π as its exponent asks for.
fn reduce_far(x: f64) -> Reduced<f64> {
    let bits = x.to_bits();
    let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
    // x = mantissa · 2^exponent.
    let exponent = (bits >> 52) as i32 - 1075;
    // Bits of 2/π before exponent − 2 make multiples of 4. Four words from there on leave 189 bits and more behind the point.
    let from = (exponent - 2).max(0);
    let word = |n: usize| {
        let place = from as usize + 64 * n;
        let (at, by) = (place / 64, place % 64);
        if by == 0 { TWO_OVER_PI[at] } else { TWO_OVER_PI[at] << by | TWO_OVER_PI[at + 1] >> (64 - by) }
    };
    let mut product = [0u64; 4];
    let mut carry = 0u128;
    for n in (0..4).rev() {
        let sum = u128::from(word(n)) * mantissa + carry;
        product[n] = sum as u64;
        carry = sum >> 64;
    }
    // To the right, until the point is behind the top two bits. What is before them is dropped.
    let by = 2 - (exponent - from);
    if by > 0 {
        for n in (0..4).rev() {
            let before = if n > 0 { product[n - 1] } else { carry as u64 };
            product[n] = product[n] >> by | before << (64 - by);
        }
    }
    let mut n = product[0] >> 62;
    // The fraction, as a signed number of 2^-256.
    for i in 0..4 {
        product[i] = product[i] << 2 | product.get(i + 1).map_or(0, |next| next >> 62);
    }
    let negative = product[0] >> 63 == 1;
    if negative {
        n += 1;
        let mut carry = true;
        for word in product.iter_mut().rev() {
            (*word, carry) = (!*word).overflowing_add(u64::from(carry));
        }
    }
    let fraction = leading(product);
    let turned = fraction.times_pair(Pair { high: HALF_PI[0], low: HALF_PI[1] });
    let r = if negative { turned.negated() } else { turned };
    Reduced { n: Bits(n), r }
}

/// A number of 2^-256, by its leading bits.
fn leading(words: [u64; 4]) -> Pair<f64> {
    let first = words.iter().position(|w| *w != 0).unwrap_or(3);
    let top = words[first].leading_zeros();
    let next = |n: usize| words.get(n).copied().unwrap_or(0);
    let bits = |n: usize| if top == 0 { next(n) } else { next(n) << top | next(n + 1) >> (64 - top) };
    // 53 bits, and 53 more.
    let (high, low) = (bits(first), bits(first + 1));
    let unit = |n: i32| f64::from_bits(((1023 + n) as u64) << 52);
    let place = -64 * (first as i32 + 1) - top as i32;
    let high_part = ((high >> 11) << 11) as f64 * unit(place);
    let rest = ((u128::from(high & 0x7ff) << 64 | u128::from(low)) >> 22) as f64;
    let low_part = rest * unit(place - 42);
    Pair::quick(high_part, low_part)
}

/// The sine of a number beyond [`LIMIT`].
pub(super) fn sin_far(x: f64) -> f64 {
    sine(reduce_far(x.abs()), x.bits())
}

/// The cosine of a number beyond [`LIMIT`].
pub(super) fn cos_far(x: f64) -> f64 {
    let Reduced { n, r } = reduce_far(x.abs());
    sine(Reduced { n: n + Bits(1), r }, Bits(0))
}

/// The tangent of a number beyond [`LIMIT`].
pub(super) fn tan_far(x: f64) -> f64 {
    tangent(reduce_far(x.abs()), x.bits())
}

/// Sine and cosine of π·x for 0 ≤ x < 2^52, in pairs.
pub(super) fn turn(x: f64) -> [Pair<f64>; 2] {
    // x = n/2 + f, |f| ≤ 1/4, exactly.
    let n = (x * 2.0).round_ties_even();
    let f = x - n * 0.5;
    let r = Pair { high: HALF_PI[0] * 2.0, low: HALF_PI[1] * 2.0 }.times(f);
    let [sine, cosine] = sine_and_cosine(r);
    let cosine = Pair::quick(cosine.high, cosine.low);
    match n.rem_euclid(4.0) as u8 {
        0 => [sine, cosine],
        1 => [cosine, sine.negated()],
        2 => [sine.negated(), cosine.negated()],
        _ => [cosine.negated(), sine],
    }
}
