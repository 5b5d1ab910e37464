//! The state that instructions work on, and [`Ctx`], the interpreter's
//! [`Domain`] and [`Carrier`]: machine words, and in lanes what they carry with
//! them. Control is not here; see `machine`.

use std::marker::PhantomData;

use pendula_isa::adjoint::{AdMode, Carrier, GRADIENT, LANES, VALUE};
use pendula_isa::domain::Domain;
use pendula_isa::num::Word;
use pendula_isa::operand::Slot;
use pendula_isa::table::{Instruction, Variant};
use pendula_isa::types::{Reg, Ty};
use pendula_isa::{Env, Fault};

use crate::cells::Cells;
use crate::decode::Op;

/// Something a running program shows to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// `show`: a word and how to read it.
    Show(Ty, u64),
    /// `print`: the index of a text of the module.
    Print(u32),
    /// `emit`, in the profile `pisa`: a word that goes to the output tape, running forward.
    Emit(u64),
}

/// What a run noticed without stopping. Not part of the state: round trips do not compare it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// The address of the first instruction at which a fixed-point number overflowed and wrapped.
    pub overflow: Option<u32>,
    /// That of the first at which what words carry did: a gradient word, a tangent.
    pub carried: Option<u32>,
    /// The address of the first `zero.f` that cleared a number other than +0.0.
    pub inexact: Option<u32>,
    /// All such numbers.
    pub rests: Rests,
}

/// The rests of rounding that `zero.f` cleared: none lay beyond its bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rests {
    /// How many there were.
    pub count: u64,
    /// The bits of the largest magnitude.
    largest: u64,
}

impl Rests {
    /// The largest magnitude.
    pub fn largest(self) -> f64 {
        f64::from_bits(self.largest)
    }

    /// These and others.
    #[must_use]
    pub fn and(self, other: Rests) -> Rests {
        // Doubles of one sign have the order of their bits.
        Rests { count: self.count.saturating_add(other.count), largest: self.largest.max(other.largest) }
    }

    /// One more, by its bits.
    fn add(&mut self, bits: u64) {
        *self = self.and(Rests { count: 1, largest: bits & !(1 << 63) });
    }
}

/// The callback that receives what a program shows.
pub(crate) type Listener = Box<dyn FnMut(Event) + Send>;

/// The words that registers, memory and output tape carry in one lane beside their values.
pub(crate) struct Lane {
    pub(crate) regs: [u64; Reg::COUNT],
    /// As long as the memory once a run or a `gswap` has asked for the lane; before that empty, and all its words zero.
    pub(crate) mem: Vec<u64>,
    pub(crate) output: Vec<u64>,
}

impl Lane {
    pub(crate) const EMPTY: Lane = Lane { regs: [0; Reg::COUNT], mem: Vec::new(), output: Vec::new() };

    /// Whether every word is zero.
    pub(crate) fn is_clear(&self) -> bool {
        self.regs == [0; Reg::COUNT] && self.mem.iter().chain(&self.output).all(|w| *w == 0)
    }

    /// Makes room for a memory of this many words.
    pub(crate) fn allocate(&mut self, words: usize) {
        if self.mem.len() != words {
            self.mem = vec![0; words];
        }
    }
}

/// What becomes of the gradient words that `zero` drops.
#[derive(Clone, Debug, Default)]
pub(crate) enum Dropped {
    /// They are lost.
    #[default]
    Lost,
    /// They are kept.
    Kept(Records),
    /// They come back from where they were kept.
    Returned(Records),
}

/// What was dropped from each lane. A stack of its own for each: a run at level 2 back over one at level 1 takes the gradient words
/// that were kept, and finds nothing kept of the lanes that the run at level 1 had not.
pub(crate) type Records = [Record; LANES - 1];

/// A stack of words most of which are zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    /// Words that are not zero, with the number of zeros before each.
    words: Vec<(u64, u64)>,
    /// Zeros after the last of them.
    zeros: u64,
}

