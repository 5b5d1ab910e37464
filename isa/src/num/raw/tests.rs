//! Beside the crate `libm`, an independent implementation, which is itself up to 3 ulp from the truth. MPFR judges in `accuracy/`.

use super::{call, polygamma, powi};
use crate::num::sample::Random;

/// Units in the last place between two numbers.
fn units(x: f64, y: f64) -> u64 {
    let place = |x: f64| if x.is_sign_negative() { -((x.to_bits() << 1 >> 1) as i64) } else { x.to_bits() as i64 };
    if x.is_nan() && y.is_nan() { 0 } else { place(x).abs_diff(place(y)) }
}

/// Numbers of every size, most of them moderate.
fn number(random: &mut Random) -> f64 {
    let unit = random.word() as i64 as f64 / 2f64.powi(63);
    match random.word() % 6 {
        0 => f64::from_bits(random.word()),
        1 => unit * 750.0,
        2 => unit * 2f64.powi((random.word() % 64) as i32 - 32),
        3 => 1.0 + unit * 2f64.powi(-((random.word() % 52) as i32)),
        _ => unit * 8.0,
    }
}

type One = fn(f64) -> f64;
type Two = fn(f64, f64) -> f64;

macro_rules! named {
    ($($name:ident)+) => { &[$((stringify!($name), call::$name, libm::$name)),+] };
}

const ONE: &[(&str, One, One)] = named! {
    exp exp2 expm1 sinh cosh tanh log log2 log1p asinh acosh atanh sin cos tan asin acos atan cbrt erf erfc lgamma
};
const TWO: &[(&str, Two, Two)] = named! { atan2 hypot pow };

#[test]
fn beside_libm() {
    let mut random = Random(41);
    let arguments: Vec<[f64; 2]> = (0..20_000).map(|_| [number(&mut random), number(&mut random)]).collect();
    let report = |name: &str, worst: (u64, f64, f64)| {
        let (units, x, y) = worst;
        println!("{name}: {units} at {x:?} {y:?}");
        assert!(units <= 5, "{name} {x:?} {y:?}: {units}");
    };
    for (name, ours, theirs) in ONE {
        // Its ln Γ is off near zeros, and its acosh has values where there are none.
        let least = |name: &str| match name {
            "lgamma" => 2.1,
            "acosh" => 1.0,
            _ => f64::NEG_INFINITY,
        };
        let arguments = arguments.iter().filter(|x| x[0] >= least(name));
        let worst = arguments.map(|&[x, _]| (units(ours(x), theirs(x)), x, 0.0)).max_by_key(|w| w.0);
        report(name, worst.unwrap());
    }
    for (name, ours, theirs) in TWO {
        // Its powers of bases near 1 with huge exponents lose ten bits.
        let arguments = arguments.iter().filter(|x| *name != "pow" || x[1].abs() < 2f64.powi(31));
        let worst = arguments.map(|&[x, y]| (units(ours(x, y), theirs(x, y)), x, y)).max_by_key(|w| w.0);
        report(name, worst.unwrap());
    }
}

/// ψ⁽ⁿ⁾(x), by mpmath with 40 digits.
const POLYGAMMA: &[(i64, f64, f64)] = &[
    (1, 0.001, 1000001.6425331958),
    (1, 0.5, 4.934802200544679),
    (1, 1.0, 1.6449340668482264),
    (1, 2.75, 0.43757125764893073),
    (1, 17.5, 0.058806588095783506),
    (1, 300.0, 0.0033388950617146778),
    (1, 10000000000.0, 1.00000000005e-10),
    (1, -0.25, 18.541879647671607),
    (1, -3.625, 11.321700455260803),
    (1, -40.5, 9.845215366049105),
    (2, 0.001, -2000000002.3976321),
    (2, 0.5, -16.82879664423432),
    (2, 1.0, -2.4041138063191885),
    (2, 2.75, -0.18871463303130123),
    (2, 17.5, -0.0034572203720343105),
    (2, 300.0, -1.1148209876314589e-05),
    (2, 10000000000.0, -1.0000000001e-20),
    (2, -0.25, 122.69736678366236),
    (2, -3.625, -30.15147102023405),
    (2, -40.5, -0.0005947955565586902),
    (3, 0.001, 6000000000006.469),
    (3, 0.5, 97.40909103400244),
    (3, 1.0, 6.493939402266829),
    (3, 2.75, 0.16061612748946938),
    (3, 17.5, 0.0004063810738253195),
    (3, 300.0, 7.444526748513953e-08),
    (3, 10000000000.0, 2.0000000003e-30),
    (3, -0.25, 1555.7633125348507),
    (3, -3.625, 345.69728338593404),
    (3, -40.5, 194.8181530579002),
    (5, 0.001, 1.1999999999999998e+20),
    (5, 0.5, 7691.113548602436),
    (5, 1.0, 122.0811674381339),
    (5, 2.75, 0.3368086815502772),
    (5, 17.5, 1.6830410167871808e-05),
    (5, 300.0, 9.959122082202984e-12),
    (5, 10000000000.0, 2.4000000006e-49),
    (5, -0.25, 492198.7533428746),
    (5, -3.625, 45190.01056660553),
    (5, -40.5, 15382.22709699787),
    (10, 0.001, -3.628799999999999e+39),
    (10, 0.5, -7431824508.858769),
    (10, 1.0, -3630593.311606629),
    (10, 2.75, -55.25601098425511),
    (10, 17.5, -1.7718996786602615e-07),
    (10, 300.0, -6.248453977752815e-20),
    (10, 10000000000.0, -3.6288000018144e-95),
    (10, -0.25, 15220204428462.791),
    (10, -3.625, -175323787143.00583),
    (10, -40.5, -2.696136807551436e-11),
    (40, 0.001, -8.15915283247897e+170),
    (40, 0.5, -1.794216682422424e+60),
    (40, 1.0, -8.159152832482688e+47),
    (40, 2.75, -7.92512142119552e+29),
    (40, 17.5, -0.000988040296842501),
    (40, 300.0, -1.792178372387339e-53),
    (120, 0.5, -1.7783749100882678e+235),
    (120, 1.0, -6.689502913449127e+198),
    (120, 2.75, -4.6359409310974706e+145),
    (120, 17.5, -2.620067401433517e+48),
    (120, 300.0, -3.7641646809769974e-101),
];

#[test]
fn derivatives_of_digamma() {
    for &(n, x, y) in POLYGAMMA {
        assert!(units(polygamma(x, n), y) <= 2, "{n} {x}: {:?} {y:?}", polygamma(x, n));
    }
    assert!(polygamma(1.5, -1).is_nan() && polygamma(1.5, 121).is_nan());
    assert_eq!(polygamma(-3.0, 2), f64::INFINITY);
}

#[test]
fn signs_of_powers() {
    assert_eq!(powi(-2.0, 3), -8.0);
    assert_eq!(powi(-1.0, i64::MAX), -1.0);
    assert_eq!(powi(-0.0, 5).to_bits(), (-0.0f64).to_bits());
}
