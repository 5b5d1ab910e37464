//! The lifter as the domain of the table's bodies.

use pendula_isa::adjoint::{Carrier, LANES, VALUE};
use pendula_isa::arith::Arith;
use pendula_isa::domain::Domain;
use pendula_isa::kernels::Kernel;
use pendula_isa::kernels::log::Order;
use pendula_isa::num::float;
use pendula_isa::operand::Slot;
use pendula_isa::table::{Instruction, Variant};
use pendula_isa::types::{Cond, Reg, Ty};
use pendula_isa::{Env, Fault};

use super::symbolic::CELL;
use super::{Lifted, Lifter, Unsupported};
use crate::kernel::EntryOf;
use crate::ops::{BinaryOp, Float, Op, ValueId};

/// Implements methods by integer operations of two words.
macro_rules! words {
    ($($name:ident $op:ident)+) => { $(
        fn $name(&mut self, a: ValueId, b: ValueId) -> ValueId {
            self.bin(BinaryOp::$op, a, b)
        }
    )+ };
}

impl Arith for Lifter<'_> {
    type V = ValueId;
    type Stop = Unsupported;

    words!(add Add sub Sub mul Mul and And or Or xor Xor shl Shl shr Shr sar Sar rol Rol ror Ror);

    fn env(&self) -> Env {
        self.env
    }

    fn keeps_kernels(&self) -> bool {
        self.setting.narrow.is_some()
    }

    fn bits(&self) -> u32 {
        self.setting.narrow.map_or(64, |narrow| narrow.bits)
    }

    fn frac(&self) -> u32 {
        self.setting.narrow.map_or(self.env.format.frac(), |narrow| narrow.frac)
    }

    fn word(&mut self, k: u64) -> ValueId {
        self.fixed(k)
    }

    fn not(&mut self, a: ValueId) -> ValueId {
        match self.constant(a) {
            Some(k) => self.word(!k),
            None => self.pure(Op::Not(a)),
        }
    }

    fn eq(&mut self, a: ValueId, b: ValueId) -> ValueId {
        self.compare_integers(Cond::Eq, a, b)
    }

    fn ne(&mut self, a: ValueId, b: ValueId) -> ValueId {
        self.compare_integers(Cond::Ne, a, b)
    }

    fn lt(&mut self, a: ValueId, b: ValueId) -> ValueId {
        self.compare_integers(Cond::Lt, a, b)
    }

    fn ltu(&mut self, a: ValueId, b: ValueId) -> ValueId {
        self.compare_integers(Cond::Ltu, a, b)
    }

    fn select(&mut self, c: ValueId, a: ValueId, b: ValueId) -> ValueId {
        match self.constant(c) {
            Some(0) => b,
            Some(_) => a,
            None => self.pure(Op::Select(c, a, b)),
        }
    }

    fn wide_mul(&mut self, a: ValueId, b: ValueId) -> [ValueId; 2] {
        [self.bin(BinaryOp::Mul, a, b), self.bin(BinaryOp::MulHigh, a, b)]
    }

    fn overflowing_add(&mut self, a: ValueId, b: ValueId) -> [ValueId; 2] {
        let sum = self.bin(BinaryOp::Add, a, b);
        if self.constant(a) == Some(0) || self.constant(b) == Some(0) {
            return [sum, self.word(0)];
        }
        // The sum's sign is neither operand's.
        [sum, self.signs_differ([[a, sum], [b, sum]])]
    }

    fn overflowing_sub(&mut self, a: ValueId, b: ValueId) -> [ValueId; 2] {
        let difference = self.bin(BinaryOp::Sub, a, b);
        if self.constant(b) == Some(0) {
            return [difference, self.word(0)];
        }
        // The operands' signs differ, and the difference's is not the first's.
        [difference, self.signs_differ([[a, difference], [b, a]])]
    }

    fn float(&mut self, x: f64) -> ValueId {
        let word = self.setting.narrow.map_or(x.to_bits(), |narrow| narrow.float(x));
        self.word(word)
    }

    fn float_add(&mut self, a: ValueId, b: ValueId) -> Lifted {
        Ok(self.float_operation(Float::Add, a, b))
    }

    fn float_sub(&mut self, a: ValueId, b: ValueId) -> Lifted {
        Ok(self.float_operation(Float::Sub, a, b))
    }

    fn float_mul(&mut self, a: ValueId, b: ValueId) -> Lifted {
        Ok(self.float_operation(Float::Mul, a, b))
    }

    fn float_div(&mut self, a: ValueId, b: ValueId) -> Lifted {
        Ok(self.float_operation(Float::Div, a, b))
    }

    fn float_sqrt(&mut self, a: ValueId) -> Lifted {
        if let Some(Ok(word)) = self.constant(a).map(|a| float::sqrt(self.env, a)) {
            return Ok(self.word(word));
        }
        // The root of a negative number is NaN, that of infinity is infinity.
        let v = self.pure(Op::Sqrt(a));
        Ok(self.float_result(v))
    }

    fn float_abs(&mut self, a: ValueId) -> Lifted {
        if let Some(Ok(word)) = self.constant(a).map(|a| float::abs(self.env, a)) {
            return Ok(self.word(word));
        }
        let v = self.pure(Op::Abs(a));
        Ok(self.float_result(v))
    }

    fn float_from(&mut self, a: ValueId, frac: u32) -> ValueId {
        if let Some(a) = self.constant(a) {
            return self.word(float::from_scaled(a, frac));
        }
        let v = self.pure(Op::FromInt(a));
        if frac == 0 {
            return v;
        }
        // Scaling by a power of two is exact.
        let scale = self.word((1.0 / (1u64 << frac) as f64).to_bits());
        self.pure(Op::Float(Float::Mul, v, scale))
    }

    fn compare(&mut self, c: Cond, ty: Ty, a: ValueId, b: ValueId) -> Lifted {
        if c == Cond::Always {
            return Ok(self.word(1));
        }
        match ty {
            Ty::Int | Ty::Q => Ok(self.compare_integers(c, a, b)),
            Ty::L => {
                let order = self.kernel2::<Order>(a, b)?;
                let zero = self.word(0);
                Ok(self.compare_integers(c, order, zero))
            }
            Ty::F => {
                if !(self.setting.ieee || self.is_finite(a) && self.is_finite(b)) {
                    self.push(Op::Ordered(a, b));
                }
                Ok(self.pure(Op::CompareFloat(c, a, b)))
            }
        }
    }

    fn overflow(&mut self, wrapped: ValueId) -> Result<(), Unsupported> {
        if (self.setting.trap_overflow || self.setting.checks) && self.constant(wrapped) != Some(0) {
            self.push(Op::Overflow(wrapped));
        }
        Ok(())
    }

    fn require(&mut self, ok: ValueId, _: Fault) -> Result<(), Unsupported> {
        if self.on_value() && self.constant(ok).is_none_or(|k| k == 0) {
            self.push(Op::Require(ok));
        }
        Ok(())
    }

    fn call<K: Kernel>(&mut self, x: [ValueId; 4]) -> Result<[ValueId; 2], Unsupported> {
        Ok(self.call_kernel(const { &K::INFO }, K::words, || K::visit_form(EntryOf), x))
    }
}

