//! Elementary functions of floating-point numbers, which are near those of the machine.

use pendula_hw_model::circuit::kernels::Formats;
use pendula_isa::num::{Env, Word, float};
use pendula_isa::sample::{in_turn, share};
use pendula_isa::table::{TableFn, f_fn};

use crate::kernels::float::{decode, encode};
use crate::kernels::harness::{ENV, Random, all, circuit, run, some};

type Function = fn(Env, u64) -> Word;
type HostFn = fn(f64) -> f64;

const FUNCTIONS: [(TableFn, Function, HostFn); 4] = [
    (TableFn::F(f_fn::Name::Exp), float::exp, f64::exp),
    (TableFn::F(f_fn::Name::Log), float::log, f64::ln),
    (TableFn::F(f_fn::Name::Sin), float::sin, f64::sin),
    (TableFn::F(f_fn::Name::Cos), float::cos, f64::cos),
];

/// A word as a place on the line of numbers.
fn place(word: u64) -> i64 {
    if word >> 63 == 1 { -(word & !(1 << 63)).cast_signed() } else { word.cast_signed() }
}

#[test]
fn within_an_ulp_of_the_machine_s() {
    let bits = |x: f64| [x.to_bits(), 0, 0];
    let mut cases: Vec<[u64; 3]> =
        [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, f64::MAX, f64::MIN, f64::INFINITY, f64::NAN].map(bits).into();
    cases.extend([709.7, 709.8, -745.1, -745.2, -708.5, 1e300, -1e300, 1e-300, 5e-324, 2e-308].map(bits));
    // About 1; multiples of π/2; what has the least rest of them; all sizes.
    cases.extend((0..64).map(|i| bits(1.0 + (f64::from(i) - 32.0) * f64::EPSILON)));
    cases.extend((1..128).map(|i| bits(f64::from(i * i * 37) * std::f64::consts::FRAC_PI_2)));
    cases.extend((0..64).map(|i| bits(2f64.powi(-27) * (1.0 + (f64::from(i) - 32.0) / 64.0))));
    cases.extend(some(41, share(4000), |r| {
        (r.word() & (1 << 63 | ((1 << 52) - 1))) | (1023 - 40 + r.word() % 60) << 52
    }));
    cases.extend(some(42, share(2000), |r| (r.word().cast_signed() as f64 / 2f64.powi(53)).to_bits()));
    cases.extend(some(43, share(800), Random::word));
    for (kernel, function, _) in FUNCTIONS {
        let found = run(&circuit(kernel, &Formats::of_width(64)), &cases);
        let mut different = 0;
        for (case, found) in cases.iter().zip(found) {
            let x = f64::from_bits(case[0]);
            if matches!(kernel, TableFn::F(f_fn::Name::Sin) | TableFn::F(f_fn::Name::Cos)) && x.abs() >= 1_048_576.0 {
                assert_eq!(found, None);
                continue;
            }
            let expected = function(ENV, case[0]).ok();
            assert_eq!(found.is_some(), expected.is_some(), "{} {x:e}", kernel.info().name);
            let apart = place(found.unwrap_or(0)).abs_diff(place(expected.unwrap_or(0)));
            assert!(apart <= 1, "{} {x:e}: {apart} ulp", kernel.info().name);
            different += apart;
        }
        assert!(different * 20 < cases.len() as u64, "{}: {different} of {} differ", kernel.info().name, cases.len());
    }
}

/// With so few bits, a double's function is as good as the true one, and rounding it once more does no harm.
#[test]
fn correctly_rounded_at_eight_and_sixteen_bits() {
    for &width in in_turn(&[8, 16], 0) {
        let formats = Formats::of_width(width);
        let cases = if width == 8 { all(8, 1) } else { some(44, 1500, |r| r.word() & 0xffff) };
        for (kernel, _, native) in FUNCTIONS {
            let found = run(&circuit(kernel, &formats), &cases);
            for (case, found) in cases.iter().zip(found) {
                let expected = decode(formats.float, case[0]).map(native).filter(|y| y.is_finite());
                let expected = expected.and_then(|y| encode(formats.float, y));
                assert_eq!(found, expected, "{} {case:x?} of {width} bits", kernel.info().name);
            }
        }
    }
}
