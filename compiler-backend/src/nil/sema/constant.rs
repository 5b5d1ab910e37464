//! Constants: arithmetic on numbers and on earlier constants. Each constant is computed once for each type that untyped
//! numbers take, after the constants in its value. So neither a long chain of constants nor a constant that is named
//! twice takes more than linear time.

use std::collections::HashSet;

use pendula_isa::diagnostic::Place as Source;

use super::body::Body;
use super::value::{ScalarExpr, Value};
use super::{Done, Stop};
use crate::nil::ast::{Expr, ExprKind, Span, inside};
use crate::nil::codes;

impl<'a> Body<'_, 'a> {
    /// Whether the host's code gives the name of a constant another meaning, perhaps around this function.
    pub(super) fn is_rebound(&self, name: &str) -> bool {
        !self.scope.is_empty()
            && self.s.inputs.get(self.file as usize).is_some_and(|input| input.tree.rebound.contains(name))
    }

    /// The constant that a name stands for here: that of the innermost scope of the host that has one.
    pub(super) fn constant_name(&self, name: &str) -> Option<&'a str> {
        let key = |name: &str| self.s.constants.get_key_value(name).map(|(&key, _)| key);
        let of_block = self.scope.iter().rev().find_map(|at| key(&inside(name, *at)));
        of_block.or_else(|| key(name).filter(|_| !self.is_rebound(name)))
    }

    /// The value of a constant.
    pub(super) fn constant(&mut self, name: &'a str, span: &Span) -> Done<Value> {
        let expected_type = self.expected_type;
        let mut todo: Vec<(&'a str, bool)> = vec![(name, false)];
        // The constants whose operands are not computed yet, and those whose values depend on the current function.
        let (mut waiting, mut passing) = (HashSet::new(), Vec::new());
        let mut done = Ok(());
        while let Some((name, pass)) = todo.pop() {
            let Some(&(file, value)) = self.s.constants.get(name) else { continue };
            if pass {
                waiting.remove(name);
                let found = self.constant_value(name, file, value);
                if found.as_ref().is_ok_and(reads) {
                    passing.push(name);
                }
                self.s.values.insert((name, expected_type), found);
                continue;
            }
            if self.s.values.contains_key(&(name, expected_type)) {
                continue;
            }
            // A constant is made of earlier ones, unless two constants have the same name.
            if !waiting.insert(name) {
                let message = format!("the constant `{name}` is made of itself");
                let help = "it is defined twice: give one of them another name";
                done = self.fail(span, codes::TWICE, message, help);
                break;
            }
            todo.push((name, true));
            constants_in(value, &mut |part| {
                if let Some((&part, _)) = self.s.constants.get_key_value(part)
                    && !self.s.values.contains_key(&(part, expected_type))
                {
                    todo.push((part, false));
                }
            });
        }
        let found = self.s.values.get(&(name, expected_type)).cloned().unwrap_or(Err(Stop));
        for name in passing {
            self.s.values.remove(&(name, expected_type));
        }
        done.and(found)
    }

    /// A value with its numbers folded.
    fn folded(&self, value: Value) -> Value {
        let all = |parts: Vec<Value>| parts.into_iter().map(|part| self.folded(part)).collect();
        match value {
            Value::Num(x, ty) => Value::Num(self.fold(x), ty),
            Value::Tuple(parts) => Value::Tuple(all(parts)),
            Value::Elements(parts) => Value::Elements(all(parts)),
            other => other,
        }
    }

    /// Computes a constant whose operands are known. Local names of the current function are not visible in it.
    fn constant_value(&mut self, name: &str, file: u16, value: &Expr) -> Done<Value> {
        self.s.steps += 1;
        let what = || format!("the constant `{name}`");
        let budget = self.s.settings.budget;
        let mut within = budget.long(self.s.steps, what);
        let mut found = Err(Stop);
        if within.is_ok() {
            let outer = (std::mem::replace(&mut self.file, file), std::mem::take(&mut self.scopes));
            found = self.eval(value);
            (self.file, self.scopes) = outer;
            found = found.map(|value| self.folded(value));
            if let Ok(v) = &found {
                let (nodes, depth) = extent(v);
                within = budget.parts(nodes, what).and_then(|()| budget.nested(depth, what));
            }
        }
        within.map_err(|exceeded| {
            let place = Source { file, span: value.span.clone() };
            self.s.diagnostics.push(exceeded.diagnostic().at(place, ""));
            Stop
        })?;
        found
    }
}

/// Whether a value reads a place of the current function.
fn reads(v: &Value) -> bool {
    let mut any = false;
    v.places(&mut |_| any = true);
    any
}

/// The number of parts of a number, and their nesting depth. Constants are numbers.
fn extent(v: &Value) -> (u64, u32) {
    let mut parts = Vec::new();
    v.scalars(&mut |x| parts.push(x));
    if let [x] = parts[..] { extent_of(x) } else { around(parts) }
}

fn extent_of(x: &ScalarExpr) -> (u64, u32) {
    around(x.parts())
}

fn around<'x>(parts: impl IntoIterator<Item = &'x ScalarExpr>) -> (u64, u32) {
    let all = parts.into_iter().map(extent_of);
    all.fold((1, 1), |(nodes, depth), (n, d)| (n.saturating_add(nodes), depth.max(d + 1)))
}

/// Calls `f` with the names in the value of a constant, which is arithmetic.
fn constants_in<'a>(e: &'a Expr, f: &mut impl FnMut(&'a str)) {
    if let ExprKind::Name(name) = &e.kind {
        f(name);
    }
    e.parts().into_iter().for_each(|part| constants_in(part, f));
}
