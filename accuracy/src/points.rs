//! The words that functions are tried on.

use rug::Float;
use rug::float::Constant;

use crate::shape::{PRECISION, Rounding, Shape, real};

/// Random points for each function and format, beside the chosen ones.
pub const COUNT: usize = 100_000;

/// SplitMix64: a fixed stream, so that failures are reproducible.
pub struct Random(pub u64);

impl Random {
    /// 64 random bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A signed word whose size is as likely to be of one bit as of 64.
    pub fn sized(&mut self) -> u64 {
        let shift = self.word() % 64;
        ((self.word() as i64) >> shift) as u64
    }

    /// From −1 to below 1.
    pub fn unit(&mut self) -> f64 {
        self.word() as i64 as f64 / 2f64.powi(63)
    }

    /// One of these.
    pub fn choose<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.word() as usize % from.len()]
    }

    /// A number of this type: of every size, and many from −16 to 16, where most functions do what they do.
    pub fn number(&mut self, shape: Shape) -> u64 {
        let near = |x: f64| shape.round(Rounding::Nearest, &real(x)).unwrap_or(0);
        match (shape, self.word() % 8) {
            (Shape::Double, 0 | 1) => {
                let word = self.word();
                if f64::from_bits(word).is_finite() { word } else { 0 }
            }
            // Magnitudes from 2^-64 to 2^64, and what an exponential can bear.
            (Shape::Double, 2 | 3) => {
                let exponent = 1023 - 64 + self.word() % 128;
                (self.word() & !(0x7ff << 52)) | (exponent << 52)
            }
            (Shape::Double, 4) => near(self.unit() * 750.0),
            (Shape::Double, 5) => near(self.unit() * 16.0),
            (Shape::Double, _) => near(self.unit()),
            (Shape::Logarithmic { width, .. }, 0) => {
                ((self.word() as i64) << 1 >> (65 - width)) as u64 & !(1 << 63) | (self.word() << 63)
            }
            // Magnitudes from 2^-16 to 2^16, and those that are near 1.
            (Shape::Logarithmic { frac, .. }, 1..=4) => {
                let logarithm = (self.word() as i64) >> (64 - 5 - frac);
                logarithm as u64 & !(1 << 63) | (self.word() << 63)
            }
            (Shape::Logarithmic { width, .. }, _) => {
                let logarithm = (self.sized() as i64) >> (66 - width);
                logarithm as u64 & !(1 << 63) | (self.word() << 63)
            }
            (Shape::Int | Shape::Fixed { .. }, 0..=3) => ((self.sized() as i64) >> (64 - shape.width())) as u64,
            (_, 4 | 5) => near(self.unit() * 16.0),
            (_, _) => near(self.unit() * 1.25),
        }
    }
}

/// Words to test conversions with: the edges and their neighbours, all words of 16
/// leading bits, and `count` random ones, most of them within the range of the
/// other types.
pub fn words(shape: Shape, count: usize) -> Vec<u64> {
    let integers = matches!(shape, Shape::Int | Shape::Fixed { .. });
    let mut random = Random(if integers { 1 } else { 3 });
    let near = |centre: u64| (-3i64..=3).map(move |d| centre.wrapping_add_signed(d));
    let mut words: Vec<u64> = (0..64).flat_map(|bit| [1 << bit, (1u64 << bit).wrapping_neg()]).collect();
    words.extend([0, 3 << 62, 1 << 62]);
    // Each power of two, as the type has it.
    match shape {
        Shape::Int | Shape::Fixed { .. } => {}
        Shape::Logarithmic { .. } => words.extend((-1024..1024i64).flat_map(|k| {
            let l = (k << 52) as u64 & !(1 << 63);
            [l, l | 1 << 63]
        })),
        Shape::Double => words.extend((0..2047u64).flat_map(|e| [e << 52, e << 52 | 1 << 63])),
    }
    words = words.into_iter().flat_map(near).collect();
    words.extend((0..1u64 << 16).map(|high| high << 48));
    if integers {
        words.extend(0..1u64 << 16);
    }
    words.extend((0..count).map(|i| match (shape, i % 4) {
        (Shape::Int | Shape::Fixed { .. }, _) => random.sized(),
        (_, 0) => random.word(),
        // Magnitudes from 2^-64 to 2^64.
        (Shape::Logarithmic { .. }, _) => {
            ((random.word() as i64) << 1 >> 6) as u64 & !(1 << 63) | (random.word() << 63)
        }
        (Shape::Double, _) => {
            let exponent = 1023 - 64 + random.word() % 128;
            (random.word() & !(0x7ff << 52)) | (exponent << 52)
        }
    }));
    words.sort_unstable();
    words.dedup();
    words
}

