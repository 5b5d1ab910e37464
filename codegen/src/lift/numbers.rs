//! Operations for kernels of the number types, with the checks that are needed.

use pendula_isa::types::Cond;

use super::Lifter;
use crate::kernel::KnownKernel;
use crate::ops::{Bin, Float, Op, V};
use pendula_isa::domain::Domain;

impl Lifter<'_> {
    fn need_finite(&mut self, v: V) {
        if !self.is_finite(v) {
            self.push(Op::Finite(v));
            self.finite.push(v);
        }
    }

    /// The result of an operation on doubles. It is checked for being finite, or made canonical. The operands need no check here: they
    /// were checked, or the result of an infinite or NaN operand is itself infinite or NaN.
    fn settle(&mut self, v: V) -> V {
        if self.setting.ieee {
            self.pure(Op::Canonical(v))
        } else {
            self.need_finite(v);
            v
        }
    }

    fn float(&mut self, op: Float, a: V, b: V) -> V {
        // A quotient is infinite or NaN if the divisor is zero, but not if the divisor is infinite.
        if op == Float::Div && !self.setting.ieee {
            self.need_finite(b);
        }
        let v = self.pure(Op::Float(op, a, b));
        self.settle(v)
    }

    fn overflow(&mut self, v: V) {
        if (self.setting.trap_overflow || self.setting.checks) && self.constant(v) != Some(0) {
            self.push(Op::Overflow(v));
        }
    }

    /// The sum or difference of two fixed-point numbers.
    fn fixed_sum(&mut self, minus: bool, a: V, b: V) -> V {
        let sum = self.bin(if minus { Bin::Sub } else { Bin::Add }, a, b);
        if self.constant(b) == Some(0) || (self.constant(a) == Some(0) && !minus) {
            return sum;
        }
        // A sum wraps if its sign is neither operand's; a difference if the operands' signs differ and its own differs from the first's.
        let other = if minus { a } else { sum };
        let (first, second) = (self.bin(Bin::Xor, a, sum), self.bin(Bin::Xor, b, other));
        let wrong = self.bin(Bin::And, first, second);
        let zero = self.word(0);
        let wrapped = self.pure(Op::Compare(Cond::Lt, wrong, zero));
        self.overflow(wrapped);
        sum
    }

    /// The two words of a fixed-point product, rounded down.
    fn wide_product(&mut self, a: V, b: V) -> [V; 2] {
        let frac = u64::from(self.env.format.frac());
        let (low, high) = (self.bin(Bin::Mul, a, b), self.bin(Bin::MulHigh, a, b));
        let (right, left) = (self.word(frac), self.word(64 - frac));
        let (low, upper) = (self.bin(Bin::Shr, low, right), self.bin(Bin::Shl, high, left));
        [self.bin(Bin::Or, low, upper), self.bin(Bin::Sar, high, right)]
    }

    /// The low word of a double word. It has wrapped unless the high word is its sign extension.
    fn narrow(&mut self, [low, high]: [V; 2]) -> V {
        let all = self.word(63);
        let sign = self.bin(Bin::Sar, low, all);
        let wrapped = self.pure(Op::Compare(Cond::Ne, high, sign));
        self.overflow(wrapped);
        low
    }

    fn fixed_product(&mut self, a: V, b: V) -> V {
        let product = self.wide_product(a, b);
        self.narrow(product)
    }

    fn fixed_muladd(&mut self, a: V, b: V, c: V) -> V {
        let [low, high] = self.wide_product(a, b);
        let all = self.word(63);
        let (sum, extension) = (self.bin(Bin::Add, low, c), self.bin(Bin::Sar, c, all));
        let carry = self.pure(Op::Compare(Cond::Ltu, sum, low));
        let high = self.bin(Bin::Add, high, extension);
        let high = self.bin(Bin::Add, high, carry);
        self.narrow([sum, high])
    }

    /// The operations for a known kernel.
    pub(crate) fn inline(&mut self, kernel: KnownKernel, x: [V; 3]) -> V {
        let [a, b, c] = x;
        match kernel {
            KnownKernel::FloatAdd => self.float(Float::Add, a, b),
            KnownKernel::FloatSub => self.float(Float::Sub, a, b),
            KnownKernel::FloatMul => self.float(Float::Mul, a, b),
            KnownKernel::FloatDiv => self.float(Float::Div, a, b),
            KnownKernel::FloatInv => {
                let one = self.word(1f64.to_bits());
                self.float(Float::Div, one, a)
            }
            KnownKernel::FloatSqrt => {
                // The root of a negative number is NaN, that of infinity is infinity.
                let v = self.pure(Op::Sqrt(a));
                self.settle(v)
            }
            KnownKernel::FloatAbs => {
                let v = self.pure(Op::Abs(a));
                self.settle(v)
            }
            KnownKernel::FixedAdd => self.fixed_sum(false, a, b),
            KnownKernel::FixedSub => self.fixed_sum(true, a, b),
            KnownKernel::FixedMul => self.fixed_product(a, b),
            KnownKernel::FixedMuladd => self.fixed_muladd(a, b, c),
            KnownKernel::IntProd => {
                let product = [self.bin(Bin::Mul, a, b), self.bin(Bin::MulHigh, a, b)];
                self.narrow(product)
            }
            KnownKernel::IntToFloat => self.pure(Op::FromInt(a)),
            KnownKernel::FixedToFloat => {
                // Scaling by a power of two is exact.
                let v = self.pure(Op::FromInt(a));
                let scale = self.word((1.0 / (1u64 << self.env.format.frac()) as f64).to_bits());
                self.pure(Op::Float(Float::Mul, v, scale))
            }
            KnownKernel::FixedToInt => {
                let frac = self.word(u64::from(self.env.format.frac()));
                self.bin(Bin::Sar, a, frac)
            }
        }
    }
}
