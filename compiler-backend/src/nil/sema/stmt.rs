//! Statements: blocks, routines, branches, conversions.

use pendula_isa::Ty;

use super::body::{Body, Sink};
use super::places::Uses;
use super::scope::Kind;
use super::value::{ScalarExpr, Value};
use super::{Done, Stop, invert};
use crate::ir::{self, Block, Condition, Stmt};
use crate::nil::ast::{self, ExprKind, Mark, Span, StmtKind};
use crate::nil::codes;
use crate::nil::types::Type;

impl Body<'_, '_> {
    /// Compiles the body of a function.
    pub(super) fn function_body(&mut self, list: &[ast::Stmt]) {
        self.statements(list);
        self.settle_parameters();
        self.close();
        self.f.body = std::mem::take(&mut self.now.out);
    }

    /// Compiles the statements of one block. After an error, it continues with the next statement.
    pub(super) fn statements(&mut self, list: &[ast::Stmt]) {
        let flat = list.iter().any(opens_routine).then(|| flattened(list));
        let list = flat.as_deref().unwrap_or(list);
        let mut n = 0;
        while let Some(s) = list.get(n) {
            self.loc = self.s.loc(self.file, &s.span);
            match &s.kind {
                StmtKind::Routine { name, body } => match matching(list, n) {
                    Some((end, true)) => {
                        let between = list.get(n + 1..end).unwrap_or(&[]);
                        let close = list.get(end).map_or(&s.span, |s| &s.span);
                        self.routine(name.as_ref(), body, between, close);
                        n = end + 1;
                        continue;
                    }
                    Some((_, false)) => {
                        self.routines.push((name.as_ref().map(|n| n.text.clone()), body.clone()));
                        self.span(name.as_ref(), false, body);
                    }
                    None => {
                        let help = "write `~@routine` in the same block, after what uses the routine";
                        let _ = self.fail::<()>(&s.span, codes::ROUTINE, "this routine is not undone", help);
                    }
                },
                StmtKind::Unroutine { name } => {
                    let name_sought = name.as_ref().map(|n| n.text.clone());
                    let found = self.routines.iter().rposition(|(n, _)| name_sought.is_none() || *n == name_sought);
                    match found {
                        Some(at) => {
                            let (_, body) = self.routines.remove(at);
                            self.span(name.as_ref(), true, &invert::block(&body));
                        }
                        None => {
                            let help = "`~@routine` undoes an `@routine` of the same block";
                            let _ = self.fail::<()>(&s.span, codes::ROUTINE, "there is no routine to undo here", help);
                        }
                    }
                }
                _ => {
                    let _ = self.stmt(s);
                }
            }
            n += 1;
        }
    }

    fn span(&mut self, name: Option<&ast::Name>, undo: bool, list: &[ast::Stmt]) {
        let outer = std::mem::take(&mut self.now.out);
        self.statements(list);
        let body = std::mem::replace(&mut self.now.out, outer);
        let name = name.map_or_else(|| self.span_name(), |n| format!("{}.{}", self.f.name, n.text));
        self.emit(Sink::Out, Stmt::Span { name, undo, body });
    }

