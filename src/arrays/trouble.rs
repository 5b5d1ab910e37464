//! Why a file's text or bytes are no array, before it is known which file it is.

use pendula_isa::budget::Exceeded;

use super::ArrayError;

/// What is wrong.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// In words.
    Said(String),
    /// It is more than is read.
    Exceeded(Exceeded),
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Trouble::Said(message) => f.write_str(message),
            Trouble::Exceeded(exceeded) => exceeded.fmt(f),
        }
    }
}

impl From<String> for Trouble {
    fn from(said: String) -> Trouble {
        Trouble::Said(said)
    }
}

impl From<&str> for Trouble {
    fn from(said: &str) -> Trouble {
        Trouble::Said(said.to_string())
    }
}

impl From<Exceeded> for Trouble {
    fn from(exceeded: Exceeded) -> Trouble {
        Trouble::Exceeded(exceeded)
    }
}

impl ArrayError {
    /// What is wrong with a file.
    pub(crate) fn new(path: &str, trouble: impl Into<Trouble>) -> ArrayError {
        let path = path.to_string();
        match trouble.into() {
            Trouble::Said(message) => ArrayError { path, message, exceeded: None },
            Trouble::Exceeded(e) => ArrayError { path, message: e.to_string(), exceeded: Some(Box::new(e)) },
        }
    }
}
