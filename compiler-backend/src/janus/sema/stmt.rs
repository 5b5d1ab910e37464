//! Statements.

use pendula_isa::diagnostic::plural;
use pendula_isa::table::{Row, TableFn, int_fn};
use pendula_isa::{Acc, Cond, Ty};

use super::alias::mentions;
use super::body::{Body, ID, Sink};
use super::constant::known;
use super::scope::{Binding, Dim, Kind, Location};
use super::{Done, NO_ROOM, ZERO};
use crate::ir::{AncillaChecks, AssertKind, Block, Condition, Operand, Place, Region, Stmt as Ir, Test, Var, invert};
use crate::janus::ast::{AssignOp, BinOp, Expr, ExprKind, IntTy, Lval, Name, Span, Stmt, StmtKind};
use crate::janus::codes;

impl Body<'_, '_> {
    pub(super) fn stmt(&mut self, s: &Stmt) -> Done<()> {
        match &s.kind {
            StmtKind::Update { op, target, value } => self.update_stmt(*op, target, value),
            StmtKind::Swap(a, b) => self.swap(a, b, &s.span),
            StmtKind::If { pre, then, otherwise, post } => {
                self.clauses([("if", pre), ("fi", post)], false);
                let (pre, post) = (self.condition(pre), self.condition(post));
                let (then, otherwise) = (self.conditional_block(then), self.conditional_block(otherwise));
                let (pre, post) = (pre?, post?);
                self.emit(Sink::Out, Ir::If { pre, post, then, otherwise });
                Ok(())
            }
            StmtKind::From { pre, first, body, post } => {
                self.clauses([("until", post), ("from", pre)], true);
                let (from, until) = (self.condition(pre), self.condition(post));
                let (first, ()) = self.block(|b| b.statements(first));
                let body = self.conditional_block(body);
                let (from, until) = (from?, until?);
                let not = |c: Condition| Condition { test: c.test.negated(), ..c };
                self.emit(Sink::Out, Ir::While { pre: not(until), post: not(from), first, body });
                Ok(())
            }
            StmtKind::Push { pop, value, stack } => self.push(*pop, value, stack),
            StmtKind::Local { begin, body, end } => self.local(begin, body, end),
            StmtKind::Call { inverse, name, args } => self.call(*inverse, name, args, &s.span),
            StmtKind::Iterate { ty, name, from, by, to, body } => {
                self.iterate(*ty, name, (from, by.as_ref(), to), body, &s.span)
            }
            StmtKind::Assert(e) => self.statement(|b| {
                let test = b.test(e)?;
                b.assert(Sink::Out, test, AssertKind::User, "the assertion does not hold");
                Ok(())
            }),
            StmtKind::Error(text) => {
                self.never(Sink::Out, AssertKind::User, text);
                Ok(())
            }
            StmtKind::Print(text) => {
                self.print(&format!("{text}\n"));
                Ok(())
            }
            StmtKind::Printf(text, args) => self.printf(text, args, &s.span),
            StmtKind::Show(args) => self.show(args),
            StmtKind::Skip => Ok(()),
            StmtKind::Terminal { word, .. } => {
                let message = format!("`{}` talks to a terminal, and there is none", word.text);
                let help = "variables are set with `--set x=5`, and printed after the run";
                self.fail(&word.span, codes::SYNTAX, message, help)
            }
        }
    }

    /// The variable that a statement changes; refuses a constant.
    pub(super) fn changed(&mut self, l: &Lval) -> Done<Binding> {
        let b = self.binding(&l.name)?;
        if b.constant {
            let message = format!("`{}` is constant", l.name.text);
            return self.fail(&l.span, codes::CONSTANT, message, "change a copy of it");
        }
        self.indexed(l, &l.name, "of which an element is changed")?;
        Ok(b)
    }

