//! A unit to be compiled: the operations of its blocks, and the analyses that code generators need.

use pendula_isa::adjoint::{LANES, VALUE};
use pendula_isa::module::Module;
use pendula_isa::types::Reg;
use pendula_isa::{Env, Inst};

use super::Mode;
use super::plan::{Plan, Unit};
use super::zeroed::{Zeroed, zero_registers};
use crate::decode::{self, Code, Decoded, Exit};
use pendula_codegen::lift::{Condition, LiftConfig, Lifter};
use pendula_codegen::loops::remove_implied_checks;
use pendula_codegen::ops::{Body, InstructionOps, Kernel, Op, Test, ValueId};

/// A unit to be compiled.
pub(crate) struct Job<'a> {
    /// The unit's number.
    #[allow(dead_code, reason = "only baseline code uses it, which not every build and host has")]
    pub(crate) number: usize,
    pub(crate) plan: &'a Plan,
    pub(crate) unit: &'a Unit,
    pub(crate) decoded: &'a Decoded,
    pub(crate) setting: LiftConfig,
    pub(crate) env: Env,
    /// Whether code checks the budget before each block.
    pub(crate) metered: bool,
    /// The blocks of the program before which code leaves; none if empty.
    pub(crate) stops: &'a [bool],
    /// The operations of each block.
    pub(crate) bodies: Vec<Body>,
    /// For each block that is a loop by itself: a body that takes registers to be zero, if that saves operations.
    pub(crate) zeroed: Vec<Option<Zeroed>>,
    pub(crate) kernels: Vec<Kernel>,
    pub(crate) module: &'a Module,
}

/// The straight-line instruction with this number in the decoded program.
fn instruction(module: &Module, number: u32) -> &Inst {
    let (n, number) = (module.code.len(), number as usize);
    // The second half is the code in reverse order.
    &module.code[if number < n { number } else { 2 * n - 1 - number }]
}

impl<'a> Job<'a> {
    /// Lifts a unit. For baseline code, instructions are not merged into groups.
    pub(crate) fn new(
        (module, decoded, plan): (&'a Module, &'a Decoded, &'a Plan),
        number: usize,
        Mode { setting, metered }: Mode,
        baseline: bool,
    ) -> Job<'a> {
        let unit = &plan.units[number];
        let env = Env { format: module.flags.format, ieee: setting.ieee };
        let mut kernels = Vec::new();
        let mut bodies = Vec::with_capacity(unit.blocks.len());
        let mut zeroed = Vec::with_capacity(unit.blocks.len());
        for (&block, depth) in unit.blocks.iter().zip(&unit.depth) {
            let most = if *depth > 0 { WRITES_TOGETHER } else { usize::MAX };
            let mut lift = |registers: u32| {
                let mut lifter = Lifter::new(env, setting, module.data.len() as u64, &mut kernels);
                if !baseline {
                    lifter.simplify();
                    lifter.assume_zero(registers);
                }
                lift_block(&mut lifter, (module, decoded), block);
                (lifter.known_zero(registers), lifter.finish())
            };
            let mut body = lift(0).1;
            let turns = matches!(&decoded.code[block as usize].exit, Exit::Branch(branch) if branch.to == block);
            let mut other = if !baseline && turns { zero_registers(&body, lift) } else { None };
            for body in std::iter::once(&mut body).chain(other.as_mut().map(|z| &mut z.body)) {
                if !baseline {
                    merge_parts(body, most);
                }
                merge_checks(body);
            }
            bodies.push(body);
            zeroed.push(other);
        }
        Job { number, plan, unit, decoded, setting, env, metered, stops: &[], bodies, zeroed, kernels, module }
    }

    /// The straight-line instruction with this number in the decoded program.
    pub(crate) fn instruction(&self, number: u32) -> &Inst {
        instruction(self.module, number)
    }

    /// Whether code leaves before a block of the unit.
    pub(crate) fn stops_before(&self, place: usize) -> bool {
        self.stops.get(self.unit.blocks[place] as usize) == Some(&true)
    }

    /// The lanes in use.
    pub(crate) fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        std::iter::once(VALUE).chain(self.setting.ad_mode.lanes().iter().copied())
    }
}

