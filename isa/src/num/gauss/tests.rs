use super::*;
use crate::num::Format;
use crate::num::sample::{Random, edges};

const ENV: Env = Env { format: Format::Q32_32, ieee: false };
const BAD: u64 = 3 << 62;
const SIGN: u64 = 1 << 63;
const WORD: Logarithmic = Logarithmic::WORD;

fn words() -> Vec<u64> {
    let mut random = Random(21);
    let mut words = edges();
    words.extend([log::ZERO, BAD, log::ZERO + 1, BAD + 1, log::ZERO - 1, BAD - 1]);
    words.extend((0..300).map(|_| random.sized()));
    words
}

fn l(negative: bool, logarithm: i64) -> u64 {
    log::from_parts(negative, logarithm).unwrap()
}

/// Numbers of a small type and their values.
fn small(ty: Logarithmic) -> Vec<(Number, f64)> {
    let value = |n: Number| {
        let magnitude = n.logarithm.map_or(0.0, |k| (k as f64 / (1u64 << ty.frac) as f64).exp2());
        if n.negative { -magnitude } else { magnitude }
    };
    (0..1u64 << ty.width).filter_map(|word| ty.number(word).ok()).map(|n| (n, value(n))).collect()
}

/// Doubles are good to 2^-40 units here: the nearest is known but for ties, and there are none.
fn nearest(ty: Logarithmic, value: f64, got: Result<Number, Fault>, what: &str) {
    let unit = (1u64 << ty.frac) as f64;
    let exact = value.abs().log2() * unit;
    match got {
        Ok(Number { negative, logarithm: Some(logarithm) }) => {
            assert!(logarithm.abs() <= ty.max_log(), "{what}");
            assert_eq!(negative, value < 0.0, "{what}");
            assert!((logarithm as f64 - exact).abs() < 0.5 + 1e-9, "{what}: {logarithm} {exact}");
        }
        Ok(_) => panic!("{what}: zero for {value}"),
        Err(fault) => {
            assert_eq!(fault, Fault::Range, "{what}");
            assert!(exact.abs() > ty.max_log() as f64 + 0.5 - 1e-9, "{what}: {exact}");
        }
    }
}

#[test]
fn sums_of_all_small_numbers() {
    for (width, frac) in [(8, 0), (8, 1), (8, 3), (8, 4), (9, 5), (9, 6), (10, 5)] {
        let ty = Logarithmic { width, frac };
        let numbers = small(ty);
        assert_eq!(numbers.len(), (1 << width) - 1);
        for &(a, x) in &numbers {
            for &(b, y) in &numbers {
                for (value, got) in [(x + y, ty.plus(a, b)), (x - y, ty.minus(a, b))] {
                    let what = format!("{width}/{frac}: {a:?} {b:?}");
                    if a == Number::ZERO {
                        assert_eq!(got, Ok(if value == y { b } else { -b }), "{what}");
                    } else if b == Number::ZERO {
                        assert_eq!(got, Ok(a), "{what}");
                    } else if value == 0.0 {
                        assert_eq!(got, Ok(Number::ZERO), "{what}");
                    } else {
                        nearest(ty, value, got, &what);
                    }
                }
            }
        }
    }
}

#[test]
fn powers_and_logarithms_of_all_small_numbers() {
    for (width, frac) in [(8, 3), (9, 6), (10, 5)] {
        let ty = Logarithmic { width, frac };
        for (a, x) in small(ty) {
            let Some(k) = a.logarithm else { continue };
            for pfrac in [0, 2, 5] {
                for p in -70..=70 {
                    let exact = (k * p) as f64 / (1 << pfrac) as f64;
                    let rounded = exact.round_ties_even() as i64;
                    let negative = a.negative && p >> pfrac & 1 == 1;
                    let expected = if a.negative && p % (1 << pfrac) != 0 {
                        Err(Fault::Domain)
                    } else if rounded.abs() > ty.max_log() {
                        Err(Fault::Range)
                    } else {
                        Ok(Number { negative, logarithm: Some(rounded) })
                    };
                    assert_eq!(ty.pow(a, p, pfrac), expected, "{a:?}^{p}/2^{pfrac}");
                }
            }
            for qfrac in [0, 3, 20] {
                let expected = (x.abs().ln() * (1 << qfrac) as f64).round() as i64;
                assert_eq!(ty.ln(a, qfrac), Ok(expected), "ln {a:?}");
            }
            let inverse = ty.inv(a).unwrap();
            assert_eq!(inverse, Number { logarithm: Some(-k), ..a });
        }
        assert_eq!(ty.ln(Number { negative: false, logarithm: Some(ty.max_log()) }, 63), Err(Fault::Range));
    }
}

