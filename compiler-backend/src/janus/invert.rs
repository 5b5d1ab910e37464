//! The inversion of programs.

use super::ast::{Decl, Expr, ExprKind, IntTy, Name, Procedure, Span, Stmt, StmtKind, Tree, UnOp};

/// The inverse program. Each procedure is inverted, so that calls stay as they are. Initial values of the variables of
/// `main` stay, too.
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
            let begins = begin.iter().zip(end).map(|(b, e)| Decl { dims: dims(b, e), mode: b.mode, ..e.clone() });
            let ends = begin.iter().zip(end).map(|(b, e)| Decl { dims: said(b, e), ..b.clone() });
            StmtKind::Local { begin: begins.collect(), body: block(body), end: ends.collect() }
        }
        StmtKind::Iterate { ty, name, from, by, to, body } => StmtKind::Iterate {
            ty: *ty,
            name: name.clone(),
            from: to.clone(),
            by: Some(minus(*ty, by.as_ref(), from)),
            to: from.clone(),
            body: block(body),
        },
        StmtKind::Terminal { word, name } => {
            let other = if word.text == "read" { "write" } else { "read" };
            let word = Name { text: other.to_string(), span: word.span.clone() };
            StmtKind::Terminal { word, name: name.clone() }
        }
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

/// The sizes of an array that was deallocated and is now allocated. A deallocation may leave the sizes out; an
/// allocation needs them, unless it lists all values.
fn dims(begun: &Decl, ended: &Decl) -> Vec<Option<Expr>> {
    let one = |(n, (b, e)): (usize, (&Option<Expr>, &Option<Expr>))| {
        let listed = begun.listed(n);
        match (e, b) {
            (Some(e), _) => Some(e.clone()),
            (None, Some(b)) => Some(b.clone()),
            (None, None) if listed == ended.listed(n) => None,
            (None, None) => listed.map(|n| number(n as i128, &begun.span)),
        }
    };
    begun.dims.iter().zip(&ended.dims).enumerate().map(one).collect()
}

/// The sizes of an array that was allocated and is now deallocated. A list of values gives the size in an allocation
/// only, so the deallocation gets the size if the other has it.
fn said(begun: &Decl, ended: &Decl) -> Vec<Option<Expr>> {
    let one = |(n, (b, e)): (usize, (&Option<Expr>, &Option<Expr>))| match (b, e) {
        (Some(b), _) => Some(b.clone()),
        (None, None) => None,
        (None, Some(_)) => begun.listed(n).map(|n| number(n as i128, &begun.span)),
    };
    begun.dims.iter().zip(&ended.dims).enumerate().map(one).collect()
}

fn number(n: i128, span: &Span) -> Expr {
    Expr { kind: ExprKind::Num(n), span: span.clone(), closed: false }
}

/// The negated step of a counter of this type; 1 if it is left out.
fn minus(ty: IntTy, by: Option<&Expr>, beside: &Expr) -> Expr {
    let Some(by) = by else { return number(-1, &beside.span) };
    match &by.kind {
        ExprKind::Num(n) => match opposite(ty, *n) {
            Some(k) => number(k, &by.span),
            None => opposite_of(by),
        },
        // Inverting twice gives the original step.
        ExprKind::Unary(UnOp::Minus, by) => (**by).clone(),
        _ => opposite_of(by),
    }
}

/// The negative of a number in this type. In a type that wraps, the least number is its own negative. For a large
/// `int`, this depends on the width of `int` in the compilation.
fn opposite(ty: IntTy, n: i128) -> Option<i128> {
    match ty {
        IntTy::Int if n == i128::from(i64::MIN) => Some(n),
        IntTy::Int => (n.abs() < 1 << 31).then_some(-n),
        IntTy::Sized { bits, .. } if -n < -(1 << (bits - 1)) => Some((1 << bits) - n),
        IntTy::Sized { bits, .. } if -n >= 1 << (bits - 1) => Some(-n - (1 << bits)),
        IntTy::Sized { .. } => Some(-n),
    }
}

/// −e.
fn opposite_of(e: &Expr) -> Expr {
    Expr { kind: ExprKind::Unary(UnOp::Minus, Box::new(e.clone())), span: e.span.clone(), closed: false }
}
