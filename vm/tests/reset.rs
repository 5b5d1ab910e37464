//! A reset machine equals a new one, whatever it ran before: values, lanes, tapes, flags, counts and position; and so do its runs from
//! there. Counts of runs add up.

use crate::common;

use std::sync::{Arc, Mutex};

use common::{State, r};
use pendula_isa::adjoint::LANES;
use pendula_isa::counts::{Counts, Direction};
use pendula_isa::sample::{RandomProgram, Source, word};
use pendula_isa::types::Reg;
use pendula_vm::{AdMode, Config, ConfigError, Engine, Event, Machine, Outcome, Program, Snapshot};

/// Everything that can be asked of a machine.
fn same(a: &Machine<'_>, b: &Machine<'_>, what: &str) {
    assert_eq!(State::of(a).differences(&State::of(b)), Vec::<String>::new(), "{what}");
    for lane in 1..LANES {
        let words = |m: &Machine<'_>| -> Vec<u64> {
            let regs = (0..Reg::COUNT as u8).map(|n| m.lane_register(lane, r(n)));
            regs.chain((0..m.memory().len()).map(|n| m.lane_word(lane, n))).collect()
        };
        assert_eq!(words(a), words(b), "{what}: lane {lane}");
    }
    let state = |m: &Machine<'_>| {
        let tapes = (m.input().to_vec(), m.words_read(), m.output().to_vec());
        (m.digest(), m.pc(), m.direction(), m.ad_mode(), m.flags(), m.executed(), m.dropped_words(), tapes)
    };
    assert_eq!(state(a), state(b), "{what}");
    assert_eq!(a.counts(), b.counts(), "{what}");
}

fn engines() -> impl Iterator<Item = Engine> {
    Engine::ALL.into_iter().filter(|e| e.is_available())
}

/// Changes as much state of a machine as possible.
fn use_up(m: &mut Machine<'_>, s: &mut Source) {
    let heard = Arc::new(Mutex::new(0_u64));
    let counter = Arc::clone(&heard);
    m.on_event(move |_: Event| *counter.lock().unwrap() += 1);
    if s.once_in(2) {
        m.keep_dropped();
    }
    let ad_mode = s.pick(&AdMode::ALL);
    m.set_ad_mode(ad_mode);
    for &lane in ad_mode.lanes() {
        for n in 1..12 {
            m.set_lane_register(lane, r(n), word(s));
        }
        for at in 0..m.memory().len().min(40) {
            m.set_lane_word(lane, at, word(s));
        }
    }
    if s.once_in(2) {
        for n in 1..12 {
            m.set_register(r(n), word(s));
        }
        m.memory_mut().last_mut().into_iter().for_each(|w| *w = 77);
    }
    for direction in [Direction::Forward, Direction::Backward] {
        m.begin(direction);
        m.run(Some(s.below(3_000)));
        m.step();
    }
    if s.once_in(3) {
        m.reverse_dropped();
    }
}

/// An initial state: some registers, words and tapes are set.
fn start(program: &Program, config: &Config, s: &mut Source) -> Snapshot {
    let mut m = Machine::new(program, config).unwrap();
    for n in 1..6 {
        m.set_register(r(n), s.below(9));
    }
    for w in m.memory_mut().iter_mut().take(8) {
        *w = s.below(9);
    }
    m.set_input(vec![3, 1, 4], 1);
    m.set_output(vec![2, 7]);
    m.snapshot()
}

