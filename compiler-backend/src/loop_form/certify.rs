//! Sums of floating-point numbers that need not be undone, although they are rounded.
//!
//! Undoing w += a₁, …, w += aₙ subtracts the same numbers in reverse, if each is computed from the same words again. That leaves a
//! rest of rounding: at most 2.1·2⁻⁵³·Σ|wᵢ| for the partial sums wᵢ. The machine clears a rest of at most [`TOLERANCE`] and goes on. So a
//! sum may be forgotten if its partial sums are small enough, which is found out while they are made: none may be larger than
//! a limit, which is the smaller the more numbers are added.
//!
//! # When the same numbers come again
//!
//! Each word must be complete before it is read. [`plan`] proves that: no word is added to after it was read. For arrays in loops, it
//! follows addresses as sums of products; a word that is read in one turn and a word that is added to in another are different if each turn
//! keeps to a window of its own.

use std::collections::{HashMap, HashSet};

use pendula_codegen::loops::{Induction, Sum};
use pendula_isa::table::{Row, TableFn, int_fn};
use pendula_isa::{Acc, Ty};

use super::dead_uncompute::Drops;
use super::flow::{Location, Locations};
use super::loops::integer_result;
use super::windows::{Access, Window, keeps_apart, may_meet, swept, symbol};
use crate::ir::effects::{changed_vars, walk, written_operands};
use crate::ir::{
    Condition, FunctionId, IrFunction, LocatedStmt, Mem, Operand, Place, Step, Stmt, TOLERANCE, Test, Var,
};

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
}

struct Survey<'d, 'p> {
    drops: &'d mut Drops<'p>,
    f: &'d IrFunction,
    words: HashMap<Location, Sums>,
    repeats: HashMap<*const LocatedStmt, Vec<Location>>,
    calls: HashMap<*const LocatedStmt, u64>,
    /// What the computation changes.
    changed: HashSet<Var>,
    /// What is known of integer variables that it changes.
    values: HashMap<Var, Sum>,
}

/// How the floating-point words that begin in a computation are forgotten; `None` if they must be undone.
pub(super) fn plan(drops: &mut Drops<'_>, f: &IrFunction, compute: &[LocatedStmt]) -> Option<Plan> {
    let mut checked: HashMap<Location, bool> = HashMap::new();
    words(f, compute, &mut checked);
    let plan = survey(drops, f, compute, checked.keys().copied())?;
    // Where nothing is left, the machine asks for nothing less.
    let allowed = |(at, sums): (&Location, &Sums)| !sums.is_limited() || (checked[at] && sums.depth <= DEPTH);
    plan.words.iter().all(allowed).then_some(plan)
}

