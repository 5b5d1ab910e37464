//! The functions in C give the same bits as in Rust, alone and in loops that compilers vectorise, whatever liberties options allow.

use std::io::Write as _;
use std::process::{Command, Stdio};

use pendula_isa::Env;
use pendula_isa::kernels::Kernel;
use pendula_isa::num::raw::LIMIT;

use super::*;
use crate::cc::{OPTIONS, Rounding, rounding_options};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Of every size, and often of moderate size.
    fn double(&mut self) -> f64 {
        let unit = self.word() as i64 as f64 / 2f64.powi(63);
        match self.word() % 8 {
            0 => f64::from_bits(self.word()),
            1 => unit * 750.0,
            2 => unit * 30.0,
            3 => unit * 2f64.powi((self.word() % 80) as i32 - 40),
            4 => 1.0 + unit * 2f64.powi(-((self.word() % 52) as i32)),
            5 => (unit * 100.0).round() / 2.0,
            _ => unit * 2.0,
        }
    }
}

fn arguments() -> Vec<[f64; 3]> {
    let mut edges = vec![
        0.0,
        5e-324,
        1e-310,
        f64::MIN_POSITIVE,
        1e-300,
        1e-150,
        1e-17,
        0.25,
        0.5,
        0.75,
        1.0,
        1.5,
        2.0,
        3.0,
        6.0,
        20.0,
    ];
    edges.extend([
        27.0,
        28.0,
        709.78,
        710.0,
        711.0,
        745.13,
        746.0,
        1e10,
        1e18,
        1_073_741_824.0,
        LIMIT,
        1e150,
        1e200,
        f64::MAX,
    ]);
    edges.extend([std::f64::consts::FRAC_PI_2, std::f64::consts::PI, std::f64::consts::LN_2, std::f64::consts::SQRT_2]);
    let mut edges: Vec<f64> = edges.into_iter().flat_map(|x: f64| [x, x.next_up(), x.next_down()]).collect();
    edges.extend(edges.clone().iter().map(|x| -x));
    let mut random = Random(11);
    let mut out: Vec<[f64; 3]> = edges
        .iter()
        .flat_map(|a| [[*a, 2.0, -1.0], [*a, -1.5, *a], [*a, *a, 1.0], [2.5, *a, -0.0], [*a, -a, 0.0]])
        .collect();
    out.extend((0..30_000).map(|_| [random.double(), random.double(), random.double()]));
    out
}

/// The value of a kernel in Rust, if there is one within the range of the C function.
type Value = fn([f64; 3]) -> Option<u64>;

fn value<K: Kernel>(x: [f64; 3]) -> Option<u64> {
    let far = raw::holds(K::INFO.name, x) == Some(false);
    let [a, b, c] = x.map(f64::to_bits);
    let words = K::words(Env::default(), [a, b, c, 0]);
    words.ok().filter(|_| !far).map(|([word, _], _)| word)
}

macro_rules! functions {
    ($($Name:ident)+) => { &[$((<kernels::$Name as Kernel>::INFO.name, value::<kernels::$Name> as Value)),+] };
}

const FUNCTIONS: &[(&str, Value)] = functions! {
    Exp Exp2 Expm1 Sinh Cosh Tanh Log Log2 Log1p Asinh Acosh Atanh Sin Cos Tan Asin Acos Atan Atan2 Cbrt Hypot Pow Powi Erf Erfc
    Muladd Sign Relu Min Max Floor
};

