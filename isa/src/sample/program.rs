//! Random programs that are reversible by construction and end both ways.
//!
//! A [`Draft`] is such a program before it is text: [`Draft::text`] writes it
//! for the assembler, [`Draft::module`] resolves it here, so that the two can
//! be compared. Registers have fixed tasks (below); a register that a condition,
//! an address or a pending undoing depends on is protected until it is done.
//!
//! Everything is exact, `.f` too: there, sums are of dyadic fractions only. A
//! trap at run time is possible (an overflow of `.l` or of `rmul`), and rare.

use std::sync::LazyLock;

use super::{Source, constant, word};
use crate::Env;
use crate::inst::Kind;
use crate::mnemonic::families;
use crate::num::{Format, convert, log};
use crate::table::{Func, Row, f_fn, int_fn, l_fn, q_fn};
use crate::types::{Acc, Cond, Reg, Ty};

use super::draft::{Draft, Line, Object, Op};

const fn r(number: u8) -> Reg {
    match Reg::new(number) {
        Some(reg) => reg,
        None => Reg::ZERO,
    }
}

/// Hold any words: `r1` to `r11`.
const DATA: u8 = 11;
/// Hold one moderate number of each type, in the order of [`Ty::ALL`]; never written after the beginning.
const MILD: [Reg; 4] = [r(12), r(16), r(17), r(18)];
/// Hold logarithmic numbers.
const LOGS: [Reg; 2] = [r(13), r(14)];
/// Holds a double about [`FAR`] or its negative.
const FLOAT: Reg = r(15);
/// So far from zero that no sum gets there: neither sums of multiples of 2^-12 nor signs of zero are ever rounded.
const FAR: f64 = 1048576.0;
/// Clear between statements.
const CLEAR: Reg = r(19);
/// The word and the buffer of `rmul`.
const SCALED: [Reg; 2] = [r(20), r(21)];
/// Loop counters: the first three of the main region, then one of each procedure.
const COUNTERS: u8 = 22;
const MAIN_COUNTERS: u8 = 3;
/// How deep the recursive procedure still goes.
const DEPTH: Reg = r(29);
/// The address for `callr`.
const ADDRESS: Reg = r(30);

/// Words in each data object; a counter with an offset of 1 stays inside.
const WORDS: u64 = 8;
/// Executed instructions beyond which no more loops and calls are made.
const LIMIT: u64 = 40_000;

// The data objects, by index.
const INTS: usize = 0;
const FIXED: usize = 1;
const LOG_WORDS: usize = 2;
const FLOAT_WORDS: usize = 3;
/// Moderate numbers of each type, in the order of [`Ty::ALL`]; read only.
const MILD_WORDS: usize = 4;

static ACCUMULATES: LazyLock<Vec<Kind>> =
    LazyLock::new(|| families().filter(|k| matches!(k, Kind::Accumulate { .. })).collect());

/// The text of a random reversible program of about `size` statements, which ends running forward and, from there,
/// backward in the state where it began. It may trap, rarely.
pub fn program(s: &mut Source, size: usize) -> String {
    Draft::new(s, size).text()
}

