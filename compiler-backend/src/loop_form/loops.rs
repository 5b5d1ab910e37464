//! What of a `for` can be looked at before it: addresses and indices that go from
//! turn to turn by the same step lie in their bounds throughout if they do in the
//! first turn and in the last.

use std::collections::{HashMap, HashSet};

use pendula_codegen::loops::{Aside, Bound, Check, Induction, Place as Word, Step, Sum, Value};
use pendula_isa::table::{Row, TableFn, int_fn};
use pendula_isa::{Acc, Cond, Ty};

use super::certify::AtLoop;
use super::courses::{Loop, courses, divide, independent, written_words};
use super::function::{FunctionBuilder, Site, local};
use super::jam;
use super::promote::Promoted;
use crate::ir::effects::{changed_vars, walk};
use crate::ir::{LocatedStmt, Mem, Operand, Place, Program, Stmt, Test, Var};
use crate::passes::Pass;

/// The number of a comparison, which comes after those of operands; then those of its sides.
pub(super) const TEST: usize = 1 << 20;

/// What is done about a loop.
#[derive(Default)]
pub(super) struct Plan {
    /// Conditions on which the loop is not run.
    pub(super) checks: Vec<Check>,
    /// What need not be looked at in the loop.
    pub(super) proven: Vec<Site>,
    /// Words that stay where they are, and can be kept in variables.
    pub(super) kept: Vec<Promoted>,
    /// Whether no turn uses what another writes, but for sums.
    pub(super) independent: bool,
    /// Where turns are not independent: how the words of memory go on that turns write, if each goes on by one word, as do those of its part of memory, which has a number.
    pub(super) courses: Vec<(Mem, Induction, u32)>,
    /// What must hold for turns of the only loop within to go on side by side, if they may.
    pub(super) aside: Option<Aside>,
    /// How words go through memory, if this is the outermost of three loops, one in the other.
    pub(super) nest: Option<jam::Nest>,
}

/// A memory word, with the course of its address if that is known, or a comparison that every turn comes to, with those of its sides.
pub(super) enum Met<'s> {
    Word(Site, Mem, Option<Induction>),
    Test(Site, &'s Test, [Option<Induction>; 2]),
}

pub(super) struct Survey<'s, 'w> {
    pub(super) program: &'w Program,
    pub(super) var: Var,
    /// How the loop counts.
    count: Induction,
    /// Variables that the body changes.
    written: HashSet<Var>,
    /// Those that each turn changes by the same number, and that number.
    steps: HashMap<Var, i64>,
    /// By how much they have been changed in this turn.
    now: HashMap<Var, i64>,
    /// What is known of variables whose lives have begun in this turn.
    fresh: HashMap<Var, Induction>,
    pub(super) met: Vec<Met<'s>>,
    /// Words in a conditional that decides the same way in each turn: each turn comes to them, or none does.
    pub(super) within_guards: Vec<(Mem, Option<Induction>)>,
    /// Such words, while the survey is in such a conditional.
    guarded: Option<Vec<(Mem, Option<Induction>)>>,
    /// What loops within go through.
    pub(super) within: Vec<jam::Within>,
}

/// The variables that a block changes, however deep within, and how often.
pub(super) fn writes(program: &Program, block: &[LocatedStmt]) -> HashMap<Var, u32> {
    let mut out: HashMap<Var, u32> = HashMap::new();
    let mut add = |v: Var| *out.entry(v).or_default() += 1;
    walk(block, &mut |s| changed_vars(program, &s.stmt, &mut add));
    out
}

/// By how much a statement changes an integer variable, if that is known.
fn stepped(s: &Stmt, back: bool) -> Option<(Var, i64)> {
    match s {
        Stmt::Update { acc: Acc::Add, inverse, func: TableFn::Int(int_fn::Name::Id), dst: Place::Var(v), args } => {
            let &[Operand::Const(k)] = args.as_slice() else { return None };
            let k = k.cast_signed();
            Some((*v, if *inverse != back { k.checked_neg()? } else { k }))
        }
        Stmt::Permute { row: Row::Inc, inverse, ty: Ty::Int, args } => {
            let &[Operand::Var(v)] = args.as_slice() else { return None };
            Some((v, if *inverse != back { -1 } else { 1 }))
        }
        _ => None,
    }
}