    /// `@routine body; between; ~@routine`.
    fn routine(&mut self, name: Option<&ast::Name>, body: &[ast::Stmt], between: &[ast::Stmt], close: &Span) {
        let loc = self.loc;
        let (ended, count, arrays) = (self.scopes.ended(), self.scopes.len(), self.arrays.clone());
        let values = self.scopes.values();
        let outer = std::mem::take(&mut self.now.out);
        self.statements(body);
        let compute = std::mem::take(&mut self.now.out);
        let (ended_then, count_then, arrays_then) = (self.scopes.ended(), self.scopes.len(), self.arrays.clone());
        let values_then = self.scopes.values();
        self.statements(between);
        let use_ = std::mem::replace(&mut self.now.out, outer);
        self.loc = loc;
        // Where the routine is undone, names have the places that they had before it.
        self.same_places(&values_then, &ended_then, close);
        self.scopes.set_values(&values);
        let mut now = self.scopes.ended();
        for n in count..count_then {
            if let (Some(Some(at)), Some(None)) = (now.get(n).cloned(), ended_then.get(n)) {
                let name = self.scopes.get(n).map(|b| b.name.clone()).unwrap_or_default();
                let message = format!("`{name}` belongs to the routine, which is undone later");
                let _ = self.fail::<()>(&at, codes::ENDED, message, "leave it to `~@routine` to deallocate it");
            }
            if let Some(e) = now.get_mut(n) {
                *e = Some(close.clone());
            }
        }
        // The variables that the routine deallocated are allocated again.
        for (n, (before, then)) in ended.iter().zip(&ended_then).enumerate() {
            if before.is_none()
                && then.is_some()
                && let Some(e) = now.get_mut(n)
            {
                *e = None;
            }
        }
        self.scopes.set_ended(&now);
        if self.arrays != arrays_then {
            let help = "allocate the array before the routine, or deallocate it before `~@routine`";
            let message = "an array that was allocated after the routine is in use where that is undone";
            let _ = self.fail::<()>(close, codes::ORDER, message, help);
        }
        self.arrays = arrays;
        let name = name.map_or_else(|| self.span_name(), |n| format!("{}.{}", self.f.name, n.text));
        self.emit(Sink::Out, Stmt::With { name, compute, body: use_ });
    }

    /// Ends the innermost scope. Variables that are still allocated are deallocated, with a warning.
    pub(super) fn close(&mut self) {
        let live = self.scopes.live();
        let open = |b: &&super::scope::Binding| matches!(b.kind, Kind::Local(_)) && b.ended.is_none();
        let forgotten: Vec<(String, Span)> = live
            .clone()
            .filter_map(|n| self.scopes.get(n))
            .filter(open)
            .map(|b| (format!("`{}`", b.name), b.span.clone()))
            .collect();
        self.warn_not_ended(&forgotten);
        for n in live.rev() {
            let Some(b) = self.scopes.get(n).cloned() else { continue };
            if let (Kind::Local(e), None) = (&b.kind, &b.ended) {
                let name = ast::Name { text: b.name.clone(), span: b.span.clone() };
                let loops = std::mem::take(&mut self.loops);
                let loc = std::mem::replace(&mut self.loc, self.s.loc(self.file, &b.span));
                let _ = self.end(&name, e, &b.span);
                (self.loops, self.loc) = (loops, loc);
            }
        }
        self.scopes.close();
    }

    fn warn_not_ended(&mut self, forgotten: &[(String, Span)]) {
        let Some((_, first)) = forgotten.first() else { return };
        let names: Vec<&str> = forgotten.iter().map(|(name, _)| name.as_str()).collect();
        let verb = if names.len() == 1 { "is" } else { "are" };
        let message = format!("{} {verb} not deallocated", names.join(", "));
        let help = format!(
            "write `{} → e` with the last value; without it, the last value is assumed to be the initial one",
            names.first().map_or("x", |name| name.trim_matches('`'))
        );
        self.warn(first, codes::FORGOTTEN, message, &help);
    }

    /// Warns of variables that a statement under `~` does not deallocate: its inverse deallocates them.
    fn warn_of_forgotten(&mut self, s: &ast::Stmt) {
        let mut found = Vec::new();
        invert::forgotten(std::slice::from_ref(s), &mut found);
        for names in found {
            let names: Vec<(String, Span)> = names.into_iter().map(|n| (format!("`{}`", n.text), n.span)).collect();
            self.warn_not_ended(&names);
        }
    }

    /// Compiles statements in a scope of their own.
    pub(super) fn scoped(&mut self, list: &[ast::Stmt]) -> Block {
        let outer = std::mem::take(&mut self.now.out);
        let loc = self.loc;
        self.scopes.open();
        self.statements(list);
        self.close();
        self.loc = loc;
        std::mem::replace(&mut self.now.out, outer)
    }

