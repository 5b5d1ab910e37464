//! Statements.

use std::rc::Rc;

use pendula_codegen::lift::LiftConfig;
use pendula_codegen::lift::symbolic::{self, Operand as Word};
use pendula_codegen::loops::{self, Block, Freed, Slot, Stmt as Out, Test as OutTest, Value};
use pendula_codegen::ops::{Body, Kernel, Op, ValueId};
use pendula_isa::Env;
use pendula_isa::adjoint::{AdMode, VALUE};
use pendula_isa::{Ty, types::Cond};

use super::certify::Plan;
use super::dead_uncompute::Own;
use super::flow::Location;
use super::function::{FunctionBuilder, local};
use super::loops::TEST;
use super::{Builder, Refused, Sweep};
use crate::ir::{AncillaChecks, Condition, LocatedStmt, Operand, Region, Stmt, Test, Var, permutes};
use crate::passes::Pass;

type Done = Result<(), Refused>;

impl FunctionBuilder<'_, '_> {
    /// Statements in the order of the run.
    pub(super) fn block(&mut self, block: &[LocatedStmt], back: bool) -> Done {
        for n in 0..block.len() {
            self.statement(&block[if back { block.len() - 1 - n } else { n }], back)?;
        }
        Ok(())
    }

    pub(super) fn statement(&mut self, s: &LocatedStmt, back: bool) -> Done {
        if self.are_passive(std::slice::from_ref(s)) {
            return self.values_alone(|fw| fw.statement(s, back));
        }
        if back && self.undoes_nothing(s) {
            self.leave_out(s);
            return Ok(());
        }
        match &s.stmt {
            Stmt::Update { acc, inverse, func, dst, args } => {
                let info = func.info();
                let mut operands = vec![((*dst).into(), info.ty)];
                operands.extend(args.iter().map(|a| (*a, info.from)));
                // What a turn of a block adds is added up first.
                let inverse = *inverse != back && !self.parts.contains_key(&(*dst).into());
                let what = (*acc, inverse, *func);
                self.keep_value_of(s, |fw| {
                    fw.recorded(s, &operands, info.partials > 0, |setting, kernels, words| {
                        symbolic::accumulate(setting, kernels, what, words)
                    })
                })
            }
            Stmt::Permute { row, inverse, ty, args } => {
                if !permutes(*row) || args.len() != row.info().operands.len() {
                    return Err(Refused::Operation);
                }
                // Words of any type may change places as integers, and what they carry with them.
                let ty_of = |a: &Operand| if matches!(a, Operand::Mem(_)) && *ty == Ty::Int { Ty::Q } else { *ty };
                let operands: Vec<(Operand, Ty)> = args.iter().map(|a| (*a, ty_of(a))).collect();
                let what = (*row, *inverse != back, *ty);
                self.recorded(s, &operands, false, |setting, kernels, words| {
                    symbolic::row(setting, kernels, what, words)
                })
            }
            Stmt::Ancilla { var, free, checks } => {
                self.life(*var, *checks, *free != back);
                Ok(())
            }
            Stmt::Array { base, len, region, ty, free, checks } => {
                self.array(s, *base, (*len, *region, *ty, *checks), *free != back)
            }
            Stmt::Call { func, inverse, args } => {
                self.keep_sums(s, |fw| fw.call(s, *func, Sweep::of(*inverse != back), args))
            }
            Stmt::If { pre, post, then, otherwise } => {
                let (pre, post) = if back { (post, pre) } else { (pre, post) };
                let test = self.condition(s, pre, 0)?;
                let flag = self.fresh("holds", Ty::Int);
                let then = self.nested(|fw| fw.block(then, back))?;
                let otherwise = self.nested(|fw| fw.block(otherwise, back))?;
                self.push(Out::If { test, flag, then, otherwise });
                let after = self.condition(s, post, 1)?;
                self.push(Out::Agree(after, flag));
                Ok(())
            }
            Stmt::While { pre, post, first, body } => {
                let (pre, post) = if back { (post, pre) } else { (pre, post) };
                let before = self.condition(s, post, 1)?;
                self.push(Out::GiveUp { test: before, holds: true });
                let computed = self.computed.clone();
                let turn = self.in_loop(|fw| {
                    fw.nested(|fw| {
                        fw.block(first, back)?;
                        let unless = fw.condition(s, pre, 0)?;
                        let finite = fw.unchecked_numbers(&pre.test);
                        fw.push(Out::Leave { unless, finite });
                        fw.block(body, back)?;
                        let after = fw.condition(s, post, 1)?;
                        fw.push(Out::Proceed(after));
                        Ok(())
                    })
                })?;
                self.computed = computed;
                let mark = self.w.mark(s.loc);
                self.push(Out::Loop(mark, turn));
                Ok(())
            }
            Stmt::For { .. } => self.keep_sums(s, |fw| fw.for_statement(s, back)),
            Stmt::With { name: _, compute, body } => self.with(s, (compute, body), back),
            Stmt::Span { name: _, undo: _, body } => self.block(body, back),
            Stmt::Assert { test, why: _, reason: _ } => {
                if self.proven.contains(&(std::ptr::from_ref(s), TEST)) {
                    return Ok(());
                }
                let test = self.test(s, test, 0)?;
                self.push(Out::GiveUp { test, holds: false });
                Ok(())
            }
            Stmt::Show { .. } | Stmt::Print(_) => Err(Refused::Shows),
        }
    }