impl Draft {
    /// A random reversible program of about `size` statements.
    pub fn new(s: &mut Source, size: usize) -> Draft {
        let format = s.pick(&Format::ALL);
        let mut g = Generator {
            s,
            format,
            lines: Vec::new(),
            texts: 0,
            labels: 0,
            routines: 0,
            in_routine: false,
            procs: Vec::new(),
            budget: 0,
            cost: 0,
            times: 1,
            protected: 0,
            writes: 0,
            counters: Vec::new(),
            active: Vec::new(),
            place: Place::Main,
        };
        let data = g.data();
        let procs = g.s.below(4).min(size as u64 / 8) as usize;
        let mut regions: Vec<Vec<Line>> = Vec::new();
        for n in 0..procs {
            g.procedure(n, size / (procs + 2));
            regions.push(std::mem::take(&mut g.lines));
        }
        g.main(size - procs * (size / (procs + 2)));
        let main = std::mem::take(&mut g.lines);
        let place = g.s.below(regions.len() as u64 + 1) as usize;
        regions.insert(place, main);
        let style = g.s.word();
        Draft { format, data, lines: regions.concat(), style }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Main,
    Proc { number: usize, recursive: bool },
}

struct Procedure {
    /// A bit for each register that it writes, calls included.
    writes: u32,
    /// Instructions that it executes, about.
    cost: u64,
    recursive: bool,
}

struct Generator<'a, 'b> {
    s: &'a mut Source<'b>,
    format: Format,
    lines: Vec<Line>,
    texts: u32,
    labels: u32,
    routines: u32,
    in_routine: bool,
    procs: Vec<Procedure>,
    /// Statements that may still be made.
    budget: usize,
    /// Instructions executed so far, about.
    cost: u64,
    /// How often the present block is executed.
    times: u64,
    protected: u32,
    writes: u32,
    /// Counters that are clear.
    counters: Vec<Reg>,
    /// Counters of the loops around, below [`WORDS`] − 1.
    active: Vec<Reg>,
    place: Place,
}

const fn bit(reg: Reg) -> u32 {
    1 << reg.number()
}

const fn row(row: Row, inverse: bool) -> Kind {
    Kind::Row { row, inverse, ty: Ty::Int, cond: Cond::Always, form: false }
}

const fn typed(row: Row, ty: Ty) -> Kind {
    Kind::Row { row, inverse: false, ty, cond: Cond::Always, form: false }
}

const fn test(row: Row, inverse: bool, cond: Cond, ty: Ty) -> Kind {
    Kind::Row { row, inverse, ty, cond, form: false }
}

fn plain(acc: Acc, inverse: bool, func: Func) -> Kind {
    Kind::Accumulate { acc, inverse, func, shape: crate::operand::Shape::RR }
}

const ADD: Func = Func::Int(int_fn::Fn::Id);

/// The condition that holds where this one does not; NaN apart, which no generated program has.
const fn opposite(cond: Cond) -> Cond {
    match cond {
        Cond::Always => Cond::Always,
        Cond::Eq => Cond::Ne,
        Cond::Ne => Cond::Eq,
        Cond::Lt => Cond::Ge,
        Cond::Le => Cond::Gt,
        Cond::Gt => Cond::Le,
        Cond::Ge => Cond::Lt,
        Cond::Ltu => Cond::Geu,
        Cond::Geu => Cond::Ltu,
    }
}

/// Whether the function takes any words without trapping; under `xor`, where the result may be anything, more do.
const fn total(func: Func, acc: Acc) -> bool {
    use int_fn::Fn as I;
    match func {
        Func::Int(f) => !matches!(f, I::Quot | I::Rem | I::Div | I::Mod | I::CvtL | I::CvtF),
        Func::Q(f) => matches!(f, q_fn::Fn::Id | q_fn::Fn::Mul),
        Func::L(f) => matches!(acc, Acc::Xor) && matches!(f, l_fn::Fn::CvtI | l_fn::Fn::CvtQ),
        Func::F(f) => matches!(acc, Acc::Xor) && matches!(f, f_fn::Fn::CvtI | f_fn::Fn::CvtQ),
    }
}

impl Generator<'_, '_> {
    /// A number of moderate size: a small integer, a fraction in (0.1, 0.95), for `.l` in (0.7, 1.4). Doubles are multiples of 1/64.
    fn mild(&mut self, ty: Ty) -> u64 {
        let env = Env { format: self.format, ieee: false };
        match ty {
            Ty::Int => self.s.between(1, 9).cast_unsigned(),
            Ty::Q => self.s.below(54 << 20).wrapping_add(7 << 20) << (self.format.frac() - 26),
            Ty::L => {
                let x = self.s.between(45, 89) as f64 / 64.0;
                convert::f_to_l(env, x.to_bits()).unwrap_or(log::ONE)
            }
            Ty::F => (self.s.between(7, 60) as f64 / 64.0).to_bits(),
        }
    }

