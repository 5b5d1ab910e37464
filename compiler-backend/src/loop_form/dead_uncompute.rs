//! Which computations need not be undone in C: those that write nothing but words
//! of their own, which are zero again in the end, whatever was made of them.
//!
//! A computation's own words are variables whose lives begin in it, and arrays.
//! Undoing it makes them zero, if what is done between changes nothing that it
//! reads or writes; then forgetting them comes to the same. Of floating-point
//! words that is exact only where one number is added to zero: (a + b) − b − a
//! may leave a rounding, for which a run might trap. `certify` tells where it would
//! not. Where that is not asked for (`fast`), such words are forgotten in any case.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::Certify;
use super::certify::{self, Asked, Plan, Spared, Sums, WordsApart};
use super::flow::{Flow, Location, Locations};
use super::parameters::{Same, same};
use super::seen_late::ends_whatever_its_numbers;

use crate::ir::effects::{Effects, Summaries, callees_first, walk, written_operands, written_places};
use crate::ir::{FunctionId, IrFunction, LocatedStmt, Operand, Program, Region, Stmt, Var};

/// What is to be done where a computation is forgotten.
#[derive(Debug, Default)]
pub(super) struct Own {
    vars: HashSet<Var>,
    regions: HashSet<Region>,
    /// Arrays, in the order in which they began: the base, and the length.
    pub(super) arrays: Vec<(Var, Operand)>,
}

/// Whether the words that an address parameter points to may be written, by parameter; `None` if other words may be.
type Reach = Option<Vec<bool>>;

/// What is known of a program for this.
pub(super) struct Drops<'a> {
    pub(super) program: &'a Program,
    summaries: Summaries,
    reach: HashMap<FunctionId, Reach>,
    /// What functions do.
    pub(super) flows: HashMap<FunctionId, Rc<Flow>>,
    /// Whether rounding may be forgotten.
    pub(super) fast: bool,
    /// Whether how long the program runs does not depend on floating-point numbers.
    pub(super) ends: bool,
    /// Which sums with small partial sums are forgotten.
    pub(super) certify: Certify,
    /// How computations are forgotten.
    plans: HashMap<*const LocatedStmt, Option<Rc<Plan>>>,
    /// The same of functions that add to words of their callers, through these parameters.
    function_plans: HashMap<(FunctionId, u64, Asked), Option<Rc<Plan>>>,
    /// Whether what computations read has the same values on the way back.
    same_values: HashMap<*const LocatedStmt, bool>,
    /// What keeps the words of functions apart.
    words_apart: HashMap<*const IrFunction, Rc<WordsApart>>,
    /// Whether words of functions' arrays that are not finite stay so.
    pub(super) not_finite: HashMap<(*const IrFunction, Region), bool>,
    /// Of which arrays the computations of functions are spared.
    spared: HashMap<*const IrFunction, Rc<Spared>>,
    /// Whether it is known what functions do that call one another.
    settled: bool,
    /// Functions that call themselves, and not by way of others.
    call_themselves: HashSet<FunctionId>,
    /// Parameters that have one value.
    same: Vec<Same>,
}

