//! Assertions that always hold: what was asserted before of the same words, what follows from the bounds of loops, and constants.
//!
//! A variable's value is known by a number that changes wherever the variable may; facts are of such values. A fact holds from where it
//! is found to the end of the block, and in the blocks within. Bounds are whole numbers: a variable's word, read as a signed integer, plus a constant.

use pendula_isa::num::compare;
use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::{Acc, Cond, Env, Ty};

use crate::ir::effects::{Effects, Set, Summaries};
use crate::ir::{At, Block, Condition, IrFunction, Operand, Place, Step, Stmt, Test, Var, Why};
use crate::passes::table::{Bag, Map};

/// A variable and the number of its value.
type Value = (Var, u64);

/// A comparison's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Side {
    Const(u64),
    Var(Value),
    Mem { base: Option<Value>, index: Option<Value>, offset: i64, region: u64, memory: u64 },
}

/// A whole number: a variable's value, if there is one, plus a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sum {
    root: Option<Value>,
    add: i64,
}

/// How many bounds of a value are kept, lower and upper.
const BOUNDS: usize = 6;

#[derive(Clone, Debug, Default)]
struct Bounds {
    low: Vec<Sum>,
    high: Vec<Sum>,
}

/// Something to be taken back where a block ends.
enum Log {
    Seen((Cond, Ty, Side, Side)),
    Bound(Value, bool),
}

struct Facts<'a> {
    summaries: &'a Summaries,
    vars: Map<Var, u64>,
    regions: Map<u32, u64>,
    memory: u64,
    next: u64,
    seen: Bag<(Cond, Ty, Side, Side)>,
    /// Integers that are another plus a constant, modulo 2^64.
    sums: Map<Value, Sum>,
    bounds: Map<Value, Bounds>,
    log: Vec<Log>,
    /// Whether an array has just ended.
    ended: bool,
}

pub(super) fn run(function: &mut IrFunction, summaries: &Summaries) {
    let mut facts = Facts {
        summaries,
        vars: Map::default(),
        regions: Map::default(),
        memory: 0,
        next: 0,
        seen: Bag::default(),
        sums: Map::default(),
        bounds: Map::default(),
        log: Vec::new(),
        ended: false,
    };
    facts.block(&mut function.body);
}

