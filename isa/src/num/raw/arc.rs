//! The inverses of sine, cosine and tangent.

use super::coefficients::{ASIN, ATAN, PI};
use super::double::{Double, Pair, SIGN, polynomial, with_sign};

/// The arc tangent of a/b, from 0 to π/2, both not negative and not both zero.
#[inline(always)]
fn arc<D: Double>(a: D, b: D) -> Pair<D> {
    let quarter = (b * (std::f64::consts::SQRT_2 - 1.0)).lt(a);
    let half = (b * (std::f64::consts::SQRT_2 + 1.0)).lt(a);
    let (sum, difference) = (Pair::sum(b, a), Pair::sum(a, -b));
    let zero = D::of(0.0);
    let single = |x: D| Pair { high: x, low: zero };
    let above = Pair::select(half, single(-b), Pair::select(quarter, difference, single(a)));
    let below = Pair::select(half, single(a), Pair::select(quarter, sum, single(b)));
    let quarters = D::select(half, D::of(2.0), D::select(quarter, D::of(1.0), zero));
    let x = above.over(below);
    let z = x.high * x.high;
    let rest = (z * x.high).fma(polynomial(z, &ATAN), (-x.low).fma(z, x.low));
    let begin = quarters * 0.25;
    let all = Pair::quick(begin * PI[0], x.high);
    Pair { high: all.high, low: begin.fma(D::of(PI[1]), all.low + rest) }
}

/// The arc tangent.
#[inline(always)]
pub(super) fn atan<D: Double>(x: D) -> D {
    let a = x.abs();
    // Beyond 2^60 it is π/2, and the reciprocal would be subnormal at last.
    let b = D::select(D::of(1e18).lt(a), D::of(1e18), a);
    let value = arc(b, D::of(1.0)).rounded();
    with_sign(D::select(a.lt(D::of(1e-150)), a, value), x)
}

/// The angle of the point (x, y).
#[inline(always)]
pub(super) fn atan2<D: Double>(y: D, x: D) -> D {
    let (a, b) = (y.abs(), x.abs());
    let greater = D::select(a.lt(b), b, a);
    // So that sums do not overflow, and small numbers keep their bits.
    let factor = D::select(
        D::of(1e200).lt(greater),
        D::of(f64::from_bits(0x1ff << 52)),
        D::select(greater.lt(D::of(1e100)), D::of(f64::from_bits(0x5ff << 52)), D::of(1.0)),
    );
    let origin = greater.equals(D::of(0.0));
    let angle = arc(a * factor, D::select(origin, D::of(1.0), b * factor));
    let left = Pair::sum(D::of(PI[0]), -angle.high);
    let left = left.high + (left.low + (D::of(PI[1]) - angle.low));
    // The sign of x counts even where x is zero.
    let right = D::is_zero(x.bits() & D::word(SIGN));
    with_sign(D::select(right, angle.rounded(), left).abs(), y)
}

/// arcsin x − x for |x| ≤ 1/2, and z = x².
#[inline(always)]
fn bend<D: Double>(x: D, z: D) -> D {
    z * x * polynomial(z, &ASIN)
}

/// arcsin √((1 − a)/2), twice, for a from 1/2 to 1.
#[inline(always)]
fn twice_of_half<D: Double>(a: D) -> Pair<D> {
    // Exact for these. For smaller ones, of which the value is not used, it must be positive.
    let z = (D::of(1.0) - a) * 0.5;
    let root = Pair { high: z, low: D::of(0.0) }.root();
    Pair { high: root.high * 2.0, low: root.low.fma(D::of(2.0), bend(root.high, z) * 2.0) }
}

/// The arc sine.
#[inline(always)]
pub(super) fn asin<D: Double>(x: D) -> D {
    let a = x.abs();
    let small = a + bend(a, a * a);
    let rest = twice_of_half(a);
    let sum = Pair::quick(D::of(PI[0] * 0.5), -rest.high);
    let great = sum.high + (sum.low + (D::of(PI[1] * 0.5) - rest.low));
    let value = D::select(a.lt(D::of(0.5)), small, great);
    with_sign(D::select(a.lt(D::of(1e-150)), a, value), x)
}

/// The arc cosine.
#[inline(always)]
pub(super) fn acos<D: Double>(x: D) -> D {
    let a = x.abs();
    let sum = Pair::quick(D::of(PI[0] * 0.5), -x);
    let small = sum.high + (sum.low + (D::of(PI[1] * 0.5) - bend(x, a * a)));
    let rest = twice_of_half(a);
    let left = Pair::quick(D::of(PI[0]), -rest.high);
    let left = left.high + (left.low + (D::of(PI[1]) - rest.low));
    let great = D::select(x.lt(D::of(0.0)), left, rest.rounded().abs());
    D::select(a.lt(D::of(0.5)), small, great)
}
