//! Output files that are written completely or not at all.
//!
//! The bytes go to a temporary file beside the target. When all of them have reached the disk, the temporary file takes
//! the target's name. If the disk is full, a limit is reached or the process stops in the middle, the target stays as
//! it was. A target that is not a regular file, such as a device or a named pipe, has nothing to preserve and is
//! written directly.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

/// How many symbolic links are followed to a file that does not exist yet.
const LINKS: usize = 40;

/// A file that is being written.
pub struct Output {
    file: BufWriter<Sink>,
    replaces: Option<Target>,
}

/// The destination of the bytes.
enum Sink {
    File(File),
    Stdout(io::Stdout),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::File(file) => file.write(bytes),
            Sink::Stdout(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::File(file) => file.flush(),
            Sink::Stdout(out) => out.flush(),
        }
    }
}

/// The target and the temporary file that replaces it.
struct Target {
    temporary: TempPath,
    path: PathBuf,
}

impl Output {
    /// Begins to write a file. If the path is a symbolic link, the file to which it leads is replaced.
    ///
    /// # Errors
    /// The file or its folder cannot be written.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Output> {
        let path = path.as_ref();
        let there = match std::fs::metadata(path) {
            Ok(there) if !there.is_file() || is_open_file(path) => return Output::direct(path),
            Ok(there) => Some(there),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let target = if there.is_some() {
            // A file that must not be written must not be replaced either.
            OpenOptions::new().write(true).open(path)?;
            std::fs::canonicalize(path)?
        } else {
            followed(path)
        };
        let temporary = beside(&target)?;
        #[cfg(unix)]
        if let Some(there) = &there {
            use std::os::unix::fs::{MetadataExt as _, fchown};
            // Only the superuser may change the owner of a file. For anyone else, the owner is the same already or
            // stays different.
            let _ = fchown(temporary.as_file(), Some(there.uid()), Some(there.gid()));
        }
        let (file, temporary) = temporary.into_parts();
        if let Some(there) = there {
            // Done before anything is written: users who may not read the old file must not read the new one.
            file.set_permissions(there.permissions())?;
        }
        let replaces = Some(Target { temporary, path: target });
        Ok(Output { file: BufWriter::with_capacity(1 << 16, Sink::File(file)), replaces })
    }

    /// An output that writes to standard output.
    pub fn stdout() -> Output {
        Output { file: BufWriter::with_capacity(1 << 16, Sink::Stdout(io::stdout())), replaces: None }
    }

    /// An output that writes directly to an existing device or pipe.
    fn direct(path: &Path) -> io::Result<Output> {
        // Appending preserves the earlier contents of a file that is already open, and has no effect on other targets.
        let file = OpenOptions::new().append(true).open(path)?;
        Ok(Output { file: BufWriter::with_capacity(1 << 16, Sink::File(file)), replaces: None })
    }

    /// Completes the file and gives it its name. Until then, the old file is unchanged.
    ///
    /// # Errors
    /// The written bytes cannot be stored.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        let Some(Target { temporary, path }) = self.replaces else { return Ok(()) };
        if let Sink::File(file) = self.file.get_ref() {
            file.sync_all()?;
        }
        // Not every system can rename an open file.
        drop(self.file);
        temporary.persist(&path).map_err(|e| e.error)?;
        // The new name should survive a loss of power, too. Some systems cannot synchronise folders.
        #[cfg(unix)]
        if let Ok(folder) = File::open(folder_of(&path)) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes a file completely, or not at all.
///
/// # Errors
/// As [`Output::create`] and [`Output::finish`]; also, the disk is full.
pub fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = Output::create(path)?;
    file.write_all(bytes.as_ref())?;
    file.finish()
}

/// True if a path leads to a file that a process has open, such as `/dev/stdout`: others may write to it, too.
fn is_open_file(path: &Path) -> bool {
    path.starts_with("/dev") || path.starts_with("/proc")
}

/// Follows symbolic links to the file that does not exist yet.
fn followed(path: &Path) -> PathBuf {
    let mut target = path.to_path_buf();
    for _ in 0..LINKS {
        let Ok(next) = std::fs::read_link(&target) else { break };
        target = folder_of(&target).join(next);
    }
    target
}

/// The folder that holds a path.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates a temporary file beside a path, with the permissions of new files.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".pendula-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // The system removes the permissions in the user's umask.
        builder.permissions(Permissions::from_mode(0o666));
    }
    let folder = folder_of(path);
    builder.tempfile_in(folder).map_err(|error| {
        // The message must not name the temporary file.
        let text = error.to_string();
        let why = text.split(" at path ").next().unwrap_or(&text);
        io::Error::new(error.kind(), format!("no file can be made in the folder {}: {why}", folder.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entry = |e: io::Result<std::fs::DirEntry>| e.unwrap().file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> = std::fs::read_dir(folder).unwrap().map(entry).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write(&path, "one").unwrap();
        let mut file = Output::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        file.flush().unwrap();
        drop(file);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one");
        write(&path, "two").unwrap();
        assert_eq!((std::fs::read_to_string(&path).unwrap(), names(folder.path())), ("two".into(), vec!["a".into()]));
        assert!(Output::create(folder.path()).is_err());
        assert!(Output::create(folder.path().join("none/b")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_modes_and_devices_are_respected() {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        symlink("file", &link).unwrap();
        // Writing to a dangling link creates its target.
        write(&link, "new").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
        std::fs::set_permissions(&file, Permissions::from_mode(0o750)).unwrap();
        write(&link, "newer").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "newer");
        assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o777, 0o750);
        assert_eq!(names(folder.path()), ["file", "link"]);
        write("/dev/null", "gone").unwrap();
        assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
        assert!(write("/dev/full", "no room").is_err());
    }
}