/// All words of a width.
pub fn exhaustive(shape: Shape) -> Vec<u64> {
    let width = shape.width();
    let extend = |word: u64| ((word << (64 - width)) as i64 >> (64 - width)) as u64;
    match shape {
        Shape::Logarithmic { .. } => (0..1u64 << width)
            .map(|word| {
                let logarithm = ((word << (65 - width)) as i64 >> (65 - width)) as u64;
                logarithm & !(1 << 63) | (word >> (width - 1) << 63)
            })
            .collect(),
        _ => (0..1u64 << width).map(extend).collect(),
    }
}

/// The word so many words on in the order of the numbers, if it is a number of this type.
pub fn step(shape: Shape, word: u64, by: i64) -> Option<u64> {
    match shape {
        Shape::Double => {
            let word = word.checked_add_signed(by)?;
            f64::from_bits(word).is_finite().then_some(word)
        }
        Shape::Logarithmic { .. } => {
            let logarithm = (((word << 1) as i64) >> 1) + by;
            let bound = 1i64 << (shape.width() - 2);
            (-bound < logarithm && logarithm < bound).then_some(logarithm as u64 & !(1 << 63) | (word >> 63 << 63))
        }
        _ => {
            let number = (word as i64).checked_add(by)?;
            (number >> (shape.width() - 1) == number >> 63).then_some(number as u64)
        }
    }
}

fn neighbours(shape: Shape, word: u64, within: i64) -> impl Iterator<Item = u64> {
    (-within..=within).filter_map(move |by| step(shape, word, by))
}

/// The nearest word to a number and those about it; none if it is out of range.
pub fn near(shape: Shape, x: &Float, within: i64) -> impl Iterator<Item = u64> {
    let word = shape.round(Rounding::Nearest, x).ok();
    word.into_iter().flat_map(move |word| neighbours(shape, word, within))
}

/// Numbers at which some function does something: see the comments.
fn landmarks(random: &mut Random) -> Vec<Float> {
    let pi = Float::with_val(PRECISION, Constant::Pi);
    let ln2 = Float::with_val(PRECISION, Constant::Log2);
    let mut marks = Vec::new();
    // Poles and zeros: multiples of π/4, small, near powers of two, and at random up to the range.
    let quarter = Float::with_val(PRECISION, &pi / 4);
    let mut turns: Vec<i64> = (0..=64).collect();
    for bit in 6..62 {
        turns.extend([-1, 0, 1, 2].map(|by| (1i64 << bit) + by));
    }
    turns.extend((0..300).map(|_| random.sized() as i64 >> 1));
    marks.extend(turns.iter().map(|&k| Float::with_val(PRECISION, &quarter * k)));
    // Powers of e that are powers of two or of its root: tables, overflow, underflow, saturation.
    marks.extend((0..=150).map(|k| Float::with_val(PRECISION, &ln2 * k) / 2u32));
    for n in 0..64 {
        let power: Float = real(1) << n;
        for turn in [-1i32, 0, 1, 2, 100] {
            // The tangent overflows here.
            marks.push(Float::with_val(PRECISION, &pi * turn) + power.clone().atan());
            marks.push(Float::with_val(PRECISION, &pi * turn) - power.clone().atan());
        }
        marks.extend([
            power.clone().asinh(),
            power.clone().acosh(),
            power.clone().sqrt(),
            power.clone().recip(),
            // Logarithms near 0, arc sines near their ends.
            1u32 + power.clone().recip(),
            1u32 - power.recip(),
        ]);
    }
    let negative: Vec<Float> = marks.iter().map(|x| Float::with_val(PRECISION, -x)).collect();
    marks.extend(negative);
    marks
}

