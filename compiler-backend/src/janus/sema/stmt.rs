//! Statements.

use pendula_isa::diagnostic::plural;
use pendula_isa::table::{Row, TableFn, int_fn};
use pendula_isa::{Acc, Cond, Ty};

use super::body::{Body, ID, Sink};
use super::constant::known;
use super::scope::{Binding, Dim, Kind, Place as Home};
use super::{CHANGES, Done, NO_ROOM, READS, ZERO};
use crate::ir::{
    AncillaChecks, Block, Condition, Mem, Operand, Place, Region, Step, Stmt as Ir, Test, Var, Why, invert,
};
use crate::janus::ast::{AssignOp, BinOp, Expr, ExprKind, IntTy, Lval, Name, Span, Stmt, StmtKind};
use crate::janus::codes;

/// What is wrong where a constant is changed by another name.
pub(super) fn constant(name: &str) -> String {
    format!("{}`{name}`{}", CHANGES.0, CHANGES.1)
}

/// The variables that an expression names.
pub(super) fn names(e: &Expr) -> Vec<&Name> {
    match &e.kind {
        ExprKind::Num(_) | ExprKind::Bool(_) | ExprKind::Nil => Vec::new(),
        ExprKind::Place(l) => std::iter::once(&l.name).chain(l.indices.iter().flat_map(names)).collect(),
        ExprKind::Unary(_, a) | ExprKind::Cast(_, a) => names(a),
        ExprKind::Binary(_, a, b) => names(a).into_iter().chain(names(b)).collect(),
        ExprKind::Empty(n) | ExprKind::Top(n) | ExprKind::Size(n) => vec![n],
        ExprKind::List(list) => list.iter().flat_map(names).collect(),
    }
}

/// Whether two expressions are written alike, so that they have one value.
fn alike(a: &Expr, b: &Expr) -> bool {
    if let (Some(a), Some(b)) = (known(a), known(b)) {
        return a == b;
    }
    match (&a.kind, &b.kind) {
        (ExprKind::Place(l), ExprKind::Place(m)) => same(l, m),
        (ExprKind::Unary(f, a), ExprKind::Unary(g, b)) => f == g && alike(a, b),
        (ExprKind::Cast(t, a), ExprKind::Cast(u, b)) => t == u && alike(a, b),
        (ExprKind::Binary(f, a, b), ExprKind::Binary(g, c, d)) => f == g && alike(a, c) && alike(b, d),
        (ExprKind::Top(s), ExprKind::Top(t)) | (ExprKind::Size(s), ExprKind::Size(t)) => s.text == t.text,
        _ => false,
    }
}

/// Whether two places are written alike.
fn same(l: &Lval, m: &Lval) -> bool {
    l.name.text == m.name.text
        && l.indices.len() == m.indices.len()
        && l.indices.iter().zip(&m.indices).all(|(i, j)| alike(i, j))
}

/// Where an expression reads a place that is written alike.
fn reads(e: &Expr, l: &Lval) -> Option<Span> {
    match &e.kind {
        ExprKind::Place(m) if same(l, m) => Some(m.span.clone()),
        ExprKind::Place(m) => m.indices.iter().find_map(|i| reads(i, l)),
        ExprKind::Unary(_, a) | ExprKind::Cast(_, a) => reads(a, l),
        ExprKind::Binary(_, a, b) => reads(a, l).or_else(|| reads(b, l)),
        ExprKind::List(list) => list.iter().find_map(|e| reads(e, l)),
        ExprKind::Num(_)
        | ExprKind::Bool(_)
        | ExprKind::Nil
        | ExprKind::Empty(_)
        | ExprKind::Top(_)
        | ExprKind::Size(_) => None,
    }
}

/// Where an expression names a variable.
pub(super) fn mentions(e: &Expr, name: &str) -> Option<Span> {
    names(e).into_iter().find(|n| n.text == name).map(|n| n.span.clone())
}

