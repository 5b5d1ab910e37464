//! Where words lie within arrays, as sums of products: whether two accesses may meet, and whether turns of a loop disturb each other.

use pendula_codegen::loops::{Local, Place, Sum, Value};

use super::certify::Sums;
use super::facts::Facts;
use super::flow::Location;
use super::function::local;
use crate::ir::Var;

/// Where a word lies within an array: from the one address to the other.
pub(super) type Window = Option<(Sum, Sum)>;

/// Words that are read or added to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) at: Location,
    pub(super) window: Window,
    /// How often each of them is added to; `None` where they are read.
    pub(super) adds: Option<Sums>,
    /// Whether a function that is called does it.
    pub(super) called: bool,
}

/// By how much more than a turn a later turn comes later.
const LATER: Value = Value::Place(Place::Local(Local(u32::MAX)));

/// A variable's own value.
pub(super) fn symbol(var: Var) -> Sum {
    Sum::value(value_of(var))
}

fn value_of(var: Var) -> Value {
    Value::Place(Place::Local(local(var)))
}

/// Whether two accesses of an array may be to one word.
pub(super) fn may_meet(a: &Access, b: &Access, facts: &Facts) -> bool {
    let (Some(a), Some(b)) = (&a.window, &b.window) else { return true };
    !are_apart(a, b, facts)
}

/// Whether no word lies in both of two windows.
pub(super) fn are_apart((a_low, a_high): &(Sum, Sum), (b_low, b_high): &(Sum, Sum), facts: &Facts) -> bool {
    let less = |a: &Sum, b: &Sum| b.plus(a, -1);
    let (below, above) = (less(a_high, b_low), less(b_high, a_low));
    let is = |facts: &Facts| [&below, &above].iter().any(|way| way.as_ref().is_some_and(|by| facts.is_at_least(by, 1)));
    // Where there are no words, nothing meets.
    let with_words = || {
        let mut facts = facts.clone();
        facts.add([less(a_low, a_high), less(b_low, b_high)]);
        facts
    };
    is(&Facts::default()) || is(&with_words())
}

/// Whether no turn of a loop adds to a word that another one adds to, or that an earlier one read: these are the accesses in one turn.
pub(super) fn keeps_apart(accesses: &[&Access], var: Var, by: i64, facts: &Facts) -> bool {
    apart(accesses, var, by, facts).unwrap_or(false)
}

fn apart(accesses: &[&Access], var: Var, by: i64, facts: &Facts) -> Option<bool> {
    // In a later turn the variable is greater by this, or less.
    let later = Sum::constant(by).plus(&Sum::value(LATER), by.signum())?;
    let mut facts = facts.clone();
    facts.add([Some(Sum::value(LATER))]);
    let goes_on = |bound: &Sum| {
        let (factor, _) = bound.linear_in(value_of(var))?;
        bound.plus(&factor.times(&later)?, 1)
    };
    for add in accesses.iter().filter(|a| a.adds.is_some()) {
        let (low, high) = add.window.as_ref()?;
        let next = (goes_on(low)?, goes_on(high)?);
        for before in accesses {
            if !are_apart(before.window.as_ref()?, &next, &facts) {
                return Some(false);
            }
        }
    }
    Some(true)
}

/// A window around those of accesses, if it is known which reach furthest.
pub(super) fn hull(accesses: &[&Access], facts: &Facts) -> Option<Window> {
    let mut windows = accesses.iter().map(|a| a.window.as_ref());
    let (mut low, mut high) = windows.next()??.clone();
    let reaches = |a: &Sum, b: &Sum| b.plus(a, -1).is_some_and(|by| facts.is_at_least(&by, 0));
    for window in windows {
        let (from, to) = window?;
        low = [low.clone(), from.clone()].into_iter().find(|a| reaches(a, &low) && reaches(a, from))?;
        high = [high.clone(), to.clone()].into_iter().find(|a| reaches(&high, a) && reaches(to, a))?;
    }
    Some(Some((low, high)))
}

/// The window of all turns of a loop; `None` where it is not known.
pub(super) fn swept(
    (low, high): (Sum, Sum),
    var: Var,
    ends: &[Option<Sum>; 2],
    by: Option<i64>,
    facts: &Facts,
) -> Window {
    let value = value_of(var);
    let end = |bound: &Sum, least: bool| {
        let (factor, rest) = bound.linear_in(value)?;
        if factor.is_zero() {
            return Some(rest);
        }
        let grows = facts.is_at_least(&factor, 0);
        if !grows && !facts.is_at_least(&Sum::default().plus(&factor, -1)?, 0) {
            return None;
        }
        // Which of the two ends gives the least, or the greatest.
        let first = (grows == (by? > 0)) == least;
        rest.plus(&ends[usize::from(!first)].as_ref()?.times(&factor)?, 1)
    };
    Some((end(&low, true)?, end(&high, false)?))
}

/// A window in terms of other values.
pub(super) fn translated((low, high): &(Sum, Sum), of: &impl Fn(Value) -> Option<Sum>) -> Window {
    Some((in_terms_of(low, of)?, in_terms_of(high, of)?))
}

/// The value that a variable is in windows.
pub(super) fn is_symbol_of(value: Value, var: Var) -> bool {
    value == value_of(var)
}

/// A sum in terms of other values; `None` if numbers become too large.
pub(super) fn in_terms_of(sum: &Sum, of: &impl Fn(Value) -> Option<Sum>) -> Option<Sum> {
    let mut out = Sum::default();
    for (factors, n) in sum.products() {
        let product = factors.iter().try_fold(Sum::constant(n), |product, f| product.times(&of(*f)?))?;
        out = out.plus(&product, 1)?;
    }
    Some(out)
}

/// Adds accesses to those before: of what both add to, this tells how often.
pub(super) fn unite(seen: &mut Vec<Access>, more: Vec<Access>, sums: impl Fn(Sums, Sums) -> Sums) {
    for access in more {
        let same = |a: &&mut Access| {
            a.at == access.at && a.adds.is_some() == access.adds.is_some() && a.window == access.window
        };
        match seen.iter_mut().find(same) {
            Some(known) => {
                known.called |= access.called;
                known.adds = known.adds.zip(access.adds).map(|(a, b)| sums(a, b));
            }
            None => seen.push(access),
        }
    }
}
