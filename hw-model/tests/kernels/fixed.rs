//! Elementary functions, roots, powers and rotations of fixed-point numbers.

use pendula_hw_model::circuit::generate;
use pendula_hw_model::circuit::kernels::Formats;
use pendula_isa::fault::Fault;
use pendula_isa::num::Format;
use pendula_isa::num::elementary::{self, Fixed};
use pendula_isa::sample::{self, in_turn, share};
use pendula_isa::table::{TableFn, q_fn};

use crate::kernels::harness::{Random, all, check, edges, mask, rotation, signed, some};

type Unary = fn(Fixed, i64) -> Result<i64, Fault>;
type Binary = fn(Fixed, i64, i64) -> Result<i64, Fault>;

const UNARY: [(TableFn, Unary); 13] = [
    (TableFn::Q(q_fn::Name::Exp), elementary::exp),
    (TableFn::Q(q_fn::Name::Log), elementary::log),
    (TableFn::Q(q_fn::Name::Log2), elementary::log2),
    (TableFn::Q(q_fn::Name::Sqrt), elementary::sqrt),
    (TableFn::Q(q_fn::Name::Sin), elementary::sin),
    (TableFn::Q(q_fn::Name::Cos), elementary::cos),
    (TableFn::Q(q_fn::Name::Tan), elementary::tan),
    (TableFn::Q(q_fn::Name::Asin), elementary::asin),
    (TableFn::Q(q_fn::Name::Acos), elementary::acos),
    (TableFn::Q(q_fn::Name::Atan), elementary::atan),
    (TableFn::Q(q_fn::Name::Sinh), elementary::sinh),
    (TableFn::Q(q_fn::Name::Cosh), elementary::cosh),
    (TableFn::Q(q_fn::Name::Tanh), elementary::tanh),
];

const BINARY: [(TableFn, Binary); 4] = [
    (TableFn::Q(q_fn::Name::Hypot), elementary::hypot),
    (TableFn::Q(q_fn::Name::Atan2), elementary::atan2),
    (TableFn::Q(q_fn::Name::Pow), elementary::pow),
    (TableFn::Q(q_fn::Name::Powi), elementary::powi),
];

fn formats(t: Fixed) -> Formats {
    Formats { fixed: t, ..Formats::of_width(t.width as usize) }
}

fn unary(t: Fixed, cases: &[[u64; 3]]) {
    for (kernel, function) in UNARY {
        check(kernel, &formats(t), cases, |[a, ..]| function(t, signed(a, t.width)).ok().map(i64::cast_unsigned));
    }
}

fn binary(t: Fixed, cases: &[[u64; 3]]) {
    for (kernel, function) in BINARY {
        check(kernel, &formats(t), cases, |[a, b, _]| {
            function(t, signed(a, t.width), signed(b, t.width)).ok().map(i64::cast_unsigned)
        });
    }
}

/// Edges, words of all sizes, and words near 0 and 1.
fn words(t: Fixed, count: usize) -> Vec<[u64; 3]> {
    let mut cases: Vec<[u64; 3]> = edges(t.width).into_iter().map(|a| [a, a ^ t.one().cast_unsigned(), 0]).collect();
    cases.extend(some(31, count, |r| r.sized(t.width)));
    cases.extend(some(32, count, |r| near(r, t)));
    let word = |a: i64| a.cast_unsigned() & mask(t.width);
    // Next to multiples of π/2, and where powers of e begin to overflow and cease to round to zero.
    const PI: i128 = 0x3_243f_6a88_85a3_08d3;
    let limit = elementary::log(t, t.max()).unwrap_or(t.max());
    for n in 1..16 {
        let quarter_turns = ((n * n * PI) >> (65 - t.frac)) as i64;
        cases.extend([0, 1].map(|more| [word(quarter_turns + more), word(-quarter_turns), 1]));
        let n = n as i64 - 8;
        let least = -i64::from(t.frac + 1) * (t.one() as f64 * std::f64::consts::LN_2) as i64;
        cases.extend([limit + n, -limit - n, limit + t.one() / 2 + n, least + n].map(|a| [word(a), word(n), 0]));
    }
    cases
}