impl Body<'_, '_> {
    pub(super) fn stmt(&mut self, s: &Stmt) -> Done<()> {
        match &s.kind {
            StmtKind::Update { op, target, value } => self.update_stmt(*op, target, value),
            StmtKind::Swap(a, b) => self.swap(a, b, &s.span),
            StmtKind::If { pre, then, otherwise, post } => {
                self.clauses([("if", pre), ("fi", post)], false);
                let (pre, post) = (self.condition(pre), self.condition(post));
                let (then, otherwise) = (self.passed(then), self.passed(otherwise));
                let (pre, post) = (pre?, post?);
                self.emit(Sink::Out, Ir::If { pre, post, then, otherwise });
                Ok(())
            }
            StmtKind::From { pre, first, body, post } => {
                self.clauses([("until", post), ("from", pre)], true);
                let (from, until) = (self.condition(pre), self.condition(post));
                let (first, ()) = self.block(|b| b.statements(first));
                let body = self.passed(body);
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
                b.assert(Sink::Out, test, Why::User, "the assertion does not hold");
                Ok(())
            }),
            StmtKind::Error(text) => {
                self.never(Sink::Out, Why::User, text);
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

    /// A variable that is about to be changed.
    fn changed(&mut self, l: &Lval) -> Done<Binding> {
        let b = self.binding(&l.name)?;
        if b.constant {
            let message = format!("`{}` is constant", l.name.text);
            return self.fail(&l.span, codes::CONSTANT, message, "change a copy of it");
        }
        self.indexed(l, &l.name, "of which an element is changed")?;
        Ok(b)
    }

    /// Makes sure that an index does not name something that is changed.
    pub(super) fn indexed(&mut self, l: &Lval, name: &Name, how: &str) -> Done<()> {
        match l.indices.iter().find_map(|index| mentions(index, &name.text)) {
            None => Ok(()),
            Some(span) => {
                let message = format!("the index names `{}`, {how}", name.text);
                self.fail(&span, codes::ALIAS, message, "take the index into a variable before")
            }
        }
    }

    /// Makes sure that what is changed has not been read, and is no word twice. Says `false` if it has been for certain, in
    /// this instance: then an assertion that fails is all that is left of the statement.
    pub(super) fn guard(&mut self, written: &[Place]) -> bool {
        let mut certain = false;
        let reads = self.reads.clone();
        for (n, place) in written.iter().enumerate() {
            certain |= written[..n].contains(place);
            match *place {
                Place::Var(v) => certain |= reads.vars.contains(&v),
                Place::Mem(m) => {
                    let others =
                        written[..n].iter().filter_map(|p| if let Place::Mem(m) = p { Some(*m) } else { None });
                    for other in reads.words.iter().copied().chain(others) {
                        certain |= !self.apart(m, other, READS);
                    }
                }
            }
        }
        if certain {
            self.never(Sink::Pre, Why::Alias, READS);
        }
        for place in written {
            certain |= !self.spares(*place);
        }
        !certain
    }

    /// The constants here.
    pub(super) fn constants(&self) -> Vec<Binding> {
        self.scope.iter().filter(|b| b.constant).cloned().collect()
    }

    /// Makes sure that a word that is changed is none of a constant. Says `false` if it is for certain.
    fn spares(&mut self, place: Place) -> bool {
        for c in self.constants() {
            let says = constant(&c.name.text);
            let is = match (place, c.home, &c.kind) {
                (Place::Var(v), Home::Word(w), _) => v == w,
                (Place::Mem(m), Home::Ref { address, region }, _) => {
                    !self.apart(m, Mem { base: Some(address), index: None, offset: 0, region }, &says)
                }
                (Place::Mem(m), Home::Memory { region, .. }, Kind::Stack) => m.region == region,
                (Place::Mem(m), Home::Memory { base, region }, Kind::Array(_, dims)) if m.region == region => {
                    let total = self.total(dims);
                    self.outside(m, (base, region), total, &says);
                    false
                }
                _ => false,
            };
            if is {
                self.never(Sink::Pre, Why::Alias, &says);
                return false;
            }
        }
        true
    }

    /// The same of so many words from `base` on.
    fn spares_all(&mut self, (base, region): (Var, Region), count: Operand) {
        for c in self.constants() {
            let says = constant(&c.name.text);
            let word = |base| Mem { base: Some(base), index: None, offset: 0, region };
            match (c.home, &c.kind) {
                (Home::Ref { address, region: of }, _) if of == region => {
                    self.outside(word(address), (base, region), count, &says);
                }
                (Home::Memory { base: first, region: of }, Kind::Array(_, dims)) if of == region => {
                    let total = self.total(dims);
                    self.outside(word(first), (base, region), count, &says);
                    self.outside(word(base), (first, region), total, &says);
                }
                _ => {}
            }
        }
    }

    fn update_stmt(&mut self, op: AssignOp, target: &Lval, value: &Expr) -> Done<()> {
        let b = self.changed(target)?;
        if matches!(b.kind, Kind::Scalar(_))
            && let Some(span) = mentions(value, &target.name.text)
        {
            let message = format!("`{}` is read by the statement that changes it", target.name.text);
            return self.fail(&span, codes::ALIAS, message, "take its value into a local variable before");
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
            b.certain((target, dst), value)?;
            if b.guard(&[dst]) {
                b.append(out);
            }
            Ok(())
        })
    }

    /// Complains if an element is read by its own name.
    fn certain(&mut self, (target, dst): (&Lval, Place), value: &Expr) -> Done<()> {
        let Place::Mem(m) = dst else { return Ok(()) };
        let span = reads(value, target).or_else(|| self.reads.words.contains(&m).then(|| value.span.clone()));
        match span {
            None => Ok(()),
            Some(span) => {
                let help = "take its value into a local variable before";
                self.fail(&span, codes::ALIAS, "the element that is changed is read here", help)
            }
        }
    }

    /// `x *= e`, or `x /= e`: a product that has room, or a quotient without remainder.
    fn scale(&mut self, target: &Lval, (dst, ty): (Place, IntTy), value: &Expr, inverse: bool) -> Done<()> {
        let width = self.width(ty);
        let factor = self.operand(value, ty)?;
        let says = if inverse { "division by zero" } else { ZERO };
        if factor == Operand::Const(0) {
            return self.fail(&value.span, codes::LITERAL, says, "give another number than 0");
        }
        let factor = if matches!(factor, Operand::Mem(_)) { self.copy(factor) } else { factor };
        self.certain((target, dst), value)?;
        if !self.guard(&[dst]) {
            return Ok(());
        }
        if known(value).is_none() {
            let test = Test { cond: Cond::Ne, ty: Ty::Int, a: factor, b: Operand::Const(0) };
            self.at(&value.span, |s| s.assert(Sink::Pre, test, Why::User, says));
        }
        let name = &target.name.text;
        let product = self.f.fresh(format!("{name}.quotient"), Ty::Int);
        let care = |check| AncillaChecks { check, drop: false };
        let (block, ()) = self.block(|b| {
            b.emit(Sink::Out, Ir::Ancilla { var: product, free: false, care: care(true) });
            b.add_value(Place::Var(product), false, width.product(), vec![dst.into(), factor], width);
            b.add_value(dst, true, width.quotient(false), vec![Operand::Var(product), factor], width);
            let test = Test { cond: Cond::Eq, ty: Ty::Int, a: dst.into(), b: Operand::Const(0) };
            b.assert(Sink::Out, test, Why::User, &format!("{NO_ROOM}`{name}`"));
            let args = vec![dst.into(), Operand::Var(product)];
            b.emit(Sink::Out, Ir::Permute { row: Row::Swap, inverse: false, ty: Ty::Int, args });
            b.emit(Sink::Out, Ir::Ancilla { var: product, free: true, care: care(false) });
        });
        self.append(if inverse { invert::block(&block) } else { block });
        Ok(())
    }

    /// `x <=> y`.
    fn swap(&mut self, a: &Lval, b: &Lval, span: &Span) -> Done<()> {
        let (x, y) = (self.changed(a)?, self.changed(b)?);
        for (l, other) in [(a, b), (b, a)] {
            self.indexed(l, &other.name, "which is changed")?;
        }
        let own = format!("`{}` is exchanged with itself", a.name.text);
        if same(a, b) {
            return self.fail(span, codes::ALIAS, own, "take the statement out");
        }
        let whole = |l: &Lval, b: &Binding| match &b.kind {
            Kind::Scalar(_) => false,
            Kind::Array(_, dims) => l.indices.len() < dims.len(),
            Kind::Stack => l.indices.is_empty(),
        };
        match (whole(a, &x), whole(b, &y)) {
            (true, true) => return self.swap_whole((a, &x), (b, &y), span),
            (false, false) => {}
            (true, false) | (false, true) => {
                let message = format!("`{}` and `{}` are of different kinds", a.name.text, b.name.text);
                return self.fail(span, codes::TYPE, message, "exchange two integers, two arrays, or two stacks");
            }
        }
        self.statement(|s| {
            let ((first, ty), (second, other)) = (s.place(a)?, s.place(b)?);
            if ty != other {
                let message = format!("an `{}` and an `{}` are exchanged", ty.name(), other.name());
                return s.fail(span, codes::TYPE, message, "types of integers do not mix");
            }
            if first == second && a.name.text == b.name.text {
                return s.fail(span, codes::ALIAS, own, "take the statement out");
            }
            if s.guard(&[first, second]) {
                let args = vec![first.into(), second.into()];
                s.emit(Sink::Out, Ir::Permute { row: Row::Swap, inverse: false, ty: Ty::Int, args });
            }
            Ok(())
        })
    }

    /// Two arrays, or two stacks.
    fn swap_whole(&mut self, (l, x): (&Lval, &Binding), (m, y): (&Lval, &Binding), span: &Span) -> Done<()> {
        self.statement(|s| {
            let ((a, region), (b, other)) = (s.part(l, x)?, s.part(m, y)?);
            let (first, second) = (s.left(l)?, s.left(m)?);
            if region == other {
                let test = Test { cond: Cond::Ne, ty: Ty::Int, a: Operand::Var(a), b: Operand::Var(b) };
                s.assert(Sink::Pre, test, Why::Alias, READS);
            }
            let last = match (&first, &second) {
                (Kind::Stack, Kind::Stack) => {
                    // The longer one's words, and the counts.
                    let (m, n) = (s.stack(&x.name)?, s.stack(&y.name)?);
                    if !s.spares(Place::Mem(m)) || !s.spares(Place::Mem(n)) {
                        return Ok(());
                    }
                    let most = s.temporary("most");
                    let args = vec![Operand::Mem(m), Operand::Mem(n)];
                    s.update(Sink::Pre, (Acc::Add, false), TableFn::Int(int_fn::Name::Max), Place::Var(most), args);
                    Operand::Var(most)
                }
                (Kind::Array(ty, dims), Kind::Array(of, others)) if ty == of && dims.len() == others.len() => {
                    for (m, n) in dims.iter().zip(others) {
                        s.fits(span, *m, *n)?;
                    }
                    let total = s.total(dims);
                    // What an index has read must not lie in what is exchanged.
                    for (base, region) in [(a, region), (b, other)] {
                        for word in s.reads.words.clone() {
                            s.outside(word, (base, region), total, READS);
                        }
                        s.spares_all((base, region), total);
                    }
                    s.sum(&[total, Operand::Const(u64::MAX)])
                }
                (k, l) => {
                    let message = format!("{} and {} are exchanged", k.describe(), l.describe());
                    return s.fail(
                        span,
                        codes::TYPE,
                        message,
                        "exchange two arrays with the same sizes, or two stacks",
                    );
                }
            };
            let k = s.f.fresh("k", Ty::Int);
            let word = |base: Var, region| Operand::Mem(Mem { base: Some(base), index: Some(k), offset: 0, region });
            let args = vec![word(a, region), word(b, other)];
            let swap = Ir::Permute { row: Row::Swap, inverse: false, ty: Ty::Int, args };
            let body = vec![swap.at(s.loc)];
            s.emit(Sink::Out, Ir::For { var: k, first: Operand::Const(0), last, step: Step::Const(1), body });
            Ok(())
        })
    }

    /// Where an array, a part of one, or a stack begins.
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

    /// Makes sure that two sizes are one.
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
                let test = Test { cond: Cond::Eq, ty: Ty::Int, a, b };
                self.assert(Sink::Pre, test, Why::Shape, "the arrays have different sizes");
                Ok(())
            }
        }
    }

    /// How many elements an array has.
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

    /// `iterate`: a loop from one number to another, which is included.
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
        let care = |check| AncillaChecks { check, drop: false };
        self.emit(Sink::Out, Ir::Ancilla { var, free: false, care: care(true) });
        let first = self.statement(|b| b.accumulate(Sink::Out, Place::Var(var), (Acc::Add, false), from, ty));
        let binding = Binding { name: name.clone(), kind: Kind::Scalar(ty), home: Home::Word(var), constant: true };
        self.note(&binding);
        self.scope.push(binding);
        let mut turn = self.passed(body);
        let is = |b: &mut Self, e: &Expr| {
            let (compute, other) = b.computed(|b| {
                let x = b.operand(e, ty)?;
                Ok(b.compared(x))
            })?;
            Ok(Condition { compute, test: Test { cond: Cond::Ne, ty: Ty::Int, a: Operand::Var(var), b: other } })
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
        self.emit(Sink::Out, Ir::Ancilla { var, free: true, care: care(true) });
        Ok(())
    }

    /// `x += word`, without more ado.
    pub(super) fn add(&mut self, sink: Sink, dst: Place, what: Operand, inverse: bool) {
        self.update(sink, (Acc::Add, inverse), ID, dst, vec![what]);
    }
}
