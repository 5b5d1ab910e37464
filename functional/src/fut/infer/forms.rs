//! `if`, `let`, `loop`, `match`.

use std::rc::Rc;

use pendula_isa::diagnostic::Diagnostic;

use super::{Frame, Infer, Inferred, Value, What};
use crate::errors;
use crate::fut::code::{Bind, Id, Node, Pattern, Turn};
use crate::fut::syntax::{Ast, Exp, ExpId, Ident, Let, LoopForm, Pat, Span};
use crate::fut::types::{INTS, Type};

impl Infer {
    pub(super) fn if_(
        &mut self,
        ast: &Ast,
        condition: ExpId,
        yes: ExpId,
        no: ExpId,
        span: Span,
    ) -> Inferred<(Id, Type)> {
        let (c, ty) = self.exp(ast, condition)?;
        self.unify_at(&Type::BOOL, &ty, ast.span(condition))?;
        let (a, s) = self.exp(ast, yes)?;
        let (b, t) = self.exp(ast, no)?;
        self.unify_at(&s, &t, ast.span(no))?;
        Ok((self.node(Node::If(c, a, b), span), s))
    }

    pub(super) fn lets(&mut self, ast: &Ast, lets: &[(Let, Span)], body: ExpId, span: Span) -> Inferred<(Id, Type)> {
        let begin = self.frames.len();
        let mut binds = Vec::new();
        for (bound, at) in lets {
            binds.push((self.let_(ast, bound, *at)?, *at));
        }
        let (body, ty) = self.exp(ast, body)?;
        self.frames.truncate(begin);
        Ok((self.node(Node::Lets(binds, body), span), ty))
    }

    fn let_(&mut self, ast: &Ast, bound: &Let, span: Span) -> Inferred<Bind> {
        match bound {
            Let::Pattern(sizes, pat, exp) => {
                let (id, found) = self.exp(ast, *exp)?;
                let sizes = sizes.iter().map(|ident| self.size_param(ident)).collect();
                let (pattern, ty) = self.pattern(ast, pat)?;
                self.unify_at(&ty, &found, ast.span(*exp))?;
                self.irrefutable(&pattern, pat.span())?;
                Ok(Bind::Pattern(sizes, pattern, ty, id))
            }
            Let::Function(name, function) => {
                self.unifier.level += 1;
                let found = self.function(ast, function);
                self.unifier.level -= 1;
                let (fun, ty, rigid) = found?;
                let scheme = self.unifier.generalise(&ty, &rigid, &fun.sizes);
                let var = self.code.new_var(name.name.clone(), name.span, ty);
                let value = Value { scheme: Rc::new(scheme), what: What::Local(var) };
                self.frames.push(Frame::Value(name.name.clone(), value));
                Ok(Bind::Function(var, fun))
            }
            Let::Update(name, indices, value) => {
                let (found, fields) = self.value_named(&vec![name.clone()])?;
                let (What::Local(old), 0) = (&found.what, fields) else { return Err(Self::unknown(name, "array")) };
                let ty = self.unifier.instantiate(&found.scheme).0;
                let old = self.node(Node::Var(*old), name.span);
                let (id, ty) = self.with_in(ast, (old, ty), indices, *value, span)?;
                let var = self.local(name, &ty);
                Ok(Bind::Pattern(Vec::new(), Pattern::Var(var), ty, id))
            }
        }
    }

    /// An error for a pattern that some values do not match.
    fn irrefutable(&self, pattern: &Pattern, span: Span) -> Inferred<()> {
        let what = match pattern {
            Pattern::Wild | Pattern::Var(_) => return Ok(()),
            Pattern::Tuple(parts) => return parts.iter().try_for_each(|p| self.irrefutable(p, span)),
            Pattern::Constr(ty, _, parts) => match self.unifier.head(ty) {
                Type::Sum(constrs) if constrs.len() > 1 => "a constructor",
                _ => return parts.iter().try_for_each(|p| self.irrefutable(p, span)),
            },
            Pattern::Lit(..) => "a literal",
        };
        Err(Box::new(
            Diagnostic::error(errors::FUT_TYPE, format!("{what} in a pattern of `let` may not match"))
                .at(span.place(), "not every value matches")
                .help("use `match`"),
        ))
    }

