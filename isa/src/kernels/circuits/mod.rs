//! Circuits of kernels and of the operations on doubles, written by hand where they have fewer gates than the operations of a body.
//!
//! Each is a straight line of integer arithmetic on the builder's words. Its words are the kernel's to the bit, table for table and rounding
//! for rounding; where the kernel has no value, a bit says so. Where a correctly rounded result can be had with fewer gates (roots, by the digit
//! recurrence instead of Newton's method), the circuit takes that way: the words do not show it.
//!
//! The elementary functions of doubles are the exception. The circuits of exponential,
//! logarithm, sine and cosine go through fixed point with guard bits, as a circuit's designer would have it; they are within 0.54 ulp of the true
//! value and within one of the machine's. Functions without a circuit of their own stand for a few others.

use crate::circuit::{Bit, Builder, Word};
use crate::num::elementary::Fixed;
use crate::num::gauss::Logarithmic;

pub(super) mod arc;
mod arithmetic;
pub mod compare;
pub mod convert;
pub(super) mod exponential;
pub(super) mod fixed;
pub mod float;
pub(super) mod float_elementary;
pub(super) mod gauss;
pub mod in_place;
pub(super) mod integer;
pub mod log;
pub(super) mod logarithm;
pub(super) mod root;
mod tables;
pub(super) mod trigonometric;
mod wide;

pub use float::Float;
pub use in_place::InPlaceCircuit;

/// The formats of the numbers in words of one width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formats {
    /// Of `.q`.
    pub fixed: Fixed,
    /// Of `.l`.
    pub logarithmic: Logarithmic,
    /// Of `.f`.
    pub float: Float,
}

impl Formats {
    /// The formats of words of `width` bits: for 64 bits the machine's own, for 32 and 16 floating point is that of IEEE 754, for
    /// 8 it has 4 bits of exponent and 3 of mantissa. Half of a fixed-point word is fraction; logarithms reach as far as floating point does.
    ///
    /// # Panics
    /// If the width is more than 64.
    pub fn of_width(width: usize) -> Formats {
        assert!(width <= 64, "words of {width} bits");
        let exponent = match width {
            64 => 11,
            32..64 => 8,
            16..32 => 5,
            _ => width.saturating_sub(2).min(4),
        };
        let bits = width as u32;
        Formats {
            fixed: Fixed { width: bits, frac: bits / 2 },
            logarithmic: Logarithmic { width: bits, frac: bits.saturating_sub(1 + exponent as u32) },
            float: Float { exponent, mantissa: width.saturating_sub(1 + exponent) },
        }
    }

    /// As [`Formats::of_width`], with so many fraction bits in fixed-point numbers.
    ///
    /// # Panics
    /// If the width is more than 64.
    pub fn new(width: usize, frac: usize) -> Formats {
        let formats = Formats::of_width(width);
        Formats { fixed: Fixed { frac: frac as u32, ..formats.fixed }, ..formats }
    }

    /// Bits of a word.
    pub fn width(&self) -> usize {
        self.fixed.width as usize
    }
}

/// A function's value, and bits of which one is 1 where it has none.
pub struct Outcome {
    /// The value. Where a fault is 1, it is meaningless.
    pub word: Word,
    /// Bits of which one is 1 where there is no value.
    pub faults: Vec<Bit>,
}

impl Outcome {
    /// With one bit for all faults.
    pub fn joined(mut self, b: &mut Builder) -> Outcome {
        if self.faults.len() > 1 {
            self.faults = vec![b.any(&self.faults)];
        }
        self
    }

    /// Of a function that never fails.
    pub(super) fn infallible(word: Word) -> Outcome {
        Outcome { word, faults: Vec::new() }
    }

    pub(super) fn of((word, fault): (Word, Bit)) -> Outcome {
        Outcome::infallible(word).or(fault)
    }

    /// One more way to fail.
    pub(super) fn or(mut self, fault: Bit) -> Outcome {
        self.faults.push(fault);
        self
    }
}

