//! Logarithm and power of two in 128-bit integers, for the conversions and the
//! text of `.l`: table and series, the same bits on every machine.
//!
//! Both are within 2^-122 of the true value (measured against MPFR by the crate
//! `accuracy`, 2^-124), and exact at powers of two; their callers round to about
//! 64 bits. The module does not depend on the formats of words.

/// log2 e, in units of 2^-127.
pub(crate) const LOG2_E: u128 = 0xb8aa_3b29_5c17_f0bb_be87_fed0_691d_3e89;
/// ln 2, in units of 2^-128.
pub(crate) const LN_2: u128 = 0xb172_17f7_d1cf_79ab_c9e3_b398_03f2_f6af;

/// Entries of a table: one for each value of the leading 7 fraction bits.
const ENTRIES: usize = 128;
/// Terms of the series of log2(1+z) for z < 2^-7: the first left out is below 2^-129.
const LOG_TERMS: usize = 18;
/// Terms of the series of 2^h, h < 1, that the table needs: (ln 2)^35/35! < 2^-150.
const EXP_TERMS: usize = 35;
/// Terms of the series of 2^h for h < 2^-7: the first left out is below 2^-141.
const SHORT_EXP_TERMS: usize = 14;

/// The 256-bit product, high and low half.
#[inline]
const fn mul_wide(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let (a1, a0, b1, b0) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let low = a0 * b0;
    // (2^64 - 1)^2 + 2^64 - 1 < 2^128: the sums below do not overflow.
    let middle = a1 * b0 + (low >> 64);
    let carried = a0 * b1 + (middle & LOW);
    (a1 * b1 + (middle >> 64) + (carried >> 64), (carried << 64) | (low & LOW))
}

/// a · b / 2^128, rounded down.
#[inline]
pub(crate) const fn mul_high(a: u128, b: u128) -> u128 {
    mul_wide(a, b).0
}

/// a · b / 2^128, rounded to nearest.
pub(crate) const fn mul_high_nearest(a: u128, b: u128) -> u128 {
    let (high, low) = mul_wide(a, b);
    high + (low >> 127)
}

/// n / 2^shift to the nearest integer, ties to even; any shift.
#[inline]
pub(crate) const fn shift_nearest(n: u128, shift: u32) -> u128 {
    const HALF: u128 = 1 << 127;
    match shift {
        0 => n,
        1..=127 => {
            let (quotient, rest) = (n >> shift, n << (128 - shift));
            let up = rest > HALF || (rest == HALF && quotient & 1 == 1);
            quotient + up as u128
        }
        128 => (n > HALF) as u128,
        _ => 0,
    }
}

/// log2(1 + i/128), in units of 2^-127.
static LOG_TABLE: [u128; ENTRIES] = log_table();
/// log2(e) / n at n, in units of 2^-127.
static LOG_SERIES: [u128; LOG_TERMS + 1] = log_series();
/// 2^(i/128), in units of 2^-127.
static EXP_TABLE: [u128; ENTRIES] = exp_table();
/// (ln 2)^n / n! at n, in units of 2^-127.
static EXP_SERIES: [u128; EXP_TERMS] = exp_series();

/// By log2((k+1)/k) = 2 log2(e) atanh(1/(2k+1)), summed from k = 128.
const fn log_table() -> [u128; ENTRIES] {
    let mut table = [0; ENTRIES];
    // `rest` holds the sum's 6 bits below 2^-127, so that 127 rounding errors do not add up.
    let (mut sum, mut rest) = (0u128, 0u128);
    let mut i = 0;
    while i < ENTRIES - 1 {
        let d = 257 + 2 * i as u128;
        // 2^135 / d, from 2^128 / d and its remainder.
        let (quotient, remainder) = (u128::MAX / d, u128::MAX % d + 1);
        let mut power = (quotient << 7) + (remainder << 7) / d;
        let (mut atanh, mut n) = (0, 1);
        while power > 0 {
            atanh += power / n;
            power /= d * d;
            n += 2;
        }
        // Units 2^-135 by 2^-127, and twice that: units of 2^-133.
        rest += mul_high_nearest(atanh, LOG2_E);
        sum += rest >> 6;
        rest &= 63;
        i += 1;
        table[i] = sum + (rest >> 5);
    }
    table
}

const fn log_series() -> [u128; LOG_TERMS + 1] {
    let mut series = [0; LOG_TERMS + 1];
    let mut n = 1;
    while n <= LOG_TERMS {
        series[n] = LOG2_E / n as u128;
        n += 1;
    }
    series
}

const fn exp_table() -> [u128; ENTRIES] {
    let series = exp_series();
    let mut table = [0; ENTRIES];
    let mut i = 0;
    while i < ENTRIES {
        table[i] = exp2_by_series(&series, (i as u128) << 121);
        i += 1;
    }
    table
}

