//! Circuits of the table's functions, from the operations that their bodies are lifted to.
//!
//! A [`Lifted`] function is a straight line of operations on words. [`Synthesis`] computes its value on new wires, operation by
//! operation: constants, shifts by constants and the joining of disjoint bits are wiring, operations on doubles and kernels have
//! circuits of their own. Some functions enter the target directly ([`Lifted::is_fused`]).

use std::collections::HashMap;

use pendula_codegen::lift::{Narrow, Setting, symbolic};
use pendula_codegen::ops::{Bin, Float, Kernel, Op, V};
use pendula_isa::adjoint::AdMode;
use pendula_isa::circuit::{Bit, Builder, Role, Word};
use pendula_isa::kernels::Kernel as _;
use pendula_isa::kernels::circuits::{self, Formats, Outcome, ValueCircuit, compare, log};
use pendula_isa::table::TableFn;
use pendula_isa::{Cond, Env};

use super::part::Accumulator;

/// A function of the table as operations on words of some width.
#[derive(Debug)]
pub(crate) struct Lifted {
    ops: Vec<Op>,
    kernels: Vec<Kernel>,
    value: V,
    formats: Formats,
    arity: usize,
    /// How many live operations and checks use each value.
    uses: Vec<u32>,
    /// How many low bits of each value matter.
    demanded: Vec<usize>,
}

impl Lifted {
    /// Lifts a function for words of these formats.
    pub(crate) fn new(func: TableFn, formats: Formats) -> Lifted {
        let (width, narrow) = (formats.width(), Narrow { bits: formats.fixed.width, frac: formats.fixed.frac });
        let setting =
            Setting { ad_mode: AdMode::Plain, checks: true, trap_overflow: false, ieee: false, narrow: Some(narrow) };
        let mut kernels = Vec::new();
        let lifted = symbolic::function((Env::default(), setting), &mut kernels, func);
        let (body, value) = lifted.expect("functions of the table have operations");
        let mut lifted = Lifted {
            uses: vec![0; body.ops.len()],
            demanded: vec![0; body.ops.len()],
            ops: body.ops,
            kernels,
            value,
            formats,
            arity: func.info().args.len(),
        };
        lifted.mark_live(width);
        lifted
    }

    /// Finds the operations that the value and the checks need, and of how many bits.
    fn mark_live(&mut self, width: usize) {
        self.need(self.value, width);
        for n in (0..self.ops.len()).rev() {
            let op = self.ops[n];
            let bits = match op {
                // Overflow is a flag of the machine, and operations on doubles find what is not finite themselves.
                Op::Require(_) => width,
                _ => self.demanded[n],
            };
            if bits == 0 {
                continue;
            }
            let constant = |v: V| self.constant(v).map(|k| k as usize);
            match op {
                Op::Bin(Bin::Shl, a, by) => match constant(by) {
                    Some(k) => self.need(a, bits.saturating_sub(k)),
                    None => self.need_all(&[(a, bits), (by, width)]),
                },
                Op::Bin(Bin::Shr | Bin::Sar, a, by) => match constant(by) {
                    Some(k) => self.need(a, width.min(bits + k)),
                    None => self.need_all(&[(a, width), (by, width)]),
                },
                Op::Bin(Bin::Add | Bin::Sub | Bin::Mul | Bin::Or | Bin::Xor, a, b) => {
                    self.need_all(&[(a, bits), (b, bits)])
                }
                Op::Bin(Bin::And, a, b) => {
                    let mask = constant(b).map_or(bits, |k| (usize::BITS - k.leading_zeros()) as usize);
                    self.need_all(&[(a, bits.min(mask)), (b, bits)]);
                }
                Op::Not(a) => self.need(a, bits),
                Op::Select(c, a, b) => self.need_all(&[(c, width), (a, bits), (b, bits)]),
                _ => op.uses().for_each(|v| self.need(v, width)),
            }
        }
    }

    fn need(&mut self, v: V, bits: usize) {
        self.uses[v.0 as usize] += 1;
        let demanded = &mut self.demanded[v.0 as usize];
        *demanded = (*demanded).max(bits);
    }

