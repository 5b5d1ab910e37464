//! Kernels of logarithmic numbers.

use super::kernels;
use crate::num::{gauss, log};

kernels! {
    /// `y` times `x`, which is not zero: what the multiplicative accumulator adds.
    Scale "log_scale" (y, x) value |_env| log::mul(y, x);
    /// `y` divided by `x`, which is not zero: the inverse of [`Scale`].
    Unscale "log_unscale" (y, x) value |_env| log::div(y, x);
    /// The product; with zero it is zero.
    Mul "log_mul" (a, b) value |_env| log::product(a, b);
    /// The quotient.
    Div "log_div" (a, b) value |_env| log::quotient(a, b);
    /// The number with the opposite sign.
    Neg "log_neg" (a) value |_env| log::neg(a);
    /// −1, 0 or 1, as `a` is less than, equal to or greater than `b`.
    Order "log_order" (a, b) value |_env| log::compare(a, b).map(|order| (order as i64).cast_unsigned());
    /// The reciprocal.
    Inv "log_inv" (a) value |env| gauss::inv(env, a);
    /// `a` to the power of a fixed-point number.
    Pow "log_pow" (a, b) value |env| gauss::pow(env, a, b);
    /// The sum.
    Plus "log_plus" (a, b) value |env| gauss::plus(env, a, b);
    /// The difference.
    Minus "log_minus" (a, b) value |env| gauss::minus(env, a, b);
    /// The natural logarithm of the magnitude, a fixed-point number.
    Ln "log_ln" (a) value |env| gauss::ln(env, a);
}
