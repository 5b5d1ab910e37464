//! How the words of memory go on that turns of a loop write, and whether turns depend on each other by them.

use std::collections::HashSet;

use pendula_codegen::loops::Induction;

use super::function::FunctionBuilder;
use super::loops::{Met, Survey};
use super::promote::Promoted;
use crate::ir::effects::walk;
use crate::ir::{LocatedStmt, Mem, Operand, Place, Region, Stmt};

/// The words of all regions of which a turn writes words, and how they go on, if that is known; `None` if a turn does something else than
/// operations.
pub(super) fn written_words(
    fw: &FunctionBuilder<'_, '_>,
    survey: &Survey<'_, '_>,
    body: &[LocatedStmt],
    kept: &[Promoted],
) -> Option<Vec<(Mem, Option<Induction>)>> {
    let mut simple = true;
    walk(body, &mut |s| {
        simple &= matches!(
            s.stmt,
            Stmt::Update { .. }
                | Stmt::Permute { .. }
                | Stmt::Ancilla { .. }
                | Stmt::With { .. }
                | Stmt::Span { .. }
                | Stmt::Assert { .. }
        );
    });
    if !simple {
        return None;
    }
    let mut written: HashSet<Region> = HashSet::new();
    let shared = !fw.lanes().is_empty();
    walk(body, &mut |s| match &s.stmt {
        Stmt::Update { dst, args, .. } => {
            if let Place::Mem(m) = dst {
                written.insert(m.region);
            }
            if shared {
                written.extend(args.iter().filter_map(|a| if let Operand::Mem(m) = a { Some(m.region) } else { None }));
            }
        }
        Stmt::Permute { args, .. } => {
            written.extend(args.iter().filter_map(|a| if let Operand::Mem(m) = a { Some(m.region) } else { None }));
        }
        _ => {}
    });
    let words = survey.met.iter().filter_map(|met| match met {
        Met::Word(_, m, induction) if written.contains(&m.region) => Some((*m, induction.clone())),
        Met::Word(..) | Met::Test(..) => None,
    });
    let is_kept = |m: &Mem| fw.kept.contains_key(m) || kept.iter().any(|k| k.mem == *m);
    Some(words.filter(|(m, _)| !is_kept(m)).collect())
}

/// Whether no turn reads or writes a memory word that another one writes: then several may be made at once.
pub(super) fn independent(words: &[(Mem, Option<Induction>)]) -> bool {
    words.iter().all(|(m, induction)| {
        let goes = induction.as_ref().is_some_and(|c| c.step.as_constant().is_some_and(|k| k != 0));
        goes && words.iter().all(|(other, then)| induction == then || m.region != other.region)
    })
}

/// How words go on, if each goes on by one word from turn to turn, and those of a region are as far apart in each turn.
pub(super) fn courses(words: &[(Mem, Option<Induction>)]) -> Option<Vec<(Mem, Induction)>> {
    let mut out: Vec<(Mem, Induction)> = Vec::new();
    for (mem, at) in words {
        let at = at.as_ref().filter(|at| matches!(at.step.as_constant(), Some(1 | -1)))?;
        if let Some((_, other)) = out.iter().find(|(other, _)| other.region == mem.region)
            && (other.step != at.step || at.first.plus(&other.first, -1).and_then(|d| d.as_constant()).is_none())
        {
            return None;
        }
        out.push((*mem, at.clone()));
    }
    Some(out)
}