/// How a function adds to words of a computation that calls it, which these parameters, one bit for each, are or point to; `None` if it may add
/// to one after it was read.
pub(super) fn plan_of_function(drops: &mut Drops<'_>, f: &IrFunction, params: u64) -> Option<Plan> {
    survey(drops, f, &f.body, marked(f, params).into_iter())
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
) -> Option<Plan> {
    let mut changed = HashSet::new();
    let program = drops.program;
    walk(block, &mut |s| changed_vars(program, &s.stmt, |v| _ = changed.insert(v)));
    let mut survey = Survey {
        drops,
        f,
        words: words.map(|at| (at, Sums::default())).collect(),
        repeats: HashMap::new(),
        calls: HashMap::new(),
        changed,
        values: HashMap::new(),
    };
    survey.block(block, true)?;
    Some(Plan { words: survey.words, repeats: survey.repeats, calls: survey.calls })
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
        let disturbed =
            later.iter().filter(|a| a.adds).any(|a| seen.iter().any(|r| !r.adds && r.at == a.at && may_meet(r, a)));
        if disturbed {
            return None;
        }
        for access in later {
            let known = seen.iter().any(|a| a.at == access.at && a.adds == access.adds && a.window == access.window);
            if !known {
                seen.push(access);
            }
        }
        Some(())
    }

    fn statement(&mut self, s: &LocatedStmt, straight: bool) -> Option<Vec<Access>> {
        let mut out = Vec::new();
        match &s.stmt {
            Stmt::Update { acc, inverse, func, dst, args } => {
                args.iter().for_each(|a| self.read(*a, &mut out));
                if let Some(at) = self.word((*dst).into()) {
                    if *acc != Acc::Add {
                        return None;
                    }
                    let window = if let Place::Mem(m) = dst { self.window(*m) } else { None };
                    self.words.entry(at).or_default().statements += 1;
                    let sum = vec![Access { at, window, adds: true, called: false }];
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
                if is_float && (!straight || *free) {
                    return None;
                }
                self.set(*var, (!*free).then(Sum::default));
            }
            Stmt::Array { base, len, ty, free, .. } => {
                self.read(*len, &mut out);
                if *ty == Ty::F && (!straight || *free) {
                    return None;
                }
                self.set(*base, (!*free).then(|| symbol(*base)));
            }
            Stmt::Call { func, inverse, args } => {
                out = self.call(s, *func, *inverse, args)?;
                self.forget(std::slice::from_ref(s));
            }
            Stmt::If { pre, post, then, otherwise } => {
                let before = self.condition(pre)?;
                self.follow(&mut out, before)?;
                let (values, counts) = (self.values.clone(), self.words.clone());
                let part = self.block(then, false)?;
                self.follow(&mut out, part)?;
                self.values = values;
                // Only one of the two is run.
                let one = std::mem::replace(&mut self.words, counts);
                let part = self.block(otherwise, false)?;
                self.follow(&mut out, part)?;
                for (at, sums) in one {
                    let other = self.words.entry(at).or_default();
                    other.statements = other.statements.max(sums.statements);
                    other.repeated |= sums.repeated;
                    other.depth = other.depth.max(sums.depth);
                }
                [then, otherwise].into_iter().for_each(|b| self.forget(b));
                let after = self.condition(post)?;
                self.follow(&mut out, after)?;
            }
            Stmt::While { pre, post, first, body } => {
                [first, body].into_iter().for_each(|b| self.forget(b));
                for condition in [pre, post] {
                    let part = self.condition(condition)?;
                    out.extend(part);
                }
                for block in [first, body] {
                    let part = self.block(block, false)?;
                    out.extend(part);
                    self.forget(block);
                }
                // How often it adds is not known.
                if out.iter().any(|a| a.adds) {
                    return None;
                }
            }
            Stmt::For { var, first, last, step, body } => {
                return self.count(s, *var, (*first, *last, *step), body);
            }
            Stmt::With { compute, body, .. } => {
                out = self.inner(compute, body, straight)?;
            }
            Stmt::Span { body, .. } => out = self.block(body, straight)?,
            Stmt::Assert { test, .. } => self.test(test, &mut out),
            Stmt::Show { .. } | Stmt::Print(_) => return None,
        }
        Some(out)
    }

    fn call(&mut self, s: &LocatedStmt, func: FunctionId, inverse: bool, args: &[Operand]) -> Option<Vec<Access>> {
        let flow = self.drops.flow(self.f, std::slice::from_ref(s));
        if flow.opaque {
            return None;
        }
        let access = |at: Location, adds| Access { at, window: None, adds, called: true };
        let changed = |at: &Location| [&flow.sums, &flow.changes, &flow.loans].iter().any(|set| set.contains(at));
        let mut out = Vec::new();
        let added: Vec<Location> = self.words.keys().copied().filter(changed).collect();
        if !added.is_empty() {
            let program = self.drops.program;
            let callee = program.functions.get(func.0 as usize).filter(|f| f.params.len() <= 64 && !inverse)?;
            let mut params = 0;
            for at in &added {
                let reaches = |(param, arg): (&crate::ir::Param, &Operand)| match (at, arg) {
                    (Location::Var(v), Operand::Var(arg)) => v == arg,
                    (Location::Region(r), Operand::Var(arg)) => {
                        callee.points(param.var).is_some() && self.f.points(*arg) == Some(*r)
                    }
                    // A word of an array would be passed on its own.
                    (Location::Region(r), Operand::Mem(m)) => m.region == *r && param.written,
                    _ => false,
                };
                let mut through = callee.params.iter().zip(args).enumerate().filter(|(_, pair)| reaches(*pair));
                let (n, (param, arg)) = through.next()?;
                let pointer = callee.points(param.var).is_some() == matches!(at, Location::Region(_));
                if through.next().is_some() || matches!(arg, Operand::Mem(_)) || !pointer {
                    return None;
                }
                params |= 1 << n;
            }
            let plan = self.drops.plan_of_function(func, params)?;
            for at in &added {
                let own = |(n, (param, arg)): (usize, (&crate::ir::Param, &Operand))| {
                    let Operand::Var(arg) = arg else { return None };
                    let arg = self.f.points(*arg).map_or(Location::Var(*arg), Location::Region);
                    let inner = callee.points(param.var).map_or(Location::Var(param.var), Location::Region);
                    (params >> n & 1 != 0 && arg == *at).then_some(inner)
                };
                let inner = callee.params.iter().zip(args).enumerate().find_map(own)?;
                let there = plan.words.get(&inner).copied().unwrap_or_default();
                let sums = self.words.entry(*at).or_default();
                sums.statements += there.statements;
                sums.repeated |= there.repeated;
                sums.depth += there.depth;
            }
            self.calls.insert(std::ptr::from_ref(s), params);
            out.extend(added.iter().map(|at| access(*at, true)));
        }
        out.extend(self.words.keys().filter(|at| flow.reads.contains(at)).map(|at| access(*at, false)));
        Some(out)
    }

    /// A computation within, which is undone on its own, and what is done between.
    fn inner(&mut self, compute: &[LocatedStmt], body: &[LocatedStmt], straight: bool) -> Option<Vec<Access>> {
        let mut out = self.own_block(compute)?;
        let part = self.block(body, straight)?;
        self.follow(&mut out, part)?;
        self.forget(compute);
        Some(out)
    }

    /// A block whose words are those of a computation within.
    fn own_block(&mut self, compute: &[LocatedStmt]) -> Option<Vec<Access>> {
        let mut own = HashMap::new();
        words(self.f, compute, &mut own);
        // They are no words of the computation around it.
        let hidden: Vec<(Location, Sums)> = own.keys().filter_map(|at| self.words.remove_entry(at)).collect();
        let done = self.block(compute, true);
        self.words.extend(hidden);
        // What it adds to words of the computation around it is subtracted again, after they were read.
        done.filter(|all| !all.iter().any(|access| access.adds))
    }

    fn condition(&mut self, condition: &Condition) -> Option<Vec<Access>> {
        let mut out = self.own_block(&condition.compute)?;
        self.test(&condition.test, &mut out);
        self.forget(&condition.compute);
        Some(out)
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
        let inner = self.block(body, false);
        match outer {
            Some(value) => self.values.insert(var, value),
            None => self.values.remove(&var),
        };
        self.forget(body);
        let mut inner = inner?;
        let added: Locations = inner.iter().filter(|a| a.adds).map(|a| a.at).collect();
        for at in added {
            let here: Vec<&Access> = inner.iter().filter(|a| a.at == at).collect();
            if matches!(step, Step::Const(by) if keeps_apart(&here, var, by)) {
                continue;
            }
            // A word may be added to in several turns; none may be read before the last of them. The number of turns must be known.
            // The limit would have to be handed on to functions.
            if here.iter().any(|a| !a.adds || a.called) || !matches!(step, Step::Const(_)) {
                return None;
            }
            let sums = self.words.entry(at).or_default();
            (sums.repeated, sums.depth) = (true, sums.depth + 1);
            self.repeats.entry(std::ptr::from_ref(s)).or_default().push(at);
        }
        let by = if let Step::Const(by) = step { Some(by) } else { None };
        for access in &mut inner {
            access.window = access.window.take().and_then(|window| swept(window, var, &ends, by));
        }
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
            out.push(Access { at, window, adds: false, called: false });
        }
    }

    /// The word of the computation that an operand is.
    fn word(&self, operand: Operand) -> Option<Location> {
        let at = match operand {
            Operand::Const(_) => return None,
            Operand::Var(v) => Location::Var(v),
            Operand::Mem(m) => Location::Region(m.region),
        };
        self.words.contains_key(&at).then_some(at)
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
