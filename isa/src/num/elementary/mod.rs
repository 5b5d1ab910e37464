//! Elementary functions of fixed-point numbers, in integers: the same bits on
//! every machine.
//!
//! | functions | rounding | error |
//! |---|---|---|
//! | `sqrt`, `hypot` | nearest | ½ ulp |
//! | `exp`, `log`, `log2`, `sin`, `cos`, `tan`, arc and hyperbolic functions, `pow` | nearest | ½ + 2^-10 ulp |
//! | `powi` | nearest | ½ + 2^-6 ulp |
//! | `inv` | toward zero | 1 ulp |
//! | `rot`, `irot` | nearest in each shear | see [`rot`] |
//! | the rest | exact | 0 |
//!
//! An ulp is a unit of the word, 2^-frac. The errors hold for every argument
//! and every type; the comments at each computation derive them, and
//! the crate `accuracy` compares with MPFR. What the type cannot hold after
//! rounding is [`Fault::Range`]; numbers below half a unit round to zero.
//!
//! The kernels know the width of the word only where a result is checked or
//! wrapped, so that a test of every argument of a narrow type tests the code
//! that runs on 64 bits.

mod arc;
mod exp;
mod hyperbolic;
mod log;
mod power;
mod root;
mod rotate;
mod rounding;
mod trig;

pub use self::arc::{acos, asin, atan, atan2};
pub use self::exp::exp;
pub use self::hyperbolic::{cosh, sinh, tanh};
pub use self::log::{log, log2};
pub use self::power::{pow, powi};
pub use self::root::{hypot, sqrt};
pub use self::rotate::{irot, rot};
pub use self::trig::{cos, sin, tan};

use self::rounding::fit;
use crate::fault::Fault;

/// A fixed-point type: words of `width` bits (8 to 64), two's complement and
/// sign-extended in an `i64`, `frac` of them (1 to min(width − 2, 48)) fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// Bits of a word.
    pub width: u32,
    /// Fraction bits among them.
    pub frac: u32,
}

impl Fixed {
    /// The greatest word. The least is its complement.
    pub const fn max(self) -> i64 {
        i64::MAX >> (64 - self.width)
    }

    /// The word of 1.
    pub const fn one(self) -> i64 {
        1 << self.frac
    }

    /// The low `width` bits, sign-extended; true when that changes the number.
    #[inline]
    pub(crate) const fn wrap(self, n: i128) -> (i64, bool) {
        let above = 64 - self.width;
        let word = ((n as i64) << above) >> above;
        (word, word as i128 != n)
    }
}

/// 1 / a, rounded toward zero.
///
/// # Errors
/// [`Fault::DivideByZero`]; [`Fault::Range`].
pub fn inv(t: Fixed, a: i64) -> Result<i64, Fault> {
    if a == 0 {
        return Err(Fault::DivideByZero);
    }
    fit(t, (1i128 << (2 * t.frac)) / i128::from(a))
}

/// |a|.
///
/// # Errors
/// [`Fault::Range`] for the least word.
#[inline]
pub fn abs(t: Fixed, a: i64) -> Result<i64, Fault> {
    fit(t, i128::from(a).abs())
}

/// −1, 0 or 1, as a number. Never fails.
#[inline]
pub fn sign(t: Fixed, a: i64) -> Result<i64, Fault> {
    Ok(a.signum() << t.frac)
}

/// The lesser. Never fails.
#[inline]
pub fn min(_t: Fixed, a: i64, b: i64) -> Result<i64, Fault> {
    Ok(a.min(b))
}

/// The greater. Never fails.
#[inline]
pub fn max(_t: Fixed, a: i64, b: i64) -> Result<i64, Fault> {
    Ok(a.max(b))
}

/// The greater of a and 0. Never fails.
#[inline]
pub fn relu(_t: Fixed, a: i64) -> Result<i64, Fault> {
    Ok(a.max(0))
}

/// The greatest whole number not above a. Never fails: the least word is whole.
#[inline]
pub fn floor(t: Fixed, a: i64) -> Result<i64, Fault> {
    Ok(a >> t.frac << t.frac)
}

