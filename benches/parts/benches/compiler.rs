//! The compiler of Nil on a generated program of 100 000 lines, in lines a second; and how long compiled loops are beside the same written
//! by hand. These are counted, not timed: the ratios are the same on every machine.

#[path = "../../nil/quality.rs"]
mod quality;

use std::fmt::Write as _;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use pendula::compiler::compile::{Options, compile};
use pendula::compiler::passes::Switches;

/// A program of so many lines: functions of a few dozen statements each, and one that calls them all.
fn program(lines: usize) -> String {
    let mut text = String::new();
    let mut calls = Vec::new();
    let mut count = 0;
    while count + 60 < lines {
        let name = format!("f{}", calls.len());
        let _ = writeln!(text, "@i function {name}(y!::Float64, x::Float64, n::Int, v::Vector{{Float64}})");
        let _ = writeln!(
            text,
            "    @routine begin\n        a ← 0.0\n        b ← 0.0\n        a += x * {}.5\n        b += sin(a) + x",
            calls.len() % 7
        );
        let _ = writeln!(text, "    end");
        for k in 0..10 {
            let _ = writeln!(
                text,
                "    if (n > {k}, ~)\n        y! += a * b + {k}.25\n    else\n        y! -= b * v[{}]\n    end",
                k % 3 + 1
            );
        }
        let _ = writeln!(text, "    for i = 1:n\n        y! += v[1] * i\n    end\n    ~@routine\nend\n");
        count += 64;
        calls.push(name);
    }
    let _ = writeln!(text, "@i function main!(y!::Float64, x::Float64, n::Int, v::Vector{{Float64}})");
    for name in &calls {
        let _ = writeln!(text, "    {name}(y!, x, n, v)");
    }
    text.push_str("end\n");
    text
}

fn compiler(c: &mut Criterion) {
    println!("instructions for the same work, compiled and by hand");
    for l in quality::LOOPS {
        let (compiled, hand) = l.instructions();
        println!("  {:<12} {:>8} {:>8}   {:.3}", l.name, compiled, hand, compiled as f64 / hand as f64);
    }
    let text = program(100_000);
    let mut group = c.benchmark_group("compiler");
    group.sample_size(10);
    group.throughput(Throughput::Elements(text.lines().count() as u64));
    for level in 0..=2 {
        let options = Options { switches: Switches::level(level), ..Options::default() };
        assert!(compile("large.nil", text.clone(), &options).module.is_some());
        group.bench_function(BenchmarkId::from_parameter(format!("-O{level}")), |b| {
            b.iter_batched(|| text.clone(), |text| compile("large.nil", text, &options), BatchSize::PerIteration);
        });
    }
}

criterion_group!(benches, compiler);
criterion_main!(benches);
