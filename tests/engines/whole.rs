//! Code for whole runs, written in C: the examples and the workloads in Nil end in the same state as by the interpreter, with the same
//! gradient words but for rounding, and trap where it does.

use std::sync::Arc;

use pendula::compiler::compile::{Options, compile};
use pendula::isa::counts::Direction;
use pendula::isa::types::Ty;
use pendula::native::{Native, NativeError};
use pendula::vm::gradient::one;
use pendula::vm::{Carriage, Config, Engine, Machine, Outcome, Program};
use pendula_native::cc::{self, Rounding, Settings};

use super::nil::{Call, example_calls, workload_calls};

/// Whether a program was run by C code, and came to its end.
struct Ran {
    whole: bool,
    finished: bool,
}

/// Words that values carry agree: shares are added up in an order of the compiler's, by instructions and in C.
fn agree(a: u64, b: u64) -> bool {
    let [x, y] = [a, b].map(f64::from_bits);
    a.abs_diff(b) <= 1 << 10 || (x - y).abs() <= 1e-12 * (1.0 + x.abs().max(y.abs()))
}

/// Forward, back, and back with gradients.
fn compare(what: &str, source: &str, call: &Call) -> Ran {
    let directory = std::env::temp_dir().join(format!("pendula-whole-{}", std::process::id()));
    cc::set(Settings { directory: Some(directory), options: vec!["-O1".into()] });
    let Call { arguments, types, entry } = call.clone();
    let options = Options { arguments, types, entry, native: true, ..Options::default() };
    let compiled = compile(what, source.to_string(), &options);
    let module = compiled.module.unwrap_or_else(|| panic!("{what}: {:#?}", compiled.diagnostics));
    let words = module.data.len();
    let mut program = Program::new(module, true).unwrap_or_else(|e| panic!("{what}: {e}"));
    let native = compiled.native.expect("a program");
    let whole = match Native::new(native, compiled.arguments, Rounding::Strict) {
        Ok(native) => {
            program.set_whole(Arc::new(native));
            true
        }
        Err(NativeError::Refused(_)) => false,
        Err(error) => panic!("{what}: {error}"),
    };
    let config = Config { mem: Some(words as u64 + 16_384), engine: Engine::Interpreter, ..Config::default() };
    let mut pair = [false, true].map(|whole| {
        let mut machine = Machine::new(&program, &config).expect("a machine");
        machine.allow_whole(whole);
        machine
    });
    let each = |pair: &mut [Machine<'_>; 2], step: &str| {
        let outcomes = pair.each_mut().map(|m| m.run(None));
        assert_eq!(outcomes[0], outcomes[1], "{what}, {step}");
        assert_eq!(pair[0].registers(), pair[1].registers(), "{what}, {step}");
        let differs = pair[0].memory().iter().zip(pair[1].memory()).position(|(a, b)| a != b);
        assert_eq!(differs, None, "{what}, {step}: memory");
        let carried = |m: &Machine<'_>| {
            let lanes = m.carriage().lanes().iter();
            lanes.flat_map(|l| (0..words).map(move |at| (*l, at))).map(|(l, at)| m.lane_word(l, at)).collect::<Vec<_>>()
        };
        let [a, b] = [carried(&pair[0]), carried(&pair[1])];
        let differs = a.iter().zip(&b).find(|(a, b)| !agree(**a, **b));
        assert_eq!(
            differs.map(|(a, b)| (f64::from_bits(*a), f64::from_bits(*b))),
            None,
            "{what}, {step}: carried words"
        );
        outcomes[0] == Outcome::Finished
    };
    let mut finished = each(&mut pair, "forward");
    if finished {
        if whole {
            // Whole runs count nothing.
            assert_eq!(pair[1].executed(), 0, "{what}: not run by its C code");
        }
        let end = pair[0].snapshot();
        pair.iter_mut().for_each(|m| m.begin(Direction::Backward));
        finished &= each(&mut pair, "backward");
        for carriage in [Carriage::Gradient, Carriage::SecondGradient] {
            for m in &mut pair {
                m.restore(&end);
                m.carry(carriage);
                let unit = one(m.env(), Ty::F);
                for &lane in carriage.lanes() {
                    for at in (0..words.min(64)).step_by(lane) {
                        m.set_lane_word(lane, at, unit);
                    }
                }
                m.begin(Direction::Backward);
            }
            finished &= each(&mut pair, &format!("{carriage:?}"));
        }
    }
    Ran { whole, finished }
}

#[test]
fn examples() {
    let (mut runs, mut whole, mut finished) = (0, 0, 0);
    for (name, source, calls) in example_calls() {
        for (n, call) in calls.iter().enumerate() {
            let ran = compare(&format!("{name}, call {n}"), &source, call);
            runs += 1;
            whole += usize::from(ran.whole);
            finished += usize::from(ran.finished);
        }
    }
    assert!(whole * 4 >= runs * 3 && finished * 4 >= runs * 3, "{runs} calls, {whole} in C, {finished} finished");
}

#[test]
fn workloads() {
    for (name, source, call) in workload_calls() {
        let ran = compare(&format!("workload {name}"), &source, &call);
        assert!(ran.whole && ran.finished, "{name}");
    }
}