impl Facts<'_> {
    fn block(&mut self, block: &mut Block) {
        if !block.iter_mut().any(|s| is_branch(&mut s.stmt).is_some()) {
            block.retain_mut(|s| self.statement(s));
            return;
        }
        let before = std::mem::take(block);
        for mut s in before {
            if let Some(branch) = self.decided(&mut s.stmt) {
                self.block(branch);
                block.append(branch);
            } else if self.statement(&mut s) {
                block.push(s);
            }
        }
    }

    /// The branch that a condition certainly leads to, if it is the same before and after it.
    fn decided<'b>(&self, stmt: &'b mut Stmt) -> Option<&'b mut Block> {
        let (test, then, otherwise) = is_branch(stmt)?;
        let holds = if self.holds(&test) {
            true
        } else if matches!(test.ty, Ty::Int | Ty::Q) && self.holds(&test.negated()) {
            false
        } else {
            return None;
        };
        let branch = if holds { then } else { otherwise };
        let e = Effects::of_block(self.summaries, branch);
        (!e.changes(test.a) && !e.changes(test.b)).then_some(branch)
    }

    fn forget(&mut self, mark: usize) {
        for entry in self.log.drain(mark..) {
            match entry {
                Log::Seen(fact) => {
                    self.seen.remove(&fact);
                }
                Log::Bound(value, high) => {
                    if let Some(bounds) = self.bounds.get_mut(&value) {
                        if high {
                            bounds.high.pop()
                        } else {
                            bounds.low.pop()
                        };
                    }
                }
            }
        }
    }

    fn change(&mut self, v: Var) {
        self.next += 1;
        self.vars.insert(v, self.next);
    }

    fn change_all(&mut self, e: &Effects) {
        self.change_vars(&e.writes);
        for r in e.regions_written.iter() {
            self.next += 1;
            self.regions.insert(r, self.next);
        }
        if e.writes_memory {
            self.next += 1;
            self.memory = self.next;
        }
    }

    fn change_vars(&mut self, set: &Set) {
        set.iter().for_each(|v| self.change(Var(v)));
    }

    fn value(&self, v: Var) -> Value {
        (v, self.vars.get(&v).copied().unwrap_or(0))
    }

    fn side(&self, o: Operand) -> Side {
        match o {
            Operand::Const(k) => Side::Const(k),
            Operand::Var(v) => Side::Var(self.value(v)),
            Operand::Mem(m) => Side::Mem {
                base: m.base.map(|v| self.value(v)),
                index: m.index.map(|v| self.value(v)),
                offset: m.offset,
                region: (u64::from(m.region.0) << 32) ^ self.regions.get(&m.region.0).copied().unwrap_or(0),
                memory: self.memory,
            },
        }
    }

    fn sum(&self, o: Operand) -> Option<Sum> {
        match o {
            Operand::Const(k) => Some(Sum { root: None, add: k.cast_signed() }),
            Operand::Var(v) => Some(self.sum_of(self.value(v))),
            Operand::Mem(_) => None,
        }
    }

    fn sum_of(&self, value: Value) -> Sum {
        self.sums.get(&value).copied().unwrap_or(Sum { root: Some(value), add: 0 })
    }

    /// Whether the statement stays.
    fn statement(&mut self, s: &mut At) -> bool {
        let summaries = self.summaries;
        match &s.stmt {
            Stmt::Array { free, .. } => self.ended = *free,
            Stmt::Assert { .. } | Stmt::Ancilla { .. } | Stmt::Update { .. } | Stmt::With { .. } => {}
            Stmt::Permute { .. }
            | Stmt::Call { .. }
            | Stmt::If { .. }
            | Stmt::While { .. }
            | Stmt::For { .. }
            | Stmt::Span { .. }
            | Stmt::Show { .. }
            | Stmt::Print(_) => self.ended = false,
        }
        match &mut s.stmt {
            Stmt::Assert { test, why, says: _ } => {
                // What is said of an array's size where it ends holds after what was said where it began. But run backward it comes first, and
                // keeps memory from being taken for what is none.
                let guards = self.ended && *why == Why::Shape;
                let certain = if guards { is_true(test) } else { self.holds(test) };
                if certain {
                    return false;
                }
                self.learn(test);
            }
            Stmt::Ancilla { var, free, care: _ } => {
                self.change(*var);
                if !*free {
                    self.sums.insert(self.value(*var), Sum { root: None, add: 0 });
                }
            }
            Stmt::Update { acc, inverse, func, dst: Place::Var(v), args } => {
                let sum = self.updated(*acc, *inverse, *func, *v, args);
                let mask = self.masked(*acc, *inverse, *func, *v, args);
                self.change(*v);
                let value = self.value(*v);
                if let Some(sum) = sum {
                    self.sums.insert(value, sum);
                }
                if let Some(mask) = mask {
                    self.bound(value, false, Sum { root: None, add: 0 });
                    self.bound(value, true, Sum { root: None, add: mask });
                }
            }
            Stmt::With { compute, body, .. } => {
                self.block(compute);
                self.block(body);
                let e = Effects::of_block(summaries, compute);
                self.change_all(&e);
            }
            Stmt::Span { body, .. } => self.block(body),
            Stmt::If { pre, post, then, otherwise } => {
                self.condition(pre);
                let mark = self.log.len();
                if pre.compute.is_empty() {
                    self.learn(&pre.test);
                }
                self.block(then);
                self.forget(mark);
                let e = Effects::of_block(summaries, then);
                self.change_all(&e);
                if pre.compute.is_empty() && matches!(pre.test.ty, Ty::Int | Ty::Q) && e.writes.is_empty() {
                    self.learn(&pre.test.negated());
                }
                self.block(otherwise);
                self.forget(mark);
                let e = Effects::of_block(summaries, otherwise);
                self.change_all(&e);
                self.condition(post);
            }
            Stmt::While { pre, post, first, body } => {
                let e = Effects::of_block(summaries, body).and(&Effects::of_block(summaries, first));
                self.change_all(&e);
                let mark = self.log.len();
                self.block(first);
                self.condition(pre);
                if pre.compute.is_empty() {
                    self.learn(&pre.test);
                }
                self.block(body);
                self.forget(mark);
                self.change_all(&e);
                self.condition(post);
            }
            Stmt::For { var, first, last, step, body } => {
                let (first_value, last_value) = (*first, *last);
                let ends = [self.sum(first_value), self.sum(last_value)];
                let mut e = Effects::of_block(summaries, body);
                self.change_all(&e);
                self.change(*var);
                let mark = self.log.len();
                if let Step::Const(step) = step
                    && *step != 0
                {
                    let [first, last] = ends;
                    let (low, high) = if *step > 0 { (first, last) } else { (last, first) };
                    let value = self.value(*var);
                    self.loop_bound(value, false, low);
                    self.loop_bound(value, true, high);
                    // There is a turn.
                    if !matches!((ends[0], ends[1]), (None, _) | (_, None)) {
                        let (a, b) = if *step > 0 { (first_value, last_value) } else { (last_value, first_value) };
                        self.learn(&Test { cond: Cond::Le, ty: Ty::Int, a, b });
                    }
                }
                self.block(body);
                self.forget(mark);
                e.writes = e.writes.iter().chain([var.0]).collect();
                self.change_all(&e);
            }
            Stmt::Update { dst: Place::Mem(_), .. }
            | Stmt::Permute { .. }
            | Stmt::Array { .. }
            | Stmt::Call { .. }
            | Stmt::Show { .. }
            | Stmt::Print(_) => {
                let e = Effects::of_stmt(summaries, &s.stmt);
                self.change_all(&e);
            }
        }
        true
    }

    fn condition(&mut self, c: &mut Condition) {
        let mark = self.log.len();
        self.block(&mut c.compute);
        self.forget(mark);
        let e = Effects::of_block(self.summaries, &c.compute);
        self.change_all(&e);
    }

    /// What a variable is after an update, if that is known.
    fn updated(&self, acc: Acc, inverse: bool, func: TableFn, v: Var, args: &[Operand]) -> Option<Sum> {
        let (Acc::Add, TableFn::Int(int_fn::Name::Id), [arg]) = (acc, func, args) else { return None };
        let (old, arg) = (self.sum_of(self.value(v)), self.sum(*arg)?);
        let add = if inverse { old.add.checked_sub(arg.add)? } else { old.add.checked_add(arg.add)? };
        match (old.root, arg.root) {
            (root, None) => Some(Sum { root, add }),
            (None, root) if !inverse => Some(Sum { root, add }),
            (Some(a), Some(b)) if inverse && a == b => Some(Sum { root: None, add }),
            (None | Some(_), Some(_)) => None,
        }
    }

    /// The greatest value of something that was zero and has a number's last bits now.
    fn masked(&self, acc: Acc, inverse: bool, func: TableFn, v: Var, args: &[Operand]) -> Option<i64> {
        let zero = self.sums.get(&self.value(v)) == Some(&Sum { root: None, add: 0 });
        let masks =
            matches!(func, TableFn::Int(int_fn::Name::And)) && (acc == Acc::Xor || (acc == Acc::Add && !inverse));
        let [a, b] = args else { return None };
        let mask = match (a, b) {
            (Operand::Const(k), _) | (_, Operand::Const(k)) => k.cast_signed(),
            (Operand::Var(_) | Operand::Mem(_), _) => return None,
        };
        (zero && masks && mask >= 0).then_some(mask)
    }

    fn bound(&mut self, value: Value, high: bool, bound: Sum) {
        let bounds = self.bounds.entry(value).or_default();
        let list = if high { &mut bounds.high } else { &mut bounds.low };
        if list.len() < BOUNDS && !list.contains(&bound) {
            list.push(bound);
            self.log.push(Log::Bound(value, high));
        }
    }

    /// A bound of a loop's variable: another number, if it is one without wrapping.
    fn loop_bound(&mut self, value: Value, high: bool, bound: Option<Sum>) {
        if let Some(sum) = bound
            && self.is_exact(sum)
        {
            self.bound(value, high, sum);
        }
    }

    /// Whether a sum does not wrap.
    fn is_exact(&self, sum: Sum) -> bool {
        let Some(root) = sum.root else { return true };
        let Some(bounds) = self.bounds.get(&root) else { return sum.add == 0 };
        let constant = |list: &[Sum], fits: &dyn Fn(i64) -> bool| list.iter().any(|b| b.root.is_none() && fits(b.add));
        match sum.add {
            0 => true,
            k if k < 0 => constant(&bounds.low, &|low| low.checked_add(k).is_some()),
            // Below a word by so much, it can be raised by so much.
            k => {
                constant(&bounds.high, &|high| high.checked_add(k).is_some())
                    || bounds
                        .high
                        .iter()
                        .any(|b| b.root.is_some() && b.add <= 0 && b.add.checked_add(k).is_some_and(|k| k <= 0))
            }
        }
    }

    /// Numbers that are not less (`high`), or not greater, than a sum that does not wrap.
    fn around(&self, sum: Sum, high: bool) -> Vec<Sum> {
        let mut out = vec![sum];
        if let Some(bounds) = sum.root.and_then(|r| self.bounds.get(&r)) {
            let list = if high { &bounds.high } else { &bounds.low };
            for b in list {
                if let Some(add) = b.add.checked_add(sum.add) {
                    out.push(Sum { root: b.root, add });
                }
            }
        }
        out
    }

    /// Whether a + `by` ≤ b, as signed integers.
    fn below(&self, a: Operand, b: Operand, by: i64) -> bool {
        let (Some(a), Some(b)) = (self.sum(a), self.sum(b)) else { return false };
        if !self.is_exact(a) || !self.is_exact(b) {
            return false;
        }
        let (high, low) = (self.around(a, true), self.around(b, false));
        high.iter()
            .any(|h| low.iter().any(|l| h.root == l.root && h.add.checked_add(by).is_some_and(|sum| sum <= l.add)))
    }

    fn is_seen(&self, test: &Test) -> bool {
        let (a, b) = (self.side(test.a), self.side(test.b));
        let seen = |cond| {
            self.seen.contains(&(cond, test.ty, a, b))
                || cond.exchanged().is_some_and(|c: Cond| self.seen.contains(&(c, test.ty, b, a)))
        };
        let stronger: &[Cond] = match test.cond {
            Cond::Le => &[Cond::Lt, Cond::Eq],
            Cond::Ge => &[Cond::Gt, Cond::Eq],
            Cond::Ne => &[Cond::Lt, Cond::Gt],
            Cond::Always | Cond::Eq | Cond::Lt | Cond::Gt | Cond::Ltu | Cond::Geu => &[],
        };
        seen(test.cond) || stronger.iter().any(|c| seen(*c))
    }

    /// Whether a comparison certainly holds.
    fn holds(&self, test: &Test) -> bool {
        let Test { cond, ty, a, b } = *test;
        if self.is_seen(test) {
            return true;
        }
        if ty != Ty::Int {
            return false;
        }
        if let (Some(Sum { root: None, add: a }), Some(Sum { root: None, add: b })) = (self.sum(a), self.sum(b)) {
            let (a, b) = (a.cast_unsigned(), b.cast_unsigned());
            return compare(Env::default(), cond, ty, a, b) == Ok(true);
        }
        let zero = Operand::Const(0);
        match cond {
            Cond::Always => true,
            Cond::Eq => matches!((self.sum(a), self.sum(b)), (Some(a), Some(b)) if a == b),
            Cond::Ne => self.below(a, b, 1) || self.below(b, a, 1),
            Cond::Lt => self.below(a, b, 1),
            Cond::Le => self.below(a, b, 0),
            Cond::Gt => self.below(b, a, 1),
            Cond::Ge => self.below(b, a, 0),
            Cond::Ltu => self.below(zero, a, 0) && self.below(a, b, 1),
            Cond::Geu => self.below(zero, b, 0) && self.below(b, a, 0),
        }
    }

    /// From here on, a comparison holds.
    fn learn(&mut self, test: &Test) {
        let fact = (test.cond, test.ty, self.side(test.a), self.side(test.b));
        if self.seen.insert(fact) {
            self.log.push(Log::Seen(fact));
        }
        if test.ty != Ty::Int {
            return;
        }
        let (a, b) = (self.sum(test.a), self.sum(test.b));
        let mut at_most = |a: Option<Sum>, b: Option<Sum>, by: i64| {
            let (Some(a), Some(b)) = (a, b) else { return };
            // Of two sums only those that are words themselves: others might wrap.
            if let (Sum { root: Some(root), add: 0 }, true) = (a, self.is_exact(b))
                && let Some(add) = b.add.checked_sub(by)
                && b.root != Some(root)
            {
                self.bound(root, true, Sum { root: b.root, add });
            }
            if let (Sum { root: Some(root), add: 0 }, true) = (b, self.is_exact(a))
                && let Some(add) = a.add.checked_add(by)
                && a.root != Some(root)
            {
                self.bound(root, false, Sum { root: a.root, add });
            }
        };
        match test.cond {
            Cond::Lt => at_most(a, b, 1),
            Cond::Le => at_most(a, b, 0),
            Cond::Gt => at_most(b, a, 1),
            Cond::Ge => at_most(b, a, 0),
            Cond::Eq => {
                at_most(a, b, 0);
                at_most(b, a, 0);
            }
            Cond::Ltu => {
                // Below a number that is not negative.
                if let Some(Sum { root: None, add }) = b
                    && add >= 0
                {
                    at_most(Some(Sum { root: None, add: 0 }), a, 0);
                    at_most(a, b, 1);
                }
            }
            Cond::Always | Cond::Ne | Cond::Geu => {}
        }
    }
}

/// Whether a comparison is one of constants, and holds.
fn is_true(test: &Test) -> bool {
    let (Operand::Const(a), Operand::Const(b)) = (test.a, test.b) else { return false };
    compare(Env::default(), test.cond, test.ty, a, b) == Ok(true)
}

/// A branch on a comparison that is asked again after it, with nothing computed for it.
fn is_branch(stmt: &mut Stmt) -> Option<(Test, &mut Block, &mut Block)> {
    let Stmt::If { pre, post, then, otherwise } = stmt else { return None };
    let plain = pre.compute.is_empty() && post.compute.is_empty() && pre.test == post.test;
    plain.then_some((pre.test, then, otherwise))
}
