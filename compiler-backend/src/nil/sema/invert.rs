//! The inverse of statements as they are written, by their structure alone. Loops keep their bounds inside `~`, since where a range ends is
//! known when it is compiled.

use crate::nil::ast::{Condition, Expr, Span, Stmt, StmtKind};

/// The statements undone: each inverted, last one first.
pub(super) fn block(list: &[Stmt]) -> Vec<Stmt> {
    let mut out = Vec::with_capacity(list.len());
    // What `~@routine` undoes is done where the inverse comes to it, and undone where the routine was.
    let mut open: Vec<(Option<&str>, &[Stmt])> = Vec::new();
    for s in list {
        match &s.kind {
            StmtKind::Routine { name, body } => {
                open.push((name.as_ref().map(|n| n.text.as_str()), body));
                out.push(Stmt { kind: StmtKind::Unroutine { name: name.clone() }, span: s.span.clone() });
            }
            StmtKind::Unroutine { name } => {
                let wanted = name.as_ref().map(|n| n.text.as_str());
                let found = open.iter().rposition(|(n, _)| wanted.is_none() || *n == wanted);
                match found.map(|n| open.remove(n)) {
                    Some((_, body)) => {
                        let kind = StmtKind::Routine { name: name.clone(), body: body.to_vec() };
                        out.push(Stmt { kind, span: s.span.clone() });
                    }
                    None => out.push(s.clone()),
                }
            }
            _ => out.push(invert(s)),
        }
    }
    out.reverse();
    out
}

/// What undoes a statement.
pub(super) fn invert(s: &Stmt) -> Stmt {
    let kind = match &s.kind {
        StmtKind::Assign { op, dot, target, value } => {
            StmtKind::Assign { op: op.partner(), dot: *dot, target: target.clone(), value: value.clone() }
        }
        StmtKind::Alloc { target, value, free } => {
            StmtKind::Alloc { target: target.clone(), value: value.clone(), free: !free }
        }
        StmtKind::Zeros { ones, ty, names, free } => {
            StmtKind::Zeros { ones: *ones, ty: ty.clone(), names: names.clone(), free: !free }
        }
        StmtKind::Call { callee, inverse, dot, args, keywords } => StmtKind::Call {
            callee: callee.clone(),
            inverse: !inverse,
            dot: *dot,
            args: args.clone(),
            keywords: keywords.clone(),
        },
        StmtKind::If { branches, otherwise } => StmtKind::If {
            branches: branches.iter().map(|(c, b)| (exchanged(c), block(b))).collect(),
            otherwise: block(otherwise),
        },
        StmtKind::While { condition, body } => StmtKind::While { condition: exchanged(condition), body: block(body) },
        StmtKind::Block(list) => StmtKind::Block(block(list)),
        StmtKind::Inverse(inner) => inner.kind.clone(),
        StmtKind::Marked(mark, inner) => StmtKind::Marked(*mark, Box::new(invert(inner))),
        StmtKind::Safe(safe) => StmtKind::Safe(safe.clone()),
        StmtKind::Convert { from, to, target } => {
            StmtKind::Convert { from: to.clone(), to: from.clone(), target: target.clone() }
        }
        StmtKind::For { .. } | StmtKind::Routine { .. } | StmtKind::Unroutine { .. } => {
            StmtKind::Inverse(Box::new(s.clone()))
        }
    };
    Stmt { kind, span: s.span.clone() }
}

fn exchanged(c: &Condition) -> Condition {
    match &c.post {
        Some(post) => Condition { pre: post.clone(), post: Some(c.pre.clone()) },
        None => c.clone(),
    }
}

/// A call of a name on expressions, as an expression.
pub(super) fn call(name: &str, args: Vec<Expr>, span: &Span) -> Expr {
    use crate::nil::ast::ExprKind;
    let callee = Expr { kind: ExprKind::Name(name.to_string()), span: span.clone() };
    let kind = ExprKind::Call { callee: Box::new(callee), dot: false, args, keywords: Vec::new() };
    Expr { kind, span: span.clone() }
}
