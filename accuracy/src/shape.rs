//! What words stand for, and where a real number lies among them.

use pendula_isa::fault::Fault;
use pendula_isa::num::{Format, Word, decimal};
use rug::float::Round;
use rug::{Float, Integer};

/// Bits of the oracle's numbers: its own errors are below 2^-190 of a number.
pub const PRECISION: u32 = 200;

/// A number type at a width. Words of less than 64 bits are sign-extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// 64-bit integer.
    Int,
    /// Fixed point.
    Fixed {
        /// Bits of a word.
        width: u32,
        /// Those right of the point.
        frac: u32,
    },
    /// Signed logarithmic number; the sign is bit 63 whatever the width.
    Logarithmic {
        /// Bits of a word, the sign included.
        width: u32,
        /// Those of the logarithm right of the point.
        frac: u32,
    },
    /// Double.
    Double,
}

/// The logarithmic numbers of `.l`.
pub const LOGARITHMIC: Shape = Shape::Logarithmic { width: 64, frac: 52 };

/// How a result is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To nearest, ties to even.
    Nearest,
    /// Toward −∞.
    Floor,
    /// Toward zero.
    Zero,
}

/// A real number as MPFR holds it.
pub fn real(x: impl Into<f64>) -> Float {
    Float::with_val(PRECISION, x.into())
}

/// An integer as MPFR holds it.
pub fn integer(n: impl Into<i128>) -> Float {
    Float::with_val(PRECISION, Integer::from(n.into()))
}

/// The logarithm of a logarithmic word, in units.
fn logarithm(word: u64) -> i128 {
    ((word as i128) << 65) >> 65
}

/// The exponent of the last place of a double near `x`.
fn float_unit(x: &Float) -> i32 {
    // MPFR's significand is from 1/2 to below 1.
    x.get_exp().map_or(-1074, |exponent| (exponent - 53).clamp(-1074, 971))
}

impl From<Format> for Shape {
    fn from(format: Format) -> Shape {
        Shape::Fixed { width: 64, frac: format.frac() }
    }
}

impl Shape {
    /// The fixed-point formats of `.q`.
    pub fn formats() -> [Shape; 3] {
        Format::ALL.map(Shape::from)
    }

    /// Bits of a word.
    pub fn width(self) -> u32 {
        match self {
            Shape::Int | Shape::Double => 64,
            Shape::Fixed { width, .. } | Shape::Logarithmic { width, .. } => width,
        }
    }

    /// Bits right of the point, 0 where there is none.
    pub fn frac(self) -> u32 {
        match self {
            Shape::Int | Shape::Double => 0,
            Shape::Fixed { frac, .. } | Shape::Logarithmic { frac, .. } => frac,
        }
    }

    /// The word of the logarithmic zero: sign 0, the most negative logarithm.
    pub fn log_zero(self) -> u64 {
        (-1i64 << (self.width() - 2)) as u64 & !(1 << 63)
    }

    /// The number that a word stands for.
    pub fn value(self, word: u64) -> Result<Float, Fault> {
        Ok(match self {
            Shape::Int => integer(word as i64),
            Shape::Fixed { frac, .. } => integer(word as i64) >> frac,
            Shape::Logarithmic { frac, .. } => match word ^ self.log_zero() {
                0 => real(0),
                difference if difference == 1 << 63 => return Err(Fault::BadLog),
                _ => {
                    let magnitude = (integer(logarithm(word)) >> frac).exp2();
                    if word >> 63 == 1 { -magnitude } else { magnitude }
                }
            },
            Shape::Double => {
                let x = f64::from_bits(word);
                if !x.is_finite() {
                    return Err(Fault::NotFinite);
                }
                real(x)
            }
        })
    }

    /// The place of a real number in units in the last place; `None` for the
    /// logarithm of zero. A unit of a logarithmic number is one of the
    /// logarithm; one of a double is that of the binade of `x`.
    fn place(self, x: &Float) -> Option<Float> {
        Some(match self {
            Shape::Int => x.clone(),
            Shape::Fixed { frac, .. } => x.clone() << frac,
            Shape::Logarithmic { .. } if x.is_zero() => return None,
            Shape::Logarithmic { frac, .. } => x.clone().abs().log2() << frac,
            Shape::Double => x.clone() >> float_unit(x),
        })
    }

