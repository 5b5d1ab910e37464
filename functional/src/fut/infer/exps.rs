//! Expressions.

use std::rc::Rc;

use super::{Frame, Infer, Inferred, What};
use crate::fut::code::{At, FieldStep, Fun, Id, Node, Pattern};
use crate::fut::lex::Name;
use crate::fut::syntax::{Ast, Exp, ExpId, Ident, Index, Lit, Operator, Path, RangeEnd, Span};
use crate::fut::types::{Size, Type, field_order};

impl Infer {
    /// Infers an expression.
    pub(super) fn exp(&mut self, ast: &Ast, exp: ExpId) -> Inferred<(Id, Type)> {
        let (id, ty) = stacker::maybe_grow(128 << 10, 2 << 20, || self.exp_inner(ast, exp))?;
        self.small(&ty, ast.span(exp))?;
        Ok((id, ty))
    }

    fn exp_inner(&mut self, ast: &Ast, exp: ExpId) -> Inferred<(Id, Type)> {
        let span = ast.span(exp);
        match ast.get(exp) {
            Exp::Lit(lit) => {
                let ty = self.literal(lit);
                Ok((self.node(Node::Lit(lit.clone(), ty.clone()), span), ty))
            }
            Exp::Path(path) => self.path(path, span),
            Exp::Tuple(parts) => {
                let found = parts.iter().map(|e| self.exp(ast, *e)).collect::<Inferred<Vec<_>>>()?;
                let (ids, types) = found.into_iter().unzip();
                Ok((self.node(Node::Tuple(ids), span), Type::tuple(types)))
            }
            Exp::Record(fields) => self.record(ast, fields, span),
            Exp::Array(parts) => self.array(ast, parts, span),
            Exp::Range(first, second, end, last) => self.range(ast, *first, *second, *end, *last, span),
            Exp::Field(of, name) => {
                let (id, ty) = self.exp(ast, *of)?;
                self.field(id, ty, name, span)
            }
            Exp::Index(of, indices) => {
                let (id, ty) = self.exp(ast, *of)?;
                self.index(ast, id, ty, indices, span)
            }
            Exp::Open(path, inner) => {
                let scope = self.module_named(path)?;
                let begin = self.frames.len();
                self.frames.push(Frame::Open(scope, false));
                let found = self.exp(ast, *inner);
                self.frames.truncate(begin);
                found
            }
            Exp::Apply(function, args) => {
                let function = self.exp(ast, *function)?;
                self.apply(ast, function, args, span)
            }
            Exp::Binary(operator, left, right) => self.binary(ast, operator, *left, *right, span),
            Exp::Negate(of) => self.unary(ast, "neg", *of, span),
            Exp::Not(of) => self.unary(ast, "not", *of, span),
            Exp::Section(operator) => self.operator(operator),
            Exp::LeftSection(left, operator) => {
                let function = self.operator(operator)?;
                self.apply(ast, function, &[*left], span)
            }
            Exp::RightSection(operator, right) => self.right_section(ast, operator, *right, span),
            Exp::FieldSection(names) => {
                let from = self.unifier.fresh();
                let (var, param) = self.hidden(&from, span);
                let (mut body, mut ty) = (param, from.clone());
                for name in names {
                    (body, ty) = self.field(body, ty, name, span)?;
                }
                Ok(self.lambda_of(var, from, body, ty, span))
            }
            Exp::IndexSection(indices) => {
                let from = self.unifier.fresh();
                let (var, param) = self.hidden(&from, span);
                let (body, ty) = self.index(ast, param, from.clone(), indices, span)?;
                Ok(self.lambda_of(var, from, body, ty, span))
            }
            Exp::If(condition, yes, no) => self.if_(ast, *condition, *yes, *no, span),
            Exp::Lets(lets, body) => self.lets(ast, lets, *body, span),
            Exp::Loop(sizes, pat, init, form, body) => self.loop_(ast, (sizes, pat, *init), form, *body, span),
            Exp::Lambda(function) => {
                let (fun, ty, _) = self.function(ast, function)?;
                Ok((self.node(Node::Lambda(fun), span), ty))
            }
            Exp::Match(of, cases) => self.match_(ast, *of, cases, span),
            Exp::Constr(name, args) => {
                let found = args.iter().map(|e| self.exp(ast, *e)).collect::<Inferred<Vec<_>>>()?;
                let (ids, types): (Vec<_>, Vec<_>) = found.into_iter().unzip();
                let ty = self.unifier.fresh();
                let demanded = self.unifier.has_constr(&ty, &name.name, &types);
                demanded.map_err(|m| self.mismatch(&m, &ty, &ty, name.span))?;
                Ok((self.node(Node::Constr(ty.clone(), name.name.clone(), ids), span), ty))
            }
            Exp::Assert(condition, of) => {
                let (c, ty) = self.exp(ast, *condition)?;
                self.unify_at(&Type::BOOL, &ty, ast.span(*condition))?;
                let (of, ty) = self.exp(ast, *of)?;
                Ok((self.node(Node::Assert(c, of), span), ty))
            }
            Exp::With(of, indices, value) => self.with(ast, *of, indices, *value, span),
            Exp::WithField(of, names, value) => self.with_field(ast, *of, names, *value, span),
            Exp::Ascribe(of, is) => {
                let is = self.type_exp(ast, is)?;
                let (id, ty) = self.exp(ast, *of)?;
                self.unify_at(&is, &ty, ast.span(*of))?;
                Ok((id, is))
            }
            Exp::Coerce(of, is) => self.coerce(ast, *of, is, span),
        }
    }

