//! Removes neighbouring statements that undo each other, and computations that are undone without being used.
//!
//! Only statements that cannot trap are removed, and none that add to floating-point numbers, since undoing those may
//! leave other bits.

use crate::ir::effects::{Effects, Summaries};
use crate::ir::invert::invert;
use crate::ir::{Block, LocatedStmt, Place, Program, Stmt};
use crate::passes::rewrite::{Matcher, each_block, is_settled};

/// Runs the pass on the whole program.
pub(super) fn run(program: &mut Program, summaries: &Summaries) {
    for function in &mut program.functions {
        each_block(&mut function.body, &mut |block| cancel(block, summaries));
    }
}

fn cancel(block: &mut Block, summaries: &Summaries) {
    let before = std::mem::take(block);
    for s in before {
        if let Stmt::With { compute, body, .. } = &s.stmt
            && body.is_empty()
            && is_settled(compute, summaries)
        {
            continue;
        }
        if block.last().is_some_and(|top| undoes(&top.stmt, &s, summaries)) {
            block.pop();
        } else {
            block.push(s);
        }
    }
}

/// Whether the second statement undoes the first one, so that both can be removed.
fn undoes(first: &Stmt, second: &LocatedStmt, summaries: &Summaries) -> bool {
    // Cheap tests come first.
    let alike = match (first, &second.stmt) {
        (Stmt::Update { dst, func, .. }, Stmt::Update { dst: dst2, func: func2, .. }) => dst == dst2 && func == func2,
        (Stmt::Ancilla { var, free, .. }, Stmt::Ancilla { var: var2, free: free2, .. }) => {
            return var == var2 && !*free && *free2;
        }
        (Stmt::Call { func, args, .. }, Stmt::Call { func: func2, args: args2, .. }) => func == func2 && args == args2,
        (Stmt::Assert { .. } | Stmt::Show { .. } | Stmt::Print(_) | Stmt::Array { .. }, _) => false,
        (first, second) => std::mem::discriminant(first) == std::mem::discriminant(second),
    };
    if !alike || !Matcher::default().stmt(first, &invert(&second.stmt)) {
        return false;
    }
    if let Stmt::Update { dst: Place::Mem(_), .. } = first {
        return false;
    }
    let e = Effects::of_stmt(summaries, first);
    !(e.traps || e.inexact || e.shows || e.allocates)
}
