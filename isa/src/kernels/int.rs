//! Kernels of integers.

use super::circuits::{in_place, integer};
use super::kernels;
use crate::arith::Arith;
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
    Scale "int_scale" (x, buffer, num, den) pair |env| int::scale(env, [x, buffer, num, den]) =>
        in_place (each |b, _f, x| in_place::scale(b, x));
    /// The sum of the signed integer of 8 bits in `a` and a word, modulo 2^8; the other bits stay.
    Add8 "int_add8" (a, b) generic |k| narrow_sum(k, false, signed, 8, [a, b]) =>
        in_place (each |b, _f, x| in_place::add(b, (8, true), x));
    /// The sum of the unsigned integer of 8 bits in `a` and a word, modulo 2^8; the other bits stay.
    Addu8 "int_addu8" (a, b) generic |k| narrow_sum(k, false, unsigned, 8, [a, b]) =>
        in_place (each |b, _f, x| in_place::add(b, (8, false), x));
    /// The sum of the signed integer of 16 bits in `a` and a word, modulo 2^16; the other bits stay.
    Add16 "int_add16" (a, b) generic |k| narrow_sum(k, false, signed, 16, [a, b]) =>
        in_place (each |b, _f, x| in_place::add(b, (16, true), x));
    /// The sum of the unsigned integer of 16 bits in `a` and a word, modulo 2^16; the other bits stay.
    Addu16 "int_addu16" (a, b) generic |k| narrow_sum(k, false, unsigned, 16, [a, b]) =>
        in_place (each |b, _f, x| in_place::add(b, (16, false), x));
    /// The sum of the signed integer of 32 bits in `a` and a word, modulo 2^32; the other bits stay.
    Add32 "int_add32" (a, b) generic |k| narrow_sum(k, false, signed, 32, [a, b]) =>
        in_place (each |b, _f, x| in_place::add(b, (32, true), x));
    /// The sum of the unsigned integer of 32 bits in `a` and a word, modulo 2^32; the other bits stay.
    Addu32 "int_addu32" (a, b) generic |k| narrow_sum(k, false, unsigned, 32, [a, b]) =>
        in_place (each |b, _f, x| in_place::add(b, (32, false), x));
    /// The signed integer of 32 bits in `a` with the opposite sign, modulo 2^32; the other bits stay.
    Neg32 "int_neg32" (a) generic |k| {
        let zero = k.word(0);
        let negative = k.sub(zero, a);
        Ok(narrow(k, signed, 32, a, negative))
    } => in_place (each |b, _f, x| in_place::negate(b, (32, true), x));
    /// `a` with its low 32 bits rotated to the left by an amount modulo 32; the other bits stay.
    Rol32 "int_rol32" (a, n) generic |k| rotate32(k, false, [a, n]) =>
        in_place (power_of_two |b, _f, x| in_place::rotate(b, (32, true), x));
}

/// The low word of a signed double word. It has wrapped unless the high word is its sign extension.
#[inline(always)]
pub(super) fn fit<A: Arith>(k: &mut A, [low, high]: [A::V; 2]) -> Result<A::V, A::Stop> {
    let all = k.word(u64::from(k.bits() - 1));
    let sign = k.sar(low, all);
    let wrapped = k.ne(high, sign);
    k.overflow(wrapped)?;
    Ok(low)
}

/// The word whose low bits these are, zero-extended.
#[inline(always)]
pub(crate) fn unsigned<A: Arith>(k: &mut A, bits: u32, a: A::V) -> A::V {
    let low = k.word((1 << bits) - 1);
    k.and(a, low)
}

/// The word whose low bits these are, sign-extended.
#[inline(always)]
pub(crate) fn signed<A: Arith>(k: &mut A, bits: u32, a: A::V) -> A::V {
    let above = k.word(u64::from(k.bits().saturating_sub(bits)));
    let up = k.shl(a, above);
    k.sar(up, above)
}

/// An amount of shifting modulo 32.
#[inline(always)]
pub(crate) fn amount32<A: Arith>(k: &mut A, n: A::V) -> A::V {
    let low = k.word(31);
    k.and(n, low)
}

/// What becomes of word `a` when the narrow integer that its low bits are becomes `new`: nothing that stands above them is lost, so that every
/// word comes back, not only extended ones.
#[inline(always)]
fn narrow<A: Arith>(k: &mut A, extended: fn(&mut A, u32, A::V) -> A::V, bits: u32, a: A::V, new: A::V) -> A::V {
    let (old, new) = (extended(k, bits, a), extended(k, bits, new));
    let rest = k.xor(a, old);
    k.xor(rest, new)
}

/// The sum (`back`: the difference) of a narrow integer and a word.
#[inline(always)]
pub(crate) fn narrow_sum<A: Arith>(
    k: &mut A,
    back: bool,
    extended: fn(&mut A, u32, A::V) -> A::V,
    bits: u32,
    [a, b]: [A::V; 2],
) -> Result<A::V, A::Stop> {
    let sum = if back { k.sub(a, b) } else { k.add(a, b) };
    Ok(narrow(k, extended, bits, a, sum))
}

/// A word whose low 32 bits are rotated to the left (`back`: to the right).
#[inline(always)]
pub(crate) fn rotate32<A: Arith>(k: &mut A, back: bool, [a, n]: [A::V; 2]) -> Result<A::V, A::Stop> {
    // Two copies of the bits: one gives what comes in at the end of the other.
    let mut n = amount32(k, n);
    let low = unsigned(k, 32, a);
    let half = k.word(32);
    let high = k.shl(low, half);
    let both = k.or(high, low);
    let turned = if back && k.bits() == 64 {
        k.shr(both, n)
    } else {
        // Words of fewer bits, as circuits have them, do not hold two copies.
        if back {
            let zero = k.word(0);
            let left = k.sub(zero, n);
            n = amount32(k, left);
        }
        let turned = k.rol(both, n);
        k.shr(turned, half)
    };
    Ok(narrow(k, signed, 32, a, turned))
}
