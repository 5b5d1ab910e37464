//! Where functions have values, of finite arguments.

use super::Double;

/// Whether a logarithm has a value.
pub fn positive<D: Double>(x: D) -> D::Truth {
    D::of(0.0).lt(x)
}

/// Whether the logarithm of 1 + x has one.
pub fn above_minus_one<D: Double>(x: D) -> D::Truth {
    D::of(-1.0).lt(x)
}

/// Whether the inverse of the hyperbolic cosine has one.
pub fn at_least_one<D: Double>(x: D) -> D::Truth {
    D::of(1.0).le(x)
}

/// Whether arc sine and arc cosine have one.
pub fn within_one<D: Double>(x: D) -> D::Truth {
    x.abs().le(D::of(1.0))
}

/// Whether the inverse of the hyperbolic tangent has one.
pub fn inside_one<D: Double>(x: D) -> D::Truth {
    x.abs().lt(D::of(1.0))
}

/// Whether a^b divides by no zero.
pub fn has_inverse<D: Double>(a: D, b: D) -> D::Truth {
    D::of(0.0).lt(a.abs()) | D::of(0.0).le(b)
}

/// Whether a^b is real: a is not negative, or b is whole.
pub fn has_sign<D: Double>(a: D, b: D) -> D::Truth {
    D::of(0.0).le(a) | b.rint().equals(b)
}
