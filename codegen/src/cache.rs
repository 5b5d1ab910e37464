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

use std::fs::{DirBuilder, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use object::elf::{FileHeader32, FileHeader64, PT_LOAD};
use object::read::elf::{FileHeader, ProgramHeader as _};

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

#[cfg(unix)]
mod system {
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};

    use rustix::fs::OFlags;

    use super::*;

    pub(super) fn builder() -> DirBuilder {
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        builder
    }

    /// For reading; a link is not followed, nor is anything waited for.
    pub(super) fn readable() -> OpenOptions {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
        options
    }

    /// For writing a file that is not there yet.
    pub(super) fn writable() -> OpenOptions {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        options
    }

    pub(super) fn open_directory(path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags((OFlags::NOFOLLOW | OFlags::DIRECTORY).bits().cast_signed());
        options.open(path)
    }

    pub(super) fn is_own(about: &Metadata) -> bool {
        about.uid() == rustix::process::geteuid().as_raw()
    }

    /// Whether a file is the user's, and no other's by any mode.
    pub(super) fn is_private(about: &Metadata) -> bool {
        is_own(about) && about.mode() & 0o077 == 0
    }

    /// Takes a file's other readers and writers away.
    pub(super) fn close(file: &File) -> io::Result<()> {
        file.set_permissions(std::fs::Permissions::from_mode(0o600))
    }

    /// Whether this is still the name of what is open.
    pub(super) fn is_same(path: &Path, open: &File) -> bool {
        match (path.symlink_metadata(), open.metadata()) {
            (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
            _ => false,
        }
    }

    /// Opens a directory of the user's.
    pub(super) fn open(path: PathBuf) -> io::Result<Directory> {
        let open = open_directory(&path).map_err(|error| match path.symlink_metadata() {
            Ok(about) if about.is_symlink() => io::Error::other("it is a symbolic link, which is not followed"),
            Ok(about) if !about.is_dir() => io::Error::other("it is no directory"),
            _ => error,
        })?;
        let about = open.metadata()?;
        if !is_own(&about) {
            let message = format!("it belongs to another user (number {})", about.uid());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        let through = PathBuf::from(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&open)));
        let base =
            if std::fs::metadata(&through).is_ok_and(|a| a.ino() == about.ino()) { through } else { path.clone() };
        Ok(Directory { path, base, _open: Some(open), passing: false })
    }

    impl Directory {
        /// Sees to it that the directory is for the user alone.
        pub(super) fn close_to_others(&self) -> io::Result<()> {
            let Some(open) = &self._open else { return Ok(()) };
            let mode = open.metadata()?.mode();
            if mode & 0o777 == 0o700 {
                return Ok(());
            }
            // One that has other things in it is not ours to change.
            let only_ours = entries(&self.base)
                .all(|e| e.file_name().to_str().is_some_and(|n| ours(n).is_some() || n.starts_with(WORK)));
            if only_ours {
                return open.set_permissions(std::fs::Permissions::from_mode(0o700));
            }
            if mode & 0o022 != 0 {
                let message = "others may write to it; take that from them (`chmod go-w`)";
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
            }
            Ok(())
        }
    }
}

#[cfg(not(unix))]
mod system {
    use super::*;

    pub(super) fn builder() -> DirBuilder {
        DirBuilder::new()
    }

    pub(super) fn readable() -> OpenOptions {
        let mut options = OpenOptions::new();
        options.read(true);
        options
    }

    pub(super) fn writable() -> OpenOptions {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        options
    }

    /// Directories cannot be opened everywhere; a file in it has the lock.
    pub(super) fn open_directory(path: &Path) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path.join("lock"))
    }

    pub(super) fn is_own(_: &Metadata) -> bool {
        true
    }

    pub(super) fn is_private(_: &Metadata) -> bool {
        true
    }

    pub(super) fn close(_: &File) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn is_same(path: &Path, _: &File) -> bool {
        path.exists()
    }

    pub(super) fn open(_: PathBuf) -> io::Result<Directory> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "it cannot be told here whose directories are"))
    }

    impl Directory {
        pub(super) fn close_to_others(&self) -> io::Result<()> {
            Ok(())
        }
    }
}

use system::{builder, close, is_own, is_private, is_same, open, open_directory, readable, writable};
