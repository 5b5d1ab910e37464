//! Calls of functions that call themselves, forward and back at once. A computation that ends with such calls is done again for the
//! gradient, and what each has computed flows back through another call of it: both calls would be made at each depth, so that the
//! second does the work of the first once more for every depth. Where what flows to the results does not depend on the results
//! themselves, it is known before the calls are made, and one call makes a result and takes back what flows to it.

use std::rc::Rc;

use pendula_codegen::lift::symbolic::{self, Operand as Word};
use pendula_codegen::ops::{Body, Op};
use pendula_isa::adjoint::{AdMode, GRADIENT, VALUE};
use pendula_isa::table::TableFn;
use pendula_isa::{Acc, Ty};

use super::certify::Plan;
use super::flow::{Flow, Location, Locations};
use super::function::FunctionBuilder;
use super::statement::word_of;
use super::{Builder, Refused, Sweep};
use crate::ir::{Condition, LocatedStmt, Operand, Place, Stmt};
use crate::passes::Pass;

type Done = Result<(), Refused>;

/// A computation that ends with calls which are made forward and back at once.
pub(super) struct FusedCalls<'s> {
    /// What comes before the calls.
    before: &'s [LocatedStmt],
    /// The calls, or computations of integers around some.
    calls: &'s [LocatedStmt],
    /// What the calls add to: variables that are zero before them.
    results: Locations,
    /// These, and what is made of them within what comes after.
    flows_to: Locations,
    /// How the words of the computation are forgotten.
    plan: Option<Rc<Plan>>,
}

/// Which gradient words a block is to be taken back for: no others flow in it, and its sums stay as they are.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowsTo {
    pub(super) results: Locations,
    pub(super) sums: Locations,
}

