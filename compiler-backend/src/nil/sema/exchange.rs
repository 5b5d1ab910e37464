//! `x ↔ y`: exchanges, where a side may have no value before (`x::∅`). The other side then has none afterwards: a
//! variable becomes another name for the same places.

use pendula_isa::Cond;

use super::body::{Body, Sink};
use super::growing::Push;
use super::scope::{Binding, Kind};
use super::value::{ScalarExpr, Value, View};
use super::{Done, Stop};
use crate::ir::{AncillaChecks, AssertKind, Operand, Place, Stmt, Test, Var};
use crate::nil::ast::{self, ExprKind, Side, Span};
use crate::nil::codes;
use crate::nil::types::Type;

impl Body<'_, '_> {
    /// `left ↔ right`.
    pub(super) fn exchange(&mut self, left: &Side, right: &Side, span: &Span) -> Done<()> {
        for (stack, other) in [(left, right), (right, left)] {
            if let ExprKind::Index(of, at) = &stack.place.kind
                && let [at] = &at[..]
                && (at.is_above_end() || at.is_end() && other.empty)
                && let Some(view) = self.growing(of)?
            {
                let name = self.source(&of.span);
                return self.exchange_with_vector((&name, &view), at.is_end(), other, span);
            }
            if let ExprKind::Index(of, at) = &stack.place.kind
                && matches!(&at[..], [at] if at.is_above_end() || at.is_end() && other.empty)
                && self.names_array(of)
            {
                return self.refuse_other_array(of);
            }
            if let ExprKind::Index(of, at) = &stack.place.kind
                && let Some(number) = self.global_stack(of)
            {
                self.stack = number;
                return self.exchange_with_stack(at, other, span);
            }
        }
        match (left.empty, right.empty) {
            // Nothing is exchanged with nothing.
            (true, true) => Ok(()),
            (true, false) => self.move_to(&left.place, &right.place, span),
            (false, true) => self.move_to(&right.place, &left.place, span),
            (false, false) => self.statement(|s| {
                let sides = [&left.place, &right.place];
                let values = sides.iter().map(|e| s.eval(e)).collect::<Done<Vec<_>>>()?;
                if let [Value::Array(a), Value::Array(b)] = &values[..] {
                    return s.exchange_arrays(a, b, sides.map(|e| &e.span), span);
                }
                let (left, right) = (s.pieces(&values[0]), s.pieces(&values[1]));
                if left.len() != right.len() {
                    let message = format!("{} values cannot be exchanged with {}", left.len(), right.len());
                    return s.fail(span, codes::TYPE, message, "give as many on both sides");
                }
                let spans = sides.map(|e| e.span.clone());
                left.into_iter().zip(right).try_for_each(|(a, b)| s.swapped(vec![a, b], &spans, span))
            }),
        }
    }

    /// Exchanges the elements of two arrays of one shape.
    pub(super) fn exchange_arrays(&mut self, a: &View, b: &View, sides: [&Span; 2], span: &Span) -> Done<()> {
        if a.dims.len() != b.dims.len() || a.element != b.element {
            let [one, other] = [a, b].map(|view| Value::Array(view.clone()).describe());
            let message = format!("{one} and {other} cannot be exchanged");
            return self.fail(span, codes::TYPE, message, "both must have one type");
        }
        let reason =
            self.reason(format!("`{}` and `{}` have other lengths", self.source(sides[0]), self.source(sides[1])));
        for (a, b) in a.dims.iter().zip(&b.dims).filter(|(a, b)| a.len != b.len) {
            let test = Test::int(Cond::Eq, a.len, b.len);
            self.emit(Sink::Out, Stmt::Assert { test, why: AssertKind::Shape, reason });
        }
        if a.region == b.region {
            self.keep_views_apart(a, b, true, span)?;
        }
        let lens: Vec<Operand> = a.dims.iter().map(|d| d.len).collect();
        self.for_each(&lens, &mut |s, at| {
            s.statement(|s| {
                let values = vec![s.at(a, at, span)?, s.at(b, at, span)?];
                s.swapped(values, &sides.map(Clone::clone), span)
            })
        })
    }

