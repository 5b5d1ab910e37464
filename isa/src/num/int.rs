//! Integer kernels that can fail, and the exact scaling behind `rmul`.
//! What cannot fail is a method of [`Domain`](crate::domain::Domain).

use super::{Env, Word};
use crate::fault::Fault;

fn nonzero(b: u64) -> Result<i64, Fault> {
    if b == 0 { Err(Fault::DivideByZero) } else { Ok(b.cast_signed()) }
}

/// Quotient rounded toward zero; the smallest integer by −1 wraps to itself.
#[inline]
pub fn quot(_: Env, a: u64, b: u64) -> Word {
    Ok(a.cast_signed().wrapping_div(nonzero(b)?).cast_unsigned())
}

/// Remainder with the sign of `a`.
#[inline]
pub fn rem(_: Env, a: u64, b: u64) -> Word {
    Ok(a.cast_signed().wrapping_rem(nonzero(b)?).cast_unsigned())
}

/// Quotient rounded down; the smallest integer by −1 wraps to itself.
#[inline]
pub fn div(_: Env, a: u64, b: u64) -> Word {
    let (a, b) = (a.cast_signed(), nonzero(b)?);
    let (q, r) = (a.wrapping_div(b), a.wrapping_rem(b));
    Ok((if r != 0 && (r < 0) != (b < 0) { q - 1 } else { q }).cast_unsigned())
}

/// Remainder with the sign of `b`.
#[inline]
pub fn modulo(_: Env, a: u64, b: u64) -> Word {
    let (a, b) = (a.cast_signed(), nonzero(b)?);
    let r = a.wrapping_rem(b);
    Ok((if r != 0 && (r < 0) != (b < 0) { r + b } else { r }).cast_unsigned())
}

/// Quotient of unsigned integers.
#[inline]
pub fn udiv(_: Env, a: u64, b: u64) -> Word {
    a.checked_div(b).ok_or(Fault::DivideByZero)
}

/// Remainder of unsigned integers.
#[inline]
pub fn umod(_: Env, a: u64, b: u64) -> Word {
    a.checked_rem(b).ok_or(Fault::DivideByZero)
}

/// A signed integer to the power of an unsigned one, and whether it wrapped.
#[inline]
pub fn ipow(_: Env, a: u64, b: u64) -> (u64, bool) {
    let (mut base, mut left, mut out) = (a.cast_signed(), b, 1i64);
    let (mut wrapped, mut base_wrapped) = (false, false);
    while left > 0 {
        if left & 1 == 1 {
            let (product, over) = out.overflowing_mul(base);
            // What has wrapped once is right only modulo 2^64.
            wrapped |= over || base_wrapped;
            out = product;
        }
        left >>= 1;
        if left > 0 {
            let (square, over) = base.overflowing_mul(base);
            base_wrapped |= over;
            base = square;
        }
    }
    (out.cast_unsigned(), wrapped)
}

/// `[x, buf, num, den]` to `[x', buf']`: multiplies x by num/den, exactly, with the information buffer.
///
/// With flooring division, buf₁ = buf·den + (x mod den); x' = ⌊x/den⌋·num + (buf₁ mod num); buf' = ⌊buf₁/num⌋.
/// A bijection on pairs of unbounded integers, whose inverse is itself with the factors exchanged.
/// Errors: [`Fault::BadFactor`] unless both factors are positive; [`Fault::FactorOverflow`] if a result is no 64-bit integer.
#[inline]
pub fn scale(_: Env, [x, buf, num, den]: [u64; 4]) -> Result<[u64; 2], Fault> {
    let (num, den) = (num.cast_signed(), den.cast_signed());
    if num <= 0 || den <= 0 {
        return Err(Fault::BadFactor);
    }
    // |buf·den| < 2^126 and |⌊x/den⌋·num| < 2^126: nothing below overflows 128 bits.
    let (x, buf, num, den) =
        (i128::from(x.cast_signed()), i128::from(buf.cast_signed()), i128::from(num), i128::from(den));
    let buf = buf * den + x.rem_euclid(den);
    let x = x.div_euclid(den) * num + buf.rem_euclid(num);
    let buf = buf.div_euclid(num);
    match (i64::try_from(x), i64::try_from(buf)) {
        (Ok(x), Ok(buf)) => Ok([x.cast_unsigned(), buf.cast_unsigned()]),
        _ => Err(Fault::FactorOverflow),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_rounds_as_documented() {
        let e = Env::default();
        let w = |x: i64| x.cast_unsigned();
        for (a, b, q, r, d, m) in [
            (7, 2, 3, 1, 3, 1),
            (-7, 2, -3, -1, -4, 1),
            (7, -2, -3, 1, -4, -1),
            (-7, -2, 3, -1, 3, -1),
            (6, -3, -2, 0, -2, 0),
        ] {
            assert_eq!(
                (quot(e, w(a), w(b)), rem(e, w(a), w(b)), div(e, w(a), w(b)), modulo(e, w(a), w(b))),
                (Ok(w(q)), Ok(w(r)), Ok(w(d)), Ok(w(m))),
                "{a} by {b}"
            );
        }
        assert_eq!(quot(e, w(i64::MIN), w(-1)), Ok(w(i64::MIN)));
        assert_eq!(div(e, w(i64::MIN), w(-1)), Ok(w(i64::MIN)));
        assert_eq!(modulo(e, w(i64::MIN), w(-1)), Ok(0));
        assert_eq!(rem(e, 5, 0), Err(Fault::DivideByZero));
    }

    #[test]
    fn scaling_multiplies_and_comes_back() {
        let e = Env::default();
        let [x, buf] = scale(e, [1000, 0, 9, 10]).unwrap();
        assert_eq!((x, buf), (900, 0));
        let (mut x, mut buf) = ((-123_456_789_i64).cast_unsigned(), 0);
        let start = x;
        for _ in 0..15 {
            [x, buf] = scale(e, [x, buf, 9, 10]).unwrap();
        }
        // 0.9^15 · −123 456 789, within the sum of fifteen roundings
        assert!((x.cast_signed() + 25_418_658).abs() < 20, "{}", x.cast_signed());
        for _ in 0..15 {
            [x, buf] = scale(e, [x, buf, 10, 9]).unwrap();
        }
        assert_eq!((x, buf), (start, 0));
    }
}
