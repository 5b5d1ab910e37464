//! The cache of compiled libraries, and which of them may be loaded.
//!
//! Loading a library runs its code. Therefore a library is only loaded if all of this holds:
//!
//! - Its directory belongs to the user and nobody else may write to it. This is checked on the open directory, not on its name.
//! - Its file belongs to the user and nobody else may read or write it.
//! - It is byte for byte what was stored for this source, these options, this compiler and this host. All of these are stored
//!   beside it, with its digest.
//!
//! Without such a directory (no `HOME`, or one of another user), a temporary directory serves for one library and is removed
//! after loading. Systems without owners and modes always use a temporary directory.
//!
//! # Names
//!
//! | name | contents |
//! |---|---|
//! | `STEM.so` | a library; the stem contains a hash of everything that it depends on |
//! | `STEM.sum` | the library's length, digest and full key |
//! | `STEM.c` | a source that the compiler failed on, kept for inspection |
//! | `STEM.begun` | how often the compiler began with this library and did not end, a byte for each time |
//! | `work-RANDOM` | the working directory of a compiler that runs, or whose process was killed |
//!
//! Files are renamed to their final names only when complete. A process holds a lock on its working directory, and the system
//! releases the lock when the process ends for any reason. A working directory without a lock is therefore abandoned, and the
//! next process that compiles removes it.

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
use system::{builder, is_owned_by_user, is_private, is_same, open, open_directory, readable, restrict, writable};

/// Prefixes of working directories, in the cache and among temporary files.
const WORK: &str = "work-";
const TEMPORARY: &str = "pendula-work-";

/// How long sources that the compiler failed on are kept.
const SOURCE_RETENTION: Duration = Duration::from_secs(7 * 24 * 3600);

/// The age from which on a file or directory counts as abandoned where locks cannot decide.
const ABANDONED_AFTER: Duration = Duration::from_secs(24 * 3600);

/// How often the use of a library is noted.
const USE_INTERVAL: Duration = Duration::from_secs(3600);

/// The suffixes of files in the cache.
const SUFFIXES: [&str; 4] = ["so", "sum", "c", "begun"];

/// A library in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedLibrary {
    /// Its name, which contains a hash of everything that it depends on.
    pub name: String,
    /// Its size in bytes, with the record of what it was made from.
    pub bytes: u64,
    /// When it was last used, to the hour.
    pub used: SystemTime,
}

/// The maximum size in bytes of a library that is read back.
const MAX_LIBRARY: u64 = 1 << 30;

/// An open directory that only the user may write to.
#[derive(Debug)]
pub(crate) struct Directory {
    /// Its name.
    path: PathBuf,
    /// A path that leads to the same directory even if the name changes.
    base: PathBuf,
    /// Keeps the directory open, so that `base` stays valid.
    _open: Option<File>,
    /// Whether the directory is removed after use.
    temporary: bool,
}

