//! Emits single operations as instructions of Cranelift.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;
use pendula_codegen::emit::{Emit, emit};
use pendula_codegen::ops::{BinaryOp, Body, Float, Op, ValueId};
use pendula_isa::num::float;
use pendula_isa::types::Cond;

use super::super::frame::Frame;
use super::super::job::Use;
use super::emit::UnitEmitter;
use super::values::View;

impl<'a> UnitEmitter<'a, '_> {
    /// The operations of the block.
    pub(super) fn body(&self) -> &'a Body {
        match &self.job.zeroed[self.place] {
            Some(zeroed) if self.zeroed => &zeroed.body,
            _ => &self.job.bodies[self.place],
        }
    }

    /// The uses of the values of the block.
    fn uses(&self) -> &'a [Use] {
        let facts = self.facts;
        if self.zeroed { &facts.zeroed_uses[self.place] } else { &facts.uses[self.place] }
    }

    /// Emits an operation, unless that has been done or nothing uses its value.
    pub(super) fn op(&mut self, n: usize) {
        let (v, body) = (ValueId(n as u32), self.body());
        let uses = self.uses();
        if self.written[n] || (body.ops[n].is_idle() && uses[n].none()) {
            return;
        }
        self.written[n] = true;
        emit(self, v, body.ops[n]);
    }
}

impl UnitEmitter<'_, '_> {
    /// The value of the high word of a product of which this is the low word. It is right behind, if the body needs it.
    fn high_half(&self, v: ValueId, op: BinaryOp) -> Option<ValueId> {
        let (body, next) = (self.body(), ValueId(v.0 + 1));
        let Op::BinaryOp(BinaryOp::Mul, a, b) = body.ops[v.0 as usize] else { return None };
        let high = body.ops.get(next.0 as usize) == Some(&Op::BinaryOp(BinaryOp::MulHigh, a, b));
        (op == BinaryOp::Mul && high && !self.uses()[next.0 as usize].none()).then_some(next)
    }

    /// Both words of a product, which is one operation.
    fn wide_product(&mut self, words: [ValueId; 2], a: ValueId, b: ValueId) {
        let [a, b] = [a, b].map(|v| {
            let word = self.int(v);
            self.b.ins().sextend(types::I128, word)
        });
        let product = self.b.ins().imul(a, b);
        let (low, high) = self.b.ins().isplit(product);
        for (v, value) in words.into_iter().zip([low, high]) {
            self.written[v.0 as usize] = true;
            self.form(v, |view| view.word = Some(value));
        }
    }

    /// Whether a value is the middle of two words: the upper bits of one, and the lower bits of the other above them.
    ///
    /// They have no bit in common, so their sum is the same. Cranelift would make a double shift of their or: one
    /// operation for some processors, six for others.
    fn halves(&self, v: ValueId, op: BinaryOp) -> bool {
        let body = self.body();
        let shift = |v: ValueId| match body.ops[v.0 as usize] {
            Op::BinaryOp(op, _, by) => match body.ops[by.0 as usize] {
                Op::Const(k) => Some((op, k)),
                _ => None,
            },
            _ => None,
        };
        match body.ops[v.0 as usize] {
            Op::BinaryOp(_, a, b) if op == BinaryOp::Or => {
                matches!((shift(a), shift(b)), (Some((BinaryOp::Shr, r)), Some((BinaryOp::Shl, l))) if r + l == 64)
            }
            _ => false,
        }
    }
}

impl Emit for UnitEmitter<'_, '_> {
    fn constant(&mut self, v: ValueId, k: u64) {
        let uses = self.uses()[v.0 as usize];
        if uses.double {
            let value = self.b.ins().f64const(f64::from_bits(k));
            self.form(v, |view| view.double = Some(value));
        }
        if uses.word || !uses.double {
            let value = self.word(k);
            self.form(v, |view| view.word = Some(value));
        }
    }

    fn get(&mut self, v: ValueId, lane: u8, reg: u8) {
        // It is the value at the beginning of the block, valid on every side of a conditional.
        self.views[v.0 as usize] = self.register(usize::from(lane), reg);
    }

    fn bin(&mut self, v: ValueId, op: BinaryOp, a: ValueId, b: ValueId) {
        if let Some(high) = self.high_half(v, op) {
            return self.wide_product([v, high], a, b);
        }
        let halves = self.halves(v, op);
        let (a, b) = (self.int(a), self.int(b));
        let op = if halves { BinaryOp::Add } else { op };
        let value = binary(&mut self.b, op, a, b);
        self.form(v, |view| view.word = Some(value));
    }

    fn not(&mut self, v: ValueId, a: ValueId) {
        let a = self.int(a);
        let value = self.b.ins().bnot(a);
        self.form(v, |view| view.word = Some(value));
    }

    fn compare(&mut self, v: ValueId, cond: Cond, a: ValueId, b: ValueId) {
        let (a, b) = (self.int(a), self.int(b));
        let value = self.b.ins().icmp(int_condition(cond), a, b);
        self.form(v, |view| view.truth = Some(value));
    }

