//! Forward and back with gradients at once, and over dual numbers: what a run forward would undo last, the
//! run back would do first; neither is done. Where rounding may be forgotten, loops
//! that only add to the results go forward and back turn by turn; `logged_sums` does that where every rounding counts.

use std::collections::HashSet;
use std::ops::Range;

use pendula_codegen::loops::{Argument, Stmt as Out};
use pendula_isa::Ty;
use pendula_isa::adjoint::{AdMode, VALUE};
use pendula_isa::table::{TableFn, int_fn};

use super::certify::Asked;
use super::dead_uncompute::Drops;
use super::flow::{Flow, Location};
use super::function::{FunctionBuilder, local};
use super::{Refused, Sweep};
use crate::ir::{FunctionId, IrFunction, LocatedStmt, Operand, Param, Place, Region, Stmt, Var};
use crate::passes::Pass;

type Done = Result<(), Refused>;

impl FunctionBuilder<'_, '_> {
    /// Statements forward, values alone, and back with gradients.
    pub(super) fn turn(&mut self, block: &[LocatedStmt]) -> Done {
        if !self.w.switches.has(Pass::Turn) {
            self.forward(block)?;
            self.turning_point();
            return self.backward(block);
        }
        let mut block = block;
        while let Some((last, before)) = block.split_last()
            && self.ends_life(&last.stmt)
        {
            // It would begin again at once. What rounding has left is forgotten in the end.
            block = before;
        }
        if let Some(n) = (0..block.len()).find(|n| self.is_reversible_per_iteration(&block[*n], &block[n + 1..])) {
            let (before, rest) = block.split_at(n);
            self.forward(before)?;
            if self.w.drops.fast {
                self.reverse_each_iteration(&rest[0])?;
                self.turn(&rest[1..])?;
            } else {
                // What flows back from the rest is added up first.
                self.turn(&rest[1..])?;
                self.reverse_each_iteration(&rest[0])?;
            }
            return self.backward(before);
        }
        if let Some(n) = (0..block.len()).find(|n| self.turns_before_rest(block, *n)) {
            let (before, rest) = block.split_at(n);
            self.forward(before)?;
            self.turn_within(&rest[1..])?;
            self.turn_within(&rest[..1])?;
            self.turning_point();
            return self.backward(before);
        }
        if let Some((n, results)) = (0..block.len()).find_map(|n| Some((n, self.logged_results(block, n)?))) {
            return self.log_each_iteration(block, n, &results);
        }
        let Some((last, before)) = block.split_last() else {
            self.turning_point();
            return Ok(());
        };
        self.forward(before)?;
        match &last.stmt {
            Stmt::With { compute, body, .. } if let Some(calls) = self.fused_calls(compute, body) => {
                self.fuse_calls(&calls, (compute, body), true)?;
            }
            Stmt::With { compute, body, .. } if self.can_stay_computed(compute, body) => {
                // What flows from and to other words when it is done again flows now.
                self.back = false;
                let kept = self.compute_keeping((compute, body), false)?;
                self.turn(body)?;
                self.back = true;
                self.undo_keeping(kept, compute, body)?;
            }
            Stmt::Span { body, .. } => self.turn(body)?,
            Stmt::If { pre, then, otherwise, .. } if self.is_decided(&last.stmt) => {
                self.back = false;
                let test = self.condition(last, pre, 0)?;
                let flag = self.fresh("holds", Ty::Int);
                let then = self.nested(|fw| fw.turn(then))?;
                let otherwise = self.nested(|fw| fw.turn(otherwise))?;
                self.push(Out::If { test, flag, then, otherwise });
                self.back = true;
            }
            Stmt::Call { func, inverse: false, args } if self.within && self.only_adds(*func) => {
                self.call(last, *func, Sweep::Within, args)?;
            }
            Stmt::Call { func, inverse: false, args } if !self.within && self.is_visible_at_midpoint(args) => {
                let params = self.w.program.functions.get(func.0 as usize).map_or(&[][..], |f| &f.params);
                let written_args =
                    args.iter().zip(params).filter(|(_, p)| p.written).map(|(a, _)| *a).collect::<Vec<_>>();
                self.reach_midpoint(&written_args);
                self.call(last, *func, Sweep::Turn, args)?;
            }
            _ => {
                self.forward(std::slice::from_ref(last))?;
                self.turning_point();
                self.backward(std::slice::from_ref(last))?;
            }
        }
        self.backward(before)
    }

