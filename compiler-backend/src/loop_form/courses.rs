//! How the words of memory go on that turns of a loop write, and whether turns depend on each other by them.

use std::collections::{BTreeSet, HashSet};

use pendula_codegen::loops::{Induction, Local, Place as Word, Sum, Value};

use super::certify::AtLoop;
use super::function::FunctionBuilder;
use super::loops::{Met, Survey};
use super::promote::Promoted;
use super::windows::{are_apart, in_terms_of};
use crate::ir::effects::{walk, written_operands};
use crate::ir::{LocatedStmt, Mem, Operand, Region, Stmt, Var};

/// A word of memory that turns of a loop read or write.
#[derive(Clone, Debug)]
pub(super) struct Going {
    pub(super) mem: Mem,
    /// How its address goes on, if that is known.
    pub(super) at: Option<Induction>,
    /// The part of memory that it lies in, in all turns; no words of other parts do. Parts have numbers.
    pub(super) part: u32,
    /// Whether turns write it.
    pub(super) written: bool,
}

/// The words of all regions of which a turn writes words, and how they go on, if that is known; `None` if a turn does something else than
/// operations.
pub(super) fn written_words(
    fw: &FunctionBuilder<'_, '_>,
    survey: &Survey<'_, '_>,
    body: &[LocatedStmt],
    kept: &[Promoted],
) -> Option<Vec<Going>> {
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
    let written = written(fw, body);
    let regions: HashSet<Region> = written.iter().map(|m| m.region).collect();
    let words = survey.met.iter().filter_map(|met| match met {
        Met::Word(_, m, induction) if regions.contains(&m.region) => {
            Some(Going { mem: *m, at: induction.clone(), part: m.region.0, written: written.contains(m) })
        }
        Met::Word(..) | Met::Test(..) => None,
    });
    let is_kept = |m: &Mem| fw.kept.contains_key(m) || kept.iter().any(|k| k.mem == *m);
    Some(words.filter(|word| !is_kept(&word.mem)).collect())
}

/// The words of memory that a body writes, or that carry something that it writes.
pub(super) fn written(fw: &FunctionBuilder<'_, '_>, body: &[LocatedStmt]) -> HashSet<Mem> {
    let carried = !fw.lanes().is_empty();
    let mut out = HashSet::new();
    let mut add = |operands: &[Operand]| {
        out.extend(operands.iter().filter_map(|o| if let Operand::Mem(m) = o { Some(*m) } else { None }));
    };
    walk(body, &mut |s| match &s.stmt {
        Stmt::Update { dst, args, .. } => {
            add(&[(*dst).into()]);
            if carried {
                add(args);
            }
        }
        Stmt::Permute { row, args, .. } => {
            let count = if carried { args.len() } else { written_operands(*row) };
            add(&args[..count.min(args.len())]);
        }
        _ => {}
    });
    out
}

/// A loop that goes on by one.
pub(super) struct Loop<'k> {
    /// What it begins and ends with.
    pub(super) ends: [Value; 2],
    pub(super) by: i64,
    /// Whether it runs back.
    pub(super) back: bool,
    pub(super) known: &'k AtLoop,
}

impl Loop<'_> {
    /// A value in terms of what is known at the loop.
    fn value(&self, value: Value) -> Option<Sum> {
        match value {
            _ if value == self.ends[0] => self.known.ends[usize::from(self.back)].clone(),
            _ if value == self.ends[1] => self.known.ends[usize::from(!self.back)].clone(),
            // What is not known does not change in the loop.
            Value::Place(Word::Local(Local(n))) => {
                Some(self.known.values.get(&Var(n)).cloned().unwrap_or_else(|| Sum::value(value)))
            }
            value => Some(Sum::value(value)),
        }
    }
}

/// Words of a region that are as far apart in each turn.
struct Group {
    /// Which words, with their distances from the first.
    words: Vec<(usize, i64)>,
    /// How the first goes on, in terms of what is known at the loop.
    at: Induction,
    /// From where to where they go.
    window: (Sum, Sum),
}

/// Finds out which words of a region lie in parts of it that have nothing in common in any turns of a loop, as columns of a matrix have not, and which are as
/// far apart in each turn.
pub(super) fn divide(words: &mut [Going], of: &Loop<'_>) {
    let regions: BTreeSet<u32> = words.iter().map(|word| word.mem.region.0).collect();
    let mut parts = words.iter().map(|word| word.part + 1).max().unwrap_or(0);
    for region in regions {
        let Some(groups) = groups(words, region, of) else { continue };
        let all_apart = (1..groups.len())
            .all(|n| groups[..n].iter().all(|other| are_apart(&other.window, &groups[n].window, &of.known.facts)));
        for group in groups {
            let Some(at) = group.words.first().and_then(|(first, _)| words[*first].at.clone()) else { continue };
            for (n, further) in group.words {
                words[n].at = Some(Induction { first: at.first.offset(further), step: at.step.clone() });
                if all_apart {
                    words[n].part = parts;
                }
            }
            parts += 1;
        }
    }
}

/// The words of a region in groups; `None` if it is not known how one of them goes on.
fn groups(words: &[Going], region: u32, of: &Loop<'_>) -> Option<Vec<Group>> {
    let [first, last] = of.ends.map(|end| of.value(end));
    let way = last?.plus(&first?, -1)?;
    let mut out: Vec<Group> = Vec::new();
    for (n, word) in words.iter().enumerate().filter(|(_, word)| word.mem.region.0 == region) {
        let Induction { first, step } = word.at.as_ref()?;
        let at = Induction { first: in_terms_of(first, &|value| of.value(value))?, step: step.clone() };
        let by = step.as_constant()?;
        let end = at.first.plus(&way, by.checked_mul(of.by)?)?;
        let (low, high) = if by < 0 { (end, at.first.clone()) } else { (at.first.clone(), end) };
        let further = |group: &Group| {
            let same = group.at.step == at.step;
            same.then(|| at.first.plus(&group.at.first, -1)?.as_constant())?
        };
        match out.iter_mut().find_map(|group| Some((further(group)?, group))) {
            Some((further, group)) => {
                group.words.push((n, further));
                let window = &mut group.window;
                if low.plus(&window.0, -1)?.as_constant()? < 0 {
                    window.0 = low;
                }
                if high.plus(&window.1, -1)?.as_constant()? > 0 {
                    window.1 = high;
                }
            }
            None => out.push(Group { words: vec![(n, 0)], at, window: (low, high) }),
        }
    }
    Some(out)
}

/// Whether no turn reads or writes a memory word that another one writes: then several may be made at once.
pub(super) fn independent(words: &[Going]) -> bool {
    words.iter().filter(|word| word.written).all(|word| {
        let goes = word.at.as_ref().is_some_and(|c| c.step.as_constant().is_some_and(|k| k != 0));
        goes && words.iter().all(|other| other.at == word.at || other.part != word.part)
    })
}

/// How words go on, if each goes on by one word from turn to turn, and those of a part of memory are as far apart in each turn.
pub(super) fn courses(words: &[Going]) -> Option<Vec<(Mem, Induction, u32)>> {
    let mut out: Vec<(Mem, Induction, u32)> = Vec::new();
    for Going { mem, at, part, .. } in words {
        let at = at.as_ref().filter(|at| matches!(at.step.as_constant(), Some(1 | -1)))?;
        if let Some((_, other, _)) = out.iter().find(|(_, _, other)| other == part)
            && (other.step != at.step || at.first.plus(&other.first, -1).and_then(|d| d.as_constant()).is_none())
        {
            return None;
        }
        out.push((*mem, at.clone(), *part));
    }
    Some(out)
}