    fn update_stmt(&mut self, op: AssignOp, target: &Lval, value: &Expr) -> Done<()> {
        let b = self.changed(target)?;
        if matches!(b.kind, Kind::Scalar(_))
            && let Some(span) = mentions(value, &target.name.text)
        {
            let message = format!("`{}` is read by the statement that changes it", target.name.text);
            return self.fail(&span, codes::ALIAS, message, "copy its value to a local variable first");
        }
        self.statement(|b| {
            let (dst, ty) = b.place(target)?;
            let how = match op {
                AssignOp::Add => (Acc::Add, false),
                AssignOp::Sub => (Acc::Add, true),
                AssignOp::Xor => (Acc::Xor, false),
                AssignOp::Mul | AssignOp::Div => return b.scale(target, (dst, ty), value, op == AssignOp::Div),
            };
            let (out, done) = b.aside(|b| b.accumulate(Sink::Out, dst, how, value, ty));
            done?;
            b.reject_self_read((target, dst), value)?;
            if b.guard(&[dst]) {
                b.append(out);
            }
            Ok(())
        })
    }

    /// `x *= e`, or `x /= e`: the product must not overflow, and the quotient has no remainder.
    fn scale(&mut self, target: &Lval, (dst, ty): (Place, IntTy), value: &Expr, inverse: bool) -> Done<()> {
        let width = self.width(ty);
        let factor = self.operand(value, ty)?;
        let reason = if inverse { "division by zero" } else { ZERO };
        if factor == Operand::Const(0) {
            return self.fail(&value.span, codes::LITERAL, reason, "give another number than 0");
        }
        let factor = if matches!(factor, Operand::Mem(_)) { self.copy(factor) } else { factor };
        self.reject_self_read((target, dst), value)?;
        if !self.guard(&[dst]) {
            return Ok(());
        }
        if known(value).is_none() {
            let test = Test::int(Cond::Ne, factor, Operand::Const(0));
            self.at(&value.span, |s| s.assert(Sink::Pre, test, AssertKind::User, reason));
        }
        let name = &target.name.text;
        let product = self.f.fresh(format!("{name}.quotient"), Ty::Int);
        let checks = |check| AncillaChecks { check, drop: false };
        let (block, ()) = self.block(|b| {
            b.emit(Sink::Out, Ir::Ancilla { var: product, free: false, checks: checks(true) });
            b.add_value(Place::Var(product), false, width.product(), vec![dst.into(), factor], width);
            b.add_value(dst, true, width.quotient(false), vec![Operand::Var(product), factor], width);
            let test = Test::int(Cond::Eq, dst.into(), Operand::Const(0));
            b.assert(Sink::Out, test, AssertKind::User, &format!("{NO_ROOM}`{name}`"));
            let args = vec![dst.into(), Operand::Var(product)];
            b.emit(Sink::Out, Ir::Permute { row: Row::Swap, inverse: false, ty: Ty::Int, args });
            b.emit(Sink::Out, Ir::Ancilla { var: product, free: true, checks: checks(false) });
        });
        self.append(if inverse { invert::block(&block) } else { block });
        Ok(())
    }

    /// The address of an array, a part of an array, or a stack.
    pub(super) fn part(&mut self, l: &Lval, b: &Binding) -> Done<(Var, Region)> {
        let at = self.memory(b)?;
        match &b.kind {
            Kind::Array(_, dims) if !l.indices.is_empty() => {
                let m = self.element(&l.name, at, dims, &l.indices)?;
                Ok((self.address(m), at.1))
            }
            _ => Ok(at),
        }
    }

    /// Checks that two sizes are equal.
    pub(super) fn fits(&mut self, span: &Span, a: Dim, b: Dim) -> Done<()> {
        match (a, b) {
            (Dim::Known(a), Dim::Known(b)) if a == b => Ok(()),
            (Dim::Known(a), Dim::Known(b)) => {
                let message = format!("arrays of {a} and of {} meet here", plural(b, "element"));
                self.fail(span, codes::SIZE, message, "the sizes must be the same")
            }
            (a, b) => {
                let (a, b) = (a.operand(), b.operand());
                let (a, b) = if matches!(a, Operand::Const(_)) { (b, a) } else { (a, b) };
                let (a, b) = (self.compared(a), self.compared(b));
                let test = Test::int(Cond::Eq, a, b);
                self.assert(Sink::Pre, test, AssertKind::Shape, "the arrays have different sizes");
                Ok(())
            }
        }
    }

