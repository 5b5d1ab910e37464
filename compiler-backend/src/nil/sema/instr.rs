//! Call statements: the language's own instructions (`SWAP`, `NEG`, `ROT`, …), and functions of the program.

use pendula_isa::table::{Row, TableFn, int_fn};
use pendula_isa::{Acc, Cond, Ty};

use super::assign::unchangeable;
use super::body::{Body, Sink};
use super::declare::known_as;
use super::growing::Push;
use super::places::distinct;
use super::value::{Literal, ScalarExpr, Value, mem};
use super::{Done, Stop};
use crate::ir::{AssertKind, LocatedStmt, Mem, Operand, Place, Region, Stmt, Test, identity, invert};
use crate::nil::ast::{self, ExprKind, Span};
use crate::nil::parser::called;
use crate::nil::types::Type;
use crate::nil::{codes, library};
use crate::syntax::nearest;

/// The number of words that the stack of `PUSH!` has room for.
const STACK: u64 = 1 << 16;

/// The number of operands of one of the language's own instructions.
pub(super) fn operands(name: &str) -> Option<usize> {
    match name {
        "SWAP" | "HADAMARD" => Some(2),
        "ROT" | "IROT" => Some(3),
        "NEG" | "INC" | "DEC" | "FLIP" | "CONJ" | "INV" | "PUSH!" | "POP!" | "COPYPUSH!" | "COPYPOP!" => Some(1),
        _ => None,
    }
}

/// The operator and the function of `PlusEq(f)` and the like.
pub(super) fn accumulating(name: &str) -> Option<(ast::AssignOp, &str)> {
    let (of, f) = name.strip_suffix(')')?.split_once('(')?;
    Some((ast::AssignOp::of_type(of)?, f))
}

impl Body<'_, '_> {
    /// `f(args…)` as a statement.
    pub(super) fn call_stmt(
        &mut self,
        callee: &ast::Expr,
        inverse: bool,
        dot: bool,
        args: &[ast::Expr],
        keywords: &[(ast::Name, ast::Expr)],
        span: &Span,
    ) -> Done<()> {
        let (callee, inverse) = match &callee.kind {
            ExprKind::Unary(ast::Unary::Tilde, inner) => (&**inner, !inverse),
            _ => (callee, inverse),
        };
        if self.stack_call(callee, inverse, dot, args, span)? {
            return Ok(());
        }
        // `M.f(x)`: a name with its module.
        let written = match &callee.kind {
            ExprKind::Name(written) => Some(written),
            ExprKind::Field(module, name) if self.is_module(module) => Some(&name.text),
            _ => None,
        };
        // An object whose type has calls: `f(x)` with `@i function (f::T)(x)`.
        let object = match written {
            Some(written) if self.scopes.find(written).is_none() && self.constant_name(written).is_some() => {
                Some(self.computed(|s| s.eval(callee)).1?)
            }
            Some(written) => self.scopes.find(written).and_then(|n| self.scopes.get(n)).map(|b| b.value.clone()),
            None if matches!(callee.kind, ExprKind::Field(..) | ExprKind::Index(..)) => Some(self.eval(callee)?),
            // `choose(f, g)(x)`: the function that a function gives.
            None if matches!(callee.kind, ExprKind::Call { .. }) => Some(self.computed(|s| s.eval(callee)).1?),
            None => None,
        };
        if let Some(Value::Struct(s, _)) = &object {
            let name = self.known_as(&called(&s.name));
            let mut all = vec![callee.clone()];
            all.extend_from_slice(args);
            return match dot {
                true => self.call_points(&name, inverse, &all, keywords, span),
                false => self.statement(|s| {
                    let given = s.given(&all, false)?;
                    s.call_named(&name, inverse, given, &all, keywords, span)
                }),
            };
        }
        let (name, inverse) = match object {
            Some(Value::Function(f)) => match f.strip_prefix('~') {
                Some(f) => (f.to_string(), !inverse),
                None => (f, inverse),
            },
            Some(other) => {
                let message = format!("{} cannot be called", other.describe());
                return self.fail(&callee.span, codes::TYPE, message, "call a function by its name");
            }
            None => match written {
                Some(written) => (self.known_as(written), inverse),
                None => {
                    let help = "write `f(x)`, `(~f)(x)` or `~f(x)`";
                    let message = "a function is called by its name here";
                    return self.fail(&callee.span, codes::FUNCTION, message, help);
                }
            },
        };
        if let Some((op, f)) = accumulating(&name) {
            return self.accumulating_call((op, f), inverse, dot, (args, keywords), (&callee.span, span));
        }
        if dot {
            return self.call_points(&name, inverse, args, keywords, span);
        }
        let before = self.s.diagnostics.len();
        let done = self.statement(|s| {
            let given = s.given(args, false)?;
            s.call_named(&name, inverse, given, args, keywords, span)
        });
        if done.is_err() {
            let all: Vec<&ast::Expr> = args.iter().collect();
            self.point_at_read(before, span, &all, &[]);
        }
        done
    }

