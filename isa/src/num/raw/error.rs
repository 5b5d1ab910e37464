//! The error function.

use super::coefficients::{ERF, ERFC, ERFC_FIRST, ERFC_SLOPE, TWO_OVER_ROOT_PI};
use super::double::{Double, Pair, SIGN, polynomial, with_sign};
use super::exponential::{clamp, exp_parts, scale};

/// erf a for |a| ≤ 3/4.
#[inline(always)]
fn inner<D: Double>(a: D) -> Pair<D> {
    let z = a * a;
    let first = Pair::product(a, D::of(TWO_OVER_ROOT_PI[0]));
    let rest = a.fma(D::of(TWO_OVER_ROOT_PI[1]), first.low);
    Pair::quick(first.high, (z * a).fma(polynomial(z, &ERF), rest))
}

/// erfc a = y·2^n for a from 1/2 to 28.
#[inline(always)]
fn outer<D: Double>(a: D) -> (Pair<D>, D::Bits) {
    let t = Pair::sum(a, D::of(-4.0)).over(Pair::sum(D::of(4.0), a));
    let x = t.high;
    let first = Pair::quick(D::of(ERFC_FIRST[0]), x * polynomial(x, &ERFC));
    // What t lost counts by the derivative.
    let above = Pair { high: first.high, low: t.low.fma(polynomial(x, &ERFC_SLOPE), first.low + ERFC_FIRST[1]) };
    let square = Pair::product(a, a);
    let (power, n) = exp_parts(-square.high, -square.low);
    let below = Pair::sum(D::of(1.0), a * 2.0);
    (power.times_pair(above).over(below), n)
}

/// The error function, 2/√π·∫ exp(−t²) from 0 to x.
#[inline(always)]
pub(super) fn erf<D: Double>(x: D) -> D {
    let a = clamp(x.abs(), 0.0, 6.0);
    let small = inner(a).rounded();
    let (y, n) = outer(clamp(a, 0.5, 6.0));
    let great = D::of(1.0) - scale(y.rounded(), n);
    let value = D::select(a.lt(D::of(0.75)), small, great);
    with_sign(value, x)
}

/// 1 − erf x, without cancellation.
#[inline(always)]
pub(super) fn erfc<D: Double>(x: D) -> D {
    let a = clamp(x.abs(), 0.0, 28.0);
    let erf = inner(D::from_bits(a.bits() | (x.bits() & D::word(SIGN))));
    let one = Pair::quick(D::of(1.0), -erf.high);
    let near = one.high + (one.low - erf.low);
    let (y, n) = outer(clamp(a, 0.5, 28.0));
    let right = scale(y.rounded(), n);
    let two = Pair::quick(D::of(2.0), -right);
    let far = D::select(x.lt(D::of(0.0)), two.high + two.low, right);
    D::select(a.lt(D::of(0.5)), near, far)
}
