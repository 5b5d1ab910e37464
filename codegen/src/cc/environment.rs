//! What the environment says about compiled code: the compiler, its time limit, the host, and where code is kept.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use super::{CcError, SETTINGS};
use crate::cache::Directory;

/// The default maximum size of the cache, in bytes.
const DEFAULT_CACHE_LIMIT: u64 = 1 << 30;

/// The default time limit of the compiler, in seconds.
const DEFAULT_SECONDS: u64 = 600;

/// The time limit of the compiler.
pub(super) fn limit() -> Result<Duration, CcError> {
    let name = "PENDULA_CC_TIMEOUT";
    let Some(value) = std::env::var_os(name).filter(|v| !v.is_empty()) else {
        return Ok(Duration::from_secs(DEFAULT_SECONDS));
    };
    let seconds = value.to_str().and_then(|v| v.trim().parse::<u32>().ok()).filter(|s| *s > 0);
    seconds.map(|s| Duration::from_secs(s.into())).ok_or_else(|| CcError::LiftConfig {
        name,
        value: value.to_string_lossy().into_owned(),
        wanted: "a number of seconds, at least 1",
    })
}

/// Whether the environment variables that say how compiled code is made and kept have values that can be used.
///
/// # Errors
/// The first that has not.
pub fn check_environment() -> Result<(), CcError> {
    cache_limit()?;
    limit().map(drop)
}

/// The maximum size of the cache in bytes.
pub(super) fn cache_limit() -> Result<u64, CcError> {
    let name = "PENDULA_CACHE_LIMIT";
    let Some(value) = std::env::var_os(name).filter(|v| !v.is_empty()) else { return Ok(DEFAULT_CACHE_LIMIT) };
    let mib = value.to_str().and_then(|v| v.trim().parse::<u32>().ok());
    mib.map(|n| u64::from(n) << 20).ok_or_else(|| CcError::LiftConfig {
        name,
        value: value.to_string_lossy().into_owned(),
        wanted: "a number of MiB",
    })
}

/// The path of a program, searched in `$PATH`.
pub(super) fn program_path(name: &OsString) -> Option<PathBuf> {
    let named = Path::new(name);
    if named.components().count() > 1 || named.is_absolute() {
        return std::path::absolute(named).ok();
    }
    let places = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&places).map(|p| p.join(named)).find(|p| is_program(p))?;
    std::path::absolute(found).ok()
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file() || path.with_extension("exe").is_file()
}

/// The description of what `-march=native` means on this host. It is part of the key because hosts may share a cache.
pub(super) fn host() -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let names = ["vendor_id", "cpu family", "model", "model name", "stepping", "flags"];
    let names = names.into_iter().chain(["CPU implementer", "CPU part", "CPU variant", "Features", "isa", "uarch"]);
    let mut out = std::env::consts::ARCH.to_string();
    for name in names {
        let is = |line: &&str| line.split_once(':').is_some_and(|(n, _)| n.trim() == name);
        cpuinfo.lines().find(is).into_iter().for_each(|line| out.extend(["\n", line]));
    }
    out
}

/// The cache directory, or a temporary directory for one library.
pub(super) fn directory() -> Result<Directory, CcError> {
    let from_env = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let named = SETTINGS.get().and_then(|s| s.directory.clone()).or_else(|| from_env("PENDULA_CACHE"));
    if let Some(path) = named {
        return Directory::persistent(&path).map_err(|error| CcError::File { path: path.display().to_string(), error });
    }
    // A relative path would depend on the working directory.
    let home = |name: &str| from_env(name).filter(|p| p.is_absolute());
    let usual = home("XDG_CACHE_HOME").map(|d| d.join("pendula"));
    let at_home = || Some((home("HOME").map(|d| d.join(".cache").join("pendula"))?, home("HOME")));
    if let Some((path, must)) = usual.map(|path| (path, None)).or_else(at_home) {
        // Do not create a missing home directory.
        let home_exists = must.map_or(Ok(()), |home| home.metadata().map(drop));
        match home_exists.and_then(|()| Directory::persistent(&path)) {
            Ok(directory) => return Ok(directory),
            Err(error) => {
                static WARNED: Once = Once::new();
                let path = path.display();
                WARNED.call_once(|| tracing::warn!("compiled code is not kept in {path}: {error}"));
            }
        }
    }
    let file = |error| CcError::File { path: std::env::temp_dir().display().to_string(), error };
    Directory::temporary().map_err(file)
}