    fn data(&mut self) -> Vec<Object> {
        let mut object = |name: &str, ty: Ty, mild: bool| {
            let words = (0..WORDS).map(|_| if mild { self.mild(ty) } else { word(self.s) }).collect();
            Object { name: name.to_string(), ty, words }
        };
        vec![
            object("ints", Ty::Int, false),
            object("fixed", Ty::Q, false),
            object("logs", Ty::L, true),
            Object { name: "floats".to_string(), ty: Ty::F, words: vec![FAR.to_bits(); WORDS as usize] },
            object("mild", Ty::Int, true),
            object("mild_q", Ty::Q, true),
            object("mild_l", Ty::L, true),
            object("mild_f", Ty::F, true),
        ]
    }

    fn inst(&mut self, kind: Kind, ops: Vec<Op>) {
        let written = match kind {
            Kind::Accumulate { .. } | Kind::Row { row: Row::Exch, .. } => 1,
            Kind::Row { row: Row::Swap | Row::Rmul, .. } => 2,
            Kind::Row { row, .. } => {
                usize::from(matches!(row.info().operands.first(), Some(crate::operand::OperandKind::Target)))
            }
        };
        for op in &ops[..written.min(ops.len())] {
            if let Op::Reg(reg) = op {
                self.writes |= bit(*reg);
            }
        }
        self.cost += self.times;
        self.lines.push(Line::Inst(kind, ops));
    }

    fn label(&mut self) -> u32 {
        self.labels += 1;
        self.labels
    }

    fn place_label(&mut self, label: u32) {
        self.lines.push(Line::Label(label));
    }

    /// One of the registers that may be written now.
    fn target(&mut self, among: &[Reg]) -> Option<Reg> {
        let free: Vec<Reg> = among.iter().copied().filter(|x| self.protected & bit(*x) == 0).collect();
        (!free.is_empty()).then(|| self.s.pick(&free))
    }

    fn data_target(&mut self) -> Option<Reg> {
        let all: Vec<Reg> = (1..=DATA).map(r).collect();
        self.target(&all)
    }

    /// Runs `body` with registers protected.
    fn protecting(&mut self, mask: u32, body: impl FnOnce(&mut Self)) {
        let before = self.protected;
        self.protected |= mask;
        body(self);
        self.protected = before;
    }

    /// A memory word of an object, perhaps at a loop counter.
    fn memory(&mut self, object: usize) -> Op {
        let index = if self.active.is_empty() || self.s.once_in(2) { Reg::ZERO } else { self.s.pick(&self.active) };
        let offset = if index == Reg::ZERO { self.s.between(0, WORDS as i64 - 1) } else { self.s.between(0, 1) };
        Op::Memory { object, index, offset }
    }

    fn any_memory(&mut self) -> Op {
        let object = self.s.below(MILD_WORDS as u64 + 4) as usize;
        self.memory(object)
    }

    /// A register other than `not` that may hold anything.
    fn any_register(&mut self, not: Option<Reg>) -> Op {
        let reg = if self.s.once_in(4) { self.s.reg() } else { r(1 + self.s.below(u64::from(DATA)) as u8) };
        Op::Reg(if Some(reg) == not { Reg::ZERO } else { reg })
    }

    // Statements.

    fn block(&mut self) {
        let mut left = 1 + self.s.below(6);
        while left > 0 && self.budget > 0 {
            left -= 1;
            self.statement();
        }
    }