/// Words for a function of one argument; `fails` says whether the kernel has no result.
pub fn unary(shape: Shape, fails: &dyn Fn(u64) -> bool) -> Vec<u64> {
    let mut random = Random(5);
    let mut words = Vec::new();
    for x in landmarks(&mut random) {
        words.extend(near(shape, &x, 3));
    }
    // Breakpoints of tables: of fractions, of angles, of powers.
    let pi = Float::with_val(PRECISION, Constant::Pi);
    let ln2 = Float::with_val(PRECISION, Constant::Log2);
    for i in -1280i32..=1280 {
        words.extend(near(shape, &(real(i) >> 8u32), 1));
        words.extend(near(shape, &(real(i) >> 9u32), 1));
        words.extend(near(shape, &(Float::with_val(PRECISION, &pi * i) >> 11u32), 1));
        words.extend(near(shape, &(Float::with_val(PRECISION, &ln2 * i) >> 8u32), 1));
    }
    for edge in edges(shape) {
        words.extend(neighbours(shape, edge, 40));
    }
    // All words of seven leading bits, and their neighbours.
    match shape {
        Shape::Double => {
            for lead in 0..2047u64 {
                let fractions = [0, random.word() >> 12, random.word() >> 58 << 46];
                for word in fractions.map(|fraction| lead << 52 | fraction) {
                    words.extend(neighbours(shape, word, 1));
                    words.extend(neighbours(shape, word | 1 << 63, 1));
                }
            }
        }
        _ => {
            for shift in 0..shape.width() - 7 {
                for lead in -128i64..128 {
                    words.extend(neighbours(shape, (lead << shift) as u64, 1));
                }
            }
        }
    }
    words.extend((0..COUNT).map(|_| random.number(shape)));
    // Sorted as the numbers are, but for the doubles' sign.
    let flip = if shape == Shape::Double { 0 } else { 1 << 63 };
    words.sort_unstable_by_key(|word| word ^ flip);
    words.dedup();
    let mut edges = Vec::new();
    for pair in words.windows(2) {
        let (mut low, mut high) = (pair[0] ^ flip, pair[1] ^ flip);
        if fails(pair[0]) == fails(pair[1]) {
            continue;
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if fails(middle ^ flip) == fails(pair[0]) {
                low = middle;
            } else {
                high = middle;
            }
        }
        edges.extend(neighbours(shape, low ^ flip, 8));
    }
    words.extend(edges);
    words.sort_unstable();
    words.dedup();
    words
}

/// The ends of the range, zero, units, one, and the powers of two between.
pub fn edges(shape: Shape) -> Vec<u64> {
    let mut words = Vec::new();
    match shape {
        Shape::Double => {
            for x in [0.0, f64::MIN_POSITIVE, 1.0, f64::MAX, f64::from_bits(1)] {
                words.extend([x.to_bits(), (-x).to_bits()]);
            }
            for power in [-1000i32, -300, -52, -10, -1, 1, 10, 31, 52, 53, 300, 1000] {
                let x = 2f64.powi(power);
                words.extend([x.to_bits(), (-x).to_bits()]);
            }
        }
        Shape::Logarithmic { width, frac } => {
            let top = 1i64 << (width - 2);
            let units = [0, 1, 1 << (frac - 1), 1 << frac, top / 2, top - 2, top - 1];
            for logarithm in units.into_iter().flat_map(|l| [l, -l]) {
                let word = logarithm as u64 & !(1 << 63);
                words.extend([word, word | 1 << 63]);
            }
            words.extend([shape.log_zero(), shape.log_zero() | 1 << 63]);
        }
        _ => {
            let greatest = i64::MAX >> (64 - shape.width());
            words.extend([0, greatest, -greatest, -greatest - 1].map(|n| n as u64));
            for bit in (0..shape.width() - 1).step_by(5).chain([shape.frac()]) {
                words.extend([1u64 << bit, (1u64 << bit).wrapping_neg()]);
            }
        }
    }
    for x in [1.5, 3.0, 5.0, 10.0, 0.1, 0.75] {
        words.extend(near(shape, &real(x), 0));
        words.extend(near(shape, &real(-x), 0));
    }
    words.sort_unstable();
    words.dedup();
    words
}
