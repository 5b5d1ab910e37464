//! Legalization of operands: an instruction takes at most one operand in memory and at most one constant or memory
//! offset, and many operands must be in registers.
//!
//! `exch` brings a word of memory into a register; it is exact and also moves the gradient word. If two words may be the
//! same at run time, only the last is exchanged: the others are copied before the instruction, and their copies are
//! cleared after it. Copying a logarithmic zero traps.

use pendula_isa::extension::Form;
use pendula_isa::num::{Env, convert};
use pendula_isa::operand::{Operand, OperandKind, Shape};
use pendula_isa::table::{Row, TableFn, Variant};
use pendula_isa::{Acc, Cond, Format, Inst, Kind, Ty};

use super::LowerError;
use super::alloc::Location;
use super::emit::{Emitter, Half, plain, reg, row};
use super::linear::INT;
use super::operands::{FoundOperand, Preparation};
use super::ops::{Arg, Cmp, Extended, Word};

/// Whether a jump can compare with this constant.
pub(super) fn is_small(word: u64) -> bool {
    small(Format::default(), Ty::Int, word).is_some()
}

/// The small integer that a jump can compare with instead of this word.
fn small(format: Format, ty: Ty, word: u64) -> Option<i16> {
    let env = Env { format, ieee: false };
    let k = match ty {
        Ty::Int => word.cast_signed(),
        Ty::Q | Ty::L | Ty::F => {
            let x = convert::to_f64(env, ty, word);
            if x.abs() > 16384.0 || x.fract() != 0.0 { return None } else { x as i64 }
        }
    };
    let fits = (pendula_isa::inst::SMALL_MIN..=pendula_isa::inst::SMALL_MAX).contains(&k);
    let back = match ty {
        Ty::Int => Ok(word),
        Ty::Q => convert::int_to_q(env, k.cast_unsigned()),
        Ty::L => convert::int_to_l(env, k.cast_unsigned()),
        Ty::F => convert::int_to_f(env, k.cast_unsigned()),
    };
    (fits && back == Ok(word)).then_some(k as i16)
}

/// The most operands of an extension of which one is a constant.
const ONE_CONSTANT: usize = 5;

fn operand(found: FoundOperand, ty: Ty) -> Operand {
    match found {
        FoundOperand::Reg(r) => Operand::Reg(r),
        FoundOperand::Const(c) => Operand::Imm(c, ty),
        FoundOperand::Mem(m) => m.operand(),
    }
}

/// Whether two operands may be the same word at run time, but are not certain to be.
fn may_be(a: &Arg, b: &Arg) -> bool {
    let pair: Option<(&Word, &Word)> = match (a, b) {
        (Arg::Mem(a), Arg::Mem(b)) => Some((a, b)),
        (Arg::Const(_) | Arg::Reg(_) | Arg::Mem(_), _) => None,
    };
    pair.is_some_and(|(a, b)| a != b && a.may_be(b))
}

