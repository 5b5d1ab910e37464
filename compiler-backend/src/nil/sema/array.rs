//! Elements and parts of arrays: from indices to addresses.

use pendula_isa::diagnostic::plural;
use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::{Cond, Ty};

use super::body::Body;
use super::value::{Dim, Product, ScalarExpr, Value, View, mem};
use super::{Done, Stop};
use crate::ir::{AssertKind, Operand, Place, Stmt, Test, Var};
use crate::nil::ast::{self, ExprKind, Span};
use crate::nil::codes;
use crate::nil::types::Type;

/// The most constants of a list of which one is chosen while a program runs.
const CHOICES: usize = 1024;

/// Whether a value is a number that is known, or made of such.
fn is_constant(v: &Value) -> bool {
    match v {
        Value::Tuple(parts) => parts.iter().all(is_constant),
        Value::Num(ScalarExpr::Neg(x), None) => matches!(**x, ScalarExpr::Lit(_)),
        Value::Num(x, _) | Value::Bool(x) => matches!(x, ScalarExpr::Lit(_) | ScalarExpr::Const(_)),
        _ => false,
    }
}

impl Body<'_, '_> {
    /// `x[…]`.
    pub(super) fn index(&mut self, base: &ast::Expr, indices: &[ast::Expr], span: &Span) -> Done<Value> {
        let value = self.eval(base)?;
        if let Some(indices) = self.spread_indices(indices)? {
            return self.index(base, &indices, span);
        }
        let view = match value {
            Value::Array(view) => view,
            Value::Stacked(element, views) => {
                return self.stacked_index((&element, &views), indices, (&base.span, span));
            }
            // `x[]`: what a reference of the host refers to.
            v @ (Value::Num(..) | Value::Bool(_) | Value::Complex(..)) if indices.is_empty() => return Ok(v),
            Value::Tuple(parts) | Value::Elements(parts) => return self.tuple_index(parts, indices, span),
            other => {
                let message = format!("{} has no elements", other.describe());
                return self.fail(span, codes::TYPE, message, "only arrays and tuples are indexed");
            }
        };
        if indices.is_empty() && view.dims.len() == 1 {
            return self.fail(span, codes::DIMENSIONS, "an index is missing", "write `x[i]`");
        }
        if let Some((own, more)) = indices.split_at_checked(view.dims.len())
            && !own.is_empty()
            && !more.is_empty()
            && self.has_further_indices()
        {
            self.only_one(more)?;
            return self.index(base, own, span);
        }
        // A single index into a contiguous array counts its elements.
        let linear = indices.len() == 1 && view.dims.len() > 1 && view.is_contiguous();
        if let ([e], false) = (indices, linear)
            && view.dims.len() > 1
            && !matches!(e.kind, ExprKind::Colon | ExprKind::Range { .. })
        {
            return self.counted_element(&view, e, (&base.span, span));
        }
        if indices.len() != view.dims.len() && !linear {
            let indices = if indices.len() == 1 { "1 index".into() } else { format!("{} indices", indices.len()) };
            let message = format!("{}, but {indices}", plural(view.dims.len(), "dimension"));
            return self.fail(span, codes::DIMENSIONS, message, "give one index for each dimension");
        }
        let dims = if linear {
            let len = self.length(&view)?;
            vec![Dim { len, stride: Product::number(view.element.words().unwrap_or(1)) }]
        } else {
            view.dims.clone()
        };
        let mut part = View { dims: Vec::new(), room: None, ..view };
        let name = self.source(&base.span);
        let several = dims.len() > 1;
        let what = |k: usize| if several { format!("dimension {} of `{name}`", k + 1) } else { format!("`{name}`") };
        for (k, (e, dim)) in indices.iter().zip(&dims).enumerate() {
            match &e.kind {
                ExprKind::Colon => part.dims.push(dim.clone()),
                ExprKind::Range { first, step, last } => {
                    let first = self.index_value(first, dim)?;
                    let step = step.as_ref().map(|step| self.index_value(step, dim)).transpose()?;
                    let last = self.index_value(last, dim)?;
                    let step = step.unwrap_or(Operand::Const(1));
                    self.part(&mut part, dim, (first, step, last), (&e.span, &what(k)))?;
                }
                _ => {
                    let value = self.eval_with_end(e, dim)?;
                    if let Value::Range(first, step, last) = value {
                        let (first, step) = (self.put(Ty::Int, *first)?, self.put(Ty::Int, *step)?);
                        let last = self.put(Ty::Int, *last)?;
                        self.part(&mut part, dim, (first, step, last), (&e.span, &what(k)))?;
                        continue;
                    }
                    let x = self.integer(value, &e.span)?;
                    let at = self.put(Ty::Int, x)?;
                    self.check_index(at, dim.len, &e.span, &what(k))?;
                    shift(&mut part, at, dim, -1);
                }
            }
        }
        if part.dims.is_empty() { self.element(&part, span) } else { Ok(Value::Array(part)) }
    }

