use super::*;
use crate::num::Format;
use crate::num::sample::{Random, edges};

const ENV: Env = Env { format: Format::Q32_32, ieee: false };

fn words() -> Vec<u64> {
    let mut random = Random(7);
    let mut words = edges();
    words.extend((0..50_000).map(|_| random.sized()));
    words.extend((0..50_000).map(|_| random.word()));
    words
}

#[test]
fn integers_and_fixed_point() {
    for format in Format::ALL {
        let env = Env { format, ieee: false };
        for a in words() {
            let frac = format.frac();
            let exact = i128::from(a as i64) << frac;
            let q = i64::try_from(exact).map(|q| q as u64).map_err(|_| Fault::Range);
            assert_eq!(int_to_q(env, a), q);
            if let Ok(q) = q {
                assert_eq!(q_to_int(env, q), Ok(a));
            }
            assert_eq!(q_to_int(env, a), Ok((a as i64).div_euclid(1 << frac) as u64));
        }
    }
}

/// The hardware's conversions are correctly rounded too: an oracle, not a method.
#[test]
fn doubles_as_the_hardware_has_them() {
    for a in words() {
        let int = a as i64;
        assert_eq!(int_to_f(ENV, a), Ok((int as f64).to_bits()), "{int}");
        let x = f64::from_bits(a);
        let floor = x.floor();
        let expected = if !x.is_finite() {
            Err(Fault::NotFinite)
        } else if (-(2f64.powi(63))..2f64.powi(63)).contains(&floor) {
            Ok(floor as i64 as u64)
        } else {
            Err(Fault::Range)
        };
        assert_eq!(f_to_int(ENV, a), expected, "{x:e}");
        for format in Format::ALL {
            let env = Env { format, ieee: false };
            let scale = 2f64.powi(format.frac() as i32);
            assert_eq!(q_to_f(env, a), Ok((int as f64 / scale).to_bits()));
            // Scaling by a power of two is exact but where it overflows or is subnormal.
            let scaled = (x * scale).round_ties_even();
            let expected = if !x.is_finite() {
                Err(Fault::NotFinite)
            } else if (-(2f64.powi(63))..2f64.powi(63)).contains(&scaled) {
                Ok(scaled as i64 as u64)
            } else {
                Err(Fault::Range)
            };
            assert_eq!(f_to_q(env, a), expected, "{x:e}");
        }
    }
}

#[test]
fn powers_of_two_go_everywhere_exactly() {
    for k in -1023..1024i64 {
        let l = log::from_parts(false, k << 52).unwrap();
        let f = if k >= -1022 { ((k + 1023) as u64) << 52 } else { 1 << (k + 1074) };
        for (l, f) in [(l, f), (l | (1 << 63), f | (1 << 63))] {
            assert_eq!(l_to_f(ENV, l), Ok(f));
            assert_eq!(f_to_l(ENV, f), Ok(l));
        }
        let int = match k {
            ..=-1 => Ok(0),
            0..63 => Ok(1u64 << k),
            _ => Err(Fault::Range),
        };
        assert_eq!(l_to_int(ENV, l), int, "2^{k}");
        if let (0.., Ok(int)) = (k, int) {
            assert_eq!(int_to_l(ENV, int), Ok(l));
            assert_eq!(int_to_l(ENV, int.wrapping_neg()), Ok(l | (1 << 63)));
        }
        for format in Format::ALL {
            let env = Env { format, ieee: false };
            match k + i64::from(format.frac()) {
                // 2^-1 of a unit is a tie, and goes to the even 0.
                ..=-1 => assert_eq!(l_to_q(env, l), Ok(0)),
                bit @ 0..63 => {
                    assert_eq!(l_to_q(env, l), Ok(1 << bit));
                    assert_eq!(q_to_l(env, 1 << bit), Ok(l));
                }
                _ => assert_eq!(l_to_q(env, l), Err(Fault::Range)),
            }
        }
    }
    let least = log::from_parts(true, 63 << 52).unwrap();
    assert_eq!(l_to_int(ENV, least), Ok(1 << 63));
    assert_eq!(int_to_l(ENV, 1 << 63), Ok(least));
}

#[test]
fn integers_come_back_from_logarithms() {
    let mut random = Random(8);
    let near_top = (1u64 << 52) - 20_000..=1 << 52;
    let at_random = std::iter::repeat_with(|| random.sized() & ((1 << 52) - 1)).take(50_000);
    for n in (0..66_000).chain(near_top).chain(at_random) {
        for a in [n, n.wrapping_neg()] {
            let l = int_to_l(ENV, a).unwrap();
            assert_eq!(l_to_int(ENV, l), Ok(a), "{}", a as i64);
        }
    }
}

#[test]
fn zero_and_what_is_no_number() {
    let bad = 3 << 62;
    for (l, result) in [(log::ZERO, Ok(0)), (bad, Err(Fault::BadLog))] {
        for convert in [l_to_int, l_to_q, l_to_f] {
            assert_eq!(convert(ENV, l), result);
        }
    }
    for convert in [int_to_l, q_to_l, f_to_l] {
        assert_eq!(convert(ENV, 0), Ok(log::ZERO));
    }
    let minus_zero = 1 << 63;
    assert_eq!(f_to_l(ENV, minus_zero), Ok(log::ZERO));
    assert_eq!(f_to_q(ENV, minus_zero), Ok(0));
    assert_eq!(f_to_int(ENV, minus_zero), Ok(0));
    for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for convert in [f_to_int, f_to_q, f_to_l] {
            for ieee in [false, true] {
                let env = Env { ieee, ..ENV };
                assert_eq!(convert(env, x.to_bits()), Err(Fault::NotFinite));
            }
        }
    }
}

#[test]
fn the_ends_of_the_logarithms() {
    let f = |x: f64| f_to_l(ENV, x.to_bits());
    assert_eq!(f(f64::MAX), log::from_parts(false, log::MAX_LOG));
    assert_eq!(f(f64::MIN), log::from_parts(true, log::MAX_LOG));
    assert_eq!(f(f64::from_bits(1 << 50)), Err(Fault::Range), "2^-1024");
    assert!(f(f64::from_bits((1 << 50) + 1)).is_ok());
    assert_eq!(f(f64::from_bits(1)), Err(Fault::Range));
    let greatest = log::from_parts(false, log::MAX_LOG).unwrap();
    assert_eq!(l_to_f(ENV, greatest), Ok(f64::MAX.to_bits()));
    let least = log::from_parts(false, log::MIN_LOG).unwrap();
    assert_eq!(l_to_f(ENV, least), Ok(1 << 50));
    assert_eq!(l_to_int(ENV, greatest), Err(Fault::Range));
    assert_eq!(l_to_q(ENV, least), Ok(0));
}

/// No conversion reaches this: the greatest logarithm rounds to the greatest double.
#[test]
fn above_the_greatest_double() {
    let greatest = (1u128 << 53) - 1;
    assert_eq!(encode_float(true, greatest, 971), Ok(f64::MIN.to_bits()));
    assert_eq!(encode_float(false, 2 * greatest + 1, 970), Err(Fault::Range));
    assert_eq!(encode_float(false, 1, 1024), Err(Fault::Range));
}

#[test]
fn nothing_panics() {
    let all =
        [int_to_q, int_to_l, int_to_f, q_to_int, q_to_l, q_to_f, l_to_int, l_to_q, l_to_f, f_to_int, f_to_q, f_to_l];
    for format in Format::ALL {
        for a in words() {
            for convert in all {
                let _ = convert(Env { format, ieee: false }, a);
            }
        }
    }
}
