//! The statements of random programs, from single instructions to compute spans. Branches, loops and calls are in
//! [`control`](super::control); the parent module decides where statements go.

use super::{
    ACCUMULATES, ADD, CLEAR, DATA, FIXED, FLOAT, FLOAT_WORDS, Generator, INTS, LIMIT, LOG_WORDS, LOGS, MILD,
    MILD_WORDS, Place, SCALED, WORDS, bit, plain, r, row, test, typed,
};
use crate::Env;
use crate::inst::Kind;
use crate::num::convert;
use crate::operand::Shape;
use crate::sample::constant;
use crate::sample::random_program::{Line, Op};
use crate::table::{Row, TableFn, f_fn, int_fn, l_fn, q_fn};
use crate::types::{Acc, Cond, Reg, Ty};

/// Whether the function and its derivatives take any words without trapping; under `xor`, where the result may be anything, more do.
const fn total(func: TableFn, acc: Acc) -> bool {
    use int_fn::Name as I;
    use q_fn::Name as Q;
    match func {
        TableFn::Int(f) => !matches!(
            f,
            I::Quot
                | I::Rem
                | I::Div
                | I::Mod
                | I::Udiv
                | I::Umod
                | I::CvtL
                | I::CvtF
                | I::LtL
                | I::EqL
                | I::LtF
                | I::EqF
        ),
        TableFn::Q(f) => matches!(
            f,
            Q::Id
                | Q::Mul
                | Q::Muladd
                | Q::Plus
                | Q::Minus
                | Q::Prod
                | Q::IntPow
                | Q::Sin
                | Q::Cos
                | Q::Tanh
                | Q::Sign
                | Q::Min
                | Q::Max
                | Q::Relu
                | Q::Floor
        ),
        TableFn::L(f) => matches!(acc, Acc::Xor) && matches!(f, l_fn::Name::CvtI | l_fn::Name::CvtQ),
        TableFn::F(f) => matches!(acc, Acc::Xor) && matches!(f, f_fn::Name::CvtI | f_fn::Name::CvtQ),
    }
}

/// Whether the function may be accumulated otherwise than by `xor`: sums of doubles must be exact, gradients of doubles must not come
/// about, and a factor must not be zero.
fn accumulates(func: TableFn) -> bool {
    let info = func.info();
    let doubles = info.args.iter().any(|a| a.ty == Ty::F);
    match func {
        TableFn::F(f) => matches!(f, f_fn::Name::Id | f_fn::Name::Mul),
        TableFn::L(l_fn::Name::Minus) => false,
        TableFn::Int(_) | TableFn::Q(_) | TableFn::L(_) => !doubles || info.partials == 0,
    }
}

impl Generator<'_, '_> {
    pub(super) fn block(&mut self) {
        let mut left = 1 + self.s.below(6);
        while left > 0 && self.budget > 0 {
            left -= 1;
            self.statement();
        }
    }

    pub(super) fn statement(&mut self) {
        self.budget = self.budget.saturating_sub(1);
        let cheap = self.cost < LIMIT;
        match self.s.below(32) {
            0..=12 => self.accumulate(),
            13 => self.rotate(),
            14..=17 => self.permute(),
            18..=20 => self.branch(),
            21..=23 if cheap => self.repeat(),
            24 | 25 if cheap => self.call(),
            26 => self.stacked(),
            27 => self.undone(),
            28 => self.scale(),
            29 => self.check(),
            30 => self.host(),
            31 => self.routine(),
            _ => self.accumulate(),
        }
    }

