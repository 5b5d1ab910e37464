//! Strength reduction: steps integers from iteration to iteration instead of multiplying.
//!
//! The pass applies to an integer that a `with` in a loop's body computes as a sum of a term with the loop's variable as a
//! factor and of invariant terms. The integer lives through the loop instead: it begins one step before the first value,
//! each iteration adds a step, and it is uncomputed from the last value. The sums are the same modulo 2^64. An iteration
//! must be certain; if need be, a branch makes it certain.

use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::{Acc, Ty};

use super::hoist::{Guard, guard, taken};
use crate::ir::effects::{Effects, Summaries, trip_count, update_traps};
use crate::ir::{
    AncillaChecks, Block, IrFunction, Loc, LocatedStmt, Operand, Place, Program, Step, Stmt, Var, VarInfo,
};
use crate::passes::rewrite::{each_for, write_counts};
use crate::passes::table::FastMap;

/// Runs the pass on the whole program.
pub(super) fn run(program: &mut Program, summaries: &Summaries) {
    for function in &mut program.functions {
        let IrFunction { vars, body, .. } = function;
        each_for(body, &mut |s| step(s, vars, summaries));
    }
}

/// A term of a sum.
#[derive(Clone)]
enum Term {
    /// An invariant term.
    Fixed { inverse: bool, func: TableFn, args: Vec<Operand> },
    /// The loop's variable times an invariant factor.
    Linear { inverse: bool, factor: Operand },
}

/// A sum to be stepped.
struct Sum {
    fit: bool,
    updates: usize,
    last: usize,
    /// True if a multiplication is saved.
    product: bool,
    terms: Vec<Term>,
}

struct Scan<'a> {
    counter: Var,
    body: Effects,
    vars: &'a [VarInfo],
    summaries: &'a Summaries,
    found: FastMap<Var, Sum>,
    /// Ancillas that are constants so far, or the loop's variable (`true`) plus a constant.
    shifted: FastMap<Var, (bool, i64)>,
}