    /// `x[k]` of a part of an array with gaps: its elements are counted column by column.
    fn counted_element(&mut self, view: &View, e: &ast::Expr, (base, span): (&Span, &Span)) -> Done<Value> {
        let len = self.length(view)?;
        let value = self.eval_with_end(e, &Dim { len, stride: Product::number(1) })?;
        let x = self.integer(value, &e.span)?;
        let at = self.put(Ty::Int, x)?;
        let name = self.source(base);
        self.check_index(at, len, &e.span, &format!("`{name}`"))?;
        let apply = |f: int_fn::Name, a: ScalarExpr, b: Operand| ScalarExpr::Apply(TableFn::Int(f), vec![a, b.into()]);
        let mut part = View { dims: Vec::new(), room: None, ..view.clone() };
        let mut rest = apply(int_fn::Name::Minus, at.into(), Operand::Const(1));
        for (k, dim) in view.dims.iter().enumerate() {
            let last = k + 1 == view.dims.len();
            let own = if last { rest.clone() } else { apply(int_fn::Name::Mod, rest.clone(), dim.len) };
            let own = self.fold(own);
            let own = self.put(Ty::Int, own)?;
            shift(&mut part, own, dim, 0);
            if !last {
                let next = self.fold(apply(int_fn::Name::Div, rest, dim.len));
                rest = self.put(Ty::Int, next)?.into();
            }
        }
        self.element(&part, span)
    }

    pub(super) fn index_value(&mut self, e: &ast::Expr, dim: &Dim) -> Done<Operand> {
        let value = self.eval_with_end(e, dim)?;
        let x = self.integer(value, &e.span)?;
        self.put(Ty::Int, x)
    }

    /// An index, in which `end` is the length and `begin` is 1.
    fn eval_with_end(&mut self, e: &ast::Expr, dim: &Dim) -> Done<Value> {
        let end = Value::Num(dim.len.into(), Some(Ty::Int));
        self.scopes.open();
        self.scopes.add("end", end, super::scope::Kind::Alias, &e.span);
        let begin = Value::Num(ScalarExpr::int(1), Some(Ty::Int));
        self.scopes.add("begin", begin, super::scope::Kind::Alias, &e.span);
        let (points, part) = (self.points.take(), self.part.take());
        let expected_type = self.expected_type.replace(Ty::Int);
        let value = self.eval(e);
        (self.points, self.part, self.expected_type) = (points, part, expected_type);
        self.scopes.close();
        value
    }

