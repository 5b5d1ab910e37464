//! Random programs that are reversible by construction and terminate in both directions.
//!
//! A [`RandomProgram`] is such a program before it is text: [`RandomProgram::text`] prints it for the assembler, [`RandomProgram::module`] resolves it here, so
//! that the two can be compared. Registers have fixed roles (below). A register that a condition, an address or a pending inverse
//! depends on is protected until it is no longer needed.
//!
//! All arithmetic is exact, also in `.f`, where sums are of dyadic fractions only. So are gradient words, which are always 0 on doubles;
//! those that `zero` drops must be recorded for the run back. Traps at run time are possible (overflow of `.l` or of `rmul`), but rare.

mod control;
mod statement;

use std::sync::LazyLock;

use super::{Source, word};
use crate::Env;
use crate::inst::Kind;
use crate::mnemonic::families;
use crate::num::{Format, convert, log};
use crate::table::{Row, TableFn, f_fn, int_fn, l_fn, q_fn};
use crate::types::{Acc, Cond, Reg, Ty};

use super::random_program::{Line, Object, Op, RandomProgram};

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
/// The remaining recursion depth of the recursive procedure.
const DEPTH: Reg = r(29);
/// The address for `callr`.
const ADDRESS: Reg = r(30);

/// Words in each data object; a counter with an offset of 1 stays inside.
const WORDS: u64 = 8;
/// The number of executed instructions beyond which no more loops and calls are generated.
const LIMIT: u64 = 40_000;

// The data objects, by index.
const INTS: usize = 0;
const FIXED: usize = 1;
const LOG_WORDS: usize = 2;
const FLOAT_WORDS: usize = 3;
/// Moderate numbers of each type, in the order of [`Ty::ALL`]; read only.
const MILD_WORDS: usize = 4;

/// The accumulates of each type, in the order of [`Ty::ALL`]; without that function which has no value at any mild number.
static ACCUMULATES: LazyLock<[Vec<Kind>; 4]> = LazyLock::new(|| {
    Ty::ALL.map(|ty| {
        let of_type = |func: TableFn| func.info().ty == ty && func != TableFn::F(f_fn::Name::Acosh);
        families().filter(|k| matches!(k, Kind::Accumulate { func, .. } if of_type(*func))).collect()
    })
});

/// The text of a random reversible program of about `size` statements. It terminates forward, and from there backward in its initial state.
/// In rare cases it traps.
pub fn program(s: &mut Source, size: usize) -> String {
    RandomProgram::new(s, size).text()
}

impl RandomProgram {
    /// A random reversible program of about `size` statements.
    pub fn new(s: &mut Source, size: usize) -> RandomProgram {
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
            spared: 0,
            writes: 0,
            height: 0,
            ceiling: LEVELS,
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
        RandomProgram { format, data, lines: regions.concat(), style }
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
    /// The approximate number of instructions that it executes.
    cost: u64,
    /// The number of gradient levels above its own that it needs.
    height: u8,
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
    /// The number of statements that may still be generated.
    budget: usize,
    /// The approximate number of instructions executed so far.
    cost: u64,
    /// The number of executions of the current block.
    times: u64,
    protected: u32,
    /// The registers that this procedure, or the previous one, does not write.
    spared: u32,
    writes: u32,
    /// The number of gradient levels above its own that the current region needs so far.
    height: u8,
    /// How many it may want.
    ceiling: u8,
    /// Counters that are clear.
    counters: Vec<Reg>,
    /// The counters of enclosing loops, all below [`WORDS`] − 1.
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

fn plain(acc: Acc, inverse: bool, func: TableFn) -> Kind {
    Kind::Accumulate { acc, inverse, func, shape: crate::operand::Shape::RR }
}

/// The highest gradient level.
const LEVELS: u8 = 2;

const ADD: TableFn = TableFn::Int(int_fn::Name::Id);

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
            Kind::Row { row: Row::Swap | Row::Rmul | Row::Rot, .. } => 2,
            Kind::Row { row, .. } => {
                usize::from(matches!(row.info().operands.first(), Some(crate::operand::OperandKind::Target)))
            }
            Kind::Extension { .. } => kind.layout().into_iter().filter(|slot| slot.is_written()).count(),
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

    /// A word of any object. What a function with derivatives reads gets a fixed-point gradient, which doubles must not have.
    fn any_memory(&mut self, differentiable: bool) -> Op {
        let object = self.s.below(MILD_WORDS as u64 + 4) as usize;
        let float = object == FLOAT_WORDS || object == MILD_WORDS + Ty::F as usize;
        self.memory(if float && differentiable { FIXED } else { object })
    }

    /// A register other than `not` that may hold anything. As with memory, and what `rmul` works on gets no gradient that it would have to scale.
    fn any_register(&mut self, not: Option<Reg>, differentiable: bool) -> Op {
        let reg = if self.s.once_in(4) { self.s.reg() } else { r(1 + self.s.below(u64::from(DATA)) as u8) };
        let protected = differentiable && (reg == FLOAT || reg == MILD[Ty::F as usize] || SCALED.contains(&reg));
        Op::Reg(if Some(reg) == not || protected { Reg::ZERO } else { reg })
    }

    fn main(&mut self, budget: usize) {
        self.place = Place::Main;
        self.height = 0;
        self.ceiling = LEVELS;
        self.budget = budget;
        self.cost = 0;
        self.protected = 0;
        self.counters = (COUNTERS..COUNTERS + MAIN_COUNTERS).map(r).collect();
        self.inst(row(Row::Start, false), vec![]);
        for ty in Ty::ALL {
            let (acc, func) = match ty {
                Ty::Int => (Acc::Add, ADD),
                Ty::Q => (Acc::Add, TableFn::Q(q_fn::Name::Id)),
                Ty::L => (Acc::Mul, TableFn::L(l_fn::Name::Id)),
                Ty::F => (Acc::Add, TableFn::F(f_fn::Name::Id)),
            };
            let k = self.mild(ty);
            self.inst(plain(acc, false, func), vec![Op::Reg(MILD[ty as usize]), Op::Imm(k)]);
        }
        self.inst(plain(Acc::Add, false, TableFn::F(f_fn::Name::Id)), vec![Op::Reg(FLOAT), Op::Imm(FAR.to_bits())]);
        for n in 1..=DATA {
            let k = Op::Imm(word(self.s));
            self.inst(plain(Acc::Add, false, ADD), vec![Op::Reg(r(n)), k]);
        }
        if self.procs.len() > 1 {
            self.call();
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
        self.height = 0;
        // The first procedures leave room for the others' `gcall`s.
        self.ceiling = if number == 0 { self.s.pick(&[0, 0, 1]) } else { self.s.pick(&[0, 1, 1, LEVELS]) };
        self.counters = vec![r(COUNTERS + MAIN_COUNTERS + number as u8)];
        // It writes only some of the registers, so that callers can rely on others; often the same as the one before, which it can
        // then call.
        if self.spared == 0 || self.s.once_in(4) {
            self.spared = (0..4).fold(0, |mask, _| mask | bit(r(1 + self.s.below(u64::from(DATA)) as u8)));
        }
        self.protected = self.spared;
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
            if self.s.once_in(2) {
                self.call();
            }
            while self.budget > 0 {
                self.statement();
            }
        }
        self.inst(row(Row::Proc, true), vec![Op::Proc(number)]);
        let cost = if recursive { 4 * self.cost } else { self.cost };
        self.procs.push(Procedure { writes: self.writes, cost, height: self.height, recursive });
    }
}
