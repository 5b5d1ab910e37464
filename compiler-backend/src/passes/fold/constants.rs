//! Constant propagation: replaces reads of ancillas that hold constants by the constants.
//!
//! In a computation that is undone, a variable qualifies only if it does not change before it is undone, neither later in
//! the computation nor in the body. A floating-point number qualifies only if it is the same word in a backward run, too:
//! see [`floats`](super::floats).

use std::cell::Cell;

use pendula_isa::num::log;
use pendula_isa::scalar::{ScalarDomain, value};
use pendula_isa::table::{ARITY, Row, TableFn, accumulate};
use pendula_isa::{Acc, Env, Format};

use super::floats::Floats;
use crate::ir::effects::{Effects, Set, Summaries};
use crate::ir::{Block, Condition, IrFunction, Operand, Place, Stmt, Test, Var};
use crate::passes::rewrite::{SlotMut, Substitution, slots_mut};
use crate::passes::table::FastMap;

/// Returns whether anything has changed.
pub(super) fn run(function: &mut IrFunction, format: Format, summaries: &Summaries) -> bool {
    let env = Env { format, ieee: false };
    let mut constants = Constants {
        summaries,
        env,
        values: FastMap::default(),
        floats: Floats::of(function, env, summaries),
        log: Vec::new(),
        blocked: FastMap::default(),
        changed: Cell::new(false),
    };
    constants.block(&mut function.body);
    constants.changed.get()
}

/// The result of an update of a known word, if the update neither traps nor raises the overflow flag.
pub(super) fn updated(env: Env, acc: Acc, inverse: bool, func: TableFn, word: u64, args: &[Operand]) -> Option<u64> {
    let x = computed(env, func, args)?;
    let mut scalar = ScalarDomain::new(env);
    let word = accumulate(&mut scalar, acc, inverse && !acc.self_inverse(), func.info().ty, word, x).ok()?;
    (!scalar.overflowed).then_some(word)
}

/// The value of a function of constants.
pub(super) fn computed(env: Env, func: TableFn, args: &[Operand]) -> Option<u64> {
    let mut words = [0; ARITY];
    for (n, arg) in args.iter().enumerate() {
        let Operand::Const(k) = arg else { return None };
        *words.get_mut(n)? = *k;
    }
    if let [first] = args.get(..1)?
        && args.len() < ARITY
        && let Operand::Const(k) = first
    {
        words[args.len()..].fill(*k);
    }
    value(env, func, words).ok()
}

struct Constants<'a> {
    summaries: &'a Summaries,
    env: Env,
    values: FastMap<Var, u64>,
    floats: Floats,
    /// Old values of variables, to be restored.
    log: Vec<(Var, Option<u64>)>,
    /// The number of reasons not to replace each variable.
    blocked: FastMap<Var, usize>,
    changed: Cell<bool>,
}

