//! Errors in values that are set or shown.

use pendula_isa::diagnostic::plural;
use pendula_isa::types::Ty;

use crate::state::arrays;

/// Why a value cannot be set or shown.
#[derive(Debug, thiserror::Error)]
pub enum ValueError {
    /// The text is not `name=value`.
    #[error("`{0}` is not `name=value`")]
    Syntax(String),
    /// There is no such register or data symbol.
    #[error("there is no register or data symbol `{name}`{}", nearest(.known))]
    Unknown {
        /// The name.
        name: String,
        /// The data symbols that exist.
        known: Vec<String>,
    },
    /// The index is past the end.
    #[error("`{name}` has {len} {}, counted from 0; there is no `{name}[{index}]`", if *.len == 1 { "word" } else { "words" })]
    Index {
        /// The symbol.
        name: String,
        /// Its length.
        len: u64,
        /// The index.
        index: u64,
    },
    /// The brackets hold something other than an index.
    #[error("`{0}`: an index is a whole number, such as 0")]
    NoIndex(String),
    /// The number of values differs from the number of words.
    #[error("`{name}` has {}, {found} {} given", plural(*.len, "word"), if *.found == 1 { "value is" } else { "values are" })]
    Length {
        /// The symbol.
        name: String,
        /// Its length.
        len: u64,
        /// The number of values.
        found: usize,
    },
    /// The file has more values than there are words.
    #[error("`{name}` has {}, {path} holds more values", plural(*.len, "word"))]
    TooMany {
        /// The symbol.
        name: String,
        /// Its length.
        len: u64,
        /// The file.
        path: String,
    },
    /// The value is not a number of the type.
    #[error("`{text}` is not a value for `{name}`, which is read as {}{}", .ty.name(), .why)]
    Number {
        /// The symbol or register.
        name: String,
        /// The value as given.
        text: String,
        /// The type.
        ty: Ty,
        /// The reason, if more can be said.
        why: String,
    },
    /// The place is `r0`, which cannot be set.
    #[error("r0 always reads 0")]
    Zero,
    /// The address is beyond the address space of PISA.
    #[error("there is no cell [{0}]: addresses are 0 to 2^32-1")]
    NoCell(u64),
    /// The cell of PISA holds an instruction.
    #[error("there is an instruction at [{0}]")]
    Instruction(u32),
    /// The name is not a variable of the Janus program.
    #[error("there is no variable `{name}`{}", variables(.known))]
    NoVariable {
        /// The name.
        name: String,
        /// The variables that exist.
        known: Vec<String>,
    },
    /// The value does not fit a variable with named parts.
    #[error("`{name}` has the parts {}: {why}", .parts.join(", "))]
    NotParts {
        /// The variable.
        name: String,
        /// Its parts.
        parts: Vec<String>,
        /// What is wrong.
        why: String,
    },
    /// The indices are outside the array.
    #[error("there is no `{name}`: it is `{head}`, counted from 0")]
    Outside {
        /// The variable with the indices.
        name: String,
        /// The variable with its sizes.
        head: String,
    },
    /// The array has no such element; its elements are counted from 1.
    #[error("there is no `{name}`: {why}")]
    NoElement {
        /// The element.
        name: String,
        /// The reason.
        why: String,
    },
    /// The brackets hold something other than an index, in a source that counts elements from 1.
    #[error("`{0}`: an index is a whole number, such as 1, of a matrix one for each dimension, `[1,1]`")]
    NoIndexFromOne(String),
    /// The name stands for several words that have names of their own.
    #[error("`{name}` has several parts: name one of {}", .parts.join(", "))]
    Parts {
        /// The name.
        name: String,
        /// The parts.
        parts: Vec<String>,
    },
    /// The name is that of a number on a stack.
    #[error("`{0}` is a stack, which has no elements by number: it is set and shown as a whole, `{0}=<2, 1]`")]
    OnStack(String),
    /// The array file is invalid.
    #[error(transparent)]
    Array(#[from] arrays::ArrayError),
}

fn nearest(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!("; the data symbols are {}", known.join(", ")) }
}

fn variables(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!("; the variables are {}", known.join(", ")) }
}

/// The error for a text that is not a number of the type.
pub(super) fn bad(name: &str, text: String, ty: Ty, why: String) -> ValueError {
    ValueError::Number { name: name.to_string(), text, ty, why }
}
