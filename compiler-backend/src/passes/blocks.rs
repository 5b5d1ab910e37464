//! Loops whose turns are added up in blocks of [`BLOCK`].
//!
//! What the turns of a block add to a word is added up first, each turn's part in a variable of its own, as
//! ((p₀+p₄) + (p₂+p₆)) + ((p₁+p₅) + (p₃+p₇)), and this sum is added to the word. The parts are undone exactly, because one number was
//! added to each. Turns beyond the last whole block add to the word as in any loop. So sums of floating-point numbers have a defined
//! order in which the machine's vectors can make them.
//!
//! Passes see a loop of single turns. [`expand`] makes it one of blocks, for what runs programs; the [loop form](crate::loop_form) has
//! blocks itself.

use std::borrow::Cow;

use pendula_isa::table::{TableFn, f_fn, int_fn};
use pendula_isa::{Acc, Ty};

use super::hoist::moved;
use super::rewrite::{Slot, SlotMut, Substitution, each_block, each_for, each_stmt, slots, slots_mut};
use super::table::{FastMap, FastSet};
use crate::ir::effects::{Summaries, trip_count, walk};
use crate::ir::{
    AncillaChecks, BLOCK, Block, Blocks, IrFunction, Loc, LocatedStmt, Operand, Place, Program, Step, Stmt, Var,
    VarInfo, invert,
};

/// The largest step of a loop with blocks.
const MAX_STEP: u64 = 1 << 31;

/// A word that is added up in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum {
    /// The word.
    pub place: Place,
    /// Whether the turns subtract from it.
    pub inverse: bool,
}

/// Makes loops of single turns of those that ask for blocks and add nothing up that could be.
pub fn settle(program: &mut Program, summaries: &Summaries) {
    let flat = flat_functions(program, summaries);
    for function in &mut program.functions {
        let IrFunction { body, vars, .. } = function;
        each_for(body, &mut |s| {
            if is_marked(s) {
                settle_loop(s, vars, &flat, summaries);
            }
        });
    }
}

fn settle_loop(s: &mut LocatedStmt, vars: &mut Vec<VarInfo>, flat: &[bool], summaries: &Summaries) {
    let has_sums = |stmt: &Stmt, vars: &[VarInfo]| {
        let ty = |v: Var| vars.get(v.0 as usize).map_or(Ty::Int, |v| v.ty);
        sums(stmt, summaries, &ty).is_some_and(|sums| !sums.is_empty())
    };
    if is_fit(&s.stmt, flat) {
        if has_sums(&s.stmt, vars) {
            return;
        }
        // The address of an element may be computed in each turn.
        let mut other = s.clone();
        if let Stmt::For { var, body, .. } = &mut other.stmt {
            let compute = moved(*var, body, vars, summaries, false);
            if !compute.is_empty() && has_sums(&other.stmt, vars) {
                s.stmt = Stmt::With { name: "hoisted".into(), compute, body: vec![other] };
                return;
            }
        }
    }
    if let Stmt::For { blocks, .. } = &mut s.stmt {
        *blocks = None;
    }
}

/// Which functions have neither loops nor arrays of their own, nor do those that they call.
fn flat_functions(program: &Program, summaries: &Summaries) -> Vec<bool> {
    let mut flat: Vec<bool> = (0..program.functions.len() as u32)
        .map(|n| {
            let summary = summaries.get(crate::ir::FunctionId(n));
            !summary.recursive && !summary.shows && !summary.writes_memory
        })
        .collect();
    loop {
        let before = flat.clone();
        for (n, f) in program.functions.iter().enumerate() {
            flat[n] &= is_flat(&f.body, &before);
        }
        if flat == before {
            return flat;
        }
    }
}

fn is_flat(block: &[LocatedStmt], flat: &[bool]) -> bool {
    let mut fit = true;
    walk(block, &mut |s| match &s.stmt {
        Stmt::For { .. } | Stmt::While { .. } | Stmt::Array { .. } | Stmt::Show { .. } | Stmt::Print(_) => fit = false,
        Stmt::Call { func, .. } => fit &= flat.get(func.0 as usize) == Some(&true),
        _ => {}
    });
    fit
}

