//! Runs circuits on many states, 64 at a time, and compares the results with the expected ones.

use bitvec::prelude::{BitVec, Lsb0};
use pendula_hw_model::circuit::{Accumulator, Circuit, CircuitFn, Part, Role, generate};
use pendula_isa::circuit::{Builder, Word};
use pendula_isa::table::{Row, TableFn, Variant, int_fn, l_fn, q_fn};
use pendula_isa::{Cond, Ty};

/// SplitMix64: a fixed sequence, so that failures are reproducible.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A word of this width. All sizes of the signed number, in bits, are equally likely.
    pub(crate) fn sized(&mut self, width: usize) -> u128 {
        if width == 0 {
            return 0;
        }
        let bits = self.word() as usize % width + 1;
        let word = self.word().cast_signed() >> (64 - bits.min(64));
        word.cast_unsigned() as u128 & mask(width)
    }
}

/// The low `width` bits.
pub(crate) fn mask(width: usize) -> u128 {
    (1 << width) - 1
}

/// The low `width` bits of `n`, as a signed number.
pub(crate) fn signed(n: u128, width: usize) -> i128 {
    (n << (128 - width)).cast_signed() >> (128 - width)
}

/// All values of words of these widths.
pub(crate) fn all(widths: &[usize]) -> Vec<Vec<u128>> {
    let bits: usize = widths.iter().sum();
    let split = |mut n: u128| {
        let cut = |w: &usize| {
            let value = n & mask(*w);
            n >>= w;
            value
        };
        widths.iter().map(cut).collect()
    };
    (0..1 << bits).map(split).collect()
}

/// Random values for words of these widths: small, large, and of both signs.
pub(crate) fn some(seed: u64, n: usize, widths: &[usize]) -> Vec<Vec<u128>> {
    let mut random = Random(seed);
    (0..n).map(|_| widths.iter().map(|w| random.sized(*w)).collect()).collect()
}

/// All values if there are at most 2^`bits`, else `n` random ones.
pub(crate) fn cases(bits: usize, n: usize, widths: &[usize]) -> Vec<Vec<u128>> {
    if widths.iter().sum::<usize>() <= bits { all(widths) } else { some(7, n, widths) }
}

/// Runs the circuit on every case, whose first values are those of the registers named; the rest is zero. `expected`
/// returns the values at the end, or `None` if a trap must be signalled. Ancillas, operands and the backward run are
/// checked, too.
pub(crate) fn check<const N: usize>(
    circuit: &Circuit,
    names: [&str; N],
    cases: &[Vec<u128>],
    expected: impl Fn([u128; N]) -> Option<[u128; N]>,
) {
    let inverse = circuit.inverse();
    let traps: Vec<&str> =
        circuit.registers().iter().filter(|r| r.role == Role::Trap).map(|r| r.name.as_str()).collect();
    for (at, name) in names.iter().enumerate() {
        let width = circuit.register(name).unwrap_or_else(|| panic!("{} has {name}", circuit.name())).wires.len();
        assert!(cases.iter().all(|c| c[at] <= mask(width)), "{} {name}", circuit.name());
    }
    for chunk in cases.chunks(64) {
        let mut lanes = circuit.lanes();
        for (at, name) in names.iter().enumerate() {
            let values: Vec<u128> = chunk.iter().map(|c| c[at]).collect();
            circuit.set(&mut lanes, name, &values);
        }
        let before = lanes.clone();
        // One of the states on bits, too.
        let one = |lanes: &[u64], lane: usize| lanes.iter().map(|w| w >> lane & 1 == 1).collect::<BitVec<u64, Lsb0>>();
        let lane = chunk[0].iter().sum::<u128>() as usize % chunk.len();
        let mut state = one(&lanes, lane);
        circuit.run(&mut state);
        let ran = circuit.run_lanes(&mut lanes);
        assert_eq!(state, one(&lanes, lane), "{}: on bits and on words", circuit.name());
        let after: Vec<[u128; 64]> = names.iter().map(|n| circuit.get(&lanes, n)).collect();
        let trapped: Vec<[u128; 64]> = traps.iter().map(|n| circuit.get(&lanes, n)).collect();
        for (lane, case) in chunk.iter().enumerate() {
            let case: [u128; N] = std::array::from_fn(|at| case[at]);
            let found: [u128; N] = std::array::from_fn(|at| after[at][lane]);
            let trap = trapped.iter().any(|t| t[lane] != 0);
            let found = (!trap).then_some(found);
            assert_eq!(found, expected(case), "{} of {case:x?} ({names:?})", circuit.name());
            for register in circuit.registers().iter().filter(|r| r.role == Role::Operand || r.role == Role::Control) {
                if let (Some(at), Some(found)) = (names.iter().position(|n| *n == register.name), found) {
                    assert_eq!(found[at], case[at], "{}: operand {}", circuit.name(), register.name);
                }
            }
        }
        if let Err(dirty) = ran {
            panic!("{}: {dirty}", circuit.name());
        }
        inverse.run_lanes(&mut lanes).unwrap_or_else(|dirty| panic!("{}: {dirty}", inverse.name()));
        assert_eq!(lanes, before, "{}: there and back", circuit.name());
    }
}

