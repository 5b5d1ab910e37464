//! Allocation and deallocation of variables: `x ← e`, `x → e`. One block of statements allocates a variable with its
//! value; the inverse block deallocates it.

use pendula_isa::{Acc, Ty};

use super::allocate_array::AllocRequest;
use super::array::value_of;
use super::body::{Body, Sink};
use super::scope::Kind;
use super::value::{ScalarExpr, Value};
use super::{Done, Stop};
use crate::ir::{AncillaChecks, AssertKind, Block, Operand, Place, Stmt, Test, Var, invert};
use crate::nil::ast::{self, ExprKind, Span};
use crate::nil::codes;
use crate::nil::types::Type;

impl Body<'_, '_> {
    /// `x ← e`, or `x → e`.
    pub(super) fn allocation(&mut self, target: &ast::Expr, e: &ast::Expr, free: bool, span: &Span) -> Done<()> {
        match (&target.kind, &e.kind) {
            (ExprKind::Name(name), _) => {
                let name = ast::Name { text: name.clone(), span: target.span.clone() };
                if free { self.end(&name, e, span) } else { self.begin(&name, e) }
            }
            (ExprKind::Tuple(names), ExprKind::Tuple(values)) if names.len() == values.len() => {
                let pairs: Vec<_> = names.iter().zip(values).collect();
                let ordered: Vec<_> = if free { pairs.into_iter().rev().collect() } else { pairs };
                for (name, value) in ordered {
                    self.allocation(name, value, free, span)?;
                }
                Ok(())
            }
            // The parts of a tuple such as `size(A)` are allocated one by one.
            (ExprKind::Tuple(names), _) => {
                let part = |k: usize| {
                    let k = ast::Expr { kind: ExprKind::Int((k + 1).to_string()), span: e.span.clone() };
                    ast::Expr { kind: ExprKind::Index(Box::new(e.clone()), vec![k]), span: e.span.clone() }
                };
                let mut pairs: Vec<_> = names.iter().enumerate().map(|(k, name)| (name, part(k))).collect();
                if free {
                    pairs.reverse();
                }
                pairs.iter().try_for_each(|(name, value)| self.allocation(name, value, free, span))
            }
            // `stack[end+1] ← x` copies to a stack, and `stack[end] → x` takes the copy back.
            (ExprKind::Index(of, at), _) if self.global_stack(of).is_some() => {
                let [at] = &at[..] else { return Err(Stop) };
                // The inverse of `stack[end+1] ← x` is written with the same index.
                if !at.is_end() && !at.is_above_end() {
                    let help = "`stack[end+1] ← x` copies to it, and `stack[end] → x` takes the copy from it";
                    return self.fail(&target.span, codes::UNSUPPORTED, "a stack is changed at its top only", help);
                }
                self.stack = self.global_stack(of).unwrap_or(0);
                self.copy_to_stack(e, free, span)
            }
            (ExprKind::Index(of, at), _)
                if let [at] = &at[..]
                    && (at.is_end() || at.is_above_end())
                    && let Some(view) = self.growing(of)? =>
            {
                let name = self.source(&of.span);
                self.push_expression((&name, &view), e, free, span)
            }
            (ExprKind::Index(of, at), _) if matches!(&at[..], [at] if at.is_above_end()) && self.names_array(of) => {
                self.refuse_other_array(of)
            }
            // An element of an array: `←` gives a value to a zero element, and `→` makes it zero again.
            (ExprKind::Index(..) | ExprKind::Field(..), _) => self.element_allocation(target, e, free, span),
            _ => self.fail(&target.span, codes::NOT_ASSIGNABLE, "only a name can be allocated", "write `x ← e`"),
        }
    }

