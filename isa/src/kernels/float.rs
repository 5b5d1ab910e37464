//! Kernels of floating-point numbers. The operations that IEEE 754 defines to the bit are operations of [`Arith`](crate::arith::Arith).

use super::circuits::*;
use super::kernels;
use crate::num::float;

kernels! {
    /// The reciprocal.
    Inv "float_inv" (a) generic |k| { let one = k.float(1.0); k.float_div(one, a) };
    /// The square root.
    Sqrt "float_sqrt" (a) generic |k| k.float_sqrt(a);
    /// The magnitude.
    Abs "float_abs" (a) generic |k| k.float_abs(a);
    /// `a`·`b` + `c`, rounded once.
    Muladd "float_muladd" (a, b, c) value |env| float::muladd(env, a, b, c) =>
        [FLOAT_MULTIPLY_ADD];
    /// −1, 0 or 1, by the sign.
    Sign "float_sign" (a) value |env| float::sign(env, a) =>
        (|b, f, x| compare::sign(b, f.float, &x[0]));
    /// The smaller number.
    Min "float_min" (a, b) value |env| float::min(env, a, b) =>
        (|b, f, x| compare::extremum(b, f.float, &x[0], &x[1], false));
    /// The larger number.
    Max "float_max" (a, b) value |env| float::max(env, a, b) =>
        (|b, f, x| compare::extremum(b, f.float, &x[0], &x[1], true));
    /// `a` if it is positive, else 0.
    Relu "float_relu" (a) value |env| float::relu(env, a) =>
        (|b, f, x| compare::positive(b, f.float, &x[0]));
    /// The greatest whole number that is not greater.
    Floor "float_floor" (a) value |env| float::floor(env, a) =>
        [FLOAT_TO_INT, INT_TO_FLOAT];
    /// `a` to the power `b`.
    Pow "float_pow" (a, b) value |env| float::pow(env, a, b) =>
        [FLOAT_LOG, FLOAT_MULTIPLY, FLOAT_EXP];
    /// `a` to the power of an integer.
    Powi "float_powi" (a, n) value |env| float::powi(env, a, n) =>
        [FLOAT_LOG, FLOAT_MULTIPLY, FLOAT_EXP];
    /// The exponential.
    Exp "float_exp" (a) value |env| float::exp(env, a) =>
        [FLOAT_EXP];
    /// The natural logarithm.
    Log "float_log" (a) value |env| float::log(env, a) =>
        [FLOAT_LOG];
    /// The logarithm to base 2.
    Log2 "float_log2" (a) value |env| float::log2(env, a) =>
        [FLOAT_LOG, FLOAT_MULTIPLY];
    /// √(`a`² + `b`²).
    Hypot "float_hypot" (a, b) value |env| float::hypot(env, a, b) =>
        [FLOAT_MULTIPLY, FLOAT_MULTIPLY_ADD, FLOAT_SQRT];
    /// The sine.
    Sin "float_sin" (a) value |env| float::sin(env, a) =>
        [FLOAT_SIN];
    /// The cosine.
    Cos "float_cos" (a) value |env| float::cos(env, a) =>
        [FLOAT_COS];
    /// The tangent.
    Tan "float_tan" (a) value |env| float::tan(env, a) =>
        [FLOAT_SIN, FLOAT_COS, FLOAT_DIVIDE];
    /// The arc sine.
    Asin "float_asin" (a) value |env| float::asin(env, a) =>
        [FLOAT_MULTIPLY_ADD, FLOAT_SQRT, FLOAT_SIN];
    /// The arc cosine.
    Acos "float_acos" (a) value |env| float::acos(env, a) =>
        [FLOAT_MULTIPLY_ADD, FLOAT_SQRT, FLOAT_SIN];
    /// The arc tangent.
    Atan "float_atan" (a) value |env| float::atan(env, a) =>
        [FLOAT_SIN];
    /// The angle of the point (`b`, `a`).
    Atan2 "float_atan2" (a, b) value |env| float::atan2(env, a, b) =>
        [FLOAT_DIVIDE, FLOAT_SIN];
    /// The hyperbolic sine.
    Sinh "float_sinh" (a) value |env| float::sinh(env, a) =>
        [FLOAT_EXP, FLOAT_DIVIDE, FLOAT_ADD];
    /// The hyperbolic cosine.
    Cosh "float_cosh" (a) value |env| float::cosh(env, a) =>
        [FLOAT_EXP, FLOAT_DIVIDE, FLOAT_ADD];
    /// The hyperbolic tangent.
    Tanh "float_tanh" (a) value |env| float::tanh(env, a) =>
        [FLOAT_EXP, FLOAT_DIVIDE, FLOAT_ADD];
    /// The exponential, less 1.
    Expm1 "float_expm1" (a) value |env| float::expm1(env, a) =>
        [FLOAT_EXP, FLOAT_ADD];
    /// The natural logarithm of 1 + `a`.
    Log1p "float_log1p" (a) value |env| float::log1p(env, a) =>
        [FLOAT_ADD, FLOAT_LOG];
    /// The power of 2.
    Exp2 "float_exp2" (a) value |env| float::exp2(env, a) =>
        [FLOAT_MULTIPLY, FLOAT_EXP];
    /// The inverse of the hyperbolic sine.
    Asinh "float_asinh" (a) value |env| float::asinh(env, a) =>
        [FLOAT_MULTIPLY_ADD, FLOAT_SQRT, FLOAT_ADD, FLOAT_LOG];
    /// The inverse of the hyperbolic cosine.
    Acosh "float_acosh" (a) value |env| float::acosh(env, a) =>
        [FLOAT_MULTIPLY_ADD, FLOAT_SQRT, FLOAT_ADD, FLOAT_LOG];
    /// The inverse of the hyperbolic tangent.
    Atanh "float_atanh" (a) value |env| float::atanh(env, a) =>
        [FLOAT_ADD, FLOAT_DIVIDE, FLOAT_LOG];
    /// The cube root.
    Cbrt "float_cbrt" (a) value |env| float::cbrt(env, a) =>
        [FLOAT_LOG, FLOAT_DIVIDE, FLOAT_EXP];
    /// The error function.
    Erf "float_erf" (a) value |env| float::erf(env, a) =>
        [FLOAT_MULTIPLY_ADD, FLOAT_EXP, FLOAT_DIVIDE];
    /// 1 less the error function.
    Erfc "float_erfc" (a) value |env| float::erfc(env, a) =>
        [FLOAT_MULTIPLY_ADD, FLOAT_EXP, FLOAT_DIVIDE];
    /// The logarithm of the magnitude of the gamma function.
    Lgamma "float_lgamma" (a) value |env| float::lgamma(env, a) =>
        [FLOAT_LOG, FLOAT_DIVIDE, FLOAT_MULTIPLY_ADD];
    /// Its derivative.
    Digamma "float_digamma" (a) value |env| float::digamma(env, a) =>
        [FLOAT_LOG, FLOAT_DIVIDE, FLOAT_MULTIPLY_ADD];
    /// The derivative of that, `n` times.
    Polygamma "float_polygamma" (a, n) value |env| float::polygamma(env, a, n) =>
        [FLOAT_DIVIDE, FLOAT_MULTIPLY, FLOAT_MULTIPLY_ADD];
    /// 1 if |`a`| ≤ `tolerance`, else 0; a NaN on either side gives 0.
    Within "float_within" (a, tolerance) value |env| float::within(env, a, tolerance) =>
        (|b, _f, x| compare::within(b, &x[0], &x[1]));
}
