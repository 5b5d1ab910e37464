//! The constants and tables of the machine's kernels, by the formulas of `crate::num`, which does not hand its own out. That they are the
//! same to the bit, the tests of the circuits show.

/// log2 e, in units of 2^-127.
pub(in crate::kernels) const LOG2_E: u128 = 0xb8aa_3b29_5c17_f0bb_be87_fed0_691d_3e89;
/// ln 2, in units of 2^-128.
pub(in crate::kernels) const LN_2: u128 = 0xb172_17f7_d1cf_79ab_c9e3_b398_03f2_f6af;
/// π/4 in units of 2^-128.
pub(in crate::kernels) const PI_OVER_4: u128 = 0xc90f_daa2_2168_c234_c4c6_628b_80dc_1cd1;
/// 2/π in units of 2^-192, the high limb first.
pub(in crate::kernels) const TWO_OVER_PI: [u64; 3] =
    [0xa2f9_836e_4e44_1529, 0xfc27_57d1_f534_ddc0, 0xdb62_9599_3c43_9042];
/// π in units of 2^-64.
pub(in crate::kernels) const PI: u128 = 0x3_243f_6a88_85a3_08d3;

/// a · b / 2^128, and the low half.
fn mul_wide(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let (a1, a0, b1, b0) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let low = a0 * b0;
    let middle = a1 * b0 + (low >> 64);
    let carried = a0 * b1 + (middle & LOW);
    (a1 * b1 + (middle >> 64) + (carried >> 64), (carried << 64) | (low & LOW))
}

fn mul_high(a: u128, b: u128) -> u128 {
    mul_wide(a, b).0
}

fn mul_high_nearest(a: u128, b: u128) -> u128 {
    let (high, low) = mul_wide(a, b);
    high + (low >> 127)
}

/// The sum of power/n for odd n, the power divided by a square each time: atanh(1/d) for 1/d.
fn odd_powers(mut power: u128, square: u128) -> u128 {
    let (mut sum, mut n) = (0, 1);
    while power > 0 {
        sum += power / n;
        power /= square;
        n += 2;
    }
    sum
}

/// log2(1 + i/128), in units of 2^-127.
pub(in crate::kernels) fn log_table() -> Vec<u128> {
    let mut table = vec![0];
    // `rest` holds 6 bits below 2^-127.
    let (mut sum, mut rest) = (0u128, 0u128);
    for i in 0..127u128 {
        let d = 257 + 2 * i;
        let (quotient, remainder) = (u128::MAX / d, u128::MAX % d + 1);
        rest += mul_high_nearest(odd_powers((quotient << 7) + (remainder << 7) / d, d * d), LOG2_E);
        sum += rest >> 6;
        rest &= 63;
        table.push(sum + (rest >> 5));
    }
    table
}

/// log2(e)/n for n from 1 to 18, in units of 2^-127.
pub(in crate::kernels) fn log_series() -> Vec<u128> {
    (1..=18).map(|n| LOG2_E / n).collect()
}

/// (ln 2)^n/n! for `terms` n from 0 on, in units of 2^-127.
pub(in crate::kernels) fn exp_series(terms: usize) -> Vec<u128> {
    let mut series = vec![1 << 127];
    for n in 1..terms {
        let divisor = n as u128;
        series.push((mul_high_nearest(series[n - 1], LN_2) + divisor / 2) / divisor);
    }
    series
}

/// 2^(i · 2^shift / 2^128) for so many i, in units of 2^-127.
pub(in crate::kernels) fn powers_of_two(entries: u128, shift: u32) -> Vec<u128> {
    let series = exp_series(35);
    let power = |i: u128| series.iter().rev().fold(0, |sum, c| c + mul_high_nearest(i << shift, sum));
    (0..entries).map(power).collect()
}

/// Numbers near the reciprocals of 1 + i/256 in units of 2^-10, with their negative logarithms to base e and to base 2 in units of 2^-70.
pub(in crate::kernels) fn intervals() -> Vec<(u128, u128, u128)> {
    let mut logs = [0u128; 513];
    for k in (512..1024).rev() {
        let d = 2 * k as u128 + 1;
        logs[k - 512] = logs[k - 511] + 2 * odd_powers((1 << 127) / d, d * d);
    }
    let interval = |i: usize| {
        let middle = 513 + 2 * i;
        let reciprocal = (2 * 1024 * 512 + middle) / (2 * middle);
        let log = logs[reciprocal - 512];
        (reciprocal as u128, (log + (1 << 56)) >> 57, (mul_high_nearest(log, LOG2_E) + (1 << 55)) >> 56)
    };
    // The first stays 1, so that powers of two have exact logarithms.
    (0..256).map(|i| if i == 0 { (1024, 0, 0) } else { interval(i) }).collect()
}

/// 1/(2n + 1)! or 1/(2n)! for n from 0 to 12, in units of 2^-127.
pub(in crate::kernels) fn factorials(odd: u128) -> Vec<u128> {
    let mut series = vec![1 << 127];
    for n in 1..13 {
        let k = 2 * n as u128 + odd;
        series.push((series[n - 1] + k * (k - 1) / 2) / (k * (k - 1)));
    }
    series
}

/// c0 − u(c1 − u(c2 − …)), the coefficients in units of 2^-127 and u in units of 2^-128.
fn alternating(coefficients: &[u128], u: u128) -> u128 {
    coefficients.iter().rev().copied().reduce(|sum, c| c - mul_high(u, sum)).unwrap_or(0)
}

/// sin θ, and 1 − cos θ above it, at θ = iπ/1024 up to π/4, each in units of 2^-64.
pub(in crate::kernels) fn nodes() -> Vec<u128> {
    let (sines, cosines) = (factorials(1), factorials(0));
    let round = |n: u128| (n + (1 << 62)) >> 63;
    let node = |i: u128| {
        let angle = (PI_OVER_4 >> 8) * i;
        let square = mul_high_nearest(angle, angle);
        let sine = mul_high_nearest(angle, alternating(&sines, square));
        let versine = mul_high_nearest(square, alternating(&cosines[1..], square));
        round(versine) << 64 | round(sine)
    };
    (0..=256).map(|i| if i == 0 { 0 } else { node(i) }).collect()
}

/// atan(i/128), in units of 2^-64.
pub(in crate::kernels) fn angles() -> Vec<u128> {
    let mut table = vec![0];
    let mut sum = 0u128;
    for i in 0..128u128 {
        // atan((i+1)/128) − atan(i/128) = atan(128 / (128² + i (i+1))).
        let d = 128 * 128 + i * (i + 1);
        let (mut power, mut atan, mut n) = ((1 << 127) / d * 128, 0u128, 1);
        while power > 0 {
            atan = if n % 4 == 1 { atan + power / n } else { atan - power / n };
            power = power / d * 128 / d * 128;
            n += 2;
        }
        sum += atan;
        table.push((sum + (1 << 62)) >> 63);
    }
    table
}