impl Scan<'_> {
    fn block(&mut self, block: &[LocatedStmt]) {
        for s in block {
            if let Stmt::With { compute, body, .. } = &s.stmt {
                self.compute(compute);
                self.block(body);
            }
        }
    }

    fn is_fixed(&self, o: Operand) -> bool {
        match o {
            Operand::Const(_) => true,
            Operand::Var(v) => v != self.counter && !self.body.writes.has(v),
            Operand::Mem(_) => false,
        }
    }

    /// The loop's variable plus a constant.
    fn shift(&self, o: Operand) -> Option<i64> {
        match o {
            Operand::Var(v) if v == self.counter => Some(0),
            Operand::Var(v) => self.shifted.get(&v).filter(|(turns, _)| *turns).map(|(_, k)| *k),
            Operand::Const(_) | Operand::Mem(_) => None,
        }
    }

    /// The term that an update adds to a sum, and whether it multiplies something that changes.
    fn terms(&self, acc: Acc, inverse: bool, func: TableFn, args: &[Operand]) -> Option<(Vec<Term>, bool)> {
        if acc != Acc::Add || update_traps(acc, func, args) {
            return None;
        }
        if args.iter().all(|a| self.is_fixed(*a)) {
            return Some((vec![Term::Fixed { inverse, func, args: args.to_vec() }], false));
        }
        let (shift, factor, product) = match (func, args) {
            (TableFn::Int(int_fn::Name::Id), [a]) => (self.shift(*a)?, Operand::Const(1), false),
            (TableFn::Int(int_fn::Name::Mul), [a, m]) if self.is_fixed(*m) => (self.shift(*a)?, *m, true),
            (TableFn::Int(int_fn::Name::Mul), [m, a]) if self.is_fixed(*m) => (self.shift(*a)?, *m, true),
            (TableFn::Int(int_fn::Name::Shl), [a, Operand::Const(k)]) => {
                (self.shift(*a)?, Operand::Const(1 << (k & 63)), true)
            }
            _ => return None,
        };
        let mut terms = vec![Term::Linear { inverse, factor }];
        if shift != 0 {
            let word = shift.cast_unsigned();
            let (func, args) = match factor {
                Operand::Const(m) => (int_fn::Name::Id, vec![Operand::Const(m.wrapping_mul(word))]),
                m => (int_fn::Name::Mul, vec![m, Operand::Const(word)]),
            };
            terms.push(Term::Fixed { inverse, func: TableFn::Int(func), args });
        }
        Some((terms, product))
    }

    /// Tracks ancillas that are the loop's variable plus a constant.
    fn follow(&mut self, s: &LocatedStmt) {
        if let Stmt::Ancilla { var, free: false, .. } = &s.stmt {
            self.shifted.insert(*var, (false, 0));
        } else if let Stmt::Update { acc: Acc::Add, inverse, func, dst: Place::Var(v), args } = &s.stmt
            && let Some((turns, k)) = self.shifted.get(v).copied()
        {
            let new = match (func, &args[..]) {
                (TableFn::Int(int_fn::Name::Id), [Operand::Const(c)]) => {
                    let c = c.cast_signed();
                    Some((turns, if *inverse { k.wrapping_sub(c) } else { k.wrapping_add(c) }))
                }
                (TableFn::Int(int_fn::Name::Id), [a]) if !turns && !*inverse => {
                    self.shift(*a).map(|c| (true, k.wrapping_add(c)))
                }
                _ => None,
            };
            match new {
                Some(new) => self.shifted.insert(*v, new),
                None => self.shifted.remove(v),
            };
        } else {
            for v in Effects::of_stmt(self.summaries, &s.stmt).writes.iter() {
                self.shifted.remove(&Var(v));
            }
        }
    }

    fn compute(&mut self, compute: &[LocatedStmt]) {
        let mut here: FastMap<Var, usize> = FastMap::default();
        for (n, s) in compute.iter().enumerate() {
            self.follow(s);
            if let Stmt::Ancilla { var, free: false, .. } = &s.stmt {
                let fit = self.vars.get(var.0 as usize).is_some_and(|i| i.ty == Ty::Int);
                let new = Sum { fit, updates: 0, last: 0, product: false, terms: Vec::new() };
                if let Some(old) = self.found.insert(*var, new) {
                    self.found.insert(*var, Sum { fit: false, ..old });
                }
                here.insert(*var, usize::MAX);
                continue;
            }
            let mut own = None;
            if let Stmt::Update { acc, inverse, func, dst: Place::Var(v), args } = &s.stmt
                && here.contains_key(v)
            {
                let terms = self.terms(*acc, *inverse, *func, args);
                if let Some(sum) = self.found.get_mut(v) {
                    sum.fit &= terms.is_some();
                    sum.updates += 1;
                    sum.last = n;
                    if let Some((terms, product)) = terms {
                        sum.terms.extend(terms);
                        sum.product |= product;
                    }
                }
                own = Some(*v);
            }
            let e = Effects::of_stmt(self.summaries, &s.stmt);
            for v in e.reads.iter() {
                here.entry(Var(v)).and_modify(|read| *read = n.min(*read));
            }
            for v in e.writes.iter().filter(|v| own != Some(Var(*v))) {
                if let Some(sum) = self.found.get_mut(&Var(v)) {
                    sum.fit = false;
                }
            }
        }
        // A sum that is read before it is complete stays.
        for (v, read) in here {
            if let Some(sum) = self.found.get_mut(&v) {
                sum.fit &= read > sum.last;
            }
        }
    }
}

