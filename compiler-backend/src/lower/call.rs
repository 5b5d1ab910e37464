//! Calls and the passing of parameters.
//!
//! The first 20 words of a call are in `r1` to `r20`, the others in stack words below the link, the last one on top.
//! Exchanges move all words there, and are undone after the call. Constants are copied, and so are words that may be
//! needed twice. Words in registers that the callee uses are exchanged to the frame during the call.

use pendula_isa::operand::Operand;
use pendula_isa::table::Row;
use pendula_isa::{Acc, Inst, Reg, Ty};

use super::LowerError;
use super::alloc::{Location, REGISTERS};
use super::emit::{Emitter, accumulate, bit, plain, reg};
use super::operands::{Addr, Preparation};
use super::ops::{Arg, Call, VReg, Word};
use crate::ir::copies::{Passed, copies, is_reached};
use crate::ir::{FunctionId, Region};

/// The number of words that are passed in registers.
pub(super) const IN_REGISTERS: usize = 20;
/// The register of the first argument.
pub(super) const FIRST_ARGUMENT: u8 = 1;

/// The contents of a register while a call is prepared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RegisterUse {
    /// Nothing: it is zero.
    Free,
    /// A word that is not passed.
    Var(VReg),
    /// The word for this argument.
    Arg(usize),
}

/// Where the word for an argument is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ArgLocation {
    /// Where it was before; it has not been moved yet.
    Source,
    Reg(u8),
    Slot(i64),
    /// In its stack word.
    Stack,
}

struct CallSetup<'c> {
    call: &'c Call,
    prep: Preparation,
    types: Vec<Ty>,
    at: Vec<ArgLocation>,
    register_use: [RegisterUse; 32],
    /// The number of words that are passed in registers, and the number on the stack.
    registers: usize,
    extra: i64,
}

fn target(n: usize) -> u8 {
    FIRST_ARGUMENT + n as u8
}

