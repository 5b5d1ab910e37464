//! The compiler: how long its code is beside assembly written by hand, and how many lines it compiles in a second.
//!
//! `cargo bench --bench nil`. Instructions are counted, not timed: the ratios are the same on every machine.

#[path = "nil/quality.rs"]
mod quality;

use std::fmt::Write as _;
use std::time::Instant;

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

fn main() {
    println!("instructions for the same work, compiled and by hand");
    for l in quality::LOOPS {
        let (compiled, hand) = l.instructions();
        println!("  {:<12} {:>8} {:>8}   {:.3}", l.name, compiled, hand, compiled as f64 / hand as f64);
    }
    println!("\ncompile speed, 100000 lines");
    let text = program(100_000);
    let lines = text.lines().count();
    for (name, switches) in [("-O0", Switches::NONE), ("-O1", Switches::level(1)), ("-O2", Switches::level(2))] {
        let mut best = f64::INFINITY;
        for _ in 0..3 {
            let start = Instant::now();
            let c = compile("large.nil", text.clone(), &Options { switches, ..Options::default() });
            best = best.min(start.elapsed().as_secs_f64());
            assert!(c.module.is_some(), "{:?}", c.diagnostics.first());
        }
        println!("  {name}  {:>9.0} lines a second", lines as f64 / best);
    }
}
