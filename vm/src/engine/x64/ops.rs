//! Emits operations as instructions of the host.

use std::mem::offset_of;

use pendula_codegen::emit::Emit;
use pendula_codegen::kernel::pack;
use pendula_codegen::lift::{bits, registers};
use pendula_codegen::ops::{BinaryOp, Float, Op, ValueId};
use pendula_isa::adjoint::VALUE;
use pendula_isa::num::float;
use pendula_isa::types::Cond;

use super::super::frame::{Frame, interpret};
use super::asm::{Alu, Flag, Gpr, Mem, Shift};
use super::values::SCRATCH;
use super::{Baseline, FRAME, LENGTH, field};

/// The argument registers of calls.
const ARGUMENTS: [Gpr; 6] = [Gpr::RDI, Gpr::RSI, Gpr::RDX, Gpr::RCX, Gpr(8), Gpr(9)];

impl Baseline<'_> {
    /// A comparison, unless what uses it makes it.
    fn comparison(&mut self, v: ValueId, op: &Op) {
        if !self.values.fused[v.0 as usize] {
            let r = self.truth(op);
            self.define(v, r);
        }
    }

    /// The address of a memory word in a lane; it must be used at once.
    fn address(&mut self, lane: usize, at: ValueId) -> Mem {
        let offset = self.values.constant(at).and_then(|k| i32::try_from(k.checked_mul(8)?).ok());
        match offset {
            Some(offset) => Mem { base: self.memory(lane), index: None, offset },
            None => {
                let index = self.word(at);
                Mem { base: self.memory(lane), index: Some(index), offset: 0 }
            }
        }
    }
}

