//! Integer functions, and the accumulates of all types.

use pendula_isa::Cond;

use super::{Accumulator, CircuitFn, InPlace, Value, fixed, float, is_fused, log};
use crate::circuit::kernels::Formats;
use crate::circuit::word::Bit;
use crate::circuit::{Builder, Role, Word};

/// `y ⊕= f(a[, b[, c]])`.
pub(super) fn accumulate(b: &mut Builder, accumulator: Accumulator, function: CircuitFn, width: usize) {
    let x: Vec<Word> =
        ["a", "b", "c"][..function.arity()].iter().map(|name| b.register(name, Role::Operand, width)).collect();
    match is_fused(accumulator, function) {
        true => fused(b, accumulator, function, &x, width),
        false if function == CircuitFn::Wire => super::accumulate(b, accumulator, width, |_| x[0].clone().into()),
        false => super::accumulate(b, accumulator, width, |b| value(b, function, &x)),
    }
}

/// Accumulates whose function is computed directly into the target.
fn fused(b: &mut Builder, accumulator: Accumulator, function: CircuitFn, x: &[Word], width: usize) {
    let y = b.register("y", Role::Target, width);
    let (a, c) = (&x[0], &x[1]);
    match function {
        CircuitFn::And => b.xor_and(a, c, &y),
        CircuitFn::Or => {
            b.xor_nor(a, c, &y);
            b.complement(&y);
        }
        CircuitFn::Nor => b.xor_nor(a, c, &y),
        CircuitFn::Less => b.xor_less_signed(a, c, y[0]),
        CircuitFn::LessUnsigned => b.xor_less(a, c, y[0]),
        CircuitFn::Equal => b.xor_equal(a, c, y[0]),
        CircuitFn::LogLess => log::compare_into(b, Cond::Lt, a, c, y[0]),
        CircuitFn::LogEqual => log::compare_into(b, Cond::Eq, a, c, y[0]),
        CircuitFn::FloatLess => float::compare_into(b, Cond::Lt, a, c, y[0]),
        CircuitFn::FloatEqual => float::compare_into(b, Cond::Eq, a, c, y[0]),
        CircuitFn::Min => b.with(|b| b.less_signed(a, c), |b, less| b.xor_select(*less, a, c, &y)),
        CircuitFn::Max => b.with(|b| b.less_signed(a, c), |b, less| b.xor_select(*less, c, a, &y)),
        CircuitFn::Sum => either_way(b, accumulator, &y, |b| {
            b.add(a, &y);
            b.add(c, &y);
        }),
        CircuitFn::Difference => either_way(b, accumulator, &y, |b| {
            b.add(a, &y);
            b.subtract(c, &y);
        }),
        CircuitFn::Multiply => either_way(b, accumulator, &y, |b| b.multiply_add(a, c, &y)),
        other => unreachable!("{other:?} is not fused"),
    }
}

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

/// Adds with `add` to y, or subtracts: between complements, if the accumulator has a direction and it is 1.
fn either_way(b: &mut Builder, accumulator: Accumulator, y: &Word, add: impl FnOnce(&mut Builder)) {
    match accumulator {
        Accumulator::AddOrSubtract => {
            let direction = b.register("direction", Role::Control, 1);
            b.complement_if(direction[0], y);
            add(b);
            b.complement_if(direction[0], y);
        }
        Accumulator::Xor | Accumulator::Add | Accumulator::MultiplyLog => add(b),
    }
}

/// The low 32 bits of a word, and the bits of a shift amount that matter to them.
fn low_bits<'a>(a: &'a [Bit], by: &'a [Bit]) -> (&'a [Bit], &'a [Bit]) {
    let bits = a.len().min(32);
    (&a[..bits], &by[..bits.ilog2() as usize])
}

