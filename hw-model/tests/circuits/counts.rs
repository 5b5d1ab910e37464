//! Gate counts: the rows of the energy model's table, as formulas in the width.

use super::harness::{assertion, fixed, form, int, log, row};
use pendula_hw_model::circuit::part::{shares, table_lookup};
use pendula_hw_model::circuit::{Accumulator, Circuit, CircuitFn, GateCounts, Half, Part, generate};
use pendula_isa::table::{Row, int_fn, l_fn, q_fn};
use pendula_isa::{Cond, Ty};

const WIDTHS: [u64; 8] = [2, 3, 4, 8, 16, 24, 32, 64];

fn circuit(part: Part, width: u64) -> Circuit {
    generate(part, width as usize).unwrap()
}

fn counts(part: Part, width: u64) -> GateCounts {
    circuit(part, width).counts()
}

fn gates(not: u64, cnot: u64, toffoli: u64, cswap: u64) -> GateCounts {
    GateCounts { not, cnot, toffoli, cswap }
}

/// Toffoli and CNOT gates; NOT gates are ignored.
fn main(part: Part, width: u64) -> (u64, u64) {
    let n = counts(part, width);
    assert_eq!(n.cswap, 0);
    (n.toffoli, n.cnot)
}

fn accumulate(accumulator: Accumulator, function: CircuitFn) -> Part {
    Part::Accumulate(accumulator, function)
}

use Accumulator::{Add, AddOrSubtract, Xor};

#[test]
fn bitwise() {
    for w in WIDTHS {
        assert_eq!(counts(accumulate(Xor, CircuitFn::Wire), w), gates(0, w, 0, 0));
        assert_eq!(counts(accumulate(Xor, int(int_fn::Name::And)), w), gates(0, 0, w, 0));
        assert_eq!(counts(accumulate(Xor, int(int_fn::Name::Or)), w), gates(5 * w, 0, w, 0));
        assert_eq!(counts(accumulate(Xor, int(int_fn::Name::Nor)), w), gates(4 * w, 0, w, 0));
        assert_eq!(counts(row(Row::Not), w), gates(w, 0, 0, 0));
        assert_eq!(counts(Part::Swap, w), gates(0, 3 * w, 0, 0));
        assert_eq!(counts(Part::Host, w), gates(0, w, 0, 0));
        for function in [CircuitFn::Wire, int(int_fn::Name::And), int(int_fn::Name::Or), int(int_fn::Name::Nor)] {
            assert_eq!(circuit(accumulate(Xor, function), w).ancillas(), 0);
        }
    }
}

#[test]
fn adders() {
    for w in WIDTHS {
        let add = circuit(accumulate(Add, CircuitFn::Wire), w);
        assert_eq!(add.counts(), gates(0, 4 * w - 2, 2 * w - 2, 0));
        assert_eq!(add.ancillas(), 1);
        assert_eq!(add.inverse().counts(), add.counts());
        let both = circuit(accumulate(AddOrSubtract, CircuitFn::Wire), w);
        assert_eq!(both.counts(), gates(0, 6 * w - 2, 2 * w - 2, 0));
        assert_eq!(both.ancillas(), 1);
        assert_eq!(counts(Part::Increment, w), gates(1, 3 * w - 1, 2 * w - 4, 0));
        for function in [int(int_fn::Name::Plus), int(int_fn::Name::Minus)] {
            // Each word in turn.
            let add = circuit(accumulate(Add, function), w);
            assert_eq!(add.counts(), gates(0, 2 * (4 * w - 2), 2 * (2 * w - 2), 0));
            assert_eq!(add.ancillas(), 1);
            let both = circuit(accumulate(AddOrSubtract, function), w);
            assert_eq!(both.counts(), gates(0, 2 * (4 * w - 2) + 2 * w, 2 * (2 * w - 2), 0));
            assert_eq!(both.ancillas(), 1);
            // In place of an operand, and back.
            let xor = circuit(accumulate(Xor, function), w);
            assert_eq!(xor.counts(), gates(0, 2 * (4 * w - 2) + w, 2 * (2 * w - 2), 0));
            assert_eq!(xor.ancillas(), 1);
            let shares = shares(Xor, function, w as usize).unwrap();
            assert_eq!(shares.accumulator, gates(0, w, 0, 0));
        }
    }
}

