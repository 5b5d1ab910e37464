//! Which arguments of a call are copies. What a copy carries is its own in the callee, and flows to the word after the call: gradients have the
//! same bits only where the same arguments are copied.

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
