//! Sums, powers and conversions of logarithmic numbers.

use pendula_hw_model::circuit::kernels::Formats;
use pendula_isa::num::gauss::{self, Logarithmic, Number};
use pendula_isa::num::{Env, Format, Word, convert};
use pendula_isa::sample::{in_turn, share};
use pendula_isa::table::{TableFn, f_fn, int_fn, l_fn, q_fn};

use crate::kernels::float::{decode, encode};
use crate::kernels::harness::{ENV, Random, all, check, edges, mask, signed, some};

/// The word of what the type's own operations give.
fn word(t: Logarithmic, number: Result<Number, impl Sized>) -> Option<u64> {
    number.ok().map(|number| t.word(number))
}

fn sums_and_powers(formats: &Formats, cases: &[[u64; 3]]) {
    let (t, q) = (formats.logarithmic, formats.fixed);
    let numbers = |a: u64, b: u64| Some((t.number(a).ok()?, t.number(b).ok()?));
    check(TableFn::L(l_fn::Name::Plus), formats, cases, |[a, b, _]| {
        numbers(a, b).and_then(|(a, b)| word(t, t.plus(a, b)))
    });
    check(TableFn::L(l_fn::Name::Minus), formats, cases, |[a, b, _]| {
        numbers(a, b).and_then(|(a, b)| word(t, t.minus(a, b)))
    });
    check(TableFn::L(l_fn::Name::Pow), formats, cases, |[a, b, _]| {
        word(t, t.pow(t.number(a).ok()?, signed(b, q.width), q.frac))
    });
    check(TableFn::Q(q_fn::Name::LogL), formats, cases, |[a, ..]| {
        let ln = t.ln(t.number(a).ok()?, q.frac).ok()?;
        (signed(ln.cast_unsigned(), q.width) == ln).then_some(ln.cast_unsigned())
    });
}

#[test]
fn pairs_of_eight_bits() {
    for &frac in in_turn(&[1, 3, 5], 1) {
        pairs(frac, 51);
    }
}

#[test]
#[ignore = "takes a minute: part of .ci/full"]
fn every_pair_of_eight_bits() {
    for frac in [1, 3, 5] {
        pairs(frac, 1);
    }
}

/// Pairs of words of 8 bits in steps: all of them take long.
fn pairs(frac: u32, step: usize) {
    let mut formats = Formats::of_width(8);
    formats.logarithmic.frac = frac;
    let cases: Vec<[u64; 3]> = all(8, 2).into_iter().step_by(step).collect();
    sums_and_powers(&formats, &cases);
}

#[test]
fn words_of_sixteen_and_thirty_two_bits() {
    for width in [16, 32] {
        let formats = Formats::of_width(width);
        sums_and_powers(&formats, &words(width as u32, formats.logarithmic.frac, share(400)));
    }
}

/// Words with logarithms that are near to one another, as a rule, and edges.
fn words(width: u32, frac: u32, count: usize) -> Vec<[u64; 3]> {
    let edges = edges(width);
    let mut cases = some(21, count, |r| r.sized(width));
    cases.extend(some(22, count, |r| edges[r.word() as usize % edges.len()]));
    let near = |r: &mut Random| {
        let logarithm = r.word().cast_signed() >> (64 - frac - 3) >> (r.word() % u64::from(frac));
        (logarithm.cast_unsigned() & mask(width - 1)) | (r.word() & 1) << (width - 1)
    };
    cases.extend(some(23, 2 * count, near));
    // Sums that cancel but for the last places, or all but overflow.
    let close = |[a, b, c]: [u64; 3]| [a, (a ^ (b & 1) << (width - 1)).wrapping_add(b % 64) & mask(width), c];
    cases.extend(some(29, count / 4, near).into_iter().map(close));
    let top = 1 << (width - 2);
    cases.extend((0..32u64).map(|n| [top - 1 - n, top - 1 - ((54 + n % 4) << frac) % top, n]));
    cases
}

