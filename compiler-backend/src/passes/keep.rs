//! Keeps a word of memory that every iteration of a loop uses in a variable (scalar promotion).
//!
//! The word and an ancilla are exchanged before the loop and back after it. Nothing is computed, rounded or dropped, and
//! the word may be written, too. The pass requires that the loop accesses the word's region by one address only, apart
//! from offsets, and that an instruction would need two words of memory.

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use pendula_isa::Ty;
use pendula_isa::table::Row;

use super::hoist::{Guard, guard};
use super::rewrite::{Slot, SlotMut, each_block, each_stmt, slots, slots_mut, write_counts};
use crate::ir::effects::{Summaries, trip_count, walk};
use crate::ir::{
    AncillaChecks, Block, Condition, IrFunction, LocatedStmt, Mem, Operand, Place, Program, RegionInfo, Stmt, Var,
    VarInfo,
};

/// The most words that are kept for one loop, since registers are few.
const MAX_WORDS: usize = 4;

/// Runs the pass on the whole program.
pub(super) fn run(program: &mut Program, summaries: &Summaries) {
    for function in &mut program.functions {
        let IrFunction { vars, regions, body, .. } = function;
        each_block(body, &mut |block| {
            for s in block.iter_mut() {
                if let Stmt::For { .. } = &s.stmt {
                    keep(s, vars, regions, summaries);
                }
            }
        });
    }
}

fn keep(s: &mut LocatedStmt, vars: &mut Vec<VarInfo>, regions: &[RegionInfo], summaries: &Summaries) {
    let Stmt::For { var, first, last, step, body } = &mut s.stmt else { return };
    let guard = guard(*first, *last, *step);
    if matches!(trip_count(*first, *last, *step), Some(0 | 1)) || matches!(guard, Guard::Unknown) {
        return;
    }
    let found = words(*var, body, summaries);
    if found.is_empty() {
        return;
    }
    let loc = s.loc;
    let mut compute = Block::new();
    for word in found {
        let info = regions.get(word.region.0 as usize);
        vars.push(VarInfo {
            name: info.map_or("word".into(), |r| r.name.clone()),
            ty: info.map_or(Ty::Int, |r| r.ty),
            points: None,
        });
        let t = Var(vars.len() as u32 - 1);
        // Meanwhile the word in memory is zero, and so is its gradient word.
        let checks = AncillaChecks { check: false, drop: false };
        compute.push(Stmt::Ancilla { var: t, free: false, checks }.at(loc));
        let args = vec![Operand::Var(t), Operand::Mem(word)];
        compute.push(Stmt::Permute { row: Row::Swap, inverse: false, ty: Ty::Int, args }.at(loc));
        each_stmt(body, &mut |stmt| {
            slots_mut(stmt, summaries, &mut |slot| match slot {
                SlotMut::Read(o) | SlotMut::Written(o) if *o == Operand::Mem(word) => *o = Operand::Var(t),
                SlotMut::Place(p) if *p == Place::Mem(word) => *p = Place::Var(t),
                SlotMut::Read(_)
                | SlotMut::Written(_)
                | SlotMut::Place(_)
                | SlotMut::Life(_)
                | SlotMut::Step(_)
                | SlotMut::Region(_) => {}
            });
        });
    }
    let stmt = std::mem::replace(&mut s.stmt, Stmt::Print(0));
    s.stmt = Stmt::With { name: "kept".into(), compute, body: vec![stmt.at(loc)] };
    if let Guard::Test(test) = guard {
        let stmt = std::mem::replace(&mut s.stmt, Stmt::Print(0));
        let (pre, post) = (Condition::of(test), Condition::of(test));
        s.stmt = Stmt::If { pre, post, then: vec![stmt.at(loc)], otherwise: Block::new() };
    }
}

/// The words that are worth keeping.
fn words(var: Var, body: &Block, summaries: &Summaries) -> Vec<Mem> {
    let changed = write_counts(body, summaries);
    let invariant = |m: &Mem| [m.base, m.index].into_iter().flatten().all(|v| v != var && !changed.contains_key(&v));
    let mut all: Vec<Mem> = Vec::new();
    let mut seen = HashSet::new();
    let mut excluded = HashSet::new();
    let mut calls = false;
    walk(body, &mut |s| {
        calls |= matches!(s.stmt, Stmt::Call { .. });
        slots(&s.stmt, summaries, &mut |slot| match slot {
            Slot::Read(Operand::Mem(m)) | Slot::Written(Operand::Mem(m)) | Slot::Place(Place::Mem(m)) => {
                if seen.insert(*m) {
                    all.push(*m);
                }
            }
            Slot::Region(r) => {
                excluded.insert(*r);
            }
            Slot::Read(_) | Slot::Written(_) | Slot::Place(_) | Slot::Life(_) | Slot::Step(_) => {}
        });
    });
    if calls {
        return Vec::new();
    }
    // If a region is accessed by several addresses, it is unknown which words are the same.
    for m in &all {
        let apart = |o: &Mem| o.region != m.region || (o.base, o.index) == (m.base, m.index);
        if !invariant(m) || !all.iter().all(apart) {
            excluded.insert(m.region);
        }
    }
    let mut out: Vec<Mem> = Vec::new();
    each_unconditional(body, &mut |s| {
        let mut here: Vec<Mem> = Vec::new();
        slots(&s.stmt, summaries, &mut |slot| match slot {
            Slot::Read(Operand::Mem(m)) | Slot::Written(Operand::Mem(m)) | Slot::Place(Place::Mem(m)) => here.push(*m),
            Slot::Read(_) | Slot::Written(_) | Slot::Place(_) | Slot::Life(_) | Slot::Step(_) | Slot::Region(_) => {}
        });
        if here.len() > 1 {
            let new = here.into_iter().find(|m| !excluded.contains(&m.region) && !out.contains(m));
            out.extend(new.filter(|_| out.len() < MAX_WORDS));
        }
    });
    out
}

/// Visits the statements that every iteration runs.
fn each_unconditional<'a>(block: &'a [LocatedStmt], visit: &mut impl FnMut(&'a LocatedStmt)) {
    for s in block {
        visit(s);
        match &s.stmt {
            Stmt::With { compute, body, .. } => {
                each_unconditional(compute, visit);
                each_unconditional(body, visit);
            }
            Stmt::Span { body, .. } => each_unconditional(body, visit),
            Stmt::Update { .. }
            | Stmt::Permute { .. }
            | Stmt::Ancilla { .. }
            | Stmt::Array { .. }
            | Stmt::Call { .. }
            | Stmt::If { .. }
            | Stmt::While { .. }
            | Stmt::For { .. }
            | Stmt::Assert { .. }
            | Stmt::Show { .. }
            | Stmt::Print(_) => {}
        }
    }
}
