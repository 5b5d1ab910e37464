//! Which turns of a loop can be made at once, with those of the loop within side by side: no word may be one that another turn of both loops
//! comes to, unless the loops within come to it in the same turn, or nothing changes it.

use std::collections::HashSet;

use pendula_codegen::loops::{Apart, Aside, Induction, Place as Word, Sum, Turns, Value};

use super::courses::written;
use super::function::{FunctionBuilder, local};
use super::loops::{Met, Survey, writes};
use crate::ir::effects::walk;
use crate::ir::{LocatedStmt, Mem, Operand, Region, Step, Stmt, Var};

/// A loop within another.
#[derive(Debug, Default)]
pub(super) struct Within {
    /// Where its words are, from turn to turn of the outer loop, and by how much they go on from turn to turn of this one; `None` if
    /// that is not known of all.
    words: Option<Vec<(Mem, Induction, Sum)>>,
    /// What it begins and ends with.
    ends: Option<[Value; 2]>,
    /// If there is no loop in it: where its words are in the first turn, and by how much they go on, from turn to turn of the outer loop.
    courses: Option<Vec<(Mem, [Induction; 2])>>,
    /// How words go through memory if the only loop within it, and the only one in that, are looked at, too.
    pub(super) nest: Option<Nest>,
    /// What it goes through if the only loop within it is looked at, too.
    deeper: Option<Deeper>,
}

/// A loop with one other in it, within a third.
#[derive(Debug)]
struct Deeper {
    words: Vec<(Mem, Steps)>,
    /// What the innermost loop begins and ends with.
    ends: [Value; 2],
}

/// How a word goes through memory.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Steps {
    /// From turn to turn of the outermost loop.
    outer: Induction,
    /// By how much it goes on from turn to turn of the loop in it.
    within: Sum,
    /// The same of the innermost loop.
    innermost: Sum,
}

