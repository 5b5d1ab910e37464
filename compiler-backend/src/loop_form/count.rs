//! Builds loops that count.

use pendula_codegen::loops::{self, Bound, Count, Course, Induction, Local, Nest, NestWord, Stmt as Out, Value};
use pendula_isa::Ty;

use super::function::{FunctionBuilder, local};
use super::{Refused, jam};
use crate::ir::{LocatedStmt, Mem, Operand, Region, Step, Var};

type Done = Result<(), Refused>;

impl FunctionBuilder<'_, '_> {
    /// A `for`; what a turn does is built by `turn`.
    pub(super) fn count(
        &mut self,
        s: &LocatedStmt,
        var: Var,
        (first, last, step): (Operand, Operand, Step),
        body: &[LocatedStmt],
        back: bool,
        turn: impl FnOnce(&mut Self) -> Done,
    ) -> Done {
        let (first, last, step) = if back { (last, first, step.negated()) } else { (first, last, step) };
        self.inside(s, usize::from(back), first);
        self.inside(s, usize::from(!back), last);
        let (from, to) = (self.bound(first, "first"), self.bound(last, "last"));
        let step = match step {
            Step::Const(k) => loops::Step::Const(k),
            Step::Var { var, negated } => {
                loops::Step::Kept { by: self.fresh("step", Ty::Int), of: local(var), negated }
            }
        };
        let known = self.w.drops.words_apart(self.f).loops.get(&std::ptr::from_ref(s)).cloned();
        let plan = super::loops::plan(self, var, [from, to], step, (body, known.as_deref()), back);
        let (outer_proven, outer_kept) = (self.proven.clone(), self.kept.clone());
        let nest = plan.nest.and_then(|nest| self.nest(nest));
        let kept = self.keep(&plan.kept);
        self.proven.extend(plan.proven);
        let (outer_limits, limits) = (self.limits.clone(), self.divide_limits(s));
        // Turns that are left out would leave what they keep.
        let flows_from = if self.keeps_in_turns(s) { Vec::new() } else { self.flows_from(s) };
        let courses = self.courses(&plan.courses);
        let computed = self.computed.clone();
        let body = self.in_loop(|fw| fw.nested(turn))?;
        self.computed = computed;
        (self.proven, self.kept, self.limits) = (outer_proven, outer_kept, outer_limits);
        let count = Count {
            var: local(var),
            first: from,
            last: to,
            step,
            checks: plan.checks,
            kept,
            limits,
            limits_after: Vec::new(),
            independent: plan.independent,
            courses,
            flows_from,
            mark: self.w.mark(s.loc),
            aside: plan.aside,
            jammed: None,
            nest,
            products: None,
            one_by_one: Vec::new(),
            one_turn: false,
            strips: None,
            search: None,
            body,
            blocks: None,
        };
        self.push(Out::Count(Box::new(count)));
        Ok(())
    }

    /// How words of memory go on, with the addresses that turns have.
    fn courses(&self, words: &[(Mem, Induction, u32)]) -> Vec<Course> {
        let mut out: Vec<Course> = Vec::new();
        for (mem, at, part) in words {
            if let loops::Place::Memory(word) = self.memory_place(*mem)
                && !out.iter().any(|course| course.word == word)
            {
                out.push(Course { word, region: *part, at: at.clone() });
            }
        }
        out
    }

    /// How words go through memory in a nest of loops, with the addresses that turns have; `None` if one address is several words of a turn.
    fn nest(&self, nest: jam::Nest) -> Option<Nest> {
        let mut regions: Vec<Region> = Vec::new();
        let mut words: Vec<NestWord> = Vec::new();
        for (mem, first, steps) in nest.words {
            let loops::Place::Memory(word) = self.memory_place(mem) else { continue };
            let word = NestWord { word, region: number(&mut regions, mem.region), first, steps };
            match words.iter().find(|known| known.word == word.word) {
                None => words.push(word),
                Some(known) if *known == word => {}
                Some(_) => return None,
            }
        }
        Some(Nest { ends: nest.ends, words })
    }

    /// Makes the limits of partial sums smaller to which more than one turn of a loop adds.
    pub(super) fn divide_limits(&mut self, s: &LocatedStmt) -> Vec<(Local, Value)> {
        let mut out: Vec<(Local, Value)> = Vec::new();
        for at in self.repeats.get(&std::ptr::from_ref(s)).cloned().unwrap_or_default() {
            let Some(outer) = self.limits.get(&at).copied() else { continue };
            let known = out.iter().find(|(_, limit)| *limit == outer).map(|(local, _)| *local);
            let local = known.unwrap_or_else(|| {
                let local = self.fresh("limit", Ty::Int);
                out.push((local, outer));
                local
            });
            self.limits.insert(at, Value::Place(loops::Place::Local(local)));
        }
        out
    }

    /// A bound of a loop, as it is before it.
    fn bound(&mut self, operand: Operand, name: &str) -> Bound {
        match (operand, self.place(operand)) {
            (Operand::Const(k), _) => Bound::Const(k),
            (_, Some(place)) => Bound::Kept(self.fresh(name, Ty::Int), place),
            (_, None) => Bound::Const(0),
        }
    }
}

/// The number of a region among those that have been met.
fn number(regions: &mut Vec<Region>, region: Region) -> u32 {
    let at = regions.iter().position(|known| *known == region).unwrap_or_else(|| {
        regions.push(region);
        regions.len() - 1
    });
    at as u32
}
