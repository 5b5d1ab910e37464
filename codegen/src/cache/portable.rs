//! Systems without file owners and modes. Nothing is kept on them.

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

/// Not every system can open directories: the lock is on a file in it.
pub(super) fn open_directory(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path.join("lock"))
}

pub(super) fn is_owned_by_user(_: &Metadata) -> bool {
    true
}

pub(super) fn is_private(_: &Metadata) -> bool {
    true
}

pub(super) fn restrict(_: &File) -> io::Result<()> {
    Ok(())
}

pub(super) fn is_same(path: &Path, _: &File) -> bool {
    path.exists()
}

pub(super) fn open(_: PathBuf) -> io::Result<Directory> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "the owners of directories are unknown on this system"))
}

impl Directory {
    pub(super) fn restrict_to_user(&self) -> io::Result<()> {
        Ok(())
    }
}
