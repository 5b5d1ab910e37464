//! The sizes of the circuits.

use pendula_hw_model::circuit::kernels::Kernel;
use pendula_hw_model::circuit::part::shares;
use pendula_hw_model::circuit::{Accumulator, CircuitFn, Part, generate};

#[test]
fn the_machine_s_circuits_can_be_held() {
    let part = |kernel| Part::Accumulate(Accumulator::Xor, CircuitFn::Kernel { kernel, frac: 32 });
    let kernels = Kernel::ALL.iter().map(|kernel| (kernel.name(), part(*kernel)));
    for (name, part) in kernels.chain([("rotation", Part::Rotation { frac: 32 })]) {
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
    let kernel = |frac| Part::Accumulate(Accumulator::Xor, CircuitFn::Kernel { kernel: Kernel::FixedExp, frac });
    for (width, frac) in [(7, 3), (65, 32), (1, 1), (8, 0), (8, 7), (64, 49)] {
        assert!(generate(kernel(frac), width).is_err(), "{width} bits, {frac} of them fraction");
        assert!(generate(Part::Rotation { frac }, width).is_err(), "{width} bits, {frac} of them fraction");
    }
    for (width, frac) in [(8, 1), (8, 6), (9, 4), (63, 48), (64, 48)] {
        assert!(generate(kernel(frac), width).is_ok(), "{width} bits, {frac} of them fraction");
    }
}

#[test]
fn shares_of_kernels_add_up() {
    // The least of them, where what an accumulator saves on constants could be more than the function costs.
    for kernel in [
        Kernel::IntToFixed,
        Kernel::FixedToInt,
        Kernel::IntToFloat,
        Kernel::FixedToFloat,
        Kernel::FloatToInt,
        Kernel::FloatToFixed,
        Kernel::FloatAdd,
    ] {
        for accumulator in [Accumulator::Xor, Accumulator::AddOrSubtract] {
            let function = CircuitFn::Kernel { kernel, frac: 32 };
            let whole = generate(Part::Accumulate(accumulator, function), 64).expect("a circuit").counts();
            let shares = shares(accumulator, function, 64).expect("a circuit");
            assert_eq!(shares.function + shares.accumulator, whole, "{}", kernel.name());
        }
    }
}