    /// `PUSH!(stack, x)` and its kin, and `Tropical(x)`. Gives whether it is one of them.
    fn stack_call(
        &mut self,
        callee: &ast::Expr,
        inverse: bool,
        dot: bool,
        args: &[ast::Expr],
        span: &Span,
    ) -> Done<bool> {
        self.stack = 0;
        let ExprKind::Name(name) = &callee.kind else { return Ok(false) };
        let own = self.s.by_name.contains_key(name);
        // `Tropical(x)`: the number becomes one under (max, +), and `(~Tropical)(x)` makes it a number again.
        if let ("Tropical" | "TropicalNumber", [arg], false) = (name.as_str(), args, own) {
            self.as_tropical(arg, inverse, span)?;
            return Ok(true);
        }
        let [stack, pushed] = args else { return Ok(false) };
        // The global stack is the one that there is, whatever definitions the program has for a variable alone.
        if operands(name) == Some(1)
            && let Some(stack) = self.global_stack(stack)
        {
            self.stack = stack;
            return self.statement(|s| {
                let given = s.given(std::slice::from_ref(pushed), dot)?;
                s.own_instruction(name, inverse, given, span)
            });
        }
        if !matches!(name.as_str(), "PUSH!" | "POP!" | "COPYPUSH!" | "COPYPOP!") {
            return Ok(false);
        }
        let Some(view) = self.growing(stack)? else {
            return if !own && self.names_array(stack) { self.refuse_other_array(stack) } else { Ok(false) };
        };
        let how = if name.starts_with("COPY") { Push::Copy } else { Push::Move };
        let text = self.source(&stack.span);
        self.statement(|s| {
            let value = s.eval_point(pushed, dot)?;
            let value = s.settled(value, &pushed.span)?;
            let pops = name.ends_with("POP!") != inverse;
            s.push_variable((&text, &view), &value, how, pops, (&pushed.span, span))
        })?;
        Ok(true)
    }

    /// Lets a variable name its number as one under (max, +), or, `back`, as a number again.
    fn as_tropical(&mut self, arg: &ast::Expr, back: bool, span: &Span) -> Done<()> {
        let value = self.eval(arg)?;
        let found = match &arg.kind {
            ExprKind::Name(name) => self.scopes.find(name),
            _ => None,
        };
        let new = match (&value, back) {
            (Value::Num(x @ ScalarExpr::Place(_), Some(ty)), false) => Some(Value::Tropical(x.clone(), *ty)),
            (Value::Tropical(x @ ScalarExpr::Place(_), ty), true) => Some(Value::Num(x.clone(), Some(*ty))),
            _ => None,
        };
        let (Some(n), Some(new)) = (found, new) else {
            let message = format!("{} does not become a number under (max, +), or one again", value.describe());
            return self.fail(&arg.span, codes::TYPE, message, "give a variable that is a number");
        };
        if self.loops_since(n) {
            let message = "a variable from before the loop changes its type";
            return self.fail(span, codes::BRANCHES, message, "do it before or after the loop");
        }
        if let Some(b) = self.scopes.get_mut(n) {
            b.value = new;
        }
        Ok(())
    }

