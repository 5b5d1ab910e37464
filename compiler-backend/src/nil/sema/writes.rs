//! Which parameters functions change: propagated from callees to callers, and predicted for functions that are still being compiled.

use std::collections::HashMap;

use super::{Definition, Sema, codes, predict};
use crate::ir::FunctionId;
use crate::nil::ast::AssignOp;

impl Sema<'_> {
    /// Computes which parameters functions change, and checks the arguments of their calls.
    pub(super) fn check_writes(&mut self) {
        self.written.clone_from(&self.direct_writes);
        while self.propagate_writes() {}
        for (f, written) in self.program.functions.iter_mut().zip(&self.written) {
            for (param, written) in f.params.iter_mut().zip(&written.params) {
                param.written = *written;
            }
        }
        let mut found = Vec::new();
        for call in &self.calls {
            let (facts, written) = (&self.facts[call.callee.0 as usize], &self.written[call.callee.0 as usize]);
            for (param, arg) in facts.params.iter().zip(&call.args) {
                let changed = written.params.get(param.words.clone()).is_some_and(|w| w.contains(&true));
                if arg.temporary && changed {
                    found.push((call.file, arg.span.clone(), param.name.clone(), call.callee));
                }
            }
        }
        for (file, span, param, callee) in found {
            let name = self.program.functions[callee.0 as usize].name.clone();
            self.error(
                file,
                &span,
                codes::TEMPORARY,
                format!("`{name}` changes its argument `{param}`, which is not a variable here"),
            )
            .help = Some("give it a variable, an element or a field; a computed value cannot be changed".into());
        }
    }

    /// Predicts which parameters a function changes that is still being compiled.
    pub(super) fn predict(&mut self, n: usize, fun: FunctionId) {
        let at = fun.0 as usize;
        if self.facts[at].done || self.facts[at].predicted {
            return;
        }
        let Some(changes) =
            predicted(&mut self.predictions, &self.definitions, &self.by_name, &self.by_instruction).get(n)
        else {
            return;
        };
        let written = &mut self.written[at];
        for p in &self.facts[at].params {
            if changes.has(&p.name)
                && let Some(words) = written.params.get_mut(p.words.clone())
            {
                words.fill(true);
            }
            for r in p.regions.iter().filter(|_| changes.has_array(&p.name)) {
                if let Some(region) = written.regions.get_mut(r.0 as usize) {
                    *region = true;
                }
            }
        }
        self.facts[at].predicted = true;
    }

    /// Whether a definition may change a keyword.
    pub(super) fn changes_keyword(&mut self, n: usize, name: &str) -> bool {
        let all = predicted(&mut self.predictions, &self.definitions, &self.by_name, &self.by_instruction);
        all.get(n).is_some_and(|changes| changes.has(name))
    }

    /// Propagates writes of callees to callers once. Gives whether anything is new.
    fn propagate_writes(&mut self) -> bool {
        (0..self.calls.len()).fold(false, |new, n| self.propagate_call_writes(n) | new)
    }

    /// Propagates the writes of the callee of one call. Gives whether anything is new.
    pub(super) fn propagate_call_writes(&mut self, n: usize) -> bool {
        let call = &self.calls[n];
        let facts = &self.facts[call.callee.0 as usize];
        let callee = self.written[call.callee.0 as usize].clone();
        let caller = &mut self.written[call.caller.0 as usize];
        let mut new = false;
        for (param, arg) in facts.params.iter().zip(&call.args) {
            let words = callee.params.get(param.words.clone()).unwrap_or(&[]);
            for (written, var) in words.iter().zip(&arg.vars) {
                if let (true, Some(var)) = (*written, var)
                    && let Some(caller_writes) = caller.params.get_mut(var.0 as usize)
                {
                    new |= !std::mem::replace(caller_writes, true);
                }
            }
            let changed = words.contains(&true)
                || param.regions.iter().any(|r| callee.regions.get(r.0 as usize).copied().unwrap_or(false));
            for r in arg.regions.iter().filter(|_| changed) {
                if let Some(caller_writes) = caller.regions.get_mut(r.0 as usize) {
                    new |= !std::mem::replace(caller_writes, true);
                }
            }
        }
        new
    }
}

/// The predicted changes of each definition, which are found once.
fn predicted<'p, 'a>(
    known: &'p mut Option<Vec<predict::Changes<'a>>>,
    definitions: &[Definition<'a>],
    by_name: &HashMap<String, Vec<usize>>,
    by_instruction: &HashMap<(AssignOp, &'a str), Vec<usize>>,
) -> &'p [predict::Changes<'a>] {
    known.get_or_insert_with(|| predict::changes(&predict::Index { definitions, by_name, by_instruction }))
}
