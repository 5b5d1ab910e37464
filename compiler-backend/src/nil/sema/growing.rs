//! Vectors that grow: `x ← T[]`, or `x ← FastStack{T}(n)` with room for n elements. Their length is a variable, and the
//! words beyond it are zero. `x[end+1] ↔ y` pushes, `x[end] ↔ y::∅` pops.

use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::{Acc, Cond, Ty};

use super::body::{Body, Sink};
use super::value::{Dim, Product, ScalarExpr, Value, View};
use super::{Done, Stop};
use crate::ir::{AncillaChecks, AssertKind, Operand, Place, Stmt, Test, invert};
use crate::nil::ast::{self, ExprKind, Span};
use crate::nil::codes;
use crate::nil::types::Type;

/// The room of a vector for which none is given.
const ROOM: i64 = 4096;

/// What a push does with the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Push {
    /// It goes to the vector, and a variable is left with zero.
    Move,
    /// It is copied.
    Copy,
}

impl Body<'_, '_> {
    /// The type of the elements and the room of the vector that `T[]` or `FastStack{T}(n)` makes.
    pub(super) fn requested_growing(&mut self, e: &ast::Expr) -> Done<Option<(Type, ScalarExpr)>> {
        match &e.kind {
            ExprKind::Index(of, at) if at.is_empty() && self.is_type(of) => match self.eval(of)? {
                Value::Type(element) => Ok(Some((element, ScalarExpr::int(ROOM)))),
                _ => Ok(None),
            },
            ExprKind::Call { callee, dot: false, args, keywords } if keywords.is_empty() => {
                let element = match &callee.kind {
                    ExprKind::Type(t) if t.name.text == "FastStack" => match &t.args[..] {
                        [ast::TypeArg::Type(of)] => self.type_expr(of)?,
                        _ => return Ok(None),
                    },
                    ExprKind::Name(name) if name == "FastStack" && self.scopes.find(name).is_none() => Type::Num(Ty::F),
                    _ => return Ok(None),
                };
                let [room] = &args[..] else { return Ok(None) };
                let value = self.eval(room)?;
                let room = self.integer(value, &room.span)?;
                Ok(Some((element, room)))
            }
            _ => Ok(None),
        }
    }

    /// The variables of a vector that grows, empty; or, with `existing`, those of the vector that the inverse deallocates.
    pub(super) fn make_growing(
        &mut self,
        name: &ast::Name,
        (element, room): (Type, ScalarExpr),
        existing: Option<View>,
        span: &Span,
    ) -> Done<Value> {
        let text = name.text.as_str();
        let types = element.word_types();
        let (Some(words), Some(ty)) = (element.words(), types.first().copied()) else {
            let message = format!("vectors of {element} do not grow");
            return self.fail(span, codes::TYPE, message, "they hold numbers, complex numbers, and structs of numbers");
        };
        if types.iter().any(|t| *t != ty) {
            let help = "keep the fields in vectors of their own";
            return self.fail(span, codes::TYPE, "a vector of structs with fields of several types", help);
        }
        /// More than any memory has.
        const MOST: u64 = 1 << 31;
        let ScalarExpr::Const(room) = self.fold(room) else {
            let help = "give a number, such as `FastStack{Float64}(1000)`";
            return self.fail(span, codes::UNSUPPORTED, "the room of a vector is not known here", help);
        };
        if room > MOST / words.max(1).cast_unsigned() {
            let help = "give room for as many elements as it will have";
            return self.fail(span, codes::DIMENSIONS, "the room of a vector is larger than any memory", help);
        }
        if existing.as_ref().is_some_and(|v| v.element != element || v.room.is_none()) {
            let help = "give the type that it was allocated with";
            return self.fail(span, codes::TYPE, "a vector of another type is deallocated here", help);
        }
        let view = match existing {
            Some(view) => view,
            None => {
                let (base, length) = (self.fresh(text, Ty::Int), self.fresh(&format!("{text}.count"), Ty::Int));
                self.fixed.insert(base);
                let region = self.region(text, ty);
                self.f.vars[base.0 as usize].points = Some(region);
                let dims = vec![Dim { len: Operand::Var(length), stride: Product::number(words) }];
                let room = Some(Operand::Const(room));
                View { base, terms: Vec::new(), offset: 0, dims, element, region, room, keyed: false }
            }
        };
        let Some(Operand::Var(length)) = view.dims.first().map(|d| d.len) else { return Err(Stop) };
        let Some(Operand::Const(own)) = view.room else { return Err(Stop) };
        let checks = AncillaChecks { check: true, drop: false };
        self.emit(Sink::Out, Stmt::Ancilla { var: length, free: false, checks });
        let len = Operand::Const(own.wrapping_mul(words.cast_unsigned()));
        // Beyond the length, which must be 0 at the end, all words are zero.
        let checks = AncillaChecks::NONE;
        self.emit(Sink::Out, Stmt::Array { base: view.base, len, region: view.region, ty, free: false, checks });
        Ok(Value::Array(view))
    }

