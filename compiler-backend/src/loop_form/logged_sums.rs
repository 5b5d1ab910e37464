//! Turns of a loop, forward and back one by one, where every rounding counts. Turns run last to first, so that what flows back is
//! added up in the order of the run back. What each adds to a result is written down, one word a turn, and the results are summed
//! in the order of the run forward, and brought back in that of the run back. Where each turn adds to words of an array that no other turn adds
//! to, it adds to them at once.

use std::collections::{HashMap, HashSet};

use pendula_codegen::loops::{Address, Bound, Count, Local, Place, Step as OutStep, Stmt as Out, Word};
use pendula_isa::Ty;
use pendula_isa::adjoint::{AdMode, VALUE};

use super::Certify;
use super::certify::Asked;
use super::flow::Location;
use super::function::{FunctionBuilder, local};
use super::{Refused, Sweep};
use crate::ir::{Blocks, FunctionId, LocatedStmt, Operand, Place as To, Program, Step, Stmt, Var};

type Done = Result<(), Refused>;

/// The number of an addition that a statement makes to a variable, among those of a turn.
pub(super) type Sites = HashMap<(*const LocatedStmt, Var), usize>;

/// What a loop adds to whose turns are taken back one by one.
pub(super) struct Results {
    /// Variables to which each turn adds, once for each time.
    logged: Vec<Var>,
    /// Which of the additions to a variable a statement makes.
    sites: Sites,
    /// Whether what comes after the loop adds to them, too.
    rest_adds: bool,
}

impl FunctionBuilder<'_, '_> {
    /// The results of statement `n` of a block, a loop, if its turns may be taken back one by one: it does nothing else in the end than to add to them, as often
    /// in each turn, or to words of its own of an array; nothing looks at them, and what comes after only adds to these variables, or to others.
    pub(super) fn logged_results(&mut self, block: &[LocatedStmt], n: usize) -> Option<Results> {
        let (s, rest) = (&block[n], &block[n + 1..]);
        let Stmt::For { var, first, last, step, body, blocks } = &s.stmt else { return None };
        let wanted = !self.w.drops.fast
            && matches!(self.way, Sweep::Turn | Sweep::Within)
            && self.addends.is_empty()
            && self.ad_mode.level() == 1;
        if !wanted {
            return None;
        }
        let flow = self.w.drops.flow(self.f, std::slice::from_ref(s));
        let rest = self.w.drops.flow(self.f, rest);
        if !flow.only_adds() || flow.sums.is_empty() || !rest.only_adds() || !flow.commutes(&rest) {
            return None;
        }
        if [&flow, &rest].iter().any(|flow| self.w.drops.drifts(self.f, flow)) {
            return None;
        }
        if rest.reads.contains(&Location::Var(*var)) {
            return None;
        }
        let (mut logged, mut sites) = (Vec::new(), Sites::new());
        for thing in &flow.sums {
            let Location::Var(result) = *thing else {
                if !self.adds_apart(s, *thing) {
                    return None;
                }
                continue;
            };
            if self.within && !self.is_location_preserved(*thing) {
                return None;
            }
            if self.f.ty(result) != Ty::F {
                return None;
            }
            let mut additions = Additions { program: self.w.program, sites: &mut sites, known: Known::new() };
            let times = additions.number(body, result, 0)?;
            if !(1..=MOST_TIMES).contains(&times) || times > 1 && blocks.is_some() {
                return None;
            }
            logged.extend((0..times).map(|_| result));
        }
        let is_logged = |at: &Location| matches!(at, Location::Var(v) if logged.contains(v));
        let rest_adds = !rest.sums.is_empty() && rest.sums.iter().all(is_logged);
        // What comes after is done once, before the loop.
        let others = rest.sums.is_disjoint(&flow.sums) && rest.sums.iter().all(|at| self.is_location_preserved(*at));
        // Where there is no room for the log, the other way to run the program has none.
        let has_log = self.w.drops.certify == Certify::Everything
            && matches!(first, Operand::Const(first) if (1..1 << 31).contains(first))
            && matches!(last, Operand::Const(_) | Operand::Var(_))
            && *step == Step::Const(1);
        let pays = if logged.is_empty() {
            let program = self.w.program;
            blocks.is_none() && computes_once(program, body, &mut HashSet::new()) == Some(true)
        } else {
            has_log && (blocks.is_none() || self.logs_blocks(s, &logged))
        };
        if !(rest_adds || others) || !pays {
            return None;
        }
        logged.sort_unstable_by_key(|v| v.0);
        Some(Results { logged, sites, rest_adds })
    }

