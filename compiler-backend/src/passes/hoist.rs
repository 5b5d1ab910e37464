//! Computes loop-invariant values before the loop.
//!
//! The pass moves ancillas of a `with` in the loop's body, or in the bodies of such a `with`, that depend on nothing that
//! the loop changes. They then live through the loop and are uncomputed after it. If only some terms of an integer sum
//! depend on the iteration, the other terms are summed before the loop. Loop-invariant assertions are computed with the
//! ancillas, and so hold before the first iteration in either direction. Code that may trap is moved only where an
//! iteration is certain to follow; if need be, a branch makes it certain.

mod select;

use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::{Acc, Cond, Ty};

use crate::ir::effects::{Summaries, trip_count};
use crate::ir::{
    AncillaChecks, Block, Condition, IrFunction, LocatedStmt, Operand, Place, Program, Step, Stmt, Test, Var, VarInfo,
};
use crate::passes::rewrite::each_for;
use crate::passes::table::FastMap;
use select::{Choice, choose};

/// Runs the pass on the whole program.
pub(super) fn run(program: &mut Program, summaries: &Summaries) {
    for function in &mut program.functions {
        let IrFunction { vars, body, .. } = function;
        each_for(body, &mut |s| hoist(s, vars, summaries));
    }
}

/// What makes certain that a `for` has an iteration: nothing is needed, a comparison does, or neither is known.
pub(super) enum Guard {
    Certain,
    Test(Test),
    Unknown,
}

impl Guard {
    /// Puts a statement into the branch that makes an iteration certain, if one is needed.
    pub(super) fn enclose(&self, s: &mut LocatedStmt) {
        if let Guard::Test(test) = *self {
            let then = vec![taken(s)];
            s.stmt = Stmt::branch(Condition::of(test), then, Block::new());
        }
    }
}

/// Takes a statement, to put it into another one at its place.
pub(super) fn taken(s: &mut LocatedStmt) -> LocatedStmt {
    std::mem::replace(&mut s.stmt, Stmt::Print(0)).at(s.loc)
}

/// What makes certain that a `for` has an iteration.
pub(super) fn guard(first: Operand, last: Operand, step: Step) -> Guard {
    if trip_count(first, last, step).is_some_and(|n| n > 0) {
        return Guard::Certain;
    }
    let (Step::Const(step), false, false) = (step, matches!(first, Operand::Mem(_)), matches!(last, Operand::Mem(_)))
    else {
        return Guard::Unknown;
    };
    let cond = match step {
        0 => return Guard::Unknown,
        1.. => Cond::Le,
        _ => Cond::Ge,
    };
    Guard::Test(Test::int(cond, first, last))
}

fn hoist(s: &mut LocatedStmt, vars: &mut Vec<VarInfo>, summaries: &Summaries) {
    let Stmt::For { var, first, last, step, body, .. } = &mut s.stmt else { return };
    let (var, first, last, step) = (*var, *first, *last, *step);
    if matches!(trip_count(first, last, step), Some(0 | 1)) {
        return;
    }
    let nontrapping = moved(var, body, vars, summaries, false);
    let guard = guard(first, last, step);
    let may_trap = match guard {
        Guard::Unknown => Block::new(),
        Guard::Certain | Guard::Test(_) => moved(var, body, vars, summaries, true),
    };
    let wrap = |s: &mut LocatedStmt, compute: Block| {
        let body = vec![taken(s)];
        s.stmt = Stmt::With { name: "hoisted".into(), compute, body };
    };
    if !may_trap.is_empty() {
        wrap(s, may_trap);
        guard.enclose(s);
    }
    if !nontrapping.is_empty() {
        wrap(s, nontrapping);
    }
}

/// Moves what can be moved out of a loop's body.
pub(super) fn moved(
    var: Var,
    body: &mut Block,
    vars: &mut Vec<VarInfo>,
    summaries: &Summaries,
    may_trap: bool,
) -> Block {
    let choice = choose(var, body, vars, summaries, may_trap);
    let mut out = Block::new();
    if !choice.is_empty() {
        take(body, &choice, vars, &mut FastMap::default(), &mut out);
    }
    out
}

/// Moves the chosen ancillas out of the computations of a block.
fn take(block: &mut Block, choice: &Choice, vars: &mut Vec<VarInfo>, sums: &mut FastMap<Var, Var>, out: &mut Block) {
    let before = std::mem::take(block);
    for mut s in before {
        if choice.is_invariant_assert(&s.stmt) {
            out.push(s);
            continue;
        }
        if let Stmt::With { compute, body, .. } = &mut s.stmt {
            take_compute(compute, choice, vars, sums, out);
            take(body, choice, vars, sums, out);
            if compute.is_empty() {
                block.append(body);
                continue;
            }
        }
        block.push(s);
    }
}

fn take_compute(
    compute: &mut Block,
    choice: &Choice,
    vars: &mut Vec<VarInfo>,
    sums: &mut FastMap<Var, Var>,
    out: &mut Block,
) {
    let before = std::mem::take(compute);
    for mut s in before {
        if choice.is_invariant_assert(&s.stmt) {
            out.push(s);
            continue;
        }
        match &mut s.stmt {
            Stmt::Ancilla { var, .. } | Stmt::Update { dst: Place::Var(var), .. } if choice.whole.contains(var) => {
                out.push(s);
            }
            Stmt::Ancilla { var, free: false, checks } if choice.split.contains(var) => {
                // The sum of the invariant terms is added in one update.
                let (t, loc) = (*var, s.loc);
                let VarInfo { name, points, .. } = &vars[t.0 as usize];
                vars.push(VarInfo { name: format!("{name}.base"), ty: Ty::Int, points: *points });
                let sum = Var(vars.len() as u32 - 1);
                sums.insert(t, sum);
                let checks = AncillaChecks { drop: false, ..*checks };
                out.push(Stmt::Ancilla { var: sum, free: false, checks }.at(loc));
                compute.push(s);
                let func = TableFn::Int(int_fn::Name::Id);
                let (acc, dst, args) = (Acc::Add, Place::Var(t), vec![Operand::Var(sum)]);
                compute.push(Stmt::Update { acc, inverse: false, func, dst, args }.at(loc));
            }
            Stmt::Update { dst: Place::Var(var), args, .. }
                if choice.split.contains(var) && choice.is_invariant(args) =>
            {
                if let Some(sum) = sums.get(var) {
                    *var = *sum;
                }
                out.push(s);
            }
            _ => compute.push(s),
        }
    }
}