/// ⌊a · b⌋ + c, the floor at the last place; wrapped, and true when it overflowed.
#[inline]
pub fn muladd(t: Fixed, a: i64, b: i64, c: i64) -> (i64, bool) {
    t.wrap(((i128::from(a) * i128::from(b)) >> t.frac) + i128::from(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Unary = (&'static str, fn(Fixed, i64) -> Result<i64, Fault>, fn(f64) -> f64);
    type Binary = (&'static str, fn(Fixed, i64, i64) -> Result<i64, Fault>, fn(f64, f64) -> f64);

    const UNARY: [Unary; 17] = [
        ("exp", exp, libm::exp),
        ("log", log, libm::log),
        ("log2", log2, libm::log2),
        ("sqrt", sqrt, libm::sqrt),
        ("sin", sin, libm::sin),
        ("cos", cos, libm::cos),
        ("tan", tan, libm::tan),
        ("asin", asin, libm::asin),
        ("acos", acos, libm::acos),
        ("atan", atan, libm::atan),
        ("sinh", sinh, libm::sinh),
        ("cosh", cosh, libm::cosh),
        ("tanh", tanh, libm::tanh),
        ("abs", abs, libm::fabs),
        ("sign", sign, |x| if x == 0.0 { 0.0 } else { x.signum() }),
        ("relu", relu, |x| x.max(0.0)),
        ("floor", floor, libm::floor),
    ];

    const BINARY: [Binary; 6] = [
        ("atan2", atan2, libm::atan2),
        ("hypot", hypot, libm::hypot),
        ("pow", pow, libm::pow),
        ("powi", |t, a, n| powi(t, a, n >> t.frac), |x, n| libm::pow(x, libm::floor(n))),
        ("min", min, f64::min),
        ("max", max, f64::max),
    ];

    /// The word is nearest to the number in units, or the fault says why there is none. A double is an exact enough
    /// oracle for narrow types: a case that it cannot decide is practically a tie.
    fn check(t: Fixed, what: &dyn Fn() -> String, word: Result<i64, Fault>, number: f64) {
        let units = number * t.one() as f64;
        let max = t.max() as f64;
        let near = 0.5 + 1e-9 * (1.0 + units.abs());
        match word {
            Ok(word) => {
                assert!((!t.max()..=t.max()).contains(&word), "{}", what());
                assert!((word as f64 - units).abs() <= near, "{}: {word} for {units}", what());
            }
            Err(Fault::Domain) => assert!(number.is_nan() || number == f64::NEG_INFINITY, "{}", what()),
            Err(Fault::DivideByZero) => assert!(number.is_infinite(), "{}", what()),
            Err(Fault::Range) => assert!(units >= max + 1.0 - near || units <= near - max - 2.0, "{}: {units}", what()),
            Err(fault) => panic!("{}: {fault:?}", what()),
        }
    }

    #[test]
    fn every_argument_of_narrow_types() {
        for (width, frac) in [(8, 1), (8, 6), (12, 4), (12, 10), (14, 7), (15, 2)] {
            let t = Fixed { width, frac };
            for (name, function, truth) in UNARY {
                for a in !t.max()..=t.max() {
                    let x = a as f64 / t.one() as f64;
                    check(t, &|| format!("{t:?} {name} {a}"), function(t, a), truth(x));
                }
            }
        }
    }

    #[test]
    fn every_pair_of_narrow_types() {
        for (width, frac) in [(8, 1), (8, 4), (8, 6)] {
            let t = Fixed { width, frac };
            for (name, function, truth) in BINARY {
                for a in !t.max()..=t.max() {
                    for b in !t.max()..=t.max() {
                        let (x, y) = (a as f64 / t.one() as f64, b as f64 / t.one() as f64);
                        let number =
                            if (name, a, b < 0) == ("atan2", 0, true) { std::f64::consts::PI } else { truth(x, y) };
                        check(t, &|| format!("{t:?} {name} {a} {b}"), function(t, a, b), number);
                    }
                }
            }
        }
    }

    #[test]
    fn inverse() {
        let t = Fixed { width: 64, frac: 32 };
        assert_eq!(inv(t, 0), Err(Fault::DivideByZero));
        assert_eq!(inv(t, 3 << 32), Ok((1 << 32) / 3));
        assert_eq!(inv(t, -3 << 32), Ok(-((1 << 32) / 3)), "toward zero");
        assert_eq!(inv(t, 2), Err(Fault::Range));
        assert_eq!(inv(t, -2), Ok(i64::MIN));
        assert_eq!(inv(t, 3), Ok(((1u128 << 64) / 3) as i64));
    }

    #[test]
    fn multiply_and_add() {
        let t = Fixed { width: 8, frac: 4 };
        for (a, b, c) in (-128i64..128).step_by(3).flat_map(|a| (-128..128).map(move |b| (a, b, (7 * a) ^ b))) {
            let c = i64::from(c as i8);
            let exact = (a * b).div_euclid(16) + c;
            assert_eq!(muladd(t, a, b, c), (i64::from(exact as i8), exact != i64::from(exact as i8)));
        }
        let t = Fixed { width: 64, frac: 1 };
        assert!(muladd(t, i64::MIN, i64::MIN, i64::MIN).1);
        assert_eq!(muladd(t, i64::MIN, 2, 1), (i64::MIN + 1, false));
    }

    #[test]
    fn the_least_word() {
        let t = Fixed { width: 64, frac: 48 };
        assert_eq!(abs(t, i64::MIN), Err(Fault::Range));
        assert_eq!(floor(t, i64::MIN), Ok(i64::MIN));
        assert_eq!(sign(t, i64::MIN), Ok(-t.one()));
        assert_eq!(relu(t, i64::MIN), Ok(0));
    }
}
