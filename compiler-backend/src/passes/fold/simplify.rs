//! Simplifies statements: functions of constants, additions of zero, and branches and loops with known conditions.

use pendula_isa::num::{compare, log};
use pendula_isa::table::{TableFn, int_fn, q_fn};
use pendula_isa::{Acc, Env, Format, Ty};

use super::constants::computed;
use crate::ir::effects::{Effects, Summaries, trip_count};
use crate::ir::{Block, Condition, IrFunction, LocatedStmt, Operand, Stmt, Test, Var, identity};
use crate::passes::rewrite::{Substitution, each_block};

/// Returns whether anything has changed.
pub(super) fn run(function: &mut IrFunction, format: Format, summaries: &Summaries) -> bool {
    let env = Env { format, ieee: false };
    let mut changed = false;
    each_block(&mut function.body, &mut |block| {
        let before = std::mem::take(block);
        for s in before {
            changed |= simplify(s, env, summaries, block);
        }
    });
    changed
}

/// Appends the simplified statement to a block. Returns whether it is different.
fn simplify(mut s: LocatedStmt, env: Env, summaries: &Summaries, out: &mut Block) -> bool {
    let mut changed = false;
    match &mut s.stmt {
        Stmt::Update { acc, inverse, func, dst: _, args } => {
            changed = update(*acc, inverse, func, args, env);
            if is_nothing(*acc, *func, args) {
                return true;
            }
        }
        Stmt::With { compute, body, .. } => {
            if compute.is_empty() {
                out.append(body);
                return true;
            }
        }
        Stmt::For { var, first, last, step, body, .. } => match trip_count(*first, *last, *step) {
            Some(0) => return true,
            Some(1) => {
                let (i, value) = (*var, *first);
                let known = |v: Var| if v == i { value } else { Operand::Var(v) };
                let substitution = Substitution { var: &known, region: &|r| r };
                let mut once = body.clone();
                if substitution.apply(&mut once, summaries) {
                    out.append(&mut once);
                    return true;
                }
            }
            Some(_) | None => {
                if body.is_empty() && !Effects::of_stmt(summaries, &s.stmt).traps {
                    return true;
                }
            }
        },
        Stmt::If { pre, post, then, otherwise } => {
            if let Some(holds) = decided(pre, env) {
                let (branch, other) = if holds { (then, otherwise) } else { (otherwise, then) };
                match decided(post, env) {
                    Some(after) if after == holds => {
                        out.append(branch);
                        return true;
                    }
                    // The second comparison stays as a branch, so that a failure is reported as conditions that disagree.
                    None if is_simple(post) && !(branch.is_empty() && other.is_empty()) => {
                        out.append(branch);
                        other.clear();
                        changed = true;
                    }
                    Some(_) | None => {}
                }
            } else if then.is_empty() && otherwise.is_empty() {
                let e = Effects::of_stmt(summaries, &s.stmt);
                if !e.traps && !e.shows && !e.inexact {
                    return true;
                }
            }
        }
        Stmt::Permute { .. }
        | Stmt::Ancilla { .. }
        | Stmt::Array { .. }
        | Stmt::Call { .. }
        | Stmt::While { .. }
        | Stmt::Span { .. }
        | Stmt::Assert { .. }
        | Stmt::Show { .. }
        | Stmt::Print(_) => {}
    }
    out.push(s);
    changed
}

/// Replaces a function and its arguments by simpler ones with the same value. Returns whether there are any.
fn update(acc: Acc, inverse: &mut bool, func: &mut TableFn, args: &mut Vec<Operand>, env: Env) -> bool {
    let ty = func.info().ty;
    if args.iter().all(|a| matches!(a, Operand::Const(_))) {
        // A product that wraps raises a flag, and no multiplication by a constant zero may result.
        let wraps = matches!(func, TableFn::Q(q_fn::Name::Mul | q_fn::Name::Muladd));
        if *func != identity(ty)
            && !wraps
            && let Some(k) = computed(env, *func, args)
            && !(ty == Ty::L && k == log::ZERO)
        {
            (*func, *args) = (identity(ty), vec![Operand::Const(k)]);
            return true;
        }
        return false;
    }
    let (x, k) = match args[..] {
        [x, Operand::Const(k)] | [Operand::Const(k), x] => (x, k),
        _ => return false,
    };
    let one = match *func {
        TableFn::Int(int_fn::Name::Mul) => 1,
        TableFn::Q(q_fn::Name::Mul) => 1 << env.format.frac(),
        _ => return false,
    };
    if k == one {
        (*func, *args) = (identity(ty), vec![x]);
    } else if k == 0 && !matches!(x, Operand::Mem(_)) {
        (*func, *args) = (identity(ty), vec![Operand::Const(0)]);
    } else if ty == Ty::Int && k == u64::MAX && acc == Acc::Add {
        (*func, *args) = (identity(ty), vec![x]);
        *inverse = !*inverse;
    } else {
        return false;
    }
    true
}

/// Whether an update changes nothing.
fn is_nothing(acc: Acc, func: TableFn, args: &[Operand]) -> bool {
    let ty = func.info().ty;
    // −0.0 + 0.0 is +0.0, and a word that is not a logarithmic number traps.
    let exact = acc == Acc::Xor || matches!(ty, Ty::Int | Ty::Q);
    func == identity(ty) && args == [Operand::Const(0)] && exact
}

/// Whether a comparison of constants holds.
fn decided(c: &Condition, env: Env) -> Option<bool> {
    let Test { cond, ty, a: Operand::Const(a), b: Operand::Const(b) } = c.test else { return None };
    if !c.compute.is_empty() {
        return None;
    }
    compare(env, cond, ty, a, b).ok()
}

/// Whether a condition computes nothing and cannot trap.
fn is_simple(c: &Condition) -> bool {
    c.compute.is_empty() && matches!(c.test.ty, Ty::Int | Ty::Q)
}
