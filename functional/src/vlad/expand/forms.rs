//! Expressions.

use std::rc::Rc;

use pendula_isa::diagnostic::Place;

use super::{Expander, Meaning, Wrong, repeated, twice, wrong};
use crate::core::{Body, Rhs, Value, Var};
use crate::errors::FORM;
use crate::vlad::basis::Primitive;
use crate::vlad::sexp::{Form, Sexp};

impl Expander<'_> {
    pub(super) fn expression(&mut self, form: &Sexp) -> Result<Var, Wrong> {
        self.deeper(&form.place, |e| e.expression_inside(form))
    }

    fn expression_inside(&mut self, form: &Sexp) -> Result<Var, Wrong> {
        let place = &form.place;
        match &form.form {
            Form::Number(x) => Ok(self.emit("c", Rhs::Const(Value::real(*x)), place)),
            Form::Bool(b) => Ok(self.emit("c", Rhs::Const(Value::bool(*b)), place)),
            Form::Symbol(name) => self.variable(name, place),
            Form::Text(_) => wrong(FORM, "a text is no value", place),
            Form::List(_, Some(_)) => wrong(FORM, "an expression has no dot", place),
            Form::List(all, None) => {
                let Some(head) = all.first() else {
                    return wrong(FORM, "`()` is no expression; the empty list is written `'()`", place);
                };
                if let Some(name) = head.symbol().filter(|n| self.meaning(n).is_none())
                    && let Some(result) = self.special(name, &all[1..], form)
                {
                    return result;
                }
                self.application(head, &all[1..], place)
            }
        }
    }

    /// A form that is no application.
    fn special(&mut self, name: &str, parts: &[Sexp], form: &Sexp) -> Option<Result<Var, Wrong>> {
        let place = &form.place;
        Some(match name {
            "quote" => match parts {
                [value] => self.quote(value),
                _ => wrong(FORM, "`quote` has one part", place),
            },
            "lambda" => self.lambda("lambda", form),
            "let" => self.r#let(parts, place),
            "let*" => self.let_star(parts, place),
            "letrec" => match parts {
                [bindings, body] => self.letrec(bindings, body, place),
                _ => wrong(FORM, "`letrec` has bindings and one expression", place),
            },
            "if" => match parts {
                [c, yes, no] => self.condition(c, |e| e.block(yes), |e| e.block(no), place),
                _ => wrong(FORM, "`if` has a condition and two expressions", place),
            },
            "cond" => self.cond(parts, place),
            "and" => self.and(parts, place),
            "or" => self.or(parts, place),
            "cons" => match parts {
                [head, tail] => {
                    let (head, tail) = match (self.expression(head), self.expression(tail)) {
                        (Ok(head), Ok(tail)) => (head, tail),
                        (Err(wrong), _) | (_, Err(wrong)) => return Some(Err(wrong)),
                    };
                    Ok(self.emit("p", Rhs::Tuple(vec![head, tail]), place))
                }
                _ => wrong(FORM, "`cons` has two parts", place),
            },
            "cons*" => self.arguments(parts, place),
            "list" => {
                let all: Result<Vec<Var>, Wrong> = parts.iter().map(|p| self.expression(p)).collect();
                all.map(|all| {
                    let end = self.emit("c", Rhs::Const(Value::UNIT), place);
                    all.into_iter().rfold(end, |rest, v| self.emit("p", Rhs::Tuple(vec![v, rest]), place))
                })
            }
            "define" | "include" | "multiform" => wrong(FORM, format!("`{name}` stands only at the top"), place),
            "set!" | "begin" | "do" | "case" | "delay" | "quasiquote" => {
                wrong(FORM, format!("`{name}` does not exist in VLAD"), place)
            }
            _ => return None,
        })
    }

    /// Expressions as one argument: nothing as `()`, several as a tuple.
    fn arguments(&mut self, parts: &[Sexp], place: &Place) -> Result<Var, Wrong> {
        let all = parts.iter().map(|p| self.expression(p)).collect::<Result<Vec<_>, _>>()?;
        Ok(self.tuple_of(&all, place))
    }

    fn tuple_of(&mut self, all: &[Var], place: &Place) -> Var {
        match all.split_last() {
            None => self.emit("c", Rhs::Const(Value::UNIT), place),
            Some((last, first)) => {
                first.iter().rfold(*last, |rest, v| self.emit("p", Rhs::Tuple(vec![*v, rest]), place))
            }
        }
    }

    fn application(&mut self, head: &Sexp, parts: &[Sexp], place: &Place) -> Result<Var, Wrong> {
        if let Some(name) = head.symbol().filter(|n| self.meaning(n).is_none())
            && let Some(primitive) = Primitive::of(name).filter(|p| p.arity() == parts.len())
        {
            let args = parts.iter().map(|p| self.expression(p)).collect::<Result<Vec<_>, _>>()?;
            return Ok(self.direct(&primitive, &args, place));
        }
        let function = self.expression(head)?;
        let argument = self.arguments(parts, place)?;
        Ok(self.emit("r", Rhs::Apply(function, argument), place))
    }

    /// A function of the basis in place.
    fn direct(&mut self, primitive: &Primitive, args: &[Var], place: &Place) -> Var {
        let mut builder = crate::core::Builder::new(&mut self.store);
        builder.place = Some(place.clone());
        let result = primitive.call(&mut builder, args);
        let mut binds = builder.binds;
        if let Some(all) = self.binds.last_mut() {
            all.append(&mut binds);
        }
        result
    }

    fn quote(&mut self, form: &Sexp) -> Result<Var, Wrong> {
        let value = self.quoted(form)?;
        Ok(self.emit("c", Rhs::Const(value), &form.place))
    }

    fn quoted(&mut self, form: &Sexp) -> Result<Value, Wrong> {
        self.deeper(&form.place, |e| {
            Ok(match &form.form {
                Form::Number(x) => Value::real(*x),
                Form::Bool(b) => Value::bool(*b),
                Form::Symbol(name) => Value::symbol(&**name),
                Form::Text(_) => return wrong(FORM, "a text is no value", &form.place),
                Form::List(all, tail) => {
                    let end = match tail {
                        Some(tail) => e.quoted(tail)?,
                        None => Value::UNIT,
                    };
                    let all = all.iter().map(|p| e.quoted(p)).collect::<Result<Vec<_>, _>>()?;
                    all.into_iter().rfold(end, |rest, v| Value::pair(v, rest))
                }
            })
        })
    }

    fn lambda(&mut self, name: &str, form: &Sexp) -> Result<Var, Wrong> {
        let member = self.function(name, form, None)?;
        let group = self.store.group(vec![member]);
        Ok(self.emit(name, Rhs::Closure(group, 0), &form.place))
    }

    /// The value of a binding; a function gets its name.
    fn bound(&mut self, target: &Sexp, value: &Sexp) -> Result<Var, Wrong> {
        match target.symbol() {
            Some(name) if value.headed("lambda").is_some() && self.meaning("lambda").is_none() => {
                self.lambda(name, value)
            }
            _ => self.expression(value),
        }
    }

    fn pairs<'f>(&self, bindings: &'f Sexp) -> Result<Vec<(&'f Sexp, &'f Sexp)>, Wrong> {
        let Some(all) = bindings.list() else {
            return wrong(FORM, "bindings are a list", &bindings.place);
        };
        all.iter()
            .map(|b| match b.list() {
                Some([target, value]) => Ok((target, value)),
                _ => wrong(FORM, "a binding has a pattern and one expression", &b.place),
            })
            .collect()
    }

    fn r#let(&mut self, parts: &[Sexp], place: &Place) -> Result<Var, Wrong> {
        match parts {
            [bindings, body] => {
                let pairs = self.pairs(bindings)?;
                let mut values = Vec::with_capacity(pairs.len());
                for (target, value) in &pairs {
                    values.push(self.bound(target, value)?);
                }
                let before = self.mark();
                self.each(&pairs, &values)?;
                let result = self.expression(body)?;
                self.restore(before);
                Ok(result)
            }
            [name @ Sexp { form: Form::Symbol(_), .. }, bindings, body] => {
                let pairs = self.pairs(bindings)?;
                let list = |all: Vec<Sexp>| Sexp { form: Form::List(all, None), place: place.clone() };
                let lambda = Sexp { form: Form::Symbol("lambda".into()), place: place.clone() };
                let params = list(pairs.iter().map(|(target, _)| (*target).clone()).collect());
                let function = list(vec![lambda, params, body.clone()]);
                let mut call = vec![name.clone()];
                call.extend(pairs.iter().map(|(_, value)| (*value).clone()));
                self.letrec(&list(vec![list(vec![name.clone(), function])]), &list(call), place)
            }
            _ => wrong(FORM, "`let` has bindings and one expression", place),
        }
    }

    /// Binds patterns to values; no name may occur twice.
    fn each(&mut self, pairs: &[(&Sexp, &Sexp)], values: &[Var]) -> Result<(), Wrong> {
        let mut names = Vec::new();
        for ((target, _), value) in pairs.iter().zip(values) {
            self.pattern(target, *value, &mut names, false)?;
        }
        match repeated(&names) {
            Some(name) => twice(name),
            None => Ok(()),
        }
    }

    fn let_star(&mut self, parts: &[Sexp], place: &Place) -> Result<Var, Wrong> {
        let [bindings, body] = parts else {
            return wrong(FORM, "`let*` has bindings and one expression", place);
        };
        let before = self.mark();
        for (target, value) in self.pairs(bindings)? {
            let value = self.bound(target, value)?;
            self.pattern(target, value, &mut Vec::new(), false)?;
        }
        let result = self.expression(body)?;
        self.restore(before);
        Ok(result)
    }

    fn letrec(&mut self, bindings: &Sexp, body: &Sexp, place: &Place) -> Result<Var, Wrong> {
        let pairs = self.pairs(bindings)?;
        let mut names: Vec<(Rc<str>, Place)> = Vec::new();
        for (target, value) in &pairs {
            let Form::Symbol(name) = &target.form else {
                return wrong(FORM, "`letrec` binds names", &target.place);
            };
            if value.headed("lambda").is_none() {
                return wrong(FORM, "`letrec` binds functions: `(lambda (x) e)`", &value.place);
            }
            names.push((name.clone(), target.place.clone()));
        }
        if let Some(name) = repeated(&names) {
            return twice(name);
        }
        if names.len() > usize::from(u16::MAX) {
            return wrong(FORM, "too many functions in one `letrec`", place);
        }
        self.letrecs += 1;
        let (letrec, before) = (self.letrecs, self.mark());
        for (n, (name, _)) in (0..).zip(&names) {
            self.name(name, Meaning::Sibling(letrec, n));
        }
        let mut members = Vec::with_capacity(names.len());
        for ((name, _), (_, value)) in names.iter().zip(&pairs) {
            members.push(self.function(name, value, Some(letrec))?);
        }
        self.restore(before);
        let group = self.store.group(members);
        for (n, (name, place)) in (0..).zip(&names) {
            let var = self.emit(name, Rhs::Closure(group, n), place);
            self.name(name, Meaning::Var(var));
        }
        let result = self.expression(body)?;
        self.restore(before);
        Ok(result)
    }

    fn condition(
        &mut self,
        condition: &Sexp,
        yes: impl FnOnce(&mut Self) -> Result<Body, Wrong>,
        no: impl FnOnce(&mut Self) -> Result<Body, Wrong>,
        place: &Place,
    ) -> Result<Var, Wrong> {
        let c = self.expression(condition)?;
        let (yes, no) = (yes(self)?, no(self)?);
        Ok(self.emit("t", Rhs::If(c, Box::new(yes), Box::new(no)), place))
    }

    /// Writes what `inside` gives into a body in place.
    fn inside(&mut self, inside: impl FnOnce(&mut Self) -> Result<Var, Wrong>) -> Result<Body, Wrong> {
        self.binds.push(Vec::new());
        let result = inside(self)?;
        Ok(Body { binds: self.binds.pop().unwrap_or_default(), result })
    }

    fn cond(&mut self, clauses: &[Sexp], place: &Place) -> Result<Var, Wrong> {
        let Some((first, rest)) = clauses.split_first() else {
            return wrong(FORM, "`cond` ends with `(else e)`", place);
        };
        let Some([condition, value]) = first.list() else {
            return wrong(FORM, "a clause of `cond` has a condition and one expression", &first.place);
        };
        if rest.is_empty() {
            if condition.symbol() == Some("else") {
                return self.expression(value);
            }
            return wrong(FORM, "`cond` ends with `(else e)`", &first.place);
        }
        self.deeper(&first.place, |e| {
            e.condition(condition, |e| e.block(value), |e| e.inside(|e| e.cond(rest, place)), place)
        })
    }

    fn and(&mut self, parts: &[Sexp], place: &Place) -> Result<Var, Wrong> {
        match parts {
            [] => Ok(self.emit("c", Rhs::Const(Value::bool(true)), place)),
            [one] => self.expression(one),
            [first, rest @ ..] => self.deeper(place, |e| {
                let no = |e: &mut Self| e.inside(|e| Ok(e.emit("c", Rhs::Const(Value::bool(false)), place)));
                e.condition(first, |e| e.inside(|e| e.and(rest, place)), no, place)
            }),
        }
    }

    fn or(&mut self, parts: &[Sexp], place: &Place) -> Result<Var, Wrong> {
        match parts {
            [] => Ok(self.emit("c", Rhs::Const(Value::bool(false)), place)),
            [one] => self.expression(one),
            [first, rest @ ..] => self.deeper(place, |e| {
                let first = e.expression(first)?;
                let yes = Body { binds: Vec::new(), result: first };
                let no = e.inside(|e| e.or(rest, place))?;
                Ok(e.emit("t", Rhs::If(first, Box::new(yes), Box::new(no)), place))
            }),
        }
    }
}
