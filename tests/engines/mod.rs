//! Engines in lock-step over the examples, the workloads and random programs in Nil and in the IR: values, lanes, traps, counts and events are
//! the same on each engine, forward and backward. Code is made at the first opportunity.

#![cfg(feature = "jit")]

mod activity;
mod aliases;
mod bounds;
mod columns;
mod extensions;
mod forgotten;
mod functions;
mod fused_calls;
mod hessians;
mod in_place;
mod jam;
mod keep;
mod lengths;
mod logged;
mod nil;
mod products;
mod random;
mod recursions;
mod repeated;
mod results;
mod searches;
mod simd;
mod takeover;
mod unswitch;
mod whole;
mod zeros;

pub(crate) use random::nil_program;

use std::path::{Path, PathBuf};

use crate::machine::lockstep::Pair;
use pendula::asm::assemble::{Options, assemble};
use pendula::isa::Module;
use pendula::isa::counts::Direction;
use pendula::isa::sample;
use pendula::isa::types::Ty;
use pendula::vm::gradient::one;
use pendula::vm::{AdMode, Config, Machine, Outcome, Program};

/// How many instructions a run may take; what takes more is not compared to its end.
const LIMIT: u64 = 20_000_000;

/// Runs forward and back with each AD mode, words of the data carrying something, with a limit and without. How many of the runs forward
/// came to their ends.
fn lockstep(what: &str, module: Module, ad_modes: &[AdMode]) -> usize {
    let mut finished = 0;
    let words = module.data.len();
    let back = !module.flags.irreversible;
    let program = Program::new(module, true).unwrap_or_else(|e| panic!("{what}: {e}"));
    for (n, &ad_mode) in ad_modes.iter().enumerate() {
        // With care at once, after a few turns, never.
        let tier_up = [0, 2, u64::MAX][(n + what.len()) % 3];
        let config = Config { mem: Some(words as u64 + 16_384), warm_up: 0, tier_up, ..Config::default() };
        let mut pair = Pair::new(&program, config, format!("{what}, {ad_mode:?}"));
        pair.each(|m| {
            m.set_ad_mode(ad_mode);
            let unit = one(m.env(), Ty::F);
            for &lane in ad_mode.lanes() {
                for at in (0..words.min(64)).step_by(lane) {
                    m.set_lane_word(lane, at, unit);
                }
            }
        });
        let mut leg = |direction, limit| {
            pair.each(|m| m.begin(direction));
            pair.run_once(limit)
        };
        // Under a limit, blocks are measured: that is other code.
        if leg(Direction::Forward, Some(LIMIT)) != Outcome::Finished {
            continue;
        }
        finished += 1;
        if back && leg(Direction::Backward, Some(LIMIT)) == Outcome::Finished {
            let forward = leg(Direction::Forward, None);
            if forward == Outcome::Finished {
                leg(Direction::Backward, None);
            }
        }
    }
    finished
}

#[test]
fn examples() {
    let mut seen = 0;
    let folder = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")).expect("examples");
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "rasm"));
    paths.sort();
    for path in paths {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("a text");
        let module = assemble(&name, text, &Options::default()).module.unwrap_or_else(|| panic!("{name}"));
        let ad_modes = [&[AdMode::Plain], sample::in_turn(&AdMode::ALL[1..], seen)].concat();
        assert!(lockstep(&name, module, &ad_modes) > 0, "{name} does not end");
        seen += 1;
    }
    assert!(seen >= 10, "{seen} examples");
}

/// The programs of the benchmark of assembly, which also give what the same in C prints.
#[test]
fn kernels() {
    let results = [("xorshift", 1_363_160_026_601_443_621), ("sieve", 7024), ("matmul", 9_599_003_054)];
    for (name, wanted) in results {
        let file = format!("benches/assembly/{name}.rasm");
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file)).expect("a text");
        let module = assemble(&file, text, &Options::default()).module.unwrap_or_else(|| panic!("{name}"));
        let program = Program::new(module.clone(), true).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut machine = Machine::new(&program, &Config::default()).expect("the default memory");
        machine.begin(Direction::Forward);
        assert_eq!(machine.run(None), Outcome::Finished, "{name}");
        assert_eq!(machine.memory()[0], wanted, "{name}");
        assert_eq!(lockstep(name, module, &AdMode::ALL), AdMode::ALL.len(), "{name} does not end");
    }
}

