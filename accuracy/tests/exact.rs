//! What is exact to the bit and so needs no table: rotations undo each other,
//! words wrap, sums of doubles are rounded once, powers of `.l` take ties to even.

use pendula_accuracy::points::{Random, edges};
use pendula_accuracy::shape::{LOGARITHMIC, Shape};
use pendula_isa::fault::Fault;
use pendula_isa::num::elementary::{self, Fixed};
use pendula_isa::num::{Env, Format, fixed, float, gauss, log};
use rug::{Float, Integer};

fn back_and_forth(t: Fixed, a: i64, b: i64, angle: i64) {
    let ([c, d], _) = elementary::rot(t, a, b, angle);
    let ([e, f], _) = elementary::irot(t, c, d, angle);
    assert_eq!([e, f], [a, b], "irot of rot of {a}, {b} by {angle}: {t:?}");
    let ([c, d], _) = elementary::irot(t, a, b, angle);
    let ([e, f], _) = elementary::rot(t, c, d, angle);
    assert_eq!([e, f], [a, b], "rot of irot of {a}, {b} by {angle}: {t:?}");
}

/// All pairs of words, by all angles, whether they wrap or not.
#[test]
fn rotations_of_few_bits_undo_each_other() {
    for frac in [4, 6] {
        let t = Fixed { width: 8, frac };
        for a in -128..128 {
            for b in -128..128 {
                for angle in -128..128 {
                    back_and_forth(t, a, b, angle);
                }
            }
        }
    }
}

#[test]
fn rotations_undo_each_other() {
    for shape in Shape::formats() {
        let t = Fixed { width: 64, frac: shape.frac() };
        let mut random = Random(31);
        for _ in 0..300_000 {
            let mut word = || random.sized() as i64;
            back_and_forth(t, word(), word(), word());
        }
        let edges = edges(shape);
        for &a in &edges {
            for &b in &edges {
                for &angle in &edges {
                    back_and_forth(t, a as i64, b as i64, angle as i64);
                }
            }
        }
    }
}

/// `muladd.q` wraps as the integers do, and says so.
#[test]
fn products_and_sums_wrap() {
    for format in Format::ALL {
        let env = Env { format, ieee: false };
        let mut random = Random(32);
        let mut edges = edges(format.into());
        edges.extend((0..20).map(|_| random.word()));
        for &a in &edges {
            for &b in &edges {
                for &c in &edges {
                    let product = Integer::from(a as i64) * (b as i64);
                    let sum = (product >> format.frac()) + (c as i64);
                    let word = sum.to_i64_wrapping();
                    let overflow = sum != word;
                    assert_eq!(fixed::muladd(env, a, b, c), (word as u64, overflow), "{a:#x} · {b:#x} + {c:#x}");
                }
            }
        }
    }
}

/// `plus.q` and `minus.q`, and the accumulators that they share their kernels with, wrap as the integers do, and say so.
#[test]
fn sums_and_differences_wrap() {
    for format in Format::ALL {
        let env = Env { format, ieee: false };
        let mut random = Random(34);
        let mut words = edges(format.into());
        words.extend((0..300).map(|_| random.sized()));
        for &a in &words {
            for &b in &words {
                let (x, y) = (Integer::from(a as i64), b as i64);
                for (exact, found) in
                    [(Integer::from(&x + y), fixed::add(env, a, b)), (Integer::from(&x - y), fixed::sub(env, a, b))]
                {
                    let word = exact.to_i64_wrapping();
                    assert_eq!(found, (word as u64, exact != word), "{a:#x}, {b:#x}");
                }
            }
        }
    }
}

/// `plus.f` and `minus.f`, and the accumulators that they share their kernels with, are rounded as IEEE 754 demands.
#[test]
fn sums_and_differences_of_doubles_are_rounded_once() {
    let env = Env::default();
    let mut random = Random(35);
    let mut words = edges(Shape::Double);
    words.extend((0..300).map(|_| random.number(Shape::Double)));
    // Words of like sizes, which cancel, and ties.
    let near: Vec<u64> = words.iter().flat_map(|w| [w ^ 1, w ^ 1 << 63, w.wrapping_sub(52 << 52)]).collect();
    words.extend(near);
    words.retain(|&w| float::is_finite(w));
    for &a in &words {
        for &b in &words {
            let (x, y) = (f64::from_bits(a), f64::from_bits(b));
            for (y, found) in [(y, float::add(env, a, b)), (-y, float::sub(env, a, b))] {
                // What is below the normal numbers is exact, so that 53 bits hold it.
                let sum = Float::with_val(53, Float::with_val(2200, x) + y).to_f64();
                let expected = match () {
                    () if !sum.is_finite() => Err(Fault::NotFinite),
                    // Zero is negative if both were; MPFR is not asked.
                    () if sum == 0.0 && x.is_sign_negative() && y.is_sign_negative() => Ok((-0.0f64).to_bits()),
                    () if sum == 0.0 => Ok(0),
                    () => Ok(sum.to_bits()),
                };
                assert_eq!(found, expected, "{x:e}, {y:e}");
            }
        }
    }
}

/// Twice the product of a logarithm and an exponent, and an odd number of half units: a tie.
#[test]
fn powers_of_logarithms_are_exact() {
    for format in Format::ALL {
        let env = Env { format, ieee: false };
        let mut random = Random(33);
        let mut words = edges(LOGARITHMIC);
        words.extend((0..300).map(|_| random.number(LOGARITHMIC)));
        let mut exponents = edges(format.into());
        exponents.extend((0..300).map(|_| random.number(format.into())));
        // Many halves and quarters: ties.
        exponents.extend((-100i64..100).map(|n| (n << (format.frac() - 2)) as u64));
        let mut ties = 0;
        for &a in words.iter().filter(|&&a| log::valid(a) && a != log::ZERO) {
            for &b in &exponents {
                let exact = Integer::from(log::logarithm(a)) * (b as i64);
                let mask = (1u64 << format.frac()) - 1;
                let expected = if log::is_negative(a) && b & mask != 0 {
                    Err(Fault::Domain)
                } else {
                    let down = Integer::from(&exact >> format.frac());
                    let rest = exact - Integer::from(&down << format.frac());
                    let half = Integer::from(1) << (format.frac() - 1);
                    ties += usize::from(rest == half);
                    let up = rest > half || (rest == half && down.is_odd());
                    let whole = (b as i64) >> format.frac();
                    (down + u32::from(up))
                        .to_i64()
                        .ok_or(Fault::Range)
                        .and_then(|l| log::from_parts(log::is_negative(a) && whole & 1 == 1, l))
                };
                assert_eq!(gauss::pow(env, a, b), expected, "{a:#x} to the {b:#x}");
            }
        }
        assert!(ties > 1000);
    }
}
