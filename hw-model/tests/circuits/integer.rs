//! Integer parts compared with the instructions' own functions, on operands extended to 64 bits.

use super::harness::{assertion, fixed, form, in_place, int, log, negation, row};
use pendula_hw_model::circuit::kernels::in_place::scale;
use pendula_hw_model::circuit::{Accumulator, CircuitFn, Part, generate};
use pendula_isa::num::int;
use pendula_isa::sample::{all as all_cases, in_turn};
use pendula_isa::table::{Row, TableFn};
use pendula_isa::table::{int_fn, l_fn, q_fn};
use pendula_isa::{Cond, Env, Ty, scalar};

use crate::circuits::harness::{all, cases, check, mask, signed};

/// The instruction's function of this name.
fn func(name: &str) -> TableFn {
    TableFn::ALL.iter().copied().find(|f| f.info().name == name && f.info().ty == Ty::Int).unwrap()
}

/// The result of the instruction for words of `width` bits.
fn semantics(name: &'static str, width: usize) -> impl Fn(u128, u128) -> Option<u128> {
    let f = func(name);
    move |a, b| {
        let extended = |n: u128| signed(n, width) as u64;
        // Amounts are modulo the width, as in the instruction for 64 bits.
        let x = match name {
            "shl" | "sar" => [extended(a), b as u64 % width as u64],
            "shr" => [a as u64, b as u64 % width as u64],
            "shl32" | "sar32" => [extended(a), b as u64 % 32.min(width) as u64],
            // Zeros are shifted in above the word's bits, too, if it has fewer than 32.
            "shr32" if width < 32 => {
                let shifted = (a & mask(width)) as u64 >> (b as u64 % width as u64);
                return Some(u128::from(shifted));
            }
            "ltu" => [a as u64, b as u64],
            _ => [extended(a), extended(b)],
        };
        scalar::value(Env::default(), f, [x[0], x[1], x[0]]).ok().map(|y| u128::from(y) & mask(width))
    }
}

const FUNCTIONS: [(CircuitFn, &str); 21] = [
    (int(int_fn::Name::And), "and"),
    (int(int_fn::Name::Or), "or"),
    (int(int_fn::Name::Nor), "nor"),
    (int(int_fn::Name::Plus), "plus"),
    (int(int_fn::Name::Minus), "minus"),
    (int(int_fn::Name::Mul), "mul"),
    (int(int_fn::Name::Quot), "quot"),
    (int(int_fn::Name::Rem), "rem"),
    (int(int_fn::Name::Div), "div"),
    (int(int_fn::Name::Mod), "mod"),
    (int(int_fn::Name::Shl), "shl"),
    (int(int_fn::Name::Shr), "shr"),
    (int(int_fn::Name::Sar), "sar"),
    (int(int_fn::Name::Shl32), "shl32"),
    (int(int_fn::Name::Shr32), "shr32"),
    (int(int_fn::Name::Sar32), "sar32"),
    (int(int_fn::Name::Lt), "lt"),
    (int(int_fn::Name::Ltu), "ltu"),
    (int(int_fn::Name::Eq), "eq"),
    (int(int_fn::Name::Min), "min"),
    (int(int_fn::Name::Max), "max"),
];

/// Every function under every accumulator of integers, for one width.
fn accumulates(function: CircuitFn, name: &'static str, width: usize) {
    let f = semantics(name, width);
    let m = mask(width);
    // All operands and targets up to 5 bits, all operands with some target up to 8.
    let mut cases = cases(16, 192, &[width, width]);
    if width <= 5 {
        cases = all(&[width, width, width]);
    }
    for (n, case) in cases.iter_mut().enumerate() {
        if case.len() < 3 {
            case.push((n as u128 * 0x9e37_79b9_7f4a_7c15) >> 7 & m);
        }
    }
    let part = |acc| generate(Part::Accumulate(acc, function), width).unwrap();
    check(&part(Accumulator::Xor), ["a", "b", "y"], &cases, |[a, b, y]| Some([a, b, y ^ f(a, b)?]));
    let add = part(Accumulator::Add);
    check(&add, ["a", "b", "y"], &cases, |[a, b, y]| Some([a, b, (y + f(a, b)?) & m]));
    // Backward it is the partner instruction. A trap that was signalled is set at the start.
    let legal: Vec<_> = cases.iter().filter(|c| f(c[0], c[1]).is_some()).cloned().collect();
    check(&add.inverse(), ["a", "b", "y"], &legal, |[a, b, y]| Some([a, b, y.wrapping_sub(f(a, b)?) & m]));
    for (n, case) in cases.iter_mut().enumerate() {
        case.push(n as u128 >> 1 & 1);
    }
    check(&part(Accumulator::AddOrSubtract), ["a", "b", "y", "direction"], &cases, |[a, b, y, back]| {
        let f = f(a, b)?;
        Some([a, b, if back == 1 { y.wrapping_sub(f) } else { y + f } & m, back])
    });
}

