//! The inverse of statements, by their syntax. Loops keep their bounds inside `~`, because the end of a range is known
//! when the range is compiled.

use crate::nil::ast::{Binary, Condition, Expr, ExprKind, Name, Side, Span, Stmt, StmtKind};

/// The inverse of statements: the inverse of each, last one first.
pub(super) fn block(list: &[Stmt]) -> Vec<Stmt> {
    let mut out = Vec::with_capacity(list.len());
    // A routine that `~@routine` undoes is done where the inverse reaches `~@routine`, and undone at the routine.
    let mut open: Vec<(Option<&str>, &[Stmt])> = Vec::new();
    for s in list {
        match &s.kind {
            StmtKind::Routine { name, body } => {
                open.push((name.as_ref().map(|n| n.text.as_str()), body));
                out.push(Stmt { kind: StmtKind::Unroutine { name: name.clone() }, span: s.span.clone() });
            }
            StmtKind::Unroutine { name } => {
                let name_sought = name.as_ref().map(|n| n.text.as_str());
                let found = open.iter().rposition(|(n, _)| name_sought.is_none() || *n == name_sought);
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

/// The inverse of the statements of a scope. Variables that the scope would deallocate at its end are deallocated
/// there.
pub(super) fn scope(list: &[Stmt]) -> Vec<Stmt> {
    let mut live = Vec::new();
    lives(list, &mut live);
    let ends = live.into_iter().rev().map(|(name, value)| {
        let span = name.span.clone();
        let target = Expr { kind: ExprKind::Name(name.text), span: span.clone() };
        Stmt { kind: StmtKind::Alloc { target, value, free: true }, span }
    });
    let whole: Vec<Stmt> = list.iter().cloned().chain(ends).collect();
    block(&whole)
}

/// The variables that scopes in these statements leave to be deallocated implicitly, scope by scope.
pub(super) fn forgotten(list: &[Stmt], found: &mut Vec<Vec<Name>>) {
    fn within(list: &[Stmt], found: &mut Vec<Vec<Name>>) {
        let mut live = Vec::new();
        lives(list, &mut live);
        found.push(live.into_iter().map(|(name, _)| name).collect());
        forgotten(list, found);
    }
    for s in list {
        match &s.kind {
            StmtKind::If { branches, otherwise } => {
                branches.iter().for_each(|(_, list)| within(list, found));
                within(otherwise, found);
            }
            StmtKind::While { body, .. } | StmtKind::For { body, .. } => within(body, found),
            StmtKind::Block(list) | StmtKind::Routine { body: list, .. } => forgotten(list, found),
            StmtKind::Inverse(inner) | StmtKind::Marked(_, inner) => forgotten(std::slice::from_ref(inner), found),
            StmtKind::Assign { .. }
            | StmtKind::Alloc { .. }
            | StmtKind::Zeros { .. }
            | StmtKind::Call { .. }
            | StmtKind::Unroutine { .. }
            | StmtKind::Safe(_)
            | StmtKind::Exchange { .. }
            | StmtKind::Convert { .. } => {}
        }
    }
}

/// The variables that the statements of one scope leave allocated, with their initial values.
fn lives(list: &[Stmt], live: &mut Vec<(Name, Expr)>) {
    for s in list {
        match &s.kind {
            StmtKind::Alloc { target, value, free } => pairs(target, value, *free, live),
            StmtKind::Zeros { ones, ty, names, free } => {
                let ty_of = Expr { kind: ExprKind::Type(ty.clone()), span: ty.span.clone() };
                let value = call(if *ones { "one" } else { "zero" }, vec![ty_of], &ty.span);
                for name in names {
                    life(name.clone(), &value, *free, live);
                }
            }
            StmtKind::Convert { to, target, .. } => {
                if let ExprKind::Name(name) = &target.kind
                    && let Some((_, value)) = live.iter_mut().rev().find(|(n, _)| n.text == *name)
                {
                    let to_of = Expr { kind: ExprKind::Type(to.clone()), span: to.span.clone() };
                    *value = call("zero", vec![to_of], &to.span);
                }
            }
            StmtKind::Exchange { left, right } => {
                for (from, to) in [(left, right), (right, left)] {
                    if let (true, ExprKind::Name(new), ExprKind::Name(old)) =
                        (to.empty, &to.place.kind, &from.place.kind)
                        && let Some((name, _)) = live.iter_mut().rev().find(|(n, _)| n.text == *old)
                    {
                        name.text.clone_from(new);
                    }
                }
            }
            StmtKind::Block(list) => lives(list, live),
            StmtKind::Marked(_, inner) => lives(std::slice::from_ref(inner), live),
            StmtKind::Inverse(inner) => match &inner.kind {
                StmtKind::For { .. } | StmtKind::Routine { .. } | StmtKind::Unroutine { .. } => {}
                _ => lives(std::slice::from_ref(&invert(inner)), live),
            },
            // Inner blocks have scopes of their own; variables of a routine are deallocated with it.
            StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::For { .. }
            | StmtKind::Routine { .. }
            | StmtKind::Unroutine { .. }
            | StmtKind::Assign { .. }
            | StmtKind::Call { .. }
            | StmtKind::Safe(_) => {}
        }
    }
}

fn pairs(target: &Expr, value: &Expr, free: bool, live: &mut Vec<(Name, Expr)>) {
    match (&target.kind, &value.kind) {
        (ExprKind::Name(name), _) => {
            life(Name { text: name.clone(), span: target.span.clone() }, value, free, live);
        }
        (ExprKind::Tuple(names), ExprKind::Tuple(values)) if names.len() == values.len() => {
            names.iter().zip(values).for_each(|(name, value)| pairs(name, value, free, live));
        }
        (ExprKind::Tuple(names), _) => {
            for (k, name) in names.iter().enumerate() {
                let k = Expr { kind: ExprKind::Int((k + 1).to_string()), span: value.span.clone() };
                let part = ExprKind::Index(Box::new(value.clone()), vec![k]);
                pairs(name, &Expr { kind: part, span: value.span.clone() }, free, live);
            }
        }
        _ => {}
    }
}

fn life(name: Name, value: &Expr, free: bool, live: &mut Vec<(Name, Expr)>) {
    if !free {
        live.push((name, value.clone()));
    } else if let Some(n) = live.iter().rposition(|(other, _)| other.text == name.text) {
        live.remove(n);
    }
}

/// The inverse of a statement.
pub(super) fn invert(s: &Stmt) -> Stmt {
    let kind = match &s.kind {
        StmtKind::Assign { op, dot, target, value } => {
            StmtKind::Assign { op: op.partner(), dot: *dot, target: target.clone(), value: value.clone() }
        }
        StmtKind::Alloc { target, value, free } => {
            StmtKind::Alloc { target: target.clone(), value: value.clone(), free: !free }
        }
        // What has no value before it has one after it, and the other way.
        StmtKind::Exchange { left, right } => {
            // `x[end+1] ↔ y`, which pushes y and leaves it without a value, is undone by `x[end] ↔ y::∅`.
            for (stack, other, first) in [(left, right, true), (right, left, false)] {
                if let Some(popped) = pushed_and_popped(stack, other) {
                    let other = Side { place: other.place.clone(), empty: !other.empty };
                    let (left, right) = if first { (popped, other) } else { (other, popped) };
                    return Stmt { kind: StmtKind::Exchange { left, right }, span: s.span.clone() };
                }
            }
            let side = |of: &Side, other: &Side| Side { place: of.place.clone(), empty: other.empty };
            StmtKind::Exchange { left: side(left, right), right: side(right, left) }
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
            branches: branches.iter().map(|(c, b)| (exchanged(c), scope(b))).collect(),
            otherwise: scope(otherwise),
        },
        StmtKind::While { condition, body } => StmtKind::While { condition: exchanged(condition), body: scope(body) },
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

/// For the side `x[end+1]` of an exchange that pushes the other, `x[end]`; and the other way for one that pops.
fn pushed_and_popped(stack: &Side, other: &Side) -> Option<Side> {
    let ExprKind::Index(of, at) = &stack.place.kind else { return None };
    let [at] = &at[..] else { return None };
    let expr = |kind: ExprKind| Expr { kind, span: at.span.clone() };
    let end = || expr(ExprKind::Name("end".to_string()));
    let index = match (at.is_above_end(), at.is_end(), other.empty) {
        (true, _, false) => end(),
        (_, true, true) => {
            let (left, right) = (Box::new(end()), Box::new(expr(ExprKind::Int("1".to_string()))));
            expr(ExprKind::Binary { op: Binary::Add, dot: false, left, right })
        }
        _ => return None,
    };
    let kind = ExprKind::Index(of.clone(), vec![index]);
    Some(Side { place: Expr { kind, span: stack.place.span.clone() }, empty: false })
}

fn exchanged(c: &Condition) -> Condition {
    match &c.post {
        Some(post) => Condition { pre: post.clone(), post: Some(c.pre.clone()) },
        None => c.clone(),
    }
}

/// A call expression of a function by name.
pub(super) fn call(name: &str, args: Vec<Expr>, span: &Span) -> Expr {
    let callee = Expr { kind: ExprKind::Name(name.to_string()), span: span.clone() };
    let kind = ExprKind::Call { callee: Box::new(callee), dot: false, args, keywords: Vec::new() };
    Expr { kind, span: span.clone() }
}
