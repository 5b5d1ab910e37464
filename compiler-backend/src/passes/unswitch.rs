//! Loop unswitching: where all that a loop's turns do depends on a condition that is the same in each turn, it is decided before the loop.
//!
//! `for i { if c { … } else { … } }` becomes `if c { for i { … } } else { for i { … } }`. Each loop is then straight, so that what it checks can be
//! checked before it, and turns be made at once.

use crate::ir::effects::{Effects, Summaries};
use crate::ir::{LocatedStmt, Operand, Program, Stmt};
use crate::passes::rewrite::each_block;
use pendula_isa::Ty;

/// Runs the pass on the whole program.
pub(super) fn run(program: &mut Program, summaries: &Summaries) {
    for function in &mut program.functions {
        each_block(&mut function.body, &mut |block| {
            for s in block.iter_mut() {
                if let Some(decided) = unswitched(summaries, s) {
                    *s = decided;
                }
            }
        });
    }
}

/// A loop as a conditional around two loops, if its turns are a conditional with two sides that is decided the same way in each.
fn unswitched(summaries: &Summaries, s: &LocatedStmt) -> Option<LocatedStmt> {
    let Stmt::For { var, first, last, step, body, blocks: None } = &s.stmt else { return None };
    let [turn] = body.as_slice() else { return None };
    let Stmt::If { pre, post, then, otherwise } = &turn.stmt else { return None };
    let effects = Effects::of_stmt(summaries, &turn.stmt);
    let is_same = |operand: Operand| match operand {
        Operand::Const(_) => true,
        Operand::Var(v) => v != *var && !effects.writes.has(v),
        Operand::Mem(_) => false,
    };
    let is_decided =
        pre == post && pre.compute.is_empty() && pre.test.ty == Ty::Int && is_same(pre.test.a) && is_same(pre.test.b);
    if !is_decided || then.is_empty() || otherwise.is_empty() {
        return None;
    }
    let each_turn = |side: &[LocatedStmt]| {
        let (body, step) = (side.to_vec(), *step);
        vec![LocatedStmt {
            stmt: Stmt::For { var: *var, first: *first, last: *last, step, body, blocks: None },
            loc: s.loc,
        }]
    };
    let (then, otherwise) = (each_turn(then), each_turn(otherwise));
    Some(LocatedStmt { stmt: Stmt::If { pre: pre.clone(), post: post.clone(), then, otherwise }, loc: turn.loc })
}
