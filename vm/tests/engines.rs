//! Engines in lock-step: the interpreter beside compiled code, over random
//! programs and random instructions in random states; the examples are run so by the root
//! package's tests. They must agree in values, in what words carry, in traps with their places and
//! operands, in what the run noticed, and in every count.

mod common;

use common::{State, between, r};
use pendula_isa::adjoint::LANES;
use pendula_isa::counts::Direction;
use pendula_isa::inst::Kind;
use pendula_isa::mnemonic::families;
use pendula_isa::module::Module;
use pendula_isa::sample::{Draft, Source, instruction, number, word};
use pendula_isa::table::Flow;
use pendula_isa::types::{Reg, Ty};
use pendula_vm::{Carriage, Config, Engine, Event, Machine, Outcome, Program};

/// One machine on each engine, doing the same.
struct Pair<'p> {
    machines: [Machine<'p>; 2],
    events: [std::sync::Arc<std::sync::Mutex<Vec<Event>>>; 2],
    what: String,
}

impl<'p> Pair<'p> {
    fn new(program: &'p Program, config: Config, what: String) -> Pair<'p> {
        // Compiled at once, but for a few that change over on the way.
        let warm_up = if what.len().is_multiple_of(8) { 500 } else { 0 };
        let events: [std::sync::Arc<std::sync::Mutex<Vec<Event>>>; 2] = Default::default();
        let mut machines = Engine::ALL.map(|engine| {
            Machine::new(program, &Config { engine, warm_up, ..config }).unwrap_or_else(|e| panic!("{what}: {e}"))
        });
        for (m, list) in machines.iter_mut().zip(&events) {
            let list = std::sync::Arc::clone(list);
            m.on_event(move |e| list.lock().unwrap().push(e));
        }
        Pair { machines, events, what }
    }

    fn each(&mut self, f: impl Fn(&mut Machine<'p>)) {
        self.machines.iter_mut().for_each(f);
    }

    fn compare(&self) {
        let [a, b] = &self.machines;
        let what = &self.what;
        assert_eq!(State::of(a).differences(&State::of(b)), Vec::<String>::new(), "{what}");
        for lane in 1..LANES {
            for n in 0..Reg::COUNT as u8 {
                assert_eq!(a.lane_register(lane, r(n)), b.lane_register(lane, r(n)), "{what}: lane {lane} of r{n}");
            }
            for n in 0..a.memory().len() {
                assert_eq!(a.lane_word(lane, n), b.lane_word(lane, n), "{what}: lane {lane} of [{n}]");
            }
        }
        assert_eq!(a.digest(), b.digest(), "{what}");
        assert_eq!(a.pc(), b.pc(), "{what}");
        assert_eq!(a.direction(), b.direction(), "{what}");
        assert_eq!(a.carriage(), b.carriage(), "{what}");
        assert_eq!(a.flags(), b.flags(), "{what}");
        assert_eq!(a.executed(), b.executed(), "{what}");
        assert_eq!(a.dropped_words(), b.dropped_words(), "{what}");
        assert_eq!(a.counts(), b.counts(), "{what}");
        assert_eq!(*self.events[0].lock().unwrap(), *self.events[1].lock().unwrap(), "{what}");
    }

    /// Runs both; a limit is renewed until the end, after a comparison. Gives the outcome.
    fn run(&mut self, limit: Option<u64>) -> Outcome {
        // A program that goes round without end has shown enough by then.
        for _ in 0..400 {
            let [a, b] = [0, 1].map(|n| self.machines[n].run(limit));
            assert_eq!(a, b, "{}", self.what);
            self.compare();
            if a != Outcome::Limit {
                return a;
            }
        }
        Outcome::Limit
    }

    /// Runs forward, and if that ends, backward; then forward and backward with a limit.
    fn there_and_back(&mut self, s: &mut Source, carriage: Carriage) -> bool {
        self.each(|m| m.carry(carriage));
        self.each(|m| m.begin(Direction::Forward));
        let finished = self.run(Some(1_000_000)) == Outcome::Finished;
        if finished {
            self.each(|m| m.begin(Direction::Backward));
            self.run(Some(1_000_000));
        }
        let limit = s.below(2000) + 3;
        self.each(|m| m.begin(Direction::Forward));
        self.run(Some(limit));
        self.each(|m| m.begin(Direction::Backward));
        self.run(Some(limit));
        finished
    }
}

fn lanes(m: &mut Machine<'_>, carriage: Carriage, seed: u64) {
    let mut s = Source::seeded(seed);
    for &lane in carriage.lanes() {
        for n in 1..Reg::COUNT as u8 {
            let w = lane_word(&mut s);
            m.set_lane_register(lane, r(n), w);
        }
        for n in 0..m.memory().len().min(64) {
            let w = lane_word(&mut s);
            m.set_lane_word(lane, n, w);
        }
    }
}

fn lane_word(s: &mut Source) -> u64 {
    match s.below(3) {
        0 => 0,
        1 => number(Ty::Q, Default::default(), s),
        _ => number(Ty::F, Default::default(), s),
    }
}

fn config(s: &mut Source) -> Config {
    Config {
        mem: Some(512),
        ieee: s.once_in(4),
        trap_overflow: s.once_in(4),
        count: !s.once_in(8),
        ..Config::default()
    }
}

/// A carriage; mostly the one, which is plain.
fn carriage(s: &mut Source) -> Carriage {
    if s.once_in(2) { s.pick(&Carriage::ALL) } else { Carriage::Plain }
}

fn runs(what: &str, seeds: std::ops::Range<u64>, module: impl Fn(&mut Source) -> Module) {
    let mut finished = 0;
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let mut s = Source::seeded(seed);
        let module = module(&mut s);
        let checks = !s.once_in(6);
        let program = Program::new(module, checks).unwrap_or_else(|e| panic!("{what} {seed}: {e}"));
        let config = config(&mut s);
        let carriage = carriage(&mut s);
        let what = format!("{what} {seed}, {carriage:?}, {config:?}, checks {checks}");
        let mut pair = Pair::new(&program, config, what);
        pair.each(|m| lanes(m, carriage, seed));
        finished += u64::from(pair.there_and_back(&mut s, carriage));
    }
    assert!(finished > count / 2, "{what}: of {count} only {finished} came to an end");
}

#[test]
fn random_programs() {
    runs("program", 0..300, |s| Draft::new(s, 60).module().expect("sound operands"));
}

#[test]
fn long_random_programs() {
    // Of more than one unit.
    runs("long program", 1000..1012, |s| Draft::new(s, 1500).module().expect("sound operands"));
}

/// Instructions of every family that runs straight on, in states in which they may or may not trap.
#[test]
fn random_instructions() {
    let straight: Vec<Kind> = families().filter(|k| k.flow() == Flow::Straight && !k.is_irreversible()).collect();
    let mut trapped = 0;
    for (n, family) in straight.iter().cycle().take(straight.len() * 6).enumerate() {
        let mut s = Source::seeded(n as u64);
        let mut code = Vec::new();
        for _ in 0..s.below(4) {
            let kind = s.pick(&straight);
            code.push(instruction(kind, &mut s));
        }
        code.push(instruction(*family, &mut s));
        for inst in &mut code {
            // Most addresses would be outside.
            if inst.kind.layout().iter().any(|slot| slot.is_memory())
                && !s.once_in(4)
                && !inst.kind.layout().iter().any(|slot| matches!(slot, pendula_isa::operand::Slot::Imm))
            {
                inst.imm = s.between(0, 15);
            }
        }
        let mut module = between(code);
        module.texts = vec![String::new(); 4];
        let checks = !s.once_in(6);
        let program = Program::new(module, checks).unwrap();
        let carriage = s.pick(&Carriage::ALL);
        let config = Config { mem: Some(16), ..config(&mut s) };
        let what = format!("{} {n}, {carriage:?}, {config:?}, checks {checks}", family.mnemonic());
        let mut pair = Pair::new(&program, config, what);
        let seed = s.word();
        let round = s.below(4);
        pair.each(|m| {
            let mut s = Source::seeded(seed);
            for n in 1..Reg::COUNT as u8 {
                let w = match (round, s.below(4)) {
                    (0, _) => word(&mut s),
                    (1, 0) | (_, 1) => s.below(20),
                    (_, 0) => 0,
                    _ => {
                        let ty = s.pick(&Ty::ALL);
                        number(ty, Default::default(), &mut s)
                    }
                };
                m.set_register(r(n), w);
            }
            for n in 0..m.memory().len() {
                let ty = s.pick(&Ty::ALL);
                m.memory_mut()[n] = if s.once_in(3) { 0 } else { number(ty, Default::default(), &mut s) };
            }
            lanes(m, carriage, seed);
            m.set_input((0..8).map(|n| n * 7).collect(), 3);
            m.set_output(vec![1, 2, 0, 4]);
        });
        trapped += usize::from(!pair.there_and_back(&mut s, carriage));
    }
    assert!(trapped > straight.len() / 4, "only {trapped} of {} trapped", straight.len());
}
