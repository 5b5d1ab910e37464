//! Emits blocks of operations.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{Block as IrBlock, BlockArg, InstBuilder, MemFlagsData, Type, Value as IrValue, types};
use pendula_codegen::emit::{Emit, emit};
use pendula_codegen::loops::{Block, Slot};
use pendula_codegen::ops::{BinaryOp, Float, Op, ValueId};
use pendula_isa::num::float;
use pendula_isa::types::Cond;

use super::super::clif::{binary, float_condition, float_operation, int_condition};
use super::function::FunctionEmitter;

/// A value in the forms made so far: a constant, a word, a double, a truth value.
#[derive(Clone, Copy, Default)]
struct View {
    constant: Option<u64>,
    word: Option<IrValue>,
    double: Option<IrValue>,
    truth: Option<IrValue>,
}

impl View {
    /// Whether it is a double, and no word.
    fn is_double(&self) -> bool {
        self.double.is_some() && self.word.is_none()
    }
}

/// Emits one block.
pub(super) struct BlockEmitter<'b, 'e, 'a, 'f> {
    pub(super) f: &'b mut FunctionEmitter<'a, 'f>,
    pub(super) block: &'e Block,
    uses: Vec<u32>,
    views: Vec<View>,
    /// The operations that have been emitted with others.
    written: Vec<bool>,
    /// For each conditional around: the values that got new forms on this side, with their forms before.
    inside: Vec<Vec<(ValueId, View)>>,
    /// For each conditional around: the block of its other side, and the one after it.
    other: Vec<(IrBlock, IrBlock)>,
}

impl FunctionEmitter<'_, '_> {
    /// Emits a block; gives the value `result`, which is true if it is not zero, if one is asked for.
    pub(super) fn block(&mut self, block: &Block, result: Option<ValueId>) -> Option<IrValue> {
        let mut e = self.block_emitter(block);
        e.uses = block.uses(e.f.shared.program, |lane, reg| e.slot_in(lane, reg).is_some(), result);
        for (n, op) in block.ops.iter().enumerate() {
            if !e.written[n] && (!op.is_idle() || e.uses[n] > 0) {
                emit(&mut e, ValueId(n as u32), *op);
            }
        }
        result.map(|v| e.truth(v))
    }
}

impl<'a, 'f> FunctionEmitter<'a, 'f> {
    pub(super) fn block_emitter<'b, 'e>(&'b mut self, block: &'e Block) -> BlockEmitter<'b, 'e, 'a, 'f> {
        let count = block.ops.len();
        BlockEmitter {
            f: self,
            block,
            uses: Vec::new(),
            views: vec![View::default(); count],
            written: vec![false; count],
            inside: Vec::new(),
            other: Vec::new(),
        }
    }
}

impl BlockEmitter<'_, '_, '_, '_> {
    /// Emits a value with everything that it needs.
    pub(super) fn demand(&mut self, v: ValueId) {
        let n = v.0 as usize;
        if !std::mem::replace(&mut self.written[n], true) {
            let op = self.block.ops[n];
            op.uses().for_each(|used| self.demand(used));
            emit(self, v, op);
        }
    }

    fn slot(&self, reg: u8) -> Option<Slot> {
        self.block.slots.get(usize::from(reg)).copied().flatten()
    }

    /// An operand, if it has a word in a lane.
    fn slot_in(&self, lane: u8, reg: u8) -> Option<Slot> {
        self.slot(reg).filter(|slot| self.f.has_lane(*slot, lane.into()))
    }

    fn checks_finite(&self) -> bool {
        self.f.shared.program.checks_finite
    }

    /// Records a form of a value. One that is made within a conditional is not there after it.
    fn form(&mut self, v: ValueId, change: impl FnOnce(&mut View)) {
        let view = &mut self.views[v.0 as usize];
        if let Some(inside) = self.inside.last_mut() {
            inside.push((v, *view));
        }
        change(view);
    }

    /// Forgets the forms made on one side of a conditional.
    fn forget(&mut self) {
        for (v, view) in self.inside.pop().into_iter().flatten().rev() {
            self.views[v.0 as usize] = view;
        }
    }

    pub(super) fn set_word(&mut self, v: ValueId, value: IrValue) {
        self.form(v, |view| *view = View { word: Some(value), ..View::default() });
    }

    fn set_double(&mut self, v: ValueId, value: IrValue) {
        self.form(v, |view| *view = View { double: Some(value), ..View::default() });
    }

    fn set_truth(&mut self, v: ValueId, value: IrValue) {
        self.form(v, |view| *view = View { truth: Some(value), ..View::default() });
    }

    pub(super) fn int(&mut self, v: ValueId) -> IrValue {
        let view = self.views[v.0 as usize];
        let value = match view {
            View { word: Some(value), .. } => return value,
            View { constant: Some(k), .. } => return self.f.word(k),
            View { double: Some(value), .. } => self.f.bits(value),
            View { truth: Some(value), .. } => self.f.b.ins().uextend(types::I64, value),
            View { .. } => return self.f.word(0),
        };
        self.form(v, |view| view.word = Some(value));
        value
    }

