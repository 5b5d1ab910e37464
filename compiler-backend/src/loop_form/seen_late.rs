//! Results that are looked at for being finite where the run turns round and where it ends, and arrays that are looked at where they end, and not at
//! each sum: a sum that is not finite stays so.

use std::collections::HashSet;

use pendula_isa::table::TableFn;
use pendula_isa::{Acc, Ty};

use super::flow::{Flow, Location, Locations};
use super::function::FunctionBuilder;
use crate::ir::effects::{Summaries, walk};
use crate::ir::{Condition, FunctionId, LocatedStmt, Operand, Program, Region, Stmt, Var};

impl FunctionBuilder<'_, '_> {
    /// Of these parameters, the results that the machine looks at where the run turns round, and in the end.
    pub(super) fn late_results(&mut self, params: &HashSet<Var>) -> Locations {
        let flow = self.w.drops.flow(self.f, &self.f.body);
        let ends = self.w.drops.ends;
        let params = params.iter().map(|v| self.f.lent_as(*v));
        params.filter(|at| self.f.is_float(*at) && is_seen_late(&flow, *at, ends)).collect()
    }

    /// The function's own arrays that it does nothing with but add to them, for a time or for good: they are looked at where they end.
    pub(super) fn late_arrays(&mut self) -> Locations {
        let mut own = Vec::new();
        if self.w.drops.ends {
            arrays(&self.f.body, &mut own);
        }
        own.into_iter().filter(|region| self.is_only_added_to(*region)).map(Location::Region).collect()
    }

    /// Whether all changes to words of an array are that something is added to them, or taken away.
    fn is_only_added_to(&mut self, region: Region) -> bool {
        let f = self.f;
        let is_in = |operand: &Operand| match operand {
            Operand::Const(_) => false,
            Operand::Var(v) => f.points(*v) == Some(region),
            Operand::Mem(m) => m.region == region,
        };
        let mut only = true;
        walk(&f.body, &mut |s| match &s.stmt {
            Stmt::Update { acc, dst, .. } => only &= *acc == Acc::Add || !is_in(&(*dst).into()),
            Stmt::Permute { args, .. } => only &= !args.iter().any(is_in),
            Stmt::Call { func, args, .. } if only && args.iter().any(is_in) => {
                let at = Location::Region(region);
                let flow = self.w.drops.flow_of_one_call(f, *func, args);
                only = flow.is_some_and(|flow| !flow.changes.contains(&at) && !flow.loans.contains(&at));
            }
            _ => {}
        });
        only
    }
}

/// The floating-point arrays that begin in a block, and not in computations within it, which may be forgotten.
fn arrays(block: &[LocatedStmt], out: &mut Vec<Region>) {
    for s in block {
        match &s.stmt {
            Stmt::Array { region, ty: Ty::F, free: false, .. } => out.push(*region),
            Stmt::Span { body, .. } => arrays(body, out),
            _ => {}
        }
    }
}

/// Whether a word which something is added to is seen in the end if it is not finite in between: it stays so. Where it is read, the run must end all the
/// same.
pub(super) fn is_seen_late(flow: &Flow, at: Location, ends: bool) -> bool {
    flow.only_adds_to(at) && (ends || !flow.reads.contains(&at))
}

/// Whether a program has no loop that ends by a condition, no function that calls itself, and no integers that are made of floating-point numbers: then
/// these do not decide that it goes on for ever.
pub(super) fn ends_whatever_its_numbers(program: &Program, summaries: &Summaries) -> bool {
    let recursive = |n: usize| summaries.get(FunctionId(n as u32)).recursive;
    let mut ends = !(0..program.functions.len()).any(recursive);
    for f in &program.functions {
        walk(&f.body, &mut |s| match &s.stmt {
            Stmt::While { .. } => ends = false,
            Stmt::Update { func, .. } => ends &= !makes_integers(*func),
            _ => {}
        });
    }
    ends
}

/// Whether numbers decide what a program does, by comparisons or by integers that are made of them.
pub(super) fn numbers_decide(program: &Program) -> bool {
    let compares = |condition: &Condition| condition.test.ty != Ty::Int;
    let mut decide = false;
    for f in &program.functions {
        walk(&f.body, &mut |s| match &s.stmt {
            Stmt::If { pre, post, .. } | Stmt::While { pre, post, .. } => decide |= compares(pre) || compares(post),
            Stmt::Update { func, .. } => decide |= makes_integers(*func),
            _ => {}
        });
    }
    decide
}

/// Whether a function makes integers of other numbers.
fn makes_integers(func: TableFn) -> bool {
    let info = func.info();
    info.ty == Ty::Int && info.from != Ty::Int
}
