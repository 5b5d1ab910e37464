//! Logarithmic parts: narrow words compared with a model, words of 64 bits with the kernels.

use super::harness::{assertion, int, log, negation};
use pendula_hw_model::circuit::{Accumulator, Circuit, CircuitFn, Part, generate};
use pendula_isa::num::{compare, gauss, log};
use pendula_isa::table::{int_fn, l_fn};
use pendula_isa::{Cond, Env, Fault, Ty};

use crate::circuits::harness::{cases, check, compared, mask, signed, some};

fn part(accumulator: Accumulator, function: CircuitFn, width: usize) -> Circuit {
    generate(Part::Accumulate(accumulator, function), width).unwrap()
}

/// Sign and logarithm; `Err` if the word is not a number, `Ok(None)` for zero.
fn read(n: u128, width: usize) -> Result<Option<(u128, i128)>, ()> {
    let (sign, log) = (n >> (width - 1), signed(n & mask(width - 1), width - 1));
    match (sign, log == least(width)) {
        (0, true) => Ok(None),
        (_, true) => Err(()),
        (_, false) => Ok(Some((sign, log))),
    }
}

fn least(width: usize) -> i128 {
    -(1 << (width - 2))
}

/// The product or quotient; `by` says whether a zero second operand traps.
fn combined(a: u128, b: u128, width: usize, divide: bool, by_zero: bool) -> Option<u128> {
    let zero = least(width).cast_unsigned() & mask(width - 1);
    match (read(a, width).ok()?, read(b, width).ok()?) {
        (_, None) if by_zero => None,
        (None, _) | (_, None) => Some(zero),
        (Some((s, x)), Some((t, y))) => {
            let sum = if divide { x - y } else { x + y };
            (sum.abs() < -least(width)).then_some((s ^ t) << (width - 1) | sum.cast_unsigned() & mask(width - 1))
        }
    }
}

#[test]
fn functions_of_narrow_words() {
    for width in [4, 5, 8, 16] {
        for (function, divide) in [(log(l_fn::Name::Mul), false), (log(l_fn::Name::Div), true)] {
            let mut cases = cases(16, 6400, &[width, width]);
            for (n, case) in cases.iter_mut().enumerate() {
                case.push((n as u128 * 77) & mask(width));
            }
            check(&part(Accumulator::Xor, function, width), ["a", "b", "y"], &cases, |[a, b, y]| {
                Some([a, b, y ^ combined(a, b, width, divide, divide)?])
            });
        }
    }
}

#[test]
fn accumulators_of_narrow_words() {
    for width in [4, 5, 8, 16] {
        let circuit = part(Accumulator::MultiplyLog, CircuitFn::Wire, width);
        let cases = cases(17, 6400, &[width, width, 1]);
        check(&circuit, ["a", "y", "direction"], &cases, |[a, y, back]| {
            Some([a, combined(y, a, width, back == 1, true)?, back])
        });
        let whole = part(Accumulator::MultiplyLog, log(l_fn::Name::Mul), width);
        let cases = if width == 4 {
            crate::circuits::harness::all(&[4, 4, 4, 1])
        } else {
            some(4, 6400, &[width, width, width, 1])
        };
        check(&whole, ["a", "b", "y", "direction"], &cases, |[a, b, y, back]| {
            let x = combined(a, b, width, false, false)?;
            Some([a, b, combined(y, x, width, back == 1, true)?, back])
        });
    }
}

/// The sign of a number, and a key that orders numbers of the same sign.
fn place(number: Option<(u128, i128)>) -> (i128, i128) {
    match number {
        None => (0, 0),
        Some((0, log)) => (1, log),
        Some((_, log)) => (-1, -log),
    }
}

