//! Instructions of operations, with words in the places that they have been given.
//!
//! What an instruction cannot take where it is, is brought into a free register
//! before it and back after it. Free registers are zero, so that an `exch` does
//! either. What comes before an instruction is written on a tape; after it the
//! tape is played back, inverted. If no register is free, a word that the
//! instruction does not need is exchanged to the frame meanwhile.

use pendula_isa::operand::Operand;
use pendula_isa::table::{Row, Variant};
use pendula_isa::{Acc, Cond, Format, Inst, Kind, Reg, Ty};

use super::LowerError;
use super::alloc::{Home, Homes, REGISTERS};
use super::linear::INT;
use super::ops::{Arg, CheckReason, Clear, Item, Linear, Op, VReg, Word};
use crate::ir::effects::Summaries;
use crate::ir::{IrFunction, Loc, Program, TOLERANCE};

/// The frame pointer, in functions that move the stack pointer.
pub(super) const FRAME: u8 = 30;

/// An instruction on its way to the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coded {
    pub(super) inst: Inst,
    /// Whether its memory operand is a word of the frame, and the offset counts from the frame's first word.
    pub(super) frame: bool,
    /// Whether it only brings words where another instruction can take them.
    aux: bool,
    pub(super) loc: Loc,
    pub(super) said: Option<CheckReason>,
}

/// A memory operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Addr {
    pub(super) base: Reg,
    pub(super) index: Reg,
    pub(super) offset: i64,
    pub(super) frame: bool,
}

/// An operand in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Reg(Reg),
    Const(u64),
    Mem(Addr),
}

/// A half of a pair that has been emitted, for the other half.
pub(super) struct Half {
    pub(super) at: usize,
    pub(super) setup: Vec<(Inst, bool)>,
    pub(super) other: Inst,
}

/// What has been brought somewhere for an instruction.
pub(super) struct Prep {
    /// Where the tape begins.
    start: usize,
    busy: u32,
    /// Registers that the instruction needs as they are.
    pinned: u32,
    moved: Vec<(VReg, Home)>,
    evicted: Vec<(usize, VReg)>,
    slots: Vec<i64>,
}

/// A span, in instructions.
pub(super) struct Span {
    pub(super) span: u32,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// What functions know of the program.
pub(super) struct Context<'a> {
    pub(super) program: &'a Program,
    pub(super) format: Format,
    /// The registers that each function uses.
    pub(super) clobbers: &'a [u32],
    pub(super) summaries: &'a Summaries,
}

/// Emits one function.
pub(super) struct Emitter<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) linear: &'a Linear,
    function: &'a IrFunction,
    pub(super) homes: Vec<Home>,
    /// Who lives in a register.
    pub(super) occupant: [Option<VReg>; 32],
    /// Registers that are not free.
    pub(super) busy: u32,
    pub(super) code: Vec<Coded>,
    /// Instructions before this one stay.
    pub(super) barrier: usize,
    pub(super) tape: Vec<(Inst, bool)>,
    /// How many tapes are being written.
    open: u32,
    pub(super) slots: i64,
    spare: Vec<i64>,
    pub(super) halves: Vec<Option<Half>>,
    /// Calls and whom they call.
    pub(super) calls: Vec<(usize, u32)>,
    pub(super) spans: Vec<Span>,
    loc: Loc,
    said: Option<CheckReason>,
}

pub(super) const fn bit(reg: u8) -> u32 {
    1 << (reg & 31)
}

pub(super) fn reg(number: u8) -> Reg {
    Reg::new(number).unwrap_or_default()
}

/// A kind of row without alternatives.
pub(super) const fn row(row: Row, inverse: bool, variant: Variant) -> Kind {
    Kind::Row { row, inverse, ty: variant.ty, cond: variant.cond, form: variant.form }
}

/// A plain row on integers.
pub(super) const fn plain(r: Row, inverse: bool) -> Kind {
    row(r, inverse, Variant { ty: Ty::Int, cond: Cond::Always, form: false })
}

