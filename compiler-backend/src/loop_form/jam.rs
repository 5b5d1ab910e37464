//! Which turns of a loop can be made at once, with those of the loop within side by side: no word may be one that another turn of both loops
//! comes to, unless the loops within come to it in the same turn, or nothing changes it.

use pendula_codegen::loops::{Apart, Induction, Place as Word, Sum, Turns, Value};

use super::function::{FunctionBuilder, local};
use super::loops::{Met, Survey, writes};
use crate::ir::effects::{walk, written_operands};
use crate::ir::{LocatedStmt, Mem, Operand, Place, Region, Step, Stmt, Var};

/// A loop within another.
#[derive(Debug, Default)]
pub(super) struct Within {
    /// Where its words are, from turn to turn of the outer loop, and by how much they go on from turn to turn of this one; `None` if
    /// that is not known of all.
    words: Option<Vec<(Mem, Induction, i64)>>,
    /// What it begins and ends with.
    ends: Option<[Value; 2]>,
}

impl Survey<'_, '_> {
    /// A loop within the one that is surveyed.
    pub(super) fn within_loop(&self, var: Var, ends: [Operand; 2], step: Step, body: &[LocatedStmt]) -> Within {
        let Step::Const(by) = step else { return Within::default() };
        let end = |operand: Operand| match operand {
            Operand::Const(k) => Some(Value::Const(k)),
            Operand::Var(v) if self.is_same_in_each_turn(v) => Some(Value::Place(Word::Local(local(v)))),
            Operand::Var(_) | Operand::Mem(_) => None,
        };
        let ends = ends.map(end);
        let ends = ends[0].zip(ends[1]).map(|(first, last)| [first, last]);
        let changed = writes(self.program, body);
        let mut words = Some(Vec::new());
        let mut add = |operand: Operand| {
            let Operand::Mem(m) = operand else { return };
            let form = || {
                let mut sum = Induction::invariant(Sum::constant(m.offset));
                let mut goes: i64 = 0;
                for v in m.vars() {
                    if v == var {
                        goes = goes.checked_add(by)?;
                    } else if changed.contains_key(&v) {
                        return None;
                    } else {
                        sum = sum.plus(&self.induction_of(v)?, 1)?;
                    }
                }
                Some((m, sum, goes))
            };
            match (form(), &mut words) {
                (Some(word), Some(words)) => words.push(word),
                (None, words) => *words = None,
                (Some(_), None) => {}
            }
        };
        walk(body, &mut |s| match &s.stmt {
            Stmt::Update { dst, args, .. } => {
                add((*dst).into());
                args.iter().for_each(|a| add(*a));
            }
            Stmt::Permute { args, .. } => args.iter().for_each(|a| add(*a)),
            Stmt::Assert { test, .. } => [test.a, test.b].into_iter().for_each(&mut add),
            _ => {}
        });
        Within { words, ends }
    }
}

/// The regions that a body writes, or of which words carry something that it writes.
fn written(fw: &FunctionBuilder<'_, '_>, body: &[LocatedStmt]) -> Vec<Region> {
    let carried = !fw.lanes().is_empty();
    let mut out = Vec::new();
    let mut add = |operand: Operand| {
        if let Operand::Mem(m) = operand
            && !out.contains(&m.region)
        {
            out.push(m.region);
        }
    };
    walk(body, &mut |s| match &s.stmt {
        Stmt::Update { dst, args, .. } => {
            if let Place::Mem(m) = dst {
                add(Operand::Mem(*m));
            }
            args.iter().filter(|_| carried).for_each(|a| add(*a));
        }
        Stmt::Permute { row, args, .. } => {
            let count = if carried { args.len() } else { written_operands(*row) };
            args.iter().take(count).for_each(|a| add(*a));
        }
        _ => {}
    });
    out
}

/// What must hold for turns of a loop to be made at once, with the turns of the only loop within side by side; `None` if they must not be.
pub(super) fn aside(fw: &FunctionBuilder<'_, '_>, survey: &Survey<'_, '_>, body: &[LocatedStmt]) -> Option<Vec<Apart>> {
    let [within] = survey.within.as_slice() else { return None };
    let mut fors = 0;
    let mut simple = true;
    walk(body, &mut |s| match &s.stmt {
        Stmt::For { .. } => fors += 1,
        Stmt::Update { .. }
        | Stmt::Permute { .. }
        | Stmt::Ancilla { .. }
        | Stmt::With { .. }
        | Stmt::Span { .. }
        | Stmt::Assert { .. } => {}
        stmt => simple &= survey.is_guard(stmt),
    });
    if fors != 1 || !simple {
        return None;
    }
    let mut words: Vec<(Mem, Induction, i64)> = within.words.clone()?;
    let ends = within.ends?;
    for met in &survey.met {
        if let Met::Word(_, mem, induction) = met {
            words.push((*mem, induction.clone()?, 0));
        }
    }
    // Turns side by side would go through memory with large steps, as many at a time.
    if words.iter().any(|(_, _, goes)| goes.checked_abs().is_none_or(|goes| goes > 1)) {
        return None;
    }
    for (mem, induction) in &survey.within_guards {
        words.push((*mem, induction.clone()?, 0));
    }
    let written = written(fw, body);
    let mut out: Vec<Apart> = Vec::new();
    for (n, (mem, word, goes)) in words.iter().enumerate() {
        if !written.contains(&mem.region) || fw.kept.contains_key(mem) {
            continue;
        }
        let mut others = words[..n].iter().filter(|(other, ..)| other.region == mem.region);
        if others.any(|(_, other, then)| (other, then) != (word, goes)) {
            return None;
        }
        let apart = match (word.step.as_constant(), *goes) {
            // Always the same one.
            (Some(0), 0) => return None,
            // The same one in the same turn within, or another one.
            (Some(0), _) | (Some(_), 0) => continue,
            (None, 0) => Apart { by: 0, of: Turns::AtOnce, step: word.step.clone() },
            (Some(by), goes) if by.checked_abs()? < goes.checked_abs()? => {
                Apart { by: by.abs(), of: Turns::AtOnce, step: Sum::constant(goes) }
            }
            (_, goes) => {
                Apart { by: goes.checked_abs()?, of: Turns::Within(ends[0], ends[1]), step: word.step.clone() }
            }
        };
        if !out.contains(&apart) {
            out.push(apart);
        }
    }
    Some(out)
}
