//! What the plain form needs to know of a body: the names in it, and the statements that are written in another way.

use std::collections::HashSet;

use crate::nil::ast::{
    Condition, Expr, ExprKind, Function, HostFunction, Name, Param, Safe, Span, Stmt, StmtKind, TextPart, TypeArg,
    TypeExpr, Unary,
};

/// How a name is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Usage {
    /// As a value.
    Value,
    /// As a value, in `f(; k)`, which is short for `f(; k = k)`.
    Short,
    /// It is called, with this number of arguments, for its value.
    Call(usize),
    /// It is called as a statement.
    Statement,
}

/// A place where a name is used.
#[derive(Clone, Debug)]
pub(super) struct Mention<'a> {
    pub(super) name: &'a str,
    pub(super) span: Span,
    pub(super) usage: Usage,
}

/// What is found in a function.
#[derive(Debug, Default)]
pub(super) struct Found<'a> {
    /// The names that are used, in order.
    pub(super) mentions: Vec<Mention<'a>>,
    /// The names of its own: parameters, variables, and type parameters.
    pub(super) locals: HashSet<&'a str>,
    /// The first conditions of `if` and `elseif` whose second condition is the same.
    pub(super) conditions: Vec<Span>,
    /// The statements after `@safe` that have no meaning: where they are, and what is after `@safe`.
    pub(super) safe: Vec<(Span, &'a str)>,
    /// Whether something is indexed with several indices.
    pub(super) indices: bool,
}

