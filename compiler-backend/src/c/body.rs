//! Recorded operations as C: expressions where a value is used once, constants
//! with a name where it is used more often.

use std::fmt::Write as _;

use pendula_codegen::cc::operator;
use pendula_codegen::ops::{Bin, Body, Float, Op, V};
use pendula_isa::types::Cond;

use super::Refused;
use super::text::{Ex, Prec, double, word};

/// An operand of a statement: in each lane the place where it stands in C, or what it is if it has no word there.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    /// By lane: the expression, and whether it is written.
    pub(super) lanes: [Option<Ex>; pendula_isa::adjoint::LANES],
}

/// Writes one statement's operations.
pub(super) struct Printer<'a> {
    body: &'a Body,
    spots: &'a [Option<Spot>],
    kernels: &'a [String],
    /// Whether infinite numbers and NaN are looked for.
    finite: bool,
    /// The sums and products whose wrapping is looked at where they are made: the builtin that does, by operation.
    checked: Vec<Option<&'static str>>,
    /// Their checks, which are made with them.
    noted: Vec<bool>,
    uses: Vec<u32>,
    /// Checks that later ones make needless.
    spared: Vec<bool>,
    done: Vec<Option<Ex>>,
    lines: Vec<String>,
    depth: usize,
    /// Conditions of the conditionals that are open, and of the one that ended last.
    open: Vec<Ex>,
    ended: Option<Ex>,
    /// Names declared ahead, because they are made in a conditional.
    ahead: Vec<(String, bool)>,
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
        noted: vec![false; body.ops.len()],
        uses: vec![0; body.ops.len()],
        spared: Vec::new(),
        done: vec![None; body.ops.len()],
        lines: Vec::new(),
        depth: 0,
        open: Vec::new(),
        ended: None,
        ahead: Vec::new(),
        next,
    };
    p.spared = p.shown();
    if early {
        p.find_checked();
    }
    p.count(result);
    p.run()?;
    let result = result.map(|v| p.value(v));
    for double in [true, false] {
        let names: Vec<&str> = p.ahead.iter().filter(|(_, d)| *d == double).map(|(n, _)| n.as_str()).collect();
        if !names.is_empty() {
            p.lines.insert(0, format!("{} {};", if double { "double" } else { "int64_t" }, names.join(", ")));
        }
    }
    Ok((p.lines, result))
}

