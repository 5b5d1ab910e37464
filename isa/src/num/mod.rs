//! The number systems: fixed point (`.q`), signed logarithmic (`.l`) and
//! floating point (`.f`) read from 64-bit words.
//!
//! A *kernel* is a function from words to a word. Kernels of `.q` and `.l` are
//! integer arithmetic only and give the same bits on every machine.

use crate::fault::Fault;
use crate::types::{Cond, Ty};

pub mod convert;
pub mod decimal;
pub mod elementary;
pub mod fixed;
pub mod float;
pub mod gauss;
pub mod int;
pub mod log;
pub mod products;
pub mod raw;
mod wide;

/// The fixed-point format of a module: how many of the 64 bits are fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Format {
    /// 32 integer bits (sign included), 32 fraction bits. The default.
    #[default]
    Q32_32 = 32,
    /// 21 integer bits, 43 fraction bits: NiLang's `Fixed43`.
    Q21_43 = 43,
    /// 16 integer bits, 48 fraction bits.
    Q16_48 = 48,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 3] = [Format::Q32_32, Format::Q21_43, Format::Q16_48];

    /// Fraction bits.
    pub const fn frac(self) -> u32 {
        self as u8 as u32
    }

    /// The name used by `.format`.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Q32_32 => "Q32.32",
            Format::Q21_43 => "Q21.43",
            Format::Q16_48 => "Q16.48",
        }
    }

    /// The format with this name, in any case.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|f| f.name().eq_ignore_ascii_case(name))
    }
}

/// The settings of the machine that a kernel may depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Env {
    /// The module's fixed-point format.
    pub format: Format,
    /// Allow infinities and NaN in `.f` words (`--ieee`) instead of trapping.
    pub ieee: bool,
}

/// A kernel's result.
pub type Word = Result<u64, Fault>;

/// Whether the condition holds between two words read as numbers of a type.
///
/// # Errors
/// [`Fault::BadLog`] for a word that is no logarithmic number; [`Fault::NotFinite`] for a NaN, unless `env.ieee`, when it is unordered.
#[inline(always)]
pub fn compare(env: Env, c: Cond, ty: Ty, a: u64, b: u64) -> Result<bool, Fault> {
    let order = match ty {
        Ty::Int if matches!(c, Cond::Ltu | Cond::Geu) => Some(a.cmp(&b)),
        Ty::Int | Ty::Q => Some(a.cast_signed().cmp(&b.cast_signed())),
        Ty::L => Some(log::compare(a, b)?),
        Ty::F => float::compare(env, a, b)?,
    };
    Ok(c.holds(order))
}

/// Words for the tests of this module's files: the edges and their neighbours,
/// then random words of every size.
#[cfg(test)]
pub(crate) mod sample {
    /// SplitMix64: a fixed stream, so that failures are reproducible.
    pub(crate) struct Random(pub(crate) u64);

    impl Random {
        pub(crate) fn word(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }

        /// A signed word whose size is as likely to be of one bit as of 64.
        pub(crate) fn sized(&mut self) -> u64 {
            let shift = self.word() % 64;
            ((self.word() as i64) >> shift) as u64
        }
    }

    /// 0, ±1, the powers of two with their neighbours and negatives, and the extremes.
    pub(crate) fn edges() -> Vec<u64> {
        let mut words = Vec::new();
        for bit in 0..64 {
            for near in [-1i64, 0, 1] {
                let word = (1u64 << bit).wrapping_add_signed(near);
                words.extend([word, word.wrapping_neg()]);
            }
        }
        words.sort_unstable();
        words.dedup();
        words
    }
}
