//! Random programs and random ways through their runs: each moment is compared with a run straight to it, and each stop with what that run says.

use pendula::debug::{Arrival, Calls, Halt, Location, Session};
use pendula::isa::Module;
use pendula::isa::sample::{Source, program, share};
use pendula::isa::types::{Profile, Reg};
use pendula::vm::{AdMode, Config, Machine, Program, StepOutcome};

use crate::engines;

/// How many moments of a run are compared.
const LONGEST: usize = 4000;

/// A run straight through: of each moment the whole state, the next instruction, and a word that is watched.
struct Straight {
    moments: Vec<(u128, Option<u32>, u64)>,
    /// Whether the run ends, or traps, at the last of them.
    ends: bool,
}

/// What is watched: a register or a word of memory.
#[derive(Clone, Copy, Debug)]
enum Watched {
    Register(Reg),
    Word(usize),
}

impl Watched {
    fn of(self, machine: &Machine<'_>) -> u64 {
        match self {
            Watched::Register(r) => machine.registers()[r.index()],
            Watched::Word(at) => machine.memory()[at],
        }
    }

    fn name(self) -> String {
        match self {
            Watched::Register(r) => r.to_string(),
            Watched::Word(at) => format!("[{at}]"),
        }
    }
}

fn machine<'p>(program: &'p Program, ad_mode: AdMode) -> Machine<'p> {
    let words = program.module().data.len() as u64;
    let pisa = program.module().flags.profile == Profile::Pisa;
    let mem = (!pisa).then_some(words + 4096);
    let mut machine =
        Machine::new(program, &Config { mem, warm_up: 0, tier_up: 3, ..Config::default() }).expect("a machine");
    machine.set_ad_mode(ad_mode);
    for lane in ad_mode.lanes() {
        (0..words.min(32)).for_each(|at| machine.set_lane_word(*lane, at as usize, 0x3ff0_0000_0000_0000));
    }
    machine
}

fn straight(program: &Program, ad_mode: AdMode, watched: Watched) -> Straight {
    let mut machine = machine(program, ad_mode);
    let mut moments = Vec::new();
    loop {
        moments.push((machine.digest(), machine.pc(), watched.of(&machine)));
        if moments.len() > LONGEST {
            return Straight { moments, ends: false };
        }
        match machine.step() {
            StepOutcome::Executed(_) => {}
            StepOutcome::Finished | StepOutcome::Trap(_) => return Straight { moments, ends: true },
        }
    }
}

