//! Programs of the representation as text, and back: [`parse`] reads what [`print()`] writes as the same program.
//!
//! ```text
//! program = "program" FORMAT { "stack" INT | "file" STRING | "text" STRING | "entry" name | function }
//! function = "fun" name [ "inline" ] [ loc ] "{" { declaration } { statement } "}"
//! declaration = ( "in" | "out" | "var" | "region" ) NAME ":" type | "params" "(" { name [ "!" ] } ")"
//! statement = place op function "(" operand { "," operand } ")" [ loc ]
//!     | "apply" [ "~" ] row "." type "(" operand { "," operand } ")" [ loc ]
//!     | ( "begin" | "end" ) name care [ loc ]
//!     | ( "array" | "unarray" ) name ":" type "[" operand "]" "in" name care [ loc ]
//!     | ( "call" | "uncall" ) name "(" [ operand { "," operand } ] ")" [ loc ]
//!     | "if" [ loc ] condition block [ "else" block ] "post" condition
//!     | "while" [ loc ] condition [ "first" block ] block "post" condition
//!     | "for" [ loc ] name "=" operand "to" operand "step" ( INT | [ "-" ] name ) block
//!     | "with" [ loc ] STRING block "do" block
//!     | ( "span" | "unspan" ) [ loc ] STRING block
//!     | "assert" ( "user" | "bounds" | "alias" | "shape" ) test [ loc ]
//!     | "show." type operand [ loc ]
//!     | "print" INT [ loc ]
//! block = "{" { statement } "}"
//! condition = [ "given" block ] test
//! test = operand cond "." type operand
//! op = "+=" | "-=" | "^=" | "^~=" | "*=" | "/="
//! function = FUNCTION "." type [ "." type ]        the second type is a conversion's source; the identity is called "id"
//! place = name | name "[" address "]"
//! operand = place | NUMBER
//! address = [ ( name | "_" ) [ "+" name ] ] [ INT ]
//! care = [ "check" ] [ "drop" ]
//! name = ( NAME | STRING ) [ "%" INT ]
//! loc = "@" INT ":" INT ":" INT                    file, line, column; left out if all are 0
//! type = "i" | "q" | "l" | "f"
//! ```
//!
//! `in` is a parameter that is not written, `out` one that is. Parameters come in the order of their declarations, or as `params` says, where `!`
//! is one that is written. A name goes to the one declaration that has it; after `%` stands its number among the variables, regions or functions, where
//! that is not so. A NAME is a letter and letters, digits, `_` and `.`, and no word of the grammar; others are STRINGs, with the assembler's escapes.
//! The type of a number is that of its place: of the function's argument, of the comparison, of the parameter.
//! `;` begins a comment, which goes to the end of the line.

mod lex;
mod print;
mod read;

use pendula_isa::budget::{Budget, Exceeded};
use thiserror::Error;

use super::Program;

/// Why a text is no program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{line}:{column}: {message}")]
pub struct TextError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// The budget that is spent, if that is what is wrong.
    pub exceeded: Option<Box<Exceeded>>,
}

/// How deep blocks may be nested in a text at most: what a thread's stack lasts for.
pub const MAX_NESTING: u32 = 200;

/// The program as text.
pub fn print(program: &Program) -> String {
    print::program(program)
}

/// The program that a text stands for. It is read as it stands: what the representation demands beyond its types is not checked.
///
/// # Errors
/// The first place where it does not follow the grammar, or names something that is not there.
pub fn parse(text: &str) -> Result<Program, TextError> {
    parse_within(text, &Budget::default())
}

/// The same, as far as a budget goes.
///
/// # Errors
/// Those of [`parse`]; a text that is larger than the budget allows, of more statements, or with blocks that are nested deeper.
pub fn parse_within(text: &str, budget: &Budget) -> Result<Program, TextError> {
    read::program(text, &budget.at_most(MAX_NESTING, u32::MAX))
}

/// The words that are no names.
const WORDS: &[&str] = &[
    "alias", "apply", "array", "assert", "begin", "bounds", "call", "check", "do", "drop", "else", "end", "entry",
    "file", "first", "for", "fun", "given", "if", "in", "inline", "out", "params", "post", "print", "program",
    "region", "shape", "span", "stack", "step", "text", "to", "unarray", "uncall", "unspan", "user", "var", "while",
    "with", "_",
];

/// Whether a name can stand without quotes.
fn is_plain(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '.')
        && !WORDS.contains(&name)
        && !name.starts_with("show.")
}
