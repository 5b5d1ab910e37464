//! Loops as halves of paired jumps. The shapes are in the table of [`control`](super::control).

use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::{Acc, Cond};

use super::LowerError;
use super::control::Decision;
use super::effects::Effects;
use super::linear::{Builder, INT};
use super::ops::{Arg, Cmp, Op, VReg, ZeroCheck};
use crate::ir::{Condition, LocatedStmt, Step, Var};

impl Builder<'_> {
    /// Lowers the iteration of a loop.
    fn iteration(
        &mut self,
        body: &[LocatedStmt],
        part: impl FnOnce(&mut Self) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        if self.known.is_some() {
            self.forget(&Effects::of(self.program, body));
        }
        let state = self.known.as_ref().map(|k| k.state());
        let mark = self.mark();
        self.level += 1;
        self.depth += 1;
        part(self)?;
        self.level -= 1;
        self.depth -= 1;
        self.no_change(mark)?;
        if let (Some(known), Some(state)) = (&mut self.known, state) {
            known.meet(state);
        }
        Ok(())
    }

    /// The flag of a condition that computes something, and what decides.
    fn flag_of<'c>(&mut self, c: &'c Condition) -> Result<(Option<VReg>, Decision<'c>), LowerError> {
        let flag = if c.compute.is_empty() { None } else { Some(self.temp(ZeroCheck::Zero)?) };
        Ok((flag, flag.map_or(Decision::Plain(c), Decision::Flag)))
    }

    pub(super) fn while_loop(
        &mut self,
        pre: &Condition,
        post: &Condition,
        (first, body): (&[LocatedStmt], &[LocatedStmt]),
        back: bool,
    ) -> Result<(), LowerError> {
        if !first.is_empty() {
            return self.while_with_first(pre, post, (first, body), back);
        }
        let ((q, enters), (p, turned)) = (self.flag_of(pre)?, self.flag_of(post)?);
        if let Some(q) = q {
            self.flag(q, pre, false)?;
        }
        let (enter, turn) = (self.comparison(enters)?, self.comparison(turned)?);
        let skip = self.pair(Some(enter.negated()), Some(turn.negated()));
        self.half(skip, false)?;
        self.iteration(body, |b| {
            let top = b.pair(Some(enter), Some(turn));
            b.half(top, true)?;
            if let Some(p) = p {
                b.flag(p, post, true)?;
            }
            if let Some(q) = q {
                b.add(q, Arg::Const(1), true)?;
            }
            b.block(body, back)?;
            if let Some(q) = q {
                b.flag(q, pre, false)?;
            }
            if let Some(p) = p {
                b.add(p, Arg::Const(1), false)?;
            }
            b.half(top, false)
        })?;
        self.half(skip, true)?;
        if let Some(p) = p {
            self.flag(p, post, true)?;
            self.end_temp(p, ZeroCheck::Zero)?;
        }
        q.map_or(Ok(()), |q| self.end_temp(q, ZeroCheck::Zero))
    }

    /// A loop that is left in its middle. If a condition computes something, its flag is checked: after the expected value is
    /// subtracted, it must be zero.
    fn while_with_first(
        &mut self,
        pre: &Condition,
        post: &Condition,
        (first, body): (&[LocatedStmt], &[LocatedStmt]),
        back: bool,
    ) -> Result<(), LowerError> {
        let ((q, enters), (p, turned)) = (self.flag_of(pre)?, self.flag_of(post)?);
        let zero = |flag: VReg| Op::Assert(Cmp::new(Cond::Eq, Arg::Reg(flag), Arg::Const(0)));
        if self.known.is_some() {
            self.forget(&Effects::of(self.program, body));
        }
        self.iteration(first, |b| {
            let (enter, turn) = (b.comparison(enters)?, b.comparison(turned)?);
            let short = body.is_empty() && p.is_none() && q.is_none();
            let top = b.pair(short.then_some(enter), Some(turn));
            b.half(top, true)?;
            if let Some(p) = p {
                b.flag(p, post, true)?;
                b.push(zero(p))?;
            }
            b.block(first, back)?;
            if short {
                return b.half(top, false);
            }
            if let Some(q) = q {
                b.push(zero(q))?;
                b.flag(q, pre, false)?;
            }
            let skip = b.pair(Some(enter.negated()), None);
            b.half(skip, false)?;
            if let Some(q) = q {
                b.add(q, Arg::Const(1), true)?;
            }
            b.block(body, back)?;
            if let Some(p) = p {
                b.add(p, Arg::Const(1), false)?;
            }
            b.half(top, false)?;
            b.half(skip, true)
        })?;
        if let Some(p) = p {
            self.end_temp(p, ZeroCheck::None)?;
        }
        q.map_or(Ok(()), |q| self.end_temp(q, ZeroCheck::None))
    }

    /// The operand as `jmp` can take it: itself, or a copy in a virtual register.
    fn in_register(&mut self, arg: Arg) -> Result<(Arg, Option<VReg>), LowerError> {
        let direct = match arg {
            Arg::Const(c) => super::legal::is_small(c),
            Arg::Reg(_) => true,
            Arg::Mem(_) => false,
        };
        if direct {
            return Ok((arg, None));
        }
        let v = self.temp(ZeroCheck::None)?;
        self.add(v, arg, false)?;
        Ok((Arg::Reg(v), Some(v)))
    }

    fn release(&mut self, in_register: Option<VReg>, arg: Arg) -> Result<(), LowerError> {
        let Some(v) = in_register else { return Ok(()) };
        self.add(v, arg, true)?;
        self.end_temp(v, ZeroCheck::None)
    }

    pub(super) fn for_loop(
        &mut self,
        var: Var,
        (first, last): (Arg, Arg),
        step: Step,
        body: &[LocatedStmt],
        back: bool,
    ) -> Result<(), LowerError> {
        let by = match step {
            // A pass has found that the step is 0. A program that reaches this code is wrong, but it may not reach it.
            Step::Const(0) => return self.push(super::linear::ALWAYS_FAILS),
            Step::Const(k) => (Arg::Const(k.cast_unsigned()), false),
            Step::Var { var, negated } => (Arg::Reg(self.reg(var)?), negated),
        };
        let (given_first, given_last) = (first, last);
        let (first, first_held) = self.in_register(first)?;
        let (last, last_held) = self.in_register(last)?;
        match (given_first, given_last, step) {
            (f, l, _) if f == l => self.counted_turns(var, (first, last, given_first, given_last), by, body, back)?,
            (Arg::Const(f), Arg::Const(l), Step::Const(k)) => {
                let (f, l) = (f.cast_signed(), l.cast_signed());
                if if k > 0 { f <= l } else { f >= l } {
                    self.counted_turns(var, (first, last, given_first, given_last), by, body, back)?;
                }
            }
            (_, _, Step::Const(k)) => {
                let empty = Cmp::new(if k > 0 { Cond::Lt } else { Cond::Gt }, last, first);
                let guard = self.pair(Some(empty), Some(empty));
                self.half(guard, false)?;
                self.counted_turns(var, (first, last, given_first, given_last), by, body, back)?;
                self.half(guard, true)?;
            }
            (_, _, Step::Var { negated, .. }) => {
                // The distance times the sign of the step is not negative if there is an iteration.
                let (sign, distance) = (self.temp(ZeroCheck::None)?, self.temp(ZeroCheck::None)?);
                let sar = TableFn::Int(int_fn::Name::Sar);
                let (to, start) = if negated { (first, last) } else { (last, first) };
                self.update((Acc::Add, false, sar), Arg::Reg(sign), &[by.0, Arg::Const(63)])?;
                self.add(distance, to, false)?;
                self.add(distance, start, true)?;
                self.add(distance, Arg::Reg(sign), false)?;
                self.update((Acc::Xor, false, INT), Arg::Reg(distance), &[Arg::Reg(sign)])?;
                let empty = Cmp::new(Cond::Lt, Arg::Reg(distance), Arg::Const(0));
                let guard = self.pair(Some(empty), Some(empty));
                self.half(guard, false)?;
                self.counted_turns(var, (first, last, given_first, given_last), by, body, back)?;
                self.half(guard, true)?;
                self.update((Acc::Xor, false, INT), Arg::Reg(distance), &[Arg::Reg(sign)])?;
                self.add(distance, Arg::Reg(sign), true)?;
                self.add(distance, start, false)?;
                self.add(distance, to, true)?;
                self.update((Acc::Add, true, sar), Arg::Reg(sign), &[by.0, Arg::Const(63)])?;
                self.end_temp(distance, ZeroCheck::None)?;
                self.end_temp(sign, ZeroCheck::None)?;
            }
        }
        self.release(last_held, given_last)?;
        self.release(first_held, given_first)
    }

    /// The iterations of a `for` that has at least one. The bounds come as `jmp` takes them, and as they were given.
    fn counted_turns(
        &mut self,
        var: Var,
        (first, last, given_first, given_last): (Arg, Arg, Arg, Arg),
        (step, minus): (Arg, bool),
        body: &[LocatedStmt],
        back: bool,
    ) -> Result<(), LowerError> {
        let sum = |a: Arg, minus: bool| {
            let (Arg::Const(a), Arg::Const(k)) = (a, step) else { return None };
            Some(Arg::Const(if minus { a.wrapping_sub(k) } else { a.wrapping_add(k) }))
        };
        if given_first == given_last {
            let i = self.begin(var, ZeroCheck::None, false)?;
            self.add(i, first, false)?;
            self.iteration(body, |b| b.block(body, back))?;
            self.add(i, last, true)?;
            return self.end(var, ZeroCheck::None);
        }
        // The loop needs one value outside the range: the one before the first value if that is known, else the one after the
        // last. From 0 to a known last value, the latter needs no instruction before the loop.
        let from_zero = given_first == Arg::Const(0) && matches!((given_last, step), (Arg::Const(_), Arg::Const(_)));
        let before = matches!(given_first, Arg::Const(_)) && !from_zero;
        let (bound, given) = if before { (first, given_first) } else { (last, given_last) };
        let away = minus == before;
        let known = sum(given, before);
        let (beside, in_register) = match known {
            Some(c) => self.in_register(c)?,
            None => {
                let v = self.temp(ZeroCheck::None)?;
                self.add(v, bound, false)?;
                self.add(v, step, !away)?;
                (Arg::Reg(v), Some(v))
            }
        };
        let (enter, leave) = if before { (beside, last) } else { (first, beside) };
        let i = self.begin(var, ZeroCheck::None, false)?;
        self.add(i, enter, false)?;
        let top = self.pair(None, None);
        self.iteration(body, |b| {
            let not = |bound| Cmp::new(Cond::Ne, Arg::Reg(i), bound);
            b.set_pair(top, Some(not(leave)), Some(not(enter)));
            b.half(top, true)?;
            if before {
                b.add(i, step, minus)?;
            }
            b.block(body, back)?;
            if !before {
                b.add(i, step, minus)?;
            }
            b.half(top, false)
        })?;
        self.add(i, leave, true)?;
        self.end(var, ZeroCheck::None)?;
        match (known, in_register) {
            (Some(c), in_register) => self.release(in_register, c),
            (None, Some(v)) => {
                self.add(v, step, away)?;
                self.add(v, bound, true)?;
                self.end_temp(v, ZeroCheck::None)
            }
            (None, None) => Ok(()),
        }
    }
}
