//! Allocation and deallocation of arrays: variables for their lengths, and initial elements.

use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::{Acc, Cond, Ty};

use super::body::{Body, Sink};
use super::value::{Dim, Product, ScalarExpr, Value, View};
use super::{Done, Stop};
use crate::ir::{AncillaChecks, AssertKind, Operand, Place, Stmt, Test};
use crate::nil::ast::{self, ExprKind, Span};
use crate::nil::codes;
use crate::nil::types::Type;

/// The initial elements of an array.
pub(super) enum Fill {
    /// Zero words.
    Nothing,
    /// This value for each element.
    Value(Value),
    /// The elements of another array.
    Copy(View),
    /// These values.
    Elements(Vec<Value>),
    /// Values at these keys.
    Keyed(Vec<(i64, Value)>),
}

/// What the right side of an allocation allocates.
pub(super) enum AllocRequest {
    Array {
        element: Type,
        lens: Vec<ScalarExpr>,
        fill: Fill,
    },
    /// A vector that grows.
    Growing,
    Value,
    Alias(Value),
}

impl Body<'_, '_> {
    /// What the right side of an allocation allocates.
    pub(super) fn requested(&mut self, e: &ast::Expr) -> Done<AllocRequest> {
        if self.requested_growing(e)?.is_some() {
            return Ok(AllocRequest::Growing);
        }
        if is_dictionary(e) {
            return self.requested_dictionary(e);
        }
        if let ExprKind::Call { callee, dot: false, args, .. } = &e.kind
            && let ExprKind::Name(name) = &callee.kind
        {
            match (name.as_str(), args.as_slice()) {
                ("zeros" | "ones", args) if !args.is_empty() => {
                    return self.requested_zeros(name == "ones", args, &e.span);
                }
                ("zero" | "copy" | "similar" | "one", [a]) => {
                    if let Value::Array(view) = self.eval(a)? {
                        let lens = view.dims.iter().map(|d| d.len.into()).collect();
                        let fill = match name.as_str() {
                            "copy" => Fill::Copy(view.clone()),
                            _ => match self.unit(&view.element, name == "one") {
                                Some(v) => self.fill_of(v),
                                None => Fill::Nothing,
                            },
                        };
                        return Ok(AllocRequest::Array { element: view.element, lens, fill });
                    }
                    if name == "copy" {
                        self.eval(a)?;
                        return Ok(AllocRequest::Value);
                    }
                }
                _ => {}
            }
        }
        Ok(match self.eval(e)? {
            Value::Array(view) => match &e.kind {
                ExprKind::Name(_) => {
                    let lens = view.dims.iter().map(|d| d.len.into()).collect();
                    AllocRequest::Array { element: view.element.clone(), lens, fill: Fill::Copy(view) }
                }
                _ => AllocRequest::Alias(Value::Array(view)),
            },
            Value::Elements(parts) => {
                let mut values = Vec::new();
                for part in parts {
                    values.push(self.settled(part, &e.span)?);
                }
                let element = match values.first().and_then(Value::type_of) {
                    Some(t) => t,
                    None => {
                        return self.fail(&e.span, codes::TYPE, "an empty array has no type", "write `zeros(T, 0)`");
                    }
                };
                let lens = vec![ScalarExpr::int(values.len() as i64)];
                AllocRequest::Array { element, lens, fill: Fill::Elements(values) }
            }
            v @ (Value::Function(_) | Value::Type(_) | Value::Range(..)) => AllocRequest::Alias(v),
            _ => AllocRequest::Value,
        })
    }