    /// `stack[end+1] ← e`, or, `free`, `stack[end] → e`: a new variable is moved to the stack.
    fn copy_to_stack(&mut self, e: &ast::Expr, free: bool, span: &Span) -> Done<()> {
        let stack = self.stack;
        let value = self.computed(|s| s.eval(e)).1?;
        let ty = self.settled(value, &e.span)?.type_of().filter(|ty| ty.words().is_some());
        let Some(ty) = ty else {
            return self.fail(
                &e.span,
                codes::TYPE,
                "a stack takes numbers and structs of numbers",
                "push its elements",
            );
        };
        let outer = std::mem::take(&mut self.now.out);
        let done = self.copied("stack.top", &ty, |s| s.eval(e), &e.span).and_then(|copy| {
            self.stack = stack;
            self.statement(|s| s.on_stack("PUSH!", copy.clone(), &e.span, span))?;
            self.released(&copy);
            Ok(())
        });
        let block = std::mem::replace(&mut self.now.out, outer);
        done?;
        self.now.out.extend(if free { invert::block(&block) } else { block });
        Ok(())
    }

    /// `x ← e`.
    pub(super) fn begin(&mut self, name: &ast::Name, e: &ast::Expr) -> Done<()> {
        if let Some(n) = self.scopes.find(&name.text)
            && let Some(b) = self.scopes.get(n)
            && b.ended.is_none()
        {
            let (file, at) = (self.file, b.span.clone());
            let again = mentions(e, &name.text);
            let message = match again {
                true => format!("`{0} ← {1}` would forget the value that `{0}` has", name.text, self.source(&e.span)),
                false => format!("`{}` is in use already", name.text),
            };
            let d = self.error(&name.span, codes::REDEFINED, message);
            let place = pendula_isa::diagnostic::Place { file, span: at };
            d.secondary.push(pendula_isa::diagnostic::Label { place, text: "since here".into() });
            d.help = Some(match again {
                true => format!(
                    "add to it, `{0} += …`; or keep all values in an array: `{0}s[i+1] += …` of `{0}s[i]`",
                    name.text
                ),
                false => "deallocate it first, or take another name".into(),
            });
            return Err(Stop);
        }
        let (computed, expected) = self.computed(|s| s.requested(e));
        let expected = match expected {
            Ok(AllocRequest::Alias(Value::Array(_))) if !computed.is_empty() => {
                let help = "write the part where it is used, or copy it: `x ← copy(A[:, j])`";
                return self.fail(
                    &e.span,
                    codes::UNSUPPORTED,
                    "a part of an array cannot have a name of its own",
                    help,
                );
            }
            Ok(w) => w,
            Err(stop) => {
                // Later uses of the name are not reported.
                self.failed.insert(name.text.clone());
                return Err(stop);
            }
        };
        if let AllocRequest::Alias(v) = expected {
            self.alias(name, v);
            return Ok(());
        }
        let (block, value) = self.made(name, e, None)?;
        self.now.out.extend(block);
        if let Value::Array(view) = &value {
            self.arrays.push(view.base);
        }
        self.note(&name.text, &value);
        self.scopes.add(&name.text, value, Kind::Local(Box::new(e.clone())), &name.span);
        Ok(())
    }

