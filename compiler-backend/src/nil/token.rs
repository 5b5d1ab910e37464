//! The tokens of Nil, which the lexer makes and the parser and the formatter read.

use super::ast::{AssignOp, Binary};

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tok {
    /// The end of the text.
    #[default]
    Eof,
    /// A name.
    Ident,
    /// A reserved word.
    Kw(Kw),
    /// `@name`
    Macro,
    /// A whole number.
    Int,
    /// A number with a fraction or exponent.
    Real,
    /// A number that cannot be read.
    BadNumber,
    /// A text; `"""…"""` if `triple`.
    Str { triple: bool },
    /// A text or a command of the host language: `r"…"`, `` `…` ``.
    HostText,
    /// A text without an end; it reaches to the end of its first line.
    OpenText,
    /// A character literal.
    Char,
    /// `#=` without `=#`.
    OpenComment,
    /// `(`
    LParen,
    /// `)`
    RParen,
    /// `[`
    LBrack,
    /// `]`
    RBrack,
    /// `{`
    LBrace,
    /// `}`
    RBrace,
    /// `,`
    Comma,
    /// `;`
    Semi,
    /// `:`
    Colon,
    /// `::`
    Typed,
    /// `.` before a field or an argument list.
    Dot,
    /// `...`
    Splat,
    /// `?`
    Question,
    /// `->`
    Arrow,
    /// `=>`
    Pair,
    /// `←`
    Alloc,
    /// `→`
    Free,
    /// `=`
    Equals,
    /// `+=` and the like; whether with a dot.
    Assign(AssignOp, bool),
    /// `÷=`, `.=` and the like, which cannot be undone.
    BadAssign,
    /// A binary operator; whether with a dot. `+` and `-` may also be signs.
    Op(Binary, bool),
    /// An operator of the host language.
    HostOp,
    /// `|>`
    Pipe,
    /// `<:`
    Subtype,
    /// `~`
    Tilde,
    /// `!`
    Not,
    /// `√`
    Root,
    /// `'` after an operand.
    Prime,
    /// `∈`
    Elem,
    /// `↔`
    Exchange,
    /// `∅`
    Empty,
    /// Any other character.
    Unknown,
}

impl Tok {
    /// Whether an operand can end with this token, so that a following `-` is a binary operator and not a sign.
    pub(crate) const fn ends_operand(self) -> bool {
        matches!(
            self,
            Tok::Ident
                | Tok::Int
                | Tok::Real
                | Tok::BadNumber
                | Tok::Str { .. }
                | Tok::HostText
                | Tok::OpenText
                | Tok::Char
                | Tok::RParen
                | Tok::RBrack
                | Tok::RBrace
                | Tok::Prime
                | Tok::Splat
                | Tok::Kw(Kw::End | Kw::True | Kw::False)
        )
    }
}

macro_rules! keywords {
    ($( $Name:ident $text:literal )*) => {
        /// A reserved word.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the names say it")]
        pub(crate) enum Kw { $( $Name, )* }

        /// The reserved word that a text is, if it is one.
        pub(crate) fn keyword(text: &str) -> Option<Kw> {
            match text {
                $( $text => Some(Kw::$Name), )*
                _ => None,
            }
        }
    };
}

keywords! {
    Baremodule "baremodule" Begin "begin" Break "break" Catch "catch" Const "const" Continue "continue" Do "do"
    Else "else" Elseif "elseif" End "end" Export "export" False "false" Finally "finally" For "for"
    Function "function" Global "global" If "if" Import "import" In "in" Isa "isa" Let "let" Local "local"
    Macro "macro" Module "module" Quote "quote" Return "return" Struct "struct" True "true" Try "try"
    Using "using" Where "where" While "while"
}

/// A token and its position.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Token {
    /// The kind.
    pub(crate) kind: Tok,
    /// Its first byte.
    pub(crate) start: usize,
    /// The byte after it.
    pub(crate) end: usize,
    /// The column of its first byte, in bytes from 0.
    pub(crate) column: usize,
    /// Whether a line ends between the previous token and this one.
    pub(crate) line_before: bool,
    /// Whether anything stands between the previous token and this one.
    pub(crate) space_before: bool,
}
