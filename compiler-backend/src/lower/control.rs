//! Branches, conditions and computations that are undone, as halves of paired jumps and straight operations.
//! `loops` does loops.
//!
//! In the shapes below, `jmp c → L` jumps to the `from` of the same pair if `c` holds. The condition of a `from` holds if
//! and only if control came by the jump.
//!
//! | statement | shape |
//! |---|---|
//! | branch, one side empty | `jmp ¬pre → S; then; S: from ¬post` |
//! | branch | `jmp ¬pre → E; then; jmp → F; E: from; else; F: from post` |
//! | `while` | `jmp ¬pre → S; T: from post; body; jmp pre → T; S: from ¬post` |
//! | `while` with a first part | `T: from post; first; jmp ¬pre → S; body; jmp → T; S: from` |
//! | `while` with a first part only | `T: from post; first; jmp pre → T` |
//! | `for`, first value known | `i += first-step; T: from i≠first-step; i += step; body; jmp i≠last → T; i -= last` |
//! | `for`, otherwise | `i += first; T: from i≠first; body; i += step; jmp i≠last+step → T; i -= last+step` |
//!
//! A `for` that may be empty stands within `jmp last<first → S; …; S: from last<first`. The sums wrap around: a loop over
//! all 2^64 integers is empty, or endless.
//!
//! A condition that computes something leaves a flag, 0 or 1. The jump tests the flag, and the other condition clears it.

use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::{Acc, Cond, Ty};

use super::LowerError;
use super::effects::Effects;
use super::linear::Builder;
use super::ops::{Arg, Cmp, Op, VReg, ZeroCheck};
use crate::ir::{Condition, LocatedStmt, Operand, Test};

/// How a condition decides.
#[derive(Clone, Copy)]
pub(super) enum Decision<'b> {
    /// By the comparison of the condition.
    Plain(&'b Condition),
    /// By a flag, which is 0 or 1.
    Flag(VReg),
}