/// A program that reads arguments and writes the values of all functions, each from a loop that compilers vectorise.
fn program() -> String {
    let (mut loops, mut calls) = (String::new(), String::new());
    for (kernel, _) in FUNCTIONS {
        let integer = facts(kernel).is_some_and(|facts| facts.integer);
        let second = match arity(kernel) {
            2 if integer => ", bits(b[i])",
            2 => ", b[i]",
            3 => ", b[i], c[i]",
            _ => "",
        };
        let _ = writeln!(
            loops,
            "__attribute__((noinline)) static void each_{kernel}(const double *restrict a, const double *restrict b, const double *restrict c, double *restrict out, word n)\n\
             {{\n    for (word i = 0; i < n; i++)\n        out[i] = inline_{kernel}(a[i]{second});\n}}"
        );
        let _ = writeln!(calls, "    each_{kernel}(a, b, c, out, n);\n    fwrite(out, 8, n, stdout);");
    }
    let functions = super::functions(FUNCTIONS.iter().map(|(name, _)| *name), &loops);
    format!(
        "#include <stdio.h>\n#include <stdlib.h>\n{}\n{functions}\n{loops}\n\
         int main(void)\n{{\n    word n;\n    if (fread(&n, 8, 1, stdin) != 1) return 1;\n\
         double *a = malloc(8 * n), *b = malloc(8 * n), *c = malloc(8 * n), *out = malloc(8 * n);\n\
         if (fread(a, 8, n, stdin) != n || fread(b, 8, n, stdin) != n || fread(c, 8, n, stdin) != n) return 1;\n{calls}    return 0;\n}}\n",
        super::super::PRELUDE
    )
}

fn run(source: &str, rounding: Rounding, input: &[u8]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let (file, binary) = (folder.path().join("functions.c"), folder.path().join("functions"));
    std::fs::write(&file, source).unwrap();
    let name = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let options = OPTIONS.iter().filter(|o| **o != "-shared").chain(rounding_options(rounding));
    let made =
        Command::new(&name).args(options).arg("-march=native").arg("-o").args([&binary, &file]).arg("-lm").status();
    assert!(made.unwrap().success());
    let mut child = Command::new(&binary).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut to = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || to.write_all(&input).unwrap());
    let out = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(out.status.success());
    out.stdout
}

#[test]
fn the_same_bits_in_c() {
    let arguments = arguments();
    let mut input = (arguments.len() as u64).to_le_bytes().to_vec();
    for n in 0..3 {
        arguments.iter().for_each(|x| input.extend(x[n].to_bits().to_le_bytes()));
    }
    let source = program();
    let settings = [Rounding::Strict, Rounding::Contract, Rounding::Fast];
    let outputs: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let threads = settings.map(|rounding| {
            let (source, input) = (&source, &input);
            scope.spawn(move || run(source, rounding, input))
        });
        threads.map(|t| t.join().unwrap()).into()
    });
    for (rounding, output) in settings.into_iter().zip(outputs) {
        let words: Vec<u64> = output.as_chunks::<8>().0.iter().map(|w| u64::from_le_bytes(*w)).collect();
        assert_eq!(words.len(), FUNCTIONS.len() * arguments.len());
        for ((name, value), words) in FUNCTIONS.iter().zip(words.chunks(arguments.len())) {
            let mut met = 0;
            for (x, word) in arguments.iter().zip(words) {
                let Some(right) = value(*x) else { continue };
                met += 1;
                assert_eq!(
                    *word,
                    right,
                    "{name}{x:?} {rounding:?}: {} {}",
                    f64::from_bits(*word),
                    f64::from_bits(right)
                );
            }
            assert!(met > 5_000, "{name}: {met}");
        }
    }
}

/// What sums rely on that are looked at once, after they are made.
#[test]
fn values_that_are_never_negative() {
    let arguments = arguments();
    let mut seen = 0;
    for (name, value) in FUNCTIONS.iter().filter(|(name, _)| facts(name).is_some_and(|facts| facts.not_negative)) {
        seen += 1;
        for word in arguments.iter().filter_map(|x| value(*x)) {
            assert!(f64::from_bits(word) >= 0.0, "{name}");
        }
    }
    assert!(seen >= 7, "{seen}");
}

/// Each kernel with a body is among those that are compared.
#[test]
fn every_body_is_compared() {
    for info in kernels::ALL {
        let compared = FUNCTIONS.iter().any(|(name, _)| *name == info.name);
        assert_eq!(facts(info.name).is_some(), compared, "{}", info.name);
    }
}
