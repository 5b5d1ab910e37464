//! Engines in lock-step: the interpreter beside compiled code, on random programs and on random instructions in random states. They must
//! agree in values, lanes, traps with their positions and operands, flags, and all counts. The root package's tests do the same with the
//! examples.

use crate::common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::lockstep::Pair;
use common::{between, inst, program, r, reg};
use pendula_isa::counts::Direction;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::mnemonic::families;
use pendula_isa::module::Module;
use pendula_isa::operand::Operand;
use pendula_isa::sample::{RandomProgram, Source, instruction, number, share, word};
use pendula_isa::table::Flow;
use pendula_isa::types::{Profile, Reg, Ty};
use pendula_vm::{AdMode, Config, Engine, Machine, Outcome, Program};

fn lanes(m: &mut Machine<'_>, ad_mode: AdMode, seed: u64) {
    let mut s = Source::seeded(seed);
    for &lane in ad_mode.lanes() {
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
        // Compiled at once, except for a few that switch during the run.
        warm_up: if s.once_in(8) { 500 } else { 0 },
        // With care at once, after a few turns, never.
        tier_up: s.pick(&[0, 2, u64::MAX]),
        mem: Some(512),
        ieee: s.once_in(4),
        trap_overflow: s.once_in(4),
        count: !s.once_in(8),
        ..Config::default()
    }
}

/// A AD mode; mostly the one, which is plain.
fn ad_mode(s: &mut Source) -> AdMode {
    if s.once_in(2) { s.pick(&AdMode::ALL) } else { AdMode::Plain }
}

fn runs(engine: Engine, what: &str, seeds: std::ops::Range<u64>, module: impl Fn(&mut Source) -> Module) {
    let mut finished = 0;
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let mut s = Source::seeded(seed);
        let module = module(&mut s);
        let checks = !s.once_in(6);
        let program = Program::new(module, checks).unwrap_or_else(|e| panic!("{what} {seed}: {e}"));
        let config = config(&mut s);
        let ad_mode = ad_mode(&mut s);
        let what = format!("{what} {seed}, {ad_mode:?}, {config:?}, checks {checks}");
        let mut pair = Pair::with(engine, &program, config, what);
        pair.each(|m| lanes(m, ad_mode, seed));
        let limit = s.below(2000) + 3;
        finished += u64::from(pair.run_forward_and_back(limit, ad_mode));
    }
    assert!(finished > count / 3, "{what}: of {count} only {finished} came to an end");
}

#[test]
fn random_programs() {
    runs(Engine::Jit, "program", 0..share(300), |s| RandomProgram::new(s, 60).module().expect("sound operands"));
}

#[test]
fn long_random_programs() {
    // Of more than one unit.
    runs(Engine::Jit, "long program", 1000..1000 + share(32), |s| {
        RandomProgram::new(s, 1500).module().expect("sound operands")
    });
}

/// The families of straight-line instructions that have an inverse.
fn straight() -> Vec<Kind> {
    families().filter(|k| k.flow() == Flow::Straight && k.belongs_to(Profile::Native) && !k.is_irreversible()).collect()
}

/// An instruction of this family, after a few of other families.
fn sequence(family: Kind, straight: &[Kind], s: &mut Source) -> Vec<Inst> {
    let mut code = Vec::new();
    for _ in 0..s.below(4) {
        let kind = s.pick(straight);
        code.push(instruction(kind, s));
    }
    code.push(instruction(family, s));
    for inst in &mut code {
        // Most addresses would be outside.
        if inst.kind.layout().iter().any(|slot| slot.is_memory())
            && !s.once_in(4)
            && !inst.kind.layout().iter().any(|slot| matches!(slot, pendula_isa::operand::Slot::Imm))
        {
            inst.imm = s.between(0, 15);
        }
    }
    code
}

/// A random state.
fn scatter(m: &mut Machine<'_>, ad_mode: AdMode, seed: u64, round: u64) {
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
    lanes(m, ad_mode, seed);
    m.set_input((0..8).map(|n| n * 7).collect(), 3);
    m.set_output(vec![1, 2, 0, 4]);
}

/// Straight-line instructions of every family, in states in which they may or may not trap.
#[test]
fn random_instructions() {
    let straight = straight();
    let mut trapped = 0;
    for (n, family) in straight.iter().cycle().take(straight.len() * share(16)).enumerate() {
        let mut s = Source::seeded(n as u64);
        let code = sequence(*family, &straight, &mut s);
        let mut module = between(code);
        module.texts = vec![String::new(); 4];
        let checks = !s.once_in(6);
        let program = Program::new(module, checks).unwrap();
        let ad_mode = s.pick(&AdMode::ALL);
        let config = Config { mem: Some(16), ..config(&mut s) };
        let what = format!("{} {n}, {ad_mode:?}, {config:?}, checks {checks}", family.mnemonic());
        let mut pair = Pair::new(&program, config, what);
        let seed = s.word();
        let round = s.below(4);
        pair.each(|m| scatter(m, ad_mode, seed, round));
        let limit = s.below(2000) + 3;
        trapped += usize::from(!pair.run_forward_and_back(limit, ad_mode));
    }
    assert!(trapped > straight.len() / 4, "only {trapped} of {} trapped", straight.len());
}

