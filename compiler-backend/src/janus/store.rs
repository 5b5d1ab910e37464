//! The variables of `main`, as a run hands them back.

use std::fmt::Write as _;

use super::ast::IntTy;

/// What a variable is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// An integer.
    Int(IntTy),
    /// An array with these sizes.
    Array(IntTy, Vec<u64>),
    /// A stack: how many numbers are on it, and these, the top last.
    Stack,
}

/// A variable of `main`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name in the program.
    pub name: String,
    /// The data symbol of its words.
    pub symbol: String,
    /// What it is.
    pub shape: Shape,
}

impl Variable {
    /// The name as it is shown: with an array's sizes.
    pub fn head(&self) -> String {
        let mut out = self.name.clone();
        if let Shape::Array(_, dims) = &self.shape {
            for n in dims {
                let _ = write!(out, "[{n}]");
            }
        }
        out
    }

    /// How its words are read: what is unsigned has a sign only in the machine.
    pub fn number(&self, word: u64) -> String {
        let ty = match &self.shape {
            Shape::Int(ty) | Shape::Array(ty, _) => *ty,
            Shape::Stack => IntTy::Int,
        };
        match ty {
            IntTy::Sized { signed: false, .. } => word.to_string(),
            IntTy::Int | IntTy::Sized { .. } => word.cast_signed().to_string(),
        }
    }

    /// The numbers that count: of a stack those on it, the top first.
    pub fn words(&self, words: &[u64]) -> Vec<u64> {
        match (&self.shape, words.split_first()) {
            (Shape::Stack, Some((count, words))) => {
                let n = usize::try_from(*count).map_or(words.len(), |n| n.min(words.len()));
                words[..n].iter().rev().copied().collect()
            }
            _ => words.to_vec(),
        }
    }

    /// The value as text: `5`, `{1, 2}`, `{{1, 2}, {3, 4}}`, `<2, 1]`, `nil`.
    pub fn text(&self, words: &[u64], number: impl Fn(u64) -> String) -> String {
        let list: Vec<String> = self.words(words).into_iter().map(number).collect();
        match &self.shape {
            Shape::Int(_) => list.concat(),
            Shape::Array(_, dims) => nested(dims, &list),
            Shape::Stack if list.is_empty() => "nil".to_string(),
            Shape::Stack => format!("<{}]", list.join(", ")),
        }
    }
}

fn nested(dims: &[u64], list: &[String]) -> String {
    match dims.split_first() {
        None => list.concat(),
        Some((n, rest)) => {
            let size = (list.len() / (*n).max(1) as usize).max(1);
            let parts: Vec<String> = list.chunks(size).map(|part| nested(rest, part)).collect();
            format!("{{{}}}", parts.join(", "))
        }
    }
}