    fn stmt(&mut self, s: &ast::Stmt) -> Done<()> {
        match &s.kind {
            StmtKind::Assign { op, dot, target, value } => self.assign_stmt(*op, *dot, target, value, &s.span),
            StmtKind::Alloc { target, value, free } => self.allocation(target, value, *free, &s.span),
            StmtKind::Zeros { ones, ty, names, free } => {
                let value = invert::call(
                    if *ones { "one" } else { "zero" },
                    vec![ast::Expr { kind: ExprKind::Type(ty.clone()), span: ty.span.clone() }],
                    &ty.span,
                );
                let mut all: Vec<&ast::Name> = names.iter().collect();
                if *free {
                    all.reverse();
                }
                for name in all {
                    if *free { self.end(name, &value, &s.span)? } else { self.begin(name, &value)? }
                }
                Ok(())
            }
            StmtKind::Call { callee, inverse, dot, args, keywords } => {
                self.call_stmt(callee, *inverse, *dot, args, keywords, &s.span)
            }
            StmtKind::If { branches, otherwise } => self.if_stmt(branches, otherwise, &s.span),
            StmtKind::While { condition, body } => self.while_stmt(condition, body),
            StmtKind::For { var, range, body } => self.for_stmt(var, range, body, false),
            StmtKind::Block(list) => {
                self.statements(list);
                Ok(())
            }
            StmtKind::Routine { .. } | StmtKind::Unroutine { .. } => {
                self.statements(std::slice::from_ref(s));
                Ok(())
            }
            StmtKind::Inverse(inner) => match &inner.kind {
                StmtKind::For { var, range, body } => {
                    self.warn_of_forgotten(inner);
                    self.for_stmt(var, range, &invert::scope(body), true)
                }
                StmtKind::Routine { .. } | StmtKind::Unroutine { .. } => self.fail(
                    &s.span,
                    codes::ROUTINE,
                    "a routine cannot be inverted here",
                    "invert the whole block around it",
                ),
                _ => {
                    self.warn_of_forgotten(inner);
                    self.statements(std::slice::from_ref(&invert::invert(inner)));
                    Ok(())
                }
            },
            StmtKind::Marked(mark, inner) => {
                let (checks, bounds, blocks) = (self.checks, self.bounds, self.blocks);
                match mark {
                    Mark::InvCheckOff => self.checks = false,
                    Mark::Inbounds => self.bounds = false,
                    Mark::Simd => self.blocks = is_for(inner),
                    Mark::Inline | Mark::Hint => {}
                }
                self.statements(std::slice::from_ref(&**inner));
                (self.checks, self.bounds, self.blocks) = (checks, bounds, blocks);
                Ok(())
            }
            StmtKind::Safe(safe) => self.safe(safe, &s.span),
            StmtKind::Convert { from, to, target } => self.convert_stmt(from, to, target, &s.span),
            StmtKind::Exchange { left, right } => self.exchange(left, right, &s.span),
        }
    }

    /// A condition with its computation.
    pub(super) fn condition(&mut self, e: &ast::Expr) -> Done<Condition> {
        let (compute, test) = self.computed(|s| {
            let x = s.truth(e)?;
            s.test(x)
        });
        Ok(Condition { compute, test: test? })
    }

    fn if_stmt(
        &mut self,
        branches: &[(ast::Condition, Vec<ast::Stmt>)],
        otherwise: &[ast::Stmt],
        span: &Span,
    ) -> Done<()> {
        let Some(((condition, then), rest)) = branches.split_first() else {
            let block = self.scoped(otherwise);
            self.now.out.extend(block);
            return Ok(());
        };
        // What a tuple's length decides is decided now: the other branch may not fit the tuple.
        match self.decided(condition) {
            Some(true) => {
                let block = self.scoped(then);
                self.now.out.extend(block);
                return Ok(());
            }
            Some(false) => return self.if_stmt(rest, otherwise, span),
            None => {}
        }
        let loc = self.loc;
        self.clauses(loc, "if", condition);
        let pre = self.condition(&condition.pre);
        let (ended, values, arrays) = (self.scopes.ended(), self.scopes.values(), self.arrays.clone());
        let then = self.scoped(then);
        let (ended_then, values_then, arrays_then) = (self.scopes.ended(), self.scopes.values(), self.arrays.clone());
        self.scopes.set_ended(&ended);
        self.scopes.set_values(&values);
        self.arrays = arrays;
        let outer = std::mem::take(&mut self.now.out);
        if let Some((condition, _)) = rest.first() {
            self.loc = self.s.loc(self.file, &condition.pre.span);
        }
        let done = self.if_stmt(rest, otherwise, span);
        let otherwise = std::mem::replace(&mut self.now.out, outer);
        done?;
        self.loc = loc;
        let ended_else = self.scopes.ended();
        for n in 0..ended_then.len() {
            let (a, b) = (ended_then.get(n).cloned().flatten(), ended_else.get(n).cloned().flatten());
            if a.is_some() != b.is_some() {
                let name = self.scopes.get(n).map(|b| b.name.clone()).unwrap_or_default();
                let at = a.or(b).unwrap_or(span.clone());
                let message = format!("one branch deallocates `{name}`, and the other does not");
                let _ = self.fail::<()>(&at, codes::BRANCHES, message, "deallocate it in both, or after them");
                if let Some(b) = self.scopes.get_mut(n) {
                    b.ended = Some(at);
                }
            }
        }
        self.same_places(&values_then, &ended_then, span);
        if arrays_then != self.arrays {
            let _ = self.fail::<()>(
                span,
                codes::BRANCHES,
                "the branches leave different arrays in use",
                "deallocate the same ones in both",
            );
        }
        let pre = pre?;
        let post = match &condition.post {
            // The condition is evaluated again, and must agree.
            Some(post) if *post == condition.pre => pre.clone(),
            Some(post) => self.condition(post)?,
            None => {
                self.unchanged(&pre, &[&then, &otherwise], &condition.pre.span)?;
                pre.clone()
            }
        };
        self.emit(Sink::Out, Stmt::If { pre, post, then, otherwise });
        Ok(())
    }

