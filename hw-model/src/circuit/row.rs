//! Circuits of the straight-line instructions that are no accumulates, from the operations that their bodies are lifted to.
//!
//! What a body writes says how the circuit is made. In this order:
//!
//! - Words that change places are exchanged; one in memory is so by the access.
//! - Results of a kernel with a circuit [in place](InPlaceCircuit) replace its first arguments.
//! - A word that becomes a sum, a difference, an exclusive or, or a rotation of itself with words that are known is changed in place. One after
//!   the other, the new words serve for the next.
//! - Anything else is computed beside the old words, exchanged with them, and the old words, which the inverse's body computes from the new
//!   ones, are computed backward.
//!
//! A word that is overwritten by a constant is lost, which is no matter of gates.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pendula_codegen::lift::symbolic::{self, CELL, Operand};
use pendula_codegen::ops::{BinaryOp, Kernel, Op, ValueId};
use pendula_isa::Env;
use pendula_isa::circuit::{Bit, Builder, Role, Word};
use pendula_isa::kernels::circuits::{Formats, InPlaceCircuit, ValueCircuit, in_place};
use pendula_isa::operand::OperandKind;
use pendula_isa::table::{Instruction, InstructionVisitor, Row, RowInfo, Variant};

use super::lifted::{Lifted, lift_config};
use super::part::{StandIns, add_traps};
use super::synthesis::Synthesis;

/// A change of a word in place.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Add(ValueId),
    Subtract(ValueId),
    Xor(ValueId),
    Not,
    Negate,
    RotateLeft(ValueId),
    RotateRight(ValueId),
}

/// How the new words are made.
enum Plan {
    /// Words that change places.
    Exchange(Vec<[usize; 2]>),
    /// By the circuit of a kernel, on these operands.
    Kernel(InPlaceCircuit, Vec<ValueId>),
    /// Steps on words, one after the other.
    Steps(Vec<(usize, Vec<Step>)>),
    /// Beside the old ones.
    Beside,
}

/// A row of the table as operations on words of some width.
pub(super) struct LiftedRow {
    info: &'static RowInfo,
    run: Lifted,
    /// Of the inverse instruction, with the same kernels.
    undo: Lifted,
    /// The new words of operands.
    writes: Vec<(usize, ValueId)>,
    old: Vec<(usize, ValueId)>,
}

/// The words that a body writes.
fn writes(ops: &[Op], arity: usize) -> Vec<(usize, ValueId)> {
    let write = |op: &Op| match *op {
        Op::Set(lane, n, v) => Some((word_index(lane, n, arity), v)),
        _ => None,
    };
    ops.iter().filter_map(write).collect()
}

/// The index of a word among the operands of an instruction, their gradient words, and its cell.
pub(super) fn word_index(lane: u8, n: u8, arity: usize) -> usize {
    match (lane, n) {
        (_, CELL) => 2 * arity,
        (0, n) => usize::from(n) - 1,
        (_, n) => arity + usize::from(n) - 1,
    }
}

impl LiftedRow {
    /// Lifts an instruction of the table; `None` if it is more than operations on words: if it directs control, moves the stack pointer, or
    /// talks to the host.
    pub(super) fn new(row: Row, variant: Variant, formats: Formats) -> Option<LiftedRow> {
        struct Lift(Variant, Formats);
        impl InstructionVisitor for Lift {
            type Out = Option<LiftedRow>;
            fn visit<I: Instruction>(self) -> Option<LiftedRow> {
                LiftedRow::of::<I>(self.0, self.1)
            }
        }
        row.visit(Lift(variant, formats)).flatten()
    }