    /// A `for`.
    fn for_statement(&mut self, s: &LocatedStmt, back: bool) -> Done {
        let Stmt::For { var, first, last, step, body, blocks } = &s.stmt else { return Ok(()) };
        if let Some(blocks) = blocks
            && self.keeping_nothing(|fw| fw.in_blocks(s, *blocks, back))?
        {
            return Ok(());
        }
        // Turns that only add may as well be taken back from the first: memory is best read upward. What they keep has an order.
        let in_any_order = self.w.drops.fast
            && !self.keeps_in_turns(s)
            && self.w.drops.flow(self.f, std::slice::from_ref(s)).only_adds();
        let down = back && !in_any_order;
        self.keep_in_loop(s, |fw| fw.count(s, *var, (*first, *last, *step), body, down, |fw| fw.block(body, back)))
    }

    /// A computation, what is made of it, and the computation undone.
    fn with(&mut self, s: &LocatedStmt, (compute, body): (&[LocatedStmt], &[LocatedStmt]), back: bool) -> Done {
        if back && let Some(calls) = self.fused_calls(compute, body) {
            self.leave_out(s);
            return self.fuse_calls(&calls, (compute, body), false);
        }
        let is_computed = self.computed.remove(&std::ptr::from_ref(s)) && back && self.known;
        let kept = self.compute_keeping((compute, body), is_computed)?;
        self.block(body, back)?;
        self.undo_keeping(kept, compute, body)?;
        if !back && self.stays_computed(compute, body) {
            self.computed.insert(std::ptr::from_ref(s));
        }
        Ok(())
    }

    /// Checks the address of an operand that is a memory word, unless that has been done. `n` is the operand's number.
    pub(super) fn inside(&mut self, s: &LocatedStmt, n: usize, operand: Operand) {
        if let Operand::Mem(m) = operand
            && !self.proven.contains(&(std::ptr::from_ref(s), n))
            && !self.kept.contains_key(&m)
        {
            self.push(Out::Inside(self.address(m)));
        }
    }