#[test]
fn inverses_signs_and_order() {
    for width in [4, 5, 8, 16] {
        let words = cases(16, 640, &[width]);
        let zero = read(1 << (width - 2), width);
        assert_eq!(zero, Ok(None));
        check(&generate(negation(Ty::L), width).unwrap(), ["a"], &words, |[y]| {
            let number = read(y, width).ok()?;
            Some([if number.is_none() { y } else { y ^ 1 << (width - 1) }])
        });
        check(&part(Accumulator::Xor, log(l_fn::Name::Inv), width), ["a"], &words, |[a]| {
            read(a, width).ok()?.map(|_| [a])
        });
        for cond in Cond::TESTS.into_iter().filter(|c| !matches!(c, Cond::Ltu | Cond::Geu)) {
            let pairs = cases(16, 640, &[width, width]);
            check(&generate(assertion(Ty::L, cond), width).unwrap(), ["a", "b"], &pairs, |[a, b]| {
                let (x, z) = (read(a, width).ok()?, read(b, width).ok()?);
                cond.holds(Some(place(x).cmp(&place(z)))).then_some([a, b])
            });
        }
    }
}

#[test]
fn comparisons() {
    for (function, cond) in [(int(int_fn::Name::LtL), Cond::Lt), (int(int_fn::Name::EqL), Cond::Eq)] {
        for width in [4, 5, 8, 16] {
            compared(function, width, |a, b| {
                let (x, z) = (read(a, width).ok()?, read(b, width).ok()?);
                Some(cond.holds(Some(place(x).cmp(&place(z)))))
            });
        }
        compared(function, 64, |a, b| compare(Env::default(), cond, Ty::L, a as u64, b as u64).ok());
    }
}

#[test]
fn words_of_the_machine() {
    let cases = special(some(2, 6400, &[64, 64, 1]));
    let kernel =
        |k: fn(u64, u64) -> Result<u64, Fault>| move |a: u128, b: u128| k(a as u64, b as u64).ok().map(u128::from);
    for (function, k) in [(log(l_fn::Name::Mul), kernel(log::product)), (log(l_fn::Name::Div), kernel(log::quotient))] {
        check(&part(Accumulator::Xor, function, 64), ["a", "b", "y"], &cases, |[a, b, y]| Some([a, b, y ^ k(a, b)?]));
    }
    let (mul, div) = (kernel(log::mul), kernel(log::div));
    check(&part(Accumulator::MultiplyLog, CircuitFn::Wire, 64), ["a", "y", "direction"], &cases, |[a, y, back]| {
        Some([a, if back == 1 { div(y, a)? } else { mul(y, a)? }, back])
    });
    let neg = |y: u128| log::neg(y as u64).ok().map(u128::from);
    check(&generate(negation(Ty::L), 64).unwrap(), ["a"], &cases, |[y]| Some([neg(y)?]));
    check(&part(Accumulator::Xor, log(l_fn::Name::Inv), 64), ["a", "y"], &cases, |[a, y]| {
        Some([a, y ^ u128::from(gauss::inv(Env::default(), a as u64).ok()?)])
    });
    for cond in [Cond::Lt, Cond::Le, Cond::Gt, Cond::Ge, Cond::Eq, Cond::Ne] {
        check(&generate(assertion(Ty::L, cond), 64).unwrap(), ["a", "b"], &cases, |[a, b]| {
            compare(Env::default(), cond, Ty::L, a as u64, b as u64).ok()?.then_some([a, b])
        });
    }
}

/// Cases with zeros, words that are not numbers, and opposite logarithms.
fn special(mut cases: Vec<Vec<u128>>) -> Vec<Vec<u128>> {
    for (n, case) in cases.iter_mut().enumerate() {
        match n % 7 {
            0 => case[n / 7 % 2] = log::ZERO.into(),
            1 => case[n / 7 % 2] = (log::ZERO | 1 << 63).into(),
            2 => case[0] = u128::from(log::ZERO).wrapping_sub(case[1]),
            _ => {}
        }
        case[0] &= mask(64);
    }
    cases
}
