//! The state that all stages of the assembler share: names, statements, the diagnostics so far, and the mapping from
//! spans to places in files.
//!
//! The state of single stages is not here, nor are the texts of the files, which [`expand`](crate::expand) keeps until
//! the end.

use std::collections::HashMap;
use std::sync::Arc;

use pendula_isa::budget::Exceeded;
use pendula_isa::extension::Definition;
use pendula_isa::{Format, Kind};

use crate::ast::{Ast, Span, Via};
use crate::codes;
use crate::diagnostic::{Diagnostic, Label, Place, Severity};
use crate::head::Head;
use crate::intern::{Interner, Sym};

/// An error has been reported, and the part concerned is left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported;

/// A result whose error has been reported.
pub(crate) type Parsed<T> = Result<T, Reported>;

/// The maximum number of errors that are reported.
const MAX_ERRORS: usize = 1000;
/// The maximum number of nested macro uses, and of nested includes, that a message shows.
const MAX_USES: usize = 4;

/// A use of a macro.
#[derive(Clone, Copy, Debug)]
struct Use {
    name: Sym,
    span: Span,
    parent: Via,
}

/// The shared state.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) names: Interner,
    pub(crate) ast: Ast,
    uses: Vec<Use>,
    /// For each file, where its spans begin, and its length.
    files: Vec<(u32, u32)>,
    /// The file of definitions that come with the program, if there are any.
    pub(crate) define_file: Option<u16>,
    /// For each file, where it was last included.
    includes: Vec<Option<Span>>,
    /// The mnemonics that definitions have given a meaning, and where.
    pub(crate) extensions: HashMap<String, (Arc<Definition>, Span)>,
    /// The definitions.
    pub(crate) definitions: Vec<Arc<Definition>>,
    /// The fixed-point format of the first definition with a constant of such, and where it is.
    pub(crate) fixed: Option<(Format, Span)>,
    diagnostics: Vec<Diagnostic>,
    errors: usize,
}

impl Session {
    /// The instruction that a definition has given this mnemonic, in lower case.
    pub(crate) fn extension(&self, word: &str) -> Option<Kind> {
        let symbol = self.names.find(word).filter(|_| self.extensions.contains_key(word))?;
        match self.names.head(symbol) {
            Some(Head::Inst(kind)) => Some(kind),
            _ => None,
        }
    }

    pub(crate) fn new() -> Session {
        Session {
            names: Interner::new(),
            ast: Ast::default(),
            uses: Vec::new(),
            files: Vec::new(),
            define_file: None,
            includes: Vec::new(),
            extensions: HashMap::new(),
            definitions: Vec::new(),
            fixed: None,
            diagnostics: Vec::new(),
            errors: 0,
        }
    }

    /// The mnemonic that a definition has given, if one is close to this word.
    pub(crate) fn near_extension(&self, word: &str) -> Option<&str> {
        let distance = |own: &str| pendula_isa::mnemonic::distance(own.as_bytes(), word.as_bytes());
        let all = self.extensions.keys().map(|own| (distance(own), own.as_str()));
        let stem = |own: &str| own.split('.').next() == Some(word);
        let close = all.filter(|(far, own)| *far <= 1 + own.len() / 5 || stem(own)).min();
        close.map(|(_, own)| own)
    }

    /// Adds a file and returns where its spans begin; `None` if 32 bits are too few.
    pub(crate) fn add_file(&mut self, len: usize) -> Option<u32> {
        let base = self.files.last().map_or(Some(0), |(base, len)| base.checked_add(*len)?.checked_add(1))?;
        let len = u32::try_from(len).ok()?;
        base.checked_add(len)?.checked_add(1)?;
        self.files.push((base, len));
        self.includes.push(None);
        Some(base)
    }

    /// Records where a file is included.
    pub(crate) fn included(&mut self, file: usize, span: Span) {
        if let Some(place) = self.includes.get_mut(file) {
            *place = Some(span);
        }
    }

    /// The file of a span and the offset of its start in the file.
    pub(crate) fn locate(&self, span: Span) -> (u16, u32) {
        let n = self.files.partition_point(|(base, _)| *base <= span.start).saturating_sub(1);
        let base = self.files.get(n).map_or(0, |(base, _)| *base);
        (n as u16, span.start - base.min(span.start))
    }

