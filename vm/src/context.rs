//! One instruction at work on the state: [`Ctx`], the interpreter's [`Domain`] and [`Carrier`].

use std::marker::PhantomData;

use pendula_isa::adjoint::{self, AdMode, Carrier, GRADIENT, LANES, VALUE};
use pendula_isa::arith::Arith;
use pendula_isa::domain::Domain;
use pendula_isa::num::Word;
use pendula_isa::operand::Slot;
use pendula_isa::table::{ARITY, Instruction, TableFn, Variant};
use pendula_isa::types::{Reg, Ty};
use pendula_isa::{Env, Fault};

use crate::decode::Op;
use crate::event::Event;
use crate::lanes::Dropped;
use crate::orders::{Change, Place, Work};
use crate::state::Core;

/// The location of a handler's operands.
pub(crate) trait Operands: 'static {
    /// The slot of operand `n`. If it is known when the handler is compiled, `op` is not used.
    fn slot(op: &Op, n: usize) -> Slot;
}

/// One instruction at work on the state.
pub(crate) struct Ctx<'a, O> {
    pub(crate) core: &'a mut Core,
    pub(crate) op: &'a Op,
    /// The lane of operands, memory and tapes. It is a constant where a context is made, so that handlers are compiled for it.
    pub(crate) lane: usize,
    /// Whether the computation is for a lane other than the value's.
    pub(crate) derived: bool,
    /// The stack pointer before the instruction, for lanes other than the value's.
    pub(crate) sp: u64,
    pub(crate) operands: PhantomData<O>,
}

impl<'a, O: Operands> Ctx<'a, O> {
    #[inline(always)]
    pub(crate) fn new(core: &'a mut Core, op: &'a Op) -> Ctx<'a, O> {
        Ctx { core, op, lane: VALUE, derived: false, sp: 0, operands: PhantomData }
    }

    #[inline(always)]
    fn field(&self, n: u8) -> u64 {
        self.core.reg(self.op.regs[n as usize])
    }

    #[inline(always)]
    fn number(&self, n: u8) -> usize {
        usize::from(self.op.regs[n as usize]) % Reg::PLACES
    }

    #[inline(always)]
    fn address(&self, slot: Slot) -> u64 {
        match slot {
            Slot::Mem(f) | Slot::TargetMem(f) => {
                self.field(f).wrapping_add(self.field(f + 1)).wrapping_add(self.op.imm.cast_unsigned())
            }
            Slot::MemPlain(f) | Slot::TargetMemPlain(f) => self.field(f).wrapping_add(self.field(f + 1)),
            Slot::None
            | Slot::Reg(_)
            | Slot::Target(_)
            | Slot::Imm
            | Slot::Small
            | Slot::FactorNum
            | Slot::FactorDen
            | Slot::Label
            | Slot::Text => 0,
        }
    }

    /// The word of an operand in a lane other than the value's.
    #[inline(always)]
    fn lane_of(&self, lane: usize, slot: Slot) -> u64 {
        match slot {
            Slot::Reg(f) | Slot::Target(f) => self.core.lane(lane).regs[self.number(f)],
            slot => self.core.lane_load(lane, self.address(slot)),
        }
    }

    #[inline(always)]
    fn set_lane_of(&mut self, lane: usize, slot: Slot, v: u64) {
        match slot {
            Slot::Reg(f) | Slot::Target(f) => {
                let number = self.number(f);
                let regs = &mut self.core.lane_mut(lane).regs;
                regs[number] = v;
                regs[0] = 0;
            }
            slot => {
                let address = self.address(slot);
                self.core.lane_store(lane, address, v);
            }
        }
    }

    /// Where the operands are.
    fn places(&self) -> [Place; 4] {
        [0, 1, 2, 3].map(|n| match O::slot(self.op, n) {
            Slot::Reg(f) | Slot::Target(f) => Place::Register(self.number(f) as u8),
            slot @ (Slot::Mem(_) | Slot::TargetMem(_) | Slot::MemPlain(_) | Slot::TargetMemPlain(_)) => {
                Place::Word(self.address(slot))
            }
            Slot::None | Slot::Imm | Slot::Small | Slot::FactorNum | Slot::FactorDen | Slot::Label | Slot::Text => {
                Place::Nowhere
            }
        })
    }

    #[inline(always)]
    fn on_value(&self) -> bool {
        self.lane == VALUE
    }
}

