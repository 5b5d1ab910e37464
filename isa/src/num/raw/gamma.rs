//! The logarithm of the gamma function, and its derivatives. They branch and loop, and so are for doubles only.

use super::coefficients::{
    BERNOULLI, HALF_LN_TWO_PI, LGAMMA_1, LGAMMA_1_FIRST, LGAMMA_2, LGAMMA_2_FIRST, LN_PI, PI, STIRLING,
};
use super::double::{Pair, polynomial};
use super::logarithm::log_pair;
use super::trigonometric::turn;

type Number = Pair<f64>;

/// What rounding took from the first of [`BERNOULLI`], 1/6: 1/3 of a unit in the last place, of 2^-55.
const BERNOULLI_LOW: f64 = 9.25185853854297e-18;

/// The greatest order of `polygamma`.
pub const GREATEST_ORDER: i64 = 120;

/// Whether the gamma function has a pole: at 0, and at negative whole numbers.
pub fn is_pole(x: f64) -> bool {
    x <= 0.0 && x.floor() == x
}

#[inline(always)]
fn single(x: f64) -> Number {
    Pair { high: x, low: 0.0 }
}

/// ln of a pair.
#[inline(always)]
fn log(x: Number) -> Number {
    log_pair(x.high).plus(single(x.low / x.high))
}

/// u·P(u), the first two terms of P in two parts each.
#[inline(always)]
fn beside_zero<const N: usize>(u: f64, first: [f64; 4], rest: &[f64; N]) -> Number {
    let inner = Pair::quick(first[2], u * polynomial(u, rest));
    let inner = Pair { high: inner.high, low: inner.low + first[3] }.times(u);
    let outer = Pair::quick(first[0], inner.high);
    Pair { high: outer.high, low: outer.low + (inner.low + first[1]) }.times(u)
}

/// ln Γ(1 + u).
#[inline(always)]
fn near_one(u: f64) -> Number {
    beside_zero(u, LGAMMA_1_FIRST, &LGAMMA_1)
}

/// ln Γ(2 + u).
#[inline(always)]
fn near_two(u: f64) -> Number {
    beside_zero(u, LGAMMA_2_FIRST, &LGAMMA_2)
}

/// ln Γ(x) for x > 0.
#[inline(always)]
fn positive(x: f64) -> Number {
    // Differences are exact: they have no more bits than x.
    if x < 0.5 {
        return near_one(x).plus(log_pair(x).negated());
    }
    if x < 0.74 {
        return near_two(x - 1.0).plus(log_pair(x).negated());
    }
    if x <= 1.5 {
        return near_one(x - 1.0);
    }
    if x < 8.0 {
        let (mut y, mut product) = (x, single(1.0));
        while y > 2.5 {
            y -= 1.0;
            product = product.times(y);
        }
        let value = near_two(y - 2.0);
        return if x > 2.5 { value.plus(log(product)) } else { value };
    }
    // Stirling's series: x·(ln x − 1) − (ln x)/2 + ln(2π)/2 + …
    let log = log_pair(x);
    let inverse = 1.0 / x;
    let series = inverse * polynomial(inverse * inverse, &STIRLING);
    let small = Pair { high: HALF_LN_TWO_PI[0], low: HALF_LN_TWO_PI[1] }.plus(single(series)).plus(log.scaled(-0.5));
    log.plus(single(-1.0)).times(x).plus(small)
}

/// ln |Γ(x)|; infinite at poles.
#[inline(always)]
pub(super) fn lgamma(x: f64) -> f64 {
    if is_pole(x) || x > 2.6e305 {
        return f64::INFINITY;
    }
    if x.abs() < 1e-20 {
        return -log_pair(x.abs()).rounded();
    }
    if x > 0.0 {
        let value = positive(x);
        return if value.high.is_finite() { value.rounded() } else { f64::INFINITY };
    }
    // Γ(−z)·Γ(z) = −π/(z·sin πz).
    let z = -x;
    let [sine, _] = turn(z);
    let product = sine.times(z);
    let product = if product.high < 0.0 { product.negated() } else { product };
    Pair { high: LN_PI[0], low: LN_PI[1] }.plus(log(product).negated()).plus(positive(z).negated()).rounded()
}

/// ψ(x) for x > 0, not small.
#[inline(always)]
fn digamma_of_positive(x: f64) -> Number {
    let mut sum = single(0.0);
    let mut y = single(x);
    let mut n = 0.0;
    while y.high < 12.0 {
        sum = sum.plus(single(-1.0).over(y));
        n += 1.0;
        y = Pair::sum(x, n);
    }
    let inverse = single(1.0).over(y);
    let z = inverse.times_pair(inverse);
    let mut series = 0.0;
    for k in (1..BERNOULLI.len()).rev() {
        series = (series + BERNOULLI[k] / (2 * k + 2) as f64) * z.high;
    }
    // The first of the series, 1/12, in two parts: where ψ is small, its rounding would be seen.
    let twelfth = Pair { high: BERNOULLI[0] * 0.5, low: BERNOULLI_LOW * 0.5 };
    let series = twelfth.plus(single(series)).times_pair(z);
    sum.plus(log(y)).plus(inverse.scaled(-0.5)).plus(series.negated())
}

