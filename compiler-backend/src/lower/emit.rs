//! Emits the instructions of operations, with words in the locations that register allocation has chosen.
//!
//! `operands` brings operands into registers if an instruction cannot take them where they are.

use pendula_isa::operand::Operand;
use pendula_isa::table::{Row, Variant};
use pendula_isa::{Acc, Cond, Format, Inst, Kind, Reg, Ty};

use super::LowerError;
use super::alloc::{Allocation, Location};
use super::operands::FoundOperand;
use super::ops::{Arg, CheckReason, Item, Linear, Op, VReg, ZeroCheck};
use crate::ir::effects::Summaries;
use crate::ir::{IrFunction, Loc, Program, TOLERANCE, identity};

/// The frame pointer, in functions that move the stack pointer.
pub(super) const FRAME: u8 = 30;

/// An emitted instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct EmittedInst {
    pub(super) inst: Inst,
    /// True if its memory operand is a word of the frame. The offset then counts from the frame's first word.
    pub(super) frame: bool,
    /// True if it only moves a word for another instruction.
    aux: bool,
    pub(super) loc: Loc,
    pub(super) check_reason: Option<CheckReason>,
}

/// What the second half of a pair needs to know about the first half.
pub(super) struct Half {
    pub(super) at: usize,
    pub(super) setup: Vec<(Inst, bool)>,
    pub(super) other: Inst,
}

/// A span as a range of instructions.
pub(super) struct Span {
    pub(super) span: u32,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// What the lowering of a function knows about the program.
pub(super) struct Context<'a> {
    pub(super) program: &'a Program,
    pub(super) format: Format,
    /// The registers that each function uses, as bit masks.
    pub(super) clobbers: &'a [u32],
    pub(super) summaries: &'a Summaries,
}

/// Emits one function.
pub(super) struct Emitter<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) linear: &'a Linear,
    function: &'a IrFunction,
    pub(super) locations: Vec<Location>,
    /// The virtual register in each register.
    pub(super) occupant: [Option<VReg>; 32],
    /// Registers that are not free.
    pub(super) busy: u32,
    pub(super) code: Vec<EmittedInst>,
    /// Instructions before this index must not be removed.
    pub(super) barrier: usize,
    pub(super) tape: Vec<(Inst, bool)>,
    /// The number of preparations under way.
    pub(super) open: u32,
    pub(super) slots: i64,
    pub(super) free_slots: Vec<i64>,
    pub(super) halves: Vec<Option<Half>>,
    /// Calls, each with its callee.
    pub(super) calls: Vec<(usize, u32)>,
    pub(super) spans: Vec<Span>,
    /// The instructions with which statements begin, each with the first operation of the last statement that begins there.
    pub(super) begins: Vec<(usize, u32)>,
    loc: Loc,
    check_reason: Option<CheckReason>,
}

pub(super) const fn bit(reg: u8) -> u32 {
    1 << (reg & 31)
}

pub(super) fn reg(number: u8) -> Reg {
    Reg::new(number).unwrap_or_default()
}

/// The kind of a row's variant.
pub(super) const fn row(row: Row, inverse: bool, variant: Variant) -> Kind {
    Kind::Row { row, inverse, ty: variant.ty, cond: variant.cond, form: variant.form }
}

/// The kind of a row on integers without variants.
pub(super) const fn plain(r: Row, inverse: bool) -> Kind {
    row(r, inverse, Variant { ty: Ty::Int, cond: Cond::Always, form: false })
}

