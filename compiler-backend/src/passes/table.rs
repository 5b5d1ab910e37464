//! Hash tables of variables. The fast hash is safe because the compiler chooses the keys.

/// A map.
pub(super) use rustc_hash::FxHashMap as FastMap;
/// A set.
pub(super) use rustc_hash::FxHashSet as FastSet;
