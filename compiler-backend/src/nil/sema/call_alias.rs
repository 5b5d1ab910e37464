//! Arguments of one call that may be the same words: refused if one of them is changed, or checked at run time.

use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::{Cond, Ty};

use super::Done;
use super::body::Body;
use super::call::CallArg;
use super::value::{Product, ScalarExpr, View};
use crate::ir::{AssertKind, FunctionId, Operand, Place, Stmt};
use crate::nil::ast::Span;
use crate::nil::codes;

impl<'a> Body<'_, 'a> {
    /// Refuses a call that changes a place that was read to compute another argument.
    pub(super) fn check_inputs(&mut self, args: &[CallArg], span: &Span) -> Done<()> {
        let changed: Vec<Place> = args.iter().filter(|r| r.changed).flat_map(|r| r.places.iter().copied()).collect();
        let reads = self.now.reads.clone();
        self.keep_apart(&changed, &reads, span)?;
        for view in args.iter().filter(|r| r.changed).flat_map(|r| &r.views) {
            let inside = |p: &Place| matches!(p, Place::Mem(m) if m.region == view.region);
            if reads.iter().any(inside) || self.now.regions_read.contains(&view.region) {
                let help = "compute the other argument into an ancilla before, and undo that afterwards";
                return self.fail(
                    span,
                    codes::ALIAS,
                    "an array is changed here, and another argument is computed from it",
                    help,
                );
            }
        }
        Ok(())
    }

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
                    // An index may be given beside the element, as long as it stays the same.
                    let is_index_only = match (x, y) {
                        (Place::Mem(_), Place::Var(_)) => !changes(j),
                        (Place::Var(_), Place::Mem(_)) => !changes(i),
                        (Place::Var(_), Place::Var(_)) | (Place::Mem(_), Place::Mem(_)) => false,
                    };
                    if !is_index_only {
                        self.keep_all_apart(&[x, y], span)?;
                    }
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
                        self.keep_views_apart(&x.clone(), &y.clone(), false, span)?;
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

    /// Refuses two parts of one array that overlap, and emits a check where this is known at run time only. They may be the `same` if what is done
    /// then does nothing.
    pub(super) fn keep_views_apart(&mut self, a: &View, b: &View, same: bool, span: &Span) -> Done<()> {
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
        let apart = if a.is_contiguous() && b.is_contiguous() {
            let (len_a, len_b) = (words(self, a)?, words(self, b)?);
            let behind = ScalarExpr::cmp(Cond::Ge, Ty::Int, ScalarExpr::var(d), len_b.into());
            let before =
                ScalarExpr::cmp(Cond::Le, Ty::Int, ScalarExpr::var(d), ScalarExpr::Neg(Box::new(len_a.into())));
            ScalarExpr::Or(Box::new(behind), Box::new(before))
        } else if a.dims.len() == 1 && a.dims.iter().map(|d| &d.stride).eq(b.dims.iter().map(|d| &d.stride)) {
            // Elements at one distance from each other: they are the same if the distance of the parts is a multiple of it, and shorter
            // than the parts.
            let stride = a.dims.first().map(|dim| dim.stride.clone()).unwrap_or(Product::number(1));
            let stride: ScalarExpr = self.product_value(&stride).into();
            let of = |f: int_fn::Name, x: ScalarExpr, y: ScalarExpr| ScalarExpr::Apply(TableFn::Int(f), vec![x, y]);
            let distance = ScalarExpr::var(d);
            let turns = self.put(Ty::Int, of(int_fn::Name::Div, distance.clone(), stride.clone()))?;
            let rest = of(int_fn::Name::Minus, distance, of(int_fn::Name::Mul, turns.into(), stride));
            let (len_a, len_b) = (self.length(a)?, self.length(b)?);
            let between = ScalarExpr::cmp(Cond::Ne, Ty::Int, rest, ScalarExpr::Const(0));
            let behind = ScalarExpr::cmp(Cond::Ge, Ty::Int, turns.into(), len_b.into());
            let before = ScalarExpr::cmp(Cond::Le, Ty::Int, turns.into(), ScalarExpr::Neg(Box::new(len_a.into())));
            let apart = ScalarExpr::Or(Box::new(behind), Box::new(before));
            ScalarExpr::Or(Box::new(between), Box::new(apart))
        } else {
            let help = "copy one of them before";
            return self.fail(
                span,
                codes::ALIAS,
                "parts of one array are given here that may overlap, and are changed",
                help,
            );
        };
        let equal = ScalarExpr::cmp(Cond::Eq, Ty::Int, ScalarExpr::var(d), ScalarExpr::Const(0));
        let apart = if same { ScalarExpr::Or(Box::new(equal), Box::new(apart)) } else { apart };
        let test = self.test(apart)?;
        let array = self.f.regions.get(a.region.0 as usize).map_or("", |r| r.name.as_str());
        let reason = self.reason(format!("two parts of `{array}`, of which one is changed, overlap"));
        self.now.asserts.push(Stmt::Assert { test, why: AssertKind::Alias, reason });
        Ok(())
    }
}
