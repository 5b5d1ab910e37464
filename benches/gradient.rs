//! What gradients cost: the time of a whole gradient (forward, seed, backward with gradient words) over that of the run forward alone,
//! in the same run; and the memory of a gradient over more and more steps. `cargo bench --bench gradient`.
//!
//! Taylor series: the time of a run forward with series of several orders over that of the same run without, for three functions.
//!
//! Short programs are repeated until a run forward takes 20 ms, each time from the start, whose state is put back before; that is part
//! of both times. Memory is the peak of a fresh process (Linux only): this program, started with `memory STEPS`.

mod common;

use std::process::Command;
use std::time::Instant;

use common::{Subject, medians};
use pendula::asm::assemble::assemble;
use pendula::isa::Reg;
use pendula::vm::gradient::{self, Variable};
use pendula::vm::{Config, Engine, Machine, Outcome, Program, Snapshot};
use pendula::{grad, values};

/// The most that a whole gradient may take, in runs forward.
const TARGET: f64 = 6.0;
/// The least time of a run forward, with its repetitions.
const LEAST: f64 = 0.02;
const ROUNDS: usize = 11;

/// Both are run by the interpreter; `cargo bench --bench engines` compares engines.
fn interpreted() -> Config {
    Config { engine: Engine::Interpreter, ..Config::default() }
}

struct Case {
    name: &'static str,
    /// `None` for the example of that name.
    source: Option<&'static str>,
    set: &'static [&'static str],
    loss: &'static str,
}