impl<O: Operands> Arith for Ctx<'_, O> {
    type V = u64;
    type Stop = Fault;

    pendula_isa::plain_arithmetic!();

    #[inline(always)]
    fn env(&self) -> Env {
        self.core.env
    }

    #[inline(always)]
    fn overflow(&mut self, wrapped: u64) -> Result<(), Fault> {
        if wrapped != 0 { self.core.overflowed(self.op, self.derived) } else { Ok(()) }
    }

    #[inline(always)]
    fn require(&mut self, ok: u64, fault: Fault) -> Result<(), Fault> {
        if ok == 0 && self.on_value() { Err(fault) } else { Ok(()) }
    }
}

impl<O: Operands> Domain for Ctx<'_, O> {
    pendula_isa::plain_guard!();

    #[inline(always)]
    fn operand(&mut self, n: usize) -> Word {
        const FACTOR: u64 = pendula_isa::inst::FACTOR_MAX.cast_unsigned();
        let imm = self.op.imm.cast_unsigned();
        match O::slot(self.op, n) {
            slot @ (Slot::Reg(_) | Slot::Target(_)) if !self.on_value() => Ok(self.lane_of(self.lane, slot)),
            Slot::Reg(f) | Slot::Target(f) => Ok(self.field(f)),
            slot @ (Slot::Mem(_) | Slot::TargetMem(_) | Slot::MemPlain(_) | Slot::TargetMemPlain(_)) => {
                if self.on_value() { self.core.load(self.address(slot)) } else { Ok(self.lane_of(self.lane, slot)) }
            }
            Slot::FactorNum => Ok(imm & FACTOR),
            Slot::FactorDen => Ok((imm >> 14) & FACTOR),
            Slot::Imm | Slot::Label | Slot::Text => Ok(imm),
            // Small constants only occur in control instructions, which have no body.
            Slot::None | Slot::Small => Ok(0),
        }
    }

    #[inline(always)]
    fn set(&mut self, n: usize, v: u64) -> Result<(), Fault> {
        match O::slot(self.op, n) {
            slot if !self.on_value() => {
                self.set_lane_of(self.lane, slot, v);
                Ok(())
            }
            Slot::Target(f) => {
                let number = self.number(f);
                self.core.regs[number] = v;
                Ok(())
            }
            slot => self.core.store(self.address(slot), v),
        }
    }

    #[inline(always)]
    fn missing(&mut self, fault: Fault) -> Fault {
        fault
    }

    #[inline(always)]
    fn gradient(&mut self, n: usize) -> Word {
        let lane = self.core.ad_mode.gradient_of(self.lane).ok_or(Fault::GradientLevel)?;
        // A `gswap` may be the first use of the lane.
        let words = self.core.mem.len();
        self.core.lanes[lane - 1].allocate(words);
        Ok(self.lane_of(lane, O::slot(self.op, n)))
    }

    #[inline(always)]
    fn set_gradient(&mut self, n: usize, v: u64) -> Result<(), Fault> {
        let lane = self.core.ad_mode.gradient_of(self.lane).ok_or(Fault::GradientLevel)?;
        self.set_lane_of(lane, O::slot(self.op, n), v);
        Ok(())
    }

    #[inline(always)]
    fn load(&mut self, a: u64) -> Word {
        if self.on_value() { self.core.load(a) } else { Ok(self.core.lane_load(self.lane, a)) }
    }

    #[inline(always)]
    fn store(&mut self, a: u64, v: u64) -> Result<(), Fault> {
        if self.on_value() {
            return self.core.store(a, v);
        }
        self.core.lane_store(self.lane, a, v);
        Ok(())
    }

    #[inline(always)]
    fn cell(&mut self, a: u64) -> Word {
        self.core.cell(a)
    }

    #[inline(always)]
    fn set_cell(&mut self, a: u64, v: u64) -> Result<(), Fault> {
        self.core.set_cell(a, v);
        Ok(())
    }

    #[inline(always)]
    fn sp(&mut self) -> u64 {
        if self.on_value() { self.core.regs[Reg::SP.index()] } else { self.sp }
    }

    #[inline(always)]
    fn set_sp(&mut self, v: u64) {
        if self.on_value() {
            self.core.regs[Reg::SP.index()] = v;
        }
    }

    #[inline(always)]
    fn check(&mut self, ok: u64, fault: Fault) -> Result<(), Fault> {
        if ok == 0 && self.core.checks && self.on_value() { Err(fault) } else { Ok(()) }
    }

    fn lose(&mut self, _: u64) {
        self.core.lose(self.op);
    }

    fn lose_inexact(&mut self, v: u64) {
        if v != 0 {
            self.core.clear_residue(self.op, v);
        }
    }

    fn emit(&mut self, v: u64) -> Word {
        let core = &mut *self.core;
        if self.lane == VALUE {
            if core.output.len() >= core.mem.len() {
                return Err(Fault::TapeFull);
            }
            core.output.push(v);
            if core.cells.is_pisa()
                && core.forward
                && let Some(listener) = &mut core.listener
            {
                listener(Event::Emit(v));
            }
            return Ok(0);
        }
        // The value has been emitted.
        let at = core.output.len() - 1;
        let tape = &mut core.lane_mut(self.lane).output;
        if tape.len() <= at {
            tape.resize(at + 1, 0);
        }
        Ok(std::mem::replace(&mut tape[at], v))
    }

    fn last_emitted(&mut self) -> Word {
        if self.on_value() {
            self.core.output.last().copied().ok_or(Fault::NoOutput)
        } else {
            // The value has been taken back.
            Ok(self.core.lane(self.lane).output.get(self.core.output.len()).copied().unwrap_or(0))
        }
    }

    fn unemit(&mut self, v: u64) {
        if self.lane == VALUE {
            self.core.output.pop();
        } else {
            let at = self.core.output.len();
            let tape = &mut self.core.lane_mut(self.lane).output;
            if tape.len() <= at && v != 0 {
                tape.resize(at + 1, 0);
            }
            if let Some(w) = tape.get_mut(at) {
                *w = v;
            }
        }
    }

    fn next_input(&mut self) -> Word {
        self.core.input.get(self.core.read).copied().ok_or(Fault::NoInput)
    }

    fn advance_input(&mut self) {
        self.core.read += 1;
    }

    fn last_input(&mut self) -> Word {
        let n = self.core.read.checked_sub(1).ok_or(Fault::NothingRead)?;
        self.core.input.get(n).copied().ok_or(Fault::NothingRead)
    }

    fn rewind_input(&mut self) {
        self.core.read -= 1;
    }

    fn show(&mut self, ty: Ty, v: u64) {
        if (self.core.forward || self.core.shows_back)
            && let Some(listener) = &mut self.core.listener
        {
            listener(Event::Show(ty, v));
        }
    }

    fn print(&mut self, _: usize) {
        if self.core.forward
            && let Some(listener) = &mut self.core.listener
        {
            listener(Event::Print(self.op.imm as u32));
        }
    }
}

