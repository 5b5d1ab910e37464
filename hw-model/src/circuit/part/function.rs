//! The functions that parts compute.

use crate::circuit::kernels::Kernel;

/// A function of one or more words. Those of fixed point are for numbers with `frac` fraction bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CircuitFn {
    /// The operand itself.
    Wire,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise nor.
    Nor,
    /// The sum, wrapped.
    Sum,
    /// The difference, wrapped.
    Difference,
    /// The low word of the product.
    Multiply,
    /// Quotient rounded toward zero. Traps if the divisor is zero; so do the next three.
    Quotient,
    /// Remainder with the sign of the dividend.
    Remainder,
    /// Quotient rounded down.
    QuotientDown,
    /// Remainder with the sign of the divisor.
    Modulo,
    /// Shift to the left by an amount modulo the width.
    ShiftLeft,
    /// Shift to the right, with zeros shifted in.
    ShiftRight,
    /// Shift to the right, with the sign shifted in.
    ShiftRightSigned,
    /// The low 32 bits shifted to the left by an amount modulo 32, then sign-extended.
    ShiftLeft32,
    /// The low 32 bits shifted to the right, with zeros shifted in, then sign-extended.
    ShiftRight32,
    /// The low 32 bits shifted to the right, with the sign shifted in, then sign-extended.
    ShiftRightSigned32,
    /// 1 if the first is less, signed.
    Less,
    /// 1 if the first is less, unsigned.
    LessUnsigned,
    /// 1 if they are equal.
    Equal,
    /// The smaller, signed.
    Min,
    /// The larger, signed.
    Max,
    /// |a|; traps for the least word.
    Magnitude,
    /// −1, 0 or 1 as a number.
    Sign {
        /// Fraction bits.
        frac: usize,
    },
    /// The larger of a and 0.
    Positive,
    /// The greatest whole number not above a.
    Floor {
        /// Fraction bits.
        frac: usize,
    },
    /// Product of fixed-point numbers, rounded down, wrapped.
    FixedMultiply {
        /// Fraction bits.
        frac: usize,
    },
    /// a · b + c of fixed-point numbers, the product rounded down, wrapped.
    FixedMultiplyAdd {
        /// Fraction bits.
        frac: usize,
    },
    /// Quotient of fixed-point numbers, rounded toward zero. Traps if the divisor is zero or the quotient does not fit.
    FixedDivide {
        /// Fraction bits.
        frac: usize,
    },
    /// 1 / a, rounded toward zero. Traps as the quotient.
    FixedInverse {
        /// Fraction bits.
        frac: usize,
    },
    /// Product of logarithmic numbers. Traps for words that are not numbers and results that are out of range.
    LogProduct,
    /// Quotient of logarithmic numbers. Also traps if the divisor is zero.
    LogQuotient,
    /// 1 / a of a logarithmic number. Traps for zero and for words that are not numbers.
    LogInverse,
    /// 1 if the first logarithmic number is less. Traps for words that are not numbers.
    LogLess,
    /// 1 if the logarithmic numbers are equal. Traps for words that are not numbers.
    LogEqual,
    /// 1 if the first floating-point number is less; the format is that of the width. Traps for NaN.
    FloatLess,
    /// 1 if the floating-point numbers are equal, as −0 and +0 are; the format is that of the width. Traps for NaN.
    FloatEqual,
    /// An elementary function, a conversion, an operation on floating-point or logarithmic numbers.
    Kernel {
        /// The kernel.
        kernel: Kernel,
        /// Fraction bits of fixed-point numbers; the other formats are those of the width.
        frac: usize,
    },
}

impl CircuitFn {
    /// The number of operands.
    pub const fn arity(self) -> usize {
        match self {
            CircuitFn::Kernel { kernel, .. } => kernel.arity(),
            CircuitFn::Wire
            | CircuitFn::Magnitude
            | CircuitFn::Sign { .. }
            | CircuitFn::Positive
            | CircuitFn::Floor { .. }
            | CircuitFn::FixedInverse { .. }
            | CircuitFn::LogInverse => 1,
            CircuitFn::And
            | CircuitFn::Or
            | CircuitFn::Nor
            | CircuitFn::Sum
            | CircuitFn::Difference
            | CircuitFn::Multiply
            | CircuitFn::Quotient
            | CircuitFn::Remainder
            | CircuitFn::QuotientDown
            | CircuitFn::Modulo
            | CircuitFn::ShiftLeft
            | CircuitFn::ShiftRight
            | CircuitFn::ShiftRightSigned
            | CircuitFn::ShiftLeft32
            | CircuitFn::ShiftRight32
            | CircuitFn::ShiftRightSigned32
            | CircuitFn::Less
            | CircuitFn::LessUnsigned
            | CircuitFn::Equal
            | CircuitFn::Min
            | CircuitFn::Max
            | CircuitFn::FixedMultiply { .. }
            | CircuitFn::FixedDivide { .. }
            | CircuitFn::LogProduct
            | CircuitFn::LogQuotient
            | CircuitFn::LogLess
            | CircuitFn::LogEqual
            | CircuitFn::FloatLess
            | CircuitFn::FloatEqual => 2,
            CircuitFn::FixedMultiplyAdd { .. } => 3,
        }
    }

    /// Whether it shifts by an amount modulo the number of bits, which is then a power of two.
    pub const fn is_shift(self) -> bool {
        matches!(
            self,
            CircuitFn::ShiftLeft
                | CircuitFn::ShiftRight
                | CircuitFn::ShiftRightSigned
                | CircuitFn::ShiftLeft32
                | CircuitFn::ShiftRight32
                | CircuitFn::ShiftRightSigned32
        )
    }

    /// The fraction bits, if the function depends on them.
    pub(super) const fn frac(self) -> Option<usize> {
        match self {
            CircuitFn::Sign { frac }
            | CircuitFn::Floor { frac }
            | CircuitFn::FixedMultiply { frac }
            | CircuitFn::FixedMultiplyAdd { frac }
            | CircuitFn::FixedDivide { frac }
            | CircuitFn::FixedInverse { frac }
            | CircuitFn::Kernel { frac, .. } => Some(frac),
            _ => None,
        }
    }
}
