//! Effects of statements: what they read and write, whether they may trap, and how large they are.
//!
//! The analysis distinguishes variables and regions; a region is read or written as a whole. It knows a call's arguments,
//! but not which regions of the caller the callee reads or writes. The results are conservative and hold in both directions.

mod set;
mod summary;
mod traps;

pub use set::Set;
pub use summary::{Summaries, Summary, callees_first};
pub use traps::{is_inexact, update_traps};

use super::{
    AncillaChecks, Block, Condition, FunctionId, LocatedStmt, Mem, Operand, Place, Program, Region, Step, Stmt, Test,
    Var,
};
use pendula_codegen::properties::row_traps;
use pendula_isa::Ty;
use pendula_isa::table::Row;

/// The effects of statements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Variables that are read, also in addresses. The place of an update is not among them.
    pub reads: Set,
    /// Variables that are changed. The beginning and the end of a life are changes.
    pub writes: Set,
    /// Regions that are read.
    pub regions_read: Set,
    /// Regions that are written.
    pub regions_written: Set,
    /// True if a call reads memory, of any region.
    pub reads_memory: bool,
    /// True if a call writes memory, of any region.
    pub writes_memory: bool,
    /// True if the statements may trap or not terminate. A check of an ancilla counts at either end of its life.
    pub traps: bool,
    /// True if the statements show something.
    pub shows: bool,
    /// True if undoing the statements may not restore every bit, since they add to floating-point numbers or rotate them.
    pub inexact: bool,
    /// True if arrays begin or end their lives.
    pub allocates: bool,
    /// The approximate number of instructions.
    pub size: u32,
}

impl Effects {
    /// The effects of a sequence of statements.
    pub fn of_block(summaries: &Summaries, block: &[LocatedStmt]) -> Effects {
        let mut effects = Effects::default();
        effects.block(summaries, block);
        effects.sealed()
    }

    /// The effects of one statement.
    pub fn of_stmt(summaries: &Summaries, stmt: &Stmt) -> Effects {
        let mut effects = Effects::default();
        effects.stmt(summaries, stmt);
        effects.sealed()
    }

    /// The effects of both, one after the other.
    pub fn and(mut self, other: &Effects) -> Effects {
        self.reads.0.extend(&other.reads.0);
        self.writes.0.extend(&other.writes.0);
        self.regions_read.0.extend(&other.regions_read.0);
        self.regions_written.0.extend(&other.regions_written.0);
        self.reads_memory |= other.reads_memory;
        self.writes_memory |= other.writes_memory;
        self.traps |= other.traps;
        self.shows |= other.shows;
        self.inexact |= other.inexact;
        self.allocates |= other.allocates;
        self.size = self.size.saturating_add(other.size);
        self.sealed()
    }

    /// Whether any word of memory may be written.
    pub fn touches_memory(&self) -> bool {
        self.writes_memory || !self.regions_written.is_empty()
    }

    /// Whether a word of this region may be written.
    pub fn writes_region(&self, region: Region) -> bool {
        self.writes_memory || self.regions_written.contains(region.0)
    }

    /// Whether a variable or word of memory that an operand names, or that its address depends on, may be changed.
    pub fn changes(&self, operand: Operand) -> bool {
        match operand {
            Operand::Const(_) => false,
            Operand::Var(v) => self.writes.has(v),
            Operand::Mem(m) => self.writes_region(m.region) || self.changes_address(m),
        }
    }

    /// Whether the variables of an address may be changed.
    pub fn changes_address(&self, mem: Mem) -> bool {
        mem.vars().any(|v| self.writes.has(v))
    }

    /// Whether something that `other` reads or writes may be changed, so that `other` would no longer do the same.
    pub fn disturbs(&self, other: &Effects) -> bool {
        self.writes.intersects(&other.reads)
            || self.writes.intersects(&other.writes)
            || self.regions_written.intersects(&other.regions_read)
            || self.regions_written.intersects(&other.regions_written)
            || (self.touches_memory() && (other.reads_memory || other.writes_memory))
            || (self.writes_memory && (!other.regions_read.is_empty() || !other.regions_written.is_empty()))
    }

