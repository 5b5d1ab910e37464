//! Loops: `while` with a precondition and a postcondition, and `for` over ranges of integers.

use std::collections::HashSet;

use pendula_isa::Ty;
use pendula_isa::table::{TableFn, int_fn};

use super::body::{Body, Sink};
use super::places::Uses;
use super::scope::Kind;
use super::value::{Literal, ScalarExpr, Value};
use super::{Done, Stop, invert};
use crate::ir::{self, Block, Blocks, Operand, Step, Stmt, Var};
use crate::nil::ast::{self, ExprKind};
use crate::nil::codes;
use crate::nil::lexer::Lexer;
use crate::nil::token::Tok;

impl Body<'_, '_> {
    pub(super) fn while_stmt(&mut self, condition: &ast::Condition, body: &[ast::Stmt]) -> Done<()> {
        let Some(post) = &condition.post else {
            let help = "write `while (pre, post)`, where post is false before the loop and true after each iteration, or `@from entry while pre`, where entry is true before the loop and false after each iteration";
            return self.fail(&condition.pre.span, codes::NO_POST, "this loop has no postcondition", help);
        };
        self.clauses(self.loc, "while", condition);
        let pre = self.condition(&condition.pre);
        let post = self.condition(post);
        self.loops.push(self.scopes.len());
        let body = self.scoped(body);
        self.loops.pop();
        self.emit(Sink::Out, Stmt::While { pre: pre?, post: post?, first: Vec::new(), body });
        Ok(())
    }

    pub(super) fn for_stmt(
        &mut self,
        var: &ast::Name,
        range: &ast::Expr,
        body: &[ast::Stmt],
        reversed: bool,
    ) -> Done<()> {
        let blocks = std::mem::take(&mut self.blocks);
        let (range, from_end) = self.turned(range).map_or((range, false), |of| (of, true));
        let elements = self.statement(|s| {
            let before = s.now.pre.len();
            s.expected_type = Some(Ty::Int);
            let value = s.eval(range).and_then(|v| if from_end { s.backward(v, &range.span) } else { Ok(v) });
            s.expected_type = None;
            let (first, step, last) = match value {
                Ok(Value::Range(a, k, b)) => {
                    if let Some(turns) = s.turns_of_tuple(&var.text, body, [&a, &k, &b]) {
                        return Ok(Some(Value::Elements(turns)));
                    }
                    (*a, *k, *b)
                }
                Ok(v @ (Value::Array(_) | Value::Elements(_) | Value::Tuple(_))) => return Ok(Some(v)),
                Ok(other) => {
                    let message = format!("a range is expected here, found {}", other.describe());
                    return s.fail(&range.span, codes::TYPE, message, "write `for i = 1:n`");
                }
                Err(stop) => {
                    // The body is compiled, too, to report its own errors.
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
            let outer = std::mem::take(&mut s.now.out);
            let body = {
                let loc = s.loc;
                s.statements(body);
                s.loc = loc;
                s.close();
                std::mem::replace(&mut s.now.out, outer)
            };
            s.loops.pop();
            let writes = Uses::of(&body, &s.s.written).writes;
            let first = s.range_operand(&var.text, "bound", first, &writes)?;
            let step = match s.fold(step) {
                ScalarExpr::Const(0) => {
                    return s.fail(&range.span, codes::RANGE, "a range with step 0", "give another step");
                }
                ScalarExpr::Const(k) => Step::Const(k.cast_signed()),
                x => match s.range_operand(&var.text, "step", x, &writes)? {
                    Operand::Var(var) => Step::Var { var, negated: false },
                    Operand::Const(_) | Operand::Mem(_) => return Err(Stop),
                },
            };
            let last = match step {
                Step::Const(1 | -1) => last,
                Step::Const(k) => s.last_of(first, ScalarExpr::int(k), last),
                Step::Var { var, .. } => s.last_of(first, ScalarExpr::var(var), last),
            };
            let last = s.range_operand(&var.text, "bound", last, &writes)?;
            s.check_range_ancillas(&var.text, before, &body);
            let (first, last, step) = if reversed { (last, first, step.negated()) } else { (first, last, step) };
            let blocks = match reversed {
                _ if !blocks || s.s.settings.fast_float => None,
                false => Some(Blocks::FromFirst),
                true => Some(Blocks::FromLast),
            };
            s.emit(Sink::Out, Stmt::For { var: i, first, last, step, body, blocks });
            Ok(None)
        })?;
        elements.map_or(Ok(()), |of| self.for_elements(var, (range, of), body, (reversed, from_end)))
    }

    /// `x` of a loop over `reverse(x)`.
    fn turned<'e>(&self, range: &'e ast::Expr) -> Option<&'e ast::Expr> {
        let ExprKind::Call { callee, dot: false, args, keywords } = &range.kind else { return None };
        match (&callee.kind, &args[..]) {
            (ExprKind::Name(name), [of]) if name == "reverse" && keywords.is_empty() => {
                (!self.s.by_name.contains_key(name) && !self.s.hosts.contains_key(name.as_str())).then_some(of)
            }
            _ => None,
        }
    }

