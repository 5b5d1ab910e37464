//! Sums of floating-point numbers that need not be undone, although they are rounded.
//!
//! Undoing w += a₁, …, w += aₙ subtracts the same numbers in reverse, if each is computed from the same words again. That leaves a
//! rest of rounding: at most 2.1·2⁻⁵³·Σ|wᵢ| for the partial sums wᵢ. The machine clears a rest of at most [`TOLERANCE`] and goes on. So a
//! sum may be forgotten if its partial sums are small enough, which is found out while they are made: none may be larger than
//! a limit, which is the smaller the more numbers are added.
//!
//! # When the same numbers come again
//!
//! Each word must be complete before it is read. [`plan`] proves that: no word is added to after it was read. For arrays, it follows
//! addresses as sums of products, into functions, too: these tell in which windows of their parameters' arrays they read and add. A loop
//! may read words that earlier turns added to, if later turns add to others.

mod apart;
mod calls;

use std::collections::{HashMap, HashSet};

use pendula_codegen::loops::{Induction, Sum};
use pendula_isa::table::{Row, TableFn, int_fn};
use pendula_isa::{Acc, Ty};

use super::dead_uncompute::Drops;
use super::facts::{Facts, Told, implied};
use super::flow::{Location, Locations};
use super::loops::integer_result;
use super::windows::{Access, Window, hull, keeps_apart, may_meet, swept, symbol, unite};
use crate::ir::effects::{changed_vars, walk, written_operands};
use crate::ir::{Condition, IrFunction, LocatedStmt, Mem, Operand, Place, Step, Stmt, TOLERANCE, Test, Var};

pub(super) use apart::{AtLoop, Spared, WordsApart, spared, words_apart};

/// What is asked of a survey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Asked {
    /// How often each word is added to, and that nothing is left to be undone but that.
    Sums,
    /// That what is read has the same values on the way back: no word is added to after it was read, and words begin and end only with computations.
    Values,
    /// Only that no word is added to after it was read.
    Order,
}

/// Loops around a sum that are counted, at most: each makes the limit smaller.
const DEPTH: usize = 8;

/// How words of a computation are forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// The floating-point words, with the number of statements that add to each. What is added to once is exactly zero when it is undone;
    /// others have a limit.
    pub(super) words: HashMap<Location, Sums>,
    /// For each loop the words to which more than one of its turns may add.
    pub(super) repeats: HashMap<*const LocatedStmt, Vec<Location>>,
    /// For each call that adds to words of the computation, the parameters through which it does, one bit for each.
    pub(super) calls: HashMap<*const LocatedStmt, u64>,
    /// What is read and added to, in the order of the first time.
    accesses: Vec<Access>,
}

/// How often a word, or each word of an array, is added to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// By how many statements.
    pub(super) statements: u64,
    /// Whether a statement adds more than once.
    pub(super) repeated: bool,
    /// Loops around a statement in which it adds more than once.
    depth: usize,
}

impl Sums {
    /// Whether partial sums must be small for the sum to be forgotten.
    pub(super) fn is_limited(self) -> bool {
        self.repeated || self.statements > 1
    }

    /// The largest partial sum, if each statement adds once.
    pub(super) fn limit(self) -> f64 {
        TOLERANCE / (2.1 * f64::EPSILON / 2.0) / self.statements.max(1) as f64
    }

    /// Of what is added to by these and by those.
    fn and(self, other: Sums) -> Sums {
        Sums { statements: self.statements + other.statements, ..self.or(other) }
    }

    /// Of what is added to by these or by those.
    fn or(self, other: Sums) -> Sums {
        Sums {
            statements: self.statements.max(other.statements),
            repeated: self.repeated || other.repeated,
            depth: self.depth.max(other.depth),
        }
    }
}

struct Survey<'d, 'p> {
    drops: &'d mut Drops<'p>,
    f: &'d IrFunction,
    asked: Asked,
    words: Locations,
    repeats: HashMap<*const LocatedStmt, Vec<Location>>,
    calls: HashMap<*const LocatedStmt, u64>,
    /// What the computation changes.
    changed: HashSet<Var>,
    /// What is known of integer variables that it changes.
    values: HashMap<Var, Sum>,
    /// What tests and loops tell of integers.
    facts: Facts,
    /// What keeps words apart, if that is looked for.
    apart: Option<WordsApart>,
    /// Of which arrays computations within are spared, if that is looked for.
    spared: Option<Spared>,
}

