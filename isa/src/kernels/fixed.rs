//! Kernels of fixed-point numbers.

use super::int::fit;
use super::kernels;
use crate::arith::Arith;
use crate::fault::Fault;
use crate::num::fixed;

kernels! {
    /// The sum; raises the overflow flag where it wraps.
    Add "fixed_add" (a, b) generic |k| {
        let [sum, wrapped] = k.overflowing_add(a, b);
        k.overflow(wrapped)?;
        Ok(sum)
    };
    /// The difference; raises the overflow flag where it wraps.
    Sub "fixed_sub" (a, b) generic |k| {
        let [difference, wrapped] = k.overflowing_sub(a, b);
        k.overflow(wrapped)?;
        Ok(difference)
    };
    /// The product, rounded down; raises the overflow flag where it wraps.
    Mul "fixed_mul" (a, b) generic |k| {
        let product = wide_product(k, a, b);
        fit(k, product)
    };
    /// `a`·`b` + `c`, the product rounded down; raises the overflow flag where it wraps.
    Muladd "fixed_muladd" (a, b, c) generic |k| {
        let [low, high] = wide_product(k, a, b);
        let all = k.word(63);
        let (sum, extension) = (k.add(low, c), k.sar(c, all));
        let carry = k.ltu(sum, low);
        let high = k.add(high, extension);
        let high = k.add(high, carry);
        fit(k, [sum, high])
    };
    /// The quotient, rounded toward zero.
    Div "fixed_div" (a, b) value |env| fixed::div(env, a, b);
    /// The reciprocal, rounded toward zero.
    Inv "fixed_inv" (a) value |env| fixed::inv(env, a);
    /// The magnitude. That of the least word does not fit.
    Abs "fixed_abs" (a) generic |k| {
        let (zero, least) = (k.word(0), k.word(1 << 63));
        let fits = k.ne(a, least);
        k.require(fits, Fault::Range)?;
        let (negative, opposite) = (k.lt(a, zero), k.sub(zero, a));
        Ok(k.select(negative, opposite, a))
    };
    /// −1, 0 or 1, by the sign.
    Sign "fixed_sign" (a) generic |k| {
        let frac = k.env().format.frac();
        let (zero, one, minus) = (k.word(0), k.word(1 << frac), k.word((-1i64 << frac).cast_unsigned()));
        let (negative, some) = (k.lt(a, zero), k.ne(a, zero));
        let upper = k.select(some, one, zero);
        Ok(k.select(negative, minus, upper))
    };
    /// The smaller number.
    Min "fixed_min" (a, b) generic |k| { let c = k.lt(a, b); Ok(k.select(c, a, b)) };
    /// The larger number.
    Max "fixed_max" (a, b) generic |k| { let c = k.lt(a, b); Ok(k.select(c, b, a)) };
    /// `a` if it is positive, else 0.
    Relu "fixed_relu" (a) generic |k| {
        let zero = k.word(0);
        let negative = k.lt(a, zero);
        Ok(k.select(negative, zero, a))
    };
    /// The greatest whole number that is not greater.
    Floor "fixed_floor" (a) generic |k| {
        let whole = k.word((-1i64 << k.env().format.frac()).cast_unsigned());
        Ok(k.and(a, whole))
    };
    /// `a` to the power `b`.
    Pow "fixed_pow" (a, b) value |env| fixed::pow(env, a, b);
    /// `a` to the power of an integer.
    Powi "fixed_powi" (a, n) value |env| fixed::powi(env, a, n);
    /// The exponential.
    Exp "fixed_exp" (a) value |env| fixed::exp(env, a);
    /// The natural logarithm.
    Log "fixed_log" (a) value |env| fixed::log(env, a);
    /// The logarithm to base 2.
    Log2 "fixed_log2" (a) value |env| fixed::log2(env, a);
    /// The square root.
    Sqrt "fixed_sqrt" (a) value |env| fixed::sqrt(env, a);
    /// √(`a`² + `b`²).
    Hypot "fixed_hypot" (a, b) value |env| fixed::hypot(env, a, b);
    /// The sine.
    Sin "fixed_sin" (a) value |env| fixed::sin(env, a);
    /// The cosine.
    Cos "fixed_cos" (a) value |env| fixed::cos(env, a);
    /// The tangent.
    Tan "fixed_tan" (a) value |env| fixed::tan(env, a);
    /// The arc sine.
    Asin "fixed_asin" (a) value |env| fixed::asin(env, a);
    /// The arc cosine.
    Acos "fixed_acos" (a) value |env| fixed::acos(env, a);
    /// The arc tangent.
    Atan "fixed_atan" (a) value |env| fixed::atan(env, a);
    /// The angle of the point (`b`, `a`).
    Atan2 "fixed_atan2" (a, b) value |env| fixed::atan2(env, a, b);
    /// The hyperbolic sine.
    Sinh "fixed_sinh" (a) value |env| fixed::sinh(env, a);
    /// The hyperbolic cosine.
    Cosh "fixed_cosh" (a) value |env| fixed::cosh(env, a);
    /// The hyperbolic tangent.
    Tanh "fixed_tanh" (a) value |env| fixed::tanh(env, a);
    /// The point (`a`, `b`) turned by an angle; raises the overflow flag where a word wraps.
    Rot "fixed_rot" (a, b, angle, _none) wrapping_pair |env| fixed::rot(env, a, b, angle);
    /// The point (`a`, `b`) turned back by an angle.
    Irot "fixed_irot" (a, b, angle, _none) wrapping_pair |env| fixed::irot(env, a, b, angle);
}

/// The double word of a product, rounded down to the last place.
#[inline(always)]
fn wide_product<A: Arith>(k: &mut A, a: A::V, b: A::V) -> [A::V; 2] {
    let frac = u64::from(k.env().format.frac());
    let [low, high] = k.wide_mul(a, b);
    let (right, left) = (k.word(frac), k.word(64 - frac));
    let (low, upper) = (k.shr(low, right), k.shl(high, left));
    [k.or(low, upper), k.sar(high, right)]
}
