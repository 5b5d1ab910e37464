//! Circuits of the machine's numeric kernels: elementary functions, logarithmic and floating-point numbers, conversions.
//!
//! A [`Kernel`] is a function from words to a word; its circuit xors the value into a target and leaves everything else as it was. Each
//! is the straight line of integer arithmetic that `pendula_isa::num` computes with, table for table and rounding for rounding, so that the words are
//! the same to the bit; faults become a trap bit. Where a correctly rounded result can be had with fewer gates (roots, by the digit recurrence
//! instead of Newton's method), the circuit takes that way: the words do not show it.
//!
//! What the machine gets from the crate `libm`, the elementary functions of doubles, is the exception: [`Kernel::FloatExp`],
//! [`Kernel::FloatLog`], [`Kernel::FloatSin`] and [`Kernel::FloatCos`] go through fixed point with guard bits, as a circuit's designer would have
//! it; they are within 0.54 ulp of the true value and within one of `libm`'s. They stand for their class in the energy model.

use pendula_isa::num::elementary::Fixed;
use pendula_isa::num::gauss::Logarithmic;

use super::builder::Builder;
use super::part::{Accumulator, Value, accumulate};
use super::word::{Bit, Word};
use super::{Circuit, Role};

mod arc;
mod arithmetic;
mod convert;
mod exponential;
mod float;
mod float_elementary;
mod gauss;
mod integer;
mod logarithm;
mod root;
mod tables;
mod trigonometric;
mod wide;

pub use float::Float;

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
    /// The formats of words of `width` bits, 8 at least: for 64 bits the machine's own, for 32 and 16 floating point is that of IEEE 754, for
    /// 8 it has 4 bits of exponent and 3 of mantissa. Half of a fixed-point word is fraction; logarithms reach as far as floating point does.
    ///
    /// # Panics
    /// If the width is less than 8 or more than 64.
    pub fn of_width(width: usize) -> Formats {
        assert!((8..=64).contains(&width), "words of {width} bits");
        let exponent = match width {
            64 => 11,
            32..64 => 8,
            16..32 => 5,
            _ => 4,
        };
        let bits = width as u32;
        Formats {
            fixed: Fixed { width: bits, frac: bits / 2 },
            logarithmic: Logarithmic { width: bits, frac: bits - 1 - exponent as u32 },
            float: Float { exponent, mantissa: width - 1 - exponent },
        }
    }

    /// As [`Formats::of_width`], with so many fraction bits in fixed-point numbers.
    ///
    /// # Panics
    /// If the width is less than 8 or more than 64.
    pub fn new(width: usize, frac: usize) -> Formats {
        let formats = Formats::of_width(width);
        Formats { fixed: Fixed { frac: frac as u32, ..formats.fixed }, ..formats }
    }

    /// Bits of a word.
    fn width(&self) -> usize {
        self.fixed.width as usize
    }
}

/// A function's value, and bits of which one is 1 where it has none.
struct Outcome {
    word: Word,
    faults: Vec<Bit>,
}

impl Outcome {
    /// Of a function that never fails.
    fn infallible(word: Word) -> Outcome {
        Outcome { word, faults: Vec::new() }
    }

    fn of((word, fault): (Word, Bit)) -> Outcome {
        Outcome::infallible(word).or(fault)
    }

    /// One more way to fail.
    fn or(mut self, fault: Bit) -> Outcome {
        self.faults.push(fault);
        self
    }
}

