//! Kernels of logarithmic numbers.

use super::circuits::{self, gauss as circuit};
use super::kernels;
use crate::num::{gauss, log};

kernels! {
    /// `y` times `x`, which is not zero: what the multiplicative accumulator adds.
    Scale "log_scale" (y, x) value |_env| log::mul(y, x) => none;
    /// `y` divided by `x`, which is not zero: the inverse of [`Scale`].
    Unscale "log_unscale" (y, x) value |_env| log::div(y, x) => none;
    /// The product; with zero it is zero.
    Mul "log_mul" (a, b) value |_env| log::product(a, b) =>
        (each |b, _f, x| circuits::log::product(b, &x[0], &x[1], false));
    /// The quotient.
    Div "log_div" (a, b) value |_env| log::quotient(a, b) =>
        (each |b, _f, x| circuits::log::product(b, &x[0], &x[1], true));
    /// The number with the opposite sign.
    Neg "log_neg" (a) value |_env| log::neg(a) =>
        in_place (each |b, _f, x| {
            circuits::log::negate(b, &x[0]);
            vec![x[0].clone()]
        });
    /// −1, 0 or 1, as `a` is less than, equal to or greater than `b`.
    Order "log_order" (a, b) value |_env| log::compare(a, b).map(|order| (order as i64).cast_unsigned()) => none;
    /// The reciprocal.
    Inv "log_inv" (a) value |env| gauss::inv(env, a) =>
        (each |b, _f, x| circuits::log::inverse(b, &x[0]));
    /// `a` to the power of a fixed-point number.
    Pow "log_pow" (a, b) value |env| gauss::pow(env, a, b) =>
        (|b, f, x| circuit::pow(b, f.logarithmic, f.fixed, &x[0], &x[1]));
    /// The sum.
    Plus "log_plus" (a, b) value |env| gauss::plus(env, a, b) =>
        (|b, f, x| circuit::sum(b, f.logarithmic, false, &x[0], &x[1]));
    /// The difference.
    Minus "log_minus" (a, b) value |env| gauss::minus(env, a, b) =>
        (|b, f, x| circuit::sum(b, f.logarithmic, true, &x[0], &x[1]));
    /// The natural logarithm of the magnitude, a fixed-point number.
    Ln "log_ln" (a) value |env| gauss::ln(env, a) =>
        (|b, f, x| circuit::ln(b, f.logarithmic, f.fixed, &x[0]));
}
