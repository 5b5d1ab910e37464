//! Arguments of one call that may be the same words: refused if one of them is changed, or checked at run time.

use pendula_isa::{Cond, Ty};

use super::Done;
use super::body::Body;
use super::call::CallArg;
use super::value::{Product, ScalarExpr, View};
use crate::ir::{AssertKind, FunctionId, Operand, Place, Stmt, Test};
use crate::nil::ast::Span;
use crate::nil::codes;

impl<'a> Body<'_, 'a> {
    /// Refuses arguments that are the same words if one of them is changed, and emits checks where this is known at run
    /// time only.
    pub(super) fn check_aliases(&mut self, fun: FunctionId, args: &[CallArg], span: &Span) -> Done<()> {
        let changed: Vec<bool> = (0..args.len()).map(|k| self.changes(fun, k)).collect();
        let changes = |k: usize| changed.get(k).copied().unwrap_or(true);
        for i in 0..args.len() {
            for j in i + 1..args.len() {
                if !changes(i) && !changes(j) {
                    continue;
                }
                let (a, b) = (&args[i], &args[j]);
                for (x, y) in a.places.iter().flat_map(|x| b.places.iter().map(move |y| (*x, *y))) {
                    self.keep_all_apart(&[x, y], span)?;
                }
                for (views, places) in [(&a.views, &b.places), (&b.views, &a.places)] {
                    for view in views.iter() {
                        if places.iter().any(|p| matches!(p, Place::Mem(m) if m.region == view.region)) {
                            return self.fail(
                                span,
                                codes::ALIAS,
                                "an array and one of its elements are given here, and changed",
                                "copy the element before",
                            );
                        }
                    }
                }
                for x in &a.views {
                    for y in b.views.iter().filter(|y| y.region == x.region) {
                        self.keep_views_apart(&x.clone(), &y.clone(), span)?;
                    }
                }
            }
            // One argument, such as a struct, may contain a place twice.
            if changes(i) {
                self.keep_all_apart(&args[i].places.clone(), span)?;
            }
        }
        Ok(())
    }

    fn keep_views_apart(&mut self, a: &View, b: &View, span: &Span) -> Done<()> {
        if a == b {
            return self.fail(
                span,
                codes::ALIAS,
                "an array is given twice here, and changed",
                "give different arrays; copy one of them before",
            );
        }
        let (at_a, at_b) = (self.address_value(a)?, self.address_value(b)?);
        let distance = vec![Product::operand(at_a), Product { factor: -1, ..Product::operand(at_b) }];
        let d = self.integer_sum("distance", distance);
        let words = |s: &mut Self, v: &View| -> Done<Operand> {
            let w = Product::number(v.element.words().unwrap_or(1));
            let len = s.length(v)?;
            Ok(s.product_value(&w.times(&Product::operand(len))))
        };
        let test = if a.is_contiguous() && b.is_contiguous() {
            let (len_a, len_b) = (words(self, a)?, words(self, b)?);
            let behind = ScalarExpr::cmp(Cond::Ge, Ty::Int, ScalarExpr::var(d), len_b.into());
            let before =
                ScalarExpr::cmp(Cond::Le, Ty::Int, ScalarExpr::var(d), ScalarExpr::Neg(Box::new(len_a.into())));
            self.test(ScalarExpr::Or(Box::new(behind), Box::new(before)))?
        } else if a.dims.len() == 1 && a.dims.iter().map(|d| &d.stride).eq(b.dims.iter().map(|d| &d.stride)) {
            // Different rows of one matrix have no common element.
            Test::int(Cond::Ne, Operand::Var(d), Operand::Const(0))
        } else {
            let help = "copy one of them before";
            return self.fail(
                span,
                codes::ALIAS,
                "parts of one array are given here that may overlap, and are changed",
                help,
            );
        };
        let array = self.f.regions.get(a.region.0 as usize).map_or("", |r| r.name.as_str());
        let reason = self.reason(format!("two parts of `{array}`, of which one is changed, overlap"));
        self.now.asserts.push(Stmt::Assert { test, why: AssertKind::Alias, reason });
        Ok(())
    }
}
