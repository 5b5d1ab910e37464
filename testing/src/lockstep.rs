//! Engines in lock-step: a machine on the interpreter and one on another engine do the same, and are compared after every run.

use std::sync::{Arc, Mutex};

use pendula_isa::adjoint::LANES;
use pendula_isa::counts::Direction;
use pendula_isa::types::Reg;
use pendula_vm::{AdMode, Config, Engine, Event, Machine, Outcome, Program};

use super::{State, r};

/// One machine on each engine, doing the same.
pub struct Pair<'p> {
    machines: [Machine<'p>; 2],
    events: [Arc<Mutex<Vec<Event>>>; 2],
    what: String,
}

impl<'p> Pair<'p> {
    /// The interpreter and Cranelift's code.
    pub fn new(program: &'p Program, config: Config, what: String) -> Pair<'p> {
        Pair::with(Engine::Jit, program, config, what)
    }

    /// The interpreter and another.
    pub fn with(other: Engine, program: &'p Program, config: Config, what: String) -> Pair<'p> {
        let events: [Arc<Mutex<Vec<Event>>>; 2] = Default::default();
        let mut machines = [Engine::Interpreter, other].map(|engine| {
            Machine::new(program, &Config { engine, ..config }).unwrap_or_else(|e| panic!("{what}: {e}"))
        });
        for (m, list) in machines.iter_mut().zip(&events) {
            let list = Arc::clone(list);
            m.on_event(move |e| list.lock().unwrap().push(e));
        }
        Pair { machines, events, what }
    }

    /// Does the same with both.
    pub fn each(&mut self, f: impl Fn(&mut Machine<'p>)) {
        self.machines.iter_mut().for_each(f);
    }

    /// Compares everything that can be seen of them.
    ///
    /// # Panics
    /// If they differ.
    pub fn compare(&self) {
        let [a, b] = &self.machines;
        let what = &self.what;
        assert_eq!(State::of(a).differences(&State::of(b)), Vec::<String>::new(), "{what}");
        for lane in 1..LANES {
            for n in 0..Reg::COUNT as u8 {
                assert_eq!(a.lane_register(lane, r(n)), b.lane_register(lane, r(n)), "{what}: lane {lane} of r{n}");
            }
            let differs = (0..a.memory().len()).find(|n| a.lane_word(lane, *n) != b.lane_word(lane, *n));
            assert_eq!(differs.map(|n| (n, a.lane_word(lane, n), b.lane_word(lane, n))), None, "{what}: lane {lane}");
        }
        assert_eq!(a.digest(), b.digest(), "{what}");
        assert_eq!(a.pc(), b.pc(), "{what}");
        assert_eq!(a.direction(), b.direction(), "{what}");
        assert_eq!(a.ad_mode(), b.ad_mode(), "{what}");
        assert_eq!(a.flags(), b.flags(), "{what}");
        assert_eq!(a.executed(), b.executed(), "{what}");
        assert_eq!(a.dropped_words(), b.dropped_words(), "{what}");
        assert_eq!(a.counts(), b.counts(), "{what}");
        assert_eq!(*self.events[0].lock().unwrap(), *self.events[1].lock().unwrap(), "{what}");
    }

    /// Runs both to the end, in legs of `limit` instructions with a comparison after each. Returns the outcome.
    pub fn run(&mut self, limit: Option<u64>) -> Outcome {
        // An endless program has been tested enough by then.
        for _ in 0..400 {
            let outcome = self.run_once(limit);
            if outcome != Outcome::Limit {
                return outcome;
            }
        }
        Outcome::Limit
    }

    /// Runs both and compares them. Returns the outcome.
    pub fn run_once(&mut self, limit: Option<u64>) -> Outcome {
        let [a, b] = [0, 1].map(|n| self.machines[n].run(limit));
        assert_eq!(a, b, "{}", self.what);
        self.compare();
        a
    }

    /// Runs forward, and if that ends, backward, with a limit that is not reached and without one; then forward and backward with a limit.
    /// Whether it ended.
    pub fn run_forward_and_back(&mut self, limit: u64, ad_mode: AdMode) -> bool {
        self.each(|m| m.set_ad_mode(ad_mode));
        self.each(|m| m.begin(Direction::Forward));
        let finished = self.run(Some(1_000_000)) == Outcome::Finished;
        if finished {
            self.each(|m| m.begin(Direction::Backward));
            self.run(Some(1_000_000));
        }
        self.each(|m| m.begin(Direction::Forward));
        self.run(Some(limit));
        self.each(|m| m.begin(Direction::Backward));
        self.run(Some(limit));
        finished
    }
}
