//! Branches, loops and the conditions that decide them.

use pendula_isa::num::compare;

use super::error::EvalError;
use super::machine::{Done, Frame, Machine, fault};
use crate::ir::{Block, Condition, Loc, LocatedStmt, Operand, Step, Test, Var};

impl Machine<'_> {
    pub(super) fn branch(
        &mut self,
        frame: &Frame,
        (pre, post): (&Condition, &Condition),
        (then, otherwise): (&Block, &Block),
        back: bool,
        loc: Loc,
    ) -> Done {
        let (pre, post) = if back { (post, pre) } else { (pre, post) };
        let holds = self.condition(frame, pre, loc)?;
        self.block(frame, if holds { then } else { otherwise }, back)?;
        if self.condition(frame, post, loc)? == holds { Ok(()) } else { Err(EvalError::Branch { loc, first: holds }) }
    }

    pub(super) fn while_loop(
        &mut self,
        frame: &Frame,
        (pre, post): (&Condition, &Condition),
        (first, body): (&Block, &Block),
        back: bool,
        loc: Loc,
    ) -> Done {
        let (pre, post) = if back { (post, pre) } else { (pre, post) };
        if self.condition(frame, post, loc)? {
            return Err(EvalError::Loop { loc, entered: true });
        }
        self.block(frame, first, back)?;
        while self.condition(frame, pre, loc)? {
            self.step(loc)?;
            self.visit(loc)?;
            self.block(frame, body, back)?;
            if !self.condition(frame, post, loc)? {
                return Err(EvalError::Loop { loc, entered: false });
            }
            self.block(frame, first, back)?;
        }
        Ok(())
    }

    /// Whether a condition holds.
    pub(super) fn condition(&mut self, frame: &Frame, condition: &Condition, loc: Loc) -> Result<bool, EvalError> {
        self.block(frame, &condition.compute, false)?;
        let test = &condition.test;
        let (a, b) = (self.word(frame, test.a, loc)?, self.word(frame, test.b, loc)?);
        let holds = self.holds(test, a, b, loc)?;
        self.block(frame, &condition.compute, true)?;
        Ok(holds)
    }

    pub(super) fn holds(&self, test: &Test, a: u64, b: u64, loc: Loc) -> Result<bool, EvalError> {
        compare(self.state.env, test.cond, test.ty, a, b).map_err(fault(loc))
    }

    /// Runs a `for`, or undoes it.
    pub(super) fn for_loop(
        &mut self,
        frame: &Frame,
        var: Var,
        bounds: (Operand, Operand, Step),
        (body, back): (&[LocatedStmt], bool),
        loc: Loc,
    ) -> Done {
        let at = self.place(frame, var, loc)?;
        let before = self.bounds(frame, bounds, loc)?;
        let changed = || EvalError::Changed { loc, name: frame.function.vars[var.0 as usize].name.clone() };
        if self.state.value(at) != 0 {
            return Err(EvalError::Leak { loc, name: frame.function.vars[var.0 as usize].name.clone() });
        }
        let (first, last, step) = before;
        let (way, by) = (i128::from(last) - i128::from(first), i128::from(step));
        if by == 0 || (way % by != 0 && (way < 0) == (by < 0)) {
            return Err(EvalError::Range { loc, first, last, step });
        }
        let turns = if way != 0 && (way < 0) != (by < 0) { 0 } else { way / by + 1 };
        for turn in 0..turns {
            self.step(loc)?;
            self.visit(loc)?;
            let turn = if back { turns - 1 - turn } else { turn };
            let value = (i128::from(first) + turn * by) as i64;
            self.state.set_value(at, value.cast_unsigned());
            frame.set_alive(var, true);
            self.trace_written(frame);
            self.block(frame, body, back)?;
            frame.set_alive(var, false);
            if self.state.value(at) != value.cast_unsigned() {
                return Err(changed());
            }
            self.state.set_value(at, 0);
            if self.bounds(frame, bounds, loc)? != before {
                return Err(changed());
            }
        }
        Ok(())
    }

    fn bounds(
        &self,
        frame: &Frame,
        (first, last, step): (Operand, Operand, Step),
        loc: Loc,
    ) -> Result<(i64, i64, i64), EvalError> {
        let step = match step {
            Step::Const(k) => k,
            Step::Var { var, negated } => {
                let word = self.var(frame, var, loc)?.cast_signed();
                if negated { word.wrapping_neg() } else { word }
            }
        };
        Ok((self.word(frame, first, loc)?.cast_signed(), self.word(frame, last, loc)?.cast_signed(), step))
    }
}
