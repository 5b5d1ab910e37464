//! Runs each program under `tests/filetests` as a test of its own, named after its path:
//!
//! ```sh
//! cargo test --test filetests                         # all of them
//! cargo test --test filetests -- nil/run/swap          # those whose name contains this
//! cargo test --test filetests -- --exact nil/run/swap  # that one
//! cargo test --test filetests -- --list
//! ```
//!
//! A program says in comments what is expected of it: `tests/common/expectations.rs` describes them. How a program is tested depends on
//! its folder; each module here describes what it does. Tests below `set/` are about all files together.

#[path = "../common/expectations.rs"]
mod expectations;
#[path = "../common/functional.rs"]
mod functional_outcome;

mod assembly;
mod compiled;
mod functional;
mod janus;
mod janus_programs;
mod nil;
mod pisa;
mod pisa_import;
mod report;
mod set;

use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Failed, Trial};

/// A function that tests one program.
type Check = fn(&Path) -> Result<(), Failed>;

/// A folder of programs, and what tests each of them.
struct Suite {
    /// The folder below `tests/filetests`.
    folder: &'static str,
    extensions: &'static [&'static str],
    /// A suffix for the names of the tests.
    suffix: &'static str,
    /// The least number of programs in the folder.
    least: usize,
    check: Check,
}

const fn suite(
    folder: &'static str,
    extensions: &'static [&'static str],
    suffix: &'static str,
    least: usize,
    check: Check,
) -> Suite {
    Suite { folder, extensions, suffix, least, check }
}

const SUITES: &[Suite] = &[
    suite("asm", &["rasm"], "", 250, assembly::check),
    suite("check", &["rasm"], "", 50, assembly::check),
    suite("isa", &["rasm"], "", 45, assembly::check),
    suite("mistakes", &["rasm"], "", 30, assembly::check),
    suite("run", &["rasm"], "", 240, assembly::check),
    suite("trap", &["rasm"], "", 150, assembly::check),
    suite("nil/run", &["nil", "jl"], "", 60, nil::run),
    suite("nil/trap", &["nil", "jl"], "", 10, nil::trap),
    suite("nil/error", &["nil", "jl"], "", 40, nil::error),
    suite("janus/run", &["ja", "janus"], "", 20, janus::run),
    suite("janus/trap", &["ja", "janus"], "", 20, janus::trap),
    suite("janus/error", &["ja", "janus"], "", 15, janus::error),
    suite("janus/programs", &["ja"], "", 50, janus_programs::run),
    suite("janus/programs", &["ja"], "/inverse", 50, janus_programs::inverse),
    suite("janus/classic", &["ja"], "", 4, janus_programs::classic),
    suite("functional/run", &["vlad", "fut"], "", 4, functional::check),
    suite("functional/error", &["vlad", "fut"], "", 25, functional::error),
    suite("pisa/opcodes", &["pisa"], "", 80, pisa::run),
    suite("pisa/programs", &["pisa"], "", 30, pisa::run),
    suite("pisa/random", &["pisa"], "", 8, pisa::run),
    suite("pisa/traps", &["pisa"], "", 30, pisa::trap),
    suite("pisa/errors", &["pisa"], "", 75, pisa::error),
    suite("pisa/mistakes", &["pisa"], "", 8, pisa::mistake),
    suite("pisa/opcodes", &["pisa"], "/translation", 70, pisa_import::translate),
    suite("pisa/programs", &["pisa"], "/translation", 34, pisa_import::translate),
    suite("pisa/random", &["pisa"], "/translation", 11, pisa_import::translate),
    suite("pisa/traps", &["pisa"], "/translation", 30, pisa_import::translate_trap),
    suite("pisa/import", &["pisa"], "/translation", 35, pisa_import::translate_exactly),
];

/// The folder of all programs.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests")
}

/// The programs of a folder, in order.
fn files(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap_or_else(|e| panic!("{folder}: {e}"));
    let mut out: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    out.retain(|p| p.extension().is_some_and(|e| extensions.iter().any(|x| e == *x)));
    out.sort();
    out
}

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = set::trials();
    for suite in SUITES {
        for path in files(suite.folder, suite.extensions) {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let name = format!("{}/{stem}{}", suite.folder, suite.suffix);
            trials.push(Trial::test(name, move || (suite.check)(&path)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}
