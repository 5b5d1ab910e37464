//! Floating-point arithmetic: against the machine's kernels at 64 bits, against exact arithmetic in doubles, rounded, at fewer.

use pendula_hw_model::circuit::kernels::{Float, Formats};
use pendula_isa::num::elementary::Fixed;
use pendula_isa::num::float;
use pendula_isa::table::{TableFn, f_fn};

use crate::kernels::harness::{ENV, Random, all, check, edges, mask, some};

/// The number of a word, if it is finite.
pub(crate) fn decode(t: Float, word: u64) -> Option<f64> {
    let field = word >> t.mantissa & mask(t.exponent as u32);
    let fraction = word & mask(t.mantissa as u32);
    let bias = (1 << (t.exponent - 1)) - 1;
    let (significand, exponent) = match field {
        _ if field == mask(t.exponent as u32) => return None,
        0 => (fraction, 1),
        _ => (fraction | 1 << t.mantissa, field as i32),
    };
    let magnitude = significand as f64 * 2f64.powi(exponent - bias - t.mantissa as i32);
    Some(if word >> (t.mantissa + t.exponent) & 1 == 1 { -magnitude } else { magnitude })
}

/// The word of the number nearest to x, ties to even, if it is finite.
pub(crate) fn encode(t: Float, x: f64) -> Option<u64> {
    let bias = (1i32 << (t.exponent - 1)) - 1;
    let mut exponent = 1 - bias;
    while x.abs() >= 2f64.powi(exponent + 1) {
        exponent += 1;
    }
    let places = (x.abs() / 2f64.powi(exponent - t.mantissa as i32)).round_ties_even() as u64;
    let word = (((exponent + bias - 1) as u64) << t.mantissa) + places;
    let sign = u64::from(x.is_sign_negative()) << (t.width() - 1);
    (word >> t.mantissa < mask(t.exponent as u32)).then_some(word | sign)
}

type HostFn = fn([f64; 3]) -> f64;

const FUNCTIONS: [(TableFn, HostFn); 12] = [
    (TableFn::F(f_fn::Name::Plus), |[x, y, _]| x + y),
    (TableFn::F(f_fn::Name::Minus), |[x, y, _]| x - y),
    (TableFn::F(f_fn::Name::Inv), |[x, ..]| 1.0 / x),
    (TableFn::F(f_fn::Name::Abs), |[x, ..]| x.abs()),
    (TableFn::F(f_fn::Name::Sign), |[x, ..]| if x == 0.0 { 0.0 } else { x.signum() }),
    (TableFn::F(f_fn::Name::Relu), |[x, ..]| if x > 0.0 { x } else { 0.0 }),
    (TableFn::F(f_fn::Name::Min), |[x, y, _]| if x < y || (x == y && x.is_sign_negative()) { x } else { y }),
    (TableFn::F(f_fn::Name::Max), |[x, y, _]| if x > y || (x == y && x.is_sign_positive()) { x } else { y }),
    (TableFn::F(f_fn::Name::Mul), |[x, y, _]| x * y),
    (TableFn::F(f_fn::Name::Div), |[x, y, _]| x / y),
    (TableFn::F(f_fn::Name::Muladd), |[x, y, z]| x.mul_add(y, z)),
    (TableFn::F(f_fn::Name::Sqrt), |[x, _, _]| x.sqrt()),
];

/// By doubles, whose rounding does not show at so few bits.
fn narrow(formats: &Formats, kernel: TableFn, native: HostFn, cases: &[[u64; 3]]) {
    let t = formats.float;
    check(kernel, formats, cases, |words| {
        let mut x = [0.0; 3];
        for i in 0..kernel.info().args.len() {
            x[i] = decode(t, words[i])?;
        }
        let result = native(x);
        if result.is_finite() { encode(t, result) } else { None }
    });
}

