//! Circuits of functions of one word by tables, beside those of their kernels.

use pendula_hw_model::circuit::part::{PartError, generate_by};
use pendula_hw_model::circuit::{Accumulator, Algorithm, Circuit, CircuitFn, Part, Role, TABLE_BITS};
use pendula_hw_model::instruction::{Direction, InstructionCircuit, NoCircuit, Sizes};
use pendula_hw_model::verify::verify;
use pendula_isa::mnemonic;
use pendula_isa::sample::{all, in_turn, share};
use pendula_isa::table::{TableFn, l_fn, q_fn};

fn by(func: TableFn, accumulator: Accumulator, (width, frac): (usize, usize), algorithm: Algorithm) -> Option<Circuit> {
    let part = Part::Accumulate(accumulator, CircuitFn::Table { func, frac });
    generate_by(part, width, Some(algorithm)).ok().map(|(circuit, _)| circuit)
}

fn products(circuit: &Circuit) -> u64 {
    circuit.counts().toffoli + circuit.counts().cswap
}

/// What becomes of `y` for all words `a`: `None` for a trap.
fn values(circuit: &Circuit, width: usize, y: u128) -> Vec<Option<u128>> {
    let mut values = Vec::new();
    let words: Vec<u128> = (0..1 << width).collect();
    for chunk in words.chunks(64) {
        let mut lanes = circuit.lanes();
        circuit.set(&mut lanes, "a", chunk);
        circuit.set(&mut lanes, "y", &vec![y; chunk.len()]);
        let before = lanes.clone();
        circuit.run_lanes(&mut lanes).unwrap_or_else(|e| panic!("{}: {e}", circuit.name()));
        assert_eq!(circuit.get(&lanes, "a")[..chunk.len()], *chunk, "{}", circuit.name());
        let traps = circuit.registers().iter().filter(|r| r.role == Role::Trap);
        let traps = traps.flat_map(|r| &r.after).fold(0, |all, w| all | lanes[*w as usize]);
        let after = circuit.get(&lanes, "y");
        values.extend((0..chunk.len()).map(|lane| (traps >> lane & 1 == 0).then_some(after[lane])));
        // Where it traps, too.
        circuit.inverse().run_lanes_in(&mut lanes, 0).expect("nothing is claimed of ancillas");
        assert_eq!(lanes, before, "{}: there and back", circuit.name());
    }
    values
}

/// The circuits of kernels are an oracle that does not come from the words of the kernels, as tables do.
fn compare_with_circuits_of_kernels(formats: &[(usize, usize, usize)]) {
    for &(width, frac, least) in formats {
        let mut tables = 0;
        for &func in TableFn::ALL {
            for accumulator in [Accumulator::Xor, Accumulator::Add] {
                let Some(table) = by(func, accumulator, (width, frac), Algorithm::Table) else { continue };
                let machine = by(func, accumulator, (width, frac), Algorithm::Machine).expect("a circuit");
                let name = func.info().name;
                for y in [0, (1 << width) - 3] {
                    let same = values(&table, width, y) == values(&machine, width, y);
                    assert!(same, "{name} {:?} of {width} bits, {frac} of them fraction", func.info().from);
                }
                let (n, m) = (table.counts(), machine.counts());
                println!("{width} q{frac} {name:6} {:?} {accumulator:?}: {n:?}, {m:?}", func.info().from);
                tables += 1;
            }
        }
        assert!(tables >= least, "{tables} tables of {width} bits");
    }
}

#[test]
fn tables_of_few_bits_agree_with_the_circuits_of_kernels() {
    compare_with_circuits_of_kernels(&[(4, 2, 1), (7, 3, 4)]);
}

#[test]
#[ignore = "takes half a minute: part of .ci/full"]
fn tables_agree_with_the_circuits_of_kernels() {
    compare_with_circuits_of_kernels(&[(8, 4, 25), (8, 6, 25), (9, 3, 25)]);
}

