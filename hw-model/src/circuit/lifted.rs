//! Circuits of the table's functions, from the operations that their bodies are lifted to.
//!
//! A [`Lifted`] function is a straight line of operations on words. [`Synthesis`] computes its value on new wires, operation by
//! operation: constants, shifts by constants and the joining of disjoint bits are wiring, operations on doubles and kernels have
//! circuits of their own. Some functions enter the target directly ([`Lifted::is_fused`]).

use pendula_codegen::lift::{LiftConfig, Narrow, symbolic};
use pendula_codegen::ops::{BinaryOp, Kernel, Op, ValueId};
use pendula_isa::Env;
use pendula_isa::adjoint::AdMode;
use pendula_isa::circuit::{Builder, Role, Word};
use pendula_isa::kernels::Kernel as _;
use pendula_isa::kernels::circuits::{Formats, Outcome, ValueCircuit, compare, log};
use pendula_isa::table::TableFn;

use super::part::Accumulator;
use super::synthesis::Synthesis;

/// A function of the table as operations on words of some width.
#[derive(Debug)]
pub(crate) struct Lifted {
    pub(super) ops: Vec<Op>,
    pub(super) kernels: Vec<Kernel>,
    value: ValueId,
    pub(super) formats: Formats,
    arity: usize,
    /// How many live operations and checks use each value.
    pub(super) uses: Vec<u32>,
    /// How many low bits of each value matter.
    pub(super) demanded: Vec<usize>,
}

