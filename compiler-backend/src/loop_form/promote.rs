//! Memory words that stay where they are throughout a loop: they are read before
//! it, kept in variables, and written after it.

use std::collections::{HashMap, HashSet};

use pendula_codegen::loops::Kept;
use pendula_isa::Ty;

use super::aliases::differ;
use super::function::FunctionBuilder;
use crate::ir::effects::{walk, written_operands};
use crate::ir::{LocatedStmt, Mem, Operand, Region, Stmt, Test, Var};
use crate::passes::Pass;

/// A word that is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Promoted {
    pub(super) mem: Mem,
    ty: Ty,
    written: bool,
}

/// Where a block reads and writes memory.
#[derive(Default)]
struct Accesses {
    /// Each word as it is written down, with the type as which it is used; `None` where there are several.
    words: HashMap<Mem, (Option<Ty>, bool)>,
    /// Regions that calls or lives may reach.
    reached: HashSet<Region>,
    /// Whether calls may reach any.
    anything: bool,
}

impl Accesses {
    fn add(&mut self, operand: Operand, ty: Ty, written: bool) {
        if let Operand::Mem(m) = operand {
            let (known, changed) = self.words.entry(m).or_insert((Some(ty), false));
            if *known != Some(ty) {
                *known = None;
            }
            *changed |= written;
        }
    }

    fn test(&mut self, test: &Test) {
        self.add(test.a, test.ty, false);
        self.add(test.b, test.ty, false);
    }

    fn of(fw: &FunctionBuilder<'_, '_>, block: &[LocatedStmt]) -> Accesses {
        let mut out = Accesses::default();
        walk(block, &mut |s| match &s.stmt {
            Stmt::Update { func, dst, args, .. } => {
                let info = func.info();
                out.add((*dst).into(), info.ty, true);
                args.iter().for_each(|a| out.add(*a, info.from, false));
            }
            Stmt::Permute { row, ty, args, .. } => {
                let written = written_operands(*row);
                // Words of any type may change places as integers, and what they carry with them.
                let ty = if *ty == Ty::Int { &Ty::Q } else { ty };
                args.iter().enumerate().for_each(|(n, a)| out.add(*a, *ty, n < written));
            }
            Stmt::Call { func, args, .. } => {
                let Some(callee) = fw.w.program.functions.get(func.0 as usize) else { return };
                let summary = fw.w.summaries.get(*func);
                let memory = summary.reads_memory || summary.writes_memory;
                for (arg, param) in args.iter().zip(&callee.params) {
                    out.add(*arg, callee.ty(param.var), param.written);
                    if let (Operand::Var(v), true) = (arg, memory) {
                        out.reached.extend(fw.f.points(*v));
                    }
                }
                let regions_known = callee.params.iter().any(|p| callee.points(p.var).is_some());
                let known = args.iter().zip(&callee.params).all(|(arg, param)| {
                    callee.points(param.var).is_none() || matches!(arg, Operand::Var(v) if fw.f.points(*v).is_some())
                });
                out.anything |= memory && !(regions_known && known);
            }
            Stmt::If { pre, post, .. } | Stmt::While { pre, post, .. } => {
                out.test(&pre.test);
                out.test(&post.test);
            }
            Stmt::Assert { test, .. } => out.test(test),
            Stmt::For { first, last, .. } => {
                out.add(*first, Ty::Int, false);
                out.add(*last, Ty::Int, false);
            }
            Stmt::Array { len, region, .. } => {
                out.add(*len, Ty::Int, false);
                out.reached.insert(*region);
            }
            Stmt::Ancilla { .. } | Stmt::With { .. } | Stmt::Span { .. } | Stmt::Show { .. } | Stmt::Print(_) => {}
        });
        out
    }
}

impl FunctionBuilder<'_, '_> {
    /// Of words that every turn of a loop comes to, and that lie inside the memory, those that can be kept. `changed` are the variables that
    /// the loop changes.
    pub(super) fn promotable(&self, body: &[LocatedStmt], met: &[Mem], changed: &dyn Fn(Var) -> bool) -> Vec<Promoted> {
        if !self.w.switches.has(Pass::Scalars) {
            return Vec::new();
        }
        let invariant = |m: &Mem| !m.vars().any(changed) && !self.kept.contains_key(m);
        let mut candidates: Vec<Mem> = Vec::new();
        for m in met.iter().filter(|m| invariant(m)) {
            if !candidates.contains(m) {
                candidates.push(*m);
            }
        }
        if candidates.is_empty() {
            return Vec::new();
        }
        let accesses = Accesses::of(self, body);
        if accesses.anything {
            return Vec::new();
        }
        // What words carry changes where they are used.
        let changes = |(ty, written): (Option<Ty>, bool)| written || ty.is_none_or(|ty| !self.lanes_of(ty).is_empty());
        let mut out = Vec::new();
        for mem in candidates {
            let Some(&(Some(ty), written)) = accesses.words.get(&mem) else { continue };
            let alone = accesses.words.iter().all(|(other, how)| {
                *other == mem || differ(mem, *other) || !(changes((Some(ty), written)) || changes(*how))
            });
            if alone && !accesses.reached.contains(&mem.region) {
                out.push(Promoted { mem, ty, written });
            }
        }
        out
    }

    /// Keeps words in variables from here on.
    pub(super) fn keep(&mut self, words: &[Promoted]) -> Vec<Kept> {
        let mut out = Vec::with_capacity(words.len());
        for Promoted { mem, ty, written } in words {
            let local = self.fresh("kept", *ty);
            out.push(Kept { local, place: self.memory_place(*mem), ty: *ty, written: *written });
            self.kept.insert(*mem, local);
        }
        out
    }
}
