//! Adders that look ahead, beside sums of numbers.

use pendula_hw_model::circuit::{Accumulator, Adder, Choice, Circuit, CircuitFn, Part, generate_with};
use pendula_hw_model::clocking::Pipeline;
use pendula_hw_model::instruction::{Direction, InstructionCircuit, Sizes};
use pendula_hw_model::network::{Aqfp, Network};
use pendula_hw_model::stats::Stats;
use pendula_hw_model::verify::verify_states;
use pendula_isa::circuit::{Bit, Builder, Role, Word};
use pendula_isa::mnemonic;
use pendula_isa::sample;
use pendula_isa::table::{Row, TableFn, f_fn, int_fn, l_fn, q_fn};

use super::harness::{cases, check, int, mask, row, signed, some};

const AHEAD: [Adder; 3] = [Adder::Lookahead, Adder::BrentKung, Adder::KoggeStone];

fn built(adder: Adder, width: usize, build: impl FnOnce(&mut Builder, &[Bit], &[Bit])) -> Circuit {
    let mut b = Builder::with_adder("test", adder);
    let x = b.register("x", Role::Operand, width);
    let y = b.register("y", Role::Target, width);
    build(&mut b, &x, &y);
    b.finish()
}

fn of(part: Part, width: usize, adder: Adder) -> Circuit {
    generate_with(part, width, Choice::of_adder(adder)).unwrap().0
}

/// A third value for each case.
fn with_target(mut cases: Vec<Vec<u128>>, width: usize) -> Vec<Vec<u128>> {
    cases.iter_mut().enumerate().for_each(|(n, case)| case.push((n as u128).wrapping_mul(0x9e37_79b9) & mask(width)));
    cases
}

#[test]
fn sums_in_place() {
    for adder in AHEAD {
        for width in [1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64] {
            let cases = cases(16, 640, &[width, width]);
            let plus = |x: u128, y: u128| y.wrapping_add(x) & mask(width);
            let minus = |x: u128, y: u128| y.wrapping_sub(x) & mask(width);
            let circuit = built(adder, width, |b, x, y| b.add(x, y));
            check(&circuit, ["x", "y"], &cases, |[x, y]| Some([x, plus(x, y)]));
            check(&circuit.inverse(), ["x", "y"], &cases, |[x, y]| Some([x, minus(x, y)]));
            let circuit = built(adder, width, |b, x, y| b.subtract(x, y));
            check(&circuit, ["x", "y"], &cases, |[x, y]| Some([x, minus(x, y)]));
        }
    }
}

#[test]
fn sums_either_way() {
    for adder in AHEAD {
        for width in [4, 5, 7, 8, 16, 32, 64] {
            let cases = cases(17, 640, &[width, width, 1]);
            let circuit = of(Part::Accumulate(Accumulator::AddOrSubtract, CircuitFn::Wire), width, adder);
            check(&circuit, ["a", "y", "direction"], &cases, |[a, y, back]| {
                let y = if back == 1 { y.wrapping_sub(a) } else { y.wrapping_add(a) };
                Some([a, y & mask(width), back])
            });
        }
    }
}

#[test]
fn sums_with_carries() {
    for adder in AHEAD {
        for width in [4, 5, 6, 7, 16, 64] {
            let cases = cases(16, 640, &[width, width, 1, 1]);
            let mut b = Builder::with_adder("test", adder);
            let x = b.register("x", Role::Operand, width);
            let y = b.register("y", Role::Target, width);
            let first = b.register("in", Role::Control, 1)[0];
            let last = b.register("out", Role::Target, 1)[0];
            b.add_carry(&x, &y, first, Some(last));
            check(&b.finish(), ["x", "y", "in", "out"], &cases, |[x, y, first, last]| {
                let sum = x + y + first;
                Some([x, sum & mask(width), first, last ^ (sum >> width)])
            });
            // Constants: of the addend, and of the carry.
            let cases: Vec<_> = cases.iter().take(512).map(|case| case[..2].to_vec()).collect();
            for constant in [0, 1, 0b0110_1101 & mask(width), mask(width)] {
                for carry in [Bit::ZERO, Bit::ONE] {
                    let word = Word::constant(constant, width);
                    let circuit = built(adder, width, |b, _, y| b.add_carry(&word, y, carry, None));
                    check(&circuit, ["x", "y"], &cases, |[x, y]| {
                        Some([x, y.wrapping_add(constant + u128::from(carry == Bit::ONE)) & mask(width)])
                    });
                }
            }
        }
    }
}

