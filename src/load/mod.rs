//! Loads files of any kind as modules: assembly text, objects, and programs in Nil, Janus and PISA; functional programs are none. The extension
//! determines the kind; if it does not, the content does.

use std::io::Read;
use std::path::Path;

use pendula_asm::assemble::Options;
use pendula_asm::diagnostic::Sources;
use pendula_asm::object::{self, ObjectError};
use pendula_compiler::compile;
use pendula_isa::budget::{Budget, Exceeded};

use crate::state::compiled::plain;
pub use crate::state::compiled::{CompiledSource, Loaded};
pub use crate::state::language::{FileKind, Language};

/// Why a file cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It cannot be read.
    #[error("cannot read {path}: {error}")]
    Read {
        /// The file.
        path: String,
        /// The reason.
        error: std::io::Error,
    },
    /// It is larger than allowed.
    #[error(transparent)]
    TooLarge(Box<Exceeded>),
    /// It is neither an object nor UTF-8 text.
    #[error("{path} is neither an object nor UTF-8 text (byte {offset})")]
    NotText {
        /// The file.
        path: String,
        /// The offset of the first byte that is not UTF-8.
        offset: usize,
    },
    /// It is a functional program, which is not code of the machine.
    #[error(
        "{path} is {what}, which is evaluated and has no code for the machine yet; `pendula run`, `grad`, `compile --emit core` and \
         `check` take it"
    )]
    Functional {
        /// The file.
        path: String,
        /// What it is.
        what: &'static str,
    },
    /// It is an invalid object.
    #[error("{path}: {error}")]
    Object {
        /// The file.
        path: String,
        /// What is wrong.
        error: ObjectError,
    },
}

/// Reads a file's bytes, at most as many as the budget allows; `-` is standard input.
pub fn read_bytes(path: &str, budget: &Budget) -> Result<Vec<u8>, LoadError> {
    let _span = tracing::debug_span!("read", file = display_name(path)).entered();
    let fail = |error| LoadError::Read { path: path.to_string(), error };
    let mut bytes = Vec::new();
    let most = budget.bytes.saturating_add(1);
    if path == "-" {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes).map_err(fail)?;
    } else {
        std::fs::File::open(path).map_err(fail)?.take(most).read_to_end(&mut bytes).map_err(fail)?;
    }
    let what = || format!("`{}`", display_name(path));
    budget.large(bytes.len() as u64, what).map_err(|e| LoadError::TooLarge(Box::new(e)))?;
    Ok(bytes)
}

/// Like [`read_bytes`] for a program; the error names the command-line option that raises the limit.
pub fn read_source(path: &str, budget: &Budget) -> Result<Vec<u8>, LoadError> {
    read_bytes(path, budget).map_err(|e| match e {
        LoadError::TooLarge(e) => {
            LoadError::TooLarge(Box::new(e.instead("divide the program").raised_by("--max-source")))
        }
        e => e,
    })
}

/// Determines what a file holds from its name, or else from its content.
pub fn kind_of(path: &str, bytes: &[u8]) -> FileKind {
    let bytes = &bytes[..bytes.len().min(LOOKED_AT)];
    let extension = Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
    if let Some(kind) = functional(&extension) {
        return kind;
    }
    let find =
        |is: &dyn Fn(&dyn Language) -> bool| FileKind::SOURCES.into_iter().find(|k| k.language().is_some_and(is));
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    match find(&|language| language.extensions().contains(&extension.as_str())) {
        Some(kind) => kind,
        None if object::is_object(bytes) => FileKind::Object,
        None if defines(text, &[b"(define "]) => FileKind::Vlad,
        None if defines(text, &[b"def ", b"entry "]) => FileKind::Futhark,
        None => find(&|language| language.is_text(text)).unwrap_or(FileKind::Assembly),
    }
}

/// The kind of functional program that files with this extension hold.
fn functional(extension: &str) -> Option<FileKind> {
    match extension {
        "vlad" => Some(FileKind::Vlad),
        "fut" => Some(FileKind::Futhark),
        _ => None,
    }
}

/// True if a line begins with one of these.
fn defines(text: &[u8], with: &[&[u8]]) -> bool {
    text.split(|b| matches!(b, b'\n' | b'\r')).any(|line| with.iter().any(|with| line.starts_with(with)))
}

/// The number of bytes of a file that are inspected to see what it holds.
const LOOKED_AT: usize = 1 << 16;

/// Determines what a file holds before it is read; `None` for standard input, and for a file that cannot be read.
pub fn kind_at(path: &str) -> Option<FileKind> {
    let mut bytes = Vec::new();
    if path == "-" {
        return None;
    }
    std::fs::File::open(path).ok()?.take(LOOKED_AT as u64).read_to_end(&mut bytes).ok()?;
    Some(kind_of(path, &bytes))
}

/// Converts a file's bytes to text.
pub fn text_of(path: &str, bytes: Vec<u8>) -> Result<String, LoadError> {
    String::from_utf8(bytes)
        .map_err(|e| LoadError::NotText { path: path.to_string(), offset: e.utf8_error().valid_up_to() })
}

/// The name of a file in messages.
pub fn display_name(path: &str) -> &str {
    if path == "-" { "<stdin>" } else { path }
}

/// Loads a file: assembles it, reads it as an object, or compiles it.
pub fn load(path: &str, options: &Options, nil: &compile::Options) -> Result<Loaded, LoadError> {
    load_bytes(path, read_source(path, &options.budget)?, options, nil)
}

/// Like [`load`] for the bytes of a file; `path` is its path, or the name that messages use.
pub fn load_bytes(path: &str, bytes: Vec<u8>, options: &Options, nil: &compile::Options) -> Result<Loaded, LoadError> {
    let kind = kind_of(path, &bytes);
    if kind.is_functional() {
        return Err(LoadError::Functional { path: display_name(path).to_string(), what: kind.name() });
    }
    match kind.language() {
        None => {
            let module = object::read_within(&bytes, &options.budget)
                .map_err(|error| LoadError::Object { path: path.to_string(), error })?;
            Ok(plain(Some(module), Vec::new(), Sources::default()))
        }
        Some(language) => Ok(language.load(display_name(path), text_of(path, bytes)?, options, nil)),
    }
}