    /// Whether a conditional decides the same way before and after what it does, because that changes nothing that the decision depends on.
    fn is_decided(&mut self, s: &Stmt) -> bool {
        let Stmt::If { pre, post, then, otherwise } = s else { return false };
        let same = pre.compute.is_empty() && post.compute.is_empty() && pre.test == post.test;
        let operands = [pre.test.a, pre.test.b];
        same && [then, otherwise].into_iter().all(|block| {
            let flow = self.w.drops.flow(self.f, block);
            let mut changed = flow.sums.iter().chain(&flow.changes).chain(&flow.loans);
            !flow.opaque && !changed.any(|at| operands.iter().any(|o| is_touched_by(*o, *at)))
        })
    }

    /// Whether a computation may be left as it is where the run turns round: nobody sees it, and it would be the same again.
    fn can_stay_computed(&mut self, compute: &[LocatedStmt], body: &[LocatedStmt]) -> bool {
        if !self.w.drops.is_recomputable(self.f, compute, body) {
            return false;
        }
        let flow = self.w.drops.flow(self.f, compute);
        let mut changed = flow.sums.iter().chain(&flow.changes).chain(&flow.loans);
        self.within || !flow.opaque && !changed.any(|t| self.f.params.iter().any(|p| self.is_of(p.var, p.written, *t)))
    }

    /// Whether a statement is of those that end a life, without anything flowing. Where every check counts, it has none.
    fn ends_life(&self, stmt: &Stmt) -> bool {
        let fast = self.w.drops.fast;
        match stmt {
            Stmt::Ancilla { var, free, checks } => *free && (fast || !checks.check && self.f.ty(*var) == Ty::Int),
            Stmt::Array { free, .. } => *free && fast,
            Stmt::Update { func, dst: Place::Var(v), .. } => {
                let total = fast || *func == TableFn::Int(int_fn::Name::Id);
                total && self.f.ty(*v) == Ty::Int && !self.f.params.iter().any(|p| p.var == *v)
            }
            _ => false,
        }
    }

    /// Statements forward, without gradient words.
    pub(super) fn forward(&mut self, block: &[LocatedStmt]) -> Done {
        self.back = false;
        self.without_gradients(|fw| fw.block(block, false))
    }

    /// Adds statements on values alone.
    pub(super) fn values_alone(&mut self, add: impl FnOnce(&mut Self) -> Done) -> Done {
        self.in_mode(AdMode::Plain, add)
    }

    /// Adds statements on values, and on tangents where there are any.
    pub(super) fn without_gradients(&mut self, add: impl FnOnce(&mut Self) -> Done) -> Done {
        self.in_mode(self.ad_mode.without_gradients(), add)
    }

    fn in_mode(&mut self, ad_mode: AdMode, add: impl FnOnce(&mut Self) -> Done) -> Done {
        let outer = std::mem::replace(&mut self.ad_mode, ad_mode);
        let done = self.nested(add);
        self.ad_mode = outer;
        self.push(Out::InMode(ad_mode, done?));
        Ok(())
    }

    /// Statements back, with gradients.
    pub(super) fn backward(&mut self, block: &[LocatedStmt]) -> Done {
        self.back = true;
        self.block(block, true)
    }

    /// Whether a statement is a loop, or around one, of which each turn may be taken back before the next is made, with gradients alone: all that it does
    /// in the end is to add to words that nothing looks at, neither in it nor, on the way back, before it; and what comes after
    /// might as well come before. What it added to is brought back by whoever called, which undoes no rounding.
    fn is_reversible_per_iteration(&mut self, s: &LocatedStmt, rest: &[LocatedStmt]) -> bool {
        // What comes last is turned round within.
        if !(matches!(s.stmt, Stmt::For { .. }) || has_loop(s) && !rest.is_empty())
            || !self.w.drops.fast
            || !matches!(self.way, Sweep::Turn | Sweep::Within)
            || self.ad_mode.level() != 1
        {
            return false;
        }
        let flow = self.w.drops.flow(self.f, std::slice::from_ref(s));
        if !flow.only_adds() || flow.sums.is_empty() {
            return false;
        }
        if self.within {
            // The loop that this is in has been looked at.
            if !flow.sums.iter().all(|t| self.is_location_preserved(*t)) {
                return false;
            }
        } else {
            let all = self.w.drops.flow(self.f, &self.f.body);
            if !flow.sums.iter().all(|t| self.is_dead(&all, *t)) {
                return false;
            }
        }
        let rest = self.w.drops.flow(self.f, rest);
        flow.commutes(&rest)
    }