    /// `g(y, x)`, where the parameter `g` is `PlusEq(f)`: `y += f(x)`.
    fn accumulating_call(
        &mut self,
        (op, f): (ast::AssignOp, &str),
        inverse: bool,
        dot: bool,
        (args, keywords): (&[ast::Expr], &[(ast::Name, ast::Expr)]),
        (at, span): (&Span, &Span),
    ) -> Done<()> {
        let Some((target, rest)) = args.split_first().filter(|(_, rest)| !rest.is_empty()) else {
            let message =
                format!("this function is `y {} {f}(x)`, and takes what is changed and then its arguments", op.text());
            return self.fail(at, codes::ARGUMENTS, message, "give as many");
        };
        let callee = Box::new(ast::Expr { kind: ExprKind::Name(f.to_string()), span: at.clone() });
        let kind = ExprKind::Call { callee, dot, args: rest.to_vec(), keywords: keywords.to_vec() };
        let value = ast::Expr { kind, span: span.clone() };
        self.assign_stmt(if inverse { op.partner() } else { op }, dot, target, &value, span)
    }

    /// The help text for a call that is not a statement.
    fn no_statement(&self, name: &str, args: &[ast::Expr]) -> String {
        let list = || args.iter().map(|a| self.source(&a.span).to_string()).collect::<Vec<_>>().join(", ");
        if matches!(name, "print" | "println" | "show" | "display") {
            return "show numbers with `@safe @show x`, texts and numbers with `@safe println(\"x is \", x)`"
                .to_string();
        }
        if let Some((module, call)) = library::suggestion(name) {
            return format!("the library has `{call}`: write `using {module}` at the beginning of the file");
        }
        if TableFn::ALL.iter().any(|f| f.info().name == name) || !self.s.defined(name, true).is_empty() {
            return format!("`{name}` gives a value, which a statement adds to a variable: `y += {name}({})`", list());
        }
        if let Some(near) = self.near_function(name) {
            return format!("did you mean `{near}`?");
        }
        "define it with `@i function`, or use `SWAP`, `NEG`, `INC`, `DEC`, `FLIP`, `CONJ`, `INV`, `ROT`, `IROT`, `HADAMARD`, `PUSH!`, `POP!`; an instruction of your own needs `--isa FILE`".to_string()
    }

    /// A function of the program with a similar name.
    pub(super) fn near_function(&self, name: &str) -> Option<&str> {
        let mut names: Vec<&str> = self.s.by_name.keys().map(String::as_str).collect();
        names.sort_unstable();
        nearest(name, names.into_iter())
    }

    /// The name by which this function finds the functions that the source calls `name`.
    pub(super) fn known_as(&self, name: &str) -> String {
        known_as(&self.s.by_name, name, self.scope)
    }

    fn call_named(
        &mut self,
        name: &str,
        inverse: bool,
        (values, spans): (Vec<Value>, Vec<Span>),
        args: &[ast::Expr],
        keywords: &[(ast::Name, ast::Expr)],
        span: &Span,
    ) -> Done<()> {
        // Definitions of the program add to the language's own instructions.
        if let Some(candidates) = self.s.by_name.get(name).cloned()
            && (operands(name).is_none() || self.accepts(&candidates, &values))
        {
            return self.invoke(&candidates, values, &spans, keywords, inverse, span);
        }
        if self.defined_stmt(name, inverse, &values, &spans, span)? {
            return Ok(());
        }
        if !self.own_instruction(name, inverse, (values, spans), span)? {
            let help = self.no_statement(name, args);
            return self.fail(span, codes::FUNCTION, format!("there is no reversible function `{name}`"), help);
        }
        Ok(())
    }

    /// One of the language's own instructions, or its inverse. Gives whether there is one with this name.
    fn own_instruction(
        &mut self,
        name: &str,
        inverse: bool,
        (values, spans): (Vec<Value>, Vec<Span>),
        span: &Span,
    ) -> Done<bool> {
        let outer = std::mem::take(&mut self.now.out);
        let done = self.instruction_stmt(name, values, &spans, span);
        let block = std::mem::replace(&mut self.now.out, outer);
        let done = done?;
        self.now.out.extend(if inverse { invert::block(&block) } else { block });
        Ok(done)
    }

