//! File owners, modes and open directories on Unix.

use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};

use rustix::fs::OFlags;

use super::*;

pub(super) fn builder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

/// Opens for reading, without following a link and without blocking.
pub(super) fn readable() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    options
}

/// Opens a new file for writing.
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

pub(super) fn is_owned_by_user(metadata: &Metadata) -> bool {
    metadata.uid() == rustix::process::geteuid().as_raw()
}

/// Whether a file belongs to the user and its mode gives others no access.
pub(super) fn is_private(metadata: &Metadata) -> bool {
    is_owned_by_user(metadata) && metadata.mode() & 0o077 == 0
}

/// Removes the access of others to a file.
pub(super) fn restrict(file: &File) -> io::Result<()> {
    file.set_permissions(std::fs::Permissions::from_mode(0o600))
}

/// Whether the path still names the open file.
pub(super) fn is_same(path: &Path, open: &File) -> bool {
    match (path.symlink_metadata(), open.metadata()) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

/// Opens a directory that must belong to the user.
pub(super) fn open(path: PathBuf) -> io::Result<Directory> {
    let open = open_directory(&path).map_err(|error| match path.symlink_metadata() {
        Ok(metadata) if metadata.is_symlink() => io::Error::other("it is a symbolic link, which is not followed"),
        Ok(metadata) if !metadata.is_dir() => io::Error::other("it is not a directory"),
        _ => error,
    })?;
    let metadata = open.metadata()?;
    if !is_owned_by_user(&metadata) {
        let message = format!("it belongs to another user (number {})", metadata.uid());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    let through = PathBuf::from(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&open)));
    let base =
        if std::fs::metadata(&through).is_ok_and(|a| a.ino() == metadata.ino()) { through } else { path.clone() };
    Ok(Directory { path, base, _open: Some(open), temporary: false })
}

impl Directory {
    /// Restricts the directory to the user, or fails if others may write to it.
    pub(super) fn restrict_to_user(&self) -> io::Result<()> {
        let Some(open) = &self._open else { return Ok(()) };
        let mode = open.metadata()?.mode();
        if mode & 0o777 == 0o700 {
            return Ok(());
        }
        // Do not change the mode of a directory that holds other files.
        let only_ours = entries(&self.base)
            .all(|e| e.file_name().to_str().is_some_and(|n| parse_name(n).is_some() || n.starts_with(WORK)));
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