impl Drop for Directory {
    fn drop(&mut self) {
        if self.temporary {
            // If this fails, a later process removes what remains.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

impl Directory {
    /// The directory with this name. It is created if it does not exist.
    pub(crate) fn persistent(path: &Path) -> io::Result<Directory> {
        // A trailing slash would follow a link.
        let path: PathBuf = std::path::absolute(path)?.components().collect();
        if path.symlink_metadata().is_err() {
            builder().recursive(true).create(&path)?;
        }
        let directory = open(path)?;
        directory.restrict_to_user()?;
        Ok(directory)
    }

    /// A new temporary directory for one library.
    pub(crate) fn temporary() -> io::Result<Directory> {
        let temporary = std::path::absolute(std::env::temp_dir())?;
        sweep_work(&temporary, TEMPORARY);
        let (path, open) = create_work_directory(&temporary, TEMPORARY)?;
        Ok(Directory { base: path.clone(), path, _open: Some(open), temporary: true })
    }

    /// Its name.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether its contents stay after use.
    pub(crate) fn is_persistent(&self) -> bool {
        !self.temporary
    }

    /// The path for opening a file in it.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    /// Creates a working directory for a compiler, and removes abandoned ones.
    pub(crate) fn work(&self) -> io::Result<WorkDirectory> {
        sweep_work(&self.base, WORK);
        self.sweep_files();
        let (path, open) = create_work_directory(&self.base, WORK)?;
        Ok(WorkDirectory { path, _open: open })
    }

    /// Whether the library with this stem was made from `key`, unchanged since, and may be loaded.
    pub(crate) fn has(&self, stem: &str, key: &str) -> bool {
        let read = |suffix: &str, most: u64| {
            let mut file = readable().open(self.at(&format!("{stem}.{suffix}"))).ok()?;
            let metadata = file.metadata().ok()?;
            if !metadata.is_file() || !is_private(&metadata) || metadata.len() > most {
                return None;
            }
            let mut bytes = Vec::new();
            // Limited to the size checked above, in case the file grows.
            (&mut file).take(metadata.len()).read_to_end(&mut bytes).ok()?;
            Some(bytes)
        };
        let Some(sum) = read("sum", (key.len() + 256) as u64) else { return false };
        // The sum file states the length of the library.
        let Some(len) = sum.split(|b| *b == b' ').nth(1).and_then(|w| std::str::from_utf8(w).ok()?.parse().ok()) else {
            return false;
        };
        let sound = read("so", MAX_LIBRARY.min(len)).is_some_and(|library| sum == summary(&library, key).as_bytes());
        if sound {
            self.note_use(stem);
        }
        sound
    }

    /// Notes that a library is used: the time of its sum file is that of its last use, to the hour.
    fn note_use(&self, stem: &str) {
        let path = self.at(&format!("{stem}.sum"));
        if path.metadata().is_ok_and(|metadata| is_older(&metadata, USE_INTERVAL))
            && let Ok(file) = OpenOptions::new().write(true).open(&path)
        {
            // If this fails, the library only seems older than it is.
            let _ = file.set_modified(SystemTime::now());
        }
    }

    /// The libraries, those used last first.
    pub(crate) fn libraries(&self) -> Vec<CachedLibrary> {
        let mut out: Vec<CachedLibrary> = entries(&self.base)
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let (stem, suffix) = parse_name(&name)?;
                let library = entry.metadata().ok().filter(|metadata| suffix == "so" && metadata.is_file())?;
                let sum = self.at(&format!("{stem}.sum")).metadata().ok();
                let used = sum.as_ref().unwrap_or(&library).modified().ok()?;
                Some(CachedLibrary { name: stem.into(), bytes: library.len() + sum.map_or(0, |sum| sum.len()), used })
            })
            .collect();
        out.sort_by(|a, b| b.used.cmp(&a.used).then_with(|| a.name.cmp(&b.name)));
        out
    }

    /// How often the compiler began with a library and did not end, lately.
    pub(crate) fn begun(&self, stem: &str) -> u32 {
        let metadata = self.at(&format!("{stem}.begun")).metadata().ok().filter(|m| !is_older(m, ABANDONED_AFTER));
        metadata.map_or(0, |metadata| u32::try_from(metadata.len()).unwrap_or(u32::MAX))
    }

    /// Notes that the compiler begins with a library. Returns the file that says so, which [`end_early`] takes back.
    pub(crate) fn begin(&self, stem: &str) -> PathBuf {
        // Without the note, it is only tried again sooner.
        let path = self.at(&format!("{stem}.begun"));
        if path.symlink_metadata().is_ok_and(|metadata| is_older(&metadata, ABANDONED_AFTER)) {
            let _ = std::fs::remove_file(&path);
        }
        let _ = OpenOptions::new().append(true).create(true).open(&path).and_then(|mut file| file.write_all(b"."));
        path
    }

    /// Notes that the compiler has ended.
    pub(crate) fn end(&self, stem: &str) {
        let _ = std::fs::remove_file(self.at(&format!("{stem}.begun")));
    }

    /// Removes all libraries, kept sources and abandoned working directories; returns the libraries.
    pub(crate) fn clear(&self) -> Vec<CachedLibrary> {
        let libraries = self.libraries();
        sweep_work(&self.base, WORK);
        for entry in entries(&self.base) {
            if entry.file_name().to_str().and_then(parse_name).is_some_and(|(_, suffix)| SUFFIXES.contains(&suffix)) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
        libraries
    }

    /// Removes the libraries that have not been used for longest, until the others take no more than `limit` bytes. The one
    /// with this stem stays.
    pub(crate) fn shrink(&self, limit: u64, stem: &str) {
        let mut total = 0;
        for library in self.libraries() {
            total += library.bytes;
            if total > limit && library.name != stem {
                self.remove(&library.name);
            }
        }
    }

    /// Moves a library that the compiler has made into the directory.
    pub(crate) fn install(&self, work: &WorkDirectory, stem: &str, key: &str) -> io::Result<()> {
        let path = work.at("library.so");
        let mut file = readable().open(&path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("the compiler's output is not a file"));
        }
        restrict(&file)?;
        let mut library = Vec::new();
        (&mut file).take(MAX_LIBRARY).read_to_end(&mut library)?;
        if is_truncated(&library) {
            return Err(io::Error::other("the compiler has written an incomplete library"));
        }
        file.sync_all()?;
        let sum = work.at("library.sum");
        let mut written = writable().open(&sum)?;
        written.write_all(summary(&library, key).as_bytes())?;
        written.sync_all()?;
        // Between the two renames the files do not match; a process that looks then makes the library again.
        std::fs::rename(&path, self.at(&format!("{stem}.so")))?;
        std::fs::rename(&sum, self.at(&format!("{stem}.sum")))?;
        // A source of an earlier failure is obsolete.
        let _ = std::fs::remove_file(self.at(&format!("{stem}.c")));
        self.sync()
    }

    /// Removes a library from the cache.
    pub(crate) fn remove(&self, stem: &str) {
        for suffix in ["sum", "so"] {
            let _ = std::fs::remove_file(self.at(&format!("{stem}.{suffix}")));
        }
    }

    /// Keeps a source that the compiler failed on; returns its path.
    pub(crate) fn keep_source(&self, work: &WorkDirectory, stem: &str) -> Option<PathBuf> {
        let name = format!("{stem}.c");
        (self.is_persistent() && std::fs::rename(work.at("source.c"), self.at(&name)).is_ok())
            .then(|| self.path.join(name))
    }

    /// Makes the renames durable.
    fn sync(&self) -> io::Result<()> {
        match &self._open {
            Some(open) if cfg!(unix) => open.sync_all(),
            _ => Ok(()),
        }
    }

    /// Removes incomplete libraries of earlier versions, and old sources.
    fn sweep_files(&self) {
        for entry in entries(&self.base) {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let Some((stem, suffix)) = parse_name(&name) else { continue };
            let Ok(metadata) = entry.metadata() else { continue };
            let waste = match suffix {
                "c" => SOURCE_RETENTION,
                "begun" => ABANDONED_AFTER,
                "so" if !self.at(&format!("{stem}.sum")).exists() => ABANDONED_AFTER,
                _ => continue,
            };
            if metadata.is_file() && is_older(&metadata, waste) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// Takes back that a compiler has begun: it was given too little time to count.
pub(crate) fn end_early(begun: &Path) {
    let Ok(file) = OpenOptions::new().write(true).open(begun) else { return };
    match file.metadata().map(|metadata| metadata.len()) {
        Ok(2..) => _ = file.metadata().and_then(|metadata| file.set_len(metadata.len() - 1)),
        _ => _ = std::fs::remove_file(begun),
    }
}

/// The working directory of a compiler. It is removed with its contents on drop.
#[derive(Debug)]
pub(crate) struct WorkDirectory {
    path: PathBuf,
    /// Holds the lock.
    _open: File,
}

impl WorkDirectory {
    /// The path for opening a file in it.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a source file.
    pub(crate) fn write(&self, name: &str, text: &str) -> io::Result<()> {
        writable().open(self.at(name))?.write_all(text.as_bytes())
    }
}

impl Drop for WorkDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// The contents of a library's sum file.
fn summary(library: &[u8], key: &str) -> String {
    format!("pendula-library {} {:032x}\n{key}", library.len(), xxhash_rust::xxh3::xxh3_128(library))
}

/// Whether a library is shorter than its header says. The system would load it and kill the process on access to the missing part.
fn is_truncated(library: &[u8]) -> bool {
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
        // For other formats and for invalid files, the system's loader reports the error.
        _ => library.is_empty(),
    }
}

/// The stem and the suffix of a file name of the cache: letters and digits, a hash, and the suffix of earlier versions. `None` for
/// other files.
fn parse_name(name: &str) -> Option<(&str, &str)> {
    let (stem, suffix) = name.rsplit_once('.')?;
    let (plain, rest) = stem.split_once('-')?;
    let (hash, rest) = rest.split_at_checked(32)?;
    let known = rest.is_empty() || rest.starts_with('_') && rest.contains("_ThreadId_");
    let parse_name = plain.bytes().all(|b| b.is_ascii_alphanumeric()) && hash.bytes().all(|b| b.is_ascii_hexdigit());
    (parse_name && known).then_some((stem, suffix))
}

fn entries(directory: &Path) -> impl Iterator<Item = std::fs::DirEntry> {
    std::fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok)
}

fn is_older(metadata: &Metadata, than: Duration) -> bool {
    metadata.modified().is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > than))
}

/// Creates a directory with an unused name and locks it.
fn create_work_directory(parent: &Path, prefix: &str) -> io::Result<(PathBuf, File)> {
    for _ in 0..100 {
        // The standard library seeds each hash state randomly.
        let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), std::process::id());
        let path = parent.join(format!("{prefix}{random:016x}"));
        match builder().create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            made => made?,
        }
        // Until it is locked, another process may remove it as abandoned.
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

/// Removes abandoned working directories.
fn sweep_work(parent: &Path, prefix: &str) {
    for entry in entries(parent) {
        let named = entry.file_name();
        let rest = named.to_str().and_then(|n| n.strip_prefix(prefix));
        if !rest.is_some_and(|r| r.len() == 16 && r.bytes().all(|b| b.is_ascii_hexdigit())) {
            continue;
        }
        let path = entry.path();
        let Ok(open) = open_directory(&path) else { continue };
        let Ok(metadata) = open.metadata() else { continue };
        let left = match open.try_lock() {
            Ok(()) => is_same(&path, &open),
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(_)) => is_older(&metadata, ABANDONED_AFTER),
        };
        if left && is_owned_by_user(&metadata) {
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}