    /// A statement whose operations can be recorded. Where words `share`, what flows to two that are one is to be added up.
    fn recorded(
        &mut self,
        s: &LocatedStmt,
        operands: &[(Operand, Ty)],
        shares: bool,
        record: impl Fn((Env, LiftConfig), &mut Vec<Kernel>, &[Word]) -> Option<Body>,
    ) -> Done {
        if !self.flows_here(operands) {
            return Ok(());
        }
        self.site = std::ptr::from_ref(s);
        for (n, (operand, _)) in operands.iter().enumerate() {
            self.inside(s, n, *operand);
        }
        let possible_aliases =
            if shares && !self.lanes().is_empty() { self.possible_aliases(s, &operands[1..]) } else { Vec::new() };
        let Some((&(a, b), others)) = possible_aliases.split_first() else {
            return self.operations(operands, &record);
        };
        for (a, b) in others {
            self.push(Out::Apart(self.address(*a), self.address(*b)));
        }
        let then = self.nested(|fw| fw.with_copy(a, |fw| fw.operations(operands, &record)))?;
        let otherwise = self.nested(|fw| fw.operations(operands, &record))?;
        self.push(Out::IfSame { addresses: [self.address(a), self.address(b)], then, otherwise });
        Ok(())
    }

    fn operations(
        &mut self,
        operands: &[(Operand, Ty)],
        record: &impl Fn((Env, LiftConfig), &mut Vec<Kernel>, &[Word]) -> Option<Body>,
    ) -> Done {
        let mut words = Vec::new();
        // What a word carries that is not active goes nowhere, and nothing that matters comes to it.
        let all_inactive = operands
            .first()
            .is_some_and(|(dst, _)| self.is_inactive(*dst) || self.flows_to.is_some() && !self.is_taken_back(*dst));
        let mut slots: Vec<Option<Slot>> = vec![None];
        let mut seen: Vec<Operand> = Vec::new();
        for (operand, ty) in operands {
            if let Operand::Const(k) = operand {
                words.push(Word::Const(*k));
                continue;
            }
            let at = seen.iter().position(|o| o == operand).unwrap_or_else(|| {
                seen.push(*operand);
                let inactive = all_inactive || self.is_inactive(*operand) || !self.may_flow_to(*operand);
                slots.push(self.place(*operand).map(|place| match inactive {
                    true => Slot::Word(loops::Word { place, ty: *ty, lane: VALUE }),
                    false => Slot::Place(place, *ty),
                }));
                seen.len() - 1
            });
            words.push(Word::Word(at as u8 + 1));
        }
        let setting = (self.w.env(), Builder::setting(self.ad_mode));
        let mut body = record(setting, &mut self.w.kernels, &words).ok_or(Refused::Operation)?;
        if self.keeps_a_value() {
            let plain = (self.w.env(), Builder::setting(AdMode::Plain));
            let plain = record(plain, &mut self.w.kernels, &words).ok_or(Refused::Operation)?;
            self.keep_value(&plain.ops, &mut body, &mut slots);
        }
        let to = operands.first().map(|(dst, _)| *dst).filter(|dst| !self.parts.contains_key(dst));
        let complete = to.and_then(word_of).is_some_and(|at| self.complete.contains(&at));
        let preserved = to.is_some_and(|dst| self.back && self.is_preserved(dst) || self.is_taken_back(dst));
        if self.known && self.back {
            let written = body.ops.iter().filter_map(|op| if let Op::Set(0, _, v) = *op { Some(v) } else { None });
            let written = written.collect();
            forget_checks(&mut body.ops, written);
        }
        if complete || preserved {
            // Only what flows from it is wanted.
            let mut written = Vec::new();
            body.ops.iter_mut().for_each(|op| {
                if let Op::Set(0, 1, v) = *op {
                    written.push(v);
                    *op = Op::Const(0);
                }
            });
            // What is made of words that may have been rounded is looked at, though it is left alone.
            let seen = self.known || to.is_some_and(|dst| self.is_taken_back(dst));
            if complete || seen && !self.w.drops.fast {
                forget_checks(&mut body.ops, written);
            }
        }
        let early = to.is_some_and(|dst| self.is_integer(dst));
        let (mut block, _) = Block::new(&body, slots, [early, self.carries_late()], None).ok_or(Refused::Operation)?;
        block.limit = to.and_then(word_of).and_then(|at| self.limits.get(&at).copied());
        let late = |operand: &Operand| word_of(*operand).is_some_and(|at| self.late.contains(&at));
        block.looked_at_later = seen.iter().take_while(|operand| late(operand)).count() as u8;
        self.push(Out::Block(block));
        Ok(())
    }