    fn need_all(&mut self, values: &[(V, usize)]) {
        for &(v, bits) in values {
            self.need(v, bits);
        }
    }

    fn op(&self, v: V) -> Op {
        self.ops[v.0 as usize]
    }

    fn constant(&self, v: V) -> Option<u64> {
        match self.op(v) {
            Op::Const(k) => Some(k),
            _ => None,
        }
    }

    fn is_operand(&self, v: V) -> bool {
        matches!(self.op(v), Op::Get(..))
    }

    /// The logarithmic numbers that the value is the order of.
    fn order(&self, v: V) -> Option<[V; 2]> {
        match self.op(v) {
            Op::Kernel(n, [a, b, ..])
                if self.kernels[n as usize].name == pendula_isa::kernels::log::Order::INFO.name =>
            {
                Some([a, b])
            }
            _ => None,
        }
    }

    fn live(&self) -> impl Iterator<Item = &Op> {
        self.ops.iter().zip(&self.uses).filter(|(_, uses)| **uses > 0).map(|(op, _)| op)
    }

    /// Whether it has circuits that depend on the formats of numbers.
    pub(crate) fn has_formats(&self) -> bool {
        self.live().any(|op| match op {
            Op::Kernel(n, _) => self.kernels[*n as usize].circuits.iter().any(|circuit| circuit.formats),
            op => matches!(op, Op::Float(..) | Op::Sqrt(_) | Op::Abs(_) | Op::FromInt(_)),
        })
    }

    /// Whether it compares doubles.
    pub(crate) fn compares_doubles(&self) -> bool {
        self.live().any(|op| matches!(op, Op::CompareFloat(..)))
    }

    /// Whether it has kernels.
    pub(crate) fn has_kernels(&self) -> bool {
        self.live().any(|op| matches!(op, Op::Kernel(..)))
    }

    /// Whether it shifts by a variable amount, which is taken modulo the width.
    pub(crate) fn shifts(&self) -> bool {
        let amount = |op: &Op| match op {
            Op::Bin(Bin::Shl | Bin::Shr | Bin::Sar | Bin::Rol | Bin::Ror, _, by) => self.constant(*by).is_none(),
            _ => false,
        };
        self.ops.iter().any(amount)
    }