/// Steps and offsets that are small enough never to wrap, as long as turns are fewer than memory words.
const SMALL: i64 = 1 << 20;

impl<'s, 'w> Survey<'s, 'w> {
    /// A survey of a loop that begins with a value and goes on by a constant.
    pub(super) fn of(
        program: &'w Program,
        (var, first, by): (Var, Value, i64),
        body: &'s [LocatedStmt],
        back: bool,
    ) -> Self {
        let all = writes(program, body);
        let mut found = HashMap::new();
        steps(body, back, &all, &mut found);
        let mut survey = Survey {
            program,
            var,
            count: Induction { first: Sum::value(first), step: Sum::constant(by) },
            written: all.keys().copied().collect(),
            steps: found,
            now: HashMap::new(),
            fresh: HashMap::new(),
            met: Vec::new(),
            within_guards: Vec::new(),
            guarded: None,
            within: Vec::new(),
        };
        survey.block(body, back);
        survey
    }

    fn operand(&mut self, s: &LocatedStmt, n: usize, operand: Operand) {
        if let Operand::Mem(m) = operand {
            let induction = self.address(m);
            match &mut self.guarded {
                Some(words) => words.push((m, induction)),
                None => self.met.push(Met::Word((std::ptr::from_ref(s), n), m, induction)),
            }
        }
    }

    fn test(&mut self, s: &LocatedStmt, n: usize, test: &Test) {
        self.operand(s, TEST + 1 + 2 * n, test.a);
        self.operand(s, TEST + 2 + 2 * n, test.b);
    }

    /// What every turn comes to, in the order of the run.
    fn block(&mut self, block: &'s [LocatedStmt], back: bool) {
        for n in 0..block.len() {
            let s = &block[if back { block.len() - 1 - n } else { n }];
            match &s.stmt {
                Stmt::Update { dst, args, .. } => {
                    self.operand(s, 0, (*dst).into());
                    args.iter().enumerate().for_each(|(n, a)| self.operand(s, n + 1, *a));
                }
                Stmt::Permute { args, .. } | Stmt::Call { args, .. } => {
                    args.iter().enumerate().for_each(|(n, a)| self.operand(s, n, *a));
                }
                Stmt::With { compute, body, .. } => {
                    self.block(compute, false);
                    self.block(body, back);
                    self.block(compute, true);
                    continue;
                }
                Stmt::Span { body, .. } => {
                    self.block(body, back);
                    continue;
                }
                Stmt::If { pre, post, then, otherwise } => {
                    let conditions = if back { [post, pre] } else { [pre, post] };
                    for (n, c) in conditions.into_iter().enumerate() {
                        self.block(&c.compute, false);
                        self.test(s, n, &c.test);
                        self.block(&c.compute, true);
                        if n == 0 {
                            if self.is_guard(&s.stmt) && self.guarded.is_none() {
                                self.guarded = Some(Vec::new());
                                self.block(then, back);
                                self.within_guards.extend(self.guarded.take().unwrap_or_default());
                            }
                            [then, otherwise].into_iter().for_each(|b| self.forget(b));
                        }
                    }
                    continue;
                }
                Stmt::Assert { test, .. } => {
                    self.test(s, 0, test);
                    if self.guarded.is_none() {
                        let sides = [test.a, test.b].map(|side| self.side(side));
                        self.met.push(Met::Test((std::ptr::from_ref(s), TEST), test, sides));
                    }
                }
                Stmt::For { var, first, last, step, body, blocks } => {
                    let (ends, step) = if back { ([*last, *first], step.negated()) } else { ([*first, *last], *step) };
                    let within = match blocks {
                        None => self.within_loop(*var, ends, step, body, back),
                        Some(_) => jam::Within::default(),
                    };
                    self.within.push(within);
                }
                Stmt::While { .. } | Stmt::Ancilla { .. } | Stmt::Array { .. } | Stmt::Show { .. } | Stmt::Print(_) => {
                }
            }
            self.follow(s, back);
        }
    }

