//! Fixed point, `.q`: a word is an `i64` in units of 2^-frac, the module's
//! [`Format`](super::Format).
//!
//! The basic operations wrap on overflow and report it; the engine decides whether
//! that is a trap. The elementary functions are those of
//! [`elementary`] on words of 64 bits; their errors are documented there.
//! Conversions are not here ([`convert`](super::convert)), nor is text
//! ([`decimal`](super::decimal)).

use std::cmp::Ordering;

use super::elementary::{self, Fixed};
use super::{Env, Word};
use crate::fault::Fault;
use crate::kernels::{Kernel, fixed as kernels};

/// Declares functions from words to a word and whether it wrapped, which kernels define.
macro_rules! wrapping {
    ($( $(#[doc = $doc:literal])+ $name:ident ( $($arg:ident),+ ) as [$($all:expr),+] of $Kernel:ident; )+) => {$(
        $(#[doc = $doc])+
        #[inline]
        pub fn $name(env: Env, $($arg: u64),+) -> (u64, bool) {
            match kernels::$Kernel::words(env, [$($all),+]) {
                Ok(([word, _], wrapped)) => (word, wrapped),
                Err(_) => (0, true),
            }
        }
    )+};
}

wrapping! {
    /// a + b, exact or wrapped; true when it overflowed.
    add(a, b) as [a, b, b, b] of Add;
    /// a − b, exact or wrapped; true when it overflowed.
    sub(a, b) as [a, b, b, b] of Sub;
    /// a · b, rounded toward −∞ and then wrapped; true when it overflowed.
    ///
    /// The floor is what dropping the low bits of the two's-complement product
    /// gives, in the crate `fixed` and in a circuit.
    mul(a, b) as [a, b, b, b] of Mul;
    /// a · b + c, the product rounded toward −∞; wrapped, and true when it overflowed.
    muladd(a, b, c) as [a, b, c, c] of Muladd;
}

/// a / b, rounded toward zero.
///
/// # Errors
/// [`Fault::DivideByZero`]; [`Fault::Range`] when the quotient does not fit (it does not wrap).
#[inline]
pub fn div(env: Env, a: u64, b: u64) -> Word {
    if b == 0 {
        return Err(Fault::DivideByZero);
    }
    // At most 63 + 48 bits: neither the shift nor the division overflows.
    let quotient = (i128::from(a as i64) << env.format.frac()) / i128::from(b as i64);
    i64::try_from(quotient).map(|word| word as u64).map_err(|_| Fault::Range)
}

/// −a; the most negative word wraps to itself, and the result is then true.
#[inline]
pub fn neg(a: u64) -> (u64, bool) {
    let (word, overflow) = (a as i64).overflowing_neg();
    (word as u64, overflow)
}

/// The order of the numbers, which is that of the integers.
#[inline]
pub fn compare(a: u64, b: u64) -> Ordering {
    (a as i64).cmp(&(b as i64))
}

/// The module's format as a type of the elementary functions.
#[inline]
const fn fixed(env: Env) -> Fixed {
    Fixed { width: 64, frac: env.format.frac() }
}

/// Declares the functions from words to a word, with the first line of each one's documentation.
macro_rules! elementary {
    ($( $(#[doc = $doc:literal])+ $name:ident ( $($arg:ident),+ ) )+) => {$(
        $(#[doc = $doc])+
        ///
        /// # Errors
        #[doc = concat!("Those of [`elementary::", stringify!($name), "`].")]
        #[inline]
        pub fn $name(env: Env, $($arg: u64),+) -> Word {
            elementary::$name(fixed(env), $($arg as i64),+).map(|word| word as u64)
        }
    )+};
}

elementary! {
    /// 1 / a, rounded toward zero.
    inv(a)
    /// a^b; 0^0 is 1.
    pow(a, b)
    /// a^n for an integer n, not a fixed-point number; 0^0 is 1.
    powi(a, n)
    /// e^a.
    exp(a)
    /// Natural logarithm.
    log(a)
    /// Logarithm to base 2.
    log2(a)
    /// Square root, correctly rounded.
    sqrt(a)
    /// sqrt(a² + b²), correctly rounded.
    hypot(a, b)
    /// Sine.
    sin(a)
    /// Cosine.
    cos(a)
    /// Tangent.
    tan(a)
    /// Arc sine, from −π/2 to π/2.
    asin(a)
    /// Arc cosine, from 0 to π.
    acos(a)
    /// Arc tangent, from −π/2 to π/2.
    atan(a)
    /// The angle of the point (x, y), from −π to π.
    atan2(y, x)
    /// Hyperbolic sine.
    sinh(a)
    /// Hyperbolic cosine.
    cosh(a)
    /// Hyperbolic tangent.
    tanh(a)
}

/// (a, b) turned by θ, as [`elementary::rot`]: a bijection for every θ. True when a word wrapped.
#[inline]
pub fn rot(env: Env, a: u64, b: u64, theta: u64) -> ([u64; 2], bool) {
    let (pair, wrapped) = elementary::rot(fixed(env), a as i64, b as i64, theta as i64);
    (pair.map(|word| word as u64), wrapped)
}

/// The inverse of [`rot`] with the same θ.
#[inline]
pub fn irot(env: Env, a: u64, b: u64, theta: u64) -> ([u64; 2], bool) {
    let (pair, wrapped) = elementary::irot(fixed(env), a as i64, b as i64, theta as i64);
    (pair.map(|word| word as u64), wrapped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::Format;
    use crate::num::sample::{Random, edges};
    use ::fixed::FixedI64;
    use ::fixed::types::extra::{LeEqU64, U32, U43, U48};

    /// Every kernel against the crate `fixed`.
    fn check<F: LeEqU64>(format: Format, a: u64, b: u64) {
        let env = Env { format, ieee: false };
        let bits = |(x, overflow): (FixedI64<F>, bool)| (x.to_bits() as u64, overflow);
        let (x, y) = (FixedI64::<F>::from_bits(a as i64), FixedI64::<F>::from_bits(b as i64));
        assert_eq!(add(env, a, b), bits(x.overflowing_add(y)), "{a:#x} + {b:#x}");
        assert_eq!(sub(env, a, b), bits(x.overflowing_sub(y)), "{a:#x} - {b:#x}");
        assert_eq!(mul(env, a, b), bits(x.overflowing_mul(y)), "{a:#x} * {b:#x}");
        assert_eq!(mul(env, a, b).0, x.wrapping_mul(y).to_bits() as u64);
        assert_eq!(neg(a), bits(x.overflowing_neg()));
        assert_eq!(compare(a, b), x.cmp(&y));
        let quotient = match (b, b != 0 && x.overflowing_div(y).1) {
            (0, _) => Err(Fault::DivideByZero),
            (_, true) => Err(Fault::Range),
            (_, false) => Ok(x.overflowing_div(y).0.to_bits() as u64),
        };
        assert_eq!(div(env, a, b), quotient, "{a:#x} / {b:#x}");
    }

    fn check_all(a: u64, b: u64) {
        check::<U32>(Format::Q32_32, a, b);
        check::<U43>(Format::Q21_43, a, b);
        check::<U48>(Format::Q16_48, a, b);
    }

    #[test]
    fn agrees_with_the_crate_fixed_on_edges() {
        let edges = edges();
        for &a in &edges {
            for &b in &edges {
                check_all(a, b);
            }
        }
    }

    #[test]
    fn agrees_with_the_crate_fixed_at_random() {
        let mut random = Random(1);
        for _ in 0..100_000 {
            let (a, b) = (random.sized(), random.sized());
            check_all(a, b);
        }
    }

    #[test]
    fn agrees_with_the_crate_fixed_on_small_numbers() {
        // Eight significant bits either side, about 2^-16, 1 and the overflow of the product.
        for shift in [0, 24, 40, 52] {
            for a in -128i64..128 {
                for b in -128i64..128 {
                    check_all((a << shift) as u64, (b << shift) as u64);
                }
            }
        }
    }

    #[test]
    fn rounding() {
        let env = Env::default();
        let half = 1 << 31;
        assert_eq!(mul(env, (-3i64) as u64, half), ((-2i64) as u64, false), "down");
        assert_eq!(div(env, (-3i64) as u64, 2 << 32), Ok((-1i64) as u64), "toward zero");
        assert_eq!(div(env, i64::MIN as u64, (-1i64 << 32) as u64), Err(Fault::Range));
        assert_eq!(neg(i64::MIN as u64), (i64::MIN as u64, true));
    }

    #[test]
    fn elementary_functions_of_the_formats() {
        for format in Format::ALL {
            let env = Env { format, ieee: false };
            let q = |whole: i64| (whole << format.frac()) as u64;
            assert_eq!(exp(env, 0), Ok(q(1)));
            assert_eq!(log2(env, q(8)), Ok(q(3)));
            assert_eq!(sqrt(env, q(49)), Ok(q(7)));
            assert_eq!(pow(env, q(-3), q(3)), Ok(q(-27)));
            assert_eq!(powi(env, q(-3), 3), Ok(q(-27)));
            assert_eq!(powi(env, q(2), (-1i64) as u64), inv(env, q(2)));
            assert_eq!(hypot(env, q(-5), q(12)), Ok(q(13)));
            assert_eq!(atan2(env, q(1), q(1)), atan(env, q(1)));
            assert_eq!(kernels::Sign::words(env, [q(-7); 4]), Ok(([q(-1); 2], false)));
            assert_eq!(log(env, q(-1)), Err(Fault::Domain));
            assert_eq!(muladd(env, q(3), q(5), q(-1)), (q(14), false));
            let (pair, wrapped) = rot(env, q(3), q(4), q(2));
            assert_eq!(irot(env, pair[0], pair[1], q(2)), ([q(3), q(4)], wrapped));
        }
    }
}
