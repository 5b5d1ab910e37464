//! Circuits that replace words by the results of a kernel, where no wire is left over.

use super::{Formats, trigonometric};
use crate::circuit::{Bit, Builder, Role, Word};

/// The widths of words that a circuit exists for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Widths {
    /// 4 to 64 bits.
    Any,
    /// Powers of two from 4 to 64 bits.
    PowersOfTwo,
    /// 8 to 64 bits: those with formats of numbers.
    Formats,
}

/// A circuit in place. The first operands, as
/// many as the kernel has results, become the results; the others stay.
#[derive(Clone, Copy, Debug)]
pub struct InPlaceCircuit {
    /// The kernel's name.
    pub name: &'static str,
    /// The widths that it exists for.
    pub widths: Widths,
    /// Builds it from the operands, and returns the words on whose wires the results end. It declares its trap bits, and the register
    /// `direction` if it can do either the operation or its inverse.
    pub build: fn(&mut Builder, &Formats, &[Word]) -> Vec<Word>,
}

// Names are unique.
impl PartialEq for InPlaceCircuit {
    fn eq(&self, other: &InPlaceCircuit) -> bool {
        self.name == other.name
    }
}

impl Eq for InPlaceCircuit {}

/// Performs an operation on the integer in the low `bits` bits of `y`, or in the whole word if that has fewer bits. If the integer is signed,
/// the bits above take up its old sign and its new one.
fn on_low_bits(
    b: &mut Builder,
    (bits, signed): (usize, bool),
    y: &Word,
    operation: impl FnOnce(&mut Builder, &[Bit]) -> Word,
) -> Vec<Word> {
    let bits = bits.min(y.len());
    let (low, above) = y.split_at(bits);
    let sign = |b: &mut Builder, low: &[Bit]| {
        for bit in above.iter().filter(|_| signed) {
            b.cnot(low[bits - 1], *bit);
        }
    };
    sign(b, low);
    let low = operation(b, low);
    sign(b, &low);
    vec![low.then(above)]
}

/// The sum of a narrow integer and a word, or the difference if `direction` is 1.
pub fn add(b: &mut Builder, integer: (usize, bool), x: &[Word]) -> Vec<Word> {
    let direction = b.register("direction", Role::Control, 1);
    on_low_bits(b, integer, &x[0], |b, low| {
        b.add_or_subtract(direction[0], &x[1][..low.len()], low);
        low.into()
    })
}

/// The narrow integer with the opposite sign.
pub fn negate(b: &mut Builder, integer: (usize, bool), x: &[Word]) -> Vec<Word> {
    on_low_bits(b, integer, &x[0], |b, low| {
        b.negate(low);
        low.into()
    })
}

/// The narrow integer rotated to the left by an amount modulo its bits, a power of two. Backward, to the right.
pub fn rotate(b: &mut Builder, integer: (usize, bool), x: &[Word]) -> Vec<Word> {
    on_low_bits(b, integer, &x[0], |b, low| rotated(b, true, low, &x[1]))
}

/// A word rotated to the left, or to the right, by an amount modulo its bits, a power of two: wiring, if the amount is constant.
pub fn rotated(b: &mut Builder, left: bool, y: &[Bit], amount: &Word) -> Word {
    let amount = &amount[..y.len().ilog2() as usize];
    match constant(amount) {
        Some(by) => return Word::from(y).rotated_left(if left { by } else { y.len() - by }),
        None if left => b.rotate_left(amount, y),
        None => b.inverted(|b| b.rotate_left(amount, y)),
    }
    y.into()
}

/// The number in a word of constant bits.
fn constant(word: &[Bit]) -> Option<usize> {
    word.iter().rev().try_fold(0, |n, bit| match *bit {
        Bit::ZERO => Some(2 * n),
        Bit::ONE => Some(2 * n + 1),
        _ => None,
    })
}

/// The words of `rmul`: x is divided by den, and the quotient multiplied by num. The remainders go to the
/// buffer, which is multiplied by den and divided by num. Each of the two products is a division backward, so that
/// nothing is computed twice.
///
/// Signs: for x < 0, ⌊x/den⌋ = ¬⌊¬x/den⌋ and x mod den = den − 1 − (¬x mod den).
pub fn scale(b: &mut Builder, words: &[Word]) -> Vec<Word> {
    let [x, buffer, num, den] = words else { unreachable!("the scaling of {} words", words.len()) };
    let factor = b.register("trap_factor", Role::Trap, 1);
    let overflow = b.register("trap_buffer", Role::Trap, 1);
    let overflow_x = b.register("trap_overflow", Role::Trap, 1);
    b.with(
        |b| {
            let positive = |b: &mut Builder, n: &Word| {
                let (some, plus) = (b.any(n), b.inverse_of(n.sign()));
                b.and(some, plus)
            };
            let (num, den) = (positive(b, num), positive(b, den));
            [num, den]
        },
        |b, positive| b.xor_all(positive, factor[0]),
    );
    b.not(factor[0]);
    let n = x.len() - 1;
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
    vec![x.then(&[sign_x]), buffer.then(&[sign_buffer])]
}

/// The fixed-point coordinates of a point turned by an angle. Its sine and the tangent of its half are computed, used in quarter turns and
/// shears, and computed backward. Backward the circuit turns the point back.
pub fn rotation(b: &mut Builder, formats: &Formats, x: &[Word]) -> Vec<Word> {
    trigonometric::rotate(b, formats.fixed, &x[0], &x[1], &x[2]);
    x[..2].to_vec()
}