    /// Whether a word is declared as an integer, whatever functions it is computed with.
    fn is_integer(&self, operand: Operand) -> bool {
        match operand {
            Operand::Const(_) => false,
            Operand::Var(v) => self.f.ty(v) == Ty::Int,
            Operand::Mem(m) => self.f.regions.get(m.region.0 as usize).is_some_and(|r| r.ty == Ty::Int),
        }
    }

    /// A variable's life begins or ends.
    fn life(&mut self, var: Var, care: AncillaChecks, ends: bool) {
        if ends && care.check && !self.unchecked && !self.complete.contains(&Location::Var(var)) {
            self.push(Out::CheckZero(local(var)));
        }
        if ends && self.carries_late() && self.f.ty(var) == Ty::F {
            self.push(Out::CheckCarried(local(var)));
        }
        self.push(Out::Clear(local(var)));
    }

    /// An array's life begins or ends.
    fn array(&mut self, s: &LocatedStmt, base: Var, what: (Operand, Region, Ty, AncillaChecks), ends: bool) -> Done {
        let (len, region, ty, care) = what;
        self.inside(s, 0, len);
        let (base, len) = (local(base), self.integer(len));
        if !ends {
            self.push(Out::Allocate(base, len));
            return Ok(());
        }
        let values = match ty {
            _ if self.unchecked || self.complete.contains(&Location::Region(region)) => Freed::Clear,
            Ty::F => Freed::Check,
            Ty::Int | Ty::Q | Ty::L if care.check => Freed::Check,
            Ty::Int | Ty::Q | Ty::L => Freed::Zero,
        };
        self.push(Out::Free { base, len, ty, values });
        Ok(())
    }

    /// Whether a condition holds: what it computes is undone again.
    pub(super) fn condition(&mut self, s: &LocatedStmt, condition: &Condition, n: usize) -> Result<OutTest, Refused> {
        if condition.compute.is_empty() {
            return self.test(s, &condition.test, n);
        }
        self.keeping_nothing(|fw| fw.compute(&condition.compute, &[]))?;
        let test = self.test(s, &condition.test, n)?;
        let flag = self.fresh("c", Ty::Int);
        self.push(Out::Flag(flag, test));
        self.keeping_nothing(|fw| fw.undo(&condition.compute, &[]))?;
        Ok(OutTest::Flag(flag))
    }

    /// Numbers of a comparison that may not be finite, where nothing else would note it: a loop may go on for ever with them.
    fn unchecked_numbers(&self, test: &Test) -> Vec<loops::Word> {
        if !self.w.drops.fast || test.ty != Ty::F {
            return Vec::new();
        }
        [test.a, test.b].into_iter().filter_map(|operand| self.value_word(operand, test.ty)).collect()
    }

    /// Computes what is undone, or forgotten, after `body`.
    pub(super) fn compute(&mut self, compute: &[LocatedStmt], body: &[LocatedStmt]) -> Done {
        self.computing(compute, body, |fw| fw.computed(compute))
    }

    /// Adds what is computed, which is undone, or forgotten, after `body`.
    pub(super) fn computing(
        &mut self,
        compute: &[LocatedStmt],
        body: &[LocatedStmt],
        add: impl FnOnce(&mut Self) -> Done,
    ) -> Done {
        let Some(plan) = self.forgotten_words(compute, body) else { return add(self) };
        let limited = plan.words.iter().filter(|(at, sums)| sums.is_limited() && self.w.drops.forgets(**at, **sums));
        let limits: Vec<_> = limited.map(|(at, sums)| (*at, Value::Const(sums.limit().to_bits()))).collect();
        self.w.limits |= !limits.is_empty();
        self.w.limits_variables |= limits.iter().any(|(at, _)| matches!(at, Location::Var(_)));
        let outer = (self.limits.clone(), self.repeats.clone(), self.calls.clone());
        self.limits.extend(limits);
        self.repeats.extend(plan.repeats.iter().map(|(at, words)| (*at, words.clone())));
        self.calls.extend(&plan.calls);
        let done = add(self);
        (self.limits, self.repeats, self.calls) = outer;
        done
    }

