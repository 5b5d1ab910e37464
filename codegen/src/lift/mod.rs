//! Lifts instructions to operations: [`Lifter`] is a [`Domain`](pendula_isa::domain::Domain) and [`Carrier`](adjoint::Carrier) that records the effects of
//! the table's bodies, and of the rules for gradient words, instead of executing them.
//!
//! It folds constants, numbers values (equal operations have one value), forwards the contents of registers and memory words
//! within the block, and omits checks that cannot fail. An instruction without operations of its own (tapes, words that are
//! destroyed) is left to the interpreter by [`Op::Interpret`].

mod domain;
mod extension;
mod numbers;
mod record;
mod simplify;
pub mod symbolic;

use pendula_isa::adjoint::{self, AdMode, LANES, VALUE};
use pendula_isa::arith::Arith;
use pendula_isa::calculus::SecondOrderFunction;
use pendula_isa::inst::{FACTOR_MAX, Kind};
use pendula_isa::operand::{Layout, OPERANDS, Slot};
use pendula_isa::table::{Instruction, InstructionVisitor, TableFn, Variant};
use pendula_isa::types::{Acc, Cond, Reg, Ty};
use pendula_isa::{Env, Inst};
use rustc_hash::FxHashMap;

use crate::ops::{BinaryOp, Body, Branch, InstructionOps, Kernel, Op, Test, ValueId};

/// The properties of a run that compiled code depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LiftConfig {
    /// What values carry in lanes.
    pub ad_mode: AdMode,
    /// Whether assertions of the program are checked.
    pub checks: bool,
    /// Whether overflow of a fixed-point number is a trap.
    pub trap_overflow: bool,
    /// Whether doubles may be infinite or NaN.
    pub ieee: bool,
    /// Words that are not the machine's, for circuits.
    pub narrow: Option<Narrow>,
}

/// Words of other sizes than the machine's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Narrow {
    /// Bits of a word, at most 64.
    pub bits: u32,
    /// Fraction bits of a fixed-point number.
    pub frac: u32,
    /// Bits of the exponent of a floating-point number.
    pub exponent: u32,
}

impl Narrow {
    /// The floating-point word of a constant that the format holds.
    fn float(self, x: f64) -> u64 {
        const MANTISSA: u32 = f64::MANTISSA_DIGITS - 1;
        let mantissa = self.bits.saturating_sub(1 + self.exponent);
        let (bias, magnitude) = ((1u64 << (self.exponent - 1)) - 1, x.abs().to_bits());
        let exponent = (magnitude >> MANTISSA).wrapping_sub(f64::MAX_EXP as u64 - 1).wrapping_add(bias);
        let field = if x == 0.0 { 0 } else { exponent << mantissa };
        let fraction = (magnitude & ((1 << MANTISSA) - 1)) >> (MANTISSA - mantissa);
        u64::from(x.is_sign_negative()) << (self.bits - 1) | field | fraction
    }
}

/// A condition: register `a` against register `b` + `imm`.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// The comparison.
    pub cond: Cond,
    /// The type of the words.
    pub ty: Ty,
    /// The number of the left register.
    pub a: u8,
    /// The number of the right register.
    pub b: u8,
    /// The constant that is added to `b`.
    pub imm: u64,
}

/// Only the interpreter can run the instruction.
pub struct Unsupported;

type Lifted = Result<ValueId, Unsupported>;

/// A memory word with a known value: lane, base and offset of the address, value.
type KnownWord = (u8, Option<ValueId>, u64, ValueId);

/// The lengths of the records at the beginning of a conditional or an instruction.
struct Mark {
    ops: usize,
    pure_ops: usize,
    checked: usize,
    finite: usize,
}

