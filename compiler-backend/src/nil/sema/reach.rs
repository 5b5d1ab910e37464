//! Functions that the entry point does not reach: if the types of their parameters are written, they are compiled for
//! the errors in them, and then dropped.

use std::collections::HashMap;

use pendula_isa::diagnostic::{Diagnostic, Severity};

use super::value::Value;
use super::{ArgKey, Sema};
use crate::nil::ast;
use crate::nil::types::Type;
use crate::nil::{codes, is_host};

/// The codes of errors for functions that use features of the host language.
const HOST: &[&str] = &[codes::UNSUPPORTED, codes::FUNCTION, codes::TYPE_NAME];

/// The types of a function's parameters, and the values of its keywords by name.
type Signature = (Vec<Type>, Vec<(String, Value)>);

/// The size of the program after the entry point was compiled.
pub(super) struct Reached {
    functions: usize,
    texts: usize,
    reasons: usize,
    stack: u64,
}

impl Sema<'_> {
    /// The current size of the program.
    pub(super) fn reached(&self) -> Reached {
        Reached {
            functions: self.program.functions.len(),
            texts: self.program.texts.len(),
            reasons: self.program.reasons.len(),
            stack: self.program.stack,
        }
    }

    /// Drops what was added later. Nothing before it calls it.
    pub(super) fn keep(&mut self, reached: &Reached) {
        self.program.functions.truncate(reached.functions);
        self.program.texts.truncate(reached.texts);
        self.program.reasons.truncate(reached.reasons);
        self.program.stack = reached.stack;
    }

    /// Compiles the program's functions that have not been compiled. Features of the host language in such a function
    /// are warnings, because the function is not used.
    pub(super) fn check_others(&mut self) {
        for n in 0..self.definitions.len() {
            let d = &self.definitions[n];
            if d.library || self.compiled.contains(&n) || d.ast.unread.is_some() {
                continue;
            }
            let host = !self.settings.strict && self.inputs.get(d.file as usize).is_some_and(|i| is_host(&i.name));
            let Some((types, keywords)) = self.concrete(self.definitions[n].ast) else { continue };
            let before = self.diagnostics.len();
            let key = entry_key(&types, &keywords);
            self.compile(n, key, types, keywords, (HashMap::new(), Vec::new()));
            if host {
                self.leave_out(n, before);
                continue;
            }
            let new = self.diagnostics.get_mut(before..).unwrap_or_default();
            if new.iter().any(|d| d.severity == Severity::Error && HOST.contains(&d.code)) {
                new.iter_mut().for_each(|d| d.severity = d.severity.min(Severity::Warning));
            }
        }
    }

    /// In a file of the host language, one warning takes the place of the errors in a function that is not used.
    fn leave_out(&mut self, n: usize, before: usize) {
        let new = self.diagnostics.split_off(before);
        let Some(first) = new.iter().find(|d| d.severity == Severity::Error) else {
            self.diagnostics.extend(new);
            return;
        };
        let message = format!("`{}` cannot be used: {}", self.definitions[n].ast.name.text, first.message);
        self.diagnostics.push(Diagnostic { severity: Severity::Warning, message, ..first.clone() });
    }

    /// The types of a function's parameters and the values of its keywords, if all of them are written.
    fn concrete(&self, f: &ast::Function) -> Option<Signature> {
        if !f.type_params.is_empty() {
            return None;
        }
        let names = super::names(&self.structs, &HashMap::new());
        let type_of = |p: &ast::Param| {
            let mut ty = [names.resolve(p.ty.as_ref()?).ok()?];
            self.growing_candidates(f, &p.name.text, &mut ty);
            let [ty] = ty;
            Some(ty)
        };
        let types = f.params.iter().map(type_of).collect::<Option<_>>()?;
        let keyword = |k: &ast::Param| Some((k.name.text.clone(), super::argument::literal(k.default.as_ref()?)?));
        Some((types, f.keywords.iter().map(keyword).collect::<Option<_>>()?))
    }
}

/// The key of the instance for these argument types and keyword values.
pub(super) fn entry_key(types: &[Type], keywords: &[(String, Value)]) -> Vec<ArgKey> {
    let types = types.iter().cloned().map(ArgKey::Type);
    types.chain(keywords.iter().map(|(_, v)| ArgKey::Literal(format!("{v:?}")))).collect()
}
