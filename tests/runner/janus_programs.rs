//! Tests larger programs in Janus: those of the textbooks and others, under `tests/filetests/janus/programs`, and of the first language,
//! under `tests/filetests/janus/classic`. What each prints, and its final store, stands beside it: worked out by an interpreter that was
//! written apart from Pendula from the same description of the language.
//!
//! Each program runs as a user would run it, on every engine, and forward and back to its start; and its inverse, written as a program in
//! Janus, takes the final store back to the first.

use std::path::Path;
use std::process::{Command, Output};

use libtest_mimic::Failed;

use crate::files;
use crate::report;

/// One program in so many is compiled by the system's C compiler, which takes its time.
const NATIVE: usize = 3;

fn pendula(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pendula")).args(args).output().expect("pendula runs")
}

/// Runs a program; its output must be the expected output beside it.
fn compare(program: &Path, options: &[&str]) -> Result<(), String> {
    let path = program.to_str().expect("UTF-8");
    let name = report::name(program);
    let args: Vec<&str> = [&["run", path], options].concat();
    let output = pendula(&args);
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // What shows something while it runs has no code for whole runs.
    let passed_on = |line: &&str| options.contains(&"native") && line.contains("`jit` runs this one: it shows");
    if !output.status.success() || !errors.lines().all(|line| passed_on(&line)) {
        return Err(format!("{name}: {options:?}: {}\n{errors}", output.status));
    }
    let wanted = std::fs::read_to_string(program.with_extension("out")).expect("what is expected");
    let trip = "round trip: the state was restored";
    let (text, back) = match text.find(trip) {
        Some(at) => text.split_at(at),
        None => (&*text, ""),
    };
    if text != wanted {
        return Err(format!("{name}: {options:?} expected\n{wanted}\nfound\n{text}"));
    }
    if options.contains(&"--round-trip") == back.is_empty() {
        return Err(format!("{name}: {options:?}: {back}"));
    }
    Ok(())
}

/// Tests a program on every engine.
pub(crate) fn run(path: &Path) -> Result<(), Failed> {
    compare(path, &["--engine", "interp", "--round-trip"])?;
    compare(path, &["--engine", "jit", "--round-trip"])?;
    let at = files("janus/programs", &["ja"]).iter().position(|p| p == path);
    if at.is_some_and(|at| at.is_multiple_of(NATIVE)) {
        compare(path, &["--engine", "native"])?;
        compare(path, &["--engine", "native", "--round-trip", "-O0"])?;
    }
    Ok(())
}

/// Tests a program of the first language.
pub(crate) fn classic(path: &Path) -> Result<(), Failed> {
    for engine in ["interp", "jit", "native"] {
        compare(path, &["--classic", "--engine", engine, "--round-trip"])?;
    }
    Ok(())
}

/// Tests that the inverse of a program is a program in Janus, whose inverse does what the program does.
pub(crate) fn inverse(path: &Path) -> Result<(), Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("janus-inverses");
    std::fs::create_dir_all(&folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (inverse, again) = (folder.join(&name), folder.join(format!("again-{name}")));
    for (from, to) in [(path, &*inverse), (&inverse, &again)] {
        let inverted = pendula(&["invert", from.to_str().expect("UTF-8"), "-o", to.to_str().expect("UTF-8")]);
        if !inverted.status.success() {
            let errors = String::from_utf8_lossy(&inverted.stderr);
            return Err(format!("{}: {} has no inverse: {errors}", report::name(path), from.display()).into());
        }
    }
    std::fs::copy(path.with_extension("out"), again.with_extension("out"))?;
    Ok(compare(&again, &[])?)
}