    /// `Dict{Int,T}()`, or `Dict(1 => x, 2 => y)`.
    fn requested_dictionary(&mut self, e: &ast::Expr) -> Done<AllocRequest> {
        let ExprKind::Call { callee, args, .. } = &e.kind else { return Err(Stop) };
        let lens = vec![ScalarExpr::int(KEYS)];
        let help = "its keys are whole numbers from 1 to 4096: `Dict{Int,Float64}()`, or `Dict(1 => x)`";
        if let (ExprKind::Type(t), []) = (&callee.kind, &args[..]) {
            let [ast::TypeArg::Type(key), ast::TypeArg::Type(of)] = &t.args[..] else {
                return self.fail(&e.span, codes::TYPE, "a dictionary has the types of its keys and values", help);
            };
            if key.name.text != "Int" && key.name.text != "Int64" {
                return self.fail(&key.span, codes::UNSUPPORTED, "keys that are no whole numbers", help);
            }
            let element = self.type_expr(of)?;
            if element.words().is_none() {
                let message = format!("the values of a dictionary are numbers, and not {element}");
                return self.fail(&of.span, codes::UNSUPPORTED, message, "keep them in a matrix, `zeros(T, m, n)`");
            }
            return Ok(AllocRequest::Array { element, lens, fill: Fill::Nothing });
        }
        let mut pairs = Vec::new();
        for arg in args {
            let ExprKind::Tuple(pair) = &arg.kind else {
                return self.fail(&arg.span, codes::ARGUMENTS, "a dictionary is made of pairs", help);
            };
            let [key, of] = &pair[..] else { return Err(Stop) };
            let at = self.eval(key)?;
            let at = match self.integer(at, &key.span).map(|x| self.fold(x))? {
                ScalarExpr::Const(w) if (1..=KEYS).contains(&w.cast_signed()) => w.cast_signed(),
                _ => return self.fail(&key.span, codes::UNSUPPORTED, "a key that is not known here", help),
            };
            if pairs.iter().any(|(other, _)| *other == at) {
                return self.fail(&key.span, codes::TWICE, format!("the key {at} is given twice"), "give it once");
            }
            let of = self.eval(of)?;
            pairs.push((at, self.settled(of, &arg.span)?));
        }
        let Some(element) = pairs.first().and_then(|(_, v)| v.type_of()) else {
            return self.fail(&e.span, codes::TYPE, "an empty dictionary has no type", help);
        };
        Ok(AllocRequest::Array { element, lens, fill: Fill::Keyed(pairs) })
    }

    fn requested_zeros(&mut self, ones: bool, args: &[ast::Expr], span: &Span) -> Done<AllocRequest> {
        /// The most dimensions of an array.
        const MOST: usize = 8;
        let (element, lens) = match self.eval(&args[0])? {
            Value::Type(t) => (t, &args[1..]),
            _ => (Type::Num(Ty::F), args),
        };
        let mut dims = Vec::new();
        for len in lens {
            match self.eval(len)? {
                Value::Tuple(parts) => {
                    for part in parts {
                        dims.push(self.integer(part, &len.span)?);
                    }
                }
                other => dims.push(self.integer(other, &len.span)?),
            }
        }
        if dims.is_empty() || dims.len() > MOST {
            let message = format!("arrays have one to {MOST} dimensions");
            return self.fail(span, codes::DIMENSIONS, message, "write `zeros(T, n)`");
        }
        let Some(unit) = self.unit(&element, ones) else {
            let message = format!("arrays of {element} are not supported");
            let help = match element {
                Type::Log { .. } if !ones => "a logarithmic number in doubles is never 0: begin with `ones`",
                _ => "arrays hold numbers, complex numbers, and structs of numbers",
            };
            return self.fail(span, codes::TYPE, message, help);
        };
        let fill = self.fill_of(unit);
        Ok(AllocRequest::Array { element, lens: dims, fill })
    }

    /// The initial elements for a value: zero words need no statements.
    fn fill_of(&self, v: Value) -> Fill {
        let mut zero = true;
        v.scalars(&mut |x| zero &= *x == ScalarExpr::Const(0));
        if zero { Fill::Nothing } else { Fill::Value(v) }
    }

