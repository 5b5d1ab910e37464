//! Exponentials and hyperbolic functions.

use super::coefficients::{COSH, EXP, LN_2, LN_2_SHORT, LOG2_E, SINH};
use super::double::{Double, MAGIC, Pair, nearest, polynomial, with_sign};

/// x = n·ln 2 + r.
pub(super) struct Reduced<D: Double> {
    /// A word whose lowest bits are n.
    pub(super) n: D::Bits,
    /// |r| ≤ ln 2/2 and a little.
    pub(super) r: Pair<D>,
}

/// Splits x, at most 2^10 in magnitude.
#[inline(always)]
fn reduce<D: Double>(x: D) -> Reduced<D> {
    let (n, bits) = nearest(x, LOG2_E[0]);
    // Exact: the product has at most 53 bits, and so has the difference.
    let first = (-n).fma(D::of(LN_2_SHORT[0]), x);
    let high = (-n).fma(D::of(LN_2_SHORT[1]), first);
    let low = (-n).fma(D::of(LN_2_SHORT[1]), first - high);
    Reduced { n: bits, r: Pair { high, low } }
}

/// e^r − 1 for a small r.
#[inline(always)]
fn expm1_of_small<D: Double>(r: Pair<D>) -> Pair<D> {
    let x = r.high;
    // e^(r + low) = e^r·(1 + low), of which e^r is 1 and x here, as far as that counts.
    let q = (x * x).fma(polynomial(x, &EXP), r.low.fma(x, r.low));
    Pair::quick(x, q)
}

/// 2^n for −1022 ≤ n ≤ 1023.
#[inline(always)]
pub(super) fn power_of_two<D: Double>(n: D::Bits) -> D {
    D::from_bits(D::shl(n + D::word(1023), 52))
}

/// y·2^n, rounded once more where that is subnormal; |n| at most 2000, in the lowest bits of a word of [`nearest`].
#[inline(always)]
pub(super) fn scale<D: Double>(y: D, n: D::Bits) -> D {
    // By two factors of half the exponent: one could not have all of them.
    let n = n - D::word(MAGIC.to_bits().wrapping_sub(4096));
    let half = D::shr(n, 1);
    let factor = |n: D::Bits| power_of_two::<D>(n - D::word(2048));
    y * factor(half) * factor(n - half)
}

/// x, but neither below `least` nor above `greatest`.
#[inline(always)]
pub(super) fn clamp<D: Double>(x: D, least: f64, greatest: f64) -> D {
    let (least, greatest) = (D::of(least), D::of(greatest));
    let x = D::select(greatest.lt(x), greatest, x);
    D::select(x.lt(least), least, x)
}

/// e^(x + low) = y·2^n; |x| at most 1000.
#[inline(always)]
pub(super) fn exp_parts<D: Double>(x: D, low: D) -> (Pair<D>, D::Bits) {
    let Reduced { n, r } = reduce(x);
    let s = expm1_of_small(Pair::sum(r.high, r.low + low));
    let y = Pair::quick(D::of(1.0), s.high);
    (Pair { high: y.high, low: y.low + s.low }, n)
}

/// e^x.
#[inline(always)]
pub(super) fn exp<D: Double>(x: D) -> D {
    let Reduced { n, r } = reduce(clamp(x, -746.0, 710.0));
    let x = r.high;
    let q = (x * x).fma(polynomial(x, &EXP), r.low);
    scale(D::of(1.0) + (x + q), n)
}

/// 2^x.
#[inline(always)]
pub(super) fn exp2<D: Double>(x: D) -> D {
    let x = clamp(x, -1076.0, 1025.0);
    let (n, bits) = nearest(x, 1.0);
    let r = Pair::of(LN_2).times(x - n);
    let q = (r.high * r.high).fma(polynomial(r.high, &EXP), r.low);
    scale(D::of(1.0) + (r.high + q), bits)
}

