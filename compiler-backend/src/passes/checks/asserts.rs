//! Removes assertions that always hold: those asserted before of the same words, those that follow from the bounds of
//! loops, and comparisons of constants.
//!
//! Each variable's value has a version number, which changes wherever the variable may change; facts are about versions. A
//! fact holds from where it is found to the end of the block, and in the blocks within.

use pendula_isa::num::compare;
use pendula_isa::{Cond, Env, Ty};

use super::bounds::{Bounds, Sum};
use crate::ir::effects::{Effects, Set, Summaries};
use crate::ir::{AssertKind, Block, Condition, IrFunction, LocatedStmt, Operand, Place, Step, Stmt, Test, Var};
use crate::passes::table::{FastMap, FastSet};

/// A variable and the version of its value.
pub(super) type Value = (Var, u64);

/// One side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Side {
    Const(u64),
    Var(Value),
    Mem { base: Option<Value>, index: Option<Value>, offset: i64, region: u64, memory: u64 },
}

/// A fact that is removed where its block ends.
pub(super) enum UndoEntry {
    Seen((Cond, Ty, Side, Side)),
    Bound(Value, bool),
}

pub(super) struct Facts<'a> {
    summaries: &'a Summaries,
    vars: FastMap<Var, u64>,
    regions: FastMap<u32, u64>,
    memory: u64,
    next: u64,
    pub(super) seen: FastSet<(Cond, Ty, Side, Side)>,
    /// Integers that are another value plus a constant, modulo 2^64.
    pub(super) sums: FastMap<Value, Sum>,
    pub(super) bounds: FastMap<Value, Bounds>,
    pub(super) undo_log: Vec<UndoEntry>,
    /// True directly after the end of an array.
    array_ended: bool,
}

pub(super) fn run(function: &mut IrFunction, summaries: &Summaries) {
    let mut facts = Facts {
        summaries,
        vars: FastMap::default(),
        regions: FastMap::default(),
        memory: 0,
        next: 0,
        seen: FastSet::default(),
        sums: FastMap::default(),
        bounds: FastMap::default(),
        undo_log: Vec::new(),
        array_ended: false,
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
            if let Some(branch) = self.taken_branch(&mut s.stmt) {
                self.block(branch);
                block.append(branch);
            } else if self.statement(&mut s) {
                block.push(s);
            }
        }
    }

    /// The branch that is certainly taken, if the condition is the same before and after it.
    fn taken_branch<'b>(&self, stmt: &'b mut Stmt) -> Option<&'b mut Block> {
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
        for entry in self.undo_log.drain(mark..) {
            match entry {
                UndoEntry::Seen(fact) => {
                    self.seen.remove(&fact);
                }
                UndoEntry::Bound(value, high) => {
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

    pub(super) fn value(&self, v: Var) -> Value {
        (v, self.vars.get(&v).copied().unwrap_or(0))
    }

    pub(super) fn side(&self, o: Operand) -> Side {
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

    /// Works on a statement. Returns false if it is to be removed.
    fn statement(&mut self, s: &mut LocatedStmt) -> bool {
        let summaries = self.summaries;
        if let Stmt::Array { free, .. } = &s.stmt {
            self.array_ended = *free;
        } else if !matches!(
            s.stmt,
            Stmt::Assert { .. } | Stmt::Ancilla { .. } | Stmt::Update { .. } | Stmt::With { .. }
        ) {
            self.array_ended = false;
        }
        match &mut s.stmt {
            Stmt::Assert { test, why, reason: _ } => {
                // An assertion about an array's size at its end follows from the one at its beginning. But in a backward run it
                // comes first, and prevents an allocation of the wrong size.
                let guards = self.array_ended && *why == AssertKind::Shape;
                let certain = if guards { is_true(test) } else { self.holds(test) };
                if certain {
                    return false;
                }
                self.learn(test);
            }
            Stmt::Ancilla { var, free, checks: _ } => {
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
            Stmt::If { pre, post, then, otherwise } => self.branch((pre, post), then, otherwise),
            Stmt::While { pre, post, first, body } => self.while_loop((pre, post), first, body),
            Stmt::For { var, first, last, step, body, .. } => self.for_loop(*var, (*first, *last), *step, body),
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

    fn branch(&mut self, (pre, post): (&mut Condition, &mut Condition), then: &mut Block, otherwise: &mut Block) {
        let summaries = self.summaries;
        self.condition(pre);
        let mark = self.undo_log.len();
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

    fn while_loop(&mut self, (pre, post): (&mut Condition, &mut Condition), first: &mut Block, body: &mut Block) {
        let summaries = self.summaries;
        let e = Effects::of_block(summaries, body).and(&Effects::of_block(summaries, first));
        self.change_all(&e);
        let mark = self.undo_log.len();
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

    fn for_loop(&mut self, var: Var, (first, last): (Operand, Operand), step: Step, body: &mut Block) {
        let ends = [self.sum(first), self.sum(last)];
        let mut e = Effects::of_block(self.summaries, body);
        self.change_all(&e);
        self.change(var);
        let mark = self.undo_log.len();
        if let Step::Const(step) = step
            && step != 0
        {
            let [low, high] = if step > 0 { ends } else { [ends[1], ends[0]] };
            let value = self.value(var);
            self.loop_bound(value, false, low);
            self.loop_bound(value, true, high);
            // Within the loop there is an iteration.
            if !matches!((ends[0], ends[1]), (None, _) | (_, None)) {
                let (a, b) = if step > 0 { (first, last) } else { (last, first) };
                self.learn(&Test::int(Cond::Le, a, b));
            }
        }
        self.block(body);
        self.forget(mark);
        e.writes = e.writes.iter().chain([var.0]).collect();
        self.change_all(&e);
    }

    fn condition(&mut self, c: &mut Condition) {
        let mark = self.undo_log.len();
        self.block(&mut c.compute);
        self.forget(mark);
        let e = Effects::of_block(self.summaries, &c.compute);
        self.change_all(&e);
    }
}

/// Whether a comparison is one of constants, and holds.
fn is_true(test: &Test) -> bool {
    let (Operand::Const(a), Operand::Const(b)) = (test.a, test.b) else { return false };
    compare(Env::default(), test.cond, test.ty, a, b) == Ok(true)
}

/// A branch whose two conditions are the same comparison and compute nothing.
fn is_branch(stmt: &mut Stmt) -> Option<(Test, &mut Block, &mut Block)> {
    let Stmt::If { pre, post, then, otherwise } = stmt else { return None };
    let plain = pre.compute.is_empty() && post.compute.is_empty() && pre.test == post.test;
    plain.then_some((pre.test, then, otherwise))
}
