//! What files of tests expect, and what came: the part that all harnesses share.

pub(crate) mod command;
pub(crate) mod compiled;
pub(crate) mod janus;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A folder for the files that tests of this name write.
pub(crate) fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).expect("a folder");
    path
}

/// Settings of the C compiler, the same for all tests of the process: what users get, kept where the build keeps its files.
#[cfg(feature = "native")]
pub(crate) fn c_compiler() {
    crate::machine::lockstep::cheap_libraries("-O3");
}

/// A diagnostic, finding or trap: one that a file expects, or one that came.
pub(crate) struct Problem {
    pub(crate) line: usize,
    pub(crate) code: String,
    pub(crate) message: String,
    /// The source under the caret.
    pub(crate) source: Option<String>,
}

impl Problem {
    /// What follows the mark of an expectation: `P0102 text @ source`.
    pub(crate) fn of(line: usize, text: &str) -> Problem {
        let (text, source) = match text.rsplit_once(" @ ") {
            Some((text, source)) => (text.trim(), Some(source.trim().to_string())),
            None => (text.trim(), None),
        };
        let (code, message) = text.split_once(' ').unwrap_or((text, ""));
        Problem { line, code: code.to_string(), message: message.trim().to_string(), source }
    }

    /// Whether this is what was found.
    pub(crate) fn is(&self, found: &Problem) -> bool {
        let same = self.line == found.line && self.code == found.code && found.message.contains(&self.message);
        same && (self.source.is_none() || self.source == found.source)
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "at line {}: {} {}", self.line, self.code, self.message)?;
        self.source.as_ref().map_or(Ok(()), |source| write!(f, " @ {source}"))
    }
}

/// Complains about what is expected and did not come, and what came and is not expected.
pub(crate) fn compare(expected: &[Problem], mut found: Vec<Problem>, complaints: &mut String) {
    for problem in expected {
        match found.iter().position(|f| problem.is(f)) {
            Some(n) => {
                found.remove(n);
            }
            None => {
                let _ = writeln!(complaints, "expected {problem}");
            }
        }
    }
    for problem in found {
        let _ = writeln!(complaints, "unexpected {problem}");
    }
}