#[test]
fn the_machine_s_words() {
    let cases = words(64, 52, share(600));
    for format in Format::ALL {
        let env = Env { format, ieee: false };
        let mut formats = Formats::of_width(64);
        formats.fixed.frac = format.frac();
        check(TableFn::L(l_fn::Name::Pow), &formats, &cases, |[a, b, _]| gauss::pow(env, a, b).ok());
        check(TableFn::Q(q_fn::Name::LogL), &formats, &cases, |[a, ..]| gauss::ln(env, a).ok());
    }
    let formats = Formats::of_width(64);
    check(TableFn::L(l_fn::Name::Plus), &formats, &cases, |[a, b, _]| gauss::plus(ENV, a, b).ok());
    check(TableFn::L(l_fn::Name::Minus), &formats, &cases, |[a, b, _]| gauss::minus(ENV, a, b).ok());
}

type Convert = fn(Env, u64) -> Word;

const MACHINE: [(TableFn, Convert); 6] = [
    (TableFn::L(l_fn::Name::CvtI), convert::int_to_l),
    (TableFn::L(l_fn::Name::CvtQ), convert::q_to_l),
    (TableFn::L(l_fn::Name::CvtF), convert::f_to_l),
    (TableFn::Int(int_fn::Name::CvtL), convert::l_to_int),
    (TableFn::Q(q_fn::Name::CvtL), convert::l_to_q),
    (TableFn::F(f_fn::Name::CvtL), convert::l_to_f),
];

#[test]
fn conversions_of_the_machine_s_words() {
    let mut cases: Vec<[u64; 3]> = edges(64).into_iter().map(|a| [a, 0, 0]).collect();
    cases.extend(some(24, share(600), |r| r.sized(64)));
    cases.extend(some(25, share(600), Random::word));
    // Magnitudes from 2^-70 to 2^70, of logarithms and of doubles.
    cases.extend(some(26, share(600), |r| {
        ((r.word() % (140 << 52)).wrapping_sub(70 << 52) & mask(63)) | r.word() << 63
    }));
    cases.extend(some(27, share(600), |r| (r.word() % (140 << 52)).wrapping_add(953 << 52) | r.word() << 63));
    for (kernel, machine) in MACHINE {
        for format in Format::ALL {
            if format == Format::Q32_32 || matches!(kernel, TableFn::L(l_fn::Name::CvtQ) | TableFn::Q(q_fn::Name::CvtL))
            {
                let mut formats = Formats::of_width(64);
                formats.fixed.frac = format.frac();
                check(kernel, &formats, &cases, |[a, ..]| machine(Env { format, ieee: false }, a).ok());
            }
        }
    }
}

/// By doubles, which are exact enough for so few bits.
#[test]
fn conversions_of_fewer_bits() {
    for width in [8u32, 16] {
        let formats = Formats::of_width(width as usize);
        let (t, q, f) = (formats.logarithmic, formats.fixed, formats.float);
        let (log_unit, unit) = (2f64.powi(t.frac as i32), 2f64.powi(q.frac as i32));
        let cases = if width == 8 { all(8, 1) } else { some(28, share(6000), |r| r.word() & mask(16)) };
        let to_log = |x: f64| {
            if x == 0.0 {
                return Some(t.word(Number::ZERO));
            }
            let logarithm = (x.abs().log2() * log_unit).round() as i64;
            (logarithm.abs() <= t.max_log()).then(|| t.word(Number { negative: x < 0.0, logarithm: Some(logarithm) }))
        };
        let number = |a: u64| {
            let number = t.number(a).ok()?;
            let magnitude = number.logarithm.map_or(0.0, |l| (l as f64 / log_unit).exp2());
            Some(if number.negative { -magnitude } else { magnitude })
        };
        let fits = |x: f64| (signed(x as i64 as u64, width) as f64 == x).then_some(x as i64 as u64);
        check(TableFn::L(l_fn::Name::CvtI), &formats, &cases, |[a, ..]| to_log(signed(a, width) as f64));
        check(TableFn::L(l_fn::Name::CvtQ), &formats, &cases, |[a, ..]| to_log(signed(a, width) as f64 / unit));
        check(TableFn::L(l_fn::Name::CvtF), &formats, &cases, |[a, ..]| to_log(decode(f, a)?));
        check(TableFn::Int(int_fn::Name::CvtL), &formats, &cases, |[a, ..]| fits(number(a)?.round_ties_even()));
        check(TableFn::Q(q_fn::Name::CvtL), &formats, &cases, |[a, ..]| fits((number(a)? * unit).round_ties_even()));
        check(TableFn::F(f_fn::Name::CvtL), &formats, &cases, |[a, ..]| encode(f, number(a)?));
    }
}
