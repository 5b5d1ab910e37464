//! Circuits of all instructions, verified.

use pendula_isa::GateClass;
use pendula_isa::{mnemonic, sample};

use super::*;
use crate::verify::{verify, verify_states};

const DIRECTIONS: [Direction; 3] = [Direction::Forward, Direction::Backward, Direction::Both];

fn sizes(width: usize) -> Sizes {
    Sizes { width, frac: None, memory: 3 }
}

fn made(mnemonic: &str, width: usize, direction: Direction) -> Result<InstructionCircuit, NoCircuit> {
    InstructionCircuit::new(mnemonic::lookup(mnemonic).expect("a mnemonic"), sizes(width), direction)
}

/// Every instruction that has a circuit for words of this width does what its body does.
fn all_of(width: usize, wanted: impl Fn(Kind) -> bool) -> usize {
    let mut circuits = 0;
    for (n, kind) in mnemonic::families().filter(|kind| wanted(*kind)).enumerate() {
        for &direction in sample::in_turn(&DIRECTIONS, n + width) {
            let Ok(circuit) = InstructionCircuit::new(kind, sizes(width), direction) else { continue };
            match verify_states(&circuit, 12, 600) {
                Ok(verified) => assert_eq!(verified.mismatch, None, "{}", circuit.circuit.name()),
                Err(e) => panic!("{}: {e}", circuit.circuit.name()),
            }
            circuits += 1;
        }
    }
    circuits
}

#[test]
fn every_instruction_on_narrow_words() {
    for (width, least) in [(2, 400), (3, 400), (4, 400)] {
        assert!(all_of(width, |_| true) > sample::share(least), "{width}");
    }
}

#[test]
fn every_instruction_of_little_on_words_of_eight_bits() {
    let great = [
        GateClass::Elementary,
        GateClass::FloatElementary,
        GateClass::Power,
        GateClass::LogAdd,
        GateClass::LogConvert,
        GateClass::Rotation,
    ];
    let of_little = |kind: Kind| match kind {
        Kind::Accumulate { func, acc, .. } => acc != Acc::Xor || !great.contains(&func.info().class),
        Kind::Row { row, .. } => !great.contains(&row.info().class),
        Kind::Extension { .. } => false,
    };
    let class = |kind: Kind| match kind {
        Kind::Accumulate { func, .. } => !great.contains(&func.info().class),
        Kind::Row { .. } | Kind::Extension { .. } => true,
    };
    assert!(all_of(8, |kind| of_little(kind) && class(kind)) > sample::share(400));
}

#[test]
fn what_has_no_circuit_says_why() {
    let why = |mnemonic, width| made(mnemonic, width, Direction::Forward).map(|c| c.width).unwrap_err().to_string();
    assert!(why("addmul.q", 65).contains("2 to 64 bits"));
    assert!(why("rol", 12).contains("power of two"));
    assert!(why("xorexp.q", 6).contains("8 to 64 bits"));
    assert!(why("xorplus.f", 2).contains("8 to 64 bits"));
    assert!(why("add.f", 8).contains("`xorplus.f` has one"));
    assert!(why("addcvt.f.q", 8).contains("`xorcvt.f.q` has one"));
    assert!(why("xoratan.f", 8).contains("`float_sin`"));
    assert!(why("start", 8).contains("marks a place"));
    assert!(why("erase", 8).contains("destroys"));
    assert!(why("print", 8).contains("text"));
    let fraction = Sizes { frac: Some(3), ..sizes(8) };
    let kind = mnemonic::lookup("add").expect("a mnemonic");
    assert!(matches!(InstructionCircuit::new(kind, fraction, Direction::Both), Err(NoCircuit::Fraction { .. })));
}

#[test]
fn a_wrong_gate_is_found() {
    let mut adder = made("add", 4, Direction::Forward).expect("a circuit");
    assert_eq!(verify(&adder).map(|v| (v.states, v.exhaustive, v.mismatch)), Ok((256, true, None)));
    let gates = adder.circuit.gates().len();
    let mut idle = 0;
    for without in 0..gates {
        let mut gates = adder.circuit.gates().to_vec();
        gates.remove(without);
        let mut wrong = adder.clone();
        wrong.circuit = Circuit::new("wrong", adder.circuit.registers().to_vec(), gates).expect("a circuit");
        idle += usize::from(verify(&wrong).expect("a reference").mismatch.is_none());
    }
    // The lowest carry is an ancilla that is 0.
    assert!(idle <= 2, "{idle} of {gates} gates make no difference");
    adder.circuit = made("sub", 4, Direction::Forward).expect("a circuit").circuit;
    assert!(verify(&adder).expect("a reference").mismatch.is_some());
}

#[test]
fn traps_are_signalled_in_the_instruction_s_direction() {
    for mnemonic in ["xordiv", "rmul", "rdiv", "push", "pop", "exch", "zero", "assert.lt", "call"] {
        let circuit = made(mnemonic, 4, Direction::Both).expect("a circuit");
        let verified = verify_states(&circuit, 0, 3000).expect("a reference");
        assert_eq!(verified.mismatch, None, "{mnemonic}");
        assert!(verified.trapped > 0, "{mnemonic}: {verified:?}");
    }
}