impl Domain for Lifter<'_> {
    fn operand(&mut self, n: usize) -> Lifted {
        Ok(self.operand_in(self.lane, n))
    }

    fn set(&mut self, n: usize, v: ValueId) -> Result<(), Unsupported> {
        self.set_operand_in(self.lane, n, v);
        Ok(())
    }

    fn load(&mut self, a: ValueId) -> Lifted {
        self.check_address(a);
        Ok(self.load_word(self.lane, a))
    }

    fn store(&mut self, a: ValueId, v: ValueId) -> Result<(), Unsupported> {
        self.check_address(a);
        self.store_word(self.lane, a, v);
        Ok(())
    }

    // In a circuit, a gradient word is a word like others, and so is a cell.
    fn gradient(&mut self, n: usize) -> Lifted {
        self.setting.narrow.ok_or(Unsupported)?;
        Ok(self.operand_in(self.lane + 1, n))
    }

    fn set_gradient(&mut self, n: usize, v: ValueId) -> Result<(), Unsupported> {
        self.setting.narrow.ok_or(Unsupported)?;
        self.set_operand_in(self.lane + 1, n, v);
        Ok(())
    }

    fn missing(&mut self, _: Fault) -> Unsupported {
        self.unsupported = true;
        Unsupported
    }

    fn sp(&mut self) -> ValueId {
        match self.sp {
            Some(sp) if !self.on_value() => sp,
            _ => self.register(VALUE, Reg::SP.number()),
        }
    }

    fn set_sp(&mut self, v: ValueId) {
        if self.on_value() {
            self.set_register(VALUE, Reg::SP.number(), v);
        }
    }

    fn guarded(&mut self, c: ValueId, zero: ValueId, f: impl FnOnce(&mut Self) -> Lifted) -> Lifted {
        match self.constant(c) {
            Some(0) => return Ok(zero),
            Some(_) => return f(self),
            None => {}
        }
        let begun = self.begin(c);
        let v = f(self)?;
        self.end(begun);
        Ok(self.push(Op::Phi(v, zero)))
    }

    fn check(&mut self, ok: ValueId, fault: Fault) -> Result<(), Unsupported> {
        if self.setting.checks { self.require(ok, fault) } else { Ok(()) }
    }

    fn lose(&mut self, _: ValueId) {
        self.unsupported |= self.setting.narrow.is_none();
    }

    fn lose_inexact(&mut self, v: ValueId) {
        if self.constant(v) != Some(0) {
            self.lose(v);
        }
    }

    fn cell(&mut self, _: ValueId) -> Lifted {
        self.setting.narrow.ok_or(Unsupported)?;
        Ok(self.register(self.lane, CELL))
    }

    fn set_cell(&mut self, _: ValueId, v: ValueId) -> Result<(), Unsupported> {
        self.setting.narrow.ok_or(Unsupported)?;
        self.set_register(self.lane, CELL, v);
        Ok(())
    }
}