    /// What a loop over `reverse(x)` goes over; an array is gone through from the end later.
    fn backward(&mut self, of: Value, span: &ast::Span) -> Done<Value> {
        match of {
            Value::Tuple(mut parts) => {
                parts.reverse();
                Ok(Value::Tuple(parts))
            }
            Value::Range(first, step, last) if self.fold((*step).clone()) == ScalarExpr::int(1) => {
                Ok(Value::Range(last, Box::new(ScalarExpr::int(-1)), first))
            }
            Value::Elements(mut elements) => {
                elements.reverse();
                Ok(Value::Elements(elements))
            }
            of @ Value::Array(_) => Ok(of),
            other => {
                let message = format!("a loop does not go through {} from the end", other.describe());
                self.fail(span, codes::TYPE, message, "it does so with arrays, tuples and ranges whose step is 1")
            }
        }
    }

    /// The turns of a loop whose variable is the index of a tuple: the parts of a tuple may differ in type, so there is one
    /// copy of the body for each.
    fn turns_of_tuple(
        &self,
        var: &str,
        body: &[ast::Stmt],
        [first, step, last]: [&ScalarExpr; 3],
    ) -> Option<Vec<Value>> {
        /// The most parts of a tuple.
        const MOST: i64 = 64;
        let number = |x: &ScalarExpr| match self.fold(x.clone()) {
            ScalarExpr::Const(w) => Some(w.cast_signed()),
            ScalarExpr::Lit(Literal::Int(n)) => i64::try_from(n).ok(),
            _ => None,
        };
        let (first, step, last) = (number(first)?, number(step)?, number(last)?);
        let count = last.checked_sub(first)?.checked_div(step)?.checked_add(1)?.max(0);
        if count > MOST || !self.indexes_tuple(var, body) {
            return None;
        }
        let turn = |n: i64| Value::Num(ScalarExpr::int(first.wrapping_add(step.wrapping_mul(n))), Some(Ty::Int));
        Some((0..count).map(turn).collect())
    }

    /// Whether statements say `t |> tget(i)`, or `t[i]` of a tuple.
    fn indexes_tuple(&self, var: &str, body: &[ast::Stmt]) -> bool {
        let (Some(begin), Some(end)) = (body.first(), body.last()) else { return false };
        let text = self.s.inputs.get(self.file as usize).map_or("", |i| i.text.as_str());
        let Some(text) = text.get(begin.span.start..end.span.end) else { return false };
        let mut lexer = Lexer::new(text, 0, text.len());
        let mut last: [&str; 4] = [""; 4];
        // How deep the index of a tuple is nested that begins before this token.
        let mut inside: Option<u32> = None;
        let is_tuple = |name: &str| {
            let found = self.scopes.find(name).and_then(|n| self.scopes.get(n));
            let constant =
                || self.constant_name(name).and_then(|name| self.s.constants.get(name)).map(|(_, e)| &e.kind);
            matches!(found.map(|b| &b.value), Some(Value::Tuple(_) | Value::Elements(_)))
                || found.is_none() && matches!(constant(), Some(ExprKind::Array(_) | ExprKind::Tuple(_)))
        };
        loop {
            let token = lexer.token();
            if matches!(token.kind, Tok::Eof | Tok::OpenText | Tok::OpenComment) {
                return false;
            }
            last.rotate_left(1);
            last[3] = text.get(token.start..token.end).unwrap_or("");
            match last {
                [_, _, "tget", "("] => inside = Some(0),
                [_, _, name, "["] if inside.is_none() && is_tuple(name) => inside = Some(0),
                [_, _, _, own] if own == var && inside.is_some() => return true,
                [_, _, _, "(" | "["] => inside = inside.map(|depth| depth + 1),
                [_, _, _, ")" | "]"] => inside = inside.filter(|depth| *depth > 0).map(|depth: u32| depth - 1),
                _ => {}
            }
        }
    }

