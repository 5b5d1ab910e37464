//! Recorded operations as C: expressions where a value is used once, constants
//! with a name where it is used more often.

use std::fmt::Write as _;

use pendula_codegen::cc::operator;
use pendula_codegen::ops::{Bin, Body, Op, V};

use super::Refused;
use super::operators::{bin, float, integers, is_product};
use super::text::{Ex, Prec, double, word};

/// An operand of a statement: in each lane the place where it stands in C, or what it is if it has no word there.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    /// By lane: the expression, and whether it is written.
    pub(super) lanes: [Option<Ex>; pendula_isa::adjoint::LANES],
}

/// Writes one statement's operations.
pub(super) struct Printer<'a> {
    pub(super) body: &'a Body,
    spots: &'a [Option<Spot>],
    kernels: &'a [String],
    /// Whether infinite numbers and NaN are looked for.
    pub(super) finite: bool,
    /// The sums and products whose wrapping is looked at where they are made: the builtin that does, by operation.
    pub(super) checked: Vec<Option<&'static str>>,
    /// Their checks, which are made with them.
    pub(super) check_merged: Vec<bool>,
    pub(super) uses: Vec<u32>,
    /// Checks that later ones make needless.
    pub(super) redundant: Vec<bool>,
    done: Vec<Option<Ex>>,
    lines: Vec<String>,
    depth: usize,
    /// Conditions of the conditionals that are open, and of the one that ended last.
    open: Vec<Ex>,
    ended: Option<Ex>,
    /// Names declared ahead, because they are made in a conditional.
    declared_ahead: Vec<(String, bool)>,
    next: &'a mut u32,
}

/// Lines of C for a statement. With `early`, sums that wrap give up at once: such checks cost less, but loops with them are not made loops over
/// vectors. `next` numbers the names that it needs; the last value is that of `result`, if one is asked for.
pub(super) fn print(
    body: &Body,
    spots: &[Option<Spot>],
    kernels: &[String],
    (finite, early): (bool, bool),
    result: Option<V>,
    next: &mut u32,
) -> Result<(Vec<String>, Option<Ex>), Refused> {
    let (body, renamed) = super::if_convert::flat(body);
    let result = result.map(|v| renamed[v.0 as usize]);
    let mut p = Printer {
        body: &body,
        spots,
        kernels,
        finite,
        checked: vec![None; body.ops.len()],
        check_merged: vec![false; body.ops.len()],
        uses: vec![0; body.ops.len()],
        redundant: Vec::new(),
        done: vec![None; body.ops.len()],
        lines: Vec::new(),
        depth: 0,
        open: Vec::new(),
        ended: None,
        declared_ahead: Vec::new(),
        next,
    };
    p.redundant = p.implied_checks();
    if early {
        p.find_checked();
    }
    p.count(result);
    p.run()?;
    let result = result.map(|v| p.value(v));
    for double in [true, false] {
        let names: Vec<&str> = p.declared_ahead.iter().filter(|(_, d)| *d == double).map(|(n, _)| n.as_str()).collect();
        if !names.is_empty() {
            p.lines.insert(0, format!("{} {};", if double { "double" } else { "int64_t" }, names.join(", ")));
        }
    }
    Ok((p.lines, result))
}