impl<'s> Survey<'s, '_> {
    /// A loop within the one that is surveyed.
    pub(super) fn within_loop(
        &self,
        var: Var,
        ends: [Operand; 2],
        step: Step,
        body: &'s [LocatedStmt],
        back: bool,
    ) -> Within {
        let Step::Const(by) = step else { return Within::default() };
        let end = |operand: Operand| match operand {
            Operand::Const(k) => Some(Value::Const(k)),
            Operand::Var(v) if self.is_same_in_each_turn(v) => Some(Value::Place(Word::Local(local(v)))),
            Operand::Var(_) | Operand::Mem(_) => None,
        };
        let ends = ends.map(end);
        let ends = ends[0].zip(ends[1]).map(|(first, last)| [first, last]);
        let mut loops = 0;
        walk(body, &mut |s| loops += usize::from(matches!(s.stmt, Stmt::For { .. } | Stmt::While { .. })));
        let inner =
            ends.filter(|_| loops <= 1).map(|[first, _]| Survey::of(self.program, (var, first, by), body, back));
        let courses = inner.as_ref().filter(|_| loops == 0).and_then(|inner| self.courses(inner));
        let nest = inner.as_ref().zip(ends).and_then(|(inner, ends)| self.nest(inner, ends));
        let deeper = inner.as_ref().and_then(|inner| self.deeper(inner));
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
                (Some((m, sum, goes)), Some(words)) => words.push((m, sum, Sum::constant(goes))),
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
        // Where addresses are made in its turns, from what their variables are in the first of them.
        let same_step = |(mem, [at, step]): &(Mem, [Induction; 2])| {
            step.step.is_zero().then(|| (*mem, at.clone(), step.first.clone()))
        };
        let words = words.or_else(|| courses.as_ref()?.iter().map(same_step).collect());
        Within { words, ends, courses, nest, deeper }
    }

    /// Where the words of a loop within are in its first turn, and by how much they go on, from turn to turn of the loop that is surveyed.
    fn courses(&self, inner: &Survey<'_, '_>) -> Option<Vec<(Mem, [Induction; 2])>> {
        let words = inner.met.iter().filter_map(|met| match met {
            Met::Word(_, mem, at) => Some((*mem, at.as_ref())),
            Met::Test(..) => None,
        });
        words.map(|(mem, at)| Some((mem, [self.course(&at?.first)?, self.course(&at?.step)?]))).collect()
    }

    /// How words go through memory in a loop within, and in the only one in it.
    fn nest(&self, inner: &Survey<'_, '_>, ends: [Value; 2]) -> Option<Nest> {
        let [innermost] = inner.within.as_slice() else { return None };
        let last = innermost.ends.filter(|ends| ends.iter().all(|end| self.is_same(*end)))?;
        let same = |sum: &Sum| self.course(sum).filter(|course| course.step.is_zero()).map(|course| course.first);
        let word = |(mem, [at, step]): &(Mem, [Induction; 2])| {
            let outer = self.course(&at.first)?;
            let steps = [outer.step, same(&at.step)?, same(&step.first).filter(|_| step.step.is_zero())?];
            Some((*mem, outer.first, steps))
        };
        let words = innermost.courses.as_ref()?.iter().map(word).collect::<Option<_>>()?;
        Some(Nest { ends: [ends, last], words })
    }

    /// A loop within the one that is surveyed, and the only one in it.
    fn deeper(&self, survey: &Survey<'_, '_>) -> Option<Deeper> {
        let [innermost] = survey.within.as_slice() else { return None };
        let ends = innermost.ends.filter(|ends| ends.iter().all(|end| self.is_same(*end)))?;
        let mut words = Vec::new();
        let mut add = |mem: Mem, within: &Induction, innermost: Sum| {
            let step = self.course(&within.step).filter(|step| step.step.is_zero())?.first;
            words.push((mem, Steps { outer: self.course(&within.first)?, within: step, innermost }));
            Some(())
        };
        for (mem, within, goes) in innermost.words.as_ref()? {
            add(*mem, within, self.course(goes).filter(|goes| goes.step.is_zero())?.first)?;
        }
        for met in &survey.met {
            if let Met::Word(_, mem, within) = met {
                add(*mem, within.as_ref()?, Sum::default())?;
            }
        }
        for (mem, within) in &survey.within_guards {
            add(*mem, within.as_ref()?, Sum::default())?;
        }
        Some(Deeper { words, ends })
    }

    /// How a sum of values goes from turn to turn.
    fn course(&self, sum: &Sum) -> Option<Induction> {
        let mut out = Induction::default();
        for (factors, n) in sum.products() {
            let product = factors.iter().try_fold(Induction::invariant(Sum::constant(n)), |product, factor| {
                product.times(&match *factor {
                    Value::Place(Word::Local(local)) => self.induction_of(Var(local.0))?,
                    Value::Const(_) => Induction::invariant(Sum::value(*factor)),
                    Value::Place(Word::Memory(_) | Word::Log(_)) => return None,
                })
            })?;
            out = out.plus(&product, 1)?;
        }
        Some(out)
    }

    /// Whether a value of variables is the same in each turn.
    fn is_same(&self, value: Value) -> bool {
        match value {
            Value::Const(_) => true,
            Value::Place(Word::Local(local)) => self.is_same_in_each_turn(Var(local.0)),
            Value::Place(Word::Memory(_) | Word::Log(_)) => false,
        }
    }
}

/// How words go through memory in three loops, one in the other.
#[derive(Clone, Debug)]
pub(super) struct Nest {
    /// What the two loops within begin and end with, the innermost last.
    pub(super) ends: [[Value; 2]; 2],
    /// The words: where they are in the first turn of all, and by how much they go on in each loop.
    pub(super) words: Vec<(Mem, Sum, [Sum; 3])>,
}

