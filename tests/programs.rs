//! Random reversible programs, from text to their last state and back: what
//! the assembler, objects, the disassembler, the formatter, the inverter and
//! the machine say of the same program must agree.

use std::cmp::Reverse;
use std::ops::Range;

use pendula::asm::assemble::{Options, assemble};
use pendula::asm::{disasm, fmt, invert, object};
use pendula::isa::adjoint::LANES;
use pendula::isa::counts::{Counts, Direction, Mode};
use pendula::isa::sample::{RandomProgram, Source, share, some, word};
use pendula::isa::table::Row;
use pendula::isa::types::Reg;
use pendula::isa::{Kind, Module};
use pendula::vm::{Config, Machine, Outcome, Program, StepOutcome};

/// Programs in each test.
const SEEDS: Range<u64> = 0..1_200;
/// Words of memory: the data of a random program, and a stack.
const MEMORY: u64 = 256;
/// Instructions that no random program executes.
const LIMIT: u64 = 2_000_000;

fn draft(seed: u64) -> RandomProgram {
    let size = [3, 12, 40, 120, 300][seed as usize % 5];
    RandomProgram::new(&mut Source::seeded(seed), size)
}

/// Assembles what must assemble, without a word.
fn module(text: &str) -> Module {
    let assembly = assemble("random.rasm", text.to_string(), &Options::default());
    assert!(assembly.diagnostics.is_empty(), "{:#?}\n{text}", assembly.diagnostics);
    assembly.module.expect("a module where there is no diagnostic")
}

fn load(module: &Module) -> Program {
    Program::new(module.clone(), true).unwrap_or_else(|e| panic!("{e}"))
}

fn machine(program: &Program) -> Machine<'_> {
    Machine::new(program, &Config { mem: Some(MEMORY), ..Config::default() }).expect("a small memory")
}

/// The module without what differs when the same program is written in another way.
fn bare(module: &Module) -> Module {
    Module { locs: Vec::new(), files: Vec::new(), symbols: Vec::new(), ..module.clone() }
}

/// The module with texts and spans in the order that an assembler gives them, by code addresses. The inverter leaves
/// them in the program's.
fn in_order(module: &Module) -> Module {
    let mut out = bare(module);
    out.spans.sort_by_key(|span| (span.start, Reverse(span.end)));
    out.texts.clear();
    for inst in &mut out.code {
        if let Kind::Row { row: Row::Print, .. } = inst.kind {
            let text = &module.texts[inst.imm as usize];
            let known = out.texts.iter().position(|t| t == text);
            inst.imm = known.unwrap_or(out.texts.len()) as i64;
            if known.is_none() {
                out.texts.push(text.clone());
            }
        }
    }
    out
}

fn object_of(module: &Module) -> Vec<u8> {
    object::write(module).unwrap_or_else(|e| panic!("{e}"))
}

fn per_instruction(counts: &Counts, len: usize) -> Vec<(Mode, Vec<u64>)> {
    counts.modes.iter().map(|mode| (mode.mode, counts.per_instruction(mode, len))).collect()
}

/// Gives one machine what another carries beside the values of registers and memory.
fn carry_over(from: &Machine, to: &mut Machine) {
    for lane in (1..LANES).filter(|lane| !from.is_lane_clear(*lane)) {
        for reg in (1..Reg::COUNT as u8).filter_map(Reg::new) {
            to.set_lane_register(lane, reg, from.lane_register(lane, reg));
        }
        for at in 0..from.memory().len() {
            to.set_lane_word(lane, at, from.lane_word(lane, at));
        }
    }
}

/// By single steps, as [`Machine::run`].
fn step(m: &mut Machine, limit: u64) -> Outcome {
    for _ in 0..limit {
        match m.step() {
            StepOutcome::Executed(_) => {}
            StepOutcome::Finished => return Outcome::Finished,
            StepOutcome::Trap(trap) => return Outcome::Trap(trap),
        }
    }
    Outcome::Limit
}