    /// Whether statement `n` of a block is around a loop whose turns may be taken back one by one, and comes before others that have nothing to do with its
    /// results: these can be taken back before it is made.
    pub(super) fn turns_before_rest(&mut self, block: &[LocatedStmt], n: usize) -> bool {
        let (s, rest) = (&block[n], &block[n + 1..]);
        let (Stmt::With { body, .. } | Stmt::Span { body, .. }) = &s.stmt else { return false };
        let wanted = !self.w.drops.fast && matches!(self.way, Sweep::Turn | Sweep::Within) && self.ad_mode.level() == 1;
        if !wanted || rest.is_empty() || !has_loop_that_computes_once(self.w.program, body) {
            return false;
        }
        let flow = self.w.drops.flow(self.f, std::slice::from_ref(s));
        let rest = self.w.drops.flow(self.f, rest);
        let mut sums = flow.sums.iter().chain(&rest.sums);
        flow.only_adds()
            && rest.only_adds()
            && flow.commutes(&rest)
            && ![&flow, &rest].iter().any(|flow| self.w.drops.drifts(self.f, flow))
            && rest.sums.is_disjoint(&flow.sums)
            && sums.all(|at| self.is_location_preserved(*at))
    }

    /// Runs a part of a block forward and back, which does not end the way forward.
    pub(super) fn turn_within(&mut self, block: &[LocatedStmt]) -> Done {
        let outer = std::mem::replace(&mut self.within, true);
        let done = self.turn(block);
        self.within = outer;
        done
    }

    /// Whether the turns of a loop add to words of an array that no two of them add to, and that are left alone on the way back.
    fn adds_apart(&mut self, s: &LocatedStmt, at: Location) -> bool {
        let n = self.f.params.iter().take(64).position(|p| self.f.lent_as(p.var) == at);
        let Some(n) = n.filter(|_| self.f.is_float(at) && self.is_location_preserved(at)) else { return false };
        let plan = self.w.drops.plan_of_function(self.func, 1 << n, Asked::Order);
        plan.is_some_and(|plan| plan.repeats.get(&std::ptr::from_ref(s)).is_none_or(|repeated| !repeated.contains(&at)))
    }

    /// Whether what the turns of a loop with blocks add to these results is the same summed from a log.
    fn logs_blocks(&self, s: &LocatedStmt, results: &[Var]) -> bool {
        let sums = self.sums(s).unwrap_or_default();
        let begins = matches!(&s.stmt, Stmt::For { blocks: Some(Blocks::FromFirst), .. });
        // Differences would be sums of negated numbers, among which zeros have other signs.
        let plain = sums.iter().all(|sum| !sum.inverse);
        begins && plain && results.iter().all(|v| sums.iter().any(|sum| sum.place == To::Var(*v)))
    }

    /// Runs a block forward and back, of which loop `n` adds to these results.
    pub(super) fn log_each_iteration(&mut self, block: &[LocatedStmt], n: usize, results: &Results) -> Done {
        let Results { logged: results, sites, rest_adds } = results;
        let (before, after) = block.split_at(n);
        let Some((s, rest)) = after.split_first() else { return Ok(()) };
        let Stmt::For { var, first, last, step, body, blocks } = &s.stmt else { return Ok(()) };
        let first_turn = if let Operand::Const(first) = *first { first } else { 1 };
        self.forward(before)?;
        if !rest.is_empty() {
            // What flows back from the rest comes first. What it adds to the results is not known yet: it is added later.
            let add = |fw: &mut Self| fw.turn(rest);
            let added = self.adding_elsewhere(results, &Sites::new(), add)?.0;
            self.out.extend(added);
        }
        if !results.is_empty() {
            (self.w.limits, self.w.limits_variables) = (true, true);
        }
        let words = self.integer(*last);
        let logs: Vec<Local> = results.iter().map(|_| self.fresh("addends", Ty::Int)).collect();
        for log in &logs {
            self.push(Out::Log(*log, words));
        }
        let at = |log: Local, turn: Local| Word {
            place: Place::Log(Address { locals: [Some(log), Some(turn)], offset: -first_turn.cast_signed() }),
            ty: Ty::F,
            lane: VALUE,
        };
        self.back = false;
        self.count(s, *var, (*first, *last, *step), body, true, |fw| {
            let (added, addends) = fw.adding_elsewhere(results, sites, |fw| fw.turn(body))?;
            fw.out.extend(added);
            for (log, addend) in logs.iter().zip(addends) {
                fw.push(Out::Write(at(*log, local(*var)), addend));
            }
            Ok(())
        })?;
        let in_blocks = blocks.is_some();
        if !results.is_empty() {
            self.total(s, results, (&logs, &at), (first_turn, *last), (false, in_blocks))?;
        }
        if *rest_adds {
            self.forward(rest)?;
        }
        if !self.within {
            self.turning_point();
            self.back = true;
            if !results.iter().all(|v| self.is_location_preserved(Location::Var(*v))) {
                if *rest_adds {
                    self.values_alone(|fw| fw.block(rest, true))?;
                }
                self.total(s, results, (&logs, &at), (first_turn, *last), (true, in_blocks))?;
            }
        }
        for log in logs.iter().rev() {
            self.push(Out::EndLog(*log));
        }
        self.backward(before)
    }

