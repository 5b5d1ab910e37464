//! The sizes of the circuits.

use crate::kernels::harness::rotation;
use pendula_hw_model::circuit::part::shares;
use pendula_hw_model::circuit::{Accumulator, CircuitFn, Part, generate};
use pendula_isa::table::{TableFn, f_fn, int_fn, q_fn};

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn the_machine_s_circuits_can_be_held() {
    let part = |func| Part::Accumulate(Accumulator::Xor, CircuitFn::Table { func, frac: 32 });
    let kernels = TableFn::ALL.iter().map(|func| (func.info().name, part(*func)));
    for (name, part) in kernels.chain([("rotation", rotation(32))]) {
        let circuit = generate(part, 64).expect("a circuit");
        let n = circuit.counts();
        println!(
            "{name:20} {:9} Toffoli {:9} CNOT {:7} NOT {:6} CSWAP, depth {:8}, {:6} wires",
            n.toffoli,
            n.cnot,
            n.not,
            n.cswap,
            circuit.depth(),
            circuit.wires(),
        );
        assert!(n.total() * 16 < 200 << 20, "{name}: {n:?}");
    }
}

#[test]
fn invalid_formats() {
    let kernel =
        |frac| Part::Accumulate(Accumulator::Xor, CircuitFn::Table { func: TableFn::Q(q_fn::Name::Exp), frac });
    for (width, frac) in [(7, 3), (65, 32), (1, 1), (8, 0), (8, 7), (64, 49)] {
        assert!(generate(kernel(frac), width).is_err(), "{width} bits, {frac} of them fraction");
        assert!(generate(rotation(frac), width).is_err(), "{width} bits, {frac} of them fraction");
    }
    for (width, frac) in [(8, 1), (8, 6), (9, 4), (63, 48), (64, 48)] {
        assert!(generate(kernel(frac), width).is_ok(), "{width} bits, {frac} of them fraction");
    }
}

#[test]
fn shares_of_kernels_add_up() {
    // The least of them, where what an accumulator saves on constants could be more than the function costs.
    for kernel in [
        TableFn::Q(q_fn::Name::CvtI),
        TableFn::Int(int_fn::Name::CvtQ),
        TableFn::F(f_fn::Name::CvtI),
        TableFn::F(f_fn::Name::CvtQ),
        TableFn::Int(int_fn::Name::CvtF),
        TableFn::Q(q_fn::Name::CvtF),
        TableFn::F(f_fn::Name::Plus),
    ] {
        for accumulator in [Accumulator::Xor, Accumulator::AddOrSubtract] {
            let function = CircuitFn::Table { func: kernel, frac: 32 };
            let whole = generate(Part::Accumulate(accumulator, function), 64).expect("a circuit").counts();
            let shares = shares(accumulator, function, 64).expect("a circuit");
            assert_eq!(shares.function + shares.accumulator, whole, "{}", kernel.info().name);
        }
    }
}