fn step(s: &mut LocatedStmt, vars: &[VarInfo], summaries: &Summaries) {
    let loc = s.loc;
    // What a block's turns step would not be the same in each of them.
    let Stmt::For { var, first, last, step: Step::Const(by), body, blocks: None } = &mut s.stmt else { return };
    let (first, last, by) = (*first, *last, *by);
    if matches!(trip_count(first, last, Step::Const(by)), Some(0..3)) {
        return;
    }
    let guard = guard(first, last, Step::Const(by));
    if matches!(guard, Guard::Unknown) || !body.iter().any(|s| matches!(s.stmt, Stmt::With { .. })) {
        return;
    }
    let mut scan = Scan {
        counter: *var,
        body: Effects::of_block(summaries, body),
        vars,
        summaries,
        found: FastMap::default(),
        shifted: FastMap::default(),
    };
    scan.block(body);
    let mut sums = scan.found;
    if sums.values().all(|sum| !(sum.fit && sum.product)) {
        return;
    }
    let counts = write_counts(body, summaries);
    sums.retain(|v, sum| sum.fit && sum.product && counts.get(v) == Some(&(sum.updates + 1)));
    if sums.is_empty() {
        return;
    }
    take(body, &|v| sums.contains_key(&v));
    let mut order: Vec<(Var, Sum)> = sums.into_iter().collect();
    order.sort_unstable_by_key(|(v, _)| *v);
    let (mut compute, mut before, mut turn, mut after) = (Block::new(), Block::new(), Block::new(), Block::new());
    for (t, sum) in order {
        // It ends as zero because the bounds, the step and the factors have not changed.
        compute.push(Stmt::Ancilla { var: t, free: false, checks: AncillaChecks::NONE }.at(loc));
        for term in sum.terms {
            match term {
                Term::Fixed { inverse, func, args } => {
                    compute.push(Stmt::Update { acc: Acc::Add, inverse, func, dst: Place::Var(t), args }.at(loc));
                }
                Term::Linear { inverse, factor } => {
                    let add = Adder { t, factor, loc };
                    if let Operand::Const(k) = first {
                        add.multiple(inverse, k.cast_signed().wrapping_sub(by), &mut before);
                    } else {
                        add.product(inverse, first, &mut before);
                        add.multiple(!inverse, by, &mut before);
                    }
                    add.multiple(inverse, by, &mut turn);
                    add.product(!inverse, last, &mut after);
                }
            }
        }
    }
    turn.append(body);
    *body = turn;
    before.push(taken(s));
    before.append(&mut after);
    s.stmt = Stmt::With { name: "stepped".into(), compute, body: before };
    guard.enclose(s);
}

/// Adds multiples of a factor to a sum.
struct Adder {
    t: Var,
    factor: Operand,
    loc: Loc,
}

impl Adder {
    fn push(&self, inverse: bool, func: int_fn::Name, args: Vec<Operand>, out: &mut Block) {
        let (acc, func, dst) = (Acc::Add, TableFn::Int(func), Place::Var(self.t));
        out.push(Stmt::Update { acc, inverse, func, dst, args }.at(self.loc));
    }

    /// A number of times the factor.
    fn multiple(&self, inverse: bool, k: i64, out: &mut Block) {
        match (self.factor, k) {
            (_, 0) => {}
            (Operand::Const(m), k) => {
                let word = m.wrapping_mul(k.cast_unsigned());
                if word != 0 {
                    self.push(inverse, int_fn::Name::Id, vec![Operand::Const(word)], out);
                }
            }
            (m, 1) => self.push(inverse, int_fn::Name::Id, vec![m], out),
            (m, -1) => self.push(!inverse, int_fn::Name::Id, vec![m], out),
            (m, k) => self.push(inverse, int_fn::Name::Mul, vec![m, Operand::Const(k.cast_unsigned())], out),
        }
    }

    /// A word times the factor.
    fn product(&self, inverse: bool, word: Operand, out: &mut Block) {
        match (word, self.factor) {
            (Operand::Const(k), _) => self.multiple(inverse, k.cast_signed(), out),
            (word, Operand::Const(1)) => self.push(inverse, int_fn::Name::Id, vec![word], out),
            (word, factor) => self.push(inverse, int_fn::Name::Mul, vec![word, factor], out),
        }
    }
}

/// Removes everything that is done to some ancillas from a block's computations.
fn take(block: &mut Block, wanted: &impl Fn(Var) -> bool) {
    let before = std::mem::take(block);
    for mut s in before {
        if let Stmt::With { compute, body, .. } = &mut s.stmt {
            compute.retain(|s| s.stmt.own_var().is_none_or(|v| !wanted(v)));
            take(body, wanted);
            if compute.is_empty() {
                block.append(body);
                continue;
            }
        }
        block.push(s);
    }
}
