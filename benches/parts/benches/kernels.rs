//! Elementary functions of fixed-point words: nanoseconds for 1024 independent calls.
//! `cargo bench --bench elementary` of the package `pendula` compares them with `libm` and `cordic` in one run.

#[path = "../../common/arguments.rs"]
mod arguments;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pendula::isa::num::{Env, Format, Word, fixed};

use arguments::arguments;

/// Arguments of a round: few enough for the cache.
const ARGUMENTS: usize = 1024;

/// A function of one word.
type Kernel = fn(Env, u64) -> Word;

/// Functions with the range of their arguments.
const KERNELS: [(&str, Kernel, f64, f64); 6] = [
    ("exp", fixed::exp, -8.0, 8.0),
    ("log", fixed::log, 0.001, 100.0),
    ("sin", fixed::sin, -8.0, 8.0),
    ("cos", fixed::cos, -8.0, 8.0),
    ("sqrt", fixed::sqrt, 0.001, 100.0),
    ("atan", fixed::atan, -8.0, 8.0),
];

fn elementary(c: &mut Criterion) {
    for format in [Format::Q32_32, Format::Q21_43, Format::Q16_48] {
        let mut group = c.benchmark_group(format!("kernels/{}", format.name()));
        group.throughput(Throughput::Elements(ARGUMENTS as u64));
        let env = Env { format, ieee: false };
        for (name, kernel, low, high) in KERNELS {
            let words = arguments(ARGUMENTS, low, high, format);
            let one = |sum: u64, word: &i64| sum ^ kernel(env, word.cast_unsigned()).unwrap_or(0);
            group.bench_function(name, |b| b.iter(|| black_box(&words).iter().fold(0, one)));
        }
    }
}

criterion_group!(benches, elementary);
criterion_main!(benches);