    /// Indices in which the parts of a tuple `i...` stand one by one; `None` if there are no such.
    fn spread_indices(&mut self, indices: &[ast::Expr]) -> Done<Option<Vec<ast::Expr>>> {
        if !indices.iter().any(|e| matches!(e.kind, ExprKind::Splat(_))) {
            return Ok(None);
        }
        let mut all = Vec::new();
        for e in indices {
            let ExprKind::Splat(inner) = &e.kind else {
                all.push(e.clone());
                continue;
            };
            let count = match self.eval(inner)? {
                Value::Tuple(parts) | Value::Elements(parts) => parts.len(),
                other => {
                    let message = format!("`...` gives the parts of a tuple, found {}", other.describe());
                    return self.fail(&e.span, codes::SPLAT, message, "write the indices one by one");
                }
            };
            let part = |n: usize| {
                let index = ast::Expr { kind: ExprKind::Int((n + 1).to_string()), span: e.span.clone() };
                ast::Expr { kind: ExprKind::Index(inner.clone(), vec![index]), span: e.span.clone() }
            };
            all.extend((0..count).map(part));
        }
        Ok(Some(all))
    }

    /// Checks that indices beyond an array's dimensions are 1, as in the host's language.
    fn only_one(&mut self, indices: &[ast::Expr]) -> Done<()> {
        for e in indices {
            let value = self.eval(e)?;
            let x = self.integer(value, &e.span)?;
            let at = self.put(Ty::Int, x)?;
            self.check_index(at, Operand::Const(1), &e.span, "a dimension of length 1")?;
        }
        Ok(())
    }

    /// `first:step:last` as an index.
    fn part(
        &mut self,
        part: &mut View,
        dim: &Dim,
        (first, step, last): (Operand, Operand, Operand),
        (span, what): (&Span, &str),
    ) -> Done<()> {
        let one = Operand::Const(1);
        if step != one {
            return self.part_with_step(part, dim, (first, step, last), (span, what));
        }
        if self.bounds {
            let reason = self.reason(format!("the part `{}` lies outside {what}", self.source(span)));
            self.now.asserts.push(Stmt::Assert {
                test: Test::int(Cond::Ge, first, one),
                why: AssertKind::Bounds,
                reason,
            });
            self.now.asserts.push(Stmt::Assert {
                test: Test::int(Cond::Le, last, dim.len),
                why: AssertKind::Bounds,
                reason,
            });
        }
        shift(part, first, dim, -1);
        // A part whose end is before its beginning is empty.
        let len = match (first, last) {
            (Operand::Const(1), _) if last == dim.len => last,
            (Operand::Const(a), Operand::Const(b)) => {
                let distance = b.cast_signed().saturating_sub(a.cast_signed());
                Operand::Const(distance.saturating_add(1).max(0).cast_unsigned())
            }
            (Operand::Const(1), _) => self.larger(last, Operand::Const(0))?,
            _ => {
                let minus = Product::number(-1).times(&Product::operand(first));
                let before = match first {
                    Operand::Const(a) => Operand::Const(a.wrapping_sub(1)),
                    Operand::Var(_) | Operand::Mem(_) => {
                        Operand::Var(self.integer_sum("before", vec![Product::operand(first), Product::number(-1)]))
                    }
                };
                let last = self.larger(last, before)?;
                Operand::Var(self.integer_sum("len", vec![Product::operand(last), minus, Product::number(1)]))
            }
        };
        part.dims.push(Dim { len, stride: dim.stride.clone() });
        Ok(())
    }

