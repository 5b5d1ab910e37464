//! Which region of memory a pointer points into.
//!
//! Regions are told apart within a function only. A function's region that it was given is known by the parameter from which the
//! addresses of its words are made, by adding.

use std::collections::hash_map::Entry;

use pendula_isa::table::{Func, int_fn};

use crate::ir::effects::{Summaries, walk};
use crate::ir::{At, Function, Mem, Operand, Place, Region, Stmt, Var};
use crate::passes::rewrite::{Slot, slots};
use crate::passes::table::Map;

/// More sources than these make an address that nothing is known of.
const SOURCES: usize = 4;

/// From which parameters and arrays variables are made by adding.
pub(super) struct Sources {
    of: Map<Var, Vec<Var>>,
}

impl Sources {
    pub(super) fn new(function: &Function, body: &[At]) -> Sources {
        let mut added: Map<Var, Vec<Var>> = Map::default();
        let mut of: Map<Var, Vec<Var>> = function.params.iter().map(|p| (p.var, vec![p.var])).collect();
        walk(body, &mut |s| {
            if let Stmt::Array { base, .. } = &s.stmt {
                of.insert(*base, vec![*base]);
            }
            if let Stmt::Update { func: Func::Int(int_fn::Fn::Id), dst: Place::Var(v), args, .. } = &s.stmt
                && let [Operand::Var(from)] = args[..]
            {
                added.entry(*v).or_default().push(from);
            }
        });
        let mut sources = Sources { of };
        let all: Vec<Var> = added.keys().copied().collect();
        for v in all {
            sources.settle(v, &added);
        }
        sources
    }

    /// Follows what is added, with a stack of its own: chains may be long.
    fn settle(&mut self, v: Var, added: &Map<Var, Vec<Var>>) {
        let mut path = vec![(v, false)];
        while let Some((v, done)) = path.pop() {
            if done {
                let mut list: Vec<Var> = Vec::new();
                for from in added.get(&v).into_iter().flatten() {
                    list.extend(self.of(*from));
                }
                list.sort_unstable();
                list.dedup();
                list.truncate(SOURCES + 1);
                self.of.insert(v, list);
            } else if let Entry::Vacant(entry) = self.of.entry(v) {
                // What adds to itself in a circle has what it has so far.
                entry.insert(Vec::new());
                path.push((v, true));
                path.extend(added.get(&v).into_iter().flatten().map(|from| (*from, false)));
            }
        }
    }

    /// Parameters and arrays that a variable is made from.
    pub(super) fn of(&self, v: Var) -> &[Var] {
        self.of.get(&v).map_or(&[], Vec::as_slice)
    }
}

/// Visits the words of memory that a block names.
pub(super) fn each_mem(body: &[At], summaries: &Summaries, visit: &mut impl FnMut(Mem)) {
    walk(body, &mut |s| {
        slots(&s.stmt, summaries, &mut |slot| match slot {
            Slot::Read(Operand::Mem(m)) | Slot::Written(Operand::Mem(m)) | Slot::Place(Place::Mem(m)) => visit(*m),
            Slot::Read(Operand::Const(_) | Operand::Var(_))
            | Slot::Written(Operand::Const(_) | Operand::Var(_))
            | Slot::Place(Place::Var(_))
            | Slot::Life(_)
            | Slot::Step(_)
            | Slot::Region(_) => {}
        });
    });
}

/// Where a function's regions come from.
pub(super) enum Origin {
    /// Nothing in it is used.
    Unused,
    /// An array of its own.
    Own,
    /// A parameter: one of these.
    Given(Vec<Var>),
    /// Unknown.
    Unknown,
}

/// Where each of a function's regions comes from.
pub(super) fn origins(function: &Function, summaries: &Summaries) -> Vec<Origin> {
    let sources = Sources::new(function, &function.body);
    let mut out: Vec<Origin> = function.regions.iter().map(|_| Origin::Unused).collect();
    walk(&function.body, &mut |s| {
        if let Stmt::Array { region, .. } = &s.stmt
            && let Some(origin) = out.get_mut(region.0 as usize)
        {
            *origin = Origin::Own;
        }
    });
    each_mem(&function.body, summaries, &mut |m| {
        let Some(origin) = out.get_mut(m.region.0 as usize) else { return };
        let found = m.base.map_or(&[][..], |b| sources.of(b));
        let new = match origin {
            Origin::Own | Origin::Unknown => return,
            Origin::Unused => found.to_vec(),
            Origin::Given(list) => list.iter().copied().filter(|v| found.contains(v)).collect(),
        };
        *origin = if new.is_empty() || found.len() > SOURCES { Origin::Unknown } else { Origin::Given(new) };
    });
    out
}

/// The regions that a caller's pointers point into; `None` where one points into several.
pub(super) fn known(body: &[At], sources: &Sources) -> Map<Var, Option<Region>> {
    let mut known: Map<Var, Option<Region>> = Map::default();
    let mut note = |v: Var, r: Region| {
        known.entry(v).and_modify(|old| *old = old.filter(|o| *o == r)).or_insert(Some(r));
    };
    walk(body, &mut |s| {
        if let Stmt::Array { base, region, .. } = &s.stmt {
            note(*base, *region);
        }
    });
    // No summaries are needed: every operand is visited, be it read or written.
    each_mem(body, &Summaries::default(), &mut |m| {
        // Of several, one is the pointer; the others cannot be told from it.
        m.vars().flat_map(|v| sources.of(v)).for_each(|source| note(*source, m.region));
    });
    known
}