    pub(super) fn loop_(
        &mut self,
        ast: &Ast,
        (sizes, pat, init): (&[Ident], &Pat, Option<ExpId>),
        form: &LoopForm,
        body: ExpId,
        span: Span,
    ) -> Inferred<(Id, Type)> {
        let begin = self.frames.len();
        let (init, init_ty) = match init {
            Some(init) => {
                let (id, ty) = self.exp(ast, init)?;
                (id, ty)
            }
            None => self.as_exp(pat)?,
        };
        // The bound of a loop does not see what the pattern binds.
        let turn_before = match form {
            LoopForm::Below(_, bound) => {
                let (id, ty) = self.exp(ast, *bound)?;
                let wanted = self.unifier.of_class(INTS);
                self.unify_at(&wanted, &ty, ast.span(*bound))?;
                Some((id, ty))
            }
            LoopForm::Each(_, array) => Some(self.exp(ast, *array)?),
            LoopForm::While(_) => None,
        };
        let sizes = sizes.iter().map(|ident| self.size_param(ident)).collect();
        let (pattern, ty) = self.pattern(ast, pat)?;
        self.irrefutable(&pattern, pat.span())?;
        self.unify_at(&ty, &init_ty, self.code.span(init))?;
        let turn = match (form, turn_before) {
            (LoopForm::Below(counter, _), Some((id, ty))) => Turn::Below(self.local(counter, &ty), id),
            (LoopForm::Each(each, array), Some((id, found))) => {
                let (each, of) = self.pattern(ast, each)?;
                let size = self.unifier.fresh_size();
                self.unify_at(&Type::array(size, of.clone()), &found, ast.span(*array))?;
                Turn::Each(each, of, id)
            }
            (LoopForm::While(condition), _) => {
                let (id, ty) = self.exp(ast, *condition)?;
                self.unify_at(&Type::BOOL, &ty, ast.span(*condition))?;
                Turn::While(id)
            }
            (LoopForm::Below(..) | LoopForm::Each(..), None) => return Err(Self::lost(span)),
        };
        let (body_id, found) = self.exp(ast, body)?;
        self.unify_at(&ty, &found, ast.span(body))?;
        self.frames.truncate(begin);
        Ok((self.node(Node::Loop(sizes, pattern, ty.clone(), init, turn, body_id), span), ty))
    }

    fn lost(span: Span) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(errors::FUT_SYNTAX, "a loop without a bound").at(span.place(), "this loop"))
    }

    /// The pattern of a loop without a first value, as an expression of what it names.
    fn as_exp(&mut self, pat: &Pat) -> Inferred<(Id, Type)> {
        let mut ast = Ast::default();
        let exp = pattern_exp(&mut ast, pat).ok_or_else(|| {
            Box::new(
                Diagnostic::error(errors::FUT_SYNTAX, "this loop has no first value")
                    .at(pat.span().place(), "not only names")
                    .help("write `= value` behind the pattern"),
            )
        })?;
        self.exp(&ast, exp)
    }

    pub(super) fn match_(&mut self, ast: &Ast, of: ExpId, cases: &[(Pat, ExpId)], span: Span) -> Inferred<(Id, Type)> {
        let (of, ty) = self.exp(ast, of)?;
        let result = self.unifier.fresh();
        let mut found = Vec::new();
        for (pat, body) in cases {
            let begin = self.frames.len();
            let (pattern, wanted) = self.pattern(ast, pat)?;
            self.unify_at(&ty, &wanted, pat.span())?;
            let (id, got) = self.exp(ast, *body)?;
            self.unify_at(&result, &got, ast.span(*body))?;
            self.frames.truncate(begin);
            found.push((pattern, id));
        }
        Ok((self.node(Node::Match(of, found, ty), span), result))
    }
}

fn pattern_exp(ast: &mut Ast, pat: &Pat) -> Option<ExpId> {
    match pat {
        Pat::Name(ident) => Some(ast.add(Exp::Path(vec![ident.clone()]), ident.span)),
        Pat::Tuple(parts, span) => {
            let parts = parts.iter().map(|p| pattern_exp(ast, p)).collect::<Option<Vec<_>>>()?;
            Some(ast.add(Exp::Tuple(parts), *span))
        }
        Pat::Record(fields, span) => {
            let fields =
                fields.iter().map(|(n, p)| Some((n.clone(), pattern_exp(ast, p)?))).collect::<Option<Vec<_>>>()?;
            Some(ast.add(Exp::Record(fields), *span))
        }
        Pat::Ascribe(inner, _) => pattern_exp(ast, inner),
        Pat::Wild(_) | Pat::Lit(..) | Pat::Constr(..) => None,
    }
}
