//! Compiled code, by Cranelift and by the system's C compiler, beside the interpreter, in the same run: million instructions
//! a second, forward and backward with values alone, then backward with gradient
//! words; and how long compiling takes. `cargo bench --bench engines`; with `-- tiers`, how
//! long runs are as code is made sooner or later.

mod common;
#[path = "common/kernels.rs"]
mod kernels;

use std::time::Instant;

use common::{Subject, medians};
use kernels::KERNELS;
use pendula::asm::assemble::assemble;
use pendula::compiler::compile::{Options, compile};
use pendula::isa::Module;
use pendula::isa::counts::Direction;
use pendula::values;
use pendula::vm::{AdMode, Config, Engine, Machine, Outcome, Program};
use pendula_codegen::cc::{Settings, set};

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

/// What code is made by: nothing, a draft, Cranelift, the C compiler.
#[derive(Clone, Copy)]
struct Tier {
    engine: Engine,
    tier_up: u64,
}

const TIERS: [Tier; 4] = [
    Tier { engine: Engine::Interpreter, tier_up: 0 },
    Tier { engine: Engine::Jit, tier_up: u64::MAX },
    Tier { engine: Engine::Jit, tier_up: 0 },
    Tier { engine: Engine::Native, tier_up: 0 },
];

fn machine<'p>(program: &'p Program, Tier { engine, tier_up }: Tier, set: &[&str]) -> Machine<'p> {
    let mem = Some(program.module().data.len() as u64 + 4096);
    let config = Config { mem, engine, warm_up: 0, tier_up, ..Config::default() };
    let mut m = Machine::new(program, &config).expect("enough memory");
    for assignment in set {
        values::set(&mut m, assignment).unwrap_or_else(|e| panic!("{assignment}: {e}"));
    }
    m
}

fn finish(m: &mut Machine<'_>, direction: Direction) {
    m.begin(direction);
    match m.run(None) {
        Outcome::Finished => {}
        other => panic!("{other:?}"),
    }
}

fn there_and_back(m: &mut Machine<'_>) -> f64 {
    let start = Instant::now();
    finish(m, Direction::Forward);
    finish(m, Direction::Backward);
    start.elapsed().as_secs_f64()
}

/// What making code takes for a thousand instructions, in milliseconds: the quickest first run, in which that is done, less the quickest second
/// one. Nothing where runs take so long that this says little.
fn making(module: &Module, tier: Tier, set: &[&str]) -> String {
    // What C compilers have made is kept, so that there is one first time.
    let times = if tier.engine == Engine::Native { 1 } else { 15 };
    let (mut first, mut second) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..times {
        let program = Program::new(module.clone(), true).expect("a sound program");
        let mut m = machine(&program, tier, set);
        first = first.min(there_and_back(&mut m));
        second = second.min(there_and_back(&mut m));
    }
    let takes = (first - second) * 1e6 / (2.0 * module.code.len() as f64);
    if first > 1.2 * second { format!("{takes:.2}") } else { "–".into() }
}

fn bench(name: &str, source: String, set: &[&str]) {
    let assembly = assemble(name, source, &Default::default());
    let module = assembly.module.unwrap_or_else(|| panic!("{name}: {:?}", assembly.diagnostics));
    let making = [1, 2, 3].map(|n| making(&module, TIERS[n], set));
    // One each for the two kinds of code of one engine: code is the program's.
    let programs = TIERS.map(|_| Program::new(module.clone(), true).expect("a sound program"));
    let mut first = machine(&programs[2], TIERS[2], set);
    there_and_back(&mut first);
    let units = first.executed();
    let repeat = ((LEAST / there_and_back(&mut first)).ceil() as u64).max(1);
    let mut subjects = Vec::new();
    for ad_mode in [AdMode::Plain, AdMode::Gradient] {
        for (program, tier) in programs.iter().zip(TIERS) {
            let mut m = machine(program, tier, set);
            let snapshot = m.snapshot();
            subjects.push(Subject {
                run: Box::new(move || {
                    for _ in 0..repeat {
                        m.restore(&snapshot);
                        m.carry(AdMode::Plain);
                        finish(&mut m, Direction::Forward);
                        m.carry(ad_mode);
                        finish(&mut m, Direction::Backward);
                    }
                    repeat * units
                }) as Box<dyn FnMut() -> u64>,
            });
        }
    }
    let t = medians(&mut subjects, ROUNDS);
    print!("{name:<12}");
    for t in t.chunks(TIERS.len()) {
        print!(" {:>7.0}", 1e-6 / t[0]);
        t[1..].iter().for_each(|own| print!(" {:>6.1}", t[0] / own));
        print!("   ");
    }
    println!(" {:>7} {:>7} {:>7}", making[0], making[1], making[2]);
}