    /// Refuses a condition whose inputs are changed by the branches.
    fn unchanged(&mut self, c: &Condition, blocks: &[&Block], span: &Span) -> Done<()> {
        let written = &self.s.written;
        let reads = Uses::of_condition(c, written).reads;
        let changed = blocks.iter().find_map(|b| Uses::of(b, written).writes.into_iter().find(|v| reads.contains(v)));
        match changed {
            None => Ok(()),
            Some(v) => {
                let name = self.f.vars.get(v.0 as usize).map(|v| v.name.clone()).unwrap_or_default();
                let message = format!("`{name}` is changed by what this condition decides");
                let help = "give a postcondition, which holds afterwards exactly when this condition held before: `if (pre, post)`";
                self.fail(span, codes::DECISION, message, help)
            }
        }
    }

    /// `(T1 => T2)(x)`: the variable is converted to another type.
    fn convert_stmt(&mut self, from: &ast::TypeExpr, to: &ast::TypeExpr, target: &ast::Expr, span: &Span) -> Done<()> {
        let (from, to) = (self.type_expr(from)?, self.type_expr(to)?);
        let ExprKind::Name(name) = &target.kind else {
            return self.fail(
                &target.span,
                codes::NOT_ASSIGNABLE,
                "only a variable changes its type",
                "convert into another variable",
            );
        };
        let old = self.eval(target)?;
        let binding = self.scopes.find(name).and_then(|n| Some((n, self.scopes.get(n)?.kind.clone())));
        let (Some((n, Kind::Local(_))), true) = (binding, old.type_of() == Some(from.clone())) else {
            let message = format!("`{name}` is not a variable of type {from} that was allocated here");
            return self.fail(&target.span, codes::TYPE, message, "convert into another variable");
        };
        let ir::Place::Var(x) = self.first_place(&old)? else { return Err(Stop) };
        let new = self.new_variable(name, &to);
        let (Some(a), Some(b)) = (number_of(&from), number_of(&to)) else {
            return self.fail(span, codes::TYPE, "only numbers change their type", "convert the parts");
        };
        let place = self.first_place(&new)?;
        let ir::Place::Var(y) = place else { return Err(Stop) };
        let checks = ir::AncillaChecks::FULL;
        self.emit(Sink::Out, Stmt::Ancilla { var: y, free: false, checks });
        self.statement(|s| {
            let there = s.convert(ScalarExpr::var(x), a, b, span)?;
            s.accumulate(Sink::Out, place, b, super::accumulator(b), false, there)
        })?;
        self.statement(|s| {
            let back = s.convert(ScalarExpr::var(y), b, a, span)?;
            s.accumulate(Sink::Out, ir::Place::Var(x), a, super::accumulator(a), true, back)
        })?;
        self.emit(Sink::Out, Stmt::Ancilla { var: x, free: true, checks });
        if let Some(binding) = self.scopes.get_mut(n) {
            binding.value = new;
            let ty = ast::Expr { kind: ExprKind::Name(name.clone()), span: span.clone() };
            binding.kind = Kind::Local(Box::new(invert::call("zero", vec![ty], span)));
        }
        Ok(())
    }

