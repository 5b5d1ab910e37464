//! Where variables begin and end: `x ← e`, `x → e`. One block of statements makes a variable with its value; undone, it ends it.

use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::{Acc, Cond, Ty};

use super::array::value_of;
use super::body::{Body, Sink};
use super::scope::Kind;
use super::value::{Dim, Product, ScalarExpr, Value, View};
use super::{Done, Stop};
use crate::ir::{AncillaChecks, Block, Operand, Place, Stmt, Test, Var, Why, invert};
use crate::nil::ast::{self, ExprKind, Span};
use crate::nil::codes;
use crate::nil::types::Type;

/// What an array begins with.
enum Fill {
    /// All-zero words.
    Nothing,
    /// This value in each element.
    Value(Value),
    /// The elements of another.
    Copy(View),
    /// These values.
    Elements(Vec<Value>),
}

/// What an allocation asks for.
enum Wanted {
    Array { element: Type, lens: Vec<ScalarExpr>, fill: Fill },
    Value,
    Alias(Value),
}

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
            // The parts of a tuple, such as `size(A)`, one by one.
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
            // An element of an array that begins or ends a life: it is, or is made, all zero, and gets its value.
            (ExprKind::Index(..) | ExprKind::Field(..), _) => self.element_allocation(target, e, free, span),
            _ => self.fail(&target.span, codes::NOT_ASSIGNABLE, "only a name can be allocated", "write `x ← e`"),
        }
    }

    /// `x ← e`.
    pub(super) fn begin(&mut self, name: &ast::Name, e: &ast::Expr) -> Done<()> {
        if let Some(n) = self.scopes.find(&name.text)
            && let Some(b) = self.scopes.get(n)
            && b.ended.is_none()
        {
            let (file, at) = (self.file, b.span.clone());
            let d = self.error(&name.span, codes::REDEFINED, format!("`{}` is in use already", name.text));
            let place = pendula_isa::diagnostic::Place { file, span: at };
            d.secondary.push(pendula_isa::diagnostic::Label { place, text: "since here".into() });
            d.help = Some("deallocate it first, or take another name".into());
            return Err(Stop);
        }
        let (computed, wanted) = self.computed(|s| s.wanted(e));
        let wanted = match wanted {
            Ok(Wanted::Alias(Value::Array(_))) if !computed.is_empty() => {
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
                // So that its uses are no further errors.
                self.failed.insert(name.text.clone());
                return Err(stop);
            }
        };
        if let Wanted::Alias(v) = wanted {
            self.alias(name, v);
            return Ok(());
        }
        let (block, value) = self.made(name, e, None)?;
        self.out.extend(block);
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
            Kind::Param | Kind::Loop => {
                let message = format!("`{}` was not allocated here", name.text);
                return self.fail(
                    &name.span,
                    codes::NOT_ASSIGNABLE,
                    message,
                    "only what `←` allocated can be deallocated",
                );
            }
            Kind::Local(_) => {
                if self.loops_since(n) {
                    let message = format!("`{}` is deallocated in a loop, but allocated before it", name.text);
                    return self.fail(&name.span, codes::BRANCHES, message, "deallocate it after the loop");
                }
                let (block, _) = self.made(name, e, Some(&binding.value))?;
                let block = invert::block(&block);
                let done = self.release(&binding.value, block, span);
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

    /// Ends what a block ends. An array that others lie on top of ends with them.
    fn release(&mut self, value: &Value, block: Block, span: &Span) -> Done<()> {
        let Value::Array(view) = value else {
            self.out.extend(block);
            return Ok(());
        };
        if self.arrays.last() == Some(&view.base) {
            self.out.extend(block);
            self.arrays.pop();
            while let Some(top) = self.arrays.last()
                && let Some(n) = self.deferred.iter().position(|(base, _)| base == top)
            {
                self.out.extend(self.deferred.remove(n).1);
                self.arrays.pop();
            }
            return Ok(());
        }
        // It can wait if nothing that it depends on can change until then.
        let uses = super::places::Uses::of(&block, &[]);
        if uses.reads.iter().all(|v| self.fixed.contains(v) || uses.writes.contains(v)) {
            self.deferred.push((view.base, block));
            return Ok(());
        }
        let help = "arrays lie on a stack: deallocate last what was allocated first";
        self.fail(span, codes::ORDER, "an array is deallocated while later ones are in use", help)
    }

    /// The statements that make a variable with its value: a new one, or one that there is, which ends where they are undone.
    fn made(&mut self, name: &ast::Name, e: &ast::Expr, existing: Option<&Value>) -> Done<(Block, Value)> {
        let outer = std::mem::take(&mut self.out);
        let value = self.make(name, e, existing);
        let block = std::mem::replace(&mut self.out, outer);
        Ok((block, value?))
    }

    fn make(&mut self, name: &ast::Name, e: &ast::Expr, existing: Option<&Value>) -> Done<Value> {
        if let Some(Value::Array(view)) = existing {
            let view = view.clone();
            return self.make_array(name, e, Some(view));
        }
        let is_array = existing.is_none() && {
            let (_, wanted) = self.computed(|s| s.wanted(e));
            matches!(wanted?, Wanted::Array { .. })
        };
        if is_array {
            return self.make_array(name, e, None);
        }
        self.statement(|s| {
            s.want = existing.and_then(super::assign::scalar_type);
            let value = s.eval(e);
            s.want = None;
            let value = s.settled(value?, &e.span)?;
            let variable = match existing {
                Some(v) => v.clone(),
                None => s.variable(&name.text, &value, &e.span)?,
            };
            let ty = variable.type_of().ok_or(Stop)?;
            let value = s.value_as(value, &ty, &e.span)?;
            for (place, ty) in s.targets(&variable).unwrap_or_default().into_iter().zip(ty.word_types()) {
                if let Place::Var(var) = place {
                    let care = s.care(ty);
                    s.emit(Sink::Out, Stmt::Ancilla { var, free: false, care });
                }
            }
            s.fill_value(&variable, value, &e.span)?;
            Ok(variable)
        })
    }

    /// What is made sure of where a variable of the program begins or ends.
    fn care(&self, ty: Ty) -> AncillaChecks {
        // Rounding leaves something on floating-point ancillas, which must be cleared in any case.
        AncillaChecks { check: self.checks || ty == Ty::F, drop: ty != Ty::Int }
    }

    /// A value with types for its literals.
    fn settled(&mut self, v: Value, span: &Span) -> Done<Value> {
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

    /// New variables for a value like this one.
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
        let names = part_names(name, ty);
        let vars: Vec<Var> = words.iter().zip(names).map(|(t, n)| self.fresh(&n, *t)).collect();
        let mut places = vars.into_iter().map(Place::Var);
        value_of(ty, &mut places).unwrap_or_else(|| Value::Tuple(Vec::new()))
    }

    /// Gives variables or elements that are all zero words their value.
    pub(super) fn fill_value(&mut self, to: &Value, from: Value, span: &Span) -> Done<()> {
        match (to, from) {
            (Value::Num(ScalarExpr::At(place), Some(ty)), Value::Num(x, _))
            | (Value::Tropical(ScalarExpr::At(place), ty), Value::Tropical(x, _)) => {
                // A logarithmic zero cannot be multiplied into a word.
                let acc = match (ty, &x) {
                    (Ty::L, ScalarExpr::Const(_)) => Acc::Xor,
                    (Ty::L, _) => Acc::Mul,
                    (Ty::Int | Ty::Q | Ty::F, _) => Acc::Add,
                };
                self.accumulate(Sink::Out, *place, *ty, acc, false, x)
            }
            (Value::Bool(ScalarExpr::At(place)), Value::Bool(x)) => {
                self.accumulate(Sink::Out, *place, Ty::Int, Acc::Xor, false, x)
            }
            (Value::Complex(ScalarExpr::At(re), ScalarExpr::At(im), Some(ty)), Value::Complex(a, b, _)) => {
                let acc = super::gather(*ty);
                self.accumulate(Sink::Out, *re, *ty, acc, false, a)?;
                self.accumulate(Sink::Out, *im, *ty, acc, false, b)
            }
            (Value::Log(ScalarExpr::At(to), sign), Value::Log(log, from)) if sign.is_some() == from.is_some() => {
                self.accumulate(Sink::Out, *to, Ty::F, Acc::Add, false, log)?;
                match (sign.as_deref(), from) {
                    (Some(ScalarExpr::At(to)), Some(from)) => {
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

    /// What an allocation's value asks for.
    fn wanted(&mut self, e: &ast::Expr) -> Done<Wanted> {
        if let ExprKind::Call { callee, dot: false, args, .. } = &e.kind
            && let ExprKind::Name(name) = &callee.kind
        {
            match (name.as_str(), args.as_slice()) {
                ("zeros" | "ones", args) if !args.is_empty() => {
                    return self.wanted_zeros(name == "ones", args, &e.span);
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
                        return Ok(Wanted::Array { element: view.element, lens, fill });
                    }
                    if name == "copy" {
                        self.eval(a)?;
                        return Ok(Wanted::Value);
                    }
                }
                _ => {}
            }
        }
        Ok(match self.eval(e)? {
            Value::Array(view) => match &e.kind {
                ExprKind::Name(_) => {
                    let lens = view.dims.iter().map(|d| d.len.into()).collect();
                    Wanted::Array { element: view.element.clone(), lens, fill: Fill::Copy(view) }
                }
                _ => Wanted::Alias(Value::Array(view)),
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
                Wanted::Array { element, lens, fill: Fill::Elements(values) }
            }
            v @ (Value::Function(_) | Value::Type(_) | Value::Range(..)) => Wanted::Alias(v),
            _ => Wanted::Value,
        })
    }

    fn wanted_zeros(&mut self, ones: bool, args: &[ast::Expr], span: &Span) -> Done<Wanted> {
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
        if dims.is_empty() || dims.len() > 3 {
            return self.fail(span, codes::DIMENSIONS, "arrays have one to three dimensions", "write `zeros(T, n)`");
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
        Ok(Wanted::Array { element, lens: dims, fill })
    }

    /// How to begin with a value: with nothing if its words are all zero.
    fn fill_of(&self, v: Value) -> Fill {
        let mut zero = true;
        fn all_zero(v: &Value, zero: &mut bool) {
            match v {
                Value::Num(x, _) | Value::Bool(x) | Value::Tropical(x, _) => *zero &= *x == ScalarExpr::Const(0),
                Value::Complex(a, b, _) => *zero &= *a == ScalarExpr::Const(0) && *b == ScalarExpr::Const(0),
                Value::Log(log, sign) => {
                    *zero &= *log == ScalarExpr::Const(0) && sign.as_deref().is_none_or(|s| *s == ScalarExpr::Const(0));
                }
                Value::Struct(_, parts) | Value::Tuple(parts) => parts.iter().for_each(|p| all_zero(p, zero)),
                Value::Array(_) | Value::Elements(_) | Value::Function(_) | Value::Type(_) | Value::Range(..) => {
                    *zero = false
                }
            }
        }
        all_zero(&v, &mut zero);
        if zero { Fill::Nothing } else { Fill::Value(v) }
    }

    fn make_array(&mut self, name: &ast::Name, e: &ast::Expr, existing: Option<View>) -> Done<Value> {
        let text = name.text.as_str();
        // Lengths first: each a constant, one that does not change, or a variable of the array's own.
        let (lens, element) = {
            let (_, wanted) = self.computed(|s| s.wanted(e));
            let (element, lens) = match wanted? {
                Wanted::Array { element, lens, .. } => (element, lens),
                Wanted::Value | Wanted::Alias(_) => {
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
                View { base, terms: Vec::new(), offset: 0, dims: Vec::new(), element, region }
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
                    Stmt::Ancilla { var, free: false, care: AncillaChecks { check: self.checks, drop: false } },
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
        let care = self.care(ty);
        let stmt = Stmt::Array { base: view.base, len: total, region: view.region, ty, free: false, care };
        self.emit(Sink::Out, stmt);
        self.fill_array(&view, e)?;
        Ok(Value::Array(view))
    }

    /// Has the number of an array's elements checked, where it is a product that could wrap around.
    fn check_size(&mut self, view: &View, span: &Span) -> Done<()> {
        /// More than any memory has.
        const MOST: u64 = 1 << 31;
        let lens: Vec<Operand> = view.dims.iter().map(|d| d.len).collect();
        if lens.len() < 2 || lens.iter().all(|len| matches!(len, Operand::Const(_))) {
            return Ok(());
        }
        self.statement(|s| {
            let says = s.said(format!("the array `{}` is too large", s.source(span)));
            let check = |s: &mut Self, a: Operand| {
                let test = Test { cond: Cond::Ltu, ty: Ty::Int, a, b: Operand::Const(MOST) };
                s.emit(Sink::Out, Stmt::Assert { test, why: Why::Shape, says });
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

    /// A length that stays as it is while the array lives.
    fn own_length(
        &mut self,
        name: &str,
        k: usize,
        x: ScalarExpr,
        old: Option<Operand>,
        e: &ast::Expr,
    ) -> Done<Operand> {
        let steady = match x.leaf() {
            Some(Operand::Const(w)) => Some(Operand::Const(w)),
            Some(Operand::Var(v)) if self.fixed.contains(&v) => Some(Operand::Var(v)),
            _ => None,
        };
        match (steady, old) {
            (Some(o), None) => return Ok(o),
            (Some(o), Some(old)) if o == old => return Ok(o),
            _ => {}
        }
        // An own variable has the array's name; another that differs must have the same value.
        let own = match old {
            Some(Operand::Var(v)) if self.own_lengths.contains(&v) => Some(v),
            Some(old) => {
                self.statement(|s| {
                    let x = s.length_value(e, k)?;
                    let a = s.put(Ty::Int, x)?;
                    let says = s.said(format!("`{name}` has another length than it is deallocated with"));
                    let test = Test { cond: pendula_isa::Cond::Eq, ty: Ty::Int, a, b: old };
                    s.emit(Sink::Out, Stmt::Assert { test, why: Why::Shape, says });
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
            Stmt::Ancilla { var, free: false, care: AncillaChecks { check: self.checks, drop: false } },
        );
        self.statement(|s| {
            let x = s.length_value(e, k)?;
            s.accumulate(Sink::Out, Place::Var(var), Ty::Int, Acc::Add, false, x)
        })?;
        Ok(Operand::Var(var))
    }

    fn length_value(&mut self, e: &ast::Expr, k: usize) -> Done<ScalarExpr> {
        match self.wanted(e)? {
            Wanted::Array { lens, .. } => lens.into_iter().nth(k).ok_or(Stop),
            Wanted::Value | Wanted::Alias(_) => Err(Stop),
        }
    }

    fn fill_array(&mut self, view: &View, e: &ast::Expr) -> Done<()> {
        let lens: Vec<Operand> = view.dims.iter().map(|d| d.len).collect();
        let (_, wanted) = self.computed(|s| s.wanted(e));
        let Wanted::Array { fill, .. } = wanted? else { return Err(Stop) };
        match fill {
            Fill::Nothing => Ok(()),
            Fill::Value(value) => self.for_each(&lens, &mut |s, at| {
                s.statement(|s| {
                    let to = s.at(view, at, &e.span)?;
                    s.fill_value(&to, value.clone(), &e.span)
                })
            }),
            Fill::Copy(_) => self.statement(|s| {
                let Wanted::Array { fill: Fill::Copy(from), .. } = s.wanted(e)? else { return Err(Stop) };
                s.for_each(&lens, &mut |s, at| {
                    s.statement(|s| {
                        let to = s.at(view, at, &e.span)?;
                        let from = s.at(&from, at, &e.span)?;
                        s.fill_value(&to, from, &e.span)
                    })
                })
            }),
            Fill::Elements(_) => self.statement(|s| {
                let Wanted::Array { fill: Fill::Elements(values), element, .. } = s.wanted(e)? else {
                    return Err(Stop);
                };
                for (n, value) in values.into_iter().enumerate() {
                    let offset = view.offset + n as i64 * element.words().unwrap_or(1);
                    let part = View { dims: Vec::new(), offset, ..view.clone() };
                    let to = s.element(&part, &e.span)?;
                    let value = s.value_as(value, &element, &e.span)?;
                    s.fill_value(&to, value, &e.span)?;
                }
                Ok(())
            }),
        }
    }

    /// `x[i] ← e`: the element, which is to be all zero, gets a value.
    fn element_allocation(&mut self, target: &ast::Expr, e: &ast::Expr, free: bool, span: &Span) -> Done<()> {
        let outer = std::mem::take(&mut self.out);
        let done = self.statement(|s| {
            let to = s.eval(target)?;
            s.want = super::assign::scalar_type(&to);
            let value = s.eval(e);
            s.want = None;
            let Some(ty) = to.type_of() else { return Err(Stop) };
            let value = s.value_as(value?, &ty, &e.span)?;
            let places = s.targets(&to).ok_or(Stop)?;
            if s.checks {
                let says = s.said(format!("`{}` is not zero where it is allocated", s.source(&target.span)));
                for place in places {
                    let test = Test { cond: pendula_isa::Cond::Eq, ty: Ty::Int, a: place.into(), b: Operand::Const(0) };
                    s.emit(Sink::Out, Stmt::Assert { test, why: Why::User, says });
                }
            }
            s.fill_value(&to, value, span)
        });
        let block = std::mem::replace(&mut self.out, outer);
        done?;
        self.out.extend(if free { invert::block(&block) } else { block });
        Ok(())
    }
}

/// Names for the words of a variable: `z.re`, `z.im`.
pub(super) fn part_names(name: &str, ty: &Type) -> Vec<String> {
    match ty {
        Type::Num(_) | Type::Bool | Type::Tropical(_) => vec![name.to_string()],
        Type::Complex(_) => vec![format!("{name}.re"), format!("{name}.im")],
        Type::Log { signed: false } => vec![format!("{name}.log")],
        Type::Log { signed: true } => vec![format!("{name}.log"), format!("{name}.signbit")],
        Type::Struct(s) => s.fields.iter().flat_map(|(f, t)| part_names(&format!("{name}.{f}"), t)).collect(),
        Type::Tuple(parts) => {
            parts.iter().enumerate().flat_map(|(n, t)| part_names(&format!("{name}.{}", n + 1), t)).collect()
        }
        Type::Array { .. } | Type::Function(_) => Vec::new(),
    }
}