#[test]
fn functions_of_narrow_words() {
    for (n, (function, name)) in FUNCTIONS.into_iter().enumerate() {
        for &width in [[1usize, 2], [3, 4], [5, 7]].iter().flat_map(|pair| in_turn(pair, n)).chain(&[8]) {
            if width == 8 && n % 4 > 0 && !all_cases() {
                continue;
            }
            // Shifts are by an amount modulo the width. Divisions have circuits of their own, which begin at 4 bits.
            let shift = matches!(name, "shl" | "shr" | "sar" | "shl32" | "shr32" | "sar32") && !width.is_power_of_two();
            let divides = matches!(name, "quot" | "rem" | "div" | "mod") && width < 4;
            match shift || divides {
                true => assert!(generate(Part::Accumulate(Accumulator::Xor, function), width).is_err()),
                false => accumulates(function, name, width),
            }
        }
    }
}

#[test]
fn functions_of_wide_words() {
    for (function, name) in FUNCTIONS {
        for width in [16, 32, 64] {
            accumulates(function, name, width);
        }
    }
}

#[test]
fn accumulators_alone() {
    for width in [1, 2, 3, 8, 16, 32, 64] {
        let m = mask(width);
        let cases = cases(17, 640, &[width, width, 1]);
        let part = |acc| generate(Part::Accumulate(acc, CircuitFn::Wire), width).unwrap();
        check(&part(Accumulator::Xor), ["a", "y"], &cases, |[a, y]| Some([a, y ^ a]));
        check(&part(Accumulator::Add), ["a", "y"], &cases, |[a, y]| Some([a, (y + a) & m]));
        check(&part(Accumulator::AddOrSubtract), ["a", "y", "direction"], &cases, |[a, y, back]| {
            Some([a, if back == 1 { y.wrapping_sub(a) } else { y + a } & m, back])
        });
    }
}

#[test]
fn rows_in_place() {
    for width in [1, 2, 3, 4, 8, 16, 32, 64] {
        let m = mask(width);
        let pairs = cases(16, 640, &[width, width]);
        let part = |part| generate(part, width).unwrap();
        check(&part(row(Row::Not)), ["a"], &pairs, |[a]| Some([!a & m]));
        check(&part(negation(Ty::Int)), ["a"], &pairs, |[a]| Some([a.wrapping_neg() & m]));
        check(&part(negation(Ty::Q)), ["a"], &pairs, |[a]| Some([a.wrapping_neg() & m]));
        check(&part(negation(Ty::F)), ["a"], &pairs, |[a]| Some([a ^ 1 << (width - 1)]));
        let directed = cases(9, 640, &[width, 1]);
        let counted = |y: u128, back: u128| if back == 1 { y.wrapping_sub(1) } else { y + 1 } & m;
        check(&part(row(Row::Inc)), ["a", "direction"], &directed, |[a, back]| Some([counted(a, back), back]));
        check(&part(Part::Increment), ["y", "direction"], &directed, |[y, back]| Some([counted(y, back), back]));
        check(&part(row(Row::Swap)), ["a", "b"], &pairs, |[a, b]| Some([b, a]));
        check(&part(row(Row::Gswap)), ["r", "gradient_m"], &pairs, |[r, m]| Some([m, r]));
        check(&part(Part::Swap), ["x", "y"], &pairs, |[x, y]| Some([y, x]));
        check(&part(row(Row::Zero)), ["r"], &pairs, |[r]| (r == 0).then_some([r]));
        let left = |a: u128, by: usize| if by == 0 { a } else { (a << by | a >> (width - by)) & m };
        if width.is_power_of_two() {
            let rotate = part(row(Row::Rol));
            let amount = |n: u128| n as usize % width;
            check(&rotate, ["a", "n"], &pairs, |[a, n]| Some([left(a, amount(n)), n]));
            check(&rotate.inverse(), ["a", "n"], &pairs, |[a, n]| Some([left(a, (width - amount(n)) % width), n]));
            let rotate = part(form(Row::Rol));
            assert_eq!(rotate.counts().total(), 0);
            check(&rotate, ["a"], &pairs, |[a]| Some([left(a, 1 % width)]));
        }
    }
}

