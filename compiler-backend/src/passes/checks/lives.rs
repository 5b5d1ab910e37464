//! Removes checks of ancillas that are certainly zero at their ends.
//!
//! Undoing statements from the last to the first restores everything that they change, if what they read has not changed.
//! The pass tracks what has changed: words written in between, and everything that depends on them. Floating-point words
//! are restored only if one number was added to zero.

use pendula_isa::table::TableFn;
use pendula_isa::{Acc, Ty};

use crate::ir::effects::{Effects, Set, Summaries, blocks_mut, is_inexact, undone_blocks};
use crate::ir::{Block, IrFunction, LocatedStmt, Operand, Place, Region, Stmt, Var};
use crate::passes::rewrite::{births, each_block};
use crate::passes::table::{FastMap, FastSet};

pub(super) fn run(function: &mut IrFunction, summaries: &Summaries) {
    let floats: FastSet<Var> =
        (0u32..).zip(&function.vars).filter(|(_, v)| v.ty == Ty::F).map(|(n, _)| Var(n)).collect();
    each_block(&mut function.body, &mut |block| {
        for s in block.iter_mut() {
            if let Stmt::With { compute, body, .. } = &mut s.stmt {
                let between = Effects::of_block(summaries, body);
                undone(compute, &between, summaries, &floats);
            } else {
                let conditions = undone_blocks(&s.stmt);
                for compute in blocks_mut(&mut s.stmt).take(conditions) {
                    undone(compute, &Effects::default(), summaries, &floats);
                }
            }
        }
        straight(block, summaries);
    });
}

/// The words that may have changed.
#[derive(Default)]
struct Disturbed {
    vars: FastSet<u32>,
    regions: FastSet<u32>,
    memory: bool,
}

impl Disturbed {
    fn has_any(&self, set: &Set) -> bool {
        // Sets of statements are small.
        set.iter().any(|v| self.vars.contains(&v))
    }

    fn has_region(&self, r: Region) -> bool {
        self.memory || self.regions.contains(&r.0)
    }

    fn has_any_region(&self, set: &Set) -> bool {
        (self.memory && !set.is_empty()) || set.iter().any(|r| self.regions.contains(&r))
    }

    fn has_read(&self, e: &Effects) -> bool {
        self.has_any(&e.reads)
            || self.has_any_region(&e.regions_read)
            || ((e.reads_memory || e.writes_memory) && (self.memory || !self.regions.is_empty()))
    }

    fn add_written(&mut self, e: &Effects) {
        self.vars.extend(e.writes.iter());
        self.add_memory(e);
    }

    fn add_memory(&mut self, e: &Effects) {
        self.regions.extend(e.regions_written.iter());
        self.memory |= e.writes_memory;
    }
}

/// Removes the checks of ancillas that `compute` allocates, if undoing it after `between` certainly restores them.
fn undone(compute: &mut Block, between: &Effects, summaries: &Summaries, floats: &FastSet<Var>) {
    if compute.is_empty() {
        return;
    }
    let effects: Vec<Effects> = compute.iter().map(|s| Effects::of_stmt(summaries, &s.stmt)).collect();
    let (born, writers) = births(compute, summaries);
    let mut disturbed = Disturbed::default();
    disturbed.add_written(between);
    for (s, e) in compute.iter_mut().zip(&effects).rev() {
        if let Stmt::Ancilla { var, free, checks } = &mut s.stmt {
            if !*free && !disturbed.vars.contains(&var.0) {
                checks.check = false;
            }
            // A word is zero before and after its life.
            disturbed.vars.remove(&var.0);
        } else if let Stmt::Array { base, len, region, free, checks, .. } = &mut s.stmt {
            let moved = disturbed.vars.contains(&base.0) || len.vars().any(|v| disturbed.vars.contains(&v.0));
            if !*free && !moved && !disturbed.has_region(*region) && !matches!(len, Operand::Mem(_)) {
                checks.check = false;
            }
        } else if let Stmt::Update { acc, func, dst, .. } = &s.stmt {
            let restored = !is_inexact(*acc, *func)
                || matches!(dst, Place::Var(v) if born.contains(v) && writers.get(v) == Some(&1));
            if disturbed.has_read(e) || !restored {
                disturbed.add_written(e);
            }
        } else if disturbed.has_any(&e.writes) || disturbed.has_any_region(&e.regions_written) || disturbed.has_read(e)
        {
            // An exchange moves changed words elsewhere.
            disturbed.add_written(e);
        } else if e.inexact {
            disturbed.vars.extend(e.writes.iter().filter(|v| floats.contains(&Var(*v))));
            disturbed.add_memory(e);
        }
    }
}

