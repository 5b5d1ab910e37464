//! Inverts statements by their structure alone.

use super::{Block, Blocks, LocatedStmt, Stmt};

/// The inverse of a block: each statement inverted, in reverse order.
pub fn block(block: &[LocatedStmt]) -> Block {
    block.iter().rev().map(|s| LocatedStmt { stmt: invert(&s.stmt), loc: s.loc }).collect()
}

/// The inverse of a statement.
pub fn invert(stmt: &Stmt) -> Stmt {
    let mut out = stmt.clone();
    match &mut out {
        Stmt::Update { acc, inverse, .. } => *inverse = !*inverse && !acc.self_inverse(),
        Stmt::Permute { row, inverse, .. } => *inverse = !*inverse && row.info().partner.is_some(),
        Stmt::Ancilla { free, .. } | Stmt::Array { free, .. } => *free = !*free,
        Stmt::Call { inverse, .. } => *inverse = !*inverse,
        Stmt::If { pre, post, then, otherwise } => {
            std::mem::swap(pre, post);
            *then = block(then);
            *otherwise = block(otherwise);
        }
        Stmt::While { pre, post, first, body } => {
            std::mem::swap(pre, post);
            *first = block(first);
            *body = block(body);
        }
        Stmt::For { first, last, step, body, blocks, var: _ } => {
            std::mem::swap(first, last);
            *blocks = blocks.map(Blocks::inverse);
            *step = step.negated();
            *body = block(body);
        }
        Stmt::With { body, .. } => *body = block(body),
        Stmt::Span { undo, body, .. } => {
            *undo = !*undo;
            *body = block(body);
        }
        Stmt::Assert { .. } | Stmt::Show { .. } | Stmt::Print(_) => {}
    }
    out
}
