//! Brings the operands of an instruction to where it can take them, and back after it.
//!
//! An operand that an instruction cannot take where it is, is brought into a free register before the instruction and
//! back after it. Free registers are zero, so an `exch` does either. What is done before an instruction is recorded on a
//! tape; after the instruction the tape is played back inverted. If no register is free, a word that the instruction
//! does not need is exchanged to the frame meanwhile.

use pendula_isa::operand::Operand;
use pendula_isa::table::Row;
use pendula_isa::{Acc, Inst, Reg, Ty};

use super::LowerError;
use super::alloc::{Location, REGISTERS};
use super::emit::{Emitter, FRAME, accumulate, bit, plain, reg};
use super::ops::{Arg, VReg, Word};

/// A memory operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Addr {
    pub(super) base: Reg,
    pub(super) index: Reg,
    pub(super) offset: i64,
    pub(super) frame: bool,
}

/// An operand and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoundOperand {
    Reg(Reg),
    Const(u64),
    Mem(Addr),
}

/// What has been moved for an instruction, to be moved back after it.
pub(super) struct Preparation {
    /// The first entry of its tape.
    start: usize,
    busy: u32,
    /// Registers that the instruction needs unchanged.
    pinned: u32,
    moved: Vec<(VReg, Location)>,
    evicted: Vec<(usize, VReg)>,
    slots: Vec<i64>,
}

impl Addr {
    pub(super) fn operand(self) -> Operand {
        Operand::Mem { base: self.base, index: self.index, offset: self.offset }
    }
}

impl Emitter<'_> {
    /// Begins to prepare an instruction with these operands.
    pub(super) fn prep(&mut self, args: &[Arg]) -> Preparation {
        let mut pinned = 0;
        for v in args.iter().flat_map(Arg::regs) {
            if let Location::Reg(r) = self.location(v) {
                pinned |= bit(r);
            }
        }
        self.open += 1;
        let (moved, evicted, slots) = (Vec::new(), Vec::new(), Vec::new());
        Preparation { start: self.tape.len(), busy: self.busy, pinned, moved, evicted, slots }
    }

    /// The instructions of a preparation so far.
    pub(super) fn recorded(&self, prep: &Preparation) -> &[(Inst, bool)] {
        self.tape.get(prep.start..).unwrap_or(&[])
    }

    /// Undoes a preparation; with `emit`, also emits the instructions that undo it.
    pub(super) fn finish(&mut self, prep: Preparation, emit: bool) -> Result<(), LowerError> {
        self.finish_until(prep, self.tape.len(), emit)
    }

    /// Undoes the part of a preparation that was recorded up to `end`.
    pub(super) fn finish_until(&mut self, prep: Preparation, end: usize, emit: bool) -> Result<(), LowerError> {
        let recorded: Vec<(Inst, bool)> = self.tape.get(prep.start..end).unwrap_or(&[]).to_vec();
        if emit {
            for (inst, frame) in recorded.into_iter().rev() {
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
        for (v, location) in prep.moved.into_iter().rev() {
            self.locations[v.0 as usize] = location;
        }
        self.free_slots.extend(prep.slots);
        Ok(())
    }

    /// A word of the frame for the duration of a preparation.
    pub(super) fn slot(&mut self, prep: &mut Preparation) -> i64 {
        let slot = self.free_slots.pop().unwrap_or_else(|| {
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

    /// Notes that a word is elsewhere for the duration of a preparation.
    pub(super) fn moves(&mut self, prep: &mut Preparation, v: VReg, to: Location) {
        prep.moved.push((v, self.location(v)));
        if let Some(location) = self.locations.get_mut(v.0 as usize) {
            *location = to;
        }
    }

    /// A register that is zero.
    pub(super) fn temp(&mut self, prep: &mut Preparation) -> Result<Reg, LowerError> {
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
        self.moves(prep, v, Location::Slot(slot));
        Ok(reg(r))
    }

    /// Emits an `exch` as part of a preparation.
    pub(super) fn exchange(&mut self, r: Reg, m: Addr) -> Result<(), LowerError> {
        self.aux_of(plain(Row::Exch, false), &[Operand::Reg(r), m.operand()], m.frame)
    }

    /// A register with a variable of an address.
    fn pointer(&mut self, prep: &mut Preparation, v: VReg) -> Result<Reg, LowerError> {
        match self.location(v) {
            Location::Reg(r) => Ok(reg(r)),
            Location::Slot(slot) => {
                let m = self.frame(slot);
                let t = self.temp(prep)?;
                self.exchange(t, m)?;
                prep.pinned |= bit(t.number());
                self.moves(prep, v, Location::Reg(t.number()));
                Ok(t)
            }
        }
    }

    /// The address of a word of memory, with its variables in registers.
    pub(super) fn address(&mut self, prep: &mut Preparation, word: &Word) -> Result<Addr, LowerError> {
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

    /// Finds an operand. Memory operands must come first, since they bring variables into registers, where the others find
    /// them.
    pub(super) fn find(&mut self, mut prep: Preparation, arg: Arg) -> Result<(FoundOperand, Preparation), LowerError> {
        let found = match arg {
            Arg::Const(c) => FoundOperand::Const(c),
            Arg::Mem(word) => FoundOperand::Mem(self.address(&mut prep, &word)?),
            Arg::Reg(v) => match self.location(v) {
                Location::Reg(r) => FoundOperand::Reg(reg(r)),
                Location::Slot(slot) => FoundOperand::Mem(self.frame(slot)),
            },
        };
        Ok((found, prep))
    }

    /// The operand in a register, brought there by `exch`.
    pub(super) fn bring(&mut self, prep: &mut Preparation, found: FoundOperand) -> Result<Reg, LowerError> {
        match found {
            FoundOperand::Reg(r) => Ok(r),
            FoundOperand::Const(c) => self.constant(prep, Ty::Int, c),
            FoundOperand::Mem(m) => {
                let t = self.temp(prep)?;
                self.exchange(t, m)?;
                Ok(t)
            }
        }
    }

    /// A register with a constant. If its type has gradients, the register's gradient word is dropped.
    pub(super) fn constant(&mut self, prep: &mut Preparation, ty: Ty, word: u64) -> Result<Reg, LowerError> {
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
    pub(super) fn duplicate(&mut self, t: Reg, ty: Ty, from: FoundOperand) -> Result<(), LowerError> {
        self.drop_gradient(t, ty)?;
        let (operand, frame) = match from {
            FoundOperand::Reg(r) => (Operand::Reg(r), false),
            FoundOperand::Const(c) => (Operand::Imm(c, ty), false),
            FoundOperand::Mem(m) => (m.operand(), m.frame),
        };
        let acc = if ty == Ty::L { Acc::Mul } else { Acc::Add };
        self.aux_of(accumulate(acc, ty), &[Operand::Reg(t), operand], frame)
    }

    /// A register with a copy of a memory word; its gradient goes back to the word.
    pub(super) fn copy(&mut self, prep: &mut Preparation, ty: Ty, m: Addr) -> Result<Reg, LowerError> {
        let t = self.temp(prep)?;
        self.duplicate(t, ty, FoundOperand::Mem(m))?;
        Ok(t)
    }

    fn drop_gradient(&mut self, t: Reg, ty: Ty) -> Result<(), LowerError> {
        if ty == Ty::Int {
            return Ok(());
        }
        self.aux_of(plain(Row::Zero, false), &[Operand::Reg(t)], false)
    }
}
