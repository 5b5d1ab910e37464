//! From instructions to operations: [`Lifter`] is the [`Domain`] and
//! [`Carrier`](adjoint::Carrier) on which the table's bodies, and the rules of gradient words, are
//! run to be written down instead of carried out.
//!
//! It folds constants, gives equal operations one value, remembers what registers
//! and memory words hold within the block, and leaves out checks that cannot
//! fail. An instruction that does something it has no operation for (tapes, words
//! that are lost) is left to the interpreter, [`Op::Interpret`].

pub mod abstracted;
mod domain;
mod numbers;
mod record;

use pendula_isa::adjoint::{self, AdMode, LANES, VALUE};
use pendula_isa::domain::Domain;
use pendula_isa::inst::{FACTOR_MAX, Kind};
use pendula_isa::operand::{Layout, Slot};
use pendula_isa::table::{Function, FunctionVisitor, Instruction, InstructionVisitor, Variant};
use pendula_isa::types::{Acc, Cond, Reg, Ty};
use pendula_isa::{Env, Inst};
use rustc_hash::FxHashMap;

use crate::ops::{Bin, Body, Branch, Kernel, Op, Part, Test, V};

/// What a run is like, as far as code depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Setting {
    /// What words carry.
    pub ad_mode: AdMode,
    /// Whether what programs assert is checked.
    pub checks: bool,
    /// Whether a fixed-point number that wraps is a trap.
    pub trap_overflow: bool,
    /// Whether doubles may be infinite or NaN.
    pub ieee: bool,
}

/// A condition: register `a` against register `b` + `imm`.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// The comparison.
    pub cond: Cond,
    /// How the words are read.
    pub ty: Ty,
    /// A register's number.
    pub a: u8,
    /// A register's number.
    pub b: u8,
    /// What is added to `b`.
    pub imm: u64,
}

/// The instruction does something that only the interpreter can.
pub struct Unsupported;

type Lifted = Result<V, Unsupported>;

/// Memory words that are known: lane, base and offset of the address, the value.
type KnownWord = (u8, Option<V>, u64, V);

/// Where the record of a conditional, or of an instruction, began.
struct Mark {
    ops: usize,
    made: usize,
    bounded: usize,
    finite: usize,
}

/// Writes a block down.
pub struct Lifter<'a> {
    kernels: &'a mut Vec<Kernel>,
    env: Env,
    setting: Setting,
    /// Words of data: the memory has as many at least.
    data: u64,
    ops: Vec<Op>,
    parts: Vec<Part>,
    /// Values by the pure operations that make them, and in the order they were made in.
    values: FxHashMap<Op, V>,
    made: Vec<Op>,
    /// Addresses and doubles that have been checked, in that order.
    bounded: Vec<V>,
    finite: Vec<V>,
    known: Vec<KnownWord>,
    regs: [[Option<V>; Reg::COUNT]; LANES],
    /// Registers that the instruction has written.
    written: Vec<(u8, u8)>,
    /// Lanes whose memory has been written in a conditional.
    stored: [bool; LANES],
    regs_of: [u8; 4],
    imm: u64,
    layout: Layout,
    /// Operands that are constants, but for those in the layout.
    constants: [Option<u64>; 4],
    address: Option<V>,
    lane: usize,
    sp: Option<V>,
    unsupported: bool,
    branch: Option<Branch>,
}

