//! Selects the loop-invariant ancillas of a loop's body.

use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::{Acc, Ty};

use crate::ir::effects::{Effects, Summaries, is_inexact, update_traps};
use crate::ir::{LocatedStmt, Mem, Operand, Place, Stmt, Var, VarInfo};
use crate::passes::rewrite::write_counts;
use crate::passes::table::{FastMap, FastSet};

/// The ancillas and assertions to be moved.
pub(super) struct Choice {
    /// Ancillas that move with all updates of them.
    pub(super) whole: FastSet<Var>,
    /// Integer sums of which some terms move.
    pub(super) split: FastSet<Var>,
    /// True if assertions move.
    pub(super) asserts: bool,
    body: Effects,
    counter: Var,
    may_trap: bool,
}

/// An ancilla of a computation.
struct Candidate {
    /// The computation that it belongs to.
    place: usize,
    fit: bool,
    updates: usize,
    /// The last statement of the computation that changes it.
    last: usize,
    /// The first statement, other than those that change candidates, that reads it.
    read: usize,
    check: bool,
    inexact: bool,
    traps: bool,
    /// True if all updates add to an integer, one after the other.
    sums: bool,
    /// The number of invariant terms, and whether one of them is more than a variable or a constant.
    terms: Vec<Vec<Operand>>,
    rich: Vec<bool>,
}

/// A computation's update of a candidate: the candidate, the candidates that it reads, and its position.
struct Edge {
    to: Var,
    from: Var,
    at: usize,
}

#[derive(Default)]
struct Scan {
    found: FastMap<Var, Candidate>,
    edges: Vec<Edge>,
    places: usize,
}

/// Selects from a loop's body. Code that may trap is selected only if the caller allows it.
pub(super) fn choose(
    counter: Var,
    body: &[LocatedStmt],
    vars: &[VarInfo],
    summaries: &Summaries,
    may_trap: bool,
) -> Choice {
    let (whole, split) = (FastSet::default(), FastSet::default());
    let mut choice = Choice { whole, split, asserts: false, body: Effects::default(), counter, may_trap };
    if !body.iter().any(|s| matches!(s.stmt, Stmt::With { .. } | Stmt::Assert { .. })) {
        return choice;
    }
    choice.body = Effects::of_block(summaries, body);
    let mut scan = Scan::default();
    scan.block(body, &choice, summaries);
    let counts = write_counts(body, summaries);
    for (v, c) in &mut scan.found {
        // Elsewhere in the loop the variable may have another life.
        c.fit &= c.updates > 0 && counts.get(v) == Some(&(c.updates + 1));
        c.fit &= !(c.inexact && c.updates > 1) || (c.check && may_trap);
        c.fit &= may_trap || !c.traps;
        c.fit &= c.read >= c.last;
        c.sums &= vars.get(v.0 as usize).is_some_and(|i| i.ty == Ty::Int) && c.read >= c.last;
    }
    scan.settle();
    choice.whole = scan.found.iter().filter(|(_, c)| c.fit).map(|(v, _)| *v).collect();
    for (v, c) in &scan.found {
        if c.fit || !c.sums {
            continue;
        }
        let invariant: Vec<usize> = (0..c.terms.len()).filter(|n| choice.is_invariant(&c.terms[*n])).collect();
        let worth = invariant.len() > 1 || invariant.iter().any(|n| c.rich[*n]);
        if worth && invariant.len() < c.terms.len() {
            choice.split.insert(*v);
        }
    }
    choice.asserts = choice.moves_assert(body);
    choice
}

impl Choice {
    pub(super) fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.split.is_empty() && !self.asserts
    }

    /// Whether a statement is an assertion to be moved: it compares the same words in each iteration, an iteration is
    /// certain, and nothing is shown before it that would not be shown if it trapped at once.
    pub(super) fn is_invariant_assert(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Assert { test, .. } => self.may_trap && !self.body.shows && self.is_invariant(&[test.a, test.b]),
            _ => false,
        }
    }

    fn moves_assert(&self, block: &[LocatedStmt]) -> bool {
        block.iter().any(|s| match &s.stmt {
            Stmt::With { compute, body, .. } => {
                compute.iter().any(|s| self.is_invariant_assert(&s.stmt)) || self.moves_assert(body)
            }
            stmt => self.is_invariant_assert(stmt),
        })
    }

    /// Whether arguments are invariant, given what is moved, and reading them does not trap.
    pub(super) fn is_invariant(&self, args: &[Operand]) -> bool {
        args.iter().all(|a| {
            (self.may_trap || !matches!(a, Operand::Mem(_)))
                && self.fixed_region(*a)
                && a.vars().all(|v| self.whole.contains(&v) || self.fixed(v))
        })
    }

    /// Whether the loop does not change a variable.
    fn fixed(&self, v: Var) -> bool {
        v != self.counter && !self.body.writes.has(v)
    }

    fn fixed_region(&self, o: Operand) -> bool {
        match o {
            Operand::Mem(Mem { region, .. }) => !self.body.writes_region(region),
            Operand::Const(_) | Operand::Var(_) => true,
        }
    }
}

