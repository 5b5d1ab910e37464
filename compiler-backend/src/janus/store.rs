//! The variables of `main`, as they are shown after a run.

use std::fmt::Write as _;

use super::ast::IntTy;

/// The kind of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// An integer.
    Int(IntTy),
    /// An array with these sizes.
    Array(IntTy, Vec<u64>),
    /// A stack: the number of its elements, and the elements with the top last.
    Stack,
}

/// A variable of `main`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name in the program.
    pub name: String,
    /// The data symbol of the words.
    pub symbol: String,
    /// The kind.
    pub shape: Shape,
    /// The number of bits of an `int`.
    pub int_bits: u8,
    /// Whether case does not matter in the name.
    pub any_case: bool,
}

impl Variable {
    /// Whether a name means this variable.
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name || (self.any_case && self.name.eq_ignore_ascii_case(name))
    }

    /// The type of the numbers.
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

    /// The least and the greatest of the numbers.
    pub fn range(&self) -> (i128, i128) {
        let (bits, signed) = match self.int() {
            IntTy::Int => (self.int_bits, true),
            IntTy::Sized { bits, signed } => (bits, signed),
        };
        if signed { (-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
    }

    /// The shape of the element or row at these indices of an array, and the number of elements before it; `None` if
    /// there is none.
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

    /// The name as it is shown, with the sizes of an array.
    pub fn head(&self) -> String {
        let mut out = self.name.clone();
        for n in self.dims() {
            let _ = write!(out, "[{n}]");
        }
        out
    }

    /// The type of a word for printing: the machine prints all words as signed.
    pub fn number(&self, word: u64) -> String {
        match self.int() {
            IntTy::Sized { signed: false, .. } => word.to_string(),
            IntTy::Int | IntTy::Sized { .. } => word.cast_signed().to_string(),
        }
    }

    /// The visible numbers: for a stack the elements, the top first.
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