    fn coerce(&mut self, ast: &Ast, of: ExpId, is: &crate::fut::syntax::TypeExp, span: Span) -> Inferred<(Id, Type)> {
        let is = self.type_exp(ast, is)?;
        let (id, ty) = self.exp(ast, of)?;
        // The same type but for its sizes, which are checked when it runs.
        let mut sizes = Vec::new();
        let counted = self.unifier.map_sizes(&is, &mut |size| {
            sizes.push(());
            size.clone()
        });
        let mut fresh: Vec<Size> = sizes.iter().map(|()| self.unifier.fresh_size()).collect();
        let loose = self.unifier.map_sizes(&counted, &mut |size| fresh.pop().unwrap_or_else(|| size.clone()));
        self.unify_at(&loose, &ty, ast.span(of))?;
        Ok((self.node(Node::Coerce(id, is.clone()), span), is))
    }

    /// A value with the names behind it as fields.
    fn path(&mut self, path: &Path, span: Span) -> Inferred<(Id, Type)> {
        let (value, fields) = self.value_named(path)?;
        let (mut id, mut ty) = self.reference(&value, span);
        for name in &path[path.len() - fields..] {
            (id, ty) = self.field(id, ty, name, span)?;
        }
        Ok((id, ty))
    }

    /// A value where it is used.
    fn reference(&mut self, value: &super::Value, span: Span) -> (Id, Type) {
        let (ty, sizes) = self.unifier.instantiate(&value.scheme);
        let node = match &value.what {
            What::Local(var) => {
                if let Some((own, speaks)) = &mut self.own
                    && own == var
                {
                    *speaks = true;
                }
                Node::Var(*var)
            }
            What::Def(var, implicit) => Node::Instance(*var, implicit.iter().map(|n| sizes[*n].clone()).collect()),
            What::Builtin(name) => Node::Builtin(name.clone(), ty.clone()),
        };
        (self.node(node, span), ty)
    }

    fn operator(&mut self, operator: &Operator) -> Inferred<(Id, Type)> {
        let (value, fields) = self.value_named(&operator.path)?;
        let (mut id, mut ty) = self.reference(&value, operator.span);
        for name in &operator.path[operator.path.len() - fields..] {
            (id, ty) = self.field(id, ty, name, operator.span)?;
        }
        Ok((id, ty))
    }

    fn record(&mut self, ast: &Ast, fields: &[(Ident, ExpId)], span: Span) -> Inferred<(Id, Type)> {
        let mut found: Vec<(Name, Id, Type)> = Vec::new();
        for (name, exp) in fields {
            if found.iter().any(|(n, ..)| *n == name.name) {
                return Err(Self::twice(name, "field"));
            }
            let (id, ty) = self.exp(ast, *exp)?;
            found.push((name.name.clone(), id, ty));
        }
        found.sort_by(|a, b| field_order(&a.0, &b.0));
        let (ids, types): (Vec<_>, Vec<_>) = found.into_iter().map(|(n, id, t)| (id, (n, t))).unzip();
        Ok((self.node(Node::Tuple(ids), span), Type::Record(Rc::new(types))))
    }