#[test]
fn words_and_numbers() {
    for (width, frac) in [(8, 3), (10, 5), (16, 8)] {
        let ty = Logarithmic { width, frac };
        for word in 0..1u64 << width {
            match ty.number(word) {
                Ok(number) => assert_eq!(ty.word(number), word),
                Err(fault) => assert_eq!((fault, word), (Fault::BadLog, 3 << (width - 2))),
            }
        }
    }
    for word in words() {
        assert_eq!(WORD.number(word).is_ok(), log::valid(word));
        if let Ok(number @ Number { negative, logarithm }) = WORD.number(word) {
            assert_eq!(WORD.word(number), word);
            assert_eq!(logarithm, (word != log::ZERO).then_some(log::logarithm(word)));
            assert_eq!(negative, log::is_negative(word));
            assert_eq!(Ok(WORD.word(-number)), log::neg(word));
        }
    }
}

#[test]
fn special_values() {
    let one = 1i64 << 52;
    for (a, b, sum) in [
        (log::ONE, log::ONE, l(false, one)),
        (l(true, 5), l(true, 5), l(true, one + 5)),
        (log::ONE, l(true, 0), log::ZERO),
        (log::ONE, l(true, -one), l(false, -one)),
        (log::ONE, l(true, one), l(true, 0)),
        (log::ZERO, log::ZERO, log::ZERO),
        (log::ZERO, l(true, 3), l(true, 3)),
        (l(false, log::MIN_LOG), log::ZERO, l(false, log::MIN_LOG)),
        // log2(1 ± 2^-53) is 0.72 units, log2(1 ± 2^-54) 0.36.
        (log::ONE, l(false, -53 * one), l(false, 1)),
        (log::ONE, l(true, -53 * one), l(false, -1)),
        (log::ONE, l(false, -54 * one), log::ONE),
        (log::ONE, l(true, -54 * one), log::ONE),
        (l(false, log::MAX_LOG), l(true, log::MIN_LOG), l(false, log::MAX_LOG)),
        (l(true, log::MIN_LOG), l(false, log::MAX_LOG), l(false, log::MAX_LOG)),
    ] {
        assert_eq!(plus(ENV, a, b), Ok(sum), "{a:#x} {b:#x}");
        assert_eq!(plus(ENV, b, a), Ok(sum), "{b:#x} {a:#x}");
    }
    // log2(1 - 2^-d) is log2(d ln 2) for small d: -52.53 here.
    let least_difference = -52 * one + (std::f64::consts::LN_2.log2() * one as f64) as i64;
    assert_near(minus(ENV, log::ONE, l(false, -1)), l(false, least_difference), 1);
    let greatest = l(false, log::MAX_LOG);
    let least = l(false, log::MIN_LOG);
    assert_eq!(plus(ENV, greatest, greatest), Err(Fault::Range));
    assert_eq!(minus(ENV, least, least + 1), Err(Fault::Range));
    assert_eq!(minus(ENV, greatest, greatest), Ok(log::ZERO));
    assert_eq!(plus(ENV, least, least), Ok(l(false, log::MIN_LOG + one)));
    // The last sum that does not overflow: greatest plus what rounds away.
    assert_eq!(plus(ENV, greatest, l(false, log::MAX_LOG - 54 * one)), Ok(greatest));
    assert_eq!(plus(ENV, greatest, l(false, log::MAX_LOG - 53 * one)), Err(Fault::Range));
}

fn assert_near(got: Word, expected: u64, units: u64) {
    let got = got.unwrap();
    assert!(got.abs_diff(expected) <= units, "{got:#x} {expected:#x}");
}

#[test]
fn powers_of_words() {
    let one = 1i64 << 52;
    let q = |format: Format, halves: i64| (halves << (format.frac() - 1)) as u64;
    for format in Format::ALL {
        let env = Env { format, ieee: false };
        assert_eq!(pow(env, l(true, one), q(format, 6)), Ok(l(true, 3 * one)));
        assert_eq!(pow(env, l(true, one), q(format, -4)), Ok(l(false, -2 * one)));
        assert_eq!(pow(env, l(true, one), q(format, 1)), Err(Fault::Domain));
        assert_eq!(pow(env, l(true, one), q(format, 0)), Ok(log::ONE));
        assert_eq!(pow(env, l(false, one), q(format, 1)), Ok(l(false, one / 2)));
        // Ties.
        assert_eq!(pow(env, l(false, 1), q(format, 1)), Ok(log::ONE));
        assert_eq!(pow(env, l(false, 3), q(format, 1)), Ok(l(false, 2)));
        assert_eq!(pow(env, l(false, -3), q(format, 1)), Ok(l(false, -2)));
        assert_eq!(pow(env, log::ZERO, 1), Ok(log::ZERO));
        assert_eq!(pow(env, log::ZERO, 0), Ok(log::ONE));
        assert_eq!(pow(env, log::ZERO, u64::MAX), Err(Fault::DivideByZero));
        assert_eq!(pow(env, l(false, log::MAX_LOG), q(format, 4)), Err(Fault::Range));
        assert_eq!(pow(env, l(false, log::MAX_LOG), q(format, -2)), Ok(l(false, log::MIN_LOG)));
        assert_eq!(pow(env, l(false, log::MAX_LOG), SIGN), Err(Fault::Range));
        assert_eq!(pow(env, BAD, 0), Err(Fault::BadLog));
        assert_eq!(pow(env, log::ONE, SIGN), Ok(log::ONE));
        assert_eq!(ln(env, log::ONE), Ok(0));
        assert_eq!(ln(env, log::ZERO), Err(Fault::Domain));
        assert_eq!(ln(env, BAD), Err(Fault::BadLog));
        for k in [log::MIN_LOG, -3 * one, -1, 1, one, 12345 << 40, log::MAX_LOG] {
            let expected = k as f64 / one as f64 * std::f64::consts::LN_2 * (1u64 << format.frac()) as f64;
            let got = ln(env, l(k & 1 == 1, k)).unwrap() as i64;
            assert!((got as f64 - expected).abs() <= 0.5 + expected.abs() * 1e-15, "{k} {got} {expected}");
        }
    }
    assert_eq!(inv(ENV, log::ZERO), Err(Fault::DivideByZero));
    assert_eq!(inv(ENV, BAD), Err(Fault::BadLog));
    assert_eq!(inv(ENV, l(true, log::MIN_LOG)), Ok(l(true, log::MAX_LOG)));
}