    fn of<I: Instruction>(variant: Variant, formats: Formats) -> Option<LiftedRow> {
        let info: &'static RowInfo = &I::INFO;
        if info.moves_sp {
            return None;
        }
        let arity = info.operands.len();
        let operand = |(n, kind): (usize, &OperandKind)| match kind {
            // Constant amounts differ in nothing but wiring.
            OperandKind::Amount if variant.form => Operand::Const(1),
            _ => Operand::Word(n as u8 + 1),
        };
        let operands: Vec<Operand> = info.operands.iter().enumerate().map(operand).collect();
        let mut kernels: Vec<Kernel> = Vec::new();
        let mut lift = |inverse| {
            let setting = (Env::default(), lift_config(formats));
            Some(symbolic::instruction::<I>(setting, &mut kernels, (inverse, variant), &operands)?.ops)
        };
        let (run, undo) = (lift(false)?, lift(true)?);
        let changed = |ops: &[Op]| -> Vec<(usize, ValueId)> {
            let same = |(at, v): &(usize, ValueId)| match ops[v.0 as usize] {
                Op::Get(lane, n) => word_index(lane, n, arity) == *at,
                _ => false,
            };
            writes(ops, arity).into_iter().filter(|write| !same(write)).collect()
        };
        let (writes, old) = (changed(&run), changed(&undo));
        let lifted = |ops: Vec<Op>, writes: &[(usize, ValueId)]| {
            Lifted::of(ops, kernels.clone(), writes.iter().map(|(_, v)| *v).collect(), (formats, arity))
        };
        Some(LiftedRow { info, run: lifted(run, &writes), undo: lifted(undo, &old), writes, old })
    }

    /// The operations that determine which widths it has a circuit for.
    pub(super) fn operations(&self) -> &Lifted {
        &self.run
    }

    /// As [`Lifted::stand_ins`], of both bodies where both are computed.
    pub(super) fn stand_ins(&self) -> Vec<ValueCircuit> {
        let mut circuits = self.run.stand_ins();
        if matches!(self.plan(), Plan::Beside) {
            circuits.extend(self.undo.stand_ins());
        }
        circuits
    }

    /// As [`Lifted::without_own`], of both bodies where both are computed.
    pub(super) fn without_own(&self) -> Vec<StandIns> {
        let mut kernels = self.run.without_own();
        if matches!(self.plan(), Plan::Beside) {
            kernels.extend(self.undo.without_own());
        }
        kernels
    }

    /// The new words of operands that are not lost.
    fn targets(&self) -> impl Iterator<Item = (usize, ValueId)> {
        self.writes.iter().copied().filter(|(_, v)| self.run.constant(*v).is_none())
    }

    fn is_target(&self, at: usize) -> bool {
        self.targets().any(|(target, _)| target == at)
    }

    fn plan(&self) -> Plan {
        self.exchange().or_else(|| self.kernel()).or_else(|| self.steps()).unwrap_or(Plan::Beside)
    }

    fn get(&self, v: ValueId) -> Option<usize> {
        self.run.operand(v)
    }

    fn exchange(&self) -> Option<Plan> {
        let from = self.targets().map(|(at, v)| Some((at, self.get(v)?))).collect::<Option<BTreeMap<_, _>>>()?;
        let moved: BTreeSet<usize> = from.values().copied().collect();
        if !from.keys().eq(&moved) {
            return None;
        }
        let mut words: Vec<usize> = (0..=2 * self.run.arity).collect();
        let mut swaps = Vec::new();
        for (at, old) in from {
            let now = words.iter().position(|word| *word == old)?;
            if now != at {
                words.swap(at, now);
                swaps.push([at, now]);
            }
        }
        Some(Plan::Exchange(swaps))
    }

    fn kernel(&self) -> Option<Plan> {
        let (_, first) = self.targets().next()?;
        let Op::Kernel(n, x) = self.run.op(first) else { return None };
        let kernel = &self.run.kernels[n as usize];
        let circuit = kernel.in_place?;
        let results = self.targets().enumerate().all(|(result, (at, v))| {
            let is_result = if result == 0 { v == first } else { self.run.op(v) == Op::Second(first) };
            is_result && self.get(x[result]) == Some(at)
        });
        results.then(|| Plan::Kernel(circuit, x[..kernel.arity].to_vec()))
    }

