//! Operations on doubles with the checks that are needed, and overflow of sums.

use pendula_isa::num::float;
use pendula_isa::types::Cond;

use super::Lifter;
use crate::ops::{BinaryOp, Float, Op, ValueId};
use pendula_isa::arith::Arith;

impl Lifter<'_> {
    fn need_finite(&mut self, v: ValueId) {
        if !self.is_finite(v) {
            self.push(Op::Finite(v));
            self.finite.push(v);
        }
    }

    /// The result of an operation on doubles. It is checked for being finite, or made canonical. The operands need no check here: they
    /// were checked, or the result of an infinite or NaN operand is itself infinite or NaN.
    pub(super) fn float_result(&mut self, v: ValueId) -> ValueId {
        if self.setting.ieee {
            self.pure(Op::Canonical(v))
        } else {
            self.need_finite(v);
            v
        }
    }

    pub(super) fn float_operation(&mut self, op: Float, a: ValueId, b: ValueId) -> ValueId {
        if let (Some(x), Some(y)) = (self.constant(a), self.constant(b)) {
            let word = match op {
                Float::Add => float::add(self.env, x, y),
                Float::Sub => float::sub(self.env, x, y),
                Float::Mul => float::mul(self.env, x, y),
                Float::Div => float::div(self.env, x, y),
            };
            if let Ok(word) = word {
                return self.word(word);
            }
        }
        // A quotient is infinite or NaN if the divisor is zero, but not if the divisor is infinite.
        if op == Float::Div && !self.setting.ieee {
            self.need_finite(b);
        }
        let v = self.pure(Op::Float(op, a, b));
        self.float_result(v)
    }

    /// Whether a sum or difference wraps, 1 or 0: `differ` are two pairs of words whose signs then differ.
    pub(super) fn signs_differ(&mut self, differ: [[ValueId; 2]; 2]) -> ValueId {
        let [first, second] = differ.map(|[a, b]| self.bin(BinaryOp::Xor, a, b));
        let wrong = self.bin(BinaryOp::And, first, second);
        let zero = self.word(0);
        self.compare_integers(Cond::Lt, wrong, zero)
    }
}
