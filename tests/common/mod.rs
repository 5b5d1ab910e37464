//! What the tests of the whole program share.

pub(crate) mod command;
pub(crate) mod dual;
#[allow(dead_code, reason = "the file tests need all of it")]
pub(crate) mod expectations;
pub(crate) mod functional;
pub(crate) mod janus;

use std::path::{Path, PathBuf};

use pendula_codegen::cc::{Settings, set};

/// A folder for the files that tests of this name write.
pub(crate) fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).expect("a folder");
    path
}

/// Whether a command line makes the circuits of instructions, or proves what they do: most of a second, of which each push tries a part.
pub(crate) fn builds_circuits(command: &str) -> bool {
    command.split_whitespace().any(|word| ["energy", "level", "circuit", "prove", "lab"].contains(&word))
}

/// Whether an SMT solver is installed, which must be where `PENDULA_REQUIRE_SOLVER` is set.
pub(crate) fn has_solver() -> bool {
    let has = pendula_prove::solver::Solver::find().is_ok();
    assert!(has || std::env::var_os("PENDULA_REQUIRE_SOLVER").is_none(), "no SMT solver is installed");
    has
}

/// Settings of the C compiler, the same for all tests of the process: no effort, unless `PENDULA_TEST_C` says `-O3`, as users get it.
/// Its libraries are in the build directory.
pub(crate) fn c_compiler() {
    let level = std::env::var("PENDULA_TEST_C").unwrap_or_else(|_| "-O0".into());
    let directory = Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("libraries"));
    assert!(set(Settings { directory, options: vec![level] }), "the C compiler has other settings");
}