    /// Forgets what a block changes.
    fn forget(&mut self, block: &[LocatedStmt]) {
        let changed = writes(self.program, block);
        self.fresh.retain(|v, _| !changed.contains_key(v));
    }

    /// What a statement makes of variables.
    fn follow(&mut self, s: &'s LocatedStmt, back: bool) {
        if let Some((v, k)) = stepped(&s.stmt, back)
            && self.steps.contains_key(&v)
        {
            *self.now.entry(v).or_default() += k;
            return;
        }
        match &s.stmt {
            Stmt::Ancilla { var, free, .. } => {
                if *free == back {
                    self.fresh.insert(*var, Induction::default());
                } else {
                    self.fresh.remove(var);
                }
            }
            Stmt::Update { acc: Acc::Add, inverse, func: TableFn::Int(func), dst: Place::Var(v), args } => {
                let value = self.value(*func, args);
                let times = if *inverse != back { -1 } else { 1 };
                let new = self.fresh.get(v).zip(value).and_then(|(old, value)| old.plus(&value, times));
                match new {
                    Some(new) => self.fresh.insert(*v, new),
                    None => self.fresh.remove(v),
                };
            }
            _ => self.forget(std::slice::from_ref(s)),
        }
    }

    /// What an integer function gives, if that is known.
    fn value(&self, func: int_fn::Name, args: &[Operand]) -> Option<Induction> {
        integer_result(func, args, |o| self.side(*o))
    }

    /// How an integer goes from turn to turn.
    fn side(&self, operand: Operand) -> Option<Induction> {
        match operand {
            Operand::Const(k) => Some(Induction::invariant(Sum::constant(k.cast_signed()))),
            Operand::Var(v) => self.induction_of(v),
            Operand::Mem(_) => None,
        }
    }

    /// How a variable goes from turn to turn, where the turn stands; `None` if that is not known.
    pub(super) fn induction_of(&self, var: Var) -> Option<Induction> {
        if var == self.var {
            return Some(self.count.clone());
        }
        let name = Sum::value(Value::Place(Word::Local(local(var))));
        if let Some(step) = self.steps.get(&var) {
            let now = Sum::constant(self.now.get(&var).copied().unwrap_or(0));
            return Some(Induction { first: name.plus(&now, 1)?, step: Sum::constant(*step) });
        }
        match self.fresh.get(&var) {
            Some(induction) => Some(induction.clone()),
            None => (!self.written.contains(&var)).then(|| Induction::invariant(name)),
        }
    }

    /// Whether a statement is a conditional without another side that decides the same way in each turn.
    pub(super) fn is_guard(&self, s: &Stmt) -> bool {
        let Stmt::If { pre, post, otherwise, .. } = s else { return false };
        let same = |operand: Operand| match operand {
            Operand::Const(_) => true,
            Operand::Var(v) => self.is_same_in_each_turn(v),
            Operand::Mem(_) => false,
        };
        let plain = pre.compute.is_empty() && post.compute.is_empty() && pre.test == post.test && otherwise.is_empty();
        plain && pre.test.ty == Ty::Int && same(pre.test.a) && same(pre.test.b)
    }

    /// Whether a variable has the same value throughout.
    pub(super) fn is_same_in_each_turn(&self, var: Var) -> bool {
        var != self.var && !self.written.contains(&var)
    }

    fn address(&self, mem: Mem) -> Option<Induction> {
        let offset = Induction::invariant(Sum::constant(mem.offset));
        mem.vars().try_fold(offset, |sum, v| sum.plus(&self.induction_of(v)?, 1))
    }
}

/// What an integer function gives, if that is a sum of products.
pub(super) fn integer_result(
    func: int_fn::Name,
    args: &[Operand],
    of: impl Fn(&Operand) -> Option<Induction>,
) -> Option<Induction> {
    match (func, args) {
        (int_fn::Name::Id, [a]) => of(a),
        (int_fn::Name::Plus, [a, b]) => of(a)?.plus(&of(b)?, 1),
        (int_fn::Name::Minus, [a, b]) => of(a)?.plus(&of(b)?, -1),
        (int_fn::Name::Mul, [a, b]) => of(a)?.times(&of(b)?),
        _ => None,
    }
}