/// A register that is zero between the turns of a loop needs no operations to be cleared; one that is not does. A loop is entered with either.
#[test]
fn scratch_registers() {
    let bodies = [
        "xorshl r2, r1, 13
                xor r1, r2
                xorshl r2, r1, 13
                xorshl r2, r1, 26
                xorshl r2, r1, 39
                xorshl r2, r1, 52",
        "xorshr r2, r1, 30
                xor r1, r2
                xorshr r2, r1, 30
                xorshr r2, r1, 60",
        "add r2, r1
                add r2, 7
                add r8, r2
                sub r2, 7
                sub r2, r1
                rol r1, 5",
        "addmul r2, r1, r1
                xor r2, r8
                add r1, 3
                sub r8, r2
                sub r1, 3
                xor r2, r9
                submul r2, r1, r1
                add r2, [r6+3]
                sub r2, [r6+3]",
        "addmul.q r2, r1, r8
                sub.q r9, r2
                submul.q r2, r1, r8",
        "swap r1, r2
                add r1, r8
                swap r1, r2
                sub r2, r8",
    ];
    for (n, body) in bodies.into_iter().enumerate() {
        for scratch in [0, 5] {
            let text = format!(
                ".data
                 .space 8
                 .text
                 proc turns
                 top:  from.ne r4, r0, end
                       {body}
                       inc r4
                 end:  jmp.ne r4, r5, top
                       sub r4, r5
                       ret turns
                 main: start
                       add r1, 0x123456789abcdef
                       add r8, 0x7654321
                       add r5, 100
                       call turns
                       add r2, {scratch}
                       call turns
                       uncall turns
                       call turns
                       finish"
            );
            let assembly = assemble("scratch", text, &Options::default());
            let module = assembly.module.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
            assert_eq!(lockstep(&format!("scratch {n}, {scratch}"), module, &AdMode::ALL), AdMode::ALL.len());
        }
    }
}

/// The condition of an edge after a call asks for registers as the call has left them, not as they were before.
#[test]
fn edges_after_calls() {
    // r4 counts the turns; the block before the loop knows what it holds there, and a procedure changes it.
    for (before, inside, ends) in [("inc", "dec", true), ("dec", "inc", true), ("inc", "", false), ("", "inc", false)] {
        let of = |op: &str| if op.is_empty() { "inc r8".to_string() } else { format!("{op} r4") };
        let text = format!(
            "proc change
                   {inside}
                   ret change
             proc count
                   inc r4
                   ret count
             main: start
                   add r5, 9
                   {before}
                   add r6, r4
                   call change
             top:  from.ne r4, r0, end
                   call count
             end:  jmp.ne r4, r5, top
                   sub r4, r5
                   finish",
            inside = of(inside),
            before = of(before),
        );
        let assembly = assemble("edge", text, &Options::default());
        let module = assembly.module.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
        let finished = lockstep(&format!("{before}, {inside}"), module, &AdMode::ALL);
        assert_eq!(finished, if ends { AdMode::ALL.len() } else { 0 }, "{before}, {inside}");
    }
}

/// Two procedures that call each other deeper than the host's stack goes, of which one is longer and so compiled with care later: each kind of
/// code calls the other, and leaves from deep below.
#[test]
fn deep_recursion() {
    let text = format!(
        "proc short
                inc r3
         a:     jmp.eq r1, r0, b
                dec r1
                add r2, r1
                call long
                inc r1
         b:     from.eq r1, r0, a
                ret short
         proc long
                {}
         c:     jmp.eq r1, r0, d
                dec r1
                xor r4, r1
                call short
                sub.f r6, r7
                inc r1
         d:     from.eq r1, r0, c
                ret long
         main:  start
                call short
                uncall short
                call long
                finish",
        "add r5, r1\n".repeat(100)
    );
    let assembly = assemble("recursion", text, &Options::default());
    let module = assembly.module.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
    let program = Program::new(module, true).expect("sound code");
    for ad_mode in AdMode::ALL {
        for tier_up in [0, 1000, 3000, 10_000, u64::MAX] {
            let config = Config { mem: Some(40_000), warm_up: 0, tier_up, ..Config::default() };
            let mut pair = Pair::new(&program, config, format!("{ad_mode:?}, {tier_up}"));
            pair.each(|m| {
                m.set_register(crate::machine::r(1), 15_000);
                m.set_register(crate::machine::r(7), 0.5f64.to_bits());
                m.set_ad_mode(ad_mode);
            });
            for (direction, limit) in [(Direction::Forward, None), (Direction::Backward, Some(LIMIT))] {
                pair.each(|m| m.begin(direction));
                assert_eq!(pair.run_once(limit), Outcome::Finished, "{ad_mode:?}, {tier_up}");
            }
        }
    }
}
