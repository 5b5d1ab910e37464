//! What of a `for` can be looked at before it: addresses and indices that go from
//! turn to turn by the same step lie in their bounds throughout if they do in the
//! first turn and in the last.

use std::collections::{HashMap, HashSet};

use pendula_isa::table::{Func, Row, int_fn};
use pendula_isa::{Acc, Cond, Ty};

use super::function::{FunctionWriter, Site};
use super::kept::Kept;
use super::statement::differ;
use super::text::{Ex, Prec};
use crate::ir::effects::{walk, written_operands};
use crate::ir::{At, Mem, Operand, Place, Program, Region, Stmt, Test, Var};

/// The number of a comparison, which comes after those of operands; then those of its sides.
pub(super) const TEST: usize = 1 << 20;

/// What is done about a loop.
pub(super) struct Plan {
    /// Conditions on which the loop is not run.
    pub(super) checks: Vec<String>,
    /// What need not be looked at in the loop.
    pub(super) proven: Vec<Site>,
    /// Words that stay where they are, and can be kept in variables.
    pub(super) kept: Vec<Kept>,
    /// Whether no turn uses what another writes, but for sums.
    pub(super) independent: bool,
}

/// A memory word or a comparison that every turn comes to, with what has been added to the variables since the turn began.
enum Met<'s> {
    Word(Site, Mem),
    Test(Site, &'s Test),
}

struct Survey<'s> {
    var: Var,
    by: i64,
    /// Variables that the body changes.
    written: HashSet<Var>,
    /// Those that each turn changes by the same number, and that number.
    steps: HashMap<Var, i64>,
    /// By how much they have been changed in this turn.
    now: HashMap<Var, i64>,
    met: Vec<(Met<'s>, HashMap<Var, i64>)>,
}

/// The variables that a block changes, however deep within, and how often.
fn writes(program: &Program, block: &[At]) -> HashMap<Var, u32> {
    let mut out: HashMap<Var, u32> = HashMap::new();
    let mut add = |v: Var| *out.entry(v).or_default() += 1;
    walk(block, &mut |s| match &s.stmt {
        Stmt::Update { dst: Place::Var(v), .. }
        | Stmt::Ancilla { var: v, .. }
        | Stmt::Array { base: v, .. }
        | Stmt::For { var: v, .. } => add(*v),
        Stmt::Permute { row, args, .. } => {
            for arg in args.iter().take(written_operands(*row)) {
                if let Operand::Var(v) = arg {
                    add(*v);
                }
            }
        }
        Stmt::Call { func, args, .. } => {
            let params = program.functions.get(func.0 as usize).map_or(&[][..], |f| &f.params);
            for (arg, param) in args.iter().zip(params) {
                if let (Operand::Var(v), true) = (arg, param.written) {
                    add(*v);
                }
            }
        }
        Stmt::Update { dst: Place::Mem(_), .. }
        | Stmt::If { .. }
        | Stmt::While { .. }
        | Stmt::With { .. }
        | Stmt::Span { .. }
        | Stmt::Assert { .. }
        | Stmt::Show { .. }
        | Stmt::Print(_) => {}
    });
    out
}

