//! Recorded operations as C: expressions where a value is used once, constants
//! with a name where it is used more often.

use std::fmt::Write as _;

use super::PRELUDE;
use super::elementary;
use super::expr::{Expr, Kind, Prec};
use super::function::FunctionPrinter;
use super::text::{WORDS, word};
use crate::emit::{Emit, emit};
use crate::loops::{Block, Slot};
use crate::ops::{BinaryOp, Float, Kernel, Op, ValueId};
use pendula_isa::adjoint::VALUE;
use pendula_isa::kernels::Faults;
use pendula_isa::num::raw::{Facts, facts};
use pendula_isa::types::Cond;

/// Prints one block.
struct BlockPrinter<'b, 'f, 'p> {
    f: &'b mut FunctionPrinter<'p>,
    block: &'f Block,
    uses: Vec<u32>,
    done: Vec<Option<Expr>>,
    lines: Vec<String>,
    depth: usize,
    /// Conditions of the conditionals that are open, and of the one that ended last.
    open: Vec<Expr>,
    ended: Option<Expr>,
    /// The condition of a conditional that is computed in any case, without a branch: its checks are made where that holds.
    only_if: Option<Expr>,
    /// How many words the block writes.
    sets: usize,
    /// The value whose check for being finite is made on the word that it is written to.
    late: Option<ValueId>,
    /// Names declared ahead, because they are made in a conditional.
    declared_ahead: Vec<(String, Kind)>,
}

impl FunctionPrinter<'_> {
    /// Prints a block; gives the value `result`, if one is asked for.
    pub(super) fn block(&mut self, block: &Block, result: Option<ValueId>) -> Option<Expr> {
        let count = block.ops.len();
        let mut p = BlockPrinter {
            f: self,
            block,
            uses: Vec::new(),
            done: vec![None; count],
            lines: Vec::new(),
            depth: 0,
            open: Vec::new(),
            ended: None,
            only_if: None,
            sets: 0,
            late: None,
            declared_ahead: Vec::new(),
        };
        p.uses = block.uses(p.f.program, |lane, reg| p.has(lane, reg), result);
        p.run();
        let result = result.map(|v| p.value(v));
        for kind in [Kind::Vector, Kind::Double, Kind::Word] {
            let of_type = p.declared_ahead.iter().filter(|(_, k)| *k == kind);
            let names: Vec<&str> = of_type.map(|(n, _)| n.as_str()).collect();
            if !names.is_empty() {
                p.lines.insert(0, format!("{} {};", kind.c_type(), names.join(", ")));
            }
        }
        let lines = p.lines;
        lines.iter().for_each(|l| self.text.line(l));
        result
    }
}

