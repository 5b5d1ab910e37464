//! Kernels of fixed-point numbers.

use super::circuits::{self, arc, exponential, in_place, logarithm, root, trigonometric};
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
        let all = k.word(u64::from(k.bits() - 1));
        let (sum, extension) = (k.add(low, c), k.sar(c, all));
        let carry = k.ltu(sum, low);
        let high = k.add(high, extension);
        let high = k.add(high, carry);
        fit(k, [sum, high])
    };
    /// The quotient, rounded toward zero.
    Div "fixed_div" (a, b) value |env| fixed::div(env, a, b) =>
        (each |b, f, x| circuits::fixed::quotient(b, &x[0], &x[1], f.fixed.frac as usize));
    /// The reciprocal, rounded toward zero.
    Inv "fixed_inv" (a) value |env| fixed::inv(env, a) =>
        (each |b, f, x| circuits::fixed::inverse(b, &x[0], f.fixed.frac as usize));
    /// The magnitude. That of the least word does not fit.
    Abs "fixed_abs" (a) generic |k| {
        let (zero, one) = (k.word(0), k.word(1));
        let (negative, opposite) = (k.lt(a, zero), k.sub(zero, a));
        let magnitude = k.select(negative, opposite, a);
        let wrapped = k.lt(magnitude, zero);
        let fits = k.xor(wrapped, one);
        k.require(fits, Fault::Range)?;
        Ok(magnitude)
    };
    /// −1, 0 or 1, by the sign.
    Sign "fixed_sign" (a) generic |k| {
        let (all, frac, zero) = (k.word(u64::from(k.bits() - 1)), k.word(u64::from(k.frac())), k.word(0));
        let (sign, some, upper) = (k.sar(a, all), k.ne(a, zero), k.word(!1));
        // The lowest bit is 1 unless `a` is 0, the others are the sign.
        let upper = k.and(sign, upper);
        let whole = k.or(upper, some);
        Ok(k.shl(whole, frac))
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
        let whole = k.word((-1i64 << k.frac()).cast_unsigned());
        Ok(k.and(a, whole))
    };
    /// `a` to the power `b`.
    Pow "fixed_pow" (a, b) value |env| fixed::pow(env, a, b) =>
        (|b, f, x| root::pow(b, f.fixed, &x[0], &x[1]));
    /// `a` to the power of an integer.
    Powi "fixed_powi" (a, n) value |env| fixed::powi(env, a, n) =>
        (|b, f, x| root::powi(b, f.fixed, &x[0], &x[1]));
    /// The exponential.
    Exp "fixed_exp" (a) value |env| fixed::exp(env, a) =>
        (|b, f, x| exponential::exp(b, f.fixed, &x[0]));
    /// The natural logarithm.
    Log "fixed_log" (a) value |env| fixed::log(env, a) =>
        (|b, f, x| logarithm::log(b, f.fixed, &x[0]));
    /// The logarithm to base 2.
    Log2 "fixed_log2" (a) value |env| fixed::log2(env, a) =>
        (|b, f, x| logarithm::log2(b, f.fixed, &x[0]));
    /// The square root.
    Sqrt "fixed_sqrt" (a) value |env| fixed::sqrt(env, a) =>
        (|b, f, x| root::sqrt(b, f.fixed, &x[0]));
    /// √(`a`² + `b`²).
    Hypot "fixed_hypot" (a, b) value |env| fixed::hypot(env, a, b) =>
        (|b, f, x| root::hypot(b, f.fixed, &x[0], &x[1]));
    /// The sine.
    Sin "fixed_sin" (a) value |env| fixed::sin(env, a) =>
        (|b, f, x| trigonometric::sin(b, f.fixed, &x[0]));
    /// The cosine.
    Cos "fixed_cos" (a) value |env| fixed::cos(env, a) =>
        (|b, f, x| trigonometric::cos(b, f.fixed, &x[0]));
    /// The tangent.
    Tan "fixed_tan" (a) value |env| fixed::tan(env, a) =>
        (|b, f, x| trigonometric::tan(b, f.fixed, &x[0]));
    /// The arc sine.
    Asin "fixed_asin" (a) value |env| fixed::asin(env, a) =>
        (|b, f, x| arc::asin(b, f.fixed, &x[0]));
    /// The arc cosine.
    Acos "fixed_acos" (a) value |env| fixed::acos(env, a) =>
        (|b, f, x| arc::acos(b, f.fixed, &x[0]));
    /// The arc tangent.
    Atan "fixed_atan" (a) value |env| fixed::atan(env, a) =>
        (|b, f, x| arc::atan(b, f.fixed, &x[0]));
    /// The angle of the point (`b`, `a`).
    Atan2 "fixed_atan2" (a, b) value |env| fixed::atan2(env, a, b) =>
        (|b, f, x| arc::atan2(b, f.fixed, &x[0], &x[1]));
    /// The hyperbolic sine.
    Sinh "fixed_sinh" (a) value |env| fixed::sinh(env, a) =>
        (|b, f, x| exponential::sinh(b, f.fixed, &x[0]));
    /// The hyperbolic cosine.
    Cosh "fixed_cosh" (a) value |env| fixed::cosh(env, a) =>
        (|b, f, x| exponential::cosh(b, f.fixed, &x[0]));
    /// The hyperbolic tangent.
    Tanh "fixed_tanh" (a) value |env| fixed::tanh(env, a) =>
        (|b, f, x| exponential::tanh(b, f.fixed, &x[0]));
    /// The point (`a`, `b`) turned by an angle; raises the overflow flag where a word wraps.
    Rot "fixed_rot" (a, b, angle, _none) wrapping_pair |env| fixed::rot(env, a, b, angle) =>
        in_place (|b, f, x| in_place::rotation(b, f, x));
    /// The point (`a`, `b`) turned back by an angle.
    Irot "fixed_irot" (a, b, angle, _none) wrapping_pair |env| fixed::irot(env, a, b, angle) => none;
}

/// The double word of a product, rounded down to the last place.
#[inline(always)]
fn wide_product<A: Arith>(k: &mut A, a: A::V, b: A::V) -> [A::V; 2] {
    let frac = u64::from(k.frac());
    let [low, high] = k.wide_mul(a, b);
    let (right, left) = (k.word(frac), k.word(u64::from(k.bits()) - frac));
    let (low, upper) = (k.shr(low, right), k.shl(high, left));
    [k.or(low, upper), k.sar(high, right)]
}