/// How the floating-point words that begin in a computation are forgotten; `None` if they must be undone.
pub(super) fn plan(drops: &mut Drops<'_>, f: &IrFunction, compute: &[LocatedStmt]) -> Option<Plan> {
    let mut checked: HashMap<Location, bool> = HashMap::new();
    words(f, compute, &mut checked);
    let plan = survey(drops, f, compute, checked.keys().copied(), Asked::Sums)?;
    // Where nothing is left, the machine asks for nothing less.
    let allowed = |(at, sums): (&Location, &Sums)| !sums.is_limited() || (checked[at] && sums.depth <= DEPTH);
    plan.words.iter().all(allowed).then_some(plan)
}

/// Whether what a computation reads has the same values when it is undone as when it is made.
pub(super) fn reads_the_same(drops: &mut Drops<'_>, f: &IrFunction, compute: &[LocatedStmt]) -> bool {
    let mut own = HashMap::new();
    words(f, compute, &mut own);
    survey(drops, f, compute, own.into_keys(), Asked::Values).is_some()
}

/// How a function adds to words of a computation that calls it, which these parameters, one bit for each, are or point to; `None` if it may add
/// to one after it was read.
pub(super) fn plan_of_function(drops: &mut Drops<'_>, f: &IrFunction, params: u64, asked: Asked) -> Option<Plan> {
    survey(drops, f, &f.body, marked(f, params).into_iter(), asked)
}

/// The words that these parameters are or point to.
pub(super) fn marked(f: &IrFunction, params: u64) -> Vec<Location> {
    let of = |(n, p): (usize, &crate::ir::Param)| {
        let at = f.points(p.var).map_or(Location::Var(p.var), Location::Region);
        (params >> n & 1 != 0).then_some(at)
    };
    f.params.iter().take(64).enumerate().filter_map(of).collect()
}

fn survey(
    drops: &mut Drops<'_>,
    f: &IrFunction,
    block: &[LocatedStmt],
    words: impl Iterator<Item = Location>,
    asked: Asked,
) -> Option<Plan> {
    let mut survey = Survey::of(drops, f, block, words.collect(), asked);
    let accesses = survey.block(block, true)?;
    let words = survey.words.iter().map(|at| (*at, survey.most(*at, &accesses))).collect();
    Some(Plan { words, repeats: survey.repeats, calls: survey.calls, accesses })
}

/// The floating-point words that begin in a block and live on, and whether a small rest is cleared when they end.
fn words(f: &IrFunction, block: &[LocatedStmt], out: &mut HashMap<Location, bool>) {
    for s in block {
        match &s.stmt {
            Stmt::Ancilla { var, free: false, checks } if f.ty(*var) == Ty::F => {
                out.insert(Location::Var(*var), checks.check);
            }
            Stmt::Array { region, ty: Ty::F, free: false, .. } => _ = out.insert(Location::Region(*region), true),
            Stmt::With { body, .. } | Stmt::Span { body, .. } => words(f, body, out),
            _ => {}
        }
    }
}

impl<'d, 'p> Survey<'d, 'p> {
    fn of(
        drops: &'d mut Drops<'p>,
        f: &'d IrFunction,
        block: &[LocatedStmt],
        words: Locations,
        asked: Asked,
    ) -> Survey<'d, 'p> {
        let mut changed = HashSet::new();
        let program = drops.program;
        walk(block, &mut |s| changed_vars(program, &s.stmt, |v| _ = changed.insert(v)));
        let same = drops.same_params(f).into_iter().filter(|(v, _)| !changed.contains(v));
        let values = same.map(|(v, is)| (v, symbol(is))).collect();
        let facts = Facts::default();
        let (repeats, calls) = (HashMap::new(), HashMap::new());
        Survey { drops, f, asked, words, repeats, calls, changed, values, facts, apart: None, spared: None }
    }
}

impl Survey<'_, '_> {
    /// What is read and added to, in this order; `None` if something is added to after it was read. `straight` is whether the block is run
    /// once.
    fn block(&mut self, block: &[LocatedStmt], straight: bool) -> Option<Vec<Access>> {
        let mut out = Vec::new();
        for s in block {
            let new = self.statement(s, straight)?;
            self.follow(&mut out, new)?;
        }
        Some(out)
    }

