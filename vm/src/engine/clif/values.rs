//! Values in the forms in which they are used, and registers as variables.

use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use pendula_isa::adjoint::LANES;

use super::emit::UnitEmitter;
use pendula_codegen::lift::bits;
use pendula_codegen::ops::ValueId;

/// A value in the forms computed so far: a word, a double, a truth value.
#[derive(Clone, Copy, Default)]
pub(super) struct View {
    pub(super) word: Option<Value>,
    pub(super) double: Option<Value>,
    pub(super) truth: Option<Value>,
    /// The word times eight: an address in bytes.
    pub(super) bytes: Option<Value>,
}

impl View {
    pub(super) fn of(ty: Type, value: Value) -> View {
        if ty == types::F64 {
            View { double: Some(value), ..View::default() }
        } else {
            View { word: Some(value), ..View::default() }
        }
    }
}

impl UnitEmitter<'_, '_> {
    pub(super) fn view(&self, v: ValueId) -> View {
        self.views[v.0 as usize]
    }

    /// Records a form of a value. A form made within a conditional is not available after it.
    pub(super) fn form(&mut self, v: ValueId, f: impl FnOnce(&mut View)) {
        if let Some(inside) = self.inside.last_mut() {
            inside.push((v, self.views[v.0 as usize]));
        }
        f(&mut self.views[v.0 as usize]);
    }

    /// Discards the forms made on one side of a conditional.
    pub(super) fn forget(&mut self) {
        for (v, view) in self.inside.pop().into_iter().flatten().rev() {
            self.views[v.0 as usize] = view;
        }
    }

    pub(super) fn word_of(&mut self, view: View) -> Value {
        match view {
            View { word: Some(value), .. } => value,
            View { double: Some(value), .. } => self.b.ins().bitcast(types::I64, MemFlagsData::new(), value),
            View { truth: Some(value), .. } => self.b.ins().uextend(types::I64, value),
            View { .. } => self.word(0),
        }
    }

    pub(super) fn double_of(&mut self, view: View) -> Value {
        if let Some(value) = view.double {
            return value;
        }
        let word = self.word_of(view);
        self.b.ins().bitcast(types::F64, MemFlagsData::new(), word)
    }

    pub(super) fn int(&mut self, v: ValueId) -> Value {
        let view = self.view(v);
        let value = self.word_of(view);
        if view.word.is_none() {
            self.form(v, |view| view.word = Some(value));
        }
        value
    }

    pub(super) fn double(&mut self, v: ValueId) -> Value {
        let view = self.view(v);
        let value = self.double_of(view);
        if view.double.is_none() {
            self.form(v, |view| view.double = Some(value));
        }
        value
    }

    /// A value that a branch treats as true if the word is not zero.
    pub(super) fn truth(&mut self, v: ValueId) -> Value {
        match self.view(v).truth {
            Some(value) => value,
            None => self.int(v),
        }
    }

    /// A value in the form of a type.
    pub(super) fn typed(&mut self, ty: Type, view: View) -> Value {
        if ty == types::F64 { self.double_of(view) } else { self.word_of(view) }
    }

    pub(super) fn register(&mut self, lane: usize, reg: u8) -> View {
        if let Some(view) = self.now[lane][usize::from(reg)] {
            return view;
        }
        if let Some(view) = self.copies.register(lane, reg) {
            return view;
        }
        let Some(var) = self.vars[lane][usize::from(reg)] else { return View::default() };
        let value = self.b.use_var(var);
        let view = View::of(self.register_type(lane, reg), value);
        self.now[lane][usize::from(reg)] = Some(view);
        view
    }

    pub(super) fn set_register(&mut self, lane: usize, reg: u8, view: View) {
        self.now[lane][usize::from(reg)] = Some(view);
        self.changed[lane] |= 1 << reg;
        self.dirty[lane] |= 1 << reg;
    }

    /// The registers in the sets whose current values are not in the machine, with their values.
    pub(super) fn pending(&mut self, which: [u32; LANES]) -> Vec<(usize, u8, View)> {
        let mut out = Vec::new();
        for (lane, which) in which.into_iter().enumerate() {
            for reg in bits(which & self.dirty[lane]) {
                out.push((lane, reg, self.register(lane, reg)));
            }
        }
        out
    }

    /// Writes registers to the machine.
    pub(super) fn write_back(&mut self, pending: &[(usize, u8, View)]) {
        let mut base = None;
        for &(lane, reg, view) in pending {
            let (_, base) = match base {
                Some((l, b)) if l == lane => (l, b),
                _ => *base.insert((lane, self.registers(lane))),
            };
            let value = match view {
                View { word: None, double: Some(value), .. } => value,
                view => self.word_of(view),
            };
            let flags = self.flags(4);
            self.b.ins().store(flags, value, base, 8 * i32::from(reg));
        }
    }

    /// Defines the variables by the registers at the end of the block.
    pub(super) fn define(&mut self) {
        for lane in 0..LANES {
            for reg in bits(self.changed[lane]) {
                if let (Some(view), Some(var)) = (self.now[lane][usize::from(reg)], self.vars[lane][usize::from(reg)]) {
                    let ty = self.register_type(lane, reg);
                    let value = self.typed(ty, view);
                    self.b.def_var(var, value);
                }
            }
            self.changed[lane] = 0;
        }
    }
}