impl<'a> Emitter<'a> {
    pub(super) fn new(
        context: &'a Context<'a>,
        linear: &'a Linear,
        function: &'a IrFunction,
        locations: Allocation,
    ) -> Emitter<'a> {
        let mut halves = Vec::new();
        halves.resize_with(linear.pairs.len(), || None);
        Emitter {
            context,
            linear,
            function,
            locations: locations.of,
            occupant: [None; 32],
            busy: 0,
            code: Vec::with_capacity(linear.ops.len()),
            barrier: 0,
            tape: Vec::new(),
            open: 0,
            slots: locations.slots,
            free_slots: Vec::new(),
            halves,
            calls: Vec::new(),
            spans: Vec::new(),
            begins: Vec::new(),
            loc: function.loc,
            check_reason: None,
        }
    }

    pub(super) fn bad(&self, what: &str) -> LowerError {
        LowerError::Malformed { function: self.function.name.clone(), line: self.loc.line, what: what.to_string() }
    }

    /// Emits the function between `proc` and `ret`, without the instructions that make the frame.
    pub(super) fn run(&mut self) -> Result<(), LowerError> {
        let linear = self.linear;
        let place_parameters = self.place_parameters()?;
        let mut open = Vec::new();
        let mut before = None;
        for (at, Item { op, loc, check_reason }) in linear.ops.iter().enumerate() {
            (self.loc, self.check_reason) = (*loc, *check_reason);
            let statement = self.context.program.statement_at(*loc);
            if before.replace(statement) != Some(statement) {
                self.begins(at);
            }
            self.op(op, at as u32, &mut open)?;
        }
        self.begins(linear.ops.len());
        (self.loc, self.check_reason) = (self.function.loc, None);
        place_parameters.into_iter().rev().for_each(|(inst, frame)| self.aux(inst.inverse(), frame));
        Ok(())
    }

    /// Notes that a statement begins with this operation: within it, variables may be half changed.
    fn begins(&mut self, operation: usize) {
        let here = self.code.len();
        if self.begins.last().is_some_and(|(at, _)| *at == here) {
            self.begins.pop();
        }
        self.begins.push((here, operation as u32));
    }

    fn op(&mut self, op: &Op, at: u32, open: &mut Vec<(u32, usize)>) -> Result<(), LowerError> {
        match op {
            Op::Update { acc, inverse, func, args } => self.update((*acc, *inverse, *func), args.get()),
            Op::Permute { row, inverse, ty, args } => self.permute(*row, *inverse, *ty, args.get()),
            Op::Extension(n) => match self.linear.extensions.get(*n as usize) {
                Some(extended) => self.extension(extended),
                None => Err(LowerError::Internal("an extension is missing".into())),
            },
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
            Op::ZeroCheck(v, how) => self.clear(*v, *how),
            Op::Erase(arg) => {
                let prep = self.prep(&[*arg]);
                let (found, prep) = self.find(prep, *arg)?;
                let operand = match found {
                    FoundOperand::Reg(r) => Operand::Reg(r),
                    FoundOperand::Mem(a) => a.operand(),
                    FoundOperand::Const(_) => return Err(self.bad("a constant is erased")),
                };
                self.emit(plain(Row::Erase, false), &[operand], matches!(found, FoundOperand::Mem(a) if a.frame))?;
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

    /// Notes that a life begins in its location.
    pub(super) fn take(&mut self, v: VReg) {
        if let Location::Reg(r) = self.location(v) {
            self.busy |= bit(r);
            self.occupant[usize::from(r & 31)] = Some(v);
        }
    }

    fn leave(&mut self, v: VReg) {
        if let Location::Reg(r) = self.location(v) {
            self.busy &= !bit(r);
            self.occupant[usize::from(r & 31)] = None;
        }
    }

    pub(super) fn location(&self, v: VReg) -> Location {
        self.locations.get(v.0 as usize).copied().unwrap_or(Location::Reg(31))
    }

    fn clear(&mut self, v: VReg, how: ZeroCheck) -> Result<(), LowerError> {
        if how == ZeroCheck::None {
            return Ok(());
        }
        let prep = self.prep(&[Arg::Reg(v)]);
        let (found, mut prep) = self.find(prep, Arg::Reg(v))?;
        let r = self.bring(&mut prep, found)?;
        match how {
            ZeroCheck::None => {}
            ZeroCheck::Zero => self.emit(plain(Row::Zero, false), &[Operand::Reg(r)], false)?,
            ZeroCheck::Within => {
                let kind = row(Row::ZeroWithin, false, Variant { ty: Ty::F, cond: Cond::Always, form: true });
                self.emit(kind, &[Operand::Reg(r), Operand::Imm(TOLERANCE.to_bits(), Ty::F)], false)?;
            }
        }
        self.finish(prep, true)
    }

    pub(super) fn build(&self, kind: Kind, operands: &[Operand]) -> Result<Inst, LowerError> {
        Inst::build(kind, operands).map_err(|e| self.bad(&format!("`{}`: {e}", kind.mnemonic())))
    }

    pub(super) fn put(&mut self, inst: Inst, frame: bool, aux: bool) {
        let check_reason = self.check_reason.filter(|check_reason| !aux && check_reason.concerns(&inst));
        self.code.push(EmittedInst { inst, frame, aux, loc: self.loc, check_reason });
    }

    /// Emits an instruction.
    pub(super) fn emit(&mut self, kind: Kind, operands: &[Operand], frame: bool) -> Result<(), LowerError> {
        let inst = self.build(kind, operands)?;
        self.put(inst, frame, false);
        Ok(())
    }

    /// Emits an instruction that moves a word, and records it on the tape. If its inverse is directly before it, both are
    /// removed.
    pub(super) fn aux(&mut self, inst: Inst, frame: bool) {
        if self.open > 0 {
            self.tape.push((inst, frame));
        }
        let last = self.code.last().filter(|c| c.aux && c.frame == frame && self.code.len() > self.barrier);
        let drops = matches!(inst.kind, Kind::Row { row: Row::Zero, .. });
        match last {
            // Dropping a gradient twice is the same as dropping it once.
            Some(last) if drops && last.inst == inst => {}
            Some(last) if !drops && last.inst == inst.inverse() => {
                self.code.pop();
                // The word stays where it was for the operation before: no operation begins here.
                while self.begins.last().is_some_and(|(at, _)| *at > self.code.len()) {
                    self.begins.pop();
                }
            }
            Some(_) | None => self.put(inst, frame, true),
        }
    }

    pub(super) fn aux_of(&mut self, kind: Kind, operands: &[Operand], frame: bool) -> Result<(), LowerError> {
        let inst = self.build(kind, operands)?;
        self.aux(inst, frame);
        Ok(())
    }
}

/// The kind of `dst += src`, or `dst *= src` for logarithmic numbers.
pub(super) const fn accumulate(acc: Acc, ty: Ty) -> Kind {
    Kind::Accumulate { acc, inverse: false, func: identity(ty), shape: pendula_isa::operand::Shape::RR }
}