    pub(super) fn accumulate(&mut self) {
        let ty = self.s.pick(&[Ty::Int, Ty::Int, Ty::Q, Ty::Q, Ty::L, Ty::F]);
        let kind = self.s.pick(&ACCUMULATES[ty as usize]);
        let Kind::Accumulate { mut acc, mut inverse, func, .. } = kind else { return };
        let info = func.info();
        if !accumulates(func) {
            (acc, inverse) = (Acc::Xor, false);
        }
        let differentiable = info.partials > 0;
        let (among, object): (Vec<Reg>, usize) = match (acc, info.ty) {
            (Acc::Mul, _) => (LOGS.to_vec(), LOG_WORDS),
            (Acc::Add, Ty::F) => (vec![FLOAT], FLOAT_WORDS),
            (Acc::Add | Acc::Xor, _) => ((1..=DATA).map(r).collect(), self.s.pick(&[INTS, FIXED])),
        };
        let any = total(func, acc);
        let arity = info.args.len();
        let registers_only = arity > 2;
        // 0, 1: registers; 2: a constant; 3: memory read; 4: memory written; 5, 6: a constant and memory at a counter.
        let mut mode = if registers_only { 0 } else { self.s.below(7) };
        let plain = mode >= 5 && any && acc != Acc::Mul && !self.active.is_empty();
        if mode >= 5 && !plain {
            mode = 2;
        }
        let mut ops = Vec::with_capacity(3);
        let dest = if mode == 4 || (mode == 5 && object == INTS) {
            ops.push(if mode == 5 { Op::Plain(self.s.pick(&self.active)) } else { self.memory(object) });
            None
        } else {
            let Some(reg) = self.target(&among) else { return };
            ops.push(Op::Reg(reg));
            Some(reg)
        };
        // Which source is special; a divisor is always a constant where it is not moderate anyway.
        let special = self.s.below(arity as u64) as usize;
        for n in 0..arity {
            let constant_here = matches!(mode, 2 | 5 | 6) && n == special;
            let memory_here = (mode == 3 && n == special) || (mode == 6 && arity == 2 && n != special);
            ops.push(match (any, constant_here, memory_here) {
                (_, true, _) => {
                    let ty = info.args[n].ty;
                    let word = if any { constant(ty, self.s) } else { self.mild(ty) };
                    Op::Imm(word)
                }
                (true, _, true) if mode == 6 => Op::Plain(self.s.pick(&self.active)),
                (true, _, true) => self.any_memory(differentiable),
                (false, _, true) => self.memory(MILD_WORDS + info.args[n].ty as usize),
                (true, ..) => self.any_register(dest, differentiable),
                (false, ..) => Op::Reg(MILD[info.args[n].ty as usize]),
            });
        }
        self.inst(self::plain(acc, inverse, func), ops);
    }

    fn permute(&mut self) {
        let Some(a) = self.data_target() else { return };
        let b = self.data_target().filter(|b| *b != a);
        let inverse = self.s.once_in(2);
        match (self.s.below(14), b) {
            (0, Some(b)) => self.inst(row(Row::Swap, false), vec![Op::Reg(a), Op::Reg(b)]),
            (1, _) => {
                let object = self.s.pick(&[INTS, FIXED]);
                let word = self.memory(object);
                self.inst(row(Row::Exch, false), vec![Op::Reg(a), word]);
            }
            (2, _) => {
                let ty = self.s.pick(&[Ty::Int, Ty::Q]);
                self.inst(typed(Row::Neg, ty), vec![Op::Reg(a)]);
            }
            (3, _) => self.inst(row(Row::Not, false), vec![Op::Reg(a)]),
            (4, Some(b)) => self.inst(row(Row::Rol, inverse), vec![Op::Reg(a), Op::Reg(b)]),
            (5, _) => {
                let amount = self.s.below(64);
                self.inst(row(Row::Rol, inverse), vec![Op::Reg(a), Op::Imm(amount)]);
            }
            (6, _) => {
                if let Some(l) = self.target(&LOGS) {
                    let word = self.memory(LOG_WORDS);
                    self.inst(row(Row::Exch, false), vec![Op::Reg(l), word]);
                    self.inst(typed(Row::Neg, Ty::L), vec![Op::Reg(l)]);
                }
            }
            (7, _) => {
                if let Some(f) = self.target(&[FLOAT]) {
                    let word = self.memory(FLOAT_WORDS);
                    self.inst(row(Row::Exch, false), vec![Op::Reg(f), word]);
                    // At level 2 a gradient word of -0.0 would be rounded.
                    if self.place == Place::Main {
                        self.inst(typed(Row::Neg, Ty::F), vec![Op::Reg(f)]);
                    }
                }
            }
            (8 | 9, _) => self.gradient_word(),
            _ => self.inst(row(Row::Inc, inverse), vec![Op::Reg(a)]),
        }
    }