/// The variables that the straight part of a body changes by constants, and nothing else does.
fn steps(block: &[LocatedStmt], back: bool, all: &HashMap<Var, u32>, out: &mut HashMap<Var, i64>) {
    for s in block {
        match &s.stmt {
            Stmt::With { body, .. } | Stmt::Span { body, .. } => steps(body, back, all, out),
            stmt => {
                if let Some((v, k)) = stepped(stmt, back)
                    && all.get(&v) == Some(&1)
                    && k.abs() < SMALL
                {
                    out.insert(v, k);
                }
            }
        }
    }
}

/// What can be done about a loop over `var` between these bounds, and what is known there, if it has no loops in it.
pub(super) fn plan(
    fw: &FunctionBuilder<'_, '_>,
    var: Var,
    bounds: [Bound; 2],
    step: Step,
    (body, known): (&[LocatedStmt], Option<&AtLoop>),
    back: bool,
) -> Plan {
    let mut plan = Plan::default();
    let Step::Const(by) = step else { return plan };
    if by.abs() >= SMALL || !fw.w.switches.has(Pass::Bounds) {
        return plan;
    }
    let ends = bounds.map(Bound::value);
    let survey = Survey::of(fw.w.program, (var, ends[0], by), body, back);
    // Words whose addresses differ by constants are looked at together: the least, and how far it is to the greatest.
    let mut spans: Vec<(Induction, [i64; 2])> = Vec::new();
    let mut spoilt: HashSet<Site> = HashSet::new();
    for met in &survey.met {
        match met {
            // A loop around this one keeps it.
            Met::Word(_, mem, _) if fw.kept.contains_key(mem) => {}
            Met::Word(site, _, induction) => {
                if induction.as_ref().and_then(in_bounds).is_none() {
                    spoilt.insert(*site);
                }
            }
            Met::Test(site, test, sides) => {
                if test_checks(fw, &survey, (test, sides), ends).is_none() {
                    spoilt.insert(*site);
                }
            }
        }
    }
    for met in &survey.met {
        let (Met::Word(site, ..) | Met::Test(site, ..)) = met;
        if spoilt.contains(site) {
            continue;
        }
        plan.proven.push(*site);
        match met {
            Met::Word(_, mem, Some(induction)) if !fw.kept.contains_key(mem) => {
                let Some((at, rest)) = in_bounds(induction) else { continue };
                match spans.iter_mut().find(|(c, _)| *c == rest) {
                    Some((_, [least, greatest])) => (*least, *greatest) = (at.min(*least), at.max(*greatest)),
                    None => spans.push((rest, [at, at])),
                }
            }
            Met::Word(..) => {}
            Met::Test(_, test, sides) => {
                for check in test_checks(fw, &survey, (test, sides), ends).unwrap_or_default() {
                    if !plan.checks.contains(&check) {
                        plan.checks.push(check);
                    }
                }
            }
        }
    }
    for (Induction { first, step }, [least, greatest]) in spans {
        let check = |k: i64| match step.as_constant() {
            Some(0) => Check::Outside(first.offset(k)),
            Some(step) => Check::Leaves(first.offset(k), step),
            None => Check::LeavesBy(first.offset(least), greatest - least, step.clone()),
        };
        plan.checks.push(check(least));
        if least != greatest && step.as_constant().is_some() {
            plan.checks.push(check(greatest));
        }
    }
    let met = survey.met.iter().filter_map(|met| match met {
        Met::Word(site, mem, _) if !spoilt.contains(site) => Some(*mem),
        Met::Word(..) | Met::Test(..) => None,
    });
    let met: Vec<Mem> = met.collect();
    plan.kept = fw.promotable(body, &met, &|v| v == var || survey.written.contains(&v));
    if let Some(mut words) = written_words(fw, &survey, body, &plan.kept) {
        if let Some(known) = known
            && by.abs() == 1
            && !independent(&words)
        {
            divide(&mut words, &Loop { ends, by, back, known });
        }
        plan.independent = independent(&words);
        if !plan.independent {
            plan.courses = courses(&words).unwrap_or_default();
        }
    }
    if fw.w.switches.has(Pass::Jam) {
        plan.aside = jam::aside(fw, &survey, body);
        plan.nest = match survey.within.as_slice() {
            [within] => within.nest.clone(),
            _ => None,
        };
    }
    plan
}