    /// Whether what is left of a word, after the way back over a part of this function, does not matter.
    fn is_dead(&self, all: &Flow, thing: Location) -> bool {
        let given = self
            .f
            .params
            .iter()
            .any(|p| self.preservable_params.contains(&p.var) && self.is_of(p.var, p.written, thing));
        given && !all.opaque && ![&all.reads, &all.loans, &all.changes].iter().any(|set| set.contains(&thing))
    }

    /// The parameters that are left alone on the way back over this function: nothing looks at what is added to them, or only when they are complete;
    /// and whoever began the run gives them the values that they had.
    pub(super) fn dead_results(&mut self) -> HashSet<Var> {
        let all = self.w.drops.flow(self.f, &self.f.body);
        let mut dead = HashSet::new();
        for (n, Param { var, .. }) in self.f.params.iter().enumerate().take(64) {
            let at = self.f.lent_as(*var);
            let complete = |fw: &mut Self| fw.w.drops.plan_of_function(fw.func, 1 << n, Asked::Order).is_some();
            let may = self.preservable_params.contains(var);
            if may && (self.is_dead(&all, at) || self.f.is_float(at) && complete(self)) {
                dead.insert(*var);
            }
        }
        dead
    }

    /// Whether what is computed again on the way back is what it was on the way forward: all that is changed are results that are left alone, and
    /// words that begin and end with a computation.
    pub(super) fn computes_the_same_again(&mut self) -> bool {
        let all = self.w.drops.flow(self.f, &self.f.body);
        let results = all.sums.iter().all(|at| self.is_location_preserved(*at));
        let only_results = !all.opaque && all.changes.is_empty() && all.loans.is_empty() && results;
        only_results && computes_own_words(&mut self.w.drops, self.f, &self.f.body, &mut HashSet::new())
    }

    /// Which parameters a callee, in which the run turns round, may leave alone on the way back.
    pub(super) fn preservable_params(&self, callee: &IrFunction, args: &[Operand]) -> u64 {
        let bit = |(n, (param, arg)): (usize, (&Param, &Operand))| {
            let may = self.lent(callee, param, arg).is_some_and(|at| self.is_location_preserved(at));
            u64::from(may || self.is_main()) << n
        };
        callee.params.iter().zip(args).take(64).enumerate().map(bit).fold(0, |a, b| a | b)
    }

    /// Whether a parameter is this word, or points to it.
    fn is_of(&self, var: Var, written: bool, thing: Location) -> bool {
        match thing {
            Location::Var(v) => v == var && written,
            Location::Region(region) => self.f.points(var) == Some(region),
        }
    }

    /// Forward and back in each turn of a loop.
    fn reverse_each_iteration(&mut self, s: &LocatedStmt) -> Done {
        let (left, within) = (self.left.clone(), self.within);
        if !within {
            let flow = self.w.drops.flow(self.f, std::slice::from_ref(s));
            let params = self.f.params.iter();
            let of = params.filter(|p| flow.sums.iter().any(|t| self.is_of(p.var, p.written, *t)));
            self.left = of.map(|p| p.var).collect();
            self.within = true;
        }
        self.back = false;
        let done = match &s.stmt {
            Stmt::For { var, first, last, step, body, .. } => {
                let back = !self.w.drops.fast;
                self.count(s, *var, (*first, *last, *step), body, back, |fw| fw.turn(body))
            }
            _ => self.turn(std::slice::from_ref(s)),
        };
        (self.left, self.within) = (left, within);
        done
    }

    /// Whether all that a function does is to add to words that it does not look at.
    fn only_adds(&mut self, func: FunctionId) -> bool {
        self.w.drops.flow_of_function(func).is_some_and(|flow| flow.only_adds())
    }

    /// Whether a word is left alone on the way back.
    pub(super) fn is_preserved(&self, operand: Operand) -> bool {
        match operand {
            Operand::Const(_) => false,
            Operand::Var(v) => self.is_location_preserved(Location::Var(v)),
            Operand::Mem(m) => self.is_location_preserved(Location::Region(m.region)),
        }
    }

    /// Whether a stretch of memory is left alone on the way back.
    pub(super) fn is_region_preserved(&self, region: Region) -> bool {
        self.is_location_preserved(Location::Region(region))
    }