    fn array(&mut self, ast: &Ast, parts: &[ExpId], span: Span) -> Inferred<(Id, Type)> {
        let of = self.unifier.fresh();
        let mut ids = Vec::new();
        for exp in parts {
            let (id, ty) = self.exp(ast, *exp)?;
            self.unify_at(&of, &ty, ast.span(*exp))?;
            ids.push(id);
        }
        let size = Size::Const(parts.len() as i64);
        Ok((self.node(Node::Array(ids, of.clone()), span), Type::array(size, of)))
    }

    fn range(
        &mut self,
        ast: &Ast,
        first: ExpId,
        second: Option<ExpId>,
        end: RangeEnd,
        last: ExpId,
        span: Span,
    ) -> Inferred<(Id, Type)> {
        let of = self.unifier.of_class(crate::fut::types::INTS);
        let mut part = |exp: ExpId| {
            let (id, ty) = self.exp(ast, exp)?;
            self.unify_at(&of, &ty, ast.span(exp))?;
            Ok::<Id, Box<pendula_isa::diagnostic::Diagnostic>>(id)
        };
        let ids = (part(first)?, second.map(&mut part).transpose()?, part(last)?);
        // `0..1..<n` and `0..<n` have n elements.
        let is = |exp: ExpId, n: u128| matches!(ast.get(exp), Exp::Lit(Lit::Int(m, _)) if *m == n);
        let counts = is(first, 0) && second.is_none_or(|s| is(s, 1)) && end == RangeEnd::Below;
        let size = if counts { self.size_of(ids.2) } else { self.unifier.fresh_size() };
        let node = Node::Range(ids.0, ids.1, end, ids.2, of.clone());
        Ok((self.node(node, span), Type::array(size, of)))
    }

    pub(super) fn field(&mut self, of: Id, ty: Type, name: &Ident, span: Span) -> Inferred<(Id, Type)> {
        let field = self.unifier.fresh();
        let demanded = self.unifier.has_field(&ty, &name.name, &field);
        demanded.map_err(|m| self.mismatch(&m, &ty, &ty, name.span))?;
        let step = FieldStep { record: ty, name: name.name.clone() };
        Ok((self.node(Node::Field(of, step), span), field))
    }

    /// The indices with the type of what they give.
    fn indices(&mut self, ast: &Ast, ty: &Type, indices: &[Index], span: Span) -> Inferred<(Vec<At>, Type)> {
        let mut found = Vec::new();
        let mut kept = Vec::new();
        let mut of = ty.clone();
        for index in indices {
            let size = self.unifier.fresh_size();
            let inner = self.unifier.fresh();
            self.unify_at(&Type::array(size.clone(), inner.clone()), &of, span)?;
            of = inner;
            match index {
                Index::At(exp) => {
                    let (id, ty) = self.exp(ast, *exp)?;
                    let wanted = self.unifier.of_class(crate::fut::types::INTS);
                    self.unify_at(&wanted, &ty, ast.span(*exp))?;
                    found.push(At::Point(id));
                }
                Index::Slice(from, to, step) => {
                    let mut part = |exp: &Option<ExpId>| {
                        let Some(exp) = exp else { return Ok(None) };
                        let (id, ty) = self.exp(ast, *exp)?;
                        self.unify_at(&Type::I64, &ty, ast.span(*exp))?;
                        Ok::<_, Box<pendula_isa::diagnostic::Diagnostic>>(Some(id))
                    };
                    let (from, to, step) = (part(from)?, part(to)?, part(step)?);
                    kept.push(self.slice_size(&size, from, to, step));
                    found.push(At::Slice(from, to, step));
                }
            }
        }
        let ty = kept.into_iter().rev().fold(of, |of, size| Type::array(size, of));
        Ok((found, ty))
    }

    fn slice_size(&mut self, whole: &Size, from: Option<Id>, to: Option<Id>, step: Option<Id>) -> Size {
        match (from, to, step) {
            (None, None, _) => match step {
                None => whole.clone(),
                Some(step) => match self.code.get(step) {
                    Node::Apply(_, args) if args.len() == 1 => {
                        if let Node::Lit(Lit::Int(1, _), _) = self.code.get(args[0]) {
                            whole.clone()
                        } else {
                            self.unifier.fresh_size()
                        }
                    }
                    _ => self.unifier.fresh_size(),
                },
            },
            (from, to, None) => {
                let to = to.map_or_else(|| whole.clone(), |to| self.size_of(to));
                match from.map(|from| self.size_of(from)) {
                    None | Some(Size::Const(0)) => to,
                    Some(from) => Size::Op('-', Rc::new((to, from))),
                }
            }
            (_, _, Some(_)) => self.unifier.fresh_size(),
        }
    }