#[test]
fn sums_out_of_place() {
    for adder in AHEAD {
        for width in [4, 5, 6, 7, 8, 16, 32, 64] {
            let cases = with_target(cases(16, 640, &[width, width]), width);
            let circuit = of(Part::Accumulate(Accumulator::Xor, int(int_fn::Name::Plus)), width, adder);
            check(&circuit, ["a", "b", "y"], &cases, |[a, b, y]| Some([a, b, y ^ (a + b) & mask(width)]));
            let circuit = of(Part::Accumulate(Accumulator::Xor, int(int_fn::Name::Minus)), width, adder);
            check(&circuit, ["a", "b", "y"], &cases, |[a, b, y]| Some([a, b, y ^ a.wrapping_sub(b) & mask(width)]));
            let circuit = built(adder, width, |b, x, y| b.with(|b| b.sum(x, x, width), |b, sum| b.xor(sum, y)));
            let cases: Vec<_> = cases.into_iter().map(|case| case[..2].to_vec()).collect();
            check(&circuit, ["x", "y"], &cases, |[x, y]| Some([x, y ^ (2 * x) & mask(width)]));
        }
    }
}

#[test]
fn what_adds_and_compares() {
    for adder in AHEAD {
        for width in [4, 5, 8, 64] {
            let cases = with_target(cases(10, 320, &[width, width]), width);
            let circuit = |accumulator, name| of(Part::Accumulate(accumulator, int(name)), width, adder);
            let names = ["a", "b", "y"];
            let wrap = |y: i128| y.cast_unsigned() & mask(width);
            let s = |n| signed(n, width);
            check(&circuit(Accumulator::Add, int_fn::Name::Mul), names, &cases, |[a, b, y]| {
                Some([a, b, wrap(s(y).wrapping_add(s(a).wrapping_mul(s(b))))])
            });
            check(&circuit(Accumulator::Xor, int_fn::Name::Quot), names, &cases, |[a, b, y]| {
                Some([a, b, y ^ wrap(s(a).checked_div(s(b))?)])
            });
            let cases: Vec<_> = cases.iter().map(|case| vec![case[0], case[1], case[2] & 1]).collect();
            check(&circuit(Accumulator::Xor, int_fn::Name::Ltu), names, &cases, |[a, b, y]| {
                Some([a, b, y ^ u128::from(a < b)])
            });
            check(&circuit(Accumulator::Xor, int_fn::Name::Lt), names, &cases, |[a, b, y]| {
                Some([a, b, y ^ u128::from(s(a) < s(b))])
            });
            let negation = of(row(Row::Neg), width, adder);
            let name = negation.registers()[0].name.clone();
            check(&negation, [name.as_str()], &some(3, 64, &[width]), |[y]| Some([wrap(-s(y))]));
        }
    }
}

/// The depth of n bits out of place and in place, where a gate has its wires for itself: the figures of Draper, Kutin, Rains and Svore
/// (arXiv:quant-ph/0406142) from memory. Of the paper only the abstract and the introduction were at hand, which say O(log n).
fn published(n: u32) -> (u64, u64) {
    let log = |n: u32| u64::from(n.ilog2());
    (log(n) + log(n / 3) + 7, log(n) + log(n - 1) + log(n / 3) + log((n - 1) / 3) + 14)
}

#[test]
fn a_lookahead_adder_is_as_deep_as_published() {
    assert_eq!(published(64), (17, 33));
    for n in [16, 32, 64] {
        let (out_of_place, in_place) = published(n as u32);
        let add = Stats::of(&built(Adder::Lookahead, n, |b, x, y| b.add(x, y)));
        // From clear wires: the sum alone.
        let mut b = Builder::with_adder("sum", Adder::Lookahead);
        let [x, y] = ["x", "y"].map(|name| b.register(name, Role::Operand, n));
        let _ = b.sum(&x, &y, n);
        let sum = Stats::of(&b.finish());
        let short = |s: &Stats| (s.levels, s.depth, s.toffoli_depth, s.gates.toffoli, s.ancillas);
        println!(
            "{n} bits, published {out_of_place} and {in_place}: out of place {:?}, in place {:?}",
            short(&sum),
            short(&add)
        );
        assert!(sum.levels <= out_of_place && sum.depth <= out_of_place);
        assert!(add.levels <= in_place && add.depth <= 2 * out_of_place);
        assert!(add.toffoli_depth <= in_place);
        assert!(add.gates.toffoli < 10 * n as u64 && add.ancillas < 2 * n as u64);
        let ripple = Stats::of(&built(Adder::Ripple, n, |b, x, y| b.add(x, y)));
        assert!(ripple.levels >= 2 * n as u64 && ripple.toffoli_depth >= 2 * n as u64 - 2);
    }
}

