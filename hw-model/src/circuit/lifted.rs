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
use pendula_isa::kernels::circuits::in_place::Widths;
use pendula_isa::kernels::circuits::{self, Formats, Outcome, ValueCircuit, compare, log};
use pendula_isa::table::TableFn;

use super::part::{Accumulator, StandIns};
use super::row::word_index;
use super::synthesis::Synthesis;

/// How bodies are lifted for words of these formats.
pub(super) fn lift_config(formats: Formats) -> LiftConfig {
    let exponent = formats.float.exponent as u32;
    let narrow = Narrow { bits: formats.fixed.width, frac: formats.fixed.frac, exponent };
    LiftConfig { ad_mode: AdMode::Plain, checks: true, trap_overflow: false, ieee: false, narrow: Some(narrow) }
}

/// What is wrong with a width for kernels that depend on the formats of numbers.
pub(super) fn width_of_kernels(width: usize, frac: usize) -> Option<&'static str> {
    let format =
        "a kernel's words have 8 to 64 bits, of which 1 to 48, and no more than the width less 2, are fraction";
    (!(8..=64).contains(&width) || !(1..=48.min(width - 2)).contains(&frac)).then_some(format)
}

/// What is wrong with a width for floating-point numbers.
pub(super) fn width_of_floats(width: usize) -> Option<&'static str> {
    (!(8..=64).contains(&width)).then_some("a floating-point number has 8 to 64 bits")
}

/// Operations on words of some width: the body of a function or of an instruction.
#[derive(Debug)]
pub(crate) struct Lifted {
    pub(super) ops: Vec<Op>,
    pub(super) kernels: Vec<Kernel>,
    /// The values that it computes.
    roots: Vec<ValueId>,
    pub(super) formats: Formats,
    pub(super) arity: usize,
    /// How many live operations and checks use each value.
    pub(super) uses: Vec<u32>,
    /// How many low bits of each value matter.
    pub(super) demanded: Vec<usize>,
}

impl Lifted {
    /// Lifts a function for words of these formats.
    pub(crate) fn new(func: TableFn, formats: Formats) -> Lifted {
        let mut kernels = Vec::new();
        let lifted = symbolic::function((Env::default(), lift_config(formats)), &mut kernels, func);
        let (body, value) = lifted.expect("functions of the table have operations");
        Lifted::of(body.ops, kernels, vec![value], (formats, func.info().args.len()))
    }

    /// Operations that compute values from this number of operands.
    pub(super) fn of(
        ops: Vec<Op>,
        kernels: Vec<Kernel>,
        roots: Vec<ValueId>,
        (formats, arity): (Formats, usize),
    ) -> Lifted {
        let (uses, demanded) = (vec![0; ops.len()], vec![0; ops.len()]);
        let mut lifted = Lifted { ops, kernels, roots, formats, arity, uses, demanded };
        lifted.mark_live(formats.width());
        lifted
    }