    /// An exchange with a gradient word, one level up.
    pub(super) fn gradient_word(&mut self) {
        if self.ceiling == 0 {
            return;
        }
        let Some(a) = self.data_target() else { return };
        let b = self.data_target().filter(|b| *b != a);
        let object = self.s.pick(&[INTS, FIXED]);
        let word = self.memory(object);
        let of = b.filter(|_| self.s.once_in(2)).map_or(word, Op::Reg);
        self.height = self.height.max(1);
        self.inst(row(Row::Gswap, false), vec![Op::Reg(a), of]);
    }

    /// A rotation of two words by a register or a constant.
    fn rotate(&mut self) {
        let (Some(a), Some(b)) = (self.data_target(), self.data_target()) else { return };
        if a == b {
            return self.accumulate();
        }
        let angle = match self.s.below(3) {
            0 => Op::Imm(constant(Ty::Q, self.s)),
            1 => Op::Reg(MILD[Ty::Q as usize]),
            _ => match self.any_register(Some(a), true) {
                Op::Reg(c) if c == b => Op::Reg(Reg::ZERO),
                angle => angle,
            },
        };
        let Kind::Row { row, ty, cond, form, .. } = typed(Row::Rot, Ty::Q) else { return };
        let inverse = self.s.once_in(2);
        self.inst(Kind::Row { row, inverse, ty, cond, form }, vec![Op::Reg(a), Op::Reg(b), angle]);
    }

    /// A register put on the stack and fetched again.
    fn stacked(&mut self) {
        let Some(a) = self.data_target() else { return };
        self.inst(row(Row::Push, false), vec![Op::Reg(a)]);
        self.protecting(bit(a), |g| {
            if let (Some(b), true) = (g.data_target(), g.s.once_in(2)) {
                let kind = g.s.pick(&[plain(Acc::Add, false, ADD), plain(Acc::Xor, false, ADD)]);
                g.inst(kind, vec![Op::Reg(b), Op::Top]);
            }
            g.block();
        });
        self.inst(row(Row::Push, true), vec![Op::Reg(a)]);
    }

    /// A result in a clear register, used and taken back. At level 1 and above its gradient word may stay, which `zero` drops.
    fn undone(&mut self) {
        use int_fn::Name as I;
        use q_fn::Name as Q;
        if self.protected & bit(CLEAR) != 0 {
            return self.accumulate();
        }
        let integers =
            [I::Min, I::Max, I::Lt, I::Ltu, I::Eq, I::LtQ, I::EqQ, I::And, I::Mul, I::Plus, I::Minus].map(TableFn::Int);
        let fixed = [Q::Id, Q::Mul, Q::Muladd, Q::Plus, Q::Minus, Q::Min, Q::Max, Q::Sin, Q::Tanh].map(TableFn::Q);
        let f = if self.s.once_in(2) { self.s.pick(&integers) } else { self.s.pick(&fixed) };
        let arity = f.info().args.len();
        let sources = [0, 1, 2].map(|_| r(1 + self.s.below(u64::from(DATA)) as u8));
        let kind = |inverse| Kind::Accumulate { acc: Acc::Add, inverse, func: f, shape: Shape::of_registers(arity) };
        let c = Op::Reg(CLEAR);
        let ops = || std::iter::once(c).chain(sources.into_iter().take(arity).map(Op::Reg)).collect();
        let [a, b, _] = sources;
        self.inst(kind(false), ops());
        match f {
            TableFn::Int(I::Min) => self.check_with(Cond::Le, Ty::Int, [c, Op::Reg(a)]),
            TableFn::Int(I::Max) => self.check_with(Cond::Ge, Ty::Q, [c, Op::Reg(b)]),
            TableFn::Int(I::Lt | I::Ltu | I::Eq | I::LtQ | I::EqQ) => {
                self.check_with(Cond::Ltu, Ty::Int, [c, Op::Imm(2)])
            }
            TableFn::Int(_) | TableFn::Q(_) | TableFn::L(_) | TableFn::F(_) => {}
        }
        let mask = sources.into_iter().fold(bit(CLEAR), |mask, x| mask | bit(x));
        self.protecting(mask, |g| {
            if let Some(y) = g.data_target() {
                let inverse = g.s.once_in(2);
                g.inst(plain(Acc::Add, inverse, TableFn::Q(Q::Id)), vec![Op::Reg(y), c]);
            }
            g.block();
        });
        self.inst(kind(true), ops());
        self.inst(row(Row::Zero, false), vec![c]);
    }