    /// Whether a span is in a definition that comes with the program.
    pub(crate) fn is_from_define(&self, span: Span) -> bool {
        self.define_file.is_some_and(|define_file| self.locate(span).0 == define_file)
    }

    /// The place of a span.
    pub(crate) fn place(&self, span: Span) -> Place {
        let (file, offset) = self.locate(span);
        let len = self.files.get(usize::from(file)).map_or(0, |(_, len)| *len);
        let start = offset.min(len) as usize;
        let end = offset.saturating_add(span.len).min(len) as usize;
        Place { file, span: start..end.max(start) }
    }

    /// Records a use of a macro.
    pub(crate) fn add_use(&mut self, name: Sym, span: Span, parent: Via) -> Via {
        self.uses.push(Use { name, span, parent });
        Via(self.uses.len() as u32)
    }

    /// An error at a span.
    pub(crate) fn error(&self, code: &'static str, message: impl Into<String>, span: Span) -> Diagnostic {
        Diagnostic::error(code, message).at(self.place(span), "")
    }

    /// Reports a diagnostic about a statement that comes from the macro use `via`.
    pub(crate) fn report(&mut self, mut diagnostic: Diagnostic, via: Via) -> Reported {
        if diagnostic.severity == Severity::Error {
            self.errors += 1;
            if self.errors > MAX_ERRORS {
                return Reported;
            }
        }
        shorten(&mut diagnostic.message);
        for label in diagnostic.primary.iter_mut().chain(&mut diagnostic.secondary) {
            shorten(&mut label.text);
        }
        diagnostic.help.iter_mut().for_each(shorten);
        let mut via = via;
        for _ in 0..MAX_USES {
            let Some(u) = via.0.checked_sub(1).and_then(|n| self.uses.get(n as usize)) else { break };
            let mut text = format!("in this use of the macro `{}`", self.names.text(u.name));
            shorten(&mut text);
            diagnostic.secondary.push(Label { place: self.place(u.span), text });
            via = u.parent;
        }
        let mut file = diagnostic.primary.as_ref().map(|l| l.place.file);
        for _ in 0..MAX_USES {
            let Some(span) = file.and_then(|n| *self.includes.get(usize::from(n))?) else { break };
            let place = self.place(span);
            file = Some(place.file);
            diagnostic.secondary.push(Label { place, text: "included here".to_string() });
        }
        self.diagnostics.push(diagnostic);
        Reported
    }

    /// Reports an error with a help line.
    pub(crate) fn fail(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        span: Span,
        via: Via,
        help: impl Into<String>,
    ) -> Reported {
        let diagnostic = self.error(code, message, span).help(help);
        self.report(diagnostic, via)
    }

    /// Reports that the budget is spent.
    pub(crate) fn exceeded(&mut self, exceeded: &Exceeded, span: Span, via: Via) -> Reported {
        let diagnostic = exceeded.diagnostic().at(self.place(span), "");
        self.report(diagnostic, via)
    }

    /// Whether there are errors.
    pub(crate) fn failed(&self) -> bool {
        self.errors > 0
    }

    /// Whether so many errors were reported that no more will be.
    pub(crate) fn has_too_many_errors(&self) -> bool {
        self.errors > MAX_ERRORS
    }

    /// The diagnostics in the order of their places.
    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        let mut all = self.diagnostics;
        all.sort_by_key(|d| d.primary.as_ref().map(|l| (l.place.file, l.place.span.start)));
        if self.errors > MAX_ERRORS {
            let mut note = Diagnostic::error(codes::TOO_MANY, "there are more errors than are shown");
            note.severity = Severity::Note;
            all.push(note.help(format!("the first {MAX_ERRORS} are shown; mend these and assemble again")));
        }
        all
    }
}

/// Shortens an absurdly long name.
fn shorten(text: &mut String) {
    const MAX: usize = 400;
    if text.len() > MAX {
        text.truncate(text.floor_char_boundary(MAX));
        text.push('…');
    }
}
