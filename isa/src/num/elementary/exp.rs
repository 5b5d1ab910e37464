//! e^x: two tables and a short series.

use super::Fixed;
use super::rounding::{encode, high};
use crate::fault::Fault;
use crate::num::wide::{LN_2, LOG2_E, exp_series, exp2_by_series, mul_high};

/// Fraction bits of the argument of [`power_of_e`].
pub(super) const ARGUMENT_FRAC: u32 = 57;

/// 2^(i/256), in units of 2^-127.
static COARSE: [u128; 256] = powers(120);
/// 2^(i/65536), in units of 2^-127.
static FINE: [u128; 256] = powers(112);

const fn powers(shift: u32) -> [u128; 256] {
    let series = exp_series();
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        table[i] = exp2_by_series(&series, (i as u128) << shift);
        i += 1;
    }
    table
}

/// e^x as m · 2^(exponent - 126) with 1 ≤ m · 2^-126 < 2.01, within a factor of
/// 1 ± 2^-77, exact for 0; x in units of 2^-57.
#[inline]
pub(super) fn power_of_e(x: i64) -> (u128, i32) {
    // Halves of 64 and 63 bits, so that the products are of signed words.
    const LOG2_HIGH: i64 = (LOG2_E >> 65) as i64;
    const LOG2_LOW: i64 = (LOG2_E >> 2) as i64 & i64::MAX;
    const LN_2_HIGH: u64 = (LN_2 >> 64) as u64;
    const THIRD: u64 = u64::MAX / 3;
    const TWELFTH: u64 = u64::MAX / 12;

    let x = i128::from(x);
    // log2(e^x) in units of 2^-119.
    let y = x * i128::from(LOG2_HIGH) + ((x * i128::from(LOG2_LOW)) >> 63);
    let coarse = COARSE[(y >> 111) as usize & 255];
    let fine = FINE[(y >> 103) as usize & 255];
    // The rest of y, below 2^-16, times ln 2: units of 2^-80.
    let z = high((y >> 39) as u64, LN_2_HIGH);
    // e^z - 1 = z + z²/2 (1 + z/3 + z²/12 + …): the next term is below 2^-89. Squares in units of 2^-96.
    let z2 = high(z, z);
    let w = high(z, THIRD) + (high(z2, TWELFTH) >> 16);
    let p = z + ((z2 + (high(z2, w) >> 16)) >> 17);
    // In units of 2^-126.
    let base = mul_high(coarse, fine);
    let m = base + ((u128::from((base >> 64) as u64) * u128::from(p)) >> 16);
    (m, (y >> 119) as i32)
}

/// The argument in units of 2^-57, or the side on which the result is certainly out of range: below −64 or not below 64.
#[inline]
pub(super) fn argument(t: Fixed, a: i64) -> Result<i64, Beyond> {
    match a >> t.frac {
        64.. => Err(Beyond::Above),
        -64.. => Ok(a << (ARGUMENT_FRAC - t.frac)),
        _ => Err(Beyond::Below),
    }
}

/// For an argument whose power of e is too large or too small for every type: which of the two.
pub(super) enum Beyond {
    Above,
    Below,
}

/// e^a.
///
/// # Errors
/// [`Fault::Range`].
#[inline(never)]
pub fn exp(t: Fixed, a: i64) -> Result<i64, Fault> {
    match argument(t, a) {
        Ok(x) => {
            let (m, exponent) = power_of_e(x);
            encode(t, false, m, exponent - 126)
        }
        Err(Beyond::Above) => Err(Fault::Range),
        Err(Beyond::Below) => Ok(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_values() {
        for frac in [1, 5, 32, 43, 48] {
            let t = Fixed { width: 64, frac };
            assert_eq!(exp(t, 0), Ok(t.one()));
            assert_eq!(exp(t, i64::MIN), Ok(0));
            assert_eq!(exp(t, i64::MAX), Err(Fault::Range));
            // 2^-frac/2 = e^(-(frac+1) ln 2): below, zero.
            assert_eq!(exp(t, -(i64::from(frac) + 1) << frac), Ok(0));
        }
    }

    #[test]
    fn nearly_as_in_floating_point() {
        let t = Fixed { width: 64, frac: 32 };
        let mut a = -30i64 << 32;
        while a < 21 << 32 {
            let x = libm::exp(a as f64 / 4294967296.0) * 4294967296.0;
            let e = exp(t, a).unwrap();
            assert!((e as f64 - x).abs() <= 1.0 + x * 1e-15, "{a}: {e} {x}");
            a += 123_456_789;
        }
    }
}
