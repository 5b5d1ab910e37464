//! Comparisons of floating-point numbers: narrow words against a model in doubles, words of 32 and 64 bits against the hardware's own numbers.

use super::harness::{assertion, int};
use pendula_isa::table::{Row, Variant, int_fn};
use std::cmp::Ordering;

use pendula_hw_model::circuit::kernels::Formats;
use pendula_hw_model::circuit::{Accumulator, CircuitFn, Part, generate};
use pendula_isa::num::compare;
use pendula_isa::sample::in_turn;
use pendula_isa::{Cond, Env, Ty};

use crate::circuits::harness::{cases, check, compared, mask, some};

const FUNCTIONS: [(CircuitFn, Cond); 2] = [(int(int_fn::Name::LtF), Cond::Lt), (int(int_fn::Name::EqF), Cond::Eq)];
const CONDITIONS: [Cond; 6] = [Cond::Eq, Cond::Ne, Cond::Lt, Cond::Le, Cond::Gt, Cond::Ge];

/// The exact number of a word; `None` for NaN.
fn read(n: u128, width: usize) -> Option<f64> {
    let t = Formats::of_width(width).float;
    let (field, fraction) = (n >> t.mantissa & mask(t.exponent), n & mask(t.mantissa));
    let bias = mask(t.exponent - 1) as i32;
    let magnitude = match field {
        _ if field == mask(t.exponent) && fraction != 0 => return None,
        _ if field == mask(t.exponent) => f64::INFINITY,
        0 => fraction as f64 * 2f64.powi(1 - bias - t.mantissa as i32),
        _ => (fraction | 1 << t.mantissa) as f64 * 2f64.powi(field as i32 - bias - t.mantissa as i32),
    };
    Some(if n >> (width - 1) == 1 { -magnitude } else { magnitude })
}

fn order(a: u128, b: u128, width: usize) -> Option<Ordering> {
    read(a, width)?.partial_cmp(&read(b, width)?)
}

#[test]
fn functions_of_narrow_words() {
    // Every pair of words of 8 bits; 9 bits have another mantissa, 16 another exponent.
    for (n, (function, cond)) in FUNCTIONS.into_iter().enumerate() {
        for &width in in_turn(&[8, 9, 16], n) {
            compared(function, width, |a, b| order(a, b, width).map(|o| cond.holds(Some(o))));
        }
    }
}

#[test]
fn checks_of_narrow_words() {
    for width in [8, 9, 16] {
        let pairs = cases(16, 6400, &[width, width]);
        for cond in CONDITIONS {
            check(&generate(assertion(Ty::F, cond), width).unwrap(), ["a", "b"], &pairs, |[a, b]| {
                cond.holds(Some(order(a, b, width)?)).then_some([a, b])
            });
        }
    }
}

#[test]
fn words_near_zero() {
    for (width, frac) in [(8, 4), (16, 8), (64, 32)] {
        let part =
            |form| Part::Row { row: Row::ZeroWithin, variant: Variant { ty: Ty::F, cond: Cond::Always, form }, frac };
        let magnitude = |n: u128| n & mask(width - 1);
        let pairs = cases(16, 6400, &[width, width]);
        let pairs = if width == 64 { special(pairs) } else { pairs };
        check(&generate(part(true), width).unwrap(), ["r", "tol"], &pairs, |[r, tol]| {
            let order = match width {
                64 => f64::from_bits(magnitude(r) as u64).partial_cmp(&f64::from_bits(tol as u64)),
                _ => order(magnitude(r), tol, width),
            };
            let near = order? != Ordering::Greater;
            near.then_some([r, tol])
        });
        let words = cases(16, 640, &[width]);
        check(&generate(part(false), width).unwrap(), ["r"], &words, |[r]| (magnitude(r) == 0).then_some([r]));
    }
}

#[test]
fn wide_words() {
    let narrow = |n: u128| f32::from_bits(n as u32);
    for (function, cond) in FUNCTIONS {
        compared(function, 32, |a, b| narrow(a).partial_cmp(&narrow(b)).map(|o| cond.holds(Some(o))));
        compared(function, 64, |a, b| compare(Env::default(), cond, Ty::F, a as u64, b as u64).ok());
    }
    let pairs = special(some(3, 6400, &[64, 64]));
    for (function, cond) in FUNCTIONS {
        let part = generate(Part::Accumulate(Accumulator::Xor, function), 64).unwrap();
        check(&part, ["a", "b"], &pairs, |[a, b]| {
            compare(Env::default(), cond, Ty::F, a as u64, b as u64).ok().map(|_| [a, b])
        });
    }
    for cond in CONDITIONS {
        check(&generate(assertion(Ty::F, cond), 64).unwrap(), ["a", "b"], &pairs, |[a, b]| {
            compare(Env::default(), cond, Ty::F, a as u64, b as u64).ok()?.then_some([a, b])
        });
    }
}

/// Zeros of both signs, infinities, NaN beside them, and equal words among the pairs.
fn special(mut pairs: Vec<Vec<u128>>) -> Vec<Vec<u128>> {
    let words = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 5e-324, -5e-324, f64::MAX].map(f64::to_bits);
    let nan = f64::INFINITY.to_bits() + 1;
    let words: Vec<u128> = words.into_iter().chain([nan, nan | 1 << 63]).map(u128::from).collect();
    for (n, pair) in pairs.iter_mut().enumerate() {
        match n % 4 {
            0 => *pair = vec![words[n / 4 % words.len()], words[n / 4 / words.len() % words.len()]],
            1 => pair[n / 4 % 2] = words[n / 8 % words.len()],
            2 => pair[1] = pair[0],
            _ => {}
        }
    }
    pairs
}