    fn scale(&mut self) {
        let (Some(x), Some(buf)) = (self.target(&SCALED[..1]), self.target(&SCALED[1..])) else { return };
        let rmul = |g: &mut Self, inverse, num: i64, den: i64| {
            g.inst(row(Row::Rmul, inverse), vec![Op::Reg(x), Op::Reg(buf), Op::Factor(num), Op::Factor(den)]);
        };
        let num = self.s.between(1, 20);
        let den = (num + self.s.between(-1, 1)).max(1);
        match self.s.below(4) {
            0 => {
                let inverse = self.s.once_in(2);
                rmul(self, inverse, num, den);
            }
            1 => {
                let k = self.s.between(-1000, 1000).cast_unsigned();
                self.inst(plain(Acc::Add, false, ADD), vec![Op::Reg(x), Op::Imm(k)]);
            }
            2 => {
                let one = Op::Reg(MILD[0]);
                self.inst(row(Row::Rmul, false), vec![Op::Reg(x), Op::Reg(buf), one, one]);
            }
            _ => {
                rmul(self, false, num, den);
                self.protecting(bit(x) | bit(buf), Self::block);
                rmul(self, true, num, den);
            }
        }
    }

    pub(super) fn check_with(&mut self, cond: Cond, ty: Ty, [a, b]: [Op; 2]) {
        // What a jump takes as a small whole number, `assert` takes as a constant of the type.
        let env = Env { format: self.format, ieee: false };
        let b = match b {
            Op::Small(k) => {
                let k = i64::from(k).cast_unsigned();
                Op::Imm(match ty {
                    Ty::Int => k,
                    Ty::Q => convert::int_to_q(env, k).unwrap_or(0),
                    Ty::L => convert::int_to_l(env, k).unwrap_or(0),
                    Ty::F => convert::int_to_f(env, k).unwrap_or(0),
                })
            }
            other => other,
        };
        self.inst(test(Row::Assert, false, cond, ty), vec![a, b]);
    }

    fn check(&mut self) {
        let (_, ty, [a, _], _) = self.condition();
        match self.s.below(4) {
            0 => self.check_with(Cond::Eq, ty, [a, a]),
            1 => self.check_with(Cond::Ge, ty, [a, a]),
            2 if self.protected & bit(CLEAR) == 0 => {
                self.inst(row(Row::Zero, false), vec![Op::Reg(CLEAR)]);
                self.inst(typed(Row::ZeroWithin, Ty::F), vec![Op::Reg(CLEAR), Op::Imm(1f64.to_bits())]);
            }
            _ => match self.active.last() {
                Some(&k) => self.check_with(Cond::Lt, Ty::Int, [Op::Reg(k), Op::Imm(WORDS)]),
                None => self.check_with(Cond::Gt, Ty::Int, [Op::Reg(MILD[0]), Op::Small(0)]),
            },
        }
    }

    fn host(&mut self) {
        match self.s.below(3) {
            0 => {
                let (_, ty, [a, _], _) = self.condition();
                self.inst(typed(Row::Show, ty), vec![a]);
            }
            1 => {
                self.texts += 1;
                self.inst(row(Row::Print, false), vec![Op::Text(self.texts % 5)]);
            }
            // Undone, an `emit` would want its word on the tape.
            _ if self.place == Place::Main && !self.in_routine => {
                if let Some(a) = self.data_target() {
                    self.inst(row(Row::Emit, false), vec![Op::Reg(a)]);
                }
            }
            _ => self.check(),
        }
    }

    /// A compute span, something that uses it, and its undoing.
    fn routine(&mut self) {
        if self.in_routine {
            return self.accumulate();
        }
        self.routines += 1;
        let name = self.routines;
        let cost = self.cost;
        self.in_routine = true;
        self.lines.push(Line::Routine(name));
        self.block();
        self.lines.push(Line::EndRoutine);
        self.in_routine = false;
        let cost = self.cost - cost;
        self.block();
        self.lines.push(Line::Unroutine(name));
        self.cost += cost;
    }
}