/// The value of the function, on new wires or on those of an operand.
fn value(b: &mut Builder, function: CircuitFn, x: &[Word]) -> Value {
    let a = &x[0];
    let width = a.len();
    let log2 = width.ilog2() as usize;
    match function {
        CircuitFn::Wire => b.copy(a).into(),
        CircuitFn::And => {
            let y = b.word(width);
            b.xor_and(a, &x[1], &y);
            y.into()
        }
        CircuitFn::Or => {
            let y = b.word(width);
            b.xor_nor(a, &x[1], &y);
            b.complement(&y);
            y.into()
        }
        CircuitFn::Nor => {
            let y = b.word(width);
            b.xor_nor(a, &x[1], &y);
            y.into()
        }
        // In place of an operand, which is restored when the value is computed backward.
        CircuitFn::Sum => {
            b.add(&x[1], a);
            a.clone().into()
        }
        CircuitFn::Difference => {
            b.subtract(&x[1], a);
            a.clone().into()
        }
        CircuitFn::Multiply => {
            let y = b.word(width);
            b.multiply_add(a, &x[1], &y);
            y.into()
        }
        CircuitFn::Quotient => divided(b, a, &x[1], |b, d| {
            b.negate_if(d.signs_differ, &d.quotient);
            d.quotient
        }),
        CircuitFn::Remainder => divided(b, a, &x[1], |b, d| {
            b.negate_if(a.sign(), &d.remainder);
            d.remainder
        }),
        CircuitFn::QuotientDown => divided(b, a, &x[1], quotient_down),
        CircuitFn::Modulo => divided(b, a, &x[1], |b, d| modulo(b, d, x[1].sign())),
        CircuitFn::ShiftLeft => Word::from(&b.shift_left(a, &x[1][..log2])[..width]).into(),
        CircuitFn::ShiftRight => Word::from(&b.shift_right(a, &x[1][..log2])[width - 1..]).into(),
        CircuitFn::ShiftRightSigned => Word::from(&b.shift_right_signed(a, &x[1][..log2])[width - 1..]).into(),
        CircuitFn::ShiftLeft32 => {
            let (low, by) = low_bits(a, &x[1]);
            Word::from(&b.shift_left(low, by)[..low.len()]).signed(width).into()
        }
        CircuitFn::ShiftRight32 => {
            let (low, by) = low_bits(a, &x[1]);
            Word::from(&b.shift_right(low, by)[low.len() - 1..]).signed(width).into()
        }
        CircuitFn::ShiftRightSigned32 => {
            let (low, by) = low_bits(a, &x[1]);
            Word::from(&b.shift_right_signed(low, by)[low.len() - 1..]).signed(width).into()
        }
        CircuitFn::Less => Word::from(b.less_signed(a, &x[1])).into(),
        CircuitFn::LessUnsigned => Word::from(b.less(a, &x[1])).into(),
        CircuitFn::Equal => Word::from(b.equal(a, &x[1])).into(),
        CircuitFn::Min => {
            let less = b.less_signed(a, &x[1]);
            b.select(less, a, &x[1]).into()
        }
        CircuitFn::Max => {
            let less = b.less_signed(a, &x[1]);
            b.select(less, &x[1], a).into()
        }
        CircuitFn::Magnitude => {
            let word = b.magnitude(a);
            Value { traps: vec![("trap_range", word.sign())], word }
        }
        CircuitFn::Sign { frac } => sign(b, a, frac).into(),
        CircuitFn::Positive => {
            let positive = b.inverse_of(a.sign());
            b.mask(positive, a).into()
        }
        CircuitFn::Floor { frac } => Word::constant(0, frac).then(&a[frac..]).into(),
        CircuitFn::FixedMultiply { frac } => fixed::product(b, a, &x[1], frac).into(),
        CircuitFn::FixedMultiplyAdd { frac } => {
            let product = fixed::product(b, a, &x[1], frac);
            b.add(&x[2], &product);
            product.into()
        }
        CircuitFn::FixedDivide { frac } => fixed::quotient(b, a, &x[1], frac),
        CircuitFn::FixedInverse { frac } => fixed::inverse(b, a, frac),
        CircuitFn::LogProduct => log::product(b, a, &x[1], false),
        CircuitFn::LogQuotient => log::product(b, a, &x[1], true),
        CircuitFn::LogInverse => log::inverse(b, a),
        CircuitFn::LogLess => log::compare(b, Cond::Lt, a, &x[1]),
        CircuitFn::LogEqual => log::compare(b, Cond::Eq, a, &x[1]),
        CircuitFn::FloatLess => float::compare(b, Cond::Lt, a, &x[1]),
        CircuitFn::FloatEqual => float::compare(b, Cond::Eq, a, &x[1]),
        CircuitFn::Kernel { kernel, frac } => kernel.value(b, &Formats::new(width, frac), x),
    }
}

/// −1, 0 or 1, as a number with `frac` fraction bits.
fn sign(b: &mut Builder, a: &Word, frac: usize) -> Word {
    let nonzero = b.any(a);
    let above = vec![a.sign(); a.len() - frac - 1];
    Word::constant(0, frac).then(&[nonzero]).then(&above)
}

/// A division of magnitudes.
struct Division {
    quotient: Word,
    remainder: Word,
    divisor: Word,
    signs_differ: Bit,
}

/// Divides the magnitudes. `finish` gives the result its sign.
fn divided(b: &mut Builder, a: &Word, d: &Word, finish: impl FnOnce(&mut Builder, Division) -> Word) -> Value {
    let zero = b.is_zero(d);
    let signs_differ = b.bit();
    b.cnot(a.sign(), signs_differ);
    b.cnot(d.sign(), signs_differ);
    let (dividend, divisor) = (b.magnitude(a), b.magnitude(d));
    let zeros = b.word(divisor.len());
    let (quotient, remainder) = b.divide_in_place(&dividend, &zeros, &divisor);
    let word = finish(b, Division { quotient, remainder, divisor, signs_differ });
    Value { word, traps: vec![("trap_zero_divisor", zero)] }
}

/// The quotient rounded down: where the signs differ, −q if the division is exact, else −q − 1 = ¬q.
fn quotient_down(b: &mut Builder, d: Division) -> Word {
    let exact = b.is_zero(&d.remainder);
    let up = b.and(exact, d.signs_differ);
    b.complement_if(d.signs_differ, &d.quotient);
    b.increment_if(up, &d.quotient);
    d.quotient
}

/// The remainder with the sign of the divisor b: if the signs differ and r is not zero, |b| − r = ¬r + |b| + 1.
fn modulo(b: &mut Builder, d: Division, divisor_sign: Bit) -> Word {
    let inexact = b.any(&d.remainder);
    let other = b.and(inexact, d.signs_differ);
    b.complement_if(other, &d.remainder);
    let divisor = b.mask(other, &d.divisor);
    b.add_carry(&divisor, &d.remainder, other, None);
    b.negate_if(divisor_sign, &d.remainder);
    d.remainder
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
