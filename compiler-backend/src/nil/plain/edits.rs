//! Changes of pieces of the source, and the comments around them.

use crate::nil::ast::Span;
use crate::nil::lexer::Lexer;
use crate::nil::token::{Tok, Token};

/// Changes of a text: what stands at each place instead.
#[derive(Debug, Default)]
pub(super) struct Edits {
    all: Vec<(Span, String)>,
}

impl Edits {
    /// Puts a text in the place of another. Of two for the same place, the first counts.
    pub(super) fn replace(&mut self, span: Span, with: impl Into<String>) {
        self.all.push((span, with.into()));
    }

    /// A piece of a text with the changes in it.
    pub(super) fn applied(&self, text: &str, span: &Span) -> String {
        let inside = |(at, _): &&(Span, String)| span.start <= at.start && at.end <= span.end;
        let mut all: Vec<&(Span, String)> = self.all.iter().filter(inside).collect();
        // What is inserted comes before what is replaced, and what is removed before its parts.
        all.sort_by_key(|(at, _)| (at.start, !at.is_empty(), std::cmp::Reverse(at.end)));
        let (mut out, mut pos) = (String::new(), span.start);
        let mut inserted: Option<usize> = None;
        for (at, with) in all {
            let again = at.is_empty() && inserted == Some(at.start);
            if at.start < pos || again {
                continue;
            }
            out.push_str(text.get(pos..at.start).unwrap_or(""));
            out.push_str(with);
            pos = at.end;
            inserted = at.is_empty().then_some(at.start);
        }
        out.push_str(text.get(pos..span.end).unwrap_or(""));
        out
    }
}

/// The tokens of a file.
pub(super) struct Tokens<'a> {
    text: &'a str,
    all: Vec<Token>,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Tokens<'a> {
        let mut lexer = Lexer::new(text, 0, text.len());
        let mut all = Vec::new();
        loop {
            let token = lexer.token();
            if token.kind == Tok::Eof {
                return Tokens { text, all };
            }
            all.push(token);
        }
    }

    pub(super) fn text_of(&self, token: &Token) -> &'a str {
        self.text.get(token.start..token.end).unwrap_or("")
    }

    /// The tokens of a range.
    pub(super) fn within(&self, span: &Span) -> impl Iterator<Item = &Token> + use<'_, 'a> {
        let end = span.end;
        let first = self.all.partition_point(|t| t.start < span.start);
        self.all.get(first..).unwrap_or(&[]).iter().take_while(move |t| t.end <= end)
    }

    /// The token before a place.
    pub(super) fn before(&self, at: usize) -> Option<&Token> {
        self.all.get(..self.all.partition_point(|t| t.start < at))?.last()
    }

    /// The first token from a place on.
    pub(super) fn from(&self, at: usize) -> Option<&Token> {
        self.all.get(self.all.partition_point(|t| t.start < at))
    }

    /// The documentation before a declaration.
    pub(super) fn documentation(&self, at: usize) -> Option<Span> {
        let token = self.before(at).filter(|t| matches!(t.kind, Tok::Str { .. }))?;
        let first = token.line_before || self.before(token.start).is_none();
        first.then_some(token.start..token.end)
    }

    /// The comments on the lines before a place, and where they are.
    pub(super) fn comments_before(&self, at: usize) -> Span {
        let Some(last) = self.before(at) else { return 0..at };
        let gap = self.text.get(last.end..at).unwrap_or("");
        gap.find('\n').map_or(at..at, |n| last.end + n + 1..at)
    }

    /// The comment after a place in its line.
    pub(super) fn comment_after(&self, at: usize) -> &'a str {
        let line = self.text.get(at..).unwrap_or("");
        let line = line.get(..line.find('\n').unwrap_or(line.len())).unwrap_or("").trim();
        if line.starts_with('#') && !line.starts_with("#=") { line } else { "" }
    }

    /// Whether one pair of parentheses is around everything in a range.
    pub(super) fn is_enclosed(&self, span: &Span) -> bool {
        let mut depth = 0usize;
        let mut all = self.within(span).peekable();
        if all.peek().is_none_or(|t| t.kind != Tok::LParen) {
            return false;
        }
        while let Some(token) = all.next() {
            match token.kind {
                Tok::LParen => depth += 1,
                Tok::RParen => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return all.peek().is_none() && token.end == span.end;
            }
        }
        false
    }

    /// The comments between the tokens of a range.
    pub(super) fn comments_in(&self, span: &Span) -> Vec<&'a str> {
        let mut last = span.start;
        let mut found = Vec::new();
        for token in self.within(span) {
            let gap = self.text.get(last..token.start).unwrap_or("");
            found.extend(gap.lines().map(str::trim).filter(|line| line.starts_with('#') && !line.starts_with("#=")));
            last = token.end;
        }
        found
    }

    /// The comments after the last token of the file.
    pub(super) fn comments_at_end(&self) -> &'a str {
        let end = self.text.len();
        self.text.get(self.comments_before(end).start..).unwrap_or("").trim()
    }

    /// The line that a place is in, from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        self.text.get(..at).map_or(0, |before| before.matches('\n').count()) + 1
    }

    /// Whether a statement begins its line, and nothing but a comment follows it there.
    pub(super) fn is_last(&self, span: &Span) -> bool {
        let begins = self.within(span).next().is_some_and(|t| t.line_before);
        begins && self.from(span.end).is_none_or(|t| t.line_before)
    }

    /// The range of a statement, with its line if nothing else is in it.
    pub(super) fn whole_line(&self, span: &Span) -> Option<Span> {
        let before = self.text.get(..span.start)?;
        let start = span.start - (before.len() - before.trim_end_matches([' ', '\t']).len());
        let after = self.text.get(span.end..)?;
        let end = after.find('\n').map_or(self.text.len(), |n| span.end + n + 1);
        let alone = before.get(..start)?.ends_with('\n') && self.text.get(span.end..end)?.trim().is_empty();
        alone.then_some(start..end)
    }
}

/// A piece of a text without the indentation of its first line.
pub(super) fn dedented(text: &str, column: usize) -> String {
    let cut = |(n, line): (usize, &str)| {
        let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
        let from = if n == 0 { 0 } else { blank.min(column) };
        line.get(from..).unwrap_or("").trim_end().to_string()
    };
    text.split('\n').enumerate().map(cut).collect::<Vec<_>>().join("\n")
}

/// The end of the head of a function whose name or parameters begin at a place: the parameters and `where`.
pub(super) fn head_end(text: &str, at: usize) -> usize {
    let mut lexer = Lexer::new(text, at, text.len());
    let (mut depth, mut groups, mut in_where, mut end) = (0usize, 0, false, at);
    loop {
        let token = lexer.token();
        if depth == 0 && groups > 0 {
            use crate::nil::token::Kw;
            let goes_on = match token.kind {
                Tok::Kw(Kw::Where) => {
                    in_where = true;
                    true
                }
                Tok::LParen if !in_where => !token.space_before,
                Tok::Ident => in_where && !token.line_before,
                Tok::LBrace | Tok::Subtype | Tok::Dot => in_where,
                _ => false,
            };
            if !goes_on {
                return end;
            }
        }
        match token.kind {
            Tok::Eof => return end,
            Tok::LParen | Tok::LBrace | Tok::LBrack => depth += 1,
            Tok::RParen | Tok::RBrace | Tok::RBrack => {
                depth = depth.saturating_sub(1);
                groups += usize::from(depth == 0);
            }
            _ => {}
        }
        end = token.end;
    }
}
