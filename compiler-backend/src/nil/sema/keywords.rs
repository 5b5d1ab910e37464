//! The keywords of calls.

use std::collections::HashMap;

use super::body::Body;
use super::call::is_constant;
use super::value::Value;
use super::{Done, Stop};
use crate::nil::ast::{self, Span};
use crate::nil::codes;
use crate::nil::types::Type;

/// A keyword of a call: its name, and its value if it is known, or else its expression.
type Keyword<'e> = (ast::Name, Option<Value>, Option<&'e ast::Expr>);

impl Body<'_, '_> {
    /// The keywords of a call. What a function does with a keyword, the caller does not see: one that is changed is lent.
    pub(super) fn keywords_lent(
        &mut self,
        n: usize,
        passed: &[(ast::Name, ast::Expr)],
        values: &[Value],
        span: &Span,
    ) -> Done<Vec<(String, Value)>> {
        let mut keys = self.keywords(n, passed, values, span)?;
        for (name, v) in &mut keys {
            if is_constant(v) && self.s.changes_keyword(n, name) {
                *v = self.lent(v.clone(), span)?;
            }
        }
        Ok(keys)
    }

    /// The defaults of the last parameters, for which a call has no arguments.
    pub(super) fn add_defaults(
        &mut self,
        n: usize,
        bound: &HashMap<String, Type>,
        (values, types, spans): (&mut Vec<Value>, &mut Vec<Type>, &mut Vec<Span>),
        span: &Span,
    ) -> Done<()> {
        let f = self.s.definitions[n].ast;
        for param in f.params.iter().skip(values.len()).filter(|p| !p.rest) {
            let Some(default) = &param.default else { return Err(Stop) };
            let value = self.default(n, values, default)?;
            let written = param.ty.as_ref().and_then(|e| super::names(&self.s.structs, bound).resolve(e).ok());
            types.push(written.or_else(|| value.type_of()).ok_or(Stop)?);
            values.push(value);
            spans.push(span.clone());
        }
        Ok(())
    }

    /// The keyword arguments of a call, with the defaults of the missing ones.
    fn keywords(
        &mut self,
        n: usize,
        passed: &[(ast::Name, ast::Expr)],
        values: &[Value],
        span: &Span,
    ) -> Done<Vec<(String, Value)>> {
        let f = self.s.definitions[n].ast;
        let all = self.spread_keywords(passed)?;
        let rest = f.keywords.last().filter(|k| k.rest);
        for (name, _, _) in &all {
            if rest.is_none() && !f.keywords.iter().any(|k| k.name.text == name.text) {
                let message = format!("`{}` has no keyword `{}`", f.name.text, name.text);
                return self.fail(&name.span, codes::ARGUMENTS, message, "leave it out");
            }
        }
        let mut out = Vec::new();
        for k in f.keywords.iter().filter(|k| !k.rest) {
            let given = all.iter().find(|(name, ..)| name.text == k.name.text);
            let value = match (given, &k.default) {
                (Some((_, Some(value), _)), _) => value.clone(),
                (Some((_, None, Some(e))), _) => self.eval(e)?,
                (None, Some(e)) => self.default(n, values, e)?,
                (_, None) | (Some((_, None, None)), _) => {
                    let message = format!("the keyword `{}` of `{}` is missing", k.name.text, f.name.text);
                    return self.fail(span, codes::ARGUMENTS, message, "give it after a semicolon");
                }
            };
            out.push((k.name.text.clone(), value));
        }
        // `; k...` takes the others, under names of their own.
        let Some(rest) = rest else { return Ok(out) };
        for (name, value, e) in all {
            if f.keywords.iter().any(|k| !k.rest && k.name.text == name.text) {
                continue;
            }
            let value = match (value, e) {
                (Some(value), _) => value,
                (None, Some(e)) => self.eval(e)?,
                (None, None) => return Err(Stop),
            };
            out.push((format!("{}.{}", rest.name.text, name.text), value));
        }
        Ok(out)
    }

    /// The value of a keyword's default: its names are those of the definition's parameters, and not of this function.
    fn default(&mut self, n: usize, values: &[Value], e: &ast::Expr) -> Done<Value> {
        let (params, file) = (&self.s.definitions[n].ast.params, self.s.definitions[n].file);
        let outer = (std::mem::take(&mut self.scopes), std::mem::replace(&mut self.file, file));
        self.scopes.open();
        for (param, value) in params.iter().zip(values).filter(|(p, _)| !p.rest) {
            self.alias(&param.name, value.clone());
        }
        let value = self.eval(e);
        (self.scopes, self.file) = outer;
        value
    }

    /// The keywords of a call: those of `; k...` are what this function took with `; k...`.
    fn spread_keywords<'e>(&mut self, passed: &'e [(ast::Name, ast::Expr)]) -> Done<Vec<Keyword<'e>>> {
        let mut all: Vec<Keyword<'e>> = Vec::new();
        for (name, e) in passed {
            let mut add = |of: Keyword<'e>| {
                // A later one takes the place of an earlier one.
                all.retain(|(name, ..)| name.text != of.0.text);
                all.push(of);
            };
            if name.text != "..." {
                add((name.clone(), None, Some(e)));
                continue;
            }
            let ast::ExprKind::Name(of) = &e.kind else {
                let help = "write the keywords one by one";
                return self.fail(&e.span, codes::SPLAT, "only what `; k...` took can be passed on like this", help);
            };
            if self.scopes.find(of).is_none() {
                let message = format!("there is no `{of}` here");
                return self.fail(&e.span, codes::UNKNOWN, message, "take the keywords of this function with `; k...`");
            }
            let prefix = format!("{of}.");
            for n in 0..self.scopes.len() {
                let Some(b) = self.scopes.get(n) else { continue };
                if let Some(key) = b.name.strip_prefix(&prefix) {
                    let name = ast::Name { text: key.to_string(), span: e.span.clone() };
                    add((name, Some(b.value.clone()), None));
                }
            }
        }
        Ok(all)
    }
}
