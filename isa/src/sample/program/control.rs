//! The statements of random programs that transfer control: branches, loops, calls.

use super::{
    ADD, ADDRESS, DATA, DEPTH, FLOAT, Generator, LIMIT, LOGS, MILD, Place, Procedure, WORDS, bit, plain, r, row, test,
};
use crate::sample::random_program::Op;
use crate::table::Row;
use crate::types::{Acc, Cond, Reg, Ty};

impl Generator<'_, '_> {
    /// A condition, and the registers that it reads.
    pub(super) fn condition(&mut self) -> (Cond, Ty, [Op; 2], u32) {
        let ty = self.s.pick(&[Ty::Int, Ty::Int, Ty::Q, Ty::L, Ty::F]);
        let tests: Vec<Cond> = Cond::TESTS.into_iter().filter(|c| c.accepts(ty)).collect();
        let cond = self.s.pick(&tests);
        let mut pool: Vec<Reg> = match ty {
            Ty::Int | Ty::Q => (1..=DATA).map(r).chain(self.active.iter().copied()).collect(),
            Ty::L => LOGS.to_vec(),
            Ty::F => vec![FLOAT],
        };
        pool.push(MILD[ty as usize]);
        let a = self.s.pick(&pool);
        let (b, mask) = if self.s.once_in(2) {
            let k = self.s.pick(&[0, 1, -1, 5, -16384, 16383]);
            (Op::Small(k), 0)
        } else {
            let b = self.s.pick(&pool);
            (Op::Reg(b), bit(b))
        };
        (cond, ty, [Op::Reg(a), b], mask | bit(a))
    }

    pub(super) fn half(&mut self, inverse: bool, (cond, ty, ops): (Cond, Ty, [Op; 2]), to: u32) {
        let [a, b] = ops;
        self.inst(test(Row::Jmp, inverse, cond, ty), vec![a, b, Op::Label(to)]);
    }

    pub(super) fn half_plain(&mut self, inverse: bool, to: u32) {
        self.inst(row(Row::Jmp, inverse), vec![Op::Label(to)]);
    }

    pub(super) fn branch(&mut self) {
        let (cond, ty, ops, mask) = self.condition();
        let (choose, other, leave, end) = (self.label(), self.label(), self.label(), self.label());
        match self.s.below(5) {
            0 => {
                // Code that nothing reaches.
                self.place_label(choose);
                self.half_plain(false, end);
                self.protecting(0, Self::block);
                self.place_label(end);
                self.half_plain(true, choose);
            }
            1 | 2 => {
                self.place_label(choose);
                self.half(false, (cond, ty, ops), end);
                self.protecting(mask, |g| {
                    g.check_with(cond.negated(), ty, ops);
                    g.block();
                });
                self.place_label(end);
                self.half(true, (cond, ty, ops), choose);
            }
            n => {
                self.place_label(choose);
                self.half(false, (cond, ty, ops), other);
                self.protecting(mask, Self::block);
                self.place_label(leave);
                self.half_plain(false, end);
                self.place_label(other);
                if n == 3 {
                    self.half(true, (cond, ty, ops), choose)
                } else {
                    self.half_plain(true, choose)
                }
                self.protecting(mask, |g| {
                    g.check_with(cond, ty, ops);
                    g.block();
                });
                self.place_label(end);
                self.half(true, (cond.negated(), ty, ops), leave);
            }
        }
    }