#[test]
fn the_assembler_makes_what_was_drafted() {
    for seed in some(SEEDS) {
        let draft = draft(seed);
        let text = draft.text();
        let drafted = draft.module().unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let assembled = module(&text);
        for (at, (a, b)) in assembled.code.iter().zip(&drafted.code).enumerate() {
            assert_eq!(a, b, "seed {seed}, instruction {at}\n{text}");
        }
        assert_eq!(bare(&assembled), drafted, "seed {seed}\n{text}");
        assert_eq!(assembled.locs.len(), assembled.code.len());
    }
}

#[test]
fn objects_and_disassembly_are_stable() {
    for seed in some(SEEDS) {
        let first = module(&draft(seed).text());
        let bytes = object_of(&first);
        let read = object::read(&bytes).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_eq!(read, first, "seed {seed}");
        assert_eq!(object_of(&read), bytes, "seed {seed}");

        let text = disasm::disassemble(&read);
        let again = module(&text);
        assert_eq!(bare(&again), bare(&first), "seed {seed}\n{text}");
        assert_eq!(object_of(&bare(&again)), object_of(&bare(&first)), "seed {seed}\n{text}");
        assert_eq!(disasm::disassemble(&again), text, "seed {seed}");
        for symbol in &first.symbols {
            assert!(again.symbols.contains(symbol), "seed {seed}: {symbol:?}");
        }

        // Without names, labels are made up.
        let nameless = disasm::disassemble(&bare(&first));
        assert_eq!(bare(&module(&nameless)), bare(&first), "seed {seed}\n{nameless}");
    }
}

#[test]
fn the_formatter_changes_the_layout_only() {
    for seed in some(SEEDS) {
        let text = draft(seed).text();
        let formatted = fmt::format_source("random.rasm", &text).unwrap_or_else(|e| panic!("seed {seed}: {e:#?}"));
        let (before, after) = (module(&text), module(&formatted));
        assert_eq!(bare(&after), bare(&before), "seed {seed}\n{formatted}");
        assert_eq!(after.symbols, before.symbols, "seed {seed}");
        assert_eq!(fmt::format_source("random.rasm", &formatted).as_ref(), Ok(&formatted), "seed {seed}");
        // The disassembler writes in the formatter's layout.
        let text = disasm::disassemble(&before);
        assert_eq!(fmt::format_source("random.rasm", &text).as_ref(), Ok(&text), "seed {seed}");
    }
}

#[test]
fn programs_run_back_to_where_they_began() {
    let (mut executed, mut trapped) = (0, 0);
    let (mut lifted, mut twice, mut kept) = (0, 0, 0);
    for seed in some(SEEDS) {
        let module = module(&draft(seed).text());
        let program = load(&module);
        let mut blocks = machine(&program);
        let mut steps = machine(&program);
        let start = blocks.digest();
        for direction in [Direction::Forward, Direction::Backward] {
            for m in [&mut blocks, &mut steps] {
                m.begin(direction);
                // Gradient words that `zero` drops come back with the run.
                match direction {
                    Direction::Forward => m.keep_dropped(),
                    Direction::Backward => m.reverse_dropped(),
                }
            }
            let outcome = blocks.run(Some(LIMIT));
            assert_eq!(step(&mut steps, LIMIT), outcome, "seed {seed}");
            assert_eq!(steps.digest(), blocks.digest(), "seed {seed}");
            assert_eq!(steps.executed(), blocks.executed(), "seed {seed}");
            let len = module.code.len();
            assert_eq!(per_instruction(&steps.counts(), len), per_instruction(&blocks.counts(), len), "seed {seed}");
            match outcome {
                Outcome::Finished => {}
                Outcome::Trap(trap) if direction == Direction::Forward => {
                    // Not a mistake of the program's: up to there it ran.
                    let n = blocks.executed();
                    let mut again = machine(&program);
                    assert_eq!(again.run(Some(n)), Outcome::Limit, "seed {seed}");
                    assert_eq!((again.digest(), again.pc()), (blocks.digest(), Some(trap.at)), "seed {seed}");
                    trapped += 1;
                    break;
                }
                other => panic!("seed {seed}: {other:?}"),
            }
            if direction == Direction::Backward {
                assert_eq!(blocks.digest(), start, "seed {seed}");
                assert_eq!(blocks.dropped_words(), 0, "seed {seed}");
            } else {
                let level = blocks.counts().modes.iter().map(|m| m.mode.level).max();
                lifted += usize::from(level >= Some(1));
                twice += usize::from(level == Some(2));
                kept += usize::from(blocks.dropped_words() > 0);
            }
        }
        executed += blocks.executed();
    }
    println!(
        "{executed} instructions, {trapped} programs trapped, {lifted} reached level 1, {twice} level 2, {kept} kept gradient words"
    );
    assert!(trapped < share(SEEDS.end) / 25, "{trapped} programs trapped");
    assert!(lifted > share(100) && twice >= share(20) && kept >= share(5), "{lifted} {twice} {kept}");
}

