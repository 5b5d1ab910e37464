//! Statements: control, routines, scopes.

use std::collections::HashSet;

use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::{Cond, Ty};

use super::body::{Body, Sink};
use super::places::Uses;
use super::scope::Kind;
use super::value::{ScalarExpr, Value};
use super::{Done, Stop, invert};
use crate::ir::{self, Block, Condition, Operand, Step, Stmt, Test, Var, Why};
use crate::nil::ast::{self, ExprKind, Mark, Safe, Span, StmtKind, TextPart};
use crate::nil::codes;
use crate::nil::types::Type;

impl Body<'_, '_> {
    /// The body of a function.
    pub(super) fn function_body(&mut self, list: &[ast::Stmt]) {
        self.statements(list);
        self.close();
        self.f.body = std::mem::take(&mut self.out);
    }

    /// Statements of one block. After an error the next one is tried.
    pub(super) fn statements(&mut self, list: &[ast::Stmt]) {
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
                    let wanted = name.as_ref().map(|n| n.text.clone());
                    let found = self.routines.iter().rposition(|(n, _)| wanted.is_none() || *n == wanted);
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
        let outer = std::mem::take(&mut self.out);
        self.statements(list);
        let body = std::mem::replace(&mut self.out, outer);
        let name = name.map_or_else(|| self.span_name(), |n| format!("{}.{}", self.f.name, n.text));
        self.emit(Sink::Out, Stmt::Span { name, undo, body });
    }

    /// `@routine body; between; ~@routine`.
    fn routine(&mut self, name: Option<&ast::Name>, body: &[ast::Stmt], between: &[ast::Stmt], close: &Span) {
        let loc = self.loc;
        let (ended, count, arrays) = (self.scopes.ended(), self.scopes.len(), self.arrays.clone());
        let outer = std::mem::take(&mut self.out);
        self.statements(body);
        let compute = std::mem::take(&mut self.out);
        let (ended_then, count_then, arrays_then) = (self.scopes.ended(), self.scopes.len(), self.arrays.clone());
        self.statements(between);
        let use_ = std::mem::replace(&mut self.out, outer);
        self.loc = loc;
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
        // What the routine deallocated is back.
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

    /// Ends the innermost scope: what it forgets to deallocate is deallocated, with a warning.
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
        let help = "write `x → e` with the last value; it is taken to be the one that the variable began with";
        self.warn(first, codes::FORGOTTEN, message, help);
    }

    /// Of a statement that is undone: its inverse ends what it leaves to end by itself.
    fn warn_of_forgotten(&mut self, s: &ast::Stmt) {
        let mut found = Vec::new();
        invert::forgotten(std::slice::from_ref(s), &mut found);
        for names in found {
            let names: Vec<(String, Span)> = names.into_iter().map(|n| (format!("`{}`", n.text), n.span)).collect();
            self.warn_not_ended(&names);
        }
    }