    /// `first:step:last` as an index, where the step is not 1.
    fn part_with_step(
        &mut self,
        part: &mut View,
        dim: &Dim,
        (first, step, last): (Operand, Operand, Operand),
        (span, what): (&Span, &str),
    ) -> Done<()> {
        if step == Operand::Const(0) {
            return self.fail(span, codes::RANGE, "a range with step 0", "give another step");
        }
        let turns = {
            let f = |f: int_fn::Name, a: ScalarExpr, b: ScalarExpr| {
                self.fold(ScalarExpr::Apply(TableFn::Int(f), vec![a, b]))
            };
            f(int_fn::Name::Div, f(int_fn::Name::Minus, last.into(), first.into()), step.into())
        };
        let turns = self.put(Ty::Int, turns)?;
        let (turn, by) = (Product::operand(turns), Product::operand(step));
        let sum = |s: &mut Self, name: &str, terms: Vec<Product>| {
            let known = terms.iter().all(|t| t.of.is_empty());
            let number = terms.iter().fold(0i64, |n, t| n.wrapping_add(t.factor));
            if known { Operand::Const(number.cast_unsigned()) } else { Operand::Var(s.integer_sum(name, terms)) }
        };
        let end = sum(self, "end", vec![Product::operand(first), turn.times(&by)]);
        let len = match sum(self, "len", vec![turn, Product::number(1)]) {
            Operand::Const(n) => Operand::Const(n.cast_signed().max(0).cast_unsigned()),
            len => self.larger(len, Operand::Const(0))?,
        };
        if self.bounds && len != Operand::Const(0) {
            let reason = self.reason(format!("the part `{}` lies outside {what}", self.source(span)));
            for at in [first, end] {
                for test in [Test::int(Cond::Ge, at, Operand::Const(1)), Test::int(Cond::Le, at, dim.len)] {
                    self.now.asserts.push(Stmt::Assert { test, why: AssertKind::Bounds, reason });
                }
            }
        }
        shift(part, first, dim, -1);
        part.dims.push(Dim { len, stride: dim.stride.times(&by) });
        Ok(())
    }

    /// The larger of two integers, computed once in a statement.
    fn larger(&mut self, a: Operand, b: Operand) -> Done<Operand> {
        // No real sum has these terms: terms with factor 0 are removed.
        let key = vec![Product { factor: 0, of: vec![a, b] }];
        if let Some(var) = self.now.addresses.get(&key) {
            return Ok(Operand::Var(*var));
        }
        let max = TableFn::Int(int_fn::Name::Max);
        let var = self.copy(Ty::Int, ScalarExpr::Apply(max, vec![a.into(), b.into()]))?;
        self.now.addresses.insert(key, var);
        Ok(Operand::Var(var))
    }

    pub(super) fn tuple_index(&mut self, parts: Vec<Value>, indices: &[ast::Expr], span: &Span) -> Done<Value> {
        let [e] = indices else {
            return self.fail(span, codes::DIMENSIONS, "a tuple takes one index", "write `t[1]`");
        };
        let len = Operand::Const(parts.len() as u64);
        let value = self.eval_with_end(e, &Dim { len, stride: Product::number(1) })?;
        let x = self.integer(value, &e.span).map(|x| self.fold(x))?;
        let n = if let ScalarExpr::Const(w) = x { w.checked_sub(1) } else { None };
        match n.and_then(|n| parts.get(n as usize)) {
            Some(v) => Ok(v.clone()),
            None if !matches!(x, ScalarExpr::Const(_)) && parts.len() <= CHOICES && parts.iter().all(is_constant) => {
                let at = self.put(Ty::Int, x)?;
                let what = format!("this list of {}", plural(parts.len(), "number"));
                self.check_index(at, Operand::Const(parts.len() as u64), &e.span, &what)?;
                self.chosen(&parts, (at, 1), span)
            }
            None => self.fail(
                span,
                codes::DIMENSIONS,
                "no such part of a tuple",
                "an index of a tuple is a constant, from 1 to its length",
            ),
        }
    }

    /// One of several constants: that with the number `at`, if `first` is the number of the first.
    fn chosen(&mut self, parts: &[Value], (at, first): (Operand, i64), span: &Span) -> Done<Value> {
        if let [one] = parts {
            return Ok(one.clone());
        }
        let half = parts.len() / 2;
        let (low, high) = parts.split_at(half);
        let before = ScalarExpr::cmp(Cond::Lt, Ty::Int, at.into(), ScalarExpr::int(first + half as i64));
        let low = self.chosen(low, (at, first), span)?;
        let high = self.chosen(high, (at, first + half as i64), span)?;
        self.one_of(&before, low, high, span)
    }

    fn one_of(&mut self, c: &ScalarExpr, a: Value, b: Value, span: &Span) -> Done<Value> {
        match (a, b) {
            (Value::Tuple(a), Value::Tuple(b)) if a.len() == b.len() => {
                let parts = a.into_iter().zip(b).map(|(a, b)| self.one_of(c, a, b, span));
                parts.collect::<Done<_>>().map(Value::Tuple)
            }
            (a, b) => self.choice(c.clone(), a, b, span),
        }
    }

