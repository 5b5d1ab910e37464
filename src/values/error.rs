//! Why a value cannot be set or shown.

use pendula_isa::diagnostic::plural;
use pendula_isa::types::Ty;

use crate::arrays;

/// Why a value cannot be set or shown.
#[derive(Debug, thiserror::Error)]
pub enum ValueError {
    /// Not `name=value`.
    #[error("`{0}` is not `name=value`")]
    Syntax(String),
    /// No such register or data symbol.
    #[error("there is no register or data symbol `{name}`{}", nearest(.known))]
    Unknown {
        /// The name.
        name: String,
        /// The data symbols that there are.
        known: Vec<String>,
    },
    /// An index past the end.
    #[error("`{name}` has {len} {}, counted from 0; there is no `{name}[{index}]`", if *.len == 1 { "word" } else { "words" })]
    Index {
        /// The symbol.
        name: String,
        /// Its length.
        len: u64,
        /// The index.
        index: u64,
    },
    /// Something else than an index in brackets.
    #[error("`{0}`: an index is a whole number, such as 0")]
    NoIndex(String),
    /// Another number of values than words.
    #[error("`{name}` has {}, {found} {} given", plural(*.len, "word"), if *.found == 1 { "value is" } else { "values are" })]
    Length {
        /// The symbol.
        name: String,
        /// Its length.
        len: u64,
        /// How many values.
        found: usize,
    },
    /// A file with more values than words.
    #[error("`{name}` has {}, {path} holds more values", plural(*.len, "word"))]
    TooMany {
        /// The symbol.
        name: String,
        /// Its length.
        len: u64,
        /// The file.
        path: String,
    },
    /// No number of the type.
    #[error("`{text}` is no value for `{name}`, which is read as {}{}", .ty.name(), .why)]
    Number {
        /// The symbol or register.
        name: String,
        /// The value as given.
        text: String,
        /// The type.
        ty: Ty,
        /// Why not, if more can be said.
        why: String,
    },
    /// `r0`.
    #[error("r0 always reads 0")]
    Zero,
    /// An address beyond those of PISA.
    #[error("there is no cell [{0}]: addresses are 0 to 2^32-1")]
    NoCell(u64),
    /// A cell of PISA that holds an instruction.
    #[error("there is an instruction at [{0}]")]
    Instruction(u32),
    /// What is no variable of a program in Janus.
    #[error("there is no variable `{name}`{}", variables(.known))]
    NoVariable {
        /// The name.
        name: String,
        /// The variables that there are.
        known: Vec<String>,
    },
    /// A value that does not fit a variable with parts of its own.
    #[error("`{name}` has the parts {}: {why}", .parts.join(", "))]
    NotParts {
        /// The variable.
        name: String,
        /// Its parts.
        parts: Vec<String>,
        /// What is wrong.
        why: String,
    },
    /// Indices that lead nowhere.
    #[error("there is no `{name}`: it is `{head}`, counted from 0")]
    Outside {
        /// The variable with the indices.
        name: String,
        /// The variable with its sizes.
        head: String,
    },
    /// An element that an array does not have, where they are counted from 1.
    #[error("there is no `{name}`: {why}")]
    NoElement {
        /// The element.
        name: String,
        /// Why not.
        why: String,
    },
    /// The same where they are counted from 1.
    #[error("`{0}`: an index is a whole number, such as 1, of a matrix one for each dimension, `[1,1]`")]
    NoIndexFromOne(String),
    /// What has several words with names of their own.
    #[error("`{name}` has several parts: name one of {}", .parts.join(", "))]
    Parts {
        /// The name.
        name: String,
        /// The parts.
        parts: Vec<String>,
    },
    /// A number on a stack.
    #[error("`{0}` is a stack, which has no elements by number: it is set and shown as a whole, `{0}=<2, 1]`")]
    OnStack(String),
    /// A bad array file.
    #[error(transparent)]
    Array(#[from] arrays::ArrayError),
}

fn nearest(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!("; the data symbols are {}", known.join(", ")) }
}

fn variables(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!("; the variables are {}", known.join(", ")) }
}

/// The error of a text that is not a number of the type.
pub(super) fn bad(name: &str, text: String, ty: Ty, why: String) -> ValueError {
    ValueError::Number { name: name.to_string(), text, ty, why }
}
