//! Calls from compiled code to kernels and to the interpreter.

use std::mem::offset_of;

use cranelift_codegen::ir::{AbiParam, InstBuilder, SigRef, Signature, types};
use pendula_isa::adjoint::{LANES, VALUE};

use super::super::frame::{Frame, interpret};
use super::emit::UnitEmitter;
use super::values::View;
use pendula_codegen::kernel::pack;
use pendula_codegen::lift::registers;
use pendula_codegen::ops::ValueId;

impl UnitEmitter<'_, '_> {
    /// Calls a kernel, with a side exit for faults.
    pub(super) fn call_kernel(&mut self, v: ValueId, n: u32, args: [ValueId; 4]) {
        let kernel = self.job.kernels[n as usize];
        let signature = match self.kernels[kernel.arity] {
            Some(signature) => signature,
            None => {
                let signature = self.signature(2 + kernel.arity);
                *self.kernels[kernel.arity].insert(signature)
            }
        };
        let env = self.word(pack(self.job.env));
        let out = self.b.ins().iadd_imm_s(self.frame, offset_of!(Frame, out) as i64);
        let mut values = vec![env, out];
        for a in &args[..kernel.arity] {
            values.push(self.int(*a));
        }
        let callee = self.word(kernel.address as u64);
        let call = self.b.ins().call_indirect(signature, callee, &values);
        let status = self.b.inst_results(call)[0];
        if kernel.wraps {
            // This is its only status other than 0.
            if self.job.setting.trap_overflow || self.job.setting.checks {
                self.leave_on_overflow(status);
            }
        } else {
            self.refuse(status);
        }
        let value = self.field(offset_of!(Frame, out));
        self.form(v, |view| *view = View { word: Some(value), ..View::default() });
    }

    /// The signature with this number of word parameters that returns a word.
    pub(super) fn signature(&mut self, words: usize) -> SigRef {
        let mut signature = Signature::new(self.b.func.signature.call_conv);
        signature.params.extend(std::iter::repeat_n(AbiParam::new(types::I64), words));
        signature.returns.push(AbiParam::new(types::I64));
        self.b.import_signature(signature)
    }

    /// Calls the interpreter to run the instruction.
    pub(super) fn call_interpreter(&mut self) {
        let code = *self.code();
        let number = code.first + self.k - code.head;
        let (read, written) = registers(self.job.instruction(number));
        let mut which = [read | written; LANES];
        for (lane, set) in which.iter_mut().enumerate() {
            if lane != VALUE && !self.job.setting.ad_mode.lanes().contains(&lane) {
                *set = 0;
            }
        }
        // The side exit writes everything back by itself, with the words before the instruction.
        let _ = self.side_exit_block();
        let pending = self.pending(which);
        self.write_back(&pending);
        for (dirty, set) in self.dirty.iter_mut().zip(which) {
            *dirty &= !set;
        }
        let signature = match self.interpret {
            Some(signature) => signature,
            None => {
                let signature = self.signature(2);
                *self.interpret.insert(signature)
            }
        };
        let entry: unsafe extern "C" fn(*mut Frame, u64) -> u64 = interpret;
        let callee = self.word(entry as usize as u64);
        let number = self.word(u64::from(number));
        let call = self.b.ins().call_indirect(signature, callee, &[self.frame, number]);
        let status = self.b.inst_results(call)[0];
        self.refuse(status);
    }
}