    fn steps(&self) -> Option<Plan> {
        let mut current = vec![None; 2 * self.run.arity + 1];
        for (n, _) in self.run.ops.iter().enumerate() {
            if let Some(at) = self.get(ValueId(n as u32)) {
                current[at] = Some(ValueId(n as u32));
            }
        }
        let mut plan = Vec::new();
        let mut left: Vec<(usize, ValueId)> = self.targets().collect();
        while !left.is_empty() {
            let ready = |(at, v): (usize, ValueId)| self.peel(v, at, &current);
            let (n, steps) = left.iter().enumerate().find_map(|(n, write)| Some((n, ready(*write)?)))?;
            let (at, v) = left.remove(n);
            current[at] = Some(v);
            plan.push((at, steps));
        }
        Some(Plan::Steps(plan))
    }

    /// The steps that make a value of the word at `at`, if there are some.
    fn peel(&self, v: ValueId, at: usize, current: &[Option<ValueId>]) -> Option<Vec<Step>> {
        if current[at] == Some(v) {
            return Some(Vec::new());
        }
        let known = |v: ValueId| self.is_known(v, at, current);
        let after = |v: ValueId, steps: &[Step]| {
            let mut all = self.peel(v, at, current)?;
            all.extend_from_slice(steps);
            Some(all)
        };
        match self.run.op(v) {
            Op::Not(a) => after(a, &[Step::Not]),
            Op::BinaryOp(BinaryOp::Add, a, b) if known(b) => after(a, &[Step::Add(b)]),
            Op::BinaryOp(BinaryOp::Add, a, b) if known(a) => after(b, &[Step::Add(a)]),
            Op::BinaryOp(BinaryOp::Sub, a, b) if known(b) => after(a, &[Step::Subtract(b)]),
            Op::BinaryOp(BinaryOp::Sub, a, b) if self.run.constant(a) == Some(0) => after(b, &[Step::Negate]),
            Op::BinaryOp(BinaryOp::Sub, a, b) if known(a) => after(b, &[Step::Negate, Step::Add(a)]),
            Op::BinaryOp(BinaryOp::Xor, a, b) if known(b) => after(a, &[Step::Xor(b)]),
            Op::BinaryOp(BinaryOp::Xor, a, b) if known(a) => after(b, &[Step::Xor(a)]),
            Op::BinaryOp(BinaryOp::Rol, a, n) if known(n) => after(a, &[Step::RotateLeft(n)]),
            Op::BinaryOp(BinaryOp::Ror, a, n) if known(n) => after(a, &[Step::RotateRight(n)]),
            _ => None,
        }
    }

    /// Whether a value can be computed from what the words are now, without the one at `at`.
    fn is_known(&self, v: ValueId, at: usize, current: &[Option<ValueId>]) -> bool {
        if current[at] == Some(v) {
            return false;
        }
        current.contains(&Some(v)) || {
            let op = self.run.op(v);
            self.get(v).is_none() && op.uses().all(|v| self.is_known(v, at, current))
        }
    }

    /// Declares the registers of the words, in order. Words that nothing reads or writes have none.
    fn declare(&self, b: &mut Builder) -> Vec<Word> {
        let (width, arity) = (self.run.formats.width(), self.run.arity);
        let mut words = vec![Word::default(); 2 * arity + 1];
        for (at, word) in words.iter_mut().enumerate() {
            let written = self.writes.iter().any(|(target, _)| *target == at);
            let role = match (self.is_target(at), written) {
                (true, _) => Role::Target,
                (false, true) => Role::Lost,
                (false, false) => Role::Operand,
            };
            if written || self.run.reads(at) {
                *word = b.register(&self.name(at), role, width);
            }
        }
        words
    }

    fn name(&self, at: usize) -> String {
        let (names, arity) = (self.info.operand_names, self.run.arity);
        match at.checked_sub(arity) {
            None => names[at].to_string(),
            Some(n) if n < arity => format!("gradient_{}", names[n]),
            Some(_) => "cell".to_string(),
        }
    }

