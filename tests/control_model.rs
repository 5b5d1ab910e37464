//! The model of control that `pendula prove` reasons about, beside the machine: at each instruction that directs control, in runs of the examples
//! and of random programs in both directions, it goes where the machine goes, and traps where that traps.

use std::path::Path;

use pendula::asm::assemble::{Options, assemble};
use pendula::isa::Env;
use pendula::isa::counts::Direction;
use pendula::isa::inst::{Inst, Kind};
use pendula::isa::module::Module;
use pendula::isa::num::{compare, convert};
use pendula::isa::operand::Slot;
use pendula::isa::sample::{RandomProgram, Source, word};
use pendula::isa::scalar::ScalarDomain;
use pendula::isa::table::{Flow, Row};
use pendula::isa::types::{Cond, Profile, Reg, Ty};
use pendula::vm::{Config, Engine, Machine, Program, StepOutcome};
use pendula_prove::control::{Call, Links, Pair, State, step};

/// How many steps of a run are looked at.
const STEPS: usize = 30_000;

/// An address where nothing is.
const NOWHERE: u64 = 1 << 40;

#[derive(Clone, Debug, PartialEq)]
struct Words(Vec<u64>);

impl Links<ScalarDomain> for Words {
    fn load(&self, _: &mut ScalarDomain, at: u64) -> u64 {
        self.0.get(at as usize).copied().unwrap_or(0)
    }
    fn store(&mut self, _: &mut ScalarDomain, at: u64, word: u64) {
        if let Some(to) = self.0.get_mut(at as usize) {
            *to = word;
        }
    }
}

/// Whether a half of a jump has its condition met, and whether its words can be compared.
fn holds(machine: &Machine<'_>, inst: &Inst) -> [u64; 2] {
    let Kind::Row { ty, cond, .. } = inst.kind else { unreachable!("a row") };
    if cond == Cond::Always {
        return [1, 1];
    }
    let word = |slot| match slot {
        Slot::Reg(f) => machine.registers()[inst.regs[usize::from(f)].index()],
        _ => small(machine.env(), ty, inst.small),
    };
    let layout = inst.kind.layout();
    match compare(machine.env(), cond, ty, word(layout[0]), word(layout[1])) {
        Ok(holds) => [holds.into(), 1],
        Err(_) => [0, 0],
    }
}

/// A small whole number as a word of a type.
fn small(env: Env, ty: Ty, n: i16) -> u64 {
    let k = i64::from(n).cast_unsigned();
    match ty {
        Ty::Int => k,
        Ty::Q => convert::int_to_q(env, k).expect("in range"),
        Ty::L => convert::int_to_l(env, k).expect("in range"),
        Ty::F => convert::int_to_f(env, k).expect("in range"),
    }
}

fn call(machine: &Machine<'_>, at: u64, inst: &Inst) -> Call<u64> {
    let Kind::Row { row, inverse, .. } = inst.kind else { unreachable!("a row") };
    let register = if row == Row::Callr { machine.registers()[inst.regs[0].index()] } else { 0 };
    let (lift, by_register) = (u64::from(row == Row::Gcall), u64::from(row == Row::Callr));
    Call { at, flip: inverse.into(), lift, by_register, register }
}

/// The instructions that an instruction directs control with.
fn pair(machine: &Machine<'_>, module: &Module, at: u64) -> Pair<u64> {
    let code = &module.code;
    let inst = &code[at as usize];
    let offset = at.wrapping_add_signed(inst.imm);
    let none = Call { at: NOWHERE, flip: 0, lift: 0, by_register: 0, register: 0 };
    match (inst.kind.flow(), inst.kind) {
        (Flow::Jump, Kind::Row { inverse, .. }) => {
            let [jump, from] = if inverse { [offset, at] } else { [at, offset] };
            let both = [jump, from].map(|at| holds(machine, &code[at as usize]));
            Pair::Jump { at: [jump, from], holds: both.map(|b| b[0]), comparable: both.map(|b| b[1]) }
        }
        (Flow::Procedure, Kind::Row { inverse, .. }) => {
            let bounds = if inverse { [offset, at] } else { [at, offset] };
            // The link says to which call it may return.
            let sp = machine.registers()[Reg::SP.index()];
            let link = machine.memory().get(sp.wrapping_sub(1) as usize).copied().unwrap_or(0);
            let site = link.wrapping_sub(1);
            let calls = |inst: &&Inst| matches!(inst.kind.flow(), Flow::Call | Flow::GradientCall | Flow::CallRegister);
            let found = code.get(site as usize).filter(calls);
            let of_it = |inst: &&Inst| {
                inst.kind.flow() == Flow::CallRegister || site.wrapping_add_signed(inst.imm) == bounds[0]
            };
            let first = found.filter(of_it).map_or(none, |inst| call(machine, site, inst));
            Pair::Procedure { bounds, calls: [first, none] }
        }
        _ => {
            let own = call(machine, at, inst);
            let first = if own.by_register == 1 { own.register } else { offset };
            let is_procedure = code
                .get(first as usize)
                .is_some_and(|inst| matches!(inst.kind, Kind::Row { row: Row::Proc, inverse: false, .. }));
            let bounds = match is_procedure {
                true => [first, first.wrapping_add_signed(code[first as usize].imm)],
                false => [NOWHERE + 2, NOWHERE + 4],
            };
            Pair::Procedure { bounds, calls: [own, none] }
        }
    }
}

fn is_landing(module: &Module, at: u64) -> bool {
    module.code.get(at as usize).is_some_and(|inst| matches!(inst.kind.flow(), Flow::Jump | Flow::Procedure))
}