/// Half of e^x − 1, for x from −50 to 710.
#[inline(always)]
fn half_expm1<D: Double>(x: D) -> Pair<D> {
    let Reduced { n, r } = reduce(x);
    let s = expm1_of_small(r);
    let power = power_of_two::<D>(n - D::word(1));
    let less = Pair::sum(power, D::of(-0.5));
    let sum = Pair::sum(less.high, power * s.high);
    Pair { high: sum.high, low: sum.low + power.fma(s.low, less.low) }
}

/// e^x − 1.
#[inline(always)]
pub(super) fn expm1<D: Double>(x: D) -> D {
    let half = half_expm1(clamp(x, -50.0, 710.0));
    let value = half.rounded() * 2.0;
    // That of −0 and of what is subnormal is itself.
    D::select(x.abs().lt(D::of(1e-300)), x, value)
}

/// The hyperbolic tangent.
#[inline(always)]
pub(super) fn tanh<D: Double>(x: D) -> D {
    let a = clamp(x.abs(), 0.0, 20.0);
    // (e^2a − 1)/(e^2a + 1), by half of each.
    let half = half_expm1(a * 2.0);
    let below = Pair::sum(D::of(1.0), half.high);
    let value = half.over(Pair { high: below.high, low: below.low + half.low }).rounded();
    with_sign(D::select(a.lt(D::of(1e-300)), a, value), x)
}

/// cosh r − 1 and sinh r for a small r.
#[inline(always)]
fn hyperbolic_of_small<D: Double>(r: Pair<D>) -> (D, Pair<D>) {
    let x = r.high;
    let z = x * x;
    let even = z.fma(polynomial(z, &COSH), x * r.low);
    // sinh(x + low) is sinh x + low·cosh x.
    let odd = (z * x).fma(polynomial(z, &SINH), r.low.fma(even, r.low));
    (even, Pair::quick(x, odd))
}

/// a·(1 + even) + b·odd, where |b·odd| may be greater than a.
#[inline(always)]
fn combined<D: Double>(a: Pair<D>, b: Pair<D>, even: D, odd: Pair<D>) -> D {
    let product = Pair::product(b.high, odd.high);
    let low = b.low.fma(odd.high, b.high.fma(odd.low, product.low));
    let sum = Pair::sum(a.high, product.high);
    sum.high + (sum.low + (a.high.fma(even, a.low) + low))
}

/// e^n/4 + e^-n/4 and e^n/4 − e^-n/4 by powers of two: e^x = 2^n·e^r.
#[inline(always)]
fn powers<D: Double>(n: D::Bits, far: D::Truth) -> (Pair<D>, Pair<D>) {
    let up = power_of_two::<D>(n - D::word(2));
    let down = D::select(far, D::of(0.0), power_of_two::<D>(D::word(0u64.wrapping_sub(2)) - n));
    (Pair::quick(up, down), Pair::quick(up, -down))
}

/// The hyperbolic sine. It overflows from 710.48 on; the powers of two, from 710.8 on.
#[inline(always)]
pub(super) fn sinh<D: Double>(x: D) -> D {
    let a = clamp(x.abs(), 0.0, 710.6);
    let Reduced { n, r } = reduce(a);
    let (plus, minus) = powers(n, D::of(60.0).lt(a));
    let (even, odd) = hyperbolic_of_small(r);
    let value = combined(minus, plus, even, odd) * 2.0;
    with_sign(D::select(a.lt(D::of(1e-300)), a, value), x)
}

/// The hyperbolic cosine.
#[inline(always)]
pub(super) fn cosh<D: Double>(x: D) -> D {
    let a = clamp(x.abs(), 0.0, 710.6);
    let Reduced { n, r } = reduce(a);
    let (plus, minus) = powers(n, D::of(60.0).lt(a));
    let (even, odd) = hyperbolic_of_small(r);
    combined(plus, minus, even, odd) * 2.0
}