impl Record {
    fn push(&mut self, word: u64) {
        if word == 0 {
            self.zeros += 1;
        } else {
            self.words.push((self.zeros, word));
            self.zeros = 0;
        }
    }

    fn pop(&mut self) -> u64 {
        if let Some(zeros) = self.zeros.checked_sub(1) {
            self.zeros = zeros;
            return 0;
        }
        let Some((zeros, word)) = self.words.pop() else { return 0 };
        self.zeros = zeros;
        word
    }

    /// How many words it holds that are not zero.
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }
}

/// Registers, memory, tapes.
pub(crate) struct Core {
    pub(crate) regs: [u64; Reg::COUNT],
    pub(crate) mem: Vec<u64>,
    /// Lanes 1 to 3.
    pub(crate) lanes: [Lane; LANES - 1],
    pub(crate) ad_mode: AdMode,
    pub(crate) dropped: Dropped,
    pub(crate) env: Env,
    pub(crate) output: Vec<u64>,
    pub(crate) input: Vec<u64>,
    /// How many words of the input tape have been read.
    pub(crate) read: usize,
    /// The branch register: how far on the next instruction is; 0 for the one that follows.
    pub(crate) br: i32,
    /// The cells that lie beyond the memory, and which of those in it hold instructions.
    pub(crate) cells: Cells,
    pub(crate) forward: bool,
    /// Whether `show` shows in a run backward, too.
    pub(crate) shows_back: bool,
    pub(crate) checks: bool,
    pub(crate) trap_overflow: bool,
    /// Where among the decoded instructions a fixed-point number wrapped first, in bytes and one more; 0 for nowhere.
    pub(crate) overflow_op: usize,
    /// Where what words carry wrapped first; 0 for nowhere.
    pub(crate) carried_op: usize,
    /// Where `zero.f` first cleared a number other than +0.0; 0 for nowhere.
    pub(crate) inexact_op: usize,
    pub(crate) rests: Rests,
    /// Bits destroyed by each instruction; empty while there are none.
    pub(crate) lost: Vec<u64>,
    /// Where the decoded instructions begin in the host's memory: with it a noted one is found again.
    pub(crate) base: usize,
    pub(crate) instructions: u32,
    /// After a fault: how many instructions of the slice that was to run have not run.
    pub(crate) pending: usize,
    pub(crate) listener: Option<Listener>,
}

impl Core {
    #[inline(always)]
    pub(crate) fn reg(&self, number: u8) -> u64 {
        self.regs[(number & 31) as usize]
    }

    #[inline(always)]
    pub(crate) fn load(&self, address: u64) -> Word {
        match usize::try_from(address).ok().and_then(|a| self.mem.get(a)) {
            Some(&w) => Ok(w),
            None => Err(Fault::Memory),
        }
    }

    #[inline(always)]
    pub(crate) fn store(&mut self, address: u64, word: u64) -> Result<(), Fault> {
        match usize::try_from(address).ok().and_then(|a| self.mem.get_mut(a)) {
            Some(w) => {
                *w = word;
                Ok(())
            }
            None => Err(Fault::Memory),
        }
    }

    /// The word in the cell at an address modulo 2^32.
    #[inline(always)]
    pub(crate) fn cell(&self, address: u64) -> Word {
        let at = address as u32;
        if self.cells.is_code(at) {
            return Err(Fault::ExchangesCode);
        }
        Ok(self.mem.get(at as usize).copied().unwrap_or_else(|| self.cells.get(at)))
    }

    /// Writes a cell whose word was asked for.
    #[inline(always)]
    pub(crate) fn set_cell(&mut self, address: u64, word: u64) {
        let at = address as u32;
        match self.mem.get_mut(at as usize) {
            Some(w) => *w = word,
            None => self.cells.set(at, word),
        }
    }

    /// The word at an address in a lane other than the value's; zero where the lane has none.
    #[inline(always)]
    pub(crate) fn lane_load(&self, lane: usize, address: u64) -> u64 {
        usize::try_from(address).ok().and_then(|a| self.lanes[lane - 1].mem.get(a)).copied().unwrap_or(0)
    }