    /// `stack[end+1] ↔ x` pushes x, which has no value then; `stack[end] ↔ (x::T)::∅` takes x from the stack.
    fn exchange_with_stack(&mut self, at: &[ast::Expr], other: &Side, span: &Span) -> Done<()> {
        match (at, other.empty) {
            ([e], false) if e.is_above_end() => {
                let place = match &other.place.kind {
                    // `x::T`: it has this type.
                    ExprKind::Typed(place, _) => place,
                    _ => &other.place,
                };
                let value = self.eval(&other.place)?;
                if let Value::Array(view) = &value {
                    return self.array_to_stack(view, place, span);
                }
                self.statement(|s| s.on_stack("PUSH!", value.clone(), &place.span, span))?;
                self.leave(place, span)?;
                self.released(&value);
                Ok(())
            }
            ([e], true) if e.is_end() => {
                let (name, ty) = match &other.place.kind {
                    ExprKind::Typed(name, ty) => (&**name, Some(ty)),
                    _ => (&other.place, None),
                };
                let ExprKind::Name(text) = &name.kind else {
                    let help = "take the top of the stack with `stack[end] ↔ (x::T)::∅`";
                    return self.fail(
                        &name.span,
                        codes::NOT_ASSIGNABLE,
                        "the top of the stack becomes a variable",
                        help,
                    );
                };
                let known = self.scopes.find(text).and_then(|n| self.scopes.get(n)).map(|b| b.value.clone());
                let ty = match (ty, known.and_then(|v| v.type_of())) {
                    (Some(ty), _) => self.type_expr(ty)?,
                    (None, Some(ty)) => ty,
                    (None, None) => {
                        let message = format!("the type of `{text}` is not known");
                        return self.fail(&name.span, codes::TYPE, message, "write it: `stack[end] ↔ (x::T)::∅`");
                    }
                };
                if matches!(ty, Type::Array { .. }) {
                    let help = "its elements are; or put what is done with it into a function, which `~f` undoes";
                    let message = "an array is not taken from a stack as a whole";
                    return self.fail(&name.span, codes::UNSUPPORTED, message, help);
                }
                let value = self.new_variable(text, &ty);
                self.allocated(&value, &ty);
                self.statement(|s| s.on_stack("POP!", value.clone(), &name.span, span))?;
                let kind = ast::ExprKind::Call {
                    callee: Box::new(ast::Expr { kind: ExprKind::Name("zero".into()), span: span.clone() }),
                    dot: false,
                    args: vec![name.clone()],
                    keywords: Vec::new(),
                };
                let initial = Box::new(ast::Expr { kind, span: span.clone() });
                self.arrive(name, value, Kind::Local(initial))
            }
            _ => {
                let help = "`stack[end+1] ↔ x` pushes, and `stack[end] ↔ (x::T)::∅` takes from it";
                self.fail(span, codes::UNSUPPORTED, "a stack is changed at its top only", help)
            }
        }
    }

    /// `stack[end+1] ↔ x` of an array: its elements go to the stack one by one, and then the length of one that grows; x
    /// is deallocated.
    fn array_to_stack(&mut self, view: &View, place: &ast::Expr, span: &Span) -> Done<()> {
        let found = match &place.kind {
            ExprKind::Name(name) => self.scopes.find(name).and_then(|n| self.scopes.get(n)),
            _ => None,
        };
        let Some(Binding { kind: Kind::Local(initial), name, .. }) = found else {
            let help = "push its elements in a loop";
            return self.fail(
                &place.span,
                codes::NOT_ASSIGNABLE,
                "only an array that the function has allocated goes to a stack as a whole",
                help,
            );
        };
        let (initial, name) = (initial.clone(), ast::Name { text: name.clone(), span: place.span.clone() });
        let stack = self.stack;
        let push = |s: &mut Self, stack: usize, value: Value| {
            s.stack = stack;
            s.on_stack("PUSH!", value, &place.span, span)
        };
        let lens: Vec<Operand> = view.dims.iter().map(|d| d.len).collect();
        self.for_each(&lens, &mut |s, at| {
            s.statement(|s| {
                let element = s.at(view, at, span)?;
                push(s, stack, element)
            })
        })?;
        if let (Some(_), [Operand::Var(length)]) = (view.room, &lens[..]) {
            let length = Value::Num(ScalarExpr::var(*length), Some(pendula_isa::Ty::Int));
            // A stack of numbers of one type has no place for it.
            self.statement(|s| push(s, 0, length))?;
        }
        self.emptied = true;
        let done = self.end(&name, &initial, span);
        self.emptied = false;
        done
    }