impl<'a> Found<'a> {
    /// What is in a reversible function.
    pub(super) fn of(f: &'a Function) -> Found<'a> {
        let mut found = Found::default();
        found.locals.extend(f.type_params.iter().map(|p| p.name.text.as_str()));
        f.params.iter().chain(&f.keywords).for_each(|p| found.param(p));
        found.block(&f.body);
        found
    }

    /// What is in a function of the host that is one expression.
    pub(super) fn of_host(f: &'a HostFunction) -> Found<'a> {
        let mut found = Found::default();
        found.locals.extend(f.type_params.iter().map(|p| p.name.text.as_str()));
        f.params.iter().for_each(|p| found.param(p));
        found.expr(&f.body);
        found
    }

    /// What is in the value of a constant.
    pub(super) fn of_value(value: &'a Expr) -> Found<'a> {
        let mut found = Found::default();
        found.expr(value);
        found
    }

    /// Takes over what a function without a name uses.
    pub(super) fn join(&mut self, lambda: &'a HostFunction) {
        let own = Found::of_host(lambda);
        let outer = own.mentions.into_iter().filter(|m| !own.locals.contains(m.name));
        self.mentions.extend(outer);
        self.indices |= own.indices;
    }

    fn param(&mut self, p: &'a Param) {
        self.locals.insert(&p.name.text);
        if let Some(ty) = &p.ty {
            self.ty(ty);
        }
        if let Some(default) = &p.default {
            self.expr(default);
        }
    }

    /// The variables of which a type speaks: `typeof(x)`.
    fn ty(&mut self, ty: &'a TypeExpr) {
        for arg in &ty.args {
            match arg {
                TypeArg::Type(inner) => self.ty(inner),
                TypeArg::Of(e) => self.expr(e),
                TypeArg::Number(..) => {}
            }
        }
    }

    fn bind(&mut self, target: &'a Expr) {
        match &target.kind {
            ExprKind::Name(name) => {
                self.locals.insert(name);
            }
            ExprKind::Tuple(parts) => parts.iter().for_each(|part| self.bind(part)),
            _ => {}
        }
    }

    fn block(&mut self, list: &'a [Stmt]) {
        list.iter().for_each(|s| self.stmt(s, &s.span));
    }

    /// A statement; `outer` is its range with the macros before it.
    fn stmt(&mut self, s: &'a Stmt, outer: &Span) {
        match &s.kind {
            StmtKind::Assign { target, value, .. } => {
                self.expr(target);
                self.expr(value);
            }
            StmtKind::Alloc { target, value, free } => {
                if !free {
                    self.bind(target);
                }
                self.expr(target);
                self.expr(value);
            }
            StmtKind::Exchange { left, right } => {
                for side in [left, right] {
                    if side.empty {
                        self.bind(&side.place);
                    }
                    self.expr(&side.place);
                }
            }
            StmtKind::Zeros { ty, names, free, .. } => {
                self.ty(ty);
                if !free {
                    self.locals.extend(names.iter().map(|n| n.text.as_str()));
                }
            }
            StmtKind::Call { callee, args, keywords, .. } => {
                self.callee(callee, Usage::Statement);
                args.iter().for_each(|e| self.expr(e));
                self.keywords(keywords);
            }
            StmtKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.choice(condition);
                    self.block(body);
                }
                self.block(otherwise);
            }
            StmtKind::While { condition, body } => {
                self.expr(&condition.pre);
                condition.post.iter().for_each(|e| self.expr(e));
                self.block(body);
            }
            StmtKind::For { var, range, body } => {
                self.locals.insert(&var.text);
                self.expr(range);
                self.block(body);
            }
            StmtKind::Block(body) | StmtKind::Routine { body, .. } => self.block(body),
            StmtKind::Unroutine { .. } => {}
            StmtKind::Inverse(inner) | StmtKind::Marked(_, inner) => self.stmt(inner, outer),
            StmtKind::Safe(safe) => self.safe(safe, outer),
            StmtKind::Convert { from, to, target } => {
                self.ty(from);
                self.ty(to);
                self.expr(target);
            }
        }
    }

    /// The condition of an `if`.
    fn choice(&mut self, condition: &'a Condition) {
        self.expr(&condition.pre);
        match &condition.post {
            Some(post) if post.span == condition.pre.span => self.conditions.push(post.span.clone()),
            Some(post) => self.expr(post),
            None => {}
        }
    }

    fn safe(&mut self, safe: &'a Safe, outer: &Span) {
        match safe {
            Safe::Assert { condition, message } => {
                self.expr(condition);
                message.iter().for_each(|e| self.expr(e));
            }
            Safe::Error(message) => message.iter().for_each(|e| self.expr(e)),
            Safe::Show(parts) => parts.iter().for_each(|e| self.expr(e)),
            Safe::Clear(e) => self.expr(e),
            Safe::Other(text) => self.safe.push((outer.clone(), text)),
        }
    }

    fn callee(&mut self, callee: &'a Expr, usage: Usage) {
        match &callee.kind {
            ExprKind::Name(name) => self.mentions.push(Mention { name, span: callee.span.clone(), usage }),
            ExprKind::Unary(Unary::Tilde, inner) => self.callee(inner, usage),
            // `M.f(x)`: a function of a module, or an object in a field.
            ExprKind::Field(of, name) => {
                self.mentions.push(Mention { name: &name.text, span: callee.span.clone(), usage });
                self.expr(of);
            }
            ExprKind::Type(ty) => self.ty(ty),
            _ => self.expr(callee),
        }
    }

    fn keywords(&mut self, keywords: &'a [(Name, Expr)]) {
        for (key, value) in keywords {
            match &value.kind {
                ExprKind::Name(name) if key.span == value.span => {
                    self.mentions.push(Mention { name, span: value.span.clone(), usage: Usage::Short });
                }
                _ => self.expr(value),
            }
        }
    }

    fn expr(&mut self, e: &'a Expr) {
        match &e.kind {
            ExprKind::Name(name) => {
                self.mentions.push(Mention { name, span: e.span.clone(), usage: Usage::Value });
            }
            ExprKind::Call { callee, args, keywords, .. } => {
                self.callee(callee, Usage::Call(args.len()));
                args.iter().for_each(|e| self.expr(e));
                self.keywords(keywords);
            }
            ExprKind::Type(ty) => self.ty(ty),
            ExprKind::Typed(inner, ty) => {
                self.expr(inner);
                self.ty(ty);
            }
            ExprKind::Text(parts) => {
                for part in parts {
                    if let TextPart::Value(e) = part {
                        self.expr(e);
                    }
                }
            }
            // These are views, whatever the host defines.
            ExprKind::Pipe(of, view) if is_view(view) => self.expr(of),
            ExprKind::Index(_, at) => {
                self.indices |= at.len() > 1;
                e.parts().into_iter().for_each(|part| self.expr(part));
            }
            _ => e.parts().into_iter().for_each(|part| self.expr(part)),
        }
    }
}

/// Whether `x |> view` is one of the language's own views.
fn is_view(view: &Expr) -> bool {
    matches!(&view.kind, ExprKind::Name(name) if matches!(name.as_str(), "value" | "identity" | "real" | "imag" | "grad"))
}
