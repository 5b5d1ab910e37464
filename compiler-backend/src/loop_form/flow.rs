//! What a block reads, what it adds to and never looks at, what it changes
//! otherwise: turns of a loop that only add to words which nothing looks at can be
//! taken back, with gradients, one by one.

use std::collections::HashSet;
use std::rc::Rc;

use pendula_isa::{Acc, Ty};

use super::dead_uncompute::Drops;
use crate::ir::effects::written_operands;
use crate::ir::{Condition, FunctionId, IrFunction, LocatedStmt, Mem, Operand, Region, Stmt, Test, Var};

/// A variable, or a stretch of memory as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Location {
    Var(Var),
    Region(Region),
}

impl IrFunction {
    /// Whether a word, or a stretch of memory, has floating-point numbers.
    pub(super) fn is_float(&self, at: Location) -> bool {
        match at {
            Location::Var(v) => self.ty(v) == Ty::F,
            Location::Region(r) => self.regions.get(r.0 as usize).is_none_or(|r| r.ty == Ty::F),
        }
    }

    /// The word that a parameter is, or the words that it points to.
    pub(super) fn lent_as(&self, param: Var) -> Location {
        self.points(param).map_or(Location::Var(param), Location::Region)
    }
}

pub(super) type Locations = HashSet<Location>;

/// What a block does to what lives longer than it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Flow {
    /// What is looked at.
    pub(super) reads: Locations,
    /// What is added to.
    pub(super) sums: Locations,
    /// What is changed otherwise.
    pub(super) changes: Locations,
    /// What is changed, and brought back.
    pub(super) loans: Locations,
    /// Whether it does what is not told here.
    pub(super) opaque: bool,
}

impl Flow {
    fn opaque() -> Flow {
        Flow { opaque: true, ..Flow::default() }
    }

    /// Whether all that it does in the end is to add to words that it does not look at.
    pub(super) fn only_adds(&self) -> bool {
        !self.opaque
            && self.changes.is_empty()
            && self.sums.is_disjoint(&self.reads)
            && self.sums.is_disjoint(&self.loans)
    }

    /// Whether all changes to this are that something is added to it.
    pub(super) fn only_adds_to(&self, at: Location) -> bool {
        !self.opaque && self.sums.contains(&at) && ![&self.loans, &self.changes].iter().any(|set| set.contains(&at))
    }

    /// Whether the other block, which comes later, might as well come before, but for the order of sums.
    pub(super) fn commutes(&self, later: &Flow) -> bool {
        !later.opaque
            && later.changes.iter().chain(&later.loans).all(|t| !self.sums.contains(t))
            && later.changes.iter().all(|t| !self.reads.contains(t) && !self.loans.contains(t))
            && later.sums.iter().all(|t| !self.reads.contains(t) && !self.loans.contains(t))
            && later.reads.is_disjoint(&self.sums)
    }

    /// Whether another block, done after this one, which has these lives, changes nothing that this one has to do with.
    fn is_independent_of(&self, lives: &Locations, later: &Flow) -> bool {
        let mut changed = later.sums.iter().chain(&later.changes);
        let has = |t: &Location| {
            [&self.reads, &self.sums, &self.changes, &self.loans, lives].iter().any(|set| set.contains(t))
        };
        !self.opaque && !later.opaque && !changed.any(has)
    }

    fn read(&mut self, operand: Operand) {
        match operand {
            Operand::Const(_) => {}
            Operand::Var(v) => {
                self.reads.insert(Location::Var(v));
            }
            Operand::Mem(m) => {
                self.address(m);
                self.reads.insert(Location::Region(m.region));
            }
        }
    }

    fn address(&mut self, mem: Mem) {
        self.reads.extend(mem.vars().map(Location::Var));
    }

    fn write(&mut self, operand: Operand, sum: bool) {
        let thing = match operand {
            Operand::Const(_) => return,
            Operand::Var(v) => Location::Var(v),
            Operand::Mem(m) => {
                self.address(m);
                Location::Region(m.region)
            }
        };
        if sum {
            self.sums.insert(thing)
        } else {
            self.changes.insert(thing)
        };
    }

    fn test(&mut self, test: &Test) {
        self.read(test.a);
        self.read(test.b);
    }

    fn add(&mut self, other: &Flow) {
        self.reads.extend(&other.reads);
        self.sums.extend(&other.sums);
        self.changes.extend(&other.changes);
        self.loans.extend(&other.loans);
        self.opaque |= other.opaque;
    }

    /// As of a block that is undone again.
    fn lent(mut self) -> Flow {
        let back: Vec<Location> = self.sums.drain().chain(self.changes.drain()).collect();
        self.loans.extend(back);
        self
    }

    fn without(&mut self, locals: &Locations) {
        for set in [&mut self.reads, &mut self.sums, &mut self.changes, &mut self.loans] {
            set.retain(|t| !locals.contains(t));
        }
    }
}

