//! Conditions that are decided before the run.

use pendula_isa::Ty;

use super::body::Body;
use super::value::{ScalarExpr, Value};
use crate::nil::ast::{self, ExprKind};

impl Body<'_, '_> {
    /// What a condition comes to that depends on lengths of tuples, numbers, and what types tell only.
    pub(super) fn decided(&mut self, condition: &ast::Condition) -> Option<bool> {
        fn is_of_lengths(s: &Body<'_, '_>, e: &ast::Expr, any: &mut bool) -> bool {
            match &e.kind {
                ExprKind::Int(_) => true,
                _ if s.asks_for_single(e) => {
                    *any = true;
                    true
                }
                ExprKind::Binary { op: ast::Binary::Eq | ast::Binary::Ne, left, right, .. }
                    if [left, right].iter().any(|e| matches!(&e.kind, ExprKind::Name(name) if name == "nothing")) =>
                {
                    *any = true;
                    true
                }
                ExprKind::Binary { dot: false, left, right, .. } => {
                    is_of_lengths(s, left, any) && is_of_lengths(s, right, any)
                }
                ExprKind::Unary(ast::Unary::Not, inner) => is_of_lengths(s, inner, any),
                ExprKind::Call { callee, dot: false, args, .. } => match (&callee.kind, &args[..]) {
                    (ExprKind::Name(f), [ast::Expr { kind: ExprKind::Name(of), .. }]) if f == "length" => {
                        *any = true;
                        let found = s.scopes.find(of).and_then(|n| s.scopes.get(n));
                        matches!(found.map(|b| &b.value), Some(Value::Tuple(_)))
                    }
                    _ => false,
                },
                _ => false,
            }
        }
        let mut any = false;
        if condition.post.as_ref().is_some_and(|post| *post != condition.pre)
            || !is_of_lengths(self, &condition.pre, &mut any)
            || !any
        {
            return None;
        }
        let found = self.s.diagnostics.len();
        let (compute, value) = self.computed(|s| s.truth(&condition.pre));
        self.s.diagnostics.truncate(found);
        value.ok().filter(|_| compute.is_empty()).and_then(|x| known_truth(&x))
    }
}

/// What a condition of constants comes to.
fn known_truth(x: &ScalarExpr) -> Option<bool> {
    match x {
        ScalarExpr::Const(w) => Some(*w != 0),
        ScalarExpr::Not(x) => known_truth(x).map(|x| !x),
        ScalarExpr::And(a, b) => Some(known_truth(a)? && known_truth(b)?),
        ScalarExpr::Or(a, b) => Some(known_truth(a)? || known_truth(b)?),
        ScalarExpr::Cmp(cond, Ty::Int, a, b) => match (&**a, &**b) {
            (ScalarExpr::Const(a), ScalarExpr::Const(b)) => {
                Some(cond.holds(Some(a.cast_signed().cmp(&b.cast_signed()))))
            }
            _ => None,
        },
        _ => None,
    }
}