    fn index(&mut self, ast: &Ast, of: Id, ty: Type, indices: &[Index], span: Span) -> Inferred<(Id, Type)> {
        let (at, ty) = self.indices(ast, &ty, indices, span)?;
        Ok((self.node(Node::Index(of, at), span), ty))
    }

    fn with(&mut self, ast: &Ast, of: ExpId, indices: &[Index], value: ExpId, span: Span) -> Inferred<(Id, Type)> {
        let (id, ty) = self.exp(ast, of)?;
        self.with_in(ast, (id, ty), indices, value, span)
    }

    pub(super) fn with_in(
        &mut self,
        ast: &Ast,
        (id, ty): (Id, Type),
        indices: &[Index],
        value: ExpId,
        span: Span,
    ) -> Inferred<(Id, Type)> {
        let (at, part) = self.indices(ast, &ty, indices, span)?;
        let (value_id, value_ty) = self.exp(ast, value)?;
        self.unify_at(&part, &value_ty, ast.span(value))?;
        Ok((self.node(Node::With(id, at, value_id), span), ty))
    }

    fn with_field(&mut self, ast: &Ast, of: ExpId, names: &[Ident], value: ExpId, span: Span) -> Inferred<(Id, Type)> {
        let (id, ty) = self.exp(ast, of)?;
        let (mut steps, mut part) = (Vec::new(), ty.clone());
        for name in names {
            let field = self.unifier.fresh();
            let demanded = self.unifier.has_field(&part, &name.name, &field);
            demanded.map_err(|m| self.mismatch(&m, &ty, &ty, name.span))?;
            steps.push(FieldStep { record: part, name: name.name.clone() });
            part = field;
        }
        let (value_id, value_ty) = self.exp(ast, value)?;
        self.unify_at(&part, &value_ty, ast.span(value))?;
        Ok((self.node(Node::WithField(id, steps, value_id), span), ty))
    }

    /// Applies a function; what its type says about sizes holds for these arguments.
    pub(super) fn apply(
        &mut self,
        ast: &Ast,
        (function, ty): (Id, Type),
        args: &[ExpId],
        span: Span,
    ) -> Inferred<(Id, Type)> {
        let mut found = Vec::new();
        for arg in args {
            let (id, ty) = self.exp(ast, *arg)?;
            found.push((id, ty, ast.span(*arg)));
        }
        self.applied((function, ty), found, span)
    }

    fn applied(
        &mut self,
        (function, mut ty): (Id, Type),
        args: Vec<(Id, Type, Span)>,
        span: Span,
    ) -> Inferred<(Id, Type)> {
        let mut ids = Vec::new();
        for (id, found, at) in args {
            let (var, from, to) = match self.unifier.head(&ty) {
                Type::Fun(var, parts) => (var, parts.0.clone(), parts.1.clone()),
                other => {
                    let (from, to) = (self.unifier.fresh(), self.unifier.fresh());
                    self.unify_at(&Type::fun(from.clone(), to.clone()), &other, self.code.span(function))?;
                    (None, from, to)
                }
            };
            self.unify_at(&from, &found, at)?;
            ty = match var {
                Some(var) if self.unifier.mentions(&to, var) => {
                    let size = self.size_of(id);
                    self.unifier.substitute(&to, var, &size)
                }
                _ => to,
            };
            ids.push(id);
        }
        Ok((self.node(Node::Apply(function, ids), span), ty))
    }

