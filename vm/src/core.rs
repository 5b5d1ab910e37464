//! The state that instructions work on, and [`Ctx`], the interpreter's
//! [`Domain`]: machine words. Control is not here; see `machine`.

use std::marker::PhantomData;

use pendula_isa::domain::Domain;
use pendula_isa::num::{Word, float, log};
use pendula_isa::operand::{Layout, Slot};
use pendula_isa::types::{Cond, Reg, Ty};
use pendula_isa::{Env, Fault};

use crate::decode::Op;

/// Something a running program shows to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// `show`: a word and how to read it.
    Show(Ty, u64),
    /// `print`: the index of a text of the module.
    Print(u32),
}

/// What a run noticed without stopping. Not part of the state: round trips do not compare it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// The address of the first instruction at which a fixed-point number overflowed and wrapped.
    pub overflow: Option<u32>,
    /// The address of the first `zero.f` that cleared a number other than +0.0.
    pub inexact: Option<u32>,
}

/// The callback that receives what a program shows.
pub(crate) type Listener = Box<dyn FnMut(Event) + Send>;

/// Registers, memory, tapes.
pub(crate) struct Core {
    pub(crate) regs: [u64; Reg::COUNT],
    pub(crate) mem: Vec<u64>,
    pub(crate) env: Env,
    pub(crate) output: Vec<u64>,
    pub(crate) input: Vec<u64>,
    /// How many words of the input tape have been read.
    pub(crate) read: usize,
    pub(crate) forward: bool,
    pub(crate) checks: bool,
    pub(crate) trap_overflow: bool,
    /// Where among the decoded instructions a fixed-point number wrapped first; 0 for nowhere.
    pub(crate) overflow_op: usize,
    /// Where `zero.f` first cleared a number other than +0.0; 0 for nowhere.
    pub(crate) inexact_op: usize,
    pub(crate) lost_bits: u64,
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

    /// The address of the instruction at this place among the decoded ones.
    fn place(&self, op: usize) -> u32 {
        let offset = op.wrapping_sub(self.base) / size_of::<Op>();
        let n = self.instructions as usize;
        // The second half of the decoded program is the code in reverse order.
        (if offset < n { offset } else { 2 * n - 1 - offset }) as u32
    }

    /// What the run noticed.
    pub(crate) fn flags(&self) -> Flags {
        let first = |op: usize| (op != 0).then(|| self.place(op));
        Flags { overflow: first(self.overflow_op), inexact: first(self.inexact_op) }
    }

    /// A fixed-point number wrapped at `op`. No call from here: handlers would have to save registers for it.
    #[inline(always)]
    fn overflowed(&mut self, op: &Op) -> Result<(), Fault> {
        if self.trap_overflow {
            return Err(Fault::FixedOverflow);
        }
        if self.checks && self.overflow_op == 0 {
            self.overflow_op = std::ptr::from_ref(op).addr();
        }
        Ok(())
    }
}

/// Where a handler's operands lie, known when it is compiled.
pub(crate) trait Operands: 'static {
    /// The layout.
    const SLOTS: Layout;
}

/// One instruction at work on the state.
pub(crate) struct Ctx<'a, O> {
    pub(crate) core: &'a mut Core,
    pub(crate) op: &'a Op,
    pub(crate) operands: PhantomData<O>,
}

impl<O: Operands> Ctx<'_, O> {
    #[inline(always)]
    fn field(&self, n: u8) -> u64 {
        self.core.reg(self.op.regs[n as usize])
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
}

