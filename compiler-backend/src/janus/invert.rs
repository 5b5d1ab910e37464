//! Programs turned around.

use super::ast::{BinOp, Decl, Expr, ExprKind, Procedure, Stmt, StmtKind, Tree};

/// The inverse program: each procedure does what it undid before, so that calls stay as they are. Values with which the variables of `main`
/// begin stay, too.
pub fn program(tree: &Tree) -> Tree {
    let one = |p: &Procedure| Procedure { body: block(&p.body), ..p.clone() };
    Tree { procedures: tree.procedures.iter().map(one).collect() }
}

fn block(list: &[Stmt]) -> Vec<Stmt> {
    list.iter().rev().map(stmt).collect()
}

fn stmt(s: &Stmt) -> Stmt {
    let kind = match &s.kind {
        StmtKind::Update { op, target, value } => {
            StmtKind::Update { op: op.partner(), target: target.clone(), value: value.clone() }
        }
        StmtKind::If { pre, then, otherwise, post } => {
            StmtKind::If { pre: post.clone(), then: block(then), otherwise: block(otherwise), post: pre.clone() }
        }
        StmtKind::From { pre, first, body, post } => {
            StmtKind::From { pre: post.clone(), first: block(first), body: block(body), post: pre.clone() }
        }
        StmtKind::Push { pop, value, stack } => {
            StmtKind::Push { pop: !pop, value: value.clone(), stack: stack.clone() }
        }
        StmtKind::Local { begin, body, end } => {
            // What ends need not say its size again, what begins must.
            let sized = |(b, e): (&Decl, &Decl)| {
                let dims = b.dims.iter().zip(&e.dims).map(|(b, e)| e.clone().or_else(|| b.clone())).collect();
                Decl { dims, mode: b.mode, ..e.clone() }
            };
            let begins = begin.iter().zip(end).map(sized).collect();
            StmtKind::Local { begin: begins, body: block(body), end: begin.clone() }
        }
        StmtKind::Iterate { ty, name, from, by, to, body } => StmtKind::Iterate {
            ty: *ty,
            name: name.clone(),
            from: to.clone(),
            by: Some(minus(by.as_ref(), from)),
            to: from.clone(),
            body: block(body),
        },
        StmtKind::Swap(..)
        | StmtKind::Call { .. }
        | StmtKind::Assert(_)
        | StmtKind::Error(_)
        | StmtKind::Print(_)
        | StmtKind::Printf(..)
        | StmtKind::Show(_)
        | StmtKind::Skip => s.kind.clone(),
    };
    Stmt { kind, span: s.span.clone() }
}

/// A step the other way; 1 if it is left out.
fn minus(by: Option<&Expr>, beside: &Expr) -> Expr {
    let number = |n| Expr { kind: ExprKind::Num(n), span: beside.span.clone(), closed: false };
    match by {
        None => number(-1),
        Some(Expr { kind: ExprKind::Num(n), .. }) => number(-n),
        Some(by) => {
            let kind = ExprKind::Binary(BinOp::Sub, Box::new(number(0)), Box::new(by.clone()));
            Expr { kind, span: by.span.clone(), closed: false }
        }
    }
}
