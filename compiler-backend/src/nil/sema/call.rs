//! Calls of functions of the program: the definition, the instance for the argument types, and the words that are
//! passed.

use pendula_isa::Ty;
use pendula_isa::diagnostic::plural;

use super::body::{Body, Sink};
use super::overload::Choice;
use super::value::{Literal, Product, ScalarExpr, Value, View};
use super::{ArgKey, ArgRecord, CallRecord, Done, Stop};
use crate::ir::{self, FunctionId, Operand, Place, Stmt};
use crate::nil::ast::{self, AssignOp, Span};
use crate::nil::codes;
use crate::nil::types::{Layout, Type};

/// An argument of a call, ready to be passed.
pub(super) struct CallArg {
    /// The words that are passed.
    pub(super) words: Vec<Operand>,
    /// What is recorded about it for the checks after all functions are compiled.
    pub(super) record: ArgRecord,
    /// The places that are passed by reference.
    pub(super) places: Vec<Place>,
    /// The arrays.
    pub(super) views: Vec<View>,
    /// Whether the function changes it.
    pub(super) changed: bool,
}

impl<'a> Body<'_, 'a> {
    /// The definitions of the statement `y op f(…)`, and whether they define the inverse operator.
    pub(super) fn instruction(&self, op: AssignOp, name: &str) -> Option<(Vec<usize>, bool)> {
        // A function of the host goes before one of the library.
        let hidden = |n: &usize| self.s.definitions[*n].library && self.s.hosts.contains_key(name);
        let of = |op| {
            let found = self.s.by_instruction.get(&(op, name))?;
            Some(found.iter().copied().filter(|n| !hidden(n)).collect::<Vec<_>>()).filter(|all| !all.is_empty())
        };
        of(op).map(|d| (d, false)).or_else(|| of(op.partner()).map(|d| (d, true)))
    }

    /// The definition that computes `f(args…)` as a value, and the type that it adds to.
    pub(super) fn value_function(&self, name: &str, values: &[Value]) -> Option<((Vec<usize>, bool), Type)> {
        let types: Vec<Type> = values.iter().map(Value::type_of).collect::<Option<_>>()?;
        let (candidates, inverse) = match self.instruction(AssignOp::Add, name) {
            Some(found) => found,
            None => {
                let all = self.s.by_name.get(&self.known_as(name))?;
                let fit = |n: &&usize| self.s.definitions[**n].ast.takes(values.len() + 1);
                let fit: Vec<usize> = all.iter().filter(fit).copied().collect();
                (!fit.is_empty()).then_some((fit, false))?
            }
        };
        let element = |t: &Type| match t {
            Type::Array { element, .. } => (**element).clone(),
            Type::Struct(s) => s.fields.first().map_or(t.clone(), |(_, t)| t.clone()),
            _ => t.clone(),
        };
        let expected =
            self.expected_log_sign().map(|signed| Type::Log { signed }).or(self.expected_type.map(Type::Num));
        let mut targets: Vec<Type> = expected.into_iter().collect();
        targets.extend(types.iter().map(element));
        targets.extend(types.iter().cloned());
        targets.push(Type::Num(Ty::F));
        targets.into_iter().filter(|t| t.words().is_some()).find_map(|t| {
            let all: Vec<Type> = std::iter::once(t.clone()).chain(types.iter().cloned()).collect();
            self.choose(&candidates, &all).fits().then(|| ((candidates.clone(), inverse), t))
        })
    }

    /// Calls a function whose first argument is `first`.
    pub(super) fn call_with(
        &mut self,
        (candidates, inverse): (Vec<usize>, bool),
        first: Value,
        (rest, spans): (&[Value], &[Span]),
        keywords: &[(ast::Name, ast::Expr)],
        span: &Span,
    ) -> Done<()> {
        let values: Vec<Value> = std::iter::once(first).chain(rest.iter().cloned()).collect();
        let spans: Vec<Span> = std::iter::once(span.clone()).chain(spans.iter().cloned()).collect();
        self.invoke(&candidates, values, &spans, keywords, inverse, span)
    }

    /// The values of arguments, with their places in the source: those of `x...` are the parts of a tuple. Under a
    /// `dot`, the current elements of arrays.
    pub(super) fn given(&mut self, args: &[ast::Expr], dot: bool) -> Done<(Vec<Value>, Vec<Span>)> {
        let (mut values, mut spans) = (Vec::with_capacity(args.len()), Vec::with_capacity(args.len()));
        for arg in args {
            let spread = match &arg.kind {
                ast::ExprKind::Splat(inner) => self.eval(inner)?,
                _ => {
                    values.push(self.eval_point(arg, dot)?);
                    spans.push(arg.span.clone());
                    continue;
                }
            };
            let parts = match spread {
                Value::Tuple(parts) | Value::Elements(parts) => parts,
                Value::Complex(..) | Value::Struct(..) => match self.fields_of(spread, &arg.span)? {
                    Value::Tuple(parts) => parts,
                    other => vec![other],
                },
                other => {
                    let message = format!("`...` gives the parts of a tuple, found {}", other.describe());
                    let help = "the number of arguments must be known: pass the array itself";
                    return self.fail(&arg.span, codes::SPLAT, message, help);
                }
            };
            spans.extend(parts.iter().map(|_| arg.span.clone()));
            values.extend(parts);
        }
        Ok((values, spans))
    }

    /// Further arguments as the tuple that the last parameter `x...` of a definition takes.
    fn with_rest<T>(&self, n: usize, mut all: Vec<T>, tuple: impl FnOnce(Vec<T>) -> T) -> Vec<T> {
        let params = &self.s.definitions[n].ast.params;
        if params.last().is_some_and(|p| p.rest) && all.len() + 1 >= params.len() {
            let rest = all.split_off(params.len() - 1);
            all.push(tuple(rest));
        }
        all
    }

    /// The types of arguments.
    fn types_of(&mut self, values: &[Value], spans: &[Span]) -> Done<Vec<Type>> {
        let mut types = Vec::new();
        for (v, at) in values.iter().zip(spans) {
            match v.type_of() {
                Some(t) => types.push(t),
                None => {
                    let message = format!("{} cannot be an argument", v.describe());
                    return self.fail(at, codes::TYPE, message, "give a variable, a number or an array");
                }
            }
        }
        Ok(types)
    }

    /// Calls one of these definitions.
    pub(super) fn invoke(
        &mut self,
        candidates: &[usize],
        values: Vec<Value>,
        spans: &[Span],
        keywords: &[(ast::Name, ast::Expr)],
        inverse: bool,
        span: &Span,
    ) -> Done<()> {
        let values: Vec<Value> = values.into_iter().map(by_name).collect();
        let types = self.types_of(&values, spans)?;
        let (chosen, types) = self.choose_for(candidates, &values, types);
        let place = (self.file, span.clone());
        self.s.refuse_unread(candidates, &chosen, Some((place.0, &place.1)))?;
        let (n, bound) = match chosen {
            Choice::One(n, bound) => (n, bound),
            Choice::None => return self.no_method(candidates, &types, span),
            Choice::Several(several) => {
                return Err(self.s.ambiguous(&several, &types, Some((place.0, &place.1))));
            }
        };
        // Recursive calls with ever larger types would not end.
        if types.iter().any(|t| t.words().is_some_and(|n| n > 4096)) {
            let help = "a function that calls itself must do so with the same types";
            return self.fail(span, codes::METHOD, "an argument of more than 4096 words", help);
        }
        let (mut values, mut types, mut spans) = (values, types, spans.to_vec());
        self.add_defaults(n, &bound, (&mut values, &mut types, &mut spans), span)?;
        let keys = self.keywords_lent(n, keywords, &values, span)?;
        let mut passed = Vec::new();
        let mut settled = Vec::new();
        for ((v, ty), at) in values.into_iter().zip(&types).zip(&spans) {
            let v = match ty {
                Type::Array { .. } | Type::Function(_) => v,
                _ if matches!(v, Value::Num(ScalarExpr::Lit(_), None)) => self.value_as(v, ty, at)?,
                _ => v,
            };
            settled.push(v.type_of().ok_or(Stop)?);
            passed.push((v, at.clone()));
        }
        let settled = self.with_rest(n, settled, Type::Tuple);
        let mut passed = self.with_rest(n, passed, |rest| {
            let at = rest.first().map_or(span, |(_, at)| at).clone();
            (Value::Tuple(rest.into_iter().map(|(v, _)| v).collect()), at)
        });
        let mut key: Vec<ArgKey> = settled.iter().cloned().map(ArgKey::Type).collect();
        for (_, v) in &keys {
            if is_constant(v) {
                key.push(ArgKey::Literal(format!("{v:?}")));
            } else {
                key.push(ArgKey::Type(v.type_of().ok_or(Stop)?));
            }
        }
        let positional = passed.len();
        let words = |v: &Value| !is_constant(v) && !matches!(v, Value::Function(_));
        passed.extend(keys.iter().filter(|(_, v)| words(v)).map(|(_, v)| (v.clone(), span.clone())));
        let mut regions = Vec::new();
        for (k, (v, _)) in passed.iter().enumerate() {
            let mut of = Vec::new();
            regions_of(v, &mut of);
            regions.extend(of.into_iter().map(|r| (r, k)));
        }
        let instance = |s: &mut Self, classes: Vec<usize>| {
            let mut key = key.clone();
            if classes.iter().enumerate().any(|(k, class)| k != *class) {
                key.push(ArgKey::Literal(format!("{classes:?}")));
            }
            match s.s.instances.get(&(n, key.clone())) {
                Some(fun) => Ok(*fun),
                None => s.instance(n, key, settled.clone(), keys.clone(), bound.clone(), (classes, span)),
            }
        };
        // Arrays that may overlap share a region in the function, too. Of two of which one is changed, it is checked that they do not.
        let may_overlap = classes(&regions, |_, _| true);
        let apart: Vec<usize> = (0..regions.len()).collect();
        let mut fun = instance(self, apart.clone())?;
        if may_overlap != apart {
            let changes: Vec<bool> = (0..passed.len()).map(|k| self.changes(fun, k)).collect();
            let known = self.s.facts[fun.0 as usize].done;
            let overlap = if known {
                classes(&regions, |a, b| a == b || !changes[a] && !changes[b])
            } else {
                may_overlap.clone()
            };
            if overlap != apart {
                fun = instance(self, overlap)?;
                if known && (0..passed.len()).any(|k| self.changes(fun, k) && !changes[k]) {
                    fun = instance(self, may_overlap)?;
                }
            }
        }
        self.s.predict(n, fun);
        let mut pass = Vec::new();
        for (k, (v, at)) in passed.into_iter().enumerate() {
            let changed = self.changes(fun, k);
            let v = self.given_or_lent(v, (changed, k >= positional), &at)?;
            pass.push(self.pass(v, changed, &at)?);
        }
        self.check_aliases(fun, &pass, span)?;
        self.check_inputs(&pass, span)?;
        let args: Vec<Operand> = pass.iter().flat_map(|r| r.words.iter().copied()).collect();
        let records = pass.into_iter().map(|r| r.record).collect();
        self.s.calls.push(CallRecord { caller: self.fun, callee: fun, file: self.file, args: records });
        self.emit(super::body::Sink::Out, Stmt::Call { func: fun, inverse, args });
        Ok(())
    }

    /// Whether one of these definitions, or one that could not be read, may be meant by a call with these arguments.
    pub(super) fn accepts(&self, candidates: &[usize], values: &[Value]) -> bool {
        let Some(types) = values.iter().map(Value::type_of).collect::<Option<Vec<_>>>() else { return true };
        let unread = |n: &usize| self.s.definitions[*n].ast.unread.as_ref().is_some_and(|u| !u.head);
        candidates.iter().any(unread) || self.choose_for(candidates, values, types).0.fits()
    }

    /// The definition that a call means, and the types of its arguments: a literal takes the type of the parameter.
    fn choose_for(&self, candidates: &[usize], values: &[Value], mut types: Vec<Type>) -> (Choice, Vec<Type>) {
        let literals: Vec<bool> = values.iter().map(|v| matches!(v, Value::Num(ScalarExpr::Lit(_), None))).collect();
        let mut chosen = self.choose(candidates, &types);
        if !chosen.fits() || literals.contains(&true) {
            for ty in [Ty::Q, Ty::F, Ty::L, Ty::Int] {
                let tried: Vec<Type> = types
                    .iter()
                    .zip(values)
                    .zip(&literals)
                    .map(|((t, v), l)| match (l, v) {
                        (true, Value::Num(ScalarExpr::Lit(Literal::Int(_)), _)) if chosen.fits() => t.clone(),
                        (true, Value::Num(ScalarExpr::Lit(_), _)) if ty == Ty::Int => t.clone(),
                        (true, _) => Type::Num(ty),
                        (false, _) => t.clone(),
                    })
                    .collect();
                let real = self.expected_type.unwrap_or(Ty::F);
                if !chosen.fits() || (ty == real && tried != types) {
                    let found = self.choose(candidates, &tried);
                    if found.fits() {
                        chosen = found;
                        types = tried;
                    }
                }
            }
        }
        (chosen, types)
    }

    fn no_method(&mut self, candidates: &[usize], types: &[Type], span: &Span) -> Done<()> {
        let list: Vec<String> = types.iter().map(Type::to_string).collect();
        let Some(first) = candidates.first().and_then(|n| self.s.definitions.get(*n)) else { return Err(Stop) };
        let (f, file) = (first.ast, first.file);
        let name = f.name.text.clone();
        if !candidates.iter().any(|n| self.s.definitions[*n].ast.takes(types.len())) {
            let message = format!("`{name}` takes {}, found {}", plural(f.params.len(), "argument"), types.len());
            let at = f.name.span.clone();
            let d = self.error(span, codes::ARGUMENTS, message);
            let place = pendula_isa::diagnostic::Place { file, span: at };
            d.secondary.push(pendula_isa::diagnostic::Label { place, text: "defined here".into() });
            d.help = Some("give one argument for each parameter".into());
            return Err(Stop);
        }
        let expected: Vec<String> =
            f.params.iter().map(|p| p.ty.as_ref().map_or("anything".to_string(), type_text)).collect();
        let message = format!("`{name}` is not for ({})", list.join(", "));
        self.fail(span, codes::METHOD, message, format!("it takes ({})", expected.join(", ")))
    }

    /// Whether a function changes its parameter number `k`, as far as is known.
    pub(super) fn changes(&self, fun: FunctionId, k: usize) -> bool {
        let (facts, written) = (&self.s.facts[fun.0 as usize], &self.s.written[fun.0 as usize]);
        let Some(p) = facts.params.get(k) else { return true };
        written.params.get(p.words.clone()).is_some_and(|w| w.contains(&true))
            || p.regions.iter().any(|r| written.regions.get(r.0 as usize).copied().unwrap_or(false))
    }

    /// A number that is written as an argument that the function changes: an ancilla, which must have this value again
    /// afterwards.
    pub(super) fn lent(&mut self, v: Value, span: &Span) -> Done<Value> {
        let Value::Num(x @ (ScalarExpr::Lit(_) | ScalarExpr::Const(_)), ty) = v else { return Ok(v) };
        let ty = ty.unwrap_or(Ty::F);
        let x = self.typed(x, ty, span)?;
        let var = self.fresh(&self.source(span), ty);
        let checks = self.ancilla_checks(ty);
        self.emit(Sink::Pre, Stmt::Ancilla { var, free: false, checks });
        if x != ScalarExpr::Const(0) {
            let acc = if ty == Ty::L { pendula_isa::Acc::Xor } else { super::accumulator(ty) };
            self.accumulate(Sink::Pre, Place::Var(var), ty, acc, false, x)?;
        }
        Ok(Value::Num(ScalarExpr::var(var), Some(ty)))
    }

    /// An argument as it is passed: a number that is changed is lent, and so is a computed one that is a keyword.
    fn given_or_lent(&mut self, v: Value, (changed, keyword): (bool, bool), span: &Span) -> Done<Value> {
        match (changed, keyword) {
            (true, true) => self.lent_computed(v, span),
            (true, false) => self.lent(v, span),
            (false, _) => Ok(v),
        }
    }

    /// The same for a number that is computed, or a variable, whose copy is lent.
    fn lent_computed(&mut self, v: Value, span: &Span) -> Done<Value> {
        let Value::Num(x, ty) = v else { return Ok(v) };
        if matches!(x, ScalarExpr::Lit(_) | ScalarExpr::Const(_)) {
            return self.lent(Value::Num(x, ty), span);
        }
        let ty = ty.unwrap_or(Ty::F);
        let x = self.typed(x, ty, span)?;
        let var = self.fresh(&self.source(span), ty);
        let checks = self.ancilla_checks(ty);
        self.emit(Sink::Pre, Stmt::Ancilla { var, free: false, checks });
        self.accumulate(Sink::Pre, Place::Var(var), ty, super::accumulator(ty), false, x)?;
        Ok(Value::Num(ScalarExpr::var(var), Some(ty)))
    }

    /// The words of an argument; `changed` tells whether the function changes it.
    fn pass(&mut self, v: Value, changed: bool, span: &Span) -> Done<CallArg> {
        let record = ArgRecord { span: span.clone(), vars: Vec::new(), temporary: false, regions: Vec::new() };
        let mut r = CallArg { words: Vec::new(), record, places: Vec::new(), views: Vec::new(), changed };
        self.pass_part(v, span, &mut r)?;
        Ok(r)
    }

    fn pass_part(&mut self, v: Value, span: &Span, r: &mut CallArg) -> Done<()> {
        match v {
            Value::Num(x, ty) => {
                let whole = matches!(x, ScalarExpr::Lit(Literal::Int(_)));
                let ty = ty.unwrap_or(if whole { Ty::Int } else { Ty::F });
                let x = self.typed(x, ty, span)?;
                self.pass_word(x, ty, r)
            }
            Value::Tropical(x, ty) => self.pass_word(x, ty, r),
            Value::Log(log, sign) => {
                self.pass_word(log, Ty::F, r)?;
                sign.map_or(Ok(()), |sign| self.pass_word(*sign, Ty::Int, r))
            }
            Value::Bool(x) => self.pass_word(x, Ty::Int, r),
            Value::Complex(a, b, ty) => {
                let ty = ty.unwrap_or(Ty::F);
                let (a, b) = (self.typed(a, ty, span)?, self.typed(b, ty, span)?);
                self.pass_word(a, ty, r)?;
                self.pass_word(b, ty, r)
            }
            Value::Struct(_, parts) | Value::Tuple(parts) => {
                parts.into_iter().try_for_each(|p| self.pass_part(p, span, r))
            }
            Value::Function(_) => Ok(()),
            Value::Stacked(_, views) => views.into_iter().try_for_each(|v| self.pass_part(Value::Array(v), span, r)),
            Value::Array(view) => {
                let base = self.address_value(&view)?;
                r.words.push(base);
                r.record.vars.push(None);
                let strides: Vec<Product> = match view.layout() {
                    Layout::Columns | Layout::Rows | Layout::Growing | Layout::Keyed => Vec::new(),
                    Layout::Strided => view.dims.iter().map(|d| d.stride.clone()).collect(),
                };
                let strides: Vec<Operand> = strides.iter().map(|p| self.product_value(p)).collect();
                for len in view.dims.iter().map(|d| d.len) {
                    r.words.push(len);
                    // The length of a vector that grows is passed by reference.
                    let own = if let (Some(_), Operand::Var(v)) = (view.room, len) { Some(v) } else { None };
                    r.places.extend(own.map(Place::Var));
                    r.record.vars.push(own);
                }
                for o in strides.into_iter().chain(view.room) {
                    r.words.push(o);
                    r.record.vars.push(None);
                }
                r.record.regions.push(view.region);
                r.views.push(view);
                Ok(())
            }
            other @ (Value::Elements(_) | Value::Type(_) | Value::Range(..)) => {
                let message = format!("{} cannot be an argument", other.describe());
                self.fail(span, codes::TYPE, message, "allocate it first: `x ← …`")
            }
        }
    }

    fn pass_word(&mut self, x: ScalarExpr, ty: Ty, r: &mut CallArg) -> Done<()> {
        let place = match &x {
            ScalarExpr::Place(p) => Some(*p),
            // An argument under a view: the variable holds the viewed number during the call.
            ScalarExpr::Neg(_) | ScalarExpr::Viewed(..) if r.changed => self.opened(&x, ty)?,
            _ => None,
        };
        match place {
            Some(p) => {
                r.words.push(p.into());
                r.places.push(p);
                match p {
                    Place::Var(v) => {
                        let fixed = self.fixed.contains(&v);
                        r.record.temporary |= fixed;
                        r.record.vars.push(Some(v));
                    }
                    Place::Mem(m) => {
                        self.flush_asserts();
                        r.record.vars.push(None);
                        r.record.regions.push(m.region);
                    }
                }
            }
            None => {
                let o = self.put(ty, x)?;
                r.words.push(o);
                r.record.vars.push(None);
                r.record.temporary = true;
            }
        }
        Ok(())
    }
}

