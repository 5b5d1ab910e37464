//! Arithmetic on integers, which wraps.

use crate::core::{IntBinary, IntUnary};
use crate::value::IntType;

/// A real towards zero; what does not fit becomes the nearest that does, and what is no number becomes 0.
pub(super) fn truncate(ty: IntType, x: f64) -> i64 {
    match ty {
        IntType::I8 => i64::from(x as i8),
        IntType::I16 => i64::from(x as i16),
        IntType::I32 => i64::from(x as i32),
        IntType::I64 => x as i64,
        IntType::U8 => i64::from(x as u8),
        IntType::U16 => i64::from(x as u16),
        IntType::U32 => i64::from(x as u32),
        IntType::U64 => x as u64 as i64,
    }
}

impl IntUnary {
    pub(super) fn of(self, ty: IntType, x: i64) -> i64 {
        let bits = x as u64 & (u64::MAX >> (64 - ty.bits()));
        match self {
            IntUnary::Neg => x.wrapping_neg(),
            IntUnary::Not => !x,
            IntUnary::Less => x.wrapping_sub(1),
            IntUnary::Abs if ty.signed() => x.wrapping_abs(),
            IntUnary::Abs => x,
            IntUnary::Sign if ty.signed() => x.signum(),
            IntUnary::Sign => i64::from(x != 0),
            IntUnary::Ones => i64::from(bits.count_ones()),
            IntUnary::LeadingZeros => i64::from(bits.leading_zeros() - (64 - ty.bits())),
            IntUnary::TrailingZeros => i64::from(bits.trailing_zeros().min(ty.bits())),
        }
    }
}

impl IntBinary {
    /// `None` for a division by zero.
    pub(super) fn of(self, ty: IntType, x: i64, y: i64) -> Option<i64> {
        let (signed, u, v) = (ty.signed(), x as u64, y as u64);
        let count = (v & u64::from(ty.bits() - 1)) as u32;
        if y == 0 && matches!(self, IntBinary::Div | IntBinary::Mod | IntBinary::Quot | IntBinary::Rem) {
            return None;
        }
        Some(match self {
            IntBinary::Add => x.wrapping_add(y),
            IntBinary::Sub => x.wrapping_sub(y),
            IntBinary::Mul => x.wrapping_mul(y),
            IntBinary::Div if signed => {
                let q = x.wrapping_div(y);
                if x.wrapping_rem(y) != 0 && (x < 0) != (y < 0) { q - 1 } else { q }
            }
            IntBinary::Mod if signed => {
                let r = x.wrapping_rem(y);
                if r != 0 && (r < 0) != (y < 0) { r + y } else { r }
            }
            IntBinary::Quot if signed => x.wrapping_div(y),
            IntBinary::Rem if signed => x.wrapping_rem(y),
            IntBinary::Div | IntBinary::Quot => (u / v) as i64,
            IntBinary::Mod | IntBinary::Rem => (u % v) as i64,
            IntBinary::Pow => power(x, y),
            IntBinary::Min if signed => x.min(y),
            IntBinary::Max if signed => x.max(y),
            IntBinary::Min => u.min(v) as i64,
            IntBinary::Max => u.max(v) as i64,
            IntBinary::And => x & y,
            IntBinary::Or => x | y,
            IntBinary::Xor => x ^ y,
            IntBinary::Shl => x << count,
            IntBinary::Shr if signed => x >> count,
            IntBinary::Shr => (u >> count) as i64,
            IntBinary::Lshr => ((u & (u64::MAX >> (64 - ty.bits()))) >> count) as i64,
        })
    }
}

/// A wrapping power; of a negative exponent 0.
fn power(x: i64, y: i64) -> i64 {
    let (mut result, mut base, mut n) = (1_i64, x, y);
    if n < 0 {
        return 0;
    }
    while n > 0 {
        if n & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        n >>= 1;
    }
    result
}