    /// `f.(args…)`: one call for each element.
    fn call_points(
        &mut self,
        name: &str,
        inverse: bool,
        args: &[ast::Expr],
        keywords: &[(ast::Name, ast::Expr)],
        span: &Span,
    ) -> Done<()> {
        self.statement(|s| {
            let (mut lens, mut views) = (None, Vec::new());
            for a in args {
                if let Value::Array(view) = s.eval(a)? {
                    lens.get_or_insert_with(|| view.dims.iter().map(|d| d.len).collect::<Vec<Operand>>());
                    views.push(view);
                }
            }
            // Parts of one array that are exchanged or rotated.
            if let (Some(2..), [a, b, ..]) = (operands(name), &views[..])
                && a.region == b.region
                && a != b
            {
                s.keep_views_apart(a, b, true, span)?;
            }
            let Some(lens) = lens else {
                return s.fail(span, codes::TYPE, "a call with a point goes over arrays", "leave out the point");
            };
            s.for_each(&lens, &mut |s, indices| {
                s.statement(|s| {
                    s.points = Some(indices.to_vec());
                    s.shape.clone_from(&lens);
                    let given = s.given(args, true);
                    s.points = None;
                    s.shape.clear();
                    s.call_named(name, inverse, given?, args, keywords, span)
                })
            })
        })
    }

    /// One of the language's own instructions. Gives whether there is one with this name.
    pub(super) fn instruction_stmt(
        &mut self,
        name: &str,
        mut values: Vec<Value>,
        spans: &[Span],
        span: &Span,
    ) -> Done<bool> {
        let partner = matches!(name, "DEC" | "IROT" | "POP!" | "COPYPOP!");
        let Some(expected) = operands(name) else { return Ok(false) };
        if values.len() != expected {
            let expected = pendula_isa::diagnostic::plural(expected, "argument");
            let message = format!("`{name}` takes {expected}, found {}", values.len());
            return self.fail(span, codes::ARGUMENTS, message, "give as many");
        }
        let changed = if expected == 3 { 2 } else { expected };
        let mut places = Vec::new();
        for (v, at) in values.iter().zip(spans).take(changed) {
            match self.targets(v) {
                Some(p) => places.push(p),
                None => {
                    let message = unchangeable(v);
                    return self.fail(
                        at,
                        codes::NOT_ASSIGNABLE,
                        message,
                        "give a variable, an element or a field; of arrays, put a point after the name",
                    );
                }
            }
        }
        let all: Vec<Place> = places.iter().flatten().copied().collect();
        for p in &all {
            self.writable(*p, span)?;
        }
        let shared = if name == "SWAP" { self.keep_swapped_apart(&places, span)? } else { Vec::new() };
        if name != "SWAP" {
            self.keep_all_apart(&all, span)?;
        }
        let reads = self.now.reads.clone();
        self.keep_apart(&all, &reads, span)?;
        for (v, at) in values.iter_mut().zip(spans).take(changed) {
            *v = self.plain(v.clone(), name, at)?;
        }
        let outer = std::mem::take(&mut self.now.out);
        let done = match name {
            "SWAP" => self.swap(&values, &places, &shared, span),
            "NEG" => self.neg_stmt(&values[0], span),
            "INC" | "DEC" => self.inc(&values[0], &all, span),
            "FLIP" => match &values[0] {
                Value::Bool(ScalarExpr::Place(p)) => {
                    self.accumulate(Sink::Out, *p, Ty::Int, Acc::Xor, false, ScalarExpr::Const(1))
                }
                other => {
                    let message = format!("`FLIP` is for truth values, found {}", other.describe());
                    self.fail(span, codes::TYPE, message, "of numbers, use `NEG` or `⊻=`")
                }
            },
            "CONJ" => match &values[0] {
                Value::Complex(_, im, Some(ty)) => self.neg_stmt(&Value::Num(im.clone(), Some(*ty)), span),
                Value::Num(..) => Ok(()),
                other => {
                    let message = format!("`CONJ` is for numbers, found {}", other.describe());
                    self.fail(span, codes::TYPE, message, "put a point after the name for arrays")
                }
            },
            "INV" => self.inv(&values[0], span),
            "ROT" | "IROT" => {
                let angle = values.pop().ok_or(Stop)?;
                self.rot(&values, angle, &all, span)
            }
            "HADAMARD" => {
                let quarter = Value::Num(ScalarExpr::Lit(Literal::Float(std::f64::consts::FRAC_PI_4)), None);
                self.neg_stmt(&values[1], span).and_then(|()| self.rot(&values, quarter, &all, span))
            }
            _ => {
                self.fits_stack(&values[0], span)?;
                all.iter().try_for_each(|p| self.push(*p, &values[0], name.starts_with("COPY")))
            }
        };
        let block = std::mem::replace(&mut self.now.out, outer);
        done?;
        self.now.out.extend(if partner { invert::block(&block) } else { block });
        Ok(true)
    }

