//! The statements of a source, of which those of the representation were made.

use std::collections::HashSet;

use super::effects::{blocks_mut, walk};
use super::{At, Block, Condition, Loc, Program, Stmt};

/// The statements of a source.
#[derive(Clone, Debug, Default)]
pub struct Statements {
    /// Those that have no others within them.
    simple: HashSet<Loc>,
    /// Those that have, or become more than straight code for other reasons.
    others: HashSet<Loc>,
}

impl Statements {
    /// Those of a program.
    pub fn of(program: &Program) -> Statements {
        let (mut out, whole) = (Statements::default(), |loc: Loc| program.statement_at(loc));
        for function in &program.functions {
            out.others.insert(whole(function.loc));
            walk(&function.body, &mut |s| {
                let loc = whole(s.loc);
                let inner = |block: &Block| block.iter().all(|s| whole(s.loc) == loc);
                let simple = match &s.stmt {
                    Stmt::Update { .. }
                    | Stmt::Permute { .. }
                    | Stmt::Ancilla { .. }
                    | Stmt::Assert { .. }
                    | Stmt::Show { .. }
                    | Stmt::Print(_) => true,
                    Stmt::With { compute, body, .. } => inner(compute) && inner(body),
                    Stmt::Span { body, .. } => inner(body),
                    Stmt::If { pre, post, .. } | Stmt::While { pre, post, .. } => {
                        out.condition(pre, whole);
                        out.condition(post, whole);
                        false
                    }
                    Stmt::Array { .. } | Stmt::Call { .. } | Stmt::For { .. } => false,
                };
                if simple {
                    out.simple.insert(loc)
                } else {
                    out.others.insert(loc)
                };
            });
        }
        out
    }

    /// Whether all that a statement is made of is straight code, run from end to end.
    pub fn is_simple(&self, loc: Loc) -> bool {
        self.simple.contains(&loc) && !self.others.contains(&loc)
    }

    /// What a condition computes is undone at once: how often that is run says nothing of statements.
    fn condition(&mut self, condition: &Condition, whole: impl Fn(Loc) -> Loc) {
        walk(&condition.compute, &mut |s| {
            self.others.insert(whole(s.loc));
        });
    }
}

impl Program {
    /// Where the statement begins of which something is a part: what is a part of none is its own.
    pub fn statement_at(&self, loc: Loc) -> Loc {
        self.parts.get(&loc).copied().unwrap_or(loc)
    }

    /// Parts of statements are placed where these begin.
    pub fn place_by_statement(&mut self) {
        let parts = std::mem::take(&mut self.parts);
        for function in &mut self.functions {
            place(&mut function.body, &|loc| parts.get(&loc).copied().unwrap_or(loc));
        }
    }
}

fn place(block: &mut [At], whole: &impl Fn(Loc) -> Loc) {
    for s in block {
        s.loc = whole(s.loc);
        for inner in blocks_mut(&mut s.stmt) {
            place(inner, whole);
        }
    }
}
