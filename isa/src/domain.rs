//! The operations that an instruction's body may use.
//!
//! Rows of the table have bodies generic over [`Domain`]. The interpreter implements it for machine words; code generators, dual
//! numbers, circuits and symbolic checkers are other implementations, so that the semantics of each instruction is written once.

use crate::fault::Fault;
use crate::num::{Env, Word};
use crate::types::{Cond, Ty};

/// The operations of an instruction. A method that returns an error must not have changed the state, and a body calls nothing that can
/// fail after its first write.
pub trait Domain {
    /// The representation of a word.
    type V: Copy;
    /// The error that stops a body.
    type Stop;

    /// The value of the instruction's operand number `n`: a register, a constant or a memory word.
    fn operand(&mut self, n: usize) -> Result<Self::V, Self::Stop>;
    /// Writes operand number `n`. Only after [`Domain::operand`] of the same `n`, which has checked the address.
    fn set(&mut self, n: usize, v: Self::V) -> Result<(), Self::Stop>;
    /// The memory word at address `a`.
    fn load(&mut self, a: Self::V) -> Result<Self::V, Self::Stop>;
    /// Writes the memory word at address `a`. Only after [`Domain::load`] of the same address.
    fn store(&mut self, a: Self::V, v: Self::V) -> Result<(), Self::Stop>;
    /// The word in the cell at address `a` modulo 2^32, in the memory that also holds instructions.
    fn cell(&mut self, a: Self::V) -> Result<Self::V, Self::Stop>;
    /// Writes a cell. Only after [`Domain::cell`] of the same address.
    fn set_cell(&mut self, a: Self::V, v: Self::V) -> Result<(), Self::Stop>;
    /// The gradient word of operand `n`, one gradient level above the current one. Only after [`Domain::operand`] of the same `n`.
    fn gradient(&mut self, n: usize) -> Result<Self::V, Self::Stop>;
    /// Writes the gradient word of operand `n`. Only after [`Domain::gradient`] of the same `n`.
    fn set_gradient(&mut self, n: usize, v: Self::V) -> Result<(), Self::Stop>;
    /// The stack pointer.
    fn sp(&mut self) -> Self::V;
    /// Writes the stack pointer.
    fn set_sp(&mut self, v: Self::V);

