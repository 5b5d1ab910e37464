//! Signed logarithmic numbers, `.l`: bit 63 is the number's sign, bits 0 to 62
//! are the logarithm to base 2 of its magnitude, two's complement, in units of
//! 2^-52 (Q11.52).
//!
//! Magnitudes run from 2^(-1024 + 2^-52) to 2^(1024 - 2^-52), with a
//! relative spacing of 2^-52 ln 2. The most negative logarithm is reserved: with sign
//! 0 it is [`ZERO`], with sign 1 it is not a number. The word 0 is the number 1.
//! These are the operations that are exact: a product is a sum of logarithms.
//! Sums are in [`gauss`](super::gauss), conversions in [`convert`](super::convert), text in
//! [`decimal`](super::decimal), and the computation of logarithms in `wide`.

use std::cmp::Ordering;

use super::Word;
use crate::fault::Fault;

/// The number 0: sign 0, most negative logarithm.
pub const ZERO: u64 = 1 << 62;
/// The number 1: the word 0.
pub const ONE: u64 = 0;
/// Fraction bits of the logarithm.
pub const FRAC: u32 = 52;
/// The greatest logarithm, in units of 2^-52.
pub const MAX_LOG: i64 = (1 << 62) - 1;
/// The least logarithm of a number that is not zero, in units of 2^-52.
pub const MIN_LOG: i64 = -MAX_LOG;

const SIGN: u64 = 1 << 63;

/// Whether the word is a number: all words except one are.
#[inline]
pub fn valid(a: u64) -> bool {
    a != SIGN | ZERO
}

/// Whether the number's sign is minus. Zero's is not.
#[inline]
pub fn is_negative(a: u64) -> bool {
    a & SIGN != 0
}

/// The logarithm, in units of 2^-52: `MIN_LOG..=MAX_LOG`, and `MIN_LOG - 1` for [`ZERO`].
#[inline]
pub fn logarithm(a: u64) -> i64 {
    ((a << 1) as i64) >> 1
}

/// The number of this sign and logarithm (units of 2^-52).
///
/// # Errors
/// [`Fault::Range`] when the logarithm is not within `MIN_LOG..=MAX_LOG`.
#[inline]
pub fn from_parts(negative: bool, logarithm: i64) -> Word {
    if (MIN_LOG..=MAX_LOG).contains(&logarithm) {
        Ok(((logarithm as u64) & !SIGN) | (u64::from(negative) << 63))
    } else {
        Err(Fault::Range)
    }
}

/// The sum or difference of two logarithms with the product of the signs.
/// Neither word is zero or invalid.
#[inline]
fn combine(a: u64, b: u64, logarithm: i64) -> Word {
    from_parts(is_negative(a ^ b), logarithm)
}

#[inline]
fn check(a: u64, b: u64) -> Result<(), Fault> {
    if valid(a) && valid(b) { Ok(()) } else { Err(Fault::BadLog) }
}

/// y, scaled by x so that it has this logarithm, unless it is zero.
#[inline]
fn scaled(y: u64, x: u64, log: i64) -> Word {
    check(y, x)?;
    match (x, y) {
        (ZERO, _) => Err(Fault::LogZero),
        (_, ZERO) => Ok(ZERO),
        _ => combine(y, x, log),
    }
}

/// `y *= x`, exact; a zero y stays zero. [`div`] is its inverse: for every y and
/// x for which one of them succeeds, the other restores y.
///
/// # Errors
/// [`Fault::BadLog`] for a word that is not a number; [`Fault::LogZero`] when x is
/// zero; [`Fault::Range`] when the logarithm overflows, the reserved one included.
#[inline]
pub fn mul(y: u64, x: u64) -> Word {
    scaled(y, x, logarithm(y) + logarithm(x))
}

/// `y /= x`, exact; a zero y stays zero. The inverse of [`mul`].
///
/// # Errors
/// As [`mul`].
#[inline]
pub fn div(y: u64, x: u64) -> Word {
    scaled(y, x, logarithm(y) - logarithm(x))
}

/// The function a · b, exact; a product with zero is zero.
///
/// # Errors
/// [`Fault::BadLog`] for a word that is not a number; [`Fault::Range`] when the logarithm overflows.
#[inline]
pub fn product(a: u64, b: u64) -> Word {
    check(a, b)?;
    if a == ZERO || b == ZERO { Ok(ZERO) } else { combine(a, b, logarithm(a) + logarithm(b)) }
}

/// The function a / b, exact; 0 / b is 0.
///
/// # Errors
/// [`Fault::BadLog`] for a word that is not a number; [`Fault::DivideByZero`];
/// [`Fault::Range`] when the logarithm overflows.
#[inline]
pub fn quotient(a: u64, b: u64) -> Word {
    check(a, b)?;
    if b == ZERO {
        Err(Fault::DivideByZero)
    } else if a == ZERO {
        Ok(ZERO)
    } else {
        combine(a, b, logarithm(a) - logarithm(b))
    }
}

/// −a, exact; zero stays zero.
///
/// # Errors
/// [`Fault::BadLog`] for a word that is not a number.
#[inline]
pub fn neg(a: u64) -> Word {
    if !valid(a) {
        Err(Fault::BadLog)
    } else if a == ZERO {
        Ok(ZERO)
    } else {
        Ok(a ^ SIGN)
    }
}