/// Words at which operations of some type change their behaviour.
const EDGES: [u64; 40] = [
    0,
    1,
    2,
    u64::MAX,
    -2i64 as u64,
    // Counts of shifts.
    31,
    32,
    63,
    64,
    65,
    127,
    -63i64 as u64,
    -64i64 as u64,
    // Integers.
    1 << 63,
    (1 << 63) + 1,
    (1 << 63) - 1,
    1 << 31,
    (1 << 31) - 1,
    -(1i64 << 31) as u64,
    -(1i64 << 31) as u64 - 1,
    (1 << 32) - 1,
    1 << 32,
    // Integers and fractions of fixed-point numbers.
    1 << 43,
    (1 << 43) - 1,
    3 << 31,
    1 << 62,
    // Doubles; minus zero is the least integer.
    1.0f64.to_bits(),
    (-1.0f64).to_bits(),
    1.5f64.to_bits(),
    f64::INFINITY.to_bits(),
    f64::NEG_INFINITY.to_bits(),
    f64::NAN.to_bits(),
    f64::NAN.to_bits() | 1 << 63,
    // NaNs that signal, with something in them.
    0x7ff0_0000_0000_0001,
    0xfff4_0000_dead_beef,
    // The least doubles, and the greatest.
    f64::MIN_POSITIVE.to_bits(),
    f64::MIN_POSITIVE.to_bits() - 1,
    f64::MAX.to_bits(),
    // Doubles near the ends of integers.
    9_007_199_254_740_993.0f64.to_bits(),
    9_223_372_036_854_775_808.0f64.to_bits(),
];

/// Every family of straight-line instructions, at the edges of all types, in baseline and in optimized code.
#[test]
fn instructions_at_the_edges() {
    for (n, family) in straight().into_iter().enumerate() {
        for round in 0..2 {
            let mut s = Source::seeded(1 + (2 * n + round) as u64);
            let mut instruction = instruction(family, &mut s);
            let slots = instruction.kind.layout();
            if slots.iter().any(|slot| slot.is_memory()) {
                // An address within the memory, whatever the instruction does.
                let word = Operand::Mem { base: r(0), index: r(0), offset: 5 };
                let mut at_word = Source::seeded(n as u64);
                let operands = [reg(1 + at_word.below(4) as u8), word];
                for operands in [&operands[..], &[word, operands[0]], &[word]] {
                    if let Ok(built) = Inst::build(family, operands) {
                        instruction = built;
                        break;
                    }
                }
            }
            let mut module = between([instruction]);
            module.texts = vec![String::new(); 4];
            let program = Program::new(module, true).unwrap();
            let tier_up = if round == 0 || n % 8 != 0 { u64::MAX } else { 0 };
            let ad_mode = AdMode::ALL[(n + round) % AdMode::ALL.len()];
            let (ieee, trap_overflow) = (s.once_in(2), s.once_in(4));
            let config = Config { warm_up: 0, tier_up, mem: Some(16), ieee, trap_overflow, ..Config::default() };
            let what = format!("{}, {round}, {ad_mode:?}, {config:?}", family.mnemonic());
            let mut pair = Pair::new(&program, config, what);
            for _ in 0..60 {
                let seed = s.word();
                pair.each(|m| {
                    let mut s = Source::seeded(seed);
                    (1..Reg::COUNT as u8).for_each(|n| m.set_register(r(n), s.pick(&EDGES)));
                    (0..16).for_each(|n| m.memory_mut()[n] = s.pick(&EDGES));
                    if s.once_in(2) {
                        // Rows that write want a free word.
                        m.set_register(r(1), 0);
                        m.memory_mut()[5] = 0;
                    }
                    m.set_input(vec![1, 2, 3], 1);
                    m.set_output(vec![1, 0]);
                    lanes(m, ad_mode, seed);
                    m.set_ad_mode(ad_mode);
                    m.begin(if s.once_in(2) { Direction::Forward } else { Direction::Backward });
                });
                pair.run_once(None);
            }
        }
    }
}

/// With any step limit, a run stops where the interpreter does: in baseline code, in optimized code, and in between.
#[test]
fn stopped_at_every_place() {
    for seed in 0..24 {
        let mut s = Source::seeded(500 + seed);
        let program = Program::new(RandomProgram::new(&mut s, 30).module().expect("sound operands"), true).unwrap();
        let ad_mode = AdMode::ALL[seed as usize % AdMode::ALL.len()];
        for limit in 1..40 {
            let tier_up = [u64::MAX, 1, 5, 0][limit as usize % 4];
            let config = Config { warm_up: 0, tier_up, mem: Some(64), ..Config::default() };
            let mut pair = Pair::new(&program, config, format!("{seed}, {ad_mode:?}, {config:?}, limit {limit}"));
            pair.each(|m| {
                lanes(m, ad_mode, seed);
                m.set_ad_mode(ad_mode);
            });
            for direction in [Direction::Forward, Direction::Backward] {
                pair.each(|m| m.begin(direction));
                pair.run(Some(limit));
            }
        }
    }
}

/// A listener that panics does so where the machine runs, on each engine.
#[test]
fn panics_of_listeners_arrive() {
    let body = [inst("inc", &[reg(1)]), inst("show", &[reg(1)]), inst("inc", &[reg(1)])];
    let program = program(between(body));
    let tiers = Engine::ALL.into_iter().flat_map(|engine| [(engine, 0), (engine, u64::MAX)]);
    for (engine, tier_up) in tiers {
        let config = Config { engine, warm_up: 0, tier_up, mem: Some(16), ..Config::default() };
        let mut machine = Machine::new(&program, &config).unwrap();
        machine.on_event(|e| panic!("shown: {e:?}"));
        let panic = catch_unwind(AssertUnwindSafe(|| machine.run(None))).unwrap_err();
        let message = panic.downcast_ref::<String>().expect("a message");
        assert!(message.starts_with("shown: "), "{engine:?}: {message}");
        // The machine can run again.
        machine.on_event(|_| {});
        machine.set_register(r(1), 0);
        machine.begin(Direction::Forward);
        assert_eq!(machine.run(None), Outcome::Finished, "{engine:?}");
        assert_eq!(machine.registers()[1], 2, "{engine:?}");
    }
}
