//! The 128-bit logarithm and power of two on their own: how much they leave to
//! the rounding that follows.

use pendula_accuracy::points::Random;
use pendula_accuracy::{exp2, log2};
use rug::{Float, Integer};

const PRECISION: u32 = 300;
/// What the documentation of `wide` promises, as a power of two.
const BOUND: f64 = -122.0;

fn real(n: u128, shift: u32) -> Float {
    Float::with_val(PRECISION, Integer::from(n)) >> shift
}

/// Every value of the leading 10 bits, the tables' 7 among them, with low bits that
/// are all clear, all set, and random.
fn fractions(random: &mut Random) -> Vec<u128> {
    let mut fractions = Vec::new();
    for lead in 0..1024u128 {
        let low = (u128::from(random.word()) << 64 | u128::from(random.word())) >> 10;
        fractions.extend([0, 1, low, (1 << 118) - 1].map(|low| lead << 118 | low));
    }
    for _ in 0..200_000 {
        fractions.push(u128::from(random.word()) << 64 | u128::from(random.word()));
    }
    fractions
}

fn report(name: &str, worst: Float) {
    let bits = worst.log2().to_f64();
    println!("{name}: worst error 2^{bits:.2}");
    assert!(bits < BOUND);
}

#[test]
fn logarithm() {
    let mut worst = Float::with_val(PRECISION, 0);
    for fraction in fractions(&mut Random(11)) {
        let m = fraction >> 1 | 1 << 127;
        let error = (real(log2(m), 127) - real(m, 127).log2()).abs();
        worst = worst.max(&error);
    }
    report("log2", worst);
}

#[test]
fn power() {
    let mut worst = Float::with_val(PRECISION, 0);
    for fraction in fractions(&mut Random(12)) {
        let error = (real(exp2(fraction), 127) - real(fraction, 128).exp2()).abs();
        worst = worst.max(&error);
    }
    report("exp2", worst);
}
