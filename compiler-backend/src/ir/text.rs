//! The IR as text: [`print()`] writes a program, and [`parse`] reads the same program back.
//!
//! ```text
//! program = "program" FORMAT { "stack" INT | "file" STRING | "text" STRING | "reason" STRING | "entry" name | function }
//! function = "fun" name [ "inline" ] [ loc ] "{" { declaration } { statement } "}"
//! declaration = ( "in" | "out" | "var" | "region" ) NAME ":" type | "params" "(" { name [ "!" ] } ")"
//! statement = place op function "(" operand { "," operand } ")" [ loc ]
//!     | "apply" [ "~" ] row "." type "(" operand { "," operand } ")" [ loc ]
//!     | ( "begin" | "end" ) name checks [ loc ]
//!     | ( "array" | "unarray" ) name ":" type "[" operand "]" "in" name checks [ loc ]
//!     | ( "call" | "uncall" ) name "(" [ operand { "," operand } ] ")" [ loc ]
//!     | "if" [ loc ] condition block [ "else" block ] "post" condition
//!     | "while" [ loc ] condition [ "first" block ] block "post" condition
//!     | "for" [ loc ] name "=" operand "to" operand "step" ( INT | [ "-" ] name ) [ "blocks" | "blocks_from_last" ] block
//!     | "with" [ loc ] STRING block "do" block
//!     | ( "span" | "unspan" ) [ loc ] STRING block
//!     | "assert" ( "user" | "bounds" | "alias" | "shape" ) test [ ":" STRING ] [ loc ]
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
//! checks = [ "check" ] [ "drop" ]
//! name = ( NAME | STRING ) [ "%" INT ]
//! loc = "@" INT ":" INT ":" INT                    file, line, column; left out if all are 0
//! type = "i" | "q" | "l" | "f"
//! ```
//!
//! `in` declares an unwritten parameter, `out` a written one. Parameters have the order of their declarations, or that of
//! `params`, where `!` marks the written ones. A name refers to the only declaration with this name. If there are several,
//! `%` follows, with the number of the declaration among the variables, regions or functions. A NAME is a letter or `_`,
//! followed by letters, digits, `_` and `.`, and is not a word of the grammar. All other names are STRINGs, with the
//! assembler's escapes. The context of a number determines its type: the function's argument, the comparison or the
//! parameter. `;` begins a comment, which ends with the line.

mod lex;
mod print;
mod read;

use pendula_isa::budget::{Budget, Exceeded};
use thiserror::Error;

use super::Program;

/// An error in the text of a program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{line}:{column}: {message}")]
pub struct TextError {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// The budget that is spent, if that is the error.
    pub exceeded: Option<Box<Exceeded>>,
}

/// The greatest nesting depth of blocks in a text, for which a thread's stack has room.
pub const MAX_NESTING: u32 = 200;

/// Writes a program as text.
pub fn print(program: &Program) -> String {
    print::program(program)
}

/// Reads a program. Rules of the IR beyond the grammar and the names are not checked.
///
/// # Errors
/// The first place where the text does not follow the grammar, or refers to something that is not declared.
pub fn parse(text: &str) -> Result<Program, TextError> {
    parse_within(text, &Budget::default())
}

/// Reads a program within a budget.
///
/// # Errors
/// Those of [`parse`]; and a text that is larger, has more statements or has more deeply nested blocks than the budget
/// allows.
pub fn parse_within(text: &str, budget: &Budget) -> Result<Program, TextError> {
    read::program(text, &budget.at_most(MAX_NESTING, u32::MAX))
}

/// The words of the grammar, which are not names.
const WORDS: &[&str] = &[
    "alias",
    "apply",
    "array",
    "assert",
    "begin",
    "blocks",
    "blocks_from_last",
    "bounds",
    "call",
    "check",
    "do",
    "drop",
    "else",
    "end",
    "entry",
    "file",
    "first",
    "for",
    "fun",
    "given",
    "if",
    "in",
    "inline",
    "out",
    "params",
    "post",
    "print",
    "program",
    "region",
    "shape",
    "span",
    "stack",
    "step",
    "text",
    "to",
    "unarray",
    "uncall",
    "unspan",
    "user",
    "var",
    "while",
    "with",
    "_",
];

/// Whether a name needs no quotes.
fn is_plain(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '.')
        && !WORDS.contains(&name)
        && !name.starts_with("show.")
}
