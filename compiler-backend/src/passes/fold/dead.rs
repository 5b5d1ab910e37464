//! Removes ancillas that nothing reads, if no update of them can trap.
//!
//! They must be certain to end as zero: they are no longer checked, or hold constants that are computed and undone.

use pendula_isa::{Env, Format, Ty};

use super::constants::updated;
use crate::ir::effects::{Summaries, blocks, undone_blocks, update_traps, walk};
use crate::ir::{IrFunction, LocatedStmt, Operand, Place, Stmt, Var};
use crate::passes::rewrite::{Slot, each_block, slots};
use crate::passes::table::{FastMap, FastSet};

/// How a variable is used.
#[derive(Default)]
struct Use {
    /// True if there is a use other than the beginning or end of a life, or an update of it.
    other: bool,
    lives: usize,
    updates: usize,
    /// True if it is checked somewhere.
    checked: bool,
    /// True if an update of it may trap.
    traps: bool,
}

/// Returns whether anything has changed.
pub(super) fn run(function: &mut IrFunction, format: Format, summaries: &Summaries) -> bool {
    let mut uses: FastMap<Var, Use> = FastMap::default();
    for param in &function.params {
        uses.entry(param.var).or_default().other = true;
    }
    walk(&function.body, &mut |s| note(&s.stmt, summaries, &mut uses));
    if !uses.values().any(|u| u.lives > 0 && !u.other) {
        return false;
    }
    let mut constant: FastSet<Var> = FastSet::default();
    let env = Env { format, ieee: false };
    walk(&function.body, &mut |s| {
        for block in blocks(&s.stmt).take(undone_blocks(&s.stmt)) {
            constants(block, env, &uses, &mut constant);
        }
    });
    let dead = |v: Var| {
        let certain = |u: &Use| !u.other && u.lives > 0 && ((!u.checked && !u.traps) || constant.contains(&v));
        uses.get(&v).is_some_and(certain)
    };
    if !uses.keys().any(|v| dead(*v)) {
        return false;
    }
    each_block(&mut function.body, &mut |block| {
        block.retain(|s| s.stmt.own_var().is_none_or(|v| !dead(v)));
    });
    true
}

fn note(stmt: &Stmt, summaries: &Summaries, uses: &mut FastMap<Var, Use>) {
    let own = match stmt {
        Stmt::Ancilla { var, checks, .. } => {
            let u = uses.entry(*var).or_default();
            u.lives += 1;
            u.checked |= checks.check;
            return;
        }
        Stmt::Update { acc, func, dst: Place::Var(v), args, .. } => {
            let u = uses.entry(*v).or_default();
            u.updates += 1;
            u.traps |= update_traps(*acc, *func, args) || args.iter().any(|a| matches!(a, Operand::Mem(_)));
            Some(*v)
        }
        _ => None,
    };
    slots(stmt, summaries, &mut |slot| {
        if !matches!(slot, Slot::Place(Place::Var(v)) if own == Some(*v)) {
            let vars = slot.operand().into_iter().flat_map(Operand::vars);
            vars.for_each(|v| uses.entry(v).or_default().other = true);
        }
    });
}

/// Ancillas that only a computation updates, only by constants, and exactly undoably.
fn constants(compute: &[LocatedStmt], env: Env, uses: &FastMap<Var, Use>, found: &mut FastSet<Var>) {
    // The present value of each ancilla, and the number of its changes.
    let mut words: FastMap<Var, (Option<u64>, usize, bool)> = FastMap::default();
    for s in compute {
        if let Stmt::Ancilla { var, free: false, .. } = &s.stmt {
            words.insert(*var, (Some(0), 0, true));
        } else if let Stmt::Update { acc, inverse, func, dst: Place::Var(v), args } = &s.stmt
            && let Some((word, updates, once)) = words.get_mut(v)
        {
            *word = word.and_then(|w| updated(env, *acc, *inverse, *func, w, args));
            *updates += 1;
            *once &= !matches!(func.info().ty, Ty::F | Ty::L) || *updates == 1;
        }
    }
    for (v, (word, updates, once)) in words {
        let all_here = uses.get(&v).is_some_and(|u| u.lives == 1 && u.updates == updates);
        if word.is_some() && once && all_here {
            found.insert(v);
        }
    }
}