impl<'a> Lifter<'a> {
    /// One at the beginning of a block; of memory, `data` words are there at least. Kernels that are called are added to the list.
    pub fn new(env: Env, setting: Setting, data: u64, kernels: &'a mut Vec<Kernel>) -> Lifter<'a> {
        Lifter {
            kernels,
            env,
            setting,
            data,
            ops: Vec::new(),
            parts: Vec::new(),
            values: FxHashMap::default(),
            made: Vec::new(),
            bounded: Vec::new(),
            finite: Vec::new(),
            known: Vec::new(),
            regs: [[None; Reg::COUNT]; LANES],
            written: Vec::new(),
            stored: [false; LANES],
            regs_of: [0; 4],
            imm: 0,
            layout: [Slot::None; 4],
            constants: [None; 4],
            address: None,
            lane: VALUE,
            sp: None,
            unsupported: false,
            branch: None,
        }
    }

    /// Writes down the next straight-line instruction, or with `back` its undoing; `k` instructions of the block stand before it.
    pub fn instruction(&mut self, inst: &Inst, back: bool, k: u32) {
        let first = self.ops.len() as u32;
        let mark = self.mark();
        let regs = self.regs;
        self.regs_of = inst.regs.map(|r| r.number());
        self.imm = inst.imm.cast_unsigned();
        self.layout = inst.kind.layout();
        (self.address, self.lane, self.sp, self.unsupported) = (None, VALUE, None, false);
        self.written.clear();
        self.stored = [false; LANES];
        let done = match inst.kind {
            Kind::Accumulate { acc, inverse, func, .. } => {
                let inverse = if back { !inverse && !acc.self_inverse() } else { inverse };
                func.visit(LiftAccumulate { lifter: self, acc, inverse })
            }
            Kind::Row { row, inverse, .. } => row
                .visit(LiftRow { lifter: self, back: inverse != back, variant: inst.variant() })
                .unwrap_or(Err(Unsupported)),
        };
        if done.is_err() || self.unsupported {
            self.forget(&mark);
            self.ops.truncate(mark.ops);
            self.regs = regs;
            self.leave_to_interpreter(inst);
        } else {
            self.write_registers();
        }
        self.parts.push(Part { k, first, last: self.ops.len() as u32 });
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

    /// Writes down how the block ends, after `k` instructions: what decides whether the jump is taken, what must hold where it is,
    /// and what must not where it is not. `None` stands for what never holds.
    pub fn branch(&mut self, test: Option<Condition>, confirm: Option<Condition>, unless: Option<Condition>, k: u32) {
        let test = self.test(test, k);
        let mark = self.mark();
        let confirm = self.test(confirm, k);
        self.forget(&mark);
        let unless = self.test(unless, k);
        self.branch = Some(Branch { test, confirm, unless });
    }

    /// Writes down the condition of an edge that follows a call. Registers are then what the call has left: they are got anew.
    pub fn edge(&mut self, unless: Option<Condition>, k: u32) {
        self.regs = [[None; Reg::COUNT]; LANES];
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
        // Comparing has an operation for every type.
        match self.compare(test.cond, test.ty, a, b) {
            Ok(v) => Test::If(Part { k, first, last: self.ops.len() as u32 }, v),
            Err(Unsupported) => Test::Always,
        }
    }

    /// The operations of one statement.
    fn one(mut self, done: Result<(), Unsupported>) -> Option<Body> {
        if done.is_err() || self.unsupported {
            return None;
        }
        self.write_registers();
        self.parts.push(Part { k: 0, first: 0, last: self.ops.len() as u32 });
        Some(self.finish())
    }

    /// Writes down what registers hold that have been written.
    fn write_registers(&mut self) {
        let written = std::mem::take(&mut self.written);
        for (n, &(lane, reg)) in written.iter().enumerate() {
            if !written[..n].contains(&(lane, reg))
                && let Some(v) = self.regs[usize::from(lane)][usize::from(reg)]
            {
                self.ops.push(Op::Set(lane, reg, v));
            }
        }
    }

    /// A constant.
    fn fixed(&mut self, k: u64) -> V {
        self.pure(Op::Const(k))
    }

    /// The block as written down.
    pub fn finish(self) -> Body {
        Body { ops: self.ops, parts: self.parts, branch: self.branch }
    }

    fn is_finite(&self, v: V) -> bool {
        match self.constant(v) {
            Some(k) => f64::from_bits(k).is_finite(),
            None => self.finite.contains(&v),
        }
    }

    fn on_value(&self) -> bool {
        self.lane == VALUE
    }

    fn slot(&self, n: usize) -> Slot {
        self.layout[n % 4]
    }

    /// The address of the memory operand, which is checked when it is made.
    fn address(&mut self, slot: Slot) -> V {
        if let Some(at) = self.address {
            return at;
        }
        let (f, offset) = match slot {
            Slot::Mem(f) | Slot::TargetMem(f) => (usize::from(f), self.imm),
            Slot::MemPlain(f) | Slot::TargetMemPlain(f) => (usize::from(f), 0),
            _ => (0, 0),
        };
        let (a, b) = (self.register(VALUE, self.regs_of[f]), self.register(VALUE, self.regs_of[(f + 1) % 4]));
        let (sum, offset) = (self.bin(Bin::Add, a, b), self.word(offset));
        let at = self.bin(Bin::Add, sum, offset);
        self.bound(at);
        self.address = Some(at);
        at
    }

    fn operand_in(&mut self, lane: usize, n: usize) -> V {
        if let Some(k) = self.constants[n % 4] {
            return self.fixed(k);
        }
        match self.slot(n) {
            Slot::Reg(f) | Slot::Target(f) => self.register(lane, self.regs_of[usize::from(f)]),
            slot @ (Slot::Mem(_) | Slot::TargetMem(_) | Slot::MemPlain(_) | Slot::TargetMemPlain(_)) => {
                let at = self.address(slot);
                self.fetch(lane, at)
            }
            Slot::FactorNum => self.word(self.imm & FACTOR_MAX.cast_unsigned()),
            Slot::FactorDen => self.word((self.imm >> 14) & FACTOR_MAX.cast_unsigned()),
            Slot::Imm | Slot::Label | Slot::Text => self.word(self.imm),
            Slot::None | Slot::Small => self.word(0),
        }
    }

    fn set_operand_in(&mut self, lane: usize, n: usize, v: V) {
        match self.slot(n) {
            Slot::Reg(f) | Slot::Target(f) => self.set_register(lane, self.regs_of[usize::from(f)], v),
            slot @ (Slot::Mem(_) | Slot::TargetMem(_) | Slot::MemPlain(_) | Slot::TargetMemPlain(_)) => {
                let at = self.address(slot);
                self.deposit(lane, at, v);
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

/// The registers that an instruction reads, and those that it writes; `r0` is neither.
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

struct LiftAccumulate<'r, 'a> {
    lifter: &'r mut Lifter<'a>,
    acc: Acc,
    inverse: bool,
}

impl FunctionVisitor for LiftAccumulate<'_, '_> {
    type Out = Result<(), Unsupported>;

    fn visit<F: Function>(self) -> Self::Out {
        let ad_mode = self.lifter.setting.ad_mode;
        adjoint::run_accumulate::<_, F>(self.lifter, ad_mode, self.acc, self.inverse)
    }
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
            // Rules of gradient words may take another way to the same values.
            return if self.back { I::undo(self.lifter, self.variant) } else { I::run(self.lifter, self.variant) };
        }
        adjoint::run_row::<_, I>(self.lifter, ad_mode, self.back, self.variant)
    }
}
