//! Diagnostics of the assembler and the compilers about a source file, as data. The command line renders them.

use std::ops::Range;
use std::sync::OnceLock;

/// Declares the error codes of one component, in ascending order: a constant per code, and `OWN`, the list of codes with their titles; after
/// `pub codes;` also the function `codes`, which gives them all.
#[macro_export]
macro_rules! diagnostic_codes {
    (pub codes; $($list:tt)*) => {
        $crate::diagnostic_codes! { $($list)* }

        /// Every code with its title, in ascending order.
        pub fn codes() -> impl Iterator<Item = (&'static str, &'static str)> {
            OWN.iter().copied()
        }
    };
    ($( $Name:ident $code:literal $title:literal; )*) => {
        $( #[doc = $title] pub(crate) const $Name: &str = $code; )*

        /// The codes with their titles.
        const OWN: &[(&str, &str)] = &[$( ($code, $title), )*];

        const _: () = assert!($crate::diagnostic::are_ascending(OWN), "the codes are in ascending order");
    };
}

/// Whether codes are in ascending order. They have one length.
pub const fn are_ascending(codes: &[(&str, &str)]) -> bool {
    let (mut n, mut k) = (1, 0);
    while n < codes.len() {
        let (before, code) = (codes[n - 1].0.as_bytes(), codes[n].0.as_bytes());
        if k == code.len() || before[k] > code[k] {
            return false;
        }
        (n, k) = if before[k] < code[k] { (n + 1, 0) } else { (n, k + 1) };
    }
    true
}

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Information; nothing is wrong.
    Note,
    /// A probable mistake; the program can run.
    Warning,
    /// The program cannot be compiled or cannot run.
    Error,
}

impl Severity {
    /// The word at the beginning of messages.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A range of source text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Index into [`Sources`].
    pub file: u16,
    /// Byte offsets into the file's text.
    pub span: Range<usize>,
}

/// A place with its role in the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub place: Place,
    /// The description of its role; may be empty.
    pub text: String,
}

/// A message about a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// A stable code, such as `P0007`.
    pub code: &'static str,
    /// One line that describes the problem.
    pub message: String,
    /// The main place, if there is one.
    pub primary: Option<Label>,
    /// Related places.
    pub secondary: Vec<Label>,
    /// Advice on how to fix it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error without a place; the methods below add to it.
    pub fn error(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            primary: None,
            secondary: Vec::new(),
            help: None,
        }
    }

    /// A warning without a place.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, message) }
    }

    /// Sets the place.
    #[must_use]
    pub fn at(mut self, place: Place, text: impl Into<String>) -> Diagnostic {
        self.primary = Some(Label { place, text: text.into() });
        self
    }

    /// Adds another place.
    #[must_use]
    pub fn also(mut self, place: Place, text: impl Into<String>) -> Diagnostic {
        self.secondary.push(Label { place, text: text.into() });
        self
    }

    /// Sets the help line.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }
}

/// A number with its noun: `1 word`, `2 words`.
pub fn plural(n: impl std::fmt::Display + PartialEq + From<u8>, thing: &str) -> String {
    let s = if n == 1.into() { "" } else { "s" };
    format!("{n} {thing}{s}")
}

/// The source texts that places refer to.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<(String, String)>,
    /// The offsets of the lines of each file, computed on first use.
    lines: Vec<OnceLock<Vec<usize>>>,
}

impl Sources {
    /// Adds a file and returns its index; `None` if there are 65 536 files already.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> Option<u16> {
        let index = u16::try_from(self.files.len()).ok()?;
        self.files.push((name.into(), text.into()));
        self.lines.push(OnceLock::new());
        Some(index)
    }

    /// A file's name.
    pub fn name(&self, file: u16) -> &str {
        self.files.get(file as usize).map_or("", |(name, _)| name)
    }

    /// A file's text.
    pub fn text(&self, file: u16) -> &str {
        self.files.get(file as usize).map_or("", |(_, text)| text)
    }

    /// A line of a file, counted from 1, without its line break, and its byte offset.
    pub fn line(&self, file: u16, number: u32) -> Option<(usize, &str)> {
        let text = &self.files.get(file as usize)?.1;
        let starts = self.lines.get(file as usize)?.get_or_init(|| {
            let ends = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(n, _)| n + 1);
            std::iter::once(0).chain(ends).collect()
        });
        let start = *starts.get((number as usize).checked_sub(1)?)?;
        Some((start, text.get(start..)?.lines().next().unwrap_or("")))
    }

    /// The number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there are no files.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}