/// What must hold for turns of a loop to be made at once, with the turns of the loops within side by side; `None` if they must not be. There is one
/// loop within, and at most one in that.
pub(super) fn aside(fw: &FunctionBuilder<'_, '_>, survey: &Survey<'_, '_>, body: &[LocatedStmt]) -> Option<Aside> {
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
    if !simple {
        return None;
    }
    let ends = within.ends?;
    let mut words: Vec<(Mem, Steps)> = Vec::new();
    let mut add = |mem: Mem, outer: &Induction, innermost: Sum| {
        words.push((mem, Steps { outer: outer.clone(), within: Sum::default(), innermost }));
    };
    for met in &survey.met {
        if let Met::Word(_, mem, induction) = met {
            add(*mem, induction.as_ref()?, Sum::default());
        }
    }
    for (mem, induction) in &survey.within_guards {
        add(*mem, induction.as_ref()?, Sum::default());
    }
    let loops = match fors {
        1 => {
            within.words.as_ref()?.iter().for_each(|(mem, outer, goes)| add(*mem, outer, goes.clone()));
            Loops { within: None, innermost: ends }
        }
        2 => {
            let deeper = within.deeper.as_ref()?;
            words.extend(deeper.words.iter().cloned());
            Loops { within: Some(ends), innermost: deeper.ends }
        }
        _ => return None,
    };
    // Turns side by side would go through memory with large steps, as many at a time, unless their words are neighbours.
    let is_small = |k: i64| k.unsigned_abs() <= 1;
    let are_neighbours = |steps: &Steps| loops.within.is_none() && steps.outer.step.as_constant().is_some_and(is_small);
    let mut far = words.iter().filter(|(_, steps)| !steps.innermost.as_constant().is_some_and(is_small)).peekable();
    let neighbours = far.peek().is_some();
    if !far.all(|(_, steps)| are_neighbours(steps)) {
        return None;
    }
    let written: HashSet<Region> = written(fw, body).iter().map(|m| m.region).collect();
    // C compilers make better vectors of the turns within, unless these add up, or what words carry goes through memory as well.
    let goes_on = |(mem, steps): &(Mem, Steps)| written.contains(&mem.region) && !steps.innermost.is_zero();
    if neighbours && fw.lanes().is_empty() && words.iter().any(goes_on) {
        return None;
    }
    let mut out: Vec<Apart> = Vec::new();
    for (n, (mem, steps)) in words.iter().enumerate() {
        if !written.contains(&mem.region) || fw.kept.contains_key(mem) {
            continue;
        }
        let mut others = words[..n].iter().filter(|(other, _)| other.region == mem.region);
        if others.any(|(_, other)| other != steps) {
            return None;
        }
        if let Some(apart) = loops.keep_apart(steps)?
            && !out.contains(&apart)
        {
            out.push(apart);
        }
    }
    Some(Aside { apart: out, neighbours })
}

/// What the loops within begin and end with.
struct Loops {
    /// The one that contains the innermost, if there is one between.
    within: Option<[Value; 2]>,
    innermost: [Value; 2],
}

impl Loops {
    /// What must hold for a word to be one that other turns do not come to, or only in the same turns within; `None` if that cannot be told.
    fn keep_apart(&self, steps: &Steps) -> Option<Option<Apart>> {
        let Steps { outer: Induction { step: outer, .. }, within, innermost: goes } = steps;
        let of_innermost = Turns::Within(self.innermost[0], self.innermost[1]);
        let apart = |by: i64, of, step: &Sum| Some(Some(Apart { by: by.checked_abs()?, of, step: step.clone() }));
        let Some(goes) = goes.as_constant() else {
            return match (outer.as_constant()?, self.within, within.as_constant()?) {
                // Another one in each turn within, which turns side by side come to at once.
                (by, None, 0) => apart(by, Turns::AtOnce, goes),
                _ => None,
            };
        };
        match (outer.as_constant(), self.within, within.as_constant(), goes) {
            // Always the same one.
            (Some(0), _, Some(0), 0) => None,
            // The same one in the same turn within.
            (Some(0), None, ..) => Some(None),
            // The same one, in the same turns within unless the loop between comes back to it.
            (Some(0), Some(_), within_by, goes) if goes != 0 && within_by != Some(0) => {
                apart(goes, of_innermost, within)
            }
            (Some(0), Some(_), ..) => None,
            // Another one, whatever the loops within do.
            (Some(_), _, Some(0), 0) => Some(None),
            (None, _, Some(0), 0) => apart(0, Turns::AtOnce, outer),
            (Some(by), _, Some(0), goes) if by.checked_abs()? < goes.checked_abs()? => {
                apart(by, Turns::AtOnce, &Sum::constant(goes))
            }
            (_, _, Some(0), goes) => apart(goes, of_innermost, outer),
            // Another one, unless the loop between comes to it.
            (_, Some([first, last]), Some(by), 0) => apart(by, Turns::Within(first, last), outer),
            (Some(by), Some(_), None, 0) => apart(by, Turns::AtOnce, within),
            _ => None,
        }
    }
}
