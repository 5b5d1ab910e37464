//! What the words of each type stand for, and what the nearest words to a real
//! number are, computed with MPFR: the oracle that Pendula's arithmetic is
//! tested against.
//!
//! It shares no code with `pendula-isa` but the constants that define the
//! formats. The tests are in `tests/`; nothing else depends on this crate.

use pendula_isa::fault::Fault;
use pendula_isa::num::{Env, Format, Word};
use rug::float::Round;
use rug::ops::Pow;
use rug::{Float, Integer};

// Not public in `pendula-isa`, but worth a bound of its own.
#[path = "../../isa/src/num/wide.rs"]
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "only log2 and exp2 are tested here")
)]
mod wide;

/// Bits of the oracle's numbers: its own errors are below 2^-190 of a number.
pub const PRECISION: u32 = 200;

/// log2(m) of the conversions, `m` from 1 to below 2 and the result in units of 2^-127.
pub fn log2(m: u128) -> u128 {
    wide::log2(m)
}

/// 2^fraction of the conversions, `fraction` in units of 2^-128, the result in units of 2^-127.
pub fn exp2(fraction: u128) -> u128 {
    wide::exp2(fraction)
}

/// How a word is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// 64-bit integer.
    Int,
    /// Fixed point.
    Q,
    /// Signed logarithmic number.
    L,
    /// Double.
    F,
}

/// How a result is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To nearest, ties to even.
    Nearest,
    /// Toward −∞.
    Floor,
}

/// A real number as MPFR holds it.
pub fn real(x: impl Into<f64>) -> Float {
    Float::with_val(PRECISION, x.into())
}

fn integer(n: impl Into<i128>) -> Float {
    Float::with_val(PRECISION, Integer::from(n.into()))
}

/// The number that a word stands for.
pub fn value(ty: Type, format: Format, word: u64) -> Result<Float, Fault> {
    Ok(match ty {
        Type::Int => integer(word as i64),
        Type::Q => integer(word as i64) >> format.frac(),
        Type::L => {
            let logarithm = ((word as i128) << 65) >> 65;
            match (word >> 63 == 1, logarithm == -(1 << 62)) {
                (true, true) => return Err(Fault::BadLog),
                (false, true) => real(0),
                (negative, false) => {
                    let magnitude = (integer(logarithm) >> 52u32).exp2();
                    if negative { -magnitude } else { magnitude }
                }
            }
        }
        Type::F => {
            let x = f64::from_bits(word);
            if !x.is_finite() {
                return Err(Fault::NotFinite);
            }
            real(x)
        }
    })
}

/// The place of a real number in units in the last place of a type; `None` for
/// the logarithm of zero. A unit of `.l` is 2^-52 of the logarithm; one of `.f`
/// is that of the binade of `x`.
fn place(ty: Type, format: Format, x: &Float) -> Option<Float> {
    Some(match ty {
        Type::Int => x.clone(),
        Type::Q => x.clone() << format.frac(),
        Type::L if x.is_zero() => return None,
        Type::L => x.clone().abs().log2() << 52u32,
        Type::F => x.clone() >> float_unit(x),
    })
}

/// The exponent of the last place of a double near `x`.
fn float_unit(x: &Float) -> i32 {
    // MPFR's significand is from 1/2 to below 1.
    x.get_exp()
        .map_or(-1074, |exponent| (exponent - 53).max(-1074))
}

