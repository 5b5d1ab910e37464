//! Branches, loops, conditions, arrays and computations that are undone, as
//! halves of paired jumps and straight operations.
//!
//! In the shapes below `jmp c → L` goes to the `from` of the same pair, and `from
//! c` states what holds after the jump only.
//!
//! | statement | shape |
//! |---|---|
//! | branch, one side empty | `jmp ¬pre → S; then; S: from ¬post` |
//! | branch | `jmp ¬pre → E; then; jmp → F; E: from; else; F: from post` |
//! | `while` | `jmp ¬pre → S; T: from post; body; jmp pre → T; S: from ¬post` |
//! | `while` with a first part | `T: from post; first; jmp ¬pre → S; body; jmp → T; S: from` |
//! | the same, with no other part | `T: from post; first; jmp pre → T` |
//! | `for`, first value known | `i += first-step; T: from i≠first-step; i += step; body; jmp i≠last → T; i -= last` |
//! | `for`, otherwise | `i += first; T: from i≠first; body; i += step; jmp i≠last+step → T; i -= last+step` |
//!
//! A `for` that may be empty stands within `jmp last<first → S; …; S: from
//! last<first`. The sums wrap around: a loop over all 2^64 integers is empty, or endless.
//!
//! A condition that computes something leaves a flag, 0 or 1, which is branched
//! upon and cleared by the other condition.

use pendula_isa::table::{Row, TableFn, int_fn};
use pendula_isa::{Acc, Cond, Ty};

use super::LowerError;
use super::effects::Effects;
use super::linear::{Builder, INT};
use super::ops::{Arg, Args, CheckReason, Clear, Cmp, Op, SP, VReg, Word};
use crate::ir::{At, Condition, Operand, Step, Test, Var};

/// How a condition decides.
#[derive(Clone, Copy)]
enum Decides<'b> {
    /// By its comparison.
    Plain(&'b Condition),
    /// By a flag that is not 0.
    Flag(VReg),
}

