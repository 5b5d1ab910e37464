//! The lifter as the domain of the table's bodies.

use pendula_isa::adjoint::{Carrier, LANES, VALUE};
use pendula_isa::domain::Domain;
use pendula_isa::num::{Word, log};
use pendula_isa::operand::Slot;
use pendula_isa::table::{Instruction, Variant};
use pendula_isa::types::{Cond, Reg, Ty};
use pendula_isa::{Env, Fault};

use super::{Lifted, Lifter, Unsupported};
use crate::kernel::{EntryOf, known};
use crate::ops::{Bin, Op, V};

/// Implements methods by integer operations of two words.
macro_rules! words {
    ($($name:ident $op:ident)+) => { $(
        fn $name(&mut self, a: V, b: V) -> V {
            self.bin(Bin::$op, a, b)
        }
    )+ };
}

impl Domain for Lifter<'_> {
    type V = V;
    type Stop = Unsupported;

    words!(add Add sub Sub mul Mul and And or Or xor Xor shl Shl shr Shr sar Sar rol Rol ror Ror);

    fn operand(&mut self, n: usize) -> Lifted {
        Ok(self.operand_in(self.lane, n))
    }

    fn set(&mut self, n: usize, v: V) -> Result<(), Unsupported> {
        self.set_operand_in(self.lane, n, v);
        Ok(())
    }

    fn load(&mut self, a: V) -> Lifted {
        self.check_address(a);
        Ok(self.load_word(self.lane, a))
    }

    fn store(&mut self, a: V, v: V) -> Result<(), Unsupported> {
        self.check_address(a);
        self.store_word(self.lane, a, v);
        Ok(())
    }

    fn gradient(&mut self, _: usize) -> Lifted {
        Err(Unsupported)
    }

    fn set_gradient(&mut self, _: usize, _: V) -> Result<(), Unsupported> {
        Err(Unsupported)
    }

    fn sp(&mut self) -> V {
        match self.sp {
            Some(sp) if !self.on_value() => sp,
            _ => self.register(VALUE, Reg::SP.number()),
        }
    }

    fn set_sp(&mut self, v: V) {
        if self.on_value() {
            self.set_register(VALUE, Reg::SP.number(), v);
        }
    }

    fn env(&self) -> Env {
        self.env
    }

    fn word(&mut self, k: u64) -> V {
        self.fixed(k)
    }

    fn not(&mut self, a: V) -> V {
        match self.constant(a) {
            Some(k) => self.word(!k),
            None => self.pure(Op::Not(a)),
        }
    }

    fn eq(&mut self, a: V, b: V) -> V {
        self.compare_integers(Cond::Eq, a, b)
    }

    fn lt(&mut self, a: V, b: V) -> V {
        self.compare_integers(Cond::Lt, a, b)
    }

    fn ltu(&mut self, a: V, b: V) -> V {
        self.compare_integers(Cond::Ltu, a, b)
    }

    fn select(&mut self, c: V, a: V, b: V) -> V {
        match self.constant(c) {
            Some(0) => b,
            Some(_) => a,
            None => self.pure(Op::Select(c, a, b)),
        }
    }

    fn kernel1<K>(&mut self, k: K, a: V) -> Lifted
    where
        K: Fn(Env, u64) -> Word + Copy + 'static,
    {
        if let Some(x) = self.constant(a)
            && let Ok(y) = k(self.env, x)
        {
            return Ok(self.word(y));
        }
        Ok(match known::<K>() {
            Some(kernel) => self.inline(kernel, [a; 3]),
            None => self.call(EntryOf::call1(k), false, &[a]),
        })
    }

    fn kernel2<K>(&mut self, k: K, a: V, b: V) -> Lifted
    where
        K: Fn(Env, u64, u64) -> Word + Copy + 'static,
    {
        if let (Some(x), Some(y)) = (self.constant(a), self.constant(b))
            && let Ok(z) = k(self.env, x, y)
        {
            return Ok(self.word(z));
        }
        Ok(match known::<K>() {
            Some(kernel) => self.inline(kernel, [a, b, b]),
            None => self.call(EntryOf::call2(k), false, &[a, b]),
        })
    }

    fn kernel3<K>(&mut self, k: K, a: V, b: V, c: V) -> Lifted
    where
        K: Fn(Env, u64, u64, u64) -> Word + Copy + 'static,
    {
        Ok(match known::<K>() {
            Some(kernel) => self.inline(kernel, [a, b, c]),
            None => self.call(EntryOf::call3(k), false, &[a, b, c]),
        })
    }

    fn kernel_pair<K>(&mut self, k: K, x: [V; 4]) -> Result<[V; 2], Unsupported>
    where
        K: Fn(Env, [u64; 4]) -> Result<[u64; 2], Fault> + Copy + 'static,
    {
        let first = self.call(EntryOf::call_pair(k), false, &x);
        Ok([first, self.push(Op::Second(first))])
    }

    fn wrapping2<K>(&mut self, k: K, a: V, b: V) -> Lifted
    where
        K: Fn(Env, u64, u64) -> (u64, bool) + Copy + 'static,
    {
        Ok(match known::<K>() {
            Some(kernel) => self.inline(kernel, [a, b, b]),
            None => self.call(EntryOf::wrap2(k), true, &[a, b]),
        })
    }

    fn wrapping3<K>(&mut self, k: K, a: V, b: V, c: V) -> Lifted
    where
        K: Fn(Env, u64, u64, u64) -> (u64, bool) + Copy + 'static,
    {
        Ok(match known::<K>() {
            Some(kernel) => self.inline(kernel, [a, b, c]),
            None => self.call(EntryOf::wrap3(k), true, &[a, b, c]),
        })
    }

    fn wrapping_pair<K>(&mut self, k: K, x: [V; 4]) -> Result<[V; 2], Unsupported>
    where
        K: Fn(Env, [u64; 4]) -> ([u64; 2], bool) + Copy + 'static,
    {
        let first = self.call(EntryOf::wrap_pair(k), true, &x);
        Ok([first, self.push(Op::Second(first))])
    }

    fn compare(&mut self, c: Cond, ty: Ty, a: V, b: V) -> Lifted {
        if c == Cond::Always {
            return Ok(self.word(1));
        }
        match ty {
            Ty::Int | Ty::Q => Ok(self.compare_integers(c, a, b)),
            Ty::L => {
                let order = self.kernel2(|_, a, b| log::compare(a, b).map(|o| (o as i64).cast_unsigned()), a, b)?;
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

    fn guarded(&mut self, c: V, zero: V, f: impl FnOnce(&mut Self) -> Lifted) -> Lifted {
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

    fn check(&mut self, ok: V, fault: Fault) -> Result<(), Unsupported> {
        if self.setting.checks { self.require(ok, fault) } else { Ok(()) }
    }

    fn require(&mut self, ok: V, _: Fault) -> Result<(), Unsupported> {
        if self.on_value() && self.constant(ok).is_none_or(|k| k == 0) {
            self.push(Op::Require(ok));
        }
        Ok(())
    }

    fn lose(&mut self, _: V) {
        self.unsupported = true;
    }

    fn lose_inexact(&mut self, _: V) {
        self.unsupported = true;
    }

    fn cell(&mut self, _: V) -> Lifted {
        Err(Unsupported)
    }

    fn set_cell(&mut self, _: V, _: V) -> Result<(), Unsupported> {
        Err(Unsupported)
    }

    fn emit(&mut self, _: V) -> Lifted {
        Err(Unsupported)
    }

    fn last_emitted(&mut self) -> Lifted {
        Err(Unsupported)
    }

    fn unemit(&mut self, _: V) {
        self.unsupported = true;
    }

    fn next_input(&mut self) -> Lifted {
        Err(Unsupported)
    }

    fn advance_input(&mut self) {
        self.unsupported = true;
    }

    fn last_input(&mut self) -> Lifted {
        Err(Unsupported)
    }

    fn rewind_input(&mut self) {
        self.unsupported = true;
    }

    fn show(&mut self, _: Ty, _: V) {
        self.unsupported = true;
    }

    fn print(&mut self, _: usize) {
        self.unsupported = true;
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

    fn lane(&mut self, lane: usize, n: usize) -> V {
        self.operand_in(lane, n)
    }

    fn set_lane(&mut self, lane: usize, n: usize, v: V) {
        self.set_operand_in(lane, n, v);
    }

    fn when(&mut self, c: V, f: impl FnOnce(&mut Self) -> Result<(), Unsupported>) -> Result<(), Unsupported> {
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

    fn run_lane<I: Instruction>(&mut self, lane: usize, back: bool, v: Variant, sp: V) -> Result<(), Unsupported> {
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
    fn merge_written(&mut self, before: &[[Option<V>; Reg::COUNT]; LANES], first: usize) {
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