    /// `x → e`.
    pub(super) fn end(&mut self, name: &ast::Name, e: &ast::Expr, span: &Span) -> Done<()> {
        let found = self.scopes.find(&name.text);
        let Some((n, binding)) = found.and_then(|n| Some((n, self.scopes.get(n)?.clone()))) else {
            if self.failed.contains(&name.text) {
                return Err(Stop);
            }
            let message = format!("there is no `{}` to deallocate", name.text);
            return self.fail(&name.span, codes::UNKNOWN, message, "allocate it first: `x ← e`");
        };
        if binding.ended.is_some() {
            let message = format!("`{}` was deallocated before", name.text);
            return self.fail(&name.span, codes::ENDED, message, "leave this out");
        }
        match binding.kind {
            Kind::Alias => {}
            Kind::Loop => {
                let message = format!("`{}` was not allocated here", name.text);
                return self.fail(
                    &name.span,
                    codes::NOT_ASSIGNABLE,
                    message,
                    "only what `←` allocated can be deallocated",
                );
            }
            // A parameter without a value gets another one before the function ends.
            Kind::Param if binding.value.type_of().is_none_or(|t| t.words().is_none()) => {
                let message = format!("`{}` was not allocated here", name.text);
                let help = "only what `←` allocated can be deallocated";
                return self.fail(&name.span, codes::NOT_ASSIGNABLE, message, help);
            }
            Kind::Local(_) | Kind::Param | Kind::Moved => {
                if self.loops_since(n) {
                    let message = format!("`{}` is deallocated in a loop, but allocated before it", name.text);
                    return self.fail(&name.span, codes::BRANCHES, message, "deallocate it after the loop");
                }
                let value = match binding.kind {
                    Kind::Param | Kind::Moved => self.out_of_parameter(n, &binding.value, &name.text, span)?,
                    _ => binding.value.clone(),
                };
                let (block, _) = self.made(name, e, Some(&value))?;
                let block = invert::block(&block);
                let done = self.release(&value, block, span);
                if done.is_err()
                    && let Some(b) = self.scopes.get_mut(n)
                {
                    b.ended = Some(span.clone());
                }
                done?;
            }
        }
        if let Some(b) = self.scopes.get_mut(n) {
            b.ended = Some(span.clone());
        }
        Ok(())
    }

    /// Emits a block that deallocates a variable. An array below others on the stack is deallocated after them.
    fn release(&mut self, value: &Value, block: Block, span: &Span) -> Done<()> {
        let Value::Array(view) = value else {
            self.now.out.extend(block);
            return Ok(());
        };
        if self.arrays.last() == Some(&view.base) {
            self.now.out.extend(block);
            self.arrays.pop();
            while let Some(top) = self.arrays.last()
                && let Some(n) = self.deferred.iter().position(|(base, _)| base == top)
            {
                self.now.out.extend(self.deferred.remove(n).1);
                self.arrays.pop();
            }
            return Ok(());
        }
        // The deallocation can wait if its inputs cannot change until then.
        let uses = super::places::Uses::of(&block, &[]);
        if uses.reads.iter().all(|v| self.fixed.contains(v) || uses.writes.contains(v)) {
            self.deferred.push((view.base, block));
            return Ok(());
        }
        let help = "arrays lie on a stack: deallocate last what was allocated first";
        self.fail(span, codes::ORDER, "an array is deallocated while later ones are in use", help)
    }

    /// The statements that allocate a variable with its value: a new variable, or an existing one that the inverse
    /// statements deallocate.
    fn made(&mut self, name: &ast::Name, e: &ast::Expr, existing: Option<&Value>) -> Done<(Block, Value)> {
        let outer = std::mem::take(&mut self.now.out);
        let value = self.make(name, e, existing);
        let block = std::mem::replace(&mut self.now.out, outer);
        Ok((block, value?))
    }

    fn make(&mut self, name: &ast::Name, e: &ast::Expr, existing: Option<&Value>) -> Done<Value> {
        if let Some(Value::Array(view)) = existing {
            let view = view.clone();
            return self.make_array(name, e, Some(view));
        }
        let is_array = existing.is_none() && {
            let (_, expected) = self.computed(|s| s.requested(e));
            matches!(expected?, AllocRequest::Array { .. } | AllocRequest::Growing)
        };
        if is_array {
            return self.make_array(name, e, None);
        }
        self.statement(|s| {
            s.expected_type = existing.and_then(super::assign::scalar_type);
            let value = s.eval(e);
            s.expected_type = None;
            let value = s.settled(value?, &e.span)?;
            let variable = match existing {
                Some(v) => v.clone(),
                None => s.variable(&name.text, &value, &e.span)?,
            };
            let ty = variable.type_of().ok_or(Stop)?;
            let value = s.value_as(value, &ty, &e.span)?;
            for (place, ty) in s.targets(&variable).unwrap_or_default().into_iter().zip(ty.word_types()) {
                if let Place::Var(var) = place {
                    let checks = s.ancilla_checks(ty);
                    s.emit(Sink::Out, Stmt::Ancilla { var, free: false, checks });
                }
            }
            s.fill_value(&variable, value, &e.span)?;
            Ok(variable)
        })
    }