    fn statement(&mut self) {
        self.budget = self.budget.saturating_sub(1);
        let cheap = self.cost < LIMIT;
        match self.s.below(32) {
            0..=13 => self.accumulate(),
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

    fn accumulate(&mut self) {
        let kind = self.s.pick(&ACCUMULATES);
        let Kind::Accumulate { mut acc, mut inverse, func, .. } = kind else { return };
        let info = func.info();
        let exact = matches!(func, Func::F(f_fn::Fn::Id | f_fn::Fn::Mul));
        if acc == Acc::Add && info.ty == Ty::F && !exact {
            (acc, inverse) = (Acc::Xor, false);
        }
        let (among, object): (Vec<Reg>, usize) = match (acc, info.ty) {
            (Acc::Mul, _) => (LOGS.to_vec(), LOG_WORDS),
            (Acc::Add, Ty::F) => (vec![FLOAT], FLOAT_WORDS),
            (Acc::Add | Acc::Xor, _) => ((1..=DATA).map(r).collect(), self.s.pick(&[INTS, FIXED])),
        };
        let any = total(func, acc);
        let arity = info.args.len();
        // 0, 1: registers; 2: a constant; 3: memory read; 4: memory written; 5, 6: a constant and memory at a counter.
        let mut mode = self.s.below(7);
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
                    let word = if any { constant(info.from, self.s) } else { self.mild(info.from) };
                    Op::Imm(word)
                }
                (true, _, true) if mode == 6 => Op::Plain(self.s.pick(&self.active)),
                (true, _, true) => self.any_memory(),
                (false, _, true) => self.memory(MILD_WORDS + info.from as usize),
                (true, ..) => self.any_register(dest),
                (false, ..) => Op::Reg(MILD[info.from as usize]),
            });
        }
        self.inst(self::plain(acc, inverse, func), ops);
    }

    fn permute(&mut self) {
        let Some(a) = self.data_target() else { return };
        let b = self.data_target().filter(|b| *b != a);
        let inverse = self.s.once_in(2);
        match (self.s.below(12), b) {
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
                    self.inst(typed(Row::Neg, Ty::F), vec![Op::Reg(f)]);
                }
            }
            _ => self.inst(row(Row::Inc, inverse), vec![Op::Reg(a)]),
        }
    }

    /// A condition, and the registers that it reads.
    fn condition(&mut self) -> (Cond, Ty, [Op; 2], u32) {
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

    fn half(&mut self, inverse: bool, (cond, ty, ops): (Cond, Ty, [Op; 2]), to: u32) {
        let [a, b] = ops;
        self.inst(test(Row::Jmp, inverse, cond, ty), vec![a, b, Op::Label(to)]);
    }

    fn half_plain(&mut self, inverse: bool, to: u32) {
        self.inst(row(Row::Jmp, inverse), vec![Op::Label(to)]);
    }

    fn branch(&mut self) {
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
                    g.check_with(opposite(cond), ty, ops);
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
                self.half(true, (opposite(cond), ty, ops), leave);
            }
        }
    }

    fn repeat(&mut self) {
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

    fn call(&mut self) {
        let (protected, times) = (self.protected, self.times);
        let main = self.place == Place::Main;
        let fits =
            |p: &Procedure| p.writes & protected == 0 && times.saturating_mul(p.cost) < LIMIT && (main || !p.recursive);
        let able: Vec<usize> = (0..self.procs.len()).filter(|n| fits(&self.procs[*n])).collect();
        if able.is_empty() {
            return self.accumulate();
        }
        let n = self.s.pick(&able);
        let (cost, writes, recursive) = (self.procs[n].cost, self.procs[n].writes, self.procs[n].recursive);
        self.cost += times * cost;
        self.writes |= writes;
        let (add, sub) = (plain(Acc::Add, false, ADD), plain(Acc::Add, true, ADD));
        let depth = self.s.below(4);
        if recursive {
            self.inst(add, vec![Op::Reg(DEPTH), Op::Imm(depth)]);
        }
        let back = self.s.once_in(2);
        if main && self.s.once_in(2) {
            self.inst(add, vec![Op::Reg(ADDRESS), Op::Address(n)]);
            self.inst(row(Row::Callr, back), vec![Op::Reg(ADDRESS)]);
            self.inst(sub, vec![Op::Reg(ADDRESS), Op::Address(n)]);
        } else {
            self.inst(row(Row::Call, back), vec![Op::Proc(n)]);
        }
        if recursive {
            self.inst(sub, vec![Op::Reg(DEPTH), Op::Imm(depth)]);
        }
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

    /// A result in a clear register, used and taken back.
    fn undone(&mut self) {
        use int_fn::Fn as I;
        if self.protected & bit(CLEAR) != 0 {
            return self.accumulate();
        }
        let f = self.s.pick(&[I::Min, I::Max, I::Lt, I::Ltu, I::Eq, I::And, I::Mul]);
        let [a, b] = [0, 1].map(|_| r(1 + self.s.below(u64::from(DATA)) as u8));
        let ops = || vec![Op::Reg(CLEAR), Op::Reg(a), Op::Reg(b)];
        self.inst(plain(Acc::Add, false, Func::Int(f)), ops());
        let c = Op::Reg(CLEAR);
        match f {
            I::Min => self.check_with(Cond::Le, Ty::Int, [c, Op::Reg(a)]),
            I::Max => self.check_with(Cond::Ge, Ty::Q, [c, Op::Reg(b)]),
            I::Lt | I::Ltu | I::Eq => self.check_with(Cond::Ltu, Ty::Int, [c, Op::Imm(2)]),
            _ => {}
        }
        self.protecting(bit(CLEAR) | bit(a) | bit(b), Self::block);
        self.inst(plain(Acc::Add, true, Func::Int(f)), ops());
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

    fn check_with(&mut self, cond: Cond, ty: Ty, [a, b]: [Op; 2]) {
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

    // Regions.

    fn main(&mut self, budget: usize) {
        self.place = Place::Main;
        self.budget = budget;
        self.cost = 0;
        self.protected = 0;
        self.counters = (COUNTERS..COUNTERS + MAIN_COUNTERS).map(r).collect();
        self.inst(row(Row::Start, false), vec![]);
        for ty in Ty::ALL {
            let (acc, func) = match ty {
                Ty::Int => (Acc::Add, ADD),
                Ty::Q => (Acc::Add, Func::Q(q_fn::Fn::Id)),
                Ty::L => (Acc::Mul, Func::L(l_fn::Fn::Id)),
                Ty::F => (Acc::Add, Func::F(f_fn::Fn::Id)),
            };
            let k = self.mild(ty);
            self.inst(plain(acc, false, func), vec![Op::Reg(MILD[ty as usize]), Op::Imm(k)]);
        }
        self.inst(plain(Acc::Add, false, Func::F(f_fn::Fn::Id)), vec![Op::Reg(FLOAT), Op::Imm(FAR.to_bits())]);
        for n in 1..=DATA {
            let k = Op::Imm(word(self.s));
            self.inst(plain(Acc::Add, false, ADD), vec![Op::Reg(r(n)), k]);
        }
        while self.budget > 0 {
            self.statement();
        }
        self.inst(row(Row::Start, true), vec![]);
    }

    fn procedure(&mut self, number: usize, budget: usize) {
        let recursive = number > 0 && self.s.once_in(3) && !self.procs.iter().any(|p| p.recursive);
        self.place = Place::Proc { number, recursive };
        self.budget = budget.max(1);
        self.cost = 0;
        self.times = 1;
        self.writes = 0;
        self.counters = vec![r(COUNTERS + MAIN_COUNTERS + number as u8)];
        // It writes only some of the registers, so that callers can rely on others.
        self.protected = (0..4).fold(0, |mask, _| mask | bit(r(1 + self.s.below(u64::from(DATA)) as u8)));
        self.inst(row(Row::Proc, false), vec![Op::Proc(number)]);
        if recursive {
            let (choose, other, leave, end) = (self.label(), self.label(), self.label(), self.label());
            let base = (Cond::Eq, Ty::Int, [Op::Reg(DEPTH), Op::Reg(Reg::ZERO)]);
            let back = self.s.once_in(2);
            self.place_label(choose);
            self.half(false, base, other);
            self.block();
            self.inst(row(Row::Inc, true), vec![Op::Reg(DEPTH)]);
            self.inst(row(Row::Call, back), vec![Op::Proc(number)]);
            self.inst(row(Row::Inc, false), vec![Op::Reg(DEPTH)]);
            self.block();
            self.place_label(leave);
            self.half_plain(false, end);
            self.place_label(other);
            self.half(true, base, choose);
            self.block();
            self.place_label(end);
            self.half(true, (Cond::Ne, base.1, base.2), leave);
        } else {
            while self.budget > 0 {
                self.statement();
            }
        }
        self.inst(row(Row::Proc, true), vec![Op::Proc(number)]);
        let cost = if recursive { 4 * self.cost } else { self.cost };
        self.procs.push(Procedure { writes: self.writes, cost, recursive });
    }
}