/// Goes through a run in random ways.
fn wander(what: &str, module: Module, s: &mut Source, moves: usize) {
    let program = Program::new(module, true).unwrap_or_else(|e| panic!("{what}: {e}"));
    let ad_mode = s.pick(&[AdMode::Plain, AdMode::Plain, AdMode::Tangent, AdMode::Gradient]);
    let ad_mode = if program.module().flags.profile == Profile::Pisa { AdMode::Plain } else { ad_mode };
    let data = program.module().data.len();
    let watched = match data {
        0 => Watched::Register(s.reg()),
        // Registers have no names for users of compiled programs.
        _ if program.module().variables.is_empty() && s.once_in(2) => Watched::Register(s.reg()),
        _ => Watched::Word(s.below(data as u64) as usize),
    };
    let run = straight(&program, ad_mode, watched);
    let last = run.moments.len() as u64 - 1;
    let mut session = Session::new(machine(&program, ad_mode), None, |_| false);
    for n in 0..moves {
        let before = session.timeline().now();
        let at = s.below(program.module().code.len() as u64) as u32;
        let label = format!("{what}, {ad_mode:?}, move {n} from {before} of {last}");
        match s.below(if run.ends { 12 } else { 9 }) {
            0 => _ = session.step(Calls::Into),
            1 => _ = session.step(Calls::Over),
            2 => _ = session.step_back(Calls::Into),
            3 => _ = session.step_back(Calls::Over),
            4 => _ = session.step_instruction(s.pick(&[Calls::Into, Calls::Over])),
            5 => {
                session.step_instruction_back(Calls::Into);
                assert_eq!(session.timeline().now(), before.saturating_sub(1), "{label}");
            }
            6 => _ = session.step_out_back(),
            7 | 8 => {
                let to = s.below(last + 1);
                session.go_to(to);
                assert_eq!(session.timeline().now(), to, "{label}");
            }
            9 => {
                let number = session.break_at(Location::Address(at)).expect("an address");
                let halt = session.go_on();
                let wanted = (before + 1..=last).find(|m| run.moments[*m as usize].1 == Some(at));
                match wanted {
                    Some(_) => assert_eq!(halt, Halt::Breakpoint(number), "{label}, break at {at}"),
                    None => {
                        assert!(matches!(halt, Halt::Arrived(Arrival::End | Arrival::Trap(_))), "{label}: {halt:?}")
                    }
                }
                assert_eq!(session.timeline().now(), wanted.unwrap_or(last), "{label}, break at {at}");
                session.delete_all();
            }
            10 => {
                let number = session.break_at(Location::Address(at)).expect("an address");
                let halt = session.go_back();
                let wanted = (0..before).rev().find(|m| run.moments[*m as usize].1 == Some(at));
                // The start is no place to stop at for a breakpoint.
                let wanted = wanted.filter(|m| *m > 0);
                let is = if wanted.is_some() { Halt::Breakpoint(number) } else { Halt::Arrived(Arrival::Start) };
                assert_eq!((session.timeline().now(), halt), (wanted.unwrap_or(0), is), "{label}, back to {at}");
                session.delete_all();
            }
            _ => {
                let value = |m: u64| run.moments[m as usize].2;
                session.watch(&watched.name()).expect("a name");
                let on = s.once_in(2);
                let halt = if on { session.go_on() } else { session.go_back() };
                let wanted = match on {
                    true => (before + 1..=last).find(|m| value(*m) != value(before)).unwrap_or(last),
                    false => (1..=before).rev().find(|m| value(*m) != value(*m - 1)).map_or(0, |m| m - 1),
                };
                assert_eq!(session.timeline().now(), wanted, "{label}, watching {watched:?}, on {on}: {halt:?}");
                session.delete_all();
            }
        }
        let now = session.timeline().now();
        assert!(now <= last || !run.ends, "{label}: at {now}");
        if let Some((digest, pc, _)) = run.moments.get(now as usize) {
            let machine = session.machine();
            // At its end, a run may have seen that it has ended, or not.
            let next = if now == last && run.ends { *pc } else { machine.pc() };
            assert_eq!((machine.digest(), next), (*digest, *pc), "{label}: at {now}");
        }
    }
}

#[test]
fn programs_in_assembly() {
    for seed in 0..share(64) {
        let mut s = Source::seeded(4100 + seed);
        let text = program(&mut s, 30);
        let assembly = pendula::asm::assemble::assemble("random.rasm", text.clone(), &Default::default());
        let module = assembly.module.unwrap_or_else(|| panic!("seed {seed}: {:#?}", assembly.diagnostics));
        wander(&format!("seed {seed}"), module, &mut s, 40);
    }
}

#[test]
fn programs_in_nil() {
    use pendula::compiler::compile::{Options, compile};
    use pendula::compiler::passes::Switches;
    for seed in 0..share(32) {
        let case = engines::nil_program(8200 + seed, seed % 2 == 0);
        let mut s = Source::seeded(seed);
        let switches = Switches::level(s.pick(&[0, 2]));
        let arguments = case.runs.first().cloned().unwrap_or_default();
        let options = Options { arguments, types: case.types.clone(), switches, ..Options::default() };
        let compiled = compile("random.nil", case.text.clone(), &options);
        let module = compiled.module.unwrap_or_else(|| panic!("seed {seed}: {:#?}", compiled.diagnostics));
        wander(&format!("seed {seed}\n{}", case.text), module, &mut s, 30);
    }
}

/// Examples of every language, which have calls, recursion, tapes and sums that round.
#[test]
fn examples() {
    let files = [
        ("examples/fib.ja", ""),
        ("examples/fib.pisa", ""),
        ("examples/fib.rasm", ""),
        ("examples/bessel.rasm", ""),
        ("examples/power.nil", "0.0,1.02,40"),
        ("examples/bessel.nil", "0.0,2,1.0"),
    ];
    for (n, (file, arguments)) in files.into_iter().enumerate() {
        let arguments = pendula::arguments::parse(arguments).expect("arguments");
        let options = pendula::compiler::compile::Options { arguments, ..Default::default() };
        let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
        let loaded = pendula::load::load(&path, &Default::default(), &options).expect("a file");
        let module = loaded.module.unwrap_or_else(|| panic!("{file}: {:#?}", loaded.diagnostics));
        for seed in 0..share(8) {
            let mut s = Source::seeded(seed + 100 * n as u64);
            wander(file, module.clone(), &mut s, 30);
        }
    }
}