/// Programs in Nil whose runs are short or long: the example, its arguments, their types.
const CALLS: [(&str, &str, &str); 7] = [
    ("fib", "0,100", ""),
    ("fib", "0,10000", ""),
    ("embedding", "0.0,[0.0 1.0 2.0 3.0 4.0 5.0 6.0 7.0 8.0 9.0]", ""),
    ("bennett", "0.0,0,0,1.0,4,4", ""),
    ("planets", "[0,0,0,0,0,0,0,0],0.01,10", "Vector{Fixed43},Fixed43,Int"),
    ("planets", "[0,0,0,0,0,0,0,0],0.01,100", "Vector{Fixed43},Fixed43,Int"),
    ("planets", "[0,0,0,0,0,0,0,0],0.01,1000", "Vector{Fixed43},Fixed43,Int"),
];

/// Values of [`Config::warm_up`] and [`Config::tier_up`]: for the interpreter alone, the defaults, and others.
fn settings() -> Vec<(u64, u64)> {
    let Config { warm_up, tier_up, .. } = Config::default();
    let others = [(0, 100_000), (20_000, 100_000), (100_000, 100_000), (50_000, 10_000), (50_000, 30_000)];
    let mut all = vec![(u64::MAX, 0), (warm_up, tier_up)];
    all.extend(others.into_iter().chain([(50_000, 300_000), (100_000, 0)]));
    all
}

/// The time of a whole run with each of the settings, with what making code takes.
fn tiers() {
    print!("{:<37}", "");
    for (warm_up, tier_up) in settings() {
        let text = if warm_up == u64::MAX { "interp".into() } else { format!("{}/{}", warm_up / 1000, tier_up / 1000) };
        print!(" {text:>8}");
    }
    println!();
    for (name, arguments, types) in CALLS {
        let path = format!("{}/examples/{name}.nil", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(path).expect("the example");
        let types = pendula::arguments::split(types, ',').expect("types");
        let options = Options {
            arguments: pendula::arguments::parse(arguments).expect("arguments"),
            types: types.into_iter().filter(|t| !t.is_empty()).map(String::from).collect(),
            ..Options::default()
        };
        let module = compile(name, source, &options).module.expect("the example compiles");
        for ad_mode in [AdMode::Plain, AdMode::Gradient] {
            let settings = settings();
            let mut best = vec![f64::INFINITY; settings.len()];
            let mut ran = 0;
            for _ in 0..ROUNDS {
                for (best, &(warm_up, tier_up)) in best.iter_mut().zip(&settings) {
                    let program = Program::new(module.clone(), true).expect("a sound program");
                    let mem = Some(module.data.len() as u64 + (1 << 16));
                    let config = Config { mem, engine: Engine::Jit, warm_up, tier_up, ..Config::default() };
                    let start = Instant::now();
                    let mut m = Machine::new(&program, &config).expect("enough memory");
                    finish(&mut m, Direction::Forward);
                    m.carry(ad_mode);
                    finish(&mut m, Direction::Backward);
                    *best = best.min(start.elapsed().as_secs_f64());
                    ran = m.executed();
                }
            }
            print!("{name:<12} {:<12} {ran:>10}", format!("{ad_mode:?}"));
            best.iter().for_each(|t| print!(" {:>8.2}", 1e3 * t));
            println!();
        }
    }
    println!(
        "\nMilliseconds of a run there and back, the quickest of {ROUNDS}, its code made anew, by the instructions that are interpreted first, in\n\
         thousands, and the turns of a short loop as a draft, likewise; how many instructions it takes on the left. The second column has the\n\
         defaults, the last goes without drafts."
    );
}

fn main() {
    let only = std::env::args().nth(1).filter(|a| !a.starts_with('-'));
    if only.as_deref() == Some("tiers") {
        return tiers();
    }
    let wanted = |name: &str| only.as_ref().is_none_or(|o| o == name);
    let directory = std::env::temp_dir().join(format!("pendula-engines-{}", std::process::id()));
    assert!(set(Settings { directory: Some(directory.clone()), ..Settings::default() }));
    print!("{:<12}", "");
    for interp in ["interp", "grad"] {
        print!(" {interp:>7} {:>6} {:>6} {:>6}   ", "draft", "jit", "native");
    }
    println!(" {:>7} {:>7} {:>7}", "draft", "jit", "native");
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
        "\nM instructions a second of the interpreter, there and back, and how many times that drafts, code by Cranelift and C make; backward with\n\
         gradient words on the right. The last columns: making code for both directions, in milliseconds for a thousand instructions\n\
         (target: at most 1)."
    );
    let _ = std::fs::remove_dir_all(directory);
}
