//! Diagnostics as text, in the manner of rustc, and as JSON.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{IsTerminal, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use pendula::arguments::ArgumentError;
use pendula::arrays::ArrayError;
use pendula::asm::diagnostic::{Diagnostic, Label, Severity, Sources};
use pendula::isa::budget::Exceeded;
use pendula::load::LoadError;
use pendula::values::ValueError;
use pendula::visible::{visible, visible_line};
use serde_json::{Value, json};

/// How many errors of a program are shown: a file that is no program has one in every line.
const SHOWN: usize = 50;

/// The most bytes of source that are shown with a message. Of longer lines only the place is told: to lay them out takes long, for each message anew.
const LONGEST: usize = 1 << 16;

/// The most characters of a message: names and numbers in it may have any length.
const MESSAGE: usize = 4000;

/// As much of a message as is shown.
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
    /// What all messages begin with.
    subject: String,
    /// The command that runs, and whether it is to answer in JSON.
    command: (Cow<'static, str>, bool),
    /// Where messages go instead of standard error.
    collected: Option<Arc<Mutex<String>>>,
}

impl Reporter {
    pub fn new(styled: bool) -> Reporter {
        let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
        Reporter { renderer, subject: String::new(), command: (Cow::Borrowed(""), false), collected: None }
    }

    /// One of a command, which is to answer in JSON or not.
    pub fn of(self, command: impl Into<Cow<'static, str>>, json: bool) -> Reporter {
        Reporter { command: (command.into(), json), ..self }
    }

    /// One that collects what the others write.
    pub fn collecting() -> Reporter {
        Reporter { collected: Some(Arc::default()), ..Reporter::new(false) }
    }

    /// What has been collected.
    pub fn collected(&self) -> String {
        let text = self.collected.as_ref().map(|text| text.lock().unwrap_or_else(PoisonError::into_inner).clone());
        text.unwrap_or_default()
    }

    /// The command that runs.
    pub fn command(&self) -> &str {
        &self.command.0
    }

    /// Whether the command is to answer in JSON.
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

    /// One whose messages say what they are about.
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

    /// Writes one diagnostic with more to say.
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

    /// Writes what is not as it might be, and goes on.
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
            // Only the lines concerned are given to the renderer: a source may have a million.
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
        for note in notes {
            group = group.element(Level::NOTE.message(visible(note)));
        }
        if let Some(help) = &d.help {
            group = group.element(Level::HELP.message(shown(help)));
        }
        self.renderer.render(&[group])
    }

    /// Writes a diagnostic about a place whose source is not at hand.
    pub fn without_source(&self, d: &Diagnostic, path: &str, line: u32, column: u32, notes: &[String]) {
        let title = format!("{}{}", self.subject, d.message);
        let mut group = Group::with_title(Level::ERROR.primary_title(shown(&title)).id(d.code));
        if !path.is_empty() {
            group = group.element(Origin::path(visible_line(path)).line(line as usize).char_column(column as usize));
        }
        for note in notes {
            group = group.element(Level::NOTE.message(visible(note)));
        }
        if let Some(help) = &d.help {
            group = group.element(Level::HELP.message(shown(help)));
        }
        self.line(&self.renderer.render(&[group]));
    }
}

/// What there is to say of an error: a message, and if it is known a code and what to do about it.
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

/// Line and column of a byte offset, from 1, columns in characters.
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset.min(text.len())).unwrap_or("");
    let start = before.rfind('\n').map_or(0, |n| n + 1);
    (1 + before.bytes().filter(|b| *b == b'\n').count(), 1 + before[start..].chars().count())
}

/// Writes results to standard output, for people: of what comes from input, what a terminal would obey is shown.
pub fn print(text: &str) -> std::io::Result<()> {
    print_bytes(visible(text).as_bytes())
}

/// Writes what programs read to standard output, as it is.
pub fn print_exact(text: &str) -> std::io::Result<()> {
    print_bytes(text.as_bytes())
}

/// Writes source text to standard output: as it is where it goes to a file or a program, as people may see it on a terminal.
pub fn print_source(text: &str) -> std::io::Result<()> {
    if std::io::stdout().is_terminal() { print(text) } else { print_exact(text) }
}

/// Writes bytes to standard output, and sees that they arrive.
pub fn print_bytes(bytes: &[u8]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| {
        std::io::Error::new(error.kind(), format!("cannot write to standard output: {}", visible(&error.to_string())))
    })
}

thread_local! {
    /// Where JSON is kept instead of being written, if it is.
    static KEPT: RefCell<Option<Value>> = const { RefCell::new(None) };
}

/// What a function gives, and the JSON object that it would write, which is not written.
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

/// What an error says of a budget that is spent.
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