#[test]
fn rotations() {
    for w in WIDTHS {
        assert_eq!(counts(form(Row::Rol), w), GateCounts::default());
        if w.is_power_of_two() {
            let n = w * u64::from(w.ilog2());
            assert_eq!(counts(row(Row::Rol), w), gates(0, 0, 0, n - 1));
            assert_eq!(circuit(row(Row::Rol), w).ancillas(), 0);
        }
    }
}

#[test]
fn comparisons() {
    for w in WIDTHS {
        let less = circuit(accumulate(Xor, int(int_fn::Name::Ltu)), w);
        assert_eq!(less.counts(), gates(2 * w, 4 * w + 1, 2 * w, 0));
        assert_eq!(less.ancillas(), 1);
        assert_eq!(counts(accumulate(Xor, int(int_fn::Name::Lt)), w), less.counts());
        let equal = circuit(accumulate(Xor, int(int_fn::Name::Eq)), w);
        assert_eq!(equal.counts(), gates(2 * w, 2 * w, 2 * (w - 2) + 1, 0));
        assert_eq!(equal.ancillas() as u64, w - 2);
        for function in [int(int_fn::Name::Min), int(int_fn::Name::Max)] {
            // The comparison twice, and one Toffoli per bit.
            assert_eq!(main(accumulate(Xor, function), w), (5 * w, 2 * (4 * w + 1) + 3 * w));
        }
    }
    // The comparisons of functions are those of conditions, which complement the bit once more.
    for w in [8, 16, 32, 64] {
        for (function, check) in [
            (int(int_fn::Name::Lt), assertion(Ty::Int, Cond::Lt)),
            (int(int_fn::Name::Eq), assertion(Ty::Int, Cond::Eq)),
            (int(int_fn::Name::LtL), assertion(Ty::L, Cond::Lt)),
            (int(int_fn::Name::EqL), assertion(Ty::L, Cond::Eq)),
            (int(int_fn::Name::LtF), assertion(Ty::F, Cond::Lt)),
            (int(int_fn::Name::EqF), assertion(Ty::F, Cond::Eq)),
        ] {
            assert_eq!(counts(accumulate(Xor, function), w) + gates(1, 0, 0, 0), counts(check, w));
        }
        // Both magnitudes against infinity, the signed order, and one sign of zero.
        let less = counts(accumulate(Xor, int(int_fn::Name::LtF)), w);
        assert!(less.toffoli <= 2 * (2 * w) + 2 * w + 2 * (2 * w - 2) + 1, "{w}: {less:?}");
    }
}

#[test]
fn products() {
    for w in WIDTHS {
        let multiply = circuit(accumulate(Add, int(int_fn::Name::Mul)), w);
        assert_eq!(multiply.counts(), gates(0, 2 * w * w, 2 * w * w, 0));
        assert_eq!(multiply.ancillas() as u64, w + 1);
        assert_eq!(
            counts(accumulate(AddOrSubtract, int(int_fn::Name::Mul)), w),
            gates(0, 2 * w * w + 2 * w, 2 * w * w, 0)
        );
        for frac in [1, w / 2, w - 1] {
            let function = fixed(q_fn::Name::Mul, frac as usize);
            let expected = (8 * w * w + 2 * w - 2, 8 * w * w + 8 * w - 2);
            assert_eq!(main(accumulate(AddOrSubtract, function), w), expected);
            let shares = shares(AddOrSubtract, function, w as usize).unwrap();
            assert_eq!((shares.function.toffoli, shares.function.cnot), (8 * w * w, 8 * w * w + 2 * w));
            assert_eq!(shares.accumulator, gates(0, 6 * w - 2, 2 * w - 2, 0));
        }
    }
}

/// Close to the formula, and closer for wider words.
fn near(found: u64, formula: u64, w: u64) {
    let apart = found.abs_diff(formula) as f64 / formula as f64;
    assert!(apart < 4.0 / w as f64, "{w}: {found} for {formula}");
}

