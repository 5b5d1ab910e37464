//! Counting: runs by blocks and by single steps count the same, wherever a run is stopped and continued, forward and backward, with and
//! without a trap.

use crate::common;

use common::{machine, r};
use pendula_isa::adjoint::LANES;
use pendula_isa::counts::{Counts, Direction};
use pendula_isa::inst::Inst;
use pendula_isa::module::Module;
use pendula_isa::sample::{RandomProgram, Source, fill, share, word};
use pendula_isa::table::Flow;
use pendula_vm::{Config, Machine, Outcome, Program, StepOutcome};

/// Words of memory: the data of a random program, and a stack.
const MEMORY: u64 = 160;

/// Executions of each instruction, forward and backward.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tally([Vec<u64>; 2]);

impl Tally {
    fn none(len: usize) -> Tally {
        Tally([vec![0; len], vec![0; len]])
    }

    fn of(counts: &Counts, len: usize) -> Tally {
        let mut tally = Tally::none(len);
        for mode in &counts.modes {
            let back = usize::from(mode.mode.direction == Direction::Backward);
            for (sum, n) in tally.0[back].iter_mut().zip(counts.per_instruction(mode, len)) {
                *sum += n;
            }
            let all = counts.per_instruction(mode, len).iter().sum::<u64>();
            assert_eq!(all, counts.instructions_in(mode));
        }
        tally
    }

    fn add(&mut self, direction: Direction, at: u32) {
        self.0[usize::from(direction == Direction::Backward)][at as usize] += 1;
    }

    fn total(&self) -> u64 {
        self.0.iter().flatten().sum()
    }
}

/// A run by single steps: the executed addresses, and the state's digest before each step and at the end.
struct Trace {
    steps: Vec<(Direction, u32)>,
    digests: Vec<u128>,
    outcome: Outcome,
}

fn trace(m: &mut Machine, most: usize) -> Trace {
    let mut out = Trace { steps: Vec::new(), digests: vec![m.digest()], outcome: Outcome::Limit };
    while out.steps.len() < most {
        let (direction, pc) = (m.direction(), m.pc());
        match m.step() {
            StepOutcome::Executed(at) => {
                assert_eq!(pc, Some(at));
                out.steps.push((direction, at));
                out.digests.push(m.digest());
            }
            StepOutcome::Finished => {
                assert_eq!(m.pc(), None);
                out.outcome = Outcome::Finished;
                break;
            }
            StepOutcome::Trap(trap) => {
                assert_eq!((m.pc(), m.direction()), (Some(trap.at), trap.direction));
                out.outcome = Outcome::Trap(trap);
                break;
            }
        }
    }
    out
}

/// The first `n` steps as a tally.
fn tally(steps: &[(Direction, u32)], len: usize) -> Tally {
    let mut out = Tally::none(len);
    for &(direction, at) in steps {
        out.add(direction, at);
    }
    out
}

/// A machine about to run from one end, in a state set up by `prepare`.
fn ready<'p>(program: &'p Program, direction: Direction, prepare: &dyn Fn(&mut Machine)) -> Machine<'p> {
    let mut m = machine(program, MEMORY);
    prepare(&mut m);
    m.begin(direction);
    m
}

