//! Constructs that are open, and what is said of one that lacks a word.

use pendula_isa::diagnostic::{Diagnostic, Place};

use super::{Parsed, Parser, Stop};
use crate::janus::ast::Span;
use crate::janus::codes;
use crate::janus::lexer::{Tok, visible_part};

/// Words that go on with a construct or end it, and the word that it begins with.
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

/// A construct that has begun and not ended.
#[derive(Clone, Debug)]
pub(super) struct Open {
    /// The word that it begins with.
    word: &'static str,
    /// Where that stands.
    span: Span,
}

impl Parser<'_> {
    /// A construct, which begins with the word that stands here.
    pub(super) fn construct<T>(&mut self, word: &'static str, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.open.push(Open { word, span: self.token().span.clone() });
        self.at += 1;
        let out = part(self);
        self.open.pop();
        out
    }

    /// The word that a construct begins with, of which this word is a part.
    pub(super) fn belongs(word: &str) -> Option<&'static str> {
        BELONGS.iter().find(|(w, _)| *w == word).map(|(_, opener)| *opener)
    }

    /// Whether a construct that begins with this word is open.
    pub(super) fn is_open(&self, opener: &str) -> bool {
        self.open.iter().any(|o| o.word == opener)
    }

    /// A word of the construct that was opened last.
    pub(super) fn part_word(&mut self, word: &'static str, help: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { self.lacks(&format!("`{word}`"), help) }
    }

    /// The construct that was opened last lacks a word, or one of several.
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

    /// A word that belongs to a construct stands where none is open.
    pub(super) fn stray<T>(&mut self, opener: &str) -> Parsed<T> {
        let span = self.token().span.clone();
        let text = self.word_of(self.token());
        let message = format!("`{text}` has no `{opener}` before it");
        let help = format!("remove it, or write `{opener}` where its construct begins");
        self.fail(codes::SYNTAX, span, message, &help)
    }

    /// The line in which something begins.
    pub(super) fn line(&self, span: &Span) -> usize {
        1 + self.text.get(..span.start).map_or(0, |t| t.matches('\n').count())
    }

    /// What stands here, for messages.
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
