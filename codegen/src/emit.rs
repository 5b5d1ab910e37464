//! What a code generator does for each operation: it implements [`Emit`], and [`emit()`] calls the method of an operation. A new operation
//! does not compile until every generator has it.

use pendula_isa::types::Cond;

use crate::ops::{BinaryOp, Float, Op, ValueId};

/// A generator of code for operations: a method for each. `v` is the value that an operation defines.
#[expect(missing_docs, reason = "the operations are documented where they are declared")]
pub trait Emit {
    fn constant(&mut self, v: ValueId, word: u64);
    fn get(&mut self, v: ValueId, lane: u8, reg: u8);
    fn bin(&mut self, v: ValueId, op: BinaryOp, a: ValueId, b: ValueId);
    fn not(&mut self, v: ValueId, a: ValueId);
    fn compare(&mut self, v: ValueId, cond: Cond, a: ValueId, b: ValueId);
    fn select(&mut self, v: ValueId, c: ValueId, a: ValueId, b: ValueId);
    fn float(&mut self, v: ValueId, op: Float, a: ValueId, b: ValueId);
    fn sqrt(&mut self, v: ValueId, a: ValueId);
    fn abs(&mut self, v: ValueId, a: ValueId);
    fn int_to_float(&mut self, v: ValueId, a: ValueId);
    fn compare_float(&mut self, v: ValueId, cond: Cond, a: ValueId, b: ValueId);
    fn canonical(&mut self, v: ValueId, a: ValueId);
    fn load(&mut self, v: ValueId, lane: u8, at: ValueId);
    fn kernel(&mut self, v: ValueId, kernel: u32, args: [ValueId; 4]);
    fn second(&mut self, v: ValueId, of: ValueId);
    fn phi(&mut self, v: ValueId, then: ValueId, otherwise: ValueId);
    fn set(&mut self, lane: u8, reg: u8, value: ValueId);
    fn store(&mut self, lane: u8, at: ValueId, value: ValueId);
    fn bound(&mut self, at: ValueId);
    fn finite(&mut self, a: ValueId);
    fn ordered(&mut self, a: ValueId, b: ValueId);
    fn require(&mut self, c: ValueId);
    fn overflow(&mut self, c: ValueId);
    /// Begins a conditional, which is operation `at`.
    fn begin(&mut self, at: ValueId, c: ValueId);
    /// Ends a conditional with operation `at`.
    fn end(&mut self, at: ValueId);
    fn interpret(&mut self);
    fn reload(&mut self, v: ValueId, lane: u8, reg: u8);
}

/// Generates code for an operation, which defines `v` if it has a value.
pub fn emit(to: &mut impl Emit, v: ValueId, op: Op) {
    match op {
        Op::Const(word) => to.constant(v, word),
        Op::Get(lane, reg) => to.get(v, lane, reg),
        Op::BinaryOp(op, a, b) => to.bin(v, op, a, b),
        Op::Not(a) => to.not(v, a),
        Op::Compare(cond, a, b) => to.compare(v, cond, a, b),
        Op::Select(c, a, b) => to.select(v, c, a, b),
        Op::Float(op, a, b) => to.float(v, op, a, b),
        Op::Sqrt(a) => to.sqrt(v, a),
        Op::Abs(a) => to.abs(v, a),
        Op::FromInt(a) => to.int_to_float(v, a),
        Op::CompareFloat(cond, a, b) => to.compare_float(v, cond, a, b),
        Op::Canonical(a) => to.canonical(v, a),
        Op::Load(lane, at) => to.load(v, lane, at),
        Op::Kernel(kernel, args) => to.kernel(v, kernel, args),
        Op::Second(of) => to.second(v, of),
        Op::Phi(then, otherwise) => to.phi(v, then, otherwise),
        Op::Set(lane, reg, value) => to.set(lane, reg, value),
        Op::Store(lane, at, value) => to.store(lane, at, value),
        Op::Bound(at) => to.bound(at),
        Op::Finite(a) => to.finite(a),
        Op::Ordered(a, b) => to.ordered(a, b),
        Op::Require(c) => to.require(c),
        Op::Overflow(c) => to.overflow(c),
        Op::If(c) => to.begin(v, c),
        Op::End => to.end(v),
        Op::Interpret => to.interpret(),
        Op::Reload(lane, reg) => to.reload(v, lane, reg),
    }
}