/// Records the operations of a block.
pub struct Lifter<'a> {
    kernels: &'a mut Vec<Kernel>,
    env: Env,
    setting: LiftConfig,
    /// The words of data: the memory has at least as many.
    data: u64,
    ops: Vec<Op>,
    parts: Vec<InstructionOps>,
    /// Values by the pure operations that define them, and these operations in order.
    values: FxHashMap<Op, ValueId>,
    pure_ops: Vec<Op>,
    /// Values as sums, if operations are simplified.
    sums: Option<simplify::Sums>,
    /// Checked addresses, then checked doubles.
    checked: Vec<ValueId>,
    finite: Vec<ValueId>,
    known: Vec<KnownWord>,
    regs: [[Option<ValueId>; Reg::PLACES]; LANES],
    /// The registers that the instruction has written, with their lanes.
    written: Vec<(u8, u8)>,
    /// The lanes with memory writes in the conditional.
    stored_lanes: [bool; LANES],
    fields: [u8; OPERANDS],
    imm: u64,
    layout: Layout,
    /// Constant operands beside those in the layout.
    constants: [Option<u64>; OPERANDS],
    address: Option<ValueId>,
    lane: usize,
    sp: Option<ValueId>,
    unsupported: bool,
    branch: Option<Branch>,
}