impl Emitter<'_> {
    pub(super) fn call(&mut self, call: &Call) -> Result<(), LowerError> {
        let Some(callee) = self.context.program.functions.get(call.func as usize) else {
            return Err(LowerError::Internal("a function is missing".into()));
        };
        let count = call.args.len();
        let registers = count.min(IN_REGISTERS);
        let written: Vec<bool> = callee.params.iter().map(|p| p.written).collect();
        let types = callee.params.iter().map(|p| callee.vars.get(p.var.0 as usize).map_or(Ty::Int, |v| v.ty)).collect();
        let clobbers = self.context.clobbers.get(call.func as usize).copied().unwrap_or(u32::MAX);
        let prep = self.prep(&[]);
        let mut register_use = [RegisterUse::Free; 32];
        for (holder, occupant) in register_use.iter_mut().zip(self.occupant) {
            *holder = occupant.map_or(RegisterUse::Free, RegisterUse::Var);
        }
        let extra = (count - registers) as i64;
        let at = vec![ArgLocation::Source; count];
        let mut p = CallSetup { call, prep, types, at, register_use, registers, extra };
        let occupants = self.occupant;
        if extra > 0 {
            let by = Operand::Imm(extra.cast_unsigned(), Ty::Int);
            self.aux_of(accumulate(Acc::Add, Ty::Int), &[Operand::Reg(Reg::SP), by], false)?;
        }
        self.load_arguments(&mut p, &written)?;
        self.exchange_arguments(&mut p, clobbers)?;
        let passed: u32 = (0..registers).map(|n| bit(target(n))).sum();
        for r in 1..=REGISTERS as u8 {
            if clobbers & !passed & bit(r) != 0
                && let RegisterUse::Var(_) = p.register_use[usize::from(r)]
            {
                let slot = self.slot(&mut p.prep);
                self.exchange(reg(r), self.frame(slot))?;
            }
        }
        self.calls.push((self.code.len(), call.func));
        self.emit(plain(Row::Call, call.inverse), &[Operand::Label(0)], false)?;
        self.finish(p.prep, true)?;
        self.occupant = occupants;
        Ok(())
    }

    /// Loads the arguments into registers, or into their stack words. Copies come first, while all words are in their places.
    fn load_arguments(&mut self, p: &mut CallSetup<'_>, written: &[bool]) -> Result<(), LowerError> {
        let args = &p.call.args;
        let is_written = |n: usize| written.get(n).copied().unwrap_or(true);
        let words: Vec<(usize, &Word)> = args
            .iter()
            .enumerate()
            .filter_map(|(n, a)| match a {
                Arg::Mem(w) => Some((n, w)),
                Arg::Const(_) | Arg::Reg(_) => None,
            })
            .collect();
        let passed = |arg: &Arg| match *arg {
            Arg::Const(_) => Passed::Const,
            Arg::Reg(v) => Passed::Var(v),
            Arg::Mem(word) => Passed::Word(word),
        };
        let passed: Vec<_> = args.iter().map(passed).collect();
        let func = FunctionId(p.call.func);
        let points = |v: VReg| self.linear.lives.get(v.0 as usize).and_then(|l| l.points).map(Region);
        // Words that the callee may reach by an address must stay where they are.
        let is_reached = |n: usize| match (passed[n], self.context.program.functions.get(p.call.func as usize)) {
            (Passed::Word(word), Some(callee)) => {
                is_reached(Region(word.region), self.context.summaries.get(func), callee, &passed, points)
            }
            (Passed::Word(_), None) => true,
            (Passed::Const | Passed::Var(_), _) => false,
        };
        let copied = copies(&passed, is_written, |a, b| a.may_be(&b), is_reached);
        for n in (0..args.len()).filter(|n| copied[*n]) {
            let t = self.argument_register(p, n)?;
            let prep = self.prep(&[args[n]]);
            let (found, prep) = self.find(prep, args[n])?;
            let end = self.tape.len();
            self.duplicate(t, p.types[n], found)?;
            self.finish_until(prep, end, true)?;
            self.argument_loaded(p, n, t)?;
        }
        for (n, arg) in args.iter().enumerate() {
            if let Arg::Const(c) = arg {
                let t = self.argument_register(p, n)?;
                self.fill(t, p.types[n], *c)?;
                self.argument_loaded(p, n, t)?;
            }
        }
        for (n, word) in &words {
            if p.at[*n] == ArgLocation::Source {
                let t = self.argument_register(p, *n)?;
                let mut prep = self.prep(&[args[*n]]);
                let m = self.address(&mut prep, word)?;
                let end = self.tape.len();
                self.exchange(t, m)?;
                self.finish_until(prep, end, true)?;
                self.argument_loaded(p, *n, t)?;
            }
        }
        // The variables come last, when no address needs them any more.
        for (n, arg) in args.iter().enumerate() {
            let (Arg::Reg(v), ArgLocation::Source) = (arg, p.at[n]) else { continue };
            p.at[n] = match self.location(*v) {
                Location::Slot(slot) => ArgLocation::Slot(slot),
                Location::Reg(r) => {
                    p.register_use[usize::from(r & 31)] = RegisterUse::Arg(n);
                    self.occupant[usize::from(r & 31)] = None;
                    ArgLocation::Reg(r)
                }
            };
            if n >= IN_REGISTERS {
                match p.at[n] {
                    ArgLocation::Reg(r) => self.argument_loaded(p, n, reg(r))?,
                    ArgLocation::Slot(slot) => {
                        let t = self.argument_register(p, n)?;
                        self.exchange(t, self.frame(slot))?;
                        self.argument_loaded(p, n, t)?;
                    }
                    ArgLocation::Source | ArgLocation::Stack => {}
                }
            }
        }
        Ok(())
    }

    /// A register for the word of an argument, preferably the one in which it is passed.
    fn argument_register(&mut self, p: &mut CallSetup<'_>, n: usize) -> Result<Reg, LowerError> {
        let own = target(n.min(IN_REGISTERS));
        if n < IN_REGISTERS && self.busy & bit(own) == 0 {
            self.busy |= bit(own);
            return Ok(reg(own));
        }
        // Registers of other arguments are avoided as long as there are others.
        let later = (IN_REGISTERS as u8 + FIRST_ARGUMENT..=REGISTERS as u8).find(|r| self.busy & bit(*r) == 0);
        if let Some(r) = later {
            self.busy |= bit(r);
            return Ok(reg(r));
        }
        let t = self.temp(&mut p.prep)?;
        p.register_use[usize::from(t.number() & 31)] = RegisterUse::Free;
        Ok(t)
    }

    /// Notes that the word for an argument is in this register, or moves it on to its stack word.
    fn argument_loaded(&mut self, p: &mut CallSetup<'_>, n: usize, r: Reg) -> Result<(), LowerError> {
        if n < IN_REGISTERS {
            p.at[n] = ArgLocation::Reg(r.number());
            p.register_use[usize::from(r.number() & 31)] = RegisterUse::Arg(n);
            return Ok(());
        }
        let offset = (n - IN_REGISTERS) as i64 - p.extra;
        self.exchange(r, Addr { base: Reg::SP, index: Reg::ZERO, offset, frame: false })?;
        p.at[n] = ArgLocation::Stack;
        p.register_use[usize::from(r.number() & 31)] = RegisterUse::Free;
        self.occupant[usize::from(r.number() & 31)] = None;
        self.busy &= !bit(r.number());
        Ok(())
    }

    /// Exchanges the words that are passed in registers into these.
    fn exchange_arguments(&mut self, p: &mut CallSetup<'_>, clobbers: u32) -> Result<(), LowerError> {
        for n in 0..p.registers {
            if let ArgLocation::Reg(r) = p.at[n]
                && r != target(n)
            {
                self.swap_holders(p, r, target(n))?;
            }
        }
        let passed: u32 = (0..p.registers).map(|n| bit(target(n))).sum();
        for n in 0..p.registers {
            let ArgLocation::Slot(slot) = p.at[n] else { continue };
            let t = target(n);
            if p.register_use[usize::from(t)] != RegisterUse::Free {
                // Move it to a free register where it may stay, or to the frame.
                let away = (1..=REGISTERS as u8).find(|r| {
                    (passed | clobbers) & bit(*r) == 0 && p.register_use[usize::from(*r)] == RegisterUse::Free
                });
                match away {
                    Some(r) => self.swap_holders(p, t, r)?,
                    None => {
                        let slot = self.slot(&mut p.prep);
                        self.exchange(reg(t), self.frame(slot))?;
                    }
                }
            }
            self.exchange(reg(t), self.frame(slot))?;
            p.register_use[usize::from(t)] = RegisterUse::Arg(n);
        }
        Ok(())
    }

    /// Exchanges two registers, and their recorded contents.
    fn swap_holders(&mut self, p: &mut CallSetup<'_>, a: u8, b: u8) -> Result<(), LowerError> {
        self.aux_of(plain(Row::Swap, false), &[Operand::Reg(reg(a)), Operand::Reg(reg(b))], false)?;
        p.register_use.swap(usize::from(a & 31), usize::from(b & 31));
        for r in [a, b] {
            if let RegisterUse::Arg(n) = p.register_use[usize::from(r & 31)] {
                p.at[n] = ArgLocation::Reg(r);
            }
        }
        Ok(())
    }

    /// Moves the parameters from where they are passed to their locations. Returns the instructions to be undone at the end.
    pub(super) fn place_parameters(&mut self) -> Result<Vec<(Inst, bool)>, LowerError> {
        let prep = self.prep(&[]);
        let mut at: Vec<(u8, Location)> = Vec::new();
        let mut stack = Vec::new();
        for (n, life) in self.linear.lives.iter().enumerate() {
            let Some(param) = life.param else { continue };
            let v = VReg(n as u32);
            if (param as usize) < IN_REGISTERS {
                at.push((target(param as usize), self.location(v)));
            } else if let Location::Reg(r) = self.location(v) {
                stack.push((r, super::stack_slot(self.linear, param as usize)));
            }
        }
        for &(from, location) in &at {
            if let Location::Slot(slot) = location {
                self.exchange(reg(from), self.frame(slot))?;
            }
        }
        at.retain(|(_, location)| matches!(location, Location::Reg(_)));
        for k in 0..at.len() {
            let (from, Location::Reg(to)) = at[k] else { continue };
            if from == to {
                continue;
            }
            self.aux_of(plain(Row::Swap, false), &[Operand::Reg(reg(to)), Operand::Reg(reg(from))], false)?;
            if let Some(other) = at[k + 1..].iter_mut().find(|(r, _)| *r == to) {
                other.0 = from;
            }
        }
        for (r, slot) in stack {
            self.exchange(reg(r), self.frame(slot))?;
        }
        let recorded = self.recorded(&prep).to_vec();
        self.finish(prep, false)?;
        for (n, life) in self.linear.lives.iter().enumerate() {
            if life.param.is_some() {
                self.take(VReg(n as u32));
            }
        }
        Ok(recorded)
    }
}
