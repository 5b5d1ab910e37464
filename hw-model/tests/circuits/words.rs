//! The operations on words that circuits are built from.

use pendula_hw_model::circuit::{Bit, Builder, Circuit, Role, Word};

use crate::circuits::harness::{cases, check, mask, signed, some};

/// A circuit of two operands and a target, into which a value is exclusive-ored.
fn value(widths: [usize; 3], f: impl FnOnce(&mut Builder, &Word, &Word) -> Word) -> Circuit {
    let mut b = Builder::new("value");
    let x = b.register("x", Role::Operand, widths[0]);
    let z = b.register("z", Role::Operand, widths[1]);
    let y = b.register("y", Role::Target, widths[2]);
    b.with(|b| f(b, &x, &z), |b, v| b.xor(v, &y));
    b.finish()
}

/// Checks a value, exhaustively if there are at most 16 bits.
fn check_value(
    widths: [usize; 3],
    f: impl FnOnce(&mut Builder, &Word, &Word) -> Word,
    expected: impl Fn(u128, u128) -> u128,
) {
    let circuit = value(widths, f);
    let cases = cases(16, 640, &widths[..2]);
    check(&circuit, ["x", "z"], &cases, |[x, z]| Some([x, z]));
    let cases: Vec<Vec<u128>> = cases.into_iter().map(|c| vec![c[0], c[1], (c[0] * 5) & mask(widths[2])]).collect();
    check(&circuit, ["x", "z", "y"], &cases, |[x, z, y]| Some([x, z, y ^ expected(x, z) & mask(widths[2])]));
}

const WIDTHS: [usize; 5] = [1, 2, 5, 8, 32];

#[test]
fn sums_and_differences() {
    for w in WIDTHS {
        for v in [w, w + 2, w.div_ceil(2)] {
            check_value([w, v, w + 1], |b, x, z| b.sum(x, z, w + 1), |x, z| x + z);
            check_value([w, v, w], |b, x, z| b.difference(x, z, w), |x, z| x.wrapping_sub(z));
            check_value(
                [w, v, w + 3],
                |b, x, z| b.sum(&x.signed(w + 3), &z.signed(w + 3), w + 3),
                |x, z| (signed(x, w) + signed(z, v)).cast_unsigned(),
            );
        }
        check_value([w, 1, w], |b, x, z| b.negated_if(z[0], x), |x, z| if z == 1 { x.wrapping_neg() } else { x });
        check_value([w, 1, w], |b, x, _| b.magnitude(x), |x, _| signed(x, w).unsigned_abs());
        check_value([w, 1, w], |b, x, z| b.mask(z[0], x), |x, z| x * z);
        for k in [0, 1, 2, 3, 5, 77] {
            check_value([w, 1, w + 1], |b, x, _| b.sum(&Word::constant(k, 7), x, w + 1), |x, _| k + x);
            check_value([w, 1, w + 1], |b, x, _| b.sum(x, &Word::constant(k, 7), w + 1), |x, _| k + x);
            check_value([w, 1, w + 1], |b, x, z| b.sum(&Word::from(z[0]).then(&[z[0]]), x, w + 1), |x, z| 3 * z + x);
        }
    }
}

#[test]
fn carries() {
    for (w, carry_in) in [(1, true), (2, false), (5, true), (8, true), (32, true)] {
        let mut b = Builder::new("carry");
        let x = b.register("x", Role::Operand, w);
        let y = b.register("y", Role::Target, w);
        let c = b.register("c", Role::Target, 1);
        let first = if carry_in { b.register("first", Role::Control, 1)[0] } else { Bit::ONE };
        b.add_carry(&x, &y, first, Some(c[0]));
        let circuit = b.finish();
        let names = if carry_in { ["x", "y", "c", "first"] } else { ["x", "y", "c", "c"] };
        let cases = cases(16, 640, &[w, w, 1, usize::from(carry_in)]);
        let cases: Vec<_> =
            cases.into_iter().map(|c| if carry_in { c } else { vec![c[0], c[1], c[2], c[2]] }).collect();
        check(&circuit, names, &cases, |[x, y, c, f]| {
            let sum = x + y + if carry_in { f } else { 1 };
            let c = c ^ sum >> w;
            Some([x, sum & mask(w), c, if carry_in { f } else { c }])
        });
    }
}

