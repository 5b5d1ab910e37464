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
    /// How many bits an `int` has.
    pub int_bits: u8,
    /// Whether upper and lower case are the same in its name.
    pub any_case: bool,
}

impl Variable {
    /// Whether it goes by a name.
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name || (self.any_case && self.name.eq_ignore_ascii_case(name))
    }

    /// The type of its numbers.
    fn int(&self) -> IntTy {
        match &self.shape {
            Shape::Int(ty) | Shape::Array(ty, _) => *ty,
            Shape::Stack => IntTy::Int,
        }
    }

    /// The sizes of an array.
    pub fn dims(&self) -> &[u64] {
        match &self.shape {
            Shape::Array(_, dims) => dims,
            Shape::Int(_) | Shape::Stack => &[],
        }
    }

    /// The least and the greatest of its numbers.
    pub fn range(&self) -> (i128, i128) {
        let (bits, signed) = match self.int() {
            IntTy::Int => (self.int_bits, true),
            IntTy::Sized { bits, signed } => (bits, signed),
        };
        if signed { (-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
    }

    /// What stands at these indices of an array, a row where they are fewer than its dimensions, and how many numbers stand before it; `None`
    /// where there is nothing.
    pub fn at(&self, indices: &[u64]) -> Option<(Variable, u64)> {
        let (Shape::Array(ty, dims), [_, ..]) = (&self.shape, indices) else { return None };
        let (outer, rest) = dims.split_at_checked(indices.len())?;
        let inside = indices.iter().zip(outer).all(|(i, n)| i < n);
        let row = indices.iter().zip(outer).fold(0, |at, (i, n)| at * n + i);
        let shape = if rest.is_empty() { Shape::Int(*ty) } else { Shape::Array(*ty, rest.to_vec()) };
        let name = indices.iter().fold(self.name.clone(), |name, i| format!("{name}[{i}]"));
        let size: u64 = rest.iter().product();
        inside.then(|| (Variable { name, shape, ..self.clone() }, row * size))
    }

    /// The name as it is shown: with an array's sizes.
    pub fn head(&self) -> String {
        let mut out = self.name.clone();
        for n in self.dims() {
            let _ = write!(out, "[{n}]");
        }
        out
    }

    /// How its words are read: what is unsigned has a sign only in the machine.
    pub fn number(&self, word: u64) -> String {
        match self.int() {
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