    fn double(&mut self, v: ValueId) -> IrValue {
        let view = self.views[v.0 as usize];
        if let Some(value) = view.double {
            return value;
        }
        if let Some(k) = view.constant {
            return self.f.b.ins().f64const(f64::from_bits(k));
        }
        let word = self.int(v);
        let value = self.f.b.ins().bitcast(types::F64, MemFlagsData::new(), word);
        self.form(v, |view| view.double = Some(value));
        value
    }

    /// A value that is true if the word is not zero.
    fn truth(&mut self, v: ValueId) -> IrValue {
        match self.views[v.0 as usize].truth {
            Some(value) => value,
            None => self.int(v),
        }
    }

    /// A value in the form of a type.
    fn typed(&mut self, ty: Type, v: ValueId) -> IrValue {
        if ty == types::F64 { self.double(v) } else { self.int(v) }
    }

    /// The type of what is one of two values.
    fn common(&self, a: ValueId, b: ValueId) -> Type {
        let is_double = |v: ValueId| match self.block.ops[v.0 as usize] {
            Op::Get(lane, reg) => {
                self.slot_in(lane, reg).is_some_and(|slot| self.f.slot_type(slot, lane.into()) == types::F64)
            }
            _ => self.views[v.0 as usize].is_double(),
        };
        let is_constant = |v: ValueId| matches!(self.block.ops[v.0 as usize], Op::Const(_));
        let doubles = [a, b].into_iter().any(is_double) && [a, b].into_iter().all(|v| is_double(v) || is_constant(v));
        if doubles { types::F64 } else { types::I64 }
    }

    /// A sum or product that gives up where it wraps.
    fn checked(&mut self, v: ValueId, op: BinaryOp, a: ValueId, b: ValueId) {
        let (a, b) = (self.int(a), self.int(b));
        let ins = self.f.b.ins();
        let (value, wraps) = match op {
            BinaryOp::Add => ins.sadd_overflow(a, b),
            BinaryOp::Sub => ins.ssub_overflow(a, b),
            _ => ins.smul_overflow(a, b),
        };
        self.f.give_up_if(wraps);
        self.set_word(v, value);
    }
}

impl Emit for BlockEmitter<'_, '_, '_, '_> {
    /// It is made where it is used.
    fn constant(&mut self, v: ValueId, word: u64) {
        self.form(v, |view| *view = View { constant: Some(word), ..View::default() });
    }

    fn get(&mut self, v: ValueId, lane: u8, reg: u8) {
        let Some(slot) = self.slot_in(lane, reg) else { return self.constant(v, 0) };
        let value = self.f.read_slot(slot, lane.into());
        match self.f.slot_type(slot, lane.into()) {
            types::F64 => self.set_double(v, value),
            _ => self.set_word(v, value),
        }
    }