/// A comparison under each accumulator of integers: all pairs of words of up to 8 bits, with equal words among the
/// wider ones.
pub(crate) fn compared(function: CircuitFn, width: usize, holds: impl Fn(u128, u128) -> Option<bool>) {
    let m = mask(width);
    let mut cases = cases(16, 3200, &[width, width]);
    for (n, case) in cases.iter_mut().enumerate() {
        if width > 8 && n % 8 == 0 {
            case[1] = case[0];
        }
        case.extend([(n as u128 * 0x9e37_79b9_7f4a_7c15) >> 7 & m, n as u128 >> 1 & 1]);
    }
    let part = |accumulator| generate(Part::Accumulate(accumulator, function), width).unwrap();
    let y = |a, b| holds(a, b).map(u128::from);
    check(&part(Accumulator::Xor), ["a", "b", "y"], &cases, |[a, b, old]| Some([a, b, old ^ y(a, b)?]));
    check(&part(Accumulator::Add), ["a", "b", "y"], &cases, |[a, b, old]| Some([a, b, (old + y(a, b)?) & m]));
    check(&part(Accumulator::AddOrSubtract), ["a", "b", "y", "direction"], &cases, |[a, b, old, back]| {
        let y = y(a, b)?;
        Some([a, b, if back == 1 { old.wrapping_sub(y) } else { old + y } & m, back])
    });
}

/// A function of integers.
pub(crate) const fn int(name: int_fn::Name) -> CircuitFn {
    CircuitFn::Table { func: TableFn::Int(name), frac: 0 }
}

/// A function of fixed-point numbers.
pub(crate) const fn fixed(name: q_fn::Name, frac: usize) -> CircuitFn {
    CircuitFn::Table { func: TableFn::Q(name), frac }
}

/// A function of logarithmic numbers.
pub(crate) const fn log(name: l_fn::Name) -> CircuitFn {
    CircuitFn::Table { func: TableFn::L(name), frac: 1 }
}

const fn variant(row: Row, variant: Variant) -> Part {
    Part::Row { row, variant, frac: 0 }
}

/// An instruction of integers.
pub(crate) const fn row(row: Row) -> Part {
    variant(row, Variant { ty: Ty::Int, cond: Cond::Always, form: false })
}

/// An instruction of integers with a constant operand.
pub(crate) const fn form(row: Row) -> Part {
    variant(row, Variant { ty: Ty::Int, cond: Cond::Always, form: true })
}

/// A check of a condition.
pub(crate) const fn assertion(ty: Ty, cond: Cond) -> Part {
    variant(Row::Assert, Variant { ty, cond, form: false })
}

/// A negation.
pub(crate) const fn negation(ty: Ty) -> Part {
    variant(Row::Neg, Variant { ty, cond: Cond::Always, form: false })
}

/// A circuit in place on words of any width, of which the first are its targets.
pub(crate) fn in_place(
    width: usize,
    (targets, operands): (&[&str], &[&str]),
    build: impl FnOnce(&mut Builder, &[Word]) -> Vec<Word>,
) -> Circuit {
    let mut b = Builder::new("in_place");
    let roles = targets.iter().map(|t| (t, Role::Target)).chain(operands.iter().map(|o| (o, Role::Operand)));
    let words: Vec<Word> = roles.map(|(name, role)| b.register(name, role, width)).collect();
    for (name, word) in targets.iter().zip(build(&mut b, &words)) {
        b.ends_at(name, &word);
    }
    b.finish()
}
