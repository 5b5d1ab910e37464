//! Functions of some operations, for C. Which zero they give does not depend on comparisons, for which C compilers may take both for one.

use super::Double;

/// All bits of a double but its sign.
const MAGNITUDE: u64 = u64::MAX >> 1;

/// −1, 0 or 1.
pub(super) fn sign<D: Double>(a: D) -> D {
    let one = D::from_bits(D::of(1.0).bits() | (a.bits() & D::word(!MAGNITUDE)));
    D::select(a.equals(D::of(0.0)), D::of(0.0), one)
}

/// a if it is positive, else +0.
pub(super) fn relu<D: Double>(a: D) -> D {
    D::from_bits(D::select(D::of(0.0).lt(a), a, D::of(0.0)).bits() & D::word(MAGNITUDE))
}

/// The smaller number, −0 less than +0.
pub(super) fn min<D: Double>(a: D, b: D) -> D {
    // What is the same number has the same bits, or is zero.
    let same = D::from_bits(a.bits() | b.bits());
    D::select(a.lt(b), a, D::select(b.lt(a), b, same))
}

/// The larger number, +0 greater than −0.
pub(super) fn max<D: Double>(a: D, b: D) -> D {
    let same = D::from_bits(a.bits() & b.bits());
    D::select(b.lt(a), a, D::select(a.lt(b), b, same))
}

/// The greatest whole number that is not greater.
pub(super) fn floor<D: Double>(a: D) -> D {
    let near = a.rint();
    // Only numbers that are no whole ones have a whole one nearby that is greater: zeros keep their signs.
    D::select(a.lt(near), near - 1.0, near)
}