#[test]
fn symmetries() {
    let words = words();
    for &a in &words {
        for &b in &words {
            let sum = plus(ENV, a, b);
            if !log::valid(a) || !log::valid(b) {
                assert_eq!(sum, Err(Fault::BadLog));
                assert_eq!(minus(ENV, a, b), Err(Fault::BadLog));
                continue;
            }
            let neg = |a: u64| log::neg(a).unwrap();
            assert_eq!(sum, plus(ENV, b, a), "{a:#x} {b:#x}");
            assert_eq!(sum.map(neg), plus(ENV, neg(a), neg(b)), "{a:#x} {b:#x}");
            assert_eq!(sum, minus(ENV, a, neg(b)), "{a:#x} {b:#x}");
            assert_eq!(minus(ENV, a, b).map(neg), minus(ENV, b, a), "{a:#x} {b:#x}");
        }
    }
    // A common factor of both is one of the sum: only the differences of logarithms count.
    let mut random = Random(22);
    for _ in 0..20_000 {
        let (a, b, factor) = (random.word(), random.word(), random.sized());
        let scaled = (log::mul(a, factor), log::mul(b, factor));
        if let ((Ok(x), Ok(y)), Ok(sum)) = (scaled, plus(ENV, a, b)) {
            assert_eq!(plus(ENV, x, y), log::mul(sum, factor));
        }
    }
}

#[test]
fn near_to_doubles() {
    let mut random = Random(23);
    for _ in 0..200_000 {
        // Magnitudes from 2^-8 to 2^8.
        let mut number = || l(random.word() & 1 == 1, random.word() as i64 >> 8);
        let (a, b) = (number(), number());
        let value = |a: u64| {
            let magnitude = (log::logarithm(a) as f64 / 2f64.powi(52)).exp2();
            if log::is_negative(a) { -magnitude } else { magnitude }
        };
        for (sum, got) in [(value(a) + value(b), plus(ENV, a, b)), (value(a) - value(b), minus(ENV, a, b))] {
            let got = value(got.unwrap());
            let tolerance = 1e-14 * (value(a).abs() + value(b).abs());
            assert!((got - sum).abs() < tolerance, "{a:#x} {b:#x}: {got} {sum}");
        }
    }
}

#[test]
fn back_again() {
    let mut random = Random(24);
    let mut tested = 0;
    for _ in 0..200_000 {
        let a = l(random.word() & 1 == 1, random.word() as i64 >> 8);
        let b = l(random.word() & 1 == 1, log::logarithm(a) + (random.sized() as i64 >> 6));
        let Ok(sum) = plus(ENV, a, b) else { continue };
        // Half a unit of the sum is |sum/a| half units of a.
        if sum != log::ZERO && log::logarithm(sum) <= log::logarithm(a) + (4 << 52) {
            assert_near(minus(ENV, sum, b), a, 9);
            tested += 1;
        }
    }
    assert!(tested > 100_000);
}

#[test]
fn monotone() {
    let mut random = Random(25);
    let mut starts: Vec<u64> = (0..60 << 1).map(|half| half << 51).collect();
    starts.extend((0..2000).map(|_| random.word() >> (6 + random.word() % 58)));
    for start in starts {
        let run = || start.saturating_sub(30).max(1)..start + 30;
        assert!(run().map(|d| log_of_sum(52, d)).is_sorted_by(|a, b| a >= b), "{start:#x}");
        assert!(run().map(|d| log_of_difference(52, d)).is_sorted_by(|a, b| a >= b), "{start:#x}");
    }
}