/// By how much a statement changes an integer variable, if that is known.
fn stepped(s: &Stmt, back: bool) -> Option<(Var, i64)> {
    match s {
        Stmt::Update { acc: Acc::Add, inverse, func: Func::Int(int_fn::Fn::Id), dst: Place::Var(v), args } => {
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

impl<'s> Survey<'s> {
    fn operand(&mut self, s: &At, n: usize, operand: Operand) {
        if let Operand::Mem(m) = operand {
            self.met.push((Met::Word((std::ptr::from_ref(s), n), m), self.now.clone()));
        }
    }

    fn test(&mut self, s: &At, n: usize, test: &Test) {
        self.operand(s, TEST + 1 + 2 * n, test.a);
        self.operand(s, TEST + 2 + 2 * n, test.b);
    }

    /// What every turn comes to, in the order of the run.
    fn block(&mut self, block: &'s [At], back: bool) {
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
                }
                Stmt::Span { body, .. } => self.block(body, back),
                Stmt::If { pre, post, .. } => {
                    for (n, c) in [if back { post } else { pre }, if back { pre } else { post }].into_iter().enumerate()
                    {
                        self.block(&c.compute, false);
                        self.test(s, n, &c.test);
                        self.block(&c.compute, true);
                    }
                }
                Stmt::Assert { test, .. } => {
                    self.test(s, 0, test);
                    self.met.push((Met::Test((std::ptr::from_ref(s), TEST), test), self.now.clone()));
                }
                Stmt::For { .. }
                | Stmt::While { .. }
                | Stmt::Ancilla { .. }
                | Stmt::Array { .. }
                | Stmt::Show { .. }
                | Stmt::Print(_) => {}
            }
            if let Some((v, k)) = stepped(&s.stmt, back)
                && self.steps.contains_key(&v)
            {
                *self.now.entry(v).or_default() += k;
            }
        }
    }

    /// Where a variable stands in a turn's first use, beside what it is before the loop, and its step; `None` if it goes otherwise.
    fn course(&self, var: Var, now: &HashMap<Var, i64>) -> Option<(bool, i64, i64)> {
        if var == self.var {
            return Some((true, 0, self.by));
        }
        if let Some(step) = self.steps.get(&var) {
            return Some((false, now.get(&var).copied().unwrap_or(0), *step));
        }
        (!self.written.contains(&var)).then_some((false, 0, 0))
    }
}