impl<'a> Lifter<'a> {
    /// A lifter at the beginning of a block. The memory has at least `data` words. Called kernels are added to the list.
    pub fn new(env: Env, setting: LiftConfig, data: u64, kernels: &'a mut Vec<Kernel>) -> Lifter<'a> {
        Lifter {
            kernels,
            env,
            setting,
            data,
            ops: Vec::new(),
            parts: Vec::new(),
            values: FxHashMap::default(),
            pure_ops: Vec::new(),
            sums: None,
            checked: Vec::new(),
            finite: Vec::new(),
            known: Vec::new(),
            regs: [[None; Reg::PLACES]; LANES],
            written: Vec::new(),
            stored_lanes: [false; LANES],
            fields: [0; OPERANDS],
            imm: 0,
            layout: [Slot::None; OPERANDS],
            constants: [None; OPERANDS],
            address: None,
            lane: VALUE,
            sp: None,
            unsupported: false,
            branch: None,
        }
    }

    /// Lifts the next straight-line instruction, or with `back` its inverse. `k` instructions of the block precede it.
    pub fn instruction(&mut self, inst: &Inst, back: bool, k: u32) {
        let first = self.ops.len() as u32;
        let mark = self.mark();
        let regs = self.regs;
        self.unsupported = false;
        self.written.clear();
        self.stored_lanes = [false; LANES];
        let done = self.effect(inst, back);
        if done.is_err() || self.unsupported {
            self.forget_since(&mark);
            self.ops.truncate(mark.ops);
            if let Some(sums) = &mut self.sums {
                sums.forget_from(mark.ops);
            }
            self.regs = regs;
            self.leave_to_interpreter(inst);
        } else {
            self.write_registers();
        }
        self.parts.push(InstructionOps { k, first, last: self.ops.len() as u32 });
    }

    /// Lifts the effect of an instruction, or with `back` of its inverse.
    fn effect(&mut self, inst: &Inst, back: bool) -> Result<(), Unsupported> {
        self.fields = inst.regs.map(|r| r.number());
        self.imm = inst.imm.cast_unsigned();
        self.layout = inst.kind.layout();
        (self.address, self.lane, self.sp) = (None, VALUE, None);
        match inst.kind {
            Kind::Accumulate { acc, inverse, func, .. } => {
                let inverse = if back { !inverse && !acc.self_inverse() } else { inverse };
                self.accumulate(func, acc, inverse)
            }
            Kind::Row { row, inverse, .. } => row
                .visit(LiftRow { lifter: self, back: inverse != back, variant: inst.variant() })
                .unwrap_or(Err(Unsupported)),
            Kind::Extension { .. } => self.extension(inst, back),
        }
    }

    /// Lifts an accumulate.
    fn accumulate(&mut self, func: TableFn, acc: Acc, inverse: bool) -> Result<(), Unsupported> {
        let ad_mode = self.setting.ad_mode;
        adjoint::run_accumulate(self, &SecondOrderFunction::new(func), ad_mode, acc, inverse)
    }

    /// Leaves an instruction to the interpreter.
    fn leave_to_interpreter(&mut self, inst: &Inst) {
        self.ops.push(Op::Interpret);
        self.known.clear();
        let (read, written) = registers(inst);
        for (lane, regs) in
            std::iter::once((VALUE, written)).chain(self.setting.ad_mode.lanes().iter().map(|l| (*l, read | written)))
        {
            for reg in bits(regs) {
                let v = self.push(Op::Reload(lane as u8, reg));
                self.regs[lane][usize::from(reg)] = Some(v);
            }
        }
    }

    /// Lifts the conditions at the end of the block, after `k` instructions: `test` decides whether the jump is taken, `confirm`
    /// must hold if it is, and `unless` must not hold if it is not. `None` is a condition that never holds.
    pub fn branch(&mut self, test: Option<Condition>, confirm: Option<Condition>, unless: Option<Condition>, k: u32) {
        let test = self.test(test, k);
        let mark = self.mark();
        let confirm = self.test(confirm, k);
        self.forget_since(&mark);
        let unless = self.test(unless, k);
        self.branch = Some(Branch { test, confirm, unless });
    }

    /// Lifts the condition of an edge after a call. The call may have changed all registers, so they are read again.
    pub fn edge(&mut self, unless: Option<Condition>, k: u32) {
        self.regs = [[None; Reg::PLACES]; LANES];
        let unless = self.test(unless, k);
        self.branch = Some(Branch { test: Test::Never, confirm: Test::Always, unless });
    }

    fn test(&mut self, test: Option<Condition>, k: u32) -> Test {
        let Some(test) = test else {
            return Test::Never;
        };
        if test.cond == Cond::Always {
            return Test::Always;
        }
        let first = self.ops.len() as u32;
        (self.lane, self.unsupported) = (VALUE, false);
        let a = self.register(VALUE, test.a);
        let b = self.register(VALUE, test.b);
        let imm = self.word(test.imm);
        let b = self.add(b, imm);
        // Comparisons of every type can be lifted.
        match self.compare(test.cond, test.ty, a, b) {
            Ok(v) => Test::If(InstructionOps { k, first, last: self.ops.len() as u32 }, v),
            Err(Unsupported) => Test::Always,
        }
    }

    /// Finishes a single statement; `None` if it could not be lifted.
    fn finish_statement(mut self, done: Result<(), Unsupported>) -> Option<Body> {
        if done.is_err() || self.unsupported {
            return None;
        }
        self.write_registers();
        self.parts.push(InstructionOps { k: 0, first: 0, last: self.ops.len() as u32 });
        Some(self.finish())
    }

    /// Records the writes of registers.
    fn write_registers(&mut self) {
        let written = std::mem::take(&mut self.written);
        for (n, &(lane, reg)) in written.iter().enumerate() {
            if usize::from(reg) < Reg::COUNT
                && !written[..n].contains(&(lane, reg))
                && let Some(v) = self.regs[usize::from(lane)][usize::from(reg)]
            {
                self.ops.push(Op::Set(lane, reg, v));
            }
        }
    }

    /// The value of a constant.
    fn fixed(&mut self, k: u64) -> ValueId {
        self.pure(Op::Const(k & (u64::MAX >> (64 - self.bits()))))
    }

    /// The operations of the block.
    pub fn finish(self) -> Body {
        Body { ops: self.ops, parts: self.parts, branch: self.branch }
    }

    fn is_finite(&self, v: ValueId) -> bool {
        match self.constant(v) {
            Some(k) => f64::from_bits(k).is_finite(),
            None => self.finite.contains(&v),
        }
    }

    fn on_value(&self) -> bool {
        self.lane == VALUE
    }

    fn slot(&self, n: usize) -> Slot {
        self.layout[n % OPERANDS]
    }

    /// The address of the memory operand. It is checked when it is first computed.
    fn address(&mut self, slot: Slot) -> ValueId {
        if let Some(at) = self.address {
            return at;
        }
        let (f, offset) = match slot {
            Slot::Mem(f) | Slot::TargetMem(f) => (usize::from(f), self.imm),
            Slot::MemPlain(f) | Slot::TargetMemPlain(f) => (usize::from(f), 0),
            _ => (0, 0),
        };
        let (a, b) = (self.register(VALUE, self.fields[f]), self.register(VALUE, self.fields[(f + 1) % OPERANDS]));
        let (sum, offset) = (self.bin(BinaryOp::Add, a, b), self.word(offset));
        let at = self.bin(BinaryOp::Add, sum, offset);
        self.check_address(at);
        self.address = Some(at);
        at
    }

    fn operand_in(&mut self, lane: usize, n: usize) -> ValueId {
        if let Some(k) = self.constants[n % OPERANDS] {
            return self.fixed(k);
        }
        match self.slot(n) {
            Slot::Reg(f) | Slot::Target(f) => self.register(lane, self.fields[usize::from(f)]),
            slot @ (Slot::Mem(_) | Slot::TargetMem(_) | Slot::MemPlain(_) | Slot::TargetMemPlain(_)) => {
                let at = self.address(slot);
                self.load_word(lane, at)
            }
            Slot::FactorNum => self.word(self.imm & FACTOR_MAX.cast_unsigned()),
            Slot::FactorDen => self.word((self.imm >> 14) & FACTOR_MAX.cast_unsigned()),
            Slot::Imm | Slot::Label | Slot::Text => self.word(self.imm),
            Slot::None | Slot::Small => self.word(0),
        }
    }

    fn set_operand_in(&mut self, lane: usize, n: usize, v: ValueId) {
        match self.slot(n) {
            Slot::Reg(f) | Slot::Target(f) => self.set_register(lane, self.fields[usize::from(f)], v),
            slot @ (Slot::Mem(_) | Slot::TargetMem(_) | Slot::MemPlain(_) | Slot::TargetMemPlain(_)) => {
                let at = self.address(slot);
                self.store_word(lane, at, v);
            }
            Slot::None | Slot::Imm | Slot::Small | Slot::FactorNum | Slot::FactorDen | Slot::Label | Slot::Text => {
                self.unsupported = true;
            }
        }
    }
}

/// The numbers of the registers in a set.
pub fn bits(set: u32) -> impl Iterator<Item = u8> {
    (0..Reg::COUNT as u8).filter(move |n| set >> n & 1 == 1)
}

/// The sets of registers that an instruction reads and writes, without `r0`.
pub fn registers(inst: &Inst) -> (u32, u32) {
    let (mut read, mut written) = (0, 0);
    for slot in inst.kind.layout() {
        for f in slot.register_fields() {
            let bit = 1 << inst.regs[usize::from(f)].number();
            if matches!(slot, Slot::Target(_)) {
                written |= bit;
            } else {
                read |= bit;
            }
        }
    }
    if matches!(inst.kind, Kind::Row { row, .. } if row.info().moves_sp) {
        written |= 1 << Reg::SP.number();
    }
    (read & !1, written & !1)
}

struct LiftRow<'r, 'a> {
    lifter: &'r mut Lifter<'a>,
    back: bool,
    variant: Variant,
}

impl InstructionVisitor for LiftRow<'_, '_> {
    type Out = Result<(), Unsupported>;

    fn visit<I: Instruction>(self) -> Self::Out {
        let ad_mode = self.lifter.setting.ad_mode;
        if ad_mode == AdMode::Plain {
            // The rules for gradient words may compute the same values differently.
            return if self.back { I::undo(self.lifter, self.variant) } else { I::run(self.lifter, self.variant) };
        }
        adjoint::run_row::<_, I>(self.lifter, ad_mode, self.back, self.variant)
    }
}
