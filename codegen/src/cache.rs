//! Where compiled code is kept, and what of it may be loaded.
//!
//! To load a library is to run it. So one is loaded only from a directory that
//! belongs to the user and that nobody else may write to, which is found out on
//! the directory itself when it is open, not on its name; from a file of the
//! user's that nobody else may read or write; and if it is, to the last byte,
//! what was put there for this source, these options, this compiler and this
//! host: all of that lies beside it with its digest.
//!
//! Where there is no such directory (no `HOME`, or one that is not the user's), a
//! fresh one among the system's temporary files serves for one library, and goes
//! when that is loaded. On systems without owners and modes that is always so.
//!
//! # Names
//!
//! | name | what |
//! |---|---|
//! | `STEM.so` | a library; the stem has a hash of all that it depends on |
//! | `STEM.sum` | its length and digest, and in full what it was made of |
//! | `STEM.c` | a source that the compiler has failed on, to be looked at |
//! | `work-RANDOM` | where a compiler is at work, or was when its process ended |
//!
//! A file gets its name when it is whole. Whoever works in a directory holds a lock on
//! it, which the system takes back when the process ends however that happens:
//! a directory without is waste, and the next one that compiles removes it.

#[cfg(not(unix))]
mod portable;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
use portable as system;
#[cfg(unix)]
use unix as system;

