//! Open constructs, and the messages for their missing words.

use pendula_isa::diagnostic::{Diagnostic, Place};

use super::{Parsed, Parser, Stop};
use crate::janus::ast::Span;
use crate::janus::codes;
use crate::janus::lexer::{Tok, visible_part};

/// Words that continue or end a construct, with the word that begins it.
const BELONGS: &[(&str, &str)] = &[
    ("then", "if"),
    ("else", "if"),
    ("fi", "if"),
    ("do", "from"),
    ("loop", "from"),
    ("until", "from"),
    ("delocal", "local"),
    ("end", "iterate"),
];

/// An open construct.
#[derive(Clone, Debug)]
pub(super) struct Open {
    /// The word that begins it.
    word: &'static str,
    /// The range of that word.
    span: Span,
}

impl Parser<'_> {
    /// Reads a construct that begins with the word here.
    pub(super) fn construct<T>(&mut self, word: &'static str, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.open.push(Open { word, span: self.token().span.clone() });
        self.at += 1;
        let out = part(self);
        self.open.pop();
        out
    }

    /// The word that begins the construct that this word belongs to.
    pub(super) fn belongs(word: &str) -> Option<&'static str> {
        BELONGS.iter().find(|(w, _)| *w == word).map(|(_, opener)| *opener)
    }

    /// Whether a construct that begins with this word is open.
    pub(super) fn is_open(&self, opener: &str) -> bool {
        self.open.iter().any(|o| o.word == opener)
    }

    /// Takes a word of the innermost open construct.
    pub(super) fn part_word(&mut self, word: &'static str, help: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { self.lacks(&format!("`{word}`"), help) }
    }

    /// Reports that the innermost open construct lacks a word, or one of several.
    pub(super) fn lacks<T>(&mut self, what: &str, help: &str) -> Parsed<T> {
        let Some(Open { word, span }) = self.open.last().cloned() else { return self.expected(what, help) };
        let message = format!("`{word}` in line {} has no {what}", self.line(&span));
        let braces = "; words stand where other languages have braces";
        let help = if self.is_sign("{") || self.is_sign("}") { format!("{help}{braces}") } else { help.to_string() };
        let label = format!("{what} was expected here, found {}", self.found_here());
        let here = Place { file: self.file, span: self.token().span.clone() };
        let opened = Place { file: self.file, span };
        let d = Diagnostic::error(codes::SYNTAX, message).at(here, label);
        self.found.push(d.also(opened, format!("this `{word}` is open")).help(help));
        Err(Stop)
    }

    /// Reports a word of a construct that is not open.
    pub(super) fn stray<T>(&mut self, opener: &str) -> Parsed<T> {
        let span = self.token().span.clone();
        let text = self.word_of(self.token());
        let message = format!("`{text}` has no `{opener}` before it");
        let help = format!("remove it, or write `{opener}` where its construct begins");
        self.fail(codes::SYNTAX, span, message, &help)
    }

    /// The line in which a range begins.
    pub(super) fn line(&self, span: &Span) -> usize {
        1 + self.text.get(..span.start).map_or(0, |t| t.matches('\n').count())
    }

    /// A description of the next token, for messages.
    pub(super) fn found_here(&self) -> String {
        let token = self.token();
        match &token.tok {
            Tok::End => "the end of the text".to_string(),
            Tok::Text(_) => "a text".to_string(),
            Tok::Word | Tok::Number(_) | Tok::Sign(_) => {
                format!("`{}`", visible_part(self.text.get(token.span.clone()).unwrap_or("")))
            }
        }
    }
}
