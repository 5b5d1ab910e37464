//! Values in a circuit, operation by operation.

use std::collections::HashMap;

use pendula_codegen::ops::{BinaryOp, Float, Op, ValueId};
use pendula_isa::Cond;
use pendula_isa::circuit::{Bit, Builder, Word};
use pendula_isa::kernels::circuits::{self, Outcome, ValueCircuit, compare, log};

use super::lifted::Lifted;
use super::row::word_index;

/// The computation of values in a circuit.
pub(super) struct Synthesis<'a> {
    function: &'a Lifted,
    operands: &'a [Word],
    width: usize,
    values: HashMap<u32, Word>,
    pub(super) faults: Vec<Bit>,
}

impl Synthesis<'_> {
    pub(super) fn new<'a>(function: &'a Lifted, operands: &'a [Word]) -> Synthesis<'a> {
        Synthesis::with_values(function, operands, HashMap::new())
    }

    /// With values that are on wires already.
    pub(super) fn with_values<'a>(
        function: &'a Lifted,
        operands: &'a [Word],
        values: HashMap<u32, Word>,
    ) -> Synthesis<'a> {
        Synthesis { function, operands, width: function.formats.width(), values, faults: Vec::new() }
    }

    /// Computes the conditions that the function checks.
    pub(super) fn checks(&mut self, b: &mut Builder) {
        for op in &self.function.ops {
            if let Op::Require(ok) = *op {
                let fault = self.untruth(b, ok);
                self.faults.push(fault);
            }
        }
    }

    /// The value of an operation.
    pub(super) fn value(&mut self, b: &mut Builder, v: ValueId) -> Word {
        if let Some(word) = self.values.get(&v.0) {
            return word.clone();
        }
        let word = self.compute(b, v);
        self.values.insert(v.0, word.clone());
        word
    }

    fn compute(&mut self, b: &mut Builder, v: ValueId) -> Word {
        let width = self.width;
        let bits = self.function.demanded[v.0 as usize].clamp(1, width);
        match self.function.op(v) {
            Op::Const(k) => Word::constant(u128::from(k), width),
            Op::Get(lane, n) => self.operands[word_index(lane, n, self.function.arity)].clone(),
            Op::BinaryOp(op, x, z) => self.binary(b, op, x, z, bits),
            Op::Not(x) => {
                let word = self.own(b, x);
                b.complement(&word);
                word
            }
            Op::Compare(..) | Op::CompareFloat(..) => Word::from(self.truth(b, v)).unsigned(width),
            Op::Select(c, x, z) => self.select(b, c, x, z),
            Op::Float(op, x, z) => self.float(b, op, x, z),
            Op::Sqrt(x) => self.circuit(b, &circuits::FLOAT_SQRT, &[x]),
            Op::Abs(x) => self.circuit(b, &circuits::FLOAT_ABS, &[x]),
            Op::FromInt(x) => self.circuit(b, &circuits::INT_TO_FLOAT, &[x]),
            Op::Kernel(n, x) => {
                let kernel = &self.function.kernels[n as usize];
                match kernel.circuits {
                    [circuit] => self.circuit(b, circuit, &x[..kernel.arity]),
                    // Circuits that stand for it have no value; see `Lifted::stand_ins`.
                    _ => b.word(width),
                }
            }
            other => unreachable!("{other:?} is no value of a function"),
        }
    }

    /// The value on wires that nothing else uses.
    fn own(&mut self, b: &mut Builder, v: ValueId) -> Word {
        let word = self.value(b, v);
        let wires = word.iter().all(|bit| bit.wire().is_some());
        // An operand, too, is restored when the value is computed backward.
        if self.function.uses[v.0 as usize] == 1 && wires { word } else { b.copy(&word) }
    }

    fn binary(&mut self, b: &mut Builder, op: BinaryOp, x: ValueId, z: ValueId, bits: usize) -> Word {
        let width = self.width;
        match op {
            BinaryOp::Add | BinaryOp::Sub => {
                if op == BinaryOp::Sub && self.function.constant(x) == Some(0) {
                    let word = self.own(b, z);
                    b.negate(&word);
                    return word;
                }
                let (target, other) = (self.own(b, x), self.value(b, z));
                let (target_low, other) = (&target[..bits], &other[..bits]);
                if op == BinaryOp::Add {
                    b.add(other, target_low)
                } else {
                    b.subtract(other, target_low)
                }
                target
            }
            BinaryOp::Mul | BinaryOp::MulHigh => self.product(b, op, x, z, bits),
            BinaryOp::And => self.bitwise(b, x, z, |b, x, z| match (x, z) {
                (Bit::ZERO, _) | (_, Bit::ZERO) => Bit::ZERO,
                (Bit::ONE, bit) | (bit, Bit::ONE) => bit,
                _ => b.and(x, z),
            }),
            BinaryOp::Or => self.bitwise(b, x, z, |b, x, z| match (x, z) {
                (Bit::ONE, _) | (_, Bit::ONE) => Bit::ONE,
                (Bit::ZERO, bit) | (bit, Bit::ZERO) => bit,
                _ => b.or(x, z),
            }),
            BinaryOp::Xor => {
                let (target, other) = (self.own(b, x), self.value(b, z));
                b.xor(&other, &target);
                target
            }
            BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Sar | BinaryOp::Rol | BinaryOp::Ror => {
                let (word, amount) = (self.value(b, x), self.value(b, z));
                match self.function.constant(z) {
                    Some(k) => shifted(op, &word, k as usize % width),
                    None => shifted_by(b, op, &word, &amount, bits),
                }
            }
        }
    }

    fn bitwise(&mut self, b: &mut Builder, x: ValueId, z: ValueId, f: impl Fn(&mut Builder, Bit, Bit) -> Bit) -> Word {
        let (x, z) = (self.value(b, x), self.value(b, z));
        x.iter().zip(&*z).map(|(x, z)| if x == z { *x } else { f(b, *x, *z) }).collect()
    }

    /// A word of a product. If both are used, they are computed at once.
    fn product(&mut self, b: &mut Builder, op: BinaryOp, x: ValueId, z: ValueId, bits: usize) -> Word {
        let width = self.width;
        let index = |op: BinaryOp| {
            let same = |(n, o): (usize, &Op)| (*o == Op::BinaryOp(op, x, z) && self.function.uses[n] > 0).then_some(n);
            self.function.ops.iter().enumerate().find_map(same)
        };
        let (low, high) = (index(BinaryOp::Mul), index(BinaryOp::MulHigh));
        let (first, second) = (self.value(b, x), self.value(b, z));
        if let Some(high) = high {
            let product = b.mul_signed(&first, &second);
            let (low_word, high_word) = product.split_at(width);
            self.values.insert(high as u32, Word::from(high_word));
            if let Some(low) = low {
                self.values.insert(low as u32, Word::from(low_word));
            }
            return Word::from(if op == BinaryOp::Mul { low_word } else { high_word });
        }
        let word = b.word(bits);
        b.multiply_add(&first, &second, &word);
        word.unsigned(width)
    }

    fn select(&mut self, b: &mut Builder, c: ValueId, x: ValueId, z: ValueId) -> Word {
        // The opposite of a word or the word itself.
        if matches!(self.function.op(x), Op::BinaryOp(BinaryOp::Sub, zero, a) if a == z && self.function.constant(zero) == Some(0))
        {
            let (word, negative) = (self.value(b, z), self.truth(b, c));
            return b.negated_if(negative, &word);
        }
        if self.function.constant(x) == Some(0) {
            let (word, c) = (self.value(b, z), self.untruth(b, c));
            return b.mask(c, &word);
        }
        let (first, second, c) = (self.value(b, x), self.value(b, z), self.truth(b, c));
        if self.function.constant(z) == Some(0) {
            return b.mask(c, &first);
        }
        let c = if first.contains(&c) || second.contains(&c) { b.copy(&[c])[0] } else { c };
        b.select(c, &first, &second)
    }

    fn float(&mut self, b: &mut Builder, op: Float, x: ValueId, z: ValueId) -> Word {
        match (op, self.function.op(x)) {
            (Float::Mul, Op::FromInt(a)) if self.function.constant(z).is_some() => {
                // A fixed-point number as a double.
                self.circuit(b, &circuits::FIXED_TO_FLOAT, &[a])
            }
            (Float::Add, _) => self.circuit(b, &circuits::FLOAT_ADD, &[x, z]),
            (Float::Sub, _) => {
                let (first, second) = (self.value(b, x), self.value(b, z));
                let sign = b.inverse_of(second.sign());
                let opposite = Word::from(&second[..self.width - 1]).then(&[sign]);
                self.outcome(circuits::FLOAT_ADD.value(b, &self.function.formats, &[first, opposite]))
            }
            (Float::Mul, _) => self.circuit(b, &circuits::FLOAT_MULTIPLY, &[x, z]),
            (Float::Div, _) => self.circuit(b, &circuits::FLOAT_DIVIDE, &[x, z]),
        }
    }

    fn circuit(&mut self, b: &mut Builder, circuit: &ValueCircuit, x: &[ValueId]) -> Word {
        let x: Vec<Word> = x.iter().map(|v| self.value(b, *v)).collect();
        self.outcome(circuit.value(b, &self.function.formats, &x))
    }

    fn outcome(&mut self, outcome: Outcome) -> Word {
        self.faults.extend(outcome.faults);
        outcome.word
    }

    /// `target ^= ` whether a word is not zero. Numbers that cannot be compared have trap bits.
    pub(super) fn xor_truth(mut self, b: &mut Builder, v: ValueId, target: Bit) {
        let word = |v: ValueId| match self.function.constant(v) {
            Some(k) => Some(Word::constant(u128::from(k), self.width)),
            None => Some(self.operands[self.function.operand(v)?].clone()),
        };
        let order = |x: ValueId| self.function.order(x).and_then(|[x, z]| Some([word(x)?, word(z)?]));
        match self.function.op(v) {
            Op::Compare(cond, x, z) => {
                if let Some([x, z]) = order(x) {
                    return log::COMPARISON.xor_into(b, cond, &x, &z, target);
                }
                match [word(x), word(z)] {
                    [Some(x), Some(_)] if cond == Cond::Eq && self.function.constant(z) == Some(0) => {
                        return b.xor_none(&x, target);
                    }
                    [Some(x), Some(z)] => return b.xor_condition(cond, &x, &z, target),
                    _ => {}
                }
            }
            Op::CompareFloat(cond, x, z) => {
                if let [Some(x), Some(z)] = [word(x), word(z)] {
                    return compare::COMPARISON.xor_into(b, cond, &x, &z, target);
                }
            }
            _ => {}
        }
        let truth = |b: &mut Builder| {
            let truth = self.truth(b, v);
            (truth, self.faults)
        };
        b.with(truth, |b, (truth, faults)| {
            super::part::add_traps(b, faults);
            b.cnot(*truth, target);
        });
    }

    /// Whether a word is not zero.
    pub(super) fn truth(&mut self, b: &mut Builder, v: ValueId) -> Bit {
        match self.function.op(v) {
            Op::Compare(cond, x, z) => self.compare(b, cond, x, z),
            Op::CompareFloat(cond, x, z) => {
                let (x, z) = (self.value(b, x), self.value(b, z));
                self.outcome(compare::COMPARISON.value(b, cond, &x, &z))[0]
            }
            _ => {
                let word = self.value(b, v);
                let one = word[1..].iter().all(|bit| *bit == Bit::ZERO);
                if one { word[0] } else { b.any(&word) }
            }
        }
    }

    /// Whether a word is zero.
    fn untruth(&mut self, b: &mut Builder, v: ValueId) -> Bit {
        match self.function.op(v) {
            Op::BinaryOp(BinaryOp::Xor, c, one) if self.function.constant(one) == Some(1) => self.truth(b, c),
            Op::Compare(cond, x, z) if cond.negated() != Cond::Always => self.compare(b, cond.negated(), x, z),
            _ => {
                let truth = self.truth(b, v);
                b.inverse_of(truth)
            }
        }
    }

    fn compare(&mut self, b: &mut Builder, cond: Cond, x: ValueId, z: ValueId) -> Bit {
        if let Some([x, z]) = self.function.order(x) {
            let (x, z) = (self.value(b, x), self.value(b, z));
            return self.outcome(log::COMPARISON.value(b, cond, &x, &z))[0];
        }
        let zero = self.function.constant(z) == Some(0);
        let (x, z) = (self.value(b, x), self.value(b, z));
        match cond {
            Cond::Lt if zero => x.sign(),
            Cond::Ge if zero => b.inverse_of(x.sign()),
            Cond::Eq if zero => b.is_zero(&x),
            Cond::Ne if zero => b.any(&x),
            _ => {
                let bit = b.bit();
                b.xor_condition(cond, &x, &z, bit);
                bit
            }
        }
    }
}

