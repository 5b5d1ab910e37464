//! Maps the regions of a function to those of its caller.
//!
//! Regions belong to a function. A region that the caller passed is identified by the parameters that point into it.

use crate::ir::effects::{Summaries, walk};
use crate::ir::{IrFunction, LocatedStmt, Mem, Operand, Stmt, Var};
use crate::passes::rewrite::slots;

/// Visits the words of memory that a block names.
fn each_mem(body: &[LocatedStmt], summaries: &Summaries, visit: &mut impl FnMut(Mem)) {
    walk(body, &mut |s| {
        slots(&s.stmt, summaries, &mut |slot| {
            if let Some(Operand::Mem(m)) = slot.operand() {
                visit(m);
            }
        });
    });
}

/// Where a function's region comes from.
pub(super) enum Origin {
    /// No word of it is used.
    Unused,
    /// An array of the function's own.
    Own,
    /// Parameters that point into it.
    Given(Vec<Var>),
    /// Unknown.
    Unknown,
}

/// The origin of each region of a function.
pub(super) fn origins(function: &IrFunction, summaries: &Summaries) -> Vec<Origin> {
    let mut out: Vec<Origin> = function.regions.iter().map(|_| Origin::Unused).collect();
    for param in &function.params {
        if let Some(region) = function.points(param.var)
            && let Some(origin) = out.get_mut(region.0 as usize)
        {
            match origin {
                Origin::Given(list) => list.push(param.var),
                Origin::Unused | Origin::Own | Origin::Unknown => *origin = Origin::Given(vec![param.var]),
            }
        }
    }
    walk(&function.body, &mut |s| {
        if let Stmt::Array { region, .. } = &s.stmt
            && let Some(origin) = out.get_mut(region.0 as usize)
        {
            *origin = match origin {
                // A word of it may be one that was passed, or one of the function's own.
                Origin::Given(_) | Origin::Unknown => Origin::Unknown,
                Origin::Unused | Origin::Own => Origin::Own,
            };
        }
    });
    each_mem(&function.body, summaries, &mut |m| {
        if let Some(origin @ Origin::Unused) = out.get_mut(m.region.0 as usize) {
            *origin = Origin::Unknown;
        }
    });
    out
}
