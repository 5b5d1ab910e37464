//! Booleans: comparisons for branches, and words that are 0 or 1.

use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::{Acc, Cond};

use super::Done;
use super::body::{Body, ID, Sink};
use super::constant;
use crate::ir::{Condition, Operand, Place, Stmt, Test};
use crate::janus::ast::{BinOp, Expr, ExprKind, IntTy, UnOp};
use crate::janus::codes;

/// The condition of a comparison.
pub(super) fn cond(op: BinOp, unsigned: bool) -> Option<(Cond, bool)> {
    // The second value tells whether the operands are exchanged.
    Some(match (op, unsigned) {
        (BinOp::Lt, false) => (Cond::Lt, false),
        (BinOp::Le, false) => (Cond::Le, false),
        (BinOp::Gt, false) => (Cond::Gt, false),
        (BinOp::Ge, false) => (Cond::Ge, false),
        (BinOp::Lt, true) => (Cond::Ltu, false),
        (BinOp::Ge, true) => (Cond::Geu, false),
        (BinOp::Gt, true) => (Cond::Ltu, true),
        (BinOp::Le, true) => (Cond::Geu, true),
        (BinOp::Eq, _) => (Cond::Eq, false),
        (BinOp::Ne, _) => (Cond::Ne, false),
        _ => return None,
    })
}

impl Body<'_, '_> {
    /// The condition of a branch or a loop.
    pub(super) fn condition(&mut self, e: &Expr) -> Done<Condition> {
        let (compute, test) = self.at(&e.span, |b| b.computed(|b| b.test(e)))?;
        Ok(Condition { compute, test })
    }

    /// The operands of a comparison.
    fn sides(&mut self, op: BinOp, a: &Expr, b: &Expr) -> Done<(Cond, Operand, Operand)> {
        for side in [a, b] {
            let compares = matches!(side.kind, ExprKind::Binary(op, ..) if cond(op, false).is_some());
            if compares && !side.closed && !self.s.settings.classic {
                let help = "write both: `a < b && b < c`; or put the comparison in parentheses, to compare the 1 or 0 that it is";
                return self.fail(&side.span, codes::TYPE, "what a comparison gives is compared here", help);
            }
        }
        let ty = match self.int_type(a)? {
            Some(ty) => ty,
            None => self.int_type(b)?.unwrap_or(IntTy::Int),
        };
        let width = self.width(ty);
        let (x, y) = (self.operand(a, ty)?, self.operand(b, ty)?);
        let unsigned = width.is_full() && !width.signed;
        match cond(op, unsigned) {
            Some((cond, false)) => Ok((cond, x, y)),
            Some((cond, true)) => Ok((cond, y, x)),
            None => self.fail(
                &a.span,
                codes::TYPE,
                "this is not a comparison",
                "compare with `=`, `!=`, `<` and their like",
            ),
        }
    }

    /// A Boolean as a comparison, with its operands computed.
    pub(super) fn test(&mut self, e: &Expr) -> Done<Test> {
        let zero = Operand::Const(0);
        match &e.kind {
            ExprKind::Bool(is) => {
                let cond = if *is { Cond::Eq } else { Cond::Ne };
                Ok(Test::int(cond, zero, zero))
            }
            ExprKind::Unary(UnOp::Not, a) => Ok(self.test(a)?.negated()),
            ExprKind::Binary(op, a, b) if cond(*op, false).is_some() => {
                let (cond, a, b) = self.sides(*op, a, b)?;
                Ok(Test::int(cond, self.compared(a), self.compared(b)))
            }
            ExprKind::Binary(BinOp::LogicalAnd | BinOp::LogicalOr, _, _) => {
                let var = self.temporary("holds");
                self.truth(Sink::Pre, Place::Var(var), (Acc::Add, false), e)?;
                Ok(Test::int(Cond::Ne, Operand::Var(var), zero))
            }
            ExprKind::Empty(name) => {
                let count = self.count(name)?;
                Ok(Test::int(Cond::Eq, count, zero))
            }
            _ if self.s.settings.classic => {
                let ty = self.int_type(e)?.unwrap_or(IntTy::Int);
                let word = self.operand(e, ty)?;
                Ok(Test::int(Cond::Ne, self.compared(word), zero))
            }
            _ => {
                let message = "a condition is expected here, found an integer";
                let help = match &e.kind {
                    // Comparisons bind tighter: `x & 1 = 1` is `x & (1 = 1)`.
                    ExprKind::Binary(BinOp::And, a, b) if self.is_truth(a) || self.is_truth(b) => {
                        "`&` is of bits, and looser than a comparison: write `a && b`, or `(x & 1) = 1`"
                    }
                    ExprKind::Binary(BinOp::Or, a, b) if self.is_truth(a) || self.is_truth(b) => {
                        "`|` is of bits, and looser than a comparison: write `a || b`, or `(x | 1) = 1`"
                    }
                    _ => "compare it: `x != 0`",
                };
                self.fail(&e.span, codes::TYPE, message, help)
            }
        }
    }