/// A word shifted by a constant: wiring.
fn shifted(op: BinaryOp, word: &Word, by: usize) -> Word {
    let width = word.len();
    match op {
        BinaryOp::Shl => word.shifted_left(by).unsigned(width),
        BinaryOp::Shr => Word::from(&word[by..]).unsigned(width),
        BinaryOp::Sar => Word::from(&word[by..]).signed(width),
        BinaryOp::Rol => word.rotated_left(by),
        _ => word.rotated_left(width - by),
    }
}

/// A word shifted by a variable amount modulo the width. Only the low `bits` bits of the result matter.
fn shifted_by(b: &mut Builder, op: BinaryOp, word: &Word, amount: &Word, bits: usize) -> Word {
    let width = word.len();
    let known = amount.iter().rposition(|bit| *bit != Bit::ZERO).map_or(0, |top| top + 1);
    let amount = &amount[..known.min(width.ilog2() as usize)];
    match op {
        BinaryOp::Shl => Word::from(&b.shift_left(&word[..bits], amount)[..bits]).unsigned(width),
        BinaryOp::Shr => {
            let length = word.iter().rposition(|bit| *bit != Bit::ZERO).map_or(1, |top| top + 1);
            let fraction = (1 << amount.len()) - 1;
            Word::from(&b.shift_right(&word[..length], amount)[fraction..]).unsigned(width)
        }
        BinaryOp::Sar => {
            // Without the copies of the sign at the top.
            let copies = word.iter().rev().take_while(|bit| **bit == word.sign()).count();
            let length = width + 1 - copies;
            let fraction = (1 << amount.len()) - 1;
            Word::from(&b.shift_right_signed(&word[..length], amount)[fraction..]).signed(width)
        }
        _ => {
            let rotated = b.copy(word);
            match op {
                BinaryOp::Ror => b.inverted(|b| b.rotate_left(amount, &rotated)),
                _ => b.rotate_left(amount, &rotated),
            }
            rotated
        }
    }
}