#[test]
fn a_machine_that_is_reset_is_a_new_one() {
    let (mut ended, mut trapped, mut lost, mut noticed) = (0, 0, 0, 0);
    for seed in 0..96 {
        let s = &mut Source::seeded(seed);
        let program = Program::new(RandomProgram::new(s, 4 + seed as usize % 60).module().unwrap(), true).unwrap();
        // To compile takes most of the time.
        for engine in engines().filter(|e| *e == Engine::Interpreter || seed % 8 == 0) {
            // Compiled at once.
            let config = Config { mem: Some(160), engine, warm_up: 0, count: seed % 5 != 0, ..Config::default() };
            let what = format!("seed {seed}, {engine:?}");
            let first = start(&program, &config, s);
            let mut used = Machine::new(&program, &config).unwrap();
            for _ in 0..3 {
                use_up(&mut used, s);
                lost += used.counts().lost_bits();
                noticed += usize::from(used.flags().overflow.is_some() || used.flags().inexact.is_some());
                used.reset(&first, 160).unwrap();
                let mut new = Machine::new(&program, &config).unwrap();
                new.restore(&first);
                same(&used, &new, &what);
                // What they do from now on.
                let ad_mode = s.pick(&AdMode::ALL);
                for direction in [Direction::Forward, Direction::Backward] {
                    let [a, b] = [&mut used, &mut new].map(|m| {
                        m.set_ad_mode(ad_mode);
                        m.begin(direction);
                        m.run(Some(3_000))
                    });
                    assert_eq!(a, b, "{what}");
                    same(&used, &new, &what);
                    ended += usize::from(a == Outcome::Finished);
                    trapped += usize::from(matches!(a, Outcome::Trap(_)));
                }
            }
        }
    }
    assert!(ended > 150 && trapped > 40 && lost > 400 && noticed > 5, "{ended} {trapped} {lost} {noticed}");
}

#[test]
fn a_reset_gives_the_memory_that_is_asked_for() {
    let program = common::program(common::between([common::inst("emit", &[common::reg(1)])]));
    let config = Config { mem: Some(10), ..Config::default() };
    let mut m = Machine::new(&program, &config).unwrap();
    m.memory_mut()[3] = 5;
    let start = m.snapshot();
    // The last two sizes are above and at the size from which on memory is reallocated.
    for words in [10, 50, 20, (1 << 22) + 1, 1 << 22, 10] {
        m.memory_mut().fill(9);
        m.set_ad_mode(AdMode::Gradient);
        m.set_lane_word(1, 9, 1);
        m.reset(&start, words).unwrap();
        assert_eq!(m.memory().len(), words);
        assert_eq!(m.memory().iter().position(|w| *w != 0), Some(3));
        assert_eq!(m.memory().iter().rposition(|w| *w != 0), Some(3));
        assert!(m.is_lane_clear(1));
    }
    m.memory_mut().fill(9);
    assert_eq!(m.reset(&start, 9), Err(ConfigError::TooSmall { data: 10, mem: 9 }));
    let most = usize::MAX / 8;
    assert_eq!(m.reset(&start, most), Err(ConfigError::Allocate(most as u64)));
    assert_eq!(m.memory(), [9; 10]);
}

#[test]
fn counts_of_runs_add_up() {
    let mut runs = 0;
    for seed in 0..150 {
        let s = &mut Source::seeded(seed);
        let program = Program::new(RandomProgram::new(s, 4 + seed as usize % 40).module().unwrap(), true).unwrap();
        let config = Config { mem: Some(160), ..Config::default() };
        let first = Machine::new(&program, &config).unwrap().snapshot();
        let mut through = Machine::new(&program, &config).unwrap();
        let mut again = Machine::new(&program, &config).unwrap();
        let mut sum = Counts::default();
        for n in 0..4 {
            let (ad_mode, limit) = (s.pick(&AdMode::ALL), s.below(400));
            let direction = [Direction::Forward, Direction::Backward][n % 2];
            again.reset(&first, 160).unwrap();
            through.restore(&first);
            through.discard_dropped();
            for lane in 1..LANES {
                through.clear_lane(lane);
            }
            for m in [&mut through, &mut again] {
                m.set_ad_mode(ad_mode);
                m.begin(direction);
                m.run(Some(limit));
            }
            sum.add(&again.counts());
            runs += usize::from(again.executed() > 0);
        }
        assert_eq!(sum, through.counts(), "seed {seed}");
    }
    assert!(runs > 300, "{runs}");
}
