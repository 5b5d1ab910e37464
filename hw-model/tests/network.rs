//! Combinational networks beside the circuits that they come from, and what their mappings take.

use pendula_hw_model::circuit::part::function_circuit;
use pendula_hw_model::circuit::{Accumulator, Adder, Circuit, CircuitFn, Part, Role, generate, kernels::Formats};
use pendula_hw_model::clocking::{Pipeline, Retractile};
use pendula_hw_model::network::{Aqfp, Network, Node};
use pendula_isa::circuit::{Bit, Builder};
use pendula_isa::sample::in_turn;
use pendula_isa::table::{Row, TableFn, f_fn, int_fn, l_fn, q_fn};

use crate::circuits::harness::{Random, row};

/// The outputs of the circuit for random inputs are those of the network, where no trap is signalled.
fn same(circuit: &Circuit) {
    same_with(circuit, &[Adder::Ripple, Adder::Lookahead]);
}

/// The same with carries as each of these adders has them.
fn same_with(circuit: &Circuit, adders: &[Adder]) {
    let network = Network::of(circuit);
    let majorities = network.clone().with_majorities();
    let ahead: Vec<Network> = adders.iter().map(|adder| Network::conventional(circuit, *adder)).collect();
    let mut random = Random::new(7);
    for _ in 0..8 {
        let mut lanes = circuit.lanes();
        let mut inputs = Vec::new();
        for port in network.inputs() {
            let register = circuit.register(&port.name).unwrap();
            assert_eq!(register.wires.len(), port.signals.len());
            for wire in &register.wires {
                // Small numbers, too.
                lanes[*wire as usize] = random.word() & random.word();
                inputs.push(lanes[*wire as usize]);
            }
        }
        let _ = circuit.run_lanes(&mut lanes);
        let found = network.simulate(&inputs);
        assert_eq!(majorities.simulate(&inputs), found, "{}", circuit.name());
        for (network, adder) in ahead.iter().zip(adders) {
            assert_eq!(network.simulate(&inputs), found, "{} {adder}", circuit.name());
        }
        let mut expected = Vec::new();
        for port in network.outputs() {
            expected.extend(circuit.register(&port.name).unwrap().after.iter().map(|wire| lanes[*wire as usize]));
        }
        let traps = circuit.registers().iter().filter(|r| r.role == Role::Trap).flat_map(|r| &r.after);
        let trapped = traps.fold(0, |all, wire| all | lanes[*wire as usize]);
        let words = found.iter().zip(&expected);
        assert!(words.clone().all(|(a, b)| (a ^ b) & !trapped == 0), "{}", circuit.name());
    }
}

#[test]
fn networks_compute_what_circuits_do() {
    let accumulate = |accumulator, function, width| generate(Part::Accumulate(accumulator, function), width).unwrap();
    for &width in in_turn(&[8, 16], 0) {
        for accumulator in [Accumulator::Xor, Accumulator::Add, Accumulator::AddOrSubtract] {
            same_with(&accumulate(accumulator, CircuitFn::Wire, width), &Adder::ALL);
            for func in [
                TableFn::Int(int_fn::Name::Mul),
                TableFn::Int(int_fn::Name::Mod),
                TableFn::Int(int_fn::Name::Sar),
                TableFn::Int(int_fn::Name::Max),
                TableFn::Q(q_fn::Name::Div),
                TableFn::Q(q_fn::Name::Exp),
                TableFn::Q(q_fn::Name::Sqrt),
            ] {
                same(&accumulate(accumulator, CircuitFn::Table { func, frac: width / 2 }, width));
            }
        }
        for func in [TableFn::F(f_fn::Name::Plus), TableFn::F(f_fn::Name::Mul), TableFn::L(l_fn::Name::Plus)] {
            same(&function_circuit(func, Accumulator::Xor, Formats::of_width(width)));
        }
        for instruction in [Row::Rmul, Row::Swap, Row::Rol, Row::Inc, Row::Not, Row::Add8, Row::Neg] {
            same(&generate(row(instruction), width).unwrap());
        }
        same(&generate(Part::Memory { words: 5 }, width).unwrap());
    }
}

#[test]
fn an_adder_is_a_majority_and_two_exclusive_ors_a_bit() {
    for width in [8, 64] {
        let circuit = generate(Part::Accumulate(Accumulator::Add, CircuitFn::Wire), width).unwrap();
        let network = Network::of(&circuit).with_majorities();
        let count = |is: fn(&Node) -> bool| network.nodes().iter().filter(|node| is(node)).count();
        // The first bit has no carry in, the last none out.
        assert_eq!(count(|n| matches!(n, Node::Majority(..))), width - 2);
        let sums = count(|n| matches!(n, Node::Xor(..)));
        assert!((2 * width - 1..=2 * width).contains(&sums), "{sums}");
        assert_eq!(count(|n| matches!(n, Node::And(..))), 1);
        let depth = network.depth() as usize;
        assert!((width..=width + 2).contains(&depth), "{depth}");
    }
}