impl Scan {
    /// The computations of a block, and those within their bodies.
    fn block(&mut self, block: &[LocatedStmt], choice: &Choice, summaries: &Summaries) {
        for s in block {
            if let Stmt::With { compute, body, .. } = &s.stmt {
                self.compute(compute, choice, summaries);
                self.places += 1;
                self.block(body, choice, summaries);
            }
        }
    }

    fn compute(&mut self, compute: &[LocatedStmt], choice: &Choice, summaries: &Summaries) {
        let place = self.places;
        for (n, s) in compute.iter().enumerate() {
            if let Stmt::Ancilla { var, free: false, checks } = &s.stmt {
                let new = Candidate {
                    place,
                    fit: true,
                    updates: 0,
                    last: 0,
                    read: usize::MAX,
                    check: checks.check,
                    inexact: false,
                    traps: false,
                    sums: true,
                    terms: Vec::new(),
                    rich: Vec::new(),
                };
                if let Some(old) = self.found.insert(*var, new) {
                    // A second life.
                    self.found.insert(*var, Candidate { fit: false, sums: false, ..old });
                }
            } else if let Stmt::Update { acc, inverse: _, func, dst: Place::Var(v), args } = &s.stmt
                && self.is_here(*v, place)
            {
                let mut fits = true;
                let mut traps = update_traps(*acc, *func, args);
                for arg in args {
                    traps |= matches!(arg, Operand::Mem(_));
                    fits &= choice.fixed_region(*arg);
                    for from in arg.vars() {
                        if self.found.contains_key(&from) {
                            self.edges.push(Edge { to: *v, from, at: n });
                        } else {
                            fits &= choice.fixed(from);
                        }
                    }
                }
                let Some(c) = self.found.get_mut(v) else { continue };
                c.fit &= fits;
                c.traps |= traps;
                c.inexact |= is_inexact(*acc, *func);
                c.updates += 1;
                c.last = n;
                c.sums &= *acc == Acc::Add && !update_traps(*acc, *func, args);
                let plain = matches!(func, TableFn::Int(int_fn::Name::Id)) && !matches!(args[..], [Operand::Mem(_)]);
                c.terms.push(args.clone());
                c.rich.push(!plain);
            } else {
                let e = Effects::of_stmt(summaries, &s.stmt);
                for v in e.writes.iter() {
                    if let Some(c) = self.found.get_mut(&Var(v)).filter(|c| c.place == place) {
                        c.fit = false;
                        c.sums = false;
                    }
                }
                for v in e.reads.iter() {
                    if let Some(c) = self.found.get_mut(&Var(v)).filter(|c| c.place == place) {
                        c.read = c.read.min(n);
                    }
                }
            }
        }
    }

    fn is_here(&self, v: Var, place: usize) -> bool {
        self.found.get(&v).is_some_and(|c| c.place == place)
    }

    /// Removes candidates that depend on something that is not moved, and candidates that such code reads before they are
    /// complete.
    fn settle(&mut self) {
        let mut readers: FastMap<Var, Vec<Var>> = FastMap::default();
        let mut early: FastMap<Var, Vec<Var>> = FastMap::default();
        for e in &self.edges {
            readers.entry(e.from).or_default().push(e.to);
            if let (Some(from), Some(to)) = (self.found.get(&e.from), self.found.get(&e.to))
                && from.place == to.place
                && e.at < from.last
            {
                early.entry(e.to).or_default().push(e.from);
            }
        }
        // Terms may be summed elsewhere, so a sum that is read early cannot be split.
        for from in early.values().flatten() {
            if let Some(c) = self.found.get_mut(from) {
                c.sums = false;
            }
        }
        let mut queue: Vec<Var> = self.found.iter().filter(|(_, c)| !c.fit).map(|(v, _)| *v).collect();
        while let Some(v) = queue.pop() {
            for other in readers.remove(&v).into_iter().chain(early.remove(&v)).flatten() {
                if let Some(c) = self.found.get_mut(&other).filter(|c| c.fit) {
                    c.fit = false;
                    queue.push(other);
                }
            }
        }
    }
}