/// Compares blocks with steps: uninterrupted, and stopped at each of `stops`.
fn compare(
    program: &Program,
    direction: Direction,
    prepare: &dyn Fn(&mut Machine),
    most: usize,
    every: usize,
) -> Outcome {
    let len = program.module().code.len();
    let mut single = ready(program, direction, prepare);
    let trace = trace(&mut single, most);
    let n = trace.steps.len();
    let whole = tally(&trace.steps, len);
    assert_eq!(Tally::of(&single.counts(), len), whole, "single steps");
    assert_eq!((single.counts().instructions(), single.executed()), (n as u64, n as u64));

    let limit = Some(most as u64);
    let mut blocks = ready(program, direction, prepare);
    assert_eq!(blocks.run(limit), trace.outcome);
    assert_eq!(Tally::of(&blocks.counts(), len), whole, "blocks");
    assert_eq!((blocks.digest(), blocks.executed()), (trace.digests[n], n as u64));
    assert_eq!((blocks.pc(), blocks.direction(), blocks.flags()), (single.pc(), single.direction(), single.flags()));

    // Without counting the run is the same.
    let mut quiet = Machine::new(program, &Config { mem: Some(MEMORY), count: false, ..Config::default() }).unwrap();
    prepare(&mut quiet);
    quiet.begin(direction);
    assert_eq!(quiet.run(limit), trace.outcome);
    assert_eq!((quiet.digest(), quiet.executed()), (trace.digests[n], n as u64));
    assert_eq!(quiet.counts().instructions(), 0);

    for stop in (0..=n).step_by(every) {
        let mut m = ready(program, direction, prepare);
        let first = m.run(Some(stop as u64));
        // At the end, the machine may have noticed the end already.
        let ended = stop == n && first == trace.outcome;
        assert!(first == Outcome::Limit || ended, "stopped at {stop} of {n}: {first:?}");
        assert_eq!(m.executed(), stop as u64);
        assert_eq!(Tally::of(&m.counts(), len), tally(&trace.steps[..stop], len), "stopped at {stop} of {n}");
        assert_eq!(m.digest(), trace.digests[stop], "stopped at {stop} of {n}");
        if let Some((direction, at)) = trace.steps.get(stop) {
            assert_eq!((m.pc(), m.direction()), (Some(*at), *direction), "stopped at {stop} of {n}");
        }
        // Continued by blocks, by steps, or in pieces.
        let outcome = match stop % 3 {
            0 => m.run(Some((most - stop) as u64)),
            1 => self::trace(&mut m, most - stop).outcome,
            _ => loop {
                let piece = (1 + m.executed() % 9).min(most as u64 - m.executed());
                let outcome = m.run(Some(piece));
                if outcome != Outcome::Limit || m.executed() == most as u64 {
                    break outcome;
                }
            },
        };
        assert_eq!(outcome, trace.outcome, "continued at {stop} of {n}");
        assert_eq!(Tally::of(&m.counts(), len), whole, "continued at {stop} of {n}");
        assert_eq!((m.digest(), m.executed()), (trace.digests[n], n as u64), "continued at {stop} of {n}");
    }
    trace.outcome
}

fn random_module(seed: u64, size: usize) -> Module {
    let program = RandomProgram::new(&mut Source::seeded(seed), size);
    program.module().unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", program.text()))
}