impl<'a> Drops<'a> {
    pub(super) fn new(program: &'a Program, fast: bool, certify: Certify) -> Drops<'a> {
        let mut drops = Drops {
            program,
            ends: ends_whatever_its_numbers(program, &Summaries::new(program)),
            summaries: Summaries::new(program),
            reach: HashMap::new(),
            flows: HashMap::new(),
            fast,
            certify,
            plans: HashMap::new(),
            function_plans: HashMap::new(),
            same_values: HashMap::new(),
            words_apart: HashMap::new(),
            not_finite: HashMap::new(),
            spared: HashMap::new(),
            settled: false,
            call_themselves: HashSet::new(),
            same: same(program),
        };
        for component in callees_first(program) {
            let component: Vec<FunctionId> = component.into_iter().map(|f| FunctionId(f as u32)).collect();
            if component.iter().any(|func| drops.summaries.get(*func).recursive) {
                drops.settle_flows(&component);
                drops.settle_reach(&component);
                if let &[alone] = component.as_slice() {
                    drops.call_themselves.insert(alone);
                }
            }
        }
        drops.settled = true;
        drops
    }

    /// Whether a function calls itself, and not by way of others.
    pub(super) fn calls_itself(&self, func: FunctionId) -> bool {
        self.call_themselves.contains(&func)
    }

    /// Finds out which parameters' words functions may write that call one another.
    fn settle_reach(&mut self, component: &[FunctionId]) {
        let params = |func: &FunctionId| self.program.functions.get(func.0 as usize).map_or(0, |f| f.params.len());
        self.reach.extend(component.iter().map(|func| (*func, Some(vec![false; params(func)]))));
        let mut settled = false;
        while !settled {
            settled = true;
            for func in component {
                let reach = self.reach_of_body(*func);
                settled &= self.reach.insert(*func, reach.clone()) == Some(reach);
            }
        }
    }

    /// The parameters of a function that have the value of an earlier one.
    pub(super) fn same_params(&self, f: &IrFunction) -> Same {
        let n = self.program.functions.iter().position(|other| std::ptr::eq(f, other));
        n.map(|n| self.same[n].clone()).unwrap_or_default()
    }

    /// How a function adds to words of a computation that calls it; `None` if it calls itself, or may add to one after it was read.
    pub(super) fn plan_of_function(&mut self, func: FunctionId, params: u64, asked: Asked) -> Option<Rc<Plan>> {
        if let Some(known) = self.function_plans.get(&(func, params, asked)) {
            return known.clone();
        }
        // What a function that calls itself reads of its own is the same if it is apart from the calls: then it is at each depth.
        let assumed = params == 0 && asked == Asked::Values && self.calls_itself(func);
        self.function_plans.insert((func, params, asked), assumed.then(Rc::default));
        let program = self.program;
        let f = program.functions.get(func.0 as usize)?;
        let plan = certify::plan_of_function(self, f, params, asked).map(Rc::new);
        self.function_plans.insert((func, params, asked), plan.clone());
        plan
    }

    /// How the words of a computation are forgotten, if each is complete before it is read.
    pub(super) fn plan(&mut self, f: &IrFunction, compute: &[LocatedStmt]) -> Option<Rc<Plan>> {
        if let Some(known) = self.plans.get(&compute.as_ptr()) {
            return known.clone();
        }
        let plan = certify::plan(self, f, compute).map(Rc::new);
        if !compute.is_empty() {
            self.plans.insert(compute.as_ptr(), plan.clone());
        }
        plan
    }

    /// What keeps the words of a function apart.
    pub(super) fn words_apart(&mut self, f: &IrFunction) -> Rc<WordsApart> {
        if let Some(known) = self.words_apart.get(&std::ptr::from_ref(f)) {
            return known.clone();
        }
        let apart = Rc::new(certify::words_apart(self, f));
        self.words_apart.insert(f, apart.clone());
        apart
    }

    /// The arrays of which what is done before a computation is undone adds to no word that it reads.
    pub(super) fn spared(&mut self, f: &IrFunction, compute: &[LocatedStmt]) -> Locations {
        if !self.settled {
            return Locations::new();
        }
        if !self.spared.contains_key(&std::ptr::from_ref(f)) {
            // Whoever asks while it is being found out learns nothing.
            self.spared.insert(f, Rc::default());
            let found = certify::spared(self, f);
            self.spared.insert(f, Rc::new(found));
        }
        self.spared[&std::ptr::from_ref(f)].get(&compute.as_ptr()).cloned().unwrap_or_default()
    }

    /// Whether what a computation reads has the same values when it is undone as when it is made.
    fn reads_the_same(&mut self, f: &IrFunction, compute: &[LocatedStmt]) -> bool {
        if let Some(known) = self.same_values.get(&compute.as_ptr()) {
            return *known;
        }
        let same = certify::reads_the_same(self, f, compute);
        self.same_values.insert(compute.as_ptr(), same);
        same
    }

    /// A computation's own words, if it writes nothing else.
    pub(super) fn own(&mut self, f: &IrFunction, compute: &[LocatedStmt]) -> Option<Own> {
        let mut own = Own::default();
        begin(compute, true, &mut own)?;
        self.writes_only(f, compute, &own).then_some(own)
    }

    /// Whether undoing a computation after `body` and doing it again comes to where it was.
    pub(super) fn is_recomputable(&mut self, f: &IrFunction, compute: &[LocatedStmt], body: &[LocatedStmt]) -> bool {
        // Effects do not tell which memory a call changes.
        (self.is_undisturbed(compute, body) || self.is_independent_of(f, compute, body))
            && (self.fast || !self.rounds_words_of(f, compute, body))
    }

    /// The same, as far as effects tell.
    pub(super) fn is_undisturbed(&self, compute: &[LocatedStmt], body: &[LocatedStmt]) -> bool {
        let done = Effects::of_block(&self.summaries, compute);
        !Effects::of_block(&self.summaries, body).disturbs(&done)
    }

    /// A computation's own words, if it need not be undone after `body`, and how they are forgotten. Where that is not known, undoing it
    /// reads words that are not complete.
    pub(super) fn forgotten(
        &mut self,
        f: &IrFunction,
        compute: &[LocatedStmt],
        body: &[LocatedStmt],
    ) -> Option<(Own, Option<Rc<Plan>>)> {
        let own = self.own(f, compute)?;
        if !self.is_recomputable(f, compute, body) {
            return None;
        }
        let plan = self.plan(f, compute);
        let exact = plan.as_ref().is_some_and(|p| p.words.iter().all(|(at, sums)| self.forgets(*at, *sums)));
        (self.fast || exact).then_some((own, plan))
    }

    /// Whether what a computation reads has the same values when it is made, made again on the way back, and undone: it is complete before
    /// it is read.
    pub(super) fn is_same_on_the_way_back(
        &mut self,
        f: &IrFunction,
        compute: &[LocatedStmt],
        body: &[LocatedStmt],
    ) -> bool {
        self.own(f, compute).is_some()
            && self.is_recomputable(f, compute, body)
            && (self.fast || self.reads_the_same(f, compute))
    }

    /// Whether a word of a plan is forgotten.
    pub(super) fn forgets(&self, at: Location, sums: Sums) -> bool {
        let is_array = matches!(at, Location::Region(_));
        !sums.is_limited()
            || match self.certify {
                Certify::Everything => true,
                Certify::Arrays => is_array,
                Certify::Nothing => false,
            }
    }

    /// How words of a computation are forgotten where others must be undone. What is added to these comes out the same again, as all words are
    /// complete before they are read.
    pub(super) fn partly_forgotten(
        &mut self,
        f: &IrFunction,
        compute: &[LocatedStmt],
        body: &[LocatedStmt],
    ) -> Option<Rc<Plan>> {
        self.own(f, compute)?;
        if self.fast || !self.is_recomputable(f, compute, body) {
            return None;
        }
        let plan = self.plan(f, compute)?;
        plan.words.iter().any(|(at, sums)| self.forgets(*at, *sums)).then_some(plan)
    }

    /// Whether a block writes only these words.
    fn writes_only(&mut self, f: &IrFunction, block: &[LocatedStmt], own: &Own) -> bool {
        block.iter().all(|s| match &s.stmt {
            Stmt::Update { dst, .. } => is_own(own, (*dst).into()),
            Stmt::Permute { row, args, .. } => args.iter().take(written_operands(*row)).all(|a| is_own(own, *a)),
            Stmt::Ancilla { var, .. } => own.vars.contains(var),
            Stmt::Array { base, .. } => own.vars.contains(base),
            Stmt::Call { func, args, .. } => self.call_writes_only(f, *func, args, own),
            Stmt::If { pre, post, then, otherwise } => {
                [&pre.compute, &post.compute, then, otherwise].into_iter().all(|b| self.writes_only(f, b, own))
            }
            Stmt::While { pre, post, first, body } => {
                [&pre.compute, &post.compute, first, body].into_iter().all(|b| self.writes_only(f, b, own))
            }
            Stmt::For { body, .. } | Stmt::Span { body, .. } => self.writes_only(f, body, own),
            Stmt::With { compute, body, .. } => [compute, body].into_iter().all(|b| self.writes_only(f, b, own)),
            Stmt::Assert { .. } => true,
            Stmt::Show { .. } | Stmt::Print(_) => false,
        })
    }

    fn call_writes_only(&mut self, f: &IrFunction, func: FunctionId, args: &[Operand], own: &Own) -> bool {
        let program = self.program;
        let Some(callee) = program.functions.get(func.0 as usize) else { return false };
        let Some(reach) = self.reach(func) else { return false };
        callee.params.iter().zip(args).zip(reach).all(|((param, arg), written)| {
            let passed = !param.written || is_own(own, *arg);
            let reached =
                !written || matches!(arg, Operand::Var(v) if f.points(*v).is_some_and(|r| own.regions.contains(&r)));
            passed && reached
        })
    }

    /// Which parameters' words a function may write by their addresses.
    fn reach(&mut self, func: FunctionId) -> Reach {
        if let Some(known) = self.reach.get(&func) {
            return known.clone();
        }
        let reach = self.reach_of_body(func);
        self.reach.insert(func, reach.clone());
        reach
    }

    fn reach_of_body(&mut self, func: FunctionId) -> Reach {
        let program = self.program;
        let f = program.functions.get(func.0 as usize)?;
        let mut own: HashSet<Region> = HashSet::new();
        let mut written: HashSet<Region> = HashSet::new();
        let mut unknown = false;
        let mut calls = Vec::new();
        walk(&f.body, &mut |s| {
            written_places(
                &s.stmt,
                |_, _| false,
                |place| {
                    if let Operand::Mem(m) = place {
                        written.insert(m.region);
                    }
                },
            );
            if let Stmt::Array { region, .. } = &s.stmt {
                own.insert(*region);
            } else if let Stmt::Call { func, args, .. } = &s.stmt {
                calls.push((*func, args));
            }
        });
        for (callee, args) in calls {
            let reach = self.reach(callee)?;
            let params = program.functions.get(callee.0 as usize).map_or(&[][..], |c| &c.params);
            for ((arg, reached), param) in args.iter().zip(reach).zip(params) {
                if let (Operand::Mem(m), true) = (arg, param.written) {
                    written.insert(m.region);
                }
                if reached {
                    match arg {
                        Operand::Var(v) => match f.points(*v) {
                            Some(region) => {
                                written.insert(region);
                            }
                            None => unknown = true,
                        },
                        Operand::Const(_) | Operand::Mem(_) => unknown = true,
                    }
                }
            }
        }
        let of: Vec<Option<Region>> = f.params.iter().map(|p| f.points(p.var)).collect();
        let regions_known = written.iter().all(|r| own.contains(r) || of.contains(&Some(*r)));
        (!unknown && regions_known).then(|| of.iter().map(|r| r.is_some_and(|r| written.contains(&r))).collect())
    }
}

fn is_own(own: &Own, operand: Operand) -> bool {
    match operand {
        Operand::Const(_) => true,
        Operand::Var(v) => own.vars.contains(&v),
        Operand::Mem(m) => own.regions.contains(&m.region),
    }
}

/// Collects what begins in a block; `None` if an array begins where that may not come to be, or comes to be more than once.
fn begin(block: &[LocatedStmt], straight: bool, own: &mut Own) -> Option<()> {
    for s in block {
        match &s.stmt {
            Stmt::Ancilla { var, .. } => {
                own.vars.insert(*var);
            }
            Stmt::Array { base, len, region, free, .. } => {
                own.vars.insert(*base);
                own.regions.insert(*region);
                match free {
                    false => own.arrays.push((*base, *len)),
                    // What ends within it is not left.
                    true => own.arrays.retain(|(b, _)| b != base),
                }
                if !straight {
                    return None;
                }
            }
            Stmt::For { var, body, .. } => {
                own.vars.insert(*var);
                begin(body, false, own)?;
            }
            Stmt::If { pre, post, then, otherwise } => {
                for b in [&pre.compute, &post.compute, then, otherwise] {
                    begin(b, false, own)?;
                }
            }
            Stmt::While { pre, post, first, body } => {
                for b in [&pre.compute, &post.compute, first, body] {
                    begin(b, false, own)?;
                }
            }
            Stmt::With { compute, body, .. } => {
                // What it computes ends within it.
                let mut inner = Own::default();
                begin(compute, true, &mut inner)?;
                own.vars.extend(inner.vars);
                own.regions.extend(inner.regions);
                begin(body, straight, own)?;
            }
            Stmt::Span { body, .. } => begin(body, straight, own)?,
            Stmt::Update { .. }
            | Stmt::Permute { .. }
            | Stmt::Call { .. }
            | Stmt::Assert { .. }
            | Stmt::Show { .. }
            | Stmt::Print(_) => {}
        }
    }
    Some(())
}