    fn select(&mut self, v: ValueId, c: ValueId, a: ValueId, b: ValueId) {
        let uses = self.uses()[v.0 as usize];
        let c = self.truth(c);
        if uses.double && !uses.word {
            let (a, b) = (self.double(a), self.double(b));
            let value = self.b.ins().select(c, a, b);
            self.form(v, |view| view.double = Some(value));
        } else {
            let (a, b) = (self.int(a), self.int(b));
            let value = self.b.ins().select(c, a, b);
            self.form(v, |view| view.word = Some(value));
        }
    }

    fn float(&mut self, v: ValueId, op: Float, a: ValueId, b: ValueId) {
        let (a, b) = (self.double(a), self.double(b));
        let value = float_operation(&mut self.b, op, a, b);
        self.form(v, |view| view.double = Some(value));
    }

    fn sqrt(&mut self, v: ValueId, a: ValueId) {
        let a = self.double(a);
        let value = self.b.ins().sqrt(a);
        self.form(v, |view| view.double = Some(value));
    }

    fn abs(&mut self, v: ValueId, a: ValueId) {
        let a = self.double(a);
        let value = self.b.ins().fabs(a);
        self.form(v, |view| view.double = Some(value));
    }

    fn int_to_float(&mut self, v: ValueId, a: ValueId) {
        let a = self.int(a);
        let value = self.b.ins().fcvt_from_sint(types::F64, a);
        self.form(v, |view| view.double = Some(value));
    }

    fn compare_float(&mut self, v: ValueId, cond: Cond, a: ValueId, b: ValueId) {
        let (a, b) = (self.double(a), self.double(b));
        let value = self.b.ins().fcmp(float_condition(cond), a, b);
        self.form(v, |view| view.truth = Some(value));
    }

    /// The double itself, or the canonical NaN.
    fn canonical(&mut self, v: ValueId, a: ValueId) {
        let a = self.double(a);
        let is_nan = self.b.ins().fcmp(FloatCC::Unordered, a, a);
        let nan = self.b.ins().f64const(f64::from_bits(float::NAN));
        let value = self.b.ins().select(is_nan, nan, a);
        self.form(v, |view| view.double = Some(value));
    }

    fn load(&mut self, v: ValueId, lane: u8, at: ValueId) {
        let (body, lane) = (self.body(), usize::from(lane));
        let uses = self.uses()[v.0 as usize];
        let (address, offset) = self.address(body, lane, at);
        let ty = if uses.double && !uses.word { types::F64 } else { types::I64 };
        let flags = self.flags(lane);
        let value = self.b.ins().load(ty, flags, address, offset);
        self.form(v, |view| *view = View::of(ty, value));
    }

    fn kernel(&mut self, v: ValueId, kernel: u32, args: [ValueId; 4]) {
        self.call_kernel(v, kernel, args);
    }

    fn second(&mut self, v: ValueId, _: ValueId) {
        let value = self.field(offset_of!(Frame, out) + 8);
        self.form(v, |view| view.word = Some(value));
    }

    /// Emitted at the end of its conditional.
    fn phi(&mut self, _: ValueId, _: ValueId, _: ValueId) {}

    fn set(&mut self, lane: u8, reg: u8, value: ValueId) {
        // Convert once to the form of the register's variable.
        match self.register_type(usize::from(lane), reg) {
            types::F64 => self.double(value),
            _ => self.int(value),
        };
        let view = self.view(value);
        self.set_register(usize::from(lane), reg, view);
    }

    fn store(&mut self, lane: u8, at: ValueId, value: ValueId) {
        let (body, lane) = (self.body(), usize::from(lane));
        self.check();
        let (address, offset) = self.address(body, lane, at);
        let value = match self.view(value) {
            View { word: None, double: Some(value), .. } => value,
            _ => self.int(value),
        };
        let flags = self.flags(lane);
        self.b.ins().store(flags, value, address, offset);
    }