    /// `x[end+1] ↔ y` pushes y, which has no value then; `x[end] ↔ y::∅` takes y from the vector.
    fn exchange_with_vector(&mut self, vector: (&str, &View), pops: bool, other: &Side, span: &Span) -> Done<()> {
        let place = match &other.place.kind {
            ExprKind::Typed(place, _) => &**place,
            _ => &other.place,
        };
        if !pops {
            let value = self.eval(&other.place)?;
            self.push_variable(vector, &value, Push::Move, false, (&place.span, span))?;
            self.leave(place, span)?;
            self.released(&value);
            return Ok(());
        }
        let ExprKind::Name(text) = &place.kind else {
            let help = "take the last element with `x[end] ↔ y::∅`";
            return self.fail(&place.span, codes::NOT_ASSIGNABLE, "the last element becomes a variable", help);
        };
        let ty = vector.1.element.clone();
        let value = self.new_variable(text, &ty);
        self.allocated(&value, &ty);
        self.push_variable(vector, &value, Push::Move, true, (&place.span, span))?;
        let initial = super::invert::call("zero", vec![place.clone()], span);
        self.arrive(place, value, Kind::Local(Box::new(initial)))
    }

    pub(super) fn on_stack(&mut self, name: &str, value: Value, at: &Span, span: &Span) -> Done<()> {
        self.instruction_stmt(name, vec![value], std::slice::from_ref(at), span).map(|_| ())
    }

    /// The values that are exchanged one by one: the parts of a tuple, or the value itself.
    fn pieces(&self, value: &Value) -> Vec<Value> {
        match value {
            Value::Tuple(parts) => parts.clone(),
            other => vec![other.clone()],
        }
    }

    /// `to::∅ ↔ from`: `to` is what `from` was, and `from` is gone.
    fn move_to(&mut self, to: &ast::Expr, from: &ast::Expr, span: &Span) -> Done<()> {
        let value = self.eval(from)?;
        let kind = self.leave(from, span)?;
        self.put_into(to, value, &kind, span)
    }

    /// A value goes where there is none: to a name, to the fields of a variable that gave them away, or its parts to several
    /// such places.
    fn put_into(&mut self, to: &ast::Expr, value: Value, kind: &Kind, span: &Span) -> Done<()> {
        match &to.kind {
            ExprKind::Tuple(places) => {
                let pieces = self.pieces(&value);
                if places.len() != pieces.len() {
                    let message = format!("{} values for {} names", pieces.len(), places.len());
                    return self.fail(span, codes::TYPE, message, "give one name for each value");
                }
                places.iter().zip(pieces).try_for_each(|(to, value)| self.put_into(to, value, kind, span))
            }
            // A struct or a complex number gets its fields back.
            ExprKind::Fields(whole) => {
                let restored = self.restore(whole, span)?;
                let Value::Tuple(fields) = self.fields_of(restored, &whole.span)? else { return Err(Stop) };
                self.bring_back(&self.pieces(&value), &fields, span)
            }
            ExprKind::Typed(inner, _) => self.put_into(inner, value, kind, span),
            _ => self.arrive(to, value, kind.clone()),
        }
    }

    /// Ends the variables that an expression names: their values go elsewhere. Gives how they were introduced.
    fn leave(&mut self, from: &ast::Expr, span: &Span) -> Done<Kind> {
        match &from.kind {
            ExprKind::Name(name) => {
                let found = self.scopes.find(name).filter(|n| self.scopes.get(*n).is_some_and(|b| b.ended.is_none()));
                let n = found.ok_or(Stop)?;
                if self.loops_since(n) {
                    let message = format!("`{name}` gives its value away in a loop, and has it before the loop");
                    return self.fail(&from.span, codes::BRANCHES, message, "do it before or after the loop");
                }
                let Some(b) = self.scopes.get_mut(n) else { return Err(Stop) };
                b.ended = Some(span.clone());
                match b.kind {
                    Kind::Loop | Kind::Alias => {
                        let message = format!("`{name}` has no value of its own");
                        self.fail(&from.span, codes::NOT_ASSIGNABLE, message, "exchange a variable or a parameter")
                    }
                    Kind::Param | Kind::Moved | Kind::Local(_) => Ok(b.kind.clone()),
                }
            }
            ExprKind::Fields(inner) | ExprKind::Typed(inner, _) => {
                self.leave(inner, span)?;
                Ok(Kind::Moved)
            }
            ExprKind::Tuple(parts) => {
                parts.iter().try_for_each(|p| self.leave(p, span).map(|_| ()))?;
                Ok(Kind::Moved)
            }
            _ => self.fail(
                &from.span,
                codes::NOT_ASSIGNABLE,
                "this keeps a place when its value is gone",
                "exchange it with a variable: `x ← zero(T)`, then `x ↔ y[i]`",
            ),
        }
    }

