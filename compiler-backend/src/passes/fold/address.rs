//! Folds sums into addresses: an integer that is `base + index + k` and is used in addresses only becomes part of them.
//! Also replaces copies of variables by the variables.
//!
//! Both apply to ancillas of a `with` that the body only reads, if the variables that they are computed from do not change
//! while they live.

use pendula_isa::table::{TableFn, int_fn, q_fn};
use pendula_isa::{Acc, Ty};

use crate::ir::effects::{Effects, Summaries, walk};
use crate::ir::{Block, IrFunction, LocatedStmt, Mem, Operand, Place, Step, Stmt, Var};
use crate::passes::rewrite::{Slot, SlotMut, each_block, each_stmt, slots, slots_mut, write_counts};
use crate::passes::table::FastMap;

/// The greatest offset that fits an instruction.
const MAX_OFFSET: u64 = 1 << 26;

/// An ancilla as a sum of at most two variables and a constant.
#[derive(Clone, Default)]
struct Sum {
    vars: Vec<Var>,
    add: i64,
    /// False if it is not such a sum.
    fit: bool,
    /// The first statement of the computation that changes it, and the last one.
    first: usize,
    last: usize,
    updates: usize,
    discrete: bool,
    /// How it is read: as the only variable of an address, beside another one, or otherwise.
    alone: usize,
    beside: usize,
    otherwise: usize,
    /// True if the computation reads it before it is complete.
    early: bool,
}

/// Returns whether anything has changed.
pub(super) fn run(function: &mut IrFunction, summaries: &Summaries) -> bool {
    let mut changed = false;
    let types: Vec<Ty> = function.vars.iter().map(|v| v.ty).collect();
    each_block(&mut function.body, &mut |block| {
        for s in block.iter_mut() {
            if let Stmt::With { compute, body, .. } = &mut s.stmt {
                changed |= take_apart(compute, body, &types, summaries);
            }
        }
    });
    changed
}

fn take_apart(compute: &mut Block, body: &mut Block, types: &[Ty], summaries: &Summaries) -> bool {
    let mut sums = sums(compute, types);
    if sums.values().all(|s| !s.fit) {
        return false;
    }
    let between = Effects::of_block(summaries, body);
    let counts = write_counts(compute, summaries);
    let mut last_write: FastMap<u32, usize> = FastMap::default();
    for (n, s) in compute.iter().enumerate() {
        let e = Effects::of_stmt(summaries, &s.stmt);
        e.writes.iter().for_each(|v| {
            last_write.insert(v, n);
        });
    }
    for (v, sum) in &mut sums {
        let steady = |w: &Var| !between.writes.has(*w) && last_write.get(&w.0).is_none_or(|n| *n < sum.first);
        sum.fit &= sum.vars.iter().all(steady)
            && !between.writes.has(*v)
            && counts.get(v) == Some(&(sum.updates + 1))
            && !sum.vars.contains(v);
    }
    for (n, s) in compute.iter().enumerate() {
        walk(std::slice::from_ref(s), &mut |inner| {
            read(&inner.stmt, summaries, &mut sums, Some(n));
        });
    }
    walk(body, &mut |s| read(&s.stmt, summaries, &mut sums, None));
    let folds: FastMap<Var, Sum> = sums.into_iter().filter(|(_, s)| is_foldable(s)).collect();
    if folds.is_empty() {
        return false;
    }
    let resolved = resolved(folds);
    compute.retain(|s| s.stmt.own_var().is_none_or(|v| !resolved.contains_key(&v)));
    for block in [compute, body] {
        each_stmt(block, &mut |stmt| replace(stmt, summaries, &resolved));
    }
    true
}

/// Finds the ancillas of a computation that are such sums.
fn sums(compute: &[LocatedStmt], types: &[Ty]) -> FastMap<Var, Sum> {
    let mut sums: FastMap<Var, Sum> = FastMap::default();
    for (n, s) in compute.iter().enumerate() {
        if let Stmt::Ancilla { var, free: false, .. } = &s.stmt {
            let ty = types.get(var.0 as usize).copied();
            let fit = matches!(ty, Some(Ty::Int | Ty::Q)) && !sums.contains_key(var);
            let discrete = ty == Some(Ty::Int);
            sums.insert(*var, Sum { fit, discrete, first: usize::MAX, ..Sum::default() });
        } else if let Stmt::Update { acc, inverse, func, dst: Place::Var(v), args } = &s.stmt
            && let Some(sum) = sums.get_mut(v)
        {
            let id = matches!(func, TableFn::Int(int_fn::Name::Id) | TableFn::Q(q_fn::Name::Id)) && *acc == Acc::Add;
            match (id, args.first()) {
                (true, Some(Operand::Var(w))) if !*inverse => sum.vars.push(*w),
                (true, Some(Operand::Const(k))) if sum.discrete => {
                    let k = k.cast_signed();
                    sum.add = if *inverse { sum.add.wrapping_sub(k) } else { sum.add.wrapping_add(k) };
                }
                (_, _) => sum.fit = false,
            }
            sum.first = sum.first.min(n);
            sum.last = n;
            sum.updates += 1;
        }
    }
    for sum in sums.values_mut() {
        sum.fit &= (1..=2).contains(&sum.vars.len()) && sum.add.unsigned_abs() < MAX_OFFSET;
    }
    sums
}

