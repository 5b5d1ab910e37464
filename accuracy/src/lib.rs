//! Pendula's arithmetic compared with MPFR.
//!
//! [`shape`] says what the words of each type stand for, and what the nearest
//! words to a real number are; [`functions`] lists everything that is measured,
//! each with the bound that its documentation gives; [`measure`] tries one of
//! them on its points; [`page`] makes `docs/src/accuracy.md` of the results.
//!
//! It shares no code with `pendula-isa` but the constants that define the
//! formats. The tests are in `tests/`; nothing else depends on this crate.

pub mod cases;
pub mod functions;
pub mod measure;
pub mod page;
pub mod pairs;
pub mod points;
pub mod shape;

// Not public in `pendula-isa`, but worth a bound of its own.
#[path = "../../isa/src/num/wide.rs"]
#[cfg_attr(not(test), expect(dead_code, reason = "only log2 and exp2 are tested here"))]
mod wide;

/// log2(m) of the conversions, `m` from 1 to below 2 and the result in units of 2^-127.
pub fn log2(m: u128) -> u128 {
    wide::log2(m)
}

/// 2^fraction of the conversions, `fraction` in units of 2^-128, the result in units of 2^-127.
pub fn exp2(fraction: u128) -> u128 {
    wide::exp2(fraction)
}