    /// `dst ⊕=` 1 if the expression is true, else 0.
    pub(super) fn truth(&mut self, sink: Sink, dst: Place, (acc, inverse): (Acc, bool), e: &Expr) -> Done<()> {
        let add = |b: &mut Self, inverse: bool, func: TableFn, args: Vec<Operand>| {
            b.update(sink, (acc, inverse), func, dst, args);
        };
        match &e.kind {
            ExprKind::Bool(is) => add(self, inverse, ID, vec![Operand::Const(u64::from(*is))]),
            ExprKind::Unary(UnOp::Not, a) => {
                add(self, inverse, ID, vec![Operand::Const(1)]);
                self.truth(sink, dst, (acc, !inverse), a)?;
            }
            ExprKind::Binary(op, a, b) if cond(*op, false).is_some() => {
                use int_fn::Name::{Eq, Lt, Ltu};
                let (cond, a, b) = self.sides(*op, a, b)?;
                let (func, args, not) = match cond {
                    Cond::Eq | Cond::Always => (Eq, vec![a, b], false),
                    Cond::Ne => (Eq, vec![a, b], true),
                    Cond::Lt => (Lt, vec![a, b], false),
                    Cond::Ge => (Lt, vec![a, b], true),
                    Cond::Gt => (Lt, vec![b, a], false),
                    Cond::Le => (Lt, vec![b, a], true),
                    Cond::Ltu => (Ltu, vec![a, b], false),
                    Cond::Geu => (Ltu, vec![a, b], true),
                };
                if not {
                    add(self, inverse, ID, vec![Operand::Const(1)]);
                }
                add(self, inverse != not, TableFn::Int(func), args);
            }
            ExprKind::Binary(op @ (BinOp::LogicalAnd | BinOp::LogicalOr), a, b) => {
                let classic = self.s.settings.classic;
                if !classic {
                    self.mixed(*op, a);
                    self.mixed(*op, b);
                }
                let both = *op == BinOp::LogicalAnd;
                // The first language evaluates both operands.
                if classic || self.is_calm(b) {
                    let (x, y) = (self.held(a)?, self.held(b)?);
                    let func = TableFn::Int(if both { int_fn::Name::And } else { int_fn::Name::Or });
                    add(self, inverse, func, vec![x, y]);
                } else {
                    // The second operand is evaluated only if it decides.
                    let pre = self.condition(a)?;
                    let (other, done) = self.block(|s| s.statement(|s| s.truth(Sink::Out, dst, (acc, inverse), b)));
                    done?;
                    let (one, _) =
                        self.block(|s| s.update(Sink::Out, (acc, inverse), ID, dst, vec![Operand::Const(1)]));
                    let (then, otherwise) = if both { (other, Vec::new()) } else { (one, other) };
                    self.emit(sink, Stmt::branch(pre, then, otherwise));
                }
            }
            ExprKind::Empty(name) => {
                let count = self.count(name)?;
                add(self, inverse, TableFn::Int(int_fn::Name::Eq), vec![count, Operand::Const(0)]);
            }
            _ if self.s.settings.classic => {
                let ty = self.int_type(e)?.unwrap_or(IntTy::Int);
                let word = self.operand(e, ty)?;
                add(self, inverse, ID, vec![Operand::Const(1)]);
                add(self, !inverse, TableFn::Int(int_fn::Name::Eq), vec![word, Operand::Const(0)]);
            }
            _ => {
                self.test(e)?;
            }
        }
        Ok(())
    }

    /// Whether an expression is a Boolean. As a number it is 1 or 0; in the first language all ones or 0.
    pub(super) fn is_truth(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Unary(UnOp::Not, _) | ExprKind::Bool(_) | ExprKind::Empty(_) => true,
            ExprKind::Binary(op, ..) => {
                cond(*op, false).is_some() || matches!(op, BinOp::LogicalAnd | BinOp::LogicalOr)
            }
            _ => false,
        }
    }

    /// A Boolean as a word.
    fn held(&mut self, e: &Expr) -> Done<Operand> {
        if let ExprKind::Bool(is) = e.kind {
            return Ok(Operand::Const(u64::from(is)));
        }
        let var = self.temporary("holds");
        self.truth(Sink::Pre, Place::Var(var), (Acc::Add, false), e)?;
        Ok(Operand::Var(var))
    }

    /// Warns of the other operator on this side without parentheses.
    fn mixed(&mut self, op: BinOp, side: &Expr) {
        if let ExprKind::Binary(other @ (BinOp::LogicalAnd | BinOp::LogicalOr), ..) = side.kind
            && other != op
            && !side.closed
        {
            let place = self.s.place(&side.span);
            let message = "`&&` and `||` have the same precedence, and are evaluated from the left";
            let d = pendula_isa::diagnostic::Diagnostic::warning(codes::MIXED, message);
            self.s.found.push(d.at(place, "").help("put this in parentheses, here or where you mean it"));
        }
    }

    /// Whether an expression can be computed even if it is not used: it cannot trap, and can overflow only in a sum.
    pub(super) fn is_calm(&self, e: &Expr) -> bool {
        if constant::known(e).is_some() {
            return true;
        }
        match &e.kind {
            ExprKind::Num(_) | ExprKind::Bool(_) | ExprKind::Nil | ExprKind::Empty(_) | ExprKind::Size(_) => true,
            ExprKind::Place(l) => l.indices.iter().all(|i| constant::known(i).is_some()),
            ExprKind::Unary(_, a) | ExprKind::Cast(_, a) => self.is_calm(a),
            ExprKind::Top(_) | ExprKind::List(_) => false,
            ExprKind::Binary(op, a, b) => {
                let divides = matches!(op, BinOp::Div | BinOp::Mod);
                let fits = match op {
                    BinOp::Mul | BinOp::Pow | BinOp::Shl | BinOp::Shr | BinOp::Fraction => false,
                    _ => !divides || constant::known(b).is_some_and(|k| k != 0 && i64::try_from(k).is_ok()),
                };
                fits && self.is_calm(a) && self.is_calm(b)
            }
        }
    }
}