    /// Statements in a scope of their own.
    fn scoped(&mut self, list: &[ast::Stmt]) -> Block {
        let outer = std::mem::take(&mut self.out);
        let loc = self.loc;
        self.scopes.open();
        self.statements(list);
        self.close();
        self.loc = loc;
        std::mem::replace(&mut self.out, outer)
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
            StmtKind::While { condition, body } => self.while_stmt(condition, body, &s.span),
            StmtKind::For { var, range, body } => self.for_stmt(var, range, body, false, &s.span),
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
                    self.for_stmt(var, range, &invert::scope(body), true, &s.span)
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
                let (checks, bounds) = (self.checks, self.bounds);
                match mark {
                    Mark::InvCheckOff => self.checks = false,
                    Mark::Inbounds => self.bounds = false,
                    Mark::Inline | Mark::Hint => {}
                }
                self.statements(std::slice::from_ref(&**inner));
                (self.checks, self.bounds) = (checks, bounds);
                Ok(())
            }
            StmtKind::Safe(safe) => self.safe(safe, &s.span),
            StmtKind::Convert { from, to, target } => self.convert_stmt(from, to, target, &s.span),
        }
    }

    /// A condition with what it computes.
    fn condition(&mut self, e: &ast::Expr) -> Done<Condition> {
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
            self.out.extend(block);
            return Ok(());
        };
        let loc = self.loc;
        self.clauses(loc, "if", condition);
        let pre = self.condition(&condition.pre);
        let (ended, arrays) = (self.scopes.ended(), self.arrays.clone());
        let then = self.scoped(then);
        let (ended_then, arrays_then) = (self.scopes.ended(), self.arrays.clone());
        self.scopes.set_ended(&ended);
        self.arrays = arrays;
        let outer = std::mem::take(&mut self.out);
        if let Some((condition, _)) = rest.first() {
            self.loc = self.s.loc(self.file, &condition.pre.span);
        }
        let done = self.if_stmt(rest, otherwise, span);
        let otherwise = std::mem::replace(&mut self.out, outer);
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
            Some(post) => self.condition(post)?,
            None => {
                self.unchanged(&pre, &[&then, &otherwise], &condition.pre.span)?;
                pre.clone()
            }
        };
        self.emit(Sink::Out, Stmt::If { pre, post, then, otherwise });
        Ok(())
    }

    /// Refuses a condition that is changed by what it decides.
    fn unchanged(&mut self, c: &Condition, blocks: &[&Block], span: &Span) -> Done<()> {
        let written = &self.s.written;
        let reads = Uses::of_condition(c, written).reads;
        let changed = blocks.iter().find_map(|b| Uses::of(b, written).writes.into_iter().find(|v| reads.contains(v)));
        match changed {
            None => Ok(()),
            Some(v) => {
                let name = self.f.vars.get(v.0 as usize).map(|v| v.name.clone()).unwrap_or_default();
                let message = format!("`{name}` is changed by what this condition decides");
                let help =
                    "give a postcondition, which holds afterwards just if this one held before: `if (pre, post)`";
                self.fail(span, codes::DECISION, message, help)
            }
        }
    }

    fn while_stmt(&mut self, condition: &ast::Condition, body: &[ast::Stmt], span: &Span) -> Done<()> {
        let Some(post) = &condition.post else {
            let help = "write `while (pre, post)`, where post is false before the loop and true after each turn, or `@from entry while pre`, where entry is true before and false after";
            return self.fail(&condition.pre.span, codes::NO_POST, "this loop has no postcondition", help);
        };
        let _ = span;
        self.clauses(self.loc, "while", condition);
        let pre = self.condition(&condition.pre);
        let post = self.condition(post);
        self.loops.push(self.scopes.len());
        let body = self.scoped(body);
        self.loops.pop();
        self.emit(Sink::Out, Stmt::While { pre: pre?, post: post?, first: Vec::new(), body });
        Ok(())
    }

    fn for_stmt(
        &mut self,
        var: &ast::Name,
        range: &ast::Expr,
        body: &[ast::Stmt],
        reversed: bool,
        span: &Span,
    ) -> Done<()> {
        self.statement(|s| {
            let before = s.pre.len();
            s.want = Some(Ty::Int);
            let value = s.eval(range);
            s.want = None;
            let (first, step, last) = match value {
                Ok(Value::Range(a, k, b)) => (*a, *k, *b),
                Ok(Value::Array(_)) | Ok(Value::Elements(_)) => {
                    let help = "count its indices: `for i = 1:length(x)`";
                    return s.fail(&range.span, codes::TYPE, "a `for` goes over a range of integers", help);
                }
                Ok(other) => {
                    let message = format!("a range is wanted here, found {}", other.describe());
                    return s.fail(&range.span, codes::TYPE, message, "write `for i = 1:n`");
                }
                Err(stop) => {
                    // The body is looked at, too, for its own errors.
                    s.failed.insert(var.text.clone());
                    return Err(stop);
                }
            };
            let i = s.fresh(&var.text, Ty::Int);
            s.fixed.insert(i);
            s.loops.push(s.scopes.len());
            s.scopes.open();
            let value = Value::Num(ScalarExpr::var(i), Some(Ty::Int));
            s.note(&var.text, &value);
            s.scopes.add(&var.text, value, Kind::Loop, &var.span);
            let outer = std::mem::take(&mut s.out);
            let body = {
                let loc = s.loc;
                s.statements(body);
                s.loc = loc;
                s.close();
                std::mem::replace(&mut s.out, outer)
            };
            s.loops.pop();
            let writes = Uses::of(&body, &s.s.written).writes;
            let first = s.steady(&var.text, "bound", first, &writes)?;
            let step = match s.fold(step) {
                ScalarExpr::Const(0) => {
                    return s.fail(&range.span, codes::RANGE, "a range with step 0", "give another step");
                }
                ScalarExpr::Const(k) => Step::Const(k.cast_signed()),
                x => match s.steady(&var.text, "step", x, &writes)? {
                    Operand::Var(var) => Step::Var { var, negated: false },
                    Operand::Const(_) | Operand::Mem(_) => return Err(Stop),
                },
            };
            let last = match step {
                Step::Const(1 | -1) => last,
                Step::Const(k) => s.last_of(first, ScalarExpr::int(k), last),
                Step::Var { var, .. } => s.last_of(first, ScalarExpr::var(var), last),
            };
            let last = s.steady(&var.text, "bound", last, &writes)?;
            s.steadied(&var.text, before, &body);
            let (first, last, step) = if reversed { (last, first, step.negated()) } else { (first, last, step) };
            let _ = span;
            s.emit(Sink::Out, Stmt::For { var: i, first, last, step, body });
            Ok(())
        })
    }

    /// What a range is made of, as it is where the loop begins. What the loop may change must have its value again where the loop ends.
    fn steady(&mut self, counter: &str, part: &str, x: ScalarExpr, writes: &HashSet<Var>) -> Done<Operand> {
        let o = self.put(Ty::Int, x)?;
        let name = match o {
            Operand::Const(_) => return Ok(o),
            Operand::Var(v) if !writes.contains(&v) => return Ok(o),
            Operand::Var(v) => format!("{counter}.{}.{part}", self.f.vars[v.0 as usize].name),
            Operand::Mem(_) => format!("{counter}.{part}"),
        };
        let var = self.fresh(&name, Ty::Int);
        let care = ir::AncillaChecks { check: self.checks, drop: false };
        self.emit(Sink::Pre, Stmt::Ancilla { var, free: false, care });
        self.accumulate(Sink::Pre, ir::Place::Var(var), Ty::Int, pendula_isa::Acc::Add, false, o.into())?;
        Ok(Operand::Var(var))
    }

    /// The same of what has been computed for a range since there were `before` statements: what is computed of something that the loop changes
    /// is undone with another value, unless that is again what it was.
    fn steadied(&mut self, counter: &str, before: usize, body: &Block) {
        let changes = Uses::of(body, &self.s.written);
        let made: HashSet<Var> = self.pre[before..]
            .iter()
            .filter(|at| !matches!(at.stmt, Stmt::Ancilla { .. }))
            .map(|at| Uses::of_stmt(&at.stmt, &self.s.written))
            .filter(|uses| uses.depends_on(&changes))
            .flat_map(|uses| uses.writes)
            .collect();
        for at in &mut self.pre[before..] {
            if let Stmt::Ancilla { var, free: false, care } = &mut at.stmt
                && made.contains(var)
                && !care.check
            {
                care.check = self.checks;
                self.f.vars[var.0 as usize].name = format!("{counter}.bound");
            }
        }
    }

    /// The last value of a range: first + ⌊(last − first)/step⌋·step.
    fn last_of(&self, first: Operand, step: ScalarExpr, last: ScalarExpr) -> ScalarExpr {
        let f = |f: int_fn::Name, a: ScalarExpr, b: ScalarExpr| {
            self.fold(ScalarExpr::FunctionId(TableFn::Int(f), vec![a, b]))
        };
        let distance = f(int_fn::Name::Minus, last, first.into());
        let turns = f(int_fn::Name::Div, distance, step.clone());
        f(int_fn::Name::Plus, f(int_fn::Name::Mul, turns, step), first.into())
    }

    fn safe(&mut self, safe: &Safe, span: &Span) -> Done<()> {
        match safe {
            Safe::Assert { condition, message } => {
                let says = match message.as_ref().and_then(plain_text) {
                    Some(text) => self.said(text),
                    None => self.said(format!("`{}` does not hold", self.source(&condition.span))),
                };
                self.statement(|s| {
                    let x = s.truth(condition)?;
                    s.assert_all(x, says)
                })
            }
            Safe::Error(message) => {
                let plain = message.as_ref().map(plain_text);
                if let (Some(message), Some(None)) = (message, &plain) {
                    self.show(message)?;
                }
                let says = plain.flatten().and_then(|text| self.said(text));
                let zero = Operand::Const(0);
                let test = Test { cond: Cond::Ne, ty: Ty::Int, a: zero, b: zero };
                self.emit(Sink::Out, Stmt::Assert { test, why: Why::User, says });
                Ok(())
            }
            Safe::Show(parts) => parts.iter().try_for_each(|p| self.show(p)),
            Safe::Other(text) => {
                let message = format!("this host statement has no meaning here: `{text}`");
                let help = "of host statements, assertions, errors and printing are kept; leave the others out";
                self.fail(span, codes::UNSUPPORTED, message, help)
            }
        }
    }

    /// Has a truth value asserted: of a conjunction, each part.
    fn assert_all(&mut self, x: ScalarExpr, says: Option<u32>) -> Done<()> {
        if let ScalarExpr::Both(a, b) = x {
            self.assert_all(*a, says)?;
            return self.statement(|s| s.assert_all(*b, says));
        }
        let test = self.test(x)?;
        self.emit(Sink::Out, Stmt::Assert { test, why: Why::User, says });
        Ok(())
    }

    fn show(&mut self, e: &ast::Expr) -> Done<()> {
        if let ExprKind::Text(parts) = &e.kind {
            for part in parts {
                match part {
                    TextPart::Plain(text) => self.print(text),
                    TextPart::Value(e) => self.show(e)?,
                }
            }
            return Ok(());
        }
        // A message in a constructor, as in `DimensionMismatch("…")`.
        if let ExprKind::Call { callee, args, .. } = &e.kind
            && let ExprKind::Name(name) = &callee.kind
            && name.starts_with(char::is_uppercase)
            && args.iter().all(|a| matches!(a.kind, ExprKind::Text(_)))
        {
            self.print(&name.clone());
            return args.iter().try_for_each(|a| self.show(a));
        }
        self.statement(|s| {
            let v = s.eval(e)?;
            s.show_value(v, &e.span)
        })
    }

    fn show_value(&mut self, v: Value, span: &Span) -> Done<()> {
        let one = |s: &mut Self, x: ScalarExpr, ty: Ty| -> Done<()> {
            let x = s.typed(x, ty, span)?;
            let value = s.put(ty, x)?;
            s.emit(Sink::Out, Stmt::Show { ty, value });
            Ok(())
        };
        match v {
            Value::Num(ScalarExpr::Lit(l @ super::value::Literal::Int(_)), None) => {
                one(self, ScalarExpr::Lit(l), Ty::Int)
            }
            Value::Num(x, ty) => one(self, x, ty.unwrap_or(Ty::F)),
            Value::Bool(x) => self.show_truth(x),
            Value::Tropical(x, ty) => one(self, x, ty),
            // The number itself may be greater than any double.
            Value::Log(log, sign) => {
                self.print(if sign.is_some() { "logarithm and sign" } else { "logarithm" });
                one(self, log, Ty::F)?;
                sign.map_or(Ok(()), |sign| one(self, *sign, Ty::Int))
            }
            Value::Complex(a, b, ty) => {
                let ty = ty.unwrap_or(Ty::F);
                one(self, a, ty)?;
                one(self, b, ty)
            }
            Value::Struct(_, parts) | Value::Tuple(parts) | Value::Elements(parts) => {
                parts.into_iter().try_for_each(|p| self.show_value(p, span))
            }
            Value::Array(view) => {
                let lens: Vec<Operand> = view.dims.iter().map(|d| d.len).collect();
                self.for_each(&lens, &mut |s, at| {
                    s.statement(|s| {
                        let v = s.at(&view, at, span)?;
                        s.show_value(v, span)
                    })
                })
            }
            Value::Function(name) => {
                self.print(&name);
                Ok(())
            }
            Value::Type(t) => {
                self.print(&t.to_string());
                Ok(())
            }
            Value::Range(..) => self.fail(span, codes::TYPE, "a range cannot be shown", "show its ends"),
        }
    }

    /// Shows `true` or `false`.
    fn show_truth(&mut self, x: ScalarExpr) -> Done<()> {
        let (compute, test) = self.computed(|s| s.test(x));
        let condition = Condition { compute, test: test? };
        let mut text = |text: &str| {
            let show = |s: &mut Self| {
                s.print(text);
                Ok(())
            };
            self.block(show).0
        };
        let (then, otherwise) = (text("true"), text("false"));
        self.emit(Sink::Out, Stmt::If { pre: condition.clone(), post: condition, then, otherwise });
        Ok(())
    }

    fn print(&mut self, text: &str) {
        let texts = &mut self.s.program.texts;
        let n = texts.iter().position(|t| t == text).unwrap_or_else(|| {
            texts.push(text.to_string());
            texts.len() - 1
        });
        self.emit(Sink::Out, Stmt::Print(n as u32));
    }

    /// `(T1 => T2)(x)`: the variable becomes one of another type.
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
        let (Some((n, Kind::Local(init))), true) = (binding, old.type_of() == Some(from.clone())) else {
            let message = format!("`{name}` is no variable of type {from} that was allocated here");
            return self.fail(&target.span, codes::TYPE, message, "convert into another variable");
        };
        let ir::Place::Var(x) = self.first_place(&old)? else { return Err(Stop) };
        let new = self.new_variable(name, &to);
        let (Some(a), Some(b)) = (number_of(&from), number_of(&to)) else {
            return self.fail(span, codes::TYPE, "only numbers change their type", "convert the parts");
        };
        let place = self.first_place(&new)?;
        let ir::Place::Var(y) = place else { return Err(Stop) };
        let care = ir::AncillaChecks::FULL;
        self.emit(Sink::Out, Stmt::Ancilla { var: y, free: false, care });
        self.statement(|s| {
            let there = s.convert(ScalarExpr::var(x), a, b, span)?;
            s.accumulate(Sink::Out, place, b, super::gather(b), false, there)
        })?;
        self.statement(|s| {
            let back = s.convert(ScalarExpr::var(y), b, a, span)?;
            s.accumulate(Sink::Out, ir::Place::Var(x), a, super::gather(a), true, back)
        })?;
        self.emit(Sink::Out, Stmt::Ancilla { var: x, free: true, care });
        let _ = init;
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

/// Where the routine at `n` is undone, and whether other routines between are undone between, too.
fn matching(list: &[ast::Stmt], n: usize) -> Option<(usize, bool)> {
    let StmtKind::Routine { name, .. } = &list.get(n)?.kind else { return None };
    let name = name.as_ref().map(|n| n.text.as_str());
    let mut open: Vec<Option<&str>> = vec![name];
    let mut nested = true;
    for (k, s) in list.iter().enumerate().skip(n + 1) {
        match &s.kind {
            StmtKind::Routine { name, .. } => open.push(name.as_ref().map(|n| n.text.as_str())),
            StmtKind::Unroutine { name } => {
                let wanted = name.as_ref().map(|n| n.text.as_str());
                let found = open.iter().rposition(|n| wanted.is_none() || *n == wanted);
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

/// A message that is known now.
fn plain_text(message: &ast::Expr) -> Option<String> {
    let ExprKind::Text(parts) = &message.kind else { return None };
    let mut whole = String::new();
    for part in parts {
        match part {
            ast::TextPart::Plain(text) => whole.push_str(text),
            ast::TextPart::Value(_) => return None,
        }
    }
    Some(whole)
}