    #[inline(always)]
    pub(crate) fn lane_store(&mut self, lane: usize, address: u64, word: u64) {
        if let Some(w) = usize::try_from(address).ok().and_then(|a| self.lanes[lane - 1].mem.get_mut(a)) {
            *w = word;
        }
    }

    /// Makes room for what the AD mode carries.
    pub(crate) fn allocate(&mut self, ad_mode: AdMode) {
        for &lane in ad_mode.lanes() {
            self.lanes[lane - 1].allocate(self.mem.len());
        }
    }

    /// The address of the instruction noted as `op`.
    fn place(&self, op: usize) -> u32 {
        let offset = (op - 1) / size_of::<Op>();
        let n = self.instructions as usize;
        // The second half of the decoded program is the code in reverse order.
        (if offset < n { offset } else { 2 * n - 1 - offset }) as u32
    }

    /// What the run noticed.
    pub(crate) fn flags(&self) -> Flags {
        let first = |op: usize| (op != 0).then(|| self.place(op));
        Flags {
            overflow: first(self.overflow_op),
            carried: first(self.carried_op),
            inexact: first(self.inexact_op),
            rests: self.rests,
        }
    }

    /// An instruction as it is noted.
    #[inline(always)]
    fn note(&self, op: &Op) -> usize {
        std::ptr::from_ref(op).addr().wrapping_sub(self.base) + 1
    }

    /// A word was destroyed at `op`.
    #[cold]
    #[inline(never)]
    fn lose(&mut self, op: &Op) {
        let at = self.place(self.note(op)) as usize;
        self.lost.resize(self.instructions as usize, 0);
        if let Some(bits) = self.lost.get_mut(at) {
            *bits += 64;
        }
    }

    /// `zero.f` clears this number at `op`. A call, so that the handlers save no registers for it.
    #[inline(never)]
    fn lose_rest(&mut self, op: &Op, v: u64) {
        self.lose(op);
        self.rests.add(v);
        if self.inexact_op == 0 {
            self.inexact_op = self.note(op);
        }
    }

    /// A fixed-point number wrapped at `op`, one that words carry if `carried`. No call from here: handlers would have to save registers
    /// for it.
    #[inline(always)]
    fn overflowed(&mut self, op: &Op, carried: bool) -> Result<(), Fault> {
        if self.trap_overflow {
            return Err(Fault::FixedOverflow);
        }
        if self.checks && self.overflow_op == 0 {
            self.overflow_op = self.note(op);
        }
        if carried && self.checks && self.carried_op == 0 {
            self.carried_op = self.note(op);
        }
        Ok(())
    }

    /// Whether a fixed-point number that wraps is nothing to note any more, nor to stop for.
    #[cfg(any(feature = "jit", feature = "native"))]
    pub(crate) fn is_quiet(&self) -> bool {
        let noted = self.overflow_op != 0 && (self.ad_mode == AdMode::Plain || self.carried_op != 0);
        !self.trap_overflow && (!self.checks || noted)
    }
}

/// Where a handler's operands lie.
pub(crate) trait Operands: 'static {
    /// Operand `n`. Where it is known when the handler is compiled, `op` does not matter.
    fn slot(op: &Op, n: usize) -> Slot;
}

/// One instruction at work on the state.
pub(crate) struct Ctx<'a, O> {
    pub(crate) core: &'a mut Core,
    pub(crate) op: &'a Op,
    /// The lane that operands, memory and tapes are taken from, and for another than the value's the stack pointer.
    /// Known where it is made, so that handlers are compiled for it.
    pub(crate) lane: usize,
    /// Whether what is computed is for the lanes, from the words of this one.
    pub(crate) derived: bool,
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
        (self.op.regs[n as usize] & 31) as usize
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

    /// The word in a lane, not the value's, of an operand.
    #[inline(always)]
    fn lane_of(&self, lane: usize, slot: Slot) -> u64 {
        match slot {
            Slot::Reg(f) | Slot::Target(f) => self.core.lanes[lane - 1].regs[self.number(f)],
            slot => self.core.lane_load(lane, self.address(slot)),
        }
    }

    #[inline(always)]
    fn set_lane_of(&mut self, lane: usize, slot: Slot, v: u64) {
        match slot {
            Slot::Reg(f) | Slot::Target(f) => {
                let number = self.number(f);
                let regs = &mut self.core.lanes[lane - 1].regs;
                regs[number] = v;
                regs[0] = 0;
            }
            slot => {
                let address = self.address(slot);
                self.core.lane_store(lane, address, v);
            }
        }
    }

    #[inline(always)]
    fn on_value(&self) -> bool {
        self.lane == VALUE
    }
}

