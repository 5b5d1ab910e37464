//! Comparisons, conditions, and conditionals.

use pendula_codegen::ops::{Op, ValueId};
use pendula_isa::types::Cond;

use super::asm::{Alu, Flag, Gpr};
use super::values::SCRATCH;
use super::{Baseline, Cold};

impl Baseline<'_> {
    /// Emits a comparison; returns the condition under which it holds. `None` for comparisons of doubles that need two conditions.
    fn compare(&mut self, op: &Op) -> Option<Flag> {
        match *op {
            Op::Compare(cond, a, b) => {
                let r = self.word(a);
                if let Some(k) = self.values.small(b) {
                    self.asm.alu_constant(Alu::Cmp, r, k);
                } else {
                    let operand = self.operand(b);
                    self.asm.alu(Alu::Cmp, r, operand);
                }
                self.used(a);
                self.used(b);
                Some(match cond {
                    Cond::Always | Cond::Eq => Flag::Equal,
                    Cond::Ne => Flag::NotEqual,
                    Cond::Lt => Flag::Less,
                    Cond::Le => Flag::LessOrEqual,
                    Cond::Gt => Flag::Greater,
                    Cond::Ge => Flag::GreaterOrEqual,
                    Cond::Ltu => Flag::Below,
                    Cond::Geu => Flag::AboveOrEqual,
                })
            }
            Op::CompareFloat(cond, a, b) => {
                // Unordered operands set the flag for below.
                let (first, second, flag) = match cond {
                    Cond::Always | Cond::Eq | Cond::Ne => (a, b, None),
                    Cond::Lt | Cond::Ltu => (b, a, Some(Flag::Above)),
                    Cond::Le => (b, a, Some(Flag::AboveOrEqual)),
                    Cond::Gt => (a, b, Some(Flag::Above)),
                    Cond::Ge | Cond::Geu => (a, b, Some(Flag::AboveOrEqual)),
                };
                let r = self.double(first);
                let operand = self.double_operand(second);
                self.asm.compare_doubles(r, operand);
                self.used(a);
                self.used(b);
                flag
            }
            _ => None,
        }
    }

    /// A comparison as 0 or 1.
    pub(super) fn truth(&mut self, op: &Op) -> Gpr {
        let flag = self.compare(op);
        let r = self.take();
        match flag {
            Some(flag) => self.asm.set(flag, r),
            None => {
                let equal = !matches!(op, Op::CompareFloat(Cond::Ne, ..));
                let (flag, order, both) = if equal {
                    (Flag::Equal, Flag::Ordered, Alu::And)
                } else {
                    (Flag::NotEqual, Flag::Unordered, Alu::Or)
                };
                self.asm.set(flag, r);
                self.asm.set(order, SCRATCH);
                self.asm.alu(both, r, SCRATCH);
            }
        }
        r
    }

    /// Tests whether a word is not zero; returns the condition for that. Counts as a use of the value.
    pub(super) fn condition(&mut self, v: ValueId) -> Flag {
        if self.values.fused[v.0 as usize] {
            let op = self.job.bodies[self.place].ops[v.0 as usize];
            let flag = match op {
                Op::CompareFloat(Cond::Always | Cond::Eq | Cond::Ne, ..) => {
                    let r = self.truth(&op);
                    self.asm.test(r);
                    Flag::NotEqual
                }
                _ => self.compare(&op).unwrap_or(Flag::NotEqual),
            };
            self.used(v);
            return flag;
        }
        let r = self.word(v);
        self.asm.test(r);
        self.used(v);
        Flag::NotEqual
    }

    /// Handles overflow under the condition.
    pub(super) fn wrapped(&mut self, flag: Flag) {
        let (label, back) = (self.asm.label(), self.asm.label());
        let side_exit = self.side_exit_label();
        self.asm.jump_if(flag, label);
        self.asm.bind(back);
        self.cold.push(Cold::Wrapped { label, back, side_exit });
    }

    /// Begins a conditional: values used on both sides are in memory.
    pub(super) fn conditional(&mut self, flag: Flag) {
        let other = self.asm.label();
        // Moves keep the flags.
        self.flush();
        self.asm.jump_if(flag.not(), other);
        self.conditionals.push(other);
    }

    /// Ends a conditional: joins the values that differ between its sides.
    pub(super) fn join(&mut self, v: ValueId) {
        let body = &self.job.bodies[self.place];
        let Some(other) = self.conditionals.pop() else { return };
        let mut phis = Vec::new();
        for (n, op) in body.ops.iter().enumerate().skip(v.0 as usize + 1) {
            match *op {
                Op::Get(lane, reg) => self.values.set_machine_register(ValueId(n as u32), lane, reg),
                Op::Phi(then, otherwise) if self.values.uses_left(ValueId(n as u32)) > 0 => {
                    phis.push((ValueId(n as u32), then, otherwise))
                }
                Op::Phi(..) => {}
                _ => break,
            }
        }
        let join = self.asm.label();
        for (phi, then, _) in &phis {
            self.reserve(*phi);
            self.fill(*phi, *then);
        }
        self.flush();
        self.asm.jump(join);
        self.asm.bind(other);
        for (phi, _, otherwise) in &phis {
            self.fill(*phi, *otherwise);
        }
        self.asm.bind(join);
        for (_, then, otherwise) in phis {
            self.used(then);
            self.used(otherwise);
        }
    }
}