impl Constants<'_> {
    fn set(&mut self, v: Var, word: Option<u64>) {
        let old = match word {
            Some(k) => self.values.insert(v, k),
            None => self.values.remove(&v),
        };
        if old != word {
            self.log.push((v, old));
        }
    }

    fn forget(&mut self, set: &Set) {
        set.iter().for_each(|v| self.set(Var(v), None));
    }

    fn back(&mut self, mark: usize) {
        while self.log.len() > mark {
            match self.log.pop() {
                Some((v, Some(k))) => {
                    self.values.insert(v, k);
                }
                Some((v, None)) => {
                    self.values.remove(&v);
                }
                None => {}
            }
        }
    }

    fn block_all(&mut self, set: &Set) {
        set.iter().for_each(|v| *self.blocked.entry(Var(v)).or_default() += 1);
    }

    fn release(&mut self, set: &Set) {
        for v in set.iter() {
            if let Some(n) = self.blocked.get_mut(&Var(v)) {
                *n -= 1;
                if *n == 0 {
                    self.blocked.remove(&Var(v));
                }
            }
        }
    }

    fn known(&self, v: Var) -> Option<u64> {
        if self.blocked.contains_key(&v) { None } else { self.values.get(&v).copied() }
    }

    /// The constant that replaces a variable.
    fn replaced(&self, v: Var) -> Operand {
        let Some(k) = self.known(v) else { return Operand::Var(v) };
        self.changed.set(true);
        Operand::Const(k)
    }

    fn block(&mut self, block: &mut Block) {
        for s in block {
            self.statement(&mut s.stmt);
        }
    }

    /// Works on a computation that is undone after a body.
    fn compute(&mut self, compute: &mut Block, between: &Effects) {
        let effects: Vec<Effects> = compute.iter().map(|s| Effects::of_stmt(self.summaries, &s.stmt)).collect();
        self.block_all(&between.writes);
        effects.iter().for_each(|e| self.block_all(&e.writes));
        for (s, e) in compute.iter_mut().zip(&effects) {
            self.statement(&mut s.stmt);
            self.release(&e.writes);
        }
        self.release(&between.writes);
    }

    fn condition(&mut self, c: &mut Condition) {
        self.compute(&mut c.compute, &Effects::default());
        self.test(&mut c.test);
        let e = Effects::of_block(self.summaries, &c.compute);
        self.forget(&e.writes);
    }

    fn test(&self, t: &mut Test) {
        self.operand(&mut t.a);
        self.operand(&mut t.b);
    }

    fn operand(&self, o: &mut Operand) {
        let (var, region) = (|v: Var| self.replaced(v), |r| r);
        let substitution = Substitution { var: &var, region: &region };
        substitution.operand(o);
    }

    fn operands(&self, stmt: &mut Stmt) {
        // Factors and amounts of rows stay, since not every constant is possible there.
        let row = matches!(stmt, Stmt::Permute { row, .. } if *row != Row::Rot);
        let factor = matches!(stmt, Stmt::Update { func: TableFn::L(_), .. });
        let (var, region) = (|v: Var| self.replaced(v), |r| r);
        let substitution = Substitution { var: &var, region: &region };
        slots_mut(stmt, self.summaries, &mut |slot| match slot {
            SlotMut::Read(Operand::Var(v)) if row || (factor && self.known(*v) == Some(log::ZERO)) => {}
            SlotMut::Read(o) => {
                substitution.operand(o);
            }
            SlotMut::Written(Operand::Mem(m)) | SlotMut::Place(Place::Mem(m)) => {
                substitution.mem(m);
            }
            SlotMut::Step(step) => {
                substitution.step(step);
            }
            SlotMut::Written(Operand::Var(_) | Operand::Const(_))
            | SlotMut::Place(Place::Var(_))
            | SlotMut::Life(_)
            | SlotMut::Region(_) => {}
        });
    }

    fn statement(&mut self, stmt: &mut Stmt) {
        let summaries = self.summaries;
        match stmt {
            Stmt::Update { .. } => {
                self.operands(stmt);
                if let Stmt::Update { acc, inverse, func, dst: Place::Var(v), args } = stmt {
                    let change = |old| updated(self.env, *acc, *inverse, *func, old, args);
                    let new = match self.floats.next(*v, |old| old.and_then(change)) {
                        Some(new) => new,
                        None => self.values.get(v).copied().and_then(change),
                    };
                    self.set(*v, new);
                }
            }
            Stmt::Ancilla { var, free, checks: _ } => {
                let zero = (!*free).then_some(0);
                let word = self.floats.next(*var, |_| zero).unwrap_or(zero);
                self.set(*var, word);
            }
            Stmt::Permute { .. }
            | Stmt::Array { .. }
            | Stmt::Call { .. }
            | Stmt::Assert { .. }
            | Stmt::Show { .. }
            | Stmt::Print(_) => {
                self.operands(stmt);
                let e = Effects::of_stmt(summaries, stmt);
                self.forget(&e.writes);
            }
            Stmt::With { compute, body, .. } => {
                let between = Effects::of_block(summaries, body);
                self.compute(compute, &between);
                self.block(body);
                let e = Effects::of_block(summaries, compute);
                self.forget(&e.writes);
            }
            Stmt::Span { body, .. } => self.block(body),
            Stmt::If { pre, post, then, otherwise } => {
                self.condition(pre);
                let mark = self.log.len();
                self.block(then);
                self.back(mark);
                self.block(otherwise);
                self.back(mark);
                for branch in [&*then, &*otherwise] {
                    let e = Effects::of_block(summaries, branch);
                    self.forget(&e.writes);
                }
                self.condition(post);
            }
            Stmt::While { pre, post, first, body } => {
                for part in [&*first, &*body] {
                    let e = Effects::of_block(summaries, part);
                    self.forget(&e.writes);
                }
                self.condition(pre);
                self.condition(post);
                for part in [first, body] {
                    let mark = self.log.len();
                    self.block(part);
                    self.back(mark);
                }
            }
            Stmt::For { .. } => {
                self.operands(stmt);
                let Stmt::For { var, body, .. } = stmt else { return };
                let e = Effects::of_block(summaries, body);
                self.forget(&e.writes);
                self.set(*var, None);
                let mark = self.log.len();
                self.block(body);
                self.back(mark);
            }
        }
    }
}