    /// Adds what comes later.
    fn follow(&self, seen: &mut Vec<Access>, later: Vec<Access>) -> Option<()> {
        let before = |a: &Access| seen.iter().any(|r| r.adds.is_none() && r.at == a.at && may_meet(r, a, &self.facts));
        if later.iter().filter(|a| a.adds.is_some()).any(before) {
            return None;
        }
        unite(seen, later, Sums::and);
        Some(())
    }

    /// How often a word is added to, at most.
    fn most(&self, at: Location, accesses: &[Access]) -> Sums {
        let adds = || accesses.iter().filter(|a| a.at == at && a.adds.is_some());
        let of = |a: &Access| {
            let meets = adds().filter(|b| std::ptr::eq(a, *b) || may_meet(a, b, &self.facts));
            meets.filter_map(|b| b.adds).fold(Sums::default(), Sums::and)
        };
        adds().map(of).fold(Sums::default(), Sums::or)
    }

    fn statement(&mut self, s: &LocatedStmt, straight: bool) -> Option<Vec<Access>> {
        let mut out = Vec::new();
        match &s.stmt {
            Stmt::Update { acc, inverse, func, dst, args } => {
                self.find_apart(s, args);
                args.iter().for_each(|a| self.read(*a, &mut out));
                if let Some(at) = self.word((*dst).into()) {
                    if *acc != Acc::Add {
                        return None;
                    }
                    let window = if let Place::Mem(m) = dst { self.window(*m) } else { None };
                    let once = Sums { statements: 1, ..Sums::default() };
                    let sum = vec![Access { at, window, adds: Some(once), called: false }];
                    self.follow(&mut out, sum)?;
                } else if let Place::Var(v) = dst {
                    let new = match (acc, func) {
                        (Acc::Add, TableFn::Int(func)) => self
                            .value(*v)
                            .zip(self.result(*func, args))
                            .and_then(|(old, value)| old.plus(&value, if *inverse { -1 } else { 1 })),
                        _ => None,
                    };
                    self.set(*v, new);
                }
            }
            Stmt::Permute { row, inverse, ty, args } => {
                args.iter().for_each(|a| self.read(*a, &mut out));
                for arg in args.iter().take(written_operands(*row)) {
                    if self.word(*arg).is_some() {
                        return None;
                    }
                    if let Operand::Var(v) = arg {
                        let by = if *inverse { -1 } else { 1 };
                        let next = self.value(*v).filter(|_| *row == Row::Inc && *ty == Ty::Int).map(|x| x.offset(by));
                        self.set(*v, next);
                    }
                }
            }
            Stmt::Ancilla { var, free, .. } => {
                let is_float = self.f.ty(*var) == Ty::F;
                if is_float && self.asked != Asked::Order && (!straight || *free) {
                    return None;
                }
                self.set(*var, (!*free).then(Sum::default));
            }
            Stmt::Array { base, len, ty, free, .. } => {
                self.read(*len, &mut out);
                if *ty == Ty::F && self.asked != Asked::Order && (!straight || *free) {
                    return None;
                }
                self.set(*base, (!*free).then(|| symbol(*base)));
            }
            Stmt::Call { func, inverse, args } => {
                out = self.call(s, *func, *inverse, args)?;
                self.forget(std::slice::from_ref(s));
            }
            Stmt::If { pre, post, then, otherwise } => out = self.branches([pre, post], [then, otherwise])?,
            Stmt::While { pre, post, first, body } => out = self.until([pre, post], [first, body])?,
            Stmt::For { var, first, last, step, body, .. } => {
                return self.count(s, *var, (*first, *last, *step), body);
            }
            Stmt::With { compute, body, .. } => {
                out = self.inner(compute, body, straight)?;
            }
            Stmt::Span { body, .. } => out = self.block(body, straight)?,
            Stmt::Assert { test, .. } => {
                self.test(test, &mut out);
                let [told, _] = self.told(test);
                self.facts.add(told);
            }
            Stmt::Show { .. } | Stmt::Print(_) => return None,
        }
        Some(out)
    }

