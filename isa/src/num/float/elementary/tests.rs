use super::super::{NAN, neg};
use super::*;
use crate::kernels::Kernel;
use crate::kernels::float::Inv;
use crate::num::Format;
use crate::num::sample::Random;
use std::f64::consts::{FRAC_PI_2, LN_2, PI, SQRT_2};

/// 1/a, which the kernel defines.
fn inv(env: Env, a: u64) -> Word {
    Inv::words(env, [a; 4]).map(|([word, _], _)| word)
}

const TRAPPING: Env = Env { format: Format::Q32_32, ieee: false };
const IEEE: Env = Env { format: Format::Q32_32, ieee: true };
const INF: f64 = f64::INFINITY;

type Unary = fn(Env, u64) -> Word;
type Binary = fn(Env, u64, u64) -> Word;
type Native1 = fn(f64) -> f64;
type Native2 = fn(f64, f64) -> f64;

const UNARY: [(Unary, Native1); 18] = [
    (inv, |x| 1.0 / x),
    (exp, f64::exp),
    (log, f64::ln),
    (log2, f64::log2),
    (sqrt, f64::sqrt),
    (sin, f64::sin),
    (cos, f64::cos),
    (tan, f64::tan),
    (asin, f64::asin),
    (acos, f64::acos),
    (atan, f64::atan),
    (sinh, f64::sinh),
    (cosh, f64::cosh),
    (tanh, f64::tanh),
    (abs, f64::abs),
    (sign, |x| if x == 0.0 { 0.0 } else { x.signum() }),
    (relu, |x| if x > 0.0 { x } else { 0.0 }),
    (floor, f64::floor),
];

const BINARY: [(Binary, Native2); 5] = [
    (pow, f64::powf),
    (atan2, f64::atan2),
    (hypot, f64::hypot),
    (min, |x, y| if x.is_nan() || y.is_nan() { f64::NAN } else { x.min(y) }),
    (max, |x, y| if x.is_nan() || y.is_nan() { f64::NAN } else { x.max(y) }),
];

fn samples() -> Vec<f64> {
    let mut samples: Vec<f64> = [
        0.0,
        f64::from_bits(1),
        f64::MIN_POSITIVE,
        1e-9,
        0.5,
        1.0 - f64::EPSILON,
        1.0,
        1.5,
        2.0,
        3.0,
        100.5,
        710.0,
        1e15,
        9_007_199_254_740_993.0,
        f64::MAX,
        INF,
        f64::NAN,
        f64::from_bits(0x7ff0_0000_0000_0001),
    ]
    .into_iter()
    .flat_map(|x| [x, -x])
    .collect();
    let mut random = Random(11);
    samples.extend((0..300).map(|_| f64::from_bits(random.word())));
    // From −8 to 8, where most of the functions do what they do.
    samples.extend((0..300).map(|_| random.word() as i64 as f64 / 2f64.powi(60)));
    samples
}

/// The same kind of value, and near: the system's functions are no oracle of the last bits.
fn near(got: u64, expected: f64) -> bool {
    let got_number = f64::from_bits(got);
    if expected.is_nan() {
        got == NAN
    } else if expected.is_infinite() || expected == 0.0 {
        got_number == expected
    } else {
        (got_number - expected).abs() <= 4.0 * f64::EPSILON * expected.abs() + f64::from_bits(4)
    }
}

/// The system's functions are not of one mind on 1 to the power of a signalling NaN.
fn quiet(x: f64) -> f64 {
    if x.is_nan() { f64::NAN } else { x }
}

fn one(kernel: Unary, env: Env, x: f64) -> Result<f64, Fault> {
    kernel(env, x.to_bits()).map(f64::from_bits)
}

fn two(kernel: Binary, env: Env, x: f64, y: f64) -> Result<f64, Fault> {
    kernel(env, x.to_bits(), y.to_bits()).map(f64::from_bits)
}

#[test]
fn as_the_standard_library_with_ieee() {
    for x in samples() {
        for (index, (kernel, native)) in UNARY.into_iter().enumerate() {
            let got = kernel(IEEE, x.to_bits()).unwrap();
            assert!(near(got, native(x)), "{index}: {x:e} {:e} {:e}", f64::from_bits(got), native(x));
        }
        for y in samples() {
            for (index, (kernel, native)) in BINARY.into_iter().enumerate() {
                let got = kernel(IEEE, x.to_bits(), y.to_bits()).unwrap();
                let expected = native(quiet(x), quiet(y));
                assert!(near(got, expected), "{index}: {x:e} {y:e} {:e} {expected:e}", f64::from_bits(got));
            }
        }
    }
}