    fn first_place(&mut self, v: &Value) -> Done<ir::Place> {
        self.targets(v).and_then(|p| p.first().copied()).ok_or(Stop)
    }
}

/// Whether a statement is a `for`, perhaps with marks before it.
fn is_for(s: &ast::Stmt) -> bool {
    match &s.kind {
        StmtKind::For { .. } => true,
        StmtKind::Marked(_, inner) | StmtKind::Inverse(inner) => is_for(inner),
        _ => false,
    }
}

/// Whether it is a routine or its end with marks before it, or a block with marks that opens more routines than it undoes, or fewer.
fn opens_routine(s: &ast::Stmt) -> bool {
    match &s.kind {
        StmtKind::Marked(_, inner) => {
            matches!(inner.kind, StmtKind::Routine { .. } | StmtKind::Unroutine { .. }) || opens_routine(inner)
        }
        StmtKind::Block(list) => {
            let opened = list.iter().filter(|s| matches!(s.kind, StmtKind::Routine { .. })).count();
            let undone = list.iter().filter(|s| matches!(s.kind, StmtKind::Unroutine { .. })).count();
            opened != undone || list.iter().any(opens_routine)
        }
        _ => false,
    }
}

/// Statements with those of such blocks in their place, each under the block's marks.
fn flattened(list: &[ast::Stmt]) -> Vec<ast::Stmt> {
    let mut out = Vec::new();
    for s in list {
        if opens_routine(s) { flatten(s, &mut Vec::new(), &mut out) } else { out.push(s.clone()) }
    }
    out
}

fn flatten(s: &ast::Stmt, marks: &mut Vec<Mark>, out: &mut Vec<ast::Stmt>) {
    let marked = |s: &ast::Stmt, marks: &[Mark]| {
        let wrap = |inner: ast::Stmt, mark: &Mark| {
            let span = inner.span.clone();
            ast::Stmt { kind: StmtKind::Marked(*mark, Box::new(inner)), span }
        };
        marks.iter().rev().fold(s.clone(), wrap)
    };
    match &s.kind {
        StmtKind::Marked(mark, inner) => {
            marks.push(*mark);
            flatten(inner, marks, out);
            marks.pop();
        }
        StmtKind::Block(list) if opens_routine(s) => list.iter().for_each(|s| flatten(s, marks, out)),
        StmtKind::Routine { name, body } => {
            let body = body.iter().map(|s| marked(s, marks)).collect();
            out.push(ast::Stmt { kind: StmtKind::Routine { name: name.clone(), body }, span: s.span.clone() });
        }
        StmtKind::Unroutine { .. } => out.push(s.clone()),
        _ => out.push(marked(s, marks)),
    }
}

/// The index of the `~@routine` for the routine at `n`, and whether the routines between them are undone between them,
/// too.
fn matching(list: &[ast::Stmt], n: usize) -> Option<(usize, bool)> {
    let StmtKind::Routine { name, .. } = &list.get(n)?.kind else { return None };
    let name = name.as_ref().map(|n| n.text.as_str());
    let mut open: Vec<Option<&str>> = vec![name];
    let mut nested = true;
    for (k, s) in list.iter().enumerate().skip(n + 1) {
        match &s.kind {
            StmtKind::Routine { name, .. } => open.push(name.as_ref().map(|n| n.text.as_str())),
            StmtKind::Unroutine { name } => {
                let name_sought = name.as_ref().map(|n| n.text.as_str());
                let found = open.iter().rposition(|n| name_sought.is_none() || *n == name_sought);
                match found {
                    Some(0) => return Some((k, nested && open.len() == 1)),
                    Some(at) => {
                        nested &= at + 1 == open.len();
                        open.remove(at);
                    }
                    None => nested = false,
                }
            }
            _ => {}
        }
    }
    None
}

fn number_of(t: &Type) -> Option<Ty> {
    if let Type::Num(ty) = t { Some(*ty) } else { None }
}
