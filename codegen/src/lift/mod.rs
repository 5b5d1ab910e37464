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

use pendula_isa::adjoint::{self, AdMode, LANES, VALUE};
use pendula_isa::domain::Domain;
use pendula_isa::inst::{FACTOR_MAX, Kind};
use pendula_isa::operand::{Layout, Slot};
use pendula_isa::table::{Function, FunctionVisitor, Instruction, InstructionVisitor, Variant};
use pendula_isa::types::{Acc, Cond, Reg, Ty};
use pendula_isa::{Env, Inst};
use rustc_hash::FxHashMap;

use crate::kernel::Entry;
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
pub struct Question {
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

type Recorded = Result<V, Unsupported>;

/// Memory words that are known: lane, base and offset of the address, the value.
type Known1 = (u8, Option<V>, u64, V);

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
    known: Vec<Known1>,
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
                func.visit(Accumulate { recorder: self, acc, inverse })
            }
            Kind::Row { row, inverse, .. } => row
                .visit(Other { recorder: self, back: inverse != back, variant: inst.variant() })
                .unwrap_or(Err(Unsupported)),
        };
        if done.is_err() || self.unsupported {
            self.forget(&mark);
            self.ops.truncate(mark.ops);
            self.regs = regs;
            self.interpreted(inst);
        } else {
            self.put_down();
        }
        self.parts.push(Part { k, first, last: self.ops.len() as u32 });
    }

    /// Leaves an instruction to the interpreter.
    fn interpreted(&mut self, inst: &Inst) {
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
    pub fn branch(&mut self, test: Option<Question>, confirm: Option<Question>, unless: Option<Question>, k: u32) {
        let test = self.test(test, k);
        let mark = self.mark();
        let confirm = self.test(confirm, k);
        self.forget(&mark);
        let unless = self.test(unless, k);
        self.branch = Some(Branch { test, confirm, unless });
    }

    /// Writes down the condition of an edge that follows a call. Registers are then what the call has left: they are got anew.
    pub fn edge(&mut self, unless: Option<Question>, k: u32) {
        self.regs = [[None; Reg::COUNT]; LANES];
        let unless = self.test(unless, k);
        self.branch = Some(Branch { test: Test::Never, confirm: Test::Always, unless });
    }

    fn test(&mut self, test: Option<Question>, k: u32) -> Test {
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
        self.put_down();
        self.parts.push(Part { k: 0, first: 0, last: self.ops.len() as u32 });
        Some(self.finish())
    }

    /// Writes down what registers hold that have been written.
    fn put_down(&mut self) {
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

    fn mark(&self) -> Mark {
        Mark { ops: self.ops.len(), made: self.made.len(), bounded: self.bounded.len(), finite: self.finite.len() }
    }

    /// Forgets what has been made and checked since: it is not so everywhere after it.
    fn forget(&mut self, mark: &Mark) {
        for op in self.made.drain(mark.made..) {
            self.values.remove(&op);
        }
        self.bounded.truncate(mark.bounded);
        self.finite.truncate(mark.finite);
    }

    fn push(&mut self, op: Op) -> V {
        self.ops.push(op);
        V(self.ops.len() as u32 - 1)
    }

    /// The value of a pure operation.
    fn pure(&mut self, op: Op) -> V {
        if let Some(&v) = self.values.get(&op) {
            return v;
        }
        let v = self.push(op);
        self.values.insert(op, v);
        self.made.push(op);
        v
    }

    fn constant(&self, v: V) -> Option<u64> {
        match self.ops[v.0 as usize] {
            Op::Const(k) => Some(k),
            _ => None,
        }
    }

    fn bin(&mut self, op: Bin, a: V, b: V) -> V {
        let (x, y) = (self.constant(a), self.constant(b));
        if let (Some(x), Some(y)) = (x, y) {
            let value = match op {
                Bin::Add => x.wrapping_add(y),
                Bin::Sub => x.wrapping_sub(y),
                Bin::Mul => x.wrapping_mul(y),
                Bin::MulHigh => ((i128::from(x.cast_signed()) * i128::from(y.cast_signed())) >> 64) as u64,
                Bin::And => x & y,
                Bin::Or => x | y,
                Bin::Xor => x ^ y,
                Bin::Shl => x << (y & 63),
                Bin::Shr => x >> (y & 63),
                Bin::Sar => (x.cast_signed() >> (y & 63)).cast_unsigned(),
                Bin::Rol => x.rotate_left((y & 63) as u32),
                Bin::Ror => x.rotate_right((y & 63) as u32),
            };
            return self.word(value);
        }
        match (op, x, y) {
            (
                Bin::Add | Bin::Sub | Bin::Or | Bin::Xor | Bin::Shl | Bin::Shr | Bin::Sar | Bin::Rol | Bin::Ror,
                _,
                Some(0),
            )
            | (Bin::Mul, _, Some(1)) => a,
            (Bin::Add | Bin::Or | Bin::Xor, Some(0), _) | (Bin::Mul, Some(1), _) => b,
            // One place for a constant, and sums with constants flat: addresses are compared by them.
            (Bin::Add, Some(_), None) => self.bin(Bin::Add, b, a),
            (Bin::Sub, None, Some(y)) => {
                let y = self.word(y.wrapping_neg());
                self.bin(Bin::Add, a, y)
            }
            (Bin::Add, None, Some(y)) => {
                if let Op::Bin(Bin::Add, c, d) = self.ops[a.0 as usize]
                    && let Some(d) = self.constant(d)
                {
                    let sum = self.word(y.wrapping_add(d));
                    return self.bin(Bin::Add, c, sum);
                }
                self.pure(Op::Bin(op, a, b))
            }
            _ => self.pure(Op::Bin(op, a, b)),
        }
    }

    fn register(&mut self, lane: usize, reg: u8) -> V {
        if reg == 0 {
            return self.word(0);
        }
        if let Some(v) = self.regs[lane][usize::from(reg)] {
            return v;
        }
        let v = self.push(Op::Get(lane as u8, reg));
        self.regs[lane][usize::from(reg)] = Some(v);
        v
    }

    fn set_register(&mut self, lane: usize, reg: u8, v: V) {
        if reg != 0 {
            self.regs[lane][usize::from(reg)] = Some(v);
            self.written.push((lane as u8, reg));
        }
    }

    /// An address as a value and a constant.
    fn split(&self, at: V) -> (Option<V>, u64) {
        match self.ops[at.0 as usize] {
            Op::Const(k) => (None, k),
            Op::Bin(Bin::Add, a, b) => match self.constant(b) {
                Some(k) => (Some(a), k),
                None => (Some(at), 0),
            },
            _ => (Some(at), 0),
        }
    }

    fn bound(&mut self, at: V) {
        let fixed = self.constant(at).is_some_and(|k| k < self.data);
        if !fixed && !self.bounded.contains(&at) {
            self.push(Op::Bound(at));
            self.bounded.push(at);
        }
    }

    /// The word in a lane at an address that has been checked.
    fn fetch(&mut self, lane: usize, at: V) -> V {
        let (base, offset) = self.split(at);
        let same = |k: &&Known1| usize::from(k.0) == lane && k.1 == base && k.2 == offset;
        if let Some(&(.., v)) = self.known.iter().find(same) {
            return v;
        }
        let v = self.push(Op::Load(lane as u8, at));
        self.known.push((lane as u8, base, offset, v));
        v
    }

    fn deposit(&mut self, lane: usize, at: V, v: V) {
        self.push(Op::Store(lane as u8, at, v));
        let (base, offset) = self.split(at);
        // Addresses differ if nothing but their constants does.
        self.known.retain(|k| usize::from(k.0) != lane || (k.1 == base && k.2 != offset));
        self.known.push((lane as u8, base, offset, v));
        self.stored[lane] = true;
    }

    fn call(&mut self, entry: Entry, wraps: bool, x: &[V]) -> V {
        let Entry { name, address, result } = entry;
        let n = self.kernels.iter().position(|k| k.address == address).unwrap_or_else(|| {
            self.kernels.push(Kernel { name, address, result, arity: x.len(), wraps });
            self.kernels.len() - 1
        });
        let mut args = [x[0]; 4];
        args[..x.len()].copy_from_slice(x);
        self.pure(Op::Kernel(n as u32, args))
    }

    fn begin(&mut self, c: V) -> (Mark, Vec<Known1>, [bool; LANES]) {
        self.push(Op::If(c));
        (self.mark(), self.known.clone(), std::mem::replace(&mut self.stored, [false; LANES]))
    }

    fn end(&mut self, (mark, mut known, before): (Mark, Vec<Known1>, [bool; LANES])) {
        self.push(Op::End);
        self.forget(&mark);
        known.retain(|k| !self.stored[usize::from(k.0)]);
        self.known = known;
        for (now, before) in self.stored.iter_mut().zip(before) {
            *now |= before;
        }
    }

    fn integers(&mut self, c: Cond, a: V, b: V) -> V {
        if let (Some(x), Some(y)) = (self.constant(a), self.constant(b)) {
            let order = match c {
                Cond::Ltu | Cond::Geu => x.cmp(&y),
                _ => x.cast_signed().cmp(&y.cast_signed()),
            };
            return self.word(u64::from(c.holds(Some(order))));
        }
        self.pure(Op::Compare(c, a, b))
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

struct Accumulate<'r, 'a> {
    recorder: &'r mut Lifter<'a>,
    acc: Acc,
    inverse: bool,
}

impl FunctionVisitor for Accumulate<'_, '_> {
    type Out = Result<(), Unsupported>;

    fn visit<F: Function>(self) -> Self::Out {
        let ad_mode = self.recorder.setting.ad_mode;
        adjoint::run_accumulate::<_, F>(self.recorder, ad_mode, self.acc, self.inverse)
    }
}

struct Other<'r, 'a> {
    recorder: &'r mut Lifter<'a>,
    back: bool,
    variant: Variant,
}

impl InstructionVisitor for Other<'_, '_> {
    type Out = Result<(), Unsupported>;

    fn visit<I: Instruction>(self) -> Self::Out {
        let ad_mode = self.recorder.setting.ad_mode;
        if ad_mode == AdMode::Plain {
            // Rules of gradient words may take another way to the same values.
            return if self.back { I::undo(self.recorder, self.variant) } else { I::run(self.recorder, self.variant) };
        }
        adjoint::run_row::<_, I>(self.recorder, ad_mode, self.back, self.variant)
    }
}
