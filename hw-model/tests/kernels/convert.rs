//! Conversions between integers, fixed point and floating point.

use pendula_hw_model::circuit::kernels::Formats;
use pendula_isa::num::{Env, Format, Word, convert};
use pendula_isa::table::{TableFn, f_fn, int_fn, q_fn};

use crate::kernels::float::{decode, encode};
use crate::kernels::harness::{Random, all, check, edges, signed, some};

type Convert = fn(Env, u64) -> Word;

const MACHINE: [(TableFn, Convert); 6] = [
    (TableFn::Q(q_fn::Name::CvtI), convert::int_to_q),
    (TableFn::Int(int_fn::Name::CvtQ), convert::q_to_int),
    (TableFn::F(f_fn::Name::CvtI), convert::int_to_f),
    (TableFn::F(f_fn::Name::CvtQ), convert::q_to_f),
    (TableFn::Int(int_fn::Name::CvtF), convert::f_to_int),
    (TableFn::Q(q_fn::Name::CvtF), convert::f_to_q),
];

#[test]
fn the_machine_s_words() {
    for format in Format::ALL {
        let mut formats = Formats::of_width(64);
        formats.fixed.frac = format.frac();
        let env = Env { format, ieee: false };
        let mut cases: Vec<[u64; 3]> = edges(64).into_iter().map(|a| [a, 0, 0]).collect();
        cases.extend(some(11, 1000, |r| r.sized(64)));
        // Doubles whose last places are near those of the integers and the fixed-point numbers.
        cases.extend(some(12, 3000, |r| {
            r.word() & (0x8007_ffff_ffff_ffff << (r.word() % 50)) | (990 + r.word() % 100) << 52
        }));
        for (kernel, machine) in MACHINE {
            check(kernel, &formats, &cases, |[a, ..]| machine(env, a).ok());
        }
    }
}

#[test]
fn words_of_fewer_bits() {
    for width in [8u32, 16, 32] {
        let cases = if width == 8 { all(8, 1) } else { some(13, 2000, Random::word) };
        let sized = if width == 8 { all(8, 1) } else { some(14, 2000, |r| r.sized(width)) };
        let cases: Vec<[u64; 3]> =
            cases.iter().chain(&sized).map(|x| x.map(|w| w & u64::MAX >> (64 - width))).collect();
        for frac in [1, width / 2, width - 2] {
            let mut formats = Formats::of_width(width as usize);
            formats.fixed.frac = frac;
            let (t, unit) = (formats.float, 2f64.powi(frac as i32));
            let number = |a: u64| signed(a, width) as f64;
            let fits = |x: f64| (signed(x as i64 as u64, width) as f64 == x).then_some(x as i64 as u64);
            check(TableFn::Q(q_fn::Name::CvtI), &formats, &cases, |[a, ..]| fits(number(a) * unit));
            check(TableFn::Int(int_fn::Name::CvtQ), &formats, &cases, |[a, ..]| fits((number(a) / unit).floor()));
            check(TableFn::F(f_fn::Name::CvtI), &formats, &cases, |[a, ..]| encode(t, number(a)));
            check(TableFn::F(f_fn::Name::CvtQ), &formats, &cases, |[a, ..]| encode(t, number(a) / unit));
            check(TableFn::Int(int_fn::Name::CvtF), &formats, &cases, |[a, ..]| fits(decode(t, a)?.floor()));
            check(TableFn::Q(q_fn::Name::CvtF), &formats, &cases, |[a, ..]| {
                fits((decode(t, a)? * unit).round_ties_even())
            });
        }
    }
}