impl Builder<'_> {
    pub(super) fn comparison(&self, d: Decision<'_>) -> Result<Cmp, LowerError> {
        match d {
            Decision::Plain(c) => self.cmp(&c.test),
            Decision::Flag(v) => Ok(Cmp::new(Cond::Ne, Arg::Reg(v), Arg::Const(0))),
        }
    }

    pub(super) fn branch(
        &mut self,
        pre: &Condition,
        post: &Condition,
        (then, otherwise): (&[LocatedStmt], &[LocatedStmt]),
        back: bool,
    ) -> Result<(), LowerError> {
        let plain = pre.compute.is_empty() && post.compute.is_empty();
        if then.is_empty() && otherwise.is_empty() && plain && pre == post && cannot_trap(&pre.test) {
            return Ok(());
        }
        if plain {
            return self.plain_branch(Decision::Plain(pre), Decision::Plain(post), (then, otherwise), back);
        }
        if pre == post && Effects::of_condition(self.program, pre).is_kept_by(self.program, &[then, otherwise]) {
            self.block(&pre.compute, false)?;
            self.plain_branch(Decision::Plain(pre), Decision::Plain(post), (then, otherwise), back)?;
            return self.block(&pre.compute, true);
        }
        let flag = self.temp(ZeroCheck::Zero)?;
        self.flag(flag, pre, false)?;
        self.plain_branch(Decision::Flag(flag), Decision::Flag(flag), (then, otherwise), back)?;
        self.flag(flag, post, true)?;
        self.end_temp(flag, ZeroCheck::Zero)
    }

    /// A branch whose conditions compute nothing.
    fn plain_branch(
        &mut self,
        pre: Decision<'_>,
        post: Decision<'_>,
        (then, otherwise): (&[LocatedStmt], &[LocatedStmt]),
        back: bool,
    ) -> Result<(), LowerError> {
        let cmp = self.comparison(pre)?;
        let (then, otherwise, turned) =
            if then.is_empty() { (otherwise, then, true) } else { (then, otherwise, false) };
        let turn = |c: Cmp| if turned { c.negated() } else { c };
        let cmp = turn(cmp);
        let before = self.known.as_ref().map(|k| k.state());
        let mark = self.mark();
        if otherwise.is_empty() {
            // The first half of a pair reads the words of the second half, so both must compare the same words.
            let start = self.out.ops.len();
            let pair = self.pair(None, None);
            self.half(pair, false)?;
            self.in_branch(|b| b.block(then, back))?;
            let after = turn(self.comparison(post)?);
            self.no_change(mark)?;
            if same_words(&cmp, &after) {
                self.set_pair(pair, Some(cmp.negated()), Some(after.negated()));
                self.half(pair, true)?;
            } else {
                let (other, skip) = (self.pair(None, Some(after)), self.pair(Some(cmp.negated()), None));
                if let Some(item) = self.out.ops.get_mut(start) {
                    item.op = Op::Half { pair: skip, from: false };
                }
                self.half(other, false)?;
                self.half(skip, true)?;
                self.half(other, true)?;
            }
            if let (Some(known), Some(before)) = (&mut self.known, before) {
                known.meet(before);
            }
            return Ok(());
        }
        let skip = self.pair(Some(cmp.negated()), None);
        let end = self.pair(None, None);
        self.half(skip, false)?;
        self.in_branch(|b| b.block(then, back))?;
        self.half(end, false)?;
        let left = self.back(mark);
        let first = self.known.as_mut().zip(before).map(|(k, before)| k.swap(before));
        self.half(skip, true)?;
        self.in_branch(|b| b.block(otherwise, back))?;
        self.join(mark, &left)?;
        if let (Some(known), Some(first)) = (&mut self.known, first) {
            known.meet(first);
        }
        let after = turn(self.comparison(post)?);
        self.set_pair(end, None, Some(after));
        self.half(end, true)
    }

    /// Lowers a part within a branch.
    fn in_branch(&mut self, part: impl FnOnce(&mut Self) -> Result<(), LowerError>) -> Result<(), LowerError> {
        self.level += 1;
        part(self)?;
        self.level -= 1;
        Ok(())
    }

    pub(super) fn no_change(&self, mark: usize) -> Result<(), LowerError> {
        if self.changed(mark).is_empty() {
            Ok(())
        } else {
            Err(self.bad("a branch or a turn of a loop does not leave the variables that it finds"))
        }
    }

    /// Adds 1 to a flag if a condition holds; with `undo`, subtracts it.
    pub(super) fn flag(&mut self, flag: VReg, condition: &Condition, undo: bool) -> Result<(), LowerError> {
        self.block(&condition.compute, false)?;
        let cmp = self.cmp(&condition.test)?;
        match cmp.ty {
            Ty::Int | Ty::Q => {
                use int_fn::Name::{Eq, Lt, Ltu};
                let (func, args, not) = match cmp.cond {
                    Cond::Eq | Cond::Always => (Eq, [cmp.a, cmp.b], false),
                    Cond::Ne => (Eq, [cmp.a, cmp.b], true),
                    Cond::Lt => (Lt, [cmp.a, cmp.b], false),
                    Cond::Ge => (Lt, [cmp.a, cmp.b], true),
                    Cond::Gt => (Lt, [cmp.b, cmp.a], false),
                    Cond::Le => (Lt, [cmp.b, cmp.a], true),
                    Cond::Ltu => (Ltu, [cmp.a, cmp.b], false),
                    Cond::Geu => (Ltu, [cmp.a, cmp.b], true),
                };
                if not {
                    self.add(flag, Arg::Const(1), undo)?;
                }
                self.update((Acc::Add, not != undo, TableFn::Int(func)), Arg::Reg(flag), &args)?;
            }
            Ty::L | Ty::F => {
                let not = cmp.negated();
                let zero = Cmp::new(Cond::Eq, Arg::Reg(flag), Arg::Const(0));
                let pair = if undo { self.pair(Some(zero), Some(not)) } else { self.pair(Some(not), Some(zero)) };
                self.half(pair, false)?;
                self.add(flag, Arg::Const(1), undo)?;
                self.half(pair, true)?;
            }
        }
        self.block(&condition.compute, true)
    }

    pub(super) fn with(
        &mut self,
        name: &str,
        compute: &[LocatedStmt],
        body: &[LocatedStmt],
        back: bool,
    ) -> Result<(), LowerError> {
        let unique = self.fresh_name(name);
        if self.erases(name, compute, body)? {
            return self.with_erased(unique, compute, body, back);
        }
        let before = self.known.as_ref().map(|k| k.state());
        self.span(unique.clone(), false, |b| b.block(compute, false))?;
        self.block(body, back)?;
        self.span(unique, true, |b| b.block(compute, true))?;
        // What has been undone has its old value.
        if let (Some(known), Some(before)) = (&mut self.known, before) {
            known.restore(before);
            self.forget(&Effects::of(self.program, body));
        }
        Ok(())
    }
}

/// Whether a comparison cannot trap: it reads no memory, and its words always have an order.
fn cannot_trap(test: &Test) -> bool {
    matches!(test.ty, Ty::Int | Ty::Q) && ![test.a, test.b].iter().any(|o| matches!(o, Operand::Mem(_)))
}

/// Whether two comparisons read the same words of memory.
fn same_words(a: &Cmp, b: &Cmp) -> bool {
    let words = |c: &Cmp| [c.a, c.b].into_iter().filter(|x| matches!(x, Arg::Mem(_))).collect::<Vec<_>>();
    let (a, b) = (words(a), words(b));
    a.iter().all(|x| b.contains(x)) && b.iter().all(|x| a.contains(x))
}