impl Carrier for Lifter<'_> {
    fn carries(&self, n: usize) -> bool {
        !self.slot(n).register_fields().is_empty()
    }

    fn same(&self, n: usize, m: usize) -> bool {
        match (self.slot(n), self.slot(m)) {
            (Slot::Reg(a) | Slot::Target(a), Slot::Reg(b) | Slot::Target(b)) => {
                self.fields[usize::from(a)] == self.fields[usize::from(b)]
            }
            // At most one operand is in memory.
            _ => false,
        }
    }

    fn lane(&mut self, lane: usize, n: usize) -> ValueId {
        self.operand_in(lane, n)
    }

    fn set_lane(&mut self, lane: usize, n: usize, v: ValueId) {
        self.set_operand_in(lane, n, v);
    }

    fn when(&mut self, c: ValueId, f: impl FnOnce(&mut Self) -> Result<(), Unsupported>) -> Result<(), Unsupported> {
        match self.constant(c) {
            Some(0) => return Ok(()),
            Some(_) => return f(self),
            None => {}
        }
        let (before, first) = (self.regs, self.written.len());
        let begun = self.begin(c);
        f(self)?;
        self.end(begun);
        self.merge_written(&before, first);
        Ok(())
    }

    fn run_lane<I: Instruction>(
        &mut self,
        lane: usize,
        back: bool,
        v: Variant,
        sp: ValueId,
    ) -> Result<(), Unsupported> {
        let outer = (self.lane, self.sp);
        (self.lane, self.sp) = (lane, Some(sp));
        let done = if back { I::undo(self, v) } else { I::run(self, v) };
        (self.lane, self.sp) = outer;
        done
    }

    fn drop_lanes(&mut self, _: usize) {
        if !self.setting.ad_mode.lanes().is_empty() {
            self.unsupported = true;
        }
    }
}

impl Lifter<'_> {
    /// Ends a conditional part: each register that was written since the write numbered `first` holds its new word, or else the one that it
    /// had in `before`.
    fn merge_written(&mut self, before: &[[Option<ValueId>; Reg::PLACES]; LANES], first: usize) {
        let mut changed = self.written[first..].to_vec();
        changed.sort_unstable();
        changed.dedup();
        let new = changed.iter().map(|&(l, r)| self.regs[usize::from(l)][usize::from(r)]).collect::<Vec<_>>();
        let mut old = Vec::new();
        for &(lane, reg) in &changed {
            let (lane, r) = (usize::from(lane), usize::from(reg));
            old.push(before[lane][r].unwrap_or_else(|| self.push(Op::Get(lane as u8, reg))));
        }
        for ((&(lane, reg), new), old) in changed.iter().zip(new).zip(old) {
            let v = self.push(Op::Phi(new.unwrap_or(old), old));
            self.regs[usize::from(lane)][usize::from(reg)] = Some(v);
        }
    }
}