/// Whether a loop's turns can be made in blocks.
fn is_fit(stmt: &Stmt, flat: &[bool]) -> bool {
    let Stmt::For { step: Step::Const(by), body, .. } = stmt else { return false };
    by.unsigned_abs() <= MAX_STEP && is_flat(body, flat)
}

/// The words to which a loop's turns add, if they do nothing else in the end, do not look at these words, and add to each at most once.
pub fn sums(stmt: &Stmt, summaries: &Summaries, ty: &dyn Fn(Var) -> Ty) -> Option<Vec<Sum>> {
    let Stmt::For { var, body, step: Step::Const(_), .. } = stmt else { return None };
    let mut own = FastSet::from_iter([*var]);
    walk(body, &mut |s| {
        if let Stmt::Ancilla { var, .. } = &s.stmt {
            own.insert(*var);
        }
    });
    let mut survey = Survey { own, summaries, ty, sums: Vec::new() };
    let adds = survey.block(body, false)?;
    let once = adds.values().all(|n| *n == 1);
    (once && survey.is_apart(body)).then_some(survey.sums)
}

struct Survey<'a> {
    /// Variables that live in a turn.
    own: FastSet<Var>,
    summaries: &'a Summaries,
    ty: &'a dyn Fn(Var) -> Ty,
    sums: Vec<Sum>,
}

/// How often words are added to.
type Adds = FastMap<Place, usize>;

impl Survey<'_> {
    /// How often a block adds to words other than its own; `None` if it does something else to them. `undone` is whether it is undone
    /// again.
    fn block(&mut self, block: &[LocatedStmt], undone: bool) -> Option<Adds> {
        let mut all = Adds::default();
        for s in block {
            for (place, n) in self.statement(&s.stmt, undone)? {
                *all.entry(place).or_default() += n;
            }
        }
        Some(all)
    }

    fn statement(&mut self, stmt: &Stmt, undone: bool) -> Option<Adds> {
        let mut adds = Adds::default();
        match stmt {
            Stmt::Update { acc, inverse, func, dst, .. } => {
                if !matches!(dst, Place::Var(v) if self.own.contains(v)) {
                    self.sum(*dst, *inverse, !undone && *acc == Acc::Add && func.info().ty == Ty::F)?;
                    adds.insert(*dst, 1);
                }
            }
            Stmt::If { pre, post, then, otherwise } => {
                for condition in [pre, post] {
                    self.block(&condition.compute, true)?;
                }
                adds = self.block(then, undone)?;
                for (place, n) in self.block(otherwise, undone)? {
                    let most = adds.entry(place).or_default();
                    *most = n.max(*most);
                }
            }
            Stmt::With { compute, body, .. } => {
                self.block(compute, true)?;
                adds = self.block(body, undone)?;
            }
            Stmt::Span { body, .. } => adds = self.block(body, undone)?,
            Stmt::Permute { .. } | Stmt::Call { .. } | Stmt::Ancilla { .. } | Stmt::Assert { .. } => {
                let mut only_own = true;
                slots(stmt, self.summaries, &mut |slot| {
                    if let Slot::Written(o) = slot {
                        only_own &= matches!(o, Operand::Var(v) if self.own.contains(v));
                    }
                });
                if !only_own {
                    return None;
                }
            }
            // What inlining brings.
            Stmt::Array { .. } | Stmt::For { .. } | Stmt::While { .. } | Stmt::Show { .. } | Stmt::Print(_) => {
                return None;
            }
        }
        Some(adds)
    }

    /// Notes a word that is added to.
    fn sum(&mut self, place: Place, inverse: bool, is_sum: bool) -> Option<()> {
        let fixed = match place {
            Place::Var(v) => (self.ty)(v) == Ty::F,
            Place::Mem(m) => m.vars().all(|v| !self.own.contains(&v)),
        };
        let known = self.sums.iter().find(|sum| sum.place == place);
        if !is_sum || !fixed || known.is_some_and(|sum| sum.inverse != inverse) {
            return None;
        }
        if known.is_none() {
            self.sums.push(Sum { place, inverse });
        }
        Some(())
    }

    /// Whether nothing looks at the sums, and they are different words.
    fn is_apart(&self, body: &[LocatedStmt]) -> bool {
        let mut apart = true;
        walk(body, &mut |s| {
            let mut check = |o: Operand, written: bool| {
                apart &= self.sums.iter().all(|sum| match (o, sum.place) {
                    (Operand::Var(v), Place::Var(w)) => v != w || written,
                    (Operand::Mem(m), Place::Mem(n)) => {
                        let other = (m.base, m.index) == (n.base, n.index) && m.offset != n.offset;
                        m.region != n.region || written && (m == n || other)
                    }
                    (Operand::Mem(m), Place::Var(w)) => m.vars().all(|v| v != w),
                    (Operand::Var(_), Place::Mem(_)) | (Operand::Const(_), _) => true,
                });
            };
            slots(&s.stmt, self.summaries, &mut |slot| match slot {
                Slot::Place(place) => check((*place).into(), true),
                slot => _ = slot.operand().map(|o| check(o, false)),
            });
            if let Stmt::Call { func, .. } = &s.stmt {
                let memory = self.sums.iter().any(|sum| matches!(sum.place, Place::Mem(_)));
                apart &= !(memory && self.summaries.get(*func).reads_memory);
            }
        });
        apart
    }
}

