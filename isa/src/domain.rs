//! The operations that an instruction's body may use.
//!
//! Rows of the table have bodies generic over [`Domain`]. The interpreter implements it for machine words; code generators, dual
//! numbers, circuits and symbolic checkers are other implementations, so that the semantics of each instruction is written once.

use crate::arith::Arith;
use crate::fault::Fault;
use crate::types::Ty;

/// The operations of an instruction. A method that returns an error must not have changed the state, and a body calls nothing that can
/// fail after its first write.
///
/// A domain may do without memory, cells, gradient words, tapes or output: the operations for them are then those given here.
pub trait Domain: Arith {
    /// How an instruction stops that needs something that this domain does not have; `fault` is what a machine without it reports. Operations
    /// that cannot fail only note this.
    fn missing(&mut self, fault: Fault) -> Self::Stop;

    /// The value of the instruction's operand number `n`: a register, a constant or a memory word.
    fn operand(&mut self, n: usize) -> Result<Self::V, Self::Stop>;
    /// Writes operand number `n`. Only after [`Domain::operand`] of the same `n`, which has checked the address.
    fn set(&mut self, n: usize, v: Self::V) -> Result<(), Self::Stop>;
    /// The memory word at address `a`.
    fn load(&mut self, _: Self::V) -> Result<Self::V, Self::Stop> {
        Err(self.missing(Fault::Memory))
    }
    /// Writes the memory word at address `a`. Only after [`Domain::load`] of the same address.
    fn store(&mut self, _: Self::V, _: Self::V) -> Result<(), Self::Stop> {
        Err(self.missing(Fault::Memory))
    }
    /// The word in the cell at address `a` modulo 2^32, in the memory that also holds instructions.
    fn cell(&mut self, _: Self::V) -> Result<Self::V, Self::Stop> {
        Err(self.missing(Fault::Memory))
    }
    /// Writes a cell. Only after [`Domain::cell`] of the same address.
    fn set_cell(&mut self, _: Self::V, _: Self::V) -> Result<(), Self::Stop> {
        Err(self.missing(Fault::Memory))
    }
    /// The gradient word of operand `n`, one gradient level above the current one. Only after [`Domain::operand`] of the same `n`.
    fn gradient(&mut self, _: usize) -> Result<Self::V, Self::Stop> {
        Err(self.missing(Fault::GradientLevel))
    }
    /// Writes the gradient word of operand `n`. Only after [`Domain::gradient`] of the same `n`.
    fn set_gradient(&mut self, _: usize, _: Self::V) -> Result<(), Self::Stop> {
        Err(self.missing(Fault::GradientLevel))
    }
    /// The stack pointer.
    fn sp(&mut self) -> Self::V;
    /// Writes the stack pointer.
    fn set_sp(&mut self, v: Self::V);

    /// The result of `f` if the word `c` is not zero; else `zero`, without running `f`.
    fn guarded(
        &mut self,
        c: Self::V,
        zero: Self::V,
        f: impl FnOnce(&mut Self) -> Result<Self::V, Self::Stop>,
    ) -> Result<Self::V, Self::Stop>;

    /// A check that a run may disable: stops with `fault` if `ok` is zero.
    fn check(&mut self, ok: Self::V, fault: Fault) -> Result<(), Self::Stop>;

    /// Notes that this word is about to be destroyed.
    fn lose(&mut self, _: Self::V) {}
    /// Like [`Domain::lose`], for `zero.f`: nothing is destroyed if the word is +0.0 already.
    fn lose_inexact(&mut self, _: Self::V) {}

    /// Appends a word to the output tape; returns the word that was in its place, which is zero.
    fn emit(&mut self, _: Self::V) -> Result<Self::V, Self::Stop> {
        Err(self.missing(Fault::TapeFull))
    }
    /// The last word of the output tape.
    fn last_emitted(&mut self) -> Result<Self::V, Self::Stop> {
        Err(self.missing(Fault::NoOutput))
    }
    /// Removes the last word of the output tape and leaves `v`, which is zero, in its place. Only after [`Domain::last_emitted`].
    fn unemit(&mut self, _: Self::V) {
        self.missing(Fault::NoOutput);
    }
    /// The next word of the input tape.
    fn next_input(&mut self) -> Result<Self::V, Self::Stop> {
        Err(self.missing(Fault::NoInput))
    }
    /// Moves the input tape one word on. Only after [`Domain::next_input`].
    fn advance_input(&mut self) {
        self.missing(Fault::NoInput);
    }
    /// The word of the input tape read last.
    fn last_input(&mut self) -> Result<Self::V, Self::Stop> {
        Err(self.missing(Fault::NothingRead))
    }
    /// Moves the input tape one word back. Only after [`Domain::last_input`].
    fn rewind_input(&mut self) {
        self.missing(Fault::NothingRead);
    }
    /// Shows a number to the user, when running forward.
    fn show(&mut self, _: Ty, _: Self::V) {
        self.missing(Fault::NoOutput);
    }
    /// Shows a text (operand `n`) to the user, when running forward.
    fn print(&mut self, _: usize) {
        self.missing(Fault::NoOutput);
    }
}

/// [`Domain::guarded`] for implementations whose `V` is `u64`. To be invoked inside the `impl`.
#[macro_export]
macro_rules! plain_guard {
    () => {
        #[inline(always)]
        fn guarded(&mut self, c: u64, zero: u64, f: impl FnOnce(&mut Self) -> $crate::num::Word) -> $crate::num::Word {
            if c == 0 { Ok(zero) } else { f(self) }
        }
    };
}
