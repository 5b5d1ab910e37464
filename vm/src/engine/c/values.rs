//! Values between their definition and their uses: as text to be inlined, as a named constant, or in the variable of a register.
//!
//! Expr stays pending until something uses it, or until something that it reads is about to change. Then it is assigned to a name.

use pendula_codegen::c::expr::{Expr, Kind};
use pendula_codegen::ops::{Body, Kernel, Op, Test, ValueId};
use pendula_isa::adjoint::LANES;

use super::emit::UnitEmitter;
use super::text::{WORDS, register, variable};
use crate::engine::job::Use;

/// The maximum length of inlined text; longer text is named.
const MAX_INLINE_LENGTH: usize = 72;

/// The state of a value.
#[derive(Default)]
pub(super) struct Value {
    /// The number of remaining uses.
    pub(super) uses_left: u32,
    waiting: Option<Expr>,
    named: Option<Kind>,
    machine_register: Option<(u8, u8)>,
}

/// The values of a block, with the number of uses by operations that are emitted.
pub(super) fn values(body: &Body, kernels: &[Kernel]) -> Vec<Value> {
    let mut values: Vec<Value> = body.ops.iter().map(|_| Value::default()).collect();
    if let Some(branch) = body.branch {
        for test in [branch.test, branch.confirm, branch.unless] {
            if let Test::If(_, v) = test {
                values[v.0 as usize].uses_left += 1;
            }
        }
    }
    for (n, op) in body.ops.iter().enumerate().rev() {
        if op.is_idle() && values[n].uses_left == 0 {
            continue;
        }
        // A kernel may have fewer than four arguments.
        let arity = if let Op::Kernel(k, _) = op { kernels[*k as usize].arity } else { usize::MAX };
        op.uses().take(arity).for_each(|v| values[v.0 as usize].uses_left += 1);
    }
    values
}