impl Drops<'_> {
    /// What a block does.
    pub(super) fn flow(&mut self, f: &IrFunction, block: &[LocatedStmt]) -> Flow {
        let mut locals = Locations::new();
        let (mut flow, begun) = self.flow_and_lives(f, block, &mut locals);
        flow.changes.extend(begun);
        flow.without(&locals);
        flow
    }

    /// The same, and what begins its life without ending it; what does both is added to the locals.
    fn flow_and_lives(&mut self, f: &IrFunction, block: &[LocatedStmt], locals: &mut Locations) -> (Flow, Locations) {
        let mut flow = Flow::default();
        let mut begun = Locations::new();
        for s in block {
            match &s.stmt {
                Stmt::Update { acc, dst, args, .. } => {
                    args.iter().for_each(|a| flow.read(*a));
                    // Integers are not rounded, but indices and bounds are made of them: they are looked at if at all.
                    flow.write((*dst).into(), *acc == Acc::Add);
                }
                Stmt::Permute { row, args, .. } => {
                    args.iter().for_each(|a| flow.read(*a));
                    args.iter().take(written_operands(*row)).for_each(|a| flow.write(*a, false));
                }
                Stmt::Ancilla { var, free, .. } => live(&mut flow, &mut begun, locals, *free, &[Location::Var(*var)]),
                Stmt::Array { base, len, region, free, .. } => {
                    flow.read(*len);
                    live(&mut flow, &mut begun, locals, *free, &[Location::Var(*base), Location::Region(*region)]);
                }
                Stmt::Call { func, args, .. } => self.flow_of_call(f, *func, args, &mut flow),
                Stmt::If { pre, post, then, otherwise } => {
                    for condition in [pre, post] {
                        self.flow_of_condition(f, condition, &mut flow);
                    }
                    for block in [then, otherwise] {
                        let part = self.flow(f, block);
                        flow.add(&part);
                    }
                }
                Stmt::While { pre, post, first, body } => {
                    for condition in [pre, post] {
                        self.flow_of_condition(f, condition, &mut flow);
                    }
                    for block in [first, body] {
                        let part = self.flow(f, block);
                        flow.add(&part);
                    }
                }
                Stmt::For { var, first, last, step, body, .. } => {
                    flow.read(*first);
                    flow.read(*last);
                    if let crate::ir::Step::Var { var, .. } = step {
                        flow.read(Operand::Var(*var));
                    }
                    let mut part = self.flow(f, body);
                    part.without(&Locations::from([Location::Var(*var)]));
                    flow.add(&part);
                }
                Stmt::With { compute, body, .. } => {
                    let mut inner = Locations::new();
                    let (part, left) = self.flow_and_lives(f, compute, &mut inner);
                    inner.extend(left);
                    let within = self.flow(f, body);
                    let mut part = part.lent();
                    part.opaque |= !self.is_undisturbed(compute, body)
                        && !part.is_independent_of(&inner, &within)
                        && !self.is_spared(f, compute, &part, &inner, &within);
                    part.add(&within);
                    part.without(&inner);
                    flow.add(&part);
                }
                Stmt::Span { body, .. } => {
                    let (part, left) = self.flow_and_lives(f, body, locals);
                    flow.add(&part);
                    begun.extend(left);
                }
                Stmt::Assert { test, .. } => flow.test(test),
                Stmt::Show { .. } | Stmt::Print(_) => flow.opaque = true,
            }
        }
        (flow, begun)
    }

    /// Whether a block changes floating-point words that live longer, and brings them back but for rounding.
    pub(super) fn drifts(&self, f: &IrFunction, flow: &Flow) -> bool {
        flow.loans.iter().any(|at| f.is_float(*at))
    }

    /// Whether a block leaves floating-point words with which another one, done before it, has to do, brought back but for rounding.
    pub(super) fn rounds_words_of(&mut self, f: &IrFunction, compute: &[LocatedStmt], body: &[LocatedStmt]) -> bool {
        let later = self.flow(f, body);
        if !self.drifts(f, &later) {
            return false;
        }
        let mut inner = Locations::new();
        let (part, left) = self.flow_and_lives(f, compute, &mut inner);
        let sets = [&part.reads, &part.sums, &part.changes, &part.loans, &left];
        later.loans.iter().any(|at| f.is_float(*at) && sets.iter().any(|set| set.contains(at)))
    }

    /// Whether a block changes nothing that another one, done before it, has to do with.
    pub(super) fn is_independent_of(&mut self, f: &IrFunction, compute: &[LocatedStmt], body: &[LocatedStmt]) -> bool {
        let mut inner = Locations::new();
        let (part, left) = self.flow_and_lives(f, compute, &mut inner);
        inner.extend(left);
        let later = self.flow(f, body);
        part.is_independent_of(&inner, &later) || self.is_spared(f, compute, &part, &inner, &later)
    }

    /// Whether a computation, which does this and has these lives, is independent of what comes later if that adds to other words of arrays than it reads.
    fn is_spared(
        &mut self,
        f: &IrFunction,
        compute: &[LocatedStmt],
        part: &Flow,
        lives: &Locations,
        later: &Flow,
    ) -> bool {
        if part.opaque || later.opaque || !later.sums.iter().any(|at| part.reads.contains(at) && f.is_float(*at)) {
            return false;
        }
        let spared = self.spared(f, compute);
        let mut later = later.clone();
        later.sums.retain(|at| !spared.contains(at));
        part.is_independent_of(lives, &later)
    }

    fn flow_of_condition(&mut self, f: &IrFunction, condition: &Condition, flow: &mut Flow) {
        let mut inner = Locations::new();
        let (mut part, left) = self.flow_and_lives(f, &condition.compute, &mut inner);
        part.test(&condition.test);
        let mut part = part.lent();
        inner.extend(left);
        part.without(&inner);
        flow.add(&part);
    }

    /// What a call does, if that is known.
    pub(super) fn flow_of_one_call(&mut self, f: &IrFunction, func: FunctionId, args: &[Operand]) -> Option<Flow> {
        let mut flow = Flow::default();
        self.flow_of_call(f, func, args, &mut flow);
        (!flow.opaque).then_some(flow)
    }

    fn flow_of_call(&mut self, f: &IrFunction, func: FunctionId, args: &[Operand], flow: &mut Flow) {
        let program = self.program;
        let Some(callee) = program.functions.get(func.0 as usize) else { return flow.opaque = true };
        let Some(inner) = self.flow_of_function(func) else { return flow.opaque = true };
        let mut to: Vec<(Location, Location)> = Vec::new();
        for (param, arg) in callee.params.iter().zip(args) {
            match arg {
                Operand::Const(_) => {}
                Operand::Var(v) => to.push((Location::Var(param.var), Location::Var(*v))),
                Operand::Mem(m) => {
                    flow.address(*m);
                    to.push((Location::Var(param.var), Location::Region(m.region)));
                }
            }
            if let Some(region) = callee.points(param.var) {
                match arg {
                    Operand::Var(v) if f.points(*v).is_some() => {
                        to.extend(f.points(*v).map(|r| (Location::Region(region), Location::Region(r))));
                    }
                    _ => flow.opaque = true,
                }
            }
        }
        // Several parameters may be one word or one stretch.
        let mut map = |from: &Locations, into: fn(&mut Flow) -> &mut Locations| {
            for thing in from {
                let mut found = false;
                for (_, caller) in to.iter().filter(|(callee, _)| callee == thing) {
                    into(flow).insert(*caller);
                    found = true;
                }
                let constant = matches!(thing, Location::Var(v) if callee.params.iter().any(|p| p.var == *v));
                flow.opaque |= !found && !constant;
            }
        };
        map(&inner.reads, |f| &mut f.reads);
        map(&inner.sums, |f| &mut f.sums);
        map(&inner.changes, |f| &mut f.changes);
        map(&inner.loans, |f| &mut f.loans);
        flow.opaque |= inner.opaque;
    }

    /// What a function does to its parameters and what they point to.
    pub(super) fn flow_of_function(&mut self, func: FunctionId) -> Option<Rc<Flow>> {
        if let Some(known) = self.flows.get(&func) {
            return Some(known.clone());
        }
        let flow = self.flow_of_body(func).map(Rc::new)?;
        self.flows.insert(func, flow.clone());
        Some(flow)
    }

    /// Finds out what functions do that call one another: what they do apart from that, and what follows from it.
    pub(super) fn settle_flows(&mut self, component: &[FunctionId]) {
        self.flows.extend(component.iter().map(|func| (*func, Rc::default())));
        let mut settled = false;
        while !settled {
            settled = true;
            for func in component {
                let Some(flow) = self.flow_of_body(*func) else { continue };
                let known = self.flows.insert(*func, Rc::new(flow.clone()));
                settled &= known.is_some_and(|known| *known == flow);
            }
        }
    }

    fn flow_of_body(&mut self, func: FunctionId) -> Option<Flow> {
        let program = self.program;
        let f = program.functions.get(func.0 as usize)?;
        let flow = self.flow(f, &f.body);
        let flow = if f.params.iter().filter(|p| !p.written).any(|p| {
            // It is changed on the way, and is the caller's again in the end.
            [&flow.sums, &flow.changes].iter().any(|set| set.contains(&Location::Var(p.var)))
        }) {
            Flow::opaque()
        } else {
            flow
        };
        Some(flow)
    }
}

/// A life begins or ends.
fn live(flow: &mut Flow, begun: &mut Locations, locals: &mut Locations, ends: bool, things: &[Location]) {
    for thing in things {
        if !ends {
            begun.insert(*thing);
        } else if begun.remove(thing) {
            locals.insert(*thing);
        } else {
            flow.changes.insert(*thing);
        }
    }
}
