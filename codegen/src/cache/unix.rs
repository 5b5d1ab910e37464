//! Owners, modes and open directories, where the system has them.

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
    let base = if std::fs::metadata(&through).is_ok_and(|a| a.ino() == about.ino()) { through } else { path.clone() };
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