/// The program with blocks of turns written out.
pub fn expand(program: &Program) -> Cow<'_, Program> {
    let mut found = false;
    program.functions.iter().for_each(|f| walk(&f.body, &mut |s| found |= is_marked(s)));
    if !found {
        return Cow::Borrowed(program);
    }
    let mut program = program.clone();
    let summaries = Summaries::new(&program);
    for f in &mut program.functions {
        let mut body = std::mem::take(&mut f.body);
        each_block(&mut body, &mut |block| {
            for s in std::mem::take(block) {
                match is_marked(&s) {
                    true => block.extend(Expansion { f, summaries: &summaries, loc: s.loc }.statement(s)),
                    false => block.push(s),
                }
            }
        });
        f.body = body;
    }
    Cow::Owned(program)
}

fn is_marked(s: &LocatedStmt) -> bool {
    matches!(s.stmt, Stmt::For { blocks: Some(_), .. })
}

struct Expansion<'a> {
    f: &'a mut IrFunction,
    summaries: &'a Summaries,
    loc: Loc,
}

impl Expansion<'_> {
    fn at(&self, stmt: Stmt) -> LocatedStmt {
        stmt.at(self.loc)
    }

    fn statement(&mut self, mut s: LocatedStmt) -> Block {
        let Stmt::For { blocks, .. } = &mut s.stmt else { return vec![s] };
        if *blocks == Some(Blocks::FromLast) {
            let inverse = LocatedStmt { stmt: invert::invert(&s.stmt), loc: s.loc };
            return invert::block(&self.statement(inverse));
        }
        *blocks = None;
        let vars = &self.f.vars;
        let found = sums(&s.stmt, self.summaries, &|v| vars.get(v.0 as usize).map_or(Ty::Int, |v| v.ty));
        let Stmt::For { var, first, last, step: Step::Const(by), body, .. } = &s.stmt else { return vec![s] };
        let Some(sums) = found.filter(|sums| !sums.is_empty()) else { return vec![s] };
        if trip_count(*first, *last, Step::Const(*by)).is_some_and(|n| n < BLOCK as u64) {
            return vec![s];
        }
        let (var, by) = (*var, *by);
        let ends = (*first, *last);
        let block_var = self.f.fresh(self.f.vars.get(var.0 as usize).map_or("i", |v| &v.name).to_string(), Ty::Int);
        let block = self.block(body, var, (block_var, by), &sums);
        let mut rest = s.clone();
        let mut compute = Block::new();
        let [last_block, first_of_rest] = self.ends(ends, by, &mut compute);
        if let Stmt::For { first, .. } = &mut rest.stmt {
            *first = first_of_rest;
        }
        let step = Step::Const(by * BLOCK as i64);
        let stmt = Stmt::For { var: block_var, first: ends.0, last: last_block, step, body: block, blocks: None };
        let body = vec![self.at(stmt), rest];
        match compute.is_empty() {
            true => body,
            false => vec![self.at(Stmt::With { name: "blocks".into(), compute, body })],
        }
    }

    /// The first turn of the last block, and the first turn that is in no block.
    fn ends(&mut self, (first, last): (Operand, Operand), by: i64, compute: &mut Block) -> [Operand; 2] {
        let step = by.wrapping_mul(BLOCK as i64);
        if let (Operand::Const(a), Some(n)) = (first, trip_count(first, last, Step::Const(by))) {
            let rest = a.cast_signed().wrapping_add((n / BLOCK as u64).cast_signed().wrapping_mul(step));
            return [rest.wrapping_sub(step), rest].map(|k| Operand::Const(k.cast_unsigned()));
        }
        let [distance, whole, rest, last_block] =
            ["turns", "whole", "rest", "last"].map(|name| self.f.fresh(format!("{name}.blocks"), Ty::Int));
        let constant = |k: i64| Operand::Const(k.cast_unsigned());
        let mut set = |var: Var, terms: Vec<(int_fn::Name, bool, Vec<Operand>)>| {
            let checks = AncillaChecks { check: false, drop: false };
            compute.push(self.at(Stmt::Ancilla { var, free: false, checks }));
            for (func, inverse, args) in terms {
                let func = TableFn::Int(func);
                compute.push(self.at(Stmt::Update { acc: Acc::Add, inverse, func, dst: Place::Var(var), args }));
            }
        };
        use int_fn::Name::{Id, Mul, Quot};
        // A quotient that is rounded toward zero leaves an empty loop empty.
        set(distance, vec![(Id, false, vec![last]), (Id, true, vec![first]), (Id, false, vec![constant(by)])]);
        set(whole, vec![(Quot, false, vec![Operand::Var(distance), constant(step)])]);
        set(rest, vec![(Id, false, vec![first]), (Mul, false, vec![Operand::Var(whole), constant(step)])]);
        set(last_block, vec![(Id, false, vec![Operand::Var(rest)]), (Id, true, vec![constant(step)])]);
        [last_block, rest].map(Operand::Var)
    }

    /// What the turns of a block do together.
    fn block(&mut self, body: &[LocatedStmt], var: Var, (first, by): (Var, i64), sums: &[Sum]) -> Block {
        let mut compute = Block::new();
        let mut parts: Vec<[Var; BLOCK]> = Vec::new();
        for _ in sums {
            parts.push([(); BLOCK].map(|()| self.f.fresh("part", Ty::F)));
        }
        for turn in 0..BLOCK {
            for of in &parts {
                let checks = AncillaChecks { check: false, drop: true };
                compute.push(self.at(Stmt::Ancilla { var: of[turn], free: false, checks }));
            }
            let to: Vec<(Place, Var)> = sums.iter().zip(&parts).map(|(sum, of)| (sum.place, of[turn])).collect();
            let by = by.wrapping_mul(turn as i64);
            compute.extend(self.turn(body, var, (first, by), &to));
        }
        let out: Block = sums.iter().zip(&parts).map(|(sum, of)| self.total(*sum, of)).collect();
        vec![self.at(Stmt::With { name: "block".into(), compute, body: out })]
    }

    /// What a turn adds to words, added to variables instead.
    fn turn(&mut self, body: &[LocatedStmt], var: Var, (first, by): (Var, i64), to: &[(Place, Var)]) -> Block {
        let mut out = Block::new();
        flatten(body.to_vec(), &mut out);
        each_stmt(&mut out, &mut |stmt| {
            if let Stmt::Update { dst, inverse, .. } = stmt
                && let Some((_, part)) = to.iter().find(|(place, _)| place == dst)
            {
                (*dst, *inverse) = (Place::Var(*part), false);
            }
        });
        let counted = shift(&mut out, (var, first, by), self.summaries);
        let mut names: FastMap<Var, Var> = FastMap::default();
        walk(&out, &mut |s| {
            if let Stmt::Ancilla { var, .. } = &s.stmt {
                names.entry(*var).or_insert(*var);
            }
        });
        names.remove(&var);
        for new in names.values_mut() {
            let info = self.f.vars[new.0 as usize].clone();
            self.f.vars.push(info);
            *new = Var(self.f.vars.len() as u32 - 1);
        }
        if counted {
            let turn = self.f.fresh(self.f.vars[var.0 as usize].name.clone(), Ty::Int);
            names.insert(var, turn);
            let mut own = vec![self.at(Stmt::Ancilla { var: turn, free: false, checks: AncillaChecks::NONE })];
            for term in [Operand::Var(first), Operand::Const(by.cast_unsigned())] {
                let func = TableFn::Int(int_fn::Name::Id);
                let dst = Place::Var(turn);
                own.push(self.at(Stmt::Update { acc: Acc::Add, inverse: false, func, dst, args: vec![term] }));
            }
            own.append(&mut out);
            out = own;
        }
        let renamed = |v: Var| Operand::Var(names.get(&v).copied().unwrap_or(v));
        let done = Substitution { var: &renamed, region: &|r| r }.apply(&mut out, self.summaries);
        debug_assert!(done, "variables are renamed to variables");
        out
    }

    /// The sum of the parts of a block, added to the word.
    fn total(&mut self, Sum { place, inverse }: Sum, parts: &[Var; BLOCK]) -> LocatedStmt {
        let mut compute = Block::new();
        let mut plus = |expansion: &mut Self, a: Var, b: Var| {
            let var = expansion.f.fresh("sum", Ty::F);
            let checks = AncillaChecks { check: false, drop: true };
            compute.push(expansion.at(Stmt::Ancilla { var, free: false, checks }));
            compute.push(expansion.at(added(Place::Var(var), false, a, b)));
            var
        };
        let [a, b, c, d, e, f, g, h] = *parts;
        let fourths = [(a, e), (c, g), (b, f), (d, h)].map(|(x, y)| plus(self, x, y));
        let halves = [plus(self, fourths[0], fourths[1]), plus(self, fourths[2], fourths[3])];
        let body = vec![self.at(added(place, inverse, halves[0], halves[1]))];
        self.at(Stmt::With { name: "total".into(), compute, body })
    }
}