    pub(super) fn make_array(&mut self, name: &ast::Name, e: &ast::Expr, existing: Option<View>) -> Done<Value> {
        let text = name.text.as_str();
        let (_, expected) = self.computed(|s| s.requested_growing(e));
        if let Some(growing) = expected? {
            return self.make_growing(name, growing, existing, &e.span);
        }
        if existing.as_ref().is_some_and(|view| view.room.is_some()) {
            let help = "write `x → T[]`: it must be empty";
            return self.fail(&e.span, codes::TYPE, "a vector that grows is deallocated as it was allocated", help);
        }
        // Lengths come first: each is a constant, a variable that does not change, or a variable of the array's own.
        let (lens, element) = {
            let (_, expected) = self.computed(|s| s.requested(e));
            let (element, lens) = match expected? {
                AllocRequest::Array { element, lens, .. } => (element, lens),
                AllocRequest::Growing | AllocRequest::Value | AllocRequest::Alias(_) => {
                    return self.fail(
                        &e.span,
                        codes::TYPE,
                        "an array is deallocated as what it was allocated as",
                        "write `x → zeros(T, n)`",
                    );
                }
            };
            if existing.as_ref().is_some_and(|v| v.element != element || v.dims.len() != lens.len()) {
                return self.fail(
                    &e.span,
                    codes::TYPE,
                    "an array of another type is deallocated here",
                    "give the type that it was allocated with",
                );
            }
            let mut out = Vec::new();
            for (k, x) in lens.into_iter().enumerate() {
                let old = existing.as_ref().and_then(|v| v.dims.get(k)).map(|d| d.len);
                out.push(self.own_length(text, k, x, old, e)?);
            }
            (out, element)
        };
        let words = element.words().unwrap_or(1);
        let types = element.word_types();
        let ty = types.first().copied().unwrap_or(Ty::Int);
        if types.iter().any(|t| *t != ty) {
            let help = "keep the fields in arrays of their own";
            return self.fail(&e.span, codes::TYPE, "an array of structs with fields of several types", help);
        }
        let mut view = match existing.clone() {
            Some(view) => view,
            None => {
                let base = self.fresh(text, Ty::Int);
                self.fixed.insert(base);
                let region = self.region(text, ty);
                self.f.vars[base.0 as usize].points = Some(region);
                let keyed = is_dictionary(e);
                View { base, terms: Vec::new(), offset: 0, dims: Vec::new(), element, region, room: None, keyed }
            }
        };
        if existing.is_none() {
            let mut stride = Product::number(words);
            for len in &lens {
                view.dims.push(Dim { len: *len, stride: stride.clone() });
                stride = stride.times(&Product::operand(*len));
            }
        }
        self.check_size(&view, &e.span)?;
        let total = view.dims.iter().fold(Product::number(words), |p, d| p.times(&Product::operand(d.len)));
        let total = match (total.factor, total.of.as_slice()) {
            (n, []) => Operand::Const(n.cast_unsigned()),
            (1, [one]) => *one,
            _ => {
                let known = self.totals.get(&view.base).copied();
                let var = known.unwrap_or_else(|| self.fresh(&format!("{text}.words"), Ty::Int));
                self.totals.insert(view.base, var);
                self.fixed.insert(var);
                self.emit(
                    Sink::Out,
                    Stmt::Ancilla { var, free: false, checks: AncillaChecks { check: self.checks, drop: false } },
                );
                self.statement(|s| {
                    let sum = s.integer_sum("words", vec![total]);
                    s.update(
                        Sink::Out,
                        Acc::Add,
                        false,
                        TableFn::Int(int_fn::Name::Id),
                        Place::Var(var),
                        vec![Operand::Var(sum)],
                    );
                    Ok(())
                })?;
                Operand::Var(var)
            }
        };
        let checks = self.ancilla_checks(ty);
        let stmt = Stmt::Array { base: view.base, len: total, region: view.region, ty, free: false, checks };
        self.emit(Sink::Out, stmt);
        if !self.emptied {
            self.fill_array(&view, e)?;
        }
        Ok(Value::Array(view))
    }

    /// Emits checks of the number of elements of an array, where the product of the lengths could wrap around.
    fn check_size(&mut self, view: &View, span: &Span) -> Done<()> {
        /// More than any memory has.
        const MOST: u64 = 1 << 31;
        let lens: Vec<Operand> = view.dims.iter().map(|d| d.len).collect();
        if lens.len() < 2 || lens.iter().all(|len| matches!(len, Operand::Const(_))) {
            return Ok(());
        }
        self.statement(|s| {
            let reason = s.reason(format!("the array `{}` is too large", s.source(span)));
            let check = |s: &mut Self, a: Operand| {
                let test = Test::int(Cond::Ltu, a, Operand::Const(MOST));
                s.emit(Sink::Out, Stmt::Assert { test, why: AssertKind::Shape, reason });
            };
            let mut size = Product::number(1);
            for (n, len) in lens.iter().enumerate() {
                if !matches!(len, Operand::Const(_)) {
                    check(s, *len);
                }
                size = size.times(&Product::operand(*len));
                if n > 0 {
                    match s.product_value(&size) {
                        Operand::Const(_) => {}
                        product => check(s, product),
                    }
                }
            }
            Ok(())
        })
    }