    /// How far a word is from a real number, in units in the last place.
    pub fn error(self, word: u64, x: &Float) -> f64 {
        let Some(place) = self.place(x) else {
            return if word == self.log_zero() { 0.0 } else { f64::INFINITY };
        };
        let units = match self {
            Shape::Int | Shape::Fixed { .. } => integer(word as i64),
            Shape::Logarithmic { .. } => {
                if word == self.log_zero() || (word >> 63 == 1) != x.is_sign_negative() {
                    return f64::INFINITY;
                }
                integer(logarithm(word))
            }
            // Of zero and of what rounds to zero, too.
            Shape::Double if (word >> 63 == 1) != x.is_sign_negative() => return f64::INFINITY,
            Shape::Double => real(f64::from_bits(word)) >> float_unit(x),
        };
        (units - place).abs().to_f64()
    }

    /// How many units a real number lies outside the range; negative within.
    pub fn beyond(self, x: &Float) -> f64 {
        let Some(place) = self.place(x) else {
            return f64::NEG_INFINITY;
        };
        let (low, high) = match self {
            Shape::Double => {
                // The greatest double; a number of a smaller binade is far below.
                let greatest = real(f64::MAX) >> float_unit(x);
                (-greatest.clone(), greatest)
            }
            Shape::Logarithmic { width, .. } => {
                let bound = (1i128 << (width - 2)) - 1;
                (integer(-bound), integer(bound))
            }
            _ => {
                let bound = 1i128 << (self.width() - 1);
                (integer(-bound), integer(bound - 1))
            }
        };
        f64::max((low - &place).to_f64(), (place - high).to_f64())
    }

    /// The word that a real number is rounded to.
    pub fn round(self, rounding: Rounding, x: &Float) -> Word {
        let Some(place) = self.place(x) else {
            return Ok(self.log_zero());
        };
        let rounded = match rounding {
            Rounding::Nearest => place.round_even(),
            Rounding::Floor => place.floor(),
            Rounding::Zero => place.trunc(),
        };
        let Some((units, _)) = rounded.to_integer_round(Round::Nearest) else {
            return Err(Fault::Range);
        };
        let negative = u64::from(x.is_sign_negative()) << 63;
        match self {
            Shape::Int | Shape::Fixed { .. } => {
                units.to_i64().filter(|n| n >> (self.width() - 1) == n >> 63).map(|n| n as u64).ok_or(Fault::Range)
            }
            Shape::Logarithmic { width, .. } => units
                .to_i64()
                .filter(|n| n.unsigned_abs() < 1 << (width - 2))
                .map(|n| n as u64 & !(1 << 63) | negative)
                .ok_or(Fault::Range),
            Shape::Double => {
                // Exact, but for overflow: the rounding has been done.
                let x = (Float::with_val(PRECISION, units) << float_unit(x)).to_f64();
                // Zero has a sign, too.
                if x.is_finite() { Ok(x.to_bits() & !(1 << 63) | negative) } else { Err(Fault::Range) }
            }
        }
    }

    /// A short name for headings and messages.
    pub fn name(self) -> String {
        match self {
            Shape::Int => "integer".into(),
            Shape::Fixed { width: 64, frac } => format!("Q{}.{frac}", 64 - frac),
            Shape::Fixed { width, frac } => format!("{width} bits, {frac} of fraction"),
            LOGARITHMIC => ".l".into(),
            Shape::Logarithmic { width, frac } => format!("{width} bits, {frac} of fraction"),
            Shape::Double => ".f".into(),
        }
    }

    /// A word in decimal: text that reads back as the same word at 64 bits.
    pub fn text(self, word: u64) -> String {
        match self {
            Shape::Int => (word as i64).to_string(),
            Shape::Fixed { width: 64, frac } => {
                let format = Format::ALL.into_iter().find(|format| format.frac() == frac);
                decimal::format_q(word, format.expect("a format of `.q`"))
            }
            Shape::Fixed { frac, .. } => {
                let x = (word as i64) as f64 / (1u64 << frac) as f64;
                x.to_string()
            }
            LOGARITHMIC => decimal::format_l(word),
            Shape::Logarithmic { .. } if word == self.log_zero() => "0".into(),
            Shape::Logarithmic { frac, .. } => {
                let sign = if word >> 63 == 1 { "-" } else { "" };
                let log = logarithm(word) as f64 / (1u64 << frac) as f64;
                format!("{sign}2^{log}")
            }
            Shape::Double => format!("{:?}", f64::from_bits(word)),
        }
    }
}