/// 2^h in units of 2^-127, h in units of 2^-128: for tables, at compile time.
pub(crate) const fn exp2_by_series(series: &[u128; EXP_TERMS], h: u128) -> u128 {
    let mut sum = 0;
    let mut n = EXP_TERMS;
    while n > 0 {
        n -= 1;
        sum = series[n] + mul_high_nearest(h, sum);
    }
    sum
}

pub(crate) const fn exp_series() -> [u128; EXP_TERMS] {
    let mut series = [0; EXP_TERMS];
    series[0] = 1 << 127;
    let mut n = 1;
    while n < EXP_TERMS {
        let divisor = n as u128;
        series[n] = (mul_high_nearest(series[n - 1], LN_2) + divisor / 2) / divisor;
        n += 1;
    }
    series
}

/// log2(m) for 1 ≤ m < 2, both in units of 2^-127: `m` has its top bit set.
/// The result is at most 2^127 (rounding may reach it); 0 for 1.
#[inline]
pub(crate) fn log2(m: u128) -> u128 {
    debug_assert!(m >> 127 == 1);
    let index = (m >> 120) as usize & (ENTRIES - 1);
    let above = m & ((1 << 120) - 1);
    // m = (1 + index/128) (1 + z): z in units of 2^-128, below 2^-7.
    let z = (above << 8) / (ENTRIES + index) as u128;
    let mut sum = LOG_SERIES[LOG_TERMS];
    for &coefficient in LOG_SERIES[1..LOG_TERMS].iter().rev() {
        sum = coefficient - mul_high(z, sum);
    }
    LOG_TABLE[index] + mul_high(z, sum)
}

/// 2^fraction, from 1 up to below 2, in units of 2^-127; `fraction` in units of
/// 2^-128. Exactly 1 for 0.
#[inline]
pub(crate) fn exp2(fraction: u128) -> u128 {
    let base = EXP_TABLE[(fraction >> 121) as usize];
    let h = fraction & ((1 << 121) - 1);
    let mut sum = EXP_SERIES[SHORT_EXP_TERMS];
    for &coefficient in EXP_SERIES[1..SHORT_EXP_TERMS].iter().rev() {
        sum = coefficient + mul_high(h, sum);
    }
    // base · (1 + h·sum): the small part in units of 2^-128. Rounding could reach 2.
    base.saturating_add(mul_high(base, mul_high(h, sum) << 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random words. This file uses nothing from its crate, so that `accuracy` can include it.
    fn words() -> impl Iterator<Item = u128> {
        let step = |w: &u64| Some(w.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1));
        let mut halves = std::iter::successors(Some(1), step).map(|w| u128::from(w >> 32));
        std::iter::from_fn(move || Some(halves.next()? << 32 | halves.next()?))
    }

    #[test]
    fn products() {
        let mut random = words();
        let max = u128::MAX;
        assert_eq!(mul_wide(max, max), (max - 1, 1));
        for _ in 0..10_000 {
            let (a, b) = (random.next().unwrap(), random.next().unwrap());
            assert_eq!(mul_wide(a, b), (0, a * b));
            assert_eq!(mul_wide(a << 64, b << 37), ((a * b) >> 27, (a * b) << 101));
        }
    }

    #[test]
    fn shifts_round_to_nearest_even() {
        for n in 0..64u128 {
            for shift in 0..10 {
                let scale = (1u32 << shift) as f64;
                let expected = (n as f64 / scale).round_ties_even() as u128;
                assert_eq!(shift_nearest(n, shift), expected, "{n} >> {shift}");
            }
        }
        assert_eq!(shift_nearest(1 << 127, 128), 0);
        assert_eq!(shift_nearest((1 << 127) + 1, 128), 1);
        assert_eq!(shift_nearest(u128::MAX, 129), 0);
        assert_eq!(shift_nearest(u128::MAX, 127), 2);
    }

    #[test]
    fn ends() {
        assert_eq!(log2(1 << 127), 0);
        assert_eq!(exp2(0), 1 << 127);
        assert!(log2(u128::MAX) <= 1 << 127);
        assert!(exp2(u128::MAX) > u128::MAX - 64);
    }

    #[test]
    fn inverse_of_each_other() {
        let mut random = words();
        for _ in 0..20_000 {
            let fraction = random.next().unwrap() << 64 | random.next().unwrap();
            let back = log2(exp2(fraction)) << 1;
            assert!(back.abs_diff(fraction) < 1 << 7, "{fraction:#x} {back:#x}");
        }
    }

    #[test]
    fn monotone_where_table_entries_meet() {
        for index in 1..ENTRIES as u128 {
            let m = (128 + index) << 120;
            assert!(log2(m - (1 << 20)) < log2(m) && log2(m) < log2(m + (1 << 20)));
            let f = index << 121;
            assert!(exp2(f - (1 << 20)) < exp2(f) && exp2(f) < exp2(f + (1 << 20)));
        }
    }
}