#[test]
fn cells_of_small_networks() {
    let of = |part, width| Aqfp::of(&Network::of(&generate(part, width).unwrap()).with_majorities());
    // y ^= a: two splitters, two halves, and their sum.
    let xor = of(Part::Accumulate(Accumulator::Xor, CircuitFn::Wire), 1);
    assert_eq!((xor.majorities, xor.buffers, xor.levels), (3, 2, 3));
    assert_eq!(xor.junctions(), 3 * 6 + 2 * 2);
    // A complement is a coupling of the other sign, and an exchange is wiring.
    for part in [row(Row::Not), row(Row::Swap)] {
        assert_eq!(of(part, 8).majorities, 0);
    }
}

#[test]
fn dependent_operations_wait_for_all_levels() {
    let circuit = generate(Part::Accumulate(Accumulator::Add, CircuitFn::Wire), 64).unwrap();
    let pipeline = Pipeline::of(&circuit);
    assert!(pipeline.levels > 64 && pipeline.carriers > pipeline.gates, "{pipeline:?}");
    for period in [4, 8] {
        let ticks = pipeline.dependent_ticks(period);
        assert!(ticks >= pipeline.levels && ticks < pipeline.levels + period && ticks.is_multiple_of(period));
        assert_eq!(pipeline.stream_ticks(period), period);
    }
    let cascade = Retractile::of(&Network::of(&circuit), |_| 1.0, 1.0);
    assert!(cascade.powered > 1.0 && cascade.ticks() == 2.0 * cascade.levels + 1.0);
    let aqfp = Aqfp::of(&Network::of(&circuit).with_majorities());
    // Each level is one of the four phases of a cycle.
    assert!(aqfp.levels > 64 && aqfp.cycles() == aqfp.levels.div_ceil(4));
}

#[test]
fn carries_that_look_ahead_take_few_levels() {
    let circuit = |width| generate(Part::Accumulate(Accumulator::Add, CircuitFn::Wire), width).unwrap();
    for width in [16, 32, 64] {
        let of = |adder| Network::conventional(&circuit(width), adder);
        let log = width.ilog2();
        // A tree that goes up and down, or one that only goes up; sums before and after.
        assert!(of(Adder::BrentKung).depth() <= 2 * log + 2);
        assert!(of(Adder::KoggeStone).depth() <= log + 3);
        assert!(of(Adder::Ripple).depth() >= width as u32);
        // The same tree.
        assert_eq!(of(Adder::Lookahead).nodes(), of(Adder::BrentKung).nodes());
    }
}

/// Junctions of adders of flux parametrons, with buffers and splitters into at most four, inputs split and all ways equally long, as others have them.
///
/// - 8 bits with a carry in and out: 77 gates and 371 buffers and splitters, `adder8` of the SCE benchmarks; `aqfp.rs` has the source.
/// - 64 bits without: no published figure was found, and this is none: mockturtle (lsils/mockturtle, revision b2ce7f03), the authors' library, was run on its own
///   ripple adder of majorities: 255 gates, 12,351 buffers and splitters, 129 levels, which its verification accepts. Its own lookahead adder takes
///   49,286 junctions.
const PUBLISHED: [(usize, bool, u64); 2] = [(8, true, 77 * 6 + 371 * 2), (64, false, 255 * 6 + 12351 * 2)];

#[test]
fn an_adder_of_flux_parametrons_takes_what_others_take() {
    for (width, carries, junctions) in PUBLISHED {
        let mut b = Builder::new("adder");
        let x = b.register("x", Role::Operand, width);
        let y = b.register("y", Role::Target, width);
        let first = if carries { b.register("in", Role::Control, 1)[0] } else { Bit::ZERO };
        let last = carries.then(|| b.register("out", Role::Target, 1)[0]);
        b.add_carry(&x, &y, first, last);
        let circuit = b.finish();
        let of = |adder| Aqfp::of(&Network::conventional(&circuit, adder)).junctions();
        let all = Adder::ALL.map(|adder| (adder.name(), of(adder)));
        println!("{width} bits: {junctions} junctions, {all:?}");
        let least = all.iter().map(|(_, n)| *n).min().unwrap();
        assert!(2 * of(Adder::Ripple) <= 3 * junctions && 2 * least <= 3 * junctions, "{width}: {all:?}");
    }
}

#[test]
fn flux_parametrons_look_ahead_for_less_than_half() {
    let circuit = generate(Part::Accumulate(Accumulator::Add, CircuitFn::Wire), 64).unwrap();
    let of = |adder| Aqfp::of(&Network::conventional(&circuit, adder));
    let ripple = of(Adder::Ripple);
    for adder in [Adder::BrentKung, Adder::KoggeStone] {
        let ahead = of(adder);
        // More gates, but far fewer levels on which something waits.
        assert!(ahead.majorities > ripple.majorities && 3 * ahead.levels < ripple.levels);
        assert!(2 * ahead.junctions() < ripple.junctions());
    }
}
