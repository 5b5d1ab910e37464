//! Logarithmic numbers: a sign, and below it a signed logarithm. Its least value stands for zero, and with a minus sign
//! for a word that is not a number.

use super::Outcome;
use super::compare::Comparison;
use crate::circuit::{Bit, Builder, Role, Word};
use crate::types::Cond;

/// The components of a logarithmic number.
struct LogParts {
    sign: Bit,
    /// Signed.
    log: Word,
}

impl LogParts {
    fn of(word: &[Bit]) -> LogParts {
        let (&sign, log) = word.split_last().expect("a logarithmic number has bits");
        LogParts { sign, log: Word::from(log) }
    }

    /// `target ^= ` whether the logarithm is the least one, which only zero and words that are not numbers have.
    fn xor_least(&self, b: &mut Builder, target: Bit) {
        let low = &self.log[..self.log.len() - 1];
        b.complement(low);
        b.xor_all(&self.log, target);
        b.complement(low);
    }
}

/// a · c, or a / c.
pub fn product(b: &mut Builder, a: &[Bit], c: &[Bit], divide: bool) -> Outcome {
    let (a, c) = (LogParts::of(a), LogParts::of(c));
    let n = a.log.len();
    let least = b.word(2);
    a.xor_least(b, least[0]);
    c.xor_least(b, least[1]);
    let bad_a = b.and(least[0], a.sign);
    let bad_c = b.and(least[1], c.sign);
    let bad = b.or(bad_a, bad_c);
    let mut faults = vec![bad];
    let zero = if divide {
        faults.push(least[1]);
        least[0]
    } else {
        b.or(least[0], least[1])
    };
    let log = b.copy(&a.log.signed(n + 1));
    let other = c.log.signed(n + 1);
    if divide {
        b.subtract(&other, &log);
    } else {
        b.add(&other, &log);
    }
    // Out of range: the two signs differ, or the logarithm is the least one.
    let wrapped = b.copy(&log[n..]);
    b.cnot(log[n - 1], wrapped[0]);
    let sum = LogParts { sign: Bit::ZERO, log: Word::from(&log[..n]) };
    let reserved = b.bit();
    sum.xor_least(b, reserved);
    let outside = b.or(wrapped[0], reserved);
    let number = b.inverse_of(zero);
    faults.push(b.and(outside, number));
    let sign = b.copy(&[a.sign]);
    b.cnot(c.sign, sign[0]);
    let zero_log = Word::constant(1 << (n - 1), n + 1);
    let word = b.select(zero, &zero_log, &sum.log.then(&sign));
    Outcome { word, faults }
}

/// `y *= x`, or `y /= x` if `direction` is 1, in place. The bits of the traps serve as the sign of the sum and as the
/// mark of a zero y in between; without a trap they are zero again.
pub fn multiply_into(b: &mut Builder, direction: Bit, x: &[Bit], y: &[Bit]) {
    let (x, y) = (LogParts::of(x), LogParts::of(y));
    let n = y.log.len();
    let bad = b.register("trap_bad_operand", Role::Trap, 1)[0];
    let by_zero = b.register("trap_log_zero", Role::Trap, 1)[0];
    let above = b.register("trap_overflow", Role::Trap, 1)[0];
    let least = b.register("trap_reserved", Role::Trap, 1)[0];
    // Division by zero, or a word that is not a number.
    x.xor_least(b, by_zero);
    y.xor_least(b, least);
    b.toffoli(least, y.sign, bad);
    b.not(least);
    b.cnot(y.log[n - 1], above);
    let sum = y.log.then(&[above]);
    b.complement_if(direction, &sum);
    // Zero remains: `least` is 0 for it here.
    let log = x.log.clone();
    b.with(|b| b.mask(least, &log).signed(n + 1), |b, masked| b.add(masked, &sum));
    b.complement_if(direction, &sum);
    b.cnot(y.log[n - 1], above);
    b.toffoli(least, x.sign, y.sign);
    b.not(least);
    y.xor_least(b, least);
}

/// 1 / a.
pub fn inverse(b: &mut Builder, a: &[Bit]) -> Outcome {
    let word = b.copy(a);
    let a = LogParts::of(a);
    let least = b.bit();
    a.xor_least(b, least);
    let bad = b.and(least, a.sign);
    b.negate(&word[..a.log.len()]);
    Outcome::infallible(word).or(bad).or(least)
}

/// −y in place, unless it is zero.
pub fn negate(b: &mut Builder, y: &Word) {
    let bad = b.register("trap_bad_logarithm", Role::Trap, 1);
    let number = LogParts::of(y);
    b.with(
        |b| {
            let least = b.bit();
            number.xor_least(b, least);
            least
        },
        |b, least| {
            b.toffoli(*least, number.sign, bad[0]);
            b.not(number.sign);
            b.cnot(*least, number.sign);
        },
    );
}

/// `bad ^= ` whether a word is not a number.
fn xor_bad(b: &mut Builder, word: &[Bit], bad: Bit) {
    let number = LogParts::of(word);
    b.with(
        |b| {
            let least = b.bit();
            number.xor_least(b, least);
            least
        },
        |b, least| b.toffoli(*least, number.sign, bad),
    );
}

/// `target ^= ` whether a condition holds between two logarithmic numbers. The logarithm of a negative number is
/// complemented, since its order is reversed; then both are compared as unsigned words in which the sign and the
/// logarithm's sign have the opposite meaning, that is, with these bits exchanged.
fn xor_condition(b: &mut Builder, cond: Cond, x: &[Bit], z: &[Bit], target: Bit) {
    b.with(
        |b| {
            for word in [x, z] {
                let number = LogParts::of(word);
                b.complement_if(number.sign, &number.log);
            }
            let (x, x_signs) = x.split_at(x.len() - 2);
            let (z, z_signs) = z.split_at(z.len() - 2);
            (Word::from(x).then(z_signs), Word::from(z).then(x_signs))
        },
        |b, (x, z)| {
            let unsigned = match cond {
                Cond::Lt => Cond::Ltu,
                Cond::Ge => Cond::Geu,
                Cond::Gt => return b.xor_condition(Cond::Ltu, z, x, target),
                Cond::Le => return b.xor_condition(Cond::Geu, z, x, target),
                Cond::Always | Cond::Eq | Cond::Ne | Cond::Ltu | Cond::Geu => cond,
            };
            b.xor_condition(unsigned, x, z, target);
        },
    );
}

/// Comparisons of logarithmic numbers, which fail for words that are not numbers.
pub const COMPARISON: Comparison =
    Comparison { trap: "trap_bad_logarithm", invalid: xor_bad, condition: xor_condition };