/// The order of the numbers (not of their logarithms).
///
/// # Errors
/// [`Fault::BadLog`] for a word that is not a number.
#[inline]
pub fn compare(a: u64, b: u64) -> Result<Ordering, Fault> {
    check(a, b)?;
    // Zero has sign 0 and the least logarithm, so it needs no special case.
    Ok(match (is_negative(a), is_negative(b)) {
        (false, true) => Ordering::Greater,
        (true, false) => Ordering::Less,
        (false, false) => logarithm(a).cmp(&logarithm(b)),
        (true, true) => logarithm(b).cmp(&logarithm(a)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::sample::{Random, edges};

    const BAD: u64 = 3 << 62;

    /// Words within 40 of each boundary between cases.
    fn slices() -> Vec<u64> {
        [0, 1 << 61, 1 << 62, 3 << 61, 1 << 63, 5 << 61, 3 << 62, 7 << 61]
            .into_iter()
            .flat_map(|centre: u64| (-40i64..=40).map(move |near| centre.wrapping_add_signed(near)))
            .collect()
    }

    fn inverse(y: u64, x: u64) {
        if let Ok(z) = mul(y, x) {
            assert_eq!(div(z, x), Ok(y), "{y:#x} *= {x:#x}");
        }
        if let Ok(z) = div(y, x) {
            assert_eq!(mul(z, x), Ok(y), "{y:#x} /= {x:#x}");
        }
    }

    /// Sign and logarithm as numbers, zero as `None`.
    fn model(y: u64, x: u64, sign: i128) -> Word {
        let read = |a: u64| ((a >> 63) as i128, (a as i128) << 65 >> 65);
        let ((sy, ly), (sx, lx)) = (read(y), read(x));
        let zero = -(1i128 << 62);
        match () {
            () if (sy, ly) == (1, zero) || (sx, lx) == (1, zero) => Err(Fault::BadLog),
            () if lx == zero => Err(Fault::LogZero),
            () if ly == zero => Ok(y),
            () => {
                let l = ly + sign * lx;
                if l <= zero || l >= -zero {
                    return Err(Fault::Range);
                }
                Ok(((sy ^ sx) as u64) << 63 | (l as u64 & !(1 << 63)))
            }
        }
    }

    #[test]
    fn multiplication_and_division_are_inverse_in_slices() {
        let slices = slices();
        for &y in &slices {
            for &x in &slices {
                inverse(y, x);
                assert_eq!(mul(y, x), model(y, x, 1), "{y:#x} *= {x:#x}");
                assert_eq!(div(y, x), model(y, x, -1), "{y:#x} /= {x:#x}");
            }
        }
    }

    #[test]
    fn multiplication_and_division_are_inverse_on_edges() {
        let edges = edges();
        for &y in &edges {
            for &x in &edges {
                inverse(y, x);
                assert_eq!(mul(y, x), model(y, x, 1));
                assert_eq!(div(y, x), model(y, x, -1));
            }
        }
    }

    #[test]
    fn multiplication_and_division_are_inverse_at_random() {
        let mut random = Random(3);
        for _ in 0..2_000_000 {
            let (y, x) = (random.word(), random.word());
            inverse(y, x);
        }
    }

    #[test]
    fn no_two_numbers_meet() {
        // By one x, at the upper edge: every y that does not trap gives another z.
        let top = |near: i64| from_parts(false, MAX_LOG - near).unwrap();
        let results: Vec<u64> = (0..200).filter_map(|near| mul(top(near), 100).ok()).collect();
        assert_eq!(results.len(), 100);
        assert!(results.windows(2).all(|pair| pair[0] == pair[1] + 1));
    }

    #[test]
    fn zero_and_the_word_that_is_none() {
        let three = 7u64;
        assert_eq!(mul(three, ZERO), Err(Fault::LogZero));
        assert_eq!(div(ZERO, ZERO), Err(Fault::LogZero));
        assert_eq!(mul(ZERO, three), Ok(ZERO));
        assert_eq!(div(ZERO, three), Ok(ZERO));
        assert_eq!(product(three, ZERO), Ok(ZERO));
        assert_eq!(product(ZERO, three), Ok(ZERO));
        assert_eq!(quotient(ZERO, three), Ok(ZERO));
        assert_eq!(quotient(three, ZERO), Err(Fault::DivideByZero));
        assert_eq!(quotient(ZERO, ZERO), Err(Fault::DivideByZero));
        assert_eq!(neg(ZERO), Ok(ZERO));
        assert_eq!(neg(ONE), Ok(1 << 63));
        for other in [ONE, ZERO, BAD] {
            for kernel in [mul, div, product, quotient] {
                assert_eq!(kernel(BAD, other), Err(Fault::BadLog));
                assert_eq!(kernel(other, BAD), Err(Fault::BadLog));
            }
            assert_eq!(compare(BAD, other), Err(Fault::BadLog));
            assert_eq!(compare(other, BAD), Err(Fault::BadLog));
        }
        assert_eq!(neg(BAD), Err(Fault::BadLog));
        assert!(!valid(BAD) && valid(ZERO) && valid(ONE));
    }

    #[test]
    fn functions_are_the_operations_away_from_zero() {
        let mut random = Random(4);
        for _ in 0..100_000 {
            let (a, b) = (random.word(), random.word());
            if [a, b].into_iter().all(|w| valid(w) && w != ZERO) {
                assert_eq!(product(a, b), mul(a, b));
                assert_eq!(product(a, b), product(b, a));
                assert_eq!(quotient(a, b), div(a, b));
            }
        }
    }

    #[test]
    fn order() {
        let l = |negative, log| from_parts(negative, log).unwrap();
        let ascending = [
            l(true, MAX_LOG),
            l(true, 0),
            l(true, MIN_LOG),
            ZERO,
            l(false, MIN_LOG),
            l(false, -1),
            ONE,
            l(false, MAX_LOG),
        ];
        for (i, &a) in ascending.iter().enumerate() {
            for (j, &b) in ascending.iter().enumerate() {
                assert_eq!(compare(a, b), Ok(i.cmp(&j)));
            }
        }
    }
}