/// The variables that the straight part of a body changes by constants, and nothing else does.
fn steps(block: &[At], back: bool, all: &HashMap<Var, u32>, out: &mut HashMap<Var, i64>) {
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

/// What can be done about a loop over `var` from `first` to `last` by `by`.
pub(super) fn plan(
    fw: &FunctionWriter<'_, '_>,
    var: Var,
    first: &Ex,
    last: &Ex,
    by: i64,
    body: &[At],
    back: bool,
) -> Plan {
    let mut plan = Plan { checks: Vec::new(), proven: Vec::new(), kept: Vec::new(), independent: false };
    if by.abs() >= SMALL {
        return plan;
    }
    let all = writes(fw.w.program, body);
    let mut found = HashMap::new();
    steps(body, back, &all, &mut found);
    let written = all.keys().copied().collect();
    let mut survey = Survey { var, by, written, steps: found, now: HashMap::new(), met: Vec::new() };
    survey.block(body, back);
    let mut judged: Vec<(Site, Vec<String>)> = Vec::new();
    let mut spoilt: HashSet<Site> = HashSet::new();
    for (met, now) in &survey.met {
        let (site, checks) = match met {
            // A loop around this one keeps it.
            Met::Word(site, mem) if fw.kept.contains_key(mem) => (*site, Some(Vec::new())),
            Met::Word(site, mem) => (*site, word(fw, &survey, *mem, now, first)),
            Met::Test(site, test) => (*site, test_checks(fw, &survey, test, first, last)),
        };
        match checks {
            Some(checks) => judged.push((site, checks)),
            None => {
                spoilt.insert(site);
            }
        }
    }
    for (site, checks) in judged {
        if spoilt.contains(&site) {
            continue;
        }
        plan.proven.push(site);
        for check in checks {
            if !plan.checks.contains(&check) {
                plan.checks.push(check);
            }
        }
    }
    let met = survey.met.iter().filter_map(|(met, _)| match met {
        Met::Word(site, mem) if !spoilt.contains(site) => Some(*mem),
        Met::Word(..) | Met::Test(..) => None,
    });
    let met: Vec<Mem> = met.collect();
    plan.kept = fw.keepable(body, &met, &|v| v == var || survey.written.contains(&v));
    plan.independent = independent(fw, &survey, body, &plan.kept);
    plan
}

/// What must not hold for a memory word to be inside the memory in every turn.
fn word(
    fw: &FunctionWriter<'_, '_>,
    survey: &Survey<'_>,
    mem: Mem,
    now: &HashMap<Var, i64>,
    first: &Ex,
) -> Option<Vec<String>> {
    let (mut parts, mut offset, mut step) = (Vec::new(), mem.offset, 0i64);
    for v in mem.vars() {
        let (counts, add, by) = survey.course(v, now)?;
        parts.push(if counts { first.at(Prec::Product) } else { fw.name(v) });
        offset = offset.checked_add(add)?;
        step += by;
    }
    if offset != 0 || parts.is_empty() {
        parts.push(offset.to_string());
    }
    let address = parts.join(" + ").replace("+ -", "- ");
    Some(vec![if step == 0 {
        format!("(word)({address}) >= len")
    } else {
        format!("outside({address}, {step}, turns, len)")
    }])
}

/// What must not hold for a comparison to hold in every turn.
fn test_checks(
    fw: &FunctionWriter<'_, '_>,
    survey: &Survey<'_>,
    test: &Test,
    first: &Ex,
    last: &Ex,
) -> Option<Vec<String>> {
    if test.ty != Ty::Int {
        return None;
    }
    let side = |o: Operand| match o {
        Operand::Const(_) => Some(None),
        Operand::Var(v) if v == survey.var => Some(Some(v)),
        Operand::Var(v) if !survey.written.contains(&v) => Some(None),
        Operand::Var(_) | Operand::Mem(_) => None,
    };
    let (a, b) = (side(test.a)?, side(test.b)?);
    let ends: &[&Ex] = match (a, b, test.cond) {
        (None, None, _) => &[first],
        // What grows, or shrinks, all along is within a bound if it is at both ends.
        (Some(_), None, Cond::Lt | Cond::Le | Cond::Gt | Cond::Ge)
        | (None, Some(_), Cond::Lt | Cond::Le | Cond::Gt | Cond::Ge) => &[first, last],
        _ => return None,
    };
    let text = |o: Operand, counts: Option<Var>, end: &Ex| if counts.is_some() { end.clone() } else { fw.integer(o) };
    let checks = ends.iter().map(|end| {
        let holds = super::body::integers(test.cond, &text(test.a, a, end), &text(test.b, b, end));
        format!("!({})", holds.text)
    });
    Some(checks.collect())
}

/// Whether no turn reads or writes a memory word that another one writes: then several may be made at once.
fn independent(fw: &FunctionWriter<'_, '_>, survey: &Survey<'_>, body: &[At], kept: &[Kept]) -> bool {
    let mut simple = true;
    walk(body, &mut |s| {
        simple &= matches!(
            s.stmt,
            Stmt::Update { .. } | Stmt::Permute { .. } | Stmt::Ancilla { .. } | Stmt::With { .. } | Stmt::Span { .. }
        );
    });
    if !simple {
        return false;
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
    let words: Vec<(Mem, &HashMap<Var, i64>)> = survey
        .met
        .iter()
        .filter_map(|(met, now)| if let Met::Word(_, m) = met { Some((*m, now)) } else { None })
        .filter(|(m, _)| !fw.kept.contains_key(m) && !kept.iter().any(|k| k.mem == *m))
        .collect();
    words.iter().all(|(m, now)| {
        if !written.contains(&m.region) {
            return true;
        }
        let mut step = 0;
        for v in m.vars() {
            match survey.course(v, now) {
                Some((_, _, by)) => step += by,
                None => return false,
            }
        }
        step != 0
            && words.iter().all(|(other, then)| {
                (m == other && m.vars().all(|v| now.get(&v) == then.get(&v)))
                    || (differ(*m, *other) && m.region != other.region)
            })
    })
}