    /// Circuits that stand for the function, if it has none of its own.
    pub(crate) fn composed(&self) -> Option<&'static [ValueCircuit]> {
        match self.op(self.value) {
            Op::Kernel(n, _) => Some(self.kernels[n as usize].circuits).filter(|circuits| circuits.len() > 1),
            _ => None,
        }
    }

    /// Whether the function is computed directly into the target. With exclusive or, these are bitwise functions,
    /// comparisons and selections of operands. With addition, they are sums and differences, whose words are added one
    /// after the other, and the product, whose rows are added in place.
    pub(crate) fn is_fused(&self, accumulator: Accumulator) -> bool {
        let operands = |v: &[V]| v.iter().all(|v| self.is_operand(*v));
        match (accumulator, self.op(self.value)) {
            (Accumulator::Xor, Op::Bin(Bin::And | Bin::Or, a, b) | Op::Compare(_, a, b)) => {
                operands(&[a, b]) || self.order(a).is_some()
            }
            (Accumulator::Xor, Op::CompareFloat(_, a, b) | Op::Select(_, a, b)) => operands(&[a, b]),
            (Accumulator::Xor, Op::Not(a)) => matches!(self.op(a), Op::Bin(Bin::Or, a, b) if operands(&[a, b])),
            (Accumulator::Add | Accumulator::AddOrSubtract, Op::Bin(Bin::Add | Bin::Sub | Bin::Mul, a, b)) => {
                operands(&[a, b])
            }
            _ => false,
        }
    }

    /// The circuit of `y ⊕= f(a[, b[, c]])`.
    pub(crate) fn accumulate(&self, b: &mut Builder, accumulator: Accumulator, width: usize) {
        let names = &["a", "b", "c"][..self.arity];
        let operands: Vec<Word> = names.iter().map(|name| b.register(name, Role::Operand, width)).collect();
        if self.is_fused(accumulator) {
            self.accumulate_directly(b, accumulator, &operands, width);
        } else {
            super::part::accumulate(b, accumulator, width, |b| self.value(b, &operands));
        }
    }

    /// The value of the function on new wires or on those of an operand. The operands are unchanged when it is computed backward.
    pub(crate) fn value(&self, b: &mut Builder, operands: &[Word]) -> Outcome {
        let mut synthesis = Synthesis::new(self, operands);
        let word = synthesis.value(b, self.value);
        synthesis.checks(b);
        Outcome { word, faults: synthesis.faults }
    }

    fn accumulate_directly(&self, b: &mut Builder, accumulator: Accumulator, operands: &[Word], width: usize) {
        let y = b.register("y", Role::Target, width);
        let word = |v: V| match self.op(v) {
            Op::Get(_, n) => operands[usize::from(n) - 1].clone(),
            _ => Word::default(),
        };
        match self.op(self.value) {
            Op::Bin(Bin::And, x, z) => b.xor_and(&word(x), &word(z), &y),
            Op::Bin(Bin::Or, x, z) => {
                b.xor_nor(&word(x), &word(z), &y);
                b.complement(&y);
            }
            Op::Not(or) => {
                if let Op::Bin(_, x, z) = self.op(or) {
                    b.xor_nor(&word(x), &word(z), &y);
                }
            }
            Op::Compare(cond, x, z) => match self.order(x) {
                Some([x, z]) => log::compare_into(b, cond, &word(x), &word(z), y[0]),
                None => b.xor_condition(cond, &word(x), &word(z), y[0]),
            },
            Op::CompareFloat(cond, x, z) => compare::compare_into(b, cond, &word(x), &word(z), y[0]),
            Op::Select(c, x, z) => b.with(
                |b| {
                    let mut synthesis = Synthesis::new(self, operands);
                    synthesis.truth(b, c)
                },
                |b, c| b.xor_select(*c, &word(x), &word(z), &y),
            ),
            Op::Bin(op, x, z) => {
                let direction =
                    (accumulator == Accumulator::AddOrSubtract).then(|| b.register("direction", Role::Control, 1)[0]);
                // A difference is a sum between complements.
                if let Some(direction) = direction {
                    b.complement_if(direction, &y);
                }
                match op {
                    Bin::Mul => b.multiply_add(&word(x), &word(z), &y),
                    Bin::Sub => {
                        b.add(&word(x), &y);
                        b.subtract(&word(z), &y);
                    }
                    _ => {
                        b.add(&word(x), &y);
                        b.add(&word(z), &y);
                    }
                }
                if let Some(direction) = direction {
                    b.complement_if(direction, &y);
                }
            }
            other => unreachable!("{other:?} is not computed into the target"),
        }
    }
}

/// The computation of values in a circuit.
struct Synthesis<'a> {
    function: &'a Lifted,
    operands: &'a [Word],
    width: usize,
    values: HashMap<u32, Word>,
    faults: Vec<Bit>,
}