impl Lifted {
    /// Lifts a function for words of these formats.
    pub(crate) fn new(func: TableFn, formats: Formats) -> Lifted {
        let width = formats.width();
        let exponent = formats.float.exponent as u32;
        let narrow = Narrow { bits: formats.fixed.width, frac: formats.fixed.frac, exponent };
        let setting = LiftConfig {
            ad_mode: AdMode::Plain,
            checks: true,
            trap_overflow: false,
            ieee: false,
            narrow: Some(narrow),
        };
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
            let constant = |v: ValueId| self.constant(v).map(|k| k as usize);
            match op {
                Op::BinaryOp(BinaryOp::Shl, a, by) => match constant(by) {
                    Some(k) => self.need(a, bits.saturating_sub(k)),
                    None => self.need_all(&[(a, bits), (by, width)]),
                },
                Op::BinaryOp(BinaryOp::Shr | BinaryOp::Sar, a, by) => match constant(by) {
                    Some(k) => self.need(a, width.min(bits + k)),
                    None => self.need_all(&[(a, width), (by, width)]),
                },
                Op::BinaryOp(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Or | BinaryOp::Xor, a, b) => {
                    self.need_all(&[(a, bits), (b, bits)])
                }
                Op::BinaryOp(BinaryOp::And, a, b) => {
                    let mask = constant(b).map_or(bits, |k| (usize::BITS - k.leading_zeros()) as usize);
                    self.need_all(&[(a, bits.min(mask)), (b, bits)]);
                }
                Op::Not(a) => self.need(a, bits),
                Op::Select(c, a, b) => self.need_all(&[(c, width), (a, bits), (b, bits)]),
                _ => op.uses().for_each(|v| self.need(v, width)),
            }
        }
    }

    fn need(&mut self, v: ValueId, bits: usize) {
        self.uses[v.0 as usize] += 1;
        let demanded = &mut self.demanded[v.0 as usize];
        *demanded = (*demanded).max(bits);
    }

    fn need_all(&mut self, values: &[(ValueId, usize)]) {
        for &(v, bits) in values {
            self.need(v, bits);
        }
    }

    pub(super) fn op(&self, v: ValueId) -> Op {
        self.ops[v.0 as usize]
    }

    pub(super) fn constant(&self, v: ValueId) -> Option<u64> {
        match self.op(v) {
            Op::Const(k) => Some(k),
            _ => None,
        }
    }

    fn is_operand(&self, v: ValueId) -> bool {
        matches!(self.op(v), Op::Get(..))
    }

    /// The logarithmic numbers that the value is the order of.
    pub(super) fn order(&self, v: ValueId) -> Option<[ValueId; 2]> {
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
            Op::BinaryOp(BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Sar | BinaryOp::Rol | BinaryOp::Ror, _, by) => {
                self.constant(*by).is_none()
            }
            _ => false,
        };
        self.ops.iter().any(amount)
    }

    /// Circuits that stand for kernels without a circuit of their own; in the function's circuit, the values of these are meaningless.
    pub(crate) fn stand_ins(&self) -> Vec<ValueCircuit> {
        let several = |op: &Op| match op {
            Op::Kernel(n, _) => Some(self.kernels[*n as usize].circuits).filter(|circuits| circuits.len() > 1),
            _ => None,
        };
        self.live().filter_map(several).flatten().copied().collect()
    }

    /// Whether every kernel has a circuit, or others that stand for it.
    #[cfg(test)]
    pub(crate) fn is_complete(&self) -> bool {
        let is_order = |n: usize| self.kernels[n].name == pendula_isa::kernels::log::Order::INFO.name;
        self.live().all(|op| !matches!(op, Op::Kernel(n, _) if self.kernels[*n as usize].circuits.is_empty() && !is_order(*n as usize)))
    }

    /// Whether the function is computed directly into the target. With exclusive or, these are bitwise functions,
    /// comparisons and selections of operands. With addition, they are sums and differences, whose words are added one
    /// after the other, and the product, whose rows are added in place.
    pub(crate) fn is_fused(&self, accumulator: Accumulator) -> bool {
        let operands = |v: &[ValueId]| v.iter().all(|v| self.is_operand(*v));
        match (accumulator, self.op(self.value)) {
            (Accumulator::Xor, Op::BinaryOp(BinaryOp::And | BinaryOp::Or, a, b) | Op::Compare(_, a, b)) => {
                operands(&[a, b]) || self.order(a).is_some()
            }
            (Accumulator::Xor, Op::CompareFloat(_, a, b) | Op::Select(_, a, b)) => operands(&[a, b]),
            (Accumulator::Xor, Op::Not(a)) => {
                matches!(self.op(a), Op::BinaryOp(BinaryOp::Or, a, b) if operands(&[a, b]))
            }
            (
                Accumulator::Add | Accumulator::AddOrSubtract,
                Op::BinaryOp(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, a, b),
            ) => operands(&[a, b]),
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
        let word = |v: ValueId| match self.op(v) {
            Op::Get(_, n) => operands[usize::from(n) - 1].clone(),
            _ => Word::default(),
        };
        match self.op(self.value) {
            Op::BinaryOp(BinaryOp::And, x, z) => b.xor_and(&word(x), &word(z), &y),
            Op::BinaryOp(BinaryOp::Or, x, z) => {
                b.xor_nor(&word(x), &word(z), &y);
                b.complement(&y);
            }
            Op::Not(or) => {
                if let Op::BinaryOp(_, x, z) = self.op(or) {
                    b.xor_nor(&word(x), &word(z), &y);
                }
            }
            Op::Compare(cond, x, z) => match self.order(x) {
                Some([x, z]) => log::COMPARISON.xor_into(b, cond, &word(x), &word(z), y[0]),
                None => b.xor_condition(cond, &word(x), &word(z), y[0]),
            },
            Op::CompareFloat(cond, x, z) => compare::COMPARISON.xor_into(b, cond, &word(x), &word(z), y[0]),
            Op::Select(c, x, z) => b.with(
                |b| {
                    let mut synthesis = Synthesis::new(self, operands);
                    synthesis.truth(b, c)
                },
                |b, c| b.xor_select(*c, &word(x), &word(z), &y),
            ),
            Op::BinaryOp(op, x, z) => {
                let direction =
                    (accumulator == Accumulator::AddOrSubtract).then(|| b.register("direction", Role::Control, 1)[0]);
                // A difference is a sum between complements.
                if let Some(direction) = direction {
                    b.complement_if(direction, &y);
                }
                match op {
                    BinaryOp::Mul => b.multiply_add(&word(x), &word(z), &y),
                    BinaryOp::Sub => {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_of_a_function_has_a_circuit() {
        for &func in TableFn::ALL {
            assert!(Lifted::new(func, Formats::of_width(64)).is_complete(), "{func:?} would cost nothing");
        }
    }
}