impl BlockPrinter<'_, '_, '_> {
    /// Whether an operand has a word in a lane.
    fn has(&self, lane: u8, reg: u8) -> bool {
        self.slot(reg).is_some_and(|slot| self.f.has_lane(slot, lane.into()))
    }

    fn slot(&self, reg: u8) -> Option<Slot> {
        self.block.slots.get(usize::from(reg)).copied().flatten()
    }

    /// An operand's word in a lane.
    fn spot(&mut self, lane: u8, reg: u8) -> Option<Expr> {
        let slot = self.slot(reg).filter(|slot| self.f.has_lane(*slot, lane.into()))?;
        Some(self.f.slot(slot, lane.into()))
    }

    fn wraps(&self, v: ValueId) -> bool {
        self.block.wraps[v.0 as usize]
    }

    fn temporary(&mut self) -> String {
        format!("t{}", self.f.number())
    }

    /// Whether a value is only asked whether it is zero.
    fn is_condition(&self, v: ValueId) -> bool {
        self.block.ops.iter().all(|op| match *op {
            Op::If(_) => true,
            Op::Select(_, a, b) => a != v && b != v,
            op => op.uses().all(|u| u != v),
        })
    }

    /// Whether a value is a double, or a vector of them, or the bits of two of which one is a vector.
    fn is_number(&self, v: ValueId) -> bool {
        match self.block.ops[v.0 as usize] {
            Op::BinaryOp(BinaryOp::Or, a, b) => {
                [a, b].iter().all(|v| self.is_number(*v)) && [a, b].iter().any(|v| self.value(*v).kind == Kind::Vector)
            }
            Op::Const(_) => true,
            _ => matches!(self.value(v).kind, Kind::Double | Kind::Vector),
        }
    }

    /// Whether a number, or some part of it, is not zero.
    fn is_not_zero(&self, v: ValueId) -> Expr {
        if let Op::BinaryOp(BinaryOp::Or, a, b) = self.block.ops[v.0 as usize] {
            let (a, b) = (self.is_not_zero(a), self.is_not_zero(b));
            let text = format!("{} | {}", a.at(Prec::Unary), b.at(Prec::Unary));
            return Expr::of(&[&a, &b], text, Kind::Truth, Prec::Other);
        }
        let x = self.real(v);
        match x.kind {
            Kind::Vector => Expr::call("NONZERO", &[&x], Kind::Truth),
            _ => Expr::of(&[&x], format!("{} != 0.0", x.at(Prec::Sum)), Kind::Truth, Prec::Other),
        }
    }

    fn line(&mut self, text: &str) {
        self.lines.push(format!("{}{text}", "    ".repeat(self.depth)));
    }

    fn value(&self, v: ValueId) -> Expr {
        match self.block.ops[v.0 as usize] {
            Op::Const(k) => word(k),
            _ => self.done[v.0 as usize].clone().unwrap_or_else(|| word(0)),
        }
    }

    fn int(&self, v: ValueId) -> Expr {
        match self.block.ops[v.0 as usize] {
            Op::Const(k) => word(k),
            _ => WORDS.convert(self.value(v), Kind::Word),
        }
    }

    fn real(&self, v: ValueId) -> Expr {
        match self.block.ops[v.0 as usize] {
            Op::Const(k) => WORDS.constant(k, Kind::Double),
            _ => WORDS.convert(self.value(v), Kind::Double),
        }
    }

    /// Gives a value a name.
    fn name(&mut self, v: ValueId, ex: &Expr) {
        let name = self.temporary();
        self.define(&name, ex);
        self.done[v.0 as usize] = Some(Expr::atom(name, ex.kind));
    }

    /// Keeps a value as an expression, if it is used once, or gives it a name.
    fn keep(&mut self, v: ValueId, ex: Expr) {
        let n = v.0 as usize;
        if self.uses[n] > 1 && ex.prec != Prec::Atom {
            self.name(v, &ex);
        } else {
            self.done[n] = Some(ex);
        }
    }

    fn run(&mut self) {
        let block = self.block;
        self.sets = block.ops.iter().filter(|op| matches!(*op, Op::Set(l, r, _) if self.has(*l, *r))).count();
        self.late = self.late_check();
        for (n, op) in block.ops.iter().enumerate() {
            if !op.is_idle() || self.uses[n] > 0 {
                emit(self, ValueId(n as u32), *op);
            }
        }
    }

    /// Whether a value is a product that must be rounded before anything is subtracted from it.
    fn is_rounded_product(&self, v: ValueId) -> bool {
        self.f.program.checks_finite && matches!(self.block.ops[v.0 as usize], Op::Float(Float::Mul, ..))
    }

    /// The value whose check for being finite is made on the word that it is written to, after that is written. Its
    /// uses are counted without the check.
    fn late_check(&mut self) -> Option<ValueId> {
        let block = self.block;
        let ops = &block.ops;
        if self.sets == 1
            && !ops.iter().any(|op| matches!(op, Op::If(_)))
            && let Some(Op::Set(lane, reg, v)) =
                ops.iter().find(|op| matches!(op, Op::Set(l, r, _) if self.has(*l, *r)))
            && self.slot(*reg).is_some_and(|slot| self.f.kind(slot, usize::from(*lane)) == Kind::Double)
        {
            let checks = ops.iter().filter(|op| **op == Op::Finite(*v)).count() as u32;
            let checks = if self.f.program.checks_finite { checks } else { 0 };
            if checks > 0 && self.uses[v.0 as usize] == checks + 1 && !matches!(ops[v.0 as usize], Op::Get(..)) {
                self.uses[v.0 as usize] = 1;
                return Some(*v);
            }
        }
        None
    }

    /// A sum or product that the C compiler's builtin checks for wrapping where it is made.
    fn checked_sum(&mut self, v: ValueId, builtin: &str, a: ValueId, b: ValueId) {
        let name = self.temporary();
        if self.depth > 0 {
            self.declared_ahead.push((name.clone(), Kind::Word));
        } else {
            self.line(&format!("int64_t {name};"));
        }
        let (a, b) = (self.int(a), self.int(b));
        self.line(&format!("if (WRAPS({builtin}, {}, {}, {name})) return 1;", a.text, b.text));
        self.done[v.0 as usize] = Some(Expr::atom(name, Kind::Word));
    }

    /// The text of an argument that is read more than once.
    fn argument(&mut self, v: ValueId, double: bool) -> Expr {
        let ex = if double { self.real(v) } else { self.int(v) };
        if ex.prec >= Prec::Literal && ex.size == 0 {
            return ex;
        }
        let name = self.temporary();
        self.define(&name, &ex);
        Expr::atom(name, ex.kind)
    }

    /// Declares a name for an expression.
    fn define(&mut self, name: &str, ex: &Expr) {
        // Truth values are words where they have names.
        let kind = if ex.kind == Kind::Truth { Kind::Word } else { ex.kind };
        if self.depth > 0 {
            self.declared_ahead.push((name.into(), kind));
            self.line(&format!("{name} = {};", ex.text));
        } else {
            self.line(&format!("const {} {name} = {};", kind.c_type(), ex.text));
        }
    }

    /// An elementary function in C, with the checks that the machine's have.
    fn elementary(&mut self, v: ValueId, kernel: &str, args: &[ValueId], facts: Facts) {
        let number = |n: usize| n == 0 || !facts.integer;
        let arguments: Vec<Expr> = args.iter().enumerate().map(|(n, v)| self.argument(*v, number(n))).collect();
        let arguments: Vec<&Expr> = arguments.iter().collect();
        for argument in &arguments[..facts.finite] {
            self.check(argument);
        }
        if let Some(domain) = elementary::domain(kernel) {
            let holds = Expr::call(&domain, &arguments, Kind::Truth);
            self.line(&format!("bad |= !{};", holds.text));
        }
        let result = self.temporary();
        self.define(&result, &Expr::call(&format!("inline_{kernel}"), &arguments, Kind::Double));
        let result = Expr::atom(result, Kind::Double);
        if facts.overflows {
            self.check(&result);
        }
        self.done[v.0 as usize] = Some(result);
    }

    /// Notes a number that is not finite.
    fn check(&mut self, x: &Expr) {
        let parts = if x.kind == Kind::Vector { "_PARTS" } else { "" };
        match &self.only_if {
            Some(c) => self.line(&format!("CHECK{parts}_IF({}, {});", c.text, x.text)),
            None => self.line(&format!("CHECK{parts}({});", x.text)),
        }
    }

    /// Whether a conditional can be computed where it is not run: loops with it may be vectorised then. Elementary functions have no branches.
    fn is_short(&self, v: ValueId) -> bool {
        let ops = &self.block.ops[v.0 as usize + 1..];
        let until = ops.iter().position(|op| *op == Op::End).unwrap_or(0);
        ops[..until].iter().enumerate().all(|(n, op)| match *op {
            Op::Kernel(kernel, _) => {
                facts(self.f.kernel(kernel).0.name).is_some_and(|facts| facts.short || !facts.partial && !facts.integer)
            }
            Op::Const(_) | Op::Get(..) | Op::Finite(_) | Op::Float(..) | Op::Sqrt(_) | Op::Abs(_) => true,
            Op::Not(_)
            | Op::Compare(..)
            | Op::Select(..)
            | Op::FromInt(_)
            | Op::CompareFloat(..)
            | Op::Canonical(_) => true,
            Op::BinaryOp(..) => !self.block.wraps[v.0 as usize + 1 + n],
            _ => false,
        })
    }

    fn choose(&mut self, v: ValueId, c: &Expr, a: ValueId, b: ValueId) {
        let kinds = [self.value(a).kind, self.value(b).kind];
        let (kind, a, b) = if kinds.contains(&Kind::Vector) {
            (Kind::Vector, self.real(a).as_vector(), self.real(b).as_vector())
        } else if kinds.contains(&Kind::Double) {
            (Kind::Double, self.real(a), self.real(b))
        } else {
            (Kind::Word, self.int(a), self.int(b))
        };
        self.keep(v, WORDS.select(c, &a, &b, kind));
    }
}