    /// The number of elements of an array.
    pub(super) fn total(&mut self, dims: &[Dim]) -> Operand {
        let known: u64 = dims.iter().filter_map(|d| d.known()).fold(1, u64::wrapping_mul);
        let mut total = Operand::Const(known);
        for dim in dims.iter().filter(|d| d.known().is_none()) {
            total = if total == Operand::Const(1) {
                dim.operand()
            } else {
                let t = self.temporary("words");
                let args = vec![dim.operand(), total];
                self.update(Sink::Pre, (Acc::Add, false), TableFn::Int(int_fn::Name::Mul), Place::Var(t), args);
                Operand::Var(t)
            };
        }
        total
    }

    /// `iterate`: a loop from one number to another, inclusive.
    fn iterate(
        &mut self,
        ty: IntTy,
        name: &Name,
        (from, by, to): (&Expr, Option<&Expr>, &Expr),
        body: &[Stmt],
        span: &Span,
    ) -> Done<()> {
        if let Some(b) = self.scope.iter().find(|b| b.name.text == name.text) {
            let spans = [&name.span, &b.name.span.clone()];
            let message = format!("`{}` is in use already", name.text);
            return self.s.fail_also(spans, codes::TWICE, message, "give the counter another name");
        }
        for e in [Some(from), by, Some(to)].into_iter().flatten() {
            if let Some(at) = mentions(e, &name.text) {
                let message = format!("`{}` begins here, and has no value yet", name.text);
                return self.fail(&at, codes::UNKNOWN, message, "name other variables");
            }
        }
        let step = by.map_or(Some(1), known);
        if step == Some(0) {
            return self.fail(span, codes::SIZE, "the step is 0", "an iteration goes on by other steps than 0");
        }
        let one = Expr { kind: ExprKind::Num(1), span: span.clone(), closed: false };
        let by = by.unwrap_or(&one);
        let end = Expr {
            kind: ExprKind::Binary(BinOp::Add, Box::new(to.clone()), Box::new(by.clone())),
            span: to.span.clone(),
            closed: true,
        };
        let var = self.f.fresh(name.text.clone(), Ty::Int);
        let checks = |check| AncillaChecks { check, drop: false };
        self.emit(Sink::Out, Ir::Ancilla { var, free: false, checks: checks(true) });
        let first = self.statement(|b| b.accumulate(Sink::Out, Place::Var(var), (Acc::Add, false), from, ty));
        let binding =
            Binding { name: name.clone(), kind: Kind::Scalar(ty), location: Location::Word(var), constant: true };
        self.note(&binding);
        self.scope.push(binding);
        let mut turn = self.conditional_block(body);
        let is = |b: &mut Self, e: &Expr| {
            let (compute, other) = b.computed(|b| {
                let x = b.operand(e, ty)?;
                Ok(b.compared(x))
            })?;
            Ok(Condition { compute, test: Test::int(Cond::Ne, Operand::Var(var), other) })
        };
        let conditions = is(self, &end).and_then(|pre| Ok((pre, is(self, from)?)));
        self.scope.pop();
        let (next, done) =
            self.block(|b| b.statement(|b| b.accumulate(Sink::Out, Place::Var(var), (Acc::Add, false), by, ty)));
        turn.extend(next);
        let (pre, post) = conditions?;
        first?;
        done?;
        self.emit(Sink::Out, Ir::While { pre, post, first: Block::new(), body: turn });
        self.statement(|b| b.accumulate(Sink::Out, Place::Var(var), (Acc::Add, true), &end, ty))?;
        self.emit(Sink::Out, Ir::Ancilla { var, free: true, checks: checks(true) });
        Ok(())
    }

    /// `x += word` for whole words.
    pub(super) fn add(&mut self, sink: Sink, dst: Place, what: Operand, inverse: bool) {
        self.update(sink, (Acc::Add, inverse), ID, dst, vec![what]);
    }
}