#[test]
fn a_shared_control_is_a_load_and_not_a_step() {
    // The direction controls 64 gates before the sum, and 64 after it: a level each, where a control that has no other gate would take a step each.
    let circuit = |accumulator| of(Part::Accumulate(accumulator, CircuitFn::Wire), 64, Adder::Lookahead);
    let (one_way, both) = (circuit(Accumulator::Add), circuit(Accumulator::AddOrSubtract));
    assert_eq!(Pipeline::of(&both).levels, Pipeline::of(&one_way).levels + 2);
    assert!(both.depth() >= one_way.depth() + 64);
    // In flux parametrons, a bit that 64 read takes three levels of splitters into four, 1 + 4 + 16 of them.
    let fan = |n: usize| {
        let mut b = Builder::new("fan");
        let c = b.register("c", Role::Control, 1)[0];
        let [x, y] = [("x", Role::Operand), ("y", Role::Target)].map(|(name, role)| b.register(name, role, n));
        x.iter().zip(&*y).for_each(|(x, y)| b.toffoli(c, *x, *y));
        b.finish()
    };
    let cells = |n| Aqfp::of(&Network::of(&fan(n)).with_majorities());
    let (one, many) = (cells(1), cells(64));
    assert_eq!((many.levels, many.majorities), (one.levels + 3, 64 * one.majorities));
    // Both operands beside the control wait three levels more.
    assert_eq!(many.buffers, 64 * (one.buffers + 2 * 3) + 1 + 4 + 16);
    assert_eq!(Pipeline::of(&fan(64)).levels, 1);
}

#[test]
#[ignore = "takes a quarter of a minute: part of .ci/full"]
fn functions_of_every_type_have_the_same_values() {
    for adder in AHEAD {
        for func in [
            TableFn::Q(q_fn::Name::Mul),
            TableFn::Q(q_fn::Name::Sqrt),
            TableFn::Q(q_fn::Name::Atan2),
            TableFn::F(f_fn::Name::Plus),
            TableFn::F(f_fn::Name::Div),
            TableFn::L(l_fn::Name::Plus),
        ] {
            let part = Part::Accumulate(Accumulator::Xor, CircuitFn::Table { func, frac: 4 });
            let (ripple, ahead) = (of(part, 8, Adder::Ripple), of(part, 8, adder));
            let names = &["a", "b"][..func.info().args.len()];
            for chunk in some(11, 640, &vec![8; names.len()]).chunks(64) {
                let run = |circuit: &Circuit| {
                    let mut lanes = circuit.lanes();
                    for (at, name) in names.iter().enumerate() {
                        circuit.set(&mut lanes, name, &chunk.iter().map(|case| case[at]).collect::<Vec<_>>());
                    }
                    circuit.run_lanes(&mut lanes).unwrap();
                    let traps = circuit.registers().iter().filter(|r| r.role == Role::Trap).flat_map(|r| &r.after);
                    let trapped = traps.fold(0, |all, w| all | lanes[*w as usize]);
                    circuit
                        .get(&lanes, "y")
                        .iter()
                        .enumerate()
                        .map(|(n, y)| (trapped >> n & 1 == 0).then_some(*y))
                        .collect::<Vec<_>>()
                };
                assert_eq!(run(&ripple), run(&ahead), "{func:?} {adder}");
            }
        }
    }
}

#[test]
fn instructions_with_another_adder_are_the_instructions() {
    for (k, adder) in AHEAD.into_iter().enumerate() {
        for (n, name) in [
            "add",
            "sub",
            "inc",
            "neg",
            "addmul.q",
            "xorplus.f",
            "jmp.lt",
            "bra",
            "push",
            "assert.ltu",
            "mul.l",
            "rot.q",
        ]
        .into_iter()
        .enumerate()
        .filter(|(n, _)| sample::all() || n % AHEAD.len() == k)
        {
            let Some(kind) = mnemonic::lookup(name) else { panic!("{name}") };
            for &direction in sample::in_turn(&[Direction::Forward, Direction::Backward, Direction::Both], n) {
                let sizes = Sizes { width: 8, frac: None, memory: 4 };
                let circuit = InstructionCircuit::with(kind, sizes, direction, Choice::of_adder(adder)).unwrap();
                assert_eq!(circuit.adder, adder);
                let verified = verify_states(&circuit, 12, 1024).unwrap();
                assert_eq!(verified.mismatch, None, "{name} {adder} {direction:?}");
            }
        }
    }
}

#[test]
fn adders_have_names() {
    for adder in Adder::ALL {
        assert_eq!(adder.name().parse(), Ok(adder));
    }
    let message = "carry-save".parse::<Adder>().unwrap_err().to_string();
    assert!(
        message.contains("`carry-save`") && Adder::ALL.iter().all(|adder| message.contains(adder.name())),
        "{message}"
    );
}

#[test]
fn where_nothing_is_added_there_is_no_adder() {
    for (name, width) in [("not", 8), ("xor", 64), ("add", 3)] {
        let Some(kind) = mnemonic::lookup(name) else { panic!("{name}") };
        let with = |adder| {
            let sizes = Sizes { width, frac: None, memory: 4 };
            InstructionCircuit::with(kind, sizes, Direction::Forward, Choice::of_adder(adder))
        };
        assert!(with(Adder::Ripple).is_ok());
        let message = with(Adder::Lookahead).unwrap_err().to_string();
        assert!(
            message.contains(&format!("`{name}` on words of {width} bits")) && message.contains("`lookahead`"),
            "{message}"
        );
    }
}