impl<O: Operands> Carrier for Ctx<'_, O> {
    #[inline(always)]
    fn carries(&self, n: usize) -> bool {
        match O::slot(self.op, n) {
            Slot::Reg(_) | Slot::Target(_) => true,
            Slot::Mem(_) | Slot::TargetMem(_) | Slot::MemPlain(_) | Slot::TargetMemPlain(_) => true,
            Slot::None | Slot::Imm | Slot::Small | Slot::FactorNum | Slot::FactorDen | Slot::Label | Slot::Text => {
                false
            }
        }
    }

    #[inline(always)]
    fn same(&self, n: usize, m: usize) -> bool {
        match (O::slot(self.op, n), O::slot(self.op, m)) {
            (Slot::Reg(a) | Slot::Target(a), Slot::Reg(b) | Slot::Target(b)) => self.number(a) == self.number(b),
            // At most one operand is in memory.
            _ => false,
        }
    }

    #[inline(always)]
    fn lane(&mut self, lane: usize, n: usize) -> u64 {
        self.lane_of(lane, O::slot(self.op, n))
    }

    #[inline(always)]
    fn set_lane(&mut self, lane: usize, n: usize, v: u64) {
        self.set_lane_of(lane, O::slot(self.op, n), v);
    }

    #[inline(always)]
    fn when(&mut self, c: u64, f: impl FnOnce(&mut Self) -> Result<(), Fault>) -> Result<(), Fault> {
        if c == 0 { Ok(()) } else { f(self) }
    }

    #[inline(always)]
    fn run_lane<I: Instruction>(&mut self, lane: usize, back: bool, v: Variant, sp: u64) -> Result<(), Fault> {
        let mut ctx =
            Ctx::<O> { core: self.core, op: self.op, lane, derived: lane != VALUE, sp, operands: PhantomData };
        if back { I::undo(&mut ctx, v) } else { I::run(&mut ctx, v) }
    }

    #[inline(always)]
    fn derive(&mut self, on: bool) {
        self.derived = on;
    }

    #[inline(always)]
    fn has_orders(&self) -> bool {
        self.core.orders.is_some()
    }

    #[inline(always)]
    fn more_lanes(&self) -> std::ops::Range<usize> {
        LANES..LANES + self.core.more.len()
    }

    fn carry_function(&mut self, func: TableFn, inverse: bool, x: [u64; ARITY], f: u64) -> Result<(), Fault> {
        let places = self.places();
        Work { core: self.core, op: self.op, places }.function(func, inverse, x, f)
    }

    fn carry_row<I: Instruction>(&mut self, back: bool, v: Variant) -> Result<(), Fault> {
        let (places, op) = (self.places(), self.op);
        let change = Change { adjoint: I::INFO.adjoint, ty: v.ty, back };
        Work { core: self.core, op, places }.row(change, &mut |core, gradients| {
            let mut ctx = Ctx::<O>::new(core, op);
            match (gradients, back) {
                (true, _) => adjoint::run_row::<_, I>(&mut ctx, AdMode::Gradient, back, v),
                (false, true) => I::undo(&mut ctx, v),
                (false, false) => I::run(&mut ctx, v),
            }
        })
    }

    fn drop_lanes(&mut self, n: usize) {
        let lanes = self.core.ad_mode.lanes();
        let slot = O::slot(self.op, n);
        for &lane in lanes {
            let word = self.lane_of(lane, slot);
            let left = match &mut self.core.dropped {
                Dropped::Recorded(records) => {
                    records[lane - 1].push(word);
                    if self.core.within != 0 {
                        self.core.drops.push((lane, word));
                    }
                    0
                }
                Dropped::Replayed(records) => {
                    let old = records[lane - 1].pop();
                    if self.core.within != 0 {
                        self.core.drops.push((lane, old));
                    }
                    // The current word is destroyed instead.
                    if word != 0 {
                        self.core.lose(self.op);
                    }
                    old
                }
                Dropped::Discarded => {
                    // Tangents are not part of the modelled machine.
                    if word != 0 && (lane == GRADIENT || !self.core.ad_mode.has_tangents()) {
                        self.core.lose(self.op);
                    }
                    0
                }
            };
            self.set_lane_of(lane, slot, left);
        }
    }
}
