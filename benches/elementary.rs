//! Elementary functions of fixed-point words beside `libm`'s of doubles and the
//! crate `cordic`'s of fixed-point numbers, and those of doubles beside the crate
//! `libm`'s, on the same arguments in the same run. `cargo bench --bench elementary`.
//!
//! Nanoseconds per call are those of independent calls, as a loop over an array
//! makes them. `cordic` works in the format's own bits, too, but with errors of
//! some units in the last place; ours are below 0.501.

#[path = "common/arguments.rs"]
mod arguments;
mod common;

use std::hint::black_box;

use arguments::arguments;
use common::{Subject, medians};
use fixed::FixedI64;
use fixed::types::extra::{U32, U43, U48};
use pendula::isa::num::{Env, Format, fixed as q, raw};

/// Arguments per pass, and passes per round: the first is small enough for the cache.
const ARGUMENTS: usize = 1024;
const PASSES: u64 = 20;

/// Times a function over the arguments; `bits` makes a word of its result.
fn subject<X: Copy + 'static, Y>(
    arguments: Vec<X>,
    call: impl Fn(X) -> Y + 'static,
    bits: impl Fn(Y) -> u64 + 'static,
) -> Subject<'static> {
    Subject {
        run: Box::new(move || {
            for _ in 0..PASSES {
                black_box(black_box(&arguments).iter().fold(0, |sum, &x| sum ^ bits(call(x))));
            }
            PASSES * arguments.len() as u64
        }),
    }
}

/// One line of the table: ours, `libm`'s, and `cordic`'s where it has the function.
macro_rules! line {
    ($format:expr, $Frac:ty, $name:ident, $from:expr, $to:expr $(, $rival:path)?) => {{
        let env = Env { format: $format, ieee: false };
        let words = arguments(ARGUMENTS, $from, $to, $format);
        let scale = 2f64.powi($format.frac() as i32);
        let doubles: Vec<f64> = words.iter().map(|&w| w as f64 / scale).collect();
        // That they compute the same function, and no fault makes it short.
        for (&w, &x) in words.iter().zip(&doubles) {
            let word = q::$name(env, w as u64).expect("arguments in range") as i64;
            let number = libm::$name(x);
            assert!((word as f64 / scale - number).abs() <= 1.0 / scale + number.abs() * 1e-15);
        }
        let mut subjects = vec![
            subject(words.clone(), move |w| q::$name(env, w as u64), |r| r.unwrap_or(0)),
            subject(doubles, libm::$name, f64::to_bits),
        ];
        $(
            let numbers: Vec<FixedI64<$Frac>> = words.into_iter().map(FixedI64::from_bits).collect();
            subjects.push(subject(numbers, $rival, |r| r.to_bits() as u64));
        )?
        let t = medians(&mut subjects, 31);
        print!("{:<8} {:<8} {:>8.2} {:>9.2}", stringify!($name), $format.name(), t[0] * 1e9, t[0] / t[1]);
        match t.get(2) {
            Some(rival) => println!(" {:>11.4}", t[0] / rival),
            None => println!(" {:>11}", "-"),
        }
    }};
}

macro_rules! lines {
    ($($format:expr, $Frac:ty;)+) => {$(
        line!($format, $Frac, exp, -8.0, 8.0, cordic::exp);
        line!($format, $Frac, log, 0.001, 100.0);
        line!($format, $Frac, sin, -8.0, 8.0, cordic::sin);
        line!($format, $Frac, cos, -8.0, 8.0, cordic::cos);
        line!($format, $Frac, sqrt, 0.001, 100.0, cordic::sqrt);
        line!($format, $Frac, atan, -8.0, 8.0, cordic::atan);
    )+};
}

/// One line of the table of doubles: ours, called as the interpreter calls them, and the crate `libm`'s.
fn double(name: &str, ours: fn(f64) -> f64, theirs: fn(f64) -> f64, [from, to]: [f64; 2]) {
    let words = arguments(ARGUMENTS, 0.0, 1.0, Format::Q16_48);
    let doubles: Vec<f64> = words.iter().map(|&w| from + (to - from) * (w as f64 / 2f64.powi(48))).collect();
    assert!(doubles.iter().all(|&x| (ours(x) - theirs(x)).abs() <= theirs(x).abs() * 1e-14));
    let mut subjects = vec![subject(doubles.clone(), ours, f64::to_bits), subject(doubles, theirs, f64::to_bits)];
    let t = medians(&mut subjects, 31);
    println!("{name:<8} {:<8} {:>8.2} {:>9.2}", ".f", t[0] * 1e9, t[0] / t[1]);
}

macro_rules! doubles {
    ($($name:ident $from:literal $to:literal;)+) => {
        $( double(stringify!($name), raw::call::$name, libm::$name, [$from, $to]); )+
    };
}

fn main() {
    println!("{:<8} {:<8} {:>8} {:>9} {:>11}", "function", "format", "ns/call", "to libm", "to cordic");
    lines! {
        Format::Q32_32, U32;
        Format::Q21_43, U43;
        Format::Q16_48, U48;
    }
    doubles! {
        exp -8.0 8.0;
        exp2 -8.0 8.0;
        expm1 -2.0 2.0;
        log 0.001 100.0;
        log2 0.001 100.0;
        log1p -0.9 10.0;
        sin -8.0 8.0;
        cos -8.0 8.0;
        tan -8.0 8.0;
        asin -1.0 1.0;
        acos -1.0 1.0;
        atan -8.0 8.0;
        sinh -4.0 4.0;
        cosh -4.0 4.0;
        tanh -4.0 4.0;
        asinh -4.0 4.0;
        acosh 1.0 8.0;
        atanh -0.9 0.9;
        cbrt -8.0 8.0;
        erf -3.0 3.0;
        erfc -3.0 6.0;
        lgamma 0.1 20.0;
    }
    println!("\nto libm, to cordic: our time over theirs (target: at most 10 times libm's for exp, log, sin, sqrt).");
}