    /// Statements forward and back that add to variables of their own in place of results, and these variables.
    fn adding_elsewhere(
        &mut self,
        results: &[Var],
        sites: &Sites,
        add: impl FnOnce(&mut Self) -> Done,
    ) -> Result<(Vec<Out>, Vec<Local>), Refused> {
        let addends: Vec<Local> = results.iter().map(|_| self.fresh("addend", Ty::F)).collect();
        let outer = (self.addends.clone(), self.left.clone(), self.within, self.limits.clone());
        let sites = std::mem::replace(&mut self.addition_sites, sites.clone());
        // What is added up later is compared with its limit there.
        results.iter().for_each(|v| _ = self.limits.remove(&Location::Var(*v)));
        let mut of: HashMap<Var, Vec<Local>> = HashMap::new();
        for (result, addend) in results.iter().zip(&addends) {
            of.entry(*result).or_default().push(*addend);
        }
        self.addends.extend(of);
        self.left.extend(results);
        self.within = true;
        let done = self.nested(|fw| {
            for (result, addend) in results.iter().zip(&addends) {
                fw.push(Out::Addend(*addend, local(*result)));
            }
            add(fw)
        });
        (self.addends, self.left, self.within, self.limits) = outer;
        self.addition_sites = sites;
        Ok((done?, addends))
    }

    /// Adds what was written down to the results, or subtracts it again.
    fn total(
        &mut self,
        s: &LocatedStmt,
        results: &[Var],
        (logs, at): (&[Local], &impl Fn(Local, Local) -> Word),
        (first, last): (u64, Operand),
        (back, in_blocks): (bool, bool),
    ) -> Done {
        let outer = self.limits.clone();
        let limits = self.divide_limits(s);
        let turn = self.fresh("turn", Ty::Int);
        let word = |local: Local| Word { place: Place::Local(local), ty: Ty::F, lane: VALUE };
        let (mut body, mut parts, mut after) = (Vec::new(), Vec::new(), Vec::new());
        let mut all: Vec<(&Var, &Local)> = results.iter().zip(logs).collect();
        if back {
            // What a turn added last is subtracted first.
            all.reverse();
        }
        for (result, log) in all {
            let place = word(local(*result));
            if in_blocks {
                let [part, all] = ["part", "parts"].map(|name| self.fresh(name, Ty::F));
                body.push(Out::Block(self.added_word(word(part), at(*log, turn), false)?));
                after.push(Out::Block(self.added_word(place, word(part), back)?));
                parts.push([part, all]);
            } else {
                body.push(Out::Block(self.added_word(place, at(*log, turn), back)?));
            }
            if let Some(Out::Block(sum)) = if in_blocks { after.last_mut() } else { body.last_mut() } {
                sum.limit = self.limits.get(&Location::Var(*result)).copied();
            }
        }
        self.limits = outer;
        let first = Bound::Const(first);
        let last = match self.place(last) {
            Some(place) => Bound::Kept(self.fresh("last", Ty::Int), place),
            None => Bound::Const(if let Operand::Const(k) = last { k } else { 0 }),
        };
        let (first, last, step) = if back { (last, first, -1) } else { (first, last, 1) };
        let count = Count {
            var: turn,
            first,
            last,
            step: OutStep::Const(step),
            checks: Vec::new(),
            kept: Vec::new(),
            limits,
            limits_after: Vec::new(),
            independent: false,
            flows_from: Vec::new(),
            mark: None,
            aside: None,
            jammed: None,
            nest: None,
            products: None,
            one_by_one: Vec::new(),
            one_turn: false,
            courses: Vec::new(),
            strips: None,
            search: None,
            body,
            blocks: None,
        };
        let count = self.nested(|fw| {
            fw.push(Out::Count(Box::new(count)));
            if in_blocks {
                fw.mark_blocks(parts, after, back);
            }
            Ok(())
        })?;
        self.push(Out::InMode(AdMode::Plain, count));
        Ok(())
    }
}