    /// A length that does not change while the array is allocated.
    fn own_length(
        &mut self,
        name: &str,
        k: usize,
        x: ScalarExpr,
        old: Option<Operand>,
        e: &ast::Expr,
    ) -> Done<Operand> {
        let range_operand = match x.leaf() {
            Some(Operand::Const(w)) => Some(Operand::Const(w)),
            Some(Operand::Var(v)) if self.fixed.contains(&v) => Some(Operand::Var(v)),
            _ => None,
        };
        match (range_operand, old) {
            (Some(o), None) => return Ok(o),
            (Some(o), Some(old)) if o == old => return Ok(o),
            _ => {}
        }
        // The array's own variable has its name; a different length variable must have the same value.
        let own = match old {
            Some(Operand::Var(v)) if self.own_lengths.contains(&v) => Some(v),
            Some(old) => {
                self.statement(|s| {
                    let x = s.length_value(e, k)?;
                    let a = s.put(Ty::Int, x)?;
                    let reason = s.reason(format!("`{name}` has another length than it is deallocated with"));
                    let test = Test::int(pendula_isa::Cond::Eq, a, old);
                    s.emit(Sink::Out, Stmt::Assert { test, why: AssertKind::Shape, reason });
                    Ok(())
                })?;
                return Ok(old);
            }
            None => None,
        };
        let var = own.unwrap_or_else(|| self.fresh(&format!("{name}.len{}", k + 1), Ty::Int));
        self.own_lengths.insert(var);
        self.fixed.insert(var);
        self.emit(
            Sink::Out,
            Stmt::Ancilla { var, free: false, checks: AncillaChecks { check: self.checks, drop: false } },
        );
        self.statement(|s| {
            let x = s.length_value(e, k)?;
            s.accumulate(Sink::Out, Place::Var(var), Ty::Int, Acc::Add, false, x)
        })?;
        Ok(Operand::Var(var))
    }

    fn length_value(&mut self, e: &ast::Expr, k: usize) -> Done<ScalarExpr> {
        match self.requested(e)? {
            AllocRequest::Array { lens, .. } => lens.into_iter().nth(k).ok_or(Stop),
            AllocRequest::Growing | AllocRequest::Value | AllocRequest::Alias(_) => Err(Stop),
        }
    }

    fn fill_array(&mut self, view: &View, e: &ast::Expr) -> Done<()> {
        let lens: Vec<Operand> = view.dims.iter().map(|d| d.len).collect();
        let (_, expected) = self.computed(|s| s.requested(e));
        let AllocRequest::Array { fill, .. } = expected? else { return Err(Stop) };
        match fill {
            Fill::Nothing => Ok(()),
            Fill::Value(value) => self.for_each(&lens, &mut |s, at| {
                s.statement(|s| {
                    let to = s.at(view, at, &e.span)?;
                    s.fill_value(&to, value.clone(), &e.span)
                })
            }),
            Fill::Copy(_) => self.statement(|s| {
                let AllocRequest::Array { fill: Fill::Copy(from), .. } = s.requested(e)? else { return Err(Stop) };
                s.for_each(&lens, &mut |s, at| {
                    s.statement(|s| {
                        let to = s.at(view, at, &e.span)?;
                        let from = s.at(&from, at, &e.span)?;
                        s.fill_value(&to, from, &e.span)
                    })
                })
            }),
            Fill::Elements(_) | Fill::Keyed(_) => self.statement(|s| {
                let AllocRequest::Array { fill, element, .. } = s.requested(e)? else { return Err(Stop) };
                let values: Vec<(i64, Value)> = match fill {
                    Fill::Elements(values) => (1..).zip(values).collect(),
                    Fill::Keyed(pairs) => pairs,
                    _ => return Err(Stop),
                };
                for (n, value) in values {
                    let offset = view.offset + (n - 1) * element.words().unwrap_or(1);
                    let part = View { dims: Vec::new(), offset, ..view.clone() };
                    let to = s.element(&part, &e.span)?;
                    let value = s.value_as(value, &element, &e.span)?;
                    s.fill_value(&to, value, &e.span)?;
                }
                Ok(())
            }),
        }
    }
}

/// The number of keys that a dictionary may have.
const KEYS: i64 = 4096;

/// Whether an expression makes a dictionary.
fn is_dictionary(e: &ast::Expr) -> bool {
    let ExprKind::Call { callee, dot: false, .. } = &e.kind else { return false };
    match &callee.kind {
        ExprKind::Type(t) => t.name.text == "Dict",
        ExprKind::Name(name) => name == "Dict",
        _ => false,
    }
}