/// The word of a type nearest to a real number, and the error in units in the last place of `got`.
pub fn nearest(ty: Type, rounding: Rounding, format: Format, x: &Float, got: Word) -> (Word, f64) {
    let Some(place) = place(ty, format, x) else {
        let zero = 1u64 << 62;
        return (Ok(zero), if got == Ok(zero) { 0.0 } else { f64::INFINITY });
    };
    let rounded = match rounding {
        Rounding::Nearest => place.clone().round_even(),
        Rounding::Floor => place.clone().floor(),
    };
    let (rounded, _) = rounded.to_integer_round(Round::Nearest).expect("finite");
    let expected = encode(ty, x, &rounded);
    let error = match got {
        Ok(word) => {
            let units = match ty {
                Type::Int | Type::Q => integer(word as i64),
                Type::L => integer(((word as i128) << 65) >> 65),
                Type::F => real(f64::from_bits(word)) >> float_unit(x),
            };
            (units - place).abs().to_f64()
        }
        Err(_) => 0.0,
    };
    (expected, error)
}

fn encode(ty: Type, x: &Float, units: &Integer) -> Word {
    let negative = u64::from(x.is_sign_negative() && !x.is_zero());
    match ty {
        Type::Int | Type::Q => units.to_i64().map(|n| n as u64).ok_or(Fault::Range),
        Type::L => {
            let bound = Integer::from(1) << 62u32;
            if units.clone().abs() >= bound {
                return Err(Fault::Range);
            }
            Ok((units.to_i64().expect("below 2^62") as u64 & !(1 << 63)) | (negative << 63))
        }
        Type::F => {
            let x = Float::with_val(PRECISION, units)
                * Float::with_val(PRECISION, 2).pow(float_unit(x));
            // Exact, but for overflow: the rounding has been done.
            let x = x.to_f64();
            // No conversion makes −0 of a number that is 0; one that rounds to 0 keeps its sign.
            if x.is_finite() {
                Ok((x.to_bits() & !(1 << 63)) | (negative << 63))
            } else {
                Err(Fault::Range)
            }
        }
    }
}

/// An environment with this format.
pub fn env(format: Format) -> Env {
    Env {
        format,
        ieee: false,
    }
}

/// SplitMix64: a fixed stream, so that a failure comes back.
pub struct Random(pub u64);

impl Random {
    /// 64 random bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A signed word whose size is as likely to be of one bit as of 64.
    pub fn sized(&mut self) -> u64 {
        let shift = self.word() % 64;
        ((self.word() as i64) >> shift) as u64
    }
}

/// Words to test a type with: the edges and their neighbours, all words of 16
/// leading bits, and `count` random ones, most of them within the range of the
/// other types.
pub fn words(ty: Type, count: usize) -> Vec<u64> {
    let mut random = Random(ty as u64 + 1);
    let near = |centre: u64| (-3i64..=3).map(move |d| centre.wrapping_add_signed(d));
    let mut words: Vec<u64> = (0..64)
        .flat_map(|bit| [1 << bit, (1u64 << bit).wrapping_neg()])
        .collect();
    words.extend([0, 3 << 62, 1 << 62]);
    // Each power of two, as the type has it.
    match ty {
        Type::Int | Type::Q => {}
        Type::L => words.extend((-1024..1024i64).flat_map(|k| {
            let l = (k << 52) as u64 & !(1 << 63);
            [l, l | 1 << 63]
        })),
        Type::F => words.extend((0..2047u64).flat_map(|e| [e << 52, e << 52 | 1 << 63])),
    }
    words = words.into_iter().flat_map(near).collect();
    words.extend((0..1u64 << 16).map(|high| high << 48));
    if matches!(ty, Type::Int | Type::Q) {
        words.extend(0..1u64 << 16);
    }
    words.extend((0..count).map(|i| match (ty, i % 4) {
        (Type::Int | Type::Q, _) => random.sized(),
        (_, 0) => random.word(),
        // Magnitudes from 2^-64 to 2^64.
        (Type::L, _) => {
            ((random.word() as i64) << 1 >> 6) as u64 & !(1 << 63) | (random.word() << 63)
        }
        (Type::F, _) => {
            let exponent = 1023 - 64 + random.word() % 128;
            (random.word() & !(0x7ff << 52)) | (exponent << 52)
        }
    }));
    words.sort_unstable();
    words.dedup();
    words
}
