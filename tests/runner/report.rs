//! What is wrong with a test program: lines that name its file, and where possible the line in it.

use std::fmt::{Debug, Display, Write as _};
use std::path::{Path, PathBuf};

use libtest_mimic::Failed;

use crate::expectations::{Expectations, Language, Problem, differences};

/// A test program with what it expects.
pub(crate) struct TestFile {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) expected: Expectations,
}

impl TestFile {
    /// Reads a program. Errors: it cannot be read, or has an expectation that is none.
    pub(crate) fn read(path: &Path) -> Result<TestFile, Failed> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", name(path)))?;
        let language = Language::of(path).ok_or_else(|| format!("{}: no language has this extension", name(path)))?;
        let expected = Expectations::read(language, &text);
        let expected = expected.map_err(|(line, message)| format!("{}:{line}: {message}", name(path)))?;
        Ok(TestFile { path: path.to_path_buf(), text, expected })
    }

    /// The name of the file within its folder.
    pub(crate) fn file_name(&self) -> String {
        self.path.file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned())
    }
}

/// The path of a file as seen from the root of the repository.
pub(crate) fn name(path: &Path) -> String {
    path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(path).display().to_string()
}

/// The line, counted from 1, of a position in a text.
pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset.min(text.len())].iter().filter(|b| **b == b'\n').count()
}

/// Collects what is wrong with a file.
pub(crate) struct Report {
    file: String,
    /// How the program is being run, such as `-O1, jit`.
    pub(crate) context: String,
    text: String,
}

impl Report {
    pub(crate) fn new(path: &Path) -> Report {
        Report { file: name(path), context: String::new(), text: String::new() }
    }

    /// Something is wrong that belongs to a line.
    pub(crate) fn at(&mut self, line: usize, message: impl Display) {
        let context = if self.context.is_empty() { String::new() } else { format!("{}: ", self.context) };
        let _ = writeln!(self.text, "{}:{line}: {context}{message}", self.file);
    }

    /// Something is wrong with the program as a whole.
    pub(crate) fn add(&mut self, message: impl Display) {
        let context = if self.context.is_empty() { String::new() } else { format!("{}: ", self.context) };
        let _ = writeln!(self.text, "{}: {context}{message}", self.file);
    }

    /// Compares problems.
    pub(crate) fn compare(&mut self, expected: &[Problem], found: Vec<Problem>) {
        for (line, message) in differences(expected, found) {
            self.at(line, message);
        }
    }

    /// Compares two values that should be the same.
    pub(crate) fn same<T: PartialEq + Debug>(&mut self, what: impl Display, expected: &T, found: &T) {
        if expected != found {
            self.add(format_args!("{what}: expected {expected:?}, found {found:?}"));
        }
    }

    /// Compares the lines that a run shows.
    pub(crate) fn compare_shown(&mut self, expected: &Expectations, found: &[String]) {
        let wanted = expected.shown();
        if wanted != *found {
            self.add(format_args!("expected to show {wanted:?}, found {found:?}"));
        }
    }

    /// Runs a part of a test; an error in it is a complaint.
    pub(crate) fn attempt(&mut self, part: impl FnOnce(&mut Report) -> Result<(), String>) {
        if let Err(message) = part(self) {
            self.add(message);
        }
    }

    pub(crate) fn finish(self) -> Result<(), Failed> {
        if self.text.is_empty() { Ok(()) } else { Err(self.text.into()) }
    }
}