/// Without `ieee` a result is that with it, or a fault where that one is not finite.
#[test]
fn only_finite_numbers_without_ieee() {
    let check = |got: Word, with: Word, finite: bool, what: &str| match got {
        Ok(word) => assert!(finite && is_finite(word) && with == Ok(word), "{what}"),
        Err(_) if finite => assert!(!is_finite(with.unwrap()), "{what}"),
        Err(fault) => assert_eq!(fault, Fault::NotFinite, "{what}"),
    };
    for x in samples() {
        let a = x.to_bits();
        for (index, (kernel, _)) in UNARY.into_iter().enumerate() {
            check(kernel(TRAPPING, a), kernel(IEEE, a), x.is_finite(), &format!("{index}: {x:e}"));
        }
        for y in samples() {
            let (b, finite) = (y.to_bits(), x.is_finite() && y.is_finite());
            for (index, (kernel, _)) in BINARY.into_iter().enumerate() {
                check(kernel(TRAPPING, a, b), kernel(IEEE, a, b), finite, &format!("{index}: {x:e} {y:e}"));
            }
            check(powi(TRAPPING, a, b), powi(IEEE, a, b), x.is_finite(), &format!("powi: {x:e} {}", b as i64));
        }
    }
}

#[test]
fn outside_the_domain() {
    let tiny = f64::from_bits(1);
    for (kernel, xs) in [
        (log as Unary, [0.0, -0.0, -tiny, f64::MIN]),
        (log2, [0.0, -0.0, -1.0, f64::MIN]),
        (sqrt, [-tiny, -1.0, -4.0, f64::MIN]),
        (asin, [1.0 + f64::EPSILON, -1.0 - f64::EPSILON, f64::MAX, f64::MIN]),
        (acos, [1.0 + f64::EPSILON, -1.0 - f64::EPSILON, f64::MAX, f64::MIN]),
    ] {
        for x in xs {
            assert_eq!(one(kernel, TRAPPING, x), Err(Fault::Domain), "{x:e}");
            assert!(!is_finite(kernel(IEEE, x.to_bits()).unwrap()));
        }
    }
    for (x, y) in [(-1.0, 0.5), (-8.0, 1.0 / 3.0), (-tiny, -0.5), (f64::MIN, tiny)] {
        assert_eq!(two(pow, TRAPPING, x, y), Err(Fault::Domain));
        assert_eq!(pow(IEEE, x.to_bits(), y.to_bits()), Ok(NAN));
    }
}

#[test]
fn division_by_zero() {
    for zero in [0.0f64, -0.0] {
        let infinite = INF.copysign(zero);
        assert_eq!(one(inv, TRAPPING, zero), Err(Fault::DivideByZero));
        assert_eq!(one(inv, IEEE, zero), Ok(infinite));
        for n in [-1i64, -2, -3, i64::MIN, i64::MIN + 1] {
            let power = |env| powi(env, zero.to_bits(), n as u64).map(f64::from_bits);
            assert_eq!(power(TRAPPING), Err(Fault::DivideByZero));
            assert_eq!(power(IEEE), Ok(if n & 1 == 1 { infinite } else { INF }));
        }
        for y in [-0.5, -1.0, -2.0, f64::MIN] {
            assert_eq!(two(pow, TRAPPING, zero, y), Err(Fault::DivideByZero));
            assert_eq!(two(pow, IEEE, zero, y), Ok(if y == -1.0 { infinite } else { INF }));
        }
        for y in [0.0, -0.0] {
            assert_eq!(two(pow, TRAPPING, zero, y), Ok(1.0));
        }
        assert_eq!(powi(TRAPPING, zero.to_bits(), 0), Ok(1f64.to_bits()));
    }
}

#[test]
fn overflow() {
    for (kernel, x) in [(exp as Unary, 710.0), (sinh, -711.0), (cosh, 711.0), (inv, f64::from_bits(1))] {
        assert_eq!(one(kernel, TRAPPING, x), Err(Fault::NotFinite));
        assert_eq!(one(kernel, IEEE, x).map(f64::abs), Ok(INF));
    }
    assert_eq!(one(exp, TRAPPING, -800.0), Ok(0.0));
    assert_eq!(two(pow, TRAPPING, -10.0, 309.0), Err(Fault::NotFinite));
    assert_eq!(two(pow, IEEE, -10.0, 309.0), Ok(-INF));
    assert_eq!(two(hypot, TRAPPING, f64::MAX, f64::MAX), Err(Fault::NotFinite));
    assert_eq!(powi(TRAPPING, 2f64.to_bits(), 1024), Err(Fault::NotFinite));
    assert_eq!(powi(IEEE, (-2f64).to_bits(), 1025), Ok((-INF).to_bits()));
    let (most, two_) = (f64::MAX.to_bits(), 2f64.to_bits());
    assert_eq!(muladd(TRAPPING, most, two_, 0), Err(Fault::NotFinite));
    assert_eq!(muladd(TRAPPING, most, two_, neg(most)), Ok(most), "rounded only once");
}