    /// Finds the operations that the value and the checks need, and of how many bits.
    fn mark_live(&mut self, width: usize) {
        for n in 0..self.roots.len() {
            self.need(self.roots[n], width);
        }
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

    /// The index of the word that the value is before the operations.
    pub(super) fn operand(&self, v: ValueId) -> Option<usize> {
        match self.op(v) {
            Op::Get(lane, n) => Some(word_index(lane, n, self.arity)),
            _ => None,
        }
    }

    fn is_operand(&self, v: ValueId) -> bool {
        self.operand(v).is_some()
    }

    /// Whether the values depend on a word.
    pub(super) fn reads(&self, at: usize) -> bool {
        self.live_values().any(|v| self.operand(v) == Some(at))
    }

    fn live_values(&self) -> impl Iterator<Item = ValueId> {
        (0..self.ops.len()).filter(|n| self.uses[*n] > 0).map(|n| ValueId(n as u32))
    }

    /// What is wrong with the width, if there is no circuit of it.
    pub(super) fn width_problem(&self) -> Option<&'static str> {
        let (width, frac) = (self.formats.width(), self.formats.fixed.frac as usize);
        if self.has_formats() {
            return width_of_kernels(width, frac);
        }
        if self.compares_doubles() {
            return width_of_floats(width);
        }
        if self.has_kernels() && width < 4 {
            return Some("a kernel's words have 4 bits or more");
        }
        (self.shifts() && !width.is_power_of_two()).then_some("the width must be a power of two")
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
    fn has_formats(&self) -> bool {
        self.live().any(|op| match op {
            Op::Kernel(n, _) => {
                let kernel = &self.kernels[*n as usize];
                kernel.circuits.iter().any(|circuit| circuit.formats)
                    || kernel.in_place.is_some_and(|circuit| circuit.widths == Widths::Formats)
            }
            op => matches!(op, Op::Float(..) | Op::Sqrt(_) | Op::Abs(_) | Op::FromInt(_)),
        })
    }

    /// Whether it compares doubles.
    fn compares_doubles(&self) -> bool {
        self.live().any(|op| matches!(op, Op::CompareFloat(..)))
    }

    /// Whether it has kernels.
    fn has_kernels(&self) -> bool {
        self.live().any(|op| matches!(op, Op::Kernel(..)))
    }

    /// Whether it shifts by a variable amount, which is taken modulo the width, or may do so in a kernel.
    fn shifts(&self) -> bool {
        let amount = |op: &Op| match op {
            Op::BinaryOp(BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Sar | BinaryOp::Rol | BinaryOp::Ror, _, by) => {
                self.constant(*by).is_none()
            }
            Op::Kernel(n, _) => {
                self.kernels[*n as usize].in_place.is_some_and(|circuit| circuit.widths == Widths::PowersOfTwo)
            }
            _ => false,
        };
        self.ops.iter().any(amount)
    }

    /// Whether it shifts bits out of a word, by this operand as it is.
    pub(crate) fn shifts_by(&self, operand: usize) -> bool {
        self.live().any(|op| match op {
            Op::BinaryOp(BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Sar, _, by) => {
                matches!(self.op(*by), Op::Get(_, n) if usize::from(n) == operand)
            }
            _ => false,
        })
    }

    /// Circuits that stand for kernels without a circuit of their own; in the function's circuit, the values of these are meaningless.
    pub(crate) fn stand_ins(&self) -> Vec<ValueCircuit> {
        let several = |op: &Op| match op {
            Op::Kernel(n, _) => Some(self.kernels[*n as usize].circuits).filter(|circuits| circuits.len() > 1),
            _ => None,
        };
        self.live().filter_map(several).flatten().copied().collect()
    }

    /// The kernels whose value the function's circuit does not have, with the circuits that stand for them.
    pub(super) fn without_own(&self) -> Vec<StandIns> {
        let of = |op: &Op| match op {
            Op::Kernel(n, _) => {
                let kernel = &self.kernels[*n as usize];
                let is_own = |c: &ValueCircuit| c.name == kernel.name || *c == circuits::FLOAT_MULTIPLY_ADD;
                let own = matches!(kernel.circuits, [circuit] if is_own(circuit));
                let elsewhere = kernel.circuits.is_empty();
                (!own && !elsewhere).then_some(StandIns { kernel: kernel.name, circuits: kernel.circuits })
            }
            _ => None,
        };
        self.live().filter_map(of).collect()
    }

    /// Whether it has kernels that are functions on words with a circuit of their own, and no others.
    pub(super) fn has_own_kernel(&self) -> bool {
        let own = |op: &Op| matches!(op, Op::Kernel(n, _) if !self.kernels[*n as usize].circuits.is_empty());
        self.live().any(own) && self.without_own().is_empty()
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
        match (accumulator, self.op(self.roots[0])) {
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
        let word = synthesis.value(b, self.roots[0]);
        synthesis.checks(b);
        Outcome { word, faults: synthesis.faults }
    }

    fn accumulate_directly(&self, b: &mut Builder, accumulator: Accumulator, operands: &[Word], width: usize) {
        let y = b.register("y", Role::Target, width);
        let word = |v: ValueId| self.operand(v).map(|at| operands[at].clone()).unwrap_or_default();
        match self.op(self.roots[0]) {
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