    /// The vector that an expression names, if it grows.
    pub(super) fn growing(&mut self, e: &ast::Expr) -> Done<Option<View>> {
        let named = match &e.kind {
            ExprKind::Name(name) => {
                let known = self.scopes.find(name).and_then(|n| self.scopes.get(n)).map(|b| &b.value);
                matches!(known, Some(Value::Array(view)) if view.room.is_some())
            }
            ExprKind::Field(of, _) => !self.is_module(of),
            ExprKind::Skip(inner) | ExprKind::Const(inner) => return self.growing(inner),
            _ => false,
        };
        if !named {
            return Ok(None);
        }
        match self.computed(|s| s.eval(e)).1? {
            Value::Array(view) if view.room.is_some() => Ok(Some(view)),
            _ => Ok(None),
        }
    }

    /// Refuses to push to, or pop from, an array that does not grow.
    pub(super) fn refuse_other_array<T>(&mut self, of: &ast::Expr) -> Done<T> {
        let message = format!("`{}` does not grow", self.source(&of.span));
        let help = "a vector that grows is an argument of the run, or is made in a function, `x ← T[]` or `x ← FastStack{T}(n)`";
        self.fail(&of.span, codes::UNSUPPORTED, message, help)
    }

    /// Whether an expression is a variable that is an array.
    pub(super) fn names_array(&mut self, e: &ast::Expr) -> bool {
        match &e.kind {
            ExprKind::Name(name) => {
                let known = self.scopes.find(name).and_then(|n| self.scopes.get(n)).map(|b| &b.value);
                matches!(known, Some(Value::Array(_) | Value::Stacked(..)))
            }
            ExprKind::Field(..) | ExprKind::Index(..) => {
                let found = self.s.diagnostics.len();
                let value = self.computed(|s| s.eval(e)).1;
                self.s.diagnostics.truncate(found);
                matches!(value, Ok(Value::Array(_) | Value::Stacked(..)))
            }
            _ => false,
        }
    }

    /// The element after the last, among the computations before the statement; and a check that there is room.
    fn above_top(&mut self, name: &str, view: &View, span: &Span) -> Done<Value> {
        let (Some(Dim { len, .. }), Some(room)) = (view.dims.first(), view.room) else { return Err(Stop) };
        let top = self.temp("top", Ty::Int);
        let id = TableFn::Int(int_fn::Name::Id);
        for by in [*len, Operand::Const(1)] {
            self.update(Sink::Pre, Acc::Add, false, id, Place::Var(top), vec![by]);
        }
        let full = match room {
            Operand::Const(n) => format!(
                "the vector `{name}` is full: it has room for {n} elements (`FastStack{{T}}(n)` has room for n)"
            ),
            Operand::Var(_) | Operand::Mem(_) => format!("the vector `{name}` is full"),
        };
        let reason = self.reason(full);
        let test = Test::int(Cond::Lt, *len, room);
        self.emit(Sink::Out, Stmt::Assert { test, why: AssertKind::Bounds, reason });
        self.at(&View { room: None, ..view.clone() }, &[top], span)
    }

    /// Changes the length of a vector by one. The inverse begins with a check that there is an element.
    fn lengthen(&mut self, name: &str, view: &View) -> Done<()> {
        let Some(len @ Operand::Var(length)) = view.dims.first().map(|d| d.len) else { return Err(Stop) };
        self.count(Place::Var(length), false);
        let reason = self.reason(format!("the vector `{name}` is empty"));
        let test = Test::int(Cond::Ge, len, Operand::Const(1));
        self.emit(Sink::Out, Stmt::Assert { test, why: AssertKind::Bounds, reason });
        Ok(())
    }

