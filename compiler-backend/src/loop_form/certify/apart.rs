//! What keeps words apart, by the same means: operands that are certainly different words, computations that are spared by what is done before they are
//! undone, and what is known at loops, which tells what parts of arrays their turns go through (`courses`).

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use pendula_codegen::loops::Sum;

use super::super::dead_uncompute::Drops;
use super::super::facts::Facts;
use super::super::flow::{Location, Locations};
use super::super::windows::{Access, may_meet};
use super::{Asked, Survey};
use crate::ir::effects::walk;
use crate::ir::{IrFunction, LocatedStmt, Mem, Operand, Region, Stmt, Var};

/// What keeps a function's words apart.
#[derive(Default)]
pub(in super::super) struct WordsApart {
    /// Operands of statements that lie in one array and are certainly different words.
    pub(in super::super) operands: HashSet<(*const LocatedStmt, Mem, Mem)>,
    /// What is known at loops without loops in them.
    pub(in super::super) loops: HashMap<*const LocatedStmt, Rc<AtLoop>>,
}

/// What is known where a loop stands, in whichever way it is run.
pub(in super::super) struct AtLoop {
    /// Values of integer variables that it does not change.
    pub(in super::super) values: HashMap<Var, Sum>,
    pub(in super::super) facts: Facts,
    /// What it begins and ends with.
    pub(in super::super) ends: [Option<Sum>; 2],
}

/// What keeps a function's words apart.
pub(in super::super) fn words_apart(drops: &mut Drops<'_>, f: &IrFunction) -> WordsApart {
    let mut survey = Survey::of(drops, f, &f.body, Locations::new(), Asked::Order);
    survey.apart = Some(WordsApart::default());
    // What was found out before it gives up is true all the same.
    let _ = survey.block(&f.body, true);
    survey.apart.unwrap_or_default()
}

/// For each computation, the arrays of which what is done before it is undone adds to no word that the computation reads.
pub(in super::super) type Spared = HashMap<*const LocatedStmt, Locations>;

/// Of which arrays the computations of a function are spared.
pub(in super::super) fn spared(drops: &mut Drops<'_>, f: &IrFunction) -> Spared {
    let regions = (0..f.regions.len()).map(|n| Location::Region(Region(n as u32)));
    let mut found = Spared::new();
    spared_in(drops, f, &f.body, regions.filter(|at| f.is_float(*at)).collect(), &mut found);
    let mut computations = Vec::new();
    walk(&f.body, &mut |s| {
        if let Stmt::With { compute, .. } = &s.stmt {
            computations.push(&compute[..]);
        }
    });
    for compute in computations {
        let mut own = HashMap::new();
        super::words(f, compute, &mut own);
        own.retain(|at, _| matches!(at, Location::Region(_)));
        if !own.is_empty() {
            spared_in(drops, f, compute, own.into_keys().collect(), &mut found);
        }
    }
    found
}

/// The same in a block, as to these words.
fn spared_in(drops: &mut Drops<'_>, f: &IrFunction, block: &[LocatedStmt], words: Locations, found: &mut Spared) {
    let mut survey = Survey::of(drops, f, block, words, Asked::Order);
    survey.spared = Some(Spared::new());
    // What was found out before it gives up is true all the same.
    let _ = survey.block(block, true);
    for (compute, words) in survey.spared.unwrap_or_default() {
        found.entry(compute).or_default().extend(words);
    }
}

impl Survey<'_, '_> {
    /// Notes that what is done between a computation and its end adds to no words that it reads. Of its own arrays nothing is known.
    pub(super) fn spares(&mut self, compute: &[LocatedStmt]) {
        let Some(found) = &mut self.spared else { return };
        if compute.is_empty() {
            return;
        }
        let mut own = HashMap::new();
        super::words(self.f, compute, &mut own);
        let others = self.words.iter().filter(|at| !own.contains_key(at));
        found.entry(compute.as_ptr()).or_default().extend(others);
    }

    /// Notes what is known at a loop.
    pub(super) fn note_loop(&mut self, s: &LocatedStmt, ends: &[Option<Sum>; 2], body: &[LocatedStmt]) {
        let Some(found) = &mut self.apart else { return };
        let mut is_innermost = true;
        walk(body, &mut |s| is_innermost &= !matches!(s.stmt, Stmt::For { .. }));
        if is_innermost {
            let known = AtLoop { values: self.values.clone(), facts: self.facts.clone(), ends: ends.clone() };
            found.loops.insert(s, Rc::new(known));
        }
    }

    /// Notes which operands of a statement are certainly different words.
    pub(super) fn find_apart(&mut self, s: &LocatedStmt, args: &[Operand]) {
        let Some(mut found) = self.apart.take() else { return };
        let words = || args.iter().filter_map(|a| if let Operand::Mem(m) = a { Some(*m) } else { None });
        let access =
            |m: Mem| Access { at: Location::Region(m.region), window: self.window(m), adds: None, called: false };
        for a in words() {
            for b in words().filter(|b| *b != a && b.region == a.region) {
                if !may_meet(&access(a), &access(b), &self.facts) {
                    found.operands.insert((std::ptr::from_ref(s), a, b));
                }
            }
        }
        self.apart = Some(found);
    }
}
