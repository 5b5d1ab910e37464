//! Kernels of integers.

use super::circuits::integer;
use super::kernels;
use crate::num::int;

kernels! {
    /// The quotient rounded toward zero; the least integer by −1 wraps to itself. Division by zero has none.
    Quot "int_quot" (a, b) quotient |env| int::quot(env, a, b) =>
        (each |b, _f, x| integer::quotient(b, &x[0], &x[1]));
    /// The remainder with the sign of `a`.
    Rem "int_rem" (a, b) quotient |env| int::rem(env, a, b) =>
        (each |b, _f, x| integer::remainder(b, &x[0], &x[1]));
    /// The quotient rounded down; the least integer by −1 wraps to itself. Division by zero has none.
    Div "int_div" (a, b) quotient |env| int::div(env, a, b) =>
        (each |b, _f, x| integer::quotient_down(b, &x[0], &x[1]));
    /// The remainder with the sign of `b`.
    Mod "int_mod" (a, b) quotient |env| int::modulo(env, a, b) =>
        (each |b, _f, x| integer::modulo(b, &x[0], &x[1]));
    /// The quotient of unsigned integers.
    Udiv "int_udiv" (a, b) quotient |env| int::udiv(env, a, b) =>
        (|b, _f, x| integer::divided(b, &x[0], &x[1], false));
    /// The remainder of unsigned integers.
    Umod "int_umod" (a, b) quotient |env| int::umod(env, a, b) =>
        (|b, _f, x| integer::divided(b, &x[0], &x[1], true));
    /// `a` to the power of an unsigned integer, modulo 2^64.
    Pow "int_pow" (a, b) total |env| int::ipow(env, a, b).0 =>
        (|b, _f, x| integer::power(b, &x[0], &x[1]));
    /// The product of signed integers; raises the overflow flag where it wraps.
    Prod "int_prod" (a, b) generic |k| {
        let product = k.wide_mul(a, b);
        fit(k, product)
    };
    /// A signed integer to the power of an unsigned one; raises the overflow flag where it wraps.
    IntPow "int_ipow" (a, b) wrapping |env| int::ipow(env, a, b) =>
        (|b, _f, x| integer::power(b, &x[0], &x[1]));
    /// The exact scaling of `rmul`: x, the buffer, numerator, denominator, to x and the buffer.
    Scale "int_scale" (x, buffer, num, den) pair |env| int::scale(env, [x, buffer, num, den]) => none;
}

/// The low word of a signed double word. It has wrapped unless the high word is its sign extension.
#[inline(always)]
pub(super) fn fit<A: crate::arith::Arith>(k: &mut A, [low, high]: [A::V; 2]) -> Result<A::V, A::Stop> {
    let all = k.word(u64::from(k.bits() - 1));
    let sign = k.sar(low, all);
    let wrapped = k.ne(high, sign);
    k.overflow(wrapped)?;
    Ok(low)
}