    /// The checks where a variable of the program is allocated or deallocated.
    pub(super) fn ancilla_checks(&self, ty: Ty) -> AncillaChecks {
        // Rounding leaves a remainder in floating-point ancillas, which must be cleared in any case.
        AncillaChecks { check: self.checks || ty == Ty::F, drop: ty != Ty::Int }
    }

    /// The value with a type for each of its literals.
    pub(super) fn settled(&mut self, v: Value, span: &Span) -> Done<Value> {
        Ok(match v {
            Value::Num(x @ ScalarExpr::Lit(_), None) => {
                let ty = Value::Num(x.clone(), None).type_of();
                let Some(Type::Num(ty)) = ty else { return Err(Stop) };
                Value::Num(self.typed(x, ty, span)?, Some(ty))
            }
            Value::Complex(a, b, None) => {
                Value::Complex(self.typed(a, Ty::F, span)?, self.typed(b, Ty::F, span)?, Some(Ty::F))
            }
            Value::Tuple(parts) => Value::Tuple(parts.into_iter().map(|p| self.settled(p, span)).collect::<Done<_>>()?),
            other => other,
        })
    }

    /// New variables for a value.
    fn variable(&mut self, name: &str, value: &Value, span: &Span) -> Done<Value> {
        let ty = value.type_of().ok_or(Stop)?;
        if ty.words().is_none() {
            let message = format!("{ty} cannot be allocated like this");
            return self.fail(span, codes::TYPE, message, "allocate its arrays one by one");
        }
        Ok(self.new_variable(name, &ty))
    }

    /// New variables for a value of a type that has words.
    pub(super) fn new_variable(&mut self, name: &str, ty: &Type) -> Value {
        let words = ty.word_types();
        let names = crate::nil::types::part_names(name, ty);
        let vars: Vec<Var> = words.iter().zip(names).map(|(t, n)| self.fresh(&n, *t)).collect();
        let mut places = vars.into_iter().map(Place::Var);
        value_of(ty, &mut places).unwrap_or_else(|| Value::Tuple(Vec::new()))
    }

    /// Accumulates a value onto variables or elements whose words are all zero.
    pub(super) fn fill_value(&mut self, to: &Value, from: Value, span: &Span) -> Done<()> {
        match (to, from) {
            (Value::Num(ScalarExpr::Place(place), Some(ty)), Value::Num(x, _))
            | (Value::Tropical(ScalarExpr::Place(place), ty), Value::Tropical(x, _)) => {
                // A logarithmic zero cannot be multiplied into a word.
                // Neither can an infinity be taken away again.
                let infinite = |w: u64| f64::from_bits(w).is_infinite();
                let acc = match (ty, &x) {
                    (Ty::L, ScalarExpr::Const(_)) => Acc::Xor,
                    (Ty::F, ScalarExpr::Const(w)) if infinite(*w) => Acc::Xor,
                    (Ty::L, _) => Acc::Mul,
                    (Ty::Int | Ty::Q | Ty::F, _) => Acc::Add,
                };
                self.accumulate(Sink::Out, *place, *ty, acc, false, x)
            }
            (Value::Bool(ScalarExpr::Place(place)), Value::Bool(x)) => {
                self.accumulate(Sink::Out, *place, Ty::Int, Acc::Xor, false, x)
            }
            (Value::Complex(ScalarExpr::Place(re), ScalarExpr::Place(im), Some(ty)), Value::Complex(a, b, _)) => {
                let acc = super::accumulator(*ty);
                self.accumulate(Sink::Out, *re, *ty, acc, false, a)?;
                self.accumulate(Sink::Out, *im, *ty, acc, false, b)
            }
            (Value::Log(ScalarExpr::Place(to), sign), Value::Log(log, from)) if sign.is_some() == from.is_some() => {
                self.accumulate(Sink::Out, *to, Ty::F, Acc::Add, false, log)?;
                match (sign.as_deref(), from) {
                    (Some(ScalarExpr::Place(to)), Some(from)) => {
                        self.accumulate(Sink::Out, *to, Ty::Int, Acc::Xor, false, *from)
                    }
                    _ => Ok(()),
                }
            }
            (Value::Struct(_, to), Value::Struct(_, from)) | (Value::Tuple(to), Value::Tuple(from)) => {
                for (to, from) in to.iter().zip(from) {
                    self.fill_value(to, from, span)?;
                }
                Ok(())
            }
            (to, from) => {
                let message = format!("{} cannot begin as {}", to.describe(), from.describe());
                self.fail(span, codes::TYPE, message, "give a value of its type")
            }
        }
    }