/// Changes a register or what is at the top of the stack, so that a condition or a link may be wrong.
fn disturb(machine: &mut Machine<'_>, s: &mut Source, code: usize) {
    let sp = machine.registers()[Reg::SP.index()] as usize;
    match s.below(4) {
        0 => {
            let at = sp.wrapping_sub(s.below(2) as usize);
            let link = s.below(code as u64 + 1);
            machine.memory_mut().get_mut(at).into_iter().for_each(|word| *word = link);
        }
        1 => {
            let address = s.below(code as u64);
            machine.set_register(Reg::new(1 + s.below(30) as u8).unwrap_or_default(), address);
        }
        _ => {
            let word = word(s);
            machine.set_register(Reg::new(1 + s.below(30) as u8).unwrap_or_default(), word);
        }
    }
}

/// Follows a run. Gives how many steps were compared, and how many of them trapped.
fn follow(what: &str, machine: &mut Machine<'_>, module: &Module, mut wild: Option<&mut Source>) -> (usize, usize) {
    let (mut compared, mut trapped) = (0, 0);
    for _ in 0..STEPS {
        let Some(pc) = machine.pc() else { break };
        let Some(inst) = module.code.get(pc as usize) else { break };
        let directs = !matches!(inst.kind.flow(), Flow::Straight | Flow::Run);
        // The machine has looked at the condition of what it falls into.
        let lands = matches!(inst.kind, Kind::Row { row: Row::Jmp, inverse, .. } if inverse == (machine.direction() == Direction::Forward));
        if let Some(s) = wild.as_mut().filter(|_| directs && !lands)
            && s.once_in(6)
        {
            disturb(machine, s, module.code.len());
        }
        let state = |machine: &Machine<'_>, pc: u32| {
            let forward = machine.direction() == Direction::Forward;
            State {
                place: u64::from(pc) + u64::from(!forward),
                forward: forward.into(),
                sp: machine.registers()[Reg::SP.index()],
                level: u64::from(machine.ad_mode().level()),
                memory: Words(machine.memory().to_vec()),
            }
        };
        let before = directs.then(|| (state(machine, pc), pair(machine, module, pc.into())));
        let mut outcome = machine.step();
        if let Some((before, own)) = before {
            let after = step(&mut ScalarDomain::new(machine.env()), &before, &own);
            if let (StepOutcome::Executed(_), Ok(after)) = (&outcome, &after) {
                // The machine takes two steps to where the model has passed the landing place.
                let landing = after.place.wrapping_sub(after.forward);
                let next = if before.forward == 1 { before.place + 1 } else { before.place.wrapping_sub(1) };
                let passed = after.place == next;
                if !passed && machine.pc().map(u64::from) == Some(landing) && is_landing(module, landing) {
                    outcome = machine.step();
                }
            }
            let told = format!("{what}: {before:x?} {own:x?}");
            compared += 1;
            match (&outcome, after) {
                (StepOutcome::Executed(_), Ok(after)) => {
                    let Some(now) = machine.pc() else { continue };
                    let now = state(machine, now);
                    let words = |s: &State<u64, Words>| (s.place, s.forward, s.sp, s.level);
                    assert_eq!(words(&after), words(&now), "{told}");
                    assert_eq!(after.memory, now.memory, "{told}");
                }
                // The memory ends: of that the model knows nothing.
                (StepOutcome::Trap(_), Ok(after)) if before.sp as usize >= before.memory.0.len() => drop(after),
                // What it would fall into next refuses it.
                (StepOutcome::Trap(_), Ok(after)) => {
                    let next = after.place.wrapping_sub(1 - after.forward);
                    assert_eq!(module.code[next as usize].kind.flow(), Flow::Jump, "{told}: {outcome:?}");
                    let pair = pair(machine, module, next);
                    assert!(step(&mut ScalarDomain::new(machine.env()), &after, &pair).is_err(), "{told}: {outcome:?}");
                    trapped += 1;
                }
                (StepOutcome::Trap(_), Err(_)) => trapped += 1,
                (outcome, after) => panic!("{told}: {outcome:?}, not {after:x?}"),
            }
        }
        if !matches!(outcome, StepOutcome::Executed(_)) {
            break;
        }
    }
    (compared, trapped)
}

fn both_ways(what: &str, module: &Module, mut wild: Option<&mut Source>) -> (usize, usize) {
    let program = Program::new(module.clone(), true).expect("a sound program");
    let config = Config { mem: Some(module.data.len() as u64 + 64), engine: Engine::Interpreter, ..Config::default() };
    let mut machine = Machine::new(&program, &config).expect("a machine");
    let mut total = (0, 0);
    for direction in [Direction::Forward, Direction::Backward] {
        machine.begin(direction);
        let (compared, trapped) = follow(&format!("{what}, {direction:?}"), &mut machine, module, wild.as_deref_mut());
        total = (total.0 + compared, total.1 + trapped);
    }
    total
}

#[test]
fn control_goes_where_the_model_goes() {
    let mut total = (0, 0);
    let mut add = |(compared, trapped): (usize, usize)| total = (total.0 + compared, total.1 + trapped);
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")).expect("examples") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "rasm") {
            let name = path.display().to_string();
            let text = std::fs::read_to_string(&path).expect("a text");
            let module = assemble(&name, text, &Options::default()).module.expect("no errors");
            assert_eq!(module.flags.profile, Profile::Native);
            add(both_ways(&name, &module, None));
        }
    }
    for seed in 0..400 {
        let module = RandomProgram::new(&mut Source::seeded(seed), 60).module().expect("sound operands");
        add(both_ways(&format!("random program {seed}"), &module, None));
        add(both_ways(&format!("disturbed program {seed}"), &module, Some(&mut Source::seeded(seed))));
    }
    assert!(total.0 > 50_000 && total.1 > 200, "{total:?}");
}