    /// A name gets a value with its places.
    fn arrive(&mut self, to: &ast::Expr, value: Value, kind: Kind) -> Done<()> {
        let ExprKind::Name(text) = &to.kind else {
            let help = "what has no value before an exchange is a name: `x::∅ ↔ y`";
            return self.fail(&to.span, codes::NOT_ASSIGNABLE, "this has a value already", help);
        };
        let live = self.scopes.find(text).and_then(|n| self.scopes.get(n)).filter(|b| b.ended.is_none());
        if let Some(b) = live {
            let place = pendula_isa::diagnostic::Place { file: self.file, span: b.span.clone() };
            let d = self.error(&to.span, codes::REDEFINED, format!("`{text}` has a value already"));
            d.secondary.push(pendula_isa::diagnostic::Label { place, text: "since here".into() });
            d.help = Some("leave out `::∅` to exchange both values".into());
            return Err(Stop);
        }
        // A name that gave its value away takes one again: a parameter stays one.
        let back = self.scopes.find(text).filter(|n| {
            let b = self.scopes.get(*n);
            b.is_some_and(|b| b.kind == Kind::Param && b.ended.is_some())
        });
        if let Some(n) = back {
            self.outside_of_loops(n, text, &to.span)?;
            if let Some(b) = self.scopes.get_mut(n) {
                (b.value, b.ended) = (value, None);
            }
            return Ok(());
        }
        self.scopes.add(text, value, kind, &to.span);
        Ok(())
    }

    /// The value of a variable that gave its fields away, which has them again.
    fn restore(&mut self, whole: &ast::Expr, span: &Span) -> Done<Value> {
        let ExprKind::Name(name) = &whole.kind else {
            let help = "give the variable that had the fields: `(x, y) ↔ (@fields z)::∅`";
            return self.fail(&whole.span, codes::NOT_ASSIGNABLE, "only a variable gets its fields back", help);
        };
        let found = self.scopes.find(name);
        if let Some(n) = found {
            self.outside_of_loops(n, name, &whole.span)?;
        }
        match found.and_then(|n| self.scopes.get_mut(n)) {
            Some(b) if b.ended.is_some() => {
                b.ended = None;
                Ok(b.value.clone())
            }
            Some(_) => {
                let message = format!("`{name}` has its fields");
                self.fail(span, codes::REDEFINED, message, "leave out `::∅` to exchange them")
            }
            None => {
                let message = format!("there is no `{name}` here");
                self.fail(&whole.span, codes::UNKNOWN, message, "a variable gets back the fields that it gave away")
            }
        }
    }

    /// Values go into the places of others, which have none.
    fn bring_back(&mut self, parts: &[Value], fields: &[Value], span: &Span) -> Done<()> {
        if parts.len() != fields.len() {
            let message = format!("{} values for {} fields", parts.len(), fields.len());
            return self.fail(span, codes::TYPE, message, "give one for each field");
        }
        // An exchange may move a part that comes later.
        let mut parts = parts.to_vec();
        for n in 0..parts.len() {
            let (from, to) = (parts[n].clone(), fields[n].clone());
            if from != to {
                self.statement(|s| s.swapped(vec![from.clone(), to.clone()], &[span.clone(), span.clone()], span))?;
                parts.iter_mut().skip(n + 1).for_each(|p| exchange_in(p, &from, &to));
                self.scopes.each(|b| exchange_in(&mut b.value, &from, &to));
            }
        }
        Ok(())
    }

    /// Exchanges the words of two values.
    fn swapped(&mut self, values: Vec<Value>, spans: &[Span], span: &Span) -> Done<()> {
        self.instruction_stmt("SWAP", values, spans, span).map(|_| ())
    }

    /// Refuses names that have other places here than at another point from which the same statements follow: in the other
    /// branch, or where a routine is undone. `values` and `ended` are what they were at that point.
    pub(super) fn same_places(&mut self, values: &[Value], ended: &[Option<Span>], span: &Span) {
        for (n, (value, ended)) in values.iter().zip(ended).enumerate() {
            let Some(b) = self.scopes.get(n) else { continue };
            if b.value != *value && b.ended.is_none() && ended.is_none() {
                let message = format!("what `{}` names depends on which statements ran before", b.name);
                let help = "exchange the values, `x ↔ y`; or exchange names in all branches, or outside";
                let _ = self.fail::<()>(span, codes::BRANCHES, message, help);
            }
        }
    }

