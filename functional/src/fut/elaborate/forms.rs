//! `let`, `loop`, `match`, patterns, fields.

use super::{Bound, Elaborator, Id, Made};
use crate::core::{Compare, IntType, Member, Op, Rhs, Value, Var};
use crate::fut::code::{Bind, FieldStep, Pattern, Turn};
use crate::fut::lex::Name;
use crate::fut::syntax::Span;
use crate::fut::types::{Prim, Size, Type, VarId};

/// A position in a sum and the types of what it carries.
type Constructor = (u32, Vec<Type>);

impl Elaborator<'_> {
    /// The index of a field and the number of fields.
    pub(super) fn field(&self, step: &FieldStep) -> Made<(usize, usize)> {
        if let Type::Record(fields) = self.unifier.head(&step.record)
            && let Some(index) = fields.iter().position(|(name, _)| *name == step.name)
        {
            return Ok((index, fields.len()));
        }
        Err(self.unread("fields of records that are not known", "write the type of the record"))
    }

    pub(super) fn constructor(&self, ty: &Type, name: &Name) -> Made<Constructor> {
        if let Type::Sum(constrs) = self.unifier.head(ty)
            && let Some(index) = constrs.iter().position(|(n, _)| n == name)
        {
            return Ok((index as u32, constrs[index].1.clone()));
        }
        Err(self.unread("constructors of types that are not known", "write the type of the value"))
    }

    pub(super) fn with_field(&mut self, record: Var, steps: &[FieldStep], value: Var) -> Made<Var> {
        let Some((first, rest)) = steps.split_first() else { return Ok(value) };
        let (index, n) = self.field(first)?;
        let mut parts: Vec<Var> = (0..n).map(|k| self.part(record, k, n)).collect();
        parts[index] = self.with_field(parts[index], rest, value)?;
        Ok(self.tuple(&parts))
    }

    fn bind_name(&mut self, var: VarId, value: Var) {
        self.bound.insert(var, Bound::Value(value));
        self.scope.push(var);
    }

    /// Binds the variables of a pattern that every value matches.
    pub(super) fn known_pattern(&mut self, pattern: &Pattern, ty: &Type, value: Var) -> Made<()> {
        match pattern {
            Pattern::Wild | Pattern::Lit(..) => Ok(()),
            Pattern::Var(var) => {
                self.bind_name(*var, value);
                Ok(())
            }
            Pattern::Tuple(parts) => {
                let types: Vec<Type> = match self.unifier.head(ty) {
                    Type::Record(fields) => fields.iter().map(|(_, t)| t.clone()).collect(),
                    _ => Vec::new(),
                };
                for (n, inner) in parts.iter().enumerate() {
                    if matches!(inner, Pattern::Wild) {
                        continue;
                    }
                    let part = self.part(value, n, parts.len());
                    self.known_pattern(inner, types.get(n).unwrap_or(ty), part)?;
                }
                Ok(())
            }
            Pattern::Constr(ty, name, parts) => {
                // The only constructor of its type.
                let (number, types) = self.constructor(ty, name)?;
                let payload = self.var("payload");
                let body = self.block(|_| Ok(payload))?;
                let found = self.bind("payload", Rhs::Case(value, vec![(number, payload, body)]));
                self.payload(parts, &types, found)
            }
        }
    }

    /// Binds what a constructor carries.
    fn payload(&mut self, parts: &[Pattern], types: &[Type], payload: Var) -> Made<()> {
        match (parts, types) {
            ([], _) => Ok(()),
            ([only], [ty]) => self.known_pattern(only, ty, payload),
            _ => self.known_pattern(&Pattern::Tuple(parts.to_vec()), &Type::tuple(types.to_vec()), payload),
        }
    }

    /// Sizes that a pattern names.
    fn named_sizes(&mut self, sizes: &[VarId], ty: &Type, value: Var) -> Made<()> {
        for size in sizes {
            if let Some(path) = self.path_to(ty, &Size::Name(*size)) {
                let found = self.measured(value, &path)?;
                self.bind_name(*size, found);
            }
        }
        Ok(())
    }

    pub(super) fn bind_let(&mut self, bind: &Bind) -> Made<()> {
        match bind {
            Bind::Pattern(sizes, pattern, ty, id) => {
                let value = self.exp(*id)?;
                self.named_sizes(sizes, ty, value)?;
                self.known_pattern(pattern, ty, value)
            }
            Bind::Function(var, fun) => {
                let n = fun.params.len();
                let name = self.code.var(*var).name.clone();
                let group = self.group(&name, |this, param| {
                    let args = this.unpack(param, n);
                    this.function_body(fun, &[], &args)
                })?;
                let function = self.bind(&name, Rhs::Closure(group, 0));
                self.spare.insert(function);
                self.bound.insert(*var, Bound::Function(function, n));
                Ok(())
            }
        }
    }

    pub(super) fn lets(&mut self, binds: &[(Bind, Span)], body: Id) -> Made<Var> {
        let scope = self.scope.len();
        for (bind, span) in binds {
            self.at(*span);
            self.bind_let(bind)?;
        }
        let result = self.exp(body)?;
        self.scope.truncate(scope);
        Ok(result)
    }

    pub(super) fn loop_(
        &mut self,
        sizes: &[VarId],
        pattern: &Pattern,
        ty: &Type,
        init: Id,
        turn: &Turn,
        body: Id,
    ) -> Made<Var> {
        let first = self.exp(init)?;
        let (array, element) = match turn {
            Turn::While(condition) => return self.while_(sizes, (pattern, ty), first, *condition, body),
            Turn::Below(counter, bound) => {
                let n = self.exp(*bound)?;
                let prim = self.prim(&self.code.var(*counter).ty)?;
                let int = super::scalars::int_type(prim).unwrap_or(IntType::I64);
                // A loop to below zero makes no turn.
                let zero = self.constant(self.number(prim, 0));
                let n = self.op(Op::IntBinary(crate::core::IntBinary::Max), &[n, zero]);
                let n = self.convert(prim, Prim::I64, n)?;
                (self.op(Op::Iota(int), &[n]), Pattern::Var(*counter))
            }
            Turn::Each(each, _, array) => (self.exp(*array)?, each.clone()),
        };
        let element_ty = match turn {
            Turn::Each(_, ty, _) => ty.clone(),
            Turn::Below(..) | Turn::While(_) => Type::I64,
        };
        let step = self.lambda("loop", |this, x| {
            let (state, item) = (this.part(x, 0, 2), this.part(x, 1, 2));
            this.known_pattern(&element, &element_ty, item)?;
            this.named_sizes(sizes, ty, state)?;
            this.known_pattern(pattern, ty, state)?;
            let next = this.exp(body)?;
            let unit = this.constant(Value::UNIT);
            Ok(this.tuple(&[next, unit]))
        })?;
        let done = self.op(Op::Scan, &[step, first, array]);
        Ok(self.part(done, 0, 2))
    }

    /// A loop as a function that calls itself last.
    fn while_(
        &mut self,
        sizes: &[VarId],
        (pattern, ty): (&Pattern, &Type),
        first: Var,
        condition: Id,
        body: Id,
    ) -> Made<Var> {
        let state = self.var("state");
        let place = self.place.clone();
        let code = self.block(|this| {
            this.named_sizes(sizes, ty, state)?;
            this.known_pattern(pattern, ty, state)?;
            let goes = this.exp(condition)?;
            this.choose(
                goes,
                |this| {
                    let next = this.exp(body)?;
                    let own = this.bind("self", Rhs::Sibling(0));
                    Ok(this.bind("r", Rhs::Apply(own, next)))
                },
                |_| Ok(state),
            )
        })?;
        self.place.clone_from(&place);
        let group = self.store.group(vec![Member { name: "while".into(), param: state, body: code, place }]);
        let function = self.bind("while", Rhs::Closure(group, 0));
        Ok(self.bind("r", Rhs::Apply(function, first)))
    }

    pub(super) fn match_(&mut self, of: Id, cases: &[(Pattern, Id)], ty: &Type) -> Made<Var> {
        let value = self.exp(of)?;
        self.cases(value, cases, ty)
    }

    /// The first case that matches.
    fn cases(&mut self, value: Var, cases: &[(Pattern, Id)], ty: &Type) -> Made<Var> {
        let Some(((pattern, body), rest)) = cases.split_first() else {
            let never = self.constant(Value::bool(false));
            let unit = self.constant(Value::UNIT);
            return Ok(self.op(Op::Check("no case of `match` matches".into()), &[never, unit, value]));
        };
        // A row of constructors of one type is one choice.
        if let Some(found) = self.by_constructor(value, cases, ty)? {
            return Ok(found);
        }
        let scope = self.scope.len();
        let result = match self.matches(pattern, value)? {
            None => {
                self.known_pattern(pattern, ty, value)?;
                self.exp(*body)?
            }
            Some(yes) => self.choose(
                yes,
                |this| {
                    this.known_pattern(pattern, ty, value)?;
                    this.exp(*body)
                },
                |this| this.cases(value, rest, ty),
            )?,
        };
        self.scope.truncate(scope);
        Ok(result)
    }

    /// Cases whose patterns are constructors of simple patterns, each once, or anything at the end.
    fn by_constructor(&mut self, value: Var, cases: &[(Pattern, Id)], ty: &Type) -> Made<Option<Var>> {
        let Type::Sum(constrs) = self.unifier.head(ty) else { return Ok(None) };
        let simple = |p: &Pattern| self.matches_always(p);
        let mut seen: Vec<u32> = Vec::new();
        let mut chosen: Vec<(usize, u32)> = Vec::new();
        let mut other = None;
        for (n, (pattern, _)) in cases.iter().enumerate() {
            match pattern {
                Pattern::Constr(ty, name, parts) if parts.iter().all(simple) => {
                    let (number, _) = self.constructor(ty, name)?;
                    if !seen.contains(&number) {
                        seen.push(number);
                        chosen.push((n, number));
                    }
                }
                Pattern::Wild | Pattern::Var(_) => {
                    other = Some(n);
                    break;
                }
                _ => return Ok(None),
            }
        }
        if chosen.is_empty() {
            return Ok(None);
        }
        let mut arms = Vec::new();
        for number in 0..constrs.len() as u32 {
            let payload = self.var("payload");
            let case = chosen.iter().find(|(_, m)| *m == number).map(|(n, _)| *n).or(other);
            let body = self.block(|this| match case.map(|n| &cases[n]) {
                Some((Pattern::Constr(_, _, parts), body)) => {
                    this.payload(parts, &constrs[number as usize].1, payload)?;
                    this.exp(*body)
                }
                Some((pattern, body)) => {
                    this.known_pattern(pattern, ty, value)?;
                    this.exp(*body)
                }
                None => this.cases(value, &[], ty),
            })?;
            arms.push((number, payload, body));
        }
        Ok(Some(self.bind("match", Rhs::Case(value, arms))))
    }

    /// Whether every value matches.
    fn matches_always(&self, pattern: &Pattern) -> bool {
        match pattern {
            Pattern::Wild | Pattern::Var(_) => true,
            Pattern::Tuple(parts) => parts.iter().all(|p| self.matches_always(p)),
            Pattern::Lit(..) => false,
            Pattern::Constr(ty, _, parts) => {
                matches!(self.unifier.head(ty), Type::Sum(constrs) if constrs.len() == 1)
                    && parts.iter().all(|p| self.matches_always(p))
            }
        }
    }

    /// Whether a value matches, as a truth value; `None` if every value does.
    fn matches(&mut self, pattern: &Pattern, value: Var) -> Made<Option<Var>> {
        if self.matches_always(pattern) {
            return Ok(None);
        }
        match pattern {
            Pattern::Wild | Pattern::Var(_) => Ok(None),
            Pattern::Lit(lit, negative, ty) => {
                let literal = self.literal(lit, *negative, ty)?;
                let literal = self.constant(literal);
                Ok(Some(self.op(Op::Compare(Compare::Eq), &[value, literal])))
            }
            Pattern::Tuple(parts) => {
                let mut all: Option<Var> = None;
                for (n, inner) in parts.iter().enumerate() {
                    if self.matches_always(inner) {
                        continue;
                    }
                    let part = self.part(value, n, parts.len());
                    all = match all {
                        None => self.matches(inner, part)?,
                        Some(before) => Some(self.choose(
                            before,
                            |this| {
                                let inner = this.matches(inner, part)?;
                                Ok(inner.unwrap_or_else(|| this.constant(Value::bool(true))))
                            },
                            |this| Ok(this.constant(Value::bool(false))),
                        )?),
                    };
                }
                Ok(all)
            }
            Pattern::Constr(ty, name, parts) => {
                let (number, types) = self.constructor(ty, name)?;
                let Type::Sum(constrs) = self.unifier.head(ty) else { return Ok(None) };
                let mut arms = Vec::new();
                for other in 0..constrs.len() as u32 {
                    let payload = self.var("payload");
                    let body = self.block(|this| {
                        if other != number {
                            return Ok(this.constant(Value::bool(false)));
                        }
                        let inner = match (parts.as_slice(), types.as_slice()) {
                            ([], _) => None,
                            ([only], _) => this.matches(only, payload)?,
                            _ => this.matches(&Pattern::Tuple(parts.clone()), payload)?,
                        };
                        Ok(inner.unwrap_or_else(|| this.constant(Value::bool(true))))
                    })?;
                    arms.push((other, payload, body));
                }
                Ok(Some(self.bind("matches", Rhs::Case(value, arms))))
            }
        }
    }
}
