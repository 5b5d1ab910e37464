//! [`ScalarDomain`]: the functions of the table and instructions without a machine.

use crate::arith::Arith;
use crate::domain::Domain;
use crate::num::Word;
use crate::table::{ARITY, Function, FunctionVisitor, TableFn};
use crate::{Env, Fault};

/// A domain without memory, tapes or stack, and with four operands. It evaluates a row of the table outside a machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScalarDomain {
    /// The environment of kernels.
    pub env: Env,
    /// The operands.
    pub operands: [u64; 4],
    /// Their gradient words.
    pub gradients: [u64; 4],
    /// Whether a fixed-point number has wrapped.
    pub overflowed: bool,
}

impl ScalarDomain {
    /// A domain with all words zero.
    pub fn new(env: Env) -> ScalarDomain {
        ScalarDomain { env, ..ScalarDomain::default() }
    }
}

/// The value of a function.
///
/// # Errors
/// If the function has no value, or its type cannot hold it.
pub fn value(env: Env, func: TableFn, x: [u64; ARITY]) -> Word {
    struct Value(Env, [u64; ARITY]);
    impl FunctionVisitor for Value {
        type Out = Word;
        fn visit<F: Function>(self) -> Word {
            F::value(&mut ScalarDomain::new(self.0), self.1)
        }
    }
    func.visit(Value(env, x))
}

impl Arith for ScalarDomain {
    type V = u64;
    type Stop = Fault;

    crate::plain_arithmetic!();

    #[inline(always)]
    fn env(&self) -> Env {
        self.env
    }
    #[inline(always)]
    fn overflow(&mut self, wrapped: u64) -> Result<(), Fault> {
        self.overflowed |= wrapped != 0;
        Ok(())
    }
    #[inline(always)]
    fn require(&mut self, ok: u64, fault: Fault) -> Result<(), Fault> {
        if ok == 0 { Err(fault) } else { Ok(()) }
    }
}

impl Domain for ScalarDomain {
    crate::plain_guard!();

    fn operand(&mut self, n: usize) -> Word {
        Ok(self.operands[n])
    }
    fn set(&mut self, n: usize, v: u64) -> Result<(), Fault> {
        self.operands[n] = v;
        Ok(())
    }
    fn gradient(&mut self, n: usize) -> Word {
        Ok(self.gradients[n])
    }
    fn set_gradient(&mut self, n: usize, v: u64) -> Result<(), Fault> {
        self.gradients[n] = v;
        Ok(())
    }
    fn missing(&mut self, fault: Fault) -> Fault {
        fault
    }
    fn sp(&mut self) -> u64 {
        0
    }
    fn set_sp(&mut self, _: u64) {}
    fn check(&mut self, ok: u64, fault: Fault) -> Result<(), Fault> {
        self.require(ok, fault)
    }
}