impl Addr {
    pub(super) fn operand(self) -> Operand {
        Operand::Mem { base: self.base, index: self.index, offset: self.offset }
    }
}

impl<'a> Emitter<'a> {
    pub(super) fn new(
        context: &'a Context<'a>,
        linear: &'a Linear,
        function: &'a IrFunction,
        homes: Homes,
    ) -> Emitter<'a> {
        let mut halves = Vec::new();
        halves.resize_with(linear.pairs.len(), || None);
        Emitter {
            context,
            linear,
            function,
            homes: homes.of,
            occupant: [None; 32],
            busy: 0,
            code: Vec::with_capacity(linear.ops.len()),
            barrier: 0,
            tape: Vec::new(),
            open: 0,
            slots: homes.slots,
            spare: Vec::new(),
            halves,
            calls: Vec::new(),
            spans: Vec::new(),
            loc: function.loc,
            said: None,
        }
    }

    pub(super) fn bad(&self, what: &str) -> LowerError {
        LowerError::Malformed { function: self.function.name.clone(), line: self.loc.line, what: what.to_string() }
    }

    /// Emits the whole function between `proc` and `ret`, but for the frame's own instructions.
    pub(super) fn run(&mut self) -> Result<(), LowerError> {
        let linear = self.linear;
        let arrive = self.arrive()?;
        let mut open = Vec::new();
        for (at, Item { op, loc, said }) in linear.ops.iter().enumerate() {
            (self.loc, self.said) = (*loc, *said);
            self.op(op, at as u32, &mut open)?;
        }
        (self.loc, self.said) = (self.function.loc, None);
        arrive.into_iter().rev().for_each(|(inst, frame)| self.aux(inst.inverse(), frame));
        Ok(())
    }

    fn op(&mut self, op: &Op, at: u32, open: &mut Vec<(u32, usize)>) -> Result<(), LowerError> {
        match op {
            Op::Update { acc, inverse, func, args } => self.update((*acc, *inverse, *func), args.get()),
            Op::Permute { row, inverse, ty, args } => self.permute(*row, *inverse, *ty, args.get()),
            Op::Begin(v, how) => {
                self.take(*v);
                self.clear(*v, *how)
            }
            Op::End(v, how) => {
                self.clear(*v, *how)?;
                if self.linear.lives.get(v.0 as usize).is_some_and(|l| l.end == at) {
                    self.leave(*v);
                }
                Ok(())
            }
            Op::Clear(v, how) => self.clear(*v, *how),
            Op::Erase(arg) => {
                let prep = self.prep(&[*arg]);
                let (found, prep) = self.find(prep, *arg)?;
                let operand = match found {
                    Found::Reg(r) => Operand::Reg(r),
                    Found::Mem(a) => a.operand(),
                    Found::Const(_) => return Err(self.bad("a constant is erased")),
                };
                self.emit(plain(Row::Erase, false), &[operand], matches!(found, Found::Mem(a) if a.frame))?;
                self.finish(prep, true)
            }
            Op::Half { pair, from } => self.half(*pair, *from),
            Op::Call(call) => match self.linear.calls.get(*call as usize) {
                Some(call) => self.call(call),
                None => Err(LowerError::Internal("a call is missing".into())),
            },
            Op::Assert(cmp) => self.assert(cmp),
            Op::Show(ty, arg) => self.show(*ty, *arg),
            Op::Print(text) => self.emit(plain(Row::Print, false), &[Operand::Text(*text)], false),
            Op::Span { span, end } => {
                self.barrier = self.code.len();
                if *end {
                    let start = open.pop().map_or(self.code.len(), |(_, start)| start);
                    self.spans.push(Span { span: *span, start, end: self.code.len() });
                } else {
                    open.push((*span, self.code.len()));
                }
                Ok(())
            }
        }
    }

    /// A life begins in its place.
    pub(super) fn take(&mut self, v: VReg) {
        if let Home::Reg(r) = self.home(v) {
            self.busy |= bit(r);
            self.occupant[usize::from(r & 31)] = Some(v);
        }
    }

    fn leave(&mut self, v: VReg) {
        if let Home::Reg(r) = self.home(v) {
            self.busy &= !bit(r);
            self.occupant[usize::from(r & 31)] = None;
        }
    }

    pub(super) fn home(&self, v: VReg) -> Home {
        self.homes.get(v.0 as usize).copied().unwrap_or(Home::Reg(31))
    }

    fn clear(&mut self, v: VReg, how: Clear) -> Result<(), LowerError> {
        if how == Clear::None {
            return Ok(());
        }
        let prep = self.prep(&[Arg::Reg(v)]);
        let (found, mut prep) = self.find(prep, Arg::Reg(v))?;
        let r = self.bring(&mut prep, found)?;
        match how {
            Clear::None => {}
            Clear::Zero => self.emit(plain(Row::Zero, false), &[Operand::Reg(r)], false)?,
            Clear::Within => {
                let kind = row(Row::ZeroWithin, false, Variant { ty: Ty::F, cond: Cond::Always, form: true });
                self.emit(kind, &[Operand::Reg(r), Operand::Imm(TOLERANCE.to_bits(), Ty::F)], false)?;
            }
        }
        self.finish(prep, true)
    }

    // Instructions.

    pub(super) fn build(&self, kind: Kind, operands: &[Operand]) -> Result<Inst, LowerError> {
        Inst::build(kind, operands).map_err(|e| self.bad(&format!("`{}`: {e}", kind.mnemonic())))
    }

    pub(super) fn put(&mut self, inst: Inst, frame: bool, aux: bool) {
        let said = self.said.filter(|said| !aux && said.concerns(&inst));
        self.code.push(Coded { inst, frame, aux, loc: self.loc, said });
    }

    /// Emits an instruction.
    pub(super) fn emit(&mut self, kind: Kind, operands: &[Operand], frame: bool) -> Result<(), LowerError> {
        let inst = self.build(kind, operands)?;
        self.put(inst, frame, false);
        Ok(())
    }

    /// Emits an instruction that brings words somewhere, and notes it on the tape. With its inverse right before it, both go.
    pub(super) fn aux(&mut self, inst: Inst, frame: bool) {
        if self.open > 0 {
            self.tape.push((inst, frame));
        }
        let last = self.code.last().filter(|c| c.aux && c.frame == frame && self.code.len() > self.barrier);
        let drops = matches!(inst.kind, Kind::Row { row: Row::Zero, .. });
        match last {
            // Twice is as good as once.
            Some(last) if drops && last.inst == inst => {}
            Some(last) if !drops && last.inst == inst.inverse() => {
                self.code.pop();
            }
            Some(_) | None => self.put(inst, frame, true),
        }
    }

    pub(super) fn aux_of(&mut self, kind: Kind, operands: &[Operand], frame: bool) -> Result<(), LowerError> {
        let inst = self.build(kind, operands)?;
        self.aux(inst, frame);
        Ok(())
    }

    // Preparations.

    /// Begins to prepare an instruction with these operands.
    pub(super) fn prep(&mut self, args: &[Arg]) -> Prep {
        let mut pinned = 0;
        for v in args.iter().flat_map(Arg::regs) {
            if let Home::Reg(r) = self.home(v) {
                pinned |= bit(r);
            }
        }
        self.open += 1;
        let (moved, evicted, slots) = (Vec::new(), Vec::new(), Vec::new());
        Prep { start: self.tape.len(), busy: self.busy, pinned, moved, evicted, slots }
    }

    /// What has been done for the preparation so far.
    pub(super) fn taped(&self, prep: &Prep) -> &[(Inst, bool)] {
        self.tape.get(prep.start..).unwrap_or(&[])
    }

    /// Undoes a preparation; with `emit`, by instructions.
    pub(super) fn finish(&mut self, prep: Prep, emit: bool) -> Result<(), LowerError> {
        self.finish_until(prep, self.tape.len(), emit)
    }

    /// Undoes the part of a preparation that was taped up to `end`.
    pub(super) fn finish_until(&mut self, prep: Prep, end: usize, emit: bool) -> Result<(), LowerError> {
        let taped: Vec<(Inst, bool)> = self.tape.get(prep.start..end).unwrap_or(&[]).to_vec();
        if emit {
            for (inst, frame) in taped.into_iter().rev() {
                self.aux(inst.inverse(), frame);
            }
        }
        self.open = self.open.saturating_sub(1);
        if self.open == 0 {
            self.tape.clear();
        }
        self.busy = prep.busy;
        for (r, v) in prep.evicted.into_iter().rev() {
            self.occupant[r] = Some(v);
        }
        for (v, home) in prep.moved.into_iter().rev() {
            self.homes[v.0 as usize] = home;
        }
        self.spare.extend(prep.slots);
        Ok(())
    }

    /// A word of the frame for the time of a preparation.
    pub(super) fn slot(&mut self, prep: &mut Prep) -> i64 {
        let slot = self.spare.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        });
        prep.slots.push(slot);
        slot
    }

    /// The address of a word of the frame.
    pub(super) fn frame(&self, slot: i64) -> Addr {
        let base = if self.linear.moves_sp { reg(FRAME) } else { Reg::SP };
        Addr { base, index: Reg::ZERO, offset: slot, frame: true }
    }

    /// Notes that a word is elsewhere for the time of a preparation.
    pub(super) fn moves(&mut self, prep: &mut Prep, v: VReg, to: Home) {
        prep.moved.push((v, self.home(v)));
        if let Some(home) = self.homes.get_mut(v.0 as usize) {
            *home = to;
        }
    }

    /// A register that is zero.
    pub(super) fn temp(&mut self, prep: &mut Prep) -> Result<Reg, LowerError> {
        let all = 1..=REGISTERS as u8;
        if let Some(r) = all.clone().find(|r| self.busy & bit(*r) == 0) {
            self.busy |= bit(r);
            return Ok(reg(r));
        }
        let victim = all.rev().find(|r| prep.pinned & bit(*r) == 0 && self.occupant[usize::from(*r)].is_some());
        let Some((r, Some(v))) = victim.map(|r| (r, self.occupant[usize::from(r)])) else {
            return Err(LowerError::Internal("no register is free".into()));
        };
        let slot = self.slot(prep);
        self.exchange(reg(r), self.frame(slot))?;
        self.occupant[usize::from(r)] = None;
        prep.evicted.push((usize::from(r), v));
        prep.pinned |= bit(r);
        self.moves(prep, v, Home::Slot(slot));
        Ok(reg(r))
    }

    /// `exch`, as a preparation.
    pub(super) fn exchange(&mut self, r: Reg, m: Addr) -> Result<(), LowerError> {
        self.aux_of(plain(Row::Exch, false), &[Operand::Reg(r), m.operand()], m.frame)
    }

    /// A register with a variable that addresses something.
    fn pointer(&mut self, prep: &mut Prep, v: VReg) -> Result<Reg, LowerError> {
        match self.home(v) {
            Home::Reg(r) => Ok(reg(r)),
            Home::Slot(slot) => {
                let m = self.frame(slot);
                let t = self.temp(prep)?;
                self.exchange(t, m)?;
                prep.pinned |= bit(t.number());
                self.moves(prep, v, Home::Reg(t.number()));
                Ok(t)
            }
        }
    }

    /// The operand's address, with what it needs in registers.
    pub(super) fn address(&mut self, prep: &mut Prep, word: &Word) -> Result<Addr, LowerError> {
        let mut regs = [Reg::ZERO; 2];
        for (n, v) in [word.base, word.index].into_iter().flatten().enumerate() {
            regs[n] = self.pointer(prep, v)?;
        }
        let [mut base, mut index] = regs;
        let mut offset = word.offset;
        if !(pendula_isa::inst::OFFSET_MIN..=pendula_isa::inst::OFFSET_MAX).contains(&offset) {
            let t = self.temp(prep)?;
            let constant = Operand::Imm(offset.cast_unsigned(), Ty::Int);
            self.aux_of(accumulate(Acc::Add, Ty::Int), &[Operand::Reg(t), constant], false)?;
            if index != Reg::ZERO {
                self.aux_of(accumulate(Acc::Add, Ty::Int), &[Operand::Reg(t), Operand::Reg(index)], false)?;
            }
            (index, offset) = (t, 0);
            if base == Reg::ZERO {
                (base, index) = (index, base);
            }
        }
        Ok(Addr { base, index, offset, frame: false })
    }

    /// Where an operand is. Memory operands first: what they bring into registers is there for the others.
    pub(super) fn find(&mut self, mut prep: Prep, arg: Arg) -> Result<(Found, Prep), LowerError> {
        let found = match arg {
            Arg::Const(c) => Found::Const(c),
            Arg::Mem(word) => Found::Mem(self.address(&mut prep, &word)?),
            Arg::Reg(v) => match self.home(v) {
                Home::Reg(r) => Found::Reg(reg(r)),
                Home::Slot(slot) => Found::Mem(self.frame(slot)),
            },
        };
        Ok((found, prep))
    }

    /// The operand in a register, brought there by `exch`.
    pub(super) fn bring(&mut self, prep: &mut Prep, found: Found) -> Result<Reg, LowerError> {
        match found {
            Found::Reg(r) => Ok(r),
            Found::Const(c) => self.constant(prep, Ty::Int, c),
            Found::Mem(m) => {
                let t = self.temp(prep)?;
                self.exchange(t, m)?;
                Ok(t)
            }
        }
    }

    /// A register with a constant; one of a type with gradients drops what it has taken up.
    pub(super) fn constant(&mut self, prep: &mut Prep, ty: Ty, word: u64) -> Result<Reg, LowerError> {
        if word == 0 {
            return Ok(Reg::ZERO);
        }
        let t = self.temp(prep)?;
        self.fill(t, ty, word)?;
        Ok(t)
    }

    /// Puts a constant into a register that is zero.
    pub(super) fn fill(&mut self, t: Reg, ty: Ty, word: u64) -> Result<(), LowerError> {
        self.drop_gradient(t, ty)?;
        if word != 0 {
            self.aux_of(accumulate(Acc::Add, Ty::Int), &[Operand::Reg(t), Operand::Imm(word, Ty::Int)], false)?;
        }
        Ok(())
    }

    /// Copies an operand into a register that is zero.
    pub(super) fn duplicate(&mut self, t: Reg, ty: Ty, from: Found) -> Result<(), LowerError> {
        self.drop_gradient(t, ty)?;
        let (operand, frame) = match from {
            Found::Reg(r) => (Operand::Reg(r), false),
            Found::Const(c) => (Operand::Imm(c, ty), false),
            Found::Mem(m) => (m.operand(), m.frame),
        };
        let acc = if ty == Ty::L { Acc::Mul } else { Acc::Add };
        self.aux_of(accumulate(acc, ty), &[Operand::Reg(t), operand], frame)
    }

    /// A register with a copy of a memory word; its gradient goes back to the word.
    pub(super) fn copy(&mut self, prep: &mut Prep, ty: Ty, m: Addr) -> Result<Reg, LowerError> {
        let t = self.temp(prep)?;
        self.duplicate(t, ty, Found::Mem(m))?;
        Ok(t)
    }

    fn drop_gradient(&mut self, t: Reg, ty: Ty) -> Result<(), LowerError> {
        if ty == Ty::Int {
            return Ok(());
        }
        self.aux_of(plain(Row::Zero, false), &[Operand::Reg(t)], false)
    }
}

/// The accumulate of a word as it is.
pub(super) const fn accumulate(acc: Acc, ty: Ty) -> Kind {
    use pendula_isa::table::{TableFn, f_fn, l_fn, q_fn};
    let func = match ty {
        Ty::Int => INT,
        Ty::Q => TableFn::Q(q_fn::Name::Id),
        Ty::L => TableFn::L(l_fn::Name::Id),
        Ty::F => TableFn::F(f_fn::Name::Id),
    };
    Kind::Accumulate { acc, inverse: false, func, shape: pendula_isa::operand::Shape::RR }
}
