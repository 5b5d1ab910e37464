//! Every conversion between types, word for word against MPFR.
//!
//! Each test prints how many words it saw, the worst error in units in the last
//! place, and fails on the first word that is not the correctly rounded one.

use pendula_accuracy::{Rounding, Type, env, nearest, value, words};
use pendula_isa::num::{Env, Format, Word, convert};

/// Random words for each conversion and format, beside the edges.
const COUNT: usize = 120_000;
/// What the documentation of `convert` promises, 1/2 + 2^-58, as a double; the floors are below 1.
const BOUND: f64 = 0.5;

fn check(name: &str, from: Type, to: Type, rounding: Rounding, convert: fn(Env, u64) -> Word) {
    let formats: &[Format] = match (from, to) {
        (Type::Q, _) | (_, Type::Q) => &Format::ALL,
        _ => &[Format::Q32_32],
    };
    let words = words(from, COUNT);
    for &format in formats {
        let (mut worst, mut at, mut converted) = (0.0, 0, 0);
        for &word in &words {
            let got = convert(env(format), word);
            let (expected, error) = match value(from, format, word) {
                Ok(x) => nearest(to, rounding, format, &x, got),
                Err(fault) => (Err(fault), 0.0),
            };
            assert_eq!(got, expected, "{name} of {word:#018x} in {}", format.name());
            converted += usize::from(got.is_ok());
            if error > worst {
                (worst, at) = (error, word);
            }
        }
        println!(
            "{name} {}: {} words, {converted} in range, worst error {worst:.12} ulp at {at:#018x}",
            format.name(),
            words.len()
        );
        match rounding {
            Rounding::Nearest => assert!(worst <= BOUND),
            Rounding::Floor => assert!(worst <= 1.0),
        }
        assert!(converted > 1000);
    }
}

macro_rules! conversions {
    ($($name:ident $from:ident $to:ident $rounding:ident;)*) => { $(
        #[test]
        fn $name() {
            check(stringify!($name), Type::$from, Type::$to, Rounding::$rounding, convert::$name);
        }
    )* };
}

conversions! {
    int_to_q Int Q Nearest;
    int_to_l Int L Nearest;
    int_to_f Int F Nearest;
    q_to_int Q Int Floor;
    q_to_l Q L Nearest;
    q_to_f Q F Nearest;
    l_to_int L Int Nearest;
    l_to_q L Q Nearest;
    l_to_f L F Nearest;
    f_to_int F Int Floor;
    f_to_q F Q Nearest;
    f_to_l F L Nearest;
}