#[test]
fn the_inverse_program_runs_back() {
    let mut finished = 0;
    for seed in some(SEEDS) {
        let module = module(&draft(seed).text());
        let inverse = invert::invert(&module).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let twice = invert::invert(&inverse).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_eq!(twice, module, "seed {seed}");

        let (program, inverted) = (load(&module), load(&inverse));
        let mut m = machine(&program);
        let start = m.digest();
        m.keep_dropped();
        // What `zero` drops, another machine has not kept.
        if m.run(Some(LIMIT)) != Outcome::Finished || m.dropped_words() > 0 {
            continue;
        }
        let mut back = machine(&inverted);
        for n in 1..Reg::COUNT as u8 {
            back.set_register(Reg::new(n).unwrap(), m.registers()[n as usize]);
        }
        back.memory_mut().copy_from_slice(m.memory());
        back.set_output(m.output().to_vec());
        carry_over(&m, &mut back);
        assert_eq!(back.digest(), m.digest());
        assert_eq!(back.run(Some(LIMIT)), Outcome::Finished, "seed {seed}");
        assert_eq!(back.digest(), start, "seed {seed}");
        assert_eq!(back.executed(), m.executed(), "seed {seed}");
        // The inverse, backward, is the program.
        back.begin(Direction::Backward);
        assert_eq!(back.run(Some(LIMIT)), Outcome::Finished, "seed {seed}");
        assert_eq!(back.digest(), m.digest(), "seed {seed}");
        finished += 1;

        // It is a program like any other.
        let again = self::module(&disasm::disassemble(&inverse));
        assert_eq!(in_order(&again), in_order(&inverse), "seed {seed}");
        assert_eq!(object::read(&object_of(&inverse)).as_ref(), Ok(&inverse), "seed {seed}");
    }
    assert!(finished > share(1_000), "{finished}");
}

/// From states that a program does not expect, it traps; in the same way by blocks and by steps, and again when it goes on.
#[test]
fn unexpected_states_trap_the_same_way_everywhere() {
    let mut trapped = 0;
    for seed in some(SEEDS) {
        let module = module(&draft(seed).text());
        let program = load(&module);
        let mut s = Source::seeded(seed);
        for direction in [Direction::Forward, Direction::Backward] {
            let mut runs = [machine(&program), machine(&program)];
            let words: Vec<u64> = (0..Reg::COUNT).map(|_| word(&mut s)).collect();
            let few = 1 + s.below(12) as usize;
            for m in &mut runs {
                for (n, w) in words.iter().enumerate().skip(1).step_by(few).filter(|(n, _)| *n < 31) {
                    m.set_register(Reg::new(n as u8).unwrap(), *w);
                }
                m.begin(direction);
            }
            let [blocks, steps] = &mut runs;
            let outcome = blocks.run(Some(20_000));
            assert_eq!(step(steps, 20_000), outcome, "seed {seed}");
            assert_eq!((steps.digest(), steps.executed()), (blocks.digest(), blocks.executed()), "seed {seed}");
            let len = module.code.len();
            assert_eq!(per_instruction(&steps.counts(), len), per_instruction(&blocks.counts(), len), "seed {seed}");
            if matches!(outcome, Outcome::Trap(_)) {
                assert_eq!(blocks.run(None), outcome, "seed {seed}");
                trapped += 1;
            }
        }
    }
    assert!(trapped > share(500), "{trapped}");
}
