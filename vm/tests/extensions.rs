//! Extensions: random definitions, on every engine, in every AD mode, there and back; beside their steps written out; and what is left where
//! a step traps.

use crate::common;

use std::sync::Arc;

use common::lockstep::Pair;
use common::{State, between, inst, program, r, reg};
use pendula_isa::counts::Direction;
use pendula_isa::extension::{
    Defines, Definition, Extension, Form, Parameter, Temporary, operand_register, temporary_register,
};
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::mnemonic::families;
use pendula_isa::module::Module;
use pendula_isa::operand::{OPERANDS, Operand, Slot};
use pendula_isa::sample::{Source, extension, fill, instruction, number, share, word};
use pendula_isa::table::Flow;
use pendula_isa::types::{Profile, Reg, Ty};
use pendula_vm::{AdMode, Config, Engine, Machine, Outcome};

/// Words of the memory.
const MEMORY: u64 = 64;

/// A word for a register: mostly small numbers of some type, so that not everything traps.
fn state_word(s: &mut Source) -> u64 {
    match s.below(6) {
        0 => word(s),
        1 => s.below(MEMORY),
        2 => 0,
        3 => number(Ty::F, Default::default(), s),
        4 => (s.below(64) << 30).wrapping_sub(1 << 34),
        _ => number(Ty::Q, Default::default(), s),
    }
}

/// Sets registers, memory and lanes to random words.
fn randomize(m: &mut Machine<'_>, ad_mode: AdMode, seed: u64) {
    let mut s = Source::seeded(seed);
    for lane in std::iter::once(0).chain(ad_mode.lanes().iter().copied()) {
        for n in 1..Reg::COUNT as u8 - 1 {
            let w = state_word(&mut s);
            m.set_lane_register(lane, r(n), w);
        }
        for n in 0..MEMORY as usize {
            let w = state_word(&mut s);
            m.set_lane_word(lane, n, w);
        }
    }
}

/// A random extension with random operands.
fn sample(s: &mut Source) -> Option<Inst> {
    let kind = extension(s)?;
    let inst = fill(kind, s);
    inst.validate(Profile::Native).is_ok().then_some(inst)
}

fn straight() -> Vec<Kind> {
    let plain = |k: &Kind| k.flow() == Flow::Straight && k.belongs_to(Profile::Native) && !k.is_irreversible();
    families().filter(plain).collect()
}

#[test]
fn engines_agree() {
    let table = straight();
    let (mut ran, mut trapped) = (0, 0);
    for seed in 0..share(400) {
        let mut s = Source::seeded(seed);
        let code: Vec<Inst> = (0..1 + s.below(6))
            .filter_map(|_| if s.once_in(3) { Some(instruction(s.pick(&table), &mut s)) } else { sample(&mut s) })
            .collect();
        let program = program(Module { texts: vec!["text".into()], ..between(code.clone()) });
        let config = Config {
            warm_up: 0,
            tier_up: s.pick(&[0, 2, u64::MAX]),
            mem: Some(MEMORY),
            ieee: s.once_in(4),
            trap_overflow: s.once_in(4),
            ..Config::default()
        };
        for ad_mode in AdMode::ALL {
            for (engine, turn) in [(Engine::Jit, 0), (Engine::Jit, 1), (Engine::Native, 2)] {
                let what = format!("seed {seed}, {ad_mode:?}, {engine:?}, {code:?}");
                let mut pair = Pair::with(engine, &program, config, what);
                pair.each(|m| randomize(m, ad_mode, seed * 3 + turn));
                if pair.run_forward_and_back(3, ad_mode) {
                    ran += 1;
                } else {
                    trapped += 1;
                }
            }
        }
    }
    assert!(ran > share(500) && trapped > share(500), "{ran} ran, {trapped} trapped");
}

/// What a machine holds: registers and memory, of the value's lane and the others.
fn words(m: &Machine<'_>, ad_mode: AdMode) -> Vec<u64> {
    let lanes = std::iter::once(0).chain(ad_mode.lanes().iter().copied());
    lanes
        .flat_map(|lane| {
            let registers = (0..Reg::COUNT as u8).map(move |n| m.lane_register(lane, r(n)));
            registers.chain((0..MEMORY as usize).map(move |n| m.lane_word(lane, n)))
        })
        .collect()
}

#[test]
fn a_trap_leaves_everything_as_it_was() {
    let mut inside = 0;
    for seed in 0..share(3000) {
        let mut s = Source::seeded(seed);
        let Some(one) = sample(&mut s) else { continue };
        let program = program(between([one]));
        for ad_mode in [AdMode::Plain, s.pick(&AdMode::ALL)] {
            for engine in [Engine::Interpreter, Engine::Jit] {
                let config = Config { mem: Some(MEMORY), warm_up: 0, tier_up: 0, engine, ..Config::default() };
                let mut m = Machine::new(&program, &config).unwrap();
                m.set_ad_mode(ad_mode);
                randomize(&mut m, ad_mode, seed);
                for direction in [Direction::Forward, Direction::Backward] {
                    m.begin(direction);
                    let before = words(&m, ad_mode);
                    let Outcome::Trap(trap) = m.run(None) else { continue };
                    assert_eq!(words(&m, ad_mode), before, "seed {seed}, {ad_mode:?}, {engine:?}, {one:?}");
                    if let Some(step) = trap.step {
                        let steps = one.steps(direction == Direction::Backward);
                        assert_eq!(steps[step.number], step.step);
                        inside += usize::from(step.number > 0);
                    }
                }
            }
        }
    }
    assert!(inside > share(300), "{inside} traps in the middle");
}