    fn branches(&mut self, [pre, post]: [&Condition; 2], blocks: [&[LocatedStmt]; 2]) -> Option<Vec<Access>> {
        let (mut out, told) = self.condition(pre)?;
        let (values, known) = (self.values.clone(), self.facts.len());
        // Only one of the two is run.
        let mut either = Vec::new();
        for (block, told) in blocks.into_iter().zip(told) {
            self.facts.add(told);
            unite(&mut either, self.block(block, false)?, Sums::or);
            self.facts.truncate(known);
            self.values.clone_from(&values);
        }
        self.follow(&mut out, either)?;
        blocks.into_iter().for_each(|b| self.forget(b));
        let (after, _) = self.condition(post)?;
        self.follow(&mut out, after)?;
        Some(out)
    }

    /// A loop that ends by a condition.
    fn until(&mut self, conditions: [&Condition; 2], blocks: [&[LocatedStmt]; 2]) -> Option<Vec<Access>> {
        let mut out = Vec::new();
        blocks.into_iter().for_each(|b| self.forget(b));
        for condition in conditions {
            let (part, _) = self.condition(condition)?;
            out.extend(part);
        }
        for block in blocks {
            let known = self.facts.len();
            let part = self.block(block, false)?;
            self.facts.truncate(known);
            out.extend(part);
            self.forget(block);
        }
        // How often it adds is not known.
        let is_read = |at: Location| out.iter().any(|a| a.at == at && a.adds.is_none());
        let may = |a: &Access| a.adds.is_none() || self.asked != Asked::Sums && !is_read(a.at);
        out.iter().all(may).then_some(out)
    }

    /// A computation within, which is undone on its own, and what is done between.
    fn inner(&mut self, compute: &[LocatedStmt], body: &[LocatedStmt], straight: bool) -> Option<Vec<Access>> {
        let mut out = self.own_block(compute)?;
        if self.asked == Asked::Values && self.changes_words_of(compute, body) {
            return None;
        }
        let part = self.block(body, straight)?;
        self.follow(&mut out, part)?;
        self.forget(compute);
        self.spares(compute);
        Some(out)
    }

    /// Whether what is done between a computation and its end changes its words, if only for a time: what reads them then reads others on the way back.
    fn changes_words_of(&mut self, compute: &[LocatedStmt], body: &[LocatedStmt]) -> bool {
        let mut own = HashMap::new();
        words(self.f, compute, &mut own);
        let flow = self.drops.flow(self.f, body);
        let sets = [&flow.sums, &flow.changes, &flow.loans];
        flow.opaque || own.keys().any(|at| sets.iter().any(|set| set.contains(at)))
    }

    /// A block whose words are those of a computation within.
    fn own_block(&mut self, compute: &[LocatedStmt]) -> Option<Vec<Access>> {
        let mut own = HashMap::new();
        words(self.f, compute, &mut own);
        // They are no words of the computation around it.
        let hidden: Vec<Location> = own.keys().filter_map(|at| self.words.take(at)).collect();
        let done = self.block(compute, true);
        self.words.extend(hidden);
        // What it adds to words of the computation around it is subtracted again, after they were read.
        done.filter(|all| !all.iter().any(|access| access.adds.is_some()))
    }

    /// What a condition reads, and what it tells if it holds, and if it does not.
    fn condition(&mut self, condition: &Condition) -> Option<(Vec<Access>, Told)> {
        let mut out = self.own_block(&condition.compute)?;
        self.test(&condition.test, &mut out);
        let told = self.told(&condition.test);
        self.forget(&condition.compute);
        Some((out, told))
    }

    /// What a test tells of integers if it holds, and if it does not.
    fn told(&self, test: &Test) -> Told {
        let sums = (test.ty == Ty::Int).then(|| self.operand(test.a).zip(self.operand(test.b))).flatten();
        sums.map(|(a, b)| implied(test.cond, &a, &b)).unwrap_or_default()
    }

