//! Tables of variables: hashing that is fast, which is safe because the numbers come from the compiler.

/// A map.
pub(super) use rustc_hash::FxHashMap as Map;
/// A set.
pub(super) use rustc_hash::FxHashSet as Bag;