impl FunctionBuilder<'_, '_> {
    /// The calls with which a computation ends, if they can be made forward and back at once.
    pub(super) fn fused_calls<'s>(
        &mut self,
        compute: &'s [LocatedStmt],
        body: &[LocatedStmt],
    ) -> Option<FusedCalls<'s>> {
        let wanted = self.w.turns_round
            && self.ad_mode == AdMode::Gradient
            && self.w.switches.has(Pass::Turn)
            && self.flows_to.is_none()
            && self.parts.is_empty();
        let count = compute.iter().rev().take_while(|s| self.is_recursive_call(s)).count();
        if !wanted || count == 0 || self.are_passive(compute) {
            return None;
        }
        let (_, plan) = self.forgotten(compute, body)?;
        let (before, calls) = compute.split_at(compute.len() - count);
        let (mut results, mut flows) = (Locations::new(), Vec::new());
        for call in calls.iter().flat_map(calls_within) {
            let flow = self.w.drops.flow(self.f, std::slice::from_ref(call));
            let &[Location::Var(result)] = flow.sums.iter().copied().collect::<Vec<_>>().as_slice() else {
                return None;
            };
            let only_adds = flow.only_adds() && flow.loans.is_empty() && self.f.ty(result) == Ty::F;
            if !only_adds || self.is_inactive(Operand::Var(result)) || !results.insert(Location::Var(result)) {
                return None;
            }
            flows.push(flow);
        }
        let of_body = self.w.drops.flow(self.f, body);
        let fits =
            of_body.only_adds() && self.begin_zero(before, &results) && self.reads_apart(&flows, &of_body, &results);
        let flows_to = if fits { self.known_flow(body, &of_body.sums, results.clone())? } else { return None };
        Some(FusedCalls { before, calls, results, flows_to, plan })
    }

    /// Results, and what is made of them in a block that adds to `sums`; `None` if what flows back to them depends on them.
    fn known_flow(&mut self, block: &[LocatedStmt], sums: &Locations, mut results: Locations) -> Option<Locations> {
        loop {
            let known = results.len();
            if !self.flow_is_known(block, [sums, &Locations::new()], &mut results) {
                return None;
            }
            if results.len() == known {
                return Some(results);
            }
            // What was looked at before something of a result was added to it counts, too: its value is not made.
        }
    }

    /// Whether a statement is a call of a function that calls itself, or a computation of integers around such calls.
    fn is_recursive_call(&self, s: &LocatedStmt) -> bool {
        let integers = |s: &LocatedStmt| match &s.stmt {
            Stmt::Ancilla { var, .. } => self.f.ty(*var) == Ty::Int,
            Stmt::Update { dst: Place::Var(v), .. } => self.f.ty(*v) == Ty::Int,
            Stmt::Assert { .. } => true,
            _ => false,
        };
        match &s.stmt {
            Stmt::Call { func, inverse: false, .. } => self.w.summaries.get(*func).recursive,
            Stmt::With { compute, body, .. } => {
                compute.iter().all(integers) && body.iter().all(|s| self.is_recursive_call(s))
            }
            _ => false,
        }
    }

    /// Makes such calls, and takes them back with gradients but for their results. The last flows back first.
    fn call_at_once(&mut self, s: &LocatedStmt) -> Done {
        match &s.stmt {
            Stmt::Call { func, args, .. } => self.call(s, *func, Sweep::Within, args),
            Stmt::With { compute, body, .. } => {
                self.compute(compute, body)?;
                body.iter().rev().try_for_each(|s| self.call_at_once(s))?;
                self.undo(compute, body)
            }
            _ => Err(Refused::Operation),
        }
    }

    /// Whether all of these variables begin their lives in a block which does nothing else with them.
    fn begin_zero(&mut self, block: &[LocatedStmt], results: &Locations) -> bool {
        let mut begun = 0;
        block.iter().all(|s| match &s.stmt {
            Stmt::Ancilla { var, free: false, .. } if results.contains(&Location::Var(*var)) => {
                begun += 1;
                true
            }
            _ => {
                let flow = self.w.drops.flow(self.f, std::slice::from_ref(s));
                let all = [&flow.reads, &flow.sums, &flow.changes, &flow.loans];
                !flow.opaque && all.iter().all(|set| set.is_disjoint(results))
            }
        }) && begun == results.len()
    }

    /// Whether calls read no numbers that other calls or the rest read, to which gradients would flow in another order, and none of
    /// the results. Regions with different names are different memory: of functions that are given one array twice, there are variants in
    /// which both are one region.
    fn reads_apart(&self, calls: &[Flow], body: &Flow, results: &Locations) -> bool {
        let carries = |at: &&Location| match at {
            Location::Var(v) => self.f.ty(*v).gradient().is_some(),
            Location::Region(r) => self.f.regions.get(r.0 as usize).is_none_or(|r| r.ty.gradient().is_some()),
        };
        let apart = |a: &Flow, b: &Flow| !a.reads.iter().filter(carries).any(|at| b.reads.contains(at));
        calls.iter().enumerate().all(|(n, call)| {
            call.reads.is_disjoint(results)
                && apart(call, body)
                && calls[n + 1..].iter().all(|other| apart(call, other))
        })
    }

    /// Whether a block has nothing in it but sums, conditions and what is computed for them, and what flows back in it to `results` does not
    /// depend on them. Words of computations, `own`, that are made of results are results, too.
    fn flow_is_known(&mut self, block: &[LocatedStmt], to: [&Locations; 2], results: &mut Locations) -> bool {
        let [sums, own] = to;
        block.iter().all(|s| match &s.stmt {
            Stmt::Update { acc, inverse, func, dst, args } if args.iter().any(|a| is_in(*a, results)) => {
                let dst_word = word_of((*dst).into());
                let is_linear = *acc == Acc::Add && self.flow_is_linear((*acc, *inverse, *func), *dst, args, results);
                results.extend(dst_word.filter(|at| own.contains(at)));
                is_linear && dst_word.is_some_and(|at| sums.contains(&at) || own.contains(&at))
            }
            // What is added to one of its own words is no matter: it is not looked at.
            Stmt::Update { dst, .. } => !is_in((*dst).into(), results) || is_in((*dst).into(), own),
            Stmt::Ancilla { var, .. } => !is_in(Operand::Var(*var), results) || is_in(Operand::Var(*var), own),
            Stmt::If { pre, post, then, otherwise } => {
                [pre, post].into_iter().all(|c| self.is_apart(c, results))
                    && self.flow_is_known(then, to, results)
                    && self.flow_is_known(otherwise, to, results)
            }
            Stmt::With { compute, body, .. } => {
                let mut inner = own.clone();
                inner.extend(compute.iter().filter_map(|s| match s.stmt {
                    Stmt::Ancilla { var, free: false, .. } => Some(Location::Var(var)),
                    _ => None,
                }));
                self.flow_is_known(compute, [sums, &inner], results) && self.flow_is_known(body, to, results)
            }
            Stmt::Span { body, .. } => self.flow_is_known(body, to, results),
            Stmt::Assert { test, .. } => !is_in(test.a, results) && !is_in(test.b, results),
            Stmt::Permute { .. }
            | Stmt::Array { .. }
            | Stmt::Call { .. }
            | Stmt::While { .. }
            | Stmt::For { .. }
            | Stmt::Show { .. }
            | Stmt::Print(_) => false,
        })
    }

    /// Whether a condition, with what is computed for it, has nothing to do with these variables.
    fn is_apart(&mut self, condition: &Condition, results: &Locations) -> bool {
        let Condition { compute, test } = condition;
        !is_in(test.a, results)
            && !is_in(test.b, results)
            && !self.looks_at(compute, results)
            && self.flow_is_known(compute, [&Locations::new(); 2], &mut Locations::new())
    }

    /// Whether a block has to do with these variables.
    fn looks_at(&mut self, block: &[LocatedStmt], results: &Locations) -> bool {
        let flow = self.w.drops.flow(self.f, block);
        let all = [&flow.reads, &flow.sums, &flow.changes, &flow.loans];
        flow.opaque || all.iter().any(|set| !set.is_disjoint(results))
    }

    /// Whether what flows back in a sum to those operands that are `results` depends on none of them, as the instruction table says.
    fn flow_is_linear(&self, what: (Acc, bool, TableFn), dst: Place, args: &[Operand], results: &Locations) -> bool {
        let mut seen: Vec<Operand> = vec![dst.into()];
        let mut words = vec![Word::Word(1)];
        for arg in args {
            if let Operand::Const(k) = arg {
                words.push(Word::Const(*k));
                continue;
            }
            let known = seen.iter().position(|o| o == arg);
            let at = known.unwrap_or(seen.len());
            if known.is_none() {
                seen.push(*arg);
            }
            words.push(Word::Word(at as u8 + 1));
        }
        let setting = (self.w.env(), Builder::setting(AdMode::Gradient));
        let Some(body) = symbolic::accumulate(setting, &mut Vec::new(), what, &words) else { return false };
        let is_result = |reg: u8| seen.get(usize::from(reg) - 1).is_some_and(|o| is_in(*o, results));
        !flow_depends_on_values(&body, &is_result)
    }

    /// Does a computation and what is made of it again and takes both back with gradients. With `turned`, what is made of it was not
    /// made before.
    pub(super) fn fuse_calls(
        &mut self,
        FusedCalls { before, calls, results, flows_to, plan }: &FusedCalls<'_>,
        (compute, body): (&[LocatedStmt], &[LocatedStmt]),
        turned: bool,
    ) -> Done {
        let (outer, known) = (self.back, std::mem::replace(&mut self.known, false));
        self.back = false;
        self.computing(compute, body, |fw| fw.without_gradients(|fw| fw.block(before, false)))?;
        self.back = true;
        let sums = &self.w.drops.flow(self.f, body).sums | &(flows_to - results);
        self.flows_to = Some(FlowsTo { results: flows_to.clone(), sums });
        let done = self.block(body, true);
        self.flows_to = None;
        done?;
        let left = self.left.clone();
        self.left.extend(results.iter().filter_map(|at| if let Location::Var(v) = at { Some(*v) } else { None }));
        let done = self.computing(compute, body, |fw| calls.iter().rev().try_for_each(|s| fw.call_at_once(s)));
        self.left = left;
        done?;
        let inactive = self.inactive.clone();
        self.inactive.extend(results);
        if turned {
            self.turn(body)?;
            self.back = true;
        } else {
            self.block(body, true)?;
        }
        self.inactive = inactive;
        self.without_values(plan.as_deref(), |fw| fw.block(before, true))?;
        (self.back, self.known) = (outer, known);
        Ok(())
    }
}

