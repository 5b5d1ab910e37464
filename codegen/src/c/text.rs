//! Text with an indent, and how programs write words.

use super::expr::{Expr, Kind, Words};

/// Words of programs are signed.
pub(super) const WORDS: Words = Words { signed: true, types: ["int64_t", "word"], as_word: "bits", as_double: "real" };

/// A constant as an integer.
pub(super) fn word(k: u64) -> Expr {
    WORDS.constant(k, Kind::Word)
}

/// Text that is written line by line.
#[derive(Debug, Default)]
pub(super) struct Text {
    pub(super) out: String,
    pub(super) indent: usize,
}

impl Text {
    pub(super) fn line(&mut self, text: &str) {
        if !text.is_empty() {
            for _ in 0..self.indent {
                self.out.push_str("    ");
            }
            self.out.push_str(text);
        }
        self.out.push('\n');
    }

    pub(super) fn open(&mut self, text: &str) {
        self.line(text);
        self.indent += 1;
    }

    pub(super) fn close(&mut self, text: &str) {
        self.indent = self.indent.saturating_sub(1);
        self.line(text);
    }
}
