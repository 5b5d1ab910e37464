//! Integers in place: operations on narrow integers, and scaling.

use super::InPlace;
use crate::circuit::{Bit, Builder, Role, Word};

/// An operation on the integer in the low bits of `y`.
pub(super) fn narrow(b: &mut Builder, bits: usize, signed: bool, what: InPlace, width: usize) {
    let bits = bits.min(width);
    let a = match what {
        InPlace::Add | InPlace::Rotate => b.register("a", Role::Operand, width),
        InPlace::Negate | InPlace::RotateBy(_) => Word::default(),
    };
    let y = b.register("y", Role::Target, width);
    let (low, above) = y.split_at(bits);
    let sign = |b: &mut Builder, low: &[Bit]| {
        for bit in above.iter().filter(|_| signed) {
            b.cnot(low[bits - 1], *bit);
        }
    };
    sign(b, low);
    match what {
        InPlace::Add => {
            let direction = b.register("direction", Role::Control, 1);
            b.add_or_subtract(direction[0], &a[..bits], low);
        }
        InPlace::Negate => b.negate(low),
        InPlace::Rotate => b.rotate_left(&a[..bits], low),
        InPlace::RotateBy(amount) => {
            let rotated = Word::from(low).rotated_left(amount);
            sign(b, &rotated);
            b.ends_at("y", &rotated.then(above));
            return;
        }
    }
    sign(b, low);
}

/// The words of `rmul` in place: x is divided by den, and the quotient multiplied by num. The remainders go to the
/// buffer, which is multiplied by den and divided by num. Each of the two products is a division backward, so that
/// nothing is computed twice.
///
/// Signs: for x < 0, ⌊x/den⌋ = ¬⌊¬x/den⌋ and x mod den = den − 1 − (¬x mod den).
pub(super) fn scale(b: &mut Builder, width: usize) {
    let x = b.register("x", Role::Target, width);
    let buffer = b.register("buf", Role::Target, width);
    let num = b.register("num", Role::Operand, width);
    let den = b.register("den", Role::Operand, width);
    let factor = b.register("trap_factor", Role::Trap, 1);
    let overflow = b.register("trap_buffer", Role::Trap, 1);
    let overflow_x = b.register("trap_overflow", Role::Trap, 1);
    b.with(
        |b| {
            let positive = |b: &mut Builder, n: &Word| {
                let (some, plus) = (b.any(n), b.inverse_of(n.sign()));
                b.and(some, plus)
            };
            let (num, den) = (positive(b, &num), positive(b, &den));
            [num, den]
        },
        |b, positive| b.xor_all(positive, factor[0]),
    );
    b.not(factor[0]);
    let n = width - 1;
    let (num, den) = (Word::from(&num[..n]), Word::from(&den[..n]));
    let (sign_x, sign_buffer) = (x.sign(), buffer.sign());
    // Maps r to factor − 1 − r, its own inverse.
    let mirror = |b: &mut Builder, sign: Bit, factor: &Word, r: &Word| {
        b.complement_if(sign, r);
        b.add_if(sign, factor, r);
    };
    b.complement_if(sign_x, &x[..n]);
    let zeros = b.word(n);
    let (quotient, rest) = b.divide_in_place(&x[..n], &zeros, &den);
    mirror(b, sign_x, &den, &rest);
    b.complement_if(sign_buffer, &buffer[..n]);
    mirror(b, sign_buffer, &den, &rest);
    let (low, high) = b.multiply_in_place(&buffer[..n], &rest, &den);
    b.xor_less(&high, &num, overflow[0]);
    b.not(overflow[0]);
    let (buffer, rest) = b.divide_in_place(&low, &high, &num);
    mirror(b, sign_buffer, &num, &rest);
    b.complement_if(sign_buffer, &buffer);
    mirror(b, sign_x, &num, &rest);
    let (x, high) = b.multiply_in_place(&quotient, &rest, &num);
    b.xor_none(&high, overflow_x[0]);
    b.not(overflow_x[0]);
    b.complement_if(sign_x, &x);
    b.ends_at("x", &x.then(&[sign_x]));
    b.ends_at("buf", &buffer.then(&[sign_buffer]));
}
