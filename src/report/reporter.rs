//! Diagnostics as text, in the style of rustc, and as JSON.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{IsTerminal, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use pendula_asm::diagnostic::{Diagnostic, Label, Severity, Sources};
use pendula_isa::budget::Exceeded;
use serde_json::{Value, json};

use crate::load::LoadError;
use crate::report::visible::{visible, visible_line};
use crate::state::arguments::ArgumentError;
use crate::state::arrays::ArrayError;
use crate::state::values::ValueError;

/// The maximum number of errors shown for a program: a file that is not a program has one in every line.
const SHOWN: usize = 50;

/// The most bytes of source that are shown with a message. For longer lines only the place is shown, because rendering
/// them takes long for each message.
const LONGEST: usize = 1 << 16;

/// The most characters of a message: its names and numbers may have any length.
const MESSAGE: usize = 4000;

/// The shown part of a message.
fn shown(message: &str) -> Cow<'_, str> {
    match message.char_indices().nth(MESSAGE) {
        Some((n, _)) => Cow::Owned(format!("{}…", visible(message.get(..n).unwrap_or("")))),
        None => visible(message),
    }
}

/// Writes diagnostics to standard error, or collects them.
#[derive(Clone)]
pub struct Reporter {
    renderer: Renderer,
    /// The beginning of all messages.
    subject: String,
    /// The current command, and whether it must answer in JSON.
    command: (Cow<'static, str>, bool),
    /// Where messages go instead of standard error.
    collected: Option<Arc<Mutex<String>>>,
}

impl Reporter {
    pub fn new(styled: bool) -> Reporter {
        let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
        Reporter { renderer, subject: String::new(), command: (Cow::Borrowed(""), false), collected: None }
    }

    /// The reporter of a command; `json` says whether the command must answer in JSON.
    pub fn of(self, command: impl Into<Cow<'static, str>>, json: bool) -> Reporter {
        Reporter { command: (command.into(), json), ..self }
    }

    /// A reporter that collects its output instead of writing it.
    pub fn collecting() -> Reporter {
        Reporter { collected: Some(Arc::default()), ..Reporter::new(false) }
    }

    /// The collected output.
    pub fn collected(&self) -> String {
        let text = self.collected.as_ref().map(|text| text.lock().unwrap_or_else(PoisonError::into_inner).clone());
        text.unwrap_or_default()
    }

    /// The current command.
    pub fn command(&self) -> &str {
        &self.command.0
    }

    /// True if the command must answer in JSON.
    pub fn is_json(&self) -> bool {
        self.command.1
    }

    fn line(&self, text: &str) {
        match &self.collected {
            Some(collected) => {
                let mut collected = collected.lock().unwrap_or_else(PoisonError::into_inner);
                collected.push_str(text);
                collected.push('\n');
            }
            None => {
                let _ = writeln!(std::io::stderr().lock(), "{text}");
            }
        }
    }

    /// A reporter whose messages begin with their subject.
    pub fn about(&self, subject: &str) -> Reporter {
        Reporter { subject: format!("{subject}: "), ..self.clone() }
    }

    /// Writes all diagnostics, and a closing line that counts the errors.
    pub fn diagnostics(&self, diagnostics: &[Diagnostic], sources: &Sources) {
        let mut errors = 0;
        for d in diagnostics {
            errors += usize::from(d.severity == Severity::Error);
            if errors <= SHOWN || d.severity != Severity::Error {
                self.diagnostic(d, sources);
            }
        }
        match errors {
            0 | 1 => {}
            2..=SHOWN => self.line(&format!("{errors} errors")),
            _ => self.line(&format!("{errors} errors, of which these are the first {SHOWN}")),
        }
    }

    /// Writes one diagnostic.
    pub fn diagnostic(&self, d: &Diagnostic, sources: &Sources) {
        self.noted(d, sources, &[]);
    }

    /// Writes one diagnostic with additional notes.
    pub fn noted(&self, d: &Diagnostic, sources: &Sources, notes: &[String]) {
        self.line(&self.render(d, sources, notes));
    }