    fn bin(&mut self, v: ValueId, op: BinaryOp, a: ValueId, b: ValueId) {
        if self.block.wraps[v.0 as usize] && matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul) {
            return self.checked(v, op, a, b);
        }
        let (a, b) = (self.int(a), self.int(b));
        let value = binary(&mut self.f.b, op, a, b);
        self.set_word(v, value);
    }

    fn not(&mut self, v: ValueId, a: ValueId) {
        let a = self.int(a);
        let value = self.f.b.ins().bnot(a);
        self.set_word(v, value);
    }

    fn compare(&mut self, v: ValueId, cond: Cond, a: ValueId, b: ValueId) {
        let (a, b) = (self.int(a), self.int(b));
        let value = self.f.b.ins().icmp(int_condition(cond), a, b);
        self.set_truth(v, value);
    }

    fn select(&mut self, v: ValueId, c: ValueId, a: ValueId, b: ValueId) {
        let c = self.truth(c);
        let ty = self.common(a, b);
        let (a, b) = (self.typed(ty, a), self.typed(ty, b));
        let value = self.f.b.ins().select(c, a, b);
        if ty == types::F64 { self.set_double(v, value) } else { self.set_word(v, value) }
    }

    fn float(&mut self, v: ValueId, op: Float, a: ValueId, b: ValueId) {
        let (a, b) = (self.double(a), self.double(b));
        let value = float_operation(&mut self.f.b, op, a, b);
        self.set_double(v, value);
    }

    fn sqrt(&mut self, v: ValueId, a: ValueId) {
        let a = self.double(a);
        let value = self.f.b.ins().sqrt(a);
        self.set_double(v, value);
    }

    fn abs(&mut self, v: ValueId, a: ValueId) {
        let a = self.double(a);
        let value = self.f.b.ins().fabs(a);
        self.set_double(v, value);
    }

    fn int_to_float(&mut self, v: ValueId, a: ValueId) {
        let a = self.int(a);
        let value = self.f.b.ins().fcvt_from_sint(types::F64, a);
        self.set_double(v, value);
    }

    fn compare_float(&mut self, v: ValueId, cond: Cond, a: ValueId, b: ValueId) {
        let (a, b) = (self.double(a), self.double(b));
        let value = self.f.b.ins().fcmp(float_condition(cond), a, b);
        self.set_truth(v, value);
    }

    fn canonical(&mut self, v: ValueId, a: ValueId) {
        let a = self.double(a);
        let is_nan = self.f.b.ins().fcmp(FloatCC::Unordered, a, a);
        let nan = self.f.b.ins().f64const(f64::from_bits(float::NAN));
        let value = self.f.b.ins().select(is_nan, nan, a);
        self.set_double(v, value);
    }

    /// Blocks have no loads; see [`Block::new`].
    fn load(&mut self, _: ValueId, _: u8, _: ValueId) {}

    fn kernel(&mut self, v: ValueId, kernel: u32, args: [ValueId; 4]) {
        self.call_kernel(v, kernel, args);
    }

    fn second(&mut self, v: ValueId, _: ValueId) {
        let out = self.f.out();
        let value = self.f.b.ins().stack_load(types::I64, types::I64, out, 8);
        self.set_word(v, value);
    }

    /// Emitted where its conditional ends.
    fn phi(&mut self, _: ValueId, _: ValueId, _: ValueId) {}

    fn set(&mut self, lane: u8, reg: u8, value: ValueId) {
        let Some(slot) = self.slot_in(lane, reg) else { return };
        let value = self.typed(self.f.slot_type(slot, lane.into()), value);
        self.f.write_slot(slot, lane.into(), value);
        if let (Some(limit), (0, 1)) = (self.block.limit, (lane, reg)) {
            let limit = self.f.integer(limit);
            self.f.note_beyond(value, limit);
        }
    }

    /// Nor stores, nor checks of addresses.
    fn store(&mut self, _: u8, _: ValueId, _: ValueId) {}
    fn bound(&mut self, _: ValueId) {}

    fn finite(&mut self, a: ValueId) {
        // What is within a limit is finite.
        let limited = self.block.limit.is_some() && self.block.ops.contains(&Op::Set(0, 1, a));
        if self.checks_finite() && !limited {
            let a = self.double(a);
            self.f.note_not_finite(a);
        }
    }

    fn ordered(&mut self, a: ValueId, b: ValueId) {
        if self.checks_finite() {
            let (a, b) = (self.double(a), self.double(b));
            let unordered = self.f.b.ins().fcmp(FloatCC::Unordered, a, b);
            self.f.note(unordered);
        }
    }

    fn require(&mut self, c: ValueId) {
        let c = match self.views[c.0 as usize].truth {
            Some(truth) => self.f.b.ins().icmp_imm_s(IntCC::Equal, truth, 0),
            None => {
                let c = self.int(c);
                self.f.b.ins().icmp_imm_s(IntCC::Equal, c, 0)
            }
        };
        self.f.note(c);
    }

    fn overflow(&mut self, c: ValueId) {
        let c = self.truth(c);
        self.f.note(c);
    }

    /// Begins a conditional, on its first side.
    fn begin(&mut self, _: ValueId, c: ValueId) {
        let c = self.truth(c);
        let b = &mut self.f.b;
        let (then, other, join) = (b.create_block(), b.create_block(), b.create_block());
        b.ins().brif(c, then, &[], other, &[]);
        b.seal_block(other);
        self.f.go_on(then);
        self.inside.push(Vec::new());
        self.other.push((other, join));
    }

    /// Ends a conditional: joins its sides, with parameters of the block for what is one of two values.
    fn end(&mut self, at: ValueId) {
        let block = self.block;
        let Some((other, join)) = self.other.pop() else { return };
        let mut phis = Vec::new();
        for (n, op) in block.ops.iter().enumerate().skip(at.0 as usize + 1) {
            match *op {
                Op::Phi(then, otherwise) => {
                    if self.uses[n] > 0 {
                        phis.push((n, self.common(then, otherwise), then, otherwise));
                    }
                    self.written[n] = true;
                }
                Op::Get(..) | Op::Const(_) => {}
                _ => break,
            }
        }
        // What stands between is read on each side for itself, and once more after it.
        let side = |e: &mut Self, of: fn(&(usize, Type, ValueId, ValueId)) -> ValueId| {
            let mut args = Vec::new();
            for phi in &phis {
                let v = of(phi);
                if v.0 > at.0 {
                    emit(e, v, block.ops[v.0 as usize]);
                }
                args.push(BlockArg::Value(e.typed(phi.1, v)));
            }
            e.f.b.ins().jump(join, &args);
        };
        side(self, |phi| phi.2);
        // Forms made on one side are not there on the other.
        self.forget();
        self.f.b.switch_to_block(other);
        self.inside.push(Vec::new());
        side(self, |phi| phi.3);
        self.forget();
        for &(n, ty, ..) in &phis {
            let value = self.f.b.append_block_param(join, ty);
            let v = ValueId(n as u32);
            if ty == types::F64 { self.set_double(v, value) } else { self.set_word(v, value) }
        }
        self.f.go_on(join);
    }

    /// Nor what the interpreter does.
    fn interpret(&mut self) {}
    fn reload(&mut self, _: ValueId, _: u8, _: u8) {}
}