const fn example(name: &'static str, set: &'static [&'static str], loss: &'static str) -> Case {
    Case { name, source: None, set, loss }
}

/// Every example that has a gradient, with inputs that make it long where there are such; then three loops.
const CASES: [Case; 15] = [
    example("bessel", &["z=7"], "y"),
    example("bessel-q", &["z=7"], "y"),
    example("complex-log", &[], "re"),
    example("matmul", &[], "c[5]"),
    example("momentum", &["epochs=8"], "w[0]"),
    example("network", &[], "loss"),
    example("norm", &[], "norm"),
    example("orbit", &["n=10000"], "p[0]"),
    example("power", &["x=1.0000001", "n=100000"], "y"),
    example("rotations", &[], "y"),
    example("sparse-dot", &[], "y"),
    example("wave", &["steps=2000"], "u[0]"),
    Case {
        name: "loop .f",
        source: Some(
            "main: start
               add r20, 200000
               add.f r1, 1
               add.f r3, 0.001
         top:  from.ne r21, r0, end
               submul.f r2, r1, r3
               addmul.f r1, r2, r3
               add.f r4, r1
               sub.f r5, r2
               inc r21
         end:  jmp.ne r21, r20, top
               finish",
        ),
        set: &[],
        loss: "r4.f",
    },
    Case {
        name: "loop .q",
        source: Some(
            "main: start
               add r20, 200000
               add.q r1, 1
               add.q r3, 0.001
         top:  from.ne r21, r0, end
               submul.q r2, r1, r3
               addmul.q r1, r2, r3
               add.q r4, r1
               sub.q r5, r2
               inc r21
         end:  jmp.ne r21, r20, top
               finish",
        ),
        set: &[],
        loss: "r4.q",
    },
    Case {
        name: "loop on memory",
        source: Some(
            "  .data
         a:    .space 1025, q
               .text
         main: start
               add r20, 200
               add.q r3, 0.001
               add.q [a], 1
         out:  from.ne r21, r0, oute
         top:  from.ne r5, r0, end
               exch r1, [a+r5]
               addmul.q [a+1+r5], r1, r3
               exch r1, [a+r5]
               add.q r2, [a+1+r5]
               inc r5
         end:  jmp.ne r5, 1024, top
               sub r5, 1024
               inc r21
         oute: jmp.ne r21, r20, out
               finish",
        ),
        set: &[],
        loss: "r2.q",
    },
];

fn program(name: &str, source: Option<&str>) -> Program {
    let path = format!("{}/examples/{name}.rasm", env!("CARGO_MANIFEST_DIR"));
    let text = source.map_or_else(|| std::fs::read_to_string(&path).expect("an example"), str::to_string);
    let assembly = assemble(&path, text, &Default::default());
    let module = assembly.module.unwrap_or_else(|| panic!("{name}: {:?}", assembly.diagnostics));
    Program::new(module, true).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn loss(machine: &Machine<'_>, name: &str) -> Variable {
    let place = values::find(machine.program().module(), name).expect("the loss");
    let cell = match place.at {
        values::Location::Register(r) => gradient::Cell::Register(r),
        values::Location::Memory { start, .. } => gradient::Cell::Word(start as usize),
        values::Location::Cell(at) => panic!("the loss is in the cell [{at}], which has no gradient"),
    };
    Variable { cell, ty: place.ty }
}

fn forward(machine: &mut Machine<'_>, start: &Snapshot) {
    machine.restore(start);
    gradient::forward(machine, &mut grad::to_end).unwrap_or_else(|e: Outcome| panic!("{e:?}"));
}

fn whole(machine: &mut Machine<'_>, start: &Snapshot, loss: Variable) {
    forward(machine, start);
    let seed = gradient::one(machine.env(), loss.ty);
    gradient::gradient(machine, loss, seed, &mut grad::to_end).unwrap_or_else(|e: Outcome| panic!("{e:?}"));
}

fn ratios() {
    println!(
        "{:<16} {:>8} {:>14} {:>14} {:>14} {:>8}",
        "program", "times", "instructions", "forward ms", "gradient ms", "ratio"
    );
    for Case { name, source, set, loss: of } in CASES {
        let program = program(name, source);
        let mem = Some(program.module().data.len() as u64 + 256);
        let config = Config { mem, ..interpreted() };
        let machine = || {
            let mut machine = Machine::new(&program, &config).expect("enough memory");
            for assignment in set {
                values::set(&mut machine, assignment).expect(assignment);
            }
            machine
        };
        let (mut a, mut b) = (machine(), machine());
        let (start, of) = (a.snapshot(), loss(&a, of));
        forward(&mut a, &start);
        let instructions = a.executed();
        let mut times = 1u64;
        loop {
            let begun = Instant::now();
            (0..times).for_each(|_| forward(&mut a, &start));
            if begun.elapsed().as_secs_f64() >= LEAST {
                break;
            }
            times *= 2;
        }
        let mut subjects = [
            Subject {
                run: Box::new(|| {
                    (0..times).for_each(|_| forward(&mut a, &start));
                    1
                }),
            },
            Subject {
                run: Box::new(|| {
                    (0..times).for_each(|_| whole(&mut b, &start, of));
                    1
                }),
            },
        ];
        let t = medians(&mut subjects, ROUNDS);
        let ratio = t[1] / t[0];
        let verdict = if ratio > TARGET { "  FAIL" } else { "" };
        println!(
            "{name:<16} {times:>8} {instructions:>14} {:>14.1} {:>14.1} {ratio:>8.2}{verdict}",
            t[0] * 1e3,
            t[1] * 1e3
        );
    }
    println!("\nratio: a whole gradient's time over the run forward's (target: at most {TARGET}).\n");
}

/// Functions of one number, x in `r1`, which is added to `r3`; what they compute on the way is undone.
const FUNCTIONS: [(&str, &str); 3] = [
    ("x·exp(x)", "addexp.f r2, r1\naddmul.f r3, r1, r2\nsubexp.f r2, r1"),
    ("sin(x)/x", "addsin.f r2, r1\nadddiv.f r3, r2, r1\nsubsin.f r2, r1"),
    ("log(1+x²)", "addmul.f r2, r1, r1\naddlog1p.f r3, r2\nsubmul.f r2, r1, r1"),
];
const ORDERS: [usize; 4] = [1, 4, 8, 16];
/// The most that a run with series of order 8 may take, in runs without.
const SERIES_TARGET: f64 = 60.0;

/// What Taylor series cost: each function 1000 times, in a loop without jumps, which would be part of both times.
fn series() {
    println!(
        "{:<16} {:>14} {}",
        "function",
        "values ms",
        ORDERS.map(|n| format!("{:>10}", format!("order {n}"))).concat()
    );
    for (name, body) in FUNCTIONS {
        let text = format!("main: start\nadd.f r1, 0.7\n{}finish\n", format!("{body}\n").repeat(1000));
        let program = program(name, Some(&text));
        let x = gradient::Cell::Register(Reg::new(1).expect("a register"));
        let mut machines: Vec<_> =
            (0..=ORDERS.len()).map(|_| Machine::new(&program, &interpreted()).expect("enough memory")).collect();
        let start = machines[0].snapshot();
        let mut subjects: Vec<Subject> = Vec::new();
        for (n, machine) in machines.iter_mut().enumerate() {
            let start = &start;
            let order = n.checked_sub(1).map(|n| ORDERS[n]);
            subjects.push(Subject {
                run: Box::new(move || {
                    for _ in 0..20 {
                        machine.restore(start);
                        let done = match order {
                            None => gradient::forward(machine, &mut grad::to_end),
                            Some(order) => {
                                let direction = [(x, vec![1f64.to_bits()])];
                                gradient::jets(machine, &direction, order, &mut grad::to_end)
                            }
                        };
                        done.unwrap_or_else(|e: Outcome| panic!("{e:?}"));
                    }
                    1
                }),
            });
        }
        let t = medians(&mut subjects, ROUNDS);
        let ratios: String = t[1..].iter().map(|time| format!("{:>10.1}", time / t[0])).collect();
        let verdict = if t[3] / t[0] > SERIES_TARGET { "  FAIL" } else { "" };
        println!("{name:<16} {:>14.3} {ratios}{verdict}", t[0] * 1e3 / 20.0);
    }
    println!("\nA run forward with Taylor series over one without (target: at most {SERIES_TARGET} for order 8).\n");
}

/// In a process of its own: the gradient of the example `orbit` over so many steps, and what it took.
fn orbit(steps: &str) {
    let program = program("orbit", None);
    let mut machine = Machine::new(&program, &interpreted()).expect("enough memory");
    values::set(&mut machine, &format!("n={steps}")).expect("a number of steps");
    let (start, of) = (machine.snapshot(), loss(&machine, "p[0]"));
    let begun = Instant::now();
    whole(&mut machine, &start, of);
    let seconds = begun.elapsed().as_secs_f64();
    let v = values::find(program.module(), "v[1]").expect("the velocity");
    let values::Location::Memory { start: at, .. } = v.at else { panic!("in memory") };
    let slope = gradient::gradient_to_f64(machine.env(), v.ty, machine.get(1, gradient::Cell::Word(at as usize)));
    let back = if machine.snapshot() == start { "bit for bit" } else { "NOT restored  FAIL" };
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap_or("unknown").trim();
    println!("{steps:>10} {seconds:>10.3} {slope:>16.6} {peak:>14}   {back}");
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    if let [what, steps] = &args[..]
        && what == "memory"
    {
        return orbit(steps);
    }
    ratios();
    series();
    println!("{:>10} {:>10} {:>16} {:>14}   the start came back", "steps", "seconds", "∂p[0]/∂v[1]", "peak memory");
    let this = std::env::current_exe().expect("a path");
    for steps in ["10000", "100000", "1000000"] {
        let status = Command::new(&this).args(["memory", steps]).status().expect("starts");
        assert!(status.success(), "{steps} steps: {status}");
    }
    println!(
        "\nThe gradient of the example `orbit` in Q21.43; memory of the whole process, the interpreter's own included."
    );
}
