//! What the circuits cost.

use std::time::{Duration, Instant};

use pendula_hw_model::circuit::kernels::Kernel;
use pendula_hw_model::circuit::part::shares;
use pendula_hw_model::circuit::{Accumulator, Function, Part, generate};
use pendula_isa::GateClass;

#[test]
fn the_machine_s_circuits_are_soon_built() {
    let part = |kernel| Part::Accumulate(Accumulator::Xor, Function::Kernel { kernel, frac: 32 });
    let kernels = Kernel::ALL.iter().map(|kernel| (kernel.name(), kernel.class().key(), part(*kernel)));
    for (name, class, part) in kernels.chain([("rotation", "rotation", Part::Rotation { frac: 32 })]) {
        let start = Instant::now();
        let circuit = generate(part, 64).expect("a circuit");
        let took = start.elapsed();
        let n = circuit.counts();
        println!(
            "{name:20} {class:16} {:9} Toffoli {:9} CNOT {:7} NOT {:6} CSWAP, depth {:8}, {:6} wires, {took:?}",
            n.toffoli,
            n.cnot,
            n.not,
            n.cswap,
            circuit.depth(),
            circuit.wires(),
        );
        assert!(n.total() * 16 < 200 << 20, "{name}: {n:?}");
        // A fifth of a second, on a machine that is not busy; but it may be.
        assert!(took < Duration::from_secs(20), "{name} took {took:?}");
    }
}

#[test]
fn formats_that_cannot_be() {
    let kernel = |frac| Part::Accumulate(Accumulator::Xor, Function::Kernel { kernel: Kernel::FixedExp, frac });
    for (width, frac) in [(7, 3), (65, 32), (1, 1), (8, 0), (8, 7), (64, 49)] {
        assert!(generate(kernel(frac), width).is_err(), "{width} bits, {frac} of them fraction");
        assert!(generate(Part::Rotation { frac }, width).is_err(), "{width} bits, {frac} of them fraction");
    }
    for (width, frac) in [(8, 1), (8, 6), (9, 4), (63, 48), (64, 48)] {
        assert!(generate(kernel(frac), width).is_ok(), "{width} bits, {frac} of them fraction");
    }
}

#[test]
fn what_stands_for_a_class_is_of_it() {
    for class in GateClass::ALL {
        assert!(Kernel::of_class(*class).is_none_or(|kernel| kernel.class() == *class), "{class}");
    }
    // A power of a logarithmic number is a multiplication, which is a part.
    let classes = Kernel::ALL.iter().map(|kernel| kernel.class()).filter(|class| *class != GateClass::FixedMultiply);
    assert!(classes.into_iter().all(|class| Kernel::of_class(class).is_some()));
}

#[test]
fn shares_of_kernels_add_up() {
    // The least of them, where what an accumulator saves on constants could be more than the function costs.
    for &kernel in
        Kernel::ALL.iter().filter(|kernel| matches!(kernel.class(), GateClass::Convert | GateClass::FloatAdd))
    {
        for accumulator in [Accumulator::Xor, Accumulator::AddOrSubtract] {
            let function = Function::Kernel { kernel, frac: 32 };
            let whole = generate(Part::Accumulate(accumulator, function), 64).expect("a circuit").counts();
            let shares = shares(accumulator, function, 64).expect("a circuit");
            assert_eq!(shares.function + shares.accumulator, whole, "{}", kernel.name());
        }
    }
}
