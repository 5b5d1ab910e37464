//! The names in scope at a point of a function, and which of them are deallocated.

use std::ops::Range;

use super::value::Value;
use crate::nil::ast::{self, Span};

/// How a name was introduced.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// A parameter.
    Param,
    /// An allocated variable, with its initial value.
    Local(Box<ast::Expr>),
    /// The variable of a `for`.
    Loop,
    /// Another name for a value.
    Alias,
    /// What a variable that has no value any more gave away: `x::∅ ↔ y`.
    Moved,
}

/// A name and its meaning.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Binding {
    pub(super) name: String,
    pub(super) value: Value,
    pub(super) kind: Kind,
    pub(super) span: Span,
    /// Where it was deallocated.
    pub(super) ended: Option<Span>,
}

/// Names in nested scopes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Scopes {
    bindings: Vec<Binding>,
    /// The index of the first name of each scope.
    starts: Vec<usize>,
}

impl Scopes {
    pub(super) fn open(&mut self) {
        self.starts.push(self.bindings.len());
    }

    /// Closes the innermost scope.
    pub(super) fn close(&mut self) {
        if let Some(start) = self.starts.pop() {
            self.bindings.truncate(start);
        }
    }

    /// The indices of the names of the innermost scope.
    pub(super) fn live(&self) -> Range<usize> {
        self.starts.last().copied().unwrap_or(0)..self.bindings.len()
    }

    pub(super) fn len(&self) -> usize {
        self.bindings.len()
    }

    pub(super) fn get(&self, n: usize) -> Option<&Binding> {
        self.bindings.get(n)
    }

    pub(super) fn get_mut(&mut self, n: usize) -> Option<&mut Binding> {
        self.bindings.get_mut(n)
    }

    /// The index of the binding of a name: the last live one, or the last deallocated one if none is live.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let last = |live: bool| self.bindings.iter().rposition(|b| b.name == name && b.ended.is_none() == live);
        last(true).or_else(|| last(false))
    }

    pub(super) fn add(&mut self, name: &str, value: Value, kind: Kind, span: &Span) {
        self.bindings.push(Binding { name: name.to_string(), value, kind, span: span.clone(), ended: None });
    }

    /// The values of all names: an exchange may give a name other places.
    pub(super) fn values(&self) -> Vec<Value> {
        self.bindings.iter().map(|b| b.value.clone()).collect()
    }

    pub(super) fn set_values(&mut self, values: &[Value]) {
        for (b, value) in self.bindings.iter_mut().zip(values) {
            b.value.clone_from(value);
        }
    }

    /// Calls `f` with every binding.
    pub(super) fn each(&mut self, f: impl FnMut(&mut Binding)) {
        self.bindings.iter_mut().for_each(f);
    }

    /// Where each name was deallocated.
    pub(super) fn ended(&self) -> Vec<Option<Span>> {
        self.bindings.iter().map(|b| b.ended.clone()).collect()
    }

    pub(super) fn set_ended(&mut self, ended: &[Option<Span>]) {
        for (b, e) in self.bindings.iter_mut().zip(ended) {
            b.ended.clone_from(e);
        }
    }
}
