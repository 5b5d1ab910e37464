//! A static prediction of the parameters that functions change, for calls of functions that are still being compiled.
//!
//! A parameter that is not predicted is not changed; a predicted one may still be unchanged.

use std::collections::{HashMap, HashSet};

use super::Definition;
use super::declare::known_as;
use crate::nil::ast::{AssignOp, Expr, ExprKind, Safe, Stmt, StmtKind};

/// The names that a function changes.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes<'a> {
    /// Variables, with the arrays and fields in them.
    names: HashSet<&'a str>,
    /// Arrays of which a part is changed under another name.
    arrays: HashSet<&'a str>,
}

impl Changes<'_> {
    /// Whether a variable, or something in it, is changed.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Whether elements of an array are changed.
    pub(super) fn has_array(&self, name: &str) -> bool {
        self.names.contains(name) || self.arrays.contains(name)
    }
}

/// A variable that is passed to a function, by one of its names.
struct Passed<'a> {
    name: &'a str,
    /// The definitions that may be called, and the parameters that the variable is passed for.
    to: Vec<(usize, &'a str)>,
}

/// The syntactic facts about a function.
#[derive(Default)]
struct Written<'a> {
    changes: Changes<'a>,
    passed: Vec<Passed<'a>>,
    /// Names, and the names that they may be parts of.
    parts: Vec<(&'a str, &'a str)>,
}

/// The definitions by name.
pub(super) struct Index<'s, 'a> {
    pub(super) definitions: &'s [Definition<'a>],
    pub(super) by_name: &'s HashMap<String, Vec<usize>>,
    pub(super) by_instruction: &'s HashMap<(AssignOp, &'a str), Vec<usize>>,
}

/// The changes of each definition.
pub(super) fn changes<'a>(index: &Index<'_, 'a>) -> Vec<Changes<'a>> {
    let mut all: Vec<Written<'a>> = Vec::with_capacity(index.definitions.len());
    for d in index.definitions {
        let parameters: HashSet<&str> =
            d.ast.params.iter().chain(&d.ast.keywords).map(|p| p.name.text.as_str()).collect();
        let mut walk = Walk { index, parameters, scope: &d.ast.scope, out: Written::default() };
        walk.block(&d.ast.body);
        all.push(walk.out);
    }
    // A fixed point: at most one round for each name.
    loop {
        let mut new = false;
        for n in 0..all.len() {
            let mut found = Changes::default();
            for g in &all[n].passed {
                if g.to.iter().any(|(m, param)| all[*m].changes.has(param)) {
                    found.names.insert(g.name);
                }
                if g.to.iter().any(|(m, param)| all[*m].changes.has_array(param)) {
                    found.arrays.insert(g.name);
                }
            }
            for (part, whole) in &all[n].parts {
                if all[n].changes.has_array(part) {
                    found.arrays.insert(whole);
                }
            }
            let known = &mut all[n].changes;
            let before = (known.names.len(), known.arrays.len());
            known.names.extend(found.names);
            known.arrays.extend(found.arrays);
            new |= before != (known.names.len(), known.arrays.len());
        }
        if !new {
            return all.into_iter().map(|w| w.changes).collect();
        }
    }
}

/// The traversal of one function.
struct Walk<'s, 'a> {
    index: &'s Index<'s, 'a>,
    /// Its parameters.
    parameters: HashSet<&'a str>,
    /// The host's scopes around it.
    scope: &'a [usize],
    out: Written<'a>,
}

