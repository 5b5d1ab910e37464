//! Circuits of instructions of other forms than the table has.

use pendula_isa::GateClass;
use pendula_isa::domain::Domain;
use pendula_isa::table::{Adjoint, Flow, Profiles, Test};
use pendula_isa::types::{Cond, Ty};

use super::*;

const fn info(operand_names: &'static [&'static str], partner: Option<&'static str>) -> RowInfo {
    RowInfo {
        row: Row::Not,
        id: 0,
        mnemonic: "test",
        partner,
        operand_names,
        operands: [&[OperandKind::Target] as &[OperandKind], &[OperandKind::Target; 2], &[OperandKind::Target; 3]]
            [operand_names.len() - 1],
        types: &[Ty::Int],
        test: Test::None,
        class: GateClass::Xor,
        flow: Flow::Straight,
        moves_sp: false,
        profiles: Profiles::Native,
        adjoint: Adjoint::Discrete,
        docs: &[],
    }
}

/// Declares an instruction of words `x`, with their new words forward and backward.
macro_rules! instruction {
    ($Name:ident $names:tt / $partner:expr, |$d:ident, $x:ident: $n:literal| $run:expr, $undo:expr) => {
        struct $Name;
        impl Instruction for $Name {
            const INFO: RowInfo = info(&$names, $partner);
            fn run<D: Domain>($d: &mut D, _: Variant) -> Result<(), D::Stop> {
                let mut $x = [$d.word(0); $n];
                for n in 0..$n {
                    $x[n] = $d.operand(n)?;
                }
                let new: [D::V; $n] = $run;
                (0..$n).try_for_each(|n| $d.set(n, new[n]))
            }
            fn undo<D: Domain>($d: &mut D, _: Variant) -> Result<(), D::Stop> {
                let mut $x = [$d.word(0); $n];
                for n in 0..$n {
                    $x[n] = $d.operand(n)?;
                }
                let new: [D::V; $n] = $undo;
                (0..$n).try_for_each(|n| $d.set(n, new[n]))
            }
        }
    };
}

instruction!(Cycle ["a", "b", "c"] / Some("back"), |d, x: 3| [x[1], x[2], x[0]], [x[2], x[0], x[1]]);
instruction!(Leap ["a", "b"] / None, |d, x: 2| {
    let a = d.add(x[0], x[1]);
    let square = d.mul(a, a);
    [a, d.sub(x[1], square)]
}, {
    let square = d.mul(x[0], x[0]);
    let b = d.add(x[1], square);
    [d.sub(x[0], b), b]
});
instruction!(Reflect ["a", "b"] / None, |d, x: 2| [d.sub(x[1], x[0]), x[1]], [d.sub(x[1], x[0]), x[1]]);
instruction!(Turn ["a", "b"] / Some("back"), |d, x: 2| {
    let by = d.word(3);
    [d.ror(x[0], x[1]), d.rol(x[1], by)]
}, {
    let by = d.word(3);
    let b = d.ror(x[1], by);
    [d.rol(x[0], b), b]
});
instruction!(Gray ["a"] / Some("back"), |d, x: 1| {
    let one = d.word(1);
    let half = d.shr(x[0], one);
    [d.xor(x[0], half)]
}, {
    let mut a = x[0];
    for by in [1, 2, 4] {
        let by = d.word(by);
        let part = d.shr(a, by);
        a = d.xor(a, part);
    }
    [a]
});

/// The circuit of an instruction on words of 8 bits, run forward and backward on all words or on every 97th triple of them.
fn check<I: Instruction, const N: usize>(expected: impl Fn([u8; N]) -> [u8; N]) -> pendula_isa::circuit::GateCounts {
    let variant = Variant { ty: Ty::Int, cond: Cond::Always, form: false };
    let mut b = Builder::new("test");
    LiftedRow::of::<I>(variant, Formats::of_width(8)).expect("operations").build(&mut b);
    let circuit = b.finish();
    let states: Vec<u32> = (0..1 << (8 * N)).step_by(if N == 3 { 97 } else { 1 }).collect();
    for chunk in states.chunks(64) {
        let mut lanes = circuit.lanes();
        let word = |state: u32, n: usize| (state >> (8 * n)) as u8;
        for (n, name) in I::INFO.operand_names.iter().enumerate() {
            let words: Vec<u128> = chunk.iter().map(|state| word(*state, n).into()).collect();
            circuit.set(&mut lanes, name, &words);
        }
        let before = lanes.clone();
        circuit.run_lanes(&mut lanes).expect("clean ancillas");
        for (lane, state) in chunk.iter().enumerate() {
            let new = expected(std::array::from_fn(|n| word(*state, n)));
            let found = std::array::from_fn(|n| circuit.get(&lanes, I::INFO.operand_names[n])[lane] as u8);
            assert_eq!(new, found, "{state:x}");
        }
        circuit.inverse().run_lanes(&mut lanes).expect("clean ancillas");
        assert_eq!(lanes, before);
    }
    circuit.counts()
}

#[test]
fn words_in_a_cycle() {
    assert_eq!(check::<Cycle, 3>(|[a, b, c]| [b, c, a]).cnot, 2 * 3 * 8);
}

#[test]
fn one_word_after_the_other() {
    check::<Leap, 2>(|[a, b]| {
        let a = a.wrapping_add(b);
        [a, b.wrapping_sub(a.wrapping_mul(a))]
    });
    check::<Reflect, 2>(|[a, b]| [b.wrapping_sub(a), b]);
    check::<Turn, 2>(|[a, b]| [a.rotate_right(b.into()), b.rotate_left(3)]);
}

#[test]
fn beside_the_old_words() {
    check::<Gray, 1>(|[a]| [a ^ a >> 1]);
}