use std::fs::{DirBuilder, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use object::elf::{FileHeader32, FileHeader64, PT_LOAD};
use object::read::elf::{FileHeader, ProgramHeader as _};
use system::{builder, close, is_own, is_private, is_same, open, open_directory, readable, writable};

/// What the directories are called where compilers work, in the cache and among temporary files.
const WORK: &str = "work-";
const TEMPORARY: &str = "pendula-work-";

/// How long sources that a compiler has failed on are kept.
const SOURCES: Duration = Duration::from_secs(7 * 24 * 3600);

/// How old waste must be where the system has no locks to tell it by.
const WASTE: Duration = Duration::from_secs(24 * 3600);

/// The largest library that is read back.
const MOST: u64 = 1 << 30;

/// A directory that is open, and that nobody but the user may write to.
#[derive(Debug)]
pub(crate) struct Directory {
    /// What it is called.
    path: PathBuf,
    /// A way to it that leads to the same directory whatever becomes of the name.
    base: PathBuf,
    /// It stays open as long as that way is used.
    _open: Option<File>,
    /// Whether it goes when it is no longer used.
    passing: bool,
}

impl Drop for Directory {
    fn drop(&mut self) {
        if self.passing {
            // It is empty but for what was just used; what stays is waste, which others remove.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

impl Directory {
    /// The directory of this name, which is made if it is not there.
    pub(crate) fn kept(path: &Path) -> io::Result<Directory> {
        // A slash at the end would follow a link.
        let path: PathBuf = std::path::absolute(path)?.components().collect();
        if path.symlink_metadata().is_err() {
            builder().recursive(true).create(&path)?;
        }
        let directory = open(path)?;
        directory.close_to_others()?;
        Ok(directory)
    }

    /// A fresh directory for one library.
    pub(crate) fn passing() -> io::Result<Directory> {
        let temporary = std::path::absolute(std::env::temp_dir())?;
        sweep_work(&temporary, TEMPORARY);
        let (path, open) = fresh(&temporary, TEMPORARY)?;
        Ok(Directory { base: path.clone(), path, _open: Some(open), passing: true })
    }

    /// What it is called.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether what lies there stays.
    pub(crate) fn keeps(&self) -> bool {
        !self.passing
    }

    /// A file of it, to be opened.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    /// Makes a fresh directory for a compiler to work in, and removes what others have left that were killed.
    pub(crate) fn work(&self) -> io::Result<Work> {
        sweep_work(&self.base, WORK);
        self.sweep_files();
        let (path, open) = fresh(&self.base, WORK)?;
        Ok(Work { path, _open: open })
    }

    /// Whether there is a library of this stem that is what was made of `key`, so that it may be loaded.
    pub(crate) fn has(&self, stem: &str, key: &str) -> bool {
        let read = |suffix: &str, most: u64| {
            let mut file = readable().open(self.at(&format!("{stem}.{suffix}"))).ok()?;
            let about = file.metadata().ok()?;
            if !about.is_file() || !is_private(&about) || about.len() > most {
                return None;
            }
            let mut bytes = Vec::new();
            // As much as there was, should it grow.
            (&mut file).take(about.len()).read_to_end(&mut bytes).ok()?;
            Some(bytes)
        };
        let Some(sum) = read("sum", (key.len() + 256) as u64) else { return false };
        // A sum is at most as long as it should be, a library as long as that says.
        let Some(len) = sum.split(|b| *b == b' ').nth(1).and_then(|w| std::str::from_utf8(w).ok()?.parse().ok()) else {
            return false;
        };
        read("so", MOST.min(len)).is_some_and(|library| sum == summary(&library, key).as_bytes())
    }

    /// Takes what a compiler has made into the directory.
    pub(crate) fn take(&self, work: &Work, stem: &str, key: &str) -> io::Result<()> {
        let path = work.at("library.so");
        let mut file = readable().open(&path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("the compiler has made something that is no file"));
        }
        close(&file)?;
        let mut library = Vec::new();
        (&mut file).take(MOST).read_to_end(&mut library)?;
        if is_cut_off(&library) {
            return Err(io::Error::other("the compiler has made a library that is not whole"));
        }
        file.sync_all()?;
        let sum = work.at("library.sum");
        let mut written = writable().open(&sum)?;
        written.write_all(summary(&library, key).as_bytes())?;
        written.sync_all()?;
        // In between, the two do not fit, and whoever comes then makes the library anew.
        std::fs::rename(&path, self.at(&format!("{stem}.so")))?;
        std::fs::rename(&sum, self.at(&format!("{stem}.sum")))?;
        // What was wrong with an earlier compiler is past.
        let _ = std::fs::remove_file(self.at(&format!("{stem}.c")));
        self.sync()
    }

    /// Forgets a library.
    pub(crate) fn forget(&self, stem: &str) {
        for suffix in ["sum", "so"] {
            let _ = std::fs::remove_file(self.at(&format!("{stem}.{suffix}")));
        }
    }

    /// Keeps a source that the compiler has failed on; gives what it is called.
    pub(crate) fn keep_source(&self, work: &Work, stem: &str) -> Option<PathBuf> {
        let name = format!("{stem}.c");
        (self.keeps() && std::fs::rename(work.at("source.c"), self.at(&name)).is_ok()).then(|| self.path.join(name))
    }

    /// Names are there after a breakdown, too.
    fn sync(&self) -> io::Result<()> {
        match &self._open {
            Some(open) if cfg!(unix) => open.sync_all(),
            _ => Ok(()),
        }
    }

    /// Removes what earlier versions have left half done, and sources that nobody has looked at for long.
    fn sweep_files(&self) {
        for entry in entries(&self.base) {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let Some((stem, suffix)) = ours(&name) else { continue };
            let Ok(about) = entry.metadata() else { continue };
            let waste = match suffix {
                "c" => SOURCES,
                "so" if !self.at(&format!("{stem}.sum")).exists() => WASTE,
                _ => continue,
            };
            if about.is_file() && is_older(&about, waste) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// A directory in which a compiler works. What is in it goes with it.
#[derive(Debug)]
pub(crate) struct Work {
    path: PathBuf,
    /// Locked.
    _open: File,
}

impl Work {
    /// A file of it, to be opened.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a source.
    pub(crate) fn write(&self, name: &str, text: &str) -> io::Result<()> {
        writable().open(self.at(name))?.write_all(text.as_bytes())
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// What lies beside a library.
fn summary(library: &[u8], key: &str) -> String {
    format!("pendula-library {} {:032x}\n{key}", library.len(), xxhash_rust::xxh3::xxh3_128(library))
}

/// Whether a library ends before what its header says is in it: the system would load it all the same, and end us when it comes to what is not there.
fn is_cut_off(library: &[u8]) -> bool {
    fn of<H: FileHeader<Endian = object::Endianness>>(library: &[u8]) -> bool {
        let parts = || -> object::read::Result<bool> {
            let header = H::parse(library)?;
            let endian = header.endian()?;
            let parts = header.program_headers(endian, library)?;
            let loaded = parts.iter().filter(|p| p.p_type(endian) == PT_LOAD);
            Ok(loaded.into_iter().all(|p| p.data(endian, library).is_ok()))
        };
        !parts().unwrap_or(false)
    }
    match object::FileKind::parse(library) {
        Ok(object::FileKind::Elf64) => of::<FileHeader64<object::Endianness>>(library),
        Ok(object::FileKind::Elf32) => of::<FileHeader32<object::Endianness>>(library),
        // Where libraries are no ELF files, or this is none at all, the system's loader says so.
        _ => library.is_empty(),
    }
}

/// The stem and the suffix of a file that is ours by its name: letters and digits, a hash, and what earlier versions put behind it.
fn ours(name: &str) -> Option<(&str, &str)> {
    let (stem, suffix) = name.rsplit_once('.')?;
    let (plain, rest) = stem.split_once('-')?;
    let (hash, rest) = rest.split_at_checked(32)?;
    let known = rest.is_empty() || rest.starts_with('_') && rest.contains("_ThreadId_");
    let ours = plain.bytes().all(|b| b.is_ascii_alphanumeric()) && hash.bytes().all(|b| b.is_ascii_hexdigit());
    (ours && known).then_some((stem, suffix))
}

fn entries(directory: &Path) -> impl Iterator<Item = std::fs::DirEntry> {
    std::fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok)
}

fn is_older(about: &Metadata, than: Duration) -> bool {
    about.modified().is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > than))
}

/// Makes a directory of a name that nothing has, and locks it.
fn fresh(parent: &Path, prefix: &str) -> io::Result<(PathBuf, File)> {
    for _ in 0..100 {
        // The keys of hash tables are random, for each of them another.
        let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), std::process::id());
        let path = parent.join(format!("{prefix}{random:016x}"));
        match builder().create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            made => made?,
        }
        // One that sweeps may take it for waste, as long as it is not locked.
        match open_directory(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            opened => {
                let open = opened?;
                let locked = !matches!(open.try_lock(), Err(TryLockError::WouldBlock));
                if locked && is_same(&path, &open) {
                    return Ok((path, open));
                }
            }
        }
    }
    Err(io::Error::other("no directory that is made here stays"))
}

/// Removes the directories that nobody works in any more.
fn sweep_work(parent: &Path, prefix: &str) {
    for entry in entries(parent) {
        let named = entry.file_name();
        let rest = named.to_str().and_then(|n| n.strip_prefix(prefix));
        if !rest.is_some_and(|r| r.len() == 16 && r.bytes().all(|b| b.is_ascii_hexdigit())) {
            continue;
        }
        let path = entry.path();
        let Ok(open) = open_directory(&path) else { continue };
        let Ok(about) = open.metadata() else { continue };
        let left = match open.try_lock() {
            Ok(()) => is_same(&path, &open),
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(_)) => is_older(&about, WASTE),
        };
        if left && is_own(&about) {
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}