/// Lifts a block.
fn lift_block(lifter: &mut Lifter<'_>, (module, decoded): (&Module, &Decoded), block: u32) {
    let code = &decoded.code[block as usize];
    let back = !decoded.is_forward(block);
    for number in code.first..code.last {
        lifter.instruction(instruction(module, number), back, code.head + number - code.first);
    }
    match &code.exit {
        Exit::Branch(branch) => {
            let [test, confirm, unless] = [&branch.test, &branch.confirm, &branch.fall.unless].map(condition);
            lifter.branch(test, confirm, unless, tail(code));
        }
        Exit::Call { lift: false, .. } => {
            if let Some(site) = &decoded.calls[decoded.address(block, code.len - 1) as usize] {
                lifter.edge(condition(&site.after[usize::from(back)].unless), code.len);
            }
        }
        Exit::Call { .. } | Exit::CallRegister { .. } | Exit::Return { .. } | Exit::Fall(_) | Exit::Halt => {}
        Exit::PisaBranch(_) | Exit::End | Exit::Stop(_) | Exit::OffCode => {}
    }
}

/// A test as a condition for the lifter; `None` if it never holds.
fn condition(test: &decode::Test) -> Option<Condition> {
    let decode::Test { cond, ty, a, b, imm, .. } = *test;
    (!test.is_never()).then_some(Condition { cond, ty, a, b, imm })
}

/// The number of instructions of a block that run before its exit: all, except a control instruction at the end.
pub(crate) fn tail(code: &Code) -> u32 {
    if code.head + (code.last - code.first) < code.len { code.len - 1 } else { code.len }
}

/// Merges instructions into groups with side exits before the first instruction only: in each group, everything before the last possible side
/// exit only affects registers. `most` is the maximum number of register writes in a group.
fn merge_parts(body: &mut Body, most: usize) {
    let mut merged: Vec<InstructionOps> = Vec::with_capacity(body.parts.len());
    // For the last group: its register writes, whether it has another effect, and whether it is closed.
    let (mut writes, mut done, mut closed) = (0, false, true);
    for part in &body.parts {
        let ops = &body.ops[part.range()];
        let alone = ops.contains(&Op::Interpret);
        let leaves = ops.iter().any(Op::may_exit);
        let own_writes = ops.iter().filter(|op| matches!(op, Op::Set(..))).count();
        let effect = ops.iter().any(|op| matches!(op, Op::Store(..)));
        match merged.last_mut() {
            Some(last) if !(closed || alone || done && leaves) && writes + own_writes <= most => {
                last.last = part.last;
                writes += own_writes;
                done |= effect;
            }
            _ => {
                merged.push(*part);
                (writes, done) = (own_writes, effect);
            }
        }
        closed = alone;
    }
    body.parts = merged;
}

/// Removes finiteness checks that a later check of the same group implies.
fn merge_checks(body: &mut Body) {
    let mut shown = vec![false; body.ops.len()];
    for part in &body.parts {
        remove_implied_checks(&mut body.ops, part.range(), &mut shown);
    }
}

/// The maximum number of register writes per group in a loop: the previous values stay live as long.
const WRITES_TOGETHER: usize = 8;

/// The forms in which a value is used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Use {
    pub(crate) word: bool,
    pub(crate) double: bool,
    any: bool,
}

impl Use {
    pub(crate) const fn none(self) -> bool {
        !(self.word || self.double || self.any)
    }
}

/// The facts about a whole unit.
pub(crate) struct Facts {
    /// For each lane, the registers that the unit reads or writes.
    pub(crate) used: [u32; LANES],
    /// For each lane, the registers that are kept as doubles.
    pub(crate) doubles: [u32; LANES],
    /// For each block, the uses of its values.
    pub(crate) uses: Vec<Vec<Use>>,
    /// The same for the blocks' bodies that take registers to be zero.
    pub(crate) zeroed_uses: Vec<Vec<Use>>,
}

impl Facts {
    pub(crate) fn new(job: &Job<'_>) -> Facts {
        let mut used = [0; LANES];
        for (body, &block) in job.bodies.iter().zip(&job.unit.blocks) {
            for op in &body.ops {
                if let Op::Get(lane, reg) | Op::Set(lane, reg, _) | Op::Reload(lane, reg) = *op {
                    used[usize::from(lane)] |= 1 << reg;
                }
            }
            if matches!(job.decoded.code[block as usize].exit, Exit::Call { .. } | Exit::Return { .. }) {
                used[VALUE] |= 1 << Reg::SP.number();
            }
        }
        let mut facts = Facts { used, doubles: [0; LANES], uses: Vec::new(), zeroed_uses: Vec::new() };
        facts.choose_doubles(job);
        facts.uses = job.bodies.iter().map(|body| facts.uses(body)).collect();
        let zeroed = |zeroed: &Option<Zeroed>| zeroed.as_ref().map(|z| facts.uses(&z.body)).unwrap_or_default();
        facts.zeroed_uses = job.zeroed.iter().map(zeroed).collect();
        facts
    }