fn load(module: Module) -> Program {
    Program::new(module, true).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn stopped_at_every_place_and_continued() {
    let (mut programs, mut executed, mut stops) = (0, 0, 0);
    for seed in 0..share(400) {
        let program = load(random_module(seed, 4 + seed as usize % 40));
        let mut ended = machine(&program, MEMORY);
        if ended.run(Some(1_200)) != Outcome::Finished {
            continue;
        }
        let n = ended.executed() as usize;
        let end = (*ended.registers(), ended.memory().to_vec(), ended.output().to_vec());
        assert_eq!(compare(&program, Direction::Forward, &|_| {}, n + 10, 1), Outcome::Finished);
        let from_the_end = |m: &mut Machine| {
            for k in 1..32 {
                m.set_register(r(k), end.0[k as usize]);
            }
            m.memory_mut().copy_from_slice(&end.1);
            m.set_output(end.2.clone());
            // What `gswap` has left beside the values.
            for lane in (1..LANES).filter(|lane| !ended.is_lane_clear(*lane)) {
                for k in 1..32 {
                    m.set_lane_register(lane, r(k), ended.lane_register(lane, r(k)));
                }
                for at in 0..end.1.len() {
                    m.set_lane_word(lane, at, ended.lane_word(lane, at));
                }
            }
        };
        assert_eq!(compare(&program, Direction::Backward, &from_the_end, n + 10, 1), Outcome::Finished);
        programs += 1;
        executed += 2 * n;
        stops += 2 * (n + 1);
    }
    println!("{programs} programs, {executed} instructions, {stops} stops");
    assert!(programs >= share(250) && stops > share(50_000), "{programs} {stops}");
}

#[test]
fn long_programs_stopped_here_and_there() {
    let mut executed = 0;
    for seed in 1000..1060 {
        let program = load(random_module(seed, 300));
        let mut m = machine(&program, MEMORY);
        // Record the gradient words that `zero` drops: without them the run back may take another path.
        m.keep_dropped();
        assert_eq!(m.run(Some(500_000)), Outcome::Finished, "seed {seed}");
        let n = m.executed() as usize;
        compare(&program, Direction::Forward, &|_| {}, n + 1, n / 7 + 1);
        executed += n;
        // Forward and back on one machine: it keeps the counts of both directions.
        m.reverse_dropped();
        m.begin(Direction::Backward);
        assert_eq!(m.run(None), Outcome::Finished, "seed {seed}");
        let tally = Tally::of(&m.counts(), program.module().code.len());
        assert_eq!(tally.total(), 2 * n as u64, "seed {seed}");
        assert_eq!(tally.0[0], tally.0[1], "what ran forward runs backward, seed {seed}");
    }
    println!("{executed} instructions");
}

/// A program with a random change: it may trap, loop forever, or end normally.
fn damaged(seed: u64, s: &mut Source) -> Program {
    let module = random_module(seed, 10 + seed as usize % 30);
    loop {
        let mut module = module.clone();
        for _ in 0..=s.below(3) {
            let at = s.below(module.code.len() as u64) as usize;
            let old = module.code[at];
            module.code[at] = match (old.kind.flow(), s.below(3)) {
                (Flow::Straight, 0) => old.inverse(),
                (Flow::Straight, 1) if old.kind.layout().iter().all(|slot| !slot.is_memory()) => {
                    let mut new = fill(old.kind, s);
                    new.imm = if s.once_in(2) && new.imm != 0 { old.imm } else { new.imm };
                    if old.kind.layout().contains(&pendula_isa::operand::Slot::Text) { old } else { new }
                }
                (Flow::Straight, _) => Inst { regs: replace(old, s), ..old },
                (Flow::Jump | Flow::CallRegister, _) => Inst {
                    regs: replace(old, s),
                    small: if old.small == 0 { 0 } else { s.between(-3, 9) as i16 },
                    ..old
                },
                (Flow::Call | Flow::GradientCall, _) => old.inverse(),
                (Flow::Procedure | Flow::Run | Flow::Branch(_) | Flow::Cell, _) => old,
            };
        }
        if let Ok(program) = Program::new(module, true) {
            return program;
        }
    }
}

/// Replaces one of the instruction's registers.
fn replace(old: Inst, s: &mut Source) -> [pendula_isa::Reg; pendula_isa::operand::OPERANDS] {
    let mut regs = old.regs;
    let used: Vec<u8> = old.kind.layout().iter().flat_map(|slot| slot.register_fields()).collect();
    if !used.is_empty() {
        regs[s.pick(&used) as usize] = s.reg();
    }
    regs
}

#[test]
fn traps_leave_exact_counts_and_the_state_before() {
    let mut s = Source::seeded(11);
    let (mut traps, mut limits, mut faults) = (0, 0, std::collections::BTreeMap::new());
    for seed in 0..1_500 {
        let program = damaged(seed, &mut s);
        let words: Vec<u64> = (0..32).map(|_| word(&mut s)).collect();
        let scrambled = s.once_in(3);
        let prepare = |m: &mut Machine| {
            if scrambled {
                // Only what the program sets itself.
                for k in 1..12 {
                    m.set_register(r(k), words[k as usize]);
                }
            }
        };
        for direction in [Direction::Forward, Direction::Backward] {
            match compare(&program, direction, &prepare, 2_000, 97) {
                Outcome::Finished => {}
                Outcome::Limit => limits += 1,
                Outcome::Trap(trap) => {
                    traps += 1;
                    *faults.entry(trap.fault.code()).or_insert(0) += 1;
                }
            }
        }
    }
    println!("{traps} traps, {limits} limits: {faults:?}");
    assert!(traps > 800 && faults.len() >= 8, "{traps} {limits} {faults:?}");
}

/// A trapped run, continued, traps again and counts nothing.
#[test]
fn a_trap_is_not_passed_by_going_on() {
    let mut s = Source::seeded(12);
    let mut traps = 0;
    for seed in 0..1_000 {
        let program = damaged(seed, &mut s);
        for by_steps in [false, true] {
            for direction in [Direction::Forward, Direction::Backward] {
                let mut m = machine(&program, MEMORY);
                m.begin(direction);
                let outcome = if by_steps { trace(&mut m, 2_000).outcome } else { m.run(Some(2_000)) };
                if !matches!(outcome, Outcome::Trap(_)) {
                    continue;
                }
                let (digest, counts) = (m.digest(), m.counts());
                assert_eq!(m.run(Some(5)), outcome, "seed {seed}");
                assert_eq!(trace(&mut m, 5).outcome, outcome, "seed {seed}");
                assert_eq!(m.run(None), outcome, "seed {seed}");
                assert_eq!((m.digest(), m.counts()), (digest, counts), "seed {seed}");
                traps += 1;
            }
        }
    }
    assert!(traps > 800, "{traps}");
}

#[test]
fn gate_classes_add_up() {
    let program = load(random_module(5, 100));
    let code = &program.module().code;
    let mut m = machine(&program, MEMORY);
    assert_eq!(m.run(None), Outcome::Finished);
    let counts = m.counts();
    assert!(!counts.modes.is_empty());
    for mode in &counts.modes {
        let per = counts.per_instruction(mode, code.len());
        let expected: u64 = code.iter().zip(&per).map(|(inst, n)| inst.classes().count() as u64 * n).sum();
        assert_eq!(counts.classes(mode, code).iter().map(|(_, n)| n).sum::<u64>(), expected);
    }
}
