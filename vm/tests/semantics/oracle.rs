//! Oracles: values of functions computed in another way, with their tolerances.

use pendula_isa::Fault;
use pendula_isa::types::Ty;

use crate::semantics::Want;
use crate::semantics::logarithms::log_of;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Oracle {
    Exactly(Want),
    /// The sign and the logarithm, within 2^-40 of it; where that may be beyond the range, also no value.
    Log(bool, f64),
    /// A number of the type, within 2^-40 of its size and half a unit in the last place.
    Near(f64),
    /// A double, within 2^-40 of this size: what it was summed from.
    Around(f64, f64),
    /// Any value: it would take too long to compute.
    Anything,
}

pub(crate) fn checked<T: TryFrom<i128>>(x: i128, word: impl Fn(T) -> u64) -> Oracle {
    Oracle::Exactly(T::try_from(x).map(word).map_err(|_| Fault::Range))
}

pub(crate) fn fault(fault: Fault) -> Oracle {
    Oracle::Exactly(Err(fault))
}

impl Oracle {
    /// Whether the function's value agrees.
    pub(crate) fn accepts(self, got: Want, ty: Ty) -> bool {
        match self {
            Oracle::Exactly(want) => got == want,
            Oracle::Log(_, log) if got == Err(Fault::Range) => log.abs() + 2f64.powi(-40) >= 1024.0,
            Oracle::Log(sign, log) => got.is_ok_and(|w| {
                let (s, x) = log_of(w);
                s == sign && (x as f64 * 2f64.powi(-52) - log).abs() < 2f64.powi(-40)
            }),
            Oracle::Anything => true,
            Oracle::Around(x, size) => {
                got.is_ok_and(|w| (f64::from_bits(w) - x).abs() <= size * 2f64.powi(-40) + f64::MIN_POSITIVE)
            }
            Oracle::Near(x) if ty == Ty::F => got.is_ok_and(|w| {
                let y = f64::from_bits(w);
                // If the oracle overflows, it stands for the largest double.
                let x = x.clamp(f64::MIN, f64::MAX);
                (x - y).abs() <= x.abs() * 2f64.powi(-40) + 5e-324
            }),
            Oracle::Near(x) => {
                let slack = x.abs() * 2f64.powi(-40) + 0.51;
                match got {
                    Ok(w) => (w.cast_signed() as f64 - x).abs() <= slack,
                    Err(fault) => fault == Fault::Range && x.abs() + slack >= 9223372036854775807.0,
                }
            }
        }
    }
}
