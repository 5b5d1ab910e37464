//! Logarithms of fixed-point numbers.

use pendula_isa::num::elementary::Fixed;

use super::super::builder::Builder;
use super::super::word::{Bit, Word};
use super::Outcome;
use super::arithmetic::{above, part};
use super::float::integer;
use super::tables::{self, LN_2, LOG2_E};

/// Units of 2^-70, for the sums.
const SUM_FRAC: usize = 70;

/// a = 2^exponent / reciprocal · e^rest.
struct Split {
    /// Signed.
    exponent: Word,
    /// The logarithm of the reciprocal, negative, in units of 2^-70.
    log: Word,
    /// Signed, in units of 2^-70.
    rest: Word,
}

fn split(b: &mut Builder, t: Fixed, a: &Word, binary: bool) -> Split {
    // 1/n in units of 2^-63.
    let over = |n: u128| Word::constant(i64::MAX as u128 / n, 63);
    let width = t.width as usize;
    let (m, up) = b.normalize(&a[..width - 1]);
    let exponent = b.difference_signed(&integer(i64::from(t.width) - 2 - i64::from(t.frac)), &up.then(&[Bit::ZERO]), 8);
    // From 1 up to 2 in units of 2^-62.
    let m = m.shifted_left(64 - width);
    let entry = |(reciprocal, log, log2): (u128, u128, u128)| reciprocal | if binary { log2 } else { log } << 11;
    let table: Vec<u128> = tables::intervals().into_iter().map(entry).collect();
    let interval = b.entry(&m[54..62], &table, 11 + 72);
    // The product is 1 + z; |z| < 2^-8 in units of 2^-70: what is above is the 1.
    let z = part(&b.times(&m, &interval[..11]), 2..65);
    // z² in units of 2^-76, the sums in units of 2^-63, signed.
    let magnitude = b.magnitude(&z);
    let square = part(&b.times(&magnitude, &magnitude), 64..126);
    let times_z = |b: &mut Builder, n: u128| above(&b.times_signed(&z, &over(n)), 70);
    let less = |b: &mut Builder, n: u128| {
        let product = times_z(b, n + 1);
        b.difference_signed(&over(n).then(&[Bit::ZERO]), &product, 64)
    };
    let (first, second, third) = (less(b, 2), less(b, 4), less(b, 6));
    // All of these are positive.
    let product = b.high(&square, &third, 76);
    let sum = b.sum(&second, &product, 64);
    let product = b.high(&square, &sum, 76);
    let sum = b.sum(&first, &product, 64);
    let product = b.high(&square, &sum, 69);
    let rest = b.difference_signed(&z, &product.then(&[Bit::ZERO]), 64);
    Split { exponent, log: above(&interval, 11), rest }
}

/// The rounded sum, and whether a has a logarithm.
fn finish(b: &mut Builder, t: Fixed, a: &Word, terms: [&Word; 3]) -> Outcome {
    let sum = b.sum_signed(terms[0], terms[1], SUM_FRAC + 10);
    let sum = b.sum_signed(&sum, terms[2], SUM_FRAC + 10);
    let rounded = b.nearest_up_signed(&sum, SUM_FRAC - t.frac as usize);
    let zero = b.is_zero(a);
    Outcome::of(b.fit(&rounded, t.width as usize)).or(a.sign()).or(zero)
}

/// Natural logarithm.
pub(super) fn log(b: &mut Builder, t: Fixed, a: &Word) -> Outcome {
    let Split { exponent, log, rest } = split(b, t, a, false);
    // Eight bits more for ln 2, which is taken up to 63 times.
    let whole = b.times_signed(&exponent, &Word::constant(LN_2 >> (128 - SUM_FRAC - 8), SUM_FRAC + 8));
    finish(b, t, a, [&above(&whole, 8), &log, &rest])
}

/// Logarithm to base 2.
pub(super) fn log2(b: &mut Builder, t: Fixed, a: &Word) -> Outcome {
    let Split { exponent, log, rest } = split(b, t, a, true);
    let rest = above(&b.times_signed(&rest, &Word::constant(LOG2_E >> 65, 63)), 62);
    finish(b, t, a, [&exponent.shifted_left(SUM_FRAC), &log, &rest])
}