    /// `x[i] ← e`: gives a value to an element whose words are all zero.
    fn element_allocation(&mut self, target: &ast::Expr, e: &ast::Expr, free: bool, span: &Span) -> Done<()> {
        let outer = std::mem::take(&mut self.now.out);
        let found = self.computed(|s| s.eval(target)).1.ok().and_then(|v| v.type_of());
        let done = match found {
            // Doubles end within a rounding error, as variables do.
            Some(ty) if ty.word_types().contains(&Ty::F) => self.rounded_element((target, &ty), e, span),
            _ => self.exact_element(target, e, span),
        };
        let block = std::mem::replace(&mut self.now.out, outer);
        done?;
        self.now.out.extend(if free { invert::block(&block) } else { block });
        Ok(())
    }

    /// The value begins as a variable, which changes places with the element.
    fn rounded_element(&mut self, (target, ty): (&ast::Expr, &Type), e: &ast::Expr, span: &Span) -> Done<()> {
        let name = self.source(&target.span);
        let value = self.copied(&name, ty, |s| s.eval(e), &e.span)?;
        self.statement(|s| {
            let to = s.eval(target)?;
            let (Some(from), Some(to)) = (s.targets(&value), s.targets(&to)) else { return Err(Stop) };
            let reason = s.reason(format!("`{name}` is not zero where it is allocated"));
            for (from, to) in from.iter().zip(to) {
                s.writable(to, span)?;
                let args = vec![(*from).into(), to.into()];
                let row = pendula_isa::table::Row::Swap;
                s.emit(Sink::Out, Stmt::Permute { row, inverse: false, ty: Ty::Int, args });
                if s.checks {
                    let test = Test::int(pendula_isa::Cond::Eq, (*from).into(), Operand::Const(0));
                    s.emit(Sink::Out, Stmt::Assert { test, why: AssertKind::User, reason });
                }
            }
            Ok(())
        })?;
        self.released(&value);
        Ok(())
    }

    fn exact_element(&mut self, target: &ast::Expr, e: &ast::Expr, span: &Span) -> Done<()> {
        self.statement(|s| {
            let to = s.eval(target)?;
            s.expected_type = super::assign::scalar_type(&to);
            let value = s.eval(e);
            s.expected_type = None;
            let Some(ty) = to.type_of() else { return Err(Stop) };
            let value = s.value_as(value?, &ty, &e.span)?;
            let places = s.targets(&to).ok_or(Stop)?;
            if s.checks {
                let reason = s.reason(format!("`{}` is not zero where it is allocated", s.source(&target.span)));
                for place in places {
                    let test = Test::int(pendula_isa::Cond::Eq, place.into(), Operand::Const(0));
                    s.emit(Sink::Out, Stmt::Assert { test, why: AssertKind::User, reason });
                }
            }
            s.fill_value(&to, value, span)
        })
    }
}

/// Whether an expression contains a name.
fn mentions(e: &ast::Expr, name: &str) -> bool {
    matches!(&e.kind, ExprKind::Name(own) if own == name) || e.parts().into_iter().any(|part| mentions(part, name))
}
