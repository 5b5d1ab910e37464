//! The debug session beside plain runs by the jit, in the same run: `cargo bench --bench debugger [-- NAME…]`.
//!
//! `continue` runs to the end with breakpoints that do not stop, `rcontinue` goes back to the start with the same ones. Some are on lines outside of the
//! loops, as most breakpoints that are never come to; in the last column, one is on a line of the inner loop, with a condition that is false, so that the session looks at each turn:
//! that is told for a fiftieth of the run, and takes seconds.

mod common;

use std::path::Path;

use common::{Subject, medians};
use pendula::asm::assemble::{Options, assemble};
use pendula::debug::{Arrival, Halt, Location, Session};
use pendula::vm::{Config, Engine, Machine, Outcome, Program};

/// A program: the constant that says how long it runs, and its value.
struct Case {
    name: &'static str,
    constant: &'static str,
    scaled: u64,
}

const CASES: &[Case] = &[
    Case { name: "xorshift", constant: "STEPS", scaled: 80_000_000 },
    Case { name: "sieve", constant: "ROUNDS", scaled: 2_000 },
    Case { name: "matmul", constant: "ROUNDS", scaled: 1_600 },
];

/// The program for so many rounds.
fn program(case: &Case, scaled: u64) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("benches/assembly/{}.rasm", case.name));
    let text = std::fs::read_to_string(path).expect("a program");
    let defines = vec![(case.constant.to_string(), scaled.to_string())];
    let assembly = assemble(case.name, text, &Options { defines, ..Options::default() });
    Program::new(assembly.module.expect("no errors"), true).expect("a program")
}

fn machine(program: &Program) -> Machine<'_> {
    let config = Config { engine: Engine::Jit, count: false, ..Config::default() };
    Machine::new(program, &config).expect("a machine")
}

/// The addresses that a short run executes a few times at most, and the one that it executes most often.
fn by_heat(program: &Program) -> (Vec<u32>, u32) {
    let mut machine = Machine::new(program, &Config::default()).expect("a machine");
    machine.run(Some(10_000_000));
    let counts = machine.counts();
    let mut times = vec![0u64; program.module().code.len()];
    for mode in &counts.modes {
        for (block, n) in counts.blocks.iter().zip(&mode.blocks) {
            (block.start..block.end).for_each(|at| times[at as usize] += n);
        }
        mode.singles.iter().for_each(|(at, n)| times[*at as usize] += n);
    }
    let all = || 0..times.len() as u32;
    let hot = all().max_by_key(|at| times[*at as usize]).expect("instructions");
    (all().filter(|at| times[*at as usize] < 10).take(10).collect(), hot)
}

/// A session with breakpoints that never stop.
fn session<'p>(program: &'p Program, addresses: &[u32]) -> Session<'p> {
    let mut session = Session::new(machine(program), None, |_| false);
    for at in addresses {
        let number = session.break_at(Location::Address(*at)).expect("an address");
        session.breakpoint(number).expect("it is there").condition = Some("r1 != r1".to_string());
    }
    session
}

fn main() {
    let only: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    println!(
        "{:<10} {:>14} {:>9} {:>18} {:>18} {:>22}",
        "program", "instructions", "jit", "continue", "rcontinue", "in the loop"
    );
    for case in CASES.iter().filter(|c| only.is_empty() || only.iter().any(|o| o == c.name)) {
        let (long, short) = (program(case, case.scaled), program(case, (case.scaled / 50).max(1)));
        let (cold, hot) = by_heat(&short);
        let cold = &cold[..];
        let mut length = 0;
        let mut subjects = [
            Subject {
                run: Box::new(|| {
                    let mut machine = machine(&long);
                    assert_eq!(machine.run(None), Outcome::Finished);
                    length = machine.executed();
                    1
                }),
            },
            Subject {
                run: Box::new(|| {
                    assert_eq!(session(&long, cold).go_on(), Halt::Arrived(Arrival::End));
                    1
                }),
            },
            Subject {
                run: Box::new(|| {
                    let mut session = session(&long, cold);
                    session.go_on();
                    assert_eq!(session.go_back(), Halt::Arrived(Arrival::Start));
                    1
                }),
            },
            Subject {
                run: Box::new(|| {
                    let mut machine = machine(&short);
                    machine.run(None);
                    1
                }),
            },
            Subject {
                run: Box::new(|| {
                    assert_eq!(session(&short, &[hot]).go_on(), Halt::Arrived(Arrival::End));
                    1
                }),
            },
        ];
        let t = medians(&mut subjects, 5);
        drop(subjects);
        let back = t[2] - t[1];
        println!(
            "{:<10} {length:>14} {:>7.3} s {:>18} {:>18} {:>22}",
            case.name,
            t[0],
            format!("{:.3} s ({:.2})", t[1], t[1] / t[0]),
            format!("{back:.3} s ({:.2})", back / t[1]),
            format!("{:.3} s ({:.0})", t[4], t[4] / t[3]),
        );
    }
    println!("\nin parentheses: continue over jit, rcontinue over continue, and the last over jit");
}