    fn permute(&mut self, row: Row, ty: Ty, args: Vec<Operand>) {
        self.emit(Sink::Out, Stmt::Permute { row, inverse: false, ty, args });
    }

    /// Refuses to exchange places that are the same word. A word may be exchanged with itself if this is known at run
    /// time only: gives these words.
    fn keep_swapped_apart(&mut self, places: &[Vec<Place>], span: &Span) -> Done<Vec<Place>> {
        let [left, right] = places else { return Err(Stop) };
        let mut shared = Vec::new();
        self.keep_all_apart(left, span)?;
        self.keep_all_apart(right, span)?;
        for (n, a) in left.iter().enumerate() {
            for (m, b) in right.iter().enumerate() {
                match (a, b) {
                    (Place::Mem(x), Place::Mem(y)) if n == m && x.region == y.region && distinct(x, y).is_none() => {
                        shared.push(*a);
                    }
                    _ => self.keep_all_apart(&[*a, *b], span)?,
                }
            }
        }
        Ok(shared)
    }

    fn swap(&mut self, values: &[Value], places: &[Vec<Place>], shared: &[Place], span: &Span) -> Done<()> {
        if values[0].type_of() != values[1].type_of() {
            let message = format!("{} and {} cannot be exchanged", values[0].describe(), values[1].describe());
            return self.fail(span, codes::TYPE, message, "both must have one type");
        }
        let types = values[0].type_of().map_or_else(Vec::new, |t| t.word_types());
        for ((a, b), ty) in places[0].iter().zip(&places[1]).zip(types) {
            let (a, b) = (Operand::from(*a), Operand::from(*b));
            if !shared.iter().any(|p| Operand::from(*p) == a) {
                self.permute(Row::Swap, Ty::Int, vec![a, b]);
                continue;
            }
            // Two ancillas are used, so that a word that is exchanged with itself keeps its value: the second exchange
            // finds zero.
            let [s, t] = [(); 2].map(|()| self.fresh("SWAP.value", ty));
            let checks = crate::ir::AncillaChecks::NONE;
            for (var, free) in [(s, false), (t, false)] {
                self.emit(Sink::Out, Stmt::Ancilla { var, free, checks });
            }
            for (var, word) in [(s, a), (t, b), (t, a), (s, b)] {
                self.permute(Row::Swap, Ty::Int, vec![Operand::Var(var), word]);
            }
            for (var, free) in [(t, true), (s, true)] {
                self.emit(Sink::Out, Stmt::Ancilla { var, free, checks });
            }
        }
        Ok(())
    }

    fn neg_stmt(&mut self, v: &Value, span: &Span) -> Done<()> {
        match v {
            Value::Num(ScalarExpr::Place(p), Some(ty)) => {
                self.permute(Row::Neg, *ty, vec![(*p).into()]);
                Ok(())
            }
            Value::Num(ScalarExpr::Neg(a), ty) => self.neg_stmt(&Value::Num((**a).clone(), *ty), span),
            Value::Complex(a, b, ty) => {
                self.neg_stmt(&Value::Num(a.clone(), *ty), span)?;
                self.neg_stmt(&Value::Num(b.clone(), *ty), span)
            }
            Value::Log(_, Some(sign)) if matches!(**sign, ScalarExpr::Place(_)) => {
                let ScalarExpr::Place(p) = **sign else { return Err(Stop) };
                self.accumulate(Sink::Out, p, Ty::Int, Acc::Xor, false, ScalarExpr::Const(1))
            }
            Value::Struct(_, parts) | Value::Tuple(parts) => parts.iter().try_for_each(|p| self.neg_stmt(p, span)),
            other => {
                let message = format!("`NEG` is for numbers, found {}", other.describe());
                self.fail(span, codes::TYPE, message, "of truth values, use `FLIP`")
            }
        }
    }