    /// Refuses that a name from before a loop gets a value in the loop: each turn would give it one.
    fn outside_of_loops(&mut self, n: usize, name: &str, span: &Span) -> Done<()> {
        if !self.loops_since(n) {
            return Ok(());
        }
        let message = format!("`{name}` gets a value in a loop, and has none before the loop");
        self.fail(span, codes::BRANCHES, message, "do it before or after the loop")
    }

    /// Where a function ends, every parameter has a value in its own places, and nothing else has one.
    pub(super) fn settle_parameters(&mut self) {
        for (name, own) in std::mem::take(&mut self.parameters) {
            let n = self.scopes.find(&name.text);
            let Some((n, b)) = n.and_then(|n| Some((n, self.scopes.get(n)?.clone()))) else { continue };
            if b.ended.is_some() {
                let at = b.ended.unwrap_or_else(|| name.span.clone());
                let message = format!("the parameter `{}` has no value where the function ends", name.text);
                let _ = self.fail::<()>(&at, codes::ENDED, message, "give it one: `x ← e`, or `y ↔ x::∅`");
                continue;
            }
            if b.value == own {
                continue;
            }
            let _ = self.settle(n, &b, &own, &name.span);
        }
    }

    fn settle(&mut self, n: usize, b: &Binding, own: &Value, span: &Span) -> Done<()> {
        if b.value.type_of() != own.type_of() {
            let found = b.value.describe();
            let message =
                format!("the parameter `{}` is {} at the beginning and {found} at the end", b.name, own.describe());
            return self.fail(&b.span, codes::TYPE, message, "give it a value of its type");
        }
        let spans = [span.clone(), span.clone()];
        self.statement(|s| s.swapped(vec![b.value.clone(), own.clone()], &spans, span))?;
        self.scopes.each(|other| exchange_in(&mut other.value, &b.value, own));
        if let Some(b) = self.scopes.get_mut(n) {
            b.kind = Kind::Param;
        }
        // If another variable took its name, what is left in that is zero.
        let used = (0..self.scopes.len())
            .filter_map(|n| self.scopes.get(n))
            .any(|other| other.ended.is_none() && other.value == b.value);
        for place in self.targets(&b.value).unwrap_or_default() {
            if let Place::Var(var) = place
                && !used
                && !self.is_parameter(var)
            {
                let checks = AncillaChecks { check: self.checks, drop: false };
                self.emit(Sink::Out, Stmt::Ancilla { var, free: true, checks });
            }
        }
        Ok(())
    }

    fn is_parameter(&self, var: Var) -> bool {
        self.f.params.iter().any(|p| p.var == var)
    }

    /// A value that is to be deallocated, in variables of its own: the places of a parameter stay.
    pub(super) fn out_of_parameter(&mut self, n: usize, value: &Value, name: &str, span: &Span) -> Done<Value> {
        let places = self.targets(value).unwrap_or_default();
        if !places.iter().any(|p| matches!(p, Place::Var(v) if self.is_parameter(*v)) || matches!(p, Place::Mem(_))) {
            return Ok(value.clone());
        }
        let ty = value.type_of().ok_or(Stop)?;
        let own = self.new_variable(name, &ty);
        self.allocated(&own, &ty);
        let spans = [span.clone(), span.clone()];
        self.statement(|s| s.swapped(vec![value.clone(), own.clone()], &spans, span))?;
        if let Some(b) = self.scopes.get_mut(n) {
            b.value.clone_from(&own);
        }
        Ok(own)
    }

    /// Ends the variables of a value that went elsewhere. Those of a parameter stay.
    pub(super) fn released(&mut self, value: &Value) {
        let types = value.type_of().map_or_else(Vec::new, |ty| ty.word_types());
        for (place, ty) in self.targets(value).unwrap_or_default().into_iter().zip(types) {
            if let Place::Var(var) = place
                && !self.is_parameter(var)
            {
                let checks = self.ancilla_checks(ty);
                self.emit(Sink::Out, Stmt::Ancilla { var, free: true, checks });
            }
        }
    }

    /// Begins the variables of a value.
    pub(super) fn allocated(&mut self, value: &Value, ty: &Type) {
        for (place, ty) in self.targets(value).unwrap_or_default().into_iter().zip(ty.word_types()) {
            if let Place::Var(var) = place {
                let checks = self.ancilla_checks(ty);
                self.emit(Sink::Out, Stmt::Ancilla { var, free: false, checks });
            }
        }
    }
}

/// Two values have changed places: what was the one is the other.
fn exchange_in(value: &mut Value, a: &Value, b: &Value) {
    if value == a {
        value.clone_from(b);
    } else if value == b {
        value.clone_from(a);
    }
}
