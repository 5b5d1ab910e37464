//! Functions of the host that are one expression, in the expressions that call them.

use super::Done;
use super::body::Body;
use super::value::Value;
use crate::nil::ast::{self, Span};
use crate::nil::codes;
use crate::nil::types::Type;

impl<'a> Body<'_, 'a> {
    /// The value of a function of the host that is one expression.
    pub(super) fn host_value(
        &mut self,
        name: &str,
        values: &[Value],
        keywords: &[(ast::Name, ast::Expr)],
        span: &Span,
    ) -> Done<Option<Value>> {
        /// The greatest depth of calls among them.
        const MOST: usize = 64;
        let types: Option<Vec<Type>> = values.iter().map(Value::type_of).collect();
        let (Some(all), Some(types)) = (self.s.hosts.get(name).cloned(), types) else { return Ok(None) };
        // The later definition takes the place of the earlier one.
        let fits = |(file, f): &(u16, &'a ast::HostFunction)| {
            let mut names = super::names(&self.s.structs, &std::collections::HashMap::new());
            let one = |(p, t): (&ast::Param, &Type)| {
                p.ty.as_ref().is_none_or(|e| names.accepts(e, t, &f.type_params).is_some())
            };
            let missing = f.params.get(types.len()..)?;
            let fits = missing.iter().all(|p| p.default.is_some()) && f.params.iter().zip(&types).all(one);
            fits.then_some((*file, *f, names.bound))
        };
        let Some((file, f, bound)) = all.iter().rev().find_map(fits) else { return Ok(None) };
        if self.within >= MOST {
            let message = format!("`{name}` calls itself without end, or more than {MOST} deep");
            return self.fail(span, codes::FUNCTION, message, "make it an `@i function` with a loop");
        }
        let values = values.iter().map(|v| self.shared(v.clone())).collect::<Done<Vec<Value>>>()?;
        let mut given = Vec::new();
        for (key, e) in keywords {
            if !f.keywords.iter().any(|k| k.name.text == key.text) {
                let message = format!("`{name}` has no keyword `{}`", key.text);
                return self.fail(&key.span, codes::ARGUMENTS, message, "leave it out");
            }
            let value = self.eval(e)?;
            given.push((key.text.as_str(), self.shared(value)?));
        }
        // It knows its parameters, and nothing of the function that calls it.
        let outer = (
            std::mem::take(&mut self.scopes),
            std::mem::replace(&mut self.types, bound),
            std::mem::replace(&mut self.file, file),
            std::mem::replace(&mut self.scope, &f.scope),
        );
        self.within += 1;
        self.scopes.open();
        let value = self.host_body(f, values, &given, span);
        self.within -= 1;
        (self.scopes, self.types, self.file, self.scope) = outer;
        value.map(Some)
    }

    /// The same, with the scopes of the function.
    fn host_body(
        &mut self,
        f: &ast::HostFunction,
        values: Vec<Value>,
        keywords: &[(&str, Value)],
        span: &Span,
    ) -> Done<Value> {
        let mut values = values.into_iter();
        let params = f.params.iter().map(|p| (p, false)).chain(f.keywords.iter().map(|p| (p, true)));
        for (param, keyword) in params {
            let name = param.name.text.as_str();
            let own = if keyword {
                // Of two with one name, the later one counts.
                keywords.iter().rev().find(|(key, _)| *key == name).map(|(_, v)| v.clone())
            } else {
                values.next()
            };
            let value = match (own, &param.default) {
                (Some(value), _) => value,
                (None, Some(default)) => {
                    let value = self.eval(default)?;
                    self.shared(value)?
                }
                (None, None) => {
                    let message = format!("the keyword `{name}` of `{}` is missing", f.name.text);
                    return self.fail(span, codes::ARGUMENTS, message, "give it after a semicolon");
                }
            };
            self.alias(&param.name, value);
        }
        self.eval(&f.body)
    }
}