    /// The registers that are kept as words.
    pub(crate) const fn words(&self) -> u32 {
        self.used[VALUE] & !self.doubles[VALUE]
    }

    /// The registers, in each lane in use, that the procedure with this entry block touches.
    pub(crate) fn touched(&self, job: &Job<'_>, entry: u32) -> [u32; LANES] {
        let set = job.plan.touched.get(&entry).copied().unwrap_or(!1);
        let mut out = [0; LANES];
        job.lanes().for_each(|lane| out[lane] = set);
        out
    }

    /// The uses of the values of a block.
    fn uses(&self, body: &Body) -> Vec<Use> {
        let mut uses = vec![Use::default(); body.ops.len()];
        if let Some(branch) = body.branch {
            for test in [branch.test, branch.confirm, branch.unless] {
                if let Test::If(_, v) = test {
                    uses[v.0 as usize].any = true;
                }
            }
        }
        for (n, op) in body.ops.iter().enumerate().rev() {
            if op.is_idle() && uses[n].none() {
                continue;
            }
            let double = match *op {
                Op::Float(..)
                | Op::Sqrt(_)
                | Op::Abs(_)
                | Op::CompareFloat(..)
                | Op::Canonical(_)
                | Op::Finite(_)
                | Op::Ordered(..) => Some(true),
                Op::Set(lane, reg, _) => Some(self.doubles[usize::from(lane)] >> reg & 1 == 1),
                Op::Phi(..) | Op::Store(..) | Op::If(_) | Op::Require(_) | Op::Overflow(_) | Op::Second(_) => None,
                Op::Select(..) => (uses[n].double && !uses[n].word).then_some(true).or(Some(false)),
                _ => Some(false),
            };
            for (k, v) in op.uses().enumerate() {
                let u = &mut uses[v.0 as usize];
                match (double, op, k) {
                    // An address is a word; a stored value may be either.
                    (_, Op::Store(..), 0) => u.word = true,
                    (_, Op::Select(..), 0) | (None, ..) => u.any = true,
                    (Some(true), ..) => u.double = true,
                    (Some(false), ..) => u.word = true,
                }
            }
        }
        uses
    }

    /// Chooses the registers to be kept as doubles: those more often used and defined as doubles, weighted by loop depth.
    fn choose_doubles(&mut self, job: &Job<'_>) {
        let mut score = [[0i64; Reg::COUNT]; LANES];
        for (body, depth) in job.bodies.iter().zip(&job.unit.depth) {
            let weight = 8i64.pow((*depth).min(6));
            let is_double = |v: ValueId| matches!(body.ops[v.0 as usize], Op::Float(..) | Op::Sqrt(_) | Op::Abs(_));
            let is_word =
                |v: ValueId| matches!(body.ops[v.0 as usize], Op::BinaryOp(..) | Op::Not(_) | Op::Compare(..));
            // Whether operations use a value as a double or as a word, apart from writes of registers.
            let mut demanded = vec![(false, false); body.ops.len()];
            for op in &body.ops {
                for v in op.uses() {
                    match op {
                        Op::Float(..) | Op::Sqrt(_) | Op::Abs(_) | Op::CompareFloat(..) | Op::Finite(_) => {
                            demanded[v.0 as usize].0 = true;
                        }
                        Op::BinaryOp(..) | Op::Not(_) | Op::Compare(..) | Op::Load(..) | Op::Bound(_) => {
                            demanded[v.0 as usize].1 = true;
                        }
                        _ => {}
                    }
                }
            }
            for (n, op) in body.ops.iter().enumerate() {
                let (lane, reg, double, word) = match *op {
                    Op::Get(lane, reg) => (lane, reg, demanded[n].0, demanded[n].1),
                    Op::Set(lane, reg, v) => match body.ops[v.0 as usize] {
                        Op::Load(..) | Op::Kernel(..) => {
                            (lane, reg, demanded[v.0 as usize].0, demanded[v.0 as usize].1)
                        }
                        Op::Phi(a, b) => (lane, reg, is_double(a) || is_double(b), is_word(a) || is_word(b)),
                        _ => (lane, reg, is_double(v), is_word(v)),
                    },
                    _ => continue,
                };
                let s = &mut score[usize::from(lane)][usize::from(reg)];
                *s += weight * (i64::from(double) - i64::from(word));
            }
        }
        for (lane, scores) in score.iter().enumerate() {
            for (reg, s) in scores.iter().enumerate() {
                // The stack pointer is an address.
                let double = *s > 0 && (lane, reg) != (VALUE, Reg::SP.index());
                self.doubles[lane] |= u32::from(double) << reg;
            }
        }
    }
}