#[test]
fn comparisons() {
    let bit = u128::from;
    for w in WIDTHS {
        for v in [w, w + 3] {
            check_value([w, v, 1], |b, x, z| b.less(x, z).into(), |x, z| bit(x < z));
            check_value([w, v, 1], |b, x, z| b.less_signed(x, z).into(), |x, z| bit(signed(x, w) < signed(z, v)));
            check_value([w, v, 1], |b, x, z| b.equal(x, z).into(), |x, z| bit(x == z));
            check_value([w, v, v], |b, x, z| b.select(x[0], z, &x[1..]), |x, z| if x & 1 == 1 { z } else { x >> 1 });
        }
        check_value([w, 1, 1], |b, x, _| b.is_zero(x).into(), |x, _| bit(x == 0));
        check_value([w, 1, 1], |b, x, _| b.any(x).into(), |x, _| bit(x != 0));
        check_value([w, 1, 1], |b, x, _| b.all(x).into(), |x, _| bit(x == mask(w)));
        check_value([w, 1, 1], |b, x, _| b.less(x, x).into(), |_, _| 0);
        check_value([w, 1, 1], |b, x, _| b.less(x, &x[1..]).into(), |x, _| bit(x < x >> 1));
        check_value([w, 1, 1], |b, x, _| b.equal(x, &x[1..]).into(), |x, _| bit(x == x >> 1));
        for k in [0, 1, 2, 21, 200] {
            check_value([w, 1, 1], |b, x, _| b.less(x, &Word::constant(k, 8)).into(), |x, _| bit(x < k));
            check_value([w, 1, 1], |b, x, _| b.less(&Word::constant(k, 8), x).into(), |x, _| bit(k < x));
            check_value([w, 1, 1], |b, x, _| b.equal(x, &Word::constant(k, 8)).into(), |x, _| bit(x == k));
            check_value(
                [w, 1, 8],
                |b, x, z| b.select(z[0], x, &Word::constant(k, 8)),
                |x, z| if z == 1 { x } else { k },
            );
            check_value(
                [w, 1, 8],
                |b, x, z| b.select(z[0], &Word::constant(k, 8), x),
                |x, z| if z == 1 { k } else { x },
            );
        }
    }
}

#[test]
fn products() {
    for (w, v) in [(1, 1), (1, 3), (3, 1), (4, 7), (8, 8), (32, 20)] {
        let n = w + v;
        let (s, t) = (move |x| signed(x, w), move |z| signed(z, v));
        check_value([w, v, n], |b, x, z| b.mul(x, z), |x, z| x * z);
        check_value([w, v, n], |b, x, z| b.mul_signed(x, z), |x, z| (s(x) * t(z)).cast_unsigned());
        check_value([w, v, n], |b, x, z| b.mul_signed_unsigned(x, z), |x, z| (s(x) * z.cast_signed()).cast_unsigned());
        check_value([w, v, 2 * w], |b, x, _| b.mul(x, x), |x, _| x * x);
        for k in [0u128, 1, 2, 6, 13, 16, 27] {
            let (word, number) = (Word::constant(k, 5), signed(k, 5));
            check_value([w, 1, w + 5], |b, x, _| b.mul(&word, x), |x, _| x * k);
            check_value([w, 1, w + 5], |b, x, _| b.mul_signed(x, &word), |x, _| (s(x) * number).cast_unsigned());
            check_value(
                [w, 1, w + 5],
                |b, x, _| b.mul_signed_unsigned(&word, x),
                |x, _| (number * x.cast_signed()).cast_unsigned(),
            );
            check_value(
                [w, 1, w + 5],
                |b, x, _| b.mul_signed_unsigned(x, &word),
                |x, _| (s(x) * k.cast_signed()).cast_unsigned(),
            );
        }
    }
}

#[test]
fn quotients_and_roots() {
    for (n, w) in [(1, 1), (3, 5), (5, 3), (8, 8), (40, 32)] {
        // By z + 1, which is not zero.
        let divide = |b: &mut Builder, x: &Word, z: &Word| {
            let divisor = b.sum(z, &[Bit::ONE], w + 1);
            b.div_rem(x, &divisor)
        };
        check_value([n, w, n], |b, x, z| divide(b, x, z).0, |x, z| x / (z + 1));
        check_value([n, w, w + 1], |b, x, z| divide(b, x, z).1, |x, z| x % (z + 1));
    }
    for w in [1usize, 2, 3, 8, 15, 16, 40] {
        let half = w.div_ceil(2);
        check_value([w, 1, half], |b, x, _| b.square_root(x).0, |x, _| x.isqrt());
        check_value([w, 1, half + 1], |b, x, _| b.square_root(x).1, |x, _| x - x.isqrt().pow(2));
    }
}

