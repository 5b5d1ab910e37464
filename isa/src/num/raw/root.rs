//! Cube roots, and the length of a vector.

use super::coefficients::{CBRT, CBRT_OF};
use super::double::{Double, MAGIC, Pair, nearest, polynomial, with_sign};

/// The cube root.
#[inline(always)]
pub(super) fn cbrt<D: Double>(x: D) -> D {
    let a = x.abs();
    let small = a.lt(D::of(f64::MIN_POSITIVE));
    // By 2^54, of which the root is 2^18.
    let bits = D::select(small, a * 18_014_398_509_481_984.0, a).bits();
    let exponent = D::shr(bits, 52);
    let m = D::from_bits(bits - D::shl(exponent, 52) + D::word(1023 << 52));
    // 1023 is 3·341.
    let e = D::from_bits(exponent | D::word(0x4330 << 48)) - (4_503_599_627_370_496.0 + 1023.0);
    let (third, place) = nearest(e, 1.0 / 3.0);
    let rest = third.fma(D::of(-3.0), e);
    let zero = D::of(0.0);
    let choose = |below: f64, above: f64| {
        D::select(rest.lt(zero), D::of(below), D::select(zero.lt(rest), D::of(above), D::of(1.0)))
    };
    // The root of t, from 1/2 to 4: twice by Newton's method, the second time with the whole residue.
    let t = m * choose(0.5, 2.0);
    let y = polynomial(m, &CBRT) * choose(CBRT_OF[0], CBRT_OF[1]);
    let slope = D::of(1.0) / (t * 3.0);
    let y = (y * slope).fma((-(y * y)).fma(y, t), y);
    let square = Pair::product(y, y);
    let residue = (-square.low).fma(y, (-square.high).fma(y, t));
    let y = (y * slope).fma(residue, y);
    let down = D::select(small, D::of(1.0 / 262_144.0), D::of(1.0));
    let power = D::from_bits(D::shl(place - D::word(MAGIC.to_bits()) + D::word(1023), 52));
    with_sign(D::select(a.equals(zero), zero, y * power * down).abs(), x)
}

/// √(x² + y²).
#[inline(always)]
pub(super) fn hypot<D: Double>(x: D, y: D) -> D {
    let (a, b) = (x.abs(), y.abs());
    let greater = D::select(a.lt(b), b, a);
    // By 2^-600 or 2^600, and back.
    let (far, near) = (D::of(1e150).lt(greater), greater.lt(D::of(1e-140)));
    let power = |n: i32| D::of(f64::from_bits(((1023 + n) as u64) << 52));
    let choose = |n: i32| D::select(far, power(-n), D::select(near, power(n), D::of(1.0)));
    let (up, down) = (choose(600), choose(-600));
    let (a, b) = (Pair::product(a * up, a * up), Pair::product(b * up, b * up));
    let sum = Pair::sum(a.high, b.high);
    let root = Pair { high: sum.high, low: sum.low + (a.low + b.low) }.root();
    (root.rounded() * down).abs()
}
