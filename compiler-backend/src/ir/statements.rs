//! The source's statements, and which of them an optimized program runs as often as the unoptimized program.

use std::collections::HashSet;

use rustc_hash::FxHashMap;

use super::effects::{blocks_mut, walk};
use super::{Block, Condition, FunctionId, Loc, LocatedStmt, Program, Stmt};

/// The statements of the source, by their places.
#[derive(Clone, Debug, Default)]
pub struct Statements {
    /// Statements without other statements within them.
    simple: HashSet<Loc>,
    /// Statements with others within them, and those that become more than straight-line code for other reasons.
    others: HashSet<Loc>,
    /// Statements that change variables or show something.
    effects: HashSet<Loc>,
}

impl Statements {
    /// The statements of a program.
    pub fn of(program: &Program) -> Statements {
        let (mut out, statement_place) = (Statements::default(), |loc: Loc| program.statement_at(loc));
        // The steps of extensions are not the source's.
        let is_extension = |func: FunctionId| program.is_extension(func);
        for function in program.functions.iter().filter(|f| f.extension.is_none()) {
            out.others.insert(statement_place(function.loc));
            walk(&function.body, &mut |s| {
                let loc = statement_place(s.loc);
                let inner = |block: &Block| block.iter().all(|s| statement_place(s.loc) == loc);
                let simple = match &s.stmt {
                    Stmt::With { compute, body, .. } => inner(compute) && inner(body),
                    Stmt::Span { body, .. } => inner(body),
                    Stmt::If { pre, post, .. } | Stmt::While { pre, post, .. } => {
                        out.condition(pre, statement_place);
                        out.condition(post, statement_place);
                        false
                    }
                    Stmt::Call { func, .. } => is_extension(*func),
                    stmt => stmt.is_operation(),
                };
                let kind = if simple { &mut out.simple } else { &mut out.others };
                kind.insert(loc);
                let has_effect = match &s.stmt {
                    Stmt::Update { .. } | Stmt::Permute { .. } | Stmt::Show { .. } | Stmt::Print(_) => true,
                    Stmt::Call { func, .. } => is_extension(*func),
                    _ => false,
                };
                if has_effect {
                    out.effects.insert(loc);
                }
            });
        }
        out
    }

    /// Whether a statement is straight-line code, which runs from its beginning to its end.
    pub fn is_simple(&self, loc: Loc) -> bool {
        self.simple.contains(&loc) && !self.others.contains(&loc)
    }

    /// The statements that are straight-line code and have an effect.
    pub fn steps(&self) -> impl Iterator<Item = Loc> {
        self.effects.iter().copied().filter(|loc| self.is_simple(*loc))
    }

    /// Those of [`Statements::steps`] that an optimized program runs as often as the unoptimized program, in the same loops
    /// and branches, and each in one piece. A statement that passes share, move or remove is not among them. The set is
    /// empty if the program's calls have too many paths to follow.
    pub fn preserved(&self, source: &Program, optimized: &Program) -> HashSet<Loc> {
        let of = |program: &Program| Sites::of(program, source, self);
        let (Some(before), Some(after)) = (of(source), of(optimized)) else { return HashSet::new() };
        let mut preserved: HashSet<Loc> = self.steps().collect();
        let differs = |one: &Counts, other: &Counts, preserved: &mut HashSet<Loc>| {
            for ((loc, nesting), n) in one {
                if other.get(&(*loc, *nesting)) != Some(n) {
                    preserved.remove(loc);
                }
            }
        };
        differs(&before, &after, &mut preserved);
        differs(&after, &before, &mut preserved);
        preserved
    }

    /// Marks what a condition computes. It is undone at once, so how often it runs tells nothing about statements.
    fn condition(&mut self, condition: &Condition, statement_place: impl Fn(Loc) -> Loc) {
        walk(&condition.compute, &mut |s| {
            self.others.insert(statement_place(s.loc));
        });
    }
}

/// How often statements occur in a program, by the loops and branches around them.
type Counts = FxHashMap<(Loc, Nesting), u64>;

/// The loops and branches around a statement, through calls: their hash and their number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Nesting {
    hash: u64,
    depth: u32,
}

impl Nesting {
    /// The factor of the polynomial hash, one power for each level.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

    /// A part of a loop or branch.
    fn part(loc: Loc, part: u64) -> Nesting {
        let place = u64::from(loc.file) << 48 ^ u64::from(loc.line) << 16 ^ u64::from(loc.column);
        Nesting {
            hash: (place.wrapping_mul(4).wrapping_add(part) ^ Nesting::FACTOR).wrapping_mul(Nesting::FACTOR),
            depth: 1,
        }
    }

    /// The surroundings `inner`, with these surroundings around them.
    fn around(self, inner: Nesting) -> Nesting {
        let hash = self.hash.wrapping_mul(Nesting::FACTOR.wrapping_pow(inner.depth)).wrapping_add(inner.hash);
        Nesting { hash, depth: self.depth + inner.depth }
    }
}

