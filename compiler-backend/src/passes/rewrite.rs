//! Helpers of the passes: visiting the parts of statements, renaming and comparing.

use crate::ir::effects::{Effects, Summaries, blocks_mut, is_inexact, written_operands};
use crate::ir::{Block, Condition, LocatedStmt, Mem, Operand, Place, Region, Step, Stmt, Test, Var};
use crate::passes::table::{FastMap, FastSet};

macro_rules! slots {
    ($(#[$doc:meta])* $name:ident $Slot:ident $iter:ident $($mutable:tt)?) => {
        $(#[$doc])*
        pub(super) enum $Slot<'a> {
            /// An operand that is read.
            Read(&'a $($mutable)? Operand),
            /// The place that an update writes.
            Place(&'a $($mutable)? Place),
            /// An operand that a permutation or a call writes.
            Written(&'a $($mutable)? Operand),
            /// A variable whose life begins or ends, an array's base, or the variable of a `for`.
            Life(&'a $($mutable)? Var),
            /// The step of a `for`.
            Step(&'a $($mutable)? Step),
            /// An array's region.
            #[allow(dead_code, reason = "only who changes statements wants to know")]
            Region(&'a $($mutable)? Region),
        }

        /// Visits the parts of a statement, but not the blocks within it. The comparisons of its conditions are parts of it.
        pub(super) fn $name<'a>(stmt: &'a $($mutable)? Stmt, summaries: &Summaries, visit: &mut impl FnMut($Slot<'a>)) {
            match stmt {
                Stmt::Update { acc: _, inverse: _, func: _, dst, args } => {
                    visit($Slot::Place(dst));
                    args.$iter().for_each(|a| visit($Slot::Read(a)));
                }
                Stmt::Permute { row, inverse: _, ty: _, args } => {
                    let written = written_operands(*row);
                    for (n, a) in args.$iter().enumerate() {
                        visit(if n < written { $Slot::Written(a) } else { $Slot::Read(a) });
                    }
                }
                Stmt::Ancilla { var, free: _, checks: _ } => visit($Slot::Life(var)),
                Stmt::Array { base, len, region, ty: _, free: _, checks: _ } => {
                    visit($Slot::Life(base));
                    visit($Slot::Read(len));
                    visit($Slot::Region(region));
                }
                Stmt::Call { func, inverse: _, args } => {
                    let written = &summaries.get(*func).written;
                    for (n, a) in args.$iter().enumerate() {
                        let written = written.get(n).copied().unwrap_or(true);
                        visit(if written { $Slot::Written(a) } else { $Slot::Read(a) });
                    }
                }
                Stmt::If { pre, post, then: _, otherwise: _ } | Stmt::While { pre, post, first: _, body: _ } => {
                    let Condition { test: Test { cond: _, ty: _, a, b }, compute: _ } = pre;
                    visit($Slot::Read(a));
                    visit($Slot::Read(b));
                    let Condition { test: Test { cond: _, ty: _, a, b }, compute: _ } = post;
                    visit($Slot::Read(a));
                    visit($Slot::Read(b));
                }
                Stmt::For { var, first, last, step, body: _, blocks: _ } => {
                    visit($Slot::Life(var));
                    visit($Slot::Read(first));
                    visit($Slot::Read(last));
                    visit($Slot::Step(step));
                }
                Stmt::Assert { test: Test { cond: _, ty: _, a, b }, why: _, reason: _ } => {
                    visit($Slot::Read(a));
                    visit($Slot::Read(b));
                }
                Stmt::Show { ty: _, value } => visit($Slot::Read(value)),
                Stmt::With { .. } | Stmt::Span { .. } | Stmt::Print(_) => {}
            }
        }
    };
}

slots!(
    /// A part of a statement.
    slots Slot iter
);
slots!(
    /// A part of a statement, mutably.
    slots_mut SlotMut iter_mut mut
);

impl Slot<'_> {
    /// The part as an operand: a value, a place or a variable.
    pub(super) fn operand(&self) -> Option<Operand> {
        match *self {
            Slot::Read(o) | Slot::Written(o) => Some(*o),
            Slot::Place(p) => Some((*p).into()),
            Slot::Life(v) | Slot::Step(Step::Var { var: v, .. }) => Some(Operand::Var(*v)),
            Slot::Step(Step::Const(_)) | Slot::Region(_) => None,
        }
    }
}

/// Visits every block, inner ones first.
pub(super) fn each_block(block: &mut Block, visit: &mut impl FnMut(&mut Block)) {
    for s in block.iter_mut() {
        for inner in blocks_mut(&mut s.stmt) {
            each_block(inner, visit);
        }
    }
    visit(block);
}

/// Visits every `for`, inner ones first.
pub(super) fn each_for(block: &mut Block, visit: &mut impl FnMut(&mut LocatedStmt)) {
    each_block(block, &mut |block| {
        block.iter_mut().filter(|s| matches!(s.stmt, Stmt::For { .. })).for_each(&mut *visit);
    });
}

/// Visits every statement, outer ones first.
pub(super) fn each_stmt(block: &mut Block, visit: &mut impl FnMut(&mut Stmt)) {
    for s in block.iter_mut() {
        visit(&mut s.stmt);
        for inner in blocks_mut(&mut s.stmt) {
            each_stmt(inner, visit);
        }
    }
}

/// The variable that a part of a statement changes.
pub(super) fn written_var(slot: &Slot) -> Option<Var> {
    match *slot {
        Slot::Place(&Place::Var(v)) | Slot::Written(&Operand::Var(v)) | Slot::Life(&v) => Some(v),
        Slot::Place(Place::Mem(_))
        | Slot::Written(Operand::Const(_) | Operand::Mem(_))
        | Slot::Read(_)
        | Slot::Step(_)
        | Slot::Region(_) => None,
    }
}

/// The number of places that change each variable, including the beginnings and ends of its lives.
pub(super) fn write_counts(block: &[LocatedStmt], summaries: &Summaries) -> FastMap<Var, usize> {
    let mut counts = FastMap::default();
    crate::ir::effects::walk(block, &mut |s| {
        slots(&s.stmt, summaries, &mut |slot| {
            if let Some(v) = written_var(&slot) {
                *counts.entry(v).or_default() += 1;
            }
        });
    });
    counts
}

/// A substitution of variables and regions.
pub(super) struct Substitution<'a> {
    /// The replacement of a variable.
    pub(super) var: &'a dyn Fn(Var) -> Operand,
    /// The replacement of a region.
    pub(super) region: &'a dyn Fn(Region) -> Region,
}

impl Substitution<'_> {
    /// Substitutes throughout a block. Returns false if the result would not exist: an address in a word of memory, or a
    /// constant that is written.
    #[must_use]
    pub(super) fn apply(&self, block: &mut Block, summaries: &Summaries) -> bool {
        let mut done = true;
        each_stmt(block, &mut |stmt| {
            slots_mut(stmt, summaries, &mut |slot| {
                done &= match slot {
                    SlotMut::Read(o) => self.operand(o),
                    SlotMut::Written(o) => self.operand(o) && !matches!(o, Operand::Const(_)),
                    SlotMut::Place(p) => self.place(p),
                    SlotMut::Life(v) => match (self.var)(*v) {
                        Operand::Var(w) => {
                            *v = w;
                            true
                        }
                        Operand::Const(_) | Operand::Mem(_) => false,
                    },
                    SlotMut::Step(step) => self.step(step),
                    SlotMut::Region(r) => {
                        *r = (self.region)(*r);
                        true
                    }
                };
            });
        });
        done
    }

    pub(super) fn operand(&self, o: &mut Operand) -> bool {
        match o {
            Operand::Const(_) => true,
            Operand::Var(v) => {
                *o = (self.var)(*v);
                true
            }
            Operand::Mem(m) => self.mem(m),
        }
    }

    fn place(&self, p: &mut Place) -> bool {
        match p {
            Place::Var(v) => match (self.var)(*v) {
                Operand::Var(w) => {
                    *v = w;
                    true
                }
                Operand::Mem(m) => {
                    *p = Place::Mem(m);
                    true
                }
                Operand::Const(_) => false,
            },
            Place::Mem(m) => self.mem(m),
        }
    }

    pub(super) fn mem(&self, m: &mut Mem) -> bool {
        m.region = (self.region)(m.region);
        let mut done = true;
        let offset = &mut m.offset;
        for var in [&mut m.base, &mut m.index] {
            match var.map(self.var) {
                None => {}
                Some(Operand::Var(w)) => *var = Some(w),
                Some(Operand::Const(k)) => {
                    *offset = offset.wrapping_add(k.cast_signed());
                    *var = None;
                }
                Some(Operand::Mem(_)) => done = false,
            }
        }
        if m.base.is_none() {
            m.base = m.index.take();
        }
        done
    }

    pub(super) fn step(&self, step: &mut Step) -> bool {
        let Step::Var { var, negated } = step else { return true };
        match (self.var)(*var) {
            Operand::Var(w) => *var = w,
            Operand::Const(k) => {
                let k = k.cast_signed();
                *step = Step::Const(if *negated { k.wrapping_neg() } else { k });
            }
            Operand::Mem(_) => return false,
        }
        true
    }
}

/// Compares statements without their places in the source, and up to the names of variables that live within them.
#[derive(Default)]
pub(super) struct Matcher {
    there: FastMap<Var, Var>,
    back: FastMap<Var, Var>,
    /// True if variables whose lives begin within may differ.
    renames: bool,
}

impl Matcher {
    /// A matcher that lets variables differ whose lives begin within.
    pub(super) fn renaming() -> Matcher {
        Matcher { renames: true, ..Matcher::default() }
    }

    /// The variables of the second statement, with the corresponding variables of the first.
    pub(super) fn renamed(&self) -> &FastMap<Var, Var> {
        &self.back
    }

    fn var(&mut self, a: Var, b: Var) -> bool {
        match (self.there.get(&a), self.back.get(&b)) {
            (None, None) => a == b,
            (Some(x), Some(y)) => *x == b && *y == a,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    /// A variable whose life begins.
    fn life(&mut self, a: Var, b: Var) -> bool {
        if self.renames && self.there.get(&a).is_none_or(|x| *x == b) && self.back.get(&b).is_none_or(|y| *y == a) {
            self.there.insert(a, b);
            self.back.insert(b, a);
            return true;
        }
        self.var(a, b)
    }

    fn vars(&mut self, a: Option<Var>, b: Option<Var>) -> bool {
        match (a, b) {
            (None, None) => true,
            (Some(a), Some(b)) => self.var(a, b),
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    fn mem(&mut self, a: Mem, b: Mem) -> bool {
        a.region == b.region && a.offset == b.offset && self.vars(a.base, b.base) && self.vars(a.index, b.index)
    }

    fn operand(&mut self, a: Operand, b: Operand) -> bool {
        match (a, b) {
            (Operand::Const(a), Operand::Const(b)) => a == b,
            (Operand::Var(a), Operand::Var(b)) => self.var(a, b),
            (Operand::Mem(a), Operand::Mem(b)) => self.mem(a, b),
            (Operand::Const(_) | Operand::Var(_) | Operand::Mem(_), _) => false,
        }
    }

    fn operands(&mut self, a: &[Operand], b: &[Operand]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.operand(*a, *b))
    }

    fn condition(&mut self, a: &Condition, b: &Condition) -> bool {
        self.block(&a.compute, &b.compute)
            && (a.test.cond, a.test.ty) == (b.test.cond, b.test.ty)
            && self.operands(&[a.test.a, a.test.b], &[b.test.a, b.test.b])
    }

    /// Whether two blocks match.
    pub(super) fn block(&mut self, a: &[LocatedStmt], b: &[LocatedStmt]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.stmt(&a.stmt, &b.stmt))
    }

    /// Whether two statements match.
    pub(super) fn stmt(&mut self, a: &Stmt, b: &Stmt) -> bool {
        match (a, b) {
            (
                Stmt::Update { acc, inverse, func, dst, args },
                Stmt::Update { acc: acc2, inverse: inverse2, func: func2, dst: dst2, args: args2 },
            ) => {
                (acc, inverse, func) == (acc2, inverse2, func2)
                    && self.operand((*dst).into(), (*dst2).into())
                    && self.operands(args, args2)
            }
            (
                Stmt::Permute { row, inverse, ty, args },
                Stmt::Permute { row: row2, inverse: inverse2, ty: ty2, args: args2 },
            ) => (row, inverse, ty) == (row2, inverse2, ty2) && self.operands(args, args2),
            (Stmt::Ancilla { var, free, checks }, Stmt::Ancilla { var: var2, free: free2, checks: checks2 }) => {
                (free, checks) == (free2, checks2) && if *free { self.var(*var, *var2) } else { self.life(*var, *var2) }
            }
            (
                Stmt::Array { base, len, region, ty, free, checks },
                Stmt::Array { base: base2, len: len2, region: region2, ty: ty2, free: free2, checks: checks2 },
            ) => {
                (region, ty, free, checks) == (region2, ty2, free2, checks2)
                    && self.operand(*len, *len2)
                    && if *free { self.var(*base, *base2) } else { self.life(*base, *base2) }
            }
            (Stmt::Call { func, inverse, args }, Stmt::Call { func: func2, inverse: inverse2, args: args2 }) => {
                (func, inverse) == (func2, inverse2) && self.operands(args, args2)
            }
            (
                Stmt::If { pre, post, then, otherwise },
                Stmt::If { pre: pre2, post: post2, then: then2, otherwise: otherwise2 },
            ) => {
                self.condition(pre, pre2)
                    && self.block(then, then2)
                    && self.block(otherwise, otherwise2)
                    && self.condition(post, post2)
            }
            (
                Stmt::While { pre, post, first, body },
                Stmt::While { pre: pre2, post: post2, first: first2, body: body2 },
            ) => {
                self.block(first, first2)
                    && self.condition(pre, pre2)
                    && self.block(body, body2)
                    && self.condition(post, post2)
            }
            (
                Stmt::For { var, first, last, step, body, blocks },
                Stmt::For { var: var2, first: first2, last: last2, step: step2, body: body2, blocks: blocks2 },
            ) => {
                let steps = match (step, step2) {
                    (Step::Const(a), Step::Const(b)) => a == b,
                    (Step::Var { var: a, negated }, Step::Var { var: b, negated: negated2 }) => {
                        negated == negated2 && self.var(*a, *b)
                    }
                    (Step::Const(_) | Step::Var { .. }, _) => false,
                };
                steps
                    && blocks == blocks2
                    && self.operands(&[*first, *last], &[*first2, *last2])
                    && self.life(*var, *var2)
                    && self.block(body, body2)
            }
            (Stmt::With { name: _, compute, body }, Stmt::With { name: _, compute: compute2, body: body2 }) => {
                self.block(compute, compute2) && self.block(body, body2)
            }
            (Stmt::Span { name, undo, body }, Stmt::Span { name: name2, undo: undo2, body: body2 }) => {
                (name, undo) == (name2, undo2) && self.block(body, body2)
            }
            (Stmt::Assert { test, why, reason }, Stmt::Assert { test: test2, why: why2, reason: reason2 }) => {
                (test.cond, test.ty, why, reason) == (test2.cond, test2.ty, why2, reason2)
                    && self.operands(&[test.a, test.b], &[test2.a, test2.b])
            }
            (Stmt::Show { ty, value }, Stmt::Show { ty: ty2, value: value2 }) => {
                ty == ty2 && self.operand(*value, *value2)
            }
            (Stmt::Print(a), Stmt::Print(b)) => a == b,
            (
                Stmt::Update { .. }
                | Stmt::Permute { .. }
                | Stmt::Ancilla { .. }
                | Stmt::Array { .. }
                | Stmt::Call { .. }
                | Stmt::If { .. }
                | Stmt::While { .. }
                | Stmt::For { .. }
                | Stmt::With { .. }
                | Stmt::Span { .. }
                | Stmt::Assert { .. }
                | Stmt::Show { .. }
                | Stmt::Print(_),
                _,
            ) => false,
        }
    }
}

/// The ancillas whose lives begin in a block itself, and the number of its other statements that change each variable.
pub(super) fn births(compute: &[LocatedStmt], summaries: &Summaries) -> (FastSet<Var>, FastMap<Var, usize>) {
    let (mut born, mut writers) = (FastSet::default(), FastMap::default());
    for s in compute {
        if let Stmt::Ancilla { var, free: false, .. } = &s.stmt {
            born.insert(*var);
        } else {
            for v in Effects::of_stmt(summaries, &s.stmt).writes.iter() {
                *writers.entry(Var(v)).or_default() += 1;
            }
        }
    }
    (born, writers)
}

/// Whether undoing statements restores every bit, if nothing else has changed.
pub(super) fn is_exact(compute: &[LocatedStmt], summaries: &Summaries) -> bool {
    let (born, writers) = births(compute, summaries);
    compute.iter().all(|s| match &s.stmt {
        Stmt::Update { acc, func, dst: Place::Var(v), .. } => {
            !is_inexact(*acc, *func) || (born.contains(v) && writers.get(v) == Some(&1))
        }
        stmt => !Effects::of_stmt(summaries, stmt).inexact,
    })
}

/// Whether computing something and undoing it at once certainly has no effect.
pub(super) fn is_settled(compute: &[LocatedStmt], summaries: &Summaries) -> bool {
    is_exact(compute, summaries)
        && compute.iter().all(|s| {
            if let Stmt::Ancilla { free: false, .. } = &s.stmt {
                return true;
            }
            let e = Effects::of_stmt(summaries, &s.stmt);
            !e.traps && !e.shows
        })
}
