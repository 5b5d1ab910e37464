//! Recorded operations as C: expressions where a value is used once, constants
//! with a name where it is used more often.

use std::fmt::Write as _;

use super::expr::{Expr, Kind, Prec};
use super::function::FunctionPrinter;
use super::names;
use super::text::{WORDS, word};
use crate::loops::{Block, Slot};
use crate::ops::{Bin, Kernel, Op, V};

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
    /// Names declared ahead, because they are made in a conditional.
    declared_ahead: Vec<(String, bool)>,
}

impl FunctionPrinter<'_> {
    /// Prints a block; gives the value `result`, if one is asked for.
    pub(super) fn block(&mut self, block: &Block, result: Option<V>) -> Option<Expr> {
        let count = block.ops.len();
        let mut p = BlockPrinter {
            f: self,
            block,
            uses: vec![0; count],
            done: vec![None; count],
            lines: Vec::new(),
            depth: 0,
            open: Vec::new(),
            ended: None,
            declared_ahead: Vec::new(),
        };
        p.count(result);
        p.run();
        let result = result.map(|v| p.value(v));
        for double in [true, false] {
            let of_type = p.declared_ahead.iter().filter(|(_, d)| *d == double);
            let names: Vec<&str> = of_type.map(|(n, _)| n.as_str()).collect();
            if !names.is_empty() {
                p.lines.insert(0, format!("{} {};", if double { "double" } else { "int64_t" }, names.join(", ")));
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

    fn finite(&self) -> bool {
        self.f.program.checks_finite
    }

    fn temporary(&mut self) -> String {
        self.f.next += 1;
        format!("t{}", self.f.next - 1)
    }

    /// How often each value is used by something that is needed.
    fn count(&mut self, result: Option<V>) {
        if let Some(v) = result {
            self.uses[v.0 as usize] += 1;
        }
        let block = self.block;
        for (n, op) in block.ops.iter().enumerate().rev() {
            let lost = match *op {
                Op::Set(lane, reg, _) => !self.has(lane, reg),
                Op::Finite(_) | Op::Ordered(..) => !self.finite(),
                _ => false,
            };
            if self.block.wraps[n] {
                self.uses[n] += 1;
            }
            if lost || (op.is_idle() && self.uses[n] == 0) {
                continue;
            }
            // Unused arguments of a kernel repeat the first one.
            let arity = if let Op::Kernel(k, _) = op { self.f.kernel(*k).0.arity } else { usize::MAX };
            op.uses().take(arity).for_each(|v| self.uses[v.0 as usize] += 1);
        }
    }

    /// Whether a value is only asked whether it is zero.
    fn is_condition(&self, n: usize) -> bool {
        let v = V(n as u32);
        self.block.ops.iter().all(|op| match *op {
            Op::If(_) => true,
            Op::Select(_, a, b) => a != v && b != v,
            op => op.uses().all(|u| u != v),
        })
    }

    fn line(&mut self, text: &str) {
        self.lines.push(format!("{}{text}", "    ".repeat(self.depth)));
    }

    fn value(&self, v: V) -> Expr {
        match self.block.ops[v.0 as usize] {
            Op::Const(k) => word(k),
            _ => self.done[v.0 as usize].clone().unwrap_or_else(|| word(0)),
        }
    }

    fn int(&self, v: V) -> Expr {
        match self.block.ops[v.0 as usize] {
            Op::Const(k) => word(k),
            _ => WORDS.convert(self.value(v), Kind::Word),
        }
    }

    fn real(&self, v: V) -> Expr {
        match self.block.ops[v.0 as usize] {
            Op::Const(k) => WORDS.constant(k, Kind::Double),
            _ => WORDS.convert(self.value(v), Kind::Double),
        }
    }

    /// Gives a value a name.
    fn name(&mut self, n: usize, ex: &Expr) {
        let name = self.temporary();
        if self.depth > 0 {
            self.declared_ahead.push((name.clone(), ex.is_double()));
            self.line(&format!("{name} = {};", ex.text));
        } else {
            let ty = if ex.is_double() { "double" } else { "int64_t" };
            self.line(&format!("const {ty} {name} = {};", ex.text));
        }
        self.done[n] = Some(Expr::atom(name, ex.kind));
    }

    /// Keeps a value as an expression, if it is used once, or gives it a name.
    fn keep(&mut self, n: usize, ex: Expr) {
        if self.uses[n] > 1 && ex.prec != Prec::Atom {
            self.name(n, &ex);
        } else {
            self.done[n] = Some(ex);
        }
    }

    fn run(&mut self) {
        let block = self.block;
        let ops = &block.ops;
        let sets = ops.iter().filter(|op| matches!(*op, Op::Set(l, r, _) if self.has(*l, *r))).count();
        let late = self.late_check(sets);
        for (n, op) in ops.iter().enumerate() {
            if op.is_idle() && self.uses[n] == 0 {
                continue;
            }
            match *op {
                Op::Const(_) => {}
                Op::Get(lane, reg) => {
                    let ex = self.spot(lane, reg).unwrap_or_else(|| word(0));
                    // The words are written at the end, one after the other.
                    let needs_name = sets > 1 || self.uses[n] > 1;
                    if needs_name && ex.prec != Prec::Literal { self.name(n, &ex) } else { self.done[n] = Some(ex) }
                }
                Op::Set(lane, reg, v) => self.set(lane, reg, v, late),
                Op::Kernel(kernel, args) => self.kernel(n, kernel, args),
                Op::Second(_) => {
                    let ex = Expr::atom("(int64_t)out[1]", Kind::Word);
                    self.name(n, &ex);
                }
                Op::Finite(_) | Op::Ordered(..) | Op::Require(_) | Op::Overflow(_) => self.check(*op, late),
                Op::If(c) => {
                    let c = self.value(c);
                    let c = if c.is_double() { WORDS.convert(c, Kind::Word) } else { c };
                    let text = format!("if ({}) {{", c.text);
                    self.line(&text);
                    self.open.push(c);
                    self.depth += 1;
                }
                Op::End => {
                    self.depth = self.depth.saturating_sub(1);
                    self.ended = self.open.pop();
                    self.line("}");
                }
                // Blocks have none.
                Op::Load(..) | Op::Store(..) | Op::Bound(_) | Op::Interpret | Op::Reload(..) => {}
                Op::Bin(..)
                | Op::Not(_)
                | Op::Compare(..)
                | Op::CompareFloat(..)
                | Op::Select(..)
                | Op::Phi(..)
                | Op::Float(..)
                | Op::Sqrt(_)
                | Op::Abs(_)
                | Op::FromInt(_)
                | Op::Canonical(_) => self.expression(n, *op),
            }
        }
    }

    /// The value whose check for being finite is made on the word that it is written to, after that is written. Its
    /// uses are counted without the check.
    fn late_check(&mut self, sets: usize) -> Option<V> {
        let block = self.block;
        let ops = &block.ops;
        if sets == 1
            && !ops.iter().any(|op| matches!(op, Op::If(_)))
            && let Some(Op::Set(lane, reg, v)) =
                ops.iter().find(|op| matches!(op, Op::Set(l, r, _) if self.has(*l, *r)))
            && self.slot(*reg).is_some_and(|slot| self.f.kind(slot, usize::from(*lane)) == Kind::Double)
        {
            let checks = ops.iter().filter(|op| **op == Op::Finite(*v)).count() as u32;
            let checks = if self.finite() { checks } else { 0 };
            if checks > 0 && self.uses[v.0 as usize] == checks + 1 && !matches!(ops[v.0 as usize], Op::Get(..)) {
                self.uses[v.0 as usize] = 1;
                return Some(*v);
            }
        }
        None
    }

    /// Writes a word.
    fn set(&mut self, lane: u8, reg: u8, v: V, late: Option<V>) {
        let Some(to) = self.spot(lane, reg) else { return };
        let from = if to.is_double() { self.real(v) } else { self.int(v) };
        self.assign(&to.text, &from);
        if late == Some(v) {
            self.line(&format!("CHECK({});", to.text));
        }
    }

    /// An operation that checks something and has no value.
    fn check(&mut self, op: Op, late: Option<V>) {
        let text = match op {
            Op::Finite(v) if self.finite() && late != Some(v) => {
                format!("CHECK({});", self.real(v).text)
            }
            Op::Ordered(a, b) if self.finite() => {
                format!("bad |= isunordered({}, {});", self.real(a).text, self.real(b).text)
            }
            Op::Require(v) => format!("bad |= !{};", self.int(v).at(Prec::Unary)),
            Op::Overflow(v) => format!("bad |= {};", self.int(v).at(Prec::Atom)),
            _ => return,
        };
        self.line(&text);
    }

    /// An operation whose value is an expression of its operands.
    fn expression(&mut self, n: usize, op: Op) {
        let ex = match op {
            // All bits of a double but its sign are zero where it is.
            Op::Bin(Bin::Shl, a, b)
                if self.block.ops[b.0 as usize] == Op::Const(1)
                    && self.value(a).is_double()
                    && self.is_condition(n) =>
            {
                let x = self.real(a);
                Expr::of(&[&x], format!("{} != 0.0", x.at(Prec::Sum)), Kind::Truth, Prec::Other)
            }
            Op::Bin(op, a, b) if self.block.wraps[n] => return self.checked_sum(n, op, a, b),
            Op::Bin(op, a, b) => WORDS.bin(op, &self.int(a), &self.int(b)),
            Op::Not(a) => self.int(a).not(),
            Op::Compare(cond, a, b) => WORDS.compare(cond, &self.int(a), &self.int(b)),
            Op::CompareFloat(cond, a, b) => Expr::compare_floats(cond, &self.real(a), &self.real(b)),
            Op::Select(c, a, b) => {
                let c = self.int(c);
                return self.choose(n, &c, a, b);
            }
            Op::Phi(a, b) => {
                let c = self.ended.clone().unwrap_or_else(|| word(1));
                return self.choose(n, &c, a, b);
            }
            Op::Float(op, a, b) => Expr::float(op, &self.real(a), &self.real(b)),
            Op::Sqrt(a) => self.real(a).sqrt(),
            Op::Abs(a) => self.real(a).abs(),
            Op::FromInt(a) => WORDS.from_int(&self.int(a)),
            Op::Canonical(a) => self.real(a).canonical(),
            _ => return,
        };
        self.keep(n, ex);
    }

    /// A sum or product that the C compiler's builtin checks for wrapping where it is made.
    fn checked_sum(&mut self, n: usize, op: Bin, a: V, b: V) {
        let builtin = match op {
            Bin::Sub => "sub",
            Bin::Mul => "mul",
            _ => "add",
        };
        let name = self.temporary();
        if self.depth > 0 {
            self.declared_ahead.push((name.clone(), false));
        } else {
            self.line(&format!("int64_t {name};"));
        }
        let (a, b) = (self.int(a), self.int(b));
        self.line(&format!("if (WRAPS({builtin}, {}, {}, {name})) return 1;", a.text, b.text));
        self.done[n] = Some(Expr::atom(name, Kind::Word));
    }

    fn choose(&mut self, n: usize, c: &Expr, a: V, b: V) {
        let double = self.value(a).is_double() || self.value(b).is_double();
        let (a, b) = if double { (self.real(a), self.real(b)) } else { (self.int(a), self.int(b)) };
        let kind = if double { Kind::Double } else { Kind::Word };
        self.keep(n, WORDS.select(c, &a, &b, kind));
    }

    /// An assignment, in the short form where there is one.
    fn assign(&mut self, to: &str, from: &Expr) {
        match from.added_to(to) {
            Some((sign, other)) => self.line(&format!("{to} {sign}= {other};")),
            None => self.line(&format!("{to} = {};", from.text)),
        }
    }

    fn kernel(&mut self, n: usize, kernel: u32, args: [V; 4]) {
        let (Kernel { name: path, arity, result: one, .. }, name) = self.f.kernel(kernel);
        let (name, pair) = (name.to_string(), one.is_none());
        if let Some((_, division)) = DIVISIONS.iter().find(|(of, _)| names::kernel(path) == *of) {
            let (a, b) = (self.int(args[0]), self.int(args[1]));
            if b.constant.is_none_or(|k| k == 0) {
                self.line(&format!("if ({} == 0) return 1;", b.at(Prec::Sum)));
            }
            let ex = Expr::call(division, &[&a, &b], Kind::Word);
            self.name(n, &ex);
            return;
        }
        let mut text = format!("{name}(ENV{}", if pair { ", out" } else { "" });
        self.f.out |= pair;
        for v in &args[..arity] {
            let _ = write!(text, ", {}", self.int(*v).text);
        }
        text.push(')');
        if pair {
            self.line(&format!("if ({text}) return 1;"));
            if self.uses[n] > 0 {
                self.name(n, &Expr::atom("(int64_t)out[0]", Kind::Word));
            }
            return;
        }
        let result = self.temporary();
        if self.depth > 0 {
            // What it gives is looked at later where this is not run, too.
            self.declared_ahead.push((result.clone(), false));
            self.line(&format!("{{ const result r = {text}; {result} = WORD(r); bad |= STATUS(r); }}"));
            self.done[n] = Some(Expr::atom(result, Kind::Word));
        } else {
            self.line(&format!("const result {result} = {text};"));
            self.line(&format!("bad |= STATUS({result});"));
            self.done[n] = Some(Expr::call("WORD", &[&Expr::atom(result, Kind::Word)], Kind::Word));
        }
    }
}

/// Divisions, which C has operators for: the kernel, and the function of the prelude.
const DIVISIONS: &[(&str, &str)] = &[
    ("int_quot", "quotient"),
    ("int_rem", "rest"),
    ("int_div", "quotient_down"),
    ("int_modulo", "modulo"),
    ("int_udiv", "unsigned_quotient"),
    ("int_umod", "unsigned_rest"),
];
