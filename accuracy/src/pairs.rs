//! The pairs and triples of words that functions are tried on.

use rug::Float;
use rug::ops::Pow;

use crate::measure::Words;
use crate::points::{self, COUNT, Random, near, step};
use crate::shape::{PRECISION, Rounding, Shape, real};

/// What a function of several arguments is tried on beside what all are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Plain,
    /// Powers near the ends of the range, whole powers of negative bases, bases near 1.
    Power,
    /// Near the diagonals, and of ratios at a table's breakpoints.
    Angle,
    /// Near the circle on which the range ends.
    Distance,
    /// Pairs and angles; the pairs are short enough for no word to wrap.
    Turn,
    /// Those with words below 2^58 units.
    ShortTurn,
    /// Products and what nearly cancels them.
    Product,
    /// Logarithms that differ by little, by a table's breakpoints, or by so much that one hardly counts.
    Sum,
}

/// Kind for a function of two arguments of these types.
pub fn pairs(shape: Shape, second: Shape, kind: Kind) -> Vec<Words> {
    let mut random = Random(6);
    let mut pairs = Vec::new();
    let edges = points::edges(shape);
    let mut others = points::edges(second);
    if second == Shape::Int {
        others.extend((-40..=40i64).map(|n| n as u64));
    }
    for &a in &edges {
        for &b in &others {
            pairs.push([a, b, 0]);
            let (near_a, near_b) = (random.word() % 3, random.word() % 3);
            if let (Some(a), Some(b)) = (step(shape, a, near_a as i64 - 1), step(second, b, near_b as i64 - 1)) {
                pairs.push([a, b, 0]);
            }
        }
    }
    for _ in 0..COUNT / 2 {
        pairs.push([random.number(shape), random.number(second), 0]);
    }
    for i in 0..COUNT / 2 {
        chosen(shape, second, kind, i, &mut random, &mut pairs);
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// A random pair of the kind, or some that are near each other.
fn chosen(shape: Shape, second: Shape, kind: Kind, i: usize, random: &mut Random, pairs: &mut Vec<Words>) {
    let a = random.number(shape);
    let Ok(x) = shape.value(a) else {
        return;
    };
    // Binary logarithms of the greatest and the least number.
    let (top, bottom) = match shape {
        Shape::Double => (1024.0, -1075.0),
        Shape::Logarithmic { width, frac } => {
            let top = f64::from(1u32 << (width - 2 - frac));
            (top, -top)
        }
        _ => {
            let whole = shape.width() - 1 - shape.frac();
            (f64::from(whole), -f64::from(shape.frac() + 1))
        }
    };
    let mut pair = |a: u64, b: u64| pairs.push([a, b, 0]);
    match kind {
        Kind::Turn | Kind::ShortTurn | Kind::Product => unreachable!("triples"),
        Kind::Plain => pair(a, step(shape, a, random.word() as i64 % 4).unwrap_or(a)),
        Kind::Power => {
            let base = match i % 4 {
                // Near 1.
                0 => (Float::with_val(PRECISION, random.unit()) >> (random.word() % 40) as u32) + 1u32,
                _ => x.abs(),
            };
            let Ok(word) = shape.round(Rounding::Nearest, &base) else {
                return;
            };
            let Ok(base) = shape.value(word) else {
                return;
            };
            let logarithm = base.log2();
            if logarithm.is_zero() || !logarithm.is_finite() {
                return;
            }
            let target = match i % 8 {
                0 | 1 => top,
                2 => bottom,
                _ => bottom + (top - bottom) * (random.unit() + 1.0) / 2.0,
            };
            let negative = step(shape, word, 0).and_then(|word| match shape {
                Shape::Double | Shape::Logarithmic { .. } => Some(word | 1 << 63),
                _ => step(shape, (word as i64).wrapping_neg() as u64, 0),
            });
            for exponent in near(second, &(real(target) / logarithm), i64::from(i % 8 < 3)) {
                pair(word, exponent);
                if let Some(negative) = negative {
                    let whole = second.value(exponent).map(Float::round);
                    let whole = whole.and_then(|n| second.round(Rounding::Nearest, &n));
                    pair(negative, whole.unwrap_or(0));
                }
            }
        }
        Kind::Angle => {
            let ratio = match i % 3 {
                0 => real(1),
                1 => real((random.word() % 257) as u32) >> 7u32,
                _ => real(random.unit()),
            };
            let ratio = if random.word() & 1 == 1 { -ratio } else { ratio };
            let other = x * ratio;
            for b in near(shape, &other, 1) {
                let (a, b) = random.choose(&[(a, b), (b, a)]);
                pair(a, b);
            }
        }
        Kind::Sum => {
            let unit = 1u64 << shape.frac();
            let jitter = random.word() % 5;
            let apart = match i % 8 {
                0 => jitter,
                1 => random.word() % 128 * (unit / 128).max(1) + jitter,
                2 => random.word() % 70 * unit + jitter,
                3 => (50 + random.word() % 6) * unit + random.word() % unit,
                4 => random.word() % unit,
                _ => random.sized() >> 1,
            };
            // Near the ends of the range, too.
            let a = match i % 5 {
                0 => shape.log_zero() - 1 - random.word() % (2 * unit),
                1 => shape.log_zero() + 1 + random.word() % (2 * unit),
                _ => a,
            };
            for by in [apart as i64 - 2, 2 - apart as i64] {
                if let Some(b) = step(shape, a, by) {
                    pair(a, b);
                    pair(a, b ^ 1 << 63);
                }
            }
        }
        Kind::Distance => {
            let limit = real(2).pow(top as i32) - (real(1) >> shape.frac());
            let other = match i % 2 {
                0 => (limit.clone().square() - x.square()).abs().sqrt(),
                _ => x * real(random.choose(&[1.0, -0.75, 4.0 / 3.0, 2.4])),
            };
            for b in near(shape, &other, 2) {
                pair(a, b);
            }
        }
    }
}

/// Triples for a function of three arguments of this type.
pub fn triples(shape: Shape, kind: Kind) -> Vec<Words> {
    match kind {
        Kind::Product => products(shape),
        _ => {
            let limit = i64::MAX >> (64 - shape.width()).max(if kind == Kind::ShortTurn { 5 } else { 0 });
            turns(shape, limit)
        }
    }
}

fn products(shape: Shape) -> Vec<Words> {
    let mut random = Random(7);
    let mut triples = Vec::new();
    let edges = points::edges(shape);
    for &a in &edges {
        for &b in &edges {
            for _ in 0..6 {
                triples.push([a, b, random.choose(&edges)]);
            }
        }
    }
    for _ in 0..COUNT / 2 {
        triples.push([(); 3].map(|()| random.number(shape)));
    }
    for _ in 0..COUNT / 4 {
        let (a, b) = (random.number(shape), random.number(shape));
        if let (Ok(x), Ok(y)) = (shape.value(a), shape.value(b)) {
            triples.extend(near(shape, &-(x * y), 1).map(|c| [a, b, c]));
        }
    }
    triples.sort_unstable();
    triples.dedup();
    triples
}

/// Pairs within 0.92 of a radius, and angles: edges with edges, and random ones.
fn turns(shape: Shape, radius: i64) -> Vec<Words> {
    let mut random = Random(8);
    let angles: Vec<u64> = (-100i32..=100)
        .flat_map(|eighth| {
            let angle = Float::with_val(PRECISION, rug::float::Constant::Pi) * eighth / 8u32;
            near(shape, &angle, 1).collect::<Vec<_>>()
        })
        .chain(points::edges(shape))
        .collect();
    let small = shape.width() <= 9;
    let square = |word: u64| u128::from((word as i64).unsigned_abs()).pow(2);
    // 0.92 of the radius; the squares are below 2^127.
    let limit = square(radius as u64) / 10_000 * 8_464;
    let mut triples = Vec::new();
    if small {
        for a in points::exhaustive(shape) {
            for b in points::exhaustive(shape) {
                triples.extend((0..4).map(|_| [a, b, random.choose(&angles)]));
            }
        }
    } else {
        let edges = points::edges(shape);
        for &a in &edges {
            for &b in &edges {
                triples.extend((0..8).map(|_| [a, b, random.choose(&angles)]));
            }
        }
        for i in 0..COUNT {
            // As long as may be, or of every size.
            let mut word = || match i % 2 {
                0 => (random.word() as i64 % radius) as u64,
                _ => (random.sized() as i64 % radius) as u64,
            };
            let (a, b) = (word(), word());
            let angle = match i % 3 {
                0 => random.choose(&angles),
                _ => random.number(shape),
            };
            triples.push([a, b, angle]);
        }
    }
    triples.retain(|&[a, b, _]| square(a) + square(b) < limit);
    triples.sort_unstable();
    triples.dedup();
    triples
}