    /// How words of a computation are forgotten, all or some.
    fn forgotten_words(&mut self, compute: &[LocatedStmt], body: &[LocatedStmt]) -> Option<Rc<Plan>> {
        if self.w.drops.fast {
            return None;
        }
        match self.forgotten(compute, body) {
            Some((_, plan)) => plan,
            None => self.partly_forgotten(compute, body),
        }
    }

    fn partly_forgotten(&mut self, compute: &[LocatedStmt], body: &[LocatedStmt]) -> Option<Rc<Plan>> {
        let forget = self.w.switches.has(Pass::Forget);
        forget.then(|| self.w.drops.partly_forgotten(self.f, compute, body)).flatten()
    }

    fn computed(&mut self, compute: &[LocatedStmt]) -> Done {
        let forget = self.w.switches.has(Pass::Forget);
        if forget && self.ad_mode.level() == 1 && self.w.drops.own(self.f, compute).is_some() {
            // Nothing flows back to words that have just begun, nor from them.
            return self.without_gradients(|fw| fw.block(compute, false));
        }
        self.block(compute, false)
    }

    /// Undoes it, or forgets it.
    pub(super) fn undo(&mut self, compute: &[LocatedStmt], body: &[LocatedStmt]) -> Done {
        // What rounding leaves is seen here first, unless it is forgotten.
        let forgotten = !self.w.drops.fast && self.forgotten(compute, body).is_some();
        let known = self.known;
        self.known = known && forgotten;
        let done = self.undo_or_forget(compute, body);
        self.known = known;
        done
    }

    /// Whether the words of a computation keep their values when it is forgotten. Those of arrays are given away.
    pub(super) fn stays_computed(&mut self, compute: &[LocatedStmt], body: &[LocatedStmt]) -> bool {
        self.ad_mode.level() == 0 && self.forgotten(compute, body).is_some_and(|(own, _)| own.arrays.is_empty())
    }

    fn undo_or_forget(&mut self, compute: &[LocatedStmt], body: &[LocatedStmt]) -> Done {
        if self.are_passive(compute) {
            return self.values_alone(|fw| fw.undo_or_forget(compute, body));
        }
        let Some((own, plan)) = self.forgotten(compute, body) else { return self.undo_partly(compute, body) };
        if self.ad_mode.level() > 0 {
            return self.without_values(plan.as_deref(), |fw| fw.block(compute, true));
        }
        self.forget_kept();
        for (base, len) in own.arrays.iter().rev() {
            self.push(Out::Forget(local(*base), self.integer(*len)));
        }
        Ok(())
    }

    /// Undoes what only flows back: the values, which a plan forgets, are not looked at any more.
    pub(super) fn without_values(&mut self, plan: Option<&Plan>, undo: impl FnOnce(&mut Self) -> Done) -> Done {
        let outer = (std::mem::replace(&mut self.unchecked, true), self.complete.clone(), self.calls.clone());
        if let Some(plan) = plan {
            self.complete.extend(plan.words.keys());
            self.calls.extend(&plan.calls);
        }
        let done = undo(self);
        (self.unchecked, self.complete, self.calls) = outer;
        done
    }

    /// Undoes a computation, but for words that are forgotten.
    fn undo_partly(&mut self, compute: &[LocatedStmt], body: &[LocatedStmt]) -> Done {
        let Some(plan) = self.partly_forgotten(compute, body) else { return self.block(compute, true) };
        let outer = (self.complete.clone(), self.calls.clone());
        let drops = &self.w.drops;
        self.complete.extend(plan.words.iter().filter(|(at, sums)| drops.forgets(**at, **sums)).map(|(at, _)| *at));
        self.calls.extend(&plan.calls);
        let done = self.block(compute, true);
        (self.complete, self.calls) = outer;
        done
    }