/// A circuit that computes a value from operands, on words of any width from 8 to 64, or from 4 if it does not depend on formats. It leaves the operands as they were and garbage on
/// other wires, and so belongs inside [`Builder::with`].
#[derive(Clone, Copy, Debug)]
pub struct ValueCircuit {
    /// The name, an identifier.
    pub name: &'static str,
    /// The number of operands.
    pub arity: usize,
    /// Whether it depends on the formats of numbers, which words of less than 8 bits do not have.
    pub formats: bool,
    /// Builds it.
    pub build: fn(&mut Builder, &Formats, &[Word]) -> Outcome,
}

// Names are unique.
impl PartialEq for ValueCircuit {
    fn eq(&self, other: &ValueCircuit) -> bool {
        self.name == other.name
    }
}

impl Eq for ValueCircuit {}

impl std::hash::Hash for ValueCircuit {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ValueCircuit {
    /// The value of the function, and every way to have none.
    pub fn value(&self, b: &mut Builder, formats: &Formats, x: &[Word]) -> Outcome {
        (self.build)(b, formats, x)
    }
}

impl From<Word> for Outcome {
    fn from(word: Word) -> Outcome {
        Outcome::infallible(word)
    }
}

macro_rules! values {
    ($( $(#[doc = $doc:literal])+ $NAME:ident $name:literal ($arity:literal) |$b:ident, $f:ident, $x:ident| $body:expr; )*) => { $(
        $(#[doc = $doc])+
        pub const $NAME: ValueCircuit = ValueCircuit { name: $name, arity: $arity, formats: true, build: |$b, $f, $x| $body.joined($b) };
    )* };
}

values! {
    /// An integer as a double.
    INT_TO_FLOAT "int_to_float" (1) |b, f, x| convert::to_float(b, f.float, 0, &x[0]);
    /// A fixed-point number as a double.
    FIXED_TO_FLOAT "fixed_to_float" (1) |b, f, x| convert::to_float(b, f.float, f.fixed.frac, &x[0]);
    /// A double as an integer, rounded down.
    FLOAT_TO_INT "float_to_int" (1) |b, f, x| convert::from_float(b, f.float, f.width(), 0, true, &x[0]);
    /// a + b of doubles.
    FLOAT_ADD "float_add" (2) |b, f, x| float::add(b, f.float, &x[0], &x[1]);
    /// a · b of doubles.
    FLOAT_MULTIPLY "float_multiply" (2) |b, f, x| float::multiply(b, f.float, &x[0], &x[1]);
    /// a · b + c of doubles, rounded once.
    FLOAT_MULTIPLY_ADD "float_multiply_add" (3) |b, f, x| float::multiply_add(b, f.float, &x[0], &x[1], &x[2]);
    /// a / b of doubles.
    FLOAT_DIVIDE "float_divide" (2) |b, f, x| float::divide(b, f.float, &x[0], &x[1]);
    /// The square root of a double, correctly rounded.
    FLOAT_SQRT "float_sqrt" (1) |b, f, x| float::square_root(b, f.float, &x[0]);
    /// The magnitude of a double.
    FLOAT_ABS "float_abs" (1) |b, f, x| compare::magnitude(b, f.float, &x[0]);
    /// e^a of a double, within an ulp of the machine's.
    FLOAT_EXP "float_exp" (1) |b, f, x| float_elementary::exp(b, f.float, &x[0]);
    /// The natural logarithm of a double, within an ulp of the machine's.
    FLOAT_LOG "float_log" (1) |b, f, x| float_elementary::log(b, f.float, &x[0]);
    /// The sine of a double below 2^20 in magnitude, within an ulp of the machine's. Others, whose reduction takes as many bits of 2/π as
    /// their exponent says, are a fault here.
    FLOAT_SIN "float_sin" (1) |b, f, x| float_elementary::sin(b, f.float, &x[0]);
    /// The cosine of a double, as the sine.
    FLOAT_COS "float_cos" (1) |b, f, x| float_elementary::cos(b, f.float, &x[0]);
}
