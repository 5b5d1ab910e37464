//! Where a statement reads what it writes: for messages.

use super::body::Body;
use super::predict::roots;
use crate::nil::ast::{Binary, Expr, ExprKind, Span};
use crate::nil::codes;

/// The longest piece of source that a message repeats.
const LONGEST: usize = 40;

impl Body<'_, '_> {
    /// Improves the message for a statement that reads what it writes: it names the expression and its place. `before`
    /// is the number of earlier messages. The statement may write `targets`, and may read `targets` and `values`.
    pub(super) fn point_at_read(&mut self, before: usize, span: &Span, targets: &[&Expr], values: &[&Expr]) {
        let refused = |d: &pendula_isa::diagnostic::Diagnostic| {
            d.code == codes::READS_TARGET && d.primary.as_ref().is_some_and(|l| l.place.span == *span)
        };
        let Some(n) = (before..self.s.diagnostics.len()).find(|n| refused(&self.s.diagnostics[*n])) else { return };
        let text = self.s.inputs.get(self.file as usize).map_or("", |i| i.text.as_str());
        let source = |e: &Expr| text.get(e.span.clone()).unwrap_or("");
        let mut found: Vec<(&Expr, bool)> = Vec::new();
        for target in targets {
            let mut names = Vec::new();
            roots(target, &mut |name| names.push(name));
            for e in values.iter().chain(targets) {
                let is_target = std::ptr::eq(*e, *target);
                read_in(e, &names, is_target, &mut |e| found.push((e, source(e) == source(target))));
            }
        }
        // The identical expression goes before another part of the same array or struct.
        let Some((e, _)) = found.iter().find(|(_, same)| *same).or(found.first()) else { return };
        let is = source(e).to_string();
        let d = &mut self.s.diagnostics[n];
        if is.len() <= LONGEST && !is.contains('\n') {
            d.message = format!("`{is}` is read by the statement that changes it");
        }
        if let Some(label) = &mut d.primary {
            label.place.span = e.span.clone();
        }
    }
}

/// Visits the parts of an expression that read one of these variables or something in it; with `is_target`, not the
/// expression as a whole.
fn read_in<'a>(e: &'a Expr, names: &[&str], is_target: bool, visit: &mut impl FnMut(&'a Expr)) {
    let all = |parts: Vec<&'a Expr>, visit: &mut _| parts.into_iter().for_each(|p| read_in(p, names, false, visit));
    match &e.kind {
        ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::Field(..) | ExprKind::Adjoint(_) => {
            let mut one = false;
            if !is_target {
                roots(e, &mut |name| one |= names.contains(&name));
            }
            if one {
                visit(e);
            }
        }
        _ => {}
    }
    match &e.kind {
        ExprKind::Index(a, indices) => {
            // The array itself has been visited.
            if !matches!(a.kind, ExprKind::Name(_)) {
                read_in(a, names, true, visit);
            }
            all(indices.iter().collect(), visit);
        }
        ExprKind::Field(a, _) | ExprKind::Adjoint(a) => read_in(a, names, true, visit),
        ExprKind::Unary(_, a)
        | ExprKind::Const(a)
        | ExprKind::Typed(a, _)
        | ExprKind::Fields(a)
        | ExprKind::Splat(a)
        | ExprKind::Skip(a) => read_in(a, names, is_target, visit),
        ExprKind::Pipe(a, b) => {
            read_in(a, names, is_target, visit);
            read_in(b, names, false, visit);
        }
        ExprKind::Call { args, keywords, .. } => {
            args.iter().for_each(|p| read_in(p, names, is_target, visit));
            keywords.iter().for_each(|(_, p)| read_in(p, names, false, visit));
        }
        ExprKind::Tuple(parts) | ExprKind::Array(parts) => {
            parts.iter().for_each(|p| read_in(p, names, is_target, visit));
        }
        _ => all(e.parts(), visit),
    }
}

impl Expr {
    /// Whether it is `end`, as an index.
    pub fn is_end(&self) -> bool {
        matches!(&self.kind, ExprKind::Name(n) if n == "end")
    }

    /// Whether it is `end+1`, as an index.
    pub fn is_above_end(&self) -> bool {
        match &self.kind {
            ExprKind::Binary { op: Binary::Add, left, right, .. } => {
                left.is_end() && matches!(&right.kind, ExprKind::Int(n) if n == "1")
            }
            _ => false,
        }
    }

    /// The expressions that it is made of, in their order; of a call, its arguments.
    pub fn parts(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Name(_)
            | ExprKind::Colon
            | ExprKind::Type(_)
            | ExprKind::Text(_)
            | ExprKind::Int(_)
            | ExprKind::Real(_)
            | ExprKind::Bool(_) => Vec::new(),
            ExprKind::Unary(_, a)
            | ExprKind::Field(a, _)
            | ExprKind::Adjoint(a)
            | ExprKind::Const(a)
            | ExprKind::Typed(a, _)
            | ExprKind::Fields(a)
            | ExprKind::Splat(a)
            | ExprKind::Skip(a) => vec![a],
            ExprKind::Binary { left: a, right: b, .. } | ExprKind::Pipe(a, b) => vec![a, b],
            ExprKind::Choice(a, b, c) => vec![a, b, c],
            ExprKind::Range { first, step, last } => {
                [Some(first), step.as_ref(), Some(last)].into_iter().flatten().map(|part| &**part).collect()
            }
            ExprKind::Index(a, rest) => std::iter::once(&**a).chain(rest).collect(),
            ExprKind::Call { args, keywords, .. } => args.iter().chain(keywords.iter().map(|(_, e)| e)).collect(),
            ExprKind::Tuple(parts) | ExprKind::Array(parts) => parts.iter().collect(),
        }
    }
}
