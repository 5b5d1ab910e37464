//! Which arguments of a call are copies. What a copy carries is its own in the callee, and flows to the word after the call: gradients have the
//! same bits only where the same arguments are copied.

use super::effects::Summary;
use super::{IrFunction, Mem, Operand, Region, Var};

/// What is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passed<V, W> {
    /// A constant.
    Const,
    /// A variable.
    Var(V),
    /// A word of memory.
    Word(W),
}

impl From<Operand> for Passed<Var, Mem> {
    fn from(operand: Operand) -> Passed<Var, Mem> {
        match operand {
            Operand::Const(_) => Passed::Const,
            Operand::Var(v) => Passed::Var(v),
            Operand::Mem(word) => Passed::Word(word),
        }
    }
}

/// Which arguments are copies. Of a variable that is passed several times, one argument is the variable itself: the first, or the last that is
/// written. Of words that may be the same, all but the last are copied, and those count as last that are written. A word is copied, too, if the
/// callee may reach it by an address.
pub(crate) fn copies<V: Copy + PartialEq, W: Copy>(
    args: &[Passed<V, W>],
    is_written: impl Fn(usize) -> bool,
    may_be: impl Fn(W, W) -> bool,
    is_reached: impl Fn(usize) -> bool,
) -> Vec<bool> {
    let rank = |n: usize| (is_written(n), n);
    let is_copy = |n: usize| match args[n] {
        Passed::Const => false,
        Passed::Var(v) => {
            let same = |k: &usize| matches!(args[*k], Passed::Var(other) if other == v);
            let written = (0..args.len()).rev().find(|k| same(k) && is_written(*k));
            written.or_else(|| (0..args.len()).find(same)) != Some(n)
        }
        Passed::Word(word) => {
            let later = |k: usize| matches!(args[k], Passed::Word(other) if rank(k) > rank(n) && may_be(word, other));
            !is_written(n) && ((0..args.len()).any(later) || is_reached(n))
        }
    };
    (0..args.len()).map(is_copy).collect()
}

/// Whether a callee may reach words of a region by an address that it is given. `points` says into which region a variable points, if it is known.
pub(crate) fn is_reached<V: Copy, W>(
    region: Region,
    summary: &Summary,
    callee: &IrFunction,
    args: &[Passed<V, W>],
    points: impl Fn(V) -> Option<Region>,
) -> bool {
    if !summary.reads_memory && !summary.writes_memory {
        return false;
    }
    // If no parameter is known to be an address, any may be one.
    let regions_known = callee.params.iter().any(|p| callee.points(p.var).is_some());
    args.iter().zip(&callee.params).any(|(arg, param)| match arg {
        Passed::Var(v) => match points(*v) {
            Some(points) => points == region,
            None => !regions_known || callee.points(param.var).is_some(),
        },
        // The entry's arrays: data of their own.
        Passed::Const => !regions_known,
        Passed::Word(_) => !regions_known || callee.points(param.var).is_some(),
    })
}
