//! Logarithms, their inverses' inverses (the areas), and powers.

use super::coefficients::{LN_2_SHORT, LOG, LOG_TAIL, LOG2_E, TWO_FIFTHS, TWO_THIRDS};
use super::double::{Double, Pair, SIGN, polynomial, with_sign};
use super::exponential::{exp_parts, scale};

/// The bits of √½.
const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;

/// x = 2^k·(1 + f), between √½ and √2.
pub(super) struct Split<D> {
    pub(super) k: D,
    pub(super) f: D,
}

/// The bits of a normal number as k, shifted to its place, 2^10 added; and k as a double.
#[inline(always)]
fn exponent<D: Double>(bits: D::Bits) -> (D::Bits, D) {
    let place = (bits - D::word(ROOT_HALF)) + D::word(1024 << 52);
    let k = D::shr(place, 52);
    // 2^52 + k, as bits.
    let whole = D::from_bits(k | D::word(0x4330 << 48)) - (4_503_599_627_370_496.0 + 1024.0);
    (D::shl(k, 52), whole)
}

/// Splits a positive number.
#[inline(always)]
pub(super) fn split<D: Double>(x: D) -> Split<D> {
    let small = x.lt(D::of(f64::MIN_POSITIVE));
    let bits = D::select(small, x * 18_014_398_509_481_984.0, x).bits();
    let (place, k) = exponent::<D>(bits);
    let m = D::from_bits(bits - (place - D::word(1024 << 52)));
    Split { k: k - D::select(small, D::of(54.0), D::of(0.0)), f: m - 1.0 }
}

/// ln(1 + f + low): a sum, and what is to be added to it.
#[inline(always)]
fn log_of_mantissa<D: Double>(f: D, low: D) -> Pair<D> {
    let s = f / (f + 2.0);
    let z = s * s;
    let rest = z * polynomial(z, &LOG);
    let square = f * f;
    // f − f²/2 + s·(f²/2 + rest), the first of it exact.
    let half = square * 0.5;
    let first = Pair::quick(f, -half);
    let lost = f.fma(f, -square) * -0.5;
    // 1/(1 + f), which only `low` is multiplied by.
    let inverse = (-f).fma((-f).fma(D::of(1.0) - f, D::of(1.0)), D::of(1.0));
    let tail = low.fma(inverse, s.fma(half + rest, lost + first.low));
    Pair { high: first.high, low: tail }
}

/// ln(2^k·(1 + f + low)).
#[inline(always)]
fn log_of_split<D: Double>(k: D, f: D, low: D) -> D {
    let m = log_of_mantissa(f, low);
    let sum = Pair::quick(k * LN_2_SHORT[0], m.high);
    sum.high + (sum.low + k.fma(D::of(LN_2_SHORT[1]), m.low))
}

/// The natural logarithm of a positive number.
#[inline(always)]
pub(super) fn log<D: Double>(x: D) -> D {
    let Split { k, f } = split(x);
    log_of_split(k, f, D::of(0.0))
}

/// The logarithm to base 2 of a positive number.
#[inline(always)]
pub(super) fn log2<D: Double>(x: D) -> D {
    let Split { k, f } = split(x);
    let m = log_of_mantissa(f, D::of(0.0));
    let p = Pair::product(m.high, D::of(LOG2_E[0]));
    let low = m.low.fma(D::of(LOG2_E[0]), m.high.fma(D::of(LOG2_E[1]), p.low));
    let sum = Pair::quick(k, p.high);
    sum.high + (sum.low + low)
}

/// Splits 1 + x + low.
#[inline(always)]
fn split_beside_one<D: Double>(x: Pair<D>) -> (Split<D>, D) {
    let u = Pair::sum(D::of(1.0), x.high);
    let (place, k) = exponent::<D>(u.high.bits());
    let shift = place - D::word(1024 << 52);
    let m = D::from_bits(u.high.bits() - shift);
    // Beyond 2^1000 what was lost does not count, and 2^-k is no normal number.
    let down = D::select(u.high.lt(D::of(1e300)), D::from_bits(D::word(1.0f64.to_bits()) - shift), D::of(0.0));
    let near = k.equals(D::of(0.0));
    let low = D::select(near, x.low, (u.low + x.low) * down);
    (Split { k, f: D::select(near, x.high, m - 1.0) }, low)
}

/// ln(1 + x).
#[inline(always)]
fn log1p_of_pair<D: Double>(x: Pair<D>) -> D {
    let (Split { k, f }, low) = split_beside_one(x);
    log_of_split(k, f, low)
}

/// ln(1 + x) for x > −1.
#[inline(always)]
pub(super) fn log1p<D: Double>(x: D) -> D {
    let value = log1p_of_pair(Pair { high: x, low: D::of(0.0) });
    D::select(x.abs().lt(D::of(1e-300)), x, value)
}