impl Emitter<'_> {
    /// Finds the places of all operands, those in memory first.
    fn find_all(
        &mut self,
        mut prep: Preparation,
        args: &[Arg],
    ) -> Result<(Vec<FoundOperand>, Preparation), LowerError> {
        let mut found = vec![FoundOperand::Const(0); args.len()];
        for memory in [true, false] {
            for (n, arg) in args.iter().enumerate() {
                if matches!(arg, Arg::Mem(_)) == memory {
                    (found[n], prep) = self.find(prep, *arg)?;
                }
            }
        }
        Ok((found, prep))
    }

    /// Brings the operands that `requested` selects into registers, with these types. Operands that are only read may be the
    /// same word.
    fn load(
        &mut self,
        prep: &mut Preparation,
        args: &[Arg],
        found: &mut [FoundOperand],
        requested: impl Fn(usize) -> bool,
        ty: impl Fn(usize) -> Ty,
        written: impl Fn(usize) -> bool,
    ) -> Result<(), LowerError> {
        // Copies come first, while all words are in their places.
        for copies in [true, false] {
            for n in 0..args.len() {
                let FoundOperand::Mem(m) = found[n] else { continue };
                let later = |k: usize| !written(k) && may_be(&args[n], &args[k]);
                let aliased = !written(n) && (n + 1..args.len()).any(later);
                if !requested(n) || aliased != copies {
                    continue;
                }
                let r = if copies { self.copy(prep, ty(n), m)? } else { self.bring(prep, found[n])? };
                for k in 0..args.len() {
                    if args[k] == args[n] {
                        found[k] = FoundOperand::Reg(r);
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn update(
        &mut self,
        (acc, inverse, func): (Acc, bool, TableFn),
        args: &[Arg],
    ) -> Result<(), LowerError> {
        let info = func.info();
        let ty = |n: usize| n.checked_sub(1).and_then(|n| info.args.get(n)).map_or(info.ty, |a| a.ty);
        if func == INT
            && acc == Acc::Add
            && let [Arg::Reg(dst), Arg::Const(c @ (1 | u64::MAX))] = args
            && let Location::Reg(r) = self.location(*dst)
        {
            return self.emit(plain(Row::Inc, inverse != (*c == u64::MAX)), &[Operand::Reg(reg(r))], false);
        }
        self.accumulate(Kind::Accumulate { acc, inverse, func, shape: Shape::RR }, acc, ty, args)
    }

    /// An instruction that adds a function's value to its first operand.
    fn accumulate(&mut self, kind: Kind, acc: Acc, ty: impl Fn(usize) -> Ty, args: &[Arg]) -> Result<(), LowerError> {
        let prep = self.prep(args);
        let (mut found, mut prep) = self.find_all(prep, args)?;
        let three = args.len() > 3;
        let constants = found.iter().filter(|f| matches!(f, FoundOperand::Const(_))).count();
        let alone = |n: usize| args.iter().enumerate().all(|(k, a)| k == n || *a != args[n]);
        let fits = |n: usize| match found[n] {
            FoundOperand::Mem(m) => alone(n) && (constants == 0 || (!m.frame && m.offset == 0)),
            FoundOperand::Reg(_) | FoundOperand::Const(_) => false,
        };
        // One operand stays in memory: the destination, or else the last one.
        let keep = if three { None } else { (0..args.len()).filter(|n| fits(*n)).max_by_key(|n| *n == 0) };
        self.load(&mut prep, args, &mut found, |n| keep != Some(n), &ty, |n| n == 0)?;
        let mut left = if three { 0 } else { 1 };
        for n in (0..found.len()).rev() {
            let FoundOperand::Const(c) = found[n] else { continue };
            if left == 0 || (acc == Acc::Mul && !self.takes(kind, found.len(), n, c)) {
                found[n] = FoundOperand::Reg(self.constant(&mut prep, ty(n), c)?);
            } else {
                left -= 1;
            }
        }
        let operands: Vec<Operand> = found.iter().enumerate().map(|(n, f)| operand(*f, ty(n))).collect();
        let frame = found.iter().any(|f| matches!(f, FoundOperand::Mem(m) if m.frame));
        self.emit(kind, &operands, frame)?;
        self.finish(prep, true)
    }

    /// Whether an accumulate takes a constant as this operand.
    fn takes(&self, kind: Kind, count: usize, n: usize, c: u64) -> bool {
        let operand = |k: usize| if k == n { Operand::Imm(c, Ty::Int) } else { Operand::Reg(reg(k as u8 + 1)) };
        let operands: Vec<Operand> = (0..count).map(operand).collect();
        Inst::build(kind, &operands).is_ok()
    }

    pub(super) fn permute(&mut self, r: Row, inverse: bool, ty: Ty, args: &[Arg]) -> Result<(), LowerError> {
        if r == Row::Swap {
            return self.swap(args);
        }
        let kinds = r.info().operands;
        let kind = row(r, inverse, Variant { ty, cond: Cond::Always, form: false });
        let written = |n: usize| {
            matches!(kinds.get(n), Some(OperandKind::Target | OperandKind::TargetOrMemory | OperandKind::Memory))
        };
        let type_of = |n: usize| kind.constant_type(n);
        let prep = self.prep(args);
        let (mut found, mut prep) = self.find_all(prep, args)?;
        self.load(&mut prep, args, &mut found, |_| true, type_of, written)?;
        let factor = |n: usize| matches!(kinds.get(n), Some(OperandKind::Factor));
        let direct = |f: &FoundOperand| matches!(f, FoundOperand::Const(1..=16383));
        let factors = (0..found.len()).filter(|n| factor(*n)).all(|n| direct(&found[n]));
        for (n, operand_kind) in kinds.iter().enumerate() {
            let Some(FoundOperand::Const(c)) = found.get(n).copied() else { continue };
            let as_is = match operand_kind {
                OperandKind::Target | OperandKind::TargetOrMemory | OperandKind::Memory => {
                    return Err(self.bad("a constant is written"));
                }
                OperandKind::Amount => {
                    found[n] = FoundOperand::Const(c & 63);
                    true
                }
                OperandKind::Value | OperandKind::Tolerance | OperandKind::Constant | OperandKind::Small => true,
                OperandKind::Factor => factors,
                OperandKind::Source | OperandKind::Label | OperandKind::Text => false,
            };
            if !as_is {
                found[n] = FoundOperand::Reg(self.constant(&mut prep, type_of(n), c)?);
            }
        }
        let operands: Vec<Operand> = found.iter().enumerate().map(|(n, f)| operand(*f, type_of(n))).collect();
        self.emit(kind, &operands, false)?;
        self.finish(prep, true)
    }

    /// An extension: a sum with a function as those of the table, and other instructions in registers, with one constant if there is room for it.
    pub(super) fn extension(&mut self, extended: &Extended) -> Result<(), LowerError> {
        let Extended { extension, inverse, args } = extended;
        let info = extension.info();
        let kind = Kind::Extension { extension: *extension, inverse: *inverse && info.partner.is_some() };
        let ty = |n: usize| kind.constant_type(n);
        let written = |n: usize| match info.form {
            Form::Function { .. } => n == 0,
            Form::Instruction { .. } => info.definition.parameters.get(n).is_some_and(|p| p.written),
        };
        if let Form::Function { acc, .. } = info.form {
            return self.accumulate(kind, acc, ty, args);
        }
        let prep = self.prep(args);
        let (mut found, mut prep) = self.find_all(prep, args)?;
        self.load(&mut prep, args, &mut found, |_| true, ty, written)?;
        let mut left = usize::from(found.len() <= ONE_CONSTANT);
        for (n, operand) in found.iter_mut().enumerate() {
            let FoundOperand::Const(c) = *operand else { continue };
            if written(n) {
                return Err(self.bad("a constant is written"));
            }
            match left.checked_sub(1) {
                Some(rest) => left = rest,
                None => *operand = FoundOperand::Reg(self.constant(&mut prep, ty(n), c)?),
            }
        }
        let operands: Vec<Operand> = found.iter().enumerate().map(|(n, f)| operand(*f, ty(n))).collect();
        self.emit(kind, &operands, false)?;
        self.finish(prep, true)
    }

    fn swap(&mut self, args: &[Arg]) -> Result<(), LowerError> {
        let prep = self.prep(args);
        let (found, mut prep) = self.find_all(prep, args)?;
        let (kind, operands, frame) = match *found.as_slice() {
            [FoundOperand::Reg(a), FoundOperand::Reg(b)] => (Row::Swap, [Operand::Reg(a), Operand::Reg(b)], false),
            [FoundOperand::Reg(r), FoundOperand::Mem(m)] | [FoundOperand::Mem(m), FoundOperand::Reg(r)] => {
                (Row::Exch, [Operand::Reg(r), m.operand()], m.frame)
            }
            [FoundOperand::Mem(a), FoundOperand::Mem(b)] => {
                let t = self.temp(&mut prep)?;
                self.exchange(t, a)?;
                (Row::Exch, [Operand::Reg(t), b.operand()], b.frame)
            }
            _ => return Err(self.bad("a constant is exchanged")),
        };
        self.emit(plain(kind, false), &operands, frame)?;
        self.finish(prep, true)
    }

    pub(super) fn show(&mut self, ty: Ty, arg: Arg) -> Result<(), LowerError> {
        let prep = self.prep(&[arg]);
        let (found, mut prep) = self.find(prep, arg)?;
        let r = self.bring(&mut prep, found)?;
        let kind = row(Row::Show, false, Variant { ty, cond: Cond::Always, form: false });
        self.emit(kind, &[Operand::Reg(r)], false)?;
        self.finish(prep, true)
    }

    pub(super) fn assert(&mut self, cmp: &Cmp) -> Result<(), LowerError> {
        let cmp = turned(*cmp);
        let args = [cmp.a, cmp.b];
        let prep = self.prep(&args);
        let (mut found, mut prep) = self.find_all(prep, &args)?;
        self.load(&mut prep, &args, &mut found, |_| true, |_| cmp.ty, |_| false)?;
        let a = match found[0] {
            FoundOperand::Const(c) => Operand::Reg(self.constant(&mut prep, cmp.ty, c)?),
            f @ (FoundOperand::Reg(_) | FoundOperand::Mem(_)) => operand(f, cmp.ty),
        };
        let kind = row(Row::Assert, false, Variant { ty: cmp.ty, cond: cmp.cond, form: false });
        self.emit(kind, &[a, operand(found[1], cmp.ty)], false)?;
        self.finish(prep, true)
    }

    /// Emits a half of a pair. The operands that both halves compare are brought into registers before each half and back
    /// after it, so that a jump finds them at its target.
    pub(super) fn half(&mut self, pair: u32, from: bool) -> Result<(), LowerError> {
        let missing = || LowerError::Internal("a pair is missing".into());
        let tests = *self.linear.pairs.get(pair as usize).ok_or_else(missing)?;
        let own = if from { tests.from } else { tests.jmp };
        // A `from` without a condition is reached only by its jump, and a `jmp` without one always jumps.
        let (falls_in, falls_out) = (!from || own.is_some(), from || own.is_some());
        if !falls_in {
            self.barrier = self.code.len();
        }
        if let Some(first) = self.halves.get_mut(pair as usize).and_then(Option::take) {
            if falls_in {
                first.setup.iter().for_each(|(inst, frame)| self.aux(*inst, *frame));
            }
            let (here, there) = (self.code.len() as i64, first.at as i64);
            self.put(Inst { imm: there - here, ..first.other }, false, false);
            if let Some(other) = self.code.get_mut(first.at) {
                other.inst.imm = here - there;
            }
            self.barrier = self.code.len();
            if falls_out {
                first.setup.iter().rev().for_each(|(inst, frame)| self.aux(inst.inverse(), *frame));
            }
            return Ok(());
        }
        let start = self.code.len();
        let mut args = Vec::new();
        let mut types = Vec::new();
        let (jmp, land) = (tests.jmp.map(turned), tests.from.map(turned));
        for cmp in [jmp, land].into_iter().flatten() {
            args.extend([cmp.a, cmp.b]);
            types.extend([cmp.ty; 2]);
        }
        let prep = self.prep(&args);
        let (mut found, mut prep) = self.find_all(prep, &args)?;
        self.load(&mut prep, &args, &mut found, |_| true, |n| types[n], |_| false)?;
        let mut rest = found.into_iter();
        let mut insts = [Inst { kind: plain(Row::Jmp, false), regs: Inst::registers(&[]), imm: 0, small: 0 }; 2];
        for (n, cmp) in [jmp, land].into_iter().enumerate() {
            insts[n] = match cmp {
                None => self.build(plain(Row::Jmp, n == 1), &[Operand::Label(0)])?,
                Some(cmp) => {
                    let (a, b) =
                        (rest.next().unwrap_or(FoundOperand::Const(0)), rest.next().unwrap_or(FoundOperand::Const(0)));
                    let a = match a {
                        FoundOperand::Const(c) => Operand::Reg(self.constant(&mut prep, cmp.ty, c)?),
                        FoundOperand::Reg(_) | FoundOperand::Mem(_) => operand(a, cmp.ty),
                    };
                    let b = match b {
                        FoundOperand::Const(c) => match small(self.context.format, cmp.ty, c) {
                            Some(k) => Operand::Small(k),
                            None => Operand::Reg(self.constant(&mut prep, cmp.ty, c)?),
                        },
                        FoundOperand::Reg(_) | FoundOperand::Mem(_) => operand(b, cmp.ty),
                    };
                    let kind = row(Row::Jmp, n == 1, Variant { ty: cmp.ty, cond: cmp.cond, form: false });
                    self.build(kind, &[a, b, Operand::Label(0)])?
                }
            };
        }
        let setup = self.recorded(&prep).to_vec();
        if !falls_in {
            self.code.truncate(start);
        }
        let [jmp, land] = insts;
        let (own, other) = if from { (land, jmp) } else { (jmp, land) };
        let at = self.code.len();
        self.put(own, false, false);
        self.barrier = self.code.len();
        if let Some(half) = self.halves.get_mut(pair as usize) {
            *half = Some(Half { at, setup, other });
        }
        self.finish(prep, falls_out)
    }
}

/// The comparison with a constant on the right, if one side is constant.
fn turned(cmp: Cmp) -> Cmp {
    let constant = |arg| matches!(arg, Arg::Const(_));
    match cmp.cond.exchanged() {
        Some(cond) if constant(cmp.a) && !constant(cmp.b) => Cmp { cond, a: cmp.b, b: cmp.a, ..cmp },
        Some(_) | None => cmp,
    }
}
