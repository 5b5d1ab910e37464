//! Elementary functions of fixed-point words beside `libm`'s of doubles and the
//! crate `cordic`'s of fixed-point numbers, on the same arguments in the same
//! run. `cargo bench --bench elementary`.
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
use pendula::isa::num::{Env, Format, fixed as q};

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

fn main() {
    println!("{:<8} {:<8} {:>8} {:>9} {:>11}", "function", "format", "ns/call", "to libm", "to cordic");
    lines! {
        Format::Q32_32, U32;
        Format::Q21_43, U43;
        Format::Q16_48, U48;
    }
    println!("\nto libm, to cordic: our time over theirs (target: at most 10 times libm's for exp, log, sin, sqrt).");
}