/// The inverse of the hyperbolic sine.
#[inline(always)]
pub(super) fn asinh<D: Double>(x: D) -> D {
    let a = x.abs();
    // Beyond 2^30 it is ln 2a.
    let far = D::of(1_073_741_824.0).lt(a);
    let one = D::of(1.0);
    let b = D::select(far, one, a);
    // b + b²/(1 + √(1 + b²)).
    let square = Pair::product(b, b);
    let root = Pair::sum(one, square.high);
    let root = Pair { high: root.high, low: root.low + square.low }.root();
    let below = Pair::sum(one, root.high);
    let more = square.over(Pair { high: below.high, low: below.low + root.low });
    let sum = Pair::sum(b, more.high);
    let (near, low) = split_beside_one(Pair { high: sum.high, low: sum.low + more.low });
    with_sign(D::select(a.lt(D::of(1e-150)), a, log_of_either(far, a, near, low)), x)
}

/// ln 2a, or of what is split.
#[inline(always)]
fn log_of_either<D: Double>(far: D::Truth, a: D, near: Split<D>, low: D) -> D {
    let Split { k, f } = split(a);
    log_of_split(D::select(far, k + 1.0, near.k), D::select(far, f, near.f), D::select(far, D::of(0.0), low)).abs()
}

/// The inverse of the hyperbolic cosine, of x ≥ 1.
#[inline(always)]
pub(super) fn acosh<D: Double>(x: D) -> D {
    let far = D::of(1_073_741_824.0).lt(x);
    let b = D::select(far, D::of(1.0), x);
    // t + √(t² + 2t), t = b − 1.
    let t = Pair::sum(b, D::of(-1.0));
    let square = t.times_pair(t);
    let root = Pair { high: t.high * 2.0, low: t.low * 2.0 }.plus(square).root();
    let sum = t.plus(root);
    let (near, low) = split_beside_one(sum);
    log_of_either(far, x, near, low)
}

/// The inverse of the hyperbolic tangent, of |x| < 1.
#[inline(always)]
pub(super) fn atanh<D: Double>(x: D) -> D {
    let a = x.abs();
    let double = Pair { high: a * 2.0, low: D::of(0.0) };
    let quotient = double.over(Pair::quick(D::of(1.0), -a));
    let value = (log1p_of_pair(quotient) * 0.5).abs();
    with_sign(D::select(a.lt(D::of(1e-150)), a, value), x)
}

/// ln x to some 2^-70 of itself, for x > 0.
#[inline(always)]
pub(super) fn log_pair<D: Double>(x: D) -> Pair<D> {
    let Split { k, f } = split(x);
    let s = Pair { high: f, low: D::of(0.0) }.over(Pair::sum(D::of(2.0), f));
    let z = s.times_pair(s);
    // 2s + s·z·(2/3 + z·(2/5 + z·tail)).
    let tail = z.high * polynomial(z.high, &LOG_TAIL);
    let inner = Pair::quick(D::of(TWO_FIFTHS[0]), tail);
    let inner = Pair { high: inner.high, low: inner.low + TWO_FIFTHS[1] }.times_pair(z);
    let outer = Pair::quick(D::of(TWO_THIRDS[0]), inner.high);
    let outer = Pair { high: outer.high, low: outer.low + (inner.low + TWO_THIRDS[1]) }.times_pair(z).times_pair(s);
    let sum = Pair::quick(s.high * 2.0, outer.high);
    let m = Pair { high: sum.high, low: sum.low + s.low.fma(D::of(2.0), outer.low) };
    let all = Pair::quick(k * LN_2_SHORT[0], m.high);
    // The second part of ln 2 has 53 bits of its own, exact to 2^-95 in all.
    let low = k.fma(D::of(LN_2_SHORT[1]), m.low + all.low);
    Pair::quick(all.high, low)
}

/// The power of a number that is not negative.
#[inline(always)]
pub(super) fn power<D: Double>(x: D, y: D) -> D {
    let log = log_pair(x);
    let product = Pair::product(log.high, y);
    let low = log.low.fma(y, product.low);
    let far = D::of(800.0).lt(product.high.abs());
    let bound = D::select(D::of(0.0).lt(product.high), D::of(800.0), D::of(-800.0));
    let (value, n) = exp_parts(D::select(far, bound, product.high), D::select(far, D::of(0.0), low));
    let value = scale(value.rounded(), n);
    let zero = D::of(0.0);
    let at_zero = D::select(y.equals(zero), D::of(1.0), zero);
    // The sign of zero is made sure of: C compilers may be told that it does not count.
    D::select(x.equals(zero), at_zero, value).abs()
}

/// a^b; a negative a has a whole b, and a = 0 no negative b.
#[inline(always)]
pub(super) fn pow<D: Double>(a: D, b: D) -> D {
    let magnitude = power(a.abs(), b);
    let half = b * 0.5;
    let odd = D::select(half.rint().equals(half), D::of(1.0), D::of(-1.0));
    let odd = D::select(b.rint().equals(b), odd, D::of(1.0));
    D::from_bits(magnitude.bits() | (odd.bits() & a.bits() & D::word(SIGN)))
}

/// a^n for a signed word n, of which the magnitude is taken as a double; a = 0 has no negative n.
#[inline(always)]
pub(super) fn powi<D: Double>(a: D, n: D) -> D {
    let magnitude = power(a.abs(), D::from_signed(n.bits()));
    D::from_bits(magnitude.bits() | (D::shl(n.bits(), 63) & a.bits() & D::word(SIGN)))
}