/// `dst ±= a + b`.
fn added(dst: Place, inverse: bool, a: Var, b: Var) -> Stmt {
    let func = TableFn::F(f_fn::Name::Plus);
    Stmt::Update { acc: Acc::Add, inverse, func, dst, args: vec![Operand::Var(a), Operand::Var(b)] }
}

/// Leaves computed what a block computes, until the whole is undone.
fn flatten(block: Block, out: &mut Block) {
    for s in block {
        match s.stmt {
            Stmt::With { compute, body, .. } => {
                flatten(compute, out);
                flatten(body, out);
            }
            Stmt::Span { body, .. } => flatten(body, out),
            stmt => out.push(LocatedStmt { stmt, loc: s.loc }),
        }
    }
}

/// Replaces a counter by another one and a number, in addresses. Gives whether it is used elsewhere.
fn shift(block: &mut Block, (var, by_var, by): (Var, Var, i64), summaries: &Summaries) -> bool {
    let mut elsewhere = false;
    each_stmt(block, &mut |stmt| {
        slots_mut(stmt, summaries, &mut |slot| {
            let mem = match slot {
                SlotMut::Read(Operand::Mem(m)) | SlotMut::Written(Operand::Mem(m)) | SlotMut::Place(Place::Mem(m)) => m,
                SlotMut::Read(o) => return elsewhere |= *o == Operand::Var(var),
                _ => return,
            };
            for part in [&mut mem.base, &mut mem.index] {
                if *part == Some(var) {
                    *part = Some(by_var);
                    mem.offset = mem.offset.wrapping_add(by);
                }
            }
        });
    });
    elsewhere
}