    /// Writes why the command failed.
    pub fn failure(&self, error: &anyhow::Error) {
        let (message, code, help) = complaint(error);
        let message = format!("{}{message}", self.subject);
        let mut title = Level::ERROR.primary_title(shown(&message));
        title = if let Some(code) = code { title.id(code) } else { title };
        let mut group = Group::with_title(title);
        if let Some(help) = help {
            group = group.element(Level::HELP.message(help));
        }
        self.line(&self.renderer.render(&[group]));
    }

    /// Writes a warning; the command continues.
    pub fn warning(&self, error: &anyhow::Error) {
        let message = error.chain().map(ToString::to_string).collect::<Vec<_>>().join(": ");
        let report = [Group::with_title(Level::WARNING.primary_title(shown(&message)))];
        self.line(&self.renderer.render(&report));
    }

    fn render(&self, d: &Diagnostic, sources: &Sources, notes: &[String]) -> String {
        let level = match d.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let title = format!("{}{}", self.subject, d.message);
        let mut group = Group::with_title(level.primary_title(shown(&title)).id(d.code));
        let labels: Vec<(AnnotationKind, &Label)> = d
            .primary
            .iter()
            .map(|l| (AnnotationKind::Primary, l))
            .chain(d.secondary.iter().map(|l| (AnnotationKind::Context, l)))
            .collect();
        let mut files: Vec<u16> = Vec::new();
        for (_, l) in &labels {
            if !files.contains(&l.place.file) {
                files.push(l.place.file);
            }
        }
        for file in files {
            // Only the relevant lines go to the renderer: a source may have a million.
            let spans: Vec<Range<usize>> =
                labels.iter().filter(|(_, l)| l.place.file == file).map(|(_, l)| l.place.span.clone()).collect();
            let window = Window::around(sources.text(file), &spans);
            if window.text.len() > LONGEST {
                let start = spans.first().map_or(0, |s| s.start);
                let (line, column) = line_and_column(sources.text(file), start);
                let origin = Origin::path(visible_line(sources.name(file)));
                group = group.element(origin.line(line).char_column(column));
                continue;
            }
            let mut snippet =
                Snippet::source(window.text).line_start(window.line).path(visible_line(sources.name(file)));
            for (kind, label) in labels.iter().filter(|(_, l)| l.place.file == file) {
                let span = window.relative(&label.place.span);
                let text = (!label.text.is_empty()).then(|| shown(&label.text));
                snippet = snippet.annotation((*kind).span(span).label(text));
            }
            group = group.element(snippet);
        }
        self.rendered(group, d, notes)
    }

    /// Writes a diagnostic about a place whose source is not available.
    pub fn without_source(&self, d: &Diagnostic, path: &str, line: u32, column: u32, notes: &[String]) {
        let title = format!("{}{}", self.subject, d.message);
        let mut group = Group::with_title(Level::ERROR.primary_title(shown(&title)).id(d.code));
        if !path.is_empty() {
            group = group.element(Origin::path(visible_line(path)).line(line as usize).char_column(column as usize));
        }
        self.line(&self.rendered(group, d, notes));
    }

    /// A diagnostic as text, with its notes and its advice at the end.
    fn rendered<'a>(&self, mut group: Group<'a>, d: &'a Diagnostic, notes: &'a [String]) -> String {
        for note in notes {
            group = group.element(Level::NOTE.message(visible(note)));
        }
        if let Some(help) = &d.help {
            group = group.element(Level::HELP.message(shown(help)));
        }
        self.renderer.render(&[group])
    }
}

/// The parts of an error: a message, and a code and advice if they are known.
pub fn complaint(error: &anyhow::Error) -> (String, Option<&'static str>, Option<String>) {
    let message = error.chain().map(ToString::to_string).collect::<Vec<_>>().join(": ");
    match error.chain().find_map(exceeded) {
        Some(exceeded) => (message, Some(exceeded.code()), Some(exceeded.help())),
        None => (message, None, None),
    }
}

/// The lines of a text around some spans.
struct Window<'a> {
    text: &'a str,
    start: usize,
    line: usize,
}

