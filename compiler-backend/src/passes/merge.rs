//! Joins neighbouring `with` statements that compute the same: `with c do a; with c do b` becomes `with c do a; b`.
//!
//! The first body must not change anything that the computation reads or writes. Then uncomputing it and computing it
//! again does nothing.

use crate::ir::effects::{Effects, Summaries, walk};
use crate::ir::{Block, LocatedStmt, Operand, Program, Stmt, Var};
use crate::passes::rewrite::{Matcher, Slot, Substitution, each_block, is_exact, slots};
use crate::passes::table::FastSet;

/// Runs the pass on the whole program.
pub(super) fn run(program: &mut Program, summaries: &Summaries) {
    for function in &mut program.functions {
        each_block(&mut function.body, &mut |block| merge(block, summaries));
    }
}

fn merge(block: &mut Block, summaries: &Summaries) {
    let before = std::mem::take(block);
    // The effects of the last statement's computation, if it has one.
    let mut computes: Option<Effects> = None;
    for mut s in before {
        if let (Some(last), Some(done)) = (block.last_mut(), &computes)
            && let Some(body) = joined(last, &mut s, summaries)
        {
            let e = Effects::of_block(summaries, &body);
            if let Stmt::With { body: first, .. } = &mut last.stmt {
                first.extend(body);
            }
            if e.disturbs(done) {
                computes = None;
            }
            continue;
        }
        computes = None;
        if let Stmt::With { compute, body, .. } = &s.stmt
            && is_exact(compute, summaries)
        {
            let done = Effects::of_block(summaries, compute);
            if !done.shows && !Effects::of_block(summaries, body).disturbs(&done) {
                computes = Some(done);
            }
        }
        block.push(s);
    }
}

/// The body of the second statement with the variables of the first one, if both compute the same.
fn joined(first: &LocatedStmt, second: &mut LocatedStmt, summaries: &Summaries) -> Option<Block> {
    let (Stmt::With { compute: c, .. }, Stmt::With { compute: d, body, .. }) = (&first.stmt, &mut second.stmt) else {
        return None;
    };
    let mut matcher = Matcher::renaming();
    if !matcher.block(c, d) {
        return None;
    }
    let renamed = matcher.renamed();
    if renamed.iter().all(|(b, a)| a == b) {
        return Some(std::mem::take(body));
    }
    // A variable that replaces another must not be in use.
    let taken: FastSet<Var> = renamed.iter().filter(|(b, a)| a != b).map(|(_, a)| *a).collect();
    if mentions(body, summaries, &|v| taken.contains(&v)) {
        return None;
    }
    let var = |v: Var| Operand::Var(renamed.get(&v).copied().unwrap_or(v));
    let substitution = Substitution { var: &var, region: &|r| r };
    let mut out = body.clone();
    substitution.apply(&mut out, summaries).then_some(out)
}

/// Whether a block uses one of these variables.
fn mentions(block: &[LocatedStmt], summaries: &Summaries, wanted: &impl Fn(Var) -> bool) -> bool {
    let mut found = false;
    walk(block, &mut |s| {
        slots(&s.stmt, summaries, &mut |slot| {
            found |= match slot {
                Slot::Read(o) | Slot::Written(o) => o.vars().any(wanted),
                Slot::Place(p) => Operand::from(*p).vars().any(wanted),
                Slot::Life(v) => wanted(*v),
                Slot::Step(crate::ir::Step::Var { var, .. }) => wanted(*var),
                Slot::Step(crate::ir::Step::Const(_)) | Slot::Region(_) => false,
            };
        });
    });
    found
}