impl FunctionBuilder<'_, '_> {
    /// Whether an update is one of those of which only what flows to some words is wanted.
    pub(super) fn is_taken_back(&self, dst: Operand) -> bool {
        self.flows_to.as_ref().is_some_and(|flows| word_of(dst).is_some_and(|at| flows.sums.contains(&at)))
    }

    /// Whether anything is to flow to what an operand is.
    pub(super) fn may_flow_to(&self, operand: Operand) -> bool {
        let Some(flows) = &self.flows_to else { return true };
        word_of(operand).is_some_and(|at| flows.results.contains(&at) || flows.sums.contains(&at))
    }

    /// Whether an update is wanted: those of which only what flows back is must have something to flow to.
    pub(super) fn flows_here(&self, operands: &[(Operand, Ty)]) -> bool {
        let Some(((dst, _), args)) = operands.split_first() else { return true };
        let to_result = |operand: &Operand| {
            let results = self.flows_to.as_ref().map(|flows| &flows.results);
            word_of(*operand).is_some_and(|at| results.is_some_and(|results| results.contains(&at)))
        };
        !self.is_taken_back(*dst) || self.ad_mode != AdMode::Plain && args.iter().any(|(a, _)| to_result(a))
    }
}

/// Whether an operand is one of these words.
fn is_in(operand: Operand, words: &Locations) -> bool {
    word_of(operand).is_some_and(|at| words.contains(&at))
}

/// The calls of such a statement.
fn calls_within(s: &LocatedStmt) -> Vec<&LocatedStmt> {
    match &s.stmt {
        Stmt::With { body, .. } => body.iter().flat_map(calls_within).collect(),
        _ => vec![s],
    }
}

/// Whether a gradient word that operations write, of an operand that is a result, depends on the value of one.
fn flow_depends_on_values(body: &Body, is_result: &impl Fn(u8) -> bool) -> bool {
    if body.ops.contains(&Op::Interpret) {
        return true;
    }
    let flows = |op: &Op| match *op {
        Op::Set(lane, reg, v) if usize::from(lane) == GRADIENT && is_result(reg) => Some(v),
        // Whatever it decides.
        Op::If(v) => Some(v),
        _ => None,
    };
    let mut waiting: Vec<_> = body.ops.iter().filter_map(flows).collect();
    let mut seen = vec![false; body.ops.len()];
    while let Some(v) = waiting.pop() {
        let at = v.0 as usize;
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        if matches!(body.ops[at], Op::Get(lane, reg) if usize::from(lane) == VALUE && is_result(reg)) {
            return true;
        }
        waiting.extend(body.ops[at].uses());
    }
    false
}