impl<'a> Walk<'_, 'a> {
    fn block(&mut self, list: &'a [Stmt]) {
        for s in list {
            self.stmt(s);
        }
    }

    fn changed(&mut self, e: &'a Expr) {
        roots(e, &mut |name| {
            self.out.changes.names.insert(name);
        });
    }

    fn stmt(&mut self, s: &'a Stmt) {
        match &s.kind {
            StmtKind::Assign { op, target, value, .. } => {
                self.changed(target);
                if let Some((f, args, keywords)) = super::assign::operation(value) {
                    let of = |op| self.index.by_instruction.get(&(op, f)).into_iter().flatten().copied();
                    let candidates: Vec<usize> = of(*op).chain(of(op.partner())).collect();
                    self.call(&candidates, 1, &args, keywords);
                }
            }
            StmtKind::Alloc { target, value, .. } => {
                let mut parts = Vec::new();
                roots(target, &mut |part| parts.push(part));
                if matches!(target.kind, ExprKind::Index(..) | ExprKind::Field(..)) {
                    self.out.changes.names.extend(&parts);
                }
                // A part of an array is not a copy.
                roots(value, &mut |whole| self.out.parts.extend(parts.iter().map(|part| (*part, whole))));
            }
            StmtKind::Call { callee, args, keywords, .. } => {
                let args: Vec<&Expr> = args.iter().collect();
                let f = match &callee.kind {
                    ExprKind::Unary(_, f) => f,
                    _ => callee,
                };
                let ExprKind::Name(f) = &f.kind else { return };
                if self.parameters.contains(f.as_str()) {
                    // A function that is a parameter may be any function with the same number of parameters.
                    let all = 0..self.index.definitions.len();
                    self.call(&all.collect::<Vec<_>>(), 0, &args, keywords);
                } else if let Some(candidates) = self.index.by_name.get(&known_as(self.index.by_name, f, self.scope)) {
                    self.call(&candidates.clone(), 0, &args, keywords);
                } else {
                    let changed = if matches!(f.as_str(), "ROT" | "IROT") { 2 } else { args.len() };
                    args.iter().take(changed).for_each(|a| self.changed(a));
                }
            }
            StmtKind::If { branches, otherwise } => {
                branches.iter().for_each(|(_, list)| self.block(list));
                self.block(otherwise);
            }
            StmtKind::While { body, .. } | StmtKind::For { body, .. } | StmtKind::Routine { body, .. } => {
                self.block(body);
            }
            StmtKind::Block(list) => self.block(list),
            StmtKind::Inverse(inner) | StmtKind::Marked(_, inner) => self.stmt(inner),
            StmtKind::Convert { target, .. } => self.changed(target),
            StmtKind::Exchange { left, right } => {
                for (side, other) in [(left, right), (right, left)] {
                    self.changed(&side.place);
                    // What is done to the one is done to the other.
                    let mut parts = Vec::new();
                    roots(&side.place, &mut |part| parts.push(part));
                    roots(&other.place, &mut |whole| self.out.parts.extend(parts.iter().map(|part| (*part, whole))));
                }
            }
            StmtKind::Safe(Safe::Clear(target)) => self.changed(target),
            StmtKind::Zeros { .. } | StmtKind::Unroutine { .. } | StmtKind::Safe(_) => {}
        }
    }

    /// Records the arguments of a call except the first `skip` ones.
    fn call(
        &mut self,
        candidates: &[usize],
        skip: usize,
        args: &[&'a Expr],
        keywords: &'a [(crate::nil::ast::Name, Expr)],
    ) {
        let definitions = self.index.definitions;
        let spread = args.iter().any(|a| matches!(a.kind, ExprKind::Splat(_)));
        let fit = |n: &&usize| spread || definitions[**n].ast.takes(args.len() + skip);
        let candidates: Vec<usize> = candidates.iter().filter(fit).copied().collect();
        let spread_at = args.iter().position(|a| matches!(a.kind, ExprKind::Splat(_))).unwrap_or(args.len());
        for (k, arg) in args.iter().enumerate() {
            let taken = |n: &usize| {
                let params = &definitions[*n].ast.params;
                // The last parameter may take several arguments, and the parts of a tuple may go to any from its place on.
                let first = (k + skip).min(params.len().saturating_sub(1));
                let count = if k >= spread_at { params.len() } else { 1 };
                params.iter().skip(first).take(count).map(|p| (*n, p.name.text.as_str())).collect::<Vec<_>>()
            };
            let to: Vec<(usize, &'a str)> = candidates.iter().flat_map(taken).collect();
            roots(arg, &mut |name| self.out.passed.push(Passed { name, to: to.clone() }));
        }
        for (key, arg) in keywords {
            let to: Vec<(usize, &'a str)> = candidates.iter().map(|n| (*n, key.text.as_str())).collect();
            roots(arg, &mut |name| self.out.passed.push(Passed { name, to: to.clone() }));
        }
    }
}

/// Calls `f` with the variables that an expression is a part of, or contains as a whole.
pub(super) fn roots<'a>(e: &'a Expr, visit: &mut impl FnMut(&'a str)) {
    match &e.kind {
        ExprKind::Name(name) => visit(name),
        ExprKind::Index(a, _)
        | ExprKind::Field(a, _)
        | ExprKind::Adjoint(a)
        | ExprKind::Pipe(a, _)
        | ExprKind::Unary(_, a)
        | ExprKind::Const(a)
        | ExprKind::Typed(a, _)
        | ExprKind::Fields(a)
        | ExprKind::Splat(a)
        | ExprKind::Skip(a) => roots(a, visit),
        ExprKind::Call { args: parts, .. } | ExprKind::Tuple(parts) | ExprKind::Array(parts) => {
            parts.iter().for_each(|p| roots(p, visit));
        }
        // A computed value is not a part of a variable.
        ExprKind::Binary { .. }
        | ExprKind::Choice(..)
        | ExprKind::Range { .. }
        | ExprKind::Colon
        | ExprKind::Type(_)
        | ExprKind::Text(_)
        | ExprKind::Int(_)
        | ExprKind::Real(_)
        | ExprKind::Bool(_) => {}
    }
}
