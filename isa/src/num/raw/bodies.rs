//! The bodies by the names of their kernels, and where they hold, for whatever runs them on another arithmetic.

use super::domain::*;
use super::{Double, LIMIT, arc, error, exponential, logarithm, root, simple, trigonometric};

/// What is known of a body.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// How many of the arguments, from the first on, must be finite without [`holds`] saying so.
    pub finite: usize,
    /// Whether the value may be infinite.
    pub overflows: bool,
    /// Whether there are finite arguments for which it does not hold.
    pub partial: bool,
    /// Whether the second argument has the bits of a signed word.
    pub integer: bool,
    /// Whether it takes no more time than some sums.
    pub short: bool,
    /// Whether its values are never negative.
    pub not_negative: bool,
}

macro_rules! bodies {
    ($( $kernel:literal $x:pat, finite $finite:literal $(, $flag:ident)* => $body:expr $(, if $holds:expr)?; )*) => {
        /// The body of the kernel of this name; `None` if it has none.
        pub fn body<D: Double>(kernel: &str, x: [D; 3]) -> Option<D> {
            match kernel {
                $( $kernel => { let $x = x; Some($body) } )*
                _ => None,
            }
        }

        /// Whether it holds for these arguments; `None` if it does for all that are finite.
        pub fn holds<D: Double>(kernel: &str, x: [D; 3]) -> Option<D::Truth> {
            match kernel {
                $($( $kernel => { let $x = x; Some($holds) } )?)*
                _ => None,
            }
        }

        /// What is known of it.
        pub fn facts(kernel: &str) -> Option<Facts> {
            match kernel {
                $( $kernel => {
                    let flags: &[&str] = &[$(stringify!($flag)),*];
                    let partial: &[&str] = &[$(stringify!($holds))?];
                    Some(Facts {
                        finite: $finite,
                        overflows: flags.contains(&"overflows"),
                        partial: !partial.is_empty(),
                        integer: flags.contains(&"integer"),
                        short: flags.contains(&"short"),
                        not_negative: flags.contains(&"not_negative"),
                    })
                } )*
                _ => None,
            }
        }
    };
}

bodies! {
    "float_muladd" [a, b, c], finite 3, overflows, short => a.fma(b, c);
    "float_sign" [a, ..], finite 1, short => simple::sign(a);
    "float_relu" [a, ..], finite 1, short, not_negative => simple::relu(a);
    "float_min" [a, b, _], finite 2, short => simple::min(a, b);
    "float_max" [a, b, _], finite 2, short => simple::max(a, b);
    "float_floor" [a, ..], finite 1, short => simple::floor(a);
    "float_exp" [a, ..], finite 1, overflows, not_negative => exponential::exp(a);
    "float_exp2" [a, ..], finite 1, overflows, not_negative => exponential::exp2(a);
    "float_expm1" [a, ..], finite 1, overflows => exponential::expm1(a);
    "float_sinh" [a, ..], finite 1, overflows => exponential::sinh(a);
    "float_cosh" [a, ..], finite 1, overflows, not_negative => exponential::cosh(a);
    "float_tanh" [a, ..], finite 1 => exponential::tanh(a);
    "float_log" [a, ..], finite 1 => logarithm::log(a), if positive(a);
    "float_log2" [a, ..], finite 1 => logarithm::log2(a), if positive(a);
    "float_log1p" [a, ..], finite 1 => logarithm::log1p(a), if above_minus_one(a);
    "float_asinh" [a, ..], finite 1 => logarithm::asinh(a);
    "float_acosh" [a, ..], finite 1, not_negative => logarithm::acosh(a), if at_least_one(a);
    "float_atanh" [a, ..], finite 0 => logarithm::atanh(a), if inside_one(a);
    "float_sin" [a, ..], finite 0 => trigonometric::sin(a), if a.abs().le(D::of(LIMIT));
    "float_cos" [a, ..], finite 0 => trigonometric::cos(a), if a.abs().le(D::of(LIMIT));
    "float_tan" [a, ..], finite 0 => trigonometric::tan(a), if a.abs().le(D::of(LIMIT));
    "float_asin" [a, ..], finite 0 => arc::asin(a), if within_one(a);
    "float_acos" [a, ..], finite 0, not_negative => arc::acos(a), if within_one(a);
    "float_atan" [a, ..], finite 1 => arc::atan(a);
    "float_atan2" [a, b, _], finite 2 => arc::atan2(a, b);
    "float_cbrt" [a, ..], finite 1 => root::cbrt(a);
    "float_hypot" [a, b, _], finite 2, overflows, not_negative => root::hypot(a, b);
    "float_pow" [a, b, _], finite 2, overflows => logarithm::pow(a, b), if has_inverse(a, b) & has_sign(a, b);
    "float_powi" [a, n, _], finite 1, overflows, integer => logarithm::powi(a, n), if has_inverse(a, D::from_signed(n.bits()));
    "float_erf" [a, ..], finite 1 => error::erf(a);
    "float_erfc" [a, ..], finite 1, not_negative => error::erfc(a);
}