    fn sealed(mut self) -> Effects {
        self.reads.seal();
        self.writes.seal();
        self.regions_read.seal();
        self.regions_written.seal();
        self
    }

    fn grow(&mut self, by: u32) {
        self.size = self.size.saturating_add(by);
    }

    fn read_var(&mut self, v: Var) {
        self.reads.0.push(v.0);
    }

    fn address(&mut self, m: Mem) {
        self.reads.0.extend(m.vars().map(|v| v.0));
        // An address may lie beyond the memory.
        self.traps = true;
    }

    fn read(&mut self, o: Operand) {
        match o {
            Operand::Const(_) => {}
            Operand::Var(v) => self.read_var(v),
            Operand::Mem(m) => {
                self.address(m);
                self.regions_read.0.push(m.region.0);
            }
        }
    }

    fn write(&mut self, p: Place) {
        match p {
            Place::Var(v) => self.writes.0.push(v.0),
            Place::Mem(m) => {
                self.address(m);
                self.regions_written.0.push(m.region.0);
            }
        }
    }

    fn test(&mut self, t: &Test) {
        self.read(t.a);
        self.read(t.b);
        // A NaN, or a word that is no logarithm.
        self.traps |= matches!(t.ty, Ty::F | Ty::L);
        self.grow(1);
    }

    fn checks(&mut self, checks: AncillaChecks) {
        self.traps |= checks.check;
        self.grow(u32::from(checks.check || checks.drop));
    }

    fn condition(&mut self, summaries: &Summaries, c: &Condition) {
        let before = self.size;
        self.block(summaries, &c.compute);
        self.grow(self.size - before);
        self.test(&c.test);
    }

    fn block(&mut self, summaries: &Summaries, block: &[LocatedStmt]) {
        for s in block {
            self.stmt(summaries, &s.stmt);
        }
    }

    fn stmt(&mut self, summaries: &Summaries, stmt: &Stmt) {
        match stmt {
            Stmt::Update { acc, inverse: _, func, dst, args } => {
                self.write(*dst);
                args.iter().for_each(|a| self.read(*a));
                self.traps |= update_traps(*acc, *func, args);
                self.inexact |= is_inexact(*acc, *func);
                let words = args.iter().filter(|a| matches!(a, Operand::Mem(_))).count() as u32;
                self.grow(1 + (words + u32::from(matches!(dst, Place::Mem(_)))).saturating_sub(1) * 2);
            }
            Stmt::Permute { row, inverse: _, ty, args } => {
                let written = written_operands(*row);
                for (n, arg) in args.iter().enumerate() {
                    match (n < written, *arg) {
                        (true, Operand::Var(v)) => self.write(Place::Var(v)),
                        (true, Operand::Mem(m)) => self.write(Place::Mem(m)),
                        (_, arg) => self.read(arg),
                    }
                }
                self.traps |= row_traps(*row, *ty);
                self.inexact |= *row == Row::Rot && *ty == Ty::F;
                self.grow(1);
            }
            Stmt::Ancilla { var, free: _, checks } => {
                self.write(Place::Var(*var));
                self.checks(*checks);
            }
            Stmt::Array { base, len, region, ty: _, free: _, checks } => {
                self.write(Place::Var(*base));
                self.read(*len);
                self.regions_written.0.push(region.0);
                self.checks(*checks);
                // The memory may be full.
                self.traps = true;
                self.allocates = true;
                self.grow(4);
            }
            Stmt::Call { func, inverse: _, args } => self.call(summaries, *func, args),
            Stmt::If { pre, post, then, otherwise } => {
                self.condition(summaries, pre);
                self.condition(summaries, post);
                let before = self.writes.0.len();
                self.block(summaries, then);
                self.block(summaries, otherwise);
                self.traps |= !is_same_test(pre, post) || {
                    let written: Set = self.writes.0[before..].iter().copied().collect();
                    !is_invariant(&pre.test, &written)
                };
                self.grow(4);
            }
            Stmt::While { pre, post, first, body } => {
                self.condition(summaries, pre);
                self.condition(summaries, post);
                self.block(summaries, first);
                self.block(summaries, body);
                self.traps = true;
                self.grow(4);
            }
            Stmt::For { var, first, last, step, body, .. } => {
                self.write(Place::Var(*var));
                self.read(*first);
                self.read(*last);
                if let Step::Var { var, .. } = step {
                    self.read_var(*var);
                }
                self.traps |= trip_count(*first, *last, *step).is_none() && !matches!(step, Step::Const(1 | -1));
                self.block(summaries, body);
                self.grow(5);
            }
            Stmt::With { name: _, compute, body } => {
                let before = self.size;
                self.block(summaries, compute);
                self.grow(self.size - before);
                self.block(summaries, body);
            }
            Stmt::Span { name: _, undo: _, body } => self.block(summaries, body),
            Stmt::Assert { test, why: _, reason: _ } => {
                self.test(test);
                self.traps = true;
            }
            Stmt::Show { ty: _, value } => {
                self.read(*value);
                self.shows = true;
                self.grow(1);
            }
            Stmt::Print(_) => {
                self.shows = true;
                self.grow(1);
            }
        }
    }