    fn inc(&mut self, v: &Value, places: &[Place], span: &Span) -> Done<()> {
        let Value::Num(x, Some(ty)) = v else {
            let message = format!("`INC` is for numbers, found {}", v.describe());
            return self.fail(span, codes::TYPE, message, "give a number");
        };
        match (ty, x) {
            (Ty::Int, ScalarExpr::Place(p)) => {
                self.count(*p, false);
                Ok(())
            }
            (Ty::L, _) => self.fail(span, codes::FORGETS, "`INC` forgets on ULogarithmic", "multiply: `x *= 2`"),
            (_, ScalarExpr::Neg(_)) | (Ty::Q | Ty::F, _) => {
                let one = self.word(&Literal::Int(1), *ty, span)?;
                let inverse = matches!(x, ScalarExpr::Neg(_));
                self.accumulate(Sink::Out, places[0], *ty, Acc::Add, inverse, ScalarExpr::Const(one))
            }
            _ => Err(Stop),
        }
    }

    /// x := 1/x.
    fn inv(&mut self, v: &Value, span: &Span) -> Done<()> {
        if let Value::Log(ScalarExpr::Place(p), _) = v {
            self.permute(Row::Neg, Ty::F, vec![(*p).into()]);
            return Ok(());
        }
        let Value::Num(ScalarExpr::Place(p), Some(ty @ (Ty::L | Ty::F))) = v else {
            let message = format!("`INV` is for ULogarithmic and Float64, found {}", v.describe());
            return self.fail(span, codes::TYPE, message, "convert the number, or compute 1/x into another variable");
        };
        self.invert_number(Sink::Out, *p, *ty)
    }

    fn rot(&mut self, values: &[Value], angle: Value, places: &[Place], span: &Span) -> Done<()> {
        let (
            Value::Num(ScalarExpr::Place(a), Some(ty @ (Ty::Q | Ty::F))),
            Value::Num(ScalarExpr::Place(b), Some(other)),
        ) = (&values[0], &values[1])
        else {
            let help = "give two variables or elements of type Fixed or Float64";
            return self.fail(span, codes::TYPE, "`ROT` turns two real numbers", help);
        };
        if ty != other {
            return self.fail(span, codes::TYPE, "`ROT` turns two numbers of one type", "convert one of them");
        }
        self.expected_type = Some(*ty);
        let angle = self.number_as(angle, *ty, span);
        self.expected_type = None;
        let angle = self.put(*ty, angle?)?;
        let mut reads = std::mem::take(&mut self.now.reads);
        match angle {
            Operand::Const(_) => {}
            Operand::Var(v) => reads.push(Place::Var(v)),
            Operand::Mem(m) => reads.push(Place::Mem(m)),
        }
        self.keep_apart(places, &reads, span)?;
        self.permute(Row::Rot, *ty, vec![(*a).into(), (*b).into(), angle]);
        Ok(())
    }

    /// The number of the host's global stack that an expression names.
    pub(super) fn global_stack(&mut self, e: &ast::Expr) -> Option<usize> {
        let name = match &e.kind {
            ExprKind::Name(name) if self.scopes.find(name).is_none() => name,
            ExprKind::Skip(inner) | ExprKind::Const(inner) => return self.global_stack(inner),
            ExprKind::Field(module, name) if self.is_module(module) => &name.text,
            _ => return None,
        };
        let kind = name.strip_suffix("_STACK")?;
        let known = ["GLOBAL", "FLOAT64", "FLOAT32", "INT64", "INT32", "COMPLEXF64", "COMPLEXF32", "BOOL"];
        let kind = *known.iter().find(|known| **known == kind)?;
        if kind == "GLOBAL" {
            return Some(0);
        }
        let others = &mut self.s.stacks;
        let at = others.iter().position(|other| *other == kind).unwrap_or_else(|| {
            others.push(kind);
            others.len() - 1
        });
        Some(at + 1)
    }

