//! The arithmetic in which the functions are written.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Sub};

/// Doubles, their bits, and truth values, without traps. A body over this trait runs on [`f64`], or is recorded and printed as C.
///
/// Each operation is rounded once, to nearest. Nothing may be reordered, and no product may be contracted with a sum: where one rounding is
/// wanted for both, the body says [`Double::fma`]. Whatever prints bodies must make sure of that.
pub trait Double:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
{
    /// A word of 64 bits: sums wrap.
    type Bits: Copy
        + Add<Output = Self::Bits>
        + Sub<Output = Self::Bits>
        + BitAnd<Output = Self::Bits>
        + BitOr<Output = Self::Bits>
        + BitXor<Output = Self::Bits>;
    /// Whether a condition holds.
    type Truth: Copy + BitAnd<Output = Self::Truth> + BitOr<Output = Self::Truth>;

    /// A constant.
    fn of(x: f64) -> Self;
    /// self · b + c, rounded once.
    fn fma(self, b: Self, c: Self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// The magnitude.
    fn abs(self) -> Self;
    /// The nearest whole number, ties to even.
    fn rint(self) -> Self;
    /// The bits.
    fn bits(self) -> Self::Bits;
    /// The double with these bits.
    fn from_bits(bits: Self::Bits) -> Self;
    /// The double nearest to a signed word.
    fn from_signed(bits: Self::Bits) -> Self;
    /// A word.
    fn word(word: u64) -> Self::Bits;
    /// A word shifted left.
    fn shl(bits: Self::Bits, by: u32) -> Self::Bits;
    /// A word shifted right, filled with zeros.
    fn shr(bits: Self::Bits, by: u32) -> Self::Bits;
    /// Whether a word is zero.
    fn is_zero(bits: Self::Bits) -> Self::Truth;
    /// self < other.
    fn lt(self, other: Self) -> Self::Truth;
    /// self ≤ other.
    fn le(self, other: Self) -> Self::Truth;
    /// self = other.
    fn equals(self, other: Self) -> Self::Truth;
    /// `a` if `c` holds, else `b`. Both are computed.
    fn select(c: Self::Truth, a: Self, b: Self) -> Self;
}

/// A word, whose sums wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits(pub u64);

macro_rules! operators {
    ($($Trait:ident $method:ident |$a:ident, $b:ident| $body:expr;)*) => { $(
        impl $Trait for Bits {
            type Output = Bits;
            #[inline(always)]
            fn $method(self, other: Bits) -> Bits {
                let ($a, $b) = (self.0, other.0);
                Bits($body)
            }
        }
    )* };
}

operators! {
    Add add |a, b| a.wrapping_add(b);
    Sub sub |a, b| a.wrapping_sub(b);
    BitAnd bitand |a, b| a & b;
    BitOr bitor |a, b| a | b;
    BitXor bitxor |a, b| a ^ b;
}

impl Double for f64 {
    type Bits = Bits;
    type Truth = bool;

    #[inline(always)]
    fn of(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn fma(self, b: f64, c: f64) -> f64 {
        self.mul_add(b, c)
    }
    #[inline(always)]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> f64 {
        f64::abs(self)
    }
    #[inline(always)]
    fn rint(self) -> f64 {
        self.round_ties_even()
    }
    #[inline(always)]
    fn bits(self) -> Bits {
        Bits(self.to_bits())
    }
    #[inline(always)]
    fn from_bits(bits: Bits) -> f64 {
        f64::from_bits(bits.0)
    }
    #[inline(always)]
    fn from_signed(bits: Bits) -> f64 {
        bits.0.cast_signed() as f64
    }
    #[inline(always)]
    fn word(word: u64) -> Bits {
        Bits(word)
    }
    #[inline(always)]
    fn shl(bits: Bits, by: u32) -> Bits {
        Bits(bits.0 << by)
    }
    #[inline(always)]
    fn shr(bits: Bits, by: u32) -> Bits {
        Bits(bits.0 >> by)
    }
    #[inline(always)]
    fn is_zero(bits: Bits) -> bool {
        bits.0 == 0
    }
    #[inline(always)]
    fn lt(self, other: f64) -> bool {
        self < other
    }
    #[inline(always)]
    fn le(self, other: f64) -> bool {
        self <= other
    }
    #[inline(always)]
    fn equals(self, other: f64) -> bool {
        self == other
    }
    #[inline(always)]
    fn select(c: bool, a: f64, b: f64) -> f64 {
        if c { a } else { b }
    }
}

/// An unevaluated sum of two doubles, the second small beside the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<D> {
    /// The sum, rounded.
    pub(super) high: D,
    /// What rounding left.
    pub(super) low: D,
}

impl<D: Double> Pair<D> {
    /// A constant from its two parts.
    #[inline(always)]
    pub(super) fn of(parts: [f64; 2]) -> Pair<D> {
        Pair { high: D::of(parts[0]), low: D::of(parts[1]) }
    }