impl Emit for BlockPrinter<'_, '_, '_> {
    /// It is written where it is used.
    fn constant(&mut self, _: ValueId, _: u64) {}

    fn get(&mut self, v: ValueId, lane: u8, reg: u8) {
        let ex = self.spot(lane, reg).unwrap_or_else(|| word(0));
        // The words are written at the end, one after the other.
        let needs_name = self.sets > 1 || self.uses[v.0 as usize] > 1;
        if needs_name && ex.constant.is_none() { self.name(v, &ex) } else { self.done[v.0 as usize] = Some(ex) }
    }

    fn bin(&mut self, v: ValueId, op: BinaryOp, a: ValueId, b: ValueId) {
        match op {
            BinaryOp::Add if self.wraps(v) => self.checked_sum(v, "add", a, b),
            BinaryOp::Sub if self.wraps(v) => self.checked_sum(v, "sub", a, b),
            BinaryOp::Mul if self.wraps(v) => self.checked_sum(v, "mul", a, b),
            // All bits of a double but its sign are zero where it is.
            BinaryOp::Shl
                if self.block.ops[b.0 as usize] == Op::Const(1) && self.is_number(a) && self.is_condition(v) =>
            {
                let test = self.is_not_zero(a);
                self.keep(v, test);
            }
            // It stands in a condition, which is written as a whole.
            BinaryOp::Or if self.is_number(v) && [a, b].iter().any(|v| self.value(*v).kind == Kind::Vector) => {}
            _ => self.keep(v, WORDS.bin(op, &self.int(a), &self.int(b))),
        }
    }

    fn not(&mut self, v: ValueId, a: ValueId) {
        self.keep(v, self.int(a).not());
    }

    fn compare(&mut self, v: ValueId, cond: Cond, a: ValueId, b: ValueId) {
        self.keep(v, WORDS.compare(cond, &self.int(a), &self.int(b)));
    }

    fn select(&mut self, v: ValueId, c: ValueId, a: ValueId, b: ValueId) {
        let c = self.int(c);
        self.choose(v, &c, a, b);
    }

    fn float(&mut self, v: ValueId, op: Float, a: ValueId, b: ValueId) {
        let mut first = self.real(a);
        if op == Float::Sub && self.is_rounded_product(a) && first.kind == Kind::Double {
            first = Expr::call("PRODUCT", &[&first], Kind::Double);
        }
        self.keep(v, Expr::float(op, &first, &self.real(b)));
    }

    fn sqrt(&mut self, v: ValueId, a: ValueId) {
        self.keep(v, self.real(a).sqrt());
    }

    fn abs(&mut self, v: ValueId, a: ValueId) {
        self.keep(v, self.real(a).abs());
    }

    fn int_to_float(&mut self, v: ValueId, a: ValueId) {
        self.keep(v, WORDS.from_int(&self.int(a)));
    }

    fn compare_float(&mut self, v: ValueId, cond: Cond, a: ValueId, b: ValueId) {
        self.keep(v, Expr::compare_floats(cond, &self.real(a), &self.real(b)));
    }

    fn canonical(&mut self, v: ValueId, a: ValueId) {
        self.keep(v, self.real(a).canonical());
    }

    /// Blocks have no loads; see [`Block::new`].
    fn load(&mut self, _: ValueId, _: u8, _: ValueId) {}

    fn kernel(&mut self, v: ValueId, kernel: u32, args: [ValueId; 4]) {
        let (Kernel { name: kernel, arity, faults, result: one, .. }, name) = self.f.kernel(kernel);
        let (name, pair) = (name.to_string(), one.is_none());
        let inline = format!("inline_{kernel}");
        if faults == Faults::AtZero && PRELUDE.contains(&format!(" {inline}(")) {
            let (a, b) = (self.int(args[0]), self.int(args[1]));
            if b.constant.is_none_or(|k| k == 0) {
                self.line(&format!("if (UNLIKELY({} == 0)) return 1;", b.at(Prec::Sum)));
            }
            let ex = Expr::call(&inline, &[&a, &b], Kind::Word);
            self.name(v, &ex);
            return;
        }
        if let Some(facts) = facts(kernel) {
            self.elementary(v, kernel, &args[..arity], facts);
            return;
        }
        let mut text = format!("{name}(ENV{}", if pair { ", out" } else { "" });
        self.f.out |= pair;
        for arg in &args[..arity] {
            let _ = write!(text, ", {}", self.int(*arg).text);
        }
        text.push(')');
        if pair {
            self.line(&format!("if (UNLIKELY({text})) return 1;"));
            if self.uses[v.0 as usize] > 0 {
                self.name(v, &Expr::atom("(int64_t)out[0]", Kind::Word));
            }
            return;
        }
        let result = self.temporary();
        if self.depth > 0 {
            // What it gives is looked at later where this is not run, too.
            self.declared_ahead.push((result.clone(), Kind::Word));
            self.line(&format!("{{ const result r = {text}; {result} = WORD(r); bad |= STATUS(r); }}"));
            self.done[v.0 as usize] = Some(Expr::atom(result, Kind::Word));
        } else {
            self.line(&format!("const result {result} = {text};"));
            self.line(&format!("bad |= STATUS({result});"));
            self.done[v.0 as usize] = Some(Expr::call("WORD", &[&Expr::atom(result, Kind::Word)], Kind::Word));
        }
    }

    fn second(&mut self, v: ValueId, _: ValueId) {
        self.name(v, &Expr::atom("(int64_t)out[1]", Kind::Word));
    }

    fn phi(&mut self, v: ValueId, then: ValueId, otherwise: ValueId) {
        let c = self.ended.clone().unwrap_or_else(|| word(1));
        self.choose(v, &c, then, otherwise);
    }

    fn set(&mut self, lane: u8, reg: u8, value: ValueId) {
        let Some(to) = self.spot(lane, reg) else { return };
        let from = match to.kind {
            Kind::Vector => self.real(value).as_vector(),
            Kind::Double => self.real(value),
            Kind::Word | Kind::Truth => self.int(value),
        };
        let is_chained = self.block.local_word(lane, reg).is_some_and(|word| self.f.chained.contains(&word));
        let is_local = self.block.local_word(lane, reg).is_some();
        // In the short form where there is one.
        match from.added_to(&to.text) {
            _ if is_chained && to.kind == Kind::Double => {
                self.line(&format!("{} = IN_ORDER({});", to.text, from.text));
            }
            // Something may be subtracted from it.
            None if is_local && to.kind == Kind::Double && self.is_rounded_product(value) => {
                self.line(&format!("{} = PRODUCT({});", to.text, from.text));
            }
            Some((sign, other)) => self.line(&format!("{} {sign}= {other};", to.text)),
            None => self.line(&format!("{} = {};", to.text, from.text)),
        }
        match self.block.limit {
            Some(limit) if (lane, reg) == (0, 1) => {
                let sum = self.block.local_word(lane, reg).filter(|(_, lane)| *lane == VALUE);
                match sum.and_then(|(local, _)| self.f.peaks.get(&local)) {
                    Some(peak) => {
                        let line = format!("PEAK({peak}, {});", to.text);
                        self.line(&line);
                    }
                    None => {
                        let limit = self.f.integer(limit);
                        self.line(&format!("WITHIN({}, {});", to.text, limit.text));
                    }
                }
            }
            _ if self.late == Some(value) => self.line(&format!("CHECK({});", to.text)),
            _ => {}
        }
    }

    /// Nor stores, nor checks of addresses.
    fn store(&mut self, _: u8, _: ValueId, _: ValueId) {}
    fn bound(&mut self, _: ValueId) {}

    fn finite(&mut self, a: ValueId) {
        // What is within a limit is finite.
        let limited = self.block.limit.is_some() && self.block.ops.contains(&Op::Set(0, 1, a));
        if self.f.program.checks_finite && self.late != Some(a) && !limited {
            // C compilers would make a branch of what is looked at in some cases alone.
            let zero = |v: ValueId| self.block.ops[v.0 as usize] == Op::Const(0);
            match self.block.ops[a.0 as usize] {
                Op::Select(c, x, otherwise) if self.only_if.is_none() && zero(otherwise) => {
                    let c = self.int(c);
                    self.only_if = Some(match c.kind {
                        Kind::Truth => c,
                        _ => Expr::of(&[&c], format!("{} != 0", c.at(Prec::Sum)), Kind::Truth, Prec::Other),
                    });
                    self.check(&self.real(x));
                    self.only_if = None;
                }
                _ => self.check(&self.real(a)),
            }
        }
    }

    fn ordered(&mut self, a: ValueId, b: ValueId) {
        if self.f.program.checks_finite {
            self.line(&format!("bad |= isunordered({}, {});", self.real(a).text, self.real(b).text));
        }
    }

    fn require(&mut self, c: ValueId) {
        self.line(&format!("bad |= !{};", self.int(c).at(Prec::Unary)));
    }

    fn overflow(&mut self, c: ValueId) {
        self.line(&format!("bad |= {};", self.int(c).at(Prec::Atom)));
    }

    fn begin(&mut self, v: ValueId, c: ValueId) {
        let c = self.value(c);
        let c = if c.is_double() { WORDS.convert(c, Kind::Word) } else { c };
        if self.open.is_empty() && self.is_short(v) {
            self.only_if = Some(c);
            return;
        }
        self.line(&format!("if ({}) {{", c.text));
        self.open.push(c);
        self.depth += 1;
    }

    fn end(&mut self, _: ValueId) {
        if let Some(c) = self.only_if.take() {
            self.ended = Some(c);
            return;
        }
        self.depth = self.depth.saturating_sub(1);
        self.ended = self.open.pop();
        self.line("}");
    }

    /// Nor what the interpreter does.
    fn interpret(&mut self) {}
    fn reload(&mut self, _: ValueId, _: u8, _: u8) {}
}