    /// Checks an index: during compilation if it is known, otherwise with an assertion.
    pub(super) fn check_index(&mut self, at: Operand, len: Operand, span: &Span, what: &str) -> Done<()> {
        if let Operand::Const(at) = at {
            let at = at.cast_signed();
            let beyond = matches!(len, Operand::Const(len) if at > len.cast_signed());
            if at < 1 || beyond {
                let message = format!("the index {at} lies outside {what}");
                return self.fail(span, codes::DIMENSIONS, message, "indices begin with 1");
            }
        }
        if !self.bounds {
            return Ok(());
        }
        let reason = self.reason(format!("the index `{}` lies outside {what}", self.source(span)));
        let test = |cond, b| Stmt::Assert { test: Test::int(cond, at, b), why: AssertKind::Bounds, reason };
        if !matches!(at, Operand::Const(_)) {
            self.push_assert(test(Cond::Ge, Operand::Const(1)));
        }
        if !matches!((at, len), (Operand::Const(_), Operand::Const(_))) {
            self.push_assert(test(Cond::Le, len));
        }
        Ok(())
    }

    fn push_assert(&mut self, stmt: Stmt) {
        if !self.now.asserts.contains(&stmt) {
            self.now.asserts.push(stmt);
        }
    }

    /// The element of a view without dimensions.
    pub(super) fn element(&mut self, part: &View, span: &Span) -> Done<Value> {
        let first = self.address(part)?;
        let Some(words) = part.element.words() else {
            return self.fail(
                span,
                codes::TYPE,
                "arrays of arrays are not supported",
                "use an array of two dimensions",
            );
        };
        let places: Vec<Place> = (0..words)
            .map(|n| match first {
                Place::Mem(m) => Place::Mem(crate::ir::Mem { offset: m.offset.wrapping_add(n), ..m }),
                Place::Var(v) => Place::Var(v),
            })
            .collect();
        let mut places = places.into_iter();
        value_of(&part.element, &mut places).ok_or(Stop)
    }

    /// The address of the first word of a view.
    pub(super) fn address(&mut self, part: &View) -> Done<Place> {
        let mut offset = part.offset;
        let mut terms: Vec<Product> = Vec::new();
        for term in &part.terms {
            if term.of.is_empty() {
                offset = offset.wrapping_add(term.factor);
            } else {
                terms.push(term.clone());
            }
        }
        // The instruction adds two registers and a number. A plain variable is taken last, so that the remaining sum
        // changes least.
        let simple = terms.iter().rposition(|t| t.factor == 1 && matches!(t.of.as_slice(), [Operand::Var(_)]));
        let index = match simple.map(|n| terms.remove(n)) {
            Some(Product { of, .. }) => match of.first() {
                Some(Operand::Var(v)) => Some(*v),
                _ => None,
            },
            None => None,
        };
        let base = if terms.is_empty() {
            part.base
        } else {
            let mut sum = vec![Product::operand(Operand::Var(part.base))];
            sum.append(&mut terms);
            let base = self.integer_sum("address", sum);
            self.f.vars[base.0 as usize].points = Some(part.region);
            base
        };
        Ok(Place::Mem(mem(Some(base), index, offset, part.region)))
    }

    /// The address of a view as an integer operand, and its region.
    pub(super) fn address_value(&mut self, part: &View) -> Done<Operand> {
        let Place::Mem(m) = self.address(part)? else { return Err(Stop) };
        let terms: Vec<Product> = [m.base, m.index]
            .into_iter()
            .flatten()
            .map(|v| Product::operand(Operand::Var(v)))
            .chain([Product::number(m.offset)])
            .collect();
        match (m.base, m.index, m.offset) {
            (Some(v), None, 0) => Ok(Operand::Var(v)),
            _ => {
                let address = self.integer_sum("address", terms);
                self.f.vars[address.0 as usize].points = Some(m.region);
                Ok(Operand::Var(address))
            }
        }
    }