/// An update that has not been undone yet.
struct Pending {
    acc: Acc,
    inverse: bool,
    func: TableFn,
    args: Vec<Operand>,
    /// The versions of the arguments.
    versions: Vec<u64>,
    /// The version of the variable before the update.
    before: u64,
}

#[derive(Default)]
struct Track {
    /// Where its life began, if it began here and only the pending updates have happened since.
    born: Option<usize>,
    pending: Vec<Pending>,
}

/// Version numbers of the words of a block: the same number means the same value.
#[derive(Default)]
struct Versions {
    vars: FastMap<u32, u64>,
    regions: FastMap<u32, u64>,
    /// The version of all memory, which calls raise.
    memory: u64,
    next: u64,
}

impl Versions {
    fn fresh(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn change(&mut self, v: Var) {
        let version = self.fresh();
        self.vars.insert(v.0, version);
    }

    fn var(&self, v: Var) -> u64 {
        self.vars.get(&v.0).copied().unwrap_or(0)
    }

    fn of(&self, args: &[Operand]) -> Vec<u64> {
        let mut out = Vec::new();
        for arg in args {
            out.extend(arg.vars().map(|v| self.var(v)));
            if let Operand::Mem(m) = arg {
                out.extend([self.regions.get(&m.region.0).copied().unwrap_or(0), self.memory]);
            }
        }
        out
    }
}

/// Removes checks of lives that begin and end in one block.
fn straight(block: &mut Block, summaries: &Summaries) {
    if !block.iter().any(|s| matches!(&s.stmt, Stmt::Ancilla { free: true, checks, .. } if checks.check)) {
        return;
    }
    let mut versions = Versions::default();
    let mut tracks: FastMap<Var, Track> = FastMap::default();
    let mut sure: Vec<usize> = Vec::new();
    for (n, s) in block.iter().enumerate() {
        if let Stmt::Ancilla { var, free, .. } = &s.stmt {
            if !*free {
                tracks.insert(*var, Track { born: Some(n), pending: Vec::new() });
            } else if let Some(Track { born: Some(start), pending }) = tracks.remove(var)
                && pending.is_empty()
            {
                sure.extend([start, n]);
            }
            versions.change(*var);
        } else if let Stmt::Update { acc, inverse, func, dst: Place::Var(v), args } = &s.stmt {
            let found = versions.of(args);
            let track = tracks.entry(*v).or_default();
            let undoes = track.pending.last().is_some_and(|p| {
                (p.acc, p.func, &p.args, &p.versions) == (*acc, *func, args, &found)
                    && (acc.self_inverse() || p.inverse != *inverse)
            });
            if undoes {
                let before = track.pending.pop().map_or(0, |p| p.before);
                versions.vars.insert(v.0, before);
                continue;
            }
            let before = versions.var(*v);
            versions.change(*v);
            if is_inexact(*acc, *func) && !(track.born.is_some() && track.pending.is_empty()) {
                *track = Track::default();
                continue;
            }
            let (acc, inverse, func, args) = (*acc, *inverse, *func, args.clone());
            track.pending.push(Pending { acc, inverse, func, args, versions: found, before });
        } else {
            let e = Effects::of_stmt(summaries, &s.stmt);
            for v in e.writes.iter() {
                versions.change(Var(v));
                tracks.remove(&Var(v));
            }
            for r in e.regions_written.iter() {
                let version = versions.fresh();
                versions.regions.insert(r, version);
            }
            if e.writes_memory {
                versions.memory = versions.fresh();
            }
        }
    }
    for n in sure {
        if let Some(LocatedStmt { stmt: Stmt::Ancilla { checks, .. }, .. }) = block.get_mut(n) {
            checks.check = false;
        }
    }
}
