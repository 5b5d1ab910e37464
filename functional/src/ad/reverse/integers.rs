//! The way back through operators on integers, which have derivatives as polynomials have.

use super::Reverse;
use crate::core::{Bind, Compare, IntBinary, IntUnary, Op, Rhs, Var, View, Word};

impl Reverse<'_> {
    /// The sensitivity of a number, given as one of another kind.
    pub(super) fn like(&mut self, x: Var, z: Var) {
        if self.inactive.contains(&x) {
            return;
        }
        let value = self.value(x);
        let level = std::mem::replace(&mut self.builder.level, Word::NONE);
        let model = self.builder.view(View::Sense, value);
        self.builder.level = level;
        let own = self.builder.op(Op::Like, &[model, z]);
        self.add(x, own);
    }

    /// An integer that the source computed times the sensitivity.
    fn times(&mut self, by: Var, level: Word, z: Var) -> Var {
        let sense = self.builder.level;
        self.builder.bind("s", Rhs::Product(level, by, sense, z))
    }

    fn minus(&mut self, z: Var) -> Var {
        self.builder.op(Op::IntUnary(IntUnary::Neg), &[z])
    }

    pub(super) fn int_unary(&mut self, f: IntUnary, args: &[Var], bind: &Bind, z: Var) {
        let (level, sense) = (bind.level, self.builder.level);
        match f {
            IntUnary::Neg => {
                let minus = self.minus(z);
                self.add(args[0], minus);
            }
            IntUnary::Less => self.add(args[0], z),
            IntUnary::Abs => {
                let x = self.value(args[0]);
                self.builder.level = level;
                let sign = self.builder.op(Op::IntUnary(IntUnary::Sign), &[x]);
                self.builder.level = sense;
                let product = self.times(sign, level, z);
                self.add(args[0], product);
            }
            IntUnary::Not | IntUnary::Sign | IntUnary::Ones | IntUnary::LeadingZeros | IntUnary::TrailingZeros => {}
        }
    }

    pub(super) fn int_binary(&mut self, f: IntBinary, args: &[Var], bind: &Bind, z: Var) {
        let (level, sense) = (bind.level, self.builder.level);
        match f {
            IntBinary::Add => {
                self.add(args[0], z);
                self.add(args[1], z);
            }
            IntBinary::Sub => {
                self.add(args[0], z);
                let minus = self.minus(z);
                self.add(args[1], minus);
            }
            IntBinary::Mul => {
                for (x, other) in [(args[0], args[1]), (args[1], args[0])] {
                    if !self.inactive.contains(&x) {
                        let other = self.value(other);
                        let product = self.times(other, level, z);
                        self.add(x, product);
                    }
                }
            }
            IntBinary::Pow => {
                let (x, y) = (self.value(args[0]), self.value(args[1]));
                self.builder.level = level;
                let partial = power(&mut self.builder, x, y);
                self.builder.level = sense;
                let product = self.times(partial, level, z);
                self.add(args[0], product);
            }
            IntBinary::Min | IntBinary::Max => {
                let compare = if f == IntBinary::Min { Compare::Le } else { Compare::Ge };
                let (x, y) = (self.value(args[0]), self.value(args[1]));
                self.builder.level = level;
                let first = self.builder.op(Op::Compare(compare), &[x, y]);
                self.builder.level = sense;
                for (n, x) in args.iter().enumerate() {
                    let own = self.builder.block(|_| z);
                    let none = self.builder.block(|b| {
                        b.level = Word::NONE;
                        b.view(View::Zero, z)
                    });
                    let (yes, no) = if n == 0 { (own, none) } else { (none, own) };
                    self.builder.level = level;
                    let part = self.builder.bind("s", Rhs::If(first, Box::new(yes), Box::new(no)));
                    self.builder.level = sense;
                    self.add(*x, part);
                }
            }
            IntBinary::Div | IntBinary::Mod | IntBinary::Quot | IntBinary::Rem => {}
            IntBinary::And | IntBinary::Or | IntBinary::Xor | IntBinary::Shl | IntBinary::Shr | IntBinary::Lshr => {}
        }
    }
}

/// y·x^(y−1)
pub(in crate::ad) fn power(b: &mut crate::core::Builder<'_>, x: Var, y: Var) -> Var {
    let less = b.op(Op::IntUnary(IntUnary::Less), &[y]);
    let power = b.op(Op::IntBinary(IntBinary::Pow), &[x, less]);
    b.op(Op::IntBinary(IntBinary::Mul), &[y, power])
}