impl<O: Operands> Domain for Ctx<'_, O> {
    type V = u64;
    type Stop = Fault;

    pendula_isa::plain_arithmetic!();

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
            // A small constant belongs to control, which has no body.
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
    fn gradient(&mut self, n: usize) -> Word {
        let lane = self.core.ad_mode.gradient_of(self.lane).ok_or(Fault::GradientLevel)?;
        // A `gswap` may be the first to ask for the lane.
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
    fn env(&self) -> Env {
        self.core.env
    }

    #[inline(always)]
    fn wrapping2<K>(&mut self, k: K, a: u64, b: u64) -> Word
    where
        K: Fn(Env, u64, u64) -> (u64, bool) + Copy + 'static,
    {
        let (word, overflow) = k(self.core.env, a, b);
        if overflow {
            self.core.overflowed(self.op, self.derived)?;
        }
        Ok(word)
    }

    #[inline(always)]
    fn wrapping3<K>(&mut self, k: K, a: u64, b: u64, c: u64) -> Word
    where
        K: Fn(Env, u64, u64, u64) -> (u64, bool) + Copy + 'static,
    {
        let (word, overflow) = k(self.core.env, a, b, c);
        if overflow {
            self.core.overflowed(self.op, self.derived)?;
        }
        Ok(word)
    }

    #[inline(always)]
    fn wrapping_pair<K>(&mut self, k: K, x: [u64; 4]) -> Result<[u64; 2], Fault>
    where
        K: Fn(Env, [u64; 4]) -> ([u64; 2], bool) + Copy + 'static,
    {
        let (words, overflow) = k(self.core.env, x);
        if overflow {
            self.core.overflowed(self.op, self.derived)?;
        }
        Ok(words)
    }

    #[inline(always)]
    fn check(&mut self, ok: u64, fault: Fault) -> Result<(), Fault> {
        if ok == 0 && self.core.checks && self.on_value() { Err(fault) } else { Ok(()) }
    }

    #[inline(always)]
    fn require(&mut self, ok: u64, fault: Fault) -> Result<(), Fault> {
        if ok == 0 && self.on_value() { Err(fault) } else { Ok(()) }
    }

    fn lose(&mut self, _: u64) {
        self.core.lose(self.op);
    }

    fn lose_inexact(&mut self, v: u64) {
        if v != 0 {
            self.core.lose_rest(self.op, v);
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
        let tape = &mut core.lanes[self.lane - 1].output;
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
            Ok(self.core.lanes[self.lane - 1].output.get(self.core.output.len()).copied().unwrap_or(0))
        }
    }

    fn unemit(&mut self, v: u64) {
        if self.lane == VALUE {
            self.core.output.pop();
        } else {
            let at = self.core.output.len();
            let tape = &mut self.core.lanes[self.lane - 1].output;
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

    fn drop_lanes(&mut self, n: usize) {
        let lanes = self.core.ad_mode.lanes();
        let slot = O::slot(self.op, n);
        for &lane in lanes {
            let word = self.lane_of(lane, slot);
            let left = match &mut self.core.dropped {
                Dropped::Kept(records) => {
                    records[lane - 1].push(word);
                    0
                }
                Dropped::Returned(records) => {
                    let old = records[lane - 1].pop();
                    // Whatever was there is lost instead.
                    if word != 0 {
                        self.core.lose(self.op);
                    }
                    old
                }
                Dropped::Lost => {
                    // Tangents are no part of the machine that is modelled.
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
