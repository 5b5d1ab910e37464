//! Compiled code beside the interpreter, in the same run: million instructions
//! a second, forward and backward with values alone, then backward with gradient
//! words; and how long compiling takes. `cargo bench --bench engines`.

mod common;
#[path = "common/kernels.rs"]
mod kernels;

use std::time::Instant;

use common::{Subject, medians};
use kernels::KERNELS;
use pendula::asm::assemble::assemble;
use pendula::isa::counts::Direction;
use pendula::values;
use pendula::vm::{Carriage, Config, Engine, Machine, Outcome, Program};

const ROUNDS: usize = 7;
/// The least time of a round, with its repetitions.
const LEAST: f64 = 0.02;

/// Kernels in floating point.
const FLOATS: [(&str, &str); 3] = [
    (
        "loop .f",
        "main: start
               add r20, 1000000
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
    (
        "dot .f",
        "      .data
         a:    .space 4096
         b:    .space 4096
               .text
         main: start
               add r20, 300
         out:  from.ne r21, r0, oute
         top:  from.ne r5, r0, end
               add.f r1, [a+r5]
               addmul.f r3, r1, [b+r5]
               sub.f r1, [a+r5]
               inc r5
         end:  jmp.lt r5, 4095, top
               sub r5, 4095
               inc r21
         oute: jmp.ne r21, r20, out
               finish",
    ),
    (
        "exp .f",
        "main: start
               add r20, 200000
               add.f r1, 0.5
         top:  from.ne r21, r0, end
               addexp.f r2, r1
               addsin.f r3, r1
               add.f r1, 0.000001
               inc r21
         end:  jmp.ne r21, r20, top
               finish",
    ),
];

/// Examples, with inputs that make them long.
const EXAMPLES: [(&str, &[&str]); 8] = [
    ("bessel", &["z=7"]),
    ("matmul", &[]),
    ("network", &[]),
    ("norm", &[]),
    ("orbit", &["n=10000"]),
    ("rotations", &[]),
    ("wave", &["steps=2000"]),
    ("xtea", &[]),
];

fn bench(name: &str, source: String, set: &[&str]) {
    let assembly = assemble(name, source, &Default::default());
    let module = assembly.module.unwrap_or_else(|| panic!("{name}: {:?}", assembly.diagnostics));
    let instructions = module.code.len();
    let data = module.data.len() as u64;
    let program = Program::new(module, true).expect("a sound program");
    let machine = |engine| {
        let config = Config { mem: Some(data + 4096), engine, warm_up: 0, ..Config::default() };
        let mut m = Machine::new(&program, &config).expect("enough memory");
        for assignment in set {
            values::set(&mut m, assignment).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
        m
    };
    let finish = |m: &mut Machine<'_>| match m.run(None) {
        Outcome::Finished => {}
        other => panic!("{name}: {other:?}"),
    };
    // The first run compiles, forward and backward.
    let mut first = machine(Engine::Jit);
    let start = Instant::now();
    finish(&mut first);
    first.begin(Direction::Backward);
    finish(&mut first);
    let cold = start.elapsed().as_secs_f64();
    let units = first.executed();
    let start = Instant::now();
    first.begin(Direction::Forward);
    finish(&mut first);
    first.begin(Direction::Backward);
    finish(&mut first);
    let warm = start.elapsed().as_secs_f64();
    let repeat = ((LEAST / warm).ceil() as u64).max(1);
    let round = |engine, carriage| {
        let mut m = machine(engine);
        let snapshot = m.snapshot();
        let finish = &finish;
        Subject {
            run: Box::new(move || {
                for _ in 0..repeat {
                    m.restore(&snapshot);
                    m.carry(Carriage::Plain);
                    m.begin(Direction::Forward);
                    finish(&mut m);
                    m.carry(carriage);
                    m.begin(Direction::Backward);
                    finish(&mut m);
                }
                repeat * units
            }) as Box<dyn FnMut() -> u64>,
        }
    };
    let mut subjects = [
        round(Engine::Interpreter, Carriage::Plain),
        round(Engine::Jit, Carriage::Plain),
        round(Engine::Interpreter, Carriage::Gradient),
        round(Engine::Jit, Carriage::Gradient),
    ];
    let t = medians(&mut subjects, ROUNDS);
    println!(
        "{name:<12} {:>9.0} {:>9.0} {:>7.1} {:>12.0} {:>9.0} {:>7.1} {:>12.2}",
        1e-6 / t[0],
        1e-6 / t[1],
        t[0] / t[1],
        1e-6 / t[2],
        1e-6 / t[3],
        t[2] / t[3],
        (cold - warm).max(0.0) * 1e3 / (2.0 * instructions as f64 / 1000.0),
    );
}

fn main() {
    let only = std::env::args().nth(1).filter(|a| !a.starts_with('-'));
    let wanted = |name: &str| only.as_ref().is_none_or(|o| o == name);
    println!(
        "{:<12} {:>9} {:>9} {:>7} {:>12} {:>9} {:>7} {:>12}",
        "", "interp", "jit", "ratio", "grad interp", "jit", "ratio", "ms/1000"
    );
    for (name, source) in KERNELS.into_iter().chain(FLOATS) {
        if wanted(name) {
            bench(name, source.to_string(), &[]);
        }
    }
    for (name, set) in EXAMPLES {
        if wanted(name) {
            let path = format!("{}/examples/{name}.rasm", env!("CARGO_MANIFEST_DIR"));
            bench(name, std::fs::read_to_string(path).expect("the example"), set);
        }
    }
    println!(
        "\nM instructions a second, there and back; backward with gradient words on the right. The last column: compiling for\n\
         both directions, in milliseconds for a thousand instructions (target: at most 1)."
    );
}
