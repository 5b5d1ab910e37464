//! Engines in lock-step over the examples: values, what words carry, traps and counts are the same on each, there and back.

#![cfg(feature = "jit")]

use std::path::Path;

use pendula::asm::assemble::{Options, assemble};
use pendula::isa::adjoint::LANES;
use pendula::isa::counts::Direction;
use pendula::vm::{Carriage, Config, Engine, Machine, Outcome, Program};

#[track_caller]
fn compare(what: &str, [a, b]: &[Machine<'_>; 2], outcomes: &[Outcome; 2]) {
    assert_eq!(outcomes[0], outcomes[1], "{what}");
    assert_eq!(a.memory(), b.memory(), "{what}");
    for lane in 1..LANES {
        let words = |m: &Machine<'_>| (0..m.memory().len()).map(|n| m.lane_word(lane, n)).collect::<Vec<_>>();
        assert!(words(a) == words(b), "{what}: lane {lane}");
    }
    assert_eq!(a.digest(), b.digest(), "{what}");
    assert_eq!((a.pc(), a.executed(), a.dropped_words()), (b.pc(), b.executed(), b.dropped_words()), "{what}");
    assert_eq!(a.flags(), b.flags(), "{what}");
    assert_eq!(a.counts(), b.counts(), "{what}");
}

#[test]
fn examples_are_the_same_on_each_engine() {
    let mut seen = 0;
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")).expect("examples") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|e| e != "rasm") {
            continue;
        }
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("a text");
        let module = assemble(&name, text, &Options::default()).module.unwrap_or_else(|| panic!("{name}"));
        let program = Program::new(module, true).expect("a program");
        for carriage in [Carriage::Plain, Carriage::Gradient] {
            let mut machines = Engine::ALL.map(|engine| {
                // Compiled at once.
                let config = Config { engine, mem: Some(1 << 14), warm_up: 0, ..Config::default() };
                Machine::new(&program, &config).expect("a machine")
            });
            for direction in [Direction::Forward, Direction::Backward] {
                machines.iter_mut().for_each(|m| {
                    m.carry(carriage);
                    m.begin(direction);
                });
                let [a, b] = &mut machines;
                let outcomes = [a.run(None), b.run(None)];
                compare(&format!("{name}, {carriage:?}, {direction:?}"), &machines, &outcomes);
                if outcomes[0] != Outcome::Finished {
                    break;
                }
            }
        }
        seen += 1;
    }
    assert!(seen >= 10, "{seen} examples");
}