    /// a + b, exactly.
    #[inline(always)]
    pub(super) fn sum(a: D, b: D) -> Pair<D> {
        let high = a + b;
        let other = high - a;
        let low = (a - (high - other)) + (b - other);
        Pair { high, low }
    }

    /// a + b, exactly, if a = 0 or |a| ≥ |b|.
    #[inline(always)]
    pub(super) fn quick(a: D, b: D) -> Pair<D> {
        let high = a + b;
        Pair { high, low: b - (high - a) }
    }

    /// a · b, exactly, if nothing underflows.
    #[inline(always)]
    pub(super) fn product(a: D, b: D) -> Pair<D> {
        let high = a * b;
        Pair { high, low: a.fma(b, -high) }
    }

    /// The product with a double.
    #[inline(always)]
    pub(super) fn times(self, by: D) -> Pair<D> {
        let p = Pair::product(self.high, by);
        Pair::quick(p.high, self.low.fma(by, p.low))
    }

    /// The product.
    #[inline(always)]
    pub(super) fn times_pair(self, by: Pair<D>) -> Pair<D> {
        let p = Pair::product(self.high, by.high);
        let low = self.high.fma(by.low, self.low.fma(by.high, p.low));
        Pair::quick(p.high, low)
    }

    /// The sum, to some 2^-104 of the greater summand.
    #[inline(always)]
    pub(super) fn plus(self, other: Pair<D>) -> Pair<D> {
        let s = Pair::sum(self.high, other.high);
        Pair::quick(s.high, s.low + (self.low + other.low))
    }

    /// The quotient, to some 2^-100.
    #[inline(always)]
    pub(super) fn over(self, by: Pair<D>) -> Pair<D> {
        let inverse = D::of(1.0) / by.high;
        let high = self.high * inverse;
        let rest = (-high).fma(by.high, self.high) + (-high).fma(by.low, self.low);
        Pair::quick(high, rest * inverse)
    }

    /// The square root of what is positive, or zero.
    #[inline(always)]
    pub(super) fn root(self) -> Pair<D> {
        let high = self.high.sqrt();
        let rest = (-high).fma(high, self.high) + self.low;
        // No division by zero.
        let low = rest * 0.5 / (high + f64::MIN_POSITIVE);
        Pair::quick(high, low)
    }

    /// Both negated.
    #[inline(always)]
    pub(super) fn negated(self) -> Pair<D> {
        Pair { high: -self.high, low: -self.low }
    }

    /// Both multiplied by a power of two, which must be exact.
    #[inline(always)]
    pub(super) fn scaled(self, by: D) -> Pair<D> {
        Pair { high: self.high * by, low: self.low * by }
    }

    /// The first if a condition holds.
    #[inline(always)]
    pub(super) fn select(c: D::Truth, a: Pair<D>, b: Pair<D>) -> Pair<D> {
        Pair { high: D::select(c, a.high, b.high), low: D::select(c, a.low, b.low) }
    }

    /// The double nearest to it.
    #[inline(always)]
    pub(super) fn rounded(self) -> D {
        self.high + self.low
    }
}

/// A polynomial, by ascending powers: its even and odd terms apart, so that two chains of operations run at a time.
#[inline(always)]
pub(super) fn polynomial<D: Double, const N: usize>(x: D, c: &[f64; N]) -> D {
    let square = x * x;
    let mut sums = [D::of(c[N - 2]), D::of(c[N - 1])];
    for n in (0..N - 2).rev().step_by(2) {
        sums[1] = sums[1].fma(square, D::of(c[n]));
        if n > 0 {
            sums[0] = sums[0].fma(square, D::of(c[n - 1]));
        }
        if n == 0 {
            // An odd number of terms: what came last is the even half.
            return sums[0].fma(x, sums[1]);
        }
    }
    sums[1].fma(x, sums[0])
}

/// The sign bit.
pub(super) const SIGN: u64 = 1 << 63;

/// The magnitude of `x` with the sign of `y`.
#[inline(always)]
pub(super) fn with_sign<D: Double>(x: D, y: D) -> D {
    D::from_bits(x.abs().bits() | (y.bits() & D::word(SIGN)))
}

/// Added to a double below 2^51 in magnitude, and subtracted again, it leaves the nearest whole number.
pub(super) const MAGIC: f64 = 6_755_399_441_055_744.0;

/// The whole number nearest to x·c, below 2^51 in magnitude, and a word whose lowest 51 bits are it.
#[inline(always)]
pub(super) fn nearest<D: Double>(x: D, c: f64) -> (D, D::Bits) {
    let sum = x.fma(D::of(c), D::of(MAGIC));
    (sum - MAGIC, sum.bits())
}