    fn count(
        &mut self,
        s: &LocatedStmt,
        var: Var,
        (first, last, step): (Operand, Operand, Step),
        body: &[LocatedStmt],
    ) -> Option<Vec<Access>> {
        let mut out = Vec::new();
        [first, last].into_iter().for_each(|o| self.read(o, &mut out));
        let ends = [first, last].map(|o| self.operand(o));
        self.forget(body);
        let outer = self.values.insert(var, symbol(var));
        let by = if let Step::Const(by) = step { Some(by) } else { None };
        let known = self.facts.len();
        if let (Some(by), [Some(first), Some(last)]) = (by, &ends) {
            let (least, most) = if by > 0 { (first, last) } else { (last, first) };
            let less = |a: &Sum, b: &Sum| b.plus(a, -1);
            self.facts.add([less(least, &symbol(var)), less(&symbol(var), most), less(least, most)]);
        }
        self.note_loop(s, &ends, body);
        let inner = self.block(body, false);
        match outer {
            Some(value) => self.values.insert(var, value),
            None => self.values.remove(&var),
        };
        self.forget(body);
        let mut inner = inner?;
        let added: Locations = inner.iter().filter(|a| a.adds.is_some()).map(|a| a.at).collect();
        for at in added {
            let here: Vec<&Access> = inner.iter().filter(|a| a.at == at).collect();
            if by.is_some_and(|by| keeps_apart(&here, var, by, &self.facts)) {
                // What a turn adds to is apart from what others add to, but not where it is only known from where to where all turns do.
                let adds: Vec<&Access> = here.into_iter().filter(|a| a.adds.is_some()).collect();
                if let Some(window) = hull(&adds, &self.facts) {
                    let called = adds.iter().any(|a| a.called);
                    let one = Access { at, window, adds: Some(self.most(at, &inner)), called };
                    inner.retain(|a| a.at != at || a.adds.is_none());
                    inner.push(one);
                }
                continue;
            }
            // A word may be added to in several turns; none may be read before the last of them. The number of turns must be known.
            // The limit would have to be handed on to functions.
            let counts = self.asked == Asked::Sums;
            if here.iter().any(|a| a.adds.is_none() || counts && a.called) || counts && by.is_none() {
                return None;
            }
            for sums in inner.iter_mut().filter(|a| a.at == at).filter_map(|a| a.adds.as_mut()) {
                (sums.repeated, sums.depth) = (true, sums.depth + 1);
            }
            self.repeats.entry(std::ptr::from_ref(s)).or_default().push(at);
        }
        for access in &mut inner {
            access.window = access.window.take().and_then(|window| swept(window, var, &ends, by, &self.facts));
        }
        self.facts.truncate(known);
        self.follow(&mut out, inner)?;
        Some(out)
    }

    fn test(&mut self, test: &Test, out: &mut Vec<Access>) {
        self.read(test.a, out);
        self.read(test.b, out);
    }

    fn read(&mut self, operand: Operand, out: &mut Vec<Access>) {
        if let Some(at) = self.word(operand) {
            let window = if let Operand::Mem(m) = operand { self.window(m) } else { None };
            out.push(Access { at, window, adds: None, called: false });
        }
    }

    /// The word of the computation that an operand is.
    fn word(&self, operand: Operand) -> Option<Location> {
        let at = match operand {
            Operand::Const(_) => return None,
            Operand::Var(v) => Location::Var(v),
            Operand::Mem(m) => Location::Region(m.region),
        };
        self.words.contains(&at).then_some(at)
    }

    fn window(&self, mem: Mem) -> Window {
        let offset = Sum::constant(mem.offset);
        let at = mem.vars().try_fold(offset, |sum, v| sum.plus(&self.value(v)?, 1))?;
        Some((at.clone(), at))
    }

    fn operand(&self, operand: Operand) -> Option<Sum> {
        match operand {
            Operand::Const(k) => Some(Sum::constant(k.cast_signed())),
            Operand::Var(v) => self.value(v),
            Operand::Mem(_) => None,
        }
    }

    /// The value of an integer variable, where the survey stands.
    fn value(&self, var: Var) -> Option<Sum> {
        match self.values.get(&var) {
            Some(value) => Some(value.clone()),
            None => (!self.changed.contains(&var)).then(|| symbol(var)),
        }
    }

    /// What an integer function gives.
    fn result(&self, func: int_fn::Name, args: &[Operand]) -> Option<Sum> {
        let of = |o: &Operand| self.operand(*o).map(Induction::invariant);
        integer_result(func, args, of).map(|induction| induction.first)
    }

    fn set(&mut self, var: Var, value: Option<Sum>) {
        match value {
            Some(value) => self.values.insert(var, value),
            None => self.values.remove(&var),
        };
    }

    /// Forgets the values of variables that a block changes.
    fn forget(&mut self, block: &[LocatedStmt]) {
        let program = self.drops.program;
        walk(block, &mut |s| changed_vars(program, &s.stmt, |v| _ = self.values.remove(&v)));
    }
}
