//! The files of a program: finds, reads and keeps them.
//!
//! This module decides which files an `.include` may reach: those in the root file's folder and below, after `..` and
//! symbolic links are resolved, unless the options say otherwise. [`expand`](crate::expand) handles the statements.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use crate::diagnostic::Sources;
use crate::options::Options;

/// A file of the program.
#[derive(Debug)]
pub(crate) struct SourceFile {
    pub(crate) name: String,
    /// `None` while it is being read.
    pub(crate) text: String,
    /// Where its spans begin.
    pub(crate) base: u32,
}

/// The files. The first is the root file.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) list: Vec<SourceFile>,
    by_path: HashMap<PathBuf, usize>,
    /// The root file's folder.
    root: PathBuf,
}

/// Why a file is not included.
#[derive(Debug)]
pub(crate) enum Refusal {
    Outside { root: PathBuf },
    Unreadable(String),
    TooLarge,
}

/// A file that may be included.
#[derive(Debug)]
pub(crate) enum Found {
    /// It was read before, and has this index.
    Known(usize),
    /// It was read now.
    New { name: String, text: String, path: PathBuf },
}

impl Files {
    pub(crate) fn new(name: &str, options: &Options) -> Files {
        let path = resolve(Path::new(name), options).unwrap_or_else(|_| normal(Path::new(name)));
        let folder = folder(name);
        let root = resolve(&folder, options).unwrap_or_else(|_| normal(&folder));
        let root_file = SourceFile { name: name.to_string(), text: String::new(), base: 0 };
        Files { list: vec![root_file], by_path: HashMap::from([(path, 0)]), root }
    }

    /// Looks for a file that the file `from` includes. It may have at most `limit` bytes.
    pub(crate) fn find(&self, from: usize, file_name: &str, limit: usize, options: &Options) -> Result<Found, Refusal> {
        let unreadable = |error: io::Error| Refusal::Unreadable(error.to_string());
        let includer = self.list.get(from).map_or("", |f| f.name.as_str());
        let written = folder(includer).join(file_name);
        let path = resolve(&written, options).map_err(unreadable)?;
        if !options.include_outside && !inside(&path, &self.root) {
            return Err(Refusal::Outside { root: self.root.clone() });
        }
        if let Some(&known) = self.by_path.get(&path) {
            return Ok(Found::Known(known));
        }
        let text = match &options.loader {
            Some(loader) => loader(&path).map_err(unreadable)?,
            None => read(&path, limit)?,
        };
        if text.len() > limit {
            return Err(Refusal::TooLarge);
        }
        let name = normal(&written).to_string_lossy().into_owned();
        Ok(Found::New { name, text, path })
    }

    /// Reads a file that does not come from the program, of at most `limit` bytes.
    pub(crate) fn read_given(&self, name: &str, limit: usize, options: &Options) -> Result<String, Refusal> {
        let text = match &options.loader {
            Some(loader) => loader(Path::new(name)).map_err(|error| Refusal::Unreadable(error.to_string()))?,
            None => read(Path::new(name), limit)?,
        };
        if text.len() > limit { Err(Refusal::TooLarge) } else { Ok(text) }
    }

    pub(crate) fn add(&mut self, name: String, text: String, path: PathBuf, base: u32) -> usize {
        self.by_path.insert(path, self.list.len());
        self.list.push(SourceFile { name, text, base });
        self.list.len() - 1
    }

    /// Takes the text out of a file, in order to read it.
    pub(crate) fn take(&mut self, file: usize) -> String {
        self.list.get_mut(file).map(|f| std::mem::take(&mut f.text)).unwrap_or_default()
    }

    /// Puts a file's text back.
    pub(crate) fn put_back(&mut self, file: usize, text: String) {
        if let Some(f) = self.list.get_mut(file) {
            f.text = text;
        }
    }

    /// The files in the form that diagnostics refer to.
    pub(crate) fn into_sources(self) -> Sources {
        let mut sources = Sources::default();
        for file in self.list {
            // There are never more than 65 536 files: `expand` checks that.
            let _ = sources.add(file.name, file.text);
        }
        sources
    }
}

fn folder(name: &str) -> PathBuf {
    match Path::new(name).parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// The path without `.`, `..` and links. With a loader, which may not know such things, the names alone decide.
fn resolve(path: &Path, options: &Options) -> io::Result<PathBuf> {
    if options.loader.is_some() { Ok(normal(path)) } else { fs::canonicalize(path) }
}

/// Whether a normalized path lies in a folder.
fn inside(path: &Path, folder: &Path) -> bool {
    path.strip_prefix(folder).is_ok_and(|rest| rest.components().all(|part| matches!(part, Component::Normal(_))))
}

/// The path without `.`, and without `..` as far as the names tell.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            Component::ParentDir if out.has_root() => {}
            part => out.push(part),
        }
    }
    out
}

/// Reads at most `limit` bytes of a file. It must be a regular file.
fn read(path: &Path, limit: usize) -> Result<String, Refusal> {
    let unreadable = |error: io::Error| Refusal::Unreadable(error.to_string());
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(Refusal::Unreadable("it is not a file".to_string()));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > limit {
        return Err(Refusal::TooLarge);
    }
    String::from_utf8(bytes).map_err(|_| Refusal::Unreadable("it is not text in UTF-8".to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_their_detours() {
        assert_eq!(normal(Path::new("./a/../b/./c")), Path::new("b/c"));
        assert_eq!(normal(Path::new("../a/../../b")), Path::new("../../b"));
        assert_eq!(normal(Path::new("/../x")), Path::new("/x"));
    }
}
