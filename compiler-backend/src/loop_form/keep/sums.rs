//! What loops and calls add up, which is kept where it would be added up again: a word, for as many turns as there are.
//!
//! A routine within a computation is made again on the way back, because what it computes is used there. The sums in it are what they
//! were, so that they are read instead. When the routine is taken back, only what flows to the numbers that were added is wanted.

use std::rc::Rc;

use pendula_codegen::loops::{Address, Block, Keeping, Place, Slot, Stmt as Out, Word};
use pendula_codegen::ops::{Body, Op, ValueId};
use pendula_isa::Ty;
use pendula_isa::adjoint::VALUE;

use super::super::flow::{Flow, Location};
use super::super::function::FunctionBuilder;
use super::super::{Builder, Refused};
use super::{Done, Of};
use crate::ir::effects::{trip_count, walk};
use crate::ir::{FunctionId, IrFunction, LocatedStmt, Place as IrPlace, Stmt};

/// A loop of fewer turns is made again.
const TURNS: u64 = 8;

/// The most words that a loop may add up.
const WORDS: usize = 2;

impl Builder<'_> {
    /// Whether a statement may keep sums, or the results of a call of a function that calls itself.
    pub(super) fn keeps_sums(&mut self, func: FunctionId, s: &LocatedStmt) -> bool {
        !self.kept_sums(func, s).is_empty() || !self.kept_results(func, s).is_empty()
    }

    /// The words whose sums a statement may keep: a loop or a call that only adds to them.
    pub(super) fn kept_sums(&mut self, func: FunctionId, s: &LocatedStmt) -> Rc<[IrPlace]> {
        if !matches!(s.stmt, Stmt::For { .. } | Stmt::Call { .. }) {
            return Rc::default();
        }
        if let Some(known) = self.keeps.sums.get(&std::ptr::from_ref(s)) {
            return known.clone();
        }
        let sums: Rc<[IrPlace]> = self.find_sums(func, s).unwrap_or_default().into();
        self.keeps.sums.insert(std::ptr::from_ref(s), sums.clone());
        sums
    }

    fn find_sums(&mut self, func: FunctionId, s: &LocatedStmt) -> Option<Vec<IrPlace>> {
        let f = self.program.functions.get(func.0 as usize)?;
        if !self.keeps.wanted || self.keeps.without.sums.contains(&func) {
            return None;
        }
        match &s.stmt {
            Stmt::For { first, last, step, body, .. } => {
                let few = trip_count(*first, *last, *step).is_some_and(|n| n < TURNS);
                if few || self.block_keeps(func, body, Of::FUNCTIONS) || self.calls_what_calls_itself(body) {
                    return None;
                }
                let flow = self.drops.flow(f, std::slice::from_ref(s));
                sums_of(f, &flow)?.into_iter().map(|at| self.word_added_to(f, s, &flow, at)).collect()
            }
            Stmt::Call { func: callee, args, .. } => {
                if self.function_keeps(*callee, Of::FUNCTIONS) || !self.has_long_loops(*callee) {
                    return None;
                }
                let flow = self.drops.flow_of_one_call(f, *callee, args)?;
                self.variables_added_to(f, &flow)
            }
            _ => None,
        }
    }

    /// The variables to which a statement adds, if it adds to nothing else.
    pub(super) fn variables_added_to(&self, f: &IrFunction, flow: &Flow) -> Option<Vec<IrPlace>> {
        let variable = |at| match at {
            Location::Var(v) => Some(IrPlace::Var(v)),
            Location::Region(_) => None,
        };
        sums_of(f, flow)?.into_iter().map(variable).collect()
    }

    /// The one word of a place to which a loop adds.
    fn word_added_to(&mut self, f: &IrFunction, s: &LocatedStmt, flow: &Flow, at: Location) -> Option<IrPlace> {
        let region = match at {
            Location::Var(v) => return Some(IrPlace::Var(v)),
            Location::Region(region) => region,
        };
        let (mut word, mut one) = (None, true);
        walk(std::slice::from_ref(s), &mut |s| match &s.stmt {
            Stmt::Update { dst: IrPlace::Mem(m), .. } if m.region == region => {
                one &= word.is_none_or(|known| known == *m);
                word = Some(*m);
            }
            Stmt::Call { func, args, .. } => {
                let flow = self.drops.flow_of_one_call(f, *func, args);
                one &= flow.is_some_and(|flow| !flow.sums.contains(&at));
            }
            _ => {}
        });
        // The address is that of each turn.
        let word = word.filter(|_| one)?;
        let is_fixed = word.vars().map(Location::Var).all(|v| flow.reads.contains(&v) && !flow.sums.contains(&v));
        is_fixed.then_some(IrPlace::Mem(word))
    }

    /// Whether a function, or one that it calls, has statements that may keep sums.
    pub(super) fn has_sums(&mut self, func: FunctionId) -> bool {
        if let Some(known) = self.keeps.with_sums.get(&func) {
            return *known;
        }
        self.keeps.with_sums.insert(func, false);
        let program = self.program;
        let mut found = false;
        if let Some(f) = program.functions.get(func.0 as usize) {
            walk(&f.body, &mut |s| {
                found = found || self.keeps_sums(func, s);
                if let Stmt::Call { func, .. } = &s.stmt {
                    found = found || self.has_sums(*func);
                }
            });
        }
        self.keeps.with_sums.insert(func, found);
        found
    }

    /// Whether a block calls functions that call themselves.
    fn calls_what_calls_itself(&self, block: &[LocatedStmt]) -> bool {
        let mut found = false;
        walk(block, &mut |s| {
            found |= matches!(s.stmt, Stmt::Call { func, .. } if self.summaries.get(func).recursive);
        });
        found
    }

    /// Whether a function, or one that it calls, has a loop that may be long.
    fn has_long_loops(&self, func: FunctionId) -> bool {
        let summary = self.summaries.get(func);
        let Some(f) = self.program.functions.get(func.0 as usize).filter(|_| !summary.recursive) else { return false };
        let mut found = false;
        walk(&f.body, &mut |s| match &s.stmt {
            Stmt::For { first, last, step, .. } => {
                found |= trip_count(*first, *last, *step).is_none_or(|n| n >= TURNS);
            }
            Stmt::Call { func, .. } => found = found || self.has_long_loops(*func),
            _ => {}
        });
        found
    }
}