/// Within ±8, as a rule.
fn near(random: &mut Random, t: Fixed) -> u64 {
    let down = 64 - (t.frac + 1 + random.word() as u32 % 3).min(t.width);
    (random.word().cast_signed() >> down).cast_unsigned() & mask(t.width)
}

#[test]
fn every_word_of_eight_bits() {
    for &frac in in_turn(&[1, 4, 6], 1) {
        unary(Fixed { width: 8, frac }, &all(8, 1));
    }
}

#[test]
fn every_pair_of_eight_bits() {
    pairs(4, 17);
}

#[test]
#[ignore = "takes a minute: part of .ci/full"]
fn every_pair_of_eight_bits_in_every_format() {
    for frac in [1, 4, 6] {
        pairs(frac, 1);
    }
}

/// Every pair of words of 8 bits; for powers, whose circuits are great, those in steps.
fn pairs(frac: u32, step: usize) {
    let t = Fixed { width: 8, frac };
    for (kernel, function) in BINARY {
        let step = match kernel {
            TableFn::Q(q_fn::Name::Pow | q_fn::Name::Powi) => step,
            _ if sample::all() => 1,
            _ => 11,
        };
        let cases: Vec<[u64; 3]> = all(8, 2).into_iter().step_by(step).collect();
        check(kernel, &formats(t), &cases, |[a, b, _]| {
            function(t, signed(a, 8), signed(b, 8)).ok().map(i64::cast_unsigned)
        });
    }
}

#[test]
#[ignore = "takes a quarter of a minute: part of .ci/full"]
fn words_of_sixteen_and_thirty_two_bits() {
    for (width, frac) in [(16, 8), (32, 16), (32, 29)] {
        let t = Fixed { width, frac };
        unary(t, &words(t, share(600)));
        binary(t, &words(t, share(120))[..]);
    }
}

#[test]
fn functions_of_the_machine_s_words() {
    for format in in_turn(&Format::ALL, 0) {
        let t = Fixed { width: 64, frac: format.frac() };
        unary(t, &words(t, share(400)));
    }
}

#[test]
fn functions_of_pairs_of_the_machine_s_words() {
    for format in in_turn(&Format::ALL, 1) {
        let t = Fixed { width: 64, frac: format.frac() };
        binary(t, &words(t, share(256)));
    }
}

#[test]
fn rotations() {
    for (width, frac) in [(8, 4), (16, 8), (32, 16), (64, 32), (64, 43), (64, 48)] {
        let t = Fixed { width, frac };
        let circuit = generate(rotation(frac as usize), width as usize).expect("a circuit");
        let inverse = circuit.inverse();
        let mut cases = words(t, share(400));
        cases.extend(some(33, 400, |r| r.sized(width)));
        for chunk in cases.chunks(64) {
            let mut lanes = circuit.lanes();
            for (i, name) in ["angle", "a", "b"].iter().enumerate() {
                let column: Vec<u128> = chunk.iter().map(|x| x[i].into()).collect();
                circuit.set(&mut lanes, name, &column);
            }
            let before = lanes.clone();
            circuit.run_lanes(&mut lanes).expect("clean ancillas");
            let (x, y) = (circuit.get(&lanes, "a"), circuit.get(&lanes, "b"));
            for (lane, case) in chunk.iter().enumerate() {
                let [angle, a, b] = case.map(|w| signed(w, width));
                let found = [x[lane], y[lane]].map(|w| signed(w as u64, width));
                assert_eq!(found, elementary::rot(t, a, b, angle).0, "{t:?} ({a}, {b}) by {angle}");
            }
            inverse.run_lanes(&mut lanes).expect("clean ancillas");
            assert_eq!(lanes, before);
        }
    }
}
