//! Compiled code, by Cranelift and by the system's C compiler, beside the interpreter, in the same run: million instructions
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
use pendula_native::cc::{Settings, set};

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
    // How long a first run takes, which compiles for both directions, and a second one; and how many instructions a run has.
    let there_and_back = |m: &mut Machine<'_>| {
        let start = Instant::now();
        for direction in [Direction::Forward, Direction::Backward] {
            m.begin(direction);
            finish(m);
        }
        start.elapsed().as_secs_f64()
    };
    let compiling = |engine| {
        let mut m = machine(engine);
        let cold = there_and_back(&mut m);
        let units = m.executed();
        let warm = there_and_back(&mut m);
        (units, warm, (cold - warm).max(0.0) * 1e3 / (2.0 * instructions as f64 / 1000.0))
    };
    let [(units, jit, by_jit), (_, native, by_native)] = [Engine::Jit, Engine::Native].map(compiling);
    let repeat = ((LEAST / jit.min(native)).ceil() as u64).max(1);
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
    let all = [Carriage::Plain, Carriage::Gradient].map(|carriage| Engine::ALL.map(|engine| round(engine, carriage)));
    let mut subjects: Vec<_> = all.into_iter().flatten().collect();
    let t = medians(&mut subjects, ROUNDS);
    print!("{name:<12}");
    for t in t.chunks(Engine::ALL.len()) {
        t.iter().for_each(|t| print!(" {:>9.0}", 1e-6 / t));
        print!(" {:>6.1} {:>6.1}   ", t[0] / t[1], t[0] / t[2]);
    }
    println!(" {by_jit:>7.1} {by_native:>7.0}");
}

fn main() {
    let only = std::env::args().nth(1).filter(|a| !a.starts_with('-'));
    let wanted = |name: &str| only.as_ref().is_none_or(|o| o == name);
    let directory = std::env::temp_dir().join(format!("pendula-engines-{}", std::process::id()));
    assert!(set(Settings { directory: Some(directory.clone()), ..Settings::default() }));
    print!("{:<12}", "");
    for interp in ["interp", "grad"] {
        print!(" {interp:>9} {:>9} {:>9} {:>6} {:>6}   ", "jit", "native", "jit", "native");
    }
    println!(" {:>7} {:>7}", "jit", "native");
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
        "\nM instructions a second, there and back, and over the interpreter's; backward with gradient words on the right. The last columns:\n\
         compiling for both directions, in milliseconds for a thousand instructions (target: at most 1)."
    );
    let _ = std::fs::remove_dir_all(directory);
}