    /// Builds the circuit.
    pub(super) fn build(&self, b: &mut Builder) {
        let mut words = self.declare(b);
        let before = words.clone();
        self.checks(b, &words);
        match self.plan() {
            Plan::Exchange(swaps) => {
                // The access to memory is an exchange.
                let in_memory =
                    |at: &usize| *at == 2 * self.run.arity || self.info.operands.get(*at) == Some(&OperandKind::Memory);
                for [first, second] in swaps.iter().filter(|swap| !swap.iter().any(in_memory)) {
                    b.swap(&words[*first], &words[*second]);
                }
            }
            Plan::Kernel(circuit, x) => {
                let mut synthesis = Synthesis::new(&self.run, &words);
                let x: Vec<Word> = x.iter().map(|v| synthesis.value(b, *v)).collect();
                let results = (circuit.build)(b, &self.run.formats, &x);
                for ((at, _), word) in self.targets().zip(results) {
                    words[at] = word;
                }
            }
            Plan::Steps(plan) => {
                let reversible = self.info.partner.is_some();
                let adds = |(_, steps): &(usize, Vec<Step>)| {
                    steps.iter().any(|step| matches!(step, Step::Add(_) | Step::Subtract(_)))
                };
                let direction =
                    (reversible && plan.iter().any(adds)).then(|| b.register("direction", Role::Control, 1)[0]);
                let mut current = HashMap::new();
                for (at, steps) in plan {
                    for step in steps {
                        words[at] = self.step(b, step, &words[at], (&words, &current), direction);
                    }
                    let (_, v) = self.targets().find(|(target, _)| *target == at).unwrap_or((at, ValueId(0)));
                    current.insert(v.0, words[at].clone());
                }
            }
            Plan::Beside => self.beside(b, &words),
        }
        for (at, word) in words.iter().enumerate().filter(|(at, word)| **word != before[*at]) {
            b.ends_at(&self.name(at), word);
        }
    }

    /// Traps unless the conditions hold that the body requires.
    fn checks(&self, b: &mut Builder, words: &[Word]) {
        for op in &self.run.ops {
            let Op::Require(ok) = *op else { continue };
            let trap = b.trap();
            Synthesis::new(&self.run, words).xor_truth(b, ok, trap);
            b.not(trap);
        }
    }

    /// Performs a step on the word `y`, and returns where it is then.
    fn step(
        &self,
        b: &mut Builder,
        step: Step,
        y: &Word,
        (words, current): (&[Word], &HashMap<u32, Word>),
        direction: Option<Bit>,
    ) -> Word {
        let mut synthesis = Synthesis::with_values(&self.run, words, current.clone());
        let mut with = |b: &mut Builder, v: ValueId, f: &mut dyn FnMut(&mut Builder, &[Bit])| {
            let value = |b: &mut Builder| {
                let word = synthesis.value(b, v);
                let top = word.iter().rposition(|bit| *bit != Bit::ZERO).map_or(0, |top| top + 1);
                (Word::from(&word[..top]), std::mem::take(&mut synthesis.faults))
            };
            b.with(value, |b, (word, faults)| {
                add_traps(b, faults);
                f(b, word);
            });
        };
        match step {
            Step::Add(v) => with(b, v, &mut |b, x| match direction {
                Some(direction) => b.add_or_subtract(direction, x, y),
                None => b.add(x, y),
            }),
            Step::Subtract(v) => with(b, v, &mut |b, x| match direction {
                Some(direction) => {
                    b.complement(y);
                    b.add_or_subtract(direction, x, y);
                    b.complement(y);
                }
                None => b.subtract(x, y),
            }),
            Step::Xor(v) => with(b, v, &mut |b, x| b.xor(x, &y[..x.len()])),
            Step::Not => b.complement(y),
            Step::Negate => b.negate(y),
            Step::RotateLeft(v) | Step::RotateRight(v) => {
                let amount = |b: &mut Builder| synthesis.value(b, v);
                return b.with(amount, |b, amount| in_place::rotated(b, step == Step::RotateLeft(v), y, amount));
            }
        }
        y.clone()
    }

