//! Which operands are certainly different words, by the same means.

use std::collections::HashSet;

use super::super::dead_uncompute::Drops;
use super::super::flow::{Location, Locations};
use super::super::windows::{Access, may_meet};
use super::{Asked, Survey};
use crate::ir::{IrFunction, LocatedStmt, Mem, Operand};

/// Operands of statements that are certainly different words.
pub(in super::super) type WordsApart = HashSet<(*const LocatedStmt, Mem, Mem)>;

/// Operands of a function's statements that lie in one array and are certainly different words.
pub(in super::super) fn words_apart(drops: &mut Drops<'_>, f: &IrFunction) -> WordsApart {
    let mut survey = Survey::of(drops, f, &f.body, Locations::new(), Asked::Order);
    survey.apart = Some(WordsApart::new());
    // What was found out before it gives up is true all the same.
    let _ = survey.block(&f.body, true);
    survey.apart.unwrap_or_default()
}

impl Survey<'_, '_> {
    /// Notes which operands of a statement are certainly different words.
    pub(super) fn find_apart(&mut self, s: &LocatedStmt, args: &[Operand]) {
        let Some(mut found) = self.apart.take() else { return };
        let words = || args.iter().filter_map(|a| if let Operand::Mem(m) = a { Some(*m) } else { None });
        let access =
            |m: Mem| Access { at: Location::Region(m.region), window: self.window(m), adds: None, called: false };
        for a in words() {
            for b in words().filter(|b| *b != a && b.region == a.region) {
                if !may_meet(&access(a), &access(b), &self.facts) {
                    found.insert((std::ptr::from_ref(s), a, b));
                }
            }
        }
        self.apart = Some(found);
    }
}
