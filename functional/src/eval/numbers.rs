//! What operators on numbers compute.

use crate::core::{Binary, Compare, Unary};

impl Unary {
    /// Its value.
    pub fn of(self, x: f64) -> f64 {
        use pendula_isa::num::raw::call;
        match self {
            Unary::Neg => -x,
            Unary::Abs => x.abs(),
            Unary::Sign if x > 0.0 => 1.0,
            Unary::Sign if x < 0.0 => -1.0,
            Unary::Sign => x,
            Unary::Sqrt => x.sqrt(),
            Unary::Cbrt => call::cbrt(x),
            Unary::Exp => call::exp(x),
            Unary::Exp2 => call::exp2(x),
            Unary::Expm1 => call::expm1(x),
            Unary::Log => call::log(x),
            Unary::Log2 => call::log2(x),
            Unary::Log1p => call::log1p(x),
            Unary::Sin => call::sin(x),
            Unary::Cos => call::cos(x),
            Unary::Tan => call::tan(x),
            Unary::Asin => call::asin(x),
            Unary::Acos => call::acos(x),
            Unary::Atan => call::atan(x),
            Unary::Sinh => call::sinh(x),
            Unary::Cosh => call::cosh(x),
            Unary::Tanh => call::tanh(x),
            Unary::Asinh => call::asinh(x),
            Unary::Acosh => call::acosh(x),
            Unary::Atanh => call::atanh(x),
            Unary::Erf => call::erf(x),
            Unary::Erfc => call::erfc(x),
            Unary::Lgamma => call::lgamma(x),
            Unary::Digamma => call::digamma(x),
            Unary::Floor => x.floor(),
            Unary::Ceil => x.ceil(),
            Unary::Round => x.round_ties_even(),
            Unary::Trunc => x.trunc(),
        }
    }
}

impl Binary {
    /// Its value.
    #[inline]
    pub fn of(self, x: f64, y: f64) -> f64 {
        use pendula_isa::num::raw::{call, polygamma};
        match self {
            Binary::Add => x + y,
            Binary::Sub => x - y,
            Binary::Mul => x * y,
            Binary::Div => x / y,
            Binary::Atan2 => call::atan2(x, y),
            Binary::Pow => call::pow(x, y),
            // Of a number and none, the number.
            Binary::Min => {
                if y < x || x.is_nan() {
                    y
                } else {
                    x
                }
            }
            Binary::Max => {
                if y > x || x.is_nan() {
                    y
                } else {
                    x
                }
            }
            Binary::Hypot => call::hypot(x, y),
            Binary::Rem => x % y,
            // The order is a whole number that derivatives write.
            Binary::Polygamma => polygamma(x, y as i64),
        }
    }
}

impl Compare {
    pub(super) fn ints(self, ty: crate::value::IntType, x: i64, y: i64) -> bool {
        if ty.signed() { self.ordered(x, y) } else { self.ordered(x as u64, y as u64) }
    }

    pub(super) fn ordered<T: PartialOrd>(self, x: T, y: T) -> bool {
        match self {
            Compare::Eq => x == y,
            Compare::Ne => x != y,
            Compare::Lt => x < y,
            Compare::Le => x <= y,
            Compare::Gt => x > y,
            Compare::Ge => x >= y,
        }
    }
}
