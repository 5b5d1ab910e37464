//! The inverse of a statement, by its structure alone.

use super::{At, Block, Stmt};

/// The statements undone: each inverted, last one first.
pub fn block(block: &[At]) -> Block {
    block.iter().rev().map(|s| At { stmt: invert(&s.stmt), loc: s.loc }).collect()
}

/// What undoes a statement.
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
        Stmt::For { first, last, step, body, .. } => {
            std::mem::swap(first, last);
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
