//! Inverse trigonometric functions: all are angles of a pair of numbers.

use crate::num::elementary::Fixed;

use super::Outcome;
use super::arithmetic::{above, part};
use super::root::nearest_root;
use super::tables::{self, PI};
use crate::circuit::Builder;
use crate::circuit::{Bit, Word};

/// The angle of the point (v, u), 0 ≤ u ≤ v, v ≥ 2^63, in units of 2^-64.
fn eighth(b: &mut Builder, u: &Word, v: &Word) -> Word {
    // 1/n in units of 2^-63.
    let over = |n: u128| Word::constant(i64::MAX as u128 / n, 63);
    // The multiple of 1/128 nearest to u/v, or nearly.
    let dividend = b.sum(&above(u, 32).shifted_left(7), &above(v, 33), 40);
    let (index, _) = b.divide(&dividend[8..], &dividend[..8], &above(v, 32));
    // atan(u/v) − atan(i/128) = atan((128 u − i v) / (128 v + i u)) = atan w.
    let product = b.times(v, &index);
    let over_node = b.difference(&u.shifted_left(7), &product, 73);
    let below = over_node.sign();
    let magnitude = b.magnitude(&over_node);
    let product = b.times(u, &index);
    let radius = b.sum(&v.shifted_left(7), &product, 73);
    let radius = above(&radius, 8);
    // In units of 2^-68, below 2^62.
    let low = part(&magnitude, 0..2).shifted_left(60);
    let (w, _) = b.divide(&above(&magnitude, 2)[..radius.len()], &low, &radius);
    // atan w = w − w³/3 + w⁵/5 − w⁷/7. w² in units of 2^-72, the sums in units of 2^-63.
    let square = b.high(&w, &w, 64);
    let mut sum = over(7);
    for n in [5, 3] {
        let product = b.high(&square, &sum, 72);
        sum = b.difference(&over(n), &product, 63);
    }
    let product = b.high(&square, &sum, 72);
    let product = b.high(&w, &product, 64).shifted_left(1);
    let rest = b.difference(&w, &product, 64);
    b.add(&Word::constant(8, 64), &rest);
    let rest = b.copy(&Word::from(&rest[4..]).unsigned(64));
    b.negate_if(below, &rest);
    let node = b.entry(&index, &tables::angles(), 64);
    b.sum(&node, &rest, 64)
}

/// The angle of the point (x, y), signed, in units of 2^-64; both have 64 bits at most.
fn angle(b: &mut Builder, y: &Word, x: &Word) -> Word {
    let height = b.magnitude(y);
    let width = if x.sign() == Bit::ZERO { x.clone() } else { b.magnitude(x) };
    let n = height.len().max(width.len());
    let steep = b.less(&width, &height);
    let (less, greater) = (b.select(steep, &width, &height), b.select(steep, &height, &width));
    let (greater, up) = b.normalize(&greater.unsigned(n));
    let less = part(&b.shift_left(&less, &up), 0..n);
    let eighth = eighth(b, &less.shifted_left(64 - n), &greater.shifted_left(64 - n));
    // At the origin, 0.
    let angle = b.mask(greater[n - 1], &eighth).then(&b.word(4));
    let from = |b: &mut Builder, condition: Bit, whole: u128| {
        b.negate_if(condition, &angle);
        b.add_if(condition, &Word::constant(whole, 68), &angle);
    };
    from(b, steep, PI / 2);
    from(b, x.sign(), PI);
    b.negate_if(y.sign(), &angle);
    angle
}

fn encode(b: &mut Builder, t: Fixed, angle: &Word) -> Outcome {
    let rounded = b.nearest_up_signed(angle, 64 - t.frac as usize);
    Outcome::of(b.fit(&rounded, t.width as usize))
}

/// sqrt(1 − a²) and a, in units of 2^-62, and whether |a| > 1.
fn unit(b: &mut Builder, t: Fixed, a: &Word) -> (Word, Word, Bit) {
    let frac = t.frac as usize;
    let magnitude = b.magnitude(a);
    let outside = b.less(&Word::constant(1 << frac, frac + 1), &magnitude);
    let up = 62 - frac;
    let magnitude = Word::from(&magnitude[..frac + 1]).shifted_left(up);
    let square = b.times(&magnitude, &magnitude).unsigned(125);
    let cosine = b.difference(&Word::constant(1 << 124, 125), &square, 125);
    let root = nearest_root(b, &cosine).unsigned(63).unsigned(64);
    (root, Word::from(&a[..frac + 2]).shifted_left(up), outside)
}

/// Arc sine, from −π/2 to π/2.
pub(in crate::kernels) fn asin(b: &mut Builder, t: Fixed, a: &Word) -> Outcome {
    let (other, a, outside) = unit(b, t, a);
    let angle = angle(b, &a, &other);
    encode(b, t, &angle).or(outside)
}

/// Arc cosine, from 0 to π.
pub(in crate::kernels) fn acos(b: &mut Builder, t: Fixed, a: &Word) -> Outcome {
    let (other, a, outside) = unit(b, t, a);
    let angle = angle(b, &other, &a);
    encode(b, t, &angle).or(outside)
}

/// Arc tangent, from −π/2 to π/2.
pub(in crate::kernels) fn atan(b: &mut Builder, t: Fixed, a: &Word) -> Outcome {
    let angle = angle(b, a, &Word::constant(1 << t.frac, t.width as usize));
    encode(b, t, &angle)
}

/// The angle of the point (x, y), from −π to π.
pub(in crate::kernels) fn atan2(b: &mut Builder, t: Fixed, y: &Word, x: &Word) -> Outcome {
    let angle = angle(b, y, x);
    encode(b, t, &angle)
}
