//! What the syntax trees of all languages share.

use std::ops::Range;

/// Byte offsets into the source text.
pub type Span = Range<usize>;

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name, with all that belongs to it: of Nil's `y!` the mark, too.
    pub text: String,
    /// Where.
    pub span: Span,
}