/// Finds [`Counts`].
struct Sites<'a> {
    program: &'a Program,
    source: &'a Program,
    statements: &'a Statements,
    /// The counts of each function that is finished; empty for a function that is being counted.
    functions: FxHashMap<FunctionId, Counts>,
    counts: Counts,
    nesting: Nesting,
    /// The statement that was visited last.
    last: Option<Loc>,
    /// The number of entries that may still be visited.
    entries_left: usize,
}

impl Sites<'_> {
    /// The most entries that are visited.
    const MAX_ENTRIES: usize = 1 << 20;

    fn of(program: &Program, source: &Program, statements: &Statements) -> Option<Counts> {
        let (functions, counts) = (FxHashMap::default(), Counts::default());
        let (nesting, entries_left) = (Nesting::default(), Sites::MAX_ENTRIES);
        let mut sites = Sites { program, source, statements, functions, counts, nesting, last: None, entries_left };
        sites.call(program.entry?)?;
        Some(sites.counts)
    }

    fn call(&mut self, func: FunctionId) -> Option<()> {
        if !self.functions.contains_key(&func) {
            self.functions.insert(func, Counts::default());
            let function = self.program.functions.get(func.0 as usize)?;
            let outer = (std::mem::take(&mut self.counts), std::mem::take(&mut self.nesting));
            self.last = None;
            self.block(&function.body, false)?;
            let own = std::mem::take(&mut self.counts);
            (self.counts, self.nesting) = outer;
            self.functions.insert(func, own);
        }
        let Sites { functions, counts, nesting, .. } = self;
        let own = functions.get(&func)?;
        self.entries_left = self.entries_left.checked_sub(own.len())?;
        for ((loc, inner), n) in own {
            let sum = counts.entry((*loc, nesting.around(*inner))).or_default();
            *sum = sum.saturating_add(*n);
        }
        self.last = None;
        Some(())
    }

    fn part(&mut self, loc: Loc, part: u64, block: &[LocatedStmt], back: bool) -> Option<()> {
        let outer = self.nesting;
        self.nesting = outer.around(Nesting::part(loc, part));
        self.last = None;
        let done = self.block(block, back);
        self.nesting = outer;
        self.last = None;
        done
    }

    fn block(&mut self, block: &[LocatedStmt], back: bool) -> Option<()> {
        if back {
            block.iter().rev().try_for_each(|s| self.statement(s, true))
        } else {
            block.iter().try_for_each(|s| self.statement(s, false))
        }
    }

    fn statement(&mut self, s: &LocatedStmt, back: bool) -> Option<()> {
        self.entries_left = self.entries_left.checked_sub(1)?;
        let loc = self.source.statement_at(s.loc);
        match &s.stmt {
            Stmt::Call { func, .. } if !self.program.is_extension(*func) => self.call(*func),
            Stmt::Update { .. }
            | Stmt::Permute { .. }
            | Stmt::Ancilla { .. }
            | Stmt::Assert { .. }
            | Stmt::Show { .. }
            | Stmt::Print(_)
            | Stmt::Call { .. } => {
                if self.last != Some(loc) && self.statements.is_simple(loc) {
                    let n = self.counts.entry((loc, self.nesting)).or_default();
                    *n = n.saturating_add(1);
                }
                self.last = Some(loc);
                Some(())
            }
            Stmt::With { compute, body, .. } => {
                self.block(compute, false)?;
                self.block(body, back)?;
                self.block(compute, true)
            }
            Stmt::Span { body, .. } => self.block(body, back),
            Stmt::Array { .. } => {
                self.last = None;
                Some(())
            }
            Stmt::If { then, otherwise, .. } => {
                self.part(loc, 0, then, back)?;
                self.part(loc, 1, otherwise, back)
            }
            Stmt::While { first, body, .. } => {
                self.part(loc, 2, first, back)?;
                self.part(loc, 3, body, back)
            }
            Stmt::For { body, .. } => self.part(loc, 2, body, back),
        }
    }
}

impl Program {
    /// Whether calls of this function are one instruction.
    pub fn is_extension(&self, func: FunctionId) -> bool {
        self.functions.get(func.0 as usize).is_some_and(|f| f.extension.is_some())
    }

    /// Where the statement begins that the code at `loc` is a part of; `loc` itself if it is not a part of another.
    pub fn statement_at(&self, loc: Loc) -> Loc {
        self.parts.get(&loc).copied().unwrap_or(loc)
    }

    /// Whether other statements begin in the line of this statement.
    pub fn shares_line(&self, loc: Loc) -> bool {
        let mut shares = false;
        for function in &self.functions {
            walk(&function.body, &mut |s| {
                let other = self.statement_at(s.loc);
                shares |= (other.file, other.line) == (loc.file, loc.line) && other.column != loc.column;
            });
        }
        shares
    }

    /// Gives all parts of a statement the place where the statement begins.
    pub fn place_by_statement(&mut self) {
        let parts = std::mem::take(&mut self.parts);
        for function in &mut self.functions {
            place(&mut function.body, &|loc| parts.get(&loc).copied().unwrap_or(loc));
        }
    }
}

fn place(block: &mut [LocatedStmt], statement_place: &impl Fn(Loc) -> Loc) {
    for s in block {
        s.loc = statement_place(s.loc);
        for inner in blocks_mut(&mut s.stmt) {
            place(inner, statement_place);
        }
    }
}