/// The steps of an extension on registers of a program: temporaries are those from `r16` on. `None` if one is of memory or a constant.
fn written_out(one: &Inst) -> Option<Vec<Inst>> {
    let layout = one.kind.layout();
    let mut places: [Option<Reg>; 32] = [None; 32];
    for (n, slot) in layout.into_iter().enumerate() {
        match slot {
            Slot::Reg(f) | Slot::Target(f) => {
                let local = one.local_of(&layout, n).local_number()?;
                places[usize::from(local)] = Some(one.regs[usize::from(f)]);
            }
            Slot::None => {}
            _ => return None,
        }
    }
    for (n, place) in places.iter_mut().enumerate().take(OPERANDS + 16).skip(OPERANDS) {
        *place = Reg::new((16 + n - OPERANDS) as u8);
    }
    let mut steps = one.steps(false);
    for register in steps.iter_mut().flat_map(|step| &mut step.regs) {
        if let Some(local) = register.local_number() {
            *register = places[usize::from(local)]?;
        }
    }
    // Whoever writes steps out may not use `r0` or a register twice where a step writes it.
    steps.iter().all(|step| step.validate(Profile::Native).is_ok()).then_some(steps)
}

#[test]
fn extensions_do_what_their_steps_do() {
    let mut compared = 0;
    for seed in 0..share(3000) {
        let mut s = Source::seeded(seed);
        let Some(mut one) = sample(&mut s) else { continue };
        // Registers below those of temporaries.
        one.regs = one.regs.map(|register| r(register.number() % 15));
        if one.validate(Profile::Native).is_err() {
            continue;
        }
        let Some(steps) = written_out(&one) else { continue };
        let (whole, apart) = (program(between([one])), program(between(steps)));
        for ad_mode in AdMode::ALL {
            let outcomes = [&whole, &apart].map(|program| {
                let config = Config { mem: Some(MEMORY), engine: Engine::Interpreter, ..Config::default() };
                let mut m = Machine::new(program, &config).unwrap();
                m.set_ad_mode(ad_mode);
                randomize(&mut m, ad_mode, seed);
                for lane in std::iter::once(0).chain(ad_mode.lanes().iter().copied()) {
                    (16..31).for_each(|n| m.set_lane_register(lane, r(n), 0));
                }
                m.begin(Direction::Forward);
                let finished = m.run(None) == Outcome::Finished;
                // What a function's temporaries carry is forgotten.
                let lanes = std::iter::once(0).chain(ad_mode.lanes().iter().copied());
                let kept: Vec<u64> = lanes
                    .flat_map(|lane| (0..16).map(move |n| (lane, n)))
                    .map(|(l, n)| m.lane_register(l, r(n)))
                    .collect();
                (finished, finished.then(|| (kept, State::of(&m).mem, m.flags().rests)))
            });
            assert_eq!(outcomes[0], outcomes[1], "seed {seed}, {ad_mode:?}, {one:?}");
            compared += usize::from(outcomes[0].0);
        }
    }
    assert!(compared > share(1000), "{compared}");
}

#[test]
fn what_steps_destroy_is_counted_at_the_extension() {
    // t += a, and t is then cleared, whatever it is.
    let (a, t) = (operand_register(0), temporary_register(0));
    let steps = vec![
        inst("add.f", &[Operand::Reg(t), Operand::Reg(a)]),
        inst("zero.f", &[Operand::Reg(t), Operand::Imm(100f64.to_bits(), Ty::F)]),
        inst("add.f", &[Operand::Reg(t), Operand::Reg(a)]),
        inst("assert.gt.f", &[Operand::Reg(a), Operand::Imm(1f64.to_bits(), Ty::F)]),
        inst("zero.f", &[Operand::Reg(t), Operand::Imm(100f64.to_bits(), Ty::F)]),
    ];
    let definition = Definition {
        name: "destroys".to_string(),
        defines: Defines::Instruction { partner: None },
        docs: Vec::new(),
        parameters: vec![Parameter { name: "a".to_string(), ty: Ty::F, written: true }],
        temporaries: vec![Temporary { name: "t".to_string(), ty: Ty::F }],
        steps,
    };
    let extension = Extension::new(&Arc::new(definition), Form::Instruction { constant: None }).unwrap();
    let kind = Kind::Extension { extension, inverse: false };
    let program = program(between([Inst::build(kind, &[reg(1)]).unwrap()]));
    for engine in [Engine::Interpreter, Engine::Jit] {
        for (word, lost) in [(2.0, 128), (0.5, 0)] {
            let config = Config { mem: Some(MEMORY), warm_up: 0, engine, ..Config::default() };
            let mut m = Machine::new(&program, &config).unwrap();
            m.set_register(r(1), f64::to_bits(word));
            m.begin(Direction::Forward);
            assert_eq!(m.run(None) == Outcome::Finished, lost > 0);
            assert_eq!(m.counts().lost_bits(), lost, "{word}");
            assert_eq!(m.flags().inexact, (lost > 0).then_some(1), "{word}");
        }
    }
}