#[test]
fn every_word_of_eight_bits() {
    let formats = Formats::of_width(8);
    for (kernel, native) in FUNCTIONS {
        if kernel.info().args.len() < 3 {
            narrow(&formats, kernel, native, &all(8, kernel.info().args.len()));
        } else {
            narrow(&formats, kernel, native, &some(1, 100_000, |r| r.word() & 0xff));
        }
    }
    // Other splits of few bits, so few that all triples can be tried.
    for (exponent, mantissa) in [(2, 3), (3, 2), (2, 1), (4, 1), (5, 1)] {
        let float = Float { exponent, mantissa };
        let fixed = Fixed { width: float.width() as u32, frac: 1 };
        let formats = Formats { float, fixed, ..Formats::of_width(8) };
        for (kernel, native) in FUNCTIONS {
            let width = formats.float.width() as u32;
            narrow(&formats, kernel, native, &all(width, if width > 6 { 2 } else { kernel.info().args.len() }));
        }
    }
}

#[test]
fn random_words_of_sixteen_and_thirty_two_bits() {
    for width in [16, 32] {
        let formats = Formats::of_width(width);
        for (kernel, native) in FUNCTIONS {
            if width == 32 && kernel == TableFn::F(f_fn::Name::Muladd) {
                continue;
            }
            let t = formats.float;
            let cases = some(2, 2000, |r| near(r, t));
            narrow(&formats, kernel, native, &cases);
        }
    }
    let formats = Formats::of_width(32);
    check(TableFn::F(f_fn::Name::Muladd), &formats, &some(3, 2000, |r| near(r, formats.float)), |words| {
        let [x, y, z] = words.map(|w| f32::from_bits(w as u32));
        let result = x.mul_add(y, z);
        (x.is_finite() && y.is_finite() && z.is_finite() && result.is_finite()).then_some(result.to_bits().into())
    });
}

/// A word of any kind: random, with an exponent near that of 1, with few significant bits, subnormal, zero, or near the greatest.
fn near(random: &mut Random, t: Float) -> u64 {
    let (word, kind) = (random.word(), random.word() % 16);
    let (exponents, fractions) = (mask(t.exponent as u32), mask(t.mantissa as u32));
    let sign = (word >> 63) << (t.width() - 1);
    let fraction = match word >> 60 & 3 {
        0 => fractions << (word >> 50 & 63).min(t.mantissa as u64) & fractions,
        1 => fractions >> (word >> 50 & 63).min(t.mantissa as u64),
        _ => random.word() & fractions,
    };
    let field = match kind {
        0 => 0,
        1 => exponents - 1,
        2 => exponents,
        3..6 => random.word() & exponents,
        _ => exponents / 2 + random.word() % 9 - 4,
    };
    sign | (field & exponents) << t.mantissa | fraction
}

#[test]
fn the_machine_s_words() {
    let formats = Formats::of_width(64);
    let edges = edges(64);
    let mut cases = some(4, 3000, |r| near(r, formats.float));
    let pick = |r: &mut Random| edges[r.word() as usize % edges.len()];
    cases.extend(some(5, 1000, pick));
    let special = [
        0u64,
        1,
        0x3ff0_0000_0000_0000,
        0x7fef_ffff_ffff_ffff,
        0x7ff0_0000_0000_0000,
        0x7ff8_0000_0000_0000,
        0x10_0000_0000_0000,
    ];
    let special: Vec<u64> = special.iter().flat_map(|w| [*w, w | 1 << 63]).collect();
    for &a in &special {
        cases.extend(special.iter().map(|b| [a, *b, special[(a ^ b) as usize % 14]]));
    }
    check(TableFn::F(f_fn::Name::Plus), &formats, &cases, |[a, b, _]| float::add(ENV, a, b).ok());
    check(TableFn::F(f_fn::Name::Mul), &formats, &cases, |[a, b, _]| float::mul(ENV, a, b).ok());
    check(TableFn::F(f_fn::Name::Div), &formats, &cases, |[a, b, _]| float::div(ENV, a, b).ok());
    check(TableFn::F(f_fn::Name::Sqrt), &formats, &cases, |[a, _, _]| float::sqrt(ENV, a).ok());
    check(TableFn::F(f_fn::Name::Muladd), &formats, &cases, |[a, b, c]| float::muladd(ENV, a, b, c).ok());
}