    fn bound(&mut self, at: ValueId) {
        let (at, len) = (self.int(at), self.length());
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, at, len);
        self.need(inside);
    }

    fn finite(&mut self, a: ValueId) {
        self.finite.push(a);
        if !self.inside.is_empty() {
            self.check();
        }
    }

    fn ordered(&mut self, a: ValueId, b: ValueId) {
        let (a, b) = (self.double(a), self.double(b));
        let ordered = self.b.ins().fcmp(FloatCC::Ordered, a, b);
        self.need(ordered);
    }

    fn require(&mut self, c: ValueId) {
        let c = self.truth(c);
        self.need(c);
    }

    /// Adds a pending overflow check; within a conditional the check is emitted at once.
    fn overflow(&mut self, c: ValueId) {
        let c = self.truth(c);
        if !self.inside.is_empty() {
            self.leave_on_overflow(c);
        } else {
            self.wrapped.push(c);
        }
    }

    /// Begins a conditional, on its first side.
    fn begin(&mut self, _: ValueId, c: ValueId) {
        let c = self.truth(c);
        // Pending checks apply to both sides.
        self.check();
        let (then, other, join) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.ins().brif(c, then, &[], other, &[]);
        self.b.seal_block(then);
        self.b.seal_block(other);
        self.b.switch_to_block(then);
        self.inside.push(Vec::new());
        self.other.push((other, join));
    }

    /// Ends a conditional: joins its sides with block parameters for the phis.
    fn end(&mut self, at: ValueId) {
        let body = self.body();
        let Some((other, join)) = self.other.pop() else { return };
        let mut next = at.0 as usize + 1;
        let mut phis = Vec::new();
        while let Some(op) = body.ops.get(next) {
            match *op {
                Op::Get(lane, reg) => self.views[next] = self.register(usize::from(lane), reg),
                Op::Phi(then, otherwise) => {
                    let view = self.view(then);
                    let ty = if view.word.is_none() && view.double.is_some() { types::F64 } else { types::I64 };
                    phis.push((next, ty, then, otherwise));
                }
                _ => break,
            }
            self.written[next] = true;
            next += 1;
        }
        let mut args = Vec::new();
        for &(_, ty, then, _) in &phis {
            let view = self.view(then);
            args.push(BlockArg::Value(self.typed(ty, view)));
        }
        self.b.ins().jump(join, &args);
        // Forms made on one side are not available on the other.
        self.forget();
        self.b.switch_to_block(other);
        let mut args = Vec::new();
        for &(_, ty, _, otherwise) in &phis {
            let view = self.view(otherwise);
            args.push(BlockArg::Value(self.typed(ty, view)));
        }
        self.b.ins().jump(join, &args);
        for &(n, ty, ..) in &phis {
            let value = self.b.append_block_param(join, ty);
            self.views[n] = View::of(ty, value);
        }
        self.b.seal_block(join);
        self.b.switch_to_block(join);
    }

    fn interpret(&mut self) {
        self.call_interpreter();
    }

    /// Reloads a register from the machine after the interpreter has written it.
    fn reload(&mut self, v: ValueId, lane: u8, reg: u8) {
        let lane = usize::from(lane);
        let base = self.registers(lane);
        let ty = self.register_type(lane, reg);
        let flags = self.flags(4);
        let value = self.b.ins().load(ty, flags, base, 8 * i32::from(reg));
        let view = View::of(ty, value);
        self.views[v.0 as usize] = view;
        self.now[lane][usize::from(reg)] = Some(view);
        self.changed[lane] |= 1 << reg;
    }
}

/// An operation of two words.
pub(in crate::engine) fn binary(b: &mut FunctionBuilder<'_>, op: BinaryOp, x: Value, y: Value) -> Value {
    let ins = b.ins();
    match op {
        BinaryOp::Add => ins.iadd(x, y),
        BinaryOp::Sub => ins.isub(x, y),
        BinaryOp::Mul => ins.imul(x, y),
        BinaryOp::MulHigh => ins.smulhi(x, y),
        BinaryOp::And => ins.band(x, y),
        BinaryOp::Or => ins.bor(x, y),
        BinaryOp::Xor => ins.bxor(x, y),
        BinaryOp::Shl => ins.ishl(x, y),
        BinaryOp::Shr => ins.ushr(x, y),
        BinaryOp::Sar => ins.sshr(x, y),
        BinaryOp::Rol => ins.rotl(x, y),
        BinaryOp::Ror => ins.rotr(x, y),
    }
}

/// An operation of two doubles.
pub(in crate::engine) fn float_operation(b: &mut FunctionBuilder<'_>, op: Float, x: Value, y: Value) -> Value {
    let ins = b.ins();
    match op {
        Float::Add => ins.fadd(x, y),
        Float::Sub => ins.fsub(x, y),
        Float::Mul => ins.fmul(x, y),
        Float::Div => ins.fdiv(x, y),
    }
}

pub(in crate::engine) fn int_condition(cond: Cond) -> IntCC {
    match cond {
        Cond::Always | Cond::Eq => IntCC::Equal,
        Cond::Ne => IntCC::NotEqual,
        Cond::Lt => IntCC::SignedLessThan,
        Cond::Le => IntCC::SignedLessThanOrEqual,
        Cond::Gt => IntCC::SignedGreaterThan,
        Cond::Ge => IntCC::SignedGreaterThanOrEqual,
        Cond::Ltu => IntCC::UnsignedLessThan,
        Cond::Geu => IntCC::UnsignedGreaterThanOrEqual,
    }
}

pub(in crate::engine) fn float_condition(cond: Cond) -> FloatCC {
    match cond {
        Cond::Always | Cond::Eq => FloatCC::Equal,
        Cond::Ne => FloatCC::NotEqual,
        Cond::Lt | Cond::Ltu => FloatCC::LessThan,
        Cond::Le => FloatCC::LessThanOrEqual,
        Cond::Gt => FloatCC::GreaterThan,
        Cond::Ge | Cond::Geu => FloatCC::GreaterThanOrEqual,
    }
}