impl Synthesis<'_> {
    fn new<'a>(function: &'a Lifted, operands: &'a [Word]) -> Synthesis<'a> {
        let width = function.formats.width();
        Synthesis { function, operands, width, values: HashMap::new(), faults: Vec::new() }
    }

    /// Computes the conditions that the function checks.
    fn checks(&mut self, b: &mut Builder) {
        for op in &self.function.ops {
            if let Op::Require(ok) = *op {
                let fault = self.untruth(b, ok);
                self.faults.push(fault);
            }
        }
    }

    /// The value of an operation.
    fn value(&mut self, b: &mut Builder, v: V) -> Word {
        if let Some(word) = self.values.get(&v.0) {
            return word.clone();
        }
        let word = self.compute(b, v);
        self.values.insert(v.0, word.clone());
        word
    }

    fn compute(&mut self, b: &mut Builder, v: V) -> Word {
        let width = self.width;
        let bits = self.function.demanded[v.0 as usize].clamp(1, width);
        match self.function.op(v) {
            Op::Const(k) => Word::constant(u128::from(k), width),
            Op::Get(_, n) => self.operands[usize::from(n) - 1].clone(),
            Op::Bin(op, x, z) => self.binary(b, op, x, z, bits),
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
                    // Circuits that stand for the function have no value; see `Lifted::composed`.
                    _ => b.word(width),
                }
            }
            other => unreachable!("{other:?} is no value of a function"),
        }
    }

    /// The value on wires that nothing else uses.
    fn own(&mut self, b: &mut Builder, v: V) -> Word {
        let word = self.value(b, v);
        let wires = word.iter().all(|bit| bit.wire().is_some());
        // An operand, too, is restored when the value is computed backward.
        if self.function.uses[v.0 as usize] == 1 && wires { word } else { b.copy(&word) }
    }

    fn binary(&mut self, b: &mut Builder, op: Bin, x: V, z: V, bits: usize) -> Word {
        let width = self.width;
        match op {
            Bin::Add | Bin::Sub => {
                if op == Bin::Sub && self.function.constant(x) == Some(0) {
                    let word = self.own(b, z);
                    b.negate(&word);
                    return word;
                }
                let (target, other) = (self.own(b, x), self.value(b, z));
                let (target_low, other) = (&target[..bits], &other[..bits]);
                if op == Bin::Add {
                    b.add(other, target_low)
                } else {
                    b.subtract(other, target_low)
                }
                target
            }
            Bin::Mul | Bin::MulHigh => self.product(b, op, x, z, bits),
            Bin::And => self.bitwise(b, x, z, |b, x, z| match (x, z) {
                (Bit::ZERO, _) | (_, Bit::ZERO) => Bit::ZERO,
                (Bit::ONE, bit) | (bit, Bit::ONE) => bit,
                _ => b.and(x, z),
            }),
            Bin::Or => self.bitwise(b, x, z, |b, x, z| match (x, z) {
                (Bit::ONE, _) | (_, Bit::ONE) => Bit::ONE,
                (Bit::ZERO, bit) | (bit, Bit::ZERO) => bit,
                _ => b.or(x, z),
            }),
            Bin::Xor => {
                let (target, other) = (self.own(b, x), self.value(b, z));
                b.xor(&other, &target);
                target
            }
            Bin::Shl | Bin::Shr | Bin::Sar | Bin::Rol | Bin::Ror => {
                let (word, amount) = (self.value(b, x), self.value(b, z));
                match self.function.constant(z) {
                    Some(k) => shifted(op, &word, k as usize % width),
                    None => shifted_by(b, op, &word, &amount, bits),
                }
            }
        }
    }

    fn bitwise(&mut self, b: &mut Builder, x: V, z: V, f: impl Fn(&mut Builder, Bit, Bit) -> Bit) -> Word {
        let (x, z) = (self.value(b, x), self.value(b, z));
        x.iter().zip(&*z).map(|(x, z)| if x == z { *x } else { f(b, *x, *z) }).collect()
    }

    /// A word of a product. If both are used, they are computed at once.
    fn product(&mut self, b: &mut Builder, op: Bin, x: V, z: V, bits: usize) -> Word {
        let width = self.width;
        let index = |op: Bin| {
            let same = |(n, o): (usize, &Op)| (*o == Op::Bin(op, x, z) && self.function.uses[n] > 0).then_some(n);
            self.function.ops.iter().enumerate().find_map(same)
        };
        let (low, high) = (index(Bin::Mul), index(Bin::MulHigh));
        let (first, second) = (self.value(b, x), self.value(b, z));
        if let Some(high) = high {
            let product = b.mul_signed(&first, &second);
            let (low_word, high_word) = product.split_at(width);
            self.values.insert(high as u32, Word::from(high_word));
            if let Some(low) = low {
                self.values.insert(low as u32, Word::from(low_word));
            }
            return Word::from(if op == Bin::Mul { low_word } else { high_word });
        }
        let word = b.word(bits);
        b.multiply_add(&first, &second, &word);
        word.unsigned(width)
    }

    fn select(&mut self, b: &mut Builder, c: V, x: V, z: V) -> Word {
        // The opposite of a word or the word itself.
        if matches!(self.function.op(x), Op::Bin(Bin::Sub, zero, a) if a == z && self.function.constant(zero) == Some(0))
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

    fn float(&mut self, b: &mut Builder, op: Float, x: V, z: V) -> Word {
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
            (Float::Div, _) if self.function.constant(x).is_some() => {
                // The only constant that is divided is 1; as a narrow word it has other bits.
                let one = circuits::one(self.function.formats.float);
                let divisor = self.value(b, z);
                self.outcome(circuits::FLOAT_DIVIDE.value(b, &self.function.formats, &[one, divisor]))
            }
            (Float::Div, _) => self.circuit(b, &circuits::FLOAT_DIVIDE, &[x, z]),
        }
    }

    fn circuit(&mut self, b: &mut Builder, circuit: &ValueCircuit, x: &[V]) -> Word {
        let x: Vec<Word> = x.iter().map(|v| self.value(b, *v)).collect();
        self.outcome(circuit.value(b, &self.function.formats, &x))
    }

    fn outcome(&mut self, outcome: Outcome) -> Word {
        self.faults.extend(outcome.faults);
        outcome.word
    }

    /// Whether a word is not zero.
    fn truth(&mut self, b: &mut Builder, v: V) -> Bit {
        match self.function.op(v) {
            Op::Compare(cond, x, z) => self.compare(b, cond, x, z),
            Op::CompareFloat(cond, x, z) => {
                let (x, z) = (self.value(b, x), self.value(b, z));
                self.outcome(compare::compare(b, cond, &x, &z))[0]
            }
            _ => {
                let word = self.value(b, v);
                let one = word[1..].iter().all(|bit| *bit == Bit::ZERO);
                if one { word[0] } else { b.any(&word) }
            }
        }
    }

    /// Whether a word is zero.
    fn untruth(&mut self, b: &mut Builder, v: V) -> Bit {
        match self.function.op(v) {
            Op::Bin(Bin::Xor, c, one) if self.function.constant(one) == Some(1) => self.truth(b, c),
            Op::Compare(cond, x, z) if cond.negated() != Cond::Always => self.compare(b, cond.negated(), x, z),
            _ => {
                let truth = self.truth(b, v);
                b.inverse_of(truth)
            }
        }
    }

    fn compare(&mut self, b: &mut Builder, cond: Cond, x: V, z: V) -> Bit {
        if let Some([x, z]) = self.function.order(x) {
            let (x, z) = (self.value(b, x), self.value(b, z));
            return self.outcome(log::compare(b, cond, &x, &z))[0];
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
fn shifted(op: Bin, word: &Word, by: usize) -> Word {
    let width = word.len();
    match op {
        Bin::Shl => word.shifted_left(by).unsigned(width),
        Bin::Shr => Word::from(&word[by..]).unsigned(width),
        Bin::Sar => Word::from(&word[by..]).signed(width),
        Bin::Rol => word.rotated_left(by),
        _ => word.rotated_left(width - by),
    }
}

/// A word shifted by a variable amount modulo the width. Only the low `bits` bits of the result matter.
fn shifted_by(b: &mut Builder, op: Bin, word: &Word, amount: &Word, bits: usize) -> Word {
    let width = word.len();
    let known = amount.iter().rposition(|bit| *bit != Bit::ZERO).map_or(0, |top| top + 1);
    let amount = &amount[..known.min(width.ilog2() as usize)];
    match op {
        Bin::Shl => Word::from(&b.shift_left(&word[..bits], amount)[..bits]).unsigned(width),
        Bin::Shr => {
            let length = word.iter().rposition(|bit| *bit != Bit::ZERO).map_or(1, |top| top + 1);
            let fraction = (1 << amount.len()) - 1;
            Word::from(&b.shift_right(&word[..length], amount)[fraction..]).unsigned(width)
        }
        Bin::Sar => {
            // Without the copies of the sign at the top.
            let copies = word.iter().rev().take_while(|bit| **bit == word.sign()).count();
            let length = width + 1 - copies;
            let fraction = (1 << amount.len()) - 1;
            Word::from(&b.shift_right_signed(&word[..length], amount)[fraction..]).signed(width)
        }
        _ => {
            let rotated = b.copy(word);
            match op {
                Bin::Ror => b.inverted(|b| b.rotate_left(amount, &rotated)),
                _ => b.rotate_left(amount, &rotated),
            }
            rotated
        }
    }
}