impl<O: Operands> Domain for Ctx<'_, O> {
    type V = u64;
    type Stop = Fault;

    #[inline(always)]
    fn operand(&mut self, n: usize) -> Word {
        const FACTOR: u64 = pendula_isa::inst::FACTOR_MAX.cast_unsigned();
        let imm = self.op.imm.cast_unsigned();
        match O::SLOTS[n] {
            Slot::Reg(f) | Slot::Target(f) => Ok(self.field(f)),
            slot @ (Slot::Mem(_) | Slot::TargetMem(_) | Slot::MemPlain(_) | Slot::TargetMemPlain(_)) => {
                self.core.load(self.address(slot))
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
        match O::SLOTS[n] {
            Slot::Target(f) => {
                self.core.regs[(self.op.regs[f as usize] & 31) as usize] = v;
                Ok(())
            }
            slot => self.core.store(self.address(slot), v),
        }
    }

    #[inline(always)]
    fn load(&mut self, a: u64) -> Word {
        self.core.load(a)
    }

    #[inline(always)]
    fn store(&mut self, a: u64, v: u64) -> Result<(), Fault> {
        self.core.store(a, v)
    }

    #[inline(always)]
    fn sp(&mut self) -> u64 {
        self.core.regs[Reg::SP.index()]
    }

    #[inline(always)]
    fn set_sp(&mut self, v: u64) {
        self.core.regs[Reg::SP.index()] = v;
    }

    #[inline(always)]
    fn env(&self) -> Env {
        self.core.env
    }

    #[inline(always)]
    fn word(&mut self, k: u64) -> u64 {
        k
    }

    #[inline(always)]
    fn add(&mut self, a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }

    #[inline(always)]
    fn sub(&mut self, a: u64, b: u64) -> u64 {
        a.wrapping_sub(b)
    }

    #[inline(always)]
    fn mul(&mut self, a: u64, b: u64) -> u64 {
        a.wrapping_mul(b)
    }

    #[inline(always)]
    fn and(&mut self, a: u64, b: u64) -> u64 {
        a & b
    }

    #[inline(always)]
    fn or(&mut self, a: u64, b: u64) -> u64 {
        a | b
    }

    #[inline(always)]
    fn xor(&mut self, a: u64, b: u64) -> u64 {
        a ^ b
    }

    #[inline(always)]
    fn not(&mut self, a: u64) -> u64 {
        !a
    }

    #[inline(always)]
    fn shl(&mut self, a: u64, n: u64) -> u64 {
        a << (n & 63)
    }

    #[inline(always)]
    fn shr(&mut self, a: u64, n: u64) -> u64 {
        a >> (n & 63)
    }

    #[inline(always)]
    fn sar(&mut self, a: u64, n: u64) -> u64 {
        (a.cast_signed() >> (n & 63)).cast_unsigned()
    }

    #[inline(always)]
    fn rol(&mut self, a: u64, n: u64) -> u64 {
        a.rotate_left((n & 63) as u32)
    }

    #[inline(always)]
    fn ror(&mut self, a: u64, n: u64) -> u64 {
        a.rotate_right((n & 63) as u32)
    }

    #[inline(always)]
    fn eq(&mut self, a: u64, b: u64) -> u64 {
        u64::from(a == b)
    }

    #[inline(always)]
    fn lt(&mut self, a: u64, b: u64) -> u64 {
        u64::from(a.cast_signed() < b.cast_signed())
    }

    #[inline(always)]
    fn ltu(&mut self, a: u64, b: u64) -> u64 {
        u64::from(a < b)
    }

    #[inline(always)]
    fn select(&mut self, c: u64, a: u64, b: u64) -> u64 {
        if c != 0 { a } else { b }
    }

    #[inline(always)]
    fn kernel1<K>(&mut self, k: K, a: u64) -> Word
    where
        K: Fn(Env, u64) -> Word + Copy + 'static,
    {
        k(self.core.env, a)
    }

    #[inline(always)]
    fn kernel2<K>(&mut self, k: K, a: u64, b: u64) -> Word
    where
        K: Fn(Env, u64, u64) -> Word + Copy + 'static,
    {
        k(self.core.env, a, b)
    }

    #[inline(always)]
    fn kernel_pair<K>(&mut self, k: K, x: [u64; 4]) -> Result<[u64; 2], Fault>
    where
        K: Fn(Env, [u64; 4]) -> Result<[u64; 2], Fault> + Copy + 'static,
    {
        k(self.core.env, x)
    }

    #[inline(always)]
    fn wrapping2<K>(&mut self, k: K, a: u64, b: u64) -> Word
    where
        K: Fn(Env, u64, u64) -> (u64, bool) + Copy + 'static,
    {
        let (word, overflow) = k(self.core.env, a, b);
        if overflow {
            self.core.overflowed(self.op)?;
        }
        Ok(word)
    }

    #[inline(always)]
    fn compare(&mut self, c: Cond, ty: Ty, a: u64, b: u64) -> Word {
        compare(self.core.env, c, ty, a, b).map(u64::from)
    }

    #[inline(always)]
    fn check(&mut self, ok: u64, fault: Fault) -> Result<(), Fault> {
        if ok == 0 && self.core.checks { Err(fault) } else { Ok(()) }
    }

    #[inline(always)]
    fn require(&mut self, ok: u64, fault: Fault) -> Result<(), Fault> {
        if ok == 0 { Err(fault) } else { Ok(()) }
    }

    fn lose(&mut self, _: u64) {
        self.core.lost_bits += 64;
    }

    fn lose_inexact(&mut self, v: u64) {
        if v != 0 {
            self.core.lost_bits += 64;
            if self.core.inexact_op == 0 {
                self.core.inexact_op = std::ptr::from_ref(self.op).addr();
            }
        }
    }

    fn emit(&mut self, v: u64) -> Result<(), Fault> {
        if self.core.output.len() >= self.core.mem.len() {
            return Err(Fault::TapeFull);
        }
        self.core.output.push(v);
        Ok(())
    }

    fn last_emitted(&mut self) -> Word {
        self.core.output.last().copied().ok_or(Fault::NoOutput)
    }

    fn unemit(&mut self) {
        self.core.output.pop();
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
        if self.core.forward
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

/// Whether the condition holds between two words read as numbers of a type.
///
/// Errors: a word that is no logarithmic number; a NaN, unless `env.ieee`, when it is unordered.
#[inline(always)]
pub(crate) fn compare(env: Env, c: Cond, ty: Ty, a: u64, b: u64) -> Result<bool, Fault> {
    let order = match ty {
        Ty::Int if matches!(c, Cond::Ltu | Cond::Geu) => Some(a.cmp(&b)),
        Ty::Int | Ty::Q => Some(a.cast_signed().cmp(&b.cast_signed())),
        Ty::L => Some(log::compare(a, b)?),
        Ty::F => float::compare(env, a, b)?,
    };
    Ok(c.holds(order))
}
