//! Results that are looked at for being finite where the run turns round and where it ends, and arrays that are looked at where they end, and not at
//! each sum: a sum that is not finite stays so.

use std::collections::HashSet;

use pendula_isa::table::{Adjoint, TableFn};
use pendula_isa::{Acc, Ty};

use super::dead_uncompute::Drops;
use super::flow::{Flow, Location, Locations};
use super::function::FunctionBuilder;
use crate::ir::effects::{Summaries, walk, written_operands};
use crate::ir::{Condition, FunctionId, IrFunction, LocatedStmt, Operand, Program, Region, Stmt, Var};

impl FunctionBuilder<'_, '_> {
    /// Of these parameters, the results that the machine looks at where the run turns round, and in the end.
    pub(super) fn late_results(&mut self, params: &HashSet<Var>) -> Locations {
        let f = self.f;
        let flow = self.w.drops.flow(f, &f.body);
        let params = params.iter().map(|v| f.lent_as(*v));
        params.filter(|at| f.is_float(*at) && self.w.drops.is_seen_late(f, &flow, *at)).collect()
    }

    /// The function's own arrays of which a word that is not finite stays so: they are looked at where they end.
    pub(super) fn late_arrays(&mut self) -> Locations {
        let mut own = Vec::new();
        if self.w.drops.ends {
            arrays(&self.f.body, &mut own);
        }
        own.into_iter().filter(|region| self.w.drops.stays_not_finite(self.f, *region)).map(Location::Region).collect()
    }
}

impl Drops<'_> {
    /// Whether a word is seen in the end if it is not finite in between: it stays so. `flow` is what the function does. Where the word is read, the run must end
    /// all the same.
    pub(super) fn is_seen_late(&mut self, f: &IrFunction, flow: &Flow, at: Location) -> bool {
        let stays = |drops: &mut Self| matches!(at, Location::Region(region) if drops.stays_not_finite(f, region));
        flow.only_adds_to(at) && (self.ends || !flow.reads.contains(&at)) || self.ends && stays(self)
    }

    /// Whether a word of an array that is not finite stays so, whatever a function does: all changes are that something is added to words, or taken away,
    /// or that words of the array are turned or negated. The program has no functions that call themselves.
    fn stays_not_finite(&mut self, f: &IrFunction, region: Region) -> bool {
        let key = (std::ptr::from_ref(f), region);
        if let Some(known) = self.not_finite.get(&key) {
            return *known;
        }
        let stays = self.find_whether_it_stays_not_finite(f, region);
        self.not_finite.insert(key, stays);
        stays
    }

    fn find_whether_it_stays_not_finite(&mut self, f: &IrFunction, region: Region) -> bool {
        let program = self.program;
        let is_in = |operand: &Operand| match operand {
            Operand::Const(_) => false,
            Operand::Var(v) => f.points(*v) == Some(region),
            Operand::Mem(m) => m.region == region,
        };
        let mut stays = true;
        walk(&f.body, &mut |s| match &s.stmt {
            Stmt::Update { acc, dst, .. } => stays &= *acc == Acc::Add || !is_in(&(*dst).into()),
            Stmt::Permute { row, args, .. } if args.iter().any(is_in) => {
                let within = args.iter().take(written_operands(*row)).all(is_in);
                stays &= within && matches!(row.info().adjoint, Adjoint::Rotates | Adjoint::Negates);
            }
            Stmt::Call { func, args, .. } if stays && args.iter().any(is_in) => {
                let Some(callee) = program.functions.get(func.0 as usize) else { return stays = false };
                stays = callee.params.iter().zip(args).filter(|(_, arg)| is_in(arg)).all(|(param, arg)| {
                    match (arg, callee.points(param.var)) {
                        (Operand::Var(_), Some(inner)) => self.stays_not_finite(callee, inner),
                        // A word on its own, which comes back as it was changed.
                        (Operand::Mem(_), None) if param.written => {
                            let flow = self.flow_of_function(*func);
                            flow.is_some_and(|flow| flow.only_adds_to(Location::Var(param.var)))
                        }
                        (Operand::Mem(_), None) => true,
                        _ => false,
                    }
                });
            }
            _ => {}
        });
        stays
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
