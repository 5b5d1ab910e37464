//! What the tests of the whole program share.

pub(crate) mod command;
pub(crate) mod dual;
#[allow(dead_code, reason = "the file tests need all of it")]
pub(crate) mod expectations;
pub(crate) mod janus;

use std::path::{Path, PathBuf};

/// A folder for the files that tests of this name write.
pub(crate) fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).expect("a folder");
    path
}

/// Settings of the C compiler, the same for all tests of the process: little effort, unless `PENDULA_TEST_C` says `-O3`, as users get it.
#[cfg(feature = "native")]
pub(crate) fn c_compiler() {
    let level = std::env::var("PENDULA_TEST_C");
    crate::machine::lockstep::cheap_libraries(level.as_deref().unwrap_or("-O1"));
}