impl Printer<'_> {
    /// Which checks for being finite are shown to hold by a later one: sums and products of what is not finite are not.
    fn shown(&self) -> Vec<bool> {
        let mut shown = vec![false; self.body.ops.len()];
        let mut spared = vec![false; self.body.ops.len()];
        let mut depth = 0;
        for (n, op) in self.body.ops.iter().enumerate().rev() {
            match *op {
                // What is checked in a conditional is so there only.
                Op::End => depth += 1,
                Op::If(_) => depth -= 1,
                Op::Finite(v) if depth == 0 => spared[n] = std::mem::replace(&mut shown[v.0 as usize], true),
                Op::Float(Float::Add | Float::Sub | Float::Mul, a, b) if shown[n] => {
                    shown[a.0 as usize] = true;
                    shown[b.0 as usize] = true;
                }
                Op::Float(Float::Div, a, _) | Op::Sqrt(a) | Op::Abs(a) if shown[n] => shown[a.0 as usize] = true,
                _ => {}
            }
        }
        spared
    }

    /// Finds checks of sums and products, as they are recorded, that the C compiler has builtins for.
    fn find_checked(&mut self) {
        let ops = &self.body.ops;
        let op = |v: V| ops[v.0 as usize];
        for (n, check) in ops.iter().enumerate() {
            let Op::Overflow(v) = *check else { continue };
            let found = match op(v) {
                Op::Compare(Cond::Lt, signs, zero) if op(zero) == Op::Const(0) => match op(signs) {
                    Op::Bin(Bin::And, first, second) => match (op(first), op(second)) {
                        (Op::Bin(Bin::Xor, a, sum), Op::Bin(Bin::Xor, b, other)) => match op(sum) {
                            Op::Bin(Bin::Add, x, y) if (x, y) == (a, b) && other == sum => Some((sum, "add")),
                            Op::Bin(Bin::Sub, x, y) if (x, y) == (a, b) && other == a => Some((sum, "sub")),
                            // A constant is added with the other sign.
                            Op::Bin(Bin::Add, x, y) if x == a && other == a => match (op(y), op(b)) {
                                (Op::Const(y), Op::Const(b)) if y == b.wrapping_neg() && b != 1 << 63 => {
                                    Some((sum, "add"))
                                }
                                _ => None,
                            },
                            _ => None,
                        },
                        _ => None,
                    },
                    _ => None,
                },
                Op::Compare(Cond::Ne, high, sign) => match (op(high), op(sign)) {
                    (Op::Bin(Bin::MulHigh, a, b), Op::Bin(Bin::Sar, low, _)) if op(low) == Op::Bin(Bin::Mul, a, b) => {
                        Some((low, "mul"))
                    }
                    _ => None,
                },
                _ => None,
            };
            if let Some((sum, name)) = found {
                self.checked[sum.0 as usize] = Some(name);
                self.noted[n] = true;
            }
        }
    }

    /// How often each value is used by something that is needed.
    fn count(&mut self, result: Option<V>) {
        if let Some(v) = result {
            self.uses[v.0 as usize] += 1;
        }
        for (n, op) in self.body.ops.iter().enumerate().rev() {
            let lost = match *op {
                Op::Set(lane, reg, _) => self.spot(lane, reg).is_none(),
                Op::Finite(_) => !self.finite || self.spared[n],
                Op::Ordered(..) => !self.finite,
                Op::Overflow(_) => self.noted[n],
                _ => false,
            };
            if self.checked[n].is_some() {
                self.uses[n] += 1;
            }
            if lost || (op.is_idle() && self.uses[n] == 0) {
                continue;
            }
            for v in op.uses() {
                self.uses[v.0 as usize] += 1;
            }
            if let Op::Kernel(k, args) = op {
                // Unused places repeat the first argument.
                let arity = self.arity(*k);
                for v in &args[arity..] {
                    self.uses[v.0 as usize] -= 1;
                }
            }
        }
    }

    /// Whether a value is only asked whether it is zero.
    fn is_condition(&self, n: usize) -> bool {
        let v = V(n as u32);
        self.body.ops.iter().all(|op| match *op {
            Op::If(_) => true,
            Op::Select(_, a, b) => a != v && b != v,
            op => op.uses().all(|u| u != v),
        })
    }

    fn arity(&self, kernel: u32) -> usize {
        let name = self.kernels.get(kernel as usize).map_or("", String::as_str);
        name.rsplit('_').next().and_then(|n| n.parse().ok()).unwrap_or(4).min(4)
    }

    fn spot(&self, lane: u8, reg: u8) -> Option<&Ex> {
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
            self.ahead.push((name.clone(), ex.double));
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
        // What is written last may be looked at where it has been written.
        let mut late: Option<V> = None;
        if sets == 1
            && !ops.iter().any(|op| matches!(op, Op::If(_)))
            && let Some(Op::Set(lane, reg, v)) =
                ops.iter().find(|op| matches!(op, Op::Set(l, r, _) if self.spot(*l, *r).is_some()))
            && self.spot(*lane, *reg).is_some_and(|s| s.double)
        {
            let made = |(n, op): &(usize, &Op)| **op == Op::Finite(*v) && !self.spared[*n];
            let checks = ops.iter().enumerate().filter(made).count() as u32;
            let checks = if self.finite { checks } else { 0 };
            if checks > 0 && self.uses[v.0 as usize] == checks + 1 && !matches!(ops[v.0 as usize], Op::Get(..)) {
                late = Some(*v);
                self.uses[v.0 as usize] = 1;
            }
        }
        for (n, op) in ops.iter().enumerate() {
            if op.is_idle() && self.uses[n] == 0 {
                continue;
            }
            match *op {
                Op::Const(_) => {}
                Op::Get(lane, reg) => {
                    let ex = self.spot(lane, reg).cloned().unwrap_or_else(|| word(0));
                    // The words are written at the end, one after the other.
                    let hurry = sets > 1 || self.uses[n] > 1;
                    if hurry && ex.prec != Prec::Literal { self.name(n, &ex) } else { self.done[n] = Some(ex) }
                }
                // All bits of a double but its sign are zero where it is.
                Op::Bin(Bin::Shl, a, b)
                    if self.body.ops[b.0 as usize] == Op::Const(1) && self.value(a).double && self.is_condition(n) =>
                {
                    let ex = Ex::new(format!("{} != 0.0", self.real(a).at(Prec::Sum)), Prec::Other, false);
                    self.keep(n, ex);
                }
                Op::Bin(_, a, b) if let Some(builtin) = self.checked[n] => {
                    let name = format!("t{}", self.next);
                    *self.next += 1;
                    if self.depth > 0 {
                        self.ahead.push((name.clone(), false));
                    } else {
                        self.line(&format!("int64_t {name};"));
                    }
                    let (a, b) = (self.int(a), self.int(b));
                    self.line(&format!("if (WRAPS({builtin}, {}, {}, {name})) return 1;", a.text, b.text));
                    self.done[n] = Some(Ex::atom(name, false));
                }
                Op::Bin(op, a, b) => {
                    let ex = bin(op, self.int(a), self.int(b));
                    self.keep(n, ex);
                }
                Op::Not(a) => {
                    let ex = Ex::new(format!("~{}", self.int(a).at(Prec::Unary)), Prec::Unary, false);
                    self.keep(n, ex);
                }
                Op::Compare(cond, a, b) => {
                    let ex = integers(cond, &self.int(a), &self.int(b));
                    self.keep(n, ex);
                }
                Op::CompareFloat(cond, a, b) => {
                    let ex = Ex::new(
                        format!("{} {} {}", self.real(a).at(Prec::Sum), operator(cond), self.real(b).at(Prec::Sum)),
                        Prec::Other,
                        false,
                    );
                    self.keep(n, ex);
                }
                Op::Select(c, a, b) => {
                    let c = self.int(c);
                    self.choose(n, &c, a, b);
                }
                Op::Phi(a, b) => {
                    let c = self.ended.clone().unwrap_or_else(|| word(1));
                    self.choose(n, &c, a, b);
                }
                Op::Float(op, a, b) => {
                    let ex = float(op, &self.real(a), &self.real(b));
                    self.keep(n, ex);
                }
                Op::Sqrt(a) => {
                    let ex = Ex::call("sqrt", &[&self.real(a)], true);
                    self.keep(n, ex);
                }
                Op::Abs(a) => {
                    let ex = Ex::call("fabs", &[&self.real(a)], true);
                    self.keep(n, ex);
                }
                Op::FromInt(a) => {
                    let ex = Ex::new(format!("(double){}", self.int(a).at(Prec::Unary)), Prec::Unary, true);
                    self.keep(n, ex);
                }
                Op::Canonical(a) => {
                    let ex = Ex::call("canonical", &[&self.real(a)], true);
                    self.keep(n, ex);
                }
                Op::Kernel(kernel, args) => self.kernel(n, kernel, args),
                Op::Second(_) => {
                    let ex = Ex::atom("(int64_t)out[1]", false);
                    self.name(n, &ex);
                }
                Op::Set(lane, reg, v) => {
                    let Some(to) = self.spot(lane, reg).cloned() else { continue };
                    let from = if to.double { self.real(v) } else { self.int(v) };
                    self.assign(&to.text, &from.text);
                    if late == Some(v) {
                        self.line(&format!("CHECK({});", to.text));
                    }
                }
                Op::Finite(v) => {
                    if self.finite && !self.spared[n] && late != Some(v) {
                        let text = format!("CHECK({});", self.real(v).text);
                        self.line(&text);
                    }
                }
                Op::Ordered(a, b) => {
                    if self.finite {
                        let text = format!("bad |= isunordered({}, {});", self.real(a).text, self.real(b).text);
                        self.line(&text);
                    }
                }
                Op::Require(v) => {
                    let text = format!("bad |= !{};", self.int(v).at(Prec::Unary));
                    self.line(&text);
                }
                Op::Overflow(_) if self.noted[n] => {}
                Op::Overflow(v) => {
                    let text = format!("bad |= {};", self.int(v).at(Prec::Atom));
                    self.line(&text);
                }
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
            }
        }
        Ok(())
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
            self.ahead.push((result.clone(), false));
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

fn is_product(text: &str) -> bool {
    let mut depth = 0;
    let chars: Vec<char> = text.chars().collect();
    for (n, c) in chars.iter().enumerate() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '+' | '-' | '?' | '<' | '>' | '=' | '&' | '|' | '^' if depth == 0 && n > 0 && chars[n - 1] == ' ' => {
                return false;
            }
            _ => {}
        }
    }
    true
}

