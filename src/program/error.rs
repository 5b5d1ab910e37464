//! Errors of the library, with the messages that the command line prints.

use std::fmt;

use pendula_asm::diagnostic::{Diagnostic, Sources};

use crate::report::Reporter;

/// What kind of thing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file cannot be read, or does not hold a program.
    File,
    /// The program is wrong: [`Error::diagnostics`] says where.
    Program,
    /// Arguments, names or options do not fit.
    Argument,
    /// A result does not have the requested type.
    Value,
    /// The run stopped at a trap.
    Trap,
    /// The run reached its limit of steps.
    Limit,
    /// There is no gradient, or it is wrong.
    Gradient,
    /// The machine or its engine is not available.
    Machine,
}

/// Why there is no result. It is displayed as on the command line, with the place in the source if there is one.
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    code: Option<String>,
    text: String,
    diagnostics: Vec<Diagnostic>,
}

impl Error {
    /// What kind of thing went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The code under which the book's chapter on errors describes it, such as `P0107`.
    pub fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }

    /// The errors of the program, if it is wrong.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// An error without a place.
    pub(super) fn failed(kind: ErrorKind, error: impl Into<anyhow::Error>) -> Error {
        let error = error.into();
        let reporter = Reporter::collecting();
        reporter.failure(&error);
        let code = crate::report::complaint(&error).1.map(str::to_string);
        Error { kind, code, text: reporter.collected(), diagnostics: Vec::new() }
    }

    pub(super) fn argument(message: &str) -> Error {
        Error::failed(ErrorKind::Argument, anyhow::anyhow!("{message}"))
    }

    pub(super) fn value(message: String) -> Error {
        Error::failed(ErrorKind::Value, anyhow::anyhow!(message))
    }

    /// An error that consists of diagnostics.
    pub(super) fn told(kind: ErrorKind, diagnostics: Vec<Diagnostic>, sources: &Sources) -> Error {
        let reporter = Reporter::collecting();
        reporter.diagnostics(&diagnostics, sources);
        let code = diagnostics.iter().map(|d| d.code.to_string()).next();
        Error { kind, code, text: reporter.collected(), diagnostics }
    }

    /// An error that was written to a reporter.
    pub(super) fn reported(kind: ErrorKind, code: Option<&str>, reporter: &Reporter) -> Error {
        Error { kind, code: code.map(str::to_string), text: reporter.collected(), diagnostics: Vec::new() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.trim_end())
    }
}

impl std::error::Error for Error {}