macro_rules! kernels {
    ($( $(#[doc = $doc:literal])+ $Name:ident $name:literal ($arity:literal) |$b:ident, $f:ident, $x:ident| $body:expr; )*) => {
        /// A function of words.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Kernel { $( $(#[doc = $doc])+ $Name, )* }

        impl Kernel {
            /// Every function.
            pub const ALL: &'static [Kernel] = &[$( Kernel::$Name, )*];

            /// The name, an identifier.
            pub const fn name(self) -> &'static str { match self { $( Kernel::$Name => $name, )* } }

            /// How many arguments it has.
            pub const fn arity(self) -> usize { match self { $( Kernel::$Name => $arity, )* } }

            /// The value, and every way to have none.
            fn outcome(self, b: &mut Builder, formats: &Formats, x: &[Word]) -> Outcome {
                match self { $( Kernel::$Name => { let ($b, $f, $x) = (b, formats, x); $body } )* }
            }
        }
    };
}

kernels! {
    /// Quotient of unsigned integers.
    UnsignedQuotient "unsigned_quotient" (2) |b, _f, x| integer::divided(b, &x[0], &x[1], false);
    /// Remainder of unsigned integers.
    UnsignedRemainder "unsigned_remainder" (2) |b, _f, x| integer::divided(b, &x[0], &x[1], true);
    /// a^b of integers, b unsigned, modulo a power of two.
    IntPower "int_power" (2) |b, _f, x| integer::power(b, &x[0], &x[1]);
    /// An integer as a fixed-point number.
    IntToFixed "int_to_fixed" (1) |b, f, x| convert::int_to_fixed(b, f.fixed, &x[0]);
    /// A fixed-point number as an integer, rounded down.
    FixedToInt "fixed_to_int" (1) |b, f, x| convert::fixed_to_int(b, f.fixed, &x[0]);
    /// An integer as a floating-point number.
    IntToFloat "int_to_float" (1) |b, f, x| convert::to_float(b, f.float, 0, &x[0]);
    /// A fixed-point number as a floating-point number.
    FixedToFloat "fixed_to_float" (1) |b, f, x| convert::to_float(b, f.float, f.fixed.frac, &x[0]);
    /// A floating-point number as an integer, rounded down.
    FloatToInt "float_to_int" (1) |b, f, x| convert::from_float(b, f.float, f.width(), 0, true, &x[0]);
    /// A floating-point number as a fixed-point number.
    FloatToFixed "float_to_fixed" (1) |b, f, x| convert::from_float(b, f.float, f.width(), f.fixed.frac, false, &x[0]);
    /// a + b.
    FloatAdd "float_add" (2) |b, f, x| float::add(b, f.float, &x[0], &x[1]);
    /// a · b.
    FloatMultiply "float_multiply" (2) |b, f, x| float::multiply(b, f.float, &x[0], &x[1]);
    /// a · b + c, rounded once.
    FloatMultiplyAdd "float_multiply_add" (3) |b, f, x| float::multiply_add(b, f.float, &x[0], &x[1], &x[2]);
    /// a / b.
    FloatDivide "float_divide" (2) |b, f, x| float::divide(b, f.float, &x[0], &x[1]);
    /// e^a of a fixed-point number.
    FixedExp "fixed_exp" (1) |b, f, x| exponential::exp(b, f.fixed, &x[0]);
    /// Natural logarithm.
    FixedLog "fixed_log" (1) |b, f, x| logarithm::log(b, f.fixed, &x[0]);
    /// Logarithm to base 2.
    FixedLog2 "fixed_log2" (1) |b, f, x| logarithm::log2(b, f.fixed, &x[0]);
    /// Sine.
    FixedSin "fixed_sin" (1) |b, f, x| trigonometric::sin(b, f.fixed, &x[0]);
    /// Cosine.
    FixedCos "fixed_cos" (1) |b, f, x| trigonometric::cos(b, f.fixed, &x[0]);
    /// Tangent.
    FixedTan "fixed_tan" (1) |b, f, x| trigonometric::tan(b, f.fixed, &x[0]);
    /// Arc sine.
    FixedAsin "fixed_asin" (1) |b, f, x| arc::asin(b, f.fixed, &x[0]);
    /// Arc cosine.
    FixedAcos "fixed_acos" (1) |b, f, x| arc::acos(b, f.fixed, &x[0]);
    /// Arc tangent.
    FixedAtan "fixed_atan" (1) |b, f, x| arc::atan(b, f.fixed, &x[0]);
    /// The angle of the point (b, a).
    FixedAtan2 "fixed_atan2" (2) |b, f, x| arc::atan2(b, f.fixed, &x[0], &x[1]);
    /// Hyperbolic sine.
    FixedSinh "fixed_sinh" (1) |b, f, x| exponential::sinh(b, f.fixed, &x[0]);
    /// Hyperbolic cosine.
    FixedCosh "fixed_cosh" (1) |b, f, x| exponential::cosh(b, f.fixed, &x[0]);
    /// Hyperbolic tangent.
    FixedTanh "fixed_tanh" (1) |b, f, x| exponential::tanh(b, f.fixed, &x[0]);
    /// Square root of a fixed-point number.
    FixedSqrt "fixed_sqrt" (1) |b, f, x| root::sqrt(b, f.fixed, &x[0]);
    /// sqrt(a² + b²).
    FixedHypot "fixed_hypot" (2) |b, f, x| root::hypot(b, f.fixed, &x[0], &x[1]);
    /// a^b of fixed-point numbers.
    FixedPow "fixed_pow" (2) |b, f, x| root::pow(b, f.fixed, &x[0], &x[1]);
    /// a^b for a fixed-point a and an integer b.
    FixedPowi "fixed_powi" (2) |b, f, x| root::powi(b, f.fixed, &x[0], &x[1]);
    /// a + b of logarithmic numbers.
    LogPlus "log_plus" (2) |b, f, x| gauss::sum(b, f.logarithmic, false, &x[0], &x[1]);
    /// a − b of logarithmic numbers.
    LogMinus "log_minus" (2) |b, f, x| gauss::sum(b, f.logarithmic, true, &x[0], &x[1]);
    /// a^b for a logarithmic a and a fixed-point b.
    LogPow "log_pow" (2) |b, f, x| gauss::pow(b, f.logarithmic, f.fixed, &x[0], &x[1]);
    /// The natural logarithm of |a|, a fixed-point number, for a logarithmic a.
    LogOfLog "log_of_log" (1) |b, f, x| gauss::ln(b, f.logarithmic, f.fixed, &x[0]);
    /// An integer as a logarithmic number.
    IntToLog "int_to_log" (1) |b, f, x| gauss::from_fixed(b, f.logarithmic, 0, &x[0]);
    /// A fixed-point number as a logarithmic number.
    FixedToLog "fixed_to_log" (1) |b, f, x| gauss::from_fixed(b, f.logarithmic, f.fixed.frac, &x[0]);
    /// A floating-point number as a logarithmic number.
    FloatToLog "float_to_log" (1) |b, f, x| gauss::from_float(b, f.logarithmic, f.float, &x[0]);
    /// A logarithmic number as an integer, to nearest.
    LogToInt "log_to_int" (1) |b, f, x| gauss::to_fixed(b, f.logarithmic, f.width(), 0, &x[0]);
    /// A logarithmic number as a fixed-point number.
    LogToFixed "log_to_fixed" (1) |b, f, x| gauss::to_fixed(b, f.logarithmic, f.width(), f.fixed.frac, &x[0]);
    /// A logarithmic number as a floating-point number.
    LogToFloat "log_to_float" (1) |b, f, x| gauss::to_float(b, f.logarithmic, f.float, &x[0]);
    /// Square root of a floating-point number, correctly rounded.
    FloatSqrt "float_sqrt" (1) |b, f, x| float::square_root(b, f.float, &x[0]);
    /// e^a of a floating-point number, within an ulp of the machine's.
    FloatExp "float_exp" (1) |b, f, x| float_elementary::exp(b, f.float, &x[0]);
    /// Natural logarithm of a floating-point number, within an ulp of the machine's.
    FloatLog "float_log" (1) |b, f, x| float_elementary::log(b, f.float, &x[0]);
    /// Sine of a floating-point number below 2^20 in magnitude, within an ulp of the machine's. Others, whose reduction takes as many bits of 2/π
    /// as their exponent says, are a trap here.
    FloatSin "float_sin" (1) |b, f, x| float_elementary::sin(b, f.float, &x[0]);
    /// Cosine of a floating-point number, as the sine.
    FloatCos "float_cos" (1) |b, f, x| float_elementary::cos(b, f.float, &x[0]);
}

impl Kernel {
    /// The circuit of `y ⊕= f(a[, b[, c]])`: it tells of a trap where the function has no value.
    pub fn circuit(self, formats: &Formats, accumulator: Accumulator) -> Circuit {
        let mut b = Builder::new(self.name());
        let operands = &["a", "b", "c"][..self.arity()];
        let x: Vec<Word> = operands.iter().map(|name| b.register(name, Role::Operand, formats.width())).collect();
        accumulate(&mut b, accumulator, formats.width(), |b| self.value(b, formats, &x));
        b.finish()
    }

    /// The value of the function, and whether it has none.
    pub(super) fn value(self, b: &mut Builder, formats: &Formats, x: &[Word]) -> Value {
        let Outcome { word, faults } = self.outcome(b, formats, x);
        let traps = if faults.is_empty() { Vec::new() } else { vec![("trap", b.any(&faults))] };
        Value { word, traps }
    }
}

/// Rotates a point by an angle: `(x, y) = rot(x, y, angle)` of fixed-point numbers, in place; words wrap.
pub(super) fn rotation(b: &mut Builder, t: Fixed) {
    let width = t.width as usize;
    let x = b.register("x", Role::Target, width);
    let y = b.register("y", Role::Target, width);
    let angle = b.register("angle", Role::Operand, width);
    trigonometric::rotate(b, t, &x, &y, &angle);
}