    fn call(&mut self, summaries: &Summaries, func: FunctionId, args: &[Operand]) {
        let summary = summaries.get(func);
        for (n, arg) in args.iter().enumerate() {
            let written = summary.written.get(n).copied().unwrap_or(true);
            match (written, *arg) {
                (true, Operand::Var(v)) => self.write(Place::Var(v)),
                (true, Operand::Mem(m)) => self.write(Place::Mem(m)),
                (_, arg) => self.read(arg),
            }
        }
        self.reads_memory |= summary.reads_memory;
        self.writes_memory |= summary.writes_memory;
        self.traps |= summary.traps;
        self.shows |= summary.shows;
        self.inexact |= summary.inexact;
        self.grow(2 + 2 * args.len() as u32);
    }
}

impl Mem {
    /// The variables that the address depends on.
    pub fn vars(self) -> impl Iterator<Item = Var> {
        self.base.into_iter().chain(self.index)
    }
}

impl Operand {
    /// The variables that it names, also in an address.
    pub fn vars(self) -> impl Iterator<Item = Var> {
        match self {
            Operand::Const(_) => None.into_iter().chain(None),
            Operand::Var(v) => Some(v).into_iter().chain(None),
            Operand::Mem(m) => m.base.into_iter().chain(m.index),
        }
    }
}

/// The number of operands that a row writes. They come first.
pub fn written_operands(row: Row) -> usize {
    use pendula_isa::operand::OperandKind::{Memory, Target, TargetOrMemory};
    row.info().operands.iter().take_while(|k| matches!(k, Target | Memory | TargetOrMemory)).count()
}

/// Calls `visit` with each place that a statement itself writes, without those that its blocks write. Of a call's arguments, it takes
/// those for which `passed` holds.
pub fn written_places(stmt: &Stmt, passed: impl Fn(FunctionId, usize) -> bool, mut visit: impl FnMut(Operand)) {
    match stmt {
        Stmt::Update { dst, .. } => visit((*dst).into()),
        Stmt::Ancilla { var, .. } | Stmt::Array { base: var, .. } | Stmt::For { var, .. } => visit(Operand::Var(*var)),
        Stmt::Permute { row, args, .. } => args.iter().take(written_operands(*row)).copied().for_each(visit),
        Stmt::Call { func, args, .. } => {
            args.iter().enumerate().filter(|(n, _)| passed(*func, *n)).for_each(|(_, arg)| visit(*arg));
        }
        Stmt::If { .. }
        | Stmt::While { .. }
        | Stmt::With { .. }
        | Stmt::Span { .. }
        | Stmt::Assert { .. }
        | Stmt::Show { .. }
        | Stmt::Print(_) => {}
    }
}