/// Whether the value of a keyword is known during compilation: the function is then compiled for this value.
pub(super) fn is_constant(v: &Value) -> bool {
    matches!(v, Value::Num(ScalarExpr::Lit(_) | ScalarExpr::Const(_), _) | Value::Bool(ScalarExpr::Const(_)))
}

/// For each array, given by its region and the number of its argument, the first one of which the region is the same and to whose argument
/// its own is related.
fn classes(regions: &[(ir::Region, usize)], related: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let first = |(region, k): &(ir::Region, usize)| {
        regions.iter().position(|(other, j)| other == region && related(*j, *k)).unwrap_or(0)
    };
    regions.iter().map(first).collect()
}

/// A type as an argument is passed by its name, as a function that makes values of it.
fn by_name(v: Value) -> Value {
    match v {
        Value::Type(t) if t.words().is_some() => Value::Function(t.to_string()),
        v => v,
    }
}

/// The regions of the arrays in a value, in order.
fn regions_of(v: &Value, out: &mut Vec<ir::Region>) {
    match v {
        Value::Array(view) => out.push(view.region),
        Value::Stacked(_, views) => out.extend(views.iter().map(|view| view.region)),
        Value::Struct(_, parts) | Value::Tuple(parts) => parts.iter().for_each(|p| regions_of(p, out)),
        _ => {}
    }
}

/// A type as it is written in the source.
pub(super) fn type_text(e: &ast::TypeExpr) -> String {
    let args: Vec<String> = e
        .args
        .iter()
        .map(|a| match a {
            ast::TypeArg::Type(t) => type_text(t),
            ast::TypeArg::Number(n, _) => n.to_string(),
            ast::TypeArg::Of(_) => "…".to_string(),
        })
        .collect();
    if args.is_empty() { e.name.text.clone() } else { format!("{}{{{}}}", e.name.text, args.join(", ")) }
}