    pub(super) fn repeat(&mut self) {
        let Some(k) = self.counters.pop() else { return self.accumulate() };
        let n = 1 + self.s.below(WORDS - 2);
        let (top, bottom, enter, done) = (self.label(), self.label(), self.label(), self.label());
        let times = self.times;
        self.times *= n;
        self.active.push(k);
        let (zero, last) = (Op::Small(0), Op::Small(n as i16));
        let (add, sub) = (plain(Acc::Add, false, ADD), plain(Acc::Add, true, ADD));
        let k_ = Op::Reg(k);
        match self.s.below(3) {
            0 => {
                self.place_label(top);
                self.half(true, (Cond::Ne, Ty::Int, [k_, Op::Reg(Reg::ZERO)]), bottom);
                self.protecting(bit(k), Self::block);
                self.inst(row(Row::Inc, false), vec![k_]);
                self.place_label(bottom);
                self.half(false, (Cond::Ne, Ty::Int, [k_, last]), top);
                self.inst(sub, vec![k_, Op::Imm(n)]);
            }
            1 => {
                // Counting down, with other conditions.
                self.inst(add, vec![k_, Op::Imm(n)]);
                self.place_label(top);
                self.half(true, (Cond::Lt, Ty::Int, [k_, last]), bottom);
                self.protecting(bit(k), Self::block);
                self.inst(row(Row::Inc, true), vec![k_]);
                self.place_label(bottom);
                self.half(false, (Cond::Gt, Ty::Int, [k_, zero]), top);
            }
            _ => {
                // Testing first.
                self.place_label(top);
                self.half(true, (Cond::Ne, Ty::Int, [k_, zero]), bottom);
                self.place_label(enter);
                self.half(false, (Cond::Eq, Ty::Int, [k_, last]), done);
                self.protecting(bit(k), Self::block);
                self.inst(row(Row::Inc, false), vec![k_]);
                self.place_label(bottom);
                self.half_plain(false, top);
                self.place_label(done);
                self.half_plain(true, enter);
                self.inst(sub, vec![k_, Op::Imm(n)]);
            }
        }
        self.active.pop();
        self.times = times;
        self.counters.push(k);
    }

    pub(super) fn call(&mut self) {
        let (protected, times) = (self.protected, self.times);
        let main = self.place == Place::Main;
        let fits = |p: &Procedure| {
            let affordable = p.height <= self.ceiling && times.saturating_mul(p.cost) < LIMIT;
            p.writes & protected == 0 && affordable && (main || !p.recursive)
        };
        let able: Vec<usize> = (0..self.procs.len()).filter(|n| fits(&self.procs[*n])).collect();
        if able.is_empty() {
            return self.accumulate();
        }
        // Often one that wants gradient levels itself.
        let highest = able.iter().copied().max_by_key(|n| self.procs[*n].height).filter(|_| self.s.once_in(2));
        let n = highest.unwrap_or_else(|| self.s.pick(&able));
        let Procedure { cost, writes, height, recursive } = self.procs[n];
        self.cost += times * cost;
        self.writes |= writes;
        let (add, sub) = (plain(Acc::Add, false, ADD), plain(Acc::Add, true, ADD));
        let depth = self.s.below(4);
        if recursive {
            self.inst(add, vec![Op::Reg(DEPTH), Op::Imm(depth)]);
        }
        let back = self.s.once_in(2);
        if main && self.s.once_in(3) {
            self.inst(add, vec![Op::Reg(ADDRESS), Op::Address(n)]);
            self.inst(row(Row::Callr, back), vec![Op::Reg(ADDRESS)]);
            self.inst(sub, vec![Op::Reg(ADDRESS), Op::Address(n)]);
            self.height = self.height.max(height);
        } else if height < self.ceiling && !self.s.once_in(3) {
            // Seeds before it, and perhaps one of the gradients after it.
            for _ in 0..self.s.below(4) {
                self.gradient_word();
            }
            self.inst(row(Row::Gcall, back), vec![Op::Proc(n)]);
            self.height = self.height.max(height + 1);
            if self.s.once_in(2) {
                self.gradient_word();
            }
        } else {
            self.inst(row(Row::Call, back), vec![Op::Proc(n)]);
            self.height = self.height.max(height);
        }
        if recursive {
            self.inst(sub, vec![Op::Reg(DEPTH), Op::Imm(depth)]);
        }
    }
}
