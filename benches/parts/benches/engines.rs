//! The engines: the interpreter, and code by Cranelift and by the system's C compiler.
//!
//! - `NAME/ENGINE/values`, `NAME/ENGINE/gradients`: a run forward and back, in instructions per second; with gradients, back with gradient words.
//! - `first run/NAME/ENGINE`: a run forward and back in which code is generated first.
//! - `tiers/NAME/WARM_UP-TIER_UP`: the same with code that is made sooner or later, in thousands of instructions and of turns.

#[path = "../../common/kernels.rs"]
mod kernels;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kernels::KERNELS;
use pendula::asm::assemble::assemble;
use pendula::compiler::compile::{Options, compile};
use pendula::isa::Module;
use pendula::isa::counts::Direction;
use pendula::values;
use pendula::vm::{AdMode, Config, Engine, Machine, Outcome, Program};
use pendula_codegen::cc::{self, Settings};

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

/// What code is made by.
#[derive(Clone, Copy)]
struct Tier {
    name: &'static str,
    engine: Engine,
    tier_up: u64,
}

const INTERPRETER: Tier = Tier { name: "interpreter", engine: Engine::Interpreter, tier_up: 0 };
const BASELINE: Tier = Tier { name: "baseline", engine: Engine::Jit, tier_up: u64::MAX };
const OPTIMISED: Tier = Tier { name: "optimised", engine: Engine::Jit, tier_up: 0 };

/// Names, modules and inputs of all programs.
fn programs() -> Vec<(&'static str, Module, &'static [&'static str])> {
    let kernels = KERNELS.into_iter().chain(FLOATS).map(|(name, source)| (name, source.to_string(), &[] as &[&str]));
    let examples = EXAMPLES.into_iter().map(|(name, set)| {
        let path = format!("{}/../../examples/{name}.rasm", env!("CARGO_MANIFEST_DIR"));
        (name, std::fs::read_to_string(path).expect("the example"), set)
    });
    let module = |(name, source, set)| {
        let assembly = assemble(name, source, &Default::default());
        (name, assembly.module.unwrap_or_else(|| panic!("{name}: {:?}", assembly.diagnostics)), set)
    };
    kernels.chain(examples).map(module).collect()
}

fn machine<'p>(program: &'p Program, Tier { engine, tier_up, .. }: Tier, set: &[&str]) -> Machine<'p> {
    let mem = Some(program.module().data.len() as u64 + 4096);
    let config = Config { mem, engine, warm_up: 0, tier_up, ..Config::default() };
    let mut m = Machine::new(program, &config).expect("enough memory");
    for assignment in set {
        values::set(&mut m, assignment).unwrap_or_else(|e| panic!("{assignment}: {e}"));
    }
    m
}

fn sound(module: &Module) -> Program {
    Program::new(module.clone(), true).expect("a sound program")
}

fn finish(m: &mut Machine<'_>, direction: Direction) {
    m.begin(direction);
    match m.run(None) {
        Outcome::Finished => {}
        other => panic!("{other:?}"),
    }
}

/// Runs a machine forward and back; back with gradient words, if requested.
fn run_forward_and_back(m: &mut Machine<'_>, back: AdMode) {
    m.set_ad_mode(AdMode::Plain);
    finish(m, Direction::Forward);
    m.set_ad_mode(back);
    finish(m, Direction::Backward);
}

fn engines(c: &mut Criterion) {
    let directory = std::env::temp_dir().join(format!("pendula-engines-{}", std::process::id()));
    assert!(cc::set(Settings { directory: Some(directory.clone()), ..Settings::default() }));
    for (name, module, set) in programs() {
        let mut group = c.benchmark_group(name);
        let program = sound(&module);
        let mut m = machine(&program, INTERPRETER, set);
        run_forward_and_back(&mut m, AdMode::Plain);
        group.throughput(Throughput::Elements(m.executed()));
        // One program for each kind of code: code is the program's.
        for tier in [INTERPRETER, BASELINE, OPTIMISED] {
            let program = sound(&module);
            for (mode, back) in [("values", AdMode::Plain), ("gradients", AdMode::Gradient)] {
                let mut m = machine(&program, tier, set);
                let start = m.snapshot();
                group.bench_function(BenchmarkId::new(tier.name, mode), |b| {
                    b.iter(|| {
                        m.restore(&start);
                        run_forward_and_back(&mut m, back);
                    });
                });
            }
        }
    }
    let _ = std::fs::remove_dir_all(directory);
}

fn first_runs(c: &mut Criterion) {
    for (name, module, set) in programs() {
        let mut group = c.benchmark_group(format!("first run/{name}"));
        group.sample_size(15);
        for tier in [BASELINE, OPTIMISED] {
            let run = |program: Program| {
                run_forward_and_back(&mut machine(&program, tier, set), AdMode::Plain);
                program
            };
            group.bench_function(tier.name, |b| b.iter_batched(|| sound(&module), run, BatchSize::PerIteration));
        }
    }
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

fn tiers(c: &mut Criterion) {
    for (name, arguments, types) in CALLS {
        let path = format!("{}/../../examples/{name}.nil", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(path).expect("the example");
        let types = pendula::arguments::split(types, ',').expect("types");
        let options = Options {
            arguments: pendula::arguments::parse(arguments).expect("arguments"),
            types: types.into_iter().filter(|t| !t.is_empty()).map(String::from).collect(),
            ..Options::default()
        };
        let module = compile(name, source, &options).module.expect("the example compiles");
        let mut group = c.benchmark_group(format!("tiers/{name} {arguments}"));
        group.sample_size(10);
        for (mode, back) in [("values", AdMode::Plain), ("gradients", AdMode::Gradient)] {
            for (warm_up, tier_up) in settings() {
                let run = |program: Program| {
                    let mem = Some(module.data.len() as u64 + (1 << 16));
                    let config = Config { mem, engine: Engine::Jit, warm_up, tier_up, ..Config::default() };
                    run_forward_and_back(&mut Machine::new(&program, &config).expect("enough memory"), back);
                    program
                };
                let text = match warm_up {
                    u64::MAX => "interpreter".to_string(),
                    _ => format!("{}-{}", warm_up / 1000, tier_up / 1000),
                };
                let id = BenchmarkId::new(text, mode);
                group.bench_function(id, |b| b.iter_batched(|| sound(&module), run, BatchSize::PerIteration));
            }
        }
    }
}

criterion_group!(benches, engines, first_runs, tiers);
criterion_main!(benches);
