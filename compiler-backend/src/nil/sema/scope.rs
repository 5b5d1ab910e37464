//! What names mean at a point of a function, and which have ended.

use std::ops::Range;

use super::value::Value;
use crate::nil::ast::{self, Span};

/// How a name came to be.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// A parameter.
    Param,
    /// A variable that was allocated, with the value that it began with.
    Local(Box<ast::Expr>),
    /// The variable of a `for`.
    Loop,
    /// Another name for something.
    Alias,
}

/// What a name means.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Binding {
    pub(super) name: String,
    pub(super) value: Value,
    pub(super) kind: Kind,
    pub(super) span: Span,
    /// Where it ended.
    pub(super) ended: Option<Span>,
}

/// Names in nested scopes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Scopes {
    bindings: Vec<Binding>,
    /// Where each scope begins.
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

    /// The names of the innermost scope that have not ended, as indices.
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

    /// Where the name stands that `name` means: the last one; a live one before one that has ended.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let last = |live: bool| self.bindings.iter().rposition(|b| b.name == name && b.ended.is_none() == live);
        last(true).or_else(|| last(false))
    }

    pub(super) fn add(&mut self, name: &str, value: Value, kind: Kind, span: &Span) {
        self.bindings.push(Binding { name: name.to_string(), value, kind, span: span.clone(), ended: None });
    }

    /// Which names have ended, and where.
    pub(super) fn ended(&self) -> Vec<Option<Span>> {
        self.bindings.iter().map(|b| b.ended.clone()).collect()
    }

    pub(super) fn set_ended(&mut self, ended: &[Option<Span>]) {
        for (b, e) in self.bindings.iter_mut().zip(ended) {
            b.ended.clone_from(e);
        }
    }
}