/// Calls `visit` with each variable that a statement itself changes, without those that its blocks change. An argument of a parameter
/// that the callee does not write is not among them.
pub fn changed_vars(program: &Program, stmt: &Stmt, mut visit: impl FnMut(Var)) {
    let passed = |func: FunctionId, n: usize| {
        program.functions.get(func.0 as usize).and_then(|f| f.params.get(n)).is_some_and(|param| param.written)
    };
    written_places(stmt, passed, |place| {
        if let Operand::Var(v) = place {
            visit(v);
        }
    });
}

/// The number of iterations of a `for`, if it is known. `None` also if the loop traps because it misses its last value.
pub fn trip_count(first: Operand, last: Operand, step: Step) -> Option<u64> {
    let (Operand::Const(first), Operand::Const(last), Step::Const(step)) = (first, last, step) else { return None };
    let (way, step) = (i128::from(last.cast_signed()) - i128::from(first.cast_signed()), i128::from(step));
    match step {
        0 => None,
        _ if way != 0 && (way < 0) != (step < 0) => Some(0),
        _ if way % step != 0 => None,
        _ => u64::try_from(way / step).ok()?.checked_add(1),
    }
}

/// Whether two conditions compare the same operands and compute nothing.
fn is_same_test(pre: &Condition, post: &Condition) -> bool {
    pre.compute.is_empty() && post.compute.is_empty() && pre.test == post.test
}

/// Whether a comparison has only constants and variables that are not written.
fn is_invariant(test: &Test, written: &Set) -> bool {
    [test.a, test.b].into_iter().all(|o| match o {
        Operand::Const(_) => true,
        Operand::Var(v) => !written.has(v),
        Operand::Mem(_) => false,
    })
}

/// The blocks of a statement, borrowed mutably if `mut` follows.
macro_rules! blocks_of {
    ($stmt:expr $(, $mutable:tt)?) => {{
        let list = match $stmt {
            Stmt::If { pre, post, then, otherwise } => {
                [Some(&$($mutable)? pre.compute), Some(&$($mutable)? post.compute), Some(then), Some(otherwise)]
            }
            Stmt::While { pre, post, first, body } => {
                [Some(&$($mutable)? pre.compute), Some(&$($mutable)? post.compute), Some(first), Some(body)]
            }
            Stmt::For { body, .. } | Stmt::Span { body, .. } => [Some(body), None, None, None],
            Stmt::With { compute, body, .. } => [Some(compute), Some(body), None, None],
            Stmt::Update { .. }
            | Stmt::Permute { .. }
            | Stmt::Ancilla { .. }
            | Stmt::Array { .. }
            | Stmt::Call { .. }
            | Stmt::Assert { .. }
            | Stmt::Show { .. }
            | Stmt::Print(_) => [None, None, None, None],
        };
        list.into_iter().flatten()
    }};
}

/// The blocks within a statement.
pub fn blocks(stmt: &Stmt) -> impl Iterator<Item = &Block> {
    blocks_of!(stmt)
}

/// The blocks within a statement, mutably.
pub fn blocks_mut(stmt: &mut Stmt) -> impl Iterator<Item = &mut Block> {
    blocks_of!(stmt, mut)
}

/// Visits every statement of a block, also those within others, outer ones first.
pub fn walk<'a>(block: &'a [LocatedStmt], visit: &mut impl FnMut(&'a LocatedStmt)) {
    for s in block {
        visit(s);
        for inner in blocks(&s.stmt) {
            walk(inner, visit);
        }
    }
}

/// How many of a statement's [`blocks`] are computed and undone: those of its conditions, and the computation of a `with`. They come first.
pub fn undone_blocks(stmt: &Stmt) -> usize {
    match stmt {
        Stmt::If { .. } | Stmt::While { .. } => 2,
        Stmt::With { .. } => 1,
        Stmt::For { .. }
        | Stmt::Span { .. }
        | Stmt::Update { .. }
        | Stmt::Permute { .. }
        | Stmt::Ancilla { .. }
        | Stmt::Array { .. }
        | Stmt::Call { .. }
        | Stmt::Assert { .. }
        | Stmt::Show { .. }
        | Stmt::Print(_) => 0,
    }
}