#[test]
fn division_in_place() {
    for (n, w) in [(3, 3), (6, 4), (32, 16)] {
        let mut b = Builder::new("divide");
        let x = b.register("x", Role::Target, n);
        let d = b.register("d", Role::Operand, w);
        let r = b.register("r", Role::Target, w);
        let (quotient, remainder) = b.divide_in_place(&x, &r, &d);
        let mut back = b.clone();
        b.ends_at("x", &quotient);
        b.ends_at("r", &remainder);
        let cases: Vec<_> = cases(12, 640, &[n, w, 0]).into_iter().filter(|c| c[1] != 0).collect();
        check(&b.finish(), ["x", "d", "r"], &cases, |[x, d, _]| Some([x / d, d, x % d]));
        let (product, zeros) = back.multiply_in_place(&quotient, &remainder, &d);
        assert_eq!((product, zeros), (x, r));
        check(&back.finish(), ["x", "d", "r"], &cases, Some);
    }
}

#[test]
fn shifts() {
    for (w, k) in [(1, 1), (3, 2), (8, 3), (5, 4), (32, 5)] {
        let full = (1 << k) - 1;
        check_value([w, k, w + full], |b, x, z| b.shift_left(x, z), |x, z| x << z);
        check_value([w, k, w + full], |b, x, z| b.shift_right(x, z), |x, z| x << full >> z);
        check_value(
            [w, k, w + full],
            |b, x, z| b.shift_right_signed(x, z),
            |x, z| (signed(x, w) << full >> z).cast_unsigned(),
        );
        let zeros = |x: u128| (w as u32 + x.leading_zeros() - 128).into();
        check_value([w, 1, 6], |b, x, _| b.leading_zeros(x), |x, _| zeros(x));
        check_value([w, 1, w], |b, x, _| b.normalize(x).0, |x, _| if x == 0 { 0 } else { x << zeros(x) });
    }
}

#[test]
fn tables() {
    let table = |l: usize| some(3, l, &[9]).into_iter().map(|v| v[0]).collect::<Vec<_>>();
    for l in [1, 2, 3, 7, 8, 13, 16] {
        let table = table(l);
        let bits = l.next_power_of_two().ilog2() as usize;
        let mut b = Builder::new("table");
        let index = b.register("index", Role::Operand, bits);
        let y = b.register("y", Role::Target, 9);
        let on = b.register("on", Role::Control, 1);
        let mut free = b.clone();
        b.xor_lookup(on[0], &index, &table, &y);
        free.xor_lookup(Bit::ONE, &index, &table, &y);
        let (circuit, free) = (b.finish(), free.finish());
        assert_eq!(circuit.counts().toffoli, 2 * (l as u64 - 1));
        assert_eq!(free.counts().toffoli, 2 * (l as u64).saturating_sub(2));
        let cases: Vec<_> = cases(16, 0, &[bits, 9, 1]).into_iter().filter(|c| c[0] < l as u128).collect();
        check(&circuit, ["index", "y", "on"], &cases, |[i, y, on]| Some([i, y ^ (on * table[i as usize]), on]));
        check(&free, ["index", "y", "on"], &cases, |[i, y, on]| Some([i, y ^ table[i as usize], on]));
    }
}

#[test]
fn dirty_ancillas_are_reported() {
    let mut b = Builder::new("dirty");
    let x = b.register("x", Role::Operand, 1);
    let bit = b.bit();
    b.cnot(x[0], bit);
    b.release(&[bit]);
    let circuit = b.finish();
    let mut lanes = circuit.lanes();
    circuit.set(&mut lanes, "x", &[0, 1]);
    let dirty = circuit.run_lanes(&mut lanes).unwrap_err();
    assert_eq!((dirty.wire, dirty.states), (1, 2));
}

#[test]
#[should_panic(expected = "allocate results before")]
fn results_are_allocated_before() {
    let mut b = Builder::new("kept");
    let x = b.register("x", Role::Operand, 4);
    b.with(|b| b.less(&x, &x[1..]), |b, _| b.bit());
}