#[test]
fn divisions() {
    for w in [8, 16, 32, 64] {
        for function in
            [int(int_fn::Name::Quot), int(int_fn::Name::Rem), int(int_fn::Name::Div), int(int_fn::Name::Mod)]
        {
            near(main(accumulate(AddOrSubtract, function), w).0, 12 * w * w + 2 * w, w);
        }
        // w + frac steps.
        let function = fixed(q_fn::Name::Div, w as usize / 2);
        near(main(accumulate(AddOrSubtract, function), w).0, 18 * w * w, w);
        // Two divisions in place, and two backward: nothing is computed twice.
        near(main(row(Row::Rmul), w).0, 24 * w * w, w);
    }
}

#[test]
fn lookups() {
    for (entries, width) in [(2, 8), (3, 8), (16, 16), (100, 32), (256, 64)] {
        // Half of the bits are ones.
        let table: Vec<u128> = (0..entries).map(|i| (0x5555_5555_5555_5555 << (i & 1)) & ((1 << width) - 1)).collect();
        let counts = table_lookup(Xor, &table, width).counts();
        let (l, w) = (entries as u64, width as u64);
        // Beside the accumulator's W: twice the number of ones in the table, and twice two for each node.
        assert_eq!(counts, gates(0, l * w + 4 * (l - 1) + w, 4 * (l - 1), 0));
    }
}

#[test]
fn control() {
    for w in WIDTHS {
        // A pair: two comparisons and one controlled addition to pc.
        let (less, equal) = (counts(assertion(Ty::Int, Cond::Ltu), w), counts(assertion(Ty::Int, Cond::Eq), w));
        let halves =
            [(Half::Jump, Cond::Ltu), (Half::From, Cond::Eq)].map(|(h, c)| counts(Part::Branch(h, Ty::Int, c), w));
        let update = gates(0, 4 * w - 2, 4 * w - 2, 0);
        let pair = counts(Part::BranchPair(Cond::Ltu, Cond::Eq), w);
        assert_eq!(pair, halves.into_iter().sum());
        // Checks complement the bit once more.
        assert_eq!(pair + gates(2, 0, 0, 0), less + equal + update);
        let call = counts(Part::Call, w);
        assert_eq!((call.toffoli, call.cnot), (2 * (w - 2) + 1 + 2 * (w - 2), 4 * w + w - 1));
        assert_eq!(counts(row(Row::Erase), w), GateCounts::default());
        for words in [2, 4] {
            assert_eq!(counts(Part::Memory { words }, w).cswap, words as u64 * w);
        }
    }
}

#[test]
fn depths() {
    for w in WIDTHS {
        assert_eq!(circuit(accumulate(Xor, CircuitFn::Wire), w).depth(), 1);
        assert_eq!(circuit(accumulate(Xor, int(int_fn::Name::And)), w).depth(), 1);
        assert_eq!(circuit(Part::Swap, w).depth(), 3);
        assert_eq!(circuit(form(Row::Rol), w).depth(), 0);
        let add = circuit(accumulate(Add, CircuitFn::Wire), w);
        assert!(add.depth() <= 5 * w && add.depth() >= 2 * w, "{}", add.depth());
        // The tree of an equality is flat.
        let equal = circuit(accumulate(Xor, int(int_fn::Name::Eq)), w);
        assert!(equal.depth() <= 2 * u64::from(w.next_power_of_two().ilog2()) + 4, "{w} {}", equal.depth());
        assert_eq!(add.depth(), add.inverse().depth());
    }
}

#[test]
fn shares_add_up() {
    for function in [
        CircuitFn::Wire,
        int(int_fn::Name::And),
        int(int_fn::Name::Plus),
        int(int_fn::Name::Minus),
        int(int_fn::Name::Mul),
        int(int_fn::Name::Quot),
        int(int_fn::Name::Min),
        int(int_fn::Name::Eq),
        int(int_fn::Name::Shl),
        fixed(q_fn::Name::Floor, 4),
        fixed(q_fn::Name::Inv, 3),
        log(l_fn::Name::Mul),
        int(int_fn::Name::EqL),
        int(int_fn::Name::LtF),
    ] {
        for accumulator in [Xor, Add, AddOrSubtract] {
            let shares = shares(accumulator, function, 8).unwrap();
            assert_eq!(shares.function + shares.accumulator, counts(accumulate(accumulator, function), 8));
        }
    }
}