impl Printer<'_> {
    pub(super) fn arity(&self, kernel: u32) -> usize {
        let name = self.kernels.get(kernel as usize).map_or("", String::as_str);
        name.rsplit('_').next().and_then(|n| n.parse().ok()).unwrap_or(4).min(4)
    }

    pub(super) fn spot(&self, lane: u8, reg: u8) -> Option<&Ex> {
        self.spots.get(usize::from(reg))?.as_ref()?.lanes.get(usize::from(lane))?.as_ref()
    }

    fn line(&mut self, text: &str) {
        self.lines.push(format!("{}{text}", "    ".repeat(self.depth)));
    }

    fn value(&self, v: V) -> Ex {
        match self.body.ops[v.0 as usize] {
            Op::Const(k) => word(k),
            _ => self.done[v.0 as usize].clone().unwrap_or_else(|| word(0)),
        }
    }

    fn int(&self, v: V) -> Ex {
        match self.body.ops[v.0 as usize] {
            Op::Const(k) => word(k),
            _ => self.value(v).into_word(),
        }
    }

    fn real(&self, v: V) -> Ex {
        match self.body.ops[v.0 as usize] {
            Op::Const(k) => double(k),
            _ => self.value(v).into_double(),
        }
    }

    /// Gives a value a name.
    fn name(&mut self, n: usize, ex: &Ex) {
        let name = format!("t{}", self.next);
        *self.next += 1;
        if self.depth > 0 {
            self.declared_ahead.push((name.clone(), ex.double));
            self.line(&format!("{name} = {};", ex.text));
        } else {
            let ty = if ex.double { "double" } else { "int64_t" };
            self.line(&format!("const {ty} {name} = {};", ex.text));
        }
        self.done[n] = Some(Ex { text: name, prec: Prec::Atom, double: ex.double });
    }

    /// Keeps a value as an expression, if it is used once, or gives it a name.
    fn keep(&mut self, n: usize, ex: Ex) {
        if self.uses[n] > 1 && ex.prec != Prec::Atom {
            self.name(n, &ex);
        } else {
            self.done[n] = Some(ex);
        }
    }

    fn run(&mut self) -> Result<(), Refused> {
        let ops = &self.body.ops;
        let sets = ops.iter().filter(|op| matches!(*op, Op::Set(l, r, _) if self.spot(*l, *r).is_some())).count();
        let late = self.late_check(sets);
        for (n, op) in ops.iter().enumerate() {
            if op.is_idle() && self.uses[n] == 0 {
                continue;
            }
            match *op {
                Op::Const(_) => {}
                Op::Get(lane, reg) => {
                    let ex = self.spot(lane, reg).cloned().unwrap_or_else(|| word(0));
                    // The words are written at the end, one after the other.
                    let needs_name = sets > 1 || self.uses[n] > 1;
                    if needs_name && ex.prec != Prec::Literal { self.name(n, &ex) } else { self.done[n] = Some(ex) }
                }
                Op::Set(lane, reg, v) => self.set(lane, reg, v, late),
                Op::Kernel(kernel, args) => self.kernel(n, kernel, args),
                Op::Second(_) => {
                    let ex = Ex::atom("(int64_t)out[1]", false);
                    self.name(n, &ex);
                }
                Op::Finite(_) | Op::Ordered(..) | Op::Require(_) | Op::Overflow(_) => self.check(n, *op, late),
                Op::If(c) => {
                    let c = self.value(c);
                    let c = if c.double { c.into_word() } else { c };
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
                Op::Load(..) | Op::Store(..) | Op::Bound(_) | Op::Interpret | Op::Reload(..) => {
                    return Err(Refused::Operation);
                }
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
        Ok(())
    }

    /// The value whose check for being finite is made on the word that it is written to, after that is written. Its
    /// uses are counted without the check.
    fn late_check(&mut self, sets: usize) -> Option<V> {
        let ops = &self.body.ops;
        if sets == 1
            && !ops.iter().any(|op| matches!(op, Op::If(_)))
            && let Some(Op::Set(lane, reg, v)) =
                ops.iter().find(|op| matches!(op, Op::Set(l, r, _) if self.spot(*l, *r).is_some()))
            && self.spot(*lane, *reg).is_some_and(|s| s.double)
        {
            let made = |(n, op): &(usize, &Op)| **op == Op::Finite(*v) && !self.redundant[*n];
            let checks = ops.iter().enumerate().filter(made).count() as u32;
            let checks = if self.finite { checks } else { 0 };
            if checks > 0 && self.uses[v.0 as usize] == checks + 1 && !matches!(ops[v.0 as usize], Op::Get(..)) {
                self.uses[v.0 as usize] = 1;
                return Some(*v);
            }
        }
        None
    }

    /// Writes a word.
    fn set(&mut self, lane: u8, reg: u8, v: V, late: Option<V>) {
        let Some(to) = self.spot(lane, reg).cloned() else { return };
        let from = if to.double { self.real(v) } else { self.int(v) };
        self.assign(&to.text, &from.text);
        if late == Some(v) {
            self.line(&format!("CHECK({});", to.text));
        }
    }

    /// An operation that checks something and has no value.
    fn check(&mut self, n: usize, op: Op, late: Option<V>) {
        let text = match op {
            Op::Finite(v) if self.finite && !self.redundant[n] && late != Some(v) => {
                format!("CHECK({});", self.real(v).text)
            }
            Op::Ordered(a, b) if self.finite => {
                format!("bad |= isunordered({}, {});", self.real(a).text, self.real(b).text)
            }
            Op::Require(v) => format!("bad |= !{};", self.int(v).at(Prec::Unary)),
            Op::Overflow(v) if !self.check_merged[n] => format!("bad |= {};", self.int(v).at(Prec::Atom)),
            _ => return,
        };
        self.line(&text);
    }

    /// An operation whose value is an expression of its operands.
    fn expression(&mut self, n: usize, op: Op) {
        let ex = match op {
            // All bits of a double but its sign are zero where it is.
            Op::Bin(Bin::Shl, a, b)
                if self.body.ops[b.0 as usize] == Op::Const(1) && self.value(a).double && self.is_condition(n) =>
            {
                Ex::new(format!("{} != 0.0", self.real(a).at(Prec::Sum)), Prec::Other, false)
            }
            Op::Bin(_, a, b) if let Some(builtin) = self.checked[n] => return self.checked_sum(n, builtin, a, b),
            Op::Bin(op, a, b) => bin(op, self.int(a), self.int(b)),
            Op::Not(a) => Ex::new(format!("~{}", self.int(a).at(Prec::Unary)), Prec::Unary, false),
            Op::Compare(cond, a, b) => integers(cond, &self.int(a), &self.int(b)),
            Op::CompareFloat(cond, a, b) => Ex::new(
                format!("{} {} {}", self.real(a).at(Prec::Sum), operator(cond), self.real(b).at(Prec::Sum)),
                Prec::Other,
                false,
            ),
            Op::Select(c, a, b) => {
                let c = self.int(c);
                return self.choose(n, &c, a, b);
            }
            Op::Phi(a, b) => {
                let c = self.ended.clone().unwrap_or_else(|| word(1));
                return self.choose(n, &c, a, b);
            }
            Op::Float(op, a, b) => float(op, &self.real(a), &self.real(b)),
            Op::Sqrt(a) => Ex::call("sqrt", &[&self.real(a)], true),
            Op::Abs(a) => Ex::call("fabs", &[&self.real(a)], true),
            Op::FromInt(a) => Ex::new(format!("(double){}", self.int(a).at(Prec::Unary)), Prec::Unary, true),
            Op::Canonical(a) => Ex::call("canonical", &[&self.real(a)], true),
            _ => return,
        };
        self.keep(n, ex);
    }

    /// A sum or product that the C compiler's builtin checks for wrapping where it is made.
    fn checked_sum(&mut self, n: usize, builtin: &str, a: V, b: V) {
        let name = format!("t{}", self.next);
        *self.next += 1;
        if self.depth > 0 {
            self.declared_ahead.push((name.clone(), false));
        } else {
            self.line(&format!("int64_t {name};"));
        }
        let (a, b) = (self.int(a), self.int(b));
        self.line(&format!("if (WRAPS({builtin}, {}, {}, {name})) return 1;", a.text, b.text));
        self.done[n] = Some(Ex::atom(name, false));
    }

    fn choose(&mut self, n: usize, c: &Ex, a: V, b: V) {
        let double = self.value(a).double || self.value(b).double;
        let (a, b) = if double { (self.real(a), self.real(b)) } else { (self.int(a), self.int(b)) };
        let text = format!("{} ? {} : {}", c.at(Prec::Sum), a.at(Prec::Sum), b.at(Prec::Sum));
        self.keep(n, Ex::new(text, Prec::Other, double));
    }

    /// An assignment, in the short form where there is one.
    fn assign(&mut self, to: &str, from: &str) {
        let mut text = format!("{to} = {from};");
        for op in [" + ", " - "] {
            if let Some(rest) = from.strip_prefix(to).and_then(|r| r.strip_prefix(op)) {
                // Sums are written from the left: only one operator may follow.
                if is_product(rest) {
                    text = format!("{to} {}= {rest};", op.trim());
                }
            }
        }
        self.line(&text);
    }

    fn kernel(&mut self, n: usize, kernel: u32, args: [V; 4]) {
        let name = self.kernels.get(kernel as usize).cloned().unwrap_or_default();
        if let Some((_, division)) = DIVISIONS.iter().find(|(kernel, _)| *kernel == name) {
            let (a, b) = (self.int(args[0]), self.int(args[1]));
            if !b.text.parse::<i64>().is_ok_and(|k| k != 0) {
                self.line(&format!("if ({} == 0) return 1;", b.at(Prec::Sum)));
            }
            let ex = Ex::call(division, &[&a, &b], false);
            self.name(n, &ex);
            return;
        }
        let pair = is_pair(&name);
        let arity = self.arity(kernel);
        let mut text = format!("{name}(ENV{}", if pair { ", out" } else { "" });
        for v in &args[..arity] {
            let _ = write!(text, ", {}", self.int(*v).text);
        }
        text.push(')');
        if pair {
            self.line(&format!("if ({text}) return 1;"));
            if self.uses[n] > 0 {
                self.name(n, &Ex::atom("(int64_t)out[0]", false));
            }
            return;
        }
        let result = format!("t{}", self.next);
        *self.next += 1;
        if self.depth > 0 {
            // What it gives is looked at later where this is not run, too.
            self.declared_ahead.push((result.clone(), false));
            self.line(&format!("{{ const result r = {text}; {result} = WORD(r); bad |= STATUS(r); }}"));
            self.done[n] = Some(Ex::atom(result, false));
        } else {
            self.line(&format!("const result {result} = {text};"));
            self.line(&format!("bad |= STATUS({result});"));
            self.done[n] = Some(Ex::call("WORD", &[&Ex::atom(result, false)], false));
        }
    }
}

/// Divisions, which C has operators for: the kernel, and the function of the prelude.
const DIVISIONS: &[(&str, &str)] = &[
    ("int_quot_2", "quotient"),
    ("int_rem_2", "rest"),
    ("int_div_2", "quotient_down"),
    ("int_modulo_2", "modulo"),
    ("int_udiv_2", "unsigned_quotient"),
    ("int_umod_2", "unsigned_rest"),
];

/// Whether a kernel of this name has two results.
fn is_pair(name: &str) -> bool {
    name.rsplit('_').nth(1) == Some("pair")
}