impl Emit for Baseline<'_> {
    fn constant(&mut self, v: ValueId, word: u64) {
        self.values.set_constant(v, word);
    }

    fn get(&mut self, v: ValueId, lane: u8, reg: u8) {
        self.values.set_machine_register(v, lane, reg);
    }

    fn bin(&mut self, v: ValueId, op: BinaryOp, a: ValueId, b: ValueId) {
        let alu = match op {
            BinaryOp::Add => Some(Alu::Add),
            BinaryOp::Sub => Some(Alu::Sub),
            BinaryOp::And => Some(Alu::And),
            BinaryOp::Or => Some(Alu::Or),
            BinaryOp::Xor => Some(Alu::Xor),
            _ => None,
        };
        let shift = match op {
            BinaryOp::Shl => Some(Shift::Shl),
            BinaryOp::Shr => Some(Shift::Shr),
            BinaryOp::Sar => Some(Shift::Sar),
            BinaryOp::Rol => Some(Shift::Rol),
            BinaryOp::Ror => Some(Shift::Ror),
            _ => None,
        };
        let r = if let Some(alu) = alu {
            let r = self.consume(a);
            if let Some(k) = self.values.small(b) {
                self.asm.alu_constant(alu, r, k);
            } else {
                let operand = self.operand(b);
                self.asm.alu(alu, r, operand);
            }
            r
        } else if let Some(shift) = shift {
            if let Some(k) = self.values.constant(b) {
                let r = self.consume(a);
                self.asm.shift(shift, r, Some((k & 63) as u8));
                r
            } else {
                self.take_exact(Gpr::RCX);
                self.load(Gpr::RCX, b);
                // Not in place: the value may be in the register of the count.
                let r = self.take();
                self.load(r, a);
                self.asm.shift(shift, r, None);
                r
            }
        } else if op == BinaryOp::Mul {
            let r = self.consume(a);
            let operand = self.operand(b);
            self.asm.mul(r, operand);
            r
        } else {
            self.take_exact(Gpr::RAX);
            self.take_exact(Gpr::RDX);
            self.load(Gpr::RAX, a);
            let operand = self.operand(b);
            self.asm.mul_wide(operand);
            Gpr::RDX
        };
        self.used(a);
        self.used(b);
        self.define(v, r);
    }

    fn not(&mut self, v: ValueId, a: ValueId) {
        let r = self.consume(a);
        self.asm.not(r);
        self.used(a);
        self.define(v, r);
    }

    fn compare(&mut self, v: ValueId, cond: Cond, a: ValueId, b: ValueId) {
        self.comparison(v, &Op::Compare(cond, a, b));
    }

    fn select(&mut self, v: ValueId, c: ValueId, a: ValueId, b: ValueId) {
        let flag = self.condition(c);
        // Moves keep the flags; constants are not loaded by clearing.
        let r = self.consume(b);
        let a_word = self.word(a);
        self.asm.mov_if(flag, r, a_word);
        self.used(a);
        self.used(b);
        self.define(v, r);
    }

    fn float(&mut self, v: ValueId, op: Float, a: ValueId, b: ValueId) {
        let r = self.consume_double(a);
        let operand = self.double_operand(b);
        self.asm.float(op, r, operand);
        self.used(a);
        self.used(b);
        self.define_double(v, r);
    }

    fn sqrt(&mut self, v: ValueId, a: ValueId) {
        let a_double = self.double(a);
        let r = self.take_vector();
        self.asm.sqrt(r, a_double);
        self.used(a);
        self.define_double(v, r);
    }

    fn abs(&mut self, v: ValueId, a: ValueId) {
        let r = self.consume(a);
        // The highest bit is the sign.
        self.asm.shift(Shift::Shl, r, Some(1));
        self.asm.shift(Shift::Shr, r, Some(1));
        self.used(a);
        self.define(v, r);
    }

    fn int_to_float(&mut self, v: ValueId, a: ValueId) {
        let r = self.take_vector();
        self.asm.clear_double(r);
        let operand = self.operand(a);
        self.asm.integer_to_double(r, operand);
        self.used(a);
        self.define_double(v, r);
    }

    fn compare_float(&mut self, v: ValueId, cond: Cond, a: ValueId, b: ValueId) {
        self.comparison(v, &Op::CompareFloat(cond, a, b));
    }

    /// The double itself, or the canonical NaN.
    fn canonical(&mut self, v: ValueId, a: ValueId) {
        let r = self.consume_double(a);
        let on = self.asm.label();
        self.asm.compare_doubles(r, r);
        self.asm.jump_if(Flag::Ordered, on);
        self.asm.constant(SCRATCH, float::NAN);
        self.asm.word_to_double(r, SCRATCH);
        self.asm.bind(on);
        self.used(a);
        self.define_double(v, r);
    }

    fn load(&mut self, v: ValueId, lane: u8, at: ValueId) {
        let lane = usize::from(lane);
        if self.values.doubles[v.0 as usize] {
            let r = self.take_vector();
            let address = self.address(lane, at);
            self.asm.double(r, address);
            self.used(at);
            self.define_double(v, r);
        } else {
            let address = self.address(lane, at);
            let r = self.take();
            self.asm.mov(r, address);
            self.used(at);
            self.define(v, r);
        }
    }

    fn kernel(&mut self, v: ValueId, n: u32, args: [ValueId; 4]) {
        let kernel = self.job.kernels[n as usize];
        // The operation counts as a use of all four arguments; unused ones repeat the first.
        self.flush();
        for (to, arg) in ARGUMENTS[2..].iter().zip(&args[..kernel.arity]) {
            self.load(*to, *arg);
        }
        self.asm.constant(Gpr::RDI, pack(self.job.env));
        self.asm.lea(Gpr::RSI, field(offset_of!(Frame, out)));
        self.asm.constant(Gpr::RAX, kernel.address as u64);
        self.asm.call(Gpr::RAX);
        args.iter().for_each(|a| self.used(*a));
        self.asm.test(Gpr::RAX);
        if !kernel.wraps {
            self.exit_if(Flag::NotEqual);
        } else if self.job.setting.trap_overflow || self.job.setting.checks {
            self.wrapped(Flag::NotEqual);
        }
        if self.values.doubles[v.0 as usize] {
            let r = self.take_vector();
            self.asm.double(r, field(offset_of!(Frame, out)));
            self.define_double(v, r);
        } else {
            let r = self.take();
            self.asm.mov(r, field(offset_of!(Frame, out)));
            self.define(v, r);
        }
    }

    fn second(&mut self, v: ValueId, of: ValueId) {
        let r = self.take();
        self.asm.mov(r, field(offset_of!(Frame, out) + 8));
        self.used(of);
        self.define(v, r);
    }

    /// Emitted at the end of its conditional.
    fn phi(&mut self, _: ValueId, _: ValueId, _: ValueId) {}

    fn set(&mut self, lane: u8, reg: u8, value: ValueId) {
        self.write(lane, reg, value);
    }

    fn store(&mut self, lane: u8, at: ValueId, value: ValueId) {
        let lane = usize::from(lane);
        if self.values.is_vector(value) {
            let r = self.double(value);
            let address = self.address(lane, at);
            self.asm.store_double(address, r);
        } else if let Some(k) = self.values.small(value) {
            let address = self.address(lane, at);
            self.asm.store_constant(address, k);
        } else {
            let r = self.word(value);
            let address = self.address(lane, at);
            self.asm.store(address, r);
        }
        self.used(at);
        self.used(value);
    }

    fn bound(&mut self, at: ValueId) {
        let r = self.word(at);
        self.asm.alu(Alu::Cmp, r, LENGTH);
        self.exit_if(Flag::AboveOrEqual);
        self.used(at);
    }

    /// Takes a side exit unless the double is finite.
    fn finite(&mut self, a: ValueId) {
        if self.values.is_vector(a) {
            let r = self.double(a);
            self.asm.double_to_word(SCRATCH, r);
        } else {
            self.load(SCRATCH, a);
        }
        // All bits of the exponent are set in infinities and NaN.
        self.asm.shift(Shift::Shl, SCRATCH, Some(1));
        self.asm.shift(Shift::Shr, SCRATCH, Some(53));
        self.asm.alu_constant(Alu::Cmp, SCRATCH, 0x7ff);
        self.exit_if(Flag::Equal);
        self.used(a);
    }

    fn ordered(&mut self, a: ValueId, b: ValueId) {
        let r = self.double(a);
        let operand = self.double_operand(b);
        self.asm.compare_doubles(r, operand);
        self.exit_if(Flag::Unordered);
        self.used(a);
        self.used(b);
    }

    fn require(&mut self, c: ValueId) {
        let flag = self.condition(c);
        self.exit_if(flag.not());
    }

    fn overflow(&mut self, c: ValueId) {
        let flag = self.condition(c);
        self.wrapped(flag);
    }

    fn begin(&mut self, _: ValueId, c: ValueId) {
        let flag = self.condition(c);
        self.conditional(flag);
    }

    fn end(&mut self, at: ValueId) {
        self.join(at);
    }

    fn interpret(&mut self) {
        let code = *self.code();
        let number = code.first + self.k - code.head;
        let (read, written) = registers(self.job.instruction(number));
        for lane in self.job.lanes() {
            let touched = if lane == VALUE { written } else { read | written };
            for reg in bits(touched) {
                self.spill_from_machine_register(lane as u8, reg, true);
            }
        }
        self.flush();
        let entry: unsafe extern "C" fn(*mut Frame, u64) -> u64 = interpret;
        self.asm.mov(Gpr::RDI, FRAME);
        self.asm.constant(Gpr::RSI, u64::from(number));
        self.asm.constant(Gpr::RAX, entry as usize as u64);
        self.asm.call(Gpr::RAX);
        self.asm.test(Gpr::RAX);
        self.exit_if(Flag::NotEqual);
    }

    fn reload(&mut self, v: ValueId, lane: u8, reg: u8) {
        self.values.set_machine_register(v, lane, reg);
    }
}