#[test]
fn special_values() {
    for (kernel, x, result) in [
        (exp as Unary, 0.0f64, 1.0f64),
        (log, 1.0, 0.0),
        (log, 2.0, LN_2),
        (log2, 2f64.powi(-1074), -1074.0),
        (log2, 1024.0, 10.0),
        (sqrt, 2.0, SQRT_2),
        (sqrt, -0.0, -0.0),
        (sin, -0.0, -0.0),
        (cos, 0.0, 1.0),
        (asin, 1.0, FRAC_PI_2),
        (acos, -1.0, PI),
        (atan, -0.0, -0.0),
        (tanh, 30.0, 1.0),
        (abs, -0.0, 0.0),
        (abs, -3.5, 3.5),
        (sign, -0.0, 0.0),
        (sign, 0.0, 0.0),
        (sign, -1e-300, -1.0),
        (sign, f64::from_bits(1), 1.0),
        (relu, -0.0, 0.0),
        (relu, -1.0, 0.0),
        (relu, 1e-300, 1e-300),
        (floor, -0.5, -1.0),
        (floor, -0.0, -0.0),
        (floor, 1e300, 1e300),
        (inv, -4.0, -0.25),
    ] {
        assert_eq!(kernel(TRAPPING, x.to_bits()), Ok(result.to_bits()), "{x:e} {result:e}");
    }
    for (kernel, x, y, result) in [
        (min as Binary, -0.0f64, 0.0f64, -0.0f64),
        (min, 0.0, -0.0, -0.0),
        (max, -0.0, 0.0, 0.0),
        (max, 0.0, -0.0, 0.0),
        (min, -1.0, 2.0, -1.0),
        (max, -1.0, 2.0, 2.0),
        (hypot, 3.0, -4.0, 5.0),
        (atan2, 0.0, -1.0, PI),
        (atan2, -1.0, 0.0, -FRAC_PI_2),
        (atan2, 0.0, 0.0, 0.0),
        (pow, -2.0, 3.0, -8.0),
        (pow, -2.0, -2.0, 0.25),
        (pow, -0.0, 3.0, -0.0),
        (pow, -1.0, 9e15, 1.0),
    ] {
        assert_eq!(kernel(TRAPPING, x.to_bits(), y.to_bits()), Ok(result.to_bits()), "{x:e} {y:e} {result:e}");
    }
    assert_eq!(one(sign, IEEE, -INF), Ok(-1.0));
    assert_eq!(one(relu, IEEE, INF), Ok(INF));
    assert_eq!(two(max, IEEE, -INF, 1.0), Ok(1.0));
    assert_eq!(two(hypot, IEEE, INF, f64::NAN), Ok(INF));
}

#[test]
fn whole_powers() {
    let power = |x: f64, n: i64| powi(TRAPPING, x.to_bits(), n as u64).map(f64::from_bits);
    assert_eq!(power(-3.0, 5), Ok(-243.0));
    assert_eq!(power(-3.0, 4), Ok(81.0));
    assert_eq!(power(-2.0, -3), Ok(-0.125));
    assert_eq!(power(-0.0, 3).map(f64::to_bits), Ok((-0f64).to_bits()));
    // As doubles these exponents are even.
    assert_eq!(power(-1.0, i64::MAX), Ok(-1.0));
    assert_eq!(power(-1.0, i64::MIN), Ok(1.0));
    assert_eq!(power(-1.0, (1 << 53) + 1), Ok(-1.0));
    assert_eq!(power(-0.5, i64::MAX).map(f64::to_bits), Ok((-0f64).to_bits()));
    assert_eq!(power(-2.0, i64::MAX), Err(Fault::NotFinite));
    assert_eq!(powi(IEEE, f64::NAN.to_bits(), 3), Ok(NAN));
    assert_eq!(powi(IEEE, f64::NAN.to_bits(), 0), Ok(1f64.to_bits()), "as IEEE 754's pown");
}

#[test]
fn operands_of_muladd_are_finite() {
    for bad in [INF, f64::NAN] {
        for at in 0..3 {
            let mut operands = [f64::to_bits(1.0); 3];
            operands[at] = f64::to_bits(bad);
            let [a, b, c] = operands;
            assert_eq!(muladd(TRAPPING, a, b, c), Err(Fault::NotFinite));
            assert!(!is_finite(muladd(IEEE, a, b, c).unwrap()));
        }
    }
}

#[test]
fn every_nan_is_the_one() {
    let other = 0xfff0_0000_0000_0001;
    for (index, (kernel, _)) in UNARY.into_iter().enumerate() {
        let expected = if index == 16 { 0 } else { NAN };
        assert_eq!(kernel(IEEE, other), Ok(expected), "{index}");
    }
    for (kernel, _) in BINARY {
        assert_eq!(kernel(IEEE, other, 2f64.to_bits()), Ok(NAN));
        assert_eq!(kernel(IEEE, 2f64.to_bits(), other), Ok(NAN));
    }
    assert_eq!(muladd(IEEE, other, 0, 0), Ok(NAN));
}