    /// The environment of kernels.
    fn env(&self) -> Env;
    /// A constant word.
    fn word(&mut self, k: u64) -> Self::V;
    /// `a + b` mod 2^64.
    fn add(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// `a − b` mod 2^64.
    fn sub(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// `a · b` mod 2^64.
    fn mul(&mut self, a: Self::V, b: Self::V) -> Self::V;
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
    /// 1 if `a < b` as signed integers, else 0.
    fn lt(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// 1 if `a < b` as unsigned integers, else 0.
    fn ltu(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// `a` if `c` is not zero, else `b`.
    fn select(&mut self, c: Self::V, a: Self::V, b: Self::V) -> Self::V;

    /// A numeric kernel of one argument.
    fn kernel1<K>(&mut self, k: K, a: Self::V) -> Result<Self::V, Self::Stop>
    where
        K: Fn(Env, u64) -> Word + Copy + 'static;
    /// A numeric kernel of two arguments.
    fn kernel2<K>(&mut self, k: K, a: Self::V, b: Self::V) -> Result<Self::V, Self::Stop>
    where
        K: Fn(Env, u64, u64) -> Word + Copy + 'static;
    /// A numeric kernel of three arguments.
    fn kernel3<K>(&mut self, k: K, a: Self::V, b: Self::V, c: Self::V) -> Result<Self::V, Self::Stop>
    where
        K: Fn(Env, u64, u64, u64) -> Word + Copy + 'static;
    /// A numeric kernel of four arguments and two results.
    fn kernel_pair<K>(&mut self, k: K, x: [Self::V; 4]) -> Result<[Self::V; 2], Self::Stop>
    where
        K: Fn(Env, [u64; 4]) -> Result<[u64; 2], Fault> + Copy + 'static;
    /// A kernel that wraps and reports whether it did. Wrapping sets the fixed-point overflow flag, or traps if the run is configured
    /// so.
    fn wrapping2<K>(&mut self, k: K, a: Self::V, b: Self::V) -> Result<Self::V, Self::Stop>
    where
        K: Fn(Env, u64, u64) -> (u64, bool) + Copy + 'static;
    /// Like [`Domain::wrapping2`], with three arguments.
    fn wrapping3<K>(&mut self, k: K, a: Self::V, b: Self::V, c: Self::V) -> Result<Self::V, Self::Stop>
    where
        K: Fn(Env, u64, u64, u64) -> (u64, bool) + Copy + 'static;
    /// Like [`Domain::wrapping2`], with four arguments and two results.
    fn wrapping_pair<K>(&mut self, k: K, x: [Self::V; 4]) -> Result<[Self::V; 2], Self::Stop>
    where
        K: Fn(Env, [u64; 4]) -> ([u64; 2], bool) + Copy + 'static;
    /// 1 if the condition holds between `a` and `b` read as numbers of type `ty`, else 0.
    fn compare(&mut self, c: Cond, ty: Ty, a: Self::V, b: Self::V) -> Result<Self::V, Self::Stop>;

    /// The result of `f` if the word `c` is not zero; else `zero`, without running `f`.
    fn guarded(
        &mut self,
        c: Self::V,
        zero: Self::V,
        f: impl FnOnce(&mut Self) -> Result<Self::V, Self::Stop>,
    ) -> Result<Self::V, Self::Stop>;

    /// A check that a run may disable: stops with `fault` if `ok` is zero.
    fn check(&mut self, ok: Self::V, fault: Fault) -> Result<(), Self::Stop>;
    /// A check that is always made: stops with `fault` if `ok` is zero.
    fn require(&mut self, ok: Self::V, fault: Fault) -> Result<(), Self::Stop>;

    /// Notes that the word `v` is about to be destroyed.
    fn lose(&mut self, v: Self::V);
    /// Like [`Domain::lose`], for `zero.f`: nothing is destroyed if the word is +0.0 already.
    fn lose_inexact(&mut self, v: Self::V);

    /// Appends a word to the output tape; returns the word that was in its place, which is zero.
    fn emit(&mut self, v: Self::V) -> Result<Self::V, Self::Stop>;
    /// The last word of the output tape.
    fn last_emitted(&mut self) -> Result<Self::V, Self::Stop>;
    /// Removes the last word of the output tape and leaves `v`, which is zero, in its place. Only after [`Domain::last_emitted`].
    fn unemit(&mut self, v: Self::V);
    /// The next word of the input tape.
    fn next_input(&mut self) -> Result<Self::V, Self::Stop>;
    /// Moves the input tape one word on. Only after [`Domain::next_input`].
    fn advance_input(&mut self);
    /// The word of the input tape read last.
    fn last_input(&mut self) -> Result<Self::V, Self::Stop>;
    /// Moves the input tape one word back. Only after [`Domain::last_input`].
    fn rewind_input(&mut self);
    /// Shows a number to the user, when running forward.
    fn show(&mut self, ty: Ty, v: Self::V);
    /// Shows a text (operand `n`) to the user, when running forward.
    fn print(&mut self, n: usize);
}

/// The methods of [`Domain`] for tapes and output, for implementations without any whose `V` is `u64` and whose `Stop` is [`Fault`]: reading
/// and writing tapes is a fault, and nothing is shown. To be invoked inside the `impl`.
#[macro_export]
macro_rules! no_tapes {
    () => {
        fn emit(&mut self, _: u64) -> $crate::num::Word {
            Err($crate::Fault::TapeFull)
        }
        fn last_emitted(&mut self) -> $crate::num::Word {
            Err($crate::Fault::NoOutput)
        }
        fn unemit(&mut self, _: u64) {}
        fn next_input(&mut self) -> $crate::num::Word {
            Err($crate::Fault::NoInput)
        }
        fn advance_input(&mut self) {}
        fn last_input(&mut self) -> $crate::num::Word {
            Err($crate::Fault::NothingRead)
        }
        fn rewind_input(&mut self) {}
        fn show(&mut self, _: $crate::Ty, _: u64) {}
        fn print(&mut self, _: usize) {}
    };
}

/// The arithmetic methods of [`Domain`], for implementations whose `V` is `u64` and whose `Stop` is [`Fault`]. To be invoked inside the
/// `impl`.
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
        fn kernel1<K>(&mut self, k: K, a: u64) -> $crate::num::Word
        where
            K: Fn($crate::Env, u64) -> $crate::num::Word + Copy + 'static,
        {
            k(self.env(), a)
        }
        #[inline(always)]
        fn kernel2<K>(&mut self, k: K, a: u64, b: u64) -> $crate::num::Word
        where
            K: Fn($crate::Env, u64, u64) -> $crate::num::Word + Copy + 'static,
        {
            k(self.env(), a, b)
        }
        #[inline(always)]
        fn kernel3<K>(&mut self, k: K, a: u64, b: u64, c: u64) -> $crate::num::Word
        where
            K: Fn($crate::Env, u64, u64, u64) -> $crate::num::Word + Copy + 'static,
        {
            k(self.env(), a, b, c)
        }
        #[inline(always)]
        fn kernel_pair<K>(&mut self, k: K, x: [u64; 4]) -> Result<[u64; 2], $crate::Fault>
        where
            K: Fn($crate::Env, [u64; 4]) -> Result<[u64; 2], $crate::Fault> + Copy + 'static,
        {
            k(self.env(), x)
        }
        #[inline(always)]
        fn compare(&mut self, c: $crate::Cond, ty: $crate::Ty, a: u64, b: u64) -> $crate::num::Word {
            $crate::num::compare(self.env(), c, ty, a, b).map(u64::from)
        }
        #[inline(always)]
        fn guarded(&mut self, c: u64, zero: u64, f: impl FnOnce(&mut Self) -> $crate::num::Word) -> $crate::num::Word {
            if c == 0 { Ok(zero) } else { f(self) }
        }
    };
}
