//! Emits calls: values are handed over, words that may be changed by their addresses.

use cranelift_codegen::ir::{InstBuilder, StackSlot, Value as IrValue, types};
use pendula_codegen::loops::{Argument, FunctionId, Place, Word};
use pendula_isa::Ty;
use pendula_isa::adjoint::VALUE;

use super::function::{FunctionEmitter, type_of};

impl FunctionEmitter<'_, '_> {
    pub(super) fn call(&mut self, function: FunctionId, arguments: &[Argument]) {
        let callee = &self.shared.program.functions[function.0 as usize];
        let mut values = vec![self.frame, self.memory(VALUE)];
        values.extend(callee.ad_mode.lanes().iter().map(|lane| self.memory(*lane)));
        let top = self.b.use_var(self.top);
        values.extend([self.len, top]);
        if callee.has_room() {
            let logged = self.b.use_var(self.logged);
            values.extend([self.turned, logged, self.room]);
        }
        let mut lent = Lent::default();
        for argument in arguments {
            values.push(self.argument(argument, &mut lent));
        }
        let status = self.call_function(function, &values);
        self.give_up_if(status);
        for (word, slot) in lent.locals {
            let ty = self.word_type(word);
            let value = self.b.ins().stack_load(types::I64, ty, slot, 0);
            self.write(word, value);
        }
        if self.shared.program.carried_late {
            for slot in lent.doubles {
                let value = self.b.ins().stack_load(types::I64, types::F64, slot, 0);
                self.note_not_finite(value);
            }
        }
    }

    /// What is passed.
    fn argument(&mut self, argument: &Argument, lent: &mut Lent) -> IrValue {
        match argument {
            Argument::Const(k, ty) => match type_of(*ty) {
                types::F64 => self.b.ins().f64const(f64::from_bits(*k)),
                _ => self.word(*k),
            },
            Argument::Value(word) => self.read(*word),
            Argument::Address(word) => match word.place {
                Place::Local(local) => {
                    let slot = self.spill(local, word.lane);
                    lent.locals.push((*word, slot));
                    self.b.ins().stack_addr(types::I64, slot, 0)
                }
                Place::Memory(at) => self.pointer_to(self.memory(word.lane), at),
                Place::Log(at) => self.pointer_to(self.turned, at),
            },
            Argument::Nowhere(ty, _) => {
                let slot = self.nowhere(lent.nowhere);
                lent.nowhere += 1;
                if *ty == Ty::F {
                    lent.doubles.push(slot);
                }
                let zero = self.word(0);
                self.b.ins().stack_store(types::I64, zero, slot, 0);
                self.b.ins().stack_addr(types::I64, slot, 0)
            }
            Argument::HandMemory(at, _) => self.pointer_to(self.turned, *at),
            Argument::HandParam(local) => self.handed.get(local).copied().unwrap_or(self.frame),
        }
    }
}

/// What a call is lent.
#[derive(Default)]
struct Lent {
    /// Words of local variables, and where they are meanwhile.
    locals: Vec<(Word, StackSlot)>,
    /// The number of words that nobody reads, and those of them that are doubles.
    nowhere: usize,
    doubles: Vec<StackSlot>,
}