impl<'a> Window<'a> {
    fn around(text: &'a str, spans: &[Range<usize>]) -> Window<'a> {
        let first = spans.iter().map(|s| s.start).min().unwrap_or(0).min(text.len());
        let last = spans.iter().map(|s| s.end).max().unwrap_or(0).min(text.len());
        let bytes = text.as_bytes();
        let start = bytes[..first].iter().rposition(|b| *b == b'\n').map_or(0, |n| n + 1);
        let end = bytes[last..].iter().position(|b| *b == b'\n').map_or(text.len(), |n| last + n);
        let line = 1 + bytes[..start].iter().filter(|b| **b == b'\n').count();
        Window { text: text.get(start..end).unwrap_or(""), start, line }
    }

    fn relative(&self, span: &Range<usize>) -> Range<usize> {
        let clamp = |n: usize| n.saturating_sub(self.start).min(self.text.len());
        clamp(span.start)..clamp(span.end)
    }
}

/// A diagnostic as JSON: lines and columns count from 1, columns in characters.
pub fn to_json(d: &Diagnostic, sources: &Sources) -> Value {
    let label = |l: &Label| {
        let text = sources.text(l.place.file);
        let (line, column) = line_and_column(text, l.place.span.start);
        let (end_line, end_column) = line_and_column(text, l.place.span.end);
        json!({
            "file": sources.name(l.place.file),
            "line": line, "column": column, "end_line": end_line, "end_column": end_column,
            "text": l.text,
        })
    };
    json!({
        "severity": d.severity.name(),
        "code": d.code,
        "message": d.message,
        "place": d.primary.as_ref().map(label),
        "others": d.secondary.iter().map(label).collect::<Vec<_>>(),
        "help": d.help,
    })
}

/// The line and the column of a byte offset, both from 1; columns count characters.
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset.min(text.len())).unwrap_or("");
    let start = before.rfind('\n').map_or(0, |n| n + 1);
    (1 + before.bytes().filter(|b| *b == b'\n').count(), 1 + before[start..].chars().count())
}

/// Writes results for people to standard output. Control characters that come from input are made visible.
pub fn print(text: &str) -> std::io::Result<()> {
    print_bytes(visible(text).as_bytes())
}

/// Writes output for programs to standard output unchanged.
pub fn print_exact(text: &str) -> std::io::Result<()> {
    print_bytes(text.as_bytes())
}

/// Writes source text to standard output: unchanged to a file or a program, with visible control characters to a
/// terminal.
pub fn print_source(text: &str) -> std::io::Result<()> {
    if std::io::stdout().is_terminal() { print(text) } else { print_exact(text) }
}

/// Writes bytes to standard output and flushes them.
pub fn print_bytes(bytes: &[u8]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| {
        std::io::Error::new(error.kind(), format!("cannot write to standard output: {}", visible(&error.to_string())))
    })
}

thread_local! {
    /// Holds JSON that is kept instead of being written.
    static KEPT: RefCell<Option<Value>> = const { RefCell::new(None) };
}

/// Calls a function, and returns its result and the JSON object that it would have written.
pub fn kept<T>(f: impl FnOnce() -> T) -> (T, Option<Value>) {
    KEPT.set(Some(Value::Null));
    let out = f();
    (out, KEPT.take())
}

/// Writes one JSON object to standard output.
pub fn print_json(value: &Value) -> std::io::Result<()> {
    let is_kept = KEPT.with_borrow_mut(|kept| kept.as_mut().map(|kept| *kept = value.clone()).is_some());
    if is_kept {
        return Ok(());
    }
    print_exact(&format!("{value:#}\n"))
}

/// The exceeded budget in an error's chain, if there is one.
fn exceeded<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e Exceeded> {
    if let Some(LoadError::TooLarge(exceeded)) = error.downcast_ref() {
        return Some(exceeded);
    }
    if let Some(ArgumentError::Exceeded(exceeded)) = error.downcast_ref() {
        return Some(exceeded);
    }
    if let Some(ArrayError { exceeded: Some(exceeded), .. }) = error.downcast_ref() {
        return Some(exceeded);
    }
    if let Some(ArgumentError::Array(ArrayError { exceeded: Some(exceeded), .. })) = error.downcast_ref() {
        return Some(exceeded);
    }
    if let Some(ValueError::Array(ArrayError { exceeded: Some(exceeded), .. })) = error.downcast_ref() {
        return Some(exceeded);
    }
    error.downcast_ref()
}