    /// `for x in v`: of an array, each element is copied to `x`, and must be the same at the end of the turn; of a tuple,
    /// there is one copy of the body for each part.
    fn for_elements(
        &mut self,
        var: &ast::Name,
        (range, of): (&ast::Expr, Value),
        body: &[ast::Stmt],
        (reversed, from_end): (bool, bool),
    ) -> Done<()> {
        match of {
            Value::Array(view) if view.keyed => {
                let help = "go through the keys: `for k = 1:n`";
                return self.fail(&range.span, codes::UNSUPPORTED, "a loop over a dictionary", help);
            }
            Value::Array(view) if view.dims.len() == 1 || view.is_contiguous() => {}
            Value::Elements(mut parts) | Value::Tuple(mut parts) => {
                if reversed {
                    parts.reverse();
                }
                for part in parts {
                    let part = self.shared(part)?;
                    let outer = std::mem::take(&mut self.now.out);
                    self.scopes.open();
                    self.alias(var, part);
                    self.statements(body);
                    self.close();
                    let block = std::mem::replace(&mut self.now.out, outer);
                    self.now.out.extend(block);
                }
                return Ok(());
            }
            other => {
                let message = format!("the elements of {} do not lie side by side", other.describe());
                return self.fail(&range.span, codes::TYPE, message, "use one loop for each dimension");
            }
        }
        let expr = |kind: ExprKind| ast::Expr { kind, span: range.span.clone() };
        let name = |text: &str| expr(ExprKind::Name(text.to_string()));
        // No name of the source has a point.
        let index = ast::Name { text: format!("{}.number", var.text), span: var.span.clone() };
        let last = invert::call("length", vec![range.clone()], &range.span);
        let one = || Box::new(expr(ExprKind::Int("1".to_string())));
        let indices = match from_end {
            false => expr(ExprKind::Range { first: one(), step: None, last: Box::new(last) }),
            true => {
                let step = Some(Box::new(expr(ExprKind::Unary(ast::Unary::Minus, one()))));
                expr(ExprKind::Range { first: Box::new(last), step, last: one() })
            }
        };
        let copy = |free: bool| {
            let element = expr(ExprKind::Index(Box::new(range.clone()), vec![name(&index.text)]));
            let target = ast::Expr { kind: ExprKind::Name(var.text.clone()), span: var.span.clone() };
            ast::Stmt { kind: ast::StmtKind::Alloc { target, value: element, free }, span: range.span.clone() }
        };
        let body: Vec<ast::Stmt> =
            std::iter::once(copy(false)).chain(body.iter().cloned()).chain(std::iter::once(copy(true))).collect();
        self.for_stmt(&index, &indices, &body, reversed)
    }

    /// An operand of a range with its value at the beginning of the loop. If the loop may change it, it must have this
    /// value again at the end.
    fn range_operand(&mut self, counter: &str, part: &str, x: ScalarExpr, writes: &HashSet<Var>) -> Done<Operand> {
        let o = self.put(Ty::Int, x)?;
        let name = match o {
            Operand::Const(_) => return Ok(o),
            Operand::Var(v) if !writes.contains(&v) => return Ok(o),
            Operand::Var(v) => format!("{counter}.{}.{part}", self.f.vars[v.0 as usize].name),
            Operand::Mem(_) => format!("{counter}.{part}"),
        };
        let var = self.fresh(&name, Ty::Int);
        let checks = ir::AncillaChecks { check: self.checks, drop: false };
        self.emit(Sink::Pre, Stmt::Ancilla { var, free: false, checks });
        self.accumulate(Sink::Pre, ir::Place::Var(var), Ty::Int, pendula_isa::Acc::Add, false, o.into())?;
        Ok(Operand::Var(var))
    }

    /// Makes the ancillas of a range that were computed since statement number `before` of the computation checked, if
    /// their inputs may change in the loop: undoing them needs the same values again.
    fn check_range_ancillas(&mut self, counter: &str, before: usize, body: &Block) {
        let changes = Uses::of(body, &self.s.written);
        let made: HashSet<Var> = self.now.pre[before..]
            .iter()
            .filter(|at| !matches!(at.stmt, Stmt::Ancilla { .. }))
            .map(|at| Uses::of_stmt(&at.stmt, &self.s.written))
            .filter(|uses| uses.depends_on(&changes))
            .flat_map(|uses| uses.writes)
            .collect();
        for at in &mut self.now.pre[before..] {
            if let Stmt::Ancilla { var, free: false, checks } = &mut at.stmt
                && made.contains(var)
                && !checks.check
            {
                checks.check = self.checks;
                self.f.vars[var.0 as usize].name = format!("{counter}.bound");
            }
        }
    }

    /// The last value of a range: first + ⌊(last − first)/step⌋·step.
    fn last_of(&self, first: Operand, step: ScalarExpr, last: ScalarExpr) -> ScalarExpr {
        let f =
            |f: int_fn::Name, a: ScalarExpr, b: ScalarExpr| self.fold(ScalarExpr::Apply(TableFn::Int(f), vec![a, b]));
        let distance = f(int_fn::Name::Minus, last, first.into());
        let turns = f(int_fn::Name::Div, distance, step.clone());
        f(int_fn::Name::Plus, f(int_fn::Name::Mul, turns, step), first.into())
    }
}