    pub(super) fn is_location_preserved(&self, thing: Location) -> bool {
        self.left.iter().any(|v| self.is_of(*v, true, thing))
    }

    /// Whether every word that is lent can be looked at where the function that it is lent to turns round.
    fn is_visible_at_midpoint(&self, args: &[Operand]) -> bool {
        self.is_main() || !args.iter().any(|a| matches!(a, Operand::Mem(_)))
    }

    pub(super) fn is_main(&self) -> bool {
        self.w.program.functions.get(self.w.main.0 as usize).is_some_and(|main| std::ptr::eq(main, self.f))
    }

    /// Hands on what words are like at the turning point, which lies in a function to which these are lent.
    fn reach_midpoint(&mut self, written_args: &[Operand]) {
        if self.is_main() {
            self.save_midpoint(&self.w.words.clone());
        }
        for param in self.f.params.iter().filter(|p| p.written && !written_args.contains(&Operand::Var(p.var))) {
            self.push(Out::HandParam(local(param.var)));
        }
    }

    /// Hands on what data is like: the run turns round here.
    pub(super) fn turning_point(&mut self) {
        if self.within {
            return;
        }
        self.reach_midpoint(&[]);
        self.save_midpoint(&self.w.arrays.clone());
    }

    fn save_midpoint(&mut self, ranges: &[Range<usize>]) {
        ranges.iter().for_each(|range| self.push(Out::HandData(range.clone())));
    }

    /// Where the function that a word is lent to is to write what it is like at the turning point.
    pub(super) fn midpoint(&self, operand: Operand, ty: Ty) -> Argument {
        match operand {
            Operand::Mem(m) => Argument::HandMemory(self.address(m), ty),
            Operand::Var(v) if self.f.params.iter().any(|p| p.var == v && p.written) => Argument::HandParam(local(v)),
            Operand::Var(_) | Operand::Const(_) => Argument::Nowhere(ty, VALUE),
        }
    }
}

/// Whether an operand is a word of this location, or its address depends on it.
fn is_touched_by(operand: Operand, at: Location) -> bool {
    match (operand, at) {
        (Operand::Const(_), _) => false,
        (Operand::Var(v), Location::Var(changed)) => v == changed,
        (Operand::Mem(m), Location::Var(changed)) => m.vars().any(|v| v == changed),
        (Operand::Mem(m), Location::Region(changed)) => m.region == changed,
        (Operand::Var(_), Location::Region(_)) => false,
    }
}

/// Whether no floating-point words begin or end in a block, or in what it calls, but those of computations that are undone, and these change no others.
fn computes_own_words(
    drops: &mut Drops<'_>,
    f: &IrFunction,
    block: &[LocatedStmt],
    seen: &mut HashSet<FunctionId>,
) -> bool {
    let program = drops.program;
    block.iter().all(|s| match &s.stmt {
        Stmt::Ancilla { var, .. } => f.ty(*var) != Ty::F,
        Stmt::Array { ty, .. } => *ty != Ty::F,
        Stmt::Call { func, .. } => {
            let callee = program.functions.get(func.0 as usize);
            !seen.insert(*func) || callee.is_some_and(|callee| computes_own_words(drops, callee, &callee.body, seen))
        }
        Stmt::If { pre, post, then, otherwise } => {
            [&pre.compute, &post.compute].into_iter().all(|compute| drops.own(f, compute).is_some())
                && [then, otherwise].into_iter().all(|b| computes_own_words(drops, f, b, seen))
        }
        Stmt::While { pre, post, first, body } => {
            [&pre.compute, &post.compute].into_iter().all(|compute| drops.own(f, compute).is_some())
                && [first, body].into_iter().all(|b| computes_own_words(drops, f, b, seen))
        }
        Stmt::With { compute, body, .. } => drops.own(f, compute).is_some() && computes_own_words(drops, f, body, seen),
        Stmt::For { body, .. } | Stmt::Span { body, .. } => computes_own_words(drops, f, body, seen),
        Stmt::Update { .. } | Stmt::Permute { .. } | Stmt::Assert { .. } | Stmt::Show { .. } | Stmt::Print(_) => true,
    })
}

/// Whether a statement is a loop, or ends with one but for what is undone.
fn has_loop(s: &LocatedStmt) -> bool {
    match &s.stmt {
        Stmt::For { .. } => true,
        Stmt::With { body, .. } | Stmt::Span { body, .. } => body.iter().any(has_loop),
        _ => false,
    }
}