    /// Whether undoing a statement changes only words that are forgotten, and nothing flows back through it.
    fn undoes_nothing(&mut self, s: &LocatedStmt) -> bool {
        // Where other words may have been rounded, what is made of them may stop the run, though it is left alone.
        let leaves = self.known && self.back && !self.left.is_empty();
        if self.complete.is_empty() && !leaves || self.ad_mode.level() > 0 || is_life(s) {
            return false;
        }
        let flow = self.w.drops.flow(self.f, std::slice::from_ref(s));
        let left = |at: &Location| leaves && self.is_location_preserved(*at);
        let mut lent = flow.loans.iter().filter(|at| self.f.is_float(**at));
        let mut changed = flow.sums.iter().chain(&flow.changes);
        !flow.opaque
            && lent.all(|at| self.complete.contains(at))
            && changed.all(|at| self.complete.contains(at) || left(at))
    }

    /// A computation's own words, if it is forgotten, and how.
    pub(super) fn forgotten(
        &mut self,
        compute: &[LocatedStmt],
        body: &[LocatedStmt],
    ) -> Option<(Own, Option<Rc<Plan>>)> {
        let forget = self.w.switches.has(Pass::Forget);
        forget.then(|| self.w.drops.forgotten(self.f, compute, body)).flatten()
    }

    /// A comparison. `n` tells the comparisons of a statement apart.
    fn test(&mut self, s: &LocatedStmt, test: &Test, n: usize) -> Result<OutTest, Refused> {
        let (first, second) = (TEST + 1 + 2 * n, TEST + 2 + 2 * n);
        self.inside(s, first, test.a);
        self.inside(s, second, test.b);
        if test.ty == Ty::Int && test.cond != Cond::Always {
            return Ok(OutTest::Integers(test.cond, self.integer(test.a), self.integer(test.b)));
        }
        let mut slots = vec![None];
        let mut words = [Word::Const(0); 2];
        for (word, operand) in words.iter_mut().zip([test.a, test.b]) {
            *word = match operand {
                Operand::Const(k) => Word::Const(k),
                _ => {
                    slots.push(self.place(operand).map(|place| Slot::Place(place, test.ty)));
                    Word::Word(slots.len() as u8 - 1)
                }
            };
        }
        let setting = (self.w.env(), Builder::setting(AdMode::Plain));
        let found = symbolic::compare(setting, &mut self.w.kernels, (test.cond, test.ty), words);
        let (body, v) = found.ok_or(Refused::Operation)?;
        let block = Block::new(&body, slots, [false; 2], Some(v));
        let (block, v): (Block, Option<ValueId>) = block.ok_or(Refused::Operation)?;
        Ok(OutTest::Block(block, v.ok_or(Refused::Operation)?))
    }
}

/// Removes checks of values that were computed, and looked at, when the word was made: `written`, and what they are made of.
fn forget_checks(ops: &mut [Op], written: Vec<ValueId>) {
    let mut known = vec![false; ops.len()];
    let mut waiting = written;
    while let Some(v) = waiting.pop() {
        if !std::mem::replace(&mut known[v.0 as usize], true) {
            waiting.extend(ops[v.0 as usize].uses());
        }
    }
    let needless = |op: &&mut Op| matches!(op, Op::Finite(v) if known[v.0 as usize]);
    ops.iter_mut().filter(needless).for_each(|op| *op = Op::Const(0));
}

/// The variable or stretch of memory that an operand is or lies in.
pub(super) fn word_of(operand: Operand) -> Option<Location> {
    match operand {
        Operand::Const(_) => None,
        Operand::Var(v) => Some(Location::Var(v)),
        Operand::Mem(m) => Some(Location::Region(m.region)),
    }
}

/// Whether a statement begins or ends the life of words.
fn is_life(s: &LocatedStmt) -> bool {
    matches!(s.stmt, Stmt::Ancilla { .. } | Stmt::Array { .. } | Stmt::Span { .. })
}