/// The derivative of ln Γ; infinite at poles.
#[inline(always)]
pub(super) fn digamma(x: f64) -> f64 {
    if is_pole(x) {
        return f64::INFINITY;
    }
    if x.abs() < 1e-20 {
        return -1.0 / x;
    }
    if x > 0.0 {
        return digamma_of_positive(x).rounded();
    }
    // ψ(−z) = ψ(z) + 1/z + π·cot πz.
    let z = -x;
    let [sine, cosine] = turn(z);
    let cotangent = cosine.over(sine).times_pair(Pair { high: PI[0], low: PI[1] });
    digamma_of_positive(z).plus(single(1.0).over(single(z))).plus(cotangent).rounded()
}

/// x^n, n ≥ 1.
fn power(x: Number, n: u32) -> Number {
    let (mut value, mut square, mut n) = (single(1.0), x, n);
    while n > 1 {
        if n % 2 == 1 {
            value = value.times_pair(square);
        }
        square = square.times_pair(square);
        n /= 2;
    }
    value.times_pair(square)
}

/// a/x^n; x > 0. Half of the power at a time: the whole may overflow where the quotient does not.
fn over_power(a: Number, x: Number, n: u32) -> Number {
    let mut value = a;
    for n in [n / 2, n - n / 2].into_iter().filter(|n| *n > 0) {
        let power = power(x, n);
        value = match power.high {
            // What has overflowed is infinite, or not even that.
            high if !high.is_finite() || !power.low.is_finite() => single(0.0),
            high if high < 1e-290 || !value.high.is_finite() => single(value.high / high),
            _ => value.over(power),
        };
    }
    value
}

/// The magnitude of the n-th derivative of ψ at x > 0, n ≥ 1.
fn polygamma_of_positive(x: Number, n: u32) -> Number {
    // (n − 1)!, and n!.
    let less = (1..n).fold(single(1.0), |product, k| product.times(f64::from(k)));
    let factorial = less.times(f64::from(n));
    let mut sum = single(0.0);
    let (mut y, mut k) = (x, 0.0);
    while y.high < f64::from(n + 15) {
        sum = sum.plus(over_power(factorial, y, n + 1));
        k += 1.0;
        let next = Pair::sum(x.high, k);
        y = Pair::quick(next.high, next.low + x.low);
    }
    // (n − 1)!/yⁿ·(1 + n/2y + Σ B₂ₖ·(2k + n − 1)!/((2k)!·(n − 1)!·y²ᵏ)).
    let inverse = 1.0 / y.high;
    let (mut term, mut series) = (1.0, 0.0);
    let m = f64::from(n);
    for (k, b) in BERNOULLI.iter().enumerate() {
        let twice = (2 * k + 2) as f64;
        term *= (twice + m - 2.0) * inverse / (twice - 1.0) * ((twice + m - 1.0) * inverse / twice);
        series += b * term;
    }
    let first = single(0.5 * m).over(y);
    let factor = single(1.0).plus(first).plus(single(series));
    sum.plus(over_power(less.times_pair(factor), y, n))
}

/// The n-th derivative of π·cot πz by its sine and cosine, over π^(n + 1).
fn derivative_of_cotangent([sine, cosine]: [Number; 2], n: u32) -> Number {
    let x = cosine.over(sine);
    // Of a polynomial P in the cotangent, −(1 + x²)·P′.
    let mut terms = vec![single(0.0), single(1.0)];
    for _ in 0..n {
        let mut next = vec![single(0.0); terms.len() + 1];
        for (k, c) in terms.iter().enumerate().skip(1) {
            let c = c.times(-(k as f64));
            next[k - 1] = next[k - 1].plus(c);
            next[k + 1] = next[k + 1].plus(c);
        }
        terms = next;
    }
    terms.iter().rev().fold(single(0.0), |sum, c| sum.times_pair(x).plus(*c))
}

/// The n-th derivative of ψ; infinite at poles, NaN for orders that are negative or above [`GREATEST_ORDER`].
pub(super) fn polygamma(x: f64, n: i64) -> f64 {
    if !(0..=GREATEST_ORDER).contains(&n) || x.is_nan() {
        return f64::NAN;
    }
    if n == 0 {
        return digamma(x);
    }
    let n = n as u32;
    let sign = if n % 2 == 1 { 1.0 } else { -1.0 };
    if is_pole(x) {
        return f64::INFINITY;
    }
    if x > 0.0 {
        let value = polygamma_of_positive(single(x), n);
        return sign * if value.high.is_finite() { value.rounded() } else { f64::INFINITY };
    }
    // ψ(x) = ψ(1 − x) − π·cot πx, n times differentiated.
    let right = polygamma_of_positive(Pair::sum(1.0, -x), n);
    let [sine, cosine] = turn(-x);
    let factor = power(Pair { high: PI[0], low: PI[1] }, n + 1);
    let left = derivative_of_cotangent([sine.negated(), cosine], n).times_pair(factor);
    if !left.high.is_finite() || !left.low.is_finite() {
        return -left.high;
    }
    // (−1)ⁿ·ψ⁽ⁿ⁾(1 − x), of which the sign is (−1)ⁿ⁺¹.
    left.negated().plus(right.negated()).rounded()
}