/// The constant part of an address, and the rest; `None` where checks would be too long, or numbers too large.
fn in_bounds(induction: &Induction) -> Option<(i64, Induction)> {
    let (at, first) = induction.first.split();
    let small = induction.step.as_constant().is_none_or(|k| k.abs() < SMALL);
    (small && at.abs() < SMALL).then(|| (at, Induction { first, step: induction.step.clone() }))
}

/// What must not hold for a comparison to hold in every turn.
fn test_checks(
    fw: &FunctionBuilder<'_, '_>,
    survey: &Survey<'_, '_>,
    (test, sides): (&Test, &[Option<Induction>; 2]),
    [first, last]: [Value; 2],
) -> Option<Vec<Check>> {
    if test.ty != Ty::Int {
        return None;
    }
    let is_computed = |o: Operand| matches!(o, Operand::Var(v) if v != survey.var && survey.written.contains(&v));
    if [test.a, test.b].into_iter().any(is_computed) {
        return sum_checks(survey, test.cond, sides, [first, last]);
    }
    let side = |o: Operand| match o {
        Operand::Const(_) => Some(None),
        Operand::Var(v) if v == survey.var => Some(Some(v)),
        Operand::Var(v) if !survey.written.contains(&v) => Some(None),
        Operand::Var(_) | Operand::Mem(_) => None,
    };
    let (a, b) = (side(test.a)?, side(test.b)?);
    let ends: &[Value] = match (a, b, test.cond) {
        (None, None, _) => &[first],
        // What grows, or shrinks, all along is within a bound if it is at both ends.
        (Some(_), None, Cond::Lt | Cond::Le | Cond::Gt | Cond::Ge)
        | (None, Some(_), Cond::Lt | Cond::Le | Cond::Gt | Cond::Ge) => &[first, last],
        _ => return None,
    };
    let value = |o: Operand, counts: Option<Var>, end: Value| if counts.is_some() { end } else { fw.integer(o) };
    Some(ends.iter().map(|end| Check::Fails(test.cond, value(test.a, a, *end), value(test.b, b, *end))).collect())
}

/// The same of integers that a turn computes: they are the same in each turn, or go on with what the loop counts.
fn sum_checks(
    survey: &Survey<'_, '_>,
    cond: Cond,
    sides: &[Option<Induction>; 2],
    [first, last]: [Value; 2],
) -> Option<Vec<Check>> {
    let [Some(a), Some(b)] = sides else { return None };
    if a.step.is_zero() && b.step.is_zero() {
        return Some(vec![Check::SumsFail(cond, a.first.clone(), b.first.clone())]);
    }
    let by = survey.count.step.as_constant()?;
    if by.abs() != 1
        || !matches!(cond, Cond::Lt | Cond::Le | Cond::Gt | Cond::Ge)
        || !a.step.is_zero() && !b.step.is_zero()
    {
        return None;
    }
    // What a side is in the turn that counts this.
    let at = |side: &Induction, end: Value| {
        let sign = side.step.as_constant()?.checked_mul(by)?;
        let rest = side.first.plus(&Sum::value(first), sign.checked_neg()?)?;
        let plain =
            sign == 0 || sign.abs() == 1 && rest.as_constant().is_some_and(|k| k.unsigned_abs() < SMALL.unsigned_abs());
        plain.then(|| rest.plus(&Sum::value(end), sign))?
    };
    let mut out = Vec::new();
    for end in [first, last] {
        // It does not wrap.
        if !matches!(end, Value::Const(k) if k.cast_signed().unsigned_abs() < SMALL.unsigned_abs()) {
            out.push(Check::Fails(Cond::Lt, end, Value::Const(1 << 62)));
            out.push(Check::Fails(Cond::Gt, end, Value::Const((-1_i64 << 62).cast_unsigned())));
        }
        out.push(Check::SumsFail(cond, at(a, end)?, at(b, end)?));
    }
    Some(out)
}