/// A comparison of integers.
pub(super) fn integers(cond: Cond, a: &Ex, b: &Ex) -> Ex {
    let text = match cond {
        Cond::Ltu | Cond::Geu => {
            format!("(word){} {} (word){}", a.at(Prec::Unary), operator(cond), b.at(Prec::Unary))
        }
        _ => format!("{} {} {}", a.at(Prec::Sum), operator(cond), b.at(Prec::Sum)),
    };
    Ex::new(text, Prec::Other, false)
}

fn bin(op: Bin, a: Ex, b: Ex) -> Ex {
    let shift = |b: &Ex| match b.text.parse::<u64>() {
        Ok(k) => (k & 63).to_string(),
        Err(_) => format!("({} & 63)", b.at(Prec::Unary)),
    };
    let other = |sign: &str| Ex::new(format!("{} {sign} {}", a.at(Prec::Unary), b.at(Prec::Unary)), Prec::Other, false);
    match op {
        Bin::Add if b.text.starts_with('-') && b.prec == Prec::Literal => {
            Ex::new(format!("{} - {}", a.at(Prec::Sum), &b.text[1..]), Prec::Sum, false)
        }
        Bin::Add => Ex::new(format!("{} + {}", a.at(Prec::Sum), b.at(Prec::Product)), Prec::Sum, false),
        Bin::Sub => Ex::new(format!("{} - {}", a.at(Prec::Sum), b.at(Prec::Product)), Prec::Sum, false),
        Bin::Mul => Ex::new(format!("{} * {}", a.at(Prec::Product), b.at(Prec::Unary)), Prec::Product, false),
        Bin::MulHigh => Ex::call("mulhigh", &[&a, &b], false),
        Bin::And => other("&"),
        Bin::Or => other("|"),
        Bin::Xor => other("^"),
        Bin::Shl => Ex::new(format!("(int64_t)((word){} << {})", a.at(Prec::Unary), shift(&b)), Prec::Unary, false),
        Bin::Shr => Ex::new(format!("(int64_t)((word){} >> {})", a.at(Prec::Unary), shift(&b)), Prec::Unary, false),
        Bin::Sar => Ex::new(format!("{} >> {}", a.at(Prec::Unary), shift(&b)), Prec::Other, false),
        Bin::Rol => Ex::call("rol", &[&a, &b], false),
        Bin::Ror => Ex::call("ror", &[&a, &b], false),
    }
}

fn float(op: Float, a: &Ex, b: &Ex) -> Ex {
    let (sign, prec) = match op {
        Float::Add => ("+", Prec::Sum),
        Float::Sub => ("-", Prec::Sum),
        Float::Mul => ("*", Prec::Product),
        Float::Div => ("/", Prec::Product),
    };
    let right = if prec == Prec::Sum { Prec::Product } else { Prec::Unary };
    Ex::new(format!("{} {sign} {}", a.at(prec), b.at(right)), prec, true)
}
