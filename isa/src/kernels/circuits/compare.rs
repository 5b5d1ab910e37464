//! Comparisons and selections of floating-point numbers: a sign, and below it an exponent and a mantissa, which together order the
//! magnitudes. Zero has two signs, and words beyond infinity are not numbers.

use super::{Float, Formats, Outcome};
use crate::circuit::{Bit, Builder, Role, Word};
use crate::types::Cond;

/// Comparisons of numbers of a type, of which some words are none.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// The name of the trap bits.
    pub(super) trap: &'static str,
    /// `bit ^= ` whether a word is no number.
    pub(super) invalid: fn(&mut Builder, &[Bit], Bit),
    /// `bit ^= ` whether a condition holds between numbers.
    pub(super) condition: fn(&mut Builder, Cond, &[Bit], &[Bit], Bit),
}

impl Comparison {
    fn xor(&self, b: &mut Builder, cond: Cond, words: [&[Bit]; 2], invalid: &[Bit], target: Bit) {
        for (word, invalid) in words.into_iter().zip(invalid) {
            (self.invalid)(b, word, *invalid);
        }
        (self.condition)(b, cond, words[0], words[1], target);
    }

    /// A condition into an existing bit, with trap bits for words that are no numbers.
    pub fn xor_into(&self, b: &mut Builder, cond: Cond, x: &[Bit], z: &[Bit], target: Bit) {
        let invalid = b.register(self.trap, Role::Trap, 2);
        self.xor(b, cond, [x, z], &invalid, target);
    }

    /// 1 if a condition holds, else 0.
    pub fn value(&self, b: &mut Builder, cond: Cond, x: &[Bit], z: &[Bit]) -> Outcome {
        let (invalid, holds) = (b.word(2), b.bit());
        self.xor(b, cond, [x, z], &invalid, holds);
        Outcome { word: holds.into(), faults: invalid.to_vec() }
    }
}

/// `nan ^= ` whether a word is NaN: its magnitude is above that of infinity.
fn xor_nan(b: &mut Builder, word: &[Bit], nan: Bit) {
    let t = Formats::of_width(word.len()).float;
    let infinity = Word::constant(0, t.mantissa).then(&vec![Bit::ONE; t.exponent]);
    b.xor_less(&infinity, &word[..word.len() - 1], nan);
}

/// `target ^= ` whether x < z, for words that are not NaN. The magnitude of a negative number is complemented, since
/// its order is reversed; then both are compared as signed words, in which −0 is just below +0.
fn xor_less(b: &mut Builder, x: &[Bit], z: &[Bit], target: Bit) {
    let magnitude = x.len() - 1;
    b.with(
        |b| {
            for word in [x, z] {
                b.complement_if(word[magnitude], &word[..magnitude]);
            }
        },
        |b, ()| b.xor_less_signed(x, z, target),
    );
    // −0 and +0: the only 1 is the sign of the first.
    let others = Word::from(&x[..magnitude]).then(z);
    b.complement(&others);
    b.xor_all(&others.then(&x[magnitude..]), target);
    b.complement(&others);
}

/// `target ^= ` whether x = z, for words that are not NaN.
fn xor_equal(b: &mut Builder, x: &[Bit], z: &[Bit], target: Bit) {
    let magnitude = x.len() - 1;
    b.xor_equal(x, z, target);
    // Zeros of different signs.
    b.with(
        |b| b.cnot(x[magnitude], z[magnitude]),
        |b, ()| {
            let magnitudes = Word::from(&x[..magnitude]).then(&z[..magnitude]);
            b.complement(&magnitudes);
            b.xor_all(&magnitudes.then(&z[magnitude..]), target);
            b.complement(&magnitudes);
        },
    );
}

/// `target ^= ` whether a condition holds between words that are not NaN.
fn xor_condition(b: &mut Builder, cond: Cond, x: &[Bit], z: &[Bit], target: Bit) {
    match cond {
        Cond::Always => b.not(target),
        Cond::Eq | Cond::Ne => xor_equal(b, x, z, target),
        // The table has no unsigned conditions for floating-point numbers.
        Cond::Lt | Cond::Ge | Cond::Ltu | Cond::Geu => xor_less(b, x, z, target),
        Cond::Gt | Cond::Le => xor_less(b, z, x, target),
    }
    if matches!(cond, Cond::Ne | Cond::Ge | Cond::Le | Cond::Geu) {
        b.not(target);
    }
}

/// Comparisons of doubles, which fail for NaN.
pub const COMPARISON: Comparison = Comparison { trap: "trap_nan", invalid: xor_nan, condition: xor_condition };

/// The lesser number, −0 less than +0, or the greater one.
pub(in crate::kernels) fn extremum(b: &mut Builder, t: Float, x: &Word, z: &Word, greater: bool) -> Outcome {
    let magnitude = x.len() - 1;
    let less = b.bit();
    b.with(
        |b| {
            for word in [x, z] {
                b.complement_if(word[magnitude], &word[..magnitude]);
            }
        },
        |b, ()| b.xor_less_signed(x, z, less),
    );
    let (first, second) = if greater { (z, x) } else { (x, z) };
    let word = b.select(less, first, second);
    Outcome { word, faults: [x, z].map(|word| special(b, t, word)).to_vec() }
}

/// The magnitude.
pub(in crate::kernels) fn magnitude(b: &mut Builder, t: Float, a: &Word) -> Outcome {
    Outcome::infallible(Word::from(&a[..a.len() - 1]).then(&[Bit::ZERO])).or(special(b, t, a))
}

/// 1 if the magnitude is at most the tolerance, else 0; 0 where one is NaN.
pub(in crate::kernels) fn within(b: &mut Builder, a: &Word, tolerance: &Word) -> Outcome {
    let (size, limit) = (&a[..a.len() - 1], &tolerance[..a.len() - 1]);
    if tolerance.iter().all(|bit| *bit == Bit::ZERO) {
        return Outcome::infallible(Word::from(b.is_zero(size)).unsigned(a.len()));
    }
    // The magnitude of NaN is above that of infinity. A tolerance of −0 is zero.
    let (above, nan) = (b.less(limit, size), b.bit());
    xor_nan(b, tolerance, nan);
    let some = b.any(limit);
    let negative = b.and(tolerance.sign(), some);
    let near = b.is_zero(&[above, nan, negative]);
    Outcome::infallible(Word::from(near).unsigned(a.len()))
}

/// Whether a number is infinite or NaN.
fn special(b: &mut Builder, t: Float, a: &[Bit]) -> Bit {
    b.all(&a[t.mantissa..t.mantissa + t.exponent])
}

/// The number if it is greater than zero, else +0.
pub(in crate::kernels) fn positive(b: &mut Builder, t: Float, a: &Word) -> Outcome {
    let positive = b.inverse_of(a.sign());
    Outcome::infallible(b.mask(positive, a)).or(special(b, t, a))
}

/// −1, 0 or 1.
pub(in crate::kernels) fn sign(b: &mut Builder, t: Float, a: &Word) -> Outcome {
    let some = b.any(&a[..a.len() - 1]);
    let negative = b.and(a.sign(), some);
    // The exponent of 1 is the bias: all ones but the top one.
    let one = Word::constant(0, t.mantissa).then(&vec![some; t.exponent - 1]).then(&[Bit::ZERO]);
    Outcome::infallible(one.then(&[negative])).or(special(b, t, a))
}
