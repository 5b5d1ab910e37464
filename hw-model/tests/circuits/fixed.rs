//! Fixed-point parts against the kernels of every width.

use super::harness::{fixed, int};
use pendula_hw_model::circuit::{Accumulator, Circuit, CircuitFn, Part, generate};
use pendula_isa::num::elementary::{self, Fixed};
use pendula_isa::num::{Env, Format, fixed};
use pendula_isa::scalar;
use pendula_isa::table::int_fn;
use pendula_isa::table::{TableFn, q_fn};

use crate::circuits::harness::{cases, check, mask, signed, some};

/// Widths with fractions.
const TYPES: [(usize, usize); 9] = [(4, 1), (4, 2), (5, 1), (5, 3), (8, 4), (8, 6), (16, 8), (32, 16), (64, 32)];

fn part(accumulator: Accumulator, function: CircuitFn, width: usize) -> Circuit {
    generate(Part::Accumulate(accumulator, function), width).unwrap()
}

/// A function of two operands under each accumulator.
fn accumulates(function: CircuitFn, width: usize, f: impl Fn(i128, i128) -> Option<i128>) {
    let m = mask(width);
    let f = |a, b| f(signed(a, width), signed(b, width)).map(|y| y.cast_unsigned() & m);
    let second = if function.arity() == 2 { "b" } else { "y" };
    let mut cases = cases(16, 192, &[width, width]);
    for (n, case) in cases.iter_mut().enumerate() {
        let y = if function.arity() == 2 { (n as u128 * 0x9e37_79b9_7f4a_7c15) >> 7 & m } else { case[1] };
        case.extend([y, n as u128 >> 1 & 1]);
    }
    let names = ["a", second, "y", "direction"];
    check(&part(Accumulator::Xor, function, width), ["a", second, "y"], &cases, |[a, b, y]| {
        let z = y ^ f(a, b)?;
        Some([a, if second == "y" { z } else { b }, z])
    });
    check(&part(Accumulator::AddOrSubtract, function, width), names, &cases, |[a, b, y, back]| {
        let f = f(a, b)?;
        let z = if back == 1 { y.wrapping_sub(f) } else { y + f } & m;
        Some([a, if second == "y" { z } else { b }, z, back])
    });
}

#[test]
fn products_and_quotients() {
    for (width, frac) in TYPES {
        let t = Fixed { width: width as u32, frac: frac as u32 };
        let fits = move |n: i128| (signed(n.cast_unsigned(), width) == n).then_some(n);
        accumulates(fixed(q_fn::Name::Mul, frac), width, |a, b| {
            Some(elementary::muladd(t, a as i64, b as i64, 0).0.into())
        });
        accumulates(fixed(q_fn::Name::Div, frac), width, |a, b| fits((a << frac).checked_div(b)?));
        accumulates(fixed(q_fn::Name::Inv, frac), width, |a, _| Some(elementary::inv(t, a as i64).ok()?.into()));
        accumulates(fixed(q_fn::Name::Abs, frac), width, |a, _| Some(elementary::abs(t, a as i64).ok()?.into()));
        accumulates(fixed(q_fn::Name::Relu, frac), width, |a, _| Some(elementary::relu(t, a as i64).ok()?.into()));
        accumulates(fixed(q_fn::Name::Floor, frac), width, |a, _| Some(elementary::floor(t, a as i64).ok()?.into()));
        accumulates(fixed(q_fn::Name::Sign, frac), width, |a, _| Some(elementary::sign(t, a as i64).ok()?.into()));
    }
}

#[test]
fn products_plus_a_word() {
    for (width, frac) in TYPES {
        let t = Fixed { width: width as u32, frac: frac as u32 };
        let f = |x: [u128; 3]| {
            let [a, b, c] = x.map(|n| signed(n, width) as i64);
            i128::from(elementary::muladd(t, a, b, c).0).cast_unsigned()
        };
        let cases = cases(16, 640, &[width; 4]);
        let names = ["a", "b", "c", "y"];
        let circuit = part(Accumulator::Add, fixed(q_fn::Name::Muladd, frac), width);
        check(&circuit, names, &cases, |[a, b, c, y]| Some([a, b, c, y.wrapping_add(f([a, b, c])) & mask(width)]));
    }
}

#[test]
fn sums_and_differences() {
    for (width, _) in TYPES {
        let wrapped = |n: i128| Some(signed(n.cast_unsigned() & mask(width), width));
        accumulates(int(int_fn::Name::Plus), width, |a, b| wrapped(a + b));
        accumulates(int(int_fn::Name::Minus), width, |a, b| wrapped(a - b));
    }
}

#[test]
fn the_formats_of_the_machine() {
    for format in Format::ALL {
        let env = Env { format, ieee: false };
        let frac = format.frac() as usize;
        let cases = some(frac as u64, 640, &[64; 3]);
        let word = |w: u64| u128::from(w);
        let circuit = part(Accumulator::Add, fixed(q_fn::Name::Mul, frac), 64);
        check(&circuit, ["a", "b", "y"], &cases, |[a, b, y]| {
            let product = fixed::mul(env, a as u64, b as u64).0;
            Some([a, b, word(fixed::add(env, y as u64, product).0)])
        });
        for (function, func) in
            [(int(int_fn::Name::Plus), q_fn::Name::Plus), (int(int_fn::Name::Minus), q_fn::Name::Minus)]
        {
            let circuit = part(Accumulator::Xor, function, 64);
            check(&circuit, ["a", "b", "y"], &cases, |[a, b, y]| {
                Some([a, b, y ^ word(scalar::value(env, TableFn::Q(func), [a as u64, b as u64, 0]).ok()?)])
            });
        }
        let circuit = part(Accumulator::Xor, fixed(q_fn::Name::Div, frac), 64);
        check(&circuit, ["a", "b", "y"], &cases, |[a, b, y]| {
            Some([a, b, y ^ word(fixed::div(env, a as u64, b as u64).ok()?)])
        });
    }
}