    /// Pushes the words of a variable; or, `inverse`, pops them.
    pub(super) fn push_variable(
        &mut self,
        (name, view): (&str, &View),
        value: &Value,
        how: Push,
        inverse: bool,
        (at, span): (&Span, &Span),
    ) -> Done<()> {
        let outer = std::mem::take(&mut self.now.out);
        let done = match how {
            Push::Move => self.push_words((name, view), value, (at, span)),
            Push::Copy => self.push_copy((name, view), |_| Ok(value.clone()), (at, span)),
        };
        let done = done.and_then(|()| self.lengthen(name, view));
        let block = std::mem::replace(&mut self.now.out, outer);
        done?;
        self.now.out.extend(if inverse { invert::block(&block) } else { block });
        Ok(())
    }

    /// Pushes a new variable with this value. Its inverse pops it, and ends it like any other: doubles may be off by a rounding error.
    fn push_copy(
        &mut self,
        (name, view): (&str, &View),
        value: impl FnOnce(&mut Self) -> Done<Value>,
        (at, span): (&Span, &Span),
    ) -> Done<()> {
        let copy = self.copied(&format!("{name}.top"), &view.element, value, at)?;
        self.push_words((name, view), &copy, (at, span))?;
        self.released(&copy);
        Ok(())
    }

    /// A new variable with a value, for the top of a stack.
    pub(super) fn copied(
        &mut self,
        name: &str,
        ty: &Type,
        value: impl FnOnce(&mut Self) -> Done<Value>,
        span: &Span,
    ) -> Done<Value> {
        let copy = self.new_variable(name, ty);
        self.statement(|s| {
            s.expected_type = super::assign::scalar_type(&copy);
            let value = value(s);
            s.expected_type = None;
            let value = s.value_as(value?, ty, span)?;
            s.allocated(&copy, ty);
            s.fill_value(&copy, value, span)
        })?;
        Ok(copy)
    }

    fn push_words(&mut self, (name, view): (&str, &View), value: &Value, (at, span): (&Span, &Span)) -> Done<()> {
        if value.type_of().as_ref() != Some(&view.element) {
            let message = format!("{} cannot be put on a vector of {}", value.describe(), view.element);
            return self.fail(at, codes::TYPE, message, "both must have one type");
        }
        self.statement(|s| {
            let to = s.above_top(name, view, span)?;
            let (Some(from), Some(to)) = (s.targets(value), s.targets(&to)) else {
                let help = "copy it: `x[end+1] ← e`";
                return s.fail(at, codes::NOT_ASSIGNABLE, "this is no variable that can be moved", help);
            };
            s.keep_all_apart(&from, span)?;
            let reads = s.now.reads.clone();
            s.keep_apart(&from, &reads, span)?;
            for (from, to) in from.iter().zip(to) {
                s.writable(*from, span)?;
                let row = pendula_isa::table::Row::Swap;
                let args = vec![(*from).into(), to.into()];
                s.emit(Sink::Out, Stmt::Permute { row, inverse: false, ty: Ty::Int, args });
                let text = "the variable that takes a word from the vector must be zero before";
                let reason = s.reason(text.to_string());
                let test = Test::int(Cond::Eq, (*from).into(), Operand::Const(0));
                s.emit(Sink::Out, Stmt::Assert { test, why: AssertKind::User, reason });
            }
            Ok(())
        })
    }

    /// `x[end+1] ← e`, or, `inverse`, `x[end] → e`.
    pub(super) fn push_expression(
        &mut self,
        (name, view): (&str, &View),
        e: &ast::Expr,
        inverse: bool,
        span: &Span,
    ) -> Done<()> {
        let outer = std::mem::take(&mut self.now.out);
        let done = self.push_copy((name, view), |s| s.eval(e), (&e.span, span));
        let done = done.and_then(|()| self.lengthen(name, view));
        let block = std::mem::replace(&mut self.now.out, outer);
        done?;
        self.now.out.extend(if inverse { invert::block(&block) } else { block });
        Ok(())
    }
}