impl UnitEmitter<'_> {
    pub(super) fn value(&mut self, v: ValueId) -> &mut Value {
        &mut self.values[v.0 as usize]
    }

    pub(super) fn uses(&self, v: ValueId) -> Use {
        self.facts.uses[self.place][v.0 as usize]
    }

    /// The constant value, if it is one.
    pub(super) fn constant(&self, v: ValueId) -> Option<u64> {
        match self.body().ops[v.0 as usize] {
            Op::Const(k) => Some(k),
            _ => None,
        }
    }

    /// Makes a value's text pending.
    pub(super) fn make(&mut self, v: ValueId, text: Expr) {
        let long = text.text.len() > MAX_INLINE_LENGTH;
        self.value(v).waiting = Some(text);
        self.waiting.push(v);
        if long {
            self.name(v);
        }
    }

    /// Records that the value is in a register's variable.
    pub(super) fn keep_in_register(&mut self, v: ValueId, lane: u8, reg: u8) {
        self.value(v).machine_register = Some((lane, reg));
        if !self.in_machine_registers.contains(&v) {
            self.in_machine_registers.push(v);
        }
    }

    /// Assigns a value to a name, if it has none.
    pub(super) fn name(&mut self, v: ValueId) {
        let Some(text) = self.value(v).waiting.take() else { return };
        self.waiting.retain(|w| *w != v);
        self.define(v, text);
    }

    fn define(&mut self, v: ValueId, text: Expr) {
        let uses = self.uses(v);
        let kind = match text.kind {
            Kind::Double => Kind::Double,
            Kind::Word if uses.double && !uses.word => Kind::Double,
            Kind::Word | Kind::Truth => Kind::Word,
        };
        let text = if text.kind == Kind::Truth { text } else { WORDS.convert(text, kind) };
        let ty = if kind == Kind::Double { "f64" } else { "u64" };
        self.line(format_args!("const {ty} v{} = {};", v.0, text.text));
        self.value(v).named = Some(kind);
    }

    /// Names pending values that are used more than once or read memory, before a conditional.
    pub(super) fn name_before_sides(&mut self) {
        for v in self.waiting.clone() {
            let value = self.value(v);
            if value.uses_left > 1 || value.waiting.as_ref().is_some_and(|t| t.loads) {
                self.name(v);
            }
        }
    }

    /// Names pending values that read memory, before memory changes.
    pub(super) fn name_loads(&mut self) {
        for v in self.waiting.clone() {
            if self.value(v).waiting.as_ref().is_some_and(|t| t.loads) {
                self.name(v);
            }
        }
    }

    /// The text of a value, for a use of it.
    pub(super) fn take(&mut self, v: ValueId, kind: Kind) -> Expr {
        if let Some(k) = self.constant(v) {
            return WORDS.convert(WORDS.constant(k, if kind == Kind::Truth { Kind::Word } else { kind }), kind);
        }
        let value = self.value(v);
        value.uses_left = value.uses_left.saturating_sub(1);
        let uses_left = value.uses_left;
        if let Some((lane, reg)) = value.machine_register {
            return WORDS.convert(variable(lane, reg, self.register_kind(lane, reg)), kind);
        }
        if let Some(named) = value.named {
            return WORDS.convert(Expr::atom(format!("v{}", v.0), named), kind);
        }
        match &value.waiting {
            Some(text) if uses_left > 0 && !(text.size <= 1 && !text.loads && text.kind == Kind::Word) => {
                self.name(v);
                let named = self.value(v).named.unwrap_or(Kind::Word);
                WORDS.convert(Expr::atom(format!("v{}", v.0), named), kind)
            }
            Some(text) if uses_left > 0 => WORDS.convert(text.clone(), kind),
            _ => {
                self.waiting.retain(|w| *w != v);
                let text = self.value(v).waiting.take();
                debug_assert!(text.is_some(), "value {} of block {} is used before it is made", v.0, self.number());
                WORDS.convert(text.unwrap_or_else(|| WORDS.constant(0, Kind::Word)), kind)
            }
        }
    }

    /// Records that the value is in its own variable.
    pub(super) fn variable(&mut self, v: ValueId, kind: Kind) {
        self.value(v).named = Some(kind);
    }

    /// Drops one use that is not emitted.
    pub(super) fn drop_use(&mut self, v: ValueId) {
        let value = self.value(v);
        value.uses_left = value.uses_left.saturating_sub(1);
        if value.uses_left == 0 {
            value.waiting = None;
            self.waiting.retain(|w| *w != v);
        }
    }

    /// The best type for a value's variable.
    pub(super) fn kind_of(&self, v: ValueId) -> Kind {
        let uses = self.uses(v);
        match self.body().ops[v.0 as usize] {
            Op::Float(..) | Op::Sqrt(_) | Op::Abs(_) | Op::FromInt(_) | Op::Canonical(_) => Kind::Double,
            Op::Get(lane, reg) | Op::Reload(lane, reg) => self.register_kind(lane, reg),
            _ if uses.double && !uses.word => Kind::Double,
            Op::Phi(a, _) if !uses.word => self.kind_of(a),
            _ => Kind::Word,
        }
    }

    pub(super) fn register_kind(&self, lane: u8, reg: u8) -> Kind {
        if self.facts.doubles[usize::from(lane)] >> reg & 1 == 1 { Kind::Double } else { Kind::Word }
    }

    /// Before a register's variable is assigned: names the values that read it, or that are in it and used later.
    fn vacate(&mut self, lane: u8, reg: u8, but: ValueId) {
        for v in self.in_machine_registers.clone() {
            if self.value(v).machine_register != Some((lane, reg)) || v == but {
                continue;
            }
            self.value(v).machine_register = None;
            self.in_machine_registers.retain(|w| *w != v);
            if self.value(v).uses_left > 0 && self.value(v).named.is_none() {
                let text = variable(lane, reg, self.register_kind(lane, reg));
                self.define(v, text);
            }
        }
        for v in self.waiting.clone() {
            if self.value(v).waiting.as_ref().is_some_and(|t| t.reads[usize::from(lane)] >> reg & 1 == 1) {
                self.name(v);
            }
        }
    }

    /// Writes a register's variable.
    pub(super) fn assign(&mut self, lane: u8, reg: u8, v: ValueId) {
        let kind = self.register_kind(lane, reg);
        let text = match self.constant(v) {
            Some(k) => WORDS.constant(k, kind),
            None => {
                let value = self.value(v);
                match (value.machine_register, value.named) {
                    (None, None) => {
                        // It needs no name: it is in the register from now on.
                        value.uses_left = value.uses_left.saturating_sub(1);
                        let text = value.waiting.take();
                        self.waiting.retain(|w| *w != v);
                        debug_assert!(text.is_some(), "value {} of block {}", v.0, self.number());
                        WORDS.convert(text.unwrap_or_else(|| WORDS.constant(0, Kind::Word)), kind)
                    }
                    _ => self.take(v, kind),
                }
            }
        };
        let name = register(lane, reg);
        self.vacate(lane, reg, v);
        if text.text != name {
            self.line(format_args!("{name} = {};", text.text));
        }
        if self.constant(v).is_none() && self.value(v).uses_left > 0 {
            self.keep_in_register(v, lane, reg);
        }
    }

    /// Reloads a register's variable.
    pub(super) fn reload_register(&mut self, lane: u8, reg: u8, v: Option<ValueId>) {
        self.vacate(lane, reg, ValueId(u32::MAX));
        let name = register(lane, reg);
        let word = Expr::atom(format!("{}regs[{reg}]", super::text::PREFIX[usize::from(lane)]), Kind::Word);
        self.line(format_args!("{name} = {};", WORDS.convert(word, self.register_kind(lane, reg)).text));
        if let Some(v) = v {
            self.keep_in_register(v, lane, reg);
        }
    }

    /// Writes registers of these sets to the machine.
    pub(super) fn write_back(&mut self, sets: [u32; LANES]) {
        for (lane, set) in sets.into_iter().enumerate() {
            for reg in pendula_codegen::lift::bits(set) {
                let text = variable(lane as u8, reg, self.register_kind(lane as u8, reg));
                let text = WORDS.convert(text, Kind::Word);
                self.line(format_args!("{}regs[{reg}] = {};", super::text::PREFIX[lane], text.text));
            }
        }
    }
}