    fn binary(
        &mut self,
        ast: &Ast,
        operator: &Operator,
        left: ExpId,
        right: ExpId,
        span: Span,
    ) -> Inferred<(Id, Type)> {
        if let [only] = operator.path.as_slice()
            && matches!(&*only.name, "&&" | "||")
        {
            let (a, s) = self.exp(ast, left)?;
            self.unify_at(&Type::BOOL, &s, ast.span(left))?;
            let (b, t) = self.exp(ast, right)?;
            self.unify_at(&Type::BOOL, &t, ast.span(right))?;
            let node = if &*only.name == "&&" { Node::And(a, b) } else { Node::Or(a, b) };
            return Ok((self.node(node, span), Type::BOOL));
        }
        // `x |> f` and `f <| x` are applications.
        if let [only] = operator.path.as_slice()
            && matches!(&*only.name, "|>" | "<|")
        {
            let (function, arg) = if &*only.name == "|>" { (right, left) } else { (left, right) };
            let first = self.exp(ast, left)?;
            let second = self.exp(ast, right)?;
            let (f, x) = if &*only.name == "|>" { (second, first) } else { (first, second) };
            let _ = function;
            return self.applied(f, vec![(x.0, x.1, ast.span(arg))], span);
        }
        let function = self.operator(operator)?;
        self.apply(ast, function, &[left, right], span)
    }

    fn unary(&mut self, ast: &Ast, builtin: &str, of: ExpId, span: Span) -> Inferred<(Id, Type)> {
        let (id, ty) = self.exp(ast, of)?;
        let class = if builtin == "neg" { crate::fut::types::NUMBERS } else { crate::fut::types::BITS };
        let wanted = self.unifier.of_class(class);
        self.unify_at(&wanted, &ty, ast.span(of))?;
        if let (Node::Lit(lit @ Lit::Int(..), _), "neg") = (self.code.get(id), builtin) {
            let negative = Node::NegativeLit(lit.clone(), ty.clone());
            return Ok((self.node(negative, span), ty));
        }
        let function = self.node(Node::Builtin(builtin.into(), Type::fun(ty.clone(), ty.clone())), span);
        Ok((self.node(Node::Apply(function, vec![id]), span), ty))
    }

    /// `(op e)`: a lambda over the first operand; `e` is computed once, outside.
    fn right_section(&mut self, ast: &Ast, operator: &Operator, right: ExpId, span: Span) -> Inferred<(Id, Type)> {
        let (right_id, right_ty) = self.exp(ast, right)?;
        let held = self.code.new_var("right".into(), span, right_ty.clone());
        let held_id = self.node(Node::Var(held), span);
        let function = self.operator(operator)?;
        let from = self.unifier.fresh();
        let (var, param) = self.hidden(&from, span);
        let args = vec![(param, from.clone(), span), (held_id, right_ty.clone(), ast.span(right))];
        let (body, ty) = self.applied(function, args, span)?;
        let (lambda, ty) = self.lambda_of(var, from, body, ty, span);
        let bind = crate::fut::code::Bind::Pattern(Vec::new(), Pattern::Var(held), right_ty, right_id);
        Ok((self.node(Node::Lets(vec![(bind, span)], lambda), span), ty))
    }

    /// A parameter that the program does not name.
    fn hidden(&mut self, ty: &Type, span: Span) -> (crate::fut::types::VarId, Id) {
        let var = self.code.new_var("x".into(), span, ty.clone());
        (var, self.node(Node::Var(var), span))
    }

    fn lambda_of(&mut self, var: crate::fut::types::VarId, from: Type, body: Id, to: Type, span: Span) -> (Id, Type) {
        let fun = Fun { sizes: Vec::new(), params: vec![(Pattern::Var(var), from.clone())], body };
        (self.node(Node::Lambda(fun), span), Type::fun(from, to))
    }

    /// The size that an expression is, as far as it can be told.
    pub(super) fn size_of(&mut self, id: Id) -> Size {
        self.size_below(id, 0)
    }

    fn size_below(&mut self, id: Id, depth: u32) -> Size {
        match self.code.get(id) {
            Node::Lit(Lit::Int(n, _), _) => Size::Const(i64::try_from(*n).unwrap_or(i64::MAX)),
            Node::Var(var) => Size::Name(*var),
            Node::Instance(var, sizes) if sizes.is_empty() => Size::Name(*var),
            Node::Apply(function, args) if args.len() == 2 && depth < super::DEEPEST => {
                let (a, b) = (args[0], args[1]);
                let op = match self.code.get(*function) {
                    Node::Builtin(name, _) => match &**name {
                        "add" => '+',
                        "sub" => '-',
                        "mul" => '*',
                        _ => return self.unifier.fresh_size(),
                    },
                    _ => return self.unifier.fresh_size(),
                };
                let (a, b) = (self.size_below(a, depth + 1), self.size_below(b, depth + 1));
                Size::Op(op, Rc::new((a, b)))
            }
            _ => self.unifier.fresh_size(),
        }
    }
}
