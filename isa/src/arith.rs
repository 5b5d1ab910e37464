//! The arithmetic in which kernels and the bodies of instructions are written.

use crate::fault::Fault;
use crate::kernels::Kernel;
use crate::num::Env;
use crate::types::{Cond, Ty};

/// Operations on words of 64 bits. The interpreter computes with them, code generators record them.
///
/// Operations on doubles round to nearest, ties to even. Unless [`Env::ieee`] is set, they stop where an operand or the result is not
/// finite, or the operation has no value. A NaN as a result is always [`NAN`](crate::num::float::NAN).
pub trait Arith {
    /// The representation of a word.
    type V: Copy;
    /// The error that stops a computation.
    type Stop;

    /// The environment of kernels.
    fn env(&self) -> Env;
    /// Bits of a word: 64 on the machine. Circuits are made for other widths, too.
    fn bits(&self) -> u32 {
        64
    }
    /// Fraction bits of a fixed-point number.
    fn frac(&self) -> u32 {
        self.env().format.frac()
    }
    /// A constant word, or its low bits.
    fn word(&mut self, k: u64) -> Self::V;
    /// `a + b` mod 2^64.
    fn add(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// `a − b` mod 2^64.
    fn sub(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// `a · b` mod 2^64.
    fn mul(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// The two words of the signed product, the low one first.
    fn wide_mul(&mut self, a: Self::V, b: Self::V) -> [Self::V; 2];
    /// `a + b` mod 2^64, and 1 if the sum of the signed integers wrapped, else 0.
    fn overflowing_add(&mut self, a: Self::V, b: Self::V) -> [Self::V; 2];
    /// `a − b` mod 2^64, and 1 if the difference of the signed integers wrapped, else 0.
    fn overflowing_sub(&mut self, a: Self::V, b: Self::V) -> [Self::V; 2];
    /// Bitwise and.
    fn and(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// Bitwise or.
    fn or(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// Bitwise exclusive or.
    fn xor(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// Bitwise complement.
    fn not(&mut self, a: Self::V) -> Self::V;
    /// `a` shifted left by `n mod 64`.
    fn shl(&mut self, a: Self::V, n: Self::V) -> Self::V;
    /// `a` shifted right by `n mod 64`, filled with zeros.
    fn shr(&mut self, a: Self::V, n: Self::V) -> Self::V;
    /// `a` shifted right by `n mod 64`, filled with copies of the sign.
    fn sar(&mut self, a: Self::V, n: Self::V) -> Self::V;
    /// `a` rotated left by `n mod 64`.
    fn rol(&mut self, a: Self::V, n: Self::V) -> Self::V;
    /// `a` rotated right by `n mod 64`.
    fn ror(&mut self, a: Self::V, n: Self::V) -> Self::V;
    /// 1 if `a = b`, else 0.
    fn eq(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// 1 if `a ≠ b`, else 0.
    fn ne(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// 1 if `a < b` as signed integers, else 0.
    fn lt(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// 1 if `a < b` as unsigned integers, else 0.
    fn ltu(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// `a` if `c` is not zero, else `b`.
    fn select(&mut self, c: Self::V, a: Self::V, b: Self::V) -> Self::V;

    /// A constant double. In words of fewer bits, the number of their format.
    fn float(&mut self, x: f64) -> Self::V {
        self.word(x.to_bits())
    }
    /// The sum of two doubles.
    fn float_add(&mut self, a: Self::V, b: Self::V) -> Result<Self::V, Self::Stop>;
    /// The difference of two doubles.
    fn float_sub(&mut self, a: Self::V, b: Self::V) -> Result<Self::V, Self::Stop>;
    /// The product of two doubles.
    fn float_mul(&mut self, a: Self::V, b: Self::V) -> Result<Self::V, Self::Stop>;
    /// The quotient of two doubles.
    fn float_div(&mut self, a: Self::V, b: Self::V) -> Result<Self::V, Self::Stop>;
    /// The square root of a double.
    fn float_sqrt(&mut self, a: Self::V) -> Result<Self::V, Self::Stop>;
    /// The magnitude of a double.
    fn float_abs(&mut self, a: Self::V) -> Result<Self::V, Self::Stop>;
    /// The double nearest to a signed integer times 2^-`frac`, ties to even; `frac` is at most 63.
    fn float_from(&mut self, a: Self::V, frac: u32) -> Self::V;
    /// 1 if the condition holds between `a` and `b` read as numbers of type `ty`, else 0.
    fn compare(&mut self, c: Cond, ty: Ty, a: Self::V, b: Self::V) -> Result<Self::V, Self::Stop>;

    /// A fixed-point number has wrapped if the word is not zero. That raises the overflow flag, or stops if the run is configured so.
    fn overflow(&mut self, wrapped: Self::V) -> Result<(), Self::Stop>;
    /// A check that is always made: stops with `fault` if `ok` is zero.
    fn require(&mut self, ok: Self::V, fault: Fault) -> Result<(), Self::Stop>;

    /// The results of a kernel, by a call of its function on words. A kernel with one result gives it twice.
    fn call<K: Kernel>(&mut self, x: [Self::V; 4]) -> Result<[Self::V; 2], Self::Stop>;

    /// Whether a kernel with a circuit [in place](crate::kernels::KernelInfo::in_place) is kept as a [call](Arith::call) though it has a body.
    #[inline(always)]
    fn keeps_kernels(&self) -> bool {
        false
    }

    /// A kernel of one argument.
    #[inline(always)]
    fn kernel1<K: Kernel>(&mut self, a: Self::V) -> Result<Self::V, Self::Stop>
    where
        Self: Sized,
    {
        Ok(K::run(self, [a; 4])?[0])
    }
    /// A kernel of two arguments.
    #[inline(always)]
    fn kernel2<K: Kernel>(&mut self, a: Self::V, b: Self::V) -> Result<Self::V, Self::Stop>
    where
        Self: Sized,
    {
        Ok(K::run(self, [a, b, b, b])?[0])
    }
    /// A kernel of three arguments.
    #[inline(always)]
    fn kernel3<K: Kernel>(&mut self, a: Self::V, b: Self::V, c: Self::V) -> Result<Self::V, Self::Stop>
    where
        Self: Sized,
    {
        Ok(K::run(self, [a, b, c, c])?[0])
    }
    /// A kernel of four arguments and two results.
    #[inline(always)]
    fn kernel_pair<K: Kernel>(&mut self, x: [Self::V; 4]) -> Result<[Self::V; 2], Self::Stop>
    where
        Self: Sized,
    {
        K::run(self, x)
    }
}

/// The methods of [`Arith`] but `env`, `overflow` and `require`, for implementations whose `V` is `u64` and whose `Stop` is [`Fault`]. To
/// be invoked inside the `impl`.
#[macro_export]
macro_rules! plain_arithmetic {
    () => {
        #[inline(always)]
        fn word(&mut self, k: u64) -> u64 {
            k
        }
        #[inline(always)]
        fn add(&mut self, a: u64, b: u64) -> u64 {
            a.wrapping_add(b)
        }
        #[inline(always)]
        fn sub(&mut self, a: u64, b: u64) -> u64 {
            a.wrapping_sub(b)
        }
        #[inline(always)]
        fn mul(&mut self, a: u64, b: u64) -> u64 {
            a.wrapping_mul(b)
        }
        #[inline(always)]
        fn and(&mut self, a: u64, b: u64) -> u64 {
            a & b
        }
        #[inline(always)]
        fn or(&mut self, a: u64, b: u64) -> u64 {
            a | b
        }
        #[inline(always)]
        fn xor(&mut self, a: u64, b: u64) -> u64 {
            a ^ b
        }
        #[inline(always)]
        fn not(&mut self, a: u64) -> u64 {
            !a
        }
        #[inline(always)]
        fn shl(&mut self, a: u64, n: u64) -> u64 {
            a << (n & 63)
        }
        #[inline(always)]
        fn shr(&mut self, a: u64, n: u64) -> u64 {
            a >> (n & 63)
        }
        #[inline(always)]
        fn sar(&mut self, a: u64, n: u64) -> u64 {
            (a.cast_signed() >> (n & 63)).cast_unsigned()
        }
        #[inline(always)]
        fn rol(&mut self, a: u64, n: u64) -> u64 {
            a.rotate_left((n & 63) as u32)
        }
        #[inline(always)]
        fn ror(&mut self, a: u64, n: u64) -> u64 {
            a.rotate_right((n & 63) as u32)
        }
        #[inline(always)]
        fn eq(&mut self, a: u64, b: u64) -> u64 {
            u64::from(a == b)
        }
        #[inline(always)]
        fn lt(&mut self, a: u64, b: u64) -> u64 {
            u64::from(a.cast_signed() < b.cast_signed())
        }
        #[inline(always)]
        fn ltu(&mut self, a: u64, b: u64) -> u64 {
            u64::from(a < b)
        }
        #[inline(always)]
        fn select(&mut self, c: u64, a: u64, b: u64) -> u64 {
            if c != 0 { a } else { b }
        }
        #[inline(always)]
        fn wide_mul(&mut self, a: u64, b: u64) -> [u64; 2] {
            let product = i128::from(a.cast_signed()) * i128::from(b.cast_signed());
            [product as u64, (product >> 64) as u64]
        }
        #[inline(always)]
        fn overflowing_add(&mut self, a: u64, b: u64) -> [u64; 2] {
            let (sum, wrapped) = a.cast_signed().overflowing_add(b.cast_signed());
            [sum.cast_unsigned(), u64::from(wrapped)]
        }
        #[inline(always)]
        fn overflowing_sub(&mut self, a: u64, b: u64) -> [u64; 2] {
            let (difference, wrapped) = a.cast_signed().overflowing_sub(b.cast_signed());
            [difference.cast_unsigned(), u64::from(wrapped)]
        }
        #[inline(always)]
        fn ne(&mut self, a: u64, b: u64) -> u64 {
            u64::from(a != b)
        }
        #[inline(always)]
        fn float_add(&mut self, a: u64, b: u64) -> $crate::num::Word {
            $crate::num::float::add(self.env(), a, b)
        }
        #[inline(always)]
        fn float_sub(&mut self, a: u64, b: u64) -> $crate::num::Word {
            $crate::num::float::sub(self.env(), a, b)
        }
        #[inline(always)]
        fn float_mul(&mut self, a: u64, b: u64) -> $crate::num::Word {
            $crate::num::float::mul(self.env(), a, b)
        }
        #[inline(always)]
        fn float_div(&mut self, a: u64, b: u64) -> $crate::num::Word {
            $crate::num::float::div(self.env(), a, b)
        }
        #[inline(always)]
        fn float_sqrt(&mut self, a: u64) -> $crate::num::Word {
            $crate::num::float::sqrt(self.env(), a)
        }
        #[inline(always)]
        fn float_abs(&mut self, a: u64) -> $crate::num::Word {
            $crate::num::float::abs(self.env(), a)
        }
        #[inline(always)]
        fn float_from(&mut self, a: u64, frac: u32) -> u64 {
            $crate::num::float::from_scaled(a, frac)
        }
        #[inline(always)]
        fn compare(&mut self, c: $crate::Cond, ty: $crate::Ty, a: u64, b: u64) -> $crate::num::Word {
            $crate::num::compare(self.env(), c, ty, a, b).map(u64::from)
        }
        #[inline(always)]
        fn call<K: $crate::kernels::Kernel>(&mut self, x: [u64; 4]) -> Result<[u64; 2], $crate::Fault> {
            let (words, wrapped) = K::words(self.env(), x)?;
            if K::INFO.wraps {
                self.overflow(u64::from(wrapped))?;
            }
            Ok(words)
        }
    };
}
