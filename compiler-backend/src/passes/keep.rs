//! Keeps a word of memory that every iteration of a loop uses in a variable (scalar promotion).
//!
//! The word and an ancilla are exchanged before the loop and back after it. Nothing is computed, rounded or dropped, and
//! the word may be written, too. The pass requires that the loop accesses the word's region by one address only, apart
//! from offsets, and that an instruction would need two words of memory.

use std::collections::HashSet;

use pendula_isa::Ty;
use pendula_isa::table::Row;

use super::hoist::{Guard, guard, taken};
use super::rewrite::{Slot, SlotMut, each_for, each_stmt, slots, slots_mut, write_counts};
use crate::ir::effects::{Summaries, blocks, trip_count, walk};
use crate::ir::{
    AncillaChecks, Block, IrFunction, LocatedStmt, Mem, Operand, Place, Program, RegionInfo, Stmt, Var, VarInfo,
};

/// The most words that are kept for one loop, since registers are few.
const MAX_WORDS: usize = 4;

/// Runs the pass on the whole program.
pub(super) fn run(program: &mut Program, summaries: &Summaries) {
    for function in &mut program.functions {
        let IrFunction { vars, regions, body, .. } = function;
        each_for(body, &mut |s| keep(s, vars, regions, summaries));
    }
}

fn keep(s: &mut LocatedStmt, vars: &mut Vec<VarInfo>, regions: &[RegionInfo], summaries: &Summaries) {
    let Stmt::For { var, first, last, step, body, .. } = &mut s.stmt else { return };
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
        let checks = AncillaChecks::NONE;
        compute.push(Stmt::Ancilla { var: t, free: false, checks }.at(loc));
        let args = vec![Operand::Var(t), Operand::Mem(word)];
        compute.push(Stmt::Permute { row: Row::Swap, inverse: false, ty: Ty::Int, args }.at(loc));
        each_stmt(body, &mut |stmt| {
            slots_mut(stmt, summaries, &mut |slot| match slot {
                SlotMut::Read(o) | SlotMut::Written(o) if *o == Operand::Mem(word) => *o = Operand::Var(t),
                SlotMut::Place(p) if *p == Place::Mem(word) => *p = Place::Var(t),
                _ => {}
            });
        });
    }
    let body = vec![taken(s)];
    s.stmt = Stmt::With { name: "kept".into(), compute, body };
    guard.enclose(s);
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
        slots(&s.stmt, summaries, &mut |slot| {
            if let Slot::Region(r) = slot {
                excluded.insert(*r);
            } else if let Some(Operand::Mem(m)) = slot.operand()
                && seen.insert(m)
            {
                all.push(m);
            }
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
        slots(&s.stmt, summaries, &mut |slot| {
            if let Some(Operand::Mem(m)) = slot.operand() {
                here.push(m);
            }
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
        if let Stmt::With { .. } | Stmt::Span { .. } = &s.stmt {
            blocks(&s.stmt).for_each(|inner| each_unconditional(inner, visit));
        }
    }
}