    /// Computes the new words beside the old ones, exchanges them, and computes the old ones backward. Where a body rounds, the old words are not
    /// cleared to the last place; the gates are the same.
    fn beside(&self, b: &mut Builder, words: &[Word]) {
        let width = self.run.formats.width();
        let shared = self.shared();
        let known = |b: &mut Builder| {
            let mut synthesis = Synthesis::new(&self.run, words);
            let values: Vec<Word> = shared.iter().map(|(v, _)| synthesis.value(b, *v)).collect();
            (values, synthesis.faults)
        };
        b.with(known, |b, (values, faults)| {
            add_traps(b, faults);
            let known = |lifted: usize| {
                let of = |(v, undo): &(ValueId, ValueId)| if lifted == 0 { v.0 } else { undo.0 };
                shared.iter().map(of).zip(values.iter().cloned()).collect::<HashMap<u32, Word>>()
            };
            let targets: Vec<(usize, ValueId)> = self.targets().collect();
            let beside: Vec<Word> = targets.iter().map(|_| b.word(width)).collect();
            let new = |b: &mut Builder| {
                let mut synthesis = Synthesis::with_values(&self.run, words, known(0));
                let new: Vec<Word> = targets.iter().map(|(_, v)| synthesis.value(b, *v)).collect();
                (new, synthesis.faults)
            };
            b.with(new, |b, (new, faults)| {
                add_traps(b, faults);
                new.iter().zip(&beside).for_each(|(new, beside)| b.xor(new, beside));
            });
            for ((at, _), beside) in targets.iter().zip(&beside) {
                b.swap(&words[*at], beside);
            }
            let old = |b: &mut Builder| -> Vec<Word> {
                let mut synthesis = Synthesis::with_values(&self.undo, words, known(1));
                let old = |(at, _): &(usize, ValueId)| self.old.iter().find(|(target, _)| target == at);
                targets.iter().filter_map(old).map(|(_, v)| synthesis.value(b, *v)).collect()
            };
            b.with(old, |b, old| old.iter().zip(&beside).for_each(|(old, beside)| b.xor(old, beside)));
            beside.iter().for_each(|word| b.release(word));
        });
    }

    /// What both bodies compute from words that stay, from either's values.
    fn shared(&self) -> Vec<(ValueId, ValueId)> {
        let mut numbers: HashMap<Op, u32> = HashMap::new();
        let mut number = |lifted: &Lifted| -> Vec<Option<u32>> {
            let mut of: Vec<Option<u32>> = Vec::new();
            for (n, op) in lifted.ops.iter().enumerate() {
                let stays = match lifted.operand(ValueId(n as u32)) {
                    Some(at) => !self.is_target(at),
                    None => {
                        (!op.may_exit() || matches!(op, Op::Kernel(..)))
                            && op.uses().all(|v| of[v.0 as usize].is_some())
                    }
                };
                let op = stays.then(|| op.map(|v| ValueId(of[v.0 as usize].unwrap_or_default())));
                let next = numbers.len() as u32;
                of.push(op.map(|op| *numbers.entry(op).or_insert(next)));
            }
            of
        };
        let (run, undo) = (number(&self.run), number(&self.undo));
        let pair = |(n, number): (usize, &Option<u32>)| {
            let other = undo.iter().position(|other| number.is_some() && other == number)?;
            let (v, other) = (ValueId(n as u32), ValueId(other as u32));
            let computed = self.run.constant(v).is_none() && self.run.operand(v).is_none();
            (computed && self.run.uses[n] > 0).then_some((v, other))
        };
        run.iter().enumerate().filter_map(pair).collect()
    }
}

#[cfg(test)]
mod tests;