/// Whether turns of a loop with this body compute what is undone again, so that it pays to compute it once, there and back; `None` if they have loops
/// of their own, of which several turns are better made at once.
fn computes_once(program: &Program, block: &[LocatedStmt], seen: &mut HashSet<FunctionId>) -> Option<bool> {
    let mut any = false;
    for s in block {
        any |= match &s.stmt {
            Stmt::For { .. } | Stmt::While { .. } => return None,
            Stmt::With { compute, body, .. } => computes_once(program, body, seen)? || !compute.is_empty(),
            Stmt::Span { body, .. } => computes_once(program, body, seen)?,
            Stmt::If { then, otherwise, .. } => {
                let both = [computes_once(program, then, seen)?, computes_once(program, otherwise, seen)?];
                both.contains(&true)
            }
            Stmt::Call { func, .. } => {
                let callee = program.functions.get(func.0 as usize)?;
                seen.insert(*func) && computes_once(program, &callee.body, seen)?
            }
            Stmt::Update { .. }
            | Stmt::Permute { .. }
            | Stmt::Ancilla { .. }
            | Stmt::Array { .. }
            | Stmt::Assert { .. }
            | Stmt::Show { .. }
            | Stmt::Print(_) => false,
        };
    }
    Some(any)
}

/// Whether a block is around a loop whose turns compute what is undone again.
fn has_loop_that_computes_once(program: &Program, block: &[LocatedStmt]) -> bool {
    block.iter().any(|s| match &s.stmt {
        Stmt::For { body, .. } => computes_once(program, body, &mut HashSet::new()) == Some(true),
        Stmt::With { body, .. } | Stmt::Span { body, .. } => has_loop_that_computes_once(program, body),
        _ => false,
    })
}

/// The most that a turn may add to one result.
const MOST_TIMES: usize = 8;

/// Additions to results in the order in which they are made.
struct Additions<'a> {
    program: &'a Program,
    sites: &'a mut Sites,
    known: Known,
}

/// How often functions add to their parameters, as far as that is known; `None` while it is being found out.
type Known = HashMap<(FunctionId, Var), Option<u32>>;

impl Additions<'_> {
    /// Numbers the additions that a block makes to a variable from `next` on, and gives the number after them; `None` if they are not always as many,
    /// or if a call makes several.
    fn number(&mut self, block: &[LocatedStmt], result: Var, mut next: usize) -> Option<usize> {
        for s in block {
            next = match &s.stmt {
                Stmt::If { then, otherwise, .. } => {
                    let ends = [self.number(then, result, next)?, self.number(otherwise, result, next)?];
                    (ends[0] == ends[1]).then_some(ends[0])?
                }
                Stmt::With { body, .. } | Stmt::Span { body, .. } => self.number(body, result, next)?,
                _ => match adds(self.program, std::slice::from_ref(s), result, &mut self.known)? {
                    0 => next,
                    1 => {
                        self.sites.insert((std::ptr::from_ref(s), result), next);
                        next + 1
                    }
                    _ => return None,
                },
            };
        }
        Some(next)
    }
}

/// How often a block adds to a variable, if that is always as often; `None` also for what does not tell.
fn adds(program: &Program, block: &[LocatedStmt], result: Var, known: &mut Known) -> Option<u32> {
    let mut count = 0_u32;
    for s in block {
        let here = match &s.stmt {
            Stmt::Update { dst, .. } => u32::from(matches!(dst, To::Var(v) if *v == result)),
            Stmt::Call { func, args, .. } => {
                let callee = program.functions.get(func.0 as usize)?;
                let given = callee.params.iter().zip(args).filter(|(_, a)| **a == Operand::Var(result));
                let mut inner = 0_u32;
                for (param, _) in given.filter(|(param, _)| param.written) {
                    let key = (*func, param.var);
                    let times = match known.get(&key) {
                        Some(times) => *times,
                        None => {
                            known.insert(key, None);
                            let times = adds(program, &callee.body, param.var, known);
                            known.insert(key, times);
                            times
                        }
                    };
                    inner = inner.checked_add(times?)?;
                }
                inner
            }
            Stmt::If { then, otherwise, .. } => {
                let both = [adds(program, then, result, known)?, adds(program, otherwise, result, known)?];
                if both[0] != both[1] {
                    return None;
                }
                both[0]
            }
            Stmt::While { first, body, .. } => {
                match (adds(program, first, result, known)?, adds(program, body, result, known)?) {
                    (0, 0) => 0,
                    _ => return None,
                }
            }
            Stmt::For { body, .. } => match adds(program, body, result, known)? {
                0 => 0,
                _ => return None,
            },
            Stmt::With { body, .. } | Stmt::Span { body, .. } => adds(program, body, result, known)?,
            Stmt::Permute { .. }
            | Stmt::Ancilla { .. }
            | Stmt::Array { .. }
            | Stmt::Assert { .. }
            | Stmt::Show { .. }
            | Stmt::Print(_) => 0,
        };
        count = count.checked_add(here)?;
    }
    Some(count)
}