#[test]
fn narrow_integers_in_words() {
    let rows = [([Row::Add8, Row::Addu8], 8), ([Row::Add16, Row::Addu16], 16), ([Row::Add32, Row::Addu32], 32)];
    for width in [8usize, 16, 32, 64] {
        let m = mask(width);
        let part = |part| generate(part, width).unwrap();
        // The effect of an integer's new bits on the word: those above change with the sign.
        let with = |(bits, is_signed): (usize, bool), y: u128, new: u128| {
            let n = bits.min(width);
            let extended = |k: u128| if is_signed { signed(k & mask(n), n) as u128 } else { k & mask(n) };
            (y ^ extended(y) ^ extended(new)) & m
        };
        for (adders, bits) in rows {
            for (adder, is_signed) in adders.into_iter().zip([true, false]) {
                let directed = cases(17, 640, &[width, width, 1]);
                check(&part(row(adder)), ["a", "b", "direction"], &directed, |[a, b, back]| {
                    Some([with((bits, is_signed), a, if back == 1 { a.wrapping_sub(b) } else { a + b }), b, back])
                });
            }
        }
        let n = 32.min(width);
        let pairs = cases(16, 640, &[width, width]);
        check(&part(row(Row::Neg32)), ["a"], &pairs, |[a]| Some([with((32, true), a, a.wrapping_neg())]));
        let left = |a: u128, by: usize| {
            let low = a & mask(n);
            if by == 0 { low } else { low << by | low >> (n - by) }
        };
        let rotated = |a: u128, by: usize| with((32, true), a, left(a, by));
        check(&part(row(Row::Rol32)), ["a", "n"], &pairs, |[a, by]| Some([rotated(a, by as usize % n), by]));
        check(&part(form(Row::Rol32)), ["a"], &pairs, |[a]| Some([rotated(a, 1)]));
    }
}

/// The kernel of `rmul`, with a trap if a result has more than `width` bits.
fn scaled(width: usize, back: bool, [x, buf, num, den]: [u128; 4]) -> Option<[u128; 4]> {
    let word = |n| signed(n, width) as u64;
    let (first, second) = if back { (den, num) } else { (num, den) };
    let results = int::scale(Env::default(), [x, buf, first, second].map(word)).ok()?;
    let fits = |n: u64| {
        let n = i128::from(n.cast_signed());
        (signed(n.cast_unsigned(), width) == n).then_some(n.cast_unsigned() & mask(width))
    };
    Some([fits(results[0])?, fits(results[1])?, num, den])
}

#[test]
fn scaling() {
    for width in [2, 3, 4, 5, 8, 16, 32, 64] {
        let circuit = in_place(width, (&["x", "buf"], &["num", "den"]), scale);
        let mut cases = cases(16, 6400, &[width; 4]);
        if width > 4 {
            // Numbers small enough for most results to fit, and positive factors.
            let quarter = |n: u128| n & mask(width / 2);
            let near = |n: u128| (signed(n, width) >> (width / 2)).cast_unsigned() & mask(width);
            for case in cases.iter_mut().skip(640) {
                *case = vec![near(case[0]), near(case[1]), quarter(case[2]), quarter(case[3])];
            }
        }
        let names = ["x", "buf", "num", "den"];
        check(&circuit, names, &cases, |case| scaled(width, false, case));
        // Backward it is `rdiv`, whenever it does not trap.
        let legal = |c: &&Vec<u128>| scaled(width, true, [c[0], c[1], c[2], c[3]]).is_some();
        let back: Vec<_> = cases.iter().filter(legal).cloned().collect();
        assert!(back.len() >= cases.len() / 16, "{width}: {}", back.len());
        check(&circuit.inverse(), names, &back, |case| scaled(width, true, case));
    }
}

#[test]
fn invalid_widths() {
    for (part, width) in [
        (row(Row::Not), 0),
        (row(Row::Rol), 12),
        (row(Row::Rmul), 2),
        (Part::Memory { words: 5 }, 2),
        (Part::Memory { words: 0 }, 8),
        (Part::Accumulate(Accumulator::Xor, fixed(q_fn::Name::Mul, 8)), 8),
        (Part::Accumulate(Accumulator::Xor, log(l_fn::Name::Mul)), 3),
        (Part::Accumulate(Accumulator::MultiplyLog, CircuitFn::Wire), 3),
        (Part::Accumulate(Accumulator::Xor, int(int_fn::Name::LtL)), 3),
        (Part::Accumulate(Accumulator::Add, int(int_fn::Name::EqF)), 7),
        (assertion(Ty::F, Cond::Lt), 65),
    ] {
        let error = generate(part, width).unwrap_err().to_string();
        assert!(error.contains(&format!("{width} bits")), "{error}");
    }
}
