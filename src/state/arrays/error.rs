//! Why the text or the bytes of a file are not an array, while the file's name is not known.

use pendula_isa::budget::Exceeded;

use super::ArrayError;

/// Why something cannot be read.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// A message.
    Message(String),
    /// A limit was exceeded.
    Exceeded(Exceeded),
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReadError::Message(message) => f.write_str(message),
            ReadError::Exceeded(exceeded) => exceeded.fmt(f),
        }
    }
}

impl From<String> for ReadError {
    fn from(said: String) -> ReadError {
        ReadError::Message(said)
    }
}

impl From<&str> for ReadError {
    fn from(said: &str) -> ReadError {
        ReadError::Message(said.to_string())
    }
}

impl From<Exceeded> for ReadError {
    fn from(exceeded: Exceeded) -> ReadError {
        ReadError::Exceeded(exceeded)
    }
}

impl ArrayError {
    /// The error for a file.
    pub(crate) fn new(path: &str, error: impl Into<ReadError>) -> ArrayError {
        let path = path.to_string();
        match error.into() {
            ReadError::Message(message) => ArrayError { path, message, exceeded: None },
            ReadError::Exceeded(e) => ArrayError { path, message: e.to_string(), exceeded: Some(Box::new(e)) },
        }
    }
}
