//! Call statements: the language's own instructions (`SWAP`, `NEG`, `ROT`, …), and functions of the program.

use pendula_isa::table::TableFn;

use super::Done;
use super::body::Body;
use super::declare::known_as;
use super::growing::Push;
use super::value::{ScalarExpr, Value};
use crate::ir::{Operand, invert};
use crate::nil::ast::{self, ExprKind, Span};
use crate::nil::parser::called;
use crate::nil::{codes, library};
use crate::syntax::nearest;

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
        // `AddConst(c)(x)`: x += c
        if let (ExprKind::Call { callee: made, args: of, .. }, [target]) = (&callee.kind, args)
            && let (ExprKind::Name(name), [c]) = (&made.kind, &of[..])
            && let "AddConst" | "SubConst" = name.as_str()
            && !self.s.by_name.contains_key(name)
        {
            let op = if (name == "AddConst") == inverse { ast::AssignOp::Sub } else { ast::AssignOp::Add };
            return self.assign_stmt(op, dot, target, c, span);
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

    pub(super) fn call_named(
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
                return s.call_over_tuples(name, inverse, args, keywords, span);
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
}