impl Builder<'_> {
    fn decision(&self, d: Decides<'_>) -> Result<Cmp, LowerError> {
        match d {
            Decides::Plain(c) => self.cmp(&c.test),
            Decides::Flag(v) => Ok(Cmp::new(Cond::Ne, Arg::Reg(v), Arg::Const(0))),
        }
    }

    pub(super) fn branch(
        &mut self,
        pre: &Condition,
        post: &Condition,
        (then, otherwise): (&[At], &[At]),
        back: bool,
    ) -> Result<(), LowerError> {
        let plain = pre.compute.is_empty() && post.compute.is_empty();
        if then.is_empty() && otherwise.is_empty() && plain && pre == post && is_calm(&pre.test) {
            return Ok(());
        }
        if plain {
            return self.decide(Decides::Plain(pre), Decides::Plain(post), (then, otherwise), back);
        }
        if pre == post && Effects::of_condition(self.program, pre).is_kept_by(self.program, &[then, otherwise]) {
            self.block(&pre.compute, false)?;
            self.decide(Decides::Plain(pre), Decides::Plain(post), (then, otherwise), back)?;
            return self.block(&pre.compute, true);
        }
        let flag = self.temp(Clear::Zero)?;
        self.flag(flag, pre, false)?;
        self.decide(Decides::Flag(flag), Decides::Flag(flag), (then, otherwise), back)?;
        self.flag(flag, post, true)?;
        self.end_temp(flag, Clear::Zero)
    }

    /// A branch whose conditions compute nothing.
    fn decide(
        &mut self,
        pre: Decides<'_>,
        post: Decides<'_>,
        (then, otherwise): (&[At], &[At]),
        back: bool,
    ) -> Result<(), LowerError> {
        let cmp = self.decision(pre)?;
        let (then, otherwise, turned) =
            if then.is_empty() { (otherwise, then, true) } else { (then, otherwise, false) };
        let turn = |c: Cmp| if turned { c.negated() } else { c };
        let cmp = turn(cmp);
        let before = self.known.as_ref().map(|k| k.state());
        let mark = self.mark();
        if otherwise.is_empty() {
            // The first half reads the words that the second one does: they must be words there, too.
            let start = self.out.ops.len();
            let pair = self.pair(None, None);
            self.half(pair, false)?;
            self.deeper(|b| b.block(then, back))?;
            let after = turn(self.decision(post)?);
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
        self.deeper(|b| b.block(then, back))?;
        self.half(end, false)?;
        let left = self.back(mark);
        let first = self.known.as_mut().zip(before).map(|(k, before)| k.swap(before));
        self.half(skip, true)?;
        self.deeper(|b| b.block(otherwise, back))?;
        self.join(mark, &left)?;
        if let (Some(known), Some(first)) = (&mut self.known, first) {
            known.meet(first);
        }
        let after = turn(self.decision(post)?);
        self.set_pair(end, None, Some(after));
        self.half(end, true)
    }

    /// Within a branch.
    fn deeper(&mut self, part: impl FnOnce(&mut Self) -> Result<(), LowerError>) -> Result<(), LowerError> {
        self.level += 1;
        part(self)?;
        self.level -= 1;
        Ok(())
    }

    fn no_change(&self, mark: usize) -> Result<(), LowerError> {
        if self.changed(mark).is_empty() {
            Ok(())
        } else {
            Err(self.bad("a branch or a turn of a loop does not leave the variables that it finds"))
        }
    }

    /// Within a loop's turn.
    fn turns(&mut self, body: &[At], part: impl FnOnce(&mut Self) -> Result<(), LowerError>) -> Result<(), LowerError> {
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

    pub(super) fn while_loop(
        &mut self,
        pre: &Condition,
        post: &Condition,
        (first, body): (&[At], &[At]),
        back: bool,
    ) -> Result<(), LowerError> {
        if !first.is_empty() {
            return self.while_with_first(pre, post, (first, body), back);
        }
        let flag = |b: &mut Self, c: &Condition| {
            if c.compute.is_empty() { Ok(None) } else { b.temp(Clear::Zero).map(Some) }
        };
        let (q, p) = (flag(self, pre)?, flag(self, post)?);
        let enters = q.map_or(Decides::Plain(pre), Decides::Flag);
        let turned = p.map_or(Decides::Plain(post), Decides::Flag);
        if let Some(q) = q {
            self.flag(q, pre, false)?;
        }
        let (enter, turn) = (self.decision(enters)?, self.decision(turned)?);
        let skip = self.pair(Some(enter.negated()), Some(turn.negated()));
        self.half(skip, false)?;
        self.turns(body, |b| {
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
            self.end_temp(p, Clear::Zero)?;
        }
        q.map_or(Ok(()), |q| self.end_temp(q, Clear::Zero))
    }

    /// A loop that is left in its middle. A condition that computes something is looked at where it is to hold or not: a flag, once that is
    /// taken away from it, must be zero.
    fn while_with_first(
        &mut self,
        pre: &Condition,
        post: &Condition,
        (first, body): (&[At], &[At]),
        back: bool,
    ) -> Result<(), LowerError> {
        let flag = |b: &mut Self, c: &Condition| {
            if c.compute.is_empty() { Ok(None) } else { b.temp(Clear::Zero).map(Some) }
        };
        let (q, p) = (flag(self, pre)?, flag(self, post)?);
        let enters = q.map_or(Decides::Plain(pre), Decides::Flag);
        let turned = p.map_or(Decides::Plain(post), Decides::Flag);
        let zero = |flag: VReg| Op::Assert(Cmp::new(Cond::Eq, Arg::Reg(flag), Arg::Const(0)));
        if self.known.is_some() {
            self.forget(&Effects::of(self.program, body));
        }
        self.turns(first, |b| {
            let (enter, turn) = (b.decision(enters)?, b.decision(turned)?);
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
            self.end_temp(p, Clear::None)?;
        }
        q.map_or(Ok(()), |q| self.end_temp(q, Clear::None))
    }

    /// Adds to a flag whether a condition holds; with `undo`, takes it away.
    fn flag(&mut self, flag: VReg, condition: &Condition, undo: bool) -> Result<(), LowerError> {
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

    /// A copy of an integer operand in a virtual register, where `jmp` cannot take it as it is.
    fn held(&mut self, arg: Arg) -> Result<(Arg, Option<VReg>), LowerError> {
        let direct = match arg {
            Arg::Const(c) => super::legal::is_small(c),
            Arg::Reg(_) => true,
            Arg::Mem(_) => false,
        };
        if direct {
            return Ok((arg, None));
        }
        let v = self.temp(Clear::None)?;
        self.add(v, arg, false)?;
        Ok((Arg::Reg(v), Some(v)))
    }

    fn release(&mut self, held: Option<VReg>, arg: Arg) -> Result<(), LowerError> {
        let Some(v) = held else { return Ok(()) };
        self.add(v, arg, true)?;
        self.end_temp(v, Clear::None)
    }

    pub(super) fn for_loop(
        &mut self,
        var: Var,
        (first, last): (Arg, Arg),
        step: Step,
        body: &[At],
        back: bool,
    ) -> Result<(), LowerError> {
        let by = match step {
            // Passes have found that a variable is 0; a program that comes here is wrong, but it may not.
            Step::Const(0) => return self.push(super::linear::NEVER),
            Step::Const(k) => (Arg::Const(k.cast_unsigned()), false),
            Step::Var { var, negated } => (Arg::Reg(self.reg(var)?), negated),
        };
        let (given_first, given_last) = (first, last);
        let (first, first_held) = self.held(first)?;
        let (last, last_held) = self.held(last)?;
        match (given_first, given_last, step) {
            (f, l, _) if f == l => self.around(var, (first, last, given_first, given_last), by, body, back)?,
            (Arg::Const(f), Arg::Const(l), Step::Const(k)) => {
                let (f, l) = (f.cast_signed(), l.cast_signed());
                if if k > 0 { f <= l } else { f >= l } {
                    self.around(var, (first, last, given_first, given_last), by, body, back)?;
                }
            }
            (_, _, Step::Const(k)) => {
                let empty = Cmp::new(if k > 0 { Cond::Lt } else { Cond::Gt }, last, first);
                let guard = self.pair(Some(empty), Some(empty));
                self.half(guard, false)?;
                self.around(var, (first, last, given_first, given_last), by, body, back)?;
                self.half(guard, true)?;
            }
            (_, _, Step::Var { negated, .. }) => {
                // The distance, times the sign of the step: not negative if there is a turn.
                let (sign, distance) = (self.temp(Clear::None)?, self.temp(Clear::None)?);
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
                self.around(var, (first, last, given_first, given_last), by, body, back)?;
                self.half(guard, true)?;
                self.update((Acc::Xor, false, INT), Arg::Reg(distance), &[Arg::Reg(sign)])?;
                self.add(distance, Arg::Reg(sign), true)?;
                self.add(distance, start, false)?;
                self.add(distance, to, true)?;
                self.update((Acc::Add, true, sar), Arg::Reg(sign), &[by.0, Arg::Const(63)])?;
                self.end_temp(distance, Clear::None)?;
                self.end_temp(sign, Clear::None)?;
            }
        }
        self.release(last_held, given_last)?;
        self.release(first_held, given_first)
    }

    /// The turns of a `for` of which there is one at least. The bounds as `jmp` takes them, and as they were given.
    fn around(
        &mut self,
        var: Var,
        (first, last, given_first, given_last): (Arg, Arg, Arg, Arg),
        (step, minus): (Arg, bool),
        body: &[At],
        back: bool,
    ) -> Result<(), LowerError> {
        let sum = |a: Arg, minus: bool| {
            let (Arg::Const(a), Arg::Const(k)) = (a, step) else { return None };
            Some(Arg::Const(if minus { a.wrapping_sub(k) } else { a.wrapping_add(k) }))
        };
        if given_first == given_last {
            let i = self.begin(var, Clear::None, false)?;
            self.add(i, first, false)?;
            self.turns(body, |b| b.block(body, back))?;
            self.add(i, last, true)?;
            return self.end(var, Clear::None);
        }
        // One value beside the range: that before the first if the first is known, else that after the last.
        // From 0 to a known last value, the latter needs no instruction before the loop.
        let from_zero = given_first == Arg::Const(0) && matches!((given_last, step), (Arg::Const(_), Arg::Const(_)));
        let before = matches!(given_first, Arg::Const(_)) && !from_zero;
        let (bound, given) = if before { (first, given_first) } else { (last, given_last) };
        let away = minus == before;
        let known = sum(given, before);
        let (beside, held) = match known {
            Some(c) => self.held(c)?,
            None => {
                let v = self.temp(Clear::None)?;
                self.add(v, bound, false)?;
                self.add(v, step, !away)?;
                (Arg::Reg(v), Some(v))
            }
        };
        let (enter, leave) = if before { (beside, last) } else { (first, beside) };
        let i = self.begin(var, Clear::None, false)?;
        self.add(i, enter, false)?;
        let top = self.pair(None, None);
        self.turns(body, |b| {
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
        self.end(var, Clear::None)?;
        match (known, held) {
            (Some(c), held) => self.release(held, c),
            (None, Some(v)) => {
                self.add(v, step, away)?;
                self.add(v, bound, true)?;
                self.end_temp(v, Clear::None)
            }
            (None, None) => Ok(()),
        }
    }

    pub(super) fn with(&mut self, name: &str, compute: &[At], body: &[At], back: bool) -> Result<(), LowerError> {
        let unique = self.fresh_name(name);
        if self.erases(name, compute, body)? {
            return self.with_erased(unique, compute, body, back);
        }
        let before = self.known.as_ref().map(|k| k.state());
        self.span(unique.clone(), false, |b| b.block(compute, false))?;
        self.block(body, back)?;
        self.span(unique, true, |b| b.block(compute, true))?;
        // What has been undone is as it was.
        if let (Some(known), Some(before)) = (&mut self.known, before) {
            known.restore(before);
            self.forget(&Effects::of(self.program, body));
        }
        Ok(())
    }

    /// An array's life begins.
    pub(super) fn array(&mut self, base: VReg, len: Arg, region: u32, how: Clear) -> Result<(), LowerError> {
        self.out.moves_sp = true;
        self.length(len)?;
        self.add(base, Arg::Reg(SP), false)?;
        self.add(SP, len, false)?;
        if let Some(known) = &mut self.known {
            known.array(base, len, region);
        }
        self.each_word((base, SP), len, Some((region, how)))
    }

    /// An array's life ends.
    pub(super) fn free_array(&mut self, base: VReg, len: Arg, region: u32, how: Clear) -> Result<(), LowerError> {
        self.out.moves_sp = true;
        self.each_word((base, SP), len, Some((region, how)))?;
        self.release_array(base, len)
    }

    pub(super) fn release_array(&mut self, base: VReg, len: Arg) -> Result<(), LowerError> {
        if let Some(known) = &mut self.known {
            known.release(base);
        }
        self.add(SP, len, true)?;
        self.add(base, Arg::Reg(SP), true)?;
        self.length(len)
    }

    fn length(&mut self, len: Arg) -> Result<(), LowerError> {
        match len {
            Arg::Const(n) if n.cast_signed() >= 0 => Ok(()),
            // A constant that is negative, too: passes have found it, and the program may never come here.
            Arg::Const(_) | Arg::Reg(_) | Arg::Mem(_) => {
                let outer = self.said;
                self.said = match outer {
                    Some(CheckReason::Words(region)) => Some(CheckReason::Length(region)),
                    other => other,
                };
                let done = self.push(Op::Assert(Cmp::new(Cond::Ge, len, Arg::Const(0))));
                self.said = outer;
                done
            }
        }
    }

    /// Makes sure of each word of an array, or erases it; `end` is where it ends.
    pub(super) fn each_word(
        &mut self,
        (base, end): (VReg, VReg),
        len: Arg,
        clear: Option<(u32, Clear)>,
    ) -> Result<(), LowerError> {
        // Before an array of negative length there is a trap.
        let none = matches!(len, Arg::Const(n) if n.cast_signed() <= 0);
        if none || clear.is_some_and(|(_, how)| how == Clear::None) {
            return Ok(());
        }
        let k = self.temp(Clear::None)?;
        self.add(k, Arg::Reg(base), false)?;
        let same = Cmp::new(Cond::Eq, Arg::Reg(base), Arg::Reg(end));
        let guard = if matches!(len, Arg::Const(_)) { None } else { Some(self.pair(Some(same), Some(same))) };
        if let Some(guard) = guard {
            self.half(guard, false)?;
        }
        self.depth += 1;
        let not = |bound: VReg| Some(Cmp::new(Cond::Ne, Arg::Reg(k), Arg::Reg(bound)));
        let top = self.pair(not(end), not(base));
        self.half(top, true)?;
        let word = |region| Arg::Mem(Word { base: Some(k), index: None, offset: 0, region });
        match clear {
            Some((region, how)) => {
                let t = self.temp(Clear::None)?;
                let args = Args::new(&[Arg::Reg(t), word(region)]).ok_or_else(|| self.bad("two operands"))?;
                let swap = Op::Permute { row: Row::Swap, inverse: false, ty: Ty::Int, args };
                self.push(swap)?;
                self.push(Op::Clear(t, how))?;
                self.push(swap)?;
                self.end_temp(t, Clear::None)?;
            }
            None => self.push(Op::Erase(word(0)))?,
        }
        self.add(k, Arg::Const(1), false)?;
        self.half(top, false)?;
        self.depth -= 1;
        if let Some(guard) = guard {
            self.half(guard, true)?;
        }
        self.add(k, Arg::Reg(end), true)?;
        self.end_temp(k, Clear::None)
    }
}

/// Whether a comparison cannot trap: its words are no words of memory, and always have an order.
fn is_calm(test: &Test) -> bool {
    matches!(test.ty, Ty::Int | Ty::Q) && ![test.a, test.b].iter().any(|o| matches!(o, Operand::Mem(_)))
}

/// Whether two comparisons read the same words of memory.
fn same_words(a: &Cmp, b: &Cmp) -> bool {
    let words = |c: &Cmp| [c.a, c.b].into_iter().filter(|x| matches!(x, Arg::Mem(_))).collect::<Vec<_>>();
    let (a, b) = (words(a), words(b));
    a.iter().all(|x| b.contains(x)) && b.iter().all(|x| a.contains(x))
}
