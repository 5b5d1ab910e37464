//! Where words lie within arrays, as sums of products: whether two accesses may meet, and whether each turn of a loop keeps to words of its own.

use pendula_codegen::loops::{Place, Sum, Value};

use super::flow::Location;
use super::function::local;
use crate::ir::Var;

/// Where a word lies within an array: from the one address to the other.
pub(super) type Window = Option<(Sum, Sum)>;

/// A word that is read or added to.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) at: Location,
    pub(super) window: Window,
    pub(super) adds: bool,
    /// Whether a function that is called does it.
    pub(super) called: bool,
}

/// A variable's own value.
pub(super) fn symbol(var: Var) -> Sum {
    Sum::value(value_of(var))
}

fn value_of(var: Var) -> Value {
    Value::Place(Place::Local(local(var)))
}

/// Whether two accesses of an array may be to one word.
pub(super) fn may_meet(a: &Access, b: &Access) -> bool {
    let (Some((a_low, a_high)), Some((b_low, b_high))) = (&a.window, &b.window) else { return true };
    !(is_below(a_high, b_low) || is_below(b_high, a_low))
}

fn is_below(a: &Sum, b: &Sum) -> bool {
    difference(b, a).is_some_and(|k| k > 0)
}

/// a − b, if that is a constant.
fn difference(a: &Sum, b: &Sum) -> Option<i64> {
    a.plus(b, -1)?.as_constant()
}

/// Whether each turn of a loop keeps to a window of its own: these are the accesses in one turn.
pub(super) fn keeps_apart(accesses: &[&Access], var: Var, by: i64) -> bool {
    apart(accesses, var, by).unwrap_or(false)
}

fn apart(accesses: &[&Access], var: Var, by: i64) -> Option<bool> {
    let mut way: Option<Sum> = None;
    let mut windows = Vec::new();
    for access in accesses {
        let (low, high) = access.window.as_ref()?;
        let ((goes, low), (also, high)) = (low.linear_in(value_of(var))?, high.linear_in(value_of(var))?);
        if goes != also || way.as_ref().is_some_and(|way| *way != goes) {
            return None;
        }
        way = Some(goes);
        windows.push((low, high));
    }
    let way = Sum::default().plus(&way?, by)?;
    let mut least = windows.first()?.0.clone();
    for (low, _) in &windows {
        if difference(low, &least)? < 0 {
            least = low.clone();
        }
    }
    // The windows of a turn lie between the least address and the one that the next turn, or the last, begins with.
    let fits = |way: &Sum| {
        windows.iter().all(|(_, high)| {
            let next = least.plus(way, 1);
            next.and_then(|next| difference(&next, high)).is_some_and(|k| k > 0)
        })
    };
    Some(fits(&way) || fits(&Sum::default().plus(&way, -1)?))
}

/// The window of all turns of a loop; `None` where it is not known.
pub(super) fn swept((low, high): (Sum, Sum), var: Var, ends: &[Option<Sum>; 2], by: Option<i64>) -> Window {
    let value = value_of(var);
    let end = |bound: &Sum, least: bool| {
        let (factor, rest) = bound.linear_in(value)?;
        let factor = factor.as_constant()?;
        if factor == 0 {
            return Some(rest);
        }
        // Which of the two ends gives the least, or the greatest.
        let up = (factor > 0) == (by? > 0);
        let first = up == least;
        rest.plus(ends[usize::from(!first)].as_ref()?, factor)
    };
    Some((end(&low, true)?, end(&high, false)?))
}