    /// Moves a word to one of the program's stacks; with `copy`, copies it.
    fn push(&mut self, p: Place, v: &Value, copy: bool) -> Done<()> {
        let first = self.stack as i64 * STACK.cast_signed();
        self.s.program.stack = self.s.program.stack.max(first.cast_unsigned() + STACK);
        let ty = super::assign::scalar_type(v).unwrap_or(Ty::Int);
        let region = self.stack_region();
        let counter = mem(None, None, first, region);
        // The count has a region of its own, so that the words above it are in another one.
        let words = Region(region.0 + 1);
        let one = |m: Mem| Place::Mem(m);
        let count = self.fresh("stack", Ty::Int);
        let checks = crate::ir::AncillaChecks::NONE;
        let id = TableFn::Int(int_fn::Name::Id);
        let take = vec![
            Stmt::Ancilla { var: count, free: false, checks },
            Stmt::Update {
                acc: Acc::Add,
                inverse: false,
                func: id,
                dst: Place::Var(count),
                args: vec![Operand::Mem(counter)],
            },
        ];
        let top = Mem { base: Some(count), index: None, offset: first + 1, region: words };
        let room = Test::int(Cond::Lt, Operand::Var(count), Operand::Const(STACK - 1));
        let clear = Test::int(Cond::Eq, Operand::Mem(top), Operand::Const(0));
        let full = self.reason(format!("the stack is full: it holds {} words", STACK - 1));
        let empty = self.reason("the stack is empty".to_string());
        let used = self.reason("the word above the stack is not zero".to_string());
        let mut body = vec![Stmt::Assert { test: room, why: AssertKind::Bounds, reason: full }];
        body.push(Stmt::Assert { test: clear, why: AssertKind::User, reason: used });
        body.push(if copy {
            let (acc, func) = (super::accumulator(ty), identity(ty));
            Stmt::Update { acc, inverse: false, func, dst: one(top), args: vec![p.into()] }
        } else {
            Stmt::Permute { row: Row::Swap, inverse: false, ty: Ty::Int, args: vec![p.into(), Operand::Mem(top)] }
        });
        if !copy && self.checks {
            // The inverse moves the word back to the variable, which must be zero.
            let reason = self.reason("the variable that takes a word from the stack must be zero before".to_string());
            body.push(Stmt::Assert { test: Test { a: p.into(), ..clear }, why: AssertKind::User, reason });
        }
        let loc = self.loc;
        let at = |s: Vec<Stmt>| -> Vec<LocatedStmt> { s.into_iter().map(|s| s.at(loc)).collect() };
        self.emit(Sink::Out, Stmt::With { name: self.span_name(), compute: at(take), body: at(body) });
        self.count(one(counter), false);
        // The inverse begins with this.
        let some = Test::int(Cond::Ge, Operand::Mem(counter), Operand::Const(1));
        self.emit(Sink::Out, Stmt::Assert { test: some, why: AssertKind::Bounds, reason: empty });
        Ok(())
    }

    /// Refuses a value that the host's stack for one type does not take.
    fn fits_stack(&mut self, v: &Value, span: &Span) -> Done<()> {
        let Some(kind) = self.stack.checked_sub(1).and_then(|n| self.s.stacks.get(n)).copied() else { return Ok(()) };
        let wanted = match kind {
            _ if kind.starts_with("FLOAT") => Type::Num(Ty::F),
            _ if kind.starts_with("INT") => Type::Num(Ty::Int),
            _ if kind.starts_with("COMPLEX") => Type::Complex(Ty::F),
            _ => Type::Bool,
        };
        if v.type_of().as_ref() == Some(&wanted) {
            return Ok(());
        }
        let message = format!("`{kind}_STACK` is for {wanted}, found {}", v.describe());
        self.fail(span, codes::TYPE, message, "use the stack of its type, or `GLOBAL_STACK`")
    }

    /// The region of the stack's count; the region of its words is the next one.
    fn stack_region(&mut self) -> Region {
        let name = match self.stack {
            0 => "stack".to_string(),
            n => format!("stack {n}"),
        };
        if let Some(n) = self.f.regions.iter().position(|r| r.name == name && r.ty == Ty::Int) {
            return Region(n as u32);
        }
        let first = self.region(&name, Ty::Int);
        self.region(&format!("{name} words"), Ty::Int);
        first
    }
}