impl FunctionBuilder<'_, '_> {
    /// Whether a computation has sums that are made again on the way back: those of computations within it that do not stay computed.
    pub(super) fn adds_again(&mut self, compute: &[LocatedStmt]) -> bool {
        compute.iter().any(|s| match &s.stmt {
            Stmt::With { compute, body, .. } if self.known && self.stays_computed(compute, body) => {
                self.adds_again(compute) || self.adds_again(body)
            }
            Stmt::Span { body, .. } => self.adds_again(body),
            _ => self.w.block_keeps(self.func, std::slice::from_ref(s), Of::SUMS_WITHIN),
        })
    }

    /// The words whose sums a statement keeps now.
    pub(super) fn sums_kept_now(&mut self, s: &LocatedStmt) -> Rc<[IrPlace]> {
        let is_kept = self.kept_values.way.is_some() && !self.kept_values.once;
        if is_kept { self.w.kept_sums(self.func, s) } else { Rc::default() }
    }

    /// Adds a loop or a call whose sums are kept, or reads these instead.
    pub(in super::super) fn keep_sums(&mut self, s: &LocatedStmt, add: impl FnOnce(&mut Self) -> Done) -> Done {
        let Some(way) = self.kept_values.way.filter(|_| !self.kept_values.once) else { return add(self) };
        let results = self.w.kept_results(self.func, s);
        if !results.is_empty() {
            return self.keep_results(&results, way, add);
        }
        let sums = self.w.kept_sums(self.func, s);
        if sums.is_empty() {
            return add(self);
        }
        if way != Keeping::Reread {
            self.keeping_nothing(add)?;
        }
        for (n, sum) in sums.iter().enumerate() {
            let word = self.kept_word(s, n, way);
            if way != Keeping::TakeBack {
                self.keep_sum(*sum, word, way)?;
            }
        }
        Ok(())
    }

    /// Writes a sum down, or reads it.
    pub(super) fn keep_sum(&mut self, sum: IrPlace, at: Address, way: Keeping) -> Done {
        let Some(place) = self.place(sum.into()) else { return Err(Refused::Operation) };
        let kept = Word { place: Place::Log(at), ty: Ty::F, lane: VALUE };
        let sum = Word { place, ty: Ty::F, lane: VALUE };
        let (to, from) = if way == Keeping::Write { (kept, sum) } else { (sum, kept) };
        let ops = vec![Op::Get(0, 2), Op::Set(0, 1, ValueId(0))];
        let slots = vec![None, Some(Slot::Word(to)), Some(Slot::Word(from))];
        let body = Body { ops, parts: Vec::new(), branch: None };
        let (block, _) = Block::new(&body, slots, [false; 2], None).ok_or(Refused::Operation)?;
        self.push(Out::Block(block));
        Ok(())
    }
}

/// The words, or stretches of memory, to which a statement adds, where it does nothing else and there are few, of floating-point numbers.
fn sums_of(f: &IrFunction, flow: &Flow) -> Option<Vec<Location>> {
    let mut sums: Vec<Location> = flow.sums.iter().copied().collect();
    sums.sort_unstable();
    let fit = flow.only_adds() && flow.loans.is_empty() && sums.len() <= WORDS && sums.iter().all(|at| f.is_float(*at));
    fit.then_some(sums)
}
