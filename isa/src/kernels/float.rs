//! Kernels of floating-point numbers. The operations that IEEE 754 defines to the bit are operations of [`Arith`](crate::arith::Arith).

use super::kernels;
use crate::num::float;

kernels! {
    /// The reciprocal.
    Inv "float_inv" (a) generic |k| { let one = k.word(1f64.to_bits()); k.float_div(one, a) };
    /// The square root.
    Sqrt "float_sqrt" (a) generic |k| k.float_sqrt(a);
    /// The magnitude.
    Abs "float_abs" (a) generic |k| k.float_abs(a);
    /// `a`·`b` + `c`, rounded once.
    Muladd "float_muladd" (a, b, c) value |env| float::muladd(env, a, b, c);
    /// −1, 0 or 1, by the sign.
    Sign "float_sign" (a) value |env| float::sign(env, a);
    /// The smaller number.
    Min "float_min" (a, b) value |env| float::min(env, a, b);
    /// The larger number.
    Max "float_max" (a, b) value |env| float::max(env, a, b);
    /// `a` if it is positive, else 0.
    Relu "float_relu" (a) value |env| float::relu(env, a);
    /// The greatest whole number that is not greater.
    Floor "float_floor" (a) value |env| float::floor(env, a);
    /// `a` to the power `b`.
    Pow "float_pow" (a, b) value |env| float::pow(env, a, b);
    /// `a` to the power of an integer.
    Powi "float_powi" (a, n) value |env| float::powi(env, a, n);
    /// The exponential.
    Exp "float_exp" (a) value |env| float::exp(env, a);
    /// The natural logarithm.
    Log "float_log" (a) value |env| float::log(env, a);
    /// The logarithm to base 2.
    Log2 "float_log2" (a) value |env| float::log2(env, a);
    /// √(`a`² + `b`²).
    Hypot "float_hypot" (a, b) value |env| float::hypot(env, a, b);
    /// The sine.
    Sin "float_sin" (a) value |env| float::sin(env, a);
    /// The cosine.
    Cos "float_cos" (a) value |env| float::cos(env, a);
    /// The tangent.
    Tan "float_tan" (a) value |env| float::tan(env, a);
    /// The arc sine.
    Asin "float_asin" (a) value |env| float::asin(env, a);
    /// The arc cosine.
    Acos "float_acos" (a) value |env| float::acos(env, a);
    /// The arc tangent.
    Atan "float_atan" (a) value |env| float::atan(env, a);
    /// The angle of the point (`b`, `a`).
    Atan2 "float_atan2" (a, b) value |env| float::atan2(env, a, b);
    /// The hyperbolic sine.
    Sinh "float_sinh" (a) value |env| float::sinh(env, a);
    /// The hyperbolic cosine.
    Cosh "float_cosh" (a) value |env| float::cosh(env, a);
    /// The hyperbolic tangent.
    Tanh "float_tanh" (a) value |env| float::tanh(env, a);
    /// 1 if |`a`| ≤ `tolerance`, else 0; a NaN on either side gives 0.
    Within "float_within" (a, tolerance) value |env| float::within(env, a, tolerance);
}