/// Records how a statement reads such sums. In a computation, `at` is the statement's index.
fn read(stmt: &Stmt, summaries: &Summaries, sums: &mut FastMap<Var, Sum>, at: Option<usize>) {
    let mut note = |v: Var, how: fn(&mut Sum) -> &mut usize| {
        if let Some(sum) = sums.get_mut(&v) {
            *how(sum) += 1;
            sum.early |= at.is_some_and(|at| at < sum.last);
        }
    };
    let otherwise: fn(&mut Sum) -> &mut usize = |s| &mut s.otherwise;
    slots(stmt, summaries, &mut |slot| match slot {
        Slot::Read(Operand::Var(v)) | Slot::Written(Operand::Var(v)) => note(*v, otherwise),
        Slot::Read(Operand::Mem(m)) | Slot::Written(Operand::Mem(m)) | Slot::Place(Place::Mem(m)) => {
            let pair = m.base.is_some() && m.index.is_some();
            let far = m.offset.unsigned_abs() >= MAX_OFFSET || (pair && m.base == m.index);
            for v in m.vars() {
                note(
                    v,
                    if far {
                        otherwise
                    } else if pair {
                        |s| &mut s.beside
                    } else {
                        |s| &mut s.alone
                    },
                );
            }
        }
        Slot::Step(Step::Var { var, .. }) => note(*var, otherwise),
        Slot::Read(Operand::Const(_))
        | Slot::Written(Operand::Const(_))
        | Slot::Place(Place::Var(_))
        | Slot::Life(_)
        | Slot::Step(Step::Const(_))
        | Slot::Region(_) => {}
    });
}

fn is_foldable(s: &Sum) -> bool {
    let copy = s.vars.len() == 1 && s.add == 0;
    let address = s.discrete && s.otherwise == 0 && (s.vars.len() == 1 || s.beside == 0);
    s.fit && !s.early && s.updates > 0 && (copy || address)
}

/// Expands sums until their variables are not folded themselves. The variables of a sum come before it. If one of them is
/// folded, too, it is a copy, since it is read outside of addresses.
fn resolved(folds: FastMap<Var, Sum>) -> FastMap<Var, Sum> {
    let mut order: Vec<(Var, Sum)> = folds.into_iter().collect();
    order.sort_unstable_by_key(|(_, s)| s.first);
    let mut resolved: FastMap<Var, Sum> = FastMap::default();
    for (v, mut sum) in order {
        for term in &mut sum.vars {
            if let Some(original) = resolved.get(term).and_then(|s| s.vars.first()) {
                *term = *original;
            }
        }
        resolved.insert(v, sum);
    }
    resolved
}

fn replace(stmt: &mut Stmt, summaries: &Summaries, folds: &FastMap<Var, Sum>) {
    let operand = |o: &mut Operand| match o {
        Operand::Var(v) => {
            if let Some(Sum { vars, .. }) = folds.get(v)
                && let Some(w) = vars.first()
            {
                *v = *w;
            }
        }
        Operand::Mem(m) => address(m, folds),
        Operand::Const(_) => {}
    };
    slots_mut(stmt, summaries, &mut |slot| match slot {
        SlotMut::Read(o) | SlotMut::Written(o) => operand(o),
        SlotMut::Place(Place::Mem(m)) => address(m, folds),
        SlotMut::Step(Step::Var { var, .. }) => {
            if let Some(w) = folds.get(var).and_then(|s| s.vars.first()) {
                *var = *w;
            }
        }
        SlotMut::Place(Place::Var(_)) | SlotMut::Life(_) | SlotMut::Step(Step::Const(_)) | SlotMut::Region(_) => {}
    });
}

fn address(m: &mut Mem, folds: &FastMap<Var, Sum>) {
    let mut vars: Vec<Var> = Vec::new();
    for v in m.vars() {
        match folds.get(&v) {
            Some(sum) => {
                vars.extend(&sum.vars);
                m.offset = m.offset.wrapping_add(sum.add);
            }
            None => vars.push(v),
        }
    }
    // Of two sums in one address, the second is a single variable: see `is_foldable`.
    let mut vars = vars.into_iter();
    (m.base, m.index) = (vars.next(), vars.next());
}