/// All states, in each direction and with one chosen by a wire, beside the instructions.
#[test]
fn tables_are_the_instructions() {
    for (width, least) in [(4, 1), (8, share(share(100)))] {
        let mut tables = 0;
        for (n, kind) in mnemonic::families().enumerate() {
            if width == 8 && !all() && n % 8 > 0 {
                continue;
            }
            for &direction in in_turn(&[Direction::Forward, Direction::Backward, Direction::Both], n / 8) {
                let sizes = Sizes { width, frac: None, memory: 1 };
                let Ok(circuit) = InstructionCircuit::by(kind, sizes, direction, Some(Algorithm::Table)) else {
                    continue;
                };
                assert_eq!(circuit.algorithm, Some(Algorithm::Table));
                let verified = verify(&circuit).expect("a reference");
                assert_eq!((verified.exhaustive, verified.mismatch), (true, None), "{}", circuit.circuit.name());
                tables += 1;
            }
        }
        assert!(tables >= least, "{tables} tables of {width} bits");
    }
}

/// Babbush et al., Phys. Rev. X 8, 041015 (2018), figure 7: unary iteration over L numbers takes L − 1 products with a control, L − 2 without one,
/// as many as are cleared again: by measurements there, by as many Toffoli gates in a circuit without any.
#[test]
fn the_exponential_takes_no_more_than_a_table_by_unary_iteration() {
    let entries = 1 << 8;
    let (computed, and_cleared) = (entries - 2, 2 * (entries - 2));
    let exp = TableFn::Q(q_fn::Name::Exp);
    let part = |accumulator| Part::Accumulate(accumulator, CircuitFn::Table { func: exp, frac: 4 });
    for accumulator in [Accumulator::Xor, Accumulator::Add] {
        let (circuit, algorithm) = generate_by(part(accumulator), 8, None).expect("a circuit");
        assert_eq!(algorithm, Some(Algorithm::Table));
        assert!(products(&circuit) <= computed && computed < and_cleared, "{accumulator:?}: {:?}", circuit.counts());
    }
    // What the builder's unary iteration takes, of a table of the same words, is the formula.
    let mut b = pendula_hw_model::circuit::Builder::new("unary");
    let index = b.register("index", Role::Operand, 8);
    let y = b.register("y", Role::Target, 8);
    b.xor_lookup(pendula_hw_model::circuit::Bit::ONE, &index, &vec![255; entries as usize], &y);
    assert_eq!(b.finish().counts().toffoli, and_cleared);
}

#[test]
#[ignore = "takes ten seconds: part of .ci/full"]
fn the_circuit_with_the_fewest_toffoli_gates_is_taken() {
    for width in [8, TABLE_BITS, TABLE_BITS + 1] {
        for &func in TableFn::ALL {
            let part = Part::Accumulate(Accumulator::Xor, CircuitFn::Table { func, frac: width / 2 });
            let Ok((taken, algorithm)) = generate_by(part, width, None) else { continue };
            let of = |algorithm| generate_by(part, width, Some(algorithm)).map(|(circuit, _)| circuit);
            let machine = of(Algorithm::Machine).expect("a circuit");
            match of(Algorithm::Table) {
                Ok(table) => {
                    assert!(width <= TABLE_BITS);
                    assert_eq!(products(&taken), products(&table).min(products(&machine)), "{}", func.info().name);
                    let expected = if taken == table { Algorithm::Table } else { Algorithm::Machine };
                    assert_eq!(algorithm, Some(expected));
                }
                Err(e) => {
                    assert!(matches!(e, PartError::NoTable { .. }), "{e}");
                    assert_eq!(taken, machine);
                    assert_ne!(algorithm, Some(Algorithm::Table));
                }
            }
        }
    }
}

#[test]
fn a_table_that_does_not_exist_is_refused() {
    let why = |name: &str, width| {
        let kind = mnemonic::lookup(name).expect("a mnemonic");
        let sizes = Sizes { width, frac: None, memory: 1 };
        let refused = InstructionCircuit::by(kind, sizes, Direction::Forward, Some(Algorithm::Table));
        match refused {
            Err(e @ NoCircuit::NoTable { .. }) => e.to_string(),
            other => panic!("{name}: {other:?}"),
        }
    };
    assert!(why("xorexp.q", TABLE_BITS + 1).contains("at most 12 bits"));
    assert!(why("xorplus.q", 8).contains("one word"));
    assert!(why("add", 8).contains("one word"));
    assert!(why("not", 8).contains("one word"));
    let part =
        Part::Accumulate(Accumulator::MultiplyLog, CircuitFn::Table { func: TableFn::L(l_fn::Name::CvtQ), frac: 4 });
    assert!(generate_by(part, 8, Some(Algorithm::Table)).is_ok());
}