    /// The number of elements of an array.
    pub(super) fn length(&mut self, view: &View) -> Done<Operand> {
        let mut all = Product::number(1);
        for dim in &view.dims {
            all = all.times(&Product::operand(dim.len));
        }
        Ok(match (all.factor, all.of.as_slice()) {
            (n, []) => Operand::Const(n.cast_unsigned()),
            (1, [one]) => *one,
            _ => Operand::Var(self.integer_sum("length", vec![all])),
        })
    }

    /// A stride as an operand.
    pub(super) fn product_value(&mut self, p: &Product) -> Operand {
        match (p.factor, p.of.as_slice()) {
            (n, []) => Operand::Const(n.cast_unsigned()),
            (1, [one]) => *one,
            _ => Operand::Var(self.integer_sum("stride", vec![p.clone()])),
        }
    }

    /// The element of a view at these indices, which count from 1.
    pub(super) fn at(&mut self, view: &View, indices: &[Var], span: &Span) -> Done<Value> {
        if indices.len() != view.dims.len() {
            let message = format!("arrays of {} and {} dimensions cannot go together", view.dims.len(), indices.len());
            return self.fail(span, codes::DIMENSIONS, message, "the arrays must have one shape");
        }
        let shape = std::mem::take(&mut self.shape);
        for (dim, len) in view.dims.iter().zip(&shape) {
            match (dim.len, *len) {
                (a, b) if a == b => {}
                (Operand::Const(_), Operand::Const(_)) => {
                    return self.fail(
                        span,
                        codes::DIMENSIONS,
                        "arrays of different lengths go together here",
                        "the arrays must have one shape",
                    );
                }
                (a, b) => {
                    let reason = self.reason("the arrays have different shapes".to_string());
                    let test = Test::int(Cond::Eq, a, b);
                    self.push_assert(Stmt::Assert { test, why: AssertKind::Shape, reason })
                }
            }
        }
        self.shape = shape;
        let mut part = View { dims: Vec::new(), room: None, ..view.clone() };
        for (i, dim) in indices.iter().zip(&view.dims) {
            shift(&mut part, Operand::Var(*i), dim, -1);
        }
        self.element(&part, span)
    }
}

/// Moves a view by `at` + `less` steps along a dimension.
pub(super) fn shift(part: &mut View, at: Operand, dim: &Dim, less: i64) {
    let mut add = |p: Product| {
        if p.of.is_empty() {
            part.offset = part.offset.wrapping_add(p.factor);
        } else {
            part.terms.push(p);
        }
    };
    add(Product::number(less).times(&dim.stride));
    add(Product::operand(at).times(&dim.stride));
}

/// A value of a type whose words are at these places.
pub(super) fn value_of(ty: &Type, places: &mut impl Iterator<Item = Place>) -> Option<Value> {
    let mut word = || places.next().map(ScalarExpr::Place);
    Some(match ty {
        Type::Num(ty) => Value::Num(word()?, Some(*ty)),
        Type::Bool => Value::Bool(word()?),
        Type::Tropical(ty) => Value::Tropical(word()?, *ty),
        Type::Complex(ty) => {
            let re = word()?;
            Value::Complex(re, word()?, Some(*ty))
        }
        Type::Log { signed: false } => Value::Log(word()?, None),
        Type::Log { signed: true } => {
            let log = word()?;
            Value::Log(log, Some(Box::new(word()?)))
        }
        Type::Struct(s) => {
            let fields: Option<Vec<Value>> = s.fields.iter().map(|(_, t)| value_of(t, places)).collect();
            Value::Struct(std::rc::Rc::clone(s), fields?)
        }
        Type::Tuple(parts) => Value::Tuple(parts.iter().map(|t| value_of(t, places)).collect::<Option<_>>()?),
        Type::Array { .. } | Type::Function(_) => return None,
    })
}
